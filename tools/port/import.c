/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cenote-import: reads a file into a table. A transaction inserts a batch of rows and moves the position of the import. The
 * state is struct import.
 */
#include "import.h"

#include <string.h>

#define PROGRESS_ROWS 256u
/* Rows of a transaction, if --batch does not say how many. Between two COPY the server waits for several answers, so these
 * are long. */
#define COPY_ROWS     100000u
#define INSERT_ROWS   10000u

int
import_fail_at(struct import *im, unsigned long line, const char *message)
{
	progress_end(&im->progress);
	port_say("%s:%lu: %s", strcmp(im->file, "-") == 0 ? "stdin" : im->file, line,
		message);
	return PORT_FAILED;
}

/* Read the next record. Returns 1, 0 at the end of the file or after a signal, -1 after a message. */
static int
next_record(struct import *im)
{
	int more = port_is_stopped() ? 0 : records_next(&im->records);

	/* A signal also ends the reading from a pipe. */
	if (more < 0 && port_is_stopped())
		return 0;
	if (more < 0) {
		(void)import_fail_at(im, im->records.line, text_str(&im->records.error));
	} else if (more > 0 && im->records.n_cells != im->into.n) {
		(void)import_fail_at(im, im->records.line,
			"the record has more or fewer values than the table has columns");
		more = -1;
	}
	return more;
}

/* Skip the records that earlier runs have imported. */
static int
skip_records(struct import *im)
{
	int more = 1;

	while (more > 0 && im->records.n_records < im->position.n_records)
		more = next_record(im);
	if (more < 0)
		return PORT_FAILED;
	if (port_is_stopped())
		return PORT_STOPPED;
	if (more == 0) {
		port_say("%s has only %llu records, but %llu were imported before: it is "
			 "another file",
			im->file, (unsigned long long)im->records.n_records,
			(unsigned long long)im->position.n_records);
		return PORT_FAILED;
	}
	return PORT_OK;
}

/* Load the current record and those after it, up to the end of the batch. *ret_more is what the last next_record() returned. */
static int
load_batch(struct import *im, struct loader *loader, int *ret_more)
{
	uint64_t end = im->records.n_records + im->batch_rows - 1;
	int r = loader->ops->begin(loader);

	while (r == PORT_OK && *ret_more > 0) {
		r = loader->ops->row(loader);
		if (im->n_rows % PROGRESS_ROWS == 0)
			progress_update(&im->progress, im->records.n_records,
				stream_position(&im->in), port_now_ms());
		if (r != PORT_OK)
			break;
		im->n_rows++;
		if (!im->is_single && im->records.n_records >= end)
			break;
		*ret_more = next_record(im);
	}
	if (r == PORT_OK && *ret_more < 0)
		r = PORT_FAILED;
	return r == PORT_OK ? loader->ops->end(loader) : r;
}

/* Load a batch in a transaction. *ret_more is 0 after the last batch. */
static int
run_batch(struct import *im, struct loader *loader, int *ret_more)
{
	uint64_t n_rows = im->n_rows;
	int r = link_begin(&im->link, CENOTE_BEGIN_IMMEDIATE);

	if (r != PORT_OK)
		return r;
	if (*ret_more > 0)
		r = load_batch(im, loader, ret_more);
	/* After a signal, commit the rows that were loaded, unless one transaction must have all rows. */
	if (r == PORT_OK && port_is_stopped() && im->is_single)
		r = PORT_STOPPED;
	if (r == PORT_OK && !im->is_single)
		r = position_move(&im->position,
			im->position.n_records + im->n_rows - n_rows,
			*ret_more == 0 && !port_is_stopped());
	if (r == PORT_OK)
		r = link_commit(&im->link);
	if (r == PORT_OK)
		return r;
	im->n_rows = n_rows;
	if (r == PORT_FAILED)
		loader->ops->abandon(loader);
	link_rollback(&im->link);
	return r == PORT_FAILED && !im->is_single && position_has_moved(&im->position)
		       ? PORT_STOPPED
		       : r;
}

