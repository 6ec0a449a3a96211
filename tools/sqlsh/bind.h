/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_BIND_H
#define SQLSH_BIND_H

#include <stdint.h>
#include <cenote/types.h>

#include "text.h"

/* Named values for statements (-v NAME=VALUE, \set). They go to the server as parameters and never
 * become part of the SQL. */

struct bind {
	char *name;
	uint32_t type; /* enum cenote_type; CENOTE_TYPE_NULL: NULL */
	char *value; /* as the user gave it; for bytes, the bytes */
	size_t len;
	int64_t i; /* int, and bool */
	double d; /* double */
};

struct binds {
	struct bind *items;
	size_t n;
};

/* How a server writes placeholders. */
enum bind_style {
	BIND_NAMED, /* :name, unchanged; one parameter for each name */
	BIND_DOLLAR, /* $1 */
	BIND_QUESTION /* ?, one parameter for each use */
};

/* A statement that is ready to send, and the value of each of its parameters in order. */
struct bound {
	struct text sql;
	const struct bind **values; /* borrowed from the binds */
	size_t n;
};

void binds_finish(struct binds *b);
/* Take NAME=VALUE or NAME:TYPE=VALUE, which replaces a value of that name. NAME alone is NULL.
 * Returns NULL, or the error as a static text. */
const char *binds_set(struct binds *b, const char *spec);
/* Remove a value. 1: there was a value of that name; 0. */
int binds_unset(struct binds *b, const char *name);
const struct bind *binds_find(const struct binds *b, const char *name, size_t len);
const char *bind_type_name(uint32_t type);

enum bind_style bind_style_for(const char *backend);

/*
 * Prepare a statement for sending. Returns 0; or, only with BIND_NAMED, the length of the first
 * placeholder without a value, and its place in *ret_missing. For other servers, a colon and a name
 * may mean something else.
 */
size_t bound_init(struct bound *bound, const struct binds *b, enum bind_style style,
	uint32_t lex_flags, const char *sql, size_t len, const char **ret_missing);
void bound_finish(struct bound *bound);

#endif
