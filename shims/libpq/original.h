/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_ORIGINAL_H
#define CPQ_ORIGINAL_H

#include "face.h"
#include "face_list.h"

/*
 * The original libpq in the same process: it serves what no pool serves. It is opened by
 * its full path at first use, so that its names do not mix with the shim's, and it is
 * never closed.
 */

/* A member for each function; NULL where this original is too old to have it. */
#define CPQ_ORIGINAL_FN(handle, ret, name, params, args) ret(*name) params;
#define CPQ_ORIGINAL_FV(handle, name, params, args)      void(*name) params;

struct cpq_original {
	CPQ_FACE_15(CPQ_ORIGINAL_FN, CPQ_ORIGINAL_FV)
	CPQ_FACE_17(CPQ_ORIGINAL_FN, CPQ_ORIGINAL_FV)
	CPQ_FACE_18(CPQ_ORIGINAL_FN, CPQ_ORIGINAL_FV)
};

/* NULL: there is none; *ret_why (if not NULL) is a static text that says why. */
const struct cpq_original *cpq_original(const char **ret_why);

/*
 * Every handle of the shim has the address of this variable: a result after the members
 * that programs read, all others at their beginning. The original's handles have
 * something else there: a function's address, a pointer into the heap, or a number that
 * is no address.
 */
extern const char cpq_tag;

static inline int
cpq_is_foreign(const void *handle)
{
	return handle != NULL && *(const char *const *)handle != &cpq_tag;
}

#endif
