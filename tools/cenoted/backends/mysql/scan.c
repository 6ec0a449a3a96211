/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the text of a request may leave in its session. The text is read by the server's rules, but not parsed. The
 * first word identifies each statement. In the rest, the scanner looks for calls of functions, assignments to user
 * variables, and other things that act on the session. It assumes the worst about everything that it does not
 * know.
 *
 * The text does not show what its tables do: triggers, views and defaults may call stored functions. The server
 * reports most of that (session tracking).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/digest.h"
#include "core/sql.h"
#include "my.h"

struct reader {
	struct cnc_sql sql;
	/* The text ends in an open quote or comment, or has a zero byte. */
	bool is_open;
};

static uint32_t
rules_of(uint32_t lexis)
{
	/* Whether the server executes a comment depends on its version, so nothing of such a comment is read. */
	uint32_t rules = CNC_SQL_MYSQL & ~(uint32_t)CNC_SQL_EXECUTED;

	if (lexis & CND_MY_LEXIS_ANSI_QUOTES)
		rules &= ~(uint32_t)CNC_SQL_DOUBLE_QUOTED_TEXT;
	if (lexis & CND_MY_LEXIS_NO_BACKSLASH)
		rules &= ~(uint32_t)CNC_SQL_BACKSLASH;
	return rules;
}

static struct reader
begin_reading(const char *sql, size_t len, uint32_t lexis)
{
	return (struct reader){ cnc_sql_begin(sql, len, rules_of(lexis)), false };
}

/* Whether the text up to here cannot be read with certainty. */
static bool
is_dark(const struct reader *x)
{
	return x->is_open || (x->sql.seen & CNC_SQL_SEEN_EXECUTED) != 0;
}

static struct cnc_sql_token
next_token(struct reader *x)
{
	struct cnc_sql_token t = cnc_sql_next(&x->sql);

	x->is_open |= t.kind == CNC_SQL_BAD || cnc_sql_is_char(&t, '\0');
	return t;
}

/* @@a, which an expression can only read */
static bool
is_system(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_VARIABLE && t->n >= 2 && t->p[1] == '@';
}

static bool
is_variable(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_VARIABLE && !is_system(t);
}

/* ---- statements ---- */

enum verb_flag {
	VERB_WORST = 1,
	VERB_INSERT = 2, /* a table's name may stand before a parenthesis */
	VERB_DDL = 4, /* only the part after SELECT or VALUES is evaluated */
	VERB_VARIABLES = 8, /* user variables are set without := */
	VERB_CREATE = 16,
	VERB_SET = 32,
	VERB_BEGIN = 64,
	VERB_START = 128,
	VERB_HANDLER = 256,
	VERB_FLUSH = 512,
	VERB_DROP = 1024,
	VERB_USERS = 2048, /* acts on users and roles, among other things */
	VERB_SHOW = 4096,
	VERB_GET = 8192,
	VERB_LOCK = 16384,
	VERB_UNLOCK = 32768
};

struct verb {
	const char *word;
	uint32_t pins;
	uint32_t notes;
	uint32_t flags;
};

