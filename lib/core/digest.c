/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The digest of a statement, by which statistics, rules and caches identify it. cenoted calls this
 * file. The hash is libxxhash's XXH3; only this file needs that library. So it is built as a
 * separate archive, and libcenote does not link the library.
 */
#include "core/digest.h"

#include <string.h>

#include <xxhash.h>

#include "core/sql.h"

struct digest {
	struct cnc_sql sql;
	char *to;
	size_t size;
	size_t len; /* length of the whole digest */
	uint64_t hash;
	struct cnc_sql_token last; /* the last token that was written; END: none */
	bool is_value; /* that token was a literal or placeholder */
};

static void
put(struct digest *d, const char *p, size_t n)
{
	size_t room = d->len < d->size ? d->size - d->len : 0;

	if (room > 0)
		memcpy(d->to + d->len, p, n < room ? n : room);
	d->len += n;
	/* The seed is the hash of all previous bytes, so no text has to be kept. */
	d->hash = XXH3_64bits_withSeed(p, n, d->hash);
}

static void
put_lower(struct digest *d, const char *p, size_t n)
{
	char part[64];

	while (n > 0) {
		size_t i = 0;

		for (; i < n && i < sizeof(part); i++)
			part[i] = (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] | 0x20 : p[i]);
		put(d, part, i);
		p += i;
		n -= i;
	}
}

static bool
is_in(const struct cnc_sql_token *t, const char *chars)
{
	return t->kind == CNC_SQL_CHAR && t->n == 1 && *t->p != '\0' &&
	       strchr(chars, *t->p) != NULL;
}

static bool
is_value(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_NUMBER || t->kind == CNC_SQL_TEXT ||
	       t->kind == CNC_SQL_PLACEHOLDER || t->kind == CNC_SQL_BAD ||
	       (t->kind == CNC_SQL_WORD && *t->p >= '0' && *t->p <= '9');
}

/* Can a sign after this token belong to a number? */
static bool
allows_sign(const struct cnc_sql_token *before)
{
	return before->kind == CNC_SQL_END || is_in(before, "(,=<>");
}

/* Skip a value if it is next, with its sign if it may have one. */
static bool
take_value(struct cnc_sql *x, bool may_have_sign)
{
	struct cnc_sql ahead = *x;
	struct cnc_sql_token t = cnc_sql_next(&ahead);

	if (may_have_sign && is_in(&t, "+-"))
		t = cnc_sql_next(&ahead);
	if (!is_value(&t))
		return false;
	*x = ahead;
	return true;
}

/* Skip the rest of a list of values. */
static void
skip_values(struct cnc_sql *x)
{
	struct cnc_sql ahead = *x;

	while (cnc_sql_take_char(&ahead, ',') && take_value(&ahead, true))
		*x = ahead;
}

/* After the ) of a list of values: skip further lists. */
static void
skip_rows(struct cnc_sql *x)
{
	struct cnc_sql ahead = *x;

	while (cnc_sql_take_char(&ahead, ',') && cnc_sql_take_char(&ahead, '(') &&
		take_value(&ahead, true)) {
		skip_values(&ahead);
		if (!cnc_sql_take_char(&ahead, ')'))
			return;
		*x = ahead;
	}
}

/* Must a blank precede the token? Operators of several bytes stay together, and there is no blank
 * beside points or inside parentheses. */
static bool
needs_space(const struct digest *d, const struct cnc_sql_token *t, bool is_next_value)
{
	static const char operators[] = "~!@#^&|`?+-*/%<>=";

	if (d->last.kind == CNC_SQL_END || is_in(&d->last, "(."))
		return false;
	if (!is_next_value && (is_in(t, "),.;")))
		return false;
	return is_next_value || !is_in(&d->last, operators) || !is_in(t, operators) ||
	       t->has_space;
}

static void
put_token(struct digest *d, const struct cnc_sql_token *t, bool is_next_value)
{
	if (needs_space(d, t, is_next_value))
		put(d, " ", 1);
	if (is_next_value)
		put(d, "?", 1);
	else if (t->kind == CNC_SQL_WORD)
		put_lower(d, t->p, t->n);
	else
		put(d, t->p, t->n);
	d->last = *t;
	d->is_value = is_next_value;
}

/* Skip all semicolons in a row. Returns whether the text ends after these. */
static bool
skip_semicolons(struct cnc_sql *x)
{
	struct cnc_sql ahead;

	while (cnc_sql_take_char(x, ';'))
		continue;
	ahead = *x;
	return cnc_sql_next(&ahead).kind == CNC_SQL_END;
}

static bool
put_next(struct digest *d)
{
	struct cnc_sql before = d->sql;
	struct cnc_sql_token t = cnc_sql_next(&d->sql);
	bool is_row;

	if (t.kind == CNC_SQL_END || (is_in(&t, ";") && skip_semicolons(&d->sql)))
		return false;
	if (is_value(&t) || take_value(&before, allows_sign(&d->last))) {
		if (!is_value(&t))
			d->sql = before;
		t.kind = CNC_SQL_NUMBER;
		put_token(d, &t, true);
		skip_values(&d->sql);
		return true;
	}
	is_row = d->is_value && is_in(&t, ")");
	put_token(d, &t, false);
	if (is_row)
		skip_rows(&d->sql);
	return true;
}

size_t
cnc_digest(const char *sql, size_t len, uint32_t rules, char *to, size_t size,
	uint64_t *ret_hash)
{
	struct digest d = {
		.sql = cnc_sql_begin(sql, len, rules), .to = to, .size = size
	};

	while (put_next(&d))
		continue;
	*ret_hash = d.hash;
	return d.len;
}
