/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that need the whole configuration: users and groups, the run directory, and files that it
 * names (users, maps, TLS). They are read with the rights that cenoted has at its start. config.c
 * calls it after the last line.
 */
#include "config_internal.h"

#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "alerts/alerts.h"
#include "crypto/crypto.h"
#include "shared/log.h"
#include "shared/sandbox.h"
#include "shared/tls.h"
#include "stats/stats.h"

#define REPLAY_MAX 10u

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

static void
set_run_dir(struct cnd_config *c)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (*c->run_dir != '\0')
		return;
	free(c->run_dir);
	if (geteuid() == 0)
		c->run_dir = cnd_config_dup("/run/cenote");
	else if (runtime == NULL || *runtime != '/')
		c->run_dir = cnd_config_dup("");
	else if (asprintf(&c->run_dir, "%s/cenote", runtime) < 0)
		cnd_fatal("out of memory");
}

/* Find a unix user. NULL; or the error, in static memory. */
static const char *
find_user(const char *user, uid_t *ret_uid, gid_t *ret_gid)
{
	static char text[128];
	const struct passwd *pw = getpwnam(user);

	if (pw == NULL) {
		snprintf(text, sizeof(text), "there is no unix user \"%.64s\"", user);
		return text;
	}
	*ret_uid = pw->pw_uid;
	*ret_gid = pw->pw_gid;
	if (geteuid() == 0 || pw->pw_uid == geteuid())
		return NULL;
	snprintf(text, sizeof(text), "user: only root can become \"%.64s\"", user);
	return text;
}

static void
check_user(struct cnd_loader *l)
{
	struct cnd_config *c = l->config;
	const char *fault;

	c->uid = geteuid();
	c->gid = getegid();
	if (*c->user == '\0')
		return;
	fault = find_user(c->user, &c->uid, &c->gid);
	if (fault != NULL)
		cnd_config_error(c, cnd_loader_line_of(l, "user"), "%s", fault);
}

static void
check_pool_user(struct cnd_config *c, struct cnd_pool_config *p)
{
	const char *fault;

	if (*p->user == '\0')
		return;
	fault = find_user(p->user, &p->uid, &p->gid);
	if (fault != NULL)
		cnd_config_error(c, p->line, "pool %s: %s", p->name, fault);
}

/* Refuse a sandbox that the configuration demands and this system lacks. */
static void
check_sandbox(struct cnd_loader *l)
{
	const struct cnd_config *c = l->config;
	const struct {
		const char *key;
		int wanted;
		const char *lack;
	} parts[] = {
		{ "seccomp", c->seccomp, cnd_sandbox_lacks_seccomp() },
		{ "landlock", c->landlock, cnd_sandbox_lacks_landlock() },
	};

	for (size_t i = 0; i < N_ITEMS(parts); i++) {
		if (parts[i].wanted == CND_SWITCH_ON && parts[i].lack != NULL)
			cnd_config_error(l->config, cnd_loader_line_of(l, parts[i].key),
				"%s = on: %s", parts[i].key, parts[i].lack);
	}
}

static int
is_loopback(const struct cnd_listen *a)
{
	static const char *const networks[] = { "127.0.0.0/8", "::1/128" };
	struct cnd_network network;
	struct cnd_peer peer;
	int r = 0;

	if (cnd_peer_set(&peer, (const struct sockaddr *)&a->addr) < 0)
		return 0;
	for (size_t i = 0; i < N_ITEMS(networks); i++)
		r |= cnd_network_parse(networks[i], &network) == 0 &&
		     cnd_network_has(&network, &peer.addr);
	return r;
}

/* Statistics go to other machines only if the configuration says to which. */
static void
check_stats(struct cnd_loader *l)
{
	struct cnd_config *c = l->config;
	unsigned line = cnd_loader_line_of(l, "stats_listen");
	const char *lack = c->stats.n > 0 ? cnd_stats_lacks() : NULL;
	char text[CND_LISTEN_TEXT_MAX];

	if (lack != NULL)
		cnd_config_error(c, line, "stats_listen: %s", lack);
	for (size_t i = 0; i < c->stats.n; i++) {
		const struct cnd_listen *a = &c->stats.list[i];

		if (cnd_listen_is_in(&c->listens, a))
			cnd_config_error(c, line, "stats_listen: %s is also in listen",
				cnd_listen_text(a, text));
		if (c->stats_networks.n == 0 && !is_loopback(a))
			cnd_config_error(c, line,
				"stats_listen: other machines can reach %s; say in "
				"stats_allow which of them may, such as stats_allow = "
				"192.0.2.0/24",
				cnd_listen_text(a, text));
	}
}

