/* SPDX-License-Identifier: BSD-2-Clause */
/* Which functions the backend takes for built in, on the installed server. It also runs on MySQL (tests/versions). */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX       ((size_t)64 << 10)
#define SCRIPT_MAX     ((size_t)1 << 20)
#define THE_STORED_ONE "424242"
#define WRONG_COUNT                                                                      \
	"native 1318" /* error: wrong number of parameters of a stored function */

static void
built_in_functions_hold_nothing(void **state)
{
	static const char *const calls[] = { "concat(a, 'x')", "concat_ws(',', a)",
		"upper(b)", "ifnull(a, 1)", "coalesce(a, 1)", "date_format(now(), '%Y')",
		"round(a)", "length(json_extract('{}', '$.a'))",
		"length(json_object('a', a))", "length(json_arrayagg(a))",
		"extractvalue('<a/>', '/a')", "regexp_replace(b, 'a', '')",
		"inet_aton('1.2.3.4')", "group_concat(b)", "length(uuid())",
		"sha2(b, 256)", "if(a, 1, 2)", "row_number() over (order by a)",
		"cast(a as char)", "substring_index(b, 'x', 1)" };
	struct my *t = *state;
	char sql[120];

	(void)my_query(t, "create table called (a int, b varchar(10))");
	for (size_t i = 0; i < CNT_COUNT(calls); i++) {
		assert_ok(my_reset(t));
		snprintf(sql, sizeof(sql), "select %s from called", calls[i]);
		assert_contains(my_query(t, sql), "done");
		assert_ok(my_settle(t));
		if (my_pins(t) != 0)
			fail_msg("%s: pins %u", sql, (unsigned)my_pins(t));
	}
	assert_ok(my_reset(t));
	(void)my_query(t, "drop table called");
}

/* The names of all functions in the server's own help, and some that no server has. Returns the list. */
static char *
names_in_help(void)
{
	char *list = malloc(LIST_MAX);

	assert_non_null(list);
	assert_int_equal(
		cnt_server_ask(&my_server,
			"set session group_concat_max_len = 60000; select "
			"group_concat(distinct upper(name) separator ' ') from "
			"(select name from mysql.help_topic union select "
			"'FROBNICATE' union select 'JSON_TABLE' union select "
			"'GEOMCOLLECTION') n where name regexp '^[a-zA-Z0-9_]+$'",
			list, LIST_MAX),
		0);
	return list;
}

static void
make_stored_functions(const char *list)
{
	char *names = strdup(list), *script = malloc(SCRIPT_MAX), *rest = NULL;
	size_t n = 0;

	assert_true(names && script);
	n += (size_t)snprintf(script, SCRIPT_MAX,
		"create database namesakes; use namesakes; "
		"grant all on namesakes.* to app@localhost");
	for (char *name = strtok_r(names, " ", &rest); name;
		name = strtok_r(NULL, " ", &rest))
		n += (size_t)snprintf(script + n, SCRIPT_MAX - n,
			"; create function `%s` (a int) returns int deterministic no sql "
			"return " THE_STORED_ONE,
			name);
	assert_true(n < SCRIPT_MAX);
	assert_int_equal(cnt_server_sql(&my_server, script), 0);
	free(script);
	free(names);
}

/* Whether the text called the stored function; then the session must be pinned. */
static unsigned
try_call(struct my *t, const char *name, const char *between, const char *args)
{
	const char *seen;
	char sql[160];

	snprintf(sql, sizeof(sql), "select %s%s(%s) + 0", name, between, args);
	seen = my_query(t, sql);
	if (!strstr(seen, "row " THE_STORED_ONE) && !strstr(seen, WRONG_COUNT))
		return 0;
	if (!(my_pins(t) & CENOTE_PIN_FUNCTION))
		fail_msg(
			"it calls a stored function, and is taken for built in: %s", sql);
	assert_ok(my_reset(t));
	return 1;
}

static void
no_stored_function_is_taken_for_built_in(void **state)
{
	static const char *const between[] = { "", " " };
	static const char *const args[] = { "", "1" };
	char *list = names_in_help(), *rest = NULL;
	unsigned n_stored = 0, n_names = 0;
	struct my t;

	(void)state;
	make_stored_functions(list);
	my_init(&t);
	my_app(&t);
	my_option(&t, "dbname", "namesakes");
	assert_ok(my_login(&t));
	for (char *name = strtok_r(list, " ", &rest); name;
		name = strtok_r(NULL, " ", &rest)) {
		n_names++;
		for (size_t i = 0; i < 4; i++)
			n_stored += try_call(&t, name, between[i / 2], args[i % 2]);
	}
	my_finish(&t);
	free(list);
	/* otherwise the test would prove nothing */
	assert_true(n_names > 200);
	assert_true(n_stored > 20);
	assert_int_equal(cnt_server_sql(&my_server, "drop database namesakes"), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, my_setup, my_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(built_in_functions_hold_nothing),
		cmocka_unit_test(no_stored_function_is_taken_for_built_in),
	};

	return my_main(tests, CNT_COUNT(tests), "mysql_functions", 0);
}
