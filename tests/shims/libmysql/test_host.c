/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library.h"
#include "rig.h"
#include "shims/host.h"
#include "shims/slow_send.h"
#include "support/cnt_process.h"

/*
 * The shim in its host process, on a real server: what it must not change, what a forked child may
 * do, how much memory it takes, and dates that become datetimes. Built for each flavour.
 */

struct fixture {
	struct cmy_original f;
	struct cnt_rig rig;
};

static int
setup(void **state)
{
	static struct fixture f;

	if (cnt_rig_start(&f.rig) < 0)
		return -1;
	cnt_library_open_shared(&f.f, CNT_OURS);
	setenv("CENOTE_LIBMARIADB", cnt_library_original(CNT_ORIGINAL_LIBMARIADB), 1);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	return cnt_rig_stop(&f->rig);
}

static MYSQL *
connected(struct fixture *f)
{
	MYSQL *my = f->f.mysql_init(NULL);

	assert_non_null(my);
	if (!f->f.mysql_real_connect(
		    my, NULL, "app", NULL, "app", 0, f->rig.server.socket, 0))
		fail_msg("%s", f->f.mysql_error(my));
	return my;
}

/* Run a query. Returns its first value, or the error message; valid until the next call. */
static const char *
asked(struct fixture *f, MYSQL *my, const char *sql)
{
	static char text[256];
	MYSQL_RES *res = NULL;
	MYSQL_ROW row;

	if (f->f.mysql_query(my, sql) == 0)
		res = f->f.mysql_store_result(my);
	row = res ? f->f.mysql_fetch_row(res) : NULL;
	snprintf(text, sizeof(text), "%s", row ? row[0] : f->f.mysql_error(my));
	f->f.mysql_free_result(res);
	return text;
}

/* ---- what belongs to the host ---- */

static void
busy_hour(struct fixture *f)
{
	MYSQL *my = connected(f);

	assert_string_equal(asked(f, my, "select 6 * 7"), "42");
	assert_non_null(strstr(asked(f, my, "selec"), "syntax"));
	assert_int_equal(f->f.mysql_ping(my), 0);
	f->f.mysql_free_result(f->f.mysql_list_dbs(my, NULL));
	assert_string_equal(asked(f, my, "select 'it''s'"), "it's");
	f->f.mysql_close(my);
}

static void
descriptors_come_and_go_with_the_connection(void **state)
{
	struct fixture *f = *state;
	char before[CNT_HOST_FDS], during[CNT_HOST_FDS], after[CNT_HOST_FDS];
	MYSQL *my;
	int n = 0;

	cnt_host_list_fds(before);
	my = connected(f);
	cnt_host_list_fds(during);
	for (int fd = 0; fd < CNT_HOST_FDS; fd++) {
		if (!during[fd] || before[fd])
			continue;
		n++;
		assert_true(fd > 2);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_int_equal(my->net.fd, fd);
	}
	assert_int_equal(n, 1);
	f->f.mysql_close(my);
	busy_hour(f);
	cnt_host_list_fds(after);
	assert_memory_equal(before, after, sizeof(before));
}

/* Start a pool for this test; connections go there until leave_own(). */
static void
enter_own(struct fixture *f, struct cnt_daemon *own, const char *options)
{
	char text[1024];

	assert_int_equal(cnt_daemon_start(own, cnt_server_config(&f->rig.server, options,
						       text, sizeof(text))),
		0);
	snprintf(text, sizeof(text), "unix:%s", own->run_dir);
	setenv("CENOTE_SERVER", text, 1);
}

static void
leave_own(struct fixture *f, struct cnt_daemon *own)
{
	char text[CNT_PATH_MAX + 8];

	snprintf(text, sizeof(text), "unix:%s", f->rig.daemon.run_dir);
	setenv("CENOTE_SERVER", text, 1);
	assert_int_equal(cnt_daemon_stop(own), 0);
}

/* Two connections share one session. */
static void
a_descriptor_keeps_its_number_on_another_session(void **state)
{
	struct fixture *f = *state;
	struct cnt_daemon small;
	MYSQL *my[2];
	int fds[2];

	enter_own(f, &small, "sessions = 1\nmode = transaction\n");
	for (int i = 0; i < 2; i++) {
		my[i] = connected(f);
		fds[i] = my[i]->net.fd;
	}
	for (int i = 0; i < 20; i++) {
		MYSQL *now = my[i % 2];

		assert_string_equal(asked(f, now, "select 6 * 7"), "42");
		for (int k = 0; k < 2; k++) {
			assert_true(fds[k] > 2);
			assert_int_equal(my[k]->net.fd, fds[k]);
			assert_true(fcntl(fds[k], F_GETFD) & FD_CLOEXEC);
		}
	}
	for (int i = 0; i < 2; i++) {
		f->f.mysql_close(my[i]);
		assert_int_equal(fcntl(fds[i], F_GETFD), -1);
	}
	leave_own(f, &small);
}

