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

static const struct trick {
	struct packet ask; /* the request for another plugin */
	size_t n_proof; /* bytes that the client may answer with; they give nothing away */
	struct packet then; /* sent after that */
	const char *key, *value; /* an option of the server line; NULL: none */
	const char *why; /* what the refusal says */
} tricks[] = {
	{ PACKET("\xfe"
		 "mysql_clear_password\0"),
		0, PACKET(""), NULL, NULL, "only cleartext_password=yes allows" },
	{ PACKET("\xfe"
		 "mysql_clear_password\0"),
		0, PACKET(""), "cleartext_password", "yes", "the connection has no TLS" },
	{ PACKET("\xfe"
		 "dialog\0"
		 "\4Password: "),
		0, PACKET(""), NULL, NULL, "the connection has no TLS" },
	{ PACKET("\xfe"
		 "mysql_old_password\0" SCRAMBLE "\0"),
		0, PACKET(""), NULL, NULL, "only cleartext_password=yes allows" },
	{ PACKET("\xfe"
		 "sha256_password\0" SCRAMBLE "\0"),
		0, PACKET(""), NULL, NULL, "nothing proves whose key that is" },
	{ PACKET("\xfe"
		 "caching_sha2_password\0" SCRAMBLE "\0"),
		32, PACKET("\1\4"), NULL, NULL, "nothing proves whose key that is" },
	/* the library takes this wish for TLS, and would send the password in clear text */
	{ PACKET("\xfe"
		 "caching_sha2_password\0" SCRAMBLE "\0"),
		32, PACKET("\1\4"), "ssl_mode", "preferred",
		"nothing proves whose key that is" },
	{ PACKET("\xfe"
		 "caching_sha2_password\0" SCRAMBLE "\0"),
		32, PACKET("\1\4"), "server_public_key", "/nonexistent", "No such file" },
};

/* Protocol 10, without TLS: 4.1, a database, and plugins. */
static const char greeting[] = "\x0a"
			       "10.11.0-MariaDB\0"
			       "\1\0\0\0"
			       "abcdefgh\0"
			       "\x08\x82"
			       "\x2d"
			       "\2\0"
			       "\x28\0"
			       "\x15"
			       "\0\0\0\0\0\0\0\0\0\0"
			       "ijklmnopqrst\0"
			       "mysql_native_password\0";

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
static int
stop(void **state)
{
	(void)shutdown(server.listener, SHUT_RDWR);
	(void)pthread_join(server.thread, NULL);
	(void)unlink(server.path);
	return close(server.listener);
}

static int
start_tcp(void **state)
{
	return start(0);
}

static int
start_unix(void **state)
{
	return start(1);
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
		if (i > 0)
			assert_int_equal(start_tcp(NULL), 0);
		assert_int_equal(log_in(&t, &tricks[i], 0), CENOTE_ERR_CONN);
		assert_int_equal(stop(NULL), 0);
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

	(void)log_in(&t, &tricks[0], 1);
	assert_int_equal(stop(NULL), 0);
	assert_int_equal(server.n_got, 0);
	my_finish(&t);
	assert_int_equal(start_unix(NULL), 0);
	(void)log_in(&t, &tricks[1], 1);
	assert_int_equal(stop(NULL), 0);
	assert_int_equal(server.n_got, sizeof(PASSWORD));
	assert_memory_equal(server.got, PASSWORD, sizeof(PASSWORD));
	my_finish(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_trick_gets_the_password, start_tcp),
		cmocka_unit_test_setup(
			by_a_unix_socket_the_password_goes_where_it_is_allowed,
			start_unix),
	};

	return cmocka_run_group_tests_name("mysql_hostile", tests, NULL, NULL);
}
