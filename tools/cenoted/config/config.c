/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration file: the tables of its keys, reading it line by line with inih, and printing and
 * comparing the result. The master reads it at its start and at a reload; cenoted --check and
 * --explain-auth also read it. A configuration owns all its texts.
 */
#include "config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "shared/log.h"
#include "shared/tls.h"
#include "shared/units.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* Longest line that inih reads itself (its own limit is 199). A longer value is kept here, and inih
 * gets a mark in its place. */
#define SHORT_LINE 150
#define FILE_MAX   ((size_t)1 << 20)
#define LONG_MARK  '\001'

/* ---- the tables of keys ---- */

#define C(member) offsetof(struct cnd_config, member)
#define P(member) offsetof(struct cnd_pool_config, member)

/* TLS: a pool inherits what it does not set from [cenoted]. */
#define TLS_KEYS(AT, MIN_VERSION, CLIENT_CERT, NONE)                                     \
	{ "tls_cert", AT(tls.settings[CND_TLS_CERT]), &cnd_kind_text, NONE, 0 },         \
		{ "tls_key", AT(tls.settings[CND_TLS_KEY]), &cnd_kind_text, NONE, 0 },   \
		{ "tls_ca", AT(tls.settings[CND_TLS_CA]), &cnd_kind_text, NONE, 0 },     \
		{ "tls_crl", AT(tls.settings[CND_TLS_CRL]), &cnd_kind_text, NONE, 0 },   \
		{ "tls_min_version", AT(tls.settings[CND_TLS_MIN_VERSION]),              \
			&cnd_kind_text, MIN_VERSION, 0 },                                \
		{ "tls_ciphers", AT(tls.settings[CND_TLS_CIPHERS]), &cnd_kind_text,      \
			NONE, 0 },                                                       \
		{ "tls_groups", AT(tls.settings[CND_TLS_GROUPS]), &cnd_kind_text, NONE,  \
			0 },                                                             \
	{                                                                                \
		"tls_client_cert", AT(tls.settings[CND_TLS_CLIENT_CERT]),                \
			&cnd_kind_text, CLIENT_CERT, 0                                   \
	}

static const struct cnd_key cenoted_keys[] = {
	{ "user", C(user), &cnd_kind_text, "", 0 },
	{ "run_dir", C(run_dir), &cnd_kind_text, "", 0 },
	{ "backend_dir", C(backend_dir), &cnd_kind_text, "", 0 },
	{ "log", C(log), &cnd_kind_text, "stderr", 0 },
	{ "log_format", C(log_format), &cnd_kind_log_format, "text", 0 },
	{ "log_level", C(log_level), &cnd_kind_level, "info", 0 },
	{ "pid_file", C(pid_file), &cnd_kind_text, "", 0 },
	{ "max_sessions", C(max_sessions), &cnd_kind_slots, "1024", 0 },
	{ "users", C(users_path), &cnd_kind_text, "", 0 },
	{ "notify", C(notify), &cnd_kind_notify, "", 0 },
	{ "drain_timeout", C(drain_timeout_ms), &cnd_kind_ms, "30s", 0 },
	{ "listen", C(listens), &cnd_kind_listen, NULL, 1 },
	{ "stats_listen", C(stats), &cnd_kind_stats_listen, NULL, 1 },
	{ "stats_allow", C(stats_networks), &cnd_kind_allow, NULL, 0 },
	{ "tcp_keepalive", C(tcp_keepalive_ms), &cnd_kind_ms, "60s", 0 },
	{ "seccomp", C(seccomp), &cnd_kind_switch, "auto", 0 },
	{ "landlock", C(landlock), &cnd_kind_switch, "auto", 0 },
	{ "core_dumps", C(core_dumps), &cnd_kind_yes, "no", 0 },
	{ "socket_group", C(socket_group), &cnd_kind_text, "", 0 },
	{ "socket_mode", C(socket_mode), &cnd_kind_socket_mode, NULL, 0 },
	TLS_KEYS(C, "1.2", "none", ""),
};