static void
check_notify(struct cnd_loader *l)
{
	const char *notify = l->config->notify;
	unsigned line = cnd_loader_line_of(l, "notify");
	const char *lack;

	if (*notify == '\0')
		return;
	if (*notify != '/' && strncmp(notify, "https://", 8) != 0 &&
		strncmp(notify, "http://", 7) != 0) {
		cnd_config_error(l->config, line,
			"notify: write a command that begins with /, or a URL that "
			"begins with https:// or http://");
		return;
	}
	lack = cnd_alerts_lack(notify);
	if (lack != NULL)
		cnd_config_error(l->config, line, "notify: %s", lack);
}

static void
check_cenoted(struct cnd_loader *l)
{
	struct cnd_config *c = l->config;
	const struct group *gr;

	set_run_dir(c);
	check_user(l);
	check_sandbox(l);
	check_stats(l);
	check_notify(l);
	if (*c->run_dir != '/')
		cnd_config_error(c, cnd_loader_line_of(l, "run_dir"),
			*c->run_dir == '\0'
				? "set run_dir, since XDG_RUNTIME_DIR is not set; "
				  "programs find that directory by CENOTE_SERVER=unix:DIR"
				: "run_dir must begin with /");
	if (strcmp(c->log, "stderr") != 0 && strcmp(c->log, "syslog") != 0 &&
		*c->log != '/')
		cnd_config_error(c, cnd_loader_line_of(l, "log"),
			"\"%s\" is not a log; write stderr, syslog, or the path of a "
			"file, beginning with /",
			c->log);
	c->socket_gid = (gid_t)-1;
	if (*c->socket_group != '\0') {
		gr = getgrnam(c->socket_group);
		if (gr == NULL)
			cnd_config_error(c, cnd_loader_line_of(l, "socket_group"),
				"there is no unix group \"%s\"", c->socket_group);
		else
			c->socket_gid = gr->gr_gid;
	}
	if (c->socket_mode < 0)
		c->socket_mode = *c->socket_group != '\0' ? 0660 : 0700;
}

/* Read the map files of a pool's rules now, with the rights of the start. */
static void
load_maps(struct cnd_config *c, struct cnd_pool_config *p)
{
	for (size_t i = 0; i < p->rules.n; i++) {
		struct cnd_rule *rule = &p->rules.list[i];
		struct cnd_lines lines;

		if (rule->map_path == NULL)
			continue;
		if (cnd_lines_open(&lines, rule->map_path, CND_FILE_PUBLIC,
			    cnd_pool_config_account(c, p).uid) < 0 ||
			cnd_map_read(&rule->map, &lines) < 0)
			cnd_config_error(c, rule->line, "auth: map %s: %s",
				rule->map_path, lines.error);
		cnd_lines_close(&lines);
	}
}

/* Check the rules of a pool whose clients log in as themselves. All sessions of a pool log in either
 * as the pool or as their clients; clients must not be able to choose. */
static void
check_pass_through(struct cnd_config *c, struct cnd_pool_config *p)
{
	int has_keys = cnd_rules_have(&p->rules, CND_METHOD_SCRAM_PASS_THROUGH);
	int method = has_keys ? CND_METHOD_SCRAM_PASS_THROUGH : CND_METHOD_PASS_THROUGH;
	unsigned others = 0;

	if (!cnd_rules_have(&p->rules, (enum cnd_method)method))
		return;
	p->clients_login = has_keys ? CND_CLIENTS_KEYS : CND_CLIENTS_PASSWORD;
	for (size_t i = 0; i < p->rules.n; i++) {
		const struct cnd_rule *rule = &p->rules.list[i];

		if (rule->method != method && rule->method != CND_METHOD_REJECT)
			others = rule->line;
	}
	if (others > 0)
		cnd_config_error(c, others,
			"pool %s: besides %spass-through, auth can only have reject, "
			"since clients log in to the server as themselves",
			p->name, has_keys ? "scram-" : "");
	if (cn_crypto_get(CN_CRYPTO_ABI) == NULL)
		cnd_config_error(c, p->line,
			"pool %s: auth = pass-through: this build of cenoted has no "
			"OpenSSL",
			p->name);
}

