/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SERVING_H
#define CND_SERVING_H

#include <stdbool.h>

#include "../backends/backend.h"
#include "core/mem.h"
#include "protocol/session_server.h"
#include "statements.h"

/*
 * What serves the requests of one client on one session of a backend. It has two owners: a worker of cenoted, and a
 * client to which a worker has lent the session (tools/cenoted/borrower). So this folder knows no process, socket,
 * clock or configuration, and asks its owner for them.
 */

struct cnd_serving;

struct cnd_serving_ops {
	/* Send all that is queued, and wait for a slow reader. CENOTE_OK, or CENOTE_ERR_CONN: the client has gone. */
	int (*flush)(struct cnd_serving *s);
	/* Wait for more of the client's copy, and receive it. CENOTE_OK: look again. CENOTE_AGAIN: the server has sent
	 * something (`server_fd` -1: do not look). Negative: as from cnd_host.interrupted(), and s->diag says why. */
	int (*await_piece)(struct cnd_serving *s, int server_fd);
	/* A large copy is on its way to the client. */
	void (*long_result)(struct cnd_serving *s);

	/* A request is about to run. NULL: work between two requests, which the server asked for. */
	void (*begin)(struct cnd_serving *s, const struct cnp_request *req);
	/* A request that has a number is done. */
	void (*end)(struct cnd_serving *s, const struct cnp_request *req);
	/* Whether the client may send this statement. sql->p NULL: it calls a function by its number. Negative: it may not,
	 * and s->diag says why. *sql becomes the text for the server, which does no more than the client's text. Only if
	 * s->has_rules. */
	int (*judge)(struct cnd_serving *s, struct cnp_str *sql);
	/* Whether the client may send this statement, unchanged, while an earlier request of its unit runs, and a router's session need not
	 * change its target for it. Empty: the request has no text. passed(): the backend has taken it. Only if
	 * s->has_rules. */
	bool (*passes)(struct cnd_serving *s, struct cnp_str sql);
	void (*passed)(struct cnd_serving *s);
	/* The running request may take this long, at most. Only if s->has_rules. */
	void (*limit_time)(struct cnd_serving *s, const struct cnd_limit *limit);
	/* The client is about to get the error in s->diag: change it if the pool says so. NULL: errors stay as they are. */
	void (*retell)(struct cnd_serving *s);
	/* Whether a statement may run a second time, as its text shows. Only if replay.max > 0. */
	bool (*may_replay)(struct cnd_serving *s, struct cnp_str sql);
	/* A request has failed. */
	void (*failed)(struct cnd_serving *s);
	/* The session was lost in this; s->diag says why. */
	void (*lost)(struct cnd_serving *s, const char *in);
	/* Whether the session is of no use any more after this failure, so that its client should go on with another one.
	 * `status`: CENOTE_ERR_CONN: the session is lost; CENOTE_ERR_SERVER: the server has refused a write. NULL: never. */
	bool (*may_move)(struct cnd_serving *s, int status);
	/* s->held is new. `is_held`: it surely holds the session. */
	void (*publish)(struct cnd_serving *s, bool is_held);

	/* The facts of the session, as the backend gives them now. */
	const struct cnd_info *(*info)(struct cnd_serving *s);
	/* The server has changed a parameter, and s->parameters has it. */
	void (*parameter_changed)(struct cnd_serving *s);
	/* The session's facts may be other ones until its reset: its user, database or options. `is_new`: they are other ones. */
	void (*facts_changed)(struct cnd_serving *s, bool is_new);

	/* The client asked for a reset, and only a new login makes the session fresh. s->parameters is empty afterwards.
	 * Negative: the session is lost. */
	int (*log_in_again)(struct cnd_serving *s);
	/* The client asked for a reset, and the session is like a new login: run what the pool runs at the start of each session.
	 * Negative: the session cannot be used. NULL: there is nothing to run. */
	int (*start)(struct cnd_serving *s);
	/* Suspend the session: queue SUSPENDED and set s->is_suspending. Negative: s->diag says why not. */
	int (*suspend)(struct cnd_serving *s, const struct cnp_suspend *m);