static const struct verb verbs[] = {
	{ "select", 0, 0, 0 },
	{ "insert", 0, CND_MY_NOTE_ID | CND_MY_NOTE_HIDES, VERB_INSERT },
	{ "update", 0, CND_MY_NOTE_HIDES, 0 },
	{ "delete", 0, CND_MY_NOTE_HIDES, 0 },
	{ "replace", 0, CND_MY_NOTE_ID | CND_MY_NOTE_HIDES, VERB_INSERT },
	{ "begin", 0, 0, VERB_BEGIN },
	{ "start", 0, 0, VERB_START },
	{ "commit", 0, 0, 0 },
	{ "rollback", 0, 0, 0 },
	{ "set", 0, 0, VERB_SET },
	{ "show", 0, 0, VERB_SHOW },
	{ "with", 0, 0, 0 },
	{ "call", 0, 0, VERB_WORST },
	{ "use", 0, CND_MY_NOTE_DATABASE | CND_MY_NOTE_SETS | CND_MY_NOTE_MEANING, 0 },
	{ "do", 0, 0, 0 },
	{ "values", 0, 0, 0 },
	{ "table", 0, CND_MY_NOTE_HIDES, 0 },
	{ "create", 0, 0, VERB_DDL | VERB_CREATE },
	{ "alter", 0, 0, VERB_DDL | VERB_USERS },
	{ "drop", 0, 0, VERB_DDL | VERB_USERS | VERB_DROP },
	{ "rename", 0, 0, VERB_DDL | VERB_USERS },
	{ "truncate", 0, 0, 0 },
	{ "savepoint", 0, 0, 0 },
	{ "release", 0, 0, 0 },
	{ "prepare", 0, CND_MY_NOTE_PREPARES, 0 },
	{ "execute", 0, 0, VERB_WORST },
	{ "deallocate", 0, CND_MY_NOTE_DEALLOCATES, 0 },
	{ "lock", 0, 0, VERB_DDL | VERB_LOCK },
	{ "unlock", 0, 0, VERB_UNLOCK },
	{ "backup", CENOTE_PIN_LOCK, 0, 0 },
	{ "flush", 0, 0, VERB_FLUSH },
	{ "handler", 0, 0, VERB_HANDLER },
	{ "load", 0, CND_MY_NOTE_SILENT_ID | CND_MY_NOTE_HIDES,
		VERB_VARIABLES | VERB_INSERT },
	{ "get", 0, 0, VERB_VARIABLES | VERB_GET },
	{ "explain", 0, 0, 0 },
	{ "describe", 0, 0, 0 },
	{ "desc", 0, 0, 0 },
	{ "analyze", 0, 0, 0 },
	{ "optimize", 0, 0, 0 },
	{ "check", 0, 0, 0 },
	{ "checksum", 0, 0, 0 },
	{ "repair", 0, 0, 0 },
	/* a session keeps the privileges on all databases that it logged in with */
	{ "grant", 0, CND_MY_NOTE_LOGIN, VERB_DDL },
	{ "revoke", 0, CND_MY_NOTE_LOGIN, VERB_DDL },
	{ "kill", 0, 0, 0 },
	{ "help", 0, 0, 0 },
	{ "signal", 0, 0, 0 },
};

static const struct verb unknown_verb = { "", 0, 0, VERB_WORST };

static const struct verb *
find_verb(const struct cnc_sql_token *t)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (cnc_sql_is(t, verbs[i].word))
			return &verbs[i];
	}
	return &unknown_verb;
}

/* Where a SET is read. */
enum place {
	PLACE_NAME, /* what is set comes next, or its scope */
	PLACE_ASSIGNMENT, /* directly after the name */
	PLACE_VALUE,
	PLACE_END /* nothing more is set */
};

/* One statement, as far as it was read. */
struct statement {
	const struct verb *verb;
	struct cnc_sql_token last, before; /* the two tokens before the present one */
	int n; /* tokens, the verb not counted */
	int is_evaluated; /* a function called here is called at once */
	int has_target; /* the table of an INSERT may still come */
	int lock_step; /* in GET_LOCK(): 1: the name comes next; 2: a comma must come next; else 0 */
	int is_first; /* the first statement of the text */
	/* a SET */
	enum place place;
	unsigned depth; /* open parentheses */
	bool is_session; /* SESSION comes before the name */
	const struct cnd_my_reading *reading;
	struct cnd_my_scan *scan;
};

static void
take_worst(struct cnd_my_scan *scan)
{
	scan->pins |= CENOTE_PIN_FUNCTION;
	scan->notes |= CND_MY_NOTE_OPAQUE;
}

