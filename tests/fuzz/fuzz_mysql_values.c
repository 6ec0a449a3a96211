/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "tools/cenoted/backends/mysql/my.h"
#include "tools/cenoted/backends/mysql/values.h"

static void
put(const struct cnp_column *c, int is_binary, const uint8_t *p, size_t n)
{
	struct cnc_batch w;
	struct cnc_buf out;
	int r;

	cnc_buf_init(&out, &cnc_mem_default, 1 << 16);
	FUZZ_CHECK(cnc_batch_begin(&w, &out, 1) == CENOTE_OK);
	FUZZ_CHECK(cnc_batch_row(&w) == CENOTE_OK);
	r = is_binary ? cnd_my_binary_put(&w, c, p, n)
		      : cnd_my_text_put(&w, c, (const char *)p, n);
	FUZZ_CHECK(r == CENOTE_OK || (is_binary && r == CENOTE_ERR_PROTOCOL));
	if (r == CENOTE_OK)
		cnc_batch_row_done(&w);
	else
		cnc_batch_row_undo(&w);
	(void)cnc_batch_end(&w);
	FUZZ_CHECK(cnc_batch_check(cnc_buf_head(&out), cnc_buf_len(&out), 1, NULL, NULL,
			   &(uint32_t){ 0 }) == CENOTE_OK);
	cnc_buf_finish(&out);
}

/* A column and a value as a server might send them: type, flags, decimals, length, then the value. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t packed[CND_MY_TIME_MAX];
	struct cnp_column c;
	MYSQL_FIELD f;
	MYSQL_TIME t;
	uint8_t format;

	if (size < 8 || size > 4096)
		return 0;
	memset(&f, 0, sizeof(f));
	f.type = (enum enum_field_types)data[0];
	f.flags = (unsigned)(data[1] | data[2] << 8);
	f.decimals = data[3];
	f.length = (unsigned long)(data[4] | data[5] << 8);
	f.charsetnr = data[6];
	format = data[7] % 3;
	data += 8;
	size -= 8;
	cnd_my_column(&f, format, &c);
	FUZZ_CHECK(c.type <= CENOTE_TYPE_OTHER);
	put(&c, 0, data, size);
	put(&c, 1, data, size);
	/* A time that can be unpacked has one packed form, which can be unpacked again. */
	if (cnd_my_time_unpack(c.native_type, data, size, &t) == CENOTE_OK) {
		size_t n = cnd_my_time_pack(c.native_type, &t, packed);

		FUZZ_CHECK(n <= sizeof(packed));
		FUZZ_CHECK(cnd_my_time_unpack(c.native_type, packed, n, &t) == CENOTE_OK);
	}
	return 0;
}
