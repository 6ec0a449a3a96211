/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The catalog lists of the MySQL backend, on a real MariaDB server.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* "-" means no filter. */
static const char *
list(struct my *t, uint8_t kind, const char *catalog, const char *object,
	const char *column, const char *types)
{
	struct cnp_catalog f = { .kind = kind,
		.catalog = cnp_str(catalog),
		.schema = CNP_STR_NONE,
		.object = cnp_str(object),
		.column = cnp_str(column),
		.types = cnp_str(types) };
	const char *log;

	f.given =
		(uint8_t)((strcmp(catalog, "-") ? 1 : 0) | (strcmp(object, "-") ? 4 : 0) |
			  (strcmp(column, "-") ? 8 : 0) | (strcmp(types, "-") ? 16 : 0));
	t->base.format = CENOTE_FORMAT_CANONICAL;
	log = my_catalog(t, &f);
	t->base.format = CENOTE_FORMAT_TEXT;
	return log;
}

static void
fill(struct my *t)
{
	static const char *const sql[] = {
		"drop view if exists v",
		"drop table if exists child, parent",
		"create table parent (a int, b varchar(10) comment 'words', c "
		"decimal(10, 2) "
		"unsigned default 1.5, primary key (b, a)) comment 'of all'",
		"create table child (id bigint unsigned auto_increment primary key, x "
		"int, "
		"y varchar(10) not null, f double, d datetime(3), n bit(9), e enum('p', "
		"'qq'), constraint fk foreign key (y, x) references parent (b, a) on "
		"delete cascade on update restrict)",
		"create view v as select a from parent",
		"create unique index by_x on child (x, y desc)",
		"drop procedure if exists p",
		"drop function if exists f",
		"create procedure p(in a int, out b int, inout c int) comment 'does' "
		"select "
		"1",
		"create function f(a int, b int) returns int return 1",
	};
	size_t i;

	for (i = 0; i < CNT_COUNT(sql); i++)
		assert_prefix(my_query(t, sql[i]), "done");
}

static void
databases_are_catalogs(void **state)
{
	struct my *t = *state;
	char all[200];

	snprintf(all, sizeof(all),
		"columns table_cat:TEXT remarks:TEXT\nrow app|NULL\nrow app2|NULL\n"
		"row information_schema|NULL\n%sdone \n",
		cnt_server_is_mysql() ? "row performance_schema|NULL\n" : "");
	assert_string_equal(list(t, CENOTE_CATALOG_DATABASES, "-", "-", "-", "-"), all);
	assert_contains(list(t, CENOTE_CATALOG_DATABASES, "app2", "-", "-", "-"),
		"\nrow app2|NULL\ndone");
	assert_string_equal(list(t, CENOTE_CATALOG_SCHEMAS, "-", "-", "-", "-"),
		"columns table_cat:TEXT table_schem:TEXT remarks:TEXT\ndone \n");
}

static void
tables_have_type_and_comment(void **state)
{
	struct my *t = *state;

	fill(t);
	assert_contains(list(t, CENOTE_CATALOG_TABLES, "app", "-", "-", "-"),
		"\nrow app|NULL|child|TABLE|NULL\nrow app|NULL|parent|TABLE|of all\n"
		"row app|NULL|v|VIEW|NULL\ndone");
	assert_contains(list(t, CENOTE_CATALOG_TABLES, "app", "-", "-", "VIEW"),
		"remarks:TEXT\nrow app|NULL|v|VIEW|NULL\ndone");
	assert_contains(
		list(t, CENOTE_CATALOG_TABLES, "app", "p%", "-", "'VIEW', 'TABLE'"),
		"remarks:TEXT\nrow app|NULL|parent|TABLE|of all\ndone");
	assert_contains(list(t, CENOTE_CATALOG_TABLES, "-", "columns", "-", "-"),
		"\nrow information_schema|NULL|COLUMNS|SYSTEM TABLE|NULL\n");
	/* An escaped wildcard matches only itself. */
	assert_contains(list(t, CENOTE_CATALOG_TABLES, "app", "paren\\_", "-", "-"),
		"TEXT\ndone");
}

