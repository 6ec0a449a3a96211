/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/sqlstate.h"

#include <stddef.h>
#include <string.h>

const char cnc_sqlstate_code[CNC_SQLSTATE_COUNT][6] = {
#define X(name, code, text) [CNC_SQLSTATE_INDEX_##name] = (code),
	CNC_SQLSTATE_LIST(X)
#undef X
};

static const char *const texts[CNC_SQLSTATE_COUNT] = {
#define X(name, code, text) [CNC_SQLSTATE_INDEX_##name] = (text),
	CNC_SQLSTATE_LIST(X)
#undef X
};

static const char *
find(const char *code)
{
	for (size_t i = 0; i < CNC_SQLSTATE_COUNT; i++) {
		if (memcmp(cnc_sqlstate_code[i], code, 6) == 0)
			return texts[i];
	}
	return NULL;
}

const char *
cnc_sqlstate_text(const char *code)
{
	const char *text;
	char class[6] = "xx000";

	if (!cnc_sqlstate_is_valid(code))
		return NULL;
	text = find(code);
	if (text)
		return text;
	memcpy(class, code, 2);
	return find(class);
}

int
cnc_sqlstate_is_valid(const char *code)
{
	for (size_t i = 0; i < 5; i++) {
		int is_digit = code[i] >= '0' && code[i] <= '9';
		int is_letter = code[i] >= 'A' && code[i] <= 'Z';

		if (!is_digit && !is_letter)
			return 0;
	}
	return code[5] == '\0';
}
