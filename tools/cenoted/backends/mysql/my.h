/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MY_H
#define CND_MY_H

#include "compat.h"

#include "core/arena.h"
#include "core/mem.h"
#include "core/sqlstate.h"

#include "../../backend.h"

/*
 * The MySQL and MariaDB backend: one session is one connection of the client library. What the
 * files are:
 *
 *     module.c      the table of functions
 *     compat.c      what differs between MariaDB's and Oracle's library
 *     options.c     the keys of a server line, and the password file
 *     session.c     login, attach, reset, state: the life of a session
 *     wait.c        waiting that can be interrupted; cancelling
 *     query.c       queries in the text protocol, and results of any number
 *     stmt.c        prepared statements, portals
 *     infile.c      LOAD DATA LOCAL INFILE
 *     tx.c          transactions, savepoints, autocommit
 *     types.c       column descriptions and logical types
 *     values.c      binding parameters, writing rows
 *     catalog.c     catalog queries
 *     scan.c        what the text of a statement may leave in its session
 *     errors.c      the server's errors
 */

/* ---- what a statement leaves, as far as its text tells (scan.c) ---- */

enum cnd_my_note {
	CND_MY_NOTE_DATABASE = 1, /* USE: the current database */
	CND_MY_NOTE_CHARSET = 2, /* SET NAMES and what else sets a character set */
	CND_MY_NOTE_OPAQUE =
		4, /* may have done anything: CALL, EXECUTE, stored functions */
	CND_MY_NOTE_RELOGIN = 8, /* leaves what only a new login clears */
	CND_MY_NOTE_SEVERAL = 16, /* more than one statement */
	CND_MY_NOTE_EMPTY = 32 /* no statement, but blanks and comments */
};

struct cnd_my_scan {
	uint32_t pins; /* bits of enum cenote_pin */
	uint32_t notes; /* bits of enum cnd_my_note */
};

/* How the session reads SQL: bits for cnd_my_scan(). */
enum cnd_my_lexis {
	CND_MY_LEXIS_ANSI_QUOTES = 1, /* "a" is a name */
	CND_MY_LEXIS_NO_BACKSLASH = 2 /* \ in a text is nothing special */
};

/* Conservative: what it cannot read, it takes for the worst. */
void cnd_my_scan(
	const char *sql, size_t len, uint32_t lexis, struct cnd_my_scan *ret_scan);

/* ---- options ---- */

/* A server line, read. Text is borrowed from the line, except in a session. */
struct cnd_my_options {
	const char *host;
	const char *socket;
	const char *dbname;
	const char *user;
	const char *password;
	const char *passfile;
	const char *charset;
	const char *init_command;
	const char *default_file;
	const char *default_group;
	const char *plugin_dir;
	const char *bind_address;
	const char *tls_ca;
	const char *tls_capath;
	const char *tls_cert;
	const char *tls_key;
	const char *tls_passphrase;
	const char *tls_cipher;
	const char *tls_crl;
	const char *tls_crlpath;
	const char *tls_version;
	const char *tls_fp;
	const char *tls_fplist;
	unsigned port;
	unsigned connect_timeout; /* seconds; 0: the library's */
	unsigned read_timeout;
	unsigned write_timeout;
	int tls_mode; /* enum cnd_my_tls */
	uint8_t tls_verify;
	uint8_t is_compressed;
	uint8_t is_infile_allowed;
	uint8_t has_found_rows;
	uint8_t has_cleartext;
};

enum cnd_my_tls {
	CND_MY_TLS_PREFERRED,
	CND_MY_TLS_DISABLED,
	CND_MY_TLS_REQUIRED
};

/* ---- the session ---- */

struct cnd_session {
	const struct cnd_host *host;
	const struct cenote_allocator *mem;
	MYSQL *my;
	char *server; /* how messages call it: "db1:3306" */

	/* The request that is running. */
	struct cnc_diag *diag;
	struct cnc_arena arena; /* dropped at its end */
	int stop; /* what the host said; 0: go on */
};

/* types.c */
/* Logical type: enum cenote_type. */
uint8_t cnd_my_type(const MYSQL_FIELD *field);
/* Text is borrowed from the field. `format`: of the values. */
void cnd_my_column(
	const MYSQL_FIELD *field, uint8_t format, struct cnp_column *ret_column);

/* values.c; columns[i].format says in which form a value goes out. All CENOTE_OK, CENOTE_ERR_LIMIT,
 * CENOTE_ERR_NOMEM, or CENOTE_ERR_SERVER with s->diag filled; a row that failed is taken back. */
/* A row of the text protocol; not in binary format. */
int cnd_my_put_text(struct cnd_session *s, const struct cnp_column *columns, uint32_t n,
	MYSQL_ROW row, const unsigned long *lengths, struct cnc_batch *w);
/* Room for the rows of a prepared statement; values.c's own. */
struct cnd_my_rows;
/* Bind it to a statement that was executed (mysql_stmt_bind_result). `columns` is borrowed until it
 * is freed. */
int cnd_my_rows_bind(struct cnd_session *s, MYSQL_STMT *stmt, const MYSQL_FIELD *fields,
	const struct cnp_column *columns, uint32_t n, struct cnd_my_rows **ret_rows);
/* The row that mysql_stmt_fetch() gave (0 or MYSQL_DATA_TRUNCATED). */
int cnd_my_put_row(struct cnd_session *s, struct cnd_my_rows *rows, MYSQL_STMT *stmt,
	struct cnc_batch *w);
void cnd_my_rows_free(
	struct cnd_session *s, struct cnd_my_rows *rows); /* NULL is allowed */
/* Give the values to the statement (mysql_stmt_bind_param). Memory that must live until it is
 * executed comes from s->arena. The number was compared with the statement's. */
int cnd_my_bind(struct cnd_session *s, MYSQL_STMT *stmt, const struct cnc_value *params,
	uint32_t n);

/* catalog.c */
int cnd_my_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink);

/* errors.c */
/* Fill the diagnostics from an error of the server or the library: CENOTE_ERR_SERVER, CENOTE_ERR_CONN when the
 * session is lost, CENOTE_ERR_NOMEM. `server`: which one (field B). */
int cnd_my_diag(struct cnc_diag *diag, unsigned code, const char *sqlstate,
	const char *message, const char *server);
/* An error of our own in s->diag: CENOTE_ERR_SERVER. `hint` may be NULL. */
int cnd_my_refuse(struct cnd_session *s, const char *sqlstate, const char *hint,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* options.c */
int cnd_my_options_read(const struct cnd_server_spec *spec,
	struct cnd_my_options *ret_opt, struct cnc_diag *ret_diag);
int cnd_my_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);

/* query.c */
/* SQL of our own. Its rows go to the sink under `columns` (the values in the format that
 * these say), and then comes done(). */
int cnd_my_answer(struct cnd_session *s, const char *sql, size_t len,
	const struct cnp_column *columns, uint32_t n, struct cnd_sink *sink);
/* SQL of our own; each row to a function, which may say why to stop (negative). */
int cnd_my_each(struct cnd_session *s, const char *sql, size_t len,
	int (*row)(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n),
	void *user);

#endif
