/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_OUTPUT_H
#define SQLSH_OUTPUT_H

#include <cenote/types.h>

#include "csv.h"

/* How to show results. Each format has a file of its own. All formats write row by row and keep a
 * limited number of rows. */

struct output;

struct output_column {
	const char *name;
	uint32_t type; /* enum cenote_type */
};

struct output_ops {
	const char *name; /* of the format */
	size_t size; /* of the format's structure */
	int is_for_people; /* it also shows command tags and row counts */
	void (*begin)(struct output *out);
	void (*row)(struct output *out, const struct cell *cells);
	void (*end)(struct output *out);
	/* Free what begin() and row() made. NULL: they made nothing. */
	void (*finish)(struct output *out);
};

struct output_settings {
	const char *null_text; /* for table, expanded and unaligned */
	const char *separator; /* for unaligned */
	int has_header; /* a header line, and the footer of table */
	const char *title; /* a line above the rows; NULL: none */
	const char *footer; /* instead of the number of rows; NULL: none */
	const char *pager; /* for output that is larger than the screen; NULL: none */
	int is_dimmed; /* show NULL dimmed, on a terminal that can */
};

struct output {
	const struct output_ops *ops;
	const struct output_settings *settings;
	FILE *file;
	int is_begun; /* something was written */
	int is_paged; /* `file` is the pager */
	struct text text; /* text that is not written yet */
	const struct output_column *columns;
	size_t n_columns;
	uint64_t n_rows;
	uint64_t n_bytes; /* bytes that were written */
	int has_failed; /* writing to the file failed */
};

/* NULL: the name is unknown. */
const struct output_ops *output_find(const char *name);
/* The names, for messages and completion; NULL after the last. */
const char *output_name(size_t i);

/* Begin a result. It borrows the columns and settings until output_end(). */
struct output *output_begin(const struct output_ops *ops,
	const struct output_settings *settings, FILE *file,
	const struct output_column *columns, size_t n_columns);
/* Write a row. Values of type bytes are raw; the output has \x and hexadecimal digits. */
void output_row(struct output *out, const struct cell *cells);
/* End the result. 0, or -1 if writing failed. It is not an error if the user leaves the pager
 * early. Without is_whole there is no footer. */
int output_end(struct output *out, int is_whole);

/* For the formats. */

extern const struct output_ops output_table, output_expanded, output_csv, output_tsv,
	output_json, output_unaligned;

/* Write out->text once it is longer than `limit`. */
void output_flush(struct output *out, size_t limit);
/* Add a value, or NULL as the settings show it, in a form that cannot disturb the terminal. Returns
 * its width. */
size_t output_add_shown(struct output *out, struct text *t,
	const struct output_column *column, const struct cell *cell);
int output_is_number(uint32_t type);
/* Add the footer from the settings, or the number of rows. */
void output_add_footer(struct output *out);
/* Add \x and hexadecimal digits. */
void output_add_hex(struct text *t, const struct cell *cell);

#endif
