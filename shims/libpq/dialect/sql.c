/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read SQL for servers other than PostgreSQL: find the placeholders, and the names of statements
 * for command tags. It owns no state. send.c and dialect.c call this file.
 */
#include "sql.h"

#include <stdlib.h>
#include <string.h>

struct cnc_sql_token
cpq_sql_next(struct cnc_sql *sql)
{
	struct cnc_sql_token t;

	do
		t = cnc_sql_next(sql);
	while (t.kind == CNC_SQL_MARK);
	return t;
}

/* ---- placeholders ---- */

#define NUMBER_MAX 65535u

static unsigned
number_of(const struct cnc_sql_token *t)
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

	/* double the size when the number is a power of two */
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
cpq_sql_translate(struct cnc_sql sql, enum cpq_placeholder style, PQExpBuffer out,
	struct cpq_places *ret_places)
{
	const char *done = sql.p;
	struct cnc_sql_token t;

	*ret_places = (struct cpq_places){ NULL, 0, 0 };
	while ((t = cpq_sql_next(&sql)).kind != CNC_SQL_END) {
		unsigned number;

		/* a placeholder in the server's own form stays */
		if (t.kind != CNC_SQL_PLACEHOLDER || *t.p != '$')
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
		/* keep the length of a numbered placeholder, so that positions in error messages fit */
		done = style == CPQ_PLACEHOLDER_NUMBERED ? t.p + 1 : t.p + t.n;
		if (style == CPQ_PLACEHOLDER_PLAIN && add_place(ret_places, number) < 0)
			return -1;
	}
	appendBinaryPQExpBuffer(out, done, (size_t)(sql.end - done));
	return out->maxlen == 0 ? -1 : 0;
}

void
cpq_places_finish(struct cpq_places *places)
{
	free(places->order);
	*places = (struct cpq_places){ NULL, 0, 0 };
}

/* ---- names of statements for command tags ---- */

enum {
	COUNTED = 1, /* the tag has a number of rows: "UPDATE 2" */
	/* the tag includes the next word that names a kind of object: "CREATE TABLE" */
	OBJECT = 2,
	MANY = 4 /* the statement may give several results */
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
	int has_body; /* its body may contain semicolons */
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

static bool
is_word(const struct cnc_sql_token *t, const char *word)
{
	return t->kind == CNC_SQL_WORD && cnc_sql_compare(t->p, t->n, word) == 0;
}

static size_t
find_verb(const struct cnc_sql_token *t)
{
	size_t i = 0;

	while (i < N_OF(verbs) && !is_word(t, verbs[i].word))
		i++;
	return i;
}

static const struct object *
find_object(const struct cnc_sql_token *t)
{
	for (size_t i = 0; i < N_OF(objects); i++) {
		if (is_word(t, objects[i].word))
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

/* One statement while its words are read. */
struct reading {
	struct cpq_head *head;
	struct cnc_sql_token first;
	unsigned n; /* words read */
	int wants_object; /* the tag still lacks the kind of object */
	/* the rest of the text is its body, with semicolons; also for BEGIN NOT ATOMIC */
	int has_body;
};

/* Does the word begin a compound statement? MariaDB allows these outside of procedures, too. */
static int
begins_block(const struct cnc_sql_token *t)
{
	static const char *const words[] = { "CASE", "FOR", "IF", "LOOP", "REPEAT",
		"WHILE" };

	for (size_t i = 0; i < N_OF(words); i++) {
		if (is_word(t, words[i]))
			return 1;
	}
	return 0;
}

/* Read the first word; `sql` is after it. A statement with WITH has the name of the verb after the
 * common tables. */
static void
take_first(struct reading *r, const struct cnc_sql_token *t, struct cnc_sql sql)
{
	struct cnc_sql_token word = cnc_sql_verb(&sql, *t, CNC_SQL_THROUGH_WITH);
	size_t verb;

	if (word.kind != CNC_SQL_WORD)
		word = *t;
	verb = find_verb(&word);
	r->first = *t;
	if (verb < N_OF(verbs)) {
		put_verb(r->head, verb);
		r->wants_object = (verbs[verb].flags & OBJECT) != 0;
	} else {
		put_tag(r->head, word.p, word.n);
	}
	if (begins_block(t))
		r->has_body = r->head->has_many = 1;
}

/* Add the kind of object to the tag. */
static void
take_object(struct reading *r, const struct object *object)
{
	int is_drop = cnc_sql_is(&r->first, "drop");

	put_tag(r->head, object->word, strlen(object->word));
	r->wants_object = 0;
	r->has_body = object->has_body && !is_drop;
}

static void
take_word(struct reading *r, const struct cnc_sql_token *t, const struct cnc_sql *sql)
{
	const struct object *object = r->wants_object ? find_object(t) : NULL;

	if (r->n == 0)
		take_first(r, t, *sql);
	else if (object != NULL)
		take_object(r, object);
	else if (r->n == 1 && cnc_sql_is(&r->first, "begin") && cnc_sql_is(t, "not"))
		r->has_body = r->head->has_many = 1;
	r->n++;
}

int
cpq_sql_head(struct cnc_sql *sql, struct cpq_head *ret_head)
{
	struct reading r = { .head = ret_head };
	struct cnc_sql_token t;

	*ret_head = (struct cpq_head){ .tag = "" };
	while ((t = cpq_sql_next(sql)).kind != CNC_SQL_END) {
		if (cnc_sql_is_char(&t, ';') && !r.has_body) {
			if (r.n > 0)
				return 1;
			continue;
		}
		/* count a number as a word that is no keyword */
		if (t.kind == CNC_SQL_WORD || t.kind == CNC_SQL_NUMBER)
			take_word(&r, &t, sql);
	}
	return r.n > 0;
}

int
cpq_sql_is_single(struct cnc_sql sql)
{
	struct cpq_head head;

	return !cpq_sql_head(&sql, &head) || !cpq_sql_head(&sql, &head);
}
