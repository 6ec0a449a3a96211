/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pair.h"
#include "rig.h"
#include "support/cnt_random.h"

/*
 * A libpq program on a pool of a server other than PostgreSQL. The tests check the types, values,
 * tags and errors that the program gets. They use real sessions.
 *
 * usage: test_libpq_dialect sqlite | mariadb
 */

struct kind {
	const char *name;
	const char *title;
	enum cnt_rig_server server;
	int is_mariadb;
};

static const struct kind sqlite = { "sqlite", "SQLite", CNT_RIG_SQLITE, 0 };
static const struct kind mariadb = { "mariadb", "MariaDB", CNT_RIG_MARIADB, 1 };

struct fixture {
	const struct kind *kind;
	struct cnt_pq pq;
	struct cnt_rig rig;
	PGconn *conn;
};

static struct fixture the;

static int
setup(void **state)
{
	if (cnt_rig_start_on(&the.rig, the.kind->server) < 0)
		return -1;
	cnt_ours_open(&the.pq);
	unsetenv("PGCLIENTENCODING");
	*state = &the;
	return 0;
}

static int
teardown(void **state)
{
	return cnt_rig_stop(&the.rig);
}

static int
connect_each(void **state)
{
	struct fixture *f = *state;

	f->conn = f->pq.f.PQconnectdb("user=otto application_name=it");
	assert_string_equal(f->pq.f.PQerrorMessage(f->conn), "");
	assert_int_equal(f->pq.f.PQstatus(f->conn), CONNECTION_OK);
	return 0;
}

static int
finish_each(void **state)
{
	struct fixture *f = *state;

	f->pq.f.PQfinish(f->conn);
	return 0;
}

/* ---- asking ---- */

static void
status_is(struct fixture *f, PGresult *res, ExecStatusType status)
{
	assert_string_equal(f->pq.f.PQresultErrorMessage(res), "");
	assert_int_equal(f->pq.f.PQresultStatus(res), status);
}

static void
ok(struct fixture *f, PGresult *res)
{
	status_is(f, res, PGRES_COMMAND_OK);
	f->pq.f.PQclear(res);
}

static PGresult *
query(struct fixture *f, const char *sql)
{
	PGresult *res = f->pq.f.PQexec(f->conn, sql);

	assert_non_null(res);
	return res;
}

/* Run a statement that returns no rows, and check its tag. */
static void
run(struct fixture *f, const char *sql, const char *tag)
{
	PGresult *res = query(f, sql);

	status_is(f, res, PGRES_COMMAND_OK);
	assert_string_equal(f->pq.f.PQcmdStatus(res), tag);
	f->pq.f.PQclear(res);
}

static void
value_is(struct fixture *f, PGresult *res, const char *value)
{
	status_is(f, res, PGRES_TUPLES_OK);
	assert_int_equal(f->pq.f.PQntuples(res), 1);
	if (value == NULL)
		assert_int_equal(f->pq.f.PQgetisnull(res, 0, 0), 1);
	else
		assert_string_equal(f->pq.f.PQgetvalue(res, 0, 0), value);
	f->pq.f.PQclear(res);
}

static void
gives(struct fixture *f, const char *sql, const char *value)
{
	value_is(f, query(f, sql), value);
}

static void
error_is(struct fixture *f, PGresult *res, const char *sqlstate, const char *part)
{
	assert_int_equal(f->pq.f.PQresultStatus(res), PGRES_FATAL_ERROR);
	assert_string_equal(f->pq.f.PQresultErrorField(res, PG_DIAG_SQLSTATE), sqlstate);
	assert_string_equal(f->pq.f.PQresultErrorField(res, PG_DIAG_SEVERITY), "ERROR");
	assert_non_null(strstr(f->pq.f.PQresultErrorMessage(res), "ERROR:  "));
	assert_non_null(strstr(f->pq.f.PQresultErrorMessage(res), part));
	assert_string_equal(
		f->pq.f.PQerrorMessage(f->conn), f->pq.f.PQresultErrorMessage(res));
	f->pq.f.PQclear(res);
}

static void
fails(struct fixture *f, const char *sql, const char *sqlstate, const char *part)
{
	error_is(f, query(f, sql), sqlstate, part);
}

/* Choose the text for the server of this run. */
static const char *
either(const struct fixture *f, const char *of_sqlite, const char *of_mariadb)
{
	return f->kind->is_mariadb ? of_mariadb : of_sqlite;
}

static PGresult *
with_text(struct fixture *f, const char *sql, Oid type, const char *value)
{
	return f->pq.f.PQexecParams(f->conn, sql, 1, &type, &value, NULL, NULL, 0);
}

static PGresult *
with_bytes(struct fixture *f, const char *sql, Oid type, const char *bytes, int len)
{
	static const int binary = 1;

	return f->pq.f.PQexecParams(f->conn, sql, 1, &type, &bytes, &len, &binary, 0);
}

/* ---- types and values ---- */

struct column {
	const char *type;
	const char *literal;
	Oid oid;
	int size;
	int modifier;
	const char *text;
	const char *bytes; /* the binary form, in hexadecimal; NULL if there is none */
};

static const struct column sqlite_columns[] = {
	{ "integer", "42", 20, 8, -1, "42", "000000000000002a" },
	{ "bigint", "-2", 20, 8, -1, "-2", "fffffffffffffffe" },
	{ "real", "1.5", 701, 8, -1, "1.5", "3ff8000000000000" },
	{ "double", "0.1", 701, 8, -1, "0.1", "3fb999999999999a" },
	{ "decimal(10, 2)", "12.5", 1700, -1, (10 << 16 | 2) + 4, "12.5",
		"0002000000000001000c1388" },
	{ "numeric", "-10000", 1700, -1, -1, "-10000", "00010001400000000001" },
	{ "text", "'\xc3\xbc\\'", 25, -1, -1, "\xc3\xbc\\", "c3bc5c" },
	{ "varchar(7)", "'abc'", 1043, -1, 11, "abc", "616263" },
	{ "blob", "x'00ff5c'", 17, -1, -1, "\\x00ff5c", "00ff5c" },
	{ "blob", "x''", 17, -1, -1, "\\x", "" },
	{ "boolean", "1", 16, 1, -1, "t", "01" },
	{ "boolean", "'no'", 16, 1, -1, "f", "00" },
	{ "date", "'2024-02-29'", 1082, 4, -1, "2024-02-29", "00002279" },
	{ "date", "'-0043-03-15'", 1082, 4, -1, "0044-03-15 BC", "fff49d7b" },
	{ "time", "'12:34:56.5'", 1083, 8, -1, "12:34:56.5", "0000000a8be1bd20" },
	{ "timestamp", "'2000-01-02T00:00:01'", 1114, 8, -1, "2000-01-02 00:00:01",
		"000000141de6a240" },
	{ "timestamptz", "'2000-01-01 01:00:00+01:00'", 1184, 8, -1,
		"2000-01-01 01:00:00+01", "0000000000000000" },
	{ "timetz", "'00:00:01-03:30'", 1266, 12, -1, "00:00:01-03:30",
		"00000000000f424000003138" },
	{ "uuid", "'00112233-4455-6677-8899-aabbccddeeff'", 2950, 16, -1,
		"00112233-4455-6677-8899-aabbccddeeff",
		"00112233445566778899aabbccddeeff" },
	{ "json", "'[1]'", 114, -1, -1, "[1]", "5b315d" },
	{ "interval", "'1 day'", 1186, 16, -1, "1 day", NULL },
};

