/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics by HTTP: what cenoted says there, to whom, and what readers cannot disturb. */
#include "with_pool.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "open_metrics.h"

#define ANSWER_MAX      (1u << 18)
/* stats.c: after this time, a reader that hangs loses its connection */
#define IDLE_MS         10000
/* stats.c: one address gets so many connections */
#define CONNECTIONS_ONE 8

static char answer[ANSWER_MAX];

/* ---- HTTP ---- */

static int
connect_to(int port)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct timeval patience = { 20, 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Send a request, and read the whole answer. Returns its HTTP status; 0: no answer; -1: nobody
 * listens. */
static int
ask(int port, const char *request)
{
	static const char begins[] = "HTTP/1.1 ";
	int fd = connect_to(port);
	size_t len = 0;
	ssize_t n;

	answer[0] = '\0';
	if (fd < 0)
		return -1;
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) ==
		(ssize_t)strlen(request)) {
		while (len + 1 < ANSWER_MAX &&
			(n = read(fd, answer + len, ANSWER_MAX - len - 1)) > 0)
			len += (size_t)n;
	}
	close(fd);
	answer[len] = '\0';
	return strncmp(answer, begins, sizeof(begins) - 1) == 0
		       ? (int)strtol(answer + sizeof(begins) - 1, NULL, 10)
		       : 0;
}

static int
ask_by(int port, const char *method, const char *path)
{
	char request[256];

	snprintf(request, sizeof(request),
		"%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method,
		path);
	return ask(port, request);
}

static int
get(int port, const char *path)
{
	return ask_by(port, "GET", path);
}

/* What follows the headers of the last answer. */
static const char *
body(void)
{
	const char *end = strstr(answer, "\r\n\r\n");

	assert_non_null(end);
	return end + 4;
}

static int
has_header(const char *line)
{
	const char *at = strstr(answer, line);

	return at != NULL && at < body();
}

static void
await_status(int port, const char *path, int wanted)
{
	int64_t until = wp_now_ms() + 20000;
	int status;

	while ((status = get(port, path)) != wanted) {
		if (wp_now_ms() > until)
			fail_msg("%s stays %d: %s", path, status, answer);
		wp_pause_ms(20);
	}
}

/* ---- a daemon with statistics ---- */

static char config[2048];

/* `lines` are of [cenoted]; "@PORT@" is not replaced. */
static const char *
config_of(int port, const char *lines, const char *pools)
{
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "stats_listen = 127.0.0.1:%d\n%s" CNT_DAEMON_POOL
				  "sessions = 1..2\n%s",
		port, lines, pools);
	return config;
}

static int
start(const char *lines, const char *pools)
{
	int port = cnt_server_free_port();

	wp_start(config_of(port, lines, pools));
	return port;
}

