/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The catalog lists of the PostgreSQL backend, on a real server.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const char setup_sql[] =
	"create schema cat;"
	" create table cat.parent (a int, b text, c text, primary key (b, a));"
	" create domain cat.dom as numeric(10, 2) not null;"
	" create domain cat.dom2 as cat.dom;"
	" create type cat.mood as enum ('sad');"
	" create table cat.child (id serial primary key, b text, a int default 5,"
	"  gone int, x varchar(20), y cat.dom2, z timestamptz(3), t time,"
	"  ts timestamp(0), m cat.mood, ar int[], n numeric, ns numeric(5, -2),"
	"  by bytea, j jsonb, u uuid, f real, d double precision, bo bool, bi bit(8),"
	"  c char(5), na name, foreign key (b, a) references cat.parent"
	"  on delete cascade on update set null deferrable initially deferred);"
	" alter table cat.child drop column gone;"
	" comment on schema cat is 'cats'; comment on table cat.child is 'the child';"
	" comment on column cat.child.x is 'an x';"
	" create index cx on cat.child (lower(x), a desc) include (b) where a > 3;"
	" create index ch on cat.child using hash (a);"
	" create view cat.v as select * from cat.child;"
	" create materialized view cat.mv as select 1 as one;"
	" create table cat.part (a int primary key) partition by range (a);"
	" create table cat.part1 partition of cat.part for values from (0) to (10);"
	" create table cat.refpart (a int references cat.part);"
	" create foreign data wrapper cat_fdw;"
	" create server cat_server foreign data wrapper cat_fdw;"
	" create foreign table cat.far (a int) server cat_server;"
	" create table cat.\"a_b\" (a int); create table cat.\"axb\" (a int);"
	" create procedure cat.pr (in a int, inout b int) language sql as 'select 1';"
	" create function cat.fn (a int, out x int, out y int) returns setof record"
	"  language sql as 'select 1, 2'; comment on function cat.fn is 'a function'";

/* Every list begins with its columns. Names and types are the same as on every other backend. */
static const char *const heads[] = {
	[CENOTE_CATALOG_DATABASES] = "columns table_cat:TEXT remarks:TEXT\n",
	[CENOTE_CATALOG_SCHEMAS] =
		"columns table_cat:TEXT table_schem:TEXT remarks:TEXT\n",
	[CENOTE_CATALOG_TABLES] = "columns table_cat:TEXT table_schem:TEXT "
				  "table_name:TEXT table_type:TEXT remarks:TEXT\n",
	[CENOTE_CATALOG_COLUMNS] =
		"columns table_cat:TEXT table_schem:TEXT table_name:TEXT "
		"column_name:TEXT data_type:INT64 type_name:TEXT column_size:INT64 "
		"buffer_length:INT64 decimal_digits:INT64 num_prec_radix:INT64 "
		"nullable:INT64 remarks:TEXT column_def:TEXT sql_data_type:INT64 "
		"sql_datetime_sub:INT64 char_octet_length:INT64 ordinal_position:INT64 "
		"is_nullable:TEXT\n",
	[CENOTE_CATALOG_PRIMARY_KEYS] =
		"columns table_cat:TEXT table_schem:TEXT table_name:TEXT "
		"column_name:TEXT key_seq:INT64 pk_name:TEXT\n",
	[CENOTE_CATALOG_FOREIGN_KEYS] =
		"columns pktable_cat:TEXT pktable_schem:TEXT pktable_name:TEXT "
		"pkcolumn_name:TEXT fktable_cat:TEXT fktable_schem:TEXT "
		"fktable_name:TEXT fkcolumn_name:TEXT key_seq:INT64 update_rule:INT64 "
		"delete_rule:INT64 fk_name:TEXT pk_name:TEXT deferrability:INT64\n",
	[CENOTE_CATALOG_INDEXES] =
		"columns table_cat:TEXT table_schem:TEXT table_name:TEXT "
		"non_unique:INT64 index_qualifier:TEXT index_name:TEXT type:INT64 "
		"ordinal_position:INT64 column_name:TEXT asc_or_desc:TEXT "
		"cardinality:INT64 pages:INT64 filter_condition:TEXT\n",
	[CENOTE_CATALOG_TYPES] =
		"columns type_name:TEXT data_type:INT64 column_size:INT64 "
		"literal_prefix:TEXT literal_suffix:TEXT create_params:TEXT "
		"nullable:INT64 case_sensitive:INT64 searchable:INT64 "
		"unsigned_attribute:INT64 fixed_prec_scale:INT64 "
		"auto_unique_value:INT64 local_type_name:TEXT minimum_scale:INT64 "
		"maximum_scale:INT64 sql_data_type:INT64 sql_datetime_sub:INT64 "
		"num_prec_radix:INT64 interval_precision:INT64\n",
	[CENOTE_CATALOG_PROCEDURES] =
		"columns procedure_cat:TEXT procedure_schem:TEXT procedure_name:TEXT "
		"num_input_params:INT64 num_output_params:INT64 num_result_sets:INT64 "
		"remarks:TEXT procedure_type:INT64\n",
};

