/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ZONE_H
#define CND_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Time zones of the system, such as Europe/Berlin. Times are seconds since 1970, UTC. */
#define CND_ZONE_NAME_MAX    64u
#define CND_ZONE_OFFSETS_MAX 64u

/* From the second `at` on, the clocks of the zone are `ahead` seconds ahead of UTC. */
struct cnd_zone_offset {
	int64_t at;
	int32_t ahead;
};

/* Whether the system has a time zone of this name. */
bool cnd_zone_exists(const char *name);
/* Find out how far the zone is ahead of UTC at `now` and in the next ten years. name: "" is the zone of the machine. Returns
 * how many offsets there are, in the order of their times. The first one holds for all earlier times, too, and the last one for
 * all later times. 0: no memory. */
size_t cnd_zone_learn(const char *name, int64_t now,
	struct cnd_zone_offset ret_offsets[CND_ZONE_OFFSETS_MAX]);

#endif
