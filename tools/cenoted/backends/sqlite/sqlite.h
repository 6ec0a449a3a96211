/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SQLITE_H
#define CND_SQLITE_H

#include <sqlite3.h>

#include "core/mem.h"
#include "core/sqlstate.h"

#include "../backend.h"
#include "../common/answer.h"
#include "../common/clock.h"

/*
 * The SQLite backend: one session is one open database file. What the files are:
 *
 *     module.c      the table of functions
 *     options.c     the keys of a server line
 *     session.c     login, attach, reset, state: the life of a session
 *     request.c     what all requests need while they run
 *     stats.c       whether the planner's statistics have changed
 *     authorizer.c  what SQL may do, and what it does to the session
 *     cache.c       prepared statements, kept by their text
 *     stmt.c        preparing statements
 *     columns.c     column descriptions and logical types
 *     values.c      binding parameters, writing rows
 *     exec.c        running statements; portals
 *     tx.c          transactions, savepoints, autocommit
 *     catalog.c     catalog queries
 *     scan.c        blanks, comments and first words of SQL
 *     errors.c      SQLite's codes to SQLSTATEs
 */

/* What a statement does to its session, as the authorizer saw it: bits of enum cenote_pin, and
 * these bits. */
#define CND_SQ_NOTE_PINS  0x0000ffffu
#define CND_SQ_NOTE_DIRTY 0x00010000u /* a reset must open the file again */
#define CND_SQ_NOTE_ONCE  0x00020000u /* must be compiled again for each use */

enum cnd_sq_mode {
	CND_SQ_MODE_RO,
	CND_SQ_MODE_RW,
	CND_SQ_MODE_RWC
};

/* The options of a server line. Text is borrowed from the line, except in a session. */
struct cnd_sq_options {
	const char *path;
	enum cnd_sq_mode mode;
	int64_t busy_timeout_ms;
	const char *journal_mode; /* NULL: stays as it is */
	const char *synchronous; /* NULL: SQLite's default */
	int foreign_keys;
	int64_t cache_size; /* as in PRAGMA cache_size; 0: SQLite's default */
	int64_t statement_cache;
	int attach;
};

/* What the first word of a statement tells. */
enum cnd_sq_verb_flag {
	CND_SQ_VERB_ROWS = 1, /* the tag counts the rows returned */
	CND_SQ_VERB_DML = 2, /* the tag counts the rows changed */
	CND_SQ_VERB_INSERT = 4,
	CND_SQ_VERB_IN_TX = 8, /* with autocommit off, a transaction begins before it */
	CND_SQ_VERB_BEGIN = 16,
	CND_SQ_VERB_COMMIT = 32,
	CND_SQ_VERB_ROLLBACK = 64, /* of the whole transaction */
	CND_SQ_VERB_VACUUM = 128
};

struct cnd_sq_verb {
	const char *word;
	const char *tag;
	uint32_t flags;
};

#define CND_SQ_TAG_MAX 48u

/* A prepared statement. The cache, a client's statement number and a portal may share it. */
struct cnd_sq_stmt {
	sqlite3_stmt *handle;
	char *sql; /* the key: the text from the statement's first word to the end of the request */
	size_t len;
	size_t used; /* how many bytes of `sql` are this statement */
	uint64_t hash;
	struct cnd_sq_stmt *next; /* in the same bucket */
	struct cnd_sq_stmt *newer, *older; /* in order of use */
	uint32_t refs;
	uint8_t is_cached;
	uint8_t is_running;
	uint8_t is_readonly;
	uint8_t is_explain;
	uint8_t has_dynamic; /* the first row decides the type of a column */
	uint32_t notes;
	const struct cnd_sq_verb *verb;
	char tag[CND_SQ_TAG_MAX];
	size_t tag_len;
	uint32_t n_params;
	uint32_t n_columns;
	struct cnp_column *columns; /* text borrowed from handle */
	uint8_t *dynamic; /* 1: the first row decides that column's type */
	uint32_t columns_version; /* grows when `columns` changes */
	int reprepared; /* how often SQLite has compiled it again */
};

/* A statement that has more rows to send, and the rest of its request. */
struct cnd_sq_portal {
	uint8_t format;
	struct cnd_sq_stmt *stmt;
	uint64_t n_rows; /* sent so far */
	char *rest; /* NULL: nothing follows */
	size_t rest_len;
	size_t rest_chars; /* characters of the request before `rest` */
};

struct cnd_sq_cache {
	struct cnd_sq_stmt **buckets; /* NULL: caching is off */
	size_t n_buckets; /* a power of two */
	size_t n, max;
	struct cnd_sq_stmt *newest, *oldest;
	uint64_t hits, misses;
};

/* The values of changes(), total_changes() and last_insert_rowid(), and autocommit. The client
 * carries them to another session. */
