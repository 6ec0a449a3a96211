/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "my.h"

/*
 * What the text of a request may leave in its session. The text is read as the server's lexer reads
 * it, but not parsed: each statement is known by its first word, and in the rest are looked for the calls
 * of functions, assignments to user variables, and what else acts on the session. Whatever is not
 * known is taken for the worst.
 *
 * What a text does not show is what its tables have behind them: triggers, views and defaults
 * that call stored functions. The server tells of the most of it (session tracking).
 */
enum token_kind {
	TOKEN_END,
	TOKEN_WORD, /* a name or number without quotes */
	TOKEN_NAME, /* a name in quotes */
	TOKEN_TEXT,
	TOKEN_VARIABLE, /* @a */
	TOKEN_ASSIGN, /* := */
	TOKEN_OTHER
};

struct token {
	enum token_kind kind;
	const char *p;
	size_t n;
};

struct lexer {
	const char *p;
	const char *end;
	uint32_t lexis;
	int has_space; /* a blank or a comment stands before the last token */
	/* An open quote or comment, a zero byte, or a comment that the server may carry out. */
	int is_dark;
};

static int
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int
is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t
left(const struct lexer *x)
{
	return (size_t)(x->end - x->p);
}

static void
skip_line(struct lexer *x)
{
	const char *end = memchr(x->p, '\n', left(x));

	x->p = end ? end + 1 : x->end;
}

/* A comment of the kind that the server may read as SQL, by its version. */
static int
is_executed(const struct lexer *x)
{
	return left(x) > 2 &&
	       (x->p[2] == '!' || (left(x) > 3 && x->p[2] == 'M' && x->p[3] == '!'));
}

static void
skip_comment(struct lexer *x)
{
	const char *p = x->p + 2;

	if (is_executed(x))
		x->is_dark = 1;
	for (; p + 1 < x->end; p++) {
		if (p[0] == '*' && p[1] == '/') {
			x->p = p + 2;
			return;
		}
	}
	x->is_dark = 1;
	x->p = x->end;
}

/* "--" is a comment only before a blank or a control character. */
static int
is_dashes(const struct lexer *x)
{
	return left(x) >= 2 && x->p[0] == '-' && x->p[1] == '-' &&
	       (left(x) == 2 || (unsigned char)x->p[2] <= ' ' || x->p[2] == 127);
}

static void
skip_blanks(struct lexer *x)
{
	while (x->p < x->end) {
		if (is_blank(*x->p))
			x->p++;
		else if (*x->p == '#' || is_dashes(x))
			skip_line(x);
		else if (left(x) >= 2 && x->p[0] == '/' && x->p[1] == '*')
			skip_comment(x);
		else
			return;
	}
}

/* Behind the quote that ends what begins here; a doubled one does not. */
static void
skip_quoted(struct lexer *x, int has_backslash)
{
	char quote = *x->p++;

	while (x->p < x->end) {
		int is_pair =
			left(x) >= 2 && (*x->p == quote ? x->p[1] == quote
							: has_backslash && *x->p == '\\');

		if (is_pair) {
			x->p += 2;
		} else if (*x->p != quote) {
			x->p++;
		} else {
			x->p++;
			return;
		}
	}
	x->is_dark = 1;
}

static enum token_kind
lex_quoted(struct lexer *x)
{
	int is_name =
		*x->p == '`' || (*x->p == '"' && x->lexis & CND_MY_LEXIS_ANSI_QUOTES);

	skip_quoted(x, !is_name && !(x->lexis & CND_MY_LEXIS_NO_BACKSLASH));
	return is_name ? TOKEN_NAME : TOKEN_TEXT;
}

/* @a, @'a b', @`a`; @@a is a system variable, which an expression can only read. */
static enum token_kind
lex_variable(struct lexer *x)
{
	int is_system = left(x) >= 2 && x->p[1] == '@';

	x->p += is_system ? 2 : 1;
	if (x->p < x->end && (*x->p == '\'' || *x->p == '"' || *x->p == '`'))
		(void)lex_quoted(x);
	else
		while (x->p < x->end && (is_word_char(*x->p) || *x->p == '.'))
			x->p++;
	return is_system ? TOKEN_OTHER : TOKEN_VARIABLE;
}

