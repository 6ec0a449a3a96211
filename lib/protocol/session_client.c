/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol/session_client.h"

#include <string.h>

#include "core/sqlstate.h"
#include "protocol/reply.h"

/* The first block is big enough for an attach and a small answer. */
#define BLOCK_FIRST (8u * 1024u)
#define BLOCK_SIZE  (64u * 1024u)
/* Once a block was filled, use bigger blocks: then fewer bytes of unfinished frames are left at the
 * end of a block and must be copied. */
#define BLOCK_BULK  (256u * 1024u)
/* Results may keep a block. With less room than this left in it, begin a new one. */
#define ROOM_MIN    4096u
/* A frame that claims to be longer gets its memory only as its bytes arrive. */
#define TRUST_MAX   (1024u * 1024u)
#define QUEUE_MIN   16u
/* A COPY_FAIL without a message. Room for it is kept while a copy is open. */
#define COPY_END    (CNP_FRAME_HEADER + 5u)
/* The place of `known` in EXECUTE, after `statement`. */
#define KNOWN_AT    4u

#define TO(state) (1u << CNP_CLIENT_##state)

static const struct cnc_sm_state states[] = {
	[CNP_CLIENT_IDLE] = { "idle", TO(OPENING) | TO(DEAD) },
	[CNP_CLIENT_OPENING] = { "opening",
		TO(IDLE) | TO(AUTH) | TO(ATTACHING) | TO(DEAD) },
	[CNP_CLIENT_AUTH] = { "auth", TO(IDLE) | TO(READY) | TO(SUSPENDED) | TO(DEAD) },
	[CNP_CLIENT_ATTACHING] = { "attaching",
		TO(IDLE) | TO(READY) | TO(YIELDED) | TO(SUSPENDED) | TO(DEAD) },
	[CNP_CLIENT_READY] = { "ready",
		TO(IDLE) | TO(YIELDED) | TO(SUSPENDED) | TO(DEAD) },
	[CNP_CLIENT_YIELDED] = { "yielded",
		TO(IDLE) | TO(ATTACHING) | TO(YIELDED) | TO(DEAD) },
	[CNP_CLIENT_SUSPENDED] = { "suspended", TO(IDLE) | TO(DEAD) },
	[CNP_CLIENT_DEAD] = { "dead", TO(IDLE) },
};

static const uint8_t first_of_kind[] = {
	[CNP_OPEN_ATTACH] = CNP_MSG_ATTACH,
	[CNP_OPEN_CANCEL] = CNP_MSG_CANCEL,
	[CNP_OPEN_RESUME] = CNP_MSG_RESUME,
	[CNP_OPEN_STATUS] = CNP_MSG_STATUS,
};

void
cnp_client_init(
	struct cnp_client *c, const struct cenote_allocator *mem, size_t max_frame)
{
	memset(c, 0, sizeof *c);
	c->mem = *mem;
	cnc_sm_init(&c->sm, states, sizeof states / sizeof *states, CNP_CLIENT_IDLE);
	c->max_frame = max_frame < CNP_FRAME_MAX ? max_frame : CNP_FRAME_MAX;
	c->peer_max_frame = CNP_FRAME_MAX;
	cnc_buf_init(&c->out, &c->mem, SIZE_MAX / 2);
	cnc_buf_init(&c->copy, &c->mem, SIZE_MAX / 2);
	c->next_request = 1;
	cnc_diag_init(&c->diag, NULL);
}

void
cnp_client_finish(struct cnp_client *c)
{
	cnc_buf_finish(&c->out);
	cnc_buf_finish(&c->copy);
	cnc_block_unref(c->in);
	cnc_free(&c->mem, c->queue);
	cnc_diag_finish(&c->diag);
	c->in = NULL;
	c->queue = NULL;
	c->queue_n = 0;
	c->queue_cap = 0;
}

/* The session is broken: set the diagnostics to the frame, the state, and the request. */
static int
broken(struct cnp_client *c, const struct cnp_frame *f, const char *why)
{
	const char *name = f ? cnp_msg_name(f->code) : NULL;

	cnc_diag_set(&c->diag, CNC_SQLSTATE(PROTOCOL),
		"the pool broke the protocol: %s (%s of request %u, state %s)", why,
		name ? name : "frame", f ? (unsigned)f->request : 0u,
		cnc_sm_name(&c->sm, c->sm.state));
	cnp_client_lost(c);
	return CENOTE_ERR_PROTOCOL;
}

static struct cnp_outstanding *
queue_at(const struct cnp_client *c, size_t i)
{
	return &c->queue[(c->queue_head + i) & (c->queue_cap - 1)];
}

const struct cnp_outstanding *
cnp_client_oldest(const struct cnp_client *c)
{
	return c->queue_n > 0 ? queue_at(c, 0) : NULL;
}

