/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts and stops a cenoted with an SQLite file in a temporary directory. main.c calls it. The
 * state is struct cnb_daemon.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cenote/cenote.h>

#include "bench.h"
#include "programs.h"

#define START_TIMEOUT_NS 15000000000
#define STOP_TIMEOUT_NS  10000000000

/* ------------------------------------------------------------- finding cenoted ----- */

/* Where cenoted is, relative to this program: as installed (bin/ and sbin/), and as built (bench/ and
 * cenoted/). */
static const char *const beside[] = { "cenoted", "../sbin/cenoted",
	"../cenoted/cenoted" };

static int
is_program(const char *path)
{
	return access(path, X_OK) == 0;
}

static int
find_beside(char *ret_path, size_t size)
{
	char self[PATH_MAX], *slash;
	ssize_t n;
	size_t i;

	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return -1;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash == NULL)
		return -1;
	*slash = '\0';
	for (i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		if ((size_t)snprintf(ret_path, size, "%s/%s", self, beside[i]) < size &&
			is_program(ret_path))
			return 0;
	}
	return -1;
}

static int
find_in_path(char *ret_path, size_t size)
{
	const char *path = getenv("PATH"), *end;

	for (; path != NULL; path = *end == '\0' ? NULL : end + 1) {
		end = strchrnul(path, ':');
		if ((size_t)snprintf(ret_path, size, "%.*s/cenoted", (int)(end - path),
			    path) < size &&
			is_program(ret_path))
			return 0;
	}
	return -1;
}

static int
find_cenoted(const char *wanted, char *ret_path, size_t size, struct cnb_error *ret_error)
{
	if (wanted != NULL) {
		if ((size_t)snprintf(ret_path, size, "%s", wanted) < size &&
			is_program(ret_path))
			return 0;
		snprintf(ret_error->text, sizeof(ret_error->text),
			"%s: not a program that can be run", wanted);
		return -1;
	}
	if (find_beside(ret_path, size) == 0 || find_in_path(ret_path, size) == 0)
		return 0;
	snprintf(ret_error->text, sizeof(ret_error->text),
		"cenoted is neither beside this program nor in PATH; name it with "
		"--cenoted, "
		"or a running pool with --uri");
	return -1;
}

/* --------------------------------------------------------------- the directory ----- */

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
cnb_directory_remove(char *dir)
{
	if (dir[0] != '\0')
		nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	dir[0] = '\0';
}

int
cnb_daemon_directory(struct cnb_daemon *daemon, struct cnb_error *ret_error)
{
	const char *tmp = getenv("TMPDIR");

	/* The path of a socket has at most 108 bytes. */
	if (tmp == NULL || tmp[0] != '/' || strlen(tmp) > 32)
		tmp = "/tmp";
	snprintf(daemon->dir, sizeof(daemon->dir), "%s/cenote-bench.XXXXXX", tmp);
	if (mkdtemp(daemon->dir) == NULL) {
		snprintf(ret_error->text, sizeof(ret_error->text), "%s: %s", daemon->dir,
			strerror(errno));
		daemon->dir[0] = '\0';
		return -1;
	}
	snprintf(daemon->file, sizeof(daemon->file), "%s/bench.db", daemon->dir);
	snprintf(daemon->uri, sizeof(daemon->uri), "cenote:///bench?run_dir=%s",
		daemon->dir);
	return 0;
}

/* ------------------------------------------------------------------ its TLS ----- */

