/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time zones of the system: check a name, and find out when the zone's clocks are changed. It owns no state, but sets the
 * environment's TZ for the time of a call, so a process with threads must not call it. hours_line.c does, when it reads the
 * configuration: a worker in its sandbox cannot read the files of time zones.
 */
#include "zone.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY   ((int64_t)86400)
/* For how many years after `now` the changes are looked up. */
#define YEARS 10

bool
cnd_zone_exists(const char *name)
{
	const char *dir = getenv("TZDIR");
	char path[PATH_MAX], magic[4] = "";
	FILE *f;

	if (strcmp(name, "UTC") == 0)
		return true;
	if (*name == '/' || strlen(name) > CND_ZONE_NAME_MAX ||
		strstr(name, "..") != NULL)
		return false;
	for (const char *p = name; *p != '\0'; p++) {
		if (!isalnum((unsigned char)*p) && strchr("_+-/", *p) == NULL)
			return false;
	}
	(void)snprintf(path, sizeof(path), "%s/%s",
		dir != NULL && *dir != '\0' ? dir : "/usr/share/zoneinfo", name);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fread(magic, 1, sizeof(magic), f) != sizeof(magic))
		magic[0] = '\0';
	fclose(f);
	return memcmp(magic, "TZif", sizeof(magic)) == 0;
}

static int32_t
ahead_at(int64_t when)
{
	time_t t = (time_t)when;
	struct tm local;

	return localtime_r(&t, &local) != NULL ? (int32_t)local.tm_gmtoff : 0;
}

/* The first second in (from, to] with the offset of `to`, which differs from that of `from`. */
static int64_t
find_change(int64_t from, int64_t to)
{
	int32_t ahead = ahead_at(to);

	while (to - from > 1) {
		int64_t middle = from + (to - from) / 2;

		if (ahead_at(middle) == ahead)
			to = middle;
		else
			from = middle;
	}
	return to;
}

/* Find the offsets of the zone that the environment names. */
static size_t
find_offsets(int64_t now, struct cnd_zone_offset ret_offsets[CND_ZONE_OFFSETS_MAX])
{
	int64_t at = now - DAY;
	int32_t ahead = ahead_at(at);
	size_t n = 0;

	ret_offsets[n++] = (struct cnd_zone_offset){ INT64_MIN, ahead };
	for (int i = 0; i < YEARS * 366 && n < CND_ZONE_OFFSETS_MAX; i++) {
		int64_t next = at + DAY;

		if (ahead_at(next) != ahead) {
			ahead = ahead_at(next);
			ret_offsets[n++] =
				(struct cnd_zone_offset){ find_change(at, next), ahead };
		}
		at = next;
	}
	return n;
}

size_t
cnd_zone_learn(const char *name, int64_t now,
	struct cnd_zone_offset ret_offsets[CND_ZONE_OFFSETS_MAX])
{
	const char *present = getenv("TZ");
	char *before = NULL, value[CND_ZONE_NAME_MAX + 2];
	size_t n;

	if (strcmp(name, "UTC") == 0) {
		ret_offsets[0] = (struct cnd_zone_offset){ INT64_MIN, 0 };
		return 1;
	}
	if (*name == '\0')
		return find_offsets(now, ret_offsets);
	if (present != NULL && (before = strdup(present)) == NULL)
		return 0;
	(void)snprintf(value, sizeof(value), ":%s", name);
	(void)setenv("TZ", value, 1);
	tzset();
	n = find_offsets(now, ret_offsets);
	if (before != NULL)
		(void)setenv("TZ", before, 1);
	else
		(void)unsetenv("TZ");
	tzset();
	free(before);
	return n;
}