/* Make room for one more request. The ring's size is a power of two. */
static int
queue_grow(struct cnp_client *c)
{
	size_t i, cap = c->queue_cap ? c->queue_cap * 2 : QUEUE_MIN;
	struct cnp_outstanding *queue;

	if (c->queue_n < c->queue_cap)
		return CENOTE_OK;
	queue = cnc_calloc(&c->mem, cap, sizeof *queue);
	if (!queue)
		return CENOTE_ERR_NOMEM;
	for (i = 0; i < c->queue_n; i++)
		queue[i] = *queue_at(c, i);
	cnc_free(&c->mem, c->queue);
	c->queue = queue;
	c->queue_head = 0;
	c->queue_cap = cap;
	return CENOTE_OK;
}

/* Drop bytes at the head of `out` that are not needed any more. */
static void
drop_output(struct cnp_client *c, size_t n)
{
	cnc_buf_consume(&c->out, n);
	c->sent -= n;
	c->opening -= n < c->opening ? n : c->opening;
	c->prefix -= n < c->prefix ? n : c->prefix;
	c->front -= n < c->front ? n : c->front;
	c->copy_after -= n < c->copy_after ? n : c->copy_after;
}

/* The oldest request is finished. */
static void
queue_pop(struct cnp_client *c)
{
	drop_output(c, c->front + queue_at(c, 0)->bytes);
	c->queue_head = (c->queue_head + 1) & (c->queue_cap - 1);
	c->queue_n--;
	c->stage = CNP_STAGE_FRESH;
}

static int
opening_fits(const struct cnp_opening *o, const struct cnp_msg *first)
{
	return o->kind < sizeof first_of_kind && first_of_kind[o->kind] != 0 &&
	       first_of_kind[o->kind] == first->code;
}

/* Put the opening, the first frame and the kept bytes into a new buffer, which
 * replaces `out`. */
static int
build_opening(struct cnp_client *c, const struct cnp_opening *o,
	const struct cnp_msg *first, int resend)
{
	struct cnc_buf b;
	size_t opening_len, prefix;
	int r;

	cnc_buf_init(&b, &c->mem, SIZE_MAX / 2);
	r = cnp_opening_encode(&b, o);
	if (r < 0)
		goto fail;
	opening_len = cnc_buf_len(&b);
	r = cnp_frame_put(&b, 0, 0, first);
	if (r < 0)
		goto fail;
	prefix = cnc_buf_len(&b);
	if (prefix > CNP_FRAME_MAX_AUTH) {
		r = CENOTE_ERR_LIMIT;
		goto fail;
	}
	if (resend && cnc_buf_len(&c->out) > 0)
		r = cnc_buf_append(&b, cnc_buf_head(&c->out), cnc_buf_len(&c->out));
	if (r < 0)
		goto fail;
	cnc_buf_finish(&c->out);
	c->out = b;
	c->prefix = prefix;
	c->opening = o->tls == CNP_TLS_NONE ? 0 : opening_len;
	return CENOTE_OK;
fail:
	cnc_buf_finish(&b);
	return r;
}

/* Clear `known` in each kept EXECUTE, to get the columns again: another session may describe the
 * statement differently. */
static void
forget_columns(struct cnp_client *c)
{
	uint8_t *p = cnc_buf_head(&c->out);
	size_t i, at = c->prefix, len = cnc_buf_len(&c->out);
	struct cnp_frame f;

	while (at < len && cnp_frame_decode(p + at, CNP_FRAME_MAX, &f) == CENOTE_OK) {
		if (f.code == CNP_MSG_EXECUTE)
			p[at + CNP_FRAME_HEADER + KNOWN_AT] = 0;
		at += CNP_FRAME_HEADER + (size_t)f.len;
	}
	for (i = 0; i < c->queue_n; i++) {
		if (queue_at(c, i)->code == CNP_MSG_EXECUTE)
			queue_at(c, i)->known = 0;
	}
}

/* Set the members that every session begins with. */
static void
begin_session(struct cnp_client *c, const struct cnp_msg *first)
{
	c->sent = 0;
	c->front = c->prefix;
	c->first = first->code;
	c->may_stay = first->code == CNP_MSG_ATTACH &&
		      (first->as.attach.flags & CNP_ATTACH_STAYS) != 0;
	c->may_borrow = first->code == CNP_MSG_ATTACH &&
			(first->as.attach.flags & CNP_ATTACH_BORROWS) != 0;
	c->may_listen = first->code == CNP_MSG_ATTACH &&
			(first->as.attach.flags & CNP_ATTACH_LISTENS) != 0;
	c->is_staying = 0;
	c->is_kept = 0;
	c->is_listening = 0;
	c->stage = CNP_STAGE_FRESH;
	c->is_skipping = 0;
	c->is_unsynced = 0;
	c->is_greeted = 0;
	c->waits_tls = 0;
	cnc_diag_clear(&c->diag);
}