	/* Only if s->cached is not NULL: append to the key of a result what decides, besides the client's own settings, what a
	 * statement means. Negative: the client must not get results of others. */
	int (*identify)(struct cnd_serving *s, struct cnc_buf *key);

	/* Only if `tells_writes` or `takes_position`. committed(): what the client may have written is committed, and READY follows: tell the client
	 * the server's position. Negative: as from cnd_backend.position(). set_position(): the client sets the position that it
	 * must see. Negative: s->diag says why. */
	int (*committed)(struct cnd_serving *s);
	int (*set_position)(struct cnd_serving *s, struct cnp_str text);
};

/* request.c: the running request. */
struct cnd_serving_request {
	struct cnc_arena arena; /* emptied after each request */
	bool is_sync; /* a synchronisation point follows */
};

/* The client's answer to a statement without rows. replay.c copies it as bytes. */
struct cnd_serving_answer {
	int64_t affected;
	uint64_t last_insert_id;
	/* how many results there were; the other members are those of the last one */
	uint32_t n;
	char tag[36]; /* the first bytes of the command tag */
};

/* sink.c: the reply under way. */
struct cnd_serving_result {
	struct cnc_batch batch;
	uint32_t n_columns;
	uint64_t max_rows; /* most rows of each result; UINT64_MAX: no bound */
	uint64_t rows_left; /* rows until max_rows */
	uint32_t batch_rows; /* stop after so many rows; 0: do not stop */
	uint32_t batch_left; /* rows until batch_rows */
	bool is_in_rows; /* a ROWS frame is open */
	bool is_quiet; /* a set-up request: it gets a reply only if it fails */
	bool is_describing; /* no rows follow columns() */
	bool is_done; /* done() was called for the last result */
	uint8_t done_flags; /* flags of the last done() */
	bool has_columns; /* the result that is under way has rows */
	uint64_t n_rows; /* rows that the request returned or changed */
	bool is_limited; /* limits.c: `limits` has a limit */
	size_t last_row; /* where the last row of the batch ends */
	struct cnd_limits limits;
	struct cnd_limited limited;
	/* only if replay.max > 0 */
	struct cnd_serving_answer answer;
	bool has_shown; /* the client has also got columns, a copy, a notice or a parameter */
};

/* limits.c: the limits of the client's statements. */
struct cnd_serving_limited {
	struct cnd_limits all; /* of every later request */
	struct cnd_limits others; /* of statements whose name is not in the list */
	struct cnd_limits_name **names; /* NULL: there is no list */
	size_t n;
};

/* replay.c: the open transaction, so that it can run again. */
struct cnd_serving_replay {
	/* how often a transaction may run again; 0: never. The owner sets it. */
	uint32_t max;
	bool is_odd; /* the client has set something for the next transaction only */
	bool has_pieces; /* the request may need pieces of a long value, which cannot be used twice */
	bool is_unsafe; /* the server gets another text than the client sent, which may not run again */
	bool is_running; /* a request of the transaction runs again */
	bool is_recording; /* `steps` has the whole transaction */
	uint32_t n; /* requests in `steps` */
	struct cnc_buf steps;
	size_t failed_at; /* where in `steps` the last run ended; the end, if it was complete */
};

/* named_texts.c: the texts of statements that have names at the server. */
struct cnd_serving_texts {
	struct cnd_named_text *first; /* the newest */
	size_t n_bytes;
};

/* ahead.c: requests that the backend has before their turn. */
struct cnd_serving_ahead {
	uint32_t n; /* requests that the backend has and that are not yet answered */
	/* the number of the last of these requests; if there is none, of the running request */
	uint32_t last;
};

/* loss.c: what may be committed if the session is lost now. */
struct cnd_serving_loss {
	bool may_have_committed; /* a request since the last synchronisation point */
	bool ahead_may_commit; /* a request that the backend has before its turn */
};

/* request.c, and a worker's settle(): what the session held after the last request. */
struct cnd_serving_held {
	uint8_t tx; /* enum cenote_tx */
	uint32_t pins; /* bits of enum cenote_pin */
	/* the client knows this state: nothing has come since the last READY */
	bool is_ready;
	bool is_manual; /* the client has switched autocommit off */
	bool is_over; /* the backend resets the session already, so the client must not use it again */
	/* only if tells_writes: it may have written, and does not know the server's position since then */
	bool has_written;
	uint32_t settled_at; /* n_served at the last settle() */
};

