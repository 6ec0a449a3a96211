/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cnt_daemon.h"
#include "support/cnt_server_kinds.h"

#define READY_MS     60000
#define SHUTDOWN_MS  30000
#define QUICK_MS     5000
#define MAX_CHILDREN 512
#define PORT_TRIES   5

/* The user that the server runs as; zeros: the user who runs the test. */
static int
server_user(const struct cnt_server_type *type, uid_t *ret_uid, gid_t *ret_gid)
{
	const struct passwd *pw;

	*ret_uid = 0;
	*ret_gid = 0;
	if (type->may_be_root || geteuid() != 0)
		return 0;
	pw = getpwnam("postgres");
	if (!pw)
		pw = getpwnam("nobody");
	if (!pw || pw->pw_uid == 0) {
		fprintf(stderr,
			"# %s does not run as root, and there is neither a user "
			"postgres nor nobody\n",
			type->name);
		return -1;
	}
	*ret_uid = pw->pw_uid;
	*ret_gid = pw->pw_gid;
	return 0;
}

static int
run_simple(const char *const *argv)
{
	struct cnt_command c = { .argv = argv };

	return cnt_run(&c);
}

static int
copy_tree(const char *from, const char *to)
{
	const char *const argv[] = { "cp", "-a", "--reflink=auto", from, to, NULL };

	return run_simple(argv);
}

/* ------------------------------------------------------------------- processes ----- */

/* The server's process and its children. */
static size_t
all_processes(pid_t pid, pid_t ret_pids[MAX_CHILDREN + 1])
{
	ret_pids[0] = pid;
	return 1 + cnt_children_of(pid, ret_pids + 1, MAX_CHILDREN);
}

/* Whether a process ended in time. It need not be our child. */
static int
has_ended(pid_t pid, int64_t ms)
{
	int64_t until = cnt_now_ms() + ms;

	while (waitpid(pid, NULL, WNOHANG) != pid && kill(pid, 0) == 0) {
		if (cnt_now_ms() > until)
			return 0;
		cnt_pause_ms(2);
	}
	return 1;
}

static void
wait_for_stop(pid_t pid)
{
	int64_t until = cnt_now_ms() + QUICK_MS;

	while (kill(pid, 0) == 0 && !cnt_is_stopped(pid) && cnt_now_ms() < until)
		cnt_pause_ms(1);
}

static void
kill_all(pid_t pid)
{
	pid_t pids[MAX_CHILDREN + 1];
	size_t i, n;

	kill(pid, SIGSTOP); /* it starts no more children */
	n = all_processes(pid, pids);
	for (i = n; i > 0; i--)
		kill(pids[i - 1], SIGKILL);
	for (i = 0; i < n; i++)
		has_ended(pids[i], QUICK_MS);
}

static void
end_quickly(const struct cnt_server_type *type, pid_t pid)
{
	pid_t pids[MAX_CHILDREN + 1];
	size_t i, n = all_processes(pid, pids);

	for (i = 0; i < n; i++)
		kill(pids[i], SIGCONT);
	kill(pid, type->quick_signal);
	if (!has_ended(pid, QUICK_MS))
		kill_all(pid);
}

/* Write the server's process id to a file for the guard: each start of the server changes it. */
static void
write_pid(const struct cnt_server *s)
{
	char path[CNT_SERVER_PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%.64s/pid", s->dir);
	f = fopen(path, "we");
	if (!f)
		return;
	fprintf(f, "%d\n", (int)s->pid);
	fclose(f);
}

static pid_t
read_pid(const struct cnt_server *s)
{
	char path[CNT_SERVER_PATH_MAX];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%.64s/pid", s->dir);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%d", &pid) != 1)
		pid = 0;
	fclose(f);
	return pid;
}

/* In the child: sleep until the parent dies, then clean up for it. */
static void
be_guard(const struct cnt_server *s, pid_t parent)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);
	sigset_t set;
	pid_t pid;
	int sig;

	setsid();
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	closefrom(0);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	while (getppid() == parent)
		sigwait(&set, &sig);
	pid = read_pid(s);
	if (pid > 0)
		end_quickly(type, pid);
	type->sweep(s);
	cnt_remove_tree(s->dir);
	_exit(0);
}

static int
start_guard(struct cnt_server *s)
{
	pid_t parent = getpid();

	fflush(NULL);
	s->guard = fork();
	if (s->guard == 0)
		be_guard(s, parent);
	return s->guard < 0 ? -1 : 0;
}

