/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_PQ_H
#define CPQ_PQ_H

#include <cenote/cenote.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "dialect/sql.h"
#include "expbuffer.h"
#include "face.h"
#include "face_list.h"
#include "original.h"

/*
 * The libpq shim: the declarations that its files share.
 *
 * Before a session: conninfo.c has the keywords, with uri.c, service.c and passfile.c; check.c looks at the values.
 * pool.c decides whether a pool or the original library serves a connection. connect.c goes from start to finish,
 * with login.c (user, password, TLS) and target.c; fallback.c hands a connection to the original later.
 *
 * With a session: request.c sends, queue.c keeps what was sent, answer.c makes results, async.c is
 * PQgetResult(), and exec.c has the calls that wait. pipeline.c and ahead.c are pipeline mode. Each
 * other part of libpq has a file: copy.c, notice.c, notify.c, parameter.c, cancel.c, fastpath.c,
 * large.c (large objects), password.c.
 *
 * result.c makes a PGresult, and result_read.c has the functions that read it; message.c writes the
 * texts of errors. status.c has what a connection reports about itself. face.c has the exported
 * functions, and calls all the other files. dialect/ is for pools of other servers than PostgreSQL.
 *
 * The library runs in another program's process. So it prints nothing, ends nothing, and changes nothing that belongs
 * to the program; an allocation that fails is reported as libpq reports it.
 */

/* The shim's version of every function in the face list: cpq_PQexec() … */
#define CPQ_OURS(handle, ret, name, params, args) ret cpq_##name params;
#define CPQ_OURS_V(handle, name, params, args)    void cpq_##name params;
CPQ_FACE_15(CPQ_OURS, CPQ_OURS_V)
CPQ_FACE_17(CPQ_OURS, CPQ_OURS_V)
CPQ_FACE_18(CPQ_OURS, CPQ_OURS_V)

/* ---- encoding.c ---- */

/* As PQmblen(), but reads only the first `left` bytes (at least 1). The length that it returns may
 * be more than `left`. */
int cpq_encoding_length(int encoding, const char *text, size_t left);
/* Is the character of `len` bytes, with its first byte above 127, legal in that encoding? */
int cpq_encoding_is_legal(int encoding, const char *text, int len);
/* Write two bytes that are not a character in any text of that encoding. */
void cpq_encoding_put_illegal(int encoding, char out[2]);

/* ---- escape.c ---- */

/* As in libpq, the functions without a connection use the last connection's encoding and settings. */
void cpq_escape_remember(const PGconn *conn);
/* The last connection belongs to the original library. */
void cpq_escape_leave(void);

/* ---- release.c ---- */

/* The release of libpq that the shim stands for, such as 15: PQlibVersion() without the minor version. */
int cpq_release(void);

/* ---- conninfo.c ---- */

/* Connection keywords, in the order of PQconndefaults(). */
enum cpq_key {
	CPQ_KEY_SERVICE,
	CPQ_KEY_USER,
	CPQ_KEY_PASSWORD,
	CPQ_KEY_PASSFILE,
	CPQ_KEY_CHANNEL_BINDING,
	CPQ_KEY_CONNECT_TIMEOUT,
	CPQ_KEY_DBNAME,
	CPQ_KEY_HOST,
	CPQ_KEY_HOSTADDR,
	CPQ_KEY_PORT,
	CPQ_KEY_CLIENT_ENCODING,
	CPQ_KEY_OPTIONS,
	CPQ_KEY_APPLICATION_NAME,
	CPQ_KEY_FALLBACK_APPLICATION_NAME,
	CPQ_KEY_KEEPALIVES,
	CPQ_KEY_KEEPALIVES_IDLE,
	CPQ_KEY_KEEPALIVES_INTERVAL,
	CPQ_KEY_KEEPALIVES_COUNT,
	CPQ_KEY_TCP_USER_TIMEOUT,
	CPQ_KEY_SSLMODE,
	CPQ_KEY_SSLNEGOTIATION,
	CPQ_KEY_SSLCOMPRESSION,
	CPQ_KEY_SSLCERT,
	CPQ_KEY_SSLKEY,
	CPQ_KEY_SSLCERTMODE,
	CPQ_KEY_SSLPASSWORD,
	CPQ_KEY_SSLROOTCERT,
	CPQ_KEY_SSLCRL,
	CPQ_KEY_SSLCRLDIR,
	CPQ_KEY_SSLSNI,
	CPQ_KEY_REQUIREPEER,
	CPQ_KEY_REQUIRE_AUTH,
	CPQ_KEY_MIN_PROTOCOL_VERSION,
	CPQ_KEY_MAX_PROTOCOL_VERSION,
	CPQ_KEY_SSL_MIN_PROTOCOL_VERSION,
	CPQ_KEY_SSL_MAX_PROTOCOL_VERSION,
	CPQ_KEY_GSSENCMODE,
	CPQ_KEY_KRBSRVNAME,
	CPQ_KEY_GSSLIB,
	CPQ_KEY_GSSDELEGATION,
	CPQ_KEY_REPLICATION,
	CPQ_KEY_TARGET_SESSION_ATTRS,
	CPQ_KEY_LOAD_BALANCE_HOSTS,
	CPQ_KEY_SCRAM_CLIENT_KEY,
	CPQ_KEY_SCRAM_SERVER_KEY,
	CPQ_KEY_OAUTH_ISSUER,
	CPQ_KEY_OAUTH_CLIENT_ID,
	CPQ_KEY_OAUTH_CLIENT_SECRET,
	CPQ_KEY_OAUTH_SCOPE,
	CPQ_KEY_SSLKEYLOGFILE,
	CPQ_N_KEYS
};

