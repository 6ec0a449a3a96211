/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shims/odbc/escape.h"

#define PG    COD_DIALECT_POSTGRESQL
#define MY    COD_DIALECT_MYSQL
#define LITE  COD_DIALECT_SQLITE
#define TDS   COD_DIALECT_TDS
#define OTHER COD_DIALECT_OTHER

struct escape_case {
	enum cod_dialect dialect;
	const char *sql;
	const char *expected; /* the server's SQL; or the SQLSTATE, if n_params is -1 */
	int n_params;
};

static const struct escape_case cases[] = {
	/* markers, and where a ? is not a marker */
	{ PG, "select ?, ?", "select $1, $2", 2 },
	{ LITE, "select ?, ?", "select ?1, ?2", 2 },
	{ MY, "select ?, ?", "select ?, ?", 2 },
	{ PG, "limit?offset?", "limit $1 offset $2", 2 },
	{ PG, "select '?', \"?\", ?", "select '?', \"?\", $1", 1 },
	{ PG, "select 'a''?', ?", "select 'a''?', $1", 1 },
	{ PG, "select E'\\'?', ?", "select E'\\'?', $1", 1 },
	{ PG, "select '\\', ?", "select '\\', $1", 1 },
	{ MY, "select '\\'?', ?", "select '\\'?', ?", 1 },
	{ MY, "select `?`, ?", "select `?`, ?", 1 },
	{ LITE, "select [?], ?", "select [?], ?1", 1 },
	{ PG, "select a[?]", "select a[$1]", 1 },
	{ PG, "select $$?$$, $a$?$$?$a$, ?", "select $$?$$, $a$?$$?$a$, $1", 1 },
	{ PG, "-- ?\n?", "-- ?\n$1", 1 },
	{ MY, "a--?", "a--?", 1 },
	{ MY, "-- ?\n? # ?", "-- ?\n? # ?", 1 },
	{ PG, "/* ? /* ? */ ? */ ?", "/* ? /* ? */ ? */ $1", 1 },
	{ MY, "/* ? /* ? */ ?", "/* ? /* ? */ ?", 1 },
	{ PG, "select '?", "select '?", 0 },
	{ PG, "", "", 0 },
	/* literals */
	{ PG, "select {d '2024-02-29'}", "select DATE '2024-02-29'", 0 },
	{ MY, "select { d '2024-02-29' }", "select DATE '2024-02-29'", 0 },
	{ LITE, "select {d '2024-02-29'}", "select '2024-02-29'", 0 },
	{ PG, "select {t '1:02:03'}", "select TIME '01:02:03'", 0 },
	{ PG, "select {ts '2024-02-29 01:02:03.50'}",
		"select TIMESTAMP '2024-02-29 01:02:03.5'", 0 },
	{ PG, "select {TS '2024-02-29'}", "select TIMESTAMP '2024-02-29 00:00:00'", 0 },
	{ PG, "select {d '2023-02-29'}", "22007", -1 },
	{ PG, "select {d '2024-02-29 01:02:03'}", "22007", -1 },
	{ PG, "select {d ?}", "22007", -1 },
	{ PG, "select {d '2024-02-29' 'x'}", "22007", -1 },
	{ PG, "select {t '25:00:00'}", "22007", -1 },
	{ PG, "select {guid '12345678-9ABC-def0-1122-334455667788'}",
		"select uuid '12345678-9abc-def0-1122-334455667788'", 0 },
	{ LITE, "select {guid '12345678-9ABC-def0-1122-334455667788'}",
		"select '12345678-9abc-def0-1122-334455667788'", 0 },
	{ PG, "select {guid '1234'}", "22018", -1 },
	{ PG, "a like 'x\\_' {escape '\\'} and ?", "a like 'x\\_' ESCAPE '\\' and $1",
		1 },
	{ MY, "a like 'x' {escape '\\'} and ?", "a like 'x' ESCAPE '\\\\' and ?", 1 },
	{ MY, "a like 'x' {escape '}'}", "a like 'x' ESCAPE '}'", 0 },
	{ PG, "a like 'x' {escape}", "42000", -1 },
	/* intervals */
	{ PG, "{interval '1-2' year to month}", "INTERVAL '1 years 2 months'", 0 },
	{ PG, "{INTERVAL -'10 12:30:45.5' DAY(2) TO SECOND(3)}",
		"INTERVAL '-10 days -12 hours -30 minutes -45.5 seconds'", 0 },
	{ MY, "{interval '5' day}", "INTERVAL '5' DAY", 0 },
	{ MY, "{interval '30:45' minute to second}", "INTERVAL '30:45' MINUTE_SECOND",
		0 },
	{ LITE, "{interval '5' day}", "42000", -1 },
	{ PG, "{interval '5' fortnight}", "22007", -1 },
	{ PG, "{interval 5 day}", "22007", -1 },
	{ PG, "{interval '1-13' year to month}", "22007", -1 },
	/* joins */
	{ PG, "from {oj a left outer join b on a.x = b.x} where ?",
		"from  a left outer join b on a.x = b.x where $1", 1 },
	/* blanks separate words that only braces separated */
	{ PG, "{oj$$}$$?", "42000", -1 },
	{ PG, "{oj a--\n}?", " a--\n$1", 1 },
	{ PG, "{fn ucase(a -- ?\n)}", "upper(a -- ?\n)", 0 },
	{ PG, "select{oj a}from", "select a from", 0 },
	{ PG, "a{oj b}$c$?$d$", "a b $c$?$d$", 0 },
	{ PG, "1{oj .5}{oj }2", "1 .5 2", 0 },
	{ MY, "1-{oj -?}-?", "1- -?-?", 2 },
	{ MY, "1-{oj -}-?", "1- - -?", 1 },
	{ LITE, "'a'{d '2024-02-29'}'b'", "'a' '2024-02-29' 'b'", 0 },
	{ PG, "({fn ucase(a)})={fn ucase(b)}", "(upper(a))=upper(b)", 0 },
	{ PG, "{oj a left outer join {oj b join c on {d '2024-02-29'} = c.d} on 1 = 1}",
		" a left outer join  b join c on DATE '2024-02-29' = c.d on 1 = 1", 0 },
	/* functions */
	{ PG, "{fn lcase(?)}", "lower($1)", 1 },
	{ PG, "{fn LOCATE(?, x)} + ?", "strpos(x, $1) + $2", 2 },
	{ LITE, "{fn locate(?, ?)}", "instr(?2, ?1)", 2 },
	{ MY, "{fn locate(?, ?)}", "locate(?, ?)", 2 },
	{ PG, "{fn concat({fn ucase('a')}, ?)}", "(upper('a') || $1)", 1 },
	{ PG, "{fn mod(f(a, b), (1 + 2))}", "mod(f(a, b), (1 + 2))", 0 },
	{ PG, "{fn now()}", "localtimestamp", 0 },
	{ PG, "{fn pi( )}", "pi()", 0 },
	{ PG, "{fn substring(a, 1)}", "substr(a, 1)", 0 },
	{ PG, "{fn substring(a, 1, 2)}", "substr(a, 1, 2)", 0 },
	{ PG, "{fn my_own(a, ?)}", "my_own(a, $1)", 1 },
	{ PG, "{fn timestampadd(SQL_TSI_DAY, ?, x)}",
		"(CAST(x AS timestamp) + ($1) * INTERVAL '1 day')", 1 },
	{ MY, "{fn timestampdiff(SQL_TSI_MONTH, a, b)}", "timestampdiff(MONTH, a, b)",
		0 },
	{ LITE, "{fn timestampdiff(SQL_TSI_MONTH, a, b)}", "42000", -1 },
	{ PG, "{fn convert(?, SQL_INTEGER)}", "CAST($1 AS integer)", 1 },
	{ MY, "{fn convert(a, SQL_VARCHAR)}", "CAST(a AS char)", 0 },
	{ PG, "{fn convert(a, SQL_NOTHING)}", "42000", -1 },
	{ PG, "{fn soundex(a)}", "42000", -1 },
	{ PG, "{fn ucase(a, b)}", "42000", -1 },
	{ PG, "{fn ucase(a,)}", "42000", -1 },
	{ PG, "{fn ucase}", "42000", -1 },
	{ PG, "{fn ucase(a) b}", "42000", -1 },
	{ TDS, "{fn ucase(a)}", "ucase(a)", 0 },
	{ OTHER, "{fn ucase(?)}", "ucase(?)", 1 },
	/* calls */
	{ PG, "{call p(?, 1)}", "CALL p($1, 1)", 1 },
	{ PG, "{ CALL \"s p\".q }", "CALL \"s p\".q()", 0 },
	{ PG, "{call f_fun(?)}", "SELECT * FROM f_fun($1)", 1 },
	{ PG, "{?=call f(?)}", "SELECT f($1)", 2 },
	{ MY, "{? = call f(?, ?)}", "SELECT f(?, ?)", 3 },
	{ LITE, "{?=call abs(?)}", "SELECT abs(?1)", 2 },
	{ LITE, "{call p}", "42000", -1 },
	{ TDS, "{call p(?, ?)}", "EXEC p ?, ?", 2 },
	{ PG, "{call}", "42000", -1 },
	{ PG, "{call p(}", "42000", -1 },
	{ PG, "{call p() x}", "42000", -1 },
	{ PG, "{? call f()}", "42000", -1 },
	/* syntax errors */
	{ PG, "{", "42000", -1 },
	{ PG, "select {nothing}", "42000", -1 },
	{ PG, "select {}", "42000", -1 },
	{ PG, "select {d '2024-02-29'", "42000", -1 },
	{ PG, "select '{d }', \"{\", /* { */ 1", "select '{d }', \"{\", /* { */ 1", 0 },
};

