/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_random.h"
#include "tools/cenoted/backends/odbc/odbc.h"

/* Parts of the ODBC backend that need no driver: text, values, words of statements, options. */

/* ---- text ---- */

static void
text_goes_to_utf16_and_back(void **state)
{
	static const char *const texts[] = { "", "water", "gr\xc3\xbcn", "\xe2\x82\xac",
		"\xf0\x9f\x90\x9f\xf0\x9f\x8c\x8a", "a\xef\xbf\xbf\xf4\x8f\xbf\xbf" };
	SQLWCHAR units[64];
	char back[192];
	size_t i, n, len;

	for (i = 0; i < CNT_COUNT(texts); i++) {
		n = cnd_od_utf16(texts[i], strlen(texts[i]), units);
		assert_int_equal(n, cnd_od_utf16(texts[i], strlen(texts[i]), NULL));
		len = cnd_od_utf8(units, n, back);
		assert_int_equal(len, strlen(texts[i]));
		assert_memory_equal(back, texts[i], len);
	}
}

static void
every_character_survives(void **state)
{
	SQLWCHAR units[2];
	char text[4];
	uint32_t c;
	size_t n, len;

	for (c = 0; c <= 0x10ffff; c++) {
		n = 1;
		units[0] = (SQLWCHAR)c;
		if (c >= 0xd800 && c < 0xe000)
			continue;
		if (c >= 0x10000) {
			units[0] = (SQLWCHAR)(0xd800 + ((c - 0x10000) >> 10));
			units[1] = (SQLWCHAR)(0xdc00 + ((c - 0x10000) & 0x3ff));
			n = 2;
		}
		len = cnd_od_utf8(units, n, text);
		assert_int_equal(cnd_od_utf16(text, len, NULL), n);
	}
}

static void
what_is_no_utf8_is_refused(void **state)
{
	static const char *const texts[] = { "\x80", "\xc3", "\xc0\xaf", "\xe2\x82",
		"\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "a\xff",
		"\xf0\x80\x80\xaf" };
	size_t i;

	for (i = 0; i < CNT_COUNT(texts); i++)
		assert_true(cnd_od_utf16(texts[i], strlen(texts[i]), NULL) == SIZE_MAX);
}

static void
half_characters_become_question_marks(void **state)
{
	static const SQLWCHAR halves[] = { 'a', 0xd83d, 'b', 0xdc1f, 0xd83d };
	char text[16];
	size_t n = cnd_od_utf8(halves, 5, text);

	assert_int_equal(n, 11);
	assert_memory_equal(text,
		"a\xef\xbf\xbd"
		"b\xef\xbf\xbd\xef\xbf\xbd",
		n);
}

static void
text_that_is_taken_is_cut_between_characters(void **state)
{
	struct cnd_session s = { .is_wide = 1 };
	SQLWCHAR units[8];
	char out[6];
	size_t n = cnd_od_utf16("a\xe2\x82\xac\xe2\x82\xac", 7, units);

	cnd_od_text_take(&s, units, n, out, sizeof(out));
	assert_string_equal(out, "a\xe2\x82\xac");
	s.is_wide = 0;
	cnd_od_text_take(&s, "a\xe2\x82\xac\xe2\x82\xac", 7, out, sizeof(out));
	assert_string_equal(out, "a\xe2\x82\xac");
}

/* ---- values ---- */

static const char *
put(uint8_t type, uint8_t format, const char *text)
{
	static char seen[256];
	struct cnc_buf out;
	struct cnc_batch w;
	const uint8_t *head;
	const char *value;
	size_t len = 0;

	cnc_buf_init(&out, &cnc_mem_default, 1 << 16);
	assert_ok(cnc_batch_begin(&w, &out, 1));
	assert_ok(cnc_batch_row(&w));
	assert_ok(cnd_od_put_text(&w, type, format, text, strlen(text)));
	cnc_batch_row_done(&w);
	head = cnc_buf_head(&out);
	if (!head)
		abort();
	value = cnc_row_value(head + CNC_BATCH_HEADER, 1, 0, &len);
	assert_non_null(value);
	snprintf(seen, sizeof(seen), "%s", value);
	cnc_buf_finish(&out);
	return seen;
}

