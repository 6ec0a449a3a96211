/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_FACE_LIST_H
#define COD_FACE_LIST_H

/*
 * Every function that the driver exports: the kind of its handle, its name, its number, its
 * parameters, its text arguments, and the call that carries it out. Functions with texts are
 * exported twice, narrow and wide; the including file defines CHAR, WIDE and NAME. face.c and
 * face_w.c make the functions from it, and SQLGetFunctions() its answer.
 *
 * TEXT(x) is an argument with its length, LONG_TEXT(x) one with a long length. IN(x) makes `x_text`
 * of it. OUT() makes a sink in characters, OUT_BYTES() and OUT_BYTES32() one in bytes.
 */
/* clang-format off */
#define TEXT(x)      CHAR *x, SQLSMALLINT n_##x
#define LONG_TEXT(x) CHAR *x, SQLINTEGER n_##x
#define IN(x)        struct cod_text x##_text = cod_call_text(&call, x, n_##x, WIDE);
#define OUT(x, room, length)         &(struct cod_sink){ { x, (SQLLEN)(room) * (SQLLEN)sizeof(CHAR), WIDE }, true, length, NULL }
#define OUT32(x, room, length)       &(struct cod_sink){ { x, (SQLLEN)(room) * (SQLLEN)sizeof(CHAR), WIDE }, true, NULL, length }
#define OUT_BYTES(x, room, length)   &(struct cod_sink){ { x, room, WIDE }, false, length, NULL }
#define OUT_BYTES32(x, room, length) &(struct cod_sink){ { x, room, WIDE }, false, NULL, length }
#define OUT_FIXED(x, n)              &(struct cod_sink){ { x, (SQLLEN)(n) * (SQLLEN)sizeof(CHAR), WIDE }, true, NULL, NULL }
#define ENV  ((struct cod_env *)handle)
#define DBC  ((struct cod_dbc *)handle)
#define STMT ((struct cod_stmt *)handle)
#define DESC ((struct cod_desc *)handle)

