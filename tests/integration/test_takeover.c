/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker that an attacker has taken over: it writes whatever it can into shared memory, and says
 * whatever it likes to the door. This test does so in the worker's place, through its memory and
 * copies of its descriptors, which only root may have.
 */
#include "with_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/ipc.h"
#include "support/cnt_random.h"

/* An attacker has the worker of "taken"; the other pool must notice nothing. */
#define CONFIG                                                                           \
	CNT_DAEMON_GLOBAL                                                                \
	"\n[pool taken]\nbackend = sqlite\nserver = path=@DIR@/taken.db\n"               \
	"sessions = 1\n"                                                                 \
	"\n[pool main]\nbackend = sqlite\nserver = path=@DIR@/main.db\n"                 \
	"sessions = 2\n"

/* ---- what a worker can write ---- */

struct area {
	uint64_t from;
	uint64_t to;
	uint64_t offset; /* offset of the area in the board */
};

#define AREAS 16

/* The parts of the board that a process has with these rights ("rw"). */
static size_t
find_areas(pid_t pid, const char *rights, struct area *ret_areas)
{
	char path[64], line[512], has[8];
	struct area a;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (strstr(line, "cenote-board") != NULL && n < AREAS &&
			sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64, &a.from,
				&a.to, has, &a.offset) == 4 &&
			strncmp(has, rights, strlen(rights)) == 0)
			ret_areas[n++] = a;
	}
	if (f != NULL)
		fclose(f);
	return n;
}

static int
open_memory(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		print_message("# only root may write another process's memory\n");
		skip();
	}
	return fd;
}

/* The worker whose pool has its record at this offset of the board; 0: there is none now. */
static pid_t
find_worker(uint64_t record)
{
	struct area areas[AREAS];
	pid_t pids[16];
	size_t n = cnt_daemon_children(&wp_daemon, pids, CNT_COUNT(pids));

	for (size_t i = 0; i < n; i++) {
		if (find_areas(pids[i], "rw", areas) == 2 && areas[0].offset == record)
			return pids[i];
	}
	return 0;
}

/* Words that a program might take for something: a small number, nothing, everything, a process. */
static uint64_t
random_word(struct cnt_random *rng)
{
	uint64_t any = cnt_random_u64(rng);

	switch (cnt_random_below(rng, 6)) {
	case 0:
		return any;
	case 1:
		return any & 0xff;
	case 2:
		return 0;
	case 3:
		return UINT64_MAX;
	case 4:
		return (uint64_t)getpid() << 32 | (uint32_t)getpid();
	default:
		return (uint64_t)wp_daemon.pid << 32 | (any & 7);
	}
}

static int
scribble(pid_t pid, struct cnt_random *rng, unsigned n_words)
{
	struct area areas[AREAS];
	size_t n = find_areas(pid, "rw", areas);
	int fd = n > 0 ? open_memory(pid) : -1;
	int r = fd < 0 ? -1 : 0;

	for (unsigned i = 0; i < n_words && r == 0; i++) {
		const struct area *a = &areas[cnt_random_below(rng, n)];
		uint64_t at = a->from + 8 * cnt_random_below(rng, (a->to - a->from) / 8);
		uint64_t word = random_word(rng);

		r = pwrite(fd, &word, sizeof(word), (off_t)at) == sizeof(word) ? 0 : -1;
	}
	if (fd >= 0)
		close(fd);
	return r;
}

/* ---- the others ---- */

/* Clients of the pool, one after the other, until the process is killed. Clients of "taken" need
 * not be served. */
static int
come_and_go(void *arg)
{
	const char *pool = arg;

	for (;;) {
		cenote_conn *conn = wp_handle(pool);

		if (cenote_conn_set(conn, "connect_timeout", "5") == CENOTE_OK &&
			cenote_connect(conn) == CENOTE_OK)
			(void)wp_status_of(conn, "select 1");
		cenote_conn_destroy(conn);
	}
	return 0;
}

static int
seconds_of_writing(void)
{
	const char *text = getenv("CHECK_BOARD_SECONDS");

	return text != NULL ? (int)strtol(text, NULL, 10) : 60;
}

