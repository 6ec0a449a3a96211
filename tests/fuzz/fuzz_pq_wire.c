/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "dialect/wire.h"

static int
is_same(const PQExpBufferData *a, const PQExpBufferData *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* Bytes that can be read as a number are written as the same number, though perhaps with fewer
 * zeros. */
static void
fuzz_unpack(const char *bytes, size_t len)
{
	PQExpBufferData text, wire, again;
	enum cpq_outcome r;

	initPQExpBuffer(&text);
	initPQExpBuffer(&wire);
	initPQExpBuffer(&again);
	if (cpq_numeric_unpack(&text, bytes, len) == CPQ_DONE) {
		r = cpq_numeric_pack(&wire, text.data, text.len);
		FUZZ_CHECK(r == CPQ_DONE);
		FUZZ_CHECK(cpq_numeric_unpack(&again, wire.data, wire.len) == CPQ_DONE);
		/* PostgreSQL has no -0 either */
		FUZZ_CHECK(is_same(&text, &again) || text.data[0] == '-');
	}
	termPQExpBuffer(&text);
	termPQExpBuffer(&wire);
	termPQExpBuffer(&again);
}

/* A text that can be written as bytes is read from them as the same number. */
static void
fuzz_pack(const char *text, size_t len)
{
	PQExpBufferData wire, back, again;
	double before, after;

	initPQExpBuffer(&wire);
	initPQExpBuffer(&back);
	initPQExpBuffer(&again);
	if (cpq_numeric_pack(&wire, text, len) == CPQ_DONE) {
		FUZZ_CHECK(cpq_numeric_unpack(&back, wire.data, wire.len) == CPQ_DONE);
		FUZZ_CHECK(cpq_numeric_pack(&again, back.data, back.len) == CPQ_DONE);
		FUZZ_CHECK(is_same(&wire, &again));
		if (cpq_float_read(text, len, &before) == CPQ_DONE && before == before) {
			FUZZ_CHECK(
				cpq_float_read(back.data, back.len, &after) == CPQ_DONE);
			FUZZ_CHECK(before == after);
		}
	}
	termPQExpBuffer(&wire);
	termPQExpBuffer(&back);
	termPQExpBuffer(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_unpack((const char *)data, size);
	if (size < 512)
		fuzz_pack((const char *)data, size);
	return 0;
}
