/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_CONN_H
#define CN_CONN_H

#include <string.h>
#include <sys/types.h>

#include <cenote/cenote.h>

#include "core/diag.h"
#include "core/effect.h"
#include "core/reach.h"
#include "core/rowset.h"
#include "core/sm.h"
#include "core/sqlstate.h"
#include "crypto/crypto.h"
#include "options.h"
#include "protocol/session_client.h"
#include "target.h"
#include "transport.h"

/* The inside of libcenote: the declarations that its files share. */

struct cenote_diag {
	struct cnc_diag d;
};

struct cenote_column {
	struct cnp_column c;
};

/* Column descriptions, shared by a statement and its results. */
struct cn_columns {
	struct cenote_allocator mem;
	size_t refs;
	struct cnc_arena arena;
	struct cnp_column *list;
	uint32_t n;
};

enum cn_stream {
	CN_STREAM_NO, /* a buffered result */
	CN_STREAM_RUNNING, /* the server is sending its rows */
	CN_STREAM_PORTAL, /* the server keeps the rest in a portal */
	CN_STREAM_FETCHING, /* a FETCH for the result was queued */
	CN_STREAM_COPY, /* a copy is open */
	CN_STREAM_COPIED, /* the last byte was sent or has come; next comes DONE */
	CN_STREAM_DONE, /* the last row has come */
	CN_STREAM_FAILED /* `status` is the reason */
};

/* Data of a copy out that waits for the program. */
struct cn_piece {
	struct cnc_block *block;
	struct cnp_str data;
};

struct cenote_result {
	struct cenote_allocator mem;
	/* next in the list of results to be taken, or in conn->streams */
	cenote_result *next;
	/* of a streamed result; NULL once the connection is destroyed */
	cenote_conn *conn;
	uint8_t kind;
	uint8_t stream; /* enum cn_stream */
	uint8_t has_more; /* another result of the same request follows */
	uint8_t at; /* index of the set in `rows` that the program reads */
	uint8_t effect; /* enum cnc_effect of its statement */
	uint8_t tx; /* enum cenote_tx, at a synchronisation point */
	int status; /* CN_STREAM_FAILED: what cenote_result_next() returns */
	uint32_t request; /* number of the statement's request, or of the last FETCH */
	uint32_t portal;
	uint32_t batch_rows;
	uint32_t epoch; /* the epoch in which the portal was opened */
	uint32_t warnings;
	uint32_t server_status;
	uint8_t flags; /* bits of enum cenote_result_flag, without MORE */
	uint8_t is_begun; /* cenote_result_next() was called */
	uint8_t is_buffering; /* cenote_result_buffer() was called: read all rows */
	uint8_t copy_format;
	uint8_t is_copy_ended; /* the program has ended the copy */
	char *copy_formats; /* format of each column */
	uint32_t n_copy_formats;
	char *copy_file; /* NULL: none */
	struct cn_piece *pieces;
	/* pieces[piece_at] is the next piece for the program */
	size_t piece_at, n_pieces, cap_pieces;
	struct cn_piece piece; /* the piece that the program has */
	struct cnc_arena params_arena; /* for a description */
	struct cnp_param *params;
	uint32_t n_params;
	int64_t affected;
	uint64_t last_insert_id;
	char *tag;
	struct cn_columns *columns; /* NULL: none */
	cenote_diag *diag; /* NULL: no error */
	/* one set is being read, the other is being filled; only [0] is used unless streamed */
	struct cnc_rowset rows[2];
};

/* A request whose results the program has not all taken. */
struct cn_request {
	uint32_t number;
	uint8_t code;
	uint8_t format;
	uint8_t effect; /* enum cnc_effect */
	uint8_t is_stream;
	/* made by the library, or the program does not want its results */
	uint8_t is_hidden;
	uint8_t is_answered; /* its last reply except READY came */
	uint8_t is_finished; /* its last reply came, READY included */
	uint8_t is_dropping; /* drop rows up to the next DONE */
	uint8_t wants_autocommit; /* AUTOCOMMIT: the argument of the request */
	/* it may change what a statement means, as USE does, so statements must be on the session before */
	uint8_t is_use;
	uint8_t is_abandoned; /* the program destroyed its stream before the end */
	/* which statements with a name must be on the session: CN_NAMED_ONE, and bits of enum cnc_names */
	uint8_t named;
	uint8_t has_restored; /* such statements were prepared again for this request */
	uint8_t reach; /* enum cnc_reach, if the cache is on */
	struct cn_keep *keep; /* a copy of its result, for the cache; NULL: none */
	char *text; /* QUERY: a copy of its SQL if that has DEALLOCATE or PREPARE; else NULL */
	uint32_t n_ended; /* how many DEALLOCATE of it were carried out */
	uint32_t batch_rows;
	uint32_t portal; /* number of the portal that the request may leave open */
	cenote_stmt *stmt; /* a reference; NULL: none */
	/* EXECUTE: the columns that we have, as the server knows */
	struct cn_columns *columns;
	cenote_result *target; /* FETCH: the result that gets the rows; NULL: destroyed */
	cenote_result *building;
	cenote_result *first, *last; /* results that wait to be taken */
};

