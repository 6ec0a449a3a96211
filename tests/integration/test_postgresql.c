/* SPDX-License-Identifier: BSD-2-Clause */
#include "with_pool.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_server.h"

/* The features of PostgreSQL's own clients, through the pool: with a real server, cenoted and
 * libcenote. */

static struct cnt_server server;

static int
group_setup(void **state)
{
	return cnt_server_start(&server, CNT_POSTGRESQL, 0);
}

static int
group_teardown(void **state)
{
	cnt_server_stop(&server);
	return 0;
}

/* *state is an attached client; the pool has two sessions. */
static int
setup(void **state)
{
	char config[4096];

	wp_start(cnt_server_config(&server, "sessions = 2\n", config, sizeof(config)));
	*state = wp_attach(NULL);
	return 0;
}

static int
teardown(void **state)
{
	cenote_conn_destroy(*state);
	return wp_teardown(state);
}

/* Run several statements, which must all work. */
static void
exec_all(cenote_conn *conn, const char *sql)
{
	cenote_result *res;
	int r;

	assert_ok(cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL));
	while ((r = cenote_get_result(conn, &res)) == CENOTE_OK) {
		if (cenote_result_kind(res) == CENOTE_RESULT_ERROR)
			fail_msg("%s: %s", sql,
				cenote_diag_message(cenote_result_diag(res)));
		cenote_result_destroy(res);
	}
	assert_int_equal(r, CENOTE_DONE);
}

/* ---- Notices, parameters and notifications ---- */

struct heard {
	int n;
	char text[256]; /* of the last one */
	char state[6];
};

static void
on_notice(const cenote_diag *notice, void *user)
{
	struct heard *heard = user;

	heard->n++;
	snprintf(heard->text, sizeof(heard->text), "%s %s",
		cenote_diag_field(notice, 'V'), cenote_diag_message(notice));
	snprintf(heard->state, sizeof(heard->state), "%s", cenote_diag_sqlstate(notice));
}

static void
notices_come_with_all_their_fields(void **state)
{
	cenote_conn *conn = *state;
	struct heard heard = { 0 };

	cenote_set_notice_handler(conn, on_notice, &heard);
	wp_exec(conn, "do $$ begin raise notice 'one'; raise warning 'two'"
		      " using errcode = '01234', hint = 'h'; end $$");
	assert_int_equal(heard.n, 2);
	assert_string_equal(heard.text, "WARNING two");
	assert_string_equal(heard.state, "01234");
	wp_exec(conn, "rollback");
	assert_int_equal(heard.n, 3);
	assert_string_equal(heard.state, "25P01");
	cenote_set_notice_handler(conn, NULL, NULL);
	wp_exec(conn, "rollback");
	assert_int_equal(heard.n, 3);
}

static void
on_parameter(const char *name, const char *value, void *user)
{
	struct heard *heard = user;

	heard->n++;
	snprintf(heard->text, sizeof(heard->text), "%s=%s", name, value);
}

static void
parameters_are_told_when_they_change(void **state)
{
	cenote_conn *conn = *state;
	struct heard heard = { 0 };

	assert_string_equal(cenote_parameter(conn, "server_encoding"), "UTF8");
	assert_string_equal(cenote_parameter(conn, "client_encoding"), "UTF8");
	assert_string_equal(cenote_parameter(conn, "standard_conforming_strings"), "on");
	assert_null(cenote_parameter(conn, "nonsense"));
	cenote_set_parameter_handler(conn, on_parameter, &heard);
	wp_exec(conn, "set application_name = 'me'");
	assert_string_equal(heard.text, "application_name=me");
	assert_string_equal(cenote_parameter(conn, "application_name"), "me");
	/* If a value is set for one transaction, the client gets two reports: at SET and at its end. */
	heard.n = 0;
	wp_exec(conn, "begin");
	wp_exec(conn, "set local timezone = 'Asia/Tokyo'");
	assert_string_equal(heard.text, "TimeZone=Asia/Tokyo");
	wp_exec(conn, "commit");
	assert_int_equal(heard.n, 2);
	assert_string_not_equal(heard.text, "TimeZone=Asia/Tokyo");
}

static void
on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	struct heard *heard = user;

	heard->n++;
	assert_true(pid > 1);
	snprintf(heard->text, sizeof(heard->text), "%s %s", channel, payload);
}