int
cnp_client_open(struct cnp_client *c, const struct cnp_opening *o,
	const struct cnp_msg *first, int resend)
{
	int r;

	if (c->sm.state != CNP_CLIENT_IDLE)
		return CENOTE_ERR_STATE;
	if (resend && c->queue_n > 0 &&
		(c->stage != CNP_STAGE_FRESH || c->is_skipping ||
			queue_at(c, 0)->answered))
		return CENOTE_ERR_STATE;
	if (!opening_fits(o, first))
		return CENOTE_ERR_ARG;
	r = build_opening(c, o, first, resend);
	if (r < 0)
		return r;
	if (resend) {
		forget_columns(c);
	} else {
		c->queue_n = 0;
		c->loose = 0;
	}
	begin_session(c, first);
	c->version_min = o->version_min;
	c->version_max = o->version_max;
	c->tls = o->tls;
	c->peer_max_frame = CNP_FRAME_MAX;
	return cnc_sm_move(&c->sm, CNP_CLIENT_OPENING);
}

int
cnp_client_tls_done(struct cnp_client *c)
{
	if (!c->waits_tls)
		return CENOTE_ERR_STATE;
	/* See check_hello(). */
	if (c->in && c->in->len > c->in_at)
		return broken(c, NULL, "bytes before the TLS handshake");
	c->waits_tls = 0;
	c->opening = 0;
	return CENOTE_OK;
}

/* The opening and the set-up requests of the last session are not kept: the next
 * session makes its own. */
static void
drop_front(struct cnp_client *c)
{
	if (c->sent < c->front)
		c->sent = c->front;
	drop_output(c, c->front);
	c->sent = 0;
}

void
cnp_client_restart(struct cnp_client *c)
{
	drop_front(c);
	c->is_staying = 0;
	c->is_kept = 0;
	c->is_listening = 0;
	c->waits_tls = 0;
	cnc_buf_finish(&c->copy);
	c->copy_after = 0;
	c->copying = 0;
	if (c->in)
		c->in_at = c->in->len;
	if (c->sm.state != CNP_CLIENT_IDLE)
		(void)cnc_sm_move(&c->sm, CNP_CLIENT_IDLE);
}

void
cnp_client_lost(struct cnp_client *c)
{
	c->is_staying = 0;
	if (c->sm.state != CNP_CLIENT_DEAD)
		(void)cnc_sm_move(&c->sm, CNP_CLIENT_DEAD);
}

static void
reverse(uint8_t *from, uint8_t *to)
{
	uint8_t t;

	while (from < to) {
		t = *from;
		*from++ = *--to;
		*to = t;
	}
}

/* Move the last n bytes of `out` to the offset `at`. */
static void
rotate_output(struct cnp_client *c, size_t at, size_t n)
{
	uint8_t *begin = cnc_buf_head(&c->out) + at;
	uint8_t *end = cnc_buf_head(&c->out) + cnc_buf_len(&c->out);

	if (begin + n == end)
		return;
	reverse(begin, end - n);
	reverse(end - n, end);
	reverse(begin, end);
}

/* The end of the frame in `out` that is partly sent. */
static size_t
begun_end(const struct cnp_client *c)
{
	const uint8_t *p = cnc_buf_head(&c->out);
	size_t at = c->front, len = cnc_buf_len(&c->out);
	struct cnp_frame f;

	while (at < c->sent && at < len &&
		cnp_frame_decode(p + at, CNP_FRAME_MAX, &f) == CENOTE_OK)
		at += CNP_FRAME_HEADER + (size_t)f.len;
	return at > c->sent ? at : c->sent;
}

/* The pool goes on reading after the last byte that was sent: that must end a frame. */
static int
has_sent_whole_frames(const struct cnp_client *c)
{
	return begun_end(c) == c->sent && cnc_buf_len(&c->copy) == 0;
}

/* ATTACH goes to the head of `out`, before the requests that are kept. */
static int
put_attach(struct cnp_client *c, const struct cnp_msg *attach)
{
	size_t n, before;
	int r;

	drop_front(c);
	before = cnc_buf_len(&c->out);
	r = cnp_frame_put(&c->out, 0, 0, attach);
	if (r < 0)
		return r;
	n = cnc_buf_len(&c->out) - before;
	if (n > CNP_FRAME_MAX_AUTH) {
		cnc_buf_truncate(&c->out, before);
		return CENOTE_ERR_LIMIT;
	}
	rotate_output(c, 0, n);
	c->prefix = n;
	return CENOTE_OK;
}

int
cnp_client_open_kept(struct cnp_client *c, const struct cnp_msg *attach)
{
	const uint32_t wanted = CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS;
	uint8_t is_listening = c->is_listening;
	int r;

	if (!c->is_staying || !has_sent_whole_frames(c))
		return CENOTE_ERR_STATE;
	if (attach->code != CNP_MSG_ATTACH ||
		(attach->as.attach.flags & wanted) != wanted)
		return CENOTE_ERR_ARG;
	r = put_attach(c, attach);
	if (r < 0)
		return r;
	forget_columns(c);
	begin_session(c, attach);
	c->is_kept = 1;
	c->is_listening = is_listening;
	return cnc_sm_move(&c->sm, CNP_CLIENT_ATTACHING);
}

static int
is_before_ready(const struct cnp_client *c)
{
	return c->sm.state >= CNP_CLIENT_OPENING && c->sm.state < CNP_CLIENT_READY;
}

