/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers that do not speak the protocol: random bytes, a good beginning with a bad end, silence.
 * Such a peer loses its connection, and no client or process notices.
 */
#include "support/cnt_client.h"
#include "support/cnt_cmocka.h"
#include "support/cnt_daemon.h"
#include "support/cnt_random.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define N_ROUNDS 400

struct fixture {
	struct cnt_daemon daemon;
	uint8_t good[4096]; /* what libcenote sends first */
	size_t n_good;
	pid_t workers[64];
	size_t n_workers;
};

static int
open_socket(const struct cnt_daemon *d)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.90s/main.sock", d->run_dir);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* In a child: a client whose first bytes the parent reads instead of cenoted. */
static int
attach_once(void *arg)
{
	cenote_conn *conn;

	if (cenote_conn_create(NULL, &conn) < 0)
		return 1;
	if (cenote_conn_set_uri(conn, arg) == CENOTE_OK &&
		cenote_connect(conn) == CENOTE_OK)
		cnt_client_try(conn, "select 1");
	cenote_conn_destroy(conn);
	return 0;
}

/* Record what a well-behaved client sends first, on a socket of our own. */
static int
capture(struct fixture *f)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
	char uri[256];
	ssize_t n;
	pid_t pid;

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.90s/fake.sock", f->daemon.dir);
	snprintf(uri, sizeof(uri), "cenote:///fake?run_dir=%s&connect_timeout=5s",
		f->daemon.dir);
	if (server < 0 || bind(server, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
		listen(server, 1) < 0)
		return -1;
	pid = cnt_fork(attach_once, uri);
	fd = accept(server, NULL, NULL);
	n = fd >= 0 ? recv(fd, f->good, sizeof(f->good), 0) : -1;
	close(fd);
	close(server);
	cnt_wait(pid);
	f->n_good = n > 0 ? (size_t)n : 0;
	return n > 0 ? 0 : -1;
}

static int
start(void **state)
{
	static struct fixture f;

	if (cnt_daemon_start(
		    &f.daemon, CNT_DAEMON_GLOBAL CNT_DAEMON_POOL "sessions = 2..2\n") < 0)
		return -1;
	*state = &f;
	return capture(&f);
}

static int
stop(void **state)
{
	struct fixture *f = *state;

	return cnt_daemon_stop(&f->daemon);
}

/* Check that a client is served, and that the processes are the same as before. */
static void
check_unharmed(struct fixture *f)
{
	cenote_conn *conn = cnt_client_open(f->daemon.uri, NULL);
	pid_t now[64];

	assert_non_null(conn);
	assert_int_equal(cnt_client_int(conn, "select 42", 0, 0, 0), 42);
	cenote_conn_destroy(conn);
	assert_true(cnt_daemon_is_alive(&f->daemon));
	if (f->n_workers == 0) {
		f->n_workers = cnt_daemon_children(&f->daemon, f->workers, 64);
		assert_true(f->n_workers > 0);
		return;
	}
	assert_int_equal(cnt_daemon_children(&f->daemon, now, 64), f->n_workers);
	assert_memory_equal(now, f->workers, f->n_workers * sizeof(pid_t));
}

/* Send, then read until the daemon closes or has nothing more to say. */
static void
throw_bytes(struct fixture *f, const uint8_t *bytes, size_t n)
{
	char reply[4096];
	int fd = open_socket(&f->daemon);
	struct pollfd p = { fd, POLLIN, 0 };

	assert_true(fd >= 0);
	if (send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
		shutdown(fd, SHUT_WR);
		while (poll(&p, 1, 200) > 0 && recv(fd, reply, sizeof(reply), 0) > 0)
			;
	}
	close(fd);
}

static void
random_bytes_harm_nobody(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[2048];
	struct cnt_random rnd;
	int i;

	cnt_random_init_printed(&rnd);
	check_unharmed(f);
	for (i = 0; i < N_ROUNDS; i++) {
		size_t n = cnt_random_size(&rnd, sizeof(bytes));

		cnt_random_bytes(&rnd, bytes, n);
		throw_bytes(f, bytes, n);
		if (i % 20 == 0)
			check_unharmed(f);
	}
	check_unharmed(f);
}

static void
a_beginning_cut_at_any_byte_harms_nobody(void **state)
{
	struct fixture *f = *state;
	size_t n;

	assert_true(f->n_good > 16);
	for (n = 0; n < f->n_good; n++)
		throw_bytes(f, f->good, n);
	check_unharmed(f);
}

static void
a_beginning_with_bytes_changed_harms_nobody(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[sizeof(f->good)];
	struct cnt_random rnd;
	int i;

	cnt_random_init_printed(&rnd);
	for (i = 0; i < N_ROUNDS; i++) {
		size_t k, n = 1 + cnt_random_below(&rnd, 4);

		memcpy(bytes, f->good, f->n_good);
		for (k = 0; k < n; k++)
			bytes[cnt_random_below(&rnd, f->n_good)] =
				(uint8_t)cnt_random_u64(&rnd);
		throw_bytes(f, bytes, f->n_good);
	}
	check_unharmed(f);
}

static void
random_requests_behind_a_good_beginning_harm_nobody(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[sizeof(f->good) + 1024];
	struct cnt_random rnd;
	int i;

	cnt_random_init_printed(&rnd);
	for (i = 0; i < N_ROUNDS; i++) {
		size_t n = cnt_random_size(&rnd, 1024);

		memcpy(bytes, f->good, f->n_good);
		cnt_random_bytes(&rnd, bytes + f->n_good, n);
		throw_bytes(f, bytes, f->n_good + n);
	}
	check_unharmed(f);
}

/* More silent peers than there are sessions do not keep a client out for long. */
static void
silence_keeps_nobody_out(void **state)
{
	struct fixture *f = *state;
	int fds[8], i;

	for (i = 0; i < 8; i++) {
		fds[i] = open_socket(&f->daemon);
		assert_true(fds[i] >= 0);
		/* Some say nothing, some begin and stop. */
		if (i % 2)
			assert_true(send(fds[i], f->good, 5, MSG_NOSIGNAL) == 5);
	}
	check_unharmed(f);
	for (i = 0; i < 8; i++)
		close(fds[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_bytes_harm_nobody),
		cmocka_unit_test(a_beginning_cut_at_any_byte_harms_nobody),
		cmocka_unit_test(a_beginning_with_bytes_changed_harms_nobody),
		cmocka_unit_test(random_requests_behind_a_good_beginning_harm_nobody),
		cmocka_unit_test(silence_keeps_nobody_out),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
