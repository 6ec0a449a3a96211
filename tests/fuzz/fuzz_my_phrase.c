/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "shims/libmysql/phrase.h"

/* White space after a statement changes nothing, and a value is a part of the text. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char value[CMY_PHRASE_VALUE_MAX], same[CMY_PHRASE_VALUE_MAX];
	/* exactly as long as the text, so that a read beyond it is seen */
	char *sql = malloc(size > 0 ? size : 1), *longer = malloc(size + 2);
	enum cmy_phrase phrase;

	FUZZ_CHECK(sql && longer);
	memcpy(sql, data, size);
	memcpy(longer, data, size);
	memcpy(longer + size, " \n", 2);
	phrase = cmy_phrase_read(sql, size, value);
	FUZZ_CHECK(strlen(value) < sizeof(value));
	FUZZ_CHECK(value[0] == '\0' || memmem(sql, size, value, strlen(value)));
	FUZZ_CHECK(cmy_phrase_read(longer, size + 2, same) == phrase);
	FUZZ_CHECK(strcmp(value, same) == 0);
	free(sql);
	free(longer);
	return 0;
}
