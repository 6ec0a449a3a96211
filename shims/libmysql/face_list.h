/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_FACE_LIST_H
#define CMY_FACE_LIST_H

/*
 * Every function of the libraries: its parameters, and the argument that is a handle (NULL: no
 * argument is). FN returns a value, FV does not. PAIR is one of MariaDB's pairs of _start and _cont
 * functions: type and name of the handle, type of *ret, and name, parameters and arguments of the
 * blocking function. variadic.c has the functions with a variable number of arguments. A list
 * stands for the symbol version that MariaDB's functions first had. exports-*.txt have all names; a
 * test compares them.
 */
/* clang-format off */
#define CMY_FACE_BOTH(FN, FV) \
	FN(mysql, uint64_t, mysql_affected_rows, (MYSQL *mysql), (mysql)) \
	FN(mysql, my_bool, mysql_autocommit, (MYSQL *mysql, my_bool mode), (mysql, mode)) \
	FN(mysql, my_bool, mysql_change_user, (MYSQL *mysql, const char *user, const char *passwd, const char *db), (mysql, user, passwd, db)) \
	FN(mysql, const char *, mysql_character_set_name, (MYSQL *mysql), (mysql)) \
	FN(mysql, struct st_mysql_client_plugin *, mysql_client_find_plugin, (MYSQL *mysql, const char *name, int type), (mysql, name, type)) \
	FN(mysql, struct st_mysql_client_plugin *, mysql_client_register_plugin, (MYSQL *mysql, struct st_mysql_client_plugin *plugin), (mysql, plugin)) \
	FV(sock, mysql_close, (MYSQL *sock), (sock)) \
	FN(mysql, my_bool, mysql_commit, (MYSQL *mysql), (mysql)) \
	FV(result, mysql_data_seek, (MYSQL_RES *result, uint64_t offset), (result, offset)) \
	FV(NULL, mysql_debug, (const char *debug), (debug)) \
	FN(mysql, int, mysql_dump_debug_info, (MYSQL *mysql), (mysql)) \
	FN(res, my_bool, mysql_eof, (MYSQL_RES *res), (res)) \
	FN(mysql, unsigned int, mysql_errno, (MYSQL *mysql), (mysql)) \
	FN(mysql, const char *, mysql_error, (MYSQL *mysql), (mysql)) \
	FN(NULL, unsigned long, mysql_escape_string, (char *to, const char *from, unsigned long from_length), (to, from, from_length)) \
	FN(result, MYSQL_FIELD *, mysql_fetch_field, (MYSQL_RES *result), (result)) \
	FN(res, MYSQL_FIELD *, mysql_fetch_field_direct, (MYSQL_RES *res, unsigned int fieldnr), (res, fieldnr)) \
	FN(res, MYSQL_FIELD *, mysql_fetch_fields, (MYSQL_RES *res), (res)) \
	FN(result, unsigned long *, mysql_fetch_lengths, (MYSQL_RES *result), (result)) \
	FN(result, MYSQL_ROW, mysql_fetch_row, (MYSQL_RES *result), (result)) \
	FN(mysql, unsigned int, mysql_field_count, (MYSQL *mysql), (mysql)) \
	FN(result, MYSQL_FIELD_OFFSET, mysql_field_seek, (MYSQL_RES *result, MYSQL_FIELD_OFFSET offset), (result, offset)) \
	FN(res, unsigned int, mysql_field_tell, (MYSQL_RES *res), (res)) \
	FV(result, mysql_free_result, (MYSQL_RES *result), (result)) \
	FV(mysql, mysql_get_character_set_info, (MYSQL *mysql, MY_CHARSET_INFO *cs), (mysql, cs)) \
	FN(NULL, const char *, mysql_get_client_info, (void), ()) \
	FN(NULL, unsigned long, mysql_get_client_version, (void), ()) \
	FN(mysql, char *, mysql_get_host_info, (MYSQL *mysql), (mysql)) \
	FN(mysql, unsigned int, mysql_get_proto_info, (MYSQL *mysql), (mysql)) \
	FN(mysql, char *, mysql_get_server_info, (MYSQL *mysql), (mysql)) \
	FN(mysql, unsigned long, mysql_get_server_version, (MYSQL *mysql), (mysql)) \
	FN(mysql, const char *, mysql_get_ssl_cipher, (MYSQL *mysql), (mysql)) \
	FN(NULL, unsigned long, mysql_hex_string, (char *to, const char *from, unsigned long len), (to, from, len)) \
	FN(mysql, const char *, mysql_info, (MYSQL *mysql), (mysql)) \
	FN(NULL, MYSQL *, mysql_init, (MYSQL *mysql), (mysql)) \
	FN(mysql, uint64_t, mysql_insert_id, (MYSQL *mysql), (mysql)) \
	FN(mysql, int, mysql_kill, (MYSQL *mysql, unsigned long pid), (mysql, pid)) \
	FN(mysql, MYSQL_RES *, mysql_list_dbs, (MYSQL *mysql, const char *wild), (mysql, wild)) \
	FN(mysql, MYSQL_RES *, mysql_list_fields, (MYSQL *mysql, const char *table, const char *wild), (mysql, table, wild)) \
	FN(mysql, MYSQL_RES *, mysql_list_processes, (MYSQL *mysql), (mysql)) \
	FN(mysql, MYSQL_RES *, mysql_list_tables, (MYSQL *mysql, const char *wild), (mysql, wild)) \
	FN(mysql, struct st_mysql_client_plugin *, mysql_load_plugin_v, (MYSQL *mysql, const char *name, int type, int argc, va_list args), (mysql, name, type, argc, args)) \
	FN(mysql, my_bool, mysql_more_results, (MYSQL *mysql), (mysql)) \
	FN(mysql, int, mysql_next_result, (MYSQL *mysql), (mysql)) \
	FN(res, unsigned int, mysql_num_fields, (MYSQL_RES *res), (res)) \
	FN(res, uint64_t, mysql_num_rows, (MYSQL_RES *res), (res)) \
	FN(mysql, int, mysql_options, (MYSQL *mysql, enum mysql_option option, const void *arg), (mysql, option, arg)) \
	FN(mysql, int, mysql_options4, (MYSQL *mysql, enum mysql_option option, const void *arg1, const void *arg2), (mysql, option, arg1, arg2)) \
	FN(mysql, int, mysql_ping, (MYSQL *mysql), (mysql)) \
	FN(mysql, int, mysql_query, (MYSQL *mysql, const char *q), (mysql, q)) \
	FN(mysql, my_bool, mysql_read_query_result, (MYSQL *mysql), (mysql)) \
	FN(mysql, MYSQL *, mysql_real_connect, (MYSQL *mysql, const char *host, const char *user, const char *passwd, const char *db, unsigned int port, const char *unix_socket, unsigned long clientflag), (mysql, host, user, passwd, db, port, unix_socket, clientflag)) \
	FN(mysql, unsigned long, mysql_real_escape_string, (MYSQL *mysql, char *to, const char *from, unsigned long length), (mysql, to, from, length)) \
	FN(mysql, int, mysql_real_query, (MYSQL *mysql, const char *q, unsigned long length), (mysql, q, length)) \
	FN(mysql, int, mysql_refresh, (MYSQL *mysql, unsigned int refresh_options), (mysql, refresh_options)) \
	FN(mysql, int, mysql_reset_connection, (MYSQL *mysql), (mysql)) \
	FN(mysql, my_bool, mysql_rollback, (MYSQL *mysql), (mysql)) \
	FN(result, MYSQL_ROW_OFFSET, mysql_row_seek, (MYSQL_RES *result, MYSQL_ROW_OFFSET offset), (result, offset)) \
	FN(res, MYSQL_ROWS *, mysql_row_tell, (MYSQL_RES *res), (res)) \
	FN(mysql, int, mysql_select_db, (MYSQL *mysql, const char *db), (mysql, db)) \
	FN(mysql, int, mysql_send_query, (MYSQL *mysql, const char *q, unsigned long length), (mysql, q, length)) \
	FV(NULL, mysql_server_end, (void), ()) \
	FN(NULL, int, mysql_server_init, (int argc, char **argv, char **groups), (argc, argv, groups)) \
	FN(mysql, int, mysql_session_track_get_first, (MYSQL *mysql, enum enum_session_state_type type, const char **data, size_t *length), (mysql, type, data, length)) \
	FN(mysql, int, mysql_session_track_get_next, (MYSQL *mysql, enum enum_session_state_type type, const char **data, size_t *length), (mysql, type, data, length)) \
	FN(mysql, int, mysql_set_character_set, (MYSQL *mysql, const char *csname), (mysql, csname)) \
	FV(mysql, mysql_set_local_infile_default, (MYSQL *mysql), (mysql)) \
	FV(mysql, mysql_set_local_infile_handler, (MYSQL *mysql, cmy_infile_init *init, cmy_infile_read *read, cmy_infile_end *end, cmy_infile_error *error, void *user), (mysql, init, read, end, error, user)) \
	FN(mysql, int, mysql_set_server_option, (MYSQL *mysql, enum enum_mysql_set_option option), (mysql, option)) \
	FN(mysql, int, mysql_shutdown, (MYSQL *mysql, enum mysql_enum_shutdown_level shutdown_level), (mysql, shutdown_level)) \
	FN(mysql, const char *, mysql_sqlstate, (MYSQL *mysql), (mysql)) \
	FN(mysql, char *, mysql_stat, (MYSQL *mysql), (mysql)) \
	FN(stmt, uint64_t, mysql_stmt_affected_rows, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, my_bool, mysql_stmt_attr_get, (MYSQL_STMT *stmt, enum enum_stmt_attr_type attr_type, void *attr), (stmt, attr_type, attr)) \
	FN(stmt, my_bool, mysql_stmt_attr_set, (MYSQL_STMT *stmt, enum enum_stmt_attr_type attr_type, const void *attr), (stmt, attr_type, attr)) \
	FN(stmt, my_bool, mysql_stmt_bind_param, (MYSQL_STMT *stmt, MYSQL_BIND *bnd), (stmt, bnd)) \
	FN(stmt, my_bool, mysql_stmt_bind_result, (MYSQL_STMT *stmt, MYSQL_BIND *bnd), (stmt, bnd)) \
	FN(stmt, my_bool, mysql_stmt_close, (MYSQL_STMT *stmt), (stmt)) \
	FV(stmt, mysql_stmt_data_seek, (MYSQL_STMT *stmt, uint64_t offset), (stmt, offset)) \
	FN(stmt, unsigned int, mysql_stmt_errno, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, const char *, mysql_stmt_error, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, int, mysql_stmt_execute, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, int, mysql_stmt_fetch, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, int, mysql_stmt_fetch_column, (MYSQL_STMT *stmt, MYSQL_BIND *bind_arg, unsigned int column, unsigned long offset), (stmt, bind_arg, column, offset)) \
	FN(stmt, unsigned int, mysql_stmt_field_count, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, my_bool, mysql_stmt_free_result, (MYSQL_STMT *stmt), (stmt)) \
	FN(mysql, MYSQL_STMT *, mysql_stmt_init, (MYSQL *mysql), (mysql)) \
	FN(stmt, uint64_t, mysql_stmt_insert_id, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, int, mysql_stmt_next_result, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, uint64_t, mysql_stmt_num_rows, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, unsigned long, mysql_stmt_param_count, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, MYSQL_RES *, mysql_stmt_param_metadata, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, int, mysql_stmt_prepare, (MYSQL_STMT *stmt, const char *query, unsigned long length), (stmt, query, length)) \
	FN(stmt, my_bool, mysql_stmt_reset, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, MYSQL_RES *, mysql_stmt_result_metadata, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, MYSQL_ROW_OFFSET, mysql_stmt_row_seek, (MYSQL_STMT *stmt, MYSQL_ROW_OFFSET offset), (stmt, offset)) \
	FN(stmt, MYSQL_ROW_OFFSET, mysql_stmt_row_tell, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, my_bool, mysql_stmt_send_long_data, (MYSQL_STMT *stmt, unsigned int param_number, const char *data, unsigned long length), (stmt, param_number, data, length)) \
	FN(stmt, const char *, mysql_stmt_sqlstate, (MYSQL_STMT *stmt), (stmt)) \
	FN(stmt, int, mysql_stmt_store_result, (MYSQL_STMT *stmt), (stmt)) \
	FN(mysql, MYSQL_RES *, mysql_store_result, (MYSQL *mysql), (mysql)) \
	FV(NULL, mysql_thread_end, (void), ()) \
	FN(mysql, unsigned long, mysql_thread_id, (MYSQL *mysql), (mysql)) \
	FN(NULL, my_bool, mysql_thread_init, (void), ()) \
	FN(NULL, unsigned int, mysql_thread_safe, (void), ()) \
	FN(mysql, MYSQL_RES *, mysql_use_result, (MYSQL *mysql), (mysql)) \
	FN(mysql, unsigned int, mysql_warning_count, (MYSQL *mysql), (mysql))

