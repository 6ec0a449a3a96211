/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CER_H
#define CER_H

#include <erl_nif.h>

#include <cenote/cenote.h>
#include <stdatomic.h>

/*
 * The NIF behind src/cenote.erl: nif.c has what Erlang calls, conn.c a connection's life and who may
 * use it, watch.c its descriptor, request.c requests and their results, simple.c requests without
 * rows and facts, params.c and value.c turn values into libcenote's and back, error.c makes terms of
 * errors, event.c messages of what the server says of its own accord.
 *
 * Every connection is non-blocking to libcenote, so a call never waits: it says `again`, and the
 * process waits in a receive for what enif_select() sends it. Only what may look up a host's name, or
 * computes for TLS, takes longer; such connections are moved to a dirty I/O scheduler.
 */

/* What was made of a connection, and is to be destroyed when nobody is in a call of it. */
struct cer_part {
	struct cer_part *next;
	cenote_stmt *stmt; /* one of these two is not NULL, until it is destroyed */
	cenote_result *res;
	int has_batch; /* of a cursor: rows that were not handed out yet */
	int is_done; /* of a cursor: there are no more */
};

/* A term of Erlang's for a part: statements and cursors. */
struct cer_handle {
	struct cer_conn *conn;
	struct cer_part *part;
};

/* Gives 0 for a value that is none of its column's type. */
typedef int cer_decode(ErlNifEnv *env, const char *text, size_t len, ERL_NIF_TERM *ret);

/* The result whose rows are being given, some at a time. */
struct cer_reading {
	cenote_result *res; /* NULL: none */
	int is_owned;
	uint32_t n_columns;
	uint32_t cap_columns;
	cer_decode **decode;
	ERL_NIF_TERM *cells;
};

enum cer_life {
	CER_ALIVE,
	CER_DOOMED, /* its owner died or closed it: whoever has the lock next gives the session back */
	CER_CLOSED
};

struct cer_conn {
	cenote_conn *conn;
	ErlNifMutex *lock; /* for a call; nobody but the owner waits for it */
	ErlNifPid owner;
	ErlNifMonitor monitor;
	atomic_int life; /* enum cer_life */
	_Atomic(struct cer_part *) dead;
	ErlNifEnv *env; /* of the call that has the lock */

	cenote_params *params;
	struct cer_reading reading;
	cenote_result *copy; /* the copy that goes on, or NULL */
	int is_streamed; /* the request that was sent last */
	int is_text;
	int is_remote; /* calls may take long */
	int is_waiting; /* the last call said again */
	int timeout_ms; /* for each call of cenote.erl; -1 for ever */

	struct cer_watch *watch; /* NULL: nothing was waited for yet */

	ErlNifPid listener,
		async; /* if has_async: the process that listens, and for whom */
	int has_async;
	atomic_int wants_listen; /* the listener is to be told when something comes */

	ErlNifMutex *cancel_lock;
	cenote_cancel *cancel; /* under cancel_lock; NULL: never connected */
};

struct cer_atoms {
	ERL_NIF_TERM again, done, error, failed, false_, infinity, minus_infinity, nan,
		null, ok, rows, true_, undefined;
	ERL_NIF_TERM types[CENOTE_TYPE_OTHER + 1];
};

extern struct cer_atoms cer_atom;

/* A new version of the module takes over what the old one has made. */
#define CER_RESOURCE_FLAGS (ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER)

/* ------------------------------------------------------------------------ conn.c ----- */

int cer_conn_load(ErlNifEnv *env);
/* A new one, owned by the process that calls; a term, or an exception. */
ERL_NIF_TERM cer_conn_new(ErlNifEnv *env);
struct cer_conn *cer_conn_get(ErlNifEnv *env, ERL_NIF_TERM term);
ERL_NIF_TERM cer_conn_term(ErlNifEnv *env, struct cer_conn *c);

