/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

/*
 * What a session holds, asked of the server. Most of what functions may leave is in one of its lists.
 * In none are settings with a name of the program's own (`app.tenant`), and what CND_PG_HIDING_WORDS
 * leave. So the server is asked whether the database has code that could leave those: if it has, each
 * client that may have called it is taken to have done so. Objects of the server's own are below
 * 16384.
 */

#define STRING_OF(...)       STRING_OF_AGAIN(__VA_ARGS__)
#define STRING_OF_AGAIN(...) #__VA_ARGS__

/* ---- Bodies that are a text ---- */

#define OR_WORD(word) "|" #word

/* A literal without a backslash, which could hide what it says. */
#define LITERAL "'[^'\\\\]*'"

/*
 * The body without what is proved by its own text: set_config() of a name that the server lists, or of
 * literals and names with `true` as its last argument; and EXECUTE of a literal and nothing more.
 */
#define BODY                                                                             \
	"pg_catalog.regexp_replace(pg_catalog.regexp_replace(prosrc,"                    \
	" $$\\mset_config\\s*\\(\\s*('(?!seed')[^'.\\\\]*'\\s*,|" LITERAL                \
	"\\s*,\\s*(" LITERAL "|[\\w.$]+)\\s*,\\s*true\\s*\\))$$, '', 'gi'),"             \
	" $$\\mexecute\\s*(" LITERAL ")\\s*(;|into\\M|using\\M)$$, '\\1 \\2', 'gi')"

/* SET with a dot in the name behind it; not LOCAL, behind which there is none. A comment may stand
 * between them. */
#define SETS                                                                             \
	"\\mset\\M\\s*(session\\M\\s*)?"                                                 \
	"(--|/\\*|\"[^\"]*\\.|(\"[^\"]*\"|[^\\s\"(,;=]+)\\s*(\\.|--|/\\*))"

/* A name that escapes hide; and the removal of code, which may have been called before. */
#define HIDES "u&\"|\\m(drop|alter|replace)\\s+(function|procedure|routine)\\M"

#define LEAVES "$$\\m(set_config" CND_PG_HIDING_WORDS(OR_WORD) ")|" SETS "|" HIDES "$$"

/* Statements that are made while it runs. */
#define MAKES_STATEMENTS "$$\\mexecute\\M|\\mdo\\s*([$']|[eu]&?'|language\\M)$$"

#define IS_OF_EXTENSION                                                                  \
	"EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid"                     \
	" OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass"              \
	" AND d.objid OPERATOR(pg_catalog.=) p.oid"                                      \
	" AND d.deptype OPERATOR(pg_catalog.=) 'e')"

/* The languages internal, C and SQL are 12 to 14; of any other but PL/pgSQL nothing is known. */
#define TEXT_MAY_LEAVE                                                                   \
	"CASE WHEN prolang OPERATOR(pg_catalog.=) 13 THEN false"                         \
	" WHEN prolang OPERATOR(pg_catalog.>) 14 AND prolang OPERATOR(pg_catalog.<>)"    \
	" (SELECT oid FROM pg_catalog.pg_language WHERE lanname"                         \
	" OPERATOR(pg_catalog.=) 'plpgsql') THEN true"                                   \
	" ELSE body OPERATOR(pg_catalog.~*) " LEAVES                                     \
	" OR body OPERATOR(pg_catalog.~*) " MAKES_STATEMENTS " AND NOT " IS_OF_EXTENSION \
	" END"

/* ---- Expressions, which the server keeps as trees ---- */

#define IDS STRING_OF(CND_PG_HIDING_FUNCTIONS)

/* A call in a tree names its function by number. */
#define CALLS(tree)                                                                      \
	"(" tree ")::pg_catalog.text OPERATOR(pg_catalog.~) (SELECT calls FROM "         \
	"last_look)"

#define IS_ONE(column)                                                                   \
	column " OPERATOR(pg_catalog.=) ANY ('{" IDS "}'::pg_catalog.oid[])"

/* Made by somebody, and since the last look. */
#define IS_NEW(id)                                                                       \
	id " OPERATOR(pg_catalog.>=) 16384 AND pg_catalog.age(p.xmin)"                   \
	   " OPERATOR(pg_catalog.<=) (SELECT age FROM last_look)"

#define IN_TABLE(table, id, condition)                                                   \
	" OR EXISTS (SELECT FROM pg_catalog." table                                      \
	" p WHERE " IS_NEW("p." id) " AND (" condition "))"

#define EXPRESSIONS_LEAVE                                                                \
	IN_TABLE("pg_rewrite", "oid", CALLS("ev_action") " OR " CALLS("ev_qual"))        \
	IN_TABLE("pg_attrdef", "oid", CALLS("adbin"))                                    \
	IN_TABLE("pg_constraint", "oid", CALLS("conbin"))                                \
	IN_TABLE("pg_policy", "oid", CALLS("polqual") " OR " CALLS("polwithcheck"))      \
	IN_TABLE("pg_trigger", "oid", CALLS("tgqual"))                                   \
	IN_TABLE("pg_type", "oid", CALLS("typdefaultbin"))                               \
	IN_TABLE("pg_proc", "oid", CALLS("proargdefaults"))                              \
	IN_TABLE("pg_operator", "oid", IS_ONE("oprcode"))                                \
	IN_TABLE("pg_aggregate", "aggfnoid",                                             \
		IS_ONE("aggtransfn") " OR " IS_ONE("aggfinalfn"))

