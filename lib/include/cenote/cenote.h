/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CENOTE_CENOTE_H
#define CENOTE_CENOTE_H

/**
 * @file cenote/cenote.h
 *
 * libcenote: database sessions lent from a pool.
 *
 * cenoted keeps sessions logged in to database servers; this library borrows one, runs
 * statements on it and gives it back. Attaching costs a few microseconds where logging
 * in costs milliseconds.
 *
 * LIFE CYCLE
 *
 *     cenote_conn *conn;
 *     cenote_result *res;
 *
 *     if (cenote_conn_create(NULL, &conn) < 0)
 *             return;                                  // out of memory: the only reason
 *     if (cenote_conn_set_uri(conn, "cenote:///inventory") < 0 ||
 *         cenote_connect(conn) < 0 ||
 *         cenote_query(conn, "select 1", CENOTE_NTS, NULL, NULL, &res) < 0)
 *             puts(cenote_diag_message(cenote_conn_diag(conn)));
 *     else
 *             puts(cenote_result_text(res, 0, 0, NULL)), cenote_result_destroy(res);
 *     cenote_conn_destroy(conn);                       // gives the session back
 *
 * create → set → connect: creating fails only for memory, so there is always a handle
 * that holds the diagnostics.
 *
 * BLOCKING AND NON-BLOCKING
 *
 * Every call that talks to cenoted exists in two layers. The cenote_send_…() calls queue
 * a request; cenote_get_result() takes the results in order. The calls without "send"
 * (cenote_query(), cenote_commit(), …) are those two in a loop. On a handle made
 * non-blocking with cenote_set_nonblocking(), a call that would wait returns
 * CENOTE_AGAIN: wait until cenote_fd() is ready for cenote_wants(), and call again with
 * the same arguments. cenote_fd() may be another descriptor after each call that
 * returned CENOTE_AGAIN (the library tries several hosts, or attaches again), so ask
 * each time.
 *
 * PIPELINING
 *
 * Between cenote_pipeline_begin() and cenote_pipeline_end() any number of requests may
 * be queued before results are taken. Each request gives its results and then CENOTE_DONE
 * once; a synchronisation point is a request as well. After a failed request, the requests
 * up to the next cenote_send_sync() are skipped: they give CENOTE_RESULT_SKIPPED.
 *
 * YIELD AND RE-ATTACH
 *
 * The pool may take back the session of a client that is idle and holds nothing: no
 * transaction, no temporary table, no changed setting (cenote_pins()). The library then
 * attaches again when the program next needs a session. It prepares statements again and
 * sets session options again, and the program notices nothing. If the lost session held
 * something, the program gets CENOTE_ERR_CONN. Nothing ever runs twice.
 *
 * The new session may read texts in another way, because somebody changed a setting of the
 * server: the character set, PostgreSQL's standard_conforming_strings, or MySQL's sql_mode
 * (NO_BACKSLASH_ESCAPES, ANSI_QUOTES). But the program escaped its texts for the previous session.
 * Then nothing is sent to the new session, and calls return CENOTE_ERR_CONN, SQLSTATE 08006,
 * until cenote_connect().
 *
 * THREADS, FORK, SIGNALS
 *
 * Any number of handles; one thread at a time for each connection and everything that was
 * made from it. A cenote_cancel may be used from any thread. After fork() the child must not
 * use the parent's connections but may cenote_conn_destroy() them: that closes the
 * child's descriptor and says nothing to cenoted. Other calls on such a handle return
 * CENOTE_ERR_STATE. Calls interrupted by a signal (EINTR) are repeated.
 *
 * WHAT THE LIBRARY DOES TO YOUR PROCESS
 *
 * Nothing. No global or thread-local state, no threads, no signal dispositions, no output,
 * no exit, no locale, no environment changes. It reads the environment variables
 * CENOTE_SERVER and, for the default run directory, XDG_RUNTIME_DIR, in cenote_connect().
 * Its descriptors are close-on-exec; SIGPIPE is never raised.
 *
 * TEXT AND NUMBERS
 *
 * Text is UTF-8. Every text and value handed out is followed by a zero byte that its
 * length does not count. Columns, rows and parameters are counted from 0.
 *
 * COMPATIBILITY
 *
 * Handles are opaque; structures that the caller fills begin with their size. Until 1.0 a
 * minor release may change the ABI and then changes the soname; NEWS.md lists what
 * changed. Afterwards only additions.
 */

#include <cenote/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CENOTE_VERSION_MAJOR 0
#define CENOTE_VERSION_MINOR 1
#define CENOTE_VERSION_PATCH 0

#if defined(__GNUC__) || defined(__clang__)
#define CENOTE_API        __attribute__((visibility("default")))
#define CENOTE_MUST_CHECK __attribute__((warn_unused_result))
#else
#define CENOTE_API
#define CENOTE_MUST_CHECK
#endif

/** As a length: the text ends at its first zero byte. */
#define CENOTE_NTS ((size_t)-1)

typedef struct cenote_conn cenote_conn;
typedef struct cenote_stmt cenote_stmt;
typedef struct cenote_params cenote_params;
typedef struct cenote_result cenote_result;
typedef struct cenote_column cenote_column;
typedef struct cenote_diag cenote_diag;
typedef struct cenote_cancel cenote_cancel;

/* ---------------------------------------------------------------- library ----- */

/**
 * Version of the library at run time: major * 10000 + minor * 100 + patch.
 * Threads: any.   Since: 0.1
 */
CENOTE_API uint32_t cenote_version(void);

/**
 * Name of a status, as in the header ("CENOTE_ERR_CONN"); "unknown status" if unknown.
 * @return static text.   Threads: any.   Since: 0.1
 */
CENOTE_API const char *cenote_status_name(int status);

/**
 * Does the status mean that the session is gone?
 * @return 1 or 0.   Threads: any.   Since: 0.1
 */
CENOTE_API int cenote_status_is_fatal(int status);

/* ------------------------------------------------------------- connections ----- */

/**
 * Make a connection handle. Nothing is opened yet.
 *
 * @param alloc     where memory comes from, copied; NULL: malloc() and free()
 * @param ret_conn  set to the handle; the caller destroys it with cenote_conn_destroy()
 *
 * @return CENOTE_OK, CENOTE_ERR_ARG, CENOTE_ERR_NOMEM.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_conn_create(
	const cenote_allocator *alloc, cenote_conn **ret_conn);

/**
 * Close if needed, and free the handle. Statements, parameters and results made from it
 * stay valid memory: results may be read on; statements may only be destroyed. Never
 * blocks. NULL is allowed.   Since: 0.1
 */
CENOTE_API void cenote_conn_destroy(cenote_conn *conn);

/**
 * Set the function that returns the id of the process. Each call uses it, to refuse a forked
 * child. This is for programs that have a cheaper way than a system call.
 *
 * @param function  as getpid(); it must tell a forked child from its parent. NULL: getpid() itself
 *
 * Since: 0.1
 */
CENOTE_API void cenote_conn_set_getpid(cenote_conn *conn, long (*function)(void));

