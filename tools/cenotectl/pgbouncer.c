/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From pgbouncer.ini to cenoted.conf: each database becomes a pool, and the settings of [pgbouncer] become keys of all pools or of
 * [cenoted]. A database without user= logs in as its clients do, which is pass-through here. convert.c calls this.
 */
#include "ini.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

struct pgbouncer {
	struct ini ini;
	struct draft *d;
	char *userlist; /* the text of auth_file; NULL: none */
	struct pair *passwords; /* its users; they point into the text */
	size_t n_passwords;
	bool has_converted_users; /* the users of auth_file are in the draft */
	bool has_noted_tls; /* the note that clients need TLS was written */
};

/* ---- the settings of PgBouncer ---- */

#define NOT_NEEDED "not needed: "
#define WAITING                                                                          \
	"not converted: see max_waiting, which limits the clients that wait for a pool"
#define OF_USERS "not converted: see user_limits"

/* What becomes of each setting of [pgbouncer]. NULL: it is converted; otherwise the note. */
static const struct {
	const char *name;
	const char *note;
} settings[] = {
	{ "admin_users", NOT_NEEDED "cenotectl asks the kernel who may give commands: "
				    "root and cenoted's user" },
	{ "application_name_add_host",
		NOT_NEEDED "cenotectl clients shows where a client comes from" },
	{ "auth_dbname", NULL },
	{ "auth_file", NULL },
	{ "auth_hba_file", NULL },
	{ "auth_ident_file", "no counterpart; write map=FILE in the rules of auth" },
	{ "auth_query", NULL },
	{ "auth_type", NULL },
	{ "auth_user", NULL },
	{ "autodb_idle_timeout", "no counterpart: every pool has a section" },
	{ "cancel_wait_timeout", NOT_NEEDED "a cancel needs no session" },
	{ "client_idle_timeout", NULL },
	{ "client_login_timeout", NULL },
	{ "client_tls_ca_file", NULL },
	{ "client_tls_cert_file", NULL },
	{ "client_tls_ciphers",
		"not converted: tls_ciphers takes the names of single ciphers" },
	{ "client_tls_dheparams", NOT_NEEDED "OpenSSL chooses them" },
	{ "client_tls_ecdhcurve", "not converted: see tls_groups" },
	{ "client_tls_key_file", NULL },
	{ "client_tls_protocols", NULL },
	{ "client_tls_sslmode", NULL },
	{ "client_tls13_ciphers",
		"not converted: tls_ciphers takes the names of single ciphers" },
	{ "conffile", NOT_NEEDED "cenoted -c names the file" },
	{ "default_pool_size", NULL },
	{ "disable_pqexec", "no counterpart" },
	{ "dns_max_ttl", "no counterpart: each login to a server asks the resolver" },
	{ "dns_nxdomain_ttl",
		"no counterpart: each login to a server asks the resolver" },
	{ "dns_zone_check_period",
		"no counterpart: each login to a server asks the resolver" },
	{ "idle_transaction_timeout", NULL },
	{ "ignore_startup_parameters",
		NOT_NEEDED "Cenote's libpq reads the program's parameters itself" },
	{ "job_name", NOT_NEEDED "the system log calls it cenoted" },
	{ "listen_addr", NULL },
	{ "listen_backlog", NOT_NEEDED "the queue is as long as the kernel allows" },
	{ "listen_port", NULL },
	{ "log_connections", "see log_level = debug" },
	{ "log_disconnections", "see log_level = debug" },
	{ "log_pooler_errors", "no counterpart: errors of the pool are always logged" },
	{ "log_stats", "see stats_listen, and cenotectl pools" },
	{ "logfile", NULL },
	{ "max_client_conn", WAITING },
	{ "max_db_client_connections", WAITING },
	{ "max_db_connections", NULL },
	{ "max_packet_size", "not converted: see max_frame" },
	{ "max_prepared_statements",
		NOT_NEEDED "prepared statements move with their client" },
	{ "max_user_client_connections", OF_USERS },
	{ "max_user_connections", OF_USERS },
	{ "min_pool_size", NULL },
	{ "peer_id", NOT_NEEDED "every process of cenoted accepts a cancel" },
	{ "pidfile", "not converted, so that both programs can run; see pid_file" },
	{ "pkt_buf", NOT_NEEDED "buffers grow by themselves" },
	{ "pool_mode", NULL },
	{ "query_timeout", NULL },
	{ "query_wait_notify", "no counterpart" },
	{ "query_wait_timeout", NULL },
	{ "reserve_pool_size", NULL },
	{ "reserve_pool_timeout",
		"no counterpart: the pool grows as soon as clients wait" },
	{ "resolv_conf", "no counterpart: the system's is used" },
	{ "sbuf_loopcnt", NOT_NEEDED "workers take turns by themselves" },
	{ "server_check_delay", NOT_NEEDED
		"a worker listens to its server also while no client uses the session" },
	{ "server_check_query", NOT_NEEDED
		"a worker listens to its server also while no client uses the session" },
	{ "server_connect_timeout", NULL },
	{ "server_fast_close", NOT_NEEDED
		"a reload takes each session back as soon as its client holds nothing" },
	{ "server_idle_timeout", NULL },
	{ "server_lifetime", NULL },
	{ "server_login_retry", NOT_NEEDED "pauses between logins grow by themselves" },
	{ "server_reset_query",
		"no counterpart; the backend's reset restores everything, and reset = "
		"reconnect logs in again" },
	{ "server_reset_query_always", NOT_NEEDED
		"what a session holds moves with its client, or keeps the session" },
	{ "server_round_robin",
		NOT_NEEDED "a login goes to the server with the fewest sessions" },
	{ "server_tls_ca_file", NULL },
	{ "server_tls_cert_file", NULL },
	{ "server_tls_ciphers", "no counterpart: see openssl.cnf" },
	{ "server_tls_key_file", NULL },
	{ "server_tls_protocols", NULL },
	{ "server_tls_sslmode", NULL },
	{ "server_tls13_ciphers", "no counterpart: see openssl.cnf" },
	{ "service_name", NOT_NEEDED "the system log calls it cenoted" },
	{ "so_reuseport", NOT_NEEDED
		"all workers of a pool accept clients; one cenoted uses all processors" },
	{ "stats_period", "see stats_listen, and cenotectl pools" },
	{ "stats_users", "see stats_listen; sqlsh \\pools answers all users of a pool" },
	{ "suspend_timeout", NOT_NEEDED "a restart waits for drain_timeout" },
	{ "syslog", NULL },
	{ "syslog_facility", "no counterpart: the facility is daemon" },
	{ "syslog_ident", "no counterpart: the name is cenoted" },
	{ "tcp_defer_accept", NOT_NEEDED "the door waits for silent clients" },
	{ "tcp_keepalive", NULL },
	{ "tcp_keepcnt", "no counterpart: see tcp_keepalive" },
	{ "tcp_keepidle", NULL },
	{ "tcp_keepintvl", "no counterpart: see tcp_keepalive" },
	{ "tcp_socket_buffer", NOT_NEEDED "the kernel chooses it" },
	{ "tcp_user_timeout", "no counterpart: see tcp_keepalive" },
	{ "track_extra_parameters",
		NOT_NEEDED "all settings of a session move with their client" },
	{ "transaction_timeout", "no counterpart; set it in the server, by ALTER ROLE" },
	{ "unix_socket_dir",
		"not converted: the sockets are in run_dir, which must belong to root "
		"or to user" },
	{ "unix_socket_group", NULL },
	{ "unix_socket_mode", NULL },
	{ "user", NULL },
	{ "verbose", NULL },
};

