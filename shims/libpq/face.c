/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

/*
 * The exported functions. Each finds out which library made the handle, and forwards the call to
 * the shim's function (cpq_NAME()) or to the original's. A function that an older original lacks
 * returns 0 or NULL.
 *
 * The call of the original library is a separate function, so that a call of the shim costs only a
 * comparison and a jump: programs call some of these functions for every value. After a fallback
 * the program still has the shim's handle, but the original library serves the connection.
 */
/* clang-format off */
#define IS_FOREIGN(handle)                                                               \
	_Generic((handle),                                                               \
		PGresult *: cpq_result_is_foreign,                                       \
		const PGresult *: cpq_result_is_foreign,                                 \
		default: cpq_is_foreign)(handle)
#define WHO_SERVES_NULL
#define WHO_SERVES_res
#define WHO_SERVES_src
#define WHO_SERVES_result
#define WHO_SERVES_cancel
#define WHO_SERVES_cancel_conn
#define WHO_SERVES_ended /* PQfinish() must free the shim's and the original's connection */
#define WHO_SERVES_conn  conn = cpq_stand_in(conn);
#define FORWARD(handle, ret, name, params, args)                                         \
	__attribute__((cold, noinline)) static ret original_##name params                \
	{                                                                                \
		const struct cpq_original *original = cpq_original(NULL);                \
                                                                                         \
		return original != NULL && original->name != NULL ? original->name args  \
								  : (ret)0;              \
	}                                                                                \
	CPQ_EXPORT ret name params                                                       \
	{                                                                                \
		WHO_SERVES_##handle                                                      \
		return IS_FOREIGN(handle) ? original_##name args : cpq_##name args;      \
	}
#define FORWARD_V(handle, name, params, args)                                            \
	__attribute__((cold, noinline)) static void original_##name params               \
	{                                                                                \
		const struct cpq_original *original = cpq_original(NULL);                \
                                                                                         \
		if (original != NULL && original->name != NULL)                          \
			original->name args;                                             \
	}                                                                                \
	CPQ_EXPORT void name params                                                      \
	{                                                                                \
		WHO_SERVES_##handle                                                      \
		if (IS_FOREIGN(handle))                                                  \
			original_##name args;                                            \
		else                                                                     \
			cpq_##name args;                                                 \
	}

#define DECLARE(handle, ret, name, params, args)  CPQ_EXPORT ret name params;
#define DECLARE_V(handle, name, params, args)     CPQ_EXPORT void name params;
/* clang-format on */
#ifndef LIBPQ_HAS_ASYNC_CANCEL
CPQ_FACE_17(DECLARE, DECLARE_V)
#endif
#ifndef LIBPQ_HAS_PROMPT_OAUTH_DEVICE
CPQ_FACE_18(DECLARE, DECLARE_V)
#endif

CPQ_FACE_15(FORWARD, FORWARD_V)
CPQ_FACE_17(FORWARD, FORWARD_V)
CPQ_FACE_18(FORWARD, FORWARD_V)

/* The shim recognises itself by this name when it looks for the original. */
CPQ_EXPORT const char cenote_shim_libpq[] = "Cenote";
