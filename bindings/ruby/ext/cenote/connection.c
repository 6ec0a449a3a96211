/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cenote::Connection: connecting, waiting, requests, copies and notifications.
 * lib/cenote/connection.rb uses this class. The state is struct rbc_conn.
 */
#include "cenote_ruby.h"

#include <ruby/encoding.h>
#include <ruby/io.h>

VALUE rbc_mCenote, rbc_cConnection;

/* ------------------------------------------------------------------------ object ----- */

static void
conn_mark(void *data)
{
	struct rbc_conn *c = data;

	rb_gc_mark_movable(c->io);
	rb_gc_mark_movable(c->on_notice);
	rb_gc_mark_movable(c->on_notification);
	rb_gc_mark_movable(c->copy);
}

static void
conn_compact(void *data)
{
	struct rbc_conn *c = data;

	c->io = rb_gc_location(c->io);
	c->on_notice = rb_gc_location(c->on_notice);
	c->on_notification = rb_gc_location(c->on_notification);
	c->copy = rb_gc_location(c->copy);
}

static void
conn_free(void *data)
{
	struct rbc_conn *c = data;

	cenote_conn_destroy(c->conn);
	rbc_event_drop(c);
	xfree(c);
}

static size_t
conn_memsize(const void *data)
{
	return sizeof(struct rbc_conn);
}

