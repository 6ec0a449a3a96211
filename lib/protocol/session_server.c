/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a handle, received bytes, and the requests in them. */
#include <string.h>

#include "protocol/reply.h"
#include "protocol/session_server_internal.h"

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

void
cnp_server_drop_taken(struct cnp_server *s)
{
	if (!cnp_server_is_attached(s) || s->taken == 0)
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
	const uint8_t *p = cnp_server_unparsed(s, &have);

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
	cnp_server_drop_taken(s);
	n = cnp_server_is_attached(s) ? room_wanted(s) : CNP_FRAME_MAX_AUTH;
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
	const uint8_t *p = cnp_server_unparsed(s, &n);
	int r;

	if (n == 0)
		return CENOTE_AGAIN;
	r = cnp_opening_decode(p, n, &s->opening);
	if (r == CENOTE_AGAIN)
		return r;
	if (r < 0) {
		r = cnp_server_broken(s, "not an opening");
		/* Send no answer to a peer that does not even begin with this protocol. */
		if (n < 4 || memcmp(p, "CNTE", 4) != 0)
			cnc_buf_clear(&s->out, KEEP_MAX);
		return r;
	}
	s->taken += s->opening.len;
	return cnc_sm_move(&s->sm, CNP_SERVER_FIRST);
}

int
cnp_server_next_frame(
	struct cnp_server *s, size_t max, struct cnp_frame *f, struct cnp_msg *m)
{
	size_t n;
	const uint8_t *p = cnp_server_unparsed(s, &n);

	if (n < CNP_FRAME_HEADER)
		return CENOTE_AGAIN;
	if (cnp_frame_decode(p, max, f) < 0)
		return cnp_server_broken(s, "not a frame, or one that is too long");
	if (cnp_msg_from(f->code) == 'S')
		return cnp_server_broken(s, "not a request");
	if (n - CNP_FRAME_HEADER < f->len)
		return CENOTE_AGAIN;
	if (cnp_msg_decode(f->code, p + CNP_FRAME_HEADER, f->len, m) < 0)
		return cnp_server_broken(s, "malformed request");
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
		return cnp_server_broken(s, "max_frame is below 65536");
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
		return cnp_server_broken(s, "too much before the session is attached");
	r = cnp_server_next_frame(s, left - CNP_FRAME_HEADER, &f, &req->msg);
	if (r != CENOTE_OK)
		return r;
	if (f.code != wanted || f.request != 0 || f.flags != 0)
		return cnp_server_broken(s, "not the frame that the opening announced");
	r = take_first(s, &req->msg);
	if (r < 0)
		return r;
	if (s->first == 0)
		s->first = f.code;
	req->number = 0;
	req->flags = 0;
	return CENOTE_OK;
}

/* Whether it is a request of an attached session. Messages of a copy are not requests. */
static int
is_request(uint8_t code)
{
	return code >= CNP_MSG_QUERY && cnp_request_shape(code) != CNP_SHAPE_NONE;
}

int
cnp_server_peek_frame(struct cnp_server *s, struct cnp_frame *f)
{
	size_t n;
	const uint8_t *p = cnp_server_unparsed(s, &n);

	if (n < CNP_FRAME_HEADER)
		return CENOTE_AGAIN;
	if (cnp_frame_decode(p, s->max_frame, f) < 0)
		return cnp_server_broken(s, "not a frame, or one that is too long");
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
		return cnp_server_broken(s, "an ATTACH with a number or a flag");
	r = cnp_server_next_frame(
		s, CNP_FRAME_MAX_AUTH - CNP_FRAME_HEADER, &again, &req->msg);
	if (r != CENOTE_OK)
		return r;
	if ((req->msg.as.attach.flags & wanted) != wanted)
		return cnp_server_broken(
			s, "an ATTACH that is not that of a client that stays");
	r = take_first(s, &req->msg);
	if (r < 0)
		return r;
	/* The client has this `carry`, so do not send it again. */
	r = cnp_server_news(s, carry, &part);
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
		r = cnp_server_peek_frame(s, &f);
		if (r != CENOTE_OK)
			return r;
		if (f.code == CNP_MSG_ATTACH)
			return take_attach(s, &f, req);
		if (!cnp_server_is_copy(f.code) && !is_request(f.code))
			return cnp_server_broken(
				s, "not a request of an attached session");
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
	const uint8_t *p = cnp_server_unparsed(s, &n);

	if (!cnp_server_is_attached(s) || s->is_skipping || s->held.data || n < *at ||
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
	return cnp_server_put(s, request, &m);
}

int
cnp_server_is_copy_of_former(const struct cnp_server *s, const struct cnp_frame *f)
{
	return cnp_server_is_copy(f->code) && f->flags == 0 && f->request != 0 &&
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
		cnp_server_drop_taken(s);
		if (cnc_buf_len(&s->out) >= s->max_out && s->is_skipping)
			return CENOTE_AGAIN;
		r = cnp_server_next_frame(s, s->max_frame, &f, &req->msg);
		if (r != CENOTE_OK)
			return r;
		if (cnp_server_is_copy_of_former(s, &f))
			continue;
		why = check_request(s, &f);
		if (why)
			return cnp_server_broken(s, why);
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
