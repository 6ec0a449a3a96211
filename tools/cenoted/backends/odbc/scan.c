/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "odbc.h"

/*
 * ODBC tells neither what a statement was nor what it left in the session, so the text has to. It is read
 * for any server, and servers differ in what is a comment, a quoted text or the end of a statement. So a text
 * is read twice: once as most servers read it, for its tag and for transactions; and once word by word, whatever
 * stands around a word, for what it may leave. What is not known for harmless is taken for something that the
 * session holds.
 */
struct word {
	const char *p;
	size_t n;
};

static int
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int
is_word_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '#' || c == '@' ||
	       c >= 0x80;
}

/* Bytes of a comment or quoted text at the front; 0: none. */
static size_t
comment_len(const char *p, size_t n)
{
	const char *end;
	size_t i;

	if (n >= 2 && p[0] == '-' && p[1] == '-') {
		end = memchr(p, '\n', n);
		return end ? (size_t)(end - p) + 1 : n;
	}
	/* MariaDB and MySQL carry out what stands behind these marks */
	if (n < 2 || p[0] != '/' || p[1] != '*' || (n > 2 && p[2] == '!') ||
		(n > 3 && p[2] == 'M' && p[3] == '!'))
		return 0;
	for (i = 3; i < n; i++) {
		if (p[i - 1] == '*' && p[i] == '/')
			return i + 1;
	}
	return n;
}

static size_t
quoted_len(const char *p, size_t n)
{
	int quote = *p == '[' ? ']' : *p;
	const char *end;

	if (*p != '\'' && *p != '"' && *p != '`' && *p != '[')
		return 0;
	end = memchr(p + 1, quote, n - 1);
	return end ? (size_t)(end - p) + 1 : n;
}

static void
skip_blanks(const char **sql, size_t *len)
{
	size_t n;

	while (*len > 0) {
		n = is_blank(**sql) || **sql == ';' ? 1 : comment_len(*sql, *len);
		if (n == 0)
			return;
		*sql += n;
		*len -= n;
	}
}

static struct word
next_word(const char **sql, size_t *len)
{
	struct word w;

	skip_blanks(sql, len);
	w = (struct word){ *sql, 0 };
	while (w.n < *len && is_word_char((unsigned char)w.p[w.n]))
		w.n++;
	*sql += w.n;
	*len -= w.n;
	return w;
}

static int
word_is(struct word w, const char *text)
{
	return strlen(text) == w.n && strncasecmp(w.p, text, w.n) == 0;
}

static int
is_one_of(struct word w, const char *const *words)
{
	for (; *words; words++) {
		if (word_is(w, *words))
			return 1;
	}
	return 0;
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
	/* what begins no tag of its own, but does something in the middle of a statement or behind one */
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

/* COMMIT and ROLLBACK that leave a transaction open: TO a savepoint, AND CHAIN; or are of a prepared one. */
static const struct verb verb_commit_part = { "", "COMMIT", 0, CENOTE_PIN_FUNCTION };
static const struct verb verb_rollback_part = { "", "ROLLBACK", 0, CENOTE_PIN_FUNCTION };
static const struct verb verb_rollback_to = { "", "ROLLBACK", 0, 0 };
static const struct verb verb_call = { "", "CALL", CND_OD_VERB_CALL,
	CENOTE_PIN_FUNCTION };
static const struct verb verb_other = { "", "", 0, CENOTE_PIN_SETTINGS };

static const struct verb *
find_verb(struct word w)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (word_is(w, verbs[i].word))
			return &verbs[i];
	}
	return &verb_other;
}

/* WITH …: the first verb outside of parentheses. */
static const struct verb *
verb_of_with(const char *sql, size_t len)
{
	const struct verb *v;
	size_t depth = 0, n;
	struct word w;

	while (len > 0) {
		w = next_word(&sql, &len);
		v = w.n > 0 && depth == 0 ? find_verb(w) : &verb_other;
		if (v->flags & (CND_OD_VERB_ROWS | CND_OD_VERB_DML))
			return v;
		if (w.n > 0 || len == 0)
			continue;
		if (*sql == '(')
			depth++;
		else if (*sql == ')' && depth > 0)
			depth--;
		n = quoted_len(sql, len);
		n = n > 0 ? n : 1;
		sql += n;
		len -= n;
	}
	return &verb_other;
}

/* What begins with COMMIT, END, ROLLBACK or ABORT. */
static const struct verb *
verb_of_end(const struct verb *v, const char *sql, size_t len)
{
	static const char *const noise[] = { "TRANSACTION", "WORK", NULL };
	int is_commit = (v->flags & CND_OD_VERB_COMMIT) != 0;
	struct word w = next_word(&sql, &len);

	if (is_one_of(w, noise))
		w = next_word(&sql, &len);
	if (word_is(w, "TO") && !is_commit)
		return &verb_rollback_to;
	if (word_is(w, "PREPARED") ||
		(word_is(w, "AND") && !word_is(next_word(&sql, &len), "NO")))
		return is_commit ? &verb_commit_part : &verb_rollback_part;
	return v;
}

