/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MAP_H
#define CND_MAP_H

#include <stdio.h>

#include "config/lines.h"

/*
 * A map file: lines NAME USER: whom the kernel or a certificate calls NAME may be USER. USER `*` is any.
 * A NAME with blanks stands in double quotes. Names of unix users are as they are; those of
 * certificates have their kind in front: cn:NAME, dns:NAME, email:ADDRESS, uri:URI.
 */
struct cnd_map {
	struct cnd_mapping {
		char *name;
		char *user;
	} * list;
	size_t n;
};

/* 0, or -1 with the lines' error set. */
int cnd_map_read(struct cnd_map *m, struct cnd_lines *lines);
void cnd_map_destroy(struct cnd_map *m);
void cnd_map_print(const struct cnd_map *m, FILE *out);
/* Whether `name` may be `user`. */
int cnd_map_has(const struct cnd_map *m, const char *name, const char *user);
/* Whom `name` is taken for if it does not say; NULL: it must. */
const char *cnd_map_first(const struct cnd_map *m, const char *name);

#endif
