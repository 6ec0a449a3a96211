/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PG_CODE_H
#define CND_PG_CODE_H

#include "pg.h"

/*
 * Parts of questions about the code in a database, for settle.c and lasting.c. Each part is SQL as a string literal.
 * The first %u of a question stands for the last look (LAST_LOOK). `p` is the row of the catalog table.
 */

#define STRING_OF(...)       STRING_OF_AGAIN(__VA_ARGS__)
#define STRING_OF_AGAIN(...) #__VA_ARGS__
#define OR_WORD(word)        "|" #word

/* ---- Functions whose body is a text ---- */

/* A literal without a backslash: a backslash could hide a word. */
#define LITERAL "'[^'\\\\]*'"

/*
 * The function's body without the parts that are harmless by their own text. These are set_config() of a name that
 * pg_settings lists, set_config() of literals and names with `true` as last argument, and EXECUTE of one literal.
 */
#define BODY                                                                             \
	"pg_catalog.regexp_replace(pg_catalog.regexp_replace(prosrc,"                    \
	" $$\\mset_config\\s*\\(\\s*('(?!seed')[^'.\\\\]*'\\s*,|" LITERAL                \
	"\\s*,\\s*(" LITERAL "|[\\w.$]+)\\s*,\\s*true\\s*\\))$$, '', 'gi'),"             \
	" $$\\mexecute\\s*(" LITERAL ")\\s*(;|into\\M|using\\M)$$, '\\1 \\2', 'gi')"

/* The function composes statements while it runs. */
#define MAKES            "\\mexecute\\M|\\mdo\\s*([$']|[eu]&?'|language\\M)"
#define MAKES_STATEMENTS "$$" MAKES "$$"

#define IS_OF_EXTENSION                                                                  \
	"EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid"                     \
	" OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass"              \
	" AND d.objid OPERATOR(pg_catalog.=) p.oid"                                      \
	" AND d.deptype OPERATOR(pg_catalog.=) 'e')"

/* ---- Languages and extensions ---- */

/* They keep values of their own. The OIDs of languages that initdb made are below 16384. */
#define KEEPS_VALUES                                                                     \
	"EXISTS (SELECT FROM pg_catalog.pg_language WHERE oid"                           \
	" OPERATOR(pg_catalog.>=) 16384)"                                                \
	" OR EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname"                  \
	" OPERATOR(pg_catalog.=) 'isn' OR extname OPERATOR(pg_catalog.=) 'dblink')"

/* ---- Expressions, which the server keeps as trees ---- */

#define IDS STRING_OF(CND_PG_HIDING_FUNCTIONS)

/* A call in a tree names its function by OID. The question's LAST_LOOK says which functions count. */
#define CALLS(tree)                                                                      \
	"(" tree ")::pg_catalog.text OPERATOR(pg_catalog.~) (SELECT calls FROM "         \
	"last_look)"

#define IS_ONE(column)                                                                   \
	column " OPERATOR(pg_catalog.=) ANY ((SELECT ids FROM "                          \
	       "last_look)::pg_catalog.oid[])"

/* Not made by initdb, and new since the last look. */
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
		IS_ONE("aggtransfn") " OR " IS_ONE("aggfinalfn") " OR " IS_ONE(          \
			"aggmtransfn") " OR " IS_ONE("aggminvtransfn"))

/* ---- Rows that came after the last look ---- */

/*
 * A question looks only at rows that came after the last look. The transaction number of a row that was not committed at
 * the last look is at least the oldest number of that time. The number 2 is older than all others.
 */
#define LAST_LOOK                                                                        \
	"WITH last_look (age, calls, ids) AS (SELECT"                                    \
	" pg_catalog.age('%u'::pg_catalog.xid),"                                         \
	" pg_catalog.concat(':(op)?funcid (', pg_catalog.translate('" IDS                \
	"', ', ', '|'), ') '), '{" IDS "}')"
#define THIS_LOOK                                                                        \
	"pg_catalog.txid_snapshot_xmin(pg_catalog.txid_current_snapshot())"              \
	" OPERATOR(pg_catalog.%%) 4294967296"

#endif