static const struct cnd_key pool_keys[] = {
	{ "backend", P(backend), &cnd_kind_text, "", 0 },
	{ "user", P(user), &cnd_kind_text, "", 0 },
	{ "server", 0, &cnd_kind_server, NULL, 1 },
	{ "sessions", 0, &cnd_kind_sessions, "1..8", 0 },
	{ "workers", P(workers), &cnd_kind_workers, "0", 0 },
	{ "mode", P(mode), &cnd_kind_mode, "session", 0 },
	{ "strict", P(is_strict), &cnd_kind_yes, "no", 0 },
	{ "read_only", P(is_read_only), &cnd_kind_yes, "no", 0 },
	{ "digests", P(has_digests), &cnd_kind_yes, "no", 0 },
	{ "lend", P(lend), &cnd_kind_lend, "off", 0 },
	{ "auth", P(rules), &cnd_kind_rules, NULL, 1 },
	{ "rule", P(query_rules), &cnd_kind_query_rules, NULL, 1 },
	{ "on_error", P(errors), &cnd_kind_errors, NULL, 1 },
	{ "program_sql", P(program_sql), &cnd_kind_program_sql, "server", 0 },
	{ "normalize", P(normalizes), &cnd_kind_yes, "no", 0 },
	{ "cache_size", P(cache_size), &cnd_kind_cache_size, "8MB", 0 },
	{ "replay", P(replay), &cnd_kind_count, "0", 0 },
	{ "session_start", P(session_start), &cnd_kind_hooks, NULL, 1 },
	{ "session_end", P(session_end), &cnd_kind_hooks, NULL, 1 },
	{ "users", P(users_path), &cnd_kind_text, "", 0 },
	{ "auth_timeout", P(auth_timeout_ms), &cnd_kind_ms, "10s", 0 },
	{ "credential_ttl", P(credential_ttl_ms), &cnd_kind_ms, "60s", 0 },
	{ "allow_users", 0, &cnd_kind_users, "", 0 },
	{ "allow_hours", P(hours), &cnd_kind_hours, NULL, 1 },
	{ "allow", P(networks), &cnd_kind_allow, NULL, 0 },
	{ "deny", P(networks), &cnd_kind_deny, NULL, 0 },
	{ "idle_ttl", P(idle_ttl_ms), &cnd_kind_ms, "60s", 0 },
	{ "queue_timeout", P(queue_timeout_ms), &cnd_kind_ms, "30s", 0 },
	{ "idle_client_timeout", P(idle_client_timeout_ms), &cnd_kind_ms, "0", 0 },
	{ "idle_transaction_timeout", P(idle_transaction_timeout_ms), &cnd_kind_ms, "0",
		0 },
	{ "session_timeout", P(session_timeout_ms), &cnd_kind_ms, "0", 0 },
	{ "pin_warning", P(pin_warning_ms), &cnd_kind_ms, "30s", 0 },
	{ "pin_timeout", P(pin_timeout_ms), &cnd_kind_ms, "0", 0 },
	{ "query_timeout", P(query_timeout_ms), &cnd_kind_ms, "0", 0 },
	{ "log_min_duration", P(log_min_duration_ms), &cnd_kind_ms, "0", 0 },
	{ "user_limits", 0, &cnd_kind_user_limits, NULL, 1 },
	{ "address_limits", P(address_limits), &cnd_kind_address_limits, NULL, 0 },
	{ "max_waiting", P(max_waiting), &cnd_kind_count, "0", 0 },
	{ "suspend_timeout", P(suspend_timeout_ms), &cnd_kind_ms, "60s", 0 },
	{ "login_timeout", P(login_timeout_ms), &cnd_kind_ms, "15s", 0 },
	{ "login_rate", P(login_rate), &cnd_kind_rate, "0", 0 },
	{ "reset", P(reset), &cnd_kind_reset, "server", 0 },
	{ "rebalance", P(rebalance_ms), &cnd_kind_ms, "60s", 0 },
	{ "target", P(target), &cnd_kind_target, "any", 0 },
	{ "max_lag", P(max_lag_ms), &cnd_kind_ms, "10s", 0 },
	{ "check_interval", P(check_interval_ms), &cnd_kind_ms, "5s", 0 },
	{ "read_own_writes", P(read_own_writes_ms), &cnd_kind_ms, "0", 0 },
	{ "failover_hold", P(failover_hold_ms), &cnd_kind_ms, "10s", 0 },
	{ "max_lifetime", P(max_lifetime_ms), &cnd_kind_ms, "0", 0 },
	{ "max_frame", P(max_frame), &cnd_kind_frame_size, "64MB", 0 },
	{ "max_row", P(max_row), &cnd_kind_frame_size, "1023MB", 0 },
	TLS_KEYS(P, NULL, NULL, NULL),
};

