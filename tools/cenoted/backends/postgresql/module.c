/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of functions that cenoted calls, and the one exported symbol.
 */
#include "session.h"

/* Those of tests/versions, and Debian's. */
static const char *const tested_versions[] = { "13", "15", "16", "17", "18", NULL };

static const struct cnd_backend backend = {
	.abi = CND_BACKEND_ABI,
	.name = "postgresql",
	CND_PG_REQUESTS,
	.can_share = 1,
	/* whether autocommit is off (settings.c) */
	.carry_values = 1,
	.check = cnd_pg_check,
	.login = cnd_pg_login,
	.settings_option = "settings",
	.user_option = "user",
	.password_option = "password",
	.client_key_option = "scram_client_key",
	.server_key_option = "scram_server_key",
	.lend = cnd_pg_lend,
	.take_back = cnd_pg_take_back,
	.cancel = cnd_pg_cancel_now,
	.tested_versions = tested_versions,
};

__attribute__((visibility("default"))) const struct cnd_backend *
cnd_backend_get(uint32_t host_abi)
{
	return host_abi == CND_BACKEND_ABI ? &backend : NULL;
}
