/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a text of SQL is written in another way that means the same (query/respell.c): in one line, and with the server's
 * placeholders and quotes. tests/integration/test_rewriting.c runs such texts on servers.
 */
#include "support/cnt_cmocka.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/sql.h"
#include "query/respell.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

struct text_case {
	const char *sql;
	const char *expected; /* NULL: the text is left alone */
};

/* Returns the status. The text is in `to`. */
static int
respell(const struct cnd_respelling *how, const char *sql, size_t n, struct cnc_buf *to,
	struct cnc_diag *diag)
{
	cnc_buf_init(to, &cnc_mem_default, (size_t)1 << 16);
	cnc_diag_init(diag, NULL);
	return cnd_respell(how, sql, n, to, diag);
}

static void
expect_all(const struct cnd_respelling *how, const struct text_case *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *expected = list[i].expected;
		struct cnc_buf to;
		struct cnc_diag diag;
		int status = respell(how, list[i].sql, strlen(list[i].sql), &to, &diag);

		if (status != (expected != NULL ? CENOTE_OK : CENOTE_DONE))
			fail_msg("%s: status %d, %s", list[i].sql, status, diag.message);
		if (expected != NULL && (cnc_buf_len(&to) != strlen(expected) ||
						memcmp(cnc_buf_head(&to), expected,
							strlen(expected)) != 0))
			fail_msg("%s became %.*s", list[i].sql, (int)cnc_buf_len(&to),
				(const char *)cnc_buf_head(&to));
		cnc_buf_finish(&to);
	}
}

static void
normalize_for_postgresql(void **state)
{
	static const struct cnd_respelling how = { CNC_SQL_POSTGRESQL, 0, true };
	static const struct text_case list[] = {
		{ "  SELECT\n\tName  FROM   Users ;\n", "select name from users ;" },
		{ "select 'A  B', \"A  B\", $$A  B$$, $t$ A $t$ X",
			"select 'A  B', \"A  B\", $$A  B$$, $t$ A $t$ x" },
		{ "SELECT E'it\\'s  A', U&\"A\", X'0A', B'01'",
			"select E'it\\'s  A', U&\"A\", X'0A', B'01'" },
		{ "select 'a'\n  'B'", "select 'a'\n  'B'" },
		{ "select a -- why\n from t -- end", "select a from t" },
		{ "select/* why */a", "select a" },
		{ "/* first */ select a", "select a" },
		{ "/*+ SeqScan(t) */ SELECT a", "/*+ SeqScan(t) */ select a" },
		{ "select 1 /*+ x */, 2", "select 1 /*+ x */ , 2" },
		{ "select a/*+ x */b", "select a /*+ x */ b" },
		/* the blank before a sign stays, and none is added */
		{ "select 1 - -1, 1 -  1, 1-1, a !=  !!b",
			"select 1 - -1, 1 - 1, 1-1, a != !!b" },
		{ "select  $1::INT, a[1 : 2], 1E5, 0X1F, A.B",
			"select $1::int, a[1 : 2], 1E5, 0X1F, a.b" },
		{ "", "" },
		{ " -- nothing", "" },
		{ "SELECT  \xc3\x84pfel FROM t", "select \xc3\x84pfel from t" },
		/* servers or settings may read these differently */
		{ "select 'a\\'  B", NULL },
		{ "select  'a", NULL },
		{ "select  $$a", NULL },
		{ "select  /* a", NULL },
		{ "select  /* a /* b */ c */ 1", NULL },
		{ "select  1 -- a\r select 2", "select 1 select 2" },
		{ "select  '\x83\\', 1", NULL },
	};

	expect_all(&how, list, N_ITEMS(list));
}

