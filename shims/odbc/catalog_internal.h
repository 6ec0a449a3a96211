/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_CATALOG_PARTS_H
#define COD_CATALOG_PARTS_H

/* The declarations that the files of the catalog functions share. catalog.c sends requests and
 * builds results, catalog_columns.c has the columns of results, catalog_filter.c checks arguments,
 * and catalog_rowid.c has SQLSpecialColumns(). */

#include "catalog.h"

#define COD_CATALOG_COLUMNS_MAX 20

/* The values of one row before it goes into the result. */
struct cod_catalog_row {
	const char *values[COD_CATALOG_COLUMNS_MAX];
	size_t lens[COD_CATALOG_COLUMNS_MAX];
	/* Numbers that the driver computed, as texts; `values` points to them. */
	char numbers[6][24];
	unsigned n_numbers;
};

void cod_catalog_set_number(struct cod_catalog_row *row, uint32_t col, long value);

/* Make the columns of a function's result. 0, or -1: no memory. */
int cod_catalog_columns(const struct cod_catalog_args *args,
	struct cod_column **ret_columns, uint32_t *ret_n);

/* The filter of a request, which the caller frees: patterns of names, and a catalog. */
struct cod_catalog_filter_texts {
	char *schema, *object, *column;
	const char *catalog, *types; /* borrowed */
	const char *catalog_pattern; /* pattern to compare rows with; NULL: any */
};

/* Fill the filter from the arguments. 0, or -1: no memory. */
int cod_catalog_filter(const struct cod_catalog_args *args, const char *catalog,
	const char *schema, const char *object, int has_patterns,
	struct cod_catalog_filter_texts *ret_texts);
/* Are all names in capitals? PostgreSQL folds such names to small letters unless they are quoted. */
int cod_catalog_has_capitals(const struct cod_catalog_args *args);
void cod_catalog_filter_finish(struct cod_catalog_filter_texts *texts);
void cod_catalog_filter_set(
	const struct cod_catalog_filter_texts *texts, cenote_catalog_filter *filter);
/* Does the text match the pattern of SQL's LIKE, with \ as the escape character? */
int cod_catalog_is_like(const char *text, const char *pattern);

/* The SQLSTATE for an argument that is not allowed; NULL: all arguments are allowed. */
const char *cod_catalog_check(const struct cod_catalog_args *args);

/* A table that is being filled. */
struct cod_catalog_build {
	cenote_conn *conn;
	const struct cod_catalog_args *args;
	struct cod_catalog *catalog;
	const struct cod_catalog_filter_texts *texts;
};

/* Append the row. CENOTE_OK or CENOTE_ERR_NOMEM. */
int cod_catalog_put(struct cod_catalog_build *build, struct cod_catalog_row *row);
/* Adapt a column's type and sizes to the ones that results have. `type` and `size` are columns of
 * the row. */
void cod_catalog_adapt_type(const struct cod_catalog_args *args,
	struct cod_catalog_row *row, uint32_t type, uint32_t size);
/* SQLSpecialColumns(). Returns as cenote_query() does. */
int cod_catalog_rowid(struct cod_catalog_build *build);

#endif