static struct token
next_token(struct lexer *x)
{
	struct token t = { TOKEN_END, NULL, 0 };
	const char *before = x->p;

	skip_blanks(x);
	x->has_space = x->p != before;
	t.p = x->p;
	if (x->p == x->end)
		return t;
	if (is_word_char(*x->p)) {
		while (x->p < x->end && is_word_char(*x->p))
			x->p++;
		t.kind = TOKEN_WORD;
	} else if (*x->p == '\'' || *x->p == '"' || *x->p == '`') {
		t.kind = lex_quoted(x);
	} else if (*x->p == '@') {
		t.kind = lex_variable(x);
	} else if (left(x) >= 2 && x->p[0] == ':' && x->p[1] == '=') {
		x->p += 2;
		t.kind = TOKEN_ASSIGN;
	} else {
		x->is_dark |= *x->p == '\0';
		x->p++;
		t.kind = TOKEN_OTHER;
	}
	t.n = (size_t)(x->p - t.p);
	return t;
}

static int
is_word(const struct token *t, const char *word)
{
	return t->kind == TOKEN_WORD && cnd_my_compare_word(t->p, t->n, word) == 0;
}

static int
is_char(const struct token *t, char c)
{
	return t->kind == TOKEN_OTHER && t->n == 1 && *t->p == c;
}

/* ---- statements ---- */

enum verb_flag {
	VERB_WORST = 1,
	VERB_INSERT = 2, /* a table's name may stand before a parenthesis */
	VERB_DDL = 4, /* only what follows a SELECT or VALUES is evaluated */
	VERB_VARIABLES = 8, /* user variables are set without := */
	VERB_CREATE = 16,
	VERB_SET = 32,
	VERB_BEGIN = 64,
	VERB_START = 128,
	VERB_HANDLER = 256,
	VERB_FLUSH = 512,
	VERB_USERS = 2048, /* of users and roles, among others */
	VERB_SHOW = 4096,
	VERB_GET = 8192
};

struct verb {
	const char *word;
	uint32_t pins;
	uint32_t notes;
	uint32_t flags;
};

static const struct verb verbs[] = {
	{ "SELECT", 0, 0, 0 },
	{ "INSERT", 0, CND_MY_NOTE_ID | CND_MY_NOTE_HIDES, VERB_INSERT },
	{ "UPDATE", 0, CND_MY_NOTE_HIDES, 0 },
	{ "DELETE", 0, CND_MY_NOTE_HIDES, 0 },
	{ "REPLACE", 0, CND_MY_NOTE_ID | CND_MY_NOTE_HIDES, VERB_INSERT },
	{ "BEGIN", 0, 0, VERB_BEGIN },
	{ "START", 0, 0, VERB_START },
	{ "COMMIT", 0, 0, 0 },
	{ "ROLLBACK", 0, 0, 0 },
	{ "SET", CENOTE_PIN_SETTINGS, 0, VERB_SET },
	{ "SHOW", 0, 0, VERB_SHOW },
	{ "WITH", 0, 0, 0 },
	{ "CALL", 0, 0, VERB_WORST },
	{ "USE", CENOTE_PIN_SETTINGS, CND_MY_NOTE_DATABASE, 0 },
	{ "DO", 0, 0, 0 },
	{ "VALUES", 0, 0, 0 },
	{ "TABLE", 0, CND_MY_NOTE_HIDES, 0 },
	{ "CREATE", 0, 0, VERB_DDL | VERB_CREATE },
	{ "ALTER", 0, 0, VERB_DDL | VERB_USERS },
	{ "DROP", 0, 0, VERB_DDL | VERB_USERS },
	{ "RENAME", 0, 0, VERB_DDL | VERB_USERS },
	{ "TRUNCATE", 0, 0, 0 },
	{ "SAVEPOINT", 0, 0, 0 },
	{ "RELEASE", 0, 0, 0 },
	{ "PREPARE", CENOTE_PIN_PREPARED, 0, 0 },
	{ "EXECUTE", 0, 0, VERB_WORST },
	{ "DEALLOCATE", 0, 0, 0 },
	{ "LOCK", CENOTE_PIN_LOCK, 0, VERB_DDL },
	{ "UNLOCK", 0, 0, 0 },
	{ "BACKUP", CENOTE_PIN_LOCK, 0, 0 },
	{ "FLUSH", 0, 0, VERB_FLUSH },
	{ "HANDLER", 0, 0, VERB_HANDLER },
	{ "LOAD", 0, CND_MY_NOTE_SILENT_ID | CND_MY_NOTE_HIDES,
		VERB_VARIABLES | VERB_INSERT },
	{ "GET", 0, 0, VERB_VARIABLES | VERB_GET },
	{ "EXPLAIN", 0, 0, 0 },
	{ "DESCRIBE", 0, 0, 0 },
	{ "DESC", 0, 0, 0 },
	{ "ANALYZE", 0, 0, 0 },
	{ "OPTIMIZE", 0, 0, 0 },
	{ "CHECK", 0, 0, 0 },
	{ "CHECKSUM", 0, 0, 0 },
	{ "REPAIR", 0, 0, 0 },
	/* of what was granted for all databases a session keeps what it logged in with */
	{ "GRANT", 0, CND_MY_NOTE_LOGIN, VERB_DDL },
	{ "REVOKE", 0, CND_MY_NOTE_LOGIN, VERB_DDL },
	{ "KILL", 0, 0, 0 },
	{ "HELP", 0, 0, 0 },
	{ "SIGNAL", 0, 0, 0 },
};

