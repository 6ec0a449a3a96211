/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ErrorResponse or NoticeResponse is a list of (letter, text, zero byte), and a zero byte. The
 * letters are the same as in our own diagnostics. Text is passed on unchanged: in UTF-8, unless the
 * client asked for another encoding.
 */
#include "pg.h"

#define KNOWN_LETTERS "SVCMDHPpqWstcdnFLR"

/* The fields cannot grow by more: each has four bytes more in our form than in the server's. */
#define GROWTH_MAX 128u

/* The unread rest of a body. */
struct body {
	const uint8_t *p;
	const uint8_t *end;
};

struct field {
	char letter;
	const char *text; /* a zero byte follows */
	size_t len;
};

/* CENOTE_ROW: a field. CENOTE_DONE: the end. CENOTE_ERR_PROTOCOL: the body is malformed. */
static int
next_field(struct body *b, struct field *ret_field)
{
	const uint8_t *zero;

	if (b->p == b->end)
		return CENOTE_ERR_PROTOCOL;
	if (*b->p == 0)
		return b->p + 1 == b->end ? CENOTE_DONE : CENOTE_ERR_PROTOCOL;
	zero = memchr(b->p, 0, (size_t)(b->end - b->p));
	if (!zero)
		return CENOTE_ERR_PROTOCOL;
	ret_field->letter = (char)b->p[0];
	ret_field->text = (const char *)b->p + 1;
	ret_field->len = (size_t)(zero - b->p) - 1;
	b->p = zero + 1;
	return CENOTE_ROW;
}

/* Find the first field with that letter. 1; 0: there is none, or the body is malformed before it. */
static int
find_field(const uint8_t *body, size_t len, char letter, struct field *ret_field)
{
	struct body b = { body, body + len };
	struct field f;

	while (next_field(&b, &f) == CENOTE_ROW) {
		if (f.letter == letter) {
			*ret_field = f;
			return 1;
		}
	}
	return 0;
}

/* Append the fields in our own form. Take each letter once. */
static int
put_fields(struct cnc_buf *out, const uint8_t *body, size_t len)
{
	struct body b = { body, body + len };
	uint32_t seen = 0;
	struct field f;
	int r;

	while ((r = next_field(&b, &f)) == CENOTE_ROW) {
		const char *known = strchr(KNOWN_LETTERS, f.letter);
		uint32_t bit;

		if (!known)
			continue;
		bit = 1u << (known - KNOWN_LETTERS);
		if (seen & bit)
			continue;
		seen |= bit;
		r = cnc_diag_put_field(out, f.letter, f.text, f.len);
		if (r < 0)
			return r;
	}
	return r == CENOTE_DONE ? CENOTE_OK : r;
}

/* There is no memory for the fields: set the SQLSTATE and the message only. */
static void
set_short(struct cnc_diag *d, const uint8_t *body, size_t len)
{
	struct field state = { 'C', CNC_SQLSTATE(GENERAL), 5 };
	struct field message = { 'M', "", 0 };

	(void)find_field(body, len, 'C', &state);
	(void)find_field(body, len, 'M', &message);
	cnc_diag_set(d, state.text, "%s", message.text);
}

int
cnd_pg_diag(struct cnc_diag *d, const uint8_t *body, size_t len, const char *server)
{
	size_t server_len = server ? strlen(server) : 0;
	struct cnc_buf fields;
	int r;

	cnc_buf_init(&fields, d->mem ? d->mem : &cnc_mem_default,
		len + server_len + GROWTH_MAX);
	r = put_fields(&fields, body, len);
	if (r == CENOTE_OK && server_len > 0)
		r = cnc_diag_put_field(&fields, 'B', server, server_len);
	if (r == CENOTE_OK)
		r = cnc_diag_set_fields(d, cnc_buf_head(&fields), cnc_buf_len(&fields));
	cnc_buf_finish(&fields);
	if (r == CENOTE_ERR_PROTOCOL) {
		cnc_diag_set(d, CNC_SQLSTATE(PROTOCOL),
			"the server sent an error message that is not well formed");
		return r;
	}
	if (r < 0)
		set_short(d, body, len);
	return CENOTE_OK;
}

void
cnd_pg_diag_add(struct cnc_diag *d, char letter, const char *text)
{
	struct cnc_buf fields;
	size_t len = text ? strlen(text) : 0;

	if (!text || !d->fields)
		return;
	cnc_buf_init(&fields, d->mem ? d->mem : &cnc_mem_default,
		d->fields_len + len + GROWTH_MAX);
	if (cnc_buf_append(&fields, d->fields, d->fields_len) == CENOTE_OK &&
		cnc_diag_put_field(&fields, letter, text, len) == CENOTE_OK)
		(void)cnc_diag_set_fields(d, cnc_buf_head(&fields), cnc_buf_len(&fields));
	cnc_buf_finish(&fields);
}

int
cnd_pg_is_fatal(const uint8_t *body, size_t len)
{
	struct field f;

	/* Field S is in the server's language. Field V is not translated, but came only with PostgreSQL 9.6. */
	if (!find_field(body, len, 'V', &f) && !find_field(body, len, 'S', &f))
		return 0;
	return strcmp(f.text, "FATAL") == 0 || strcmp(f.text, "PANIC") == 0;
}
