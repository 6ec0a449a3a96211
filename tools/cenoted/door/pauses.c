/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guests that wait for a point in time, in a heap sorted by that time. So the door finds the next one
 * at once, however many there are. guest.c calls it.
 */
#include "door_internal.h"

static void
put(struct cnd_pauses *p, uint32_t at, struct cnd_guest *g)
{
	p->list[at] = g;
	g->pause_at = at;
}

static int
is_sooner(const struct cnd_guest *a, const struct cnd_guest *b)
{
	return a->not_before_ms < b->not_before_ms;
}

/* Move a free place upwards to where the guest belongs. */
static void
sift_up(struct cnd_pauses *p, uint32_t at, struct cnd_guest *g)
{
	while (at > 0 && is_sooner(g, p->list[(at - 1) / 2])) {
		put(p, at, p->list[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(p, at, g);
}

static void
sift_down(struct cnd_pauses *p, uint32_t at, struct cnd_guest *g)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < p->n && is_sooner(p->list[child + 1], p->list[child]))
			child++;
		if (child >= p->n || !is_sooner(p->list[child], g))
			break;
		put(p, at, p->list[child]);
		at = child;
	}
	put(p, at, g);
}

void
cnd_pauses_add(struct cnd_pauses *p, struct cnd_guest *g)
{
	sift_up(p, p->n++, g);
}

void
cnd_pauses_remove(struct cnd_pauses *p, struct cnd_guest *g)
{
	struct cnd_guest *last = p->list[--p->n];

	if (last == g)
		return;
	if (is_sooner(last, g))
		sift_up(p, g->pause_at, last);
	else
		sift_down(p, g->pause_at, last);
}

struct cnd_guest *
cnd_pauses_first(const struct cnd_pauses *p)
{
	return p->n > 0 ? p->list[0] : NULL;
}
