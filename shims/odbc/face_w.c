/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exported wide functions (UTF-16), generated from face_list.h. It has no state.
 */
#include "odbc.h"

#include "face_list.h"

#define CHAR       SQLWCHAR
#define WIDE       1
#define COD_EXPORT __attribute__((visibility("default")))

/* clang-format off */
#define FUNCTION(kind, name, id, params, texts, action)                                  \
	COD_EXPORT SQLRETURN SQL_API name##W params                                      \
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
	COD_EXPORT SQLRETURN SQL_API name##W params                                      \
	{                                                                                \
		struct cod_call call;                                                    \
                                                                                         \
		if (!cod_enter_diag(&call, handle, kind))                                \
			return call.ret;                                                 \
		call.ret = action;                                                       \
		return cod_leave(&call);                                                 \
	}
/* clang-format on */

COD_FACE_TEXT(FUNCTION)
COD_FACE_DIAG(DIAGNOSTICS)