/* Functions without texts. */
#define COD_FACE_PLAIN(FN) \
	FN(STMT, SQLBindCol, SQL_API_SQLBINDCOL, (SQLHSTMT handle, SQLUSMALLINT col, SQLSMALLINT type, SQLPOINTER value, SQLLEN room, SQLLEN *length), , cod_bind_col(STMT, col, type, value, room, length)) \
	FN(STMT, SQLBindParam, SQL_API_SQLBINDPARAM, (SQLHSTMT handle, SQLUSMALLINT i, SQLSMALLINT c_type, SQLSMALLINT sql_type, SQLULEN size, SQLSMALLINT digits, SQLPOINTER value, SQLLEN *length), , cod_bind_parameter(STMT, i, SQL_PARAM_INPUT, c_type, sql_type, size, digits, value, SQL_SETPARAM_VALUE_MAX, length)) \
	FN(STMT, SQLBindParameter, SQL_API_SQLBINDPARAMETER, (SQLHSTMT handle, SQLUSMALLINT i, SQLSMALLINT param_type, SQLSMALLINT c_type, SQLSMALLINT sql_type, SQLULEN size, SQLSMALLINT digits, SQLPOINTER value, SQLLEN room, SQLLEN *length), , cod_bind_parameter(STMT, i, param_type, c_type, sql_type, size, digits, value, room, length)) \
	FN(STMT, SQLBulkOperations, SQL_API_SQLBULKOPERATIONS, (SQLHSTMT handle, SQLSMALLINT operation), , cod_bulk_operations(STMT, operation)) \
	FN(STMT, SQLCloseCursor, SQL_API_SQLCLOSECURSOR, (SQLHSTMT handle), , cod_close_cursor(STMT)) \
	FN(STMT, SQLDescribeParam, SQL_API_SQLDESCRIBEPARAM, (SQLHSTMT handle, SQLUSMALLINT i, SQLSMALLINT *type, SQLULEN *size, SQLSMALLINT *digits, SQLSMALLINT *nullable), , cod_describe_param(STMT, i, type, size, digits, nullable)) \
	FN(DBC, SQLDisconnect, SQL_API_SQLDISCONNECT, (SQLHDBC handle), , cod_disconnect(DBC)) \
	FN(STMT, SQLExecute, SQL_API_SQLEXECUTE, (SQLHSTMT handle), , cod_execute(STMT)) \
	FN(STMT, SQLExtendedFetch, SQL_API_SQLEXTENDEDFETCH, (SQLHSTMT handle, SQLUSMALLINT orientation, SQLLEN offset, SQLULEN *n, SQLUSMALLINT *status), , cod_extended_fetch(STMT, orientation, offset, n, status)) \
	FN(STMT, SQLFetch, SQL_API_SQLFETCH, (SQLHSTMT handle), , cod_fetch_scroll(STMT, SQL_FETCH_NEXT, 0)) \
	FN(STMT, SQLFetchScroll, SQL_API_SQLFETCHSCROLL, (SQLHSTMT handle, SQLSMALLINT orientation, SQLLEN offset), , cod_fetch_scroll(STMT, orientation, offset)) \
	FN(STMT, SQLFreeStmt, SQL_API_SQLFREESTMT, (SQLHSTMT handle, SQLUSMALLINT option), , cod_free_stmt(STMT, option)) \
	FN(STMT, SQLGetData, SQL_API_SQLGETDATA, (SQLHSTMT handle, SQLUSMALLINT col, SQLSMALLINT type, SQLPOINTER value, SQLLEN room, SQLLEN *length), , cod_get_data(STMT, col, type, value, room, length)) \
	FN(ENV, SQLGetEnvAttr, SQL_API_SQLGETENVATTR, (SQLHENV handle, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER room, SQLINTEGER *length), (void)room;, cod_get_env_attr(ENV, attr, value, length)) \
	FN(DBC, SQLGetFunctions, SQL_API_SQLGETFUNCTIONS, (SQLHDBC handle, SQLUSMALLINT id, SQLUSMALLINT *supported), , cod_get_functions(DBC, id, supported)) \
	FN(STMT, SQLMoreResults, SQL_API_SQLMORERESULTS, (SQLHSTMT handle), , cod_more_results(STMT)) \
	FN(STMT, SQLNumParams, SQL_API_SQLNUMPARAMS, (SQLHSTMT handle, SQLSMALLINT *n), , cod_num_params(STMT, n)) \
	FN(STMT, SQLNumResultCols, SQL_API_SQLNUMRESULTCOLS, (SQLHSTMT handle, SQLSMALLINT *n), , cod_num_result_cols(STMT, n)) \
	FN(STMT, SQLParamData, SQL_API_SQLPARAMDATA, (SQLHSTMT handle, SQLPOINTER *value), , cod_param_data(STMT, value)) \
	FN(STMT, SQLPutData, SQL_API_SQLPUTDATA, (SQLHSTMT handle, SQLPOINTER value, SQLLEN length), , cod_put_data(STMT, value, length)) \
	FN(STMT, SQLRowCount, SQL_API_SQLROWCOUNT, (SQLHSTMT handle, SQLLEN *n), , cod_row_count(STMT, n)) \
	FN(DESC, SQLSetDescRec, SQL_API_SQLSETDESCREC, (SQLHDESC handle, SQLSMALLINT i, SQLSMALLINT type, SQLSMALLINT sub, SQLLEN length, SQLSMALLINT precision, SQLSMALLINT scale, SQLPOINTER data, SQLLEN *octets, SQLLEN *indicator), , \
		cod_set_desc_rec(DESC, i, &(struct cod_record){ .type = type, .sub = sub, .octet_length = length, .precision = precision, .scale = scale, .data = data, .octets = octets, .indicator = indicator })) \
	FN(ENV, SQLSetEnvAttr, SQL_API_SQLSETENVATTR, (SQLHENV handle, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER length), (void)length;, cod_set_env_attr(ENV, attr, value)) \
	FN(STMT, SQLSetParam, SQL_API_SQLSETPARAM, (SQLHSTMT handle, SQLUSMALLINT i, SQLSMALLINT c_type, SQLSMALLINT sql_type, SQLULEN size, SQLSMALLINT digits, SQLPOINTER value, SQLLEN *length), , cod_bind_parameter(STMT, i, SQL_PARAM_INPUT_OUTPUT, c_type, sql_type, size, digits, value, SQL_SETPARAM_VALUE_MAX, length)) \
	FN(STMT, SQLSetPos, SQL_API_SQLSETPOS, (SQLHSTMT handle, SQLSETPOSIROW row, SQLUSMALLINT operation, SQLUSMALLINT lock), , cod_set_pos(STMT, row, operation, lock))

