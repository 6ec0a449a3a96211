/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cenote::Result: rows as hashes and arrays, and the other facts that a statement returned. The
 * state is struct result.
 */
#include "cenote_ruby.h"

VALUE rbc_cResult;

/* How to make the values of a column. */
struct column {
	int type;
	int is_text; /* values of the type are strings */
	VALUE block; /* makes the value from the text; nil: Ruby's own type */
};

struct result {
	cenote_result *res;
	VALUE connection;
	VALUE names; /* frozen strings, or symbols: keys of rows as hashes */
	struct column *columns;
	uint32_t n_columns;
	ssize_t told_bytes; /* bytes that the garbage collector knows about */
	int is_stream; /* rows come in batches */
	int is_text; /* every value stays text */
	/* making a row may run other code, which may take the rows away */
	int calls_ruby;
};

static void
result_mark(void *data)
{
	struct result *r = data;

	rb_gc_mark_movable(r->connection);
	rb_gc_mark_movable(r->names);
	for (uint32_t i = 0; i < r->n_columns; i++)
		rb_gc_mark_movable(r->columns[i].block);
}

static void
result_compact(void *data)
{
	struct result *r = data;

	r->connection = rb_gc_location(r->connection);
	r->names = rb_gc_location(r->names);
	for (uint32_t i = 0; i < r->n_columns; i++)
		r->columns[i].block = rb_gc_location(r->columns[i].block);
}

/* Report the result's memory to Ruby's collector, which sees only a small object and would let many
 * large results pile up. */
static void
tell_memory(struct result *r)
{
	ssize_t bytes = r->res ? (ssize_t)cenote_result_memory(r->res) : 0;

	rb_gc_adjust_memory_usage(bytes - r->told_bytes);
	r->told_bytes = bytes;
}

static void
drop(struct result *r)
{
	cenote_result_destroy(r->res);
	r->res = NULL;
	tell_memory(r);
}

static void
result_free(void *data)
{
	struct result *r = data;

	drop(r);
	xfree(r->columns);
	xfree(r);
}

static size_t
result_memsize(const void *data)
{
	const struct result *r = data;

	return sizeof(*r) + r->n_columns * sizeof(*r->columns) +
	       (r->res ? cenote_result_memory(r->res) : 0);
}