/**
 * Set an option by name, before cenote_connect(). The names are those of the URI's query:
 *
 *   pool              the pool's name (default: none; needed)
 *   host, port        TCP: where cenoted listens (several hosts: a,b:9433,c; default port 9432)
 *   hosts             the order in which hosts are tried: ordered (default) or random
 *   run_dir           unix socket: the directory of POOL.sock (default: $CENOTE_SERVER, then
 *                     $XDG_RUNTIME_DIR/cenote if that has it, then /run/cenote)
 *   user, password    who logs in (default: the unix user). The library proves that it knows
 *                     the password. It sends the password itself only to a pool with auth =
 *                     pass-through, over a unix socket or with tls=verify-full. A pool that asks
 *                     for no password does not learn that there is one.
 *   database          if given, it must be the pool's
 *   program           name of the program (default: the name of its file)
 *   application_name  free text for the pool's status
 *   traceparent       trace context (W3C), for the pool's log; "" for none. It is checked. For the
 *                     context of one statement, write a comment into it: traceparent='00-...'
 *   connect_timeout   for one attach, with queueing; "10s", "500ms"; 0 for ever (default 60s)
 *   query_timeout     for one blocking call; default 0, for ever
 *   reattach_timeout  how long to try to attach again while cenoted restarts (default 30s)
 *   reattach          yes (default); no: return CENOTE_ERR_CONN instead; planned: only if the
 *                     pool took the session back, so that the program sees a loss
 *   borrow            auto (default): where the pool offers it, talk to the server without a process
 *                     of the pool in between, on a unix socket and without TLS (needs the module
 *                     cenote-loan.so; see docs/lending.md), unless $CENOTE_BORROW is no;
 *                     no: never
 *   cache             a directory (absolute path): keep results of queries in files there, and take
 *                     them from there while they are young enough (docs/client-cache.md). It must
 *                     exist and belong to the user, and nobody else may write to it. Otherwise the
 *                     server answers, and cenote_info(conn, "cache") says why. The server also answers
 *                     whenever a file cannot be used. A handle with CENOTE_PASSIVE does not use the
 *                     directory. Default: none
 *   cache_ttl         how old such a result may be (default 60s; 0: any age)
 *   allow_files       no (default) or yes: may the server ask for a file of the client?
 *                     (MySQL's LOAD DATA LOCAL INFILE); see cenote_copy_file(). May also be set
 *                     while connected.
 *   max_frame         largest message accepted, bytes or "64MB" (at least 64kB; default, and the
 *                     most: 1GB less 1)
 *   tls               disable; allow: if the pool has TLS; require: fail without TLS;
 *                     verify-ca: a trusted authority must have signed the certificate;
 *                     verify-full: and it must name the host. auto (default): disable on a
 *                     unix socket, allow over TCP. Only verify-ca and verify-full keep out
 *                     somebody between the program and cenoted.
 *   ca, ca_path       file or directory of the trusted authorities (default: the system's);
 *                     if given, allow and require verify as well
 *   cert, key         the client's own certificate, and its key (default: in the same file), PEM
 *   crl               file of revoked certificates, for the whole chain, PEM
 *   tls_min           1.2 (default) or 1.3
 *   ciphers, groups   all that are allowed, by OpenSSL's names, separated by ':'; ciphers of TLS
 *                     1.2 and 1.3 are in one list
 *   sni               the name to ask for (default: the host's); on a unix socket also the one
 *                     that verify-full looks for
 *
 * TLS and passwords need the module cenote-crypto.so, which needs OpenSSL 3. If that is not
 * installed, cenote_connect() fails with CENOTE_ERR_UNSUPPORTED, and the message names it. The
 * module keeps TLS sessions and contexts until the process ends.
 *
 * Times need a unit (ms, s, min, h), except 0. A value is at most 4,096 bytes long.
 *
 * @param name   option; an unknown one is an error whose message names the nearest
 * @param value  its value, copied; NULL for the default
 *
 * @return CENOTE_OK, CENOTE_ERR_ARG (diagnostics say why), CENOTE_ERR_STATE when connected,
 *         CENOTE_ERR_NOMEM.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_conn_set(
	cenote_conn *conn, const char *name, const char *value);

/**
 * Set options from a URI: cenote:///POOL, cenote:///POOL?run_dir=/path&option=value,
 * cenote://user:password@host:port/POOL?…; percent-encoding as in RFC 3986. A plain word
 * without "://" is a pool's name.
 *
 * @return as cenote_conn_set(); on failure no option was changed.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_conn_set_uri(cenote_conn *conn, const char *uri);

/**
 * The value of an option that is in force now.
 * @return text, borrowed until the next cenote_conn_set…() or destroy; NULL for an unknown
 *         name and for "password".   Since: 0.1
 */
CENOTE_API const char *cenote_conn_get(const cenote_conn *conn, const char *name);

/**
 * Attach to a session of the pool. Waits for a free one, up to the pool's queue_timeout.
 * It looks up the host's name first, which blocks even on a non-blocking handle. A connected
 * handle gives CENOTE_ERR_STATE. If the session was lost or closed, this gets a new one.
 *
 * @return CENOTE_OK; CENOTE_AGAIN (non-blocking); CENOTE_ERR_ARG no pool named;
 *         CENOTE_ERR_CONN cannot be reached, or the pool is busy or its server down;
 *         CENOTE_ERR_AUTH; CENOTE_ERR_TIMEOUT; CENOTE_ERR_UNSUPPORTED (no
 *         TLS here); CENOTE_ERR_PROTOCOL; CENOTE_ERR_NOMEM.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_connect(cenote_conn *conn);

/**
 * Give the session back. The pool rolls back an open transaction. Never blocks; does nothing
 * when not connected.   Since: 0.1
 */
CENOTE_API void cenote_close(cenote_conn *conn);

/** `on` is one of enum cenote_nonblocking; it begins as CENOTE_BLOCKING.   Since: 0.1 */
CENOTE_API int cenote_set_nonblocking(cenote_conn *conn, int on);

/**
 * The descriptor to wait on; -1 if there is none. Borrowed: never read, write or close it.
 * After a loss there is none. But the former descriptor stays readable until the next
 * cenote_connect() or cenote_close(), so that a waiting program wakes up.
 * Since: 0.1
 */
CENOTE_API int cenote_fd(const cenote_conn *conn);

#define CENOTE_WANTS_READ  1
#define CENOTE_WANTS_WRITE 2

/** What to wait for: CENOTE_WANTS_READ, CENOTE_WANTS_WRITE, both or 0.   Since: 0.1 */
CENOTE_API int cenote_wants(const cenote_conn *conn);

/**
 * Milliseconds after which to repeat a non-blocking call even if the descriptor was not ready
 * (time limits, pauses between tries of a re-attach); -1: never.
 * Since: 0.1
 */
CENOTE_API int cenote_wait_ms(const cenote_conn *conn);

/**
 * Write what is queued and read what is there, without waiting, whatever the handle's
 * mode. Notices are delivered from here and from every call that reads.
 *
 * @return CENOTE_OK nothing is left to write; CENOTE_AGAIN something is; or an error.
 *         Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_process(cenote_conn *conn);

/**
 * Would cenote_get_result() block? 1 or 0. This reads nothing; call cenote_process()
 * first.   Since: 0.1
 */
