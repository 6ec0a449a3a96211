/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes parameters of the library from the bound values of a conformance case.
 */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*add_bind)(cenote_params *params, const struct cnt_bytes *v);

static int
bind_null(cenote_params *params, const struct cnt_bytes *v)
{
	(void)v;
	return cenote_params_add_null(params);
}

static int
bind_bool(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_bool(params, v->bytes[0] == '1');
}

static int
bind_int64(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_int64(params, strtoll(v->bytes, NULL, 10));
}

static int
bind_uint64(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_uint64(params, strtoull(v->bytes, NULL, 10));
}

static int
bind_double(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_double(params, strtod(v->bytes, NULL));
}

static int
bind_decimal(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_decimal(params, v->bytes, v->len);
}

static int
bind_text(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_text(params, v->bytes, v->len);
}

static int
bind_bytes(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_bytes(params, v->bytes, v->len);
}

static int
scan_date(const char *text, cenote_date *ret_date)
{
	memset(ret_date, 0, sizeof(*ret_date));
	return sscanf(text, "%d-%hhu-%hhu", &ret_date->year, &ret_date->month,
		       &ret_date->day) == 3;
}

static int
scan_time(const char *text, cenote_time *ret_time)
{
	const char *fraction = strchr(text, '.');
	uint32_t unit = 100000000;

	memset(ret_time, 0, sizeof(*ret_time));
	ret_time->utc_offset_s = CENOTE_NO_OFFSET;
	for (; fraction && *++fraction; unit /= 10)
		ret_time->nanosecond += (uint32_t)(*fraction - '0') * unit;
	return sscanf(text, "%hhu:%hhu:%hhu", &ret_time->hour, &ret_time->minute,
		       &ret_time->second) == 3;
}

static int
bind_date(cenote_params *params, const struct cnt_bytes *v)
{
	cenote_date date;

	return scan_date(v->bytes, &date) ? cenote_params_add_date(params, &date)
					  : CENOTE_ERR_ARG;
}

static int
bind_time(cenote_params *params, const struct cnt_bytes *v)
{
	cenote_time t;

	return scan_time(v->bytes, &t) ? cenote_params_add_time(params, &t)
				       : CENOTE_ERR_ARG;
}

static int
bind_timestamp(cenote_params *params, const struct cnt_bytes *v)
{
	cenote_timestamp ts;
	const char *blank = strchr(v->bytes, ' ');

	if (!blank || !scan_date(v->bytes, &ts.date) || !scan_time(blank + 1, &ts.time))
		return CENOTE_ERR_ARG;
	return cenote_params_add_timestamp(params, &ts);
}

static int
add_param(cenote_params *params, const struct cnt_bind *bind)
{
	static const struct {
		const char *name;
		add_bind add;
	} table[] = {
		{ "null", bind_null },
		{ "bool", bind_bool },
		{ "int64", bind_int64 },
		{ "uint64", bind_uint64 },
		{ "double", bind_double },
		{ "decimal", bind_decimal },
		{ "text", bind_text },
		{ "bytes", bind_bytes },
		{ "date", bind_date },
		{ "time", bind_time },
		{ "timestamp", bind_timestamp },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].name, bind->type) == 0)
			return table[i].add(params, &bind->value);
	}
	return CENOTE_ERR_ARG;
}

int
cnt_make_params(struct run *run, const struct cnt_step *step, cenote_params **ret_params)
{
	size_t i;
	int r;

	*ret_params = NULL;
	if (step->n_binds == 0 && !step->is_extended)
		return 0;
	r = cenote_params_create(NULL, ret_params);
	for (i = 0; r == CENOTE_OK && i < step->n_binds; i++)
		r = add_param(*ret_params, &step->binds[i]);
	return r < 0 ? cnt_failed(run, "bind", r) : 0;
}
