/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies of the pool, and the end of a request. */
#include <string.h>

#include "core/sqlstate.h"
#include "protocol/session_server_internal.h"

int
cnp_server_put(struct cnp_server *s, uint32_t request, const struct cnp_msg *m)
{
	size_t size;
	int r;

	r = cnp_msg_size(m, &size);
	if (r < 0)
		return r;
	if (size > s->peer_max_frame)
		return CENOTE_ERR_LIMIT;
	return cnp_frame_put(&s->out, 0, request, m);
}

int
cnp_server_put_fields(struct cnc_buf *b, const struct cnc_diag *d, const char *severity)
{
	int r = CENOTE_OK;

	if (!cnc_diag_field(d, 'S'))
		r = cnc_diag_put_field(b, 'S', severity, strlen(severity));
	return r < 0 ? r : cnc_diag_put(b, d);
}

/* The severity of an error without one: class 08 ends the session. */
static const char *
severity_of(uint8_t code, const struct cnc_diag *d)
{
	if (code != CNP_MSG_ERROR)
		return "NOTICE";
	return strncmp(d->sqlstate, "08", 2) == 0 ? "FATAL" : "ERROR";
}

/* Queue an ERROR or NOTICE. Their only member is the list of fields, which is written in place. */
static int
put_diag(struct cnp_server *s, uint8_t code, uint32_t request, const struct cnc_diag *d)
{
	size_t mark, before = cnc_buf_len(&s->out);
	int r;

	r = cnp_frame_begin(&s->out, code, 0, request, &mark);
	if (r == CENOTE_OK)
		r = cnc_buf_u32(&s->out, 0);
	if (r == CENOTE_OK)
		r = cnp_server_put_fields(&s->out, d, severity_of(code, d));
	if (r == CENOTE_OK) {
		mark += CNP_FRAME_HEADER;
		cnc_put_u32(cnc_buf_head(&s->out) + mark,
			(uint32_t)(cnc_buf_len(&s->out) - mark - 4));
		r = cnc_buf_u8(&s->out, 0);
	}
	if (r == CENOTE_OK &&
		cnc_buf_len(&s->out) - before - CNP_FRAME_HEADER > s->peer_max_frame)
		r = CENOTE_ERR_LIMIT;
	if (r == CENOTE_OK)
		return cnp_frame_end(&s->out, before);
	cnc_buf_truncate(&s->out, before);
	return r;
}

int
cnp_server_broken(struct cnp_server *s, const char *why)
{
	cnc_diag_set(&s->diag, CNC_SQLSTATE(PROTOCOL), "protocol violation: %s", why);
	/* Without memory the connection is closed without an error. */
	(void)put_diag(s, CNP_MSG_ERROR, 0, &s->diag);
	(void)cnc_sm_move(&s->sm, CNP_SERVER_BROKEN);
	return CENOTE_ERR_PROTOCOL;
}

static int
may_reply_of_none(const struct cnp_server *s, uint8_t code)
{
	switch (code) {
	case CNP_MSG_NOTICE:
		return s->sm.state < CNP_SERVER_CLOSING;
	case CNP_MSG_NOTIFICATION:
		if (cnp_server_is_without_session(s))
			return 1;
		/* fall through */
	case CNP_MSG_PARAMETER:
		return s->sm.state < CNP_SERVER_CLOSING && s->is_ready;
	default:
		return 0;
	}
}

int
cnp_server_put_notifications(struct cnp_server *s, const uint8_t *frames, size_t n)
{
	return cnp_server_is_without_session(s) ? cnc_buf_append(&s->out, frames, n)
						: CENOTE_ERR_STATE;
}

int
cnp_server_reply(struct cnp_server *s, const struct cnp_msg *m, int of_none)
{
	int r;

	if (of_none) {
		if (!may_reply_of_none(s, m->code))
			return CENOTE_ERR_STATE;
		s->is_told = 1;
		return cnp_server_put(s, 0, m);
	}
	if (cnp_server_is_attaching(s) && s->first != 0)
		return cnp_server_put(s, 0, m);
	if (s->sm.state != CNP_SERVER_RUNNING)
		return CENOTE_ERR_STATE;
	if (m->code == CNP_MSG_COPY_IN)
		return cnp_server_begin_copy(s, m);
	if (s->running == 0 && m->code != CNP_MSG_NOTICE)
		return CENOTE_OK; /* a set-up request has no reply */
	r = cnp_server_put(s, s->running, m);
	if (r == CENOTE_OK && m->code == CNP_MSG_SUSPENDED)
		s->is_leaving = 1;
	if (r == CENOTE_OK && m->code == CNP_MSG_DONE) {
		s->is_told = 1;
		cnp_server_answer_copy(s);
	}
	return r;
}

