/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_DIALECT_H
#define CPQ_DIALECT_H

#include "../pq.h"
#include "sql.h"
#include "wire.h"

/*
 * Pools of other servers than PostgreSQL: what a program of libpq must get, and what it
 * must not notice. A connection to such a pool has a dialect (conn->habits.dialect). A
 * connection to PostgreSQL has none, and skips all of this.
 *
 * dialect.c has the servers, and the facts that programs ask for; sql.c the texts of
 * statements; answers.c the statements that the shim answers or refuses; statements.c
 * prepared statements and their names; send.c sending; binds.c values of parameters;
 * types.c types of columns; values.c values of results; states.c SQLSTATEs; wire.c binary
 * forms.
 */

/* A type of the server that says more than its logical type. */
struct cpq_native_type {
	uint32_t native;
	uint32_t logical;
	Oid oid;
};

struct cpq_dialect {
	const char *backend; /* cenoted's name of it */
	const char *title;
	enum cpq_placeholder placeholder;
	unsigned rules; /* of its SQL: enum cnc_sql_rule */
	char name_quote; /* around identifiers */
	int makes_tags; /* the backend does not give tags in PostgreSQL's form */
	int has_batches; /* only the server knows what one statement is */
	int has_set; /* SET is a statement of the server's as well */
	int is_mysql; /* its errors, character sets and status are MySQL's */
	const struct cpq_native_type *types; /* ends with an entry of oid 0 */
};

/* ---- dialect.c ---- */

/* A text of SQL, as the server would read it now. */
struct cnc_sql cpq_dialect_sql(const PGconn *conn, const char *text);

/* ---- answers.c ---- */

enum cpq_answer_kind {
	CPQ_ANSWER_NONE, /* the server must answer */
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
	char text
		[256]; /* the message of a refusal; or the name of a statement, "" for all */
};

/* What to do with a text. Only a single statement is looked at. */
void cpq_dialect_answer(
	const PGconn *conn, const char *sql, struct cpq_answer *ret_answer);

/* ---- statements.c ---- */

/* A prepared statement: the pool knows it by a number, the program by a name. */
struct cpq_statement {
	struct cpq_statement
		*next; /* in the connection's list; NULL once it was forgotten */
	unsigned n_requests; /* how many requests use it */
	int is_known; /* it is in the list */
	int is_prepared; /* the server has prepared it */
	char *name;
	cenote_stmt *stmt;
	struct cpq_places places;
	Oid *types; /* as the program declared them */
	int n_types;
	struct cpq_head head;
	int has_head;
};

struct cpq_statement *cpq_statement_find(const PGconn *conn, const char *name);
/* Make a statement, known to the connection. NULL: no memory. */
struct cpq_statement *cpq_statement_new(PGconn *conn, const char *name, const char *sql,
	struct cpq_places *places, const Oid *types, int n_types);
/* The program does not need it any more; requests that were sent may. */
void cpq_statement_forget(PGconn *conn, struct cpq_statement *statement);
/* The type of a parameter, from 0. 0: it was not declared. */
Oid cpq_statement_type(const struct cpq_statement *statement, int i);

/* ---- binds.c ---- */

/* Add a value as one of PostgreSQL's types, from its text or binary form. NULL bytes
 * are NULL. */
enum cpq_outcome cpq_bind(
	cenote_params *params, Oid type, const char *bytes, size_t len, int is_binary);

/* ---- types.c ---- */

Oid cpq_dialect_type(const struct cpq_dialect *dialect, const cenote_column *column);
const char *cpq_type_name(Oid oid);

#endif
