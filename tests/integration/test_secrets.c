/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Secrets are planted wherever one can be, and then looked for wherever something is shown: logs at
 * every level, --check, the status, errors, command lines, environments, and the memory of
 * processes that have no use for them. test_auth.c looks for the secrets of a users file.
 */
#include "with_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERVER_PASSWORD "planted-Server-4711"
#define FILE_PASSWORD   "planted-File-4712"
#define ENV_PASSWORD    "planted-Env-4713"
#define URI_PASSWORD    "planted-Uri-4714"
#define WRONG_PASSWORD  "planted-Wrong-4715"

/* Nothing listens on this port. */
#define NOWHERE    "host=127.0.0.1 port=1 dbname=app user=app"
#define OTHER_POOL "\n[pool other]\nbackend = postgresql\nsessions = 1\n"

/* A text that only the file of the pool's key contains. */
static char key_line[128];
static const char *const secrets[] = { SERVER_PASSWORD, FILE_PASSWORD, ENV_PASSWORD,
	URI_PASSWORD, WRONG_PASSWORD, key_line, "pyJUZwriiGqf0XCdoSnMWjPBV" };

static char text[1 << 20];

/* ---- looking ---- */

static void
expect_none(const char *where, const char *bytes, size_t n)
{
	for (size_t i = 0; i < CNT_COUNT(secrets); i++) {
		if (memmem(bytes, n, secrets[i], strlen(secrets[i])) != NULL)
			fail_msg("%s shows \"%s\"", where, secrets[i]);
	}
}

static size_t
read_whole(const char *path)
{
	FILE *f = fopen(path, "re");
	size_t n;

	if (f == NULL)
		fail_msg("%s: %s", path, strerror(errno));
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	return n;
}

static void
expect_clean_file(const char *path)
{
	size_t n = read_whole(path);

	assert_true(n > 0);
	expect_none(path, text, n);
}

/* ENV_PASSWORD may be in the environment, and nowhere else. */
static void
expect_clean_processes(void)
{
	pid_t pids[16];
	size_t n = cnt_daemon_children(&wp_daemon, pids, CNT_COUNT(pids) - 1);
	char path[64];

	assert_true(n >= 2);
	pids[n++] = wp_daemon.pid;
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pids[i]);
		expect_clean_file(path);
		snprintf(path, sizeof(path), "/proc/%d/environ", (int)pids[i]);
		for (size_t j = 0, len = read_whole(path); j < CNT_COUNT(secrets); j++) {
			if (strcmp(secrets[j], ENV_PASSWORD) != 0)
				assert_null(memmem(
					text, len, secrets[j], strlen(secrets[j])));
		}
	}
}

static void
expect_clean_status(const char *what)
{
	cenote_conn *conn = wp_handle(NULL);
	const char *values[32];
	cenote_result *res;
	size_t lens[32];

	assert_ok(cenote_status(conn, what, &res));
	assert_true(cenote_result_n_rows(res) > 0);
	for (uint64_t row = 0; row < cenote_result_n_rows(res); row++) {
		assert_ok(cenote_result_row(res, row, values, lens));
		for (uint32_t i = 0; i < cenote_result_n_columns(res); i++)
			expect_none(what, values[i], lens[i]);
	}
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
}

/* `ending`: "taken" if --check must accept the configuration, "refused" if it must not. */
static void
expect_clean_check(const char *ending)
{
	const char *const argv[] = { "sh", "-c",
		"if \"$0\" --check -c \"$1\" 2>&1; then echo taken; else echo refused; "
		"fi",
		cnt_env_or("CNT_CENOTED", CNT_CENOTED_PATH), wp_daemon.conf, NULL };
	const struct cnt_command check = {
		.argv = argv, .output = text, .size = sizeof(text)
	};

	memset(text, 0, sizeof(text));
	assert_int_equal(cnt_run(&check), 0);
	if (strstr(text, ending) == NULL)
		fail_msg("--check: %s", text);
	expect_none("--check", text, sizeof(text));
}

/* ---- memory ---- */

#define SHADOW_MIN (1ul << 36)

/* Search a process's memory. Returns 1, 0 if the secret is not there, or -1 if the memory cannot be
 * read. */