static void
values_have_canonical_forms(void **state)
{
	static const struct {
		uint8_t type;
		const char *text, *canonical;
	} cases[] = {
		{ CENOTE_TYPE_BOOL, "1", "1" },
		{ CENOTE_TYPE_BOOL, "t", "1" },
		{ CENOTE_TYPE_BOOL, "F", "0" },
		{ CENOTE_TYPE_BOOL, "maybe", "maybe" },
		{ CENOTE_TYPE_INT64, "00042", "42" },
		{ CENOTE_TYPE_INT64, "-9223372036854775808", "-9223372036854775808" },
		{ CENOTE_TYPE_INT64, "no number", "no number" },
		{ CENOTE_TYPE_UINT64, "18446744073709551615", "18446744073709551615" },
		{ CENOTE_TYPE_DOUBLE, "1.50E+00", "1.5" },
		{ CENOTE_TYPE_DECIMAL, "12.50", "12.50" },
		{ CENOTE_TYPE_DATE, "2026-11-21", "2026-11-21" },
		{ CENOTE_TYPE_DATE, "0000-00-00", "0000-00-00" },
		{ CENOTE_TYPE_TIME, "12:34:56.500", "12:34:56.5" },
		{ CENOTE_TYPE_TIMESTAMP, "2026-11-21T12:34:56", "2026-11-21 12:34:56" },
		{ CENOTE_TYPE_TEXT, " as it is ", " as it is " },
		{ CENOTE_TYPE_OTHER, "{1,2}", "{1,2}" },
	};
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		assert_string_equal(
			put(cases[i].type, CENOTE_FORMAT_CANONICAL, cases[i].text),
			cases[i].canonical);
		assert_string_equal(put(cases[i].type, CENOTE_FORMAT_TEXT, cases[i].text),
			cases[i].text);
	}
}

static void
types_are_told_by_number_and_name(void **state)
{
	static const struct {
		SQLSMALLINT sql_type;
		const char *name;
		int is_unsigned;
		uint8_t type;
	} cases[] = {
		{ SQL_INTEGER, "int4", 0, CENOTE_TYPE_INT64 },
		{ SQL_BIGINT, "bigint unsigned", 1, CENOTE_TYPE_UINT64 },
		{ SQL_DOUBLE, "float8", 1, CENOTE_TYPE_DOUBLE },
		{ SQL_WLONGVARCHAR, "text", 0, CENOTE_TYPE_TEXT },
		{ SQL_VARCHAR, "json", 0, CENOTE_TYPE_JSON },
		{ SQL_VARCHAR, "UUID", 0, CENOTE_TYPE_UUID },
		{ SQL_GUID, "", 0, CENOTE_TYPE_UUID },
		{ SQL_LONGVARBINARY, "bytea", 0, CENOTE_TYPE_BYTES },
		{ SQL_INTERVAL_DAY_TO_SECOND, "", 0, CENOTE_TYPE_INTERVAL },
		{ SQL_TYPE_TIMESTAMP, "datetime2", 0, CENOTE_TYPE_TIMESTAMP },
		{ -154, "time", 0, CENOTE_TYPE_TIME },
		{ -12345, "strange", 0, CENOTE_TYPE_OTHER },
	};
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++)
		assert_int_equal(cnd_od_type(cases[i].sql_type, cases[i].name,
					 cases[i].is_unsigned),
			cases[i].type);
}

/* ---- statements ---- */

#define FUNCTION CENOTE_PIN_FUNCTION
#define SETTINGS CENOTE_PIN_SETTINGS

