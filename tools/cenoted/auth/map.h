/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MAP_H
#define CND_MAP_H

#include <stdio.h>

#include "config/lines.h"

/*
 * A map file has lines "NAME USER": a client that the kernel or its certificate calls NAME may be
 * USER. USER `*` means any user. A NAME with blanks is in double quotes. A unix user's name stands
 * as it is; a name of a certificate has its kind in front: cn:NAME, dns:NAME, email:ADDRESS,
 * uri:URI.
 */
struct cnd_map {
	struct cnd_mapping {
		char *name;
		char *user;
	} * list;
	size_t n;
};

/* 0; or -1, with the error of `lines` set. */
int cnd_map_read(struct cnd_map *m, struct cnd_lines *lines);
void cnd_map_destroy(struct cnd_map *m);
void cnd_map_print(const struct cnd_map *m, FILE *out);
/* Whether `name` may be `user`. */
int cnd_map_has(const struct cnd_map *m, const char *name, const char *user);
/* The user that `name` becomes if the client asks for none; NULL: it must ask for one. */
const char *cnd_map_first(const struct cnd_map *m, const char *name);

#endif