/* read_only.c: what may have happened to the transaction. */
struct cnd_serving_read_only {
	bool is_in_unit; /* a request has run since the last synchronization point */
	bool has_ended; /* after that request, another one may have ended a transaction */
	/* of the running request; judge() sets these */
	bool may_end; /* it may end a transaction */
	bool is_plain; /* it only reads */
};

struct cnd_serving {
	/* the owner sets these */
	const struct cnd_serving_ops *ops;
	void *owner;
	const struct cnd_backend *backend;
	struct cnd_session *session; /* NULL: logged out */
	struct cnd_host host; /* what the backend calls */
	struct cnp_server *server; /* the pool's end of the protocol */
	const char *pool; /* its name */
	uint64_t max_row; /* the longest row, in bytes */
	bool has_query_timeout; /* each request has a time limit of its own */
	bool takes_position; /* set_position() takes the client's position */
	bool tells_writes; /* the client learns the server's position after a write */
	bool has_rules; /* ask ops->judge() before each statement */
	bool is_read_only; /* no transaction may write */

	/* both set these */
	struct cnc_buf
		parameters; /* what the client knows of the session, encoded for ATTACHED */
	bool is_lost; /* the server ended the session */
	bool is_gone; /* the client has gone, and needs no answer */
	bool is_suspending; /* the session waits for its RESUME next */
	int stopped; /* what host.interrupted() returns for the rest of the request; 0: go on */
	uint32_t n_served; /* requests since the client attached */
	/* The process id of the session. If it is not 0, the client changes sessions while it listens, so the ids of other
	 * senders may be those of its own sessions: it gets 0 in their place. */
	uint32_t own_pid;

	struct cnd_sink sink; /* where the backend writes its answers, in sink.c */
	struct cnc_diag diag; /* of the running request */
	struct cnd_statements statements; /* statements and portals, in statements.c */
	struct cnd_serving_request request;
	struct cnd_serving_result result;
	struct cnd_serving_ahead ahead;
	struct cnd_serving_loss loss;
	struct cnd_serving_held held;
	struct cnd_serving_limited limited;
	struct cnd_serving_read_only read_only;
	struct cnd_serving_replay replay;
	struct cnd_cached *
		cached; /* the pool's cache (cached.h); NULL: the pool keeps no results */
	struct cnd_serving_texts texts;
};

/* Most bytes of a transaction that is kept to run again. */
#define CND_REPLAY_BYTES_MAX  ((size_t)256 * 1024)
/* Most bytes of the parameters that a server reports, encoded. */
#define CND_PARAMETERS_MAX    16384u
/* The message for a request or a login that took too long, with the configuration key of the limit. */
#define CND_TEXT_LIMIT_PASSED "canceled: the pool's %s passed"

/* request.c */
/* After the owner has set its members. */
void cnd_serving_init(struct cnd_serving *s);
/* Free the memory. The session and the statements are no more. */
void cnd_serving_finish(struct cnd_serving *s);
/* Run a request and queue its last reply. Negative: part with the client. */
int cnd_request_run(struct cnd_serving *s, const struct cnp_request *req);
/* A new client: it holds nothing and has no statements. */
void cnd_request_forget_client(struct cnd_serving *s);
/* The server sent something while no request runs. Negative: part with the client. */
int cnd_request_idle(struct cnd_serving *s);
/* The session was lost between requests; s->diag says why. Always returns CENOTE_ERR_CONN. */
int cnd_request_lose_idle(struct cnd_serving *s);
/* What the session holds: the backend's answer, and the pieces of long values. */
void cnd_request_state(const struct cnd_serving *s, struct cnd_state *ret_state);
/* Whether settle() may free the session: the server has not been asked since the last request, and can tell. */
bool cnd_request_may_settle(const struct cnd_serving *s);
/* Ask the server what the session holds, and publish the answer. It stays valid until another request runs. Negative: part
 * with the client. */
