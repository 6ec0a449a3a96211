/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session whose socket is lent: whatever the borrower leaves there, the next client gets a session that cannot be told
 * from a new login, or the backend says that it must log in again. The borrower is raw bytes here, or the
 * backend's own code for borrowers.
 */
#include "support/cnt_cmocka.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "support/cnt_alloc.h"
#include "tools/cenoted/backends/postgresql/session.h"

#define FACTS_MAX 16384u

/* A loan that the test has begun. */
struct loan {
	struct cnc_buf facts;
	int fd;
};

static struct loan
lend(struct pg *t)
{
	struct loan l = { .fd = -1 };

	cnc_buf_init(&l.facts, &cnc_mem_default, FACTS_MAX);
	assert_ok(t->base.b->lend(t->base.s, &l.facts, &l.fd, &t->base.diag));
	assert_true(l.fd >= 0);
	return l;
}

/* ---- raw bytes ---- */

static void
send_all(int fd, const void *bytes, size_t n)
{
	assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), n);
}

static void
send_message(int fd, char type, const char *body, size_t len)
{
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX);
	assert_ok(cnd_pg_add_query(&b, (uint8_t)type, body, len));
	send_all(fd, cnc_buf_head(&b), cnc_buf_len(&b));
	cnc_buf_finish(&b);
}

static void
send_query(int fd, const char *sql)
{
	send_message(fd, 'Q', sql, strlen(sql));
}

static void
await_bytes(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 10000), 1);
}

/* Read until the server is silent for a while. */
static void
read_answer(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char room[4096];

	await_bytes(fd);
	while (poll(&p, 1, 100) > 0 && recv(fd, room, sizeof(room), 0) > 0)
		;
}

/* ---- what a borrower leaves ---- */

static void
leave_nothing(int fd)
{
	(void)fd;
}

static void
leave_transaction(int fd)
{
	send_query(fd, "begin; create table left_behind (a int)");
	read_answer(fd);
}

static void
leave_failed_transaction(int fd)
{
	send_query(fd, "begin; select 1/0");
	read_answer(fd);
}

static void
leave_unread_answer(int fd)
{
	send_query(fd, "select 1");
	await_bytes(fd);
}

/* More than the socket's buffers hold: the server waits in the middle of its answer. */
static void
leave_large_answer(int fd)
{
	send_query(fd, "select repeat('x', 1000) from generate_series(1, 20000)");
	await_bytes(fd);
}

static void
leave_half_an_answer(int fd)
{
	char room[7];

	send_query(fd, "select 'a long value', 2");
	await_bytes(fd);
	assert_int_equal(recv(fd, room, sizeof(room), 0), sizeof(room));
}

static void
leave_pipeline(int fd)
{
	for (int i = 0; i < 100; i++)
		send_query(fd, "select repeat('y', 10000)");
}

/* After the error, the server skips everything up to a Sync. */
static void
leave_skipping(int fd)
{
	send_message(fd, 'P', "\0select nonsense from nowhere\0\0", 31);
	send_message(fd, 'H', "", 0);
	usleep(100000);
}

static void
leave_parsed_without_sync(int fd)
{
	send_message(fd, 'P', "named\0select 1\0\0", 16);
}

static void
leave_copy_in(int fd)
{
	send_query(fd, "create temp table c (a text); copy c from stdin");
	await_bytes(fd);
	send_message(fd, 'd', "line", 4);
}

static void
leave_copy_out(int fd)
{
	send_query(fd, "copy (select generate_series(1, 500000)) to stdout");
	await_bytes(fd);
}

static void
leave_listening(int fd)
{
	send_query(fd, "listen ch");
	send_query(fd, "notify ch, 'one'");
	send_query(fd, "notify ch, 'two'");
}

static void
leave_settings(int fd)
{
	send_query(fd, "set datestyle = 'german'; set timezone = 'Asia/Tokyo'; set "
		       "application_name = 'borrower'; set my.own = 'x'");
	read_answer(fd);
}

static void
leave_statement(int fd)
{
	send_query(fd, "prepare p as select 1; declare h cursor with hold for select 1; "
		       "select pg_advisory_lock(7)");
	read_answer(fd);
}

static void
leave_half_a_message(int fd)
{
	send_all(fd, "Q\0\0\0\144select", 11);
}

static void
leave_half_a_copy(int fd)
{
	leave_copy_in(fd);
	send_all(fd, "d\0\0\1\0abc", 8);
}

