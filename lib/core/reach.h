/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_REACH_H
#define CNC_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/sql.h"

/* What a statement can change for the statements after it. */
enum cnc_reach {
	/* Nothing. It is one query, and calls only functions that are known to give the same answer for the same data. So its
	 * result may be kept. */
	CNC_REACH_NONE,
	/* It reads, begins or ends a transaction, but its answer may differ from one time to the next. */
	CNC_REACH_READ,
	/* It may change data. */
	CNC_REACH_DATA,
	/* It sets something for this session, such as a setting, the role or the database, and its text says what. */
	CNC_REACH_SETTING,
	/* It may change what later statements of this session mean or see, and nobody knows how: it calls an unknown function, for
	 * example. */
	CNC_REACH_SESSION,
	/* It may change the session like SESSION, and its text must not be kept. It makes a temporary table, so the same text
	 * makes another table in each session; or it has a password. */
	CNC_REACH_PRIVATE
};

/*
 * Find out what a text can change: enum cnc_reach. This does not depend on the server: a text that is harmless only on some
 * servers counts as harmful. A text that is not understood counts as SESSION. Words inside string literals and comments
 * count, too. Functions that a view, a trigger or an operator calls are not seen.
 */
uint8_t cnc_sql_reach(const char *sql, size_t len);
/* Whether the name is that of a function of the servers that changes nothing. The name has no schema. */
bool cnc_sql_is_known_function(const struct cnc_sql_token *name);

#endif
