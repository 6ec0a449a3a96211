/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_CASE_H
#define CNT_CASE_H

#include <stddef.h>
#include <stdint.h>

/* The cases of tests/conformance/README.md, as read from a file. */

#define CNT_UNSET       INT64_MIN
#define CNT_FORMATS_MAX 16u

/* Bytes, followed by a zero byte; bytes is NULL for NULL. */
struct cnt_bytes {
	char *bytes;
	size_t len;
};

struct cnt_row {
	struct cnt_bytes *values;
	size_t n_values;
};

struct cnt_column {
	char *name;
	char *type; /* "" accepts any type */
};

/* What one result must be. Only what the case says is compared. */
struct cnt_expect {
	struct cnt_column *columns;
	size_t n_columns;
	int64_t column_count; /* CNT_UNSET: as many as `columns`, or any */
	struct cnt_row *rows; /* the first rows that the result must have */
	size_t n_rows;
	int has_variant_rows; /* the rows are for one backend and replaced the general rows */
	int64_t row_count; /* CNT_UNSET: as many as `rows` */
	int64_t rows_before_error;
	int64_t affected;
	int64_t insert_id;
	int64_t native;
	int64_t tx;
	int64_t pins;
	char *tag;
	char *sqlstate; /* the beginning of the SQLSTATE of the expected error; NULL expects success */
	char *message; /* a part of the error's message */
	char *position;
	char *params; /* types of the parameters of a description, separated by blanks */
	struct cnt_bytes copy_out; /* the data that the statement copies to the client */
	int has_output; /* the result holds the output values of a call */
	char *notices; /* one line for each notice that must arrive: a part of its text */
	/* "CHANNEL PAYLOAD" lines: every notification since the last step that checked them. */
	char *notifications;
	char *parameters; /* "NAME VALUE" lines: session parameters after the step */
};

struct cnt_bind {
	char *type;
	struct cnt_bytes value;
};

/* One request: a statement (sql) or an operation (op, with its arguments). */
struct cnt_step {
	int line;
	char *sql;
	size_t sql_len;
	char *op;
	char *args;
	struct cnt_bind *binds;
	size_t n_binds;
	uint32_t format;
	uint8_t formats[CNT_FORMATS_MAX]; /* the requested format of each column */
	size_t n_formats;
	int is_extended; /* use the extended form of a query, even without parameters */
	struct cnt_bytes copy_in; /* the data for a statement that asks for some */
	char *copy_fail; /* the reason for giving up the copy after `copy_in`; NULL: end it normally */
	uint64_t max_rows;
	struct cnt_expect *expects;
	size_t n_expects;
};

struct cnt_case {
	const char *file;
	int line;
	char *name;
	char **setup; /* statements that must succeed first */
	size_t n_setup;
	struct cnt_step *steps;
	size_t n_steps;
	char *not_ways; /* names of the ways that cannot run this case */
};

struct cnt_cases {
	struct cnt_case *cases;
	size_t n_cases;
};

/* The backend of a run, which decides about `only`, `except` and variants, and how parameters are
 * written. */
struct cnt_backend_names {
	const char *backend; /* the server's backend */
	/* "odbc": through an ODBC driver; NULL: through the server's own backend. */
	const char *way;
	/* The form of the Nth placeholder, '#' for N; NULL: the backend's own. */
	const char *placeholder;
};

/* Append the cases of a file. A case that is not for the backend gets no steps. Returns 0, or -1
 * after printing the error and its place on standard error. */
int cnt_cases_read(
	struct cnt_cases *list, const char *path, const struct cnt_backend_names *names);
void cnt_cases_finish(struct cnt_cases *list);

#endif
