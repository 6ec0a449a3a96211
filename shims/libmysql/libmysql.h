/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_MY_H
#define CMY_MY_H

#include <cenote/cenote.h>
#include <stdio.h>
#include <sys/types.h>

#include "abi.h"
#include "face_list.h"
#include "original.h"

/*
 * The libmysqlclient shims: the declarations that their files share. There is one source, compiled
 * once for each flavour. X_mariadb.c, X_oracle.c and the other files in my_flavour_sources
 * (meson.build) belong to one flavour.
 *
 * The library runs in another program's process. So it never prints, never ends the process, and
 * changes nothing that belongs to the program. Every allocation may fail, and the program then gets
 * the original's error.
 *
 * A file only calls files that stand below it in this list:
 *
 * - face.c, variadic.c and api.c, the exported functions. async_mariadb.c and async_oracle.c, the
 *   non-blocking ones.
 * - init.c: mysql_init(), mysql_close(), library and thread. methods.c: MYSQL.methods. info.c: what a
 *   connection reports about itself. list.c: mysql_list_…(). session.c: user, database, reset, ping,
 *   kill. charset.c: character sets.
 * - Prepared statements, which share stmt.h. stmt.c, stmt_mariadb.c and stmt_oracle.c: their life.
 *   execute.c, with bulk.c and request.c for arrays. rows.c: reading. prepare.c. Values in: param.c,
 *   long.c (in pieces), named.c (with names), placeholder.c (? for other servers). Values out: bind.c,
 *   cell.c, number.c, convert.c with convert_mariadb.c or convert_oracle.c and oracle_time.c,
 *   callback.c (to a function of the program).
 * - query.c: the program's queries. enter.c: the check before each request. connect.c, with login.c
 *   and pool_login.c: going to a pool or to the original. These call each other in a circle: enter.c
 *   replaces a lost session by a new one, for which the program's init commands run.
 * - send.c: sending a text. result.c: MYSQL_RES. exchange.c: the results of an answer. infile.c: LOAD
 *   DATA LOCAL. call.c: requests without results. status.c: MYSQL.server_status. field.c: MYSQL_FIELD.
 * - options.c and option_table.c: mysql_options() and its kin. optionfile.c and optionline.c: my.cnf.
 *   wait.c: all waiting, with fibre.c.
 * - handle.c and stmt_handle.c: what a handle holds. ahead.c: queries that wait for their turn.
 *   kept.c: copied rows. track.c: session tracking. collations.c: the table of character sets.
 *   escape.c. error.c and error_words.c: errors. plugin.c: plugins and replication, which the original
 *   does. original.c: the original library.
 */

#define CMY_EXPORT __attribute__((visibility("default")))

/* Programs that were linked with MariaDB's older libmariadbclient.so.18 need its symbol
 * version. */
