/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_process.h"

/* Queries, at once or step by step; pipelines; cancelling. */

#define MAX_PARAMS 4

/*
 * ANSWER_MS: wait so long for an answer that must come. SILENT_MS: an optional answer is not coming if no
 * process works on it after this time.
 */
#define ANSWER_MS 60000
#define SILENT_MS 30
#define AGAIN_MS  20

/* FZ_PATIENCE in the environment multiplies the time. */
static int
silent_ms(void)
{
	const char *factor = getenv("FZ_PATIENCE");

	return factor ? SILENT_MS * atoi(factor) : SILENT_MS;
}

int
fz_await(struct fz *z, struct fz_conn *c)
{
	int64_t until = cnt_now_ms() + ANSWER_MS;
	int patience = c->is_unsynced ? silent_ms() : ANSWER_MS;
	int left = patience;

	while (z->pq.f.PQisBusy(c->conn)) {
		struct pollfd p = { .fd = z->pq.f.PQsocket(c->conn), .events = POLLIN };

		if (cnt_now_ms() >= until)
			return 0;
		if (z->pq.f.PQflush(c->conn) > 0)
			p.events |= POLLOUT;
		if (poll(&p, 1, left) != 0)
			left = patience;
		else if (fz_is_under_way(z, c))
			left = AGAIN_MS;
		else if (poll(&p, 1, 0) == 0) /* the rest may have arrived by now */
			return 0;
		if (!z->pq.f.PQconsumeInput(c->conn))
			break;
	}
	return 1;
}

/* ---- requests ---- */

struct params {
	const char *query;
	int n;
	Oid types[MAX_PARAMS];
	const char *values[MAX_PARAMS];
	int lengths[MAX_PARAMS];
	int formats[MAX_PARAMS];
	int has_types, has_formats, has_values;
	int result_format;
};

static int
n_of_params(const char *query)
{
	int n = 0;

	for (const char *p = query; *p != '\0'; p++) {
		if (*p == '$' && p[1] > '0' && p[1] - '0' > n)
			n = p[1] - '0';
	}
	return n;
}

/* Mostly choose as many parameters as the statement has. */
static void
choose_params(struct params *p, const char *query, const uint32_t n[4])
{
	static const Oid types[] = { 0, 0, 23, 25, 17, 1700, 1 };
	uint32_t number = n[3];

	memset(p, 0, sizeof(*p));
	p->query = query;
	p->n = n_of_params(query);
	if (number % 11 == 0)
		p->n = (int)(number / 11 % MAX_PARAMS);
	p->has_types = number % 3 == 0;
	p->has_formats = number % 5 == 0;
	p->has_values = number % 23 != 0;
	p->result_format = number % 4 == 0;
	for (int i = 0; i < p->n; i++, number /= 3) {
		/* if the statement is empty, a server asked to infer a type fails with an error of its own */
		p->types[i] = *query != '\0' ? types[number % 7] : 25;
		p->values[i] =
			number % 13 ? FZ_PICK(values, number / 7 + (uint32_t)i) : NULL;
		p->lengths[i] = p->values[i] != NULL ? (int)strlen(p->values[i]) : 0;
		p->formats[i] = number % 6 == 1;
	}
}

static void
say_params(struct fz *z, const struct params *p)
{
	for (int i = 0; p->has_values && i < p->n; i++) {
		fz_say(z, " $%d=", i + 1);
		fz_say_text(z, p->values[i]);
		if (p->has_types)
			fz_say(z, "::%u", p->types[i]);
		if (p->has_formats)
			fz_say(z, " format %d", p->formats[i]);
	}
	if (p->result_format)
		fz_say(z, " binary");
}

#define GIVEN(member) (p.has_##member ? p.member : NULL)
#define VALUES_GIVEN  GIVEN(values), p.lengths, GIVEN(formats), p.result_format

