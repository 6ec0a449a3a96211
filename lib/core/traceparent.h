/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_TRACEPARENT_H
#define CNC_TRACEPARENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The trace context of a client: the `traceparent` of W3C Trace Context, "00-TRACE-SPAN-FLAGS". libcenote checks what a
 * program gives it, and cenoted checks what a client sends.
 */
#define CNC_TRACE_ID_LEN 32u
#define CNC_SPAN_ID_LEN  16u

struct cnc_traceparent {
	char trace_id[CNC_TRACE_ID_LEN +
		      1]; /* lower-case hexadecimal; "": there is no trace context */
	char span_id[CNC_SPAN_ID_LEN + 1];
};

/*
 * Read one. False if it is none; then *ret is unchanged. Ids of zeros only and the version ff are not valid. A later version may
 * have more behind the flags, as the recommendation says; that is not looked at.
 */
bool cnc_traceparent_parse(const char *text, size_t len, struct cnc_traceparent *ret);

/*
 * Find the traceparent that sqlcommenter and OpenTelemetry write into a comment of a statement: traceparent='00-…'. False if the
 * comments have none that is valid. A literal with such a text is not a comment. `rules`: enum cnc_sql_rule.
 */
bool cnc_traceparent_find(
	const char *sql, size_t len, uint32_t rules, struct cnc_traceparent *ret);

#endif
