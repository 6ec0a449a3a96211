/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of functions that cenoted calls, and the one exported symbol.
 */
#include "session.h"

static const struct cnd_statement_ops statements = {
	.prepare = cnd_pg_prepare,
	.describe = cnd_pg_describe,
	.execute = cnd_pg_execute,
	.close = cnd_pg_close,
	.forget = cnd_pg_forget,
	.fetch = cnd_pg_fetch,
	.close_portal = cnd_pg_close_portal,
	.forget_portal = cnd_pg_forget_portal,
};

static const struct cnd_backend backend = {
	.abi = CND_BACKEND_ABI,
	.name = "postgresql",
	.features = CNP_FEATURE_TRANSACTIONS | CNP_FEATURE_SAVEPOINTS |
		    CNP_FEATURE_SETTINGS | CNP_FEATURE_CANCEL | CNP_FEATURE_CATALOG |
		    CNP_FEATURE_SEVERAL_RESULTS | CNP_FEATURE_COPY | CNP_FEATURE_NOTIFY |
		    CNP_FEATURE_BINARY | CNP_FEATURE_PORTALS | CNP_FEATURE_SUSPEND |
		    CNP_FEATURE_FUNCTIONS | CNP_FEATURE_NAMED_STATEMENTS |
		    CNP_FEATURE_OPTIONS,
	.can_share = 1,
	.reset_verb = "ROLLBACK, DISCARD ALL",
	.check = cnd_pg_check,
	.login = cnd_pg_login,
	.logout = cnd_pg_logout,
	.info = cnd_pg_info,
	.ping = cnd_pg_ping,
	.attach = cnd_pg_attach,
	.reset = cnd_pg_reset,
	.state = cnd_pg_state,
	.query = cnd_pg_query,
	.statements = &statements,
	.begin = cnd_pg_begin,
	.commit = cnd_pg_commit,
	.rollback = cnd_pg_rollback,
	.savepoint = cnd_pg_savepoint,
	.autocommit = cnd_pg_autocommit,
	.catalog = cnd_pg_catalog,
	.fd = cnd_pg_fd,
	.idle = cnd_pg_idle,
	.sync = cnd_pg_sync,
	.settle = cnd_pg_settle,
	.function = cnd_pg_function,
	.ahead = cnd_pg_ahead,
	.answer = cnd_pg_answer,
	.set_option = cnd_pg_set_option,
	.drop_options = cnd_pg_drop_options,
	.settings_option = "settings",
	.user_option = "user",
	.password_option = "password",
	.client_key_option = "scram_client_key",
	.server_key_option = "scram_server_key",
};

__attribute__((visibility("default"))) const struct cnd_backend *
cnd_backend_get(uint32_t host_abi)
{
	return host_abi == CND_BACKEND_ABI ? &backend : NULL;
}
