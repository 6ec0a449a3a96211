/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_EFFECT_H
#define CNC_EFFECT_H

#include <stddef.h>
#include <stdint.h>

/* What may have become of a statement whose answer was lost. */
enum cnc_effect {
	CNC_EFFECT_NONE, /* changes no data */
	CNC_EFFECT_WRITE, /* may write; in autocommit that is a commit */
	CNC_EFFECT_COMMIT, /* may commit an open transaction */
	CNC_EFFECT_ROLLBACK /* may end one without committing it */
};

/*
 * Only for what is said about a request whose answer was lost, and on the safe side: a
 * statement counts as reading only if it calls no function, and one that begins like the
 * end of a transaction, wherever a ';' stands before it, as ending it. PRAGMA and VACUUM
 * act outside of a transaction, also where autocommit is off.
 */
uint8_t cnc_sql_effect(const char *sql, size_t len);

#endif