struct cenote_stmt {
	struct cenote_allocator mem;
	cenote_conn *conn; /* NULL once the connection is destroyed */
	cenote_stmt *next;
	size_t refs; /* the program's handle, and each request that uses it */
	uint32_t id;
	/* epoch in which the statement was last prepared, or a PREPARE was queued; 0: never */
	uint32_t epoch;
	uint32_t columns_epoch; /* epoch in which `columns` came */
	uint8_t is_prepared; /* a PREPARE succeeded */
	uint8_t is_queued; /* a PREPARE waits for its reply */
	uint8_t effect;
	uint8_t has_reach; /* `reach` is known */
	uint8_t reach; /* enum cnc_reach, for the cache */
	uint8_t format; /* the format that `columns` describe */
	uint8_t is_foreign; /* this handle does not prepare it */
	uint8_t is_named; /* it is in conn->named, which then has a reference */
	uint8_t is_restored; /* in conn->named: the last PREPARE was sent by the library */
	cenote_stmt *next_named; /* next in conn->named */
	uint8_t has_long_data; /* LONG_DATA was queued for the next execution */
	uint32_t long_before; /* number of the request that follows the first of it */
	char *name; /* its name at the server; NULL: the server knows it by `id` */
	char *types; /* type ids of parameters, encoded as in PREPARE */
	size_t types_len;
	char *sql;
	size_t len;
	size_t history_len; /* length of conn->cache.history when it was last prepared */
	struct cn_columns *columns; /* NULL: none */
	struct cnc_arena params_arena;
	struct cnp_param *params;
	uint32_t n_params;
};

enum cn_state {
	CN_CLOSED, /* there is no session, and the program wants none */
	/* a socket is being opened, or there is a pause before the next try */
	CN_CONNECTING,
	CN_ATTACHING, /* the opening was sent; next comes READY */
	CN_READY, /* attached */
	CN_DETACHED, /* the session went and held nothing: attach again when needed; the
		      * connection may stay for that */
	CN_LOST /* the session went, and the program lost something: see `loss` */
};

/* Room for the texts that cenote_info() makes. It is behind a pointer, so that these calls can take
 * a const connection. */
struct cn_scratch {
	char socket[CN_TARGET_TEXT_MAX];
	char text[256]; /* a number or a list */
	/* NULL: the program has not asked for these facts yet */
	struct cn_tls_facts *tls;
};

/* A list of names and values, few and short. */
struct cn_pair {
	const char *name;
	const char *value;
	char *own; /* memory of name and value; NULL: they are borrowed */
};

struct cn_pairs {
	struct cn_pair *list;
	uint32_t n;
	uint32_t cap;
	size_t bytes; /* length of all texts */
};

/* The facts that cenote_info() reports. */
struct cn_info {
	/* copy of ATTACHED's payload, from which `facts` and `parameters` borrow */
	uint8_t *attached;
	struct cnp_attached facts;
	const char *login; /* the login's mechanism; NULL: no login was needed */
	uint8_t has_facts;
	struct cn_pairs parameters;
	struct cn_scratch *scratch; /* conn->scratch */
};

struct cn_token {
	uint64_t session;
	uint64_t key;
	uint32_t portal;
	uint32_t batch_rows;
};

