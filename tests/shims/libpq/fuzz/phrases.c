/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#define END     FZ_END
#define SEND    FZ_ANY_OF(0)
#define RESULT  FZ_ANY_OF(1)
#define SETTING FZ_ANY_OF(2)

static const struct fz_phrase phrases[] = {
	{ 10, { FZ_exec, END } },
	{ 4, { FZ_exec_params, END } },
	{ 6, { SEND, FZ_get_result, FZ_get_result, FZ_drain, END } },
	{ 4, { FZ_send_query, FZ_set_single_row, FZ_get_result, FZ_get_result, FZ_drain,
		     END } },
	{ 3, { FZ_send_params, FZ_settle, FZ_set_single_row, FZ_consume, FZ_drain,
		     END } },
	{ 3, { FZ_prepare, FZ_describe_prepared, FZ_exec_prepared, END } },
	{ 3, { FZ_send_prepare, FZ_drain, FZ_send_prepared, FZ_drain, END } },
	{ 5, { FZ_enter_pipeline, SEND, SEND, FZ_sync, FZ_drain, FZ_drain,
		     FZ_exit_pipeline, END } },
	{ 4, { FZ_enter_pipeline, SEND, FZ_sync, SEND, SEND, FZ_sync, FZ_get_result,
		     FZ_get_result, FZ_drain, FZ_drain, FZ_exit_pipeline, END } },
	{ 4, { FZ_enter_pipeline, SEND, FZ_flush_request, FZ_get_result, FZ_get_result,
		     SEND, FZ_sync, FZ_drain, FZ_exit_pipeline, END } },
	{ 3, { FZ_enter_pipeline, SEND, FZ_flush_request, FZ_drain, FZ_exit_pipeline,
		     FZ_exec, END } },
	{ 2, { FZ_enter_pipeline, FZ_send_params, FZ_set_single_row, FZ_sync,
		     FZ_get_result, FZ_set_single_row, FZ_drain, FZ_drain,
		     FZ_exit_pipeline, END } },
	{ 5, { FZ_copy_begin, FZ_put_copy_data, FZ_put_copy_data, FZ_put_copy_end,
		     FZ_drain, END } },
	{ 4, { FZ_copy_begin, FZ_get_copy_data, FZ_get_copy_data, FZ_drain, END } },
	{ 3, { FZ_copy_begin, FZ_putline, FZ_putline, FZ_putnbytes, FZ_endcopy, FZ_drain,
		     END } },
	{ 3, { FZ_copy_begin, FZ_getline, FZ_getline, FZ_endcopy, FZ_drain, END } },
	{ 2, { FZ_copy_begin, FZ_getline_async, FZ_getline_async, FZ_endcopy, FZ_drain,
		     END } },
	{ 4, { FZ_exec, RESULT, RESULT, RESULT, END } },
	{ 3, { FZ_exec, FZ_copy_result, FZ_set_value, FZ_look, RESULT, END } },
	{ 2, { FZ_make_result, FZ_set_attributes, FZ_set_value, FZ_set_value, RESULT,
		     END } },
	{ 3, { FZ_lo_make, FZ_lo_open, FZ_lo_write, FZ_lo_seek, FZ_lo_read,
		     FZ_lo_truncate, FZ_lo_seek, FZ_lo_read, FZ_lo_end, FZ_lo_files,
		     END } },
	{ 3, { SETTING, SETTING, FZ_exec, END } },
	{ 2, { FZ_trace, FZ_exec, SEND, FZ_drain, FZ_untrace, END } },
	{ 2, { FZ_register_event, FZ_register_event, FZ_exec, FZ_copy_result,
		     FZ_instance_data, FZ_instance_data, FZ_fire_events, END } },
	{ 2, { FZ_reset, FZ_exec, END } },
	{ 1, { FZ_finish, FZ_connect, END } },
	{ 1, { FZ_connect_badly, END } },
};

static const int sends[] = { FZ_send_query, FZ_send_params, FZ_send_params,
	FZ_send_prepare, FZ_send_prepared, FZ_send_describe_prepared,
	FZ_send_describe_portal };
static const int results[] = { FZ_look, FZ_out_of_range, FZ_field_number,
	FZ_verbose_message, FZ_copy_result, FZ_set_attributes, FZ_set_value,
	FZ_result_alloc, FZ_clear, FZ_print, FZ_display, FZ_fire_events };
static const int settings[] = { FZ_set_encoding, FZ_set_verbosity, FZ_set_context,
	FZ_set_nonblocking, FZ_set_notices, FZ_trace };

#define LIST(list)                                                                       \
	{                                                                                \
		list, sizeof(list) / sizeof((list)[0])                                   \
	}
static const struct fz_list lists[] = { LIST(sends), LIST(results), LIST(settings) };

#define FZ_WEIGHT(name, weight) weight,
static const unsigned weights[] = { FZ_CALLS(FZ_WEIGHT) };
static const char *const names[] = { FZ_CALLS(FZ_NAME) };

const struct fz_language fz_libpq = {
	.names = names,
	.weights = weights,
	.n_calls = FZ_N_CALLS,
	.first = FZ_connect,
	.phrases = phrases,
	.n_phrases = sizeof(phrases) / sizeof(phrases[0]),
	.lists = lists,
};
