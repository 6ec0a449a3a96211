/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients by TCP: who may log in, who waits, who is refused, and what silence costs. */
#include "with_pool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/frame.h"

#define PROXY_SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
/* A header for 203.0.113.9, port 50000. */
#define PROXY_FOR_9     "\x21\x11\x00\x0c\xcb\x00\x71\x09\x7f\x00\x00\x01\xc3\x50\x24\xd8"
#define PROXY_LOCAL     "\x20\x00\x00\x00"
#define BYTES(text)     (const uint8_t *)(text), sizeof(text) - 1

/* Free ports for the configuration; the next test gets others. */
static int ports[2];

static int
socket_on(int family, int port)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port),
		.sin6_addr = in6addr_loopback };
	struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;
	int r;

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	r = family == AF_INET6 ? bind(fd, (struct sockaddr *)&v6, sizeof(v6))
			       : bind(fd, (struct sockaddr *)&v4, sizeof(v4));
	if (r == 0)
		return fd;
	close(fd);
	return -1;
}

static int
setup(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(ports); i++)
		ports[i] = cnt_server_free_port();
	return 0;
}

/* The `listen` lines, with @1 and @2 for the ports, go after [cenoted]. Then comes a pool with its
 * lines. */
static const char *
config_of(const char *listens, const char *pool_lines)
{
	static char text[2048];
	char *to = text + snprintf(text, sizeof(text), "%s", CNT_DAEMON_GLOBAL);

	for (const char *p = listens; *p != '\0'; p++) {
		if (*p == '@')
			to += snprintf(to, 8, "%d", ports[*++p - '1']);
		else
			*to++ = *p;
	}
	snprintf(
		to, sizeof(text) - (size_t)(to - text), CNT_DAEMON_POOL "%s", pool_lines);
	return text;
}

static cenote_conn *
tcp_handle(const char *host, int port, const char *pool)
{
	cenote_conn *conn;
	char uri[128];

	snprintf(uri, sizeof(uri), "cenote://somebody@%s:%d/%s?connect_timeout=15s", host,
		port, pool);
	assert_ok(cenote_conn_create(NULL, &conn));
	if (cenote_conn_set_uri(conn, uri) != CENOTE_OK)
		fail_msg("%s: %s", uri, wp_message(conn));
	return conn;
}

static cenote_conn *
tcp_attach(const char *host, int port)
{
	cenote_conn *conn = tcp_handle(host, port, "main");
	int r = cenote_connect(conn);

	if (r != CENOTE_OK)
		fail_msg("connect: %s: %s", cenote_status_name(r), wp_message(conn));
	return conn;
}

/* Check that connecting fails, with this SQLSTATE and a message that has the text. */
static void
expect_refused(int port, const char *pool, const char *sqlstate, const char *text)
{
	cenote_conn *conn = tcp_handle("127.0.0.1", port, pool);

	assert_true(cenote_connect(conn) < 0);
	assert_string_equal(wp_sqlstate(conn), sqlstate);
	if (strstr(wp_message(conn), text) == NULL)
		fail_msg("\"%s\" is not in: %s", text, wp_message(conn));
	cenote_conn_destroy(conn);
}

/* Connect from 127.0.0.HOST. */
static int
raw_connect_from(unsigned host, int port)
{
	struct sockaddr_in from = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + host) };
	struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&v4, sizeof(v4)), 0);
	return fd;
}

static int
raw_connect(int port)
{
	return raw_connect_from(1, port);
}

static int
raw_connect_unix(const char *pool)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s.sock", wp_daemon.run_dir, pool);
	assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	return fd;
}

static void
put_bytes(int fd, const uint8_t *bytes, size_t n)
{
	assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
}

/* Send an opening, and without TLS an ATTACH, as libcenote does. */
static void
put_attach_to(const char *pool, int fd, uint8_t tls)
{
	struct cnp_opening o = {
		.version_min = 1, .version_max = 1, .kind = CNP_OPEN_ATTACH, .tls = tls
	};
	struct cnp_msg m = { .code = CNP_MSG_ATTACH };
	struct cnc_buf b;

	snprintf(o.pool, sizeof(o.pool), "%s", pool);
	cnc_buf_init(&b, &cnc_mem_default, CNP_FRAME_MAX_AUTH);
	m.as.attach.user = cnp_str("somebody");
	m.as.attach.max_frame = CNP_FRAME_MAX;
	assert_ok(cnp_opening_encode(&b, &o));
	if (tls == CNP_TLS_NONE)
		assert_ok(cnp_frame_put(&b, 0, 0, &m));
	put_bytes(fd, cnc_buf_head(&b), cnc_buf_len(&b));
	cnc_buf_finish(&b);
}

