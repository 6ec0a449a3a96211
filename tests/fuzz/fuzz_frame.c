/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "protocol/frame.h"

/* A frame and its message that are accepted encode to the very bytes that were read. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *payload = data + CNP_FRAME_HEADER;
	struct cnp_frame f;
	struct cnp_msg m;
	struct cnc_buf b;
	size_t whole;

	if (size < CNP_FRAME_HEADER ||
		cnp_frame_decode(data, CNP_FRAME_MAX, &f) != CENOTE_OK)
		return 0;
	FUZZ_CHECK(cnp_msg_name(f.code) && cnp_msg_is_plausible(f.code, f.len));
	if (f.len > size - CNP_FRAME_HEADER ||
		cnp_msg_decode(f.code, payload, f.len, &m) != CENOTE_OK)
		return 0;
	/* the schema does not describe the payload of these messages */
	if (f.code == CNP_MSG_ROWS || f.code == CNP_MSG_COLUMNS ||
		f.code == CNP_MSG_PARAMS)
		return 0;
	whole = CNP_FRAME_HEADER + f.len;
	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX / 2);
	FUZZ_CHECK(cnp_frame_put(&b, f.flags, f.request, &m) == CENOTE_OK);
	FUZZ_CHECK(cnc_buf_len(&b) == whole);
	FUZZ_CHECK(memcmp(cnc_buf_head(&b), data, whole) == 0);
	cnc_buf_finish(&b);
	return 0;
}
