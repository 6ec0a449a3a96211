/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FUZZ_H
#define FUZZ_H

#include "shims/fuzz/generate.h"

/* The calls of a sequence: the name of each, and how often it is inserted between the phrases of phrases.c. */
#define FZ_CALLS(CALL)                                                                   \
	CALL(connect, 4)                                                                 \
	CALL(connect_badly, 2)                                                           \
	CALL(connect_poll, 2)                                                            \
	CALL(finish, 2)                                                                  \
	CALL(reset, 2)                                                                   \
	CALL(ping, 1)                                                                    \
	CALL(status, 3)                                                                  \
	CALL(conninfo, 1)                                                                \
	CALL(set_encoding, 2)                                                            \
	CALL(set_verbosity, 3)                                                           \
	CALL(set_context, 3)                                                             \
	CALL(set_nonblocking, 3)                                                         \
	CALL(set_notices, 2)                                                             \
	CALL(trace, 2)                                                                   \
	CALL(untrace, 2)                                                                 \
	CALL(cancel, 2)                                                                  \
	CALL(cancel_running, 1)                                                          \
	CALL(exec, 12)                                                                   \
	CALL(exec_params, 8)                                                             \
	CALL(prepare, 5)                                                                 \
	CALL(exec_prepared, 5)                                                           \
	CALL(describe_prepared, 3)                                                       \
	CALL(describe_portal, 3)                                                         \
	CALL(send_query, 8)                                                              \
	CALL(send_params, 8)                                                             \
	CALL(send_prepare, 5)                                                            \
	CALL(send_prepared, 5)                                                           \
	CALL(send_describe_prepared, 3)                                                  \
	CALL(send_describe_portal, 3)                                                    \
	CALL(set_single_row, 3)                                                          \
	CALL(get_result, 12)                                                             \
	CALL(drain, 4)                                                                   \
	CALL(settle, 4)                                                                  \
	CALL(consume, 3)                                                                 \
	CALL(flush, 3)                                                                   \
	CALL(enter_pipeline, 3)                                                          \
	CALL(exit_pipeline, 4)                                                           \
	CALL(sync, 4)                                                                    \
	CALL(flush_request, 3)                                                           \
	CALL(copy_begin, 4)                                                              \
	CALL(put_copy_data, 5)                                                           \
	CALL(put_copy_end, 4)                                                            \
	CALL(get_copy_data, 5)                                                           \
	CALL(getline, 3)                                                                 \
	CALL(getline_async, 3)                                                           \
	CALL(putline, 3)                                                                 \
	CALL(putnbytes, 3)                                                               \
	CALL(endcopy, 4)                                                                 \
	CALL(notifies, 4)                                                                \
	CALL(notify_from_other, 1)                                                       \
	CALL(look, 3)                                                                    \
	CALL(out_of_range, 4)                                                            \
	CALL(field_number, 2)                                                            \
	CALL(verbose_message, 2)                                                         \
	CALL(make_result, 2)                                                             \
	CALL(copy_result, 3)                                                             \
	CALL(set_attributes, 2)                                                          \
	CALL(set_value, 4)                                                               \
	CALL(result_alloc, 1)                                                            \
	CALL(clear, 2)                                                                   \
	CALL(print, 2)                                                                   \
	CALL(display, 2)                                                                 \
	CALL(register_event, 3)                                                          \
	CALL(instance_data, 3)                                                           \
	CALL(fire_events, 2)                                                             \
	CALL(escape_string, 2)                                                           \
	CALL(escape_quoted, 2)                                                           \
	CALL(escape_bytea, 2)                                                            \
	CALL(unescape_bytea, 1)                                                          \
	CALL(encoding_table, 1)                                                          \
	CALL(encrypt_password, 1)                                                        \
	CALL(conninfo_parse, 2)                                                          \
	CALL(expbuffer, 1)                                                               \
	CALL(lo_make, 2)                                                                 \
	CALL(lo_open, 2)                                                                 \
	CALL(lo_read, 2)                                                                 \
	CALL(lo_write, 2)                                                                \
	CALL(lo_seek, 2)                                                                 \
	CALL(lo_truncate, 2)                                                             \
	CALL(lo_end, 2)                                                                  \
	CALL(lo_files, 1)                                                                \
	CALL(function, 3)                                                                \
	CALL(null_handles, 1)                                                            \
	CALL(read_ahead, 3)                                                              \
	CALL(scene, 0)

#define FZ_ENUM(name, weight) FZ_##name,
enum fz_call {
	FZ_CALLS(FZ_ENUM) FZ_N_CALLS
};

#define FZ_NAME(name, weight) #name,

/* The sequences in scenes.c once gave different results. Each counts as one call. */
#define FZ_N_SCENES 28u

extern const struct fz_language fz_libpq;

#endif