static void
leave_nonsense(int fd)
{
	send_all(fd, "GET / HTTP/1.1\r\n\r\n", 18);
}

static void
leave_terminated(int fd)
{
	send_query(fd, "select pg_terminate_backend(pg_backend_pid())");
	await_bytes(fd);
}

static void
leave_shut_down(int fd)
{
	(void)shutdown(fd, SHUT_WR);
}

static void
leave_running(int fd)
{
	send_query(fd, "select pg_sleep(600)");
	usleep(200000);
}

static const struct {
	const char *name;
	void (*leave)(int fd);
	int is_busy;
	int is_lost; /* the session cannot be used again */
} cases[] = {
	{ "nothing", leave_nothing, 0, 0 },
	{ "a transaction", leave_transaction, 0, 0 },
	{ "a failed transaction", leave_failed_transaction, 0, 0 },
	{ "an unread answer", leave_unread_answer, 0, 0 },
	{ "a large answer", leave_large_answer, 1, 0 },
	{ "a large answer, said to be read", leave_large_answer, 0, 0 },
	{ "half an answer", leave_half_an_answer, 0, 0 },
	{ "a pipeline", leave_pipeline, 1, 0 },
	{ "skipping", leave_skipping, 0, 0 },
	{ "Parse without Sync", leave_parsed_without_sync, 0, 0 },
	{ "COPY IN", leave_copy_in, 1, 0 },
	{ "COPY OUT", leave_copy_out, 1, 0 },
	{ "LISTEN", leave_listening, 0, 0 },
	{ "settings", leave_settings, 0, 0 },
	{ "a statement, a cursor, a lock", leave_statement, 0, 0 },
	{ "a running request", leave_running, 1, 0 },
	{ "half a message", leave_half_a_message, 0, 1 },
	{ "half a message of a copy", leave_half_a_copy, 1, 1 },
	{ "nonsense", leave_nonsense, 0, 1 },
	{ "a terminated session", leave_terminated, 0, 1 },
	{ "a shut socket", leave_shut_down, 0, 1 },
};

/* What a new login has. */
static void
check_fresh(struct pg *t, const char *name)
{
	static const struct {
		const char *sql, *row;
	} fresh[] = {
		{ "select current_setting('datestyle'), current_setting('timezone') = "
		  "(select reset_val from pg_settings where name = 'TimeZone'), "
		  "current_setting('my.own', true) is null or "
		  "current_setting('my.own', true) = ''",
			"row ISO, MDY|t|t\n" },
		{ "select count(*) from pg_prepared_statements", "row 0\n" },
		{ "select count(*) from pg_cursors", "row 0\n" },
		{ "select count(*) from pg_listening_channels()", "row 0\n" },
		{ "select count(*) from pg_locks where locktype = 'advisory'",
			"row 0\n" },
		{ "select count(*) from pg_class where relname in ('left_behind', 'c') "
		  "and relpersistence <> 't'",
			"row 0\n" },
	};

	for (size_t i = 0; i < sizeof(fresh) / sizeof(fresh[0]); i++) {
		if (strstr(pg_query(t, fresh[i].sql), fresh[i].row) == NULL)
			fail_msg("after %s: %s", name, t->base.seen.log);
	}
	assert_string_equal(pg_state(t), "idle pins=0");
}

static void
the_next_client_sees_nothing_of_a_loan(void **state)
{
	struct pg *t = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct loan l = lend(t);
		int r;

		cases[i].leave(l.fd);
		r = t->base.b->take_back(t->base.s, 0, cases[i].is_busy, &t->base.diag);
		cnc_buf_finish(&l.facts);
		if ((r < 0) != cases[i].is_lost)
			fail_msg("%s: %d, %s", cases[i].name, r, t->base.diag.message);
		if (r < 0) {
			pg_logout(t);
			assert_ok(pg_login(t));
		}
		assert_string_equal(pg_reset(t), "");
		check_fresh(t, cases[i].name);
	}
}

/* While the session is lent, nobody here can tell the client. A session that lost a notification is no use to it. */
static void
no_notification_is_lost_in_silence(void **state)
{
	struct pg *t = *state;
	struct loan l = lend(t);

	send_query(l.fd, "listen ch");
	read_answer(l.fd);
	assert_ok(t->base.b->settle(t->base.s, NULL));
	assert_int_equal(cnt_server_sql(&pg_server, "notify ch, 'one'"), 0);
	assert_int_equal(t->base.b->settle(t->base.s, NULL), CENOTE_ERR_CONN);
	cnc_buf_finish(&l.facts);
}