/* Check that everything but "taken" works. */
static void
expect_service(pid_t door)
{
	cenote_conn *conn = wp_attach(NULL);

	assert_string_equal(wp_value(conn, "select 7"), "7");
	cenote_conn_destroy(conn);
	assert_true(wp_pool_number("main", "live") == 2);
	assert_true(cnt_daemon_is_alive(&wp_daemon));
	assert_int_equal(wp_await_child("cenoted-door"), door);
}

static void
random_words_all_over_its_memory_are_its_pools_matter(void **state)
{
	static char pools[][8] = { "taken", "main" };
	struct cnt_random rng;
	struct area areas[AREAS];
	pid_t clients[4];
	pid_t workers[2];
	pid_t door, taken;
	uint64_t record;
	int64_t until;
	unsigned n_rounds = 0;

	cnt_random_init_printed(&rng);
	wp_start(CONFIG);
	door = wp_await_child("cenoted-door");
	taken = wp_worker_of("taken");
	workers[0] = wp_worker_of(NULL);
	close(open_memory(taken));
	assert_int_equal(find_areas(taken, "rw", areas), 2);
	record = areas[0].offset;
	for (size_t i = 0; i < CNT_COUNT(clients); i++)
		clients[i] = wp_fork(come_and_go, pools[i % 2], -1);
	until = wp_now_ms() + 1000 * seconds_of_writing();
	while (wp_now_ms() < until) {
		taken = find_worker(record);
		if (taken == 0 || scribble(taken, &rng, 20000) < 0)
			wp_pause_ms(1);
		expect_service(door);
		if (n_rounds++ % 16 == 0)
			kill(wp_daemon.pid, SIGHUP);
	}
	for (size_t i = 0; i < CNT_COUNT(clients); i++) {
		kill(clients[i], SIGKILL);
		assert_int_equal(waitpid(clients[i], NULL, 0), clients[i]);
	}
	/* the same workers as before: kill() also works on processes that are not our children */
	workers[1] = wp_worker_of(NULL);
	assert_int_equal(kill(workers[0], 0), 0);
	assert_int_equal(kill(workers[1], 0), 0);
	print_message("# %u rounds\n", n_rounds);
}

static int
sleep_long(void *arg)
{
	(void)arg;
	pause();
	return 0;
}

static void
the_master_signals_nobody_whom_a_worker_names(void **state)
{
	struct area areas[AREAS];
	pid_t victim, taken;
	size_t n;
	int fd;

	wp_start(CONFIG);
	taken = wp_worker_of("taken");
	fd = open_memory(taken);
	victim = wp_fork(sleep_long, NULL, -1);
	n = find_areas(taken, "rw", areas);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++) {
		int32_t word = (int32_t)victim;

		for (uint64_t at = areas[i].from; at < areas[i].to; at += sizeof(word))
			assert_int_equal(
				pwrite(fd, &word, sizeof(word), (off_t)at), sizeof(word));
	}
	close(fd);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_int_equal(waitpid(victim, NULL, WNOHANG), 0);
	kill(victim, SIGKILL);
	assert_int_equal(waitpid(victim, NULL, 0), victim);
}

/* ---- what it can read ---- */

static int
has_bytes(pid_t pid, uint64_t key)
{
	struct area areas[AREAS];
	size_t n = find_areas(pid, "r", areas);
	int fd = open_memory(pid);
	int found = 0;

	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		for (uint64_t at = areas[i].from; at < areas[i].to; at += 4096) {
			unsigned char page[4096];

			assert_int_equal(
				pread(fd, page, sizeof(page), (off_t)at), sizeof(page));
			found |= memmem(page, sizeof(page), &key, sizeof(key)) != NULL;
		}
	}
	close(fd);
	return found;
}

static void
the_key_of_a_session_is_nowhere_to_be_read(void **state)
{
	cenote_result *res;
	cenote_conn *conn;
	char token[CENOTE_TOKEN_SIZE];
	uint64_t session, key;
	pid_t taken;

	wp_start(CONFIG);
	taken = wp_worker_of("taken");
	conn = wp_attach(NULL);
	assert_ok(cenote_suspend(conn, NULL, 60000, token));
	assert_int_equal(
		sscanf(token + 3, "%16" SCNx64 "-%16" SCNx64, &session, &key), 2);
	/* The search works: it finds the slot's generation, after a word that is 0. */
	assert_true(has_bytes(taken, (uint64_t)(session >> 32)) ||
		    has_bytes(taken, session >> 32 << 32));
	assert_false(has_bytes(taken, key));
	cenote_conn_destroy(conn);
	conn = wp_handle(NULL);
	assert_ok(cenote_resume(conn, token, &res));
	cenote_conn_destroy(conn);
}

