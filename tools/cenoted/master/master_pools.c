/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pools that the master has open: opens them at the start, and changes them at a reload. A reload
 * opens new pools and sockets first, so that a failure changes nothing. master.c calls this file.
 */
#include "master_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shared/ipc.h"
#include "shared/log.h"
#include "notify.h"
#include "shared/place.h"

static void
publish_user(struct cnd_user_head *head, const struct cnd_user_limits *u)
{
	atomic_store(&head->is_high, u != NULL && u->is_high);
	atomic_store(&head->sessions, u != NULL ? u->sessions : 0);
	atomic_store(&head->waiting, u != NULL ? u->waiting : 0);
	atomic_store(&head->uid, u != NULL ? u->uid : CND_NO_UID);
}

/* Users that are no unix users are left out: the door cannot know them. */
static void
publish_users(struct cnd_pool_head *head, const struct cnd_pool_config *c)
{
	uint32_t n = 0;

	for (size_t i = 0; i < c->n_user_limits && c->knows_unix_users; i++) {
		if (c->user_limits[i].uid != CND_NO_UID)
			publish_user(&head->users[n++], &c->user_limits[i]);
	}
	publish_user(&head->users[n],
		c->knows_unix_users ? cnd_pool_config_user(c, CND_ANY_USER) : NULL);
	atomic_store(&head->n_users, n);
}

/* The numbers of a line that has another user now begin anew. */
static void
publish_user_names(struct cnd_pool *p)
{
	struct cnd_pool_head *head = cnd_master_head(p);

	for (size_t i = 0; i < CND_USER_LIMITS_MAX; i++) {
		const char *name = i < p->config->n_user_limits
					   ? p->config->user_limits[i].user
					   : "";
		char *published = head->user_names[i];

		if (strncmp(published, name, sizeof(head->user_names[i]) - 1) == 0)
			continue;
		cnd_buckets_reset(&cnd_master_record(p)->user_requests[i]);
		snprintf(published, sizeof(head->user_names[i]), "%s", name);
	}
}

#define DAY_S 86400

/* When the configuration was read just now, the certificate had so many whole days left. So this is too early by up to a day. */
static int64_t
certificate_end(const struct cnd_tls_config *t)
{
	return *t->expires != '\0' ? (int64_t)time(NULL) + (int64_t)t->days_left * DAY_S
				   : 0;
}

/* A process that reads the text at this moment may get a mixture of the old text and the new one. It always finds a zero byte
 * at the end. */
static void
publish_rule(struct cnd_rule_head *head, const struct cnd_query_rule *rule)
{
	snprintf(head->text, sizeof(head->text), "%s", rule->text);
	atomic_store(&head->line, rule->line);
	atomic_store(&head->action, rule->action);
	atomic_store(&head->is_dry_run, rule->is_dry_run);
}

/* If the rule is new at its index, its count begins at 0. */
static void
publish_rules(struct cnd_pool *p)
{
	struct cnd_pool_head *head = cnd_master_head(p);
	const struct cnd_query_rules *rules = &p->config->query_rules;

	for (size_t i = 0; i < rules->n; i++) {
		uint64_t key = rules->list[i].key;

		if (i >= head->n_rules || head->rules[i].key != key)
			atomic_store(&cnd_master_record(p)->rule_decisions[i], 0);
		atomic_store(&head->rules[i].key, key);
		publish_rule(&head->rules[i], &rules->list[i]);
	}
	atomic_store(&head->n_rules, (uint32_t)rules->n);
}

