/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "support/cnt_server.h"

/* \d and similar commands, on a server of each kind. */

static struct cnt_daemon daemon_of_all;
static struct cnt_server servers[2];

/* The tables for the tests. Servers differ in the type of a key and in a rule. */
#define TABLES(int_key, on_update)                                                       \
	"create table parent(id " int_key " primary key, code varchar(20) not null "     \
	"unique, price decimal(10,2) default 0 check (price >= 0), constraint named "    \
	"check (id > 0 and code <> ')'));"                                               \
	"create table child(a int, b varchar(9), pid int not null references "           \
	"parent(id) on delete cascade on update " on_update ", pcode varchar(20), "      \
	"constraint by_code foreign key (pcode) references parent(code), "               \
	"primary key (a, b));"                                                           \
	"create index child_b on child(b desc, pid);"

/* The daemon with the URI of another pool; static, one at a time. */
static struct cnt_daemon *
pool(const char *name)
{
	static struct cnt_daemon other;

	other = daemon_of_all;
	(void)snprintf(other.uri, sizeof(other.uri), "cenote:///%s?run_dir=%s", name,
		daemon_of_all.run_dir);
	return &other;
}

static int
set_up(void **state)
{
	char config[2048];

	if (cnt_server_start(&servers[CNT_POSTGRESQL], CNT_POSTGRESQL, 0) < 0 ||
		cnt_server_start(&servers[CNT_MARIADB], CNT_MARIADB, 0) < 0)
		return -1;
	(void)snprintf(config, sizeof(config),
		CNT_DAEMON_CONFIG
		"\n[pool pg]\nbackend = postgresql\nserver = %s\nsessions = 1..4\n"
		"\n[pool my]\nbackend = mysql\nserver = %s\nsessions = 1..4\n",
		servers[CNT_POSTGRESQL].server_line, servers[CNT_MARIADB].server_line);
	return cnt_daemon_start(&daemon_of_all, config);
}

static int
tear_down(void **state)
{
	int r = cnt_daemon_stop(&daemon_of_all);

	cnt_server_stop(&servers[CNT_POSTGRESQL]);
	cnt_server_stop(&servers[CNT_MARIADB]);
	return r;
}

static void
sqlite_tells_of_a_table_as_psql_does(void **state)
{
	struct cnt_daemon *d = pool("main");

	assert_runs(d, 0, "", "", "-q", "-c", TABLES("int", "set null"), "-c",
		"create view seen as select a from child");
	assert_runs(d, 0,
		"Table \"main.child\"\n"
		" Column | Type        | Nullable | Default\n"
		"--------+-------------+----------+---------\n"
		" a      | INT         |          | \n"
		" b      | varchar(9)  |          | \n"
		" pid    | INT         | not null | \n"
		" pcode  | varchar(20) |          | \n"
		"Indexes:\n"
		"    PRIMARY KEY (a, b)\n"
		"    \"sqlite_autoindex_child_1\" UNIQUE (a, b)\n"
		"    \"child_b\" (b DESC, pid)\n"
		"Foreign-key constraints:\n"
		"    FOREIGN KEY (pcode) REFERENCES parent(code)\n"
		"    FOREIGN KEY (pid) REFERENCES parent(id) ON UPDATE SET NULL ON "
		"DELETE CASCADE\n\n",
		"", "-c", "\\d child");
	assert_runs(d, 0,
		"Table \"main.parent\"\n"
		" Column | Type          | Nullable | Default\n"
		"--------+---------------+----------+---------\n"
		" id     | INT           |          | \n"
		" code   | varchar(20)   | not null | \n"
		" price  | decimal(10,2) |          | 0\n"
		"Indexes:\n"
		"    PRIMARY KEY (id)\n"
		"    \"sqlite_autoindex_parent_1\" UNIQUE (id)\n"
		"    \"sqlite_autoindex_parent_2\" UNIQUE (code)\n"
		"Check constraints:\n"
		"    CHECK (price >= 0)\n"
		"    \"named\" CHECK (id > 0 and code <> ')')\n"
		"Referenced by:\n"
		"    TABLE \"child\" FOREIGN KEY (pcode) REFERENCES parent(code)\n"
		"    TABLE \"child\" FOREIGN KEY (pid) REFERENCES parent(id) ON UPDATE "
		"SET NULL ON DELETE CASCADE\n\n",
		"", "-c", "\\d parent");
	assert_runs(d, 0,
		"View \"main.seen\"\n"
		" Column | Type | Nullable | Default\n"
		"--------+------+----------+---------\n"
		" a      | INT  |          | \n\n",
		"", "-c", "\\d se?n");
	/* In a format for programs, only the columns are shown. */
	assert_runs(d, 0, "Column,Type,Nullable,Default\na,INT,,\n", "", "--format=csv",
		"-c", "\\d seen");
	assert_runs(d, 1, "", "sqlsh: there is no table or view of that name\n", "-c",
		"\\d none");
	assert_runs(d, 1, "",
		"sqlsh: \\du: users of this kind of server cannot be listed\n", "-c",
		"\\du");
}