_Static_assert(
	N_ITEMS(cenoted_keys) <= CND_KEYS_MAX && N_ITEMS(pool_keys) <= CND_KEYS_MAX,
	"the tables of given keys must hold all keys");

/* Keys of other programs, mainly PgBouncer, and keys that people write in the wrong place. */
#define HERE(NAME) "here it is " NAME
static const struct {
	const char *name;
	const char *here;
} names_elsewhere[] = {
	{ "auth_file", HERE("users") },
	{ "auth_type", HERE("auth, in [pool NAME]") },
	{ "client_idle_timeout", HERE("idle_client_timeout, in [pool NAME]") },
	{ "client_tls_ca_file", HERE("tls_ca") },
	{ "client_tls_cert_file", HERE("tls_cert") },
	{ "client_tls_ciphers", HERE("tls_ciphers") },
	{ "client_tls_key_file", HERE("tls_key") },
	{ "client_tls_sslmode", HERE("a rule of auth with tls=yes") },
	{ "connect", HERE("connect='...' in the server line") },
	{ "connect_query", HERE("session_start, in [pool NAME]") },
	{ "database", HERE("dbname=... or database=... in the server line") },
	{ "dbname", HERE("dbname=... in the server line") },
	{ "default_pool_size", HERE("sessions = MIN..MAX, in [pool NAME]") },
	{ "dsn", HERE("dsn=... in the server line") },
	{ "host", HERE("host=... in the server line") },
	{ "idle_in_transaction_session_timeout",
		HERE("idle_transaction_timeout, in [pool NAME]") },
	{ "listen_addr", HERE("listen = HOST:PORT") },
	{ "listen_port", HERE("listen = HOST:PORT") },
	{ "log_min_duration_statement", HERE("log_min_duration, in [pool NAME]") },
	{ "log_slow_query_time", HERE("log_min_duration, in [pool NAME]") },
	{ "logfile", HERE("log") },
	{ "long_query_time", HERE("log_min_duration, in [pool NAME]") },
	{ "max_client_conn",
		"sessions, in [pool NAME], limits how many clients are served "
		"at once, and max_waiting how many wait" },
	{ "max_connections", HERE("sessions = MIN..MAX, in [pool NAME]") },
	{ "max_user_connections", HERE("sessions=N in user_limits, in [pool NAME]") },
	{ "max_db_connections", HERE("sessions = MIN..MAX, in [pool NAME]") },
	{ "min_pool_size", HERE("sessions = MIN..MAX, in [pool NAME]") },
	{ "password", HERE("password=... or passfile=... in the server line") },
	{ "path", HERE("path=... in the server line") },
	{ "pidfile", HERE("pid_file") },
	{ "pool_mode", HERE("mode, in [pool NAME]") },
	{ "pool_size", HERE("sessions = MIN..MAX, in [pool NAME]") },
	{ "port", HERE("listen = HOST:PORT, or port=... in the server line") },
	{ "query_wait_timeout", HERE("queue_timeout, in [pool NAME]") },
	{ "server_connect_timeout", HERE("login_timeout, in [pool NAME]") },
	{ "server_check_delay", HERE("check_interval, in [pool NAME]") },
	{ "server_idle_timeout", HERE("idle_ttl, in [pool NAME]") },
	{ "server_lifetime", HERE("max_lifetime, in [pool NAME]") },
	{ "server_login_retry", "the pauses between logins grow by themselves" },
	{ "server_reset_query", HERE("reset, in [pool NAME]") },
	{ "server_tls_sslmode", HERE("the backend's own keys in the server line") },
	{ "slow_query_log", HERE("log_min_duration, in [pool NAME]") },
	{ "target_session_attrs", HERE("target, in [pool NAME]") },
	{ "unix_socket_dir", HERE("run_dir") },
	{ "unix_socket_group", HERE("socket_group") },
	{ "unix_socket_mode", HERE("socket_mode") },
};