/* One value per keyword; NULL: not given. */
struct cpq_conninfo {
	char **values;
	int release; /* the libpq whose keywords it has, such as 15: cpq_release() */
};

/* The keyword's value; "" if it was not given. */
static inline const char *
cpq_conninfo_get(const struct cpq_conninfo *info, enum cpq_key key)
{
	return info->values != NULL && info->values[key] != NULL ? info->values[key] : "";
}

void cpq_conninfo_finish(struct cpq_conninfo *info);
/* Two ways to begin; cpq_conninfo_complete() then adds the values of service file and environment,
 * and PostgreSQL's defaults. 0; -1, and a line with the reason is appended to `error`. */
int cpq_conninfo_from_text(
	struct cpq_conninfo *info, const char *conninfo, PQExpBuffer error);
int cpq_conninfo_from_params(struct cpq_conninfo *info, const char *const *keywords,
	const char *const *values, int expand_dbname, PQExpBuffer error);
int cpq_conninfo_complete(struct cpq_conninfo *info, PQExpBuffer error);
/* Does the environment have any variable that begins with PG? One pass over it serves all of
 * libpq's variables. */
int cpq_environment_says_something(void);
/* Set dbname, passfile, client_encoding and sslcertmode as a connection uses them. PQconndefaults() does not
 * return these. */
int cpq_conninfo_for_login(struct cpq_conninfo *info, PQExpBuffer error);
/* The values that are not defaults, for PQconnectdbParams(); the texts are borrowed. */
void cpq_conninfo_list(const struct cpq_conninfo *info,
	const char *ret_keywords[CPQ_N_KEYS + 1], const char *ret_values[CPQ_N_KEYS + 1]);

/* ---- check.c ---- */

/* Would libpq accept the values? 0; -1, and the reason in `error`. */
int cpq_conninfo_check(const struct cpq_conninfo *info, PQExpBuffer error);
/* Would libpq accept the port? It checks the port only when it connects. A list of ports is not
 * checked. */
int cpq_port_check(const struct cpq_conninfo *info, PQExpBuffer error);

/* ---- pool.c ---- */

enum cpq_way {
	CPQ_WAY_POOL,
	CPQ_WAY_ORIGINAL,
	CPQ_WAY_NONE
};

struct cpq_route {
	enum cpq_way way;
	char *pool; /* the pool's name; malloc()ed */
};

/* Decide by CENOTE_SERVER, CENOTE_POOL, CENOTE_FALLBACK and the mapping file. 0; -1, and the reason. */
int cpq_route_find(
	struct cpq_route *route, const struct cpq_conninfo *info, PQExpBuffer error);
void cpq_route_finish(struct cpq_route *route);

/* ---- connections ---- */

/* The state of the connection: libpq's asyncStatus. */
enum cpq_async {
	CPQ_IDLE, /* nothing is outstanding */
	CPQ_BUSY, /* waiting for an answer */
	CPQ_READY, /* an answer is there, for PQgetResult() */
	CPQ_READY_MORE, /* some rows of the answer are there */
	/* in a pipeline: a request was answered, and PQgetResult() returns NULL next */
	CPQ_BETWEEN,
	CPQ_COPY_IN,
	CPQ_COPY_OUT,
};

