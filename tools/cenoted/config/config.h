/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CONFIG_H
#define CND_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "backends/backend.h"
#include "hooks.h"
#include "listen.h"
#include "auth/hours.h"
#include "auth/peer.h"
#include "auth/rules.h"
#include "auth/users.h"
#include "query/error_map.h"
#include "query/query_rules.h"
#include "query/respell.h"
#include "shared/units.h"

/* The configuration, read and checked. Nothing here has an effect; the master decides what to do
 * with it. Times are in milliseconds; 0 means none. */
/* cenoted warns of a certificate that ends within so many days. */
#define CND_DAYS_TO_RENEW     14
/* run_dir/admin.sock is the socket of cenotectl, so no pool has this name. */
#define CND_ADMIN_NAME        "admin"
#define CND_POOL_NAME_MAX     64u
#define CND_CONFIG_POOLS      256u
#define CND_SERVERS_MAX       64u
#define CND_LABEL_MAX         96u
/* How many sessions share a process if the configuration does not say. */
#define CND_SESSIONS_A_WORKER 16u

enum cnd_mode {
	CND_MODE_SESSION,
	CND_MODE_TRANSACTION
};

enum cnd_lend {
	CND_LEND_OFF,
	CND_LEND_AUTO
};

/* Which servers a pool uses, by the role that each server reports. */
enum cnd_target {
	CND_TARGET_ANY, /* no server is asked */
	CND_TARGET_PRIMARY,
	CND_TARGET_REPLICA,
	CND_TARGET_PREFER_REPLICA /* a primary only if there is no replica */
};

/* Auto: use the feature if the system has it. On: cenoted fails without it. Off: do not use it. */
enum cnd_switch {
	CND_SWITCH_AUTO,
	CND_SWITCH_ON,
	CND_SWITCH_OFF
};

/* How a session is reset for the next client. */
enum cnd_reset {
	CND_RESET_SERVER, /* the backend's way */
	CND_RESET_RECONNECT /* log out and in again */
};

/* The first four are names of files. */
enum cnd_tls_setting {
	CND_TLS_CERT,
	CND_TLS_KEY,
	CND_TLS_CA,
	CND_TLS_CRL,
	CND_TLS_FILES,
	CND_TLS_MIN_VERSION = CND_TLS_FILES,
	CND_TLS_CIPHERS,
	CND_TLS_GROUPS,
	CND_TLS_CLIENT_CERT,
	CND_TLS_SETTINGS
};

struct cnd_tls_config {
	char *settings
		[CND_TLS_SETTINGS]; /* as written; the pool inherits those that it does not set */
	char *texts[CND_TLS_FILES]; /* the content of the files; NULL: none */
	char expires
		[32]; /* the date on which the certificate ends; "": there is no certificate */
	int days_left; /* whole days until that date; negative: it has expired */
};

/* One `server` line. */
struct cnd_server_line {
	unsigned line;
	struct cnd_option *options; /* it owns its texts */
	size_t n_options;
	uint32_t weight; /* its share of the sessions, relative to the other lines */
};

/* A line of `user_limits`. */
struct cnd_user_limits {
	char *user; /* CND_ANY_USER: every user without a line of its own */
	uid_t uid; /* of the unix user with this name; CND_NO_UID: there is none */
	int64_t query_timeout_ms; /* 0: none; -1: the pool's */
	uint32_t sessions; /* how many the user may have at a time; 0: no limit */
	uint32_t
		waiting; /* how many of its clients may wait for a session; 0: no limit */
	bool is_high; /* priority=high */
};

/* `address_limits`: the limits of each address from which TCP clients connect. 0: no limit. */
struct cnd_address_limits {
	uint32_t sessions;
	uint32_t waiting;
};

#define CND_NO_UID ((uid_t)-1)

#define CND_ANY_USER        "*"
#define CND_USER_LIMITS_MAX 64u

