/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of functions that cenoted calls, and the one exported symbol.
 */
#include "odbc.h"

static const struct cnd_statement_ops statements = {
	.prepare = cnd_od_prepare,
	.describe = cnd_od_describe,
	.execute = cnd_od_execute,
	.forget = cnd_od_forget,
	.long_data = cnd_od_long_data,
	.fetch = cnd_od_fetch,
	.close_portal = cnd_od_close_portal,
	.forget_portal = cnd_od_close_portal,
};

static const struct cnd_backend backend = {
	.abi = CND_BACKEND_ABI,
	.name = "odbc",
	/* the driver may open database files */
	.writes_files = 1,
	.features = CNP_FEATURE_TRANSACTIONS | CNP_FEATURE_SAVEPOINTS |
		    CNP_FEATURE_CANCEL | CNP_FEATURE_CATALOG |
		    CNP_FEATURE_SEVERAL_RESULTS | CNP_FEATURE_OUTPUT_BINDS |
		    CNP_FEATURE_PORTALS | CNP_FEATURE_SUSPEND | CNP_FEATURE_LONG_DATA,
	.reset_verb = "a new login, or what the table of drivers has for the server",
	.check = cnd_od_check,
	.login = cnd_od_login,
	.logout = cnd_od_logout,
	.info = cnd_od_info,
	.ping = cnd_od_ping,
	.attach = cnd_od_attach,
	.reset = cnd_od_reset,
	.state = cnd_od_state,
	.query = cnd_od_query,
	.statements = &statements,
	.begin = cnd_od_begin,
	.commit = cnd_od_commit,
	.rollback = cnd_od_rollback,
	.savepoint = cnd_od_savepoint,
	.autocommit = cnd_od_autocommit,
	.catalog = cnd_od_catalog,
	.fd = cnd_od_fd,
	.idle = cnd_od_idle,
};

__attribute__((visibility("default"))) const struct cnd_backend *
cnd_backend_get(uint32_t host_abi)
{
	return host_abi == CND_BACKEND_ABI ? &backend : NULL;
}
