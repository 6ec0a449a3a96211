/* SPDX-License-Identifier: BSD-2-Clause */
#include "placeholder.h"

#include <stdio.h>
#include <string.h>

struct text {
	const char *begin, *end;
};

static int
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/* Beside a number this would become a part of it. */
static int
is_joining(char c)
{
	return is_word(c) || c == '$';
}

static int
follows(const struct text *t, const char *p, const char *what)
{
	size_t n = strlen(what);

	return (size_t)(t->end - p) >= n && memcmp(p, what, n) == 0;
}

/* E'…': a backslash takes the next character along. */
static int
has_escapes(const struct text *t, const char *quote)
{
	if (*quote != '\'' || quote == t->begin || (quote[-1] | 0x20) != 'e')
		return 0;
	return quote - 1 == t->begin || !is_word(quote[-2]);
}

/* Behind the closing quote; two of them are none: behind the first begins another text. */
static const char *
skip_quoted(const struct text *t, const char *p)
{
	int is_escaping = has_escapes(t, p);
	char quote = *p++;

	while (p < t->end && *p != quote)
		p += is_escaping && *p == '\\' && p + 1 < t->end ? 2 : 1;
	return p < t->end ? p + 1 : p;
}

static const char *
skip_line(const struct text *t, const char *p)
{
	while (p < t->end && *p != '\n' && *p != '\r')
		p++;
	return p;
}

/* A comment may have comments in it. */
static const char *
skip_comment(const struct text *t, const char *p)
{
	size_t depth = 0;

	do {
		if (follows(t, p, "/*")) {
			depth++;
			p += 2;
		} else if (follows(t, p, "*/")) {
			depth--;
			p += 2;
		} else {
			p++;
		}
	} while (depth > 0 && p < t->end);
	return p;
}

/* $tag$ … $tag$; what only looks like it is one character. */
static const char *
skip_dollars(const struct text *t, const char *p)
{
	const char *tag = p + 1, *at;
	size_t n;

	if ((p > t->begin && is_word(p[-1])) ||
		(tag < t->end && *tag >= '0' && *tag <= '9'))
		return tag;
	while (tag < t->end && is_word(*tag))
		tag++;
	if (tag == t->end || *tag != '$')
		return p + 1;
	n = (size_t)(tag + 1 - p);
	for (at = tag + 1; (size_t)(t->end - at) >= n; at++) {
		if (memcmp(at, p, n) == 0)
			return at + n;
	}
	return t->end;
}

/* Behind what begins here and has no placeholder in it. */
static const char *
skip(const struct text *t, const char *p)
{
	if (*p == '\'' || *p == '"')
		return skip_quoted(t, p);
	if (*p == '$')
		return skip_dollars(t, p);
	if (follows(t, p, "--"))
		return skip_line(t, p);
	if (follows(t, p, "/*"))
		return skip_comment(t, p);
	return p + 1;
}

size_t
cmy_placeholders(const char *sql, size_t n, char *to)
{
	const struct text t = { sql, sql + n };
	const char *p = sql, *next;
	unsigned number = 0;
	char *out = to;

	while (p < t.end) {
		if (*p == '?') {
			if (out > to && is_joining(out[-1]))
				*out++ = ' ';
			out += snprintf(out, 12, "$%u", ++number);
			p++;
			if (p < t.end && is_joining(*p))
				*out++ = ' ';
			continue;
		}
		next = skip(&t, p);
		memcpy(out, p, (size_t)(next - p));
		out += next - p;
		p = next;
	}
	return (size_t)(out - to);
}