int
cnp_server_hello(struct cnp_server *s, uint8_t tls, uint8_t auth, const char *mechanisms)
{
	struct cnp_msg m;
	uint8_t version;
	size_t behind;
	int r;

	if (s->sm.state != CNP_SERVER_FIRST || s->said_hello)
		return CENOTE_ERR_STATE;
	version = cnp_version_choose(s->opening.version_min, s->opening.version_max);
	if (version == 0)
		return cnp_server_broken(s, "no protocol version in common");
	if (!tls && s->opening.tls == CNP_TLS_REQUIRE)
		return cnp_server_broken(s, "TLS is required and not to be had here");
	/* Bytes that came in the clear must not count as bytes that came through TLS. */
	(void)cnp_server_unparsed(s, &behind);
	if (tls && (behind > 0 || s->first != 0 || s->opening.tls == CNP_TLS_NONE))
		return cnp_server_broken(s, "bytes before the TLS handshake");
	m.code = CNP_MSG_HELLO;
	m.as.hello.version = version;
	m.as.hello.tls = tls;
	m.as.hello.auth = auth;
	m.as.hello.max_frame = s->max_frame;
	m.as.hello.mechanisms = cnp_str(mechanisms);
	r = cnp_server_put(s, 0, &m);
	if (r < 0)
		return r;
	s->version = version;
	s->said_hello = 1;
	return auth == CNP_AUTH_NONE ? CENOTE_OK : cnc_sm_move(&s->sm, CNP_SERVER_AUTH);
}

int
cnp_server_attached(struct cnp_server *s, const struct cnp_attached *attached)
{
	struct cnp_msg m;
	int r;

	if (!cnp_server_is_attaching(s) || !s->said_hello ||
		(s->first != CNP_MSG_ATTACH && s->first != CNP_MSG_RESUME))
		return CENOTE_ERR_STATE;
	m.code = CNP_MSG_ATTACHED;
	m.as.attached = *attached;
	r = cnp_server_put(s, 0, &m);
	if (r < 0)
		return r;
	s->in.max = CNP_FRAME_HEADER + s->max_frame;
	if (s->in.max < CNP_FRAME_MAX_AUTH)
		s->in.max = CNP_FRAME_MAX_AUTH;
	return cnc_sm_move(&s->sm, CNP_SERVER_ATTACHED);
}

int
cnp_server_news(
	struct cnp_server *s, const struct cnp_str *carry, struct cnp_str *ret_news)
{
	*ret_news = CNP_STR_NONE;
	if (!carry || carry->n == 0 ||
		(carry->n == cnc_buf_len(&s->told) &&
			memcmp(carry->p, cnc_buf_head(&s->told), carry->n) == 0))
		return CENOTE_OK;
	*ret_news = *carry;
	cnc_buf_clear(&s->told, carry->n);
	return cnc_buf_append(&s->told, carry->p, carry->n);
}

static int
put_ready(struct cnp_server *s, uint32_t request, uint8_t tx, uint32_t pins,
	const struct cnp_str *carry)
{
	struct cnp_msg m;
	int r;

	m.code = CNP_MSG_READY;
	m.as.ready.tx = tx;
	m.as.ready.pins = pins;
	r = cnp_server_news(s, carry, &m.as.ready.carry);
	return r < 0 ? r : cnp_server_put(s, request, &m);
}

int
cnp_server_ready(
	struct cnp_server *s, uint8_t tx, uint32_t pins, const struct cnp_str *carry)
{
	int r;

	if (s->sm.state != CNP_SERVER_ATTACHED)
		return CENOTE_ERR_STATE;
	r = put_ready(s, 0, tx, pins, carry);
	if (r == CENOTE_OK)
		s->is_ready = 1;
	return r;
}

/* Can a reply be queued to the running request, or to STATUS? 1; 0: a set-up request, whose reply
 * is dropped; CENOTE_ERR_STATE. */
static int
can_reply(const struct cnp_server *s)
{
	if (cnp_server_is_attaching(s) && s->first == CNP_MSG_STATUS)
		return 1;
	if (s->sm.state != CNP_SERVER_RUNNING)
		return CENOTE_ERR_STATE;
	return s->running != 0;
}

/* End a frame whose payload was written in place. `r`: the status of writing it. */
static int
end_frame(struct cnp_server *s, size_t mark, int r)
{
	size_t len = cnc_buf_len(&s->out) - mark - CNP_FRAME_HEADER;

	if (r == CENOTE_OK && len > s->peer_max_frame)
		r = CENOTE_ERR_LIMIT;
	if (r == CENOTE_OK)
		return cnp_frame_end(&s->out, mark);
	cnc_buf_truncate(&s->out, mark);
	return r;
}

