/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol/msg.h"

#include <string.h>

#include "protocol/frame.h"

/*
 * The schema as data: a list of {kind, offset} for each message, which one loop
 * interprets. The lists are inside functions, because only there can a local typedef tell
 * offsetof() the struct of the field list.
 */
enum kind {
	KIND_END,
	KIND_U8,
	KIND_U16,
	KIND_U32,
	KIND_U64,
	KIND_I32,
	KIND_I64,
	KIND_STR
};

struct field {
	uint16_t kind;
	uint16_t offset;
};

#define FIELD(kind, name) { KIND_##kind, offsetof(self, name) },
#define X(UPPER, lower, code, from)                                                      \
	static const struct field *fields_##lower(void)                                  \
	{                                                                                \
		typedef struct cnp_##lower self;                                         \
		static const struct field list[] = { CNP_FIELDS_##UPPER(FIELD){          \
			KIND_END, offsetof(self, none) } };                              \
		return list;                                                             \
	}
CNP_MSG_LIST(X)
#undef X

/* The size of each kind on the wire; for a STR, without its text. */
enum {
	WIDTH_U8 = 1,
	WIDTH_U16 = 2,
	WIDTH_U32 = 4,
	WIDTH_U64 = 8,
	WIDTH_I32 = 4,
	WIDTH_I64 = 8,
	WIDTH_STR = 5
};

static const uint8_t width[] = { 0, WIDTH_U8, WIDTH_U16, WIDTH_U32, WIDTH_U64, WIDTH_I32,
	WIDTH_I64, WIDTH_STR };

enum {
	FROM_C = 'C',
	FROM_S = 'S',
	FROM_B = 'B'
};

struct info {
	const char *name;
	const struct field *(*fields)(void);
	uint16_t min; /* the shortest payload */
	char from;
	uint8_t n_str;
};

#define CODE_END        0x60
#define ADD_WIDTH(k, n) +WIDTH_##k
#define ADD_STR(k, n)   +(KIND_##k == KIND_STR)

