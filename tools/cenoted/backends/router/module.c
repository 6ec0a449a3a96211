/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of functions that cenoted calls, and the only exported symbol. The features here are those that
 * the router can pass on. A client sees the features of the default target.
 */
#include "router.h"

static const struct cnd_router_ops router = {
	.has_target = cnd_rt_has_target,
	.bound_to = cnd_rt_bound_to,
	.route = cnd_rt_route,
	.text = cnd_rt_text_of,
};

static const struct cnd_backend backend = {
	.abi = CND_BACKEND_ABI,
	.name = "router",
	.features = CNP_FEATURE_TRANSACTIONS | CNP_FEATURE_SAVEPOINTS |
		    CNP_FEATURE_CANCEL | CNP_FEATURE_CATALOG |
		    CNP_FEATURE_SEVERAL_RESULTS | CNP_FEATURE_OUTPUT_BINDS |
		    CNP_FEATURE_COPY | CNP_FEATURE_NOTIFY | CNP_FEATURE_BINARY |
		    CNP_FEATURE_PORTALS | CNP_FEATURE_SUSPEND | CNP_FEATURE_CHANGE_USER |
		    CNP_FEATURE_SELECT_DATABASE | CNP_FEATURE_NAMED_PARAMS |
		    CNP_FEATURE_FUNCTIONS | CNP_FEATURE_LONG_DATA | CNP_FEATURE_FILES |
		    CNP_FEATURE_NAMED_STATEMENTS | CNP_FEATURE_OPTIONS,
	.can_share = 1,
	.reset_verb = "gives the sessions back to their pools",
	.check = cnd_rt_check,
	.login = cnd_rt_login,
	.logout = cnd_rt_logout,
	.info = cnd_rt_info,
	.ping = cnd_rt_ping,
	.attach = cnd_rt_attach_client,
	.reset = cnd_rt_reset,
	.state = cnd_rt_state,
	.query = cnd_rt_query,
	.statements = &cnd_rt_statement_ops,
	.begin = cnd_rt_begin,
	.commit = cnd_rt_commit,
	.rollback = cnd_rt_rollback,
	.savepoint = cnd_rt_savepoint,
	.autocommit = cnd_rt_autocommit,
	.catalog = cnd_rt_catalog,
	.fd = cnd_rt_fd,
	.idle = cnd_rt_idle,
	.sync = cnd_rt_sync,
	.refused = cnd_rt_refused,
	.function = cnd_rt_function,
	.change_user = cnd_rt_change_user,
	.select_database = cnd_rt_select_database,
	.set_option = cnd_rt_set_option,
	.options_are_set = cnd_rt_options_are_set,
	.ahead = cnd_rt_ahead,
	.answer = cnd_rt_answer,
	.router = &router,
};

__attribute__((visibility("default"))) const struct cnd_backend *
cnd_backend_get(uint32_t host_abi)
{
	return host_abi == CND_BACKEND_ABI ? &backend : NULL;
}
