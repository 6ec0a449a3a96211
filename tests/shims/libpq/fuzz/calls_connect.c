/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Calls that connect, close, and change the settings of a connection. */

#define NEVER_MS 60000

static void
on_notice(void *arg, const char *message)
{
	struct fz *z = arg;

	fz_say(z, "\n    notice ");
	fz_say_text(z, message);
}

static void
on_notice_result(void *arg, const PGresult *res)
{
	struct fz *z = arg;

	fz_say(z, "\n    notice result\n");
	fz_show_result(z, res);
}

void
fz_finish_conn(struct fz *z, struct fz_conn *c)
{
	/* stop the trace first: its end no longer matters, and its stream is closed below */
	z->pq.f.PQuntrace(c->conn);
	fz_show_trace(z, c);
	/*
	 * Finish the running statement, or timing would decide how much of it is done. Both drivers share
	 * one server, and its numbers go on.
	 */
	if (z->is_elsewhere && z->pq.f.PQtransactionStatus(c->conn) == PQTRANS_ACTIVE)
		(void)fz_await(z, c);
	if (c->trace != NULL)
		fclose(c->trace);
	free(c->trace_text);
	c->trace = NULL;
	c->trace_text = NULL;
	z->pq.f.PQfinish(c->conn);
	c->conn = NULL;
	c->state[0] = '\0';
	c->is_unsynced = 0;
}

/* Poll until the connection succeeds or fails. Libraries may differ in the number of polls. */
static PostgresPollingStatusType
poll_to_end(struct fz *z, PGconn *conn, PostgresPollingStatusType (*step)(PGconn *conn))
{
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;

	while (status == PGRES_POLLING_WRITING || status == PGRES_POLLING_READING) {
		struct pollfd p = { .fd = z->pq.f.PQsocket(conn) };

		p.events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
		if (poll(&p, 1, NEVER_MS) <= 0) {
			fz_say(z, " stuck");
			return status;
		}
		status = step(conn);
	}
	return status;
}

static PGconn *
connect_params(struct fz *z, const char *more, int is_async)
{
	const char *keywords[] = { "dbname", "application_name", NULL };
	const char *values[] = { NULL, NULL, NULL };
	char all[512];

	snprintf(all, sizeof(all), "%s%s", z->conninfo, more);
	values[0] = all;
	values[1] = "by arrays";
	return is_async ? z->pq.f.PQconnectStartParams(keywords, values, 1)
			: z->pq.f.PQconnectdbParams(keywords, values, 1);
}

static PGconn *
make(struct fz *z, uint32_t how, const char *more, int *ret_is_async)
{
	char all[512];

	*ret_is_async = how % 6 >= 4;
	snprintf(all, sizeof(all), "%s%s", z->conninfo, more);
	switch (how % 6) {
	case 0:
		return connect_params(z, more, 0);
	case 1:
		return z->pq.f.PQsetdbLogin(
			z->host, z->port, NULL, NULL, z->dbname, z->user, NULL);
	case 4:
		return z->pq.f.PQconnectStart(all);
	case 5:
		return connect_params(z, more, 1);
	default:
		return z->pq.f.PQconnectdb(all);
	}
}

static void
adopt(struct fz *z, PGconn *conn)
{
	fz_finish_conn(z, z->at);
	z->at->conn = conn;
	(void)z->pq.f.PQsetNoticeProcessor(conn, on_notice, z);
}

void
fz_connect(struct fz *z, const uint32_t n[4])
{
	const char *more = n[2] % 3 ? "" : FZ_WORD(z, conninfos, n[3]);
	int is_async;
	PGconn *conn = make(z, n[1], more, &is_async);

	adopt(z, conn);
	z->at->has_copy = 0;
	z->at->has_settings = n[1] % 6 == 0 || n[1] % 6 == 5 || *more != '\0';
	fz_say(z, " way %u%s", n[1] % 6, more);
	if (is_async && n[2] % 7 && conn != NULL)
		fz_say(z, " polled %d", poll_to_end(z, conn, z->pq.f.PQconnectPoll));
	fz_say(z, "\n");
}

