/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_TDS_PEER_H
#define CNT_TDS_PEER_H

#include <pthread.h>
#include <stddef.h>

/*
 * A TDS 7.4 server that a test plays, on a TCP port of 127.0.0.1, one connection at a time. It
 * knows logins, with and without TLS, simple statements, and faults that a real server cannot be
 * made to show. The statement says what the peer answers:
 *
 *     rows N       N rows of (n), a text; also "select rows N", and "select drop N"
 *     error        an error, 208 of level 16
 *     print        a message of level 0, and no rows
 *     drop N       N rows, and then the end of the connection, in the middle of one
 *     stall        nothing, until it is told to stop, which it does
 *     deaf         nothing, ever
 *     endless X    X without an end: "results" of a row, "errors", "prints" or "rows", until it is told to stop
 *     boundless X  the same, and it does not stop
 *     all others   one row of four texts: what it was asked, "peer", "1", "0"
 */
enum cnt_tds_encryption {
	CNT_TDS_ENCRYPT_NONE = 2,
	CNT_TDS_ENCRYPT_ON = 1
};

enum cnt_tds_login {
	CNT_TDS_LOGIN_TAKEN,
	CNT_TDS_LOGIN_REFUSED, /* with error 18456 */
	CNT_TDS_LOGIN_CLOSED /* without an answer */
};

struct cnt_tds_peer {
	/* Set these before the start. */
	enum cnt_tds_encryption encryption;
	enum cnt_tds_login login;
	int is_no_tds; /* the peer answers with another protocol */
	const char *certificate; /* PEM; NULL: no TLS */
	const char *key;

	int port;
	int has_given_up; /* an endless answer was not stopped within a minute; valid after the stop */
	int fd; /* this and the rest belong to cnt_tds_peer.c */
	int stop[2];
	pthread_t thread;
	void *context;
};

/* 0 or -1. */
int cnt_tds_peer_start(struct cnt_tds_peer *p);
void cnt_tds_peer_stop(struct cnt_tds_peer *p);

#endif