static void
publish_pool(struct cnd_pool *p)
{
	struct cnd_pool_head *head = cnd_master_head(p);
	const struct cnd_pool_config *c = p->config;

	atomic_store(&head->min_sessions, c->min_sessions);
	atomic_store(&head->max_sessions, c->max_sessions);
	atomic_store(&head->queue_timeout_ms, c->queue_timeout_ms);
	atomic_store(&head->failover_hold_ms,
		c->target != CND_TARGET_ANY ? c->failover_hold_ms : 0);
	atomic_store(&head->target, (uint32_t)c->target);
	atomic_store(&head->mode, (uint32_t)c->mode);
	atomic_store(&head->n_servers, (uint32_t)c->n_servers);
	atomic_store(&head->max_waiting, c->max_waiting);
	atomic_store(&head->address_sessions, c->address_limits.sessions);
	atomic_store(&head->address_waiting, c->address_limits.waiting);
	atomic_store(&head->certificate_end_s, certificate_end(&c->tls));
	publish_users(head, c);
	publish_user_names(p);
	publish_rules(p);
	atomic_fetch_add(&head->version, 1);
	snprintf(head->name, sizeof(head->name), "%s", c->name);
	snprintf(head->backend, sizeof(head->backend), "%s", c->backend);
}

/* TLS sessions of a changed pool can still be resumed; a pool without TLS has no ticket keys. */
static void
keep_tickets(struct cnd_pool *p)
{
	if (cnd_tls_is_on(&p->config->tls))
		cnd_tls_tickets_create(&p->tickets, cnd_now_ms());
	else
		cnd_tls_tickets_destroy(&p->tickets);
}

/*
 * Make the memory of the pool's cache. A reload keeps it, with its size: workers of the former configuration still count their
 * writes there. Without the memory, the pool keeps no results.
 */
static void
keep_cache(struct cnd_pool *p)
{
	bool has_cache = cnd_query_rules_cache(&p->config->query_rules);

	if (has_cache && p->cache.head == NULL &&
		cnd_cache_create(&p->cache, p->config->cache_size) < 0)
		cnd_log(LOG_ERR, "pool %s: no memory for its cache: %s", p->name,
			strerror(errno));
	else if (has_cache && p->cache.size != p->config->cache_size)
		cnd_log(LOG_WARNING, "pool %s: a change of cache_size needs a restart",
			p->name);
	atomic_store(&cnd_master_head(p)->cache_size, has_cache ? p->cache.size : 0);
}

static struct cnd_pool *
find_pool(const char *name)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (cnd_the_master.pools[i].config != NULL &&
			strcmp(cnd_the_master.pools[i].name, name) == 0)
			return &cnd_the_master.pools[i];
	}
	return NULL;
}

/* Find a record that no pool uses, not even a removed one that still has workers. */
static struct cnd_pool *
free_pool(void)
{
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		if (!cnd_the_master.pools[i].is_used)
			return &cnd_the_master.pools[i];
	}
	return NULL;
}

struct cnd_pool *
cnd_pools_open(const struct cnd_config *c, const struct cnd_pool_config *pc,
	cnd_await_address *await)
{
	struct cnd_pool *p = free_pool();
	uint32_t index;

	if (p == NULL) {
		cnd_log(LOG_ERR, "pool %s: too many pools", pc->name);
		return NULL;
	}
	index = (uint32_t)(p - cnd_the_master.pools);
	*p = (struct cnd_pool){ .index = index };
	snprintf(p->name, sizeof(p->name), "%s", pc->name);
	if (cnd_pool_open(p, c, pc, await) < 0)
		return NULL;
	p->is_used = 1;
	return p;
}

void
cnd_pools_begin(
	struct cnd_pool *p, struct cnd_pool_config *pc, const struct cnd_backend *backend)
{
	struct cnd_pool_record *record = cnd_master_record(p);