static void
a_statement_tells_its_tag_and_what_it_holds(void **state)
{
	static const struct {
		const char *sql, *tag;
		uint32_t pins;
	} cases[] = {
		{ "select 1", "SELECT", 0 },
		{ "SELECT count(*), max(a) from t where a in (?, ?);", "SELECT", 0 },
		{ "with x (a) as (select 1) select a from x", "SELECT", 0 },
		{ "/* c */ -- d\n SELECT count(*), max(a) from t", "SELECT", FUNCTION },
		{ "select set_config('a', 'b', false)", "SELECT", FUNCTION },
		{ "select \"set_config\" ('a', 'b', false)", "SELECT", FUNCTION },
		/* a string on one server is not a string on another */
		{ "select 'get_lock(1)'", "SELECT", FUNCTION },
		{ "select x.count(1)", "SELECT", FUNCTION },
		{ "select f/* and */(1)", "SELECT", FUNCTION },
		{ "select f -- and\n (1)", "SELECT", FUNCTION },
		{ "select a from t join u on f (a)", "SELECT", FUNCTION },
		{ "select gr\xc3\xb6\xc3\x9f\x65\xc3\xa9in(1)", "SELECT", FUNCTION },
		{ "select @a := 1", "SELECT", FUNCTION },
		{ "select 1 into #t", "SELECT", FUNCTION | CENOTE_PIN_TEMP },
		{ "select next value for s", "SELECT", FUNCTION },
		{ "select s.nextval from dual", "SELECT", FUNCTION },
		{ "select 1set language french", "SELECT", FUNCTION },
		{ "select 1 set language french", "SELECT", SETTINGS },
		{ "select 1 exec p", "SELECT", FUNCTION },
		{ "select 1 commit", "SELECT", FUNCTION },
		{ "select 1; set role other", "SELECT", SETTINGS },
		{ "select 1; sp_who", "SELECT", SETTINGS },
		{ "select 1; select 2", "SELECT", FUNCTION },
		{ "select 1; listen a", "SELECT", CENOTE_PIN_LISTEN },
		{ "select ';' -- 1", "SELECT", FUNCTION },
		{ "select '\\''; set role other -- '", "SELECT", FUNCTION | SETTINGS },
		{ "select $$'$$; set role other; select $$'$$", "SELECT",
			FUNCTION | SETTINGS },
		{ "/*!40000 set role other */", "", SETTINGS },
		{ "commit; set role other", "COMMIT", SETTINGS },
		{ "commit and chain", "COMMIT", FUNCTION },
		{ "commit and no chain", "COMMIT", 0 },
		{ "rollback prepared 'a'", "ROLLBACK", FUNCTION },
		{ "start slave", "", SETTINGS },
		{ "explain analyze select 1", "EXPLAIN", FUNCTION },
		{ "insert into t (a, b) values (1, 'x')", "INSERT 0", FUNCTION },
		{ "insert into t select f(1)", "INSERT 0", FUNCTION },
		{ "with x (a) as (select 1) update t set a = 1", "UPDATE", FUNCTION },
		{ "create temporary table t (a int)", "CREATE TABLE",
			FUNCTION | CENOTE_PIN_TEMP },
		{ "create table #t (a int)", "CREATE TABLE", FUNCTION | CENOTE_PIN_TEMP },
		{ "create unique index i on t (a)", "CREATE INDEX", FUNCTION },
		{ "alter session set a = 1", "ALTER", FUNCTION },
		{ "set names latin1", "SET", SETTINGS },
		{ "use other", "", SETTINGS },
		{ "lock tables t write", "LOCK TABLE", CENOTE_PIN_LOCK },
		{ "rollback to savepoint a", "ROLLBACK", 0 },
		{ "{call p(1)}", "CALL", FUNCTION },
		{ "  -- nothing", "", 0 },
		{ "", "", 0 },
	};
	struct cnd_od_scan scan;
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		cnd_od_scan(cases[i].sql, strlen(cases[i].sql), &scan);
		if (strcmp(scan.tag, cases[i].tag) != 0 || scan.pins != cases[i].pins)
			fail_msg("%s: tag \"%s\", pins %u", cases[i].sql, scan.tag,
				(unsigned)scan.pins);
	}
}

