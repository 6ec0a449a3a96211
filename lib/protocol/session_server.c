/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol/session_server.h"

#include <string.h>

#include "core/sqlstate.h"
#include "protocol/reply.h"

/* Memory that is kept from client to client. */
#define KEEP_MAX  65536u
/* Memory that is kept from message to message. */
#define LONG_KEPT ((size_t)4 << 20)
/* The least room to receive into, if limits allow it. */
#define ROOM_MIN  16384u
/* The lowest limit that a client may set. With less, even an error message might not
 * fit. */
#define FRAME_LOW 65536u

#define TO(state) (1u << CNP_SERVER_##state)
#define TO_END    (TO(CLOSING) | TO(BROKEN))

static const struct cnc_sm_state states[] = {
	[CNP_SERVER_OPENING] = { "opening", TO(FIRST) | TO_END },
	[CNP_SERVER_FIRST] = { "first", TO(AUTH) | TO(ATTACHED) | TO_END },
	[CNP_SERVER_AUTH] = { "auth", TO(ATTACHED) | TO_END },
	[CNP_SERVER_ATTACHED] = { "attached", TO(RUNNING) | TO_END },
	[CNP_SERVER_RUNNING] = { "running", TO(ATTACHED) | TO_END },
	[CNP_SERVER_STAYING] = { "staying", TO(FIRST) | TO_END },
	[CNP_SERVER_CLOSING] = { "closing", TO(BROKEN) },
	[CNP_SERVER_BROKEN] = { "broken", 0 },
};

static const uint8_t first_of_kind[] = {
	[CNP_OPEN_ATTACH] = CNP_MSG_ATTACH,
	[CNP_OPEN_CANCEL] = CNP_MSG_CANCEL,
	[CNP_OPEN_RESUME] = CNP_MSG_RESUME,
	[CNP_OPEN_STATUS] = CNP_MSG_STATUS,
};

/* Set the state at the beginning of each client. */
static void
begin(struct cnp_server *s, uint32_t state)
{
	cnc_sm_init(&s->sm, states, sizeof states / sizeof *states, state);
	s->peer_max_frame = CNP_FRAME_MAX;
	s->in.max = CNP_FRAME_MAX_AUTH;
	s->taken = 0;
	s->first = 0;
	s->said_hello = 0;
	s->may_stay = 0;
	s->may_borrow = 0;
	s->may_listen = 0;
	s->is_kept = 0;
	s->drop_left = 0;
	s->is_leaving = 0;
	s->is_skipping = 0;
	s->last_request = 0;
	s->running = 0;
	s->running_code = 0;
	s->running_flags = 0;
	s->is_answered = 0;
	s->is_copying = 0;
	s->copies_owed = 0;
	s->is_ready = 0;
	s->is_unsynced = 0;
	cnc_buf_clear(&s->told, 0);
}

void
cnp_server_init(struct cnp_server *s, const struct cenote_allocator *mem,
	size_t max_frame, size_t max_out)
{
	memset(s, 0, sizeof *s);
	s->mem = *mem;
	s->max_frame = max_frame < CNP_FRAME_MAX ? max_frame : CNP_FRAME_MAX;
	s->max_out = max_out;
	cnc_buf_init(&s->in, &s->mem, CNP_FRAME_MAX_AUTH);
	cnc_buf_init(&s->out, &s->mem, SIZE_MAX / 2);
	cnc_buf_init(&s->held, &s->mem, 0);
	cnc_buf_init(&s->later, &s->mem, 0);
	cnc_buf_init(&s->told, &s->mem, SIZE_MAX / 2);
	cnc_diag_init(&s->diag, NULL);
	begin(s, CNP_SERVER_OPENING);
}

void
cnp_server_finish(struct cnp_server *s)
{
	cnc_buf_finish(&s->in);
	cnc_buf_finish(&s->out);
	cnc_buf_finish(&s->held);
	cnc_buf_finish(&s->later);
	cnc_buf_finish(&s->told);
	cnc_diag_finish(&s->diag);
}

static void
restart(struct cnp_server *s, uint32_t state)
{
	cnc_buf_clear(&s->in, KEEP_MAX);
	cnc_buf_clear(&s->out, KEEP_MAX);
	cnc_buf_finish(&s->held);
	cnc_buf_finish(&s->later);
	cnc_diag_clear(&s->diag);
	begin(s, state);
}

