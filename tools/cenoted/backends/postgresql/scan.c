/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out what a statement may leave in its session, from the SQL alone. The result decides whether
 * the session may be yielded, and, more important, whether it must be reset for the next
 * client. So a statement counts as harmless only if that is proved.
 *
 * Nearly every statement can call a function that a user wrote: an INSERT by triggers and defaults, a
 * SELECT by views, operators, casts and policies, DDL by event triggers. So every statement counts as
 * one that may leave something (CENOTE_PIN_FUNCTION: the server can be asked what it left). The exceptions are:
 *
 *   - statements that call nothing: SHOW, RESET, LOCK, …, and statements that begin or end a transaction;
 *   - SELECT of literals, and of the key words and functions below, and of nothing else: no
 *     table, no operator, and no conversion to another type except by the input function of
 *     that type. The server does not look up any of these in search_path, which clients may change, and
 *     which a reload of the server may change without a report. A key word belongs to the grammar, and a
 *     function is named with its schema.
 *
 * Other pins say what a statement certainly leaves.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/sql.h"
#include "pg.h"

#define FUNCTION CENOTE_PIN_FUNCTION

/* The SQL that is being scanned. */
struct scan {
	struct cnc_sql lex; /* the lexer, which stands after `t` */
	struct cnc_sql_token t; /* the current token */
	struct cnd_pg_scan found;
	/* Of the current statement: */
	uint32_t parens; /* number of open parentheses */
	uint32_t blocks; /* number of open BEGIN ATOMIC … END and CASE … END */
	int is_routine; /* CREATE FUNCTION or PROCEDURE */
	struct cnc_sql_token before; /* the token before `t` */
};

/* Whether the token is `word`, which is in lower case. Only a token without quotes may have upper case. */
static bool
is_name(const struct cnc_sql_token *t, const char *word)
{
	size_t n;
	const char *p;

	if (t->kind != CNC_SQL_NAME)
		return cnc_sql_is(t, word);
	p = cnc_sql_inside(t, &n);
	return n == strlen(word) && memcmp(p, word, n) == 0;
}

static bool
is_one_of_names(const struct cnc_sql_token *t, const char *const *words)
{
	for (; *words != NULL; words++) {
		if (is_name(t, *words))
			return true;
	}
	return false;
}

/* ---- What is proved ---- */

/* Words that may stand anywhere in a harmless SELECT. None can be the name of a function. */
static const char *const plain_words[] = { "select", "all", "as", "null", "true", "false",
	"current_date", "current_time", "current_timestamp", "localtime",
	"localtimestamp", "current_user", "current_role", "session_user", "user",
	"current_catalog", NULL };

/* Functions that are called without arguments, after "pg_catalog." */
static const char *const plain_functions[] = { "now", "version", "pg_backend_pid",
	"current_database", "current_schema", "clock_timestamp", "statement_timestamp",
	"transaction_timestamp", "timeofday", "pg_postmaster_start_time",
	"pg_conf_load_time", "pg_is_in_recovery", "inet_server_addr", "inet_server_port",
	"inet_client_addr", "inet_client_port", "pg_my_temp_schema", NULL };

/* Types that may stand after ::, or before a literal. They are key words, so they always mean the types of pg_catalog. */
static const char *const plain_types[] = { "boolean", "int", "integer", "smallint",
	"bigint", "real", "float", "numeric", "decimal", "varchar", "char", "time",
	"timestamp", "interval", NULL };

/* Types that stand before a literal, after "pg_catalog." */
static const char *const named_types[] = { "bool", "int2", "int4", "int8", "float4",
	"float8", "text", "bytea", "date", "timetz", "timestamptz", "uuid", "json",
	"jsonb", "name", "oid", NULL };

/* Whether ( and ) follow, with a literal between them if `has_literal`. */
static int
has_arguments(struct cnc_sql *l, int has_literal)
{
	struct cnc_sql_token t = cnc_sql_next(l);

	if (!cnc_sql_is_char(&t, '('))
		return 0;
	t = cnc_sql_next(l);
	if (has_literal) {
		if (t.kind != CNC_SQL_TEXT)
			return 0;
		t = cnc_sql_next(l);
	}
	return cnc_sql_is_char(&t, ')');
}