const rb_data_type_t rbc_conn_type = {
	.wrap_struct_name = "Cenote::Connection",
	.function = { conn_mark, conn_free, conn_memsize, conn_compact },
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

struct rbc_conn *
rbc_conn_get(VALUE self)
{
	return rb_check_typeddata(self, &rbc_conn_type);
}

static VALUE
conn_allocate(VALUE class)
{
	struct rbc_conn *c;
	VALUE self = TypedData_Make_Struct(class, struct rbc_conn, &rbc_conn_type, c);

	c->io = c->on_notice = c->on_notification = c->copy = Qnil;
	c->io_fd = -1;
	if (cenote_conn_create(NULL, &c->conn) < 0)
		rb_memerror();
	cenote_set_nonblocking(c->conn, 1);
	rbc_event_listen(c);
	return self;
}

/* ----------------------------------------------------------------------- waiting ----- */

/* An IO for the descriptor that libcenote waits for. The IO must not close it. */
static VALUE
io_of(struct rbc_conn *c)
{
	int fd = cenote_fd(c->conn);

	if (NIL_P(c->io) || fd != c->io_fd) {
		VALUE io = rb_funcall(rb_cIO, rb_intern("for_fd"), 1, INT2FIX(fd));

		rb_funcall(io, rb_intern("autoclose="), 1, Qfalse);
		c->io = io;
		c->io_fd = fd;
	}
	return c->io;
}

static void
wait_once(struct rbc_conn *c)
{
	int wants = cenote_wants(c->conn), ms = cenote_wait_ms(c->conn);
	VALUE timeout = ms < 0 ? Qnil : DBL2NUM(ms / 1000.0);
	int events = (wants & CENOTE_WANTS_READ ? RB_WAITFD_IN : 0) |
		     (wants & CENOTE_WANTS_WRITE ? RB_WAITFD_OUT : 0);

	if (cenote_fd(c->conn) < 0 || events == 0)
		rb_funcall(rb_mKernel, rb_intern("sleep"), 1,
			NIL_P(timeout) ? DBL2NUM(0.01) : timeout);
	else
		rb_io_wait(io_of(c), INT2FIX(events), timeout);
}

struct run {
	struct rbc_conn *c;
	rbc_call call;
	void *arg;
	int status;
};

static VALUE
run_until_done(VALUE arg)
{
	struct run *run = (struct run *)arg;

	while ((run->status = run->call(run->arg)) == CENOTE_AGAIN)
		wait_once(run->c);
	return Qnil;
}

void
rbc_refuse_in_call(VALUE connection)
{
	if (rbc_conn_get(connection)->is_in_call)
		rbc_raise_text(CENOTE_ERR_STATE, "HY010",
			"another thread or fiber waits for this connection");
}

VALUE
rbc_steady(VALUE string)
{
	return rb_str_new_frozen(StringValue(string));
}

int
rbc_run(VALUE connection, rbc_call call, void *arg)
{
	struct run run = { rbc_conn_get(connection), call, arg, 0 };
	int state = 0;

	rbc_refuse_in_call(connection);
	run.c->is_in_call = 1;
	rb_protect(run_until_done, (VALUE)&run, &state);
	run.c->is_in_call = 0;
	if (state) {
		/* The request may be unfinished, and a later request would get its answer. */
		cenote_close(run.c->conn);
		rb_jump_tag(state);
	}
	run.c->n_delivered = rbc_event_deliver(run.c);
	RB_GC_GUARD(connection);
	return run.status;
}

int
rbc_run_or_raise(VALUE connection, rbc_call call, void *arg)
{
	int status = rbc_run(connection, call, arg);

	rbc_check(rbc_conn_get(connection), status);
	return status;
}

/* ----------------------------------------------------------------- opening, closing ----- */

/* call-seq: set_uri(text) -> self */
static VALUE
conn_set_uri(VALUE self, VALUE uri)
{
	struct rbc_conn *c = rbc_conn_get(self);

	rbc_check(c, cenote_conn_set_uri(c->conn, StringValueCStr(uri)));
	return self;
}

/* call-seq: set(name, value) -> self */
static VALUE
conn_set(VALUE self, VALUE name, VALUE value)
{
	struct rbc_conn *c = rbc_conn_get(self);

	rbc_check(c, cenote_conn_set(c->conn, StringValueCStr(name),
			     NIL_P(value) ? NULL : StringValueCStr(value)));
	return self;
}

static int
call_connect(void *arg)
{
	return cenote_connect(arg);
}

/* call-seq: attach -> self */
static VALUE
conn_attach(VALUE self)
{
	rbc_run_or_raise(self, call_connect, rbc_conn_get(self)->conn);
	return self;
}

/* call-seq: close -> nil */
static VALUE
conn_close(VALUE self)
{
	struct rbc_conn *c = rbc_conn_get(self);

	cenote_close(c->conn);
	c->io = Qnil;
	c->io_fd = -1;
	return Qnil;
}

/* call-seq: closed? -> bool */
static VALUE
conn_is_closed(VALUE self)
{
	return cenote_is_connected(rbc_conn_get(self)->conn) ? Qfalse : Qtrue;
}

/* ---------------------------------------------------------------------- requests ----- */

struct query {
	cenote_conn *conn;
	const char *sql;
	size_t len;
	const cenote_params *params;
	const cenote_exec_options *options;
	cenote_result *res;
};

static int
call_query(void *arg)
{
	struct query *q = arg;

	return cenote_query(q->conn, q->sql, q->len, q->params, q->options, &q->res);
}

static int
call_next(void *arg)
{
	struct query *q = arg;

	return cenote_get_result(q->conn, &q->res);
}

/* Take all further results of a text with several statements. The first error is raised after the
 * last one. */
static VALUE
take_results(VALUE self, VALUE first)
{
	struct query q = { .conn = rbc_conn_get(self)->conn };
	VALUE all = rb_ary_new_from_args(1, first), error = Qnil;

	while (rbc_run_or_raise(self, call_next, &q) == CENOTE_OK) {
		int kind = cenote_result_kind(q.res);
		VALUE result = rbc_result_new(self, q.res);

		if (kind != CENOTE_RESULT_ERROR)
			rb_ary_push(all, result);
		else if (NIL_P(error))
			error = result;
	}
	if (!NIL_P(error))
		rbc_result_check(error);
	return all;
}

cenote_exec_options
rbc_options(VALUE batch)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;

	options.format = CENOTE_FORMAT_CANONICAL;
	options.batch_rows = NIL_P(batch) ? 0 : NUM2UINT(batch);
	options.stream = !NIL_P(batch);
	return options;
}

static int
is_copy(const cenote_result *res)
{
	int kind = cenote_result_kind(res);

	return kind == CENOTE_RESULT_COPY_IN || kind == CENOTE_RESULT_COPY_OUT;
}

VALUE
rbc_results(VALUE connection, cenote_result *res, const cenote_exec_options *options)
{
	int is_stream = options->stream && cenote_result_kind(res) == CENOTE_RESULT_ROWS;
	int is_open = is_copy(res);
	VALUE first = rbc_result_new(connection, res);

	if (is_stream)
		rbc_result_next_batch(first);
	if (is_open)
		rbc_conn_get(connection)->copy = first;
	if (is_stream || is_open)
		return rb_ary_new_from_args(1, first);
	return take_results(connection, first);
}

