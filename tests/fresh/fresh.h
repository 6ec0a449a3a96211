/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FRESH_H
#define FRESH_H

#include <cenote/cenote.h>
#include <stdio.h>

#include "support/cnt_random.h"
#include "support/cnt_server.h"

/*
 * Fresh equivalence: whatever a client did, the next one must not be able to tell its session from
 * a new login. Random clients do random things on a pool with one worker; then a probe asks the
 * server for everything that a session can hold, and its answer is compared line by line
 * with what it was on a new login.
 */

/* ----------------------------------------------------------------------- probe ----- */

/* A question; each row of its answer is a line NAME|VALUE|VALUE, an error NAME!. */
struct fr_probe {
	const char *name;
	const char *sql; /* NULL: the end of the list */
	/* Of something that all sessions share, and that one which has just gone may hold for a moment
	 * more: the last value that it comes to, if this session has no part in it. NULL: of its own.
	 * Only the last question may have it. */
	const char *settled;
	/* What gives `sql`, as the superuser: one value that has those of all @@names in it, in order, with
	 * FR_BETWEEN in between. Each is a line NAME|@@name|VALUE. NULL: it is as it is. */
	const char *made_by;
};

#define FR_BETWEEN "\x1f"

/* Ask everything on a session. 0; -1: the session was lost, and that was said. */
int fr_probe(cenote_conn *conn, const struct fr_probe *probes, FILE *to);
/* The same on a login of our own, with the server's own library. */
int fr_probe_postgresql(const char *conninfo, const struct fr_probe *probes, FILE *to);
int fr_probe_mariadb(const char *socket, const char *user, const char *database,
	const struct fr_probe *probes, FILE *to);

/* One value of an answer, in the same form from every reader. NULL is NULL. */
void fr_put_value(FILE *to, const char *value, size_t len);
/* The one value of a question that was made. */
void fr_put_made(FILE *to, const struct fr_probe *probe, const char *value);

/* ---------------------------------------------------------------------- backends ----- */

struct fr_pool {
	const char *name;
	const char *user; /* of the server */
	int is_superuser;
};

/* What stays in a session over the server's own reset, and does not over a new login. */
struct fr_leftover {
	const char *name;
	size_t pool;
	const char *leave; /* SQL */
	const char *ask; /* gives one value */
	const char *left; /* which is this behind the server's reset */
	const char *fresh; /* and this in a new login */
};

/* What a client can leave, each by itself. NULL at the end. */
struct fr_planted {
	const char *sql;
	size_t pool;
};

struct fr_backend {
	const char *name; /* of the server */
	enum cnt_server_kind kind;
	int is_elsewhere; /* no server of ours, but the one that CENOTE_TEST_TDS names */
	/* SQL that the superuser runs in the database once; elsewhere the pool's user does, in batches between lines
	 * with "go". */
	const char *setup;
	const struct fr_pool *pools;
	size_t n_pools;
	/* SQL that removes the code that makes cenoted replace each client's session; NULL: none. */
	const char *tame;
	const struct fr_probe *probes;
	/* Statements: {a|b} is one of them, at random; ! at the begin: superusers only;
	 * ~: it ends the session. */
	const char *const *statements;
	size_t n_statements;
	const char *const *copies; /* begin a copy; NULL at the end */
	const char *slow; /* takes some time, and can be cancelled */
	/* What the server's own reset leaves, as docs/backends.md lists it: make the line as if
	 * it was not so. 0: the line does not count. */
	int (*forgive)(char *line);
	/* Each such thing by itself. NULL at the end. */
	const struct fr_leftover *leftovers;
	/* What the probe must see in the session of the client that did it. */
	const struct fr_planted *planted;
	/* What a client does that has a secret, and what the next one looks for: each of these must
	 * fail or give something else than the secret. */
	const char *const *enable_key;
	const char *const *look_for_key;
};

extern const struct fr_backend fr_postgresql;
extern const struct fr_backend fr_mariadb;
extern const struct fr_backend fr_tds;

/* --------------------------------------------------------------------- sequences ----- */

#define FR_MAX_STEPS 12u
#define FR_SQL_SIZE  768u

enum fr_how {
	FR_QUERY, /* the simple form */
	FR_BOUND, /* the extended form */
	FR_PREPARED,
	FR_PORTAL, /* some rows; the rest stays open */
	FR_PIPELINE, /* statements between FR_SEPARATOR; some answers are not read */
	FR_COPY, /* begun, and perhaps not ended */
	FR_CANCEL, /* cancelled while it runs */
	FR_CALL /* of the library; `number` says which */
};

#define FR_SEPARATOR '\x1e'

struct fr_step {
	enum fr_how how;
	uint32_t number;
	char sql[FR_SQL_SIZE];
};

enum fr_ending {
	FR_CLOSE,
	FR_SILENT, /* the socket is shut down, with a request on its way */
	FR_CUT, /* the connection ends behind so many bytes */
	FR_KILLED, /* the process is killed after so many microseconds */
	FR_N_ENDINGS
};

struct fr_sequence {
	struct fr_step steps[FR_MAX_STEPS];
	size_t n;
	enum fr_ending ending;
	uint32_t number; /* of FR_CUT and FR_KILLED */
	size_t pool;
};

void fr_generate(
	const struct fr_backend *backend, uint64_t seed, struct fr_sequence *ret_seq);
void fr_print(const struct fr_backend *backend, const struct fr_sequence *seq);
/* Be that client. What fails on the way is no failure. */
void fr_run(const struct fr_sequence *seq, const struct fr_backend *backend,
	const char *run_dir, const char *pool);

/* ------------------------------------------------------------------------- relay ----- */

/* Passes bytes between clients and a pool, and ends a connection after so many bytes of the client. */
struct fr_relay;

int fr_relay_start(const char *run_dir, const char *pool, struct fr_relay **ret_relay);
/* The run_dir that clients shall use, and the number of bytes for the next connection. */
const char *fr_relay_dir(struct fr_relay *relay);
void fr_relay_cut(struct fr_relay *relay, uint32_t bytes);
/* NULL: nothing is done. */
void fr_relay_stop(struct fr_relay *relay);

#endif