static void
normalize_for_mysql(void **state)
{
	static const struct cnd_respelling how = { CNC_SQL_MYSQL, 0, true };
	static const struct text_case list[] = {
		{ "SELECT  Name FROM `My  Table` WHERE  a = \"X  Y\" AND b='It''s'",
			"select Name from `My  Table` where a = \"X  Y\" and b='It''s'" },
		{ "SELECT COUNT (*), COUNT(*) FROM T # why\n ORDER  BY 1",
			"select COUNT (*), COUNT(*) from T order by 1" },
		{ "SELECT t.Select, @Var, @@Global.x",
			"select t.Select, @Var, @@Global.x" },
		{ "select 1--1", "select 1--1" },
		/* with a blank behind them, the dashes would begin a comment */
		{ "select 1--/* a */1", "select 1- - 1" },
		{ "select 1--# a\n1", "select 1- - 1" },
		{ "select 1--# a", "select 1- -" },
		{ "select 1 -- 1", "select 1" },
		{ "select  /*!40001 SQL_NO_CACHE */ a",
			"select /*!40001 SQL_NO_CACHE */ a" },
		{ "select  /*M!100100 x */ a", "select /*M!100100 x */ a" },
		{ "select /*+ MAX_EXECUTION_TIME(9) */  a",
			"select /*+ MAX_EXECUTION_TIME(9) */ a" },
		{ "select  'it\\'s'", NULL },
		{ "select  \"a\\\"b\"", NULL },
		{ "select  'a\\\\b'", "select 'a\\\\b'" },
		{ "select  /*! 'a */ 'b'", NULL },
		{ "select  1 -- a\r, 2", NULL },
		{ "select  \xc4`\xc4`", NULL },
	};

	expect_all(&how, list, N_ITEMS(list));
}

static void
normalize_for_other_servers(void **state)
{
	static const struct cnd_respelling sqlite = { CNC_SQL_SQLITE, 0, true };
	static const struct cnd_respelling tds = { CNC_SQL_TDS, 0, true };
	static const struct cnd_respelling unknown = { CNC_SQL_UNKNOWN, 0, true };
	static const struct text_case on_sqlite[] = {
		{ "SELECT  [A  B], `A  B`, \"A  B\" FROM Users WHERE a = :Name",
			"select [A  B], `A  B`, \"A  B\" from Users where a = :Name" },
		{ "select  'a\\', B", "select 'a\\', B" },
	};
	static const struct text_case on_tds[] = {
		{ "SELECT  [A  ]] B], @P1 FROM #Tmp", "select [A  ]] B], @P1 from #Tmp" },
	};
	static const struct text_case on_odbc[] = { { "select  1", NULL } };

	expect_all(&sqlite, on_sqlite, N_ITEMS(on_sqlite));
	expect_all(&tds, on_tds, N_ITEMS(on_tds));
	expect_all(&unknown, on_odbc, N_ITEMS(on_odbc));
}

static void
mysql_on_other_servers(void **state)
{
	static const struct cnd_respelling pg = { CNC_SQL_POSTGRESQL, CND_PROGRAM_MYSQL,
		false };
	static const struct cnd_respelling sqlite = { CNC_SQL_SQLITE, CND_PROGRAM_MYSQL,
		false };
	static const struct cnd_respelling same = { CNC_SQL_MYSQL, CND_PROGRAM_MYSQL,
		false };
	static const struct text_case on_pg[] = {
		{ "select `a``\"b` from `s`.`t`  where a=? and b = ?",
			"select \"a`\"\"b\" from \"s\".\"t\"  where a=$1 and b = $2" },
		{ "select '?`', $1 from t # it's\nwhere 1",
			"select '?`', $1 from t -- it's\nwhere 1" },
		{ "select 1 from t where a=?and b", "select 1 from t where a=$1 and b" },
		{ "select U&`a`", "select U& \"a\"" },
		{ "select N`a`b", "select N \"a\" b" },
		{ "insert into t values (?,?),(?,?)",
			"insert into t values ($1,$2),($3,$4)" },
		{ "select 'a\\'b', ?", NULL },
		{ "select \"name\"", "select \"name\"" },
	};
	static const struct text_case on_sqlite[] = {
		{ "select `a` where b = ?", "select `a` where b = ?1" },
	};

	expect_all(&pg, on_pg, N_ITEMS(on_pg));
	expect_all(&sqlite, on_sqlite, N_ITEMS(on_sqlite));
	assert_false(cnd_respells(&same));
	assert_true(cnd_respells(&pg));
}

