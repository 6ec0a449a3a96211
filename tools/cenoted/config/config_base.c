/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all files of the configuration need: memory, errors with their line, and simple queries about
 * a pool. It calls none of the other files. cenoted ends if it has no memory for its configuration.
 */
#include "config_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "shared/log.h"

void *
cnd_config_must(void *p)
{
	if (p == NULL)
		cnd_fatal("out of memory");
	return p;
}

char *
cnd_config_dup(const char *text)
{
	return cnd_config_must(strdup(text));
}

void
cnd_config_free_secret(char *text)
{
	if (text != NULL)
		cnc_wipe(text, strlen(text));
	free(text);
}

__attribute__((format(printf, 3, 0))) static void
add_error(struct cnd_config *c, unsigned line, const char *format, va_list args)
{
	char *what;
	char *full;

	if (vasprintf(&what, format, args) < 0)
		cnd_fatal("out of memory");
	if (line > 0 ? asprintf(&full, "%s:%u: %s", c->path, line, what) < 0
		     : asprintf(&full, "%s: %s", c->path, what) < 0)
		cnd_fatal("out of memory");
	free(what);
	c->errors = cnd_config_must(
		realloc(c->errors, (c->n_errors + 1) * sizeof(*c->errors)));
	c->errors[c->n_errors++] = full;
}

void
cnd_config_error(struct cnd_config *c, unsigned line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_error(c, line, format, args);
	va_end(args);
}

int
cnd_config_bad(struct cnd_loader *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_error(l->config, l->line, format, args);
	va_end(args);
	return -1;
}

struct cnd_account
cnd_pool_config_account(const struct cnd_config *c, const struct cnd_pool_config *p)
{
	return *p->user != '\0' ? (struct cnd_account){ p->user, p->uid, p->gid }
				: (struct cnd_account){ c->user, c->uid, c->gid };
}

int
cnd_pool_config_allows(const struct cnd_pool_config *p, uid_t uid)
{
	for (size_t i = 0; i < p->n_allow; i++) {
		if (p->allow[i] == uid)
			return 1;
	}
	return p->is_open;
}
