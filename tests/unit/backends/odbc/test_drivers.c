/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * test_drivers DRIVER
 *
 * The ODBC backend, loaded as cenoted loads it, through a driver (support/cnt_odbc.h) on a real server:
 * statements that are stopped, servers that go away or hang, long values, output parameters, reset.
 */
#include "support/cnt_odbc.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/backends/session.h"

#define LONG_BYTES ((size_t)3 << 20)

struct od {
	struct cnt_session base;
	char connect[512];
	const char *more; /* added to `connect`; NULL: nothing */
	/* The host stops a request after so many milliseconds with `stop_status`; 0: never. */
	int64_t stop_after_ms;
	int stop_status;
	int64_t began_ms;
	int stopped;
};

static const struct cnt_odbc *driver;
static struct cnt_server server;
static char file[64];

/* The SQL for the same thing on each server. */
struct dialect {
	const char *backend;
	const char *slow, *function, *call, *output, *temp, *length;
};

static const struct dialect dialects[] = {
	{ "postgresql", "select pg_sleep(30)",
		"create or replace function od_f(a int, inout b int, out c text) "
		"language "
		"sql as 'select a + b, ''done''::text'",
		"{call od_f(?, ?, ?)}", "row 42|done\n",
		"create temp table od_temp (a int)", "select length(?::text)" },
	{ "mysql", "select sleep(30)",
		"create or replace procedure od_f(in a int, inout b int, out c "
		"varchar(10)) "
		"select a + b, 'done' into b, c",
		"{call od_f(?, ?, ?)}", "row 42|done\n",
		"create temporary table od_temp (a int)", "select length(?)" },
	{ "sqlite",
		"with recursive n(i) as (select 1 union all select i + 1 from n where i "
		"< "
		"500000000) select max(i) from n",
		NULL, NULL, NULL, "create temp table od_temp (a int)",
		"select length(?)" },
};

static const struct dialect *sql;

/* ---- a host, a sink, a session ---- */

static int
on_interrupted(const struct cnd_host *host, struct cnc_diag *ret_diag)
{
	struct od *t = host->user;

	if (t->stopped < 0)
		return t->stopped;
	if (t->stop_after_ms == 0 || cnt_now_ms() < t->began_ms + t->stop_after_ms)
		return CENOTE_OK;
	cnc_diag_set(ret_diag, "57014", "canceled by the test");
	t->stopped = t->stop_status;
	return t->stopped;
}

static const struct cnd_sink_ops sink_ops = {
	.params = cnt_on_params,
	.columns = cnt_on_columns,
	.row_done = cnt_on_row_done,
	.done = cnt_on_done,
	.notice = cnt_on_notice,
};

static void
before_request(struct cnt_session *base)
{
	struct od *t = (struct od *)base;

	t->stopped = 0;
	t->began_ms = cnt_now_ms();
}

static void
say_error(struct cnt_session *t, int r)
{
	cnt_transcript_break(&t->seen);
	cnt_say(&t->seen, "error %s %s\n", t->diag.sqlstate, t->diag.message);
}

static int
login(struct od *t)
{
	cnt_odbc_connect(driver, &server, driver->has_server ? "app" : file, t->connect,
		sizeof(t->connect));
	if (t->more)
		(void)strncat(
			t->connect, t->more, sizeof(t->connect) - strlen(t->connect) - 1);
	t->base.n_options = 0;
	cnt_session_option(&t->base, "connect", t->connect);
	t->began_ms = cnt_now_ms();
	return cnt_session_login(&t->base);
}

static int
setup(void **state)
{
	struct od *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	cnt_session_init(
		&t->base, CNT_ODBC_MODULE, &sink_ops, 256u << 20, on_interrupted, NULL);
	t->base.before = before_request;
	t->base.say_error = say_error;
	t->stop_status = CENOTE_ERR_SERVER;
	if (login(t) != CENOTE_OK)
		fail_msg("cannot log in: %s", t->base.diag.message);
	*state = t;
	return 0;
}