/* End the server's process after a second, and with it the lock that it has. */
static pid_t
end_later(const struct pg *t)
{
	pid_t server = (pid_t)strtol(t->base.s->backend_pid, NULL, 10);
	pid_t child = fork();

	if (child == 0) {
		sleep(1);
		_exit(kill(server, SIGTERM) == 0 ? 0 : 1);
	}
	assert_true(child > 0);
	return child;
}

/* The question after a loan waits for a lock, so a cancel stops the question itself. */
static void
a_server_may_answer_late(void **state)
{
	struct pg *t = *state;
	struct pg other;
	struct loan l = lend(t);
	pid_t child;
	int status;

	pg_setup(&other);
	pg_option(&other, "user", "postgres");
	assert_ok(pg_login(&other));
	assert_non_null(strstr(
		pg_query(&other,
			"begin; lock table pg_catalog.pg_proc in access exclusive mode"),
		"done LOCK"));
	child = end_later(&other);
	assert_ok(t->base.b->take_back(t->base.s, 0, false, &t->base.diag));
	assert_string_equal(pg_reset(t), "");
	check_fresh(t, "a late answer");
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	pg_teardown(&other);
	cnc_buf_finish(&l.facts);
}

/* The borrower may have kept the socket. */
static void
a_kept_socket_is_dead_after_the_logout(void **state)
{
	struct pg *t = *state;
	struct loan l = lend(t);
	int kept = dup(l.fd);
	char byte;

	assert_true(kept >= 0);
	pg_logout(t);
	assert_int_equal(send(kept, "S\0\0\0\4", 5, MSG_NOSIGNAL), -1);
	await_bytes(kept);
	assert_true(recv(kept, &byte, 1, 0) <= 0);
	close(kept);
	cnc_buf_finish(&l.facts);
}

static void
a_session_that_is_not_idle_is_not_lent(void **state)
{
	struct pg *t = *state;
	struct cnc_buf facts;
	int fd = -1;

	cnc_buf_init(&facts, &cnc_mem_default, FACTS_MAX);
	(void)pg_query(t, "begin");
	assert_int_equal(t->base.b->lend(t->base.s, &facts, &fd, &t->base.diag),
		CENOTE_ERR_UNSUPPORTED);
	assert_int_equal(fd, -1);
	cnc_buf_finish(&facts);
}

/* ---- the backend of a borrower ---- */

/* Use the lent session: `t` has it as its own until give_back(). */
static struct cnd_session *
borrow(struct pg *t, const struct loan *l)
{
	struct cnd_session *lender = t->base.s;

	t->base.b = cnd_pg_borrowed();
	assert_ok(t->base.b->borrow(&t->base.host, l->fd, cnc_buf_head(&l->facts),
		cnc_buf_len(&l->facts), &t->base.s, &t->base.diag));
	assert_ok(t->base.b->attach(t->base.s, NULL, &t->base.diag));
	return lender;
}

/* Returns what the client left. */
static uint32_t
give_back(struct pg *t, const struct cnd_backend *b, struct cnd_session *lender)
{
	uint32_t left = t->base.b->left(t->base.s);

	t->base.b->logout(t->base.s);
	t->base.b = b;
	t->base.s = lender;
	return left;
}

static void
a_borrower_does_what_a_worker_does(void **state)
{
	struct pg *t = *state;
	const struct cnd_backend *b = t->base.b;
	struct cnd_info before, info;
	struct cnd_session *lender;
	struct loan l = lend(t);

	b->info(t->base.s, &before);
	lender = borrow(t, &l);
	t->base.b->info(t->base.s, &info);
	assert_string_equal(info.server, before.server);
	assert_string_equal(info.server_version, before.server_version);
	assert_string_equal(info.database, before.database);
	assert_int_equal(info.n_parameters, before.n_parameters);
	assert_string_equal(pg_query(t, "select 1 as a, 'x' as b"),
		"columns a:INT64 b:TEXT\nrow 1|x\ndone SELECT 1\n");
	assert_non_null(strstr(pg_query(t, "select nonsense"), "error 42703"));
	assert_non_null(strstr(pg_prepare(t, 1, NULL, "select $1::int + 1"), "done"));
	(void)pg_query(t, "create temp table c (a text)");
	t->pieces = (const char *const[]){ "one\n", "two\n", NULL };
	assert_non_null(strstr(pg_query(t, "copy c from stdin"), "COPY 2"));
	t->pieces = NULL;
	assert_non_null(strstr(pg_query(t, "copy c to stdout"), "data one"));
	assert_non_null(strstr(pg_query(t, "begin"), "BEGIN"));
	assert_string_equal(pg_state(t), "open pins=1");
	(void)pg_query(t, "rollback");
	assert_int_equal(give_back(t, b, lender) & CND_PG_SCAN_STAYS, CND_PG_SCAN_STAYS);
	assert_ok(b->take_back(lender, 0, false, &t->base.diag));
	assert_string_equal(pg_reset(t), "");
	check_fresh(t, "a borrower");
	cnc_buf_finish(&l.facts);
}

