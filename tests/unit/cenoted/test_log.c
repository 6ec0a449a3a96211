/* SPDX-License-Identifier: BSD-2-Clause */
/* The log of a process whose disk is full or whose reader has gone: it loses lines, and says how many. */
#include "support/cnt_cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shared/log.h"

static char dir[] = "/tmp/cnt-log-XXXXXX";
static char path[sizeof(dir) + 8];

/* Begin with an empty file as the log. */
static int
setup(void **state)
{
	(void)unlink(path);
	return cnd_log_open(path);
}

/* What the file has, without the part of each line that is always there. */
static char *
read_log(void)
{
	static char text[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	assert_true(n >= 0);
	close(fd);
	text[n] = '\0';
	return text;
}

static off_t
log_size(void)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

/* The file may become so long. The signal that comes otherwise is ignored, as in cenoted. */
static void
limit_file(rlim_t size)
{
	struct rlimit limit;

	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* How many lines of the text end with this. */
static size_t
count(const char *text, const char *end)
{
	char with_newline[256];
	size_t n = 0;

	(void)snprintf(with_newline, sizeof(with_newline), "%s\n", end);
	while ((text = strstr(text, with_newline)) != NULL) {
		text++;
		n++;
	}
	return n;
}

static void
the_next_line_says_how_many_were_lost(void **state)
{
	const char *text;

	cnd_log(LOG_NOTICE, "before");
	limit_file((rlim_t)log_size());
	for (int i = 0; i < 3; i++)
		cnd_log(LOG_NOTICE, "lost");
	limit_file(RLIM_INFINITY);
	cnd_log(LOG_NOTICE, "behind");
	cnd_log(LOG_NOTICE, "last");
	text = read_log();
	assert_int_equal(count(text, ": warning: 3 lines of the log were lost"), 1);
	assert_int_equal(count(text, ": notice: lost"), 0);
	assert_int_equal(count(text, ": notice: behind"), 1);
	assert_int_equal(count(text, ": notice: last"), 1);
	assert_null(strstr(strstr(text, "behind"), "were lost"));
}

/* A disk that becomes full takes a part of a line. The lines that follow are whole, wherever it was cut. */
static void
a_line_of_which_a_part_was_written_does_not_spoil_the_next_one(void **state)
{
	off_t line;

	cnd_log(LOG_NOTICE, "a line");
	line = log_size();
	for (off_t part = 1; part < line; part++) {
		assert_int_equal(setup(NULL), 0);
		limit_file((rlim_t)part);
		cnd_log(LOG_NOTICE, "a line");
		assert_int_equal(log_size(), part);
		limit_file(RLIM_INFINITY);
		cnd_log(LOG_NOTICE, "behind");
		assert_int_equal(
			count(read_log(), ": warning: 1 line of the log was lost"), 1);
		assert_int_equal(read_log()[part], '\n');
		assert_int_equal(count(read_log(), ": notice: behind"), 1);
	}
}

static void
json_counts_the_lost_lines_too(void **state)
{
	cnd_log_set_format(CND_LOG_JSON);
	limit_file(0);
	cnd_log(LOG_NOTICE, "lost");
	limit_file(RLIM_INFINITY);
	cnd_log(LOG_NOTICE, "behind");
	cnd_log_set_format(CND_LOG_TEXT);
	assert_non_null(strstr(
		read_log(), ",\"message\":\"1 line of the log was lost\",\"lost\":1}\n"));
	assert_non_null(strstr(read_log(), ",\"message\":\"behind\"}\n"));
}

/* ---- pipes ---- */

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Make a pipe standard error. Returns the old one; *ret_reader is the other end. */
static int
begin_pipe(int *ret_reader)
{
	int old = dup(STDERR_FILENO), fds[2];

	assert_true(old >= 0);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	close(fds[1]);
	*ret_reader = fds[0];
	assert_int_equal(cnd_log_open("stderr"), 0);
	return old;
}

static void
end_pipe(int old)
{
	assert_int_equal(dup2(old, STDERR_FILENO), STDERR_FILENO);
	close(old);
}

static size_t
drain(int reader, char *to, size_t size)
{
	ssize_t n;
	size_t len = 0;

	assert_int_equal(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
	while (len < size - 1 && (n = read(reader, to + len, size - 1 - len)) > 0)
		len += (size_t)n;
	to[len] = '\0';
	return len;
}

static void
a_reader_that_has_stopped_keeps_nobody_waiting(void **state)
{
	static char text[1 << 20];
	int reader, old = begin_pipe(&reader);
	int64_t begun = now_ms(), took;

	for (int i = 0; i < 3000; i++)
		cnd_log(LOG_NOTICE, "a line of a process that has much to say");
	took = now_ms() - begun;
	assert_true(drain(reader, text, sizeof(text)) > 0);
	cnd_log(LOG_NOTICE, "behind");
	(void)drain(reader, text, sizeof(text));
	end_pipe(old);
	close(reader);
	/* it waits once, for 100 ms */
	if (took > 5000)
		fail_msg("%lld ms", (long long)took);
	assert_int_equal(count(text, " lines of the log were lost"), 1);
	assert_int_equal(count(text, ": notice: behind"), 1);
}

static void
a_reader_that_has_gone_does_no_harm(void **state)
{
	int reader, old = begin_pipe(&reader);

	(void)signal(SIGPIPE, SIG_IGN);
	close(reader);
	cnd_log(LOG_NOTICE, "lost");
	cnd_log(LOG_NOTICE, "lost");
	end_pipe(old);
	assert_int_equal(setup(NULL), 0);
	cnd_log(LOG_NOTICE, "behind");
	assert_int_equal(count(read_log(), ": warning: 2 lines of the log were lost"), 1);
}

/* ---- long lines ---- */

static void
a_long_message_is_cut_at_a_character(void **state)
{
	char message[3001] = "";

	for (size_t first = 0; first < 3; first++) {
		const char *text;

		assert_int_equal(setup(NULL), 0);
		memset(message, 'x', first);
		for (size_t i = first; i + 3 < sizeof(message); i += 3)
			memcpy(message + i, "\xe2\x82\xac", 4);
		cnd_log(LOG_NOTICE, "%s", message);
		text = read_log();
		assert_null(strstr(text, "\xef\xbf\xbd"));
		assert_true(strlen(text) > 1000);
		assert_int_equal(text[strlen(text) - 1], '\n');
	}
}

static void
a_field_comes_through_whole(void **state)
{
	char statement[1025];
	struct cnd_log_field field = { .name = "statement", .value = statement };

	memset(statement, 'x', sizeof(statement) - 1);
	statement[sizeof(statement) - 1] = '\0';
	cnd_log_fields(LOG_NOTICE, &field, 1, "%s", "slow");
	assert_int_equal(count(read_log(), statement + 800), 1);
	assert_non_null(strstr(read_log(), ": notice: slow statement=xxx"));
}

static void
logging_does_not_change_errno(void **state)
{
	limit_file(0);
	errno = ENOENT;
	cnd_log(LOG_NOTICE, "lost");
	assert_int_equal(errno, ENOENT);
	limit_file(RLIM_INFINITY);
	cnd_log(LOG_NOTICE, "behind");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_next_line_says_how_many_were_lost, setup),
		cmocka_unit_test_setup(
			a_line_of_which_a_part_was_written_does_not_spoil_the_next_one,
			setup),
		cmocka_unit_test_setup(json_counts_the_lost_lines_too, setup),
		cmocka_unit_test_setup(
			a_reader_that_has_stopped_keeps_nobody_waiting, setup),
		cmocka_unit_test_setup(a_reader_that_has_gone_does_no_harm, setup),
		cmocka_unit_test_setup(a_long_message_is_cut_at_a_character, setup),
		cmocka_unit_test_setup(a_field_comes_through_whole, setup),
		cmocka_unit_test_setup(logging_does_not_change_errno, setup),
	};
	int r;

	if (mkdtemp(dir) == NULL)
		return 1;
	(void)snprintf(path, sizeof(path), "%s/log", dir);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(path);
	(void)rmdir(dir);
	return r;
}
