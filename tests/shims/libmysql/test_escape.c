/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"
#include "support/cnt_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "rig.h"

/*
 * Escaping in every character set that a client may have. The real server must read the original
 * text from the escaped one, whatever its bytes are. The escaped text must be the same as the
 * original library's.
 */

#define N_TEXTS  24 /* texts in one statement */
#define LONGEST  12u
#define N_ROUNDS 4

static struct cmy_original f;
static struct cnt_random rnd;
static MYSQL *my;

struct text {
	size_t len;
	char bytes[LONGEST + 1]; /* MariaDB's code for ujis reads one byte too far */
};

static const char *const charsets[] = { "big5", "cp932", "eucjpms", "euckr", "gb2312",
	"gbk", "latin1", "sjis", "ujis", "utf8mb3", "utf8mb4", "ascii", "binary",
	"cp1251", "latin2", "tis620" };

/* Bytes that begin, continue or end a character in some set, and those that are escaped. */
static char
nasty_byte(void)
{
	static const unsigned char bytes[] = { '\'', '\\', '"', 0, '\n', '\r', 26, '0',
		'Z', '%', 0x40, 0x5c, 0x7e, 0x7f, 0x80, 0x81, 0x8e, 0x8f, 0x9f, 0xa0,
		0xa1, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe4, 0xed, 0xf0, 0xf4, 0xf7, 0xf9,
		0xfc, 0xfd, 0xfe, 0xff };

	if (cnt_random_below(&rnd, 4) == 0)
		return (char)cnt_random_below(&rnd, 256);
	return (char)bytes[cnt_random_below(&rnd, sizeof(bytes))];
}

static void
make_text(struct text *t)
{
	memset(t, 0, sizeof(*t));
	t->len = (size_t)cnt_random_below(&rnd, LONGEST + 1);
	for (size_t i = 0; i < t->len; i++)
		t->bytes[i] = nasty_byte();
}

static unsigned long
escape(char *to, const struct text *t)
{
#if CMY_ORACLE
	return f.mysql_real_escape_string_quote(my, to, t->bytes, t->len, '\'');
#else
	return f.mysql_real_escape_string(my, to, t->bytes, t->len);
#endif
}

/* select hex(_binary'…'), … */
static size_t
write_statement(const struct text *texts, char *sql)
{
	size_t at = (size_t)sprintf(sql, "select ");

	for (int i = 0; i < N_TEXTS; i++) {
		at += (size_t)sprintf(sql + at, "%shex(_binary'", i > 0 ? "," : "");
		at += escape(sql + at, &texts[i]);
		at += (size_t)sprintf(sql + at, "')");
	}
	return at;
}

static void
check_row(const struct text *texts, MYSQL_ROW row, const char *charset)
{
	char hex[2 * LONGEST + 1];

	for (int i = 0; i < N_TEXTS; i++) {
		f.mysql_hex_string(hex, texts[i].bytes, texts[i].len);
		if (strcmp(row[i], hex) != 0)
			fail_msg("%s: %s was read as %s", charset, hex, row[i]);
	}
}

static void
ask_server(const char *charset)
{
	struct text texts[N_TEXTS];
	char sql[N_TEXTS * (2 * LONGEST + 32)];
	MYSQL_RES *res;
	size_t len;

	for (int i = 0; i < N_TEXTS; i++)
		make_text(&texts[i]);
	len = write_statement(texts, sql);
	if (f.mysql_real_query(my, sql, (unsigned long)len) != 0)
		fail_msg("%s: %s", charset, f.mysql_error(my));
	res = f.mysql_store_result(my);
	assert_non_null(res);
	check_row(texts, f.mysql_fetch_row(res), charset);
	f.mysql_free_result(res);
}

static void
connect_to_pool(void)
{
	my = f.mysql_init(NULL);
	assert_non_null(my);
	if (!f.mysql_real_connect(my, NULL, "app", NULL, "app", 0, NULL, 0))
		fail_msg("%s", f.mysql_error(my));
}