/* For a statement whose first word does not show what it leaves. */
static void
take_worst_verb(struct cnd_my_scan *scan)
{
	take_worst(scan);
	scan->notes |= CND_MY_NOTE_OPAQUE_VERB;
}

/* Note the question if the text's first statement asks it. A later statement asks about an earlier
 * statement of the same text. */
static void
take_question(const struct statement *st)
{
	if (st->is_first)
		st->scan->notes |= CND_MY_NOTE_ASKS;
}

/* Words that are keywords in newer servers, and may name a function in older ones. A function's name
 * cannot follow a closing parenthesis, so there they are keywords. */
static int
is_behind_parenthesis(const struct statement *st)
{
	static const char *const words[] = { "against", "except", "intersect", "over" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (cnc_sql_is(&st->last, words[i]))
			return cnc_sql_is_char(&st->before, ')');
	}
	return 0;
}

static int
is_harmless(const struct statement *st, int has_space)
{
	return st->last.kind == CNC_SQL_WORD &&
	       (is_behind_parenthesis(st) || cnd_my_is_harmless(st->reading, st->last.p,
						     st->last.n, has_space));
}

/* Whether the text has only characters that are the same bytes in all character sets, and need no escapes. */
static bool
is_plain_text(const struct cnc_sql_token *t)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789 _-.,:/+=";

	if (t->kind != CNC_SQL_TEXT || t->n < 3 || t->n - 2 > CND_MY_LOCK_MAX)
		return false;
	for (size_t i = 1; i < t->n - 1; i++) {
		if (!memchr(plain, t->p[i], sizeof(plain) - 1))
			return false;
	}
	return t->p[0] == '\'' || t->p[0] == '"';
}

/* The token is the first argument of GET_LOCK(), or follows it. */
static void
see_lock_name(struct statement *st, const struct cnc_sql_token *t)
{
	struct cnd_my_scan *scan = st->scan;

	if (st->lock_step == 1 && is_plain_text(t)) {
		memcpy(scan->lock, t->p + 1, t->n - 2);
		scan->lock[t->n - 2] = '\0';
		st->lock_step = 2;
		return;
	}
	if (!cnc_sql_is_char(t, ','))
		scan->lock[0] = '\0';
	st->lock_step = 0;
}

/* A call of a function on locks. */
static void
see_lock_call(struct statement *st)
{
	const struct cnc_sql_token *name = &st->last;

	if (cnc_sql_is(name, "get_lock")) {
		st->scan->notes |= CND_MY_NOTE_TAKES_LOCK;
		st->scan->n_locks++;
		st->lock_step = 1;
	}
	if (cnc_sql_is(name, "release_lock"))
		st->scan->notes |= CND_MY_NOTE_RELEASES_LOCK;
	if (cnc_sql_is(name, "release_all_locks") && st->n == 1 &&
		(cnc_sql_is(&st->before, "select") || cnc_sql_is(&st->before, "do")))
		st->scan->notes |= CND_MY_NOTE_RELEASES;
}

/* A parenthesis follows a word: find out whether it is a call, and of which function. */
static void
see_call(struct statement *st, int has_space)
{
	const struct cnc_sql_token *name = &st->last;
	int is_qualified = cnc_sql_is_char(&st->before, '.');

	/* after a point, a name may look like a number */
	if (name->kind != CNC_SQL_WORD && name->kind != CNC_SQL_NAME &&
		name->kind != CNC_SQL_NUMBER)
		return;
	if (cnc_sql_is(name, "than") && cnc_sql_is(&st->before, "less"))
		return; /* a list of partitions */
	if (!is_qualified &&
		(cnc_sql_is(name, "row_count") || cnc_sql_is(name, "found_rows")))
		take_question(st);
	if (!is_qualified && is_harmless(st, has_space)) {
		see_lock_call(st);
		return;
	}
	if (st->has_target)
		st->has_target = 0;
	else if (st->is_evaluated)
		take_worst(st->scan);
}