static const char *
say_query(struct fz *z, const char *query)
{
	const char *why = query != NULL ? fz_known_query(z, query) : NULL;

	if (why != NULL) {
		fz_say(z, " (%s)", why);
		query = "select 'instead'";
	}
	fz_say(z, " ");
	fz_say_text(z, query);
	return query;
}

static const char *
say_prepared(struct fz *z, const char *query)
{
	query = say_query(z, query);
	if (query != NULL && strstr(query, "copy") != NULL)
		z->at->has_copy = 1;
	return query;
}

static int
is_pipeline(struct fz *z)
{
	return z->pq.f.PQpipelineStatus(z->at->conn) != PQ_PIPELINE_OFF;
}

/* ---- requests that return a result at once ---- */

/* Close the statement or portal instead of describing it. */
static int
is_close(const struct fz *z, uint32_t number)
{
	return z->release >= 17 && number % 4 == 3;
}

/* Common end of every call that returns a result at once. */
static void
gave_result(struct fz *z, PGresult *res)
{
	fz_say(z, "\n");
	fz_keep_result(z, res);
}

void
fz_exec(struct fz *z, const uint32_t n[4])
{
	const char *query = say_query(z, fz_query_word(z, n[1]));

	gave_result(z, z->pq.f.PQexec(z->at->conn, query));
}

void
fz_exec_params(struct fz *z, const uint32_t n[4])
{
	struct params p;

	choose_params(&p, say_query(z, fz_bound_word(z, n[1])), n);
	say_params(z, &p);
	gave_result(z, z->pq.f.PQexecParams(
			       z->at->conn, p.query, p.n, GIVEN(types), VALUES_GIVEN));
}

void
fz_prepare(struct fz *z, const uint32_t n[4])
{
	const char *name = say_query(z, FZ_PICK(names, n[2]));
	struct params p;

	choose_params(&p, say_prepared(z, fz_bound_word(z, n[1])), n);
	gave_result(z, z->pq.f.PQprepare(z->at->conn, name, p.query, p.n, GIVEN(types)));
}

/*
 * If the pool moves sessions, do not use the unnamed statement of an earlier request: another session does
 * not have it (docs/libpq-shim.md).
 */
static const char *
prepared_name(const char *name)
{
	int is_kept = !getenv("CHECK_CROWD") && !getenv("CHECK_RELOADS");

	return !is_kept && (!name || !*name) ? "p1" : name;
}

void
fz_exec_prepared(struct fz *z, const uint32_t n[4])
{
	const char *name = say_query(z, prepared_name(FZ_WORD(z, names, n[2])));
	struct params p;

	choose_params(&p, FZ_PICK(bound_queries, n[1]), n);
	say_params(z, &p);
	gave_result(z, z->pq.f.PQexecPrepared(z->at->conn, name, p.n, VALUES_GIVEN));
}

void
fz_describe_prepared(struct fz *z, const uint32_t n[4])
{
	const char *name =
		say_query(z, prepared_name(n[3] % 8 ? FZ_WORD(z, names, n[1]) : NULL));

	gave_result(z, is_close(z, n[3]) ? z->pq.f.PQclosePrepared(z->at->conn, name)
					 : z->pq.f.PQdescribePrepared(z->at->conn, name));
}

void
fz_describe_portal(struct fz *z, const uint32_t n[4])
{
	const char *name = say_query(z, n[3] % 8 ? FZ_WORD(z, names, n[1]) : NULL);

	gave_result(z, is_close(z, n[3]) ? z->pq.f.PQclosePortal(z->at->conn, name)
					 : z->pq.f.PQdescribePortal(z->at->conn, name));
}

