/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LINE_H
#define CND_LINE_H

#include "../backend.h"
#include "core/arena.h"

/*
 * The options of a `server` line, for the backends whose keys are not their client library's own. Each
 * backend has a table of its keys; each element begins with the key.
 */
struct cnd_line_table {
	const void *defs;
	size_t n, stride;
	const char *server; /* the name in "unknown key … for MySQL" */
	/* ends the message about a key that resembles no key of the table */
	const char *hint;
};

#define CND_LINE_ANY     "a text that is not empty"
#define CND_LINE_SECONDS "a time of whole seconds up to a day, such as 10s or 2min"

/* Find a key in the table. CENOTE_ERR_ARG: there is no such key, and the diagnostics name the nearest one. */
int cnd_line_find(const struct cnd_line_table *table, const char *key, size_t *ret_at,
	struct cnc_diag *ret_diag);
/* Set `text` as the diagnostics. Returns CENOTE_ERR_ARG. */
int cnd_line_bad(struct cnc_diag *diag, const char *text);
/* Report that the value is not allowed. Returns CENOTE_ERR_ARG. `allowed` NULL: the value is a password, and
 * empty. */
int cnd_line_refuse(
	const struct cnd_option *given, const char *allowed, struct cnc_diag *diag);
/* Parse a time of whole seconds up to a day. Returns 0 or -1. */
int cnd_line_seconds(const char *value, unsigned *ret_seconds);
/* The index of `value` in `words`, or -1. Case does not matter. */
int cnd_line_word(const char *value, const char *const *words, int n);
/* Check that user, password and passfile go together; each is NULL if it is not given. */
int cnd_line_check_login(const char *user, const char *password, const char *passfile,
	struct cnc_diag *ret_diag);

/* Copy the line's values into `keep`; its keys are not copied. CENOTE_OK or CENOTE_ERR_NOMEM. */
int cnd_line_keep(const struct cnd_server_spec *spec, struct cnc_arena *keep,
	struct cnd_server_spec *ret_kept);
/* Read the password by cnd_passfile() into `keep`. */
int cnd_line_keep_password(const char *passfile, const char *user, struct cnc_arena *keep,
	const char **ret_password, struct cnc_diag *ret_diag);

#endif
