/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_TOUCH_H
#define CND_TOUCH_H

#include "shared/result_cache.h"
#include "summary.h"

/*
 * Find out which tables a text reads or changes, for the pool's cache. In doubt, it changes all tables, and its result is not
 * kept. What functions, views, triggers and foreign keys do to other tables is not seen. sql NULL: a function is called by
 * its number.
 */
void cnd_touch_find(const struct cnd_summary *summary, const char *sql, size_t len,
	struct cnd_touch *ret_touch);

#endif