static const struct verb unknown_verb = { "", 0, 0, VERB_WORST };

static const struct verb *
find_verb(const struct token *t)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (is_word(t, verbs[i].word))
			return &verbs[i];
	}
	return &unknown_verb;
}

/* One statement, as far as it was read. */
struct statement {
	const struct verb *verb;
	struct token last, before; /* the two tokens before the present one */
	int n; /* tokens, the verb not counted */
	int is_evaluated; /* what is called here is called now */
	int has_target; /* the table of an INSERT may still come */
	int is_first; /* of the text */
	const struct cnd_my_reading *reading;
	struct cnd_my_scan *scan;
};

static void
take_worst(struct cnd_my_scan *scan)
{
	scan->pins |= CENOTE_PIN_FUNCTION;
	scan->notes |= CND_MY_NOTE_OPAQUE;
}

/* What a statement that is not the first asks for is of the text itself. */
static void
take_question(const struct statement *st)
{
	if (st->is_first)
		st->scan->notes |= CND_MY_NOTE_ASKS;
}

/* Words that are SQL's in newer servers, and may name a function in older ones. A function's name cannot stand behind a
 * closing parenthesis, so there they are SQL's. */
static int
is_behind_parenthesis(const struct statement *st)
{
	static const char *const words[] = { "AGAINST", "EXCEPT", "INTERSECT", "OVER" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (is_word(&st->last, words[i]))
			return is_char(&st->before, ')');
	}
	return 0;
}

static int
is_harmless(const struct statement *st, int has_space)
{
	return st->last.kind == TOKEN_WORD &&
	       (is_behind_parenthesis(st) || cnd_my_is_harmless(st->reading, st->last.p,
						     st->last.n, has_space));
}

/* A parenthesis behind a word: is it a call, and of what? */
static void
see_call(struct statement *st, int has_space)
{
	const struct token *name = &st->last;
	int is_qualified = is_char(&st->before, '.');

	if (name->kind != TOKEN_WORD && name->kind != TOKEN_NAME)
		return;
	if (is_word(name, "THAN") && is_word(&st->before, "LESS"))
		return; /* of a partition */
	if (!is_qualified && (is_word(name, "ROW_COUNT") || is_word(name, "FOUND_ROWS")))
		take_question(st);
	if (!is_qualified && is_harmless(st, has_space)) {
		if (is_word(name, "GET_LOCK"))
			st->scan->pins |= CENOTE_PIN_LOCK;
		return;
	}
	if (st->has_target)
		st->has_target = 0;
	else if (st->is_evaluated)
		take_worst(st->scan);
}

