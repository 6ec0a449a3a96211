/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SUMMARY_H
#define CND_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/sql.h"

/* What a statement does. A text may have several statements, and a statement may have several classes, so these are bits. */
enum cnd_class {
	CND_CLASS_READ = 1 << 0,
	CND_CLASS_WRITE = 1 << 1, /* changes rows, or locks them */
	CND_CLASS_DDL = 1 << 2, /* changes tables, other objects or privileges */
	CND_CLASS_TRANSACTION = 1 << 3,
	CND_CLASS_SESSION = 1 << 4, /* settings, prepared statements, LISTEN */
	CND_CLASS_CALL =
		1 << 5, /* runs code that the text does not show: CALL, DO, EXECUTE */
	CND_CLASS_COPY = 1 << 6, /* COPY, LOAD DATA */
	CND_CLASS_OTHER = 1 << 7,
	CND_CLASS_ALL = (1 << 8) - 1
};

/* A name as the text has it, perhaps with quotes. */
struct cnd_sql_name {
	struct cnc_sql_token schema; /* n is 0: the text has none */
	struct cnc_sql_token name;
	bool is_written; /* of a table: the statement may change it */
};

#define CND_SUMMARY_NAMES 32u

struct cnd_sql_names {
	struct cnd_sql_name list[CND_SUMMARY_NAMES];
	uint32_t n;
	bool is_cut; /* there are more */
};

/*
 * What a text of SQL does, as far as the text tells. Where servers or settings differ, this has what any of them would do,
 * so a text may count as more than it is, and names more tables than it uses. What functions, views, triggers and
 * procedures do is not seen.
 */
struct cnd_summary {
	uint32_t classes; /* enum cnd_class; 0: the text has no statement */
	uint32_t n_statements;
	bool is_unsure; /* a server may read the text in another way; then it has all classes */
	struct cnd_sql_names tables;
	struct cnd_sql_names functions; /* those that the text calls by name */
};

/* dialect: enum cnc_sql_dialect. The summary points into the text. */
void cnd_summarize(
	const char *sql, size_t len, uint32_t dialect, struct cnd_summary *ret_summary);

/*
 * Whether the text's name may mean `wanted`, which is NAME or SCHEMA.NAME. Letters of both cases are equal. A name without
 * a schema may be in any schema. A name with escapes may mean anything.
 */
bool cnd_sql_name_is(const struct cnd_sql_name *name, const char *wanted);

/* The names of the classes, for people: "read, write". Returns `text`. */
#define CND_CLASSES_TEXT_MAX 96u
const char *cnd_classes_text(uint32_t classes, char text[CND_CLASSES_TEXT_MAX]);
/* The class of this name; 0: there is none. */
uint32_t cnd_class_named(const char *name, size_t n);

#endif
