/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_EXPORT_H
#define PORT_EXPORT_H

#include "link.h"
#include "progress.h"
#include "records.h"
#include "stream.h"

/* An export. options.c of the exporter fills the first part. */
struct export
{
	const char *target; /* pool or URI */
	const char *table; /* NULL: a query */
	const char *query;
	const char *columns; /* as typed; NULL: all */
	const char *where;
	const char *key; /* as typed; NULL: the primary key */
	const char *file; /* "-": standard output */
	const char *sql_table; /* name of the table in INSERT statements */
	const char *sql_dialect; /* the server that will read them; NULL: as the source */
	enum port_format format;
	bool is_zstd, has_header, has_types, is_quiet, is_resumed, is_overwriting;

	struct link link;
	struct columns keys; /* names only */
	struct columns file_columns; /* of the file that is continued */
	struct columns types; /* with file_columns: those of the source */
	/* The key after which the export continues; a value for each of `keys`. */
	struct cell *last_key;
	bool has_last_key;
	struct stream out;
	struct progress progress;
	uint64_t n_rows;
};

/* Read the options and the arguments. PORT_OK, PORT_USAGE after a message, or it ends the program (--help). */
int export_options(struct export *e, int argc, char **argv);
/* Find the key: the one that was named, or the primary key. */
int export_find_key(struct export *e);
/* Look where the file ends, cut what is incomplete, and keep its last key. */
int export_resume(struct export *e);
/* Ask for the columns of the source, and compare them with those of the file. */
int export_check_file(struct export *e);
/* Write the rows. */
int export_rows(struct export *e);

#endif
