/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting sessions by user and address, in shared memory and without locks. A key may be in any of WINDOW words, which begin
 * at its own place. Two workers that begin to count a key at the same time may put it into two words, so the number of a key is
 * the sum over the window. A worker that has counted reads the sum once more, and gives back if it is above the limit. The last
 * worker that counts sees all the others, so the limit is never exceeded. scoreboard.c counts for the workers; the door and
 * staying.c read.
 */
#include "tally.h"

#define WINDOW    64u
#define TRIES     16
#define KEY_SHIFT 16u
#define N_MASK    UINT64_C(0xffff)

/* The hash is FNV-1a, cut to the bits that a word has for the key. */
uint64_t
cnd_tally_key(enum cnd_count kind, const void *bytes, size_t n)
{
	uint64_t key = UINT64_C(14695981039346656037) + (uint64_t)kind;

	for (size_t i = 0; i < n; i++)
		key = (key ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
	return key >> KEY_SHIFT;
}

static uint32_t
place_of(uint64_t key, uint32_t i)
{
	return (uint32_t)((key + i) % CND_TALLY_WORDS);
}

uint32_t
cnd_tally_of(const struct cnd_tally *t, uint64_t key)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < WINDOW; i++) {
		uint64_t word = atomic_load(&t->words[place_of(key, i)]);

		if (word >> KEY_SHIFT == key)
			n += (uint32_t)(word & N_MASK);
	}
	return n;
}

/* The first word that has the key, or else the first free one; -1: there is none. */
static int
find(const struct cnd_tally *t, uint64_t key)
{
	int free_place = -1;

	for (uint32_t i = 0; i < WINDOW; i++) {
		uint32_t at = place_of(key, i);
		uint64_t word = atomic_load(&t->words[at]);

		if ((word & N_MASK) == 0) {
			if (free_place < 0)
				free_place = (int)at;
		} else if (word >> KEY_SHIFT == key && (word & N_MASK) < N_MASK) {
			return (int)at;
		}
	}
	return free_place;
}

/* Count one more in this word. 0: another key has got it meanwhile, or it is full. */
static int
add_at(struct cnd_tally *t, uint32_t at, uint64_t key)
{
	uint64_t word = atomic_load(&t->words[at]);
	uint64_t n;

	do {
		n = word & N_MASK;
		if (n == N_MASK || (n > 0 && word >> KEY_SHIFT != key))
			return 0;
	} while (!atomic_compare_exchange_weak(
		&t->words[at], &word, key << KEY_SHIFT | (n + 1)));
	return 1;
}

int
cnd_tally_take(struct cnd_tally *t, uint64_t key, uint32_t limit)
{
	for (int i = 0; i < TRIES && cnd_tally_of(t, key) < limit; i++) {
		int at = find(t, key);

		if (at < 0)
			return -1;
		if (!add_at(t, (uint32_t)at, key))
			continue;
		if (cnd_tally_of(t, key) <= limit)
			return at;
		cnd_tally_give_back(t, (uint32_t)at);
	}
	return -1;
}

void
cnd_tally_give_back(struct cnd_tally *t, uint32_t place)
{
	uint64_t word;

	if (place >= CND_TALLY_WORDS)
		return;
	word = atomic_load(&t->words[place]);
	while ((word & N_MASK) > 0 &&
		!atomic_compare_exchange_weak(&t->words[place], &word, word - 1))
		;
}
