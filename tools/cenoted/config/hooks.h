/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_HOOKS_H
#define CND_HOOKS_H

#include <stddef.h>
#include <stdio.h>

/*
 * The SQL that a pool runs on its sessions: the `session_start` or the `session_end` lines of its section, in their order.
 * The configuration owns the texts.
 */
#define CND_HOOKS_MAX 16u

struct cnd_hook {
	char *sql;
	unsigned line;
};

struct cnd_hooks {
	struct cnd_hook list[CND_HOOKS_MAX];
	size_t n;
};

/* Print the lines, in a form that can be read back. */
void cnd_hooks_print(const struct cnd_hooks *hooks, const char *key, FILE *out);
void cnd_hooks_destroy(struct cnd_hooks *hooks);

#endif