static void
check(struct pg *t, uint8_t kind, const char *schema, const char *object,
	const char *column, const char *types, const char *rows)
{
	const char *seen = pg_catalog(t, kind, schema, object, column, types);
	size_t n_head = strlen(heads[kind]);

	assert_true(strlen(seen) > n_head);
	assert_memory_equal(seen, heads[kind], n_head);
	if (strcmp(seen + n_head, rows) != 0)
		fprintf(stderr, "%s", seen + n_head);
	assert_string_equal(seen + n_head, rows);
}

/* The expected lists are the same whatever the client has set. */
static void
each_list_is_complete(struct pg *t)
{
	check(t, CENOTE_CATALOG_SCHEMAS, "ca%", NULL, NULL, NULL,
		"row app|cat|cats\ndone SELECT 1\n");
	check(t, CENOTE_CATALOG_TABLES, "cat", NULL, NULL, NULL,
		"row app|cat|far|FOREIGN TABLE|NULL\n"
		"row app|cat|mv|MATERIALIZED VIEW|NULL\n"
		"row app|cat|a_b|TABLE|NULL\nrow app|cat|axb|TABLE|NULL\n"
		"row app|cat|child|TABLE|the child\nrow app|cat|parent|TABLE|NULL\n"
		"row app|cat|part|TABLE|NULL\nrow app|cat|part1|TABLE|NULL\n"
		"row app|cat|refpart|TABLE|NULL\n"
		"row app|cat|v|VIEW|NULL\ndone SELECT 10\n");
	check(t, CENOTE_CATALOG_COLUMNS, "cat", "child", NULL, NULL,
		"row app|cat|child|id|4|int4|10|4|0|10|0|NULL|"
		"nextval('cat.child_id_seq'::regclass)|4|NULL|NULL|1|NO\n"
		"row "
		"app|cat|child|b|-1|text|NULL|NULL|NULL|NULL|1|NULL|NULL|-1|NULL|NULL|"
		"2|YES\n"
		"row app|cat|child|a|4|int4|10|4|0|10|1|NULL|5|4|NULL|NULL|3|YES\n"
		"row app|cat|child|x|12|varchar|20|80|NULL|NULL|1|an x|NULL|12|NULL|80|4|"
		"YES\n"
		"row app|cat|child|y|2|dom2|10|12|2|10|0|NULL|NULL|2|NULL|NULL|5|NO\n"
		"row app|cat|child|z|93|timestamptz|23|16|3|NULL|1|NULL|NULL|9|3|NULL|6|"
		"YES\n"
		"row app|cat|child|t|92|time|15|6|6|NULL|1|NULL|NULL|9|2|NULL|7|YES\n"
		"row app|cat|child|ts|93|timestamp|19|16|0|NULL|1|NULL|NULL|9|3|NULL|8|"
		"YES\n"
		"row "
		"app|cat|child|m|12|mood|NULL|NULL|NULL|NULL|1|NULL|NULL|12|NULL|NULL|"
		"9|YES\n"
		"row app|cat|child|ar|12|_int4|NULL|NULL|NULL|NULL|1|NULL|NULL|12|NULL|"
		"NULL|10|YES\n"
		"row app|cat|child|n|2|numeric|NULL|NULL|NULL|10|1|NULL|NULL|2|NULL|NULL|"
		"11|YES\n"
		"row "
		"app|cat|child|ns|2|numeric|5|7|-2|10|1|NULL|NULL|2|NULL|NULL|12|YES\n"
		"row app|cat|child|by|-4|bytea|NULL|NULL|NULL|NULL|1|NULL|NULL|-4|NULL|"
		"NULL|13|YES\n"
		"row "
		"app|cat|child|j|-1|jsonb|NULL|NULL|NULL|NULL|1|NULL|NULL|-1|NULL|NULL|"
		"14|YES\n"
		"row "
		"app|cat|child|u|-11|uuid|36|16|NULL|NULL|1|NULL|NULL|-11|NULL|NULL|15|"
		"YES\n"
		"row "
		"app|cat|child|f|7|float4|24|4|NULL|2|1|NULL|NULL|7|NULL|NULL|16|YES\n"
		"row "
		"app|cat|child|d|8|float8|53|8|NULL|2|1|NULL|NULL|8|NULL|NULL|17|YES\n"
		"row app|cat|child|bo|-7|bool|1|1|NULL|NULL|1|NULL|NULL|-7|NULL|NULL|18|"
		"YES\n"
		"row app|cat|child|bi|12|bit|8|8|NULL|NULL|1|NULL|NULL|12|NULL|8|19|YES\n"
		"row "
		"app|cat|child|c|1|bpchar|5|20|NULL|NULL|1|NULL|NULL|1|NULL|20|20|YES\n"
		"row app|cat|child|na|12|name|63|63|NULL|NULL|1|NULL|NULL|12|NULL|63|21|"
		"YES\n"
		"done SELECT 21\n");
	check(t, CENOTE_CATALOG_COLUMNS, "cat", "child", "n%", NULL,
		"row app|cat|child|n|2|numeric|NULL|NULL|NULL|10|1|NULL|NULL|2|NULL|NULL|"
		"11|YES\n"
		"row "
		"app|cat|child|ns|2|numeric|5|7|-2|10|1|NULL|NULL|2|NULL|NULL|12|YES\n"
		"row app|cat|child|na|12|name|63|63|NULL|NULL|1|NULL|NULL|12|NULL|63|21|"
		"YES\n"
		"done SELECT 3\n");
	check(t, CENOTE_CATALOG_PRIMARY_KEYS, "cat", "p%", NULL, NULL,
		"row app|cat|parent|b|1|parent_pkey\nrow app|cat|parent|a|2|parent_pkey\n"
		"row app|cat|part|a|1|part_pkey\nrow app|cat|part1|a|1|part1_pkey\n"
		"done SELECT 4\n");
	check(t, CENOTE_CATALOG_FOREIGN_KEYS, "cat", NULL, NULL, NULL,
		"row "
		"app|cat|parent|b|app|cat|child|b|1|2|0|child_b_a_fkey|parent_pkey|5\n"
		"row "
		"app|cat|parent|a|app|cat|child|a|2|2|0|child_b_a_fkey|parent_pkey|5\n"
		"row app|cat|part|a|app|cat|refpart|a|1|3|3|refpart_a_fkey|part_pkey|7\n"
		"done SELECT 3\n");
	check(t, CENOTE_CATALOG_INDEXES, "cat", "child", NULL, NULL,
		"row app|cat|child|0|cat|child_pkey|3|1|id|A|0|1|NULL\n"
		"row app|cat|child|1|cat|ch|2|1|a|NULL|0|4|NULL\n"
		"row app|cat|child|1|cat|cx|3|1|lower(x::text)|A|0|1|(a > 3)\n"
		"row app|cat|child|1|cat|cx|3|2|a|D|0|1|(a > 3)\ndone SELECT 4\n");
	check(t, CENOTE_CATALOG_PROCEDURES, "cat", NULL, NULL, NULL,
		"row app|cat|fn|1|2|1|a function|2\nrow app|cat|pr|2|1|0|NULL|1\n"
		"done SELECT 2\n");
}

