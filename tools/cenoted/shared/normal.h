/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_NORMAL_H
#define CND_NORMAL_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/msg.h"

/* A statement without its values, to show to people. */

#define CND_NORMAL_MAX     1024u
/* Reading a longer statement would keep the session's next request waiting. */
#define CND_NORMAL_SQL_MAX 1048576u

struct cnd_normal {
	uint64_t hash; /* the same for statements that differ in values only; 0: none */
	char text[CND_NORMAL_MAX]; /* core/digest.h; "": it might show a value */
};

/* The rules by which the servers of this backend read SQL; enum cnc_sql_rule. Names in double quotes count as texts wherever the
 * server may read them so. */
uint32_t cnd_normal_rules(const char *backend);
/*
 * Normalise a statement. Some settings of a session change where a text ends: then the readings by all settings must agree, or the
 * text is left out. A statement of more than CND_NORMAL_SQL_MAX bytes gets neither text nor hash.
 */
void cnd_normalise(const char *backend, struct cnp_str sql, struct cnd_normal *ret);

#endif
