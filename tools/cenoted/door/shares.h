/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SHARES_H
#define CND_SHARES_H

#include <netinet/in.h>
#include <stdint.h>

#include "shared/scoreboard.h"

/*
 * A number of places, and who may have how many of them. Half of the places belongs to the pools, in equal parts, so
 * that no pool can keep another from having some; the other half is for whoever comes first. A user gets one as
 * long as he has fewer than his pool may still take: alone he gets half of what it may have, and there is
 * always one for the next user.
 *
 * Each call takes the same time, however many places are taken.
 */
#define CND_SHARES_BUCKETS 4096u /* a power of 2 */
#define CND_SHARES_NO_UID  UINT32_MAX

/* A user of a pool: by a unix socket a user id, by TCP an address. No padding: it is compared byte by byte. */
struct cnd_share_of {
	uint32_t pool;
	uint32_t uid; /* CND_SHARES_NO_UID: by TCP */
	struct in6_addr addr; /* as of cnd_peer_network(); zero: by a unix socket */
};

/* Places that one user of a pool has: there is one of these while he has any. */
struct cnd_share {
	struct cnd_share *next;
	struct cnd_share_of of;
	uint32_t n;
};

struct cnd_shares {
	uint32_t n_places;
	uint32_t n_all; /* of them, taken */
	uint32_t n_own; /* that belong to each pool */
	uint32_t n_common; /* that belong to none, */
	uint32_t n_taken; /* and of those, the taken ones */
	uint64_t factors[3]; /* of the hash: nobody can choose who shares his bucket */
	uint32_t n[CND_POOL_RECORD];
	struct cnd_share *buckets[CND_SHARES_BUCKETS];
};

enum cnd_shares_verdict {
	CND_SHARES_TAKEN,
	CND_SHARES_POOL_HAS_ALL, /* as many as its pool may have now are taken */
	CND_SHARES_USER_HAS_ALL /* as many as one user of it may have now are his */
};

void cnd_shares_init(struct cnd_shares *s, uint32_t n_places);
/* So many pools are there. What is taken stays taken. */
void cnd_shares_set_pools(struct cnd_shares *s, uint32_t n_pools);
/* A place. enum cnd_shares_verdict, or CENOTE_ERR_NOMEM; *ret_share: to be given back. */
int cnd_shares_take(struct cnd_shares *s, const struct cnd_share_of *of,
	struct cnd_share **ret_share);
void cnd_shares_give_back(struct cnd_shares *s, struct cnd_share *share);
/* How many that user has. */
uint32_t cnd_shares_of(const struct cnd_shares *s, const struct cnd_share_of *of);

#endif