static void
lists_have_all_there_is(void **state)
{
	each_list_is_complete(*state);
}

/* No setting and no object of a client changes the lists. */
static void
what_the_client_has_set_does_not_matter(void **state)
{
	static const char *const preparations[] = {
		"set search_path = ''",
		"create schema mine; create view mine.pg_class as select 1 as oid;"
		" create view mine.pg_namespace as select 1 as oid;"
		" create function mine.current_database() returns name language sql as"
		" $$select 'wrong'::name$$; set search_path = mine, pg_catalog",
		"set standard_conforming_strings = off",
		"set datestyle = german; set bytea_output = escape",
		"set backslash_quote = off; set quote_all_identifiers = off",
		"begin isolation level serializable",
	};
	struct pg *t = *state;

	for (size_t i = 0; i < CNT_COUNT(preparations); i++) {
		(void)pg_query(t, preparations[i]);
		assert_ok(t->base.last);
		each_list_is_complete(t);
	}
}

static void
lists_can_be_filtered(void **state)
{
	struct pg *t = *state;

	check(t, CENOTE_CATALOG_TABLES, "cat", "a_b", NULL, NULL,
		"row app|cat|a_b|TABLE|NULL\nrow app|cat|axb|TABLE|NULL\n"
		"done SELECT 2\n");
	check(t, CENOTE_CATALOG_TABLES, "cat", "a\\_b", NULL, NULL,
		"row app|cat|a_b|TABLE|NULL\ndone SELECT 1\n");
	check(t, CENOTE_CATALOG_TABLES, "cat", "'; drop table cat.child; --", NULL, NULL,
		"done SELECT 0\n");
	check(t, CENOTE_CATALOG_TABLES, "cat", "CHILD", NULL, NULL, "done SELECT 0\n");
	check(t, CENOTE_CATALOG_TABLES, "cat", "", NULL, NULL, "done SELECT 0\n");
	check(t, CENOTE_CATALOG_TABLES, "cat", "%", NULL, "VIEW,'FOREIGN TABLE'",
		"row app|cat|far|FOREIGN TABLE|NULL\nrow app|cat|v|VIEW|NULL\n"
		"done SELECT 2\n");
	check(t, CENOTE_CATALOG_TABLES, "pg_catalog", "pg\\_class", NULL, "SYSTEM TABLE",
		"row app|pg_catalog|pg_class|SYSTEM TABLE|NULL\ndone SELECT 1\n");
	check(t, CENOTE_CATALOG_SCHEMAS, "pg\\_%", NULL, NULL, NULL,
		"row app|pg_catalog|system catalog schema\ndone SELECT 1\n");
}

