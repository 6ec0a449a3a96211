/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_WORKER_H
#define CND_WORKER_H

#include <signal.h>

#include "backend.h"
#include "pool.h"
#include "protocol/session_server.h"
#include "scoreboard.h"

/* What any child gets from the master. */
struct cnd_child {
	struct cnd_scoreboard *board;
	const struct cnd_config *config;
	pid_t master;
	int door_wake; /* eventfd: the door should look */
	int door_inbox[2]; /* workers write into [0], the door reads from [1] */
};

/* Why a client's time with the worker ended. */
enum cnd_parting {
	CND_PARTING_GONE, /* it closed, or was told why it cannot stay */
	CND_PARTING_SUSPENDED, /* it will resume */
	CND_PARTING_LOST /* the server's session is lost */
};

/* What is left of a portal's max_rows; portals without a bound are not here. */
#define CND_PORTALS 16u

struct cnd_portal {
	uint32_t portal; /* 0: unused */
	uint64_t max_rows; /* of each further result */
	uint64_t rows_left; /* of this one */
};

/* How a bound on waiting is written: milliseconds of cnd_now_ms(). */
#define CND_NEVER INT64_MAX

/*
 * A worker: one process, one session of the backend. The files that share it: worker.c (its
 * life), client.c (one client, from opening to parting), request.c (one request), sink.c (rows
 * on their way out).
 */
struct cnd_worker {
	const struct cnd_child *child;
	struct cnd_pool_config *config;
	const struct cnd_backend *backend;
	struct cnd_scoreboard *board;
	struct cnd_pool_record *pool;
	struct cnd_slot *slot;
	uint32_t slot_index;
	struct cnc_sm sm; /* enum cnd_state_of_slot; moved by cnd_worker_move() only */
	int listen_fd;
	int queue_fd;
	int inbox_fd;
	int epoll_fd;
	sigset_t waiting_mask; /* signals come only while it waits */

	struct cnd_session *session; /* NULL: logged out */
	struct cnd_host host;
	struct cnd_info info;
	struct cnc_buf parameters; /* of info, encoded for ATTACHED */
	size_t server_at; /* the line to try next */
	unsigned n_failures; /* to log in, in a row */
	int64_t idle_ms; /* since when it was not lent, or last asked to leave */

	/* the client */
	int fd; /* -1 none */
	int is_handed_over; /* others hold its socket too: closing it is not enough */
	struct cnp_server server;
	struct cnc_arena arena; /* of one request */
	char user[64];
	uid_t uid;
	int64_t suspended_until_ms;
	int64_t attached_ms;
	int64_t active_ms; /* when it was last heard of */
	uint32_t n_served; /* requests since it attached */

	/* the running request */
	struct cnd_sink sink;
	struct cnc_batch batch;
	uint32_t n_columns; /* of the result under way */
	uint64_t max_rows; /* of each result of the request; UINT64_MAX: no bound */
	uint64_t rows_left; /* until max_rows */
	uint32_t batch_rows; /* of each result; 0: no bound */
	uint32_t batch_left; /* until batch_rows */
	struct cnd_portal portals[CND_PORTALS];
	uint8_t is_in_rows; /* a ROWS frame is open */
	uint8_t is_quiet; /* a set-up request: no reply unless it fails */
	uint8_t is_suspending;
	uint8_t is_done; /* done() was called for the last result */
	uint8_t done_flags; /* of the last done() */
	uint8_t is_describing; /* columns() is not followed by rows */
	int64_t limit_ms; /* of query_timeout */
	int64_t looked_ms; /* when `interrupted` last looked around */
	int stopped; /* what `interrupted` said; 0: nothing yet */
	struct cnc_diag diag; /* of the running request */
	int is_client_gone;
	int is_session_lost;

	unsigned char random[512]; /* for keys */
	size_t random_left;
};

/* The process's main function. */
_Noreturn void cnd_worker_run(const struct cnd_child *child, const struct cnd_pool *pool,
	uint32_t slot, int inbox_fd);

/* worker.c, for the others */
void cnd_worker_move(struct cnd_worker *w, uint32_t state);
/* What the master wants: enum cnd_order. */
uint32_t cnd_worker_order(const struct cnd_worker *w);
void cnd_worker_wake_door(const struct cnd_worker *w);
uint64_t cnd_worker_key(struct cnd_worker *w);
/*
 * Wait for these poll events on a descriptor, with signals let in. The events that came; 0 when
 * the time is up or a signal came: look around and wait again.
 */
int cnd_worker_wait(struct cnd_worker *w, int fd, int events, int64_t until_ms);

/* client.c */
/* Serve the client on w->fd until they part. */
enum cnd_parting cnd_client_serve(struct cnd_worker *w);
/* Wait for the one who resumes, and serve him. */
enum cnd_parting cnd_client_resume(struct cnd_worker *w);
void cnd_client_close(struct cnd_worker *w);
/* Refuse what lies in the inbox: its time is over. */
void cnd_client_refuse_inbox(struct cnd_worker *w);
/* Send what is queued, until all is gone. Waits for a slow reader: CENOTE_OK, or CENOTE_ERR_CONN
 * when there is no point any more. */
int cnd_client_flush(struct cnd_worker *w);
/* Whether it has closed its end; reads nothing. */
int cnd_client_has_gone(const struct cnd_worker *w);

/* request.c */
/* Carry out a request and queue its last reply. Negative: part with the client. */
int cnd_request_run(struct cnd_worker *w, const struct cnp_request *req);
void cnd_request_init(struct cnd_worker *w);

/* sink.c */
extern const struct cnd_sink_ops cnd_sink_ops;
/* The request ended in the middle of a result: keep the whole rows. */
void cnd_sink_abort(struct cnd_worker *w);

#endif