static int
memory_has(pid_t pid, const char *secret)
{
	unsigned long from, to;
	char path[64], line[512], rights[8];
	int has = 0, fd;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (fd < 0 || maps == NULL)
		return -1;
	while (fgets(line, sizeof(line), maps) != NULL) {
		/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
		if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 ||
			strncmp(rights, "rw", 2) != 0 || strstr(line, "/dev/zero"))
			continue;
		/* skip a sanitizer's shadow: no memory of ours is as large */
		if (to - from > SHADOW_MIN)
			continue;
		while (from < to && !has) {
			size_t size = to - from < sizeof(text) ? to - from : sizeof(text);
			ssize_t n = pread(fd, text, size, (off_t)from);

			has = n > 0 && memmem(text, (size_t)n, secret, strlen(secret));
			/* a secret across the end of this piece is found in the next */
			from += size < sizeof(text) ? size : size - 256;
		}
	}
	fclose(maps);
	close(fd);
	return has;
}

/* The child with this role ("door") or of this pool ("worker other"), from the last log line of its
 * kind. */
static pid_t
process_named(const char *role)
{
	size_t n = read_whole(wp_daemon.log);
	char *last = NULL, *end = NULL;
	char wanted[64];

	text[n < sizeof(text) ? n : sizeof(text) - 1] = '\0';
	snprintf(wanted, sizeof(wanted), "] %s: ", role);
	for (char *at = text; (at = strstr(at, wanted)) != NULL; at++)
		last = at;
	if (last == NULL)
		fail_msg("the log has no %s", role);
	while (last > text && *last != '[')
		last--;
	return (pid_t)strtol(last + 1, &end, 10);
}

static void
expect_forgotten(const char *role, const char *secret)
{
	int has = memory_has(process_named(role), secret);

	if (has < 0)
		skip();
	if (has > 0)
		fail_msg("the memory of %s has \"%s\"", role, secret);
}

/* ---- planting ---- */