/* Whether a set-up request that is queued now still goes before the numbered requests. */
static int
has_front(const struct cnp_client *c)
{
	return is_before_ready(c) && c->sent <= c->front;
}

/*
 * A set-up request of n bytes was appended: move it to its place. A set-up request that is queued
 * before READY belongs to the session, and the next session makes its own. Later set-up requests,
 * and LONG_DATA, are kept with the request that follows them.
 */
static void
place_setup(struct cnp_client *c, uint8_t code, size_t n)
{
	if (has_front(c) && code != CNP_MSG_LONG_DATA) {
		rotate_output(c, c->front, n);
		c->front += n;
	} else {
		c->loose += n;
	}
}

/* An AUTH frame goes after the first frame and belongs to it. */
static int
put_auth(struct cnp_client *c, const struct cnp_msg *m)
{
	size_t before = cnc_buf_len(&c->out);
	size_t n;
	int r;

	if (c->sm.state != CNP_CLIENT_AUTH || c->sent > c->prefix)
		return CENOTE_ERR_STATE;
	r = cnp_frame_put(&c->out, 0, 0, m);
	if (r < 0)
		return r;
	n = cnc_buf_len(&c->out) - before;
	rotate_output(c, c->prefix, n);
	c->prefix += n;
	c->front += n;
	return CENOTE_OK;
}

static int
put_setup(struct cnp_client *c, const struct cnp_msg *m, uint8_t flags)
{
	size_t before = cnc_buf_len(&c->out);
	int r;

	if (!cnp_request_can_setup(m->code) || flags != 0)
		return CENOTE_ERR_ARG;
	r = cnp_frame_put(&c->out, 0, 0, m);
	if (r < 0)
		return r;
	place_setup(c, m->code, cnc_buf_len(&c->out) - before);
	return CENOTE_OK;
}

static int
put_request(struct cnp_client *c, const struct cnp_msg *m, uint8_t flags)
{
	size_t before = cnc_buf_len(&c->out);
	struct cnp_outstanding *q;
	int r;

	r = queue_grow(c);
	if (r < 0)
		return r;
	r = cnp_frame_put(&c->out, flags, c->next_request, m);
	if (r < 0)
		return r;
	q = queue_at(c, c->queue_n++);
	q->request = c->next_request;
	q->code = m->code;
	q->flags = flags;
	q->answered = 0;
	q->known = (m->code == CNP_MSG_EXECUTE && m->as.execute.known) ||
		   (m->code == CNP_MSG_FETCH && !m->as.fetch.columns);
	q->bytes = c->loose + cnc_buf_len(&c->out) - before;
	c->loose = 0;
	/* The numbers wrap around, but 0 is not a number. */
	if (++c->next_request == 0)
		c->next_request = 1;
	return CENOTE_OK;
}

int
cnp_client_request(struct cnp_client *c, const struct cnp_msg *m, uint8_t flags,
	int setup, uint32_t *ret_request)
{
	size_t size;
	int r;

	if (c->sm.state == CNP_CLIENT_DEAD || c->sm.state == CNP_CLIENT_SUSPENDED)
		return CENOTE_ERR_STATE;
	r = cnp_msg_size(m, &size);
	if (r < 0)
		return r;
	if (size > c->peer_max_frame)
		return CENOTE_ERR_LIMIT;
	if (m->code == CNP_MSG_AUTH)
		r = put_auth(c, m);
	else if (setup)
		r = put_setup(c, m, flags);
	else if (cnp_request_shape(m->code) == CNP_SHAPE_NONE ||
		 m->code < CNP_MSG_QUERY || flags > CNP_FRAME_SYNC)
		r = CENOTE_ERR_ARG;
	else
		r = put_request(c, m, flags);
	if (r < 0)
		return r;
	if (ret_request)
		*ret_request = setup || m->code == CNP_MSG_AUTH
				       ? 0
				       : queue_at(c, c->queue_n - 1)->request;
	return CENOTE_OK;
}

int
cnp_client_has_sent_request(const struct cnp_client *c)
{
	const uint8_t *p = cnc_buf_head(&c->out);
	size_t at = c->front, len = cnc_buf_len(&c->out);
	struct cnp_frame f;

	/* Set-up requests may lie before it. */
	while (at < c->sent && at < len &&
		cnp_frame_decode(p + at, CNP_FRAME_MAX, &f) == CENOTE_OK) {
		if (f.request != 0)
			return 1;
		at += CNP_FRAME_HEADER + (size_t)f.len;
	}
	return 0;
}

static void
begin_copy(struct cnp_client *c, uint32_t request)
{
	/* Another copy of this request has its place already. */
	if (cnc_buf_len(&c->copy) == 0)
		c->copy_after = begun_end(c);
	c->copying = request;
}

/* Reserve memory for the end of a copy, so that ending the copy cannot fail. */
static int
reserve_copy_end(struct cnp_client *c)
{
	uint8_t *room;

	return cnc_buf_reserve(&c->copy, COPY_END, &room);
}

