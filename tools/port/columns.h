/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_COLUMNS_H
#define PORT_COLUMNS_H

#include <cenote/cenote.h>

#include "csv.h"
#include "port.h"

/*
 * The columns of a table or file, with logical types. With --types, a file has the type behind each name: in the
 * header of CSV "id:int64 key1,price:decimal(10,2)".
 */

struct column {
	char *name;
	uint32_t type; /* enum cenote_type */
	bool has_type; /* false: the file has none */
	bool has_zone; /* a time or timestamp with an offset */
	unsigned key; /* place in the primary key, from 1; 0: it is not in the key */
	int64_t length; /* characters or bytes; digits of a decimal; 0: no limit is known */
	int64_t scale; /* of a decimal */
};

struct columns {
	struct column *list;
	size_t n;
};

void columns_finish(struct columns *c);
struct column *columns_add(struct columns *c, const char *name, size_t len);
/* Add columns with these names, separated by commas. -1: one of them is empty. */
int columns_add_names(struct columns *c, const char *names);
/* Find a column by its name, or by its name without regard to ASCII case. NULL: there is none. */
struct column *columns_find(const struct columns *c, const char *name);

/* The columns of a result. `backend` is that of the connection. */
void columns_of_result(struct columns *c, const cenote_result *res, const char *backend);

/* Add the words for a type, such as "decimal(10,2)" or "int64 key1". */
void columns_add_type(struct text *t, const struct column *column);
/* Read such words. -1: they are not a type. */
int columns_parse_type(struct column *column, const char *words, size_t len);
/* Add a column from "name:type", the form of a header of CSV. -1: it has no valid type. */
int columns_add_typed(struct columns *c, const struct cell *cell);

#endif
