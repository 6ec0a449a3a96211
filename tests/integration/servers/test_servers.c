/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the servers from cnt_server.h, with the servers' own command line clients. */
#include "support/cnt_cmocka.h"
#include "support/cnt_server.h"
#include "support/cnt_server_kinds.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static enum cnt_server_kind kind;
static struct cnt_server server;

static int
start(void **state)
{
	return cnt_server_start(&server, kind, CNT_SERVER_TCP);
}

static int
stop(void **state)
{
	char dir[CNT_SERVER_PATH_MAX];

	memcpy(dir, server.dir, sizeof(dir));
	cnt_server_stop(&server);
	return access(dir, F_OK) == 0 ? -1 : 0;
}

static void
assert_answer(const char *sql, const char *wanted)
{
	char text[256];

	assert_int_equal(cnt_server_ask(&server, sql, text, sizeof(text)), 0);
	assert_string_equal(text, wanted);
}

static void
speaks_sql(void **state)
{
	assert_answer("select 6 * 7", "42");
	assert_answer("create table t (a int); insert into t values (1), (null); "
		      "select count(*), count(a) from t; drop table t",
		kind == CNT_POSTGRESQL ? "2|1" : "2\t1");
	assert_int_equal(cnt_server_sql(&server, "select nothing from nowhere"), -1);
}

/* Log in over TCP with the command line client, and print the user and the TLS version. Returns 0
 * if the login succeeded. */
static int
log_in(const char *user, const char *password, const char *const *tls, char *ret,
	size_t size)
{
	struct cnt_programs programs;
	const char *argv[16];
	char port[32], name[32], secret[64], conninfo[512];
	struct cnt_command c = { .argv = argv, .output = ret, .size = size };
	size_t n = 0;

	assert_int_equal(cnt_server_find(cnt_server_type(kind), &programs), 0);
	snprintf(port, sizeof(port), "--port=%d", server.port);
	snprintf(name, sizeof(name), "--user=%s", user);
	snprintf(secret, sizeof(secret), "--password=%s", password);
	snprintf(conninfo, sizeof(conninfo),
		"host=localhost hostaddr=127.0.0.1 port=%d dbname=app user=%s "
		"password='%s' %s sslrootcert=%s",
		server.port, user, password, tls[0], server.ca);
	argv[n++] = programs.client;
	if (kind == CNT_POSTGRESQL) {
		argv[n++] = "-XAtw";
		argv[n++] = conninfo;
		argv[n++] = "-c";
		argv[n++] = "select current_user, coalesce((select version from "
			    "pg_stat_ssl where pid = pg_backend_pid()), '')";
	} else {
		const char *const my[] = { "--no-defaults", "-BN", "--host=127.0.0.1",
			"--protocol=tcp", port, name, secret, "-e",
			"select substring_index(user(), '@', 1), variable_value from "
			"information_schema.session_status where variable_name = "
			"'ssl_version'",
			NULL };

		for (size_t i = 0; my[i]; i++)
			argv[n++] = my[i];
		for (size_t i = 0; tls[i]; i++)
			argv[n++] = tls[i];
	}
	argv[n] = NULL;
	return cnt_run(&c);
}

static void
assert_login(const char *user, const char *password, const char *const *tls,
	const char *wanted)
{
	char text[256] = "";
	int r = log_in(user, password, tls, text, sizeof(text));

	assert_int_equal(r, wanted ? 0 : -1);
	if (wanted && strncmp(text, wanted, strlen(wanted)) != 0)
		fail_msg("%s instead of %s", text, wanted);
}

static void
asks_for_passwords(void **state)
{
	static const char *const plain[] = { "sslmode=disable", NULL };
	static const char *const plain_my[] = { "--skip-ssl", NULL };
	const char *const *tls = kind == CNT_POSTGRESQL ? plain : plain_my;
	char sep = kind == CNT_POSTGRESQL ? '|' : '\t';
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "app%c", sep);
	assert_login("app", CNT_SERVER_PASSWORD, tls, wanted);
	snprintf(wanted, sizeof(wanted), "locked%c", sep);
	assert_login("locked", CNT_SERVER_PASSWORD, tls, wanted);
	assert_login("app", "wrong", tls, NULL);
	assert_login("locked", "wrong", tls, NULL);
	assert_login("tls", CNT_SERVER_PASSWORD, tls, NULL);
	assert_login("cert", "", tls, NULL);
}

static void
speaks_tls(void **state)
{
	char ca[128], cert[128], key[128], both[300], verified[] = "sslmode=verify-full";
	const char *pg[] = { verified, NULL };
	const char *my[] = { ca, "--ssl-verify-server-cert", NULL, NULL, NULL };
	const char **tls = kind == CNT_POSTGRESQL ? pg : my;
	const char *tls_user = kind == CNT_POSTGRESQL ? "tls|TLSv1" : "tls\tTLSv1";
	const char *cert_user = kind == CNT_POSTGRESQL ? "cert|TLSv1" : "cert\tTLSv1";

	snprintf(ca, sizeof(ca), "--ssl-ca=%s", server.ca);
	assert_login("tls", CNT_SERVER_PASSWORD, tls, tls_user);
	assert_login("cert", "", tls, NULL);
	snprintf(both, sizeof(both),
		"sslmode=verify-full sslcert=%s/client.crt sslkey=%s/client.key",
		server.certs, server.certs);
	pg[0] = both;
	snprintf(cert, sizeof(cert), "--ssl-cert=%s/client.crt", server.certs);
	snprintf(key, sizeof(key), "--ssl-key=%s/client.key", server.certs);
	my[2] = cert;
	my[3] = key;
	assert_login("cert", "", tls, cert_user);
}