static const char *
object_word(const char *sql, size_t len)
{
	static const char *const objects[] = { "TABLE", "INDEX", "VIEW", "TRIGGER",
		"FUNCTION", "PROCEDURE", "SCHEMA", "SEQUENCE" };
	struct word w;
	size_t i, n;

	for (n = 0; n < 4; n++) {
		w = next_word(&sql, &len);
		for (i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
			if (word_is(w, objects[i]))
				return objects[i];
		}
	}
	return NULL;
}

/* ---- what a statement may leave behind ---- */

/*
 * What stands before a parenthesis and leaves nothing: words of SQL, and functions that every server has. That
 * nobody has made a function of such a name is the administrator's word (`queries=pure`).
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

/* Where a text is, word by word. */
struct place {
	struct word word, before; /* the last two */
	char front; /* what stands in front of `word`, blanks left out */
	char last; /* the last that is no blank */
};

static int
is_ascii_word_char(char c)
{
	return is_word_char((unsigned char)c) && (unsigned char)c < 0x80 && c != '$' &&
	       c != '#' && c != '@';
}

static uint32_t
pins_of_word(struct word w, struct word before)
{
	const struct verb *v;
	size_t i;

	/* a number ends where its digits do, and a word may follow at once: "select 1set names latin1" */
	if (*w.p >= '0' && *w.p <= '9') {
		for (i = 0; i < w.n && w.p[i] >= '0' && w.p[i] <= '9';)
			i++;
		return i < w.n ? CENOTE_PIN_FUNCTION : 0;
	}
	if (word_is(w, "VALUE") && word_is(before, "NEXT"))
		return CENOTE_PIN_FUNCTION;
	v = find_verb(w);
	/* Transact-SQL needs nothing between two statements */
	if (before.n > 0 && v->flags & TX_VERBS && !word_is(w, "END"))
		return CENOTE_PIN_FUNCTION;
	return v != &verb_other ? v->pins : 0;
}

/* Whether the parenthesis that comes now is that of a call. Behind WITH is a table with its columns. */
static int
is_call(const struct place *at)
{
	static const char *const before_table[] = { "with", "recursive", NULL };

	if (!is_ascii_word_char(at->last))
		return at->last == '"' || at->last == '`' || at->last == '\'' ||
		       at->last == ']' || (unsigned char)at->last >= 0x80;
	if (at->front == '.' || (unsigned char)at->front >= 0x80)
		return 1;
	return !is_one_of(at->word, harmless) &&
	       !(is_one_of(at->before, before_table) && is_ascii_word_char(at->front));
}

/* What a character is that belongs to no word; `next` is the one behind it. */
static uint32_t
pins_of_char(const struct place *at, char c, char next)
{
	if (c == '#')
		return CENOTE_PIN_TEMP;
	if (c == '(')
		return is_call(at) ? CENOTE_PIN_FUNCTION : 0;
	/* more statements, a variable, an escape, a quoted text of PostgreSQL's, comments */
	if (c == ';' || c == '@' || c == '\\' || c == '$' || (c == '-' && next == '-') ||
		(c == '/' && next == '*'))
		return CENOTE_PIN_FUNCTION;
	return 0;
}

/* Each word counts wherever it stands, be it in a string or a comment. */
static uint32_t
look_everywhere(const char *sql, size_t len)
{
	struct place at = { { sql, 0 }, { sql, 0 }, ' ', ' ' };
	uint32_t pins = 0;
	size_t i, n;

	while (len > 0 && (is_blank(sql[len - 1]) || sql[len - 1] == ';'))
		len--;
	for (i = 0; i < len; i += n) {
		char next = ' ';

		for (n = 0; i + n < len && is_ascii_word_char(sql[i + n]);)
			n++;
		if (n > 0) {
			at.before = at.word;
			at.word = (struct word){ sql + i, n };
			at.front = at.last;
			pins |= pins_of_word(at.word, at.before);
		} else {
			n = 1;
			if (i + 1 < len)
				next = sql[i + 1];
			pins |= pins_of_char(&at, sql[i], next);
		}
		if (!is_blank(sql[i + n - 1]))
			at.last = sql[i + n - 1];
	}
	return pins;
}

/* A question whether the server is there, with no name in it: "select 1". */
static int
is_of_numbers(const char *sql, size_t len)
{
	while (len > 0 &&
		(is_blank(*sql) || *sql == ';' || (*sql >= '0' && *sql <= '9'))) {
		sql++;
		len--;
	}
	return len == 0;
}