static const struct column mariadb_columns[] = {
	{ "tinyint", "-2", 21, 2, -1, "-2", "fffe" },
	{ "tinyint unsigned", "255", 21, 2, -1, "255", "00ff" },
	{ "smallint unsigned", "65535", 23, 4, -1, "65535", "0000ffff" },
	{ "mediumint", "5", 23, 4, -1, "5", "00000005" },
	{ "int", "42", 23, 4, -1, "42", "0000002a" },
	{ "int unsigned", "4294967295", 20, 8, -1, "4294967295", "00000000ffffffff" },
	{ "bigint", "-2", 20, 8, -1, "-2", "fffffffffffffffe" },
	{ "bigint unsigned", "18446744073709551615", 1700, -1, -1, "18446744073709551615",
		"000500040000000007341a5802e103bb064f" },
	{ "year", "2024", 21, 2, -1, "2024", "07e8" },
	{ "bool", "true", 21, 2, -1, "1", "0001" },
	{ "bit(1)", "b'1'", 16, 1, -1, "t", "01" },
	{ "float", "1.5", 700, 4, -1, "1.5", "3fc00000" },
	{ "double", "0.1", 701, 8, -1, "0.1", "3fb999999999999a" },
	{ "decimal(10, 2)", "12.5", 1700, -1, (10 << 16 | 2) + 4, "12.50",
		"0002000000000002000c1388" },
	{ "text", "'\xc3\xbc'", 25, -1, -1, "\xc3\xbc", "c3bc" },
	{ "varchar(7)", "'abc'", 1043, -1, 11, "abc", "616263" },
	{ "char(3)", "'ab'", 1043, -1, 7, "ab", "6162" },
	{ "varbinary(9)", "x'00ff5c'", 17, -1, -1, "\\x00ff5c", "00ff5c" },
	{ "date", "'2024-02-29'", 1082, 4, -1, "2024-02-29", "00002279" },
	{ "time(1)", "'12:34:56.5'", 1083, 8, 1, "12:34:56.5", "0000000a8be1bd20" },
	{ "datetime", "'2000-01-02 00:00:01'", 1114, 8, 0, "2000-01-02 00:00:01",
		"000000141de6a240" },
	{ "uuid", "'00112233-4455-6677-8899-aabbccddeeff'", 2950, 16, -1,
		"00112233-4455-6677-8899-aabbccddeeff", NULL },
};

static const struct column *
columns_of(const struct fixture *f, size_t *ret_n)
{
	*ret_n = f->kind->is_mariadb ? CNT_COUNT(mariadb_columns)
				     : CNT_COUNT(sqlite_columns);
	return f->kind->is_mariadb ? mariadb_columns : sqlite_columns;
}

static void
make_column(struct fixture *f, const struct column *c)
{
	char sql[256];

	run(f, "drop table if exists c", "DROP TABLE");
	snprintf(sql, sizeof(sql), "create table c (v %s)", c->type);
	run(f, sql, "CREATE TABLE");
	snprintf(sql, sizeof(sql), "insert into c values (%s), (null)", c->literal);
	run(f, sql, "INSERT 0 2");
}

static void
text_is_postgresqls(void **state)
{
	struct fixture *f = *state;
	size_t n;
	const struct column *c = columns_of(f, &n);

	for (; n > 0; n--, c++) {
		PGresult *res;

		make_column(f, c);
		res = query(f, "select v from c");
		status_is(f, res, PGRES_TUPLES_OK);
		assert_string_equal(f->pq.f.PQcmdStatus(res), "SELECT 2");
		assert_string_equal(f->pq.f.PQcmdTuples(res), "2");
		assert_int_equal(f->pq.f.PQftype(res, 0), c->oid);
		assert_int_equal(f->pq.f.PQfsize(res, 0), c->size);
		assert_int_equal(f->pq.f.PQfmod(res, 0), c->modifier);
		assert_int_equal(f->pq.f.PQfformat(res, 0), 0);
		assert_int_equal(f->pq.f.PQbinaryTuples(res), 0);
		assert_int_equal(f->pq.f.PQftable(res, 0), 0);
		assert_string_equal(f->pq.f.PQgetvalue(res, 0, 0), c->text);
		assert_int_equal(f->pq.f.PQgetlength(res, 0, 0), strlen(c->text));
		assert_int_equal(f->pq.f.PQgetisnull(res, 1, 0), 1);
		f->pq.f.PQclear(res);
	}
}

static void
to_hex(const char *bytes, int len, char *out, size_t size)
{
	assert_true((size_t)len * 2 < size);
	*out = '\0';
	for (int i = 0; i < len; i++)
		sprintf(out + (size_t)2 * (size_t)i, "%02x", (unsigned char)bytes[i]);
}

static void
binary_is_postgresqls(void **state)
{
	struct fixture *f = *state;
	size_t n;
	const struct column *c = columns_of(f, &n);
	char hex[128];

	for (; n > 0; n--, c++) {
		PGresult *res;

		/* MariaDB reports a uuid column as text if the statement is prepared */
		if (f->kind->is_mariadb && c->bytes == NULL)
			continue;
		make_column(f, c);
		res = f->pq.f.PQexecParams(
			f->conn, "select v from c", 0, NULL, NULL, NULL, NULL, 1);
		if (c->bytes == NULL) {
			error_is(f, res, "22018", "no binary form");
			continue;
		}
		status_is(f, res, PGRES_TUPLES_OK);
		assert_int_equal(f->pq.f.PQfformat(res, 0), 1);
		assert_int_equal(f->pq.f.PQbinaryTuples(res), 1);
		assert_int_equal(f->pq.f.PQftype(res, 0), c->oid);
		to_hex(f->pq.f.PQgetvalue(res, 0, 0), f->pq.f.PQgetlength(res, 0, 0), hex,
			sizeof(hex));
		assert_string_equal(hex, c->bytes);
		assert_int_equal(f->pq.f.PQgetisnull(res, 1, 0), 1);
		f->pq.f.PQclear(res);
	}
}

