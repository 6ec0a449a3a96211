/* SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>

#include "worker.h"

/*
 * A server sends a large result in pieces of 8 or 16 kB. A worker that is woken by each of them takes the CPU
 * from a server on the same one so often: the switches then cost more than what the worker does with the
 * rows. As a "batch" process it is woken, too, but takes nobody's CPU: it runs when the server has
 * to wait, or its time is up, and finds more than one piece. Short answers are not for that: they would wait for
 * other programs on a busy machine.
 */

/* One that the administrator has chosen stays. */
void
cnd_pace_init(struct cnd_worker_pace *p)
{
	p->may_pace = sched_getscheduler(0) == SCHED_OTHER;
}

static void
set_policy(struct cnd_worker_pace *p, int policy)
{
	const struct sched_param none = { 0 };

	p->may_pace = sched_setscheduler(0, policy, &none) == 0;
	p->is_patient = p->may_pace && policy == SCHED_BATCH;
}

void
cnd_pace_long_result(struct cnd_worker_pace *p)
{
	if (p->may_pace && !p->is_patient)
		set_policy(p, SCHED_BATCH);
}

void
cnd_pace_end(struct cnd_worker_pace *p)
{
	if (p->is_patient)
		set_policy(p, SCHED_OTHER);
}