/* Whether a word begins the call of a plain function, or a type with its literal. */
static int
is_plain_call(struct cnc_sql *l, struct cnc_sql_token t)
{
	const char *const *types = plain_types;

	if (cnc_sql_is(&t, "pg_catalog")) {
		t = cnc_sql_next(l);
		if (!cnc_sql_is_char(&t, '.'))
			return 0;
		t = cnc_sql_next(l);
		if (is_one_of_names(&t, plain_functions))
			return has_arguments(l, 0);
		if (is_name(&t, "current_setting"))
			return has_arguments(l, 1);
		types = named_types;
	}
	if (!is_one_of_names(&t, types))
		return 0;
	t = cnc_sql_next(l);
	return t.kind == CNC_SQL_TEXT;
}

/* Whether the token is the sign of a number. */
static int
is_sign(struct cnc_sql *l, const struct cnc_sql_token *t,
	const struct cnc_sql_token *before)
{
	struct cnc_sql_token next;

	if (!cnc_sql_is_char(t, '-') && !cnc_sql_is_char(t, '+'))
		return 0;
	/* After a value, the token is an operator, which any user may have defined. */
	if (!cnc_sql_is_char(before, '(') && !cnc_sql_is_char(before, ',') &&
		!cnc_sql_is(before, "select"))
		return 0;
	next = cnc_sql_next(l);
	return next.kind == CNC_SQL_NUMBER;
}

/* Whether a cast is harmless. Only a literal in quotes may be cast: a cast between two types may call a function. */
static int
is_plain_cast(struct cnc_sql *l, const struct cnc_sql_token *before)
{
	struct cnc_sql_token t;

	if (before->kind != CNC_SQL_TEXT)
		return 0;
	t = cnc_sql_next(l);
	return cnc_sql_is_one_of(&t, plain_types);
}

static int
is_plain_char(struct cnc_sql *l, const struct cnc_sql_token *t,
	const struct cnc_sql_token *before)
{
	if (t->n == 2)
		return t->p[1] == ':' && is_plain_cast(l, before);
	return strchr("(),", *t->p) != NULL || is_sign(l, t, before);
}

/* Whether the rest of a SELECT is harmless; `before` is its first word. */
static int
is_plain_select(struct cnc_sql l, struct cnc_sql_token before)
{
	for (;;) {
		struct cnc_sql_token t = cnc_sql_next(&l);
		int is_plain = 1;

		switch (t.kind) {
		case CNC_SQL_END:
			return 1;
		case CNC_SQL_TEXT:
		case CNC_SQL_NUMBER:
			break;
		case CNC_SQL_CHAR:
			if (cnc_sql_is_char(&t, ';'))
				return 1;
			is_plain = is_plain_char(&l, &t, &before);
			break;
		case CNC_SQL_NAME:
			is_plain = cnc_sql_is(&before, "as");
			break;
		case CNC_SQL_WORD:
			is_plain = cnc_sql_is(&before, "as") ||
				   cnc_sql_is_one_of(&t, plain_words) ||
				   is_plain_call(&l, t);
			break;
		default:
			is_plain = 0;
			break;
		}
		if (!is_plain)
			return 0;
		before = t;
	}
}

/* ---- What is seen from a statement's first words ---- */

static int
is_end(struct cnc_sql l)
{
	struct cnc_sql_token t = cnc_sql_next(&l);

	return t.kind == CNC_SQL_END || cnc_sql_is_char(&t, ';');
}

static void
see_select(struct scan *s, struct cnc_sql l)
{
	if (!is_plain_select(l, s->t))
		s->found.pins |= FUNCTION;
}

/* The server reports the values of these settings. A dot after the name makes it the name of another setting. */
static int
is_reported(struct cnc_sql l)
{
	static const char *const names[] = { "application_name", "client_encoding",
		"names", NULL };
	struct cnc_sql_token t;

	(void)cnc_sql_take(&l, "session");
	if (!cnc_sql_take_one_of(&l, names))
		return 0;
	t = cnc_sql_next(&l);
	return !cnc_sql_is_char(&t, '.');
}

/* ---- Settings ---- */

