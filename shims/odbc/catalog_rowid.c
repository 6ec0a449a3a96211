/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLSpecialColumns(): the columns that identify a row. They are the primary key, or else the columns
 * of a unique index that cannot be NULL. No server here has a column for SQL_ROWVER. PostgreSQL's
 * xmin changes with each update, but no ODBC type can be compared with it. catalog.c calls it; it has
 * no state.
 */
#include <string.h>

#include "catalog_internal.h"

/* Columns of the lists that the driver asks for. */
enum {
	KEY_COLUMN_NAME = 3, /* of primary keys */
	INDEX_NON_UNIQUE = 3,
	INDEX_NAME = 5,
	INDEX_COLUMN_NAME = 8,
	INDEX_CONDITION = 12,
	COLUMN_NAME = 3,
	COLUMN_NULLABLE = 10
};

struct rowid {
	struct cod_catalog_build *build;
	cenote_result *columns; /* list of the table's columns */
};

static int
ask(struct cod_catalog_build *build, uint32_t request, cenote_result **ret_res)
{
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;

	cod_catalog_filter_set(build->texts, &filter);
	return cenote_catalog(build->conn, request, &filter, ret_res);
}

/* The row of a column in id->columns; -1: there is no such column. */
static int64_t
find_column(const struct rowid *id, const char *name)
{
	for (uint64_t i = 0; name && i < cenote_result_n_rows(id->columns); i++) {
		const char *is = cenote_result_text(id->columns, i, COLUMN_NAME, NULL);

		if (is && strcmp(is, name) == 0)
			return (int64_t)i;
	}
	return -1;
}

static int
put_column(const struct rowid *id, const char *name)
{
	/* Columns of the list of columns: name, type, type name, size, length, digits. */
	static const uint32_t from[] = { 3, 4, 5, 6, 7, 8 };
	struct cod_catalog_row row = { .n_numbers = 0 };
	int64_t at = find_column(id, name);

	if (at < 0)
		return CENOTE_OK;
	for (uint32_t i = 0; i < sizeof(from) / sizeof(from[0]); i++)
		row.values[i + 1] = cenote_result_text(
			id->columns, (uint64_t)at, from[i], &row.lens[i + 1]);
	cod_catalog_set_number(&row, 0, SQL_SCOPE_SESSION);
	cod_catalog_set_number(&row, 7, SQL_PC_NOT_PSEUDO);
	cod_catalog_adapt_type(id->build->args, &row, 2, 4);
	return cod_catalog_put(id->build, &row);
}

static int
put_key(const struct rowid *id, const cenote_result *keys)
{
	int r = CENOTE_OK;

	for (uint64_t i = 0; r == CENOTE_OK && i < cenote_result_n_rows(keys); i++)
		r = put_column(id, cenote_result_text(keys, i, KEY_COLUMN_NAME, NULL));
	return r;
}

static int
is_required(const struct rowid *id, const char *name)
{
	int64_t nullable, at = find_column(id, name);

	return at >= 0 &&
	       cenote_result_int64(id->columns, (uint64_t)at, COLUMN_NULLABLE,
		       &nullable) == CENOTE_OK &&
	       nullable == SQL_NO_NULLS;
}

static int
is_same_index(const cenote_result *indexes, uint64_t a, uint64_t b)
{
	const char *x = cenote_result_text(indexes, a, INDEX_NAME, NULL);
	const char *y = cenote_result_text(indexes, b, INDEX_NAME, NULL);

	return x && y && strcmp(x, y) == 0;
}

/* Whether none of the index's columns may be NULL. Its rows begin at `from` and end before
 * *ret_end. */
static int
is_usable_index(const struct rowid *id, const cenote_result *indexes, uint64_t from,
	uint64_t *ret_end)
{
	uint64_t i = from;
	int64_t non_unique;
	int is_usable = 1;

	for (; i < cenote_result_n_rows(indexes) && is_same_index(indexes, from, i);
		i++) {
		if (cenote_result_int64(indexes, i, INDEX_NON_UNIQUE, &non_unique) !=
				CENOTE_OK ||
			non_unique != 0 ||
			!cenote_result_is_null(indexes, i, INDEX_CONDITION) ||
			!is_required(id,
				cenote_result_text(indexes, i, INDEX_COLUMN_NAME, NULL)))
			is_usable = 0;
	}
	*ret_end = i > from ? i : from + 1;
	return is_usable && i > from;
}

static int
put_unique_index(const struct rowid *id, const cenote_result *indexes)
{
	uint64_t end;
	int r = CENOTE_OK;

	for (uint64_t from = 0; from < cenote_result_n_rows(indexes); from = end) {
		if (!is_usable_index(id, indexes, from, &end))
			continue;
		for (uint64_t i = from; r == CENOTE_OK && i < end; i++)
			r = put_column(id,
				cenote_result_text(indexes, i, INDEX_COLUMN_NAME, NULL));
		return r;
	}
	return r;
}

static int
put_rowid(const struct rowid *id)
{
	cenote_result *res;
	int r = ask(id->build, CENOTE_CATALOG_PRIMARY_KEYS, &res), has_key;

	if (r != CENOTE_OK)
		return r;
	has_key = cenote_result_n_rows(res) > 0;
	r = put_key(id, res);
	cenote_result_destroy(res);
	if (r != CENOTE_OK || has_key)
		return r;
	r = ask(id->build, CENOTE_CATALOG_INDEXES, &res);
	if (r != CENOTE_OK)
		return r;
	r = put_unique_index(id, res);
	cenote_result_destroy(res);
	return r;
}

int
cod_catalog_rowid(struct cod_catalog_build *build)
{
	struct rowid id = { .build = build };
	int r;

	if (build->args->special != SQL_BEST_ROWID)
		return CENOTE_OK;
	r = ask(build, CENOTE_CATALOG_COLUMNS, &id.columns);
	if (r != CENOTE_OK)
		return r;
	r = put_rowid(&id);
	cenote_result_destroy(id.columns);
	return r;
}
