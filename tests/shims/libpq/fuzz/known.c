/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/*
 * Calls that are left out because docs/libpq-shim.md lists the difference, or because no program may make
 * them. Both drivers leave them out, since both find the same reason.
 */

struct known {
	int call; /* enum fz_call, or ANY */
	int (*applies)(struct fz *z);
	const char *why;
};

#define ANY (-1)

static int
is_connecting(struct fz *z)
{
	return fz_is_connecting(z, z->at->conn);
}

static int
is_traced(struct fz *z)
{
	return z->at->trace != NULL;
}

static int
is_traced_elsewhere(struct fz *z)
{
	return z->is_elsewhere && is_traced(z);
}

static int
is_pipeline(struct fz *z)
{
	return z->pq.f.PQpipelineStatus(z->at->conn) != PQ_PIPELINE_OFF;
}

/* The pipeline has failed: the server ignores everything up to the next sync. */
static int
is_aborted_pipeline(struct fz *z)
{
	return z->pq.f.PQpipelineStatus(z->at->conn) == PQ_PIPELINE_ABORTED;
}

static int
is_busy(struct fz *z)
{
	return z->pq.f.PQtransactionStatus(z->at->conn) == PQTRANS_ACTIVE;
}

static int
is_nonblocking(struct fz *z)
{
	return z->pq.f.PQisnonblocking(z->at->conn);
}

static int
is_read_ahead(struct fz *z)
{
	return z->at->is_read_ahead;
}

static int
is_line_lost(struct fz *z)
{
	return z->at->is_line_lost;
}

/* A prepared statement's name does not tell what it does, so it may be the COPY. */
static int
may_copy_in_pipeline(struct fz *z)
{
	return z->at->has_copy && is_pipeline(z);
}

static int
may_copy_in_trace(struct fz *z)
{
	return z->at->has_copy && is_traced(z);
}

static int
has_tls(struct fz *z)
{
	(void)z;
	return getenv("CHECK_TLS") != NULL;
}

/* From libpq 17 on, such a Sync is queued, and the next calls report it. */
static int
is_lost_newer(struct fz *z)
{
	return z->release >= 17 && z->pq.f.PQstatus(z->at->conn) == CONNECTION_BAD;
}

static const struct known calls[] = {
	{ FZ_connect, NULL, NULL },
	{ FZ_connect_badly, NULL, NULL },
	{ FZ_connect_poll, is_traced, "what logging in is like, a trace shows" },
	{ FZ_connect_poll, NULL, NULL },
	{ FZ_finish, NULL, NULL },
	{ FZ_scene, NULL, NULL },
	{ ANY, is_connecting, "connecting has steps of each library's own" },
	{ FZ_reset, is_traced, "what logging in is like, a trace shows" },
	{ FZ_trace, is_busy, "what was asked before it was traced" },
	{ FZ_cancel, has_tls, "PQcancel() by TCP with TLS" },
	{ FZ_cancel_running, has_tls, "PQcancel() by TCP with TLS" },
	{ FZ_cancel_running, is_traced_elsewhere,
		"whether the columns came before the cancel, in a trace" },
	{ FZ_endcopy, is_nonblocking, "what of the end has come by then" },
	{ FZ_lo_make, is_traced, "ids as bytes, in a trace" },
	{ FZ_lo_open, is_traced, "ids as bytes, in a trace" },
	{ FZ_lo_end, is_traced, "ids as bytes, in a trace" },
	{ FZ_lo_files, is_traced, "ids as bytes, in a trace" },
	{ FZ_set_single_row, is_read_ahead, "rows before an error that has been read" },
	{ FZ_copy_begin, is_pipeline, "a copy in a pipeline: not allowed" },
	{ FZ_sync, is_lost_newer, "a Sync without a connection" },
	{ FZ_getline, is_line_lost, "it goes on in the middle of the next line" },
	{ FZ_getline_async, is_line_lost, "it goes on in the middle of the next line" },
	{ FZ_send_prepared, may_copy_in_pipeline, "a copy in a pipeline: not allowed" },
	{ FZ_exec_prepared, may_copy_in_trace,
		"rows of a copy that nobody takes, in a trace" },
	{ FZ_send_prepared, may_copy_in_trace,
		"rows of a copy that nobody takes, in a trace" },
	{ FZ_exit_pipeline, is_aborted_pipeline, "leaving it so ends the conversation" },
};

const char *
fz_is_known(struct fz *z, const struct fz_step *step)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct known *k = &calls[i];

		if (k->call != ANY && k->call != (int)step->call)
			continue;
		if (k->applies == NULL)
			return NULL;
		if (z->at->conn != NULL && k->applies(z))
			return k->why;
	}
	return NULL;
}

/* ---- statements ---- */

static int
has_settings(struct fz *z)
{
	return z->at->has_settings;
}

static const struct {
	const char *part;
	int (*applies)(struct fz *z);
	const char *why;
} queries[] = {
	{ "reset all", has_settings, "it goes back to the pool's login" },
	{ "discard all", has_settings, "it goes back to the pool's login" },
	{ "copy", is_pipeline, "a copy in a pipeline: not allowed" },
	{ "repeat('z', 900)", is_pipeline,
		"the server's buffer is full before it is asked" },
	{ "notify", is_traced, "what it hears of itself, in a trace, before its end" },
	{ "to stdout", is_traced, "rows of a copy that nobody takes, in a trace" },
};

const char *
fz_known_query(struct fz *z, const char *query)
{
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		if (strstr(query, queries[i].part) != NULL && z->at->conn != NULL &&
			queries[i].applies(z))
			return queries[i].why;
	}
	return NULL;
}
