/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_TALLY_H
#define CND_TALLY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How many sessions of a pool each user and each address has. It is in shared memory: all workers of the pool count in it, and the
 * door reads it. Keys are hashes; in the rare case that two are equal, both share the limit.
 */
#define CND_TALLY_WORDS 4096u

struct cnd_tally {
	_Atomic uint64_t words[CND_TALLY_WORDS]; /* key << 16 | number */
};

/* What is counted. Each kind has keys of its own. */
enum cnd_count {
	CND_COUNT_USER, /* the user that the client has proved to be */
	CND_COUNT_UID, /* the unix user of a client of the unix socket, as the kernel says */
	CND_COUNT_ADDRESS, /* the address of a TCP client */
	CND_COUNTS
};

uint64_t cnd_tally_key(enum cnd_count kind, const void *bytes, size_t n);
/* How many sessions are counted for the key. */
uint32_t cnd_tally_of(const struct cnd_tally *t, uint64_t key);
/* Count one more, unless `limit` are counted already. Returns the place to give back; -1: it was not counted. */
int cnd_tally_take(struct cnd_tally *t, uint64_t key, uint32_t limit);
void cnd_tally_give_back(struct cnd_tally *t, uint32_t place);

#endif
