/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CENOTE_RUBY_H
#define CENOTE_RUBY_H

#include <cenote/cenote.h>
#include <ruby.h>

/*
 * The extension for lib/cenote.rb. connection.c, statement.c and result.c have one class each,
 * value.c converts values, error.c makes exceptions, and event.c keeps notices and notifications
 * until Ruby may be called.
 *
 * Every connection is non-blocking. Waiting uses Ruby's rb_io_wait(): it lets other threads run,
 * works with a fiber scheduler, and can be interrupted.
 */

/* A notice or notification that came during a call into libcenote, when Ruby's blocks must
 * not run. */
struct rbc_event {
	struct rbc_event *next;
	char *texts[3]; /* severity, SQLSTATE, message; or channel, payload */
	uint32_t pid; /* for a notification */
	int is_notification;
};

struct rbc_conn {
	cenote_conn *conn;
	VALUE io; /* IO object for the descriptor to wait for; nil: there is none yet */
	int io_fd;
	VALUE on_notice, on_notification; /* blocks, or nil */
	/* the result of an open copy, whose end destroys it; nil: there is none */
	VALUE copy;
	struct rbc_event *events, **events_end;
	struct rbc_event *kept, **kept_end; /* notifications for wait_for_notify() */
	int keeps; /* notifications are kept, and the block does not get them */
	int is_in_call; /* a fiber or thread waits within a call */
	size_t n_delivered; /* events that blocks got after the last call */
};

extern VALUE rbc_mCenote, rbc_cConnection, rbc_cStatement, rbc_cResult;
extern const rb_data_type_t rbc_conn_type;

struct rbc_conn *rbc_conn_get(VALUE self);

/* Make a call into libcenote, and repeat it while it returns CENOTE_AGAIN. Returns its status. An
 * interrupt raises an exception, and the session is closed. */
typedef int (*rbc_call)(void *arg);
int rbc_run(VALUE connection, rbc_call call, void *arg);
/* The same, but a negative status raises an exception. */
int rbc_run_or_raise(VALUE connection, rbc_call call, void *arg);
/* Raise an exception if a call on the connection is waiting: objects of that call must not be
 * destroyed. */
void rbc_refuse_in_call(VALUE connection);
/* A copy of the string, which no other thread can change while such a call waits. */
VALUE rbc_steady(VALUE string);

/* Ruby calls this when it loads the extension. */
__attribute__((visibility("default"))) void Init_cenote_ext(void);

/* error.c */
void rbc_error_init(void);
_Noreturn void rbc_raise(int status, const cenote_diag *diag);
_Noreturn void rbc_raise_text(int status, const char *sqlstate, const char *message);
void rbc_check(const struct rbc_conn *c, int status);

/* event.c */
void rbc_event_listen(struct rbc_conn *c);
/* Pass the events that have arrived to the blocks. Returns the number of events. */
size_t rbc_event_deliver(struct rbc_conn *c);
/* Take the first notification that no block got: channel, process, payload; nil: there is none. */
VALUE rbc_event_take(struct rbc_conn *c);
void rbc_event_drop(struct rbc_conn *c);

/* value.c */
void rbc_value_init(void);
/* Make a list from the values of an array. Returns the object that keeps the list alive. */
VALUE rbc_params_new(VALUE array, const cenote_params **ret_params);
/* The type of a column as a symbol (:int64, :text, ...). */
VALUE rbc_type_symbol(int type);
/* A value as a Ruby object, or as its text. */
VALUE rbc_value_get(const cenote_result *res, uint64_t row, uint32_t col, int type);
VALUE rbc_text_get(const cenote_result *res, uint64_t row, uint32_t col, int type);
VALUE rbc_text_new(const char *text, size_t len, int type);
/* Are values of the type strings? The second function: does making them run Ruby code? */
int rbc_value_is_text(int type);
int rbc_value_calls_ruby(int type);

/* The options for an execution: whole results, or `batch` (not nil) rows at a time. */
cenote_exec_options rbc_options(VALUE batch);
/* Make an array of the results of an execution. `res` is the first one, and belongs to this function. */
VALUE rbc_results(
	VALUE connection, cenote_result *res, const cenote_exec_options *options);

/* statement.c, result.c */
void rbc_statement_init(void);
void rbc_result_init(void);
VALUE rbc_result_new(VALUE connection, cenote_result *res);
/* Raise the error of a result of kind CENOTE_RESULT_ERROR. */
void rbc_result_check(VALUE self);
/* Read the next batch of a streamed result. */
int rbc_result_next_batch(VALUE self);

#endif