static void
reload(const char *text)
{
	assert_int_equal(cnt_daemon_configure(&wp_daemon, text), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("reloaded");
}

/* ---- pages ---- */

static void
each_page_has_its_status_and_type(void **state)
{
	static const struct {
		const char *path, *type, *text;
	} pages[] = {
		{ "/metrics",
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
			"# EOF\n" },
		{ "/live", "text/plain", "alive\n" },
		{ "/ready", "text/plain", "ready\n" },
		{ "/status.json", "application/json", "\"pool\":\"main\"" },
		{ "/", "text/html; charset=utf-8", "fetch('status.json'" }
	};
	int port = start("", "");
	char line[128];

	await_status(port, "/ready", 200);
	for (size_t i = 0; i < CNT_COUNT(pages); i++) {
		snprintf(line, sizeof(line), "\r\nContent-Type: %s\r\n", pages[i].type);
		assert_int_equal(get(port, pages[i].path), 200);
		assert_true(has_header(line));
		assert_non_null(strstr(body(), pages[i].text));
		assert_int_equal(ask_by(port, "HEAD", pages[i].path), 200);
		assert_true(has_header(line));
		assert_string_equal(body(), "");
	}
}

static void
other_paths_and_methods_are_refused(void **state)
{
	static const char *const methods[] = { "POST", "PUT", "DELETE", "OPTIONS",
		"TRACE", "NONSENSE" };
	static const char *const paths[] = { "/metrics/", "/Metrics", "/favicon.ico",
		"//", "/..", "/%2e%2e/etc/passwd", "/status.json/x" };
	int port = start("", "");

	for (size_t i = 0; i < CNT_COUNT(paths); i++)
		assert_int_equal(get(port, paths[i]), 404);
	for (size_t i = 0; i < CNT_COUNT(methods); i++) {
		assert_int_equal(ask_by(port, methods[i], "/metrics"), 405);
		assert_true(has_header("\r\nAllow: GET, HEAD\r\n"));
	}
	assert_int_equal(ask(port, "POST /metrics HTTP/1.1\r\nHost: a\r\n"
				   "Content-Length: 5\r\n\r\nhello"),
		405);
	assert_int_equal(get(port, "/metrics?a=b"), 200);
}

static void
nonsense_and_huge_requests_do_no_harm(void **state)
{
	static char huge[100000];
	int port = start("", "");

	assert_true(ask(port, "\x16\x03\x01\x02nonsense\r\n\r\n") != 200);
	snprintf(huge, sizeof(huge), "GET /%0*d", (int)sizeof(huge) - 8, 0);
	assert_true(ask(port, huge) != 200);
	assert_int_equal(get(port, "/live"), 200);
	assert_false(wp_log_has("stats "));
}

/* ---- numbers ---- */

/* A child that waits for a session. */
static int
wait_for_session(void *arg)
{
	(void)arg;
	cenote_conn_destroy(wp_attach(NULL));
	return 0;
}

static void
numbers_agree_with_the_status_of_the_pools(void **state)
{
	static const struct {
		const char *sample, *column;
	} pairs[] = { { "attaches_total", "attaches" }, { "requests_total", "requests" },
		{ "errors_total", "errors" }, { "yields_total", "yields" },
		{ "relogins_total", "relogins" }, { "queued_clients_total", "queued" },
		{ "queue_timeouts_total", "timeouts" }, { "waiting_clients", "waiting" },
		{ "failed_logins_total", "failed_logins" },
		{ "refused_logins_total", "refused_logins" }, { "min_sessions", "min" },
		{ "max_sessions", "max" } };
	int port = start("", "queue_timeout = 200ms\n"
			     "[pool other.pool_2-b]\nbackend = sqlite\n"
			     "server = path=@DIR@/main.db\nsessions = 0..2\n");
	cenote_conn *a, *b, *late;
	char sample[128];

	a = wp_attach(NULL);
	for (int i = 0; i < 5; i++)
		wp_exec(a, "select 1");
	assert_true(wp_status_of(a, "select nonsense") < 0);
	b = wp_attach(NULL);
	assert_true(wp_try(NULL, &late) < 0);
	cenote_conn_destroy(late);
	cenote_conn_destroy(b);
	cenote_conn_destroy(a);
	wp_await("main", "in_use", 0);
	assert_int_equal(get(port, "/metrics"), 200);
	for (size_t i = 0; i < CNT_COUNT(pairs); i++) {
		snprintf(sample, sizeof(sample), "cenote_pool_%s{pool=\"main\"}",
			pairs[i].sample);
		assert_int_equal(om_value(body(), sample),
			wp_pool_number("main", pairs[i].column));
	}
	assert_int_equal(
		om_value(body(), "cenote_pool_attaches_total{pool=\"main\"}"), 2);
	assert_int_equal(om_value(body(), "cenote_pool_errors_total{pool=\"main\"}"), 1);
	assert_int_equal(om_value(body(), "cenote_pool_max_sessions"
					  "{pool=\"other.pool_2-b\"}"),
		2);
}

static void
times_of_requests_and_of_waiting_are_counted(void **state)
{
	int port = start("", "");
	cenote_conn *a = wp_attach(NULL), *b = wp_attach(NULL), *c;
	pid_t child;

	for (int i = 0; i < 10; i++)
		wp_exec(a, "select 1");
	child = wp_fork(wait_for_session, NULL, -1);
	wp_await("main", "waiting", 1);
	wp_pause_ms(100);
	cenote_conn_destroy(b);
	assert_int_equal(wp_join(child), 0);
	cenote_conn_destroy(a);
	wp_await("main", "in_use", 0);
	assert_int_equal(get(port, "/metrics"), 200);
	om_check(body());
	assert_int_equal(
		om_value(body(), "cenote_pool_request_seconds_count{pool=\"main\"}"),
		wp_pool_number("main", "requests"));
	/* the clock of the door is a coarse one */
	assert_true(om_value(body(), "cenote_pool_waiting_seconds_count{pool=\"main\"}") >
		    om_value(body(), "cenote_pool_waiting_seconds_bucket"
				     "{pool=\"main\",le=\"0.049152\"}"));
	/* a client that attached before the times were wanted is not measured */
	reload(WP_POOL("sessions = 1..2\n"));
	c = wp_attach(NULL);
	reload(config_of(port, "", ""));
	await_status(port, "/live", 200);
	wp_exec(c, "select 1");
	cenote_conn_destroy(c);
	assert_int_equal(get(port, "/metrics"), 200);
	assert_true(om_value(body(), "cenote_pool_request_seconds_count{pool=\"main\"}") <
		    wp_pool_number("main", "requests"));
}

static void
failed_and_refused_logins_are_counted(void **state)
{
	int port = start("", "[pool closed]\nbackend = sqlite\nauth = reject\n"
			     "server = path=@DIR@/main.db\nsessions = 1\n"
			     "[pool down]\nbackend = sqlite\n"
			     "server = path=@DIR@/later/x.db\nsessions = 1\n");
	cenote_conn *conn;

	wp_await("down", "failing", 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(wp_try("closed", &conn), CENOTE_ERR_AUTH);
		cenote_conn_destroy(conn);
	}
	assert_int_equal(get(port, "/metrics"), 200);
	assert_int_equal(
		om_value(body(), "cenote_pool_refused_logins_total{pool=\"closed\"}"), 3);
	assert_int_equal(
		om_value(body(), "cenote_pool_failed_logins_total{pool=\"closed\"}"), 0);
	assert_true(
		om_value(body(), "cenote_pool_failed_logins_total{pool=\"down\"}") > 0);
}

static void
the_text_is_well_formed_while_clients_work(void **state)
{
	int port = start("", "[pool other.pool_2-b]\nbackend = sqlite\n"
			     "server = path=@DIR@/main.db\nserver = path=@DIR@/b.db\n"
			     "sessions = 0..2\n");
	cenote_conn *a = wp_attach(NULL);

	wp_exec(a, "create temp table t(a)");
	wp_exec(a, "begin");
	assert_int_equal(get(port, "/metrics"), 200);
	om_check(body());
	assert_int_equal(om_value(body(), "cenote_pool_sessions"
					  "{pool=\"main\",state=\"attached\"}"),
		1);
	assert_int_equal(om_value(body(), "cenote_pool_pinned_sessions"
					  "{pool=\"main\",pin=\"temp\"}"),
		1);
	assert_int_equal(om_value(body(), "cenote_pool_pinned_sessions"
					  "{pool=\"main\",pin=\"transaction\"}"),
		1);
	assert_int_equal(om_value(body(), "cenote_pool_server_sessions"
					  "{pool=\"other.pool_2-b\",line=\"2\"}"),
		0);
	assert_int_equal(get(port, "/status.json"), 200);
	assert_non_null(strstr(body(), "\"pins\":\"transaction,temp\""));
	cenote_conn_destroy(a);
}

/* Every metric that the file names is served. */
static void
check_names_in(const char *path, const char *metrics)
{
	char line[1024], name[128], type[128];
	FILE *f = fopen(path, "re");
	size_t n_names = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		for (const char *at = line; (at = strstr(at, "cenote_")) != NULL;) {
			size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_");

			snprintf(name, sizeof(name), "\n%.*s", (int)n, at);
			snprintf(type, sizeof(type), "\n# TYPE %.*s ", (int)n, at);
			/* cenote_status() is a function; this pool has no server with a role, so only the type says
			 * that there is such a metric */
			if (at[n] != '(' && strstr(metrics, name) == NULL &&
				strstr(metrics, type) == NULL)
				fail_msg("%s: there is no metric %s", path, name + 1);
			at += n;
			n_names++;
		}
	}
	fclose(f);
	assert_true(n_names > 5);
}

