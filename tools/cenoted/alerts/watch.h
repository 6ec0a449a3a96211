/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ALERTS_WATCH_H
#define CND_ALERTS_WATCH_H

#include "config/config.h"
#include "shared/scoreboard.h"

/* The events that are reported. */
enum cnd_event {
	CND_EVENT_SERVER_DOWN, /* the server of a pool refuses all logins */
	CND_EVENT_SERVER_UP, /* it accepts logins again; reported only after SERVER_DOWN */
	CND_EVENT_POOL_EXHAUSTED, /* all sessions are in use, and clients wait */
	CND_EVENT_LOGINS_REFUSED, /* many clients were refused within a minute */
	CND_EVENT_CERTIFICATE, /* tls_cert has ended, or ends soon */
	CND_EVENTS
};

/* How long a state must last before it is reported. */
#define CND_WATCH_DOWN_MS      3000
#define CND_WATCH_EXHAUSTED_MS 10000
/* How long the same event of the same pool is not reported again. */
#define CND_WATCH_QUIET_MS     (5 * 60 * 1000)
#define CND_WATCH_DAY_MS       (24 * 60 * 60 * 1000)
/* How many refused logins within a minute are reported. */
#define CND_WATCH_REFUSED      20u

struct cnd_alert {
	enum cnd_event event;
	const char *pool; /* borrowed */
	char text[192]; /* for people */
};

/* What was seen of a pool. */
struct cnd_watched {
	char name[CND_POOL_NAME_MAX + 1]; /* of the pool that has this record now */
	bool is_told_down;
	int64_t changed_ms; /* when its server began to differ from the last report; 0: it does not differ */
	int64_t exhausted_ms; /* when the pool became exhausted; 0: it is not */
	int64_t minute_ms; /* when the minute began in which refused logins are counted */
	uint64_t refused; /* the counter of refused logins at that time */
	int64_t told_ms[CND_EVENTS]; /* when each event was last reported; 0: never */
};

/* All zero at first. */
struct cnd_watch {
	struct cnd_watched pools[CND_POOL_RECORD];
};

typedef void cnd_alert_tell(void *user, const struct cnd_alert *alert);

const char *cnd_event_name(enum cnd_event event);
/*
 * Look at all pools, and call `tell` for each event. Call it about once a second. now_ms is the monotonic clock, and more than 0.
 * started_ms is when the configuration was read: days_left of a certificate counts from then.
 */
void cnd_watch_look(struct cnd_watch *w, const struct cnd_scoreboard *b,
	const struct cnd_config *c, int64_t started_ms, int64_t now_ms,
	cnd_alert_tell *tell, void *user);

#endif
