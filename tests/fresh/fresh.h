/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FRESH_H
#define FRESH_H

#include <cenote/cenote.h>
#include <stdbool.h>
#include <stdio.h>

#include "support/cnt_random.h"
#include "support/cnt_server.h"

/*
 * Fresh equivalence: whatever a client did, the next one must not be able to tell its session from
 * a new login. Random clients do random things on a pool with one worker. Then a probe asks the
 * server for everything that a session can hold. The answers are compared line by line with the
 * answers on a new login.
 */

/* ----------------------------------------------------------------------- probe ----- */

/* A question to the server. Each row of the answer becomes a line NAME|VALUE|VALUE, an error
 * becomes NAME!. In a pool with mode = transaction, the client may get another session between two questions. Then MySQL's
 * backend refuses to tell what the statement before has left, and the question becomes NAME?. */
struct fr_probe {
	const char *name;
	const char *sql; /* NULL: the end of the list */
	/* For a question about something that all sessions share: the last value of the row once no
	 * other session holds any of it. A session that has just ended may hold some for a moment,
	 * so the probe asks again. NULL: the answer is about this session alone. Only the last
	 * question may set this. */
	const char *settled;
	/* A statement for the superuser, whose one value is the text of `sql`. That `sql` then
	 * gives the values of all @@names in it as one value, in order, with FR_BETWEEN in between.
	 * Each becomes a line NAME|@@name|VALUE. NULL: `sql` is complete. */
	const char *made_by;
};

#define FR_BETWEEN "\x1f"

/* Ask all questions on a session. Returns 0, or -1 after printing that the session was lost. */
int fr_probe(cenote_conn *conn, const struct fr_probe *probes, FILE *to);
/* Ask the same questions on a separate login, with the server's own library. */
int fr_probe_postgresql(const char *conninfo, const struct fr_probe *probes, FILE *to);
int fr_probe_mariadb(const char *socket, const char *user, const char *database,
	const struct fr_probe *probes, FILE *to);

/* Write one value of an answer. Every reader uses this form. NULL is written as NULL. */
void fr_put_value(FILE *to, const char *value, size_t len);
/* Write the value of a question with `made_by`, one line for each @@name. */
void fr_put_made(FILE *to, const struct fr_probe *probe, const char *value);

/* ---------------------------------------------------------------------- backends ----- */

struct fr_pool {
	const char *name;
	const char *user; /* the user of the server that the pool logs in as */
	int is_superuser;
};

/* Something that a session keeps over the server's own reset, but not over a new login. */
struct fr_leftover {
	const char *name;
	size_t pool;
	const char *leave; /* SQL that leaves it */
	const char *ask; /* SQL that gives one value */
	const char *left; /* the value of `ask` after the server's reset */
	const char *fresh; /* the value of `ask` in a new login */
};

/* A statement that leaves something in a session. `sql` is NULL at the end of the list. */
struct fr_planted {
	const char *sql;
	size_t pool;
};

struct fr_backend {
	const char *name; /* of the server */
	enum cnt_server_kind kind;
	int is_elsewhere; /* use the server that CENOTE_TEST_TDS names, instead of starting one */
	/* SQL that the superuser runs in the database once. With `is_elsewhere`, the pool's user
	 * runs it, in batches between lines with "go". */
	const char *setup;
	const struct fr_pool *pools;
	size_t n_pools;
	/* SQL that removes the functions because of which cenoted replaces the session after each
	 * client; NULL: the backend has none. */
	const char *tame;
	const struct fr_probe *probes;
	/* Statements: {a|b} is one of them, at random; a leading ! is for superusers only; a
	 * leading ~ ends the session. */
	const char *const *statements;
	size_t n_statements;
	const char *const *copies; /* statements that begin a copy; NULL at the end */
	const char *slow; /* a statement that takes some time and can be cancelled */
	/* Remove from a line of the probe what the server's own reset leaves, as docs/backends.md
	 * lists it. Returns 0 if the line does not count at all. */
	int (*forgive)(char *line);
	/* The entries of that list. `name` is NULL at the end. */
	const struct fr_leftover *leftovers;
	/* The probe must see each of these in the session of the client that ran it. */
	const struct fr_planted *planted;
	/* The first list is what a client with a secret key does. The second is what the next
	 * client tries. Each statement of the second must fail or give an empty value. */
	const char *const *enable_key;
	const char *const *look_for_key;
};

extern const struct fr_backend fr_postgresql;
extern const struct fr_backend fr_mariadb;
extern const struct fr_backend fr_mysql; /* in place of MariaDB with CNT_MYSQL_BIN */
extern const struct fr_backend fr_tds;

/* --------------------------------------------------------------------- sequences ----- */

#define FR_MAX_STEPS 12u
#define FR_SQL_SIZE  768u

enum fr_how {
	FR_QUERY, /* the simple form */
	FR_BOUND, /* the extended form */
	FR_PREPARED,
	FR_PORTAL, /* some rows are read; the rest stays open */
	FR_PIPELINE, /* statements between FR_SEPARATOR; some answers are not read */
	FR_COPY, /* begun, and perhaps not ended */
	FR_CANCEL, /* cancelled while it runs */
	FR_CALL /* a call of the library that `number` selects */
};

#define FR_SEPARATOR '\x1e'

struct fr_step {
	enum fr_how how;
	uint32_t number;
	char sql[FR_SQL_SIZE];
};

enum fr_ending {
	FR_CLOSE,
	FR_SILENT, /* the socket is shut down while a request is on its way */
	FR_CUT, /* the connection ends after `number` bytes */
	FR_KILLED, /* the process is killed after `number` microseconds */
	FR_N_ENDINGS
};

struct fr_sequence {
	struct fr_step steps[FR_MAX_STEPS];
	size_t n;
	enum fr_ending ending;
	uint32_t number; /* for FR_CUT and FR_KILLED */
	size_t pool;
};

void fr_generate(
	const struct fr_backend *backend, uint64_t seed, struct fr_sequence *ret_seq);
void fr_print(const struct fr_backend *backend, const struct fr_sequence *seq);
/* Run the sequence as a client. Errors on the way are no failures. With `wants_loan` the client first sends requests
 * until the worker lends the session. Returns whether it was lent when the sequence began. */
bool fr_run(const struct fr_sequence *seq, const struct fr_backend *backend,
	const char *run_dir, const char *pool, bool wants_loan);

/* ------------------------------------------------------------------------- relay ----- */

/* Passes bytes between clients and a pool, and ends a connection after a number of bytes from the
 * client. */
struct fr_relay;

int fr_relay_start(const char *run_dir, const char *pool, struct fr_relay **ret_relay);
/* The run_dir that clients use, and the number of bytes for the next connection. */
const char *fr_relay_dir(struct fr_relay *relay);
void fr_relay_cut(struct fr_relay *relay, uint32_t bytes);
/* Accepts NULL. */
void fr_relay_stop(struct fr_relay *relay);

#endif