static void
the_catalog_filter_is_the_database(void **state)
{
	struct cnp_catalog filter = { .kind = CENOTE_CATALOG_SCHEMAS,
		.given = 3,
		.catalog = cnp_str("app"),
		.schema = cnp_str("cat") };
	struct pg *t = *state;

	(void)pg_catalog(t, CENOTE_CATALOG_DATABASES, NULL, NULL, NULL, NULL);
	assert_non_null(strstr(t->base.seen.log, "\nrow app|NULL\nrow app2|NULL\n"));
	t->base.seen.log_len = 0;
	assert_ok(t->base.b->catalog(t->base.s, &filter, &t->base.seen.sink));
	assert_non_null(strstr(t->base.seen.log, "\nrow app|cat|cats\n"));
	assert_ok(t->base.b->sync(t->base.s, &t->base.seen.sink));
	t->base.seen.log_len = 0;
	filter.catalog = cnp_str("app2");
	assert_ok(t->base.b->catalog(t->base.s, &filter, &t->base.seen.sink));
	assert_non_null(strstr(t->base.seen.log, "done SELECT 0\n"));
	assert_ok(t->base.b->sync(t->base.s, &t->base.seen.sink));
}

static void
own_temporary_tables_are_told_and_no_others(void **state)
{
	struct pg *t = *state, other;
	const char *seen;

	pg_setup(&other);
	assert_ok(pg_login(&other));
	(void)pg_query(&other, "create temp table not_mine (a int)");
	(void)pg_query(t, "create temp table my_own (a int); create temp view my_view as "
			  "select 1 as a");
	seen = pg_catalog(t, CENOTE_CATALOG_TABLES, "pg_temp%", NULL, NULL, NULL);
	assert_non_null(strstr(seen, "|my_own|LOCAL TEMPORARY|NULL\n"));
	assert_non_null(strstr(seen, "|my_view|VIEW|NULL\ndone SELECT 2\n"));
	seen = pg_catalog(t, CENOTE_CATALOG_COLUMNS, NULL, "not_mine", NULL, NULL);
	assert_non_null(strstr(seen, "done SELECT 0\n"));
	pg_teardown(&other);
}