CENOTE_API int cenote_is_busy(const cenote_conn *conn);

/**
 * The number of requests whose whole answer has come, without the requests that the program has
 * taken up to CENOTE_DONE. A notice handler may also call this: its notice belongs to the next
 * request, if there is one.   Since: 0.1
 */
CENOTE_API uint32_t cenote_n_answered(const cenote_conn *conn);

/** 1 when attached or able to re-attach without the program noticing, else 0. Since: 0.1 */
CENOTE_API int cenote_is_connected(const cenote_conn *conn);

/**
 * Wait until the server sends something without a request (a notification, a notice, a
 * parameter), on a blocking or non-blocking handle. Queued messages are written.
 *
 * @param timeout_ms  the time limit; 0: only look, -1: wait for ever
 *
 * @return CENOTE_OK something came, and its handler was called; CENOTE_DONE the time is up, or
 *         nothing can come (the pool has the session back); CENOTE_ERR_STATE requests are
 *         outstanding, or not connected; any connection error.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_wait(cenote_conn *conn, int timeout_ms);

/**
 * Facts of the session, by name: backend, server, server_version, database, worker_pid,
 * session (number), pool, socket (the address), login (the mechanism: SCRAM-SHA-256-PLUS,
 * SCRAM-SHA-256, PLAIN, EXTERNAL; "": the pool asked for none), protocol, features (names of the
 * backend's capabilities, comma-separated), attaches (how often this handle was attached),
 * data_path (lent: the program talks to the server itself; relayed: through the pool),
 * cache ("used", or why the directory of the option cache is not used; "": no statement has needed
 * it yet),
 * position (where the server was after the program's last write, if the pool has read_own_writes),
 * and each parameter that the backend reported under its own name.
 *
 * @return text, borrowed until the next call that talks to cenoted; NULL if unknown.
 *         Since: 0.1
 */
CENOTE_API const char *cenote_info(const cenote_conn *conn, const char *name);

/** The connection about which cenote_tls_info() reports. */
enum cenote_hop {
	/** From the program to cenoted. */
	CENOTE_HOP_POOL = 0,
	/** From cenoted to the database's server, as far as the client library in cenoted reports. */
	CENOTE_HOP_SERVER = 1
};

/**
 * A fact of TLS, by name: version ("TLSv1.3"), cipher, bits (of the cipher's key), group, resumed
 * and verified ("yes", "no"). About the other end's certificate: peer (its subject), issuer,
 * names ("DNS:db.example, IP:192.0.2.1"), not_after. About the server: version, cipher, bits only.
 *
 * @param hop  enum cenote_hop
 *
 * @return text, borrowed until the next call on the connection, "" where there is nothing;
 *         NULL without TLS on that hop, while there is no session, and for an unknown name.
 *         Since: 0.1
 */
CENOTE_API const char *cenote_tls_info(
	const cenote_conn *conn, int hop, const char *name);

/** Transaction state as of the last reply: enum cenote_tx.   Since: 0.1 */
CENOTE_API int cenote_tx_state(const cenote_conn *conn);

/** What keeps the session: bits of enum cenote_pin, as of the last reply.   Since: 0.1 */
CENOTE_API uint32_t cenote_pins(const cenote_conn *conn);

/** Name of one pin bit ("temporary objects").  @return static text, NULL if unknown. */
CENOTE_API const char *cenote_pin_name(uint32_t pin);

/**
 * Diagnostics of the last failed call on this connection.
 * @return never NULL; borrowed until the next call on the connection.   Since: 0.1
 */
CENOTE_API const cenote_diag *cenote_conn_diag(const cenote_conn *conn);

/**
 * Set a function that gets each notice or warning of the server, from within calls that read.
 * It must not call into the connection. NULL: none (the default: notices are dropped).
 * Since: 0.1
 */
CENOTE_API void cenote_set_notice_handler(cenote_conn *conn,
	void (*handler)(const cenote_diag *notice, void *user), void *user);

/**
 * Set a function that gets each notification (PostgreSQL's NOTIFY), from within calls that
 * read. If no request is outstanding, those are cenote_process() and cenote_wait(). The function
 * must not call into the connection, and the texts are borrowed for its duration. A client that
 * listens gets every notification, even while it has no session (mode=transaction). NULL: no
 * function, and notifications are dropped (the default).
 *
 * handler: `pid` is the server's number of the session that sent it
 * Since: 0.1
 */
CENOTE_API void cenote_set_notification_handler(cenote_conn *conn,
	void (*handler)(
		uint32_t pid, const char *channel, const char *payload, void *user),
	void *user);

/* -------------------------------------------------------------- parameters ----- */

/*
 * Parameters are facts that the server reports by itself, and again when they change
 * (PostgreSQL: server_encoding, TimeZone, …; docs/backends.md lists them). They belong to the
 * present session. After a re-attach the handler gets the parameters that differ, as if they had
 * changed.
 */

/**
 * Value of a parameter as of the last reply.
 * @return text, borrowed until the next call that talks to cenoted; NULL if there is none of
 *         that name.   Since: 0.1
 */
CENOTE_API const char *cenote_parameter(const cenote_conn *conn, const char *name);

/**
 * Name of the i-th parameter, from 0, in no particular order.
 * @return text, borrowed as its value is; NULL after the last.   Since: 0.1
 */
CENOTE_API const char *cenote_parameter_name(const cenote_conn *conn, uint32_t i);

/**
 * Set a function that gets each parameter that the server reports (changed, new or repeated),
 * from within calls that read. It does not get the parameters that come with cenote_connect();
 * after a re-attach it gets those that differ. It must not call into the connection, but
 * cenote_parameter() has the new value already. NULL: none.   Since: 0.1
 */
CENOTE_API void cenote_set_parameter_handler(cenote_conn *conn,
	void (*handler)(const char *name, const char *value, void *user), void *user);

/* ---------------------------------------------------------- session options ----- */

/**
 * Set an option of the session that is not SQL; docs/backends.md lists them. Before
 * cenote_connect() the option is kept and sent with the attach; there the pool ignores unknown
 * names. On a connected handle it is a request, and the call waits. Options are set again after a
 * re-attach, after cenote_reset() and after cenote_change_user().
 *
 * In a pool with read_own_writes, the option "position" makes the session wait until its server has
 * what another connection has written: set it to cenote_info(other, "position").
 *
 * @param value  NULL, before connecting only: forget the option
 *
 * @return as cenote_query(); CENOTE_ERR_SERVER 22023: no such option or value;
 *         CENOTE_ERR_LIMIT: more than 8 kB in all.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_set_session_option(
	cenote_conn *conn, const char *name, const char *value);

/**
 * Log the session in as another user, and reset it as cenote_reset() does. When the program
 * gives the session back, the pool's user gets it again.
 * @param password  NULL for none
 * @param database  NULL for none
 * @return as cenote_query(); CENOTE_ERR_UNSUPPORTED.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_change_user(
	cenote_conn *conn, const char *user, const char *password, const char *database);

/** Change the current database (MySQL's COM_INIT_DB).  @return as cenote_query();
 *  CENOTE_ERR_UNSUPPORTED.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_select_database(
	cenote_conn *conn, const char *database);

/* ------------------------------------------------------------- diagnostics ----- */