/* ---- facts are bytes from outside ---- */

static int
borrow_from(const struct cnd_host *host, const struct loan *l, size_t n)
{
	struct cnd_session *s = NULL;
	struct cnc_diag diag;
	int r;

	cnc_diag_init(&diag, NULL);
	r = cnd_pg_borrow(host, l->fd, cnc_buf_head(&l->facts), n, &s, &diag);
	if (r == CENOTE_OK)
		cnd_pg_logout(s);
	cnc_diag_finish(&diag);
	return r;
}

/* The same facts, of another version. */
static struct cnc_buf
flip_version(struct cnc_buf facts)
{
	uint8_t *at = cnc_buf_head(&facts);

	assert_non_null(at);
	if (at != NULL)
		at[0] ^= 0x40;
	return facts;
}

static void
facts_are_checked(void **state)
{
	struct pg *t = *state;
	struct loan l = lend(t);
	size_t n = cnc_buf_len(&l.facts);

	for (size_t i = 0; i < n; i++)
		assert_int_equal(borrow_from(&t->base.host, &l, i), CENOTE_ERR_PROTOCOL);
	assert_ok(borrow_from(&t->base.host, &l, n));
	assert_ok(cnc_buf_u8(&l.facts, 0));
	assert_int_equal(borrow_from(&t->base.host, &l, n + 1), CENOTE_ERR_PROTOCOL);
	l.facts = flip_version(l.facts);
	assert_int_equal(borrow_from(&t->base.host, &l, n), CENOTE_ERR_UNSUPPORTED);
	assert_ok(t->base.b->take_back(t->base.s, 0, false, &t->base.diag));
	cnc_buf_finish(&l.facts);
}

static void
no_memory_is_said(void **state)
{
	struct pg *t = *state;
	struct loan l = lend(t);
	struct cnd_host host = t->base.host;
	struct cnt_alloc a;

	host.mem = &a.mem;
	for (size_t n = 1;; n++) {
		int r;

		cnt_alloc_init(&a, n);
		r = borrow_from(&host, &l, cnc_buf_len(&l.facts));
		assert_int_equal(cnt_alloc_leaks(&a), 0);
		if (!cnt_alloc_has_failed(&a)) {
			assert_ok(r);
			break;
		}
		assert_int_equal(r, CENOTE_ERR_NOMEM);
	}
	assert_ok(t->base.b->take_back(t->base.s, 0, false, &t->base.diag));
	cnc_buf_finish(&l.facts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_next_client_sees_nothing_of_a_loan,
			pg_test_setup, pg_test_teardown),
		cmocka_unit_test_setup_teardown(no_notification_is_lost_in_silence,
			pg_test_setup, pg_test_teardown),
		cmocka_unit_test_setup_teardown(
			a_server_may_answer_late, pg_test_setup, pg_test_teardown),
		cmocka_unit_test_setup_teardown(a_kept_socket_is_dead_after_the_logout,
			pg_test_setup, pg_test_teardown),
		cmocka_unit_test_setup_teardown(a_session_that_is_not_idle_is_not_lent,
			pg_test_setup, pg_test_teardown),
		cmocka_unit_test_setup_teardown(a_borrower_does_what_a_worker_does,
			pg_test_setup, pg_test_teardown),
		cmocka_unit_test_setup_teardown(
			facts_are_checked, pg_test_setup, pg_test_teardown),
		cmocka_unit_test_setup_teardown(
			no_memory_is_said, pg_test_setup, pg_test_teardown),
	};

	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
