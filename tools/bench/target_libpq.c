/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The targets postgresql, pgbouncer, pgpool, peer-postgresql and shim: libpq, or the shim that replaces it.
 * targets.c lists them.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "libpq_library.h"

struct session {
	const struct cnb_libpq *lib;
	PGconn *conn;
	int is_trying; /* a query of try_query is under way */
	struct cnb_answer answer; /* what has come of its answer */
};

static struct session *
session_of(struct cnb_session *s)
{
	return (struct session *)s;
}

static int
failed(const char *message, struct cnb_error *ret_error)
{
	snprintf(ret_error->text, sizeof(ret_error->text), "libpq: %s",
		message[0] != '\0' ? message : "out of memory");
	return -1;
}

static int
conn_failed(const struct session *s, struct cnb_error *ret_error)
{
	return failed(s->lib->PQerrorMessage(s->conn), ret_error);
}

static void
ignore_notice(void *arg, const PGresult *res)
{
	(void)arg;
	(void)res;
}

static void
libpq_close(struct cnb_session *cs)
{
	struct session *s = session_of(cs);

	if (s == NULL)
		return;
	s->lib->PQfinish(s->conn);
	free(s);
}

static int
open_at(const struct cnb_libpq *lib, const char *conninfo,
	struct cnb_session **ret_session, struct cnb_error *ret_error)
{
	struct session *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return failed("", ret_error);
	s->lib = lib;
	s->conn = lib->PQconnectdb(conninfo);
	if (lib->PQstatus(s->conn) != CONNECTION_OK) {
		conn_failed(s, ret_error);
		libpq_close((struct cnb_session *)s);
		return -1;
	}
	lib->PQsetNoticeReceiver(s->conn, ignore_notice, NULL);
	*ret_session = (struct cnb_session *)s;
	return 0;
}

static int
postgresql_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	return open_at(
		cnb_libpq(), env->places[CNB_PLACE_POSTGRESQL], ret_session, ret_error);
}

static int
pgbouncer_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	return open_at(
		cnb_libpq(), env->places[CNB_PLACE_PGBOUNCER], ret_session, ret_error);
}

static int
pgpool_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	return open_at(
		cnb_libpq(), env->places[CNB_PLACE_PGPOOL], ret_session, ret_error);
}

static int
peer_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	return open_at(cnb_libpq(), env->places[CNB_PLACE_PEER_POSTGRESQL], ret_session,
		ret_error);
}

/* Connect with the usual options of a program. The environment chooses the pool. */
static int
shim_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	const struct cnb_libpq *shim =
		cnb_libpq_shim(env->places[CNB_PLACE_POOL], ret_error);

	return shim == NULL ? -1
			    : open_at(shim, "host=/tmp port=5432 user=app dbname=app",
				      ret_session, ret_error);
}

static void
read_values(const struct cnb_libpq *lib, const PGresult *res, struct cnb_answer *answer)
{
	int n_rows = lib->PQntuples(res), n_columns = lib->PQnfields(res), row, col;

	for (row = 0; row < n_rows; row++) {
		for (col = 0; col < n_columns; col++) {
			if (lib->PQgetvalue(res, row, col) != NULL)
				answer->bytes +=
					(uint64_t)lib->PQgetlength(res, row, col);
		}
	}
	answer->rows += (uint64_t)n_rows;
}

/* Add the result's rows and bytes to the answer, and free it. */
static int
take(const struct cnb_libpq *lib, PGresult *res, struct cnb_answer *answer,
	struct cnb_error *ret_error)
{
	ExecStatusType status = lib->PQresultStatus(res);
	int r = 0;

	if (status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE)
		read_values(lib, res, answer);
	else if (status != PGRES_COMMAND_OK)
		r = failed(lib->PQresultErrorMessage(res), ret_error);
	lib->PQclear(res);
	return r;
}

static int
libpq_query(struct cnb_session *cs, const char *sql, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	const struct session *s = session_of(cs);

	*ret_answer = (struct cnb_answer){ 0, 0 };
	return take(s->lib, s->lib->PQexec(s->conn, sql), ret_answer, ret_error);
}

static int
libpq_prepare(struct cnb_session *cs, const char *sql, struct cnb_error *ret_error)
{
	const struct session *s = session_of(cs);
	struct cnb_answer none = { 0, 0 };

	return take(s->lib, s->lib->PQprepare(s->conn, "bench", sql, 0, NULL), &none,
		ret_error);
}

static int
libpq_execute(struct cnb_session *cs, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	const struct session *s = session_of(cs);

	*ret_answer = (struct cnb_answer){ 0, 0 };
	return take(s->lib,
		s->lib->PQexecPrepared(s->conn, "bench", 0, NULL, NULL, NULL, 0),
		ret_answer, ret_error);
}

static int
libpq_stream(struct cnb_session *cs, const char *sql, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	const struct session *s = session_of(cs);
	PGresult *res;

	*ret_answer = (struct cnb_answer){ 0, 0 };
	if (!s->lib->PQsendQuery(s->conn, sql) || !s->lib->PQsetSingleRowMode(s->conn))
		return conn_failed(s, ret_error);
	while ((res = s->lib->PQgetResult(s->conn)) != NULL) {
		if (take(s->lib, res, ret_answer, ret_error) < 0)
			return -1;
	}
	return 0;
}

static int
start_try(struct session *s, const char *sql, struct cnb_error *ret_error)
{
	if (!s->lib->PQsendQuery(s->conn, sql))
		return conn_failed(s, ret_error);
	s->is_trying = 1;
	s->answer = (struct cnb_answer){ 0, 0 };
	return 0;
}

