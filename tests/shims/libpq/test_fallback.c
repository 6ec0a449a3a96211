/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "shims/host.h"

/* Connections that no pool serves: they go to the original library, or fail. */

/* All handles of the shim begin with the same address. It is not exported, so compare with a
 * handle that is known to be the shim's. */
static int
is_of(const void *handle, const void *known)
{
	return memcmp(handle, known, sizeof(void *)) == 0;
}

/* Runs first, in a process that has not opened the original yet. */
static void
an_original_that_is_not_there_is_named(void **state)
{
	struct cnt_guest *f = *state;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		const char *why;
		PGconn *conn;
		int is_named;

		setenv("CENOTE_LIBPQ", "/nonexistent/libpq.so.5", 1);
		setenv("CENOTE_SERVER", "unix:/nonexistent", 1);
		setenv("CENOTE_FALLBACK", "direct", 1);
		conn = f->ours.f.PQconnectdb(f->conninfo);
		why = f->ours.f.PQerrorMessage(conn);
		is_named = strstr(why, "cenoted is not reachable") != NULL &&
			   strstr(why, "CENOTE_LIBPQ") != NULL &&
			   strstr(why, "/nonexistent/libpq.so.5") != NULL;
		f->ours.f.PQfinish(conn);
		_exit(is_named ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Give the default notice receiver of one connection to another, as Ruby's pg does. Notices must
 * still arrive. */
static void
notices_are_received_as_before(struct cnt_guest *f, PGconn *one, PGconn *other)
{
	PQnoticeReceiver receiver = f->ours.f.PQsetNoticeReceiver(one, NULL, NULL);
	PQnoticeProcessor processor = f->ours.f.PQsetNoticeProcessor(
		other, cnt_guest_count_notice, &cnt_guest_n_notices);

	cnt_guest_n_notices = 0;
	(void)f->ours.f.PQsetNoticeReceiver(other, receiver, NULL);
	f->ours.f.PQclear(f->ours.f.PQexec(other, "do $$begin raise notice 'hm'; end$$"));
	assert_int_equal(cnt_guest_n_notices, 1);
	(void)f->ours.f.PQsetNoticeProcessor(other, processor, NULL);
}

static void
what_no_pool_covers_goes_to_the_original(void **state)
{
	struct cnt_guest *f = *state;
	char path[160], app[256], copied[64];
	PGconn *pooled, *direct;
	PGresult *a, *b;
	FILE *file;

	snprintf(path, sizeof(path), "%s/client.conf", f->rig.daemon.dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("[libpq]\nmain = *:*/app/*\ndirect = *:*/app2/*\n", file);
	fclose(file);
	setenv("CENOTE_CLIENT_CONF", path, 1);
	unsetenv("CENOTE_POOL");
	pooled = cnt_guest_connect(f);
	snprintf(app, sizeof(app), "host=%s port=%d user=app dbname=app2",
		f->rig.server.run_dir, f->rig.server.port);
	direct = f->ours.f.PQconnectdb(app);
	assert_string_equal(f->ours.f.PQerrorMessage(direct), "");
	assert_false(is_of(direct, pooled));
	/* both are open: each call goes to the library of its handle */
	assert_string_equal(
		cnt_guest_ask(&f->ours, pooled, "select current_database()"), "app");
	assert_string_equal(
		cnt_guest_ask(&f->ours, direct, "select current_database()"), "app2");
	a = f->ours.f.PQexec(pooled, "select 'a'::text");
	b = f->ours.f.PQexec(direct, "select 'b'::text, 'c'");
	assert_int_equal(f->ours.f.PQnfields(a), 1);
	assert_int_equal(f->ours.f.PQnfields(b), 2);
	assert_string_equal(f->ours.f.PQgetvalue(a, 0, 0), "a");
	assert_string_equal(f->ours.f.PQgetvalue(b, 0, 1), "c");
	snprintf(copied, sizeof(copied), "%s", f->ours.f.PQcmdStatus(b));
	assert_string_equal(copied, f->ours.f.PQcmdStatus(a));
	notices_are_received_as_before(f, pooled, direct);
	notices_are_received_as_before(f, direct, pooled);
	f->ours.f.PQfinish(pooled);
	f->ours.f.PQfinish(direct);
	/* results outlive their connections */
	assert_string_equal(f->ours.f.PQgetvalue(a, 0, 0), "a");
	assert_string_equal(f->ours.f.PQgetvalue(b, 0, 0), "b");
	f->ours.f.PQclear(a);
	f->ours.f.PQclear(b);
}

static void
replication_is_refused_or_given_to_the_original(void **state)
{
	struct cnt_guest *f = *state;
	char conninfo[600];
	PGconn *conn;

	snprintf(conninfo, sizeof(conninfo), "%s replication=database", f->conninfo);
	conn = f->ours.f.PQconnectdb(conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_BAD);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn),
		"replication connections are not pooled"));
	f->ours.f.PQfinish(conn);
	snprintf(conninfo, sizeof(conninfo), "%s replication=off", f->conninfo);
	conn = f->ours.f.PQconnectdb(conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	f->ours.f.PQfinish(conn);

	/* the server may refuse the user, with its own message */
	setenv("CENOTE_FALLBACK", "direct", 1);
	snprintf(conninfo, sizeof(conninfo), "%s replication=true", f->conninfo);
	conn = f->ours.f.PQconnectdb(conninfo);
	assert_null(strstr(f->ours.f.PQerrorMessage(conn), "pool"));
	f->ours.f.PQfinish(conn);
}

static void
a_stopped_cenoted_does_not_stop_who_may_go_directly(void **state)
{
	struct cnt_guest *f = *state;
	PGconn *pooled = cnt_guest_connect(f);
	PGconn *conn;

	setenv("CENOTE_SERVER", "unix:/nonexistent", 1);
	conn = f->ours.f.PQconnectdb(f->conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_BAD);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn), "pool \"main\""));
	f->ours.f.PQfinish(conn);

	setenv("CENOTE_FALLBACK", "direct", 1);
	conn = f->ours.f.PQconnectdb(f->conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	assert_false(is_of(conn, pooled));
	assert_string_equal(cnt_guest_ask(&f->ours, conn, "select 1"), "1");
	f->ours.f.PQfinish(conn);
	assert_int_equal(f->ours.f.PQping(f->conninfo), PQPING_OK);

	/* over TCP the refusal comes later */
	setenv("CENOTE_SERVER", "tcp://127.0.0.1:1", 1);
	conn = f->ours.f.PQconnectdb(f->conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	assert_false(is_of(conn, pooled));
	f->ours.f.PQfinish(conn);

	f->ours.f.PQfinish(pooled);
}

static void
assert_escaped(struct cnt_guest *f, const char *expected)
{
	size_t n;
	unsigned char *text =
		f->ours.f.PQescapeBytea((const unsigned char *)"\xe4", 1, &n);

	assert_string_equal(text, expected);
	f->ours.f.PQfreemem(text);
}

/* Escaping without a connection uses the settings that a connection reported last, pooled or
 * direct. */
static void
a_direct_connection_is_what_is_escaped_for(void **state)
{
	struct cnt_guest *f = *state;
	PGconn *pooled = cnt_guest_connect(f);
	PGconn *conn;
	char here[160], text[8];

	assert_string_equal(
		cnt_guest_ask(&f->ours, pooled,
			"select set_config('standard_conforming_strings', 'off', false)"),
		"off");
	assert_escaped(f, "\\\\344");

	snprintf(here, sizeof(here), "%s", getenv("CENOTE_SERVER"));
	setenv("CENOTE_SERVER", "unix:/nonexistent", 1);
	setenv("CENOTE_FALLBACK", "direct", 1);
	conn = f->ours.f.PQconnectdb(f->conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	assert_escaped(f, "\\344");
	assert_int_equal(f->ours.f.PQescapeString(text, "\\'", 2), 3);
	assert_string_equal(text, "\\''");
	f->ours.f.PQfinish(conn);
	unsetenv("CENOTE_FALLBACK");
	setenv("CENOTE_SERVER", here, 1);

	assert_string_equal(
		cnt_guest_ask(&f->ours, pooled,
			"select set_config('client_encoding', 'LATIN1', false)"),
		"LATIN1");
	assert_escaped(f, "\\\\344");
	f->ours.f.PQfinish(pooled);
}

/* ---- non-blocking connects: the handle stays, and the original works behind it ---- */

static void
a_late_refusal_is_fallen_back_from_too(void **state)
{
	const char *const keywords[] = { "dbname", "application_name", NULL };
	struct cnt_guest *f = *state;
	const char *const values[] = { f->conninfo, "late", NULL };
	char before[CNT_HOST_FDS], after[CNT_HOST_FDS];
	PGconn *conn;
	PGcancel *cancel;

	/* over TCP the refusal is not known at once */
	setenv("CENOTE_SERVER", "tcp://127.0.0.1:1", 1);
	setenv("CENOTE_FALLBACK", "direct", 1);
	cnt_host_list_fds(before);
	cnt_guest_n_notices = 0;
	for (int with_params = 0; with_params < 2; with_params++) {
		conn = with_params ? f->ours.f.PQconnectStartParams(keywords, values, 1)
				   : f->ours.f.PQconnectStart(f->conninfo);
		assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_STARTED);
		(void)f->ours.f.PQsetNoticeProcessor(
			conn, cnt_guest_count_notice, &cnt_guest_n_notices);
		assert_int_equal(cnt_guest_poll(f, conn, f->ours.f.PQconnectPoll),
			PGRES_POLLING_OK);
		assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
		assert_string_equal(
			cnt_guest_ask(&f->ours, conn, "show application_name"),
			with_params ? "late" : "");
		f->ours.f.PQclear(
			f->ours.f.PQexec(conn, "do $$begin raise notice 'hm'; end$$"));
		assert_int_equal(cnt_guest_n_notices, with_params + 1);
		cancel = f->ours.f.PQgetCancel(conn);
		assert_non_null(cancel);
		f->ours.f.PQfreeCancel(cancel);
		f->ours.f.PQreset(conn);
		assert_string_equal(cnt_guest_ask(&f->ours, conn, "select 42"), "42");
		f->ours.f.PQfinish(conn);
	}
	cnt_host_list_fds(after);
	assert_memory_equal(before, after, sizeof(before));
}

static void
who_may_not_fall_back_is_told(void **state)
{
	struct cnt_guest *f = *state;
	PGconn *conn;

	setenv("CENOTE_SERVER", "tcp://127.0.0.1:1", 1);
	conn = f->ours.f.PQconnectStart(f->conninfo);
	assert_int_equal(
		cnt_guest_poll(f, conn, f->ours.f.PQconnectPoll), PGRES_POLLING_FAILED);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn),
		"cenoted is not reachable at 127.0.0.1:1"));
	f->ours.f.PQfinish(conn);
}