/* The request was answered before the client ended the copy. The pool still waits for that end. */
static void
end_copy_early(struct cnp_client *c)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_FAIL };

	if (c->copying == 0)
		return;
	m.as.copy_fail.message = CNP_STR_NONE;
	(void)cnp_frame_put(&c->copy, 0, c->copying, &m);
	c->copying = 0;
}

int
cnp_client_copy(struct cnp_client *c, const struct cnp_msg *m)
{
	size_t before = cnc_buf_len(&c->copy);
	size_t size;
	int r;

	if (c->sm.state != CNP_CLIENT_READY || c->copying == 0)
		return CENOTE_ERR_STATE;
	if (m->code != CNP_MSG_COPY_DATA && m->code != CNP_MSG_COPY_DONE &&
		m->code != CNP_MSG_COPY_FAIL)
		return CENOTE_ERR_ARG;
	r = cnp_msg_size(m, &size);
	if (r < 0)
		return r;
	/* A COPY_FAIL without a message is never too long. */
	if (size > c->peer_max_frame && size > COPY_END - CNP_FRAME_HEADER)
		return CENOTE_ERR_LIMIT;
	r = cnp_frame_put(&c->copy, 0, c->copying, m);
	if (r < 0)
		return r;
	if (m->code != CNP_MSG_COPY_DATA) {
		c->copying = 0;
		return CENOTE_OK;
	}
	r = reserve_copy_end(c);
	if (r < 0)
		cnc_buf_truncate(&c->copy, before);
	return r;
}

size_t
cnp_client_copy_queued(const struct cnp_client *c)
{
	return cnc_buf_len(&c->copy);
}

/* Whether a frame that was begun on the last session is still to be sent to its end. */
static int
has_rest(const struct cnp_client *c)
{
	return c->sm.state == CNP_CLIENT_YIELDED && c->is_staying && c->is_listening &&
	       !has_sent_whole_frames(c);
}

/* Are the next bytes to send those of a copy? */
static int
is_copy_next(const struct cnp_client *c)
{
	if ((c->sm.state != CNP_CLIENT_READY && !has_rest(c)) ||
		cnc_buf_len(&c->copy) == 0)
		return 0;
	return c->sent >= c->copy_after;
}

/* The offset in `out` up to which bytes may be sent now. */
static size_t
out_end(const struct cnp_client *c)
{
	if (c->opening > 0)
		return c->opening;
	if (is_before_ready(c) && !c->is_kept)
		return c->may_log_in || c->sm.state == CNP_CLIENT_AUTH ? c->prefix
								       : c->front;
	/* Requests whose sending has not begun wait for the end of the copy. */
	if (c->copying != 0 || cnc_buf_len(&c->copy) > 0)
		return c->copy_after > c->sent ? c->copy_after : c->sent;
	return cnc_buf_len(&c->out);
}

size_t
cnp_client_output(const struct cnp_client *c, const uint8_t **ret_bytes)
{
	size_t end;

	if (c->sm.state == CNP_CLIENT_IDLE ||
		(c->sm.state >= CNP_CLIENT_YIELDED && !has_rest(c)))
		return 0;
	if (is_copy_next(c)) {
		*ret_bytes = cnc_buf_head(&c->copy);
		return cnc_buf_len(&c->copy);
	}
	end = has_rest(c) ? begun_end(c) : out_end(c);
	if (end <= c->sent)
		return 0;
	*ret_bytes = cnc_buf_head(&c->out) + c->sent;
	return end - c->sent;
}

void
cnp_client_sent(struct cnp_client *c, size_t n)
{
	if (is_copy_next(c)) {
		cnc_buf_consume(&c->copy, n);
		return;
	}
	/* The messages of a login are secret: wipe them once they are sent. */
	if (c->sm.state == CNP_CLIENT_AUTH)
		cnc_wipe(cnc_buf_head(&c->out) + c->sent, n);
	c->sent += n;
}

/* The number of bytes needed at in_at, as far as the length of the frame is known. */
static size_t
bytes_needed(const struct cnp_client *c, size_t have)
{
	struct cnp_frame f;
	size_t need, trusted;

	if (have < CNP_FRAME_HEADER)
		return CNP_FRAME_HEADER;
	if (cnp_frame_decode(c->in->data + c->in_at, c->max_frame, &f) < 0)
		return have + 1; /* cnp_client_next() reports the error */
	need = CNP_FRAME_HEADER + (size_t)f.len;
	trusted = have * 2 > TRUST_MAX ? have * 2 : TRUST_MAX;
	if (need <= have)
		return have + 1;
	return need < trusted ? need : trusted;
}

/* Take another block, and move the bytes that are not parsed to its front. */
static int
change_block(struct cnp_client *c, size_t have, size_t need)
{
	struct cnc_block *b = c->in;
	size_t cap = b && b->len == b->cap ? BLOCK_BULK : BLOCK_SIZE;

	if (!b)
		cap = BLOCK_FIRST;
	if (cap < need)
		cap = need;
	/* The system moves the pages of a huge frame without copying them. */
	if (b && b->refs == 1 && c->in_at == 0 && have > BLOCK_BULK) {
		b = cnc_block_grow(b, cap);
		if (!b)
			return CENOTE_ERR_NOMEM;
		c->in = b;
		return CENOTE_OK;
	}
	b = cnc_block_create(&c->mem, cap);
	if (!b)
		return CENOTE_ERR_NOMEM;
	if (have > 0)
		memcpy(b->data, c->in->data + c->in_at, have);
	b->len = have;
	cnc_block_unref(c->in);
	c->in = b;
	c->in_at = 0;
	return CENOTE_OK;
}

