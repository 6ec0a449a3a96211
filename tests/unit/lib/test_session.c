/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Blocking use against a pool that answers correctly. */

/* Otherwise, text that a program prints to a closed standard output would go to the pool. */
static void
the_session_takes_no_standard_descriptor(void **state)
{
	struct fixture *f = *state;
	int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	assert_true(saved > STDERR_FILENO);
	assert_ok(cenote_set_nonblocking(f->conn, 1));
	assert_int_equal(close(STDIN_FILENO), 0);
	assert_int_equal(cenote_connect(f->conn), CENOTE_AGAIN);
	assert_true(cenote_fd(f->conn) > STDERR_FILENO);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(close(saved), 0);
}

static void
connecting_tells_who_comes_and_what_is_there(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->peer.seen.flags,
		CNP_ATTACH_STAYS | CNP_ATTACH_LISTENS | CNP_ATTACH_RESTORES);
	assert_int_equal(f->peer.seen.generation, 0);
	assert_string_equal(f->peer.seen.program, "test_lib_session");
	assert_string_equal(cenote_info(f->conn, "backend"), "played");
	assert_string_equal(cenote_info(f->conn, "server"), "here");
	assert_string_equal(cenote_info(f->conn, "server_version"), "1.2");
	assert_string_equal(cenote_info(f->conn, "database"), "db");
	assert_string_equal(cenote_info(f->conn, "worker_pid"), "4711");
	assert_string_equal(cenote_info(f->conn, "session"), "101");
	assert_string_equal(cenote_info(f->conn, "pool"), "play");
	assert_string_equal(cenote_info(f->conn, "socket"), f->peer.path);
	assert_string_equal(cenote_info(f->conn, "protocol"), "1");
	assert_string_equal(cenote_info(f->conn, "attaches"), "1");
	assert_string_equal(cenote_info(f->conn, "features"), "transactions,cancel");
	assert_string_equal(cenote_info(f->conn, "server_encoding"), "UTF8");
	assert_null(cenote_info(f->conn, "nothing"));
	assert_ok(cenote_ping(f->conn));
	assert_string_equal(cenote_info(f->conn, "zone"), "UTC");
	assert_int_equal(cenote_is_connected(f->conn), 1);
	assert_int_equal(cenote_tx_state(f->conn), CENOTE_TX_IDLE);
	assert_true(cenote_fd(f->conn) >= 0);
	assert_int_equal(cenote_connect(f->conn), CENOTE_ERR_STATE);
	assert_int_equal(cenote_conn_set(f->conn, "pool", "x"), CENOTE_ERR_STATE);
}

/* cenote_row_text() must return the same as cenote_result_text(). */
static void
compare_row(const cenote_result *res, uint64_t row)
{
	const uint8_t *const *rows = cenote_result_rows(res);
	uint32_t n = cenote_result_n_columns(res);

	for (uint32_t col = 0; col < n; col++) {
		size_t len = 77, row_len = 77;
		const char *text = cenote_result_text(res, row, col, &len);

		assert_ptr_equal(cenote_row_text(rows[row], n, col, &row_len), text);
		assert_ptr_equal(cenote_row_text(rows[row], n, col, NULL), text);
		assert_int_equal(row_len, len);
	}
}

static void
rows_are_read_by_row_and_column(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;
	size_t len = 0;

	assert_ok(cenote_query(f->conn, "rows 1000", CENOTE_NTS, NULL, NULL, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_ROWS);
	assert_int_equal(cenote_result_n_rows(res), 1000);
	assert_int_equal(cenote_result_n_columns(res), 3);
	for (uint64_t i = 0; i < 1000; i++) {
		const char *values[3];
		size_t lens[3];
		char text[32];

		assert_ok(cenote_result_row(res, i, values, lens));
		for (uint32_t c = 0; c < 3; c++) {
			assert_ptr_equal(values[c], cenote_result_text(res, i, c, NULL));
			assert_int_equal(lens[c], values[c] ? strlen(values[c]) : 0);
		}
		assert_int_equal(int_at(res, i, 0), i);
		(void)snprintf(text, sizeof(text), "row %u", (unsigned)i);
		assert_string_equal(cenote_result_text(res, i, 1, &len), text);
		assert_int_equal(len, strlen(text));
		assert_int_equal(cenote_result_is_null(res, i, 2), 1);
		assert_int_equal(cenote_result_is_null(res, i, 1), 0);
		compare_row(res, i);
	}
	assert_null(cenote_result_text(res, 1000, 0, NULL));
	assert_null(cenote_result_text(res, 0, 3, NULL));
	assert_int_equal(cenote_result_row(res, 1000, NULL, NULL), CENOTE_ERR_ARG);
	assert_int_equal(cenote_result_is_null(res, 1000, 0), 1);
	assert_int_equal(cenote_result_find_column(res, "TEXT"), 1);
	assert_int_equal(cenote_result_find_column(res, "tex"), -1);
	assert_string_equal(cenote_result_tag(res), "SELECT 1000");
	assert_int_equal(cenote_result_affected_rows(res), -1);
	assert_true(cenote_result_memory(res) > 1000 * 10);
	assert_int_equal(cenote_result_next(res), CENOTE_ERR_STATE);
	assert_string_equal(cenote_diag_message(cenote_result_diag(res)), "");
	cenote_result_destroy(res);
}

static void
columns_are_described(void **state)
{
	struct fixture *f = *state;
	const cenote_column *col;
	cenote_result *res;

	assert_ok(cenote_query(f->conn, "rows 0", CENOTE_NTS, NULL, NULL, &res));
	assert_int_equal(cenote_result_n_rows(res), 0);
	col = cenote_result_column(res, 0);
	assert_string_equal(cenote_column_text(col, CENOTE_COLUMN_NAME), "n");
	assert_string_equal(cenote_column_text(col, CENOTE_COLUMN_ORG_NAME), "n");
	assert_string_equal(cenote_column_text(col, CENOTE_COLUMN_TABLE), "t");
	assert_string_equal(cenote_column_text(col, CENOTE_COLUMN_ORG_TABLE), "t");
	assert_string_equal(cenote_column_text(col, CENOTE_COLUMN_SCHEMA), "main");
	assert_string_equal(cenote_column_text(col, CENOTE_COLUMN_CATALOG), "");
	assert_string_equal(cenote_column_text(col, CENOTE_COLUMN_TYPE_NAME), "INTEGER");
	assert_string_equal(cenote_column_text(col, 99), "");
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_TYPE), CENOTE_TYPE_INT64);
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_NATIVE_TYPE), 20);
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_MODIFIER), -1);
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_NATIVE_FLAGS), 0);
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_CHARSET), 0);
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_LENGTH), 8);
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_PRECISION), 19);
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_SCALE), 0);
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_NULLABLE), 0);
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_TABLE_ID), 5);
	assert_int_equal(cenote_column_int(col, CENOTE_COLUMN_ATTNUM), 1);
	assert_int_equal(
		cenote_column_int(col, CENOTE_COLUMN_FORMAT), CENOTE_FORMAT_TEXT);
	assert_int_equal(cenote_column_int(col, 99), -1);
	assert_int_equal(cenote_column_int(NULL, CENOTE_COLUMN_TYPE), -1);
	assert_string_equal(cenote_column_text(NULL, CENOTE_COLUMN_NAME), "");
	assert_null(cenote_result_column(res, 3));
	cenote_result_destroy(res);
}