static int
names(const char *document, const char *metric, size_t len)
{
	for (const char *at = document; (at = strstr(at, "`cenote_")) != NULL; at++) {
		size_t n = strcspn(at + 1, "`");

		if (strncmp(at + 1, metric, len) == 0 &&
			(n == len || strncmp(at + 1 + len, "_total`", 7) == 0 ||
				strncmp(at + 1 + len, "_info`", 6) == 0))
			return 1;
	}
	return 0;
}

static void
documents_and_examples_name_the_metrics_that_there_are(void **state)
{
	static char document[1u << 16];
	int port = start("", "rule = class=ddl -> deny dry-run\n"
			     "rule = tables=countries -> cache ttl=1s\n");
	FILE *f = fopen(CNT_SOURCE_ROOT "/docs/operations.md", "re");

	assert_non_null(f);
	assert_true(fread(document, 1, sizeof(document) - 1, f) > 0);
	fclose(f);
	assert_int_equal(get(port, "/metrics"), 200);
	for (const char *at = body(); (at = strstr(at, "# TYPE cenote_")) != NULL;) {
		size_t n = strcspn(at += 7, " ");

		if (!names(document, at, n))
			fail_msg("docs/operations.md lacks %.*s", (int)n, at);
	}
	check_names_in(CNT_SOURCE_ROOT "/docs/operations.md", answer);
	check_names_in(CNT_SOURCE_ROOT "/tools/cenoted/monitoring/alerts.yml", answer);
	check_names_in(CNT_SOURCE_ROOT "/tools/cenoted/monitoring/grafana.json", answer);
}

