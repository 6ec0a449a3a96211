/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that grows, and the width of text on a terminal. All files call it. It has no state.
 */
#include "text.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static _Noreturn void
die_nomem(void)
{
	(void)fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	exit(EXIT_USAGE);
}

void *
mem_resize(void *p, size_t n, size_t size)
{
	void *q;

	if (size > 0 && n > SIZE_MAX / size)
		die_nomem();
	if (n == 0 || size == 0)
		n = size = 1;
	q = realloc(p, n * size);
	if (!q)
		die_nomem();
	return q;
}

char *
mem_dup(const char *s, size_t len)
{
	char *copy = mem_resize(NULL, len + 1, 1);

	if (len > 0)
		memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

void
text_finish(struct text *t)
{
	free(t->data);
	*t = (struct text){ 0 };
}

void
text_clear(struct text *t)
{
	t->len = 0;
	if (t->data)
		t->data[0] = '\0';
}

/* Make room for n more bytes and the zero byte. */
static void
text_grow(struct text *t, size_t n)
{
	size_t cap = t->cap ? t->cap : 64;

	if (n >= SIZE_MAX / 2 - t->len)
		die_nomem();
	if (t->data && t->len + n < t->cap)
		return;
	while (cap <= t->len + n)
		cap *= 2;
	t->data = mem_resize(t->data, cap, 1);
	t->cap = cap;
}

void
text_add(struct text *t, const char *s, size_t len)
{
	text_grow(t, len);
	if (len > 0)
		memcpy(t->data + t->len, s, len);
	t->len += len;
	t->data[t->len] = '\0';
}

void
text_add_str(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

void
text_add_char(struct text *t, char c)
{
	if (t->len + 1 >= t->cap)
		text_grow(t, 1);
	t->data[t->len++] = c;
	t->data[t->len] = '\0';
}

void
text_add_repeat(struct text *t, char c, size_t n)
{
	text_grow(t, n);
	memset(t->data + t->len, c, n);
	t->len += n;
	t->data[t->len] = '\0';
}

int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int
text_add_unhex(struct text *t, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (hex_digit(s[i]) < 0)
			return -1;
	}
	if (len % 2 != 0)
		return -1;
	for (i = 0; i < len; i += 2)
		text_add_char(t, (char)(hex_digit(s[i]) << 4 | hex_digit(s[i + 1])));
	return 0;
}

void
text_addf(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n <= 0)
		return;
	text_grow(t, (size_t)n);
	va_start(ap, format);
	(void)vsnprintf(t->data + t->len, t->cap - t->len, format, ap);
	va_end(ap);
	t->len += (size_t)n;
}

void
text_drop(struct text *t, size_t n)
{
	if (n == 0)
		return;
	if (n > t->len)
		n = t->len;
	memmove(t->data, t->data + n, t->len - n);
	t->len -= n;
	t->data[t->len] = '\0';
}

const char *
text_str(const struct text *t)
{
	return t->data ? t->data : "";
}

/* The length of a character by its first byte, and the bits of it that belong to the character. */
static size_t
utf8_lead(unsigned char c, uint32_t *ret_bits)
{
	if (c < 0x80) {
		*ret_bits = c;
		return 1;
	}
	if (c >= 0xc2 && c < 0xe0) {
		*ret_bits = c & 0x1fu;
		return 2;
	}
	if (c >= 0xe0 && c < 0xf0) {
		*ret_bits = c & 0x0fu;
		return 3;
	}
	if (c >= 0xf0 && c < 0xf5) {
		*ret_bits = c & 0x07u;
		return 4;
	}
	return 0;
}

size_t
utf8_decode(const char *s, size_t len, uint32_t *ret_char)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c;
	size_t n, i;

	if (len == 0)
		return 0;
	n = utf8_lead((unsigned char)s[0], &c);
	if (n == 0 || n > len)
		return 0;
	for (i = 1; i < n; i++) {
		unsigned char b = (unsigned char)s[i];

		if ((b & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (b & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret_char = c;
	return n;
}

void
display_init(void)
{
	if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		(void)setlocale(LC_CTYPE, "C.UTF-8");
}

static size_t
display_add_byte(struct text *t, unsigned char c)
{
	size_t before = t->len;

	switch (c) {
	case '\n':
		text_add_str(t, "\\n");
		break;
	case '\r':
		text_add_str(t, "\\r");
		break;
	case '\t':
		text_add_str(t, "\\t");
		break;
	default:
		text_addf(t, "\\x%02x", c);
	}
	return t->len - before;
}

size_t
display_add(struct text *t, const char *s, size_t len)
{
	size_t width = 0, i = 0, plain;

	while (i < len) {
		uint32_t c;
		size_t n;
		int w;

		/* Most text is ASCII: take it in one piece. */
		for (plain = i; plain < len && s[plain] >= 0x20 && s[plain] < 0x7f;)
			plain++;
		if (plain > i) {
			text_add(t, s + i, plain - i);
			width += plain - i;
			i = plain;
			continue;
		}
		n = utf8_decode(s + i, len - i, &c);
		w = n > 1 ? wcwidth((wchar_t)c) : -1;
		if (w < 0) {
			/* This includes each byte of a control character beyond ASCII, such as
			 * U+0085. */
			width += display_add_byte(t, (unsigned char)s[i]);
			i++;
			continue;
		}
		text_add(t, s + i, n);
		width += (size_t)w;
		i += n;
	}
	return width;
}

size_t
display_width(const char *s, size_t len)
{
	struct text t = { 0 };
	size_t width = display_add(&t, s, len);

	text_finish(&t);
	return width;
}
