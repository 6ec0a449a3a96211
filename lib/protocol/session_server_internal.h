/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the pool's end of a session share:
 *   session_server.c        the life of a handle, received bytes, requests
 *   session_server_reply.c  replies, and the end of a request
 *   session_server_copy.c   copies from the client
 *   session_server_yield.c  YIELD, by which the client loses its session
 */
#ifndef CNP_SESSION_SERVER_INTERNAL_H
#define CNP_SESSION_SERVER_INTERNAL_H

#include "protocol/session_server.h"

static inline int
cnp_server_is_attached(const struct cnp_server *s)
{
	return s->sm.state == CNP_SERVER_ATTACHED || s->sm.state == CNP_SERVER_RUNNING;
}

static inline int
cnp_server_is_attaching(const struct cnp_server *s)
{
	return s->sm.state == CNP_SERVER_FIRST || s->sm.state == CNP_SERVER_AUTH;
}

/* Whether the client stays, or has sent its next ATTACH and has no session yet. */
static inline int
cnp_server_is_without_session(const struct cnp_server *s)
{
	return s->is_kept &&
	       (s->sm.state == CNP_SERVER_STAYING || s->sm.state == CNP_SERVER_FIRST);
}

/* The received bytes that are not taken yet. */
static inline const uint8_t *
cnp_server_unparsed(const struct cnp_server *s, size_t *ret_n)
{
	const uint8_t *head = cnc_buf_head(&s->in);

	*ret_n = cnc_buf_len(&s->in) - s->taken;
	return head ? head + s->taken : NULL;
}

static inline int
cnp_server_is_copy(uint8_t code)
{
	return code == CNP_MSG_COPY_DATA || code == CNP_MSG_COPY_DONE ||
	       code == CNP_MSG_COPY_FAIL;
}

/* session_server.c */

/* The caller has finished with the bytes that it got, so drop these. Before ATTACHED they stay, for
 * cnp_server_raw(). */
void cnp_server_drop_taken(struct cnp_server *s);
/* Read the header of the next frame, and take nothing. CENOTE_OK, CENOTE_AGAIN, CENOTE_ERR_PROTOCOL. */
int cnp_server_peek_frame(struct cnp_server *s, struct cnp_frame *f);
/* Take a whole frame. CENOTE_OK, CENOTE_AGAIN, CENOTE_ERR_PROTOCOL. */
int cnp_server_next_frame(
	struct cnp_server *s, size_t max, struct cnp_frame *f, struct cnp_msg *m);
/* Whether the frame is of a finished request's copy, sent before the client knew that the copy was answered. */
int cnp_server_is_copy_of_former(const struct cnp_server *s, const struct cnp_frame *f);

/* session_server_reply.c */

/* Queue a reply. CENOTE_OK; CENOTE_ERR_LIMIT: longer than the peer accepts; CENOTE_ERR_NOMEM. */
int cnp_server_put(struct cnp_server *s, uint32_t request, const struct cnp_msg *m);
/* Append the record's own fields, and a severity if the server gave none. */
int cnp_server_put_fields(
	struct cnc_buf *b, const struct cnc_diag *d, const char *severity);
/* Give the part of `carry` that the client does not have yet; an empty value, which means "unchanged", if there is none.
 * CENOTE_OK, CENOTE_ERR_NOMEM. */
int cnp_server_news(
	struct cnp_server *s, const struct cnp_str *carry, struct cnp_str *ret_news);
/* The client broke the protocol: queue an ERROR. The state is BROKEN. CENOTE_ERR_PROTOCOL. */
int cnp_server_broken(struct cnp_server *s, const char *why);

/* session_server_copy.c */

/*
 * COPY_IN: from now on, input goes to another buffer. So the text of the running request,
 * which its backend may still need, stays where it is.
 */
int cnp_server_begin_copy(struct cnp_server *s, const struct cnp_msg *m);
/* The copy is answered. If the client has not ended it yet, that end will still come. */
void cnp_server_answer_copy(struct cnp_server *s);
/* After a copy, take the requests that came before its end. */
int cnp_server_end_copies(struct cnp_server *s);

#endif