/* Make a self-signed certificate. RSA allows both kinds of cipher suites. */
static int
make_certificate(const struct cnb_daemon *daemon, struct cnb_error *ret_error)
{
	char key[96], cert[96];
	int status;
	pid_t pid;

	snprintf(key, sizeof(key), "%s/tls.key", daemon->dir);
	snprintf(cert, sizeof(cert), "%s/tls.crt", daemon->dir);
	pid = fork();
	if (pid == 0) {
		int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(fd, 1);
		dup2(fd, 2);
		execlp("openssl", "openssl", "req", "-x509", "-newkey", "rsa:2048",
			"-nodes", "-keyout", key, "-out", cert, "-days", "30", "-subj",
			"/CN=cenote-bench", (char *)NULL);
		_exit(127);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		WEXITSTATUS(status) == 0 && chmod(key, 0600) == 0)
		return 0;
	snprintf(ret_error->text, sizeof(ret_error->text),
		"no certificate: the program openssl is needed to make one");
	return -1;
}

int
cnb_has_tls(void)
{
	char path[256];

	cnb_program_find("openssl", path, sizeof(path));
	return path[0] != '\0';
}

/* Find a free port. */
static int
find_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int port = 0;

	if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
		getsockname(fd, (struct sockaddr *)&at, &len) == 0)
		port = ntohs(at.sin_port);
	if (fd >= 0)
		close(fd);
	return port;
}

static int
prepare_tls(struct cnb_daemon *daemon, struct cnb_error *ret_error)
{
	daemon->port = find_port();
	snprintf(daemon->uri, sizeof(daemon->uri), "cenote://bench@127.0.0.1:%d/bench",
		daemon->port);
	return make_certificate(daemon, ret_error);
}

/* Write the pool on SQLite. Its number of sessions is fixed, so no process starts or ends while it works. */
static void
write_own_pool(
	const struct cnb_options *options, const struct cnb_daemon *daemon, FILE *f)
{
	uint32_t n = options->sessions;

	fprintf(f,
		"[pool bench]\nbackend = sqlite\nserver = path=%s\nsessions = %u..%u\n",
		daemon->file, n, n);
	if (options->mode != NULL)
		fprintf(f, "mode = %s\n", options->mode);
	if (daemon->port > 0)
		fprintf(f,
			"auth = peer\nauth = trust door=tcp\ntls_cert = %s/tls.crt\n"
			"tls_key = %s/tls.key\n",
			daemon->dir, daemon->dir);
}

static int
write_config(const struct cnb_options *options, const struct cnb_daemon *daemon,
	struct cnb_error *ret_error)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cenoted.conf", daemon->dir);
	f = fopen(path, "we");
	if (f == NULL)
		goto failed;
	fprintf(f, "[cenoted]\nrun_dir = %s\nlog = %s/cenoted.log\n%s\n", daemon->dir,
		daemon->dir, geteuid() == 0 ? "user = root\n" : "");
	if (daemon->port > 0)
		fprintf(f, "listen = 127.0.0.1:%d\n", daemon->port);
	if (options->only_pool == NULL)
		write_own_pool(options, daemon, f);
	if (options->more_pools != NULL)
		fputs(options->more_pools, f);
	/* The file may contain a password. */
	(void)fchmod(fileno(f), 0600);
	if (fclose(f) == 0)
		return 0;
failed:
	snprintf(ret_error->text, sizeof(ret_error->text), "%s: %s", path,
		strerror(errno));
	return -1;
}

/* ------------------------------------------------------------------ the process ----- */

static void
run_cenoted(const char *program, const struct cnb_daemon *daemon, pid_t parent)
{
	char config[96], log[96];
	int fd;

	snprintf(config, sizeof(config), "%s/cenoted.conf", daemon->dir);
	snprintf(log, sizeof(log), "%s/stderr.log", daemon->dir);
	/* Ctrl-C is for cenote-bench, which stops cenoted at its end. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd >= 0) {
		dup2(fd, 1);
		dup2(fd, 2);
	}
	execl(program, program, "-c", config, (char *)NULL);
	dprintf(2, "%s: %s\n", program, strerror(errno));
	_exit(127);
}

/* Read the last line of a log, for the message. */
static int
last_line(const char *dir, const char *name, char *ret_line, size_t size)
{
	char path[96], line[256];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0')
			continue;
		snprintf(ret_line, size, "%s", line);
		found = 1;
	}
	fclose(f);
	return found;
}

