/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Convert Ruby's objects to parameters, and values of results to Ruby's objects. connection.c,
 * statement.c and result.c call this file. It has no state but classes and symbols.
 */
#include "cenote_ruby.h"

#include <ruby/encoding.h>

static VALUE date_class, bigdecimal_class;
/* small enough for an object's flags, like the index of each of Ruby's own encodings */
static int utf8_index;

void
rbc_value_init(void)
{
	utf8_index = rb_utf8_encindex();
	rb_require("date");
	rb_require("bigdecimal");
	date_class = rb_const_get(rb_cObject, rb_intern("Date"));
	bigdecimal_class = rb_const_get(rb_cObject, rb_intern("BigDecimal"));
	rb_gc_register_mark_object(date_class);
	rb_gc_register_mark_object(bigdecimal_class);
}

VALUE
rbc_type_symbol(int type)
{
	static const char *const names[] = { "null", "bool", "int64", "uint64", "double",
		"decimal", "text", "bytes", "date", "time", "timestamp", "interval",
		"uuid", "json", "other" };
	size_t n = sizeof(names) / sizeof(*names);

	return ID2SYM(rb_intern(type >= 0 && (size_t)type < n ? names[type] : "other"));
}

/* ----------------------------------------------------------------------- to a value ----- */

VALUE
rbc_text_new(const char *text, size_t len, int type)
{
	VALUE string = rb_str_new(text, (long)len);

	if (type != CENOTE_TYPE_BYTES)
		RB_ENCODING_SET_INLINED(string, utf8_index);
	return string;
}

VALUE
rbc_text_get(const cenote_result *res, uint64_t row, uint32_t col, int type)
{
	size_t len;
	const char *text = cenote_result_text(res, row, col, &len);

	return text ? rbc_text_new(text, len, type) : Qnil;
}

/* Each returns Qundef for a value that does not have its type's form. The value then stays text. */
typedef VALUE (*getter)(const cenote_result *, uint64_t, uint32_t);

static VALUE
get_bool(const cenote_result *res, uint64_t row, uint32_t col)
{
	int64_t number;

	if (cenote_result_int64(res, row, col, &number) != CENOTE_OK)
		return Qundef;
	return number ? Qtrue : Qfalse;
}

static VALUE
get_int64(const cenote_result *res, uint64_t row, uint32_t col)
{
	int64_t number;

	return cenote_result_int64(res, row, col, &number) == CENOTE_OK ? LL2NUM(number)
									: Qundef;
}

static VALUE
get_uint64(const cenote_result *res, uint64_t row, uint32_t col)
{
	uint64_t number;

	return cenote_result_uint64(res, row, col, &number) == CENOTE_OK ? ULL2NUM(number)
									 : Qundef;
}

static VALUE
get_double(const cenote_result *res, uint64_t row, uint32_t col)
{
	double number;

	return cenote_result_double(res, row, col, &number) == CENOTE_OK ? DBL2NUM(number)
									 : Qundef;
}

static VALUE
get_decimal(const cenote_result *res, uint64_t row, uint32_t col)
{
	VALUE args[2] = { rbc_text_get(res, row, col, CENOTE_TYPE_DECIMAL),
		rb_hash_new() };
	VALUE number;

	rb_hash_aset(args[1], ID2SYM(rb_intern("exception")), Qfalse);
	number = rb_funcallv_kw(
		rb_mKernel, rb_intern("BigDecimal"), 2, args, RB_PASS_KEYWORDS);
	return NIL_P(number) ? Qundef : number;
}

static VALUE
get_date(const cenote_result *res, uint64_t row, uint32_t col)
{
	cenote_date d;

	if (cenote_result_date(res, row, col, &d) != CENOTE_OK)
		return Qundef;
	return rb_funcall(date_class, rb_intern("new"), 3, INT2NUM(d.year),
		INT2FIX(d.month), INT2FIX(d.day));
}

/* Get a timestamp. Without an offset it is in UTC. */
static VALUE
get_timestamp(const cenote_result *res, uint64_t row, uint32_t col)
{
	cenote_timestamp t;
	VALUE second, offset;

	if (cenote_result_timestamp(res, row, col, &t) != CENOTE_OK)
		return Qundef;
	second = t.time.nanosecond
			 ? rb_rational_new(LL2NUM(t.time.second * 1000000000LL +
						   (long long)t.time.nanosecond),
				   LL2NUM(1000000000LL))
			 : INT2FIX(t.time.second);
	offset = t.time.utc_offset_s == CENOTE_NO_OFFSET ? rb_str_new_cstr("UTC")
							 : INT2NUM(t.time.utc_offset_s);
	return rb_funcall(rb_cTime, rb_intern("new"), 7, INT2NUM(t.date.year),
		INT2FIX(t.date.month), INT2FIX(t.date.day), INT2FIX(t.time.hour),
		INT2FIX(t.time.minute), second, offset);
}

/* The functions that make values, by enum cenote_type. Values of types without a function stay text. */
static const struct {
	getter get;
	int calls_ruby;
} makers[] = {
	[CENOTE_TYPE_BOOL] = { get_bool, 0 },
	[CENOTE_TYPE_INT64] = { get_int64, 0 },
	[CENOTE_TYPE_UINT64] = { get_uint64, 0 },
	[CENOTE_TYPE_DOUBLE] = { get_double, 0 },
	[CENOTE_TYPE_DECIMAL] = { get_decimal, 1 },
	[CENOTE_TYPE_DATE] = { get_date, 1 },
	[CENOTE_TYPE_TIMESTAMP] = { get_timestamp, 1 },
};