/* Each type in the list works in CREATE TABLE, with the parameters that it asks for. */
static void
types_are_those_of_the_server(void **state)
{
	struct pg *t = *state;
	char *list = strdup(pg_catalog(t, CENOTE_CATALOG_TYPES, NULL, NULL, NULL, NULL));
	size_t n = 0;
	long before = -100;

	assert_non_null(list);
	assert_memory_equal(
		list, heads[CENOTE_CATALOG_TYPES], strlen(heads[CENOTE_CATALOG_TYPES]));
	for (char *row = strstr(list, "\nrow "); row; row = strstr(row, "\nrow "), n++) {
		char sql[128], name[32];
		long code;

		row += 5;
		assert_int_equal(sscanf(row, "%31[^|]|%ld", name, &code), 2);
		assert_true(code >= before);
		before = code;
		snprintf(sql, sizeof(sql), "create temp table type%zu (a %s%s)", n, name,
			strstr(name, "numeric")                        ? "(5,2)"
			: strstr(name, "char") || strstr(name, "time") ? "(5)"
								       : "");
		assert_answer(t, sql, "done CREATE TABLE\n");
	}
	assert_int_equal(n, 26);
	free(list);
}

static void
an_unknown_list_is_an_error(void **state)
{
	struct pg *t = *state;

	assert_string_equal(pg_catalog(t, 13, NULL, NULL, NULL, NULL),
		"error 22023 there is no catalog list 13\n");
}

static void
a_list_in_a_failed_transaction_is_an_error(void **state)
{
	struct pg *t = *state;

	(void)pg_begin(t, 0, 0);
	(void)pg_query(t, "select nope");
	assert_memory_equal(pg_catalog(t, CENOTE_CATALOG_TABLES, "cat", NULL, NULL, NULL),
		"error 25P02", 11);
	(void)pg_rollback(t);
	(void)pg_catalog(t, CENOTE_CATALOG_TABLES, "cat", NULL, NULL, NULL);
	assert_string_equal(pg_state(t), "idle pins=0");
}

static int
group_setup(void **state)
{
	return pg_group_setup(state) < 0 ? -1 : cnt_server_sql(&pg_server, setup_sql);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pg_test_setup, pg_test_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lists_have_all_there_is),
		TEST(what_the_client_has_set_does_not_matter),
		TEST(lists_can_be_filtered),
		TEST(the_catalog_filter_is_the_database),
		TEST(own_temporary_tables_are_told_and_no_others),
		TEST(types_are_those_of_the_server),
		TEST(an_unknown_list_is_an_error),
		TEST(a_list_in_a_failed_transaction_is_an_error),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, group_setup, pg_group_teardown);
}
