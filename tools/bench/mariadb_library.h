/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_MARIADB_LIBRARY_H
#define CNB_MARIADB_LIBRARY_H

#include <mysql.h>

#include "bench.h"

/* libmariadb and the shim that replaces it, in tables as in libpq_library.h. */
#define CNB_MARIADB_FUNCTIONS(X)                                                         \
	X(mysql_close)                                                                   \
	X(mysql_errno)                                                                   \
	X(mysql_error)                                                                   \
	X(mysql_fetch_lengths)                                                           \
	X(mysql_fetch_row)                                                               \
	X(mysql_free_result)                                                             \
	X(mysql_get_socket)                                                              \
	X(mysql_init)                                                                    \
	X(mysql_num_fields)                                                              \
	X(mysql_options)                                                                 \
	X(mysql_real_connect)                                                            \
	X(mysql_real_query)                                                              \
	X(mysql_real_query_cont)                                                         \
	X(mysql_real_query_start)                                                        \
	X(mysql_stmt_bind_result)                                                        \
	X(mysql_stmt_close)                                                              \
	X(mysql_stmt_error)                                                              \
	X(mysql_stmt_execute)                                                            \
	X(mysql_stmt_fetch)                                                              \
	X(mysql_stmt_field_count)                                                        \
	X(mysql_stmt_free_result)                                                        \
	X(mysql_stmt_init)                                                               \
	X(mysql_stmt_prepare)                                                            \
	X(mysql_stmt_store_result)                                                       \
	X(mysql_store_result)

#define CNB_MARIADB_MEMBER(name) __typeof__(name) *name;
struct cnb_mariadb {
	CNB_MARIADB_FUNCTIONS(CNB_MARIADB_MEMBER)
};

/* The original library. */
const struct cnb_mariadb *cnb_mariadb(void);
/* The shim, which connects to the pool of that URI. It is opened at the first call and never
 * closed. */
const struct cnb_mariadb *cnb_mariadb_shim(const char *uri, struct cnb_error *ret_error);

#endif
