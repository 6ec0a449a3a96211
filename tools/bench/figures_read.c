/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the JSON of a report. It skips members that it does not know, so an older program can read the
 * report of a newer one. compare.c and report.c call it. It owns no state.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

#define MAX_DEPTH   16
#define MAX_FIGURES 100000
#define MAX_FILE    (64 << 20)

struct reader {
	const char *at, *end;
	const char *start;
};

static void
skip_space(struct reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at) != NULL && *r->at != '\0')
		r->at++;
}

/* Take the character `c`. 0; -1: the next character is another one, or there is none. */
static int
expect(struct reader *r, char c)
{
	skip_space(r);
	if (r->at == r->end || *r->at != c)
		return -1;
	r->at++;
	return 0;
}

static int
next_is(struct reader *r, char c)
{
	skip_space(r);
	return r->at < r->end && *r->at == c;
}

/* Read the four digits of \uXXXX. 0; -1: they are wrong. */
static int
read_unicode(struct reader *r, unsigned *ret)
{
	char digits[5];

	if (r->end - r->at < 4)
		return -1;
	memcpy(digits, r->at, 4);
	digits[4] = '\0';
	r->at += 4;
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return -1;
	*ret = (unsigned)strtoul(digits, NULL, 16);
	return 0;
}

/* Read the character after a backslash. \u with a character outside ASCII becomes a question mark: the
 * writer does not escape these. 0; -1: it is wrong. */
static int
read_escaped(struct reader *r, char *ret)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *found;
	unsigned code;

	if (r->at == r->end)
		return -1;
	if (*r->at == 'u') {
		r->at++;
		if (read_unicode(r, &code) < 0)
			return -1;
		*ret = '?';
		if (code > 0 && code < 0x80)
			*ret = (char)code;
		return 0;
	}
	found = *r->at != '\0' ? strchr(names, *r->at) : NULL;
	if (found == NULL)
		return -1;
	r->at++;
	*ret = values[found - names];
	return 0;
}

/* Read a text, and cut it to `size`. With `size` 0 it is skipped. 0; -1: it is wrong. */
static int
read_text(struct reader *r, char *ret_text, size_t size)
{
	size_t n = 0;

	if (expect(r, '"') < 0)
		return -1;
	while (r->at < r->end && *r->at != '"') {
		char c = *r->at++;

		if ((unsigned char)c < 0x20)
			return -1;
		if (c == '\\' && read_escaped(r, &c) < 0)
			return -1;
		if (n + 1 < size)
			ret_text[n++] = c;
	}
	if (size > 0)
		ret_text[n] = '\0';
	return expect(r, '"');
}

/* Read a number. null becomes NAN. 0; -1: it is wrong. */
static int
read_number(struct reader *r, double *ret)
{
	char text[40], *end;
	size_t n = 0;

	skip_space(r);
	if (r->end - r->at >= 4 && memcmp(r->at, "null", 4) == 0) {
		r->at += 4;
		*ret = NAN;
		return 0;
	}
	while (r->at < r->end && n + 1 < sizeof(text) && *r->at != '\0' &&
		strchr("+-.0123456789eE", *r->at) != NULL)
		text[n++] = *r->at++;
	text[n] = '\0';
	*ret = strtod(text, &end);
	return n > 0 && *end == '\0' && isfinite(*ret) ? 0 : -1;
}

/* ------------------------------------------------------------ whole values ----- */

static int skip_value(struct reader *r, int depth);

/* Read an object. `member` reads or skips the value of each member. 0; -1: it is wrong. */
static int
read_object(struct reader *r,
	int (*member)(struct reader *r, const char *name, void *arg), void *arg)
{
	char name[32];

	if (expect(r, '{') < 0)
		return -1;
	if (next_is(r, '}'))
		return expect(r, '}');
	for (;;) {
		if (read_text(r, name, sizeof(name)) < 0 || expect(r, ':') < 0 ||
			member(r, name, arg) < 0)
			return -1;
		if (next_is(r, '}'))
			return expect(r, '}');
		if (expect(r, ',') < 0)
			return -1;
	}
}

static int
read_array(struct reader *r, int (*element)(struct reader *r, void *arg), void *arg)
{
	if (expect(r, '[') < 0)
		return -1;
	if (next_is(r, ']'))
		return expect(r, ']');
	for (;;) {
		if (element(r, arg) < 0)
			return -1;
		if (next_is(r, ']'))
			return expect(r, ']');
		if (expect(r, ',') < 0)
			return -1;
	}
}

