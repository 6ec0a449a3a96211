/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/* The status for an error, by its SQLSTATE. event.c and attach.c call this file. */

int
cn_status_of(const struct cnc_diag *diag)
{
	const char *severity = cnc_diag_field(diag, 'V');

	if (strcmp(diag->sqlstate, CNC_SQLSTATE(UNSUPPORTED)) == 0)
		return CENOTE_ERR_UNSUPPORTED;
	if (strncmp(diag->sqlstate, "08", 2) != 0)
		return CENOTE_ERR_SERVER;
	/* A statement may fail with class 08 because the server lost a connection of its own, while
	 * ours continues. */
	return severity && strcmp(severity, "ERROR") == 0 ? CENOTE_ERR_SERVER
							  : CENOTE_ERR_CONN;
}

int
cn_attach_status(const char *sqlstate)
{
	static const struct {
		const char *prefix;
		int status;
	} table[] = {
		{ "28", CENOTE_ERR_AUTH },
		{ "3D000", CENOTE_ERR_AUTH },
		{ "0A000", CENOTE_ERR_UNSUPPORTED },
		{ "08P01", CENOTE_ERR_PROTOCOL },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strncmp(sqlstate, table[i].prefix, strlen(table[i].prefix)) == 0)
			return table[i].status;
	}
	return CENOTE_ERR_CONN;
}
