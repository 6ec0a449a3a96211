/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_DIALECT_H
#define PORT_DIALECT_H

#include "columns.h"

/* What differs between the kinds of servers: names, literals, types, and the largest INSERT. */
struct dialect {
	const char *backend; /* the name that cenote_info() returns */
	char open, close; /* quotes of a name */
	bool has_numbers; /* placeholders are $1, $2, ...; otherwise ? */
	bool has_copy; /* COPY ... FROM STDIN */
	bool has_backslash; /* a backslash escapes in texts */
	bool has_bool; /* literals true and false */
	bool has_zones; /* timestamps may have an offset */
	size_t max_params, max_rows; /* parameters and rows of an INSERT */
	const char *bytes_open, *bytes_close; /* around hexadecimal digits */
	const char *text_open; /* before a text */
	/* Types for CREATE TABLE, by enum cenote_type. add_type() replaces the %L, %P and %Z in them. NULL: the types are
	 * unknown. */
	const char *const *types;
};

/* Find a dialect by the name of its backend or server ("freetds", "sqlserver"), or by "standard". NULL: it is unknown. */
const struct dialect *dialect_find(const char *name);

/* Add a name in quotes. */
void dialect_add_name(const struct dialect *d, struct text *t, const char *name);
/* Add the names of columns in quotes, with commas between them. */
void dialect_add_names(const struct dialect *d, struct text *t, const struct columns *c);
/* Add the placeholder of the i-th parameter, from 1. */
void dialect_add_placeholder(const struct dialect *d, struct text *t, size_t i);
/* Add a value as a literal. A value of type bytes is the bytes themselves. */
void dialect_add_literal(
	const struct dialect *d, struct text *t, uint32_t type, const struct cell *cell);

/* Make a CREATE TABLE. `table` goes into it without a change. -1: the types of this kind of server are unknown. */
int dialect_create(const struct dialect *d, const char *table, const struct columns *c,
	struct text *ret_sql);

/* Make an INSERT of n_rows rows, with a placeholder for each value. `table` goes into it without a change. */
void dialect_insert(const struct dialect *d, const char *table, const struct columns *c,
	size_t n_rows, struct text *ret_sql);

#endif