static void
others_on_other_servers(void **state)
{
	static const struct cnd_respelling pg_on_mysql = { CNC_SQL_MYSQL,
		CND_PROGRAM_POSTGRESQL, false };
	static const struct cnd_respelling sqlite_on_pg = { CNC_SQL_POSTGRESQL,
		CND_PROGRAM_SQLITE, false };
	static const struct cnd_respelling tsql_on_sqlite = { CNC_SQL_SQLITE,
		CND_PROGRAM_TSQL, false };
	static const struct cnd_respelling pg_on_tds = { CNC_SQL_TDS,
		CND_PROGRAM_POSTGRESQL, false };
	static const struct text_case on_mysql[] = {
		{ "select \"a\"\"b`\" from \"t\" where a = $1 and b=$2",
			"select `a\"b``` from `t` where a = ? and b=?" },
		/* the libpq shim has already written this one for MySQL */
		{ "select `a` where b = ?", "select `a` where b = ?" },
	};
	static const struct text_case on_pg[] = {
		{ "select :a, ?, @b, :a, ?9, ?, x::int",
			"select $1, $2, $3, $1, $9, $10, x::int" },
		{ "select [a \" b], `c` ", "select \"a \"\" b\", \"c\" " },
	};
	static const struct text_case on_sqlite[] = {
		{ "select [a] from t where x = @P1 or @@x = @p2 or y=@P1",
			"select [a] from t where x = ?1 or @@x = ?2 or y=?1" },
	};
	static const struct text_case on_tds[] = {
		{ "select \"a]b\" from t where a = $1",
			"select \"a]b\" from t where a = ?" },
	};

	expect_all(&pg_on_mysql, on_mysql, N_ITEMS(on_mysql));
	expect_all(&sqlite_on_pg, on_pg, N_ITEMS(on_pg));
	expect_all(&tsql_on_sqlite, on_sqlite, N_ITEMS(on_sqlite));
	expect_all(&pg_on_tds, on_tds, N_ITEMS(on_tds));
}

/* A text that the server has no words for is an error. It does not become another statement. */
static void
what_a_server_cannot_say(void **state)
{
	static const char *const texts[] = { "select $2, $1", "select $1, $1",
		"select $0", "select $65536", "select $99999999999999999999" };
	static const struct cnd_respelling how = { CNC_SQL_MYSQL, CND_PROGRAM_POSTGRESQL,
		false };
	struct cnc_diag diag;
	struct cnc_buf to;

	for (size_t i = 0; i < N_ITEMS(texts); i++) {
		if (respell(&how, texts[i], strlen(texts[i]), &to, &diag) !=
			CENOTE_ERR_UNSUPPORTED)
			fail_msg("%s", texts[i]);
		assert_string_equal(diag.sqlstate, "0A000");
		cnc_buf_finish(&to);
	}
}

/* Every prefix of a text is read inside of its bounds, and never grows beyond the buffer's. */
static void
cut_anywhere(void **state)
{
	static const char sql[] = "/*+ h */ SELECT `a``b`, \"c\"\"d\", [e], 'f''g\\', "
				  "E'\\'', $t$h$t$, ?, ?7, :n, @v, @@g, $1 # i\n-- j\r\n"
				  "FROM T /*!40000 k */ /* l */ WHERE 1--1";
	static const uint32_t dialects[] = { CNC_SQL_POSTGRESQL, CNC_SQL_MYSQL,
		CNC_SQL_SQLITE, CNC_SQL_TDS, CNC_SQL_UNKNOWN };

	for (size_t n = 0; n < sizeof(sql); n++) {
		char *copy = malloc(n + 1);

		assert_non_null(copy);
		memcpy(copy, sql, n);
		for (size_t i = 0; i < 2 * 5 * N_ITEMS(dialects); i++) {
			struct cnd_respelling how = { dialects[i / 10], (uint8_t)(i % 5),
				i % 10 >= 5 };
			struct cnc_diag diag;
			struct cnc_buf to;

			(void)respell(&how, copy, n, &to, &diag);
			cnc_buf_finish(&to);
		}
		free(copy);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normalize_for_postgresql),
		cmocka_unit_test(normalize_for_mysql),
		cmocka_unit_test(normalize_for_other_servers),
		cmocka_unit_test(mysql_on_other_servers),
		cmocka_unit_test(others_on_other_servers),
		cmocka_unit_test(what_a_server_cannot_say),
		cmocka_unit_test(cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