static void
end_guard(struct cnt_server *s)
{
	if (s->guard <= 0)
		return;
	kill(s->guard, SIGKILL);
	waitpid(s->guard, NULL, 0);
	s->guard = 0;
}

/* Runs in the child: does not return. */
static void
exec_server(const struct cnt_server *s, const char *path, const struct cnt_argv *a,
	pid_t parent)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);
	int fd = open(s->log, O_WRONLY | O_CREAT | O_APPEND, 0644);
	sigset_t none;
	uid_t uid;
	gid_t gid;

	if (fd < 0 || server_user(type, &uid, &gid) < 0 || chdir(s->run_dir) < 0)
		_exit(126);
	dup2(fd, STDERR_FILENO);
	dup2(fd, STDOUT_FILENO);
	fd = open("/dev/null", O_RDONLY);
	dup2(fd, STDIN_FILENO);
	closefrom(STDERR_FILENO + 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setsid();
	if (cnt_become(uid, gid) < 0)
		_exit(126);
	/* Do this after the change of user, which resets it. */
	prctl(PR_SET_PDEATHSIG, type->quick_signal);
	if (getppid() != parent)
		_exit(126);
	cnt_clean_environment();
	execv(path, (char *const *)a->args);
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	_exit(127);
}

int
cnt_server_is_alive(const struct cnt_server *s)
{
	return cnt_is_running(s->pid);
}

int
cnt_server_run(struct cnt_server *s)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);
	int64_t until = cnt_now_ms() + READY_MS;
	struct cnt_programs programs;
	struct cnt_argv a = { 0 };
	pid_t parent = getpid();

	if (cnt_server_find(type, &programs) < 0)
		return -1;
	a.args[a.n++] = programs.server;
	type->run_args(s, &a);
	fflush(NULL);
	s->pid = fork();
	if (s->pid == 0)
		exec_server(s, programs.server, &a, parent);
	if (s->pid < 0) {
		perror("fork");
		s->pid = 0;
		return -1;
	}
	write_pid(s);
	while (!type->is_ready(s)) {
		if (!cnt_server_is_alive(s) || cnt_now_ms() > until) {
			fprintf(stderr, "# %s %s\n", type->name,
				cnt_server_is_alive(s) ? "does not take connections"
						       : "ended at its start");
			cnt_server_show_log(s);
			cnt_server_kill(s);
			return -1;
		}
		cnt_pause_ms(5);
	}
	return 0;
}

void
cnt_server_signal(const struct cnt_server *s, int sig)
{
	pid_t pids[MAX_CHILDREN + 1];
	size_t i, n;

	if (s->pid <= 0)
		return;
	n = all_processes(s->pid, pids);
	for (i = 0; i < n; i++)
		kill(pids[i], sig);
	for (i = 0; sig == SIGSTOP && i < n; i++)
		wait_for_stop(pids[i]);
}

void
cnt_server_kill(struct cnt_server *s)
{
	if (s->pid > 0)
		kill_all(s->pid);
	s->pid = 0;
	write_pid(s);
}

int
cnt_server_shutdown(struct cnt_server *s)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);
	int r = 0;

	if (s->pid <= 0)
		return 0;
	kill(s->pid, type->end_signal);
	if (!has_ended(s->pid, SHUTDOWN_MS)) {
		fprintf(stderr, "# %s did not end\n", type->name);
		cnt_server_show_log(s);
		kill_all(s->pid);
		r = -1;
	}
	s->pid = 0;
	write_pid(s);
	return r;
}

int
cnt_server_restart(struct cnt_server *s)
{
	return cnt_server_shutdown(s) < 0 ? -1 : cnt_server_run(s);
}

void
cnt_server_stop(struct cnt_server *s)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);

	if (!*s->dir)
		return;
	if (s->pid > 0)
		end_quickly(type, s->pid);
	s->pid = 0;
	type->sweep(s);
	end_guard(s);
	cnt_remove_tree(s->dir);
	*s->dir = '\0';
}

/* --------------------------------------------------------------- the directory ----- */

int
cnt_server_free_port(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	static int n;
	int i, fd, r = -1, port = 0;

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (i = 0; i < 200 && r < 0; i++) {
		port = 15000 + (int)((cnt_now_ms() + getpid() * 7 + n++ * 31) % 17000);
		sa.sin_port = htons((uint16_t)port);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		r = bind(fd, (struct sockaddr *)&sa, sizeof(sa));
		close(fd);
	}
	return r == 0 ? port : -1;
}