static void
postgresql_tells_of_a_table_as_psql_does(void **state)
{
	struct cnt_daemon *d = pool("pg");

	assert_runs(d, 0, "", "", "-q", "-c", TABLES("int", "set null"), "-c",
		"create schema other; create table other.child(x int);"
		"comment on column child.b is 'the second'; create index partly on "
		"parent(price) where id > 5");
	assert_runs(d, 0,
		"Table \"public.parent\"\n"
		" Column | Type          | Nullable | Default\n"
		"--------+---------------+----------+---------\n"
		" id     | int4          | not null | \n"
		" code   | varchar(20)   | not null | \n"
		" price  | numeric(10,2) |          | 0\n"
		"Indexes:\n"
		"    \"parent_pkey\" PRIMARY KEY (id)\n"
		"    \"parent_code_key\" UNIQUE (code)\n"
		"    \"partly\" (price) WHERE (id > 5)\n"
		"Check constraints:\n"
		"    \"named\" CHECK (((id > 0) AND ((code)::text <> ')'::text)))\n"
		"    \"parent_price_check\" CHECK ((price >= (0)::numeric))\n"
		"Referenced by:\n"
		"    TABLE \"child\" CONSTRAINT \"by_code\" FOREIGN KEY (pcode) "
		"REFERENCES parent(code)\n"
		"    TABLE \"child\" CONSTRAINT \"child_pid_fkey\" FOREIGN KEY (pid) "
		"REFERENCES parent(id) ON UPDATE SET NULL ON DELETE CASCADE\n\n",
		"", "-c", "\\d parent");
	/* Two tables with the same name are shown apart. \d+ shows comments of columns. */
	assert_runs(d, 0,
		"Table \"other.child\"\n"
		" Column | Type | Nullable | Default | Description\n"
		"--------+------+----------+---------+-------------\n"
		" x      | int4 |          |         | \n\n"
		"Table \"public.child\"\n"
		" Column | Type        | Nullable | Default | Description\n"
		"--------+-------------+----------+---------+-------------\n"
		" a      | int4        | not null |         | \n"
		" b      | varchar(9)  | not null |         | the second\n"
		" pid    | int4        | not null |         | \n"
		" pcode  | varchar(20) |          |         | \n"
		"Indexes:\n"
		"    \"child_pkey\" PRIMARY KEY (a, b)\n"
		"    \"child_b\" (b DESC, pid)\n"
		"Foreign-key constraints:\n"
		"    \"by_code\" FOREIGN KEY (pcode) REFERENCES parent(code)\n"
		"    \"child_pid_fkey\" FOREIGN KEY (pid) REFERENCES parent(id) ON "
		"UPDATE SET NULL ON DELETE CASCADE\n\n",
		"", "-c", "\\d+ child");
}

