/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_PQ_H
#define CPQ_PQ_H

#include <cenote/cenote.h>
#include <stdio.h>
#include <sys/types.h>

#include "dialect/sql.h"
#include "expbuffer.h"
#include "face.h"
#include "face_list.h"
#include "original.h"

/*
 * The libpq shim: what its files share.
 *
 * Before a session: conninfo.c has the keywords, with uri.c, service.c and passfile.c; check.c looks at the values.
 * pool.c decides whether a pool or the original library serves a connection. connect.c goes from start to finish,
 * with login.c (user, password, TLS) and target.c; fallback.c hands a connection to the original later.
 *
 * With a session: request.c sends, queue.c keeps what was sent, answer.c makes results, async.c is PQgetResult(), and
 * exec.c has the calls that wait. pipeline.c and ahead.c are pipeline mode. copy.c, notice.c, notify.c, parameter.c,
 * cancel.c, fastpath.c, large.c (large objects) and password.c have one part each.
 *
 * result.c is PGresult, and result_read.c what programs read of it; message.c writes the texts of errors. status.c has
 * what a connection says of itself. face.c has the exported functions, and calls all others. dialect/ is for pools of
 * other servers than PostgreSQL.
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

/* As PQmblen(), but it reads only the `left` bytes (at least 1). The length may be more than that. */
int cpq_encoding_length(int encoding, const char *text, size_t left);
/* Is a character of that length, with its first byte above 127, legal in that encoding? */
int cpq_encoding_is_legal(int encoding, const char *text, int len);
/* Two bytes that are a character in no text of that encoding. */
void cpq_encoding_put_illegal(int encoding, char out[2]);

/* ---- escape.c ---- */

/* As in libpq, the functions without a connection use the last connection's encoding and settings. */
void cpq_escape_remember(const PGconn *conn);
/* The last connection is one of the original's. */
void cpq_escape_leave(void);

/* ---- conninfo.c ---- */

/* In PQconndefaults()'s order. */
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
	CPQ_KEY_SSLCOMPRESSION,
	CPQ_KEY_SSLCERT,
	CPQ_KEY_SSLKEY,
	CPQ_KEY_SSLPASSWORD,
	CPQ_KEY_SSLROOTCERT,
	CPQ_KEY_SSLCRL,
	CPQ_KEY_SSLCRLDIR,
	CPQ_KEY_SSLSNI,
	CPQ_KEY_REQUIREPEER,
	CPQ_KEY_SSL_MIN_PROTOCOL_VERSION,
	CPQ_KEY_SSL_MAX_PROTOCOL_VERSION,
	CPQ_KEY_GSSENCMODE,
	CPQ_KEY_KRBSRVNAME,
	CPQ_KEY_GSSLIB,
	CPQ_KEY_REPLICATION,
	CPQ_KEY_TARGET_SESSION_ATTRS,
	CPQ_N_KEYS
};

/* One value per keyword; NULL: not given. */
struct cpq_conninfo {
	char **values;
};

/* Keyword's value, "" if it was not given. */
static inline const char *
cpq_conninfo_get(const struct cpq_conninfo *info, enum cpq_key key)
{
	return info->values != NULL && info->values[key] != NULL ? info->values[key] : "";
}

void cpq_conninfo_finish(struct cpq_conninfo *info);
/* Two ways to begin; then the defaults of service file, environment and PostgreSQL. 0; or -1, and a message (a
 * line with "\n") is appended. */
int cpq_conninfo_from_text(
	struct cpq_conninfo *info, const char *conninfo, PQExpBuffer error);
int cpq_conninfo_from_params(struct cpq_conninfo *info, const char *const *keywords,
	const char *const *values, int expand_dbname, PQExpBuffer error);
int cpq_conninfo_complete(struct cpq_conninfo *info, PQExpBuffer error);
/* Does the environment have any variable that begins with PG? One look for all of libpq's. */
int cpq_environment_says_something(void);
/* Set what a connection uses where it says nothing, and what PQconndefaults() does not return. */
int cpq_conninfo_for_login(struct cpq_conninfo *info, PQExpBuffer error);
/* The values that are not defaults, for PQconnectdbParams(); the texts are borrowed. */
void cpq_conninfo_list(const struct cpq_conninfo *info,
	const char *ret_keywords[CPQ_N_KEYS + 1], const char *ret_values[CPQ_N_KEYS + 1]);

