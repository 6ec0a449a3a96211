/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_HOURS_H
#define CND_HOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "zone.h"

/*
 * When users may be in: the `allow_hours` lines of a pool. The configuration owns them. Times are seconds since 1970, UTC.
 */
#define CND_HOURS_LINES_MAX 16u
#define CND_HOURS_SPANS_MAX 64u
#define CND_HOURS_ERROR_MAX 256u
#define CND_HOURS_TEXT_MAX  128u
#define CND_HOURS_NEVER     INT64_MAX

/* A part of the week, in seconds since Monday 00:00 by the line's clock. If it ends after Sunday 24:00, it goes on in the next
 * week. */
struct cnd_hours_span {
	uint32_t from, to;
};

struct cnd_hours_line {
	char *text; /* as written */
	char **users; /* the users that it names */
	size_t n_users; /* 0: it holds for every user that no line names */
	char zone[CND_ZONE_NAME_MAX + 1]; /* "": the time zone of the machine */
	struct cnd_hours_span spans[CND_HOURS_SPANS_MAX];
	size_t n_spans;
	/* of the zone, as the system knew them when the line was read */
	struct cnd_zone_offset offsets[CND_ZONE_OFFSETS_MAX];
	size_t n_offsets;
};

struct cnd_hours {
	struct cnd_hours_line *list;
	size_t n;
};

/* Read the line `text`, and add it. `now`: the present time. 0; or -1, and `error` says what is wrong with the line. */
int cnd_hours_parse(struct cnd_hours *hours, const char *text, int64_t now,
	char error[CND_HOURS_ERROR_MAX]);
void cnd_hours_destroy(struct cnd_hours *hours);
void cnd_hours_print(const struct cnd_hours *hours, FILE *out);
/* Whether the user may be in at this time. *ret_change: when that changes; CND_HOURS_NEVER: not in the next two weeks.
 * ret_change NULL: the caller does not need it, and the answer costs less. */
bool cnd_hours_allow(const struct cnd_hours *hours, const char *user, int64_t when,
	int64_t *ret_change);
/* Write a time by the clock of the user's line: "Mon 2026-11-30 08:00 Europe/Berlin". */
const char *cnd_hours_text(const struct cnd_hours *hours, const char *user, int64_t when,
	char text[CND_HOURS_TEXT_MAX]);

#endif
