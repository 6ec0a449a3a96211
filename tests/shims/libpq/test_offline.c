/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "expbuffer.h"
#include "pair.h"
#include "support/cnt_random.h"

/*
 * Functions of libpq that need no connection. Call ours and the original with the same random and
 * extreme arguments. Every byte that they return must be the same.
 */

#define ROUNDS 20000

struct fixture {
	struct cnt_pq ours, theirs;
	struct cnt_random rnd;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	cnt_pair_open(&f->ours, &f->theirs);
	cnt_random_init_printed(&f->rnd);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	cnt_pair_close(&f->ours, &f->theirs);
	free(f);
	return 0;
}

static void
encodings_have_the_same_numbers_and_names(void **state)
{
	static const char *const names[] = { "utf8", "UTF-8", "unicode", "Latin1",
		"latin_9", "iso_8859_15", "sjis", "mskanji", "win", "alt", "koi8", "",
		"nothing", "u-t-f_8!", "euc_jis_2004", "windows949", "gb18030", "johab" };
	struct fixture *f = *state;

	for (int i = -2; i < 60; i++) {
		assert_string_equal(f->ours.more.pg_encoding_to_char(i),
			f->theirs.more.pg_encoding_to_char(i));
		assert_int_equal(f->ours.more.pg_valid_server_encoding_id(i),
			f->theirs.more.pg_valid_server_encoding_id(i));
	}
	for (size_t i = 0; i < CNT_COUNT(names); i++)
		assert_int_equal(f->ours.more.pg_char_to_encoding(names[i]),
			f->theirs.more.pg_char_to_encoding(names[i]));
}

static void
characters_have_the_same_lengths(void **state)
{
	struct fixture *f = *state;
	char text[8] = { 0 };

	for (int i = 0; i < 20 * ROUNDS; i++) {
		int encoding = (int)cnt_random_below(&f->rnd, 42);

		cnt_random_bytes(&f->rnd, text, 4);
		assert_int_equal(f->ours.more.PQmblen(text, encoding),
			f->theirs.more.PQmblen(text, encoding));
		assert_int_equal(f->ours.more.PQmblenBounded(text, encoding),
			f->theirs.more.PQmblenBounded(text, encoding));
		/* the next test compares the widths in UTF-8 */
		if (encoding != 6)
			assert_int_equal(f->ours.more.PQdsplen(text, encoding),
				f->theirs.more.PQdsplen(text, encoding));
	}
}

/* The two libraries have Unicode tables of different years, which differ in a few hundred newer
 * characters. */
#define NEW_CHARACTERS 1000

static void
characters_of_unicode_have_the_same_widths(void **state)
{
	struct fixture *f = *state;
	int n = 0;

	for (unsigned c = 0x80; c < 0x110000; c++) {
		char text[5] = { 0 };

		if (c < 0x800) {
			text[0] = (char)(0xc0 | c >> 6);
			text[1] = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			text[0] = (char)(0xe0 | c >> 12);
			text[1] = (char)(0x80 | (c >> 6 & 0x3f));
			text[2] = (char)(0x80 | (c & 0x3f));
		} else {
			text[0] = (char)(0xf0 | c >> 18);
			text[1] = (char)(0x80 | (c >> 12 & 0x3f));
			text[2] = (char)(0x80 | (c >> 6 & 0x3f));
			text[3] = (char)(0x80 | (c & 0x3f));
		}
		assert_int_equal(
			f->ours.more.PQmblen(text, 6), f->theirs.more.PQmblen(text, 6));
		/* surrogates are no characters; libpq 16 and 17 say 0 for these, which are not assigned */
		if ((c < 0xd800 || c > 0xdfff) && (c < 0x1bca4 || c > 0x1ceff))
			n += f->ours.more.PQdsplen(text, 6) !=
			     f->theirs.more.PQdsplen(text, 6);
	}
	print_message("# %d widths differ\n", n);
	assert_true(n < NEW_CHARACTERS);
}

