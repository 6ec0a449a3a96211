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

/* Check that only blanks, comments and the case of words have changed. The text of an executed comment must not. */
static void
compare(struct cnc_sql x, struct cnc_sql y)
{
	struct cnc_sql_token t, u;

	do {
		t = cnc_sql_next(&x);
		u = cnc_sql_next(&y);
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
	int status;

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
			compare(cnc_sql_begin(sql, size - 1,
					how.dialect & ~(uint32_t)CNC_SQL_EXECUTED),
				cnc_sql_begin(text, cnc_buf_len(&to),
					how.dialect & ~(uint32_t)CNC_SQL_EXECUTED));
		/* A second time changes nothing. But the last byte of a name and its new backquote may be one character in some
		 * character sets of MySQL; then the text is left alone. */
		status = cnd_respell(&how, text, cnc_buf_len(&to), &again, &diag);
		if (status == CENOTE_DONE && how.dialect == CNC_SQL_MYSQL)
			goto out;
		FUZZ_CHECK(status == CENOTE_OK);
		FUZZ_CHECK(cnc_buf_len(&again) == cnc_buf_len(&to));
		FUZZ_CHECK(cnc_buf_len(&to) == 0 ||
			   memcmp(cnc_buf_head(&again), text, cnc_buf_len(&to)) == 0);
	}
out:
	cnc_buf_finish(&to);
	cnc_buf_finish(&again);
	return 0;
}
