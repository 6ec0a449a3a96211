/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client may leave things in its session that no command can undo. Then that client is the last client of the
 * session: after the client has gone, the worker closes the session and logs in again.
 *
 * Temporary objects leave their schema, and buffers that fix temp_buffers. Languages other than PL/pgSQL, and the
 * extensions isn and dblink, keep values of their own, which the server does not list. If the database has one of these
 * languages or extensions, each client that may have called a function ends its session.
 *
 * PL/pgSQL compiles a function when the session first runs it, and keeps the result for the life of the session. The
 * result depends on the types that names meant at that moment, and on the settings by which literals were read. The next
 * client may have the session only if it would get the same result. If PL/pgSQL's library is not loaded, nothing was
 * compiled. If the library is loaded, the session is kept when all of this holds:
 *
 *   - No name in a PL/pgSQL function is the name of two types. Then search_path, the role and pg_temp do not matter.
 *   - No type was created since the last look.
 *   - No statement of the client defined an object, or changed a setting by which PL/pgSQL reads a function (scan.c).
 *   - The database has no code that could do either.
 *
 * A session looks at the catalog when it first needs to, and again when there is a new function or type. (A new language
 * or extension has new functions.) A session without compiled functions asks for new functions only once a second. For
 * that long, a language that was just created may keep one client's values for the next client.
 */
#include <stdio.h>
#include <stdlib.h>

#include "code.h"
#include "session.h"

#define ASK_MS 1000

/* ---- The question that goes with each reset ---- */

/* The server knows this setting once PL/pgSQL's library is loaded, or the client has set it. */
#define STATE                                                                            \
	"SELECT pg_catalog.current_setting('plpgsql.variable_conflict', true)"           \
	" IS NOT NULL, pg_catalog.pg_my_temp_schema() OPERATOR(pg_catalog.<>) 0"

#define IS_ANY_NEW(table)                                                                \
	"EXISTS (SELECT FROM pg_catalog." table " WHERE oid OPERATOR(pg_catalog.>=)"     \
	" 16384 AND pg_catalog.age(xmin) OPERATOR(pg_catalog.<=)"                        \
	" pg_catalog.age('%u'::pg_catalog.xid))"

static const char state_unseen[] = STATE ", true";
static const char state[] = STATE ", " IS_ANY_NEW("pg_proc");
static const char state_compiled[] =
	STATE ", " IS_ANY_NEW("pg_proc") " OR " IS_ANY_NEW("pg_type");

enum {
	STATE_IS_LOADED,
	STATE_HAS_TEMP,
	STATE_IS_NEW,
	N_STATE
};

static int
is_recent(struct cnd_pg_look *look)
{
	int64_t now = cnd_clock_ms();

	if (!look->is_compiled && now - look->asked_ms < ASK_MS)
		return 1;
	look->asked_ms = now;
	return 0;
}

/* Ask for the first two flags only. Calls by number need no parsing: current_setting() is 3294, pg_my_temp_schema() 2854. */
static int
ask_by_calls(struct cnd_session *s, struct cnd_pg_flags *ret_answer)
{
	const struct cnp_str setting[] = { cnp_str("plpgsql.variable_conflict"),
		{ "\1", 1 } };
	int r = cnd_pg_add_call(&s->out.buf, 3294, setting, 2);

	if (r == CENOTE_OK)
		r = cnd_pg_add_call(&s->out.buf, 2854, NULL, 0);
	if (r < 0)
		return r;
	s->out.n_ready += 2;
	*ret_answer = (struct cnd_pg_flags){ .n = N_STATE, .n_calls = 2 };
	s->run.flags = ret_answer;
	return CENOTE_OK;
}