static void
values_are_converted_or_refused(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;
	int64_t i = 5;
	uint64_t u = 5;
	double d = 5;
	cenote_date date;
	cenote_time time;
	cenote_timestamp ts;

	assert_ok(cenote_query(f->conn, "values", CENOTE_NTS, NULL, NULL, &res));
	assert_int_equal(int_at(res, 0, 0), -42);
	assert_int_equal(cenote_result_uint64(res, 0, 0, &u), CENOTE_ERR_CONVERT);
	assert_int_equal(u, 5);
	assert_ok(cenote_result_uint64(res, 0, 1, &u));
	assert_true(u == UINT64_MAX);
	assert_int_equal(cenote_result_int64(res, 0, 1, &i), CENOTE_ERR_CONVERT);
	assert_int_equal(i, 5);
	assert_ok(cenote_result_double(res, 0, 2, &d));
	assert_true(d == 1.5);
	assert_ok(cenote_result_date(res, 0, 3, &date));
	assert_int_equal(date.year * 10000 + date.month * 100 + date.day, 20240229);
	assert_ok(cenote_result_time(res, 0, 4, &time));
	assert_int_equal(time.hour, 23);
	assert_int_equal(time.nanosecond, 500000000);
	assert_int_equal(time.utc_offset_s, 7200);
	assert_ok(cenote_result_timestamp(res, 0, 5, &ts));
	assert_int_equal(ts.time.second, 3);
	assert_int_equal(ts.time.utc_offset_s, CENOTE_NO_OFFSET);
	assert_int_equal(cenote_result_int64(res, 0, 6, &i), CENOTE_ERR_CONVERT);
	assert_int_equal(cenote_result_double(res, 0, 6, &d), CENOTE_ERR_CONVERT);
	assert_int_equal(cenote_result_date(res, 0, 6, &date), CENOTE_ERR_CONVERT);
	assert_int_equal(cenote_result_time(res, 0, 6, &time), CENOTE_ERR_CONVERT);
	assert_int_equal(cenote_result_timestamp(res, 0, 6, &ts), CENOTE_ERR_CONVERT);
	assert_int_equal(cenote_result_int64(res, 1, 0, &i), CENOTE_ERR_ARG);
	assert_int_equal(cenote_result_int64(res, 0, 7, &i), CENOTE_ERR_ARG);
	cenote_result_destroy(res);
	assert_ok(cenote_query(f->conn, "rows 1", CENOTE_NTS, NULL, NULL, &res));
	assert_int_equal(cenote_result_int64(res, 0, 2, &i), CENOTE_DONE);
	cenote_result_destroy(res);
}

static void
a_command_tells_what_it_did(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_ok(cenote_query(f->conn, "cmd", CENOTE_NTS, NULL, NULL, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_COMMAND);
	assert_string_equal(cenote_result_tag(res), "INSERT 1");
	assert_int_equal(cenote_result_affected_rows(res), 1);
	assert_int_equal(cenote_result_last_insert_id(res), 7);
	assert_int_equal(cenote_result_warnings(res), 2);
	assert_int_equal(cenote_result_n_columns(res), 0);
	assert_int_equal(cenote_result_n_rows(res), 0);
	assert_null(cenote_result_text(res, 0, 0, NULL));
	assert_null(cenote_result_rows(res));
	cenote_result_destroy(res);
}

static void
an_error_is_a_status_with_the_servers_words(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f, "fail 23505"), CENOTE_ERR_SERVER);
	assert_string_equal(sqlstate_of(f), "23505");
	assert_string_equal(message_of(f), "it failed");
	assert_int_equal(cenote_diag_native(cenote_conn_diag(f->conn)), 17);
	assert_string_equal(cenote_diag_field(cenote_conn_diag(f->conn), 'S'), "ERROR");
	assert_int_equal(run(f, "fail 0A000"), CENOTE_ERR_UNSUPPORTED);
	assert_int_equal(run(f, "rows_fail 10"), CENOTE_ERR_SERVER);
	assert_string_equal(sqlstate_of(f), "22012");
	assert_ok(run(f, "cmd"));
	assert_string_equal(message_of(f), "");
}

