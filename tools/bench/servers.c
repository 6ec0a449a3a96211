/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts and stops the servers of a report: PostgreSQL, PgBouncer and MariaDB. report.c calls it. The
 * state is struct cnb_servers.
 */
#include "servers.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "figures.h"

#define START_TIMEOUT_NS 60000000000
#define STOP_TIMEOUT_NS  20000000000
#define PASSWORD         "Water-under-the-stone"
#define MAX_ARGS         32

/* ----------------------------------------------------------- programs -- */

static int
is_program(const char *path)
{
	return access(path, X_OK) == 0;
}

/* The last that matches: the newest version. */
static int
find_by_pattern(const char *pattern, char *ret_path, size_t size)
{
	glob_t found;
	int is_found = 0;

	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	if (found.gl_pathc > 0 && is_program(found.gl_pathv[found.gl_pathc - 1]))
		is_found = (size_t)snprintf(ret_path, size, "%s",
				   found.gl_pathv[found.gl_pathc - 1]) < size;
	globfree(&found);
	return is_found;
}

void
cnb_find_program(const char *name, char *ret_path, size_t size)
{
	static const char *const places[] = { "/usr/lib/postgresql/*/bin", "/usr/sbin",
		"/usr/local/sbin", "/usr/local/bin", "/usr/bin", "/usr/libexec" };
	const char *path = getenv("PATH"), *end;
	char pattern[512];
	size_t i;

	/* Debian has PostgreSQL's programs outside of PATH, and wrappers in PATH. */
	snprintf(pattern, sizeof(pattern), "%s/%s", places[0], name);
	if (find_by_pattern(pattern, ret_path, size))
		return;
	for (; path != NULL; path = *end == '\0' ? NULL : end + 1) {
		end = strchrnul(path, ':');
		if ((size_t)snprintf(ret_path, size, "%.*s/%s", (int)(end - path), path,
			    name) < size &&
			is_program(ret_path))
			return;
	}
	for (i = 1; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(pattern, sizeof(pattern), "%s/%s", places[i], name);
		if (find_by_pattern(pattern, ret_path, size))
			return;
	}
	ret_path[0] = '\0';
}

/* The servers refuse to run as root, so root runs them as another user. NULL: nobody else. */
static const struct passwd *
server_user(void)
{
	static const char *const names[] = { "postgres", "nobody" };
	const struct passwd *user = NULL;
	size_t i;

	if (geteuid() != 0)
		return NULL;
	for (i = 0; user == NULL && i < sizeof(names) / sizeof(names[0]); i++)
		user = getpwnam(names[i]);
	return user;
}

struct command {
	char program[256];
	char *args[MAX_ARGS + 1];
	size_t n;
	char bytes[2048];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void
add_arg(struct command *c, const char *format, ...)
{
	size_t left = sizeof(c->bytes) - c->used;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(c->bytes + c->used, left, format, ap);
	va_end(ap);
	/* The programs' arguments are of this file, and fit. */
	if (n < 0 || (size_t)n >= left || c->n == MAX_ARGS)
		return;
	c->args[c->n++] = c->bytes + c->used;
	c->used += (size_t)n + 1;
}

static int
find_command(struct command *c, const char *name, struct cnb_error *ret_error)
{
	memset(c, 0, sizeof(*c));
	cnb_find_program(name, c->program, sizeof(c->program));
	if (c->program[0] != '\0') {
		add_arg(c, "%s", c->program);
		return 0;
	}
	snprintf(ret_error->text, sizeof(ret_error->text), "%s is not installed", name);
	return -1;
}

static void
become(const struct passwd *user)
{
	if (user == NULL)
		return;
	if (initgroups(user->pw_name, user->pw_gid) < 0 || setgid(user->pw_gid) < 0 ||
		setuid(user->pw_uid) < 0)
		_exit(127);
}

/* Start a command; its output goes to NAME.log. Returns its process, or -1. */
static pid_t
spawn(const struct cnb_servers *s, const char *name, struct command *c)
{
	const struct passwd *user = server_user();
	pid_t parent = getpid(), pid;
	char log[96];
	int fd;

	snprintf(log, sizeof(log), "%s/%s.log", s->dir, name);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	pid = fork();
	if (pid != 0) {
		if (fd >= 0)
			close(fd);
		return pid;
	}
	/* Ctrl-C is for this program, which stops its servers. */
	setpgid(0, 0);
	become(user);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 ||
		chdir("/") < 0)
		_exit(127);
	execv(c->program, c->args);
	_exit(127);
}

