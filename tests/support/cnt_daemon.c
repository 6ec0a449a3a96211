/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_MS 60000
#define END_MS   20000

/* The length of the placeholder at `text`, and its replacement; 0: no placeholder. */
static size_t
placeholder(const struct cnt_daemon *d, const char *text, const char **ret_value)
{
	const struct passwd *pw = getpwuid(geteuid());
	const struct {
		const char *name;
		const char *value;
	} table[] = {
		{ "@DIR@", d->dir },
		{ "@USER@", pw ? pw->pw_name : "root" },
		{ "@BACKENDS@", cnt_env_or("CNT_BACKEND_DIR", d->backends) },
		{ "@LINES@", cnt_env_or("CNT_DAEMON_LINES", "") },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		size_t len = strlen(table[i].name);

		if (strncmp(text, table[i].name, len) != 0)
			continue;
		*ret_value = table[i].value;
		return len;
	}
	return 0;
}

/* With CNT_LENDS in the environment, the pools of a configuration lend if they can, unless it says itself which do. */
static void
put_lend(const char *config, const char *p, FILE *f)
{
	static const char backend[] = "\nbackend = postgresql\n";

	if (getenv("CNT_LENDS") != NULL && strstr(config, "\nlend = ") == NULL &&
		strncmp(p, backend, sizeof(backend) - 1) == 0)
		fputs("\nlend = auto", f);
}

/* With CNT_CACHES in the environment, the pools of a configuration without rules keep the results of their queries. */
static void
put_cache(const char *config, const char *p, FILE *f)
{
	static const char *const backends[] = { "\nbackend = postgresql\n",
		"\nbackend = mysql\n", "\nbackend = sqlite\n" };

	if (getenv("CNT_CACHES") == NULL || strstr(config, "\nrule = ") != NULL)
		return;
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
		if (strncmp(p, backends[i], strlen(backends[i])) == 0)
			fputs("\nrule = class=read -> cache ttl=1min", f);
	}
}

#define MAIN_POOL "[pool main]"

/* With CNT_ROUTER in the environment, "main" is a router, and the pool of that name is called "behind". */
static int
has_router(const char *config)
{
	return getenv("CNT_ROUTER") != NULL && strstr(config, MAIN_POOL) != NULL &&
	       strstr(config, "backend = router") == NULL;
}

/* Whether the text begins so. */
static int
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Whether a line of the pool says what the pool wants from its clients. Then it is a line of the router. */
static int
faces_clients(const char *line)
{
	static const char *const keys[] = { "auth", "users =", "allow", "deny =", "tls_",
		"idle_client_timeout", "user_limits", "address_limits" };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (begins(line, keys[i]))
			return 1;
	}
	return 0;
}

/* Whether the pool "main" has this line. */
static int
main_has(const char *config, const char *line)
{
	const char *at = strstr(strstr(config, MAIN_POOL), line);
	const char *next = strstr(strstr(config, MAIN_POOL), "\n[");

	return at != NULL && (next == NULL || at < next);
}

/* Write the router, and the head of the pool behind it. The router has as many sessions as that pool. But if clients take turns on those, the
 * router must not hold them back. */
static void
put_router(const char *config, int takes_turns, FILE *f)
{
	const char *line = strstr(config, MAIN_POOL);

	fputs(MAIN_POOL "\nbackend = router\nserver = main=behind\n", f);
	if (takes_turns)
		fputs("sessions = 1..16\n", f);
	while ((line = strchr(line, '\n')) != NULL && *++line != '[') {
		if (faces_clients(line) || (!takes_turns && begins(line, "sessions =")))
			fprintf(f, "%.*s\n", (int)strcspn(line, "\n"), line);
	}
	fputs("\n[pool behind]\n", f);
}

/* Write the configuration with a router. */
static void
put_routed(const char *config, FILE *f)
{
	int is_main = 0, takes_turns = main_has(config, "\nmode = transaction\n");
	size_t n;

	for (const char *line = config; *line != '\0'; line += n + (line[n] != '\0')) {
		n = strcspn(line, "\n");
		if (*line == '[')
			is_main = begins(line, MAIN_POOL);
		if (is_main && *line == '[')
			put_router(config, takes_turns, f);
		else if (!is_main || !faces_clients(line))
			fprintf(f, "%.*s\n", (int)n, line);
	}
}

