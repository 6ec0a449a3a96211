/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/priv.h"

/* Runs in a child, since a process cannot get its privileges back. */
static int
become(const struct passwd *pw)
{
	if (setenv("HOME", "/root", 1) < 0 ||
		cnd_priv_drop(pw->pw_uid, pw->pw_gid, pw->pw_name) < 0)
		return 1;
	if (geteuid() != pw->pw_uid || getegid() != pw->pw_gid || setuid(0) == 0)
		return 2;
	return strcmp(getenv("HOME"), pw->pw_dir) != 0 ? 3 : 0;
}

static void
who_was_root_has_a_home_of_its_own(void **state)
{
	const struct passwd *pw = getpwnam("nobody");
	int status;
	pid_t pid;

	if (geteuid() != 0 || pw == NULL)
		return;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(become(pw));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_was_root_has_a_home_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
