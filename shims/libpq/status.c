/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What a connection reports about itself, and small functions that belong to no other file. */

static char *
info_text(const PGconn *conn, enum cpq_key key)
{
	if (conn == NULL || !conn->is_told)
		return NULL;
	/* The interface has no const; the connection owns the text. */
	return (char *)(uintptr_t)cpq_conninfo_get(&conn->info, key);
}

/* The same, but "" before `info` is complete, as in libpq. */
static char *
info_or_nothing(const PGconn *conn, enum cpq_key key)
{
	return conn != NULL && !conn->is_told ? cpq_empty : info_text(conn, key);
}

char *
cpq_PQdb(const PGconn *conn)
{
	char *name = info_text(conn, CPQ_KEY_DBNAME);

	return name != NULL && *name == '\0' ? info_text(conn, CPQ_KEY_USER) : name;
}

char *
cpq_PQuser(const PGconn *conn)
{
	return info_text(conn, CPQ_KEY_USER);
}

char *
cpq_PQpass(const PGconn *conn)
{
	if (conn != NULL && conn->attempt.file_password != NULL &&
		*conn->attempt.file_password != '\0')
		return conn->attempt.file_password;
	return info_or_nothing(conn, CPQ_KEY_PASSWORD);
}

char *
cpq_PQhost(const PGconn *conn)
{
	char *host = info_or_nothing(conn, CPQ_KEY_HOST);

	if (host == NULL || *host != '\0' || !conn->is_told)
		return host;
	host = info_text(conn, CPQ_KEY_HOSTADDR);
	/* The directory where libpq would look for the socket. */
	return *host != '\0' ? host : (char *)(uintptr_t)CPQ_PG_SOCKET_DIR;
}

char *
cpq_PQhostaddr(const PGconn *conn)
{
	return info_or_nothing(conn, CPQ_KEY_HOSTADDR);
}

char *
cpq_PQport(const PGconn *conn)
{
	return info_or_nothing(conn, CPQ_KEY_PORT);
}

char *
cpq_PQtty(const PGconn *conn)
{
	return conn != NULL ? cpq_empty : NULL;
}

char *
cpq_PQoptions(const PGconn *conn)
{
	return info_text(conn, CPQ_KEY_OPTIONS);
}

ConnStatusType
cpq_PQstatus(const PGconn *conn)
{
	return conn != NULL ? conn->status : CONNECTION_BAD;
}

PGTransactionStatusType
cpq_PQtransactionStatus(const PGconn *conn)
{
	if (conn == NULL || conn->status != CONNECTION_OK)
		return PQTRANS_UNKNOWN;
	if (conn->async != CPQ_IDLE)
		return PQTRANS_ACTIVE;
	switch (conn->transaction) {
	case CENOTE_TX_IDLE:
		return PQTRANS_IDLE;
	case CENOTE_TX_OPEN:
		return PQTRANS_INTRANS;
	case CENOTE_TX_FAILED:
		return PQTRANS_INERROR;
	default:
		return PQTRANS_UNKNOWN;
	}
}

int
cpq_PQprotocolVersion(const PGconn *conn)
{
	return conn != NULL && conn->status != CONNECTION_BAD ? 3 : 0;
}

int
cpq_PQfullProtocolVersion(const PGconn *conn)
{
	return conn != NULL && conn->status != CONNECTION_BAD ? cpq_target_protocol(conn)
							      : 0;
}

int
cpq_PQserverVersion(const PGconn *conn)
{
	return conn != NULL && conn->status != CONNECTION_BAD ? conn->server_version : 0;
}

char *
cpq_PQerrorMessage(const PGconn *conn)
{
	if (conn == NULL)
		return (char *)(uintptr_t) "connection pointer is NULL\n";
	if (conn->error.maxlen == 0)
		return (char *)(uintptr_t) "out of memory\n";
	return conn->error.data;
}

int
cpq_PQsocket(const PGconn *conn)
{
	PGconn *writable = (PGconn *)(uintptr_t)conn;
	int fd = conn != NULL && conn->session != NULL ? cenote_fd(conn->session) : -1;

	if (conn != NULL)
		writable->is_watched = 1;
	/* Libcenote has lost the session and its descriptor, but the program must find its
	 * descriptor closed. */
	return fd < 0 && conn != NULL && conn->status != CONNECTION_BAD &&
			       (conn->is_dying || conn->queue.first != NULL)
		       ? conn->fd
		       : fd;
}

int
cpq_PQbackendPID(const PGconn *conn)
{
	const char *pid;

	if (conn == NULL || conn->status != CONNECTION_OK)
		return 0;
	if (conn->inherited.dialect != NULL)
		return cpq_dialect_pid(conn);
	pid = cenote_parameter(conn->session, "backend_pid");
	return pid != NULL ? (int)strtol(pid, NULL, 10) : 0;
}