/*
 * Connection strings without an address to try: this test cannot choose which server they would reach.
 * Errors found before connecting must be the same. The text for a server that does not answer is each
 * library's own.
 */
void
fz_connect_badly(struct fz *z, const uint32_t n[4])
{
	const char *text = FZ_WORD(z, bad_conninfos, n[1]);
	PGconn *conn = z->pq.f.PQconnectStart(text);

	fz_say(z, " ");
	fz_say_text(z, text);
	if (z->pq.f.PQstatus(conn) == CONNECTION_BAD &&
		strncmp(z->pq.f.PQerrorMessage(conn), "connection to ", 14) != 0) {
		adopt(z, conn);
		fz_gave_text(z, z->pq.f.PQerrorMessage(conn));
		return;
	}
	z->pq.f.PQfinish(conn);
	fz_say(z, " is tried\n");
}

void
fz_connect_poll(struct fz *z, const uint32_t n[4])
{
	int is_bad = z->pq.f.PQstatus(z->at->conn) == CONNECTION_BAD;

	if (n[1] % 4 == 0 && z->at->conn != NULL) {
		int r = z->pq.f.PQresetStart(z->at->conn);

		fz_say(z, " reset %d", r);
		z->at->is_unsynced = 0;
		if (r && n[1] % 3)
			fz_say(z, " polled %d",
				poll_to_end(z, z->at->conn, z->pq.f.PQresetPoll));
		fz_say(z, "\n");
		return;
	}
	if (z->pq.f.PQstatus(z->at->conn) == CONNECTION_OK || is_bad)
		fz_gave_int(z, z->pq.f.PQconnectPoll(z->at->conn));
	else
		fz_gave_int(z, poll_to_end(z, z->at->conn, z->pq.f.PQconnectPoll));
}

void
fz_finish(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_say(z, "\n");
	fz_finish_conn(z, z->at);
}

void
fz_reset(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_say(z, "\n");
	z->pq.f.PQreset(z->at->conn);
	z->at->is_unsynced = 0;
}

void
fz_ping(struct fz *z, const uint32_t n[4])
{
	static const char *const bad[] = { "nonsense", "nokey=1", "port=abc" };

	fz_gave_int(z, z->pq.f.PQping(n[1] % 3 ? z->conninfo : bad[n[2] % 3]));
}

/* The state that does not change from call to call. */
void
fz_status(struct fz *z, const uint32_t n[4])
{
	PGconn *conn = z->at->conn;

	(void)n;
	fz_say(z, " db ");
	fz_say_text(z, z->pq.f.PQdb(conn));
	fz_say(z, " user ");
	fz_say_text(z, z->pq.f.PQuser(conn));
	fz_say(z, " pass ");
	fz_say_text(z, z->pq.f.PQpass(conn));
	fz_say(z, " host ");
	fz_say_text(z, z->pq.f.PQhost(conn));
	fz_say(z, " ");
	fz_say_text(z, z->pq.f.PQhostaddr(conn));
	fz_say(z, " port ");
	fz_say_text(z, z->pq.f.PQport(conn));
	fz_say(z, " tty ");
	fz_say_text(z, z->pq.f.PQtty(conn));
	fz_say(z, " options ");
	fz_say_text(z, z->pq.f.PQoptions(conn));
	fz_say(z, " password %d %d tls %d %d gss %d %d\n",
		z->pq.f.PQconnectionNeedsPassword(conn),
		z->pq.f.PQconnectionUsedPassword(conn),
		getenv("CHECK_TLS") ? 0 : z->pq.f.PQsslInUse(conn),
		z->pq.f.PQgetssl(conn) != NULL, z->pq.f.PQgssEncInUse(conn),
		z->pq.f.PQgetgssctx(conn) != NULL);
}

