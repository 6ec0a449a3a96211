/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_DIALECT_H
#define CPQ_DIALECT_H

#include "../pq.h"
#include "sql.h"
#include "wire.h"

/*
 * Pools whose server is not PostgreSQL. A libpq program must get the same behaviour as from
 * PostgreSQL. A connection to such a pool has a dialect (conn->inherited.dialect). A connection to
 * PostgreSQL has none, and skips all of this.
 *
 * dialect.c has the table of servers, and the facts that programs ask for. sql.c reads the texts of statements.
 * answers.c has the statements that the shim answers or refuses. statements.c keeps prepared statements and
 * their names. send.c sends requests, and binds.c converts their parameters. types.c converts column types,
 * values.c result values, and states.c SQLSTATEs. wire.c has binary forms.
 */

/* A type of the server that is more specific than its logical type. */
struct cpq_native_type {
	uint32_t native;
	uint32_t logical;
	Oid oid;
};

struct cpq_dialect {
	const char *backend; /* cenoted's name for the server */
	const char *title;
	enum cpq_placeholder placeholder;
	unsigned rules; /* how the server reads SQL: enum cnc_sql_rule */
	char name_quote; /* around identifiers */
	int makes_tags; /* the backend does not give tags in PostgreSQL's form */
	/* a text may be one statement to the server although it looks like several */
	int has_batches;
	int has_set; /* the server has PREPARE and SET statements */
	int is_mysql; /* the server has MySQL's error numbers, character sets and status */
	const struct cpq_native_type *types; /* ends with an entry of oid 0 */
};

/* ---- dialect.c ---- */

/* Start reading an SQL text by the server's current rules. */
struct cnc_sql cpq_dialect_sql(const PGconn *conn, const char *text);

/* ---- answers.c ---- */

enum cpq_answer_kind {
	CPQ_ANSWER_NONE, /* the shim does not answer, so send the text */
	CPQ_ANSWER_BEGIN,
	CPQ_ANSWER_COMMIT,
	CPQ_ANSWER_ROLLBACK,
	CPQ_ANSWER_DONE, /* nothing is left to do */
	CPQ_ANSWER_FORGET, /* deallocate a prepared statement */
	CPQ_ANSWER_REFUSE
};

struct cpq_answer {
	enum cpq_answer_kind kind;
	uint32_t isolation; /* isolation level of a transaction */
	uint32_t flags;
	const char *tag;
	const char *sqlstate; /* SQLSTATE of a refusal */
	/* the message of a refusal; or the name of a statement, "" for all statements */
	char text[256];
};

/* Decide how to handle a text. Only a text with a single statement is examined. */
void cpq_dialect_answer(
	const PGconn *conn, const char *sql, struct cpq_answer *ret_answer);

/* ---- statements.c ---- */

/* A prepared statement: the pool knows it by a number, the program by a name. */
struct cpq_statement {
	/* next in the connection's list; NULL after cpq_statement_forget() */
	struct cpq_statement *next;
	unsigned n_requests; /* how many requests use it */
	int is_known; /* the statement is in the connection's list */
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
/* The program no longer needs the statement, but requests that were sent may still use it. */
void cpq_statement_forget(PGconn *conn, struct cpq_statement *statement);
/* The type of a parameter (parameters count from 0). Returns 0 if the program did not declare it. */
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