	p->config = pc;
	p->backend = backend;
	atomic_store(&cnd_master_head(p)->live, 0);
	atomic_store(&cnd_master_head(p)->is_paused, 0);
	atomic_store(&cnd_master_head(p)->is_left, 0);
	keep_tickets(p);
	keep_cache(p);
	record->cache = (struct cnd_cache_counts){ .hits = 0 };
	atomic_store(&record->leaving, 0);
	atomic_store(&record->unproven, 0);
	atomic_store(&record->held, 0);
	atomic_store(&record->attaches, 0);
	atomic_store(&record->requests, 0);
	atomic_store(&record->errors, 0);
	atomic_store(&record->yields, 0);
	atomic_store(&record->relogins, 0);
	atomic_store(&record->failed_logins, 0);
	atomic_store(&record->refused_logins, 0);
	atomic_store(&record->queued, 0);
	atomic_store(&record->timeouts, 0);
	for (size_t i = 0; i < CND_PINS; i++)
		atomic_store(&record->pins[i], 0);
	cnd_histogram_reset(&record->request_time);
	cnd_histogram_reset(&record->waiting_time);
	cnd_histogram_reset(&record->session_time);
	cnd_histogram_reset(&record->login_time);
	cnd_digests_clear(&record->digests);
	atomic_store(&record->contended_ms, INT32_MIN);
	for (size_t i = 0; i < CND_SERVERS_MAX; i++) {
		atomic_store(&record->line_sessions[i], 0);
		atomic_store(&record->line_failed_ms[i], 0);
		atomic_store(&record->line_back_ms[i], 0);
		atomic_store(&record->line_logins_us[i], 0);
		atomic_store(&record->line_reads[i], 0);
		if (i < pc->n_servers) {
			cnd_buckets_reset(&record->line_requests[i]);
			cnd_buckets_reset(&record->line_logins[i]);
		}
		atomic_store(&record->line_role[i], CND_ROLE_UNKNOWN);
		atomic_store(&record->line_suits[i], 0);
		atomic_store(&record->line_lag_ms[i], CND_LAG_UNKNOWN);
		atomic_store(&record->line_asked_ms[i], 0);
	}
	/* so publish_pool() resets the counts of rules, and the times of users */
	atomic_store(&cnd_master_head(p)->n_rules, 0);
	memset(cnd_master_head(p)->user_names, 0, sizeof(cnd_master_head(p)->user_names));
	atomic_store(&record->served_ms, cnd_now_ms());
	publish_pool(p);
	atomic_store(&cnd_master_head(p)->is_used, 1);
}

static void
tell_door(uint32_t kind, const struct cnd_pool *p)
{
	struct cnd_ipc m = { .kind = kind, .index = p->index };

	if (kind == CND_IPC_POOL) {
		m.n_fds = 3;
		m.fds[0] = p->listen_fd;
		m.fds[1] = p->queue[0];
		m.fds[2] = p->wake_fd;
	}
	if (kind == CND_IPC_POOL || kind == CND_IPC_NETWORKS) {
		m.n_bytes = sizeof(p->config->networks);
		memcpy(m.bytes, &p->config->networks, m.n_bytes);
	}
	if (cnd_the_master.door > 0 && cnd_ipc_send(cnd_the_master.control[0], &m) < 0)
		cnd_log(LOG_ERR, "the door does not read its messages");
}

void
cnd_pools_unlink(void)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (cnd_the_master.pools[i].config != NULL)
			cnd_pool_unlink(&cnd_the_master.pools[i]);
	}
	if (cnd_place_is(cnd_the_master.config->pid_file, cnd_the_master.pid_file))
		unlink(cnd_the_master.config->pid_file);
}

void
cnd_pools_set_paused(struct cnd_pool *p, uint32_t is_paused)
{
	if (atomic_exchange(&cnd_master_head(p)->is_paused, is_paused) == is_paused)
		return;
	cnd_log(LOG_NOTICE, "pool %s was %s", p->name, is_paused ? "paused" : "resumed");
	cnd_children_nudge_pool(p->index);
	if (!is_paused)
		cnd_children_grow(p);
}

void
cnd_pools_resume_all(void)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (cnd_the_master.pools[i].config != NULL)
			cnd_pools_set_paused(&cnd_the_master.pools[i], 0);
	}
}

void
cnd_pools_leave(void)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		struct cnd_pool *p = &cnd_the_master.pools[i];

		if (p->config == NULL)
			continue;
		p->is_inherited = 1;
		atomic_store(&cnd_master_head(p)->is_left, 1);
		/* after this message, the door looks whether it may accept */
		tell_door(CND_IPC_NETWORKS, p);
	}
}

/* ---- reloading ---- */

