/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies: data that passes through in pieces, unread. These functions are part of the backend's
 * sink (sink.c).
 */
#include "worker/worker.h"

#include "core/sqlstate.h"
#include "shared/log.h"

/* Pieces are sent once they have this many bytes. */
#define COPY_BYTES 32768u

int
cnd_copy_out(struct cnd_sink *sink, const struct cnp_copy_out *m)
{
	struct cnd_worker *w = cnd_sink_worker(sink);
	struct cnp_msg reply = { .code = CNP_MSG_COPY_OUT, .as.copy_out = *m };
	int r = cnd_sink_end_rows(w);

	return r < 0 ? r : cnp_server_reply(&w->client.server, &reply, 0);
}

int
cnd_copy_data(struct cnd_sink *sink, const void *data, size_t len)
{
	struct cnd_worker *w = cnd_sink_worker(sink);
	struct cnp_msg m = { .code = CNP_MSG_COPY_DATA,
		.as.copy_data.data = { data, len } };
	const uint8_t *bytes;
	int r = cnp_server_reply(&w->client.server, &m, 0);

	if (r < 0 || cnp_server_output(&w->client.server, &bytes) < COPY_BYTES)
		return r;
	cnd_pace_long_result(&w->pace);
	return cnd_client_flush(w);
}

int
cnd_copy_done(struct cnd_sink *sink)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_DONE };

	return cnp_server_reply(&cnd_sink_worker(sink)->client.server, &m, 0);
}

int
cnd_copy_in(struct cnd_sink *sink, const struct cnp_copy_in *m)
{
	struct cnd_worker *w = cnd_sink_worker(sink);
	struct cnp_msg reply = { .code = CNP_MSG_COPY_IN, .as.copy_in = *m };
	int r = cnd_sink_end_rows(w);

	if (r == CENOTE_OK)
		r = cnp_server_reply(&w->client.server, &reply, 0);
	/* the client must get this before it can send data */
	return r < 0 ? r : cnd_client_flush(w);
}

/* Wait for the client's next piece. CENOTE_OK: look again; CENOTE_AGAIN: the server has sent
 * something. */
static int
await_piece(struct cnd_worker *w, int server_fd)
{
	struct pollfd fds[2] = { { .fd = w->client.fd, .events = POLLIN },
		{ .fd = server_fd, .events = POLLIN } };
	int64_t idle = cnd_client_idle_limit(w);
	int r = cnd_host_look(w, &w->diag);

	if (r < 0)
		return r;
	(void)cnd_client_poll(
		w, fds, 2, idle < w->stop.until_ms ? idle : w->stop.until_ms);
	if (fds[1].revents != 0)
		return CENOTE_AGAIN;
	if (fds[0].revents == 0)
		return idle != CND_NEVER && cnd_now_ms() >= idle
			       ? cnd_host_client_gone(w, &w->diag)
			       : CENOTE_OK;
	if (cnd_client_receive(&w->client) < 0)
		return cnd_host_client_gone(w, &w->diag);
	if (idle != CND_NEVER)
		w->client.active_ms = cnd_now_ms();
	return CENOTE_OK;
}

int
cnd_copy_read(struct cnd_sink *sink, int fd, struct cnp_str *ret_data)
{
	struct cnd_worker *w = cnd_sink_worker(sink);
	int r;

	*ret_data = CNP_STR_NONE;
	for (;;) {
		r = cnp_server_next_copy(&w->client.server, ret_data);
		if (r == CENOTE_ERR_SERVER)
			cnc_diag_copy(&w->diag, &w->client.server.diag);
		/* a client that breaks the protocol is treated like one that has gone */
		if (r == CENOTE_ERR_PROTOCOL) {
			cnc_diag_copy(&w->diag, &w->client.server.diag);
			w->stop.status = CENOTE_ERR_CONN;
			return CENOTE_ERR_CONN;
		}
		if (r != CENOTE_AGAIN)
			return r;
		r = await_piece(w, fd);
		if (r != CENOTE_OK)
			return r;
	}
}
