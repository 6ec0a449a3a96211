/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "lex.h"
#include "pg.h"

/*
 * What a statement may leave in its session, from its text alone. Two things are decided by it: whether
 * the session may be given up, and, more important, whether it has to be made as new for the next
 * client. So what counts as harmless must be proved.
 *
 * Nearly everything can call a function that somebody wrote: an INSERT by triggers and defaults, a
 * SELECT by views, operators, casts and policies, DDL by event triggers. So every statement counts as
 * one that may leave something (CENOTE_PIN_FUNCTION: the server can be asked what it was), but for:
 *
 *   - statements that call nothing: SHOW, RESET, LOCK, …, and those that end and begin transactions;
 *   - SELECT of literals, and of the key words and functions below, and of nothing else: no
 *     table, no operator, and nothing that is converted to another type by more than its input
 *     function. None of them is looked for in search_path, which anybody may change, and the server
 *     by a reload without a word: a key word is the grammar's, a function's schema is named.
 *
 * What a statement leaves for certain is said besides.
 */

#define FUNCTION CENOTE_PIN_FUNCTION

/* The request that is being read. */
struct scan {
	struct cnd_pg_lex lex; /* behind `t` */
	struct cnd_pg_token t; /* the token that is being looked at */
	struct cnd_pg_scan found;
	/* Of the statement: */
	uint32_t parens; /* open ones */
	uint32_t blocks; /* BEGIN ATOMIC … END, and CASE … END in it, that are open */
	int is_routine; /* CREATE FUNCTION or PROCEDURE */
	struct cnd_pg_token before; /* the token in front of `t` */
};

static int
is_one_of(const struct cnd_pg_token *t, const char *const *words)
{
	for (; *words; words++) {
		if (cnd_pg_token_is(t, *words))
			return 1;
	}
	return 0;
}

/* ---- What is proved ---- */

/* May stand anywhere in such a SELECT; none can be a function's name. */
static const char *const plain_words[] = { "select", "all", "as", "null", "true", "false",
	"current_date", "current_time", "current_timestamp", "localtime",
	"localtimestamp", "current_user", "current_role", "session_user", "user",
	"current_catalog", NULL };

/* Called without arguments, behind pg_catalog. */
static const char *const plain_functions[] = { "now", "version", "pg_backend_pid",
	"current_database", "current_schema", "clock_timestamp", "statement_timestamp",
	"transaction_timestamp", "timeofday", "pg_postmaster_start_time",
	"pg_conf_load_time", "pg_is_in_recovery", "inet_server_addr", "inet_server_port",
	"inet_client_addr", "inet_client_port", "pg_my_temp_schema", NULL };

/* Behind ::, and before a literal: key words, which mean pg_catalog's types wherever they stand. */
static const char *const plain_types[] = { "boolean", "int", "integer", "smallint",
	"bigint", "real", "float", "numeric", "decimal", "varchar", "char", "time",
	"timestamp", "interval", NULL };

/* Before a literal, behind pg_catalog. */
static const char *const named_types[] = { "bool", "int2", "int4", "int8", "float4",
	"float8", "text", "bytea", "date", "timetz", "timestamptz", "uuid", "json",
	"jsonb", "name", "oid", NULL };

/* ( and ) behind a function's name, perhaps with a literal between them. */
static int
has_arguments(struct cnd_pg_lex *l, int has_literal)
{
	struct cnd_pg_token t = cnd_pg_lex_next(l);

	if (!cnd_pg_token_is_self(&t, '('))
		return 0;
	t = cnd_pg_lex_next(l);
	if (has_literal) {
		if (t.kind != CND_PG_TOKEN_STRING)
			return 0;
		t = cnd_pg_lex_next(l);
	}
	return cnd_pg_token_is_self(&t, ')');
}

/* A word that is not in plain_words: a call, or a type with its literal. */
static int
is_plain_call(struct cnd_pg_lex *l, struct cnd_pg_token t)
{
	const char *const *types = plain_types;

	if (cnd_pg_token_is(&t, "pg_catalog")) {
		t = cnd_pg_lex_next(l);
		if (!cnd_pg_token_is_self(&t, '.'))
			return 0;
		t = cnd_pg_lex_next(l);
		if (is_one_of(&t, plain_functions))
			return has_arguments(l, 0);
		if (cnd_pg_token_is(&t, "current_setting"))
			return has_arguments(l, 1);
		types = named_types;
	}
	if (!is_one_of(&t, types))
		return 0;
	t = cnd_pg_lex_next(l);
	return t.kind == CND_PG_TOKEN_STRING;
}