static void
an_idle_client_hears_notifications(void **state)
{
	cenote_conn *conn = *state, *other = wp_attach(NULL);
	struct heard heard = { 0 };

	cenote_set_notification_handler(conn, on_notification, &heard);
	assert_int_equal(cenote_wait(conn, 0), CENOTE_DONE);
	wp_exec(conn, "listen water");
	assert_int_equal(cenote_pins(conn) & CENOTE_PIN_LISTEN, CENOTE_PIN_LISTEN);
	assert_int_equal(cenote_wait(conn, 100), CENOTE_DONE);
	wp_exec(other, "notify water, 'rises'");
	while (heard.n == 0)
		assert_ok(cenote_wait(conn, 10000));
	assert_string_equal(heard.text, "water rises");
	/* The client's own notifications come with the answer, others with the next answer at the
	 * latest. */
	wp_exec(conn, "notify water, 'mine'");
	assert_int_equal(heard.n, 2);
	exec_all(other, "begin; notify water, '1'; notify water, '2'; commit");
	wp_exec(other, "notify elsewhere, '3'");
	while (heard.n < 4)
		assert_ok(cenote_wait(conn, 10000));
	assert_string_equal(heard.text, "water 2");
	wp_exec(conn, "unlisten water");
	wp_exec(other, "notify water, '4'");
	assert_int_equal(cenote_wait(conn, 200), CENOTE_DONE);
	assert_int_equal(heard.n, 4);
	cenote_conn_destroy(other);
}

/* The next client on that session must not get notifications for the previous one. */
static void
a_listener_that_left_leaves_nobody_listening(void **state)
{
	cenote_conn *conn = *state, *other = wp_attach(NULL), *next;
	struct heard heard = { 0 };
	pid_t worker = wp_worker_pid(conn);

	wp_exec(conn, "listen water");
	cenote_close(conn);
	wp_await("main", "in_use", 1);
	next = wp_attach(NULL);
	assert_int_equal(wp_worker_pid(next), worker);
	cenote_set_notification_handler(next, on_notification, &heard);
	wp_exec(other, "notify water, 'again'");
	wp_exec(next, "select 1");
	assert_int_equal(cenote_wait(next, 300), CENOTE_DONE);
	assert_int_equal(heard.n, 0);
	assert_string_equal(
		wp_value(next, "select count(*) from pg_listening_channels()"), "0");
	cenote_conn_destroy(next);
	cenote_conn_destroy(other);
}

/* ---- COPY ---- */

static cenote_result *
start(cenote_conn *conn, const char *sql, int kind)
{
	cenote_result *res;
	int r = cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res);

	if (r != CENOTE_OK)
		fail_msg("%s: %s", sql, wp_message(conn));
	assert_int_equal(cenote_result_kind(res), kind);
	return res;
}

static void
expect_tag(cenote_conn *conn, const char *tag)
{
	cenote_result *res = wp_next_result(conn, CENOTE_RESULT_COMMAND);

	assert_string_equal(cenote_result_tag(res), tag);
	cenote_result_destroy(res);
}

static void
expect_error(cenote_conn *conn, const char *sqlstate)
{
	cenote_result *res = wp_next_result(conn, CENOTE_RESULT_ERROR);

	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), sqlstate);
	cenote_result_destroy(res);
}

static void
expect_kind(cenote_conn *conn, int kind)
{
	cenote_result_destroy(wp_next_result(conn, kind));
}

static void
copy_brings_rows_in(void **state)
{
	cenote_conn *conn = *state;
	cenote_result *copy;

	wp_exec(conn, "create temp table c (a int, b text)");
	copy = start(conn, "copy c from stdin", CENOTE_RESULT_COPY_IN);
	assert_int_equal(cenote_copy_format(copy), CENOTE_FORMAT_TEXT);
	assert_int_equal(cenote_copy_n_columns(copy), 2);
	assert_string_equal(cenote_copy_file(copy), "");
	for (int i = 0; i < 100000; i++) {
		char line[32];
		int n = snprintf(line, sizeof(line), "%d\tx%d\n", i, i);

		/* Pieces need not be rows. */
		assert_ok(cenote_copy_put(conn, line, 1));
		assert_ok(cenote_copy_put(conn, line + 1, (size_t)n - 1));
	}
	assert_ok(cenote_copy_end(conn, NULL));
	expect_tag(conn, "COPY 100000");
	expect_kind(conn, 0);
	cenote_result_destroy(copy);
	assert_string_equal(wp_value(conn, "select sum(a) from c"), "4999950000");
}

static void
errors_end_a_copy_in(void **state)
{
	cenote_conn *conn = *state;
	cenote_result *copy;
	int r = CENOTE_OK;

	wp_exec(conn, "create temp table c (a int)");
	/* The server finds a bad row. The program goes on until it learns about that. */
	copy = start(conn, "copy c from stdin", CENOTE_RESULT_COPY_IN);
	assert_ok(cenote_copy_put(conn, "1\nnonsense\n", 11));
	for (int i = 0; i < 1000000 && r == CENOTE_OK; i++)
		r = cenote_copy_put(conn, "2\n3\n4\n5\n", 8);
	assert_true(r == CENOTE_OK || r == CENOTE_DONE);
	assert_ok(cenote_copy_end(conn, NULL));
	expect_error(conn, "22P02");
	expect_kind(conn, 0);
	cenote_result_destroy(copy);
	/* The program gives up. */
	copy = start(conn, "copy c from stdin", CENOTE_RESULT_COPY_IN);
	assert_ok(cenote_copy_put(conn, "1\n", 2));
	assert_ok(cenote_copy_end(conn, "no more"));
	expect_error(conn, "57014");
	cenote_result_destroy(copy);
	expect_kind(conn, 0);
	/* The program gives up without a reason. */
	copy = start(conn, "copy c from stdin", CENOTE_RESULT_COPY_IN);
	assert_ok(cenote_copy_put(conn, "1\n", 2));
	cenote_result_destroy(copy);
	expect_error(conn, "57014");
	expect_kind(conn, 0);
	assert_string_equal(wp_value(conn, "select count(*) from c"), "0");
}