int
cnp_client_room(struct cnp_client *c, uint8_t **ret_room, size_t *ret_n)
{
	struct cnc_block *b = c->in;
	size_t have = b ? b->len - c->in_at : 0;
	size_t need = bytes_needed(c, have);
	int r;

	/* Nobody else uses the block, so its parsed bytes can be overwritten. A
	 * partial frame is moved down only when it would not fit otherwise. */
	if (b && b->refs == 1 && need <= b->cap &&
		(have == 0 || b->cap - c->in_at < need)) {
		memmove(b->data, b->data + c->in_at, have);
		b->len = have;
		c->in_at = 0;
	}
	/* Do not keep a huge block for small frames. */
	if (!b || b->cap - c->in_at < need ||
		(have == 0 && (b->cap - b->len < ROOM_MIN || b->cap > TRUST_MAX))) {
		r = change_block(c, have, need);
		if (r < 0)
			return r;
		b = c->in;
	}
	*ret_room = b->data + b->len;
	*ret_n = b->cap - b->len;
	return CENOTE_OK;
}

void
cnp_client_received(struct cnp_client *c, size_t n)
{
	c->in->len += n;
}

/* The server has refused the session: this is the last event. */
static int
refused(struct cnp_client *c, struct cnp_event *ev)
{
	ev->is_last = 1;
	ev->request_code = c->first;
	cnp_client_lost(c);
	return CENOTE_OK;
}

static const char *
check_hello(const struct cnp_client *c, const struct cnp_hello *h, size_t behind)
{
	if (h->version < c->version_min || h->version > c->version_max)
		return "a version that was not offered";
	if (h->tls > 1 || h->auth > CNP_AUTH_SASL)
		return "unknown values";
	if (h->tls && c->tls == CNP_TLS_NONE)
		return "TLS that was not asked for";
	if (!h->tls && c->tls == CNP_TLS_REQUIRE)
		return "TLS was required";
	/* Bytes that came in the clear must not count as bytes that came through TLS. */
	if (h->tls && behind > 0)
		return "bytes before the TLS handshake";
	return NULL;
}

static int
on_opening(struct cnp_client *c, const struct cnp_frame *f, struct cnp_event *ev)
{
	const struct cnp_hello *h = &ev->msg.as.hello;
	const char *why;

	if (f->code == CNP_MSG_ERROR)
		return refused(c, ev);
	if (f->code != CNP_MSG_HELLO)
		return broken(c, f, "not a greeting");
	why = check_hello(c, h, c->in->len - c->in_at);
	if (why)
		return broken(c, f, why);
	c->version = h->version;
	if (h->max_frame > 0 && h->max_frame < CNP_FRAME_MAX)
		c->peer_max_frame = (size_t)h->max_frame;
	c->waits_tls = h->tls;
	if (!h->tls)
		c->opening = 0;
	return cnc_sm_move(&c->sm,
		h->auth == CNP_AUTH_NONE ? CNP_CLIENT_ATTACHING : CNP_CLIENT_AUTH);
}

static int
on_attached(struct cnp_client *c)
{
	if (c->sent < c->prefix)
		return CENOTE_ERR_PROTOCOL;
	drop_output(c, c->prefix);
	c->stage = CNP_STAGE_FRESH;
	c->is_listening = 0;
	return cnc_sm_move(&c->sm, CNP_CLIENT_READY);
}

/* Handle the answer to CANCEL or STATUS, after which nothing follows. */
static int
on_one_shot(struct cnp_client *c, const struct cnp_frame *f, struct cnp_event *ev)
{
	int stage = cnp_reply_stage(cnp_request_shape(c->first), 0, c->stage, &ev->msg);

	if (stage < 0)
		return broken(c, f, "does not answer what was asked");
	c->stage = (uint8_t)stage;
	ev->request_code = c->first;
	if (stage != CNP_STAGE_ANSWERED)
		return CENOTE_OK;
	ev->is_last = 1;
	return cnc_sm_move(&c->sm, CNP_CLIENT_SUSPENDED);
}

static int
on_auth(struct cnp_client *c, const struct cnp_frame *f, struct cnp_event *ev)
{
	switch (f->code) {
	case CNP_MSG_ERROR:
		return refused(c, ev);
	case CNP_MSG_AUTH:
	case CNP_MSG_NOTICE:
		return CENOTE_OK;
	case CNP_MSG_ATTACHED:
		if (on_attached(c) == CENOTE_OK)
			return CENOTE_OK;
		break;
	default:
		if (c->first == CNP_MSG_STATUS)
			return on_one_shot(c, f, ev);
		break;
	}
	return broken(c, f, "not part of a login");
}