static void
nothing_says_who_a_client_is_or_where_a_server_is(void **state)
{
	static const char *const paths[] = { "/metrics", "/status.json" };
	static const char *const secrets[] = { "test_cenoted_stats", "my-program",
		"main.db", "no-such-directory", "\"user\":", "\"server\":" };
	int port =
		start("", "[pool down]\nbackend = sqlite\n"
			  "server = path=@DIR@/no-such-directory/x.db\nsessions = 1\n");
	cenote_conn *a = wp_handle(NULL);

	assert_ok(cenote_conn_set(a, "application_name", "my-program"));
	assert_ok(cenote_connect(a));
	wp_exec(a, "select 1");
	wp_await("down", "failing", 1);
	for (size_t i = 0; i < CNT_COUNT(paths); i++) {
		assert_int_equal(get(port, paths[i]), 200);
		for (size_t j = 0; j < CNT_COUNT(secrets); j++)
			assert_null(strstr(body(), secrets[j]));
	}
	cenote_conn_destroy(a);
}

/* The text of a query may hold quotes and backslashes: JSON escapes them. */
static void
digests_are_json_and_the_pages_know_the_times(void **state)
{
	int port = start("", "digests = yes\nserver = path=@DIR@/b.db\n"
			     "rule = class=ddl -> deny dry-run\n"
			     "[pool quiet]\nbackend = sqlite\n"
			     "server = path=@DIR@/main.db\nsessions = 1\n");
	cenote_conn *a = wp_attach(NULL);

	wp_exec(a, "select 1 as \"x\"\"y\\z\"");
	wp_exec(a, "select 2 as \"x\"\"y\\z\"");
	wp_exec(a, "create table t (a)");
	cenote_conn_destroy(a);
	wp_await("main", "in_use", 0);
	assert_int_equal(get(port, "/status.json"), 200);
	assert_non_null(strstr(
		body(), "\"action\":\"deny\",\"dry_run\":\"yes\",\"decisions\":1}"));
	assert_non_null(strstr(body(), ",\"calls\":2,\"errors\":0,\"rows\":2,"));
	assert_non_null(
		strstr(body(), "\"query\":\"select ? as \\\"x\\\"\\\"y\\\\z\\\"\"}"));
	assert_non_null(strstr(body(),
		"{\"pool\":\"main\",\"time\":\"request\",\"line\":0,\"count\":3,"));
	assert_non_null(strstr(body(),
		"{\"pool\":\"quiet\",\"time\":\"login\",\"line\":0,\"count\":1,"));
	assert_non_null(
		strstr(body(), "\"certificate_days\":\"\",\"pinned\":0,\"lent\":0,"
			       "\"tls_clients\":0,\"tls_servers\":0}"));
	assert_int_equal(get(port, "/metrics"), 200);
	om_check(body());
	assert_int_equal(
		om_value(body(), "cenote_pool_session_seconds_count{pool=\"main\"}"), 1);
	assert_int_equal(
		om_value(body(), "cenote_pool_server_request_seconds_count"
				 "{pool=\"main\",line=\"1\"}") +
			om_value(body(), "cenote_pool_server_request_seconds_count"
					 "{pool=\"main\",line=\"2\"}"),
		3);
	assert_non_null(
		strstr(body(), "\ncenote_rule_decisions_total{pool=\"main\",line="));
	assert_null(strstr(body(), "cenote_pool_server_request_seconds_count"
				   "{pool=\"quiet\""));
	assert_null(strstr(body(), "cenote_pool_certificate_end_time_seconds{"));
}

