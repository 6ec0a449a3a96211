/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * \conninfo, \pools, \pins, \servers, \workers, \times, \digests, \rules and \cache: the session, its pool, and the daemon. This file
 * keeps no state.
 */
#include <string.h>

#include "cmd.h"

static const struct {
	const char *info;
	const char *title;
} facts[] = {
	{ "pool", "Pool" },
	{ "backend", "Backend" },
	{ "server", "Server" },
	{ "server_version", "Server version" },
	{ "database", "Database" },
	{ "socket", "Socket" },
	{ "session", "Session" },
	{ "worker_pid", "Worker process" },
	{ "attaches", "Attached" },
	{ "protocol", "Protocol" },
	{ "features", "Features" },
};

static void
add_pins(struct text *t, uint32_t pins)
{
	uint32_t bit;

	for (bit = 1; bit != 0; bit <<= 1) {
		const char *name = pins & bit ? cenote_pin_name(bit) : NULL;

		if (name)
			text_addf(t, "%s%s", t->len > 0 ? ", " : "", name);
	}
}

/* Show the TLS of one hop. Without TLS, show nothing. */
static void
show_tls(struct shell *sh, const char *title, int hop)
{
	static const char *const names[] = { "version", "cipher", "group", "bits",
		"resumed", "verified", "peer", "names", "issuer", "not_after" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = cenote_tls_info(sh->conn, hop, names[i]);

		if (value && *value)
			(void)fprintf(sh->out, "%-16s %s %s\n", i == 0 ? title : "",
				names[i], value);
	}
	if (hop == CENOTE_HOP_POOL && !cenote_tls_info(sh->conn, hop, "version"))
		(void)fprintf(sh->out, "%-16s none\n", title);
}

static int
run_conninfo(struct cmd *cmd)
{
	struct shell *sh = cmd->sh;
	struct text pins = { 0 };
	size_t i;

	if (!cenote_is_connected(sh->conn)) {
		(void)fputs("Not connected.\n", sh->out);
		(void)fflush(sh->out);
		return RUN_OK;
	}
	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *value = cenote_info(sh->conn, facts[i].info);

		if (value && *value)
			(void)fprintf(sh->out, "%-16s %s\n", facts[i].title, value);
	}
	show_tls(sh, "TLS to cenoted", CENOTE_HOP_POOL);
	show_tls(sh, "TLS to server", CENOTE_HOP_SERVER);
	for (i = 0; cenote_parameter_name(sh->conn, (uint32_t)i); i++) {
		const char *name = cenote_parameter_name(sh->conn, (uint32_t)i);

		if (strncmp(name, "server_tls_", strlen("server_tls_")) == 0)
			continue;
		(void)fprintf(
			sh->out, "%-16s %s\n", name, cenote_parameter(sh->conn, name));
	}
	if (cenote_tx_state(sh->conn) != CENOTE_TX_IDLE)
		text_add_str(&pins, "an open transaction");
	add_pins(&pins, cenote_pins(sh->conn));
	(void)fprintf(sh->out, "%-16s %s\n", "Kept by", pins.len ? pins.data : "nothing");
	text_finish(&pins);
	(void)fflush(sh->out);
	return RUN_OK;
}

static int
show_status(struct cmd *cmd, const char *what)
{
	cenote_result *res;
	int r = cenote_status(cmd->sh->conn, what, &res);

	/* It may need a password, which a session has got. */
	if (r == CENOTE_ERR_AUTH && !cenote_is_connected(cmd->sh->conn)) {
		r = session_ensure(cmd->sh);
		if (r != RUN_OK)
			return r;
		r = cenote_status(cmd->sh->conn, what, &res);
	}
	if (r < 0)
		return session_failed(cmd->sh, r, NULL, 0);
	r = run_show_whole(cmd->sh, res);
	cenote_result_destroy(res);
	return r;
}

static int
run_pools(struct cmd *cmd)
{
	return show_status(cmd, "pools");
}

static int
run_pins(struct cmd *cmd)
{
	int r = show_status(cmd, "pins");

	return r < 0 ? r : show_status(cmd, "pin_counts");
}

static int
run_servers(struct cmd *cmd)
{
	return show_status(cmd, "servers");
}

static int
run_workers(struct cmd *cmd)
{
	return show_status(cmd, "workers");
}

static int
run_times(struct cmd *cmd)
{
	return show_status(cmd, "times");
}

static int
run_digests(struct cmd *cmd)
{
	return show_status(cmd, "digests");
}

static int
run_rules(struct cmd *cmd)
{
	return show_status(cmd, "rules");
}

static int
run_cache(struct cmd *cmd)
{
	return show_status(cmd, "cache");
}

const struct command cmd_status_table[] = {
	{ "conninfo", "", "about this session", run_conninfo },
	{ "pools", "", "the daemon's pools and how busy they are", run_pools },
	{ "pins", "", "what keeps sessions with their clients", run_pins },
	{ "servers", "", "the servers of the pools, their roles and lag", run_servers },
	{ "workers", "", "its workers, and what each does", run_workers },
	{ "times", "", "how long requests, waiting, sessions and logins took",
		run_times },
	{ "digests", "", "statistics of statements", run_digests },
	{ "rules", "", "the rules of the pools, and how often each matched", run_rules },
	{ "cache", "", "the pools' caches of results, and how often they answered",
		run_cache },
	{ 0 },
};