void
fz_copy_begin(struct fz *z, const uint32_t n[4])
{
	const char *query = say_query(z, FZ_WORD(z, copies, n[1]));
	int is_sent = 1;

	if (n[2] % 3)
		gave_result(z, z->pq.f.PQexec(z->at->conn, query));
	else {
		is_sent = n[2] % 2 ? z->pq.f.PQsendQuery(z->at->conn, query)
				   : z->pq.f.PQsendQueryParams(z->at->conn, query, 0,
					     NULL, NULL, NULL, NULL, 0);
		fz_gave_int(z, is_sent);
	}
	if (is_sent)
		z->at->is_line_left = z->at->is_line_lost = 0;
}

/* ---- requests step by step ---- */

/* In a pipeline the server answers only after a sync or flush request. */
static void
sent(struct fz *z, int r)
{
	fz_gave_int(z, r);
	if (!r)
		return;
	z->at->is_read_ahead = 0;
	if (is_pipeline(z))
		z->at->is_unsynced = 1;
}

void
fz_send_query(struct fz *z, const uint32_t n[4])
{
	const char *query = n[3] % 40 ? say_query(z, fz_query_word(z, n[1])) : NULL;

	sent(z, z->pq.f.PQsendQuery(z->at->conn, query));
}

void
fz_send_params(struct fz *z, const uint32_t n[4])
{
	struct params p;

	choose_params(&p, say_query(z, fz_bound_word(z, n[1])), n);
	if (n[2] % 50 == 0)
		p.query = NULL;
	say_params(z, &p);
	if (n[2] % 50 == 1) {
		p.n = 70000;
		fz_say(z, " too many");
	}
	sent(z, z->pq.f.PQsendQueryParams(
			z->at->conn, p.query, p.n, GIVEN(types), VALUES_GIVEN));
}

void
fz_send_prepare(struct fz *z, const uint32_t n[4])
{
	const char *name = say_query(z, n[3] % 50 ? FZ_PICK(names, n[2]) : NULL);
	struct params p;

	choose_params(&p, say_prepared(z, fz_bound_word(z, n[1])), n);
	sent(z, z->pq.f.PQsendPrepare(z->at->conn, name, p.query, p.n, GIVEN(types)));
}

void
fz_send_prepared(struct fz *z, const uint32_t n[4])
{
	const char *name =
		say_query(z, n[3] % 50 ? prepared_name(FZ_WORD(z, names, n[2])) : NULL);
	struct params p;

	choose_params(&p, FZ_PICK(bound_queries, n[1]), n);
	say_params(z, &p);
	sent(z, z->pq.f.PQsendQueryPrepared(z->at->conn, name, p.n, VALUES_GIVEN));
}

void
fz_send_describe_prepared(struct fz *z, const uint32_t n[4])
{
	const char *name = say_query(z, prepared_name(FZ_WORD(z, names, n[1])));

	sent(z, is_close(z, n[3]) ? z->pq.f.PQsendClosePrepared(z->at->conn, name)
				  : z->pq.f.PQsendDescribePrepared(z->at->conn, name));
}

void
fz_send_describe_portal(struct fz *z, const uint32_t n[4])
{
	const char *name = say_query(z, FZ_WORD(z, names, n[1]));

	sent(z, is_close(z, n[3]) ? z->pq.f.PQsendClosePortal(z->at->conn, name)
				  : z->pq.f.PQsendDescribePortal(z->at->conn, name));
}

/* What libpq 17 brought is called in place of what is like it, so that the sequences for libpq 15 stay the same. */
static int
is_newer(const struct fz *z, uint32_t number)
{
	return z->release >= 17 && number % 4 >= 2;
}

void
fz_set_single_row(struct fz *z, const uint32_t n[4])
{
	int size = (int)(n[2] % 4);

	if (!is_newer(z, n[1])) {
		fz_gave_int(z, z->pq.f.PQsetSingleRowMode(z->at->conn));
		return;
	}
	fz_say(z, " chunks of %d", size);
	fz_gave_int(z, z->pq.f.PQsetChunkedRowsMode(z->at->conn, size));
}

