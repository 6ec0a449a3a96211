/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

#include "core/value.h"

/* Values in the form of the protocol: u16 n, then n values. One list can be used for any number of
 * requests. */
struct cenote_params {
	struct cenote_allocator mem;
	struct cnc_buf blob;
	uint32_t n;
};

#define COUNT_SIZE 2u
#define PARAMS_MAX 65535u

static const uint8_t no_values[COUNT_SIZE] = { 0 };

int
cenote_params_create(const cenote_allocator *alloc, cenote_params **ret_params)
{
	const cenote_allocator *mem = alloc ? alloc : &cnc_mem_default;
	cenote_params *p;

	if (!ret_params)
		return CENOTE_ERR_ARG;
	p = cnc_alloc(mem, sizeof(*p));
	if (!p)
		return CENOTE_ERR_NOMEM;
	p->mem = *mem;
	p->n = 0;
	cnc_buf_init(&p->blob, &p->mem, CNP_FRAME_MAX);
	*ret_params = p;
	return CENOTE_OK;
}

void
cenote_params_destroy(cenote_params *params)
{
	struct cenote_allocator mem;

	if (!params)
		return;
	mem = params->mem;
	cnc_buf_finish(&params->blob);
	cnc_free(&mem, params);
}

void
cenote_params_clear(cenote_params *params)
{
	if (!params)
		return;
	params->n = 0;
	cnc_buf_truncate(&params->blob, 0);
}

uint32_t
cenote_params_count(const cenote_params *params)
{
	return params ? params->n : 0;
}

struct cnp_str
cn_params_blob(const cenote_params *params)
{
	struct cnp_str blob = CNP_STR_NONE;

	if (params && params->n > 0) {
		blob.p = (const char *)cnc_buf_head(&params->blob);
		blob.n = cnc_buf_len(&params->blob);
	} else if (params) {
		blob.p = (const char *)no_values;
		blob.n = sizeof(no_values);
	}
	return blob;
}

static int
add(cenote_params *params, const struct cnc_value *value)
{
	int r = CENOTE_OK;

	if (!params)
		return CENOTE_ERR_ARG;
	if (params->n == PARAMS_MAX)
		return CENOTE_ERR_LIMIT;
	if (cnc_buf_len(&params->blob) == 0)
		r = cnc_buf_u16(&params->blob, 0);
	if (r == CENOTE_OK)
		r = cnc_value_encode(&params->blob, value);
	if (r < 0)
		return r;
	params->n++;
	cnc_put_u16(params->blob.data + params->blob.head, (uint16_t)params->n);
	return CENOTE_OK;
}

int
cenote_params_add_null(cenote_params *params)
{
	const struct cnc_value v = { .type = CENOTE_TYPE_NULL, .is_null = 1 };

	return add(params, &v);
}

int
cenote_params_add_bool(cenote_params *params, int value)
{
	const struct cnc_value v = { .type = CENOTE_TYPE_BOOL, .as.i64 = value != 0 };

	return add(params, &v);
}

int
cenote_params_add_int64(cenote_params *params, int64_t value)
{
	const struct cnc_value v = { .type = CENOTE_TYPE_INT64, .as.i64 = value };

	return add(params, &v);
}

int
cenote_params_add_uint64(cenote_params *params, uint64_t value)
{
	const struct cnc_value v = { .type = CENOTE_TYPE_UINT64, .as.u64 = value };

	return add(params, &v);
}

int
cenote_params_add_double(cenote_params *params, double value)
{
	const struct cnc_value v = { .type = CENOTE_TYPE_DOUBLE, .as.f64 = value };

	return add(params, &v);
}

static int
add_bytes(cenote_params *params, uint8_t type, const char *bytes, size_t len)
{
	const struct cnc_value v = {
		.type = type,
		.bytes = bytes ? bytes : "",
		.len = len,
	};

	return !bytes && len > 0 ? CENOTE_ERR_ARG : add(params, &v);
}

int
cenote_params_add_decimal(cenote_params *params, const char *text, size_t len)
{
	if (!text)
		return CENOTE_ERR_ARG;
	return add_bytes(params, CENOTE_TYPE_DECIMAL, text, cn_text_len(text, len));
}

int
cenote_params_add_text(cenote_params *params, const char *text, size_t len)
{
	if (!text && len == CENOTE_NTS)
		return CENOTE_ERR_ARG;
	return add_bytes(params, CENOTE_TYPE_TEXT, text, cn_text_len(text, len));
}

int
cenote_params_add_bytes(cenote_params *params, const void *bytes, size_t len)
{
	return add_bytes(params, CENOTE_TYPE_BYTES, bytes, len);
}

int
cenote_params_add_date(cenote_params *params, const cenote_date *value)
{
	struct cnc_value v = { .type = CENOTE_TYPE_DATE };

	if (!value)
		return CENOTE_ERR_ARG;
	v.as.date = *value;
	return add(params, &v);
}

int
cenote_params_add_time(cenote_params *params, const cenote_time *value)
{
	struct cnc_value v = { .type = CENOTE_TYPE_TIME };

	if (!value)
		return CENOTE_ERR_ARG;
	v.as.time = *value;
	return add(params, &v);
}

int
cenote_params_add_timestamp(cenote_params *params, const cenote_timestamp *value)
{
	struct cnc_value v = { .type = CENOTE_TYPE_TIMESTAMP };

	if (!value)
		return CENOTE_ERR_ARG;
	v.as.timestamp = *value;
	return add(params, &v);
}

int
cenote_params_add_native(cenote_params *params, uint32_t native_type, uint32_t format,
	const void *bytes, size_t len)
{
	const struct cnc_value v = {
		.type = bytes ? CENOTE_TYPE_OTHER : CENOTE_TYPE_NULL,
		.is_null = bytes == NULL,
		.is_native = 1,
		.format = (uint8_t)format,
		.native_type = native_type,
		.bytes = bytes ? bytes : "",
		.len = bytes ? len : 0,
	};

	if (format != CENOTE_FORMAT_TEXT && format != CENOTE_FORMAT_BINARY)
		return CENOTE_ERR_ARG;
	return add(params, &v);
}

int
cenote_params_add_long(cenote_params *params, uint32_t type)
{
	const struct cnc_value v = { .type = (uint8_t)type, .is_long = 1 };

	if (type != CENOTE_TYPE_TEXT && type != CENOTE_TYPE_BYTES)
		return CENOTE_ERR_ARG;
	return add(params, &v);
}
