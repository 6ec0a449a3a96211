/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * Results of the catalog functions. The names and types of their columns and the order of their
 * rows must be those of the ODBC standard.
 *
 * usage: test_odbc_catalog_sets sqlite | postgresql | mariadb
 */

#define TEXT_MAX  256
#define NONE      NULL, 0
#define NAMED(of) TEXT(of), SQL_NTS

/* ---------------------------------------------------------------------- what is listed ----- */

/* The objects to list. Keys have another column order than their table, and names are not created
 * in alphabetical order. */
static const char *const everywhere[] = {
	"drop view if exists set_view",
	"drop table if exists set_kid_b",
	"drop table if exists set_kid_a",
	"drop table if exists set_parent",
	"create table set_parent (a int not null, b int not null, name varchar(20), "
	"primary key (b, a))",
	"create table set_kid_b (id int not null primary key, x int, y int, "
	"foreign key (x, y) references set_parent (b, a))",
	"create table set_kid_a (id int not null primary key, x int, y int, "
	"foreign key (x, y) references set_parent (b, a))",
	"create index set_later on set_kid_a (y, x)",
	"create index set_first on set_kid_a (x)",
	"create unique index set_unique on set_kid_a (y)",
	"create view set_view as select a from set_parent",
};

static int
begin(void **state)
{
	(void)cnt_odbc_connect(*state);
	for (size_t i = 0; i < CNT_COUNT(everywhere); i++)
		cnt_odbc_run(the.stmt, everywhere[i]);
	if (!the.kind->has_server)
		return 0;
	cnt_odbc_run(the.stmt, "drop procedure if exists odbc_two");
	cnt_odbc_run(the.stmt, "drop procedure if exists odbc_one");
	cnt_odbc_run(the.stmt,
		the.kind->server == CNT_MARIADB
			? "create procedure odbc_two(in z int, inout y int) set y = z"
			: "create procedure odbc_two(z int, inout y int) language sql as "
			  "'select z'");
	cnt_odbc_run(
		the.stmt, the.kind->server == CNT_MARIADB
				  ? "create procedure odbc_one(inout x int) set x = 1"
				  : "create procedure odbc_one(inout x int) language sql "
				    "as 'select "
				    "1'");
	return 0;
}

static SQLRETURN
tables(SQLHSTMT stmt)
{
	return SQLTables(stmt, NONE, NONE, NAMED("%"), NONE);
}

static SQLRETURN
columns(SQLHSTMT stmt)
{
	return SQLColumns(stmt, NONE, NONE, NAMED("set%"), NONE);
}

static SQLRETURN
primary_keys(SQLHSTMT stmt)
{
	return SQLPrimaryKeys(stmt, NONE, NONE, NAMED("set_parent"));
}

static SQLRETURN
exported_keys(SQLHSTMT stmt)
{
	return SQLForeignKeys(stmt, NONE, NONE, NAMED("set_parent"), NONE, NONE, NONE);
}

static SQLRETURN
imported_keys(SQLHSTMT stmt)
{
	return SQLForeignKeys(stmt, NONE, NONE, NONE, NONE, NONE, NAMED("set_kid_a"));
}

static SQLRETURN
statistics(SQLHSTMT stmt)
{
	return SQLStatistics(
		stmt, NONE, NONE, NAMED("set_kid_a"), SQL_INDEX_ALL, SQL_QUICK);
}

static SQLRETURN
row_id(SQLHSTMT stmt)
{
	return SQLSpecialColumns(stmt, SQL_BEST_ROWID, NONE, NONE, NAMED("set_parent"),
		SQL_SCOPE_CURROW, SQL_NULLABLE);
}

static SQLRETURN
row_version(SQLHSTMT stmt)
{
	return SQLSpecialColumns(stmt, SQL_ROWVER, NONE, NONE, NAMED("set_parent"),
		SQL_SCOPE_CURROW, SQL_NULLABLE);
}

static SQLRETURN
procedures(SQLHSTMT stmt)
{
	return SQLProcedures(stmt, NONE, NONE, NAMED("odbc\\_%"));
}

static SQLRETURN
procedure_columns(SQLHSTMT stmt)
{
	return SQLProcedureColumns(stmt, NONE, NONE, NAMED("odbc\\_%"), NONE);
}

