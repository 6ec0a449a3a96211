/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data at execution. A function returned SQL_NEED_DATA. SQLParamData() names a parameter (or a
 * column, for SQLSetPos() and SQLBulkOperations()), and SQLPutData() gives its value, perhaps in
 * pieces. execute.c and position.c begin it, param_data.c continues. The state is cod_stmt.pending.
 */
#include "odbc.h"

#include <stdlib.h>
#include <string.h>

void
cod_pending_clear(struct cod_stmt *stmt)
{
	struct cod_pending *pending = &stmt->pending;

	for (size_t i = 0; i < pending->n_given; i++)
		free(pending->given[i].bytes);
	free(pending->given);
	free(pending->bytes);
	*pending = (struct cod_pending){ 0 };
}

/* Whether the application gives columns, not parameters. */
static bool
is_of_rows(const struct cod_stmt *stmt)
{
	return stmt->pending.function == SQL_API_SQLSETPOS ||
	       stmt->pending.function == SQL_API_SQLBULKOPERATIONS;
}

static const struct cod_desc *
descriptor(const struct cod_stmt *stmt)
{
	return stmt->desc[is_of_rows(stmt) ? COD_ARD : COD_APD];
}

/* The next item after `item` that needs data; 0: no further item does. */
static SQLUSMALLINT
next_item(const struct cod_stmt *stmt, SQLUSMALLINT item, size_t n_items)
{
	const struct cod_pending *pending = &stmt->pending;
	const struct cod_desc *desc = descriptor(stmt);

	for (size_t i = item + 1u; i <= n_items; i++) {
		if (cod_is_at_execution(desc, (SQLSMALLINT)i, pending->row))
			return (SQLUSMALLINT)i;
	}
	return 0;
}

SQLRETURN
cod_pending_begin(
	struct cod_stmt *stmt, SQLUSMALLINT function, SQLULEN row, size_t n_items)
{
	struct cod_pending *pending = &stmt->pending;

	cod_pending_clear(stmt);
	pending->function = function;
	pending->row = row;
	if (next_item(stmt, 0, n_items) == 0) {
		cod_pending_clear(stmt);
		return SQL_SUCCESS;
	}
	pending->given = calloc(n_items, sizeof(*pending->given));
	if (pending->given == NULL) {
		cod_pending_clear(stmt);
		return cod_fail(&stmt->head, "HY001");
	}
	pending->n_given = n_items;
	return SQL_NEED_DATA;
}

/* Make the bytes that the application put the value of the item. */
static void
take_value(struct cod_pending *pending)
{
	struct cod_given *given = &pending->given[pending->item - 1];

	given->bytes = pending->bytes;
	given->n = pending->n;
	given->is_null = pending->is_null;
	pending->bytes = NULL;
	pending->n = 0;
	pending->room = 0;
	pending->is_null = false;
	pending->is_given = false;
	pending->is_asked = false;
}

/* Name the item to the application. */
static SQLRETURN
ask_for(struct cod_stmt *stmt, SQLUSMALLINT item, SQLPOINTER *ret_value)
{
	struct cod_pending *pending = &stmt->pending;
	const struct cod_desc *desc = descriptor(stmt);
	const struct cod_record *record = &desc->records[item];

	pending->item = item;
	pending->is_asked = true;
	if (ret_value != NULL)
		*ret_value = cod_desc_at(
			desc, record->data, pending->row, record->octet_length);
	return SQL_NEED_DATA;
}

SQLRETURN
cod_pending_next(struct cod_stmt *stmt, SQLPOINTER *ret_value)
{
	struct cod_pending *pending = &stmt->pending;
	SQLUSMALLINT item;

	if (pending->function == 0 || (pending->is_asked && !pending->is_given))
		return cod_fail(&stmt->head, "HY010");
	if (pending->is_asked)
		take_value(pending);
	item = next_item(stmt, pending->item, pending->n_given);
	return (SQLRETURN)(item > 0 ? ask_for(stmt, item, ret_value) : SQL_SUCCESS);
}

/* Get the length of a piece. False: the length is not valid. */
static bool
piece_length(SQLSMALLINT c_type, const void *data, SQLLEN n, size_t *ret_n)
{
	const struct cod_c_type *type = cod_c_type(c_type);

	if (type != NULL && type->octets > 0)
		*ret_n = (size_t)type->octets;
	else if (n >= 0)
		*ret_n = (size_t)n;
	else if (n != SQL_NTS)
		return false;
	else if (c_type == SQL_C_WCHAR)
		*ret_n = cod_wide_strlen(data) * sizeof(SQLWCHAR);
	else
		*ret_n = strlen(data);
	return true;
}

static bool
append(struct cod_pending *pending, const void *data, size_t n)
{
	size_t room = pending->room < 256 ? 256 : pending->room;
	char *grown;

	if (n >= SIZE_MAX / 2 - pending->n)
		return false;
	while (room < pending->n + n + sizeof(SQLWCHAR))
		room *= 2;
	if (room > pending->room) {
		grown = realloc(pending->bytes, room);
		if (grown == NULL)
			return false;
		pending->bytes = grown;
		pending->room = room;
	}
	if (n > 0)
		memcpy(pending->bytes + pending->n, data, n);
	pending->n += n;
	memset(pending->bytes + pending->n, 0, sizeof(SQLWCHAR));
	return true;
}

static SQLSMALLINT
type_of_item(const struct cod_stmt *stmt)
{
	SQLSMALLINT i = (SQLSMALLINT)stmt->pending.item;
	SQLSMALLINT c_type = descriptor(stmt)->records[i].concise;
	const struct cod_record *record = cod_desc_record(stmt->desc[COD_IPD], i);

	if (c_type != SQL_C_DEFAULT)
		return c_type;
	if (is_of_rows(stmt))
		return cod_default_c_type(stmt->columns[i - 1].type.sql->concise, 0);
	if (record == NULL)
		return c_type;
	return cod_default_c_type(record->concise, 0);
}

SQLRETURN
cod_put_data(struct cod_stmt *stmt, SQLPOINTER data, SQLLEN n)
{
	struct cod_pending *pending = &stmt->pending;
	const struct cod_c_type *type;
	SQLSMALLINT c_type;
	size_t length;
	bool has_size;

	if (pending->function == 0 || !pending->is_asked)
		return cod_fail(&stmt->head, "HY010");
	if (pending->is_null)
		return cod_fail(&stmt->head, "HY020");
	if (n == SQL_NULL_DATA) {
		if (pending->is_given)
			return cod_fail(&stmt->head, "HY020");
		pending->is_given = true;
		pending->is_null = true;
		return SQL_SUCCESS;
	}
	c_type = type_of_item(stmt);
	type = cod_c_type(c_type);
	has_size = type != NULL && type->octets > 0;
	if (data == NULL && (n != 0 || has_size))
		return cod_fail(&stmt->head, "HY009");
	if (pending->is_given && has_size)
		return cod_fail(&stmt->head, "HY019");
	if (!piece_length(c_type, data, n, &length))
		return cod_fail(&stmt->head, "HY090");
	if (data == NULL)
		length = 0;
	if (!append(pending, data, length))
		return cod_fail(&stmt->head, "HY001");
	pending->is_given = true;
	return SQL_SUCCESS;
}