static int
skip_element(struct reader *r, void *arg)
{
	return skip_value(r, *(int *)arg);
}

static int
skip_member(struct reader *r, const char *name, void *arg)
{
	(void)name;
	return skip_value(r, *(int *)arg);
}

static int
skip_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return -1;
	r->at += n;
	return 0;
}

static int
skip_value(struct reader *r, int depth)
{
	int deeper = depth + 1;
	double ignored;

	if (depth > MAX_DEPTH)
		return -1;
	skip_space(r);
	if (r->at == r->end)
		return -1;
	switch (*r->at) {
	case '"':
		return read_text(r, NULL, 0);
	case '{':
		return read_object(r, skip_member, &deeper);
	case '[':
		return read_array(r, skip_element, &deeper);
	case 't':
		return skip_word(r, "true");
	case 'f':
		return skip_word(r, "false");
	default:
		return read_number(r, &ignored);
	}
}

/* -------------------------------------------------------------- the report ----- */

static int
read_figure_member(struct reader *r, const char *name, void *arg)
{
	struct cnb_figure *figure = arg;
	double *number = cnb_figure_number(figure, name);
	size_t size;
	char *text;

	if (number != NULL)
		return read_number(r, number);
	text = cnb_figure_text(figure, name, &size);
	return text != NULL ? read_text(r, text, size) : skip_value(r, 1);
}

static int
read_figure(struct reader *r, void *arg)
{
	struct cnb_report *report = arg;
	struct cnb_figure figure;

	cnb_figure_init(&figure);
	if (report->figures.n >= MAX_FIGURES ||
		read_object(r, read_figure_member, &figure) < 0)
		return -1;
	return cnb_figures_add(&report->figures, &figure);
}

static int
read_report_member(struct reader *r, const char *name, void *arg)
{
	struct cnb_report *report = arg;

	if (strcmp(name, "figures") == 0)
		return read_array(r, read_figure, report);
#define READ_TEXT(member, size)                                                          \
	if (strcmp(name, #member) == 0)                                                  \
		return read_text(r, report->member, size);
#define READ_NUMBER(member)                                                              \
	if (strcmp(name, #member) == 0)                                                  \
		return read_number(r, &report->member);
	CNB_REPORT_TEXTS(READ_TEXT)
	CNB_REPORT_NUMBERS(READ_NUMBER)
	return skip_value(r, 1);
}

int
cnb_report_parse(const char *text, size_t len, struct cnb_report *ret_report,
	struct cnb_error *ret_error)
{
	struct reader r = { text, text + len, text };
	struct cnb_report report = { .figures = { NULL, 0 } };

	if (read_object(&r, read_report_member, &report) == 0) {
		skip_space(&r);
		if (r.at == r.end && report.version[0] != '\0') {
			*ret_report = report;
			return 0;
		}
	}
	cnb_figures_finish(&report.figures);
	snprintf(ret_error->text, sizeof(ret_error->text),
		"not the JSON of cenote-bench report, at byte %td", r.at - r.start);
	return -1;
}

static int
read_file(const char *path, char **ret_text, size_t *ret_len)
{
	FILE *f = fopen(path, "re");
	char *text;

	if (f == NULL)
		return -1;
	text = malloc(MAX_FILE);
	if (text != NULL)
		*ret_len = fread(text, 1, MAX_FILE, f);
	if (text == NULL || ferror(f) || *ret_len == MAX_FILE) {
		if (text != NULL && *ret_len == MAX_FILE)
			errno = EFBIG;
		free(text);
		fclose(f);
		return -1;
	}
	fclose(f);
	*ret_text = text;
	return 0;
}

int
cnb_report_read(
	const char *path, struct cnb_report *ret_report, struct cnb_error *ret_error)
{
	struct cnb_error why;
	size_t len = 0;
	char *text;
	int r;

	if (read_file(path, &text, &len) < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text), "%.200s: %s", path,
			strerror(errno));
		return -1;
	}
	r = cnb_report_parse(text, len, ret_report, &why);
	free(text);
	if (r < 0)
		snprintf(ret_error->text, sizeof(ret_error->text), "%.200s: %.200s", path,
			why.text);
	return r;
}