#define CMY_FACE_MARIADB_18(FN, FV) \
	FN(NULL, my_bool, mysql_embedded, (void), ()) \
	FN(NULL, const MARIADB_CHARSET_INFO *, mysql_get_charset_by_name, (const char *csname), (csname)) \
	FN(NULL, const MARIADB_CHARSET_INFO *, mysql_get_charset_by_nr, (unsigned int csnr), (csnr)) \
	FN(NULL, MYSQL_PARAMETERS *, mysql_get_parameters, (void), ()) \
	FN(mysql, const char *, mysql_get_server_name, (MYSQL *mysql), (mysql)) \
	FN(mysql, my_socket, mysql_get_socket, (MYSQL *mysql), (mysql)) \
	FN(NULL, unsigned long, mysql_net_field_length, (unsigned char **packet), (packet)) \
	FN(mysql, unsigned long, mysql_net_read_packet, (MYSQL *mysql), (mysql)) \
	FN(stmt, my_bool, mysql_stmt_more_results, (MYSQL_STMT *stmt), (stmt)) \
	FN(mysql, int, mysql_ssl_set, (MYSQL *mysql, const char *key, const char *cert, const char *ca, const char *capath, const char *cipher), (mysql, key, cert, ca, capath, cipher)) \
	FN(mysql, int, mysql_get_option, (MYSQL *mysql, enum mysql_option option, void *arg), (mysql, option, arg))