/* The attempt to get a session. */
struct cn_attach {
	struct cn_targets targets;
	size_t at; /* index of the target that is being tried */
	uint8_t kind; /* enum cnp_opening_kind */
	uint8_t is_again; /* a re-attach: try again until the deadline */
	/* statements and settings for the waiting requests were queued before these */
	uint8_t is_restored;
	uint8_t is_blocked; /* there is no descriptor to wait for: wait until retry_at */
	uint32_t n_tries;
	int64_t deadline; /* monotonic clock; 0: none */
	int64_t retry_at;
	struct cn_token token; /* RESUME */
	const char *what; /* STATUS */
	uint32_t cancel_request; /* CANCEL */
	uint8_t is_fixed; /* the caller has set `targets` */
	char tried[400]; /* the targets that were tried, and their errors */
};

/* The requests whose results the program has not all taken (pipeline.c). The oldest is at the
 * front; the first n_finished have their last reply, and the next one is being answered. */
struct cn_pipeline {
	struct cn_request *ring;
	size_t first, n, cap; /* ring[first] is the oldest; cap is 0 or a power of 2 */
	size_t n_finished;
	uint32_t
		call; /* request code of a public call that returned CENOTE_AGAIN; 0: none */
	uint8_t is_begun; /* cenote_pipeline_begin() was called */
	uint8_t needs_sync; /* requests were queued after the last synchronisation point */
	uint8_t is_collecting; /* the last request may wait, to be written with later ones */
	/* enum cnc_effect of the requests after the last synchronisation point */
	uint8_t unsynced;
	uint8_t is_syncing; /* the library waits for a hidden synchronisation point */
	/* the hidden synchronisation point failed: see loss.setup */
	uint8_t has_sync_error;
};

/* The limit for the sum of all session options. More would not fit into the attach. */
#define CN_SESSION_OPTIONS_MAX 8192u

/* State to restore on the next session (restore.c). */
struct cn_reattach {
	char *carry; /* from READY; the pool gets it back on the next attach; NULL: none */
	size_t carry_len;
	/* set with cenote_set_session_option(); also the position that the pool has sent */
	struct cn_pairs options;
	uint32_t attaches; /* number of sessions up to now */
	/* Counts attempts to attach and resets. A statement belongs to the epoch in which it was
	 * prepared; later sessions do not know it. */
	uint32_t epoch;
	uint8_t is_autocommit_off;
	uint8_t has_served; /* this session answered a request */
	/* the previous session was taken back before it answered any request */
	uint8_t is_fruitless;
};

/* The statements that the program has prepared under a name (named.c). */
struct cn_named {
	cenote_stmt *first;
	uint8_t is_used; /* the program has ever sent a PREPARE with a name */
};

/* Why the session is gone, or is about to go (end.c). */
struct cn_loss {
	cenote_diag setup; /* why a set-up or hidden request failed */
	cenote_diag diag; /* CN_LOST: every call reports this until the next connect */
	int status; /* CN_LOST: the status for `diag` */
	uint8_t has_setup_error;
	uint8_t is_refused; /* the server ended its session in its last answer */
};

/* Functions of the program, and their first argument. */
struct cn_handlers {
	void (*notice)(const cenote_diag *notice, void *user);
	void *notice_user;
	void (*notification)(
		uint32_t pid, const char *channel, const char *payload, void *user);
	void *notification_user;
	void (*parameter)(const char *name, const char *value, void *user);
	void *parameter_user;
	uint32_t n_unasked; /* messages that came without a request */
};

/* cenote_suspend() and cenote_resume() (suspend.c). */
struct cn_suspend {
	/* the result that was carried over, until the program gets it */
	cenote_result *resumed;
	struct cn_token token; /* the token from SUSPENDED */
	uint8_t is_done; /* SUSPENDED came */
};

/* Lent sessions (borrow.c). */
struct cn_borrowing {
	uint8_t offer; /* enum cn_offer */
	uint8_t is_paused; /* up to cenote_close(): the pool itself must have the session */
};

/* Whether ATTACH says that the pool may lend. */
enum cn_offer {
	CN_OFFER_UNKNOWN, /* the environment was not read yet */
	CN_OFFER_YES,
	CN_OFFER_NO /* the user does not want it, or the module cenote-loan.so could not serve a loan */
};

/* A session with a longer history does not use the cache. */
#define CN_CACHE_HISTORY_MAX 8192u