/* A value that does not fit the type of its column reaches the program as text, and has no binary
 * form. */
static void
values_of_another_type(void **state)
{
	struct fixture *f = *state;
	PGresult *res;

	if (f->kind->is_mariadb) {
		run(f, "set sql_mode = ''", "SET");
		run(f, "drop table if exists z", "DROP TABLE");
		run(f, "create table z (d date not null, t time, s datetime)",
			"CREATE TABLE");
		run(f,
			"insert into z values ('0000-00-00', '-25:00:00', "
			"'2024-00-15')",
			"INSERT 0 1");
		gives(f, "select d from z", NULL);
		gives(f, "select s from z where d is null", "2024-00-15 00:00:00");
		gives(f, "select t from z", "-25:00:00");
		res = f->pq.f.PQexecParams(
			f->conn, "select t from z", 0, NULL, NULL, NULL, NULL, 1);
		error_is(f, res, "22018", "\"t\", row 1: the value is no time");
		return;
	}
	run(f, "drop table if exists z", "DROP TABLE");
	run(f, "create table z (i integer, d date, b boolean)", "CREATE TABLE");
	run(f, "insert into z values ('abc', 17, 'perhaps')", "INSERT 0 1");
	gives(f, "select i from z", "abc");
	gives(f, "select d from z", "17");
	gives(f, "select b from z", "perhaps");
	res = f->pq.f.PQexecParams(
		f->conn, "select d, i from z", 0, NULL, NULL, NULL, NULL, 1);
	error_is(f, res, "22018", "column \"d\", row 1: the value is no date");
	gives(f, "select 1", "1");
}

/* ---- tags ---- */

static void
tags_are_postgresqls(void **state)
{
	struct fixture *f = *state;
	PGresult *res;

	run(f, "drop table if exists g", "DROP TABLE");
	run(f, "/* c; */ create /* x */ table g (a integer, b varchar(9))",
		"CREATE TABLE");
	run(f, "create index gi on g (a)", "CREATE INDEX");
	run(f, "insert into g values (1, 'x'), (2, 'y'), (3, 'z')", "INSERT 0 3");
	run(f, "-- one\nupdate g set b = 'q;' where a > 1", "UPDATE 2");
	run(f, "delete from g where a = 3", "DELETE 1");
	run(f, "delete from g where a = 3", "DELETE 0");
	run(f, "create view gv as select 1", "CREATE VIEW");
	run(f, "drop view gv", "DROP VIEW");
	res = query(f, "with w as (select a from g where b <> 'insert') select * from w");
	status_is(f, res, PGRES_TUPLES_OK);
	assert_string_equal(f->pq.f.PQcmdStatus(res), "SELECT 2");
	f->pq.f.PQclear(res);
	res = query(f, "insert into g values (7, null) returning a");
	status_is(f, res, PGRES_TUPLES_OK);
	assert_string_equal(f->pq.f.PQcmdStatus(res), "INSERT 0 1");
	assert_string_equal(f->pq.f.PQcmdTuples(res), "1");
	assert_int_equal(f->pq.f.PQoidValue(res), 0);
	f->pq.f.PQclear(res);
	res = query(f, " ; -- nothing");
	assert_int_equal(f->pq.f.PQresultStatus(res), PGRES_EMPTY_QUERY);
	f->pq.f.PQclear(res);
}

static void
several_statements_have_a_tag_each(void **state)
{
	static const char *const tags[] = { "DROP TABLE", "CREATE TABLE", "INSERT 0 2",
		"SELECT 2", "UPDATE 1", "SELECT 1" };
	struct fixture *f = *state;
	PGresult *res;

	assert_int_equal(
		f->pq.f.PQsendQuery(f->conn, "drop table if exists m; create table m (a "
					     "integer, b text); insert into m values "
					     "(1, 'a;'), (2, ''';');"
					     "select * from m; update m set a = 3 where "
					     "a = 2; select 5;"),
		1);
	for (size_t i = 0; i < CNT_COUNT(tags); i++) {
		res = f->pq.f.PQgetResult(f->conn);
		assert_non_null(res);
		assert_string_equal(f->pq.f.PQresultErrorMessage(res), "");
		assert_string_equal(f->pq.f.PQcmdStatus(res), tags[i]);
		f->pq.f.PQclear(res);
	}
	assert_null(f->pq.f.PQgetResult(f->conn));
}

static void
procedures_keep_the_tags_in_step(void **state)
{
	static const char *const tags[] = { "CALL", "CALL", "CALL", "SELECT 1" };
	struct fixture *f = *state;
	PGresult *res;

	if (!f->kind->is_mariadb)
		return;
	run(f, "drop procedure if exists pr", "DROP PROCEDURE");
	run(f, "create procedure pr() begin select 1; select 2; end", "CREATE PROCEDURE");
	assert_int_equal(f->pq.f.PQsendQuery(f->conn, "call pr(); select 3"), 1);
	for (size_t i = 0; i < CNT_COUNT(tags); i++) {
		res = f->pq.f.PQgetResult(f->conn);
		assert_non_null(res);
		assert_string_equal(f->pq.f.PQcmdStatus(res), tags[i]);
		f->pq.f.PQclear(res);
	}
	assert_null(f->pq.f.PQgetResult(f->conn));
}

/* ---- parameters ---- */

static void
a_request_with_parameters_is_one_statement(void **state)
{
	static const char *const several[] = { "insert into y values (1); select 1",
		"insert into y values (1); insert into y values ($1)",
		"select $1; drop table y" };
	static const char *const single[] = {
		"select '; select 2', $1 ; -- ; select 3\n;", "/* ; */ select 1;"
	};
	struct fixture *f = *state;

	run(f, "drop table if exists y", "DROP TABLE");
	run(f, "create table y (a integer)", "CREATE TABLE");
	for (size_t i = 0; i < CNT_COUNT(several); i++) {
		int n = strchr(several[i], '$') != NULL;
		const char *value = "2";

		error_is(f,
			f->pq.f.PQexecParams(
				f->conn, several[i], n, NULL, &value, NULL, NULL, 0),
			"42601", "multiple commands");
		error_is(f, f->pq.f.PQprepare(f->conn, "s", several[i], 0, NULL), "42601",
			"multiple commands");
	}
	gives(f, "select count(*) from y", "0");
	value_is(f, with_text(f, single[0], 0, "x"), "; select 2");
	value_is(f,
		f->pq.f.PQexecParams(f->conn, single[1], 0, NULL, NULL, NULL, NULL, 0),
		"1");
	if (f->kind->is_mariadb)
		ok(f, f->pq.f.PQexecParams(f->conn, "if 1 = 1 then do 1; do 2; end if", 0,
			      NULL, NULL, NULL, NULL, 0));
}

