/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judge a text for a pool with `read_only = yes`. serving/read_only.c makes the transactions read-only; this file refuses
 * texts that could make a transaction read-write. worker/query.c and `cenoted --explain-sql` call it. It owns no state.
 */
#include "read_only.h"

#include <string.h>
#include <strings.h>

#include "walk.h"

/* All other classes are refused. Of these, the texts of the classes transaction and session are searched for forbidden words. */
#define ALLOWED                                                                          \
	((uint32_t)(CND_CLASS_READ | CND_CLASS_TRANSACTION | CND_CLASS_SESSION |         \
		    CND_CLASS_COPY))

static bool
contains(const struct cnc_sql_token *t, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= t->n; i++) {
		if (strncasecmp(t->p + i, word, n) == 0)
			return true;
	}
	return false;
}

/*
 * The name of a setting is a word, a quoted name or a text. On every server, the settings that matter here have "read_only"
 * in their names. A name with escapes may be any name. `write` is a part of READ WRITE. `prepared` is a part of COMMIT
 * PREPARED, which commits what another session has written.
 */
static bool
is_forbidden(const struct cnc_sql_token *t)
{
	return contains(t, "read_only") || cnc_sql_is(t, "write") ||
	       cnc_sql_is(t, "prepared") || cnd_name_has_escapes(t);
}

static bool
has_forbidden(const char *sql, size_t len, uint32_t rules)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, rules);
	struct cnc_sql_token t;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		if (t.kind == CNC_SQL_BAD || is_forbidden(&t))
			return true;
	}
	return false;
}

/* Settings of the session decide whether a backslash is an escape. So the text is read in both ways. */
static bool
may_have_forbidden(const char *sql, size_t len, uint32_t rules)
{
	return has_forbidden(sql, len, rules) ||
	       has_forbidden(sql, len, rules ^ CNC_SQL_BACKSLASH);
}

const char *
cnd_read_only_fault(const struct cnd_query *q, uint32_t dialect)
{
	uint32_t classes = q->summary->classes;

	if (q->sql == NULL)
		return "a function is called by its number";
	if (q->summary->is_unsure)
		return "servers may read this text in different ways";
	if (classes & CND_CLASS_CALL)
		return "CALL, DO and EXECUTE may end the transaction, and begin one that "
		       "writes";
	if (classes & ~ALLOWED)
		return "the statement does more than read";
	/* On SQLite the file itself is open for reading only. */
	if (dialect == CNC_SQL_SQLITE)
		return NULL;
	/* The transaction of the second statement begins before cenoted can look at the session again. */
	if (q->summary->n_statements > 1 &&
		(dialect != CNC_SQL_POSTGRESQL || (classes & CND_CLASS_TRANSACTION)))
		return "a text with several statements could begin a transaction that "
		       "writes";
	if ((classes & (CND_CLASS_TRANSACTION | CND_CLASS_SESSION)) &&
		may_have_forbidden(q->sql, q->sql_len, dialect))
		return "this could make transactions read-write";
	return NULL;
}