/*
 * call-seq: run(sql, params, batch) -> [result, ...]
 *
 * params: an array, or nil for the simple form; batch: rows at a time, or nil for all
 */
static VALUE
conn_run(VALUE self, VALUE sql, VALUE array, VALUE batch)
{
	const cenote_params *params = NULL;
	cenote_exec_options options = rbc_options(batch);
	VALUE keeper = NIL_P(array) ? Qnil : rbc_params_new(array, &params);
	struct query q = {
		.conn = rbc_conn_get(self)->conn, .params = params, .options = &options
	};

	sql = rbc_steady(rb_str_export_to_enc(rb_str_to_str(sql), rb_utf8_encoding()));
	q.sql = RSTRING_PTR(sql);
	q.len = (size_t)RSTRING_LEN(sql);
	rbc_run_or_raise(self, call_query, &q);
	RB_GC_GUARD(sql);
	RB_GC_GUARD(keeper);
	return rbc_results(self, q.res, &options);
}

/* ------------------------------------------------------------------- transactions ----- */

struct begin {
	cenote_conn *conn;
	uint32_t isolation, flags;
};

static int
call_begin(void *arg)
{
	struct begin *b = arg;

	return cenote_begin(b->conn, b->isolation, b->flags);
}

/* call-seq: start(isolation, flags) -> self */
static VALUE
conn_start(VALUE self, VALUE isolation, VALUE flags)
{
	struct begin b = { rbc_conn_get(self)->conn, NUM2UINT(isolation),
		NUM2UINT(flags) };

	rbc_run_or_raise(self, call_begin, &b);
	return self;
}

static int
call_commit(void *arg)
{
	return cenote_commit(arg);
}

static int
call_rollback(void *arg)
{
	return cenote_rollback(arg);
}

static int
call_ping(void *arg)
{
	return cenote_ping(arg);
}

static int
call_reset(void *arg)
{
	return cenote_reset(arg);
}

/* call-seq: commit -> self */
static VALUE
conn_commit(VALUE self)
{
	rbc_run_or_raise(self, call_commit, rbc_conn_get(self)->conn);
	return self;
}

/* call-seq: rollback -> self */
static VALUE
conn_rollback(VALUE self)
{
	rbc_run_or_raise(self, call_rollback, rbc_conn_get(self)->conn);
	return self;
}

/* call-seq: ping -> self */
static VALUE
conn_ping(VALUE self)
{
	rbc_run_or_raise(self, call_ping, rbc_conn_get(self)->conn);
	return self;
}

/* call-seq: reset -> self */
static VALUE
conn_reset(VALUE self)
{
	rbc_run_or_raise(self, call_reset, rbc_conn_get(self)->conn);
	return self;
}

struct autocommit {
	cenote_conn *conn;
	int on;
};

static int
call_autocommit(void *arg)
{
	struct autocommit *a = arg;

	return cenote_set_autocommit(a->conn, a->on);
}

struct session_option {
	cenote_conn *conn;
	const char *name, *value;
};

static int
call_session_option(void *arg)
{
	struct session_option *o = arg;

	return cenote_set_session_option(o->conn, o->name, o->value);
}

/* call-seq: set_session_option(name, value) -> self */
static VALUE
conn_set_session_option(VALUE self, VALUE name, VALUE value)
{
	struct session_option o = { .conn = rbc_conn_get(self)->conn };

	name = rbc_steady(name);
	value = rbc_steady(value);
	o.name = StringValueCStr(name);
	o.value = StringValueCStr(value);
	rbc_run_or_raise(self, call_session_option, &o);
	RB_GC_GUARD(name);
	RB_GC_GUARD(value);
	return self;
}

/* call-seq: autocommit = bool */
static VALUE
conn_set_autocommit(VALUE self, VALUE on)
{
	struct autocommit a = { rbc_conn_get(self)->conn, RTEST(on) };

	rbc_run_or_raise(self, call_autocommit, &a);
	return on;
}