static void
several_results_come_one_after_the_other(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_ok(cenote_query(f->conn, "two", CENOTE_NTS, NULL, NULL, &res));
	assert_int_equal(cenote_result_n_rows(res), 2);
	cenote_result_destroy(res);
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_STATE);
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_COMMAND);
	finish_request(f, res);
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_DONE);
	assert_ok(run(f, "cmd"));
}

static void
a_result_outlives_its_connection(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_ok(cenote_query(f->conn, "big 100000", CENOTE_NTS, NULL, NULL, &res));
	cenote_conn_destroy(f->conn);
	f->conn = NULL;
	assert_int_equal(strlen(cenote_result_text(res, 0, 0, NULL)), 100000);
	cenote_result_destroy(res);
}

static void
parameters_arrive_as_they_were_added(void **state)
{
	static const char *const expected[][2] = {
		{ "0", NULL },
		{ "1", "1" },
		{ "2", "-9223372036854775808" },
		{ "3", "18446744073709551615" },
		{ "4", "0.1" },
		{ "5", "-12.50" },
		{ "6", "text" },
		{ "7", "by" },
		{ "8", "2024-02-29" },
		{ "9", "01:02:03" },
		{ "10", "2024-02-29 01:02:03" },
		{ "14", "native" },
	};
	struct fixture *f = *state;
	const cenote_date date = { 2024, 2, 29, 0 };
	const cenote_time time = { 1, 2, 3, 0, 0, CENOTE_NO_OFFSET };
	const cenote_timestamp ts = { date, time };
	cenote_params *p;
	cenote_result *res;

	assert_ok(cenote_params_create(&f->alloc.mem, &p));
	assert_ok(cenote_params_add_null(p));
	assert_ok(cenote_params_add_bool(p, 5));
	assert_ok(cenote_params_add_int64(p, INT64_MIN));
	assert_ok(cenote_params_add_uint64(p, UINT64_MAX));
	assert_ok(cenote_params_add_double(p, 0.1));
	assert_ok(cenote_params_add_decimal(p, "-12.50", CENOTE_NTS));
	assert_ok(cenote_params_add_text(p, "text!", 4));
	assert_ok(cenote_params_add_bytes(p, "bytes", 2));
	assert_ok(cenote_params_add_date(p, &date));
	assert_ok(cenote_params_add_time(p, &time));
	assert_ok(cenote_params_add_timestamp(p, &ts));
	assert_ok(cenote_params_add_native(p, 99, 0, "native", 6));
	assert_int_equal(cenote_params_count(p), 12);
	for (int twice = 0; twice < 2; twice++) {
		assert_ok(cenote_query(f->conn, "params", CENOTE_NTS, p, NULL, &res));
		assert_int_equal(cenote_result_n_rows(res), 12);
		for (uint64_t i = 0; i < 12; i++) {
			const char *value = cenote_result_text(res, i, 1, NULL);

			if (i < 11)
				assert_string_equal(cenote_result_text(res, i, 0, NULL),
					expected[i][0]);
			if (expected[i][1])
				assert_string_equal(value, expected[i][1]);
			else
				assert_null(value);
		}
		cenote_result_destroy(res);
	}
	cenote_params_clear(p);
	assert_int_equal(cenote_params_count(p), 0);
	assert_ok(cenote_query(f->conn, "params", CENOTE_NTS, p, NULL, &res));
	assert_int_equal(cenote_result_n_rows(res), 0);
	cenote_result_destroy(res);
	cenote_params_destroy(p);
}

static void
bad_parameters_leave_the_list_as_it_was(void **state)
{
	struct fixture *f = *state;
	const cenote_date date = { 2023, 2, 29, 0 };
	const cenote_time time = { 25, 0, 0, 0, 0, CENOTE_NO_OFFSET };
	cenote_params *p;

	assert_ok(cenote_params_create(&f->alloc.mem, &p));
	assert_ok(cenote_params_add_int64(p, 1));
	assert_int_equal(
		cenote_params_add_decimal(p, "1.2.3", CENOTE_NTS), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_decimal(p, NULL, 0), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_text(p, NULL, 3), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_text(p, NULL, CENOTE_NTS), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_bytes(p, NULL, 3), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_date(p, &date), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_date(p, NULL), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_time(p, &time), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_time(p, NULL), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_timestamp(p, NULL), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_native(p, 1, 1, NULL, 0), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_add_null(NULL), CENOTE_ERR_ARG);
	assert_int_equal(cenote_params_count(p), 1);
	for (uint32_t i = 1; i < 65535; i++)
		assert_ok(cenote_params_add_null(p));
	assert_int_equal(cenote_params_add_null(p), CENOTE_ERR_LIMIT);
	assert_int_equal(cenote_params_count(p), 65535);
	cenote_params_destroy(p);
}

static void
statements_are_prepared_once_and_described(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt;
	cenote_result *res;

	stmt = create_stmt(f, "params");
	assert_int_equal(cenote_stmt_n_params(stmt), 0);
	assert_int_equal(cenote_send_execute(stmt, NULL, NULL), CENOTE_ERR_STATE);
	assert_ok(cenote_stmt_prepare(stmt));
	assert_int_equal(cenote_stmt_n_params(stmt), 1);
	assert_int_equal(cenote_stmt_param_type(stmt, 0), CENOTE_TYPE_INT64);
	assert_int_equal(cenote_stmt_param_native_type(stmt, 0), 20);
	assert_string_equal(cenote_stmt_param_name(stmt, 0), ":a");
	assert_int_equal(cenote_stmt_param_type(stmt, 1), CENOTE_TYPE_NULL);
	assert_string_equal(cenote_stmt_param_name(stmt, 1), "");
	assert_int_equal(cenote_stmt_n_columns(stmt), 3);
	assert_string_equal(
		cenote_column_text(cenote_stmt_column(stmt, 1), CENOTE_COLUMN_NAME),
		"Text");
	assert_null(cenote_stmt_column(stmt, 3));
	cenote_stmt_destroy(stmt);

	stmt = create_stmt(f, "rows 3");
	for (int i = 0; i < 3; i++) {
		assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
		assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_ROWS);
		assert_int_equal(cenote_result_n_rows(res), 3);
		assert_int_equal(int_at(res, 2, 0), 2);
		cenote_result_destroy(res);
	}
	assert_ok(cenote_send_describe(stmt));
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_DESCRIPTION);
	assert_int_equal(cenote_result_n_columns(res), 3);
	finish_request(f, res);
	cenote_stmt_destroy(stmt);
	assert_ok(cenote_ping(f->conn));
	assert_int_equal(f->peer.seen.n_prepares, 2);
	assert_int_equal(f->peer.seen.n_closes, 2);
}

