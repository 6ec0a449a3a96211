/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ODBC does not tell what a statement did or what it left in the session, so this file reads the text.
 * Servers differ in what they take for a comment, a quoted text or the end of a statement. So it reads each
 * text twice. Once as most servers read it (CNC_SQL_UNKNOWN), for the tag and for transactions. And once word
 * by word, also inside quotes and comments (CNC_SQL_RAW), for what the statement may leave in the session. A
 * word that is not known to be harmless pins the session.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/sql.h"
#include "odbc.h"

/* The next token that is not a semicolon. */
static struct cnc_sql_token
next_token(struct cnc_sql *x)
{
	struct cnc_sql_token t;

	do
		t = cnc_sql_next(x);
	while (cnc_sql_is_char(&t, ';'));
	return t;
}

static struct cnc_sql_token
begin_reading(const char *sql, size_t len, struct cnc_sql *ret_reader)
{
	*ret_reader = cnc_sql_begin(sql, len, CNC_SQL_UNKNOWN);
	return next_token(ret_reader);
}

static bool
is_word(const struct cnc_sql_token *t, const char *word)
{
	return t->kind == CNC_SQL_WORD && cnc_sql_compare(t->p, t->n, word) == 0;
}

/* ---- verbs ---- */

#define TX_VERBS                                                                         \
	((uint32_t)(CND_OD_VERB_BEGIN | CND_OD_VERB_COMMIT | CND_OD_VERB_ROLLBACK))

struct verb {
	const char *word;
	const char *tag;
	uint32_t flags;
	uint32_t pins;
};

static const struct verb verbs[] = {
	{ "SELECT", "SELECT", CND_OD_VERB_ROWS, 0 },
	{ "VALUES", "SELECT", CND_OD_VERB_ROWS, 0 },
	{ "TABLE", "SELECT", CND_OD_VERB_ROWS, 0 },
	{ "INSERT", "INSERT 0", CND_OD_VERB_DML, CENOTE_PIN_FUNCTION },
	{ "REPLACE", "INSERT 0", CND_OD_VERB_DML, CENOTE_PIN_FUNCTION },
	{ "UPDATE", "UPDATE", CND_OD_VERB_DML, CENOTE_PIN_FUNCTION },
	{ "DELETE", "DELETE", CND_OD_VERB_DML, CENOTE_PIN_FUNCTION },
	{ "MERGE", "MERGE", CND_OD_VERB_DML, CENOTE_PIN_FUNCTION },
	{ "BEGIN", "BEGIN", CND_OD_VERB_BEGIN, 0 },
	{ "START", "START TRANSACTION", CND_OD_VERB_BEGIN, 0 },
	{ "COMMIT", "COMMIT", CND_OD_VERB_COMMIT, 0 },
	{ "END", "COMMIT", CND_OD_VERB_COMMIT, 0 },
	{ "ROLLBACK", "ROLLBACK", CND_OD_VERB_ROLLBACK, 0 },
	{ "ABORT", "ROLLBACK", CND_OD_VERB_ROLLBACK, 0 },
	{ "SAVEPOINT", "SAVEPOINT", 0, 0 },
	{ "RELEASE", "RELEASE", 0, 0 },
	{ "CREATE", "CREATE", 0, CENOTE_PIN_FUNCTION },
	{ "DROP", "DROP", 0, CENOTE_PIN_FUNCTION },
	{ "ALTER", "ALTER", 0, CENOTE_PIN_FUNCTION },
	{ "TRUNCATE", "TRUNCATE TABLE", 0, CENOTE_PIN_FUNCTION },
	{ "GRANT", "GRANT", 0, CENOTE_PIN_FUNCTION },
	{ "REVOKE", "REVOKE", 0, CENOTE_PIN_FUNCTION },
	{ "COMMENT", "COMMENT", 0, CENOTE_PIN_FUNCTION },
	{ "EXPLAIN", "EXPLAIN", 0, CENOTE_PIN_FUNCTION },
	{ "SHOW", "SHOW", 0, CENOTE_PIN_FUNCTION },
	{ "ANALYZE", "ANALYZE", 0, CENOTE_PIN_FUNCTION },
	{ "VACUUM", "VACUUM", 0, CENOTE_PIN_FUNCTION },
	{ "REINDEX", "REINDEX", 0, CENOTE_PIN_FUNCTION },
	{ "CALL", "CALL", CND_OD_VERB_CALL, CENOTE_PIN_FUNCTION },
	{ "EXEC", "CALL", CND_OD_VERB_CALL, CENOTE_PIN_FUNCTION },
	{ "EXECUTE", "CALL", CND_OD_VERB_CALL, CENOTE_PIN_FUNCTION },
	{ "SET", "SET", 0, CENOTE_PIN_SETTINGS },
	{ "PREPARE", "PREPARE", 0, CENOTE_PIN_PREPARED },
	{ "DECLARE", "DECLARE CURSOR", 0, CENOTE_PIN_CURSOR },
	{ "LISTEN", "LISTEN", 0, CENOTE_PIN_LISTEN },
	{ "LOCK", "LOCK TABLE", 0, CENOTE_PIN_LOCK },
	{ "ATTACH", "ATTACH", 0, CENOTE_PIN_ATTACHED },
	/* words that begin no tag, but do something inside or after a statement */
	{ "CURSOR", "", 0, CENOTE_PIN_CURSOR },
	{ "DBCC", "", 0, CENOTE_PIN_SETTINGS },
	{ "DISCARD", "", 0, CENOTE_PIN_SETTINGS },
	{ "DO", "", 0, CENOTE_PIN_FUNCTION },
	{ "INTO", "", 0, CENOTE_PIN_FUNCTION },
	{ "NEXTVAL", "", 0, CENOTE_PIN_FUNCTION },
	{ "OPEN", "", 0, CENOTE_PIN_CURSOR },
	{ "RESET", "", 0, CENOTE_PIN_SETTINGS },
	{ "REVERT", "", 0, CENOTE_PIN_SETTINGS },
	{ "SETUSER", "", 0, CENOTE_PIN_SETTINGS },
	{ "TEMP", "", 0, CENOTE_PIN_TEMP },
	{ "TEMPORARY", "", 0, CENOTE_PIN_TEMP },
	{ "USE", "", 0, CENOTE_PIN_SETTINGS },
};