/* ---- check.c ---- */

/* Would libpq accept the values? 0; -1 and what is wrong. */
int cpq_conninfo_check(const struct cpq_conninfo *info, PQExpBuffer error);
/* The same for the port, which libpq checks when it connects. A list is not checked. */
int cpq_port_check(const struct cpq_conninfo *info, PQExpBuffer error);

/* ---- pool.c ---- */

enum cpq_way {
	CPQ_WAY_POOL,
	CPQ_WAY_ORIGINAL,
	CPQ_WAY_NONE
};

struct cpq_route {
	enum cpq_way way;
	char *pool; /* its name; malloc()ed */
};

/* From CENOTE_SERVER, CENOTE_POOL, CENOTE_FALLBACK and the mapping file. 0, or -1 and the reason. */
int cpq_route_find(
	struct cpq_route *route, const struct cpq_conninfo *info, PQExpBuffer error);
void cpq_route_finish(struct cpq_route *route);

/* ---- connections ---- */

/* What the connection waits for: libpq's asyncStatus. */
enum cpq_async {
	CPQ_IDLE, /* nothing is outstanding */
	CPQ_BUSY, /* an answer is waited for */
	CPQ_READY, /* it is there, for PQgetResult() */
	CPQ_READY_MORE, /* some rows of it are */
	CPQ_BETWEEN, /* in a pipeline: a request was answered, and its NULL is next */
	CPQ_COPY_IN,
	CPQ_COPY_OUT,
};

/* A request, until PQgetResult() has returned all about it. */
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
	int is_portal; /* DESCRIBE, CLOSE: of a portal */
	int is_stream; /* its rows come as a stream */
	int is_answered; /* the trace has the beginning of its answer */
	int is_asked_for; /* a synchronisation point or a flush asks for its answer */
	int is_ended; /* libcenote has no more of it */
	cenote_result *held; /* its answer, until it is asked for */
	PGresult *begun; /* for its rows: a notice brought their columns early */
	PGresult *notices; /* came with it, before earlier answers were taken */
	struct cpq_parameter *changes; /* the same */
	cenote_stmt *stmt; /* made for this request; NULL: none */
	char *query; /* for the error cursor; "" where libpq has none */
	size_t query_size; /* room for it, which the next request reuses */

	/* of a pool of another server: */
	PGresult *answer; /* the shim's own, in place of the server's; NULL: none */
	struct cpq_statement *statement; /* NULL: none */
	int is_binary; /* the program wants values in binary form */
	int is_many; /* it may have several results, though it is not a text */
	struct cnc_sql sql; /* the statements whose results are still to come */
	struct cpq_head head; /* the tag of the next result */
	int has_head;
};

/* Parameters, as the program gives them. */
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
	int is_initialised; /* of a result: RESULTCREATE succeeded */
};

struct cpq_events {
	struct cpq_event *list;
	int n;
	int cap;
};

/* A character set of MySQL with characters of several bytes (common/charset.h). */
struct cpq_charset {
	unsigned (*charlen)(unsigned c);
	unsigned (*valid)(const char *start, const char *end);
};

/* What a result copies from its connection, because it may outlive the connection. */
struct cpq_habits {
	PGVerbosity verbosity;
	PGContextVisibility show_context;
	int encoding; /* PostgreSQL's number; -1: the session has a character set that is not known here */
	const struct cpq_charset
		*charset; /* how the server reads texts; NULL: as the encoding says */
	PQnoticeReceiver receiver;
	void *receiver_arg;
	PQnoticeProcessor processor;
	void *processor_arg;
	const struct cpq_dialect *dialect; /* NULL: the server is PostgreSQL */
};

/*
 * The requests that are not finished, oldest first (queue.c). In a pipeline the program is done with a request when
 * it has its result, but libcenote may still have the end of it: then n_done < n_over.
 */
struct cpq_queue {
	struct cpq_request *first;
	struct cpq_request *last;
	struct cpq_request *spare; /* one is kept, so that a query needs no allocation */
	/* The requests are numbered from 1, in the order in which they were sent. */
	uint64_t n_sent; /* number of the newest one */
	uint64_t
		n_done; /* libcenote has given all results of the requests up to this one */
	uint64_t n_over; /* those up to this one are over for the program */
};

