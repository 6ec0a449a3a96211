/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads rows with prepared INSERTs. One statement inserts a group of rows; its executions are sent in a pipeline. Another
 * statement inserts the remaining rows at the end of a batch. import.c calls it. The state is struct load_insert.
 */
#include <stdlib.h>

#include "import.h"

/* Executions between two synchronisation points. While their results arrive, the next ones are sent. */
#define GROUPS_AHEAD 8u
/* Two rounds of executions may be without results. */
#define N_LINES      (2u * GROUPS_AHEAD + 1)

struct load_insert {
	struct loader base;
	size_t group_rows; /* rows of the statement `group` */
	cenote_stmt *group;
	size_t rest_rows; /* rows of the statement `rest` */
	cenote_stmt *rest;
	cenote_params *params; /* values of the rows that were not sent yet */
	size_t n_rows; /* number of these rows */
	unsigned long first_line; /* line of the first of these rows */
	/* The first line of each execution without a result. The n-th execution is at n % N_LINES. */
	unsigned long lines[N_LINES];
	uint64_t n_sent, n_done, n_syncs_sent, n_syncs_done;
	bool is_open; /* a pipeline is open */
	bool has_failed; /* an error was reported */
};

/* Report an error in one of n_rows rows. The first of them is in this line. */
static int
fail_rows(struct load_insert *in, unsigned long line, size_t n_rows,
	const cenote_diag *diag)
{
	struct text t = { 0 };
	int r;

	text_addf(&t, "ERROR %s: %s", cenote_diag_sqlstate(diag),
		cenote_diag_message(diag));
	if (n_rows > 1)
		text_addf(&t, " (in one of %zu records from this line on)", n_rows);
	r = import_fail_at(in->base.im, line, text_str(&t));
	text_finish(&t);
	return r;
}

static int
take_result(struct load_insert *in, const cenote_result *res)
{
	int r = PORT_OK;

	if (cenote_result_kind(res) == CENOTE_RESULT_SYNC) {
		in->n_syncs_done++;
		return PORT_OK;
	}
	if (cenote_result_kind(res) == CENOTE_RESULT_ERROR && !in->has_failed) {
		r = fail_rows(in, in->lines[in->n_done % N_LINES], in->group_rows,
			cenote_result_diag(res));
		in->has_failed = true;
	}
	in->n_done++;
	return r;
}

/* Take results until this many synchronisation points have arrived. */
static int
drain(struct load_insert *in, uint64_t n_syncs)
{
	struct link *l = &in->base.im->link;
	int status = PORT_OK;

	while (in->n_syncs_done < n_syncs) {
		cenote_result *res;
		int r = cenote_get_result(l->conn, &res);

		if (r < 0)
			return link_failed(l, r);
		if (r != CENOTE_OK)
			continue;
		r = take_result(in, res);
		if (status == PORT_OK)
			status = r;
		cenote_result_destroy(res);
	}
	return status;
}

static int
synchronise(struct load_insert *in, bool is_last)
{
	struct link *l = &in->base.im->link;
	int r = cenote_send_sync(l->conn);

	if (r < 0)
		return link_failed(l, r);
	in->n_syncs_sent++;
	return drain(in, is_last ? in->n_syncs_sent : in->n_syncs_sent - 1);
}

static int
send(struct load_insert *in, cenote_stmt *stmt)
{
	struct link *l = &in->base.im->link;
	int r = cenote_send_execute(stmt, in->params, NULL);

	if (r < 0)
		return link_failed(l, r);
	in->lines[in->n_sent++ % N_LINES] = in->first_line;
	cenote_params_clear(in->params);
	in->n_rows = 0;
	return in->n_sent % GROUPS_AHEAD == 0 ? synchronise(in, false) : PORT_OK;
}

static int
bind_row(struct load_insert *in)
{
	struct import *im = in->base.im;
	size_t i;

	for (i = 0; i < im->into.n; i++) {
		if (link_bind(in->params, &im->link, &im->into.list[i],
			    &im->records.cells[i]) < 0)
			return import_fail_at(im, im->records.line,
				"a value cannot be bound; is it too long?");
	}
	return PORT_OK;
}