/* ---- a text ---- */

static const struct verb *
verb_at(struct word w, const char *sql, size_t len)
{
	const struct verb *v;

	if (word_is(w, "WITH"))
		return verb_of_with(sql, len);
	if (w.n == 0 && len > 0 && *sql == '{')
		return &verb_call;
	if (w.n == 0 && len > 0 && *sql == '(')
		return &verbs[0];
	v = find_verb(w);
	if (v->flags & (CND_OD_VERB_COMMIT | CND_OD_VERB_ROLLBACK))
		return verb_of_end(v, sql, len);
	if (word_is(w, "START") && !word_is(next_word(&sql, &len), "TRANSACTION"))
		return &verb_other;
	return v;
}

/* Behind the next semicolon. */
static void
skip_statement(const char **sql, size_t *len)
{
	size_t n;

	while (*len > 0 && **sql != ';') {
		n = comment_len(*sql, *len);
		if (n == 0)
			n = quoted_len(*sql, *len);
		n = n > 0 ? n : 1;
		*sql += n;
		*len -= n;
	}
}

/* The statements behind the first: the last word on transactions is theirs. */
static void
look_at_others(const char *sql, size_t len, struct cnd_od_scan *scan)
{
	const struct verb *v;
	struct word w;

	for (;;) {
		skip_statement(&sql, &len);
		w = next_word(&sql, &len);
		if (w.n == 0 && len == 0)
			return;
		v = verb_at(w, sql, len);
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
	struct word w = next_word(&sql, &len);
	const struct verb *v = verb_at(w, sql, len);
	const char *object = NULL;

	*ret_scan = (struct cnd_od_scan){ .flags = v->flags, .pins = v->pins };
	if (w.n == 0 && len == 0) {
		ret_scan->is_empty = 1;
		ret_scan->pins = 0;
		return;
	}
	look_at_others(sql, len, ret_scan);
	/* what the verbs say is more exact than the look at each word */
	if (ret_scan->pins == 0)
		ret_scan->pins = everywhere;
	ret_scan->pins |= everywhere & CENOTE_PIN_TEMP;
	ret_scan->reads = v->flags & CND_OD_VERB_ROWS && !is_of_numbers(sql, len);
	if (v->word[0] == 'C' || v->word[0] == 'D' || v->word[0] == 'A')
		object = v->flags == 0 ? object_word(sql, len) : NULL;
	(void)snprintf(ret_scan->tag, sizeof(ret_scan->tag), "%s%s%s", v->tag,
		object ? " " : "", object ? object : "");
}

/* ---- calls ---- */

struct cnp_str
cnd_od_called(const char *sql, size_t len, int *ret_has_result)
{
	static const char *const calls[] = { "CALL", "EXEC", "EXECUTE", NULL };
	struct cnp_str none = { "", 0 };
	const char *name;
	struct word w;

	*ret_has_result = 0;
	skip_blanks(&sql, &len);
	if (len > 0 && *sql == '{') {
		sql++;
		len--;
	}
	skip_blanks(&sql, &len);
	if (len > 0 && *sql == '?') {
		*ret_has_result = 1;
		sql++;
		len--;
		skip_blanks(&sql, &len);
		if (len == 0 || *sql != '=')
			return none;
		sql++;
		len--;
	}
	w = next_word(&sql, &len);
	if (!is_one_of(w, calls))
		return none;
	skip_blanks(&sql, &len);
	name = sql;
	while (len > 0 && (is_word_char((unsigned char)*sql) || *sql == '.')) {
		sql++;
		len--;
	}
	return (struct cnp_str){ name, (size_t)(sql - name) };
}

/* ---- what a driver must not be given ---- */

/* Outside of quotes and comments. */
static int
has_word(const char *sql, size_t len, const char *word)
{
	struct word w;
	size_t n;

	while (len > 0) {
		w.p = sql;
		for (w.n = 0; w.n < len && is_word_char((unsigned char)sql[w.n]);)
			w.n++;
		if (word_is(w, word))
			return 1;
		n = w.n > 0 ? w.n : comment_len(sql, len);
		if (n == 0)
			n = quoted_len(sql, len);
		n = n > 0 ? n : 1;
		sql += n;
		len -= n;
	}
	return 0;
}

static int
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/*
 * Anywhere, whatever a server takes for a comment, a blank or the end of a name: a mark at the front of
 * UTF-8, the number in MariaDB's version comments, a '#'. Only letters belong to the word in front of it.
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

	if (refusal->look == CND_OD_LOOK_FIRST)
		return word_is(next_word(&sql, &len), *word);
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