/* The shim and the server may read strings and comments differently. Even then no second statement
 * runs. */
static void
a_second_statement_cannot_hide(void **state)
{
	static const char *const of_sqlite[] = {
		"select $a('); drop table y; --')",
		"select :a('); drop table y; --')",
		"select @a::b('); drop table y; --')",
	};
	static const char *const of_mariadb[] = {
		"select 2*/*'*/3; drop table y; -- '",
		"select 1 --\1'\n; drop table y; -- '",
		"select 1 /*!999999 ' */; drop table y; -- '",
	};
	struct fixture *f = *state;

	run(f, "drop table if exists y", "DROP TABLE");
	run(f, "create table y (a integer)", "CREATE TABLE");
	for (size_t i = 0; i < CNT_COUNT(of_sqlite); i++) {
		const char *sql = either(f, of_sqlite[i], of_mariadb[i]);

		f->pq.f.PQclear(
			f->pq.f.PQexecParams(f->conn, sql, 0, NULL, NULL, NULL, NULL, 0));
		gives(f, "select count(*) from y", "0");
	}
}

static void
placeholders_in_every_order(void **state)
{
	static const char *const values[] = { "a", "b", "c" };
	struct fixture *f = *state;
	PGresult *res = f->pq.f.PQexecParams(f->conn,
		"select $3, $1, '$2', $3, /* $9 */ $2 -- $8\n, \"$7\" from (select 1 as "
		"\"$7\") x",
		3, NULL, values, NULL, NULL, 0);

	/* MariaDB reads "$7" as a string; the result is the same here, but try its own quotes and
	 * comments, too */
	if (f->kind->is_mariadb) {
		f->pq.f.PQclear(res);
		res = f->pq.f.PQexecParams(f->conn,
			"select $3, $1, '$2\\'', $3, /* $9 */ $2 -- $8\n # $6\n, `$7` "
			"from (select '$7' as `$7`) x",
			3, NULL, values, NULL, NULL, 0);
	}
	status_is(f, res, PGRES_TUPLES_OK);
	assert_string_equal(f->pq.f.PQgetvalue(res, 0, 0), "c");
	assert_string_equal(f->pq.f.PQgetvalue(res, 0, 1), "a");
	assert_string_equal(f->pq.f.PQgetvalue(res, 0, 2), either(f, "$2", "$2'"));
	assert_string_equal(f->pq.f.PQgetvalue(res, 0, 3), "c");
	assert_string_equal(f->pq.f.PQgetvalue(res, 0, 4), "b");
	f->pq.f.PQclear(res);
	/* the server's own placeholder works, too */
	value_is(f,
		f->pq.f.PQexecParams(f->conn, "select ?", 1, NULL, values, NULL, NULL, 0),
		"a");
}

static void
placeholders_without_values(void **state)
{
	static const char *const values[] = { "a", "b" };
	struct fixture *f = *state;
	struct cnt_pq *pq = &f->pq;

	error_is(f,
		pq->f.PQexecParams(f->conn, "select $1", 2, NULL, values, NULL, NULL, 0),
		"08P01", "supplies 2 parameters");
	error_is(f,
		pq->f.PQexecParams(
			f->conn, "select $2, $3", 2, NULL, values, NULL, NULL, 0),
		"08P01", "requires 3");
	error_is(f,
		pq->f.PQexecParams(f->conn, "select $0", 1, NULL, values, NULL, NULL, 0),
		"42P02", "no parameter $0");
	error_is(f,
		pq->f.PQexecParams(f->conn, "select $99999999999999999999", 1, NULL,
			values, NULL, NULL, 0),
		"42P02", "no parameter");
	gives(f, "select 1", "1");
}

static void
typed_values(void **state)
{
	static const struct {
		Oid type;
		const char *sql;
		const char *value;
		const char *answer;
	} cases[] = {
		{ 23, "select $1 + 1", "41", "42" },
		{ 20, "select $1 + 1", " 41\t", "42" },
		{ 701, "select $1 * 2", "1.25e1", "25" },
		{ 16, "select case when $1 then 'y' else 'n' end", "f", "n" },
		{ 16, "select case when $1 then 'y' else 'n' end", "TRUE", "y" },
		{ 17, "select hex($1)", "\\x00ff", "00FF" },
		{ 17, "select hex($1)", "a\\000b", "610062" },
		{ 1082, "select $1", "2024-02-29", "2024-02-29" },
		{ 25, "select $1", "it's \\ $1", "it's \\ $1" },
		{ 3802, "select $1", "[1]", "[1]" },
		{ 0, "select $1", "", "" },
		{ 0, "select $1", NULL, NULL },
	};
	static const struct {
		Oid type;
		const char *value;
		const char *sqlstate;
	} bad[] = {
		{ 23, "x", "22P02" },
		{ 23, "", "22P02" },
		{ 23, "1 2", "22P02" },
		{ 21, "32768", "22003" },
		{ 20, "9223372036854775808", "22003" },
		{ 701, "1,5", "22P02" },
		{ 701, "1e999", "22003" },
		{ 1700, "1.2.3", "22P02" },
		{ 16, "maybe", "22P02" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		PGresult *res = with_text(f, cases[i].sql, cases[i].type, cases[i].value);
		const char *text;

		status_is(f, res, PGRES_TUPLES_OK);
		text = f->pq.f.PQgetvalue(res, 0, 0);
		assert_int_equal(f->pq.f.PQgetisnull(res, 0, 0), cases[i].answer == NULL);
		/* a server may return 25 or 25.0 */
		if (cases[i].type == 701)
			assert_int_equal(atoi(text), atoi(cases[i].answer));
		else if (cases[i].answer != NULL)
			assert_string_equal(text, cases[i].answer);
		f->pq.f.PQclear(res);
	}
	for (size_t i = 0; i < CNT_COUNT(bad); i++)
		error_is(f, with_text(f, "select $1", bad[i].type, bad[i].value),
			bad[i].sqlstate, "parameter $1");
	gives(f, "select 1", "1");
}

static void
binary_values(void **state)
{
	static const struct {
		Oid type;
		int len;
		const char *sql;
		const char *bytes;
		const char *answer;
	} cases[] = {
		{ 21, 2, "select $1 + 1", "\xff\xfe", "-1" },
		{ 23, 4, "select $1 + 1", "\0\0\0\x29", "42" },
		{ 20, 8, "select $1 + 1", "\xff\xff\xff\xff\xff\xff\xff\xff", "0" },
		{ 26, 4, "select $1 + 1", "\xff\xff\xff\xff", "4294967296" },
		{ 16, 1, "select $1 + 1", "\1", "2" },
		{ 17, 3, "select hex($1)", "\0'\\", "00275C" },
		{ 0, 3, "select hex($1)", "\0'\\", "00275C" },
		{ 25, 3, "select $1", "a'\\", "a'\\" },
		{ 1700, 12, "select concat_($1)", "\0\2\0\0\x40\0\0\2\0\x0c\x13\x88",
			"-12.50" },
		{ 1082, 4, "select concat_($1)", "\0\0\x22\x79", "2024-02-29" },
		{ 1114, 8, "select concat_($1)", "\0\0\x00\x14\x1d\xe6\xa2\x40",
			"2000-01-02 00:00:01" },
		{ 1083, 8, "select concat_($1)", "\0\0\0\x0a\x8b\xe1\xbd\x20",
			"12:34:56.5" },
		{ 2950, 16, "select $1",
			"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee"
			"\xff",
			"00112233-4455-6677-8899-aabbccddeeff" },
		{ 3802, 4, "select $1", "\1[1]", "[1]" },
	};
	struct fixture *f = *state;
	char sql[128];
	PGresult *res;

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		const char *part = strstr(cases[i].sql, "concat_");

		snprintf(sql, sizeof(sql), "%s", cases[i].sql);
		if (part != NULL)
			snprintf(sql, sizeof(sql), "select cast($1 as char(30))");
		res = with_bytes(f, sql, cases[i].type, cases[i].bytes, cases[i].len);
		status_is(f, res, PGRES_TUPLES_OK);
		/* MariaDB shows microseconds */
		assert_int_equal(strncmp(f->pq.f.PQgetvalue(res, 0, 0), cases[i].answer,
					 strlen(cases[i].answer)),
			0);
		f->pq.f.PQclear(res);
	}
	error_is(f, with_bytes(f, "select $1", 23, "\0\0\0", 3), "22P03", "parameter $1");
	error_is(f, with_bytes(f, "select $1", 1186, "\0\0\0", 3), "0A000",
		f->kind->title);
	error_is(f,
		with_bytes(f, "select $1", 1114, "\x7f\xff\xff\xff\xff\xff\xff\xff", 8),
		"22003", "out of range");
}

