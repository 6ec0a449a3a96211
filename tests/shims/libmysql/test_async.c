/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "library.h"
#include "rig.h"

/*
 * The non-blocking functions of both flavours: no call waits, and the results are those
 * of the blocking functions. MariaDB's are also compared with the original.
 */

static struct cmy_original f;
static struct cnt_rig rig;
static const char *server_socket;

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#if !CMY_ORACLE

static int n_waits;

/* Wait as a program must when a call has returned `status`. */
static int
wait_for(MYSQL *my, int status)
{
	struct pollfd p = { .fd = f.mysql_get_socket(my),
		.events = (short)((status & MYSQL_WAIT_READ ? POLLIN : 0) |
				  (status & MYSQL_WAIT_WRITE ? POLLOUT : 0)) };
	int timeout = status & MYSQL_WAIT_TIMEOUT ? (int)f.mysql_get_timeout_value_ms(my)
						  : 20000;

	assert_true(p.fd >= 0);
	n_waits++;
	if (poll(&p, 1, timeout) == 0) {
		assert_true(status & MYSQL_WAIT_TIMEOUT);
		return MYSQL_WAIT_TIMEOUT;
	}
	return (p.revents & POLLIN ? MYSQL_WAIT_READ : 0) |
	       (p.revents & POLLOUT ? MYSQL_WAIT_WRITE : 0);
}

#define AWAIT(my, start, cont)                                                           \
	do {                                                                             \
		int status_ = (start);                                                   \
		while (status_) {                                                        \
			int ready = wait_for(my, status_);                               \
			int64_t begin_ = now_ms();                                       \
			status_ = (cont);                                                \
			assert_true(now_ms() - begin_ < 15000);                          \
		}                                                                        \
	} while (0)

static MYSQL *
connected(unsigned read_timeout)
{
	MYSQL *my = f.mysql_init(NULL), *ret = NULL;

	assert_non_null(my);
	assert_int_equal(f.mysql_options(my, MYSQL_OPT_NONBLOCK, NULL), 0);
	f.mysql_options(my, MYSQL_OPT_READ_TIMEOUT, &read_timeout);
	AWAIT(my,
		f.mysql_real_connect_start(
			&ret, my, NULL, "app", NULL, "app", 0, server_socket, 0),
		f.mysql_real_connect_cont(&ret, my, ready));
	if (ret != my)
		fail_msg("%s", f.mysql_error(my));
	return my;
}

static void
a_query_is_waited_for_by_the_program(void)
{
	MYSQL *my = connected(0);
	MYSQL_RES *res = NULL;
	MYSQL_ROW row = NULL;
	int r = -1;

	n_waits = 0;
	AWAIT(my, f.mysql_query_start(&r, my, "select sleep(0.2), seq from seq_1_to_3"),
		f.mysql_query_cont(&r, my, ready));
	assert_int_equal(r, 0);
	assert_true(n_waits > 0);
	AWAIT(my, f.mysql_store_result_start(&res, my),
		f.mysql_store_result_cont(&res, my, ready));
	assert_non_null(res);
	assert_int_equal(res->row_count, 3);
	AWAIT(my, f.mysql_fetch_row_start(&row, res),
		f.mysql_fetch_row_cont(&row, res, ready));
	assert_string_equal(row[1], "1");
	f.mysql_free_result(res);
	f.mysql_close(my);
}

static void
rows_are_read_one_by_one(void)
{
	MYSQL *my = connected(0);
	MYSQL_RES *res;
	MYSQL_ROW row = NULL;
	int r = -1, n = 0;

	AWAIT(my, f.mysql_query_start(&r, my, "select seq from seq_1_to_50000"),
		f.mysql_query_cont(&r, my, ready));
	assert_int_equal(r, 0);
	res = f.mysql_use_result(my);
	do {
		AWAIT(my, f.mysql_fetch_row_start(&row, res),
			f.mysql_fetch_row_cont(&row, res, ready));
		n += row != NULL;
	} while (row);
	assert_int_equal(n, 50000);
	AWAIT(my, f.mysql_free_result_start(res), f.mysql_free_result_cont(res, ready));
	f.mysql_close(my);
}

