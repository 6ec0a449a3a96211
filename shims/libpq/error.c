/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include "../common/process.h"

#include <string.h>

/*
 * The error text of a connection, and the check at the beginning of each call. Programs look for
 * libpq's words in it, so a failure of libcenote's appears in those words. All other files call
 * this one; it calls none of them.
 */

/* The address marks every handle of the shim (original.h). */
const char cpq_tag = 'C';
char cpq_empty[1] = "";

void
cpq_say(PGconn *conn, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)appendPQExpBufferVA(&conn->error, format, args);
	va_end(args);
	appendPQExpBufferChar(&conn->error, '\n');
}

void
cpq_say_closed(PGconn *conn)
{
	cpq_say(conn, "server closed the connection unexpectedly\n"
		      "\tThis probably means the server terminated abnormally\n"
		      "\tbefore or while processing the request.");
	conn->status = CONNECTION_BAD;
}

void
cpq_say_failure(PGconn *conn, int status)
{
	const cenote_diag *diag = cenote_conn_diag(conn->session);
	const char *why = cenote_diag_message(diag);
	const char *severity = cenote_diag_field(diag, PG_DIAG_SEVERITY);

	if (status == CENOTE_ERR_NOMEM) {
		cpq_say(conn, "out of memory");
		return;
	}
	if (!cenote_status_is_fatal(status)) {
		cpq_say(conn, "%s", *why != '\0' ? why : cenote_status_name(status));
		return;
	}
	if (cenote_diag_field(diag, 'Y') != NULL)
		why = cenote_diag_field(diag, 'Y');
	/* Programs look for these words of libpq. */
	if (severity != NULL || strncmp(cenote_diag_sqlstate(diag), "57P", 3) == 0)
		cpq_say(conn, "%s:  %s", severity != NULL ? severity : "FATAL", why);
	cpq_say_closed(conn);
	if (severity == NULL && *why != '\0')
		cpq_say(conn, "\tcenote: %s", why);
}

int
cpq_enter(PGconn *conn)
{
	if (conn->status != CONNECTION_OK || conn->session == NULL) {
		cpq_say(conn, "no connection to the server");
		return -1;
	}
	if (conn->owner != csh_getpid()) {
		cpq_say(conn,
			"cenote: this connection belongs to the process that made it; a "
			"forked child needs one of its own");
		return -1;
	}
	return 0;
}
