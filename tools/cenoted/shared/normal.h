/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_NORMAL_H
#define CND_NORMAL_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/msg.h"

/* A statement without its values, to show to people. */

#define CND_NORMAL_MAX     1024u
/* A longer statement is read up to here, as in the statistics of statements. */
#define CND_NORMAL_SQL_MAX 16384u

struct cnd_normal {
	uint64_t
		hash; /* that of the statistics of statements (worker/digests.c); 0: none */
	char text[CND_NORMAL_MAX]; /* core/digest.h; "": it might show a value */
};

/*
 * Normalise a statement. `rules`: sql_rules() of the backend, as they are now; 0: not known, so there is neither hash nor text. The
 * server may have read the statement before a setting changed. So if a setting decides where its texts end, the readings by all of
 * them must agree, or the text is left out.
 */
void cnd_normalise(uint32_t rules, struct cnp_str sql, struct cnd_normal *ret);

#endif