/* Send, poll and read, as programs with an event loop do. */
static void
ask_by_poll(struct fixture *f, MYSQL *my, const char *sql)
{
	struct pollfd p = { .events = POLLIN };

	assert_int_equal(f->f.mysql_send_query(my, sql, strlen(sql)), 0);
	p.fd = my->net.fd;
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_int_equal(f->f.mysql_read_query_result(my), 0);
	f->f.mysql_free_result(f->f.mysql_store_result(my));
}

/* With a read timeout the shim waits for the answer itself, not libcenote. */
static void
a_sending_leaves_the_answer_to_who_polls(void **state)
{
	struct fixture *f = *state;
	unsigned seconds = 20;
	struct cnt_daemon own;
	MYSQL *my = f->f.mysql_init(NULL);

	enter_own(f, &own, "sessions = 1\nidle_client_timeout = 2s\n");
	assert_int_equal(f->f.mysql_options(my, MYSQL_OPT_READ_TIMEOUT, &seconds), 0);
	assert_non_null(f->f.mysql_real_connect(
		my, NULL, "app", NULL, "app", 0, f->rig.server.socket, 0));
	/* after the first answer the pool takes the session back, and both messages
	 * arrive at once */
	cnt_send_slowly(4000, 50);
	ask_by_poll(f, my, "select 6 * 7");
	ask_by_poll(f, my, "begin");
	assert_true(cnt_send_as_ever() > 2);
	/* if the shim had read the answer while sending, the program would wait for it until the
	 * pool ends the session */
	assert_string_equal(asked(f, my, "select 'held'"), "held");
	f->f.mysql_close(my);
	leave_own(f, &own);
}

static void
signals_locale_and_environment_stay(void **state)
{
	struct cnt_host before;

	cnt_host_look(&before);
	busy_hour(*state);
	cnt_host_assert_same(&before);
}

static void
nothing_is_printed(void **state)
{
	struct fixture *f = *state;
	struct cnt_capture capture;
	MYSQL *my;
	long n;

	cnt_capture_begin(&capture);
	busy_hour(f);
	my = f->f.mysql_init(NULL);
	setenv("CENOTE_SERVER", "unix:/nonexistent", 1);
	(void)f->f.mysql_real_connect(my, NULL, "app", NULL, "app", 0, NULL, 0);
	f->f.mysql_close(my);
	n = cnt_capture_end(&capture);
	snprintf(f->rig.daemon.uri, sizeof(f->rig.daemon.uri), "unix:%s",
		f->rig.daemon.run_dir);
	setenv("CENOTE_SERVER", f->rig.daemon.uri, 1);
	assert_int_equal(n, 0);
}

/* ---- forked children ---- */

static int
use_parents(struct fixture *f, MYSQL *my)
{
	int is_refused = f->f.mysql_query(my, "select 'from the child'") != 0 &&
			 strstr(f->f.mysql_error(my), "forked child") != NULL;

	is_refused &= f->f.mysql_store_result(my) == NULL;
	is_refused &= f->f.mysql_ping(my) != 0;
	is_refused &= f->f.mysql_next_result(my) != 0;
	f->f.mysql_close(my);
	return is_refused ? 0 : 1;
}

static void
a_forked_child_is_refused_and_the_parent_goes_on(void **state)
{
	struct fixture *f = *state;
	MYSQL *my = connected(f);
	char id[32];
	int status;

	assert_int_equal(f->f.mysql_query(my, "begin"), 0);
	snprintf(id, sizeof(id), "%lu", f->f.mysql_thread_id(my));
	for (int round = 0; round < 3; round++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0)
			_exit(use_parents(f, my));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		/* the parent has the same session, still in its transaction */
		assert_string_equal(asked(f, my, "select connection_id()"), id);
		assert_true(my->server_status & SERVER_STATUS_IN_TRANS);
	}
	f->f.mysql_close(my);
}

