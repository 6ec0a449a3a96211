/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ERROR_H
#define CND_ERROR_H

#include "../backend.h"

/* The fields of a server's error or notice. A field that is NULL, empty or 0 is left out. */
struct cnd_error {
	/* the severity in the server's language; NULL: as `severity` */
	const char *level;
	/* in English; NULL: field V is left out, and field S is `level` or "ERROR" */
	const char *severity;
	const char *state; /* the SQLSTATE */
	/* the server's own SQLSTATE, if it differs from `state` */
	const char *server_state;
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

/* `diag` may be NULL. */
void cnd_error_set(struct cnc_diag *diag, const struct cnd_error *e);
/* Set an error of the backend itself, in the form of a server's error. Returns CENOTE_ERR_SERVER. `hint` may
 * be NULL. */
int cnd_refuse(struct cnc_diag *diag, const char *sqlstate, const char *hint,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Report that a reset cannot clear what the session holds. Returns CENOTE_ERR_UNSUPPORTED. */
int cnd_needs_login(struct cnc_diag *diag);

#endif
