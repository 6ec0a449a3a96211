/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that speaks the protocol by hand, gets the server's socket lent, and does what libcenote never does. It must
 * not harm anybody but itself.
 */
#include "turns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/loan.h"
#include "support/cnt_raw.h"

#define LENDS "sessions = 1\nlend = auto\nqueue_timeout = 60s\n"

struct borrower {
	struct cnt_raw raw;
	struct cnp_loan *page;
	char pid[16]; /* of the server's process */
};

static void
borrow(struct borrower *b)
{
	cenote_conn *conn = wp_attach(NULL);

	snprintf(b->pid, sizeof(b->pid), "%s", wp_value(conn, "select pg_backend_pid()"));
	cenote_conn_destroy(conn);
	assert_int_equal(cnt_raw_open_borrowing(&b->raw, wp_daemon.run_dir, "main"), 0);
	for (uint32_t i = 1; i <= 10; i++) {
		cnt_raw_query(&b->raw, i, CNP_FRAME_SYNC, "select 1");
		do
			assert_int_equal(cnt_raw_next(&b->raw), 1);
		while (b->raw.msg.code != CNP_MSG_READY);
	}
	assert_int_equal(cnt_raw_next(&b->raw), 1);
	assert_int_equal(b->raw.msg.code, CNP_MSG_YIELD);
	assert_int_equal(b->raw.msg.as.yield.reason, CNP_YIELD_LEND);
	assert_true(b->raw.fds[0] > 0 && b->raw.fds[1] > 0);
	b->page = mmap(NULL, CNP_LOAN_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		b->raw.fds[1], 0);
	assert_true(b->page != MAP_FAILED);
}

/* End the loan, but keep the server's socket. */
static void
give_back(struct borrower *b)
{
	munmap(b->page, CNP_LOAN_SIZE);
	close(b->raw.fds[1]);
	cnt_raw_close(&b->raw);
}

static void
send_query(const struct borrower *b, const char *sql)
{
	uint8_t bytes[256] = { 'Q' };
	uint32_t n = (uint32_t)strlen(sql) + 1, len = htonl(n + 4);

	memcpy(bytes + 1, &len, 4);
	memcpy(bytes + 5, sql, n);
	assert_int_equal(send(b->raw.fds[0], bytes, n + 5, MSG_NOSIGNAL), n + 5);
}

/* The next client has a session like a new login. */
static void
expect_fresh(void)
{
	cenote_conn *conn = wp_attach(NULL);

	assert_string_equal(wp_value(conn, "select 'fresh'"), "fresh");
	assert_string_equal(wp_value(conn, "show work_mem"), "4MB");
	assert_string_equal(wp_value(conn, "select now() = statement_timestamp()"), "t");
	cenote_conn_destroy(conn);
}

static void
what_is_left_on_the_socket_ends_with_the_loan(void **state)
{
	static const char *const left[] = { "begin; set work_mem = '64kB'",
		"set work_mem = '64kB'",
		"select repeat('x', 1000) from generate_series(1, 100000)",
		"copy (select repeat('x', 999) from generate_series(1, 99999)) to stdout",
		"create temp table t (a text)", "select pg_sleep(600)" };
	static const uint8_t half[] = { 'Q', 0, 0, 1, 0, 's', 'e' };
	struct borrower b;

	turns_start(LENDS);
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		borrow(&b);
		send_query(&b, left[i]);
		atomic_store(&b.page->state, i % 2 == 0 ? CNP_LOAN_BUSY : CNP_LOAN_FREE);
		give_back(&b);
		expect_fresh();
		close(b.raw.fds[0]);
	}
	borrow(&b);
	assert_int_equal(
		send(b.raw.fds[0], half, sizeof(half), MSG_NOSIGNAL), sizeof(half));
	give_back(&b);
	expect_fresh();
	close(b.raw.fds[0]);
}

static void
garbage_in_the_page_harms_nobody(void **state)
{
	struct borrower b;
	int64_t before;

	turns_start(LENDS);
	borrow(&b);
	before = wp_pool_number("main", "requests");
	assert_true(ftruncate(b.raw.fds[1], 0) < 0 && errno == EPERM);
	for (int i = 0; i < 250; i++) {
		memset(b.page, i % 2 == 0 ? 0xff : i, CNP_LOAN_SIZE);
		/* the worker would rightly take ENDED and FREE for what they are */
		atomic_store(&b.page->state, UINT32_MAX - (uint32_t)i);
		wp_pause_ms(10);
	}
	give_back(&b);
	expect_fresh();
	close(b.raw.fds[0]);
	/* each look may add less than 2^32 */
	assert_true(wp_pool_number("main", "requests") >= before);
	assert_false(wp_log_has("was killed by signal"));
}

static void
a_request_that_hangs_is_stopped(void **state)
{
	struct borrower b;

	turns_start(LENDS "query_timeout = 500ms\n");
	borrow(&b);
	atomic_store(&b.page->request, 11);
	atomic_store(&b.page->last, 11);
	atomic_store(&b.page->changed_ms, (uint64_t)wp_now_ms());
	atomic_store(&b.page->state, CNP_LOAN_BUSY);
	send_query(&b, "select pg_sleep(601)");
	turns_await_server("select count(*) from pg_stat_activity where query like "
			   "'%pg_sleep(60' || '1)%' and state = 'active'",
		"0");
	assert_int_equal(atomic_load(&b.page->timed_out), 11);
	give_back(&b);
	close(b.raw.fds[0]);
	expect_fresh();
}

static int
attach_as_nobody(void *arg)
{
	cenote_conn *conn;

	(void)arg;
	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 2;
	conn = wp_attach(NULL);
	wp_exec(conn, "select 1");
	cenote_conn_destroy(conn);
	return 0;
}

/* The same user may get the session with the socket still open; for another user it is closed. */
static void
a_kept_socket_is_dead_before_another_user_comes(void **state)
{
	struct borrower b;
	struct pollfd p = { .events = POLLIN };
	cenote_conn *conn;
	char bytes[4096], path[128];
	ssize_t n;

	if (geteuid() != 0)
		skip();
	turns_start(LENDS "allow_users = *\n");
	assert_int_equal(chmod(wp_daemon.dir, 0711), 0);
	assert_int_equal(chmod(wp_daemon.run_dir, 0711), 0);
	snprintf(path, sizeof(path), "%s/main.sock", wp_daemon.run_dir);
	assert_int_equal(chmod(path, 0777), 0);
	borrow(&b);
	give_back(&b);
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select pg_backend_pid()"), b.pid);
	cenote_conn_destroy(conn);
	assert_int_equal(wp_join(wp_fork(attach_as_nobody, NULL, -1)), 0);
	p.fd = b.raw.fds[0];
	do {
		assert_int_equal(poll(&p, 1, 20000), 1);
		n = recv(p.fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	} while (n > 0);
	assert_true(n == 0 || errno == ECONNRESET);
	assert_true(send(p.fd, "X", 1, MSG_NOSIGNAL) < 0);
	close(p.fd);
	expect_fresh();
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_left_on_the_socket_ends_with_the_loan),
		TEST(garbage_in_the_page_harms_nobody),
		TEST(a_request_that_hangs_is_stopped),
		TEST(a_kept_socket_is_dead_before_another_user_comes),
	};

	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