/* Warn about changes that need a restart, so that nobody believes they are in force. */
static void
warn_of_unchanged(const struct cnd_config *new)
{
	const struct cnd_config *old = cnd_the_master.config;
	const struct {
		const char *key;
		int is_changed;
	} keys[] = {
		{ "run_dir", strcmp(old->run_dir, new->run_dir) != 0 },
		{ "user", strcmp(old->user, new->user) != 0 },
		{ "max_sessions", old->max_sessions != new->max_sessions },
		{ "pid_file", strcmp(old->pid_file, new->pid_file) != 0 },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i].is_changed)
			cnd_log(LOG_WARNING, "a change of %s needs a restart",
				keys[i].key);
	}
}

static void
remove_pool(struct cnd_pool *p)
{
	cnd_log(LOG_NOTICE, "pool %s was removed", p->name);
	cnd_pool_unlink(p);
	tell_door(CND_IPC_POOL_GONE, p);
	p->config = NULL;
	atomic_store(&cnd_master_head(p)->is_paused, 0);
	atomic_store(&cnd_master_head(p)->min_sessions, 0);
	atomic_store(&cnd_master_head(p)->max_sessions, 0);
	/* serve the clients that connected before the socket's name was removed */
	cnd_children_order_pool(p->index, CND_ORDER_DRAIN);
	cnd_master_forget_pool(p);
}

static void
change_pool(
	struct cnd_pool *p, struct cnd_pool_config *pc, const struct cnd_backend *backend)
{
	cnd_log(LOG_NOTICE, "pool %s was changed", p->name);
	p->config = pc;
	p->backend = backend;
	p->fork_again_ms = 0;
	keep_tickets(p);
	keep_cache(p);
	publish_pool(p);
	tell_door(CND_IPC_NETWORKS, p);
	cnd_children_order_pool(p->index, CND_ORDER_RELOAD);
}

/* A socket that has lost its name cannot get it back: the pool must be opened again. */
static int
is_reachable(const char *name)
{
	const struct cnd_pool *p = find_pool(name);

	if (p == NULL || cnd_pool_has_socket(p))
		return p != NULL;
	cnd_log(LOG_WARNING, "%s is gone", p->address.sun_path);
	return 0;
}

/* Open the new pools first: if that fails, nothing has changed yet. 0 or -1. */
static int
open_new_pools(const struct cnd_config *c, struct cnd_pool **opened)
{
	for (size_t i = 0; i < c->n_pools; i++) {
		opened[i] = NULL;
		if (is_reachable(c->pools[i].name))
			continue;
		opened[i] = cnd_pools_open(c, &c->pools[i], NULL);
		if (opened[i] != NULL)
			continue;
		while (i-- > 0) {
			if (opened[i] == NULL)
				continue;
			cnd_pool_unlink(opened[i]);
			cnd_master_forget_pool(opened[i]);
		}
		return -1;
	}
	return 0;
}

static void
adopt_log(const struct cnd_config *c)
{
	int r = cnd_log_open(c->log);

	if (r < 0)
		cnd_log(LOG_ERR, "log %s: %s", c->log, cnd_place_error(-r));
	cnd_log_set_format((enum cnd_log_format)c->log_format);
	cnd_log_set_level(c->log_level);
}

/* Start the pool `p`, whose sockets are open. `old` has the same name and has lost its socket; NULL:
 * there is no such pool. */
static void
adopt_opened(struct cnd_pool *p, struct cnd_pool *old, struct cnd_pool_config *pc,
	const struct cnd_backend *backend)
{
	uint32_t is_paused = old != NULL && cnd_master_head(old)->is_paused;

	if (old != NULL)
		remove_pool(old);
	cnd_log(LOG_NOTICE, "pool %s was added", p->name);
	cnd_pools_begin(p, pc, backend);
	atomic_store(&cnd_master_head(p)->is_paused, is_paused);
	tell_door(CND_IPC_POOL, p);
}

static void
adopt_pools(struct cnd_config *c, const struct cnd_backend **backends,
	struct cnd_pool **opened)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (cnd_the_master.pools[i].config != NULL &&
			cnd_config_pool(c, cnd_the_master.pools[i].name) == NULL)
			remove_pool(&cnd_the_master.pools[i]);
	}
	for (size_t i = 0; i < c->n_pools; i++) {
		struct cnd_pool *p = find_pool(c->pools[i].name);

		if (opened[i] != NULL) {
			adopt_opened(opened[i], p, &c->pools[i], backends[i]);
		} else if (p != NULL) {
			if (!cnd_pool_config_is_equal(p->config, &c->pools[i]))
				change_pool(p, &c->pools[i], backends[i]);
			p->config = &c->pools[i];
			/* the rules may stand in other lines of the file */
			publish_rules(p);
			(void)cnd_pool_set_owner(p, c, p->config);
		}
	}
}

