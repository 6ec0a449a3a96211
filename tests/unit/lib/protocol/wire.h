/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_WIRE_H
#define CNT_WIRE_H

#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/batch.h"
#include "protocol/columns.h"
#include "protocol/frame.h"

/* The least well-formed message of a code: all fields are 0 or empty. */
static inline void
wire_least(struct cnp_msg *m, uint8_t code)
{
	memset(m, 0, sizeof *m);
	m->code = code;
	if (code == CNP_MSG_HELLO)
		m->as.hello.version = 1;
}

static inline void
wire_put(struct cnc_buf *b, uint8_t flags, uint32_t request, const struct cnp_msg *m)
{
	assert_ok(cnp_frame_put(b, flags, request, m));
}

/* One column, one row, no parameters: the payloads that the schema does not describe. */
static inline void
wire_put_list(struct cnc_buf *b, uint8_t code, uint32_t request)
{
	static const struct cnp_column column = CNP_COLUMN_INIT;
	struct cnc_batch w;
	size_t mark;

	assert_ok(cnp_frame_begin(b, code, 0, request, &mark));
	if (code == CNP_MSG_COLUMNS) {
		assert_ok(cnp_columns_encode(b, &column, 1));
	} else if (code == CNP_MSG_PARAMS) {
		assert_ok(cnp_params_encode(b, NULL, 0));
	} else {
		assert_ok(cnc_batch_begin(&w, b, 1));
		assert_ok(cnc_batch_row(&w));
		assert_ok(cnc_batch_put(&w, "value", 5));
		cnc_batch_row_done(&w);
		(void)cnc_batch_end(&w);
	}
	assert_ok(cnp_frame_end(b, mark));
}

/* A frame with the least payload of its code. */
static inline void
wire_put_code(struct cnc_buf *b, uint8_t code, uint32_t request)
{
	struct cnp_msg m;

	if (code == CNP_MSG_COLUMNS || code == CNP_MSG_ROWS || code == CNP_MSG_PARAMS) {
		wire_put_list(b, code, request);
		return;
	}
	wire_least(&m, code);
	wire_put(b, 0, request, &m);
}

/* The next frame at *at; *at moves to the frame's end. */
static inline void
wire_next(const uint8_t *bytes, size_t n, size_t *at, struct cnp_frame *ret_frame,
	struct cnp_msg *ret_msg)
{
	assert_true(n - *at >= CNP_FRAME_HEADER);
	assert_ok(cnp_frame_decode(bytes + *at, CNP_FRAME_MAX, ret_frame));
	*at += CNP_FRAME_HEADER;
	assert_true(n - *at >= ret_frame->len);
	assert_ok(cnp_msg_decode(ret_frame->code, bytes + *at, ret_frame->len, ret_msg));
	*at += ret_frame->len;
}

#endif