static int
write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t len = strlen(text);
	int r;

	if (fd < 0)
		return -1;
	r = write(fd, text, len) == (ssize_t)len && fchmod(fd, mode) == 0 ? 0 : -1;
	close(fd);
	return r;
}

static int
write_conf(const struct cnt_server *s)
{
	FILE *f = fopen(s->conf, "we");

	if (!f)
		return -1;
	if (cnt_server_type(s->kind)->write_conf(s, f) < 0) {
		fclose(f);
		return -1;
	}
	fchmod(fileno(f), 0644);
	return fclose(f);
}

int
cnt_server_configure(const struct cnt_server *s, const char *lines)
{
	FILE *f = fopen(s->conf, "ae");

	if (!f)
		return -1;
	fputs(lines, f);
	return fclose(f);
}

static void
name_paths(struct cnt_server *s)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);
	const struct {
		char *path;
		const char *name;
	} paths[] = {
		{ s->conf, "server.conf" },
		{ s->log, "log" },
		{ s->run_dir, "run" },
		{ s->passfile, "passfile" },
		{ s->certs, "certs" },
		{ s->ca, "certs/ca.crt" },
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		snprintf(paths[i].path, CNT_SERVER_PATH_MAX, "%.64s/%s", s->dir,
			paths[i].name);
	s->backend = type->backend;
	type->name_paths(s);
}

/* Make the directory without the data: the other files that a server needs. */
static int
make_dir(struct cnt_server *s, enum cnt_server_kind kind, unsigned flags)
{
	uid_t uid;
	gid_t gid;

	memset(s, 0, sizeof(*s));
	s->kind = kind;
	s->flags = flags;
	s->port = flags & CNT_SERVER_TCP ? cnt_server_free_port() : 5432;
	snprintf(s->dir, sizeof(s->dir), "/tmp/cenote-server-XXXXXX");
	if (s->port < 0 || server_user(cnt_server_type(kind), &uid, &gid) < 0 ||
		!mkdtemp(s->dir)) {
		perror("mkdtemp");
		*s->dir = '\0';
		return -1;
	}
	name_paths(s);
	/* A server that runs as another user must be able to pass through. */
	if (chmod(s->dir, 0755) < 0 || mkdir(s->run_dir, 0755) < 0 ||
		chmod(s->run_dir, 0755) < 0 || (uid && chown(s->run_dir, uid, gid) < 0) ||
		write_file(s->passfile, cnt_server_type(kind)->passfile, 0600) < 0 ||
		write_conf(s) < 0 || start_guard(s) < 0) {
		perror(s->dir);
		cnt_server_stop(s);
		return -1;
	}
	return 0;
}

/* ------------------------------------------------------------------- templates ----- */

/* Templates are made once: directories NAME in the cache, each renamed to that when it is
 * complete. */

static const char *
cache_dir(void)
{
	return cnt_env_or("CNT_SERVER_CACHE", CNT_DEFAULT_SERVER_CACHE);
}

/* Lock the cache. Returns a descriptor that holds the lock. */
static int
lock_cache(void)
{
	char path[PATH_MAX];
	int fd;

	if (mkdir(cache_dir(), 0755) < 0 && errno != EEXIST)
		return -1;
	snprintf(path, sizeof(path), "%.4000s/lock", cache_dir());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static unsigned
hash(unsigned h, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	while (len-- > 0)
		h = (h ^ *p++) * 16777619u;
	return h;
}

/* Another version of a program, or of what we make with it, needs another template. */
static unsigned
hash_file(unsigned h, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return h;
	h = hash(h, path, strlen(path));
	h = hash(h, &st.st_mtime, sizeof(st.st_mtime));
	return hash(h, &st.st_size, sizeof(st.st_size));
}

static int
initialise(struct cnt_server *s, const struct cnt_programs *programs)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);
	struct cnt_argv a = { 0 };
	struct cnt_command c = { .argv = a.args };
	char data[CNT_SERVER_PATH_MAX];

	a.args[a.n++] = programs->init;
	type->init_args(s, &a);
	snprintf(data, sizeof(data), "%.64s/data", s->dir);
	return server_user(type, &c.uid, &c.gid) < 0 || mkdir(data, 0700) < 0 ||
			       (c.uid && chown(data, c.uid, c.gid) < 0) || cnt_run(&c) < 0
		       ? -1
		       : 0;
}

