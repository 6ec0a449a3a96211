/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log of one process: to standard error, a file or syslog. It owns the target and the level.
 * Every file logs through it.
 */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "place.h"

#define LINE_MAX_BYTES 1024

enum target {
	TARGET_STDERR,
	TARGET_SYSLOG,
	TARGET_FILE
};

static struct {
	enum target target;
	int fd;
	int level;
	_Atomic int32_t *shared_level; /* NULL: `level` */
	cnd_log_listener *listener; /* NULL: none */
	void *listener_user;
	int is_starting;
	char role[96];
} state = {
	.target = TARGET_STDERR, .fd = STDERR_FILENO, .level = LOG_INFO, .role = "cenoted"
};

static const struct {
	const char *name;
	int level;
} levels[] = {
	{ "error", LOG_ERR },
	{ "warning", LOG_WARNING },
	{ "notice", LOG_NOTICE },
	{ "info", LOG_INFO },
	{ "debug", LOG_DEBUG },
};

#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))

int
cnd_log_level_parse(const char *text)
{
	for (size_t i = 0; i < N_LEVELS; i++) {
		if (strcmp(text, levels[i].name) == 0)
			return levels[i].level;
	}
	return -1;
}

const char *
cnd_log_level_text(int level)
{
	for (size_t i = 0; i < N_LEVELS; i++) {
		if (level <= levels[i].level)
			return level < LOG_ERR ? "critical" : levels[i].name;
	}
	return "debug";
}

static void
close_log(void)
{
	if (state.target == TARGET_FILE)
		close(state.fd);
	if (state.target == TARGET_SYSLOG)
		closelog();
	state.target = TARGET_STDERR;
	state.fd = STDERR_FILENO;
}

int
cnd_log_open(const char *target)
{
	int fd;

	if (strcmp(target, "stderr") == 0) {
		close_log();
		return 0;
	}
	if (strcmp(target, "syslog") == 0) {
		close_log();
		openlog("cenoted", LOG_PID | LOG_NDELAY, LOG_DAEMON);
		state.target = TARGET_SYSLOG;
		return 0;
	}
	fd = cnd_place_open_file(target, O_APPEND, 0640);
	if (fd < 0)
		return fd;
	close_log();
	state.target = TARGET_FILE;
	state.fd = fd;
	return 0;
}

void
cnd_log_begin_start(void)
{
	state.is_starting = 1;
}

void
cnd_log_end_start(int is_daemon)
{
	int fd;

	state.is_starting = 0;
	if (!is_daemon || state.target == TARGET_STDERR)
		return;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		cnd_log(LOG_ERR, "/dev/null: %s", strerror(errno));
	if (fd > STDERR_FILENO)
		close(fd);
}

int
cnd_log_fd(void)
{
	return state.target == TARGET_FILE ? state.fd : -1;
}

void
cnd_log_after_fork(void)
{
	if (state.target == TARGET_SYSLOG)
		openlog("cenoted", LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

void
cnd_log_before_closing(void)
{
	if (state.target == TARGET_SYSLOG)
		closelog();
}

void
cnd_log_set_level(int level)
{
	state.level = level;
	if (state.shared_level != NULL)
		atomic_store(state.shared_level, level);
}

void
cnd_log_share_level(_Atomic int32_t *level)
{
	if (level != NULL)
		atomic_store(level, state.level);
	state.shared_level = level;
}

void
cnd_log_set_listener(cnd_log_listener *listener, void *user)
{
	state.listener = listener;
	state.listener_user = user;
}

void
cnd_log_set_role(const char *role, const char *pool)
{
	if (pool != NULL)
		snprintf(state.role, sizeof(state.role), "%s %s", role, pool);
	else
		snprintf(state.role, sizeof(state.role), "%s", role);
}

/* Control bytes would let a message forge log lines. */
static void
make_printable(char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
	}
}

static size_t
put_prefix(char *line, size_t size, int level)
{
	struct timespec now;
	struct tm utc;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	n = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &utc);
	n += (size_t)snprintf(line + n, size - n,
		".%03dZ cenoted[%d] %s: %s: ", (int)(now.tv_nsec / 1000000),
		(int)getpid(), state.role, cnd_log_level_text(level));
	return n;
}

static int
level_now(void)
{
	return state.shared_level != NULL
		       ? atomic_load_explicit(state.shared_level, memory_order_relaxed)
		       : state.level;
}

/* Give the message to the person who starts cenoted, and to the listener. */
static void
say_aside(const char *format, va_list args)
{
	char line[LINE_MAX_BYTES];
	va_list again;
	int len;

	va_copy(again, args);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	len = vsnprintf(line, sizeof(line), format, again);
	va_end(again);
	if (len < 0)
		return;
	make_printable(line);
	if (state.listener != NULL)
		state.listener(state.listener_user, line);
	if (state.is_starting && state.target != TARGET_STDERR)
		(void)dprintf(STDERR_FILENO, "cenoted: %s\n", line);
}

void
cnd_vlog(int level, const char *format, va_list args)
{
	char line[LINE_MAX_BYTES];
	size_t n = 0;
	int len;

	if (level > level_now())
		return;
	if (level <= LOG_WARNING && (state.is_starting || state.listener != NULL))
		say_aside(format, args);
	if (state.target == TARGET_SYSLOG)
		n = (size_t)snprintf(line, sizeof(line), "%s: ", state.role);
	else
		n = put_prefix(line, sizeof(line), level);
	/* one byte is kept for the newline */
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	len = vsnprintf(line + n, sizeof(line) - n - 1, format, args);
	if (len < 0)
		return;
	make_printable(line + n);
	if (state.target == TARGET_SYSLOG) {
		syslog(level, "%s", line);
		return;
	}
	n = strlen(line);
	line[n++] = '\n';
	/* one write for each line, so that lines of different processes do not mix */
	if (write(state.fd, line, n) < 0)
		return;
}

void
cnd_log(int level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cnd_vlog(level, format, args);
	va_end(args);
}

void
cnd_log_warning(const char *text)
{
	cnd_log(LOG_WARNING, "%s", text);
}

void
cnd_fatal(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cnd_vlog(LOG_CRIT, format, args);
	va_end(args);
	exit(1);
}