static void
in_all_charsets(void)
{
	for (size_t i = 0; i < CNT_COUNT(charsets); i++) {
		assert_int_equal(f.mysql_set_character_set(my, charsets[i]), 0);
		for (int round = 0; round < N_ROUNDS; round++)
			ask_server(charsets[i]);
	}
}

static void
the_server_reads_what_was_escaped(void **state)
{
	connect_to_pool();
	in_all_charsets();
	f.mysql_close(my);
}

static void
so_it_does_when_a_backslash_is_none(void **state)
{
	connect_to_pool();
	assert_int_equal(f.mysql_query(my, "set sql_mode = 'NO_BACKSLASH_ESCAPES'"), 0);
	assert_true(my->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES);
	in_all_charsets();
	f.mysql_close(my);
}

static unsigned long
escape_text(char *to, const char *text)
{
#if CMY_ORACLE
	return f.mysql_real_escape_string_quote(my, to, text, strlen(text), '\'');
#else
	return f.mysql_real_escape_string(my, to, text, strlen(text));
#endif
}

static void
run(MYSQL *on, const char *sql)
{
	if (f.mysql_query(on, sql) != 0)
		fail_msg("%s: %s", sql, f.mysql_error(on));
}

/* Two connections take turns on one session. At each turn the session starts again, with the
 * global settings of that moment. */
static void
what_was_escaped_for_one_session_reaches_no_other(void **state)
{
	static const char text[] = "'; create table injected (a int) -- ";
	char sql[200] = "select '", found[64];
	struct cnt_rig rig;
	my_bool yes = 1;
	MYSQL *other;

	assert_int_equal(cnt_rig_start_with(&rig, "create table app.t (a int)",
				 "sessions = 1\nmode = transaction\n"),
		0);
	connect_to_pool();
	escape_text(sql + strlen(sql), text);
	strcat(sql, "'");
	assert_string_equal(sql, "select '\\'; create table injected (a int) -- '");
	other = my;
	assert_int_equal(f.mysql_options(other, MYSQL_OPT_RECONNECT, &yes), 0);
	connect_to_pool();
	run(my, "begin");
	run(my, "insert into t values (1)");
	assert_int_equal(cnt_server_sql(&rig.server,
				 "set global sql_mode = 'NO_BACKSLASH_ESCAPES'"),
		0);
	run(my, "commit");
	assert_int_not_equal(f.mysql_query(other, sql), 0);
	assert_int_equal(f.mysql_errno(other), 2006);
	assert_non_null(strstr(f.mysql_error(other), "sql_mode"));
	/* a program that reconnects has escaped for the previous session, so the first
	 * text is refused */
	assert_int_not_equal(f.mysql_query(other, sql), 0);
	assert_int_equal(f.mysql_errno(other), 2006);
	assert_non_null(strstr(f.mysql_error(other), "sql_mode"));
	assert_true(other->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES);
	run(other, "do 1");
	/* a ping has no escaped text */
	f.mysql_close(my);
	connect_to_pool();
	assert_true(my->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES);
	run(my, "begin");
	run(my, "insert into t values (1)");
	assert_int_equal(cnt_server_sql(&rig.server, "set global sql_mode = default"), 0);
	run(my, "commit");
	assert_int_equal(f.mysql_ping(other), 0);
	assert_false(other->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES);
	assert_int_equal(cnt_server_ask(&rig.server, "show tables like 'injected'", found,
				 sizeof(found)),
		0);
	assert_string_equal(found, "");
	f.mysql_close(other);
	f.mysql_close(my);
	assert_int_equal(cnt_rig_stop(&rig), 0);
}

/* The shim asks for a table's columns with SQL of its own. In GBK a backslash and a
 * backtick can be the last byte of a character. */
