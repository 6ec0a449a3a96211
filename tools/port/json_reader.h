/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_JSON_READER_H
#define PORT_JSON_READER_H

#include <stdbool.h>
#include <stdio.h>

#include "csv.h"

/*
 * JSON lines: each line is an object of RFC 8259. The value of a text is its characters, that of a number is its digits.
 * The values of true and false are 1 and 0. The value of an object or array within the line is its JSON text.
 */

#define JSON_DEPTH_MAX 100u

struct json_reader {
	FILE *file;
	uint64_t n_bytes; /* bytes up to the end of the last line */
	unsigned long line; /* the last line, from 1 */
	bool is_complete; /* the last line ended with a newline */
	const char *error; /* the error in `line`, a static text */
	struct cell *names; /* of the members, in the order of the line */
	struct cell *values;
	size_t n; /* number of members */
	/* Private. */
	size_t cap;
	struct text text; /* the line */
	struct text data; /* names and values, each with a zero byte */
	size_t *offsets; /* where the name and the value of each member begin in `data` */
	unsigned char *is_null;
};

void json_reader_init(struct json_reader *r, FILE *file);
void json_reader_finish(struct json_reader *r);
/* Read the next object. Returns 1, 0 at the end of the file, -1 if `error` was set. The members are valid until the next call. */
int json_read(struct json_reader *r);

#endif
