/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "backends/common/position.h"

typedef int covers_fn(const char *have, const char *wanted, const char **ret_why);

/* A position that is well formed is reached by a server that is there, and by no server that has said nothing. */
static void
check(covers_fn *covers, const char *text)
{
	const char *why;
	int r = covers(NULL, text, &why);

	FUZZ_CHECK(r == 1 || r < 0);
	FUZZ_CHECK(r < 0 || covers("", text, &why) == (*text == '\0'));
}

/* One position, a line feed, and another one. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[256], *other;
	const char *why;
	int r;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	other = strchr(text, '\n');
	if (other != NULL)
		*other++ = '\0';
	check(cnd_lsn_covers, text);
	check(cnd_gtid_covers, text);
	if (cnd_lsn_covers(NULL, text, &why) == 1)
		FUZZ_CHECK(cnd_lsn_covers(text, text, &why) == 1);
	if (other == NULL)
		return 0;
	/* two LSNs of one cluster are ordered */
	r = cnd_lsn_covers(text, other, &why);
	if (r >= 0 && cnd_lsn_covers(other, text, &why) >= 0)
		FUZZ_CHECK(r == 1 || cnd_lsn_covers(other, text, &why) == 1);
	(void)cnd_gtid_covers(text, other, &why);
	return 0;
}
