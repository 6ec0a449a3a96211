/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What cenote-export and cenote-import share: messages, signals, and the names of formats. All files of the folder
 * call it. The state is the flag that a signal sets.
 */
#include "port.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t is_stopped;

static const char *const format_names[] = {
	[PORT_CSV] = "csv",
	[PORT_TSV] = "tsv",
	[PORT_JSON] = "json",
	[PORT_SQL] = "sql",
};

#define N_FORMATS (sizeof(format_names) / sizeof(format_names[0]))

void
port_say(const char *format, ...)
{
	va_list ap;

	(void)fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	(void)vfprintf(stderr, format, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
}

static void
stop(int signo)
{
	(void)signo;
	is_stopped = 1;
}

void
port_catch_signals(void)
{
	/* SA_RESTART is not set: the signal must also end a read from a pipe. */
	struct sigaction action = { .sa_handler = stop, .sa_flags = SA_RESETHAND };

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	/* If the reader of a pipe has gone, write() fails, and that is reported. */
	(void)signal(SIGPIPE, SIG_IGN);
}

bool
port_is_stopped(void)
{
	return is_stopped;
}

double
port_now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int
find_format(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < N_FORMATS; i++) {
		if (strlen(format_names[i]) == len &&
			strncmp(format_names[i], name, len) == 0)
			return (int)i;
	}
	/* Files with a JSON object on each line usually have these names. */
	if ((len == 5 && strncmp(name, "jsonl", 5) == 0) ||
		(len == 6 && strncmp(name, "ndjson", 6) == 0))
		return PORT_JSON;
	return -1;
}

/* Find the format in a name such as "csv.zst", or in a file name such as "dir/t.csv.zst". Negative: there is none. */
static int
format_of(const char *name, bool is_file, bool *ret_is_zstd)
{
	size_t len = strlen(name), begin;

	*ret_is_zstd = len > 4 && strcmp(name + len - 4, ".zst") == 0;
	if (*ret_is_zstd)
		len -= 4;
	begin = is_file ? len : 0;
	while (begin > 0 && name[begin - 1] != '.' && name[begin - 1] != '/')
		begin--;
	if (is_file && (begin == 0 || name[begin - 1] != '.'))
		return -1;
	return find_format(name + begin, len - begin);
}

int
port_choose_format(const char *named, const char *file, enum port_format *ret_format,
	bool *ret_is_zstd)
{
	bool is_file_zstd;
	int of_file = format_of(file, true, &is_file_zstd), format;

	format = named ? format_of(named, false, ret_is_zstd) : of_file;
	if (named && format < 0) {
		port_say("--format %s: csv, tsv, json or sql expected, perhaps with .zst",
			named);
		return PORT_USAGE;
	}
	if (!named || is_file_zstd)
		*ret_is_zstd = is_file_zstd;
	*ret_format = format < 0 ? PORT_CSV : (enum port_format)format;
	return PORT_OK;
}
