/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_BLAME_H
#define CND_BLAME_H

#include <stdint.h>

#include "auth/peer.h"

/*
 * How many logins from an address failed lately. A client that guesses passwords waits longer for
 * each answer, and the door waits as long before it looks at the next login from that address. An
 * IPv6 address counts by its first 64 bits, since one host may have all the addresses below them.
 * Helpers that worked in vain are counted in the same way, in a table of their own.
 *
 * The table has a fixed size. When it is full, the oldest entry goes.
 */
#define CND_BLAME_MAX      1024u
#define CND_BLAME_FIRST_MS 250
#define CND_BLAME_MOST_MS  8000
/* How long a failure is remembered if no other follows. */
#define CND_BLAME_LIFE_MS  600000

struct cnd_blame {
	struct cnd_blamed {
		struct in6_addr addr;
		int64_t last_ms; /* time of the last failure */
		uint32_t n; /* 0: this entry is free */
	} list[CND_BLAME_MAX];
};

/* Note a failed login. Returns how many milliseconds its answer should wait. */
int64_t cnd_blame_add(struct cnd_blame *b, const struct cnd_peer *p, int64_t now_ms);
/* When the next login from this address may be looked at, on the same clock. `now_ms` or earlier:
 * at once. */
int64_t cnd_blame_until(
	const struct cnd_blame *b, const struct cnd_peer *p, int64_t now_ms);
#endif