static int
say_log(const struct cnb_servers *s, const char *name, const char *what,
	struct cnb_error *ret_error)
{
	char path[96], line[256], last[256] = "it said nothing";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.log", s->dir, name);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '\0')
			snprintf(last, sizeof(last), "%s", line);
	}
	if (f != NULL)
		fclose(f);
	snprintf(ret_error->text, sizeof(ret_error->text), "%s %s: %s", name, what, last);
	return -1;
}

static int
run(const struct cnb_servers *s, const char *name, struct command *c,
	struct cnb_error *ret_error)
{
	pid_t pid = spawn(s, name, c);
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return say_log(s, name, "failed", ret_error);
}

/* -------------------------------------------------------- what is ready -- */

static int
try_queries(const struct cnb_target *target, enum cnb_place place, const char *where,
	const char *const *queries, struct cnb_error *ret_error)
{
	struct cnb_env env = { .places = { NULL } };
	struct cnb_session *session;
	struct cnb_answer answer;
	int r = 0;

	env.places[place] = where;
	if (target->open(&env, &session, ret_error) < 0)
		return -1;
	for (; r == 0 && *queries != NULL; queries++)
		r = target->query(session, *queries, &answer, ret_error);
	target->close(session);
	return r;
}

/* Wait until the server answers. 0; -1: it ended, or the time passed. */
static int
wait_ready(struct cnb_servers *s, enum cnb_service service, const char *name,
	const struct cnb_target *target, enum cnb_place place, const char *where,
	struct cnb_error *ret_error)
{
	static const char *const nothing[] = { "select 1", NULL };
	int64_t end_ns = cnb_now_ns() + START_TIMEOUT_NS;
	pid_t *pid = &s->services[service].pid;

	while (cnb_now_ns() < end_ns) {
		if (try_queries(target, place, where, nothing, ret_error) == 0)
			return 0;
		if (waitpid(*pid, NULL, WNOHANG) == *pid) {
			*pid = 0;
			return say_log(s, name, "ended at once", ret_error);
		}
		usleep(50000);
	}
	return say_log(s, name, "does not serve", ret_error);
}

static int
make_directory(const struct cnb_servers *s, const char *name, struct cnb_error *ret_error)
{
	const struct passwd *user = server_user();
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
	const struct passwd *user = server_user();
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
	/* MariaDB's begins with the path of the program. */
	snprintf(s->services[service].version, sizeof(s->services[service].version),
		"%.60s", strrchr(line, '/') != NULL ? strrchr(line, '/') + 1 : line);
}

/* ---------------------------------------------------------- PostgreSQL -- */

static int
prepare_postgresql(struct cnb_servers *s, struct cnb_error *ret_error)
{
	struct command c;

	if (make_directory(s, "pg", ret_error) < 0 ||
		make_directory(s, "pgrun", ret_error) < 0 ||
		find_command(&c, "initdb", ret_error) < 0)
		return -1;
	add_arg(&c, "-N");
	add_arg(&c, "-D");
	add_arg(&c, "%s/pg", s->dir);
	add_arg(&c, "-Usuper");
	add_arg(&c, "-EUTF8");
	add_arg(&c, "--locale=C");
	add_arg(&c, "-Atrust");
	return run(s, "initdb", &c, ret_error);
}