static void
a_client_that_dies_in_a_copy_leaves_nothing(void **state)
{
	cenote_conn *conn = *state, *other = wp_attach(NULL), *next;
	pid_t worker = wp_worker_pid(conn);
	cenote_result *copy;

	wp_exec(conn, "create table if not exists kept (a int)");
	copy = start(conn, "copy kept from stdin", CENOTE_RESULT_COPY_IN);
	assert_ok(cenote_copy_put(conn, "1\n2\n", 4));
	cenote_close(conn);
	cenote_result_destroy(copy);
	wp_await("main", "in_use", 1);
	next = wp_attach(NULL);
	assert_int_equal(wp_worker_pid(next), worker);
	assert_string_equal(wp_value(next, "select count(*) from kept"), "0");
	wp_exec(next, "drop table kept");
	cenote_conn_destroy(next);
	cenote_conn_destroy(other);
}

static void
copy_brings_rows_out(void **state)
{
	cenote_conn *conn = *state;
	cenote_result *copy = start(conn,
		"copy (select i, 'x' from generate_series(1, 50000) i) to stdout",
		CENOTE_RESULT_COPY_OUT);
	const char *data;
	size_t len, total = 0, n = 0;
	int r;

	while ((r = cenote_copy_get(conn, &data, &len)) == CENOTE_OK) {
		assert_int_equal(data[len], 0);
		total += len;
		n++;
	}
	assert_int_equal(r, CENOTE_DONE);
	assert_int_equal(n, 50000);
	assert_int_equal(total, 50000 * 3 + 9 + 90 * 2 + 900 * 3 + 9000 * 4 + 40001 * 5);
	expect_tag(conn, "COPY 50000");
	expect_kind(conn, 0);
	cenote_result_destroy(copy);
	/* An error comes after half of the rows. */
	copy = start(conn,
		"copy (select 1 / (3 - i) from generate_series(1, 5) i) to stdout",
		CENOTE_RESULT_COPY_OUT);
	assert_ok(cenote_copy_get(conn, &data, &len));
	assert_string_equal(data, "0\n");
	assert_ok(cenote_copy_get(conn, &data, &len));
	assert_int_equal(cenote_copy_get(conn, &data, &len), CENOTE_DONE);
	expect_error(conn, "22012");
	cenote_result_destroy(copy);
	expect_kind(conn, 0);
	/* The program does not want the rest. */
	copy = start(conn, "copy (select i from generate_series(1, 500000) i) to stdout",
		CENOTE_RESULT_COPY_OUT);
	assert_ok(cenote_copy_get(conn, &data, &len));
	cenote_result_destroy(copy);
	expect_tag(conn, "COPY 500000");
	expect_kind(conn, 0);
	assert_string_equal(wp_value(conn, "select 1"), "1");
}

static void
copies_stand_among_other_statements(void **state)
{
	cenote_conn *conn = *state;
	cenote_result *res;

	wp_exec(conn, "create temp table c (a int)");
	res = start(conn, "copy c from stdin; copy c to stdout; select count(*) from c",
		CENOTE_RESULT_COPY_IN);
	assert_ok(cenote_copy_put(conn, "7\n", 2));
	assert_ok(cenote_copy_end(conn, NULL));
	expect_tag(conn, "COPY 1");
	cenote_result_destroy(res);
	res = wp_next_result(conn, CENOTE_RESULT_COPY_OUT);
	for (int r = CENOTE_OK; r == CENOTE_OK;) {
		const char *data;
		size_t len;

		r = cenote_copy_get(conn, &data, &len);
		if (r == CENOTE_OK)
			assert_string_equal(data, "7\n");
	}
	expect_tag(conn, "COPY 1");
	cenote_result_destroy(res);
	res = wp_next_result(conn, CENOTE_RESULT_ROWS);
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "1");
	cenote_result_destroy(res);
	expect_kind(conn, 0);
}

/* ---- Pipelines and transactions ---- */

static void
send(cenote_conn *conn, const char *sql)
{
	cenote_params *none;

	assert_ok(cenote_params_create(NULL, &none));
	assert_ok(cenote_send_query(conn, sql, CENOTE_NTS, none, NULL));
	cenote_params_destroy(none);
}