#undef HERE

static const char *
name_here(const char *name)
{
	for (size_t i = 0; i < N_ITEMS(names_elsewhere); i++) {
		if (strcmp(name, names_elsewhere[i].name) == 0)
			return names_elsewhere[i].here;
	}
	return NULL;
}

/* The section that has this key; NULL: no section has it. */
static const char *
other_section(const struct cnd_key *keys, const char *name)
{
	int is_pool = keys == pool_keys;
	const struct cnd_key *others = is_pool ? cenoted_keys : pool_keys;
	size_t n = is_pool ? N_ITEMS(cenoted_keys) : N_ITEMS(pool_keys);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(name, others[i].name) == 0)
			return is_pool ? "[cenoted]" : "[pool NAME]";
	}
	return NULL;
}

static void
set_initial(struct cnd_loader *l, const struct cnd_key *keys, size_t n, void *base)
{
	for (size_t i = 0; i < n; i++) {
		if (keys[i].initial != NULL)
			(void)keys[i].kind->parse(
				l, (char *)base + keys[i].offset, keys[i].initial);
	}
}

static void
unknown_key(struct cnd_loader *l, const struct cnd_key *keys, size_t n, const char *name)
{
	const char *nearest = cnd_nearest(name, &keys[0].name, n, sizeof(keys[0]));

	if (name_here(name) != NULL)
		cnd_config_bad(l, "unknown key \"%s\"; %s", name, name_here(name));
	else if (other_section(keys, name) != NULL)
		cnd_config_bad(l, "%s belongs in the section %s", name,
			other_section(keys, name));
	else if (nearest != NULL)
		cnd_config_bad(
			l, "unknown key \"%s\"; did you mean \"%s\"?", name, nearest);
	else
		cnd_config_bad(l, "unknown key \"%s\"", name);
}

static void
set_key(struct cnd_loader *l, const struct cnd_key *keys, size_t n, void *base,
	const char *name, const char *value)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(keys[i].name, name) != 0)
			continue;
		if (l->given[i] != 0 && !keys[i].is_repeatable) {
			cnd_config_bad(l, "%s is given twice; first in line %u", name,
				l->given[i]);
			return;
		}
		l->given[i] = l->line;
		(void)keys[i].kind->parse(l, (char *)base + keys[i].offset, value);
		return;
	}
	unknown_key(l, keys, n, name);
}

unsigned
cnd_loader_line_of(const struct cnd_loader *l, const char *name)
{
	for (size_t i = 0; i < N_ITEMS(cenoted_keys); i++) {
		if (strcmp(cenoted_keys[i].name, name) == 0)
			return l->cenoted_given[i];
	}
	return 0;
}

/* ---- reading ---- */

static int
is_pool_name(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > CND_POOL_NAME_MAX || !isalnum((uint8_t)name[0]))
		return 0;
	for (; *name != '\0'; name++) {
		if (!isalnum((uint8_t)*name) && strchr("_-.", *name) == NULL)
			return 0;
	}
	return 1;
}

const struct cnd_pool_config *
cnd_config_pool(const struct cnd_config *c, const char *name)
{
	for (size_t i = 0; i < c->n_pools; i++) {
		if (strcmp(c->pools[i].name, name) == 0)
			return &c->pools[i];
	}
	return NULL;
}

