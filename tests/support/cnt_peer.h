/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_PEER_H
#define CNT_PEER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "core/diag.h"
#include "protocol/session_server.h"

/*
 * A pool that a test plays: the server's end of the protocol on a unix socket in a temporary
 * directory. The statement says what the peer answers:
 *
 *     cmd             DONE "INSERT 1", 1 row, last id 7; READY gives a new carry
 *     rows N          N rows of (n int64, t text, z null)
 *     big N           one row with a value of N bytes
 *     values          one row of the typed values that the conversions are tested with
 *     params          a row for each parameter: its type and its text
 *     two             a result of rows, then that of a command
 *     fail STATE      ERROR with that SQLSTATE
 *     rows_fail N     N rows, then ERROR
 *     notice          a NOTICE, then as cmd
 *     pin N           as cmd; READY says pins N from now on
 *     yield           as cmd, then YIELD and the end of the connection
 *                     (with the knob `lends`: YIELD with the other end of a played server, where it goes on)
 *     yield_now       YIELD instead of an answer: the request was not carried out
 *     last            as cmd, then the connection ends without a YIELD
 *     die             the connection ends without an answer
 *     rows_die N      N rows, then the connection ends
 *     hang            no answer until it is cancelled
 *     copy_in         takes a copy, up to its end: DONE "COPY", or ERROR if the client gave up
 *     copy_early N    takes N bytes of a copy, then ERROR without waiting for its end
 *     copy_twice      takes two copies; the first has its DONE before its end
 *     file NAME       takes a copy, and asks for that file
 *     copy_out N      a copy out of N pieces
 *     copy_die        COPY_OUT, one piece, then the connection ends
 *     notify          a NOTIFICATION and a PARAMETER, then as cmd
 *     form            DONE whose tag tells the form, "simple" or "extended"
 *     empty           DONE that says that there was no statement
 *
 * The peer is driven in one thread, a step at a time (cnt_peer_step()), or by a thread of its own
 * (cnt_peer_start()), for blocking clients.
 */
#define CNT_PEER_CONNS 16u
#define CNT_PEER_STMTS 32u

struct cnt_peer_stmt {
	uint32_t id;
	char sql[64];
};

struct cnt_peer_conn {
	int fd; /* -1: free */
	struct cnp_server server;
	struct cnt_peer_stmt stmts[CNT_PEER_STMTS];
	struct cnt_peer_stmt named; /* the statement that was prepared under a name */
	uint64_t session;
	uint8_t tx;
	uint32_t pins;
	uint32_t portal; /* 0: none */
	unsigned portal_at, portal_end;
	size_t sent;
	int has_end; /* close once everything is sent */
	int lent[2]; /* descriptors that go out with the next bytes; 0: none */
	int is_lender; /* its session is lent: the client only keeps this connection open */
	int is_parking; /* the client stays once everything is sent */
	int is_hanging;
	int is_copying;
	size_t copy_left; /* bytes of a copy after which the peer reports an error; SIZE_MAX: never */
	int wants_carry;
	int wants_yield; /* yield at the next synchronisation point */
	unsigned n_columns;
};

/* What a test may change, before the first step or while it holds the lock. */
struct cnt_peer_knobs {
	size_t write_max; /* bytes in a step and connection; 0: no bound */
	long cut_after; /* the first connection ends after so many bytes; -1: never */
	const char *refuse; /* SQLSTATE of a refusal to attach */
	unsigned n_refuse; /* how many times */
	unsigned n_yield_on_attach; /* takes back so many sessions at once */
	unsigned n_die_on_attach; /* ends so many connections without an answer */
	int lets_stay; /* a client that can stay does, where a yield would end its connection */
	int lends; /* a client that can borrow does, where a yield would end its connection */
	unsigned n_lent; /* descriptors that come with that; 0: both */
	int says_all; /* to a client that stayed: all facts once more */
	int keeps_waiting; /* a client that stayed gets no answer to ATTACH */
	unsigned n_send_away; /* clients that stayed get YIELD instead of a session */
	uint8_t die_on; /* code of a message on which the connection ends */
	uint8_t auth; /* the login method that HELLO asks for */
	unsigned iterations; /* of the hash in a SCRAM login */
	int fail_prepare; /* prepares fail */
	int fail_sync; /* synchronisation points fail */
	const char *zone; /* the TimeZone that ATTACHED reports; NULL: none */
	unsigned n_columns; /* columns of "rows" on new connections; 0: all three */
	/* Columns that the answer to FETCH reports again; 0: only if the client asks. */
	unsigned n_fetch_columns;
	size_t read_max; /* 0: no limit; 1: read nothing while there is something to send */
};

struct cnt_peer_seen {
	unsigned n_connects, n_attaches, n_prepares, n_closes, n_requests, n_cancels;
	unsigned n_portals_closed;
	unsigned n_stays; /* clients that stayed */
	unsigned n_loans, n_returned; /* sessions that were lent, and that came back */
	uint32_t flags, generation;
	uint8_t autocommit_off;
	char carry[32];
	char program[64];
	char commands[256]; /* statements that the peer carried out, each with a ';' */
	size_t sent; /* bytes sent to the first connection */
	char copied[256]; /* data of copies, truncated */
	size_t n_copied;
	/* Options of the last ATTACH and of each SET_OPTION after it: "name=value;". */
	char options[128];
	char asked[256]; /* other requests: their names and texts, each with a ';' */
	size_t n_long; /* bytes of LONG_DATA */
	unsigned n_auths; /* messages of a login */
};

struct cnt_peer {
	char dir[64];
	char path[96];
	char uri[160];
	int listen_fd; /* -1: the peer does not listen */
	struct cnt_peer_conn conns[CNT_PEER_CONNS];
	struct cnt_peer_knobs knobs;
	struct cnt_peer_seen seen;
	/* a suspended session */
	uint64_t suspended_session;
	uint32_t suspended_portal;
	unsigned suspended_at, suspended_end;
	unsigned n_carry;
	/* the thread */
	pthread_t thread;
	pthread_mutex_t lock;
	int wake[2];
	int has_thread;
	int is_stopping;
};

/* 0, or -1 with a message. */
int cnt_peer_create(struct cnt_peer *p);
void cnt_peer_destroy(struct cnt_peer *p);
/* Do all that is possible without waiting. Returns whether there was anything to do. */
int cnt_peer_step(struct cnt_peer *p);
int cnt_peer_start(struct cnt_peer *p);
void cnt_peer_stop(struct cnt_peer *p);
/* Stop listening, or begin. Connections stay open. */
void cnt_peer_unlisten(struct cnt_peer *p);
int cnt_peer_listen(struct cnt_peer *p);
/* Listen on 127.0.0.1 instead, and change the URI to that. */
int cnt_peer_listen_tcp(struct cnt_peer *p);
/* Send all connections a notification and a parameter that they did not ask for. */
void cnt_peer_notify(struct cnt_peer *p, const char *channel);
/* End all connections, with or without a YIELD. */
void cnt_peer_drop(struct cnt_peer *p, int yield);

#endif
