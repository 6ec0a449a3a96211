/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_SQL_READER_H
#define PORT_SQL_READER_H

#include <stdint.h>
#include <stdio.h>

#include "fields.h"

/*
 * Reads the rows of INSERT statements, as cenote-export writes them for each kind of server: INSERT INTO table (columns)
 * VALUES (...), (...); with literals only. A comment in the first line may have the types of the columns.
 */

struct sql_reader {
	FILE *file;
	bool has_backslash; /* a backslash escapes in texts (MySQL) */
	uint64_t n_bytes; /* bytes up to the end of the last row */
	unsigned long line; /* line in which the last row began, from 1 */
	bool is_complete; /* the last row ended its statement and its line */
	const char *error; /* the error in `line`, a static text */
	struct fields fields;
	struct text types; /* from the comment; "" if there is none */
	struct text *names; /* columns of the first statement */
	size_t n_names;
	/* Private. */
	unsigned long next_line;
	bool is_in_statement; /* another row of the statement follows */
};

void sql_reader_init(struct sql_reader *r, FILE *file, bool has_backslash);
void sql_reader_finish(struct sql_reader *r);
/* Read the next row. Returns 1, 0 at the end of the file, -1 if `error` was set. The fields are valid until the next call. */
int sql_read(struct sql_reader *r);

#endif
