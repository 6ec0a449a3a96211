/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the rules of PostgreSQL with PostgreSQL's own scanner, which is in libpg_query. If that
 * scanner accepts a text, each of our tokens must be one of its tokens, or part of an operator of
 * several bytes. Nothing is compared after a token that we do not accept (CNC_SQL_BAD).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pg_query.h>

#include "core/sql.h"

/* enum Token of pg_query.proto */
enum {
	IDENT = 258,
	UIDENT = 259,
	FCONST = 260,
	SCONST = 261,
	USCONST = 262,
	XCONST = 264,
	ICONST = 266,
	PARAM = 267,
	SQL_COMMENT = 275,
	C_COMMENT = 276
};

struct token {
	uint64_t start, end, kind;
};

#define TOKENS_MAX 4096u

static struct token theirs[TOKENS_MAX];

static uint64_t
take_number(const char *p, size_t *at)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		unsigned char c = (unsigned char)p[(*at)++];

		v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return v;
	}
}

/* ScanToken: start is field 1, end 2, token 4. */
static struct token
decode_token(const char *p, size_t n)
{
	struct token t = { 0, 0, 0 };
	size_t at = 0;

	while (at < n) {
		uint64_t tag = take_number(p, &at), v = take_number(p, &at);

		if (tag >> 3 == 1)
			t.start = v;
		else if (tag >> 3 == 2)
			t.end = v;
		else if (tag >> 3 == 4)
			t.kind = v;
	}
	return t;
}

/* ScanResult: the version is field 1, each token a message in field 2. Comments are left out. */
static size_t
decode_tokens(const PgQueryProtobuf *pbuf)
{
	size_t at = 0, n = 0;

	while (at < pbuf->len) {
		uint64_t tag = take_number(pbuf->data, &at), v;

		v = take_number(pbuf->data, &at);
		if (tag != (2 << 3 | 2))
			continue;
		assert_true(n < TOKENS_MAX);
		theirs[n] = decode_token(pbuf->data + at, (size_t)v);
		n += theirs[n].kind != SQL_COMMENT && theirs[n].kind != C_COMMENT;
		at += (size_t)v;
	}
	return n;
}

static bool
is_same(const struct cnc_sql_token *t, size_t start, const struct token *their)
{
	size_t end = start + t->n;

	switch (t->kind) {
	case CNC_SQL_CHAR:
		return start >= their->start && end <= their->end;
	case CNC_SQL_TEXT: /* the library measures U&'…' and names without their quotes */
		return their->kind >= SCONST && their->kind <= XCONST &&
		       (their->end == end ||
			       (their->kind == USCONST && their->start == start));
	case CNC_SQL_NAME:
		return their->start == start &&
		       (their->kind == IDENT || their->kind == UIDENT);
	case CNC_SQL_NUMBER:
		return their->start == start && their->end == end &&
		       (their->kind == ICONST || their->kind == FCONST);
	case CNC_SQL_PLACEHOLDER:
		return their->start == start && their->end == end && their->kind == PARAM;
	case CNC_SQL_WORD:
		return their->start == start && their->end == end &&
		       (their->kind == IDENT || their->kind > C_COMMENT);
	default:
		return false;
	}
}

/* Whether all of our tokens, up to the first BAD one, agree with PostgreSQL's. */
static bool
agrees(const char *sql, bool *ret_is_bad)
{
	PgQueryScanResult r = pg_query_scan(sql);
	struct cnc_sql x =
		cnc_sql_begin(sql, strlen(sql), CNC_SQL_POSTGRESQL | CNC_SQL_STRICT);
	struct cnc_sql_token t;
	size_t n, i = 0;

	*ret_is_bad = r.error != NULL;
	if (r.error != NULL) {
		pg_query_free_scan_result(r);
		return true;
	}
	n = decode_tokens(&r.pbuf);
	pg_query_free_scan_result(r);
	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		size_t start = (size_t)(t.p - sql);

		*ret_is_bad = t.kind == CNC_SQL_BAD;
		if (*ret_is_bad)
			return true;
		/* PostgreSQL's scanner reads N'…' as two tokens */
		if (t.kind == CNC_SQL_TEXT && (*t.p | 0x20) == 'n')
			i++;
		/* libpg_query's scanner ends a text before a comment; PostgreSQL's goes on. */
		while (t.kind == CNC_SQL_TEXT && i + 1 < n &&
			theirs[i].end < start + t.n && theirs[i].kind == SCONST &&
			theirs[i + 1].kind == SCONST)
			i++;
		if (i >= n || !is_same(&t, start, &theirs[i]))
			return false;
		if (start + t.n >= theirs[i].end || t.kind != CNC_SQL_CHAR)
			i++;
	}
	return i == n;
}

static void
reads_as_postgresql_does(void **state)
{
	static const char *const texts[] = { "select a, \"b\"\"c\", 'd''e' from f;",
		"select e'a\\'b', x'1f', b'01', n'g', u&'h', u&\"i\" -- j",
		"select $1, $2::int, 1.5e-3, .5, 5., a$b, \xc3\xa4",
		"select $$a$b$$, $x$ $$ $x$, 'a'\n 'b', 'c' -- d\n 'e'",
		"select a /* b /* c */ d */ +-/*e*/ 1 -- f\r + 2",
		"a<>b!=c||d@>e->>f::g[1:2]", "select 'a' 'b', e'\\\\', '\\', u&'\\0041'",
		"a.b.c(d=>1, e:=2); ?| #- @@", "select 1 as \"select\", 'x'\n\n'y'", "" };
	bool is_bad;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!agrees(texts[i], &is_bad) || is_bad)
			print_error("text %zu: %s\n", i, texts[i]);
		assert_true(agrees(texts[i], &is_bad));
		assert_false(is_bad);
	}
}

/* Texts made of pieces in which scanners go wrong; each run makes the same texts. */
static void
reads_made_texts_as_postgresql_does(void **state)
{
	static const char *const pieces[] = { "'", "''", "\"", "\"a\"", "--", "/*", "*/",
		"\n", "\r", " ", "\\", "\\'", "e'", "E'a\\'b'", "x'1'", "b'", "n'a'",
		"u&'a'", "U&\"a\"", "$$", "$a$", "$1", "$", "a", "B", "_", "1", "1.",
		".5", "1e5", "e", "(", ")", "[", ";", ",", ":", "::", ":=", "=", "+", "-",
		"*", "/", "<", "|", "@", "?", "#", "\xc3\xa4", "select", "'a'\n'b'" };
	uint32_t random = 1;
	size_t n_compared = 0;

	(void)state;
	for (size_t i = 0; i < 30000; i++) {
		char sql[256] = "";
		bool is_bad;

		for (size_t n = 1 + i % 12; n > 0; n--) {
			random = random * 1664525u + 1013904223u;
			strcat(sql, pieces[(random >> 8) %
					    (sizeof(pieces) / sizeof(pieces[0]))]);
		}
		/* only PL/pgSQL reads two points as one token */
		if (strstr(sql, "..") != NULL)
			continue;
		if (!agrees(sql, &is_bad)) {
			print_error("made text %zu: %s\n", i, sql);
			fail();
		}
		n_compared += !is_bad;
	}
	assert_true(n_compared > 3000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_as_postgresql_does),
		cmocka_unit_test(reads_made_texts_as_postgresql_does),
	};

	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);

	pg_query_exit();
	return n_failed;
}
