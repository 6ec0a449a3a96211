/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a statement's text. The files of the escapes call it. It has no state.
 */
#include "span.h"

struct cod_span
cod_span_trim(struct cod_span span, uint32_t rules)
{
	struct cnc_sql x = cod_span_read(span, rules);
	struct cnc_sql_token t = cnc_sql_next(&x);
	struct cod_span trimmed = { span.p, span.p };

	if ((x.seen & CNC_SQL_SEEN_COMMENT) == 0 && t.kind != CNC_SQL_END)
		trimmed.p = trimmed.end = t.p;
	while (t.kind != CNC_SQL_END) {
		trimmed.end = x.p;
		x.seen = 0;
		t = cnc_sql_next(&x);
	}
	if ((x.seen & CNC_SQL_SEEN_COMMENT) != 0)
		trimmed.end = span.end;
	return trimmed;
}