static size_t
random_bytes(struct fixture *f, unsigned char *out, size_t max)
{
	static const char common[] = "\\'\"x0123\\\\'%=&:/?@[] ,\t";
	size_t n = cnt_random_size(&f->rnd, max);

	cnt_random_bytes(&f->rnd, out, n);
	for (size_t i = 0; i < n; i++) {
		if (out[i] & 1)
			out[i] = (unsigned char)common[out[i] % (sizeof(common) - 1)];
	}
	return n;
}

static void
strings_and_bytes_are_escaped_alike(void **state)
{
	struct fixture *f = *state;
	unsigned char in[64];
	char a[160], b[160];

	for (int i = 0; i < ROUNDS; i++) {
		size_t n = random_bytes(f, in, sizeof(in) - 1);
		size_t n_ours = 0, n_theirs = 0;
		unsigned char *ours, *theirs;

		in[n] = '\0';
		memset(a, 1, sizeof(a));
		memset(b, 1, sizeof(b));
		n_ours = f->ours.f.PQescapeString(a, (char *)in, n);
		n_theirs = f->theirs.f.PQescapeString(b, (char *)in, n);
		assert_int_equal(n_ours, n_theirs);
		assert_memory_equal(a, b, n_ours + 1);

		ours = f->ours.f.PQescapeBytea(in, n, &n_ours);
		theirs = f->theirs.f.PQescapeBytea(in, n, &n_theirs);
		assert_int_equal(n_ours, n_theirs);
		assert_memory_equal(ours, theirs, n_ours);
		free(ours);
		free(theirs);
	}
}

static void
bytes_are_read_alike(void **state)
{
	struct fixture *f = *state;
	unsigned char in[64];

	for (int i = 0; i < ROUNDS; i++) {
		size_t n = random_bytes(f, in, sizeof(in) - 1);
		size_t n_ours = 0, n_theirs = 0;
		unsigned char *ours, *theirs;

		in[n] = '\0';
		if (i % 3 == 0 && n > 2)
			memcpy(in, "\\x", 2);
		ours = f->ours.f.PQunescapeBytea(in, &n_ours);
		theirs = f->theirs.f.PQunescapeBytea(in, &n_theirs);
		assert_int_equal(n_ours, n_theirs);
		assert_memory_equal(ours, theirs, n_ours);
		free(ours);
		free(theirs);
	}
}

static void
same_options(const char *text, const PQconninfoOption *a, const PQconninfoOption *b)
{
	if ((a == NULL) != (b == NULL))
		print_error("%s\n", text);
	assert_int_equal(a == NULL, b == NULL);
	for (; a != NULL && b->keyword != NULL; a++, b++) {
		assert_non_null(a->keyword);
		assert_string_equal(a->keyword, b->keyword);
		/* its default depends on how the original was built */
		if (strcmp(a->keyword, "gssencmode") == 0)
			continue;
		if ((a->val == NULL) != (b->val == NULL))
			print_error("%s: %s\n", text, a->keyword);
		assert_int_equal(a->val == NULL, b->val == NULL);
		if (a->val != NULL)
			assert_string_equal(a->val, b->val);
		assert_int_equal(a->envvar == NULL, b->envvar == NULL);
		if (a->envvar != NULL)
			assert_string_equal(a->envvar, b->envvar);
		assert_int_equal(a->compiled == NULL, b->compiled == NULL);
		if (a->compiled != NULL)
			assert_string_equal(a->compiled, b->compiled);
		assert_string_equal(a->label, b->label);
		assert_string_equal(a->dispchar, b->dispchar);
		assert_int_equal(a->dispsize, b->dispsize);
	}
	if (a != NULL)
		assert_null(a->keyword);
}

static void
parse_both(struct fixture *f, const char *text)
{
	char *a_error = NULL, *b_error = NULL;
	PQconninfoOption *a = f->ours.f.PQconninfoParse(text, &a_error);
	PQconninfoOption *b = f->theirs.f.PQconninfoParse(text, &b_error);

	same_options(text, a, b);
	assert_int_equal(a_error == NULL, b_error == NULL);
	if (a_error != NULL)
		assert_string_equal(a_error, b_error);
	f->ours.f.PQconninfoFree(a);
	f->theirs.f.PQconninfoFree(b);
	free(a_error);
	free(b_error);
}