static void
an_error_skips_to_the_next_sync_and_undoes_the_unit(void **state)
{
	cenote_conn *conn = *state;

	wp_exec(conn, "create temp table p (a int)");
	assert_ok(cenote_pipeline_begin(conn));
	send(conn, "insert into p values (1)");
	send(conn, "insert into p values (1 / 0)");
	send(conn, "insert into p values (2)");
	assert_ok(cenote_send_sync(conn));
	send(conn, "insert into p values (3)");
	assert_ok(cenote_send_sync(conn));
	expect_tag(conn, "INSERT 0 1");
	expect_kind(conn, 0);
	expect_error(conn, "22012");
	expect_kind(conn, 0);
	expect_kind(conn, CENOTE_RESULT_SKIPPED);
	expect_kind(conn, 0);
	expect_kind(conn, CENOTE_RESULT_SYNC);
	expect_kind(conn, 0);
	expect_tag(conn, "INSERT 0 1");
	expect_kind(conn, 0);
	expect_kind(conn, CENOTE_RESULT_SYNC);
	expect_kind(conn, 0);
	assert_ok(cenote_pipeline_end(conn));
	assert_int_equal(cenote_tx_state(conn), CENOTE_TX_IDLE);
	assert_string_equal(
		wp_value(conn, "select string_agg(a::text, ',') from p"), "3");
}

static void
a_constraint_that_fails_at_the_end_is_an_error(void **state)
{
	cenote_conn *conn = *state;

	exec_all(conn, "create table parent (id int primary key);"
		       " create table child (id int references parent"
		       " deferrable initially deferred)");
	/* Alone, outside a transaction: the insert itself fails. */
	assert_int_equal(
		wp_status_of(conn, "insert into child values (1)"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "23503");
	assert_string_equal(
		cenote_diag_field(cenote_conn_diag(conn), 'n'), "child_id_fkey");
	/* In a transaction: the commit fails. */
	assert_ok(cenote_begin(conn, 0, 0));
	wp_exec(conn, "insert into child values (1)");
	assert_int_equal(cenote_commit(conn), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "23503");
	assert_int_equal(cenote_tx_state(conn), CENOTE_TX_IDLE);
	/* In a pipeline: the synchronisation point fails. */
	assert_ok(cenote_pipeline_begin(conn));
	send(conn, "insert into child values (1)");
	assert_ok(cenote_send_sync(conn));
	expect_tag(conn, "INSERT 0 1");
	expect_kind(conn, 0);
	expect_error(conn, "23503");
	expect_kind(conn, CENOTE_RESULT_SYNC);
	expect_kind(conn, 0);
	assert_ok(cenote_pipeline_end(conn));
	assert_string_equal(wp_value(conn, "select count(*) from child"), "0");
	wp_exec(conn, "drop table child, parent");
}

/* ---- Large objects ---- */

enum lo_function {
	LO_OPEN = 952,
	LO_CLOSE = 953,
	LO_READ = 954,
	LO_WRITE = 955,
	LO_LSEEK = 956,
	LO_CREAT = 957,
	LO_UNLINK = 964
};

static void
add_int(cenote_params *params, int32_t v)
{
	uint32_t u = (uint32_t)v;
	uint8_t bytes[4] = { (uint8_t)(u >> 24), (uint8_t)(u >> 16), (uint8_t)(u >> 8),
		(uint8_t)u };

	assert_ok(cenote_params_add_native(params, 23, CENOTE_FORMAT_BINARY, bytes, 4));
}

/* Call a function as libpq does: binary values, binary result. */
static cenote_result *
call(cenote_conn *conn, uint32_t function, cenote_params *params)
{
	cenote_result *res;
	int r = cenote_function(conn, function, params, CENOTE_FORMAT_BINARY, &res);

	if (r != CENOTE_OK)
		fail_msg("%u: %s", (unsigned)function, wp_message(conn));
	assert_int_equal(cenote_result_n_rows(res), 1);
	cenote_params_clear(params);
	return res;
}

static int32_t
call_int(cenote_conn *conn, uint32_t function, cenote_params *params)
{
	cenote_result *res = call(conn, function, params);
	size_t len;
	const uint8_t *p = (const uint8_t *)cenote_result_text(res, 0, 0, &len);
	int32_t v;

	assert_int_equal(len, 4);
	v = (int32_t)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
		      p[3]);
	cenote_result_destroy(res);
	return v;
}