static void
show_options(struct fz *z, PQconninfoOption *options)
{
	fz_say(z, "%s\n", options != NULL ? "" : " -> none");
	for (PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
		/* the default of this one depends on how the library was built */
		if (o->val == NULL ||
			(z->release > 15 && strcmp(o->keyword, "gssencmode") == 0))
			continue;
		fz_say(z, "    %s=", o->keyword);
		fz_say_text(z, o->val);
		fz_say(z, "\n");
	}
	z->pq.f.PQconninfoFree(options);
}

void
fz_conninfo(struct fz *z, const uint32_t n[4])
{
	show_options(
		z, n[1] % 4 ? z->pq.f.PQconninfo(z->at->conn) : z->pq.f.PQconndefaults());
}

void
fz_conninfo_parse(struct fz *z, const uint32_t n[4])
{
	static const char *const good[] = { "host=a  port = 5",
		"postgresql://u:p@h:1/d?a", "postgres://h1:1,h2:2/db?sslmode=require",
		"dbname='it\\'s' user=\\a", "postgresql:///?host=/tmp&dbname=%20x", "" };
	const char *text = n[1] % 2 ? good[n[2] % 6] : FZ_PICK(bad_conninfos, n[2]);
	char *why = NULL;
	PQconninfoOption *options = z->pq.f.PQconninfoParse(text, &why);

	fz_say(z, " ");
	fz_say_text(z, text);
	fz_say(z, " why ");
	fz_say_text(z, why);
	z->pq.f.PQfreemem(why);
	show_options(z, options);
}

/* ---- settings of a connection ---- */

void
fz_set_encoding(struct fz *z, const uint32_t n[4])
{
	const char *encoding = FZ_WORD(z, encodings, n[1]);

	fz_say(z, " %s", encoding);
	fz_gave_int(z, z->pq.f.PQsetClientEncoding(z->at->conn, encoding));
}

void
fz_set_verbosity(struct fz *z, const uint32_t n[4])
{
	fz_say(z, " %u", n[1] % 4);
	fz_gave_int(z, z->pq.f.PQsetErrorVerbosity(z->at->conn, (PGVerbosity)(n[1] % 4)));
}

void
fz_set_context(struct fz *z, const uint32_t n[4])
{
	fz_say(z, " %u", n[1] % 3);
	fz_gave_int(z, z->pq.f.PQsetErrorContextVisibility(
			       z->at->conn, (PGContextVisibility)(n[1] % 3)));
}

void
fz_set_nonblocking(struct fz *z, const uint32_t n[4])
{
	fz_say(z, " %u", n[1] % 3);
	fz_gave_int(z, z->pq.f.PQsetnonblocking(z->at->conn, (int)(n[1] % 3)));
}

void
fz_set_notices(struct fz *z, const uint32_t n[4])
{
	PQnoticeReceiver old;

	switch (n[1] % 3) {
	case 0:
		old = z->pq.f.PQsetNoticeReceiver(z->at->conn, on_notice_result, z);
		fz_say(z, " receiver %d\n", old == on_notice_result);
		return;
	case 1:
		fz_say(z, " processor %d\n",
			z->pq.f.PQsetNoticeProcessor(z->at->conn, on_notice, z) ==
				on_notice);
		return;
	default:
		old = z->pq.f.PQsetNoticeReceiver(z->at->conn, NULL, NULL);
		fz_say(z, " asked %d %d\n", old == on_notice_result,
			z->pq.f.PQsetNoticeProcessor(z->at->conn, NULL, NULL) ==
				on_notice);
	}
}

void
fz_trace(struct fz *z, const uint32_t n[4])
{
	struct fz_conn *c = z->at;

	fz_say(z, "\n");
	if (c->conn == NULL)
		return;
	if (c->trace == NULL)
		c->trace = open_memstream(&c->trace_text, &c->trace_size);
	if (c->trace == NULL)
		abort();
	z->pq.f.PQtrace(c->conn, c->trace);
	z->pq.f.PQsetTraceFlags(
		c->conn, PQTRACE_SUPPRESS_TIMESTAMPS | PQTRACE_REGRESS_MODE);
	(void)n;
}

void
fz_untrace(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_say(z, "\n");
	z->pq.f.PQuntrace(z->at->conn);
	fz_show_trace(z, z->at);
}