#define CMY_FACE_MARIADB_3(FN, FV) \
	FN(NULL, int, ma_pvio_register_callback, (my_bool register_callback, void (*callback_function)(int mode, MYSQL *mysql, const unsigned char *buffer, size_t length)), (register_callback, callback_function)) \
	FN(mysql, int, mariadb_cancel, (MYSQL *mysql), (mysql)) \
	FN(mysql, my_bool, mariadb_connection, (MYSQL *mysql), (mysql)) \
	FN(NULL, size_t, mariadb_convert_string, (const char *from, size_t *from_len, MARIADB_CHARSET_INFO *from_cs, char *to, size_t *to_len, MARIADB_CHARSET_INFO *to_cs, int *errorcode), (from, from_len, from_cs, to, to_len, to_cs, errorcode)) \
	FN(NULL, int, mariadb_field_attr, (MARIADB_CONST_STRING *attr, const MYSQL_FIELD *field, enum mariadb_field_attr_t type), (attr, field, type)) \
	FV(NULL, mariadb_free_rpl_event, (MARIADB_RPL_EVENT *event), (event)) \
	FN(NULL, MARIADB_CHARSET_INFO *, mariadb_get_charset_by_name, (const char *csname), (csname)) \
	FN(NULL, MARIADB_CHARSET_INFO *, mariadb_get_charset_by_nr, (unsigned int csnr), (csnr)) \
	FN(mysql, my_bool, mariadb_get_info, (MYSQL *mysql, enum mariadb_value value, void *arg), (mysql, value, arg)) \
	FN(mysql, my_bool, mariadb_reconnect, (MYSQL *mysql), (mysql)) \
	FV(rpl, mariadb_rpl_close, (MARIADB_RPL *rpl), (rpl)) \
	FN(rpl, uint32_t, mariadb_rpl_errno, (MARIADB_RPL *rpl), (rpl)) \
	FN(rpl, const char *, mariadb_rpl_error, (MARIADB_RPL *rpl), (rpl)) \
	FN(rpl, void *, mariadb_rpl_extract_rows, (MARIADB_RPL *rpl, MARIADB_RPL_EVENT *tm_event, MARIADB_RPL_EVENT *row_event), (rpl, tm_event, row_event)) \
	FN(rpl, MARIADB_RPL_EVENT *, mariadb_rpl_fetch, (MARIADB_RPL *rpl, MARIADB_RPL_EVENT *event), (rpl, event)) \
	FN(mysql, MARIADB_RPL *, mariadb_rpl_init_ex, (MYSQL *mysql, unsigned int version), (mysql, version)) \
	FN(rpl, int, mariadb_rpl_open, (MARIADB_RPL *rpl), (rpl)) \
	FN(stmt, int, mariadb_stmt_execute_direct, (MYSQL_STMT *stmt, const char *stmt_str, size_t length), (stmt, stmt_str, length)) \
	FN(stmt, MYSQL_FIELD *, mariadb_stmt_fetch_fields, (MYSQL_STMT *stmt), (stmt)) \
	FN(mysql, unsigned int, mysql_get_timeout_value, (const MYSQL *mysql), (mysql)) \
	FN(mysql, unsigned int, mysql_get_timeout_value_ms, (const MYSQL *mysql), (mysql)) \
	FN(stmt, int, mysql_stmt_warning_count, (MYSQL_STMT *stmt), (stmt))

