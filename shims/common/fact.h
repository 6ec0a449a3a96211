/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_FACT_H
#define CSH_FACT_H

/* Is the parameter of a session one of cenoted's facts (docs/backends.md)? Programs must not see
 * these: no server reports them, and they differ between sessions. */
int csh_is_fact(const char *name);

/*
 * Does a backslash escape in string literals of the server that ODBC calls `dbms` (the fact
 * odbc_dbms; NULL: the pool has no such fact)? An ODBC driver does not change how MySQL and MariaDB
 * read literals, so escaping must double backslashes for them.
 */
int csh_has_backslashes(const char *dbms);

#endif
