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
	const char *columns; /* as typed, separated by commas; NULL: those of the file */
	const char *
		name; /* of the import, in the table cenote_import; NULL: from table and file */
	const char *
		sql_dialect; /* the server for which INSERT statements were written; NULL: as the target */
	uint64_t batch_rows; /* rows of a transaction */
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
	/* In a transaction: begin a batch, add a row of import.records, end the batch. */
	int (*begin)(struct loader *loader);
	int (*row)(struct loader *loader);
	int (*end)(struct loader *loader);
	/* After a failure: end what the batch has begun, without further reports. */
	void (*abandon)(struct loader *loader);
	void (*destroy)(struct loader *loader);
};

/* PostgreSQL's COPY. */
struct loader *load_copy_create(struct import *im);
/* Prepared INSERTs of several rows, in a pipeline: every server. */
struct loader *load_insert_create(struct import *im);

int import_options(struct import *im, int argc, char **argv);
/* Read the file's columns, make the table if that was asked for, and find the columns of the table. */
int import_begin(struct import *im);

/* Report an error of a record. */
int import_fail_at(struct import *im, unsigned long line, const char *message);

#endif
