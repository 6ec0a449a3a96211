/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_TURNS_H
#define CND_TURNS_H

#include <stdint.h>

/*
 * Which waiting client is served next: users take turns, and the clients of one user are served in the order of arrival. So a
 * user with a thousand waiting clients gets no more turns than a user with ten. Users of class high go first, but every
 * CND_TURNS_NORMAL-th turn is for a user of class normal, so nobody waits for ever.
 *
 * Each user is in one of several lists, so that the caller can leave out users that cannot be served now. Users in the other
 * lists are served in the order in which they came or had their last turn. Each call takes the same time, however many clients
 * wait. The caller owns all memory: it embeds these structures, and sets them to zero at first.
 */
#define CND_TURNS_NORMAL 8u

/* The lists. The caller decides what the first two mean. */
enum cnd_turns_list {
	CND_TURNS_0,
	CND_TURNS_1,
	CND_TURNS_HIGH, /* add this to one of them for a user of class high */
	CND_TURNS_LISTS = 4
};

/* A set of lists, each with both classes. */
#define CND_TURNS_ALL ((1u << CND_TURNS_0) | (1u << CND_TURNS_1))

/* A client that waits. */
struct cnd_turn {
	struct cnd_turn *prev, *next; /* of the same user */
	struct cnd_turn_user *user; /* NULL: it does not wait here */
};

/* A user. It is in a list while any of its clients waits. */
struct cnd_turn_user {
	struct cnd_turn_user *prev, *next;
	struct cnd_turn *first, *last;
	uint64_t number; /* users with lower numbers are served earlier */
	uint8_t list;
};

struct cnd_turns {
	struct {
		struct cnd_turn_user *first, *last;
	} lists[CND_TURNS_LISTS];
	uint64_t last_number;
	uint32_t n_high; /* turns of class high since the last one of class normal */
};

/* Let the client wait. `list` counts only if no other client of the user waits: otherwise the user stays in its list. */
void cnd_turns_join(
	struct cnd_turns *q, struct cnd_turn_user *u, unsigned list, struct cnd_turn *t);
/* The client goes without a turn. Does nothing if the client does not wait. */
void cnd_turns_leave(struct cnd_turns *q, struct cnd_turn *t);
/* The next client of these lists; NULL: there is none. */
struct cnd_turn *cnd_turns_next(const struct cnd_turns *q, unsigned lists);
/* The client has its turn. Its user goes behind all others. */
void cnd_turns_serve(struct cnd_turns *q, struct cnd_turn *t);
/* The client cannot be served now. Its user goes behind all others, and the client goes on waiting. */
void cnd_turns_skip(struct cnd_turns *q, struct cnd_turn *t);

#endif
