/* SPDX-License-Identifier: BSD-2-Clause */
/* How SQL is divided into tokens, by the rules of each server (core/sql.h). */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sql.h"

#define PG           CNC_SQL_POSTGRESQL
#define STRICT       (CNC_SQL_POSTGRESQL | CNC_SQL_STRICT)
#define PG_BACKSLASH (CNC_SQL_POSTGRESQL_BACKSLASH | CNC_SQL_STRICT)
#define MY           CNC_SQL_MYSQL
#define MY_ANSI      (CNC_SQL_MYSQL & ~(unsigned)CNC_SQL_DOUBLE_QUOTED_TEXT)
#define MY_PLAIN     (CNC_SQL_MYSQL & ~(unsigned)CNC_SQL_BACKSLASH)
#define MY_SKIP      (CNC_SQL_MYSQL & ~(unsigned)CNC_SQL_EXECUTED)
#define LITE         CNC_SQL_SQLITE
#define TDS          CNC_SQL_TDS
#define ANSI         CNC_SQL_ANSI

/* A token is written as a letter for its kind and its text. */
static const char letters[] = { [CNC_SQL_END] = '.',
	[CNC_SQL_WORD] = 'w',
	[CNC_SQL_NUMBER] = 'n',
	[CNC_SQL_TEXT] = 't',
	[CNC_SQL_NAME] = 'q',
	[CNC_SQL_PLACEHOLDER] = 'p',
	[CNC_SQL_VARIABLE] = 'v',
	[CNC_SQL_MARK] = 'm',
	[CNC_SQL_CHAR] = 'c',
	[CNC_SQL_BAD] = '!' };

