/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_RECORDS_H
#define PORT_RECORDS_H

#include "columns.h"
#include "csv.h"
#include "json_reader.h"
#include "sql_reader.h"

/* The records of a file in any format. The values of each record are in the order of the file's columns. */

struct records_options {
	enum port_format format;
	bool has_header; /* CSV and TSV: the first record has the names */
	bool has_types; /* the file was written with --types */
	bool has_backslash; /* SQL: a backslash escapes in texts */
};

struct records {
	struct records_options options;
	/* The columns, after records_begin(). There are none if CSV has no header, or if the file is empty. */
	struct columns columns;
	struct cell *cells; /* values of the last record */
	size_t n_cells;
	unsigned long line; /* line of the last record, from 1 */
	uint64_t n_records;
	struct text error; /* the error in `line` */
	/* Private. */
	struct csv_reader csv;
	struct json_reader json;
	struct sql_reader sql;
	struct cell *ordered; /* JSON: values in the order of the columns */
	bool *is_given; /* JSON: the object has this column */
	bool is_pending; /* records_begin() has read the record that records_next() returns next */
};

void records_init(struct records *r, FILE *file, const struct records_options *options);
void records_finish(struct records *r);
/* Read the columns. Returns 0, also if the file is empty; -1 if `error` was set. */
int records_begin(struct records *r);
/* Read the next record. Returns 1, 0 at the end of the file, -1 if `error` was set. `cells` is valid until the next call. */
int records_next(struct records *r);

/* Where the last record ends, in bytes of the uncompressed file. */
uint64_t records_offset(const struct records *r);
/* Whether a file may be cut after the last record, and then continued. */
bool records_is_complete(const struct records *r);

#endif