static void
begin_pool(struct cnd_loader *l, const char *name)
{
	struct cnd_config *c = l->config;
	const struct cnd_pool_config *first = cnd_config_pool(c, name);
	struct cnd_pool_config *p;

	if (first != NULL)
		cnd_config_bad(
			l, "pool %s is given twice; first in line %u", name, first->line);
	if (!is_pool_name(name))
		cnd_config_bad(l,
			"\"%s\" is not a pool's name; write at most %u letters, digits, "
			"_ - and ., and begin with a letter or digit",
			name, CND_POOL_NAME_MAX);
	if (c->n_pools == CND_CONFIG_POOLS)
		cnd_config_bad(l, "more than %u pools", CND_CONFIG_POOLS);
	c->pools =
		cnd_config_must(realloc(c->pools, (c->n_pools + 1) * sizeof(*c->pools)));
	p = &c->pools[c->n_pools++];
	*p = (struct cnd_pool_config){ .name = cnd_config_dup(name), .line = l->line };
	set_initial(l, pool_keys, N_ITEMS(pool_keys), p);
	l->pool = p;
	l->section = CND_SECTION_POOL;
}

/* Read the section line here: inih reports a section only with its first key, and truncates long
 * names. */
static void
begin_section(struct cnd_loader *l, char *text)
{
	char *end = strchr(text, ']');
	char *name = text + 1;

	l->section = CND_SECTION_NONE;
	memset(l->given, 0, sizeof(l->given));
	if (end == NULL) {
		cnd_config_bad(l, "the section's ']' is missing");
		return;
	}
	*end = '\0';
	if (strcmp(name, "cenoted") == 0) {
		/* a section that is given twice may still have good lines */
		if (l->cenoted_line != 0)
			cnd_config_bad(l,
				"section [cenoted] is given twice; first in line %u",
				l->cenoted_line);
		l->cenoted_line = l->line;
		l->section = CND_SECTION_CENOTED;
	} else if (strncmp(name, "pool", 4) == 0 &&
		   (name[4] == '\0' || isblank((uint8_t)name[4]))) {
		name += 4;
		name += strspn(name, " \t");
		begin_pool(l, name);
	} else if (strcmp(name, "databases") == 0) {
		cnd_config_bad(l,
			"unknown section [databases]; here each database is a section "
			"[pool NAME] with a backend and a server line");
	} else {
		cnd_config_bad(l,
			"unknown section [%s]; there are [cenoted] and [pool NAME]%s",
			name,
			strcmp(name, "pgbouncer") == 0
				? ", and these keys belong in [cenoted]"
				: "");
	}
}

/* Take a value that is too long for inih out of the line, without the comment after it. */
static void
stash_value(struct cnd_loader *l, char *value)
{
	char *end = value;

	while (*end != '\0' && !(*end == ';' && end > value && isspace((uint8_t)end[-1])))
		end++;
	while (end > value && isspace((uint8_t)end[-1]))
		end--;
	l->long_value = cnd_config_must(strndup(value, (size_t)(end - value)));
	cnc_wipe(value, strlen(value));
	value[0] = LONG_MARK;
	value[1] = '\0';
}

/* Look at a line before inih does. Returns what inih gets: "" if nothing is left to do. */
static char *
look_at(struct cnd_loader *l, char *text)
{
	char *separator;

	cnd_config_free_secret(l->long_value);
	l->long_value = NULL;
	/* without leading blanks, since inih reads an indented line as a continuation of the previous
	 * value */
	text += strspn(text, " \t");
	if (*text == '[') {
		begin_section(l, text);
		return text + strlen(text);
	}
	if (*text == '\0' || *text == '\n' || *text == '\r' || *text == ';' ||
		*text == '#')
		return text + strlen(text);
	separator = strpbrk(text, "=:");
	if (separator == NULL) {
		cnd_config_bad(l,
			"this line is neither a section, nor key = value, nor a comment");
		return text + strlen(text);
	}
	if (strlen(text) > SHORT_LINE)
		stash_value(l, separator + 1 + strspn(separator + 1, " \t"));
	return text;
}

