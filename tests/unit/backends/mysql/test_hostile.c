/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server that is after the password. It asks for a plugin that gives the password away, and the backend must send nothing of it
 * unless the server line allows that. The server is a thread of this test.
 */
#include "harness.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PASSWORD "Water-over-the-stone"

struct packet {
	const char *bytes;
	size_t len;
};

#define PACKET(text)                                                                     \
	{                                                                                \
		text, sizeof(text) - 1                                                   \
	}
#define SCRAMBLE "abcdefghijklmnopqrst"

#define CLEAR   PACKET("\376mysql_clear_password\0")
#define DIALOG  PACKET("\376dialog\0\4Password: ")
#define OLD     PACKET("\376mysql_old_password\0" SCRAMBLE "\0")
#define SHA256  PACKET("\376sha256_password\0" SCRAMBLE "\0")
#define CACHING PACKET("\376caching_sha2_password\0" SCRAMBLE "\0")
#define NOTHING PACKET("")
#define FULL    PACKET("\1\4") /* the server does not know the password yet */
#define NO_KEY  "nothing proves whose key that is"

static const struct trick {
	struct packet ask; /* the request for another plugin */
	size_t n_proof; /* bytes that the client may answer with; they give nothing away */
	struct packet then; /* sent after that */
	const char *key, *value; /* an option of the server line; NULL: none */
	const char *why; /* what the refusal says */
} tricks[] = {
	{ CLEAR, 0, NOTHING, NULL, NULL, "only cleartext_password=yes allows" },
	{ CLEAR, 0, NOTHING, "cleartext_password", "yes", "the connection has no TLS" },
	{ DIALOG, 0, NOTHING, NULL, NULL, "the connection has no TLS" },
	{ OLD, 0, NOTHING, NULL, NULL, "only cleartext_password=yes allows" },
	{ OLD, 0, NOTHING, "cleartext_password", "yes", "the connection has no TLS" },
	{ SHA256, 0, NOTHING, NULL, NULL, NO_KEY },
	{ CACHING, 32, FULL, NULL, NULL, NO_KEY },
	/* the library takes this wish for TLS, and would send the password in clear text */
	{ CACHING, 32, FULL, "ssl_mode", "preferred", NO_KEY },
	{ CACHING, 32, FULL, "server_public_key", "/nonexistent", "No such file" },
};

/* Protocol 10, without TLS: 4.1, a database, and plugins. */
static const char greeting[] = "\12"
			       "10.11.0-MariaDB\0"
			       "\1\0\0\0"
			       "abcdefgh\0\10\202\55\2\0"
			       "\50\0\25\0\0\0\0\0\0\0\0\0\0"
			       "ijklmnopqrst\0mysql_native_password\0";

static struct {
	int listener, port;
	char path[64];
	pthread_t thread;
	const struct trick *trick;
	char got[4096]; /* what the client has sent after the request for another plugin */
	size_t n_got;
} server;

/* ---- the server ---- */

static void
say(int fd, unsigned number, const char *bytes, size_t len)
{
	uint8_t head[4] = { (uint8_t)len, (uint8_t)(len >> 8), 0, (uint8_t)number };

	(void)!send(fd, head, 4, MSG_NOSIGNAL | MSG_MORE);
	(void)!send(fd, bytes, len, MSG_NOSIGNAL);
}

/* The size of the body; -1: the client has left. */
static ssize_t
hear(int fd, char *ret_body, size_t size)
{
	uint8_t head[4];
	size_t len;

	if (recv(fd, head, 4, MSG_WAITALL) != 4)
		return -1;
	len = head[0] | (size_t)head[1] << 8;
	if (len > size ||
		(len > 0 && recv(fd, ret_body, len, MSG_WAITALL) != (ssize_t)len))
		return -1;
	return (ssize_t)len;
}