static void
note_settings(struct pgbouncer *p)
{
	for (size_t i = 0; i < p->ini.n; i++) {
		const struct ini_setting *s = &p->ini.list[i];
		size_t k = 0;

		if (strcmp(s->section, "pgbouncer") != 0)
			continue;
		while (k < N_ITEMS(settings) && strcmp(settings[k].name, s->key) != 0)
			k++;
		if (k == N_ITEMS(settings))
			draft_note(p->d, &s->at, s->key,
				"PgBouncer's manual does not have this setting");
		else if (settings[k].note != NULL && *s->value != '\0')
			draft_note(p->d, &s->at, s->key, "%s", settings[k].note);
	}
}

static const struct ini_setting *
global(const struct pgbouncer *p, const char *key)
{
	return ini_find(&p->ini, "pgbouncer", key);
}

static const char *
global_or(const struct pgbouncer *p, const char *key, const char *fallback)
{
	const struct ini_setting *s = global(p, key);

	return s != NULL ? s->value : fallback;
}

static bool
is_one_of(const char *word, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(word, words[i]) == 0)
			return true;
	}
	return false;
}

/* ---- [cenoted] ---- */

static void
convert_listen(struct pgbouncer *p)
{
	const struct ini_setting *s = global(p, "listen_addr");
	const char *port = global_or(p, "listen_port", "6432");
	char *list, *rest, *host;

	if (s == NULL || *s->value == '\0')
		return;
	rest = list = mem_dup(s->value, strlen(s->value));
	while ((host = strsep(&rest, ", \t")) != NULL) {
		if (*host != '\0')
			draft_listen(p->d, &s->at, host, port);
	}
	free(list);
}