static void
columns_are_described_as_odbc_does(void **state)
{
	struct my *t = *state;

	fill(t);
	assert_string_equal(
		strchr(list(t, CENOTE_CATALOG_COLUMNS, "app", "child", "-", "-"), '\n'),
		"\nrow app|NULL|child|id|-5|bigint "
		"unsigned|20|8|0|10|0|NULL|NULL|-5|NULL|"
		"NULL|1|NO"
		"\nrow app|NULL|child|x|4|int|10|4|0|10|1|NULL|NULL|4|NULL|NULL|2|YES"
		"\nrow "
		"app|NULL|child|y|12|varchar|10|40|NULL|NULL|0|NULL|NULL|12|NULL|40|3|"
		"NO"
		"\nrow "
		"app|NULL|child|f|8|double|53|8|NULL|2|1|NULL|NULL|8|NULL|NULL|4|YES"
		"\nrow "
		"app|NULL|child|d|93|datetime|23|16|3|NULL|1|NULL|NULL|9|3|NULL|5|YES"
		"\nrow "
		"app|NULL|child|n|-2|bit|2|2|NULL|NULL|1|NULL|NULL|-2|NULL|NULL|6|YES"
		"\nrow app|NULL|child|e|1|enum|2|8|NULL|NULL|1|NULL|NULL|1|NULL|8|7|YES"
		"\ndone \n");
	assert_string_equal(
		strchr(list(t, CENOTE_CATALOG_COLUMNS, "app", "parent", "c", "-"), '\n'),
		"\nrow app|NULL|parent|c|3|decimal "
		"unsigned|10|12|2|10|1|NULL|1.50|3|NULL|"
		"NULL|3|YES\ndone \n");
	assert_contains(
		list(t, CENOTE_CATALOG_COLUMNS, "app", "parent", "b", "-"), "|words|");
}

static void
keys_and_indexes_are_in_order(void **state)
{
	struct my *t = *state;

	fill(t);
	assert_string_equal(
		strchr(list(t, CENOTE_CATALOG_PRIMARY_KEYS, "app", "parent", "-", "-"),
			'\n'),
		"\nrow app|NULL|parent|b|1|PRIMARY\nrow "
		"app|NULL|parent|a|2|PRIMARY\ndone \n");
	assert_string_equal(
		strchr(list(t, CENOTE_CATALOG_FOREIGN_KEYS, "app", "child", "-", "-"),
			'\n'),
		"\nrow app|NULL|parent|b|app|NULL|child|y|1|1|0|fk|PRIMARY|7"
		"\nrow app|NULL|parent|a|app|NULL|child|x|2|1|0|fk|PRIMARY|7\ndone \n");
	assert_string_equal(
		strchr(list(t, CENOTE_CATALOG_INDEXES, "app", "child", "-", "-"), '\n'),
		"\nrow app|NULL|child|0|app|by_x|3|1|x|A|0|NULL|NULL"
		"\nrow app|NULL|child|0|app|by_x|3|2|y|D|0|NULL|NULL"
		"\nrow app|NULL|child|0|app|PRIMARY|3|1|id|A|0|NULL|NULL"
		"\nrow app|NULL|child|1|app|fk|3|1|y|A|0|NULL|NULL"
		"\nrow app|NULL|child|1|app|fk|3|2|x|A|0|NULL|NULL\ndone \n");
}

static void
procedures_count_their_parameters(void **state)
{
	struct my *t = *state;

	fill(t);
	assert_string_equal(
		strchr(list(t, CENOTE_CATALOG_PROCEDURES, "app", "-", "-", "-"), '\n'),
		"\nrow app|NULL|f|2|0|NULL|NULL|2\nrow app|NULL|p|2|2|NULL|does|1\ndone "
		"\n");
}

