/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LINE_H
#define CND_LINE_H

#include "../backend.h"
#include "core/arena.h"

/*
 * The options of a `server` line, for the backends whose keys are not their client library's own. Each has a table
 * of them, whose elements begin with the key.
 */
struct cnd_line_table {
	const void *defs;
	size_t n, stride;
	const char *server; /* "unknown key … for MySQL" */
	const char
		*hint; /* ends the message about a key that resembles none of the table */
};

#define CND_LINE_ANY     "a text that is not empty"
#define CND_LINE_SECONDS "a time of whole seconds up to a day, such as 10s or 2min"

/* Where a key stands. CENOTE_ERR_ARG: it does not, and the diagnostics say which one may be meant. */
int cnd_line_find(const struct cnd_line_table *table, const char *key, size_t *ret_at,
	struct cnc_diag *ret_diag);
/* CENOTE_ERR_ARG, and why in the diagnostics. */
int cnd_line_bad(struct cnc_diag *diag, const char *text);
/* The same: the value is not what is `allowed`; NULL: it is a secret, which was empty. */
int cnd_line_refuse(
	const struct cnd_option *given, const char *allowed, struct cnc_diag *diag);
/* A time of whole seconds up to a day: 0 or -1. */
int cnd_line_seconds(const char *value, unsigned *ret_seconds);
/* Which of the words it is, whatever its case: from 0, or -1. */
int cnd_line_word(const char *value, const char *const *words, int n);
/* What goes together of user, password and passfile, each NULL if it is not given. */
int cnd_line_check_login(const char *user, const char *password, const char *passfile,
	struct cnc_diag *ret_diag);

/* The line with values that live as long as `keep`; its keys are as before. CENOTE_OK or CENOTE_ERR_NOMEM. */
int cnd_line_keep(const struct cnd_server_spec *spec, struct cnc_arena *keep,
	struct cnd_server_spec *ret_kept);
/* cnd_passfile() into `keep`. */
int cnd_line_keep_password(const char *passfile, const char *user, struct cnc_arena *keep,
	const char **ret_password, struct cnc_diag *ret_diag);

#endif
