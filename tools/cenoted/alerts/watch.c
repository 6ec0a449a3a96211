/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides what is worth a notification, by looking at the scoreboard. It reads no clock and sends nothing: alerts.c calls it, and
 * delivers the events. A state must last for seconds before it is reported, and the same event is not reported again for minutes.
 */
#include "watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MINUTE_MS 60000

/* Everything about one pool at one look. */
struct look {
	struct cnd_watched *w;
	const char *pool;
	const struct cnd_pool_head *head;
	const struct cnd_pool_record *record;
	struct cnd_census census;
	int64_t now_ms;
	cnd_alert_tell *tell;
	void *user;
};

const char *
cnd_event_name(enum cnd_event event)
{
	static const char *const names[CND_EVENTS] = {
		[CND_EVENT_SERVER_DOWN] = "server_down",
		[CND_EVENT_SERVER_UP] = "server_up",
		[CND_EVENT_POOL_EXHAUSTED] = "pool_exhausted",
		[CND_EVENT_LOGINS_REFUSED] = "logins_refused",
		[CND_EVENT_CERTIFICATE] = "certificate",
	};

	return names[event];
}

static bool
was_told_within(const struct look *l, enum cnd_event event, int64_t ms)
{
	int64_t told = l->w->told_ms[event];

	return told > 0 && l->now_ms - told < ms;
}

__attribute__((format(printf, 3, 4))) static void
tell(struct look *l, enum cnd_event event, const char *format, ...)
{
	struct cnd_alert alert = { .event = event, .pool = l->pool };
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(alert.text, sizeof(alert.text), format, args);
	va_end(args);
	l->w->told_ms[event] = l->now_ms;
	l->tell(l->user, &alert);
}

/* An administrator who got SERVER_DOWN also gets SERVER_UP, however soon it follows. */
static void
watch_server(struct look *l)
{
	struct cnd_watched *w = l->w;
	bool is_down = cnd_census_is_down(&l->census);

	if (is_down == w->is_told_down) {
		w->changed_ms = 0;
		return;
	}
	/* a pool without any session is not up: it may be about to try the next login */
	if (!is_down && l->census.n[CND_SLOT_IDLE] == 0 && l->census.in_use == 0) {
		w->changed_ms = 0;
		return;
	}
	if (w->changed_ms == 0)
		w->changed_ms = l->now_ms;
	if (l->now_ms - w->changed_ms < CND_WATCH_DOWN_MS)
		return;
	if (!is_down)
		tell(l, CND_EVENT_SERVER_UP, "pool %s can log in to its server again",
			l->pool);
	else if (was_told_within(l, CND_EVENT_SERVER_DOWN, CND_WATCH_QUIET_MS))
		return;
	else
		tell(l, CND_EVENT_SERVER_DOWN,
			"pool %s cannot log in to its server; the log has the reason",
			l->pool);
	w->is_told_down = is_down;
	w->changed_ms = 0;
}

static void
watch_sessions(struct look *l)
{
	struct cnd_watched *w = l->w;
	uint32_t waiting = l->record->waiting, max = l->head->max_sessions;

	if (waiting == 0 || l->census.in_use < max) {
		w->exhausted_ms = 0;
		return;
	}
	if (w->exhausted_ms == 0)
		w->exhausted_ms = l->now_ms;
	if (l->now_ms - w->exhausted_ms < CND_WATCH_EXHAUSTED_MS ||
		was_told_within(l, CND_EVENT_POOL_EXHAUSTED, CND_WATCH_QUIET_MS))
		return;
	tell(l, CND_EVENT_POOL_EXHAUSTED,
		"all %u sessions of pool %s are in use, and %u clients wait", max,
		l->pool, waiting);
}

static void
watch_logins(struct look *l)
{
	struct cnd_watched *w = l->w;
	uint64_t refused = l->record->refused_logins;

	/* a counter that went back belongs to another pool */
	if (w->minute_ms == 0 || refused < w->refused ||
		l->now_ms - w->minute_ms >= MINUTE_MS) {
		w->minute_ms = l->now_ms;
		w->refused = refused;
	}
	if (refused - w->refused < CND_WATCH_REFUSED ||
		was_told_within(l, CND_EVENT_LOGINS_REFUSED, CND_WATCH_QUIET_MS))
		return;
	tell(l, CND_EVENT_LOGINS_REFUSED,
		"pool %s has refused %llu logins within a minute; the log names the "
		"clients",
		l->pool, (unsigned long long)(refused - w->refused));
}

static void
watch_certificate(struct look *l, const struct cnd_config *c, int64_t started_ms)
{
	const struct cnd_pool_config *p = cnd_config_pool(c, l->pool);
	int64_t days;

	if (p == NULL || *p->tls.expires == '\0' ||
		was_told_within(l, CND_EVENT_CERTIFICATE, CND_WATCH_DAY_MS))
		return;
	days = p->tls.days_left - (l->now_ms - started_ms) / CND_WATCH_DAY_MS;
	if (days < CND_DAYS_TO_RENEW)
		tell(l, CND_EVENT_CERTIFICATE, "the certificate of pool %s %s on %s",
			l->pool, days < 0 ? "expired" : "expires", p->tls.expires);
}

/* Forget what is known if the record belongs to another pool now. */
static void
recognize(struct cnd_watched *w, const char *name)
{
	if (strcmp(w->name, name) == 0)
		return;
	memset(w, 0, sizeof(*w));
	snprintf(w->name, sizeof(w->name), "%s", name);
}

void
cnd_watch_look(struct cnd_watch *w, const struct cnd_scoreboard *b,
	const struct cnd_config *c, int64_t started_ms, int64_t now_ms,
	cnd_alert_tell *to, void *user)
{
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		struct look l = { .w = &w->pools[i],
			.head = cnd_pool_head(b, i),
			.record = cnd_pool_record(b, i),
			.now_ms = now_ms,
			.tell = to,
			.user = user };

		/* a pool that a reload removed has no maximum */
		if (l.head->is_used == 0 || l.head->max_sessions == 0)
			continue;
		recognize(l.w, l.head->name);
		l.pool = l.w->name;
		cnd_pool_census(b, i, &l.census);
		watch_server(&l);
		watch_sessions(&l);
		watch_logins(&l);
		watch_certificate(&l, c, started_ms);
	}
}