/* ---- a connection that had a session: its handle and settings stay ---- */

static int n_told[PGEVT_RESULTDESTROY + 1];

static int
count_event(PGEventId id, void *info, void *arg)
{
	(void)info;
	assert_ptr_equal(arg, n_told);
	n_told[id]++;
	return 1;
}

static void
reset_directly(struct cnt_guest *f, const char *where, int is_polled)
{
	static const char tells[] = "do $$begin raise notice 'hm'; end$$";
	PGconn *conn = cnt_guest_connect(f);
	int data;

	memset(n_told, 0, sizeof(n_told));
	cnt_guest_n_notices = 0;
	(void)f->ours.f.PQsetNoticeProcessor(
		conn, cnt_guest_count_notice, &cnt_guest_n_notices);
	assert_int_equal(
		f->ours.f.PQregisterEventProc(conn, count_event, "count", n_told), 1);
	assert_int_equal(f->ours.f.PQsetInstanceData(conn, count_event, &data), 1);
	setenv("CENOTE_SERVER", where, 1);
	if (is_polled) {
		assert_int_equal(f->ours.f.PQresetStart(conn), 1);
		assert_int_equal(
			cnt_guest_poll(f, conn, f->ours.f.PQresetPoll), PGRES_POLLING_OK);
	} else {
		f->ours.f.PQreset(conn);
	}
	assert_string_equal(f->ours.f.PQerrorMessage(conn), "");
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	assert_int_equal(n_told[PGEVT_CONNRESET], 1);
	assert_ptr_equal(f->ours.f.PQinstanceData(conn, count_event), &data);
	f->ours.f.PQclear(f->ours.f.PQexec(conn, tells));
	assert_int_equal(cnt_guest_n_notices, 1);
	assert_string_equal(
		cnt_guest_ask(&f->ours, conn, "select current_database()"), "app");
	f->ours.f.PQfinish(conn);
	assert_int_equal(n_told[PGEVT_CONNDESTROY], 1);
}

