/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exported functions: those without texts, and the narrow variants of those with texts. Each is
 * generated from face_list.h and calls one cod_...() function. It has no state.
 */
#include "odbc.h"

#include "face_list.h"

#define CHAR       SQLCHAR
#define WIDE       0
#define COD_EXPORT __attribute__((visibility("default")))

/* clang-format off */
#define FUNCTION(kind, name, id, params, texts, action)                                  \
	COD_EXPORT SQLRETURN SQL_API name params                                         \
	{                                                                                \
		struct cod_call call;                                                    \
                                                                                         \
		if (!cod_enter(&call, handle, COD_##kind, id))                           \
			return call.ret;                                                 \
		texts                                                                    \
		if (call.ret == SQL_SUCCESS)                                             \
			call.ret = action;                                               \
		return cod_leave(&call);                                                 \
	}
#define DIAGNOSTICS(name, id, params, action)                                            \
	COD_EXPORT SQLRETURN SQL_API name params                                         \
	{                                                                                \
		struct cod_call call;                                                    \
                                                                                         \
		if (!cod_enter_diag(&call, handle, kind))                                \
			return call.ret;                                                 \
		call.ret = action;                                                       \
		return cod_leave(&call);                                                 \
	}
/* clang-format on */

COD_FACE_PLAIN(FUNCTION)
COD_FACE_TEXT(FUNCTION)
COD_FACE_DIAG(DIAGNOSTICS)

/* A handle of one kind is allocated from a handle of its parent's kind. */
COD_EXPORT SQLRETURN SQL_API
SQLAllocHandle(SQLSMALLINT kind, SQLHANDLE handle, SQLHANDLE *ret_handle)
{
	enum cod_kind parent = kind == SQL_HANDLE_DBC ? COD_ENV : COD_DBC;
	struct cod_call call;

	if (kind == SQL_HANDLE_ENV)
		return cod_alloc_env(ret_handle);
	if (!cod_enter(&call, handle, parent, SQL_API_SQLALLOCHANDLE))
		return call.ret;
	if (ret_handle == NULL)
		call.ret = cod_fail(call.head, "HY009");
	else if (kind == SQL_HANDLE_DBC)
		call.ret = cod_alloc_dbc(ENV, ret_handle);
	else if (kind == SQL_HANDLE_STMT)
		call.ret = cod_alloc_stmt(DBC, ret_handle);
	else if (kind == SQL_HANDLE_DESC)
		call.ret = cod_alloc_desc(DBC, ret_handle);
	else
		call.ret = cod_fail(call.head, "HY092");
	return cod_leave(&call);
}

COD_EXPORT SQLRETURN SQL_API
SQLFreeHandle(SQLSMALLINT kind, SQLHANDLE handle)
{
	return cod_free_handle(kind, handle);
}

COD_EXPORT SQLRETURN SQL_API
SQLEndTran(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT completion)
{
	return cod_end_tran(kind, handle, completion);
}

/* The two handles may have different locks, so cod_copy_desc() takes them. */
COD_EXPORT SQLRETURN SQL_API
SQLCopyDesc(SQLHDESC source, SQLHDESC target)
{
	return cod_copy_desc(source, target);
}

/* Another thread may call these while the handle is locked, so they do not take the lock. */
COD_EXPORT SQLRETURN SQL_API
SQLCancel(SQLHSTMT handle)
{
	return cod_cancel_handle(SQL_HANDLE_STMT, handle);
}

COD_EXPORT SQLRETURN SQL_API
SQLCancelHandle(SQLSMALLINT kind, SQLHANDLE handle)
{
	return cod_cancel_handle(kind, handle);
}

#define NUMBER(kind, name, id, params, texts, action) id,
#define DIAG_NUMBER(name, id, params, action)         id,
#define OWN_NUMBER(name, id)                          id,

static const SQLUSMALLINT functions[] = { COD_FACE_PLAIN(NUMBER) COD_FACE_TEXT(NUMBER)
		COD_FACE_DIAG(DIAG_NUMBER) COD_FACE_OWN(OWN_NUMBER) };

static bool
is_exported(SQLUSMALLINT id)
{
	for (size_t i = 0; i < COD_COUNT(functions); i++) {
		if (functions[i] == id)
			return true;
	}
	return false;
}

SQLRETURN
cod_get_functions(struct cod_dbc *dbc, SQLUSMALLINT id, SQLUSMALLINT *supported)
{
	if (supported == NULL)
		return cod_fail(&dbc->head, "HY009");
	if (id == SQL_API_ODBC3_ALL_FUNCTIONS) {
		for (int i = 0; i < SQL_API_ODBC3_ALL_FUNCTIONS_SIZE; i++)
			supported[i] = 0;
		for (size_t i = 0; i < COD_COUNT(functions); i++)
			supported[functions[i] >> 4] |=
				(SQLUSMALLINT)(1u << (functions[i] & 15u));
		return SQL_SUCCESS;
	}
	if (id == SQL_API_ALL_FUNCTIONS) {
		for (SQLUSMALLINT i = 0; i < 100; i++)
			supported[i] = is_exported(i) ? SQL_TRUE : SQL_FALSE;
		return SQL_SUCCESS;
	}
	if (id > SQL_API_SQLCANCELHANDLE)
		return cod_fail(&dbc->head, "HY095");
	*supported = is_exported(id) ? SQL_TRUE : SQL_FALSE;
	return SQL_SUCCESS;
}