static int
prepare(struct load_insert *in, size_t n_rows, cenote_stmt **ret_stmt)
{
	struct import *im = in->base.im;
	struct text sql = { 0 };
	int r;

	dialect_insert(im->link.dialect, im->table, &im->into, n_rows, &sql);
	r = cenote_stmt_create(im->link.conn, text_str(&sql), sql.len, ret_stmt);
	if (r == CENOTE_OK)
		r = cenote_stmt_prepare(*ret_stmt);
	text_finish(&sql);
	return r < 0 ? link_failed(&im->link, r) : PORT_OK;
}

static int
begin_batch(struct loader *loader)
{
	struct load_insert *in = (struct load_insert *)loader;
	struct link *l = &loader->im->link;
	int r = PORT_OK;

	if (!in->params)
		r = link_params_create(&in->params);
	if (r == PORT_OK && !in->group)
		r = prepare(in, in->group_rows, &in->group);
	if (r != PORT_OK)
		return r;
	r = cenote_pipeline_begin(l->conn);
	in->is_open = r == CENOTE_OK;
	return r < 0 ? link_failed(l, r) : PORT_OK;
}

static int
add_row(struct loader *loader)
{
	struct load_insert *in = (struct load_insert *)loader;
	int r = bind_row(in);

	if (in->n_rows++ == 0)
		in->first_line = loader->im->records.line;
	if (r == PORT_OK && in->n_rows == in->group_rows)
		r = send(in, in->group);
	return r;
}

/* Insert the remaining rows, which are fewer than a group. The pipeline has ended. */
static int
insert_rest(struct load_insert *in)
{
	struct link *l = &in->base.im->link;
	cenote_result *res;
	int r = PORT_OK;

	if (in->n_rows == 0)
		return PORT_OK;
	if (in->rest_rows != in->n_rows) {
		cenote_stmt_destroy(in->rest);
		in->rest = NULL;
		in->rest_rows = in->n_rows;
		r = prepare(in, in->n_rows, &in->rest);
	}
	if (r != PORT_OK)
		return r;
	r = cenote_stmt_execute(in->rest, in->params, NULL, &res);
	cenote_params_clear(in->params);
	in->n_rows = 0;
	if (r == CENOTE_ERR_SERVER)
		return fail_rows(
			in, in->first_line, in->rest_rows, cenote_conn_diag(l->conn));
	if (r < 0)
		return link_failed(l, r);
	cenote_result_destroy(res);
	return link_finish(l);
}

static int
end_batch(struct loader *loader)
{
	struct load_insert *in = (struct load_insert *)loader;
	struct link *l = &loader->im->link;
	int r = synchronise(in, true), ended;

	if (r == PORT_STOPPED)
		return r;
	in->is_open = false;
	ended = cenote_pipeline_end(l->conn);
	if (ended < 0 && r == PORT_OK)
		r = link_failed(l, ended);
	return r == PORT_OK ? insert_rest(in) : r;
}

static void
abandon(struct loader *loader)
{
	struct load_insert *in = (struct load_insert *)loader;

	if (!in->is_open)
		return;
	in->has_failed = true;
	in->is_open = false;
	if (synchronise(in, true) != PORT_STOPPED)
		(void)!cenote_pipeline_end(loader->im->link.conn);
}

static void
destroy(struct loader *loader)
{
	struct load_insert *in = (struct load_insert *)loader;

	cenote_stmt_destroy(in->group);
	cenote_stmt_destroy(in->rest);
	cenote_params_destroy(in->params);
	free(in);
}

struct loader *
load_insert_create(struct import *im)
{
	static const struct loader_ops ops = {
		.begin = begin_batch,
		.row = add_row,
		.end = end_batch,
		.abandon = abandon,
		.destroy = destroy,
	};
	const struct dialect *d = im->link.dialect;
	struct load_insert *in = mem_resize(NULL, 1, sizeof(*in));
	size_t n = d->max_params / im->into.n;

	*in = (struct load_insert){ .base = { .ops = &ops, .im = im } };
	in->group_rows = n == 0 ? 1 : n < d->max_rows ? n : d->max_rows;
	return &in->base;
}