int
cnp_server_columns(struct cnp_server *s, const struct cnp_column *columns, uint32_t n)
{
	size_t mark;
	int r;

	r = can_reply(s);
	if (r <= 0)
		return r;
	r = cnp_frame_begin(&s->out, CNP_MSG_COLUMNS, 0, s->running, &mark);
	if (r < 0)
		return r;
	return end_frame(s, mark, cnp_columns_encode(&s->out, columns, n));
}

int
cnp_server_params(struct cnp_server *s, const struct cnp_param *params, uint32_t n)
{
	size_t mark;
	int r;

	r = can_reply(s);
	if (r <= 0)
		return r;
	r = cnp_frame_begin(&s->out, CNP_MSG_PARAMS, 0, s->running, &mark);
	if (r < 0)
		return r;
	return end_frame(s, mark, cnp_params_encode(&s->out, params, n));
}

/* Queue a diagnostics record. Leave out its fields if they are longer than the peer accepts. */
static int
put_diag_short(
	struct cnp_server *s, uint8_t code, uint32_t request, const struct cnc_diag *d)
{
	struct cnc_diag brief;
	int r;

	r = put_diag(s, code, request, d);
	if (r != CENOTE_ERR_LIMIT)
		return r;
	brief = *d;
	brief.fields = NULL;
	brief.fields_len = 0;
	return put_diag(s, code, request, &brief);
}

int
cnp_server_error(struct cnp_server *s, const struct cnc_diag *d)
{
	int is_running = s->sm.state == CNP_SERVER_RUNNING;
	int r;

	if (s->sm.state >= CNP_SERVER_CLOSING)
		return CENOTE_ERR_STATE;
	/* The request was skipped, so it cannot have failed. */
	if (is_running && s->is_answered)
		return CENOTE_OK;
	r = put_diag_short(s, CNP_MSG_ERROR, is_running ? s->running : 0, d);
	if (r < 0)
		return r;
	if (!is_running)
		return cnc_sm_move(&s->sm, CNP_SERVER_CLOSING);
	cnp_server_answer_copy(s);
	if (s->running != 0)
		s->is_skipping = 1;
	return CENOTE_OK;
}

int
cnp_server_notice(struct cnp_server *s, const struct cnc_diag *d)
{
	if (s->sm.state >= CNP_SERVER_CLOSING)
		return CENOTE_ERR_STATE;
	return put_diag_short(
		s, CNP_MSG_NOTICE, s->sm.state == CNP_SERVER_RUNNING ? s->running : 0, d);
}

int
cnp_server_rows_begin(struct cnp_server *s, struct cnc_batch *w, uint32_t n_columns)
{
	size_t mark, before = cnc_buf_len(&s->out);
	int r;

	if (can_reply(s) <= 0)
		return CENOTE_ERR_STATE;
	if (before >= s->max_out)
		return CENOTE_ERR_LIMIT;
	/* During the batch, the limit is the longest frame that the peer accepts. */
	s->out.max = before + CNP_FRAME_HEADER + s->peer_max_frame;
	r = cnp_frame_begin(&s->out, CNP_MSG_ROWS, 0, s->running, &mark);
	if (r == CENOTE_OK)
		r = cnc_batch_begin(w, &s->out, n_columns);
	if (r == CENOTE_OK) {
		s->frame = mark;
		return CENOTE_OK;
	}
	s->out.max = SIZE_MAX / 2;
	cnc_buf_truncate(&s->out, before);
	return r;
}

int
cnp_server_rows_end(struct cnp_server *s, struct cnc_batch *w)
{
	s->out.max = SIZE_MAX / 2;
	if (w->n_rows == 0) {
		cnc_buf_truncate(&s->out, s->frame);
		return CENOTE_OK;
	}
	(void)cnc_batch_end(w);
	return end_frame(s, s->frame, CENOTE_OK);
}

int
cnp_server_finish_request(
	struct cnp_server *s, uint8_t tx, uint32_t pins, const struct cnp_str *carry)
{
	int r;

	if (cnp_server_is_attaching(s) &&
		(s->first == CNP_MSG_CANCEL || s->first == CNP_MSG_STATUS))
		return cnc_sm_move(&s->sm, CNP_SERVER_CLOSING);
	if (s->sm.state != CNP_SERVER_RUNNING)
		return CENOTE_ERR_STATE;
	if (s->is_leaving)
		return cnc_sm_move(&s->sm, CNP_SERVER_CLOSING);
	r = cnp_server_end_copies(s);
	if (r < 0)
		return r;
	if ((s->running_flags & CNP_FRAME_SYNC) || s->running_code == CNP_MSG_SYNC) {
		r = put_ready(s, s->running, tx, pins, carry);
		if (r < 0)
			return r;
		s->is_skipping = 0;
		s->is_unsynced = 0;
	} else if (s->running != 0) {
		s->is_unsynced = 1;
	}
	return cnc_sm_move(&s->sm, CNP_SERVER_ATTACHED);
}