static void
nothing_goes_on_where_nothing_waits(void)
{
	MYSQL *my = connected(0);
	int r = 0;

	assert_int_equal(f.mysql_query_cont(&r, my, MYSQL_WAIT_READ), 0);
	assert_int_equal(r, 1);
	assert_int_equal(f.mysql_errno(my), 2014);
	f.mysql_close(my);
}

static void
the_time_limit_is_the_programs_to_keep(void)
{
	MYSQL *my = connected(1);
	int r = 0;

	AWAIT(my, f.mysql_query_start(&r, my, "select sleep(30)"),
		f.mysql_query_cont(&r, my, ready));
	assert_int_equal(r != 0, 1);
	assert_int_equal(f.mysql_errno(my), 2013);
	f.mysql_close(my);
}

static void
who_waits_can_be_closed(void)
{
	MYSQL *my = connected(0);
	int64_t begin = now_ms();
	int r = 0;

	assert_int_equal(
		f.mysql_query_start(&r, my, "select sleep(30)"), MYSQL_WAIT_READ);
	f.mysql_close(my);
	assert_true(now_ms() - begin < 15000);
}

/* ---- the same calls on the original, through the pool, and through the shim to the original ---- */

static void
play_all(void)
{
	a_query_is_waited_for_by_the_program();
	rows_are_read_one_by_one();
	nothing_goes_on_where_nothing_waits();
	the_time_limit_is_the_programs_to_keep();
	who_waits_can_be_closed();
}

static void
with_the_original(void **state)
{
	cnt_library_open(&f, cnt_library_original(CNT_ORIGINAL_LIBMARIADB));
	play_all();
}

static void
through_the_pool(void **state)
{
	cnt_library_open(&f, CNT_OUR_LIBMARIADB);
	play_all();
}

static void
handed_to_the_original(void **state)
{
	cnt_library_open(&f, CNT_OUR_LIBMARIADB);
	setenv("CENOTE_POOL", "direct", 1);
	play_all();
	setenv("CENOTE_POOL", "main", 1);
}

static void
falling_back_to_the_original(void **state)
{
	char *server = strdup(getenv("CENOTE_SERVER"));

	cnt_library_open(&f, CNT_OUR_LIBMARIADB);
	setenv("CENOTE_SERVER", "unix:/nowhere", 1);
	setenv("CENOTE_FALLBACK", "direct", 1);
	play_all();
	setenv("CENOTE_SERVER", server, 1);
	unsetenv("CENOTE_FALLBACK");
	free(server);
}

#else

/* Repeat the call until it is done. No step may take long. */
#define AWAIT(status, step)                                                              \
	do {                                                                             \
		int64_t begin_ = now_ms();                                               \
		(status) = (step);                                                       \
		assert_true(now_ms() - begin_ < 15000);                                  \
		if ((status) == NET_ASYNC_NOT_READY)                                     \
			(void)poll(NULL, 0, 1);                                          \
	} while ((status) == NET_ASYNC_NOT_READY)

static MYSQL *
connected(void)
{
	MYSQL *my = f.mysql_init(NULL);
	enum net_async_status status;

	assert_non_null(my);
	assert_int_equal(
		f.mysql_get_connect_nonblocking_stage(my), CONNECT_STAGE_NOT_STARTED);
	AWAIT(status, f.mysql_real_connect_nonblocking(
			      my, NULL, "app", NULL, "app", 0, server_socket, 0));
	assert_int_equal(status, NET_ASYNC_COMPLETE);
	assert_int_equal(
		f.mysql_get_connect_nonblocking_stage(my), CONNECT_STAGE_COMPLETE);
	return my;
}

static void
a_query_is_asked_for_until_it_is_done(void **state)
{
	MYSQL *my = connected();
	enum net_async_status status;
	const char sql[] = "select sleep(0.2), seq from seq_1_to_3";
	MYSQL_RES *res = NULL;
	MYSQL_ROW row = NULL;
	int n = 0;

	assert_int_equal(f.mysql_real_query_nonblocking(my, sql, strlen(sql)),
		NET_ASYNC_NOT_READY);
	AWAIT(status, f.mysql_real_query_nonblocking(my, sql, strlen(sql)));
	assert_int_equal(status, NET_ASYNC_COMPLETE);
	AWAIT(status, f.mysql_store_result_nonblocking(my, &res));
	assert_non_null(res);
	do {
		AWAIT(status, f.mysql_fetch_row_nonblocking(res, &row));
		n += row != NULL;
	} while (row);
	assert_int_equal(n, 3);
	AWAIT(status, f.mysql_free_result_nonblocking(res));
	AWAIT(status, f.mysql_next_result_nonblocking(my));
	assert_int_equal(status, NET_ASYNC_COMPLETE_NO_MORE_RESULTS);
	AWAIT(status, f.mysql_reset_connection_nonblocking(my));
	assert_int_equal(status, NET_ASYNC_COMPLETE);
	f.mysql_close(my);
}