static void
see_word(struct statement *st, const struct cnc_sql_token *t)
{
	static const char *const ends_target[] = { "values", "value", "select", "set",
		"with" };
	size_t i;

	if (cnc_sql_is(t, "select") || cnc_sql_is(t, "values"))
		st->is_evaluated = 1;
	if (cnc_sql_is(t, "from"))
		st->scan->notes |= CND_MY_NOTE_HIDES;
	for (i = 0; st->has_target && i < sizeof(ends_target) / sizeof(ends_target[0]);
		i++) {
		if (cnc_sql_is(t, ends_target[i]))
			st->has_target = 0;
	}
	/* These leave values for later statements: FOUND_ROWS(), PREVIOUS VALUE FOR. */
	if (cnc_sql_is(t, "sql_calc_found_rows") || cnc_sql_is(t, "nextval") ||
		(cnc_sql_is(t, "value") && cnc_sql_is(&st->last, "next")))
		st->scan->pins |= CENOTE_PIN_SETTINGS;
	/* CURRVAL: s.CURRVAL with sql_mode=ORACLE */
	if (cnc_sql_is(t, "currval") || cnc_sql_is(t, "lastval") ||
		(cnc_sql_is(t, "value") && cnc_sql_is(&st->last, "previous")))
		st->scan->notes |= CND_MY_NOTE_RECALLS_NUMBER;
}

/* Case does not matter, and a quote may follow the suffix. */
static int
ends_with(const struct cnc_sql_token *t, const char *suffix)
{
	size_t len = t->n - (t->n > 0 && t->p[t->n - 1] == '`'), n = strlen(suffix);

	return len >= n && strncasecmp(t->p + len - n, suffix, n) == 0;
}

/* Whether the token is @@global.a or @@persist.a. */
static int
is_system_of_all(const struct cnc_sql_token *t)
{
	return is_system(t) &&
	       ((t->n > 9 && strncasecmp(t->p, "@@global.", 9) == 0) ||
		       (t->n > 10 && strncasecmp(t->p, "@@persist.", 10) == 0));
}

/* Note questions about the previous statement: SHOW WARNINGS, SHOW COUNT(*) ERRORS, GET DIAGNOSTICS,
 * @@session.warning_count. */
static void
see_question(struct statement *st, const struct cnc_sql_token *t)
{
	static const char *const names[] = { "warning_count", "error_count",
		"last_gtid" };

	if (st->verb->flags & VERB_SHOW &&
		(st->n == 0 || cnc_sql_is_char(&st->last, ')')) &&
		(cnc_sql_is(t, "warnings") || cnc_sql_is(t, "errors")))
		take_question(st);
	if (st->verb->flags & VERB_GET && cnc_sql_is(t, "diagnostics"))
		take_question(st);
	for (size_t i = 0; is_system(t) && i < sizeof(names) / sizeof(names[0]); i++) {
		if (ends_with(t, names[i]))
			take_question(st);
	}
}