static void
load_users(struct cnd_config *c, struct cnd_pool_config *p)
{
	const char *path = *p->users_path != '\0' ? p->users_path : c->users_path;
	struct cnd_lines lines;

	if (!cnd_rules_have(&p->rules, CND_METHOD_SCRAM) &&
		p->clients_login != CND_CLIENTS_KEYS)
		return;
	if (cn_crypto_get(CN_CRYPTO_ABI) == NULL)
		cnd_config_error(c, p->line,
			"pool %s: auth = scram-sha-256: this build of cenoted has no "
			"OpenSSL",
			p->name);
	if (*path == '\0') {
		cnd_config_error(c, p->line,
			"pool %s: auth has scram-sha-256, but users names no file",
			p->name);
		return;
	}
	if (cnd_lines_open(&lines, path, CND_FILE_SECRET,
		    cnd_pool_config_account(c, p).uid) < 0 ||
		cnd_users_read(&p->users, &lines) < 0)
		cnd_config_error(
			c, p->line, "pool %s: users %s: %s", p->name, path, lines.error);
	cnd_lines_close(&lines);
}

static void
check_auth(struct cnd_config *c, struct cnd_pool_config *p)
{
	char error[CND_RULES_ERROR_MAX];

	if (p->rules.n == 0 && cnd_rules_parse(&p->rules, "peer", 0, error) < 0)
		cnd_fatal("%s", error);
	if (p->auth_timeout_ms == 0)
		cnd_config_error(c, p->line,
			"pool %s: auth_timeout must not be 0: a login needs a time limit",
			p->name);
	check_pass_through(c, p);
	load_maps(c, p);
	load_users(c, p);
}

static void
check_pool(struct cnd_config *c, struct cnd_pool_config *p)
{
	struct cnd_respelling style = cnd_pool_config_style(p, p->backend);
	struct sockaddr_un address;

	check_pool_user(c, p);
	check_auth(c, p);
	cnd_config_settle_limits(p);

	if (strcmp(p->name, CND_ADMIN_NAME) == 0)
		cnd_config_error(c, p->line,
			"pool " CND_ADMIN_NAME
			": choose another name: run_dir/" CND_ADMIN_NAME
			".sock is the socket of cenotectl");
	if (*p->backend == '\0')
		cnd_config_error(
			c, p->line, "pool %s: the key backend is missing", p->name);
	if (p->n_servers == 0)
		cnd_config_error(
			c, p->line, "pool %s: a server line is missing", p->name);
	if (strlen(c->run_dir) + strlen("/.sock") + strlen(p->name) >=
		sizeof(address.sun_path))
		cnd_config_error(c, p->line,
			"pool %s: its socket's path in %s would be longer than %zu bytes",
			p->name, c->run_dir, sizeof(address.sun_path) - 1);
	if (cnd_respells(&style) && style.dialect == CNC_SQL_UNKNOWN &&
		*p->backend != '\0')
		cnd_config_error(c, p->line,
			"pool %s: program_sql and normalize need to know the server's "
			"SQL, and backend = %s may have any server",
			p->name, p->backend);
	cnd_tls_load(c, p);
	if (p->n_allow == 0 && !p->is_open) {
		p->allow = cnd_config_must(calloc(2, sizeof(*p->allow)));
		p->allow[p->n_allow++] = cnd_pool_config_account(c, p).uid;
		p->allow[p->n_allow++] = 0;
	}
}

void
cnd_pool_config_set_workers(struct cnd_config *c, struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	bool can_share = backend->can_share && p->clients_login == CND_CLIENTS_NONE;

	if (p->workers > 0 && !backend->can_share)
		cnd_config_error(c, p->line,
			"pool %s: workers: backend %s needs a process for each session",
			p->name, p->backend);
	else if (p->workers > 0 && !can_share)
		cnd_config_error(c, p->line,
			"pool %s: workers: clients log in to the server as themselves, "
			"so "
			"each session needs its own process",
			p->name);
	else if (p->workers > p->max_sessions)
		cnd_config_error(c, p->line,
			"pool %s: workers is %u, but the pool has at most %u sessions",
			p->name, p->workers, p->max_sessions);
	else if (p->workers == 0 && can_share && p->mode == CND_MODE_TRANSACTION)
		p->workers = (p->max_sessions + CND_SESSIONS_A_WORKER - 1) /
			     CND_SESSIONS_A_WORKER;
}

