/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single messages of the server: notices, notifications and parameters, which come at any time, and answers that are one
 * message. This file owns the reported parameters. The files that read messages call it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "session.h"

int
cnd_pg_refuse(struct cnd_session *s, const char *sqlstate, const char *format, ...)
{
	char text[CNC_DIAG_MESSAGE_MAX];
	struct cnc_buf fields;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cnc_diag_set(s->diag, sqlstate, "%s", text);
	/* Add the severity, as the server does: some errors of class 08 do not end the session. */
	cnc_buf_init(&fields, s->mem, CNC_DIAG_MESSAGE_MAX + 64u);
	if (cnc_diag_put_field(&fields, 'V', "ERROR", 5) == CENOTE_OK &&
		cnc_diag_put(&fields, s->diag) == CENOTE_OK)
		(void)cnc_diag_set_fields(
			s->diag, cnc_buf_head(&fields), cnc_buf_len(&fields));
	cnc_buf_finish(&fields);
	return CENOTE_ERR_SERVER;
}

/* ---- what the server reports ---- */

static int
on_parameter(struct cnd_session *s, const struct cnd_pg_msg *m, struct cnd_sink *sink)
{
	struct cnd_pg_reader r;
	const char *name, *value;
	size_t unused;
	int q;

	cnd_pg_reader_init(&r, m);
	name = cnd_pg_read_text(&r, &unused);
	value = cnd_pg_read_text(&r, &unused);
	if (cnd_pg_reader_end(&r) < 0)
		return cnd_pg_broken(s, "a malformed ParameterStatus");
	q = cnd_pg_set_parameter(s, name, value);
	if (q < 0)
		return cnd_pg_lost(s, CNC_SQLSTATE(NO_MEMORY), "out of memory");
	return sink != NULL && sink->ops->parameter != NULL
		       ? sink->ops->parameter(sink, name, value)
		       : CENOTE_OK;
}

static int
on_notification(struct cnd_session *s, const struct cnd_pg_msg *m, struct cnd_sink *sink)
{
	struct cnp_notification n = { 0 };
	struct cnd_pg_reader r;

	cnd_pg_reader_init(&r, m);
	n.pid = cnd_pg_read_u32(&r);
	n.channel.p = cnd_pg_read_text(&r, &n.channel.n);
	n.payload.p = cnd_pg_read_text(&r, &n.payload.n);
	if (cnd_pg_reader_end(&r) < 0)
		return cnd_pg_broken(s, "a malformed NotificationResponse");
	if (sink != NULL && sink->ops->notification != NULL)
		return sink->ops->notification(sink, &n);
	s->has_unheard = 1;
	return CENOTE_OK;
}

static int
on_notice(struct cnd_session *s, const struct cnd_pg_msg *m, struct cnd_sink *sink)
{
	const char *severity = cnd_pg_error_field(m, 'V');
	struct cnc_diag notice;
	int r;

	if (severity != NULL && strcmp(severity, "WARNING") == 0)
		s->run.warnings++;
	if (sink == NULL)
		return CENOTE_OK;
	cnc_diag_init(&notice, s->mem);
	r = cnd_pg_diag(&notice, m->body, m->len, s->server);
	if (r < 0)
		r = cnd_pg_broken(s, "a malformed NoticeResponse");
	else
		r = sink->ops->notice(sink, &notice);
	cnc_diag_finish(&notice);
	return r;
}

int
cnd_pg_async(struct cnd_session *s, const struct cnd_pg_msg *m, struct cnd_sink *sink)
{
	switch (m->type) {
	case 'A':
		return on_notification(s, m, sink);
	case 'N':
		return on_notice(s, m, sink);
	case 'S':
		return on_parameter(s, m, sink);
	default:
		return CENOTE_AGAIN;
	}
}

