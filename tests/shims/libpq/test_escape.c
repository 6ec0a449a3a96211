/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "support/cnt_guard.h"
#include "support/cnt_pool.h"
#include "support/cnt_process.h"
#include "support/cnt_random.h"

/*
 * Escaping in every character set that a client can have. Each text is a prefix of one to four
 * bytes, followed by characters that could end a literal. On PostgreSQL the shim must write what
 * libpq writes. MariaDB must read each escaped text as one literal.
 *
 * usage: test_libpq_escape postgresql | mariadb | odbc
 */

#define LONGEST 16u

struct text {
	char bytes[LONGEST];
	size_t len;
};

/* What each_text() calls for each text. */
struct visit {
	void (*on_text)(struct visit *v, const struct text *t);
	struct cnt_guest *f;
	PGconn *conn;
	struct cnt_random *rnd;
};

static struct cnt_random rnd;

/* ---- texts ---- */

static const char *const tails[] = { "'", "\\", "\\' $1 -- ", "" };

/* Bytes that begin, continue or end a character in some set. */
static const unsigned char nasty[] = { '\'', '\\', '"', '`', '$', '0', '9', '@', 'A', 'Z',
	'z', 0x7e, 0x7f, 0x80, 0x81, 0x8d, 0x8e, 0x8f, 0x95, 0x9c, 0xa0, 0xa1, 0xbf, 0xc2,
	0xc7, 0xc8, 0xdf, 0xe0, 0xf0, 0xf7, 0xf9, 0xfd, 0xfe, 0xff };

static void
with_tails(struct visit *v, const unsigned char *prefix, size_t n)
{
	for (size_t i = 0; i < CNT_COUNT(tails); i++) {
		struct text t = { .len = n + strlen(tails[i]) };

		memcpy(t.bytes, prefix, n);
		memcpy(t.bytes + n, tails[i], t.len - n);
		v->on_text(v, &t);
	}
}

/* Use as prefixes all single bytes, all pairs of bytes that may be one character, and random
 * sequences of three or four bytes from nasty[]. */
static void
each_text(struct visit *v, int has_long)
{
	unsigned char prefix[4];

	for (unsigned a = 1; a < 256; a++) {
		prefix[0] = (unsigned char)a;
		with_tails(v, prefix, 1);
		for (unsigned b = 1; has_long && a >= 0x80 && b < 256; b++) {
			prefix[1] = (unsigned char)b;
			with_tails(v, prefix, 2);
		}
	}
	for (int i = 0; i < (has_long ? 10000 : 1000); i++) {
		for (size_t k = 0; k < sizeof(prefix); k++)
			prefix[k] = nasty[cnt_random_below(v->rnd, sizeof(nasty))];
		with_tails(v, prefix, 3 + (size_t)(i & 1));
	}
}

static void
hex_of(const char *bytes, size_t len, char *out)
{
	for (size_t i = 0; i < len; i++)
		sprintf(out + 2 * i, "%02X", (unsigned char)bytes[i]);
	out[2 * len] = '\0';
}

/* ---- PostgreSQL ---- */

struct comparison {
	struct visit visit;
	PGconn *theirs;
	const char *encoding;
	struct cnt_guard guard;
};

static void
differ(const struct comparison *c, const struct text *t, const char *function)
{
	char hex[2 * LONGEST + 1];

	hex_of(t->bytes, t->len, hex);
	fail_msg("%s, %s: %s", c->encoding, function, hex);
}

/* Both libraries must return the same text, or both must return NULL. */
static void
compare_quoted(struct comparison *c, const struct text *t, const char *in,
	char *(*ours)(PGconn *, const char *, size_t),
	char *(*theirs)(PGconn *, const char *, size_t))
{
	char *a = ours(c->visit.conn, in, t->len);
	char *b = theirs(c->theirs, in, t->len);

	if ((a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0))
		differ(c, t, "quoted");
	c->visit.f->ours.f.PQfreemem(a);
	c->visit.f->theirs.f.PQfreemem(b);
}

static void
compare(struct visit *v, const struct text *t)
{
	struct comparison *c = (struct comparison *)v;
	const struct cpq_original *ours = &v->f->ours.f, *theirs = &v->f->theirs.f;
	const char *in = (const char *)cnt_guard_put(&c->guard, t->bytes, t->len);
	char a[2 * LONGEST + 1] = "", b[2 * LONGEST + 1] = "";
	int a_error = 7, b_error = 7;
	size_t a_len = ours->PQescapeStringConn(v->conn, a, in, t->len, &a_error);
	size_t b_len = theirs->PQescapeStringConn(c->theirs, b, in, t->len, &b_error);

	if (a_len != b_len || a_error != b_error || memcmp(a, b, sizeof(a)) != 0)
		differ(c, t, "PQescapeStringConn");
	compare_quoted(c, t, in, ours->PQescapeLiteral, theirs->PQescapeLiteral);
	compare_quoted(c, t, in, ours->PQescapeIdentifier, theirs->PQescapeIdentifier);
}