/* Output parameters, by number. They are not passed as arguments of functions. */
struct output_case {
	uint32_t number;
	struct escape_case c;
};

static const struct output_case outputs[] = {
	{ 1, { PG, "{call f_a(?, ?)}", "SELECT * FROM f_a($1)", 2 } },
	{ 2, { PG, "{call f_a(?, ?)}", "SELECT * FROM f_a($1)", 2 } },
	{ 2, { PG, "{call f_a(?,?,?)}", "SELECT * FROM f_a($1, $2)", 3 } },
	{ 1, { PG, "{call f_a(?)}", "SELECT * FROM f_a()", 1 } },
	{ 1, { PG, "{call f_a(abs(?), 'a,?')}", "SELECT * FROM f_a(abs($1), 'a,?')",
		     1 } },
	{ 2, { PG, "{?=call f_a(?, ?)}", "SELECT * FROM f_a($1)", 3 } },
	{ 3, { PG, "{?=call f_a(?, ?)}", "SELECT * FROM f_a($1)", 3 } },
	{ 1, { PG, "{?=call f_a(?, ?)}", "SELECT f_a($1, $2)", 3 } },
	{ 1, { PG, "{call f_a(1,)}", "SELECT * FROM f_a(1, )", 0 } },
	{ 2, { PG, "{call p(?, ?)}", "CALL p($1, $2)", 2 } },
};

