/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "core/rowset.h"
#include "protocol/session_client.h"

/*
 * A client session with requests outstanding, fed with arbitrary bytes. The first byte says how it
 * was opened, the second in what pieces the bytes come; the rest is what the pool sends.
 */
static const uint8_t first_codes[] = { CNP_MSG_ATTACH, CNP_MSG_CANCEL, CNP_MSG_RESUME,
	CNP_MSG_STATUS };

static void
open_session(struct cnp_client *c, uint8_t how)
{
	struct cnp_opening o = { .version_min = 1, .version_max = 1 };
	struct cnp_msg m;

	o.kind = (uint8_t)(CNP_OPEN_ATTACH + (how & 3));
	o.tls = (uint8_t)((how >> 2) % 3);
	memset(&m, 0, sizeof m);
	m.code = first_codes[how & 3];
	if (m.code == CNP_MSG_ATTACH && (how & 0x40))
		m.as.attach.flags = CNP_ATTACH_STAYS | CNP_ATTACH_LISTENS;
	if (m.code == CNP_MSG_ATTACH && (how & 0x20))
		m.as.attach.flags |= CNP_ATTACH_BORROWS;
	FUZZ_CHECK(cnp_client_open(c, &o, &m, how >> 7) == CENOTE_OK);
}

/* Queue requests with each shape of answer, in a pipeline of two parts. */
static void
queue_requests(struct cnp_client *c)
{
	static const uint8_t codes[] = { CNP_MSG_QUERY, CNP_MSG_PREPARE, CNP_MSG_EXECUTE,
		CNP_MSG_CLOSE, CNP_MSG_SYNC, CNP_MSG_FETCH, CNP_MSG_PING,
		CNP_MSG_SUSPEND };
	struct cnp_msg m;
	size_t i;

	for (i = 0; i < sizeof codes; i++) {
		memset(&m, 0, sizeof m);
		m.code = codes[i];
		if (m.code == CNP_MSG_EXECUTE)
			m.as.execute.known = 1;
		FUZZ_CHECK(cnp_client_request(c, &m, (uint8_t)(i == 6),
				   m.code == CNP_MSG_CLOSE, NULL) == CENOTE_OK);
	}
}

static void
send_all(struct cnp_client *c)
{
	const uint8_t *p;
	size_t n;

	while ((n = cnp_client_output(c, &p)) > 0) {
		FUZZ_CHECK(p[0] == p[0] && p[n - 1] == p[n - 1]);
		cnp_client_sent(c, n);
	}
}

static void
look_at(struct cnp_event *ev, struct cnc_rowset *rs)
{
	struct cnp_column *columns;
	struct cnc_arena arena;
	uint32_t n;

	FUZZ_CHECK(ev->payload >= ev->block->data &&
		   ev->payload + ev->payload_len <= ev->block->data + ev->block->len);
	FUZZ_CHECK(cnp_msg_from(ev->msg.code) != 'C');
	cnc_arena_init(&arena, &cnc_mem_default);
	if (ev->msg.code == CNP_MSG_ROWS)
		(void)cnc_rowset_add(rs, ev->payload, ev->payload_len, ev->block);
	if (ev->msg.code == CNP_MSG_COLUMNS)
		(void)cnp_columns_decode(
			ev->payload, ev->payload_len, &arena, &columns, &n);
	cnc_arena_finish(&arena);
}

/* Send the client's part of a copy: sometimes a piece, sometimes an end, sometimes neither. */
static void
copy_in(struct cnp_client *c, const struct cnp_event *ev)
{
	struct cnp_msg m;
	int r;

	memset(&m, 0, sizeof m);
	m.code = CNP_MSG_COPY_DATA;
	m.as.copy_data.data = ev->msg.as.copy_in.name;
	FUZZ_CHECK(c->copying == ev->request);
	if (ev->payload_len % 3 > 0) {
		r = cnp_client_copy(c, &m);
		FUZZ_CHECK(r == CENOTE_OK || r == CENOTE_ERR_LIMIT);
	}
	m.code = CNP_MSG_COPY_DONE;
	if (ev->payload_len % 3 > 1)
		FUZZ_CHECK(cnp_client_copy(c, &m) == CENOTE_OK);
}

/* The session was taken back, and the connection stays: ask for another one there. */
static void
attach_again(struct cnp_client *c)
{
	struct cnp_msg m;

	memset(&m, 0, sizeof m);
	m.code = CNP_MSG_ATTACH;
	m.as.attach.flags = CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS | CNP_ATTACH_LISTENS;
	FUZZ_CHECK(cnp_client_open_kept(c, &m) == CENOTE_OK);
	m.code = CNP_MSG_SYNC;
	FUZZ_CHECK(cnp_client_request(c, &m, 0, 0, NULL) == CENOTE_OK);
}

/* 0 when the session is over. */
static int
take_events(struct cnp_client *c, struct cnc_rowset *rs)
{
	struct cnp_event ev;
	int r;

	while ((r = cnp_client_next(c, &ev)) == CENOTE_OK) {
		look_at(&ev, rs);
		if (ev.msg.code == CNP_MSG_COPY_IN)
			copy_in(c, &ev);
		/* the last answer also ends the client's part of a copy */
		FUZZ_CHECK(!ev.is_last || c->copying == 0);
		if (c->waits_tls)
			FUZZ_CHECK(cnp_client_tls_done(c) == CENOTE_OK);
		if (cnp_client_is_staying(c) && ev.payload_len % 2 == 1)
			attach_again(c);
		send_all(c);
	}
	FUZZ_CHECK(r == CENOTE_AGAIN || r == CENOTE_ERR_PROTOCOL);
	if (r == CENOTE_AGAIN)
		return cnp_client_state(c) < CNP_CLIENT_YIELDED ||
		       cnp_client_is_staying(c);
	FUZZ_CHECK(cnp_client_state(c) == CNP_CLIENT_DEAD && c->diag.message[0]);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnp_client c;
	struct cnc_rowset rs;
	size_t at, n, piece;
	uint8_t *room;

	if (size < 2)
		return 0;
	cnp_client_init(&c, &cnc_mem_default, 1 << 20);
	cnc_rowset_init(&rs, &cnc_mem_default, 2);
	open_session(&c, data[0]);
	queue_requests(&c);
	send_all(&c);
	piece = data[1] == 0 ? size : data[1];
	for (at = 2; at < size && take_events(&c, &rs); at += n) {
		FUZZ_CHECK(cnp_client_room(&c, &room, &n) == CENOTE_OK && n > 0);
		n = n < piece ? n : piece;
		n = n < size - at ? n : size - at;
		memcpy(room, data + at, n);
		cnp_client_received(&c, n);
	}
	(void)take_events(&c, &rs);
	if (cnp_client_state(&c) == CNP_CLIENT_YIELDED) {
		cnp_client_restart(&c);
		open_session(&c, 0x80);
		send_all(&c);
	}
	cnc_rowset_finish(&rs);
	cnp_client_finish(&c);
	return 0;
}
