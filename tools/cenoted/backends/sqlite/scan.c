/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a statement of SQLite is, from its first words: for its tag, and for transactions. This file
 * owns no state. stmt.c and exec.c call it. What a statement leaves in its session is found out by
 * SQLite's authorizer, not here.
 */
#include <string.h>

#include "core/sql.h"
#include "sqlite.h"

size_t
cnd_sq_skip(const char *sql, size_t len)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_SQLITE);

	/* a comment without an end goes on to the end of the text, as in SQLite */
	while (cnc_sql_skip_blanks(&x) && x.p < x.end && *x.p == ';')
		x.p++;
	return (size_t)(x.p - sql);
}

size_t
cnd_sq_chars(const char *text, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
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
find_verb(const struct cnc_sql_token *t)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (t->kind == CNC_SQL_WORD &&
			cnc_sql_compare(t->p, t->n, verbs[i].word) == 0)
			return &verbs[i];
	}
	return &verb_other;
}

static bool
rolls_back_to(struct cnc_sql x)
{
	(void)cnc_sql_take(&x, "transaction");
	return cnc_sql_take(&x, "to");
}

/* The kind of object that a CREATE, DROP or ALTER names; NULL if it is none of these. */
static const char *
find_object(struct cnc_sql x)
{
	static const char *const objects[] = { "TABLE", "INDEX", "VIEW", "TRIGGER" };

	for (size_t n = 0; n < 4; n++) {
		struct cnc_sql_token t = cnc_sql_next(&x);

		if (t.kind != CNC_SQL_WORD)
			break;
		for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
			if (cnc_sql_compare(t.p, t.n, objects[i]) == 0)
				return objects[i];
		}
	}
	return NULL;
}

const struct cnd_sq_verb *
cnd_sq_verb(const char *sql, size_t len, char *tag)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_SQLITE);
	struct cnc_sql_token t = cnc_sql_next(&x);
	const struct cnd_sq_verb *v;
	const char *object = NULL;

	t = cnc_sql_verb(&x, t, CNC_SQL_THROUGH_WITH);
	v = find_verb(&t);
	if (v->flags & CND_SQ_VERB_ROLLBACK && rolls_back_to(x))
		v = &verb_rollback_to;
	if (v->tag[0] == 'C' || v->tag[0] == 'D' || v->tag[0] == 'A')
		object = v->flags == IN_TX ? find_object(x) : NULL;
	sqlite3_snprintf((int)CND_SQ_TAG_MAX, tag, "%s%s%s", v->tag, object ? " " : "",
		object ? object : "");
	return v;
}