#define CMY_FACE_ASYNC(PAIR, PAIR_V) \
	PAIR(MYSQL, mysql, my_bool, mysql_autocommit, (MYSQL *mysql, my_bool auto_mode), (mysql, auto_mode)) \
	PAIR(MYSQL, mysql, my_bool, mysql_change_user, (MYSQL *mysql, const char *user, const char *passwd, const char *db), (mysql, user, passwd, db)) \
	PAIR_V(MYSQL, sock, mysql_close, (MYSQL *sock), (sock)) \
	PAIR(MYSQL, mysql, my_bool, mysql_commit, (MYSQL *mysql), (mysql)) \
	PAIR(MYSQL, mysql, int, mysql_dump_debug_info, (MYSQL *mysql), (mysql)) \
	PAIR(MYSQL_RES, result, MYSQL_ROW, mysql_fetch_row, (MYSQL_RES *result), (result)) \
	PAIR_V(MYSQL_RES, result, mysql_free_result, (MYSQL_RES *result), (result)) \
	PAIR(MYSQL, mysql, int, mysql_kill, (MYSQL *mysql, unsigned long pid), (mysql, pid)) \
	PAIR(MYSQL, mysql, MYSQL_RES *, mysql_list_fields, (MYSQL *mysql, const char *table, const char *wild), (mysql, table, wild)) \
	PAIR(MYSQL, mysql, int, mysql_next_result, (MYSQL *mysql), (mysql)) \
	PAIR(MYSQL, mysql, int, mysql_ping, (MYSQL *mysql), (mysql)) \
	PAIR(MYSQL, mysql, int, mysql_query, (MYSQL *mysql, const char *q), (mysql, q)) \
	PAIR(MYSQL, mysql, my_bool, mysql_read_query_result, (MYSQL *mysql), (mysql)) \
	PAIR(MYSQL, mysql, MYSQL *, mysql_real_connect, (MYSQL *mysql, const char *host, const char *user, const char *passwd, const char *db, unsigned int port, const char *unix_socket, unsigned long clientflag), (mysql, host, user, passwd, db, port, unix_socket, clientflag)) \
	PAIR(MYSQL, mysql, int, mysql_real_query, (MYSQL *mysql, const char *q, unsigned long length), (mysql, q, length)) \
	PAIR(MYSQL, mysql, int, mysql_refresh, (MYSQL *mysql, unsigned int refresh_options), (mysql, refresh_options)) \
	PAIR(MYSQL, mysql, int, mysql_reset_connection, (MYSQL *mysql), (mysql)) \
	PAIR(MYSQL, mysql, my_bool, mysql_rollback, (MYSQL *mysql), (mysql)) \
	PAIR(MYSQL, mysql, int, mysql_select_db, (MYSQL *mysql, const char *db), (mysql, db)) \
	PAIR(MYSQL, mysql, int, mysql_send_query, (MYSQL *mysql, const char *q, unsigned long length), (mysql, q, length)) \
	PAIR(MYSQL, mysql, int, mysql_set_character_set, (MYSQL *mysql, const char *csname), (mysql, csname)) \
	PAIR(MYSQL, mysql, int, mysql_set_server_option, (MYSQL *mysql, enum enum_mysql_set_option option), (mysql, option)) \
	PAIR(MYSQL, mysql, int, mysql_shutdown, (MYSQL *mysql, enum mysql_enum_shutdown_level shutdown_level), (mysql, shutdown_level)) \
	PAIR(MYSQL, mysql, const char *, mysql_stat, (MYSQL *mysql), (mysql)) \
	PAIR(MYSQL_STMT, stmt, my_bool, mysql_stmt_close, (MYSQL_STMT *stmt), (stmt)) \
	PAIR(MYSQL_STMT, stmt, int, mysql_stmt_execute, (MYSQL_STMT *stmt), (stmt)) \
	PAIR(MYSQL_STMT, stmt, int, mysql_stmt_fetch, (MYSQL_STMT *stmt), (stmt)) \
	PAIR(MYSQL_STMT, stmt, my_bool, mysql_stmt_free_result, (MYSQL_STMT *stmt), (stmt)) \
	PAIR(MYSQL_STMT, stmt, int, mysql_stmt_next_result, (MYSQL_STMT *stmt), (stmt)) \
	PAIR(MYSQL_STMT, stmt, int, mysql_stmt_prepare, (MYSQL_STMT *stmt, const char *query, unsigned long length), (stmt, query, length)) \
	PAIR(MYSQL_STMT, stmt, my_bool, mysql_stmt_reset, (MYSQL_STMT *stmt), (stmt)) \
	PAIR(MYSQL_STMT, stmt, my_bool, mysql_stmt_send_long_data, (MYSQL_STMT *stmt, unsigned int param_number, const char *data, unsigned long len), (stmt, param_number, data, len)) \
	PAIR(MYSQL_STMT, stmt, int, mysql_stmt_store_result, (MYSQL_STMT *stmt), (stmt)) \
	PAIR(MYSQL, mysql, MYSQL_RES *, mysql_store_result, (MYSQL *mysql), (mysql))

