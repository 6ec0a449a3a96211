/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of the server's types. The code uses binary search, so the table must be in order. It
 * needs no server.
 */
#include "support/cnt_cmocka.h"

#include "pg.h"
#include "types.h"

static struct cnp_column
filled(uint32_t oid, int32_t modifier, int64_t length)
{
	struct cnp_column c = CNP_COLUMN_INIT;

	c.native_type = oid;
	c.modifier = modifier;
	c.length = length;
	cnd_pg_type_fill(&c);
	return c;
}

static void
known_types_have_their_logical_type_and_name(void **state)
{
	static const struct {
		uint32_t oid;
		uint8_t type;
		const char *name;
	} cases[] = {
		{ 16, CENOTE_TYPE_BOOL, "bool" },
		{ 17, CENOTE_TYPE_BYTES, "bytea" },
		{ 18, CENOTE_TYPE_TEXT, "char" },
		{ 19, CENOTE_TYPE_TEXT, "name" },
		{ 20, CENOTE_TYPE_INT64, "int8" },
		{ 21, CENOTE_TYPE_INT64, "int2" },
		{ 23, CENOTE_TYPE_INT64, "int4" },
		{ 25, CENOTE_TYPE_TEXT, "text" },
		{ 26, CENOTE_TYPE_INT64, "oid" },
		{ 114, CENOTE_TYPE_JSON, "json" },
		{ 142, CENOTE_TYPE_TEXT, "xml" },
		{ 600, CENOTE_TYPE_OTHER, "point" },
		{ 700, CENOTE_TYPE_DOUBLE, "float4" },
		{ 701, CENOTE_TYPE_DOUBLE, "float8" },
		{ 790, CENOTE_TYPE_OTHER, "money" },
		{ 869, CENOTE_TYPE_OTHER, "inet" },
		{ 1007, CENOTE_TYPE_OTHER, "_int4" },
		{ 1042, CENOTE_TYPE_TEXT, "bpchar" },
		{ 1043, CENOTE_TYPE_TEXT, "varchar" },
		{ 1082, CENOTE_TYPE_DATE, "date" },
		{ 1083, CENOTE_TYPE_TIME, "time" },
		{ 1114, CENOTE_TYPE_TIMESTAMP, "timestamp" },
		{ 1184, CENOTE_TYPE_TIMESTAMP, "timestamptz" },
		{ 1186, CENOTE_TYPE_INTERVAL, "interval" },
		{ 1266, CENOTE_TYPE_TIME, "timetz" },
		{ 1700, CENOTE_TYPE_DECIMAL, "numeric" },
		{ 2249, CENOTE_TYPE_OTHER, "record" },
		{ 2950, CENOTE_TYPE_UUID, "uuid" },
		{ 3802, CENOTE_TYPE_JSON, "jsonb" },
		{ 3904, CENOTE_TYPE_OTHER, "int4range" },
		{ 5069, CENOTE_TYPE_UINT64, "xid8" },
		{ 6157, CENOTE_TYPE_OTHER, "_int8multirange" },
		{ 0, CENOTE_TYPE_OTHER, "" },
		{ 15, CENOTE_TYPE_OTHER, "" },
		{ 16384, CENOTE_TYPE_OTHER, "" },
		{ UINT32_MAX, CENOTE_TYPE_OTHER, "" },
	};
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		struct cnp_column c = filled(cases[i].oid, -1, -1);

		assert_int_equal(cnd_pg_type(cases[i].oid), cases[i].type);
		assert_int_equal(c.type, cases[i].type);
		assert_string_equal(c.type_name.p, cases[i].name);
		assert_int_equal(c.type_name.n, strlen(cases[i].name));
	}
}

static void
modifiers_give_length_precision_and_scale(void **state)
{
	static const struct {
		uint32_t oid;
		int32_t modifier;
		int64_t size; /* as the server reports it */
		int64_t length;
		int32_t precision, scale;
	} cases[] = {
		{ 23, -1, 4, 4, -1, -1 },
		{ 19, -1, 64, 64, -1, -1 },
		{ 25, -1, -1, -1, -1, -1 },
		{ 2275, -1, -2, -1, -1, -1 },
		{ 1700, -1, -1, -1, -1, -1 },
		{ 1700, (10 << 16 | 2) + 4, -1, -1, 10, 2 },
		{ 1700, (1000 << 16 | 1000) + 4, -1, -1, 1000, 1000 },
		{ 1700, (2 << 16 | (-3 & 0x7ff)) + 4, -1, -1, 2, -3 },
		{ 1700, (5 << 16) + 4, -1, -1, 5, 0 },
		{ 1043, 24, -1, 20, -1, -1 },
		{ 1042, 5, -1, 1, -1, -1 },
		{ 1043, -1, -1, -1, -1, -1 },
		{ 1560, 8, -1, 8, -1, -1 },
		{ 1562, -1, -1, -1, -1, -1 },
		{ 1083, -1, 8, 8, -1, 6 },
		{ 1083, 0, 8, 8, -1, 0 },
		{ 1114, 3, 8, 8, -1, 3 },
		{ 1184, 6, 8, 8, -1, 6 },
		{ 1266, 2, 12, 12, -1, 2 },
		{ 1082, -1, 4, 4, -1, -1 },
		{ 1186, -1, 16, 16, -1, 6 },
		{ 1186, 0x7fff << 16 | 3, 16, 16, -1, 3 },
		{ 1186, 0x0004 << 16 | 0xffff, 16, 16, -1, 6 },
		/* No server sends these. */
		{ 1700, INT32_MIN, -1, -1, -1, -1 },
		{ 1700, 3, -1, -1, -1, -1 },
		{ 1700, INT32_MAX, -1, -1, 0x7fff, -5 },
		{ 1043, INT32_MIN, INT64_MIN, -1, -1, -1 },
		{ 1043, 3, 7, -1, -1, -1 },
		{ 1114, INT32_MIN, 8, 8, -1, 6 },
		{ 1114, INT32_MAX, 8, 8, -1, 6 },
	};
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		struct cnp_column c =
			filled(cases[i].oid, cases[i].modifier, cases[i].size);

		if (c.length != cases[i].length || c.precision != cases[i].precision ||
			c.scale != cases[i].scale)
			print_error("case %zu: length %lld, precision %d, scale %d\n", i,
				(long long)c.length, (int)c.precision, (int)c.scale);
		assert_int_equal(c.length, cases[i].length);
		assert_int_equal(c.precision, cases[i].precision);
		assert_int_equal(c.scale, cases[i].scale);
	}
}

/* A binary search needs the table in order: it must find each type. */
static void
each_type_is_found_once_under_a_name_of_its_own(void **state)
{
	size_t n = 0;
	uint32_t oid;

	for (oid = 0; oid < 20000; oid++) {
		struct cnp_column c = filled(oid, -1, -1);

		n += c.type_name.n > 0;
		assert_in_range(c.type, CENOTE_TYPE_BOOL, CENOTE_TYPE_OTHER);
	}
	assert_int_equal(n, 198);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_types_have_their_logical_type_and_name),
		cmocka_unit_test(modifiers_give_length_precision_and_scale),
		cmocka_unit_test(each_type_is_found_once_under_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