static void
a_known_statement_with_no_rows_gives_rows_all_the_same(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt;
	cenote_result *res;

	stmt = create_stmt(f, "rows 0");
	for (int i = 0; i < 2; i++) {
		assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
		assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_ROWS);
		assert_int_equal(cenote_result_n_columns(res), 3);
		cenote_result_destroy(res);
	}
	cenote_stmt_destroy(stmt);
}

static void
a_prepare_that_fails_is_the_executes_error(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt;
	cenote_result *res;

	f->peer.knobs.fail_prepare = 1;
	stmt = create_stmt(f, "rows 3");
	assert_int_equal(cenote_stmt_prepare(stmt), CENOTE_ERR_SERVER);
	assert_string_equal(sqlstate_of(f), "42P01");
	assert_int_equal(cenote_stmt_execute(stmt, NULL, NULL, &res), CENOTE_ERR_SERVER);
	assert_string_equal(sqlstate_of(f), "42P01");
	f->peer.knobs.fail_prepare = 0;
	execute(stmt);
	cenote_stmt_destroy(stmt);
}

static void
a_statement_outlives_its_connection_to_be_destroyed(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt;
	cenote_result *res;

	stmt = create_stmt(f, "rows 3");
	assert_ok(cenote_stmt_prepare(stmt));
	cenote_conn_destroy(f->conn);
	f->conn = NULL;
	assert_int_equal(cenote_stmt_prepare(stmt), CENOTE_ERR_STATE);
	assert_int_equal(cenote_stmt_execute(stmt, NULL, NULL, &res), CENOTE_ERR_STATE);
	cenote_stmt_destroy(stmt);
}

static void
transactions_are_followed(void **state)
{
	struct fixture *f = *state;

	assert_ok(cenote_begin(f->conn, CENOTE_ISOLATION_DEFAULT, 0));
	assert_int_equal(cenote_tx_state(f->conn), CENOTE_TX_OPEN);
	assert_ok(cenote_savepoint(f->conn, "a b"));
	assert_ok(cenote_rollback_to(f->conn, "a b"));
	assert_ok(cenote_release(f->conn, "a b"));
	assert_int_equal(cenote_savepoint(f->conn, NULL), CENOTE_ERR_ARG);
	assert_ok(cenote_commit(f->conn));
	assert_int_equal(cenote_tx_state(f->conn), CENOTE_TX_IDLE);
	assert_int_equal(cenote_begin(f->conn, 1000, 0), CENOTE_ERR_ARG);
	assert_ok(cenote_begin(f->conn, 0, CENOTE_BEGIN_IMMEDIATE));
	assert_ok(cenote_rollback(f->conn));
	assert_int_equal(cenote_tx_state(f->conn), CENOTE_TX_IDLE);
	assert_ok(cenote_set_autocommit(f->conn, 0));
	assert_int_equal(f->peer.seen.autocommit_off, 1);
	assert_ok(cenote_set_autocommit(f->conn, 1));
	assert_ok(cenote_reset(f->conn));
}

static void
the_catalog_and_the_status_are_results(void **state)
{
	struct fixture *f = *state;
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;
	cenote_result *res;

	filter.object = "a%";
	assert_ok(cenote_catalog(f->conn, CENOTE_CATALOG_TABLES, &filter, &res));
	assert_int_equal(cenote_result_n_rows(res), CENOTE_CATALOG_TABLES);
	cenote_result_destroy(res);
	filter.size = 1;
	assert_int_equal(cenote_catalog(f->conn, CENOTE_CATALOG_TABLES, &filter, &res),
		CENOTE_ERR_ARG);
	assert_int_equal(cenote_catalog(f->conn, 0, NULL, &res), CENOTE_ERR_ARG);
	assert_ok(cenote_status(f->conn, "pools", &res));
	assert_int_equal(cenote_result_n_rows(res), 2);
	cenote_result_destroy(res);
	assert_int_equal(cenote_status(f->conn, "rubbish", &res), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "22023");
	assert_ok(run(f, "cmd"));
}

static void
a_pipeline_skips_behind_an_error_up_to_the_sync(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;
	cenote_stmt *stmt;

	stmt = create_stmt(f, "rows 2");
	assert_ok(cenote_pipeline_begin(f->conn));
	assert_int_equal(cenote_pipeline_begin(f->conn), CENOTE_ERR_STATE);
	assert_ok(cenote_send_begin(f->conn, 0, 0));
	assert_ok(cenote_send_prepare(stmt));
	assert_ok(cenote_send_execute(stmt, NULL, NULL));
	send_query(f, "fail 42601");
	send_query(f, "cmd");
	assert_ok(cenote_send_commit(f->conn));
	assert_ok(cenote_send_sync(f->conn));
	assert_ok(cenote_send_rollback(f->conn));
	assert_ok(cenote_send_ping(f->conn));
	assert_ok(cenote_send_catalog(f->conn, 1, NULL));
	assert_ok(cenote_send_sync(f->conn));
	assert_int_equal(cenote_pipeline_end(f->conn), CENOTE_ERR_STATE);
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_DESCRIPTION);
	take_kind(f, CENOTE_RESULT_ROWS);
	take_kind(f, CENOTE_RESULT_ERROR);
	take_kind(f, CENOTE_RESULT_SKIPPED);
	take_kind(f, CENOTE_RESULT_SKIPPED);
	take_kind(f, CENOTE_RESULT_SYNC);
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_ROWS);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_DONE);
	assert_ok(cenote_pipeline_end(f->conn));
	assert_int_equal(cenote_pipeline_end(f->conn), CENOTE_ERR_STATE);
	assert_ok(run(f, "cmd"));
	cenote_stmt_destroy(stmt);
}