/* The result whose rows are being read, in chunks or to its end (answer.c). */
struct cpq_stream {
	cenote_result *res; /* NULL: none */
	PGresult *
		head; /* has the columns; chunks are copies of it, and it ends the result */
	uint64_t row; /* the next row of the batch at hand */
	uint64_t n_rows; /* rows that the program has */
	int is_whole; /* all its rows have come */
	int chunk; /* rows in a chunk, for the request that was sent last; 0: all */
	int is_single_row; /* chunk is 1, and its results are PGRES_SINGLE_TUPLE */
};

/* The copy that is open (copy.c). */
struct cpq_copy {
	cenote_result *res; /* NULL: none */
	PQExpBufferData line; /* what PQgetline() had no room for … */
	size_t line_at; /* … from here on */
};

/* The server's parameters (parameter.c). */
struct cpq_settings {
	struct cpq_parameter *list; /* as the program sees them */
	struct cpq_parameter *changes; /* take effect at the end of a request */
	void *first, *first_texts; /* the memory of those that the session began with */
};

/* Notifications that the program has not taken, oldest first (notify.c). */
struct cpq_notifies {
	PGnotify *first;
	PGnotify *last;
	PGnotify *behind; /* the first that waits for the end of the request */
};

/* PQtrace() (trace.c). */
struct cpq_trace {
	FILE *file; /* NULL: no trace */
	int flags;
	PQExpBufferData notices; /* to be written before the end of the statement */
	PQExpBufferData rest; /* to be written before ReadyForQuery */
};

/* The attempt to connect (connect.c, login.c). */
struct cpq_attempt {
	int64_t deadline_ms; /* when a waiting caller gives up; 0: never */
	int is_resetting;
	int is_polled; /* the program has asked about this attempt */
	int is_unreachable; /* the last attempt found no cenoted */
	int gives_login; /* this attempt sends the program's user and password */
	int needs_password; /* the last one failed because the program gave no password */
	char *file_password; /* from the passfile, once it was searched; "": none */
};

