/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SHARES_H
#define CND_SHARES_H

#include <netinet/in.h>
#include <stdint.h>

#include "shared/scoreboard.h"
#include "shared/turns.h"

/*
 * A fixed number of places, and how many of them one pool or user may have. Half of the places belong
 * to the pools in equal parts, so no pool can keep another from having some. The other half goes to
 * the clients that ask first. A user gets a place while he has fewer than his pool may still take. So
 * a single user gets half of what his pool may have, and there is always a place for the next user.
 *
 * Each call takes the same time, however many places are taken.
 */
#define CND_SHARES_BUCKETS 4096u /* a power of 2 */
#define CND_SHARES_NO_UID  UINT32_MAX

/* A user of a pool: a user id for a unix socket, an address for TCP. It has no padding, since it is
 * compared byte by byte. */
struct cnd_share_of {
	uint32_t pool;
	uint32_t uid; /* CND_SHARES_NO_UID: a TCP client */
	struct in6_addr addr; /* from cnd_peer_network(); all zero for a unix socket */
};

/* The places of one user of a pool. The user has at least one place. */
struct cnd_share {
	struct cnd_share *next;
	struct cnd_share_of of;
	uint32_t n;
	uint32_t n_pushed; /* clients in the kernel's queue; guest.c counts them */
	struct cnd_turn_user turns; /* clients that wait in the door; waiting.c */
};

struct cnd_shares {
	uint32_t n_places;
	uint32_t n_all; /* places that are taken */
	uint32_t n_own; /* places that belong to each pool */
	uint32_t n_common; /* places that belong to no pool */
	uint32_t n_taken; /* how many of `n_common` are taken */
	uint64_t
		factors[3]; /* secret, so that nobody can choose whose bucket he shares */
	uint32_t n[CND_POOL_RECORD];
	struct cnd_share *buckets[CND_SHARES_BUCKETS];
};

enum cnd_shares_verdict {
	CND_SHARES_TAKEN,
	CND_SHARES_POOL_HAS_ALL, /* the pool has as many as it may have now */
	CND_SHARES_USER_HAS_ALL /* the user has as many as one user of the pool may have now */
};

void cnd_shares_init(struct cnd_shares *s, uint32_t n_places);
/* Set the number of pools. Places that are taken stay taken. */
void cnd_shares_set_pools(struct cnd_shares *s, uint32_t n_pools);
/* Take a place. Returns enum cnd_shares_verdict, or CENOTE_ERR_NOMEM. Give *ret_share back later. */
int cnd_shares_take(struct cnd_shares *s, const struct cnd_share_of *of,
	struct cnd_share **ret_share);
void cnd_shares_give_back(struct cnd_shares *s, struct cnd_share *share);
/* The number of places that this user has. */
uint32_t cnd_shares_of(const struct cnd_shares *s, const struct cnd_share_of *of);

#endif