static int
teardown(void **state)
{
	struct od *t = *state;

	cnt_session_finish(&t->base);
	free(t);
	return 0;
}

/* ---- requests ---- */

static const char *
query(struct od *t, const char *text)
{
	return cnt_session_query(&t->base, text, NULL, 0);
}

static void
assert_works(struct od *t)
{
	if (!strstr(query(t, "select 5 as five"), "row 5\n"))
		fail_msg("%s", t->base.seen.log);
}

static struct cnc_value
text_value(const char *text, size_t len)
{
	return (struct cnc_value){ .type = CENOTE_TYPE_TEXT, .bytes = text, .len = len };
}

/* ---- stopping ---- */

static void
a_statement_is_stopped_and_the_session_lives(void **state)
{
	struct od *t = *state;
	int64_t began;

	for (int i = 0; i < 3; i++) {
		began = cnt_now_ms();
		t->stop_after_ms = 50;
		(void)query(t, sql->slow);
		assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
		assert_string_equal(t->base.diag.sqlstate, "57014");
		assert_in_range(cnt_now_ms() - began, 40, 8000);
		t->stop_after_ms = 0;
		assert_works(t);
	}
}

static void
a_client_that_goes_stops_its_statement(void **state)
{
	struct od *t = *state;

	t->stop_after_ms = 50;
	t->stop_status = CENOTE_ERR_CONN;
	(void)query(t, sql->slow);
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
	assert_in_range(cnt_now_ms() - t->began_ms, 40, 8000);
	t->stop_after_ms = 0;
	t->stopped = 0;
	assert_ok(cnt_backend_reset(t->base.b, t->base.s, &t->base.diag));
	assert_works(t);
}

/* The server answers neither the statement nor the cancel, so the backend shuts the driver's
 * socket down. */
static void
a_server_that_hangs_loses_the_session(void **state)
{
	struct od *t = *state;

	if (!driver->has_server)
		return;
	cnt_server_signal(&server, SIGSTOP);
	t->stop_after_ms = 50;
	(void)query(t, "select 1");
	cnt_server_signal(&server, SIGCONT);
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
	assert_in_range(cnt_now_ms() - t->began_ms, 9000, 19000);
	t->stop_after_ms = 0;
	(void)query(t, "select 1");
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
}