static void
large_objects_are_read_and_written(void **state)
{
	cenote_conn *conn = *state;
	cenote_params *params;
	cenote_result *res;
	char piece[8192];
	int32_t oid, fd;
	size_t len;

	memset(piece, 'w', sizeof(piece));
	piece[100] = '\0';
	assert_ok(cenote_params_create(NULL, &params));
	assert_ok(cenote_begin(conn, 0, 0));
	add_int(params, 0x60000);
	oid = call_int(conn, LO_CREAT, params);
	assert_true(oid > 0);
	add_int(params, oid);
	add_int(params, 0x60000);
	fd = call_int(conn, LO_OPEN, params);
	for (int i = 0; i < 64; i++) {
		add_int(params, fd);
		assert_ok(cenote_params_add_native(
			params, 17, CENOTE_FORMAT_BINARY, piece, sizeof(piece)));
		assert_int_equal(call_int(conn, LO_WRITE, params), sizeof(piece));
	}
	add_int(params, fd);
	add_int(params, 8192 - 10);
	add_int(params, 0);
	assert_int_equal(call_int(conn, LO_LSEEK, params), 8192 - 10);
	add_int(params, fd);
	add_int(params, 1000);
	res = call(conn, LO_READ, params);
	assert_memory_equal(cenote_result_text(res, 0, 0, &len) + 10, piece, 990);
	assert_int_equal(len, 1000);
	cenote_result_destroy(res);
	add_int(params, fd);
	assert_int_equal(call_int(conn, LO_CLOSE, params), 0);
	/* An error fails the transaction. */
	add_int(params, 4242);
	assert_int_equal(
		cenote_function(conn, LO_CLOSE, params, CENOTE_FORMAT_BINARY, &res),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "42704");
	assert_int_equal(cenote_tx_state(conn), CENOTE_TX_FAILED);
	assert_ok(cenote_rollback(conn));
	assert_int_equal(cenote_function(conn, 1, NULL, CENOTE_FORMAT_BINARY, &res),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "42883");
	cenote_params_destroy(params);
}

/* ---- Cancelling ---- */

static void
wait_readable(cenote_conn *conn)
{
	while (cenote_is_busy(conn)) {
		struct pollfd fd = { .fd = cenote_fd(conn), .events = POLLIN };

		if (cenote_wants(conn) & CENOTE_WANTS_WRITE)
			fd.events |= POLLOUT;
		assert_true(poll(&fd, 1, 20000) > 0);
		assert_true(cenote_process(conn) >= 0);
	}
}