#define CMY_ALIAS(name)                                                                  \
	CMY_EXPORT extern __typeof__(name) cmy_alias_##name                              \
		__attribute__((alias(#name)));                                           \
	__asm__(".symver cmy_alias_" #name ", " #name "@libmariadbclient_18");           \
	__asm__(".symver " #name ", " #name "@@@libmysqlclient_18");

/* The member of NET that is not NULL while connected, and the option to reconnect. */
#if CMY_ORACLE
#define CMY_VIO           vio
#define CMY_RECONNECT(my) ((my)->reconnect)
#else
#define CMY_VIO           pvio
#define CMY_RECONNECT(my) ((my)->options.reconnect)
#endif

/* The shim's functions, one for each function in the face list: cmy_mysql_query() … */
#define CMY_OURS(handle, ret, name, params, args) ret cmy_##name params;
#define CMY_OURS_V(handle, name, params, args)    void cmy_##name params;
CMY_FACE(CMY_OURS, CMY_OURS_V)
#if !CMY_ORACLE
#define CMY_OURS_PAIR(type, handle, result, name, params, args)                          \
	int cmy_##name##_start(result *ret, CMY_UNPAREN params);                         \
	int cmy_##name##_cont(result *ret, type *handle, int status);
#define CMY_OURS_PAIR_V(type, handle, name, params, args)                                \
	int cmy_##name##_start params;                                                   \
	int cmy_##name##_cont(type *handle, int status);
CMY_FACE_ASYNC(CMY_OURS_PAIR, CMY_OURS_PAIR_V)
#endif

struct cmy_ahead; /* ahead.c */
struct cmy_options; /* options.c */
struct cmy_fibre; /* fibre.c */
struct cmy_track; /* track.c */
struct cmy_stmt; /* stmt.c */

/* The program's next step. */
enum cmy_state {
	CMY_IDLE, /* nothing is outstanding */
	CMY_SENT, /* mysql_send_query(): the answer is unread */
	CMY_HAS_ROWS, /* `head` has rows that the program has not asked for */
	CMY_USING, /* `user` reads `head` */
	CMY_MORE /* a result has ended, and another one follows */
};

#if !CMY_ORACLE
/* MYSQL_PROGRESS_CALLBACK: the stage, the number of stages, and the progress in per
 * cent. */
typedef void cmy_progress_fn(const MYSQL *my, unsigned stage, unsigned n_stages,
	double percent, const char *doing, unsigned n_doing);
/* MARIADB_OPT_IO_WAIT: as poll() of one descriptor; milliseconds, -1: without a limit. */
typedef int cmy_io_wait_fn(int fd, my_bool is_read, int timeout_ms);
#endif

/* The shim's data of a connection: MYSQL.extension. */
struct cmy_session {
	const char *tag; /* &cmy_tag; must be first */
#if !CMY_ORACLE
	/* the macro MARIADB_STMT_BULK_SUPPORTED() in programs reads the last of these three members */
	void *unseen[12];
	unsigned long unseen_flags;
	unsigned long mariadb_server_capabilities;
	cmy_status_fn *on_status; /* MARIADB_OPT_STATUS_CALLBACK; NULL: none */
	void *status_data;
	unsigned told_status;
	cmy_progress_fn *on_progress; /* MYSQL_PROGRESS_CALLBACK; NULL: none */
	int asked_progress; /* the pool was asked for progress reports */
	cmy_io_wait_fn *io_wait; /* MARIADB_OPT_IO_WAIT; NULL: none */
	/* notices, not used yet, which say that another result follows */
	unsigned n_told_more;
#endif
	MYSQL *my;
	/* id of the process that made the connection: a forked child must not use it */
	long owner;
	cenote_conn *conn; /* NULL before connecting, and after a failed connect */
	struct cmy_options *options;
	char *pool; /* the pool's name */
	int gives_login; /* this attempt sends the program's user and password to the pool */

	/* a connect on the fibre found that the original has to make the connection */
	int is_originals;
	enum cmy_state state;
	struct cmy_ahead *ahead; /* queries that wait to be sent; NULL: none */
	cenote_result *head; /* the current result (CMY_HAS_ROWS, CMY_USING) */
	/* the mysql_use_result() that reads `head`; NULL: a statement reads it */
	MYSQL_RES *user;
	struct cmy_stmt *using; /* the statement that reads `head` */
	unsigned long last_stmt_id; /* MYSQL_STMT.stmt_id of the newest statement */

	struct cmy_track *track;
	/* a failed login has changed settings, and the server has not reported these yet */
	int has_lost_settings;
	int is_untracked; /* the running request is the shim's own: the original would report no session changes */
	struct cmy_fibre *fibre; /* NULL: all calls block */
	int backend; /* enum cmy_backend */
	int maps_dates; /* cmy_maps_dates() at the time of connecting */
	char stat[256]; /* text that mysql_stat() returned */
	char info[512]; /* the text for MYSQL.info */
	int is_load; /* the text that was sent begins with LOAD */
	int is_blank; /* the text that was sent has no statement and no comment */
};

/* The pool's server: cenote_info(conn, "backend"). */
enum cmy_backend {
	CMY_BACKEND_MYSQL, /* MySQL or MariaDB: all statements pass unchanged */
	CMY_BACKEND_POSTGRESQL,
	CMY_BACKEND_SQLITE,
	CMY_BACKEND_OTHER
};

static inline struct cmy_session *
cmy_session(const MYSQL *my)
{
	return my ? my->extension : NULL;
}

/* MariaDB's my_bool is a char, so reduce the value to 0 or 1. */
static inline my_bool
cmy_bool(int is_true)
{
	return (my_bool)(is_true != 0);
}

/* ---- handle.c ---- */

/* Does the connection belong to this process? If not, the error is set. */
int cmy_is_owner(const struct cmy_session *s);
/* mysql_init() has allocated the handle, and now the original uses it: remember to free
 * it. 0, or -1: no memory. */
int cmy_adopt(MYSQL *my);
/* The original has closed the handle: free it if it was adopted. */
void cmy_release(MYSQL *my);
/* Clear the members of the public structure that mysql_real_connect() has set. */
void cmy_forget_login(MYSQL *my);
/* Set a text of the public structure to a copy of `text`, or to NULL. 0, or -1: no
 * memory, and nothing was changed. */
int cmy_keep_text(char **at, const char *text);
/* Begin a command: no error, no info, and no count of rows. */
void cmy_begin_command(MYSQL *my);
/* Begin a query: drop the previous one's fields, field_count and info. */
void cmy_forget_query(MYSQL *my);
/* The session is lost: set the handle as if it was never connected. A result that is being read
 * stays; reading it fails. */
void cmy_lose(struct cmy_session *s);
/* Forget outstanding results and queries, without reading them. */
void cmy_drop(struct cmy_session *s);

/* ---- enter.c ---- */

/* As cmy_enter(), but results may be outstanding. */
struct cmy_session *cmy_enter_busy(MYSQL *my);
/* The handle's session, if this process may use it and no results are outstanding
 * (CR_COMMANDS_OUT_OF_SYNC); the error is cleared. NULL, and the error is set. */
struct cmy_session *cmy_enter(MYSQL *my);

/* ---- connect.c ---- */

/* Free the shim's data of a connection. */
void cmy_session_free(struct cmy_session *s);
/* Give the handle to the original library. 0, and the session has been freed; or -1 and the error
 * is set. */
int cmy_hand_over(struct cmy_session *s);
/* Attach to a new session, if the program wants auto-reconnect and no transaction was
 * open. 0, or -1 and the error is set. */
int cmy_reconnect(struct cmy_session *s);
/* Set the session's character set to MYSQL.charset, if it has a different one. 0, or -1 and the
 * error is set. */
int cmy_use_charset(struct cmy_session *s);

/* ---- status.c ---- */

/* The status of a session that was just attached or reset. */
unsigned cmy_first_status(const struct cmy_session *s);
/* Set MYSQL.server_status from a result. */
void cmy_take_bits(struct cmy_session *s, const cenote_result *res);
/* Set the status bits that libcenote knows, for an answer whose status the pool does not pass on. */
void cmy_take_known_status(struct cmy_session *s);
/* Set the members that Oracle's library takes from the answer to a command without a statement.
 * MariaDB's library takes none. */
void cmy_tell_done(MYSQL *my);

/* ---- call.c ---- */

/* Each function calls libcenote, and waits until the request is done. 0, or -1 and the error is set. */
int cmy_finish(struct cmy_session *s, int (*call)(cenote_conn *conn));
int cmy_set_option(struct cmy_session *s, const char *name, const char *value);
int cmy_set_autocommit(struct cmy_session *s, int on);
int cmy_end_transaction(struct cmy_session *s, int (*call)(cenote_conn *conn));
/* COM_INIT_DB */
int cmy_select(struct cmy_session *s, const char *db);
/* COM_CHANGE_USER. The program does not see the settings that come with the login, and keeps its
 * character set. */
int cmy_change_login(
	struct cmy_session *s, const char *user, const char *passwd, const char *db);
/* Does `db` name the only database of a pool of another server? */
int cmy_is_pools_own(const struct cmy_session *s, const char *db);

/* ---- optionfile.c ---- */

/* Read my.cnf, if the program asked for it. 0, or -1 and the error is set. */
int cmy_read_option_files(struct cmy_session *s);
#if !CMY_ORACLE
/* Read "host=…;user=…", in place of a host's name. 0, or -1 and the error is set. */
int cmy_read_connection_string(MYSQL *my, const char *text);
#endif

/* ---- error.c ---- */

enum {
	CR_UNKNOWN_ERROR = 2000,
	CR_CONNECTION_ERROR = 2002,
	CR_CONN_HOST_ERROR = 2003,
	CR_SERVER_GONE_ERROR = 2006,
	CR_OUT_OF_MEMORY = 2008,
	CR_SERVER_LOST = 2013,
	CR_COMMANDS_OUT_OF_SYNC = 2014,
	CR_CANT_READ_CHARSET = 2019,
	CR_MALFORMED_PACKET = 2027,
	CR_NO_PREPARE_STMT = 2030,
	CR_PARAMS_NOT_BOUND = 2031,
	CR_INVALID_PARAMETER_NO = 2034,
	CR_INVALID_BUFFER_USE = 2035,
	CR_UNSUPPORTED_PARAM_TYPE = 2036,
	CR_CONN_UNKNOWN_PROTOCOL = 2047,
	CR_INVALID_CONN_HANDLE = 2048,
	CR_FETCH_CANCELED = 2050,
	CR_NO_DATA = 2051,
	CR_NO_STMT_METADATA = 2052,
	CR_NO_RESULT_SET = 2053,
	CR_NOT_IMPLEMENTED = 2054,
	CR_STMT_CLOSED = 2056,
	CR_NEW_STMT_METADATA = 2057,
	CR_ALREADY_CONNECTED = 2058,
	CR_BULK_WITHOUT_PARAMETERS = 5006,
	CR_ERR_STMT_PARAM_CALLBACK = 5016,
	CR_STMT_NO_RESULT = 5025,
	CR_AUTH_PLUGIN_CANNOT_LOAD = 2059,
	CR_DUPLICATE_CONNECTION_ATTR = 2060,
	CR_INSECURE_API_ERR = 2062, /* Oracle's */
	CR_LOAD_DATA_LOCAL_INFILE_REJECTED = 2068, /* Oracle's */
	CR_LOAD_DATA_LOCAL_INFILE_REALPATH_FAIL = 2069, /* Oracle's */
	CR_CANT_GET_SESSION_DATA = 2073, /* Oracle's */
	CR_INVALID_CLIENT_CHARSET = 2074, /* Oracle's */
	CR_CONNSTR_PARSE_ERROR = 5011, /* MariaDB's */
	CR_INVALID_CLIENT_FLAG = 5024 /* MariaDB's */
};

/* Set an error of the library's own, with the flavour's message or with another text. SQLSTATE
 * NULL: HY000. */
void cmy_error(MYSQL *my, unsigned code, const char *sqlstate);
void cmy_error_text(MYSQL *my, unsigned code, const char *sqlstate, const char *format,
	...) __attribute__((format(printf, 4, 5)));
void cmy_error_textv(MYSQL *my, unsigned code, const char *sqlstate, const char *format,
	va_list args) __attribute__((format(printf, 4, 0)));
/* Set the server's error: number, SQLSTATE and message. A lost connection becomes
 * CR_SERVER_GONE_ERROR or CR_SERVER_LOST. */
void cmy_error_diag(MYSQL *my, const cenote_diag *diag);
/* Set the error of a failed call of libcenote: `status` is its CENOTE_ERR_… */
void cmy_error_status(MYSQL *my, int status);
void cmy_clear(MYSQL *my);
/* As cmy_error(), for a message with arguments. The number decides their types. */
void cmy_error_with(MYSQL *my, unsigned code, ...);
/* The number that a MySQL server has for an SQLSTATE. */
unsigned cmy_error_number(const char *sqlstate);

/* ---- error_words.c ---- */

/* The original's message for one of its own numbers, with printf()'s conversions. */
const char *cmy_error_words(unsigned code);
#if !CMY_ORACLE
extern const char *cmy_error_list[];
#endif

/* ---- wait.c ---- */

/*
 * Wait after a call of libcenote that returned CENOTE_AGAIN; in a fibre, the program waits. 0: call
 * again. -1: the time is up or waiting failed; the session is lost, and the error is set.
 */
int cmy_wait(struct cmy_session *s);
/* Decide whether libcenote blocks, or this file waits: when connecting, and when a fibre
 * or a waiting function is set. */
void cmy_choose_wait(struct cmy_session *s);
/* cenote_get_result(), with waiting. CENOTE_OK, CENOTE_DONE, or a failure whose error is
 * set. */
int cmy_get_result(struct cmy_session *s, cenote_result **ret_res);
/* Give the session a fibre, or another one with a stack of that size (0: the original's size). 0,
 * or -1: no memory, or the fibre is in use. */
int cmy_fibre_want(struct cmy_session *s, size_t stack_size);
/* The session's fibre, if it is idle; NULL and the error is set. */
struct cmy_fibre *cmy_fibre_idle(struct cmy_session *s);
/* Check the return value of a call of libcenote. 0, or -1 and the error is set. */
int cmy_check(struct cmy_session *s, int status);

/* ---- exchange.c ---- */

/* Note the properties of this text on which its answer depends. */
void cmy_note_text(struct cmy_session *s, const char *sql, size_t len);
/*
 * Take the answer's next result (state CMY_SENT or CMY_MORE). With rows the state is
 * CMY_HAS_ROWS, and `head` and MYSQL's fields, field_count and status are set. 0, or -1
 * and the error is set.
 */
int cmy_next_head(struct cmy_session *s);
/* All rows of the head were read: take the status at its end. `res` is the head, and still belongs
 * to the caller. */
void cmy_head_over(struct cmy_session *s, const cenote_result *res);
/* Reading `res`, the head, failed: destroy it, set the error, and drop the rest of the
 * answer. -1 */
int cmy_fail_head(struct cmy_session *s, cenote_result *res, int status);
/* Read and drop all outstanding results. The error stays. */
void cmy_drain(struct cmy_session *s);
/* Copy the facts of a finished result to the connection: affected rows, insert id, status,
 * warnings, info. */
void cmy_take_status(MYSQL *my, const cenote_result *res);
/* Run SQL of the shim's own; the caller frees *ret_res. 0, or -1 and the error is set. */
int cmy_run(struct cmy_session *s, const char *sql, cenote_result **ret_res);
/* The first result of a request of the shim's own, which the caller frees; drop further results. 0,
 * or -1 and the error is set. */
int cmy_first_result(struct cmy_session *s, cenote_result **ret_res);
/* The form of values: text from MySQL servers, canonical text from others. */
uint32_t cmy_format(const struct cmy_session *s);

/* ---- send.c ---- */

/* Send a text; the state is CMY_SENT. 0, or -1 and the error is set. */
int cmy_send(struct cmy_session *s, const char *sql, size_t len);
/* Send the first query that waits, if there is one and nothing is outstanding. 0, or -1
 * and the error is set. */
int cmy_send_ahead(struct cmy_session *s);

/* ---- infile.c ---- */

/* Answer the server, which asks for a file. 0, or -1 and the error is set; either way
 * the statement's own answer follows. */
int cmy_infile(struct cmy_session *s, const cenote_result *request);

/* ---- field.c ---- */

/* The fields of a result's columns: one block of memory, which begins with the array.
 * NULL: no memory. */
MYSQL_FIELD *cmy_fields_of_result(const struct cmy_session *s, const cenote_result *res);
MYSQL_FIELD *cmy_fields_of_stmt(const struct cmy_session *s, const cenote_stmt *stmt);

/* How a column's values are changed to MySQL's form. */
enum cmy_form {
	CMY_FORM_AS_IS,
	CMY_FORM_DATETIME, /* a date gets a time, unless it has one */
	CMY_FORM_LOCAL /* a time or timestamp loses its offset from UTC */
};
enum cmy_form cmy_form(const struct cmy_session *s, const cenote_column *c);
/* The size of the longest changed value of len bytes, with its zero byte. */
#define CMY_FORM_SIZE(len) ((len) + sizeof(" 00:00:00"))
/* Does CENOTE_MYSQL_MAP_DATE_TO_DATETIME ask for DATE columns to be DATETIME? */
int cmy_maps_dates(void);

/* ---- ahead.c ---- */

/* A query that waits until the previous queries are answered. */
struct cmy_ahead {
	struct cmy_ahead *next;
	size_t len;
	char sql[];
};

/* Keep a query until the queries before it are answered. 0, or -1 and the error is set. */
int cmy_ahead_put(struct cmy_session *s, const char *sql, size_t len);
/* Take the first query, which the caller frees; NULL: there is no query. */
struct cmy_ahead *cmy_ahead_take(struct cmy_session *s);
void cmy_ahead_drop(struct cmy_session *s);

/* ---- result.c ---- */

/* Make a result without rows that has these fields, and owns them. */
MYSQL_RES *cmy_result_of_fields(MYSQL_FIELD *fields, unsigned n);
/* The same, but the fields still belong to the caller. */
MYSQL_RES *cmy_result_borrowing(MYSQL_FIELD *fields, unsigned n);
/* Read and drop the rest of the result that the program is reading. */
void cmy_result_skip(struct cmy_session *s);
/* Free this memory with the result. */
void cmy_result_keep(MYSQL_RES *res, char *memory);
/* Send a request of the shim's own, and make a stored result of one column of its answer. NULL, and
 * the error is set. */
MYSQL_RES *cmy_result_of_column(struct cmy_session *s, uint32_t column);
/* ---- stmt_handle.c ---- */

/* A function's name, as the flavour's messages write it. */
#define CMY_NAMED(function) (CMY_ORACLE ? function : function "()")
/* The program called `function` (CMY_NAMED()), which ends the session: no statement can be used any
 * more. */
void cmy_stmts_forget(struct cmy_session *s, unsigned code, const char *function);
/* The session was lost, and all prepared statements with it. */
void cmy_stmts_lose(struct cmy_session *s);

/* ---- options.c ---- */

#define CMY_PROTOCOL_TCP    1u
#define CMY_PROTOCOL_SOCKET 2u
#define CMY_PROTOCOL_PIPE   3u

/* Options that an option file can set. MariaDB has numbers for all of these; the shim has numbers
 * of its own for some of Oracle's. */
#if CMY_ORACLE
enum cmy_own_option {
	CMY_OPT_HOST = 10000,
	CMY_OPT_PORT,
	CMY_OPT_SOCKET,
	CMY_OPT_USER,
	CMY_OPT_PASSWORD,
	CMY_OPT_DATABASE,
	CMY_OPT_FOUND_ROWS,
	CMY_OPT_INTERACTIVE,
	CMY_OPT_MULTI_RESULTS,
	CMY_OPT_MULTI_STATEMENTS
};
#else
enum cmy_own_option {
	CMY_OPT_HOST = MARIADB_OPT_HOST,
	CMY_OPT_PORT = MARIADB_OPT_PORT,
	CMY_OPT_SOCKET = MARIADB_OPT_UNIXSOCKET,
	CMY_OPT_USER = MARIADB_OPT_USER,
	CMY_OPT_PASSWORD = MARIADB_OPT_PASSWORD,
	CMY_OPT_DATABASE = MARIADB_OPT_SCHEMA,
	CMY_OPT_FOUND_ROWS = MARIADB_OPT_FOUND_ROWS,
	CMY_OPT_INTERACTIVE = MARIADB_OPT_INTERACTIVE,
	CMY_OPT_MULTI_RESULTS = MARIADB_OPT_MULTI_RESULTS,
	CMY_OPT_MULTI_STATEMENTS = MARIADB_OPT_MULTI_STATEMENTS
};
#endif

struct cmy_options *cmy_options_new(MYSQL *my);
/* Options that are set from now on come from an option file, which the original will
 * read itself. */
void cmy_options_from_file(struct cmy_options *options, int is_file);
void cmy_options_free(struct cmy_options *options);
/* Clear the options, also in the public structure, as after a failed connect. */
void cmy_options_forget(struct cmy_options *options);
/* Repeat all options of the program for the original. 0, or the original's error. */
int cmy_options_replay(const struct cmy_options *options, MYSQL *my);
/* mysql_options(): 0, or 1 and the error is set. */
int cmy_option_set(MYSQL *my, int option, const void *first, const void *second);
/* mysql_get_optionv(). The types of its arguments depend on the option. */
int cmy_option_get(MYSQL *my, int option, void *arg, void *more, unsigned *n);
/* A pointer to the value that the program gave last; NULL: the option was not set. */
const void *cmy_option(const struct cmy_options *options, int option);
/* Collect all MYSQL_INIT_COMMANDs, in order. -1: no memory. */
int cmy_init_commands(struct cmy_options *options, unsigned *ret_n);
char *const *cmy_init_command_list(const struct cmy_options *options);
/* The values that mysql_get_parameters() points to. */
extern unsigned long cmy_max_allowed_packet, cmy_net_buffer_length;

/* ---- pool_login.c ---- */

/* A fact of TLS on the way to cenoted, as from cenote_tls_info(); NULL: no TLS. */
const char *cmy_tls_fact(const MYSQL *my, const char *name);

/* ---- info.c ---- */

#if !CMY_ORACLE
/* mariadb_get_infov(): 0 or -1. `more` is the name or number of a character set, for the
 * two values that look for one. */
int cmy_tell(MYSQL *my, enum mariadb_value value, void *arg, const void *more);
/* Functions, by type, for programs that decode rows themselves. Once the original is loaded, these
 * are its functions. */
struct cmy_fetch_function {
	void (*func)(MYSQL_BIND *bind, const MYSQL_FIELD *field, unsigned char **row);
	int pack_len;
	unsigned long max_len;
};
#define CMY_N_FETCH_FUNCTIONS 256
CMY_EXPORT extern struct cmy_fetch_function
	mysql_ps_fetch_functions[CMY_N_FETCH_FUNCTIONS];
#endif

/* ---- collations.c ---- */

/* Find a character set with its default collation, by name; or a collation by its number. NULL:
 * unknown. Escaping depends on MYSQL.charset, the connection's character set. */
const MARIADB_CHARSET_INFO *cmy_charset_by_name(const char *name);
const MARIADB_CHARSET_INFO *cmy_charset_by_nr(unsigned nr);
const MARIADB_CHARSET_INFO *cmy_charset_default(void);
/* The number of a collation; 0: unknown. */
unsigned cmy_collation_nr(const char *collation);
/* The character set that the program asked for; NULL: unknown. */
const MARIADB_CHARSET_INFO *cmy_charset_wanted(const MYSQL *my);
/* Set MYSQL.charset to the character set that the program asked for. 0, or -1 and the error is set. */
int cmy_find_charset(MYSQL *my);
/* The directory that the original names in its error for an unknown character set. */
#if CMY_ORACLE
#define CMY_CHARSET_DIR "/usr/share/mysql/charsets/"
#else
#define CMY_CHARSET_DIR "compiled_in"
#endif

/* ---- escape.c ---- */

/* mysql_escape_string() escapes for this connection from now on; NULL: the last connection belongs
 * to the original. */
void cmy_escape_remember(const struct cmy_session *s);

/* ---- fibre.c ---- */

/* Leave the fibre; the program waits for poll()'s events or the time limit. Returns the events that
 * are ready; 0: the time is up. */
int cmy_fibre_yield(struct cmy_fibre *fibre, short events, int timeout_ms);
int cmy_is_in_fibre(const struct cmy_session *s);
void cmy_fibre_free(struct cmy_fibre *fibre);
/* End a suspended operation: its waiting fails. */
void cmy_fibre_cancel(struct cmy_session *s);

/* ---- methods.c ---- */

const struct cmy_methods *cmy_methods(void);

/* ---- api.c ---- */

#if !CMY_ORACLE
extern const struct cmy_api cmy_api;
#endif

/* ---- track.c ---- */

/* Begin session tracking. 0, or -1 and the error is set. */
int cmy_track_start(struct cmy_session *s);
/* MYSQL.server_status was set: call the program's function if it has changed. */
void cmy_track_status(struct cmy_session *s);
/* A statement without rows has ended: give the program the changes that came with it. */
void cmy_track_take(struct cmy_session *s);
/* Drop the changes that came with answers that were not read. */
void cmy_track_skip(struct cmy_session *s);
/* Another user has logged in: drop the settings that came with the login. */
void cmy_track_forget(struct cmy_session *s);
/* Forget the changes that were reported before (Oracle's library only). */
void cmy_track_begin(struct cmy_session *s);
/* Report the database of a login; NULL: the login had none. */
void cmy_track_database(struct cmy_session *s, const char *db);
/* Report the variables that the server would report in its answer to a login. */
void cmy_track_login(struct cmy_session *s);
void cmy_track_free(struct cmy_track *track);

/* progress.c; MariaDB's only. */
/* Before connecting: have the pool send a notice before a result's columns if another result
 * follows. Returns as cenote_set_session_option(). */
int cmy_more_ask(struct cmy_session *s);
/* Before connecting: have the pool report the progress of statements, if the program wants that.
 * Returns as cenote_set_session_option(). */
int cmy_progress_ask(struct cmy_session *s);
/* The program has set its progress function, perhaps while connected. */
void cmy_progress_is_wanted(struct cmy_session *s);

#endif