static void
compare_in(struct comparison *c, const char *encoding)
{
	struct cnt_guest *f = c->visit.f;

	c->encoding = encoding;
	/* if the server uses UTF8, no client can use MULE_INTERNAL */
	if (f->theirs.f.PQsetClientEncoding(c->theirs, encoding) != 0) {
		print_message("# not here: %s\n", encoding);
		return;
	}
	assert_int_equal(f->ours.f.PQsetClientEncoding(c->visit.conn, encoding), 0);
	each_text(&c->visit, 1);
}

static void
postgresql_gets_what_libpq_writes(void **state)
{
	struct cnt_guest *f = *state;
	struct comparison c = { .visit = { compare, f, cnt_guest_connect(f), &rnd },
		.theirs = f->theirs.f.PQconnectdb(f->conninfo) };

	assert_int_equal(f->theirs.f.PQstatus(c.theirs), CONNECTION_OK);
	cnt_guard_init(&c.guard, LONGEST);
	for (int i = 0; *f->ours.more.pg_encoding_to_char(i) != '\0'; i++)
		compare_in(&c, f->ours.more.pg_encoding_to_char(i));
	cnt_guard_finish(&c.guard);
	f->ours.f.PQfinish(c.visit.conn);
	f->theirs.f.PQfinish(c.theirs);
}

/* ---- MariaDB ---- */

#define BATCH 2000

/* One statement with many literals, and the value that it must return. */
struct round_trip {
	struct visit visit;
	const char *charset;
	int n; /* number of literals */
	size_t sql_len;
	char sql[BATCH * 80];
	size_t expected_len;
	char expected[BATCH * (2 * LONGEST + 1) + 8];
};

static void
add_sql(struct round_trip *r, const char *bytes, size_t len)
{
	assert_true(r->sql_len + len < sizeof(r->sql));
	memcpy(r->sql + r->sql_len, bytes, len);
	r->sql_len += len;
	r->sql[r->sql_len] = '\0';
}

static void
begin_batch(struct round_trip *r)
{
	r->n = 0;
	r->sql_len = 0;
	r->expected_len = 0;
	add_sql(r, "select convert(concat_ws(','", 28);
}

/* The shim must find the one placeholder behind all of the texts. */
static void
end_batch(struct round_trip *r)
{
	const struct cpq_original *f = &r->visit.f->ours.f;
	const char *const values[] = { "end" };
	PGresult *res;

	add_sql(r, ",$1) using utf8mb4)", 19);
	memcpy(r->expected + r->expected_len, "end", 4);
	res = f->PQexecParams(r->visit.conn, r->sql, 1, NULL, values, NULL, NULL, 0);
	if (f->PQresultStatus(res) != PGRES_TUPLES_OK)
		fail_msg("%s: %.300s", r->charset, f->PQresultErrorMessage(res));
	if (strcmp(f->PQgetvalue(res, 0, 0), r->expected) != 0)
		fail_msg("%s: what came back is not what was escaped", r->charset);
	f->PQclear(res);
	begin_batch(r);
}

/* A text with an invalid character does not come back. Check only that it is one literal. */
static void
add_literal(struct visit *v, const struct text *t)
{
	struct round_trip *r = (struct round_trip *)v;
	const struct cpq_original *f = &v->f->ours.f;
	char escaped[2 * LONGEST + 1];
	int error;
	size_t len = f->PQescapeStringConn(v->conn, escaped, t->bytes, t->len, &error);
	char *literal = f->PQescapeLiteral(v->conn, t->bytes, t->len);

	assert_int_equal(error, literal == NULL);
	if (literal == NULL) {
		add_sql(r, ",left(hex(_binary'", 18);
		add_sql(r, escaped, len);
		add_sql(r, "'),0)", 5);
	} else {
		add_sql(r, ",hex(_binary", 12);
		add_sql(r, literal, strlen(literal));
		add_sql(r, ")", 1);
		hex_of(t->bytes, t->len, r->expected + r->expected_len);
		r->expected_len += 2 * t->len;
	}
	r->expected[r->expected_len++] = ',';
	f->PQfreemem(literal);
	if (++r->n == BATCH)
		end_batch(r);
}

/* Run SET NAMES, and check that the shim knows the character set. Returns 1, or 0 if no client can
 * use this set. */
