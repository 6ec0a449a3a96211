/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the server what a session holds. The server's catalogs show most of what functions may leave.
 * They do not show settings with a custom name (`app.tenant`), nor what CND_PG_HIDING_WORDS
 * leave. So the server is asked whether the database has code that could leave these. If it has, each
 * client that may have called that code counts as having called it. The OIDs of built-in objects are below
 * 16384.
 *
 * A client that only read and wrote rows needs no question if proof.c shows that no code leaves anything.
 */
#include <stdio.h>
#include <stdlib.h>

#include "code.h"
#include "session.h"

/* ---- Bodies that are a text ---- */

/* SET of a name with a dot. A comment may hide the dot, so it matches, too. SET LOCAL does not match: no dot
 * follows LOCAL. */
#define SETS                                                                             \
	"\\mset\\M\\s*(session\\M\\s*)?"                                                 \
	"(--|/\\*|\"[^\"]*\\.|(\"[^\"]*\"|[^\\s\"(,;=]+)\\s*(\\.|--|/\\*))"

/* A name with escapes, which may hide a word; and the removal of code, which may have been called before. */
#define HIDES "u&\"|\\m(drop|alter|replace)\\s+(function|procedure|routine)\\M"

#define LEAVES "$$\\m(set_config" CND_PG_HIDING_WORDS(OR_WORD) ")|" SETS "|" HIDES "$$"

/* The OIDs of the languages internal, C and SQL are 12 to 14. Code in other languages than PL/pgSQL may do anything. */
#define TEXT_MAY_LEAVE                                                                   \
	"CASE WHEN prolang OPERATOR(pg_catalog.=) 13 THEN false"                         \
	" WHEN prolang OPERATOR(pg_catalog.>) 14 AND prolang OPERATOR(pg_catalog.<>)"    \
	" (SELECT oid FROM pg_catalog.pg_language WHERE lanname"                         \
	" OPERATOR(pg_catalog.=) 'plpgsql') THEN true"                                   \
	" ELSE body OPERATOR(pg_catalog.~*) " LEAVES                                     \
	" OR body OPERATOR(pg_catalog.~*) " MAKES_STATEMENTS " AND NOT " IS_OF_EXTENSION \
	" END"

#define CODE_LEAVES                                                                      \
	"EXISTS (SELECT FROM pg_catalog.pg_proc p, LATERAL (SELECT " BODY ") b (body)"   \
	" WHERE " IS_NEW("p.oid") " AND prokind OPERATOR(pg_catalog.<>) 'a'"             \
				  " AND " TEXT_MAY_LEAVE ")" EXPRESSIONS_LEAVE

/* ---- The question ---- */

/* The statements that were prepared by a request and have a name. Those without one are called cenote_N at the server. */
#define NAMED                                                                            \
	"FROM pg_catalog.pg_prepared_statements WHERE NOT from_sql"                      \
	" AND name OPERATOR(pg_catalog.!~) '^cenote_[0-9]+$'"

/*
 * The columns are in the order of the enumeration below. Each temporary object depends on its schema. The role is not
 * compared with the user: a function may have changed both.
 */
#define QUESTION(code_leaves)                                                            \
	LAST_LOOK                                                                        \
	" SELECT EXISTS (SELECT FROM pg_catalog.pg_depend WHERE refclassid"              \
	" OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass"         \
	" AND refobjid OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()),"          \
	" EXISTS (SELECT FROM pg_catalog.pg_settings WHERE source"                       \
	" OPERATOR(pg_catalog.=) 'session' AND name OPERATOR(pg_catalog.<>) ALL"         \
	" ('{application_name,client_encoding}'::pg_catalog.text[]))"                    \
	" OR pg_catalog.current_setting('role') OPERATOR(pg_catalog.<>) 'none',"         \
	" " code_leaves ","                                                              \
	" EXISTS (SELECT FROM pg_catalog.pg_locks WHERE pid"                             \
	" OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND locktype"               \
	" OPERATOR(pg_catalog.=) 'advisory'),"                                           \
	" EXISTS (SELECT FROM pg_catalog.pg_listening_channels()),"                      \
	" EXISTS (SELECT FROM pg_catalog.pg_cursors),"                                   \
	" EXISTS (SELECT FROM pg_catalog.pg_prepared_statements WHERE from_sql),"        \
	" EXISTS (SELECT " NAMED "),"                                                    \
	" " THIS_LOOK