void
cnp_server_restart(struct cnp_server *s)
{
	restart(s, CNP_SERVER_OPENING);
}

void
cnp_server_keep(const struct cnp_server *s, struct cnp_kept *ret_kept)
{
	ret_kept->peer_max_frame = (uint32_t)s->peer_max_frame;
	ret_kept->last_request = s->last_request;
	ret_kept->version = s->version;
	ret_kept->drop_left = s->drop_left;
}

void
cnp_server_restart_kept(struct cnp_server *s, const struct cnp_kept *kept)
{
	restart(s, CNP_SERVER_STAYING);
	memset(&s->opening, 0, sizeof s->opening);
	s->opening.kind = CNP_OPEN_ATTACH;
	s->peer_max_frame = kept->peer_max_frame;
	s->last_request = kept->last_request;
	s->version = kept->version;
	s->drop_left = kept->drop_left;
	s->said_hello = 1;
	s->is_kept = 1;
}

static int
is_attached(const struct cnp_server *s)
{
	return s->sm.state == CNP_SERVER_ATTACHED || s->sm.state == CNP_SERVER_RUNNING;
}

static int
is_attaching(const struct cnp_server *s)
{
	return s->sm.state == CNP_SERVER_FIRST || s->sm.state == CNP_SERVER_AUTH;
}

static const uint8_t *
unparsed(const struct cnp_server *s, size_t *ret_n)
{
	const uint8_t *head = cnc_buf_head(&s->in);

	*ret_n = cnc_buf_len(&s->in) - s->taken;
	return head ? head + s->taken : NULL;
}

/* The caller has finished with the bytes that it got, so drop these. Before ATTACHED they stay, for
 * cnp_server_raw(). */
static void
drop_taken(struct cnp_server *s)
{
	if (!is_attached(s) || s->taken == 0)
		return;
	cnc_buf_consume(&s->in, s->taken);
	s->taken = 0;
	if (cnc_buf_len(&s->in) == 0 && s->in.cap > LONG_KEPT)
		cnc_buf_clear(&s->in, KEEP_MAX);
}

/* The room that is useful: for the rest of the current frame, but at most as many bytes as have come. */
static size_t
room_wanted(const struct cnp_server *s)
{
	struct cnp_frame f;
	size_t have, missing, trusted;
	const uint8_t *p = unparsed(s, &have);

	if (have < CNP_FRAME_HEADER || cnp_frame_decode(p, s->max_frame, &f) < 0 ||
		CNP_FRAME_HEADER + (size_t)f.len <= have)
		return ROOM_MIN;
	missing = CNP_FRAME_HEADER + (size_t)f.len - have;
	trusted = have > KEEP_MAX ? have : KEEP_MAX;
	if (missing > trusted)
		missing = trusted;
	return missing > ROOM_MIN ? missing : ROOM_MIN;
}

int
cnp_server_room(struct cnp_server *s, uint8_t **ret_room, size_t *ret_n)
{
	size_t n, left;
	int r;

	if (s->sm.state >= CNP_SERVER_CLOSING)
		return CENOTE_ERR_LIMIT;
	drop_taken(s);
	n = is_attached(s) ? room_wanted(s) : CNP_FRAME_MAX_AUTH;
	/* The requests that waited for the end of a copy may have more bytes than the limit. */
	if (cnc_buf_len(&s->in) >= s->in.max)
		return CENOTE_ERR_LIMIT;
	left = s->in.max - cnc_buf_len(&s->in);
	if (n > left)
		n = left;
	r = cnc_buf_reserve(&s->in, n, ret_room);
	if (r < 0)
		return r;
	*ret_n = n;
	return CENOTE_OK;
}

void
cnp_server_received(struct cnp_server *s, size_t n)
{
	cnc_buf_commit(&s->in, n);
}

size_t
cnp_server_raw(const struct cnp_server *s, const uint8_t **ret_bytes)
{
	*ret_bytes = cnc_buf_head(&s->in);
	return cnc_buf_len(&s->in);
}

static int
put(struct cnp_server *s, uint32_t request, const struct cnp_msg *m)
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

/* Append the record's own fields, and a severity if the server gave none. */
static int
put_fields(struct cnc_buf *b, const struct cnc_diag *d, const char *severity)
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
		r = put_fields(&s->out, d, severity_of(code, d));
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

