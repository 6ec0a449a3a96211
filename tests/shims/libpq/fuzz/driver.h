/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DRIVER_H
#define DRIVER_H

#include "fuzz.h"
#include "pair.h"

/* What a driver has in its hands while it carries out a sequence. */

#define FZ_CONNS     2u
#define FZ_RESULTS   4u
#define FZ_MAX_OIDS  64u
#define FZ_MAX_MASKS 4u
#define FZ_STATE     4096u

struct fz_conn {
	PGconn *conn;
	char state[FZ_STATE]; /* what was last written of it */
	int has_settings; /* it was given some of its own */
	int has_copy; /* a copy was prepared */
	int is_unsynced; /* something was sent that no synchronisation or flush followed */
	int is_read_ahead; /* what comes was read before it was asked for */
	int is_line_left; /* of a line of a copy a part was taken */
	int is_line_lost; /* … and then the whole of it by PQgetCopyData() */
	FILE *trace;
	char *trace_text;
	size_t trace_size;
	void *instance;
};

/* A text of this driver's own, and the word that stands for it. */
struct fz_mask {
	const char *text;
	const char *word;
};

struct fz {
	struct cnt_pq pq;
	const char *conninfo;
	const char *host, *port, *dbname, *user; /* of it */
	struct fz_mask masks[FZ_MAX_MASKS];
	unsigned n_masks;
	Oid last_oid; /* of what was there before: higher ones are made by a sequence */
	struct fz_conn conns[FZ_CONNS];
	struct fz_conn *at; /* the one that the call is about */
	PGresult *results[FZ_RESULTS];
	unsigned next_result;
	Oid oids[FZ_MAX_OIDS]; /* those that were seen in this sequence */
	unsigned n_oids;
	Oid lo; /* the large object made last */
	int lo_fd;
	const char *
		word; /* the one that a call takes, whatever its number; NULL: by the number */
	int is_elsewhere; /* the server is none of PostgreSQL's */
	FILE *out;
};

typedef void fz_carry_out(struct fz *z, const uint32_t n[4]);
#define FZ_DECLARE(name, weight) fz_carry_out fz_##name;
FZ_CALLS(FZ_DECLARE)

/* ---- driver.c ---- */

void fz_do_step(struct fz *z, const struct fz_step *step);

/* ---- show.c ---- */

void fz_say(struct fz *z, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes in quotes, those that do not print as \xNN; NULL is "null". */
void fz_say_bytes(struct fz *z, const char *bytes, size_t len);
void fz_say_text(struct fz *z, const char *text);
/* " -> text" */
void fz_gave_text(struct fz *z, const char *text);
void fz_gave_int(struct fz *z, long long value);
/* An object's id: those that the sequence made by their order. */
void fz_say_oid(struct fz *z, Oid oid);
/* It is neither connected nor given up. */
int fz_is_connecting(struct fz *z, const PGconn *conn);
/* All that a result tells. */
void fz_show_result(struct fz *z, const PGresult *res);
/* What a connection tells that is other than it was. */
void fz_show_conn(struct fz *z, struct fz_conn *c);
/* Write it down, and keep it for the calls about results. */
void fz_keep_result(struct fz *z, PGresult *res);
/* What a trace has so far. */
void fz_show_trace(struct fz *z, struct fz_conn *c);

/* ---- known.c ---- */

/* A call that is known to give something else, by docs/libpq-shim.md: why; NULL: it is none. */
const char *fz_is_known(struct fz *z, const struct fz_step *step);
/* The same of a statement. */
const char *fz_known_query(struct fz *z, const char *query);

/* ---- calls_connect.c ---- */

void fz_finish_conn(struct fz *z, struct fz_conn *c);

/* ---- quiet.c ---- */

/* Whether somebody may be about to answer. */
int fz_is_under_way(struct fz *z, const struct fz_conn *c);

/* ---- calls_send.c ---- */

/* Wait until PQgetResult() would not; 0: it would for ever. */
int fz_await(struct fz *z, struct fz_conn *c);

/* ---- words.c ---- */

#define FZ_WORDS(name)                                                                   \
	extern const char *const fz_##name[];                                            \
	extern const unsigned fz_n_##name
FZ_WORDS(queries);
FZ_WORDS(bound_queries); /* with parameters, and one at a time */
FZ_WORDS(other_queries);
FZ_WORDS(other_bound);
FZ_WORDS(copies);
FZ_WORDS(names); /* of statements and portals */
FZ_WORDS(values);
FZ_WORDS(pieces); /* of a copy */
FZ_WORDS(conninfos);
FZ_WORDS(bad_conninfos);
FZ_WORDS(encodings);
FZ_WORDS(texts);

#define FZ_PICK(name, number)    fz_##name[(number) % fz_n_##name]
/* The one that the call is about. */
#define FZ_WORD(z, name, number) ((z)->word != NULL ? (z)->word : FZ_PICK(name, number))
/* A statement, and one with parameters or one at a time, as the server may read them. */
const char *fz_query_word(const struct fz *z, uint32_t number);
const char *fz_bound_word(const struct fz *z, uint32_t number);

#endif