static void
a_reset_goes_directly_when_cenoted_is_gone(void **state)
{
	static const char *const nowhere[] = { "unix:/nonexistent", "tcp://127.0.0.1:1" };
	struct cnt_guest *f = *state;
	char here[160], before[CNT_HOST_FDS], after[CNT_HOST_FDS];
	PGconn *conn;

	snprintf(here, sizeof(here), "%s", getenv("CENOTE_SERVER"));
	setenv("CENOTE_FALLBACK", "direct", 1);
	cnt_host_list_fds(before);
	for (int i = 0; i < 4; i++) {
		reset_directly(f, nowhere[i / 2], i % 2);
		setenv("CENOTE_SERVER", here, 1);
	}
	cnt_host_list_fds(after);
	assert_memory_equal(before, after, sizeof(before));

	/* if the server is not reachable either, the message names both; a later reset finds the
	 * pool again */
	conn = f->ours.f.PQconnectdb("host=/nonexistent dbname=nowhere");
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	setenv("CENOTE_SERVER", nowhere[0], 1);
	f->ours.f.PQreset(conn);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_BAD);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn), "cenoted is not reach"));
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn), "/nonexistent/.s.PGSQL"));
	setenv("CENOTE_SERVER", here, 1);
	f->ours.f.PQreset(conn);
	assert_string_equal(cnt_guest_ask(&f->ours, conn, "select 42"), "42");
	f->ours.f.PQfinish(conn);

	/* without CENOTE_FALLBACK a reset does not go directly */
	unsetenv("CENOTE_FALLBACK");
	conn = cnt_guest_connect(f);
	setenv("CENOTE_SERVER", nowhere[0], 1);
	assert_int_equal(f->ours.f.PQresetStart(conn), 0);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn), "cenoted is not reach"));
	setenv("CENOTE_SERVER", here, 1);
	f->ours.f.PQfinish(conn);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			an_original_that_is_not_there_is_named, cnt_guest_begin),
		cmocka_unit_test_setup(
			what_no_pool_covers_goes_to_the_original, cnt_guest_begin),
		cmocka_unit_test_setup(
			replication_is_refused_or_given_to_the_original, cnt_guest_begin),
		cmocka_unit_test_setup(
			a_reset_goes_directly_when_cenoted_is_gone, cnt_guest_begin),
		cmocka_unit_test_setup(
			a_direct_connection_is_what_is_escaped_for, cnt_guest_begin),
		cmocka_unit_test_setup(
			a_stopped_cenoted_does_not_stop_who_may_go_directly,
			cnt_guest_begin),
		cmocka_unit_test_setup(
			a_late_refusal_is_fallen_back_from_too, cnt_guest_begin),
		cmocka_unit_test_setup(who_may_not_fall_back_is_told, cnt_guest_begin),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, cnt_guest_setup, cnt_guest_teardown);
}