static void
postgresql_lists_functions_users_and_schemas(void **state)
{
	struct cnt_daemon *d = pool("pg");

	assert_runs(d, 0, "", "", "-q", "-c",
		"create function f_sum(a int, b int) returns int language sql as "
		"'select a + b'; create function f_sum() returns void language sql as "
		"'select 1'; create function f_two(a int, out b int, inout c text) "
		"language sql as $$ select 1, 'x'::text $$; create function f_rows() "
		"returns table(n int, t text) language sql as $$ select 1, 'x'::text $$; "
		"create procedure p_none(a text) language sql as 'select 1'");
	assert_runs(d, 0,
		" Schema | Name   | Result                | Arguments                    "
		"   "
		" | Type\n"
		"--------+--------+-----------------------+------------------------------"
		"---"
		"-+-----------\n"
		" public | f_rows | TABLE(n int4, t text) |                              "
		"   "
		" | function\n"
		" public | f_sum  | int4                  | a int4, b int4               "
		"   "
		" | function\n"
		" public | f_sum  |                       |                              "
		"   "
		" | function\n"
		" public | f_two  |                       | a int4, OUT b int4, INOUT c "
		"text"
		" | function\n"
		" public | p_none |                       | a text                       "
		"   "
		" | procedure\n"
		"(5 rows)\n\n",
		"", "-c", "\\df");
	assert_runs(d, 0, "pg_catalog,pg_backend_pid,int4,\"\",function\n", "",
		"--format=csv", "--no-header", "-c", "\\df pg_backend_pid");
	assert_runs(d, 0, "app,\"\",\ntls,\"\",app\n", "", "--format=csv", "--no-header",
		"-c", "\\du app", "-c", "\\du tl?");
	assert_runs(
		d, 0, "public\n", "", "--format=csv", "--no-header", "-c", "\\dn publ*");
}

static void
mariadb_tells_of_a_table_as_psql_does(void **state)
{
	struct cnt_daemon *d = pool("my");

	assert_runs(d, 0, "", "", "-q", "-c", TABLES("int", "cascade"), "-c",
		"create table app2.child(x int)");
	assert_runs(d, 0,
		"Table \"app.parent\"\n"
		" Column | Type          | Nullable | Default\n"
		"--------+---------------+----------+---------\n"
		" id     | int           | not null | \n"
		" code   | varchar(20)   | not null | \n"
		" price  | decimal(10,2) |          | 0.00\n"
		"Indexes:\n"
		"    \"PRIMARY\" PRIMARY KEY (id)\n"
		"    \"code\" UNIQUE (code)\n"
		"Check constraints:\n"
		"    \"named\" CHECK (`id` > 0 and `code` <> ')')\n"
		"    \"price\" CHECK (`price` >= 0)\n"
		"Referenced by:\n"
		"    TABLE \"child\" CONSTRAINT \"by_code\" FOREIGN KEY (pcode) "
		"REFERENCES parent(code) ON UPDATE RESTRICT ON DELETE RESTRICT\n"
		"    TABLE \"child\" CONSTRAINT \"child_ibfk_1\" FOREIGN KEY (pid) "
		"REFERENCES parent(id) ON UPDATE CASCADE ON DELETE CASCADE\n\n",
		"", "-c", "\\d parent");
	/* \d shows the session's database, or the database in the argument. */
	assert_runs(d, 0,
		"Database,Schema,Name,Type,Remarks\n"
		"app,,child,TABLE,\napp,,parent,TABLE,\n",
		"", "--format=csv", "-c", "\\d");
	assert_runs(d, 0, "x,int,,\n", "", "--format=csv", "--no-header", "-c",
		"\\d app2.child");
	assert_runs(d, 0, "x,int,,\n", "", "--format=csv", "--no-header", "-q", "-c",
		"use app2", "-c", "\\d child");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sqlite_tells_of_a_table_as_psql_does),
		cmocka_unit_test(postgresql_tells_of_a_table_as_psql_does),
		cmocka_unit_test(postgresql_lists_functions_users_and_schemas),
		cmocka_unit_test(mariadb_tells_of_a_table_as_psql_does),
	};

	cnt_server_need(CNT_POSTGRESQL);
	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