static void
convert_log(struct pgbouncer *p)
{
	const struct ini_setting *file = global(p, "logfile");
	const struct ini_setting *verbose = global(p, "verbose");
	struct draft *d = p->d;

	if (strcmp(global_or(p, "syslog", "0"), "1") == 0)
		draft_line(&d->daemon, "log", "syslog");
	else if (file != NULL && *file->value == '/')
		draft_key(d, &d->daemon, &file->at, "log", "%s", file->value);
	else if (file != NULL && *file->value != '\0')
		draft_note(d, &file->at, "logfile",
			"not converted: the path of a log begins with /");
	if (verbose != NULL && strcmp(verbose->value, "0") != 0)
		draft_line(&d->daemon, "log_level", "debug");
}

static void
convert_socket(struct pgbouncer *p)
{
	const struct ini_setting *mode = global(p, "unix_socket_mode");
	const struct ini_setting *group = global(p, "unix_socket_group");
	const char *digits = mode != NULL ? mode->value : "0777";
	struct draft *d = p->d;

	if (strlen(digits) >= 3 && strlen(digits) <= 4 &&
		digits[strspn(digits, "01234567")] == '\0' &&
		(strlen(digits) == 3 || *digits == '0'))
		draft_line(&d->daemon, "socket_mode", digits);
	else
		draft_note(d, &mode->at, "unix_socket_mode",
			"\"%.64s\" is not a mode such as 0770", digits);
	if (group != NULL && *group->value != '\0')
		draft_key(d, &d->daemon, &group->at, "socket_group", "%s", group->value);
}

/* By default, PgBouncer probes TCP clients after the kernel's time; cenoted keeps its own default then. */
static void
convert_keepalive(struct pgbouncer *p)
{
	const struct ini_setting *on = global(p, "tcp_keepalive");
	const struct ini_setting *idle = global(p, "tcp_keepidle");

	if (on != NULL && strcmp(on->value, "0") == 0)
		draft_seconds(p->d, &p->d->daemon, &on->at, "tcp_keepalive", "0");
	else if (idle != NULL && strcmp(idle->value, "0") != 0)
		draft_seconds(
			p->d, &p->d->daemon, &idle->at, "tcp_keepalive", idle->value);
}

static const char *const demanding[] = { "require", "verify-ca", "verify-full" };

static bool
is_tls_required(const struct pgbouncer *p)
{
	return is_one_of(global_or(p, "client_tls_sslmode", "disable"), demanding,
		N_ITEMS(demanding));
}

static void
copy_path(struct pgbouncer *p, const char *from, const char *to)
{
	const struct ini_setting *s = global(p, from);

	if (s != NULL && *s->value != '\0')
		draft_key(p->d, &p->d->daemon, &s->at, to, "%s", s->value);
}

static void
convert_client_tls(struct pgbouncer *p)
{
	const char *mode = global_or(p, "client_tls_sslmode", "disable");
	struct text *to = &p->d->daemon;

	if (strcmp(mode, "disable") == 0)
		return;
	copy_path(p, "client_tls_cert_file", "tls_cert");
	copy_path(p, "client_tls_key_file", "tls_key");
	if (strcmp(global_or(p, "client_tls_protocols", ""), "tlsv1.3") == 0)
		draft_line(to, "tls_min_version", "1.3");
	if (global(p, "client_tls_ca_file") == NULL)
		return;
	copy_path(p, "client_tls_ca_file", "tls_ca");
	/* verify-ca and verify-full demand a certificate; the other modes check it if the client sends one */
	draft_line(to, "tls_client_cert",
		strncmp(mode, "verify", 6) == 0 ? "require" : "request");
}