static void
a_child_reads_no_rows_of_its_parent(void **state)
{
	struct fixture *f = *state;
	MYSQL *my = connected(f);
	MYSQL_RES *res;
	pid_t child;
	int status, n = 0;

	assert_int_equal(f->f.mysql_query(my, "select seq from seq_1_to_20000"), 0);
	res = f->f.mysql_use_result(my);
	assert_non_null(res);
	assert_string_equal(f->f.mysql_fetch_row(res)[0], "1");
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		/* rows that were read before the fork may come */
		while (n < 20000 && f->f.mysql_fetch_row(res))
			n++;
		f->f.mysql_free_result(res);
		f->f.mysql_close(my);
		_exit(n < 19999 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (n = 1; f->f.mysql_fetch_row(res); n++)
		;
	assert_int_equal(n, 20000);
	f->f.mysql_free_result(res);
	assert_string_equal(asked(f, my, "select 1"), "1");
	f->f.mysql_close(my);
}

/* ---- memory ---- */

static long
peak_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void
a_used_result_takes_little_memory(void **state)
{
	struct fixture *f = *state;
	MYSQL *my = connected(f);
	MYSQL_RES *res;
	MYSQL_ROW row;
	long before;
	int n = 0;

	assert_int_equal(
		f->f.mysql_query(my, "select seq, repeat('x', 5000) from seq_1_to_20000"),
		0);
	before = peak_kb();
	res = f->f.mysql_use_result(my);
	while ((row = f->f.mysql_fetch_row(res)))
		n += f->f.mysql_fetch_lengths(res)[1] == 5000;
	assert_int_equal(n, 20000);
	f->f.mysql_free_result(res);
	/* the result has 100 MB; valgrind adds its own */
	assert_in_range(peak_kb() - before, 0,
		strtol(cnt_env_or("CNT_RSS_GROWTH_KB", "16384"), NULL, 10));
	f->f.mysql_close(my);
}

static void
results_outlive_their_connection_in_any_order(void **state)
{
	struct fixture *f = *state;
	MYSQL *my = connected(f);
	MYSQL_RES *stored, *used;

	assert_int_equal(f->f.mysql_query(my, "select 'kept'"), 0);
	stored = f->f.mysql_store_result(my);
	assert_int_equal(f->f.mysql_query(my, "select seq from seq_1_to_50000"), 0);
	used = f->f.mysql_use_result(my);
	assert_non_null(f->f.mysql_fetch_row(used));
	f->f.mysql_close(my);
	assert_null(f->f.mysql_fetch_row(used));
	assert_true(f->f.mysql_eof(used));
	f->f.mysql_free_result(used);
	assert_string_equal(f->f.mysql_fetch_row(stored)[0], "kept");
	f->f.mysql_free_result(stored);
}

/* ---- dates as datetimes ---- */

static void
dates_are_datetimes_where_asked(void **state)
{
	static const char sql[] =
		"select date '2024-01-02', null, 'x', date '1999-12-31'";
	struct fixture *f = *state;
	MYSQL_RES *res;
	MYSQL_ROW row;
	MYSQL *my;

	setenv("CENOTE_MYSQL_MAP_DATE_TO_DATETIME", "yes", 1);
	my = connected(f);
	for (int is_used = 0; is_used < 2; is_used++) {
		assert_int_equal(f->f.mysql_query(my, sql), 0);
		res = is_used ? f->f.mysql_use_result(my) : f->f.mysql_store_result(my);
		assert_int_equal(
			f->f.mysql_fetch_fields(res)[0].type, MYSQL_TYPE_DATETIME);
		assert_int_equal(f->f.mysql_fetch_fields(res)[0].length, 19);
		row = f->f.mysql_fetch_row(res);
		assert_string_equal(row[0], "2024-01-02 00:00:00");
		assert_null(row[1]);
		assert_string_equal(row[3], "1999-12-31 00:00:00");
		assert_int_equal(f->f.mysql_fetch_lengths(res)[0], 19);
		assert_int_equal(f->f.mysql_fetch_lengths(res)[2], 1);
		f->f.mysql_free_result(res);
	}
	f->f.mysql_close(my);
	unsetenv("CENOTE_MYSQL_MAP_DATE_TO_DATETIME");
	my = connected(f);
	assert_string_equal(asked(f, my, sql), "2024-01-02");
	f->f.mysql_close(my);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptors_come_and_go_with_the_connection),
		cmocka_unit_test(a_descriptor_keeps_its_number_on_another_session),
		cmocka_unit_test(a_sending_leaves_the_answer_to_who_polls),
		cmocka_unit_test(signals_locale_and_environment_stay),
		cmocka_unit_test(nothing_is_printed),
		cmocka_unit_test(a_forked_child_is_refused_and_the_parent_goes_on),
		cmocka_unit_test(a_child_reads_no_rows_of_its_parent),
		cmocka_unit_test(a_used_result_takes_little_memory),
		cmocka_unit_test(results_outlive_their_connection_in_any_order),
		cmocka_unit_test(dates_are_datetimes_where_asked),
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, setup, teardown);
}
