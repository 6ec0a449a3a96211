/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_PEER_ANSWER_H
#define CNT_PEER_ANSWER_H

#include <string.h>

#include "cnt_peer.h"

/* The answers of the played pool. cnt_peer.c attaches the clients and moves the bytes. */

#define CNT_PEER_KEY 0xfeedbeefcafe1234u

static inline struct cnp_msg
cnt_peer_message(uint8_t code)
{
	struct cnp_msg m;

	memset(&m, 0, sizeof(m));
	m.code = code;
	return m;
}

/* cnt_peer_answer.c */
/* Answer a request of an attached session. */
void cnt_peer_do_request(
	struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_request *req);
/* End a request. */
void cnt_peer_finish(struct cnt_peer *p, struct cnt_peer_conn *c);
/* cnt_peer.c: lend the client a played server. */
void cnt_peer_lend(struct cnt_peer *p, struct cnt_peer_conn *c);
void cnt_peer_yield(struct cnt_peer *p, struct cnt_peer_conn *c, uint8_t reason);

/* cnt_peer_sql.c */
/* A statement, and how to run it. */
struct cnt_peer_run {
	const char *sql;
	uint32_t number;
	uint32_t batch_rows;
	uint64_t max_rows;
	int known;
	struct cnp_str params;
};

/* Returns 1 if the request is finished, 0 if it must stay open. */
int cnt_peer_run_sql(
	struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r);
int cnt_peer_is_verb(const char *sql, const char *verb);
/* Parts of answers: columns, rows from..to-1, DONE, ERROR. */
void cnt_peer_put_columns(struct cnt_peer_conn *c);
void cnt_peer_put_rows(struct cnt_peer_conn *c, unsigned from, unsigned to);
void cnt_peer_done(
	struct cnt_peer_conn *c, const char *tag, int64_t affected, uint8_t flags);
void cnt_peer_error(struct cnt_peer_conn *c, const char *sqlstate, const char *text);
/* A whole answer: one value of n bytes. */
void cnt_peer_put_big(struct cnt_peer_conn *c, size_t n);
/* Send a notification and a parameter that the client did not ask for. */
void cnt_peer_say(struct cnt_peer_conn *c, const char *channel);
/* Append to the record of what was seen. */
void cnt_peer_add_text(char *to, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
