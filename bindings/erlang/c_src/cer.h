/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CER_H
#define CER_H

#include <erl_nif.h>

#include <cenote/cenote.h>
#include <stdatomic.h>

/*
 * The NIF for src/cenote.erl. nif.c has the functions that Erlang calls. conn.c makes and closes
 * connections, and decides who may use them; watch.c waits for the descriptor. request.c has
 * requests and results, simple.c has requests without rows, and facts. params.c and value.c convert
 * values, error.c makes terms of errors, and event.c makes messages of notices and notifications.
 *
 * Every connection is non-blocking, so a call never waits. It returns `again`, and the process
 * waits in a receive for the message of enif_select(). Two things take longer: looking up a host
 * name, and computing for TLS. Such connections move to a dirty I/O scheduler.
 */

/* A part of a connection. It is destroyed when no process is in a call that uses it. */
struct cer_part {
	struct cer_part *next;
	/* until the part is destroyed, either this or `res` is not NULL */
	cenote_stmt *stmt;
	cenote_result *res;
	int has_batch; /* for a cursor: there are rows that Erlang does not have yet */
	int is_done; /* for a cursor: there are no more rows */
};

/* The Erlang term for a part: a statement or a cursor. */
struct cer_handle {
	struct cer_conn *conn;
	struct cer_part *part;
};

/* Returns 0 if the text does not have the form of the column's type. */
typedef int cer_decode(ErlNifEnv *env, const char *text, size_t len, ERL_NIF_TERM *ret);

/* The result whose rows go to Erlang, some at a time. */
struct cer_reading {
	cenote_result *res; /* NULL: no result is being read */
	int is_owned;
	uint32_t n_columns;
	uint32_t cap_columns;
	cer_decode **decode;
	ERL_NIF_TERM *cells;
};

enum cer_life {
	CER_ALIVE,
	/* the owner died or closed the connection; the next holder of the lock gives the session back */
	CER_DOOMED,
	CER_CLOSED
};

struct cer_conn {
	cenote_conn *conn;
	ErlNifMutex *lock; /* held during each call; only the owner waits for it */
	ErlNifPid owner;
	ErlNifMonitor monitor;
	atomic_int life; /* enum cer_life */
	_Atomic(struct cer_part *) dead;
	ErlNifEnv *env; /* environment of the call that has the lock */

	cenote_params *params;
	struct cer_reading reading;
	cenote_result *copy; /* the open copy, or NULL */
	int is_streamed; /* the last request gives its rows as a stream */
	int is_text;
	int is_remote; /* a call may take long */
	int is_waiting; /* the last call returned `again` */
	int timeout_ms; /* for each call of cenote.erl; -1: for ever */

	struct cer_watch *watch; /* NULL: the connection has not waited yet */

	ErlNifPid listener,
		/* if has_async: the listening process, and the process that gets the messages */
		async;
	int has_async;
	atomic_int wants_listen; /* the listener wants a message when something arrives */

	ErlNifMutex *cancel_lock;
	cenote_cancel *cancel; /* under cancel_lock; NULL: it was never connected */
};

struct cer_atoms {
	ERL_NIF_TERM again, done, error, failed, false_, infinity, minus_infinity, nan,
		null, ok, rows, true_, undefined;
	ERL_NIF_TERM types[CENOTE_TYPE_OTHER + 1];
};

extern struct cer_atoms cer_atom;

/* A new version of the module takes over the resources of the old one. */
#define CER_RESOURCE_FLAGS (ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER)

/* ------------------------------------------------------------------------ conn.c ----- */

int cer_conn_load(ErlNifEnv *env);
/* Make a connection that the calling process owns. Returns a term, or an exception. */
ERL_NIF_TERM cer_conn_new(ErlNifEnv *env);
struct cer_conn *cer_conn_get(ErlNifEnv *env, ERL_NIF_TERM term);
ERL_NIF_TERM cer_conn_term(ErlNifEnv *env, struct cer_conn *c);

/* Begin a call of the owner. 0; or -1 and an error term, without the lock. */
int cer_enter(ErlNifEnv *env, struct cer_conn *c, ERL_NIF_TERM *ret_error);
void cer_leave(ErlNifEnv *env, struct cer_conn *c);
/* Do the work that waits for the lock. If another call has the lock, that call will do the work. */
void cer_tidy(ErlNifEnv *env, struct cer_conn *c);
/* Give back the session, now or at the end of the running call. */
void cer_doom(ErlNifEnv *env, struct cer_conn *c);
/* Change the owner. Call this only within a call. */
int cer_conn_set_owner(struct cer_conn *c, const ErlNifPid *pid);

/* Make a term for a statement or a result. The term owns it afterwards. */
ERL_NIF_TERM cer_handle_new(struct cer_conn *c, cenote_stmt *stmt, cenote_result *res);
/* The part for a term of this connection; NULL: the term is not a part of it. */
struct cer_part *cer_handle_part(struct cer_conn *c, ERL_NIF_TERM term);
struct cer_handle *cer_handle_get(ErlNifEnv *env, ERL_NIF_TERM term);
void cer_part_destroy(struct cer_conn *c, struct cer_part *part);

/* ----------------------------------------------------------------------- watch.c ----- */

int cer_watch_load(ErlNifEnv *env);
/*
 * `pid` gets {select, _, ref, _} when libcenote can continue, but at most *ret_n_messages times
 * until the next cer_watch(). Returns the milliseconds after which the process must call again in
 * any case; -1: never.
 */
int cer_watch(
	struct cer_conn *c, const ErlNifPid *pid, ERL_NIF_TERM ref, int *ret_n_messages);
void cer_unwatch(struct cer_conn *c, ERL_NIF_TERM ref);
/* Forget the descriptor and close it. */
void cer_watch_end(ErlNifEnv *env, struct cer_conn *c);

/* --------------------------------------------------------------------- request.c ----- */

/* An operation of cenote_nif:talk/3, by its name. */
struct cer_op {
	const char *name;
	int arity;
	/* One of these is not NULL. All but `run` are calls of libcenote, for cer_run_simple(). */
	ERL_NIF_TERM (*run)(struct cer_conn *c, const ERL_NIF_TERM *args);
	int (*plain)(cenote_conn *conn);
	int (*named)(cenote_conn *conn, const char *name);
	const char *(*fact)(const cenote_conn *conn, const char *name);
	ERL_NIF_TERM atom;
};

extern struct cer_op cer_request_ops[], cer_simple_ops[];
ERL_NIF_TERM cer_run_simple(
	struct cer_conn *c, const struct cer_op *op, const ERL_NIF_TERM *args);

ERL_NIF_TERM cer_rows(struct cer_conn *c, uint64_t left, ERL_NIF_TERM rows);
void cer_reading_end(struct cer_conn *c);
/* Returns ok, again, done or {error, _}. */
ERL_NIF_TERM cer_status(struct cer_conn *c, int status);

/* ---------------------------------------------------------------------- params.c ----- */

/* Fill c->params. 0; or -1 and a term to return. */
int cer_params_fill(struct cer_conn *c, ERL_NIF_TERM list, const cenote_stmt *stmt,
	ERL_NIF_TERM *ret_error);
/* A text with a zero byte at the end. It lives as long as the environment. NULL: the term is not a
 * text, or contains a zero byte. */
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
/* Read the messages that have arrived, and ask for a message about more. The caller holds the lock. */
void cer_event_listen(ErlNifEnv *env, struct cer_conn *c);
void cer_event_end(ErlNifEnv *env, struct cer_conn *c);

#endif