static void
a_cancel_hits_its_own_request_only(void **state)
{
	cenote_conn *conn = *state;
	cenote_cancel *cancel, *late;
	int64_t begin = wp_now_ms();

	assert_ok(cenote_set_nonblocking(conn, 1));
	assert_ok(cenote_send_query(conn, "select pg_sleep(60)", CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_process(conn));
	assert_ok(cenote_cancel_create(conn, &cancel));
	wp_pause_ms(100);
	assert_ok(cenote_cancel_send(cancel));
	wait_readable(conn);
	expect_error(conn, "57014");
	expect_kind(conn, 0);
	assert_true(wp_now_ms() - begin < 20000);

	/* The cancelled request is over, and the same cancel does not hit the next request. */
	assert_int_equal(cenote_cancel_send(cancel), CENOTE_DONE);
	assert_ok(cenote_send_query(conn, "select pg_sleep(1)", CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_process(conn));
	assert_ok(cenote_cancel_create(conn, &late));
	wp_pause_ms(100);
	assert_int_equal(cenote_cancel_send(cancel), CENOTE_DONE);
	wait_readable(conn);
	expect_kind(conn, CENOTE_RESULT_ROWS);
	expect_kind(conn, 0);

	/* A late cancel hits no request that comes after its own. */
	assert_ok(cenote_set_nonblocking(conn, 0));
	for (int i = 0; i < 50; i++) {
		assert_int_equal(cenote_cancel_send(late), CENOTE_DONE);
		assert_string_equal(wp_value(conn, "select 'still here'"), "still here");
	}
	cenote_cancel_destroy(cancel);
	cenote_cancel_destroy(late);
}

/* A cancel that crosses the end of its request must not reach the next one. */
static void
cancels_at_the_end_of_requests_hit_no_other(void **state)
{
	cenote_conn *conn = *state;
	int n_cancelled = 0;

	for (int i = 0; i < 200; i++) {
		cenote_cancel *cancel;
		cenote_result *res;
		char sql[64];
		int r;

		snprintf(sql, sizeof(sql), "select pg_sleep(%d / 100000.0)", i % 20);
		assert_ok(cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL));
		assert_true(cenote_process(conn) >= 0);
		assert_ok(cenote_cancel_create(conn, &cancel));
		r = cenote_cancel_send(cancel);
		if (r != CENOTE_OK && r != CENOTE_DONE)
			fail_msg("%s", cenote_diag_message(cenote_cancel_diag(cancel)));
		assert_ok(cenote_get_result(conn, &res));
		if (cenote_result_kind(res) == CENOTE_RESULT_ERROR) {
			assert_string_equal(
				cenote_diag_sqlstate(cenote_result_diag(res)), "57014");
			assert_ok(r);
			n_cancelled++;
		}
		cenote_result_destroy(res);
		expect_kind(conn, 0);
		cenote_cancel_destroy(cancel);
		/* Whatever the cancel did, this statement is not cancelled. */
		assert_string_equal(
			wp_value(conn, "select 'ok' from pg_sleep(0.001)"), "ok");
	}
	print_message("# %d of 200 were cancelled\n", n_cancelled);
}

/* ---- Procedures, names, portals ---- */

static void
call_gives_output_values(void **state)
{
	cenote_conn *conn = *state;
	cenote_params *params;
	cenote_result *res;

	wp_exec(conn,
		"create or replace procedure twice(in a int, inout b int, out c text)"
		" language plpgsql as $$ begin b := a * 2; c := 'done'; end $$");
	assert_ok(cenote_params_create(NULL, &params));
	assert_ok(cenote_params_add_int64(params, 21));
	assert_ok(cenote_query(
		conn, "call twice($1, null, null)", CENOTE_NTS, params, NULL, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_ROWS);
	assert_int_equal(cenote_result_n_columns(res), 2);
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "42");
	assert_string_equal(cenote_result_text(res, 0, 1, NULL), "done");
	assert_string_equal(cenote_result_tag(res), "CALL");
	cenote_result_destroy(res);
	cenote_params_destroy(params);
	/* A procedure that commits. */
	wp_exec(conn, "create or replace procedure commits() language plpgsql as"
		      " $$ begin commit; end $$");
	wp_exec(conn, "call commits()");
	exec_all(conn, "drop procedure twice; drop procedure commits");
}

static void
named_statements_are_those_of_sql(void **state)
{
	cenote_conn *conn = *state;
	cenote_stmt *stmt, *by_name;
	cenote_params *params;
	cenote_result *res;

	assert_ok(cenote_stmt_create(
		conn, "select $1::int + 1 as next", CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_set_name(stmt, "add one"));
	assert_ok(cenote_stmt_prepare(stmt));
	assert_string_equal(wp_value(conn, "execute \"add one\"(41)"), "42");
	assert_string_equal(wp_value(conn, "select statement from pg_prepared_statements"
					   " where name = 'add one'"),
		"select $1::int + 1 as next");
	wp_exec(conn, "deallocate \"add one\"");
	assert_ok(cenote_params_create(NULL, &params));
	assert_ok(cenote_params_add_int64(params, 1));
	assert_int_equal(
		cenote_stmt_execute(stmt, params, NULL, &res), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "26000");
	cenote_stmt_destroy(stmt);

	wp_exec(conn, "prepare two (int) as select $1 * 2 as twice");
	assert_ok(cenote_describe_named(conn, CENOTE_NAMED_STATEMENT, "two", &res));
	assert_int_equal(cenote_result_n_params(res), 1);
	assert_int_equal(cenote_result_param_native_type(res, 0), 23);
	assert_string_equal(
		cenote_column_text(cenote_result_column(res, 0), CENOTE_COLUMN_NAME),
		"twice");
	cenote_result_destroy(res);
	assert_ok(cenote_stmt_by_name(conn, "two", &by_name));
	assert_ok(cenote_stmt_execute(by_name, params, NULL, &res));
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "2");
	cenote_result_destroy(res);
	cenote_stmt_destroy(by_name);
	assert_ok(cenote_close_named(conn, CENOTE_NAMED_STATEMENT, "two"));
	assert_int_equal(cenote_describe_named(conn, CENOTE_NAMED_STATEMENT, "two", &res),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "26000");
	cenote_params_destroy(params);
}

static cenote_result *
open_stream(cenote_conn *conn, const char *sql, uint32_t batch_rows)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_params *none;
	cenote_result *res;

	options.stream = 1;
	options.batch_rows = batch_rows;
	assert_ok(cenote_params_create(NULL, &none));
	assert_ok(cenote_query(conn, sql, CENOTE_NTS, none, &options, &res));
	cenote_params_destroy(none);
	return res;
}

static void
expect_batch(cenote_result *res, int64_t first, uint64_t n)
{
	int64_t value;

	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	assert_int_equal(cenote_result_n_rows(res), n);
	assert_ok(cenote_result_int64(res, 0, 0, &value));
	assert_int_equal(value, first);
}

static void
results_come_in_batches_beside_each_other(void **state)
{
	cenote_conn *conn = *state;

	for (int in_tx = 0; in_tx < 2; in_tx++) {
		cenote_result *a, *b;

		if (in_tx)
			assert_ok(cenote_begin(conn, 0, 0));
		a = open_stream(conn, "select i from generate_series(1, 10) i", 4);
		expect_batch(a, 1, 4);
		assert_int_equal(
			cenote_pins(conn) & CENOTE_PIN_CURSOR, CENOTE_PIN_CURSOR);
		b = open_stream(conn, "select i from generate_series(101, 105) i", 2);
		expect_batch(b, 101, 2);
		expect_batch(a, 5, 4);
		assert_string_equal(wp_value(conn, "select 'between'"), "between");
		expect_batch(b, 103, 2);
		expect_batch(a, 9, 2);
		assert_int_equal(cenote_result_next(a), CENOTE_DONE);
		cenote_result_destroy(a);
		/* The program does not want the rest of b. */
		cenote_result_destroy(b);
		if (in_tx)
			assert_ok(cenote_commit(conn));
		assert_string_equal(wp_value(conn, "select 'behind'"), "behind");
		assert_int_equal(cenote_pins(conn) & CENOTE_PIN_CURSOR, 0);
	}
}

