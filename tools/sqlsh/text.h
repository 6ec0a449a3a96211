/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_TEXT_H
#define SQLSH_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Text that grows, and the width of text on a terminal. sqlsh cannot go on without memory. So these
 * functions do not fail: they report the error on standard error and exit with EXIT_USAGE. */

#define EXIT_SQL_ERROR 1
#define EXIT_USAGE     2

/* All zero is the empty text. `data` is NULL until something is added. */
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
/* Add the bytes that hexadecimal digits stand for. -1: `s` has something else, and nothing was added. */
int text_add_unhex(struct text *t, const char *s, size_t len);
/* The value of a hexadecimal digit. -1: `c` is something else. */
int hex_digit(char c);
/* Remove the first n bytes. */
void text_drop(struct text *t, size_t n);
/* The text as a C string; "" if empty. It is valid until the next change. */
const char *text_str(const struct text *t);

/* Like realloc() for n * size bytes, but never NULL. */
void *mem_resize(void *p, size_t n, size_t size);
char *mem_dup(const char *s, size_t len);

/* Read a character of UTF-8. Returns its length in bytes; 0: `s` does not begin with a valid
 * character. */
size_t utf8_decode(const char *s, size_t len, uint32_t *ret_char);

/* Let the locale say how wide characters are: call it before the functions below. All text is UTF-8, so the locale counts only if it
 * uses UTF-8. */
void display_init(void);
/* Append s in a form that fits one line and cannot disturb the terminal: control characters as \n,
 * \t, \x1b, and bytes that are not UTF-8 as \xNN. Returns its width in columns. */
size_t display_add(struct text *t, const char *s, size_t len);
size_t display_width(const char *s, size_t len);

#endif
