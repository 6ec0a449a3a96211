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

/* What the text may leave, by its pins and by the notes that the backend turns into pins. */
static uint32_t
left_by(struct cnd_my_scan s)
{
	static const struct {
		uint32_t note, pin;
	} of[] = {
		{ CND_MY_NOTE_SETS, CENOTE_PIN_SETTINGS },
		{ CND_MY_NOTE_VARIABLES, CENOTE_PIN_SETTINGS },
		{ CND_MY_NOTE_PREPARES, CENOTE_PIN_PREPARED },
		{ CND_MY_NOTE_CREATES, CENOTE_PIN_TEMP },
		{ CND_MY_NOTE_LOCKS_TABLES, CENOTE_PIN_LOCK },
		{ CND_MY_NOTE_TAKES_LOCK, CENOTE_PIN_LOCK },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		s.pins |= s.notes & of[i].note ? of[i].pin : 0;
	return s.pins;
}

/*
 * A text cannot hide a statement before or after it: the scan sees that statement, or assumes the
 * worst. The first byte says how the session reads SQL.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint32_t ends = CND_MY_NOTE_DEALLOCATES | CND_MY_NOTE_DROPS |
			      CND_MY_NOTE_UNLOCKS_TABLES | CND_MY_NOTE_RELEASES;
	static const char temp[] = "create temporary table t (a int);";
	char text[4200];
	struct cnd_my_scan plain, s;
	uint32_t lexis;
	size_t n = sizeof(temp) - 1;

	if (size < 1 || size > 4000)
		return 0;
	lexis = data[0] & 15u;
	data++;
	size--;
	plain = scan((const char *)data, size, lexis);
	memcpy(text, temp, n);
	memcpy(text + n, data, size);
	s = scan(text, n + size, lexis);
	FUZZ_CHECK(left_by(s) & CENOTE_PIN_TEMP);
	FUZZ_CHECK((left_by(s) & left_by(plain)) == left_by(plain));
	/* only a statement that is alone in its text ends something */
	FUZZ_CHECK(!(s.notes & ends));
	memcpy(text, data, size);
	text[size] = '\n';
	text[size + 1] = ';';
	memcpy(text + size + 2, temp, n);
	s = scan(text, size + 2 + n, lexis);
	FUZZ_CHECK(left_by(s) & (CENOTE_PIN_TEMP | CENOTE_PIN_FUNCTION));
	return 0;
}