/* From version 14 on, the body of a function may be a tree (prosqlbody). */
static const char question_13[] = QUESTION(CODE_LEAVES);
static const char question[] =
	QUESTION(CODE_LEAVES IN_TABLE("pg_proc", "oid", CALLS("prosqlbody")));

/* The columns. */
enum {
	HELD_TEMP,
	HELD_SETTINGS, /* what settings.c can ask for */
	HELD_CODE, /* the database has code that may have set something that nobody can ask for */
	HELD_LOCK,
	HELD_LISTEN,
	HELD_CURSOR,
	HELD_PREPARED, /* by SQL: settings.c can ask for these, too */
	HELD_NAMED, /* by a request */
	N_HELD
};

static const uint32_t pin_of[N_HELD] = {
	[HELD_TEMP] = CENOTE_PIN_TEMP,
	[HELD_SETTINGS] = CENOTE_PIN_SETTINGS,
	[HELD_LOCK] = CENOTE_PIN_LOCK,
	[HELD_LISTEN] = CENOTE_PIN_LISTEN,
	[HELD_CURSOR] = CENOTE_PIN_CURSOR,
	[HELD_PREPARED] = CENOTE_PIN_PREPARED,
};

/* Whether the session's user has changed. No catalog shows the user, but the server reports each change. */
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

/* Ask the server. The flags are in the order of the enumeration below. */
static int
ask(struct cnd_session *s, uint8_t flags[N_HELD])
{
	char sql[sizeof(question) + 16];
	char look[16];
	int r;

	(void)snprintf(sql, sizeof(sql), s->version < 140000 ? question_13 : question,
		(unsigned)(s->last_look != 0 ? s->last_look : 2));
	r = cnd_pg_ask_more(s, sql, flags, N_HELD, look, sizeof(look));
	/* OR stops at the first true condition, so the server may not have looked at all code. */
	if (r == CENOTE_OK && !flags[HELD_CODE])
		s->last_look = (uint32_t)strtoul(look, NULL, 10);
	return r;
}

/* Renew the proof that the database's code leaves nothing. A server that cannot answer has no such proof. */
static int
prove(struct cnd_session *s)
{
	char sql[CND_PG_PROOF_SQL_MAX];
	uint8_t is_harmful;
	char look[16];
	int r;

	if (s->has_pure_queries)
		return CENOTE_OK;
	/* what the client has defined may be committed by now */
	if ((s->client.lasting & CND_PG_SCAN_DEFINES) != 0)
		cnd_pg_proof_end();
	if (!cnd_pg_proof_ask(s, sql))
		return CENOTE_OK;
	r = cnd_pg_ask_more(s, sql, &is_harmful, 1, look, sizeof(look));
	if (r == CENOTE_OK)
		cnd_pg_proof_take(s, is_harmful, look);
	return r == CENOTE_ERR_SERVER ? CENOTE_OK : r;
}

/* Each name has 63 bytes at most in the server's encoding, and twice as many in the client's. */
#define NAMES_MAX 8192

/* The names, each with a line break after it. The answer is one empty name if there are too many, or if a name has a line break
 * itself. */
static const char question_names[] =
	"SELECT CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.<=) 60 AND NOT"
	" pg_catalog.bool_or(pg_catalog.strpos(name, pg_catalog.chr(10))"
	" OPERATOR(pg_catalog.>) 0) THEN pg_catalog.string_agg(name"
	" OPERATOR(pg_catalog.||) pg_catalog.chr(10), '') ELSE pg_catalog.chr(10) "
	"END " NAMED;