static void
connection_strings_are_read_alike(void **state)
{
	static const char *const texts[] = { "", "host=a port=5", "host = 'a b' user=x",
		"dbname='it\\'s'", "host=a\\ b", "host='", "host", "host= port=1",
		"nosuch=1", "host=a host=b", "postgresql://",
		"postgres://u:p@h:1/d?sslmode=require", "postgresql://[::1]:5/x",
		"postgresql://[::1", "postgresql://[]/x", "postgresql://[::1]z/x",
		"postgresql://a,b:2,c:3/d", "postgresql://h?a=b",
		"postgresql://h?host=%zz", "postgresql://h?host=%00",
		"postgresql://h?host", "postgresql://h?host=a=b",
		"postgresql://h?ssl=true", "postgresql://%2ftmp/d", "postgresql://u@/d",
		"postgresql://:p@h", "postgresql://h/?", "postgresql://h?&",
		"authtype=x tty=y", "requiressl=1", "host=a\\",
		/* what libpq 18 reads in another way */
		"postgresql:// h ?host= a", "postgresql://h/ d ", "postgresql://h/a b",
		"postgresql://u :p @h:1 /d?us er=a", "postgresql://h? user =a",
		"postgresql://h/\td\n", "postgresql://h/ ",
		/* what it has beyond libpq 15 */
		"sslcertmode=a require_auth=b gssdelegation=c load_balance_hosts=d",
		"sslcertmode=a", "require_auth=a", "gssdelegation=a",
		"load_balance_hosts=a", "sslnegotiation=a", "min_protocol_version=a",
		"max_protocol_version=a", "scram_client_key=a", "scram_server_key=a",
		"oauth_issuer=a", "oauth_client_id=a", "oauth_client_secret=a",
		"oauth_scope=a", "sslkeylogfile=a", "servicefile=a" };
	struct fixture *f = *state;

	for (size_t i = 0; i < CNT_COUNT(texts); i++)
		parse_both(f, texts[i]);
}

static void
random_connection_strings_are_read_alike(void **state)
{
	static const char *const parts[] = { "host", "port", "dbname", "user", "=", "=",
		" ", "'", "\\", "a", "1", "b c", "postgresql://", "postgres://", "@", ":",
		"/", "?", "&", ",", "[", "]", "::1", "%41", "%", "%00", "sslmode",
		"nosuch", "\t", "require_auth", "max_protocol_version" };
	struct fixture *f = *state;
	char text[256];

	for (int i = 0; i < ROUNDS; i++) {
		size_t n = cnt_random_below(&f->rnd, 14);

		text[0] = '\0';
		if (i & 1)
			strcat(text, "postgresql://");
		while (n-- > 0)
			strcat(text, parts[cnt_random_below(&f->rnd, CNT_COUNT(parts))]);
		parse_both(f, text);
	}
}

/* What libpq says about a connection string before it connects; "" if it then connects. */
static void
say_refusal(const struct cnt_pq *pq, const char *conninfo, char ret_text[512])
{
	PGconn *conn = pq->f.PQconnectStart(conninfo);
	const char *says = pq->f.PQerrorMessage(conn);

	snprintf(ret_text, 512, "%s", strncmp(says, "connection to ", 14) ? says : "");
	pq->f.PQfinish(conn);
}