#define CODE_LEAVES                                                                      \
	"EXISTS (SELECT FROM pg_catalog.pg_proc p, LATERAL (SELECT " BODY ") b (body)"   \
	" WHERE " IS_NEW("p.oid") " AND prokind OPERATOR(pg_catalog.<>) 'a'"             \
				  " AND " TEXT_MAY_LEAVE ")" EXPRESSIONS_LEAVE

/* ---- The question ---- */

/*
 * What code there is was looked at in the last question, and only what has come since is looked at now: what
 * was not committed then has at least the number that the oldest transaction had. 2 is older than
 * all.
 */
#define LAST_LOOK                                                                        \
	"WITH last_look (age, calls) AS (SELECT pg_catalog.age('%u'::pg_catalog.xid),"   \
	" pg_catalog.concat(':(op)?funcid (', pg_catalog.translate('" IDS                \
	"', ', ', '|'), ') '))"
#define THIS_LOOK                                                                        \
	"pg_catalog.txid_snapshot_xmin(pg_catalog.txid_current_snapshot())"              \
	" OPERATOR(pg_catalog.%%) 4294967296"

/*
 * In the order of `held`. Each temporary object depends on the schema that it is in. The role is not
 * compared with the user: a function may have changed both.
 */
#define QUESTION(code_leaves)                                                            \
	LAST_LOOK                                                                        \
	" SELECT EXISTS (SELECT FROM pg_catalog.pg_depend WHERE refclassid"              \
	" OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass"         \
	" AND refobjid OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()),"          \
	" EXISTS (SELECT FROM pg_catalog.pg_settings WHERE source"                       \
	" OPERATOR(pg_catalog.=) 'session')"                                             \
	" OR pg_catalog.current_setting('role') OPERATOR(pg_catalog.<>) 'none'"          \
	" OR " code_leaves ","                                                           \
	" EXISTS (SELECT FROM pg_catalog.pg_locks WHERE pid"                             \
	" OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND locktype"               \
	" OPERATOR(pg_catalog.=) 'advisory'),"                                           \
	" EXISTS (SELECT FROM pg_catalog.pg_listening_channels()),"                      \
	" EXISTS (SELECT FROM pg_catalog.pg_cursors),"                                   \
	" EXISTS (SELECT FROM pg_catalog.pg_prepared_statements WHERE "                  \
	"from_sql),"                                                                     \
	" " THIS_LOOK

/* From version 14 on a body may be a tree. */
static const char question_13[] = QUESTION(CODE_LEAVES);
static const char question[] =
	QUESTION(CODE_LEAVES IN_TABLE("pg_proc", "oid", CALLS("prosqlbody")));

static const uint32_t held[] = { CENOTE_PIN_TEMP, CENOTE_PIN_SETTINGS, CENOTE_PIN_LOCK,
	CENOTE_PIN_LISTEN, CENOTE_PIN_CURSOR, CENOTE_PIN_PREPARED };

#define N_HELD        (sizeof(held) / sizeof(held[0]))
#define HELD_SETTINGS 1

/* Who the server takes us for: it says so whenever that changes. No list has it. */
static int
is_another_user(const struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_parameters; i++) {
		const struct cnd_pg_parameter *p = &s->parameters[i];

		if (strcmp(p->name, "session_authorization") == 0)
			return p->at_login == NULL || strcmp(p->value, p->at_login) != 0;
	}
	return 1;
}

/* What it says, in `held`'s order. */
static int
ask(struct cnd_session *s, uint8_t flags[N_HELD])
{
	char sql[sizeof(question) + 16];
	char look[16];
	int r;

	(void)snprintf(sql, sizeof(sql), s->version < 140000 ? question_13 : question,
		(unsigned)(s->last_look != 0 ? s->last_look : 2));
	r = cnd_pg_ask_more(s, sql, flags, N_HELD, look, sizeof(look));
	/* OR stops at the first true: the code may not have been looked at */
	if (r == CENOTE_OK && !flags[HELD_SETTINGS])
		s->last_look = (uint32_t)strtoul(look, NULL, 10);
	return r;
}

int
cnd_pg_settle(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	uint8_t flags[N_HELD];
	int r = cnd_pg_enter(s, ret_diag);

	if (r < 0 || s->tx != 'I' || s->is_unsynced || s->n_ready > 0)
		return r;
	(void)cnd_pg_run_begin(s, NULL);
	r = ask(s, flags);
	s->diag = NULL;
	if (r < 0)
		return r;
	s->pins &= ~(uint32_t)CENOTE_PIN_FUNCTION;
	for (size_t i = 0; i < N_HELD; i++) {
		if (flags[i])
			s->pins |= held[i];
	}
	if (is_another_user(s))
		s->pins |= CENOTE_PIN_SETTINGS;
	return CENOTE_OK;
}