static void
put_attach(int fd, uint8_t tls)
{
	put_attach_to("main", fd, tls);
}

/* The code of the first frame that comes; 0: the connection was closed. */
static int
first_answer(int fd)
{
	struct timeval patience = { 20, 0 };
	uint8_t header[CNP_FRAME_HEADER];
	ssize_t n;

	assert_int_equal(
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	n = recv(fd, header, sizeof(header), MSG_WAITALL);
	if (n < 0 && errno == EAGAIN)
		fail_msg("no answer");
	return n == (ssize_t)sizeof(header) ? header[4] : 0;
}

static void
clients_come_by_ipv4_and_ipv6(void **state)
{
	cenote_conn *a, *b;
	int probe = socket_on(AF_INET6, 0);

	if (probe < 0) {
		print_message("# this machine has no IPv6\n");
		skip();
	}
	close(probe);
	wp_start(config_of("listen = 127.0.0.1:@1\nlisten = [::1]:@2\n",
		"sessions = 2\nauth = trust door=tcp, trust\n"));
	a = tcp_attach("127.0.0.1", ports[0]);
	b = tcp_attach("[::1]", ports[1]);
	assert_string_equal(wp_value(a, "select 1"), "1");
	assert_string_equal(wp_value(b, "select 2"), "2");
	assert_string_equal(cenote_info(a, "user"), "somebody");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
	wp_await("main", "idle", 2);
}

static void
a_cancel_comes_the_same_way(void **state)
{
	cenote_conn *a;
	cenote_cancel *cancel;
	cenote_result *res;

	wp_start(config_of("listen = 127.0.0.1:@1\n",
		"sessions = 1\nauth = trust door=tcp, trust\n"));
	a = tcp_attach("127.0.0.1", ports[0]);
	assert_ok(cenote_send_query(a,
		"with recursive c(x) as (select 1 union all select x + 1 from c) "
		"select count(*) from c",
		CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_cancel_create(a, &cancel));
	wp_pause_ms(100);
	assert_ok(cenote_cancel_send(cancel));
	res = wp_next_result(a, CENOTE_RESULT_ERROR);
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "57014");
	cenote_result_destroy(res);
	cenote_cancel_destroy(cancel);
	cenote_conn_destroy(a);
}

static void
who_cannot_come_is_told_why(void **state)
{
	wp_start(config_of("listen = 127.0.0.1:@1\n", "sessions = 1\n"));
	expect_refused(ports[0], "other", "3D000", "there is no pool \"other\"");
	/* auth = peer is for clients on this machine */
	expect_refused(ports[0], "main", "28000", "the login was refused");
	wp_await_log("no rule of auth matches");
	wp_await("main", "idle", 1);
}

static void
networks_are_denied_and_allowed(void **state)
{
	cenote_conn *a;

	wp_start(config_of("listen = 127.0.0.1:@1\n",
		"sessions = 1\nauth = trust door=tcp, "
		"trust\nallow = 10.0.0.0/8, 127.0.0.0/8\n"));
	cenote_conn_destroy(tcp_attach("127.0.0.1", ports[0]));
	assert_int_equal(
		cnt_daemon_configure(&wp_daemon,
			config_of("listen = 127.0.0.1:@1\n",
				"sessions = 1\nauth = trust door=tcp, trust\nallow = "
				"127.0.0.0/8\ndeny = 127.0.0.1\n")),
		0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("reloaded");
	expect_refused(ports[0], "main", "28000", "from this address");
	/* allow and deny are about TCP */
	a = wp_attach(NULL);
	cenote_conn_destroy(a);
}

/* Send a header byte by byte, so that the door sees it cut at every place. */
static void
put_slowly(int fd, const uint8_t *bytes, size_t n)
{
	int on = 1;

	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
	for (size_t i = 0; i < n; i++) {
		put_bytes(fd, bytes + i, 1);
		wp_pause_ms(1);
	}
}

static void
a_proxy_says_for_whom_it_speaks(void **state)
{
	int fd;

	wp_start(config_of("listen = 127.0.0.1:@1 proxy=v2\n",
		"sessions = 1\nauth = trust door=tcp, trust\ndeny = 203.0.113.9\n"));
	fd = raw_connect(ports[0]);
	put_bytes(fd, BYTES(PROXY_SIGNATURE PROXY_FOR_9));
	put_attach(fd, CNP_TLS_NONE);
	assert_int_equal(first_answer(fd), CNP_MSG_ERROR);
	close(fd);
	wp_await_log("refused 203.0.113.9:50000: allow and deny");
	fd = raw_connect(ports[0]);
	put_slowly(fd, BYTES(PROXY_SIGNATURE PROXY_LOCAL));
	put_attach(fd, CNP_TLS_NONE);
	assert_int_equal(first_answer(fd), CNP_MSG_HELLO);
	close(fd);
	/* without a header, a client gets no answer */
	fd = raw_connect(ports[0]);
	put_attach(fd, CNP_TLS_NONE);
	assert_int_equal(first_answer(fd), 0);
	close(fd);
	wp_await_log("no header of the PROXY protocol");
}

static void
clients_wait_for_a_session_and_not_for_ever(void **state)
{
	cenote_conn *a, *b;

	wp_start(config_of("listen = 127.0.0.1:@1\n",
		"sessions = 1\nauth = trust door=tcp, trust\nqueue_timeout = 300ms\n"
		"[pool other]\nbackend = sqlite\nserver = path=@DIR@/main.db\n"
		"sessions = 1\nauth = trust door=tcp, trust\n"));
	a = tcp_attach("127.0.0.1", ports[0]);
	expect_refused(
		ports[0], "main", "57P03", "no free session in 300ms (1 of 1 in use");
	cenote_conn_destroy(a);
	a = wp_attach("other");
	b = tcp_handle("127.0.0.1", ports[0], "other");
	assert_ok(cenote_set_nonblocking(b, 1));
	assert_int_equal(cenote_connect(b), CENOTE_AGAIN);
	wp_pause_ms(50);
	cenote_conn_destroy(a);
	assert_ok(cenote_set_nonblocking(b, 0));
	assert_ok(cenote_connect(b));
	assert_string_equal(wp_value(b, "select 1"), "1");
	cenote_conn_destroy(b);
}

/* Check that nothing has come. */
static void
assert_waits(int fd)
{
	char byte;

	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
}

static void
need_descriptors(rlim_t n)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max >= n)
		return;
	print_message("# not enough descriptors may be open here\n");
	skip();
}