/* ---- prepared statements ---- */

static PGresult *
prepare(struct fixture *f, const char *name, const char *sql)
{
	static const Oid types[] = { 23 };

	return f->pq.f.PQprepare(f->conn, name, sql, 1, types);
}

static PGresult *
execute(struct fixture *f, const char *name, int n)
{
	static const char *const values[] = { "7", "8", "9" };

	return f->pq.f.PQexecPrepared(f->conn, name, n, values, NULL, NULL, 0);
}

static void
statements_have_names(void **state)
{
	struct fixture *f = *state;
	PGresult *res;

	ok(f, prepare(f, "one", "select $1 + 1 as a, $2 as b"));
	value_is(f, execute(f, "one", 2), "8");
	value_is(f, execute(f, "one", 2), "8");
	error_is(f, execute(f, "one", 3), "08P01", "\"one\" requires 2");
	error_is(f, execute(f, "One", 2), "26000", "\"One\" does not exist");
	error_is(f, prepare(f, "one", "select 2"), "42P05", "\"one\" already exists");
	/* a statement that cannot be prepared leaves no name behind */
	res = prepare(f, "bad", "select * from nowhere where a = $1");
	error_is(f, res, "42P01", "nowhere");
	error_is(f, execute(f, "bad", 1), "26000", "does not exist");
	/* a new unnamed statement replaces the old one */
	ok(f, prepare(f, "", "select 1"));
	ok(f, prepare(f, "", "select 2"));
	value_is(f, execute(f, "", 0), "2");

	res = f->pq.f.PQdescribePrepared(f->conn, "one");
	status_is(f, res, PGRES_COMMAND_OK);
	assert_int_equal(f->pq.f.PQnparams(res), 2);
	assert_int_equal(f->pq.f.PQparamtype(res, 0), 23);
	assert_int_equal(f->pq.f.PQparamtype(res, 1), 25);
	assert_int_equal(f->pq.f.PQnfields(res), 2);
	assert_string_equal(f->pq.f.PQfname(res, 1), "b");
	f->pq.f.PQclear(res);
	error_is(f, f->pq.f.PQdescribePrepared(f->conn, "two"), "26000", "two");

	run(f, "deallocate ONE", "DEALLOCATE");
	error_is(f, execute(f, "one", 2), "26000", "does not exist");
	ok(f, prepare(f, "Two", "select 2"));
	run(f, "deallocate prepare \"Two\"", "DEALLOCATE");
	ok(f, prepare(f, "x", "select 2"));
	ok(f, f->pq.f.PQclosePrepared(f->conn, "x"));
	ok(f, f->pq.f.PQclosePrepared(f->conn, "x"));
	ok(f, prepare(f, "x", "select 3"));
	run(f, "deallocate all", "DEALLOCATE ALL");
	error_is(f, execute(f, "x", 0), "26000", "does not exist");
	error_is(f, f->pq.f.PQdescribePortal(f->conn, "p"), "34000", "cursors");
	ok(f, f->pq.f.PQclosePortal(f->conn, "p"));
}

static void
prepared_writes_have_tags(void **state)
{
	struct fixture *f = *state;
	PGresult *res;

	run(f, "drop table if exists pw", "DROP TABLE");
	run(f, "create table pw (a integer)", "CREATE TABLE");
	ok(f, prepare(f, "w", "insert into pw values ($1), ($1)"));
	for (int i = 0; i < 2; i++) {
		res = execute(f, "w", 1);
		status_is(f, res, PGRES_COMMAND_OK);
		assert_string_equal(f->pq.f.PQcmdStatus(res), "INSERT 0 2");
		f->pq.f.PQclear(res);
	}
	gives(f, "select count(*) from pw where a = 7", "4");
}

static void
a_reset_forgets_all(void **state)
{
	struct fixture *f = *state;

	ok(f, prepare(f, "kept", "select 1"));
	f->pq.f.PQreset(f->conn);
	assert_int_equal(f->pq.f.PQstatus(f->conn), CONNECTION_OK);
	error_is(f, execute(f, "kept", 0), "26000", "does not exist");
	gives(f, "select 1", "1");
	assert_int_equal(f->pq.f.PQserverVersion(f->conn), 150000);
}

/* ---- rows one by one, pipelines ---- */

#define NUMBERS "select 1 as n union all select 2 union all select 3"