/** Five characters and a zero byte; "00000" when there was no error. Borrowed.  Since: 0.1 */
CENOTE_API const char *cenote_diag_sqlstate(const cenote_diag *diag);

/** Message in plain words, "" when there was no error. Borrowed.   Since: 0.1 */
CENOTE_API const char *cenote_diag_message(const cenote_diag *diag);

/** The server's own error number, 0 if it has none.   Since: 0.1 */
CENOTE_API int32_t cenote_diag_native(const cenote_diag *diag);

/**
 * One field of an error, by its letter. The letters are PostgreSQL's (Frontend/Backend
 * Protocol, "Error and Notice Message Fields"): S severity, V severity not localised,
 * C SQLSTATE, M message, D detail, H hint, P position in the statement (from 1, in
 * characters), p internal position, q internal query, W where, s schema, t table, c column,
 * d data type, n constraint, F file, L line, R routine; and N native code, B server, X the
 * server's own SQLSTATE where C is another, A how far a statement had come when it failed
 * (PostgreSQL: "parsed", "bound" or "described"; absent before that). A notice about progress has
 * G: stage, number of stages, and thousandths of a per cent, as "1 2 45250". A notice before a
 * result that is not the last one has K ("1").
 *
 * @return text, borrowed as the diagnostics are; NULL if absent.   Since: 0.1
 */
CENOTE_API const char *cenote_diag_field(const cenote_diag *diag, char field);

/* ------------------------------------------------------------ bound values ----- */

/**
 * Make an empty list of parameters. Each cenote_params_add_…() appends the next one. A
 * list may be used for any number of requests, on any connection.
 * @param alloc  as in cenote_conn_create()
 * @return CENOTE_OK, CENOTE_ERR_ARG, CENOTE_ERR_NOMEM.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_params_create(
	const cenote_allocator *alloc, cenote_params **ret_params);
CENOTE_API void cenote_params_destroy(cenote_params *params);
/** Empty the list; its memory is kept for the next use. */
CENOTE_API void cenote_params_clear(cenote_params *params);
/** How many parameters were added (at most 65,535). */
CENOTE_API uint32_t cenote_params_count(const cenote_params *params);

/* Each function copies its value. CENOTE_OK, CENOTE_ERR_ARG (decimal or date not well formed),
 * CENOTE_ERR_NOMEM, CENOTE_ERR_LIMIT; on failure the list is as before.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_null(cenote_params *params);
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_bool(cenote_params *params, int value);
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_int64(
	cenote_params *params, int64_t value);
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_uint64(
	cenote_params *params, uint64_t value);
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_double(
	cenote_params *params, double value);
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_decimal(
	cenote_params *params, const char *text, size_t len);
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_text(
	cenote_params *params, const char *text, size_t len);
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_bytes(
	cenote_params *params, const void *bytes, size_t len);
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_date(
	cenote_params *params, const cenote_date *value);
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_time(
	cenote_params *params, const cenote_time *value);
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_timestamp(
	cenote_params *params, const cenote_timestamp *value);
/**
 * A value with a type and format of the server's own, for faces with a native ABI.
 * @param native_type  the server's type id, 0: let the server decide
 * @param format       CENOTE_FORMAT_TEXT or CENOTE_FORMAT_BINARY
 * @param bytes        NULL for NULL
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_native(cenote_params *params,
	uint32_t native_type, uint32_t format, const void *bytes, size_t len);
/**
 * A value that was given in pieces, with cenote_send_long_data().
 * @param type  CENOTE_TYPE_TEXT or CENOTE_TYPE_BYTES
 * Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_params_add_long(
	cenote_params *params, uint32_t type);

/* ---------------------------------------------------------------- requests ----- */

/** How a request is run. Zero everywhere is the default: whole result, text. */
typedef struct cenote_exec_options {
	size_t size; /**< sizeof(cenote_exec_options) */
	uint32_t format; /**< enum cenote_format of the result's values */
	/** 0: cenote_get_result() gives the whole result. 1: it gives the result as soon as
	 *  its columns are known; take batches with cenote_result_next(). */
	uint32_t stream;
	/** Streamed only. 0: the server sends on, as fast as batches are taken. n: it sends n
	 *  rows, keeps the rest in a portal, and other requests may run in between. */
	uint32_t batch_rows;
	/** 1: in a pipeline, the request is also a synchronisation point, as if cenote_send_sync()
	 *  followed, but without a second answer. It still waits to be sent with others. */
	uint32_t sync;
	uint64_t max_rows; /**< at most so many rows; 0 for all */
	/** One enum cenote_format for each column, in place of `format`. It is an error (08P01) if
	 *  their number is not the number of columns. A smaller structure without these two members is
	 *  allowed: then they are 0. */
	const uint8_t *formats;
	size_t n_formats; /**< 0: `format` is that of all columns */
} cenote_exec_options;

#define CENOTE_EXEC_OPTIONS_INIT                                                         \
	{                                                                                \
		sizeof(cenote_exec_options), 0, 0, 0, 0, 0, 0, 0                         \
	}

