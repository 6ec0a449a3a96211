/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log of one process: to standard error, a file or syslog. It owns the target, the format and the level, and counts the
 * lines that were lost. Every file logs through it; log_line.c says what a line looks like.
 */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/diag.h"
#include "place.h"

#define MESSAGE_MAX    1024
/* With its newline. A pipe takes so many bytes whole, so the lines of several processes do not mix there. */
#define LINE_MAX_BYTES PIPE_BUF
/* How long a process waits for the reader of a pipe. After a line was lost, it does not wait until one can be written again. */
#define PIPE_WAIT_MS   100

enum target {
	TARGET_STDERR,
	TARGET_SYSLOG,
	TARGET_FILE
};

static struct {
	enum target target;
	int fd;
	enum cnd_log_format format;
	int level;
	_Atomic int32_t *shared_level; /* NULL: `level` */
	cnd_log_listener *listener; /* NULL: none */
	void *listener_user;
	int is_starting;
	char role[16];
	char pool[72];
	unsigned long n_lost; /* lines since the last one that was written */
	bool is_torn; /* only a part of the last line was written */
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
	state.is_torn = false;
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

void
cnd_log_set_format(enum cnd_log_format format)
{
	state.format = format;
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
	(void)snprintf(state.role, sizeof(state.role), "%s", role);
	(void)snprintf(state.pool, sizeof(state.pool), "%s", pool != NULL ? pool : "");
}

/* Control bytes would let a message forge lines. */
static void
make_printable(char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
	}
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
say_aside(const char *message)
{
	char line[MESSAGE_MAX];

	(void)snprintf(line, sizeof(line), "%s", message);
	make_printable(line);
	if (state.listener != NULL)
		state.listener(state.listener_user, line);
	if (state.is_starting && state.target != TARGET_STDERR)
		(void)dprintf(STDERR_FILENO, "cenoted: %s\n", line);
}

/* ---- writing ---- */

/* Whether a write would not wait. The reader of a pipe may have stopped. Another process may fill the pipe between this look and
 * the write, which then waits for the reader. */
static bool
can_write(void)
{
	struct pollfd fd = { .fd = state.fd, .events = POLLOUT };
	int r;

	do {
		r = poll(&fd, 1, state.n_lost > 0 ? 0 : PIPE_WAIT_MS);
	} while (r < 0 && errno == EINTR);
	return r > 0;
}

/* One write for each line, so that lines of different processes do not mix. False: it is lost. */
static bool
write_line(const char *line, size_t n)
{
	ssize_t r;

	if (!can_write())
		return false;
	/* end the line of which a part was written */
	if (state.is_torn && write(state.fd, "\n", 1) != 1)
		return false;
	state.is_torn = false;
	do {
		r = write(state.fd, line, n);
	} while (r < 0 && errno == EINTR);
	/* a disk that becomes full takes a part */
	state.is_torn = r > 0 && (size_t)r < n;
	return r == (ssize_t)n;
}

static size_t
form(char to[LINE_MAX_BYTES], int level, const char *message,
	const struct cnd_log_field *fields, size_t n_fields)
{
	struct cnd_log_line line = {
		.level = cnd_log_level_text(level),
		.process = state.role,
		.pool = state.pool,
		.pid = getpid(),
		.message = message,
		.fields = fields,
		.n_fields = n_fields,
	};

	clock_gettime(CLOCK_REALTIME, &line.time);
	return state.format == CND_LOG_JSON
		       ? cnd_log_line_json(&line, to, LINE_MAX_BYTES - 1)
		       : cnd_log_line_text(&line, state.target != TARGET_SYSLOG, to,
				 LINE_MAX_BYTES - 1);
}

/* The lines that were lost are those of this process: each counts its own. */
static bool
report_lost(void)
{
	char number[24], message[64], line[LINE_MAX_BYTES];
	const struct cnd_log_field field = {
		.name = "lost", .value = number, .is_number = true, .is_said = true
	};
	size_t n;

	(void)snprintf(number, sizeof(number), "%lu", state.n_lost);
	(void)snprintf(message, sizeof(message), "%s line%s of the log %s lost", number,
		state.n_lost == 1 ? "" : "s", state.n_lost == 1 ? "was" : "were");
	n = form(line, LOG_WARNING, message, &field, 1);
	line[n++] = '\n';
	return write_line(line, n);
}

static void
put(int level, const char *message, const struct cnd_log_field *fields, size_t n_fields)
{
	char line[LINE_MAX_BYTES];
	size_t n = form(line, level, message, fields, n_fields);

	if (state.target == TARGET_SYSLOG) {
		syslog(level, "%.*s", (int)n, line);
		return;
	}
	line[n++] = '\n';
	if (state.n_lost > 0 && report_lost())
		state.n_lost = 0;
	if (state.n_lost > 0 || !write_line(line, n))
		state.n_lost++;
}

void
cnd_vlog_fields(int level, const struct cnd_log_field *fields, size_t n,
	const char *format, va_list args)
{
	char message[MESSAGE_MAX];
	int saved = errno;
	int len;

	if (level > level_now())
		return;
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	len = vsnprintf(message, sizeof(message), format, args);
	if (len < 0)
		return;
	if ((size_t)len >= sizeof(message))
		message[cnc_utf8_cut(message, sizeof(message) - 1, sizeof(message) - 2)] =
			'\0';
	if (level <= LOG_WARNING && (state.is_starting || state.listener != NULL))
		say_aside(message);
	put(level, message, fields, n);
	errno = saved;
}

void
cnd_vlog(int level, const char *format, va_list args)
{
	cnd_vlog_fields(level, NULL, 0, format, args);
}

void
cnd_log_fields(
	int level, const struct cnd_log_field *fields, size_t n, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cnd_vlog_fields(level, fields, n, format, args);
	va_end(args);
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