static void
rows_one_by_one(void **state)
{
	struct fixture *f = *state;
	PGresult *res;
	char number[2] = "1";

	assert_int_equal(f->pq.f.PQsendQuery(f->conn, NUMBERS), 1);
	assert_int_equal(f->pq.f.PQsetSingleRowMode(f->conn), 1);
	for (; *number < '4'; ++*number) {
		res = f->pq.f.PQgetResult(f->conn);
		status_is(f, res, PGRES_SINGLE_TUPLE);
		assert_string_equal(f->pq.f.PQgetvalue(res, 0, 0), number);
		f->pq.f.PQclear(res);
	}
	res = f->pq.f.PQgetResult(f->conn);
	status_is(f, res, PGRES_TUPLES_OK);
	assert_string_equal(f->pq.f.PQcmdStatus(res), "SELECT 3");
	f->pq.f.PQclear(res);
	assert_null(f->pq.f.PQgetResult(f->conn));
}

/* The value in the second row has another type. The program gets the first row, then an error. */
static void
a_row_that_cannot_be_given(void **state)
{
	struct fixture *f = *state;
	PGresult *res;

	if (f->kind->is_mariadb)
		return;
	assert_int_equal(f->pq.f.PQsendQueryParams(f->conn,
				 "select 1 as n union all select 'x' union all select 3",
				 0, NULL, NULL, NULL, NULL, 1),
		1);
	assert_int_equal(f->pq.f.PQsetSingleRowMode(f->conn), 1);
	res = f->pq.f.PQgetResult(f->conn);
	status_is(f, res, PGRES_SINGLE_TUPLE);
	assert_int_equal(f->pq.f.PQgetlength(res, 0, 0), 8);
	f->pq.f.PQclear(res);
	error_is(f, f->pq.f.PQgetResult(f->conn), "22018", "no bigint");
	assert_null(f->pq.f.PQgetResult(f->conn));
	gives(f, "select 1", "1");
}

static void
next_in_pipeline(struct fixture *f, ExecStatusType status, const char *value)
{
	PGresult *res = f->pq.f.PQgetResult(f->conn);

	assert_non_null(res);
	assert_int_equal(f->pq.f.PQresultStatus(res), status);
	if (value != NULL)
		assert_string_equal(f->pq.f.PQgetvalue(res, 0, 0), value);
	f->pq.f.PQclear(res);
	if (status != PGRES_PIPELINE_SYNC)
		assert_null(f->pq.f.PQgetResult(f->conn));
}

static int
send_value(struct fixture *f, const char *sql, const char *value)
{
	return f->pq.f.PQsendQueryParams(
		f->conn, sql, value != NULL, NULL, &value, NULL, NULL, 0);
}

static void
pipelines(void **state)
{
	static const char *const values[] = { "5" };
	struct fixture *f = *state;
	struct cnt_pq *pq = &f->pq;

	assert_int_equal(pq->f.PQenterPipelineMode(f->conn), 1);
	assert_int_equal(send_value(f, "select $1", "a"), 1);
	assert_int_equal(pq->f.PQsendPrepare(f->conn, "pp", "select $1 + 1", 0, NULL), 1);
	assert_int_equal(
		pq->f.PQsendQueryPrepared(f->conn, "pp", 1, values, NULL, NULL, 0), 1);
	assert_int_equal(send_value(f, "set datestyle to iso", NULL), 1);
	/* a statement that the shim cannot run fails at once, and does not abort the pipeline */
	assert_int_equal(send_value(f, "listen x", NULL), 0);
	assert_non_null(strstr(pq->f.PQerrorMessage(f->conn), "LISTEN"));
	assert_int_equal(send_value(f, "select * from nowhere", NULL), 1);
	assert_int_equal(pq->f.PQsendPrepare(f->conn, "qq", "select 1", 0, NULL), 1);
	assert_int_equal(send_value(f, "set datestyle to iso", NULL), 1);
	assert_int_equal(pq->f.PQpipelineSync(f->conn), 1);
	assert_int_equal(send_value(f, "select $1", "b"), 1);
	assert_int_equal(pq->f.PQpipelineSync(f->conn), 1);

	next_in_pipeline(f, PGRES_TUPLES_OK, "a");
	next_in_pipeline(f, PGRES_COMMAND_OK, NULL);
	next_in_pipeline(f, PGRES_TUPLES_OK, "6");
	next_in_pipeline(f, PGRES_COMMAND_OK, NULL);
	next_in_pipeline(f, PGRES_FATAL_ERROR, NULL);
	next_in_pipeline(f, PGRES_PIPELINE_ABORTED, NULL);
	next_in_pipeline(f, PGRES_PIPELINE_ABORTED, NULL);
	next_in_pipeline(f, PGRES_PIPELINE_SYNC, NULL);
	next_in_pipeline(f, PGRES_TUPLES_OK, "b");
	next_in_pipeline(f, PGRES_PIPELINE_SYNC, NULL);
	assert_int_equal(pq->f.PQexitPipelineMode(f->conn), 1);
	/* the pipeline skipped this statement, so its name does not exist */
	error_is(f, execute(f, "qq", 0), "26000", "does not exist");
	value_is(f, execute(f, "pp", 1), "8");
}

/* Ask for the answer and wait until it has arrived, but do not take it. */
static void
await_answer(struct fixture *f)
{
	struct pollfd p = { .fd = f->pq.f.PQsocket(f->conn), .events = POLLIN };

	assert_int_equal(f->pq.f.PQsendFlushRequest(f->conn), 1);
	assert_int_equal(f->pq.f.PQflush(f->conn), 0);
	while (f->pq.f.PQisBusy(f->conn)) {
		assert_int_equal(poll(&p, 1, 10000), 1);
		assert_int_equal(f->pq.f.PQconsumeInput(f->conn), 1);
	}
}

static void
a_failure_that_is_not_taken_yet(void **state)
{
	struct fixture *f = *state;
	struct cnt_pq *pq = &f->pq;

	assert_int_equal(pq->f.PQenterPipelineMode(f->conn), 1);
	assert_int_equal(
		pq->f.PQsendPrepare(f->conn, "bad", "select * from nowhere", 0, NULL), 1);
	await_answer(f);
	assert_int_equal(pq->f.PQsendDescribePrepared(f->conn, "bad"), 1);
	assert_int_equal(pq->f.PQpipelineSync(f->conn), 1);
	next_in_pipeline(f, PGRES_FATAL_ERROR, NULL);
	next_in_pipeline(f, PGRES_PIPELINE_ABORTED, NULL);
	next_in_pipeline(f, PGRES_PIPELINE_SYNC, NULL);
	assert_int_equal(pq->f.PQexitPipelineMode(f->conn), 1);
}

