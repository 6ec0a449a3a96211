/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_DESCRIBE_H
#define SQLSH_DESCRIBE_H

#include "shell.h"

/* Make a pattern for LIKE. With has_wildcards, `*` and `?` are wildcards. */
void describe_pattern(struct text *t, const char *name, int has_wildcards);
/* The value as text, "" if it is NULL or there is no such column. */
const char *describe_value(const cenote_result *res, uint64_t row, const char *column);
/* Add a type from the catalog with its length: varchar(20). */
void describe_type(struct text *t, const cenote_result *res, uint64_t row);
/* Show the table in a row of a list of tables. */
int describe_table(
	struct shell *sh, const cenote_result *tables, uint64_t row, int has_remarks);

#endif
