/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_CSV_H
#define SQLSH_CSV_H

#include <stdint.h>
#include <stdio.h>

#include "text.h"

/*
 * CSV as in RFC 4180 (lines end with LF; CRLF is read as well), where NULL is an empty field and
 * the empty text is ""; and tab-separated values, where NULL is \N and tab, newline, carriage
 * return and backslash are written \t \n \r \\.
 */

enum csv_kind {
	CSV_COMMA,
	CSV_TAB
};

/* NULL: text is NULL. */
struct cell {
	const char *text;
	size_t len;
};

#define CSV_FIELDS_MAX  65535u
#define CSV_RECORD_MAX  ((size_t)1 << 30)
#define CSV_BUFFER_SIZE 65536u

struct csv_reader {
	FILE *file;
	enum csv_kind kind;
	uint64_t n_bytes; /* read so far */
	unsigned long line; /* that the record given last began in (from 1) */
	unsigned long next_line;
	const char *error; /* what is wrong in `line`, static text */
	struct cell *fields;
	size_t n_fields;
	/* Private. */
	size_t cap;
	struct text data; /* the fields' text, each with a zero byte */
	size_t *offsets;
	unsigned char *is_null;
	char *buffer;
	size_t pos, end;
};

void csv_reader_init(struct csv_reader *r, FILE *file, enum csv_kind kind);
void csv_reader_finish(struct csv_reader *r);
/* Next record: 1 and fields, borrowed until the next call; 0 at the end; -1 and error. */
int csv_read(struct csv_reader *r);

/* One field as written, and what stands between two of them. */
void csv_add_field(struct text *t, enum csv_kind kind, const struct cell *cell);
char csv_separator(enum csv_kind kind);

#endif