static void
replace_cert(const char *with)
{
	char from[128], to[128];
	const char *const argv[] = { "cp", from, to, NULL };
	struct cnt_command c = { .argv = argv };

	snprintf(from, sizeof(from), "%s/%s", server.certs, with);
	snprintf(to, sizeof(to), "%s/server.crt", server.certs);
	assert_int_equal(cnt_run(&c), 0);
	assert_int_equal(cnt_server_restart(&server), 0);
}

/* A client that verifies certificates must refuse these. */
static void
has_bad_certificates(void **state)
{
	char ca[128];
	static const char *const pg[] = { "sslmode=verify-full", NULL };
	const char *my[] = { ca, "--ssl-verify-server-cert", NULL };
	const char *const *tls = kind == CNT_POSTGRESQL ? pg : my;

	snprintf(ca, sizeof(ca), "--ssl-ca=%s", server.ca);
	replace_cert("wrong-name.crt");
	assert_login("tls", CNT_SERVER_PASSWORD, tls, NULL);
	replace_cert("expired.crt");
	assert_login("tls", CNT_SERVER_PASSWORD, tls, NULL);
}

static void
comes_back(void **state)
{
	assert_int_equal(cnt_server_sql(&server, "create table kept (a int); "
						 "insert into kept values (7)"),
		0);
	assert_int_equal(cnt_server_restart(&server), 0);
	assert_answer("select a from kept", "7");
	cnt_server_kill(&server);
	assert_false(cnt_server_is_alive(&server));
	assert_int_equal(cnt_server_run(&server), 0);
	assert_true(cnt_server_is_alive(&server));
	assert_answer("select count(*) from kept", "1");
}

static void
hangs_and_goes_on(void **state)
{
	cnt_server_signal(&server, SIGSTOP);
	assert_true(cnt_is_stopped(server.pid));
	cnt_server_signal(&server, SIGCONT);
	assert_answer("select 1", "1");
	assert_false(cnt_is_stopped(server.pid));
}

static void
takes_configuration(void **state)
{
	struct cnt_server other;

	assert_int_equal(cnt_server_create(&other, kind, 0), 0);
	assert_int_equal(cnt_server_configure(&other, "max_connections = 57\n"), 0);
	assert_int_equal(cnt_server_run(&other), 0);
	char text[64];
	assert_int_equal(cnt_server_ask(&other,
				 kind == CNT_POSTGRESQL ? "show max_connections"
							: "select @@max_connections",
				 text, sizeof(text)),
		0);
	assert_string_equal(text, "57");
	assert_int_equal(cnt_server_configure(&other, "no_such_setting = 1\n"), 0);
	assert_int_equal(cnt_server_restart(&other), -1);
	cnt_server_stop(&other);
}

/* A killed test leaves no process and no file, even if its server hangs. */
static void
goes_with_its_test(void **state)
{
	struct cnt_server other = { 0 };
	int64_t until = cnt_now_ms() + 30000;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		if (cnt_server_start(&other, kind, 0) < 0)
			_exit(1);
		cnt_server_signal(&other, SIGSTOP);
		if (write(fds[1], &other, sizeof(other)) != sizeof(other))
			_exit(1);
		pause();
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &other, sizeof(other)), sizeof(other));
	close(fds[0]);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	while (access(other.dir, F_OK) == 0 || kill(other.pid, 0) == 0) {
		if (cnt_now_ms() > until)
			fail_msg("%s or process %d is still there", other.dir,
				(int)other.pid);
		cnt_pause_ms(10);
	}
}

static void
starts_fast(void **state)
{
	struct cnt_server other;
	int64_t start = cnt_now_ms();

	assert_int_equal(cnt_server_start(&other, kind, 0), 0);
	printf("# %s: %d ms to start", other.backend, (int)(cnt_now_ms() - start));
	start = cnt_now_ms();
	cnt_server_stop(&other);
	printf(", %d ms to stop\n", (int)(cnt_now_ms() - start));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speaks_sql),
		cmocka_unit_test(asks_for_passwords),
		cmocka_unit_test(speaks_tls),
		cmocka_unit_test(comes_back),
		cmocka_unit_test(hangs_and_goes_on),
		cmocka_unit_test(takes_configuration),
		cmocka_unit_test(goes_with_its_test),
		cmocka_unit_test(starts_fast),
		cmocka_unit_test(has_bad_certificates),
	};

	kind = argc > 1 && strcmp(argv[1], "mariadb") == 0 ? CNT_MARIADB : CNT_POSTGRESQL;
	cnt_server_need(kind);
	return cmocka_run_group_tests_name(
		kind == CNT_POSTGRESQL ? "server_postgresql" : "server_mariadb", tests,
		start, stop);
}
