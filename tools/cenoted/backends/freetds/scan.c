/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the text of a request may leave in its session. Transact-SQL needs nothing between
 * statements, so each word may begin one. Words that act on the session are looked for everywhere,
 * and a column with such a name is taken for the word. The first word of a batch may also be a
 * procedure's name.
 */
#include <string.h>
#include <strings.h>

#include "core/sql.h"
#include "tds.h"

enum effect {
	IS_FIRST = 1, /* a batch that begins with this word is no call */
	GIVES_ROWS = 2, /* and the word begins a statement that only reads */
	CHANGES_TX = 4,
	MAKES_ROWS = 8 /* changes tables, so the statement does not only read */
};

#define PIN(name) CENOTE_PIN_##name

/*
 * Sorted, as in upper case. A change of a table may fire a trigger, and leaves an identity value. A
 * call may do anything: RAND() keeps its seed for the session. A FROM counts as a call, since views
 * and computed columns call functions that the text does not name. Functions that Babelfish has
 * from PostgreSQL are known by their names.
 */
static const struct word {
	const char *word;
	uint8_t effect; /* bits of enum effect */
	uint8_t pins;
} words[] = {
	{ "alter", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "backup", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "begin", IS_FIRST | CHANGES_TX, 0 },
	{ "bulk", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "call", IS_FIRST | MAKES_ROWS | CHANGES_TX, PIN(FUNCTION) },
	{ "checkpoint", IS_FIRST, 0 },
	{ "commit", IS_FIRST | CHANGES_TX, 0 },
	{ "create", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "cursor", 0, PIN(CURSOR) },
	{ "dbcc", IS_FIRST | MAKES_ROWS, PIN(SETTINGS) },
	{ "dblink", MAKES_ROWS, PIN(FUNCTION) },
	{ "declare", IS_FIRST, 0 },
	{ "delete", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "deny", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "disable", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "drop", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "enable", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "exec", IS_FIRST | MAKES_ROWS | CHANGES_TX, PIN(FUNCTION) },
	{ "execute", IS_FIRST | MAKES_ROWS | CHANGES_TX, PIN(FUNCTION) },
	{ "fetch", IS_FIRST, 0 },
	{ "from", 0, PIN(FUNCTION) },
	{ "goto", IS_FIRST, 0 },
	{ "grant", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "if", IS_FIRST, 0 },
	{ "insert", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "into", MAKES_ROWS, PIN(FUNCTION) },
	{ "kill", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "merge", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "next", 0, PIN(FUNCTION) },
	{ "nextval", MAKES_ROWS, PIN(FUNCTION) },
	{ "open", IS_FIRST, PIN(CURSOR) },
	{ "opendatasource", MAKES_ROWS | CHANGES_TX, PIN(FUNCTION) },
	{ "openquery", MAKES_ROWS | CHANGES_TX, PIN(FUNCTION) },
	{ "openrowset", MAKES_ROWS | CHANGES_TX, PIN(FUNCTION) },
	{ "prepare", IS_FIRST | MAKES_ROWS, PIN(PREPARED) },
	{ "print", IS_FIRST, 0 },
	{ "raiserror", IS_FIRST, 0 },
	{ "receive", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "reconfigure", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "restore", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "return", IS_FIRST, 0 },
	{ "revert", IS_FIRST | MAKES_ROWS, PIN(SETTINGS) },
	{ "revoke", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "rollback", IS_FIRST | CHANGES_TX, 0 },
	{ "save", IS_FIRST | CHANGES_TX, 0 },
	{ "select", IS_FIRST | GIVES_ROWS, 0 },
	{ "send", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "set", IS_FIRST | MAKES_ROWS | CHANGES_TX, PIN(SETTINGS) },
	{ "setuser", IS_FIRST | MAKES_ROWS, PIN(SETTINGS) },
	{ "setval", MAKES_ROWS, PIN(FUNCTION) },
	{ "set_config", MAKES_ROWS, PIN(SETTINGS) },
	{ "shutdown", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "throw", IS_FIRST, 0 },
	{ "truncate", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "update", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "updatetext", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
	{ "use", IS_FIRST | MAKES_ROWS, PIN(SETTINGS) },
	{ "values", IS_FIRST | GIVES_ROWS, 0 },
	{ "waitfor", IS_FIRST, 0 },
	{ "while", IS_FIRST, 0 },
	{ "with", IS_FIRST | GIVES_ROWS, 0 },
	{ "writetext", IS_FIRST | MAKES_ROWS, PIN(FUNCTION) },
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

static const struct word worst = { "", MAKES_ROWS | CHANGES_TX, PIN(FUNCTION) };
static const struct word harmless = { "", 0, 0 };
/* Texts in which the server may see other words than this scanner does. */
static const struct word unreadable = { "", 0, PIN(FUNCTION) };

static const struct word *
find_word(const struct cnc_sql_token *t)
{
	size_t low = 0, high = N_WORDS, mid;
	int c;

	while (low < high) {
		mid = low + (high - low) / 2;
		c = cnc_sql_compare(t->p, t->n, words[mid].word);
		if (c == 0)
			return &words[mid];
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return &harmless;
}

static int
begins_pg(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_WORD && t->n > 3 && strncasecmp(t->p, "pg_", 3) == 0;
}

static size_t
count_digits(const char *p, size_t n, int is_hex)
{
	size_t i = 0;

	while (i < n && ((p[i] >= '0' && p[i] <= '9') ||
				(is_hex && ((p[i] | 32) >= 'a' && (p[i] | 32) <= 'f'))))
		i++;
	return i;
}

/* A number ends where its digits do, and the next word may follow at once: "select 1set language us_english". */
static int
hides_word(const struct cnc_sql_token *t)
{
	const char *p = t->p;
	size_t n = t->n, digits;

	if (n > 1 && *p == '$') {
		p++;
		n--;
	}
	digits = count_digits(p, n, 0);
	if (digits == 0 || digits == n)
		return 0;
	if (digits == 1 && *p == '0' && (p[1] | 32) == 'x')
		return 2 + count_digits(p + 2, n - 2, 1) < n;
	if ((p[digits] | 32) == 'e')
		return digits + 1 + count_digits(p + digits + 1, n - digits - 1, 0) < n;
	return 1;
}

/* Whether a word has only ASCII characters. There are blanks beyond ASCII, and servers differ in
 * which. */
static int
is_ascii(const struct cnc_sql_token *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if ((uint8_t)t->p[i] >= 0x80)
			return 0;
	}
	return 1;
}

static int
is_control(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_CHAR && ((uint8_t)*t->p < ' ' || *t->p == 0x7f);
}

static int
is_plain_word(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_WORD || t->kind == CNC_SQL_VARIABLE;
}

static const struct word *
judge(const struct cnc_sql_token *t, int is_first)
{
	const struct word *w = &harmless;

	if (t->kind == CNC_SQL_BAD || begins_pg(t) || (is_first && is_control(t)))
		return &worst;
	if (t->kind == CNC_SQL_WORD)
		w = find_word(t);
	if (w == &harmless && is_plain_word(t) && (hides_word(t) || !is_ascii(t)))
		w = &unreadable;
	/* a name alone calls a procedure; '{' and '(' begin something that is read further on */
	if (is_first && !(w->effect & IS_FIRST) && t->kind != CNC_SQL_CHAR &&
		t->kind != CNC_SQL_END)
		return &worst;
	return w;
}

/* Whether a parenthesis after this token begins a list. After any other token, it begins a call. */
static int
is_before_list(const struct cnc_sql_token *t)
{
	static const char *const words_before[] = { "and", "case", "else", "if", "in",
		"not", "or", "print", "return", "select", "then", "top", "values", "when",
		"while", NULL };

	return t->kind == CNC_SQL_CHAR || t->kind == CNC_SQL_END ||
	       cnc_sql_is_one_of(t, words_before);
}

/* Whether the parameter before this token is given back: "? OUTPUT", "? OUT"; or "? =", the status
 * of a call. */
static int
is_output(const struct cnc_sql_token *t)
{
	return cnc_sql_is(t, "output") || cnc_sql_is(t, "out") || cnc_sql_is_char(t, '=');
}

void
cnd_tds_scan(const char *sql, size_t len, struct cnd_tds_scan *ret_scan)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_TDS);
	struct cnd_tds_scan scan = { 0, CND_TDS_NOTE_EMPTY, 0 };
	uint8_t effects = 0, is_call = 0, is_first = 1, was_parameter = 0, calls = 0;
	struct cnc_sql_token t = { .kind = CNC_SQL_END, .p = sql }, before;

	do {
		const struct word *w;

		before = t;
		t = cnc_sql_next(&x);
		w = judge(&t, is_first);
		effects |= w->effect;
		scan.pins |= w->pins;
		if (cnc_sql_is_char(&t, '(') && !is_before_list(&before))
			scan.pins |= CENOTE_PIN_FUNCTION;
		/* "1.5eset": where the number ends, servers may disagree */
		if (before.kind == CNC_SQL_NUMBER && is_plain_word(&t) && !t.has_space)
			scan.pins |= CENOTE_PIN_FUNCTION;
		if (t.kind == CNC_SQL_WORD && t.n > 1 && *t.p == '#')
			scan.pins |= CENOTE_PIN_TEMP;
		if (is_first && w->effect & GIVES_ROWS)
			scan.notes |= CND_TDS_NOTE_ROWS;
		if (is_first)
			is_call = cnc_sql_is(&t, "exec") || cnc_sql_is(&t, "execute") ||
				  cnc_sql_is_char(&t, '{');
		if (was_parameter && is_output(&t))
			calls = 1;
		was_parameter = t.kind == CNC_SQL_PLACEHOLDER;
		scan.n_params += was_parameter;
		is_first = is_first && cnc_sql_is_char(&t, ';');
		if (t.kind != CNC_SQL_END && !is_first)
			scan.notes &= ~(uint32_t)CND_TDS_NOTE_EMPTY;
	} while (t.kind != CNC_SQL_END && t.kind != CNC_SQL_BAD);
	if (effects & MAKES_ROWS)
		scan.notes &= ~(uint32_t)CND_TDS_NOTE_ROWS;
	if (effects & CHANGES_TX)
		scan.notes |= CND_TDS_NOTE_TX;
	if (is_call && calls)
		scan.notes |= CND_TDS_NOTE_OUTPUT;
	*ret_scan = scan;
}
