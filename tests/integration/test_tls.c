/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS between clients and cenoted. */
#include "with_tls.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "relay.h"

/* A handle that verifies all that it can. */
static cenote_conn *
careful(void)
{
	cenote_conn *conn = wp_handle(NULL);

	wt_set(conn, "tls", "verify-full");
	wt_set(conn, "ca", wt_file("ca.crt"));
	wt_set(conn, "sni", "localhost");
	return conn;
}

static cenote_conn *
careful_attached(void)
{
	cenote_conn *conn = careful();
	int r = cenote_connect(conn);

	if (r != CENOTE_OK)
		fail_msg("%s: %s", cenote_status_name(r), wp_message(conn));
	return conn;
}

static void
assert_fact(const cenote_conn *conn, const char *name, const char *value)
{
	assert_string_equal(cenote_tls_info(conn, CENOTE_HOP_POOL, name), value);
}

static void
assert_refused(cenote_conn *conn, int status, const char *why)
{
	assert_int_equal(cenote_connect(conn), status);
	if (strstr(wp_message(conn), why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", wp_message(conn), why);
	cenote_conn_destroy(conn);
}

/* Whether a row of the status has this text in this column. */
static int
status_has(const char *what, const char *column, const char *part)
{
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res;
	int has = 0;

	assert_ok(cenote_status(conn, what, &res));
	for (uint32_t i = 0; i < cenote_result_n_columns(res); i++) {
		const char *name = cenote_column_text(
			cenote_result_column(res, i), CENOTE_COLUMN_NAME);

		for (uint64_t row = 0;
			strcmp(name, column) == 0 && row < cenote_result_n_rows(res);
			row++)
			has |= strstr(cenote_result_text(res, row, i, NULL), part) !=
			       NULL;
	}
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return has;
}

/* ---- connections through TLS ---- */

static void
clients_have_tls_if_they_want_it(void **state)
{
	cenote_conn *conn, *plain;
	cenote_result *res;

	wt_start(WP_POOL(WT_POOL("")), "server.crt");
	conn = careful_attached();
	assert_fact(conn, "version", "TLSv1.3");
	assert_fact(conn, "cipher", "TLS_AES_256_GCM_SHA384");
	assert_fact(conn, "bits", "256");
	assert_fact(conn, "verified", "yes");
	assert_fact(conn, "peer", "CN=localhost");
	assert_fact(conn, "issuer", "CN=Cenote tests\\, ca");
	assert_fact(conn, "names", "DNS:localhost, IP:127.0.0.1");
	assert_null(cenote_tls_info(conn, CENOTE_HOP_POOL, "colour"));
	assert_null(cenote_tls_info(conn, CENOTE_HOP_SERVER, "version"));
	/* more than any record or buffer holds, both ways */
	assert_ok(cenote_query(conn,
		"with recursive c(x) as (select 1 union all select x + 1 from c "
		"limit 100000) select x, 'row ' || x || ' of many' from c",
		CENOTE_NTS, NULL, NULL, &res));
	assert_int_equal(cenote_result_n_rows(res), 100000);
	assert_string_equal(
		cenote_result_text(res, 99999, 1, NULL), "row 100000 of many");
	cenote_result_destroy(res);
	assert_true(status_has("workers", "tls", "TLSv1.3 TLS_AES_256_GCM_SHA384"));
	plain = wp_attach(NULL);
	assert_null(cenote_tls_info(plain, CENOTE_HOP_POOL, "version"));
	assert_string_equal(wp_value(plain, "select 1"), "1");
	cenote_conn_destroy(plain);
	cenote_conn_destroy(conn);
}

static void
a_long_statement_goes_through(void **state)
{
	static char sql[3000000];
	cenote_conn *conn;

	wt_start(WP_POOL(WT_POOL("")), "server.crt");
	memset(sql, ' ', sizeof(sql) - 1);
	memcpy(sql, "select 7", 8);
	for (int i = 0; i < 2; i++) {
		conn = careful();
		wt_set(conn, "ciphers", i ? "ECDHE-ECDSA-AES128-GCM-SHA256" : "");
		assert_ok(cenote_connect(conn));
		assert_string_equal(wp_value(conn, sql), "7");
		cenote_conn_destroy(conn);
	}
}

static int
drive(cenote_conn *conn, int r)
{
	struct pollfd fd = { .fd = cenote_fd(conn) };

	if (r != CENOTE_AGAIN)
		return r;
	fd.events = (short)((cenote_wants(conn) & CENOTE_WANTS_READ ? POLLIN : 0) |
			    (cenote_wants(conn) & CENOTE_WANTS_WRITE ? POLLOUT : 0));
	if (poll(&fd, 1, 20000) <= 0)
		fail_msg("it waits for what does not come");
	return CENOTE_AGAIN;
}

/* A program that polls the descriptor misses no bytes that TLS has. */
static void
a_program_that_polls_gets_everything(void **state)
{
	cenote_conn *conn;
	int r;

	wt_start(WP_POOL(WT_POOL("")), "server.crt");
	conn = careful();
	assert_int_equal(cenote_set_nonblocking(conn, 1), 0);
	while ((r = drive(conn, cenote_connect(conn))) == CENOTE_AGAIN)
		;
	assert_ok(r);
	assert_ok(cenote_pipeline_begin(conn));
	for (int i = 0; i < 300; i++)
		assert_true(cenote_send_query(conn, "select 'some text of a row'",
				    CENOTE_NTS, NULL, NULL) >= 0);
	assert_true(cenote_send_sync(conn) >= 0);
	for (int i = 0; i < 300; i++) {
		cenote_result *res;

		while ((r = drive(conn, cenote_get_result(conn, &res))) == CENOTE_AGAIN)
			;
		assert_ok(r);
		cenote_result_destroy(res);
		while ((r = drive(conn, cenote_get_result(conn, &res))) == CENOTE_AGAIN)
			;
		assert_int_equal(r, CENOTE_DONE);
	}
	cenote_conn_destroy(conn);
}

static void
a_pool_without_tls_says_so(void **state)
{
	cenote_conn *conn;

	wp_start(WP_POOL("sessions = 1\n"));
	conn = wp_handle(NULL);
	wt_set(conn, "tls", "require");
	assert_refused(conn, CENOTE_ERR_PROTOCOL, "TLS");
	conn = wp_handle(NULL);
	wt_set(conn, "tls", "allow");
	assert_ok(cenote_connect(conn));
	assert_null(cenote_tls_info(conn, CENOTE_HOP_POOL, "version"));
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
}

static void
a_session_is_resumed_at_another_worker(void **state)
{
	cenote_conn *a, *b;

	wt_start(CNT_DAEMON_GLOBAL "log_level = debug\n" CNT_DAEMON_POOL WT_POOL(""),
		"server.crt");
	a = careful_attached();
	assert_string_equal(wp_value(a, "select 1"), "1");
	b = careful_attached();
	assert_fact(b, "resumed", "yes");
	assert_int_not_equal(wp_worker_pid(a), wp_worker_pid(b));
	wp_await_log("resumed");
	cenote_conn_destroy(b);
	cenote_conn_destroy(a);
}

static int
dial(const char *dir)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/main.sock", dir);
	assert_int_equal(connect(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

#define TWO_POOLS(first, second)                                                         \
	CNT_DAEMON_GLOBAL "log_level = debug\n" CNT_DAEMON_POOL first                    \
			  "\n[pool other]\nbackend = sqlite\nserver = "                  \
			  "path=@DIR@/main.db\n" second

/* Rights and inode of a process's memory with ticket keys, "r--s INODE", from /proc/PID/maps; "":
 * the process has none. */
static const char *
ticket_keys_of(pid_t pid)
{
	static char texts[8][64];
	static size_t next;
	char *text = texts[next++ % CNT_COUNT(texts)];
	char path[64], line[512];
	FILE *f;

	*text = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		char access[8], inode[24];

		if (strstr(line, "cenoted-tickets") == NULL)
			continue;
		assert_string_equal(text, "");
		assert_int_equal(sscanf(line, "%*s %7s %*s %*s %23s", access, inode), 2);
		snprintf(texts[(next - 1) % CNT_COUNT(texts)], sizeof(texts[0]), "%s %s",
			access, inode);
	}
	fclose(f);
	return text;
}

/* A process that could write ticket keys, or read the keys of another pool, could decrypt recorded
 * connections or pretend to be the pool. */
static void
a_worker_reads_its_own_pool_s_ticket_keys_only(void **state)
{
	static const char cancel[] = "CNTE\x14\0\1\1\2\2\4\0\0\0\0\0main";
	const char *mine, *others;
	cenote_conn *busy[2];
	int fd;

	wt_start(TWO_POOLS(WT_POOL(""),
			 WT_POOL("") "\n[pool plain]\nbackend = sqlite\nserver = "
				     "path=@DIR@/main.db\n"),
		"server.crt");
	mine = ticket_keys_of(wp_worker_of("main"));
	others = ticket_keys_of(wp_worker_of("other"));
	assert_int_equal(strncmp(mine, "r--s ", 5), 0);
	assert_int_equal(strncmp(others, "r--s ", 5), 0);
	assert_string_not_equal(mine, others);
	assert_string_equal(ticket_keys_of(wp_worker_of("plain")), "");
	assert_string_equal(ticket_keys_of(wp_await_child("cenoted-door")), "");
	/* a cancel through TLS, while all workers are busy */
	for (size_t i = 0; i < CNT_COUNT(busy); i++)
		busy[i] = wp_attach("main");
	fd = dial(wp_daemon.run_dir);
	assert_int_equal(send(fd, cancel, sizeof(cancel) - 1, MSG_NOSIGNAL),
		(ssize_t)sizeof(cancel) - 1);
	assert_string_equal(ticket_keys_of(wp_await_child("cenoted-helper")), mine);
	close(fd);
	for (size_t i = 0; i < CNT_COUNT(busy); i++)
		cenote_conn_destroy(busy[i]);
}

/* Wait for a worker that the reload forked. */
static pid_t
new_worker_of(const char *pool, const pid_t *old, size_t n_old)
{
	int64_t until = wp_now_ms() + 20000;
	size_t i;
	pid_t pid;

	do {
		if (wp_now_ms() > until)
			fail_msg("pool %s keeps its workers", pool);
		wp_pause_ms(5);
		pid = wp_worker_of(pool);
		for (i = 0; i < n_old && old[i] != pid; i++)
			;
	} while (i < n_old);
	return pid;
}

static void
reload_with(const char *config, const char *until)
{
	assert_int_equal(cnt_daemon_configure(&wp_daemon, config), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log(until);
}

static void
a_reload_gives_keeps_and_takes_ticket_keys(void **state)
{
	char before[64];
	pid_t old[16];
	size_t n;

	wt_start(TWO_POOLS(WT_POOL(""), "sessions = 2\n"), "server.crt");
	snprintf(before, sizeof(before), "%s", ticket_keys_of(wp_worker_of("main")));
	assert_int_equal(strncmp(before, "r--s ", 5), 0);
	assert_string_equal(ticket_keys_of(wp_worker_of("other")), "");
	n = cnt_daemon_children(&wp_daemon, old, CNT_COUNT(old));
	reload_with(TWO_POOLS(WT_POOL("suspend_timeout = 10s\n"), WT_POOL("")),
		"pool other was changed");
	assert_string_not_equal(ticket_keys_of(new_worker_of("other", old, n)), "");
	assert_string_equal(ticket_keys_of(new_worker_of("main", old, n)), before);
	n = cnt_daemon_children(&wp_daemon, old, CNT_COUNT(old));
	reload_with(TWO_POOLS("sessions = 1\n", WT_POOL("")), "reloaded");
	assert_string_equal(ticket_keys_of(new_worker_of("main", old, n)), "");
	/* the master now has the keys of one pool, writable; it has none once that pool is gone */
	assert_int_equal(strncmp(ticket_keys_of(wp_daemon.pid), "rw-s ", 5), 0);
	reload_with(WP_POOL("sessions = 1\n"), "pool other was removed");
	for (int i = 0; i < 2000 && *ticket_keys_of(wp_daemon.pid) != '\0'; i++)
		wp_pause_ms(10);
	assert_string_equal(ticket_keys_of(wp_daemon.pid), "");
}

static void
swap_sockets(void)
{
	static const char *const names[] = { "main", "kept", "other", "main", "kept",
		"other" };
	char from[160], to[160];

	for (size_t i = 0; i < CNT_COUNT(names); i += 2) {
		snprintf(from, sizeof(from), "%s/%s.sock", wp_daemon.run_dir, names[i]);
		snprintf(to, sizeof(to), "%s/%s.sock", wp_daemon.run_dir, names[i + 1]);
		assert_int_equal(rename(from, to), 0);
	}
}

/* A client shows its ticket to another pool, which it takes for its own pool. */
static void
a_ticket_is_good_at_its_own_pool_only(void **state)
{
	cenote_conn *conn;

	wt_start(TWO_POOLS(WT_POOL(""), WT_POOL("")), "server.crt");
	for (int i = 0; i < 2; i++) {
		conn = careful_attached();
		assert_string_equal(wp_value(conn, "select 1"), "1");
		assert_fact(conn, "resumed", i > 0 ? "yes" : "no");
		cenote_conn_destroy(conn);
	}
	swap_sockets();
	assert_refused(careful(), CENOTE_ERR_CONN, "this is the socket of pool other");
	swap_sockets();
	wp_await_log("worker other: debug: client at unix: TLSv1.3");
	assert_false(wp_log_has_line("worker other: debug: client at unix", "resumed"));
}

static void
a_session_that_is_taken_back_comes_back_through_tls(void **state)
{
	cenote_conn *conn;

	wt_start(WP_POOL(WT_POOL("idle_client_timeout = 2s\n")), "server.crt");
	conn = careful_attached();
	assert_string_equal(wp_value(conn, "select 1"), "1");
	wp_await("main", "yields", 1);
	assert_string_equal(wp_value(conn, "select 2"), "2");
	assert_string_equal(cenote_info(conn, "attaches"), "2");
	assert_fact(conn, "verified", "yes");
	cenote_conn_destroy(conn);
}

/* ---- certificates ---- */

/* The log tells of the certificate before the status does. */
static void
await_days(const char *part)
{
	int64_t until = wp_now_ms() + 20000;

	while (!status_has("pools", "certificate_days", part) && wp_now_ms() < until)
		wp_pause_ms(20);
	assert_true(status_has("pools", "certificate_days", part));
}

static void
a_new_certificate_needs_no_restart(void **state)
{
	cenote_conn *conn;

	wt_start(WP_POOL(WT_POOL("")), "server.crt");
	cenote_conn_destroy(careful_attached());
	wt_use_certificate("ending.crt");
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool.crt expires in 10 days, on 20");
	await_days("10");
	wt_use_certificate("expired.crt");
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool main was changed");
	wp_await_log("pool.crt expired on 20");
	await_days("-");
	/* workers are replaced one by one, and some may still have the old certificate */
	for (int i = 0; i < 100; i++) {
		conn = careful();
		wt_set(conn, "ciphers", i % 2 ? "TLS_AES_128_GCM_SHA256" : "");
		if (cenote_connect(conn) != CENOTE_OK)
			break;
		cenote_conn_destroy(conn);
		wp_pause_ms(100);
	}
	assert_non_null(strstr(wp_message(conn), "TLS: expired on 20"));
	assert_string_equal(wp_sqlstate(conn), "28000");
	cenote_conn_destroy(conn);
	/* a certificate that cannot be used changes nothing */
	wt_use_certificate("wrong-name.crt");
	wt_copy(wt_file("client.key"), wt_file("server.key"));
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool main: TLS: tls_key: key values mismatch");
	wp_await_log("the configuration stays as it was");
	conn = careful();
	wt_set(conn, "ciphers", "TLS_CHACHA20_POLY1305_SHA256");
	assert_refused(conn, CENOTE_ERR_AUTH, "expired on 20");
}

static void
clients_show_certificates_where_they_must(void **state)
{
	cenote_conn *conn;

	wt_start(WP_POOL(WT_POOL(WT_CLIENTS)), "server.crt");
	assert_refused(careful(), CENOTE_ERR_AUTH,
		"the other end wants a client certificate, and none is configured");
	wp_await_log("the other end shows no certificate, and must");
	conn = careful();
	wt_set(conn, "cert", wt_file("client-revoked.crt"));
	wt_set(conn, "key", wt_file("client.key"));
	assert_refused(conn, CENOTE_ERR_AUTH, "refused this one's certificate: revoked");
	wp_await_log("revoked: CN=mallory");
	conn = careful();
	wt_set(conn, "cert", wt_file("other-ca.crt"));
	wt_set(conn, "key", wt_file("other-ca.key"));
	assert_refused(conn, CENOTE_ERR_AUTH, "its issuer is not trusted there");
	conn = careful();
	wt_set(conn, "cert", wt_file("client.crt"));
	wt_set(conn, "key", wt_file("client.key"));
	assert_ok(cenote_connect(conn));
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
}

static void
a_client_revoked_meanwhile_is_turned_away(void **state)
{
	cenote_conn *conn = NULL;
	int r = CENOTE_OK;

	wt_start(WP_POOL(WT_POOL(WT_CLIENTS)), "server.crt");
	wt_copy(wt_file("ca.crl"), wt_file("later.crl"));
	wt_copy(wt_file("empty.crl"), wt_file("ca.crl"));
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool main was changed");
	/* try at least twice, until a new worker accepts the client */
	for (int i = 0; i < 100 && (i < 2 || r != CENOTE_OK); i++) {
		conn = careful();
		wt_set(conn, "cert", wt_file("client-revoked.crt"));
		wt_set(conn, "key", wt_file("client.key"));
		r = cenote_connect(conn);
		if (r == CENOTE_OK)
			assert_string_equal(wp_value(conn, "select 1"), "1");
		cenote_conn_destroy(conn);
		wp_pause_ms(50);
	}
	assert_ok(r);
	wt_copy(wt_file("later.crl"), wt_file("ca.crl"));
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	for (int i = 0; i < 100 && r == CENOTE_OK; i++) {
		conn = careful();
		wt_set(conn, "cert", wt_file("client-revoked.crt"));
		wt_set(conn, "key", wt_file("client.key"));
		r = cenote_connect(conn);
		if (r == CENOTE_OK)
			cenote_conn_destroy(conn);
		wp_pause_ms(50);
	}
	assert_int_equal(r, CENOTE_ERR_AUTH);
	assert_non_null(strstr(wp_message(conn), "revoked"));
	cenote_conn_destroy(conn);
}

/* ---- somebody in the middle ---- */

/* Bytes after an opening that asks for TLS never count as if they came through TLS. */
static void
what_stands_behind_the_opening_ends_it(void **state)
{
	static const unsigned char bytes[] = "CNTE\x14\0\1\1\1\1\4\0\0\0\0\0main"
					     "\x16\3\1\0\1\1";
	unsigned char answer[512];
	size_t got = 0;
	ssize_t n;
	int fd;

	wt_start(WP_POOL(WT_POOL("")), "server.crt");
	fd = dial(wp_daemon.run_dir);
	assert_int_equal(send(fd, bytes, sizeof(bytes) - 1, MSG_NOSIGNAL),
		(ssize_t)sizeof(bytes) - 1);
	while ((n = recv(fd, answer + got, sizeof(answer) - got, 0)) > 0)
		got += (size_t)n;
	/* one frame, an ERROR */
	assert_true(got > 12);
	assert_int_equal(answer[4], 0x46);
	assert_int_equal(12u + answer[0] + answer[1] * 256u, got);
	assert_non_null(memmem(answer, got, "bytes before the TLS handshake", 30));
	close(fd);
}

struct liar {
	int listen_fd;
	const unsigned char *bytes;
	size_t n;
};

static int
lie(void *arg)
{
	const struct liar *l = arg;
	char room[64];
	int fd = accept(WP_KEPT, NULL, NULL);

	if (fd < 0 || recv(fd, room, sizeof(room), 0) <= 0 ||
		send(fd, l->bytes, l->n, MSG_NOSIGNAL) != (ssize_t)l->n)
		return 1;
	while (recv(fd, room, sizeof(room), 0) > 0)
		;
	return 0;
}

static void
what_stands_behind_hello_ends_it(void **state)
{
	/* HELLO with tls 1, and after it either a record of TLS or a frame */
	static const unsigned char hello[] = "\x10\0\0\0\x40\0\0\0\0\0\0\0"
					     "\1\1\0\0\0\0\4\0\0\0\0\0\0\0\0\0"
					     "\x16\3\3\0\x7a\2";
	struct liar l = { .bytes = hello, .n = sizeof(hello) - 1 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char dir[128];
	cenote_conn *conn;
	pid_t child;

	wt_start(WP_POOL(WT_POOL("")), "server.crt");
	(void)snprintf(dir, sizeof(dir), "%.80s/main.sock", wp_daemon.dir);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.100s", dir);
	l.listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(l.listen_fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(l.listen_fd, 1), 0);
	child = wp_fork(lie, &l, l.listen_fd);
	conn = careful();
	wt_set(conn, "run_dir", wp_daemon.dir);
	assert_refused(conn, CENOTE_ERR_PROTOCOL, "bytes before the TLS handshake");
	assert_int_equal(wp_join(child), 0);
	close(l.listen_fd);
}

/* Check what a client gets on a disturbed connection: the right answer or an error. */
static void
disturbed(struct relay *r, int direction, enum relay_trick trick, size_t at)
{
	cenote_conn *conn = careful();
	cenote_result *res;
	int status;

	relay_set(r, direction, trick, at);
	wt_set(conn, "run_dir", r->dir);
	wt_set(conn, "connect_timeout", "300ms");
	wt_set(conn, "query_timeout", "300ms");
	wt_set(conn, "reattach", "no");
	status = cenote_connect(conn);
	if (status == CENOTE_OK)
		status = cenote_query(conn, "select 4711", CENOTE_NTS, NULL, NULL, &res);
	if (status == CENOTE_OK) {
		assert_string_equal(cenote_result_text(res, 0, 0, NULL), "4711");
		cenote_result_destroy(res);
	}
	/* a version number in the header of the first record has no meaning */
	if (status == CENOTE_OK && trick != RELAY_CHANGE)
		fail_msg("byte %zu, direction %d: nobody noticed", at, direction);
	cenote_conn_destroy(conn);
}

static void
somebody_in_the_middle_gets_nothing_through(void **state)
{
	static const enum relay_trick tricks[] = { RELAY_CUT, RELAY_INSERT,
		RELAY_CHANGE };
	char to[160], dir[96];
	struct relay r;
	cenote_conn *conn;

	wt_start(WP_POOL(WT_POOL("")), "server.crt");
	(void)snprintf(to, sizeof(to), "%s/main.sock", wp_daemon.run_dir);
	(void)snprintf(dir, sizeof(dir), "%.80s/mitm", wp_daemon.dir);
	assert_int_equal(relay_start(&r, dir, to), 0);
	conn = careful();
	wt_set(conn, "run_dir", dir);
	assert_ok(cenote_connect(conn));
	assert_string_equal(wp_value(conn, "select 4711"), "4711");
	cenote_conn_destroy(conn);
	assert_true(r.passed[0] > 300 && r.passed[1] > 300);
	for (int direction = 0; direction < 2; direction++) {
		/* every byte around the start of TLS, and some of the later ones */
		for (size_t at = 0; at < 60; at++)
			disturbed(&r, direction, RELAY_CUT, at);
		for (size_t i = 0; i < CNT_COUNT(tricks); i++) {
			for (size_t at = 60; at < 700; at += 37)
				disturbed(&r, direction, tricks[i], at);
		}
	}
	relay_set(&r, 0, RELAY_PASS, 0);
	relay_stop(&r);
	/* the pool took no harm */
	conn = careful_attached();
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
}

/* ---- logins ---- */

static void
a_password_is_bound_to_the_tls_that_it_came_by(void **state)
{
	int port = wt_start_with_users("auth = scram-sha-256\n");
	cenote_conn *conn = wt_joe(port, "secret", "verify-full");
	int64_t begun;

	if (cenote_connect(conn) != CENOTE_OK)
		fail_msg("%s", wp_message(conn));
	assert_string_equal(cenote_info(conn, "user"), "joe");
	assert_string_equal(wp_value(conn, "select 1"), "1");
	assert_true(wp_log_has("login by SCRAM-SHA-256-PLUS"));
	cenote_conn_destroy(conn);
	/* a late message from the door goes through TLS */
	conn = wt_joe(port, "wrong", "verify-full");
	begun = wp_now_ms();
	assert_int_equal(cenote_connect(conn), CENOTE_ERR_AUTH);
	assert_true(wp_now_ms() - begun >= 250 - WP_CLOCK_MS);
	assert_string_equal(wp_sqlstate(conn), "28P01");
	cenote_conn_destroy(conn);
	/* over TCP, no password is sent without TLS, unless the rule says so */
	conn = wt_joe(port, "secret", "disable");
	assert_refused(conn, CENOTE_ERR_AUTH, "the login was refused");
}

static void
a_certificate_says_who_it_is(void **state)
{
	int port = wt_start_with_users("auth = cert\n" WT_CLIENTS);
	cenote_conn *conn = wt_joe(port, NULL, "verify-full");

	wt_set(conn, "cert", wt_file("client.crt"));
	wt_set(conn, "key", wt_file("client.key"));
	wt_set(conn, "user", "cert");
	if (cenote_connect(conn) != CENOTE_OK)
		fail_msg("%s", wp_message(conn));
	assert_string_equal(cenote_info(conn, "user"), "cert");
	cenote_conn_destroy(conn);
	conn = wt_joe(port, NULL, "verify-full");
	wt_set(conn, "cert", wt_file("client.crt"));
	wt_set(conn, "key", wt_file("client.key"));
	assert_refused(conn, CENOTE_ERR_AUTH, "the login was refused");
	wp_await_log("its certificate does not name the user that it asked for");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(clients_have_tls_if_they_want_it),
		TEST(a_long_statement_goes_through),
		TEST(a_program_that_polls_gets_everything),
		TEST(a_pool_without_tls_says_so),
		TEST(a_session_is_resumed_at_another_worker),
		TEST(a_worker_reads_its_own_pool_s_ticket_keys_only),
		TEST(a_reload_gives_keeps_and_takes_ticket_keys),
		TEST(a_ticket_is_good_at_its_own_pool_only),
		TEST(a_session_that_is_taken_back_comes_back_through_tls),
		TEST(a_new_certificate_needs_no_restart),
		TEST(clients_show_certificates_where_they_must),
		TEST(a_client_revoked_meanwhile_is_turned_away),
		TEST(what_stands_behind_the_opening_ends_it),
		TEST(what_stands_behind_hello_ends_it),
		TEST(somebody_in_the_middle_gets_nothing_through),
		TEST(a_password_is_bound_to_the_tls_that_it_came_by),
		TEST(a_certificate_says_who_it_is),
	};

	return cmocka_run_group_tests_name("tls", tests, wt_make_certs, wt_remove_certs);
}
