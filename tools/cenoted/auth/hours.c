/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `allow_hours`: find out whether a user may be in at a time, and when that changes. It reads the lines that hours_line.c has
 * made, and owns no state. worker/hours.c, query/conditions.c and `cenoted --explain-auth` ask.
 */
#include "hours.h"

#include <string.h>
#include <time.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))
#define DAY        86400u
#define WEEK       (7u * DAY)
/* 1970-01-05 was the first Monday. */
#define MONDAY     (4 * (int64_t)DAY)
/* How far ahead to look for the next change. */
#define LOOK_AHEAD (15 * (int64_t)DAY)

static bool
names(const struct cnd_hours_line *l, const char *user)
{
	for (size_t i = 0; i < l->n_users; i++) {
		if (strcmp(l->users[i], user) == 0)
			return true;
	}
	return false;
}

/* Whether a line names the user. Then only such lines count for it. */
static bool
has_own_line(const struct cnd_hours *hours, const char *user)
{
	for (size_t i = 0; i < hours->n; i++) {
		if (names(&hours->list[i], user))
			return true;
	}
	return false;
}

/* The next line that counts for the user, from the index *at on. NULL: there are no more. */
static const struct cnd_hours_line *
next_line(const struct cnd_hours *hours, const char *user, bool has_own, size_t *at)
{
	while (*at < hours->n) {
		const struct cnd_hours_line *l = &hours->list[(*at)++];

		if (has_own ? names(l, user) : l->n_users == 0)
			return l;
	}
	return NULL;
}

/* How many seconds the line's clock is ahead of UTC. *ret_until: when that changes next. */
static int32_t
offset_of(const struct cnd_hours_line *l, int64_t when, int64_t *ret_until)
{
	size_t i = 0;

	while (i + 1 < l->n_offsets && l->offsets[i + 1].at <= when)
		i++;
	*ret_until = i + 1 < l->n_offsets ? l->offsets[i + 1].at : CND_HOURS_NEVER;
	return l->offsets[i].ahead;
}

/* Whether the time is in a span of the line. *io_change becomes the next begin or end of a span, or change of the clock, if
 * that is earlier. */
static bool
look_at_line(const struct cnd_hours_line *l, int64_t when, int64_t *io_change)
{
	int64_t until;
	int64_t local = when + offset_of(l, when, &until) - MONDAY;
	uint32_t second = (uint32_t)(((local % WEEK) + WEEK) % WEEK);
	bool is_in = false;

	for (size_t i = 0; i < l->n_spans; i++) {
		uint32_t bounds[] = { l->spans[i].from, l->spans[i].to % WEEK };
		/* how long ago the span began */
		uint32_t since = (second + WEEK - bounds[0]) % WEEK;

		is_in = is_in || since < l->spans[i].to - l->spans[i].from;
		for (size_t j = 0; j < N_ITEMS(bounds); j++) {
			uint32_t left = (bounds[j] + WEEK - second) % WEEK;
			int64_t at = when + (left > 0 ? left : WEEK);

			if (at < until)
				until = at;
		}
	}
	if (until < *io_change)
		*io_change = until;
	return is_in;
}

/* Whether the user may be in at the time `when`. Before *ret_next, the answer cannot be another one. */
static bool
look(const struct cnd_hours *hours, const char *user, int64_t when, int64_t *ret_next)
{
	bool has_own = has_own_line(hours, user), is_in = false, has_line = false;
	const struct cnd_hours_line *l;
	size_t at = 0;

	*ret_next = CND_HOURS_NEVER;
	while ((l = next_line(hours, user, has_own, &at)) != NULL) {
		has_line = true;
		is_in = look_at_line(l, when, ret_next) || is_in;
	}
	return is_in || !has_line;
}

bool
cnd_hours_allow(const struct cnd_hours *hours, const char *user, int64_t when,
	int64_t *ret_change)
{
	int64_t at, next;
	bool is_in = look(hours, user, when, &at);

	if (ret_change == NULL)
		return is_in;
	while (at != CND_HOURS_NEVER && at < when + LOOK_AHEAD &&
		look(hours, user, at, &next) == is_in)
		at = next;
	*ret_change =
		at != CND_HOURS_NEVER && at < when + LOOK_AHEAD ? at : CND_HOURS_NEVER;
	return is_in;
}

const char *
cnd_hours_text(const struct cnd_hours *hours, const char *user, int64_t when,
	char text[CND_HOURS_TEXT_MAX])
{
	size_t at = 0;
	const struct cnd_hours_line *l =
		next_line(hours, user, has_own_line(hours, user), &at);
	int64_t until;
	time_t local = (time_t)when;
	struct tm tm;
	size_t n;

	if (l != NULL)
		local += offset_of(l, when, &until);
	if (gmtime_r(&local, &tm) == NULL ||
		(n = strftime(text, CND_HOURS_TEXT_MAX, "%a %Y-%m-%d %H:%M", &tm)) == 0) {
		text[0] = '\0';
		return text;
	}
	if (l != NULL && *l->zone != '\0')
		(void)snprintf(text + n, CND_HOURS_TEXT_MAX - n, " %s", l->zone);
	return text;
}
