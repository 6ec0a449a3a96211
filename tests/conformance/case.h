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
	char *type; /* "" where any will do */
};

/* What one result must be. Only what the case says is compared. */
struct cnt_expect {
	struct cnt_column *columns;
	size_t n_columns;
	int64_t column_count; /* CNT_UNSET: as many as `columns`, or any */
	struct cnt_row *rows; /* the first ones */
	size_t n_rows;
	int has_variant_rows; /* those of one backend, which replaced the general ones */
	int64_t row_count; /* CNT_UNSET: as many as `rows` */
	int64_t rows_before_error;
	int64_t affected;
	int64_t insert_id;
	int64_t native;
	int64_t tx;
	int64_t pins;
	char *tag;
	char *sqlstate; /* an error is expected; a prefix of the code */
	char *message; /* a part of the error's message */
	char *position;
	char *params; /* of a description: types, with blanks between */
	struct cnt_bytes copy_out; /* what the statement copies to us */
	int has_output; /* it is the output values of a call */
	char *notices; /* parts of notices, a line each */
	char *notifications; /* "CHANNEL PAYLOAD" lines: all of them since the last such step */
	char *parameters; /* "NAME VALUE" lines, as they are afterwards */
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
	uint8_t formats[CNT_FORMATS_MAX]; /* of the columns */
	size_t n_formats;
	int is_extended; /* the extended form also without values */
	struct cnt_bytes copy_in; /* what a statement that asks for data gets */
	char *copy_fail; /* … and then why we give up */
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
	char *not_ways; /* names of ways that cannot run this */
};

struct cnt_cases {
	struct cnt_case *cases;
	size_t n_cases;
};

/* Whom variants, `only` and `except` are for, and how parameters are written. */
struct cnt_backend_names {
	const char *backend; /* the server's */
	const char *way; /* "odbc": through a driver of it; NULL: its own backend */
	const char *placeholder; /* the Nth, N for '#'; NULL: the backend's own */
};

/* Append the cases of a file; those that are not for the backend have no steps. 0, or -1 after saying on standard
 * error what is wrong and where. */
int cnt_cases_read(
	struct cnt_cases *list, const char *path, const struct cnt_backend_names *names);
void cnt_cases_finish(struct cnt_cases *list);

#endif
