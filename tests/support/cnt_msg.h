/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_MSG_H
#define CNT_MSG_H

#include "protocol/msg.h"
#include "support/cnt_random.h"

/* The longest text of a random message. */
#define CNT_MSG_TEXT_MAX 64u
/* The most texts in one message. */
#define CNT_MSG_TEXTS    16u

/* A message with random values in all its fields; its text is stored after it. */
struct cnt_msg {
	struct cnp_msg msg;
	char text[CNT_MSG_TEXTS][CNT_MSG_TEXT_MAX + 1];
};

/* One message of the schema, lib/protocol/msg_list.h. */
struct cnt_schema {
	uint8_t code;
	char from;
	const char *name;
	const char *fields; /* "U32 statement, STR sql" */
};

extern const struct cnt_schema cnt_schema[];
extern const size_t cnt_n_schema;

void cnt_msg_random(struct cnt_random *rnd, uint8_t code, struct cnt_msg *ret_msg);
/* Whether the members of this kind of message have the same values. */
int cnt_msg_equal(const struct cnp_msg *a, const struct cnp_msg *b);

#endif