/* COMMIT and ROLLBACK that do not end the current transaction for good: TO a savepoint, AND CHAIN, or of a
 * prepared transaction. */
static const struct verb verb_commit_part = { "", "COMMIT", 0, CENOTE_PIN_FUNCTION };
static const struct verb verb_rollback_part = { "", "ROLLBACK", 0, CENOTE_PIN_FUNCTION };
static const struct verb verb_rollback_to = { "", "ROLLBACK", 0, 0 };
static const struct verb verb_call = { "", "CALL", CND_OD_VERB_CALL,
	CENOTE_PIN_FUNCTION };
static const struct verb verb_other = { "", "", 0, CENOTE_PIN_SETTINGS };

static const struct verb *
find_verb(const struct cnc_sql_token *t)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (is_word(t, verbs[i].word))
			return &verbs[i];
	}
	return &verb_other;
}

/* Find the verb of a statement that begins with COMMIT, END, ROLLBACK or ABORT; `x` is after that word. */
static const struct verb *
find_end(const struct verb *v, struct cnc_sql x)
{
	static const char *const noise[] = { "transaction", "work", NULL };
	bool is_commit = (v->flags & CND_OD_VERB_COMMIT) != 0;

	(void)cnc_sql_take_one_of(&x, noise);
	if (!is_commit && cnc_sql_take(&x, "to"))
		return &verb_rollback_to;
	if (cnc_sql_take(&x, "prepared") ||
		(cnc_sql_take(&x, "and") && !cnc_sql_take(&x, "no")))
		return is_commit ? &verb_commit_part : &verb_rollback_part;
	return v;
}

static const char *
find_object(struct cnc_sql x)
{
	static const char *const objects[] = { "TABLE", "INDEX", "VIEW", "TRIGGER",
		"FUNCTION", "PROCEDURE", "SCHEMA", "SEQUENCE" };

	for (size_t n = 0; n < 4; n++) {
		struct cnc_sql_token t = cnc_sql_next(&x);

		if (t.kind != CNC_SQL_WORD)
			break;
		for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
			if (is_word(&t, objects[i]))
				return objects[i];
		}
	}
	return NULL;
}

/* ---- what a statement may leave ---- */

/*
 * Words that may precede a parenthesis and leave nothing in the session: words of SQL, and functions that
 * every server has. With `queries=pure` the administrator states that nobody has made a function with such a
 * name.
 */
static const char *const harmless[] = { "abs", "all", "and", "any", "as", "avg",
	"between", "bigint", "by", "case", "cast", "ceiling", "char", "coalesce",
	"concat", "convert", "count", "date", "decimal", "distinct", "else", "exists",
	"extract", "floor", "from", "having", "in", "join", "left", "length", "like",
	"limit", "lower", "max", "min", "mod", "not", "nullif", "numeric", "offset", "on",
	"or", "order", "over", "partition", "position", "power", "replace", "right",
	"round", "select", "some", "substr", "substring", "sum", "then", "time",
	"timestamp", "trim", "union", "upper", "using", "values", "varchar", "when",
	"where", "with", NULL };

/* The position in a text that is read word by word. */
struct place {
	struct cnc_sql_token word, before; /* the current word and the one before it */
	char front; /* the last character before `word` that is not blank */
	char last; /* the last character read that is not blank */
};

