/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include <libpq-fe.h>

#include "bench.h"

static PGconn *
conn_of(struct cnb_session *s)
{
	return (PGconn *)s;
}

static int
failed(const char *message, struct cnb_error *ret_error)
{
	snprintf(ret_error->text, sizeof(ret_error->text), "libpq: %s",
		message[0] != '\0' ? message : "out of memory");
	return -1;
}

static void
ignore_notice(void *arg, const PGresult *res)
{
	(void)arg;
	(void)res;
}

static int
open_at(const char *conninfo, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	PGconn *conn = PQconnectdb(conninfo);

	if (PQstatus(conn) != CONNECTION_OK) {
		failed(PQerrorMessage(conn), ret_error);
		PQfinish(conn);
		return -1;
	}
	PQsetNoticeReceiver(conn, ignore_notice, NULL);
	*ret_session = (struct cnb_session *)conn;
	return 0;
}

static int
postgresql_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	return open_at(env->places[CNB_PLACE_POSTGRESQL], ret_session, ret_error);
}

static int
pgbouncer_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	return open_at(env->places[CNB_PLACE_PGBOUNCER], ret_session, ret_error);
}

static void
read_values(const PGresult *res, struct cnb_answer *answer)
{
	int n_rows = PQntuples(res), n_columns = PQnfields(res), row, col;

	for (row = 0; row < n_rows; row++) {
		for (col = 0; col < n_columns; col++) {
			if (PQgetvalue(res, row, col) != NULL)
				answer->bytes += (uint64_t)PQgetlength(res, row, col);
		}
	}
	answer->rows += (uint64_t)n_rows;
}

/* Adds what the result holds, and frees it. */
static int
take(PGresult *res, struct cnb_answer *answer, struct cnb_error *ret_error)
{
	ExecStatusType status = PQresultStatus(res);
	int r = 0;

	if (status == PGRES_TUPLES_OK)
		read_values(res, answer);
	else if (status != PGRES_COMMAND_OK)
		r = failed(PQresultErrorMessage(res), ret_error);
	PQclear(res);
	return r;
}

static int
libpq_query(struct cnb_session *s, const char *sql, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	*ret_answer = (struct cnb_answer){ 0, 0 };
	return take(PQexec(conn_of(s), sql), ret_answer, ret_error);
}

static int
libpq_prepare(struct cnb_session *s, const char *sql, struct cnb_error *ret_error)
{
	struct cnb_answer none = { 0, 0 };

	return take(PQprepare(conn_of(s), "bench", sql, 0, NULL), &none, ret_error);
}

static int
libpq_execute(
	struct cnb_session *s, struct cnb_answer *ret_answer, struct cnb_error *ret_error)
{
	*ret_answer = (struct cnb_answer){ 0, 0 };
	return take(PQexecPrepared(conn_of(s), "bench", 0, NULL, NULL, NULL, 0),
		ret_answer, ret_error);
}

static int
send_all(PGconn *conn, const char *sql, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!PQsendQueryParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0))
			return -1;
	}
	return PQpipelineSync(conn) ? 0 : -1;
}

static int
libpq_pipeline(struct cnb_session *s, const char *sql, uint32_t n,
	struct cnb_answer *ret_answer, struct cnb_error *ret_error)
{
	PGconn *conn = conn_of(s);
	PGresult *res;
	uint32_t i;

	*ret_answer = (struct cnb_answer){ 0, 0 };
	if (!PQenterPipelineMode(conn) || send_all(conn, sql, n) < 0)
		return failed(PQerrorMessage(conn), ret_error);
	for (i = 0; i < n; i++) {
		if (take(PQgetResult(conn), ret_answer, ret_error) < 0)
			return -1;
		/* The end of that query. */
		PQclear(PQgetResult(conn));
	}
	res = PQgetResult(conn);
	i = PQresultStatus(res) == PGRES_PIPELINE_SYNC;
	PQclear(res);
	if (!i || !PQexitPipelineMode(conn))
		return failed(PQerrorMessage(conn), ret_error);
	return 0;
}

static void
libpq_close(struct cnb_session *s)
{
	PQfinish(conn_of(s));
}

const struct cnb_target *
cnb_target_pgbouncer(void)
{
	static const struct cnb_target target = {
		.name = "pgbouncer",
		.about = "PostgreSQL behind PgBouncer, through libpq",
		.place = CNB_PLACE_PGBOUNCER,
		.open = pgbouncer_open,
		.query = libpq_query,
		.prepare = libpq_prepare,
		.execute = libpq_execute,
		.pipeline = libpq_pipeline,
		.close = libpq_close,
	};

	return &target;
}

const struct cnb_target *
cnb_target_postgresql(void)
{
	static const struct cnb_target target = {
		.name = "postgresql",
		.about = "PostgreSQL itself, through libpq",
		.place = CNB_PLACE_POSTGRESQL,
		.open = postgresql_open,
		.query = libpq_query,
		.prepare = libpq_prepare,
		.execute = libpq_execute,
		.pipeline = libpq_pipeline,
		.close = libpq_close,
	};

	return &target;
}