int
cnd_pg_is_setting_name(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '.')
			return 0;
	}
	return len > 0;
}

/* Settings whose values cannot be asked for. */
static const char *const not_told[] = { "seed", "authorization", "session_authorization",
	NULL };

/*
 * The text sets a setting for the rest of the session. settle.c asks the server for the value. If the server does not
 * list the setting, it must have the name; without it, the client keeps its session.
 */
static void
note_setting(struct scan *s, const char *name, size_t len)
{
	struct cnc_sql_token word = { CNC_SQL_WORD, false, name, len };
	char *names = s->found.names;
	size_t used = 0;

	s->found.pins |= CENOTE_PIN_SETTINGS;
	while (names[used] != '\0')
		used += strlen(names + used) + 1;
	if (!cnd_pg_is_setting_name(name, len) || cnc_sql_is_one_of(&word, not_told) ||
		len >= CND_PG_NAMES_MAX - used) {
		s->found.flags |= CND_PG_SCAN_HIDES;
		return;
	}
	s->found.flags |= CND_PG_SCAN_SETS;
	if (memchr(name, '.', len) == NULL)
		return;
	memcpy(names + used, name, len);
	names[used + len] = names[used + len + 1] = '\0';
}

/* Join the parts of a name that begins with `t`: a, a.b, a."b".c. Returns its length; 0: it is too long. */
static size_t
join_name(struct cnc_sql *l, struct cnc_sql_token t, char name[CND_PG_NAMES_MAX])
{
	size_t len = 0, n;

	for (;;) {
		const char *part = cnc_sql_inside(&t, &n);

		if (n == 0 || n >= CND_PG_NAMES_MAX - 1 - len)
			return 0;
		memcpy(name + len, part, n);
		len += n;
		if (!cnc_sql_take_char(l, '.'))
			return len;
		name[len++] = '.';
		t = cnc_sql_next(l);
	}
}

/* SET after LOCAL and the options: `l` stands behind the word SET. */
static void
see_session_set(struct scan *s, struct cnc_sql l)
{
	static const char *const noise[] = { "session", NULL };
	char name[CND_PG_NAMES_MAX];
	struct cnc_sql ahead = l;

	/* "session" may also be the first part of a name */
	if (cnc_sql_take_one_of(&ahead, noise) && !cnc_sql_take_char(&ahead, '.'))
		(void)cnc_sql_take(&l, "session");
	ahead = l;
	note_setting(s, name, join_name(&ahead, cnc_sql_next(&ahead), name));
}

/* Settings that do not change the meaning of SQL, beside those whose name has a dot. */
static const char *const no_meaning[] = { "application_name", "statement_timeout",
	"lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout",
	"synchronous_commit", "work_mem", NULL };

static int
has_no_meaning(struct cnc_sql l)
{
	struct cnc_sql_token t = cnc_sql_next(&l);
	struct cnc_sql_token next = cnc_sql_next(&l);

	return cnc_sql_is_char(&next, '.') || cnc_sql_is_one_of(&t, no_meaning);
}

static void
see_set(struct scan *s, struct cnc_sql l)
{
	static const char *const of_transaction[] = { "transaction", "constraints",
		NULL };

	if (cnc_sql_take_one_of(&l, of_transaction))
		return;
	/* Up to the end of the transaction, SET LOCAL may change which functions names mean. */
	if (cnc_sql_take(&l, "local")) {
		s->found.pins |= FUNCTION;
	} else if (is_reported(l)) {
		s->found.pins |= FUNCTION;
		s->found.flags |= CND_PG_SCAN_ACTS;
	} else {
		see_session_set(s, l);
		(void)cnc_sql_take(&l, "session");
	}
	if (!has_no_meaning(l))
		s->found.flags |= CND_PG_SCAN_LOCAL;
}

/* COMMIT, ROLLBACK, END or ABORT, without a word that gives it another meaning. */
static void
see_end(struct scan *s, struct cnc_sql l)
{
	static const char *const noise[] = { "work", "transaction", NULL };

	(void)cnc_sql_take_one_of(&l, noise);
	if (is_end(l))
		s->found.flags |= CND_PG_SCAN_ENDS;
}

