/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_BLAME_H
#define CND_BLAME_H

#include <stdint.h>

#include "auth/peer.h"

/*
 * How often logins from an address failed lately. Who guesses passwords waits longer for each
 * answer, and each next login from there waits as long before it is looked at. An IPv6 address counts
 * by its first 64 bits: a host may have all the others. Helpers that were forked in vain are counted the same way,
 * apart from logins.
 *
 * Bounded: when the table is full the oldest goes.
 */
#define CND_BLAME_MAX      1024u
#define CND_BLAME_FIRST_MS 250
#define CND_BLAME_MOST_MS  8000
/* A failure is forgotten after so long without another. */
#define CND_BLAME_LIFE_MS  600000

struct cnd_blame {
	struct cnd_blamed {
		struct in6_addr addr;
		int64_t last_ms; /* of the last failure */
		uint32_t n; /* 0: unused */
	} list[CND_BLAME_MAX];
};

/* A login from there failed. How long its answer should wait, in ms. */
int64_t cnd_blame_add(struct cnd_blame *b, const struct cnd_peer *p, int64_t now_ms);
/* Until when, in ms of the same clock, the next one should wait; `now_ms` or before: not at all. */
int64_t cnd_blame_until(
	const struct cnd_blame *b, const struct cnd_peer *p, int64_t now_ms);
#endif