/* What the cache of results knows of the session (cache.c). */
struct cn_cache {
	/* the statements that may have changed a setting, from the login on */
	struct cnc_buf history;
	/* the time at which the last request that may have written ended, in microseconds since 1970: older results are not used */
	uint64_t wrote_us;
	uint8_t is_in_doubt; /* a request that may change a setting was sent, and its transaction has not ended */
	uint8_t is_dirty; /* the session may have written in the open transaction */
	uint8_t is_opaque; /* a statement was sent whose effect is unknown */
	uint8_t is_off; /* the history does not describe the session: the cache is not used until a reset */
	const char *
		state; /* what cenote_info() says of the cache; NULL: no statement has asked it yet */
};

struct cenote_conn {
	struct cenote_allocator mem;
	cenote_diag diag;
	struct cnc_sm sm; /* enum cn_state */
	struct cn_transport transport;
	struct cnp_client session;
	struct cn_options options;
	const struct cn_crypto *crypto; /* NULL: not needed up to now */
	struct cn_login *login; /* the login that is under way; NULL: none */
	struct cn_attach attach;
	struct cn_info info;
	struct cn_scratch scratch;
	struct cn_pipeline pipeline;
	struct cn_reattach reattach;
	struct cn_named named;
	struct cn_loss loss;
	struct cn_handlers handlers;
	struct cn_suspend suspend;
	struct cn_borrowing borrowing;
	struct cn_cache cache;
	/* the cancel handle that follows this connection; NULL: none */
	cenote_cancel *follower;
	pid_t pid; /* id of the process that connected */
	long (*getpid)(void); /* NULL: the system call */
	/* when the current public call gives up (monotonic clock); 0: never */
	int64_t deadline;
	uint8_t nonblocking; /* enum cenote_nonblocking */
	/* the peer takes no more bytes; bytes that it sent may still be read */
	uint8_t is_write_broken;
	uint8_t has_event; /* `event` was not handled yet, because there was no memory */
	uint8_t was_delivered; /* the answer in CANCELLED */
	uint8_t tx; /* enum cenote_tx */
	uint32_t pins;
	struct cnp_event event;
	cenote_stmt *stmts;
	uint32_t next_stmt;
	cenote_result *streams; /* results of the program that depend on the session */
	cenote_result *copy; /* the result in `streams` that is a copy; NULL: none */
};

/*
 * The functions that the files share, from the bottom up. A file calls only files that stand above it
 * here, and files of its own group.
 */

/* state.c */
extern const cenote_diag cn_diag_none;
static inline uint32_t
cn_state(const cenote_conn *conn)
{
	return conn->sm.state;
}
/* There is no session, and the pool waits for the next ATTACH on the same connection. */
static inline int
cn_is_staying(const cenote_conn *conn)
{
	return cn_state(conn) == CN_DETACHED && cnp_client_is_staying(&conn->session);
}
/* And it sends notifications meanwhile. */
static inline int
cn_is_listening(const cenote_conn *conn)
{
	return cn_is_staying(conn) && cnp_client_is_listening(&conn->session);
}
/* There is no session, but the pool has lent its server's socket: the next attach goes there. */
static inline int
cn_is_lent_anew(const cenote_conn *conn)
{
	return cn_state(conn) == CN_DETACHED && conn->transport.is_lent_anew;
}
/* Attaching on a connection that stayed. Requests are sent before the pool has answered. */
static inline int
cn_attaches_kept(const cenote_conn *conn)
{
	return cn_state(conn) == CN_ATTACHING && conn->session.is_kept;
}
static inline size_t
cn_text_len(const char *text, size_t len)
{
	return len == CENOTE_NTS ? strlen(text) : len;
}
int64_t cn_now_ms(void);
/* The id of the calling process. */
pid_t cn_pid(const cenote_conn *conn);
void cn_state_begin(cenote_conn *conn);
/* Changes the state, and closes the transport that the new state has no use for. CN_DETACHED has a use for one
 * that stays, or for a loan. */
void cn_move(cenote_conn *conn, uint32_t state);
/* Set the connection's diagnostics. Returns `status`, or CENOTE_ERR_NOMEM. */
int cn_fail(cenote_conn *conn, int status, const char *sqlstate, const char *message);
int cn_nomem(cenote_conn *conn);
/* Was cenote_connect() called without success up to now? */
int cn_is_first_attach(const cenote_conn *conn);
/* Every public call that talks to the pool begins with this. It clears the diagnostics, sets the
 * deadline, and refuses to work in a child process. CENOTE_OK or CENOTE_ERR_STATE. */