static SQLRETURN
table_privileges(SQLHSTMT stmt)
{
	return SQLTablePrivileges(stmt, NONE, NONE, NAMED("set%"));
}

static SQLRETURN
column_privileges(SQLHSTMT stmt)
{
	return SQLColumnPrivileges(stmt, NONE, NONE, NAMED("set_parent"), NONE);
}

static SQLRETURN
types(SQLHSTMT stmt)
{
	return SQLGetTypeInfo(stmt, SQL_ALL_TYPES);
}

/* Columns are text unless a type follows: s is SQL_SMALLINT, i is SQL_INTEGER. */
#define FOREIGN_KEYS                                                                     \
	"PKTABLE_CAT PKTABLE_SCHEM PKTABLE_NAME PKCOLUMN_NAME FKTABLE_CAT "              \
	"FKTABLE_SCHEM "                                                                 \
	"FKTABLE_NAME FKCOLUMN_NAME KEY_SEQ:s UPDATE_RULE:s DELETE_RULE:s FK_NAME "      \
	"PK_NAME DEFERRABILITY:s"
#define SPECIAL_COLUMNS                                                                  \
	"SCOPE:s COLUMN_NAME DATA_TYPE:s TYPE_NAME COLUMN_SIZE:i BUFFER_LENGTH:i "       \
	"DECIMAL_DIGITS:s PSEUDO_COLUMN:s"

static const struct set {
	SQLRETURN (*ask)(SQLHSTMT stmt);
	const char *columns, *order;
	int n_least; /* least number of rows, on servers that have such objects */
	bool is_of_servers; /* SQLite has no such objects */
} sets[] = {
	{ tables, "TABLE_CAT TABLE_SCHEM TABLE_NAME TABLE_TYPE REMARKS",
		"TABLE_TYPE TABLE_CAT TABLE_SCHEM TABLE_NAME", 4, false },
	{ columns,
		"TABLE_CAT TABLE_SCHEM TABLE_NAME COLUMN_NAME DATA_TYPE:s TYPE_NAME "
		"COLUMN_SIZE:i BUFFER_LENGTH:i DECIMAL_DIGITS:s NUM_PREC_RADIX:s "
		"NULLABLE:s REMARKS COLUMN_DEF SQL_DATA_TYPE:s SQL_DATETIME_SUB:s "
		"CHAR_OCTET_LENGTH:i ORDINAL_POSITION:i IS_NULLABLE",
		"TABLE_CAT TABLE_SCHEM TABLE_NAME ORDINAL_POSITION", 10, false },
	{ primary_keys, "TABLE_CAT TABLE_SCHEM TABLE_NAME COLUMN_NAME KEY_SEQ:s PK_NAME",
		"TABLE_CAT TABLE_SCHEM TABLE_NAME KEY_SEQ", 2, false },
	{ exported_keys, FOREIGN_KEYS, "FKTABLE_CAT FKTABLE_SCHEM FKTABLE_NAME KEY_SEQ",
		4, false },
	{ imported_keys, FOREIGN_KEYS, "PKTABLE_CAT PKTABLE_SCHEM PKTABLE_NAME KEY_SEQ",
		2, false },
	{ statistics,
		"TABLE_CAT TABLE_SCHEM TABLE_NAME NON_UNIQUE:s INDEX_QUALIFIER "
		"INDEX_NAME TYPE:s ORDINAL_POSITION:s COLUMN_NAME ASC_OR_DESC "
		"CARDINALITY:i PAGES:i FILTER_CONDITION",
		"NON_UNIQUE TYPE INDEX_QUALIFIER INDEX_NAME ORDINAL_POSITION", 5, false },
	{ row_id, SPECIAL_COLUMNS, "SCOPE", 1, false },
	{ row_version, SPECIAL_COLUMNS, "SCOPE", 0, false },
	{ procedures,
		"PROCEDURE_CAT PROCEDURE_SCHEM PROCEDURE_NAME NUM_INPUT_PARAMS:i "
		"NUM_OUTPUT_PARAMS:i NUM_RESULT_SETS:i REMARKS PROCEDURE_TYPE:s",
		"PROCEDURE_CAT PROCEDURE_SCHEM PROCEDURE_NAME", 2, true },
	{ procedure_columns,
		"PROCEDURE_CAT PROCEDURE_SCHEM PROCEDURE_NAME COLUMN_NAME COLUMN_TYPE:s "
		"DATA_TYPE:s TYPE_NAME COLUMN_SIZE:i BUFFER_LENGTH:i DECIMAL_DIGITS:s "
		"NUM_PREC_RADIX:s NULLABLE:s REMARKS COLUMN_DEF SQL_DATA_TYPE:s "
		"SQL_DATETIME_SUB:s CHAR_OCTET_LENGTH:i ORDINAL_POSITION:i IS_NULLABLE",
		"PROCEDURE_CAT PROCEDURE_SCHEM PROCEDURE_NAME ORDINAL_POSITION", 3,
		true },
	{ table_privileges,
		"TABLE_CAT TABLE_SCHEM TABLE_NAME GRANTOR GRANTEE PRIVILEGE IS_GRANTABLE",
		"TABLE_CAT TABLE_SCHEM TABLE_NAME PRIVILEGE GRANTEE", 4, true },
	{ column_privileges,
		"TABLE_CAT TABLE_SCHEM TABLE_NAME COLUMN_NAME GRANTOR GRANTEE PRIVILEGE "
		"IS_GRANTABLE",
		"TABLE_CAT TABLE_SCHEM TABLE_NAME COLUMN_NAME PRIVILEGE", 4, true },
	{ types,
		"TYPE_NAME DATA_TYPE:s COLUMN_SIZE:i LITERAL_PREFIX LITERAL_SUFFIX "
		"CREATE_PARAMS NULLABLE:s CASE_SENSITIVE:s SEARCHABLE:s "
		"UNSIGNED_ATTRIBUTE:s FIXED_PREC_SCALE:s AUTO_UNIQUE_VALUE:s "
		"LOCAL_TYPE_NAME MINIMUM_SCALE:s MAXIMUM_SCALE:s SQL_DATA_TYPE:s "
		"SQL_DATETIME_SUB:s NUM_PREC_RADIX:i INTERVAL_PRECISION:s",
		"DATA_TYPE", 4, false },
};

