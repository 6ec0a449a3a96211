/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns between users; turns.h has the rules. The door uses this for clients that wait for a session, a shared worker for
 * clients that stayed connected without one.
 */
#include "turns.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- the lists of users ---- */

static void
append_user(struct cnd_turns *q, struct cnd_turn_user *u)
{
	u->number = ++q->last_number;
	u->next = NULL;
	u->prev = q->lists[u->list].last;
	if (u->prev != NULL)
		u->prev->next = u;
	else
		q->lists[u->list].first = u;
	q->lists[u->list].last = u;
}

static void
take_out_user(struct cnd_turns *q, struct cnd_turn_user *u)
{
	if (u->prev != NULL)
		u->prev->next = u->next;
	else
		q->lists[u->list].first = u->next;
	if (u->next != NULL)
		u->next->prev = u->prev;
	else
		q->lists[u->list].last = u->prev;
}

/* ---- the clients of a user ---- */

void
cnd_turns_join(
	struct cnd_turns *q, struct cnd_turn_user *u, unsigned list, struct cnd_turn *t)
{
	t->user = u;
	t->next = NULL;
	t->prev = u->last;
	if (t->prev != NULL)
		t->prev->next = t;
	else
		u->first = t;
	u->last = t;
	if (t->prev != NULL)
		return;
	u->list = (uint8_t)list;
	append_user(q, u);
}

void
cnd_turns_leave(struct cnd_turns *q, struct cnd_turn *t)
{
	struct cnd_turn_user *u = t->user;

	if (u == NULL)
		return;
	if (t->prev != NULL)
		t->prev->next = t->next;
	else
		u->first = t->next;
	if (t->next != NULL)
		t->next->prev = t->prev;
	else
		u->last = t->prev;
	t->user = NULL;
	if (u->first == NULL)
		take_out_user(q, u);
}

/* ---- turns ---- */

/* The user of that class who is next; NULL: none waits. */
static struct cnd_turn_user *
next_of_class(const struct cnd_turns *q, unsigned lists, unsigned class)
{
	struct cnd_turn_user *best = NULL;

	for (unsigned i = CND_TURNS_0; i <= CND_TURNS_1; i++) {
		struct cnd_turn_user *u = q->lists[class + i].first;

		if ((lists & 1u << i) != 0 && u != NULL &&
			(best == NULL || u->number < best->number))
			best = u;
	}
	return best;
}

struct cnd_turn *
cnd_turns_next(const struct cnd_turns *q, unsigned lists)
{
	struct cnd_turn_user *high = next_of_class(q, lists, CND_TURNS_HIGH);
	struct cnd_turn_user *normal = next_of_class(q, lists, 0);
	bool is_high =
		high != NULL && (normal == NULL || q->n_high < CND_TURNS_NORMAL - 1);

	if (is_high)
		return high->first;
	return normal != NULL ? normal->first : NULL;
}

void
cnd_turns_serve(struct cnd_turns *q, struct cnd_turn *t)
{
	struct cnd_turn_user *u = t->user;

	if (u->list < CND_TURNS_HIGH)
		q->n_high = 0;
	else if (q->n_high < CND_TURNS_NORMAL)
		q->n_high++;
	cnd_turns_leave(q, t);
	if (u->first == NULL)
		return;
	take_out_user(q, u);
	append_user(q, u);
}

void
cnd_turns_skip(struct cnd_turns *q, struct cnd_turn *t)
{
	take_out_user(q, t->user);
	append_user(q, t->user);
}
