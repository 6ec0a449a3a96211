/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to the server breaks after every number of bytes; the backend must
 * report each as a lost session. It needs MariaDB.
 */
#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* A relay to the server that cuts each connection after a number of bytes. */

struct relay {
	char path[CNT_SERVER_PATH_MAX];
	pid_t pid;
	/* Shared with the relay's process: cut each connection after so many bytes of the server. */
	volatile size_t *cut_at;
	/* Shared: bytes of the server in the longest connection; for a file, bytes of the client. */
	volatile size_t *most;
};

static int
open_socket(const char *path, int is_server)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd < 0)
		return -1;
	if (is_server ? bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
				listen(fd, 5) < 0
		      : connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int
pass_on(int from, int to, size_t *left)
{
	char data[4096];
	size_t want = *left < sizeof(data) ? *left : sizeof(data);
	ssize_t n = read(from, data, want);

	if (n <= 0 || write(to, data, (size_t)n) != n)
		return -1;
	*left -= (size_t)n;
	return *left > 0 ? 0 : -1;
}

static void
relay_one(const struct relay *r, int client)
{
	int server = open_socket(my_server.socket, 0);
	struct pollfd p[2] = { { client, POLLIN, 0 }, { server, POLLIN, 0 } };
	size_t down = *r->cut_at, up = SIZE_MAX, most = down;

	while (server >= 0 && poll(p, 2, -1) > 0) {
		if (p[0].revents && pass_on(client, server, &up) < 0)
			break;
		if (p[1].revents && pass_on(server, client, &down) < 0)
			break;
	}
	if (most - down > *r->most)
		*r->most = most - down;
	close(server);
	close(client);
}

static void relay_greedy(const struct relay *r, int client);

/* `is_greedy`: cut nothing, serve several connections at a time, and ask for a file. */
static void
relay_start(struct relay *r, int is_greedy)
{
	size_t *shared = mmap(NULL, 2 * sizeof(*shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int listener, client;

	assert_true(shared != MAP_FAILED);
	r->cut_at = shared;
	r->most = shared + 1;
	snprintf(r->path, sizeof(r->path), "%.60s/cut.sock", my_server.dir);
	listener = open_socket(r->path, 1);
	assert_true(listener >= 0);
	r->pid = fork();
	assert_true(r->pid >= 0);
	if (r->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_IGN);
		while ((client = accept(listener, NULL, NULL)) >= 0) {
			if (!is_greedy)
				relay_one(r, client);
			else if (fork() == 0)
				relay_greedy(r, client);
			else
				close(client);
		}
		_exit(0);
	}
	close(listener);
}

static void
relay_stop(struct relay *r)
{
	kill(r->pid, SIGKILL);
	assert_int_equal(waitpid(r->pid, NULL, 0), r->pid);
	(void)unlink(r->path);
}

/* Returns 1 if the connection lasted to the end. */
static int
use_connection(struct my *t, const char *path)
{
	struct cnc_value v[2] = { cnt_int(1), cnt_text("xyz") };
	uint32_t portal;

	my_option(t, "socket", path);
	my_option(t, "user", "app");
	my_option(t, "dbname", "app");
	if (my_login(t) != CENOTE_OK)
		return 0;
	(void)my_query(t, "select 1 as a, 'x' as b, null; select 2; do 0");
	if (t->base.last != CENOTE_OK)
		return 0;
	t->base.batch_rows = 1;
	(void)my_query(t, "select seq, 'abc' from seq_1_to_3");
	portal = t->base.portal;
	t->base.batch_rows = 0;
	if (t->base.last == CENOTE_OK)
		(void)my_prepare(t, 1, "select ?, ?, now(), cast(1.5 as double)");
	if (t->base.last == CENOTE_OK)
		(void)my_execute(t, 1, 0, v, 2);
	if (t->base.last == CENOTE_OK)
		(void)my_fetch(t, portal, 0, 1);
	if (t->base.last == CENOTE_OK)
		(void)my_begin(t, CENOTE_ISOLATION_SERIALIZABLE, 0);
	if (t->base.last == CENOTE_OK)
		(void)my_query(t, "select * from nothing_here");
	if (t->base.last == CENOTE_ERR_SERVER)
		(void)my_query(t, "set names latin1");
	if (t->base.last == CENOTE_OK)
		(void)my_commit(t);
	if (t->base.last == CENOTE_OK)
		t->base.last = my_reset(t);
	return t->base.last == CENOTE_OK;
}

static void
a_connection_that_breaks_at_any_byte_is_told(void **state)
{
	struct relay r;
	struct my t;
	size_t n;
	int is_whole = 0;

	relay_start(&r, 0);
	for (n = 1; !is_whole; n++) {
		assert_in_range(n, 1, 20000);
		*r.cut_at = n;
		my_init(&t);
		is_whole = use_connection(&t, r.path);
		if (!is_whole && (!t.base.s || t.base.last == CENOTE_ERR_CONN))
			assert_prefix(t.base.diag.sqlstate, "08");
		else if (!is_whole)
			fail_msg("after %zu bytes: %d %s", n, t.base.last,
				t.base.diag.message);
		my_finish(&t);
	}
	assert_true(n > 1000);
	relay_stop(&r);
}

/* ---- a server that asks for what it must not have ---- */

/* Ask for a file instead of answering KILL QUERY, and count the bytes that the client sends. */
static void
ask_for_file(const struct relay *r, int client)
{
	char question[CNT_SERVER_PATH_MAX + 8] = { 0, 0, 0, 1, (char)0xfb };
	char data[4096];
	size_t n = strlen(my_server.passfile);
	ssize_t got;

	question[0] = (char)(n + 1);
	memcpy(question + 5, my_server.passfile, n);
	if (write(client, question, n + 5) < 0)
		return;
	/* an empty packet means the end of the file, or a refusal */
	while ((got = read(client, data, sizeof(data))) > 4)
		*r->most += (size_t)got;
}

static int
pass_question(const struct relay *r, int client, int server)
{
	char data[4096];
	ssize_t n = read(client, data, sizeof(data));

	if (n > 15 && memcmp(data + 5, "KILL QUERY", 10) == 0) {
		ask_for_file(r, client);
		return -1;
	}
	return n <= 0 || write(server, data, (size_t)n) != n ? -1 : 0;
}

static void
relay_greedy(const struct relay *r, int client)
{
	int server = open_socket(my_server.socket, 0);
	struct pollfd p[2] = { { client, POLLIN, 0 }, { server, POLLIN, 0 } };
	size_t down = SIZE_MAX;

	while (server >= 0 && poll(p, 2, -1) > 0) {
		if (p[0].revents && pass_question(r, client, server) < 0)
			break;
		if (p[1].revents && pass_on(server, client, &down) < 0)
			break;
	}
	_exit(0);
}

static void
a_server_gets_no_file_but_from_its_client(void **state)
{
	struct relay r;
	struct my t;

	relay_start(&r, 1);
	my_init(&t);
	my_option(&t, "socket", r.path);
	my_option(&t, "user", "app");
	my_option(&t, "dbname", "app");
	my_option(&t, "local_infile", "yes");
	assert_ok(my_login(&t));
	t.stop_after_ms = 100;
	(void)my_query(&t, "select sleep(30)");
	assert_int_equal(t.base.last, CENOTE_ERR_CONN);
	assert_int_equal(*r.most, 0);
	my_finish(&t);
	relay_stop(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_gets_no_file_but_from_its_client),
		cmocka_unit_test(a_connection_that_breaks_at_any_byte_is_told),
	};

	return my_main(tests, CNT_COUNT(tests), "mysql_cut", 0);
}
