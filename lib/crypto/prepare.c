/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/prepare.h"

#include <string.h>

#include <stringprep.h>

#include "core/mem.h"

/* NFKC turns one character into at most 18, and the mapping of SASLprep makes none longer. */
#define GROWS 18u

char *
cn_password_prepare(const char *password, size_t n)
{
	size_t size = n * GROWS + 1;
	char *room, *out = NULL;

	if (memchr(password, '\0', n) || n > 1u << 20)
		return cnc_strndup(&cnc_mem_default, password, n);
	room = cnc_calloc(&cnc_mem_default, 1, size);
	if (!room)
		return NULL;
	memcpy(room, password, n);
	if (stringprep(room, size, STRINGPREP_NO_UNASSIGNED, stringprep_saslprep) ==
			STRINGPREP_OK &&
		*room != '\0')
		out = cnc_strndup(&cnc_mem_default, room, strlen(room));
	else
		out = cnc_strndup(&cnc_mem_default, password, n);
	cnc_wipe(room, size);
	cnc_free(&cnc_mem_default, room);
	return out;
}
