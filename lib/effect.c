/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/* What errors mean: which status a SQLSTATE is. */

int
cn_status_of(const char *sqlstate)
{
	if (strcmp(sqlstate, CNC_SQLSTATE(UNSUPPORTED)) == 0)
		return CENOTE_ERR_UNSUPPORTED;
	return strncmp(sqlstate, "08", 2) == 0 ? CENOTE_ERR_CONN : CENOTE_ERR_SERVER;
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
