/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * test_tds_driver
 *
 * The ODBC backend through FreeTDS's driver, against a TDS server that the test plays (support/cnt_tds_peer.h): there
 * is none that could be installed.
 */
#include "support/cnt_odbc.h"
#include "support/cnt_tds_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "support/cnt_backend.h"

struct bench {
	const struct cnd_backend *b;
	struct cnt_tds_peer peer;
	struct cnd_session *s;
	struct cnd_host host;
	struct cnc_diag diag;
	struct cnt_transcript seen;
	int64_t stop_at_ms; /* 0: never */
};

static const struct cnt_odbc *driver;

static int
on_interrupted(const struct cnd_host *host, struct cnc_diag *ret_diag)
{
	struct bench *t = host->user;

	if (t->stop_at_ms == 0 || cnt_now_ms() < t->stop_at_ms)
		return CENOTE_OK;
	cnc_diag_set(ret_diag, "57014", "canceled by the test");
	return CENOTE_ERR_SERVER;
}

static const struct cnd_sink_ops sink_ops = {
	.params = cnt_on_params,
	.columns = cnt_on_columns,
	.row_done = cnt_on_row_done,
	.done = cnt_on_done,
	.notice = cnt_on_notice,
};

static int
log_in(struct bench *t)
{
	char connect[400];
	struct cnd_option option = { "connect", connect };
	struct cnd_server_spec spec = { &option, 1, NULL };

	snprintf(connect, sizeof(connect),
		"Driver=%s;%s;Server=127.0.0.1;Port=%d;UID=app;PWD=secret",
		cnt_odbc_path(driver), driver->connect, t->peer.port);
	return cnt_backend_login(t->b, &t->host, &spec, &t->s, &t->diag);
}

static int
setup(void **state)
{
	struct bench *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->peer.encryption = CNT_TDS_ENCRYPT_NONE;
	t->b = cnt_backend_load(CNT_ODBC_MODULE);
	t->host = (struct cnd_host){ .mem = &cnc_mem_default,
		.user = t,
		.interrupted = on_interrupted,
		.log = cnt_backend_log };
	cnc_diag_init(&t->diag, &cnc_mem_default);
	cnt_transcript_init(&t->seen, &sink_ops, &t->diag, 1u << 20);
	cnt_transcript_lend(&t->seen, t->b, &t->host);
	*state = t;
	return 0;
}

static int
teardown(void **state)
{
	struct bench *t = *state;

	t->b->logout(t->s);
	cnt_tds_peer_stop(&t->peer);
	cnt_transcript_finish(&t->seen);
	cnc_diag_finish(&t->diag);
	free(t);
	return 0;
}

static void
begin(struct bench *t)
{
	assert_int_equal(cnt_tds_peer_start(&t->peer), 0);
	if (log_in(t) != CENOTE_OK)
		fail_msg("%s", t->diag.message);
}

static int
query(struct bench *t, const char *sql)
{
	const struct cnd_exec exec = { .is_simple = 1 };
	int r;

	cnc_diag_clear(&t->diag);
	cnt_transcript_begin(&t->seen, &(struct cnt_request){ 0 });
	r = t->b->query(t->s, sql, strlen(sql), &exec, &t->seen.sink);
	if (r < 0)
		cnt_transcript_break(&t->seen);
	return r;
}

static void
statements_give_rows_errors_and_notices(void **state)
{
	struct bench *t = *state;

	begin(t);
	assert_int_equal(query(t, "select rows 3"), CENOTE_OK);
	assert_string_equal(
		t->seen.log, "columns n:TEXT\nrow 1\nrow 2\nrow 3\ndone SELECT 3\n");
	assert_int_equal(query(t, "error"), CENOTE_ERR_SERVER);
	assert_int_equal(t->diag.native, 208);
	assert_non_null(strstr(t->diag.message, "Invalid object name"));
	assert_int_equal(query(t, "print"), CENOTE_OK);
	assert_non_null(strstr(t->seen.log, "a message"));
	assert_int_equal(t->b->ping(t->s, &t->diag), CENOTE_OK);
}

static void
a_login_that_is_refused_says_why(void **state)
{
	struct bench *t = *state;

	t->peer.login = CNT_TDS_LOGIN_REFUSED;
	assert_int_equal(cnt_tds_peer_start(&t->peer), 0);
	assert_int_equal(log_in(t), CENOTE_ERR_CONN);
	assert_non_null(strstr(t->diag.message, "Login failed for user 'app'."));
}

static void
the_end_in_the_middle_of_a_row_loses_the_session(void **state)
{
	struct bench *t = *state;

	begin(t);
	assert_int_equal(query(t, "select drop 2"), CENOTE_ERR_CONN);
	assert_int_equal(strncmp(t->diag.sqlstate, "08", 2), 0);
	assert_int_equal(query(t, "select rows 1"), CENOTE_ERR_CONN);
}

static void
a_statement_is_stopped_and_the_session_lives(void **state)
{
	struct bench *t = *state;

	begin(t);
	t->stop_at_ms = cnt_now_ms() + 100;
	assert_int_equal(query(t, "stall"), CENOTE_ERR_SERVER);
	assert_string_equal(t->diag.sqlstate, "57014");
	t->stop_at_ms = 0;
	assert_int_equal(query(t, "select rows 1"), CENOTE_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			statements_give_rows_errors_and_notices, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_login_that_is_refused_says_why, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_end_in_the_middle_of_a_row_loses_the_session, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_statement_is_stopped_and_the_session_lives, setup, teardown),
	};

	driver = cnt_odbc_find("libtdsodbc");
	if (!cnt_odbc_path(driver)) {
		printf("1..0 # SKIP the ODBC driver libtdsodbc is not installed: "
		       "scripts/install-deps test\n");
		return 0;
	}
	return cmocka_run_group_tests_name("odbc_backend_tds_peer", tests, NULL, NULL);
}