/* call-seq: in_transaction? -> bool */
static VALUE
conn_is_in_transaction(VALUE self)
{
	int state = cenote_tx_state(rbc_conn_get(self)->conn);

	return state == CENOTE_TX_OPEN || state == CENOTE_TX_FAILED ? Qtrue : Qfalse;
}

/* ------------------------------------------------------------------------- copies ----- */

struct copy {
	cenote_conn *conn;
	const char *data;
	size_t len;
};

static int
call_copy_put(void *arg)
{
	struct copy *c = arg;

	return cenote_copy_put(c->conn, c->data, c->len);
}

static int
call_copy_get(void *arg)
{
	struct copy *c = arg;

	return cenote_copy_get(c->conn, &c->data, &c->len);
}

static int
call_copy_end(void *arg)
{
	struct copy *c = arg;

	return cenote_copy_end(c->conn, c->data);
}

/* call-seq: copy_put(data) -> bool; false: the server ended the copy */
static VALUE
conn_copy_put(VALUE self, VALUE data)
{
	struct copy c = { .conn = rbc_conn_get(self)->conn };
	int status;

	data = rbc_steady(data);
	c.data = RSTRING_PTR(data);
	c.len = (size_t)RSTRING_LEN(data);
	status = rbc_run_or_raise(self, call_copy_put, &c);
	RB_GC_GUARD(data);
	return status == CENOTE_OK ? Qtrue : Qfalse;
}

/* call-seq: copy_get -> string, or nil at the end */
static VALUE
conn_copy_get(VALUE self)
{
	struct copy c = { .conn = rbc_conn_get(self)->conn };

	if (rbc_run_or_raise(self, call_copy_get, &c) == CENOTE_DONE)
		return Qnil;
	return rb_str_new(c.data, (long)c.len);
}

/* call-seq: copy_end(error) -> self */
static VALUE
conn_copy_end(VALUE self, VALUE error)
{
	struct copy c = { .conn = rbc_conn_get(self)->conn };

	if (!NIL_P(error)) {
		error = rbc_steady(error);
		c.data = StringValueCStr(error);
	}
	rbc_run_or_raise(self, call_copy_end, &c);
	RB_GC_GUARD(error);
	return self;
}

/* call-seq: rest -> [result, …]: the results after a copy */
static VALUE
conn_rest(VALUE self)
{
	VALUE all = take_results(self, Qnil);

	rbc_conn_get(self)->copy = Qnil;
	rb_ary_shift(all);
	return all;
}

/* ------------------------------------------------------------ messages of the server ----- */

/* call-seq: on_notice { |severity, sqlstate, message| … } -> self */
static VALUE
conn_on_notice(VALUE self)
{
	struct rbc_conn *c = rbc_conn_get(self);

	c->on_notice = rb_block_given_p() ? rb_block_proc() : Qnil;
	return self;
}

/* call-seq: on_notification { |channel, payload, pid| … } -> self */
static VALUE
conn_on_notification(VALUE self)
{
	struct rbc_conn *c = rbc_conn_get(self);

	c->on_notification = rb_block_given_p() ? rb_block_proc() : Qnil;
	return self;
}

/* call-seq: keep_notifications(bool) -> bool: keep notifications for take_notification, even if there is a block */
static VALUE
conn_keep_notifications(VALUE self, VALUE keeps)
{
	rbc_conn_get(self)->keeps = RTEST(keeps);
	return keeps;
}

/* call-seq: take_notification -> [channel, pid, payload] or nil */
static VALUE
conn_take_notification(VALUE self)
{
	return rbc_event_take(rbc_conn_get(self));
}

static int
call_process(void *arg)
{
	return cenote_process(arg);
}

/* call-seq: wait(seconds) -> bool: whether something arrived, which the blocks got */
static VALUE
conn_wait(VALUE self, VALUE seconds)
{
	struct rbc_conn *c = rbc_conn_get(self);

	rbc_run_or_raise(self, call_process, c->conn);
	if (c->n_delivered > 0)
		return Qtrue;
	/* Without a session no notification can arrive. */
	if (cenote_fd(c->conn) < 0)
		rb_funcall(rb_mKernel, rb_intern("sleep"), 1,
			NIL_P(seconds) ? INT2FIX(1) : seconds);
	else
		rb_io_wait(io_of(c), INT2FIX(RB_WAITFD_IN), seconds);
	rbc_run_or_raise(self, call_process, c->conn);
	return c->n_delivered > 0 ? Qtrue : Qfalse;
}

