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
 * The libmysqlclient shims: what their files share. One source, compiled once for each flavour; X_mariadb.c
 * and X_oracle.c, and the other files in my_flavour_sources (meson.build), belong to one flavour only.
 *
 * The files call downwards only, in this order:
 *
 * face.c, variadic.c, api.c: the exported functions. async_mariadb.c, async_oracle.c: the non-blocking ones.
 * init.c: mysql_init(), mysql_close(), library and thread. methods.c: MYSQL.methods. info.c: what a connection
 * tells of itself. list.c: mysql_list_…(). session.c: user, database, reset, ping, kill. charset.c.
 * Prepared statements, which share stmt.h: stmt.c, stmt_mariadb.c, stmt_oracle.c: their life. execute.c, and
 * bulk.c with request.c (arrays). rows.c: reading. prepare.c. Values in: param.c, long.c (in pieces), named.c,
 * placeholder.c (? of other servers). Values out: bind.c, cell.c, number.c, convert.c with convert_mariadb.c or
 * convert_oracle.c and oracle_time.c; callback.c (to a function of the program's).
 * query.c: the program's queries. enter.c: the check before each request. connect.c: going to a pool or to the
 * original, with login.c and pool_login.c: which pool. These three call each other: a lost session is
 * replaced by a new one, for which the program's init commands run.
 * send.c: a text to the server. result.c: MYSQL_RES. exchange.c: an answer's results. infile.c: LOAD DATA
 * LOCAL. call.c: requests without a result. status.c: MYSQL.server_status. field.c: MYSQL_FIELD.
 * options.c: mysql_options() and its kin, by the table of option_table.c; optionfile.c: my.cnf, in lines of
 * optionline.c. wait.c: all waiting, with fibre.c.
 * handle.c, stmt_handle.c: what a handle holds. ahead.c: queries that wait for their turn. kept.c: copied rows.
 * track.c: session tracking. collations.c, escape.c. error.c: errors, in error_words.c's words. plugin.c: plugins
 * and replication, which are the original's. original.c opens the original.
 *
 * A library in somebody else's process: nothing here prints, ends, or changes what is the
 * host's; every allocation may fail, and the program
 * then gets the original's error.
 */

#define CMY_EXPORT __attribute__((visibility("default")))

/* Programs that were linked with MariaDB's older libmariadbclient.so.18 ask for its symbol version. */
#define CMY_ALIAS(name)                                                                  \
	CMY_EXPORT extern __typeof__(name) cmy_alias_##name                              \
		__attribute__((alias(#name)));                                           \
	__asm__(".symver cmy_alias_" #name ", " #name "@libmariadbclient_18");           \
	__asm__(".symver " #name ", " #name "@@@libmysqlclient_18");

/* The member of NET that is not NULL while connected. */
#if CMY_ORACLE
#define CMY_VIO           vio
#define CMY_RECONNECT(my) ((my)->reconnect)
#else
#define CMY_VIO           pvio
#define CMY_RECONNECT(my) ((my)->options.reconnect)
#endif

/* Ours of everything in the face list: cmy_mysql_query() … */
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

/* What the connection waits for the program to do. */
enum cmy_state {
	CMY_IDLE, /* nothing is outstanding */
	CMY_SENT, /* mysql_send_query(): the answer was not looked at */
	CMY_HAS_ROWS, /* `head` has rows that the program has not asked for */
	CMY_USING, /* `user` reads `head` */
	CMY_MORE /* a result is over, and another one follows */
};

#if !CMY_ORACLE
/* MYSQL_PROGRESS_CALLBACK: which stage of how many, and how far it is, in per cent. */
typedef void cmy_progress_fn(const MYSQL *my, unsigned stage, unsigned n_stages,
	double percent, const char *doing, unsigned n_doing);
/* MARIADB_OPT_IO_WAIT: what poll() says, of one descriptor; milliseconds, -1 without a limit. */
typedef int cmy_io_wait_fn(int fd, my_bool is_read, int timeout_ms);
#endif

/* MYSQL.extension */
struct cmy_session {
	const char *tag; /* &cmy_tag; must be first */
#if !CMY_ORACLE
	/* Connector/C has what its MARIADB_STMT_BULK_SUPPORTED() looks at in this place. */
	void *unseen[12];
	unsigned long unseen_flags;
	unsigned long mariadb_server_capabilities;
	cmy_status_fn *on_status; /* MARIADB_OPT_STATUS_CALLBACK; NULL: none */
	void *status_data;
	unsigned told_status;
	cmy_progress_fn *on_progress; /* MYSQL_PROGRESS_CALLBACK; NULL: none */
	int asked_progress; /* the pool was asked to tell of it */
	cmy_io_wait_fn *io_wait; /* MARIADB_OPT_IO_WAIT; NULL: none */
	unsigned n_told_more; /* results with rows that another one follows */
#endif
	MYSQL *my;
	long owner; /* who made it: a child that was forked must not use it */
	cenote_conn *conn; /* NULL before connecting, and when that failed */
	struct cmy_options *options;
	char *pool; /* its name */
	int gives_login; /* to it, in this attempt, the program's user and password */

	int is_originals; /* a connect on the fibre found that the original is to make it */
	enum cmy_state state;
	struct cmy_ahead *ahead; /* queries that are not sent yet */
	cenote_result *head; /* the result that is at hand (CMY_HAS_ROWS, CMY_USING) */
	MYSQL_RES
	*user; /* mysql_use_result(): it reads `head`; NULL if a statement does */
	struct cmy_stmt *using; /* the statement that reads `head` */
	unsigned long last_stmt_id; /* MYSQL_STMT.stmt_id of the newest */

	struct cmy_track *track;
	int has_lost_settings; /* which the server has not told yet */
	int is_untracked; /* what runs is nothing that the original would tell of */
	struct cmy_fibre *fibre; /* NULL: everything blocks */
	int backend; /* enum cmy_backend */
	int maps_dates; /* cmy_maps_dates() as of connecting */
	char stat[256]; /* mysql_stat() */
	char info[512]; /* what MYSQL.info points to */
	int is_load; /* the text that was sent begins with it */
	int is_blank; /* the text that was sent holds nothing, not even a comment */
};

/* What is behind the pool: cenote_info(conn, "backend"). */
enum cmy_backend {
	CMY_BACKEND_MYSQL, /* everything is passed on as it is */
	CMY_BACKEND_POSTGRESQL,
	CMY_BACKEND_SQLITE,
	CMY_BACKEND_OTHER
};

static inline struct cmy_session *
cmy_session(const MYSQL *my)
{
	return my ? my->extension : NULL;
}

/* MariaDB's my_bool is a char: nothing but 0 and 1 goes into it. */
static inline my_bool
cmy_bool(int is_true)
{
	return (my_bool)(is_true != 0);
}

/* ---- handle.c ---- */

/* Whether it is this process' own; the error is set. */
int cmy_is_owner(const struct cmy_session *s);
/* A connection handle that mysql_init() allocated and that is the original's now: see to its end. 0, or -1
 * and there is no memory. */
int cmy_adopt(MYSQL *my);
/* It has closed it: if it was adopted, free it. */
void cmy_release(MYSQL *my);
/* What mysql_real_connect() put into the public structure. */
void cmy_forget_login(MYSQL *my);
/* A member of it that is a text: a copy of `text`, or NULL. 0, or -1: no memory, and nothing was changed. */
int cmy_keep_text(char **at, const char *text);
/* A new command: no error, no info, and no count of rows. */
void cmy_begin_command(MYSQL *my);
/* A new query: the fields of the one before are gone, and its field_count and info. */
void cmy_forget_query(MYSQL *my);
/* The session is lost: the handle is as one that was never connected. What is being read stays with its
 * reader, who finds out. */
void cmy_lose(struct cmy_session *s);
/* Forget what is outstanding, without reading it. */
void cmy_drop(struct cmy_session *s);

/* ---- enter.c ---- */

/* The same for a function that needs a session only, whatever is outstanding: no CR_COMMANDS_OUT_OF_SYNC. */
struct cmy_session *cmy_enter_busy(MYSQL *my);
/* Whether there is a session, and this process may use it, and nothing is outstanding that forbids a
 * new command (CR_COMMANDS_OUT_OF_SYNC). NULL, and the error is set. Clears the error otherwise. */
struct cmy_session *cmy_enter(MYSQL *my);

/* ---- connect.c ---- */

/* What is ours of a handle. */
void cmy_session_free(struct cmy_session *s);
/* Where is_originals says so: from now on the handle is the original's. 0, and the session is gone; or -1 and
 * the error is set. */
int cmy_hand_over(struct cmy_session *s);
/* Auto-reconnect, where the program wants it and no transaction was open: a new session. 0, or -1 and the
 * error is set. */
int cmy_reconnect(struct cmy_session *s);
/* The session's character set becomes MYSQL.charset, if it is another. 0, or -1 and the error is set. */
int cmy_use_charset(struct cmy_session *s);

/* ---- status.c ---- */

/* The same of a session that was just attached or reset. */
unsigned cmy_first_status(const struct cmy_session *s);
/* The server's status alone. */
void cmy_take_bits(struct cmy_session *s, const cenote_result *res);
/* The server's status, as it comes with an answer that the pool does not pass on. */
void cmy_take_known_status(struct cmy_session *s);
/* What Oracle's library takes from the answer to a command that is no statement; MariaDB's leaves it. */
void cmy_tell_done(MYSQL *my);

/* ---- call.c ---- */

/* Each calls libcenote, and waits until that is done. 0, or -1 and the error is set. */
int cmy_finish(struct cmy_session *s, int (*call)(cenote_conn *conn));
int cmy_set_option(struct cmy_session *s, const char *name, const char *value);
int cmy_set_autocommit(struct cmy_session *s, int on);
int cmy_end_transaction(struct cmy_session *s, int (*call)(cenote_conn *conn));
/* COM_INIT_DB */
int cmy_select(struct cmy_session *s, const char *db);
/* COM_CHANGE_USER. The program does not see the settings that come with it, and keeps its character set. */
int cmy_change_login(
	struct cmy_session *s, const char *user, const char *passwd, const char *db);
/* Whether it is a name of the one database that a pool of another server has. */
int cmy_is_pools_own(const struct cmy_session *s, const char *db);

/* ---- optionfile.c ---- */

/* my.cnf, if the program asked for it. 0, or -1 and the error is set. */
int cmy_read_option_files(struct cmy_session *s);
#if !CMY_ORACLE
/* "host=…;user=…" instead of a host's name. 0, or -1 and the error is set. */
int cmy_read_connection_string(MYSQL *my, const char *text);
#endif

/* ---- error.c ---- */

enum {
	CR_UNKNOWN_ERROR = 2000,
	CR_SOCKET_CREATE_ERROR = 2001,
	CR_CONNECTION_ERROR = 2002,
	CR_CONN_HOST_ERROR = 2003,
	CR_UNKNOWN_HOST = 2005,
	CR_SERVER_GONE_ERROR = 2006,
	CR_OUT_OF_MEMORY = 2008,
	CR_WRONG_HOST_INFO = 2009,
	CR_SERVER_HANDSHAKE_ERR = 2012,
	CR_SERVER_LOST = 2013,
	CR_COMMANDS_OUT_OF_SYNC = 2014,
	CR_CANT_READ_CHARSET = 2019,
	CR_NET_PACKET_TOO_LARGE = 2020,
	CR_SSL_CONNECTION_ERROR = 2026,
	CR_MALFORMED_PACKET = 2027,
	CR_NULL_POINTER = 2029,
	CR_NO_PREPARE_STMT = 2030,
	CR_PARAMS_NOT_BOUND = 2031,
	CR_DATA_TRUNCATED = 2032,
	CR_NO_PARAMETERS_EXISTS = 2033,
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
	CR_SERVER_LOST_EXTENDED = 2055,
	CR_STMT_CLOSED = 2056,
	CR_NEW_STMT_METADATA = 2057,
	CR_ALREADY_CONNECTED = 2058,
	CR_BULK_WITHOUT_PARAMETERS = 5006,
	CR_ERR_STMT_PARAM_CALLBACK = 5016,
	CR_STMT_NO_RESULT = 5025,
	CR_AUTH_PLUGIN_CANNOT_LOAD = 2059,
	CR_DUPLICATE_CONNECTION_ATTR = 2060,
	CR_AUTH_PLUGIN_ERR = 2061,
	CR_INSECURE_API_ERR = 2062, /* Oracle's */
	CR_FILE_NAME_TOO_LONG = 2063,
	CR_LOAD_DATA_LOCAL_INFILE_REJECTED = 2068, /* Oracle's */
	CR_LOAD_DATA_LOCAL_INFILE_REALPATH_FAIL = 2069, /* Oracle's */
	CR_CANT_GET_SESSION_DATA = 2073, /* Oracle's */
	CR_INVALID_CLIENT_CHARSET = 2074, /* Oracle's */
	CR_CONNSTR_PARSE_ERROR = 5011, /* MariaDB's */
	CR_INVALID_CLIENT_FLAG = 5024 /* MariaDB's */
};

/* An error of the library's own, with its own words (of the flavour) or with others. SQLSTATE NULL: HY000. */
void cmy_error(MYSQL *my, unsigned code, const char *sqlstate);
void cmy_error_text(MYSQL *my, unsigned code, const char *sqlstate, const char *format,
	...) __attribute__((format(printf, 4, 5)));
void cmy_error_textv(MYSQL *my, unsigned code, const char *sqlstate, const char *format,
	va_list args) __attribute__((format(printf, 4, 0)));
/* The server's error, number, SQLSTATE and words; or of the connection, as what it is in MySQL's
 * numbers (CR_SERVER_GONE_ERROR, CR_SERVER_LOST). */
void cmy_error_diag(MYSQL *my, const cenote_diag *diag);
/* As cmy_error_diag(), from what a call of libcenote returned: `status` is its CENOTE_ERR_… */
void cmy_error_status(MYSQL *my, int status);
void cmy_clear(MYSQL *my);
/* The same for words that want arguments, whose types the number says. */
void cmy_error_with(MYSQL *my, unsigned code, ...);
/* The number that a MySQL server has for an SQLSTATE. */
unsigned cmy_error_number(const char *sqlstate);

/* ---- error_words.c ---- */

/* The original's words for one of its own numbers, with printf()'s marks. */
const char *cmy_error_words(unsigned code);
#if !CMY_ORACLE
extern const char *cmy_error_list[];
#endif

/* ---- wait.c ---- */

/* A call of libcenote gave CENOTE_AGAIN: wait for what it wants, or let the fibre's owner wait. 0: call
 * again. -1: the time is up or the wait failed, the session is lost, and the error is set. */
int cmy_wait(struct cmy_session *s);
/* Whether libcenote waits by itself: decided when connecting, and when there is a fibre. */
void cmy_choose_wait(struct cmy_session *s);
/* cenote_get_result(), waiting. CENOTE_OK, CENOTE_DONE, or an error that is set already. */
int cmy_get_result(struct cmy_session *s, cenote_result **ret_res);
/* The session gets a fibre, or another one with a stack of that size (0: as the original has it). 0; -1 no
 * memory, or it is in use. */
int cmy_fibre_want(struct cmy_session *s, size_t stack_size);
/* The session's fibre, which has nothing to do; NULL and the error is set. */
struct cmy_fibre *cmy_fibre_idle(struct cmy_session *s);
/* Give what libcenote returned a last look: 0, or -1 and the error is set. */
int cmy_check(struct cmy_session *s, int status);

/* ---- exchange.c ---- */

/* What the answer to this text is to be measured by. */
void cmy_note_text(struct cmy_session *s, const char *sql, size_t len);
/* The answer's next result, of a query or an execution (state CMY_SENT or CMY_MORE): CMY_HAS_ROWS (`head`,
 * and MYSQL's fields, field_count and status are set), or what has no rows was taken. 0, or -1 and the
 * error is set. */
int cmy_next_head(struct cmy_session *s);
/* All rows of `head` were read: take what it says at its end, and be in the state that follows. It was
 * taken over as `res`, which is still the caller's. */
void cmy_head_over(struct cmy_session *s, const cenote_result *res);
/* Reading `res`, which was the head, failed: it is destroyed, the error is set, and what is outstanding
 * is forgotten. -1 */
int cmy_fail_head(struct cmy_session *s, cenote_result *res, int status);
/* Read and forget what is outstanding. The error stays as it is. */
void cmy_drain(struct cmy_session *s);
/* What a finished result says goes to the connection: affected rows, insert id, status, warnings, info. */
void cmy_take_status(MYSQL *my, const cenote_result *res);
/* Run SQL of the shim's own; a result with rows is the caller's. 0, or -1 and the error is set. */
int cmy_run(struct cmy_session *s, const char *sql, cenote_result **ret_res);
/* The first result of a request of the shim's own, which is the caller's; what follows is forgotten. */
int cmy_first_result(struct cmy_session *s, cenote_result **ret_res);
/* In which form values are to come: text; from other servers what is nearest to MySQL's. */
uint32_t cmy_format(const struct cmy_session *s);

/* ---- send.c ---- */

/* Queue a text, and be in the state CMY_SENT. 0, or -1 and the error is set. */
int cmy_send(struct cmy_session *s, const char *sql, size_t len);
/* The same for the first query that was kept, if there is one: nothing is outstanding. */
int cmy_send_ahead(struct cmy_session *s);

/* ---- infile.c ---- */

/* The server asks for a file: answer. 0, or -1 and the error is set; either way the statement's own
 * answer follows. */
int cmy_infile(struct cmy_session *s, const cenote_result *request);

/* ---- field.c ---- */

/* The fields of a result's columns: one block of memory, that begins with the array; NULL: no memory. */
MYSQL_FIELD *cmy_fields_of_result(const struct cmy_session *s, const cenote_result *res);
MYSQL_FIELD *cmy_fields_of_stmt(const struct cmy_session *s, const cenote_stmt *stmt);

/* How the values of a column become MySQL's. */
enum cmy_form {
	CMY_FORM_AS_IS,
	CMY_FORM_DATETIME, /* a date: with a time behind it, which may be there already */
	CMY_FORM_LOCAL /* a time or timestamp: without the offset from UTC */
};
enum cmy_form cmy_form(const struct cmy_session *s, const cenote_column *c);
/* At most so many bytes, the zero byte included, for a value of len bytes. */
#define CMY_FORM_SIZE(len) ((len) + sizeof(" 00:00:00"))
/* Whether CENOTE_MYSQL_MAP_DATE_TO_DATETIME asks for DATE columns to be DATETIME. */
int cmy_maps_dates(void);

/* ---- ahead.c ---- */

/* A query that waits for the answers to those before it. */
struct cmy_ahead {
	struct cmy_ahead *next;
	size_t len;
	char sql[];
};

/* Keep a query until those in front of it are answered. 0; -1 and the error is set. */
int cmy_ahead_put(struct cmy_session *s, const char *sql, size_t len);
/* The first of them, which is the caller's to free; NULL: there is none. */
struct cmy_ahead *cmy_ahead_take(struct cmy_session *s);
void cmy_ahead_drop(struct cmy_session *s);

/* ---- result.c ---- */

/* A result without rows that has these fields (mysql_stmt_result_metadata()). Takes the fields. */
MYSQL_RES *cmy_result_of_fields(MYSQL_FIELD *fields, unsigned n);
/* The same with fields that stay somebody else's. */
MYSQL_RES *cmy_result_borrowing(MYSQL_FIELD *fields, unsigned n);
/* Read and forget the rest of the result that the program is reading. */
void cmy_result_skip(struct cmy_session *s);
/* Memory that lives as long as the result. */
void cmy_result_keep(MYSQL_RES *res, char *memory);
/* One column of the answer to a request of the shim's own, as a stored result. NULL, and the error is set. */
MYSQL_RES *cmy_result_of_column(struct cmy_session *s, uint32_t column);
/* ---- stmt_handle.c ---- */

/* A function's name, as the flavour's texts have it. */
#define CMY_NAMED(function) (CMY_ORACLE ? function : function "()")
/* No statement can be used any more, because the program called the function of that name, CMY_NAMED(). */
void cmy_stmts_forget(struct cmy_session *s, unsigned code, const char *function);
/* The session was lost: with it went what was prepared. */
void cmy_stmts_lose(struct cmy_session *s);

/* ---- options.c ---- */

#define CMY_PROTOCOL_TCP    1u
#define CMY_PROTOCOL_SOCKET 2u
#define CMY_PROTOCOL_PIPE   3u

/* What an option file may set, as an option: MariaDB's have numbers, of Oracle's not all have. */
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
/* What is set from now on comes from an option file: the original will read it there itself. */
void cmy_options_from_file(struct cmy_options *options, int is_file);
void cmy_options_free(struct cmy_options *options);
/* Also of the public structure: as after a failed connect. */
void cmy_options_forget(struct cmy_options *options);
/* Tell the original all that the program has set. 0, or the original's error. */
int cmy_options_replay(const struct cmy_options *options, MYSQL *my);
/* mysql_options(): 0, or 1 and the error is set. */
int cmy_option_set(MYSQL *my, int option, const void *first, const void *second);
/* mysql_get_optionv(), whose further arguments differ from option to option. */
int cmy_option_get(MYSQL *my, int option, void *arg, void *more, unsigned *n);
/* What the program gave last, as a pointer to it; NULL: it was not set. */
const void *cmy_option(const struct cmy_options *options, int option);
/* All of MYSQL_INIT_COMMAND, in order. -1: no memory. */
int cmy_init_commands(struct cmy_options *options, unsigned *ret_n);
char *const *cmy_init_command_list(const struct cmy_options *options);
/* What mysql_get_parameters() points to. */
extern unsigned long cmy_max_allowed_packet, cmy_net_buffer_length;

/* ---- pool_login.c ---- */

/* As cenote_tls_info() of the way to cenoted. */
const char *cmy_tls_fact(const MYSQL *my, const char *name);

/* ---- info.c ---- */

#if !CMY_ORACLE
/* mariadb_get_infov(): 0 or -1. `more` is what the two that look for a character set are asked with: its
 * name, or its number. */
int cmy_tell(MYSQL *my, enum mariadb_value value, void *arg, const void *more);
/* What programs that decode rows themselves call, by type: the original's, once that is loaded. */
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

/* A character set with its default collation; a collation by its number. NULL: there is none. The
 * connection's is MYSQL.charset: escaping rests on it. */
const MARIADB_CHARSET_INFO *cmy_charset_by_name(const char *name);
const MARIADB_CHARSET_INFO *cmy_charset_by_nr(unsigned nr);
const MARIADB_CHARSET_INFO *cmy_charset_default(void);
/* The number of a collation; 0 if it is not known. */
unsigned cmy_collation_nr(const char *collation);
/* The one that the program wants; NULL: it is not known. */
const MARIADB_CHARSET_INFO *cmy_charset_wanted(const MYSQL *my);
/* MYSQL.charset becomes that. 0, or -1 and the error is set. */
int cmy_find_charset(MYSQL *my);
/* Where the original says it has looked for one that is not known. */
#if CMY_ORACLE
#define CMY_CHARSET_DIR "/usr/share/mysql/charsets/"
#else
#define CMY_CHARSET_DIR "compiled_in"
#endif

/* ---- escape.c ---- */

/* The connection that mysql_escape_string() goes by from now on; NULL: one of the original's. */
void cmy_escape_remember(const struct cmy_session *s);

/* ---- fibre.c ---- */

/* Within a fibre: go to its owner, who waits for this (poll()'s events and time). As poll(): what came, 0
 * the time is up. */
int cmy_fibre_yield(struct cmy_fibre *fibre, short events, int timeout_ms);
int cmy_is_in_fibre(const struct cmy_session *s);
void cmy_fibre_free(struct cmy_fibre *fibre);
/* An operation that waits learns that the wait has failed, and ends. */
void cmy_fibre_cancel(struct cmy_session *s);

/* ---- methods.c ---- */

const struct cmy_methods *cmy_methods(void);

/* ---- api.c ---- */

#if !CMY_ORACLE
extern const struct cmy_api cmy_api;
#endif

/* ---- track.c ---- */

/* 0, or -1 and the error is set. */
int cmy_track_start(struct cmy_session *s);
/* MYSQL.server_status was set: a program that wants to know is told if it is another one. */
void cmy_track_status(struct cmy_session *s);
/* A statement without rows has ended: what came with it is told from now on. */
void cmy_track_take(struct cmy_session *s);
/* What came with answers that nobody has read is not told. */
void cmy_track_skip(struct cmy_session *s);
/* Another user has logged in: nothing is told of the settings that came with that. */
void cmy_track_forget(struct cmy_session *s);
/* Oracle's library forgets what was told before. */
void cmy_track_begin(struct cmy_session *s);
/* A login came with this database, which its answer tells. NULL: with none. */
void cmy_track_database(struct cmy_session *s, const char *db);
void cmy_track_free(struct cmy_track *track);

/* progress.c; MariaDB's only. */
/* Before connecting: have the pool tell before a result's columns that another one follows. As
 * cenote_set_session_option(). */
int cmy_more_ask(struct cmy_session *s);
/* Before connecting: have the pool tell how far the server is, if the program wants to know. As
 * cenote_set_session_option(). */
int cmy_progress_ask(struct cmy_session *s);
/* The program has set its function, perhaps when it was connected. */
void cmy_progress_is_wanted(struct cmy_session *s);

#endif
