/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format json: each row is a JSON object (RFC 8259) on a line of its own. output.c calls it.
 */
#include "output.h"

#include <stdlib.h>
#include <string.h>

struct json {
	struct output base;
	struct text names; /* the written form of each column's name: "name": */
	size_t *ends; /* the end of each name in `names` */
};

static void
add_escaped(struct text *t, unsigned char c)
{
	static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *p = c ? strchr(special, c) : NULL;

	if (p)
		text_addf(t, "\\%c", letters[p - special]);
	else
		text_addf(t, "\\u%04x", c);
}

static void
add_string(struct text *t, const char *s, size_t len)
{
	size_t i = 0;

	text_add_char(t, '"');
	while (i < len) {
		unsigned char c = (unsigned char)s[i];
		uint32_t decoded;
		size_t n = utf8_decode(s + i, len - i, &decoded);

		/* U+FFFD, because the byte is not UTF-8 */
		if (n == 0)
			text_add_str(t, "\xef\xbf\xbd");
		else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f)
			add_escaped(t, c);
		else
			text_add(t, s + i, n);
		i += n > 0 ? n : 1;
	}
	text_add_char(t, '"');
}

static size_t
n_digits(const char *s)
{
	return strspn(s, "0123456789");
}

/* Whether the text is a number of RFC 8259: no leading zeros, no plus sign, no NaN. */
static int
is_number(const char *s, size_t len)
{
	const char *begin = s;
	size_t n;

	s += *s == '-';
	n = n_digits(s);
	if (n == 0 || (n > 1 && *s == '0'))
		return 0;
	s += n;
	if (*s == '.') {
		n = n_digits(s + 1);
		if (n == 0)
			return 0;
		s += 1 + n;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		n = n_digits(s);
		if (n == 0)
			return 0;
		s += n;
	}
	return (size_t)(s - begin) == len;
}

static void
add_value(struct text *t, uint32_t type, const struct cell *cell)
{
	if (!cell->text) {
		text_add_str(t, "null");
	} else if (output_is_number(type) && is_number(cell->text, cell->len)) {
		text_add(t, cell->text, cell->len);
	} else if (type == CENOTE_TYPE_BOOL && strcmp(cell->text, "1") == 0) {
		text_add_str(t, "true");
	} else if (type == CENOTE_TYPE_BOOL && strcmp(cell->text, "0") == 0) {
		text_add_str(t, "false");
	} else if (type == CENOTE_TYPE_BYTES) {
		text_add_str(t, "\"\\");
		output_add_hex(t, cell);
		text_add_char(t, '"');
	} else {
		add_string(t, cell->text, cell->len);
	}
}

static void
json_begin(struct output *out)
{
	struct json *json = (struct json *)out;
	size_t col;

	json->ends = mem_resize(NULL, out->n_columns, sizeof(json->ends[0]));
	for (col = 0; col < out->n_columns; col++) {
		const char *name = out->columns[col].name;

		text_add_str(&json->names, col > 0 ? "," : "");
		add_string(&json->names, name, strlen(name));
		text_add_char(&json->names, ':');
		json->ends[col] = json->names.len;
	}
}

static void
json_row(struct output *out, const struct cell *cells)
{
	struct json *json = (struct json *)out;
	size_t col, begin = 0;

	text_add_char(&out->text, '{');
	for (col = 0; col < out->n_columns; col++) {
		text_add(&out->text, text_str(&json->names) + begin,
			json->ends[col] - begin);
		begin = json->ends[col];
		add_value(&out->text, out->columns[col].type, &cells[col]);
	}
	text_add_str(&out->text, "}\n");
}

static void
json_end(struct output *out)
{
	(void)out;
}

static void
json_finish(struct output *out)
{
	struct json *json = (struct json *)out;

	text_finish(&json->names);
	free(json->ends);
}

const struct output_ops output_json = {
	.name = "json",
	.size = sizeof(struct json),
	.begin = json_begin,
	.row = json_row,
	.end = json_end,
	.finish = json_finish,
};