static void
a_request_may_be_a_synchronisation_point_itself(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options o = CENOTE_EXEC_OPTIONS_INIT;
	cenote_stmt *stmt = create_stmt(f, "rows 2");
	cenote_result *res;

	o.sync = 1;
	assert_ok(cenote_stmt_prepare(stmt));
	assert_ok(cenote_pipeline_begin(f->conn));
	send_query(f, "fail 42601");
	/* this request is skipped like any other, and ends the skipping */
	assert_ok(cenote_send_query(f->conn, "cmd", CENOTE_NTS, NULL, &o));
	assert_ok(cenote_send_query(f->conn, "fail 42601", CENOTE_NTS, NULL, &o));
	assert_ok(cenote_send_execute(stmt, NULL, &o));
	send_query(f, "cmd");
	take_kind(f, CENOTE_RESULT_ERROR);
	take_kind(f, CENOTE_RESULT_SKIPPED);
	take_kind(f, CENOTE_RESULT_ERROR);
	take_kind(f, CENOTE_RESULT_ROWS);
	take_kind(f, CENOTE_RESULT_COMMAND);
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_DONE);
	assert_ok(cenote_pipeline_end(f->conn));
	o.sync = 2;
	assert_int_equal(
		cenote_send_query(f->conn, "cmd", CENOTE_NTS, NULL, &o), CENOTE_ERR_ARG);
	cenote_stmt_destroy(stmt);
}

static void
a_pipeline_that_ends_without_a_sync_gets_one(void **state)
{
	struct fixture *f = *state;

	assert_ok(cenote_pipeline_begin(f->conn));
	send_query(f, "fail 42601");
	send_query(f, "cmd");
	take_kind(f, CENOTE_RESULT_ERROR);
	take_kind(f, CENOTE_RESULT_SKIPPED);
	/* A blocking call in between is not skipped. */
	assert_ok(run(f, "cmd"));
	send_query(f, "fail 42601");
	take_kind(f, CENOTE_RESULT_ERROR);
	assert_ok(cenote_pipeline_end(f->conn));
	assert_ok(run(f, "cmd"));
}

/* The pool does not read while its writing is blocked. So the library must read while its own
 * writing is blocked. */
static void
a_pipeline_larger_than_all_buffers_does_not_lock_up(void **state)
{
	struct fixture *f = *state;
	char *sql = calloc(1, 100001);
	size_t n = 100;

	f->peer.knobs.read_max = 1;
	memset(sql, ' ', 100000);
	memcpy(sql, "rows 5000", 9);
	assert_ok(cenote_pipeline_begin(f->conn));
	for (size_t i = 0; i < n; i++)
		send_query(f, sql);
	assert_ok(cenote_send_sync(f->conn));
	for (size_t i = 0; i < n; i++)
		take_kind(f, CENOTE_RESULT_ROWS);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_ok(cenote_pipeline_end(f->conn));
	free(sql);
}

static const cenote_exec_options streamed = { sizeof(cenote_exec_options), 0, 1, 0, 0,
	0 };

static void
a_streamed_result_comes_in_batches(void **state)
{
	struct fixture *f = *state;
	cenote_result *res, *other;
	uint64_t n = 0;
	int r;

	assert_ok(
		cenote_query(f->conn, "rows 100000", CENOTE_NTS, NULL, &streamed, &res));
	assert_int_equal(cenote_result_n_columns(res), 3);
	assert_int_equal(cenote_result_n_rows(res), 0);
	assert_int_equal(cenote_get_result(f->conn, &other), CENOTE_ERR_STATE);
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_STATE);
	while ((r = cenote_result_next(res)) == CENOTE_ROW) {
		uint64_t batch = cenote_result_n_rows(res);

		assert_true(batch > 0);
		assert_true(cenote_result_memory(res) < 1000000);
		for (uint64_t i = 0; i < batch; i++)
			assert_int_equal(int_at(res, i, 0), n + i);
		n += batch;
	}
	assert_int_equal(r, CENOTE_DONE);
	assert_int_equal(n, 100000);
	assert_string_equal(cenote_result_tag(res), "SELECT 100000");
	assert_int_equal(cenote_result_next(res), CENOTE_DONE);
	assert_ok(run(f, "cmd"));
	cenote_result_destroy(res);
}

static void
a_stream_may_be_destroyed_at_any_time(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	for (int batches = 0; batches < 3; batches++) {
		assert_ok(cenote_query(
			f->conn, "rows 50000", CENOTE_NTS, NULL, &streamed, &res));
		for (int i = 0; i < batches; i++)
			assert_int_equal(cenote_result_next(res), CENOTE_ROW);
		cenote_result_destroy(res);
		assert_ok(run(f, "rows 3"));
	}
	assert_ok(cenote_query(f->conn, "rows 50000", CENOTE_NTS, NULL, &streamed, &res));
	finish_request(f, res);
}