static void
put_file(const char *name, const char *content)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", wp_daemon.dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fchmod(fileno(f), 0600), 0);
	assert_true(fputs(content, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int
setup(void **state)
{
	setenv("PGPASSWORD", ENV_PASSWORD, 1);
	return wt_make_certs(state);
}

/* Set the log level, from cenoted's next start on. */
static void
use_level(const char *level)
{
	static const char before[] = "log_level = debug";
	char *at, *rest;
	size_t n = read_whole(wp_daemon.conf);

	assert_true(n < sizeof(text));
	text[n] = '\0';
	at = strstr(text, before);
	assert_non_null(at);
	rest = strdup(at + sizeof(before) - 1);
	assert_non_null(rest);
	sprintf(at, "log_level = %s%s", level, rest);
	free(rest);
	assert_int_equal(cnt_daemon_configure(&wp_daemon, text), 0);
}

/* Start the pool main with TLS and users, a pool whose server line has a password, a pool with a
 * file of passwords, and a pool with neither. */
static int
start_at(const char *level)
{
	static const char lines[] =
		"auth = scram-sha-256\n" OTHER_POOL "server = " NOWHERE
		" password=" SERVER_PASSWORD "\n"
		"\n[pool filed]\nbackend = postgresql\n"
		"sessions = 1\nserver = " NOWHERE " passfile=@DIR@/passwords\n"
		"\n[pool bare]\nbackend = postgresql\n"
		"sessions = 1\nserver = " NOWHERE "\n";
	int port = wt_start_with_users(lines);

	put_file("passwords", "*:*:*:*:" FILE_PASSWORD "\n");
	read_whole(wt_file("server.key"));
	snprintf(
		key_line, sizeof(key_line), "%.40s", (char *)memchr(text, '\n', 200) + 1);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	use_level(level);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	return port;
}

static void
expect_cannot_connect(const char *pool)
{
	cenote_conn *conn;

	assert_true(wp_try(pool, &conn) < 0);
	expect_none("an error", wp_message(conn), strlen(wp_message(conn)));
	cenote_conn_destroy(conn);
}

static void
log_in(int port, const char *password, int status)
{
	cenote_conn *conn = wt_joe(port, password, "require");

	assert_int_equal(cenote_connect(conn), status);
	expect_none("an error", wp_message(conn), strlen(wp_message(conn)));
	cenote_conn_destroy(conn);
}

/* ---- what is shown ---- */

static void
nothing_shows_a_secret_at_any_level(void **state)
{
	static const char *const levels[] = { "error", "warning", "notice", "info",
		"debug" };

	for (size_t i = 0; i < CNT_COUNT(levels); i++) {
		int port = start_at(levels[i]);

		expect_cannot_connect("other");
		expect_cannot_connect("filed");
		expect_cannot_connect("bare");
		log_in(port, "secret", CENOTE_OK);
		log_in(port, WRONG_PASSWORD, CENOTE_ERR_AUTH);
		expect_clean_status("pools");
		expect_clean_status("workers");
		expect_clean_processes();
		expect_clean_check("taken");
		assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
		assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
		if (read_whole(wp_daemon.log) > 0)
			expect_clean_file(wp_daemon.log);
		assert_int_equal(wp_teardown(state), 0);
	}
}

/* Errors name their subject, but nothing that may be part of a password. */
static void
a_bad_configuration_is_told_without_its_passwords(void **state)
{
	static const char *const lines[] = {
		"server = " NOWHERE " password=" SERVER_PASSWORD " " FILE_PASSWORD "\n",
		"server = " NOWHERE " password='" SERVER_PASSWORD "\n",
		"server = " NOWHERE " pasword=" SERVER_PASSWORD "\n",
		"server = " NOWHERE " password=" SERVER_PASSWORD
		" password=" FILE_PASSWORD "\n",
		"server = postgresql://app:" SERVER_PASSWORD "@127.0.0.1:1/app\n",
		"server = " SERVER_PASSWORD "\n",
		"server " SERVER_PASSWORD "\n",
	};

	assert_int_equal(cnt_daemon_create(&wp_daemon, CNT_DAEMON_CONFIG), 0);
	for (size_t i = 0; i < CNT_COUNT(lines); i++) {
		char config[1024];

		snprintf(config, sizeof(config), CNT_DAEMON_GLOBAL OTHER_POOL "%s",
			lines[i]);
		assert_int_equal(cnt_daemon_configure(&wp_daemon, config), 0);
		expect_clean_check("refused");
	}
}

static void
a_bad_uri_is_told_without_its_password(void **state)
{
	static const char *const uris[] = {
		"cenote://joe:" URI_PASSWORD "@localhost:port/main",
		"cenote://joe:" URI_PASSWORD "@localhost:99999/main",
		"cenote://joe:" URI_PASSWORD "@[::1/main",
		"cenote://joe:" URI_PASSWORD "@localhost/main?colour=red",
		"cenote://joe:" URI_PASSWORD "@localhost/main?tls=maybe",
		"cenote://joe:" URI_PASSWORD "%zz@localhost/main",
		"cenote://joe:" URI_PASSWORD "@/a/b/c",
		"cenote:///main?pasword=" URI_PASSWORD,
		"cenote:///main?password=" URI_PASSWORD "&password",
		"cenot://joe:" URI_PASSWORD "@localhost/main",
		"postgresql://joe:" URI_PASSWORD "@localhost/main",
	};

	for (size_t i = 0; i < CNT_COUNT(uris); i++) {
		cenote_conn *conn;

		assert_ok(cenote_conn_create(NULL, &conn));
		if (cenote_conn_set_uri(conn, uris[i]) == CENOTE_OK &&
			cenote_connect(conn) == CENOTE_OK)
			fail_msg("\"%s\" was taken", uris[i]);
		assert_true(*wp_message(conn) != '\0');
		expect_none("an error", wp_message(conn), strlen(wp_message(conn)));
		cenote_conn_destroy(conn);
	}
}

static void
no_process_keeps_what_it_has_no_use_for(void **state)
{
	int port;

	port = start_at("debug");
	log_in(port, "secret", CENOTE_OK);
	expect_cannot_connect("other");
	/* the worker logs only refusals, and its log line is needed to find it */
	log_in(port, WRONG_PASSWORD, CENOTE_ERR_AUTH);
	expect_forgotten("worker main", SERVER_PASSWORD);
	expect_forgotten("worker other", key_line);
	expect_forgotten("worker other", "pyJUZwriiGqf0XCdoSnMWjPBV");
	/* the pool's own secret is there, so the search looks in the right places */
	assert_true(memory_has(process_named("worker other"), SERVER_PASSWORD) != 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing_shows_a_secret_at_any_level),
		TEST(a_bad_configuration_is_told_without_its_passwords),
		TEST(a_bad_uri_is_told_without_its_password),
		TEST(no_process_keeps_what_it_has_no_use_for),
	};

	return cmocka_run_group_tests_name("secrets", tests, setup, wt_remove_certs);
}
