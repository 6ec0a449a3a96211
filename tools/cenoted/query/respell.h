/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_RESPELL_H
#define CND_RESPELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/diag.h"

/* For which server programs write their SQL. */
enum cnd_program_sql {
	CND_PROGRAM_AS_SERVER,
	CND_PROGRAM_POSTGRESQL,
	CND_PROGRAM_MYSQL,
	CND_PROGRAM_SQLITE,
	CND_PROGRAM_TSQL
};

/*
 * How to write a text in another way that means the same. Words, texts and operators stay as they are. `program`:
 * placeholders, quoted names and MySQL's # comments become those of the server. `normalizes`: the text becomes one line
 * without comments, except hints, and words that cannot be names become lower case.
 */
struct cnd_respelling {
	uint32_t dialect; /* the server's, enum cnc_sql_dialect */
	uint8_t program; /* enum cnd_program_sql */
	bool normalizes;
};

/* The highest number that a placeholder may have. */
#define CND_RESPELL_VALUES_MAX 65535u
/* How many different names the placeholders of a statement may have. */
#define CND_RESPELL_NAMES_MAX  128u

/*
 * Write the text anew. CENOTE_OK: `to` has the new text. CENOTE_DONE: keep the old text, because servers or settings may read
 * it in different ways; ignore what is in `to`. Negative: the statement cannot be written for this server, or memory ran out;
 * the diagnostics say why.
 */
int cnd_respell(const struct cnd_respelling *how, const char *sql, size_t len,
	struct cnc_buf *to, struct cnc_diag *ret_diag);

/* Whether cnd_respell() could change any text at all. */
bool cnd_respells(const struct cnd_respelling *how);

/* The enum cnd_program_sql with this name, such as "mysql"; -1: there is none. */
int cnd_program_sql_named(const char *name);
const char *cnd_program_sql_name(uint8_t program);

#endif