/* A sign, with the number it belongs to. */
static int
is_sign(struct cnd_pg_lex *l, const struct cnd_pg_token *t,
	const struct cnd_pg_token *before)
{
	struct cnd_pg_token next;

	if (t->len != 1 || (*t->text != '-' && *t->text != '+'))
		return 0;
	/* Behind a value it is an operator, and those may be anybody's. */
	if (!cnd_pg_token_is_self(before, '(') && !cnd_pg_token_is_self(before, ',') &&
		!cnd_pg_token_is(before, "select"))
		return 0;
	next = cnd_pg_lex_next(l);
	return next.kind == CND_PG_TOKEN_NUMBER;
}

/* Only of a literal in quotes: between two types there may be a function. */
static int
is_plain_cast(struct cnd_pg_lex *l, const struct cnd_pg_token *before)
{
	struct cnd_pg_token t;

	if (before->kind != CND_PG_TOKEN_STRING)
		return 0;
	t = cnd_pg_lex_next(l);
	return t.kind == CND_PG_TOKEN_WORD && is_one_of(&t, plain_types);
}

/* Whether the rest of a SELECT is harmless; `before` is its first word. */
static int
is_plain_select(struct cnd_pg_lex l, struct cnd_pg_token before)
{
	for (;;) {
		struct cnd_pg_token t = cnd_pg_lex_next(&l);
		int is_plain = 1;

		switch (t.kind) {
		case CND_PG_TOKEN_END:
			return 1;
		case CND_PG_TOKEN_STRING:
		case CND_PG_TOKEN_NUMBER:
			break;
		case CND_PG_TOKEN_SELF:
			if (*t.text == ';')
				return 1;
			is_plain = strchr("(),", *t.text) != NULL;
			break;
		case CND_PG_TOKEN_CAST:
			is_plain = is_plain_cast(&l, &before);
			break;
		case CND_PG_TOKEN_OPERATOR:
			is_plain = is_sign(&l, &t, &before);
			break;
		case CND_PG_TOKEN_NAME:
			is_plain = cnd_pg_token_is(&before, "as");
			break;
		case CND_PG_TOKEN_WORD:
			is_plain = cnd_pg_token_is(&before, "as") ||
				   is_one_of(&t, plain_words) || is_plain_call(&l, t);
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

/* The lexer is a copy: these look ahead. */
static int
skip_word(struct cnd_pg_lex *l, const char *word)
{
	struct cnd_pg_lex ahead = *l;
	struct cnd_pg_token t = cnd_pg_lex_next(&ahead);

	if (t.kind != CND_PG_TOKEN_WORD || !cnd_pg_token_is(&t, word))
		return 0;
	*l = ahead;
	return 1;
}

static int
skip_any(struct cnd_pg_lex *l, const char *const *words)
{
	for (; *words; words++) {
		if (skip_word(l, *words))
			return 1;
	}
	return 0;
}

/* ( … ), if it follows. */
static void
skip_parens(struct cnd_pg_lex *l)
{
	struct cnd_pg_lex ahead = *l;
	struct cnd_pg_token t = cnd_pg_lex_next(&ahead);
	size_t depth = 0;

	if (!cnd_pg_token_is_self(&t, '('))
		return;
	for (;;) {
		depth += cnd_pg_token_is_self(&t, '(') != 0;
		depth -= cnd_pg_token_is_self(&t, ')') != 0;
		if (depth == 0 || t.kind == CND_PG_TOKEN_END)
			break;
		t = cnd_pg_lex_next(&ahead);
	}
	*l = ahead;
}

static int
is_end(struct cnd_pg_lex l)
{
	struct cnd_pg_token t = cnd_pg_lex_next(&l);

	return t.kind == CND_PG_TOKEN_END || cnd_pg_token_is_self(&t, ';');
}

static void
see_select(struct scan *s, struct cnd_pg_lex l)
{
	if (!is_plain_select(l, s->t))
		s->found.pins |= FUNCTION;
}

/* The server reports the values of these settings. A dot after the name makes it the name of another setting. */
static int
is_reported(struct cnd_pg_lex l)
{
	static const char *const names[] = { "application_name", "client_encoding",
		"names", NULL };
	struct cnd_pg_token t;

	(void)skip_word(&l, "session");
	if (!skip_any(&l, names))
		return 0;
	t = cnd_pg_lex_next(&l);
	return !cnd_pg_token_is_self(&t, '.');
}

static void
see_set(struct scan *s, struct cnd_pg_lex l)
{
	static const char *const of_transaction[] = { "transaction", "constraints",
		NULL };

	if (skip_any(&l, of_transaction))
		return;
	/* Up to the end of the transaction, other functions may be meant by the same names. */
	s->found.pins |=
		skip_word(&l, "local") || is_reported(l) ? FUNCTION : CENOTE_PIN_SETTINGS;
}

static void
see_commit(struct scan *s, struct cnd_pg_lex l)
{
	s->found.flags |=
		skip_word(&l, "prepared") ? CND_PG_SCAN_NO_BLOCK : CND_PG_SCAN_TX;
}

static void
see_rollback(struct scan *s, struct cnd_pg_lex l)
{
	static const char *const noise[] = { "work", "transaction", NULL };

	(void)skip_any(&l, noise);
	if (!skip_word(&l, "to"))
		see_commit(s, l);
}

static void
see_prepare(struct scan *s, struct cnd_pg_lex l)
{
	if (skip_word(&l, "transaction"))
		s->found.flags |= CND_PG_SCAN_TX;
	else
		s->found.pins |= CENOTE_PIN_PREPARED;
}

/* Only a cursor WITH HOLD outlives its transaction. */
static void
see_declare(struct scan *s, struct cnd_pg_lex l)
{
	for (;;) {
		struct cnd_pg_token t;

		if (skip_word(&l, "with") && skip_word(&l, "hold"))
			s->found.pins |= CENOTE_PIN_CURSOR;
		t = cnd_pg_lex_next(&l);
		if (t.kind == CND_PG_TOKEN_END || cnd_pg_token_is(&t, "for"))
			break;
	}
}

/* Removing one of `no_code` removes no code but defaults of columns and policies of tables. */
static void
see_removal(struct scan *s, struct cnd_pg_lex l)
{
	static const char *const no_code[] = { "table", "index", "sequence", "role",
		"user", "group", "database", "tablespace", "system", "statistics",
		"publication", "subscription", NULL };

	if (!skip_any(&l, no_code))
		s->found.flags |= CND_PG_SCAN_REMOVES;
}

static void
see_create(struct scan *s, struct cnd_pg_lex l)
{
	static const char *const range[] = { "global", "local", NULL };
	static const char *const temp[] = { "temp", "temporary", NULL };
	static const char *const routine[] = { "function", "procedure", NULL };
	static const char *const alone[] = { "database", "tablespace", NULL };

	if (skip_word(&l, "or") && skip_word(&l, "replace"))
		s->found.flags |= CND_PG_SCAN_REMOVES;
	(void)skip_any(&l, range);
	if (skip_any(&l, temp))
		s->found.pins |= CENOTE_PIN_TEMP;
	s->is_routine = skip_any(&l, routine);
	(void)skip_word(&l, "unique");
	if (skip_any(&l, alone) ||
		(skip_word(&l, "index") && skip_word(&l, "concurrently")))
		s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

static void
see_drop(struct scan *s, struct cnd_pg_lex l)
{
	static const char *const alone[] = { "database", "tablespace", NULL };

	see_removal(s, l);
	if (skip_any(&l, alone) ||
		(skip_word(&l, "index") && skip_word(&l, "concurrently")))
		s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

static void
see_alter(struct scan *s, struct cnd_pg_lex l)
{
	see_removal(s, l);
	if (skip_word(&l, "system"))
		s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

/* Of all tables. */
static void
see_cluster(struct scan *s, struct cnd_pg_lex l)
{
	skip_parens(&l);
	(void)skip_word(&l, "verbose");
	if (is_end(l))
		s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

static void
see_reindex(struct scan *s, struct cnd_pg_lex l)
{
	static const char *const several[] = { "database", "system", "schema", NULL };

	skip_parens(&l);
	if (!skip_any(&l, several)) {
		(void)cnd_pg_lex_next(&l);
		if (!skip_word(&l, "concurrently"))
			return;
	}
	s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

static void
see_discard(struct scan *s, struct cnd_pg_lex l)
{
	if (skip_word(&l, "all"))
		s->found.flags |= CND_PG_SCAN_NO_BLOCK;
}

static const struct verb {
	const char *word;
	uint32_t pins;
	uint32_t flags;
	void (*see)(struct scan *s, struct cnd_pg_lex behind);
} verbs[] = {
	{ "abort", 0, CND_PG_SCAN_TX, NULL },
	{ "alter", FUNCTION, CND_PG_SCAN_DEFINES, see_alter },
	{ "analyze", FUNCTION, 0, NULL },
	{ "begin", 0, CND_PG_SCAN_TX, NULL },
	{ "call", FUNCTION, 0, NULL },
	{ "checkpoint", 0, 0, NULL },
	{ "close", 0, 0, NULL },
	{ "cluster", FUNCTION, 0, see_cluster },
	{ "commit", 0, 0, see_commit },
	{ "copy", FUNCTION, CND_PG_SCAN_COPY, NULL },
	{ "create", FUNCTION, CND_PG_SCAN_DEFINES, see_create },
	{ "deallocate", 0, 0, NULL },
	{ "declare", FUNCTION, 0, see_declare },
	{ "delete", FUNCTION, 0, NULL },
	{ "discard", 0, 0, see_discard },
	/* The block is a string, and may run other strings that it puts together. */
	{ "do", FUNCTION | CENOTE_PIN_SETTINGS, CND_PG_SCAN_DEFINES, NULL },
	{ "drop", FUNCTION, CND_PG_SCAN_DEFINES, see_drop },
	{ "end", 0, CND_PG_SCAN_TX, NULL },
	{ "execute", FUNCTION, 0, NULL },
	{ "fetch", FUNCTION, 0, NULL },
	{ "insert", FUNCTION, 0, NULL },
	{ "listen", CENOTE_PIN_LISTEN, 0, NULL },
	/* The library stays loaded. */
	{ "load", CENOTE_PIN_SETTINGS, CND_PG_SCAN_STAYS, NULL },
	{ "lock", 0, 0, NULL },
	{ "merge", FUNCTION, 0, NULL },
	{ "move", FUNCTION, 0, NULL },
	{ "notify", 0, 0, NULL },
	{ "prepare", 0, 0, see_prepare },
	{ "reindex", FUNCTION, 0, see_reindex },
	{ "release", 0, 0, NULL },
	{ "reset", 0, 0, NULL },
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
	static const char *const options[] = { "analyze", "analyse", "verbose", NULL };
	size_t i;

	while (s->t.kind == CND_PG_TOKEN_WORD && cnd_pg_token_is(&s->t, "explain")) {
		skip_parens(&s->lex);
		while (skip_any(&s->lex, options))
			continue;
		s->t = cnd_pg_lex_next(&s->lex);
	}
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (s->t.kind != CND_PG_TOKEN_WORD ||
			!cnd_pg_token_is(&s->t, verbs[i].word))
			continue;
		s->found.pins |= verbs[i].pins;
		s->found.flags |= verbs[i].flags;
		if (verbs[i].see)
			verbs[i].see(s, s->lex);
		return;
	}
	s->found.pins |= FUNCTION;
	/* A query may begin with a parenthesis; any other verb may be DDL. */
	if (!cnd_pg_token_is_self(&s->t, '('))
		s->found.flags |= CND_PG_SCAN_DEFINES;
}

/* ---- What is seen anywhere ---- */

/* Settings by which PL/pgSQL reads the text of a function, once for the session's life. */
static const char *const readings[] = { "standard_conforming_strings", "backslash_quote",
	"plpgsql", NULL };

static int
begins_with(const char *text, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && (*text | 0x20) == *word && strncasecmp(text, word, n) == 0;
}

static int
is_reading(const char *text, size_t len)
{
	for (const char *const *word = readings; *word != NULL; word++) {
		if (begins_with(text, len, *word))
			return 1;
	}
	return 0;
}

/* The name in a literal '…' or E'…' that has only the letters of setting names; else NULL. */
static const char *
plain_text(const struct cnd_pg_token *t)
{
	const char *text = t->text;
	const char *end = t->text + t->len;

	if (t->len > 0 && (*text | 0x20) == 'e')
		text++;
	if (t->kind != CND_PG_TOKEN_STRING || end - text < 2 || *text != '\'')
		return NULL;
	for (const char *p = text + 1; p < end - 1; p++) {
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '.')
			return NULL;
	}
	return text + 1;
}

/* Whether set_config('…', names a setting that PL/pgSQL does not read functions by. */
static int
is_harmless_config(struct cnd_pg_lex l)
{
	struct cnd_pg_token t = cnd_pg_lex_next(&l);
	const char *name;

	if (!cnd_pg_token_is_self(&t, '('))
		return 0;
	t = cnd_pg_lex_next(&l);
	name = plain_text(&t);
	if (name == NULL || is_reading(name, (size_t)(t.text + t.len - name)))
		return 0;
	t = cnd_pg_lex_next(&l);
	return cnd_pg_token_is_self(&t, ',');
}

#define CONFIG_TOKENS_MAX 64u

/* set_config(…, true) is undone with the transaction. */
static int
is_local_config(struct cnd_pg_lex l)
{
	struct cnd_pg_token t = cnd_pg_lex_next(&l);
	size_t depth = 0, i;
	int n_matched = 0; /* of `, true )` */

	if (!cnd_pg_token_is_self(&t, '('))
		return 0;
	/* A bound, since they may be nested without one. */
	for (i = 0; i < CONFIG_TOKENS_MAX; i++) {
		t = cnd_pg_lex_next(&l);
		if (depth == 0 && cnd_pg_token_is_self(&t, ')'))
			return n_matched == 2;
		depth += cnd_pg_token_is_self(&t, '(') != 0;
		depth -= cnd_pg_token_is_self(&t, ')') != 0;
		if (depth == 0 && cnd_pg_token_is_self(&t, ','))
			n_matched = 1;
		else if (n_matched == 1 && t.kind == CND_PG_TOKEN_WORD &&
			 cnd_pg_token_is(&t, "true"))
			n_matched = 2;
		else
			n_matched = 0;
	}
	return 0;
}

/* The schema of temporary objects, by either of its names. */
static int
is_temp_schema(const struct cnd_pg_token *t)
{
	struct cnd_pg_token front = *t;

	if (front.len > 7)
		front.len = 7;
	return cnd_pg_token_is(&front, "pg_temp");
}

#define WORD(word) #word,

/* Note words of statements whose effect DISCARD ALL does not undo. */
static void
see_lasting_word(struct scan *s)
{
	static const char *const staying[] = { CND_PG_STAYING_WORDS(WORD) NULL };

	if (is_one_of(&s->t, staying))
		s->found.flags |= CND_PG_SCAN_STAYS;
	/* an UPDATE of pg_settings calls set_config() */
	else if (is_reading(s->t.text, s->t.len) ||
		 cnd_pg_token_is(&s->t, "pg_settings") ||
		 (cnd_pg_token_is(&s->t, "set_config") && !is_harmless_config(s->lex)))
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
	struct cnd_pg_lex ahead = s->lex;

	/* the escapes may spell any of these words */
	if (s->t.has_escapes) {
		s->found.pins |= FUNCTION | CENOTE_PIN_SETTINGS;
		s->found.flags |= CND_PG_SCAN_DEFINES | CND_PG_SCAN_STAYS;
	} else if (is_temp_schema(&s->t))
		s->found.pins |= CENOTE_PIN_TEMP;
	else if (is_one_of(&s->t, locks))
		s->found.pins |= CENOTE_PIN_LOCK;
	else if (is_one_of(&s->t, hiding) ||
		 (cnd_pg_token_is(&s->t, "set_config") && !is_local_config(ahead)))
		s->found.pins |= CENOTE_PIN_SETTINGS;
	else if (cnd_pg_token_is(&s->t, "into") && !is_one_of(&s->before, inserting)) {
		s->found.flags |= CND_PG_SCAN_DEFINES;
		(void)skip_any(&ahead, range);
		if (skip_any(&ahead, temp))
			s->found.pins |= CENOTE_PIN_TEMP;
	}
	see_lasting_word(s);
}

/* The body of a routine may be statements of its own, each with a semicolon. */
static void
see_block(struct scan *s)
{
	struct cnd_pg_lex ahead = s->lex;

	if (!s->is_routine || s->parens > 0 || s->t.kind != CND_PG_TOKEN_WORD)
		return;
	if (s->blocks == 0)
		s->blocks =
			cnd_pg_token_is(&s->t, "begin") && skip_word(&ahead, "atomic");
	else if (cnd_pg_token_is(&s->t, "case"))
		s->blocks++;
	else if (cnd_pg_token_is(&s->t, "end"))
		s->blocks--;
}

/* In the body of a routine they are the routine's. */
static void
see_param(struct scan *s)
{
	uint32_t n = 0;

	for (size_t i = 1; i < s->t.len && n <= UINT16_MAX; i++)
		n = n * 10 + (uint32_t)(s->t.text[i] - '0');
	if (s->blocks == 0 && n > s->found.n_params)
		s->found.n_params = n;
}

/* A word that every client could have written. */
static int
is_anybodys(const struct cnd_pg_token *t)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (cnd_pg_token_is(t, verbs[i].word))
			return 1;
	}
	return is_one_of(t, plain_words) || is_one_of(t, plain_functions) ||
	       is_one_of(t, plain_types) || cnd_pg_token_is(t, "pg_catalog");
}

/* Until the next statement, the server shows the text of the last one to all who have the same user. */
static void
see_what_is_told(struct scan *s)
{
	/* it counts only where the session goes without a reset */
	if (s->found.pins != 0 || s->found.tells)
		return;
	if (s->t.kind == CND_PG_TOKEN_WORD)
		s->found.tells = !is_anybodys(&s->t);
	else if (s->t.kind == CND_PG_TOKEN_NUMBER)
		s->found.tells = s->t.len > 4;
	else
		s->found.tells = s->t.kind != CND_PG_TOKEN_SELF;
}

static void
scan_statement(struct scan *s)
{
	s->parens = s->blocks = 0;
	s->is_routine = 0;
	s->before = s->t;
	see_verb(s);
	while (s->t.kind != CND_PG_TOKEN_END) {
		see_what_is_told(s);
		if (s->t.kind == CND_PG_TOKEN_WORD || s->t.kind == CND_PG_TOKEN_NAME) {
			see_block(s);
			see_word(s);
		} else if (s->t.kind == CND_PG_TOKEN_PARAM) {
			see_param(s);
		} else if (s->t.kind == CND_PG_TOKEN_BAD) {
			s->found.pins |= FUNCTION;
		} else if (cnd_pg_token_is_self(&s->t, '(')) {
			s->parens++;
		} else if (cnd_pg_token_is_self(&s->t, ')')) {
			s->parens -= s->parens > 0;
		} else if (cnd_pg_token_is_self(&s->t, ';') && s->parens == 0 &&
			   s->blocks == 0) {
			return;
		}
		s->before = s->t;
		s->t = cnd_pg_lex_next(&s->lex);
	}
}

void
cnd_pg_scan(const char *sql, size_t len, const struct cnd_pg_facts *facts,
	struct cnd_pg_scan *ret_scan)
{
	struct scan s = { .lex = { sql, sql + len, facts->has_standard_strings } };
	size_t n = 0;

	for (s.t = cnd_pg_lex_next(&s.lex); s.t.kind != CND_PG_TOKEN_END;
		s.t = cnd_pg_lex_next(&s.lex)) {
		if (cnd_pg_token_is_self(&s.t, ';'))
			continue;
		n++;
		scan_statement(&s);
	}
	s.found.tells |= s.lex.has_comments != 0;
	if (n == 0)
		s.found.flags |= CND_PG_SCAN_EMPTY;
	if (n > 1)
		s.found.flags |= CND_PG_SCAN_SEVERAL;
	*ret_scan = s.found;
}