static int
libpq_try_query(struct cnb_session *cs, const char *sql, struct pollfd *ret_wait,
	struct cnb_answer *ret_answer, struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);
	const struct cnb_libpq *lib = s->lib;
	int is_new = !s->is_trying, unsent;
	PGresult *res;

	if (is_new && (lib->PQsetnonblocking(s->conn, 1) < 0 ||
			      start_try(s, sql, ret_error) < 0))
		return -1;
	unsent = lib->PQflush(s->conn);
	/* The answer to what was just sent is not there yet. */
	if (unsent < 0 || (!is_new && !lib->PQconsumeInput(s->conn)))
		return conn_failed(s, ret_error);
	while (!is_new && !lib->PQisBusy(s->conn)) {
		res = lib->PQgetResult(s->conn);
		if (res == NULL) {
			s->is_trying = 0;
			*ret_answer = s->answer;
			return 0;
		}
		if (take(lib, res, &s->answer, ret_error) < 0)
			return -1;
	}
	*ret_wait = (struct pollfd){ lib->PQsocket(s->conn),
		(short)(unsent > 0 ? POLLIN | POLLOUT : POLLIN), 0 };
	return 1;
}

static int
send_all(const struct session *s, const char *sql, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!s->lib->PQsendQueryParams(
			    s->conn, sql, 0, NULL, NULL, NULL, NULL, 0))
			return -1;
	}
	return s->lib->PQpipelineSync(s->conn) ? 0 : -1;
}

static int
libpq_pipeline(struct cnb_session *cs, const char *sql, uint32_t n,
	struct cnb_answer *ret_answer, struct cnb_error *ret_error)
{
	const struct session *s = session_of(cs);
	const struct cnb_libpq *lib = s->lib;
	PGresult *res;
	uint32_t i;

	*ret_answer = (struct cnb_answer){ 0, 0 };
	if (!lib->PQenterPipelineMode(s->conn) || send_all(s, sql, n) < 0)
		return conn_failed(s, ret_error);
	for (i = 0; i < n; i++) {
		if (take(lib, lib->PQgetResult(s->conn), ret_answer, ret_error) < 0)
			return -1;
		/* A NULL result ends the query. */
		lib->PQclear(lib->PQgetResult(s->conn));
	}
	res = lib->PQgetResult(s->conn);
	i = lib->PQresultStatus(res) == PGRES_PIPELINE_SYNC;
	lib->PQclear(res);
	if (!i || !lib->PQexitPipelineMode(s->conn))
		return conn_failed(s, ret_error);
	return 0;
}

static int
libpq_copy_in(struct cnb_session *cs, const char *sql, const char *bytes, size_t len,
	struct cnb_error *ret_error)
{
	const struct session *s = session_of(cs);
	const struct cnb_libpq *lib = s->lib;
	struct cnb_answer none = { 0, 0 };
	PGresult *res = lib->PQexec(s->conn, sql);

	if (lib->PQresultStatus(res) != PGRES_COPY_IN)
		return take(lib, res, &none, ret_error) < 0
			       ? -1
			       : failed("the server began no copy", ret_error);
	lib->PQclear(res);
	if (lib->PQputCopyData(s->conn, bytes, (int)len) != 1 ||
		lib->PQputCopyEnd(s->conn, NULL) != 1)
		return conn_failed(s, ret_error);
	if (take(lib, lib->PQgetResult(s->conn), &none, ret_error) < 0)
		return -1;
	/* A NULL result ends the statement. */
	lib->PQclear(lib->PQgetResult(s->conn));
	return 0;
}

#define LIBPQ_CALLS                                                                      \
	.query = libpq_query, .prepare = libpq_prepare, .execute = libpq_execute,        \
	.stream = libpq_stream, .try_query = libpq_try_query, .copy_in = libpq_copy_in,  \
	.close = libpq_close

const struct cnb_target *
cnb_target_shim(void)
{
	static const struct cnb_target target = {
		.name = "shim",
		.about = "a session of a pool, through the libpq shim",
		.place = CNB_PLACE_POOL,
		.only_by_name = 1,
		.open = shim_open,
		.pipeline = libpq_pipeline,
		LIBPQ_CALLS,
	};

	return &target;
}

const struct cnb_target *
cnb_target_pgbouncer(void)
{
	static const struct cnb_target target = {
		.name = "pgbouncer",
		.about = "PostgreSQL behind PgBouncer, through libpq",
		.place = CNB_PLACE_PGBOUNCER,
		.open = pgbouncer_open,
		.pipeline = libpq_pipeline,
		LIBPQ_CALLS,
	};

	return &target;
}

const struct cnb_target *
cnb_target_pgpool(void)
{
	static const struct cnb_target target = {
		.name = "pgpool",
		.about = "PostgreSQL behind pgpool, through libpq",
		.place = CNB_PLACE_PGPOOL,
		.open = pgpool_open,
		/* pgpool 4.3 did not answer a pipeline of libpq */
		LIBPQ_CALLS,
	};

	return &target;
}

const struct cnb_target *
cnb_target_peer_postgresql(void)
{
	static const struct cnb_target target = {
		.name = "peer-postgresql",
		.about = "PostgreSQL behind another pool or proxy, through libpq",
		.place = CNB_PLACE_PEER_POSTGRESQL,
		.open = peer_open,
		.pipeline = libpq_pipeline,
		LIBPQ_CALLS,
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
		.pipeline = libpq_pipeline,
		LIBPQ_CALLS,
	};

	return &target;
}