int cnd_request_settle(struct cnd_serving *s);
/* Find out what the session holds, and publish it. */
void cnd_request_take_state(struct cnd_serving *s, struct cnd_state *ret_state);

/* For replay.c: run a request without telling the client that it is done. Negative: it has failed, and s->diag says why. */
int cnd_request_handle(struct cnd_serving *s, const struct cnp_msg *m);
/* For replay.c: forget the answer to the last request. */
void cnd_request_begin_answer(struct cnd_serving *s);
/* The text of a statement; empty: not known. */
struct cnp_str cnd_request_text(
	const struct cnd_serving *s, const struct cnd_named *which);
/* Decode the types of a PREPARE into the arena. */
int cnd_request_set_types(
	struct cnd_serving *s, struct cnd_prepare *prepare, struct cnp_str types);

/* attach.c */
/* Begin with a client: its carry and its options. Negative: s->diag says why. */
int cnd_serving_attach(struct cnd_serving *s, const struct cnp_attach *m);

/* move.c */
/*
 * A request failed with `status`, and s->diag says why. If it surely had no effect, another session may carry it out: queue
 * YIELD in place of its answer. CENOTE_DONE: that was done; part with the client. Otherwise the status to report, which may
 * differ from `status`.
 */
int cnd_move_request(struct cnd_serving *s, const struct cnp_request *req, int status);

/* ahead.c */
/* The request is about to run. Give it to the backend at once, together with the requests of its unit
 * that have arrived after it. Sets s->ahead.n to the number that the backend took. */
void cnd_ahead_give(struct cnd_serving *s, const struct cnp_request *req);
/* Answer the next request that the backend took. Returns the same as a handler of request.c. */
int cnd_ahead_answer(struct cnd_serving *s, const struct cnp_request *req);

/* replay.c */
/* A request has failed with `status`: run its transaction again if the pool allows it and the client cannot tell. Returns the
 * status to report; s->diag has the error. */
int cnd_replay_request(struct cnd_serving *s, const struct cnp_request *req, int status);
/* A request is done: keep it if its transaction may run again. before: enum cenote_tx before the request. status: what its
 * handler returned. */
void cnd_replay_note(
	struct cnd_serving *s, const struct cnp_request *req, uint8_t before, int status);
/* The server gets this text in place of the client's. */
void cnd_replay_changed(struct cnd_serving *s, struct cnp_str sql);
/* The client has gone. */
void cnd_replay_forget(struct cnd_serving *s);

/* named_texts.c */
/* A request has prepared this text under this name. Without `replay`, nothing is kept. */
void cnd_named_text_keep(struct cnd_serving *s, struct cnp_str name, struct cnp_str sql);
/* The statement of this name has ended. */
void cnd_named_text_drop(struct cnd_serving *s, struct cnp_str name);
/* The client has gone. */
void cnd_named_texts_forget(struct cnd_serving *s);
/* The text of the statement, borrowed until one is kept or dropped. Empty: not known. */
struct cnp_str cnd_named_text(const struct cnd_serving *s, struct cnp_str name);
/* Ask the server whether the statement of this name still has that text. CENOTE_ERR_STATE: no, or nobody knows. Another
 * negative value: the question has failed, and s->diag says why. */
int cnd_named_text_holds(struct cnd_serving *s, struct cnp_str name);

/* loss.c */
/* Note what a request may commit before it runs, for the case that the session is lost. */
void cnd_loss_expect(struct cnd_serving *s, const struct cnp_msg *m);
/* Like cnd_loss_expect(), for a request that runs before the earlier ones are answered. */
void cnd_loss_expect_ahead(struct cnd_serving *s, const struct cnp_msg *m);
/* Whether the request may change data, now or when its transaction is committed. */
bool cnd_loss_may_write(const struct cnd_serving *s, const struct cnp_msg *m);
/* Whether a request that failed with `status` surely had no effect; s->diag has its error. */
bool cnd_loss_had_no_effect(
	const struct cnd_serving *s, const struct cnp_request *req, int status);