static int run_client(const struct cnt_server *s, const char *database, const char *sql,
	char *ret_text, size_t size);

/* Start a new server, set it up for the tests, end it in order, and keep its data. */
static int
make_data(enum cnt_server_kind kind, const char *to)
{
	const struct cnt_server_type *type = cnt_server_type(kind);
	struct cnt_programs programs;
	struct cnt_server s;
	char data[CNT_SERVER_PATH_MAX];
	int r;

	if (cnt_server_find(type, &programs) < 0 || make_dir(&s, kind, 0) < 0)
		return -1;
	snprintf(data, sizeof(data), "%.64s/data", s.dir);
	r = initialise(&s, &programs) < 0 || cnt_server_run(&s) < 0 ||
			    run_client(&s, type->setup_database, type->setup, NULL, 0) <
				    0 ||
			    cnt_server_shutdown(&s) < 0 || copy_tree(data, to) < 0
		    ? -1
		    : 0;
	cnt_server_stop(&s);
	return r;
}

static int
make_certs(const char *to)
{
	const char *const argv[] = { CNT_MAKE_CERTS, to, NULL };

	return mkdir(to, 0755) < 0 ? -1 : run_simple(argv);
}

/* Copy a template, and make it first if the cache does not have it. kind < 0: certificates. */
static int
from_cache(int kind, const char *name, const char *to)
{
	char path[PATH_MAX], tmp[PATH_MAX];
	int r = 0, lock = lock_cache();

	if (lock < 0) {
		fprintf(stderr, "# %s: %s; name another directory in CNT_SERVER_CACHE\n",
			cache_dir(), strerror(errno));
		return -1;
	}
	snprintf(path, sizeof(path), "%.4000s/%s", cache_dir(), name);
	snprintf(tmp, sizeof(tmp), "%.4000s/new", cache_dir());
	if (access(path, F_OK) < 0) {
		cnt_remove_tree(tmp);
		r = kind < 0 ? make_certs(tmp) : make_data(kind, tmp);
		if (r == 0)
			r = rename(tmp, path);
	}
	close(lock);
	return r < 0 ? -1 : copy_tree(path, to);
}

static int
get_data(const struct cnt_server *s)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);
	struct cnt_programs programs;
	char name[64], to[CNT_SERVER_PATH_MAX];
	unsigned h;

	if (cnt_server_find(type, &programs) < 0)
		return -1;
	h = hash_file(2166136261u, programs.server);
	h = hash(h, type->setup, strlen(type->setup));
	snprintf(name, sizeof(name), "%s-%u-%08x", type->backend, (unsigned)geteuid(), h);
	snprintf(to, sizeof(to), "%.64s/data", s->dir);
	return from_cache((int)s->kind, name, to);
}

int
cnt_server_certs(const char *to)
{
	char name[64];

	snprintf(name, sizeof(name), "certs-%u-%08x", (unsigned)geteuid(),
		hash_file(2166136261u, CNT_MAKE_CERTS));
	return from_cache(-1, name, to);
}

static int
get_certs(const struct cnt_server *s)
{
	char key[CNT_SERVER_PATH_MAX];
	uid_t uid;
	gid_t gid;

	snprintf(key, sizeof(key), "%.64s/certs/server.key", s->dir);
	if (cnt_server_certs(s->certs) < 0 ||
		server_user(cnt_server_type(s->kind), &uid, &gid) < 0)
		return -1;
	return uid ? chown(key, uid, gid) : 0;
}

int
cnt_server_create(struct cnt_server *s, enum cnt_server_kind kind, unsigned flags)
{
	if (make_dir(s, kind, flags) < 0)
		return -1;
	if (get_data(s) < 0 || (flags & CNT_SERVER_TCP && get_certs(s) < 0)) {
		cnt_server_stop(s);
		return -1;
	}
	return 0;
}

/* Another process may have taken the port meanwhile. */
static int
lost_its_port(const struct cnt_server *s)
{
	char line[512];
	int is_lost = 0;
	FILE *f = s->flags & CNT_SERVER_TCP ? fopen(s->log, "re") : NULL;

	if (!f)
		return 0;
	while (!is_lost && fgets(line, sizeof(line), f))
		is_lost = strstr(line, "already in use") != NULL;
	fclose(f);
	return is_lost;
}