/* Return the first word, of `ret_n` characters, and move past it. NULL if there is no word. */
static const char *
take_word(const char **words, size_t *ret_n)
{
	const char *word = *words + strspn(*words, " ");

	*ret_n = strcspn(word, " ");
	*words = word + *ret_n;
	return *ret_n > 0 ? word : NULL;
}

/* ------------------------------------------------------------------------------ columns ----- */

static char
kind_of(SQLSMALLINT type)
{
	switch (type) {
	case SQL_SMALLINT:
		return 's';
	case SQL_INTEGER:
		return 'i';
	case SQL_CHAR:
	case SQL_VARCHAR:
	case SQL_WCHAR:
	case SQL_WVARCHAR:
		return 't';
	default:
		return '?';
	}
}

/* The result's columns, in the notation of `sets`. */
static const char *
columns_of(SQLHSTMT stmt)
{
	static char text[1024];
	SQLSMALLINT n, type;
	char name[64];
	size_t at = 0;

	ok(stmt, SQLNumResultCols(stmt, &n));
	for (SQLSMALLINT i = 1; i <= n; i++) {
		char suffix[] = ":?";

		ok(stmt, SQLDescribeCol(stmt, (SQLUSMALLINT)i, (SQLCHAR *)name,
				 sizeof(name), NULL, &type, NULL, NULL, NULL));
		suffix[1] = kind_of(type);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s%s",
			i > 1 ? " " : "", name, suffix[1] == 't' ? "" : suffix);
		assert_true(at < sizeof(text));
	}
	return text;
}

static void
every_result_has_the_columns_of_the_standard(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(sets); i++) {
		ok(the.stmt, sets[i].ask(the.stmt));
		assert_string_equal(columns_of(the.stmt), sets[i].columns);
		ok(the.stmt, SQLCloseCursor(the.stmt));
	}
}

/* -------------------------------------------------------------------------------- order ----- */