static void
one_operation_at_a_time(void **state)
{
	MYSQL *my = connected();
	const char sql[] = "select sleep(30)";
	int64_t begin = now_ms();

	assert_int_equal(f.mysql_real_query_nonblocking(my, sql, strlen(sql)),
		NET_ASYNC_NOT_READY);
	assert_int_equal(f.mysql_reset_connection_nonblocking(my), NET_ASYNC_ERROR);
	assert_int_equal(f.mysql_errno(my), 2014);
	f.mysql_close(my);
	assert_true(now_ms() - begin < 15000);
}

static void
an_error_is_told(void **state)
{
	MYSQL *my = connected();
	enum net_async_status status;

	AWAIT(status, f.mysql_real_query_nonblocking(my, "selekt", 6));
	assert_int_equal(status, NET_ASYNC_ERROR);
	assert_int_equal(f.mysql_errno(my), 1064);
	f.mysql_close(my);
}

#endif

/* A program with an event loop always has a descriptor to wait for. */
static void
a_full_queue_is_waited_for(void **state)
{
	char *server = strdup(getenv("CENOTE_SERVER"));
	MYSQL *my;
	struct cnt_daemon none;
	char text[CNT_PATH_MAX + 8];
	pid_t jam;

	assert_int_equal(cnt_daemon_create(&none, NULL), 0);
	snprintf(text, sizeof(text), "unix:%s", none.run_dir);
	setenv("CENOTE_SERVER", text, 1);
	jam = cnt_daemon_jam(&none, 200);
	assert_true(jam > 0);
#if CMY_ORACLE
	my = f.mysql_init(NULL);
	while (f.mysql_real_connect_nonblocking(my, NULL, "app", NULL, "app", 0,
		       server_socket, 0) == NET_ASYNC_NOT_READY) {
		struct pollfd p = { .fd = my->net.fd, .events = POLLIN };

		assert_true(p.fd > STDERR_FILENO);
		assert_int_equal(poll(&p, 1, 20000), 1);
	}
#else
	MYSQL *ret;

	cnt_library_open(&f, CNT_OUR_LIBMARIADB);
	my = f.mysql_init(NULL);
	assert_int_equal(f.mysql_options(my, MYSQL_OPT_NONBLOCK, NULL), 0);
	AWAIT(my,
		f.mysql_real_connect_start(
			&ret, my, NULL, "app", NULL, "app", 0, server_socket, 0),
		f.mysql_real_connect_cont(&ret, my, ready));
#endif
	assert_true(f.mysql_errno(my) > 0);
	f.mysql_close(my);
	assert_int_equal(waitpid(jam, NULL, 0), jam);
	cnt_remove_tree(none.dir);
	setenv("CENOTE_SERVER", server, 1);
	free(server);
}

static int
setup(void **state)
{
	if (cnt_rig_start(&rig) < 0)
		return -1;
	server_socket = rig.server.socket;
#if CMY_ORACLE
	cnt_library_open(&f, CNT_OUR_LIBMYSQLCLIENT);
#endif
	return 0;
}

static int
teardown(void **state)
{
	return cnt_rig_stop(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#if CMY_ORACLE
		cmocka_unit_test(a_query_is_asked_for_until_it_is_done),
		cmocka_unit_test(one_operation_at_a_time),
		cmocka_unit_test(an_error_is_told),
#else
		cmocka_unit_test(with_the_original),
		cmocka_unit_test(through_the_pool),
		cmocka_unit_test(handed_to_the_original),
		cmocka_unit_test(falling_back_to_the_original),
#endif
		cmocka_unit_test(a_full_queue_is_waited_for),
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, setup, teardown);
}