/* ---- Names that programs give themselves ---- */

/* A client of that name. NULL: it gives itself none. */
static cenote_conn *
attach_as(const char *name)
{
	cenote_conn *conn = wp_handle(NULL);

	if (name != NULL)
		assert_ok(cenote_set_session_option(conn, "application_name", name));
	assert_ok(cenote_connect(conn));
	return conn;
}

/* The session keeps the name until somebody needs another one. What clients are told of must be true all the same. */
static void
a_name_goes_with_the_client_that_has_it(void **state)
{
	static const struct {
		const char *name;
		const char *sql; /* what the client does with the session */
	} clients[] = { { "first", "select 1" }, { "first", "set work_mem = '1MB'" },
		{ NULL, "select 1" }, { "second", "select 1" }, { NULL, "select 1" },
		{ "first", "set work_mem = '1MB'" }, { "first", "discard all" },
		{ NULL, "set work_mem = '1MB'" } };
	char config[4096];

	wp_start(cnt_server_config(&server, "sessions = 1\n", config, sizeof(config)));
	for (size_t i = 0; i < CNT_COUNT(clients); i++) {
		cenote_conn *conn = attach_as(clients[i].name);
		const char *told = cenote_parameter(conn, "application_name");

		assert_string_equal(
			told, clients[i].name != NULL ? clients[i].name : "cenoted");
		wp_exec(conn, clients[i].sql);
		cenote_conn_destroy(conn);
		wp_await("main", "idle", 1);
	}
}

/* ---- One session for several clients ---- */

static int
setup_shared(void **state)
{
	char config[4096];

	wp_start(cnt_server_config(
		&server, "sessions = 1\nmode = transaction\n", config, sizeof(config)));
	*state = wp_attach(NULL);
	return 0;
}

static void
clients_that_hold_nothing_share_a_session(void **state)
{
	cenote_conn *a = *state, *b;
	cenote_stmt *stmt;
	cenote_params *params;

	exec_all(a, "create table if not exists shared (v int); truncate shared");
	assert_ok(cenote_stmt_create(
		a, "insert into shared values ($1)", CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_prepare(stmt));
	b = wp_attach(NULL);
	for (int i = 0; i < 5; i++) {
		cenote_result *res;

		assert_ok(cenote_params_create(NULL, &params));
		assert_ok(cenote_params_add_int64(params, i));
		assert_ok(cenote_stmt_execute(stmt, params, NULL, &res));
		cenote_result_destroy(res);
		cenote_params_destroy(params);
		wp_exec(b, "update shared set v = v + 1");
	}
	assert_string_equal(wp_value(a, "select sum(v) from shared"), "25");
	cenote_stmt_destroy(stmt);
	assert_true(wp_pool_number("main", "yields") >= 5);
	cenote_conn_destroy(b);
}

/* The client's next session begins with the settings that its role got meanwhile. */
static void
what_was_escaped_for_one_session_reaches_no_other(void **state)
{
	/* \'; create … as a text in which a backslash is nothing special */
	static const char escaped[] = "select '\\''; create table injected () -- '";
	cenote_conn *a = *state, *b;

	assert_string_equal(cenote_parameter(a, "standard_conforming_strings"), "on");
	b = wp_attach(NULL);
	wp_exec(b, "alter role app set standard_conforming_strings = off");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(wp_status_of(a, escaped), CENOTE_ERR_CONN);
		assert_string_equal(wp_sqlstate(a), "08006");
		assert_non_null(
			strstr(wp_message(a), "standard_conforming_strings is \"off\""));
	}
	assert_ok(cenote_connect(a));
	assert_string_equal(cenote_parameter(a, "standard_conforming_strings"), "off");
	assert_string_equal(wp_value(a, "select to_regclass('injected') is null"), "t");
	wp_exec(a, "alter role app reset standard_conforming_strings");
	cenote_conn_destroy(b);
}

static void
lines_whose_sessions_read_texts_otherwise_are_warned_of(void **state)
{
	const char *program = getenv("CNT_CENOTED");
	char config[4096], command[1024];

	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "\n[pool main]\nbackend = postgresql\nserver = %s\n"
				  "server = %s client_encoding=LATIN1\nsessions = 2\n",
		server.server_line, server.server_line);
	wp_start(config);
	wp_await_log("client_encoding differs from the first server line");
	wp_await_log("read texts differently from sessions of another server line");
	snprintf(command, sizeof(command),
		"%s --check -c %s 2>&1 >/dev/null | grep -q 'client_encoding differs'",
		program != NULL ? program : CNT_CENOTED_PATH, wp_daemon.conf);
	assert_int_equal(system(command), 0);
}

