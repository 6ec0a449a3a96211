/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads JSON lines. records.c calls it. The state is struct json_reader.
 *
 * A number must keep all its digits, and an object or array its text. No C library of Debian 12 gives both: jansson and
 * cJSON make a double of a number, json-c cuts integers of more than 64 bits, and yajl has no text of an object or array.
 */
#include "json_reader.h"

#include <stdlib.h>
#include <string.h>

struct parser {
	struct json_reader *r;
	const char *p, *end; /* the part of the line that is not read yet */
	unsigned depth; /* objects and arrays that are open */
};

void
json_reader_init(struct json_reader *r, FILE *file)
{
	*r = (struct json_reader){ .file = file };
}

void
json_reader_finish(struct json_reader *r)
{
	text_finish(&r->text);
	fields_finish(&r->names);
	fields_finish(&r->values);
	*r = (struct json_reader){ 0 };
}

static int
fail(struct parser *p, const char *error)
{
	p->r->error = error;
	return -1;
}

static void
skip_blanks(struct parser *p)
{
	while (p->p < p->end && (*p->p == ' ' || *p->p == '\t' || *p->p == '\r'))
		p->p++;
}

static int
expect(struct parser *p, char c, const char *error)
{
	skip_blanks(p);
	if (p->p == p->end || *p->p != c)
		return fail(p, error);
	p->p++;
	return 0;
}

/* Take the next character if it is `c`. Returns whether it was. */
static bool
accept(struct parser *p, char c)
{
	skip_blanks(p);
	if (p->p == p->end || *p->p != c)
		return false;
	p->p++;
	return true;
}

/* ---- texts ---- */