/* Run directory, user and the size of the scoreboard stay as they were at the start. */
static void
keep_fixed(struct cnd_config *c)
{
	char *swap = c->run_dir;

	c->run_dir = cnd_the_master.config->run_dir;
	cnd_the_master.config->run_dir = swap;
	swap = c->user;
	c->user = cnd_the_master.config->user;
	cnd_the_master.config->user = swap;
	swap = c->pid_file;
	c->pid_file = cnd_the_master.config->pid_file;
	cnd_the_master.config->pid_file = swap;
	c->uid = cnd_the_master.config->uid;
	c->gid = cnd_the_master.config->gid;
	c->max_sessions = cnd_the_master.config->max_sessions;
}

/* Open the addresses that are new. 0; or -1, logged: none is left open then. */
static int
prepare_listeners(const struct cnd_config *c, struct cnd_listeners *ret_new,
	struct cnd_listeners *ret_new_stats)
{
	cnd_listeners_init(ret_new_stats);
	if (cnd_listeners_prepare(
		    "listen", &cnd_the_master.listeners, &c->listens, NULL, ret_new) < 0)
		return -1;
	if (cnd_listeners_prepare("stats_listen", &cnd_the_master.stats_listeners,
		    &c->stats, NULL, ret_new_stats) == 0)
		return 0;
	cnd_listeners_close(ret_new);
	return -1;
}

static void
adopt_listeners(const struct cnd_config *c, const struct cnd_listeners *new,
	const struct cnd_listeners *new_stats)
{
	cnd_listeners_adopt(&cnd_the_master.listeners, &c->listens, new,
		cnd_the_master.door > 0 ? cnd_the_master.control[0] : -1);
	cnd_listeners_adopt(&cnd_the_master.stats_listeners, &c->stats, new_stats, -1);
	/* the next ones have the new configuration */
	cnd_children_end_services();
	cnd_scoreboard_set_timed(cnd_the_master.child.board, c->stats.n > 0);
}

int
cnd_pools_reload(void)
{
	static const struct cnd_backend *backends[CND_CONFIG_POOLS];
	static struct cnd_pool *opened[CND_CONFIG_POOLS];
	struct cnd_listeners new, new_stats;
	struct cnd_config *c = cnd_config_load(cnd_the_master.config->path);

	cnd_notify_reloading();
	if (c->n_errors == 0)
		cnd_pool_check_backends(c, backends);
	for (size_t i = 0; i < c->n_errors; i++)
		cnd_log(LOG_ERR, "%s", c->errors[i]);
	if (c->n_errors > 0)
		cnd_log(LOG_ERR, "the configuration stays as it was");
	else
		warn_of_unchanged(c);
	if (c->n_errors > 0) {
		cnd_config_destroy(c);
		cnd_notify("READY=1");
		return -1;
	}
	keep_fixed(c);
	if (prepare_listeners(c, &new, &new_stats) < 0 || open_new_pools(c, opened) < 0) {
		cnd_listeners_close(&new);
		cnd_listeners_close(&new_stats);
		cnd_log(LOG_ERR, "the configuration stays as it was");
		/* swap these settings back */
		keep_fixed(c);
		cnd_config_destroy(c);
		cnd_notify("READY=1");
		return -1;
	}
	adopt_log(c);
	adopt_pools(c, backends, opened);
	adopt_listeners(c, &new, &new_stats);
	cnd_config_destroy(cnd_the_master.config);
	cnd_the_master.config = c;
	cnd_the_master.child.config = c;
	cnd_master_keep_pid_file();
	cnd_admin_keep();
	cnd_log(LOG_NOTICE, "reloaded %s", c->path);
	cnd_config_warn(c, cnd_log_warning);
	cnd_notify("READY=1");
	return 0;
}
