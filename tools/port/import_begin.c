/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beginning of an import: which columns the file has, and which ones the table has. import.c calls it. It has no
 * state.
 */
#include <string.h>

#include "import.h"

/* Names that the user separated by commas, in the order of the file. */
static int
take_names(struct import *im)
{
	const char *names = im->columns;

	while (*names) {
		size_t len = strcspn(names, ",");

		if (len == 0) {
			port_say("--columns %s: names separated by commas expected",
				im->columns);
			return PORT_USAGE;
		}
		(void)columns_add(&im->into, names, len);
		names += len + (names[len] == ',');
	}
	if (im->records.columns.n > 0 && im->records.columns.n != im->into.n) {
		port_say("--columns has %zu names, and the file has %zu columns",
			im->into.n, im->records.columns.n);
		return PORT_USAGE;
	}
	return PORT_OK;
}

static int
create_table(struct import *im)
{
	struct columns c = im->records.columns;
	struct text sql = { 0 };
	int r;

	if (c.n == 0) {
		port_say("%s is empty: it has no columns for --create", im->file);
		return PORT_FAILED;
	}
	if (dialect_create(im->link.dialect, im->table, &c, &sql) < 0) {
		port_say("--create does not know the types of this kind of server: make "
			 "the table yourself");
		r = PORT_USAGE;
	} else {
		r = link_run(&im->link, text_str(&sql), NULL, NULL);
	}
	text_finish(&sql);
	return r;
}

/* The columns of the table with these names, or all of them. */
static void
make_query(const struct import *im, struct text *t)
{
	size_t i;

	text_add_str(t, "SELECT ");
	for (i = 0; i < im->into.n; i++) {
		text_add_str(t, i > 0 ? ", " : "");
		dialect_add_name(im->link.dialect, t, im->into.list[i].name);
	}
	text_addf(t, "%s FROM %s WHERE 1 = 0", im->into.n == 0 ? "*" : "", im->table);
}

/* Ask for the types of the columns, which say how a value of the file becomes a parameter. */
static int
ask_types(struct import *im)
{
	struct text sql = { 0 };
	cenote_result *res;
	int r;

	make_query(im, &sql);
	r = link_query(&im->link, text_str(&sql), NULL, &res);
	text_finish(&sql);
	if (r != PORT_OK)
		return r;
	columns_finish(&im->into);
	columns_of_result(&im->into, res, im->link.backend);
	cenote_result_destroy(res);
	return PORT_OK;
}

int
import_begin(struct import *im)
{
	const struct columns *c = &im->records.columns;
	size_t i;
	int r = PORT_OK;

	if (records_begin(&im->records) < 0)
		return import_fail_at(im, im->records.line, text_str(&im->records.error));
	/* A run that is resumed made the table, if it came so far. */
	if (im->is_creating && !(im->is_resumed && im->position.exists))
		r = create_table(im);
	if (r == PORT_OK && im->columns)
		r = take_names(im);
	for (i = 0; !im->columns && i < c->n; i++)
		(void)columns_add(&im->into, c->list[i].name, strlen(c->list[i].name));
	return r == PORT_OK ? ask_types(im) : r;
}
