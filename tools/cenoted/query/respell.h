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
 * How a text is written in another way that means the same: by its tokens alone, so words, texts and operators stay.
 * `program`: placeholders, quoted names and MySQL's # comments are written as the server wants them. `normalizes`: the
 * text is one line without comments, except hints, and words that no setting makes a name are in lower case.
 */
struct cnd_respelling {
	uint32_t dialect; /* the server's, enum cnc_sql_dialect */
	uint8_t program; /* enum cnd_program_sql */
	bool normalizes;
};

/* The number of a value in a statement is at most this. */
#define CND_RESPELL_VALUES_MAX 65535u
/* Different names of placeholders in a statement. */
#define CND_RESPELL_NAMES_MAX  128u

/*
 * CENOTE_OK: `to` has the new text. CENOTE_DONE: keep the text, because servers or settings may read it in different ways;
 * what `to` has is of no use. Negative: the server has no way to say it, or there is no memory; the diagnostics say what.
 */
int cnd_respell(const struct cnd_respelling *how, const char *sql, size_t len,
	struct cnc_buf *to, struct cnc_diag *ret_diag);

/* Whether this changes anything for texts to such a server. */
bool cnd_respells(const struct cnd_respelling *how);

/* The kind of this name, such as mysql; -1: there is none. */
int cnd_program_sql_named(const char *name);
const char *cnd_program_sql_name(uint8_t program);

#endif
