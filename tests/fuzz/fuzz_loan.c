/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "borrower/borrower.h"

/* The facts of the page of a loan. The texts that they give lie in memory of the ledger, and end with a zero byte. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t max = CNP_LOAN_SIZE - offsetof(struct cnp_loan, facts);
	struct cnp_loan *page = cnc_calloc(&cnc_mem_default, 1, CNP_LOAN_SIZE);
	struct cnd_page_facts f;
	struct cnd_ledger ledger;

	if (page == NULL)
		return 0;
	cnd_ledger_init(&ledger, &cnc_mem_default);
	page->version = CNP_LOAN_VERSION;
	page->facts_len = (uint32_t)size;
	memcpy(page->facts, data, size < max ? size : max);
	if (cnd_page_facts(page, &ledger.mem, &f) == CENOTE_OK) {
		FUZZ_CHECK(size <= max);
		FUZZ_CHECK(f.backend.p[f.backend.n] == '\0');
		FUZZ_CHECK(f.attached.pool.p[f.attached.pool.n] == '\0');
		FUZZ_CHECK(f.attached.backend.p[f.attached.backend.n] == '\0');
		FUZZ_CHECK(f.backend.n + f.attached.parameters.n < size);
	} else {
		FUZZ_CHECK(ledger.first == NULL);
	}
	cnd_ledger_finish(&ledger);
	cnc_free(&cnc_mem_default, page);
	return 0;
}
