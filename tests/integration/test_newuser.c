/* SPDX-License-Identifier: BSD-2-Clause */
/* cenoted --user at a terminal. */
#include "support/cnt_cmocka.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "support/cnt_process.h"

#define LIMIT_S 20

struct terminal {
	int fd;
	pid_t pid;
	char seen[4096];
	size_t n;
};

static int
setup(void **state)
{
	static struct terminal t;

	memset(&t, 0, sizeof(t));
	t.pid = forkpty(&t.fd, NULL, NULL, NULL);
	assert_true(t.pid >= 0);
	if (t.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)alarm(LIMIT_S);
		(void)execl(cnt_env_or("CNT_CENOTED", CNT_CENOTED_PATH), "cenoted",
			"--user", "joe", (char *)NULL);
		_exit(99);
	}
	*state = &t;
	return 0;
}

static int
teardown(void **state)
{
	struct terminal *t = *state;

	close(t->fd);
	return 0;
}

/* Returns 0 at the end of the output. */
static int
look(struct terminal *t)
{
	struct pollfd fd = { .fd = t->fd, .events = POLLIN };
	ssize_t n = -1;

	if (poll(&fd, 1, LIMIT_S * 1000) > 0)
		n = read(t->fd, t->seen + t->n, sizeof(t->seen) - 1 - t->n);
	t->n += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static void
expect(struct terminal *t, const char *text)
{
	while (strstr(t->seen, text) == NULL) {
		if (!look(t))
			fail_msg("\"%s\" did not come, but: %s", text, t->seen);
	}
}

static int
echoes(const struct terminal *t)
{
	struct termios now;

	assert_int_equal(tcgetattr(t->fd, &now), 0);
	return (now.c_lflag & ECHO) != 0;
}

static void
type(struct terminal *t, const char *keys)
{
	/* do not type before the echo is off */
	for (int i = 0; i < 1000 && echoes(t); i++)
		usleep(5000);
	assert_false(echoes(t));
	assert_int_equal(write(t->fd, keys, strlen(keys)), (ssize_t)strlen(keys));
}

static int
status_of(struct terminal *t)
{
	int status;

	while (look(t))
		;
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	return status;
}

static void
the_password_is_asked_for_twice_and_not_shown(void **state)
{
	struct terminal *t = *state;
	int status;

	expect(t, "Password: ");
	type(t, "open sesame\n");
	expect(t, "The same again: ");
	type(t, "open sesame\n");
	expect(t, "joe:SCRAM-SHA-256$4096:");
	status = status_of(t);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_null(strstr(t->seen, "sesame"));
}

static void
two_passwords_make_no_user(void **state)
{
	struct terminal *t = *state;
	int status;

	expect(t, "Password: ");
	type(t, "open sesame\n");
	expect(t, "The same again: ");
	type(t, "open Sesame\n");
	expect(t, "the two passwords differ");
	status = status_of(t);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_null(strstr(t->seen, "esame"));
	assert_null(strstr(t->seen, "SCRAM"));
}

/* Without the echo, a shell that runs next would not show what is typed. */
static void
who_gives_up_has_a_terminal_that_shows_again(void **state)
{
	struct terminal *t = *state;
	int status;

	expect(t, "Password: ");
	type(t, "open\x03");
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	assert_true(echoes(t));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_password_is_asked_for_twice_and_not_shown),
		TEST(two_passwords_make_no_user),
		TEST(who_gives_up_has_a_terminal_that_shows_again),
	};

	return cmocka_run_group_tests_name("newuser", tests, NULL, NULL);
}
