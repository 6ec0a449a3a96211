/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of functions that cenoted calls, and the only exported symbol.
 */
#include "core/digest.h"
#include "core/sql.h"
#include "sqlite.h"

/* SQLite reads "a" as a text if there is no such column. */
static uint32_t
sql_rules(struct cnd_session *s, const char *sql, size_t len)
{
	(void)s;
	(void)sql;
	(void)len;
	return CNC_SQL_SQLITE | CNC_DIGEST_UNSURE_NAMES;
}

static const struct cnd_statement_ops statements = {
	.prepare = cnd_sq_prepare,
	.describe = cnd_sq_describe,
	.execute = cnd_sq_execute,
	.forget = cnd_sq_forget,
	.fetch = cnd_sq_fetch,
	.close_portal = cnd_sq_close_portal,
	.forget_portal = cnd_sq_forget_portal,
};

static const struct cnd_backend backend = {
	.abi = CND_BACKEND_ABI,
	.name = "sqlite",
	.writes_files = 1,
	.features = CNP_FEATURE_TRANSACTIONS | CNP_FEATURE_SAVEPOINTS |
		    CNP_FEATURE_CANCEL | CNP_FEATURE_CATALOG | CNP_FEATURE_CATALOG |
		    CNP_FEATURE_SEVERAL_RESULTS | CNP_FEATURE_PORTALS |
		    CNP_FEATURE_SUSPEND | CNP_FEATURE_NAMED_PARAMS,
	.reset_verb =
		"ROLLBACK and counters to zero; a changed session opens the file anew",
	.check = cnd_sq_check,
	.login = cnd_sq_login,
	.logout = cnd_sq_logout,
	.info = cnd_sq_info,
	.ping = cnd_sq_ping,
	.attach = cnd_sq_attach,
	.reset = cnd_sq_reset,
	.state = cnd_sq_state,
	.query = cnd_sq_query,
	.statements = &statements,
	.begin = cnd_sq_begin,
	.commit = cnd_sq_commit,
	.rollback = cnd_sq_rollback,
	.savepoint = cnd_sq_savepoint,
	.autocommit = cnd_sq_autocommit,
	.catalog = cnd_sq_catalog,
	.read_only = cnd_sq_read_only,
	.sql_rules = sql_rules,
	.carry_values = CND_SQ_CARRY_LEN,
};

__attribute__((visibility("default"))) const struct cnd_backend *
cnd_backend_get(uint32_t host_abi)
{
	return host_abi == CND_BACKEND_ABI ? &backend : NULL;
}
