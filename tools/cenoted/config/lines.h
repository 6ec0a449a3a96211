/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LINES_H
#define CND_LINES_H

#include <stddef.h>
#include <sys/types.h>

/* Files that decide who may log in. They consist of lines; '#' begins a comment line. The master
 * reads them. It checks that nobody else could have written them, or could have read secret ones. */
#define CND_LINES_ERROR_MAX 256u

struct cnd_lines {
	char *bytes; /* the whole file, cut into lines in place */
	size_t n;
	size_t at;
	unsigned line; /* the number of the last line that was read */
	char error
		[CND_LINES_ERROR_MAX]; /* "": none; never contains content of the file */
};

enum cnd_privacy {
	CND_FILE_PUBLIC, /* only root and the owner may write it */
	CND_FILE_SECRET /* and only root and the owner may read it */
};

/* Read the file; "credential:NAME" is NAME in systemd's $CREDENTIALS_DIRECTORY. `uid`: who may own
 * it, besides root and our own user. 0; or -1, with the error set. */
int cnd_lines_open(
	struct cnd_lines *l, const char *path, enum cnd_privacy privacy, uid_t uid);
/* Read lines from memory; the text is copied. */
void cnd_lines_take(struct cnd_lines *l, const char *text, size_t n);
/* The next line that is neither empty nor a comment, without blanks around it. NULL: the end, or an
 * error: a line with a zero byte. */
char *cnd_lines_next(struct cnd_lines *l);
/* Set the error "line N: …". Always returns -1. */
int cnd_lines_bad(struct cnd_lines *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Wipe the content. */
void cnd_lines_close(struct cnd_lines *l);

#endif