static void
clients_keep_what_functions_have_left(void **state)
{
	static const struct {
		const char *make, *take, *see, *seen, *give;
		uint32_t pin;
	} held[] = {
		{ "create function take() returns void language plpgsql"
		  " as $$ begin create temp table hidden (a int); end $$",
			"select take()", "select count(*) from hidden", "0",
			"drop table hidden", CENOTE_PIN_TEMP },
		{ "create function take() returns void language plpgsql"
		  " as $$ begin perform set_config('app.tenant', '5', false); end $$",
			"select take()", "select current_setting('app.tenant')", "5",
			"discard all", CENOTE_PIN_SETTINGS },
	};
	cenote_conn *a = *state, *other;

	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		wp_exec(a, held[i].make);
		wp_exec(a, held[i].take);
		wp_expect_none_free(NULL);
		assert_string_equal(wp_value(a, held[i].see), held[i].seen);
		assert_true(cenote_pins(a) & held[i].pin);
		wp_exec(a, held[i].give);
		assert_ok(wp_try(NULL, &other));
		cenote_conn_destroy(other);
		wp_exec(a, "drop function take()");
	}
	/* the code that was called is gone, and may have left anything */
	wp_exec(a, "discard all");
}

/* Try again and again, since the statement may not run yet. */
static void *
cancel_what_runs(void *arg)
{
	int r = CENOTE_DONE;

	for (int i = 0; i < 500 && r == CENOTE_DONE; i++) {
		wp_pause_ms(10);
		r = cenote_cancel_send_safe(arg, NULL, 0);
	}
	return (void *)(intptr_t)r;
}

static void
a_cancel_follows_its_connection_to_another_session(void **state)
{
	cenote_conn *a = *state, *b = wp_attach(NULL);
	cenote_cancel *cancel;
	pthread_t thread;
	void *status;

	assert_ok(cenote_cancel_create(a, &cancel));
	for (int i = 0; i < 3; i++) {
		wp_exec(a, "select 1");
		wp_exec(b, "select 1");
		/* the client has no session now */
		cenote_cancel_follow(cancel, a);
		assert_int_equal(
			pthread_create(&thread, NULL, cancel_what_runs, cancel), 0);
		assert_int_equal(
			wp_status_of(a, "select pg_sleep(30)"), CENOTE_ERR_SERVER);
		assert_string_equal(wp_sqlstate(a), "57014");
		assert_int_equal(pthread_join(thread, &status), 0);
		assert_ok((intptr_t)status);
	}
	assert_true(wp_pool_number("main", "yields") >= 3);
	/* a cancel may outlive the connection that it follows, and then names nothing */
	cenote_conn_destroy(a);
	assert_int_equal(cenote_cancel_send_safe(cancel, NULL, 0), CENOTE_DONE);
	cenote_cancel_follow(cancel, b);
	cenote_cancel_follow(cancel, NULL);
	cenote_cancel_follow(cancel, b);
	cenote_cancel_destroy(cancel);
	wp_exec(b, "select 1");
	*state = b;
}

#define TEST(name)   cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SHARED(name) cmocka_unit_test_setup_teardown(name, setup_shared, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(notices_come_with_all_their_fields),
		TEST(parameters_are_told_when_they_change),
		TEST(an_idle_client_hears_notifications),
		TEST(a_listener_that_left_leaves_nobody_listening),
		TEST(copy_brings_rows_in),
		TEST(errors_end_a_copy_in),
		TEST(a_client_that_dies_in_a_copy_leaves_nothing),
		TEST(copy_brings_rows_out),
		TEST(copies_stand_among_other_statements),
		TEST(an_error_skips_to_the_next_sync_and_undoes_the_unit),
		TEST(a_constraint_that_fails_at_the_end_is_an_error),
		TEST(large_objects_are_read_and_written),
		TEST(a_cancel_hits_its_own_request_only),
		TEST(cancels_at_the_end_of_requests_hit_no_other),
		TEST(call_gives_output_values),
		TEST(named_statements_are_those_of_sql),
		TEST(results_come_in_batches_beside_each_other),
		SHARED(what_was_escaped_for_one_session_reaches_no_other),
		cmocka_unit_test_teardown(
			lines_whose_sessions_read_texts_otherwise_are_warned_of,
			wp_teardown),
		cmocka_unit_test_teardown(
			a_name_goes_with_the_client_that_has_it, wp_teardown),
		SHARED(clients_that_hold_nothing_share_a_session),
		SHARED(clients_keep_what_functions_have_left),
		SHARED(a_cancel_follows_its_connection_to_another_session),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