struct pg_conn {
	const char *tag; /* &cpq_tag; must be first */
	PGconn *stand_in; /* the original's, after a fallback; NULL */
	long owner; /* the process that made it: a forked child must not use it */
	struct cpq_conninfo info;
	int is_told; /* `info` is complete; before, the program gets no values */
	struct cpq_route route;
	cenote_conn *session; /* NULL before connecting, and when that failed */
	ConnStatusType status;
	struct cpq_attempt attempt;
	PQExpBufferData error; /* PQerrorMessage() */
	struct cpq_habits habits;
	struct cpq_events events;
	int is_nonblocking;
	enum cpq_async async;
	PGpipelineStatus pipeline;
	struct cpq_queue queue;
	struct cpq_stream stream;
	struct cpq_copy copy;
	PGresult *ready; /* what was found, for PQgetResult() */
	int transaction; /* enum cenote_tx, as of the last ReadyForQuery */
	int is_dying; /* the server has announced that it ends the session */
	int is_end_read; /* the program has read all that came before the session was lost */
	int is_watched; /* the program has asked for the descriptor */
	int fd; /* the descriptor of a session that libcenote has lost; -1: none */
	cenote_params *params; /* of the request that is being sent; kept for the next */
	struct cpq_cancel_box *cancel; /* NULL: nobody has asked for a PGcancel */
	struct cpq_settings settings;
	struct cpq_notifies notifies;
	PGresult *notices; /* received, and not given to the program yet */
	int is_only_reading; /* PQconsumeInput() reads: keep notices for a later call */
	struct cpq_trace trace;
	int has_large_objects; /* the server was asked for their functions */
	int server_version;
	int standard_strings;
	/* of a pool of another server: */
	struct cpq_statement *statements; /* those that are prepared */
	char version_text[96]; /* what the program gets as server_version */
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
 * The functions that the files share, from the bottom up: a file calls only files that stand above it here, and
 * files of its own group.
 */

/* ---- error.c ---- */

extern char cpq_empty[1];

/* Append a line of libpq's words to the error text. */
void cpq_say(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The session is gone: libpq's words for it, and CONNECTION_BAD. */
void cpq_say_closed(PGconn *conn);
/* What libcenote said of its last failure, in libpq's form. A lost session makes the connection CONNECTION_BAD. */
void cpq_say_failure(PGconn *conn, int status);
/* Is there a session that this process may use? 0; -1, and the reason in the error text. */
int cpq_enter(PGconn *conn);

/* ---- wait.c ---- */

int64_t cpq_now_ms(void);
/* Wait until the descriptor is ready for what libcenote wants: 1; 0 when the deadline (0: none) has passed; -1 when
 * there is nothing to wait for. */
int cpq_wait(PGconn *conn, int64_t deadline_ms);
/* Libcenote waits before it tries again. There is no descriptor, so a program that polls would not notice. */
int cpq_is_between_tries(const PGconn *conn);
/* cenote_flush(), and wait out the time between two tries to get a session. */
int cpq_push(PGconn *conn);
/* cenote_process(): take what has come, and keep its notices for later. */
int cpq_read(PGconn *conn);

/* ---- conninfo.c, service.c, uri.c, check.c: see above ---- */

/* HOME/NAME, malloc()ed; NULL: there is no home, or no memory. */
char *cpq_home_file(const char *name);

/* ---- passfile.c ---- */

/* The password for the program's server, user and database: malloc()ed; "" if there is none; NULL without memory. */
char *cpq_passfile_find(const struct cpq_conninfo *info);

/* ---- result.c ---- */

#define CPQ_TUPLES_CHUNK 12 /* PGRES_TUPLES_CHUNK of libpq 17 */

/* libpq's PGresAttValue. */
struct cpq_value {
	int len; /* -1: NULL */
	char *text; /* where the pool's answer lies, or in the arena; cpq_empty for NULL */
};

/* Letters of error fields are ASCII. */
#define CPQ_FIELDS 128

struct pg_result {
	/* libpq's own members in its own order: psycopg 3's compiled code reads them in memory */
	int n_rows;
	int n_columns;
	PGresAttDesc *columns;
	struct cpq_value **rows;
	int cap_rows;
	int n_params; /* of a described statement */
	Oid *params;
	ExecStatusType status;
	char command[64];
	int is_binary;
	/* from here on ours */
	const char *tag; /* &cpq_tag; libpq has a function's address here */
	PGresult *next; /* of the notices that are not told yet */
	cenote_result *res; /* what the values lie in; NULL: the arena */
	int wants_binary; /* of a pool of another server: values are given in binary form */
	char **fields; /* of an error, by their letter: CPQ_FIELDS of them; NULL: there are none */
	char *message; /* PQresultErrorMessage(); NULL: "" */
	char *query; /* for the error cursor */
	struct cpq_habits habits;
	struct cpq_events events;
	void *arena; /* blocks, freed with it */
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
/* A new result with the connection's habits and events (conn may be NULL). */
PGresult *cpq_result_new(PGconn *conn, ExecStatusType status);
/* An error with the connection's error text. Without memory it is cpq_result_of_no_memory: NULL would tell the
 * program that there are no more results. */
PGresult *cpq_result_failure(PGconn *conn);
/* The same, which says that there is no memory. */
PGresult *cpq_no_memory(PGconn *conn);
/* With the columns of libcenote's result, and no rows yet. */
PGresult *cpq_result_rows(PGconn *conn, cenote_result *from, ExecStatusType status);
/* A part of the result that `head` begins: its columns and all else, and no rows yet. */
PGresult *cpq_result_part(const PGresult *head, ExecStatusType status);
/* Point to all rows of `from`, without copying them. The result has the columns already, and owns `from` from now
 * on, unless this fails. 0 or -1. */
int cpq_result_take_rows(PGresult *res, cenote_result *from);
/* Copy a row of libcenote's result. 0 or -1. */
int cpq_result_add_row(PGresult *res, const cenote_result *from, uint64_t at);
/* Add a row of NULLs, and set a value of the last row. 0 or -1. */
int cpq_result_row_begin(PGresult *res);
int cpq_result_row_set(PGresult *res, int column, const char *bytes, size_t len);
/* An error of our own in the server's form; NULL without memory. */
PGresult *cpq_result_refusal(PGconn *conn, const char *sqlstate, const char *text);
/* A field as the server sent it. cenoted may have replaced it, to say what became of the request. */
const char *cpq_servers_field(const cenote_diag *diag, char letter);
/* Set an error's fields and text. 0 or -1. */
int cpq_result_set_diag(PGresult *res, const cenote_diag *diag, const char *query);
/* The two halves of it. */
int cpq_result_set_fields(PGresult *res, const cenote_diag *diag, const char *query);
int cpq_result_set_message(PGresult *res);
/* It is the status of an error or a notice. */
int cpq_is_failure(ExecStatusType status);
void cpq_result_set_tag(PGresult *res, const char *tag);
/* Give the program a notice of the shim's own. */
void cpq_notice_own(const struct cpq_habits *habits, const char *format, ...)
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

/* The program wants the answers to all that it has sent. */
void cpq_pipeline_ask(PGconn *conn);
/* In a pipeline: the request whose answer libcenote receives now; NULL: none. */
struct cpq_request *cpq_pipeline_current(const PGconn *conn);
/* Notices of the request came. PostgreSQL sends earlier answers with them. */
void cpq_pipeline_ask_before(PGconn *conn, const struct cpq_request *req);
/* cenote_get_result(), and note that a request has ended. */
int cpq_get_result(PGconn *conn, cenote_result **ret_res);
/* The same, but in a pipeline only what the program has asked for. */
int cpq_pipeline_get(PGconn *conn, cenote_result **ret_res);

/* ---- notice.c ---- */

void cpq_default_receiver(void *arg, const PGresult *res);
void cpq_default_processor(void *arg, const char *message);
void cpq_on_notice(const cenote_diag *diag, void *user);
/* Give a list of notices to the program. */
void cpq_notices_tell(PGconn *conn, PGresult **list);
/* The oldest request's turn has come: give the program the notices that came with it. */
void cpq_notices_catch_up(PGconn *conn);
void cpq_notices_drop(PGresult **list);

/* ---- parameter.c ---- */

void cpq_on_parameter(const char *name, const char *value, void *user);
/* Take all parameters of a new session: 0, or -1 without memory. */
int cpq_parameters_read(PGconn *conn);
/* The request's turn has come: its changes take effect with the next cpq_parameters_settle(). */
void cpq_parameters_catch_up(PGconn *conn, struct cpq_request *req);
void cpq_parameters_settle(PGconn *conn);
void cpq_parameters_drop(PGconn *conn);

/* ---- cancel.c ---- */

/* Another request is running now. */
void cpq_cancel_follow(PGconn *conn);
void cpq_cancel_leave(PGconn *conn);

/* ---- queue.c ---- */

/* A request that is to be sent next; NULL without memory. `query` may be NULL. */
struct cpq_request *cpq_request_new(
	PGconn *conn, enum cpq_request_kind kind, const char *query);
/* Libcenote has queued it, or refused it (status < 0). Returns what PQsendQuery() returns: 1 or 0. */
int cpq_request_sent(PGconn *conn, struct cpq_request *req, int status);
/* The rows of a request that is sent now come as a stream. */
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

/* The next result: CENOTE_OK; CENOTE_DONE at the end of a request; CENOTE_AGAIN. */
int cpq_next_result(PGconn *conn, PGresult **ret_res);
/* Take what libcenote still has of requests that are over for the program: CENOTE_OK, CENOTE_AGAIN. */
int cpq_take_owed(PGconn *conn);
/* The result is a chunk: more rows of the same statement follow. */
int cpq_is_part(const PGresult *res);
/* What the server said when it ended the session that libcenote has lost; NULL: nothing. */
const cenote_diag *cpq_last_words(const PGconn *conn);
/* The session is lost or useless: a result that says so. */
PGresult *cpq_lost(PGconn *conn, int status);

/* ---- async.c ---- */

/* If an answer has come, make it ready for PQgetResult(). */
void cpq_look(PGconn *conn);
/* The ready result is the last one of the oldest request. */
int cpq_request_is_told(PGconn *conn);
/* PQgetResult() without telling event procedures. */
PGresult *cpq_take_result(PGconn *conn);

/* ---- notify.c ---- */

void cpq_on_notification(
	uint32_t pid, const char *channel, const char *payload, void *user);
void cpq_notifies_drop(PGconn *conn);

/* ---- copy.c ---- */

/* The copy is over for the program, whatever still comes of it. */
void cpq_copy_over(PGconn *conn);

/* ---- exec.c ---- */

/* Every call that waits for its result begins with this. */
int cpq_exec_begin(PGconn *conn);

/* ---- fastpath.c ---- */

/* Where the value of a function goes. */
struct cpq_function_value {
	void *to;
	size_t room; /* a longer value is an error, and nothing is written */
	int *len; /* the length of the value; -1: NULL */
	int is_int; /* two or four bytes, which become an int */
};

/* PQfn() with a limit. NULL: it failed, or the value is too long; the connection's error says why. */
PGresult *cpq_function(PGconn *conn, int fnid, const struct cpq_function_value *ret_value,
	const PQArgBlock *args, int nargs);

/* ---- login.c ---- */

/* Give libcenote the user, the password and TLS as the program has them: a status of libcenote's. */
int cpq_login_give(PGconn *conn);
/* The attempt ended with `status`: 1: try again, now with the user and password; 0: that was all. */
int cpq_login_again(PGconn *conn, int status);
/* Why the session must not be used, though it is there; NULL: it may be. */
const char *cpq_login_missed(PGconn *conn);
void cpq_login_forget(PGconn *conn);

/* ---- target.c ---- */

/* Why the session does not fit target_session_attrs; NULL: it does. */
const char *cpq_target_missed(const PGconn *conn);

/* ---- fallback.c ---- */

/* After an attempt that found no cenoted: let the original serve the handle, if that is allowed. 0: it does, with a
 * connection that is made (is_waited_for) or must still be polled. -1: it does not. */
int cpq_fall_back(PGconn *conn, int is_waited_for);

/* ---- events.c ---- */

int cpq_events_copy(struct cpq_events *to, const struct cpq_events *from);
void cpq_events_finish(struct cpq_events *events);
void cpq_events_tell_reset(PGconn *conn);
void cpq_events_tell_destruction(PGconn *conn);

/* ---- dialect: only for connections and results that have one ---- */

/* Find out what the pool's server is: 0; -1: the shim cannot use it, and the reason. */
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
/* PQsendQuery() and the others, after the checks of their arguments. */
int cpq_dialect_send_query(PGconn *conn, const char *query);
int cpq_dialect_send_params(
	PGconn *conn, const char *command, const struct cpq_values *v, int result_format);
int cpq_dialect_send_prepare(
	PGconn *conn, const char *name, const char *query, int n_types, const Oid *types);
int cpq_dialect_send_prepared(
	PGconn *conn, const char *name, const struct cpq_values *v, int result_format);
int cpq_dialect_send_named(
	PGconn *conn, enum cpq_request_kind kind, int is_portal, const char *name);
/* The request is over. */
void cpq_statement_over(PGconn *conn, struct cpq_request *req);
/* The server has prepared it. */
void cpq_statement_prepared(struct cpq_statement *statement);
/* Parameters of a description. 0 or -1. */
int cpq_statement_describe(const struct cpq_statement *statement, PGresult *res);
/* A column of the server's becomes one of PostgreSQL's. */
void cpq_dialect_column(const PGresult *res, const cenote_column *from, PGresAttDesc *to);
/* The program gets other values than those that came. */
int cpq_values_differ(const PGresult *res);
/* Add a row of those: 0; -1: no memory; 1: a value has no such form, and `room` says why. */
int cpq_dialect_add_row(
	PGresult *res, const cenote_result *from, uint64_t at, PQExpBuffer room);
/* The tag of the oldest request's next result. */
void cpq_dialect_tag(
	PGconn *conn, PGresult *res, const cenote_result *from, uint64_t n_rows);

/* ---- trace.c ---- */

/*
 * All of these do nothing without a trace. What the program asks: */
void cpq_trace_query(PGconn *conn, const char *query);
void cpq_trace_parse(
	PGconn *conn, const char *name, const char *query, int n, const Oid *types);
/* Bind, Describe, Execute. */
void cpq_trace_run(
	PGconn *conn, const char *name, const struct cpq_values *v, int result_format);
void cpq_trace_named(PGconn *conn, int is_close, char kind, const char *name);
/* Outside of a pipeline: the Sync after each request. */
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
/* What the server sends in between: */
void cpq_trace_notice(PGconn *conn, const cenote_diag *diag);
void cpq_trace_kept_notice(PGconn *conn, const PGresult *notice);
void cpq_trace_parameter(PGconn *conn, const char *name, const char *value);
void cpq_trace_notification(
	PGconn *conn, uint32_t pid, const char *channel, const char *payload);

#endif