static void
see_word(struct statement *st, const struct token *t)
{
	static const char *const ends_target[] = { "VALUES", "VALUE", "SELECT", "SET",
		"WITH" };
	size_t i;

	if (is_word(t, "SELECT") || is_word(t, "VALUES"))
		st->is_evaluated = 1;
	if (is_word(t, "FROM"))
		st->scan->notes |= CND_MY_NOTE_HIDES;
	for (i = 0; st->has_target && i < sizeof(ends_target) / sizeof(ends_target[0]);
		i++) {
		if (is_word(t, ends_target[i]))
			st->has_target = 0;
	}
	/* Later statements ask for what these leave: FOUND_ROWS(), PREVIOUS VALUE FOR. */
	if (is_word(t, "SQL_CALC_FOUND_ROWS") || is_word(t, "NEXTVAL") ||
		(is_word(t, "VALUE") && is_word(&st->last, "NEXT")))
		st->scan->pins |= CENOTE_PIN_SETTINGS;
	/* with sql_mode=ORACLE s.CURRVAL */
	if (is_word(t, "CURRVAL") || is_word(t, "LASTVAL") ||
		(is_word(t, "VALUE") && is_word(&st->last, "PREVIOUS")))
		st->scan->notes |= CND_MY_NOTE_RECALLS_NUMBER;
}

static int
begins_with(const struct token *t, const char *prefix)
{
	struct token head = *t;
	size_t n = strlen(prefix);

	if (t->kind != TOKEN_WORD || t->n < n)
		return 0;
	head.n = n;
	return cnd_my_compare_word(head.p, head.n, prefix) == 0;
}

/* @@character_set_client, @@sql_mode … */
static int
is_system(const struct token *t)
{
	return t->kind == TOKEN_OTHER && t->n >= 2 && t->p[0] == '@';
}

/* In any case, and perhaps with the quote that ends a name. */
static int
ends_with(const struct token *t, const char *suffix)
{
	size_t len = t->n - (t->n > 0 && t->p[t->n - 1] == '`'), n = strlen(suffix);

	return len >= n && strncasecmp(t->p + len - n, suffix, n) == 0;
}

/* @@global.a, @@persist.a */
static int
is_system_of_all(const struct token *t)
{
	return is_system(t) &&
	       ((t->n > 9 && strncasecmp(t->p, "@@global.", 9) == 0) ||
		       (t->n > 10 && strncasecmp(t->p, "@@persist.", 10) == 0));
}

/* SHOW WARNINGS, SHOW COUNT(*) ERRORS, GET DIAGNOSTICS, @@session.warning_count */
static void
see_question(struct statement *st, const struct token *t)
{
	static const char *const names[] = { "warning_count", "error_count",
		"last_gtid" };

	if (st->verb->flags & VERB_SHOW && (st->n == 0 || is_char(&st->last, ')')) &&
		(is_word(t, "WARNINGS") || is_word(t, "ERRORS")))
		take_question(st);
	if (st->verb->flags & VERB_GET && is_word(t, "DIAGNOSTICS"))
		take_question(st);
	for (size_t i = 0; is_system(t) && i < sizeof(names) / sizeof(names[0]); i++) {
		if (ends_with(t, names[i]))
			take_question(st);
	}
}

/* A word that says something in statements of some verbs: anywhere, or only as the first. */
static const struct special {
	const char *word;
	uint32_t flag;
	int is_first;
	uint32_t pins;
	uint32_t notes;
} specials[] = {
	{ "TEMPORARY", VERB_CREATE, 0, CENOTE_PIN_TEMP, 0 },
	{ "SELECT", VERB_CREATE, 0, 0, CND_MY_NOTE_SILENT_ID },
	{ "RETURNING", VERB_INSERT, 0, 0, CND_MY_NOTE_SILENT_ID },
	{ "OPEN", VERB_HANDLER, 0, CENOTE_PIN_CURSOR, 0 },
	{ "LOCK", VERB_FLUSH, 0, CENOTE_PIN_LOCK, 0 },
	{ "EXPORT", VERB_FLUSH, 0, CENOTE_PIN_LOCK, 0 },
	/* it sets the session's counters to zero, by which hidden code is found */
	{ "STATUS", VERB_FLUSH, 0, CENOTE_PIN_SETTINGS, 0 },
	{ "PRIVILEGES", VERB_FLUSH, 0, 0, CND_MY_NOTE_LOGIN },
	{ "NAMES", VERB_SET, 0, 0, CND_MY_NOTE_CHARSET },
	{ "GLOBAL", VERB_SET, 0, 0, CND_MY_NOTE_LOGIN },
	{ "PERSIST", VERB_SET, 0, 0, CND_MY_NOTE_LOGIN },
	{ "DATABASE", VERB_USERS, 1, 0, CND_MY_NOTE_LOGIN },
	{ "SCHEMA", VERB_USERS, 1, 0, CND_MY_NOTE_LOGIN },
	{ "USER", VERB_USERS, 1, 0, CND_MY_NOTE_LOGIN },
	{ "ROLE", VERB_USERS, 1, 0, CND_MY_NOTE_LOGIN },
};