static void
only_whole_transactions_end(void **state)
{
	struct cnd_od_scan scan;

	cnd_od_scan("rollback", 8, &scan);
	assert_true(scan.flags & CND_OD_VERB_ROLLBACK);
	cnd_od_scan("rollback work to a", 18, &scan);
	assert_false(scan.flags & CND_OD_VERB_ROLLBACK);
	cnd_od_scan("commit", 6, &scan);
	assert_true(scan.flags & CND_OD_VERB_COMMIT);
	cnd_od_scan("commit and chain", 16, &scan);
	assert_false(scan.flags & CND_OD_VERB_COMMIT);
	cnd_od_scan("commit prepared 'a'", 19, &scan);
	assert_false(scan.flags & CND_OD_VERB_COMMIT);
	cnd_od_scan("commit; begin", 13, &scan);
	assert_false(scan.flags & CND_OD_VERB_COMMIT);
	assert_true(scan.flags & CND_OD_VERB_BEGIN && scan.has_more);
}

/* A view may call anything; numbers call nothing. */
static void
only_numbers_are_known_to_call_nothing(void **state)
{
	struct cnd_od_scan scan;

	cnd_od_scan("select 1;", 9, &scan);
	assert_false(scan.reads);
	cnd_od_scan("select a from t", 15, &scan);
	assert_true(scan.reads);
	cnd_od_scan("begin", 5, &scan);
	assert_false(scan.reads);
}

static void
calls_tell_whom_they_call(void **state)
{
	static const struct {
		const char *sql, *name;
		int has_result;
	} cases[] = {
		{ "{call p(?, ?)}", "p", 0 },
		{ "{ ? = call app.p ( ? ) }", "app.p", 1 },
		{ "call p", "p", 0 },
		{ "EXECUTE dbo.p", "dbo.p", 0 },
		{ "{? call p}", "", 1 },
		{ "{", "", 0 },
		{ "{?", "", 1 },
		{ "select p(?)", "", 0 },
	};
	struct cnp_str name;
	int has_result;
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		name = cnd_od_called(cases[i].sql, strlen(cases[i].sql), &has_result);
		assert_int_equal(name.n, strlen(cases[i].name));
		assert_memory_equal(name.p, cases[i].name, name.n);
		assert_int_equal(has_result, cases[i].has_result);
	}
}

static int
is_refused(const char *driver, const char *sql)
{
	const struct cnd_od_quirks *q = cnd_od_quirks_find(driver, "");

	return cnd_od_refused(q, sql, strlen(sql)) != NULL;
}

static void
drivers_do_not_get_what_they_cannot_refuse(void **state)
{
	assert_true(is_refused("psqlodbcw.so", "select 1; copy t from stdin"));
	assert_true(is_refused("psqlodbca.so", "/* x */ COPY t TO\nSTDOUT"));
	assert_false(is_refused("psqlodbcw.so", "select 'copy t from stdin'"));
	assert_false(is_refused("psqlodbcw.so", "copy t from '/file'"));
	assert_true(is_refused(
		"libmaodbc.so", "/*!50000 load data local infile '/etc/passwd'*/"));
	assert_true(is_refused("libmaodbc.so", "values (1)"));
	assert_false(is_refused("libmaodbc.so", "insert into t values (1)"));
	assert_true(is_refused("sqlite3odbc.so", "select \"load_extension\"('x')"));
	assert_true(is_refused("sqlite3odbc.so", "insert into t values (1) returning a"));
	assert_false(is_refused("sqlite3odbc.so", "insert into t values ('returning')"));
	assert_true(is_refused("sqlite3odbc.so", "vacuum main into '/x'"));
	assert_false(is_refused("unknown.so", "copy t from stdin"));
}