/* More silent clients come than the door keeps. The oldest are closed, and a client that sends
 * something gets its answer at once. */
static void
who_says_nothing_takes_nobody_s_place(void **state)
{
	static int fds[1100];
	cenote_conn *a;
	char byte;

	need_descriptors(4096);
	wp_start(config_of("listen = 127.0.0.1:@1\n",
		"sessions = 1\nauth = trust door=tcp, trust\n"));
	for (size_t i = 0; i < CNT_COUNT(fds); i++) {
		fds[i] = raw_connect(ports[0]);
		/* a beginning of an opening, and no more */
		put_bytes(fds[i], BYTES("CNTE\x20\0\1"));
	}
	a = tcp_attach("127.0.0.1", ports[0]);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
	/* it is a reset, since the client had not read the answer */
	assert_true(recv(fds[0], &byte, 1, 0) <= 0);
	assert_int_equal(recv(fds[CNT_COUNT(fds) - 1], &byte, 1, MSG_DONTWAIT), -1);
	for (size_t i = 0; i < CNT_COUNT(fds); i++)
		close(fds[i]);
}

/* The same on a pool's own socket, while the door accepts on that socket. */
static void
who_says_nothing_on_a_unix_socket_takes_no_place_either(void **state)
{
	static int fds[1100];
	cenote_conn *a;
	int last;

	need_descriptors(4096);
	wp_start(WP_POOL("sessions = 1\nauth = trust\n"));
	a = wp_attach(NULL);
	for (size_t i = 0; i < CNT_COUNT(fds); i++)
		fds[i] = raw_connect_unix("main");
	last = raw_connect_unix("main");
	put_attach(last, CNP_TLS_NONE);
	assert_int_equal(first_answer(fds[0]), 0);
	/* the others still wait, so the last one was not sent away for being late */
	wp_pause_ms(500);
	assert_waits(fds[CNT_COUNT(fds) - 1]);
	cenote_conn_destroy(a);
	assert_int_equal(first_answer(last), CNP_MSG_HELLO);
	close(last);
	for (size_t i = 0; i < CNT_COUNT(fds); i++)
		close(fds[i]);
}