int
rbc_value_is_text(int type)
{
	return type < 0 || (size_t)type >= sizeof(makers) / sizeof(*makers) ||
	       !makers[type].get;
}

int
rbc_value_calls_ruby(int type)
{
	return !rbc_value_is_text(type) && makers[type].calls_ruby;
}

VALUE
rbc_value_get(const cenote_result *res, uint64_t row, uint32_t col, int type)
{
	VALUE value;

	if (rbc_value_is_text(type))
		return rbc_text_get(res, row, col, type);
	if (cenote_result_is_null(res, row, col))
		return Qnil;
	value = makers[type].get(res, row, col);
	return value == Qundef ? rbc_text_get(res, row, col, type) : value;
}

/* ------------------------------------------------------------------ from a value ----- */

static int
add_text(cenote_params *params, VALUE text)
{
	int status;

	if (rb_enc_get_index(text) == rb_ascii8bit_encindex())
		return cenote_params_add_bytes(
			params, RSTRING_PTR(text), (size_t)RSTRING_LEN(text));
	text = rb_str_export_to_enc(text, rb_utf8_encoding());
	status = cenote_params_add_text(
		params, RSTRING_PTR(text), (size_t)RSTRING_LEN(text));
	RB_GC_GUARD(text);
	return status;
}

static int
add_decimal(cenote_params *params, VALUE text)
{
	return cenote_params_add_decimal(
		params, RSTRING_PTR(text), (size_t)RSTRING_LEN(text));
}

static int
add_integer(cenote_params *params, VALUE number)
{
	if (RTEST(rb_funcall(number, rb_intern("bit_length"), 0)) &&
		FIX2INT(rb_funcall(number, rb_intern("bit_length"), 0)) <= 63)
		return cenote_params_add_int64(params, NUM2LL(number));
	return add_decimal(params, rb_big2str(number, 10));
}

static int
number_of(VALUE object, const char *method)
{
	return NUM2INT(rb_funcall(object, rb_intern(method), 0));
}

static cenote_date
date_of(VALUE object)
{
	cenote_date date = { .year = number_of(object, "year"),
		.month = (uint8_t)number_of(object, "month"),
		.day = (uint8_t)number_of(object, "day") };

	return date;
}

static int
add_date(cenote_params *params, VALUE object)
{
	cenote_date date = date_of(object);

	return cenote_params_add_date(params, &date);
}

static int
add_time(cenote_params *params, VALUE object)
{
	cenote_timestamp t = { .date = date_of(object),
		.time = { .hour = (uint8_t)number_of(object, "hour"),
			.minute = (uint8_t)number_of(object, "min"),
			.second = (uint8_t)number_of(object, "sec"),
			.nanosecond = (uint32_t)number_of(object, "nsec"),
			.utc_offset_s = number_of(object, "utc_offset") } };

	return cenote_params_add_timestamp(params, &t);
}

static int
add_object(cenote_params *params, VALUE value)
{
	if (rb_obj_is_kind_of(value, bigdecimal_class))
		return add_decimal(params,
			rb_funcall(value, rb_intern("to_s"), 1, rb_str_new_cstr("F")));
	if (rb_obj_is_kind_of(value, rb_cTime))
		return add_time(params, value);
	if (rb_respond_to(value, rb_intern("to_time")) &&
		rb_respond_to(value, rb_intern("hour")))
		return add_time(params, rb_funcall(value, rb_intern("to_time"), 0));
	if (rb_obj_is_kind_of(value, date_class))
		return add_date(params, value);
	rb_raise(rb_eTypeError, "a %" PRIsVALUE " cannot be bound", rb_obj_class(value));
}

static int
add_value(cenote_params *params, VALUE value)
{
	switch (rb_type(value)) {
	case T_NIL:
		return cenote_params_add_null(params);
	case T_TRUE:
	case T_FALSE:
		return cenote_params_add_bool(params, value == Qtrue);
	case T_FIXNUM:
	case T_BIGNUM:
		return add_integer(params, value);
	case T_FLOAT:
		return cenote_params_add_double(params, RFLOAT_VALUE(value));
	case T_STRING:
		return add_text(params, value);
	case T_SYMBOL:
		return add_text(params, rb_sym2str(value));
	default:
		return add_object(params, value);
	}
}

static void
params_free(void *params)
{
	cenote_params_destroy(params);
}

static const rb_data_type_t params_type = {
	.wrap_struct_name = "Cenote::Params",
	.function = { .dfree = params_free },
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

VALUE
rbc_params_new(VALUE array, const cenote_params **ret_params)
{
	VALUE self = TypedData_Wrap_Struct(rb_cObject, &params_type, NULL);
	cenote_params *params;

	if (cenote_params_create(NULL, &params) < 0)
		rb_memerror();
	DATA_PTR(self) = params;
	array = rb_ary_to_ary(array);
	for (long i = 0; i < RARRAY_LEN(array); i++) {
		int status = add_value(params, RARRAY_AREF(array, i));

		if (status == CENOTE_ERR_NOMEM)
			rb_memerror();
		if (status < 0)
			rbc_raise_text(status, "07006", "the value cannot be bound");
	}
	*ret_params = params;
	return self;
}
