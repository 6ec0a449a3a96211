/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rewrite the placeholders of a prepared statement for a PostgreSQL server. prepare.c calls this
 * file. It owns no state; core/sql.h reads the text by PostgreSQL's rules.
 */
#include "placeholder.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/sql.h"

#define RULES (CNC_SQL_POSTGRESQL | CNC_SQL_QUESTION)

static bool
is_mark(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_PLACEHOLDER && *t->p == '?';
}

/* Is a blank needed, so that the number does not join the token beside it? `?and` becomes `$1 and`. */
static bool
needs_blank(const struct cnc_sql_token *before, const struct cnc_sql_token *t)
{
	if (t->has_space || (!is_mark(before) && !is_mark(t)))
		return false;
	return (before->kind != CNC_SQL_CHAR || *before->p == '$') &&
	       (t->kind != CNC_SQL_CHAR || *t->p == '$');
}

static char *
append(char *out, const char *from, const char *end)
{
	memcpy(out, from, (size_t)(end - from));
	return out + (end - from);
}

size_t
cmy_placeholders(const char *sql, size_t n, char *to)
{
	struct cnc_sql x = cnc_sql_begin(sql, n, RULES);
	struct cnc_sql_token before = { .kind = CNC_SQL_CHAR, .p = "(" }, t;
	const char *copied = sql;
	unsigned number = 0;
	char *out = to;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		out = append(out, copied, t.p);
		if (needs_blank(&before, &t))
			*out++ = ' ';
		if (is_mark(&t))
			out += snprintf(out, 12, "$%u", ++number);
		else
			out = append(out, t.p, x.p);
		copied = x.p;
		before = t;
	}
	return (size_t)(append(out, copied, x.end) - to);
}