/* A client that asks for TLS needs a worker for the answer, and may then stay silent. */
static void
strangers_take_half_of_a_pool_at_most(void **state)
{
	cenote_conn *a;
	int fds[4];

	wp_start(config_of("listen = 127.0.0.1:@1\n",
		"sessions = 2..2\nauth = trust door=tcp, trust\n"));
	for (size_t i = 0; i < CNT_COUNT(fds); i++) {
		fds[i] = raw_connect(ports[0]);
		put_attach(fds[i], CNP_TLS_ALLOW);
	}
	assert_int_equal(first_answer(fds[0]), CNP_MSG_HELLO);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	/* when one stranger goes, the pool answers the next one */
	close(fds[0]);
	assert_int_equal(first_answer(fds[1]), CNP_MSG_HELLO);
	for (size_t i = 1; i < CNT_COUNT(fds); i++)
		close(fds[i]);
	cenote_conn_destroy(a);
	wp_await("main", "idle", 2);
}

/* The first of these clients that gets an answer. */
static size_t
next_answered(const int *fds, size_t n)
{
	struct pollfd polls[8];

	assert_true(n <= CNT_COUNT(polls));
	for (size_t i = 0; i < n; i++)
		polls[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	assert_true(poll(polls, (nfds_t)n, 20000) > 0);
	for (size_t i = 0; i < n; i++) {
		if (polls[i].revents != 0)
			return i;
	}
	return n;
}

/* Six clients of one address wait when the first client of another address comes. It waits for two of them at most: for the one that
 * is already in the queue of the workers, and for one turn. */
static void
addresses_take_turns(void **state)
{
	enum {
		LATE = 6
	};
	cenote_conn *a;
	size_t served, n_before = 0;
	int fds[LATE + 1];

	/* with a limit, clients by TCP that wait are counted; this one is never reached */
	wp_start(config_of("listen = 127.0.0.1:@1\n",
		"sessions = 1\nauth = trust door=tcp, trust\nqueue_timeout = 60s\n"
		"address_limits = sessions=9\n"));
	a = wp_attach(NULL);
	for (size_t i = 0; i < LATE; i++) {
		fds[i] = raw_connect_from(2, ports[0]);
		put_attach(fds[i], CNP_TLS_NONE);
		wp_await("main", "waiting", (int64_t)i + 1);
	}
	fds[LATE] = raw_connect_from(3, ports[0]);
	put_attach(fds[LATE], CNP_TLS_NONE);
	wp_await("main", "waiting", LATE + 1);
	cenote_conn_destroy(a);
	while ((served = next_answered(fds, CNT_COUNT(fds))) != LATE) {
		assert_int_equal(first_answer(fds[served]), CNP_MSG_HELLO);
		close(fds[served]);
		/* poll() leaves it out */
		fds[served] = -1;
		n_before++;
	}
	assert_in_range(n_before, 1, 2);
	for (size_t i = 0; i < CNT_COUNT(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

static void
an_address_with_all_its_sessions_keeps_no_other_waiting(void **state)
{
	int first, second, other;

	wp_start(config_of("listen = 127.0.0.1:@1\n",
		"sessions = 4..4\nauth = trust door=tcp, trust\n"
		"address_limits = sessions=1\n"));
	first = raw_connect_from(2, ports[0]);
	put_attach(first, CNP_TLS_NONE);
	assert_int_equal(first_answer(first), CNP_MSG_HELLO);
	second = raw_connect_from(2, ports[0]);
	put_attach(second, CNP_TLS_NONE);
	wp_await("main", "waiting", 1);
	other = raw_connect_from(3, ports[0]);
	put_attach(other, CNP_TLS_NONE);
	assert_int_equal(first_answer(other), CNP_MSG_HELLO);
	assert_waits(second);
	close(first);
	assert_int_equal(first_answer(second), CNP_MSG_HELLO);
	close(second);
	close(other);
}

/* Check that the first frame is an ERROR with this text. */
static void
expect_raw_error(int fd, const char *text)
{
	uint8_t bytes[1024];
	ssize_t n;

	assert_int_equal(first_answer(fd), CNP_MSG_ERROR);
	n = recv(fd, bytes, sizeof(bytes), 0);
	assert_true(n > 0);
	if (memmem(bytes, (size_t)n, text, strlen(text)) == NULL)
		fail_msg("\"%s\" is not in the answer", text);
}

/* Of 12,288 places, a quarter belongs to each of two pools, and half to both. A user gets half of
 * what is left. */
#define BY_TCP  4608
#define BY_UNIX 2304

static void
one_user_who_waits_keeps_nobody_from_waiting(void **state)
{
	static int by_tcp[BY_TCP + 1], by_unix[BY_UNIX + 1];
	cenote_conn *a, *b;
	char who[64];
	int fd;

	need_descriptors(8192);
	wp_start(config_of("listen = 127.0.0.1:@1\n",
		"sessions = 1\nauth = trust door=tcp, trust\nqueue_timeout = 0\n"
		"[pool other]\nbackend = sqlite\nserver = path=@DIR@/main.db\n"
		"sessions = 1\nauth = trust door=tcp, trust\nqueue_timeout = 0\n"));
	a = wp_attach("main");
	b = wp_attach("other");
	for (size_t i = 0; i < CNT_COUNT(by_tcp); i++) {
		by_tcp[i] = raw_connect_from(2, ports[0]);
		put_attach(by_tcp[i], CNP_TLS_NONE);
	}
	expect_raw_error(by_tcp[BY_TCP],
		"pool main: 4608 clients from 127.0.0.2/32 wait for a session, as many");
	assert_waits(by_tcp[BY_TCP - 1]);
	for (size_t i = 0; i < CNT_COUNT(by_unix); i++) {
		by_unix[i] = raw_connect_unix("main");
		put_attach(by_unix[i], CNP_TLS_NONE);
	}
	snprintf(who, sizeof(who), "2304 clients of user id %u wait", (unsigned)getuid());
	expect_raw_error(by_unix[BY_UNIX], who);
	assert_waits(by_unix[BY_UNIX - 1]);
	/* the other pool still has a place, and this pool has one for another user */
	fd = raw_connect_from(2, ports[0]);
	put_attach_to("other", fd, CNP_TLS_NONE);
	cenote_conn_destroy(b);
	assert_int_equal(first_answer(fd), CNP_MSG_HELLO);
	close(fd);
	fd = raw_connect_from(3, ports[0]);
	put_attach(fd, CNP_TLS_NONE);
	for (size_t i = 0; i < CNT_COUNT(by_tcp); i++)
		close(by_tcp[i]);
	for (size_t i = 0; i < CNT_COUNT(by_unix); i++)
		close(by_unix[i]);
	cenote_conn_destroy(a);
	assert_int_equal(first_answer(fd), CNP_MSG_HELLO);
	close(fd);
}

static void
a_reload_opens_and_closes_addresses(void **state)
{
	cenote_conn *a, *b;

	wp_start(config_of("listen = 127.0.0.1:@1\n",
		"sessions = 2\nauth = trust door=tcp, trust\n"));
	a = tcp_attach("127.0.0.1", ports[0]);
	assert_int_equal(cnt_daemon_configure(&wp_daemon,
				 config_of("listen = 127.0.0.1:@2\n",
					 "sessions = 2\nauth = trust door=tcp, trust\n")),
		0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("reloaded");
	b = tcp_attach("127.0.0.1", ports[1]);
	expect_refused(ports[0], "main", "08001", "Connection refused");
	/* a client that is attached stays */
	assert_string_equal(wp_value(a, "select 1"), "1");
	assert_string_equal(wp_value(b, "select 1"), "1");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void
an_address_in_use_changes_nothing(void **state)
{
	int taken;

	wp_start(config_of("listen = 127.0.0.1:@1\n",
		"sessions = 1\nauth = trust door=tcp, trust\n"));
	taken = socket_on(AF_INET, ports[1]);
	assert_int_equal(listen(taken, 1), 0);
	assert_int_equal(cnt_daemon_configure(&wp_daemon,
				 config_of("listen = 127.0.0.1:@2\n",
					 "sessions = 1\nauth = trust door=tcp, trust\n")),
		0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("the configuration stays as it was");
	close(taken);
	cenote_conn_destroy(tcp_attach("127.0.0.1", ports[0]));
}

/* ---- sockets of the service manager ---- */

static int
listen_unix(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

/* Start cenoted as systemd starts a service: the sockets are descriptors 3 and 4, and the
 * environment says so. */
static pid_t
start_with_sockets(int first, int second)
{
	const char *program = cnt_env_or("CNT_CENOTED", CNT_CENOTED_PATH);
	char pid_text[16];
	pid_t pid = fork();
	int log;

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setpgid(0, 0);
	first = fcntl(first, F_DUPFD, 10);
	second = fcntl(second, F_DUPFD, 10);
	log = open(wp_daemon.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	dup2(log, STDERR_FILENO);
	dup2(first, 3);
	dup2(second, 4);
	closefrom(5);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)getpid());
	setenv("LISTEN_PID", pid_text, 1);
	setenv("LISTEN_FDS", "2", 1);
	execl(program, program, "-c", wp_daemon.conf, (char *)NULL);
	_exit(127);
}

static void
the_service_manager_s_sockets_are_used(void **state)
{
	char path[CNT_PATH_MAX + 16];
	int un, tcp;

	assert_int_equal(cnt_daemon_create(&wp_daemon,
				 config_of("listen = 127.0.0.1:@1\n",
					 "sessions = 1\nauth = trust door=tcp, trust\n")),
		0);
	snprintf(path, sizeof(path), "%s/main.sock", wp_daemon.run_dir);
	un = listen_unix(path);
	tcp = socket_on(AF_INET, ports[0]);
	assert_int_equal(listen(tcp, 16), 0);
	wp_daemon.pid = start_with_sockets(un, tcp);
	/* clients that come before cenoted runs wait in the sockets */
	cenote_conn_destroy(wp_attach(NULL));
	cenote_conn_destroy(tcp_attach("127.0.0.1", ports[0]));
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	/* cenoted does not remove the service manager's sockets */
	assert_int_equal(access(path, F_OK), 0);
	wp_daemon.pid = start_with_sockets(un, tcp);
	cenote_conn_destroy(wp_attach(NULL));
	close(un);
	close(tcp);
}

static void
a_socket_that_nobody_wants_is_told(void **state)
{
	int status;
	int un, tcp;
	char path[CNT_PATH_MAX + 16];

	assert_int_equal(
		cnt_daemon_create(&wp_daemon, config_of("", "sessions = 1\n")), 0);
	snprintf(path, sizeof(path), "%s/main.sock", wp_daemon.run_dir);
	un = listen_unix(path);
	tcp = socket_on(AF_INET, ports[0]);
	assert_int_equal(listen(tcp, 16), 0);
	status = wp_join(start_with_sockets(un, tcp));
	assert_int_equal(status, 1);
	snprintf(path, sizeof(path), "127.0.0.1:%d, but no pool", ports[0]);
	assert_true(wp_log_has(path));
	close(un);
	close(tcp);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(clients_come_by_ipv4_and_ipv6),
		TEST(a_cancel_comes_the_same_way),
		TEST(who_cannot_come_is_told_why),
		TEST(networks_are_denied_and_allowed),
		TEST(a_proxy_says_for_whom_it_speaks),
		TEST(clients_wait_for_a_session_and_not_for_ever),
		TEST(who_says_nothing_takes_nobody_s_place),
		TEST(who_says_nothing_on_a_unix_socket_takes_no_place_either),
		TEST(strangers_take_half_of_a_pool_at_most),
		TEST(addresses_take_turns),
		TEST(an_address_with_all_its_sessions_keeps_no_other_waiting),
		TEST(one_user_who_waits_keeps_nobody_from_waiting),
		TEST(a_reload_opens_and_closes_addresses),
		TEST(an_address_in_use_changes_nothing),
		TEST(the_service_manager_s_sockets_are_used),
		TEST(a_socket_that_nobody_wants_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