static int
start_postgresql(struct cnb_servers *s, struct cnb_error *ret_error)
{
	static const char *const users[] = { "create user app",
		"create database app owner app", NULL };
	const struct cnb_target *target = cnb_target_postgresql();
	char super[160];
	struct command c;

	if (target == NULL) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"this build is without libpq");
		return -1;
	}
	if (prepare_postgresql(s, ret_error) < 0 ||
		find_command(&c, "postgres", ret_error) < 0)
		return -1;
	add_arg(&c, "-D");
	add_arg(&c, "%s/pg", s->dir);
	add_arg(&c, "-clisten_addresses=");
	add_arg(&c, "-cunix_socket_directories=%s/pgrun", s->dir);
	add_arg(&c, "-cfsync=off");
	add_arg(&c, "-cautovacuum=off");
	add_arg(&c, "-cmax_connections=%d", CNB_SERVER_CONNECTIONS);
	s->services[CNB_POSTGRESQL].pid = spawn(s, "postgresql", &c);
	snprintf(
		super, sizeof(super), "host=%s/pgrun user=super dbname=postgres", s->dir);
	if (wait_ready(s, CNB_POSTGRESQL, "postgresql", target, CNB_PLACE_POSTGRESQL,
		    super, ret_error) < 0 ||
		try_queries(target, CNB_PLACE_POSTGRESQL, super, users, ret_error) < 0)
		return -1;
	snprintf(s->services[CNB_POSTGRESQL].place,
		sizeof(s->services[CNB_POSTGRESQL].place),
		"host=%s/pgrun user=app dbname=app", s->dir);
	read_version(s, CNB_POSTGRESQL, c.program);
	return 0;
}

/* ----------------------------------------------------------- PgBouncer -- */

void
cnb_pgbouncer_place(
	const struct cnb_servers *s, const char *pool, char *ret_place, size_t size)
{
	snprintf(ret_place, size, "host=%s/pbrun port=6432 user=app dbname=%s", s->dir,
		pool);
}

static int
configure_pgbouncer(struct cnb_servers *s, struct cnb_error *ret_error)
{
	char text[1536];

	snprintf(text, sizeof(text),
		"[databases]\n"
		"pg = host=%s/pgrun dbname=app pool_mode=session pool_size=%d\n"
		"pgtx = host=%s/pgrun dbname=app pool_mode=transaction pool_size=%d\n"
		"pgretail = host=%s/pgrun dbname=app pool_mode=transaction pool_size=%d\n"
		"[pgbouncer]\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = "
		"%s/pbrun\n"
		"auth_type = trust\nauth_file = %s/users\nmax_client_conn = 6000\n"
		"log_connections = 0\nlog_disconnections = 0\n",
		s->dir, CNB_SESSIONS_HELD, s->dir, CNB_SESSIONS_TRANSACTION, s->dir,
		CNB_SESSIONS_RETAIL, s->dir, s->dir);
	if (make_directory(s, "pbrun", ret_error) < 0 ||
		write_file(s, "users", "\"app\" \"\"\n", ret_error) < 0)
		return -1;
	return write_file(s, "pgbouncer.ini", text, ret_error);
}

static int
start_pgbouncer(struct cnb_servers *s, struct cnb_error *ret_error)
{
	struct command c;
	char place[160];

	if (s->services[CNB_POSTGRESQL].pid == 0) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"there is no PostgreSQL");
		return -1;
	}
	if (find_command(&c, "pgbouncer", ret_error) < 0 ||
		configure_pgbouncer(s, ret_error) < 0)
		return -1;
	add_arg(&c, "%s/pgbouncer.ini", s->dir);
	s->services[CNB_PGBOUNCER].pid = spawn(s, "pgbouncer", &c);
	cnb_pgbouncer_place(s, "pg", place, sizeof(place));
	if (wait_ready(s, CNB_PGBOUNCER, "pgbouncer", cnb_target_postgresql(),
		    CNB_PLACE_POSTGRESQL, place, ret_error) < 0)
		return -1;
	snprintf(s->services[CNB_PGBOUNCER].place,
		sizeof(s->services[CNB_PGBOUNCER].place), "%s", place);
	read_version(s, CNB_PGBOUNCER, c.program);
	return 0;
}

/* ------------------------------------------------------------- MariaDB -- */

