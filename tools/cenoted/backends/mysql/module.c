/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of functions that cenoted calls, and the one exported symbol.
 */
#include "my.h"

static const struct cnd_statement_ops statements = {
	.prepare = cnd_my_prepare,
	.describe = cnd_my_describe,
	.execute = cnd_my_execute,
	.close = cnd_my_close,
	.forget = cnd_my_forget,
	.long_data = cnd_my_long_data,
	.fetch = cnd_my_fetch,
	.close_portal = cnd_my_close_portal,
	.forget_portal = cnd_my_forget_portal,
};

/* Those of tests/versions, and Debian's: MariaDB's and MySQL's. */
static const char *const tested_versions[] = { "10.11", "11.4", "11.8", "9.7", NULL };

static const struct cnd_backend backend = {
	.abi = CND_BACKEND_ABI,
	.name = "mysql",
	.features = CNP_FEATURE_TRANSACTIONS | CNP_FEATURE_SAVEPOINTS |
		    CNP_FEATURE_CANCEL | CNP_FEATURE_CATALOG |
		    CNP_FEATURE_SEVERAL_RESULTS | CNP_FEATURE_OUTPUT_BINDS |
		    CNP_FEATURE_BINARY | CNP_FEATURE_PORTALS | CNP_FEATURE_SUSPEND |
		    CNP_FEATURE_CHANGE_USER | CNP_FEATURE_SELECT_DATABASE |
		    CNP_FEATURE_LONG_DATA | CNP_FEATURE_FILES | CNP_FEATURE_OPTIONS |
		    CNP_FEATURE_FUNCTIONS,
	.reset_verb = "COM_RESET_CONNECTION, and the database of the pool; a changed "
		      "user logs in anew",
	.check = cnd_my_check,
	.login = cnd_my_login,
	.logout = cnd_my_logout,
	.info = cnd_my_info,
	.ping = cnd_my_ping,
	.attach = cnd_my_attach,
	.reset = cnd_my_reset,
	.state = cnd_my_state,
	.query = cnd_my_query,
	.statements = &statements,
	.begin = cnd_my_begin,
	.commit = cnd_my_commit,
	.rollback = cnd_my_rollback,
	.undo = cnd_my_undo,
	.savepoint = cnd_my_savepoint,
	.autocommit = cnd_my_autocommit,
	.catalog = cnd_my_catalog,
	.fd = cnd_my_fd,
	.idle = cnd_my_idle,
	.settle = cnd_my_settle,
	.settled_pins = CENOTE_PIN_FUNCTION | CENOTE_PIN_SETTINGS,
	.is_settling_felt = 1,
	.can_refuse_pins = 1,
	.carry_values = CND_MY_CARRY_LEN,
	.sql_rules = cnd_my_sql_rules,
	.role = cnd_my_role,
	.read_only = cnd_my_read_only,
	.position = cnd_my_position,
	.covers = cnd_gtid_covers,
	.function = cnd_my_function,
	.change_user = cnd_my_change_user,
	.select_database = cnd_my_select_database,
	.set_option = cnd_my_set_option,
	.settings_option = "mysql_login",
	.has_settings = cnd_my_has_settings,
	.user_option = "user",
	.password_option = "password",
	.tested_versions = tested_versions,
};

__attribute__((visibility("default"))) const struct cnd_backend *
cnd_backend_get(uint32_t host_abi)
{
	return host_abi == CND_BACKEND_ABI ? &backend : NULL;
}