/* Whether `a` comes after `b`. The numbers wrap around. */
static int
is_after(uint32_t a, uint32_t b)
{
	return a != b && a - b < 0x80000000u;
}

int
cnp_client_keeps(const struct cnp_client *c, uint32_t request)
{
	const struct cnp_outstanding *oldest = cnp_client_oldest(c);

	return !is_after(oldest ? oldest->request : c->next_request, request);
}

static int
on_yield(struct cnp_client *c, const struct cnp_frame *f, const struct cnp_yield *y)
{
	const struct cnp_outstanding *q = cnp_client_oldest(c);

	if (q && (c->stage != CNP_STAGE_FRESH || q->answered || c->is_skipping ||
			 (y->last != 0 && !is_after(q->request, y->last))))
		return broken(c, f, "a request was left half done");
	if (c->is_unsynced)
		return broken(c, f, "requests are behind the last synchronisation point");
	if (c->is_listening)
		return broken(c, f, "notifications would be missing");
	if ((y->reason == CNP_YIELD_STAY || y->reason == CNP_YIELD_LISTEN) &&
		c->sm.state != CNP_CLIENT_READY)
		return broken(c, f, "there was no session to take back");
	if (y->reason == CNP_YIELD_LISTEN && !(c->may_stay && c->may_listen))
		return broken(c, f, "listening that was not asked for");
	if (y->reason == CNP_YIELD_LEND &&
		(!c->may_borrow || c->sm.state != CNP_CLIENT_READY))
		return broken(c, f, "a loan that was not asked for");
	c->is_listening = y->reason == CNP_YIELD_LISTEN;
	c->is_staying = c->is_listening || (y->reason == CNP_YIELD_STAY && c->may_stay &&
						   has_sent_whole_frames(c));
	return cnc_sm_move(&c->sm, CNP_CLIENT_YIELDED);
}

static int
on_attaching(struct cnp_client *c, const struct cnp_frame *f, struct cnp_event *ev)
{
	if (f->code == CNP_MSG_ERROR)
		return refused(c, ev);
	if (f->code == CNP_MSG_NOTICE ||
		(f->code == CNP_MSG_NOTIFICATION && c->is_listening))
		return CENOTE_OK;
	if (c->first == CNP_MSG_CANCEL || c->first == CNP_MSG_STATUS)
		return on_one_shot(c, f, ev);
	if (f->code == CNP_MSG_YIELD && c->is_kept)
		return on_yield(c, f, &ev->msg.as.yield);
	if (f->code != CNP_MSG_ATTACHED || on_attached(c) < 0)
		return broken(c, f, "ATTACHED was awaited");
	ev->request_code = c->first;
	return CENOTE_OK;
}

/* The client stays. Except for notifications, the pool sends a message only before it closes the connection. */
static int
on_staying(struct cnp_client *c, const struct cnp_frame *f, struct cnp_event *ev)
{
	switch (f->code) {
	case CNP_MSG_NOTICE:
		return CENOTE_OK;
	case CNP_MSG_NOTIFICATION:
		if (c->is_listening)
			return CENOTE_OK;
		return broken(c, f, "there is no session");
	case CNP_MSG_ERROR:
		c->is_staying = 0;
		return CENOTE_OK;
	case CNP_MSG_YIELD:
		return on_yield(c, f, &ev->msg.as.yield);
	default:
		return broken(c, f, "there is no session");
	}
}

/* Messages that belong to no request. */
static int
on_of_none(struct cnp_client *c, const struct cnp_frame *f, struct cnp_event *ev)
{
	switch (f->code) {
	case CNP_MSG_NOTICE:
	case CNP_MSG_ERROR:
		return CENOTE_OK;
	case CNP_MSG_PARAMETER:
	case CNP_MSG_NOTIFICATION:
		if (c->is_greeted)
			return CENOTE_OK;
		break;
	case CNP_MSG_READY:
		if (c->is_greeted)
			break;
		c->is_greeted = 1;
		return CENOTE_OK;
	case CNP_MSG_YIELD:
		if (c->is_greeted)
			return on_yield(c, f, &ev->msg.as.yield);
		break;
	default:
		break;
	}
	return broken(c, f, "not without a request");
}

/* The oldest request got its last reply, except for READY. */
static void
on_answered(struct cnp_client *c, struct cnp_outstanding *q, struct cnp_event *ev)
{
	if (ev->msg.code == CNP_MSG_ERROR)
		c->is_skipping = 1;
	end_copy_early(c);
	ev->is_answered = 1;
	if ((q->flags & CNP_FRAME_SYNC) || q->code == CNP_MSG_SYNC) {
		q->answered = 1;
		c->stage = CNP_STAGE_ANSWERED;
		return;
	}
	ev->is_last = 1;
	c->is_unsynced = 1;
	queue_pop(c);
}

static int
on_ready(struct cnp_client *c, const struct cnp_frame *f, struct cnp_outstanding *q,
	struct cnp_event *ev)
{
	if (!q->answered && q->code != CNP_MSG_SYNC)
		return broken(c, f, "too early");
	c->is_skipping = 0;
	c->is_unsynced = 0;
	ev->is_last = 1;
	queue_pop(c);
	return CENOTE_OK;
}