static int
load(struct import *im)
{
	bool has_copy = im->link.dialect->has_copy;
	struct loader *loader = has_copy ? load_copy_create(im) : load_insert_create(im);
	int more = next_record(im), r = more < 0 ? PORT_FAILED : PORT_OK;

	if (im->batch_rows == 0)
		im->batch_rows = has_copy ? COPY_ROWS : INSERT_ROWS;
	while (r == PORT_OK && more >= 0) {
		r = run_batch(im, loader, &more);
		if (r != PORT_OK || more == 0)
			break;
		more = next_record(im);
		if (more < 0)
			r = PORT_FAILED;
	}
	if (r == PORT_OK && port_is_stopped())
		r = PORT_STOPPED;
	loader->ops->destroy(loader);
	return r;
}

/* Find how far an earlier run came. *ret_is_over is true if --resume has nothing left to do. */
static int
find_position(struct import *im, bool *ret_is_over)
{
	struct position *p = &im->position;
	int r = position_open(p, &im->link, im->name);

	*ret_is_over = false;
	if (r != PORT_OK)
		return r;
	if (im->is_resumed && p->exists && p->is_done) {
		port_say("the import \"%s\" is complete: %llu records", im->name,
			(unsigned long long)p->n_records);
		*ret_is_over = true;
		return PORT_OK;
	}
	if (p->exists && !p->is_done && !im->is_resumed && !im->is_restarted) {
		port_say("the import \"%s\" stopped after %llu records; --resume "
			 "continues it, "
			 "--restart begins again",
			im->name, (unsigned long long)p->n_records);
		return PORT_USAGE;
	}
	return PORT_OK;
}

static int
import_file(struct import *im)
{
	int r = import_begin(im);

	if (r == PORT_OK && !im->is_single && !(im->is_resumed && im->position.exists))
		r = position_reset(&im->position);
	if (r == PORT_OK && im->into.n == 0)
		return PORT_OK;
	if (r == PORT_OK)
		r = skip_records(im);
	return r == PORT_OK ? load(im) : r;
}

static void
say_end(const struct import *im, int r)
{
	unsigned long long n = im->n_rows, all = im->position.n_records;

	if (r == PORT_OK && !im->is_quiet && all > n)
		port_say("%llu rows, %llu in all", n, all);
	else if (r == PORT_OK && !im->is_quiet)
		port_say("%llu row%s", n, n == 1 ? "" : "s");
	else if (r == PORT_STOPPED && !im->is_single)
		port_say("stopped after %llu records; run it again with --resume to "
			 "continue",
			all);
	else if (r == PORT_STOPPED)
		port_say("stopped; nothing was imported");
	else if (r == PORT_FAILED && !im->is_single && all > 0)
		port_say("%llu records were imported before; --resume continues after "
			 "them",
			all);
}

static int
run(struct import *im)
{
	struct records_options options = {
		.format = im->format,
		.has_header = im->has_header,
		.has_types = im->has_types,
	};
	bool is_over = false;
	int r = link_open(&im->link, im->target);

	if (r == PORT_OK && !im->is_single)
		r = find_position(im, &is_over);
	if (r != PORT_OK || is_over)
		return r;
	if (stream_open(&im->in, im->file, STREAM_READ, im->is_zstd) < 0)
		return PORT_USAGE;
	options.has_backslash =
		(im->sql_dialect ? im->sql_dialect : im->link.dialect)->has_backslash;
	records_init(&im->records, im->in.file, &options);
	progress_begin(&im->progress, !im->is_quiet, im->in.total_bytes, port_now_ms());
	r = import_file(im);
	progress_end(&im->progress);
	say_end(im, r);
	records_finish(&im->records);
	(void)stream_close(&im->in);
	return r;
}

int
main(int argc, char **argv)
{
	struct text name = { 0 };
	struct import im = { 0 };
	int r;

	port_catch_signals();
	r = import_options(&im, argc, argv);
	if (r == PORT_OK && !im.name) {
		const char *slash = strrchr(im.file, '/');

		text_addf(&name, "%s %s", im.table, slash ? slash + 1 : im.file);
		im.name = text_str(&name);
	}
	if (r == PORT_OK && strlen(im.name) > POSITION_NAME_MAX) {
		port_say("the name of the import is too long; choose one with --name");
		r = PORT_USAGE;
	}
	if (r == PORT_OK)
		r = run(&im);
	columns_finish(&im.into);
	position_close(&im.position);
	link_close(&im.link);
	text_finish(&name);
	return r;
}