int cn_enter(cenote_conn *conn);
/* The same for a call that needs a session: CENOTE_OK, CENOTE_ERR_STATE, or the status of the lost
 * session. */
int cn_enter_attached(cenote_conn *conn);

/* effect.c */
/* The status for a server's error, by its SQLSTATE. */
int cn_status_of(const struct cnc_diag *diag);
/* The status for a refusal to attach. */
int cn_attach_status(const char *sqlstate);

/* pairs.c */
/* Set a pair. CENOTE_OK: unchanged; CENOTE_DONE: new or changed; CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
int cn_pairs_set(const struct cenote_allocator *mem, struct cn_pairs *p, const char *name,
	const char *value, size_t max_bytes);
/* Add a pair with a new name. The texts are not copied: they must last as long as the pair.
 * CENOTE_OK, CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
int cn_pairs_borrow(const struct cenote_allocator *mem, struct cn_pairs *p,
	const struct cnp_str *name, const struct cnp_str *value, size_t max_bytes);
void cn_pairs_remove(
	const struct cenote_allocator *mem, struct cn_pairs *p, const char *name);
/* The value; NULL: there is no such pair. */
const char *cn_pairs_find(const struct cn_pairs *p, const char *name);
void cn_pairs_finish(const struct cenote_allocator *mem, struct cn_pairs *p);

/* params.c */
/* The encoded values; an empty text if `params` is NULL. */
struct cnp_str cn_params_blob(const cenote_params *params);

/* copy.c */
static inline int
cn_is_copy(const cenote_result *res)
{
	return res && (res->kind == CENOTE_RESULT_COPY_IN ||
			      res->kind == CENOTE_RESULT_COPY_OUT);
}
/* The most bytes of a frame besides the piece and the frame header. */
#define CN_PIECE_OVERHEAD 16u
/* The longest piece of a copy or of a long value: at most `most`, and at most what the pool accepts. */
size_t cn_piece_max(const cenote_conn *conn, size_t most);
int cn_copy_begin(cenote_result *res, uint8_t format, const struct cnp_str *formats,
	const struct cnp_str *file);
/* Keep received data. */
int cn_copy_add(cenote_result *res, const struct cnp_event *ev);
/* Tell the server that no more data comes. It cannot fail while a copy is open. */
void cn_copy_give_up(cenote_conn *conn, const char *why);
void cn_copy_finish(cenote_result *res);

/* result.c */
int cn_columns_create(const struct cenote_allocator *mem, const uint8_t *payload,
	size_t len, struct cn_columns **ret_columns);
struct cn_columns *cn_columns_ref(struct cn_columns *columns);
void cn_columns_unref(struct cn_columns *columns);
int cn_result_create(const struct cenote_allocator *mem, uint8_t kind,
	struct cn_columns *columns, cenote_result **ret_res);
/* Free a result to which no request points. NULL is allowed. */
void cn_result_free(cenote_result *res);
int cn_result_set_diag(cenote_result *res, const struct cnc_diag *diag);
int cn_result_set_tag(cenote_result *res, const struct cnp_str *tag);
/* The set of rows that is being filled. */
struct cnc_rowset *cn_result_incoming(cenote_result *res);
/* A streamed result failed and has no more rows. */
void cn_result_fail(cenote_result *res, int status, const struct cnc_diag *diag);
/* The program has a result that needs the session: put it into conn->streams. */
void cn_stream_link(cenote_conn *conn, cenote_result *res);
void cn_stream_unlink(cenote_result *res);
void cn_streams_fail(cenote_conn *conn, int status, const struct cnc_diag *diag);

/* stmt.c */
cenote_stmt *cn_stmt_ref(cenote_stmt *stmt);
/* Drop a reference. The last one closes the statement at the server. NULL is allowed. */
void cn_stmt_unref(cenote_stmt *stmt);
void cn_stmt_fill_prepare(const cenote_stmt *stmt, struct cnp_msg *m);
int cn_params_decode(const struct cenote_allocator *mem, const uint8_t *payload,
	size_t len, struct cnc_arena *arena, struct cnp_param **params, uint32_t *n);
/* The server has described the columns, or the parameters. */
void cn_stmt_described(cenote_stmt *stmt, struct cn_columns *columns, uint8_t format);
int cn_stmt_params(cenote_stmt *stmt, const uint8_t *payload, size_t len);
/* 1: pieces of a long value wait for their execution, and only the current session has them all. */
int cn_stmts_need_session(const cenote_conn *conn);
/* The session has no pieces of long values any more. */
void cn_stmts_forget_pieces(cenote_conn *conn);

