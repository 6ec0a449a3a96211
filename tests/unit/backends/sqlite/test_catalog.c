/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The catalog lists of the SQLite backend.
 */
#include "tests/support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "core/mem.h"
#include "tests/support/cnt_alloc.h"

#include "harness.h"

static const char schema[] = "create table a (id integer primary key, n varchar(20) not "
			     "null, p decimal(10,2) default 1.5,"
			     " u uuid unique);"
			     "create table a_b (x int references a on delete cascade, y "
			     "text, primary key (x, y))"
			     " without rowid;"
			     "create view v as select id from a;"
			     "create view broken as select * from gone;"
			     "create index i on a_b (y desc) where x > 1;";

static struct cnp_catalog
filter(uint8_t kind)
{
	return (struct cnp_catalog){ .kind = kind };
}

static struct cnp_catalog
of_object(uint8_t kind, const char *pattern)
{
	return (struct cnp_catalog){
		.kind = kind, .given = 4, .object = cnp_str(pattern)
	};
}

/* The rows alone, without the line of columns. */
static const char *
rows(struct sq *t, struct cnp_catalog f)
{
	const char *text = sq_catalog(t, &f), *end = strchr(text, '\n');

	assert_memory_equal(text, "columns ", 8);
	return end + 1;
}

static void
databases_and_schemas_are_those_that_are_open(void **state)
{
	struct sq *t = *state;
	struct cnp_catalog f = filter(CENOTE_CATALOG_SCHEMAS);

	(void)rows(t, filter(CENOTE_CATALOG_DATABASES));
	assert_non_null(strstr(t->base.seen.log, "row main|/tmp/"));
	assert_string_equal(sq_catalog(t, &f),
		"columns table_cat:TEXT table_schem:TEXT remarks:TEXT\n"
		"row NULL|main|NULL\nrow NULL|temp|NULL\ndone SELECT 2\n");
	f.given = 2;
	f.schema = cnp_str("m%");
	assert_string_equal(rows(t, f), "row NULL|main|NULL\ndone SELECT 1\n");
}

static void
tables_are_found_by_pattern_and_type(void **state)
{
	struct sq *t = *state;
	struct cnp_catalog f = of_object(CENOTE_CATALOG_TABLES, "%");

	(void)sq_query(t, schema);
	(void)sq_query(t, "create temp table tt (x)");
	f.given |= 16;
	f.types = cnp_str("VIEW,LOCAL TEMPORARY");
	assert_string_equal(rows(t, f),
		"row NULL|temp|tt|LOCAL TEMPORARY|NULL\nrow NULL|main|broken|VIEW|NULL\n"
		"row NULL|main|v|VIEW|NULL\ndone SELECT 3\n");
	f.types = cnp_str("TABLE");
	assert_string_equal(rows(t, f), "row NULL|main|a|TABLE|NULL\nrow "
					"NULL|main|a_b|TABLE|NULL\ndone SELECT 2\n");
	f.types = cnp_str("'TABLE', 'VIEW'");
	f.object = cnp_str("A\\_%");
	assert_string_equal(rows(t, f), "row NULL|main|a_b|TABLE|NULL\ndone SELECT 1\n");
	f.object = cnp_str("");
	assert_string_equal(rows(t, f), "done SELECT 0\n");
	f = of_object(CENOTE_CATALOG_TABLES, "a");
	f.given |= 1;
	f.catalog = cnp_str("other");
	assert_string_equal(rows(t, f), "done SELECT 0\n");
}