/* Write the configuration with its placeholders replaced. */
static void
put_text(const struct cnt_daemon *d, const char *config, FILE *f)
{
	const char *p = config;

	while (*p) {
		const char *value;
		size_t len = *p == '@' ? placeholder(d, p, &value) : 0;

		put_lend(config, p, f);
		put_cache(config, p, f);
		if (len > 0)
			fputs(value, f);
		else
			fputc(*p, f);
		p += len > 0 ? len : 1;
	}
}

int
cnt_daemon_configure(struct cnt_daemon *d, const char *config)
{
	char path[CNT_PATH_MAX + 8], *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return -1;
	put_text(d, config != NULL ? config : CNT_DAEMON_CONFIG, f);
	fclose(f);
	snprintf(path, sizeof(path), "%s.new", d->conf);
	f = fopen(path, "we");
	if (!f) {
		perror(path);
		free(text);
		return -1;
	}
	if (has_router(text))
		put_routed(text, f);
	else
		fputs(text, f);
	free(text);
	return fclose(f) == 0 && rename(path, d->conf) == 0 ? 0 : -1;
}

/* Each backend of the build has a folder of its own; give cenoted one folder with all of them. */
static int
gather_backends(const struct cnt_daemon *d)
{
	char path[CNT_PATH_MAX + 64];
	glob_t found;
	size_t i;
	int r = mkdir(d->backends, 0755);

	if (r < 0 || glob(CNT_DEFAULT_BACKENDS "/*/cenoted-*.so", 0, NULL, &found) != 0)
		return r;
	for (i = 0; i < found.gl_pathc && r == 0; i++) {
		const char *module = found.gl_pathv[i];

		snprintf(path, sizeof(path), "%s/%.60s", d->backends,
			strrchr(module, '/') + 1);
		r = symlink(module, path);
	}
	globfree(&found);
	return r;
}

int
cnt_daemon_create(struct cnt_daemon *d, const char *config)
{
	memset(d, 0, sizeof(*d));
	snprintf(d->dir, sizeof(d->dir), "/tmp/cenote-test-XXXXXX");
	if (!mkdtemp(d->dir)) {
		perror("mkdtemp");
		return -1;
	}
	snprintf(d->run_dir, sizeof(d->run_dir), "%.64s/run", d->dir);
	snprintf(d->db, sizeof(d->db), "%.64s/main.db", d->dir);
	snprintf(d->backends, sizeof(d->backends), "%.64s/backends", d->dir);
	snprintf(d->conf, sizeof(d->conf), "%.64s/cenoted.conf", d->dir);
	snprintf(d->log, sizeof(d->log), "%.64s/log", d->dir);
	snprintf(d->uri, sizeof(d->uri), "cenote:///main?run_dir=%s", d->run_dir);
	if (mkdir(d->run_dir, 0755) < 0 || gather_backends(d) < 0 ||
		cnt_daemon_configure(d, config) < 0) {
		perror(d->dir);
		cnt_remove_tree(d->dir);
		return -1;
	}
	return 0;
}

/* Connect as many clients as may wait. */
static int
fill_queue(const struct sockaddr_un *addr)
{
	int fd;

	do {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	} while (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0);
	return errno == EAGAIN ? 0 : -1;
}

/* Runs in the child: does not return. */
static void
jam(const struct sockaddr_un *addr, unsigned jam_ms, int tell)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 ||
		listen(fd, 0) < 0 || fill_queue(addr) < 0 || write(tell, "", 1) != 1)
		_exit(1);
	cnt_pause_ms((int)jam_ms);
	if (accept(fd, NULL, NULL) < 0)
		_exit(1);
	cnt_pause_ms(200);
	_exit(0);
}

pid_t
cnt_daemon_jam(const struct cnt_daemon *d, unsigned jam_ms)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int ready[2], r;
	pid_t pid;
	char byte;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/main.sock", d->run_dir);
	(void)unlink(addr.sun_path);
	if (pipe(ready) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		jam(&addr, jam_ms, ready[1]);
	(void)close(ready[1]);
	r = pid > 0 && read(ready[0], &byte, 1) == 1;
	(void)close(ready[0]);
	return r ? pid : -1;
}

void
cnt_daemon_show_log(const struct cnt_daemon *d)
{
	char line[512];
	FILE *f = fopen(d->log, "re");

	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		fprintf(stderr, "# cenoted: %s", line);
	fclose(f);
}