struct cnd_sq_carry {
	int64_t last_rowid;
	int64_t changes;
	int64_t total;
	uint8_t is_manual; /* autocommit off */
};

#define CND_SQ_CARRY_LEN 25u

struct cnd_sq_carry_out {
	uint8_t bytes[CND_SQ_CARRY_LEN];
	uint8_t is_told; /* state() reports it from now on; attach() clears this */
};

enum cnd_sq_fixed {
	CND_SQ_FIXED_BEGIN,
	CND_SQ_FIXED_BEGIN_IMMEDIATE,
	CND_SQ_FIXED_COMMIT,
	CND_SQ_FIXED_ROLLBACK,
	CND_SQ_FIXED_COUNT
};

struct cnd_session {
	const struct cnd_host *host;
	const struct cenote_allocator *mem;
	struct cnd_sq_options opt;
	sqlite3 *db;
	sqlite3_stmt *fixed[CND_SQ_FIXED_COUNT];

	/* The running request. */
	struct cnc_diag *diag;
	int stop; /* what the host's interrupted() returned */
	uint32_t noted; /* by the authorizer, since this was last cleared */
	const char *denied; /* why the authorizer refused; NULL if it did not */
	const char *denied_hint;
	int is_internal; /* SQL of our own is running: the authorizer allows everything */
	int is_catalog; /* a catalog query is running, which is our own SQL, but can be cancelled */
	int is_vacuum;
	const char *compiling; /* the text that is being compiled */
	size_t chars_before; /* characters of the request before the statement */

	/* The client's state. */
	uint32_t pins;
	uint8_t is_dirty;
	uint8_t is_manual;
	uint8_t is_tx_readonly;
	uint8_t is_tx_failed; /* SQLite itself rolled the client's transaction back */
	uint8_t has_changed; /* a statement that changes data has ended since the last reset */
	int64_t busy_timeout_ms;
	int64_t busy_since_ms;
	int64_t busy_asked; /* the argument of a PRAGMA busy_timeout just compiled; -1: none */
	uint8_t busy_read;
	struct cnd_sq_carry carried; /* what the client brought along at attach() */
	int64_t base_total; /* SQLite's own counters at the last reset */
	int64_t base_changes;

	struct cnd_sq_cache cache;
	struct cnd_sq_carry_out *carry_out;
	const char *database;
	struct cnd_option parameters[4];

	/* The statistics as of the opening, and the file's version as of the last look. */
	uint64_t stats;
	uint32_t file_version;
};

/* options.c */
int cnd_sq_options_read(const struct cnd_server_spec *spec,
	struct cnd_sq_options *ret_opt, struct cnc_diag *ret_diag);

/* session.c */
int cnd_sq_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);
int cnd_sq_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag);
void cnd_sq_logout(struct cnd_session *s);
void cnd_sq_info(const struct cnd_session *s, struct cnd_info *ret_info);
int cnd_sq_ping(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_sq_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag);
int cnd_sq_reset(struct cnd_session *s, struct cnc_diag *ret_diag);
void cnd_sq_state(const struct cnd_session *s, struct cnd_state *ret_state);
int cnd_sq_read_only(
	struct cnd_session *s, struct cnd_sink *sink, struct cnc_diag *ret_diag);

/* request.c */
/* Begin a request: errors go to `diag`, and nothing is noted yet. */
void cnd_sq_enter(struct cnd_session *s, struct cnc_diag *diag);
/* Add notes to the session's state. */
void cnd_sq_take_notes(struct cnd_session *s, uint32_t notes);
/* Run SQL of our own that has no result. Returns SQLite's code. */
int cnd_sq_internal(struct cnd_session *s, const char *sql);
/* SQLite calls these. They return 1 to stop (on_progress), or 0 to give up waiting (on_busy).
 * `user` is the session. */
int cnd_sq_on_progress(void *user);
int cnd_sq_on_busy(void *user, int count);
void cnd_sq_sleep(int64_t ms);

/* stats.c */
/* Remember the statistics that the session has just read. */
void cnd_sq_stats_note(struct cnd_session *s);
/* Whether a session that is opened now would read other statistics. */
int cnd_sq_stats_changed(struct cnd_session *s);

/* authorizer.c */
int cnd_sq_authorize(void *user, int action, const char *a, const char *b,
	const char *schema, const char *trigger);

/* scan.c */
/* Counts the bytes of blanks, comments and semicolons at the front. */
size_t cnd_sq_skip(const char *sql, size_t len);
/* Counts the characters (not bytes) of UTF-8 text. */
size_t cnd_sq_chars(const char *text, size_t len);
/* Find out what a statement is by its first words. `tag` gets at most CND_SQ_TAG_MAX bytes. Never
 * NULL. */