static char *
read_line(char *out, int size, void *stream)
{
	struct cnd_loader *l = stream;
	const char *text;

	if (getline(&l->text, &l->text_size, l->file) < 0)
		return NULL;
	l->line++;
	text = l->text;
	if (l->line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	text = look_at(l, l->text + (text - l->text));
	if (strlen(text) + 2 > (size_t)size) {
		cnd_config_bad(l, "the key is too long");
		text = "";
	}
	snprintf(out, (size_t)size, "%s\n", text);
	return out;
}

static int
take_pair(void *user, const char *section, const char *name, const char *value)
{
	struct cnd_loader *l = user;

	(void)section;
	if (value[0] == LONG_MARK && l->long_value != NULL)
		value = l->long_value;
	if (l->section == CND_SECTION_CENOTED)
		set_key(l, cenoted_keys, N_ITEMS(cenoted_keys), l->config, name, value);
	else if (l->section == CND_SECTION_POOL)
		set_key(l, pool_keys, N_ITEMS(pool_keys), l->pool, name, value);
	else if (l->config->n_errors == 0)
		cnd_config_bad(l, "\"%s\" comes before any section", name);
	return 1;
}

static void
remember_cenoted(struct cnd_loader *l)
{
	if (l->section == CND_SECTION_CENOTED)
		memcpy(l->cenoted_given, l->given, sizeof(l->given));
}

/* inih calls this after the line has been read. Remember the keys of the section as they come. */
static int
take_pair_and_remember(
	void *user, const char *section, const char *name, const char *value)
{
	int r = take_pair(user, section, name, value);

	remember_cenoted(user);
	return r;
}

/* Open the whole file in memory, so that an endless one is noticed. NULL: the error was reported. */
static FILE *
open_whole(struct cnd_loader *l, const char *path)
{
	struct cnd_config *c = l->config;
	FILE *file = fopen(path, "re"), *whole = NULL;
	size_t n;

	l->bytes = cnd_config_must(malloc(FILE_MAX + 1));
	/* no buffer, since it would not be wiped when the stream is closed */
	if (file != NULL)
		setvbuf(file, NULL, _IONBF, 0);
	n = file != NULL ? fread(l->bytes, 1, FILE_MAX, file) : 0;
	l->n_bytes = n;

	if (file == NULL || ferror(file)) {
		cnd_config_error(c, 0, "cannot be read: %s", strerror(errno));
	} else if (n == FILE_MAX) {
		cnd_config_error(
			c, 0, "is longer than 1 MB, so it is not a configuration");
	} else {
		/* an empty stream cannot be opened */
		l->bytes[n] = '\n';
		whole = cnd_config_must(fmemopen(l->bytes, n + 1, "r"));
		setvbuf(whole, NULL, _IONBF, 0);
		/* space for the longest line: realloc() would leave copies of secrets behind */
		l->text_size = n + 2;
		l->text = cnd_config_must(malloc(l->text_size));
	}
	if (file != NULL)
		fclose(file);
	return whole;
}

static void
finish_loader(struct cnd_loader *l)
{
	if (l->file != NULL)
		fclose(l->file);
	cnd_config_free_secret(l->long_value);
	if (l->text != NULL)
		cnc_wipe(l->text, l->text_size);
	free(l->text);
	cnc_wipe(l->bytes, l->n_bytes);
	free(l->bytes);
}

struct cnd_config *
cnd_config_load(const char *path)
{
	struct cnd_config *c = cnd_config_must(calloc(1, sizeof(*c)));
	struct cnd_loader l = { .config = c };

	c->path = cnd_config_dup(path);
	c->socket_mode = -1;
	set_initial(&l, cenoted_keys, N_ITEMS(cenoted_keys), c);
	l.file = open_whole(&l, path);
	if (l.file != NULL) {
		if (ini_parse_stream(read_line, &l, take_pair_and_remember, &l) < 0)
			cnd_fatal("out of memory");
		cnd_config_check(&l);
	}
	finish_loader(&l);
	return c;
}

static void
forget_pool(struct cnd_pool_config *p)
{
	cnd_pool_config_forget_servers(p);
	cnd_users_destroy(&p->users);
	cnd_tls_forget(&p->tls);
}

void
cnd_pool_configs_forget(const struct cnd_config *c, const struct cnd_pool_config *but)
{
	for (size_t i = 0; i < c->n_pools; i++) {
		if (&c->pools[i] != but)
			forget_pool(&c->pools[i]);
	}
}

void
cnd_config_destroy(struct cnd_config *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->n_pools; i++) {
		struct cnd_pool_config *p = &c->pools[i];

		forget_pool(p);
		free(p->name);
		free(p->user);
		free(p->backend);
		free(p->allow_users);
		free(p->allow);
		free(p->users_path);
		cnd_config_free_user_limits(p);
		cnd_rules_destroy(&p->rules);
		cnd_query_rules_destroy(&p->query_rules);
		cnd_error_maps_destroy(&p->errors);
		cnd_hours_destroy(&p->hours);
		cnd_hooks_destroy(&p->session_start);
		cnd_hooks_destroy(&p->session_end);
		cnd_tls_destroy(&p->tls);
	}
	for (size_t i = 0; i < c->n_errors; i++)
		free(c->errors[i]);
	free(c->errors);
	cnd_tls_destroy(&c->tls);
	free(c->pools);
	free(c->path);
	free(c->user);
	free(c->run_dir);
	free(c->backend_dir);
	free(c->log);
	free(c->pid_file);
	free(c->socket_group);
	free(c->users_path);
	cnd_config_free_secret(c->notify);
	free(c);
}

