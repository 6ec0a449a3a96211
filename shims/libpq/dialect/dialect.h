/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_DIALECT_H
#define CPQ_DIALECT_H

#include "../pq.h"
#include "sql.h"
#include "wire.h"

/*
 * Pools of other servers than PostgreSQL: what a program of libpq needs to be told and to be spared.
 * A connection to such a pool has a dialect (conn->habits.dialect); PostgreSQL's has none, and passes
 * all of this by. dialect.c: what the servers are, and the facts that programs ask for. sql.c: the
 * texts of statements. answers.c: statements that are answered without the server, or refused.
 * statements.c: prepared statements and their names. send.c: sending. binds.c: values of parameters. types.c:
 * types of columns. values.c: values of results. states.c: SQLSTATEs. wire.c: binary forms.
 */

/* A type of a server that is told more exactly than its logical type says. */
struct cpq_native_type {
	uint32_t native;
	uint32_t logical;
	Oid oid;
};

struct cpq_dialect {
	const char *backend; /* as cenoted calls it */
	const char *title;
	enum cpq_placeholder placeholder;
	unsigned rules; /* of its SQL: enum cnc_sql_rule */
	char name_quote; /* around identifiers */
	int makes_tags; /* the backend gives no tags of PostgreSQL's kind */
	int has_batches; /* what one statement is, only the server knows */
	int has_set; /* SET is a statement of the server's, too */
	int is_mysql; /* its errors, character sets and status are MySQL's */
	const struct cpq_native_type *types; /* up to one of oid 0 */
};

/* ---- dialect.c ---- */

/* A text of SQL, as the server would read it now. */
struct cnc_sql cpq_dialect_sql(const PGconn *conn, const char *text);

/* ---- answers.c ---- */

enum cpq_answer_kind {
	CPQ_ANSWER_NONE, /* it is the server's */
	CPQ_ANSWER_BEGIN,
	CPQ_ANSWER_COMMIT,
	CPQ_ANSWER_ROLLBACK,
	CPQ_ANSWER_DONE, /* nothing is left to do */
	CPQ_ANSWER_FORGET, /* a prepared statement */
	CPQ_ANSWER_REFUSE
};

struct cpq_answer {
	enum cpq_answer_kind kind;
	uint32_t isolation; /* of a transaction */
	uint32_t flags;
	const char *tag;
	const char *sqlstate; /* of a refusal */
	char text[256]; /* its message; or the name of a statement, "" for all */
};

/* What is to be done with a text: it is looked at when it is a single statement. */
void cpq_dialect_answer(
	const PGconn *conn, const char *sql, struct cpq_answer *ret_answer);

/* ---- statements.c ---- */

/* A prepared statement: the pool knows it by a number, the program by a name. */
struct cpq_statement {
	struct cpq_statement
		*next; /* of the connection's; those that were forgotten have none */
	unsigned n_requests; /* that use it */
	int is_known; /* it is in the list */
	int is_prepared; /* the server has said so */
	char *name;
	cenote_stmt *stmt;
	struct cpq_places places;
	Oid *types; /* as the program declared them */
	int n_types;
	struct cpq_head head;
	int has_head;
};

struct cpq_statement *cpq_statement_find(const PGconn *conn, const char *name);
/* A new one, known to the connection. NULL: no memory. */
struct cpq_statement *cpq_statement_new(PGconn *conn, const char *name, const char *sql,
	struct cpq_places *places, const Oid *types, int n_types);
/* The program does not want it any more; requests on their way may. */
void cpq_statement_forget(PGconn *conn, struct cpq_statement *statement);
/* The type of a parameter, from 0: 0 where it was not declared. */
Oid cpq_statement_type(const struct cpq_statement *statement, int i);

/* ---- binds.c ---- */

/* Add a value as one of PostgreSQL's types, from its text or binary form; NULL bytes are NULL. */
enum cpq_outcome cpq_bind(
	cenote_params *params, Oid type, const char *bytes, size_t len, int is_binary);

/* ---- types.c ---- */

Oid cpq_dialect_type(const struct cpq_dialect *dialect, const cenote_column *column);
const char *cpq_type_name(Oid oid);

#endif