/**
 * Run one statement (or several, where the backend allows) and wait for its result.
 *
 * @param sql      UTF-8; placeholders are the server's own (PostgreSQL $1; SQLite ?, ?1, :a)
 * @param len      bytes, or CENOTE_NTS
 * @param params   values of the placeholders; NULL for none. PostgreSQL has two protocols: NULL
 *                 is the simple one, which takes several statements and gives text only; an
 *                 empty list is the extended one without values.
 * @param options  NULL for the default
 * @param ret_res  set to the first result on CENOTE_OK; the caller destroys it. The results
 *                 of further statements in `sql` come from cenote_get_result() until
 *                 CENOTE_DONE.
 *
 * @return CENOTE_OK; CENOTE_AGAIN non-blocking; CENOTE_ERR_SERVER (diagnostics); CENOTE_ERR_STATE
 *         not connected, or results outstanding; any connection error.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_query(cenote_conn *conn, const char *sql,
	size_t len, const cenote_params *params, const cenote_exec_options *options,
	cenote_result **ret_res);

/**
 * Queue a statement; results come from cenote_get_result(). Like all calls that send, it reads
 * only if the peer would take no more bytes otherwise. So a program that polls the descriptor afterwards sees
 * the results come.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_send_query(cenote_conn *conn, const char *sql,
	size_t len, const cenote_params *params, const cenote_exec_options *options);

/**
 * The next result of the oldest request that is not finished.
 *
 * @param ret_res  set on CENOTE_OK to a result (rows, command, error, skipped, sync,
 *                 description, copy) that the caller destroys
 *
 * @return CENOTE_OK; CENOTE_DONE: that request is finished (outside a pipeline, and after the
 *         last request of one: nothing is outstanding); CENOTE_AGAIN; CENOTE_ERR_STATE a streamed
 *         result was neither read to its end nor destroyed, or a copy is open; any connection
 *         error, after the results that came before it. A server's error is CENOTE_OK with a result of kind
 *         CENOTE_RESULT_ERROR.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_get_result(
	cenote_conn *conn, cenote_result **ret_res);

/**
 * Let the request that was queued last give its results as a stream, as with options.stream 1.
 * CENOTE_OK; CENOTE_ERR_STATE: none is outstanding, or a part of its answer came.
 * Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_set_stream(cenote_conn *conn);

/** Enter pipeline mode. CENOTE_ERR_STATE if requests are outstanding.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_pipeline_begin(cenote_conn *conn);
/** Leave pipeline mode. CENOTE_ERR_STATE while results are outstanding. If the last request was not a
 *  synchronisation point, this sends one and waits for it: CENOTE_AGAIN on a non-blocking handle.
 *  CENOTE_ERR_SERVER: the work since the last synchronisation point could not be committed; the
 *  pipeline is left.
 *  Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_pipeline_end(cenote_conn *conn);
/** Leave it without a synchronisation point. The next request is also a synchronisation point,
 *  which decides about the work since the last one. Do not call this after an error: then nothing
 *  runs up to a synchronisation point. CENOTE_ERR_STATE while results are outstanding.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_pipeline_leave(cenote_conn *conn);
/**
 * Queue a synchronisation point: requests after it run even if one before it failed. At this
 * point PostgreSQL commits the work that was done outside of a transaction block. If that fails,
 * the results are an error and CENOTE_RESULT_SYNC; otherwise only CENOTE_RESULT_SYNC.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_send_sync(cenote_conn *conn);
/**
 * Send what a pipeline has queued, without a synchronisation point, so that its results come.
 * Without this or cenote_send_sync() the results may come only with those of later requests. On a
 * non-blocking handle CENOTE_OK may leave something to be sent (cenote_wants()).   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_flush(cenote_conn *conn);

/** A round trip to the worker, and the server's own ping if it has one.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_ping(cenote_conn *conn);
/** Queue a ping, which gives one CENOTE_RESULT_COMMAND.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_send_ping(cenote_conn *conn);
/** Make the session as fresh as a new login, and keep it.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_reset(cenote_conn *conn);

/**
 * Call a function by the server's own id (PostgreSQL's fast path).
 * @param params  its arguments; NULL for none
 * @param format  enum cenote_format of the result: one row of one column
 * @return as cenote_query(); CENOTE_ERR_UNSUPPORTED.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_function(cenote_conn *conn, uint32_t function,
	const cenote_params *params, uint32_t format, cenote_result **ret_res);
CENOTE_API CENOTE_MUST_CHECK int cenote_send_function(cenote_conn *conn,
	uint32_t function, const cenote_params *params, uint32_t format);

/* ------------------------------------------------------------------- copies ----- */

/*
 * A statement that copies (PostgreSQL's COPY … FROM STDIN and TO STDOUT, MySQL's LOAD DATA LOCAL)
 * gives a result of kind CENOTE_RESULT_COPY_IN or CENOTE_RESULT_COPY_OUT as soon as the server is
 * ready for it. The calls below are for the copy that came last from cenote_get_result(),
 * cenote_query() or cenote_stmt_execute(). When it has ended, cenote_get_result() gives the
 * statement's own result (a command with the number of rows, or an error), and what follows.
 *
 * Keep the result as long as the copy lasts. If it is destroyed before, a copy in fails with its
 * statement, and the rest of a copy out is discarded. In a pipeline the requests after a copy in
 * wait for its end.
 */

/** The format of a copy's data: CENOTE_FORMAT_TEXT or CENOTE_FORMAT_BINARY; -1: the result is
 *  not a copy.   Since: 0.1 */
CENOTE_API int cenote_copy_format(const cenote_result *res);
/** Number of columns that are copied; 0 if the server does not say.   Since: 0.1 */
CENOTE_API uint32_t cenote_copy_n_columns(const cenote_result *res);
/** Format of one column; -1 if there is no such column.   Since: 0.1 */
CENOTE_API int cenote_copy_column_format(const cenote_result *res, uint32_t col);

/**
 * Name of the file that the server asks the program for; "" if it asks for none and the program
 * knows what to send. The library never opens a file: the program decides, reads the file
 * and sends its content. A server can ask for any file, whatever the statement was! Unless
 * the option allow_files is yes, such a request is refused without the program seeing it,
 * and the statement fails.   Since: 0.1
 */
CENOTE_API const char *cenote_copy_file(const cenote_result *res);

/**
 * Send a piece of a copy in. Pieces may be cut anywhere; they are not rows.
 *
 * @return CENOTE_OK all of it was taken; CENOTE_AGAIN (non-blocking) nothing was taken: too much
 *         waits to be written; CENOTE_DONE the server ended the copy already, and more data is
 *         useless: cenote_get_result() says why; CENOTE_ERR_STATE no copy in is open;
 *         CENOTE_ERR_NOMEM nothing was taken; connection errors.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_copy_put(
	cenote_conn *conn, const void *data, size_t len);

/**
 * End a copy in. The outcome comes from cenote_get_result().
 *
 * @param error  NULL: all was sent; else: why the program gives up, and the statement fails
 *               with it
 *
 * @return CENOTE_OK (also when the server ended it before); CENOTE_ERR_STATE no copy in is open;
 *         CENOTE_ERR_NOMEM; connection errors.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_copy_end(cenote_conn *conn, const char *error);

/**
 * The next piece of a copy out, cut as the server cuts it (PostgreSQL: one row).
 *
 * @param ret_data  set on CENOTE_OK; followed by a zero byte; borrowed until the next call on
 *                  the connection or the result's end
 * @param ret_len   its length
 *
 * @return CENOTE_OK; CENOTE_DONE it has ended: cenote_get_result() says how; CENOTE_AGAIN;
 *         CENOTE_ERR_STATE no copy out is open; connection errors.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_copy_get(
	cenote_conn *conn, const char **ret_data, size_t *ret_len);

/* -------------------------------------------------------------- statements ----- */

/**
 * Make a statement handle. Nothing is sent. After a re-attach the library prepares it
 * again by itself.
 * @return CENOTE_OK, CENOTE_ERR_ARG, CENOTE_ERR_NOMEM.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_stmt_create(
	cenote_conn *conn, const char *sql, size_t len, cenote_stmt **ret_stmt);
/**
 * A handle for a statement that has a name at the server already (prepared in SQL, or by another
 * handle). It can be described and executed, but not prepared. Destroying it leaves the
 * statement.
 * @param name  "" is PostgreSQL's unnamed statement
 * @return CENOTE_OK, CENOTE_ERR_ARG, CENOTE_ERR_NOMEM.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_stmt_by_name(
	cenote_conn *conn, const char *name, cenote_stmt **ret_stmt);
/**
 * Give the statement a name at the server, so that SQL can use it. Call this before it is
 * prepared. After a re-attach the library prepares it again by itself, before the first request that
 * names it, or whose SQL may refer to it. It belongs to the connection: destroying the handle leaves it
 * (see cenote_close_named()). It pins its session (CENOTE_PIN_PREPARED) only if it may mean something else on
 * another session, because settings were changed before.
 * @param name  "" is PostgreSQL's unnamed statement; NULL: no name (the default)
 * @return CENOTE_OK, CENOTE_ERR_ARG, CENOTE_ERR_STATE prepared already, CENOTE_ERR_NOMEM.
 * Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_stmt_set_name(
	cenote_stmt *stmt, const char *name);
/**
 * The server's type ids of the first n parameters, for the next prepare; 0 lets the server find
 * out. Copied.   @return as cenote_stmt_set_name().   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_stmt_set_param_types(
	cenote_stmt *stmt, const uint32_t *types, uint32_t n);
/** Free the handle; the server learns it with the next request. NULL is allowed. */
CENOTE_API void cenote_stmt_destroy(cenote_stmt *stmt);

