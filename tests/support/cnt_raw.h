/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_RAW_H
#define CNT_RAW_H

#include "protocol/frame.h"

/* A client that sends the frames that a test names, and takes any answer without judging it. It
 * waits at most 20 s for a frame. */
struct cnt_raw {
	int fd;
	struct cnc_buf in;
	struct cnc_buf out;
	size_t taken;
	struct cnp_frame frame; /* the last one received */
	/* The decoded frame; its text is valid until the next frame. */
	struct cnp_msg msg;
	const uint8_t *payload;
	struct cnp_attached attached; /* only its numbers are valid */
	int collects; /* the frames wait, and go in one write with the next one that does not */
	int fds[2]; /* of a loan: the server's socket and the page; the test closes them. 0: none came */
};

/* Connect, attach with these options (pairs, see cnp_pairs_put(); NULL: none), and wait for READY.
 * Returns 0 or -1. After a refusal, `msg` is the ERROR. */
int cnt_raw_open(struct cnt_raw *c, const char *run_dir, const char *pool,
	const struct cnc_buf *options);
/* The two halves of cnt_raw_open(). */
int cnt_raw_begin(struct cnt_raw *c, const char *run_dir, const char *pool,
	const struct cnc_buf *options);
int cnt_raw_await(struct cnt_raw *c);
/* The same without options, as a client that stays when the pool takes its session back. */
int cnt_raw_open_staying(struct cnt_raw *c, const char *run_dir, const char *pool);
/* The same as a client that may borrow the server's socket. */
int cnt_raw_open_borrowing(struct cnt_raw *c, const char *run_dir, const char *pool);
void cnt_raw_close(struct cnt_raw *c);
void cnt_raw_send(
	struct cnt_raw *c, uint32_t request, uint8_t flags, const struct cnp_msg *m);
/* Send a query in the simple form. */
void cnt_raw_query(struct cnt_raw *c, uint32_t request, uint8_t flags, const char *sql);
/* Receive the next frame. 1; 0 at the end of the connection; -1 if no frame came in time, or if it
 * is malformed. */
int cnt_raw_next(struct cnt_raw *c);
/* Read frames and compare them with a list: "COLUMNS/1 ROWS/1 DONE/1 READY/1"; "END" is the end of
 * the connection. Returns 0, or -1 after printing what came instead. `msg` is the last frame. */
int cnt_raw_expect(struct cnt_raw *c, const char *list);
/* A field of `msg`, which is an ERROR or NOTICE: "C", "M". The text is valid until the next
 * call. */
const char *cnt_raw_field(struct cnt_raw *c, char letter);

#endif