static void
a_stream_outlives_its_connection_as_an_error(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_ok(cenote_query(f->conn, "rows 90000", CENOTE_NTS, NULL, &streamed, &res));
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	cenote_conn_destroy(f->conn);
	f->conn = NULL;
	assert_int_equal(int_at(res, 0, 0), 0);
	assert_int_equal(cenote_result_next(res), CENOTE_ERR_STATE);
	assert_non_null(strstr(cenote_diag_message(cenote_result_diag(res)), "closed"));
	cenote_result_destroy(res);
}

static void
a_stream_that_fails_says_so_on_its_way(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;
	int r;

	assert_ok(cenote_query(
		f->conn, "rows_fail 500", CENOTE_NTS, NULL, &streamed, &res));
	while ((r = cenote_result_next(res)) == CENOTE_ROW)
		continue;
	assert_int_equal(r, CENOTE_ERR_SERVER);
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "22012");
	assert_string_equal(sqlstate_of(f), "22012");
	cenote_result_destroy(res);
	assert_ok(run(f, "cmd"));
	assert_int_equal(
		cenote_query(f->conn, "fail 42601", CENOTE_NTS, NULL, &streamed, &res),
		CENOTE_ERR_SERVER);
	assert_ok(cenote_query(f->conn, "cmd", CENOTE_NTS, NULL, &streamed, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_COMMAND);
	assert_int_equal(cenote_result_next(res), CENOTE_DONE);
	cenote_result_destroy(res);
}

static void
a_portal_gives_batches_and_lets_others_in_between(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options options = streamed;
	cenote_result *res;
	int64_t n = 0;

	options.batch_rows = 300;
	assert_ok(cenote_query(f->conn, "rows 1000", CENOTE_NTS, NULL, &options, &res));
	for (int i = 0; i < 4; i++) {
		assert_int_equal(cenote_result_next(res), CENOTE_ROW);
		assert_int_equal(cenote_result_n_rows(res), i < 3 ? 300 : 100);
		assert_int_equal(int_at(res, 0, 0), n);
		n += 300;
		assert_ok(run(f, "cmd"));
	}
	assert_int_equal(cenote_result_next(res), CENOTE_DONE);
	cenote_result_destroy(res);
	options.max_rows = 10;
	assert_ok(cenote_query(f->conn, "rows 1000", CENOTE_NTS, NULL, &options, &res));
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	assert_int_equal(cenote_result_n_rows(res), 10);
	assert_int_equal(cenote_result_next(res), CENOTE_DONE);
	cenote_result_destroy(res);
}

/* A program that reads rows has room for as many values as the first batch has columns. */
static void
the_batches_of_a_portal_have_the_same_columns(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options options = streamed;
	cenote_result *res;

	options.batch_rows = 10;
	assert_ok(cenote_query(f->conn, "rows 100", CENOTE_NTS, NULL, &options, &res));
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	assert_int_equal(cenote_result_n_columns(res), 3);
	f->peer.knobs.n_fetch_columns = 2;
	assert_int_equal(cenote_result_next(res), CENOTE_ERR_PROTOCOL);
	assert_int_equal(cenote_result_n_columns(res), 3);
	cenote_result_destroy(res);
}

static void
a_portal_is_closed_with_its_result(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options options = streamed;
	cenote_result *res;

	options.batch_rows = 10;
	assert_ok(cenote_query(f->conn, "rows 1000", CENOTE_NTS, NULL, &options, &res));
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	cenote_result_destroy(res);
	assert_ok(cenote_ping(f->conn));
	assert_int_equal(f->peer.seen.n_portals_closed, 1);
	assert_int_equal(cenote_pins(f->conn), 0);
}

static void
a_portal_ends_with_a_reset(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options options = streamed;
	cenote_stmt *stmt;
	cenote_result *res;

	options.batch_rows = 10;
	stmt = create_stmt(f, "rows 100");
	assert_ok(cenote_stmt_execute(stmt, NULL, &options, &res));
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	assert_ok(cenote_reset(f->conn));
	assert_int_equal(cenote_result_next(res), CENOTE_ERR_SERVER);
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "34000");
	cenote_result_destroy(res);
	/* The statement is prepared again. */
	execute(stmt);
	assert_int_equal(f->peer.seen.n_prepares, 2);
	cenote_stmt_destroy(stmt);
}

static void
bad_options_are_refused(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;

	options.batch_rows = 10;
	assert_int_equal(
		cenote_query(f->conn, "cmd", 3, NULL, &options, &res), CENOTE_ERR_ARG);
	options.batch_rows = 0;
	options.size = 4;
	assert_int_equal(
		cenote_query(f->conn, "cmd", 3, NULL, &options, &res), CENOTE_ERR_ARG);
	options.size = sizeof(options);
	options.format = 3;
	assert_int_equal(
		cenote_query(f->conn, "cmd", 3, NULL, &options, &res), CENOTE_ERR_ARG);
	options.format = 1;
	options.stream = 2;
	assert_int_equal(
		cenote_query(f->conn, "cmd", 3, NULL, &options, &res), CENOTE_ERR_ARG);
	assert_ok(run(f, "cmd"));
}

static void
on_notice(const cenote_diag *notice, void *user)
{
	(void)snprintf(user, 64, "%s %s", cenote_diag_sqlstate(notice),
		cenote_diag_message(notice));
}

static void
notices_reach_the_handler(void **state)
{
	struct fixture *f = *state;
	char seen[64] = "";

	assert_ok(run(f, "notice"));
	cenote_set_notice_handler(f->conn, on_notice, seen);
	assert_ok(run(f, "notice"));
	assert_string_equal(seen, "01000 mind the gap");
}

struct whose {
	cenote_conn *conn;
	uint32_t n_before;
};

static void
on_whose_notice(const cenote_diag *notice, void *user)
{
	struct whose *whose = user;

	(void)notice;
	whose->n_before = cenote_n_answered(whose->conn);
}

