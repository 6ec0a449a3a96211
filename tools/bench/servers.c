/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts and stops the servers of a report: PostgreSQL, PgBouncer, pgpool and MariaDB. report.c calls it. The
 * state is struct cnb_servers.
 */
#include "servers.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"

#define START_TIMEOUT_NS 60000000000
#define STOP_TIMEOUT_NS  20000000000
#define PASSWORD         "Water-under-the-stone"

/* -------------------------------------------------------- what is ready -- */

static int
try_queries(const struct cnb_target *target, const char *where,
	const char *const *queries, struct cnb_error *ret_error)
{
	struct cnb_env env = { .places = { NULL } };
	struct cnb_session *session;
	struct cnb_answer answer;
	int r = 0;

	env.places[target->place] = where;
	if (target->open(&env, &session, ret_error) < 0)
		return -1;
	for (; r == 0 && *queries != NULL; queries++)
		r = target->query(session, *queries, &answer, ret_error);
	target->close(session);
	return r;
}

/* Wait until the server answers. 0; -1 with the error set: it ended, or it takes too long. */
static int
wait_ready(struct cnb_servers *s, enum cnb_service service, const struct cnb_command *c,
	const struct cnb_target *target, const char *where, struct cnb_error *ret_error)
{
	static const char *const nothing[] = { "select 1", NULL };
	int64_t end_ns = cnb_now_ns() + START_TIMEOUT_NS;
	pid_t *pid = &s->services[service].pid;

	while (cnb_now_ns() < end_ns) {
		if (try_queries(target, where, nothing, ret_error) == 0)
			return 0;
		if (waitpid(*pid, NULL, WNOHANG) == *pid) {
			*pid = 0;
			return cnb_command_failed(c, "ended at once", ret_error);
		}
		usleep(50000);
	}
	return cnb_command_failed(c, "does not serve", ret_error);
}

static int
make_directory(const struct cnb_servers *s, const char *name, struct cnb_error *ret_error)
{
	const struct passwd *user = cnb_server_user();
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	if (mkdir(path, 0755) == 0 &&
		(user == NULL || chown(path, user->pw_uid, user->pw_gid) == 0))
		return 0;
	snprintf(ret_error->text, sizeof(ret_error->text), "%s: %s", path,
		strerror(errno));
	return -1;
}

static int
write_file(const struct cnb_servers *s, const char *name, const char *text,
	struct cnb_error *ret_error)
{
	const struct passwd *user = cnb_server_user();
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	f = fopen(path, "we");
	if (f != NULL && fputs(text, f) >= 0 && fchmod(fileno(f), 0600) == 0 &&
		(user == NULL || fchown(fileno(f), user->pw_uid, user->pw_gid) == 0)) {
		if (fclose(f) == 0)
			return 0;
	} else if (f != NULL) {
		fclose(f);
	}
	snprintf(ret_error->text, sizeof(ret_error->text), "%s: %s", path,
		strerror(errno));
	return -1;
}

static void
read_version(struct cnb_servers *s, enum cnb_service service, const char *program)
{
	char command[300], line[128] = "";
	FILE *f;

	snprintf(command, sizeof(command), "'%s' --version 2>/dev/null", program);
	f = popen(command, "re");
	if (f == NULL)
		return;
	if (fgets(line, sizeof(line), f) != NULL)
		line[strcspn(line, "\n")] = '\0';
	pclose(f);
	/* MariaDB's line begins with the path of the program. */
	snprintf(s->services[service].version, sizeof(s->services[service].version),
		"%.60s", strrchr(line, '/') != NULL ? strrchr(line, '/') + 1 : line);
}

/* --------------------------------------------------------------- the pools -- */

const struct cnb_server_pool cnb_server_pools[CNB_N_POOLS] = {
	[CNB_POOL_HELD] = { "session", 4, { "pg", "pg", "my" } },
	[CNB_POOL_TRANSACTION] = { "transaction", 8, { "pgtx", "pgtx", "mytx" } },
	[CNB_POOL_RETAIL] = { "transaction", 16, { "pgretail", "pgretail", "myretail" } },
};

void
cnb_pgbouncer_place(
	const struct cnb_servers *s, enum cnb_pool pool, char *ret_place, size_t size)
{
	snprintf(ret_place, size, "host=%s/pbrun port=6432 user=app dbname=%s", s->dir,
		cnb_server_pools[pool].names[CNB_PGBOUNCER]);
}

