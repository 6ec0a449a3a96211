/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ERROR_H
#define CND_ERROR_H

#include "../backend.h"

/* What a server says of an error, or a notice. What is NULL, empty or 0 is left out. */
struct cnd_error {
	const char *level; /* the severity in the server's words; NULL: as `severity` */
	const char *
		severity; /* NULL: the client gets "ERROR", and takes the words for cenoted's */
	const char *state; /* the SQLSTATE */
	const char *server_state; /* the server's own, if that is another */
	const char *message;
	const char *detail;
	const char *hint;
	const char *server;
	const char *procedure;
	struct cnp_str table, column, constraint;
	int64_t native;
	int64_t line;
	int64_t position; /* characters from 1 */
};

/* NULL is allowed as the diagnostics. */
void cnd_error_set(struct cnc_diag *diag, const struct cnd_error *e);
/* An error of a backend's own, as if the server had said it: CENOTE_ERR_SERVER. `hint` may be NULL. */
int cnd_refuse(struct cnc_diag *diag, const char *sqlstate, const char *hint,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The reset of a session cannot clear what it holds: CENOTE_ERR_UNSUPPORTED. */
int cnd_needs_login(struct cnc_diag *diag);

#endif