static const rb_data_type_t result_type = {
	.wrap_struct_name = "Cenote::Result",
	.function = { result_mark, result_free, result_memsize, result_compact },
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

_Noreturn static void
raise_cleared(void)
{
	rbc_raise_text(CENOTE_ERR_STATE, "HY010", "the result was cleared");
}

static struct result *
get(VALUE self)
{
	struct result *r = rb_check_typeddata(self, &result_type);

	if (!r->res)
		raise_cleared();
	return r;
}

VALUE
rbc_result_new(VALUE connection, cenote_result *res)
{
	struct result *r;
	VALUE self = TypedData_Make_Struct(rbc_cResult, struct result, &result_type, r);
	uint32_t n = cenote_result_n_columns(res);

	r->res = res;
	r->connection = connection;
	r->names = Qnil;
	r->columns = ALLOC_N(struct column, n);
	for (uint32_t i = 0; i < n; i++) {
		r->columns[i].type = (int)cenote_column_int(
			cenote_result_column(res, i), CENOTE_COLUMN_TYPE);
		r->columns[i].is_text = rbc_value_is_text(r->columns[i].type);
		r->columns[i].block = Qnil;
		r->calls_ruby |= rbc_value_calls_ruby(r->columns[i].type);
	}
	r->n_columns = n;
	tell_memory(r);
	return self;
}

void
rbc_result_check(VALUE self)
{
	const struct result *r = get(self);

	if (cenote_result_kind(r->res) == CENOTE_RESULT_ERROR)
		rbc_raise(CENOTE_ERR_SERVER, cenote_result_diag(r->res));
}

static int
call_next_batch(void *arg)
{
	return cenote_result_next(arg);
}

int
rbc_result_next_batch(VALUE self)
{
	struct result *r = get(self);
	int status;

	r->is_stream = 1;
	status = rbc_run(r->connection, call_next_batch, r->res);
	if (status == CENOTE_ERR_SERVER)
		rbc_raise(status, cenote_result_diag(r->res));
	rbc_check(rbc_conn_get(r->connection), status);
	return status;
}

/* -------------------------------------------------------------------------- values ----- */

static VALUE
value_at(const struct result *r, uint64_t row, uint32_t col)
{
	const struct column *column = &r->columns[col];
	VALUE text;

	if (!r->res)
		raise_cleared();
	if (!r->is_text && NIL_P(column->block))
		return rbc_value_get(r->res, row, col, column->type);
	text = rbc_text_get(r->res, row, col, column->type);
	if (NIL_P(text) || NIL_P(column->block))
		return text;
	return rb_funcall(column->block, rb_intern("call"), 1, text);
}

/* Make all values of a row. The row must stay in place during this. */
static void
make_values(const struct result *r, uint64_t row, VALUE *values)
{
	const uint8_t *bytes = cenote_result_rows(r->res)[row];
	uint32_t n = r->n_columns;

	for (uint32_t col = 0; col < n; col++) {
		const struct column *column = &r->columns[col];
		const char *text;
		size_t len;

		if (!column->is_text && !r->is_text) {
			values[col] = rbc_value_get(r->res, row, col, column->type);
			continue;
		}
		text = cenote_row_text(bytes, n, col, &len);
		values[col] = text ? rbc_text_new(text, len, column->type) : Qnil;
	}
}

static VALUE
row_as_array(const struct result *r, uint64_t row)
{
	VALUE buffer, array;
	VALUE *values = ALLOCV_N(VALUE, buffer, r->n_columns + (size_t)1);

	if (r->calls_ruby || r->n_columns == 0) {
		for (uint32_t col = 0; col < r->n_columns; col++)
			values[col] = value_at(r, row, col);
	} else {
		make_values(r, row, values);
	}
	array = rb_ary_new_from_values(r->n_columns, values);
	ALLOCV_END(buffer);
	return array;
}

static VALUE
row_as_hash(const struct result *r, uint64_t row)
{
	VALUE hash = rb_hash_new();

	for (uint32_t col = 0; col < r->n_columns; col++)
		rb_hash_aset(hash, RARRAY_AREF(r->names, col), value_at(r, row, col));
	return hash;
}

typedef VALUE (*row_maker)(const struct result *, uint64_t);

static VALUE
each(VALUE self, row_maker make)
{
	struct result *r = get(self);

	do {
		for (uint64_t row = 0; row < cenote_result_n_rows(r->res); row++) {
			rb_yield(make(r, row));
			r = get(self);
		}
	} while (r->is_stream && rbc_result_next_batch(self) == CENOTE_ROW);
	return self;
}

/* call-seq: each { |hash| … } -> self */
static VALUE
result_each(VALUE self)
{
	RETURN_ENUMERATOR(self, 0, 0);
	return each(self, row_as_hash);
}

/* call-seq: each_row { |array| … } -> self */
static VALUE
result_each_row(VALUE self)
{
	RETURN_ENUMERATOR(self, 0, 0);
	return each(self, row_as_array);
}

/* call-seq: values -> [[value, …], …] */
static VALUE
result_values(VALUE self)
{
	struct result *r = get(self);
	VALUE rows = rb_ary_new_capa((long)cenote_result_n_rows(r->res));

	do {
		for (uint64_t row = 0; row < cenote_result_n_rows(r->res); row++) {
			rb_ary_push(rows, row_as_array(r, row));
			r = get(self);
		}
	} while (r->is_stream && rbc_result_next_batch(self) == CENOTE_ROW);
	return rows;
}

/* call-seq: [row] -> hash or nil */
static VALUE
result_at(VALUE self, VALUE index)
{
	const struct result *r = get(self);
	long long row = NUM2LL(index), n = (long long)cenote_result_n_rows(r->res);

	if (row < 0)
		row += n;
	return row < 0 || row >= n ? Qnil : row_as_hash(r, (uint64_t)row);
}

/* ---------------------------------------------------------------------------- facts ----- */

/* call-seq: setup(symbolize, types, is_text) -> self
 * types: a hash of blocks by type */
static VALUE
result_setup(VALUE self, VALUE symbolize, VALUE types, VALUE is_text)
{
	struct result *r = get(self);
	VALUE names = rb_ary_new_capa(r->n_columns);

	for (uint32_t i = 0; i < r->n_columns; i++) {
		const char *name = cenote_column_text(
			cenote_result_column(r->res, i), CENOTE_COLUMN_NAME);
		VALUE text = rb_utf8_str_new_cstr(name);

		rb_ary_push(names, RTEST(symbolize) ? rb_to_symbol(text)
						    : rb_interned_str_cstr(name));
		if (!NIL_P(types))
			r->columns[i].block = rb_hash_lookup(
				types, rbc_type_symbol(r->columns[i].type));
		r->calls_ruby |= !NIL_P(r->columns[i].block);
	}
	r->names = rb_ary_freeze(names);
	r->is_text = RTEST(is_text);
	return self;
}

/* call-seq: fields -> [name, …], as the keys of rows are */
static VALUE
result_fields(VALUE self)
{
	return get(self)->names;
}

/* call-seq: types -> [:int64, …] */
static VALUE
result_types(VALUE self)
{
	const struct result *r = get(self);
	VALUE types = rb_ary_new_capa(r->n_columns);

	for (uint32_t i = 0; i < r->n_columns; i++)
		rb_ary_push(types, rbc_type_symbol(r->columns[i].type));
	return types;
}

static VALUE
text_attribute(const cenote_column *column, uint32_t attribute)
{
	return rb_utf8_str_new_cstr(cenote_column_text(column, attribute));
}

/* nil: unknown */
static VALUE
number_attribute(const cenote_column *column, uint32_t attribute)
{
	int64_t number = cenote_column_int(column, attribute);

	return number < 0 ? Qnil : LL2NUM(number);
}

static VALUE
describe_column(const cenote_column *column)
{
	static const struct {
		const char *name;
		uint32_t attribute;
		VALUE (*get)(const cenote_column *column, uint32_t attribute);
	} attributes[] = {
		{ "name", CENOTE_COLUMN_NAME, text_attribute },
		{ "table", CENOTE_COLUMN_TABLE, text_attribute },
		{ "type_name", CENOTE_COLUMN_TYPE_NAME, text_attribute },
		{ "native_type", CENOTE_COLUMN_NATIVE_TYPE, number_attribute },
		{ "length", CENOTE_COLUMN_LENGTH, number_attribute },
		{ "precision", CENOTE_COLUMN_PRECISION, number_attribute },
		{ "scale", CENOTE_COLUMN_SCALE, number_attribute },
	};
	int64_t nullable = cenote_column_int(column, CENOTE_COLUMN_NULLABLE);
	VALUE hash = rb_hash_new();

	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		rb_hash_aset(hash, ID2SYM(rb_intern(attributes[i].name)),
			attributes[i].get(column, attributes[i].attribute));
	rb_hash_aset(hash, ID2SYM(rb_intern("type")),
		rbc_type_symbol((int)cenote_column_int(column, CENOTE_COLUMN_TYPE)));
	rb_hash_aset(hash, ID2SYM(rb_intern("nullable")),
		nullable == 0   ? Qfalse
		: nullable == 1 ? Qtrue
				: Qnil);
	return hash;
}

/* call-seq: columns -> [{name:, type:, type_name:, native_type:, length:, …}, …] */
static VALUE
result_columns(VALUE self)
{
	const struct result *r = get(self);
	VALUE columns = rb_ary_new_capa(r->n_columns);

	for (uint32_t i = 0; i < r->n_columns; i++)
		rb_ary_push(columns, describe_column(cenote_result_column(r->res, i)));
	return columns;
}

/* call-seq: size -> integer: rows in memory */
static VALUE
result_size(VALUE self)
{
	return ULL2NUM(cenote_result_n_rows(get(self)->res));
}

/* call-seq: affected_rows -> integer or nil */
static VALUE
result_affected_rows(VALUE self)
{
	int64_t n = cenote_result_affected_rows(get(self)->res);

	return n < 0 ? Qnil : LL2NUM(n);
}

/* call-seq: last_id -> integer; 0: nothing was inserted */
static VALUE
result_last_id(VALUE self)
{
	return ULL2NUM(cenote_result_last_insert_id(get(self)->res));
}

/* call-seq: tag -> string */
static VALUE
result_tag(VALUE self)
{
	return rb_utf8_str_new_cstr(cenote_result_tag(get(self)->res));
}

/* call-seq: warnings -> integer */
static VALUE
result_warnings(VALUE self)
{
	return UINT2NUM(cenote_result_warnings(get(self)->res));
}

/* call-seq: output? -> bool: whether the row has the output values of a call */
static VALUE
result_is_output(VALUE self)
{
	return cenote_result_flags(get(self)->res) & CENOTE_RESULT_FLAG_OUTPUT ? Qtrue
									       : Qfalse;
}

/* call-seq: kind -> :rows, :command, :copy_in, :copy_out, … */
static VALUE
result_kind(VALUE self)
{
	static const char *const names[] = { "unknown", "rows", "command", "error",
		"skipped", "sync", "description", "copy_in", "copy_out" };
	int kind = cenote_result_kind(get(self)->res);
	size_t n = sizeof(names) / sizeof(*names);

	return ID2SYM(rb_intern(kind > 0 && (size_t)kind < n ? names[kind] : names[0]));
}

/* call-seq: clear -> nil: frees its memory before the collector would */
static VALUE
result_clear(VALUE self)
{
	struct result *r = rb_check_typeddata(self, &result_type);

	if (r->is_stream)
		rbc_refuse_in_call(r->connection);
	drop(r);
	return Qnil;
}

void
rbc_result_init(void)
{
	VALUE class = rb_define_class_under(rbc_mCenote, "Result", rb_cObject);

	rbc_cResult = class;
	rb_undef_alloc_func(class);
	rb_include_module(class, rb_mEnumerable);
	rb_define_private_method(class, "setup", result_setup, 3);
	rb_define_method(class, "each", result_each, 0);
	rb_define_method(class, "each_row", result_each_row, 0);
	rb_define_method(class, "values", result_values, 0);
	rb_define_method(class, "[]", result_at, 1);
	rb_define_method(class, "fields", result_fields, 0);
	rb_define_method(class, "types", result_types, 0);
	rb_define_method(class, "columns", result_columns, 0);
	rb_define_method(class, "size", result_size, 0);
	rb_define_method(class, "affected_rows", result_affected_rows, 0);
	rb_define_method(class, "last_id", result_last_id, 0);
	rb_define_method(class, "tag", result_tag, 0);
	rb_define_method(class, "warnings", result_warnings, 0);
	rb_define_method(class, "output?", result_is_output, 0);
	rb_define_method(class, "kind", result_kind, 0);
	rb_define_method(class, "clear", result_clear, 0);
}
