/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_ORIGINAL_H
#define CPQ_ORIGINAL_H

#include "face.h"
#include "face_list.h"

/*
 * The original libpq, in the same process: it serves what no pool covers. It is opened by its full
 * path, out of the way of our own names, when it is first needed, and never closed.
 */

/* A member each, named as the function; NULL where this original is too old to have it. */
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
 * Every handle of ours has the address of this. A result has it after the members that programs read, all others
 * at their beginning. The original's handles have another function's address there, a pointer into the heap, or a number
 * that is no address.
 */
extern const char cpq_tag;

static inline int
cpq_is_foreign(const void *handle)
{
	return handle != NULL && *(const char *const *)handle != &cpq_tag;
}

#endif
