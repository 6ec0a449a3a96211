/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cnt_cmocka.h"

#include "shims/common/process.h"

static void
the_process_is_known(void **state)
{
	assert_int_equal(csh_getpid(), getpid());
	assert_int_equal(csh_getpid(), getpid());
}

static int
is_right_in_a_child_and_its_child(void)
{
	pid_t child;
	int status;

	if (csh_getpid() != getpid() || csh_getpid() != getpid())
		return 0;
	child = fork();
	if (child == 0)
		_exit(csh_getpid() != getpid());
	return waitpid(child, &status, 0) == child && status == 0;
}

static void
assert_ends_well(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(csh_getpid(), getpid());
}

static void
a_forked_child_is_another(void **state)
{
	pid_t child;

	assert_int_equal(csh_getpid(), getpid());
	child = fork();
	if (child == 0)
		_exit(!is_right_in_a_child_and_its_child());
	assert_ends_well(child);
}

/* Fork without the functions that pthread_atfork() registered. */
static void
a_child_that_libc_does_not_know_of_is_another(void **state)
{
	long child;

	assert_int_equal(csh_getpid(), getpid());
	child = syscall(SYS_clone, (unsigned long)SIGCHLD, 0ul, 0ul, 0ul, 0ul);
	if (child == 0)
		_exit(csh_getpid() != syscall(SYS_getpid));
	assert_ends_well((pid_t)child);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_process_is_known),
		cmocka_unit_test(a_forked_child_is_another),
		cmocka_unit_test(a_child_that_libc_does_not_know_of_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