struct cnd_pool_config {
	char *name;
	unsigned line; /* of the section */
	char *user; /* "": the user of [cenoted] */
	uid_t uid; /* valid if `user` is not "" */
	gid_t gid;
	char *backend;
	struct cnd_server_line *servers;
	size_t n_servers;
	uint32_t min_sessions;
	uint32_t max_sessions;
	uint32_t
		workers; /* processes that share the sessions; 0: a process for each session */
	int64_t idle_ttl_ms;
	int64_t queue_timeout_ms;
	int64_t idle_client_timeout_ms;
	int64_t idle_transaction_timeout_ms;
	int64_t session_timeout_ms;
	int64_t pin_warning_ms;
	int64_t pin_timeout_ms;
	int64_t query_timeout_ms;
	int64_t log_min_duration_ms; /* of a request that is logged; 0: none is */
	int64_t suspend_timeout_ms;
	int64_t login_timeout_ms;
	int64_t rebalance_ms;
	struct cnd_rate login_rate; /* how often the pool logs in to one server line */
	struct cnd_user_limits *user_limits;
	size_t n_user_limits;
	struct cnd_address_limits address_limits;
	uint32_t max_waiting; /* 0: no limit */
	uint64_t cache_size; /* memory for the results that rules keep */
	uint32_t replay; /* how often a transaction may run again; 0: never */
	bool counts_sessions; /* user_limits or address_limits limit sessions */
	bool knows_unix_users; /* each client of the unix socket can log in only as its unix user */
	int target; /* enum cnd_target */
	int64_t max_lag_ms; /* of a replica */
	int64_t check_interval_ms; /* how often one session of each line asks for the role of its server */
	int64_t read_own_writes_ms; /* how long a client waits until a server has what it wrote; 0: it does not */
	int64_t failover_hold_ms; /* how long clients wait if no server has the wanted role */
	int64_t max_lifetime_ms; /* of a session */
	uint64_t max_frame;
	uint64_t max_row;
	int mode; /* enum cnd_mode */
	int is_strict; /* refuse statements that would pin a session */
	int is_read_only; /* no transaction may write */
	int has_digests; /* keep statistics of statements */
	int lend; /* enum cnd_lend */
	const char *no_lend; /* why it lends nothing in spite of `lend`; NULL: it can */
	int reset; /* enum cnd_reset */
	char *allow_users; /* as written; "": the default */
	uid_t *allow;
	size_t n_allow;
	int is_open; /* allow_users = * */
	struct cnd_networks networks; /* where TCP clients may come from */
	struct cnd_hours hours; /* when users may be in, from `allow_hours` */
	struct cnd_rules rules; /* from `auth` */
	struct cnd_query_rules query_rules; /* from `rule` */
	struct cnd_error_maps errors; /* from `on_error` */
	int program_sql; /* enum cnd_program_sql */
	int normalizes; /* write statements in one line */
	struct cnd_hooks session_start,
		session_end; /* SQL that the pool runs on its sessions */
	char *users_path; /* "": the file of [cenoted] */
	struct cnd_users users; /* its content, if a rule needs it */
	int64_t auth_timeout_ms;
	int64_t credential_ttl_ms;
	int clients_login; /* enum cnd_clients_login, from `auth` */
	struct cnd_tls_config tls;
};

struct cnd_config {
	char *path;
	char *user; /* "": none */
	char *run_dir;
	char *backend_dir; /* "": the usual places */
	char *log;
	char *pid_file; /* "": none */
	char *socket_group; /* "": none */
	char *users_path; /* "": none */
	char *notify; /* a command that begins with /, or a URL; "": none */
	int log_format; /* enum cnd_log_format */
	int log_level;
	struct cnd_tls_config tls; /* inherited by pools */
	int socket_mode; /* -1: depends on socket_group */
	int64_t drain_timeout_ms;
	int64_t tcp_keepalive_ms;
	int seccomp; /* enum cnd_switch, like the next one */
	int landlock;
	int core_dumps; /* 1: allowed */
	struct cnd_listens listens;
	struct cnd_listens stats; /* where statistics are served */
	struct cnd_networks stats_networks; /* who may read them */
	uint32_t max_sessions;
	uid_t uid; /* of the door, and of workers and helpers whose pool has no user */
	gid_t gid;
	gid_t socket_gid; /* -1: unchanged */
	struct cnd_pool_config *pools;
	size_t n_pools;
	char **errors; /* "file:line: what" */
	size_t n_errors;
};

/* The user that a process becomes. */
struct cnd_account {
	const char *user; /* borrowed */
	uid_t uid;
	gid_t gid;
};