/* A sort key: numbers are compared as numbers, and NULL comes first. */
struct key {
	bool is_null, is_number;
	long number;
	char text[TEXT_MAX];
};

struct row {
	size_t n;
	struct key keys[5];
};

static SQLUSMALLINT
number_of(const char *columns, const char *name, size_t n_name, bool *ret_is_number)
{
	SQLUSMALLINT i = 1;
	const char *word;
	size_t n;

	for (; (word = take_word(&columns, &n)) != NULL; i++) {
		*ret_is_number = n > 2 && word[n - 2] == ':';
		if (n - (*ret_is_number ? 2 : 0) == n_name &&
			memcmp(word, name, n_name) == 0)
			return i;
	}
	fail_msg("there is no column %s", name);
	return 0;
}

static void
read_key(const struct set *set, const char *name, size_t n_name, struct key *key)
{
	SQLUSMALLINT i = number_of(set->columns, name, n_name, &key->is_number);
	SQLLEN length = 0;
	SQLINTEGER number = 0;

	key->text[0] = '\0';
	if (key->is_number)
		ok(the.stmt, SQLGetData(the.stmt, i, SQL_C_SLONG, &number, 0, &length));
	else
		ok(the.stmt, SQLGetData(the.stmt, i, SQL_C_CHAR, key->text,
				     sizeof(key->text), &length));
	key->number = number;
	key->is_null = length == SQL_NULL_DATA;
}

static void
read_row(const struct set *set, struct row *row)
{
	const char *order = set->order, *name;
	size_t n;

	for (row->n = 0; (name = take_word(&order, &n)) != NULL; row->n++)
		read_key(set, name, n, &row->keys[row->n]);
}

/* MySQL compares names in upper case. */
static int
compare_names(const char *a, const char *b)
{
	if (!the.kind->has_server || the.kind->server != CNT_MARIADB)
		return strcmp(a, b);
	while (*a != '\0' && toupper((unsigned char)*a) == toupper((unsigned char)*b)) {
		a++;
		b++;
	}
	return toupper((unsigned char)*a) - toupper((unsigned char)*b);
}

static int
compare_keys(const struct key *a, const struct key *b)
{
	if (a->is_null || b->is_null)
		return b->is_null - a->is_null;
	if (a->is_number)
		return (a->number > b->number) - (a->number < b->number);
	return compare_names(a->text, b->text);
}

static int
compare_rows(const struct row *a, const struct row *b)
{
	for (size_t i = 0; i < a->n; i++) {
		int r = compare_keys(&a->keys[i], &b->keys[i]);

		if (r != 0)
			return r;
	}
	return 0;
}

static void
fail_misplaced(
	const struct set *set, int n, const struct row *before, const struct row *row)
{
	for (size_t i = 0; i < row->n; i++) {
		const struct key *a = &before->keys[i], *b = &row->keys[i];

		print_error("%s%ld%s, %s%ld%s\n", a->is_null ? "null " : "", a->number,
			a->text, b->is_null ? "null " : "", b->number, b->text);
	}
	fail_msg("row %d is not in the order of %s", n, set->order);
}

static int
count_in_order(const struct set *set)
{
	static struct row rows[2];
	SQLRETURN ret;
	int n = 0;

	ok(the.stmt, set->ask(the.stmt));
	for (; (ret = SQLFetch(the.stmt)) != SQL_NO_DATA; n++) {
		ok(the.stmt, ret);
		read_row(set, &rows[n % 2]);
		if (n > 0 && compare_rows(&rows[(n + 1) % 2], &rows[n % 2]) > 0)
			fail_misplaced(set, n, &rows[(n + 1) % 2], &rows[n % 2]);
	}
	ok(the.stmt, SQLCloseCursor(the.stmt));
	return n;
}

static void
every_result_has_the_order_of_the_standard(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(sets); i++) {
		const struct set *set = &sets[i];
		int n = count_in_order(set);

		print_message("# %d rows by %s\n", n, set->order);
		if (set->is_of_servers && !the.kind->has_server)
			assert_int_equal(n, 0);
		else
			assert_true(n >= set->n_least);
	}
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(every_result_has_the_columns_of_the_standard),
		TEST(every_result_has_the_order_of_the_standard),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
