/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the installed server which names of built-in functions a stored function can have, too. */
#include "support/cnt_cmocka.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_server.h"

#include "tools/cenoted/backends/mysql/my.h"

#define NAMES_MAX         2000u
#define WRONG_COUNT       1318u /* error: wrong number of parameters */
#define THE_STORED_ONE    "424242"
#define NAMES_OF_GEOMETRY "POINT", "LINESTRING", "POLYGON", "GEOMETRYCOLLECTION", "ST_X"

static struct cnt_server server;
static MYSQL *my;
static char *names[NAMES_MAX];
static size_t n_names;
static struct cnd_my_reading reading;

static int
start(void **state)
{
	if (cnt_server_start(&server, CNT_MARIADB, 0) < 0)
		return -1;
	my = mysql_init(NULL);
	return mysql_real_connect(my, NULL, "app", NULL, "app", 0, server.socket, 0) ? 0
										     : -1;
}

static int
stop(void **state)
{
	while (n_names > 0)
		free(names[--n_names]);
	mysql_close(my);
	cnt_server_stop(&server);
	return 0;
}

/* Add a name that the server knows, unless it is an operator. */
static void
add_name(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++) {
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return;
	}
	assert_true(n_names < NAMES_MAX);
	names[n_names++] = strdup(name);
}

static void
learn_names(void)
{
	static const char *const others[] = { NAMES_OF_GEOMETRY };
	static const char sql[] =
		"select word, word in ('LASTVAL', 'LAST_VALUE', 'ROW_NUMBER') from "
		"information_schema.keywords"
		" union select function, 1 from information_schema.sql_functions";
	MYSQL_RES *result;
	MYSQL_ROW row;

	assert_int_equal(mysql_query(my, sql), 0);
	result = mysql_store_result(my);
	while ((row = mysql_fetch_row(result))) {
		add_name(row[0]);
		if (*row[1] == '1')
			cnd_my_confirm_native(&reading, row[0], strlen(row[0]));
	}
	mysql_free_result(result);
	for (size_t i = 0; i < CNT_COUNT(others); i++)
		add_name(others[i]);
}

/* Whether `sql` calls the stored function, with the right number of parameters or a wrong one. */
static int
calls_the_stored_one(const char *sql)
{
	MYSQL_RES *result;
	MYSQL_ROW row;
	int is_it;

	if (mysql_query(my, sql) != 0)
		return mysql_errno(my) == WRONG_COUNT;
	result = mysql_store_result(my);
	row = result ? mysql_fetch_row(result) : NULL;
	is_it = row && row[0] && strcmp(row[0], THE_STORED_ONE) == 0;
	mysql_free_result(result);
	return is_it;
}

static void
compare_with_scan(
	const char *name, const char *between, const char *args, unsigned *ret_shadowed)
{
	struct cnd_my_scan scan;
	char sql[200];

	snprintf(sql, sizeof(sql), "select %s%s(%s)", name, between, args);
	if (!calls_the_stored_one(sql))
		return;
	++*ret_shadowed;
	cnd_my_scan(sql, strlen(sql), &reading, &scan);
	if (!(scan.pins & CENOTE_PIN_FUNCTION))
		fail_msg("it calls a stored function, and is taken for pure: %s", sql);
}

static void
no_name_that_can_be_a_stored_functions_is_pure(void **state)
{
	static const char *const modes[] = { "set sql_mode = ''",
		"set sql_mode = 'oracle'", "set sql_mode = 'ignore_space'" };
	static const char *const between[] = { "", " ", "\n", "/**/" };
	static const char *const args[] = { "", "1" };
	char sql[200];
	unsigned n_shadowed = 0;

	learn_names();
	for (size_t i = 0; i < n_names; i++) {
		snprintf(sql, sizeof(sql),
			"create or replace function `%s`(a int) returns int "
			"return " THE_STORED_ONE,
			names[i]);
		assert_int_equal(mysql_query(my, "set sql_mode = ''"), 0);
		if (mysql_query(my, sql) != 0)
			fail_msg("%s: %s", sql, mysql_error(my));
		for (size_t m = 0; m < CNT_COUNT(modes) * CNT_COUNT(between); m++) {
			size_t k = m % CNT_COUNT(between);

			if (k == 0)
				assert_int_equal(
					mysql_query(my, modes[m / CNT_COUNT(between)]),
					0);
			for (size_t a = 0; a < CNT_COUNT(args); a++)
				compare_with_scan(
					names[i], between[k], args[a], &n_shadowed);
		}
	}
	/* otherwise the test would prove nothing */
	assert_true(n_shadowed > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_name_that_can_be_a_stored_functions_is_pure),
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests_name("mysql_names", tests, start, stop);
}
