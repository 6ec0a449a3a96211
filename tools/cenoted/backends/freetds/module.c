/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of functions that cenoted calls, and the one exported symbol.
 */
#include "core/digest.h"
#include "core/sql.h"
#include "tds.h"

/* QUOTED_IDENTIFIER decides whether "a" is a name, and the server does not report it. */
static uint32_t
sql_rules(struct cnd_session *s, const char *sql, size_t len)
{
	(void)s;
	(void)sql;
	(void)len;
	return CNC_SQL_TDS | CNC_DIGEST_UNSURE_NAMES;
}

static const struct cnd_statement_ops statements = {
	.prepare = cnd_tds_prepare,
	.describe = cnd_tds_describe,
	.execute = cnd_tds_execute,
	.forget = cnd_tds_forget,
	.fetch = cnd_tds_fetch,
	.close_portal = cnd_tds_close_portal,
	.forget_portal = cnd_tds_close_portal,
};

static const struct cnd_backend backend = {
	.abi = CND_BACKEND_ABI,
	.name = "freetds",
	.features = CNP_FEATURE_TRANSACTIONS | CNP_FEATURE_SAVEPOINTS |
		    CNP_FEATURE_CANCEL | CNP_FEATURE_CATALOG | CNP_FEATURE_COPY |
		    CNP_FEATURE_SEVERAL_RESULTS | CNP_FEATURE_OUTPUT_BINDS |
		    CNP_FEATURE_PORTALS,
	.reset_verb =
		"ROLLBACK; whoever read a table, called a function or changed anything "
		"costs a new login",
	.check = cnd_tds_check,
	.login = cnd_tds_login,
	.logout = cnd_tds_logout,
	.info = cnd_tds_info,
	.ping = cnd_tds_ping,
	.attach = cnd_tds_attach,
	.reset = cnd_tds_reset,
	.state = cnd_tds_state,
	.query = cnd_tds_query,
	.statements = &statements,
	.begin = cnd_tds_begin,
	.commit = cnd_tds_commit,
	.rollback = cnd_tds_rollback,
	.savepoint = cnd_tds_savepoint,
	.autocommit = cnd_tds_autocommit,
	.catalog = cnd_tds_catalog,
	.fd = cnd_tds_fd,
	.idle = cnd_tds_idle,
	.sql_rules = sql_rules,
};

__attribute__((visibility("default"))) const struct cnd_backend *
cnd_backend_get(uint32_t host_abi)
{
	return host_abi == CND_BACKEND_ABI ? &backend : NULL;
}