static int
set_charset(struct cnt_guest *f, PGconn *conn, const char *charset)
{
	char sql[64];
	PGresult *res;
	int is_done;

	snprintf(sql, sizeof(sql), "set names %s", charset);
	res = f->ours.f.PQexec(conn, sql);
	is_done = f->ours.f.PQresultStatus(res) == PGRES_COMMAND_OK;
	f->ours.f.PQclear(res);
	if (is_done && f->ours.f.PQclientEncoding(conn) < 0)
		fail_msg("the shim does not know %s", charset);
	return is_done;
}

static void
come_back(struct round_trip *r)
{
	const struct cpq_original *f = &r->visit.f->ours.f;
	PGresult *charsets =
		f->PQexec(r->visit.conn, "select character_set_name, maxlen "
					 "from information_schema.character_sets");
	int n = 0;

	assert_true(f->PQntuples(charsets) > 30);
	for (int i = 0; i < f->PQntuples(charsets); i++) {
		r->charset = f->PQgetvalue(charsets, i, 0);
		if (!set_charset(r->visit.f, r->visit.conn, r->charset))
			continue;
		/* otherwise "binary" returns bytes */
		f->PQclear(
			f->PQexec(r->visit.conn, "set character_set_results = utf8mb4"));
		begin_batch(r);
		each_text(&r->visit, *f->PQgetvalue(charsets, i, 1) > '1');
		end_batch(r);
		n++;
	}
	print_message("# %d character sets\n", n);
	f->PQclear(charsets);
	assert_true(n > 30);
}

static struct round_trip *
begin_round_trip(struct cnt_guest *f)
{
	struct round_trip *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->visit = (struct visit){ add_literal, f, cnt_guest_connect(f), &rnd };
	return r;
}

static void
end_round_trip(struct round_trip *r)
{
	r->visit.f->ours.f.PQfinish(r->visit.conn);
	free(r);
}

static void
mariadb_reads_each_text_as_one_literal(void **state)
{
	struct round_trip *r = begin_round_trip(*state);

	come_back(r);
	end_round_trip(r);
}

static void
so_it_does_when_a_backslash_is_none(void **state)
{
	struct round_trip *r = begin_round_trip(*state);
	const struct cpq_original *f = &r->visit.f->ours.f;

	f->PQclear(f->PQexec(r->visit.conn, "set sql_mode = 'NO_BACKSLASH_ESCAPES'"));
	assert_string_equal(
		f->PQparameterStatus(r->visit.conn, "standard_conforming_strings"), "on");
	come_back(r);
	end_round_trip(r);
}

static void
characters_are_let_through(void **state)
{
	static const char *const texts[][2] = { { "big5", "\xa5\\" },
		{ "cp932", "\x95\\\xb1" }, { "sjis", "\x95\\\xb1" },
		{ "ujis", "\x8e\xb1\x8f\xb0\xa1\xb0\xa1" }, { "eucjpms", "\x8e\xb1" },
		{ "gb2312", "\xb0\xa1" }, { "gbk", "\xbf\\\x81@" },
		{ "euckr", "\x81"
			   "A" },
		{ "latin1", "\xe4\x80" }, { "utf8mb4", "\xf0\x9f\x98\x80" } };
	struct cnt_guest *f = *state;
	PGconn *conn = cnt_guest_connect(f);
	char escaped[32];
	int error;

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		const char *text = texts[i][1];

		assert_int_equal(set_charset(f, conn, texts[i][0]), 1);
		f->ours.f.PQescapeStringConn(conn, escaped, text, strlen(text), &error);
		assert_string_equal(escaped, text);
		assert_int_equal(error, 0);
		/* PQescapeString() has no connection: it uses the settings that a connection
		 * reported last */
		f->ours.f.PQescapeString(escaped, text, strlen(text));
		assert_string_equal(escaped, text);
	}
	f->ours.f.PQfinish(conn);
}

/* Each function escapes a quote that cannot end a character. A backtick that ends a character is
 * not doubled. */
static void
a_quote_is_not_hidden(void **state)
{
	struct cnt_guest *f = *state;
	PGconn *conn = cnt_guest_connect(f);
	char escaped[64];
	char *name;
	int error;

	assert_int_equal(set_charset(f, conn, "gbk"), 1);
	f->ours.f.PQescapeStringConn(conn, escaped, "\xbf' or 1=1", 9, &error);
	assert_string_equal(escaped, "\x8d '' or 1=1");
	assert_int_equal(error, 1);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn), "invalid multibyte"));
	f->ours.f.PQescapeString(escaped, "\xbf' or 1=1", 9);
	assert_string_equal(escaped, "\x8d '' or 1=1");
	assert_null(f->ours.f.PQescapeLiteral(conn, "\xbf'", 2));
	assert_null(f->ours.f.PQescapeIdentifier(conn, "\xbf\"", 2));
	name = f->ours.f.PQescapeIdentifier(conn, "\x81``", 3);
	assert_string_equal(name, "`\x81````");
	f->ours.f.PQfreemem(name);
	f->ours.f.PQfinish(conn);
}