static int
is_a_function(const char *name, size_t n, void *user)
{
	(void)user;
	return n > 2 && memcmp(name, "f_", 2) == 0;
}

static int
is_that(uint32_t i, void *user)
{
	return i == *(const uint32_t *)user;
}

static void
what_only_comes_out_is_no_argument(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(outputs); i++) {
		const struct escape_case *c = &outputs[i].c;
		uint32_t number = outputs[i].number;
		const struct cod_escape_options options = { .dialect = c->dialect,
			.is_function = is_a_function,
			.is_output = is_that,
			.user = &number };
		struct cod_statement s;

		assert_null(cod_escape(&options, c->sql, strlen(c->sql), &s));
		assert_string_equal(s.text, c->expected);
		assert_int_equal(s.n_params, c->n_params);
		cod_statement_finish(&s);
	}
}

static void
statements_become_the_servers(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		const struct escape_case *c = &cases[i];
		const struct cod_escape_options options = { .dialect = c->dialect,
			.is_function = is_a_function };
		struct cod_statement s;
		const char *got = cod_escape(&options, c->sql, strlen(c->sql), &s);
		const char *text = got ? got : s.text;

		if (strcmp(text, c->expected) != 0)
			print_error(
				"case %zu: %s: %s (%s)\n", i, c->sql, text, s.message);
		assert_string_equal(text, c->expected);
		assert_int_equal(got ? -1 : (int)s.n_params, c->n_params);
		assert_true(!got || *s.message);
		cod_statement_finish(&s);
	}
}

