/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#define END     FZ_END
#define RESULT  FZ_ANY_OF(0)
#define SETTING FZ_ANY_OF(1)
#define READ    FZ_ANY_OF(2)
#define STMT    FZ_ANY_OF(3)

static const struct fz_phrase phrases[] = {
	{ 8, { FZ_query, FZ_store_result, RESULT, RESULT, FZ_free_result, END } },
	{ 8, { FZ_query, FZ_use_result, FZ_fetch_row, FZ_fetch_rows, FZ_free_result,
		     FZ_next_result, END } },
	{ 8, { FZ_query, FZ_drain, END } },
	{ 4, { FZ_query, FZ_query, FZ_drain, END } },
	{ 4, { FZ_query, READ, FZ_next_result, READ, FZ_fetch_rows, FZ_next_result, READ,
		     FZ_drain, END } },
	{ 3, { FZ_send_query, FZ_read_query_result, READ, FZ_fetch_rows, FZ_drain,
		     END } },
	{ 3, { FZ_query, FZ_use_result, FZ_fetch_row, FZ_query, FZ_free_result,
		     FZ_next_result, END } },
	{ 3, { FZ_query, FZ_store_result, FZ_fetch_row, FZ_row_seek, FZ_fetch_rows,
		     FZ_row_seek, FZ_fetch_row, FZ_data_seek, FZ_fetch_rows, END } },
	{ 3, { SETTING, FZ_query, FZ_drain, SETTING, END } },
	{ 2, { FZ_query, FZ_track, FZ_query, FZ_track, END } },
	{ 2, { FZ_list_dbs, RESULT, FZ_list_tables, RESULT, FZ_list_fields, RESULT,
		     END } },
	{ 2, { FZ_infos, FZ_charset_info, FZ_escape, FZ_escape, END } },
	{ 8, { FZ_stmt_init, FZ_stmt_prepare, FZ_stmt_bind_param, FZ_stmt_execute,
		     FZ_stmt_bind_result, FZ_stmt_fetch, FZ_stmt_fetch, FZ_stmt_close,
		     END } },
	{ 6, { FZ_stmt_init, FZ_stmt_prepare, FZ_stmt_bind_param, FZ_stmt_execute,
		     FZ_stmt_store_result, FZ_stmt_bind_result, FZ_stmt_fetch,
		     FZ_stmt_seek, FZ_stmt_fetch, FZ_stmt_free_result, FZ_stmt_execute,
		     END } },
	{ 4, { FZ_stmt_init, FZ_stmt_prepare, FZ_stmt_bind_param, FZ_stmt_long_data,
		     FZ_stmt_long_data, FZ_stmt_execute, FZ_stmt_reset, FZ_stmt_execute,
		     FZ_stmt_close, END } },
	{ 5, { FZ_stmt_init, FZ_stmt_attr, FZ_stmt_prepare, FZ_stmt_bind_param,
		     FZ_stmt_bind_result, FZ_stmt_execute, FZ_stmt_fetch, FZ_query,
		     FZ_drain, FZ_stmt_fetch, FZ_stmt_fetch_column, END } },
	{ 4, { FZ_stmt_init, FZ_stmt_prepare, FZ_stmt_bind_param, FZ_stmt_execute, STMT,
		     STMT, FZ_stmt_next_result, STMT, FZ_stmt_next_result, FZ_stmt_close,
		     END } },
	{ 3, { FZ_stmt_prepare, FZ_stmt_metadata, FZ_stmt_execute, FZ_stmt_metadata,
		     FZ_stmt_fetch, FZ_stmt_fetch_column, FZ_stmt_row_seek, STMT, END } },
	{ 3, { FZ_stmt_init, FZ_stmt_prepare, STMT, STMT, STMT, STMT, END } },
	{ 3, { FZ_stmt_init, FZ_stmt_direct, FZ_stmt_bind_result, FZ_stmt_fetch,
		     FZ_stmt_direct, FZ_stmt_fetch, END } },
	{ 3, { FZ_stmt_array, FZ_query, FZ_drain, END } },
	{ 2, { FZ_reset_connection, FZ_query, FZ_drain, END } },
	{ 2, { FZ_change_user, FZ_query, FZ_drain, END } },
	{ 1, { FZ_close, FZ_connect, END } },
	{ 1, { FZ_close, FZ_init_only, FZ_set_option, FZ_connect, END } },
};

static const int results[] = { FZ_fetch_row, FZ_fetch_rows, FZ_data_seek, FZ_row_seek,
	FZ_fetch_field, FZ_field_seek, FZ_look };
static const int settings[] = { FZ_select_db, FZ_set_charset, FZ_set_server_option,
	FZ_set_option, FZ_autocommit, FZ_commit, FZ_rollback, FZ_ping };
static const int reads[] = { FZ_store_result, FZ_use_result };
static const int stmts[] = { FZ_stmt_execute, FZ_stmt_bind_result, FZ_stmt_fetch,
	FZ_stmt_fetch_column, FZ_stmt_store_result, FZ_stmt_free_result, FZ_stmt_reset,
	FZ_stmt_seek, FZ_stmt_row_seek, FZ_stmt_attr, FZ_stmt_long_data, FZ_stmt_metadata,
	FZ_stmt_next_result, FZ_stmt_bind_param, FZ_stmt_prepare };

#define LIST(list)                                                                       \
	{                                                                                \
		list, sizeof(list) / sizeof((list)[0])                                   \
	}
static const struct fz_list lists[] = { LIST(results), LIST(settings), LIST(reads),
	LIST(stmts) };

#define FZ_WEIGHT(name, weight) weight,
static const unsigned weights[] = { FZ_CALLS(FZ_WEIGHT) };
static const char *const names[] = { FZ_CALLS(FZ_NAME) };

const struct fz_language fz_mysql = {
	.names = names,
	.weights = weights,
	.n_calls = FZ_N_CALLS,
	.first = FZ_connect,
	.phrases = phrases,
	.n_phrases = sizeof(phrases) / sizeof(phrases[0]),
	.lists = lists,
};
