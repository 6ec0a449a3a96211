/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_CONNINFO_H
#define CPQ_CONNINFO_H

#include "pq.h"

/* The declarations that conninfo.c, uri.c and service.c share. */

struct cpq_keyword {
	const char *name;
	const char *variable; /* environment variable; NULL: none */
	const char *compiled; /* the default; NULL: none */
	const char *label;
	const char *display; /* "": normal, "*": hidden, "D": for experts */
	int size;
	int since; /* the libpq that brought it; 0: all have it */
};

extern const struct cpq_keyword cpq_keywords[CPQ_N_KEYS];

/* Does the libpq that the shim stands for have this keyword? */
bool cpq_conninfo_knows(const struct cpq_conninfo *info, size_t i);
/* 0; -1: there is no such keyword, or no memory. */
int cpq_conninfo_put(struct cpq_conninfo *info, const char *keyword, const char *value,
	PQExpBuffer error);
int cpq_conninfo_put_at(struct cpq_conninfo *info, enum cpq_key key, const char *value,
	PQExpBuffer error);
/* Set PostgreSQL's defaults for keywords without a value. */
void cpq_conninfo_put_defaults(struct cpq_conninfo *info);
int cpq_conninfo_has(const struct cpq_conninfo *info, const char *keyword);

/* The length of "postgresql://" or "postgres://" at the beginning; 0: it is not a URI. */
size_t cpq_uri_prefix(const char *text);
/* Parse the URI. This changes the text. */
int cpq_uri_parse(struct cpq_conninfo *info, char *uri, PQExpBuffer error);

#endif
