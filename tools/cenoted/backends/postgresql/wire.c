/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of PostgreSQL's protocol, made and taken apart in memory. It does no I/O and has no state. exec.c,
 * stmt.c and run.c call it.
 */
#include "pg.h"
#include "wire.h"

int
cnd_pg_msg_next(
	const uint8_t *bytes, size_t n, struct cnd_pg_msg *ret_msg, size_t *ret_size)
{
	uint32_t len;

	*ret_size = CND_PG_HEADER;
	if (n < CND_PG_HEADER)
		return 0;
	len = cnd_pg_get_u32(bytes + 1);
	if (len < 4 || len > CND_PG_MSG_MAX)
		return CENOTE_ERR_PROTOCOL;
	*ret_size = (size_t)len + 1;
	if (n < *ret_size)
		return 0;
	*ret_msg = (struct cnd_pg_msg){ bytes[0], bytes + CND_PG_HEADER, len - 4 };
	return (int)*ret_size;
}

/* ---- reading a body ---- */

void
cnd_pg_reader_init(struct cnd_pg_reader *r, const struct cnd_pg_msg *m)
{
	*r = (struct cnd_pg_reader){ m->body, m->body + m->len, 0 };
}

static const uint8_t *
take(struct cnd_pg_reader *r, size_t n)
{
	static const uint8_t zeroes[4];
	const uint8_t *p = r->p;

	if (r->bad || (size_t)(r->end - p) < n) {
		r->bad = 1;
		return zeroes;
	}
	r->p += n;
	return p;
}

uint8_t
cnd_pg_read_u8(struct cnd_pg_reader *r)
{
	return *take(r, 1);
}

uint16_t
cnd_pg_read_u16(struct cnd_pg_reader *r)
{
	return cnd_pg_get_u16(take(r, 2));
}

uint32_t
cnd_pg_read_u32(struct cnd_pg_reader *r)
{
	return cnd_pg_get_u32(take(r, 4));
}

const char *
cnd_pg_read_text(struct cnd_pg_reader *r, size_t *ret_len)
{
	const uint8_t *p = r->p;
	const uint8_t *zero = NULL;

	if (!r->bad && p < r->end)
		zero = memchr(p, 0, (size_t)(r->end - p));
	if (zero == NULL) {
		r->bad = 1;
		*ret_len = 0;
		return "";
	}
	r->p = zero + 1;
	*ret_len = (size_t)(zero - p);
	return (const char *)p;
}

int
cnd_pg_reader_end(const struct cnd_pg_reader *r)
{
	return r->bad || r->p != r->end ? CENOTE_ERR_PROTOCOL : CENOTE_OK;
}

uint16_t
cnd_pg_read_count(struct cnd_pg_reader *r)
{
	return cnd_pg_read_u16(r);
}

void
cnd_pg_read_field(struct cnd_pg_reader *r, struct cnd_pg_field *ret_field)
{
	struct cnd_pg_field f;

	f.name = cnd_pg_read_text(r, &f.name_len);
	f.table = cnd_pg_read_u32(r);
	f.attnum = cnd_pg_read_u16(r);
	f.type = cnd_pg_read_u32(r);
	f.length = (int16_t)cnd_pg_read_u16(r);
	f.modifier = (int32_t)cnd_pg_read_u32(r);
	f.format = cnd_pg_read_u16(r);
	if (f.format > 1)
		r->bad = 1;
	*ret_field = f;
}

/* ---- whole messages ---- */

/* Whether the tag counts changed rows. Other tags count returned rows, or nothing. */
static int
counts_changes(const char *tag)
{
	static const char *const words[] = { "INSERT ", "UPDATE ", "DELETE ", "MERGE ",
		"COPY " };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strncmp(tag, words[i], strlen(words[i])) == 0)
			return 1;
	}
	return 0;
}

/* The number at the end; -1: there is none, or it has too many digits. */
static int64_t
last_number(const char *tag, size_t len)
{
	size_t first = len;
	int64_t v = 0;

	while (first > 0 && tag[first - 1] >= '0' && tag[first - 1] <= '9')
		first--;
	if (first == len || len - first > 18)
		return -1;
	for (size_t i = first; i < len; i++)
		v = v * 10 + (tag[i] - '0');
	return v;
}

int
cnd_pg_read_tag(const struct cnd_pg_msg *m, const char **ret_tag, size_t *ret_len,
	int64_t *ret_affected)
{
	struct cnd_pg_reader r;

	cnd_pg_reader_init(&r, m);
	*ret_tag = cnd_pg_read_text(&r, ret_len);
	*ret_affected = counts_changes(*ret_tag) ? last_number(*ret_tag, *ret_len) : -1;
	return cnd_pg_reader_end(&r);
}

