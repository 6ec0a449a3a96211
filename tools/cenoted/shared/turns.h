/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_TURNS_H
#define CND_TURNS_H

#include <stdint.h>

/*
 * Who is next of those who wait: the users take turns, and the clients of one user go in the order of arrival. So a user with a
 * thousand waiting clients gets no more turns than a user with ten. Users of class high go first, but each
 * CND_TURNS_NORMAL-th turn is for a user of class normal, so nobody waits for ever.
 *
 * Users are in one of several lists, so that the caller can leave out those that cannot be served now. Among the lists
 * that count, users go in the order in which they came or had their last turn. Each call takes the same time, however many
 * wait. The caller owns all memory: it embeds these structures, zero at first.
 */
#define CND_TURNS_NORMAL 8u

/* A list. The caller decides what each kind means. */
enum cnd_turns_list {
	CND_TURNS_0,
	CND_TURNS_1,
	CND_TURNS_HIGH, /* added to the others */
	CND_TURNS_LISTS = 4
};

/* A set of lists, each with both classes. */
#define CND_TURNS_ALL ((1u << CND_TURNS_0) | (1u << CND_TURNS_1))

/* One who waits. */
struct cnd_turn {
	struct cnd_turn *prev, *next; /* of the same user */
	struct cnd_turn_user *user; /* NULL: it does not wait here */
};

/* A user. It is in a list while one of its clients waits. */
struct cnd_turn_user {
	struct cnd_turn_user *prev, *next;
	struct cnd_turn *first, *last;
	uint64_t number; /* users with lower numbers came earlier */
	uint8_t list;
};

struct cnd_turns {
	struct {
		struct cnd_turn_user *first, *last;
	} lists[CND_TURNS_LISTS];
	uint64_t last_number;
	uint32_t n_high; /* turns of class high since the last one of class normal */
};

/* Let the client wait. A user whose other clients wait already stays in its list. */
void cnd_turns_join(
	struct cnd_turns *q, struct cnd_turn_user *u, unsigned list, struct cnd_turn *t);
/* The client waits no longer, and has had no turn. It may not wait at all. */
void cnd_turns_leave(struct cnd_turns *q, struct cnd_turn *t);
/* The next client of these lists; NULL: there is none. */
struct cnd_turn *cnd_turns_next(const struct cnd_turns *q, unsigned lists);
/* The client has its turn. Then its user is behind all others. */
void cnd_turns_serve(struct cnd_turns *q, struct cnd_turn *t);

/* The client cannot be served now: its user goes behind all others, and keeps its clients. */
void cnd_turns_skip(struct cnd_turns *q, struct cnd_turn *t);

#endif
