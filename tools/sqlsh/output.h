/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_OUTPUT_H
#define SQLSH_OUTPUT_H

#include <cenote/types.h>

#include "csv.h"

/*
 * How results are shown: one implementation for each format, in a file of its own. All of them
 * write row by row and hold no more than a fixed number of rows.
 */

struct output;

struct output_column {
	const char *name;
	uint32_t type; /* enum cenote_type */
};

struct output_ops {
	const char *name; /* of the format */
	size_t size; /* of the implementation's structure */
	int is_for_people; /* command tags and the like belong to it */
	void (*begin)(struct output *out);
	void (*row)(struct output *out, const struct cell *cells);
	void (*end)(struct output *out);
	/* Free what begin() and row() made; NULL if nothing. */
	void (*finish)(struct output *out);
};

struct output_settings {
	const char *null_text; /* table, expanded, unaligned */
	const char *separator; /* unaligned */
	int has_header; /* header line, and the footer of table */
	const char *title; /* a line above the rows; NULL: none */
	const char *footer; /* in place of the number of rows; NULL: none */
	const char *pager; /* for output larger than the screen; NULL: none */
	int is_dimmed; /* NULL is shown dimmed: the output is a terminal that can */
};

struct output {
	const struct output_ops *ops;
	const struct output_settings *settings;
	FILE *file;
	int is_begun; /* something was written */
	int is_paged; /* `file` is the pager */
	struct text text; /* to be written */
	const struct output_column *columns;
	size_t n_columns;
	uint64_t n_rows;
	uint64_t n_bytes; /* written */
	int has_failed; /* the file could not be written */
};

/* NULL for an unknown name. */
const struct output_ops *output_find(const char *name);
/* The names, for messages and completion; NULL behind the last. */
const char *output_name(size_t i);

/* Begin a result. The columns and settings are borrowed until output_end(). */
struct output *output_begin(const struct output_ops *ops,
	const struct output_settings *settings, FILE *file,
	const struct output_column *columns, size_t n_columns);
/* One row. Values of type bytes are raw and are shown as \x and hexadecimal digits. */
void output_row(struct output *out, const struct cell *cells);
/* End it; 0, or -1 if it could not be written. Leaving the pager early is no error. With is_whole 0
 * there is no footer. */
int output_end(struct output *out, int is_whole);

/* For the implementations. */

extern const struct output_ops output_table, output_expanded, output_csv, output_tsv,
	output_json, output_unaligned;

/* Write what is in out->text if it is much. */
void output_flush(struct output *out, size_t limit);
/* The value, or NULL as the settings have it, made safe to show; returns its width. */
size_t output_add_shown(struct output *out, struct text *t,
	const struct output_column *column, const struct cell *cell);
int output_is_number(uint32_t type);
/* Add the footer of the settings, or the number of rows. */
void output_add_footer(struct output *out);
/* As \x and hexadecimal digits. */
void output_add_hex(struct text *t, const struct cell *cell);

#endif
