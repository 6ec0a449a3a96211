/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "protocol/session_server.h"

/*
 * A server session fed with arbitrary bytes, in pieces whose size the first byte says. Requests are
 * answered in turn with success and failure, and now and then the session is taken back from a client that may
 * stay, or lent to one that may borrow. What it sends must be well formed whatever comes.
 */
static void
check_output(struct cnp_server *s)
{
	struct cnp_frame f;
	struct cnp_msg m;
	const uint8_t *p;
	size_t n, at = 0;

	n = cnp_server_output(s, &p);
	while (at < n) {
		FUZZ_CHECK(n - at >= CNP_FRAME_HEADER);
		FUZZ_CHECK(cnp_frame_decode(p + at, CNP_FRAME_MAX, &f) == CENOTE_OK);
		at += CNP_FRAME_HEADER;
		FUZZ_CHECK(f.len <= n - at && cnp_msg_from(f.code) != 'C');
		FUZZ_CHECK(cnp_msg_decode(f.code, p + at, f.len, &m) == CENOTE_OK);
		at += f.len;
	}
	cnp_server_sent(s, n);
}

static void
answer(struct cnp_server *s, const struct cnp_request *req)
{
	struct cnp_msg m;
	struct cnc_diag d;

	memset(&m, 0, sizeof m);
	m.code = CNP_MSG_DONE;
	cnc_diag_init(&d, NULL);
	cnc_diag_set(&d, "42601", "no");
	if (req->msg.code == CNP_MSG_SYNC)
		;
	else if (req->number % 3 == 2)
		FUZZ_CHECK(cnp_server_error(s, &d) == CENOTE_OK);
	else
		FUZZ_CHECK(cnp_server_reply(s, &m, 0) == CENOTE_OK);
	FUZZ_CHECK(cnp_server_finish_request(s, 0, 0, NULL) == CENOTE_OK);
}

/* Take the part of a copy that has arrived. Returns 0 while more must come. */
static int
take_copy(struct cnp_server *s)
{
	struct cnp_str data;
	struct cnp_msg m;
	unsigned n = 0;
	int r;

	/* after three pieces, answer before the end of the copy */
	while ((r = cnp_server_next_copy(s, &data)) == CENOTE_OK && n < 3) {
		FUZZ_CHECK(data.p[data.n] == '\0');
		n++;
	}
	if (r == CENOTE_AGAIN || r == CENOTE_ERR_PROTOCOL)
		return 0;
	memset(&m, 0, sizeof m);
	m.code = CNP_MSG_DONE;
	if (r == CENOTE_ERR_SERVER)
		FUZZ_CHECK(cnp_server_error(s, &s->diag) == CENOTE_OK);
	else
		FUZZ_CHECK(cnp_server_reply(s, &m, 0) == CENOTE_OK);
	FUZZ_CHECK(cnp_server_finish_request(s, 0, 0, NULL) == CENOTE_OK);
	return 1;
}

/* Begin a copy if a query's text asks for one. Returns whether it did. */
static int
begin_copy(struct cnp_server *s, const struct cnp_request *req)
{
	struct cnp_msg m;

	memset(&m, 0, sizeof m);
	m.code = CNP_MSG_COPY_IN;
	if (req->msg.code != CNP_MSG_QUERY || req->msg.as.query.sql.n == 0 ||
		req->msg.as.query.sql.p[0] != 'c' || req->number == 0)
		return 0;
	FUZZ_CHECK(cnp_server_reply(s, &m, 0) == CENOTE_OK);
	return 1;
}

/* Go on as if the handle had served others meanwhile. */
static void
put_aside(struct cnp_server *s)
{
	struct cnp_kept kept;

	cnp_server_keep(s, &kept);
	cnp_server_restart_kept(s, &kept);
}

static void
let_stay(struct cnp_server *s)
{
	FUZZ_CHECK(cnp_server_yield(s, CNP_YIELD_STAY, NULL) == CENOTE_OK);
	check_output(s);
	put_aside(s);
}

static void
attach(struct cnp_server *s, const struct cnp_request *req)
{
	struct cnp_attached m;

	if (s->is_kept && req->msg.as.attach.pid % 4 == 3) {
		FUZZ_CHECK(cnp_server_yield(s, CNP_YIELD_DRAIN, NULL) == CENOTE_OK);
		return;
	}
	memset(&m, 0, sizeof m);
	FUZZ_CHECK(cnp_server_attached(s, &m) == CENOTE_OK);
	FUZZ_CHECK(cnp_server_ready(s, 0, 0, NULL) == CENOTE_OK);
}

static int
serve_one(struct cnp_server *s, const struct cnp_request *req)
{
	if (cnp_server_state(s) == CNP_SERVER_RUNNING) {
		if (begin_copy(s, req))
			return take_copy(s);
		answer(s, req);
		if (req->number % 2 == 1 && cnp_server_can_stay(s))
			let_stay(s);
		else if (req->number % 4 == 2 && cnp_server_can_lend(s))
			FUZZ_CHECK(
				cnp_server_yield(s, CNP_YIELD_LEND, NULL) == CENOTE_OK);
	} else if (s->first == 0) {
		if (cnp_server_hello(s, 0, 0, "") < 0)
			return 0;
	} else if (s->first == CNP_MSG_ATTACH || s->first == CNP_MSG_RESUME) {
		attach(s, req);
	} else {
		FUZZ_CHECK(cnp_server_finish_request(s, 0, 0, NULL) == CENOTE_OK);
	}
	return 1;
}

/* Returns 0 when nothing more can be read. */
static int
serve(struct cnp_server *s)
{
	uint32_t last = 0;
	struct cnp_request req;
	int r;

	if (s->is_copying && !take_copy(s)) {
		check_output(s);
		return cnp_server_state(s) < CNP_SERVER_CLOSING;
	}
	for (;;) {
		r = cnp_server_next(s, &req);
		if (r != CENOTE_OK)
			break;
		if (cnp_server_state(s) == CNP_SERVER_RUNNING && req.number != 0) {
			FUZZ_CHECK(last == 0 || (int32_t)(req.number - last) > 0);
			last = req.number;
		}
		if (!serve_one(s, &req))
			break;
		check_output(s);
	}
	check_output(s);
	if (s->is_copying)
		return 1;
	if (cnp_server_still_stays(s))
		put_aside(s);
	FUZZ_CHECK(r != CENOTE_ERR_PROTOCOL ||
		   (cnp_server_state(s) == CNP_SERVER_BROKEN && s->diag.message[0]));
	return cnp_server_state(s) < CNP_SERVER_CLOSING;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnp_server s;
	size_t at, n, piece;
	uint8_t *room;

	if (size < 1)
		return 0;
	cnp_server_init(&s, &cnc_mem_default, 1 << 16, 1 << 10);
	piece = data[0] == 0 ? size : data[0];
	for (at = 1; at < size && serve(&s); at += n) {
		if (cnp_server_room(&s, &room, &n) != CENOTE_OK)
			break;
		FUZZ_CHECK(n > 0);
		n = n < piece ? n : piece;
		n = n < size - at ? n : size - at;
		memcpy(room, data + at, n);
		cnp_server_received(&s, n);
	}
	(void)serve(&s);
	cnp_server_finish(&s);
	return 0;
}
