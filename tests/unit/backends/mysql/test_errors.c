/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Error numbers of MySQL and MariaDB, and the SQLSTATE and status that each becomes. It
 * needs no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "tools/cenoted/backends/mysql/my.h"

struct error_case {
	unsigned code;
	const char *state;
	int status;
	const char *told; /* SQLSTATE that the client gets */
};

static void
states_are_kept_unless_they_say_nothing(void **state)
{
	static const struct error_case cases[] = {
		{ 1064, "42000", CENOTE_ERR_SERVER, "42000" },
		{ 1062, "23000", CENOTE_ERR_SERVER, "23000" },
		{ 1146, "42S02", CENOTE_ERR_SERVER, "42S02" },
		{ 1317, "70100", CENOTE_ERR_SERVER, "70100" },
		{ 1644, "HY000", CENOTE_ERR_SERVER, "HY000" },
		{ 1205, "HY000", CENOTE_ERR_SERVER, "55P03" },
		{ 1205, "40001", CENOTE_ERR_SERVER, "40001" },
		{ 1364, "HY000", CENOTE_ERR_SERVER, "23502" },
		{ 1007, "HY000", CENOTE_ERR_SERVER, "42P04" },
		{ 1265, "01000", CENOTE_ERR_SERVER, "22000" },
		{ 1820, "HY000", CENOTE_ERR_SERVER, "28000" },
		{ 3118, "HY000", CENOTE_ERR_SERVER, "28000" },
		{ 3159, "HY000", CENOTE_ERR_CONN, "08004" },
		{ 3819, "HY000", CENOTE_ERR_SERVER, "23514" },
		{ 1290, "HY000", CENOTE_ERR_SERVER, "HY000" },
		{ 60000, "HY000", CENOTE_ERR_SERVER, "HY000" },
		{ 0, "HY000", CENOTE_ERR_SERVER, "HY000" },
		{ 2013, "HY000", CENOTE_ERR_CONN, "08006" },
		{ 2006, "HY000", CENOTE_ERR_CONN, "08006" },
		{ 2002, "HY000", CENOTE_ERR_CONN, "08001" },
		{ 1153, "08S01", CENOTE_ERR_CONN, "08S01" },
		{ 1927, "70100", CENOTE_ERR_CONN, "08006" },
		{ 4031, "HY000", CENOTE_ERR_SERVER, "HY000" },
		{ 5014, "HY000", CENOTE_ERR_CONN, "08006" },
		{ 2008, "HY000", CENOTE_ERR_NOMEM, "53200" },
	};
	struct cnc_diag d;
	size_t i;

	cnc_diag_init(&d, &cnc_mem_default);
	for (i = 0; i < CNT_COUNT(cases); i++) {
		assert_int_equal(cnd_my_diag(&d, cases[i].code, cases[i].state, "words",
					 "db1:3306"),
			cases[i].status);
		assert_string_equal(d.sqlstate, cases[i].told);
		assert_int_equal(d.native, (int)cases[i].code);
		assert_string_equal(d.message, "words");
		assert_string_equal(cnc_diag_field(&d, 'B'), "db1:3306");
		/* Field 'X' keeps the server's SQLSTATE if the client gets another one. */
		if (strcmp(cases[i].state, cases[i].told) == 0)
			assert_null(cnc_diag_field(&d, 'X'));
		else
			assert_string_equal(cnc_diag_field(&d, 'X'), cases[i].state);
	}
	cnc_diag_finish(&d);
}

static void
a_read_only_server_is_told_by_its_words(void **state)
{
	struct cnc_diag d;

	cnc_diag_init(&d, &cnc_mem_default);
	assert_int_equal(
		cnd_my_diag(&d, 1290, "HY000",
			"The MariaDB server is running with the --read-only option so it "
			"cannot execute this statement",
			NULL),
		CENOTE_ERR_SERVER);
	assert_string_equal(d.sqlstate, "25006");
	assert_null(cnc_diag_field(&d, 'B'));
	cnc_diag_finish(&d);
}