/* The driver or its server takes each of these spellings for the same statement. */
static void
files_of_the_machine_are_not_reached_by_another_spelling(void **state)
{
	static const struct {
		const char *driver, *sql;
	} refused[] = {
		{ "libmaodbc.so",
			"load#\ndata local#\ninfile '/etc/passwd' into table t" },
		{ "libmaodbc.so",
			"/*!50000load data local infile '/etc/passwd' into table t*/" },
		{ "libmaodbc.so", "/*M!100100load*/ xml local infile '/x' into table t" },
		{ "sqlite3odbc.so", "\xef\xbb\xbf"
				    "attach '/x' as y" },
		{ "sqlite3odbc.so", "create table t (a); attach '/x' as y" },
		{ "sqlite3odbc.so",
			"create table t (a); select $a('); attach ?1as y--'" },
		{ "sqlite3odbc.so", "create table t (a); vacuum into'/x'" },
		{ "sqlite3odbc.so", "select \xef\xbb\xbfload_extension('x')" },
		{ "sqlite3odbc.so", "select [blob_import]('/etc/passwd')" },
		{ "sqlite3odbc.so", "select blob_export(x'00', '/x')" },
		{ "sqlite3odbc.so", "select fts3_tokenizer('simple', x'00')" },
		{ "sqlite3odbc.so", "pragma main.\"writable_schema\" = 1" },
		{ "sqlite3odbc.so", "pragma temp_store_directory = '/x'" },
	};
	static const struct {
		const char *driver, *sql;
	} taken[] = {
		{ "libmaodbc.so", "select upload, locally, infile_name from t" },
		{ "sqlite3odbc.so", "select attached from attachments" },
		{ "sqlite3odbc.so", "vacuum" },
	};

	for (size_t i = 0; i < CNT_COUNT(refused); i++) {
		if (!is_refused(refused[i].driver, refused[i].sql))
			fail_msg("%s: %s", refused[i].driver, refused[i].sql);
	}
	for (size_t i = 0; i < CNT_COUNT(taken); i++) {
		if (is_refused(taken[i].driver, taken[i].sql))
			fail_msg("%s: %s", taken[i].driver, taken[i].sql);
	}
}

static void
a_driver_stands_before_its_server(void **state)
{
	assert_true(cnd_od_quirks_find("psqlodbca.so", "PostgreSQL")->is_narrow);
	assert_false(cnd_od_quirks_find("psqlodbcw.so", "PostgreSQL")->is_narrow);
	assert_string_equal(cnd_od_quirks_find("libsqora.so.21.1", "Oracle")->ping,
		"SELECT 1 FROM DUAL");
	assert_string_equal(
		cnd_od_quirks_find("libdb2o.so.1", "DB2/LINUXX8664")->ping, "VALUES 1");
	assert_null(cnd_od_quirks_find("", "")->ping);
	assert_non_null(cnd_od_quirks_find("", "")->savepoint[0]);
}

/* ---- server lines ---- */

/* The error of check() for a line of "key=value" words with blanks between them, or "ok". */
static const char *
check_line(const char *line)
{
	static struct cnc_diag diag;
	struct cnd_option options[8];
	struct cnd_server_spec spec = { options, 0, NULL };
	char copy[256], *word, *rest = copy, *value;

	cnc_diag_init(&diag, NULL);
	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strtok_r(rest, " ", &rest))) {
		value = strchr(word, '=');
		*value++ = 0;
		options[spec.n_options++] = (struct cnd_option){ word, value };
	}
	return cnd_od_check(&spec, &diag) == CENOTE_OK ? "ok" : diag.message;
}

static void
a_server_line_is_checked(void **state)
{
	static const struct {
		const char *line, *answer;
	} cases[] = {
		{ "dsn=sales", "ok" },
		{ "connect=Driver=x;Server=y user=app password=z", "ok" },
		{ "dsn=sales text=narrow reset=reconnect ping=x connect_timeout=5s",
			"ok" },
		{ "", "give dsn" },
		{ "dsn=a connect=b", "give dsn" },
		{ "dsn=a;Server=b", "dsn is a name alone" },
		{ "dsn=", "dsn= is not allowed" },
		{ "dsnn=a", "unknown key \"dsnn\" for ODBC: did you mean dsn?" },
		{ "dsn=a text=loud", "text=loud is not allowed: it is auto, wide" },
		{ "dsn=a queries=pure", "ok" },
		{ "dsn=a queries=attribute",
			"queries=attribute is not allowed: it is any" },
		{ "dsn=a reset=never", "reset=never is not allowed: it is auto, attr" },
		{ "dsn=a connect_timeout=5", "connect_timeout=5 is not allowed" },
		{ "dsn=a connect_timeout=1500ms", "connect_timeout=1500ms is not" },
		{ "dsn=a password=x", "password needs user" },
		{ "dsn=a user=b password=", "the password is empty" },
		{ "dsn=a user=b password=x passfile=/y", "give password or passfile" },
		{ "dsn=a passfile=/y", "passfile needs user" },
		{ "dsn=a user=b passfile=/no/such", "passfile /no/such: No such" },
	};
	const char *answer;
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		answer = check_line(cases[i].line);
		if (strncmp(answer, cases[i].answer, strlen(cases[i].answer)) != 0)
			fail_msg("%s: %s", cases[i].line, answer);
	}
}

