/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "pg.h"
#include "wire.h"

/* A value from the server, after its type id and wire format. */
static void
fuzz_canonical(const uint8_t *data, size_t size)
{
	cnd_pg_put *put = cnd_pg_put_of(cnd_pg_get_u32(data), data[4] & 1);
	struct cnc_batch w;
	struct cnc_buf out;
	size_t len;
	int r;

	if (!put)
		return;
	cnc_buf_init(&out, &cnc_mem_default, SIZE_MAX);
	FUZZ_CHECK(cnc_batch_begin(&w, &out, 1) == CENOTE_OK);
	FUZZ_CHECK(cnc_batch_row(&w) == CENOTE_OK);
	r = put(&w, data + 5, size - 5);
	FUZZ_CHECK(r == CENOTE_OK || r == CENOTE_ERR_PROTOCOL);
	if (r == CENOTE_OK) {
		cnc_batch_row_done(&w);
		len = cnc_batch_end(&w);
		FUZZ_CHECK(cnc_batch_check(cnc_buf_head(&out), len, 1, NULL, NULL,
				   &(uint32_t){ 0 }) == CENOTE_OK);
	}
	cnc_buf_finish(&out);
}

/* A bound value, after the type id of its placeholder. */
static void
fuzz_param(const uint8_t *data, size_t size)
{
	uint32_t oid = cnd_pg_get_u32(data), n;
	const uint8_t *bytes;
	struct cnc_reader r;
	struct cnc_value v;
	struct cnc_diag d;
	struct cnc_buf out;

	cnc_reader_init(&r, data + 4, size - 4);
	cnc_value_decode(&r, &v);
	if (r.bad)
		return;
	cnc_diag_init(&d, NULL);
	cnc_buf_init(&out, &cnc_mem_default, SIZE_MAX);
	FUZZ_CHECK(cnd_pg_param_format(&v, oid) <= CND_PG_BINARY);
	FUZZ_CHECK(!v.is_null || v.is_native || cnd_pg_param_type(&v) == 0);
	FUZZ_CHECK(cnd_pg_param_put(&out, &v, oid, &d) == CENOTE_OK);
	bytes = cnc_buf_head(&out);
	FUZZ_CHECK(bytes != NULL);
	n = cnd_pg_get_u32(bytes);
	FUZZ_CHECK(cnc_buf_len(&out) == 4 + (n == UINT32_MAX ? 0 : n));
	FUZZ_CHECK(v.is_null == (n == UINT32_MAX));
	cnc_buf_finish(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnp_column c = CNP_COLUMN_INIT;

	if (size < 6)
		return 0;
	fuzz_canonical(data, size);
	fuzz_param(data, size);
	c.native_type = cnd_pg_get_u32(data);
	memcpy(&c.modifier, data + 1, sizeof(c.modifier));
	memcpy(&c.length, data + 2, sizeof(c.modifier));
	cnd_pg_type_fill(&c);
	FUZZ_CHECK(c.length >= -1 && c.precision >= -1);
	FUZZ_CHECK(c.type == cnd_pg_type(c.native_type));
	return 0;
}