static void
a_list_of_fields_takes_names_as_names(void **state)
{
	static const char *const tables[] = { "\x81`", "\x81``", "\x81", "g\x81", "`",
		"'" };
	static const char *const patterns[] = { "", "\x81\\' or 1=1 -- ", "\x81'", "\\'",
		"` -- ", "' or 1=1 -- " };

	connect_to_pool();
	assert_int_equal(f.mysql_set_character_set(my, "gbk"), 0);
	assert_int_equal(f.mysql_query(my, "create temporary table `g\x81`` (a int)"), 0);
	for (size_t i = 0; i < CNT_COUNT(tables); i++) {
		for (size_t k = 0; k < CNT_COUNT(patterns); k++) {
			assert_null(f.mysql_list_fields(my, tables[i], patterns[k]));
			/* the table is missing, so the syntax was right */
			assert_int_equal(f.mysql_errno(my), 1146);
		}
	}
	for (size_t k = 1; k < CNT_COUNT(patterns); k++) {
		MYSQL_RES *res = f.mysql_list_fields(my, "g\x81`", patterns[k]);

		if (!res)
			fail_msg("%zu: %s", k, f.mysql_error(my));
		assert_int_equal(f.mysql_num_fields(res), 0);
		f.mysql_free_result(res);
	}
	f.mysql_close(my);
}

#if !CMY_ORACLE

/* Whether the original escapes wrongly in this character set, or splits a character. */
static int
differs(const char *charset)
{
	return strcmp(charset, "big5") == 0 || strcmp(charset, "gb18030") == 0 ||
	       strcmp(charset, "eucjpms") == 0;
}

static void
compare_escapes(struct cmy_original *theirs, const char *charset)
{
	char a[2 * LONGEST + 1], b[2 * LONGEST + 1];
	struct text t;

	for (int i = 0; i < 4000; i++) {
		make_text(&t);
		memset(a, 'x', sizeof(a));
		memset(b, 'x', sizeof(b));
		my->charset = f.mysql_get_charset_by_name(charset);
		escape(a, &t);
		my->charset = theirs->mysql_get_charset_by_name(charset);
		theirs->mysql_real_escape_string(my, b, t.bytes, t.len);
		if (memcmp(a, b, sizeof(a)) != 0) {
			char hex[3][4 * LONGEST + 3];

			f.mysql_hex_string(hex[0], t.bytes, t.len);
			f.mysql_hex_string(hex[1], b, sizeof(b));
			f.mysql_hex_string(hex[2], a, sizeof(a));
			fail_msg("%s: %s\n  original: %s\n  ours:     %s", charset,
				hex[0], hex[1], hex[2]);
		}
	}
}

static void
the_original_escapes_the_same(void **state)
{
	struct cmy_original theirs;

	cnt_library_open(&theirs, cnt_library_original(CNT_ORIGINAL_LIBMARIADB));
	my = f.mysql_init(NULL);
	assert_non_null(my);
	for (size_t i = 0; i < CNT_COUNT(charsets); i++) {
		if (!differs(charsets[i]))
			compare_escapes(&theirs, charsets[i]);
	}
	my->server_status |= SERVER_STATUS_NO_BACKSLASH_ESCAPES;
	for (size_t i = 0; i < CNT_COUNT(charsets); i++) {
		if (!differs(charsets[i]))
			compare_escapes(&theirs, charsets[i]);
	}
	my->charset = f.mysql_get_charset_by_name("utf8mb4");
	f.mysql_close(my);
}

#endif

static int
setup(void **state)
{
	static struct cnt_rig rig;

	*state = &rig;
	cnt_random_init_printed(&rnd);
	if (cnt_rig_start(&rig) < 0)
		return -1;
	cnt_library_open(&f, CMY_ORACLE ? CNT_OUR_LIBMYSQLCLIENT : CNT_OUR_LIBMARIADB);
	return 0;
}

static int
teardown(void **state)
{
	return cnt_rig_stop(*state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_server_reads_what_was_escaped),
		cmocka_unit_test(so_it_does_when_a_backslash_is_none),
		cmocka_unit_test(a_list_of_fields_takes_names_as_names),
#if !CMY_ORACLE
		cmocka_unit_test(the_original_escapes_the_same),
#endif
		cmocka_unit_test(what_was_escaped_for_one_session_reaches_no_other),
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, setup, teardown);
}