/* The client broke the protocol. Send an error. */
static int
broken(struct cnp_server *s, const char *why)
{
	cnc_diag_set(&s->diag, CNC_SQLSTATE(PROTOCOL), "protocol violation: %s", why);
	/* Without memory the connection is closed without an error. */
	(void)put_diag(s, CNP_MSG_ERROR, 0, &s->diag);
	(void)cnc_sm_move(&s->sm, CNP_SERVER_BROKEN);
	return CENOTE_ERR_PROTOCOL;
}

/*
 * COPY_IN: from now on, input goes to another buffer. So the text of the running request,
 * which its backend may still need, stays where it is.
 */
static int
begin_copy(struct cnp_server *s, const struct cnp_msg *m)
{
	struct cnc_buf in;
	size_t n;
	const uint8_t *p = unparsed(s, &n);
	int r = CENOTE_OK;

	if (s->is_copying || s->running == 0)
		return CENOTE_ERR_STATE;
	cnc_buf_init(&in, &s->mem, s->in.max);
	if (!s->held.data && n > 0)
		r = cnc_buf_append(&in, p, n);
	if (r == CENOTE_OK)
		r = put(s, s->running, m);
	if (r < 0) {
		cnc_buf_finish(&in);
		return r;
	}
	s->is_copying = 1;
	/* A second copy of the same request continues with the buffer of the first one. */
	if (s->held.data)
		return CENOTE_OK;
	s->held = s->in;
	s->in = in;
	s->taken = 0;
	return CENOTE_OK;
}

/* The copy is answered. If the client has not ended it yet, that end will still come. */
static void
answer_copy(struct cnp_server *s)
{
	if (s->is_copying)
		s->copies_owed++;
	s->is_copying = 0;
}

/* Whether the client stays, or has sent its next ATTACH and has no session yet. */
static int
is_without_session(const struct cnp_server *s)
{
	return s->is_kept &&
	       (s->sm.state == CNP_SERVER_STAYING || s->sm.state == CNP_SERVER_FIRST);
}