static void
a_pool_without_a_session_is_not_ready(void **state)
{
	char dir[CNT_PATH_MAX + 16];
	int port = start("", "[pool down]\nbackend = sqlite\n"
			     "server = path=@DIR@/later/x.db\nsessions = 1\n"
			     "[pool lazy]\nbackend = sqlite\n"
			     "server = path=@DIR@/main.db\nsessions = 0..1\n");

	wp_await("down", "failing", 1);
	wp_await("main", "idle", 1);
	assert_int_equal(get(port, "/ready"), 503);
	assert_string_equal(body(), "no session is logged in: down\n");
	assert_int_equal(get(port, "/live"), 200);
	snprintf(dir, sizeof(dir), "%s/later", wp_daemon.dir);
	assert_int_equal(mkdir(dir, 0777), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	await_status(port, "/ready", 200);
}

/* ---- who may read, and when ---- */

static void
expect_no_start(const char *lines, const char *why)
{
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "%s" CNT_DAEMON_POOL "sessions = 1\n", lines);
	assert_int_equal(cnt_daemon_create(&wp_daemon, config), 0);
	assert_int_equal(cnt_daemon_run(&wp_daemon), -1);
	wp_await_log(why);
	(void)cnt_daemon_stop(&wp_daemon);
}

static void
other_machines_need_stats_allow(void **state)
{
	char lines[128];
	int port;

	expect_no_start("stats_listen = 0.0.0.0:9433\n",
		"stats_listen: other machines can reach 0.0.0.0:9433; say in stats_allow "
		"which of them may");
	expect_no_start("stats_listen = [::]:9433\n", "other machines can reach");
	expect_no_start("stats_listen = 127.0.0.1:9433 proxy=v2\n",
		"stats_listen: proxy=v2 is only for listen");
	expect_no_start("listen = 127.0.0.1:9433\nstats_listen = 127.0.0.1:9433\n",
		"stats_listen: 127.0.0.1:9433 is also in listen");
	port = cnt_server_free_port();
	snprintf(lines, sizeof(lines),
		"stats_listen = 0.0.0.0:%d\nstats_allow = 127.0.0.0/8, 192.0.2.0/24\n",
		port);
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "%s" CNT_DAEMON_POOL "sessions = 1\n", lines);
	wp_start(config);
	assert_int_equal(get(port, "/live"), 200);
}

static void
an_address_that_stats_allow_does_not_have_is_refused(void **state)
{
	int port = start("stats_allow = 192.0.2.0/24\n", "");

	assert_int_equal(get(port, "/live"), 0);
	reload(config_of(port, "stats_allow = 192.0.2.0/24, 127.0.0.1\n", ""));
	await_status(port, "/live", 200);
}

static void
a_reload_changes_the_addresses(void **state)
{
	int port = start("", ""), other = cnt_server_free_port();
	char lines[64];

	assert_int_equal(get(port, "/live"), 200);
	snprintf(lines, sizeof(lines), "stats_listen = 127.0.0.1:%d\n", other);
	reload(config_of(port, lines, ""));
	await_status(other, "/live", 200);
	await_status(port, "/live", 200);
	reload(config_of(other, "", ""));
	await_status(port, "/live", -1);
	assert_int_equal(get(other, "/live"), 200);
	reload(WP_POOL("sessions = 1..2\n"));
	await_status(other, "/live", -1);
}

static void
a_failed_reload_changes_nothing(void **state)
{
	int port = start("", ""), taken = cnt_server_free_port();
	const struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)taken),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(cnt_daemon_configure(&wp_daemon, config_of(taken, "", "")), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("the configuration stays as it was");
	assert_int_equal(get(port, "/live"), 200);
	close(fd);
}

/* ---- trouble ---- */

