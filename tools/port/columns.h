/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_COLUMNS_H
#define PORT_COLUMNS_H

#include <cenote/cenote.h>

#include "csv.h"
#include "port.h"

/*
 * The columns of a table or file, with logical types. A file that was written with --types has a type for each name, for
 * example "id:int64 key1,price:decimal(10,2)" in the header of CSV.
 */

struct column {
	char *name;
	uint32_t type; /* enum cenote_type */
	bool has_zone; /* a time or timestamp with an offset */
	unsigned
		key; /* place in the primary key, from 1; 0: the column is not in the key */
	int64_t length; /* most characters, bytes, or digits of a decimal; 0: unknown */
	int64_t scale; /* digits of a decimal after the point */
};

struct columns {
	struct column *list;
	size_t n;
};

void columns_finish(struct columns *c);
/* Add a column of type text. */
struct column *columns_add(struct columns *c, const char *name, size_t len);
/* Add columns with these names, separated by commas. -1: one of them is empty. */
int columns_add_names(struct columns *c, const char *names);
/* Find a column by its name, or by its name without regard to ASCII case. NULL: there is none. */
struct column *columns_find(const struct columns *c, const char *name);

/* Add the columns of a result. `backend` is the one of the connection. */
void columns_of_result(struct columns *c, const cenote_result *res, const char *backend);

/* Add a column's type in words, such as "decimal(10,2)" or "int64 key1". */
void columns_add_type(struct text *t, const struct column *column);
/* Set a column's type from such words. -1: they are not a type, and the column is unchanged. */
int columns_parse_type(struct column *column, const char *words, size_t len);
/* Add a column from "name:type", as the header of CSV has it. -1: the type is not valid. */
int columns_add_typed(struct columns *c, const struct cell *cell);

#endif