static int
say_why(const struct cnb_daemon *daemon, const char *what, struct cnb_error *ret_error)
{
	char line[256] = "it logged nothing";

	if (!last_line(daemon->dir, "stderr.log", line, sizeof(line)))
		(void)last_line(daemon->dir, "cenoted.log", line, sizeof(line));
	snprintf(ret_error->text, sizeof(ret_error->text), "%s: %s", what, line);
	return -1;
}

static int
has_ended(struct cnb_daemon *daemon)
{
	if (waitpid(daemon->pid, NULL, WNOHANG) != daemon->pid)
		return 0;
	daemon->pid = 0;
	return 1;
}

/* Wait until cenoted serves: try to attach. */
static int
wait_ready(struct cnb_daemon *daemon, struct cnb_error *ret_error)
{
	const struct cnb_target *pooled = cnb_target_pooled();
	struct cnb_env env = { .places = { daemon->uri, daemon->file } };
	int64_t end_ns = cnb_now_ns() + START_TIMEOUT_NS;
	struct cnb_session *session;
	struct cnb_error why = { "" };

	while (cnb_now_ns() < end_ns) {
		if (pooled->open(&env, &session, &why) == 0) {
			pooled->close(session);
			return 0;
		}
		if (has_ended(daemon))
			return say_why(daemon, "cenoted ended at once", ret_error);
		usleep(5000);
	}
	return say_why(daemon, why.text, ret_error);
}

int
cnb_pool_wait(const char *uri, struct cnb_error *ret_error)
{
	const struct cnb_target *pooled = cnb_target_pooled();
	struct cnb_env env = { .places = { uri } };
	int64_t end_ns = cnb_now_ns() + START_TIMEOUT_NS;
	struct cnb_session *session;

	do {
		if (pooled->open(&env, &session, ret_error) == 0) {
			pooled->close(session);
			return 0;
		}
		usleep(20000);
	} while (cnb_now_ns() < end_ns);
	return -1;
}

int
cnb_daemon_start(const struct cnb_options *options, struct cnb_daemon *ret_daemon,
	struct cnb_error *ret_error)
{
	struct cnb_daemon daemon = { 0 };
	char program[PATH_MAX];
	pid_t self = getpid();

	if (find_cenoted(options->cenoted, program, sizeof(program), ret_error) < 0)
		return -1;
	if (cnb_daemon_directory(&daemon, ret_error) < 0)
		return -1;
	if (options->has_tls && prepare_tls(&daemon, ret_error) < 0)
		goto failed;
	if (options->only_pool != NULL)
		snprintf(daemon.uri, sizeof(daemon.uri), "cenote:///%s?run_dir=%s",
			options->only_pool, daemon.dir);
	if (write_config(options, &daemon, ret_error) < 0)
		goto failed;
	daemon.pid = fork();
	if (daemon.pid == 0)
		run_cenoted(program, &daemon, self);
	if (daemon.pid < 0) {
		daemon.pid = 0;
		snprintf(ret_error->text, sizeof(ret_error->text), "fork: %s",
			strerror(errno));
		goto failed;
	}
	if (wait_ready(&daemon, ret_error) < 0)
		goto failed;
	*ret_daemon = daemon;
	return 0;

failed:
	cnb_daemon_stop(&daemon);
	return -1;
}

static void
end_process(struct cnb_daemon *daemon)
{
	int64_t end_ns = cnb_now_ns() + STOP_TIMEOUT_NS;

	kill(daemon->pid, SIGTERM);
	while (!has_ended(daemon)) {
		if (cnb_now_ns() > end_ns) {
			kill(daemon->pid, SIGKILL);
			end_ns = INT64_MAX;
		}
		usleep(2000);
	}
}

void
cnb_daemon_stop(struct cnb_daemon *daemon)
{
	if (daemon->pid > 0)
		end_process(daemon);
	cnb_directory_remove(daemon->dir);
}
