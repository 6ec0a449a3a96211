/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

/*
 * The exported functions. Each forwards the call to the shim's function, or to the original's if
 * the original made the handle. If an older original does not have a function, the result is 0 or
 * NULL.
 */
#define FORWARD(handle, ret, name, params, args)                                         \
	CMY_EXPORT ret name params;                                                      \
	ret name params                                                                  \
	{                                                                                \
		const struct cmy_original *original;                                     \
		if (!cmy_is_foreign(handle))                                             \
			return cmy_##name args;                                          \
		original = cmy_original(NULL);                                           \
		return original && original->name ? original->name args : (ret)0;        \
	}
#define FORWARD_V(handle, name, params, args)                                            \
	CMY_EXPORT void name params;                                                     \
	void name params                                                                 \
	{                                                                                \
		const struct cmy_original *original;                                     \
		if (!cmy_is_foreign(handle)) {                                           \
			cmy_##name args;                                                 \
			return;                                                          \
		}                                                                        \
		original = cmy_original(NULL);                                           \
		if (original && original->name)                                          \
			original->name args;                                             \
	}

CMY_FACE(FORWARD, FORWARD_V)

#if !CMY_ORACLE
#define ALIAS_FN(handle, ret, name, params, args) CMY_ALIAS(name)
#define ALIAS_FV(handle, name, params, args)      CMY_ALIAS(name)

CMY_FACE_18(ALIAS_FN, ALIAS_FV)

/* A non-blocking function runs the blocking one on a fibre, see fibre.c. */
#define CALL_ARGS(...) __VA_ARGS__
#define FORWARD_PAIR(type, handle, result, name, params, args)                           \
	CMY_EXPORT int name##_start(result *ret, CALL_ARGS params);                      \
	int name##_start(result *ret, CALL_ARGS params)                                  \
	{                                                                                \
		const struct cmy_original *original;                                     \
		if (!cmy_is_foreign(handle))                                             \
			return cmy_##name##_start(ret, CALL_ARGS args);                  \
		original = cmy_original(NULL);                                           \
		return original && original->name##_start                                \
			       ? original->name##_start(ret, CALL_ARGS args)             \
			       : 0;                                                      \
	}                                                                                \
	CMY_EXPORT int name##_cont(result *ret, type *handle, int status);               \
	int name##_cont(result *ret, type *handle, int status)                           \
	{                                                                                \
		const struct cmy_original *original;                                     \
		if (!cmy_is_foreign(handle))                                             \
			return cmy_##name##_cont(ret, handle, status);                   \
		original = cmy_original(NULL);                                           \
		return original && original->name##_cont                                 \
			       ? original->name##_cont(ret, handle, status)              \
			       : 0;                                                      \
	}
#define FORWARD_PAIR_V(type, handle, name, params, args)                                 \
	CMY_EXPORT int name##_start params;                                              \
	int name##_start params                                                          \
	{                                                                                \
		const struct cmy_original *original;                                     \
		if (!cmy_is_foreign(handle))                                             \
			return cmy_##name##_start args;                                  \
		original = cmy_original(NULL);                                           \
		return original && original->name##_start ? original->name##_start args  \
							  : 0;                           \
	}                                                                                \
	CMY_EXPORT int name##_cont(type *handle, int status);                            \
	int name##_cont(type *handle, int status)                                        \
	{                                                                                \
		const struct cmy_original *original;                                     \
		if (!cmy_is_foreign(handle))                                             \
			return cmy_##name##_cont(handle, status);                        \
		original = cmy_original(NULL);                                           \
		return original && original->name##_cont                                 \
			       ? original->name##_cont(handle, status)                   \
			       : 0;                                                      \
	}

/* The API gives mysql_real_connect_start() this many parameters. */
/* NOLINTNEXTLINE(readability-function-size) */
CMY_FACE_ASYNC(FORWARD_PAIR, FORWARD_PAIR_V)
#endif

/* original.c looks for this symbol, so that it does not take this library for the original. */
CMY_EXPORT extern const char cenote_shim_mysql[];
const char cenote_shim_mysql[] = "Cenote";