static const struct info infos[CODE_END] = {
#define X(UPPER, lower, code, from)                                                      \
	[code] = { #UPPER, fields_##lower, 0 CNP_FIELDS_##UPPER(ADD_WIDTH), FROM_##from, \
		0 CNP_FIELDS_##UPPER(ADD_STR) },
	CNP_MSG_LIST(X)
#undef X
};

static const struct info *
info_of(uint8_t code)
{
	return code < CODE_END && infos[code].name ? &infos[code] : NULL;
}

struct cnp_str
cnp_str(const char *text)
{
	struct cnp_str s = { text ? text : "", text ? strlen(text) : 0 };

	return s;
}

const char *
cnp_msg_name(uint8_t code)
{
	const struct info *info = info_of(code);

	return info ? info->name : NULL;
}

char
cnp_msg_from(uint8_t code)
{
	const struct info *info = info_of(code);

	return (char)(info ? info->from : 0);
}

/* Messages whose payload is a list or a batch, which the schema does not describe. */
static size_t
list_min(uint8_t code)
{
	switch (code) {
	case CNP_MSG_COLUMNS:
	case CNP_MSG_PARAMS:
		return 4;
	case CNP_MSG_ROWS:
		return 8;
	default:
		return 0;
	}
}

int
cnp_msg_is_plausible(uint8_t code, size_t len)
{
	const struct info *info = info_of(code);
	size_t list;

	if (!info)
		return 0;
	list = list_min(code);
	if (list > 0)
		return len >= list;
	return info->n_str > 0 ? len >= info->min : len == info->min;
}

int
cnp_msg_size(const struct cnp_msg *m, size_t *ret_size)
{
	const struct info *info = info_of(m->code);
	const char *as = (const char *)&m->as;
	const struct field *f;
	uint64_t size;

	if (!info)
		return CENOTE_ERR_ARG;
	size = info->min;
	for (f = info->fields(); f->kind != KIND_END && info->n_str > 0; f++) {
		if (f->kind == KIND_STR)
			size += ((const struct cnp_str *)(const void *)(as + f->offset))
					->n;
		/* Checked at each step, so the sum cannot overflow. */
		if (size > CNP_FRAME_MAX)
			return CENOTE_ERR_LIMIT;
	}
	*ret_size = (size_t)size;
	return CENOTE_OK;
}

static uint8_t *
write_str(uint8_t *p, const struct cnp_str *s)
{
	cnc_put_u32(p, (uint32_t)s->n);
	if (s->n > 0)
		memcpy(p + 4, s->p, s->n);
	p[4 + s->n] = 0;
	return p + 5 + s->n;
}

static uint8_t *
write_field(uint8_t *p, const struct field *f, const void *value)
{
	switch (f->kind) {
	case KIND_U8:
		p[0] = *(const uint8_t *)value;
		break;
	case KIND_U16:
		cnc_put_u16(p, *(const uint16_t *)value);
		break;
	case KIND_U32:
		cnc_put_u32(p, *(const uint32_t *)value);
		break;
	case KIND_I32:
		cnc_put_u32(p, (uint32_t) * (const int32_t *)value);
		break;
	case KIND_U64:
		cnc_put_u64(p, *(const uint64_t *)value);
		break;
	case KIND_I64:
		cnc_put_u64(p, (uint64_t) * (const int64_t *)value);
		break;
	default:
		return write_str(p, value);
	}
	return p + width[f->kind];
}

void
cnp_msg_write(uint8_t *room, const struct cnp_msg *m)
{
	const char *as = (const char *)&m->as;
	const struct field *f;

	for (f = infos[m->code].fields(); f->kind != KIND_END; f++)
		room = write_field(room, f, as + f->offset);
}

int
cnp_msg_encode(struct cnc_buf *b, const struct cnp_msg *m)
{
	uint8_t *room;
	size_t size;
	int r;

	r = cnp_msg_size(m, &size);
	if (r < 0)
		return r;
	r = cnc_buf_reserve(b, size, &room);
	if (r < 0)
		return r;
	cnp_msg_write(room, m);
	cnc_buf_commit(b, size);
	return CENOTE_OK;
}

static void
read_field(struct cnc_reader *r, const struct field *f, void *value)
{
	struct cnp_str *s;

	switch (f->kind) {
	case KIND_U8:
		*(uint8_t *)value = cnc_read_u8(r);
		break;
	case KIND_U16:
		*(uint16_t *)value = cnc_read_u16(r);
		break;
	case KIND_U32:
		*(uint32_t *)value = cnc_read_u32(r);
		break;
	case KIND_I32:
		*(int32_t *)value = (int32_t)cnc_read_u32(r);
		break;
	case KIND_U64:
		*(uint64_t *)value = cnc_read_u64(r);
		break;
	case KIND_I64:
		*(int64_t *)value = (int64_t)cnc_read_u64(r);
		break;
	default:
		s = value;
		s->p = cnc_read_str(r, &s->n);
	}
}

int
cnp_msg_decode(uint8_t code, const uint8_t *payload, size_t len, struct cnp_msg *ret_msg)
{
	const struct info *info = info_of(code);
	char *as = (char *)&ret_msg->as;
	const struct field *f;
	struct cnc_reader r;

	if (!info || !cnp_msg_is_plausible(code, len))
		return CENOTE_ERR_PROTOCOL;
	ret_msg->code = code;
	if (list_min(code) > 0)
		return CENOTE_OK;
	cnc_reader_init(&r, payload, len);
	for (f = info->fields(); f->kind != KIND_END; f++)
		read_field(&r, f, as + f->offset);
	return cnc_reader_end(&r);
}

int
cnp_pairs_put(struct cnc_buf *b, const char *name, const char *value)
{
	size_t before = cnc_buf_len(b);
	int r;

	r = cnc_buf_str(b, name, strlen(name));
	if (r < 0)
		return r;
	r = cnc_buf_str(b, value, strlen(value));
	if (r < 0)
		cnc_buf_truncate(b, before);
	return r;
}

int
cnp_pairs_next(struct cnc_reader *r, struct cnp_str *ret_name, struct cnp_str *ret_value)
{
	struct cnp_str name, value;

	if (r->p == r->end)
		return r->bad ? CENOTE_ERR_PROTOCOL : 0;
	name.p = cnc_read_str(r, &name.n);
	value.p = cnc_read_str(r, &value.n);
	if (r->bad)
		return CENOTE_ERR_PROTOCOL;
	*ret_name = name;
	*ret_value = value;
	return 1;
}