static void
convert_daemon(struct pgbouncer *p)
{
	const struct ini_setting *user = global(p, "user");

	if (user != NULL && *user->value != '\0')
		draft_key(p->d, &p->d->daemon, &user->at, "user", "%s", user->value);
	convert_log(p);
	convert_listen(p);
	convert_socket(p);
	convert_keepalive(p);
	convert_client_tls(p);
}

/* ---- the list of users ---- */

static void
read_userlist(struct pgbouncer *p)
{
	const struct ini_setting *s = global(p, "auth_file");
	const char *why = NULL;
	char *text, *name, *secret;
	size_t len;
	int r;

	if (s == NULL || *s->value == '\0' || !p->d->may_open)
		return;
	p->userlist = text = file_read(s->value, &len, &why);
	if (text == NULL) {
		draft_note(p->d, &s->at, "auth_file", "%s: %s", s->value, why);
		return;
	}
	while ((r = userlist_next(&text, &name, &secret)) != 0) {
		if (r < 0) {
			draft_note(p->d, &s->at, "auth_file",
				"%s has a line that is not \"user\" \"password\"",
				s->value);
			continue;
		}
		p->passwords = mem_resize(
			p->passwords, p->n_passwords + 1, sizeof(*p->passwords));
		p->passwords[p->n_passwords++] = (struct pair){ name, secret };
	}
}

static const char *
password_of(const struct pgbouncer *p, const char *user)
{
	for (size_t i = 0; i < p->n_passwords; i++) {
		if (strcmp(p->passwords[i].key, user) == 0)
			return p->passwords[i].value;
	}
	return NULL;
}

/* Called for the first pool whose clients log in with these passwords. */
static void
convert_users(struct pgbouncer *p)
{
	const struct ini_setting *s = global(p, "auth_file");

	if (p->has_converted_users)
		return;
	p->has_converted_users = true;
	for (size_t i = 0; i < p->n_passwords; i++)
		draft_user(p->d, &s->at, p->passwords[i].key, p->passwords[i].value);
}

/* ---- pools ---- */

struct database {
	const struct ini_setting *at;
	struct pair pairs[PAIRS_MAX];
	int n;
	const char *user; /* NULL: clients log in as themselves */
	struct pair own[PAIRS_MAX]; /* the settings of this user in [users] */
	int n_own;
	char *text, *own_text; /* the pairs point into them */
};

static const char *
own(const struct database *db, const char *key)
{
	return pairs_find(db->pairs, db->n, key);
}

/* The setting of the database, or else of [pgbouncer]. */
static const char *
own_or(const struct pgbouncer *p, const struct database *db, const char *key,
	const char *global_key, const char *fallback)
{
	const char *value = own(db, key);

	return value != NULL ? value : global_or(p, global_key, fallback);
}

/* What becomes of each key of a database. NULL: it is converted; otherwise the note. */
static const struct {
	const char *name;
	const char *note;
} database_keys[] = {
	{ "application_name", NULL },
	{ "auth_dbname", NULL },
	{ "auth_query", NULL },
	{ "auth_user", NULL },
	{ "client_encoding", NULL },
	{ "connect_query",
		"write it as session_start, in [pool NAME]; it also runs after "
		"each reset" },
	{ "datestyle", NULL },
	{ "dbname", NULL },
	{ "host", NULL },
	{ "load_balance_hosts", "no counterpart: a login goes to the server with the "
				"fewest sessions" },
	{ "max_db_client_connections", WAITING },
	{ "max_db_connections", NULL },
	{ "min_pool_size", NULL },
	{ "password", NULL },
	{ "pool_mode", NULL },
	{ "pool_size", NULL },
	{ "port", NULL },
	{ "reserve_pool", NULL },
	{ "reserve_pool_size", NULL },
	{ "server_lifetime", NULL },
	{ "timezone", NULL },
	{ "user", NULL },
};

static void
note_database(struct pgbouncer *p, const struct database *db)
{
	for (int i = 0; i < db->n; i++) {
		const char *key = db->pairs[i].key;
		size_t k = 0;

		while (k < N_ITEMS(database_keys) &&
			strcmp(database_keys[k].name, key) != 0)
			k++;
		if (k == N_ITEMS(database_keys))
			draft_note(p->d, &db->at->at, key,
				"PgBouncer's manual does not have this key");
		else if (database_keys[k].note != NULL)
			draft_note(p->d, &db->at->at, key, "%s", database_keys[k].note);
	}
}

