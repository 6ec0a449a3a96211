/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include "../common/passfile.h"

#include <string.h>

/* The passfile: lines HOST:PORT:DATABASE:USER:PASSWORD. The host of a local socket is "localhost".
 * login.c calls this file. */

/* Copy the first element of a comma-separated list. */
static void
put_first(char *to, size_t size, const char *list)
{
	size_t n = strcspn(list, ",");

	snprintf(to, size, "%.*s", n < size ? (int)n : (int)size, list);
}

char *
cpq_passfile_find(const struct cpq_conninfo *info)
{
	const char *path = cpq_conninfo_get(info, CPQ_KEY_PASSFILE);
	char host[256], port[32];
	const char *const names[CSH_PASSFILE_NAMES] = { host, port,
		cpq_conninfo_get(info, CPQ_KEY_DBNAME),
		cpq_conninfo_get(info, CPQ_KEY_USER) };

	put_first(host, sizeof(host), cpq_conninfo_get(info, CPQ_KEY_HOST));
	if (*host == '\0')
		put_first(host, sizeof(host), cpq_conninfo_get(info, CPQ_KEY_HOSTADDR));
	if (*host == '\0' || *host == '/')
		memcpy(host, "localhost", sizeof("localhost"));
	put_first(port, sizeof(port), cpq_conninfo_get(info, CPQ_KEY_PORT));
	if (*port == '\0')
		memcpy(port, "5432", sizeof("5432"));
	return csh_passfile_find(path, names);
}