#define KEY_OF_32_BYTES "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define KEY_OF_33_BYTES "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static void
values_are_refused_alike(void **state)
{
	static const char *const texts[] = { "sslmode=x", "channel_binding=y sslmode=y",
		"ssl_max_protocol_version=y", "ssl_min_protocol_version=y",
		"sslnegotiation=x", "sslnegotiation=''", "sslnegotiation=direct",
		"sslnegotiation=direct sslmode=require",
		"sslnegotiation=x ssl_min_protocol_version=y", "sslcertmode=x",
		"sslcertmode=require", "sslcertmode=x gssencmode=y", "gssdelegation=x",
		"load_balance_hosts=x", "load_balance_hosts=random",
		"load_balance_hosts=x min_protocol_version=y", "min_protocol_version=x",
		"min_protocol_version=''", "min_protocol_version=3.2",
		"min_protocol_version=Latest", "max_protocol_version=3.1",
		"min_protocol_version=3.2 max_protocol_version=3.0",
		"min_protocol_version=latest max_protocol_version=3.2",
		"max_protocol_version=y min_protocol_version=x", "scram_client_key=x",
		"scram_client_key=''", "scram_client_key=eHh4", "scram_server_key=x",
		"scram_server_key=" KEY_OF_32_BYTES, "scram_client_key=" KEY_OF_33_BYTES,
		"scram_client_key='" KEY_OF_32_BYTES " '",
		"scram_client_key=x load_balance_hosts=y",
		"scram_client_key=x target_session_attrs=y", "sslrootcert=system",
		"sslrootcert=system sslmode=verify-ca", "require_auth=x",
		"require_auth=''", "require_auth=password,md5",
		"require_auth=!password,md5", "require_auth=md5,!password",
		"require_auth=md5,md5", "require_auth=!none,!none",
		"require_auth=none,password,gss,sspi,scram-sha-256", "require_auth=oauth",
		"require_auth=,", "require_auth=password,", "require_auth=' password'",
		"require_auth=!", "require_auth=!x", "require_auth=md5,!x",
		"require_auth=PASSWORD", "require_auth=pass",
		"require_auth=x channel_binding=y", "sslkeylogfile=/nowhere/x",
		"oauth_issuer=x oauth_client_id=x oauth_scope='' oauth_client_secret=x" };
	struct fixture *f = *state;
	char conninfo[256], ours[512], theirs[512];

	setenv("CENOTE_POOL", "nowhere", 1);
	setenv("CENOTE_SERVER", "unix:/nowhere", 1);
	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		snprintf(conninfo, sizeof(conninfo), "host=/nowhere dbname=d user=u %s",
			texts[i]);
		say_refusal(&f->ours, conninfo, ours);
		say_refusal(&f->theirs, conninfo, theirs);
		assert_string_equal(ours, theirs);
	}
	unsetenv("CENOTE_POOL");
	unsetenv("CENOTE_SERVER");
}

static int
count_options(const struct cnt_pq *pq)
{
	PQconninfoOption *options = pq->f.PQconndefaults();
	int n = 0;

	assert_non_null(options);
	while (options[n].keyword != NULL)
		n++;
	pq->f.PQconninfoFree(options);
	return n;
}

static void
each_version_has_its_keywords(void **state)
{
	static const struct {
		const char *version;
		int n_keywords;
	} cases[] = { { "150004", 36 }, { "160000", 40 }, { "170010", 41 },
		{ "180004", 50 } };
	struct fixture *f = *state;

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		setenv("CENOTE_LIBPQ_VERSION", cases[i].version, 1);
		assert_int_equal(count_options(&f->ours), cases[i].n_keywords);
	}
	unsetenv("CENOTE_LIBPQ_VERSION");
	(void)cnt_pq_original();
	assert_int_equal(count_options(&f->ours), count_options(&f->theirs));
}

static void
defaults_come_from_the_same_places(void **state)
{
	struct fixture *f = *state;
	PQconninfoOption *a, *b;

	for (int i = 0; i < 2; i++) {
		if (i == 1) {
			setenv("PGHOST", "some.where", 1);
			setenv("PGSSLMODE", "require", 1);
			setenv("PGAPPNAME", "", 1);
			setenv("PGLOADBALANCEHOSTS", "random", 1);
			setenv("PGSSLNEGOTIATION", "direct", 1);
			setenv("PGMAXPROTOCOLVERSION", "latest", 1);
		}
		a = f->ours.f.PQconndefaults();
		b = f->theirs.f.PQconndefaults();
		same_options("defaults", a, b);
		f->ours.f.PQconninfoFree(a);
		f->theirs.f.PQconninfoFree(b);
	}
	unsetenv("PGHOST");
	unsetenv("PGSSLMODE");
	unsetenv("PGAPPNAME");
	unsetenv("PGLOADBALANCEHOSTS");
	unsetenv("PGSSLNEGOTIATION");
	unsetenv("PGMAXPROTOCOLVERSION");
}

