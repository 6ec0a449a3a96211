/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_DIALECT_H
#define PORT_DIALECT_H

#include "columns.h"

/* What differs between the kinds of servers: names, literals, types, and how many rows an INSERT may have. */
struct dialect {
	const char *backend; /* as in cenote_info() */
	char open, close; /* quotes of a name */
	bool has_numbers; /* placeholders are $1 and not ? */
	bool has_copy; /* COPY ... FROM STDIN */
	bool has_backslash; /* a backslash escapes in texts */
	bool has_bool; /* literals true and false */
	bool has_zones; /* timestamps may have an offset */
	size_t max_params, max_rows; /* of an INSERT */
	const char *bytes_open, *bytes_close; /* around hexadecimal digits */
	const char *text_open; /* before a text */
	/* Types for CREATE TABLE, by enum cenote_type. %L is the length, %P precision and scale. NULL: no tables can
	 * be made. */
	const char *const *types;
};

/* The dialect by the name of its backend, or a similar name ("sqlserver"); NULL: unknown. */
const struct dialect *dialect_find(const char *name);

/* Add a name in quotes. */
void dialect_add_name(const struct dialect *d, struct text *t, const char *name);
/* Add the names of columns in quotes, with commas between them. */
void dialect_add_names(const struct dialect *d, struct text *t, const struct columns *c);
/* Add the i-th placeholder, from 1. */
void dialect_add_placeholder(const struct dialect *d, struct text *t, size_t i);
/* Add a value as a literal. Values of type bytes are raw. */
void dialect_add_literal(
	const struct dialect *d, struct text *t, uint32_t type, const struct cell *cell);

/* Make a CREATE TABLE. -1: this kind of server has no types here. `table` is as the user typed it. */
int dialect_create(const struct dialect *d, const char *table, const struct columns *c,
	struct text *ret_sql);

/*
 * Make the INSERT for a number of rows, with placeholders.
 */
void dialect_insert(const struct dialect *d, const char *table, const struct columns *c,
	size_t n_rows, struct text *ret_sql);

#endif