#define CATALOG(...) cod_ask_catalog(STMT, &(struct cod_catalog_args){ __VA_ARGS__ })

/* Functions with texts: narrow, and wide with a W after the name. */
#define COD_FACE_TEXT(FN) \
	FN(DBC, SQLBrowseConnect, SQL_API_SQLBROWSECONNECT, (SQLHDBC handle, TEXT(in), CHAR *out, SQLSMALLINT room, SQLSMALLINT *length), IN(in), cod_browse_connect(DBC, in_text, OUT(out, room, length), WIDE)) \
	FN(STMT, SQLColAttribute, SQL_API_SQLCOLATTRIBUTE, (SQLHSTMT handle, SQLUSMALLINT col, SQLUSMALLINT field, SQLPOINTER text, SQLSMALLINT room, SQLSMALLINT *length, SQLLEN *number), , cod_col_attribute(STMT, col, field, OUT_BYTES(text, room, length), number)) \
	FN(STMT, SQLColumnPrivileges, SQL_API_SQLCOLUMNPRIVILEGES, (SQLHSTMT handle, TEXT(catalog), TEXT(schema), TEXT(table), TEXT(column)), IN(catalog) IN(schema) IN(table) IN(column), \
		CATALOG(COD_CATALOG_COLUMN_PRIVILEGES, .catalog = catalog_text.text, .schema = schema_text.text, .object = table_text.text, .column = column_text.text)) \
	FN(STMT, SQLColumns, SQL_API_SQLCOLUMNS, (SQLHSTMT handle, TEXT(catalog), TEXT(schema), TEXT(table), TEXT(column)), IN(catalog) IN(schema) IN(table) IN(column), \
		CATALOG(COD_CATALOG_COLUMNS, .catalog = catalog_text.text, .schema = schema_text.text, .object = table_text.text, .column = column_text.text)) \
	FN(DBC, SQLConnect, SQL_API_SQLCONNECT, (SQLHDBC handle, TEXT(dsn), TEXT(user), TEXT(password)), IN(dsn) IN(user) IN(password), cod_connect(DBC, dsn_text, user_text, password_text, WIDE)) \
	FN(STMT, SQLDescribeCol, SQL_API_SQLDESCRIBECOL, (SQLHSTMT handle, SQLUSMALLINT col, CHAR *name, SQLSMALLINT room, SQLSMALLINT *length, SQLSMALLINT *type, SQLULEN *size, SQLSMALLINT *digits, SQLSMALLINT *nullable), , cod_describe_col(STMT, col, OUT(name, room, length), type, size, digits, nullable)) \
	FN(DBC, SQLDriverConnect, SQL_API_SQLDRIVERCONNECT, (SQLHDBC handle, SQLHWND window, TEXT(in), CHAR *out, SQLSMALLINT room, SQLSMALLINT *length, SQLUSMALLINT completion), (void)window; IN(in), cod_driver_connect(DBC, in_text, OUT(out, room, length), completion, WIDE)) \
	FN(STMT, SQLExecDirect, SQL_API_SQLEXECDIRECT, (SQLHSTMT handle, LONG_TEXT(sql)), IN(sql), cod_exec_direct(STMT, sql_text)) \
	FN(STMT, SQLForeignKeys, SQL_API_SQLFOREIGNKEYS, (SQLHSTMT handle, TEXT(catalog), TEXT(schema), TEXT(table), TEXT(fk_catalog), TEXT(fk_schema), TEXT(fk_table)), IN(catalog) IN(schema) IN(table) IN(fk_catalog) IN(fk_schema) IN(fk_table), \
		CATALOG(COD_CATALOG_FOREIGN_KEYS, .catalog = catalog_text.text, .schema = schema_text.text, .object = table_text.text, .fk_catalog = fk_catalog_text.text, .fk_schema = fk_schema_text.text, .fk_object = fk_table_text.text)) \
	FN(DBC, SQLGetConnectAttr, SQL_API_SQLGETCONNECTATTR, (SQLHDBC handle, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER room, SQLINTEGER *length), , cod_get_connect_attr(DBC, attr, value, OUT_BYTES32(value, room, length))) \
	FN(STMT, SQLGetCursorName, SQL_API_SQLGETCURSORNAME, (SQLHSTMT handle, CHAR *name, SQLSMALLINT room, SQLSMALLINT *length), , cod_get_cursor_name(STMT, OUT(name, room, length))) \
	FN(DESC, SQLGetDescField, SQL_API_SQLGETDESCFIELD, (SQLHDESC handle, SQLSMALLINT i, SQLSMALLINT field, SQLPOINTER value, SQLINTEGER room, SQLINTEGER *length), , cod_get_desc_field(DESC, i, field, value, OUT_BYTES32(value, room, length))) \
	FN(DESC, SQLGetDescRec, SQL_API_SQLGETDESCREC, (SQLHDESC handle, SQLSMALLINT i, CHAR *name, SQLSMALLINT room, SQLSMALLINT *name_length, SQLSMALLINT *type, SQLSMALLINT *sub, SQLLEN *length, SQLSMALLINT *precision, SQLSMALLINT *scale, SQLSMALLINT *nullable), , \
		cod_get_desc_rec(DESC, i, OUT(name, room, name_length), &(struct cod_desc_numbers){ type, sub, precision, scale, nullable, length })) \
	FN(DBC, SQLGetInfo, SQL_API_SQLGETINFO, (SQLHDBC handle, SQLUSMALLINT id, SQLPOINTER value, SQLSMALLINT room, SQLSMALLINT *length), , cod_get_info(DBC, id, value, OUT_BYTES(value, room, length))) \
	FN(STMT, SQLGetStmtAttr, SQL_API_SQLGETSTMTATTR, (SQLHSTMT handle, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER room, SQLINTEGER *length), (void)room;, cod_get_stmt_attr(STMT, attr, value, length)) \
	FN(STMT, SQLGetTypeInfo, SQL_API_SQLGETTYPEINFO, (SQLHSTMT handle, SQLSMALLINT type), , CATALOG(COD_CATALOG_TYPE_INFO, .sql_type = type)) \
	FN(DBC, SQLNativeSql, SQL_API_SQLNATIVESQL, (SQLHDBC handle, LONG_TEXT(sql), CHAR *out, SQLINTEGER room, SQLINTEGER *length), IN(sql), cod_native_sql(DBC, sql_text, OUT32(out, room, length))) \
	FN(STMT, SQLPrepare, SQL_API_SQLPREPARE, (SQLHSTMT handle, LONG_TEXT(sql)), IN(sql), cod_prepare(STMT, sql_text)) \
	FN(STMT, SQLPrimaryKeys, SQL_API_SQLPRIMARYKEYS, (SQLHSTMT handle, TEXT(catalog), TEXT(schema), TEXT(table)), IN(catalog) IN(schema) IN(table), \
		CATALOG(COD_CATALOG_PRIMARY_KEYS, .catalog = catalog_text.text, .schema = schema_text.text, .object = table_text.text)) \
	FN(STMT, SQLProcedureColumns, SQL_API_SQLPROCEDURECOLUMNS, (SQLHSTMT handle, TEXT(catalog), TEXT(schema), TEXT(procedure), TEXT(column)), IN(catalog) IN(schema) IN(procedure) IN(column), \
		CATALOG(COD_CATALOG_PROCEDURE_COLUMNS, .catalog = catalog_text.text, .schema = schema_text.text, .object = procedure_text.text, .column = column_text.text)) \
	FN(STMT, SQLProcedures, SQL_API_SQLPROCEDURES, (SQLHSTMT handle, TEXT(catalog), TEXT(schema), TEXT(procedure)), IN(catalog) IN(schema) IN(procedure), \
		CATALOG(COD_CATALOG_PROCEDURES, .catalog = catalog_text.text, .schema = schema_text.text, .object = procedure_text.text)) \
	FN(DBC, SQLSetConnectAttr, SQL_API_SQLSETCONNECTATTR, (SQLHDBC handle, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER n), , cod_set_connect_attr(DBC, attr, value, n, WIDE)) \
	FN(STMT, SQLSetCursorName, SQL_API_SQLSETCURSORNAME, (SQLHSTMT handle, TEXT(name)), IN(name), cod_set_cursor_name(STMT, name_text)) \
	FN(DESC, SQLSetDescField, SQL_API_SQLSETDESCFIELD, (SQLHDESC handle, SQLSMALLINT i, SQLSMALLINT field, SQLPOINTER value, SQLINTEGER n), , cod_set_desc_field(DESC, i, field, value, n, WIDE)) \
	FN(STMT, SQLSetStmtAttr, SQL_API_SQLSETSTMTATTR, (SQLHSTMT handle, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER n), , cod_set_stmt_attr(STMT, attr, value, n)) \
	FN(STMT, SQLSpecialColumns, SQL_API_SQLSPECIALCOLUMNS, (SQLHSTMT handle, SQLUSMALLINT kind, TEXT(catalog), TEXT(schema), TEXT(table), SQLUSMALLINT scope, SQLUSMALLINT nullable), IN(catalog) IN(schema) IN(table), \
		CATALOG(COD_CATALOG_SPECIAL_COLUMNS, .catalog = catalog_text.text, .schema = schema_text.text, .object = table_text.text, .special = kind, .scope = scope, .nullable = nullable)) \
	FN(STMT, SQLStatistics, SQL_API_SQLSTATISTICS, (SQLHSTMT handle, TEXT(catalog), TEXT(schema), TEXT(table), SQLUSMALLINT unique, SQLUSMALLINT accuracy), IN(catalog) IN(schema) IN(table), \
		CATALOG(COD_CATALOG_STATISTICS, .catalog = catalog_text.text, .schema = schema_text.text, .object = table_text.text, .is_unique = unique, .accuracy = accuracy)) \
	FN(STMT, SQLTablePrivileges, SQL_API_SQLTABLEPRIVILEGES, (SQLHSTMT handle, TEXT(catalog), TEXT(schema), TEXT(table)), IN(catalog) IN(schema) IN(table), \
		CATALOG(COD_CATALOG_TABLE_PRIVILEGES, .catalog = catalog_text.text, .schema = schema_text.text, .object = table_text.text)) \
	FN(STMT, SQLTables, SQL_API_SQLTABLES, (SQLHSTMT handle, TEXT(catalog), TEXT(schema), TEXT(table), TEXT(types)), IN(catalog) IN(schema) IN(table) IN(types), \
		CATALOG(COD_CATALOG_TABLES, .catalog = catalog_text.text, .schema = schema_text.text, .object = table_text.text, .types = types_text.text))