static void
names_and_passwords_cannot_break_out_of_their_values(void **state)
{
	static const struct {
		struct cnd_od_options o;
		const char *text;
	} cases[] = {
		{ { .dsn = "sales", .user = "app" }, "DSN=sales;UID=app;" },
		{ { .connect = "Driver=x", .user = "app", .password = "plain" },
			"Driver=x;UID=app;PWD=plain;" },
		{ { .connect = "Driver=x;", .user = "a b", .password = "x;Server=evil" },
			"Driver=x;UID={a b};PWD={x;Server=evil};" },
		{ { .dsn = "d", .user = "u", .password = "a}b;c" },
			"DSN=d;UID=u;PWD={a}}b;c};" },
	};
	struct cnc_diag diag;
	char *text;
	size_t i;

	cnc_diag_init(&diag, NULL);
	for (i = 0; i < CNT_COUNT(cases); i++) {
		assert_ok(cnd_od_connect_string(
			&cases[i].o, &cnc_mem_default, &text, &diag));
		assert_string_equal(text, cases[i].text);
		cnc_free(&cnc_mem_default, text);
	}
}

/* The scan reads a text that is cut anywhere to its end and no further. */
static void
random_statements_are_read(void **state)
{
	static const char *const words[] = { "select", "with", "(", ")", "'", "\"", "[",
		"]", "`", "--", "\n", "/*", "*/", " ", ";", "{", "?", "=", "call", "copy",
		"stdin", "f(", "temp", ".", "\xc3", "update", "rollback", "to" };
	struct cnd_od_scan scan;
	struct cnt_random rnd;
	int has_result;
	char text[256];
	size_t n;

	cnt_random_init_printed(&rnd);
	for (int i = 0; i < 20000; i++) {
		for (n = 0; n < 200 && cnt_random_below(&rnd, 20) != 0;)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
				words[cnt_random_below(&rnd, CNT_COUNT(words))]);
		cnd_od_scan(text, n, &scan);
		assert_true(strlen(scan.tag) < CND_OD_TAG_MAX);
		(void)cnd_od_called(text, n, &has_result);
		(void)is_refused("psqlodbcw.so", n > 0 ? text : "");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_goes_to_utf16_and_back),
		cmocka_unit_test(every_character_survives),
		cmocka_unit_test(what_is_no_utf8_is_refused),
		cmocka_unit_test(half_characters_become_question_marks),
		cmocka_unit_test(text_that_is_taken_is_cut_between_characters),
		cmocka_unit_test(values_have_canonical_forms),
		cmocka_unit_test(types_are_told_by_number_and_name),
		cmocka_unit_test(a_statement_tells_its_tag_and_what_it_holds),
		cmocka_unit_test(only_whole_transactions_end),
		cmocka_unit_test(only_numbers_are_known_to_call_nothing),
		cmocka_unit_test(calls_tell_whom_they_call),
		cmocka_unit_test(drivers_do_not_get_what_they_cannot_refuse),
		cmocka_unit_test(
			files_of_the_machine_are_not_reached_by_another_spelling),
		cmocka_unit_test(a_driver_stands_before_its_server),
		cmocka_unit_test(a_server_line_is_checked),
		cmocka_unit_test(names_and_passwords_cannot_break_out_of_their_values),
		cmocka_unit_test(random_statements_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