/* Begin a call of the owner's: 0; or -1 and an error term, and the lock is not held. */
int cer_enter(ErlNifEnv *env, struct cer_conn *c, ERL_NIF_TERM *ret_error);
void cer_leave(ErlNifEnv *env, struct cer_conn *c);
/* Do what had to wait for the lock, unless somebody has it, who then does it. */
void cer_tidy(ErlNifEnv *env, struct cer_conn *c);
/* Give the session back, now or when the call ends that goes on. */
void cer_doom(ErlNifEnv *env, struct cer_conn *c);
/* Give it to another process. Within a call. */
int cer_conn_set_owner(struct cer_conn *c, const ErlNifPid *pid);

/* A term for a statement or a result, either of which it takes over, also when it fails. */
ERL_NIF_TERM cer_handle_new(struct cer_conn *c, cenote_stmt *stmt, cenote_result *res);
/* The part that a term of this connection's stands for; NULL if it is none. */
struct cer_part *cer_handle_part(struct cer_conn *c, ERL_NIF_TERM term);
struct cer_handle *cer_handle_get(ErlNifEnv *env, ERL_NIF_TERM term);
void cer_part_destroy(struct cer_conn *c, struct cer_part *part);

/* ----------------------------------------------------------------------- watch.c ----- */

int cer_watch_load(ErlNifEnv *env);
/* Let `pid` be sent {select, _, ref, _} when libcenote can go on: so many messages at most, if it is not
 * unwatched before. Milliseconds after which it is to be called again anyway; -1 for never. */
int cer_watch(
	struct cer_conn *c, const ErlNifPid *pid, ERL_NIF_TERM ref, int *ret_n_messages);
void cer_unwatch(struct cer_conn *c, ERL_NIF_TERM ref);
/* Forget the descriptor, which then is no longer kept open. */
void cer_watch_end(ErlNifEnv *env, struct cer_conn *c);

/* --------------------------------------------------------------------- request.c ----- */

/* What cenote_nif:talk/3 can do, by name. */
struct cer_op {
	const char *name;
	int arity;
	ERL_NIF_TERM (*run)(struct cer_conn *c, const ERL_NIF_TERM *args);
	ERL_NIF_TERM atom;
};

extern struct cer_op cer_request_ops[], cer_simple_ops[];

ERL_NIF_TERM cer_rows(struct cer_conn *c, uint64_t left, ERL_NIF_TERM rows);
void cer_reading_end(struct cer_conn *c);
/* ok, again, done, or {error, _}. */
ERL_NIF_TERM cer_status(struct cer_conn *c, int status);

/* ---------------------------------------------------------------------- params.c ----- */

/* Fill c->params: 0; or -1 and a term to return. */
int cer_params_fill(struct cer_conn *c, ERL_NIF_TERM list, const cenote_stmt *stmt,
	ERL_NIF_TERM *ret_error);
/* A text with a zero byte behind it, which lives as long as the environment; NULL if it is none, or has one in it. */
const char *cer_text(ErlNifEnv *env, ERL_NIF_TERM term);

/* ----------------------------------------------------------------------- value.c ----- */

cer_decode *cer_decoder(int type);
ERL_NIF_TERM cer_binary(ErlNifEnv *env, const char *text, size_t len);
ERL_NIF_TERM cer_binary_of(ErlNifEnv *env, const char *text);
ERL_NIF_TERM cer_columns(ErlNifEnv *env, uint32_t n,
	const cenote_column *(*get)(const void *of, uint32_t col), const void *of);
ERL_NIF_TERM cer_type_atom(int type);

/* ----------------------------------------------------------------------- error.c ----- */

ERL_NIF_TERM cer_diag(ErlNifEnv *env, int status, const cenote_diag *diag);
ERL_NIF_TERM cer_error(ErlNifEnv *env, int status, const cenote_diag *diag);
ERL_NIF_TERM cer_error_text(
	ErlNifEnv *env, int status, const char *sqlstate, const char *message);

/* ----------------------------------------------------------------------- event.c ----- */

void cer_event_begin(
	struct cer_conn *c, const ErlNifPid *listener, const ErlNifPid *async);
/* Take what the server said, and ask to be told of more. Within the lock. */
void cer_event_listen(ErlNifEnv *env, struct cer_conn *c);
void cer_event_end(ErlNifEnv *env, struct cer_conn *c);

#endif