/* Add "-c NAME=VALUE" to libpq's options, where a backslash keeps a blank in the value. */
static void
add_setting(struct text *options, const char *name, const char *value)
{
	if (value == NULL || *value == '\0')
		return;
	text_addf(options, "%s-c %s=", options->len > 0 ? " " : "", name);
	for (; *value != '\0'; value++) {
		if (*value == ' ' || *value == '\\')
			text_add_char(options, '\\');
		text_add_char(options, *value);
	}
}

static void
convert_settings(struct pgbouncer *p, const struct database *db, struct text *line)
{
	const char *encoding = own(db, "client_encoding");
	const char *application = own(db, "application_name");
	struct text options = { 0 };

	add_setting(&options, "datestyle", own(db, "datestyle"));
	add_setting(&options, "timezone", own(db, "timezone"));
	if (options.len > 0)
		draft_option(p->d, line, &db->at->at, "options", text_str(&options));
	text_finish(&options);
	if (application != NULL)
		draft_option(p->d, line, &db->at->at, "application_name", application);
	if (encoding != NULL && strcasecmp(encoding, "UTF8") != 0 &&
		strcasecmp(encoding, "UTF-8") != 0)
		draft_note(p->d, &db->at->at, "client_encoding",
			"not converted: all programs of a pool expect texts in UTF-8; "
			"Cenote's libpq converts them for a program with another one");
}

static void
convert_server_tls(struct pgbouncer *p, const struct database *db, struct text *line)
{
	static const struct {
		const char *from, *to;
	} files[] = {
		{ "server_tls_sslmode", "sslmode" },
		{ "server_tls_ca_file", "sslrootcert" },
		{ "server_tls_cert_file", "sslcert" },
		{ "server_tls_key_file", "sslkey" },
	};
	static const char *const modes[] = { "disable", "allow", "prefer", "require",
		"verify-ca", "verify-full" };

	for (size_t i = 0; i < N_ITEMS(files); i++) {
		const struct ini_setting *s = global(p, files[i].from);

		if (s == NULL || *s->value == '\0')
			continue;
		if (i == 0 && !is_one_of(s->value, modes, N_ITEMS(modes)))
			draft_note(p->d, &s->at, s->key, "\"%.64s\" is not a mode",
				s->value);
		else
			draft_option(p->d, line, &s->at, files[i].to, s->value);
	}
	if (strcmp(global_or(p, "server_tls_protocols", ""), "tlsv1.3") == 0)
		draft_option(
			p->d, line, &db->at->at, "ssl_min_protocol_version", "TLSv1.3");
}

/* The login of a database with user=. */
static void
convert_login(struct pgbouncer *p, const struct database *db, struct text *line)
{
	const struct origin *at = &db->at->at;
	const char *password = own(db, "password");

	if (db->user == NULL) {
		if (password != NULL)
			draft_note(p->d, at, "password",
				"not converted: without user=, clients log in to the "
				"server with their own passwords");
		return;
	}
	draft_option(p->d, line, at, "user", db->user);
	if (password == NULL) {
		password = password_of(p, db->user);
		/* a hash cannot log in to a server */
		if (password != NULL && secret_kind(password) != SECRET_PASSWORD) {
			draft_note(p->d, at, "user",
				"auth_file has only a hash of the password of %s; add "
				"password= or passfile= to the server line",
				db->user);
			password = NULL;
		}
	}
	if (password != NULL && *password != '\0')
		draft_option(p->d, line, at, "password", password);
}

static void
convert_server(struct pgbouncer *p, const struct database *db, const char *host,
	struct text *servers)
{
	const struct origin *at = &db->at->at;
	const char *dbname = own(db, "dbname");
	const char *port = own(db, "port");
	struct text line = { 0 };
	uint64_t n;

	if (*host != '\0')
		draft_option(p->d, &line, at, "host", host);
	if (port != NULL && number_parse(port, 65535, &n) && n > 0)
		draft_option(p->d, &line, at, "port", port);
	else if (port != NULL)
		draft_note(p->d, at, "port", "\"%.64s\" is not a port", port);
	draft_option(p->d, &line, at, "dbname", dbname != NULL ? dbname : db->at->key);
	convert_login(p, db, &line);
	convert_server_tls(p, db, &line);
	convert_settings(p, db, &line);
	if (line.len > 0)
		draft_line(servers, "server", text_str(&line));
	text_finish(&line);
}