static void
readers_that_hang_hold_nothing_up(void **state)
{
	int port = start("", ""), fds[4 * CONNECTIONS_ONE];
	static const char half[] = "GET /metrics HTTP/1.1\r\nHost:";
	cenote_conn *a;
	int64_t from;

	for (size_t i = 0; i < CONNECTIONS_ONE / 2; i++) {
		fds[i] = connect_to(port);
		assert_int_equal(send(fds[i], half, sizeof(half) - 1, MSG_NOSIGNAL),
			sizeof(half) - 1);
	}
	from = wp_now_ms();
	assert_int_equal(get(port, "/metrics"), 200);
	assert_true(wp_now_ms() - from < IDLE_MS / 2);
	/* all connections of this address are taken, and clients notice nothing */
	for (size_t i = CONNECTIONS_ONE / 2; i < CNT_COUNT(fds); i++) {
		fds[i] = connect_to(port);
		(void)send(fds[i], half, sizeof(half) - 1, MSG_NOSIGNAL);
	}
	a = wp_attach(NULL);
	wp_exec(a, "select 1");
	cenote_conn_destroy(a);
	await_status(port, "/metrics", 200);
	for (size_t i = 0; i < CNT_COUNT(fds); i++)
		close(fds[i]);
}

static void
a_killed_process_comes_back_and_clients_notice_nothing(void **state)
{
	int port = start("", "");
	cenote_conn *a = wp_attach(NULL);
	pid_t first = wp_await_child("cenoted-stats");

	assert_int_equal(kill(first, SIGKILL), 0);
	wp_await_log("was killed by signal 9");
	wp_exec(a, "select 1");
	await_status(port, "/live", 200);
	assert_int_not_equal(wp_await_child("cenoted-stats"), first);
	wp_exec(a, "select 1");
	cenote_conn_destroy(a);
}

/* Its children go on, so only the master's own note can say so. */
static void
a_master_that_hangs_is_not_live(void **state)
{
	int port = start("", "");
	cenote_conn *a = wp_attach(NULL);

	assert_int_equal(get(port, "/live"), 200);
	assert_int_equal(kill(wp_daemon.pid, SIGSTOP), 0);
	await_status(port, "/live", 503);
	assert_memory_equal(body(), "the master has not worked for 1", 31);
	wp_exec(a, "select 1");
	assert_int_equal(kill(wp_daemon.pid, SIGCONT), 0);
	await_status(port, "/live", 200);
	cenote_conn_destroy(a);
}

static void
it_ends_with_the_daemon(void **state)
{
	int port = start("", "");
	pid_t pid = wp_await_child("cenoted-stats");

	assert_int_equal(get(port, "/live"), 200);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(get(port, "/live"), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_page_has_its_status_and_type, wp_teardown),
		cmocka_unit_test_teardown(
			other_paths_and_methods_are_refused, wp_teardown),
		cmocka_unit_test_teardown(
			nonsense_and_huge_requests_do_no_harm, wp_teardown),
		cmocka_unit_test_teardown(
			numbers_agree_with_the_status_of_the_pools, wp_teardown),
		cmocka_unit_test_teardown(
			times_of_requests_and_of_waiting_are_counted, wp_teardown),
		cmocka_unit_test_teardown(
			failed_and_refused_logins_are_counted, wp_teardown),
		cmocka_unit_test_teardown(
			the_text_is_well_formed_while_clients_work, wp_teardown),
		cmocka_unit_test_teardown(
			documents_and_examples_name_the_metrics_that_there_are,
			wp_teardown),
		cmocka_unit_test_teardown(
			nothing_says_who_a_client_is_or_where_a_server_is, wp_teardown),
		cmocka_unit_test_teardown(
			digests_are_json_and_the_pages_know_the_times, wp_teardown),
		cmocka_unit_test_teardown(
			a_pool_without_a_session_is_not_ready, wp_teardown),
		cmocka_unit_test_teardown(other_machines_need_stats_allow, wp_teardown),
		cmocka_unit_test_teardown(
			an_address_that_stats_allow_does_not_have_is_refused,
			wp_teardown),
		cmocka_unit_test_teardown(a_reload_changes_the_addresses, wp_teardown),
		cmocka_unit_test_teardown(a_failed_reload_changes_nothing, wp_teardown),
		cmocka_unit_test_teardown(readers_that_hang_hold_nothing_up, wp_teardown),
		cmocka_unit_test_teardown(
			a_killed_process_comes_back_and_clients_notice_nothing,
			wp_teardown),
		cmocka_unit_test_teardown(a_master_that_hangs_is_not_live, wp_teardown),
		cmocka_unit_test_teardown(it_ends_with_the_daemon, wp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
