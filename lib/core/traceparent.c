/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace contexts (W3C Trace Context), also those in the comments of a statement. lib/options.c and cenoted call this file. */
#include "core/traceparent.h"

#include <string.h>

#include "core/sql.h"

/* "00-" trace "-" span "-" flags */
#define AT_TRACE 3u
#define AT_SPAN  (AT_TRACE + CNC_TRACE_ID_LEN + 1)
#define AT_FLAGS (AT_SPAN + CNC_SPAN_ID_LEN + 1)
#define LEN      (AT_FLAGS + 2)

static const char key[] = "traceparent='";
#define KEY_LEN (sizeof(key) - 1)

/* ---- one text ---- */

static bool
is_hex(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!(p[i] >= '0' && p[i] <= '9') && !(p[i] >= 'a' && p[i] <= 'f'))
			return false;
	}
	return true;
}

/* An id of zeros only stands for "none". */
static bool
is_id(const char *p, size_t n)
{
	if (!is_hex(p, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (p[i] != '0')
			return true;
	}
	return false;
}

bool
cnc_traceparent_parse(const char *text, size_t len, struct cnc_traceparent *ret)
{
	if (len < LEN || !is_hex(text, 2) || memcmp(text, "ff", 2) == 0)
		return false;
	/* a later version may go on behind the flags */
	if (len > LEN && (memcmp(text, "00", 2) == 0 || text[LEN] != '-'))
		return false;
	if (text[AT_TRACE - 1] != '-' || text[AT_SPAN - 1] != '-' ||
		text[AT_FLAGS - 1] != '-')
		return false;
	if (!is_id(text + AT_TRACE, CNC_TRACE_ID_LEN) ||
		!is_id(text + AT_SPAN, CNC_SPAN_ID_LEN) || !is_hex(text + AT_FLAGS, 2))
		return false;
	memcpy(ret->trace_id, text + AT_TRACE, CNC_TRACE_ID_LEN);
	ret->trace_id[CNC_TRACE_ID_LEN] = '\0';
	memcpy(ret->span_id, text + AT_SPAN, CNC_SPAN_ID_LEN);
	ret->span_id[CNC_SPAN_ID_LEN] = '\0';
	return true;
}

/* ---- in a comment ---- */

/* Look for the key in bytes that are blanks and comments. */
static bool
find_in_comments(const char *p, const char *end, struct cnc_traceparent *ret)
{
	for (; (size_t)(end - p) > KEY_LEN; p++) {
		const char *value = p + 1 + KEY_LEN, *quote;

		/* the byte before it ends another key, or begins the comment */
		if (*p == '\0' || strchr("*-#, \t\r\n", *p) == NULL ||
			memcmp(p + 1, key, KEY_LEN) != 0)
			continue;
		quote = memchr(value, '\'', (size_t)(end - value));
		if (quote != NULL &&
			cnc_traceparent_parse(value, (size_t)(quote - value), ret))
			return true;
	}
	return false;
}

bool
cnc_traceparent_find(
	const char *sql, size_t len, uint32_t rules, struct cnc_traceparent *ret)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, rules);
	struct cnc_sql_token t;
	const char *before;

	do {
		before = x.p;
		t = cnc_sql_next(&x);
		/* what lies between two tokens is blanks and comments */
		if (find_in_comments(before, t.p, ret))
			return true;
	} while (t.kind != CNC_SQL_END);
	return false;
}
