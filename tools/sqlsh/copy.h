/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_COPY_H
#define SQLSH_COPY_H

#include <stdint.h>
#include "csv.h"

/* The arguments of \copy. */
struct copy {
	struct text table; /* as typed, perhaps with quotes and a schema; or the query */
	struct text columns; /* as typed, without the parentheses; "" for none */
	struct text file; /* "" for stdin or stdout */
	struct text
		options; /* of the server's own COPY, as typed from WITH on; "" for none */
	int is_query;
	int is_import;
	enum csv_kind kind;
	int has_header;
};

/*
 * Parse TABLE [(COLUMNS)] from|to FILE [csv|tsv] [header], or (QUERY) to FILE …. With WITH … after
 * the file, it is the server's own COPY. Returns NULL, or the error, a static text. Call
 * copy_finish() in both cases.
 */
const char *copy_parse(struct copy *c, uint32_t lex_flags, const char *args);
void copy_finish(struct copy *c);

/* Make the server's own COPY statement. */
void copy_statement(const struct copy *c, struct text *ret_sql);

/*
 * Make the INSERT for records of n fields. `names` are the columns' names if the file has them and
 * the user typed none, else NULL; `quote` goes around them. has_numbers: placeholders are $1 … and
 * not ?.
 */
void copy_insert(const struct copy *c, const struct cell *names, size_t n, char quote,
	int has_numbers, struct text *ret_sql);

#endif