/* A line for each host of the list. */
static void
convert_servers(struct pgbouncer *p, const struct database *db, struct text *servers)
{
	const char *hosts = own(db, "host");
	char *list, *rest, *host;

	if (hosts == NULL)
		hosts = "";
	rest = list = mem_dup(hosts, strlen(hosts));
	while ((host = strsep(&rest, ",")) != NULL)
		convert_server(p, db, host, servers);
	free(list);
}

static uint64_t
size_of(struct pgbouncer *p, const struct database *db, const char *what,
	const char *value)
{
	uint64_t n = 0;

	if (!number_parse(value, UINT32_MAX, &n))
		draft_note(p->d, &db->at->at, what, "\"%.64s\" is not a number", value);
	return n;
}

static void
convert_size(struct pgbouncer *p, const struct database *db)
{
	const char *reserve = own(db, "reserve_pool");
	uint64_t min = size_of(p, db, "min_pool_size",
		own_or(p, db, "min_pool_size", "min_pool_size", "0"));
	uint64_t max = size_of(p, db, "pool_size",
		own_or(p, db, "pool_size", "default_pool_size", "20"));
	uint64_t limit = size_of(p, db, "max_db_connections",
		own_or(p, db, "max_db_connections", "max_db_connections", "0"));

	if (reserve == NULL)
		reserve = own_or(p, db, "reserve_pool_size", "reserve_pool_size", "0");
	max += size_of(p, db, "reserve_pool_size", reserve);
	if (db->user == NULL && limit == 0)
		draft_note(p->d, &db->at->at, db->at->key,
			"PgBouncer has up to %llu sessions for each user; this pool has "
			"as many for all users together; see sessions",
			(unsigned long long)max);
	/* without user=, the limit of the database is the limit of all users together */
	if (limit > 0 && (limit < max || db->user == NULL))
		max = limit;
	draft_sessions(p->d, &db->at->at, min, max);
}

static void
convert_mode(struct pgbouncer *p, const struct database *db)
{
	const char *mode = pairs_find(db->own, db->n_own, "pool_mode");

	if (mode == NULL)
		mode = own_or(p, db, "pool_mode", "pool_mode", "session");
	if (strcmp(mode, "statement") == 0)
		draft_note(p->d, &db->at->at, "pool_mode",
			"there is no mode for single statements; mode = transaction also "
			"allows transactions");
	else if (strcmp(mode, "session") != 0 && strcmp(mode, "transaction") != 0)
		draft_note(p->d, &db->at->at, "pool_mode",
			"\"%.64s\" is not a mode; the pool has mode = session", mode);
	draft_line(&p->d->pools, "mode",
		strcmp(mode, "transaction") == 0 || strcmp(mode, "statement") == 0
			? "transaction"
			: "session");
}

/* Where the default of PgBouncer differs from ours, it is written. */
static void
convert_times(struct pgbouncer *p, const struct database *db)
{
	static const struct {
		const char *from, *to, *initial;
		const char *zero; /* the value in place of 0; NULL: 0 */
	} times[] = {
		{ "query_wait_timeout", "queue_timeout", "120", NULL },
		{ "server_idle_timeout", "idle_ttl", "600", NULL },
		/* with 0, PgBouncer uses a session once; here 0 would keep it for ever */
		{ "server_lifetime", "max_lifetime", "3600", "1" },
		{ "server_connect_timeout", "login_timeout", NULL, NULL },
		{ "client_idle_timeout", "idle_client_timeout", NULL, NULL },
		{ "idle_transaction_timeout", "idle_transaction_timeout", NULL, NULL },
		{ "query_timeout", "query_timeout", NULL, NULL },
	};
	const struct ini_setting *login = global(p, "client_login_timeout");
	const char *seconds = login != NULL ? login->value : "60";
	struct draft *d = p->d;

	for (size_t i = 0; i < N_ITEMS(times); i++) {
		const struct ini_setting *s = global(p, times[i].from);
		const char *value =
			own_or(p, db, times[i].from, times[i].from, times[i].initial);
		bool is_global = s != NULL && value == s->value;

		if (value != NULL && times[i].zero != NULL && strcmp(value, "0") == 0)
			value = times[i].zero;
		if (value != NULL)
			draft_seconds(d, &d->pools, is_global ? &s->at : &db->at->at,
				times[i].to, value);
	}
	if (strtod(seconds, NULL) > 0)
		draft_seconds(d, &d->pools, login != NULL ? &login->at : &db->at->at,
			"auth_timeout", seconds);
	else
		draft_note(d, &login->at, login->key,
			"a login needs a time limit here; it is auth_timeout");
}