/* A request, until PQgetResult() has returned all of its results. */
struct cpq_request {
	struct cpq_request *next;
	uint64_t number; /* see struct cpq_queue */
	enum cpq_request_kind {
		CPQ_SIMPLE, /* PQsendQuery */
		CPQ_EXTENDED, /* with parameters, or prepared */
		CPQ_PREPARE,
		CPQ_DESCRIBE,
		CPQ_CLOSE,
		CPQ_FUNCTION,
		CPQ_SYNC
	} kind;
	int is_prepared; /* the statement was prepared before */
	/* DESCRIBE and CLOSE: the name is of a portal, not of a statement */
	int is_portal;
	int is_stream; /* its rows come as a stream */
	int is_answered; /* the trace has the beginning of the answer */
	int is_asked_for; /* a synchronisation point or a flush asks for the answer */
	int is_ended; /* libcenote has given all of its results */
	/* the answer, kept until the program may have it (ahead.c); NULL: none */
	cenote_result *held;
	/* a result that has the columns already, because a notice came before the rows; NULL: none */
	PGresult *begun;
	/* notices that came with the answer, before the program took earlier answers */
	PGresult *notices;
	/* parameter changes that came with the answer, before the program took earlier answers */
	struct cpq_parameter *changes;
	cenote_stmt *stmt; /* made for this request; NULL: none */
	char *query; /* the text, for the error cursor; "" where libpq keeps no text */
	size_t query_size; /* bytes allocated for `query`, which the next request reuses */

	/* only for a pool of another server than PostgreSQL: */
	/* the shim's own answer, which replaces the server's; NULL: none */
	PGresult *answer;
	/* the prepared statement that it uses; NULL: none */
	struct cpq_statement *statement;
	int is_binary; /* the program wants values in binary form */
	/* the request may have several results, though it is not CPQ_SIMPLE */
	int is_many;
	/* the rest of the text: the statements whose results are still to come */
	struct cnc_sql sql;
	struct cpq_head head; /* the tag of the next result */
	int has_head;
};

/* Parameters, as the program passes them. */
struct cpq_values {
	int n;
	const Oid *types;
	const char *const *values;
	const int *lengths;
	const int *formats;
};

struct cpq_event {
	PGEventProc proc;
	char *name;
	void *pass_through;
	void *data; /* PQsetInstanceData() */
	int is_initialised; /* for a result: the procedure accepted PGEVT_RESULTCREATE */
};

struct cpq_events {
	struct cpq_event *list;
	int n;
	int cap;
};

/* A multibyte character set of MySQL (common/charset.h). */
struct cpq_charset {
	unsigned (*charlen)(unsigned c);
	unsigned (*valid)(const char *start, const char *end);
};

/* The settings that a result copies from its connection, because the result may outlive the
 * connection. */
struct cpq_inherited {
	PGVerbosity verbosity;
	PGContextVisibility show_context;
	/* PostgreSQL's number; -1: the shim does not know the session's character set */
	int encoding;
	/* how the server reads texts; NULL: by `encoding` */
	const struct cpq_charset *charset;
	PQnoticeReceiver receiver;
	void *receiver_arg;
	PQnoticeProcessor processor;
	void *processor_arg;
	const struct cpq_dialect *dialect; /* NULL: the server is PostgreSQL */
};

/*
 * The requests that are not finished, oldest first (queue.c). In a pipeline the program has
 * finished a request when it has the result, but libcenote may not have given the end of the
 * request yet: then n_done < n_over.
 */
struct cpq_queue {
	struct cpq_request *first;
	struct cpq_request *last;
	/* one unused request, so that a query needs no allocation */
	struct cpq_request *spare;
	/* The requests are numbered from 1, in the order in which they were sent. */
	uint64_t n_sent; /* number of the newest one */
	/* libcenote has given all results of the requests up to this one */
	uint64_t n_done;
	uint64_t n_over; /* the program has finished the requests up to this one */
};

/* The result whose rows are being read, in chunks or to its end (answer.c). */
struct cpq_stream {
	cenote_result *res; /* NULL: none */
	/* has the columns; chunks copy them, and this result ends the rows */
	PGresult *head;
	PGresult *part; /* a chunk that is not full yet; NULL: none */
	bool is_tagged; /* the last chunk has the tag, and its end has none */
	uint64_t row; /* number of the next row in the current batch of `res` */
	uint64_t n_rows; /* rows that the program has been given */
	int is_whole; /* libcenote has received all rows */
	/* rows per chunk, for the request that was sent last; 0: all rows in one result */
	int chunk;
	int is_single_row; /* chunk is 1, and each result is PGRES_SINGLE_TUPLE */
};