/* A word with a meaning in statements of some verbs: anywhere, or only as the first word. */
static const struct special {
	const char *word;
	uint32_t flag;
	int is_first;
	uint32_t pins;
	uint32_t notes;
} specials[] = {
	{ "temporary", VERB_CREATE, 0, 0, CND_MY_NOTE_CREATES },
	{ "temporary", VERB_DROP, 1, 0, CND_MY_NOTE_DROPS },
	{ "if", VERB_DROP, 0, 0, CND_MY_NOTE_IF_EXISTS },
	{ "prepare", VERB_DROP, 1, 0, CND_MY_NOTE_DEALLOCATES },
	{ "table", VERB_LOCK, 1, 0, CND_MY_NOTE_LOCKS_TABLES },
	{ "tables", VERB_LOCK, 1, 0, CND_MY_NOTE_LOCKS_TABLES },
	{ "table", VERB_UNLOCK, 1, 0, CND_MY_NOTE_UNLOCKS_TABLES },
	{ "tables", VERB_UNLOCK, 1, 0, CND_MY_NOTE_UNLOCKS_TABLES },
	{ "select", VERB_CREATE, 0, 0, CND_MY_NOTE_SILENT_ID },
	{ "returning", VERB_INSERT, 0, 0, CND_MY_NOTE_SILENT_ID },
	{ "open", VERB_HANDLER, 0, CENOTE_PIN_CURSOR, 0 },
	{ "lock", VERB_FLUSH, 0, 0, CND_MY_NOTE_LOCKS_TABLES },
	{ "export", VERB_FLUSH, 0, 0, CND_MY_NOTE_LOCKS_TABLES },
	/* FLUSH STATUS sets the session's counters to zero; the backend finds hidden code by them */
	{ "status", VERB_FLUSH, 0, CENOTE_PIN_SETTINGS, 0 },
	{ "privileges", VERB_FLUSH, 0, 0, CND_MY_NOTE_LOGIN },
	{ "global", VERB_SET, 0, 0, CND_MY_NOTE_LOGIN },
	{ "persist", VERB_SET, 0, 0, CND_MY_NOTE_LOGIN },
	{ "database", VERB_USERS, 1, 0, CND_MY_NOTE_LOGIN },
	{ "schema", VERB_USERS, 1, 0, CND_MY_NOTE_LOGIN },
	{ "user", VERB_USERS, 1, 0, CND_MY_NOTE_LOGIN },
	{ "role", VERB_USERS, 1, 0, CND_MY_NOTE_LOGIN },
};

static void
see_special_word(struct statement *st, const struct cnc_sql_token *t)
{
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		const struct special *s = &specials[i];

		if (st->verb->flags & s->flag && (!s->is_first || st->n == 0) &&
			cnc_sql_is(t, s->word)) {
			st->scan->pins |= s->pins;
			st->scan->notes |= s->notes;
		}
	}
}

/* Whether the token is DATABASE in CREATE OR REPLACE DATABASE. */
static int
is_replaced_database(const struct statement *st, const struct cnc_sql_token *t)
{
	return st->verb->flags & VERB_CREATE && cnc_sql_is(&st->last, "replace") &&
	       (cnc_sql_is(t, "database") || cnc_sql_is(t, "schema"));
}

/* Whether the statement creates a routine, trigger or event. Its body may have semicolons, so its end cannot be found. */
static bool
is_stored_code(const struct statement *st, const struct cnc_sql_token *t)
{
	static const char *const kinds[] = { "procedure", "function", "trigger", "event",
		"package" };

	/* a temporary table may have such a name */
	if (!(st->verb->flags & VERB_CREATE) || st->scan->notes & CND_MY_NOTE_CREATES)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (cnc_sql_is(t, kinds[i]))
			return true;
	}
	return false;
}

/* Cut the scope off a name such as @@session.a. False: it has none. */
static bool
cut_scope(const char **name, size_t *n)
{
	static const char *const scopes[] = { "@@session.", "@@local." };

	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		size_t len = strlen(scopes[i]);

		if (*n > len && strncasecmp(*name, scopes[i], len) == 0) {
			*name += len;
			*n -= len;
			return true;
		}
	}
	*name += 2;
	*n -= 2;
	return false;
}

