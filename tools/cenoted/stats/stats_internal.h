/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_STATS_PARTS_H
#define CND_STATS_PARTS_H

#include <stdio.h>

#include "shared/child.h"
#include "stats.h"

/* What the files of the process share. stats.c: its life, and HTTP; pages.c: what it answers. */

struct cnd_page {
	const char *path;
	const char *type; /* the content type */
	/* Write the page. Returns the HTTP status. */
	unsigned (*write)(const struct cnd_child *child, FILE *out);
};

/* The page for a person, page.html. */
extern const char cnd_stats_page[];

/* NULL: there is no such page. */
const struct cnd_page *cnd_page_find(const char *path);

#endif
