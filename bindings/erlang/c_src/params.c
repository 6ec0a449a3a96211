/* SPDX-License-Identifier: BSD-2-Clause */
/* Convert Erlang's terms to values, as the type value() in src/cenote.erl describes. */
#include "cer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Add a value to the list. `type` is the type of the parameter; CENOTE_TYPE_NULL: unknown. */
typedef int add(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type);

const char *
cer_text(ErlNifEnv *env, ERL_NIF_TERM term)
{
	ErlNifBinary bytes;
	ERL_NIF_TERM copy;
	unsigned char *text;

	if (!enif_inspect_iolist_as_binary(env, term, &bytes) ||
		memchr(bytes.data, '\0', bytes.size))
		return NULL;
	text = enif_make_new_binary(env, bytes.size + 1, &copy);
	memcpy(text, bytes.data, bytes.size);
	text[bytes.size] = '\0';
	return (const char *)text;
}

static int
add_atom(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type)
{
	(void)env;
	(void)type;
	if (term == cer_atom.null || term == cer_atom.undefined)
		return cenote_params_add_null(params);
	if (term == cer_atom.true_ || term == cer_atom.false_)
		return cenote_params_add_bool(params, term == cer_atom.true_);
	if (term == cer_atom.nan)
		return cenote_params_add_double(params, (double)NAN);
	if (term == cer_atom.infinity)
		return cenote_params_add_double(params, (double)INFINITY);
	if (term == cer_atom.minus_infinity)
		return cenote_params_add_double(params, (double)-INFINITY);
	return CENOTE_ERR_CONVERT;
}

/* An integer of more than 64 bits is sent as an exact number. */
static int
add_big(cenote_params *params, ERL_NIF_TERM term)
{
	char text[1024];
	int len = enif_snprintf(text, sizeof(text), "%T", term);

	if (len < 0 || (size_t)len >= sizeof(text))
		return CENOTE_ERR_CONVERT;
	return cenote_params_add_decimal(params, text, (size_t)len);
}

static int
add_integer(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type)
{
	ErlNifSInt64 number;
	ErlNifUInt64 big;

	(void)type;
	if (enif_get_int64(env, term, &number))
		return cenote_params_add_int64(params, number);
	if (enif_get_uint64(env, term, &big))
		return cenote_params_add_uint64(params, big);
	return add_big(params, term);
}

static int
add_float(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type)
{
	double number;

	(void)type;
	if (!enif_get_double(env, term, &number))
		return CENOTE_ERR_CONVERT;
	return cenote_params_add_double(params, number);
}

/* Add a binary or a list of bytes. cenote.erl has converted all other lists to text. */
static int
add_text(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type)
{
	ErlNifBinary bytes;

	if (!enif_inspect_iolist_as_binary(env, term, &bytes))
		return CENOTE_ERR_CONVERT;
	if (type == CENOTE_TYPE_BYTES)
		return cenote_params_add_bytes(params, bytes.data, bytes.size);
	return cenote_params_add_text(params, (const char *)bytes.data, bytes.size);
}

static int
add_decimal(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type)
{
	ErlNifBinary text;

	(void)type;
	if (!enif_inspect_iolist_as_binary(env, term, &text))
		return CENOTE_ERR_CONVERT;
	return cenote_params_add_decimal(params, (const char *)text.data, text.size);
}

/* ------------------------------------------------------------------ dates and times ----- */

/* The elements of a tuple of `arity`; NULL: the term is not such a tuple. */
static const ERL_NIF_TERM *
tuple(ErlNifEnv *env, ERL_NIF_TERM term, int arity)
{
	const ERL_NIF_TERM *elements;
	int n;

	return enif_get_tuple(env, term, &n, &elements) && n == arity ? elements : NULL;
}

static int
get_small(ErlNifEnv *env, ERL_NIF_TERM term, unsigned max, uint8_t *ret)
{
	unsigned value;

	if (!enif_get_uint(env, term, &value) || value > max)
		return 0;
	*ret = (uint8_t)value;
	return 1;
}

static int
get_date(ErlNifEnv *env, ERL_NIF_TERM term, cenote_date *ret)
{
	const ERL_NIF_TERM *d = tuple(env, term, 3);

	ret->reserved = 0;
	return d && enif_get_int(env, d[0], &ret->year) &&
	       get_small(env, d[1], 12, &ret->month) &&
	       get_small(env, d[2], 31, &ret->day);
}

static int
get_seconds(ErlNifEnv *env, ERL_NIF_TERM term, cenote_time *ret)
{
	double value, whole;

	ret->nanosecond = 0;
	if (get_small(env, term, 60, &ret->second))
		return 1;
	if (!enif_get_double(env, term, &value) || !(value >= 0 && value < 61))
		return 0;
	whole = floor(value);
	ret->second = (uint8_t)whole;
	ret->nanosecond = (uint32_t)((value - whole) * 1e9 + 0.5);
	if (ret->nanosecond > 999999999)
		ret->nanosecond = 999999999;
	return 1;
}

