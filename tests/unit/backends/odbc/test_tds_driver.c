/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * The ODBC backend through FreeTDS's driver. The test plays the TDS server
 * (support/cnt_tds_peer.h), since no real one can be installed.
 */
#include "support/cnt_odbc.h"
#include "support/cnt_tds_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/backends/session.h"

struct bench {
	struct cnt_session base;
	struct cnt_tds_peer peer;
	int64_t stop_at_ms; /* when the host stops the request (cnt_now_ms()); 0: never */
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

static void
say_error(struct cnt_session *t, int r)
{
	cnt_transcript_break(&t->seen);
}

static int
log_in(struct bench *t)
{
	char connect[400];
	struct cnd_option option = { "connect", connect };
	struct cnd_server_spec spec = { &option, 1, NULL };

	snprintf(connect, sizeof(connect),
		"Driver=%s;%s;Server=127.0.0.1;Port=%d;UID=app;PWD=secret",
		cnt_odbc_path(driver), driver->connect, t->peer.port);
	return cnt_backend_login(
		t->base.b, &t->base.host, &spec, &t->base.s, &t->base.diag);
}

static int
setup(void **state)
{
	struct bench *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->peer.encryption = CNT_TDS_ENCRYPT_NONE;
	cnt_session_init(
		&t->base, CNT_ODBC_MODULE, &sink_ops, 1u << 20, on_interrupted, NULL);
	t->base.say_error = say_error;
	*state = t;
	return 0;
}

static int
teardown(void **state)
{
	struct bench *t = *state;

	cnt_session_logout(&t->base);
	cnt_tds_peer_stop(&t->peer);
	cnt_session_finish(&t->base);
	free(t);
	return 0;
}

static void
begin(struct bench *t)
{
	assert_int_equal(cnt_tds_peer_start(&t->peer), 0);
	if (log_in(t) != CENOTE_OK)
		fail_msg("%s", t->base.diag.message);
}

static int
query(struct bench *t, const char *sql)
{
	(void)cnt_session_query(&t->base, sql, NULL, 0);
	return t->base.last;
}

static void
statements_give_rows_errors_and_notices(void **state)
{
	struct bench *t = *state;

	begin(t);
	assert_ok(query(t, "select rows 3"));
	assert_string_equal(
		t->base.seen.log, "columns n:TEXT\nrow 1\nrow 2\nrow 3\ndone SELECT 3\n");
	assert_int_equal(query(t, "error"), CENOTE_ERR_SERVER);
	assert_int_equal(t->base.diag.native, 208);
	assert_non_null(strstr(t->base.diag.message, "Invalid object name"));
	assert_ok(query(t, "print"));
	assert_non_null(strstr(t->base.seen.log, "a message"));
	assert_ok(t->base.b->ping(t->base.s, &t->base.diag));
}

static void
a_login_that_is_refused_says_why(void **state)
{
	struct bench *t = *state;

	t->peer.login = CNT_TDS_LOGIN_REFUSED;
	assert_int_equal(cnt_tds_peer_start(&t->peer), 0);
	assert_int_equal(log_in(t), CENOTE_ERR_CONN);
	assert_non_null(strstr(t->base.diag.message, "Login failed for user 'app'."));
}

static void
the_end_in_the_middle_of_a_row_loses_the_session(void **state)
{
	struct bench *t = *state;

	begin(t);
	assert_int_equal(query(t, "select drop 2"), CENOTE_ERR_CONN);
	assert_int_equal(strncmp(t->base.diag.sqlstate, "08", 2), 0);
	assert_int_equal(query(t, "select rows 1"), CENOTE_ERR_CONN);
}

static void
a_statement_is_stopped_and_the_session_lives(void **state)
{
	struct bench *t = *state;

	begin(t);
	t->stop_at_ms = cnt_now_ms() + 100;
	assert_int_equal(query(t, "stall"), CENOTE_ERR_SERVER);
	assert_string_equal(t->base.diag.sqlstate, "57014");
	t->stop_at_ms = 0;
	assert_ok(query(t, "select rows 1"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(statements_give_rows_errors_and_notices),
		T(a_login_that_is_refused_says_why),
		T(the_end_in_the_middle_of_a_row_loses_the_session),
		T(a_statement_is_stopped_and_the_session_lives),
	};

	driver = cnt_odbc_find("libtdsodbc");
	if (!cnt_odbc_path(driver)) {
		printf("1..0 # SKIP the ODBC driver libtdsodbc is not installed: "
		       "scripts/install-deps test\n");
		return 0;
	}
	return cmocka_run_group_tests_name("odbc_backend_tds_peer", tests, NULL, NULL);
}