void
cnd_pool_config_check_strict(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	if (p->is_strict && p->mode != CND_MODE_TRANSACTION)
		cnd_config_error(c, p->line,
			"pool %s: strict = yes needs mode = transaction: in mode = "
			"session, a client keeps its session anyway",
			p->name);
	else if (p->is_strict && !backend->can_refuse_pins)
		cnd_config_error(c, p->line,
			"pool %s: strict: backend %s cannot tell beforehand what keeps a "
			"session",
			p->name, p->backend);
}

void
cnd_pool_config_check_digests(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	if (p->has_digests && backend->sql_rules == NULL)
		cnd_config_error(c, p->line,
			"pool %s: digests: backend %s does not know how its server reads "
			"SQL, so it cannot keep values out of the statistics",
			p->name, p->backend);
}

void
cnd_pool_config_check_read_only(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	if (p->is_read_only && backend->read_only == NULL)
		cnd_config_error(c, p->line,
			"pool %s: read_only: backend %s cannot make its server confirm "
			"that it does not write; give the pool a user of the database "
			"that may only read",
			p->name, p->backend);
	/* before a second run, cenoted does not check whether the session is read-only */
	if (p->is_read_only && p->replay > 0)
		cnd_config_error(c, p->line,
			"pool %s: read_only and replay cannot be used together", p->name);
}

void
cnd_pool_config_check_replay(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	if (p->replay > 0 && backend->undo == NULL)
		cnd_config_error(c, p->line,
			"pool %s: replay: backend %s cannot tell whether its server has "
			"undone a whole transaction",
			p->name, p->backend);
	if (p->replay > REPLAY_MAX)
		cnd_config_error(
			c, p->line, "pool %s: replay is at most %u", p->name, REPLAY_MAX);
}

/* A result that came from a replica may be older than what the pool has written to the primary. */
static void
check_cache(struct cnd_config *c, const struct cnd_pool_config *p)
{
	if (p->n_servers > 1 && p->target != CND_TARGET_PRIMARY)
		cnd_config_error(c, p->line,
			"pool %s: rule: -> cache needs one server line, or target = "
			"primary: the servers of several lines may differ",
			p->name);
}

void
cnd_pool_config_check_cache(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	if (!cnd_query_rules_cache(&p->query_rules))
		return;
	if (backend->router != NULL)
		cnd_config_error(c, p->line,
			"pool %s: rule: a router keeps no results; write -> cache in the "
			"pools of its targets",
			p->name);
	else
		check_cache(c, p);
}

void
cnd_pool_config_check_target(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	if (p->read_own_writes_ms > 0 && backend->position == NULL)
		cnd_config_error(c, p->line,
			"pool %s: read_own_writes: the servers of backend %s have no "
			"positions",
			p->name, p->backend);
	if (p->target == CND_TARGET_ANY)
		return;
	if (backend->role == NULL)
		cnd_config_error(c, p->line,
			"pool %s: target: the servers of backend %s have no roles",
			p->name, p->backend);
	if (p->check_interval_ms == 0)
		cnd_config_error(c, p->line,
			"pool %s: check_interval must not be 0: with target, the pool "
			"asks its servers for their roles at this interval",
			p->name);
}

struct cnd_respelling
cnd_pool_config_style(const struct cnd_pool_config *p, const char *kind)
{
	return (struct cnd_respelling){ .dialect = cnd_query_dialect(kind),
		.program = (uint8_t)p->program_sql,
		.normalizes = p->normalizes != 0 };
}

bool
cnd_pool_config_judges(const struct cnd_pool_config *p)
{
	struct cnd_respelling style = cnd_pool_config_style(p, p->backend);

	return p->query_rules.n > 0 || cnd_respells(&style);
}

const char *
cnd_pool_config_kind(const struct cnd_config *c, const struct cnd_pool_config *p)
{
	const struct cnd_pool_config *target;

	if (strcmp(p->backend, "router") != 0 || p->n_servers == 0 ||
		p->servers[0].n_options == 0)
		return p->backend;
	target = cnd_config_pool(c, p->servers[0].options[0].value);
	return target != NULL ? target->backend : p->backend;
}

