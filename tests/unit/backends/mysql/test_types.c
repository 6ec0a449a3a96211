/* SPDX-License-Identifier: BSD-2-Clause */
/* Types, values and parameters on a real server: compares the text protocol with the binary one. */
#include "support/cnt_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_random.h"
#include "support/cnt_server.h"

#include "tools/cenoted/backends/mysql/my.h"
#include "tools/cenoted/backends/mysql/values.h"

#define COLUMNS_MAX 64u
#define BATCH_MAX   ((size_t)256 << 20)

static struct cnt_server server;
static struct cnd_session s;
static struct cnc_diag diag;

/* A result as a batch. */
struct result {
	struct cnp_column columns[COLUMNS_MAX];
	uint32_t n_columns;
	uint64_t n_rows;
	struct cnc_buf rows;
	MYSQL_RES *meta; /* holds the columns' text */
};

static void
sql(const char *text)
{
	const char *first;

	text = cnt_server_statement(text, &first);
	if (first)
		assert_int_equal(mysql_query(s.my, first), 0);
	if (mysql_real_query(s.my, text, strlen(text)) != 0)
		fail_msg("%s: %s", text, mysql_error(s.my));
	assert_int_equal(mysql_field_count(s.my), 0);
}

static int
start(void **state)
{
	if (cnt_server_create(&server, CNT_MARIADB, 0) < 0 ||
		cnt_server_configure(&server, "max_allowed_packet = 128M\n") < 0 ||
		cnt_server_run(&server) < 0)
		return -1;
	cnc_diag_init(&diag, &cnc_mem_default);
	s = (struct cnd_session){ .mem = &cnc_mem_default, .diag = &diag };
	cnc_arena_init(&s.arena, s.mem);
	s.my = mysql_init(NULL);
	mysql_options(s.my, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (!mysql_real_connect(s.my, NULL, "app", NULL, "app", 0, server.socket, 0)) {
		print_error("%s\n", mysql_error(s.my));
		return -1;
	}
	sql("set sql_mode = 'NO_ENGINE_SUBSTITUTION'");
	/* A statement that runs twice gets the same time. */
	sql("set timestamp = 1700000000.123456");
	return 0;
}

static int
stop(void **state)
{
	mysql_close(s.my);
	cnc_arena_finish(&s.arena);
	cnc_diag_finish(&diag);
	cnt_server_stop(&server);
	return 0;
}

static void
begin_result(struct result *r, MYSQL_RES *meta, uint8_t format)
{
	uint32_t i;

	r->meta = meta;
	r->n_rows = 0;
	r->n_columns = mysql_num_fields(meta);
	assert_true(r->n_columns <= COLUMNS_MAX);
	for (i = 0; i < r->n_columns; i++)
		cnd_my_column(mysql_fetch_field_direct(meta, i), format, &r->columns[i]);
	cnc_buf_init(&r->rows, &cnc_mem_default, BATCH_MAX);
}

static void
free_result(struct result *r)
{
	mysql_free_result(r->meta);
	cnc_buf_finish(&r->rows);
}

static void
check(int status)
{
	if (status < 0)
		fail_msg("%d: %s", status, diag.message);
}

static void
ask_text(const char *text, uint8_t format, struct result *r)
{
	struct cnc_batch w;
	MYSQL_ROW row;

	if (mysql_real_query(s.my, text, strlen(text)) != 0)
		fail_msg("%s: %s", text, mysql_error(s.my));
	begin_result(r, mysql_use_result(s.my), format);
	assert_ok(cnc_batch_begin(&w, &r->rows, r->n_columns));
	while ((row = mysql_fetch_row(r->meta))) {
		check(cnd_my_put_text(&s, r->columns, r->n_columns, row,
			mysql_fetch_lengths(r->meta), &w));
		r->n_rows++;
	}
	assert_int_equal(mysql_errno(s.my), 0);
	(void)cnc_batch_end(&w);
}

static MYSQL_STMT *
prepare(const char *text)
{
	MYSQL_STMT *st = mysql_stmt_init(s.my);

	if (mysql_stmt_prepare(st, text, strlen(text)) != 0)
		fail_msg("%s: %s", text, mysql_stmt_error(st));
	return st;
}

static void
execute(MYSQL_STMT *st, const struct cnc_value *params, uint32_t n)
{
	assert_int_equal(mysql_stmt_param_count(st), n);
	check(cnd_my_bind(&s, st, params, n, 1));
	if (mysql_stmt_execute(st) != 0)
		fail_msg("%s", mysql_stmt_error(st));
	cnc_arena_clear(&s.arena);
}

static void
ask_with(const char *text, const struct cnc_value *params, uint32_t n, uint8_t format,
	struct result *r)
{
	MYSQL_STMT *st = prepare(text);
	struct cnd_my_rows *rows;
	struct cnc_batch w;
	int rc;

	execute(st, params, n);
	begin_result(r, mysql_stmt_result_metadata(st), format);
	check(cnd_my_rows_bind(
		&s, st, mysql_fetch_fields(r->meta), r->columns, r->n_columns, &rows));
	assert_ok(cnc_batch_begin(&w, &r->rows, r->n_columns));
	while ((rc = mysql_stmt_fetch(st)) == 0 || rc == MYSQL_DATA_TRUNCATED) {
		check(cnd_my_put_row(&s, rows, st, &w));
		r->n_rows++;
	}
	assert_int_equal(rc, MYSQL_NO_DATA);
	(void)cnc_batch_end(&w);
	cnd_my_rows_free(&s, rows);
	mysql_stmt_close(st);
}

/* A value as text, or "NULL". It walks from the first row, so use it on small results. */
static const char *
value(const struct result *r, uint64_t row, uint32_t col, size_t *ret_len)
{
	const uint8_t *p = cnc_buf_head(&r->rows) + CNC_BATCH_HEADER;
	size_t len;
	const char *v;

	for (; row > 0; row--)
		p += cnc_batch_check_row(p, SIZE_MAX / 2, r->n_columns);
	v = cnc_row_value(p, r->n_columns, col, &len);
	if (!v) {
		v = "NULL";
		len = 4;
	}
	if (ret_len)
		*ret_len = len;
	return v;
}

static void
assert_same(const struct result *a, const struct result *b)
{
	uint64_t i;
	uint32_t k;

	assert_int_equal(a->n_rows, b->n_rows);
	assert_int_equal(a->n_columns, b->n_columns);
	if (cnc_buf_len(&a->rows) == cnc_buf_len(&b->rows) &&
		memcmp(cnc_buf_head(&a->rows), cnc_buf_head(&b->rows),
			cnc_buf_len(&a->rows)) == 0)
		return;
	for (i = 0; i < a->n_rows; i++) {
		for (k = 0; k < a->n_columns; k++) {
			if (strcmp(value(a, i, k, NULL), value(b, i, k, NULL)) != 0)
				fail_msg("row %d, column %s: «%s» is not «%s»", (int)i,
					a->columns[k].name.p, value(a, i, k, NULL),
					value(b, i, k, NULL));
		}
	}
	fail_msg("the lengths differ");
}

static void
assert_protocols_agree(const char *text, uint8_t format)
{
	struct result a, b;

	ask_text(text, format, &a);
	ask_with(text, NULL, 0, format, &b);
	assert_same(&a, &b);
	free_result(&a);
	free_result(&b);
}

/* ---- a table with a column of every type ---- */

static const char make_table[] =
	"create or replace table every (id int primary key, ti tinyint, t1 tinyint(1),"
	" tz tinyint(3) unsigned zerofill, si smallint, su smallint unsigned,"
	" mi mediumint, mu mediumint unsigned, i int, iz int(12) zerofill, bi bigint,"
	" bu bigint unsigned, de decimal(10,3), du decimal(65,30) unsigned,"
	" dz decimal(10,2) zerofill, fl float, ff float(9,3), fz float zerofill,"
	" db double, dd double(12,4), dbz double zerofill, b1 bit, b64 bit(64), y year,"
	" dt date, tm time, tm6 time(6), dtm datetime, dtm3 datetime(3),"
	" ts timestamp null, ts6 timestamp(6) null, c char(10), vc varchar(200),"
	" bn binary(4), vb varbinary(200), tt tinytext, tx text, mt mediumtext,"
	" lt longtext, tb tinyblob, bl blob, mb mediumblob, lb longblob,"
	" en enum('a','é'), se set('x','y'), js json, uu uuid, i6 inet6, i4 inet4,"
	" ge geometry, po point, lc varchar(20) character set latin1,"
	" vn varchar(20) collate utf8mb4_bin)";

static const char *const rows_of_every[] = {
	"(id) values (0)",
	/* The smallest values, and empty ones. */
	"values (1, -128, -128, 0, -32768, 0, -8388608, 0, -2147483648, 0,"
	" -9223372036854775808, 0, -9999999.999, 0, 0, -3.40282e38, -123456.789, 0,"
	" -1.7976931348623157e308, -99999999.9999, 0, 0, 0, 0, '0000-00-00',"
	" '-838:59:59', '-838:59:59.999999', '0000-00-00', '0000-00-00',"
	" '0000-00-00', '0000-00-00', '', '', '', '', '', '', '', '', '', '', '', '',"
	" 'nothing', '', '\"\"', '00000000-0000-0000-0000-000000000000', '::',"
	" '0.0.0.0', point(0, 0), point(-1, 1), '', '')",
	/* The greatest values. */
	"values (2, 127, 127, 255, 32767, 65535, 8388607, 16777215, 2147483647,"
	" 4294967295, 9223372036854775807, 18446744073709551615, 9999999.999,"
	" 99999999999999999999999999999999999.999999999999999999999999999999,"
	" 99999999.99, 3.40282e38, 123456.789, 1.5, 1.7976931348623157e308,"
	" 99999999.9999, 0.5, 1, 18446744073709551615, 2155, '9999-12-31',"
	" '838:59:59', '838:59:59.999999', '9999-12-31 23:59:59',"
	" '9999-12-31 23:59:59.999', '2038-01-19 03:14:07',"
	" '2038-01-19 03:14:07.999999', '0123456789', repeat('z', 200), x'ffffffff',"
	" repeat(x'ff', 200), repeat('t', 255), repeat('t', 65535), 'm', 'l',"
	" repeat(x'00', 255), repeat(x'80', 65535), x'00', x'5c', 'é', 'x,y',"
	" '{\"a\": [1, null]}', 'ffffffff-ffff-ffff-ffff-ffffffffffff',"
	" 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '255.255.255.255',"
	" linestring(point(0, 0), point(1, 2)), point(1e300, -1e-300), 'é', 'É')",
	/* Values in between; characters of one to four bytes; times with zeros. */
	"values (3, -1, 1, 7, -1, 1, -1, 1, -1, 42, -1, 1, -0.001, 0.5, 7.5, 0.1, 0.001,"
	" 16777216, 0.1, 0.0001, 1e100, 1, b'101', 1901, '2024-02-29', '00:00:00',"
	" '23:59:59.5', '2024-02-29 00:00:00', '2024-02-29 12:00:00.050',"
	" '1970-01-01 10:00:01', '2024-02-29 00:00:00.000001', 'aé€😀', '😀é€',"
	" 'a', x'0102', '€', '😀', '😀', '😀', 'b', 'b', 'b', 'b', 'a', 'y', '[]',"
	" '00112233-4455-6677-8899-aabbccddeeff', '2001:db8::1', '1.2.3.4',"
	" st_geomfromtext('POLYGON((0 0,1 0,1 1,0 0))'), point(1, 2), 'ä', '😀')",
	"values (4, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0.01, 1e-10, -0.5, 1e10, "
	"1e15,"
	" -0.5, 1e-5, 0, 1, 2069, '2024-00-00', '-00:00:01', '24:00:00.000001',"
	" '2024-02-00 00:00:00', '0000-00-00 00:00:01.1', '2001-01-01 01:01:01',"
	" '2001-01-01 01:01:01.1', ' a ', ' b ', 'a', 'a ', 'a', 'a', 'a', 'a', 'b', 'b',"
	" 'b', 'b', 'a', 'x', 'null', 'AABBCCDD-0000-0000-0000-000000000000', '::1',"
	" '10.0.0.1', point(0.1, 0.2), point(0, 0), 'b', 'b')",
};

static void
fill_every(void)
{
	static char text[8192];
	size_t i;

	sql("set time_zone = '+00:00'");
	sql(make_table);
	for (i = 0; i < CNT_COUNT(rows_of_every); i++) {
		snprintf(text, sizeof(text), "insert into every %s", rows_of_every[i]);
		sql(text);
	}
}

static void
both_protocols_give_the_same_text(void **state)
{
	fill_every();
	assert_protocols_agree("select * from every order by id", CENOTE_FORMAT_TEXT);
}

/* The text protocol sends six digits of a FLOAT, the binary one sends all. So the FLOAT columns
 * are dropped. */
static void
both_protocols_give_the_same_canonical_form(void **state)
{
	fill_every();
	sql("alter table every drop fl, drop ff, drop fz");
	assert_protocols_agree(
		"select * from every order by id", CENOTE_FORMAT_CANONICAL);
}

static void
expressions_are_the_same_in_both(void **state)
{
	static const char *const exprs[] = {
		"select null, 1, -1, 1.5, 1.5e0, 1e20, 'x', x'ff', cast('x' as binary)",
		"select current_date, current_time(3), now(6) between '2000-01-01' and "
		"now(), 1 = 1, b'1', 0xff, cast(1 as unsigned)",
		"select @nothing, @a := 1, count(*), json_object('a', 1), uuid() is null",
		"select st_astext(point(1, 1)), maketime(1, 2, 3.5), round(1.5e0, 2)",
		"select avg(ti), sum(i), sum(db), min(fl), max(fl), user() from every",
		"select sum(fl), fl * 1, db / 3, -fl, fl + db from every group by id",
		"select timediff('10:00', '09:00:00.5'), sec_to_time(1e5), makedate(2024,"
		" 60), addtime('2024-01-01', '1:1:1.5'), from_unixtime(0.25)",
		"select if(1, 1, 'x'), ifnull(null, 1.50), coalesce(null, 2), greatest(1,"
		" 2.5), case when 1 then '2024-01-01' end, concat(1, 2)",
		"select cast('12:00' as time(4)), cast('2024-01-01' as datetime(2)),"
		" cast(1.5 as decimal(20, 10)), cast(1 as char), cast('1' as double),"
		" cast('1.1' as float), -0e0, 5e-324, 1.7976931348623157e308",
		"show variables like 'version'",
	};
	size_t i;

	fill_every();
	for (i = 0; i < CNT_COUNT(exprs); i++)
		assert_protocols_agree(exprs[i], CENOTE_FORMAT_TEXT);
}

static const char *const type_words[] = { "NULL", "BOOL", "INT64", "UINT64", "DOUBLE",
	"DECIMAL", "TEXT", "BYTES", "DATE", "TIME", "TIMESTAMP", "INTERVAL", "UUID",
	"JSON", "OTHER" };

static void
every_type_has_its_logical_type(void **state)
{
	static const char wanted[] =
		"id INT64 int/ti INT64 tinyint/t1 INT64 tinyint/tz UINT64 tinyint "
		"unsigned/si INT64 smallint/su UINT64 smallint unsigned/mi INT64 "
		"mediumint/mu UINT64 mediumint unsigned/i INT64 int/iz UINT64 int "
		"unsigned/bi INT64 bigint/bu UINT64 bigint unsigned/de DECIMAL "
		"decimal/du DECIMAL decimal unsigned/dz DECIMAL decimal unsigned/fl "
		"DOUBLE float/ff DOUBLE float/fz DOUBLE float unsigned/db DOUBLE "
		"double/dd DOUBLE double/dbz DOUBLE double unsigned/b1 BOOL bit/b64 "
		"BYTES bit/y INT64 year/dt DATE date/tm TIME time/tm6 TIME time/dtm "
		"TIMESTAMP datetime/dtm3 TIMESTAMP datetime/ts TIMESTAMP timestamp/ts6 "
		"TIMESTAMP timestamp/c TEXT char/vc TEXT varchar/bn BYTES binary/vb "
		"BYTES varbinary/tt TEXT tinytext/tx TEXT text/mt TEXT mediumtext/lt "
		"TEXT longtext/tb BYTES tinyblob/bl BYTES blob/mb BYTES mediumblob/lb "
		"BYTES longblob/en TEXT enum/se TEXT set/"
#if CND_MY_IS_MARIADB
		"js JSON json/uu UUID uuid/i6 OTHER inet6/i4 OTHER inet4/"
		"ge BYTES geometry/po BYTES point/"
#else
		/* Oracle's library does not ask MariaDB for its extended type names */
		"js TEXT longtext/uu TEXT char/i6 TEXT char/i4 TEXT char/"
		"ge BYTES geometry/po BYTES geometry/"
#endif
		"lc TEXT varchar/vn TEXT varchar/";
	char seen[4096];
	struct result r;
	size_t n = 0;
	uint32_t i;

	fill_every();
	ask_text("select * from every where 0", CENOTE_FORMAT_TEXT, &r);
	for (i = 0; i < r.n_columns; i++) {
		const struct cnp_column *c = &r.columns[i];

		n += (size_t)snprintf(seen + n, sizeof(seen) - n, "%.*s %s %.*s/",
			(int)c->name.n, c->name.p, type_words[c->type],
			(int)c->type_name.n, c->type_name.p);
		assert_string_equal(c->table.p, "every");
		assert_string_equal(c->catalog.p, "app");
	}
	assert_string_equal(seen, wanted);
	free_result(&r);
}

/* A value that goes back to the server in the binary form in which it came is still the same
 * value. */
static void
binary_values_go_back_as_they_came(void **state)
{
	struct cnc_value params[COLUMNS_MAX];
	char text[COLUMNS_MAX * 2 + 64];
	struct result r, a, b;
	MYSQL_STMT *st;
	uint64_t row;
	uint32_t i;
	size_t n;

	fill_every();
	sql("create or replace table copy like every");
	ask_with("select * from every order by id", NULL, 0, CENOTE_FORMAT_BINARY, &r);
	n = (size_t)snprintf(text, sizeof(text), "insert into copy values (");
	for (i = 0; i < r.n_columns; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, i ? ",?" : "?");
	snprintf(text + n, sizeof(text) - n, ")");
	st = prepare(text);
	for (row = 0; row < r.n_rows; row++) {
		for (i = 0; i < r.n_columns; i++) {
			const struct cnp_column *c = &r.columns[i];
			struct cnc_value *v = &params[i];

			*v = (struct cnc_value){ .is_native = 1,
				.format = CENOTE_FORMAT_BINARY,
				.native_type = c->native_type };
			if (c->native_flags & UNSIGNED_FLAG)
				v->native_type |= CND_MY_UNSIGNED;
			v->bytes = value(&r, row, i, &v->len);
			v->is_null = strcmp(v->bytes, "NULL") == 0;
		}
		execute(st, params, r.n_columns);
	}
	mysql_stmt_close(st);
	ask_with("select * from every order by id", NULL, 0, CENOTE_FORMAT_BINARY, &a);
	ask_with("select * from copy order by id", NULL, 0, CENOTE_FORMAT_BINARY, &b);
	assert_same(&a, &b);
	free_result(&r);
	free_result(&a);
	free_result(&b);
}

static void
random_numbers_are_written_alike(void **state)
{
	struct cnc_value v[2] = { { .type = CENOTE_TYPE_DOUBLE },
		{ .type = CENOTE_TYPE_DOUBLE } };
	struct cnt_random rnd;
	MYSQL_STMT *st;
	uint64_t bits;
	int i;

	cnt_random_init_printed(&rnd);
	sql("create or replace table numbers (a double, b float, c double(40,5),"
	    " d float(20,2), e double(60,30))");
	st = prepare("insert into numbers (a, b, c, d, e) select x, y, x, y, x from"
		     " (select ? + 0e0 as x, ? + 0e0 as y) as t");
	sql("begin");
	for (i = 0; i < 3000; i++) {
		bits = cnt_random_u64(&rnd);
		memcpy(&v[0].as.f64, &bits, sizeof(bits));
		if (i % 3 == 0)
			v[0].as.f64 = ldexp((double)(bits >> (bits & 63)),
				-(int)cnt_random_below(&rnd, 70));
		if (i % 7 == 0)
			v[0].as.f64 = ldexp(1, (int)(bits % 2098) - 1074);
		if (isnan(v[0].as.f64) || isinf(v[0].as.f64))
			continue;
		v[1].as.f64 = v[0].as.f64;
		execute(st, v, 2);
	}
	sql("commit");
	mysql_stmt_close(st);
	assert_protocols_agree("select a, b, c, d, e from numbers", CENOTE_FORMAT_TEXT);
	assert_protocols_agree("select a from numbers", CENOTE_FORMAT_CANONICAL);
}

struct param_case {
	struct cnc_value v;
	const char *column;
	const char *canonical;
};

/* Parameter values of a Cenote type, or of a native type as text or in binary form. */
#define TEXT_OF(t, s)                                                                    \
	{                                                                                \
		.type = (t), .bytes = (s), .len = sizeof(s) - 1                          \
	}
#define NATIVE(t, s)                                                                     \
	{                                                                                \
		.is_native = 1, .native_type = (t), .bytes = (s), .len = sizeof(s) - 1   \
	}
#define BINARY(t, s)                                                                     \
	{                                                                                \
		.is_native = 1, .native_type = (t), .format = CENOTE_FORMAT_BINARY,      \
		.bytes = (s), .len = sizeof(s) - 1                                       \
	}

static const struct param_case param_cases[] = {
	{ { .type = CENOTE_TYPE_NULL, .is_null = 1 }, "int", "NULL" },
	{ { .type = CENOTE_TYPE_TEXT, .is_null = 1 }, "text", "NULL" },
	{ { .type = CENOTE_TYPE_BOOL, .as.i64 = 1 }, "bool", "1" },
	{ { .type = CENOTE_TYPE_BOOL, .as.i64 = 1 }, "bit", "1" },
	{ { .type = CENOTE_TYPE_INT64, .as.i64 = INT64_MIN }, "bigint",
		"-9223372036854775808" },
	{ { .type = CENOTE_TYPE_UINT64, .as.u64 = UINT64_MAX }, "bigint unsigned",
		"18446744073709551615" },
	{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = 0.1 + 0.2 }, "double",
		"0.30000000000000004" },
	{ TEXT_OF(CENOTE_TYPE_DECIMAL, "-12.3400"), "decimal(65,4)", "-12.3400" },
	{ TEXT_OF(CENOTE_TYPE_DECIMAL, "1e3"), "decimal(65,4)", "1000.0000" },
	{ TEXT_OF(CENOTE_TYPE_TEXT, ""), "text", "" },
	{ TEXT_OF(CENOTE_TYPE_TEXT, "a\0😀'\\"), "text", NULL },
	{ { .type = CENOTE_TYPE_BYTES, .bytes = NULL, .len = 0 }, "blob", "" },
	{ TEXT_OF(CENOTE_TYPE_BYTES, "\xff\0\x80"), "blob", NULL },
	{ { .type = CENOTE_TYPE_DATE, .as.date = { 2024, 2, 29, 0 } }, "date",
		"2024-02-29" },
	{ { .type = CENOTE_TYPE_DATE, .as.date = { 0, 1, 1, 0 } }, "date", "0000-01-01" },
	{ { .type = CENOTE_TYPE_TIME,
		  .as.time = { 23, 59, 58, 0, 123456789, CENOTE_NO_OFFSET } },
		"time(6)", "23:59:58.123456" },
	{ { .type = CENOTE_TYPE_TIMESTAMP,
		  .as.timestamp = { { 2024, 2, 29, 0 },
			  { 23, 59, 58, 0, 500000000, CENOTE_NO_OFFSET } } },
		"datetime(6)", "2024-02-29 23:59:58.5" },
	{ TEXT_OF(CENOTE_TYPE_INTERVAL, "25:00:00"), "time", "25:00:00" },
	{ TEXT_OF(CENOTE_TYPE_UUID, "00112233-4455-6677-8899-AABBCCDDEEFF"), "uuid",
		"00112233-4455-6677-8899-aabbccddeeff" },
	{ TEXT_OF(CENOTE_TYPE_JSON, "{\"a\":1}"), "json", "{\"a\":1}" },
	{ TEXT_OF(CENOTE_TYPE_OTHER, "::1"), "inet6", "::1" },
	{ { .is_native = 1, .bytes = "n", .len = 1 }, "text", "n" },
	{ { .is_native = 1, .format = CENOTE_FORMAT_BINARY, .bytes = "\xfe", .len = 1 },
		"blob", NULL },
	{ NATIVE(MYSQL_TYPE_LONG, "-5"), "int", "-5" },
	{ NATIVE(MYSQL_TYPE_LONGLONG, "18446744073709551615"), "bigint unsigned",
		"18446744073709551615" },
	{ NATIVE(MYSQL_TYPE_DOUBLE, "0.5"), "double", "0.5" },
	{ NATIVE(MYSQL_TYPE_DATETIME, "2024-02-29 1:2:3"), "datetime",
		"2024-02-29 01:02:03" },
	{ BINARY(MYSQL_TYPE_TIME, "\1\x22\0\0\0\x16\x3b\x3b"), "time", "-838:59:59" },
	{ BINARY(MYSQL_TYPE_YEAR | CND_MY_UNSIGNED, "\xe8\x07"), "year", "2024" },
	{ BINARY(MYSQL_TYPE_TINY | CND_MY_UNSIGNED, "\xff"), "int", "255" },
	{ BINARY(MYSQL_TYPE_INT24, "\xff\xff\xff\xff"), "int", "-1" },
	{ BINARY(MYSQL_TYPE_FLOAT, "\0\0\xc0\x3f"), "float", "1.5" },
	{ { .is_native = 1,
		  .native_type = MYSQL_TYPE_NULL,
		  .format = CENOTE_FORMAT_BINARY },
		"int", "NULL" },
	{ { .is_native = 1,
		  .native_type = MYSQL_TYPE_DATETIME,
		  .format = CENOTE_FORMAT_BINARY,
		  .is_null = 1 },
		"datetime", "NULL" },
	{ { .is_native = 1,
		  .native_type = MYSQL_TYPE_LONG | CND_MY_UNSIGNED,
		  .format = CENOTE_FORMAT_BINARY,
		  .is_null = 1 },
		"int", "NULL" },
};