static void
procedures_with_parameters(void **state)
{
	static const char *const texts[] = { "call pr($1)", "call pr(7)" };
	struct fixture *f = *state;
	struct cnt_pq *pq = &f->pq;

	if (!f->kind->is_mariadb)
		return;
	run(f, "drop procedure if exists pr", "DROP PROCEDURE");
	run(f, "create procedure pr(n int) begin select n; select n + 1; end",
		"CREATE PROCEDURE");
	run(f, "drop procedure if exists pf", "DROP PROCEDURE");
	run(f,
		"create procedure pf() begin select 1;"
		" signal sqlstate '45000' set message_text = 'failed'; end",
		"CREATE PROCEDURE");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(send_value(f, texts[i], i == 0 ? "7" : NULL), 1);
		value_is(f, pq->f.PQgetResult(f->conn), "7");
		value_is(f, pq->f.PQgetResult(f->conn), "8");
		ok(f, pq->f.PQgetResult(f->conn));
		assert_null(pq->f.PQgetResult(f->conn));
	}
	/* in a pipeline a call returns its first result only, or its error */
	assert_int_equal(pq->f.PQenterPipelineMode(f->conn), 1);
	assert_int_equal(send_value(f, "call pr($1)", "7"), 1);
	assert_int_equal(send_value(f, "select $1", "a"), 1);
	assert_int_equal(send_value(f, "call pf()", NULL), 1);
	assert_int_equal(send_value(f, "select $1", "b"), 1);
	assert_int_equal(pq->f.PQpipelineSync(f->conn), 1);
	next_in_pipeline(f, PGRES_TUPLES_OK, "7");
	next_in_pipeline(f, PGRES_TUPLES_OK, "a");
	next_in_pipeline(f, PGRES_FATAL_ERROR, NULL);
	next_in_pipeline(f, PGRES_PIPELINE_ABORTED, NULL);
	next_in_pipeline(f, PGRES_PIPELINE_SYNC, NULL);
	assert_int_equal(pq->f.PQexitPipelineMode(f->conn), 1);
}

/* ---- transactions ---- */

static void
transactions(void **state)
{
	struct fixture *f = *state;
	struct cnt_pq *pq = &f->pq;

	run(f, "drop table if exists x", "DROP TABLE");
	run(f, "create table x (a integer)", "CREATE TABLE");
	assert_int_equal(pq->f.PQtransactionStatus(f->conn), PQTRANS_IDLE);
	run(f, "begin isolation level serializable, read write", "BEGIN");
	assert_int_equal(pq->f.PQtransactionStatus(f->conn), PQTRANS_INTRANS);
	fails(f, "begin work", "25001", "transaction");
	run(f, "insert into x values (1)", "INSERT 0 1");
	run(f, "savepoint s", "SAVEPOINT");
	run(f, "insert into x values (2)", "INSERT 0 1");
	run(f, "rollback to savepoint s", "ROLLBACK");
	run(f, "end transaction;", "COMMIT");
	assert_int_equal(pq->f.PQtransactionStatus(f->conn), PQTRANS_IDLE);
	gives(f, "select count(*) from x", "1");
	run(f, "start transaction read only not deferrable", "BEGIN");
	fails(f, "delete from x", "25006", "");
	run(f, "abort", "ROLLBACK");
	run(f, "commit work", "COMMIT");
	run(f, "rollback and no chain", "ROLLBACK");
	gives(f, "select count(*) from x", "1");
}

/* ---- what is refused ---- */

static void
what_only_postgresql_has(void **state)
{
	static const char *const statements[] = { "copy x from stdin",
		"COPY x to stdout;", "/**/ listen c", "unlisten *", "notify c, 'x'",
		"declare c cursor for select 1", "fetch all from c", "discard all" };
	struct fixture *f = *state;
	struct cnt_pq *pq = &f->pq;
	char out[8] = "";
	int len = 0, value = 0;

	for (size_t i = 0; i < CNT_COUNT(statements); i++)
		fails(f, statements[i], "0A000", f->kind->title);
	error_is(f, pq->f.PQfn(f->conn, 1, &value, &len, 1, NULL, 0), "0A000",
		f->kind->is_mariadb ? "the only command that is called by its number"
				    : "backend of this pool has no calls of functions");
	assert_int_equal(pq->f.lo_open(f->conn, 1, 0x40000), -1);
	assert_non_null(strstr(pq->f.PQerrorMessage(f->conn), "no large objects"));
	assert_int_equal(pq->f.PQputCopyData(f->conn, out, 1), -1);
	fails(f, "set client_encoding to 'latin1'", "0A000",
		"client_encoding \"latin1\"");
	assert_int_equal(pq->f.PQsetClientEncoding(f->conn, "LATIN1"), -1);
	fails(f, "set datestyle to 'german'", "0A000", "datestyle");
	fails(f, "set search_path = x", "42704", "search_path");
	fails(f, "begin isolation level none", "42601", "");
	gives(f, "select 1", "1");
}

static void
errors_have_postgresqls_states(void **state)
{
	struct fixture *f = *state;

	run(f, "drop table if exists e", "DROP TABLE");
	run(f, "create table e (a integer primary key, b integer not null check (b > 0))",
		"CREATE TABLE");
	run(f, "insert into e values (1, 1)", "INSERT 0 1");
	fails(f, "insert into e values (1, 1)", "23505", "");
	fails(f, "insert into e values (2, null)", "23502", "");
	fails(f, "insert into e values (2, -1)", "23514", "");
	fails(f, "select * from nowhere", "42P01", "nowhere");
	fails(f, "select nosuch from e", "42703", "nosuch");
	fails(f, "selekt 1", "42601", "selekt");
	fails(f, "create table e (a integer)", "42P07", "already exists");
	fails(f, "select a from e, e as e2", "42702", "a");
	fails(f, "select nosuchfunction(1)", "42883", "");
	gives(f, "select 1", "1");
}

/* ---- server version and settings ---- */