static const struct {
	uint32_t rules;
	const char *sql;
	const char *tokens;
} cases[] = {
	{ ANSI, "", "" },
	{ ANSI, "select a, 'b''c' from \"d\"\"e\";",
		"wselect wa c, t'b''c' wfrom q\"d\"\"e\" c;" },
	{ ANSI, "a$b $c \xc3\xa4", "wa$b c$ wc w\xc3\xa4" },
	{ ANSI, "1 1.5 .5 1. 1e5 1.5e-3 1e+ 1a 0x1f 1.5into .5into 1e5into t.5x 1..2",
		"n1 n1.5 n.5 n1. n1e5 n1.5e-3 w1e c+ w1a w0x1f n1.5 winto n.5 winto n1e5 "
		"winto "
		"wt n.5 wx n1. n.2" },
	{ ANSI, "a::b := :c ?1 $1 @a # `x` [y]",
		"wa c:: wb c:= c: wc c? n1 c$ n1 c@ wa c# c` wx c` c[ wy c]" },
	{ ANSI, "-- c ' \n/* d ' /* */ e", "we" },
	{ ANSI, "a--b\rc\nd", "wa wd" },
	{ ANSI, "/*! a */ b", "wb" },
	{ ANSI, "'a", "!'a" },
	{ ANSI, "\"a", "!\"a" },
	{ ANSI, "b /* a", "wb !/* a" },
	{ ANSI, "/*/", "!/*/" },
	{ ANSI, "'\\' a", "t'\\' wa" },
	{ CNC_SQL_RAW, "'into' --a$b/*c\xc3*/1.5set",
		"c' winto c' c- c- wa c$ wb c/ c* wc c\xc3 c* c/ n1 c. w5set" },
	/* PostgreSQL */
	{ PG, "e'a\\'b' E'\\\\' 'a\\' x'1f' b'01' n'x\\' U&'d\\' u&\"x\" ue'a' \"a\\\"",
		"te'a\\'b' tE'\\\\' t'a\\' tx'1f' tb'01' tn'x\\' tU&'d\\' qu&\"x\" wue "
		"t'a' "
		"q\"a\\\"" },
	{ PG, "$$a$b$$ $x$ $$ $x$ a$x$ $1 $1a $x $9$",
		"t$$a$b$$ t$x$ $$ $x$ wa$x$ p$1 p$1 wa c$ wx p$9 c$" },
	{ PG, "$x$ a", "!$x$ a" },
	{ PG, "/* /* */ a */ b /*/**/*/ c", "wb wc" },
	{ PG, "/* /* */ a", "!/* /* */ a" },
	{ PG, "a -- b\rc", "wa wc" },
	{ PG, "'a' -- b\n 'c' 'd'  'e'\n  'f", "t'a' -- b\n 'c' t'd' !'e'\n  'f" },
	{ PG, "e'a'\n'\\' b'", "te'a'\n'\\' b'" },
	{ PG, "a/*b*/+-/*c*/1", "wa c+ c- n1" },
	{ PG, "a ? b `c` [1:2] @ #", "wa c? wb c` wc c` c[ n1 c: n2 c] c@ c#" },
	{ STRICT, "1a", "!1 wa" },
	{ STRICT, "1e 0x1 1.5x 1 $1a {", "!1 we !0 wx1 !1.5 wx n1 !$1 wa !{" },
	{ STRICT, "1$x$a$x$", "n1 t$x$a$x$" },
	{ STRICT, "e'\xe4\\' a'", "!e'\xe4\\' a'" },
	{ STRICT, "'\xe4\\' a", "t'\xe4\\' wa" },
	{ PG_BACKSLASH, "'\\'a' n'\\'' x'\\' 'a", "t'\\'a' tn'\\'' tx'\\' !'a" },
	{ PG_BACKSLASH, "x'1''\\' ' b'0'\n'1'", "tx'1' t'\\' ' tb'0'\n'1'" },
	/* MySQL and MariaDB */
	{ MY, "'a\\'b' \"c\\\"d\" `e\\` f", "t'a\\'b' t\"c\\\"d\" q`e\\` wf" },
	{ MY, "a # b\nc -- d\ne--f --\x01g", "wa wc we c- c- wf" },
	{ MY, "a -- b\rc\nd --", "wa wd" },
	{ MY, "/*!50503 a */ /*M!100 b */ /*+ c */ d",
		"m/*!50503 wa m*/ m/*M!100 wb m*/ wd" },
	{ MY_SKIP, "/*!50503 a */ b", "wb" },
	{ MY, "@a @@b.c @'d e' @`f` @ := $g a$b ?1",
		"v@a v@@b.c v@'d e' v@`f` v@ c:= w$g wa$b p? n1" },
	{ MY, "@'a", "!@'a" },
	{ MY, "/* /* */ a", "wa" },
	{ MY_ANSI, "\"a\\\" 'b\\''", "q\"a\\\" t'b\\''" },
	{ MY_PLAIN, "'a\\' \"b\\\"", "t'a\\' t\"b\\\"" },
	{ MY, "x'1f' 1db.f( u.1e5 1.into",
		"wx t'1f' w1db c. wf c( wu c. w1e5 n1. winto" },
	{ MY, "t.5x( t.1e5f( `t`.5x t .5x a. 5x 1.5into t.e.2.f",
		"wt c. w5x c( wt c. w1e5f c( q`t` c. w5x wt n.5 wx wa c. w5x n1.5 winto "
		"wt c. we c. w2 c. wf" },
	/* SQLite */
	{ LITE, "[a'b] `c` ?12 :d @e $f a\vb", "q[a'b] q`c` p?12 p:d v@e w$f wa c\v wb" },
	{ LITE, "/* a /* b */ c /*", "wc !/*" },
	/* Transact-SQL */
	{ TDS, "[a]]b] #t ##u @v @@w a#b ? \"c\"",
		"q[a]]b] w#t w##u v@v v@@w wa#b p? q\"c\"" },
	{ TDS, "a /* /* */ */ b--c\rd", "wa wb wd" },
	{ TDS, "1set 1.5set", "w1set n1.5 wset" },
	/* with the placeholders of other servers */
	{ MY | CNC_SQL_DOLLAR, "$1 $a $2b", "p$1 w$a p$2 wb" },
	{ PG | CNC_SQL_COLON, ":a ::b :1 :c_1", "p:a c:: wb c: n1 p:c_1" },
	{ PG | CNC_SQL_QUESTION, "a?b", "wa p? wb" },
};

static void
put_tokens(const char *sql, size_t n, uint32_t rules, char *to, size_t size)
{
	struct cnc_sql x = cnc_sql_begin(sql, n, rules);
	struct cnc_sql_token t;
	size_t len = 0;

	to[0] = '\0';
	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END)
		len += (size_t)snprintf(to + len, size - len, "%s%c%.*s",
			len > 0 ? " " : "", letters[t.kind], (int)t.n, t.p);
	assert_ptr_equal(x.p, x.end);
	assert_int_equal(cnc_sql_next(&x).kind, CNC_SQL_END);
}

static void
divides_text_as_each_server_does(void **state)
{
	char tokens[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_tokens(cases[i].sql, strlen(cases[i].sql), cases[i].rules, tokens,
			sizeof(tokens));
		if (strcmp(tokens, cases[i].tokens) != 0)
			print_error("case %zu: %s\n", i, cases[i].sql);
		assert_string_equal(tokens, cases[i].tokens);
	}
}

/* Each text is cut at every byte, in memory that ends there. */
static void
reads_no_byte_after_the_end(void **state)
{
	char tokens[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t n = 0; n <= strlen(cases[i].sql); n++) {
			char *cut = malloc(n > 0 ? n : 1);

			assert_non_null(cut);
			memcpy(cut, cases[i].sql, n);
			put_tokens(cut, n, cases[i].rules, tokens, sizeof(tokens));
			free(cut);
		}
	}
}