/* Outside of a pipeline, sometimes call PQgetResult() without checking first whether it would block. */
void
fz_get_result(struct fz *z, const uint32_t n[4])
{
	struct fz_conn *c = z->at;

	if ((c->is_unsynced || n[1] % 2) && c->conn != NULL && !fz_await(z, c)) {
		fz_say(z, " would wait\n");
		return;
	}
	gave_result(z, z->pq.f.PQgetResult(c->conn));
}

static int
is_copy(struct fz *z, const PGresult *res)
{
	ExecStatusType status = z->pq.f.PQresultStatus(res);

	return status == PGRES_COPY_IN || status == PGRES_COPY_OUT ||
	       status == PGRES_COPY_BOTH;
}

/* Read all results of the request. In a pipeline two NULL results in a row are the end. */
void
fz_drain(struct fz *z, const uint32_t n[4])
{
	int n_ends = 0;

	(void)n;
	fz_say(z, "\n");
	for (int i = 0; i < 60 && n_ends < 2 && z->at->conn != NULL; i++) {
		PGresult *res;

		if (!fz_await(z, z->at)) {
			fz_say(z, "    would wait\n");
			return;
		}
		res = z->pq.f.PQgetResult(z->at->conn);
		n_ends = res == NULL ? n_ends + 1 : 0;
		if (is_copy(z, res))
			i = 60;
		fz_keep_result(z, res);
	}
}

void
fz_settle(struct fz *z, const uint32_t n[4])
{
	(void)n;
	if (z->at->conn != NULL && !fz_await(z, z->at))
		fz_say(z, " busy");
	fz_say(z, "\n");
}

/* Input may or may not have arrived, so print only whether the call succeeded. */
void
fz_consume(struct fz *z, const uint32_t n[4])
{
	(void)n;
	if (z->at->conn != NULL)
		(void)fz_await(z, z->at);
	fz_gave_int(z, z->pq.f.PQconsumeInput(z->at->conn));
}

/* Read everything that arrives without another request, but take no result. */
void
fz_read_ahead(struct fz *z, const uint32_t n[4])
{
	int64_t until = cnt_now_ms() + ANSWER_MS;

	(void)n;
	(void)z->pq.f.PQflush(z->at->conn);
	while (z->at->conn != NULL && fz_is_under_way(z, z->at) && cnt_now_ms() < until)
		(void)poll(NULL, 0, 1);
	z->at->is_read_ahead = 1;
	fz_gave_int(z, z->pq.f.PQconsumeInput(z->at->conn));
}

void
fz_flush(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_gave_int(z, z->pq.f.PQflush(z->at->conn));
}

/* ---- pipelines ---- */

void
fz_enter_pipeline(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_gave_int(z, z->pq.f.PQenterPipelineMode(z->at->conn));
}

void
fz_exit_pipeline(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_gave_int(z, z->pq.f.PQexitPipelineMode(z->at->conn));
}

static void
asked_for(struct fz *z, int r)
{
	fz_gave_int(z, r);
	if (r)
		z->at->is_unsynced = 0;
}

void
fz_sync(struct fz *z, const uint32_t n[4])
{
	int r;

	if (!is_newer(z, n[1])) {
		asked_for(z, z->pq.f.PQpipelineSync(z->at->conn));
		return;
	}
	/* as with a flush request, PQflush() sends it */
	r = z->pq.f.PQsendPipelineSync(z->at->conn);
	fz_say(z, " sent");
	if (r)
		fz_say(z, " flush %d", z->pq.f.PQflush(z->at->conn));
	asked_for(z, r);
}

/* The flush request waits in the buffer until PQflush() sends it. */
void
fz_flush_request(struct fz *z, const uint32_t n[4])
{
	int r = z->pq.f.PQsendFlushRequest(z->at->conn);

	if (r && n[1] % 3)
		fz_say(z, " flush %d", z->pq.f.PQflush(z->at->conn));
	asked_for(z, r);
}

/* ---- cancelling ---- */

