/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "shims/libmysql/placeholder.h"

static size_t
count(const char *p, size_t n)
{
	size_t found = 0;

	for (; n > 0; n--)
		found += *p++ == '?';
	return found;
}

/* A statement that was rewritten once stays the same when it is rewritten again, whatever the text
 * is. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *sql = malloc(size + 1), *once = malloc(CMY_PLACEHOLDER_SIZE(size)), *twice;
	size_t n, m;

	FUZZ_CHECK(sql && once);
	memcpy(sql, data, size);
	n = cmy_placeholders(sql, size, once);
	FUZZ_CHECK(n >= size && n < CMY_PLACEHOLDER_SIZE(size));
	FUZZ_CHECK(count(once, n) <= count(sql, size));
	twice = malloc(CMY_PLACEHOLDER_SIZE(n));
	FUZZ_CHECK(twice != NULL);
	m = cmy_placeholders(once, n, twice);
	FUZZ_CHECK(m == n && memcmp(once, twice, n) == 0);
	free(sql);
	free(once);
	free(twice);
	return 0;
}