/* restore.c */
/* 1: a request that is queued now must have its statements queued before it. 0: there is no session yet,
 * and cn_session_restore() will queue them. */
int cn_is_restored(const cenote_conn *conn);
/* Prepare a statement on this session, unless it is prepared. */
int cn_stmt_ensure(cenote_stmt *stmt);
/* Prepare on this session every statement that was prepared on the previous one. */
int cn_stmts_restore(cenote_conn *conn);
/* Whether statements would mean something else if they were prepared after this text: USE, and where a server has
 * databases to select, also SET. */
int cn_changes_meaning(const cenote_conn *conn, const char *sql, size_t len);
/* Prepare on this session the statements with a name that a request needs. `needed`: from cn_named_needed(); `stmt`: has
 * the name for CN_NAMED_ONE. CENOTE_OK: they are there; CENOTE_DONE: at least one was queued. */
int cn_named_restore(cenote_conn *conn, uint8_t needed, const cenote_stmt *stmt);
/* Queue everything that requests waiting for a new session need: statements and autocommit. */
int cn_session_restore(cenote_conn *conn);
/* Set the options of the session again, after a reset. */
int cn_session_options_restore(cenote_conn *conn);

/* named.c */
/* Beside the bits of enum cnc_names: the statement with the name of send->stmt. */
#define CN_NAMED_ONE 128u
struct cn_send;
/* The statement that has this name. NULL: there is none. */
cenote_stmt *cn_named_find(cenote_conn *conn, const char *name);
/* Which statements with a name must be on the session before this request? 0: none. */
uint8_t cn_named_needed(cenote_conn *conn, const struct cn_send *send);
/* A result of the request has ended. Note which statements with a name there are now. */
void cn_named_done(cenote_conn *conn, struct cn_request *req, const struct cnp_str *tag);
/* The request failed or was skipped; NULL: a set-up request failed. Nobody knows whether the statements that were
 * prepared again for it are there: prepare them again before their next use. */
void cn_named_failed(cenote_conn *conn, const struct cn_request *req);
/* There is a fresh session, without any of them. */
void cn_named_clear(cenote_conn *conn);

/* pipeline.c */
struct cn_send {
	const struct cnp_msg *msg;
	uint8_t effect; /* enum cnc_effect */
	uint8_t is_hidden;
	uint8_t sync; /* CNP_FRAME_SYNC, or 0 */
	uint8_t is_use; /* see struct cn_request */
	uint8_t reach; /* QUERY, EXECUTE: enum cnc_reach */
	struct cn_keep *keep; /* once the request is queued, it owns this; NULL: none */
	cenote_stmt *stmt;
	struct cn_columns *columns;
	cenote_result *target;
	const cenote_exec_options *options;
};

/* The i-th request of the ring, oldest first. */
static inline struct cn_request *
cn_request_at(const struct cn_pipeline *p, size_t i)
{
	return &p->ring[(p->first + i) & (p->cap - 1)];
}
/* The request that is being answered; NULL: none. */
static inline struct cn_request *
cn_request_running(const struct cn_pipeline *p)
{
	return p->n > p->n_finished ? cn_request_at(p, p->n_finished) : NULL;
}
/* Queue a request. cn_push() sends it. */
int cn_request(cenote_conn *conn, const struct cn_send *send);
/* Queue a message that has no reply unless it fails. Without a session it does nothing. */
int cn_setup(cenote_conn *conn, const struct cnp_msg *msg);
/* Add a request that is finished: its answer did not come from the pool. CENOTE_OK; CENOTE_ERR_NOMEM: `res` is freed. */
int cn_request_answered(cenote_conn *conn, uint8_t code, cenote_result *res);
/* Make the request for an opening with CANCEL or STATUS. */
int cn_request_one_shot(cenote_conn *conn, uint8_t code);
/* The request got its last reply. */
void cn_request_finished(cenote_conn *conn, struct cn_request *req);
/* Forget the oldest request, which is finished. */
void cn_request_pop(cenote_conn *conn);
/* Forget finished requests at the front whose results the program does not get. */
void cn_requests_trim(cenote_conn *conn);
/* The rest of a finished request's results comes with a later request: hide the end of the first
 * request. */