/* ---- results ---- */

static PGresult *
make_result(const struct cnt_pq *pq, int rows)
{
	char id[] = "id", name[] = "Name", number[] = "a number";
	PGresAttDesc columns[] = { { id, 0, 0, 0, 23, 4, -1 },
		{ name, 7, 2, 0, 25, -1, 9 }, { number, 0, 0, 1, 701, 8, -1 } };
	char digits[] = "12.5", text[] = "x|y <b>", letters[] = "abc";
	PGresult *res = pq->f.PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);

	assert_int_equal(pq->f.PQsetResultAttrs(res, 3, columns), 1);
	assert_int_equal(pq->f.PQsetResultAttrs(res, 3, columns), 0);
	for (int i = 0; i < rows; i++) {
		assert_int_equal(pq->f.PQsetvalue(res, i, 0, digits, 1 + i % 4), 1);
		assert_int_equal(
			pq->f.PQsetvalue(res, i, 1, i == 1 ? NULL : text, i % 3 ? 7 : 0),
			1);
		assert_int_equal(pq->f.PQsetvalue(res, i, 2, i % 2 ? letters : digits,
					 i % 2 ? 3 : 4),
			1);
	}
	return res;
}

static void
same_results(struct fixture *f, const PGresult *a, const PGresult *b)
{
	const struct cpq_original *x = &f->ours.f, *y = &f->theirs.f;

	assert_int_equal(x->PQntuples(a), y->PQntuples(b));
	assert_int_equal(x->PQnfields(a), y->PQnfields(b));
	assert_int_equal(x->PQbinaryTuples(a), y->PQbinaryTuples(b));
	for (int i = 0; i < x->PQnfields(a); i++) {
		assert_string_equal(x->PQfname(a, i), y->PQfname(b, i));
		assert_int_equal(x->PQftype(a, i), y->PQftype(b, i));
		assert_int_equal(x->PQfsize(a, i), y->PQfsize(b, i));
		assert_int_equal(x->PQfmod(a, i), y->PQfmod(b, i));
		assert_int_equal(x->PQftable(a, i), y->PQftable(b, i));
		assert_int_equal(x->PQftablecol(a, i), y->PQftablecol(b, i));
		assert_int_equal(x->PQfformat(a, i), y->PQfformat(b, i));
	}
	for (int row = 0; row < x->PQntuples(a); row++) {
		for (int i = 0; i < x->PQnfields(a); i++) {
			assert_string_equal(
				x->PQgetvalue(a, row, i), y->PQgetvalue(b, row, i));
			assert_int_equal(
				x->PQgetlength(a, row, i), y->PQgetlength(b, row, i));
			assert_int_equal(
				x->PQgetisnull(a, row, i), y->PQgetisnull(b, row, i));
		}
	}
}

static void
results_are_built_and_copied_alike(void **state)
{
	static const char *const names[] = { "id", "ID", "name", "\"Name\"", "Name",
		"a number", "\"a number\"", "", "nothing" };
	struct fixture *f = *state;

	for (int rows = 0; rows < 200; rows += 33) {
		PGresult *a = make_result(&f->ours, rows),
			 *b = make_result(&f->theirs, rows);

		same_results(f, a, b);
		for (size_t i = 0; i < CNT_COUNT(names); i++)
			assert_int_equal(f->ours.f.PQfnumber(a, names[i]),
				f->theirs.f.PQfnumber(b, names[i]));
		for (int flags = 0; flags < 16; flags++) {
			PGresult *c = f->ours.f.PQcopyResult(a, flags);
			PGresult *d = f->theirs.f.PQcopyResult(b, flags);

			same_results(f, c, d);
			f->ours.f.PQclear(c);
			f->theirs.f.PQclear(d);
		}
		f->ours.f.PQclear(a);
		f->theirs.f.PQclear(b);
	}
}