static void
see_commit(struct scan *s, struct cnc_sql l)
{
	see_end(s, l);
	s->found.flags |=
		cnc_sql_take(&l, "prepared") ? CND_PG_SCAN_NO_BLOCK : CND_PG_SCAN_TX;
}

static void
see_rollback(struct scan *s, struct cnc_sql l)
{
	static const char *const noise[] = { "work", "transaction", NULL };

	(void)cnc_sql_take_one_of(&l, noise);
	if (!cnc_sql_take(&l, "to"))
		see_commit(s, l);
}

static void
see_prepare(struct scan *s, struct cnc_sql l)
{
	struct cnc_sql_token t = { .kind = CNC_SQL_END };

	/* "transaction" may also be the name of a statement */
	if (cnc_sql_take(&l, "transaction"))
		t = cnc_sql_next(&l);
	if (t.kind == CNC_SQL_TEXT)
		s->found.flags |= CND_PG_SCAN_TX;
	else
		s->found.pins |= CENOTE_PIN_PREPARED;
}

/* Only a cursor WITH HOLD outlives its transaction. */
static void
see_declare(struct scan *s, struct cnc_sql l)
{
	for (;;) {
		struct cnc_sql_token t;

		if (cnc_sql_take(&l, "with") && cnc_sql_take(&l, "hold"))
			s->found.pins |= CENOTE_PIN_CURSOR;
		t = cnc_sql_next(&l);
		if (t.kind == CNC_SQL_END || cnc_sql_is(&t, "for"))
			break;
	}
}

/* Removing an object of `no_code` removes no code except defaults of columns and policies of tables. */
static void
see_removal(struct scan *s, struct cnc_sql l)
{
	static const char *const no_code[] = { "table", "index", "sequence", "role",
		"user", "group", "database", "tablespace", "system", "statistics",
		"publication", "subscription", NULL };

	if (!cnc_sql_take_one_of(&l, no_code))
		s->found.flags |= CND_PG_SCAN_REMOVES;
}

