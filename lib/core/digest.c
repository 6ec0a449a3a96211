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
	uint64_t hash; /* of all bytes before those in `part` */
	char part[256];
	size_t n_part;
	struct cnc_sql_token verb; /* the first token of the statement; END: none */
	struct cnc_sql_token last; /* the last token that was written; END: none */
	bool is_value; /* that token was a literal or placeholder */
	uint32_t depth; /* of parentheses */
	bool is_in_set; /* after SET, before the next clause */
	bool is_after_into; /* INTO and a name were the last tokens: a list of columns may follow */
	bool is_in_columns; /* in that list */
	bool is_after_set; /* a statement has ended that may have changed the rules */
};

/* The seed is the hash of all previous bytes, so only a part of the text has to be kept. */
static void
hash_part(struct digest *d)
{
	d->hash = XXH3_64bits_withSeed(d->part, d->n_part, d->hash);
	d->n_part = 0;
}

static void
put(struct digest *d, const char *p, size_t n)
{
	size_t room = d->len < d->size ? d->size - d->len : 0;

	if (room > 0)
		memcpy(d->to + d->len, p, n < room ? n : room);
	d->len += n;
	while (n > sizeof(d->part) - d->n_part) {
		size_t fits = sizeof(d->part) - d->n_part;

		memcpy(d->part + d->n_part, p, fits);
		d->n_part += fits;
		hash_part(d);
		p += fits;
		n -= fits;
	}
	memcpy(d->part + d->n_part, p, n);
	d->n_part += n;
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
is_next_char(struct cnc_sql x, char c)
{
	struct cnc_sql_token t = cnc_sql_next(&x);

	return cnc_sql_is_char(&t, c);
}

/* Whether "a" can only be a name here. It is the next token of a list of values, or comes after d->last. */
static bool
is_surely_name(const struct digest *d, const struct cnc_sql *after, bool is_in_list)
{
	static const char *const before[] = { "as", "by", "column", "exists", "from",
		"index", "into", "join", "on", "references", "set", "table", "trigger",
		"update", "view", NULL };

	if (is_next_char(*after, '.') || d->is_in_columns)
		return true;
	if (d->is_in_set && d->depth == 0 && (is_in_list || is_in(&d->last, ",")))
		return true;
	return !is_in_list &&
	       (is_in(&d->last, ".") || cnc_sql_is_one_of(&d->last, before));
}

/* Whether the word is the value of a setting, which needs no quotes: SET a.b TO value, value. */
static bool
is_setting(const struct digest *d, const struct cnc_sql_token *t,
	const struct cnc_sql *after, bool is_in_list)
{
	static const char *const verbs[] = { "alter", "set", NULL };
	static const char *const words[] = { "default", "false", "off", "on", "true",
		NULL };

	if (!d->is_in_set || !cnc_sql_is_one_of(&d->verb, verbs) ||
		cnc_sql_is_one_of(t, words))
		return false;
	return is_in_list ? !is_next_char(*after, '=')
			  : is_in(&d->last, "=") || cnc_sql_is(&d->last, "to");
}

/* Whether the token is a literal or placeholder. `after` reads on from the token's end. */
static bool
is_value(const struct digest *d, const struct cnc_sql_token *t,
	const struct cnc_sql *after, bool is_in_list)
{
	switch (t->kind) {
	case CNC_SQL_NUMBER:
	case CNC_SQL_TEXT:
	case CNC_SQL_PLACEHOLDER:
	case CNC_SQL_BAD:
		return true;
	case CNC_SQL_WORD:
		return (*t->p >= '0' && *t->p <= '9') ||
		       is_setting(d, t, after, is_in_list);
	case CNC_SQL_VARIABLE:
		/* 'user'@'host' */
		return t->n > 1 && (t->p[1] == '\'' || t->p[1] == '"');
	case CNC_SQL_NAME:
		return (after->rules & CNC_DIGEST_UNSURE_NAMES) != 0 && *t->p == '"' &&
		       !is_surely_name(d, after, is_in_list);
	default:
		return false;
	}
}

/* Can a sign after this token belong to a number? */
static bool
allows_sign(const struct cnc_sql_token *before)
{
	return before->kind == CNC_SQL_END || is_in(before, "(,=<>");
}

/* Skip a value if it is next, with its sign if it may have one. */
static bool
take_value(const struct digest *d, struct cnc_sql *x, bool may_have_sign, bool is_in_list)
{
	struct cnc_sql ahead = *x;
	struct cnc_sql_token t = cnc_sql_next(&ahead);

	if (may_have_sign && is_in(&t, "+-"))
		t = cnc_sql_next(&ahead);
	if (!is_value(d, &t, &ahead, is_in_list))
		return false;
	*x = ahead;
	return true;
}

/* Skip the rest of a list of values. */
static void
skip_values(const struct digest *d, struct cnc_sql *x)
{
	struct cnc_sql ahead = *x;

	while (cnc_sql_take_char(&ahead, ',') && take_value(d, &ahead, true, true))
		*x = ahead;
}

/* After the ) of a list of values: skip further lists. */
static void
skip_rows(const struct digest *d, struct cnc_sql *x)
{
	struct cnc_sql ahead = *x;

	while (cnc_sql_take_char(&ahead, ',') && cnc_sql_take_char(&ahead, '(') &&
		take_value(d, &ahead, true, true)) {
		skip_values(d, &ahead);
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

/* Note what the token says of those that follow it. */
static void
note_place(struct digest *d, const struct cnc_sql_token *t, bool is_next_value)
{
	static const char *const clauses[] = { "from", "output", "returning", "where",
		NULL };
	bool is_name =
		!is_next_value && (t->kind == CNC_SQL_WORD || t->kind == CNC_SQL_NAME);

	if (d->verb.kind == CNC_SQL_END)
		d->verb = *t;
	if (is_in(t, "(")) {
		d->is_in_columns = d->is_after_into;
		d->depth++;
	} else if (is_in(t, ")")) {
		d->is_in_columns = false;
		d->depth -= d->depth > 0;
	} else if (cnc_sql_is(t, "set")) {
		d->is_in_set = true;
	} else if (cnc_sql_is_one_of(t, clauses)) {
		d->is_in_set = false;
	}
	d->is_after_into = (is_name && cnc_sql_is(&d->last, "into")) ||
			   (d->is_after_into && is_in(t, ".")) ||
			   (is_name && d->is_after_into && is_in(&d->last, "."));
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
	note_place(d, t, is_next_value);
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

/* Whether what follows cannot be read with certainty. */
static bool
is_dark(const struct digest *d)
{
	return (d->sql.rules & CNC_DIGEST_UNSURE_REST) != 0 &&
	       ((d->sql.seen & CNC_SQL_SEEN_EXECUTED) != 0 || d->is_after_set);
}

static bool
put_next(struct digest *d)
{
	struct cnc_sql before = d->sql;
	struct cnc_sql_token t = cnc_sql_next(&d->sql);
	bool is_row;

	if (t.kind != CNC_SQL_END && is_dark(d)) {
		d->sql.p = d->sql.end;
		t.kind = CNC_SQL_BAD;
	}
	if (t.kind == CNC_SQL_END || (is_in(&t, ";") && skip_semicolons(&d->sql)))
		return false;
	if (is_value(d, &t, &d->sql, false)) {
		t.kind = CNC_SQL_NUMBER;
		put_token(d, &t, true);
		skip_values(d, &d->sql);
		return true;
	}
	if (is_in(&t, "+-") && allows_sign(&d->last) &&
		take_value(d, &before, true, false)) {
		d->sql = before;
		t.kind = CNC_SQL_NUMBER;
		put_token(d, &t, true);
		skip_values(d, &d->sql);
		return true;
	}
	is_row = d->is_value && is_in(&t, ")");
	put_token(d, &t, false);
	if (is_in(&t, ";")) {
		d->is_after_set |= cnc_sql_is(&d->verb, "set");
		d->verb.kind = CNC_SQL_END;
		d->is_in_set = false;
	}
	if (is_row)
		skip_rows(d, &d->sql);
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
	hash_part(&d);
	*ret_hash = d.hash;
	return d.len;
}

uint64_t
cnc_digest_key(const void *bytes, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, len, seed);
}
