/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_TEXT_H
#define SQLSH_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Text that grows, and how wide text is on a terminal. A shell that has no memory left can
 * only end, so nothing here fails: it says so on stderr and exits with EXIT_USAGE.
 */

#define EXIT_SQL_ERROR 1
#define EXIT_USAGE     2

/* Zero everywhere is the empty text. `data` is NULL until something was added. */
struct text {
	char *data;
	size_t len;
	size_t cap;
};

void text_finish(struct text *t);
void text_clear(struct text *t);
void text_add(struct text *t, const char *s, size_t len);
void text_add_str(struct text *t, const char *s);
void text_add_char(struct text *t, char c);
void text_add_repeat(struct text *t, char c, size_t n);
void text_addf(struct text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Remove the first n bytes. */
void text_drop(struct text *t, size_t n);
/* As a C string, "" when empty. Borrowed until the next change. */
const char *text_str(const struct text *t);

/* n * size bytes, as realloc(). */
void *mem_resize(void *p, size_t n, size_t size);
char *mem_dup(const char *s, size_t len);

/* One character of UTF-8: its length in bytes, or 0 when s does not begin with a valid one. */
size_t utf8_decode(const char *s, size_t len, uint32_t *ret_char);

/*
 * Append s so that it can be shown in one line of a terminal and does nothing to it: control
 * characters as \n, \t, \x1b, what is not UTF-8 as \xNN. Returns the columns it takes.
 */
size_t display_add(struct text *t, const char *s, size_t len);
size_t display_width(const char *s, size_t len);

#endif
