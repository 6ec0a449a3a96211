/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- tokens ---- */

static int
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
	       c == '_' || (unsigned char)c >= 0x80;
}

static const char *
end_of_line(const char *p)
{
	return p + strcspn(p, "\n");
}

static int
is_line_comment(const char *p, unsigned rules)
{
	if (*p == '#')
		return (rules & CPQ_SQL_HASH) != 0;
	if (p[0] != '-' || p[1] != '-')
		return 0;
	return !(rules & CPQ_SQL_DASH_BLANK) || p[2] == '\0' || is_blank(p[2]);
}

/* Behind a comment in C's form; of one that is carried out, behind its mark. */
static const char *
skip_block(const char *p, unsigned rules)
{
	const char *end = strstr(p + 2, "*/");
	const char *mark = p[2] == 'M' ? p + 3 : p + 2;

	if ((rules & CPQ_SQL_BANG) && *mark == '!')
		return mark + 1 + strspn(mark + 1, "0123456789");
	return end != NULL ? end + 2 : p + strlen(p);
}

static const char *
skip_blanks(const char *p, unsigned rules)
{
	for (;;) {
		if (is_blank(*p))
			p++;
		else if (is_line_comment(p, rules))
			p = end_of_line(p);
		else if (p[0] == '/' && p[1] == '*')
			p = skip_block(p, rules);
		else if ((rules & CPQ_SQL_BANG) && p[0] == '*' && p[1] == '/')
			p += 2;
		else
			return p;
	}
}

/* The end of a character that is not ASCII. */
static const char *
skip_character(const char *p, cpq_sql_character *character)
{
	size_t n = character != NULL ? character(p, p + strnlen(p, 4)) : 0;

	return p + (n > 1 ? n : 1);
}

static const char *
end_of_quoted(const char *p, char quote, int has_backslash, cpq_sql_character *character)
{
	while (*p != '\0' && *p != quote) {
		if (*p == '\\' && has_backslash && p[1] != '\0')
			p += 2;
		else if ((unsigned char)*p >= 0x80)
			p = skip_character(p, character);
		else
			p++;
	}
	return *p == '\0' ? p : p + 1;
}

static const char *
end_of_words(const char *p, cpq_sql_character *character)
{
	while (is_word(*p) || *p == '$')
		p = (unsigned char)*p >= 0x80 ? skip_character(p, character) : p + 1;
	return p;
}

static struct cpq_token
token(enum cpq_token_kind kind, const char *p, const char *end)
{
	return (struct cpq_token){ kind, p, (size_t)(end - p) };
}

static struct cpq_token
read_token(const char *p, unsigned rules, cpq_sql_character *character)
{
	int has_backslash = (rules & CPQ_SQL_BACKSLASH) != 0;

	if (*p == '\0')
		return token(CPQ_TOKEN_END, p, p);
	if (*p == '\'' || *p == '"')
		return token(CPQ_TOKEN_QUOTED, p,
			end_of_quoted(p + 1, *p, has_backslash, character));
	if (*p == '`')
		return token(
			CPQ_TOKEN_QUOTED, p, end_of_quoted(p + 1, '`', 0, character));
	if (*p == '[' && (rules & CPQ_SQL_BRACKETS))
		return token(
			CPQ_TOKEN_QUOTED, p, end_of_quoted(p + 1, ']', 0, character));
	if (*p == '$' && is_digit(p[1]))
		return token(
			CPQ_TOKEN_PLACEHOLDER, p, p + 1 + strspn(p + 1, "0123456789"));
	if (is_word(*p) || *p == '$')
		return token(CPQ_TOKEN_WORD, p, end_of_words(p, character));
	return token(CPQ_TOKEN_OTHER, p, p + 1);
}

struct cpq_token
cpq_sql_next(struct cpq_sql *sql)
{
	struct cpq_token t =
		read_token(skip_blanks(sql->at, sql->rules), sql->rules, sql->character);

	sql->at = t.p + t.n;
	return t;
}

int
cpq_token_is(const struct cpq_token *t, const char *word)
{
	return t->kind == CPQ_TOKEN_WORD && strlen(word) == t->n &&
	       strncasecmp(t->p, word, t->n) == 0;
}

int
cpq_token_is_byte(const struct cpq_token *t, char byte)
{
	return t->kind == CPQ_TOKEN_OTHER && *t->p == byte;
}