void cn_request_superseded(cenote_conn *conn, uint32_t portal);
void cn_requests_drop_unfinished(cenote_conn *conn);
/* Forget all requests and their results. */
void cn_requests_clear(cenote_conn *conn);
/* Can cenote_get_result() return without waiting? */
int cn_has_answer(const cenote_conn *conn);

/* end.c */
/* The session ended without a YIELD. CENOTE_OK: another session can replace it; else the error. */
int cn_session_lost(cenote_conn *conn, int error);
/* The session is lost, for the reason in conn->diag. Returns status. */
int cn_session_failed(cenote_conn *conn, int status);
/* The session ended and nothing was lost: the next request attaches again. The connection may stay. */
void cn_session_over(cenote_conn *conn);
/* The connection that stays is of no use any more: the next attach makes a new one. `error`: errno, or 0. CENOTE_OK, or
 * CENOTE_ERR_CONN: notifications may be missing, so that is a loss. */
int cn_stay_over(cenote_conn *conn, int error);
/* Requests were sent whose answer has not come, and they may have committed something. */
int cn_outcome_is_unknown(const cenote_conn *conn);
void cn_close(cenote_conn *conn);

/* borrow.c */
/* Before an attach without TLS: decide once for each handle whether it offers to borrow. */
void cn_borrow_look(cenote_conn *conn);
/* Shall ATTACH say that the pool may lend? Not with TLS: a socket with TLS cannot change its process. */
int cn_borrow_may(const cenote_conn *conn);
/* The session is attached: a loan may come. */
void cn_borrow_expect(cenote_conn *conn);
/* YIELD came with a loan. CENOTE_OK, also if the module cannot be used; CENOTE_ERR_PROTOCOL: nothing was lent. */
int cn_borrow_begin(cenote_conn *conn);
/* The module did not give a session: use none of it any more. */
void cn_borrow_refused(cenote_conn *conn);
/* Give back a loan, and take none until cenote_close(). CENOTE_OK, or CENOTE_ERR_STATE: the session holds something. */
int cn_borrow_pause(cenote_conn *conn);

/* info.c */
/* Take the facts of a new session. CENOTE_ERR_CONN: it reads escapes in another way than the
 * previous session. */
int cn_info_attached(cenote_conn *conn, const struct cnp_event *event);
int cn_info_parameter(cenote_conn *conn, const struct cnp_parameter *p);
void cn_info_finish(cenote_conn *conn);

/* event.c */
/* Handle a message of the pool. */
int cn_event(cenote_conn *conn, const struct cnp_event *event);
/* Must the program take results before more is read? */
int cn_waits_for_program(const cenote_conn *conn);

/* attach.c, attach_tls.c, login.c: getting a session */
int cn_attach_begin(cenote_conn *conn, uint8_t kind, int is_again);
/* Go on as far as possible. CENOTE_OK: ready; CENOTE_AGAIN: wait; else the error. */
int cn_attach_step(cenote_conn *conn);
/* Handle a message of the pool while attaching. */
int cn_attach_event(cenote_conn *conn, const struct cnp_event *event);
/* The transport ended while attaching. */
int cn_attach_lost(cenote_conn *conn, int error);
int cn_attach_timeout(cenote_conn *conn);
/* Give up: the state becomes CLOSED, or LOST on a re-attach. Returns status. */
int cn_attach_fail(cenote_conn *conn, int status);
/* Can the TLS options be fulfilled? CENOTE_OK, CENOTE_ERR_UNSUPPORTED. */
int cn_attach_check_tls(cenote_conn *conn);
/* The TLS that the opening asks for: enum cnp_opening_tls. */
uint8_t cn_attach_wanted_tls(const cenote_conn *conn);
/* Has TLS proved that the other end is the named pool? */
int cn_attach_knows_pool(const cenote_conn *conn);
/* The pool has agreed to TLS. CENOTE_OK: call cn_attach_handshake() next. */
int cn_attach_begin_tls(cenote_conn *conn);
/* CENOTE_OK: there was progress; CENOTE_AGAIN; else the error. */
int cn_attach_handshake(cenote_conn *conn);
/* TLS failed. That is final: no other target is tried. Returns status. */
int cn_attach_insecure(cenote_conn *conn, int status);
/* HELLO asks for a login. CENOTE_OK: the login goes on; else it has failed, and the attach with it. */
int cn_login_begin(cenote_conn *conn, const char *mechanisms);
/* An AUTH frame came. Returns as cn_login_begin(). */
int cn_login_data(cenote_conn *conn, const struct cnp_str *data);
/* The pool has accepted the login, or refused it. */
int cn_login_accepted(cenote_conn *conn);
void cn_login_refused(cenote_conn *conn);
void cn_login_end(cenote_conn *conn);

