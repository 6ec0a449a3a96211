/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_FACT_H
#define CSH_FACT_H

/* Whether a parameter that a session has told is a fact of cenoted's (docs/backends.md): no server reports it to a
 * program, and another session has another one. */
int csh_is_fact(const char *name);

/*
 * Whether a backslash escapes in the texts of a server that ODBC calls so (the fact odbc_dbms; NULL: the pool has no
 * such fact). MySQL and MariaDB remain what they are behind a driver: escaping must not let a backslash through.
 */
int csh_has_backslashes(const char *dbms);

#endif
