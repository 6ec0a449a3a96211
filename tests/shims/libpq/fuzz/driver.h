/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DRIVER_H
#define DRIVER_H

#include "fuzz.h"
#include "pair.h"

/* The state of a driver while it carries out a sequence. */

#define FZ_CONNS     2u
#define FZ_RESULTS   4u
#define FZ_MAX_OIDS  64u
#define FZ_MAX_MASKS 4u
#define FZ_STATE     4096u

struct fz_conn {
	PGconn *conn;
	char state[FZ_STATE]; /* the state that was last printed */
	int has_settings; /* settings were changed on this connection */
	int has_copy; /* a COPY statement was prepared */
	int is_unsynced; /* a request was sent, without a sync or flush after it */
	int is_read_ahead; /* input was read before the program asked for a result */
	int is_line_left; /* part of a COPY line was read */
	int is_line_lost; /* after that, PQgetCopyData() read the whole line */
	FILE *trace;
	char *trace_text;
	size_t trace_size;
	void *instance;
};

/* A text that differs between drivers, and the word printed in its place. */
struct fz_mask {
	const char *text;
	const char *word;
};

struct fz {
	struct cnt_pq pq;
	const char *conninfo;
	const char *host, *port, *dbname, *user; /* the values in conninfo */
	struct fz_mask masks[FZ_MAX_MASKS];
	unsigned n_masks;
	Oid last_oid; /* the highest before the test; sequences create higher ones */
	struct fz_conn conns[FZ_CONNS];
	struct fz_conn *at; /* the connection of the current call */
	PGresult *results[FZ_RESULTS];
	unsigned next_result;
	Oid oids[FZ_MAX_OIDS]; /* object ids seen in this sequence */
	unsigned n_oids;
	Oid lo; /* the newest large object */
	int lo_fd;
	const char *word; /* the word a call uses; NULL: its number chooses one */
	int is_elsewhere; /* the server is not PostgreSQL */
	int release; /* of libpq, such as 15: later ones have more functions */
	FILE *out;
};

typedef void fz_carry_out(struct fz *z, const uint32_t n[4]);
#define FZ_DECLARE(name, weight) fz_carry_out fz_##name;
FZ_CALLS(FZ_DECLARE)

/* ---- driver.c ---- */

void fz_do_step(struct fz *z, const struct fz_step *step);

/* ---- show.c ---- */

void fz_say(struct fz *z, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print bytes in quotes, unprintable ones as \xNN, and NULL as "null". */
void fz_say_bytes(struct fz *z, const char *bytes, size_t len);
void fz_say_text(struct fz *z, const char *text);
/* Print " -> text". */
void fz_gave_text(struct fz *z, const char *text);
void fz_gave_int(struct fz *z, long long value);
/* Print an object id. For objects that the sequence created, print their order of creation instead. */
void fz_say_oid(struct fz *z, Oid oid);
/* Whether the connection attempt is still in progress. */
int fz_is_connecting(struct fz *z, const PGconn *conn);
/* Print everything that a result contains. */
void fz_show_result(struct fz *z, const PGresult *res);
/* Print the parts of a connection's state that changed since they were last printed. */
void fz_show_conn(struct fz *z, struct fz_conn *c);
/* Print the result, and keep it for later calls that take a result. */
void fz_keep_result(struct fz *z, PGresult *res);
/* Print what the trace contains so far. */
void fz_show_trace(struct fz *z, struct fz_conn *c);

/* ---- known.c ---- */

/* If docs/libpq-shim.md says that this call differs from the original, return the reason, else NULL. */
const char *fz_is_known(struct fz *z, const struct fz_step *step);
/* The same for a statement. */
const char *fz_known_query(struct fz *z, const char *query);

/* ---- calls_connect.c ---- */

void fz_finish_conn(struct fz *z, struct fz_conn *c);

/* ---- quiet.c ---- */

/* Whether an answer may still arrive. */
int fz_is_under_way(struct fz *z, const struct fz_conn *c);

/* ---- calls_send.c ---- */

/* Wait until PQgetResult() would not block. Returns 0 if it would block for ever. */
int fz_await(struct fz *z, struct fz_conn *c);

/* ---- words.c ---- */

#define FZ_WORDS(name)                                                                   \
	extern const char *const fz_##name[];                                            \
	extern const unsigned fz_n_##name
FZ_WORDS(queries);
FZ_WORDS(bound_queries); /* single statements with parameters */
FZ_WORDS(other_queries);
FZ_WORDS(other_bound);
FZ_WORDS(copies);
FZ_WORDS(names); /* names of statements and portals */
FZ_WORDS(values);
FZ_WORDS(pieces); /* pieces of COPY data */
FZ_WORDS(conninfos);
FZ_WORDS(bad_conninfos);
FZ_WORDS(encodings);
FZ_WORDS(texts);

#define FZ_PICK(name, number)    fz_##name[(number) % fz_n_##name]
/* The word of the current call, or the word with this number. */
#define FZ_WORD(z, name, number) ((z)->word != NULL ? (z)->word : FZ_PICK(name, number))
/* A statement, and a single statement with parameters, in the SQL of the server. */
const char *fz_query_word(const struct fz *z, uint32_t number);
const char *fz_bound_word(const struct fz *z, uint32_t number);

#endif