static void
a_server_that_goes_is_noticed(void **state)
{
	struct od *t = *state;
	struct pollfd p = { .events = POLLIN };

	if (!driver->has_server)
		return;
	p.fd = t->base.b->fd(t->base.s);
	assert_true(p.fd >= 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	cnt_server_kill(&server);
	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_int_equal(t->base.b->idle(t->base.s, NULL), CENOTE_ERR_CONN);
	(void)query(t, "select 1");
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
	assert_memory_equal(t->base.diag.sqlstate, "08", 2);
	assert_int_equal(cnt_server_run(&server), 0);
}

static void
a_server_that_goes_in_a_statement_is_a_loss(void **state)
{
	struct od *t = *state;

	if (!driver->has_server)
		return;
	assert_works(t);
	cnt_server_kill(&server);
	(void)query(t, "select 1");
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
	assert_memory_equal(t->base.diag.sqlstate, "08", 2);
	assert_int_equal(t->base.b->ping(t->base.s, &t->base.diag), CENOTE_ERR_CONN);
	assert_int_equal(cnt_server_run(&server), 0);
}

/* ---- values ---- */

static void
long_values_go_and_come_whole(void **state)
{
	struct od *t = *state;
	char *text = malloc(LONG_BYTES + 1);
	struct cnc_value v = text_value(text, LONG_BYTES);
	char expected[32];

	assert_non_null(text);
	for (size_t i = 0; i < LONG_BYTES; i++)
		text[i] = (char)('a' + i % 26);
	text[LONG_BYTES] = '\0';
	snprintf(expected, sizeof(expected), "row %zu\n", LONG_BYTES);
	if (!strstr(cnt_session_query(&t->base, sql->length, &v, 1), expected))
		fail_msg("%.200s", t->base.seen.log);
	(void)query(t, "drop table if exists od_long");
	(void)query(t, driver->backend[0] == 'm' ? "create table od_long (t longtext)"
						 : "create table od_long (t text)");
	(void)cnt_session_query(&t->base, "insert into od_long values (?)", &v, 1);
	assert_ok(t->base.last);
	assert_non_null(strstr(query(t, "select t from od_long"), text));
	free(text);
}

static void
a_value_in_pieces_is_put_together(void **state)
{
	struct od *t = *state;
	struct cnd_prepare p = { .sql = cnp_str("insert into od_long values (?)"),
		.name = CNP_STR_NONE };
	struct cnd_named which = { .name = CNP_STR_NONE };
	struct cnc_value v = { .type = CENOTE_TYPE_TEXT, .is_long = 1 };
	struct cnd_exec e;

	(void)query(t, "drop table if exists od_long");
	(void)query(t, "create table od_long (t text)");
	(void)cnt_session_start(&t->base, NULL, 0);
	(void)cnt_session_end(&t->base, cnt_prepare(&t->base.seen, t->base.s, 7, &p));
	assert_ok(t->base.last);
	for (int i = 0; i < 3; i++)
		assert_ok(t->base.b->statements->long_data(t->base.s, p.statement, 0,
			cnp_str(i == 1 ? "gr\xc3\xbcn" : "water"), &t->base.diag));
	e = cnt_session_start(&t->base, &v, 1);
	(void)cnt_session_end(
		&t->base, cnt_execute(&t->base.seen, t->base.s, 7, &which, &e));
	if (t->base.last != CENOTE_OK)
		fail_msg("%s", t->base.seen.log);
	if (!strstr(query(t, "select t from od_long"), "row watergr\xc3\xbcnwater\n"))
		fail_msg("%s", t->base.seen.log);
}

static void
output_parameters_come_behind(void **state)
{
	struct od *t = *state;
	struct cnc_value v[3] = { { .type = CENOTE_TYPE_INT64, .as.i64 = 40 },
		{ .type = CENOTE_TYPE_INT64, .as.i64 = 2 },
		{ .type = CENOTE_TYPE_NULL, .is_null = 1 } };
	const char *last, *p;

	if (!sql->call)
		return;
	(void)query(t, sql->function);
	if (t->base.last != CENOTE_OK)
		fail_msg("%s", t->base.seen.log);
	last = cnt_session_query(&t->base, sql->call, v, 3);
	for (p = last; (p = strstr(p, "columns ")) != NULL; p++)
		last = p;
	if (!strstr(last, "b:INT64 c:TEXT\n") || !strstr(last, sql->output) ||
		!strstr(last, " output\n"))
		fail_msg("%s", t->base.seen.log);
	assert_works(t);
}

/* ---- sessions ---- */

static void
the_next_client_has_a_new_session(void **state)
{
	struct cnd_state now;
	struct od *t = *state;

	(void)query(t, sql->temp);
	assert_ok(t->base.last);
	t->base.b->state(t->base.s, &now);
	assert_true(now.pins & CENOTE_PIN_TEMP);
	(void)cnt_session_start(&t->base, NULL, 0);
	(void)cnt_session_end(
		&t->base, t->base.b->begin(t->base.s, 0, 0, &t->base.seen.sink));
	t->base.b->state(t->base.s, &now);
	assert_int_equal(now.tx, CENOTE_TX_OPEN);
	assert_ok(cnt_backend_reset(t->base.b, t->base.s, &t->base.diag));
	t->base.b->state(t->base.s, &now);
	assert_int_equal(now.pins, 0);
	assert_int_equal(now.tx, CENOTE_TX_IDLE);
	(void)query(t, "select * from od_temp");
	assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
}

static void
login_anew(struct od *t, const char *more)
{
	cnt_session_logout(&t->base);
	t->more = more;
	if (login(t) != CENOTE_OK)
		fail_msg("cannot log in: %s", t->base.diag.message);
}

/* Each of these texts leaves something that would be lost if the pool gave the session to
 * another client. So the text must pin the session. */
static void
each_statement_of_a_text_counts(void **state)
{
	static const struct {
		const char *backend, *sql, *ask, *answer;
	} cases[] = {
		{ "postgresql", "select 1; set application_name = 'a'",
			"show application_name", "row a\n" },
		{ "postgresql", "begin; commit; set application_name = 'b'",
			"show application_name", "row b\n" },
		{ "postgresql", "select 1; listen cenote_odbc",
			"select * from pg_listening_channels()", "row cenote_odbc\n" },
		{ "postgresql", "select $$'$$; set application_name = 'c'; select $$'$$",
			"show application_name", "row c\n" },
		{ "postgresql", "select E'\\'; -- ';\nset application_name = 'd'; -- '",
			"show application_name", "row d\n" },
		{ "postgresql", "select od_count (1)", "show application_name",
			"row e\n" },
		{ "postgresql", "select * from od_view", "show application_name",
			"row f\n" },
		{ "mysql", "select 1; set @a = 'a'", "select @a", "row a\n" },
		{ "mysql", "begin; commit; set @a = 'b'", "select @a", "row b\n" },
		{ "mysql", "select '\\''; set @a = 'c'; -- '", "select @a", "row c\n" },
		{ "mysql", "/*!40000 set @a = 'd' */", "select @a", "row d\n" },
		{ "mysql", "select 1 as b, @a := 'e'", "select @a", "row e\n" },
		{ "mysql", "select * from od_view", "select @a", "row f\n" },
		{ "mysql", "select count (1)", "select @a", "row g\n" },
	};
	static const struct {
		const char *backend, *sql;
	} before[] = {
		{ "postgresql", "create or replace function od_count(a int) returns text "
				"language sql as $$select "
				"set_config('application_name', 'e', false)$$" },
		{ "postgresql", "create or replace view od_view as select "
				"set_config('application_name', 'f', false) as a" },
		{ "mysql", "create or replace function od_f() returns int return "
			   "length(@a := 'f')" },
		{ "mysql", "create or replace view od_view as select od_f()" },
		{ "mysql", "create or replace function `count`(a int) returns int return "
			   "length(@a := 'g')" },
	};
	struct cnd_state now;
	struct od *t = *state;

	if (!driver->has_server)
		return;
	for (size_t i = 0; i < CNT_COUNT(before); i++) {
		if (strcmp(driver->backend, before[i].backend) != 0)
			continue;
		(void)query(t, before[i].sql);
		if (t->base.last != CENOTE_OK)
			fail_msg("%s", t->base.seen.log);
	}
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		if (strcmp(driver->backend, cases[i].backend) != 0)
			continue;
		login_anew(t, driver->kind == CNT_MARIADB ? ";OPTION=67108864" : NULL);
		(void)query(t, cases[i].sql);
		if (t->base.last != CENOTE_OK)
			fail_msg("%s: %s", cases[i].sql, t->base.seen.log);
		t->base.b->state(t->base.s, &now);
		if (now.pins == 0 || now.tx != CENOTE_TX_IDLE)
			fail_msg("%s: pins %u, transaction %u", cases[i].sql, now.pins,
				now.tx);
		/* the setting is in force */
		if (!strstr(query(t, cases[i].ask), cases[i].answer))
			fail_msg("%s: %s", cases[i].sql, t->base.seen.log);
	}
}