static void
braces_stay_where_nobody_shall_look(void **state)
{
	const struct cod_escape_options options = { .dialect = PG, .is_noscan = 1 };
	struct cod_statement s;

	assert_null(cod_escape(&options, "{d ?}", 5, &s));
	assert_string_equal(s.text, "{d $1}");
	cod_statement_finish(&s);
}

static void
nesting_has_a_bound(void **state)
{
	const struct cod_escape_options options = { .dialect = PG };
	struct cod_statement s;
	char sql[COD_ESCAPE_DEPTH_MAX * 8 + 64];

	for (int depth = COD_ESCAPE_DEPTH_MAX; depth <= COD_ESCAPE_DEPTH_MAX + 1;
		depth++) {
		size_t n = 0;
		const char *got;

		for (int i = 0; i < depth; i++)
			n += (size_t)snprintf(sql + n, sizeof(sql) - n, "{oj ");
		for (int i = 0; i < depth; i++)
			sql[n++] = '}';
		got = cod_escape(&options, sql, n, &s);
		assert_true((got != NULL) == (depth > COD_ESCAPE_DEPTH_MAX));
		cod_statement_finish(&s);
	}
}

/* For a statement that is cut anywhere, there is an answer, and nothing is read beyond its end. */
static void
statements_may_end_anywhere(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		size_t n = strlen(cases[i].sql);

		for (size_t cut = 0; cut <= n; cut++) {
			const struct cod_escape_options options = {
				.dialect = cases[i].dialect
			};
			char *sql = malloc(cut + 1);
			struct cod_statement s;
			const char *got;

			memcpy(sql, cases[i].sql, cut);
			/* The block ends where the text ends, so that a sanitizer sees a read
			 * beyond it. */
			sql = realloc(sql, cut ? cut : 1);
			got = cod_escape(&options, sql, cut, &s);
			assert_true(got ? *s.message != 0 : s.text != NULL);
			cod_statement_finish(&s);
			free(sql);
		}
	}
}

/* The driver claims exactly the functions that it translates. */
static void
masks_tell_what_is_mapped(void **state)
{
	assert_true(cod_function_mask(PG, SQL_STRING_FUNCTIONS) & SQL_FN_STR_LOCATE_2);
	assert_false(cod_function_mask(PG, SQL_STRING_FUNCTIONS) & SQL_FN_STR_SOUNDEX);
	assert_true(cod_function_mask(MY, SQL_STRING_FUNCTIONS) & SQL_FN_STR_SOUNDEX);
	assert_int_equal(cod_function_mask(OTHER, SQL_STRING_FUNCTIONS), 0);
	assert_true(cod_interval_mask(PG, SQL_TIMEDATE_ADD_INTERVALS) &
		    SQL_FN_TSI_FRAC_SECOND);
	assert_false(
		cod_interval_mask(LITE, SQL_TIMEDATE_DIFF_INTERVALS) & SQL_FN_TSI_MONTH);
	assert_true(cod_cast_mask(PG) & SQL_CVT_GUID);
	assert_false(cod_cast_mask(LITE) & SQL_CVT_DATE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_become_the_servers),
		cmocka_unit_test(what_only_comes_out_is_no_argument),
		cmocka_unit_test(braces_stay_where_nobody_shall_look),
		cmocka_unit_test(nesting_has_a_bound),
		cmocka_unit_test(statements_may_end_anywhere),
		cmocka_unit_test(masks_tell_what_is_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