/* Take the four digits after \u. Negative: they are not there. */
static int32_t
take_unit(struct parser *p)
{
	int32_t unit = 0;
	int i;

	if (p->end - p->p < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		int digit = hex_digit(*p->p++);

		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

static void
add_utf8(struct text *t, uint32_t c)
{
	if (c < 0x80) {
		text_add_char(t, (char)c);
	} else if (c < 0x800) {
		text_add_char(t, (char)(0xc0 | c >> 6));
		text_add_char(t, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		text_add_char(t, (char)(0xe0 | c >> 12));
		text_add_char(t, (char)(0x80 | (c >> 6 & 0x3f)));
		text_add_char(t, (char)(0x80 | (c & 0x3f)));
	} else {
		text_add_char(t, (char)(0xf0 | c >> 18));
		text_add_char(t, (char)(0x80 | (c >> 12 & 0x3f)));
		text_add_char(t, (char)(0x80 | (c >> 6 & 0x3f)));
		text_add_char(t, (char)(0x80 | (c & 0x3f)));
	}
}

/* Take the character of \uXXXX. Two of them may be a surrogate pair, which is one character. */
static int
take_unicode(struct parser *p, struct text *out)
{
	int32_t unit = take_unit(p), low;

	if (unit < 0)
		return fail(p, "\\u needs four hexadecimal digits");
	if (unit >= 0xdc00 && unit < 0xe000)
		return fail(p, "\\u is half of a surrogate pair");
	if (unit >= 0xd800 && unit < 0xdc00) {
		if (p->end - p->p < 2 || p->p[0] != '\\' || p->p[1] != 'u')
			return fail(p, "\\u is half of a surrogate pair");
		p->p += 2;
		low = take_unit(p);
		if (low < 0xdc00 || low >= 0xe000)
			return fail(p, "\\u is half of a surrogate pair");
		unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
	}
	add_utf8(out, (uint32_t)unit);
	return 0;
}

static int
take_escape(struct parser *p, struct text *out)
{
	static const char letters[] = "\"\\/bfnrt", special[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char c = '\0';

	if (p->p < p->end)
		c = *p->p++;
	if (c == 'u')
		return take_unicode(p, out);
	found = c ? strchr(letters, c) : NULL;
	if (!found)
		return fail(p, "an escape that JSON does not have");
	text_add_char(out, special[found - letters]);
	return 0;
}

/* Take a text, after its opening quote. */
static int
take_string(struct parser *p, struct text *out)
{
	while (p->p < p->end) {
		const char *begin = p->p;

		while (p->p < p->end && *p->p != '"' && *p->p != '\\' &&
			(unsigned char)*p->p >= 0x20)
			p->p++;
		text_add(out, begin, (size_t)(p->p - begin));
		if (p->p == p->end)
			break;
		if (*p->p == '"') {
			p->p++;
			return 0;
		}
		if (*p->p != '\\')
			return fail(p, "a control character in a text");
		p->p++;
		if (take_escape(p, out) < 0)
			return -1;
	}
	return fail(p, "a quote is not closed");
}

/* ---- values ---- */

static size_t
skip_digits(struct parser *p)
{
	const char *begin = p->p;

	while (p->p < p->end && *p->p >= '0' && *p->p <= '9')
		p->p++;
	return (size_t)(p->p - begin);
}

static int
skip_number(struct parser *p)
{
	const char *begin;

	if (*p->p == '-')
		p->p++;
	begin = p->p;
	if (skip_digits(p) == 0 || (*begin == '0' && p->p > begin + 1))
		return fail(p, "not a JSON value");
	if (p->p < p->end && *p->p == '.') {
		p->p++;
		if (skip_digits(p) == 0)
			return fail(p, "not a JSON number");
	}
	if (p->p < p->end && (*p->p == 'e' || *p->p == 'E')) {
		p->p++;
		if (p->p < p->end && (*p->p == '+' || *p->p == '-'))
			p->p++;
		if (skip_digits(p) == 0)
			return fail(p, "not a JSON number");
	}
	return 0;
}

static bool
accept_word(struct parser *p, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(p->end - p->p) < len || memcmp(p->p, word, len) != 0)
		return false;
	p->p += len;
	return true;
}

/* Skip a text, after its opening quote. */
static int
skip_string(struct parser *p)
{
	struct text *data = &p->r->values.data;
	size_t before = data->len;
	int r = take_string(p, data);

	data->len = before;
	return r;
}

static int skip_value(struct parser *p);

static int
skip_member(struct parser *p)
{
	if (expect(p, '"', "a name in quotes expected") < 0 || skip_string(p) < 0 ||
		expect(p, ':', "a colon expected after a name") < 0)
		return -1;
	return skip_value(p);
}

/* Skip an object or array, after its opening bracket. */
static int
skip_nested(struct parser *p, bool is_object)
{
	char close = is_object ? '}' : ']';

	if (p->depth++ >= JSON_DEPTH_MAX)
		return fail(p, "objects and arrays are nested too deeply");
	if (!accept(p, close)) {
		do {
			if ((is_object ? skip_member(p) : skip_value(p)) < 0)
				return -1;
		} while (accept(p, ','));
		if (expect(p, close, "an object or array is not closed") < 0)
			return -1;
	}
	p->depth--;
	return 0;
}

static int
skip_value(struct parser *p)
{
	int r = 0;

	skip_blanks(p);
	if (accept(p, '"')) {
		r = skip_string(p);
	} else if (accept(p, '{')) {
		r = skip_nested(p, true);
	} else if (accept(p, '[')) {
		r = skip_nested(p, false);
	} else if (!accept_word(p, "true") && !accept_word(p, "false") &&
		   !accept_word(p, "null")) {
		r = p->p < p->end ? skip_number(p) : fail(p, "a value expected");
	}
	return r;
}

/* Add the value of a member to `data`. */
static int
take_value(struct parser *p, struct text *data, bool *ret_is_null)
{
	const char *begin;

	*ret_is_null = false;
	if (accept(p, '"'))
		return take_string(p, data);
	begin = p->p;
	if (accept_word(p, "null")) {
		*ret_is_null = true;
	} else if (accept_word(p, "true")) {
		text_add_char(data, '1');
	} else if (accept_word(p, "false")) {
		text_add_char(data, '0');
	} else {
		if (skip_value(p) < 0)
			return -1;
		text_add(data, begin, (size_t)(p->p - begin));
	}
	return 0;
}

/* ---- lines ---- */

static int
take_member(struct parser *p)
{
	struct fields *names = &p->r->names, *values = &p->r->values;
	bool is_null;

	if (fields_begin(names) < 0 || fields_begin(values) < 0)
		return fail(p, "too many members");
	if (expect(p, '"', "a name in quotes expected") < 0 ||
		take_string(p, &names->data) < 0 ||
		expect(p, ':', "a colon expected after a name") < 0 ||
		take_value(p, &values->data, &is_null) < 0)
		return -1;
	fields_end(names, false);
	fields_end(values, is_null);
	return 0;
}

static int
take_object(struct parser *p)
{
	if (expect(p, '{', "each line must be a JSON object, {...}") < 0)
		return -1;
	if (!accept(p, '}')) {
		do {
			if (take_member(p) < 0)
				return -1;
		} while (accept(p, ','));
		if (expect(p, '}', "the object is not closed") < 0)
			return -1;
	}
	skip_blanks(p);
	return p->p < p->end ? fail(p, "text after the object") : 0;
}

/* Read a line. Returns 1, 0 at the end of the file, -1 after an error. */
static int
read_line(struct json_reader *r)
{
	int c;

	text_clear(&r->text);
	r->is_complete = false;
	while ((c = getc_unlocked(r->file)) != EOF && c != '\n') {
		if (r->text.len >= CSV_RECORD_MAX) {
			r->error = "the line is too long";
			return -1;
		}
		text_add_char(&r->text, (char)c);
	}
	r->is_complete = c == '\n';
	r->n_bytes += r->text.len + r->is_complete;
	if (c == EOF && ferror(r->file)) {
		r->error = "cannot be read on";
		return -1;
	}
	return r->is_complete || r->text.len > 0;
}

int
json_read(struct json_reader *r)
{
	struct parser p = { .r = r };
	int more;

	do {
		r->line++;
		more = read_line(r);
		if (more <= 0)
			return more;
		p.p = text_str(&r->text);
		p.end = p.p + r->text.len;
		skip_blanks(&p);
	} while (p.p == p.end);
	fields_clear(&r->names);
	fields_clear(&r->values);
	if (take_object(&p) < 0)
		return -1;
	fields_point(&r->names);
	fields_point(&r->values);
	return 1;
}