/* Does the pool need a password? The pool itself logs in to the server. */
int
cpq_PQconnectionNeedsPassword(const PGconn *conn)
{
	return conn != NULL && conn->attempt.needs_password;
}

int
cpq_PQconnectionUsedPassword(const PGconn *conn)
{
	const char *login = conn != NULL && conn->session != NULL
				    ? cenote_info(conn->session, "login")
				    : NULL;

	return login != NULL &&
	       (strncmp(login, "SCRAM", 5) == 0 || strcmp(login, "PLAIN") == 0);
}

int
cpq_PQconnectionUsedGSSAPI(const PGconn *conn)
{
	(void)conn;
	return 0;
}

int
cpq_PQclientEncoding(const PGconn *conn)
{
	return conn != NULL && conn->status == CONNECTION_OK ? conn->inherited.encoding
							     : -1;
}

int
cpq_PQsetClientEncoding(PGconn *conn, const char *encoding)
{
	PQExpBufferData text;
	PGresult *res;
	int is_well;

	if (conn == NULL || conn->status != CONNECTION_OK || encoding == NULL)
		return -1;
	if (strcmp(encoding, "auto") == 0)
		encoding = pg_encoding_to_char(PQenv2encoding());
	/* libpq has a buffer of this size for the name. */
	if (strlen(encoding) > 101)
		return -1;
	initPQExpBuffer(&text);
	appendPQExpBuffer(&text, "set client_encoding to '%s'", encoding);
	res = cpq_PQexec(conn, text.data);
	termPQExpBuffer(&text);
	is_well = cpq_PQresultStatus(res) == PGRES_COMMAND_OK;
	cpq_PQclear(res);
	return is_well ? 0 : -1;
}

PGVerbosity
cpq_PQsetErrorVerbosity(PGconn *conn, PGVerbosity verbosity)
{
	PGVerbosity old;

	if (conn == NULL)
		return PQERRORS_DEFAULT;
	old = conn->inherited.verbosity;
	conn->inherited.verbosity = verbosity;
	return old;
}

PGContextVisibility
cpq_PQsetErrorContextVisibility(PGconn *conn, PGContextVisibility show_context)
{
	PGContextVisibility old;

	if (conn == NULL)
		return PQSHOW_CONTEXT_ERRORS;
	old = conn->inherited.show_context;
	conn->inherited.show_context = show_context;
	return old;
}

int
cpq_PQsetnonblocking(PGconn *conn, int arg)
{
	int on = arg != 0;

	if (conn == NULL || conn->status == CONNECTION_BAD)
		return -1;
	if (conn->is_nonblocking == on)
		return 0;
	if (conn->queue.first == NULL)
		resetPQExpBuffer(&conn->error);
	/* Send everything that is queued while the call may still wait. */
	if (cpq_PQflush(conn) != 0)
		return -1;
	conn->is_nonblocking = on;
	return 0;
}

int
cpq_PQisnonblocking(const PGconn *conn)
{
	return conn != NULL && conn->status != CONNECTION_BAD ? conn->is_nonblocking : 0;
}

int
cpq_PQisthreadsafe(void)
{
	return 1;
}

pgthreadlock_t
cpq_PQregisterThreadLock(pgthreadlock_t newhandler)
{
	/* The lock was for Kerberos and old OpenSSL, which the shim does not use. */
	static pgthreadlock_t current;
	pgthreadlock_t old = current;

	current = newhandler;
	return old;
}

cpq_usec
cpq_PQgetCurrentTimeUSec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (cpq_usec)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int
cpq_PQsocketPoll(int sock, int for_read, int for_write, cpq_usec end_time)
{
	struct pollfd p = { .fd = sock, .events = POLLERR };
	int timeout = -1;

	if (!for_read && !for_write)
		return 0;
	if (for_read)
		p.events |= POLLIN;
	if (for_write)
		p.events |= POLLOUT;
	if (end_time == 0)
		timeout = 0;
	else if (end_time > 0) {
		cpq_usec left = end_time - cpq_PQgetCurrentTimeUSec();

		timeout = left > 0 ? (int)((left + 999) / 1000) : 0;
	}
	return poll(&p, 1, timeout);
}

/* psql and similar programs import this function from libpq. */
typedef void (*signal_handler)(int);

CPQ_EXPORT signal_handler pqsignal(int signo, signal_handler func);

CPQ_EXPORT signal_handler
pqsignal(int signo, signal_handler func)
{
	struct sigaction act = { .sa_handler = func, .sa_flags = SA_RESTART };
	struct sigaction old;

	sigemptyset(&act.sa_mask);
	if (signo == SIGCHLD)
		act.sa_flags |= SA_NOCLDSTOP;
	return sigaction(signo, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
}
