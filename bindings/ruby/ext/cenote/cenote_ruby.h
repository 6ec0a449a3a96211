/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CENOTE_RUBY_H
#define CENOTE_RUBY_H

#include <cenote/cenote.h>
#include <ruby.h>

/*
 * The extension behind lib/cenote.rb: connection.c, statement.c and result.c have a class each,
 * value.c turns values into Ruby's and back, error.c makes exceptions, event.c keeps what the
 * server says of its own accord until Ruby may be called.
 *
 * Every connection is non-blocking to libcenote. Waiting is Ruby's own (rb_io_wait()): it lets other
 * threads run, asks a fiber scheduler, and can be interrupted.
 */

/* What the server said while a call into libcenote ran, where Ruby's blocks must not be called. */
struct rbc_event {
	struct rbc_event *next;
	char *texts[3]; /* severity, SQLSTATE, message; or channel, payload */
	uint32_t pid; /* of a notification */
	int is_notification;
};

struct rbc_conn {
	cenote_conn *conn;
	VALUE io; /* of the descriptor to wait for; nil: none yet */
	int io_fd;
	VALUE on_notice, on_notification; /* blocks, or nil */
	VALUE copy; /* the result of an open copy: destroying it ends the copy; nil: none is open */
	struct rbc_event *events, **events_end;
	struct rbc_event *kept,
		**kept_end; /* notifications that wait for wait_for_notify() */
	int keeps; /* notifications are kept, and not given to the block */
	int is_in_call; /* a fiber or thread waits within a call */
	size_t n_delivered; /* events, behind the last call */
};

extern VALUE rbc_mCenote, rbc_cConnection, rbc_cStatement, rbc_cResult;
extern const rb_data_type_t rbc_conn_type;

struct rbc_conn *rbc_conn_get(VALUE self);

/* A call into libcenote that may have to wait; it is repeated as long as it says CENOTE_AGAIN.
 * Gives its status. Raises what interrupts it, and then the session is given up. */
typedef int (*rbc_call)(void *arg);
int rbc_run(VALUE connection, rbc_call call, void *arg);
/* The same, and raises where the status is negative. */
int rbc_run_or_raise(VALUE connection, rbc_call call, void *arg);
/* Raise if a call of the connection's waits: what that call uses must not be destroyed meanwhile. */
void rbc_refuse_in_call(VALUE connection);
/* A copy of the string, which another thread cannot change while such a call waits. */
VALUE rbc_steady(VALUE string);

/* What Ruby calls when it loads the extension. */
__attribute__((visibility("default"))) void Init_cenote_ext(void);

/* error.c */
void rbc_error_init(void);
_Noreturn void rbc_raise(int status, const cenote_diag *diag);
_Noreturn void rbc_raise_text(int status, const char *sqlstate, const char *message);
void rbc_check(const struct rbc_conn *c, int status);

/* event.c */
void rbc_event_listen(struct rbc_conn *c);
/* Gives the blocks what has come; how much that was. */
size_t rbc_event_deliver(struct rbc_conn *c);
/* The first notification that no block got: channel, process, payload; nil: there is none. */
VALUE rbc_event_take(struct rbc_conn *c);
void rbc_event_drop(struct rbc_conn *c);

/* value.c */
void rbc_value_init(void);
/* A list of the values of an array; the object that keeps it alive is what is returned. */
VALUE rbc_params_new(VALUE array, const cenote_params **ret_params);
/* The type of a column as a symbol (:int64, :text, …). */
VALUE rbc_type_symbol(int type);
/* A value as Ruby's own, or as the text that it came as. */
VALUE rbc_value_get(const cenote_result *res, uint64_t row, uint32_t col, int type);
VALUE rbc_text_get(const cenote_result *res, uint64_t row, uint32_t col, int type);
VALUE rbc_text_new(const char *text, size_t len, int type);
/* Whether values of a type are Ruby's strings; whether Ruby code runs where they are made. */
int rbc_value_is_text(int type);
int rbc_value_calls_ruby(int type);

/* How statements are executed: whole results, or `batch` (not nil) rows at a time. */
cenote_exec_options rbc_options(VALUE batch);
/* An array of the results of an execution whose first is `res`, which is taken. */
VALUE rbc_results(
	VALUE connection, cenote_result *res, const cenote_exec_options *options);

/* statement.c, result.c */
void rbc_statement_init(void);
void rbc_result_init(void);
VALUE rbc_result_new(VALUE connection, cenote_result *res);
/* Raises what a result of kind CENOTE_RESULT_ERROR holds. */
void rbc_result_check(VALUE self);
/* Read the next batch of a streamed result. */
int rbc_result_next_batch(VALUE self);

#endif
