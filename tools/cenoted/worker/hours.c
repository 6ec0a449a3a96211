/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `allow_hours`: refuse a client that comes at a time at which its user may not be in, and find out when a client must go.
 * attach.c calls this file; auth/hours.c knows the lines.
 */
#include "worker.h"

#include <time.h>

#include "auth/hours.h"
#include "core/sqlstate.h"
#include "shared/answer.h"
#include "shared/log.h"

/* Refuse the client, and tell it when it may come. Always returns CENOTE_ERR_AUTH. */
static int
refuse(struct cnd_worker *w, int64_t opens)
{
	const struct cnd_hours *hours = &w->config->hours;
	const char *name = w->config->name, *user = w->client.user;
	char when[CND_HOURS_TEXT_MAX];

	if (opens == CND_HOURS_NEVER)
		cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(REJECTED),
			"pool %s does not let user %s in at this time", name, user);
	else
		cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(REJECTED),
			"pool %s does not let user %s in before %s", name, user,
			cnd_hours_text(hours, user, opens, when));
	cnd_client_log(w, LOG_NOTICE, CNC_SQLSTATE(REJECTED),
		"user %s came outside of allow_hours", user);
	return CENOTE_ERR_AUTH;
}

int
cnd_hours_attach(struct cnd_worker *w)
{
	int64_t change;

	if (w->config->hours.n == 0 ||
		cnd_hours_allow(&w->config->hours, w->client.user, time(NULL), &change))
		return CENOTE_OK;
	return refuse(w, change);
}

int64_t
cnd_hours_end_ms(const struct cnd_worker *w)
{
	struct timespec now;
	int64_t change;

	if (w->config->hours.n == 0)
		return CND_NEVER;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	/* the client has resumed its session, or its time has ended since it came */
	if (!cnd_hours_allow(&w->config->hours, w->client.user, now.tv_sec, &change))
		return cnd_now_ms();
	return change == CND_HOURS_NEVER ? CND_NEVER
					 : cnd_now_ms() + 1000 * (change - now.tv_sec) -
						   now.tv_nsec / 1000000;
}