/* ---- printing ---- */

static void
print_keys(const struct cnd_key *keys, size_t n, const void *base, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		if (keys[i].kind->print == NULL)
			continue;
		fprintf(out, "%-19s = ", keys[i].name);
		keys[i].kind->print((const char *)base + keys[i].offset, out, 0);
		fputc('\n', out);
	}
}

static void
print_pool(const struct cnd_pool_config *p, FILE *out, int show_secrets)
{
	fprintf(out, "[pool %s]\n", p->name);
	for (size_t i = 0; i < p->n_servers; i++) {
		fprintf(out, "%-19s = ", "server");
		cnd_config_print_server(&p->servers[i], out, show_secrets);
		fputc('\n', out);
	}
	print_keys(pool_keys, N_ITEMS(pool_keys), p, out);
	cnd_config_print_user_limits(p, out);
	cnd_query_rules_print(&p->query_rules, out);
	cnd_error_maps_print(&p->errors, out);
	cnd_hours_print(&p->hours, out);
	cnd_hooks_print(&p->session_start, "session_start", out);
	cnd_hooks_print(&p->session_end, "session_end", out);
	if (!show_secrets)
		return;
	cnd_users_print(&p->users, out);
	for (size_t i = 0; i < p->rules.n; i++)
		cnd_map_print(&p->rules.list[i].map, out);
}

void
cnd_config_print(const struct cnd_config *c, FILE *out)
{
	fprintf(out, "[cenoted]\n");
	print_keys(cenoted_keys, N_ITEMS(cenoted_keys), c, out);
	cnd_config_print_listens("listen", &c->listens, out);
	cnd_config_print_listens("stats_listen", &c->stats, out);
	for (size_t i = 0; i < c->n_pools; i++) {
		fputc('\n', out);
		print_pool(&c->pools[i], out, 0);
	}
}

int
cnd_pool_config_is_equal(const struct cnd_pool_config *a, const struct cnd_pool_config *b)
{
	char *text[2] = { NULL, NULL };
	size_t size[2] = { 0, 0 };
	const struct cnd_pool_config *pools[2] = { a, b };
	int is_equal;

	for (int i = 0; i < 2; i++) {
		FILE *out = cnd_config_must(open_memstream(&text[i], &size[i]));

		print_pool(pools[i], out, 1);
		fclose(out);
	}
	is_equal = strcmp(text[0], text[1]) == 0 && cnd_tls_is_equal(&a->tls, &b->tls);
	cnd_config_free_secret(text[0]);
	cnd_config_free_secret(text[1]);
	return is_equal;
}