/* The way of libpq 17: step by step, or in one call. */
static void
cancel_newly(struct fz *z, PGconn *conn, int is_blocking)
{
	PGcancelConn *cancel = z->pq.f.PQcancelCreate(conn);
	int r = is_blocking ? z->pq.f.PQcancelBlocking(cancel)
			    : z->pq.f.PQcancelStart(cancel);

	for (int i = 0; !is_blocking && r && i < 1000; i++) {
		PostgresPollingStatusType next = z->pq.f.PQcancelPoll(cancel);
		struct pollfd p = { .fd = z->pq.f.PQcancelSocket(cancel),
			.events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT };

		if (next == PGRES_POLLING_OK || next == PGRES_POLLING_FAILED)
			break;
		(void)poll(&p, 1, ANSWER_MS);
	}
	fz_say(z, " new way %d -> %d status %d %s\n", cancel != NULL, r,
		z->pq.f.PQcancelStatus(cancel), z->pq.f.PQcancelErrorMessage(cancel));
	z->pq.f.PQcancelReset(cancel);
	z->pq.f.PQcancelFinish(cancel);
}

static void
cancel(struct fz *z, PGconn *conn, int is_old_way)
{
	char why[256] = "";
	PGcancel *box;
	int r;

	if (is_old_way) {
		fz_gave_int(z, z->pq.f.PQrequestCancel(conn));
		return;
	}
	box = z->pq.f.PQgetCancel(conn);
	r = z->pq.f.PQcancel(box, why, sizeof(why));
	fz_say(z, " box %d -> %d %s\n", box != NULL, r, why);
	z->pq.f.PQfreeCancel(box);
}

/* Cancel on a connection where nothing runs. The cancel must not affect the next statement. */
void
fz_cancel(struct fz *z, const uint32_t n[4])
{
	PGconn *conn = z->at->conn;

	if (conn != NULL && z->pq.f.PQtransactionStatus(conn) == PQTRANS_ACTIVE) {
		fz_say(z, " busy\n");
		return;
	}
	if (is_newer(z, n[1]))
		cancel_newly(z, conn, n[2] % 2);
	else
		cancel(z, conn, n[1] % 4 == 0);
}

/* A statement that runs until it is cancelled. One that fails at once could fail before or after the cancel. */
static const char *
endless_query(const PGconn *conn, const struct fz *z)
{
	const char *version = z->pq.f.PQparameterStatus(conn, "server_version");

	if (version != NULL && strstr(version, "MariaDB") != NULL)
		return "select sleep(9)";
	if (version != NULL && strstr(version, "SQLite") != NULL)
		return "with recursive t(i) as (select 1 union all select i + 1 from t)"
		       " select count(*) from t";
	return "select pg_sleep(9)";
}

/*
 * Cancel a running statement. A cancel that arrives before the statement has no effect, so repeat it until
 * it has.
 */
void
fz_cancel_running(struct fz *z, const uint32_t n[4])
{
	PGconn *conn = z->at->conn;
	char why[256];

	if (conn == NULL || z->pq.f.PQstatus(conn) != CONNECTION_OK ||
		!z->pq.f.PQsendQuery(conn, endless_query(conn, z))) {
		fz_say(z, " not sent\n");
		return;
	}
	(void)n;
	for (int i = 0; i < 200 && z->pq.f.PQisBusy(conn); i++) {
		PGcancel *box = z->pq.f.PQgetCancel(conn);
		struct pollfd p = { .fd = z->pq.f.PQsocket(conn), .events = POLLIN };

		(void)poll(&p, 1, 10);
		if (p.revents == 0 && !z->pq.f.PQcancel(box, why, sizeof(why)))
			fz_say(z, " %s", why);
		z->pq.f.PQfreeCancel(box);
		(void)z->pq.f.PQconsumeInput(conn);
	}
	gave_result(z, z->pq.f.PQgetResult(conn));
}