/* -------------------------------------------------------------------------- facts ----- */

/* call-seq: info(name) -> string or nil */
static VALUE
conn_info(VALUE self, VALUE name)
{
	const char *fact = cenote_info(rbc_conn_get(self)->conn, StringValueCStr(name));

	return fact ? rb_utf8_str_new_cstr(fact) : Qnil;
}

/* call-seq: parameter(name) -> string or nil */
static VALUE
conn_parameter(VALUE self, VALUE name)
{
	const char *value =
		cenote_parameter(rbc_conn_get(self)->conn, StringValueCStr(name));

	return value ? rb_utf8_str_new_cstr(value) : Qnil;
}

/* call-seq: tls_info(name, hop = 0) -> string or nil */
static VALUE
conn_tls_info(int argc, VALUE *argv, VALUE self)
{
	const char *fact;
	int hop;

	rb_check_arity(argc, 1, 2);
	hop = argc > 1 ? NUM2INT(argv[1]) : CENOTE_HOP_POOL;
	fact = cenote_tls_info(rbc_conn_get(self)->conn, hop, StringValueCStr(argv[0]));
	return fact ? rb_utf8_str_new_cstr(fact) : Qnil;
}

/* call-seq: cancel -> bool: whether there was something to cancel; for another thread */
static VALUE
conn_cancel(VALUE self)
{
	cenote_cancel *cancel;
	int status;

	rbc_check(rbc_conn_get(self),
		cenote_cancel_create(rbc_conn_get(self)->conn, &cancel));
	status = cenote_cancel_send(cancel);
	cenote_cancel_destroy(cancel);
	return status == CENOTE_OK ? Qtrue : Qfalse;
}

static void
define_requests(VALUE class)
{
	rb_define_private_method(class, "run", conn_run, 3);
	rb_define_private_method(class, "start", conn_start, 2);
	rb_define_method(class, "commit", conn_commit, 0);
	rb_define_method(class, "rollback", conn_rollback, 0);
	rb_define_method(class, "set_session_option", conn_set_session_option, 2);
	rb_define_method(class, "autocommit=", conn_set_autocommit, 1);
	rb_define_method(class, "in_transaction?", conn_is_in_transaction, 0);
	rb_define_method(class, "ping", conn_ping, 0);
	rb_define_method(class, "reset", conn_reset, 0);
	rb_define_method(class, "cancel", conn_cancel, 0);
	rb_define_private_method(class, "copy_put", conn_copy_put, 1);
	rb_define_private_method(class, "copy_get", conn_copy_get, 0);
	rb_define_private_method(class, "copy_end", conn_copy_end, 1);
	rb_define_private_method(class, "rest", conn_rest, 0);
}

static void
define_connection(void)
{
	VALUE class = rb_define_class_under(rbc_mCenote, "Connection", rb_cObject);

	rbc_cConnection = class;
	rb_define_alloc_func(class, conn_allocate);
	rb_define_private_method(class, "set_uri", conn_set_uri, 1);
	rb_define_private_method(class, "set", conn_set, 2);
	rb_define_private_method(class, "attach", conn_attach, 0);
	rb_define_method(class, "close", conn_close, 0);
	rb_define_method(class, "closed?", conn_is_closed, 0);
	define_requests(class);
	rb_define_method(class, "on_notice", conn_on_notice, 0);
	rb_define_method(class, "on_notification", conn_on_notification, 0);
	rb_define_private_method(class, "wait", conn_wait, 1);
	rb_define_private_method(class, "keep_notifications", conn_keep_notifications, 1);
	rb_define_private_method(class, "take_notification", conn_take_notification, 0);
	rb_define_method(class, "info", conn_info, 1);
	rb_define_method(class, "parameter", conn_parameter, 1);
	rb_define_method(class, "tls_info", conn_tls_info, -1);
}

void
Init_cenote_ext(void)
{
	rbc_mCenote = rb_define_module("Cenote");
	rbc_error_init();
	rbc_value_init();
	define_connection();
	rbc_statement_init();
	rbc_result_init();
}