/* The copy that is open (copy.c). */
struct cpq_copy {
	cenote_result *res; /* NULL: none */
	PQExpBufferData line; /* a line for which PQgetline() had too little room … */
	size_t line_at; /* … and how much of it was taken */
};

/* The server's parameters, for PQparameterStatus() (parameter.c). */
struct cpq_settings {
	struct cpq_parameter *list; /* values that the program sees */
	struct cpq_parameter *changes; /* take effect at the end of a request */
	/* memory of the parameters that the session began with: entries, and their texts */
	void *first, *first_texts;
};

/* Notifications that the program has not taken, oldest first (notify.c). */
struct cpq_notifies {
	PGnotify *first;
	PGnotify *last;
	/* the first one that the program gets only after the end of the request */
	PGnotify *behind;
};

/* The state of PQtrace() (trace.c). */
struct cpq_trace {
	FILE *file; /* NULL: no trace */
	int flags;
	PQExpBufferData notices; /* lines to write before the end of the statement */
	PQExpBufferData rest; /* lines to write before ReadyForQuery */
};

/* The attempt to connect (connect.c, login.c). */
struct cpq_attempt {
	int64_t deadline_ms; /* when a waiting caller gives up; 0: never */
	int is_resetting;
	int is_polled; /* the program has polled this attempt */
	int is_unreachable; /* the last attempt found no cenoted */
	int gives_login; /* this attempt sends the program's user and password */
	/* the last attempt failed because the program gave no password */
	int needs_password;
	/* password found in the passfile; "": none; NULL: not searched yet */
	char *file_password;
};

struct pg_conn {
	const char *tag; /* &cpq_tag; must be first */
	/* after a fallback: the original library's connection; else NULL */
	PGconn *stand_in;
	/* id of the process that made the connection: a forked child must not use it */
	long owner;
	struct cpq_conninfo info;
	/* `info` is complete; before that the program gets no values from it */
	int is_told;
	struct cpq_route route;
	cenote_conn *session; /* NULL before connecting, and when it failed */
	ConnStatusType status;
	struct cpq_attempt attempt;
	PQExpBufferData error; /* PQerrorMessage() */
	struct cpq_inherited inherited;
	struct cpq_events events;
	int is_nonblocking;
	enum cpq_async async;
	PGpipelineStatus pipeline;
	struct cpq_queue queue;
	struct cpq_stream stream;
	struct cpq_copy copy;
	PGresult *ready; /* the result that PQgetResult() returns next */
	int transaction; /* enum cenote_tx, as of the last ReadyForQuery */
	int is_dying; /* the server has announced that it ends the session */
	/* the program has read everything that came before the session was lost */
	int is_end_read;
	int is_watched; /* the program has asked for the descriptor */
	/* the descriptor, kept also after libcenote has lost the session; -1: none */
	int fd;
	/* parameters of the request that is being sent; kept for the next request */
	cenote_params *params;
	struct cpq_cancel_box *cancel; /* NULL: nobody has asked for a PGcancel */
	struct cpq_settings settings;
	struct cpq_notifies notifies;
	/* notices that were received, and not given to the program yet */
	PGresult *notices;
	int is_only_reading; /* PQconsumeInput() reads: keep notices for a later call */
	struct cpq_trace trace;
	/* the server was asked for the functions of large objects */
	int has_large_objects;
	int server_version;
	int standard_strings;
	/* only for a pool of another server than PostgreSQL: */
	struct cpq_statement *statements; /* the prepared statements */
	char version_text[96]; /* text for the program's server_version */
};

/* The connection that serves the program's handle: the original's after a fallback. */
static inline PGconn *
cpq_stand_in(const PGconn *conn)
{
	return conn != NULL && !cpq_is_foreign(conn) && conn->stand_in != NULL
		       ? conn->stand_in
		       : (PGconn *)(uintptr_t)conn;
}

/*
 * The functions that the files share, from the bottom up: a file calls only files that stand above
 * it in this list, and files of its own group.
 */

/* ---- error.c ---- */

extern char cpq_empty[1];