/* Check the targets that are pools of this cenoted. None may be a router: two routers could wait for each other. */
static void
check_targets(struct cnd_config *c, const struct cnd_pool_config *p)
{
	const struct cnd_server_line *s = &p->servers[0];

	for (size_t i = 0; i < s->n_options; i++) {
		const struct cnd_option *o = &s->options[i];
		const struct cnd_pool_config *target = cnd_config_pool(c, o->value);

		if (strstr(o->value, "://") == NULL && target == NULL)
			cnd_config_error(c, s->line,
				"pool %s: target %s: there is no pool \"%s\"", p->name,
				o->key, o->value);
		else if (target != NULL && strcmp(target->backend, "router") == 0)
			cnd_config_error(c, s->line,
				"pool %s: target %s: pool %s is a router, too", p->name,
				o->key, o->value);
	}
}

/* Check the targets that rules name. */
static void
check_rule_targets(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	for (size_t i = 0; i < p->query_rules.n; i++) {
		const struct cnd_query_rule *rule = &p->query_rules.list[i];
		const struct cnd_server_spec spec = { .options = p->servers[0].options,
			.n_options = p->servers[0].n_options };

		if (rule->target == NULL)
			continue;
		if (backend->router == NULL)
			cnd_config_error(c, rule->line,
				"pool %s: rule: -> pool needs backend = router", p->name);
		else if (!backend->router->has_target(&spec, rule->target))
			cnd_config_error(c, rule->line,
				"pool %s: rule: the server line has no target \"%s\"",
				p->name, rule->target);
	}
}

void
cnd_pool_config_check_router(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	if (p->n_servers == 0)
		return;
	check_rule_targets(c, p, backend);
	if (backend->router == NULL)
		return;
	check_targets(c, p);
	if (p->n_servers > 1)
		cnd_config_error(c, p->servers[1].line,
			"pool %s: a router has one server line with all its targets",
			p->name);
	if (p->mode == CND_MODE_TRANSACTION)
		cnd_config_error(c, p->line,
			"pool %s: a router cannot have mode = transaction; "
			"its targets can",
			p->name);
}

void
cnd_pool_config_set_lend(struct cnd_pool_config *p, const struct cnd_backend *backend)
{
	if (p->lend == CND_LEND_OFF)
		return;
	if (backend->lend == NULL)
		p->no_lend = "its backend has no socket that can be lent";
	else if (p->mode != CND_MODE_SESSION)
		p->no_lend = "clients keep a session only in mode = session";
	else if (p->workers > 0)
		p->no_lend = "its sessions share processes (workers)";
	else if (p->clients_login != CND_CLIENTS_NONE)
		p->no_lend = "its clients log in to the server as themselves";
	else if (p->query_rules.n > 0)
		p->no_lend = "its rules judge each statement (rule)";
	else if (p->is_read_only)
		p->no_lend = "it judges each statement (read_only)";
	else if (cnd_pool_config_judges(p) || p->errors.n > 0)
		p->no_lend = "it changes statements or errors (program_sql, normalize, "
			     "on_error)";
	else if (p->replay > 0)
		p->no_lend = "it runs transactions again (replay)";
	else if (p->hours.n > 0)
		p->no_lend = "its clients may be in at some times only (allow_hours)";
	else if (p->session_start.n > 0 || p->session_end.n > 0)
		p->no_lend = "it runs SQL of its own (session_start, session_end)";
	else if (p->target != CND_TARGET_ANY)
		p->no_lend = "its sessions follow the role of their server (target)";
	else if (p->read_own_writes_ms > 0)
		p->no_lend = "its clients learn the position of their writes "
			     "(read_own_writes)";
}

void
cnd_config_check(struct cnd_loader *l)
{
	struct cnd_config *c = l->config;
	uint64_t sum = 0;

	check_cenoted(l);
	for (size_t i = 0; i < c->n_pools; i++) {
		check_pool(c, &c->pools[i]);
		sum += c->pools[i].max_sessions;
	}
	if (c->n_pools == 0)
		cnd_config_error(c, 0, "there is no [pool NAME] section");
	if (sum > c->max_sessions)
		cnd_config_error(c, cnd_loader_line_of(l, "max_sessions"),
			"the pools may have up to %llu sessions, but max_sessions is %u",
			(unsigned long long)sum, c->max_sessions);
}
