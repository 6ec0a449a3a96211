/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_CSV_H
#define SQLSH_CSV_H

#include <stdint.h>
#include <stdio.h>

#include "fields.h"

/*
 * CSV as in RFC 4180: lines end with LF, and CRLF is also read. NULL is an empty field, and the
 * empty text is "". In tab-separated values NULL is \N, and tab, newline, carriage return and
 * backslash are \t \n \r \\.
 */

enum csv_kind {
	CSV_COMMA,
	CSV_TAB
};

#define CSV_BUFFER_SIZE 65536u

struct csv_reader {
	FILE *file;
	enum csv_kind kind;
	uint64_t n_bytes; /* bytes read so far */
	unsigned long line; /* line in which the last record began, from 1 */
	unsigned long next_line;
	const char *error; /* the error in `line`, a static text */
	struct fields fields;
	/* Private. */
	char *buffer;
	size_t pos, end;
};

void csv_reader_init(struct csv_reader *r, FILE *file, enum csv_kind kind);
void csv_reader_finish(struct csv_reader *r);
/* Read the next record. 1: its fields are valid until the next call; 0: the end; -1: `error` is
 * set. */
int csv_read(struct csv_reader *r);

/* Add a field in its written form; the character that separates two fields. */
void csv_add_field(struct text *t, enum csv_kind kind, const struct cell *cell);
char csv_separator(enum csv_kind kind);

#endif