/* The backend could not know which statement of the text ends the transaction, and what runs
 * after it. */
static void
a_called_transaction_is_not_ended_among_others(void **state)
{
	struct cnd_state now;
	struct od *t = *state;

	if (!driver->has_server)
		return;
	login_anew(t, driver->kind == CNT_MARIADB ? ";OPTION=67108864" : NULL);
	(void)cnt_session_start(&t->base, NULL, 0);
	(void)cnt_session_end(
		&t->base, t->base.b->begin(t->base.s, 0, 0, &t->base.seen.sink));
	(void)query(t, "commit; select 1");
	assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
	assert_string_equal(t->base.diag.sqlstate, "0A000");
	(void)query(t, "select 1; commit");
	assert_string_equal(t->base.diag.sqlstate, "0A000");
	(void)query(t, "commit");
	assert_ok(t->base.last);
	t->base.b->state(t->base.s, &now);
	assert_int_equal(now.tx, CENOTE_TX_IDLE);
}

/* With `queries`, the administrator says that views and common functions leave nothing. */
static void
queries_are_believed_where_the_administrator_says_so(void **state)
{
	struct cnd_option options[2] = { { "connect", NULL }, { "queries", "pure" } };
	struct cnd_server_spec spec = { options, 2, NULL };
	struct cnd_state now;
	struct od *t = *state;

	(void)query(t, "select count(*) from (select 1 as a) x");
	t->base.b->state(t->base.s, &now);
	assert_int_equal(now.pins, CENOTE_PIN_FUNCTION);
	cnt_session_logout(&t->base);
	options[0].value = t->connect;
	assert_ok(cnt_backend_login(
		t->base.b, &t->base.host, &spec, &t->base.s, &t->base.diag));
	(void)query(t, "select count(*) from (select 1 as a) x");
	assert_ok(t->base.last);
	t->base.b->state(t->base.s, &now);
	assert_int_equal(now.pins, 0);
}

