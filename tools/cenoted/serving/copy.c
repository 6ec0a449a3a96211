/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies: data that passes through in pieces, unread. These functions are part of the backend's
 * sink (sink.c).
 */
#include "serving.h"

/* Pieces are sent once they have this many bytes. */
#define COPY_BYTES 32768u

int
cnd_copy_out(struct cnd_sink *sink, const struct cnp_copy_out *m)
{
	struct cnd_serving *s = cnd_sink_serving(sink);
	struct cnp_msg reply = { .code = CNP_MSG_COPY_OUT, .as.copy_out = *m };
	int r = cnd_sink_end_rows(s);

	s->result.has_shown = true;
	return r < 0 ? r : cnp_server_reply(s->server, &reply, 0);
}

int
cnd_copy_data(struct cnd_sink *sink, const void *data, size_t len)
{
	struct cnd_serving *s = cnd_sink_serving(sink);
	struct cnp_msg m = { .code = CNP_MSG_COPY_DATA,
		.as.copy_data.data = { data, len } };
	const uint8_t *bytes;
	int r = s->result.is_limited ? cnd_limits_count(s, len) : CENOTE_OK;

	if (r == CENOTE_OK)
		r = cnp_server_reply(s->server, &m, 0);
	if (r < 0 || cnp_server_output(s->server, &bytes) < COPY_BYTES)
		return r;
	s->ops->long_result(s);
	return s->ops->flush(s);
}

int
cnd_copy_done(struct cnd_sink *sink)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_DONE };

	return cnp_server_reply(cnd_sink_serving(sink)->server, &m, 0);
}

int
cnd_copy_in(struct cnd_sink *sink, const struct cnp_copy_in *m)
{
	struct cnd_serving *s = cnd_sink_serving(sink);
	struct cnp_msg reply = { .code = CNP_MSG_COPY_IN, .as.copy_in = *m };
	int r = cnd_sink_end_rows(s);

	s->result.has_shown = true;
	if (r == CENOTE_OK)
		r = cnp_server_reply(s->server, &reply, 0);
	/* the client must get this before it can send data */
	return r < 0 ? r : s->ops->flush(s);
}

int
cnd_copy_read(struct cnd_sink *sink, int fd, struct cnp_str *ret_data)
{
	struct cnd_serving *s = cnd_sink_serving(sink);
	int r;

	*ret_data = CNP_STR_NONE;
	for (;;) {
		r = cnp_server_next_copy(s->server, ret_data);
		if (r == CENOTE_ERR_SERVER)
			cnc_diag_copy(&s->diag, &s->server->diag);
		/* a client that breaks the protocol is treated like one that has gone */
		if (r == CENOTE_ERR_PROTOCOL) {
			cnc_diag_copy(&s->diag, &s->server->diag);
			s->stopped = CENOTE_ERR_CONN;
			return CENOTE_ERR_CONN;
		}
		if (r != CENOTE_AGAIN)
			return r;
		r = s->ops->await_piece(s, fd);
		if (r != CENOTE_OK)
			return r;
	}
}