void
cnb_servers_pools(const struct cnb_servers *s, enum cnb_service service, int is_retail,
	char *ret_text, size_t size)
{
	const char *backend = service == CNB_MARIADB ? "mysql" : "postgresql";
	char server[200];
	size_t used = 0;
	int i;

	ret_text[0] = '\0';
	if (s->services[service].pid == 0)
		return;
	if (service == CNB_MARIADB)
		snprintf(server, sizeof(server),
			"socket=%s/myrun/s user=app password=" PASSWORD " dbname=app",
			s->dir);
	else
		snprintf(server, sizeof(server), "%s", s->services[service].place);
	for (i = 0; i < CNB_N_POOLS && used < size; i++) {
		const struct cnb_server_pool *p = &cnb_server_pools[i];

		if ((i == CNB_POOL_RETAIL) == is_retail)
			used += (size_t)snprintf(ret_text + used, size - used,
				"[pool %s]\nbackend = %s\nserver = %s\nmode = %s\n"
				"sessions = %u..%u\n",
				p->names[service], backend, server, p->mode, p->sessions,
				p->sessions);
	}
}

/* ---------------------------------------------------------- PostgreSQL -- */

static int
prepare_postgresql(struct cnb_servers *s, struct cnb_error *ret_error)
{
	struct cnb_command c;

	if (make_directory(s, "pg", ret_error) < 0 ||
		make_directory(s, "pgrun", ret_error) < 0 ||
		cnb_command_find(&c, "initdb", s->dir, ret_error) < 0)
		return -1;
	cnb_command_add(&c, "-N");
	cnb_command_add(&c, "-D");
	cnb_command_add(&c, "%s/pg", s->dir);
	cnb_command_add(&c, "-Usuper");
	cnb_command_add(&c, "-EUTF8");
	cnb_command_add(&c, "--locale=C");
	cnb_command_add(&c, "-Atrust");
	return cnb_command_run(&c, ret_error);
}

static int
start_postgresql(struct cnb_servers *s, struct cnb_error *ret_error)
{
	static const char *const users[] = { "create user app",
		"create database app owner app", NULL };
	const struct cnb_target *target = cnb_target_postgresql();
	char super[160];
	struct cnb_command c;

	if (target == NULL) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"this build is without libpq");
		return -1;
	}
	if (prepare_postgresql(s, ret_error) < 0 ||
		cnb_command_find(&c, "postgres", s->dir, ret_error) < 0)
		return -1;
	cnb_command_add(&c, "-D");
	cnb_command_add(&c, "%s/pg", s->dir);
	cnb_command_add(&c, "-clisten_addresses=");
	cnb_command_add(&c, "-cunix_socket_directories=%s/pgrun", s->dir);
	cnb_command_add(&c, "-cfsync=off");
	cnb_command_add(&c, "-cautovacuum=off");
	cnb_command_add(&c, "-cmax_connections=%d", CNB_SERVER_CONNECTIONS);
	s->services[CNB_POSTGRESQL].pid = cnb_command_start(&c);
	snprintf(
		super, sizeof(super), "host=%s/pgrun user=super dbname=postgres", s->dir);
	if (wait_ready(s, CNB_POSTGRESQL, &c, target, super, ret_error) < 0 ||
		try_queries(target, super, users, ret_error) < 0)
		return -1;
	snprintf(s->services[CNB_POSTGRESQL].place,
		sizeof(s->services[CNB_POSTGRESQL].place),
		"host=%s/pgrun user=app dbname=app", s->dir);
	read_version(s, CNB_POSTGRESQL, c.program);
	return 0;
}

/* ----------------------------------------------------------- PgBouncer -- */

static int
configure_pgbouncer(struct cnb_servers *s, struct cnb_error *ret_error)
{
	char text[1536] = "[databases]\n";
	size_t used = strlen(text);
	int i;

	for (i = 0; i < CNB_N_POOLS && used < sizeof(text); i++) {
		const struct cnb_server_pool *p = &cnb_server_pools[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used,
			"%s = host=%s/pgrun dbname=app pool_mode=%s pool_size=%u\n",
			p->names[CNB_PGBOUNCER], s->dir, p->mode, p->sessions);
	}
	if (used < sizeof(text))
		(void)snprintf(text + used, sizeof(text) - used,
			"[pgbouncer]\nlisten_addr =\nlisten_port = 6432\n"
			"unix_socket_dir = %s/pbrun\nauth_type = trust\n"
			"auth_file = %s/users\nmax_client_conn = 6000\n"
			"log_connections = 0\nlog_disconnections = 0\n",
			s->dir, s->dir);
	if (make_directory(s, "pbrun", ret_error) < 0 ||
		write_file(s, "users", "\"app\" \"\"\n", ret_error) < 0)
		return -1;
	return write_file(s, "pgbouncer.ini", text, ret_error);
}