/* Runs in the child: does not return. */
static void
exec_daemon(const struct cnt_daemon *d, pid_t parent)
{
	const char *program = cnt_env_or("CNT_CENOTED", CNT_DEFAULT_CENOTED);
	int fd = open(d->log, O_WRONLY | O_CREAT | O_APPEND, 0644);

	setpgid(0, 0);
	/* If the test is killed, its daemon ends too. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || fd < 0)
		_exit(126);
	dup2(fd, STDERR_FILENO);
	dup2(fd, STDOUT_FILENO);
	fd = open("/dev/null", O_RDONLY);
	dup2(fd, STDIN_FILENO);
	closefrom(STDERR_FILENO + 1);
	execl(program, program, "-c", d->conf, (char *)NULL);
	fprintf(stderr, "%s: %s\n", program, strerror(errno));
	_exit(127);
}

static int
takes_connections(const struct cnt_daemon *d, const char *pool, int len)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return 0;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.80s/%.*s.sock", d->run_dir,
		len < 20 ? len : 20, pool);
	r = connect(fd, (struct sockaddr *)&sa, sizeof(sa));
	close(fd);
	return r == 0;
}

/* Each "[pool NAME]" of the configuration file must accept connections. */
static int
all_pools_ready(const struct cnt_daemon *d)
{
	char line[512];
	int is_ready = 1;
	FILE *f = fopen(d->conf, "re");

	if (!f)
		return 0;
	while (is_ready && fgets(line, sizeof(line), f)) {
		const char *name = line + strlen("[pool ");

		if (strncmp(line, "[pool ", strlen("[pool ")) == 0)
			is_ready = takes_connections(d, name, (int)strcspn(name, "]"));
	}
	fclose(f);
	return is_ready;
}

int
cnt_daemon_is_alive(struct cnt_daemon *d)
{
	return cnt_is_running(d->pid);
}

int
cnt_daemon_run(struct cnt_daemon *d)
{
	int64_t until = cnt_now_ms() + READY_MS;
	pid_t parent = getpid();

	/* Orphans of the daemon become our children, so that we see their end. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fflush(NULL);
	d->pid = fork();
	if (d->pid < 0) {
		d->pid = 0;
		perror("fork");
		return -1;
	}
	if (d->pid == 0)
		exec_daemon(d, parent);
	setpgid(d->pid, d->pid);
	while (!all_pools_ready(d)) {
		if (!cnt_daemon_is_alive(d) || cnt_now_ms() > until) {
			fprintf(stderr, "# cenoted %s\n",
				cnt_daemon_is_alive(d) ? "does not take connections"
						       : "ended at its start");
			cnt_daemon_show_log(d);
			cnt_daemon_end(d);
			return -1;
		}
		cnt_pause_ms(2);
	}
	return 0;
}

int
cnt_daemon_start(struct cnt_daemon *d, const char *config)
{
	if (cnt_daemon_create(d, config) < 0)
		return -1;
	if (cnt_daemon_run(d) < 0) {
		cnt_remove_tree(d->dir);
		return -1;
	}
	return 0;
}

/* Wait for the end of the master and of every process in its group. */
static int
wait_for_end(pid_t pid, int *ret_status)
{
	int64_t until = cnt_now_ms() + END_MS;
	pid_t r = 0;

	while ((r = waitpid(pid, ret_status, WNOHANG)) == 0 && cnt_now_ms() < until)
		cnt_pause_ms(2);
	if (r != pid)
		return -1;
	until = cnt_now_ms() + 2000;
	while (kill(-pid, 0) == 0) {
		while (waitpid(-pid, NULL, WNOHANG) > 0)
			;
		if (cnt_now_ms() > until)
			return -1;
		cnt_pause_ms(2);
	}
	return 0;
}

int
cnt_daemon_end(struct cnt_daemon *d)
{
	int status = -1;
	pid_t pid = d->pid;

	if (pid <= 0)
		return 0;
	d->pid = 0;
	kill(pid, SIGTERM);
	if (wait_for_end(pid, &status) < 0) {
		fprintf(stderr, "# cenoted, or a child of it, did not end\n");
		kill(-pid, SIGKILL);
		waitpid(pid, &status, WNOHANG);
		return -1;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "# cenoted ended with wait status 0x%x\n", status);
		return -1;
	}
	return 0;
}

int
cnt_daemon_stop(struct cnt_daemon *d)
{
	int r = cnt_daemon_end(d);

	if (r < 0)
		cnt_daemon_show_log(d);
	cnt_remove_tree(d->dir);
	return r;
}

size_t
cnt_daemon_children(const struct cnt_daemon *d, pid_t *ret_pids, size_t max)
{
	return cnt_children_of(d->pid, ret_pids, max);
}