/* What a SET of this name may change; 0: something that the server cannot be asked for. */
static uint32_t
notes_of_name(const struct statement *st, const struct cnc_sql_token *t)
{
	const struct cnd_my_variable *v;
	const char *name = t->p;
	size_t n = t->n;
	bool is_session = st->is_session;

	if (is_system(t))
		is_session = cut_scope(&name, &n);
	else if (t->kind != CNC_SQL_WORD)
		return 0;
	if (cnc_sql_is(t, "names"))
		return CND_MY_NOTE_SETS | CND_MY_NOTE_MEANING | CND_MY_NOTE_CHARSET;
	/* it also gives the connection the character set of the database */
	if (cnc_sql_is(t, "character") || cnc_sql_is(t, "charset"))
		return CND_MY_NOTE_SETS | CND_MY_NOTE_MEANING | CND_MY_NOTE_CHARSET |
		       CND_MY_NOTE_WIDE;
	/* without SESSION, it is for the next transaction */
	if (cnc_sql_is(t, "transaction"))
		return is_session ? CND_MY_NOTE_SETS : 0;
	v = cnd_my_variable(name, n);
	return v && (is_session || !(v->flags & CND_MY_VARIABLE_NEXT)) ? v->notes : 0;
}

static void
see_name(struct statement *st, const struct cnc_sql_token *t)
{
	uint32_t notes = notes_of_name(st, t);

	if (is_variable(t))
		notes = CND_MY_NOTE_VARIABLES;
	if (notes == 0)
		st->scan->pins |= CENOTE_PIN_SETTINGS;
	st->scan->notes |= notes;
	st->place = cnc_sql_is(t, "transaction") ? PLACE_END : PLACE_ASSIGNMENT;
	st->is_session = false;
}

/* Follow a SET, and note what it sets. */
static void
see_setting(struct statement *st, const struct cnc_sql_token *t)
{
	if (st->place == PLACE_END)
		return;
	if (st->place == PLACE_NAME && !st->is_session &&
		(cnc_sql_is(t, "session") || cnc_sql_is(t, "local"))) {
		st->is_session = true;
		return;
	}
	if (st->place == PLACE_NAME) {
		see_name(st, t);
		return;
	}
	st->place = PLACE_VALUE;
	if (cnc_sql_is_char(t, '('))
		st->depth++;
	else if (cnc_sql_is_char(t, ')'))
		st->depth--;
	else if (cnc_sql_is_char(t, ',') && st->depth == 0)
		st->place = PLACE_NAME;
}

static void
see_special_set(struct statement *st, const struct cnc_sql_token *t)
{
	see_setting(st, t);
	if (is_system_of_all(t) ||
		(cnc_sql_is(t, "role") && cnc_sql_is(&st->last, "default")))
		st->scan->notes |= CND_MY_NOTE_LOGIN;
}

/* Handle the words that are special in statements of this verb. */
static void
see_special(struct statement *st, const struct cnc_sql_token *t)
{
	uint32_t flags = st->verb->flags;

	if (t->kind == CNC_SQL_WORD)
		see_special_word(st, t);
	if (is_replaced_database(st, t))
		st->scan->notes |= CND_MY_NOTE_LOGIN;
	if (is_stored_code(st, t))
		st->scan->notes |= CND_MY_NOTE_UNSURE;
	if (flags & VERB_SET)
		see_special_set(st, t);
	/* LOCK INSTANCE FOR BACKUP */
	if (flags & VERB_LOCK && st->n == 0 &&
		!(st->scan->notes & CND_MY_NOTE_LOCKS_TABLES))
		st->scan->pins |= CENOTE_PIN_LOCK;
	if (flags & VERB_DROP && cnc_sql_is_char(t, ','))
		st->scan->n_drops++;
	if (flags & VERB_BEGIN && st->n == 0 && !cnc_sql_is(t, "work"))
		take_worst_verb(st->scan);
	if (flags & VERB_START && st->n == 0 && !cnc_sql_is(t, "transaction"))
		take_worst_verb(st->scan);
	if (flags & VERB_VARIABLES && is_variable(t))
		st->scan->notes |= CND_MY_NOTE_VARIABLES;
}

static bool
is_assignment(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_CHAR && t->n == 2 && t->p[1] == '=';
}

/* Whether the token comes directly after the name in a SET. */
static bool
is_setting(const struct statement *st)
{
	return st->verb->flags & VERB_SET && st->place == PLACE_ASSIGNMENT;
}

