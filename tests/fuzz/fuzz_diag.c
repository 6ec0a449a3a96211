/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "core/diag.h"
#include "core/sqlstate.h"

/* A record that is written and read again is the same. */
static void
check_round_trip(const struct cnc_diag *d)
{
	struct cnc_diag again;
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX);
	FUZZ_CHECK(cnc_diag_put(&b, d) == CENOTE_OK);
	cnc_diag_init(&again, &cnc_mem_default);
	FUZZ_CHECK(cnc_diag_set_fields(&again, cnc_buf_head(&b), cnc_buf_len(&b)) ==
		   CENOTE_OK);
	FUZZ_CHECK(strcmp(again.sqlstate, d->sqlstate) == 0);
	FUZZ_CHECK(strcmp(again.message, d->message) == 0);
	FUZZ_CHECK(again.native == d->native);
	for (int letter = 1; letter < 128; letter++) {
		const char *a = cnc_diag_field(d, (char)letter);
		const char *b2 = cnc_diag_field(&again, (char)letter);

		if (letter != 'N')
			FUZZ_CHECK(!a == !b2 && (!a || strcmp(a, b2) == 0));
	}
	cnc_diag_finish(&again);
	cnc_buf_finish(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnc_diag d, copy, lean;
	int r;

	cnc_diag_init(&d, &cnc_mem_default);
	cnc_diag_init(&copy, &cnc_mem_default);
	cnc_diag_init(&lean, NULL);
	r = cnc_diag_set_fields(&d, data, size);
	FUZZ_CHECK(r == CENOTE_OK || r == CENOTE_ERR_PROTOCOL);
	FUZZ_CHECK(cnc_diag_set_fields(&lean, data, size) == r);
	FUZZ_CHECK(strcmp(lean.message, d.message) == 0);
	FUZZ_CHECK(cnc_sqlstate_is_valid(d.sqlstate));
	FUZZ_CHECK(cnc_diag_field(&d, 'C') && cnc_diag_field(&d, 'M'));
	FUZZ_CHECK(r == CENOTE_OK || strcmp(d.sqlstate, "00000") == 0);
	cnc_diag_copy(&copy, &d);
	for (int letter = 1; letter < 128; letter++) {
		const char *a = cnc_diag_field(&d, (char)letter);
		const char *b = cnc_diag_field(&copy, (char)letter);

		FUZZ_CHECK(!a == !b && (!a || strcmp(a, b) == 0));
	}
	if (r == CENOTE_OK)
		check_round_trip(&copy);
	cnc_diag_finish(&lean);
	cnc_diag_finish(&copy);
	cnc_diag_finish(&d);
	return 0;
}
