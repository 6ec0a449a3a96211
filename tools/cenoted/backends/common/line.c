/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of a `server` line: look up keys, check values, and say what is wrong with them. The options.c of
 * each backend calls it with a table of its keys. It has no state.
 */
#include "line.h"

#include <string.h>
#include <strings.h>

#include "shared/units.h"
#include "core/mem.h"
#include "core/sqlstate.h"
#include "passfile.h"

#define DAY_MS INT64_C(86400000)

static const char *
key_at(const struct cnd_line_table *table, size_t i)
{
	return *(const char *const *)((const char *)table->defs + i * table->stride);
}

int
cnd_line_find(const struct cnd_line_table *table, const char *key, size_t *ret_at,
	struct cnc_diag *ret_diag)
{
	const char *nearest;

	for (*ret_at = 0; *ret_at < table->n; (*ret_at)++) {
		if (strcmp(key_at(table, *ret_at), key) == 0)
			return CENOTE_OK;
	}
	nearest = cnd_nearest(key, table->defs, table->n, table->stride);
	if (nearest)
		cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
			"unknown key \"%s\" for %s: did you mean %s?", key, table->server,
			nearest);
	else
		cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
			"unknown key \"%s\" for %s: %s", key, table->server, table->hint);
	return CENOTE_ERR_ARG;
}

int
cnd_line_bad(struct cnc_diag *diag, const char *text)
{
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER), "%s", text);
	return CENOTE_ERR_ARG;
}

int
cnd_line_refuse(
	const struct cnd_option *given, const char *allowed, struct cnc_diag *diag)
{
	if (!allowed)
		return cnd_line_bad(diag, "the password is empty: leave the key out");
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER), "%s=%s is not allowed: it is %s",
		given->key, given->value, allowed);
	return CENOTE_ERR_ARG;
}

int
cnd_line_seconds(const char *value, unsigned *ret_seconds)
{
	int64_t ms;

	if (cnd_ms_parse(value, &ms) < 0 || ms % 1000 != 0 || ms > DAY_MS)
		return -1;
	*ret_seconds = (unsigned)(ms / 1000);
	return 0;
}

int
cnd_line_word(const char *value, const char *const *words, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (strcasecmp(value, words[i]) == 0)
			return i;
	}
	return -1;
}

int
cnd_line_check_login(const char *user, const char *password, const char *passfile,
	struct cnc_diag *ret_diag)
{
	if (password && passfile)
		return cnd_line_bad(ret_diag, "give password or passfile, not both");
	if (passfile && !user)
		return cnd_line_bad(
			ret_diag, "passfile needs user: the file is searched for it");
	return CENOTE_OK;
}

int
cnd_line_keep(const struct cnd_server_spec *spec, struct cnc_arena *keep,
	struct cnd_server_spec *ret_kept)
{
	struct cnd_option *copy =
		cnc_arena_alloc(keep, (spec->n_options + 1) * sizeof(*copy));
	size_t i;

	if (!copy)
		return CENOTE_ERR_NOMEM;
	for (i = 0; i < spec->n_options; i++) {
		const struct cnd_option *from = &spec->options[i];

		copy[i].key = from->key;
		copy[i].value = cnc_arena_strndup(keep, from->value, strlen(from->value));
		if (!copy[i].value)
			return CENOTE_ERR_NOMEM;
	}
	*ret_kept = *spec;
	ret_kept->options = copy;
	return CENOTE_OK;
}

int
cnd_line_keep_password(const char *passfile, const char *user, struct cnc_arena *keep,
	const char **ret_password, struct cnc_diag *ret_diag)
{
	char *password = NULL;
	int r = cnd_passfile(passfile, user, &cnc_mem_default, &password, ret_diag);

	if (r < 0)
		return r;
	*ret_password = cnc_arena_strndup(keep, password, strlen(password));
	cnc_wipe(password, strlen(password));
	cnc_free(&cnc_mem_default, password);
	return *ret_password ? CENOTE_OK : CENOTE_ERR_NOMEM;
}