static void
see_special_word(struct statement *st, const struct token *t)
{
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		const struct special *s = &specials[i];

		if (st->verb->flags & s->flag && (!s->is_first || st->n == 0) &&
			is_word(t, s->word)) {
			st->scan->pins |= s->pins;
			st->scan->notes |= s->notes;
		}
	}
}

/* CREATE OR REPLACE DATABASE */
static int
is_replaced_database(const struct statement *st, const struct token *t)
{
	return st->verb->flags & VERB_CREATE && is_word(&st->last, "REPLACE") &&
	       (is_word(t, "DATABASE") || is_word(t, "SCHEMA"));
}

static void
see_special_set(struct statement *st, const struct token *t)
{
	if (is_system(t) || begins_with(t, "CHAR") || begins_with(t, "COLLATION"))
		st->scan->notes |= CND_MY_NOTE_CHARSET;
	if (is_system_of_all(t) || (is_word(t, "ROLE") && is_word(&st->last, "DEFAULT")))
		st->scan->notes |= CND_MY_NOTE_LOGIN;
}

/* What is special in statements of this verb. */
static void
see_special(struct statement *st, const struct token *t)
{
	uint32_t flags = st->verb->flags;

	if (t->kind == TOKEN_WORD)
		see_special_word(st, t);
	if (is_replaced_database(st, t))
		st->scan->notes |= CND_MY_NOTE_LOGIN;
	if (flags & VERB_SET)
		see_special_set(st, t);
	if (flags & VERB_BEGIN && st->n == 0 && !is_word(t, "WORK"))
		take_worst(st->scan);
	if (flags & VERB_START && st->n == 0 && !is_word(t, "TRANSACTION"))
		take_worst(st->scan);
	if (flags & VERB_VARIABLES && t->kind == TOKEN_VARIABLE)
		st->scan->pins |= CENOTE_PIN_SETTINGS;
}

static void
see_token(struct statement *st, const struct token *t, int has_space)
{
	if (is_char(t, '('))
		see_call(st, has_space);
	else if (t->kind == TOKEN_WORD)
		see_word(st, t);
	else if (t->kind == TOKEN_ASSIGN ||
		 (t->kind == TOKEN_VARIABLE && is_word(&st->last, "INTO")))
		st->scan->pins |= CENOTE_PIN_SETTINGS;
	/* LAST_INSERT_ID(5) makes it 5. */
	if (is_char(&st->last, '(') && is_word(&st->before, "LAST_INSERT_ID") &&
		!is_char(t, ')'))
		st->scan->pins |= CENOTE_PIN_SETTINGS;
	if (t->kind == TOKEN_VARIABLE)
		st->scan->notes |= CND_MY_NOTE_RECALLS;
	see_special(st, t);
	see_question(st, t);
	st->before = st->last;
	st->last = *t;
	st->n++;
}

/* From its first token to the end or a semicolon, which is returned. */
static struct token
scan_statement(struct lexer *x, struct token t, const struct cnd_my_reading *reading,
	int is_first, struct cnd_my_scan *scan)
{
	struct statement st = { .scan = scan, .is_first = is_first, .reading = reading };

	while (is_char(&t, '('))
		t = next_token(x);
	st.verb = find_verb(&t);
	scan->pins |= st.verb->pins;
	scan->notes |= st.verb->notes;
	if (st.verb->flags & VERB_WORST)
		take_worst(scan);
	st.is_evaluated = !(st.verb->flags & VERB_DDL);
	st.has_target = (st.verb->flags & VERB_INSERT) != 0;
	st.last = t;
	for (t = next_token(x); t.kind != TOKEN_END && !is_char(&t, ';');
		t = next_token(x))
		see_token(&st, &t, x->has_space);
	return t;
}

