/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of tables and functions in a text: read and compare them. If it is not certain that two names are the same, rules
 * take them as equal, and common table expressions as different. summary.c, words.c and query_rules.c call it.
 */
#include "walk.h"

#include <string.h>

void
cnd_names_add(struct cnd_sql_names *names, const struct cnd_sql_name *name)
{
	/* a text may be read more than once */
	for (uint32_t i = 0; i < names->n; i++) {
		if (names->list[i].name.p != name->name.p)
			continue;
		names->list[i].is_written |= name->is_written;
		return;
	}
	if (names->n == CND_SUMMARY_NAMES)
		names->is_cut = true;
	else
		names->list[names->n++] = *name;
}

bool
cnd_name_is_possible(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_WORD || t->kind == CNC_SQL_NAME ||
	       t->kind == CNC_SQL_TEXT;
}

void
cnd_name_read_rest(struct cnc_sql *x, struct cnd_sql_name *name)
{
	for (;;) {
		struct cnc_sql ahead = *x;
		struct cnc_sql_token t = cnc_sql_next(&ahead);

		if (!cnc_sql_is_char(&t, '.'))
			return;
		t = cnc_sql_next(&ahead);
		/* T-SQL: database..table */
		while (cnc_sql_is_char(&t, '.'))
			t = cnc_sql_next(&ahead);
		if (!cnd_name_is_possible(&t))
			return;
		name->schema = name->name;
		name->name = t;
		*x = ahead;
	}
}

bool
cnd_name_has_escapes(const struct cnc_sql_token *t)
{
	static const char escapes[] = "'\"`]\\";
	size_t n;
	const char *p = cnc_sql_inside(t, &n);

	if (t->kind == CNC_SQL_WORD)
		return false;
	/* U&"…" */
	if (*t->p == 'U' || *t->p == 'u')
		return true;
	for (const char *c = escapes; *c != '\0'; c++) {
		if (n > 0 && memchr(p, *c, n) != NULL)
			return true;
	}
	return false;
}

/* Compare without regard to the case of ASCII letters. */
static bool
are_equal(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char x = a[i], y = b[i];

		x = (char)(x >= 'A' && x <= 'Z' ? x | 0x20 : x);
		y = (char)(y >= 'A' && y <= 'Z' ? y | 0x20 : y);
		if (x != y)
			return false;
	}
	return true;
}

/* Two words may differ in case. */
bool
cnd_name_equals(const struct cnc_sql_token *a, const struct cnc_sql_token *b)
{
	if (a->kind != b->kind || a->n != b->n)
		return false;
	return a->kind == CNC_SQL_WORD ? are_equal(a->p, b->p, a->n)
				       : memcmp(a->p, b->p, a->n) == 0;
}

static bool
may_mean(const struct cnc_sql_token *t, const char *wanted, size_t n_wanted)
{
	size_t n;
	const char *p = cnc_sql_inside(t, &n);

	return cnd_name_has_escapes(t) || (n == n_wanted && are_equal(p, wanted, n));
}

bool
cnd_sql_name_is(const struct cnd_sql_name *name, const char *wanted)
{
	const char *point = strrchr(wanted, '.');

	if (point != NULL && name->schema.n > 0 &&
		!may_mean(&name->schema, wanted, (size_t)(point - wanted)))
		return false;
	wanted = point != NULL ? point + 1 : wanted;
	return may_mean(&name->name, wanted, strlen(wanted));
}