static void
see_token(struct statement *st, const struct cnc_sql_token *t)
{
	if (st->lock_step > 0)
		see_lock_name(st, t);
	if (cnc_sql_is_char(t, '('))
		see_call(st, t->has_space);
	else if (t->kind == CNC_SQL_WORD)
		see_word(st, t);
	else if ((is_assignment(t) && !is_setting(st)) ||
		 (is_variable(t) && cnc_sql_is(&st->last, "into")))
		st->scan->notes |= CND_MY_NOTE_VARIABLES;
	/* LAST_INSERT_ID(5) sets the value to 5. */
	if (cnc_sql_is_char(&st->last, '(') &&
		cnc_sql_is(&st->before, "last_insert_id") && !cnc_sql_is_char(t, ')'))
		st->scan->pins |= CENOTE_PIN_SETTINGS;
	if (is_variable(t))
		st->scan->notes |= CND_MY_NOTE_RECALLS;
	see_special(st, t);
	see_question(st, t);
	st->before = st->last;
	st->last = *t;
	st->n++;
}

/* Read a statement from its first token to the end or a semicolon, which is returned. */
static struct cnc_sql_token
scan_statement(struct reader *x, struct cnc_sql_token t,
	const struct cnd_my_reading *reading, int is_first, struct cnd_my_scan *scan)
{
	struct statement st = { .scan = scan, .is_first = is_first, .reading = reading };

	while (cnc_sql_is_char(&t, '('))
		t = next_token(x);
	st.verb = find_verb(&t);
	scan->pins |= st.verb->pins;
	scan->notes |= st.verb->notes;
	if (st.verb->flags & VERB_WORST)
		take_worst_verb(scan);
	st.is_evaluated = !(st.verb->flags & VERB_DDL);
	st.has_target = (st.verb->flags & VERB_INSERT) != 0;
	st.last = t;
	for (t = next_token(x); t.kind != CNC_SQL_END && !cnc_sql_is_char(&t, ';');
		t = next_token(x))
		see_token(&st, &t);
	/* the function alone: the name and two parentheses */
	if (st.n != 3)
		scan->notes &= ~(uint32_t)CND_MY_NOTE_RELEASES;
	return t;
}

/* For a text that cannot be read with certainty: whether one of the words occurs in it anywhere. */
static int
may_ask(const char *sql, size_t len)
{
	static const char *const words[] = { "row_count", "found_rows", "warning",
		"error", "diagnostics", "last_gtid" };

	for (size_t i = 0; i < len; i++) {
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
			size_t n = strlen(words[k]);

			if (len - i >= n && strncasecmp(sql + i, words[k], n) == 0)
				return 1;
		}
	}
	return 0;
}

/* In character sets other than UTF-8, a byte above ASCII may be a blank. Or it may make the next byte (a quote, a
 * backslash) a part of a character. sql_mode changes only how backslashes and double quotes are read. */
static int
is_unreadable(const char *sql, size_t len, uint32_t lexis)
{
	size_t i = 0;

	if (lexis & CND_MY_LEXIS_UNSURE &&
		(memchr(sql, '\\', len) || memchr(sql, '"', len)))
		return 1;
	if (!(lexis & CND_MY_LEXIS_NOT_UTF8))
		return 0;
	while (i < len && (unsigned char)sql[i] < 0x80)
		i++;
	return i < len;
}

uint32_t
cnd_my_rules(const char *sql, size_t len, uint32_t lexis)
{
	return is_unreadable(sql, len, lexis) ? 0
					      : rules_of(lexis) | CNC_DIGEST_UNSURE_REST;
}