/* Of a text that cannot be read for certain: whether one of the words is in it anywhere. */
static int
may_ask(const char *sql, size_t len)
{
	static const char *const words[] = { "row_count", "found_rows", "warning",
		"error", "diagnostics", "last_gtid" };

	for (size_t i = 0; i < len; i++) {
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
			size_t n = strlen(words[k]);

			if (len - i >= n && strncasecmp(sql + i, words[k], n) == 0)
				return 1;
		}
	}
	return 0;
}

/* In other character sets than UTF-8 a byte above ASCII may be a blank, or make the one behind it a part of a
 * character: a quote, a backslash. */
static int
is_unreadable(const char *sql, size_t len, uint32_t lexis)
{
	size_t i = 0;

	if (!(lexis & CND_MY_LEXIS_NOT_UTF8))
		return 0;
	while (i < len && (unsigned char)sql[i] < 0x80)
		i++;
	return i < len;
}

void
cnd_my_scan(const char *sql, size_t len, const struct cnd_my_reading *reading,
	struct cnd_my_scan *ret_scan)
{
	struct lexer x = { .p = sql, .end = sql + len, .lexis = reading->lexis };
	struct cnd_my_scan scan = { 0, 0 };
	struct token t;
	int n = 0, has_set = 0;

	x.is_dark = is_unreadable(sql, len, reading->lexis);
	for (t = next_token(&x); t.kind != TOKEN_END; t = next_token(&x)) {
		if (is_char(&t, ';'))
			continue;
		if (n++ > 0)
			scan.notes |= CND_MY_NOTE_SEVERAL;
		/* It may change how the rest is read. */
		if (has_set)
			take_worst(&scan);
		has_set |= is_word(&t, "SET");
		t = scan_statement(&x, t, reading, n == 1, &scan);
		if (t.kind == TOKEN_END)
			break;
	}
	if (n == 0)
		scan.notes |= CND_MY_NOTE_EMPTY;
	/* it sets the variable itself, or a procedure of its text does */
	if (scan.pins & (CENOTE_PIN_SETTINGS | CENOTE_PIN_FUNCTION))
		scan.notes &=
			~(uint32_t)(CND_MY_NOTE_RECALLS | CND_MY_NOTE_RECALLS_NUMBER);
	if (x.is_dark) {
		take_worst(&scan);
		scan.notes &= ~(uint32_t)CND_MY_NOTE_EMPTY;
		if (memchr(sql, ';', len))
			scan.notes |= CND_MY_NOTE_SEVERAL;
		if (may_ask(sql, len))
			scan.notes |= CND_MY_NOTE_ASKS;
	}
	*ret_scan = scan;
}

/* Whether the token is this name, as a word or in quotes. */
static int
is_named(const struct token *t, const char *name)
{
	size_t quote = t->kind == TOKEN_TEXT, n = strlen(name);

	return (quote || t->kind == TOKEN_WORD) && t->n == n + 2 * quote &&
	       strncasecmp(t->p + quote, name, n) == 0;
}

int
cnd_my_sets_names(const char *sql, size_t len, uint32_t lexis, const char *charset)
{
	struct lexer x = { .p = sql, .end = sql + len, .lexis = lexis };
	struct token t = next_token(&x);
	int is_set = is_word(&t, "SET");

	t = next_token(&x);
	is_set = is_set && is_word(&t, "NAMES");
	t = next_token(&x);
	is_set = is_set && is_named(&t, charset);
	t = next_token(&x);
	if (is_word(&t, "COLLATE")) {
		t = next_token(&x);
		is_set = is_set && (t.kind == TOKEN_WORD || t.kind == TOKEN_TEXT);
		t = next_token(&x);
	}
	return is_set && t.kind == TOKEN_END && !x.is_dark;
}

int
cnd_my_is_select(const char *sql, size_t len, uint32_t lexis)
{
	struct lexer x = { .p = sql, .end = sql + len, .lexis = lexis };
	struct token t = next_token(&x);

	while (is_char(&t, '('))
		t = next_token(&x);
	return !x.is_dark &&
	       (is_word(&t, "SELECT") || is_word(&t, "VALUES") || is_word(&t, "WITH"));
}