int
cnt_server_start(struct cnt_server *s, enum cnt_server_kind kind, unsigned flags)
{
	int tries = 0, again = 1;

	while (again) {
		if (cnt_server_create(s, kind, flags) < 0)
			return -1;
		if (cnt_server_run(s) == 0)
			return 0;
		again = lost_its_port(s) && ++tries < PORT_TRIES;
		cnt_server_stop(s);
	}
	return -1;
}

/* ----------------------------------------------------------------- replication ----- */

int
cnt_server_replicates(const struct cnt_server *s, int waits)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);

	return type->replicates(s, waits);
}

/* PostgreSQL: copy the data of the running primary. */
static int
copy_data(const struct cnt_server *s, const struct cnt_server *primary)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);
	struct cnt_programs programs;
	struct cnt_argv a = { 0 };
	struct cnt_command c = { .argv = a.args };
	char path[PATH_MAX + 16], data[CNT_SERVER_PATH_MAX];

	snprintf(data, sizeof(data), "%.64s/data", s->dir);
	if (cnt_server_find(type, &programs) < 0 ||
		server_user(type, &c.uid, &c.gid) < 0 || mkdir(data, 0700) < 0 ||
		(c.uid && chown(data, c.uid, c.gid) < 0))
		return -1;
	snprintf(path, sizeof(path), "%.*s/pg_basebackup",
		(int)(strrchr(programs.server, '/') - programs.server), programs.server);
	a.args[a.n++] = path;
	type->copy_args(s, primary, &a);
	return cnt_run(&c);
}

int
cnt_server_create_replica(struct cnt_server *s, const struct cnt_server *primary)
{
	if (primary->kind == CNT_MARIADB) {
		if (cnt_server_create(s, primary->kind, primary->flags) == 0 &&
			cnt_server_replicates(s, 0) == 0)
			return 0;
	} else if (make_dir(s, primary->kind, primary->flags) == 0 &&
		   copy_data(s, primary) == 0 && cnt_server_replicates(s, 0) == 0 &&
		   cnt_server_follow(s, primary) == 0) {
		return 0;
	}
	cnt_server_stop(s);
	return -1;
}

int
cnt_server_follow(const struct cnt_server *s, const struct cnt_server *primary)
{
	return cnt_server_type(s->kind)->follow(s, primary);
}

/* ------------------------------------------------------------------------- use ----- */

int
cnt_server_is_installed(enum cnt_server_kind kind)
{
	struct cnt_programs programs;

	return cnt_server_find(cnt_server_type(kind), &programs) == 0;
}

void
cnt_server_need(enum cnt_server_kind kind)
{
	const struct cnt_server_type *type = cnt_server_type(kind);

	if (cnt_server_is_installed(kind))
		return;
	printf("1..0 # SKIP %s is not installed (%s, %s, %s): scripts/install-deps test, "
	       "or set "
	       "%s\n",
		type->name, type->names[0], type->names[1], type->names[2],
		type->bin_env);
	exit(0);
}

static int
run_client(const struct cnt_server *s, const char *database, const char *sql,
	char *ret_text, size_t size)
{
	const struct cnt_server_type *type = cnt_server_type(s->kind);
	struct cnt_programs programs;
	struct cnt_argv a = { 0 };
	struct cnt_command c = {
		.argv = a.args, .input = sql, .output = ret_text, .size = size
	};

	if (cnt_server_find(type, &programs) < 0)
		return -1;
	a.args[a.n++] = programs.client;
	type->client_args(s, database, &a);
	return cnt_run(&c);
}

static const char *
text_for(const struct cnt_server *s, const char *sql)
{
	return s->kind == CNT_MARIADB ? cnt_server_text(sql) : sql;
}

int
cnt_server_sql(const struct cnt_server *s, const char *sql)
{
	return run_client(s, "app", text_for(s, sql), NULL, 0);
}

int
cnt_server_ask(const struct cnt_server *s, const char *sql, char *ret_text, size_t size)
{
	return run_client(s, "app", text_for(s, sql), ret_text, size);
}

char *
cnt_server_config(const struct cnt_server *s, const char *lines, char *ret, size_t size)
{
	snprintf(ret, size,
		CNT_DAEMON_GLOBAL "\n[pool main]\nbackend = %s\nserver = %s\n%s",
		s->backend, s->server_line, lines);
	return ret;
}

void
cnt_server_show_log(const struct cnt_server *s)
{
	char line[512];
	FILE *f = fopen(s->log, "re");

	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		fprintf(stderr, "# %s: %s", cnt_server_type(s->kind)->name, line);
	fclose(f);
}
