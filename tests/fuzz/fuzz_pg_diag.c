/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "core/sqlstate.h"

#include "pg.h"

/* The body of a server's error message: whatever it holds becomes a valid record. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnc_diag d;
	struct cnc_buf out;
	int r;

	cnc_diag_init(&d, &cnc_mem_default);
	cnc_buf_init(&out, &cnc_mem_default, SIZE_MAX);
	r = cnd_pg_diag(&d, data, size, size % 2 ? "server" : NULL);
	FUZZ_CHECK(r == CENOTE_OK || r == CENOTE_ERR_PROTOCOL);
	FUZZ_CHECK(cnc_sqlstate_is_valid(d.sqlstate));
	FUZZ_CHECK(r == CENOTE_OK || d.message[0] != '\0');
	FUZZ_CHECK(cnc_diag_put(&out, &d) == CENOTE_OK);
	FUZZ_CHECK(cnd_pg_is_fatal(data, size) <= 1);
	cnc_buf_finish(&out);
	cnc_diag_finish(&d);
	return 0;
}