/* Whether a statement is still there that would not mean the same on another session. */
static int
ask_names(struct cnd_session *s, uint8_t *ret_keeps)
{
	char names[NAMES_MAX];
	const char *name = names, *end;
	uint8_t nothing;
	int r;

	*ret_keeps = 1;
	/* the names may not be in the client's present encoding */
	if (cnd_pg_has_changed_encoding(s))
		return CENOTE_OK;
	r = cnd_pg_ask_more(s, question_names, &nothing, 0, names, sizeof(names));
	if (r < 0)
		return r;
	for (; (end = strchr(name, '\n')) != NULL; name = end + 1) {
		if (!cnd_pg_prepared_is_known(&s->named, name, (size_t)(end - name)))
			return CENOTE_OK;
	}
	*ret_keeps = 0;
	return CENOTE_OK;
}

/* Whether no question is needed: all that the client ran was code that leaves nothing. */
static int
has_left_nothing(const struct cnd_session *s)
{
	return (s->client.pins & ~(uint32_t)CENOTE_PIN_FUNCTION) == 0 &&
	       !s->settings.is_stale && !s->client.keeps_named && !s->client.has_acted &&
	       cnd_pg_is_proved(s);
}

/* Whether something holds the session that the server cannot be asked about. */
static int
has_to_stay(const struct cnd_session *s)
{
	return s->settings.hides || s->client.holds_unnamed ||
	       cnd_has_portals(s->host->statements);
}

static uint32_t
pins_of(const uint8_t flags[N_HELD])
{
	uint32_t pins = 0;

	for (size_t i = 0; i < N_HELD; i++)
		pins |= flags[i] ? pin_of[i] : 0;
	return pins;
}

static int
settle(struct cnd_session *s)
{
	uint8_t flags[N_HELD] = { 0 };
	uint32_t pins = 0;
	int r = prove(s);

	if (r == CENOTE_OK && !has_left_nothing(s)) {
		r = ask(s, flags);
		pins = pins_of(flags);
		if (r == CENOTE_OK)
			r = cnd_pg_settings_ask(s, &pins);
		s->settings.hides |= flags[HELD_CODE] && s->settings.may_hide;
	}
	if (r < 0)
		return r;
	s->client.has_acted = 0;
	s->client.keeps_named &= flags[HELD_NAMED];
	s->client.pins = pins;
	return s->client.keeps_named ? ask_names(s, &s->client.keeps_named) : CENOTE_OK;
}

/* During a loan, only the client knows what it did. Nothing that this process remembers counts, and no settings can move
 * from here. */
static int
settle_loan(struct cnd_session *s)
{
	uint8_t flags[N_HELD] = { 0 };
	int r;

	s->has_unheard = 0;
	r = cnd_pg_ask_values(s);
	if (r == CENOTE_OK)
		r = ask(s, flags);
	if (r < 0)
		return r;
	if (s->has_unheard)
		return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST), "%s",
			"a notification came while the client could not get it");
	s->client.pins = pins_of(flags);
	if (flags[HELD_CODE] || cnd_pg_changed_name(s) != NULL)
		s->client.pins |= CENOTE_PIN_SETTINGS;
	return CENOTE_OK;
}

static int
look(struct cnd_session *s, struct cnd_sink *sink, struct cnc_diag *diag)
{
	int r = cnd_pg_enter(s, diag);

	if (r < 0 || s->tx != 'I' || s->sync.is_missing || s->sync.n_ready > 0 ||
		(!s->is_on_loan && has_to_stay(s)))
		return r;
	(void)cnd_pg_run_begin(s, sink);
	r = s->is_on_loan ? settle_loan(s) : settle(s);
	if (r == CENOTE_OK)
		r = s->run.status;
	if (r == CENOTE_OK && (is_another_user(s) || cnd_pg_has_changed_encoding(s)))
		s->client.pins |= CENOTE_PIN_SETTINGS;
	return r;
}

int
cnd_pg_settle(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnc_diag diag;
	int r;

	cnc_diag_init(&diag, NULL);
	r = look(s, sink, sink != NULL ? sink->diag : &diag);
	cnc_diag_finish(&diag);
	s->diag = NULL;
	(void)cnd_pg_run_begin(s, NULL);
	return r;
}