/** Prepare and describe, and wait.  @return as cenote_query().   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_stmt_prepare(cenote_stmt *stmt);
/** Execute, and wait. Prepares first if needed.  @return as cenote_query().   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_stmt_execute(cenote_stmt *stmt,
	const cenote_params *params, const cenote_exec_options *options,
	cenote_result **ret_res);

/** Queue a prepare; its result is CENOTE_RESULT_DESCRIPTION.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_send_prepare(cenote_stmt *stmt);
/** Queue a describe; its result is CENOTE_RESULT_DESCRIPTION.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_send_describe(cenote_stmt *stmt);
/** Queue an execution. CENOTE_ERR_STATE if not prepared (or a prepare queued). */
CENOTE_API CENOTE_MUST_CHECK int cenote_send_execute(cenote_stmt *stmt,
	const cenote_params *params, const cenote_exec_options *options);

/**
 * Append a piece to the value of a parameter. In the next execution the parameter is a
 * cenote_params_add_long(); afterwards the value is empty again. The bytes are kept until that
 * execution was answered. CENOTE_OK; CENOTE_ERR_STATE if not prepared (or a prepare queued);
 * CENOTE_ERR_NOMEM; connection errors. The execution reports the server's errors.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_send_long_data(
	cenote_stmt *stmt, uint32_t param, const void *data, size_t len);

/**
 * Describe a statement or portal that has a name at the server.
 * @param kind     enum cenote_named; a portal (cursor) has no parameters
 * @param ret_res  a result of kind CENOTE_RESULT_DESCRIPTION
 * @return as cenote_query(); CENOTE_ERR_SERVER 26000, 34000: there is none.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_describe_named(
	cenote_conn *conn, uint32_t kind, const char *name, cenote_result **ret_res);
CENOTE_API CENOTE_MUST_CHECK int cenote_send_describe_named(
	cenote_conn *conn, uint32_t kind, const char *name);
/** Close a statement or portal by its name at the server. It is not an error if there is none.
 *  @return as cenote_query().   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_close_named(
	cenote_conn *conn, uint32_t kind, const char *name);
CENOTE_API CENOTE_MUST_CHECK int cenote_send_close_named(
	cenote_conn *conn, uint32_t kind, const char *name);

/** Number of parameters; known once prepared, else 0.   Since: 0.1 */
CENOTE_API uint32_t cenote_stmt_n_params(const cenote_stmt *stmt);
/** Logical type of a parameter, CENOTE_TYPE_NULL if the server does not say. */
CENOTE_API int cenote_stmt_param_type(const cenote_stmt *stmt, uint32_t i);
/** The server's own type id of a parameter, 0 if it does not say. */
CENOTE_API uint32_t cenote_stmt_param_native_type(const cenote_stmt *stmt, uint32_t i);
/** Name of a parameter (":a"), "" if it has none. Borrowed until the statement's end. */
CENOTE_API const char *cenote_stmt_param_name(const cenote_stmt *stmt, uint32_t i);
/** Number of columns; known once prepared, else 0.   Since: 0.1 */
CENOTE_API uint32_t cenote_stmt_n_columns(const cenote_stmt *stmt);
/** A column. Borrowed until the statement is prepared again, executed, described or destroyed;
 *  NULL if none. */
CENOTE_API const cenote_column *cenote_stmt_column(const cenote_stmt *stmt, uint32_t col);

/* ------------------------------------------------------------ transactions ----- */

/**
 * Begin a transaction.
 * @param isolation  enum cenote_isolation
 * @param flags      bits of enum cenote_begin_flag
 * @return as cenote_query(); CENOTE_ERR_UNSUPPORTED for a level the server does not have,
 *         CENOTE_ERR_SERVER 25001 if one is open.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_begin(
	cenote_conn *conn, uint32_t isolation, uint32_t flags);
/**
 * Commit. CENOTE_ERR_CONN with SQLSTATE 08007: the connection was lost during the commit, and it
 * is unknown whether the server committed. A statement that was lost in autocommit gives the same,
 * unless it plainly only reads: a single SELECT that calls no function.
 * Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_commit(cenote_conn *conn);
/** Roll back. Not an error when no transaction is open.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_rollback(cenote_conn *conn);
/** Savepoints. `name` is any text; it is quoted as an identifier.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_savepoint(cenote_conn *conn, const char *name);
CENOTE_API CENOTE_MUST_CHECK int cenote_release(cenote_conn *conn, const char *name);
CENOTE_API CENOTE_MUST_CHECK int cenote_rollback_to(cenote_conn *conn, const char *name);
/**
 * Autocommit on (1, the default) or off (0). When it is off, the pool begins a transaction
 * before the next statement. Switching it on does not commit.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_set_autocommit(cenote_conn *conn, int on);

/* Queue one of the above for a pipeline; each gives one CENOTE_RESULT_COMMAND. */
CENOTE_API CENOTE_MUST_CHECK int cenote_send_begin(
	cenote_conn *conn, uint32_t isolation, uint32_t flags);
CENOTE_API CENOTE_MUST_CHECK int cenote_send_commit(cenote_conn *conn);
CENOTE_API CENOTE_MUST_CHECK int cenote_send_rollback(cenote_conn *conn);

/* ----------------------------------------------------------------- catalog ----- */

/** What to list. Patterns are SQL LIKE patterns (% _ \); NULL is no restriction. */
typedef struct cenote_catalog_filter {
	size_t size; /**< sizeof(cenote_catalog_filter) */
	const char *catalog; /**< exact */
	const char *schema; /**< pattern */
	const char *object; /**< pattern; table or procedure */
	const char *column; /**< pattern */
	const char *types; /**< comma-separated table types ("TABLE,VIEW") */
} cenote_catalog_filter;

#define CENOTE_CATALOG_FILTER_INIT                                                       \
	{                                                                                \
		sizeof(cenote_catalog_filter), 0, 0, 0, 0, 0                             \
	}