/* ---- placeholders ---- */

#define NUMBER_MAX 65535u

static unsigned
number_of(const struct cpq_token *t)
{
	unsigned v = 0;

	for (size_t i = 1; i < t->n && v <= NUMBER_MAX; i++)
		v = 10 * v + (unsigned)(t->p[i] - '0');
	return v;
}

static int
add_place(struct cpq_places *places, unsigned number)
{
	uint16_t *grown = places->order;

	/* a power of two is full */
	if ((places->n & (places->n - 1)) == 0)
		grown = realloc(
			grown, (places->n > 0 ? 2 * places->n : 1) * sizeof(*grown));
	if (grown == NULL)
		return -1;
	places->order = grown;
	places->order[places->n++] = (uint16_t)number;
	return 0;
}

int
cpq_sql_translate(struct cpq_sql sql, enum cpq_placeholder style, PQExpBuffer out,
	struct cpq_places *ret_places)
{
	const char *done = sql.at;
	struct cpq_token t;

	*ret_places = (struct cpq_places){ NULL, 0, 0 };
	while ((t = cpq_sql_next(&sql)).kind != CPQ_TOKEN_END) {
		unsigned number;

		if (t.kind != CPQ_TOKEN_PLACEHOLDER)
			continue;
		number = number_of(&t);
		if (number == 0 || number > NUMBER_MAX) {
			ret_places->highest = number;
			return 1;
		}
		if (number > ret_places->highest)
			ret_places->highest = number;
		appendBinaryPQExpBuffer(out, done, (size_t)(t.p - done));
		appendPQExpBufferChar(out, '?');
		/* a numbered one is as long as it was, so that places in messages fit */
		done = style == CPQ_PLACEHOLDER_NUMBERED ? t.p + 1 : t.p + t.n;
		if (style == CPQ_PLACEHOLDER_PLAIN && add_place(ret_places, number) < 0)
			return -1;
	}
	appendPQExpBufferStr(out, done);
	return out->maxlen == 0 ? -1 : 0;
}

void
cpq_places_finish(struct cpq_places *places)
{
	free(places->order);
	*places = (struct cpq_places){ NULL, 0, 0 };
}

/* ---- what a statement is called ---- */

enum {
	COUNTED = 1, /* "UPDATE 2" */
	OBJECT =
		2, /* "CREATE TABLE": of what is the next word that names a kind of object */
	MANY = 4 /* it may give several results */
};

static const struct {
	const char *word;
	const char *tag;
	unsigned flags;
} verbs[] = {
	{ "SELECT", "SELECT", COUNTED },
	{ "INSERT", "INSERT 0", COUNTED },
	{ "REPLACE", "INSERT 0", COUNTED },
	{ "UPDATE", "UPDATE", COUNTED },
	{ "DELETE", "DELETE", COUNTED },
	{ "VALUES", "SELECT", COUNTED },
	{ "TABLE", "SELECT", COUNTED },
	{ "CREATE", "CREATE", OBJECT },
	{ "DROP", "DROP", OBJECT },
	{ "ALTER", "ALTER", OBJECT },
	{ "TRUNCATE", "TRUNCATE TABLE", 0 },
	{ "LOCK", "LOCK TABLE", 0 },
	{ "START", "START TRANSACTION", 0 },
	{ "LOAD", "LOAD DATA", 0 },
	{ "CALL", "CALL", MANY },
	{ "EXECUTE", "EXECUTE", MANY },
};

struct object {
	const char *word;
	int has_body; /* with semicolons of its own */
};

