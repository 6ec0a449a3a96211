/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts and ends the pager. output.c and shell.c call it. It has no state.
 */
#include "pager.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.h"

/* The width of a line, without the escape sequences that dim NULL. */
static size_t
width_of(const char *line, size_t len)
{
	size_t width = 0;

	while (len > 0) {
		const char *escape = memchr(line, '\033', len);
		const char *end =
			escape ? memchr(escape, 'm', len - (size_t)(escape - line))
			       : NULL;
		size_t n = end ? (size_t)(escape - line) : len;

		width += display_width(line, n);
		n = end ? (size_t)(end + 1 - line) : len;
		line += n;
		len -= n;
	}
	return width;
}

int
pager_fits(const char *text, size_t len, size_t rows, size_t columns)
{
	size_t n_lines = 0;

	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;

		if (++n_lines >= rows || width_of(text, n) > columns)
			return 0;
		n += end != NULL;
		text += n;
		len -= n;
	}
	return 1;
}

FILE *
pager_open(const char *command, const char *text, size_t len, int is_whole)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0)
		return NULL;
	if (is_whole && pager_fits(text, len, size.ws_row, size.ws_col))
		return NULL;
	(void)fflush(stdout);
	return popen(command, "we"); /* NOLINT(cert-env33-c) */
}

void
pager_close(FILE *pager)
{
	(void)pclose(pager);
}