static int
get_time(ErlNifEnv *env, ERL_NIF_TERM term, cenote_time *ret)
{
	const ERL_NIF_TERM *t = tuple(env, term, 3);

	ret->reserved = 0;
	ret->utc_offset_s = CENOTE_NO_OFFSET;
	return t && get_small(env, t[0], 24, &ret->hour) &&
	       get_small(env, t[1], 59, &ret->minute) && get_seconds(env, t[2], ret);
}

static int
get_timestamp(ErlNifEnv *env, ERL_NIF_TERM term, cenote_timestamp *ret)
{
	const ERL_NIF_TERM *t = tuple(env, term, 2);

	return t && get_date(env, t[0], &ret->date) && get_time(env, t[1], &ret->time);
}

/* Add {Y, M, D}, or {H, M, S} if the parameter is known to be a time. */
static int
add_triple(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type)
{
	cenote_date date;
	cenote_time time;

	if (type == CENOTE_TYPE_TIME)
		return get_time(env, term, &time) ? cenote_params_add_time(params, &time)
						  : CENOTE_ERR_CONVERT;
	return get_date(env, term, &date) ? cenote_params_add_date(params, &date)
					  : CENOTE_ERR_CONVERT;
}

static int
add_time(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type)
{
	(void)type;
	return add_triple(env, params, term, CENOTE_TYPE_TIME);
}

/* Add {{H, M, S}, Offset} or {{{Y, M, D}, {H, M, S}}, Offset}. */
static int
add_with_offset(
	ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int32_t utc_offset_s)
{
	cenote_timestamp t;

	if (get_timestamp(env, term, &t)) {
		t.time.utc_offset_s = utc_offset_s;
		return cenote_params_add_timestamp(params, &t);
	}
	if (!get_time(env, term, &t.time))
		return CENOTE_ERR_CONVERT;
	t.time.utc_offset_s = utc_offset_s;
	return cenote_params_add_time(params, &t.time);
}

static int
add_bytes(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type)
{
	(void)type;
	return add_text(env, params, term, CENOTE_TYPE_BYTES);
}

/* {Kind, Value}, for values whose term does not show the type. */
static const struct {
	const char *name;
	add *add;
} kinds[] = {
	{ "bytes", add_bytes },
	{ "decimal", add_decimal },
	{ "time", add_time },
};

static int
add_kind(ErlNifEnv *env, cenote_params *params, const ERL_NIF_TERM *pair)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (pair[0] == enif_make_atom(env, kinds[i].name))
			return kinds[i].add(env, params, pair[1], CENOTE_TYPE_NULL);
	}
	return CENOTE_ERR_CONVERT;
}

static int
add_tuple(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type)
{
	const ERL_NIF_TERM *pair = tuple(env, term, 2);
	cenote_timestamp t;
	int offset;

	if (!pair)
		return add_triple(env, params, term, type);
	if (enif_is_atom(env, pair[0]))
		return add_kind(env, params, pair);
	if (enif_get_int(env, pair[1], &offset))
		return add_with_offset(env, params, pair[0], offset);
	return get_timestamp(env, term, &t) ? cenote_params_add_timestamp(params, &t)
					    : CENOTE_ERR_CONVERT;
}

/* -------------------------------------------------------------------------- lists ----- */

static int
add_term(ErlNifEnv *env, cenote_params *params, ERL_NIF_TERM term, int type)
{
	static add *const adds[] = {
		[ERL_NIF_TERM_TYPE_ATOM] = add_atom,
		[ERL_NIF_TERM_TYPE_BITSTRING] = add_text,
		[ERL_NIF_TERM_TYPE_FLOAT] = add_float,
		[ERL_NIF_TERM_TYPE_INTEGER] = add_integer,
		[ERL_NIF_TERM_TYPE_LIST] = add_text,
		[ERL_NIF_TERM_TYPE_TUPLE] = add_tuple,
	};
	int kind = enif_term_type(env, term);

	if (kind < 0 || (size_t)kind >= sizeof(adds) / sizeof(adds[0]) || !adds[kind])
		return CENOTE_ERR_CONVERT;
	return adds[kind](env, params, term, type);
}

static ERL_NIF_TERM
bad_value(ErlNifEnv *env, int status, uint32_t i)
{
	char message[80];

	(void)snprintf(message, sizeof(message), "parameter %u: %s", i + 1,
		status == CENOTE_ERR_LIMIT ? "there are too many"
					   : "no value of this kind can be bound");
	return cer_error_text(env, CENOTE_ERR_ARG, "07006", message);
}

int
cer_params_fill(struct cer_conn *c, ERL_NIF_TERM list, const cenote_stmt *stmt,
	ERL_NIF_TERM *ret_error)
{
	ERL_NIF_TERM head;
	uint32_t i = 0;

	cenote_params_clear(c->params);
	for (; enif_get_list_cell(c->env, list, &head, &list); i++) {
		int type = stmt ? cenote_stmt_param_type(stmt, i) : CENOTE_TYPE_NULL;
		int r = add_term(c->env, c->params, head, type);

		if (r < 0) {
			*ret_error = bad_value(c->env, r, i);
			return -1;
		}
	}
	if (enif_is_empty_list(c->env, list))
		return 0;
	*ret_error = enif_make_badarg(c->env);
	return -1;
}
