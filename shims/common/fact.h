/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_FACT_H
#define CSH_FACT_H

/* Whether a parameter that a session has told is a fact of cenoted's (docs/backends.md): no server reports it to a
 * program, and another session has another one. */
int csh_is_fact(const char *name);

#endif