static void
parameters_of_every_type_arrive(void **state)
{
	const struct param_case *c = param_cases;
	char text[128];
	struct result r;
	MYSQL_STMT *st;
	const char *v;
	size_t n;

	for (; c < param_cases + CNT_COUNT(param_cases); c++) {
		/* MySQL has no such columns */
		if (cnt_server_is_mysql() && (strcmp(c->column, "uuid") == 0 ||
						     strcmp(c->column, "inet6") == 0))
			continue;
		snprintf(text, sizeof(text), "create or replace table p (a %s)",
			c->column);
		sql(text);
		st = prepare("insert into p values (?)");
		execute(st, &c->v, 1);
		mysql_stmt_close(st);
		ask_with("select a from p", NULL, 0, CENOTE_FORMAT_CANONICAL, &r);
		v = value(&r, 0, 0, &n);
		if (c->canonical) {
			assert_string_equal(v, c->canonical);
		} else {
			assert_int_equal(n, c->v.len);
			assert_memory_equal(v, c->v.bytes, n);
		}
		free_result(&r);
	}
}

struct refusal {
	struct cnc_value v;
	const char *sqlstate;
};

static void
what_mysql_cannot_hold_is_refused(void **state)
{
	const struct refusal cases[] = {
		{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = NAN }, "22003" },
		{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = -INFINITY }, "22003" },
		{ { .type = CENOTE_TYPE_DATE, .as.date = { -1, 1, 1, 0 } }, "22007" },
		{ { .type = CENOTE_TYPE_TIME, .as.time = { 1, 1, 1, 0, 0, 3600 } },
			"22007" },
		{ { .type = CENOTE_TYPE_TIME,
			  .as.time = { 1, 1, 60, 0, 0, CENOTE_NO_OFFSET } },
			"22007" },
		{ { .type = CENOTE_TYPE_TIMESTAMP,
			  .as.timestamp = { { 2024, 1, 1, 0 },
				  { 24, 0, 0, 0, 0, CENOTE_NO_OFFSET } } },
			"22007" },
		{ { .type = 99 }, "22023" },
		{ NATIVE(17, ""), "22023" },
		{ NATIVE(300, ""), "22023" },
		{ NATIVE(MYSQL_TYPE_LONG, "x"), "22018" },
		{ BINARY(MYSQL_TYPE_LONG, "123"), "22018" },
		{ BINARY(MYSQL_TYPE_DATE, "123"), "22018" },
	};
	MYSQL_STMT *st = prepare("select ?");
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		assert_int_equal(
			cnd_my_bind(&s, st, &cases[i].v, 1, 1), CENOTE_ERR_SERVER);
		assert_string_equal(diag.sqlstate, cases[i].sqlstate);
		assert_non_null(strstr(diag.message, "parameter 1"));
	}
	cnc_arena_clear(&s.arena);
	mysql_stmt_close(st);
}

