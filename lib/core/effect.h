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
	CNC_EFFECT_ROLLBACK, /* may end one without committing it */
	CNC_EFFECT_BEGIN /* opens a transaction, and may commit one that is open */
};

/*
 * Only for what is said about a request whose answer was lost, and on the safe side for every
 * server: a statement counts as reading only if it plainly does and names no function (one that
 * a view or a rule calls is not seen), and as leaving a transaction open only if it is one of
 * those that no server commits with. Several in one text: the worst of them.
 */
uint8_t cnc_sql_effect(const char *sql, size_t len);
/* USE: the names in other statements are those of another database behind it. */
int cnc_sql_is_use(const char *sql, size_t len);

#endif
