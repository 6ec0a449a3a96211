/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Write a text in another way (query/respell.c). The first byte chooses how; the rest is SQL. What comes out must have the same
 * tokens for the server, and must not change again.
 */
#include "fuzz.h"

#include <cenote/cenote.h>
#include <string.h>

#include "core/sql.h"
#include "query/respell.h"

static struct cnc_sql_token
next(struct cnc_sql *x)
{
	struct cnc_sql_token t;

	/* the content of an executed comment is kept as it is */
	do
		t = cnc_sql_next(x);
	while (t.kind == CNC_SQL_MARK);
	return t;
}

/* Only blanks, comments and the case of words changed. */
static void
compare(struct cnc_sql x, struct cnc_sql y)
{
	struct cnc_sql_token t, u;

	do {
		t = next(&x);
		u = next(&y);
		FUZZ_CHECK((t.kind == CNC_SQL_END) == (u.kind == CNC_SQL_END));
		FUZZ_CHECK(u.kind != CNC_SQL_BAD);
		if (t.kind == CNC_SQL_TEXT)
			FUZZ_CHECK(t.n == u.n && memcmp(t.p, u.p, t.n) == 0);
		FUZZ_CHECK(t.n == u.n && t.kind == u.kind);
	} while (t.kind != CNC_SQL_END);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t dialects[] = { CNC_SQL_POSTGRESQL, CNC_SQL_MYSQL,
		CNC_SQL_SQLITE, CNC_SQL_TDS, CNC_SQL_UNKNOWN };
	struct cnd_respelling how = { .normalizes = size > 0 && (data[0] & 1) != 0 };
	const char *sql;
	struct cnc_buf to, again;
	struct cnc_diag diag;

	if (size == 0)
		return 0;
	how.dialect = dialects[(data[0] >> 1) % 5];
	how.program = (data[0] >> 4) % 5;
	sql = (const char *)data + 1;
	cnc_buf_init(&to, &cnc_mem_default, (size_t)1 << 24);
	cnc_buf_init(&again, &cnc_mem_default, (size_t)1 << 24);
	cnc_diag_init(&diag, NULL);
	if (cnd_respell(&how, sql, size - 1, &to, &diag) == CENOTE_OK) {
		const char *text = cnc_buf_len(&to) > 0 ? (char *)cnc_buf_head(&to) : "";

		if (how.program == CND_PROGRAM_AS_SERVER)
			compare(cnc_sql_begin(sql, size - 1, how.dialect),
				cnc_sql_begin(text, cnc_buf_len(&to), how.dialect));
		/* there is nothing left to do */
		FUZZ_CHECK(cnd_respell(&how, text, cnc_buf_len(&to), &again, &diag) ==
			   CENOTE_OK);
		FUZZ_CHECK(cnc_buf_len(&again) == cnc_buf_len(&to));
		FUZZ_CHECK(cnc_buf_len(&to) == 0 ||
			   memcmp(cnc_buf_head(&again), text, cnc_buf_len(&to)) == 0);
	}
	cnc_buf_finish(&to);
	cnc_buf_finish(&again);
	return 0;
}
