/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LINES_H
#define CND_LINES_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Files that decide who may log in: lines of text, '#' begins a comment line. Read by the master, which
 * checks who could have written them, or could read what is secret.
 */
#define CND_LINES_ERROR_MAX 256u

struct cnd_lines {
	char *bytes; /* the whole file; lines are cut out of it in place */
	size_t n;
	size_t at;
	unsigned line; /* the number of the one taken last */
	char error
		[CND_LINES_ERROR_MAX]; /* "" none; holds nothing of the file's content */
};

enum cnd_privacy {
	CND_FILE_PUBLIC, /* nobody but root and the owner may write it */
	CND_FILE_SECRET /* and others may not read it */
};

/* "credential:NAME" is NAME in systemd's $CREDENTIALS_DIRECTORY. `uid`: who may own it, besides root and
 * who runs this. 0, or -1 with the error set. */
int cnd_lines_open(
	struct cnd_lines *l, const char *path, enum cnd_privacy privacy, uid_t uid);
/* Text in memory; it is copied. */
void cnd_lines_take(struct cnd_lines *l, const char *text, size_t n);
/* The next line that is neither empty nor a comment, without the blanks around it; NULL: the end, or
 * (the error says so) a line with a zero byte. */
char *cnd_lines_next(struct cnd_lines *l);
/* "line N: …". Always -1. */
int cnd_lines_bad(struct cnd_lines *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Wipes. */
void cnd_lines_close(struct cnd_lines *l);

#endif