static int
start_pgbouncer(struct cnb_servers *s, struct cnb_error *ret_error)
{
	struct cnb_command c;
	char place[160];

	if (s->services[CNB_POSTGRESQL].pid == 0) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"there is no PostgreSQL");
		return -1;
	}
	if (cnb_command_find(&c, "pgbouncer", s->dir, ret_error) < 0 ||
		configure_pgbouncer(s, ret_error) < 0)
		return -1;
	cnb_command_add(&c, "%s/pgbouncer.ini", s->dir);
	s->services[CNB_PGBOUNCER].pid = cnb_command_start(&c);
	cnb_pgbouncer_place(s, CNB_POOL_HELD, place, sizeof(place));
	if (wait_ready(s, CNB_PGBOUNCER, &c, cnb_target_postgresql(), place, ret_error) <
		0)
		return -1;
	snprintf(s->services[CNB_PGBOUNCER].place,
		sizeof(s->services[CNB_PGBOUNCER].place), "%s", place);
	read_version(s, CNB_PGBOUNCER, c.program);
	return 0;
}

/* ------------------------------------------------------------- pgpool -- */

static int
configure_pgpool(struct cnb_servers *s, struct cnb_error *ret_error)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
		"backend_clustering_mode = 'raw'\nbackend_hostname0 = '%s/pgrun'\n"
		"backend_port0 = 5432\nlisten_addresses = ''\nport = 9999\n"
		"socket_dir = '%s/pprun'\npcp_socket_dir = '%s/pprun'\n"
		"pid_file_name = '%s/pprun/pid'\nlogdir = '%s/pprun'\n"
		"num_init_children = %u\nmax_pool = 1\nenable_pool_hba = off\n",
		s->dir, s->dir, s->dir, s->dir, s->dir,
		cnb_server_pools[CNB_POOL_HELD].sessions);
	if (make_directory(s, "pprun", ret_error) < 0 ||
		write_file(s, "pcp.conf", "", ret_error) < 0)
		return -1;
	return write_file(s, "pgpool.conf", text, ret_error);
}

static int
start_pgpool(struct cnb_servers *s, struct cnb_error *ret_error)
{
	char *place = s->services[CNB_PGPOOL].place;
	struct cnb_command c;

	if (s->services[CNB_POSTGRESQL].pid == 0) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"there is no PostgreSQL");
		return -1;
	}
	if (cnb_command_find(&c, "pgpool", s->dir, ret_error) < 0 ||
		configure_pgpool(s, ret_error) < 0)
		return -1;
	cnb_command_add(&c, "-n");
	cnb_command_add(&c, "-f%s/pgpool.conf", s->dir);
	cnb_command_add(&c, "-F%s/pcp.conf", s->dir);
	s->services[CNB_PGPOOL].pid = cnb_command_start(&c);
	snprintf(place, sizeof(s->services[CNB_PGPOOL].place),
		"host=%s/pprun port=9999 user=app dbname=app", s->dir);
	if (wait_ready(s, CNB_PGPOOL, &c, cnb_target_postgresql(), place, ret_error) < 0)
		return -1;
	read_version(s, CNB_PGPOOL, c.program);
	return 0;
}

/* ------------------------------------------------------------- MariaDB -- */

static int
prepare_mariadb(struct cnb_servers *s, struct cnb_error *ret_error)
{
	struct cnb_command c;

	if (make_directory(s, "my", ret_error) < 0 ||
		make_directory(s, "myrun", ret_error) < 0 ||
		cnb_command_find(&c, "mariadb-install-db", s->dir, ret_error) < 0)
		return -1;
	cnb_command_add(&c, "--no-defaults");
	cnb_command_add(&c, "--datadir=%s/my", s->dir);
	cnb_command_add(&c, "--auth-root-authentication-method=normal");
	cnb_command_add(&c, "--skip-test-db");
	cnb_command_add(&c, "--skip-name-resolve");
	return cnb_command_run(&c, ret_error);
}

