/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Proves that the code of the database leaves nothing in a session that the session's client could miss. Then a
 * statement that only reads and writes rows holds no session, and settle.c need not ask what it left. Such a statement
 * may call any code: functions by name or by an operator, views, rules, triggers, defaults, constraints, policies.
 *
 * The proof rests on the same catalogs as the questions of settle.c. But settle.c lets code set what the server lists,
 * since it then reads the lists. Here code may set nothing at all. What is not known to be harmless counts as harmful.
 *
 * A proof is good for a second. For that long, a session does not see code that another session has just made. If that
 * code sets something, its client may lose it. The next client sees nothing of it: the reset does not rest on this file.
 * exec.c and settle.c call it. It owns s->proof.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "code.h"
#include "session.h"

/* How long a proof is good. */
#define PROVED_MS 1000
/* How long after a look that found harmful code the session does not look again. */
#define AGAIN_MS  60000

/* Statements of this process that may have made or removed code, on any session: a hint that ends a proof early. Threads of
 * a program may have a borrowed session each. */
static _Atomic uint32_t n_changes;

/* ---- Bodies that are a text ---- */

/* Patterns count only ASCII as letters. */
#define SOURCE "(prosrc COLLATE pg_catalog.\"C\")"

#define MATCHES(text, pattern) text " OPERATOR(pg_catalog.~*) $$" pattern "$$"

/*
 * A text without the SETs of UPDATEs: between UPDATE and its SET there are names only. The words after which PL/pgSQL
 * begins a statement become semicolons first, since a SET after one of them is a command. They count at the end of a word,
 * too: servers before version 15 read `1then` as two.
 */
#define WITHOUT_UPDATES(text)                                                            \
	"pg_catalog.regexp_replace(pg_catalog.regexp_replace(" text                      \
	", $$(?:then|else|loop|begin)\\M$$, ';', 'gi'),"                                 \
	" $$\\mupdate[\\s\\w.]*\\mset\\M$$, '', 'gi')"

#define WITHOUT_COMMENTS "pg_catalog.regexp_replace(" SOURCE ", '--[^\\n\\r]*', '', 'g')"

/* The command SET, unless its effect ends with the transaction. */
#define IS_SET "\\mset\\M(?!\\s+(?:local|constraints|transaction)\\s+[[:alpha:]_])"

/*
 * Whether the text has the command SET. An UPDATE in a comment could hide a command in the next line. So if there may be
 * one, the text is searched without comments, too. What seems a comment may be in a literal, so it is also searched with
 * them.
 */
#define SETS                                                                             \
	MATCHES(SOURCE, "\\mset\\M")                                                     \
	" AND (" MATCHES(WITHOUT_UPDATES(SOURCE), IS_SET) " OR " MATCHES(SOURCE,         \
		"--[^\\n\\r]*update") " AND " MATCHES(WITHOUT_UPDATES(WITHOUT_COMMENTS), \
		IS_SET) ")"

/* A text without set_config() whose effect ends with the transaction, and without EXECUTE of a literal. The literals stay:
 * what looks like one may be code between two others. */
#define TEXT                                                                             \
	"pg_catalog.regexp_replace(pg_catalog.regexp_replace(" SOURCE                    \
	", $$\\mset_config\\s*\\(\\s*(?!'seed)(" LITERAL ")\\s*,\\s*(" LITERAL           \
	"|[\\w.$]+)\\s*,\\s*true\\s*\\)$$, '\\1 \\2', 'gi'),"                            \
	" $$\\mexecute\\s*(" LITERAL ")\\s*(;|into\\M|using\\M)$$, '\\1 \\2', 'gi')"

/* Words of commands and functions that leave something, or define an object; and names with escapes. */
#define LEAVES                                                                           \
	"\\m(?:set_config|set_limit|pg_settings|pg_temp\\w*|temp|temporary|create"       \
	"|alter|drop|import|listen|prepare|deallocate|discard|reset|load|hold"           \
	"|pg_(?:try_)?advisory_lock\\w*" CND_PG_HIDING_WORDS(OR_WORD) ")\\M|u&\""

/* Extensions whose functions in C are known to leave nothing, but for set_limit(). */
#define IS_OF_HARMLESS_EXTENSION                                                         \
	"EXISTS (SELECT FROM pg_catalog.pg_depend d, pg_catalog.pg_extension e"          \
	" WHERE d.classid OPERATOR(pg_catalog.=)"                                        \
	" 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid"                         \
	" OPERATOR(pg_catalog.=) p.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'"         \
	" AND e.oid OPERATOR(pg_catalog.=) d.refobjid AND e.extname"                     \
	" OPERATOR(pg_catalog.=) ANY ('{pgcrypto,uuid-ossp,pg_stat_statements,"          \
	"pg_trgm}'::pg_catalog.name[]))"

