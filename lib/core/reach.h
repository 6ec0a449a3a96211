/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_REACH_H
#define CNC_REACH_H

#include <stddef.h>
#include <stdint.h>

/* What a statement can change for the statements after it. */
enum cnc_reach {
	/* Nothing. It is one query, which calls only functions that are known to give the same answer for the same data. So its
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
	/* As SESSION, and the same text may do different things in two sessions: it makes temporary tables. Or it has a
	 * password, which nobody should keep. */
	CNC_REACH_PRIVATE
};

/*
 * Judge a text, for the cache of results. It does not know the server: a text that is harmless only on some servers counts as
 * harmful, and one that it does not understand counts as SESSION. Words inside texts and comments count too. What it cannot
 * see are functions that a view, a trigger or an operator calls.
 */
uint8_t cnc_sql_reach(const char *sql, size_t len);

#endif