int
cnd_pg_lasting_ask(struct cnd_session *s, struct cnd_pg_flags *ret_answer)
{
	struct cnd_pg_look *look = &s->look;
	char sql[sizeof(state_compiled) + 2 * 16];
	int r;

	if (look->oldest != 0 && is_recent(look))
		return ask_by_calls(s, ret_answer);
	(void)snprintf(sql, sizeof(sql),
		look->oldest == 0   ? state_unseen
		: look->is_compiled ? state_compiled
				    : state,
		(unsigned)look->oldest, (unsigned)look->oldest);
	r = cnd_pg_add_query(&s->out.buf, 'Q', sql, strlen(sql));
	if (r < 0)
		return r;
	s->out.n_ready++;
	*ret_answer = (struct cnd_pg_flags){ .n = N_STATE };
	s->run.flags = ret_answer;
	return CENOTE_OK;
}

/* ---- The look at the catalog ---- */

#define IS_PLPGSQL                                                                       \
	"prolang OPERATOR(pg_catalog.=) (SELECT oid FROM pg_catalog.pg_language"         \
	" WHERE lanname OPERATOR(pg_catalog.=) 'plpgsql')"

/* A name that needs quotes is searched anywhere in a body, in any case. A body with an escaped name matches. */
#define IS_MENTIONED                                                                     \
	"EXISTS (SELECT FROM pg_catalog.pg_proc WHERE " IS_PLPGSQL                       \
	" AND (prosrc OPERATOR(pg_catalog.~*) 'u&\"' OR CASE WHEN t.name"                \
	" OPERATOR(pg_catalog.~) '^\\w+$' THEN prosrc OPERATOR(pg_catalog.~*)"           \
	" pg_catalog.concat('\\m', t.name, '\\M') ELSE pg_catalog.strpos(t.name, '\"')"  \
	" OPERATOR(pg_catalog.>) 0 OR pg_catalog.strpos(pg_catalog.lower(prosrc),"       \
	" pg_catalog.lower(t.name)) OPERATOR(pg_catalog.>) 0 END))"

/* A name cannot mean a temporary type of another session. */
#define ARE_TYPES_MIXED                                                                  \
	"EXISTS (SELECT FROM (SELECT typname::pg_catalog.text FROM pg_catalog.pg_type"   \
	" WHERE NOT pg_catalog.pg_is_other_temp_schema(typnamespace) GROUP BY typname"   \
	" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 UNION ALL SELECT"          \
	" collname::pg_catalog.text FROM pg_catalog.pg_collation GROUP BY collname"      \
	" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1"                           \
	" AND pg_catalog.bool_or(oid OPERATOR(pg_catalog.>=) 16384)) t (name)"           \
	" WHERE " IS_MENTIONED ")"

#define ARE_TYPES_NEW                                                                    \
	"EXISTS (SELECT FROM pg_catalog.pg_type p WHERE " IS_NEW(                        \
		"p.oid") " AND NOT "                                                     \
			 "pg_catalog.pg_is_other_temp_schema(typnamespace))" IN_TABLE(   \
				 "pg_collation", "oid", "true")

/* A comment may stand between the words. */
#define DEFINES                                                                          \
	"\\m(create|alter|drop|import)(\\s*(--|/\\*)|\\s+(or\\s+replace|temp|temporary|" \
	"local|global|unlogged|table|view|materialized|recursive|type|domain|schema|"    \
	"foreign|extension|owned|collation)\\M)|\\mload\\s*[eu'$]"

/* Settings by which PL/pgSQL reads a function. scan.c looks for the same settings in SQL. */
#define READINGS "$$standard_conforming_strings|backslash_quote|\\mplpgsql$$"

