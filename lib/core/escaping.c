/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/escaping.h"

#include <string.h>

/* `words`: the words that matter, if the value is a list of words. NULL: the whole value matters. */
static const struct {
	const char *name;
	const char *words[3];
} facts[] = {
	{ "client_encoding", { NULL } },
	{ "standard_conforming_strings", { NULL } },
	{ "character_set", { NULL } },
	{ "sql_mode", { "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES", NULL } },
};

#define N_FACTS (sizeof(facts) / sizeof(facts[0]))

const char *
cnc_escaping_fact(size_t i)
{
	return i < N_FACTS ? facts[i].name : NULL;
}

/* Returns a bit for each word in the value. No word is part of another one. */
static uint32_t
words_of(size_t i, const char *value)
{
	uint32_t bits = 0;

	for (size_t j = 0; facts[i].words[j]; j++) {
		if (strstr(value, facts[i].words[j]))
			bits |= UINT32_C(1) << j;
	}
	return bits;
}

int
cnc_escaping_agrees(size_t i, const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return facts[i].words[0] ? words_of(i, a) == words_of(i, b) : strcmp(a, b) == 0;
}

/* FNV-1a. */
static uint32_t
add_byte(uint32_t digest, uint8_t byte)
{
	return (digest ^ byte) * UINT32_C(16777619);
}

uint32_t
cnc_escaping_digest(uint32_t digest, size_t i, const char *value)
{
	if (digest == 0)
		digest = UINT32_C(2166136261);
	digest = add_byte(digest, value != NULL);
	if (!value)
		return digest;
	if (facts[i].words[0])
		return add_byte(digest, (uint8_t)words_of(i, value));
	/* include the zero byte, so that the value is kept apart from the next one */
	do {
		digest = add_byte(digest, (uint8_t)*value);
	} while (*value++ != '\0');
	return digest;
}