static void
one_long_value(uint8_t type, const char *pattern, size_t len)
{
	size_t step = strlen(pattern), i, n;
	char *bytes = malloc(len);
	struct cnc_value v = { .type = type, .bytes = bytes, .len = len };
	struct result r;
	const char *got;
	MYSQL_STMT *st;

	assert_non_null(bytes);
	for (i = 0; i < len; i++)
		bytes[i] = pattern[i % step];
	sql(type == CENOTE_TYPE_TEXT ? "create or replace table p (a longtext)"
				     : "create or replace table p (a longblob)");
	st = prepare("insert into p values (?)");
	execute(st, &v, 1);
	mysql_stmt_close(st);
	for (i = 0; i < 4; i++) {
		if (i < 2)
			ask_text("select a from p", (uint8_t)i, &r);
		else
			ask_with("select a from p", NULL, 0, (uint8_t)(i - 1), &r);
		got = value(&r, 0, 0, &n);
		assert_int_equal(n, len);
		assert_memory_equal(got, bytes, len);
		free_result(&r);
	}
	sql("drop table p");
	free(bytes);
}

static void
long_values_are_whole(void **state)
{
	static const size_t sizes[] = { 255, 256, 257, 65535, 65536, 65537,
		(size_t)64 << 20 };
	size_t i;

	for (i = 0; i < CNT_COUNT(sizes); i++) {
		one_long_value(CENOTE_TYPE_BYTES, "\xff\x80'\\", sizes[i]);
		one_long_value(CENOTE_TYPE_TEXT, "a😀€", sizes[i] / 8 * 8);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_protocols_give_the_same_text),
		cmocka_unit_test(both_protocols_give_the_same_canonical_form),
		cmocka_unit_test(expressions_are_the_same_in_both),
		cmocka_unit_test(every_type_has_its_logical_type),
		cmocka_unit_test(binary_values_go_back_as_they_came),
		cmocka_unit_test(random_numbers_are_written_alike),
		cmocka_unit_test(parameters_of_every_type_arrive),
		cmocka_unit_test(what_mysql_cannot_hold_is_refused),
		cmocka_unit_test(long_values_are_whole),
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests_name("mysql_types", tests, start, stop);
}
