/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Calls that a driver manager refuses, and behaviour that it hides. The test loads the driver
 * itself, without a driver manager.
 *
 * usage: test_odbc_direct sqlite | postgresql | mariadb
 */

static struct {
	SQLRETURN (*alloc)(SQLSMALLINT, SQLHANDLE, SQLHANDLE *);
	SQLRETURN (*free)(SQLSMALLINT, SQLHANDLE);
	SQLRETURN (*set_env)(SQLHENV, SQLINTEGER, SQLPOINTER, SQLINTEGER);
	SQLRETURN(*connect)
	(SQLHDBC, SQLHWND, SQLCHAR *, SQLSMALLINT, SQLCHAR *, SQLSMALLINT, SQLSMALLINT *,
		SQLUSMALLINT);
	SQLRETURN (*disconnect)(SQLHDBC);
	SQLRETURN (*get_attr)(SQLHSTMT, SQLINTEGER, SQLPOINTER, SQLINTEGER, SQLINTEGER *);
	SQLRETURN(*bind)
	(SQLHSTMT, SQLUSMALLINT, SQLSMALLINT, SQLSMALLINT, SQLSMALLINT, SQLULEN,
		SQLSMALLINT, SQLPOINTER, SQLLEN, SQLLEN *);
	SQLRETURN (*execute)(SQLHSTMT, SQLCHAR *, SQLINTEGER);
	SQLRETURN (*param_data)(SQLHSTMT, SQLPOINTER *);
	SQLRETURN (*put_data)(SQLHSTMT, SQLPOINTER, SQLLEN);
	SQLRETURN (*copy_desc)(SQLHDESC, SQLHDESC);
	SQLRETURN(*set_field)
	(SQLHDESC, SQLSMALLINT, SQLSMALLINT, SQLPOINTER, SQLINTEGER);
	SQLRETURN(*diag)
	(SQLSMALLINT, SQLHANDLE, SQLSMALLINT, SQLCHAR *, SQLINTEGER *, SQLCHAR *,
		SQLSMALLINT, SQLSMALLINT *);
	SQLRETURN(*diag_field)
	(SQLSMALLINT, SQLHANDLE, SQLSMALLINT, SQLSMALLINT, SQLPOINTER, SQLSMALLINT,
		SQLSMALLINT *);
} driver;

static SQLHENV env;
static SQLHDBC dbc;
static SQLHSTMT stmt;

static void
load(void)
{
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "SQLAllocHandle", &driver.alloc },
		{ "SQLFreeHandle", &driver.free },
		{ "SQLSetEnvAttr", &driver.set_env },
		{ "SQLDriverConnect", &driver.connect },
		{ "SQLDisconnect", &driver.disconnect },
		{ "SQLGetStmtAttr", &driver.get_attr },
		{ "SQLBindParameter", &driver.bind },
		{ "SQLExecDirect", &driver.execute },
		{ "SQLParamData", &driver.param_data },
		{ "SQLPutData", &driver.put_data },
		{ "SQLCopyDesc", &driver.copy_desc },
		{ "SQLSetDescField", &driver.set_field },
		{ "SQLGetDiagRec", &driver.diag },
		{ "SQLGetDiagField", &driver.diag_field },
	};
	void *library = dlopen(CNT_ODBC_DRIVER, RTLD_NOW | RTLD_LOCAL);

	assert_non_null(library);
	for (size_t i = 0; i < CNT_COUNT(functions); i++) {
		void *function = dlsym(library, functions[i].name);

		assert_non_null(function);
		memcpy(functions[i].to, &function, sizeof(function));
	}
}

static int
begin(void **state)
{
	load();
	assert_int_equal(driver.alloc(SQL_HANDLE_ENV, NULL, &env), SQL_SUCCESS);
	assert_int_equal(
		driver.set_env(env, SQL_ATTR_ODBC_VERSION, NUMBER(SQL_OV_ODBC3), 0),
		SQL_SUCCESS);
	assert_int_equal(driver.alloc(SQL_HANDLE_DBC, env, &dbc), SQL_SUCCESS);
	assert_int_equal(driver.connect(dbc, NULL, TEXT(cnt_odbc_string(&the)), SQL_NTS,
				 NULL, 0, NULL, SQL_DRIVER_NOPROMPT),
		SQL_SUCCESS);
	assert_int_equal(driver.alloc(SQL_HANDLE_STMT, dbc, &stmt), SQL_SUCCESS);
	return 0;
}