/* Read and check the file. Always returns a configuration; use it only if n_errors is 0. Every
 * error is in it, not only the first. */
struct cnd_config *cnd_config_load(const char *path);
/* Wipes everything that may be secret. Takes NULL. */
void cnd_config_destroy(struct cnd_config *c);
/* Add an error that a later check found. */
void cnd_config_error(struct cnd_config *c, unsigned line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Call `warn` for each setting that is allowed but probably a mistake: "FILE:LINE: text". */
void cnd_config_warn(const struct cnd_config *c, void (*warn)(const char *text));

/* Print the configuration in force, in a form that can be read back. Secrets are masked. */
void cnd_config_print(const struct cnd_config *c, FILE *out);
/* Whether two pools are equal except for their line numbers. */
int cnd_pool_config_is_equal(
	const struct cnd_pool_config *a, const struct cnd_pool_config *b);
/* Overwrite and forget the server lines: for processes that do not need them. */
void cnd_pool_config_forget_servers(struct cnd_pool_config *p);
/* Overwrite and forget the server lines, users and TLS keys of all pools except this one (NULL: of
 * all). */
void cnd_pool_configs_forget(
	const struct cnd_config *c, const struct cnd_pool_config *but);
/* The value of a key; NULL: the line does not have it. */
const char *cnd_server_option(const struct cnd_server_line *s, const char *key);
/* Whether the pool must see each statement before the server gets it. */
bool cnd_pool_config_judges(const struct cnd_pool_config *p);
/* How the pool writes the statements of its clients anew. kind: the name of the server's backend. */
struct cnd_respelling cnd_pool_config_style(
	const struct cnd_pool_config *p, const char *kind);
/* A short name for a server line in messages: its host, port, path …; without secrets. */
void cnd_server_label(const struct cnd_server_line *s, char text[CND_LABEL_MAX]);
/* The user that a pool's workers and helpers become. */
struct cnd_account cnd_pool_config_account(
	const struct cnd_config *c, const struct cnd_pool_config *p);
/*
 * Check `workers`, and set it if the file does not: a pool in mode transaction whose sessions can share
 * processes gets one for CND_SESSIONS_A_WORKER of them. backend: that of the pool.
 */
void cnd_pool_config_set_workers(struct cnd_config *c, struct cnd_pool_config *p,
	const struct cnd_backend *backend);
/* Check `strict`. backend: that of the pool. */
void cnd_pool_config_check_strict(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend);
/* Check `digests`. backend: that of the pool. */
void cnd_pool_config_check_digests(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend);
/* Check `read_only`. backend: that of the pool. */
void cnd_pool_config_check_read_only(struct cnd_config *c,
	const struct cnd_pool_config *p, const struct cnd_backend *backend);
/* Check the rules with -> cache. backend: that of the pool. */
void cnd_pool_config_check_cache(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend);
/* Check `replay`. backend: that of the pool. */
void cnd_pool_config_check_replay(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend);
/* Check the rules and the mode of a router, and that other pools have no targets in their rules. backend: that of the pool. */
void cnd_pool_config_check_router(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend);
/* The name of the pool's backend. For a router, it is that of the default target's backend, if this cenoted has that pool. */
const char *cnd_pool_config_kind(
	const struct cnd_config *c, const struct cnd_pool_config *p);
/* Check `target`, and the keys that need it. backend: that of the pool. */
void cnd_pool_config_check_target(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend);
/* Find out whether the pool can lend its sessions. */
void cnd_pool_config_set_lend(
	struct cnd_pool_config *p, const struct cnd_backend *backend);
/* The pool of this name; NULL: there is none. */
const struct cnd_pool_config *cnd_config_pool(
	const struct cnd_config *c, const char *name);
int cnd_pool_config_allows(const struct cnd_pool_config *p, uid_t uid);
/* The limits of this user, from its own line of user_limits, or else from the line for any user. NULL: the pool has neither line. */
const struct cnd_user_limits *cnd_pool_config_user(
	const struct cnd_pool_config *p, const char *user);
/* The same for a client of the unix socket that has not logged in yet. Also NULL if only the login shows which user it is. */
const struct cnd_user_limits *cnd_pool_config_uid(
	const struct cnd_pool_config *p, uid_t uid);

#endif