/* ---- what it can say ---- */

/* A copy of the n-th of a process's SOCK_SEQPACKET sockets, in the order of their numbers; -1:
 * there are no more. */
static int
copy_channel(pid_t pid, int n)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd < 0)
		return -1;
	for (int i = 3; i < 256; i++) {
		int fd = (int)syscall(SYS_pidfd_getfd, pidfd, i, 0);
		int type = 0;
		socklen_t len = sizeof(type);

		if (fd < 0 && errno == EPERM) {
			print_message("# only root may have another's descriptors\n");
			skip();
		}
		if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
			type == SOCK_SEQPACKET && n-- == 0) {
			close(pidfd);
			return fd;
		}
		if (fd >= 0)
			close(fd);
	}
	close(pidfd);
	return -1;
}

static void
await_end(pid_t pid)
{
	int64_t until = wp_now_ms() + 20000;

	while (kill(pid, 0) == 0) {
		if (wp_now_ms() > until)
			fail_msg("%d is still there", (int)pid);
		wp_pause_ms(5);
	}
}

/* Send bytes through each channel of a process. One of the channels leads to the door; the others
 * do no harm. */
static void
say(pid_t pid, const void *bytes, size_t n)
{
	int fd;

	for (int i = 0; (fd = copy_channel(pid, i)) >= 0; i++) {
		(void)send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		close(fd);
	}
}

static void
expect_replaced(pid_t door, const void *bytes, size_t n)
{
	pid_t taken = wp_worker_of("taken");

	say(taken, bytes, n);
	await_end(taken);
	assert_true(wp_worker_of("taken") != taken);
	expect_service(door);
}

/* Messages that a worker may send, but without the descriptor or with a wrong size; and messages
 * that a worker may not send. */
static void
a_worker_that_talks_nonsense_is_replaced(void **state)
{
	static const struct cnd_ipc messages[] = {
		{ .kind = CND_IPC_RESUME, .index = 1 },
		{ .kind = CND_IPC_PARTING, .index = UINT32_MAX },
		{ .kind = CND_IPC_CANCEL, .serial = UINT64_MAX },
		{ .kind = CND_IPC_POOL },
	};
	pid_t door;

	wp_start(CONFIG);
	door = wp_await_child("cenoted-door");
	expect_replaced(door, "x", 1);
	for (size_t i = 0; i < CNT_COUNT(messages); i++)
		expect_replaced(door, &messages[i], offsetof(struct cnd_ipc, bytes));
	assert_true(wp_log_has("worker of pool taken"));
	assert_true(wp_log_has("sent nonsense"));
}

/* The master has a copy of the door's end: the fourth channel in the order of opening. */
static void
a_door_that_talks_nonsense_is_replaced(void **state)
{
	static const struct cnd_ipc m = {
		.kind = CND_IPC_NUDGE, .n_bytes = 2, .bytes = { 0xff, 0xff }
	};
	const struct {
		const void *bytes;
		size_t n;
	} said[] = { { "x", 1 }, { &m, offsetof(struct cnd_ipc, bytes) + 2 } };

	wp_start(CONFIG);
	for (size_t i = 0; i < CNT_COUNT(said); i++) {
		pid_t door = wp_await_child("cenoted-door");
		int fd = copy_channel(wp_daemon.pid, 3);

		assert_true(fd >= 0);
		assert_int_equal(send(fd, said[i].bytes, said[i].n, 0), said[i].n);
		close(fd);
		await_end(door);
		expect_service(wp_await_child("cenoted-door"));
	}
	assert_true(wp_log_has("sent nonsense"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
			random_words_all_over_its_memory_are_its_pools_matter,
			wp_teardown),
		cmocka_unit_test_teardown(
			the_master_signals_nobody_whom_a_worker_names, wp_teardown),
		cmocka_unit_test_teardown(
			the_key_of_a_session_is_nowhere_to_be_read, wp_teardown),
		cmocka_unit_test_teardown(
			a_worker_that_talks_nonsense_is_replaced, wp_teardown),
		cmocka_unit_test_teardown(
			a_door_that_talks_nonsense_is_replaced, wp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
