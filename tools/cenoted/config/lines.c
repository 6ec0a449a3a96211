/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of lines that decide who may log in. Checks who could have written or read them before
 * anything in them counts. config_check.c opens them; auth/users.c and auth/map.c read their
 * lines.
 */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

#define FILE_MAX ((size_t)16 << 20)
#define BLANKS   " \t\r"

__attribute__((format(printf, 2, 3))) static int
fail(struct cnd_lines *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(l->error, sizeof(l->error), format, args);
	va_end(args);
	return -1;
}

/* Refuse a file if others could have put users into it, or could have read its secrets. */
static int
check(struct cnd_lines *l, const struct stat *st, enum cnd_privacy privacy, uid_t uid)
{
	if (!S_ISREG(st->st_mode))
		return fail(l, "is not a file");
	if ((size_t)st->st_size > FILE_MAX)
		return fail(l, "is longer than 16 MB");
	if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != uid)
		return fail(l,
			"belongs to unix user %u; root or the pool's user must own it",
			(unsigned)st->st_uid);
	if (st->st_mode & 022)
		return fail(l, "others than its owner can write it; use chmod go-w");
	if (privacy == CND_FILE_SECRET && st->st_mode & 07)
		return fail(l, "everybody can read it; use chmod o=");
	return 0;
}

static int
read_all(struct cnd_lines *l, int fd, size_t size)
{
	ssize_t n = 1;

	l->bytes = calloc(1, size + 1);
	if (l->bytes == NULL)
		return fail(l, "out of memory");
	while (l->n < size && (n = read(fd, l->bytes + l->n, size - l->n)) > 0)
		l->n += (size_t)n;
	return n < 0 ? fail(l, "cannot be read: %s", strerror(errno)) : 0;
}

static int
open_path(struct cnd_lines *l, const char *path)
{
	static const char prefix[] = "credential:";
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	char whole[4096];
	int fd;

	if (strncmp(path, prefix, strlen(prefix)) == 0) {
		if (dir == NULL)
			return fail(l, "there are no credentials from systemd: "
				       "$CREDENTIALS_DIRECTORY is not set (set "
				       "LoadCredential= in the service)");
		if (strchr(path, '/') != NULL)
			return fail(l, "the name of a credential must not have a \"/\"");
		snprintf(whole, sizeof(whole), "%s/%s", dir, path + strlen(prefix));
		path = whole;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fail(l, "cannot be read: %s", strerror(errno));
	return fd;
}

int
cnd_lines_open(struct cnd_lines *l, const char *path, enum cnd_privacy privacy, uid_t uid)
{
	struct stat st;
	int fd;
	int r;

	*l = (struct cnd_lines){ .bytes = NULL };
	fd = open_path(l, path);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		r = fail(l, "cannot be read: %s", strerror(errno));
	else
		r = check(l, &st, privacy, uid);
	if (r == 0)
		r = read_all(l, fd, (size_t)st.st_size);
	close(fd);
	return r;
}

void
cnd_lines_take(struct cnd_lines *l, const char *text, size_t n)
{
	*l = (struct cnd_lines){ .bytes = calloc(1, n + 1) };
	if (l->bytes == NULL) {
		(void)fail(l, "out of memory");
		return;
	}
	memcpy(l->bytes, text, n);
	l->n = n;
}

/* Cut out the next line; NULL at the end. */
static char *
next_raw(struct cnd_lines *l)
{
	char *line, *end;
	size_t n;

	if (l->at >= l->n)
		return NULL;
	line = l->bytes + l->at;
	end = memchr(line, '\n', l->n - l->at);
	n = end != NULL ? (size_t)(end - line) : l->n - l->at;
	l->at += n + 1;
	l->line++;
	line[n] = '\0';
	if (strlen(line) == n)
		return line;
	(void)cnd_lines_bad(l, "a zero byte");
	return NULL;
}

char *
cnd_lines_next(struct cnd_lines *l)
{
	char *line;

	while ((line = next_raw(l)) != NULL) {
		size_t n;

		line += strspn(line, BLANKS);
		n = strlen(line);
		while (n > 0 && strchr(BLANKS, line[n - 1]) != NULL)
			line[--n] = '\0';
		if (n > 0 && *line != '#')
			return line;
	}
	return NULL;
}

int
cnd_lines_bad(struct cnd_lines *l, const char *format, ...)
{
	char what[CND_LINES_ERROR_MAX - sizeof("line 4294967295: ")];
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return fail(l, "line %u: %s", l->line, what);
}

void
cnd_lines_close(struct cnd_lines *l)
{
	if (l->bytes != NULL)
		cnc_wipe(l->bytes, l->n);
	free(l->bytes);
	l->bytes = NULL;
}
