/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "fuzz.h"
#include "wire.h"

/* What a PostgreSQL server may send: messages one after the other, each read as every kind. */

static void
read_columns(const struct cnd_pg_msg *m)
{
	struct cnd_pg_reader r;
	struct cnd_pg_field f;
	uint16_t n;

	cnd_pg_reader_init(&r, m);
	n = cnd_pg_read_count(&r);
	for (uint16_t i = 0; i < n && !r.bad; i++) {
		cnd_pg_read_field(&r, &f);
		FUZZ_CHECK(f.name[f.name_len] == 0);
	}
	FUZZ_CHECK(!r.bad || cnd_pg_reader_end(&r) < 0);
}

static void
read_whole(const struct cnd_pg_msg *m)
{
	const char *text;
	size_t len;
	int64_t affected;

	if (cnd_pg_read_tag(m, &text, &len, &affected) == CENOTE_OK) {
		FUZZ_CHECK(strlen(text) == len);
		FUZZ_CHECK(affected >= -1);
	}
	(void)cnd_pg_read_ready(m);
	for (int letter = 'A'; letter <= 'z'; letter++) {
		text = cnd_pg_error_field(m, (uint8_t)letter);
		FUZZ_CHECK(text == NULL || strlen(text) < m->len);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnd_pg_msg m;
	size_t need;

	while (size > 0) {
		int r = cnd_pg_msg_next(data, size, &m, &need);

		if (r <= 0) {
			FUZZ_CHECK(r < 0 || need > size);
			return 0;
		}
		FUZZ_CHECK((size_t)r == need && need == m.len + CND_PG_HEADER);
		read_columns(&m);
		read_whole(&m);
		data += r;
		size -= (size_t)r;
	}
	return 0;
}
