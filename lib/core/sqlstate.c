/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/sqlstate.h"

#include <stddef.h>

const char cnc_sqlstate_code[CNC_SQLSTATE_COUNT][6] = {
#define X(name, code, text) [CNC_SQLSTATE_INDEX_##name] = (code),
	CNC_SQLSTATE_LIST(X)
#undef X
};

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