/* Read n booleans, and the text after them if there is room for one. */
int
cnd_pg_take_row(struct cnd_session *s, const struct cnd_pg_msg *m, uint8_t *ret_flags,
	size_t n, char *ret_text, size_t room)
{
	size_t at = 2 + 5 * n;

	if (room > 0 ? m->len < at + 4 || m->len - at - 4 >= room : m->len != at)
		return cnd_pg_broken(s, "another row than was asked for");
	for (size_t i = 0; i < n; i++)
		ret_flags[i] = m->body[2 + 5 * i + 4] == 't';
	if (room > 0) {
		memcpy(ret_text, m->body + at + 4, m->len - at - 4);
		ret_text[m->len - at - 4] = '\0';
	}
	return CENOTE_OK;
}

int
cnd_pg_take_flags(
	struct cnd_session *s, const struct cnd_pg_msg *m, struct cnd_pg_flags *ret_flags)
{
	ret_flags->has_come = 1;
	return cnd_pg_take_row(s, m, ret_flags->flags, ret_flags->n, NULL, 0);
}

int
cnd_pg_give_params(struct cnd_session *s)
{
	struct cnp_param *params = cnc_calloc(s->mem, s->params.n + 1, sizeof(*params));
	int r;

	if (params == NULL)
		return CENOTE_ERR_NOMEM;
	for (uint32_t i = 0; i < s->params.n; i++) {
		params[i].type = s->params.types[i] == 0
					 ? (uint8_t)CENOTE_TYPE_NULL
					 : cnd_pg_type(s->params.types[i]);
		params[i].native_type = s->params.types[i];
		params[i].name = CNP_STR_NONE;
	}
	r = s->run.sink->ops->params(s->run.sink, params, s->params.n);
	cnc_free(s->mem, params);
	return r;
}

/* The server does not say which type the result has. */
static int
give_function_value(struct cnd_session *s, const uint8_t *value, uint32_t len)
{
	struct cnd_sink *sink = s->run.sink;
	struct cnp_column column = CNP_COLUMN_INIT;
	int r;

	column.type = CENOTE_TYPE_OTHER;
	column.format = s->run.format == CENOTE_FORMAT_BINARY ? CENOTE_FORMAT_BINARY
							      : CENOTE_FORMAT_TEXT;
	r = sink->ops->columns(sink, &column, 1, 0);
	if (r == CENOTE_OK)
		r = cnc_batch_row(sink->batch);
	if (r < 0)
		return r;
	r = value == NULL ? cnc_batch_null(sink->batch)
			  : cnc_batch_put(sink->batch, value, len);
	if (r < 0) {
		cnc_batch_row_undo(sink->batch);
		return r;
	}
	cnc_batch_row_done(sink->batch);
	r = sink->ops->row_done(sink);
	return r < 0 ? r : CENOTE_OK;
}

/* Note whether the value of a call is neither NULL nor a 32-bit zero. */
static int
take_value(struct cnd_pg_flags *flags, const uint8_t *body, uint32_t len)
{
	flags->flags[flags->n_values++] =
		len != UINT32_MAX && (len != 4 || cnd_pg_get_u32(body + 4) != 0);
	flags->has_come = flags->n_values == flags->n_calls;
	return CENOTE_OK;
}

int
cnd_pg_function_result(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_run *run = &s->run;
	uint32_t len = m->len >= 4 ? cnd_pg_get_u32(m->body) : 0;
	int r;

	if (m->len < 4 || (len != UINT32_MAX && len != m->len - 4) ||
		(len == UINT32_MAX && m->len != 4))
		return cnd_pg_broken(s, "a malformed FunctionCallResponse");
	run->is_value_last = 1;
	if (run->flags != NULL && run->flags->n_values < run->flags->n_calls)
		return take_value(run->flags, m->body, len);
	if (run->sink == NULL || run->status < 0)
		return CENOTE_OK;
	r = give_function_value(s, len == UINT32_MAX ? NULL : m->body + 4, len);
	if (r < 0) {
		run->status = r;
		return CENOTE_OK;
	}
	run->done = (struct cnp_done){ .tag = cnp_str("FUNCTION"), .affected = -1 };
	run->has_done = 1;
	return CENOTE_OK;
}
