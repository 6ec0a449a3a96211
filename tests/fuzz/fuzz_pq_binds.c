/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "dialect/dialect.h"

static const Oid types[] = { 0, CPQ_BOOL, CPQ_BYTEA, CPQ_INT8, CPQ_INT2, CPQ_INT4,
	CPQ_TEXT, CPQ_OID, CPQ_FLOAT4, CPQ_FLOAT8, CPQ_DATE, CPQ_TIME, CPQ_TIMESTAMP,
	CPQ_TIMESTAMPTZ, CPQ_NUMERIC, CPQ_UUID, CPQ_JSONB, CPQ_INTERVAL };

/* A parameter's value is taken whole or not at all. The first byte chooses its type and form. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cenote_params *params = NULL;
	enum cpq_outcome r;
	int is_binary;
	char *bytes;
	Oid type;

	if (size < 1)
		return 0;
	is_binary = data[0] & 1;
	type = types[(data[0] >> 1) % (sizeof(types) / sizeof(types[0]))];
	/* a text ends with a zero byte; a binary value has only its length */
	bytes = malloc(size);
	FUZZ_CHECK(bytes != NULL && cenote_params_create(NULL, &params) == CENOTE_OK);
	memcpy(bytes, data + 1, size - 1);
	bytes[size - 1] = '\0';
	r = cpq_bind(
		params, type, bytes, is_binary ? size - 1 : strlen(bytes), is_binary);
	FUZZ_CHECK(r != CPQ_NO_MEMORY);
	FUZZ_CHECK(cenote_params_count(params) == (r == CPQ_DONE));
	cenote_params_destroy(params);
	free(bytes);
	return 0;
}
