/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only reader of SQL text. lib/core, the backends, the shims and sqlsh call it. It owns no
 * state: the state is in the caller's struct cnc_sql.
 *
 * The pool's safety depends on it: a backend judges from these tokens what a statement may leave in
 * its session. If servers may disagree about a text, the caller must be able to see that (enum
 * cnc_sql_seen, CNC_SQL_BAD).
 */
#include "core/sql.h"

#include <string.h>

/* ---- bytes ---- */

static bool
has_rule(const struct cnc_sql *x, uint32_t rule)
{
	return (x->rules & rule) != 0;
}

static size_t
count_left(const struct cnc_sql *x)
{
	return (size_t)(x->end - x->p);
}

/* The byte n places after the current one; '\0' after the end. */
static char
at(const struct cnc_sql *x, size_t n)
{
	return (char)(count_left(x) > n ? x->p[n] : 0);
}

static bool
follows(const struct cnc_sql *x, char first, char second)
{
	return count_left(x) >= 2 && x->p[0] == first && x->p[1] == second;
}

static bool
is_blank(const struct cnc_sql *x, char c)
{
	if (c >= '\t' && c <= '\r')
		return c != '\v' || !has_rule(x, CNC_SQL_NO_VT);
	return c == ' ' || (c == '\0' && has_rule(x, CNC_SQL_ZERO_BLANK));
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(const struct cnc_sql *x, char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       ((unsigned char)c >= 0x80 && has_rule(x, CNC_SQL_WIDE_WORDS));
}

static bool
is_word_start(const struct cnc_sql *x, char c)
{
	if (c == '$')
		return has_rule(x, CNC_SQL_WORD_DOLLAR);
	if (c == '@' || c == '#')
		return has_rule(x, CNC_SQL_WORD_SIGNS);
	return is_letter(x, c);
}

static bool
is_word_part(const struct cnc_sql *x, char c)
{
	return is_word_start(x, c) || is_digit(c) ||
	       (c == '$' && has_rule(x, CNC_SQL_WIDE_WORDS));
}

/* The number of bytes of the next character. */
static size_t
character_len(const struct cnc_sql *x)
{
	size_t n = 0;

	if (x->character != NULL && (unsigned char)*x->p >= 0x80)
		n = x->character(x->p, count_left(x) > 4 ? x->p + 4 : x->end);
	return n > 1 ? n : 1;
}

/* ---- blanks and comments ---- */

static bool
begins_line_comment(const struct cnc_sql *x)
{
	if (!has_rule(x, CNC_SQL_COMMENTS))
		return false;
	if (*x->p == '#')
		return has_rule(x, CNC_SQL_HASH);
	if (!follows(x, '-', '-'))
		return false;
	return !has_rule(x, CNC_SQL_DASH_BLANK) || count_left(x) == 2 ||
	       (unsigned char)x->p[2] <= ' ' || x->p[2] == 0x7f;
}

static void
skip_line(struct cnc_sql *x)
{
	for (; x->p < x->end && *x->p != '\n'; x->p++) {
		if (*x->p != '\r')
			continue;
		if (has_rule(x, CNC_SQL_CR))
			return;
		if (at(x, 1) != '\n')
			x->seen |= CNC_SQL_SEEN_RETURN;
	}
	if (x->p == x->end)
		x->seen |= CNC_SQL_SEEN_OPEN_LINE;
}

/* Is the comment that begins here one that MySQL or MariaDB may execute? */
static bool
is_executed(const struct cnc_sql *x)
{
	return at(x, 2) == '!' || (at(x, 2) == 'M' && at(x, 3) == '!');
}

static bool
begins_block(const struct cnc_sql *x)
{
	return has_rule(x, CNC_SQL_COMMENTS) && follows(x, '/', '*') &&
	       !(has_rule(x, CNC_SQL_EXECUTED) && is_executed(x));
}

static void
open_block(struct cnc_sql *x)
{
	if (is_executed(x))
		x->seen |= CNC_SQL_SEEN_EXECUTED;
	x->open = (struct cnc_sql_open){ .what = '*', .depth = 1, .begin = x->p };
	x->p += 2;
}

/* Continue in an open comment. False if it does not end. */
static bool
finish_block(struct cnc_sql *x)
{
	while (x->p < x->end) {
		if (follows(x, '*', '/')) {
			x->p += 2;
			if (--x->open.depth == 0) {
				x->open.what = '\0';
				return true;
			}
		} else if (follows(x, '/', '*')) {
			x->seen |= CNC_SQL_SEEN_NESTED;
			x->open.depth += has_rule(x, CNC_SQL_NESTED);
			/* Where comments do not nest, the star of the opener may belong to the
			 * comment's end. */
			x->p += has_rule(x, CNC_SQL_NESTED) ? 2 : 1;
		} else {
			x->p++;
		}
	}
	return false;
}

static enum cnc_sql_gap_kind
kind_of_block(const struct cnc_sql *x)
{
	if (is_executed(x))
		return CNC_SQL_GAP_EXECUTED;
	return at(x, 2) == '+' ? CNC_SQL_GAP_HINT : CNC_SQL_GAP_BLOCK;
}

struct cnc_sql_gap
cnc_sql_next_gap(struct cnc_sql *x)
{
	struct cnc_sql_gap gap = { CNC_SQL_GAP_NONE, x->p, 0 };

	if (x->p == x->end)
		return gap;
	if (is_blank(x, *x->p)) {
		gap.kind = CNC_SQL_GAP_BLANK;
		x->p++;
	} else if (begins_line_comment(x)) {
		gap.kind = *x->p == '#' ? CNC_SQL_GAP_HASH : CNC_SQL_GAP_DASHES;
		x->seen |= CNC_SQL_SEEN_COMMENT;
		skip_line(x);
	} else if (begins_block(x)) {
		gap.kind = kind_of_block(x);
		x->seen |= CNC_SQL_SEEN_COMMENT;
		open_block(x);
		if (!finish_block(x))
			gap.kind = CNC_SQL_GAP_NONE;
	}
	gap.n = (size_t)(x->p - gap.p);
	return gap;
}

bool
cnc_sql_skip_blanks(struct cnc_sql *x)
{
	struct cnc_sql_gap gap;

	if (x->open.what == '*' && x->p < x->end && !finish_block(x))
		return false;
	do
		gap = cnc_sql_next_gap(x);
	while (gap.kind != CNC_SQL_GAP_NONE);
	return gap.n == 0;
}

/* ---- quotes ---- */

/* Continue in an open text or name. False if it does not end. */
static bool
finish_quoted(struct cnc_sql *x)
{
	char close = x->open.what;

	if (close == '[')
		close = ']';
	while (x->p < x->end) {
		if (*x->p == '\\' && x->open.has_backslash) {
			/* In some encodings this byte may be the second byte of a character. */
			if (has_rule(x, CNC_SQL_STRICT) &&
				(unsigned char)x->p[-1] >= 0x80)
				break;
			x->p += count_left(x) > 1 ? 2 : 1;
		} else if (*x->p != close) {
			x->p += character_len(x);
		} else if (at(x, 1) == close && !x->open.is_bits) {
			x->p += 2;
		} else {
			x->p++;
			x->open.what = '\0';
			return true;
		}
	}
	x->p = x->end;
	return false;
}

/* If blanks and line comments that contain a newline precede another quote, skip them: the text
 * continues after that quote. */
static bool
continues(struct cnc_sql *x)
{
	struct cnc_sql ahead = *x;
	bool has_newline = false;

	while (ahead.p < ahead.end) {
		if (is_blank(&ahead, *ahead.p)) {
			has_newline |= *ahead.p == '\n' || *ahead.p == '\r';
			ahead.p++;
		} else if (begins_line_comment(&ahead)) {
			skip_line(&ahead);
		} else {
			break;
		}
	}
	if (!has_newline || at(&ahead, 0) != '\'')
		return false;
	x->p = ahead.p;
	return true;
}

/* The length of a prefix of a text or name: E, B, X, N or U&. */
static size_t
measure_prefix(const struct cnc_sql *x)
{
	char c = (char)(*x->p | 0x20);

	if (!has_rule(x, CNC_SQL_PREFIXES))
		return 0;
	if ((c == 'e' || c == 'b' || c == 'x' || c == 'n') && at(x, 1) == '\'')
		return 1;
	if (c == 'u' && at(x, 1) == '&' && (at(x, 2) == '\'' || at(x, 2) == '"'))
		return 2;
	return 0;
}

/* Is this character a quote by the current rules? */
static bool
is_quote(const struct cnc_sql *x, char c)
{
	switch (c) {
	case '\'':
	case '"':
		return has_rule(x, CNC_SQL_QUOTES);
	case '`':
		return has_rule(x, CNC_SQL_BACKQUOTES);
	case '[':
		return has_rule(x, CNC_SQL_BRACKETS);
	default:
		return false;
	}
}

static bool
is_text_quote(const struct cnc_sql *x, char quote)
{
	return quote == '\'' || (quote == '"' && has_rule(x, CNC_SQL_DOUBLE_QUOTED_TEXT));
}

static enum cnc_sql_kind
read_quoted(struct cnc_sql *x, size_t n_prefix)
{
	char prefix = (char)(n_prefix > 0 ? *x->p | 0x20 : 'n');
	char quote = x->p[n_prefix];
	bool is_text = is_text_quote(x, quote);

	x->open = (struct cnc_sql_open){ .begin = x->p };
	x->open.is_bits = prefix == 'b' || prefix == 'x';
	x->open.has_backslash =
		is_text &&
		(prefix == 'e' || (prefix == 'n' && has_rule(x, CNC_SQL_BACKSLASH)));
	x->p += n_prefix;
	do {
		x->open.what = quote;
		x->p++;
		if (!finish_quoted(x))
			return CNC_SQL_BAD;
	} while (quote == '\'' && has_rule(x, CNC_SQL_CONTINUED) && continues(x));
	return is_text ? CNC_SQL_TEXT : CNC_SQL_NAME;
}

/* The length of a $tag$ that begins here; 0 if there is none. */
static size_t
measure_tag(const struct cnc_sql *x)
{
	size_t n = 1;

	if (!has_rule(x, CNC_SQL_DOLLAR_QUOTES) || is_digit(at(x, 1)))
		return 0;
	while (is_letter(x, at(x, n)) || is_digit(at(x, n)))
		n++;
	return at(x, n) == '$' ? n + 1 : 0;
}

/* Continue in an open dollar quote. False if it does not end. */
static bool
finish_dollars(struct cnc_sql *x)
{
	size_t n = x->open.n_tag;

	while (count_left(x) >= n) {
		const char *dollar = memchr(x->p, '$', count_left(x));

		if (dollar == NULL || (size_t)(x->end - dollar) < n)
			break;
		if (memcmp(dollar, x->open.begin, n) == 0) {
			x->p = dollar + n;
			x->open.what = '\0';
			return true;
		}
		x->p = dollar + 1;
	}
	x->p = x->end;
	return false;
}

/* ---- tokens ---- */

static size_t
skip_digits(struct cnc_sql *x)
{
	const char *begin = x->p;

	while (is_digit(at(x, 0)))
		x->p++;
	return (size_t)(x->p - begin);
}

static void
skip_word(struct cnc_sql *x)
{
	while (x->p < x->end && is_word_part(x, *x->p))
		x->p += character_len(x);
}

/* Servers differ about the end of a number. After a fraction or exponent, a word may follow at
 * once. After plain digits, letters belong to them (1a is a name of MySQL's, 0x1f a number). */
static enum cnc_sql_kind
read_number(struct cnc_sql *x)
{
	bool has_fraction = has_rule(x, CNC_SQL_NUMBERS);
	bool is_plain = skip_digits(x) > 0;

	if (has_fraction && at(x, 0) == '.') {
		is_plain = false;
		x->p++;
		(void)skip_digits(x);
	}
	if (has_fraction && (at(x, 0) | 0x20) == 'e') {
		size_t n = at(x, 1) == '-' || at(x, 1) == '+' ? 2 : 1;

		if (is_digit(at(x, n))) {
			is_plain = false;
			x->p += n;
			(void)skip_digits(x);
		}
	}
	if (x->p == x->end || !is_word_start(x, *x->p))
		return CNC_SQL_NUMBER;
	if (has_rule(x, CNC_SQL_STRICT))
		return CNC_SQL_BAD;
	if (!is_plain)
		return CNC_SQL_NUMBER;
	skip_word(x);
	return CNC_SQL_WORD;
}

/* Read a token that begins with any other byte. */
static enum cnc_sql_kind
read_char(struct cnc_sql *x)
{
	static const char known[] = "()[],;:.~!@#^&|`?+-*/%<>=";
	char c = *x->p++;

	/* ::= is :: and = for PostgreSQL, and : and := for MySQL */
	if (c == ':' &&
		(at(x, 0) == '=' ||
			(at(x, 0) == ':' &&
				(at(x, 1) != '=' || has_rule(x, CNC_SQL_PREFIXES)))))
		x->p++;
	else if (has_rule(x, CNC_SQL_STRICT) && (c == '\0' || strchr(known, c) == NULL))
		return CNC_SQL_BAD;
	return CNC_SQL_CHAR;
}

static enum cnc_sql_kind
read_dollar(struct cnc_sql *x)
{
	x->open = (struct cnc_sql_open){ .begin = x->p, .n_tag = measure_tag(x) };
	if (x->open.n_tag > 0) {
		x->open.what = '$';
		x->p += x->open.n_tag;
		return finish_dollars(x) ? CNC_SQL_TEXT : CNC_SQL_BAD;
	}
	if (has_rule(x, CNC_SQL_DOLLAR) && is_digit(at(x, 1))) {
		x->p++;
		(void)skip_digits(x);
		return has_rule(x, CNC_SQL_STRICT) && is_letter(x, at(x, 0))
			       ? CNC_SQL_BAD
			       : CNC_SQL_PLACEHOLDER;
	}
	if (!has_rule(x, CNC_SQL_WORD_DOLLAR))
		return read_char(x);
	skip_word(x);
	return CNC_SQL_WORD;
}

/* Read a variable: @a, @'a b', @`a`, @@session.a */
static enum cnc_sql_kind
read_variable(struct cnc_sql *x)
{
	const char *begin = x->p;

	x->p += at(x, 1) == '@' ? 2 : 1;
	if (x->p < x->end && *x->p != '[' && is_quote(x, *x->p)) {
		enum cnc_sql_kind kind = read_quoted(x, 0);

		x->open.begin = begin;
		return kind == CNC_SQL_BAD ? CNC_SQL_BAD : CNC_SQL_VARIABLE;
	}
	while (x->p < x->end && (is_word_part(x, *x->p) || *x->p == '.'))
		x->p += character_len(x);
	return CNC_SQL_VARIABLE;
}

static enum cnc_sql_kind
read_question(struct cnc_sql *x)
{
	x->p++;
	if (has_rule(x, CNC_SQL_QUESTION_NUMBER))
		(void)skip_digits(x);
	return CNC_SQL_PLACEHOLDER;
}

static enum cnc_sql_kind
read_colon(struct cnc_sql *x)
{
	x->p++;
	while (is_letter(x, at(x, 0)) || is_digit(at(x, 0)))
		x->p++;
	return CNC_SQL_PLACEHOLDER;
}

/* The length of a mark of an executed comment; 0 if there is none here. */
static size_t
measure_mark(const struct cnc_sql *x)
{
	size_t n;

	if (!has_rule(x, CNC_SQL_EXECUTED))
		return 0;
	if (follows(x, '*', '/'))
		return 2;
	if (!follows(x, '/', '*') || !is_executed(x))
		return 0;
	n = x->p[2] == 'M' ? 4 : 3;
	while (is_digit(at(x, n)))
		n++;
	return n;
}

static enum cnc_sql_kind
read_word(struct cnc_sql *x)
{
	char first = *x->p;

	skip_word(x);
	return first == '@' ? CNC_SQL_VARIABLE : CNC_SQL_WORD;
}

static enum cnc_sql_kind
read_token(struct cnc_sql *x)
{
	char c = *x->p;
	size_t n = measure_prefix(x);

	if (n > 0 || is_quote(x, c))
		return read_quoted(x, n);
	if (c == '$')
		return read_dollar(x);
	if (is_word_start(x, c))
		return read_word(x);
	if (is_digit(c) ||
		(c == '.' && is_digit(at(x, 1)) && has_rule(x, CNC_SQL_NUMBERS)))
		return read_number(x);
	if (c == '@' && has_rule(x, CNC_SQL_VARIABLES))
		return read_variable(x);
	if (c == '?' && has_rule(x, CNC_SQL_QUESTION))
		return read_question(x);
	if (c == ':' && has_rule(x, CNC_SQL_COLON) && is_letter(x, at(x, 1)))
		return read_colon(x);
	n = measure_mark(x);
	if (n > 0) {
		x->seen |= CNC_SQL_SEEN_EXECUTED;
		x->p += n;
		return CNC_SQL_MARK;
	}
	return read_char(x);
}

/* After a name, read its point. After that point, digits are letters. */
static enum cnc_sql_kind
read_part(struct cnc_sql *x)
{
	uint8_t part = x->part;

	x->part = 0;
	if (part == 1 && at(x, 0) == '.' && has_rule(x, CNC_SQL_DIGIT_NAMES)) {
		x->part = 2;
		x->p++;
		return CNC_SQL_CHAR;
	}
	if (part == 2 && is_word_part(x, at(x, 0)))
		return read_word(x);
	return read_token(x);
}

/* Continue in a text or name that was open when the SQL ended. */
static enum cnc_sql_kind
read_open(struct cnc_sql *x)
{
	char quote = x->open.what;

	if (quote == '$')
		return finish_dollars(x) ? CNC_SQL_TEXT : CNC_SQL_BAD;
	if (!finish_quoted(x))
		return CNC_SQL_BAD;
	if (*x->open.begin == '@')
		return CNC_SQL_VARIABLE;
	return is_text_quote(x, quote) ? CNC_SQL_TEXT : CNC_SQL_NAME;
}

struct cnc_sql_token
cnc_sql_next(struct cnc_sql *x)
{
	struct cnc_sql_token t = { .kind = CNC_SQL_BAD };
	const char *before = x->p;

	if (x->open.what != '\0' && x->open.what != '*' && x->p < x->end) {
		t.p = x->open.begin;
		t.kind = read_open(x);
	} else if (!cnc_sql_skip_blanks(x)) {
		t.p = x->open.begin;
	} else {
		t.p = x->p;
		if (t.p != before)
			x->part = 0;
		t.kind = x->p < x->end ? read_part(x) : CNC_SQL_END;
	}
	if (t.kind == CNC_SQL_WORD || t.kind == CNC_SQL_NAME)
		x->part = 1;
	t.has_space = t.p != before;
	t.n = (size_t)(x->p - t.p);
	return t;
}

void
cnc_sql_resume(struct cnc_sql *x, const char *begin, const char *end)
{
	if (x->open.what != '\0') {
		x->p = begin + (x->p - x->open.begin);
		x->open.begin = begin;
	}
	x->end = end;
}

/* ---- comparing tokens ---- */

static int
fold(char c)
{
	return (unsigned char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

int
cnc_sql_compare(const char *p, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++) {
		int d = fold(p[i]) - fold(word[i]);

		/* at the word's end d is not 0, unless the token has a zero byte there */
		if (d != 0 || word[i] == '\0')
			return d != 0 ? d : 1;
	}
	return word[n] == '\0' ? 0 : -1;
}

bool
cnc_sql_is_one_of(const struct cnc_sql_token *t, const char *const *words)
{
	for (; *words != NULL; words++) {
		if (cnc_sql_is(t, *words))
			return true;
	}
	return false;
}

const char *
cnc_sql_inside(const struct cnc_sql_token *t, size_t *ret_n)
{
	size_t front = 0, n = t->n;

	*ret_n = n;
	if (t->kind != CNC_SQL_TEXT && t->kind != CNC_SQL_NAME)
		return t->p;
	if (*t->p == '$') {
		do
			front++;
		while (t->p[front] != '$');
		front++;
		*ret_n = n - 2 * front;
		return t->p + front;
	}
	while (strchr("'\"`[", t->p[front]) == NULL)
		front++;
	front++;
	*ret_n = n - front - 1;
	return t->p + front;
}

bool
cnc_sql_take(struct cnc_sql *x, const char *word)
{
	struct cnc_sql ahead = *x;
	struct cnc_sql_token t = cnc_sql_next(&ahead);

	if (!cnc_sql_is(&t, word))
		return false;
	*x = ahead;
	return true;
}

bool
cnc_sql_take_one_of(struct cnc_sql *x, const char *const *words)
{
	struct cnc_sql ahead = *x;
	struct cnc_sql_token t = cnc_sql_next(&ahead);

	if (!cnc_sql_is_one_of(&t, words))
		return false;
	*x = ahead;
	return true;
}

bool
cnc_sql_take_char(struct cnc_sql *x, char c)
{
	struct cnc_sql ahead = *x;
	struct cnc_sql_token t = cnc_sql_next(&ahead);

	if (!cnc_sql_is_char(&t, c))
		return false;
	*x = ahead;
	return true;
}

void
cnc_sql_skip_parens(struct cnc_sql *x)
{
	struct cnc_sql_token t;
	size_t depth = 1;

	if (!cnc_sql_take_char(x, '('))
		return;
	while (depth > 0 && (t = cnc_sql_next(x)).kind != CNC_SQL_END) {
		depth += cnc_sql_is_char(&t, '(');
		depth -= cnc_sql_is_char(&t, ')');
	}
}

/* ---- statements ---- */

/* After WITH: skip the common tables, whose names may be verbs, with their queries in parentheses. */
static struct cnc_sql_token
find_verb_after_with(struct cnc_sql *x)
{
	static const char *const verbs[] = { "select", "insert", "update", "delete",
		"merge", "replace", "values", "table", NULL };
	bool is_name = true;
	size_t depth = 0;

	for (;;) {
		struct cnc_sql_token t = cnc_sql_next(x);

		if (t.kind == CNC_SQL_END || t.kind == CNC_SQL_BAD)
			return t;
		if (cnc_sql_is_char(&t, '(')) {
			depth++;
		} else if (cnc_sql_is_char(&t, ')')) {
			depth -= depth > 0;
		} else if (depth > 0) {
			continue;
		} else if (cnc_sql_is_char(&t, ';') ||
			   (!is_name && cnc_sql_is_one_of(&t, verbs))) {
			return t;
		} else if (cnc_sql_is_char(&t, ',')) {
			is_name = true;
		} else if (is_name) {
			is_name = cnc_sql_is(&t, "recursive");
		}
	}
}

static struct cnc_sql_token
skip_explain(struct cnc_sql *x)
{
	static const char *const options[] = { "analyze", "analyse", "verbose", NULL };

	cnc_sql_skip_parens(x);
	while (cnc_sql_take_one_of(x, options))
		continue;
	return cnc_sql_next(x);
}

struct cnc_sql_token
cnc_sql_verb(struct cnc_sql *x, struct cnc_sql_token t, unsigned through)
{
	for (;;) {
		if (through & CNC_SQL_THROUGH_PARENS && cnc_sql_is_char(&t, '('))
			t = cnc_sql_next(x);
		else if (through & CNC_SQL_THROUGH_EXPLAIN && cnc_sql_is(&t, "explain"))
			t = skip_explain(x);
		else if (through & CNC_SQL_THROUGH_WITH && cnc_sql_is(&t, "with"))
			t = find_verb_after_with(x);
		else
			return t;
	}
}