static int
may_reply_of_none(const struct cnp_server *s, uint8_t code)
{
	switch (code) {
	case CNP_MSG_NOTICE:
		return s->sm.state < CNP_SERVER_CLOSING;
	case CNP_MSG_NOTIFICATION:
		if (is_without_session(s))
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
	return is_without_session(s) ? cnc_buf_append(&s->out, frames, n)
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
		return put(s, 0, m);
	}
	if (is_attaching(s) && s->first != 0)
		return put(s, 0, m);
	if (s->sm.state != CNP_SERVER_RUNNING)
		return CENOTE_ERR_STATE;
	if (m->code == CNP_MSG_COPY_IN)
		return begin_copy(s, m);
	if (s->running == 0 && m->code != CNP_MSG_NOTICE)
		return CENOTE_OK; /* a set-up request has no reply */
	r = put(s, s->running, m);
	if (r == CENOTE_OK && m->code == CNP_MSG_SUSPENDED)
		s->is_leaving = 1;
	if (r == CENOTE_OK && m->code == CNP_MSG_DONE) {
		s->is_told = 1;
		answer_copy(s);
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
		return broken(s, "no protocol version in common");
	if (!tls && s->opening.tls == CNP_TLS_REQUIRE)
		return broken(s, "TLS is required and not to be had here");
	/* Bytes that came in the clear must not count as bytes that came through TLS. */
	(void)unparsed(s, &behind);
	if (tls && (behind > 0 || s->first != 0 || s->opening.tls == CNP_TLS_NONE))
		return broken(s, "bytes before the TLS handshake");
	m.code = CNP_MSG_HELLO;
	m.as.hello.version = version;
	m.as.hello.tls = tls;
	m.as.hello.auth = auth;
	m.as.hello.max_frame = s->max_frame;
	m.as.hello.mechanisms = cnp_str(mechanisms);
	r = put(s, 0, &m);
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

	if (!is_attaching(s) || !s->said_hello ||
		(s->first != CNP_MSG_ATTACH && s->first != CNP_MSG_RESUME))
		return CENOTE_ERR_STATE;
	m.code = CNP_MSG_ATTACHED;
	m.as.attached = *attached;
	r = put(s, 0, &m);
	if (r < 0)
		return r;
	s->in.max = CNP_FRAME_HEADER + s->max_frame;
	if (s->in.max < CNP_FRAME_MAX_AUTH)
		s->in.max = CNP_FRAME_MAX_AUTH;
	return cnc_sm_move(&s->sm, CNP_SERVER_ATTACHED);
}

/* The part of `carry` that the client does not have yet. If there is none, an empty value, which
 * means "unchanged". */
static int
news(struct cnp_server *s, const struct cnp_str *carry, struct cnp_str *ret_news)
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
	r = news(s, carry, &m.as.ready.carry);
	return r < 0 ? r : put(s, request, &m);
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
	if (is_attaching(s) && s->first == CNP_MSG_STATUS)
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
	answer_copy(s);
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

/* After a copy, take the requests that came before its end. */
static int
end_copies(struct cnp_server *s)
{
	struct cnc_buf *later = &s->later;
	size_t n;
	const uint8_t *p;
	int r;

	if (!s->held.data)
		return CENOTE_OK;
	if (cnc_buf_len(later) > 0) {
		p = unparsed(s, &n);
		later->max = SIZE_MAX / 2;
		r = n > 0 ? cnc_buf_append(later, p, n) : CENOTE_OK;
		if (r < 0)
			return r;
		later->max = s->in.max;
		cnc_buf_finish(&s->in);
		s->in = *later;
		cnc_buf_init(later, &s->mem, 0);
		s->taken = 0;
	}
	cnc_buf_finish(&s->held);
	s->is_copying = 0;
	s->copies_owed = 0;
	return CENOTE_OK;
}

int
cnp_server_finish_request(
	struct cnp_server *s, uint8_t tx, uint32_t pins, const struct cnp_str *carry)
{
	int r;

	if (is_attaching(s) && (s->first == CNP_MSG_CANCEL || s->first == CNP_MSG_STATUS))
		return cnc_sm_move(&s->sm, CNP_SERVER_CLOSING);
	if (s->sm.state != CNP_SERVER_RUNNING)
		return CENOTE_ERR_STATE;
	if (s->is_leaving)
		return cnc_sm_move(&s->sm, CNP_SERVER_CLOSING);
	r = end_copies(s);
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

int
cnp_server_can_yield(const struct cnp_server *s)
{
	return is_without_session(s) ||
	       (s->sm.state == CNP_SERVER_ATTACHED && !s->is_skipping && !s->is_unsynced);
}

int
cnp_server_can_stay(const struct cnp_server *s)
{
	size_t n;

	(void)unparsed(s, &n);
	return s->may_stay && n == 0 && s->sm.state == CNP_SERVER_ATTACHED &&
	       cnp_server_can_yield(s);
}

int
cnp_server_can_listen(const struct cnp_server *s)
{
	return s->may_listen && cnp_server_can_stay(s);
}

int
cnp_server_can_lend(const struct cnp_server *s)
{
	return s->may_borrow && s->sm.state == CNP_SERVER_ATTACHED &&
	       cnp_server_can_yield(s);
}

int
cnp_server_still_stays(const struct cnp_server *s)
{
	return s->sm.state == CNP_SERVER_STAYING && cnc_buf_len(&s->in) == 0;
}

static int
put_yield(
	struct cnp_server *s, uint8_t reason, struct cnp_str carry, struct cnp_str words)
{
	struct cnp_msg m = { .code = CNP_MSG_YIELD,
		.as.yield = { s->last_request, reason, carry, words } };
	int r = put(s, 0, &m);

	return r < 0 ? r : cnc_sm_move(&s->sm, CNP_SERVER_CLOSING);
}

static int
can_yield_for(const struct cnp_server *s, uint8_t reason)
{
	switch (reason) {
	case CNP_YIELD_STAY:
		return cnp_server_can_stay(s);
	case CNP_YIELD_LISTEN:
		return cnp_server_can_listen(s);
	case CNP_YIELD_LEND:
		return cnp_server_can_lend(s);
	default:
		return cnp_server_can_yield(s);
	}
}

int
cnp_server_yield(struct cnp_server *s, uint8_t reason, const struct cnp_str *carry)
{
	struct cnp_str part;
	int r = can_yield_for(s, reason) ? news(s, carry, &part) : CENOTE_ERR_STATE;

	return r < 0 ? r : put_yield(s, reason, part, CNP_STR_NONE);
}

int
cnp_server_yield_lost(struct cnp_server *s, const struct cnc_diag *said)
{
	struct cnp_str words = CNP_STR_NONE;
	struct cnc_buf fields;
	int r;

	if (!cnp_server_can_yield(s))
		return CENOTE_ERR_STATE;
	cnc_buf_init(&fields, &s->mem, s->peer_max_frame / 2);
	/* If the fields are too long, send none. */
	if (said && put_fields(&fields, said, "FATAL") == CENOTE_OK) {
		words.p = (const char *)cnc_buf_head(&fields);
		words.n = cnc_buf_len(&fields);
	}
	r = put_yield(s, CNP_YIELD_LOST, CNP_STR_NONE, words);
	cnc_buf_finish(&fields);
	return r;
}

int
cnp_server_can_yield_running(const struct cnp_server *s)
{
	return s->sm.state == CNP_SERVER_RUNNING && s->running != 0 && !s->is_told &&
	       !s->is_answered && !s->is_skipping && !s->is_unsynced && !s->is_leaving &&
	       !s->is_copying && !s->held.data;
}

int
cnp_server_yield_running(
	struct cnp_server *s, uint8_t reason, const struct cnp_str *carry)
{
	struct cnp_str part;
	int r;

	if (!cnp_server_can_yield_running(s))
		return CENOTE_ERR_STATE;
	r = news(s, carry, &part);
	if (r < 0)
		return r;
	cnc_buf_truncate(&s->out, s->out_before);
	s->last_request = s->request_before;
	return put_yield(s, reason, part, CNP_STR_NONE);
}

size_t
cnp_server_output(const struct cnp_server *s, const uint8_t **ret_bytes)
{
	*ret_bytes = cnc_buf_head(&s->out);
	return cnc_buf_len(&s->out);
}

void
cnp_server_sent(struct cnp_server *s, size_t n)
{
	s->is_told |= n > s->out_before;
	s->out_before -= n < s->out_before ? n : s->out_before;
	cnc_buf_consume(&s->out, n);
	/* Free the memory of a long row, which would otherwise stay for the rest of the session. */
	if (cnc_buf_len(&s->out) == 0 && s->out.cap > LONG_KEPT)
		cnc_buf_clear(&s->out, KEEP_MAX);
}

static int
next_opening(struct cnp_server *s)
{
	size_t n;
	const uint8_t *p = unparsed(s, &n);
	int r;

	if (n == 0)
		return CENOTE_AGAIN;
	r = cnp_opening_decode(p, n, &s->opening);
	if (r == CENOTE_AGAIN)
		return r;
	if (r < 0) {
		r = broken(s, "not an opening");
		/* Send no answer to a peer that does not even begin with this protocol. */
		if (n < 4 || memcmp(p, "CNTE", 4) != 0)
			cnc_buf_clear(&s->out, KEEP_MAX);
		return r;
	}
	s->taken += s->opening.len;
	return cnc_sm_move(&s->sm, CNP_SERVER_FIRST);
}

/* Take a whole frame. CENOTE_OK, CENOTE_AGAIN, or as broken(). */
static int
next_frame(struct cnp_server *s, size_t max, struct cnp_frame *f, struct cnp_msg *m)
{
	size_t n;
	const uint8_t *p = unparsed(s, &n);

	if (n < CNP_FRAME_HEADER)
		return CENOTE_AGAIN;
	if (cnp_frame_decode(p, max, f) < 0)
		return broken(s, "not a frame, or one that is too long");
	if (cnp_msg_from(f->code) == 'S')
		return broken(s, "not a request");
	if (n - CNP_FRAME_HEADER < f->len)
		return CENOTE_AGAIN;
	if (cnp_msg_decode(f->code, p + CNP_FRAME_HEADER, f->len, m) < 0)
		return broken(s, "malformed request");
	s->taken += CNP_FRAME_HEADER + f->len;
	return CENOTE_OK;
}

/* ATTACH or RESUME: the client said which frames it accepts, and what it may do after a YIELD. */
static int
take_first(struct cnp_server *s, const struct cnp_msg *m)
{
	uint64_t max = m->code == CNP_MSG_ATTACH ? m->as.attach.max_frame
						 : m->as.resume.max_frame;

	if (m->code != CNP_MSG_ATTACH && m->code != CNP_MSG_RESUME)
		return CENOTE_OK;
	if (m->code == CNP_MSG_ATTACH) {
		s->may_stay = (m->as.attach.flags & CNP_ATTACH_STAYS) != 0;
		s->may_borrow = (m->as.attach.flags & CNP_ATTACH_BORROWS) != 0;
		s->may_listen = (m->as.attach.flags & CNP_ATTACH_LISTENS) != 0;
	}
	if (max != 0 && max < FRAME_LOW)
		return broken(s, "max_frame is below 65536");
	s->peer_max_frame = max == 0 || max > CNP_FRAME_MAX ? CNP_FRAME_MAX : (size_t)max;
	return CENOTE_OK;
}

/* Before ATTACHED: take the first frame, then AUTH frames of a login. */
static int
next_first(struct cnp_server *s, struct cnp_request *req)
{
	uint8_t wanted = s->first == 0 ? first_of_kind[s->opening.kind] : CNP_MSG_AUTH;
	struct cnp_frame f;
	size_t left = CNP_FRAME_MAX_AUTH - s->taken;
	int r;

	if (s->first != 0 && s->sm.state != CNP_SERVER_AUTH)
		return CENOTE_AGAIN;
	if (left < CNP_FRAME_HEADER)
		return broken(s, "too much before the session is attached");
	r = next_frame(s, left - CNP_FRAME_HEADER, &f, &req->msg);
	if (r != CENOTE_OK)
		return r;
	if (f.code != wanted || f.request != 0 || f.flags != 0)
		return broken(s, "not the frame that the opening announced");
	r = take_first(s, &req->msg);
	if (r < 0)
		return r;
	if (s->first == 0)
		s->first = f.code;
	req->number = 0;
	req->flags = 0;
	return CENOTE_OK;
}

static int
is_copy(uint8_t code)
{
	return code == CNP_MSG_COPY_DATA || code == CNP_MSG_COPY_DONE ||
	       code == CNP_MSG_COPY_FAIL;
}

/* Whether it is a request of an attached session. Messages of a copy are not requests. */
static int
is_request(uint8_t code)
{
	return code >= CNP_MSG_QUERY && cnp_request_shape(code) != CNP_SHAPE_NONE;
}

/* Look at the header of the next frame. */
static int
peek_frame(struct cnp_server *s, struct cnp_frame *f)
{
	size_t n;
	const uint8_t *p = unparsed(s, &n);

	if (n < CNP_FRAME_HEADER)
		return CENOTE_AGAIN;
	if (cnp_frame_decode(p, s->max_frame, f) < 0)
		return broken(s, "not a frame, or one that is too long");
	return CENOTE_OK;
}

/* In STAYING: take the ATTACH, once it is complete. */
static int
take_attach(struct cnp_server *s, const struct cnp_frame *f, struct cnp_request *req)
{
	const uint32_t wanted = CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS;
	const struct cnp_str *carry = &req->msg.as.attach.carry;
	struct cnp_str part;
	struct cnp_frame again;
	int r;

	if (f->request != 0 || f->flags != 0)
		return broken(s, "an ATTACH with a number or a flag");
	r = next_frame(s, CNP_FRAME_MAX_AUTH - CNP_FRAME_HEADER, &again, &req->msg);
	if (r != CENOTE_OK)
		return r;
	if ((req->msg.as.attach.flags & wanted) != wanted)
		return broken(s, "an ATTACH that is not that of a client that stays");
	r = take_first(s, &req->msg);
	if (r < 0)
		return r;
	/* The client has this `carry`, so do not send it again. */
	r = news(s, carry, &part);
	if (r < 0)
		return r;
	s->first = CNP_MSG_ATTACH;
	req->number = 0;
	req->flags = 0;
	return cnc_sm_move(&s->sm, CNP_SERVER_FIRST);
}

/*
 * In STAYING: drop all frames up to the next ATTACH. The client sent these frames before it knew that its session was
 * taken back, and will send them again. Bytes of a frame are dropped as they come, so a long frame needs no memory.
 */
static int
next_staying(struct cnp_server *s, struct cnp_request *req)
{
	struct cnp_frame f;
	size_t n;
	int r;

	for (;;) {
		n = cnc_buf_len(&s->in);
		if (n > s->drop_left)
			n = s->drop_left;
		cnc_buf_consume(&s->in, n);
		s->drop_left -= n;
		if (s->drop_left > 0)
			return CENOTE_AGAIN;
		r = peek_frame(s, &f);
		if (r != CENOTE_OK)
			return r;
		if (f.code == CNP_MSG_ATTACH)
			return take_attach(s, &f, req);
		if (!is_copy(f.code) && !is_request(f.code))
			return broken(s, "not a request of an attached session");
		s->drop_left = CNP_FRAME_HEADER + (size_t)f.len;
	}
}

/* NULL, or what is wrong with a frame of an attached session. */
static const char *
check_request(const struct cnp_server *s, const struct cnp_frame *f)
{
	if (!is_request(f->code))
		return "not a request of an attached session";
	if (f->request == 0)
		return cnp_request_can_setup(f->code) && f->flags == 0
			       ? NULL
			       : "a request that needs a number";
	/* The numbers wrap around. */
	if (s->last_request != 0 && (f->request == s->last_request ||
					    f->request - s->last_request >= 0x80000000u))
		return "request numbers must grow";
	return NULL;
}

int
cnp_server_peek(const struct cnp_server *s, size_t *at, uint32_t *number,
	struct cnp_request *ret_request)
{
	struct cnp_frame f;
	size_t n;
	const uint8_t *p = unparsed(s, &n);

	if (!is_attached(s) || s->is_skipping || s->held.data || n < *at ||
		n - *at < CNP_FRAME_HEADER ||
		cnp_frame_decode(p + *at, s->max_frame, &f) < 0 ||
		n - *at - CNP_FRAME_HEADER < f.len)
		return CENOTE_AGAIN;
	if (!is_request(f.code) || f.request == 0 || f.request == *number ||
		f.request - *number >= 0x80000000u ||
		cnp_msg_decode(
			f.code, p + *at + CNP_FRAME_HEADER, f.len, &ret_request->msg) < 0)
		return CENOTE_AGAIN;
	*at += CNP_FRAME_HEADER + (size_t)f.len;
	*number = f.request;
	ret_request->number = f.request;
	ret_request->flags = f.flags;
	return CENOTE_OK;
}

static int
put_skipped(struct cnp_server *s, uint32_t request)
{
	struct cnp_msg m;

	m.code = CNP_MSG_SKIPPED;
	return put(s, request, &m);
}

/* Whether the frame is of a finished request's copy, sent before the client knew that the copy was answered. */
static int
is_copy_of_former(const struct cnp_server *s, const struct cnp_frame *f)
{
	return is_copy(f->code) && f->flags == 0 && f->request != 0 &&
	       s->last_request != 0 && s->last_request - f->request < 0x80000000u;
}

/* Give a request to the caller. */
static int
run(struct cnp_server *s, const struct cnp_frame *f, struct cnp_request *req)
{
	s->running = f->request;
	s->running_code = req->msg.code;
	s->running_flags = f->flags;
	/* After these requests the client has no `carry`. */
	if (req->msg.code == CNP_MSG_RESET || req->msg.code == CNP_MSG_CHANGE_USER)
		cnc_buf_clear(&s->told, 0);
	s->is_leaving = f->code == CNP_MSG_DETACH;
	s->is_answered = 0;
	s->is_told = 0;
	s->out_before = cnc_buf_len(&s->out);
	req->number = f->request;
	req->flags = f->flags;
	return cnc_sm_move(&s->sm, CNP_SERVER_RUNNING);
}

/* Answer a request that is skipped. If it is a synchronisation point, give that to the caller. */
static int
skip(struct cnp_server *s, const struct cnp_frame *f, struct cnp_request *req)
{
	int r;

	r = put_skipped(s, f->request);
	if (r < 0)
		return r;
	s->last_request = f->request;
	if (!(f->flags & CNP_FRAME_SYNC))
		return CENOTE_AGAIN;
	req->msg.code = CNP_MSG_SYNC;
	s->running = f->request;
	s->running_code = CNP_MSG_SYNC;
	s->running_flags = f->flags;
	s->is_leaving = 0;
	s->is_answered = 1;
	req->number = f->request;
	req->flags = f->flags;
	return cnc_sm_move(&s->sm, CNP_SERVER_RUNNING);
}

static int
next_request(struct cnp_server *s, struct cnp_request *req)
{
	struct cnp_frame f;
	const char *why;
	int r;

	for (;;) {
		drop_taken(s);
		if (cnc_buf_len(&s->out) >= s->max_out && s->is_skipping)
			return CENOTE_AGAIN;
		r = next_frame(s, s->max_frame, &f, &req->msg);
		if (r != CENOTE_OK)
			return r;
		if (is_copy_of_former(s, &f))
			continue;
		why = check_request(s, &f);
		if (why)
			return broken(s, why);
		if (f.request == 0)
			return run(s, &f, req);
		if (!s->is_skipping || f.code == CNP_MSG_SYNC) {
			s->request_before = s->last_request;
			s->last_request = f.request;
			return run(s, &f, req);
		}
		r = skip(s, &f, req);
		if (r != CENOTE_AGAIN)
			return r;
	}
}

/* Let a request wait if it came before the end of a copy. CENOTE_OK: go on; CENOTE_AGAIN. */
static int
put_off(struct cnp_server *s, const struct cnp_frame *f)
{
	size_t n, len = CNP_FRAME_HEADER + (size_t)f->len;
	const uint8_t *p = unparsed(s, &n);
	int r;

	s->later.max = s->in.max;
	if (len > s->later.max - cnc_buf_len(&s->later))
		return broken(s, "too many requests before the end of a copy");
	if (n < len)
		return CENOTE_AGAIN;
	r = cnc_buf_append(&s->later, p, len);
	if (r == CENOTE_OK)
		s->taken += len;
	return r;
}

/* The client gave up the copy. */
static int
copy_failed(struct cnp_server *s, const struct cnp_copy_fail *m)
{
	if (m->message.n == 0)
		cnc_diag_set(&s->diag, CNC_SQLSTATE(CANCELED), "the copy was given up");
	else
		cnc_diag_set(&s->diag, CNC_SQLSTATE(CANCELED), "%.*s",
			(int)cnc_utf8_cut(m->message.p, m->message.n, 400), m->message.p);
	return CENOTE_ERR_SERVER;
}

/* Take a frame of a copy. CENOTE_OK: it was discarded. */
static int
take_copy(struct cnp_server *s, const struct cnp_frame *f, const struct cnp_msg *m)
{
	int is_end = f->code != CNP_MSG_COPY_DATA;

	if (f->request != s->running || f->flags != 0)
		return is_copy_of_former(s, f)
			       ? CENOTE_OK
			       : broken(s, "a copy that nobody asked for");
	if (s->copies_owed > 0) {
		s->copies_owed -= (uint32_t)is_end;
		return CENOTE_OK;
	}
	if (!is_end)
		return CENOTE_ROW;
	s->is_copying = 0;
	return f->code == CNP_MSG_COPY_DONE ? CENOTE_DONE
					    : copy_failed(s, &m->as.copy_fail);
}

int
cnp_server_next_copy(struct cnp_server *s, struct cnp_str *ret_data)
{
	struct cnp_frame f;
	struct cnp_msg m;
	int r;

	if (s->sm.state == CNP_SERVER_BROKEN)
		return CENOTE_ERR_PROTOCOL;
	if (s->sm.state != CNP_SERVER_RUNNING || !s->is_copying)
		return CENOTE_ERR_STATE;
	do {
		drop_taken(s);
		r = peek_frame(s, &f);
		if (r == CENOTE_OK && !is_copy(f.code)) {
			r = put_off(s, &f);
			continue;
		}
		if (r == CENOTE_OK)
			r = next_frame(s, s->max_frame, &f, &m);
		if (r == CENOTE_OK)
			r = take_copy(s, &f, &m);
	} while (r == CENOTE_OK);
	if (r != CENOTE_ROW)
		return r;
	*ret_data = m.as.copy_data.data;
	return CENOTE_OK;
}

int
cnp_server_next(struct cnp_server *s, struct cnp_request *ret_request)
{
	switch (s->sm.state) {
	case CNP_SERVER_OPENING:
		return next_opening(s);
	case CNP_SERVER_FIRST:
	case CNP_SERVER_AUTH:
		return next_first(s, ret_request);
	case CNP_SERVER_ATTACHED:
		return next_request(s, ret_request);
	case CNP_SERVER_STAYING:
		return next_staying(s, ret_request);
	case CNP_SERVER_BROKEN:
		return CENOTE_ERR_PROTOCOL;
	default:
		return CENOTE_AGAIN;
	}
}
