/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys `session_start` and `session_end`: read their lines, and print them. config.c has them in its table of keys;
 * worker/hooks.c runs them.
 */
#include "config_internal.h"

#include <stdlib.h>

static int
parse_hook(struct cnd_loader *l, void *field, const char *value)
{
	struct cnd_hooks *hooks = field;

	if (*value == '\0')
		return cnd_config_bad(l, "write the SQL to run");
	if (hooks->n == CND_HOOKS_MAX)
		return cnd_config_bad(
			l, "a pool has at most %u such lines", CND_HOOKS_MAX);
	hooks->list[hooks->n++] =
		(struct cnd_hook){ .sql = cnd_config_dup(value), .line = l->line };
	return 0;
}

void
cnd_hooks_print(const struct cnd_hooks *hooks, const char *key, FILE *out)
{
	for (size_t i = 0; i < hooks->n; i++)
		fprintf(out, "%-19s = %s\n", key, hooks->list[i].sql);
}

void
cnd_hooks_destroy(struct cnd_hooks *hooks)
{
	for (size_t i = 0; i < hooks->n; i++)
		free(hooks->list[i].sql);
	hooks->n = 0;
}

const struct cnd_kind cnd_kind_hooks = { parse_hook, NULL };
