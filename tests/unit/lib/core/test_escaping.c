/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which facts of a server decide how a text is escaped, and when two values of a fact
 * agree. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "core/escaping.h"

static const struct {
	const char *fact;
	const char *a;
	const char *b;
	int agrees;
} table[] = {
	{ "client_encoding", "UTF8", "UTF8", 1 },
	{ "client_encoding", "UTF8", "GBK", 0 },
	{ "client_encoding", NULL, "UTF8", 0 },
	{ "client_encoding", NULL, NULL, 1 },
	{ "standard_conforming_strings", "on", "off", 0 },
	{ "character_set", "utf8mb4", "gbk", 0 },
	{ "sql_mode", "", "", 1 },
	{ "sql_mode", NULL, "", 0 },
	{ "sql_mode", "STRICT_ALL_TABLES", "NO_ZERO_DATE", 1 },
	{ "sql_mode", "", "NO_BACKSLASH_ESCAPES", 0 },
	{ "sql_mode", "STRICT_ALL_TABLES", "STRICT_ALL_TABLES,ANSI_QUOTES", 0 },
	{ "sql_mode", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES", "NO_BACKSLASH_ESCAPES", 0 },
	{ "sql_mode", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES",
		"NO_BACKSLASH_ESCAPES,ANSI_QUOTES", 1 },
};

static size_t
place_of(const char *fact)
{
	size_t i = 0;

	while (strcmp(cnc_escaping_fact(i), fact) != 0)
		i++;
	return i;
}

static void
values_agree_if_texts_escape_alike(void **state)
{
	for (size_t n = 0; n < sizeof(table) / sizeof(table[0]); n++) {
		size_t i = place_of(table[n].fact);
		uint32_t a = cnc_escaping_digest(0, i, table[n].a);
		uint32_t b = cnc_escaping_digest(0, i, table[n].b);

		if (cnc_escaping_agrees(i, table[n].a, table[n].b) != table[n].agrees ||
			cnc_escaping_agrees(i, table[n].b, table[n].a) !=
				table[n].agrees ||
			(a == b) != table[n].agrees)
			fail_msg("case %zu, %s", n, table[n].fact);
	}
}

static void
the_list_ends(void **state)
{
	size_t i = 0;

	while (cnc_escaping_fact(i) != NULL)
		i++;
	assert_int_equal(i, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_agree_if_texts_escape_alike),
		cmocka_unit_test(the_list_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