static void
tells_what_it_met(void **state)
{
	static const struct {
		uint32_t rules;
		const char *sql;
		uint32_t seen;
	} texts[] = {
		{ ANSI, "a '--' \"/*\"", 0 },
		{ ANSI, "a -- b\n", CNC_SQL_SEEN_COMMENT },
		{ ANSI, "a -- b\r\n", CNC_SQL_SEEN_COMMENT },
		{ ANSI, "a -- b\rc\n", CNC_SQL_SEEN_COMMENT | CNC_SQL_SEEN_RETURN },
		{ ANSI, "a -- b", CNC_SQL_SEEN_COMMENT | CNC_SQL_SEEN_OPEN_LINE },
		{ ANSI, "/* b */", CNC_SQL_SEEN_COMMENT },
		{ ANSI, "/* /* */", CNC_SQL_SEEN_COMMENT | CNC_SQL_SEEN_NESTED },
		{ PG, "/* /* */ */", CNC_SQL_SEEN_COMMENT | CNC_SQL_SEEN_NESTED },
		{ ANSI, "/*! */", CNC_SQL_SEEN_COMMENT | CNC_SQL_SEEN_EXECUTED },
		{ MY, "/*M! a */", CNC_SQL_SEEN_EXECUTED },
		{ CNC_SQL_RAW, "-- /*", 0 },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct cnc_sql x =
			cnc_sql_begin(texts[i].sql, strlen(texts[i].sql), texts[i].rules);

		while (cnc_sql_next(&x).kind != CNC_SQL_END)
			continue;
		if (x.seen != texts[i].seen)
			print_error("text %zu: %s\n", i, texts[i].sql);
		assert_int_equal(x.seen, texts[i].seen);
	}
}

static void
sees_blanks_before_tokens(void **state)
{
	struct cnc_sql x = cnc_sql_begin("a b/**/(c", 9, ANSI);

	assert_false(cnc_sql_next(&x).has_space);
	assert_true(cnc_sql_next(&x).has_space);
	assert_true(cnc_sql_next(&x).has_space);
	assert_false(cnc_sql_next(&x).has_space);
}

static void
compares_words_in_any_case(void **state)
{
	struct cnc_sql x = cnc_sql_begin("SeLect _x \"select\"", 18, ANSI);
	struct cnc_sql_token t = cnc_sql_next(&x);

	assert_true(cnc_sql_is(&t, "select"));
	assert_false(cnc_sql_is(&t, "selec"));
	assert_false(cnc_sql_is(&t, "selects"));
	t = cnc_sql_next(&x);
	assert_true(cnc_sql_is(&t, "_x"));
	t = cnc_sql_next(&x);
	assert_false(cnc_sql_is(&t, "select"));
	assert_int_equal(cnc_sql_compare("ab", 2, "AB"), 0);
	assert_true(cnc_sql_compare("a", 1, "AB") < 0);
	assert_true(cnc_sql_compare("ab", 2, "A") > 0);
	assert_true(cnc_sql_compare("a_", 2, "az") > 0);
	assert_true(cnc_sql_compare("a\0b", 3, "a") > 0);
	assert_true(cnc_sql_compare("\xc3", 1, "z") > 0);
}

static void
takes_the_inside_of_quotes(void **state)
{
	static const struct {
		uint32_t rules;
		const char *sql;
		const char *inside;
	} tokens[] = {
		{ PG, "'a''b'", "a''b" },
		{ PG, "e'a'", "a" },
		{ PG, "U&\"a\"", "a" },
		{ PG, "$x$a$x$", "a" },
		{ PG, "$$$$", "" },
		{ PG, "abc", "abc" },
		{ TDS, "[a b]", "a b" },
		{ MY, "`a`", "a" },
	};

	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		struct cnc_sql x = cnc_sql_begin(
			tokens[i].sql, strlen(tokens[i].sql), tokens[i].rules);
		struct cnc_sql_token t = cnc_sql_next(&x);
		size_t n;
		const char *p = cnc_sql_inside(&t, &n);

		assert_int_equal(n, strlen(tokens[i].inside));
		assert_memory_equal(p, tokens[i].inside, n);
	}
}