static void
serve_one(int fd)
{
	const struct trick *trick = server.trick;
	char reply[1024];
	ssize_t n;

	server.n_got = 0;
	say(fd, 0, greeting, sizeof(greeting) - 1);
	if (hear(fd, reply, sizeof(reply)) < 0)
		return;
	say(fd, 2, trick->ask.bytes, trick->ask.len);
	if (trick->n_proof > 0) {
		n = hear(fd, server.got, sizeof(server.got));
		server.n_got = n > 0 ? (size_t)n : 0;
		say(fd, 4, trick->then.bytes, trick->then.len);
	}
	while ((n = hear(fd, server.got + server.n_got,
			sizeof(server.got) - server.n_got)) >= 0)
		server.n_got += (size_t)n;
}

static void *
serve(void *unused)
{
	int fd;

	while ((fd = accept(server.listener, NULL, NULL)) >= 0) {
		serve_one(fd);
		(void)close(fd);
	}
	return unused;
}

static int
start(int is_unix)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr *at = is_unix ? (void *)&un : (void *)&in;
	socklen_t len = is_unix ? sizeof(un) : sizeof(in);

	(void)snprintf(server.path, sizeof(server.path), "/tmp/cenote-hostile-%d",
		(int)getpid());
	(void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", server.path);
	server.listener = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server.listener, at, len) < 0 || listen(server.listener, 8) < 0 ||
		getsockname(server.listener, at, &len) < 0)
		return -1;
	server.port = ntohs(in.sin_port);
	return pthread_create(&server.thread, NULL, serve, NULL);
}

/* Wait until the server has read everything. */
static void
stop(void)
{
	(void)shutdown(server.listener, SHUT_RDWR);
	assert_int_equal(pthread_join(server.thread, NULL), 0);
	(void)unlink(server.path);
	assert_int_equal(close(server.listener), 0);
}

/* ---- clients ---- */

static int
log_in(struct my *t, const struct trick *trick, int is_unix)
{
	char port[16];
	int r;

	(void)snprintf(port, sizeof(port), "%d", server.port);
	server.trick = trick;
	my_init(t);
	if (is_unix)
		my_option(t, "socket", server.path);
	else
		my_option(t, "host", "127.0.0.1");
	if (!is_unix)
		my_option(t, "port", port);
	my_option(t, "user", "app");
	my_option(t, "password", PASSWORD);
	my_option(t, "connect_timeout", "2s");
	if (trick->key)
		my_option(t, trick->key, trick->value);
	r = my_login(t);
	/* the connection is closed when the session has ended */
	assert_true(r < 0);
	return r;
}

static void
no_trick_gets_the_password(void **state)
{
	struct my t;
	size_t i;

	for (i = 0; i < CNT_COUNT(tricks); i++) {
		assert_int_equal(start(0), 0);
		assert_int_equal(log_in(&t, &tricks[i], 0), CENOTE_ERR_CONN);
		stop();
		if (!strstr(t.base.diag.message, tricks[i].why))
			fail_msg("trick %zu: %s", i, t.base.diag.message);
		assert_string_equal(t.base.diag.sqlstate, "08004");
		if (server.n_got != tricks[i].n_proof)
			fail_msg("trick %zu got %zu bytes", i, server.n_got);
		my_finish(&t);
	}
}

/* A unix socket is as private as TLS. */
static void
by_a_unix_socket_the_password_goes_where_it_is_allowed(void **state)
{
	struct my t;

	assert_int_equal(start(1), 0);
	(void)log_in(&t, &tricks[0], 1);
	stop();
	assert_int_equal(server.n_got, 0);
	my_finish(&t);
	assert_int_equal(start(1), 0);
	(void)log_in(&t, &tricks[1], 1);
	stop();
	assert_int_equal(server.n_got, sizeof(PASSWORD));
	assert_memory_equal(server.got, PASSWORD, sizeof(PASSWORD));
	my_finish(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_trick_gets_the_password),
		cmocka_unit_test(by_a_unix_socket_the_password_goes_where_it_is_allowed),
	};

	return cmocka_run_group_tests_name("mysql_hostile", tests, NULL, NULL);
}
