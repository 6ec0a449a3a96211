/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "support/cnt_cmocka.h"

#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
cnt_host_list_fds(char ret_open[CNT_HOST_FDS])
{
	for (int fd = 0; fd < CNT_HOST_FDS; fd++)
		ret_open[fd] = fcntl(fd, F_GETFD) >= 0;
}

static void
on_signal(int sig)
{
	(void)sig;
}

static void
look(struct cnt_host *h)
{
	memset(h, 0, sizeof(*h));
	for (int sig = 1; sig < CNT_HOST_SIGNALS; sig++)
		(void)sigaction(sig, NULL, &h->actions[sig]);
	sigprocmask(SIG_SETMASK, NULL, &h->blocked);
	(void)snprintf(h->locale, sizeof(h->locale), "%s", setlocale(LC_ALL, NULL));
	h->env = environ;
	for (; h->env[h->n_env] != NULL; h->n_env++)
		h->env_bytes += strlen(h->env[h->n_env]);
	h->mask = umask(022);
	umask(h->mask);
}

void
cnt_host_look(struct cnt_host *ret_host)
{
	struct sigaction ours = { .sa_handler = on_signal };

	assert_int_equal(sigaction(SIGPIPE, &ours, NULL), 0);
	look(ret_host);
}

void
cnt_host_assert_same(const struct cnt_host *before)
{
	struct cnt_host now;

	look(&now);
	for (int sig = 1; sig < CNT_HOST_SIGNALS; sig++) {
		assert_ptr_equal(
			now.actions[sig].sa_handler, before->actions[sig].sa_handler);
		assert_int_equal(
			now.actions[sig].sa_flags, before->actions[sig].sa_flags);
		assert_int_equal(sigismember(&now.blocked, sig),
			sigismember(&before->blocked, sig));
	}
	assert_string_equal(now.locale, before->locale);
	assert_ptr_equal(now.env, before->env);
	assert_int_equal(now.n_env, before->n_env);
	assert_int_equal(now.env_bytes, before->env_bytes);
	assert_int_equal(now.mask, before->mask);
	signal(SIGPIPE, SIG_DFL);
}

void
cnt_capture_begin(struct cnt_capture *ret_capture)
{
	struct cnt_capture *c = ret_capture;

	c->file = tmpfile();
	assert_non_null(c->file);
	c->out = dup(1);
	c->err = dup(2);
	fflush(NULL);
	assert_true(dup2(fileno(c->file), 1) == 1 && dup2(fileno(c->file), 2) == 2);
}

long
cnt_capture_end(struct cnt_capture *capture)
{
	long n;

	fflush(NULL);
	dup2(capture->out, 1);
	dup2(capture->err, 2);
	close(capture->out);
	close(capture->err);
	n = (long)lseek(fileno(capture->file), 0, SEEK_END);
	fclose(capture->file);
	return n;
}
