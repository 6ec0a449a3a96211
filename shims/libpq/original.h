/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_ORIGINAL_H
#define CPQ_ORIGINAL_H

#include "face.h"
#include "face_list.h"

/*
 * The original libpq in the same process: it serves the connections that no pool serves. It is
 * opened by its full path at first use, so that its names do not mix with the shim's. It is never
 * closed.
 */

/* A member for each function; NULL if this original is too old to have the function. */
#define CPQ_ORIGINAL_FN(handle, ret, name, params, args) ret(*name) params;
#define CPQ_ORIGINAL_FV(handle, name, params, args)      void(*name) params;

struct cpq_original {
	CPQ_FACE_15(CPQ_ORIGINAL_FN, CPQ_ORIGINAL_FV)
	CPQ_FACE_17(CPQ_ORIGINAL_FN, CPQ_ORIGINAL_FV)
	CPQ_FACE_18(CPQ_ORIGINAL_FN, CPQ_ORIGINAL_FV)
};

/* NULL if there is no original; *ret_why (if not NULL) is then a static text with the reason. */
const struct cpq_original *cpq_original(const char **ret_why);

/*
 * Every handle of the shim contains the address of this variable. A result has it after the members that
 * programs read, and all other handles begin with it. The original's handles have another value in that place: a
 * function's address, a pointer into the heap, or a number that is not an address.
 */
extern const char cpq_tag;

static inline int
cpq_is_foreign(const void *handle)
{
	return handle != NULL && *(const char *const *)handle != &cpq_tag;
}

#endif
