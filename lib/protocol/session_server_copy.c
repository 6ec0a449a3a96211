/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies from the client: COPY_IN, its data, and the requests that wait for its end. */
#include "core/sqlstate.h"
#include "protocol/session_server_internal.h"

int
cnp_server_begin_copy(struct cnp_server *s, const struct cnp_msg *m)
{
	struct cnc_buf in;
	size_t n;
	const uint8_t *p = cnp_server_unparsed(s, &n);
	int r = CENOTE_OK;

	if (s->is_copying || s->running == 0)
		return CENOTE_ERR_STATE;
	cnc_buf_init(&in, &s->mem, s->in.max);
	if (!s->held.data && n > 0)
		r = cnc_buf_append(&in, p, n);
	if (r == CENOTE_OK)
		r = cnp_server_put(s, s->running, m);
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

void
cnp_server_answer_copy(struct cnp_server *s)
{
	if (s->is_copying)
		s->copies_owed++;
	s->is_copying = 0;
}

int
cnp_server_end_copies(struct cnp_server *s)
{
	struct cnc_buf *later = &s->later;
	size_t n;
	const uint8_t *p;
	int r;

	if (!s->held.data)
		return CENOTE_OK;
	if (cnc_buf_len(later) > 0) {
		p = cnp_server_unparsed(s, &n);
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

/* Let a request wait if it came before the end of a copy. CENOTE_OK: go on; CENOTE_AGAIN. */
static int
put_off(struct cnp_server *s, const struct cnp_frame *f)
{
	size_t n, len = CNP_FRAME_HEADER + (size_t)f->len;
	const uint8_t *p = cnp_server_unparsed(s, &n);
	int r;

	s->later.max = s->in.max;
	if (len > s->later.max - cnc_buf_len(&s->later))
		return cnp_server_broken(s, "too many requests before the end of a copy");
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
		return cnp_server_is_copy_of_former(s, f)
			       ? CENOTE_OK
			       : cnp_server_broken(s, "a copy that nobody asked for");
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
		cnp_server_drop_taken(s);
		r = cnp_server_peek_frame(s, &f);
		if (r == CENOTE_OK && !cnp_server_is_copy(f.code)) {
			r = put_off(s, &f);
			continue;
		}
		if (r == CENOTE_OK)
			r = cnp_server_next_frame(s, s->max_frame, &f, &m);
		if (r == CENOTE_OK)
			r = take_copy(s, &f, &m);
	} while (r == CENOTE_OK);
	if (r != CENOTE_ROW)
		return r;
	*ret_data = m.as.copy_data.data;
	return CENOTE_OK;
}
