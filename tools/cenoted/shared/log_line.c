/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two forms of a line of the log, text and JSON, in a buffer of any size. It keeps no state. log.c fills the line and writes
 * it.
 */
#include "log_line.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CUT      "\xe2\x80\xa6" /* U+2026, in place of what was cut */
#define NO_UTF8  "\xef\xbf\xbd" /* U+FFFD, in place of a byte that is not UTF-8 */
/* The longest form of one character: \u001f. */
#define UNIT_MAX 8u

/* How the characters of a text are written. */
enum style {
	STYLE_PLAIN, /* in a text line */
	STYLE_QUOTED, /* in a text line, between quotes */
	STYLE_JSON /* in a string of JSON */
};

struct out {
	char *to;
	size_t size;
	size_t n;
};

/* ---- characters ---- */

/* The length of the UTF-8 character at `p`; 0: there is none. */
static size_t
character_len(const char *p, size_t left)
{
	const unsigned char *c = (const unsigned char *)p;
	/* the least and the greatest second byte: no overlong forms, no surrogates, nothing above U+10FFFF */
	unsigned char low = 0x80, high = 0xbf;
	size_t n = 1;

	if (c[0] < 0x80)
		return 1;
	if (c[0] >= 0xc2 && c[0] <= 0xdf)
		n = 2;
	else if (c[0] >= 0xe0 && c[0] <= 0xef)
		n = 3;
	else if (c[0] >= 0xf0 && c[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (c[0] == 0xe0)
		low = 0xa0;
	else if (c[0] == 0xed)
		high = 0x9f;
	else if (c[0] == 0xf0)
		low = 0x90;
	else if (c[0] == 0xf4)
		high = 0x8f;
	if (n > left || c[1] < low || c[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++) {
		if (c[i] < 0x80 || c[i] > 0xbf)
			return 0;
	}
	return n;
}

/* Terminals obey control characters; those from U+0080 to U+009F have two bytes in UTF-8. */
static bool
is_control(const char *p, size_t n)
{
	unsigned char c = (unsigned char)p[0];

	return n == 1 ? c < 0x20 || c == 0x7f : c == 0xc2 && (unsigned char)p[1] < 0xa0;
}

static size_t
put_control(char c, enum style style, char unit[UNIT_MAX])
{
	static const char letters[] = "b\bf\fn\nr\rt\t";

	if (style != STYLE_JSON) {
		unit[0] = ' ';
		return 1;
	}
	for (size_t i = 0; i < sizeof(letters) - 1; i += 2) {
		if (letters[i + 1] == c) {
			unit[0] = '\\';
			unit[1] = letters[i];
			return 2;
		}
	}
	return (size_t)snprintf(unit, UNIT_MAX, "\\u%04x", (unsigned)(unsigned char)c);
}

/* Write one character of a text in this style. Returns the length; *ret_taken is how many bytes of the text it was. */
static size_t
put_character(const char *p, size_t left, enum style style, char unit[UNIT_MAX],
	size_t *ret_taken)
{
	size_t n = character_len(p, left);

	*ret_taken = n > 0 ? n : 1;
	if (n == 0) {
		memcpy(unit, NO_UTF8, sizeof(NO_UTF8) - 1);
		return sizeof(NO_UTF8) - 1;
	}
	if (is_control(p, n) && (n == 1 || style != STYLE_JSON))
		return put_control(*p, style, unit);
	if (style != STYLE_PLAIN && (*p == '"' || *p == '\\')) {
		unit[0] = '\\';
		unit[1] = *p;
		return 2;
	}
	memcpy(unit, p, n);
	return n;
}

/* ---- texts ---- */

/* Write as much of the text as fits below `limit`. */
static void
put_text(struct out *o, const char *text, enum style style, size_t limit)
{
	size_t left = strlen(text), taken;
	/* where the mark goes if the text has to be cut */
	size_t cut = o->n;
	char unit[UNIT_MAX];

	for (; left > 0; text += taken, left -= taken) {
		size_t n = put_character(text, left, style, unit, &taken);

		if (o->n + sizeof(CUT) - 1 <= limit)
			cut = o->n;
		if (o->n + n > limit)
			break;
		memcpy(o->to + o->n, unit, n);
		o->n += n;
	}
	if (left == 0 || cut + sizeof(CUT) - 1 > limit)
		return;
	memcpy(o->to + cut, CUT, sizeof(CUT) - 1);
	o->n = cut + sizeof(CUT) - 1;
}

/* Write bytes that need no escapes, if all of them fit below `limit`. */
static bool
put_whole(struct out *o, const char *bytes, size_t limit)
{
	size_t n = strlen(bytes);

	if (o->n + n > limit)
		return false;
	memcpy(o->to + o->n, bytes, n);
	o->n += n;
	return true;
}

static void
put_time(const struct timespec *time, char to[32])
{
	struct tm utc;
	size_t n;

	gmtime_r(&time->tv_sec, &utc);
	n = strftime(to, 32, "%Y-%m-%dT%H:%M:%S", &utc);
	(void)snprintf(to + n, 32 - n, ".%03dZ", (int)(time->tv_nsec / 1000000));
}

/* ---- a line of text ---- */

/* Whether the value needs no quotes: a reader finds its end at the next blank. */
static bool
is_plain(const char *value)
{
	for (; *value != '\0'; value++) {
		if ((unsigned char)*value <= ' ' || strchr("\"\\=\x7f", *value) != NULL)
			return false;
	}
	return true;
}

static void
put_field(struct out *o, const struct cnd_log_field *f)
{
	size_t before = o->n;
	bool is_quoted = !is_plain(f->value);
	bool is_whole = put_whole(o, " ", o->size) && put_whole(o, f->name, o->size) &&
			put_whole(o, is_quoted ? "=\"" : "=", o->size);
	size_t begin = o->n;

	/* one byte is kept for the quote */
	if (is_whole && o->n + is_quoted < o->size)
		put_text(o, f->value, is_quoted ? STYLE_QUOTED : STYLE_PLAIN,
			o->size - is_quoted);
	if (o->n == begin || !is_whole)
		o->n = before;
	else if (is_quoted)
		(void)put_whole(o, "\"", o->size);
}

size_t
cnd_log_line_text(const struct cnd_log_line *line, bool has_prefix, char *to, size_t size)
{
	struct out o = { .to = to, .size = size };
	char text[160], time[32];
	int n = 0;

	put_time(&line->time, time);
	if (has_prefix)
		n = snprintf(text, sizeof(text), "%s cenoted[%d] ", time, (int)line->pid);
	n += snprintf(text + n, sizeof(text) - (size_t)n, "%.16s%s%.64s: ", line->process,
		*line->pool != '\0' ? " " : "", line->pool);
	if (has_prefix)
		(void)snprintf(text + n, sizeof(text) - (size_t)n, "%.8s: ", line->level);
	put_text(&o, text, STYLE_PLAIN, size);
	put_text(&o, line->message, STYLE_PLAIN, size);
	for (size_t i = 0; i < line->n_fields; i++) {
		const struct cnd_log_field *f = &line->fields[i];

		if (!f->is_said && f->value != NULL && *f->value != '\0')
			put_field(&o, f);
	}
	return o.n;
}

/* ---- JSON ---- */

/* Write one member, and leave it out if not even a part of its value fits. */
static void
put_member(struct out *o, const struct cnd_log_field *f)
{
	size_t before = o->n;
	/* one byte is kept for the brace, and one for the quote */
	size_t limit = o->size - 1 - !f->is_number;
	bool is_whole = put_whole(o, before == 1 ? "\"" : ",\"", limit) &&
			put_whole(o, f->name, limit) &&
			put_whole(o, f->is_number ? "\":" : "\":\"", limit);
	size_t begin = o->n;

	/* a part of a number is another number */
	if (is_whole && f->is_number)
		(void)put_whole(o, f->value, limit);
	else if (is_whole)
		put_text(o, f->value, STYLE_JSON, limit);
	if (o->n == begin || !is_whole)
		o->n = before;
	else if (!f->is_number)
		(void)put_whole(o, "\"", o->size);
}

size_t
cnd_log_line_json(const struct cnd_log_line *line, char *to, size_t size)
{
	struct out o = { .to = to, .size = size };
	char time[32], pid[16];
	const struct cnd_log_field first[] = {
		{ .name = "time", .value = time },
		{ .name = "level", .value = line->level },
		{ .name = "process", .value = line->process },
		{ .name = "pid", .value = pid, .is_number = true },
		{ .name = "pool", .value = line->pool },
		{ .name = "message", .value = line->message },
	};

	put_time(&line->time, time);
	(void)snprintf(pid, sizeof(pid), "%d", (int)line->pid);
	(void)put_whole(&o, "{", size);
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		if (*first[i].value != '\0')
			put_member(&o, &first[i]);
	}
	for (size_t i = 0; i < line->n_fields; i++) {
		if (line->fields[i].value != NULL && *line->fields[i].value != '\0')
			put_member(&o, &line->fields[i]);
	}
	(void)put_whole(&o, "}", size);
	return o.n;
}