static char *
printed(const struct cnt_pq *pq, const PGresult *res, unsigned how, size_t *ret_len)
{
	char bar[] = "|", bars[] = " || ", border[] = "border=1", caption[] = "Cap";
	char one[] = "ONE";
	char *names[] = { one, NULL };
	PQprintOpt o = { .header = how & 1,
		.align = (how & 2) != 0,
		.standard = (how & 4) != 0,
		.html3 = (how & 8) != 0,
		.expanded = (how & 16) != 0,
		.fieldSep = how & 32 ? bars : bar,
		.tableOpt = how & 32 ? border : NULL,
		.caption = how & 32 ? caption : NULL,
		.fieldName = how & 32 ? names : NULL };
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	assert_non_null(out);
	if (!(how & 4) || (how & 1) || (how & 8))
		pq->f.PQprint(out, res, &o);
	pq->f.PQdisplayTuples(
		res, out, how & 1, how & 2 ? ":" : NULL, (how & 4) != 0, (how & 8) != 0);
	pq->f.PQprintTuples(res, out, how & 1, (how & 2) != 0, how & 4 ? 8 : 0);
	fclose(out);
	return text;
}

static void
results_are_printed_alike(void **state)
{
	struct fixture *f = *state;

	for (int rows = 0; rows < 6; rows++) {
		PGresult *a = make_result(&f->ours, rows),
			 *b = make_result(&f->theirs, rows);

		for (unsigned how = 0; how < 64; how++) {
			size_t n, m;
			char *x = printed(&f->ours, a, how, &n);
			char *y = printed(&f->theirs, b, how, &m);

			assert_int_equal(n, m);
			assert_memory_equal(x, y, n);
			free(x);
			free(y);
		}
		f->ours.f.PQclear(a);
		f->theirs.f.PQclear(b);
	}
}

/* ---- calls without a handle ---- */

static void
without_a_handle_every_answer_is_the_same(void **state)
{
	struct fixture *f = *state;
	const struct cpq_original *x = &f->ours.f, *y = &f->theirs.f;

	assert_int_equal(x->PQstatus(NULL), y->PQstatus(NULL));
	assert_int_equal(x->PQsocket(NULL), y->PQsocket(NULL));
	assert_int_equal(x->PQbackendPID(NULL), y->PQbackendPID(NULL));
	assert_int_equal(x->PQtransactionStatus(NULL), y->PQtransactionStatus(NULL));
	assert_int_equal(x->PQserverVersion(NULL), y->PQserverVersion(NULL));
	assert_int_equal(x->PQprotocolVersion(NULL), y->PQprotocolVersion(NULL));
	assert_string_equal(x->PQerrorMessage(NULL), y->PQerrorMessage(NULL));
	assert_int_equal(x->PQresultStatus(NULL), y->PQresultStatus(NULL));
	assert_string_equal(x->PQresultErrorMessage(NULL), y->PQresultErrorMessage(NULL));
	assert_int_equal(x->PQntuples(NULL), y->PQntuples(NULL));
	assert_null(x->PQexec(NULL, "select 1"));
	assert_null(x->PQgetResult(NULL));
	assert_int_equal(x->PQsendQuery(NULL, "x"), y->PQsendQuery(NULL, "x"));
	assert_int_equal(x->PQconsumeInput(NULL), y->PQconsumeInput(NULL));
	assert_int_equal(x->PQisBusy(NULL), y->PQisBusy(NULL));
	assert_int_equal(x->PQflush(NULL), y->PQflush(NULL));
	assert_int_equal(x->PQputCopyData(NULL, "", 0), y->PQputCopyData(NULL, "", 0));
	assert_int_equal(x->PQputCopyEnd(NULL, NULL), y->PQputCopyEnd(NULL, NULL));
	assert_int_equal(x->PQpipelineStatus(NULL), y->PQpipelineStatus(NULL));
	assert_int_equal(x->lo_open(NULL, 1, 1), y->lo_open(NULL, 1, 1));
	assert_null(x->PQgetCancel(NULL));
	for (int i = 0; i < 14; i++)
		assert_string_equal(x->PQresStatus((ExecStatusType)i),
			y->PQresStatus((ExecStatusType)i));
	assert_string_equal(
		x->PQresStatus((ExecStatusType)99), y->PQresStatus((ExecStatusType)99));
	x->PQfinish(NULL);
	x->PQclear(NULL);
	x->PQreset(NULL);
	x->PQfreeCancel(NULL);
}