/* ---- who may log in ---- */

static void
refuse_all(struct pgbouncer *p, const struct database *db, const char *why)
{
	const struct ini_setting *type = global(p, "auth_type");

	draft_note(p->d, type != NULL ? &type->at : &db->at->at, "auth_type",
		"pool %s refuses all clients: %s", db->at->key, why);
	draft_line(&p->d->pools, "auth", "reject");
}

/* Add " user=NAME,NAME" with the users of auth_file. Adds nothing if no user has a name that cenoted accepts. */
static void
add_names(const struct pgbouncer *p, struct text *to)
{
	for (size_t i = 0; i < p->n_passwords; i++) {
		const char *name = p->passwords[i].key;

		if (draft_user_name_fault(name) == NULL)
			text_addf(to, "%s%s", to->len > 0 ? "," : " user=", name);
	}
}

/* trust and any: nobody proves who they are. */
static void
convert_trust(struct pgbouncer *p, const struct database *db, const char *type)
{
	const struct origin *at = &db->at->at;
	const char *tls = is_tls_required(p) ? " tls=yes" : "";
	struct text names = { 0 }, local = { 0 }, tcp = { 0 };

	if (strcmp(type, "trust") == 0)
		add_names(p, &names);
	if (strcmp(type, "trust") == 0 && names.len == 0) {
		refuse_all(p, db, "auth_file names nobody");
		return;
	}
	text_addf(&local, "trust%s", text_str(&names));
	text_addf(&tcp, "trust door=tcp%s%s", tls, text_str(&names));
	draft_open_rules(p->d, at, text_str(&local),
		global(p, "listen_addr") != NULL ? text_str(&tcp) : NULL);
	text_finish(&names);
	text_finish(&local);
	text_finish(&tcp);
}

static void
convert_pass_through(struct pgbouncer *p, const struct database *db, const char *type)
{
	const struct origin *at = &db->at->at;
	struct draft *d = p->d;

	if (strcmp(type, "trust") == 0)
		draft_note(d, at, db->at->key,
			"without user=, clients now log in with their own passwords, "
			"which the server checks");
	if (global(p, "listen_addr") != NULL && !p->has_noted_tls) {
		p->has_noted_tls = true;
		if (!is_tls_required(p))
			draft_note(d, at, db->at->key,
				"without user=, clients send their passwords for the "
				"server; by TCP they need TLS for that, see tls_cert");
	}
	draft_open_rules(d, at, "pass-through", NULL);
}

static const char *const password_types[] = { "md5", "plain", "scram-sha-256" };

/* Clients log in with the passwords of auth_file. */
static void
convert_passwords(struct pgbouncer *p, const struct database *db)
{
	convert_users(p);
	draft_password_rules(p->d, &db->at->at, "", !is_tls_required(p));
}

static void
convert_auth(struct pgbouncer *p, const struct database *db)
{
	const char *type = global_or(p, "auth_type", "md5");

	if (strcmp(type, "hba") == 0)
		refuse_all(p, db,
			"write the lines of auth_hba_file as rules; see RULES in "
			"cenoted.conf(5)");
	else if (db->user == NULL && strcmp(type, "any") == 0)
		refuse_all(p, db, "auth_type = any needs user= in each database");
	else if (db->user == NULL && strcmp(type, "cert") == 0)
		refuse_all(p, db,
			"without user=, clients log in to the server with a password, "
			"not with a certificate");
	else if (db->user == NULL)
		convert_pass_through(p, db, type);
	else if (strcmp(type, "trust") == 0 || strcmp(type, "any") == 0)
		convert_trust(p, db, type);
	else if (strcmp(type, "cert") == 0)
		draft_open_rules(p->d, &db->at->at, "cert", NULL);
	else if (is_one_of(type, password_types, N_ITEMS(password_types)))
		convert_passwords(p, db);
	else
		refuse_all(p, db,
			"this type has no counterpart; see RULES in "
			"cenoted.conf(5)");
}

