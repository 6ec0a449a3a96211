/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_EFFECT_H
#define CNC_EFFECT_H

#include <stddef.h>
#include <stdint.h>

/* What a statement may have done if its answer was lost. */
enum cnc_effect {
	CNC_EFFECT_NONE, /* changes no data */
	CNC_EFFECT_WRITE, /* may change data, and in autocommit mode commits the change */
	CNC_EFFECT_COMMIT, /* may commit an open transaction */
	CNC_EFFECT_ROLLBACK, /* may end an open transaction without a commit */
	CNC_EFFECT_BEGIN /* opens a transaction, and may commit one that is open */
};

/*
 * Use this only to describe a request whose answer was lost. For every server, the result is the
 * most harmful effect that is possible. A statement counts as reading only if it plainly reads and
 * names no function (functions that a view or a rule calls are not seen). It counts as leaving a
 * transaction open only if no server commits with it. For several statements in one text, the
 * result is the worst effect.
 */
uint8_t cnc_sql_effect(const char *sql, size_t len);
/* Is it a USE statement? After it, names in statements refer to another database. */
int cnc_sql_is_use(const char *sql, size_t len);
/* Does it begin with SET? */
int cnc_sql_is_set(const char *sql, size_t len);

/* What a text has to do with the statements that were prepared on the session under a name. */
enum cnc_names {
	/* It may use them, list them or end them; or it may change a setting on which their meaning depends. So they
	 * must be there before it runs. */
	CNC_NAMES_USED = 1,
	/* It has the word DEALLOCATE, or PREPARE. If such a statement succeeds, the former statement of that name has ended. */
	CNC_NAMES_ENDED = 2
};

/* For PostgreSQL's SQL: a set of enum cnc_names. It looks for words, also inside strings. It does not see what the functions
 * do that the text calls. */
uint8_t cnc_sql_names(const char *sql, size_t len);

#endif