static void
a_notice_handler_can_tell_whose_notice_it_is(void **state)
{
	struct fixture *f = *state;
	struct whose whose = { f->conn, UINT32_MAX };

	cenote_set_notice_handler(f->conn, on_whose_notice, &whose);
	assert_ok(cenote_pipeline_begin(f->conn));
	send_query(f, "cmd");
	send_query(f, "cmd");
	send_unit(f, "notice");
	assert_int_equal(cenote_n_answered(f->conn), 0);
	while (cenote_n_answered(f->conn) < 4)
		assert_true(cenote_process(f->conn) >= 0);
	assert_int_equal(whose.n_before, 2);
	take_kind(f, CENOTE_RESULT_COMMAND);
	assert_int_equal(cenote_n_answered(f->conn), 3);
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_int_equal(cenote_n_answered(f->conn), 0);
	assert_ok(cenote_pipeline_end(f->conn));
}

static int
tx_of_next(struct fixture *f)
{
	cenote_result *res;
	int tx;

	assert_ok(cenote_get_result(f->conn, &res));
	tx = cenote_result_tx_state(res);
	finish_request(f, res);
	return tx;
}

static void
a_synchronisation_point_tells_of_its_own_transaction(void **state)
{
	struct fixture *f = *state;

	assert_ok(cenote_pipeline_begin(f->conn));
	assert_ok(cenote_send_begin(f->conn, 0, 0));
	assert_ok(cenote_send_sync(f->conn));
	assert_ok(cenote_send_commit(f->conn));
	assert_ok(cenote_send_sync(f->conn));
	while (cenote_n_answered(f->conn) < 4)
		assert_true(cenote_process(f->conn) >= 0);
	assert_int_equal(cenote_tx_state(f->conn), CENOTE_TX_IDLE);
	assert_int_equal(tx_of_next(f), CENOTE_TX_UNKNOWN);
	assert_int_equal(tx_of_next(f), CENOTE_TX_OPEN);
	assert_int_equal(tx_of_next(f), CENOTE_TX_UNKNOWN);
	assert_int_equal(tx_of_next(f), CENOTE_TX_IDLE);
	assert_int_equal(cenote_result_tx_state(NULL), CENOTE_TX_UNKNOWN);
	assert_ok(cenote_pipeline_end(f->conn));
}

static void
a_safe_cancel_takes_no_memory_and_tells_why_not(void **state)
{
	struct fixture *f = *state;
	cenote_cancel *cancel;
	char why[256], cut[8];
	size_t n_allocs;

	send_query(f, "hang");
	assert_ok(cenote_cancel_create(f->conn, &cancel));
	n_allocs = f->alloc.n_calls;
	while (cenote_cancel_send_safe(cancel, why, sizeof(why)) == CENOTE_DONE)
		continue; /* the request has not arrived yet */
	assert_int_equal(f->alloc.n_calls, n_allocs);
	take_kind(f, CENOTE_RESULT_ERROR);
	assert_int_equal(cenote_cancel_send_safe(cancel, why, sizeof(why)), CENOTE_DONE);
	cnt_peer_unlisten(&f->peer);
	errno = ENOTTY;
	assert_int_equal(
		cenote_cancel_send_safe(cancel, why, sizeof(why)), CENOTE_ERR_CONN);
	assert_int_equal(errno, ENOTTY);
	assert_ptr_equal(strstr(why, "cenoted is not reachable at "), why);
	assert_int_equal(
		cenote_cancel_send_safe(cancel, cut, sizeof(cut)), CENOTE_ERR_CONN);
	assert_string_equal(cut, "cenoted");
	assert_int_equal(cenote_cancel_send_safe(cancel, NULL, 0), CENOTE_ERR_CONN);
	cenote_cancel_destroy(cancel);
}

static void
cancel_hits_its_own_request_only(void **state)
{
	struct fixture *f = *state;
	cenote_cancel *cancel, *late, *idle;
	cenote_result *res;

	assert_ok(cenote_cancel_create(f->conn, &idle));
	assert_int_equal(cenote_cancel_send(idle), CENOTE_DONE);
	cenote_cancel_destroy(idle);
	send_query(f, "rows 1");
	assert_ok(cenote_cancel_create(f->conn, &late));
	take_kind(f, CENOTE_RESULT_ROWS);
	send_query(f, "hang");
	assert_ok(cenote_cancel_create(f->conn, &cancel));
	assert_int_equal(cenote_cancel_send(late), CENOTE_DONE);
	assert_int_equal(cenote_cancel_send_safe(late, NULL, 0), CENOTE_DONE);
	while (cenote_cancel_send(cancel) == CENOTE_DONE)
		continue; /* the request has not arrived yet */
	assert_ok(cenote_get_result(f->conn, &res));
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "57014");
	finish_request(f, res);
	assert_int_equal(cenote_cancel_send(cancel), CENOTE_DONE);
	cnt_peer_unlisten(&f->peer);
	assert_int_equal(cenote_cancel_send(cancel), CENOTE_ERR_CONN);
	assert_non_null(
		strstr(cenote_diag_message(cenote_cancel_diag(cancel)), "not reachable"));
	cenote_cancel_destroy(late);
	cenote_cancel_destroy(cancel);
}