/* Each type in the list works in CREATE TABLE, with the parameters that the type asks for. */
static void
types_are_the_servers(void **state)
{
	struct my *t = *state;
	char *log = strdup(list(t, CENOTE_CATALOG_TYPES, "-", "-", "-", "-"));
	char *row, *rest = log, name[64], sql[200];
	long code, last = -1000;
	size_t len;
	int n = 0;

	assert_non_null(log);
	for (row = strtok_r(log, "\n", &rest); row; row = strtok_r(NULL, "\n", &rest)) {
		const char *with = "";

		if (strncmp(row, "row ", 4) != 0)
			continue;
		len = strcspn(row + 4, "|");
		snprintf(name, sizeof(name), "%.*s", (int)len, row + 4);
		code = strtol(row + 4 + len + 1, NULL, 10);
		assert_true(code >= last);
		last = code;
		if (strstr(row, "|length|"))
			with = "(10)";
		else if (strstr(row, "|values|"))
			with = "('a')";
		else if (strstr(row, "|precision,scale|"))
			with = "(10, 2)";
		/* "int unsigned" takes no parameters; "decimal unsigned" takes its size between
		 * the two words. */
		snprintf(sql, sizeof(sql), "create or replace table of_type (a %.*s%s%s)",
			(int)strcspn(name, " "), name, with, name + strcspn(name, " "));
		if (strstr(my_query(t, sql), "error") != NULL)
			fail_msg("%s", sql);
		n++;
	}
	/* MariaDB has vectors from 11.7 on; MySQL from 9.0 on, and neither UUIDs nor addresses */
	assert_int_equal(n, cnt_server_is_mysql() ? 36
			    : strcmp(my_value(t, "select version() >= '11.7'"), "1") == 0
				    ? 39
				    : 38);
	free(log);
}

/* With `name` as its filter, no list fails, and the list of tables is empty. */
static void
name_is_nothing_but_data(struct my *t, const char *name)
{
	uint8_t kind;

	for (kind = 1; kind <= 9; kind++) {
		(void)list(t, kind, name, name, name, name);
		if (t->base.last < 0)
			fail_msg("list %d of «%s»: %s", kind, name, t->base.seen.log);
	}
	assert_contains(list(t, CENOTE_CATALOG_TABLES, name, "-", "-", "-"),
		"remarks:TEXT\ndone");
}

/* A filter is data, whatever characters are in it and whatever sql_mode the session has. */
static void
filters_are_data(void **state)
{
	static const char *const modes[] = { "", "ansi", "no_backslash_escapes", "oracle",
		"pipes_as_concat,high_not_precedence" };
	static const char *const names[] = { "x' or '1' = '1", "x\\", "\\'", "\"", "`",
		"%\\", "", "\xf0\x9f\x98\x80" };
	struct my *t = *state;
	char sql[100];
	size_t i, k;

	fill(t);
	for (i = 0; i < CNT_COUNT(modes); i++) {
		snprintf(sql, sizeof(sql), "set sql_mode = '%s'", modes[i]);
		(void)my_query(t, sql);
		for (k = 0; k < CNT_COUNT(names); k++)
			name_is_nothing_but_data(t, names[k]);
	}
}

static void
filters_are_utf_8(void **state)
{
	struct my *t = *state;

	/* A filter that is not UTF-8 is an error. */
	assert_contains(list(t, CENOTE_CATALOG_TABLES, "\xe4", "-", "-", "-"),
		"Invalid utf8mb4 character string");
	(void)my_query(t, "set names latin1");
	(void)my_query(t, "create or replace table `\xe4` (a int)");
	assert_contains(list(t, CENOTE_CATALOG_TABLES, "app", "\xc3\xa4", "-", "-"),
		"\nrow app|NULL|\xc3\xa4|TABLE|NULL\ndone");
	(void)my_query(t, "drop table `\xe4`");
}

/* A list changes neither the transaction nor the last insert id. An unknown list is an error. */
static void
the_session_stays_as_it_is(void **state)
{
	struct my *t = *state;

	fill(t);
	(void)my_query(t, "insert into parent values (1, 'k', 1)");
	(void)my_query(t, "begin");
	(void)my_query(t, "insert into child (x, y) values (1, 'k')");
	(void)list(t, CENOTE_CATALOG_COLUMNS, "-", "-", "-", "-");
	assert_string_equal(my_tx(t), "open");
	assert_string_equal(my_value(t, "select last_insert_id()"), "1");
	(void)my_query(t, "rollback");
	assert_prefix(list(t, 13, "-", "-", "-", "-"),
		"error 22023 0 there is no catalog list 13");
	assert_prefix(list(t, 0, "-", "-", "-", "-"), "error 22023");
}

#define T(name) cmocka_unit_test_setup_teardown(name, my_setup, my_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(databases_are_catalogs),
		T(tables_have_type_and_comment),
		T(columns_are_described_as_odbc_does),
		T(keys_and_indexes_are_in_order),
		T(procedures_count_their_parameters),
		T(types_are_the_servers),
		T(filters_are_data),
		T(filters_are_utf_8),
		T(the_session_stays_as_it_is),
	};

	return my_main(tests, CNT_COUNT(tests), "mysql_catalog", 0);
}
