/* SPDX-License-Identifier: BSD-2-Clause */
#include "pool.h"

#include <cenote/cenote.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/cnt_cmocka.h"
#include "support/cnt_server.h"

/* How long a client of the crowd holds a session. */
#define HELD_US     2000
/* How long a configuration lasts. Workers must not be replaced faster than they log in. */
#define KEPT_US     60000
#define CONFIG_MAX  4096
/* How long to wait for a session to be given back. */
#define PATIENCE_MS 20000

/* With CHECK_TLS, the directory of the certificates and the TCP port; otherwise empty and 0. */
static char certs[64];
static int port;

/* Make certificates, and let the daemon listen. */
static int
prepare_tls(void)
{
	char lines[256];

	snprintf(certs, sizeof(certs), "/tmp/cenote-fuzz-XXXXXX");
	if (!mkdtemp(certs) || rmdir(certs) < 0 || cnt_server_certs(certs) < 0)
		return -1;
	port = cnt_server_free_port();
	snprintf(lines, sizeof(lines),
		"listen = 127.0.0.1:%d\ntls_cert = %s/server.crt\ntls_key = "
		"%s/server.key\n",
		port, certs, certs);
	return setenv("CNT_DAEMON_LINES", lines, 1);
}

const char *
fz_pool_lines(const char *usual)
{
	static char lines[256];
	int has_tls = getenv("CHECK_TLS") != NULL;

	if (has_tls && prepare_tls() < 0) {
		perror(certs);
		return NULL;
	}
	snprintf(lines, sizeof(lines), "%s%s",
		getenv("CHECK_CROWD") ? "sessions = 3\nmode = transaction\n" : usual,
		has_tls ? "auth = trust, trust door=tcp\n" : "");
	return lines;
}

void
fz_pool_enter(const struct cnt_daemon *daemon)
{
	char text[64];

	if (port == 0)
		return;
	snprintf(text, sizeof(text), "%ld", (long)daemon->pid);
	setenv("FZ_POOL_PID", text, 1);
	snprintf(text, sizeof(text), "tcp://127.0.0.1:%d", port);
	setenv("CENOTE_SERVER", text, 1);
}

void
fz_pool_remove(void)
{
	if (port != 0)
		cnt_remove_tree(certs);
}

static cenote_conn *
conn_to(const char *run_dir)
{
	cenote_conn *conn;

	assert_ok(cenote_conn_create(NULL, &conn));
	assert_ok(cenote_conn_set(conn, "run_dir", run_dir));
	assert_ok(cenote_conn_set(conn, "pool", "main"));
	return conn;
}

int
fz_pool_is_used(const char *run_dir)
{
	cenote_conn *conn = conn_to(run_dir);
	cenote_result *res;
	int n_used = 0;

	if (cenote_status(conn, "workers", &res) == CENOTE_OK) {
		uint32_t state = (uint32_t)cenote_result_find_column(res, "state");
		uint32_t pid = (uint32_t)cenote_result_find_column(res, "client_pid");

		for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
			const char *client = cenote_result_text(res, i, pid, NULL);

			n_used += strcmp(cenote_result_text(res, i, state, NULL),
					  "idle") != 0 &&
				  (!client || strtol(client, NULL, 10) != getpid());
		}
		cenote_result_destroy(res);
	}
	cenote_conn_destroy(conn);
	return n_used > 0;
}

static void *
come_and_go(void *arg)
{
	struct fz_others *others = arg;

	while (!__atomic_load_n(&others->is_over, __ATOMIC_RELAXED)) {
		cenote_conn *conn = conn_to(others->daemon->run_dir);

		if (cenote_connect(conn) == CENOTE_OK)
			usleep(HELD_US);
		cenote_conn_destroy(conn);
	}
	return NULL;
}

static char *
read_all(const char *path)
{
	char *text = calloc(1, CONFIG_MAX);
	FILE *f = fopen(path, "re");

	assert_non_null(text);
	assert_non_null(f);
	assert_true(fread(text, 1, CONFIG_MAX - 1, f) > 0);
	fclose(f);
	return text;
}

static void *
reload(void *arg)
{
	struct fz_others *others = arg;
	char config[CONFIG_MAX + 64];

	for (unsigned n = 0; !__atomic_load_n(&others->is_over, __ATOMIC_RELAXED); n++) {
		snprintf(config, sizeof(config), "%s\nidle_client_timeout = %us\n",
			others->config, 1000 + n % 2);
		if (cnt_daemon_configure(others->daemon, config) == 0)
			(void)kill(others->daemon->pid, SIGHUP);
		usleep(KEPT_US);
	}
	return NULL;
}

static void
add_member(struct fz_others *others, void *(*what)(void *))
{
	pthread_t *thread = &others->members[others->n_members++];

	assert_true(others->n_members <= CNT_COUNT(others->members));
	assert_int_equal(pthread_create(thread, NULL, what, others), 0);
}

void
fz_others_start(struct fz_others *others, struct cnt_daemon *daemon)
{
	*others = (struct fz_others){ .daemon = daemon };
	for (int i = 0; i < 4 && getenv("CHECK_CROWD"); i++)
		add_member(others, come_and_go);
	if (getenv("CHECK_RELOADS")) {
		others->config = read_all(daemon->conf);
		add_member(others, reload);
	}
}

/* Of all pools: a router and the pool behind it may both move sessions. */
static long long
n_yields(cenote_conn *conn)
{
	cenote_result *res;
	long long n = 0;
	uint32_t column;

	assert_ok(cenote_status(conn, "pools", &res));
	column = (uint32_t)cenote_result_find_column(res, "yields");
	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++)
		n += strtoll(cenote_result_text(res, i, column, NULL), NULL, 10);
	cenote_result_destroy(res);
	return n;
}

/*
 * A short run may end before a session has moved to another client. So run queries until one
 * moves, to show that sessions move at all.
 */
void
fz_others_check(const struct fz_others *others)
{
	int64_t until = cnt_now_ms() + PATIENCE_MS;
	cenote_conn *conn, *asking;
	cenote_result *res;

	if (others->n_members == 0)
		return;
	asking = conn_to(others->daemon->run_dir);
	conn = conn_to(others->daemon->run_dir);
	assert_ok(cenote_connect(conn));
	printf("# %lld times another session\n", n_yields(asking));
	while (n_yields(asking) == 0) {
		assert_true(cnt_now_ms() < until);
		assert_ok(cenote_query(conn, "select 1", CENOTE_NTS, NULL, NULL, &res));
		cenote_result_destroy(res);
	}
	cenote_conn_destroy(conn);
	cenote_conn_destroy(asking);
}

void
fz_others_stop(struct fz_others *others)
{
	__atomic_store_n(&others->is_over, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < others->n_members; i++)
		(void)pthread_join(others->members[i], NULL);
	free(others->config);
}