static bool
is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static uint32_t
pins_of_word(const struct cnc_sql_token *t, const struct cnc_sql_token *before)
{
	const struct verb *v;

	if (t->kind == CNC_SQL_NUMBER)
		return 0;
	/* a word may follow the digits of a number without a blank: "select 1set names latin1" */
	if (*t->p >= '0' && *t->p <= '9')
		return CENOTE_PIN_FUNCTION;
	if (cnc_sql_is(t, "value") && cnc_sql_is(before, "next"))
		return CENOTE_PIN_FUNCTION;
	v = find_verb(t);
	/* Transact-SQL needs no separator between two statements */
	if (before->n > 0 && v->flags & TX_VERBS && !cnc_sql_is(t, "end"))
		return CENOTE_PIN_FUNCTION;
	return v != &verb_other ? v->pins : 0;
}

/* Whether the parenthesis at this point begins the arguments of a call. After WITH it lists the columns of a
 * table. */
static int
is_call(const struct place *at)
{
	static const char *const before_table[] = { "with", "recursive", NULL };

	if (!is_word_byte(at->last))
		return at->last == '"' || at->last == '`' || at->last == '\'' ||
		       at->last == ']' || (unsigned char)at->last >= 0x80;
	if (at->front == '.' || (unsigned char)at->front >= 0x80)
		return 1;
	return !cnc_sql_is_one_of(&at->word, harmless) &&
	       !(cnc_sql_is_one_of(&at->before, before_table) && is_word_byte(at->front));
}

/* The pins for a token of the raw text that is not a word. The text ends at `end`. */
static uint32_t
pins_of_char(const struct place *at, const struct cnc_sql_token *t, const char *end)
{
	char c = *t->p;

	if (c == '#')
		return CENOTE_PIN_TEMP;
	if (c == '(')
		return is_call(at) ? CENOTE_PIN_FUNCTION : 0;
	/* more statements, a variable, an escape, a quoted text of PostgreSQL's, comments */
	if (c == ';' || c == '@' || c == '\\' || c == '$' ||
		cnc_sql_opens_comment(t->p, end))
		return CENOTE_PIN_FUNCTION;
	return 0;
}

/* Count each word, even in a string or a comment. */
static uint32_t
look_everywhere(const char *sql, size_t len)
{
	struct place at = { .front = ' ', .last = ' ' };
	struct cnc_sql x;
	struct cnc_sql_token t;
	uint32_t pins = 0;

	/* a trailing semicolon separates no statements */
	while (len > 0 && sql[len - 1] != '\0' && strchr(" \t\n\v\f\r;", sql[len - 1]))
		len--;
	x = cnc_sql_begin(sql, len, CNC_SQL_RAW);
	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		if (t.kind == CNC_SQL_CHAR) {
			pins |= pins_of_char(&at, &t, x.end);
		} else {
			at.before = at.word;
			at.word = t;
			at.front = at.last;
			pins |= pins_of_word(&at.word, &at.before);
		}
		at.last = x.p[-1];
	}
	return pins;
}

/* Whether a query consists of numbers only, as "select 1" does to test the connection. `x` is after the
 * verb. */
static bool
is_of_numbers(struct cnc_sql x)
{
	struct cnc_sql_token t;

	x.seen = 0;
	while ((t = next_token(&x)).kind == CNC_SQL_NUMBER) {
		if (memchr(t.p, '.', t.n) != NULL || memchr(t.p, 'e', t.n) != NULL ||
			memchr(t.p, 'E', t.n) != NULL)
			return false;
	}
	return t.kind == CNC_SQL_END && x.seen == 0;
}

/* ---- a text ---- */

/* The end of the text, or a comment that is not closed. */
static bool
is_nothing(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_END || (t->kind == CNC_SQL_BAD && *t->p == '/');
}

/* `t` is the first token of a statement, and `x` is after it. */
static const struct verb *
verb_at(struct cnc_sql_token t, struct cnc_sql x)
{
	const struct verb *v;

	t = cnc_sql_verb(&x, t, CNC_SQL_THROUGH_WITH);
	if (cnc_sql_is_char(&t, '{'))
		return &verb_call;
	if (cnc_sql_is_char(&t, '('))
		return &verbs[0];
	v = find_verb(&t);
	if (v->flags & (CND_OD_VERB_COMMIT | CND_OD_VERB_ROLLBACK))
		return find_end(v, x);
	if (cnc_sql_is(&t, "start") && !cnc_sql_take(&x, "transaction"))
		return &verb_other;
	return v;
}

