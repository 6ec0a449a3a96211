/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts of the catalog queries: each query has exactly its own parameters. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "pg.h"

#define VERSION 150004

static struct cnd_pg_catalog
query_of(uint8_t kind, uint8_t given)
{
	struct cnp_catalog filter = {
		.kind = kind,
		.given = given,
		.catalog = cnp_str("catalog"),
		.schema = cnp_str("schema"),
		.object = cnp_str("object"),
		.column = cnp_str("column"),
		.types = cnp_str("types"),
	};
	struct cnd_pg_catalog q;
	struct cnc_diag d;

	cnc_diag_init(&d, NULL);
	assert_ok(cnd_pg_catalog_query(&filter, VERSION, &q, &d));
	return q;
}

/* The text has $1 to $n for its n parameters, and no other. */
static void
parameters_are_those_of_the_text(void **state)
{
	uint8_t kind;

	for (kind = CENOTE_CATALOG_DATABASES; kind <= CENOTE_CATALOG_COLUMN_PRIVILEGES;
		kind++) {
		struct cnd_pg_catalog q = query_of(kind, 0);
		char name[8];
		uint32_t i;

		assert_true(q.n_params <= CND_PG_CATALOG_PARAMS);
		for (i = 1; i <= CND_PG_CATALOG_PARAMS + 1; i++) {
			snprintf(name, sizeof(name), "$%u", (unsigned)i);
			assert_int_equal(strstr(q.sql, name) != NULL, i <= q.n_params);
		}
	}
}

static void
filters_are_parameters(void **state)
{
	struct cnd_pg_catalog q;
	uint32_t i;

	q = query_of(CENOTE_CATALOG_COLUMNS, 0);
	assert_int_equal(q.n_params, 4);
	for (i = 0; i < q.n_params; i++)
		assert_true(q.params[i].is_null);
	q = query_of(CENOTE_CATALOG_COLUMNS, 2 | 8 | 16);
	assert_true(q.params[0].is_null);
	assert_false(q.params[1].is_null);
	assert_int_equal(q.params[1].type, CENOTE_TYPE_TEXT);
	assert_int_equal(q.params[1].len, 6);
	assert_string_equal(q.params[1].bytes, "schema");
	assert_true(q.params[2].is_null);
	assert_string_equal(q.params[3].bytes, "column");
	q = query_of(CENOTE_CATALOG_TABLES, 31);
	assert_int_equal(q.n_params, 4);
	assert_string_equal(q.params[3].bytes, "types");
	assert_int_equal(query_of(CENOTE_CATALOG_TYPES, 31).n_params, 0);
}

/* No literal may depend on standard_conforming_strings. */
static void
backslashes_are_only_in_escape_strings(void **state)
{
	uint8_t kind;

	for (kind = CENOTE_CATALOG_DATABASES; kind <= CENOTE_CATALOG_COLUMN_PRIVILEGES;
		kind++) {
		const char *p = query_of(kind, 0).sql;

		for (p = strchr(p, '\\'); p; p = strchr(p + 2, '\\'))
			assert_memory_equal(p - 4, "E'''\\\\x'", 8);
	}
}

static void
what_there_is_not_is_an_error(void **state)
{
	static const uint8_t unknown[] = { 0, 13, 255 };
	struct cnp_catalog filter = { .kind = CENOTE_CATALOG_TABLES };
	struct cnd_pg_catalog q = { .n_params = 42 };
	struct cnc_diag d;
	size_t i;

	cnc_diag_init(&d, NULL);
	assert_int_equal(
		cnd_pg_catalog_query(&filter, 100023, &q, &d), CENOTE_ERR_SERVER);
	assert_string_equal(d.sqlstate, "0A000");
	assert_non_null(strstr(d.message, "PostgreSQL 11"));
	for (i = 0; i < CNT_COUNT(unknown); i++) {
		filter.kind = unknown[i];
		assert_int_equal(cnd_pg_catalog_query(&filter, VERSION, &q, &d),
			CENOTE_ERR_SERVER);
		assert_string_equal(d.sqlstate, "22023");
	}
	assert_int_equal(q.n_params, 42);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_are_those_of_the_text),
		cmocka_unit_test(filters_are_parameters),
		cmocka_unit_test(backslashes_are_only_in_escape_strings),
		cmocka_unit_test(what_there_is_not_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
