/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <strings.h>

#include "sqlite.h"

static int
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

/* Length of a comment at the front, 0 if there is none. */
static size_t
comment_len(const char *sql, size_t len)
{
	const char *end;
	size_t i;

	if (len >= 2 && sql[0] == '-' && sql[1] == '-') {
		end = memchr(sql, '\n', len);
		return end ? (size_t)(end - sql) + 1 : len;
	}
	if (len < 3 || sql[0] != '/' || sql[1] != '*')
		return 0;
	for (i = 3; i < len; i++) {
		if (sql[i - 1] == '*' && sql[i] == '/')
			return i + 1;
	}
	return len; /* SQLite too takes an open comment as one to the end */
}

static size_t
skip_blanks(const char *sql, size_t len, int with_semicolons)
{
	size_t i = 0, n;

	while (i < len) {
		if (is_blank(sql[i]) || (with_semicolons && sql[i] == ';')) {
			i++;
			continue;
		}
		n = comment_len(sql + i, len - i);
		if (n == 0)
			break;
		i += n;
	}
	return i;
}

size_t
cnd_sq_skip(const char *sql, size_t len)
{
	return skip_blanks(sql, len, 1);
}

size_t
cnd_sq_chars(const char *text, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

struct word {
	const char *p;
	size_t n;
};

static int
is_word_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || c >= 0x80;
}

static struct word
next_word(const char **sql, size_t *len)
{
	size_t skipped = skip_blanks(*sql, *len, 0);
	struct word w = { *sql + skipped, 0 };

	*len -= skipped;
	while (w.n < *len && is_word_char((unsigned char)w.p[w.n]))
		w.n++;
	*sql = w.p + w.n;
	*len -= w.n;
	return w;
}

static int
word_is(struct word w, const char *text)
{
	return strlen(text) == w.n && strncasecmp(w.p, text, w.n) == 0;
}

#define IN_TX CND_SQ_VERB_IN_TX
#define DML   (CND_SQ_VERB_DML | CND_SQ_VERB_IN_TX)

static const struct cnd_sq_verb verbs[] = {
	{ "SELECT", "SELECT", CND_SQ_VERB_ROWS | IN_TX },
	{ "INSERT", "INSERT 0", DML | CND_SQ_VERB_INSERT },
	{ "UPDATE", "UPDATE", DML },
	{ "DELETE", "DELETE", DML },
	{ "BEGIN", "BEGIN", CND_SQ_VERB_BEGIN },
	{ "COMMIT", "COMMIT", CND_SQ_VERB_COMMIT },
	{ "ROLLBACK", "ROLLBACK", CND_SQ_VERB_ROLLBACK },
	{ "REPLACE", "INSERT 0", DML | CND_SQ_VERB_INSERT },
	{ "VALUES", "SELECT", CND_SQ_VERB_ROWS | IN_TX },
	{ "END", "COMMIT", CND_SQ_VERB_COMMIT },
	{ "SAVEPOINT", "SAVEPOINT", IN_TX },
	{ "RELEASE", "RELEASE", 0 },
	{ "CREATE", "CREATE", IN_TX },
	{ "DROP", "DROP", IN_TX },
	{ "ALTER", "ALTER", IN_TX },
	{ "EXPLAIN", "EXPLAIN", IN_TX },
	{ "PRAGMA", "PRAGMA", 0 },
	{ "VACUUM", "VACUUM", CND_SQ_VERB_VACUUM },
	{ "ANALYZE", "ANALYZE", IN_TX },
	{ "REINDEX", "REINDEX", IN_TX },
	{ "ATTACH", "ATTACH", 0 },
	{ "DETACH", "DETACH", 0 },
};

static const struct cnd_sq_verb verb_rollback_to = { "ROLLBACK", "ROLLBACK", IN_TX };
static const struct cnd_sq_verb verb_other = { "", "", IN_TX };

static const struct cnd_sq_verb *
find_verb(struct word w)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (word_is(w, verbs[i].word))
			return &verbs[i];
	}
	return NULL;
}

/* Bytes of a quoted name or text at the front; else 1. A doubled quote begins the next piece. */
static size_t
piece_len(const char *sql, size_t len)
{
	int quote = *sql == '[' ? ']' : *sql;
	const char *end;

	if (!strchr("'\"`[", *sql))
		return 1;
	end = memchr(sql + 1, quote, len - 1);
	return end ? (size_t)(end - sql) + 1 : len;
}

/* WITH …: the statement's own word is the first that follows a closing parenthesis, other than
 * the AS behind a list of columns. */
static const struct cnd_sq_verb *
verb_of_with(const char *sql, size_t len)
{
	const struct cnd_sq_verb *v;
	size_t depth = 0, n;
	int is_behind = 0;
	struct word w;

	while (len > 0) {
		w = next_word(&sql, &len);
		v = w.n > 0 && depth == 0 && is_behind ? find_verb(w) : NULL;
		if (v && v->flags & (CND_SQ_VERB_ROWS | CND_SQ_VERB_DML))
			return v;
		if (w.n > 0)
			is_behind = 0;
		if (w.n > 0 || len == 0)
			continue;
		if (*sql == '(')
			depth++;
		else if (*sql == ')' && depth > 0)
			depth--;
		is_behind = *sql == ')';
		n = piece_len(sql, len);
		sql += n;
		len -= n;
	}
	return &verb_other;
}

static int
rolls_back_to(const char *sql, size_t len)
{
	struct word w = next_word(&sql, &len);

	if (word_is(w, "TRANSACTION"))
		w = next_word(&sql, &len);
	return word_is(w, "TO");
}

/* CREATE, DROP, ALTER: of what. */
static const char *
object_word(const char *sql, size_t len)
{
	static const char *const objects[] = { "TABLE", "INDEX", "VIEW", "TRIGGER" };
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

const struct cnd_sq_verb *
cnd_sq_verb(const char *sql, size_t len, char *tag)
{
	const struct cnd_sq_verb *v;
	const char *object = NULL;
	struct word w = next_word(&sql, &len);

	v = word_is(w, "WITH") ? verb_of_with(sql, len) : find_verb(w);
	if (!v)
		v = &verb_other;
	if (v->flags & CND_SQ_VERB_ROLLBACK && rolls_back_to(sql, len))
		v = &verb_rollback_to;
	if (v->tag[0] == 'C' || v->tag[0] == 'D' || v->tag[0] == 'A')
		object = v->flags == IN_TX ? object_word(sql, len) : NULL;
	sqlite3_snprintf((int)CND_SQ_TAG_MAX, tag, "%s%s%s", v->tag, object ? " " : "",
		object ? object : "");
	return v;
}
