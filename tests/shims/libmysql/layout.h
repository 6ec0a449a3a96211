/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_LAYOUT_H
#define CNT_LAYOUT_H

/*
 * The public structures and their members, by the names in both flavours' headers. Members of only
 * one flavour have lists of their own. S is a structure, M one of its members.
 */
#define CNT_LAYOUT_BOTH(S, M)                                                            \
	S(NET)                                                                           \
	M(NET, buff)                                                                     \
	M(NET, fd)                                                                       \
	M(NET, max_packet)                                                               \
	M(NET, max_packet_size)                                                          \
	M(NET, read_timeout)                                                             \
	M(NET, last_errno)                                                               \
	M(NET, last_error)                                                               \
	M(NET, sqlstate)                                                                 \
	M(NET, extension)                                                                \
	S(MYSQL_FIELD)                                                                   \
	M(MYSQL_FIELD, name)                                                             \
	M(MYSQL_FIELD, org_name)                                                         \
	M(MYSQL_FIELD, table)                                                            \
	M(MYSQL_FIELD, org_table)                                                        \
	M(MYSQL_FIELD, db)                                                               \
	M(MYSQL_FIELD, catalog)                                                          \
	M(MYSQL_FIELD, def)                                                              \
	M(MYSQL_FIELD, length)                                                           \
	M(MYSQL_FIELD, max_length)                                                       \
	M(MYSQL_FIELD, name_length)                                                      \
	M(MYSQL_FIELD, org_name_length)                                                  \
	M(MYSQL_FIELD, table_length)                                                     \
	M(MYSQL_FIELD, org_table_length)                                                 \
	M(MYSQL_FIELD, db_length)                                                        \
	M(MYSQL_FIELD, catalog_length)                                                   \
	M(MYSQL_FIELD, def_length)                                                       \
	M(MYSQL_FIELD, flags)                                                            \
	M(MYSQL_FIELD, decimals)                                                         \
	M(MYSQL_FIELD, charsetnr)                                                        \
	M(MYSQL_FIELD, type)                                                             \
	M(MYSQL_FIELD, extension)                                                        \
	S(MYSQL_ROWS)                                                                    \
	M(MYSQL_ROWS, next)                                                              \
	M(MYSQL_ROWS, data)                                                              \
	M(MYSQL_ROWS, length)                                                            \
	S(MY_CHARSET_INFO)                                                               \
	M(MY_CHARSET_INFO, number)                                                       \
	M(MY_CHARSET_INFO, state)                                                        \
	M(MY_CHARSET_INFO, csname)                                                       \
	M(MY_CHARSET_INFO, name)                                                         \
	M(MY_CHARSET_INFO, comment)                                                      \
	M(MY_CHARSET_INFO, dir)                                                          \
	M(MY_CHARSET_INFO, mbminlen)                                                     \
	M(MY_CHARSET_INFO, mbmaxlen)                                                     \
	S(MYSQL)                                                                         \
	M(MYSQL, net)                                                                    \
	M(MYSQL, host)                                                                   \
	M(MYSQL, user)                                                                   \
	M(MYSQL, passwd)                                                                 \
	M(MYSQL, unix_socket)                                                            \
	M(MYSQL, server_version)                                                         \
	M(MYSQL, host_info)                                                              \
	M(MYSQL, info)                                                                   \
	M(MYSQL, db)                                                                     \
	M(MYSQL, charset)                                                                \
	M(MYSQL, fields)                                                                 \
	M(MYSQL, field_alloc)                                                            \
	M(MYSQL, affected_rows)                                                          \
	M(MYSQL, insert_id)                                                              \
	M(MYSQL, extra_info)                                                             \
	M(MYSQL, thread_id)                                                              \
	M(MYSQL, packet_length)                                                          \
	M(MYSQL, port)                                                                   \
	M(MYSQL, client_flag)                                                            \
	M(MYSQL, server_capabilities)                                                    \
	M(MYSQL, protocol_version)                                                       \
	M(MYSQL, field_count)                                                            \
	M(MYSQL, server_status)                                                          \
	M(MYSQL, server_language)                                                        \
	M(MYSQL, warning_count)                                                          \
	M(MYSQL, options)                                                                \
	M(MYSQL, status)                                                                 \
	M(MYSQL, free_me)                                                                \
	M(MYSQL, stmts)                                                                  \
	M(MYSQL, methods)                                                                \
	M(MYSQL, thd)                                                                    \
	M(MYSQL, unbuffered_fetch_owner)                                                 \
	M(MYSQL, extension)                                                              \
	S(MYSQL_RES)                                                                     \
	M(MYSQL_RES, row_count)                                                          \
	M(MYSQL_RES, fields)                                                             \
	M(MYSQL_RES, data)                                                               \
	M(MYSQL_RES, data_cursor)                                                        \
	M(MYSQL_RES, lengths)                                                            \
	M(MYSQL_RES, handle)                                                             \
	M(MYSQL_RES, row)                                                                \
	M(MYSQL_RES, current_row)                                                        \
	M(MYSQL_RES, field_alloc)                                                        \
	M(MYSQL_RES, field_count)                                                        \
	M(MYSQL_RES, current_field)                                                      \
	M(MYSQL_RES, eof)                                                                \
	S(MYSQL_TIME)                                                                    \
	M(MYSQL_TIME, year)                                                              \
	M(MYSQL_TIME, month)                                                             \
	M(MYSQL_TIME, day)                                                               \
	M(MYSQL_TIME, hour)                                                              \
	M(MYSQL_TIME, minute)                                                            \
	M(MYSQL_TIME, second)                                                            \
	M(MYSQL_TIME, second_part)                                                       \
	M(MYSQL_TIME, neg)                                                               \
	M(MYSQL_TIME, time_type)                                                         \
	S(MYSQL_BIND)                                                                    \
	M(MYSQL_BIND, length)                                                            \
	M(MYSQL_BIND, is_null)                                                           \
	M(MYSQL_BIND, buffer)                                                            \
	M(MYSQL_BIND, error)                                                             \
	M(MYSQL_BIND, buffer_length)                                                     \
	M(MYSQL_BIND, offset)                                                            \
	M(MYSQL_BIND, length_value)                                                      \
	M(MYSQL_BIND, pack_length)                                                       \
	M(MYSQL_BIND, buffer_type)                                                       \
	M(MYSQL_BIND, error_value)                                                       \
	M(MYSQL_BIND, is_unsigned)                                                       \
	M(MYSQL_BIND, long_data_used)                                                    \
	M(MYSQL_BIND, is_null_value)                                                     \
	M(MYSQL_BIND, extension)                                                         \
	S(MYSQL_STMT)                                                                    \
	M(MYSQL_STMT, mysql)                                                             \
	M(MYSQL_STMT, stmt_id)                                                           \
	M(MYSQL_STMT, flags)                                                             \
	M(MYSQL_STMT, state)                                                             \
	M(MYSQL_STMT, fields)                                                            \
	M(MYSQL_STMT, field_count)                                                       \
	M(MYSQL_STMT, param_count)                                                       \
	M(MYSQL_STMT, params)                                                            \
	M(MYSQL_STMT, bind)                                                              \
	M(MYSQL_STMT, result)                                                            \
	M(MYSQL_STMT, last_errno)                                                        \
	M(MYSQL_STMT, last_error)                                                        \
	M(MYSQL_STMT, sqlstate)                                                          \
	M(MYSQL_STMT, prefetch_rows)                                                     \
	M(MYSQL_STMT, list)                                                              \
	M(MYSQL_STMT, extension)