/* Append a line with libpq's wording to the error text. */
void cpq_say(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Report in libpq's words that the session is lost, and set CONNECTION_BAD. */
void cpq_say_closed(PGconn *conn);
/* Append libcenote's last error in libpq's form. A lost session sets CONNECTION_BAD. */
void cpq_say_failure(PGconn *conn, int status);
/* Is there a session that this process may use? 0; -1, and the reason in the error text. */
int cpq_enter(PGconn *conn);

/* ---- wait.c ---- */

int64_t cpq_now_ms(void);
/* Wait until the descriptor is ready for what libcenote wants. 1: ready; 0: the deadline (0: none)
 * has passed; -1: there is nothing to wait for. */
int cpq_wait(PGconn *conn, int64_t deadline_ms);
/* Does libcenote wait before it tries to connect again? There is no descriptor then, so a program
 * that polls would not notice the end of that time. */
int cpq_is_between_tries(const PGconn *conn);
/* Call cenote_flush(), and wait until libcenote may try again to get a session. */
int cpq_push(PGconn *conn);
/* Call cenote_process(): read what has come, and keep its notices for later. */
int cpq_read(PGconn *conn);

/* ---- conninfo.c, service.c, uri.c, check.c: see above ---- */

/* HOME/NAME, malloc()ed; NULL: the user has no home directory, or there is no memory. */
char *cpq_home_file(const char *name);

/* ---- passfile.c ---- */

/* The password for the program's server, user and database: malloc()ed; "" if there is none; NULL without memory. */
char *cpq_passfile_find(const struct cpq_conninfo *info);

/* ---- result.c ---- */

#define CPQ_TUPLES_CHUNK 12 /* PGRES_TUPLES_CHUNK of libpq 17 */

/* libpq's PGresAttValue. */
struct cpq_value {
	int len; /* -1: NULL */
	char *text; /* in the memory of `res`, or in the arena; cpq_empty for NULL */
};

/* Error fields are numbered by their letters, which are ASCII. */
#define CPQ_FIELDS 128

struct pg_result {
	/* libpq's own members in libpq's order: psycopg 3's compiled code reads them in memory */
	int n_rows;
	int n_columns;
	PGresAttDesc *columns;
	struct cpq_value **rows;
	int cap_rows;
	int n_params; /* number of parameters of a described statement */
	Oid *params;
	ExecStatusType status;
	char command[64];
	int is_binary;
	/* from here on the shim's own members */
	const char *tag; /* &cpq_tag; libpq has a function's address here */
	PGresult *next; /* next in a list of notices that the program has not got yet */
	/* owns the memory of the values; NULL: they are in the arena */
	cenote_result *res;
	/* for a pool of another server: the program wants values in binary form */
	int wants_binary;
	/* fields of an error by their letter, CPQ_FIELDS of them; NULL: no fields */
	char **fields;
	char *message; /* PQresultErrorMessage(); NULL: "" */
	char *query; /* the text of the request, for the error cursor */
	struct cpq_inherited inherited;
	struct cpq_events events;
	void *arena; /* list of memory blocks, freed with the result */
	size_t memory;
};

static inline int
cpq_result_is_foreign(const PGresult *res)
{
	return res != NULL && res->tag != &cpq_tag;
}

extern PGresult cpq_result_of_no_memory;

static inline const char *
cpq_result_field(const PGresult *res, int code)
{
	return res->fields != NULL && code > 0 && code < CPQ_FIELDS ? res->fields[code]
								    : NULL;
}

/* Allocate in the result's arena; NULL without memory. The bytes are not set. */
void *cpq_result_alloc(PGresult *res, size_t size);
char *cpq_result_text(PGresult *res, const char *text);
/* A new result with the connection's event procedures and struct cpq_inherited (conn may be NULL). */
PGresult *cpq_result_new(PGconn *conn, ExecStatusType status);
/* Make an error result from the connection's error text. Without memory it is
 * cpq_result_of_no_memory: NULL would tell the program that there are no more results. */
PGresult *cpq_result_failure(PGconn *conn);
/* The same, with an error text that says "out of memory". */
PGresult *cpq_no_memory(PGconn *conn);
/* Make a result with the columns of libcenote's result, and no rows yet. */
PGresult *cpq_result_rows(PGconn *conn, cenote_result *from, ExecStatusType status);
/* Begin a chunk of the result that `head` begins: the same columns, event procedures and struct cpq_inherited, without
 * rows. */
PGresult *cpq_result_part(const PGresult *head, ExecStatusType status);
/* Point to all rows of `from`, without copying them. The result must have the columns already. It
 * owns `from` afterwards, unless this fails. 0 or -1. */
int cpq_result_take_rows(PGresult *res, cenote_result *from);
/* Copy a row of libcenote's result. 0 or -1. */
int cpq_result_add_row(PGresult *res, const cenote_result *from, uint64_t at);
/* Add a row of NULLs, and set a value of the last row. 0 or -1. */
int cpq_result_row_begin(PGresult *res);
int cpq_result_row_set(PGresult *res, int column, const char *bytes, size_t len);
/* Make an error result of the shim's own, in the form of a server's error; NULL without memory. */
PGresult *cpq_result_refusal(PGconn *conn, const char *sqlstate, const char *text);
/* A field as the server sent it. cenoted may have replaced it, to say whether the request was
 * carried out. */
const char *cpq_servers_field(const cenote_diag *diag, char letter);
/* Set an error's fields and text. 0 or -1. */
int cpq_result_set_diag(PGresult *res, const cenote_diag *diag, const char *query);
/* The two halves of cpq_result_set_diag(). */
int cpq_result_set_fields(PGresult *res, const cenote_diag *diag, const char *query);
int cpq_result_set_message(PGresult *res);
/* Is it the status of an error or a notice? */
int cpq_is_failure(ExecStatusType status);
void cpq_result_set_tag(PGresult *res, const char *tag);
/* Give the program a notice that the shim itself makes. */
void cpq_notice_own(const struct cpq_inherited *inherited, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Has the result that column? If not, the program gets a notice. */
int cpq_is_column(const PGresult *res, int column);

/* ---- message.c ---- */

/* The text of an error or notice from its fields, as libpq writes it. */
void cpq_message_build(PQExpBuffer out, const PGresult *res, PGVerbosity verbosity,
	PGContextVisibility show_context);

/* ---- values.c ---- */

#define CPQ_PARAMS_MAX 65535

/* Check the values and empty conn->params: 1; 0, and the reason in the error text. */
int cpq_values_begin(PGconn *conn, const struct cpq_values *v);
/* Check the values and fill conn->params with them; NULL, and the reason. */
cenote_params *cpq_params_of(PGconn *conn, const struct cpq_values *v);

/* ---- ahead.c ---- */

/* The program wants the answers to all requests that it has sent. */
void cpq_pipeline_ask(PGconn *conn);
/* In a pipeline: the request whose answer libcenote is receiving; NULL: none. */
struct cpq_request *cpq_pipeline_current(const PGconn *conn);
/* Notices came for the request. PostgreSQL sends all earlier answers before a notice, so mark the
 * earlier requests as asked for. */
void cpq_pipeline_ask_before(PGconn *conn, const struct cpq_request *req);
/* Call cenote_get_result(), and count a request that has ended. */
int cpq_get_result(PGconn *conn, cenote_result **ret_res);
/* The same, but in a pipeline it returns only answers that the program has asked for. */
int cpq_pipeline_get(PGconn *conn, cenote_result **ret_res);

/* ---- notice.c ---- */

void cpq_default_receiver(void *arg, const PGresult *res);
void cpq_default_processor(void *arg, const char *message);
void cpq_on_notice(const cenote_diag *diag, void *user);
/* Give a list of notices to the program. */
void cpq_notices_tell(PGconn *conn, PGresult **list);
/* The program has come to the oldest request: give it the notices that came with this request. */
void cpq_notices_catch_up(PGconn *conn);
void cpq_notices_drop(PGresult **list);

/* ---- parameter.c ---- */

void cpq_on_parameter(const char *name, const char *value, void *user);
/* Take all parameters of a new session: 0, or -1 without memory. */
int cpq_parameters_read(PGconn *conn);
/* The program has come to the request: its changes take effect with the next cpq_parameters_settle(). */
void cpq_parameters_catch_up(PGconn *conn, struct cpq_request *req);
void cpq_parameters_settle(PGconn *conn);
void cpq_parameters_drop(PGconn *conn);

/* ---- cancel.c ---- */

/* Another request is running now, so a cancel must go to that one. */
void cpq_cancel_follow(PGconn *conn);
void cpq_cancel_leave(PGconn *conn);

/* ---- queue.c ---- */

/* Make a request that is to be sent next; NULL without memory. `query` may be NULL. */
struct cpq_request *cpq_request_new(
	PGconn *conn, enum cpq_request_kind kind, const char *query);
/* Libcenote has queued the request, or refused it (status < 0). Returns what PQsendQuery() returns:
 * 1 or 0. */
int cpq_request_sent(PGconn *conn, struct cpq_request *req, int status);
/* Must the rows of a request that is sent now come as a stream? */
int cpq_is_streamed(const PGconn *conn);
/* Forget the oldest request, which is finished. */
void cpq_request_pop(PGconn *conn);
/* Forget the result that is being read. */
void cpq_stream_drop(PGconn *conn);
/* Forget all requests. */
void cpq_requests_drop(PGconn *conn);
/* In a pipeline: go on to the next request that waits for its answer. */
void cpq_pipeline_advance(PGconn *conn);

/* ---- answer.c ---- */

/* Get the next result. CENOTE_OK; CENOTE_DONE: the request has ended; CENOTE_AGAIN: no result has
 * come. */
int cpq_next_result(PGconn *conn, PGresult **ret_res);
/* Take and drop the rest of the requests that the program has finished: CENOTE_OK, CENOTE_AGAIN. */
int cpq_take_owed(PGconn *conn);
/* Is the result a chunk, so that more rows of the same statement follow? */
int cpq_is_part(const PGresult *res);
/* The error with which the server ended the session that libcenote has lost; NULL: none. */
const cenote_diag *cpq_last_words(const PGconn *conn);
/* The session is lost or useless: return a result with the reason. */
PGresult *cpq_lost(PGconn *conn, int status);

/* ---- async.c ---- */

/* If an answer has come, make it ready for PQgetResult(). */
void cpq_look(PGconn *conn);
/* Is the ready result the last one of the oldest request? */
int cpq_request_is_told(PGconn *conn);
/* PQgetResult() without telling event procedures. */
PGresult *cpq_take_result(PGconn *conn);

/* ---- notify.c ---- */

void cpq_on_notification(
	uint32_t pid, const char *channel, const char *payload, void *user);
void cpq_notifies_drop(PGconn *conn);

/* ---- copy.c ---- */

/* End the copy for the program, even if libcenote still has messages of it. */
void cpq_copy_over(PGconn *conn);

/* ---- exec.c ---- */

/* Every call that waits for its result begins with this. */
int cpq_exec_begin(PGconn *conn);

/* ---- fastpath.c ---- */

/* Where PQfn() writes the value that the server's function returns. */
struct cpq_function_value {
	void *to;
	size_t room; /* a longer value is an error, and nothing is written */
	int *len; /* the length of the value; -1: NULL */
	int is_int; /* two or four bytes, which become an int */
};

/* PQfn() with a limit for the length of the value. NULL: the call failed, or the value is too long;
 * the connection's error text says why. */
PGresult *cpq_function(PGconn *conn, int fnid, const struct cpq_function_value *ret_value,
	const PQArgBlock *args, int nargs);

/* ---- login.c ---- */

/* Pass the program's user, password and TLS options to libcenote. Returns a status of libcenote's. */
int cpq_login_give(PGconn *conn);
/* The attempt to connect ended with `status`. 1: try again, now with the user and password; 0: do
 * not try again. */
int cpq_login_again(PGconn *conn, int status);
/* Why the session must not be used, although it was attached; NULL: it may be used. */
const char *cpq_login_missed(PGconn *conn);
void cpq_login_forget(PGconn *conn);

/* ---- target.c ---- */

/* Why the session does not fit target_session_attrs or min_protocol_version; NULL: it fits. */
const char *cpq_target_missed(const PGconn *conn);
/* What PQfullProtocolVersion() says: 30000 or 30002. */
int cpq_target_protocol(const PGconn *conn);

/* ---- fallback.c ---- */

/* After an attempt that found no cenoted: let the original library serve the handle, if that is
 * allowed. 0: it serves the handle. Its connection is made (is_waited_for), or must still be
 * polled. -1: it does not. */
int cpq_fall_back(PGconn *conn, int is_waited_for);

/* ---- events.c ---- */

int cpq_events_copy(struct cpq_events *to, const struct cpq_events *from);
void cpq_events_finish(struct cpq_events *events);
void cpq_events_tell_reset(PGconn *conn);
void cpq_events_tell_destruction(PGconn *conn);

/* ---- dialect: only for connections and results that have one ---- */

/* Find out what the pool's server is. 0; -1: the shim cannot use the server, and the reason is in
 * the error text. */
int cpq_dialect_enter(PGconn *conn);
/* Forget the dialect, and all prepared statements. */
void cpq_dialect_leave(PGconn *conn);
void cpq_statements_drop(PGconn *conn);
void cpq_dialect_on_parameter(PGconn *conn, const char *name, const char *value);
const char *cpq_dialect_parameter(const PGconn *conn, const char *name);
int cpq_dialect_pid(const PGconn *conn);
char cpq_dialect_name_quote(const struct cpq_dialect *dialect);
const char *cpq_dialect_title(const struct cpq_dialect *dialect);
const char *cpq_dialect_state(
	const struct cpq_dialect *dialect, int32_t native, const char *state);
/* PQsendQuery() and the other sending functions, after the checks of their arguments. */
int cpq_dialect_send_query(PGconn *conn, const char *query);
int cpq_dialect_send_params(
	PGconn *conn, const char *command, const struct cpq_values *v, int result_format);
int cpq_dialect_send_prepare(
	PGconn *conn, const char *name, const char *query, int n_types, const Oid *types);
int cpq_dialect_send_prepared(
	PGconn *conn, const char *name, const struct cpq_values *v, int result_format);
int cpq_dialect_send_named(
	PGconn *conn, enum cpq_request_kind kind, int is_portal, const char *name);
/* The request has ended, and no longer uses its statement. */
void cpq_statement_over(PGconn *conn, struct cpq_request *req);
/* The server has prepared the statement. */
void cpq_statement_prepared(struct cpq_statement *statement);
/* Set the parameters of a described statement in the result. 0 or -1. */
int cpq_statement_describe(const struct cpq_statement *statement, PGresult *res);
/* Describe a column of the server as a column of PostgreSQL. */
void cpq_dialect_column(const PGresult *res, const cenote_column *from, PGresAttDesc *to);
/* Must values be converted before the program gets them? */
int cpq_values_differ(const PGresult *res);
/* Add a row of converted values. 0; -1: no memory; 1: a value has no such form, and `room` has the
 * reason. */
int cpq_dialect_add_row(
	PGresult *res, const cenote_result *from, uint64_t at, PQExpBuffer room);
/* Set the command tag of the oldest request's next result. */
void cpq_dialect_tag(
	PGconn *conn, PGresult *res, const cenote_result *from, uint64_t n_rows);

/* ---- trace.c ---- */

/* All of these do nothing without a trace. Messages of the program: */
void cpq_trace_query(PGconn *conn, const char *query);
void cpq_trace_parse(
	PGconn *conn, const char *name, const char *query, int n, const Oid *types);
/* Write Bind, Describe and Execute. */
void cpq_trace_run(
	PGconn *conn, const char *name, const struct cpq_values *v, int result_format);
void cpq_trace_named(PGconn *conn, int is_close, char kind, const char *name);
/* Outside of a pipeline: write the Sync after each request. */
void cpq_trace_end_of_unit(PGconn *conn);
void cpq_trace_word(PGconn *conn, const char *word);
void cpq_trace_flush(PGconn *conn);
void cpq_trace_function(PGconn *conn, int fnid, const PQArgBlock *args, int n);
/* The answer to the oldest request: */
void cpq_trace_columns(PGconn *conn, const PGresult *res);
void cpq_trace_row(PGconn *conn, const cenote_result *from, uint64_t row);
void cpq_trace_complete(PGconn *conn, const cenote_result *from);
void cpq_trace_parsed(PGconn *conn);
void cpq_trace_description(PGconn *conn, const PGresult *res);
void cpq_trace_copy(PGconn *conn, const PGresult *res, int is_in);
void cpq_trace_copy_data(PGconn *conn, size_t n);
void cpq_trace_copy_end(PGconn *conn, char from, const char *why);
void cpq_trace_error(PGconn *conn, const cenote_diag *diag);
void cpq_trace_ready(PGconn *conn);
/* Messages that the server sends in between: */
void cpq_trace_notice(PGconn *conn, const cenote_diag *diag);
void cpq_trace_kept_notice(PGconn *conn, const PGresult *notice);
void cpq_trace_parameter(PGconn *conn, const char *name, const char *value);
void cpq_trace_notification(
	PGconn *conn, uint32_t pid, const char *channel, const char *payload);

#endif
