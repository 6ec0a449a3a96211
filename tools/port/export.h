/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_EXPORT_H
#define PORT_EXPORT_H

#include "link.h"
#include "progress.h"
#include "records.h"
#include "stream.h"

/* An export. export_options() fills the first part. */
struct export
{
	const char *target; /* pool or URI */
	const char *table; /* NULL: export a query */
	const char *query;
	const char *columns; /* as typed; NULL: all columns */
	const char *where;
	const char *key; /* as typed; NULL: the table's primary key */
	const char *file; /* "-": standard output */
	const char *sql_table; /* name of the table in INSERT statements */
	/* The dialect of INSERT statements in the file; by default that of the source. */
	const struct dialect *sql_dialect;
	const char *format_name; /* as typed; NULL: the name of the file decides */
	enum port_format format;
	bool is_zstd, has_header, has_types, is_quiet, is_resumed, is_overwriting;

	struct link link;
	struct columns keys; /* names only */
	struct columns file_columns; /* columns of a file that is continued */
	struct columns types; /* columns of the source, once they were needed */
	struct cell *last_key; /* the row before the first one: its values of `keys` */
	bool has_last_key;
	struct stream out;
	struct progress progress;
	uint64_t n_rows;
};

/* Read the command line. Returns PORT_OK, or PORT_USAGE after a message. --help and --version end the program. */
int export_options(struct export *e, int argc, char **argv);
/* The functions below report their errors; they return an enum port_status. */

/* Find the end of the file, cut an incomplete record there, and keep the last key. */
int export_resume(struct export *e);
/* Ask for the columns of the source, and compare them with those of the file. */
int export_check_file(struct export *e);
/* Write the rows. */
int export_rows(struct export *e);

#endif