/* Functions of extensions and in C are trusted. */
#define CODE_DEFINES                                                                     \
	"EXISTS (SELECT FROM pg_catalog.pg_proc p, LATERAL (SELECT " BODY ") b (body)"   \
	" WHERE " IS_NEW(                                                                \
		"p.oid") " AND prokind OPERATOR(pg_catalog.<>) 'a'"                      \
			 " AND prolang OPERATOR(pg_catalog.<>) 13 AND "                  \
			 "NOT " IS_OF_EXTENSION                                          \
			 " AND (body OPERATOR(pg_catalog.~*) $$" DEFINES                 \
			 "|\\m(set_config" CND_PG_HIDING_WORDS(                          \
				 OR_WORD) ")|u&\"$$ OR body "                            \
					  "OPERATOR(pg_catalog.~*) " MAKES_STATEMENTS    \
					  " OR prosrc OPERATOR(pg_catalog.~*) " READINGS \
					  " OR proconfig::pg_catalog.text "              \
					  "OPERATOR(pg_catalog.~*) " READINGS            \
					  "))" EXPRESSIONS_LEAVE

/* From version 14 on, the body of a function may be a tree (prosqlbody). */
static const char question_of_code_13[] =
	LAST_LOOK " SELECT " CODE_DEFINES ", " THIS_LOOK;
static const char question_of_code[] = LAST_LOOK " SELECT " CODE_DEFINES IN_TABLE(
	"pg_proc", "oid", CALLS("prosqlbody")) ", " THIS_LOOK;

#define QUESTION(types) LAST_LOOK " SELECT " KEEPS_VALUES " OR " types ", " THIS_LOOK

static const char question_of_values[] = QUESTION("false");
static const char question_of_mixed[] = QUESTION(ARE_TYPES_MIXED);
static const char question_of_new[] = QUESTION(ARE_TYPES_NEW);

/* Ask one question. Its answer is a boolean, which ends the session if it is true, and the oldest running transaction.
 * Returns as cnd_pg_lasting_check(). */
static int
ask(struct cnd_session *s, const char *sql, uint32_t *ret_oldest)
{
	char oldest[16];
	uint8_t ends;
	int r;

	(void)cnd_pg_run_begin(s, NULL);
	r = cnd_pg_ask_more(s, sql, &ends, 1, oldest, sizeof(oldest));
	if (r < 0)
		return r;
	*ret_oldest = (uint32_t)strtoul(oldest, NULL, 10);
	return ends ? CENOTE_ERR_UNSUPPORTED : CENOTE_OK;
}

/* Look at the catalog. Returns as cnd_pg_lasting_check(). If the last look was complete, only new rows count. The
 * question about types comes first: if it ends the session, the slower question about code is not asked. */
static int
look(struct cnd_session *s, int is_loaded)
{
	struct cnd_pg_look *look = &s->look;
	unsigned since = look->is_compiled ? look->oldest : 2;
	char sql[sizeof(question_of_code) + 16];
	uint32_t oldest, later;
	int r;

	_Static_assert(sizeof(question_of_mixed) < sizeof(question_of_code), "room");
	(void)snprintf(sql, sizeof(sql),
		!is_loaded || s->keeps_compiled ? question_of_values
		: look->is_compiled             ? question_of_new
						: question_of_mixed,
		since);
	r = ask(s, sql, &oldest);
	if (r == CENOTE_OK && is_loaded) {
		(void)snprintf(sql, sizeof(sql),
			s->version < 140000 ? question_of_code_13 : question_of_code,
			since);
		r = ask(s, sql, &later);
	}
	if (r < 0)
		return r;
	look->oldest = oldest;
	look->is_compiled = (uint8_t)is_loaded;
	return CENOTE_OK;
}

int
cnd_pg_lasting_check(struct cnd_session *s, const struct cnd_pg_flags *answer)
{
	int is_loaded = answer->flags[STATE_IS_LOADED];

	if (!answer->has_come)
		return cnd_pg_broken(s, "no answer to a question");
	if (answer->flags[STATE_HAS_TEMP] ||
		(is_loaded && (s->client.lasting & CND_PG_SCAN_DEFINES) != 0))
		return CENOTE_ERR_UNSUPPORTED;
	if (!answer->flags[STATE_IS_NEW] && (!is_loaded || s->look.is_compiled))
		return CENOTE_OK;
	return look(s, is_loaded);
}
