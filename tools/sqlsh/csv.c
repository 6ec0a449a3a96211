/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and writes CSV and tab-separated values. sqlsh, cenote-export and cenote-import call it.
 * The state is struct csv_reader.
 */
#include "csv.h"

#include <stdlib.h>
#include <string.h>

char
csv_separator(enum csv_kind kind)
{
	return kind == CSV_TAB ? '\t' : ',';
}

/* A byte order mark at the beginning of a file is not data. A value that begins with it needs
 * quotes. */
#define BOM "\xef\xbb\xbf"

/* Where a byte has a meaning of its own: in a field without quotes, in quotes, in tab-separated values. Other bytes are ordinary. */
enum stop {
	STOP_PLAIN = 1,
	STOP_QUOTED = 2,
	STOP_TAB = 4
};

static const unsigned char stops[256] = {
	[','] = STOP_PLAIN,
	['"'] = STOP_PLAIN | STOP_QUOTED,
	['\n'] = STOP_PLAIN | STOP_QUOTED | STOP_TAB,
	['\r'] = STOP_PLAIN | STOP_TAB,
	['\t'] = STOP_TAB,
	['\\'] = STOP_TAB,
};

/* The number of ordinary bytes at the beginning of `s`. */
static size_t
run_of(const char *s, size_t len, enum stop stop)
{
	size_t n = 0;

	while (n < len && !(stops[(unsigned char)s[n]] & stop))
		n++;
	return n;
}

static int
begins_with_bom(const struct cell *cell)
{
	return cell->len >= 3 && memcmp(cell->text, BOM, 3) == 0;
}

static void
add_comma_field(struct text *t, const struct cell *cell)
{
	size_t i;

	if (cell->len > 0 && run_of(cell->text, cell->len, STOP_PLAIN) == cell->len &&
		!begins_with_bom(cell)) {
		text_add(t, cell->text, cell->len);
		return;
	}
	text_add_char(t, '"');
	for (i = 0; i < cell->len; i++) {
		if (cell->text[i] == '"')
			text_add_char(t, '"');
		text_add_char(t, cell->text[i]);
	}
	text_add_char(t, '"');
}

static void
add_tab_field(struct text *t, const struct cell *cell)
{
	static const char special[] = "\t\n\r\\", letters[] = "tnr\\";
	size_t i = 0;

	if (begins_with_bom(cell))
		text_add_char(t, '\\');
	for (;;) {
		size_t n = run_of(cell->text + i, cell->len - i, STOP_TAB);

		text_add(t, cell->text + i, n);
		i += n;
		if (i == cell->len)
			return;
		text_add_char(t, '\\');
		text_add_char(t, letters[strchr(special, cell->text[i++]) - special]);
	}
}

void
csv_add_field(struct text *t, enum csv_kind kind, const struct cell *cell)
{
	if (kind == CSV_COMMA) {
		if (cell->text)
			add_comma_field(t, cell);
	} else if (cell->text) {
		add_tab_field(t, cell);
	} else {
		text_add_str(t, "\\N");
	}
}

void
csv_reader_init(struct csv_reader *r, FILE *file, enum csv_kind kind)
{
	*r = (struct csv_reader){ 0 };
	r->file = file;
	r->kind = kind;
	r->next_line = 1;
	r->buffer = mem_resize(NULL, CSV_BUFFER_SIZE, 1);
}

void
csv_reader_finish(struct csv_reader *r)
{
	fields_finish(&r->fields);
	free(r->buffer);
	*r = (struct csv_reader){ 0 };
}

static int
fill(struct csv_reader *r)
{
	int is_first = r->n_bytes == 0;

	r->pos = 0;
	r->end = fread(r->buffer, 1, CSV_BUFFER_SIZE, r->file);
	r->n_bytes += r->end;
	/* A byte order mark is not part of the first field. */
	if (is_first && r->end >= 3 && memcmp(r->buffer, BOM, 3) == 0)
		r->pos = 3;
	return r->pos < r->end;
}

/* The next byte; EOF at the end. */
static int
take(struct csv_reader *r)
{
	int c;

	if (r->pos >= r->end && !fill(r))
		return EOF;
	c = (unsigned char)r->buffer[r->pos++];
	if (c == '\n')
		r->next_line++;
	return c;
}