/* The statements after the first. The last one about transactions decides. */
static void
look_at_others(struct cnc_sql x, struct cnd_od_scan *scan)
{
	for (;;) {
		struct cnc_sql_token t;
		const struct verb *v;

		do
			t = cnc_sql_next(&x);
		while (t.kind != CNC_SQL_END && !cnc_sql_is_char(&t, ';'));
		t = next_token(&x);
		if (is_nothing(&t))
			return;
		v = verb_at(t, x);
		scan->has_more = 1;
		scan->pins |= v->pins;
		if (v->flags & TX_VERBS)
			scan->flags = (scan->flags & ~TX_VERBS) | (v->flags & TX_VERBS);
	}
}

void
cnd_od_scan(const char *sql, size_t len, struct cnd_od_scan *ret_scan)
{
	uint32_t everywhere = look_everywhere(sql, len);
	struct cnc_sql x;
	struct cnc_sql_token t = begin_reading(sql, len, &x);
	const struct verb *v = verb_at(t, x);
	const char *object = NULL;

	*ret_scan = (struct cnd_od_scan){ .flags = v->flags, .pins = v->pins };
	if (is_nothing(&t)) {
		ret_scan->is_empty = 1;
		ret_scan->pins = 0;
		return;
	}
	look_at_others(x, ret_scan);
	/* the pins of the verbs are more exact than the pins of single words */
	if (ret_scan->pins == 0)
		ret_scan->pins = everywhere;
	ret_scan->pins |= everywhere & CENOTE_PIN_TEMP;
	ret_scan->reads = v->flags & CND_OD_VERB_ROWS && !is_of_numbers(x);
	if (v->word[0] == 'C' || v->word[0] == 'D' || v->word[0] == 'A')
		object = v->flags == 0 ? find_object(x) : NULL;
	(void)snprintf(ret_scan->tag, sizeof(ret_scan->tag), "%s%s%s", v->tag,
		object ? " " : "", object ? object : "");
}

/* ---- calls ---- */

/* Part of a name with points. */
static bool
is_name_part(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_WORD || t->kind == CNC_SQL_VARIABLE ||
	       t->kind == CNC_SQL_NUMBER || cnc_sql_is_char(t, '.');
}

struct cnp_str
cnd_od_called(const char *sql, size_t len, int *ret_has_result)
{
	static const char *const calls[] = { "call", "exec", "execute", NULL };
	struct cnp_str name = { "", 0 };
	struct cnc_sql x;
	struct cnc_sql_token t = begin_reading(sql, len, &x);

	*ret_has_result = 0;
	if (cnc_sql_is_char(&t, '{'))
		t = cnc_sql_next(&x);
	if (t.kind == CNC_SQL_PLACEHOLDER) {
		*ret_has_result = 1;
		if (!cnc_sql_take_char(&x, '='))
			return name;
		t = cnc_sql_next(&x);
	}
	if (!cnc_sql_is_one_of(&t, calls))
		return name;
	t = cnc_sql_next(&x);
	name.p = t.p;
	for (; is_name_part(&t) && (name.n == 0 || !t.has_space); t = cnc_sql_next(&x))
		name.n += t.n;
	return name;
}

/* ---- what a driver must not get ---- */

/* Whether the word occurs outside of quotes and comments. */
static bool
has_word(const char *sql, size_t len, const char *word)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_UNKNOWN);
	struct cnc_sql_token t;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		if (is_word(&t, word))
			return true;
	}
	return false;
}

static int
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/*
 * Whether the word occurs anywhere, also where a server might see a comment, a blank or the end of a name:
 * after a UTF-8 byte order mark, after the number in MariaDB's version comments, after '#'. Only letters
 * before it make it another word.
 */
static int
holds_word(const char *sql, size_t len, const char *word)
{
	size_t n = strlen(word), i;

	for (i = 0; i + n <= len; i++) {
		if (strncasecmp(sql + i, word, n) != 0 ||
			(i > 0 && is_letter(sql[i - 1])))
			continue;
		if (i + n == len || !(is_letter(sql[i + n]) ||
					    (sql[i + n] >= '0' && sql[i + n] <= '9')))
			return 1;
	}
	return 0;
}

static int
applies(const struct cnd_od_refusal *refusal, const char *sql, size_t len)
{
	const char *const *word = refusal->words;
	struct cnc_sql x;
	struct cnc_sql_token t;

	if (refusal->look == CND_OD_LOOK_FIRST) {
		t = begin_reading(sql, len, &x);
		return is_word(&t, *word);
	}
	for (; *word; word++) {
		if (refusal->look == CND_OD_LOOK_ALL ? !holds_word(sql, len, *word)
						     : !has_word(sql, len, *word))
			return 0;
	}
	return 1;
}

const struct cnd_od_refusal *
cnd_od_refused(const struct cnd_od_quirks *quirks, const char *sql, size_t len)
{
	const struct cnd_od_refusal *refusal = quirks->refusals;

	for (; refusal && refusal->words[0]; refusal++) {
		if (applies(refusal, sql, len))
			return refusal;
	}
	return NULL;
}
