/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cenote-export: writes a table or the rows of a query to a file. The state is struct export.
 */
#include "export.h"

#include <stdlib.h>
#include <string.h>

/* Find the key: the one that was named, or the table's primary key. */
static int
find_key(struct export *e)
{
	struct table_name name;
	int r;

	if (e->key && columns_add_names(&e->keys, e->key) == 0)
		return PORT_OK;
	if (e->key) {
		port_say("--key %s: names separated by commas expected", e->key);
		return PORT_USAGE;
	}
	if (!e->table)
		return PORT_OK;
	if (table_name_parse(&name, &e->link, e->table) < 0)
		r = PORT_USAGE;
	else
		r = link_primary_key(&e->link, &name, &e->keys);
	table_name_finish(&name);
	return r;
}

static int
open_output(struct export *e)
{
	enum stream_mode mode = e->is_overwriting ? STREAM_OVERWRITE : STREAM_CREATE;
	int r;

	if (e->is_resumed) {
		r = export_resume(e);
		if (r != PORT_OK)
			return r;
		/* The file was absent or empty if it has no columns. */
		mode = e->file_columns.n > 0 ? STREAM_APPEND : STREAM_OVERWRITE;
	}
	return stream_open(&e->out, e->file, mode, e->is_zstd) < 0 ? PORT_USAGE : PORT_OK;
}

static int
run(struct export *e)
{
	int r = link_open(&e->link, e->target);

	if (!e->sql_dialect)
		e->sql_dialect = e->link.dialect;
	if (r == PORT_OK)
		r = find_key(e);
	if (r == PORT_OK && e->is_resumed && e->keys.n == 0) {
		port_say("%s has no primary key: name its unique columns with --key, to "
			 "continue a file",
			e->table ? e->table : "a query");
		r = PORT_USAGE;
	}
	if (r == PORT_OK)
		r = open_output(e);
	if (r == PORT_OK)
		r = export_rows(e);
	if (stream_close(&e->out) < 0 && r == PORT_OK)
		r = PORT_FAILED;
	if (r == PORT_OK && !e->is_quiet)
		port_say("%llu row%s", (unsigned long long)e->n_rows,
			e->n_rows == 1 ? "" : "s");
	else if (r == PORT_STOPPED && e->keys.n > 0 && strcmp(e->file, "-") != 0)
		port_say("stopped; run it again with --resume to continue %s", e->file);
	else if (r == PORT_STOPPED)
		port_say("stopped");
	return r;
}

static void
finish(struct export *e)
{
	size_t i;

	for (i = 0; e->last_key && i < e->keys.n; i++)
		free((void *)(uintptr_t)e->last_key[i].text);
	free(e->last_key);
	columns_finish(&e->keys);
	columns_finish(&e->file_columns);
	columns_finish(&e->types);
	link_close(&e->link);
}

int
main(int argc, char **argv)
{
	struct export e = { 0 };
	int r;

	port_catch_signals();
	r = export_options(&e, argc, argv);
	if (r == PORT_OK)
		r = run(&e);
	finish(&e);
	return r;
}