/* If the statement is not alone in its text, or calls something, its success does not prove that something has ended. */
static void
mistrust(struct cnd_my_scan *scan)
{
	const uint32_t ends = CND_MY_NOTE_DEALLOCATES | CND_MY_NOTE_DROPS |
			      CND_MY_NOTE_UNLOCKS_TABLES | CND_MY_NOTE_RELEASES;

	if (scan->notes & CND_MY_NOTE_SETS)
		take_worst(scan);
	if (scan->notes & CND_MY_NOTE_PREPARES)
		scan->pins |= CENOTE_PIN_PREPARED;
	if (scan->notes & CND_MY_NOTE_CREATES)
		scan->pins |= CENOTE_PIN_TEMP;
	if (scan->notes & CND_MY_NOTE_LOCKS_TABLES)
		scan->pins |= CENOTE_PIN_LOCK;
	scan->notes &= ~ends;
}

void
cnd_my_scan(const char *sql, size_t len, const struct cnd_my_reading *reading,
	struct cnd_my_scan *ret_scan)
{
	struct reader x = begin_reading(sql, len, reading->lexis);
	struct cnd_my_scan scan = { .n_drops = 1 };
	struct cnc_sql_token t;
	int n = 0, has_set = 0;

	x.is_open = is_unreadable(sql, len, reading->lexis);
	for (t = next_token(&x); t.kind != CNC_SQL_END; t = next_token(&x)) {
		if (cnc_sql_is_char(&t, ';'))
			continue;
		if (n++ > 0)
			scan.notes |= CND_MY_NOTE_SEVERAL;
		/* The SET may change how the rest is read. */
		if (has_set)
			take_worst(&scan);
		has_set |= cnc_sql_is(&t, "set");
		t = scan_statement(&x, t, reading, n == 1, &scan);
		if (t.kind == CNC_SQL_END)
			break;
	}
	if (n == 0)
		scan.notes |= CND_MY_NOTE_EMPTY;
	if (scan.n_locks != 1 || is_dark(&x))
		scan.lock[0] = '\0';
	if (n > 1 || is_dark(&x) || scan.notes & CND_MY_NOTE_OPAQUE)
		mistrust(&scan);
	/* the text sets the variable itself, or a procedure that it calls may */
	if (scan.pins & (CENOTE_PIN_SETTINGS | CENOTE_PIN_FUNCTION) ||
		scan.notes & CND_MY_NOTE_VARIABLES)
		scan.notes &=
			~(uint32_t)(CND_MY_NOTE_RECALLS | CND_MY_NOTE_RECALLS_NUMBER);
	if (is_dark(&x)) {
		take_worst(&scan);
		scan.notes |= CND_MY_NOTE_UNSURE;
		scan.notes &= ~(uint32_t)CND_MY_NOTE_EMPTY;
		if (memchr(sql, ';', len))
			scan.notes |= CND_MY_NOTE_SEVERAL;
		if (may_ask(sql, len))
			scan.notes |= CND_MY_NOTE_ASKS;
	}
	*ret_scan = scan;
}

int
cnd_my_is_select(const char *sql, size_t len, uint32_t lexis)
{
	struct reader x = begin_reading(sql, len, lexis);
	struct cnc_sql_token t = next_token(&x);

	while (cnc_sql_is_char(&t, '('))
		t = next_token(&x);
	return !is_dark(&x) && (cnc_sql_is(&t, "select") || cnc_sql_is(&t, "values") ||
				       cnc_sql_is(&t, "with"));
}

uint32_t
cnd_my_lexis(const char *sql_mode, const char *charset)
{
	uint32_t lexis = 0;

	if (!sql_mode)
		lexis |= CND_MY_LEXIS_UNSURE;
	else if (strstr(sql_mode, "ANSI_QUOTES"))
		lexis |= CND_MY_LEXIS_ANSI_QUOTES;
	if (sql_mode && strstr(sql_mode, "NO_BACKSLASH_ESCAPES"))
		lexis |= CND_MY_LEXIS_NO_BACKSLASH;
	if (!charset || strncmp(charset, "utf8", 4) != 0)
		lexis |= CND_MY_LEXIS_NOT_UTF8;
	return lexis;
}