static int
start_mariadb(struct cnb_servers *s, struct cnb_error *ret_error)
{
	static const char *const users[] = { "create database app",
		"create user app@localhost identified by '" PASSWORD "'",
		"grant all on app.* to app@localhost", NULL };
	const struct cnb_target *target = cnb_target_mariadb();
	struct cnb_command c;
	char root[160];

	if (target == NULL) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"this build is without libmariadb");
		return -1;
	}
	if (prepare_mariadb(s, ret_error) < 0 ||
		cnb_command_find(&c, "mariadbd", s->dir, ret_error) < 0)
		return -1;
	cnb_command_add(&c, "--no-defaults");
	cnb_command_add(&c, "--datadir=%s/my", s->dir);
	/* in /tmp, a server that starts removes the temporary tables of others */
	cnb_command_add(&c, "--tmpdir=%s/my", s->dir);
	cnb_command_add(&c, "--socket=%s/myrun/s", s->dir);
	cnb_command_add(&c, "--pid-file=%s/myrun/pid", s->dir);
	cnb_command_add(&c, "--skip-networking");
	cnb_command_add(&c, "--innodb-flush-log-at-trx-commit=0");
	cnb_command_add(&c, "--max-connections=%d", CNB_SERVER_CONNECTIONS);
	s->services[CNB_MARIADB].pid = cnb_command_start(&c);
	snprintf(root, sizeof(root), "socket=%s/myrun/s user=root", s->dir);
	if (wait_ready(s, CNB_MARIADB, &c, target, root, ret_error) < 0 ||
		try_queries(target, root, users, ret_error) < 0)
		return -1;
	snprintf(s->services[CNB_MARIADB].place, sizeof(s->services[CNB_MARIADB].place),
		"socket=%s/myrun/s user=app password=" PASSWORD " database=app", s->dir);
	read_version(s, CNB_MARIADB, c.program);
	return 0;
}

/* ----------------------------------------------------------- all of them -- */

static const struct {
	int (*start)(struct cnb_servers *s, struct cnb_error *ret_error);
	int stop_signal;
} starts[CNB_N_SERVICES] = {
	{ start_postgresql, SIGINT }, /* its fast shutdown */
	{ start_pgbouncer, SIGTERM }, { start_mariadb, SIGTERM },
	{ start_pgpool, SIGINT }, /* its fast shutdown */
};

static void
stop_one(pid_t pid, int sig)
{
	int64_t end_ns = cnb_now_ns() + STOP_TIMEOUT_NS;

	kill(pid, sig);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (cnb_now_ns() > end_ns) {
			kill(pid, SIGKILL);
			end_ns = INT64_MAX;
		}
		usleep(5000);
	}
}

int
cnb_servers_start(struct cnb_servers *ret_servers, const int wanted[CNB_N_SERVICES],
	struct cnb_error *ret_error)
{
	const struct passwd *user = cnb_server_user();
	struct cnb_daemon place = { 0 };
	struct cnb_servers *s = ret_servers;
	struct cnb_error why;
	int i;

	memset(s, 0, sizeof(*s));
	if (cnb_daemon_directory(&place, ret_error) < 0)
		return -1;
	snprintf(s->dir, sizeof(s->dir), "%s", place.dir);
	/* The servers let everybody in who reaches their sockets. So only their user may. */
	if (user != NULL && chown(s->dir, user->pw_uid, user->pw_gid) < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text), "%s: %s", s->dir,
			strerror(errno));
		return -1;
	}
	for (i = 0; i < CNB_N_SERVICES; i++) {
		if (!wanted[i] || starts[i].start(s, &why) == 0)
			continue;
		snprintf(s->services[i].why, sizeof(s->services[i].why), "%.250s",
			why.text);
		if (s->services[i].pid > 0)
			stop_one(s->services[i].pid, starts[i].stop_signal);
		s->services[i].pid = 0;
	}
	return 0;
}

void
cnb_servers_stop(struct cnb_servers *s)
{
	int i;

	for (i = CNB_N_SERVICES - 1; i >= 0; i--) {
		if (s->services[i].pid > 0)
			stop_one(s->services[i].pid, starts[i].stop_signal);
		s->services[i].pid = 0;
	}
	cnb_directory_remove(s->dir);
}