/* Handle a reply to a request that was carried out or skipped; the code must match. */
static int
on_reply(struct cnp_client *c, const struct cnp_frame *f, struct cnp_outstanding *q,
	struct cnp_event *ev)
{
	int stage;

	/* A SYNC is never skipped. */
	if (q->answered || (q->code != CNP_MSG_SYNC &&
				   c->is_skipping != (f->code == CNP_MSG_SKIPPED)))
		return broken(c, f, "out of order");
	if (f->code == CNP_MSG_SKIPPED)
		stage = q->code == CNP_MSG_SYNC ? CENOTE_ERR_PROTOCOL
						: CNP_STAGE_ANSWERED;
	else if (f->code == CNP_MSG_NOTICE)
		stage = c->stage;
	else
		stage = cnp_reply_stage(
			cnp_request_shape(q->code), q->known, c->stage, &ev->msg);
	if (stage < 0)
		return broken(c, f, "does not answer that request");
	c->stage = (uint8_t)stage;
	if (f->code == CNP_MSG_COPY_IN)
		begin_copy(c, q->request);
	else if (stage == CNP_STAGE_MORE)
		end_copy_early(c);
	if (stage != CNP_STAGE_ANSWERED)
		return CENOTE_OK;
	if (f->code != CNP_MSG_SUSPENDED) {
		on_answered(c, q, ev);
		return CENOTE_OK;
	}
	ev->is_last = 1;
	queue_pop(c);
	return cnc_sm_move(&c->sm, CNP_CLIENT_SUSPENDED);
}

static int
on_attached_session(struct cnp_client *c, const struct cnp_frame *f, struct cnp_event *ev)
{
	struct cnp_outstanding *q;

	if (f->request == 0)
		return on_of_none(c, f, ev);
	if (c->queue_n == 0 || !c->is_greeted)
		return broken(c, f, "nothing was asked");
	q = queue_at(c, 0);
	if (f->request != q->request || c->sent < c->front + q->bytes)
		return broken(c, f, "of a request that is not the oldest");
	ev->request_code = q->code;
	if (f->code == CNP_MSG_READY)
		return on_ready(c, f, q, ev);
	return on_reply(c, f, q, ev);
}

typedef int handler(
	struct cnp_client *c, const struct cnp_frame *f, struct cnp_event *ev);

/* NULL: in this state no message is expected. */
static handler *const handlers[] = {
	[CNP_CLIENT_OPENING] = on_opening,
	[CNP_CLIENT_AUTH] = on_auth,
	[CNP_CLIENT_ATTACHING] = on_attaching,
	[CNP_CLIENT_READY] = on_attached_session,
	[CNP_CLIENT_YIELDED] = on_staying,
	[CNP_CLIENT_DEAD] = NULL,
};

/* Decode the frame at in_at, if it is complete. CENOTE_OK, CENOTE_AGAIN, or as broken(). */
static int
next_frame(struct cnp_client *c, struct cnp_frame *f)
{
	size_t have = c->in ? c->in->len - c->in_at : 0;

	if (have < CNP_FRAME_HEADER)
		return CENOTE_AGAIN;
	if (cnp_frame_decode(c->in->data + c->in_at, c->max_frame, f) < 0)
		return broken(c, NULL, "not a frame, or one that is too long");
	return have - CNP_FRAME_HEADER < f->len ? CENOTE_AGAIN : CENOTE_OK;
}

int
cnp_client_next(struct cnp_client *c, struct cnp_event *ret_event)
{
	handler *handle = handlers[c->sm.state];
	struct cnp_frame f;
	int r;

	if (!handle || (c->sm.state == CNP_CLIENT_YIELDED && !c->is_staying))
		return c->sm.state == CNP_CLIENT_DEAD && c->diag.message[0] != '\0'
			       ? CENOTE_ERR_PROTOCOL
			       : CENOTE_AGAIN;
	if (c->waits_tls)
		return CENOTE_AGAIN;
	r = next_frame(c, &f);
	if (r != CENOTE_OK)
		return r;
	ret_event->block = c->in;
	ret_event->payload = c->in->data + c->in_at + CNP_FRAME_HEADER;
	ret_event->payload_len = f.len;
	ret_event->request = f.request;
	ret_event->request_code = 0;
	ret_event->is_answered = 0;
	ret_event->is_last = 0;
	if (cnp_msg_decode(f.code, ret_event->payload, f.len, &ret_event->msg) < 0)
		return broken(c, &f, "malformed");
	if (cnp_msg_from(f.code) == 'C' || f.flags != 0)
		return broken(c, &f, "not a reply");
	if (f.request != 0 && c->sm.state != CNP_CLIENT_READY)
		return broken(c, &f, "not yet attached");
	if (f.code == CNP_MSG_COPY_IN && reserve_copy_end(c) < 0)
		return CENOTE_ERR_NOMEM;
	c->in_at += CNP_FRAME_HEADER + f.len;
	return handle(c, &f, ret_event);
}