const struct cnd_sq_verb *cnd_sq_verb(const char *sql, size_t len, char *tag);

/* cache.c */
int cnd_sq_cache_init(struct cnd_session *s);
/* Find a kept statement with this text that is not running, and take a reference to it. NULL: there
 * is none. */
struct cnd_sq_stmt *cnd_sq_cache_find(
	struct cnd_session *s, const char *sql, size_t len, uint64_t hash);
void cnd_sq_cache_add(struct cnd_session *s, struct cnd_sq_stmt *st);
/* Drop all statements, and if `is_final`, the table too. */
void cnd_sq_cache_clear(struct cnd_session *s, int is_final);
uint64_t cnd_sq_hash(const char *sql, size_t len);

/* stmt.c */
/* Get the statement at the front of `sql` (which begins with its first word), with a reference to
 * it. */
int cnd_sq_stmt_get(struct cnd_session *s, const char *sql, size_t len,
	struct cnd_sq_stmt **ret_stmt);
/* Compile the same text for this one use. */
int cnd_sq_stmt_make(struct cnd_session *s, const char *sql, size_t len,
	struct cnd_sq_stmt **ret_stmt);
void cnd_sq_stmt_unref(struct cnd_session *s, struct cnd_sq_stmt *st);
int cnd_sq_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink);
int cnd_sq_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink);
void cnd_sq_forget(struct cnd_session *s, struct cnd_statement *statement);
/* A number for the columns as a client got them in this format; never 0. */
static inline uint64_t
cnd_sq_sent(const struct cnd_sq_stmt *st, uint8_t format)
{
	return (uint64_t)st->columns_version << 8 | format;
}

/* columns.c */
/* Bring st->columns up to date, after a step, or before the first step (has_row 0). */
int cnd_sq_columns(struct cnd_session *s, struct cnd_sq_stmt *st, int has_row);
/* Set the format in which the values will be sent. */
void cnd_sq_columns_format(struct cnd_sq_stmt *st, uint8_t format);
/* The logical type of a declared type. CENOTE_TYPE_NULL: the rows decide. */
uint8_t cnd_sq_type(const char *declared);
/* How many digits of the fraction a declared time has. -1: it does not say, or more than nine. */
int64_t cnd_sq_fraction(const char *declared);
/* The numbers in "DECIMAL(10,2)"; -1 for a number that is not there. */
void cnd_sq_type_size(const char *declared, int64_t *ret_first, int64_t *ret_second);

/* values.c */
int cnd_sq_bind(
	struct cnd_session *s, struct cnd_sq_stmt *st, const struct cnd_exec *exec);
int cnd_sq_put_row(const struct cnd_sq_stmt *st, uint8_t format, struct cnc_batch *batch);

/* Write one value as it is. */
int cnd_sq_put_plain(struct cnc_batch *w, sqlite3_stmt *handle, int i);

/* exec.c */
int cnd_sq_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_sq_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_sq_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int send_columns, struct cnd_sink *sink);
void cnd_sq_close_portal(struct cnd_session *s, struct cnd_portal *portal);
void cnd_sq_forget_portal(struct cnd_session *s, struct cnd_portal *portal);
/* Close all portals, or only those of statements that change data. */
void cnd_sq_close_portals(struct cnd_session *s, int only_writers);

/* tx.c */
int cnd_sq_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink);
int cnd_sq_commit(struct cnd_session *s, struct cnd_sink *sink);
int cnd_sq_rollback(struct cnd_session *s, struct cnd_sink *sink);
int cnd_sq_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink);
int cnd_sq_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink);
/* Call this after each statement. It notices when a transaction has ended, or when SQLite ended
 * it. */
void cnd_sq_after_statement(struct cnd_session *s, int was_in_tx, int has_failed);
/* Do what must be done before a statement runs. CENOTE_OK: run it. CENOTE_DONE: there is nothing to
 * run, and it has succeeded. Or a failure. */
int cnd_sq_before_statement(struct cnd_session *s, const struct cnd_sq_stmt *st);
int cnd_sq_in_tx(const struct cnd_session *s);

/* catalog.c */
int cnd_sq_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink);

/* errors.c */
/* Fill in the diagnostics from SQLite's code `rc` and its last message. Returns CENOTE_ERR_SERVER,
 * what interrupted() returned, or CENOTE_ERR_NOMEM. */
int cnd_sq_fail(struct cnd_session *s, int rc, int is_compiling);
/* Report an error of our own. Returns CENOTE_ERR_SERVER. `hint` may be NULL. */
int cnd_sq_refuse(struct cnd_session *s, const char *sqlstate, const char *hint,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
const char *cnd_sq_sqlstate(int extended, const char *message, int is_compiling);

#endif