static const struct object objects[] = {
	{ "TABLE", 0 },
	{ "INDEX", 0 },
	{ "VIEW", 0 },
	{ "TRIGGER", 1 },
	{ "PROCEDURE", 1 },
	{ "FUNCTION", 1 },
	{ "EVENT", 1 },
	{ "SEQUENCE", 0 },
	{ "DATABASE", 0 },
	{ "SCHEMA", 0 },
	{ "USER", 0 },
	{ "ROLE", 0 },
	{ "SERVER", 0 },
	{ "PACKAGE", 1 },
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static size_t
find_verb(const struct cpq_token *t)
{
	size_t i = 0;

	while (i < N_OF(verbs) && !cpq_token_is(t, verbs[i].word))
		i++;
	return i;
}

static const struct object *
find_object(const struct cpq_token *t)
{
	for (size_t i = 0; i < N_OF(objects); i++) {
		if (cpq_token_is(t, objects[i].word))
			return &objects[i];
	}
	return NULL;
}

static void
put_tag(struct cpq_head *head, const char *word, size_t n)
{
	size_t used = strlen(head->tag);

	if (used > 0 && used + 1 < sizeof(head->tag))
		head->tag[used++] = ' ';
	for (size_t i = 0; i < n && used + 1 < sizeof(head->tag); i++) {
		char c = word[i];

		head->tag[used++] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
	}
	head->tag[used] = '\0';
}

static void
put_verb(struct cpq_head *head, size_t verb)
{
	put_tag(head, verbs[verb].tag, strlen(verbs[verb].tag));
	head->is_counted = (verbs[verb].flags & COUNTED) != 0;
	head->has_many = (verbs[verb].flags & MANY) != 0;
}

/* The statement of "WITH … AS (…) SELECT": the first verb that is in no parentheses. */
static int
follow_with(const struct cpq_token *t, struct cpq_head *head, unsigned depth)
{
	size_t verb = depth == 0 ? find_verb(t) : N_OF(verbs);

	if (verb == N_OF(verbs) || !(verbs[verb].flags & COUNTED))
		return 0;
	head->tag[0] = '\0';
	put_verb(head, verb);
	return 1;
}

/* The words of one statement, as they are read. */
struct reading {
	struct cpq_head *head;
	struct cpq_token first;
	unsigned n; /* words up to now */
	unsigned depth; /* of parentheses */
	int wants_object;
	int is_with;
	int has_body; /* it goes to the end of the text; so does BEGIN NOT ATOMIC */
};

/* Of MariaDB's, outside of procedures as well. */
static int
begins_block(const struct cpq_token *t)
{
	static const char *const words[] = { "CASE", "FOR", "IF", "LOOP", "REPEAT",
		"WHILE" };

	for (size_t i = 0; i < N_OF(words); i++) {
		if (cpq_token_is(t, words[i]))
			return 1;
	}
	return 0;
}

static void
take_first(struct reading *r, const struct cpq_token *t)
{
	size_t verb = find_verb(t);

	r->first = *t;
	if (verb < N_OF(verbs)) {
		put_verb(r->head, verb);
		r->wants_object = (verbs[verb].flags & OBJECT) != 0;
	} else {
		put_tag(r->head, t->p, t->n);
	}
	if (begins_block(t))
		r->has_body = r->head->has_many = 1;
	r->is_with = cpq_token_is(t, "WITH");
}

/* Of what it is: that belongs to the tag. */
static void
take_object(struct reading *r, const struct object *object)
{
	int is_drop = cpq_token_is(&r->first, "DROP");

	put_tag(r->head, object->word, strlen(object->word));
	r->wants_object = 0;
	r->has_body = object->has_body && !is_drop;
}

static void
take_word(struct reading *r, const struct cpq_token *t)
{
	const struct object *object = r->wants_object ? find_object(t) : NULL;

	if (r->n == 0)
		take_first(r, t);
	else if (object != NULL)
		take_object(r, object);
	else if (r->is_with && follow_with(t, r->head, r->depth))
		r->is_with = 0;
	else if (r->n == 1 && cpq_token_is(&r->first, "BEGIN") && cpq_token_is(t, "NOT"))
		r->has_body = r->head->has_many = 1;
	r->n++;
}

int
cpq_sql_head(struct cpq_sql *sql, struct cpq_head *ret_head)
{
	struct reading r = { .head = ret_head };
	struct cpq_token t;

	*ret_head = (struct cpq_head){ .tag = "" };
	while ((t = cpq_sql_next(sql)).kind != CPQ_TOKEN_END) {
		if (cpq_token_is_byte(&t, ';') && !r.has_body) {
			if (r.n > 0)
				return 1;
			continue;
		}
		if (cpq_token_is_byte(&t, '('))
			r.depth++;
		else if (cpq_token_is_byte(&t, ')') && r.depth > 0)
			r.depth--;
		else if (t.kind == CPQ_TOKEN_WORD)
			take_word(&r, &t);
	}
	return r.n > 0;
}

int
cpq_sql_is_single(struct cpq_sql sql)
{
	struct cpq_head head;

	return !cpq_sql_head(&sql, &head) || !cpq_sql_head(&sql, &head);
}
