/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/sqlstate.h"

/*
 * The diagnostics record. All layers report errors with it.
 */

/* The longest list of fields that cnc_diag_set() makes from a message. */
#define FIELDS_MAX ((size_t)1 << 20)

size_t
cnc_utf8_cut(const char *text, size_t len, size_t max)
{
	size_t n = max;

	if (len <= max)
		return len;
	/* Go back to the first byte of the UTF-8 sequence in which the cut is; a sequence has at
	 * most four bytes. */
	for (size_t back = 0; back < 4 && n > 0; back++, n--) {
		if (((unsigned char)text[n] & 0xc0) != 0x80)
			return n;
	}
	/* The text is not UTF-8, or n is 0. */
	return n == 0 ? 0 : max;
}

void
cnc_diag_init(struct cnc_diag *d, const struct cenote_allocator *mem)
{
	d->mem = mem;
	d->fields = NULL;
	d->fields_len = 0;
	cnc_diag_clear(d);
}

void
cnc_diag_finish(struct cnc_diag *d)
{
	cnc_diag_clear(d);
}

void
cnc_diag_clear(struct cnc_diag *d)
{
	if (d->fields)
		cnc_free(d->mem, d->fields);
	d->fields = NULL;
	d->fields_len = 0;
	d->native = 0;
	d->message[0] = '\0';
	memcpy(d->sqlstate, CNC_SQLSTATE(OK), sizeof(d->sqlstate));
}

static void
set_sqlstate(struct cnc_diag *d, const char *sqlstate)
{
	if (!cnc_sqlstate_is_valid(sqlstate))
		sqlstate = CNC_SQLSTATE(GENERAL);
	memmove(d->sqlstate, sqlstate, sizeof(d->sqlstate));
}

static void
set_message(struct cnc_diag *d, const char *text, size_t len)
{
	size_t n = cnc_utf8_cut(text, len, sizeof(d->message) - 1);

	memcpy(d->message, text, n);
	d->message[n] = '\0';
}

/* Format a message that is too long for the inline part, as a field; NULL if there is no memory. */
static uint8_t *format_field(const struct cenote_allocator *mem, size_t text_len,
	const char *format, va_list args) __attribute__((format(printf, 3, 0)));

static uint8_t *
format_field(const struct cenote_allocator *mem, size_t text_len, const char *format,
	va_list args)
{
	uint8_t *field = cnc_alloc(mem, text_len + 6);

	if (!field)
		return NULL;
	field[0] = 'M';
	cnc_put_u32(field + 1, (uint32_t)text_len);
	if (vsnprintf((char *)field + 5, text_len + 1, format, args) != (int)text_len) {
		cnc_free(mem, field);
		return NULL;
	}
	return field;
}

void
cnc_diag_set(struct cnc_diag *d, const char *sqlstate, const char *format, ...)
{
	/* One byte more than fits, so that set_message() sees that the text must be cut. */
	char text[CNC_DIAG_MESSAGE_MAX + 1];
	uint8_t *field = NULL;
	va_list args;
	int n;

	/* Format everything before anything is replaced: the arguments may be parts of d. */
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0)
		text[0] = '\0';
	if (n >= (int)CNC_DIAG_MESSAGE_MAX && d->mem && (size_t)n < FIELDS_MAX) {
		va_start(args, format);
		field = format_field(d->mem, (size_t)n, format, args);
		va_end(args);
	}
	set_sqlstate(d, sqlstate);
	if (d->fields)
		cnc_free(d->mem, d->fields);
	d->fields = field;
	d->fields_len = field ? (size_t)n + 6 : 0;
	d->native = 0;
	set_message(d, text, strlen(text));
}

/* The next field; 0 at the end of the list, or if the rest is malformed. */
static char
next_field(struct cnc_reader *r, const char **ret_text, size_t *ret_len)
{
	char letter;

	if (r->p == r->end)
		return '\0';
	letter = (char)cnc_read_u8(r);
	*ret_text = cnc_read_str(r, ret_len);
	if (r->bad)
		return '\0';
	if (letter == '\0')
		r->bad = 1;
	return letter;
}

/* The native code is text on the wire, as every field is; 0 if it is not a number. */
static int32_t
read_native(const char *text, size_t len)
{
	int is_negative = len > 0 && text[0] == '-';
	int64_t value = 0;

	for (size_t i = (size_t)is_negative; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		value = value * 10 + (text[i] - '0');
		if (value > (int64_t)INT32_MAX + 1)
			return 0;
	}
	value = is_negative ? -value : value;
	return value > INT32_MAX ? 0 : (int32_t)value;
}

