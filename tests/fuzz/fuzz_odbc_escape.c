/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "shims/odbc/escape.h"

/* The first byte chooses the dialect. A statement translated for PostgreSQL has no parameter marker
 * left. With is_noscan, a second translation does not change it. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cod_escape_options options = { .dialect = COD_DIALECT_OTHER };
	struct cod_statement once, twice;
	const char *state;
	char *sql;

	if (size == 0)
		return 0;
	options.dialect = (enum cod_dialect)(data[0] % COD_N_DIALECTS);
	options.is_odd = data[0] >> 7;
	sql = malloc(size);
	FUZZ_CHECK(sql != NULL);
	memcpy(sql, data + 1, size - 1);
	state = cod_escape(&options, sql, size - 1, &once);
	FUZZ_CHECK((state == NULL) == (once.text != NULL));
	FUZZ_CHECK(!state || (strlen(state) == 5 && *once.message));
	if (!state && options.dialect == COD_DIALECT_POSTGRESQL) {
		options.is_noscan = 1;
		FUZZ_CHECK(!cod_escape(&options, once.text, once.n, &twice));
		FUZZ_CHECK(twice.n_params == 0 && twice.n == once.n);
		FUZZ_CHECK(memcmp(once.text, twice.text, once.n) == 0);
		cod_statement_finish(&twice);
	}
	cod_statement_finish(&once);
	free(sql);
	return 0;
}