static void
columns_have_odbcs_types_and_sizes(void **state)
{
	struct sq *t = *state;
	struct cnp_catalog f = of_object(CENOTE_CATALOG_COLUMNS, "a");

	(void)sq_query(t, schema);
	assert_string_equal(rows(t, f),
		"row NULL|main|a|id|-5|INTEGER|19|8|0|10|0|NULL|NULL|-5|NULL|NULL|1|NO\n"
		"row "
		"NULL|main|a|n|12|varchar(20)|20|80|NULL|NULL|0|NULL|NULL|12|NULL|80|2|"
		"NO\n"
		"row "
		"NULL|main|a|p|3|decimal(10,2)|10|12|2|10|1|NULL|1.5|3|NULL|NULL|3|YES\n"
		"row "
		"NULL|main|a|u|-11|uuid|36|16|NULL|NULL|1|NULL|NULL|-11|NULL|NULL|4|YES\n"
		"done SELECT 4\n");
	f.given |= 8;
	f.column = cnp_str("P");
	assert_string_equal(rows(t, f),
		"row "
		"NULL|main|a|p|3|decimal(10,2)|10|12|2|10|1|NULL|1.5|3|NULL|NULL|3|YES\n"
		"done SELECT 1\n");
	/* A view over a missing table does not hide other tables. */
	f = of_object(CENOTE_CATALOG_COLUMNS, "%");
	f.given |= 8;
	f.column = cnp_str("id");
	assert_string_equal(rows(t, f),
		"row NULL|main|a|id|-5|INTEGER|19|8|0|10|0|NULL|NULL|-5|NULL|NULL|1|NO\n"
		"row NULL|main|v|id|-5|INTEGER|19|8|0|10|1|NULL|NULL|-5|NULL|NULL|1|YES\n"
		"done SELECT 2\n");
}

static void
keys_and_indexes_are_listed(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, schema);
	assert_string_equal(rows(t, filter(CENOTE_CATALOG_PRIMARY_KEYS)),
		"row NULL|main|a|id|1|NULL\nrow NULL|main|a_b|x|1|NULL\n"
		"row NULL|main|a_b|y|2|NULL\ndone SELECT 3\n");
	assert_string_equal(rows(t, filter(CENOTE_CATALOG_FOREIGN_KEYS)),
		"row NULL|main|a|id|NULL|main|a_b|x|1|3|0|NULL|NULL|NULL\ndone SELECT "
		"1\n");
	assert_string_equal(rows(t, of_object(CENOTE_CATALOG_INDEXES, "a\\_b")),
		"row NULL|main|a_b|0|main|sqlite_autoindex_a_b_1|3|1|x|A|NULL|NULL|NULL\n"
		"row NULL|main|a_b|0|main|sqlite_autoindex_a_b_1|3|2|y|A|NULL|NULL|NULL\n"
		"row NULL|main|a_b|1|main|i|3|1|y|D|NULL|NULL|\ndone SELECT 3\n");
}

static void
types_are_in_order_and_procedures_are_none(void **state)
{
	struct sq *t = *state;
	const char *p = rows(t, filter(CENOTE_CATALOG_TYPES));
	long before = -100, code;
	size_t n = 0;

	for (; strncmp(p, "row ", 4) == 0; p = strchr(p, '\n') + 1, n++) {
		code = strtol(strchr(p, '|') + 1, NULL, 10);
		assert_true(code >= before);
		before = code;
	}
	assert_int_equal(n, 12);
	assert_string_equal(
		rows(t, filter(CENOTE_CATALOG_PROCEDURES)), "done SELECT 0\n");
	assert_string_equal(sq_catalog(t, &(struct cnp_catalog){ .kind = 99 }),
		"error 22023 there is no catalog list 99\n");
}

static void
a_catalog_query_disturbs_nothing(void **state)
{
	struct sq *t = *state;
	uint8_t kind;

	(void)sq_query(t, schema);
	(void)sq_query(t, "insert into a (id, n) values (7, 'x'), (8, 'y')");
	for (kind = 1; kind <= 9; kind++)
		(void)rows(t, filter(kind));
	assert_answer(t, "select changes(), total_changes(), last_insert_rowid()",
		"columns changes():INT64 total_changes():INT64 "
		"last_insert_rowid():INT64\n"
		"row 2|2|8\ndone SELECT 1\n");
	assert_string_equal(sq_state(t), "idle pins=0");
	(void)sq_autocommit(t, 0);
	(void)rows(t, filter(CENOTE_CATALOG_TABLES));
	assert_string_equal(sq_state(t), "idle pins=0");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, sq_test_setup, sq_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(databases_and_schemas_are_those_that_are_open),
		TEST(tables_are_found_by_pattern_and_type),
		TEST(columns_have_odbcs_types_and_sizes),
		TEST(keys_and_indexes_are_listed),
		TEST(types_are_in_order_and_procedures_are_none),
		TEST(a_catalog_query_disturbs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
