/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <stdio.h>

#include <sql.h>
#include <sqlext.h>

/*
 * usage: functions DRIVER
 *
 * Asks a driver by SQLGetFunctions() which functions it has, and prints their names. It does not
 * use a driver manager, which would add functions of its own.
 */

#define NAME(name, id)                                                                   \
	{                                                                                \
#name, id                                                                \
	}

static const struct {
	const char *name;
	SQLUSMALLINT id;
} functions[] = {
	NAME(SQLAllocConnect, SQL_API_SQLALLOCCONNECT),
	NAME(SQLAllocEnv, SQL_API_SQLALLOCENV),
	NAME(SQLAllocHandle, SQL_API_SQLALLOCHANDLE),
	NAME(SQLAllocStmt, SQL_API_SQLALLOCSTMT),
	NAME(SQLBindCol, SQL_API_SQLBINDCOL),
	NAME(SQLBindParam, SQL_API_SQLBINDPARAM),
	NAME(SQLBindParameter, SQL_API_SQLBINDPARAMETER),
	NAME(SQLBrowseConnect, SQL_API_SQLBROWSECONNECT),
	NAME(SQLBulkOperations, SQL_API_SQLBULKOPERATIONS),
	NAME(SQLCancel, SQL_API_SQLCANCEL),
	NAME(SQLCancelHandle, SQL_API_SQLCANCELHANDLE),
	NAME(SQLCloseCursor, SQL_API_SQLCLOSECURSOR),
	NAME(SQLColAttribute, SQL_API_SQLCOLATTRIBUTE),
	NAME(SQLColumnPrivileges, SQL_API_SQLCOLUMNPRIVILEGES),
	NAME(SQLColumns, SQL_API_SQLCOLUMNS),
	NAME(SQLConnect, SQL_API_SQLCONNECT),
	NAME(SQLCopyDesc, SQL_API_SQLCOPYDESC),
	NAME(SQLDataSources, SQL_API_SQLDATASOURCES),
	NAME(SQLDescribeCol, SQL_API_SQLDESCRIBECOL),
	NAME(SQLDescribeParam, SQL_API_SQLDESCRIBEPARAM),
	NAME(SQLDisconnect, SQL_API_SQLDISCONNECT),
	NAME(SQLDriverConnect, SQL_API_SQLDRIVERCONNECT),
	NAME(SQLDrivers, SQL_API_SQLDRIVERS),
	NAME(SQLEndTran, SQL_API_SQLENDTRAN),
	NAME(SQLError, SQL_API_SQLERROR),
	NAME(SQLExecDirect, SQL_API_SQLEXECDIRECT),
	NAME(SQLExecute, SQL_API_SQLEXECUTE),
	NAME(SQLExtendedFetch, SQL_API_SQLEXTENDEDFETCH),
	NAME(SQLFetch, SQL_API_SQLFETCH),
	NAME(SQLFetchScroll, SQL_API_SQLFETCHSCROLL),
	NAME(SQLForeignKeys, SQL_API_SQLFOREIGNKEYS),
	NAME(SQLFreeConnect, SQL_API_SQLFREECONNECT),
	NAME(SQLFreeEnv, SQL_API_SQLFREEENV),
	NAME(SQLFreeHandle, SQL_API_SQLFREEHANDLE),
	NAME(SQLFreeStmt, SQL_API_SQLFREESTMT),
	NAME(SQLGetConnectAttr, SQL_API_SQLGETCONNECTATTR),
	NAME(SQLGetConnectOption, SQL_API_SQLGETCONNECTOPTION),
	NAME(SQLGetCursorName, SQL_API_SQLGETCURSORNAME),
	NAME(SQLGetData, SQL_API_SQLGETDATA),
	NAME(SQLGetDescField, SQL_API_SQLGETDESCFIELD),
	NAME(SQLGetDescRec, SQL_API_SQLGETDESCREC),
	NAME(SQLGetDiagField, SQL_API_SQLGETDIAGFIELD),
	NAME(SQLGetDiagRec, SQL_API_SQLGETDIAGREC),
	NAME(SQLGetEnvAttr, SQL_API_SQLGETENVATTR),
	NAME(SQLGetFunctions, SQL_API_SQLGETFUNCTIONS),
	NAME(SQLGetInfo, SQL_API_SQLGETINFO),
	NAME(SQLGetStmtAttr, SQL_API_SQLGETSTMTATTR),
	NAME(SQLGetStmtOption, SQL_API_SQLGETSTMTOPTION),
	NAME(SQLGetTypeInfo, SQL_API_SQLGETTYPEINFO),
	NAME(SQLMoreResults, SQL_API_SQLMORERESULTS),
	NAME(SQLNativeSql, SQL_API_SQLNATIVESQL),
	NAME(SQLNumParams, SQL_API_SQLNUMPARAMS),
	NAME(SQLNumResultCols, SQL_API_SQLNUMRESULTCOLS),
	NAME(SQLParamData, SQL_API_SQLPARAMDATA),
	NAME(SQLParamOptions, SQL_API_SQLPARAMOPTIONS),
	NAME(SQLPrepare, SQL_API_SQLPREPARE),
	NAME(SQLPrimaryKeys, SQL_API_SQLPRIMARYKEYS),
	NAME(SQLProcedureColumns, SQL_API_SQLPROCEDURECOLUMNS),
	NAME(SQLProcedures, SQL_API_SQLPROCEDURES),
	NAME(SQLPutData, SQL_API_SQLPUTDATA),
	NAME(SQLRowCount, SQL_API_SQLROWCOUNT),
	NAME(SQLSetConnectAttr, SQL_API_SQLSETCONNECTATTR),
	NAME(SQLSetConnectOption, SQL_API_SQLSETCONNECTOPTION),
	NAME(SQLSetCursorName, SQL_API_SQLSETCURSORNAME),
	NAME(SQLSetDescField, SQL_API_SQLSETDESCFIELD),
	NAME(SQLSetDescRec, SQL_API_SQLSETDESCREC),
	NAME(SQLSetEnvAttr, SQL_API_SQLSETENVATTR),
	NAME(SQLSetParam, SQL_API_SQLSETPARAM),
	NAME(SQLSetPos, SQL_API_SQLSETPOS),
	NAME(SQLSetScrollOptions, SQL_API_SQLSETSCROLLOPTIONS),
	NAME(SQLSetStmtAttr, SQL_API_SQLSETSTMTATTR),
	NAME(SQLSetStmtOption, SQL_API_SQLSETSTMTOPTION),
	NAME(SQLSpecialColumns, SQL_API_SQLSPECIALCOLUMNS),
	NAME(SQLStatistics, SQL_API_SQLSTATISTICS),
	NAME(SQLTablePrivileges, SQL_API_SQLTABLEPRIVILEGES),
	NAME(SQLTables, SQL_API_SQLTABLES),
	NAME(SQLTransact, SQL_API_SQLTRANSACT),
};