/* MariaDB's driver expects no rows from a text that begins with SET. If the backend does not see
 * the SET, the driver leaves the rows unread. */
static void
a_driver_out_of_step_has_lost_its_session(void **state)
{
	static const char hidden[] = "set #'\nstatement max_statement_time = 9 for "
				     "select 1 #'";
	struct od *t = *state;

	if (strcmp(driver->backend, "mysql") != 0)
		return;
	(void)query(t, "set statement max_statement_time = 9 for select 1");
	assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
	assert_string_equal(t->base.diag.sqlstate, "0A000");
	assert_works(t);
	(void)query(t, hidden);
	assert_ok(t->base.last);
	(void)query(t, "select 1");
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
	assert_string_equal(t->base.diag.sqlstate, "08006");
	assert_int_equal(t->base.diag.native, 2014);
}

/* PostgreSQL reports it with class 08, which normally means a lost connection. */
static void
a_value_that_cannot_be_read_is_no_loss(void **state)
{
	struct od *t = *state;
	struct cnc_value v = { .type = CENOTE_TYPE_BYTES, .bytes = "0", .len = 1 };

	if (strcmp(driver->backend, "postgresql") != 0)
		return;
	(void)cnt_session_query(&t->base, "select 1 + ?", &v, 1);
	assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
	assert_string_equal(t->base.diag.sqlstate, "08P01");
	assert_works(t);
}

/* The text has more parameters than ODBC can count. */
static void
too_many_parameters_are_refused(void **state)
{
	static const char head[] = "select 1 where 1 in (?";
	const size_t n = 40000;
	char *text = malloc(sizeof(head) + 2 * n + 2);
	struct od *t = *state;
	struct cnd_prepare p = { .name = CNP_STR_NONE };
	size_t len = sizeof(head) - 1;

	assert_non_null(text);
	memcpy(text, head, len);
	for (size_t i = 1; i < n; i++) {
		memcpy(text + len, ",?", 2);
		len += 2;
	}
	memcpy(text + len, ")", 2);
	p.sql = (struct cnp_str){ text, len + 1 };
	(void)cnt_session_start(&t->base, NULL, 0);
	(void)cnt_session_end(&t->base, cnt_prepare(&t->base.seen, t->base.s, 9, &p));
	assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
	assert_works(t);
	free(text);
}

