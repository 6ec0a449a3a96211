/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace contexts: what is accepted consists of two ids. The first byte chooses the rules of the SQL. */
#include "fuzz.h"

#include <string.h>

#include "core/sql.h"
#include "core/traceparent.h"

static void
check(const struct cnc_traceparent *t)
{
	FUZZ_CHECK(strlen(t->trace_id) == CNC_TRACE_ID_LEN &&
		   strlen(t->span_id) == CNC_SPAN_ID_LEN);
	FUZZ_CHECK(strspn(t->trace_id, "0123456789abcdef") == CNC_TRACE_ID_LEN &&
		   strspn(t->span_id, "0123456789abcdef") == CNC_SPAN_ID_LEN);
	FUZZ_CHECK(strspn(t->trace_id, "0") < CNC_TRACE_ID_LEN &&
		   strspn(t->span_id, "0") < CNC_SPAN_ID_LEN);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t rules[] = { CNC_SQL_POSTGRESQL, CNC_SQL_MYSQL,
		CNC_SQL_SQLITE, CNC_SQL_TDS, CNC_SQL_UNKNOWN };
	struct cnc_traceparent t;
	char *text;

	if (size < 1)
		return 0;
	/* memory that ends with the text */
	text = malloc(size > 1 ? size - 1 : 1);
	FUZZ_CHECK(text != NULL);
	memcpy(text, data + 1, size - 1);
	if (cnc_traceparent_parse(text, size - 1, &t))
		check(&t);
	if (cnc_traceparent_find(text, size - 1,
		    rules[data[0] % (sizeof(rules) / sizeof(rules[0]))], &t))
		check(&t);
	free(text);
	return 0;
}
