/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What pins the session to its client, and since when. It owns the slot's tx, pins, pinned and pinned_ms. owner.c and lend.c report
 * each new state here.
 */
#include "worker.h"

/* Publish which pins surely hold the session, and count those that begin to. */
static void
hold(struct cnd_worker *w, uint32_t pins)
{
	struct cnd_slot *s = w->slot;
	uint32_t begun = pins & ~s->pinned;

	if (s->pinned == pins)
		return;
	for (size_t i = 0; i < CND_PINS; i++) {
		if (begun & 1u << i)
			atomic_fetch_add_explicit(
				&w->pool->pins[i], 1, memory_order_relaxed);
	}
	if (s->pinned == 0)
		atomic_store_explicit(&s->pinned_ms, cnd_now_ms(), memory_order_relaxed);
	atomic_store_explicit(&s->pinned, pins, memory_order_relaxed);
}

/* The pins that settle() cannot end, or all of them if it has been called. */
static uint32_t
sure_pins(const struct cnd_worker *w, uint32_t pins, bool is_held)
{
	uint32_t sure = pins & ~w->serving.backend->settled_pins;

	return sure != 0 || !is_held ? sure : pins;
}

void
cnd_pins_note(struct cnd_worker *w, uint8_t tx, uint32_t pins, bool is_held)
{
	struct cnd_slot *s = w->slot;

	atomic_store_explicit(&s->tx, tx, memory_order_relaxed);
	atomic_store_explicit(&s->pins, pins, memory_order_relaxed);
	/* what begins in a transaction may end with it */
	hold(w, tx == CENOTE_TX_IDLE ? sure_pins(w, pins, is_held) : pins & s->pinned);
}

void
cnd_pins_forget(struct cnd_worker *w)
{
	cnd_pins_note(w, CENOTE_TX_IDLE, 0, false);
}