/* io.c */
enum cn_read {
	CN_READ_NOT, /* read nothing; write, and handle messages that have been received */
	CN_READ_STUCK, /* read only if the peer takes no more bytes */
	CN_READ_NOW /* read the bytes that have come */
};
/* Make one step. CENOTE_OK: there was progress; CENOTE_AGAIN: the next step would have to wait. */
int cn_advance(cenote_conn *conn, int how);
/* Write as much as possible without waiting. CENOTE_OK: nothing is left. */
int cn_flush(cenote_conn *conn);
/* Does the connection that stays still do so? It is closed if not. Takes the notifications that have come. CENOTE_OK,
 * CENOTE_ERR_NOMEM, or the error of a loss. */
int cn_stay_check(cenote_conn *conn);

/* wait.c */
/* Sleep until the descriptor is ready or a deadline passes. CENOTE_OK, CENOTE_ERR_TIMEOUT. */
int cn_wait(cenote_conn *conn);
/* How does a call read that may not wait? */
enum cn_read cn_how_to_read(const cenote_conn *conn);
/* Call cn_advance(), and wait if necessary. CENOTE_OK: there was progress; CENOTE_AGAIN: the handle
 * does not wait. */
int cn_progress(cenote_conn *conn);
/* Repeat cn_progress() until done(conn) returns 1. CENOTE_AGAIN: the handle does not wait. */
int cn_wait_for(cenote_conn *conn, int (*done)(const cenote_conn *conn));
/* Write everything, and read during the writing. A handle that does not wait may leave some bytes
 * unsent, and still returns CENOTE_OK. */
int cn_push(cenote_conn *conn);

/* request.c */
/* May a request be queued now? This ends streams and results that the program has abandoned.
 * CENOTE_OK, CENOTE_ERR_STATE. */
int cn_may_send(cenote_conn *conn);
/* The same outside a pipeline: results that the program did not take are an error, or are dropped. */
int cn_end_former(cenote_conn *conn);
int cn_send_sync(cenote_conn *conn, int is_hidden);
/* In a pipeline: make sure that a synchronisation point follows all requests, and wait for it. */
int cn_sync(cenote_conn *conn);
/* Make the pool answer the queued requests before more are queued. */
int cn_want_answers(cenote_conn *conn);
/* After cn_request(): write now, if there is no pipeline or much is waiting. */
int cn_sent(cenote_conn *conn);
/* The next result of the oldest request. CENOTE_OK, CENOTE_DONE, CENOTE_AGAIN, or an error. */
int cn_take(cenote_conn *conn, cenote_result **ret_res);
/* Wait for the first result of the oldest request; an error result becomes a status. */
int cn_take_result(cenote_conn *conn, cenote_result **ret_res);
/* Wait for the end of the oldest request, which gives no rows. */
int cn_take_command(cenote_conn *conn);
/* A call that waits for its answer may be repeated after CENOTE_AGAIN. `call` is the code of its
 * request. CENOTE_OK: queue the request; CENOTE_DONE: it is queued already; CENOTE_AGAIN: earlier
 * requests must be committed first. */
int cn_call_begin(cenote_conn *conn, uint32_t call);
int cn_call_goes_on(cenote_conn *conn, uint32_t call);
int cn_call_end(cenote_conn *conn, uint32_t call, int r);

/* query.c */
/* Check the options of an execution. CENOTE_OK or CENOTE_ERR_ARG. */
int cn_exec_options(cenote_conn *conn, const cenote_exec_options *options,
	cenote_exec_options *ret_options);
/* CNP_FRAME_SYNC, or 0: does a request that is sent now end with a synchronisation point? `options` may be
 * NULL. */
uint8_t cn_sync_flag(const cenote_conn *conn, const cenote_exec_options *options);

/* conn.c */
/* cenote_connect() and similar calls. */
int cn_connect(cenote_conn *conn, uint8_t kind);

#endif