/*
 * The functions of the driver itself. The driver manager's functions have the same names and would hide
 * them.
 */
struct driver {
	SQLRETURN (*alloc)(SQLSMALLINT kind, SQLHANDLE from, SQLHANDLE *ret);
	SQLRETURN (*free)(SQLSMALLINT kind, SQLHANDLE handle);
	SQLRETURN (*has)(SQLHDBC dbc, SQLUSMALLINT id, SQLUSMALLINT *ret);
};

static int
open_driver(const char *path, struct driver *driver)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		(void)fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	*(void **)&driver->alloc = dlsym(library, "SQLAllocHandle");
	*(void **)&driver->free = dlsym(library, "SQLFreeHandle");
	*(void **)&driver->has = dlsym(library, "SQLGetFunctions");
	return driver->alloc && driver->free && driver->has ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct driver driver;
	SQLHANDLE env, dbc;
	SQLUSMALLINT bits[SQL_API_ODBC3_ALL_FUNCTIONS_SIZE], one;

	if (argc != 2 || open_driver(argv[1], &driver) < 0)
		return 1;
	if (driver.alloc(SQL_HANDLE_ENV, NULL, &env) != SQL_SUCCESS ||
		driver.alloc(SQL_HANDLE_DBC, env, &dbc) != SQL_SUCCESS ||
		driver.has(dbc, SQL_API_ODBC3_ALL_FUNCTIONS, bits) != SQL_SUCCESS)
		return 1;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		int in_bits = SQL_FUNC_EXISTS(bits, functions[i].id) == SQL_TRUE;

		/* asked for one function, the driver must give the same answer */
		if (driver.has(dbc, functions[i].id, &one) != SQL_SUCCESS ||
			(one == SQL_TRUE) != in_bits)
			printf("%s: SQLGetFunctions contradicts itself\n",
				functions[i].name);
		else if (in_bits)
			puts(functions[i].name);
	}
	(void)driver.free(SQL_HANDLE_DBC, dbc);
	(void)driver.free(SQL_HANDLE_ENV, env);
	return 0;
}