static void
facts(void **state)
{
	struct fixture *f = *state;
	struct cnt_pq *pq = &f->pq;
	const char *version = pq->f.PQparameterStatus(f->conn, "server_version");

	assert_int_equal(pq->f.PQserverVersion(f->conn), 150000);
	assert_int_equal(strncmp(version, "15.0 (", 6), 0);
	assert_non_null(strstr(version, f->kind->title));
	assert_true(pq->f.PQbackendPID(f->conn) > 0);
	assert_string_equal(pq->f.PQparameterStatus(f->conn, "client_encoding"), "UTF8");
	assert_int_equal(pq->f.PQclientEncoding(f->conn), 6);
	assert_string_equal(pq->f.PQparameterStatus(f->conn, "server_encoding"), "UTF8");
	assert_string_equal(pq->f.PQparameterStatus(f->conn, "DateStyle"), "ISO, YMD");
	assert_string_equal(pq->f.PQparameterStatus(f->conn, "integer_datetimes"), "on");
	assert_string_equal(
		pq->f.PQparameterStatus(f->conn, "session_authorization"), "otto");
	assert_string_equal(pq->f.PQparameterStatus(f->conn, "application_name"), "it");
	assert_non_null(pq->f.PQparameterStatus(f->conn, "TimeZone"));
	assert_null(pq->f.PQparameterStatus(f->conn, "nothing"));
	run(f, "set client_encoding to 'UTF-8'", "SET");
	run(f, "SET SESSION client_encoding = unicode;", "SET");
	run(f, "set datestyle to iso, mdy", "SET");
	run(f, "set application_name = 'x'", "SET");
	run(f, "set extra_float_digits to 3", "SET");
	assert_int_equal(pq->f.PQsetClientEncoding(f->conn, "UTF8"), 0);
}

static void
encodings_at_connect(void **state)
{
	struct fixture *f = *state;
	PGconn *conn = f->pq.f.PQconnectdb("client_encoding=LATIN1");

	assert_int_equal(f->pq.f.PQstatus(conn), CONNECTION_BAD);
	assert_non_null(strstr(f->pq.f.PQerrorMessage(conn), "LATIN1"));
	f->pq.f.PQfinish(conn);
	conn = f->pq.f.PQconnectdb("client_encoding=auto options='-c geqo=off'");
	assert_int_equal(f->pq.f.PQstatus(conn), CONNECTION_OK);
	f->pq.f.PQfinish(conn);
}

/* ---- escaping ---- */

static void
random_text(struct cnt_random *rnd, char *out, size_t max)
{
	static const char *const parts[] = { "'", "\\", "\"", "`", "a", ";", "--",
		"\xc3\xbc", "\xe7\xb8\x97", "$1", "\n", "%" };
	size_t n = cnt_random_size(rnd, max / 4);

	*out = '\0';
	for (size_t i = 0; i < n; i++)
		strcat(out, parts[cnt_random_below(rnd, CNT_COUNT(parts))]);
}

/* An escaped text comes back unchanged, as one value. */
static void
escaped_texts_come_back(struct fixture *f, struct cnt_random *rnd, int rounds)
{
	char text[64], sql[512], escaped[160];

	for (int i = 0; i < rounds; i++) {
		char *literal, *name;
		PGresult *res;

		/* MariaDB drops blanks around a name */
		strcpy(text, "n");
		random_text(rnd, text + 1, sizeof(text) - 8);
		strcat(text, "n");
		literal = f->pq.f.PQescapeLiteral(f->conn, text, strlen(text));
		name = f->pq.f.PQescapeIdentifier(f->conn, text, strlen(text));
		assert_non_null(literal);
		f->pq.f.PQescapeStringConn(f->conn, escaped, text, strlen(text), NULL);
		snprintf(sql, sizeof(sql), "select %s as %s, '%s'", literal, name,
			escaped);
		res = query(f, sql);
		status_is(f, res, PGRES_TUPLES_OK);
		assert_int_equal(f->pq.f.PQnfields(res), 2);
		assert_string_equal(f->pq.f.PQgetvalue(res, 0, 0), text);
		assert_string_equal(f->pq.f.PQgetvalue(res, 0, 1), text);
		assert_string_equal(f->pq.f.PQfname(res, 0), text);
		f->pq.f.PQclear(res);
		f->pq.f.PQfreemem(literal);
		f->pq.f.PQfreemem(name);
	}
}

static void
escaping_is_the_servers(void **state)
{
	struct fixture *f = *state;
	struct cnt_random rnd;
	size_t n = 0;

	cnt_random_init_printed(&rnd);
	escaped_texts_come_back(f, &rnd, 300);
	assert_null(
		f->pq.f.PQescapeByteaConn(f->conn, (const unsigned char *)"x", 1, &n));
	assert_non_null(strstr(f->pq.f.PQerrorMessage(f->conn), "bytea"));
	if (!f->kind->is_mariadb) {
		assert_string_equal(
			f->pq.f.PQparameterStatus(f->conn, "standard_conforming_strings"),
			"on");
		return;
	}
	assert_null(f->pq.f.PQparameterStatus(f->conn, "standard_conforming_strings"));
	fails(f, "set standard_conforming_strings = on", "0A000", "strings");
	run(f, "set sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'", "SET");
	assert_string_equal(
		f->pq.f.PQparameterStatus(f->conn, "standard_conforming_strings"), "on");
	escaped_texts_come_back(f, &rnd, 300);
	run(f, "set sql_mode = ''", "SET");
	assert_null(f->pq.f.PQparameterStatus(f->conn, "standard_conforming_strings"));
	escaped_texts_come_back(f, &rnd, 100);
	/* in GBK a backslash can be the second byte of a character */
	run(f, "set names gbk", "SET");
	assert_string_equal(f->pq.f.PQparameterStatus(f->conn, "client_encoding"), "GBK");
	run(f, "set names utf8mb4", "SET");
	assert_string_equal(
		f->pq.f.PQparameterStatus(f->conn, "client_encoding"), "UTF8");
}

int
main(int argc, char **argv)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, connect_each, finish_each)
	const struct CMUnitTest tests[] = {
		EACH(text_is_postgresqls),
		EACH(binary_is_postgresqls),
		EACH(values_of_another_type),
		EACH(tags_are_postgresqls),
		EACH(several_statements_have_a_tag_each),
		EACH(procedures_keep_the_tags_in_step),
		EACH(a_request_with_parameters_is_one_statement),
		EACH(a_second_statement_cannot_hide),
		EACH(placeholders_in_every_order),
		EACH(placeholders_without_values),
		EACH(typed_values),
		EACH(binary_values),
		EACH(statements_have_names),
		EACH(prepared_writes_have_tags),
		EACH(a_reset_forgets_all),
		EACH(rows_one_by_one),
		EACH(a_row_that_cannot_be_given),
		EACH(pipelines),
		EACH(a_failure_that_is_not_taken_yet),
		EACH(procedures_with_parameters),
		EACH(transactions),
		EACH(what_only_postgresql_has),
		EACH(errors_have_postgresqls_states),
		EACH(facts),
		EACH(encodings_at_connect),
		EACH(escaping_is_the_servers),
	};

	the.kind = argc > 1 && strcmp(argv[1], "mariadb") == 0 ? &mariadb : &sqlite;
	if (the.kind->is_mariadb)
		cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests_name(the.kind->name, tests, setup, teardown);
}