/* ---- files of the pool's machine ---- */

static void
a_driver_reads_no_files_for_its_client(void **state)
{
	static const struct {
		const char *backend, *sql;
	} tries[] = {
		{ "sqlite", "\xef\xbb\xbf"
			    "attach '/tmp/cenote-odbc-other' as other" },
		{ "sqlite", "create table if not exists od_files (t); attach "
			    "'/tmp/cenote-odbc-other' as other" },
		{ "sqlite", "select blob_import('/etc/hostname')" },
		{ "sqlite", "select blob_export('x', '/tmp/cenote-odbc-other')" },
		{ "sqlite", "select hex(fts3_tokenizer('simple'))" },
		{ "mysql",
			"load#\ndata local infile '/etc/hostname' into table od_files" },
		{ "mysql", "/*!50000load data local infile '/etc/hostname' into table "
			   "od_files*/" },
	};
	struct od *t = *state;

	(void)query(t, "drop table if exists od_files");
	(void)query(t, "create table od_files (t text)");
	for (size_t i = 0; i < CNT_COUNT(tries); i++) {
		if (strcmp(driver->backend, tries[i].backend) != 0)
			continue;
		(void)query(t, tries[i].sql);
		if (t->base.last != CENOTE_ERR_SERVER ||
			strcmp(t->base.diag.sqlstate, "42501") != 0)
			fail_msg("%s: %s", tries[i].sql, t->base.seen.log);
	}
	assert_non_null(strstr(query(t, "select count(*) from od_files"), "row 0\n"));
}

static void
a_login_that_fails_says_why(void **state)
{
	static const char *const lines[] = { "Driver=/no/such/driver.so",
		"DSN=no_such_dsn" };
	struct od *t = *state;
	struct cnd_option o = { "connect", NULL };
	struct cnd_server_spec spec = { &o, 1, NULL };
	struct cnd_session *other = NULL;

	for (size_t i = 0; i < CNT_COUNT(lines); i++) {
		o.value = lines[i];
		cnc_diag_clear(&t->base.diag);
		assert_int_equal(
			t->base.b->login(&t->base.host, &spec, &other, &t->base.diag),
			CENOTE_ERR_CONN);
		assert_true(strlen(t->base.diag.message) > 10);
		assert_null(other);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(a_statement_is_stopped_and_the_session_lives),
		T(a_client_that_goes_stops_its_statement),
		T(long_values_go_and_come_whole),
		T(a_value_in_pieces_is_put_together),
		T(output_parameters_come_behind),
		T(the_next_client_has_a_new_session),
		T(each_statement_of_a_text_counts),
		T(a_called_transaction_is_not_ended_among_others),
		T(queries_are_believed_where_the_administrator_says_so),
		T(a_driver_out_of_step_has_lost_its_session),
		T(a_value_that_cannot_be_read_is_no_loss),
		T(too_many_parameters_are_refused),
		T(a_driver_reads_no_files_for_its_client),
		T(a_login_that_fails_says_why),
		T(a_server_that_hangs_loses_the_session),
		T(a_server_that_goes_is_noticed),
		T(a_server_that_goes_in_a_statement_is_a_loss),
	};
	int r;

	driver = argc > 1 ? cnt_odbc_find(argv[1]) : NULL;
	if (!driver) {
		fprintf(stderr, "usage: test_drivers DRIVER\n");
		return 2;
	}
	cnt_odbc_need(driver);
	for (sql = dialects; strcmp(sql->backend, driver->backend) != 0;)
		sql++;
	snprintf(file, sizeof(file), "/tmp/cenote-odbc-%ld.db", (long)getpid());
	if (driver->has_server && cnt_server_start(&server, driver->kind, 0) < 0)
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	cnt_server_stop(&server);
	(void)unlink(file);
	return r;
}