static int
peek(struct csv_reader *r)
{
	if (r->pos >= r->end && !fill(r))
		return EOF;
	return (unsigned char)r->buffer[r->pos];
}

static int
add_byte(struct csv_reader *r, int c)
{
	if (r->fields.data.len >= CSV_RECORD_MAX) {
		r->error = "the record is too long";
		return -1;
	}
	text_add_char(&r->fields.data, (char)c);
	return 0;
}

/* Take ordinary bytes from the buffer, up to one of another kind or the buffer's end. */
static int
add_run(struct csv_reader *r, enum stop stop)
{
	size_t n = run_of(r->buffer + r->pos, r->end - r->pos, stop);

	if (n + r->fields.data.len > CSV_RECORD_MAX) {
		r->error = "the record is too long";
		return -1;
	}
	text_add(&r->fields.data, r->buffer + r->pos, n);
	r->pos += n;
	return 0;
}

/* Handle the byte after a field. 1: another field follows; 0: the record ends; -1: an error. */
static int
end_field(struct csv_reader *r, int c, bool is_null)
{
	fields_end(&r->fields, is_null);
	if (c == csv_separator(r->kind))
		return 1;
	if (c == '\r' && peek(r) == '\n')
		c = take(r);
	if (c == EOF || c == '\n')
		return 0;
	r->error = "text behind a closing quote";
	return -1;
}

/* Read up to the closing quote. Returns the byte after it; EOF - 1 is an error. */
static int
read_quoted(struct csv_reader *r)
{
	for (;;) {
		int c = add_run(r, STOP_QUOTED) < 0 ? EOF - 1 : take(r);

		if (c < EOF)
			return c;
		if (c == EOF) {
			r->error = "a quote is not closed";
			return EOF - 1;
		}
		if (c == '"') {
			if (peek(r) != '"')
				return take(r);
			(void)take(r);
		}
		if (add_byte(r, c) < 0)
			return EOF - 1;
	}
}

static int
read_comma_field(struct csv_reader *r)
{
	int c = take(r);
	size_t begin = r->fields.data.len;

	if (c == '"') {
		c = read_quoted(r);
		return c < EOF ? -1 : end_field(r, c, false);
	}
	while (c != EOF && c != ',' && c != '\n' && !(c == '\r' && peek(r) == '\n')) {
		if (c == '"') {
			r->error = "a quote within a field that does not begin with one";
			return -1;
		}
		if (add_byte(r, c) < 0 || add_run(r, STOP_PLAIN) < 0)
			return -1;
		c = take(r);
	}
	return end_field(r, c, r->fields.data.len == begin);
}

static int
unescape(int c)
{
	static const char letters[] = "tnr", special[] = "\t\n\r";
	const char *p = c > 0 && c < 128 ? strchr(letters, c) : NULL;

	return p ? special[p - letters] : c;
}

static int
read_tab_field(struct csv_reader *r)
{
	size_t begin = r->fields.data.len;
	int c = take(r), is_null = 0;

	while (c != EOF && c != '\t' && c != '\n' && !(c == '\r' && peek(r) == '\n')) {
		if (c == '\\') {
			c = take(r);
			if (c == EOF) {
				r->error = "a backslash at the end of the file";
				return -1;
			}
			is_null = c == 'N' && r->fields.data.len == begin;
			c = unescape(c);
		}
		if (add_byte(r, c) < 0 || add_run(r, STOP_TAB) < 0)
			return -1;
		c = take(r);
	}
	return end_field(r, c, is_null && r->fields.data.len == begin + 1);
}

int
csv_read(struct csv_reader *r)
{
	int more = 1;

	if (peek(r) == EOF) {
		r->line = r->next_line;
		r->error = ferror(r->file) ? "cannot be read on" : NULL;
		return r->error ? -1 : 0;
	}
	r->line = r->next_line;
	fields_clear(&r->fields);
	while (more > 0) {
		if (fields_begin(&r->fields) < 0) {
			r->error = "too many fields";
			return -1;
		}
		more = r->kind == CSV_TAB ? read_tab_field(r) : read_comma_field(r);
	}
	if (more < 0)
		return -1;
	fields_point(&r->fields);
	return 1;
}
