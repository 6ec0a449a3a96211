/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The facts about a pool that cenoted reports like parameters. The libpq and MySQL shims call this
 * file. It has no state.
 */
#include "fact.h"

#include <string.h>
#include <strings.h>

int
csh_is_fact(const char *name)
{
	return strcmp(name, "backend_pid") == 0 || strcmp(name, "connection_id") == 0 ||
	       strncmp(name, "server_tls_", 11) == 0;
}

int
csh_has_backslashes(const char *dbms)
{
	return dbms != NULL && (strncasecmp(dbms, "MySQL", 5) == 0 ||
				       strncasecmp(dbms, "MariaDB", 7) == 0);
}
