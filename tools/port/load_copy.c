/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads rows with PostgreSQL's COPY. import.c calls it. The state is struct load_copy.
 */
#include <stdlib.h>
#include <string.h>

#include "import.h"

#define PIECE 65536u

struct load_copy {
	struct loader base;
	struct text sql;
	struct text data; /* rows that were not sent yet */
	cenote_result *res; /* of the COPY that is open */
};

static void
close_copy(struct load_copy *copy)
{
	cenote_result_destroy(copy->res);
	copy->res = NULL;
}

static int
begin_copy(struct loader *loader)
{
	struct load_copy *copy = (struct load_copy *)loader;
	struct link *l = &loader->im->link;
	int r = cenote_query(
		l->conn, text_str(&copy->sql), copy->sql.len, NULL, NULL, &copy->res);

	if (r < 0) {
		copy->res = NULL;
		return link_failed(l, r);
	}
	return PORT_OK;
}

/* PostgreSQL names the line in the batch. Report which record of the file that is. */
static void
say_record(struct import *im, const cenote_diag *diag)
{
	const char *where = cenote_diag_field(diag, 'W');
	const char *line = where ? strstr(where, ", line ") : NULL;
	unsigned long long n = line ? strtoull(line + strlen(", line "), NULL, 10) : 0;

	if (n > 0)
		port_say("%s: the error is in record %llu", im->file,
			n + im->position.n_records);
}

/* Take the results after the data: the number of rows, or an error. */
static int
take_outcome(struct load_copy *copy)
{
	struct import *im = copy->base.im;
	cenote_result *res;
	int r, status = PORT_OK;

	while ((r = cenote_get_result(im->link.conn, &res)) == CENOTE_OK) {
		if (cenote_result_kind(res) == CENOTE_RESULT_ERROR) {
			status = link_refused(cenote_result_diag(res));
			say_record(im, cenote_result_diag(res));
		}
		cenote_result_destroy(res);
	}
	close_copy(copy);
	return r < 0 ? link_failed(&im->link, r) : status;
}

/* Send the rows. CENOTE_DONE means that the server refused some of them. */
static int
send(struct load_copy *copy)
{
	struct link *l = &copy->base.im->link;
	int r = cenote_copy_put(l->conn, copy->data.data, copy->data.len);

	text_clear(&copy->data);
	if (r == CENOTE_DONE) {
		r = take_outcome(copy);
		return r == PORT_OK ? PORT_FAILED : r;
	}
	return r < 0 ? link_failed(l, r) : PORT_OK;
}

static int
add_row(struct loader *loader)
{
	struct load_copy *copy = (struct load_copy *)loader;
	const struct records *records = &loader->im->records;
	size_t i;

	/* The text format of COPY is that of tab-separated values. */
	for (i = 0; i < records->n_cells; i++) {
		if (i > 0)
			text_add_char(&copy->data, '\t');
		csv_add_field(&copy->data, CSV_TAB, &records->cells[i]);
	}
	text_add_char(&copy->data, '\n');
	return copy->data.len >= PIECE ? send(copy) : PORT_OK;
}

static int
end_copy(struct loader *loader)
{
	struct load_copy *copy = (struct load_copy *)loader;
	struct link *l = &loader->im->link;
	int r = copy->data.len > 0 ? send(copy) : PORT_OK;

	if (r != PORT_OK)
		return r;
	r = cenote_copy_end(l->conn, NULL);
	return r < 0 ? link_failed(l, r) : take_outcome(copy);
}

static void
abandon(struct loader *loader)
{
	struct load_copy *copy = (struct load_copy *)loader;
	cenote_conn *conn = loader->im->link.conn;
	cenote_result *res;

	if (!copy->res)
		return;
	if (cenote_copy_end(conn, "the import failed") == CENOTE_OK) {
		while (cenote_get_result(conn, &res) == CENOTE_OK)
			cenote_result_destroy(res);
	}
	close_copy(copy);
}

static void
destroy(struct loader *loader)
{
	struct load_copy *copy = (struct load_copy *)loader;

	close_copy(copy);
	text_finish(&copy->sql);
	text_finish(&copy->data);
	free(copy);
}

struct loader *
load_copy_create(struct import *im)
{
	static const struct loader_ops ops = {
		.begin = begin_copy,
		.row = add_row,
		.end = end_copy,
		.abandon = abandon,
		.destroy = destroy,
	};
	struct load_copy *copy = mem_resize(NULL, 1, sizeof(*copy));

	*copy = (struct load_copy){ .base = { .ops = &ops, .im = im } };
	text_addf(&copy->sql, "COPY %s (", im->table);
	dialect_add_names(im->link.dialect, &copy->sql, &im->into);
	text_add_str(&copy->sql, ") FROM STDIN");
	return &copy->base;
}
