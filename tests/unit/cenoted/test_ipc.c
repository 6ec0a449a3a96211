/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/ipc.h"

static int pair[2];

static int
setup(void **state)
{
	return cnd_ipc_pair(pair);
}

static int
teardown(void **state)
{
	close(pair[0]);
	if (pair[1] >= 0)
		close(pair[1]);
	return 0;
}

static void
bytes_and_a_descriptor_arrive(void **state)
{
	struct cnd_ipc m = {
		.kind = CND_IPC_RESUME, .index = 7, .serial = 8, .n_fds = 1
	};
	struct cnd_ipc got;
	int pipe_fds[2];
	char byte = 'x';

	assert_int_equal(pipe(pipe_fds), 0);
	memcpy(m.bytes, "abc", 3);
	m.n_bytes = 3;
	m.fds[0] = pipe_fds[1];
	assert_int_equal(cnd_ipc_send(pair[0], &m), 0);
	close(pipe_fds[1]);
	assert_int_equal(cnd_ipc_receive(pair[1], &got), 1);
	assert_int_equal(got.kind, CND_IPC_RESUME);
	assert_int_equal(got.index, 7);
	assert_int_equal(got.serial, 8);
	assert_int_equal(got.n_bytes, 3);
	assert_memory_equal(got.bytes, "abc", 3);
	assert_true(fcntl(got.fds[0], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(got.fds[0], &byte, 1), 1);
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
	close(got.fds[0]);
	close(pipe_fds[0]);
}

/* Set the limit so that the process cannot open another descriptor. */
static void
allow_no_more(struct rlimit *ret_before)
{
	struct rlimit few;
	int next = dup(pair[0]);

	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, ret_before), 0);
	few = *ret_before;
	few.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

static void
no_room_for_a_descriptor_is_not_nonsense(void **state)
{
	struct cnd_ipc m = { .kind = CND_IPC_CLIENT, .index = 7, .n_fds = 3 };
	struct cnd_ipc_spares spares = { { 0 } };
	struct rlimit before;
	struct cnd_ipc got;

	for (int i = 0; i < 3; i++)
		m.fds[i] = pair[0];
	for (int i = 0; i < 3; i++)
		assert_int_equal(cnd_ipc_send(pair[0], &m), 0);
	allow_no_more(&before);
	assert_int_equal(cnd_ipc_receive(pair[1], &got), -EMFILE);
	assert_int_equal(got.index, 7);
	assert_int_equal(got.n_fds, 0);
	assert_int_equal(cnd_ipc_spares_take(&spares, pair[0]), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(cnd_ipc_spares_take(&spares, pair[0]), 0);
	allow_no_more(&before);
	assert_int_equal(cnd_ipc_receive(pair[1], &got), -EMFILE);
	cnd_ipc_spares_give_up(&spares);
	assert_int_equal(cnd_ipc_receive(pair[1], &got), 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	cnd_ipc_drop(&got);
}

/* A message may bring three descriptors. The kernel delivers a fourth one, too. */
static void
too_many_descriptors_are_all_closed(void **state)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct cnd_ipc m = { .kind = CND_IPC_CLIENT, .n_fds = 4 };
	struct iovec iov = { &m, offsetof(struct cnd_ipc, bytes) };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int next = dup(pair[0]);
	const int four[] = { pair[0], pair[0], pair[0], pair[0] };
	struct cnd_ipc got;

	close(next);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(four));
	memcpy(CMSG_DATA(c), four, sizeof(four));
	assert_true(sendmsg(pair[0], &msg, 0) > 0);
	assert_int_equal(cnd_ipc_receive(pair[1], &got), -EBADMSG);
	for (int i = 0; i < 4; i++)
		assert_int_equal(fcntl(next + i, F_GETFD), -1);
}

static void
nothing_there_is_told_from_the_end(void **state)
{
	struct cnd_ipc m;

	assert_int_equal(cnd_ipc_receive(pair[0], &m), 0);
	close(pair[1]);
	pair[1] = -1;
	assert_int_equal(cnd_ipc_receive(pair[0], &m), -EPIPE);
}

static void
a_full_queue_says_so(void **state)
{
	struct cnd_ipc m = { .kind = CND_IPC_WAITING };
	int n = 0;

	while (n < 100000 && cnd_ipc_send(pair[0], &m) == 0)
		n++;
	assert_in_range(n, 10, 99999);
	assert_int_equal(cnd_ipc_send(pair[0], &m), -EAGAIN);
	assert_int_equal(cnd_ipc_receive(pair[1], &m), 1);
	assert_int_equal(cnd_ipc_send(pair[0], &m), 0);
}

static void
nonsense_is_refused(void **state)
{
	struct cnd_ipc m = { .kind = CND_IPC_WAITING };
	struct cnd_ipc got;

	assert_int_equal(send(pair[0], "x", 1, 0), 1);
	assert_int_equal(cnd_ipc_receive(pair[1], &got), -EBADMSG);
	/* messages that announce bytes or descriptors that they do not bring */
	m.n_bytes = 5;
	assert_true(send(pair[0], &m, offsetof(struct cnd_ipc, bytes), 0) > 0);
	assert_int_equal(cnd_ipc_receive(pair[1], &got), -EBADMSG);
	m.n_bytes = 0;
	m.n_fds = 1;
	assert_true(send(pair[0], &m, offsetof(struct cnd_ipc, bytes), 0) > 0);
	assert_int_equal(cnd_ipc_receive(pair[1], &got), -EBADMSG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bytes_and_a_descriptor_arrive),
		TEST(no_room_for_a_descriptor_is_not_nonsense),
		TEST(too_many_descriptors_are_all_closed),
		TEST(nothing_there_is_told_from_the_end),
		TEST(a_full_queue_says_so),
		TEST(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