/* What ours answers, and the original if it has the function. */
#define ANSWERS(expected, name, ...)                                                     \
	do {                                                                             \
		assert_true(x->name(__VA_ARGS__) == (expected));                         \
		if (y->name != NULL)                                                     \
			assert_true(y->name(__VA_ARGS__) == (expected));                 \
	} while (0)

/* Cancel on something that is no connection. Write everything that can be seen. */
static void
show_cancel(const struct cpq_original *pq, PGconn *conn, char ret_text[512])
{
	PGcancelConn *cancel = pq->PQcancelCreate(conn);
	size_t n = 0;

	assert_non_null(cancel);
	for (int i = 0; i < 6; i++) {
		int r = i == 1   ? pq->PQcancelStart(cancel)
			: i == 2 ? pq->PQcancelBlocking(cancel)
			: i == 4 ? pq->PQcancelStart(cancel)
			: i == 5 ? (int)pq->PQcancelPoll(cancel)
				 : -1;

		if (i == 3)
			pq->PQcancelReset(cancel);
		n += (size_t)snprintf(ret_text + n, 512 - n, "%d %d %d %s\n", r,
			pq->PQcancelStatus(cancel), pq->PQcancelSocket(cancel),
			pq->PQcancelErrorMessage(cancel));
		assert_true(n < 512);
	}
	pq->PQcancelFinish(cancel);
	pq->PQfinish(conn);
}

static void
a_cancel_of_nothing_fails_alike(void **state)
{
	struct fixture *f = *state;
	const struct cpq_original *x = &f->ours.f, *y = &f->theirs.f;
	char ours[512], theirs[512];

	for (int is_conn = 0; is_conn < 2; is_conn++) {
		show_cancel(x, is_conn ? x->PQconnectStart("nokey=1") : NULL, ours);
		assert_non_null(strstr(ours,
			is_conn ? "connection not open" : "connection pointer is NULL"));
		if (y->PQcancelCreate == NULL)
			continue;
		show_cancel(y, is_conn ? y->PQconnectStart("nokey=1") : NULL, theirs);
		assert_string_equal(ours, theirs);
	}
}

static void
newer_functions_without_a_handle_answer_alike(void **state)
{
	struct fixture *f = *state;
	const struct cpq_original *x = &f->ours.f, *y = &f->theirs.f;
	int ends[2];

	ANSWERS(NULL, PQclosePrepared, NULL, "s");
	ANSWERS(NULL, PQclosePortal, NULL, "p");
	ANSWERS(0, PQsendClosePrepared, NULL, "s");
	ANSWERS(0, PQsendClosePortal, NULL, "p");
	ANSWERS(0, PQsendPipelineSync, NULL);
	ANSWERS(0, PQsetChunkedRowsMode, NULL, 1);
	ANSWERS(0, PQcancelBlocking, NULL);
	ANSWERS(0, PQcancelStart, NULL);
	ANSWERS(CONNECTION_BAD, PQcancelStatus, NULL);
	ANSWERS(-1, PQcancelSocket, NULL);
	ANSWERS(0, PQfullProtocolVersion, NULL);
	ANSWERS(0, PQdefaultAuthDataHook, 0, NULL, NULL);
	assert_int_equal(pipe(ends), 0);
	for (int for_read = 0; for_read < 2; for_read++)
		ANSWERS(!for_read, PQsocketPoll, ends[1], for_read, !for_read, 0);
	close(ends[0]);
	close(ends[1]);
	assert_non_null(x->PQgetAuthDataHook());
	assert_in_range(
		x->PQgetCurrentTimeUSec() / 1000000, time(NULL) - 1, time(NULL) + 1);
}