/* Functions that read diagnostics, and therefore keep them. The kind of the handle is an
 * argument. */
#define COD_FACE_DIAG(FN) \
	FN(SQLGetDiagField, SQL_API_SQLGETDIAGFIELD, (SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT i, SQLSMALLINT field, SQLPOINTER value, SQLSMALLINT room, SQLSMALLINT *length), cod_get_diag_field(handle, i, field, value, OUT_BYTES(value, room, length))) \
	FN(SQLGetDiagRec, SQL_API_SQLGETDIAGREC, (SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT i, CHAR *state, SQLINTEGER *native, CHAR *message, SQLSMALLINT room, SQLSMALLINT *length), cod_get_diag_rec(handle, i, OUT_FIXED(state, SQL_SQLSTATE_SIZE + 1), native, OUT(message, room, length)))

/* Functions that check and lock their handle themselves. */
#define COD_FACE_OWN(FN) \
	FN(SQLAllocHandle, SQL_API_SQLALLOCHANDLE) \
	FN(SQLCancel, SQL_API_SQLCANCEL) \
	FN(SQLCancelHandle, SQL_API_SQLCANCELHANDLE) \
	FN(SQLCopyDesc, SQL_API_SQLCOPYDESC) \
	FN(SQLEndTran, SQL_API_SQLENDTRAN) \
	FN(SQLFreeHandle, SQL_API_SQLFREEHANDLE)
/* clang-format on */

#endif
