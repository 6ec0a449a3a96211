/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "odbc.h"

/*
 * ODBC tells neither what a statement was nor what it left in the session, so the text has to. It is read
 * for any server: what is not known for harmless is taken for something that the session holds.
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
	if (n < 2 || p[0] != '/' || p[1] != '*')
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
	{ "CREATE", "CREATE", 0, 0 },
	{ "DROP", "DROP", 0, 0 },
	{ "ALTER", "ALTER", 0, 0 },
	{ "TRUNCATE", "TRUNCATE TABLE", 0, 0 },
	{ "GRANT", "GRANT", 0, 0 },
	{ "REVOKE", "REVOKE", 0, 0 },
	{ "COMMENT", "COMMENT", 0, 0 },
	{ "EXPLAIN", "EXPLAIN", 0, 0 },
	{ "SHOW", "SHOW", 0, 0 },
	{ "ANALYZE", "ANALYZE", 0, 0 },
	{ "VACUUM", "VACUUM", 0, 0 },
	{ "REINDEX", "REINDEX", 0, 0 },
	{ "CALL", "CALL", CND_OD_VERB_CALL, CENOTE_PIN_FUNCTION },
	{ "EXEC", "CALL", CND_OD_VERB_CALL, CENOTE_PIN_FUNCTION },
	{ "EXECUTE", "CALL", CND_OD_VERB_CALL, CENOTE_PIN_FUNCTION },
	{ "SET", "SET", 0, CENOTE_PIN_SETTINGS },
	{ "PREPARE", "PREPARE", 0, CENOTE_PIN_PREPARED },
	{ "DECLARE", "DECLARE CURSOR", 0, CENOTE_PIN_CURSOR },
	{ "LISTEN", "LISTEN", 0, CENOTE_PIN_LISTEN },
	{ "LOCK", "LOCK TABLE", 0, CENOTE_PIN_LOCK },
	{ "ATTACH", "ATTACH", 0, CENOTE_PIN_ATTACHED },
};

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

static int
rolls_back_to(const char *sql, size_t len)
{
	static const char *const noise[] = { "TRANSACTION", "WORK", NULL };
	struct word w = next_word(&sql, &len);

	if (is_one_of(w, noise))
		w = next_word(&sql, &len);
	return word_is(w, "TO");
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

/* What stands before a parenthesis and leaves nothing: words of SQL, and functions that every server has. */
static const char *const harmless[] = { "abs", "all", "and", "any", "as", "avg",
	"between", "bigint", "by", "case", "cast", "ceiling", "char", "check", "coalesce",
	"concat", "convert", "count", "date", "decimal", "distinct", "else", "exists",
	"extract", "floor", "from", "having", "in", "join", "key", "left", "length",
	"like", "limit", "lower", "max", "min", "mod", "not", "nullif", "numeric",
	"offset", "on", "or", "order", "over", "partition", "position", "power",
	"references", "replace", "right", "round", "select", "set", "some", "substr",
	"substring", "sum", "then", "time", "timestamp", "trim", "union", "unique",
	"upper", "using", "values", "varchar", "when", "where", NULL };

/* A name and a parenthesis is a call, but behind these it is a table with its columns. */
static const char *const before_table[] = { "into", "table", "references", "with",
	"exists", "index", "on", "view", "recursive", NULL };

struct tail {
	int has_function;
	int has_temp;
};

static void
look_at_word(struct word w, struct word before, const char *behind, size_t left,
	struct tail *tail)
{
	static const char *const temp[] = { "TEMP", "TEMPORARY", NULL };

	if (is_one_of(w, temp) || (w.n > 1 && w.p[0] == '#'))
		tail->has_temp = 1;
	while (left > 0 && is_blank(*behind)) {
		behind++;
		left--;
	}
	if (left > 0 && *behind == '(' && !is_one_of(w, harmless) &&
		!is_one_of(before, before_table))
		tail->has_function = 1;
}

static struct tail
look_at_tail(struct word before, const char *sql, size_t len)
{
	struct tail tail = { 0, 0 };
	struct word w;
	size_t n;

	while (len > 0) {
		w = next_word(&sql, &len);
		if (w.n > 0) {
			look_at_word(w, before, sql, len, &tail);
			before = w;
			continue;
		}
		if (len == 0)
			break;
		n = quoted_len(sql, len);
		n = n > 0 ? n : 1;
		/* a quoted name stands where a word would */
		if (n > 1 && *sql != '\'')
			look_at_word(
				(struct word){ sql, n }, before, sql + n, len - n, &tail);
		sql += n;
		len -= n;
	}
	return tail;
}

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
	if (v->flags & CND_OD_VERB_ROLLBACK && rolls_back_to(sql, len))
		return &verb_rollback_to;
	return v;
}

void
cnd_od_scan(const char *sql, size_t len, struct cnd_od_scan *ret_scan)
{
	struct word w = next_word(&sql, &len);
	const struct verb *v = verb_at(w, sql, len);
	struct tail tail = look_at_tail(w, sql, len);
	const char *object = NULL;

	*ret_scan = (struct cnd_od_scan){ .flags = v->flags, .pins = v->pins };
	ret_scan->is_empty = w.n == 0 && len == 0;
	if (ret_scan->is_empty)
		ret_scan->pins = 0;
	if (tail.has_temp)
		ret_scan->pins |= CENOTE_PIN_TEMP;
	if (tail.has_function)
		ret_scan->pins |= CENOTE_PIN_FUNCTION;
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