static void
finds_the_verb_of_a_statement(void **state)
{
	static const struct {
		unsigned through;
		const char *sql;
		const char *verb;
	} texts[] = {
		{ 0, "with a as (select 1) delete from b", "with" },
		{ CNC_SQL_THROUGH_WITH, "with a as (select 1) delete from b", "delete" },
		{ CNC_SQL_THROUGH_WITH, "with recursive a(b) as (insert into c) update b",
			"update" },
		{ CNC_SQL_THROUGH_WITH,
			"with a as (select 1), replace as (select 2) select 3",
			"select" },
		{ CNC_SQL_THROUGH_WITH, "with delete as (select 1) merge into b",
			"merge" },
		{ CNC_SQL_THROUGH_WITH,
			"with a as (select 1) search depth first by b set c values (1)",
			"values" },
		{ CNC_SQL_THROUGH_WITH, "with a as (select 1); delete", ";" },
		{ CNC_SQL_THROUGH_WITH, "with a as (select 1", "" },
		{ CNC_SQL_THROUGH_WITH, "( select 1", "(" },
		{ CNC_SQL_THROUGH_WITH | CNC_SQL_THROUGH_PARENS,
			"((with a as (select 1) table b))", "table" },
		{ CNC_SQL_THROUGH_EXPLAIN, "explain (a, b(c)) insert", "insert" },
		{ CNC_SQL_THROUGH_EXPLAIN, "explain analyze verbose explain select",
			"select" },
		{ CNC_SQL_THROUGH_EXPLAIN, "explain", "" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct cnc_sql x = cnc_sql_begin(texts[i].sql, strlen(texts[i].sql), PG);
		struct cnc_sql_token t = cnc_sql_next(&x);

		t = cnc_sql_verb(&x, t, texts[i].through);
		assert_int_equal(t.n, strlen(texts[i].verb));
		assert_memory_equal(t.p, texts[i].verb, t.n);
	}
}

static void
skips_parentheses(void **state)
{
	struct cnc_sql x = cnc_sql_begin("(a (b ')') c) d", 15, PG);

	cnc_sql_skip_parens(&x);
	assert_true(cnc_sql_take(&x, "d"));
	assert_false(cnc_sql_take(&x, "d"));
	x = cnc_sql_begin("a (b", 4, PG);
	cnc_sql_skip_parens(&x);
	assert_true(cnc_sql_take(&x, "a"));
	cnc_sql_skip_parens(&x);
	assert_int_equal(cnc_sql_next(&x).kind, CNC_SQL_END);
}

/* A text that comes line by line may be at another address each time. */
static void
resumes_what_was_open(void **state)
{
	static const char *const texts[] = { "'a\n b' c", "/* a\n/* b\n */ */ c",
		"$x$\n$\n$x$ c", "e'\\'\n' c", "\"a\n\n\" c" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t n = (size_t)(strchr(texts[i], '\n') + 1 - texts[i]);
		char before[64], after[64];
		struct cnc_sql x =
			cnc_sql_begin(before, n, PG & ~(unsigned)CNC_SQL_CONTINUED);
		struct cnc_sql_token t;

		memcpy(before, texts[i], n);
		t = cnc_sql_next(&x);
		assert_int_equal(t.kind, CNC_SQL_BAD);
		assert_true(x.open.what == *texts[i] || x.open.what == texts[i][1]);
		memset(before, '?', sizeof(before));
		strcpy(after, texts[i]);
		cnc_sql_resume(&x, after, after + strlen(after));
		t = cnc_sql_next(&x);
		if (x.open.begin[1] != '*') {
			assert_true(t.kind == CNC_SQL_TEXT || t.kind == CNC_SQL_NAME);
			assert_ptr_equal(t.p, after);
			t = cnc_sql_next(&x);
		}
		assert_true(cnc_sql_is(&t, "c"));
	}
}

/* Characters of two bytes; the second may be a quote or a backslash. */
static unsigned
measure_pair(const char *start, const char *end)
{
	return end - start >= 2 && (unsigned char)*start >= 0x80 ? 2 : 0;
}

static void
follows_characters_of_several_bytes(void **state)
{
	const char *sql = "'\xbf' a' \xbf\\ `\xbf` b`";
	struct cnc_sql x = cnc_sql_begin(sql, strlen(sql), MY);

	x.character = measure_pair;
	assert_int_equal(cnc_sql_next(&x).n, 6);
	assert_int_equal(cnc_sql_next(&x).n, 2);
	assert_int_equal(cnc_sql_next(&x).n, 6);
	assert_int_equal(cnc_sql_next(&x).kind, CNC_SQL_END);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(divides_text_as_each_server_does),
		cmocka_unit_test(reads_no_byte_after_the_end),
		cmocka_unit_test(tells_what_it_met),
		cmocka_unit_test(sees_blanks_before_tokens),
		cmocka_unit_test(compares_words_in_any_case),
		cmocka_unit_test(takes_the_inside_of_quotes),
		cmocka_unit_test(finds_the_verb_of_a_statement),
		cmocka_unit_test(skips_parentheses),
		cmocka_unit_test(resumes_what_was_open),
		cmocka_unit_test(follows_characters_of_several_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