/* The text of the statement that the request runs. Empty: the text is not known. */
struct cnp_str cnd_loss_text_of(const struct cnd_serving *s, const struct cnp_msg *m);
/* Whether the request only begins a transaction; whether the text only ends one. */
bool cnd_loss_only_begins(const struct cnd_serving *s, const struct cnp_msg *m);
bool cnd_loss_only_ends(struct cnp_str sql);
/* Whether no transaction can be open after the request, which succeeded. `tx`: enum cenote_tx before it. */
bool cnd_loss_left_no_transaction(
	const struct cnd_serving *s, uint8_t tx, const struct cnp_msg *m);
/* Whether the server itself sent this error. */
int cnd_loss_has_words(const struct cnc_diag *diag);
/* Whether the error is the server's, and not cenoted's own: it has a number of the server, or its words. */
bool cnd_loss_is_from_server(const struct cnc_diag *diag);
/* Say in s->diag what the loss of the session means for the running request. */
void cnd_loss_explain(struct cnd_serving *s, const struct cnp_msg *m);

/* limits.c */
/* Lower the limits to those of `by`. */
void cnd_limits_narrow(struct cnd_limits *l, const struct cnd_limits *by);
/* A request begins. */
void cnd_limits_begin(struct cnd_serving *s);
/* The limits of the request are known: begin to count, and limit its time. */
void cnd_limits_start(struct cnd_serving *s);
/* The request executes a prepared statement: its limits are those of the statement, too. */
void cnd_limits_recall(struct cnd_serving *s, const struct cnd_named *which);
/* The request fetches more rows of a portal: go on to count where the last request stopped. */
void cnd_limits_continue(struct cnd_serving *s, const struct cnd_portal *portal);
/* The request has prepared a statement: keep the limits for its executions, and whether it only reads. */
void cnd_limits_keep(struct cnd_serving *s, uint32_t statement, struct cnp_str name);
/* The statement of this name is closed. */
void cnd_limits_forget(struct cnd_serving *s, struct cnp_str name);
void cnd_limits_forget_client(struct cnd_serving *s);
/* Count a row, or a piece of a copy. CENOTE_ERR_SERVER: a limit has passed, and s->diag says which. */
int cnd_limits_count(struct cnd_serving *s, uint64_t bytes);

/* read_only.c */
/* A request begins. */
void cnd_read_only_begin(struct cnd_serving *s);
/* It may begin a transaction. Negative: it must not run, and s->diag says why. */
int cnd_read_only_enter(struct cnd_serving *s);
/* The request ends a transaction, and may begin the next one. Negative: it must not run, and s->diag says why. */
int cnd_read_only_end_transaction(struct cnd_serving *s);
/* A synchronization point has come. */
void cnd_read_only_synced(struct cnd_serving *s);

/* sink.c */
extern const struct cnd_sink_ops cnd_sink_ops;
struct cnd_serving *cnd_sink_serving(struct cnd_sink *sink);
/* The client gets a complete result: copy its row count, insert id and tag to s->result.answer. */
void cnd_sink_take_answer(struct cnd_serving *s, const struct cnp_done *done);
/* Whether the client already has this value. */
int cnd_sink_knows_parameter(
	const struct cnd_serving *s, struct cnp_str name, struct cnp_str value);
/* End the ROWS frame, if one is open. */
int cnd_sink_end_rows(struct cnd_serving *s);
/* Send the queued replies, also whole rows of an open ROWS frame. CENOTE_OK, or negative: part with
 * the client. */
int cnd_sink_flush(struct cnd_serving *s);
/* The request failed in the middle of a result: keep the whole rows. */
void cnd_sink_abort(struct cnd_serving *s);
/* Whether max_row limits the rows that are being written, and not the client's max_frame. */
int cnd_sink_bounds_rows(const struct cnd_serving *s);

/* copy.c */
int cnd_copy_out(struct cnd_sink *sink, const struct cnp_copy_out *m);
int cnd_copy_data(struct cnd_sink *sink, const void *data, size_t len);
int cnd_copy_done(struct cnd_sink *sink);
int cnd_copy_in(struct cnd_sink *sink, const struct cnp_copy_in *m);
int cnd_copy_read(struct cnd_sink *sink, int fd, struct cnp_str *ret_data);

#endif
