/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages to the master about workers: which worker to wake, and which worker sent nonsense. Only
 * the master may signal processes. All reports of a turn go in one message at its end. If the
 * master's queue is full, the door keeps the reports and tries again. waiting.c, opening.c and
 * door_workers.c make reports; door.c sends them.
 */
#include "door_internal.h"

#include <string.h>

/* How soon to try again when the master's queue is full. */
#define LOOK_MS 5

/* The message is sent at the end of the turn, together with the others. */
void
cnd_workers_nudge(uint32_t slot)
{
	struct cnd_door_worker *w = &cnd_the_door.workers[slot];

	cnd_the_door.n_owed += !w->owes_nudge && !w->is_bad;
	w->owes_nudge = 1;
}

void
cnd_workers_report(uint32_t slot)
{
	struct cnd_door_worker *w = &cnd_the_door.workers[slot];

	cnd_the_door.n_owed += !w->owes_nudge && !w->is_bad;
	w->is_bad = 1;
}

/* Add the slot to the message: 0 if the message is full. */
static int
put(struct cnd_ipc *m, uint32_t slot)
{
	uint16_t word = (uint16_t)slot;

	if (m->n_bytes + sizeof(word) > sizeof(m->bytes))
		return 0;
	memcpy(m->bytes + m->n_bytes, &word, sizeof(word));
	m->n_bytes += sizeof(word);
	return 1;
}

/* Send the master one message about all workers that owe this kind of report. */
static void
tell_master(uint32_t kind)
{
	struct cnd_ipc m = { .kind = kind };
	uint32_t n_left = cnd_the_door.n_owed;

	for (uint32_t i = 0; i < cnd_the_door.board->n_slots && n_left > 0; i++) {
		const struct cnd_door_worker *w = &cnd_the_door.workers[i];

		n_left -= w->owes_nudge || w->is_bad;
		if ((kind == CND_IPC_BAD ? w->is_bad : w->owes_nudge) && !put(&m, i))
			break;
	}
	if (m.n_bytes == 0 || cnd_ipc_send(cnd_the_door.control_fd, &m) < 0)
		return;
	for (uint32_t i = 0; i < m.n_bytes / sizeof(uint16_t); i++) {
		struct cnd_door_worker *w;
		uint16_t slot;

		memcpy(&slot, m.bytes + i * sizeof(slot), sizeof(slot));
		w = &cnd_the_door.workers[slot];
		*(kind == CND_IPC_BAD ? &w->is_bad : &w->owes_nudge) = 0;
		cnd_the_door.n_owed -= !w->owes_nudge && !w->is_bad;
	}
}

void
cnd_workers_settle(void)
{
	if (cnd_the_door.n_owed == 0)
		return;
	tell_master(CND_IPC_BAD);
	tell_master(CND_IPC_NUDGE);
}

int64_t
cnd_workers_next(int64_t now_ms)
{
	return cnd_the_door.n_owed > 0 ? now_ms + LOOK_MS : CND_NEVER;
}

int
cnd_workers_cancel(uint32_t pool, const struct cnp_cancel *c)
{
	uint32_t slot = cnd_slot_find(cnd_the_door.board, pool, c->session, c->key);

	if (slot == CND_BOARD_NONE ||
		!cnd_slot_cancel(
			cnd_slot_at(cnd_the_door.board, slot), c->session, c->request))
		return 0;
	/* the worker may be waiting for its server or for a slow reader */
	cnd_workers_nudge(slot);
	return 1;
}
