/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "tools/cenoted/backends/mysql/my.h"
#include "tools/cenoted/backends/mysql/values.h"

#define COLUMNS_MAX 12u

typedef int row_fn(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	const uint8_t *packet, size_t len);

/* Write one row. A row that fails leaves nothing in the batch. */
static void
put(row_fn *row, const struct cnp_column *columns, uint32_t n, const uint8_t *p,
	size_t len)
{
	struct cnc_batch w;
	struct cnc_buf out;
	uint32_t n_rows = 0;
	int r;

	cnc_buf_init(&out, &cnc_mem_default, 1 << 16);
	FUZZ_CHECK(cnc_batch_begin(&w, &out, n) == CENOTE_OK);
	FUZZ_CHECK(cnc_batch_row(&w) == CENOTE_OK);
	r = row(&w, columns, n, p, len);
	FUZZ_CHECK(r == CENOTE_OK || r == CENOTE_ERR_PROTOCOL);
	if (r == CENOTE_OK)
		cnc_batch_row_done(&w);
	else
		cnc_batch_row_undo(&w);
	(void)cnc_batch_end(&w);
	FUZZ_CHECK(cnc_batch_check(cnc_buf_head(&out), cnc_buf_len(&out), n, NULL, NULL,
			   &n_rows) == CENOTE_OK);
	FUZZ_CHECK(n_rows == (r == CENOTE_OK));
	cnc_buf_finish(&out);
}

static int
plain_row(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	const uint8_t *packet, size_t len)
{
	(void)columns;
	return cnd_my_plain_row(w, n, packet, len);
}

/* The input: the number of columns; type, flags and format of each; then the packet. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnp_column columns[COLUMNS_MAX];
	uint32_t n, i;
	MYSQL_FIELD f;

	if (size < 1 || size > 4096)
		return 0;
	n = 1 + data[0] % COLUMNS_MAX;
	if (size < 1 + (size_t)3 * n)
		return 0;
	for (i = 0; i < n; i++) {
		const uint8_t *c = data + 1 + (size_t)3 * i;

		memset(&f, 0, sizeof(f));
		f.type = (enum enum_field_types)c[0];
		f.flags = c[1];
		f.charsetnr = 33;
		f.length = 255;
		cnd_my_column(&f, c[2] % 3, &columns[i]);
	}
	data += 1 + (size_t)3 * n;
	size -= 1 + (size_t)3 * n;
	put(cnd_my_text_row, columns, n, data, size);
	put(plain_row, columns, n, data, size);
	put(cnd_my_binary_row, columns, n, data, size);
	return 0;
}