/*
 * The OIDs of the languages internal, C and SQL are 12 to 14. A function in C that is declared to be without effects is
 * trusted. Languages other than these and PL/pgSQL are harmful by themselves (KEEPS_VALUES).
 */
#define MAY_LEAVE                                                                        \
	"CASE WHEN prolang OPERATOR(pg_catalog.=) 13 THEN provolatile"                   \
	" OPERATOR(pg_catalog.=) 'v' AND NOT " IS_OF_HARMLESS_EXTENSION                  \
	" ELSE " MATCHES("body", LEAVES) " OR " MATCHES("body", MAKES) " OR " SETS       \
								       " END"

/* ---- Expressions, which the server keeps as trees ---- */

#define ALL_IDS STRING_OF(CND_PG_HIDING_FUNCTIONS, CND_PG_LOCKING_FUNCTIONS)

/* As LAST_LOOK, with the functions that leave something. An UPDATE of the view pg_settings calls set_config(), too, so a
 * tree that names this view counts as a call. */
#define LAST_PROOF                                                                       \
	"WITH set_limit (ids) AS (SELECT ARRAY(SELECT oid FROM pg_catalog.pg_proc"       \
	" WHERE proname OPERATOR(pg_catalog.=) 'set_limit'"                              \
	" UNION ALL SELECT pg_catalog.unnest('{" ALL_IDS "}'::pg_catalog.oid[]))),"      \
	" last_look (age, calls, ids) AS (SELECT pg_catalog.age('%u'::pg_catalog.xid),"  \
	" pg_catalog.concat(':(op)?funcid (', pg_catalog.array_to_string(ids, '|'),"     \
	" ') |:relid ', 'pg_catalog.pg_settings'::pg_catalog.regclass::pg_catalog.oid,"  \
	" ' '), ids FROM set_limit)"

#define HARMFUL                                                                          \
	"EXISTS (SELECT FROM pg_catalog.pg_proc p, LATERAL (SELECT " TEXT                \
	" OFFSET 0) b (body)"                                                            \
	" WHERE " IS_NEW("p.oid") " AND prokind OPERATOR(pg_catalog.<>) 'a'"             \
				  " AND " MAY_LEAVE ")" EXPRESSIONS_LEAVE IN_TABLE(      \
					  "pg_cast", "oid", IS_ONE("castfunc"))

/* ---- The look ---- */

/* From version 14 on, the body of a function may be a tree (prosqlbody). */
static const char question_13[] =
	LAST_PROOF " SELECT " KEEPS_VALUES " OR " HARMFUL ", " THIS_LOOK;
static const char question[] = LAST_PROOF " SELECT " KEEPS_VALUES " OR " HARMFUL IN_TABLE(
	"pg_proc", "oid", CALLS("prosqlbody")) ", " THIS_LOOK;

int
cnd_pg_is_proved(const struct cnd_session *s)
{
	const struct cnd_pg_proof *p = &s->proof;

	return p->is_harmless && p->n_changes == n_changes &&
	       cnd_clock_ms() - p->asked_ms < PROVED_MS;
}

void
cnd_pg_proof_end(void)
{
	n_changes++;
}

/* Whether the last look found harmful code, and it is too early to look again. */
static int
is_known_harmful(const struct cnd_pg_proof *p, int64_t now)
{
	return p->asked_ms != 0 && !p->is_harmless && p->n_changes == n_changes &&
	       now - p->asked_ms < AGAIN_MS;
}

int
cnd_pg_proof_ask(struct cnd_session *s, char sql[CND_PG_PROOF_SQL_MAX])
{
	struct cnd_pg_proof *p = &s->proof;
	int64_t now = cnd_clock_ms();

	_Static_assert(sizeof(question) + 16 <= CND_PG_PROOF_SQL_MAX, "room");
	if (is_known_harmful(p, now))
		return 0;
	(void)snprintf(sql, CND_PG_PROOF_SQL_MAX,
		s->version < 140000 ? question_13 : question,
		(unsigned)(p->last_look != 0 ? p->last_look : 2));
	/* without an answer, there is no proof */
	p->asked_ms = now;
	p->n_changes = n_changes;
	p->is_harmless = 0;
	return 1;
}

void
cnd_pg_proof_take(struct cnd_session *s, int is_harmful, const char *look)
{
	s->proof.is_harmless = !is_harmful;
	s->proof.last_look = is_harmful ? 0 : (uint32_t)strtoul(look, NULL, 10);
}
