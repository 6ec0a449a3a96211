/* SPDX-License-Identifier: BSD-2-Clause */
#include "with_tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char certs[64];

int
wt_make_certs(void **state)
{
	const char *const argv[] = { CNT_MAKE_CERTS, certs, NULL };
	char noise[8192];
	const struct cnt_command command = {
		.argv = argv, .output = noise, .size = sizeof(noise)
	};

	(void)snprintf(certs, sizeof(certs), "/tmp/cenote-tls-XXXXXX");
	return mkdtemp(certs) == NULL ? -1 : cnt_run(&command);
}

int
wt_remove_certs(void **state)
{
	cnt_remove_tree(certs);
	return 0;
}

void
wt_copy(const char *from, const char *to)
{
	const char *const argv[] = { "cp", "-a", from, to, NULL };
	const struct cnt_command command = { .argv = argv };

	assert_int_equal(cnt_run(&command), 0);
}

const char *
wt_file(const char *name)
{
	static char texts[16][160];
	static size_t at;

	at = (at + 1) % 16;
	(void)snprintf(texts[at], sizeof(texts[at]), "%s/certs/%s", wp_daemon.dir, name);
	return texts[at];
}

void
wt_use_certificate(const char *name)
{
	wt_copy(wt_file(name), wt_file("pool.crt"));
}

void
wt_create(const char *config, const char *certificate)
{
	char to[128];

	assert_int_equal(cnt_daemon_create(&wp_daemon, config), 0);
	(void)snprintf(to, sizeof(to), "%s/certs", wp_daemon.dir);
	wt_copy(certs, to);
	wt_use_certificate(certificate);
}

void
wt_start(const char *config, const char *certificate)
{
	wt_create(config, certificate);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
}

void
wt_set(cenote_conn *conn, const char *name, const char *value)
{
	assert_ok(cenote_conn_set(conn, name, value));
}

#define JOE "joe:" WT_SECRET "\n"

int
wt_start_for(const char *lines, const char *users)
{
	static char config[2048];
	char to[128];
	int port = cnt_server_free_port();
	FILE *f;

	(void)snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "log_level = debug\nlisten = 127.0.0.1:%d\nusers = "
				  "@DIR@/users\n" CNT_DAEMON_POOL WT_POOL("%s%s"),
		port,
		/* the first TLS of a process takes many seconds with valgrind */
		strstr(lines, "auth_timeout") == NULL ? "auth_timeout = 60s\n" : "",
		lines);
	wt_create(config, "server.crt");
	(void)snprintf(to, sizeof(to), "%s/users", wp_daemon.dir);
	f = fopen(to, "we");
	assert_non_null(f);
	assert_int_equal(fchmod(fileno(f), 0600), 0);
	assert_true(fputs(users, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	return port;
}

int
wt_start_with_users(const char *lines)
{
	return wt_start_for(lines, JOE);
}

cenote_conn *
wt_joe(int port, const char *password, const char *tls)
{
	cenote_conn *conn;
	char text[16];

	assert_ok(cenote_conn_create(NULL, &conn));
	(void)snprintf(text, sizeof(text), "%d", port);
	wt_set(conn, "pool", "main");
	wt_set(conn, "host", "127.0.0.1");
	wt_set(conn, "port", text);
	wt_set(conn, "user", "joe");
	wt_set(conn, "tls", tls);
	wt_set(conn, "ca", wt_file("ca.crt"));
	if (password != NULL)
		wt_set(conn, "password", password);
	return conn;
}
