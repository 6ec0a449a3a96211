/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FUZZ_H
#define FUZZ_H

#include "shims/fuzz/generate.h"

/* The calls of a sequence: the name of each, and how often it is inserted between the phrases of
 * phrases.c. */
#define FZ_CALLS(CALL)                                                                   \
	CALL(connect, 4)                                                                 \
	CALL(close, 2)                                                                   \
	CALL(init_only, 1)                                                               \
	CALL(ping, 2)                                                                    \
	CALL(select_db, 2)                                                               \
	CALL(change_user, 2)                                                             \
	CALL(reset_connection, 2)                                                        \
	CALL(set_charset, 2)                                                             \
	CALL(set_server_option, 2)                                                       \
	CALL(set_option, 2)                                                              \
	CALL(autocommit, 2)                                                              \
	CALL(commit, 2)                                                                  \
	CALL(rollback, 2)                                                                \
	CALL(infos, 2)                                                                   \
	CALL(track, 2)                                                                   \
	CALL(escape, 3)                                                                  \
	CALL(charset_info, 1)                                                            \
	CALL(query, 12)                                                                  \
	CALL(send_query, 4)                                                              \
	CALL(read_query_result, 4)                                                       \
	CALL(store_result, 6)                                                            \
	CALL(use_result, 6)                                                              \
	CALL(next_result, 6)                                                             \
	CALL(drain, 4)                                                                   \
	CALL(list_dbs, 1)                                                                \
	CALL(list_tables, 1)                                                             \
	CALL(list_fields, 2)                                                             \
	CALL(fetch_row, 6)                                                               \
	CALL(fetch_rows, 3)                                                              \
	CALL(data_seek, 3)                                                               \
	CALL(row_seek, 3)                                                                \
	CALL(fetch_field, 2)                                                             \
	CALL(field_seek, 2)                                                              \
	CALL(look, 2)                                                                    \
	CALL(free_result, 4)                                                             \
	CALL(stmt_init, 4)                                                               \
	CALL(stmt_prepare, 6)                                                            \
	CALL(stmt_bind_param, 5)                                                         \
	CALL(stmt_execute, 8)                                                            \
	CALL(stmt_bind_result, 5)                                                        \
	CALL(stmt_fetch, 8)                                                              \
	CALL(stmt_fetch_column, 3)                                                       \
	CALL(stmt_store_result, 4)                                                       \
	CALL(stmt_free_result, 4)                                                        \
	CALL(stmt_reset, 3)                                                              \
	CALL(stmt_close, 2)                                                              \
	CALL(stmt_seek, 3)                                                               \
	CALL(stmt_row_seek, 3)                                                           \
	CALL(stmt_attr, 4)                                                               \
	CALL(stmt_long_data, 4)                                                          \
	CALL(stmt_metadata, 3)                                                           \
	CALL(stmt_next_result, 4)                                                        \
	CALL(stmt_array, 2)                                                              \
	CALL(stmt_direct, 2)

#define FZ_ENUM(name, weight) FZ_##name,
enum fz_call {
	FZ_CALLS(FZ_ENUM) FZ_N_CALLS
};

#define FZ_NAME(name, weight) #name,

extern const struct fz_language fz_mysql;

#endif
