/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include "../common/route.h"

#include <stdlib.h>
#include <string.h>

/*
 * Which pool serves a connection, or whether the original library does. ../common/route.c
 * has the rules, which all shims share.
 */

/* A replication connection belongs to the server: no pool can serve it. */
static int
is_replication(const struct cpq_conninfo *info)
{
	const char *value = cpq_conninfo_get(info, CPQ_KEY_REPLICATION);
	static const char *const no[] = { "", "0", "off", "no", "false", "n", "f" };

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		if (strcmp(value, no[i]) == 0)
			return 0;
	}
	return 1;
}

static int
choose(const struct cpq_conninfo *info, struct csh_choice *ret_choice)
{
	struct csh_target target = { .section = "libpq",
		.host = cpq_conninfo_get(info, CPQ_KEY_HOST),
		.port = cpq_conninfo_get(info, CPQ_KEY_PORT),
		.dbname = cpq_conninfo_get(info, CPQ_KEY_DBNAME),
		.user = cpq_conninfo_get(info, CPQ_KEY_USER) };

	if (*target.host == '\0')
		target.host = cpq_conninfo_get(info, CPQ_KEY_HOSTADDR);
	if (*target.host == '\0')
		target.host = "localhost";
	if (*target.dbname == '\0')
		target.dbname = target.user;
	target.fallback = target.dbname;
	return csh_choose(&target, ret_choice);
}

int
cpq_route_find(
	struct cpq_route *route, const struct cpq_conninfo *info, PQExpBuffer error)
{
	struct csh_choice choice;

	*route = (struct cpq_route){ .way = CPQ_WAY_POOL };
	if (choose(info, &choice) < 0) {
		appendPQExpBuffer(error, "%s\n", choice.error);
		return -1;
	}
	if (strcmp(choice.pool, "direct") == 0) {
		route->way = CPQ_WAY_ORIGINAL;
		return 0;
	}
	if (is_replication(info)) {
		route->way = csh_may_fall_back() ? CPQ_WAY_ORIGINAL : CPQ_WAY_NONE;
		if (route->way == CPQ_WAY_NONE)
			appendPQExpBufferStr(error,
				"cenote: replication connections are not pooled; "
				"CENOTE_FALLBACK=direct lets them go to the server\n");
		return 0;
	}
	route->pool = strdup(choice.pool);
	if (route->pool != NULL)
		return 0;
	appendPQExpBufferStr(error, "out of memory\n");
	return -1;
}

void
cpq_route_finish(struct cpq_route *route)
{
	free(route->pool);
	route->pool = NULL;
}