#define CMY_FACE_ORACLE(FN, FV) \
	FN(NULL, char *, get_tty_password, (const char *opt_message), (opt_message)) \
	FN(NULL, int, handle_options, (int *argc, char ***argv, const void *longopts, void *get_one_option), (argc, argv, longopts, get_one_option)) \
	FN(NULL, int, my_load_defaults, (const char *conf_file, const char **groups, int *argc, char ***argv, MEM_ROOT *alloc, const char ***default_directories), (conf_file, groups, argc, argv, alloc, default_directories)) \
	FV(NULL, my_make_scrambled_password, (char *to, const char *password, size_t length), (to, password, length)) \
	FN(mysql, my_bool, mysql_bind_param, (MYSQL *mysql, unsigned n_params, MYSQL_BIND *binds, const char **names), (mysql, n_params, binds, names)) \
	FV(mysql, mysql_binlog_close, (MYSQL *mysql, MYSQL_RPL *rpl), (mysql, rpl)) \
	FN(mysql, int, mysql_binlog_fetch, (MYSQL *mysql, MYSQL_RPL *rpl), (mysql, rpl)) \
	FN(mysql, int, mysql_binlog_open, (MYSQL *mysql, MYSQL_RPL *rpl), (mysql, rpl)) \
	FN(res, enum net_async_status, mysql_fetch_row_nonblocking, (MYSQL_RES *res, MYSQL_ROW *row), (res, row)) \
	FN(result, enum net_async_status, mysql_free_result_nonblocking, (MYSQL_RES *result), (result)) \
	FN(mysql, my_bool, mysql_free_ssl_session_data, (MYSQL *mysql, void *data), (mysql, data)) \
	FN(NULL, const char *, mysql_get_client_info_with_version_update, (void), ()) \
	FN(mysql, enum connect_stage, mysql_get_connect_nonblocking_stage, (MYSQL *mysql), (mysql)) \
	FN(mysql, const char *, mysql_get_server_info_with_version_update, (MYSQL *mysql), (mysql)) \
	FN(mysql, void *, mysql_get_ssl_session_data, (MYSQL *mysql, unsigned int n_ticket, unsigned int *out_len), (mysql, n_ticket, out_len)) \
	FN(mysql, my_bool, mysql_get_ssl_session_reused, (MYSQL *mysql), (mysql)) \
	FN(mysql, enum net_async_status, mysql_next_result_nonblocking, (MYSQL *mysql), (mysql)) \
	FN(NULL, int, mysql_plugin_get_option, (struct st_mysql_client_plugin *plugin, const char *option, void *value), (plugin, option, value)) \
	FN(NULL, int, mysql_plugin_options, (struct st_mysql_client_plugin *plugin, const char *option, const void *value), (plugin, option, value)) \
	FN(mysql, MYSQL *, mysql_real_connect_dns_srv, (MYSQL *mysql, const char *dns_srv_name, const char *user, const char *passwd, const char *db, unsigned long client_flag), (mysql, dns_srv_name, user, passwd, db, client_flag)) \
	FN(mysql, enum net_async_status, mysql_real_connect_nonblocking, (MYSQL *mysql, const char *host, const char *user, const char *passwd, const char *db, unsigned int port, const char *unix_socket, unsigned long clientflag), (mysql, host, user, passwd, db, port, unix_socket, clientflag)) \
	FN(mysql, unsigned long, mysql_real_escape_string_quote, (MYSQL *mysql, char *to, const char *from, unsigned long length, char quote), (mysql, to, from, length, quote)) \
	FN(mysql, enum net_async_status, mysql_real_query_nonblocking, (MYSQL *mysql, const char *query, unsigned long length), (mysql, query, length)) \
	FN(mysql, enum net_async_status, mysql_reset_connection_nonblocking, (MYSQL *mysql), (mysql)) \
	FV(NULL, mysql_reset_server_public_key, (void), ()) \
	FN(result, enum enum_resultset_metadata, mysql_result_metadata, (MYSQL_RES *result), (result)) \
	FN(mysql, enum net_async_status, mysql_send_query_nonblocking, (MYSQL *mysql, const char *query, unsigned long length), (mysql, query, length)) \
	FN(stmt, my_bool, mysql_stmt_bind_named_param, (MYSQL_STMT *stmt, MYSQL_BIND *binds, unsigned n_params, const char **names), (stmt, binds, n_params, names)) \
	FN(mysql, enum net_async_status, mysql_store_result_nonblocking, (MYSQL *mysql, MYSQL_RES **result), (mysql, result)) \
	FN(mysql, my_bool, mysql_ssl_set, (MYSQL *mysql, const char *key, const char *cert, const char *ca, const char *capath, const char *cipher), (mysql, key, cert, ca, capath, cipher)) \
	FN(mysql, int, mysql_get_option, (MYSQL *mysql, enum mysql_option option, const void *arg), (mysql, option, arg))

/* clang-format on */

#if CMY_ORACLE
#define CMY_FACE(FN, FV) CMY_FACE_BOTH(FN, FV) CMY_FACE_ORACLE(FN, FV)
#else
#define CMY_FACE_18(FN, FV) CMY_FACE_BOTH(FN, FV) CMY_FACE_MARIADB_18(FN, FV)
#define CMY_FACE(FN, FV)    CMY_FACE_18(FN, FV) CMY_FACE_MARIADB_3(FN, FV)
#endif

#endif
