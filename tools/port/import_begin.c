/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Begins an import: finds the columns of the file and those of the table. import.c calls it. This file keeps
 * no state.
 */
#include <string.h>

#include "import.h"

/* Take the columns that the user named, in the order of the file. */
static int
take_names(struct import *im)
{
	if (columns_add_names(&im->into, im->columns) < 0) {
		port_say("--columns %s: names separated by commas expected", im->columns);
		return PORT_USAGE;
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
		r = link_run(&im->link, text_str(&sql));
	}
	text_finish(&sql);
	return r;
}

/* Make a query whose result has the columns of import.into; all columns of the table if there are none. */
static void
make_query(const struct import *im, struct text *t)
{
	text_add_str(t, "SELECT ");
	dialect_add_names(im->link.dialect, t, &im->into);
	text_addf(t, "%s FROM %s WHERE 1 = 0", im->into.n == 0 ? "*" : "", im->table);
}

/* Ask for the types of the columns. link_bind() needs them. */
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

static int
bind_table(cenote_params *params, const struct table_name *name)
{
	const char *schema = name->filter.catalog, *object = name->filter.object;
	int r = schema ? cenote_params_add_text(params, schema, strlen(schema))
		       : cenote_params_add_null(params);

	if (r == CENOTE_OK)
		r = cenote_params_add_text(params, object, strlen(object));
	if (r < 0)
		port_say("out of memory");
	return r < 0 ? PORT_USAGE : PORT_OK;
}

/* Refuse a table of MySQL that has no transactions. There, a batch that fails would leave rows. */
static int
check_engine(struct import *im)
{
	static const char sql[] =
		"SELECT t.engine FROM information_schema.tables t"
		" JOIN information_schema.engines e ON e.engine = t.engine"
		" WHERE t.table_schema = coalesce(?, database()) AND t.table_name LIKE ?"
		" AND e.transactions <> 'YES'";
	struct table_name name;
	cenote_params *params = NULL;
	cenote_result *res = NULL;
	int r = table_name_parse(&name, &im->link, im->table) < 0 ? PORT_USAGE : PORT_OK;

	if (r == PORT_OK)
		r = link_params_create(&params);
	if (r == PORT_OK)
		r = bind_table(params, &name);
	if (r == PORT_OK)
		r = link_query(&im->link, sql, params, &res);
	if (res && cenote_result_n_rows(res) > 0) {
		port_say("%s has the engine %s, which has no transactions; an import "
			 "that stops could not continue. Change the engine, or use "
			 "--single-transaction: the rows before an error then stay",
			im->table, cenote_result_text(res, 0, 0, NULL));
		r = PORT_FAILED;
	}
	cenote_result_destroy(res);
	cenote_params_destroy(params);
	table_name_finish(&name);
	return r;
}

int
import_begin(struct import *im)
{
	const struct columns *c = &im->records.columns;
	size_t i;
	int r = PORT_OK;

	if (records_begin(&im->records) < 0)
		return import_fail_at(im, im->records.line, text_str(&im->records.error));
	/* If a position exists, the former run has made the table. */
	if (im->is_creating && !(im->is_resumed && im->position.exists))
		r = create_table(im);
	if (r == PORT_OK && im->columns)
		r = take_names(im);
	for (i = 0; !im->columns && i < c->n; i++)
		(void)columns_add(&im->into, c->list[i].name, strlen(c->list[i].name));
	if (r == PORT_OK)
		r = ask_types(im);
	if (r == PORT_OK && !im->is_single && strcmp(im->link.backend, "mysql") == 0)
		r = check_engine(im);
	return r;
}
