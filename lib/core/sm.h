/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_SM_H
#define CNC_SM_H

#include <stdint.h>

/*
 * A state machine is an enum, a table with one row for each state, and cnc_sm_move(), the only function that
 * changes the state. A row names the state and the states that may follow it.
 */
struct cnc_sm_state {
	const char *name;
	uint32_t next; /* bit n: state n may follow */
};

struct cnc_sm {
	const struct cnc_sm_state *states;
	uint32_t n_states; /* at most 32 */
	uint32_t state;
};

void cnc_sm_init(struct cnc_sm *sm, const struct cnc_sm_state *states, uint32_t n_states,
	uint32_t initial);
/* CENOTE_OK, or CENOTE_ERR_STATE with nothing changed if the table forbids it. */
int cnc_sm_move(struct cnc_sm *sm, uint32_t to);
const char *cnc_sm_name(const struct cnc_sm *sm, uint32_t state);

#endif
