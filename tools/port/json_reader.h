/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_JSON_READER_H
#define PORT_JSON_READER_H

#include <stdint.h>
#include <stdio.h>

#include "fields.h"

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
	struct fields names; /* of the members, in the order of the line */
	struct fields values; /* of the members, in the same order */
	/* Private. */
	struct text text; /* the line */
};

void json_reader_init(struct json_reader *r, FILE *file);
void json_reader_finish(struct json_reader *r);
/* Read the next object. Returns 1, 0 at the end of the file, -1 if `error` was set. The members are valid until the next call. */
int json_read(struct json_reader *r);

#endif