/**
 * List databases, schemas, tables, …: rows in the same shape from every backend.
 * @param kind    enum cenote_catalog_kind
 * @param filter  NULL for everything
 * @return as cenote_query().   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_catalog(cenote_conn *conn, uint32_t kind,
	const cenote_catalog_filter *filter, cenote_result **ret_res);
CENOTE_API CENOTE_MUST_CHECK int cenote_send_catalog(
	cenote_conn *conn, uint32_t kind, const cenote_catalog_filter *filter);

/**
 * State of the daemon's pools and workers, from its scoreboard, on a connection of its own:
 * it also works while every session is taken. It blocks. The handle needs options only.
 *
 * By TCP it logs in as an attach does, and gets that pool only. On a unix socket the callers are
 * root, cenoted's own user, and users that may try to attach (allow_users and the rules). Only root
 * and cenoted's own user see who the clients of other users are.
 * @param what     "pools", "workers", "servers" (the server lines of pools), "pins" (the sessions that something keeps with
 *                 their clients), "pin_counts" (how often each pin began to keep a session), "times" (how long requests, waiting
 *                 and logins took), or "digests" (statistics of statements)
 * @return as cenote_query().   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_status(
	cenote_conn *conn, const char *what, cenote_result **ret_res);

/* ------------------------------------------------------------------ cancel ----- */

/**
 * Make a handle to cancel a request of this connection. It is independent of the connection
 * afterwards: another thread may use it, and it may be destroyed at any time. It names the
 * request that is running or queued last at the time of this call. In a pipeline it cancels the
 * running request, up to the named one.
 * @return CENOTE_OK, CENOTE_ERR_STATE not connected, CENOTE_ERR_NOMEM.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_cancel_create(
	cenote_conn *conn, cenote_cancel **ret_cancel);
/**
 * Make the handle name the request of that connection that is running or queued last now; if
 * there is none, it names nothing. This is for programs that keep one handle for all requests.
 * The thread that uses the connection calls this, even while another thread sends the cancel.
 *
 * The handle follows the connection: after a re-attach it names the request on the new session.
 * It follows one connection at a time, and a connection has one follower. So destroy the handle
 * in the thread that uses the connection, or after the connection was destroyed.
 * @param conn  NULL: stop following, and name nothing.   Since: 0.1
 */
CENOTE_API void cenote_cancel_follow(cenote_cancel *cancel, cenote_conn *conn);
/**
 * Send the cancel, on a connection of its own, and wait for the answer. Blocks for at most 10 s.
 * @return CENOTE_OK it was delivered, and hits no later request; CENOTE_DONE that request is not
 *         running any more, and nothing was cancelled; CENOTE_ERR_CONN; CENOTE_ERR_TIMEOUT.
 *         Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_cancel_send(cenote_cancel *cancel);
/**
 * The same, async-signal-safe: for signal handlers, and for several threads with one
 * cenote_cancel. It uses 4 kB of the stack and no other memory, keeps errno, and only reads
 * *cancel. It travels in clear text, so for a session with TLS over TCP it returns
 * CENOTE_ERR_UNSUPPORTED; use cenote_cancel_send() there.
 * @param ret_why  the reason of a failure, cut to `size` bytes with its zero byte. May be NULL
 *                 if `size` is 0.
 * @return as cenote_cancel_send().   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_cancel_send_safe(
	const cenote_cancel *cancel, char *ret_why, size_t size);
/** Why the last cenote_cancel_send() failed. Borrowed, never NULL. */
CENOTE_API const cenote_diag *cenote_cancel_diag(const cenote_cancel *cancel);
CENOTE_API void cenote_cancel_destroy(cenote_cancel *cancel);

/* ---------------------------------------------------------- suspend, resume ----- */

/** Size of the buffer for a token, zero byte included. */
#define CENOTE_TOKEN_SIZE 96

/**
 * Suspend the session: it stays in the pool with all that it holds (transaction, temporary
 * tables, a portal), and any process of the same user that has the token can resume it. The
 * connection is closed.
 *
 * A session that the pool has lent to the program (data_path in cenote_info()) is given back first,
 * which it can only be if it holds nothing. To suspend more, set borrow=no.
 *
 * @param res         a streamed result with batch_rows to carry over, or NULL; on success it
 *                    can only be destroyed
 * @param timeout_ms  after this time without a resume the pool takes the session back; 0: the
 *                    pool's suspend_timeout, which is also the maximum
 * @param ret_token   CENOTE_TOKEN_SIZE bytes; a printable word. It is a secret.
 *
 * @return CENOTE_OK; CENOTE_ERR_STATE results outstanding, or the session is lent and holds something;
 *         CENOTE_ERR_UNSUPPORTED; connection
 *         errors.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_suspend(
	cenote_conn *conn, cenote_result *res, uint32_t timeout_ms, char *ret_token);

/**
 * Instead of cenote_connect(): attach to a suspended session.
 *
 * @param ret_res  set to the carried result if there was one (streamed, next batch by
 *                 cenote_result_next()), else NULL
 *
 * @return as cenote_connect(); CENOTE_ERR_AUTH: no such token, not this user's, used up, or too
 *         late.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_resume(
	cenote_conn *conn, const char *token, cenote_result **ret_res);

/* ----------------------------------------------------------------- results ----- */

/** Free a result. NULL is allowed; a streamed one may be destroyed at any time: the rest is
 *  discarded (with batch_rows it is not even computed).   Since: 0.1 */
CENOTE_API void cenote_result_destroy(cenote_result *res);

/** enum cenote_result_kind.   Since: 0.1 */
CENOTE_API int cenote_result_kind(const cenote_result *res);

/** Diagnostics: of an error result, or of a streamed one that failed. Never NULL; borrowed
 *  until the result's end.   Since: 0.1 */
CENOTE_API const cenote_diag *cenote_result_diag(const cenote_result *res);

/** Number of columns.   Since: 0.1 */
CENOTE_API uint32_t cenote_result_n_columns(const cenote_result *res);
/** A column; borrowed until the result's end; NULL if there is none. */
CENOTE_API const cenote_column *cenote_result_column(
	const cenote_result *res, uint32_t col);
/** First column of that name (as labelled, ASCII case ignored); -1 if none. */
CENOTE_API int64_t cenote_result_find_column(const cenote_result *res, const char *name);

/** Text attribute (enum cenote_column_text_attr); "" if unknown. Borrowed. */
CENOTE_API const char *cenote_column_text(const cenote_column *column, uint32_t attr);
/** Numeric attribute (enum cenote_column_int_attr); -1 if unknown. */
CENOTE_API int64_t cenote_column_int(const cenote_column *column, uint32_t attr);

/** The number of rows: of a buffered result all; of a streamed result those of this batch. */
CENOTE_API uint64_t cenote_result_n_rows(const cenote_result *res);

/**
 * Take the next batch of a streamed result; it replaces the previous batch.
 *
 * @return CENOTE_ROW a batch with at least one row; CENOTE_DONE no more, and the totals
 *         (cenote_result_affected_rows(), …) are known; CENOTE_AGAIN; CENOTE_ERR_SERVER the
 *         statement failed meanwhile (cenote_result_diag()); connection errors;
 *         CENOTE_ERR_STATE not streamed, or a copy in of the same pipeline must be ended
 *         first.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_result_next(cenote_result *res);

/** 1 if the value is NULL or there is no such row or column, else 0.   Since: 0.1 */
CENOTE_API int cenote_result_is_null(
	const cenote_result *res, uint64_t row, uint32_t col);

/**
 * A value as it came: text (UTF-8), unless the program chose another format, and a zero byte.
 * @param ret_len  set to its length in bytes; may be NULL
 * @return borrowed until the result's end (streamed: until the next batch); NULL for NULL
 *         and if there is no such row or column.   Since: 0.1
 */