/* The first field with that letter; NULL if there is none. */
static const char *
find_field(const uint8_t *fields, size_t fields_len, char letter, size_t *ret_len)
{
	struct cnc_reader r;
	const char *text;
	char found;

	cnc_reader_init(&r, fields, fields_len);
	while ((found = next_field(&r, &text, ret_len))) {
		if (found == letter)
			return text;
	}
	return NULL;
}

static int
check_fields(const uint8_t *fields, size_t len)
{
	struct cnc_reader r;
	const char *text;
	size_t text_len;

	cnc_reader_init(&r, fields, len);
	while (next_field(&r, &text, &text_len))
		continue;
	return cnc_reader_end(&r);
}

int
cnc_diag_set_fields(struct cnc_diag *d, const uint8_t *fields, size_t len)
{
	uint8_t *old = d->fields;
	uint8_t *copy = NULL;
	const char *text;
	size_t text_len;
	int r;

	/* Free the old fields last, because `fields` may be the same memory. */
	d->fields = NULL;
	cnc_diag_clear(d);
	r = check_fields(fields, len);
	if (r < 0)
		goto out;
	text = find_field(fields, len, 'C', &text_len);
	set_sqlstate(d, text ? text : CNC_SQLSTATE(GENERAL));
	text = find_field(fields, len, 'M', &text_len);
	if (text)
		set_message(d, text, text_len);
	text = find_field(fields, len, 'N', &text_len);
	if (text)
		d->native = read_native(text, text_len);
	if (d->mem && len)
		copy = cnc_alloc(d->mem, len);
	if (copy) {
		memcpy(copy, fields, len);
		d->fields = copy;
		d->fields_len = len;
	}
out:
	if (old)
		cnc_free(d->mem, old);
	return r;
}

void
cnc_diag_copy(struct cnc_diag *to, const struct cnc_diag *from)
{
	uint8_t *copy = NULL;

	if (to == from)
		return;
	if (to->mem && from->fields)
		copy = cnc_alloc(to->mem, from->fields_len);
	if (copy)
		memcpy(copy, from->fields, from->fields_len);
	cnc_diag_clear(to);
	memcpy(to->sqlstate, from->sqlstate, sizeof(to->sqlstate));
	memcpy(to->message, from->message, strlen(from->message) + 1);
	to->native = from->native;
	to->fields = copy;
	to->fields_len = copy ? from->fields_len : 0;
}

const char *
cnc_diag_field(const struct cnc_diag *d, char letter)
{
	const char *text;
	size_t len;

	if (letter == 'C')
		return d->sqlstate;
	text = find_field(d->fields, d->fields_len, letter, &len);
	return !text && letter == 'M' ? d->message : text;
}

/* Append C, M and N, which come first. They are the record's own, but a long message is complete only in
 * the list of fields. */
static int
put_own_fields(struct cnc_buf *b, const struct cnc_diag *d)
{
	size_t len;
	const char *text = find_field(d->fields, d->fields_len, 'M', &len);
	char native[16];
	int r;

	r = cnc_diag_put_field(b, 'C', d->sqlstate, 5);
	if (r < 0)
		return r;
	if (!text) {
		text = d->message;
		len = strlen(text);
	}
	r = cnc_diag_put_field(b, 'M', text, len);
	if (r < 0 || d->native == 0)
		return r;
	len = (size_t)snprintf(native, sizeof(native), "%d", (int)d->native);
	return cnc_diag_put_field(b, 'N', native, len);
}

int
cnc_diag_put(struct cnc_buf *b, const struct cnc_diag *d)
{
	size_t before = cnc_buf_len(b);
	struct cnc_reader fields;
	const char *text;
	size_t len;
	char letter;
	int r;

	r = put_own_fields(b, d);
	cnc_reader_init(&fields, d->fields, d->fields_len);
	while (r == CENOTE_OK && (letter = next_field(&fields, &text, &len))) {
		if (letter != 'C' && letter != 'M' && letter != 'N')
			r = cnc_diag_put_field(b, letter, text, len);
	}
	if (r < 0)
		cnc_buf_truncate(b, before);
	return r;
}

int
cnc_diag_put_field(struct cnc_buf *b, char letter, const char *text, size_t len)
{
	size_t before = cnc_buf_len(b);
	int r;

	r = cnc_buf_u8(b, (uint8_t)letter);
	if (r < 0)
		return r;
	r = cnc_buf_str(b, text, len);
	if (r < 0)
		cnc_buf_truncate(b, before);
	return r;
}
