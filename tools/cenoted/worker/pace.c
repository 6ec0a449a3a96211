/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides whether the worker or its server runs first. A server sends a large result in pieces of 8
 * or 16 kB. If both run on one CPU and each piece wakes the worker, the switches cost more than the
 * worker's own work. With the policy SCHED_BATCH, the worker does not take the CPU from the server:
 * it runs when the server has to wait, and then finds several pieces. Short answers keep the normal
 * policy: on a busy machine they would wait for other programs. host.c, owner.c and client.c call
 * this file.
 */
#include <sched.h>

#include "worker.h"

/* Keep a policy that the administrator has chosen. */
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
