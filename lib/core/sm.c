/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/sm.h"

#include <assert.h>

#include <cenote/types.h>

/*
 * State machines as tables.
 */

void
cnc_sm_init(struct cnc_sm *sm, const struct cnc_sm_state *states, uint32_t n_states,
	uint32_t initial)
{
	assert(n_states <= 32 && initial < n_states);
	sm->states = states;
	sm->n_states = n_states;
	sm->state = initial;
}

int
cnc_sm_move(struct cnc_sm *sm, uint32_t to)
{
	if (to >= sm->n_states)
		return CENOTE_ERR_STATE;
	if (!(sm->states[sm->state].next & (uint32_t)1 << to))
		return CENOTE_ERR_STATE;
	sm->state = to;
	return CENOTE_OK;
}

const char *
cnc_sm_name(const struct cnc_sm *sm, uint32_t state)
{
	return state < sm->n_states ? sm->states[state].name : "unknown state";
}