CENOTE_API const char *cenote_result_text(
	const cenote_result *res, uint64_t row, uint32_t col, size_t *ret_len);

/**
 * The rows as they lie in memory, for cenote_row_text(): for programs that read very many
 * values, and check the bounds themselves.
 * @return cenote_result_n_rows() of them, borrowed until the result's end (streamed: until the
 *         next batch); NULL for a result without columns.   Since: 0.1
 */
CENOTE_API const uint8_t *const *cenote_result_rows(const cenote_result *res);

/** Four bytes of a row.   Since: 0.1 */
static inline uint32_t
cenote_row_u32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/**
 * As cenote_result_text(), of a row of cenote_result_rows(). Nothing is checked: n_columns is
 * cenote_result_n_columns(), and col is below it.   Since: 0.1
 */
static inline const char *
cenote_row_text(const uint8_t *row, uint32_t n_columns, uint32_t col, size_t *ret_len)
{
	/* where each value ends, with bit 31 for NULL; then the values, each with a zero byte */
	uint32_t end = cenote_row_u32(row + (size_t)4 * col);
	uint32_t begin =
		col == 0
			? 4 * n_columns
			: (cenote_row_u32(row + (size_t)4 * (col - 1)) & 0x7fffffffu) + 1;

	if (end & 0x80000000u)
		return NULL;
	if (ret_len)
		*ret_len = end - begin;
	return (const char *)(row + begin);
}

/**
 * All values of a row at once, as cenote_result_text() returns each one.
 * @param ret_values  as many as there are columns; NULL for NULL
 * @param ret_lens    their lengths; 0 for NULL
 * @return CENOTE_OK; CENOTE_ERR_ARG no such row, and nothing is set.   Since: 0.1
 */
CENOTE_API int cenote_result_row(const cenote_result *res, uint64_t row,
	const char **ret_values, size_t *ret_lens);

/* Values converted from their text or canonical form. CENOTE_OK; CENOTE_DONE the value is
 * NULL; CENOTE_ERR_CONVERT not of that type or out of its range; CENOTE_ERR_ARG no such row or
 * column. The output is untouched unless CENOTE_OK.   Since: 0.1 */
CENOTE_API CENOTE_MUST_CHECK int cenote_result_int64(
	const cenote_result *res, uint64_t row, uint32_t col, int64_t *ret_value);
CENOTE_API CENOTE_MUST_CHECK int cenote_result_uint64(
	const cenote_result *res, uint64_t row, uint32_t col, uint64_t *ret_value);
CENOTE_API CENOTE_MUST_CHECK int cenote_result_double(
	const cenote_result *res, uint64_t row, uint32_t col, double *ret_value);
CENOTE_API CENOTE_MUST_CHECK int cenote_result_date(
	const cenote_result *res, uint64_t row, uint32_t col, cenote_date *ret_value);
CENOTE_API CENOTE_MUST_CHECK int cenote_result_time(
	const cenote_result *res, uint64_t row, uint32_t col, cenote_time *ret_value);
CENOTE_API CENOTE_MUST_CHECK int cenote_result_timestamp(const cenote_result *res,
	uint64_t row, uint32_t col, cenote_timestamp *ret_value);

/**
 * Read the rest of a streamed result into memory; afterwards it is like a result that was not
 * streamed. Call it before the first cenote_result_next(), and not with batch_rows.
 * @return CENOTE_OK; CENOTE_AGAIN; CENOTE_ERR_STATE; else as cenote_result_next().   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_result_buffer(cenote_result *res);

/* The parameters in a result of kind CENOTE_RESULT_DESCRIPTION, as cenote_stmt_n_params() and
 * the like return them for a handle.   Since: 0.1 */
CENOTE_API uint32_t cenote_result_n_params(const cenote_result *res);
CENOTE_API int cenote_result_param_type(const cenote_result *res, uint32_t i);
CENOTE_API uint32_t cenote_result_param_native_type(const cenote_result *res, uint32_t i);
CENOTE_API const char *cenote_result_param_name(const cenote_result *res, uint32_t i);

/** Bits of enum cenote_result_flag; a streamed result has them at its end.   Since: 0.1 */
CENOTE_API uint32_t cenote_result_flags(const cenote_result *res);
/** The server's own status bits with this result (MySQL's SERVER_STATUS_…), 0 if it has
 *  none.   Since: 0.1 */
CENOTE_API uint32_t cenote_result_server_status(const cenote_result *res);
/** Transaction state at a synchronisation point: enum cenote_tx. Later requests may have been
 *  answered already. Any other result gives CENOTE_TX_UNKNOWN.   Since: 0.1 */
CENOTE_API int cenote_result_tx_state(const cenote_result *res);

/** Command tag ("SELECT 3", "CREATE TABLE"); "" if unknown. Borrowed.   Since: 0.1 */
CENOTE_API const char *cenote_result_tag(const cenote_result *res);
/** Rows inserted, changed or deleted; -1 if not known (a SELECT, a streamed result not done). */
CENOTE_API int64_t cenote_result_affected_rows(const cenote_result *res);
/** Id made by the last insert, 0 if none.   Since: 0.1 */
CENOTE_API uint64_t cenote_result_last_insert_id(const cenote_result *res);
/** Number of warnings.   Since: 0.1 */
CENOTE_API uint32_t cenote_result_warnings(const cenote_result *res);
/** Bytes of memory that the result holds.   Since: 0.1 */
CENOTE_API size_t cenote_result_memory(const cenote_result *res);

/**
 * Write a result to a file that any process can read with cenote_result_open(). The file has mode
 * 0600. A reader sees the former file or the new one, never a part of it. The option cache of
 * cenote_conn_set() keeps results without such calls.
 *
 * @param res      a whole result of kind CENOTE_RESULT_ROWS
 * @param keep_ms  for how long the file may be used; 0: for ever
 *
 * @return CENOTE_OK; CENOTE_ERR_ARG not a result with rows; CENOTE_ERR_STATE a streamed result (see
 *         cenote_result_buffer()); CENOTE_ERR_FILE (errno says why); CENOTE_ERR_LIMIT more than
 *         1 GB; CENOTE_ERR_NOMEM.   Threads: as `res`.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_result_save(
	const cenote_result *res, const char *path, uint64_t keep_ms);

/**
 * Read a result from a file of cenote_result_save(). It needs no connection. Everything in the file
 * is checked; whoever can write the file decides what the program reads.
 *
 * @param alloc    as in cenote_conn_create()
 * @param ret_res  set on CENOTE_OK; the caller destroys it. Its flags have CENOTE_RESULT_FLAG_SAVED.
 *
 * @return CENOTE_OK; CENOTE_DONE there is no such file, or its time is over; CENOTE_ERR_ARG;
 *         CENOTE_ERR_FILE (errno says why; EBADMSG: the content is not a result);
 *         CENOTE_ERR_NOMEM.   Threads: any.   Since: 0.1
 */
CENOTE_API CENOTE_MUST_CHECK int cenote_result_open(
	const cenote_allocator *alloc, const char *path, cenote_result **ret_res);

#ifdef __cplusplus
}
#endif

#endif