int
cnd_pg_read_ready(const struct cnd_pg_msg *m)
{
	if (m->len != 1 || (m->body[0] != 'I' && m->body[0] != 'T' && m->body[0] != 'E'))
		return CENOTE_ERR_PROTOCOL;
	return m->body[0];
}

const char *
cnd_pg_error_field(const struct cnd_pg_msg *m, uint8_t letter)
{
	struct cnd_pg_reader r;
	size_t len;

	cnd_pg_reader_init(&r, m);
	for (;;) {
		uint8_t found = cnd_pg_read_u8(&r);
		const char *text;

		if (r.bad || found == 0)
			return NULL;
		text = cnd_pg_read_text(&r, &len);
		if (r.bad)
			return NULL;
		if (found == letter)
			return text;
	}
}

/* ---- writing ---- */

int
cnd_pg_msg_begin(struct cnc_buf *b, uint8_t type, size_t *ret_mark)
{
	uint8_t *room;
	int r = cnc_buf_reserve(b, CND_PG_HEADER, &room);

	if (r < 0)
		return r;
	*ret_mark = cnc_buf_len(b);
	room[0] = type;
	cnc_buf_commit(b, CND_PG_HEADER);
	return CENOTE_OK;
}

int
cnd_pg_msg_end(struct cnc_buf *b, size_t mark)
{
	size_t len = cnc_buf_len(b) - mark - 1;

	if (len > CND_PG_MSG_MAX)
		return CENOTE_ERR_LIMIT;
	cnd_pg_put_u32(cnc_buf_head(b) + mark + 1, (uint32_t)len);
	return CENOTE_OK;
}

int
cnd_pg_add_u8(struct cnc_buf *b, uint8_t v)
{
	return cnc_buf_append(b, &v, 1);
}

int
cnd_pg_add_u16(struct cnc_buf *b, uint16_t v)
{
	uint8_t bytes[2];

	cnd_pg_put_u16(bytes, v);
	return cnc_buf_append(b, bytes, sizeof(bytes));
}

int
cnd_pg_add_u32(struct cnc_buf *b, uint32_t v)
{
	uint8_t bytes[4];

	cnd_pg_put_u32(bytes, v);
	return cnc_buf_append(b, bytes, sizeof(bytes));
}

int
cnd_pg_add_text(struct cnc_buf *b, const char *text, size_t len)
{
	uint8_t *room;
	int r;

	if (len >= CND_PG_MSG_MAX)
		return CENOTE_ERR_LIMIT;
	r = cnc_buf_reserve(b, len + 1, &room);
	if (r < 0)
		return r;
	if (len > 0)
		memcpy(room, text, len);
	room[len] = 0;
	cnc_buf_commit(b, len + 1);
	return CENOTE_OK;
}

int
cnd_pg_add_plain(struct cnc_buf *b, uint8_t type)
{
	const uint8_t bytes[CND_PG_HEADER] = { type, 0, 0, 0, 4 };

	return cnc_buf_append(b, bytes, sizeof(bytes));
}

int
cnd_pg_add_query(struct cnc_buf *b, uint8_t type, const char *text, size_t len)
{
	size_t mark;
	int r = cnd_pg_msg_begin(b, type, &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_text(b, text, len);
	return r < 0 ? r : cnd_pg_msg_end(b, mark);
}

int
cnd_pg_add_named(
	struct cnc_buf *b, uint8_t type, uint8_t kind, const char *name, size_t len)
{
	size_t mark;
	int r = cnd_pg_msg_begin(b, type, &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_u8(b, kind);
	if (r == CENOTE_OK)
		r = cnd_pg_add_text(b, name, len);
	return r < 0 ? r : cnd_pg_msg_end(b, mark);
}

int
cnd_pg_add_execute(struct cnc_buf *b, const char *portal, uint32_t max_rows)
{
	size_t mark;
	int r = cnd_pg_msg_begin(b, 'E', &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_text(b, portal, strlen(portal));
	if (r == CENOTE_OK)
		r = cnd_pg_add_u32(b, max_rows);
	return r < 0 ? r : cnd_pg_msg_end(b, mark);
}

int
cnd_pg_add_call(
	struct cnc_buf *b, uint32_t function, const struct cnp_str *values, uint16_t n)
{
	size_t mark;
	int r = cnd_pg_msg_begin(b, 'F', &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_u32(b, function);
	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, 1);
	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, CND_PG_BINARY);
	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, n);
	for (uint16_t i = 0; i < n && r == CENOTE_OK; i++) {
		r = cnd_pg_add_u32(b, (uint32_t)values[i].n);
		if (r == CENOTE_OK)
			r = cnc_buf_append(b, values[i].p, values[i].n);
	}
	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, CND_PG_BINARY);
	return r < 0 ? r : cnd_pg_msg_end(b, mark);
}
