/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "tools/cenoted/backends/mysql/my.h"

static struct cnd_my_scan
scan(const char *sql, size_t len, uint32_t lexis)
{
	const struct cnd_my_reading reading = { .lexis = lexis, .natives = { 0xff } };
	struct cnd_my_scan s;

	cnd_my_scan(sql, len, &reading, &s);
	return s;
}

/*
 * A text cannot hide a statement before or after it: the scan sees that statement, or assumes the
 * worst. The first byte says how the session reads SQL.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char temp[] = "create temporary table t (a int);";
	char text[4200];
	struct cnd_my_scan plain, s;
	uint32_t lexis;
	size_t n = sizeof(temp) - 1;

	if (size < 1 || size > 4000)
		return 0;
	lexis = data[0] & 7u;
	data++;
	size--;
	plain = scan((const char *)data, size, lexis);
	memcpy(text, temp, n);
	memcpy(text + n, data, size);
	s = scan(text, n + size, lexis);
	FUZZ_CHECK(s.pins & CENOTE_PIN_TEMP);
	FUZZ_CHECK((s.pins & plain.pins) == plain.pins);
	memcpy(text, data, size);
	text[size] = '\n';
	text[size + 1] = ';';
	memcpy(text + size + 2, temp, n);
	s = scan(text, size + 2 + n, lexis);
	FUZZ_CHECK(s.pins & (CENOTE_PIN_TEMP | CENOTE_PIN_FUNCTION));
	return 0;
}