static int
end(void **state)
{
	assert_int_equal(driver.free(SQL_HANDLE_STMT, stmt), SQL_SUCCESS);
	assert_int_equal(driver.disconnect(dbc), SQL_SUCCESS);
	assert_int_equal(driver.free(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
	return driver.free(SQL_HANDLE_ENV, env);
}

static void
assert_state(SQLSMALLINT kind, SQLHANDLE handle, const char *wanted)
{
	char sqlstate[6] = "";

	(void)driver.diag(kind, handle, 1, (SQLCHAR *)sqlstate, NULL, NULL, 0, NULL);
	assert_string_equal(sqlstate, wanted);
}

/* Changing the descriptor would change or remove its records half way through an execution. */
static void
what_wants_data_keeps_its_descriptor(void **state)
{
	SQLLEN length = SQL_DATA_AT_EXEC;
	SQLHDESC apd, empty;
	SQLPOINTER which;

	assert_int_equal(driver.alloc(SQL_HANDLE_DESC, dbc, &empty), SQL_SUCCESS);
	assert_int_equal(driver.get_attr(stmt, SQL_ATTR_APP_PARAM_DESC, &apd, 0, NULL),
		SQL_SUCCESS);
	assert_int_equal(driver.bind(stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER,
				 0, 0, &which, 0, &length),
		SQL_SUCCESS);
	assert_int_equal(driver.execute(stmt, TEXT("select 1 where 7 = ?"), SQL_NTS),
		SQL_NEED_DATA);
	assert_int_equal(driver.param_data(stmt, &which), SQL_NEED_DATA);
	assert_int_equal(driver.copy_desc(empty, apd), SQL_ERROR);
	assert_state(SQL_HANDLE_DESC, apd, "HY010");
	assert_int_equal(
		driver.set_field(apd, 0, SQL_DESC_COUNT, NUMBER(0), 0), SQL_ERROR);
	assert_state(SQL_HANDLE_DESC, apd, "HY010");
	/* a number cannot be read from a null pointer */
	assert_int_equal(driver.put_data(stmt, NULL, 0), SQL_ERROR);
	assert_state(SQL_HANDLE_STMT, stmt, "HY009");
	assert_int_equal(driver.put_data(stmt, &(SQLINTEGER){ 7 }, 0), SQL_SUCCESS);
	assert_int_equal(driver.param_data(stmt, &which), SQL_SUCCESS);
	assert_int_equal(driver.copy_desc(empty, apd), SQL_SUCCESS);
	assert_int_equal(driver.free(SQL_HANDLE_DESC, empty), SQL_SUCCESS);
}

static void
notices_are_as_many_as_can_be_asked_for(void **state)
{
	SQLINTEGER n = 0;

	if (strcmp(the.kind->name, "postgresql") != 0)
		return;
	assert_int_equal(driver.execute(stmt,
				 TEXT("do $$ begin for i in 1..40000 loop "
				      "raise notice 'n'; end loop; "
				      "raise exception 'last'; end $$"),
				 SQL_NTS),
		SQL_ERROR);
	assert_int_equal(
		driver.diag_field(SQL_HANDLE_STMT, stmt, 0, SQL_DIAG_NUMBER, &n, 0, NULL),
		SQL_SUCCESS);
	assert_int_equal(n, INT16_MAX);
	assert_state(SQL_HANDLE_STMT, stmt, "P0001");
}

/* Whether memory allocated from this heap contains the text. */
static int
is_in_heap(const char *text, size_t n)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[256];
	int is_found = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		char *behind;
		uintptr_t from = strtoul(line, &behind, 16), to;

		if (strstr(line, "[heap]") == NULL || *behind != '-')
			continue;
		to = strtoul(behind + 1, NULL, 16);
		is_found |= memmem((const void *)from, to - from, text, n) != NULL;
	}
	(void)fclose(maps);
	return is_found;
}

static void
no_password_stays_in_memory(void **state)
{
	char string[1024], password[] = "Tbqevdslhg";
	SQLHDBC other;
	int is_seen;

	/* free() must not overwrite memory: the driver has to do it */
	(void)mallopt(M_PERTURB, 0);
	/* only now, so that the test's own copies of the password are on the stack */
	for (char *p = password; *p != '\0'; p++)
		*p ^= 1;
	(void)snprintf(
		string, sizeof(string), "%sPWD={%s}", cnt_odbc_string(&the), password);
	assert_int_equal(driver.alloc(SQL_HANDLE_DBC, env, &other), SQL_SUCCESS);
	assert_int_equal(driver.connect(other, NULL, (SQLCHAR *)string, SQL_NTS, NULL, 0,
				 NULL, SQL_DRIVER_NOPROMPT),
		SQL_SUCCESS);
	is_seen = is_in_heap(password, strlen(password));
	assert_int_equal(driver.disconnect(other), SQL_SUCCESS);
	assert_int_equal(driver.free(SQL_HANDLE_DBC, other), SQL_SUCCESS);
	/* a sanitizer uses another heap, where the search finds nothing */
	assert_false(is_seen && is_in_heap(password, strlen(password)));
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(what_wants_data_keeps_its_descriptor),
		TEST(notices_are_as_many_as_can_be_asked_for),
		TEST(no_password_stays_in_memory),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
