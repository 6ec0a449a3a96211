/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_IMPORT_H
#define PORT_IMPORT_H

#include "link.h"
#include "position.h"
#include "progress.h"
#include "records.h"
#include "stream.h"

/* An import. import_options() fills the first part. */
struct import {
	const char *target; /* pool or URI */
	const char *table;
	const char *file; /* "-": standard input */
	const char *columns; /* as typed; NULL: the columns of the file */
	/* The name of the import in the table cenote_import. By default it is the table and the file. */
	const char *name;
	/* The dialect of INSERT statements in the file; by default that of the target. */
	const struct dialect *sql_dialect;
	const char *format_name; /* as typed; NULL: the name of the file decides */
	uint64_t batch_rows; /* rows of a transaction; 0 until load() chooses */
	enum port_format format;
	bool is_zstd, has_header, has_types, is_quiet, is_resumed, is_restarted,
		is_creating;
	bool is_single; /* one transaction, without a position */

	struct link link;
	struct stream in;
	struct records records;
	struct columns into; /* the columns of the table, in the order of the file */
	struct position position;
	struct progress progress;
	uint64_t n_rows; /* rows that this run has imported */
};

/* How rows get into the table. All functions report their errors; they return an enum port_status. */
struct loader {
	const struct loader_ops *ops;
	struct import *im;
};

struct loader_ops {
	/* Within a transaction: begin a batch, add the last record of import.records, end the batch. */
	int (*begin)(struct loader *loader);
	int (*row)(struct loader *loader);
	int (*end)(struct loader *loader);
	/* After a failure: end the COPY or pipeline of the batch, without more messages. */
	void (*abandon)(struct loader *loader);
	void (*destroy)(struct loader *loader);
};

/* Load with PostgreSQL's COPY. */
struct loader *load_copy_create(struct import *im);
/* Load with prepared INSERTs of several rows, in a pipeline. Every server has them. */
struct loader *load_insert_create(struct import *im);

/* Read the command line. Returns PORT_OK, or PORT_USAGE after a message. --help and --version end the program. */
int import_options(struct import *im, int argc, char **argv);
/* Read the file's columns, make the table for --create, and ask for the types of the table's columns. */
int import_begin(struct import *im);

/* Report an error of the record in this line. Returns PORT_FAILED. */
int import_fail_at(struct import *im, unsigned long line, const char *message);

#endif