/* The library reports it with the number of the error that the server sends next. */
static void
a_plugin_that_is_missing_is_named_with_its_package(void **state)
{
	static const struct {
		unsigned code;
		const char *message, *package;
	} cases[] = {
		{ 1045, "Plugin parsec could not be loaded: /p/parsec.so: no file",
			"Debian 13: libmariadb3" },
		{ 2059,
			"Authentication plugin 'client_ed25519' cannot be loaded: no "
			"file",
			"Debian: libmariadb3" },
		{ 2059, "Plugin new could not be loaded: /p/new.so: no file",
			"another package" },
	};
	struct cnc_diag d;
	size_t i;

	cnc_diag_init(&d, &cnc_mem_default);
	for (i = 0; i < CNT_COUNT(cases); i++) {
		assert_int_equal(
			cnd_my_diag(&d, cases[i].code, "28000", cases[i].message, NULL),
			CENOTE_ERR_CONN);
		assert_string_equal(d.sqlstate, "08004");
		assert_int_equal(d.native, 2059);
		assert_non_null(strstr(d.message, cases[i].message));
		assert_non_null(strstr(d.message, cases[i].package));
	}
	assert_int_equal(
		cnd_my_diag(&d, 1045, "28000", "Access denied", NULL), CENOTE_ERR_SERVER);
	assert_string_equal(d.sqlstate, "28000");
	cnc_diag_finish(&d);
}

static void
what_is_missing_is_made_up_for(void **state)
{
	struct cnc_diag d;

	cnc_diag_init(&d, NULL);
	assert_int_equal(cnd_my_diag(&d, 1, NULL, NULL, NULL), CENOTE_ERR_SERVER);
	assert_string_equal(d.sqlstate, "HY000");
	assert_string_equal(d.message, "the server gave no reason");
	assert_int_equal(cnd_my_diag(&d, 1213, "bad", "", NULL), CENOTE_ERR_SERVER);
	assert_string_equal(d.sqlstate, "HY000");
	cnc_diag_finish(&d);
}

static void
what_can_be_done_is_hinted(void **state)
{
	struct cnc_diag d;

	cnc_diag_init(&d, &cnc_mem_default);
	(void)cnd_my_diag(&d, 1205, "HY000", "Lock wait timeout exceeded", NULL);
	assert_non_null(strstr(cnc_diag_field(&d, 'H'), "repeat"));
	assert_int_equal(cnd_refuse(&d, "22003", "Bind text.", "%s %d", "no", 7),
		CENOTE_ERR_SERVER);
	assert_string_equal(d.message, "no 7");
	assert_string_equal(cnc_diag_field(&d, 'H'), "Bind text.");
	assert_int_equal(d.native, 0);
	cnc_diag_finish(&d);
}

/* MySQL and MariaDB use the same number for different errors. */
static void
a_number_of_both_is_told_apart(void **state)
{
	static const char idle[] =
		"The client was disconnected by the server because of inactivity.";
	static const char trigger[] = "Referenced trigger 't' for the given action time "
				      "and event type does not exist";
	struct cnc_diag d;

	cnc_diag_init(&d, &cnc_mem_default);
	assert_int_equal(
		cnd_my_diag(&d, 4031, "HY000", idle, "db1:3306"), CENOTE_ERR_CONN);
	assert_string_equal(d.sqlstate, "08006");
	assert_int_equal(
		cnd_my_diag(&d, 4031, "HY000", trigger, "db1:3306"), CENOTE_ERR_SERVER);
	assert_string_equal(d.sqlstate, "HY000");
	(void)cnd_my_diag(
		&d, 4151, "HY000", "Access denied, this account is locked", NULL);
	assert_string_equal(d.sqlstate, "28000");
	(void)cnd_my_diag(&d, 4151, "HY000", "something of MySQL's", NULL);
	assert_string_equal(d.sqlstate, "HY000");
	cnc_diag_finish(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_are_kept_unless_they_say_nothing),
		cmocka_unit_test(a_number_of_both_is_told_apart),
		cmocka_unit_test(a_read_only_server_is_told_by_its_words),
		cmocka_unit_test(a_plugin_that_is_missing_is_named_with_its_package),
		cmocka_unit_test(what_is_missing_is_made_up_for),
		cmocka_unit_test(what_can_be_done_is_hinted),
	};

	return cmocka_run_group_tests_name("mysql_errors", tests, NULL, NULL);
}