static void
see_create(struct scan *s, struct cnc_sql l)
{
	static const char *const range[] = { "global", "local", NULL };
	static const char *const temp[] = { "temp", "temporary", NULL };
	static const char *const routine[] = { "function", "procedure", NULL };
	static const char *const alone[] = { "database", "tablespace", NULL };

	if (cnc_sql_take(&l, "or") && cnc_sql_take(&l, "replace"))
		s->found.flags |= CND_PG_SCAN_REMOVES;
	(void)cnc_sql_take_one_of(&l, range);
	if (cnc_sql_take_one_of(&l, temp))
		s->found.pins |= CENOTE_PIN_TEMP;
	s->is_routine = cnc_sql_take_one_of(&l, routine);
	(void)cnc_sql_take(&l, "unique");
	if (cnc_sql_take_one_of(&l, alone) ||
		(cnc_sql_take(&l, "index") && cnc_sql_take(&l, "concurrently")))
		s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

static void
see_drop(struct scan *s, struct cnc_sql l)
{
	static const char *const alone[] = { "database", "tablespace", NULL };

	see_removal(s, l);
	if (cnc_sql_take_one_of(&l, alone) ||
		(cnc_sql_take(&l, "index") && cnc_sql_take(&l, "concurrently")))
		s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

static void
see_alter(struct scan *s, struct cnc_sql l)
{
	see_removal(s, l);
	if (cnc_sql_take(&l, "system"))
		s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

/* CLUSTER of all tables is refused in a transaction block. */
static void
see_cluster(struct scan *s, struct cnc_sql l)
{
	cnc_sql_skip_parens(&l);
	(void)cnc_sql_take(&l, "verbose");
	if (is_end(l))
		s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

static void
see_reindex(struct scan *s, struct cnc_sql l)
{
	static const char *const several[] = { "database", "system", "schema", NULL };

	cnc_sql_skip_parens(&l);
	if (!cnc_sql_take_one_of(&l, several)) {
		(void)cnc_sql_next(&l);
		if (!cnc_sql_take(&l, "concurrently"))
			return;
	}
	s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

static void
see_discard(struct scan *s, struct cnc_sql l)
{
	s->found.flags |= CND_PG_SCAN_RESETS | CND_PG_SCAN_DEALLOCATES;
	if (cnc_sql_take(&l, "all"))
		s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

static const struct verb {
	const char *word;
	uint32_t pins;
	uint32_t flags;
	void (*see)(struct scan *s, struct cnc_sql behind);
} verbs[] = {
	{ "abort", 0, CND_PG_SCAN_TX, see_end },
	{ "alter", FUNCTION, CND_PG_SCAN_DEFINES | CND_PG_SCAN_ACTS, see_alter },
	{ "analyze", FUNCTION, 0, NULL },
	{ "begin", 0, CND_PG_SCAN_TX, NULL },
	{ "call", FUNCTION, CND_PG_SCAN_ACTS, NULL },
	{ "checkpoint", 0, 0, NULL },
	{ "close", 0, 0, NULL },
	{ "cluster", FUNCTION, 0, see_cluster },
	{ "commit", 0, 0, see_commit },
	{ "copy", FUNCTION, CND_PG_SCAN_COPY, NULL },
	{ "create", FUNCTION, CND_PG_SCAN_DEFINES | CND_PG_SCAN_ACTS, see_create },
	{ "deallocate", 0, CND_PG_SCAN_DEALLOCATES, NULL },
	{ "declare", FUNCTION, 0, see_declare },
	{ "delete", FUNCTION, 0, NULL },
	{ "discard", 0, 0, see_discard },
	/* The block is a string, and may run other strings that it puts together. */
	{ "do", FUNCTION | CENOTE_PIN_SETTINGS,
		CND_PG_SCAN_DEFINES | CND_PG_SCAN_ACTS | CND_PG_SCAN_HIDES, NULL },
	{ "drop", FUNCTION, CND_PG_SCAN_DEFINES | CND_PG_SCAN_ACTS, see_drop },
	{ "end", 0, CND_PG_SCAN_TX, see_end },
	{ "execute", FUNCTION, CND_PG_SCAN_ACTS, NULL },
	{ "fetch", FUNCTION, 0, NULL },
	{ "insert", FUNCTION, 0, NULL },
	{ "listen", CENOTE_PIN_LISTEN, 0, NULL },
	/* The library stays loaded. */
	{ "load", CENOTE_PIN_SETTINGS, CND_PG_SCAN_STAYS | CND_PG_SCAN_HIDES, NULL },
	{ "lock", 0, 0, NULL },
	{ "merge", FUNCTION, 0, NULL },
	{ "move", FUNCTION, 0, NULL },
	{ "notify", 0, 0, NULL },
	{ "prepare", 0, 0, see_prepare },
	{ "reindex", FUNCTION, 0, see_reindex },
	{ "release", 0, 0, NULL },
	{ "reset", 0, CND_PG_SCAN_RESETS, NULL },
	{ "rollback", 0, 0, see_rollback },
	{ "savepoint", 0, 0, NULL },
	{ "select", 0, 0, see_select },
	{ "set", 0, 0, see_set },
	{ "show", 0, 0, NULL },
	{ "start", 0, CND_PG_SCAN_TX, NULL },
	{ "table", FUNCTION, 0, NULL },
	{ "truncate", FUNCTION, 0, NULL },
	{ "unlisten", 0, 0, NULL },
	{ "update", FUNCTION, 0, NULL },
	{ "vacuum", FUNCTION, CND_PG_SCAN_NO_BLOCK, NULL },
	{ "values", FUNCTION, 0, NULL },
	{ "with", FUNCTION, 0, NULL },
};

static void
see_verb(struct scan *s)
{
	size_t i;

	s->t = cnc_sql_verb(&s->lex, s->t, CNC_SQL_THROUGH_EXPLAIN);
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!cnc_sql_is(&s->t, verbs[i].word))
			continue;
		s->found.pins |= verbs[i].pins;
		s->found.flags |= verbs[i].flags;
		if (verbs[i].see)
			verbs[i].see(s, s->lex);
		return;
	}
	s->found.pins |= FUNCTION;
	/* A query may begin with a parenthesis; any other verb may be DDL. */
	if (!cnc_sql_is_char(&s->t, '('))
		s->found.flags |= CND_PG_SCAN_DEFINES | CND_PG_SCAN_ACTS;
}

/* ---- What is seen anywhere ---- */

/* Settings by which PL/pgSQL reads the text of a function. It reads each function once in a session. */
static const char *const readings[] = { "standard_conforming_strings", "backslash_quote",
	"plpgsql", NULL };

static int
begins_with(const char *text, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && (*text | 0x20) == *word && strncasecmp(text, word, n) == 0;
}

int
cnd_pg_is_reading(const char *text, size_t len)
{
	for (const char *const *word = readings; *word != NULL; word++) {
		if (begins_with(text, len, *word))
			return 1;
	}
	return 0;
}

/* The contents of a literal '…' or E'…' that has only characters of setting names; else NULL. */
static const char *
plain_text(const struct cnc_sql_token *t)
{
	size_t n;
	const char *text = cnc_sql_inside(t, &n);

	if (t->kind != CNC_SQL_TEXT || (*t->p != '\'' && (*t->p | 0x20) != 'e'))
		return NULL;
	return n == 0 || cnd_pg_is_setting_name(text, n) ? text : NULL;
}

/* Whether set_config('…', …) names a setting that does not change how PL/pgSQL reads functions. */
static int
is_harmless_config(struct cnc_sql l)
{
	struct cnc_sql_token t = cnc_sql_next(&l);
	const char *name;

	if (!cnc_sql_is_char(&t, '('))
		return 0;
	t = cnc_sql_next(&l);
	name = plain_text(&t);
	if (name == NULL || cnd_pg_is_reading(name, (size_t)(t.p + t.n - name)))
		return 0;
	t = cnc_sql_next(&l);
	return cnc_sql_is_char(&t, ',');
}

/* Whether set_config('…', …) names a setting that does not change the meaning of SQL. */
static int
is_meaningless_config(struct cnc_sql l)
{
	struct cnc_sql_token t = cnc_sql_next(&l), name;
	const char *text;
	size_t n;

	if (!cnc_sql_is_char(&t, '('))
		return 0;
	t = cnc_sql_next(&l);
	text = plain_text(&t);
	if (text == NULL)
		return 0;
	(void)cnc_sql_inside(&t, &n);
	name = (struct cnc_sql_token){ CNC_SQL_WORD, false, text, n };
	t = cnc_sql_next(&l);
	return cnc_sql_is_char(&t, ',') &&
	       (memchr(text, '.', n) != NULL || cnc_sql_is_one_of(&name, no_meaning));
}

/* set_config(…) for the rest of the session. `l` stands behind the word. */
static void
note_config(struct scan *s, struct cnc_sql l)
{
	struct cnc_sql_token t = cnc_sql_next(&l);
	const char *name = NULL;
	size_t n = 0;

	if (cnc_sql_is_char(&t, '(')) {
		t = cnc_sql_next(&l);
		name = plain_text(&t);
		(void)cnc_sql_inside(&t, &n);
	}
	note_setting(s, name, name != NULL && cnc_sql_take_char(&l, ',') ? n : 0);
}

#define CONFIG_TOKENS_MAX 64u

/* Whether it is set_config(…, true), whose effect ends with the transaction. */
static int
is_local_config(struct cnc_sql l)
{
	struct cnc_sql_token t = cnc_sql_next(&l);
	size_t depth = 0, i;
	int n_matched = 0; /* of `, true )` */

	if (!cnc_sql_is_char(&t, '('))
		return 0;
	/* Limit the tokens: calls may be nested without limit, and each call is scanned. */
	for (i = 0; i < CONFIG_TOKENS_MAX; i++) {
		t = cnc_sql_next(&l);
		if (depth == 0 && cnc_sql_is_char(&t, ')'))
			return n_matched == 2;
		depth += cnc_sql_is_char(&t, '(') != 0;
		depth -= cnc_sql_is_char(&t, ')') != 0;
		if (depth == 0 && cnc_sql_is_char(&t, ','))
			n_matched = 1;
		else if (n_matched == 1 && cnc_sql_is(&t, "true"))
			n_matched = 2;
		else
			n_matched = 0;
	}
	return 0;
}

static void
see_config(struct scan *s, struct cnc_sql l)
{
	if (!is_meaningless_config(l))
		s->found.flags |= CND_PG_SCAN_LOCAL;
	if (!is_local_config(l))
		note_config(s, l);
}

/* The schema of temporary objects, by either of its names. */
static int
is_temp_schema(const struct cnc_sql_token *t)
{
	size_t n;
	const char *p = cnc_sql_inside(t, &n);

	if (n < 7)
		return 0;
	return t->kind == CNC_SQL_NAME ? memcmp(p, "pg_temp", 7) == 0
				       : cnc_sql_compare(p, 7, "pg_temp") == 0;
}

#define WORD(word) #word,

/* Note a word whose effect DISCARD ALL does not undo. */
static void
see_lasting_word(struct scan *s)
{
	static const char *const staying[] = { CND_PG_STAYING_WORDS(WORD) NULL };

	size_t n;
	const char *text = cnc_sql_inside(&s->t, &n);

	if (is_one_of_names(&s->t, staying))
		s->found.flags |= CND_PG_SCAN_STAYS;
	/* an UPDATE of pg_settings calls set_config() */
	else if (cnd_pg_is_reading(text, n) || is_name(&s->t, "pg_settings") ||
		 (is_name(&s->t, "set_config") && !is_harmless_config(s->lex)))
		s->found.flags |= CND_PG_SCAN_DEFINES;
}

static void
see_word(struct scan *s)
{
	static const char *const locks[] = { "pg_advisory_lock",
		"pg_advisory_lock_shared", "pg_try_advisory_lock",
		"pg_try_advisory_lock_shared", NULL };
	static const char *const hiding[] = { CND_PG_HIDING_WORDS(WORD) NULL };
	static const char *const inserting[] = { "insert", "merge", NULL };
	static const char *const range[] = { "global", "local", NULL };
	static const char *const temp[] = { "temp", "temporary", NULL };
	struct cnc_sql ahead = s->lex;

	/* U&"…": its escapes may spell any of these words */
	if (s->t.kind == CNC_SQL_NAME && *s->t.p != '"') {
		s->found.pins |= FUNCTION | CENOTE_PIN_SETTINGS;
		s->found.flags |=
			CND_PG_SCAN_DEFINES | CND_PG_SCAN_STAYS | CND_PG_SCAN_HIDES;
	} else if (is_temp_schema(&s->t))
		s->found.pins |= CENOTE_PIN_TEMP;
	else if (is_one_of_names(&s->t, locks))
		s->found.pins |= CENOTE_PIN_LOCK;
	else if (is_one_of_names(&s->t, hiding)) {
		s->found.pins |= CENOTE_PIN_SETTINGS;
		s->found.flags |= CND_PG_SCAN_HIDES;
	} else if (is_name(&s->t, "set_config"))
		see_config(s, ahead);
	else if (is_name(&s->t, "into") && !cnc_sql_is_one_of(&s->before, inserting)) {
		s->found.flags |= CND_PG_SCAN_DEFINES;
		(void)cnc_sql_take_one_of(&ahead, range);
		if (cnc_sql_take_one_of(&ahead, temp))
			s->found.pins |= CENOTE_PIN_TEMP;
	}
	if (is_name(&s->t, "drop") && cnc_sql_is(&s->before, "commit"))
		s->found.flags |= CND_PG_SCAN_ON_COMMIT_DROP;
	/* pg_trgm's function sets a setting */
	if (is_name(&s->t, "set_limit"))
		s->found.flags |= CND_PG_SCAN_ACTS;
	see_lasting_word(s);
}

/* The body of a routine may consist of statements, each with a semicolon. */
static void
see_block(struct scan *s)
{
	struct cnc_sql ahead = s->lex;

	if (!s->is_routine || s->parens > 0 || s->t.kind != CNC_SQL_WORD)
		return;
	if (s->blocks == 0)
		s->blocks = cnc_sql_is(&s->t, "begin") && cnc_sql_take(&ahead, "atomic");
	else if (cnc_sql_is(&s->t, "case"))
		s->blocks++;
	else if (cnc_sql_is(&s->t, "end"))
		s->blocks--;
}

/* Count a placeholder $N. In the body of a routine, $N is the routine's own parameter. */
static void
see_param(struct scan *s)
{
	uint32_t n = 0;

	for (size_t i = 1; i < s->t.n && n <= UINT16_MAX; i++)
		n = n * 10 + (uint32_t)(s->t.p[i] - '0');
	if (s->blocks == 0 && n > s->found.n_params)
		s->found.n_params = n;
}

/* A word that every client could have written. */
static int
is_anybodys(const struct cnc_sql_token *t)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (cnc_sql_is(t, verbs[i].word))
			return 1;
	}
	return cnc_sql_is_one_of(t, plain_words) ||
	       cnc_sql_is_one_of(t, plain_functions) ||
	       cnc_sql_is_one_of(t, plain_types) || cnc_sql_is(t, "pg_catalog");
}

/* Until the next statement, the server shows the text of the last one to all sessions of the same user. */
static void
see_what_is_told(struct scan *s)
{
	/* `tells` counts only if the session gets no reset. */
	if (s->found.pins != 0 || s->found.tells)
		return;
	if (s->t.kind == CNC_SQL_WORD)
		s->found.tells = !is_anybodys(&s->t);
	else if (s->t.kind == CNC_SQL_NUMBER)
		s->found.tells = s->t.n > 4;
	else
		s->found.tells = s->t.kind != CNC_SQL_CHAR || s->t.n > 1 ||
				 strchr("()[],;:.", *s->t.p) == NULL;
}

static void
scan_statement(struct scan *s)
{
	s->parens = s->blocks = 0;
	s->is_routine = 0;
	s->before = s->t;
	see_verb(s);
	while (s->t.kind != CNC_SQL_END) {
		see_what_is_told(s);
		if (s->t.kind == CNC_SQL_WORD || s->t.kind == CNC_SQL_NAME) {
			see_block(s);
			see_word(s);
		} else if (s->t.kind == CNC_SQL_PLACEHOLDER) {
			see_param(s);
		} else if (s->t.kind == CNC_SQL_BAD) {
			s->found.pins |= FUNCTION;
			s->found.flags |= CND_PG_SCAN_ACTS;
		} else if (cnc_sql_is_char(&s->t, '(')) {
			s->parens++;
		} else if (cnc_sql_is_char(&s->t, ')')) {
			s->parens -= s->parens > 0;
		} else if (cnc_sql_is_char(&s->t, ';') && s->parens == 0 &&
			   s->blocks == 0) {
			return;
		}
		s->before = s->t;
		s->t = cnc_sql_next(&s->lex);
	}
}

uint64_t
cnd_pg_hash(const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
	return hash | 1;
}

/* Whether the text is one PREPARE that has nothing else to note. The question for the carry counts two bytes more. */
static int
is_one_prepare(const struct cnd_pg_scan *found, size_t len)
{
	return found->pins == CENOTE_PIN_PREPARED && found->flags == 0 &&
	       len + 2 <= CND_PG_CARRY_MAX;
}

void
cnd_pg_scan(const char *sql, size_t len, const struct cnd_pg_facts *facts,
	struct cnd_pg_scan *ret_scan)
{
	uint32_t rules = facts->has_standard_strings ? CNC_SQL_POSTGRESQL
						     : CNC_SQL_POSTGRESQL_BACKSLASH;
	struct scan s = { .lex = cnc_sql_begin(sql, len, rules | CNC_SQL_STRICT) };
	size_t n = 0;

	for (s.t = cnc_sql_next(&s.lex); s.t.kind != CNC_SQL_END;
		s.t = cnc_sql_next(&s.lex)) {
		if (cnc_sql_is_char(&s.t, ';'))
			continue;
		n++;
		scan_statement(&s);
	}
	s.found.tells |= (s.lex.seen & CNC_SQL_SEEN_COMMENT) != 0;
	if (n == 0)
		s.found.flags |= CND_PG_SCAN_EMPTY;
	if (n > 1)
		s.found.flags |= CND_PG_SCAN_SEVERAL;
	if (is_one_prepare(&s.found, len))
		s.found.prepares = cnd_pg_hash(sql, len);
	*ret_scan = s.found;
}