static int
setup_mariadb(void **state)
{
	static struct cnt_guest f;

	*state = &f;
	cnt_ours_open(&f.ours);
	snprintf(f.conninfo, sizeof(f.conninfo), "user=otto");
	return cnt_rig_start_on(&f.rig, CNT_RIG_MARIADB);
}

static int
teardown_mariadb(void **state)
{
	struct cnt_guest *f = *state;

	return cnt_rig_stop(&f->rig);
}

/* ---- MariaDB behind an ODBC driver ---- */

static struct cnt_pool odbc_pool;

/* The pool's backend is ODBC, not MySQL. A backslash still escapes, because the server is MariaDB. */
static void
mariadb_behind_odbc_reads_one_literal(void **state)
{
	static const char *const texts[] = { "\\", "'", "\\'", "\\') or (1 = 1",
		"\\\\' or 1 -- ", "it''s", "\xc3\xa4\\'", "`" };
	struct cnt_guest *f = *state;
	PGconn *conn = cnt_guest_connect(f);
	const char *const values[] = { "end" };
	char escaped[64], hex[64], sql[256];

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		size_t n = strlen(texts[i]);
		char *literal = f->ours.f.PQescapeLiteral(conn, texts[i], n);
		char *name = f->ours.f.PQescapeIdentifier(conn, texts[i], n);
		PGresult *res;

		f->ours.f.PQescapeStringConn(conn, escaped, texts[i], n, NULL);
		snprintf(sql, sizeof(sql), "select hex(%s), hex('%s') as %s, $1", literal,
			escaped, name);
		res = f->ours.f.PQexecParams(conn, sql, 1, NULL, values, NULL, NULL, 0);
		if (f->ours.f.PQresultStatus(res) != PGRES_TUPLES_OK)
			fail_msg("%s: %s", sql, f->ours.f.PQresultErrorMessage(res));
		hex_of(texts[i], n, hex);
		assert_string_equal(f->ours.f.PQgetvalue(res, 0, 0), hex);
		assert_string_equal(f->ours.f.PQgetvalue(res, 0, 1), hex);
		assert_string_equal(f->ours.f.PQgetvalue(res, 0, 2), "end");
		f->ours.f.PQclear(res);
		f->ours.f.PQfreemem(literal);
		f->ours.f.PQfreemem(name);
	}
	f->ours.f.PQfinish(conn);
}

static int
setup_odbc(void **state)
{
	static struct cnt_guest f;
	char server[160];

	*state = &f;
	cnt_clean_environment();
	if (cnt_pool_start(&odbc_pool, "libmaodbc", 4) < 0)
		return -1;
	cnt_ours_open(&f.ours);
	snprintf(f.conninfo, sizeof(f.conninfo), "user=otto");
	snprintf(server, sizeof(server), "unix:%s", odbc_pool.daemon.run_dir);
	setenv("CENOTE_SERVER", server, 1);
	setenv("CENOTE_POOL", "main", 1);
	return unsetenv("CENOTE_FALLBACK");
}

static int
teardown_odbc(void **state)
{
	return cnt_pool_stop(&odbc_pool);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest postgresql[] = {
		cmocka_unit_test(postgresql_gets_what_libpq_writes),
	};
	const struct CMUnitTest mariadb[] = {
		cmocka_unit_test(mariadb_reads_each_text_as_one_literal),
		cmocka_unit_test(so_it_does_when_a_backslash_is_none),
		cmocka_unit_test(characters_are_let_through),
		cmocka_unit_test(a_quote_is_not_hidden),
	};

	const struct CMUnitTest odbc[] = {
		cmocka_unit_test(mariadb_behind_odbc_reads_one_literal),
	};

	cnt_random_init_printed(&rnd);
	if (argc > 1 && strcmp(argv[1], "odbc") == 0)
		return cmocka_run_group_tests(odbc, setup_odbc, teardown_odbc);
	if (argc > 1 && strcmp(argv[1], "mariadb") == 0) {
		cnt_server_need(CNT_MARIADB);
		return cmocka_run_group_tests(mariadb, setup_mariadb, teardown_mariadb);
	}
	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(postgresql, cnt_guest_setup, cnt_guest_teardown);
}