/* PgBouncer looks passwords up in the server. That is not needed if the server checks them itself. */
static void
note_queries(struct pgbouncer *p, const struct database *db)
{
	if (own_or(p, db, "auth_user", "auth_user", NULL) == NULL)
		return;
	if (db->user == NULL)
		draft_note(p->d, &db->at->at, "auth_user",
			"not needed: the server checks the password itself");
	else
		draft_note(p->d, &db->at->at, "auth_user",
			"no counterpart: the users file has the verifiers; get them by "
			"\"select rolname, rolpassword from pg_authid\"");
}

/* ---- the whole ---- */

static int
split_database(struct pgbouncer *p, struct database *db)
{
	const struct ini_setting *of_user;

	db->text = mem_dup(db->at->value, strlen(db->at->value));
	db->n = pairs_split(db->text, db->pairs);
	if (db->n < 0) {
		draft_note(p->d, &db->at->at, db->at->key,
			"this is not a list of key=value");
		return -1;
	}
	db->user = own(db, "user");
	of_user = db->user != NULL ? ini_find(&p->ini, "users", db->user) : NULL;
	if (of_user == NULL)
		return 0;
	db->own_text = mem_dup(of_user->value, strlen(of_user->value));
	db->n_own = pairs_split(db->own_text, db->own);
	return 0;
}

static void
convert_pool(struct pgbouncer *p, const struct database *db)
{
	struct text servers = { 0 };

	convert_servers(p, db, &servers);
	if (servers.len == 0) {
		draft_note(p->d, &db->at->at, db->at->key,
			"there is no pool for it: it has no server");
	} else if (draft_pool(p->d, &db->at->at, db->at->key)) {
		note_database(p, db);
		note_queries(p, db);
		draft_line(&p->d->pools, "backend", "postgresql");
		text_add(&p->d->pools, servers.data, servers.len);
		convert_size(p, db);
		convert_mode(p, db);
		convert_times(p, db);
		convert_auth(p, db);
	}
	text_finish(&servers);
}

static void
convert_database(struct pgbouncer *p, const struct ini_setting *s)
{
	struct database db = { .at = s };

	if (strcmp(s->key, "*") == 0) {
		draft_note(p->d, &s->at, "*",
			"no counterpart: write a section [pool NAME] for each database");
		return;
	}
	if (split_database(p, &db) == 0)
		convert_pool(p, &db);
	free(db.text);
	free(db.own_text);
}

/* pool_mode of a user is converted with the databases that log in as this user; see convert_mode(). Other settings are not. */
static void
note_user(struct pgbouncer *p, const struct ini_setting *s)
{
	struct pair pairs[PAIRS_MAX];
	char *text = mem_dup(s->value, strlen(s->value));
	int n = pairs_split(text, pairs);

	for (int i = 0; i < n; i++) {
		if (strcmp(pairs[i].key, "pool_mode") == 0)
			draft_note(p->d, &s->at, "pool_mode",
				"converted only for the databases with user=%s", s->key);
		else
			draft_note(p->d, &s->at, pairs[i].key, OF_USERS);
	}
	if (n < 0)
		draft_note(p->d, &s->at, s->key, "this is not a list of key=value");
	free(text);
}

static void
convert_sections(struct pgbouncer *p)
{
	for (size_t i = 0; i < p->ini.n; i++) {
		const struct ini_setting *s = &p->ini.list[i];

		if (strcmp(s->section, "databases") == 0) {
			/* if two have the same name, the last one counts */
			if (ini_find(&p->ini, s->section, s->key) == s)
				convert_database(p, s);
		} else if (strcmp(s->section, "users") == 0) {
			note_user(p, s);
		} else if (strcmp(s->section, "peers") == 0) {
			draft_note(p->d, &s->at, "peers",
				"not needed: every process of cenoted accepts a cancel");
		} else if (strcmp(s->section, "pgbouncer") != 0) {
			draft_note(p->d, &s->at, s->section,
				"PgBouncer's manual does not have this section");
		}
	}
}

int
pgbouncer_convert(struct draft *d, const char *file, char *text)
{
	struct pgbouncer p = { .d = d };
	int r = ini_read(&p.ini, d, file, text);

	if (r == 0) {
		note_settings(&p);
		read_userlist(&p);
		convert_daemon(&p);
		convert_sections(&p);
	}
	free(p.passwords);
	free(p.userlist);
	ini_finish(&p.ini);
	return r;
}