static int
prepare_mariadb(struct cnb_servers *s, struct cnb_error *ret_error)
{
	struct command c;

	if (make_directory(s, "my", ret_error) < 0 ||
		make_directory(s, "myrun", ret_error) < 0 ||
		find_command(&c, "mariadb-install-db", ret_error) < 0)
		return -1;
	add_arg(&c, "--no-defaults");
	add_arg(&c, "--datadir=%s/my", s->dir);
	add_arg(&c, "--auth-root-authentication-method=normal");
	add_arg(&c, "--skip-test-db");
	add_arg(&c, "--skip-name-resolve");
	return run(s, "mariadb-install-db", &c, ret_error);
}

static int
start_mariadb(struct cnb_servers *s, struct cnb_error *ret_error)
{
	static const char *const users[] = { "create database app",
		"create user app@localhost identified by '" PASSWORD "'",
		"grant all on app.* to app@localhost", NULL };
	const struct cnb_target *target = cnb_target_mariadb();
	struct command c;
	char root[160];

	if (target == NULL) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"this build is without libmariadb");
		return -1;
	}
	if (prepare_mariadb(s, ret_error) < 0 ||
		find_command(&c, "mariadbd", ret_error) < 0)
		return -1;
	add_arg(&c, "--no-defaults");
	add_arg(&c, "--datadir=%s/my", s->dir);
	add_arg(&c, "--socket=%s/myrun/s", s->dir);
	add_arg(&c, "--pid-file=%s/myrun/pid", s->dir);
	add_arg(&c, "--skip-networking");
	add_arg(&c, "--innodb-flush-log-at-trx-commit=0");
	add_arg(&c, "--max-connections=%d", CNB_SERVER_CONNECTIONS);
	s->services[CNB_MARIADB].pid = spawn(s, "mariadb", &c);
	snprintf(root, sizeof(root), "socket=%s/myrun/s user=root", s->dir);
	if (wait_ready(s, CNB_MARIADB, "mariadb", target, CNB_PLACE_MARIADB, root,
		    ret_error) < 0 ||
		try_queries(target, CNB_PLACE_MARIADB, root, users, ret_error) < 0)
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
	{ start_pgbouncer, SIGTERM },
	{ start_mariadb, SIGTERM },
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
	struct cnb_daemon place = { 0 };
	struct cnb_servers *s = ret_servers;
	struct cnb_error why;
	int i;

	memset(s, 0, sizeof(*s));
	if (cnb_daemon_directory(&place, ret_error) < 0)
		return -1;
	snprintf(s->dir, sizeof(s->dir), "%s", place.dir);
	/* The servers run as another user, if this is root. */
	if (chmod(s->dir, 0755) < 0) {
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

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	(void)remove(path); /* if it cannot be removed, there is nothing better to do */
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
	if (s->dir[0] != '\0')
		nftw(s->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	s->dir[0] = '\0';
}

/* ------------------------------------------------------------ the pools -- */

static const struct pool {
	const char *name, *mode;
	int sessions;
	int is_retail;
} pools[CNB_N_SERVICES][3] = {
	[CNB_POSTGRESQL] = { { "pg", "session", CNB_SESSIONS_HELD, 0 },
		{ "pgtx", "transaction", CNB_SESSIONS_TRANSACTION, 0 },
		{ "pgretail", "transaction", CNB_SESSIONS_RETAIL, 1 } },
	[CNB_MARIADB] = { { "my", "session", CNB_SESSIONS_HELD, 0 },
		{ "mytx", "transaction", CNB_SESSIONS_TRANSACTION, 0 },
		{ "myretail", "transaction", CNB_SESSIONS_RETAIL, 1 } },
};

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
	for (i = 0; i < 3 && used < size; i++) {
		const struct pool *p = &pools[service][i];

		if (p->is_retail == is_retail)
			used += (size_t)snprintf(ret_text + used, size - used,
				"[pool %s]\nbackend = %s\nserver = %s\nmode = %s\n"
				"sessions = %d..%d\n",
				p->name, backend, server, p->mode, p->sessions,
				p->sessions);
	}
}
