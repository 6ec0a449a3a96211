/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_msg.h"

#include <string.h>

/* The functions here are made from the schema, field by field and by name, so they do not depend on
 * lib/protocol/msg.c. */

#define SHOW(kind, name) ", " #kind " " #name
#define X(UPPER, lower, code, from)                                                      \
	{ code, (#from)[0], #UPPER, "" CNP_FIELDS_##UPPER(SHOW) },
const struct cnt_schema cnt_schema[] = { CNP_MSG_LIST(X) };
#undef X

const size_t cnt_n_schema = sizeof cnt_schema / sizeof *cnt_schema;

static uint64_t
number(struct cnt_random *rnd)
{
	static const uint64_t edges[] = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff,
		0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX };

	if (cnt_random_below(rnd, 4) == 0)
		return edges[cnt_random_below(rnd, sizeof edges / sizeof *edges)];
	return cnt_random_u64(rnd);
}

static struct cnp_str
text(struct cnt_random *rnd, struct cnt_msg *m, size_t *n_texts)
{
	struct cnp_str s = { NULL, 0 };

	if (cnt_random_below(rnd, 8) == 0)
		return s;
	s.n = cnt_random_size(rnd, CNT_MSG_TEXT_MAX);
	s.p = m->text[*n_texts];
	cnt_random_bytes(rnd, m->text[*n_texts], s.n);
	(*n_texts)++;
	return s;
}

#define MAKE_U8(v)       v = (uint8_t)number(rnd)
#define MAKE_U16(v)      v = (uint16_t)number(rnd)
#define MAKE_U32(v)      v = (uint32_t)number(rnd)
#define MAKE_U64(v)      v = number(rnd)
#define MAKE_I32(v)      v = (int32_t)number(rnd)
#define MAKE_I64(v)      v = (int64_t)number(rnd)
#define MAKE_STR(v)      v = text(rnd, ret_msg, &n_texts)
#define MAKE(kind, name) MAKE_##kind(self->name);
#define X(UPPER, lower, number_, from)                                                   \
	static void make_##lower(struct cnt_random *rnd, struct cnt_msg *ret_msg)        \
	{                                                                                \
		struct cnp_##lower *self = &ret_msg->msg.as.lower;                       \
		size_t n_texts = 0;                                                      \
		CNP_FIELDS_##UPPER(MAKE) self->none = 0;                                 \
		(void)rnd;                                                               \
		(void)n_texts;                                                           \
	}
CNP_MSG_LIST(X)
#undef X

void
cnt_msg_random(struct cnt_random *rnd, uint8_t code, struct cnt_msg *ret_msg)
{
	static void (*const make[256])(struct cnt_random *, struct cnt_msg *) = {
#define X(UPPER, lower, number_, from) [number_] = make_##lower,
		CNP_MSG_LIST(X)
#undef X
	};

	ret_msg->msg.code = code;
	make[code](rnd, ret_msg);
}

static int
same_text(struct cnp_str a, struct cnp_str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

#define SAME_U8(a, b)    ((a) == (b))
#define SAME_U16(a, b)   ((a) == (b))
#define SAME_U32(a, b)   ((a) == (b))
#define SAME_U64(a, b)   ((a) == (b))
#define SAME_I32(a, b)   ((a) == (b))
#define SAME_I64(a, b)   ((a) == (b))
#define SAME_STR(a, b)   same_text(a, b)
#define SAME(kind, name) &&SAME_##kind(p->name, q->name)
#define X(UPPER, lower, number_, from)                                                   \
	case number_: {                                                                  \
		const struct cnp_##lower *p = &a->as.lower, *q = &b->as.lower;           \
		return p != q CNP_FIELDS_##UPPER(SAME);                                  \
	}

int
cnt_msg_equal(const struct cnp_msg *a, const struct cnp_msg *b)
{
	if (a->code != b->code)
		return 0;
	switch (a->code) {
		CNP_MSG_LIST(X)
	default:
		return 0;
	}
}
#undef X
