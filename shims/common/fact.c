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
	static const char *const facts[] = { "backend_pid", "connection_id",
		"login_report", "mariadb_capabilities" };

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		if (strcmp(facts[i], name) == 0)
			return 1;
	}
	return strncmp(name, "server_tls_", 11) == 0;
}

int
csh_has_backslashes(const char *dbms)
{
	return dbms != NULL && (strncasecmp(dbms, "MySQL", 5) == 0 ||
				       strncasecmp(dbms, "MariaDB", 7) == 0);
}