/* ---- the version that drivers check ---- */

static void
the_environment_names_another_version(void **state)
{
	static const struct {
		const char *value;
		int version; /* 0: the built version */
	} cases[] = { { "170002", 170002 }, { "90600", 90600 }, { "17", 0 }, { "", 0 },
		{ "newest", 0 }, { "10000000", 0 }, { "-170002", 0 } };
	struct fixture *f = *state;
	int built;

	assert_int_equal(
		f->ours.f.PQlibVersion() / 10000, f->theirs.f.PQlibVersion() / 10000);
	unsetenv("CENOTE_LIBPQ_VERSION");
	built = f->ours.f.PQlibVersion();
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		int expected = cases[i].version != 0 ? cases[i].version : built;

		setenv("CENOTE_LIBPQ_VERSION", cases[i].value, 1);
		assert_int_equal(f->ours.f.PQlibVersion(), expected);
	}
	unsetenv("CENOTE_LIBPQ_VERSION");
	(void)cnt_pq_original();
}

#define TEST(name) cmocka_unit_test(name)

/* ---- buffers ---- */

/* Format text into a buffer that already holds text. Return its length and its allocated size,
 * since programs can see both. */
static void
show_growth(const struct cnt_pq *pq, size_t held, int more, size_t ret_sizes[2])
{
	void (*append)(PQExpBuffer, const char *, ...) = NULL;
	PQExpBuffer (*create)(void) = NULL;
	void (*destroy)(PQExpBuffer) = NULL;
	PQExpBuffer b;

	*(void **)&append = dlsym(pq->library, "appendPQExpBuffer");
	*(void **)&create = dlsym(pq->library, "createPQExpBuffer");
	*(void **)&destroy = dlsym(pq->library, "destroyPQExpBuffer");
	assert_true(append && create && destroy);
	b = create();
	append(b, "%*s", (int)held, "");
	append(b, "%*s", more, "");
	assert_int_equal(strlen(b->data), b->len);
	ret_sizes[0] = b->len;
	ret_sizes[1] = b->maxlen;
	destroy(b);
}

static void
buffers_grow_alike(void **state)
{
	static const int more[] = { 1, 4, 12, 20, 255, 256, 270, 700 };
	struct fixture *f = *state;
	size_t ours[2], theirs[2];

	for (size_t held = 0; held < 1030; held++) {
		for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
			show_growth(&f->ours, held, more[i], ours);
			show_growth(&f->theirs, held, more[i], theirs);
			assert_memory_equal(ours, theirs, sizeof(ours));
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(encodings_have_the_same_numbers_and_names),
		TEST(characters_have_the_same_lengths),
		TEST(characters_of_unicode_have_the_same_widths),
		TEST(strings_and_bytes_are_escaped_alike),
		TEST(bytes_are_read_alike),
		TEST(connection_strings_are_read_alike),
		TEST(random_connection_strings_are_read_alike),
		TEST(values_are_refused_alike),
		TEST(each_version_has_its_keywords),
		TEST(defaults_come_from_the_same_places),
		TEST(results_are_built_and_copied_alike),
		TEST(results_are_printed_alike),
		TEST(without_a_handle_every_answer_is_the_same),
		TEST(a_cancel_of_nothing_fails_alike),
		TEST(newer_functions_without_a_handle_answer_alike),
		TEST(the_environment_names_another_version),
		TEST(buffers_grow_alike),
	};

	return cmocka_run_group_tests_name("offline", tests, setup, teardown);
}
