/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_COPY_H
#define SQLSH_COPY_H

#include <stdint.h>
#include "csv.h"

/* What \copy was asked to do. */
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
 * TABLE [(COLUMNS)] from|to FILE [csv|tsv] [header], (QUERY) to FILE …; or WITH … behind the file, which
 * makes it the server's own COPY. NULL when done, else what is
 * wrong, static text; copy_finish() it either way.
 */
const char *copy_parse(struct copy *c, uint32_t lex_flags, const char *args);
void copy_finish(struct copy *c);

/* The server's own statement. */
void copy_statement(const struct copy *c, struct text *ret_sql);

/*
 * INSERT for records of n fields. `names` are the columns' names if the file told them and none
 * were typed, else NULL; `quote` goes around them. has_numbers: placeholders are $1 … and not ?.
 */
void copy_insert(const struct copy *c, const struct cell *names, size_t n, char quote,
	int has_numbers, struct text *ret_sql);

#endif