static void
a_session_is_suspended_and_resumed_with_its_result(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options options = streamed;
	cenote_result *res, *carried;
	char token[CENOTE_TOKEN_SIZE];

	options.batch_rows = 10;
	assert_ok(cenote_query(f->conn, "rows 25", CENOTE_NTS, NULL, &options, &res));
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	assert_ok(cenote_suspend(f->conn, res, 0, token));
	assert_int_equal(cenote_is_connected(f->conn), 0);
	assert_true(cenote_result_next(res) < 0);
	cenote_result_destroy(res);
	assert_ok(cenote_resume(f->conn, token, &carried));
	assert_non_null(carried);
	assert_int_equal(cenote_result_n_columns(carried), 3);
	assert_int_equal(cenote_result_next(carried), CENOTE_ROW);
	assert_int_equal(int_at(carried, 0, 0), 10);
	assert_int_equal(cenote_result_next(carried), CENOTE_ROW);
	assert_int_equal(cenote_result_n_rows(carried), 5);
	assert_int_equal(cenote_result_next(carried), CENOTE_DONE);
	cenote_result_destroy(carried);
	assert_ok(run(f, "cmd"));
	assert_ok(cenote_suspend(f->conn, NULL, 0, token));
	assert_ok(cenote_resume(f->conn, token, &carried));
	assert_null(carried);
	cenote_close(f->conn);
	assert_int_equal(cenote_resume(f->conn, token, &carried), CENOTE_ERR_AUTH);
	token[5] = 'x';
	assert_int_equal(cenote_resume(f->conn, token, &carried), CENOTE_ERR_ARG);
}

static void
a_request_longer_than_the_pool_takes_is_refused(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	cenote_close(f->conn);
	assert_ok(cenote_conn_set(f->conn, "max_frame", "64kB"));
	assert_ok(cenote_connect(f->conn));
	assert_ok(cenote_query(f->conn, "big 60000", CENOTE_NTS, NULL, NULL, &res));
	cenote_result_destroy(res);
	assert_ok(run(f, "cmd"));
}

static void
a_time_limit_leaves_the_request_running(void **state)
{
	struct fixture *f = *state;
	cenote_cancel *cancel;
	cenote_result *res;

	cenote_close(f->conn);
	assert_ok(cenote_conn_set(f->conn, "query_timeout", "20ms"));
	assert_ok(cenote_connect(f->conn));
	assert_int_equal(run(f, "hang"), CENOTE_ERR_TIMEOUT);
	assert_string_equal(sqlstate_of(f), "HYT00");
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_STATE);
	assert_ok(cenote_cancel_create(f->conn, &cancel));
	assert_ok(cenote_cancel_send(cancel));
	cenote_cancel_destroy(cancel);
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_ERROR);
	cenote_result_destroy(res);
	assert_ok(run(f, "cmd"));
}

/* Log in with a password to a pool that asks for so many iterations. Returns how many messages
 * the client sends. */
static unsigned
log_in_with(struct fixture *f, unsigned iterations)
{
	f->peer.knobs.auth = CNP_AUTH_SASL;
	f->peer.knobs.iterations = iterations;
	f->peer.seen.n_auths = 0;
	assert_ok(cenote_conn_set(f->conn, "user", "joe"));
	assert_ok(cenote_conn_set(f->conn, "password", "pencil"));
	assert_true(cenote_connect(f->conn) < 0);
	if (strstr(message_of(f), "cenote-crypto.so")) {
		print_message("# %s\n", message_of(f));
		skip();
	}
	return f->peer.seen.n_auths;
}

static void
no_proof_for_a_pool_that_wants_too_little_hashing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(cnt_peer_start(&f->peer), 0);
	assert_int_equal(log_in_with(f, 4095), 1);
	assert_string_equal(sqlstate_of(f), "0A000");
	assert_non_null(strstr(message_of(f), "it wants 4095 iterations"));
	assert_int_equal(log_in_with(f, 1), 1);
	assert_int_equal(log_in_with(f, 4096), 2);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_connected, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_session_takes_no_standard_descriptor, setup_peer, teardown),
		cmocka_unit_test_setup_teardown(
			no_proof_for_a_pool_that_wants_too_little_hashing, setup_peer,
			teardown),
		TEST(connecting_tells_who_comes_and_what_is_there),
		TEST(rows_are_read_by_row_and_column),
		TEST(columns_are_described),
		TEST(values_are_converted_or_refused),
		TEST(a_command_tells_what_it_did),
		TEST(an_error_is_a_status_with_the_servers_words),
		TEST(several_results_come_one_after_the_other),
		TEST(a_result_outlives_its_connection),
		TEST(parameters_arrive_as_they_were_added),
		TEST(bad_parameters_leave_the_list_as_it_was),
		TEST(statements_are_prepared_once_and_described),
		TEST(a_known_statement_with_no_rows_gives_rows_all_the_same),
		TEST(a_prepare_that_fails_is_the_executes_error),
		TEST(a_statement_outlives_its_connection_to_be_destroyed),
		TEST(transactions_are_followed),
		TEST(the_catalog_and_the_status_are_results),
		TEST(a_pipeline_skips_behind_an_error_up_to_the_sync),
		TEST(a_request_may_be_a_synchronisation_point_itself),
		TEST(a_pipeline_that_ends_without_a_sync_gets_one),
		TEST(a_pipeline_larger_than_all_buffers_does_not_lock_up),
		TEST(a_streamed_result_comes_in_batches),
		TEST(a_stream_may_be_destroyed_at_any_time),
		TEST(a_stream_outlives_its_connection_as_an_error),
		TEST(a_stream_that_fails_says_so_on_its_way),
		TEST(a_portal_gives_batches_and_lets_others_in_between),
		TEST(the_batches_of_a_portal_have_the_same_columns),
		TEST(a_portal_is_closed_with_its_result),
		TEST(a_portal_ends_with_a_reset),
		TEST(bad_options_are_refused),
		TEST(notices_reach_the_handler),
		TEST(a_notice_handler_can_tell_whose_notice_it_is),
		TEST(a_synchronisation_point_tells_of_its_own_transaction),
		TEST(cancel_hits_its_own_request_only),
		TEST(a_safe_cancel_takes_no_memory_and_tells_why_not),
		TEST(a_session_is_suspended_and_resumed_with_its_result),
		TEST(a_request_longer_than_the_pool_takes_is_refused),
		TEST(a_time_limit_leaves_the_request_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
