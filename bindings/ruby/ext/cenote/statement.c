/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cenote::Statement: a prepared statement. The state is its handle and its connection.
 */
#include "cenote_ruby.h"

#include <ruby/encoding.h>

VALUE rbc_cStatement;

struct statement {
	cenote_stmt *stmt;
	VALUE connection;
};

static void
statement_mark(void *data)
{
	struct statement *s = data;

	rb_gc_mark_movable(s->connection);
}

static void
statement_compact(void *data)
{
	struct statement *s = data;

	s->connection = rb_gc_location(s->connection);
}

static void
statement_free(void *data)
{
	struct statement *s = data;

	cenote_stmt_destroy(s->stmt);
	xfree(s);
}

static size_t
statement_memsize(const void *data)
{
	return sizeof(struct statement);
}

static const rb_data_type_t statement_type = {
	.wrap_struct_name = "Cenote::Statement",
	.function = { statement_mark, statement_free, statement_memsize,
		statement_compact },
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static struct statement *
get(VALUE self)
{
	struct statement *s = rb_check_typeddata(self, &statement_type);

	if (!s->stmt)
		rbc_raise_text(CENOTE_ERR_STATE, "HY010", "the statement is closed");
	return s;
}

static VALUE
statement_allocate(VALUE class)
{
	struct statement *s;
	VALUE self = TypedData_Make_Struct(class, struct statement, &statement_type, s);

	s->connection = Qnil;
	return self;
}

static int
call_prepare(void *arg)
{
	return cenote_stmt_prepare(arg);
}

/* call-seq: setup(connection, sql) -> self */
static VALUE
statement_setup(VALUE self, VALUE connection, VALUE sql)
{
	struct statement *s = rb_check_typeddata(self, &statement_type);
	struct rbc_conn *c = rbc_conn_get(connection);

	sql = rb_str_export_to_enc(rb_str_to_str(sql), rb_utf8_encoding());
	rbc_check(c, cenote_stmt_create(c->conn, RSTRING_PTR(sql),
			     (size_t)RSTRING_LEN(sql), &s->stmt));
	RB_OBJ_WRITE(self, &s->connection, connection);
	rbc_run_or_raise(connection, call_prepare, s->stmt);
	RB_GC_GUARD(sql);
	return self;
}

struct execute {
	cenote_stmt *stmt;
	const cenote_params *params;
	const cenote_exec_options *options;
	cenote_result *res;
};

static int
call_execute(void *arg)
{
	struct execute *e = arg;

	return cenote_stmt_execute(e->stmt, e->params, e->options, &e->res);
}

/* call-seq: run(params, batch) -> [result, …] */
static VALUE
statement_run(VALUE self, VALUE array, VALUE batch)
{
	struct statement *s = get(self);
	const cenote_params *params;
	cenote_exec_options options = rbc_options(batch);
	VALUE keeper = rbc_params_new(array, &params);
	struct execute e = { s->stmt, params, &options, NULL };

	rbc_run_or_raise(s->connection, call_execute, &e);
	RB_GC_GUARD(keeper);
	return rbc_results(s->connection, e.res, &options);
}

/* call-seq: close -> nil */
static VALUE
statement_close(VALUE self)
{
	struct statement *s = rb_check_typeddata(self, &statement_type);

	if (s->stmt)
		rbc_refuse_in_call(s->connection);
	cenote_stmt_destroy(s->stmt);
	s->stmt = NULL;
	return Qnil;
}

/* call-seq: param_types -> [:int64, …] */
static VALUE
statement_param_types(VALUE self)
{
	const cenote_stmt *stmt = get(self)->stmt;
	uint32_t n = cenote_stmt_n_params(stmt);
	VALUE types = rb_ary_new_capa(n);

	for (uint32_t i = 0; i < n; i++)
		rb_ary_push(types, rbc_type_symbol(cenote_stmt_param_type(stmt, i)));
	return types;
}

/* call-seq: fields -> [name, …] */
static VALUE
statement_fields(VALUE self)
{
	const cenote_stmt *stmt = get(self)->stmt;
	uint32_t n = cenote_stmt_n_columns(stmt);
	VALUE names = rb_ary_new_capa(n);

	for (uint32_t i = 0; i < n; i++)
		rb_ary_push(
			names, rb_utf8_str_new_cstr(cenote_column_text(
				       cenote_stmt_column(stmt, i), CENOTE_COLUMN_NAME)));
	return names;
}

void
rbc_statement_init(void)
{
	rbc_cStatement = rb_define_class_under(rbc_mCenote, "Statement", rb_cObject);
	rb_define_alloc_func(rbc_cStatement, statement_allocate);
	rb_define_private_method(rbc_cStatement, "setup", statement_setup, 2);
	rb_define_private_method(rbc_cStatement, "run", statement_run, 2);
	rb_define_method(rbc_cStatement, "close", statement_close, 0);
	rb_define_method(rbc_cStatement, "param_types", statement_param_types, 0);
	rb_define_method(rbc_cStatement, "fields", statement_fields, 0);
}
