/* SPDX-License-Identifier: BSD-2-Clause */
/* YIELD: the client loses its session, and stays, attaches again or borrows. */
#include "protocol/session_server_internal.h"

int
cnp_server_can_yield(const struct cnp_server *s)
{
	return cnp_server_is_without_session(s) ||
	       (s->sm.state == CNP_SERVER_ATTACHED && !s->is_skipping && !s->is_unsynced);
}

int
cnp_server_can_stay(const struct cnp_server *s)
{
	size_t n;

	(void)cnp_server_unparsed(s, &n);
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
	int r = cnp_server_put(s, 0, &m);

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
	int r = can_yield_for(s, reason) ? cnp_server_news(s, carry, &part)
					 : CENOTE_ERR_STATE;

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
	if (said && cnp_server_put_fields(&fields, said, "FATAL") == CENOTE_OK) {
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
	r = cnp_server_news(s, carry, &part);
	if (r < 0)
		return r;
	cnc_buf_truncate(&s->out, s->out_before);
	s->last_request = s->request_before;
	return put_yield(s, reason, part, CNP_STR_NONE);
}