#define CNT_LAYOUT_MARIADB(S, M)                                                         \
	M(NET, pvio)                                                                     \
	S(MYSQL_DATA)                                                                    \
	M(MYSQL_DATA, data)                                                              \
	M(MYSQL_DATA, alloc)                                                             \
	M(MYSQL_DATA, rows)                                                              \
	M(MYSQL_DATA, fields)                                                            \
	S(MARIADB_CHARSET_INFO)                                                          \
	M(MARIADB_CHARSET_INFO, nr)                                                      \
	M(MARIADB_CHARSET_INFO, csname)                                                  \
	M(MARIADB_CHARSET_INFO, char_maxlen)                                             \
	M(MARIADB_CHARSET_INFO, mb_valid)                                                \
	M(MYSQL, info_buffer)                                                            \
	M(MYSQL_RES, is_ps)                                                              \
	M(MYSQL_STMT, update_max_length)                                                 \
	M(MYSQL_STMT, upsert_status)                                                     \
	M(MYSQL_STMT, array_size)                                                        \
	M(MYSQL_STMT, row_size)                                                          \
	M(MYSQL_STMT, request_length)                                                    \
	S(METHODS)                                                                       \
	M(METHODS, db_read_query_result)                                                 \
	M(METHODS, api)                                                                  \
	M(METHODS, db_execute_generate_request)                                          \
	S(API)                                                                           \
	M(API, mysql_fetch_row)                                                          \
	M(API, mysql_stmt_init)                                                          \
	M(API, mysql_reset_connection)

#define CNT_LAYOUT_ORACLE(S, M)                                                          \
	M(NET, vio)                                                                      \
	M(MYSQL, resultset_metadata)                                                     \
	M(MYSQL, reconnect)                                                              \
	M(MYSQL_RES, metadata)                                                           \
	M(MYSQL_RES, extension)                                                          \
	M(MYSQL_TIME, time_zone_displacement)                                            \
	M(MYSQL_STMT, server_status)                                                     \
	M(MYSQL_STMT, update_max_length)

#if CMY_ORACLE
#define CNT_LAYOUT(S, M) CNT_LAYOUT_BOTH(S, M) CNT_LAYOUT_ORACLE(S, M)
#else
#define CNT_LAYOUT(S, M) CNT_LAYOUT_BOTH(S, M) CNT_LAYOUT_MARIADB(S, M)
#endif

#endif
