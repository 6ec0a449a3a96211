/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of a statement, and the defaults that a connection has for them. face.c, face_w.c and
 * dbc_attr.c call it. The state is the attributes in struct cod_stmt and struct cod_dbc.
 */
#include "odbc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	CURSOR_NAME_MAX = 128
};

/* ---------------------------------------------------------------------- numbers ----- */

/* The values that are allowed. */
static const struct {
	SQLINTEGER attr;
	SQLULEN most; /* a larger value is HY024 */
	SQLULEN initial;
	bool is_fixed; /* every other value becomes the initial one, with 01S02 */
} attrs[COD_N_STMT_ATTRS] = {
	[COD_ASYNC_ENABLE] = { SQL_ATTR_ASYNC_ENABLE, SQL_ASYNC_ENABLE_ON,
		SQL_ASYNC_ENABLE_OFF, false },
	[COD_CONCURRENCY] = { SQL_ATTR_CONCURRENCY, SQL_CONCUR_VALUES,
		SQL_CONCUR_READ_ONLY, false },
	[COD_CURSOR_SCROLLABLE] = { SQL_ATTR_CURSOR_SCROLLABLE, SQL_SCROLLABLE,
		SQL_NONSCROLLABLE, false },
	[COD_CURSOR_SENSITIVITY] = { SQL_ATTR_CURSOR_SENSITIVITY, SQL_SENSITIVE,
		SQL_UNSPECIFIED, false },
	[COD_CURSOR_TYPE] = { SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC,
		SQL_CURSOR_FORWARD_ONLY, false },
	[COD_ENABLE_AUTO_IPD] = { SQL_ATTR_ENABLE_AUTO_IPD, SQL_FALSE, SQL_FALSE, false },
	[COD_KEYSET_SIZE] = { SQL_ATTR_KEYSET_SIZE, UINT32_MAX, 0, true },
	[COD_MAX_LENGTH] = { SQL_ATTR_MAX_LENGTH, UINT32_MAX, 0, true },
	[COD_MAX_ROWS] = { SQL_ATTR_MAX_ROWS, INT64_MAX, 0, false },
	[COD_METADATA_ID] = { SQL_ATTR_METADATA_ID, SQL_TRUE, SQL_FALSE, false },
	[COD_NOSCAN] = { SQL_ATTR_NOSCAN, SQL_NOSCAN_ON, SQL_NOSCAN_OFF, false },
	[COD_QUERY_TIMEOUT] = { SQL_ATTR_QUERY_TIMEOUT, INT32_MAX, 0, false },
	[COD_RETRIEVE_DATA] = { SQL_ATTR_RETRIEVE_DATA, SQL_RD_ON, SQL_RD_ON, false },
	[COD_SIMULATE_CURSOR] = { SQL_ATTR_SIMULATE_CURSOR, SQL_SC_UNIQUE, SQL_SC_UNIQUE,
		true },
	[COD_USE_BOOKMARKS] = { SQL_ATTR_USE_BOOKMARKS, SQL_UB_VARIABLE, SQL_UB_OFF,
		false },
};

static int
find_number(SQLINTEGER attr)
{
	for (int i = 0; i < COD_N_STMT_ATTRS; i++) {
		if (attrs[i].attr == attr)
			return i;
	}
	return -1;
}

void
cod_stmt_attr_defaults(SQLULEN values[COD_N_STMT_ATTRS])
{
	for (int i = 0; i < COD_N_STMT_ATTRS; i++)
		values[i] = attrs[i].initial;
}

/* Keep cursor type, scrollability, sensitivity and concurrency consistent. */
static void
keep_consistent(SQLULEN values[COD_N_STMT_ATTRS], int i)
{
	if (i == COD_CURSOR_SCROLLABLE)
		values[COD_CURSOR_TYPE] = values[i] == SQL_SCROLLABLE
						  ? SQL_CURSOR_STATIC
						  : SQL_CURSOR_FORWARD_ONLY;
	else if (i == COD_CURSOR_SENSITIVITY && values[i] != SQL_UNSPECIFIED)
		values[COD_CURSOR_TYPE] = SQL_CURSOR_STATIC;
	values[COD_CURSOR_SCROLLABLE] = values[COD_CURSOR_TYPE] == SQL_CURSOR_STATIC
						? SQL_SCROLLABLE
						: SQL_NONSCROLLABLE;
	if (i != COD_CURSOR_SENSITIVITY)
		values[COD_CURSOR_SENSITIVITY] =
			values[COD_CURSOR_TYPE] == SQL_CURSOR_STATIC ? SQL_INSENSITIVE
								     : SQL_UNSPECIFIED;
}

/* Set the nearest value that exists. NULL, or the SQLSTATE of the warning or error. */
static const char *
set_number(SQLULEN values[COD_N_STMT_ATTRS], int i, SQLULEN value)
{
	const char *sqlstate = NULL;

	if (i == COD_CURSOR_TYPE &&
		(value == SQL_CURSOR_KEYSET_DRIVEN || value == SQL_CURSOR_DYNAMIC)) {
		value = SQL_CURSOR_STATIC;
		sqlstate = "01S02";
	} else if (i == COD_CURSOR_SENSITIVITY && value == SQL_SENSITIVE) {
		value = SQL_INSENSITIVE;
		sqlstate = "01S02";
	} else if (i == COD_CONCURRENCY &&
		   (value == SQL_CONCUR_LOCK || value == SQL_CONCUR_ROWVER)) {
		value = SQL_CONCUR_VALUES;
		sqlstate = "01S02";
	} else if (value > attrs[i].most || (i == COD_CONCURRENCY && value == 0)) {
		return "HY024";
	} else if (attrs[i].is_fixed && value != attrs[i].initial) {
		value = attrs[i].initial;
		sqlstate = "01S02";
	}
	values[i] = value;
	keep_consistent(values, i);
	return sqlstate;
}

bool
cod_set_stmt_default(struct cod_dbc *dbc, SQLINTEGER attr, SQLULEN value)
{
	int i = find_number(attr);

	if (i < 0)
		return false;
	(void)set_number(dbc->stmt_attrs, i, value);
	return true;
}

bool
cod_get_stmt_default(struct cod_dbc *dbc, SQLINTEGER attr, SQLULEN *ret_value)
{
	int i = find_number(attr);

	if (i < 0)
		return false;
	*ret_value = dbc->stmt_attrs[i];
	return true;
}

/* ---------------------------------------------- fields of a descriptor's header ----- */

static const struct {
	SQLINTEGER attr;
	enum cod_role role;
	SQLSMALLINT field;
} fields[] = {
	{ SQL_ATTR_PARAM_BIND_OFFSET_PTR, COD_APD, SQL_DESC_BIND_OFFSET_PTR },
	{ SQL_ATTR_PARAM_BIND_TYPE, COD_APD, SQL_DESC_BIND_TYPE },
	{ SQL_ATTR_PARAM_OPERATION_PTR, COD_APD, SQL_DESC_ARRAY_STATUS_PTR },
	{ SQL_ATTR_PARAM_STATUS_PTR, COD_IPD, SQL_DESC_ARRAY_STATUS_PTR },
	{ SQL_ATTR_PARAMS_PROCESSED_PTR, COD_IPD, SQL_DESC_ROWS_PROCESSED_PTR },
	{ SQL_ATTR_PARAMSET_SIZE, COD_APD, SQL_DESC_ARRAY_SIZE },
	{ SQL_ATTR_ROW_ARRAY_SIZE, COD_ARD, SQL_DESC_ARRAY_SIZE },
	{ SQL_ROWSET_SIZE, COD_ARD, SQL_DESC_ARRAY_SIZE },
	{ SQL_ATTR_ROW_BIND_OFFSET_PTR, COD_ARD, SQL_DESC_BIND_OFFSET_PTR },
	{ SQL_ATTR_ROW_BIND_TYPE, COD_ARD, SQL_DESC_BIND_TYPE },
	{ SQL_ATTR_ROW_OPERATION_PTR, COD_ARD, SQL_DESC_ARRAY_STATUS_PTR },
	{ SQL_ATTR_ROW_STATUS_PTR, COD_IRD, SQL_DESC_ARRAY_STATUS_PTR },
	{ SQL_ATTR_ROWS_FETCHED_PTR, COD_IRD, SQL_DESC_ROWS_PROCESSED_PTR },
};

static SQLRETURN
set_field(struct cod_stmt *stmt, size_t i, SQLPOINTER value)
{
	struct cod_desc *desc = stmt->desc[fields[i].role];

	switch (fields[i].field) {
	case SQL_DESC_ARRAY_SIZE:
		if ((SQLULEN)value == 0)
			return cod_fail(&stmt->head, "HY024");
		desc->array_size = (SQLULEN)value;
		break;
	case SQL_DESC_ARRAY_STATUS_PTR:
		desc->array_status = value;
		break;
	case SQL_DESC_BIND_OFFSET_PTR:
		desc->bind_offset = value;
		break;
	case SQL_DESC_BIND_TYPE:
		desc->bind_type = (SQLINTEGER)(intptr_t)value;
		break;
	default:
		desc->rows_processed = value;
		break;
	}
	return SQL_SUCCESS;
}

static SQLULEN
get_field(const struct cod_stmt *stmt, size_t i)
{
	const struct cod_desc *desc = stmt->desc[fields[i].role];

	switch (fields[i].field) {
	case SQL_DESC_ARRAY_SIZE:
		return desc->array_size;
	case SQL_DESC_ARRAY_STATUS_PTR:
		return (SQLULEN)desc->array_status;
	case SQL_DESC_BIND_OFFSET_PTR:
		return (SQLULEN)desc->bind_offset;
	case SQL_DESC_BIND_TYPE:
		return (SQLULEN)desc->bind_type;
	default:
		return (SQLULEN)desc->rows_processed;
	}
}

/* ------------------------------------------------------------------- descriptors ----- */

static const struct {
	SQLINTEGER attr;
	enum cod_role role;
} descriptors[] = {
	{ SQL_ATTR_APP_PARAM_DESC, COD_APD },
	{ SQL_ATTR_IMP_PARAM_DESC, COD_IPD },
	{ SQL_ATTR_APP_ROW_DESC, COD_ARD },
	{ SQL_ATTR_IMP_ROW_DESC, COD_IRD },
};

static SQLRETURN
set_descriptor(struct cod_stmt *stmt, enum cod_role role, SQLPOINTER value)
{
	struct cod_desc *desc = value;

	if (role == COD_IPD || role == COD_IRD)
		return cod_fail(&stmt->head, "HY017");
	if (desc == NULL || desc == &stmt->implicit[role]) {
		stmt->desc[role] = &stmt->implicit[role];
		return SQL_SUCCESS;
	}
	if (!cod_is_handle(desc, COD_DESC) || desc->dbc != stmt->dbc)
		return cod_fail(&stmt->head, "HY024");
	if (desc->role != COD_EXPLICIT)
		return cod_fail(&stmt->head, "HY017");
	stmt->desc[role] = desc;
	return SQL_SUCCESS;
}

/* ---------------------------------------------------------------------- the faces ----- */

static SQLRETURN
set_stmt_number(struct cod_stmt *stmt, int i, SQLULEN value)
{
	bool is_of_cursor = i == COD_CONCURRENCY || i == COD_CURSOR_SCROLLABLE ||
			    i == COD_CURSOR_SENSITIVITY || i == COD_CURSOR_TYPE ||
			    i == COD_SIMULATE_CURSOR || i == COD_USE_BOOKMARKS;

	if (is_of_cursor && stmt->cursor.is_open)
		return cod_fail(&stmt->head, "24000");
	return cod_tell(&stmt->head, &COD_NOWHERE, set_number(stmt->attrs, i, value));
}

SQLRETURN
cod_set_stmt_attr(struct cod_stmt *stmt, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER n)
{
	int number = find_number(attr);

	(void)n;
	if (number >= 0)
		return set_stmt_number(stmt, number, (SQLULEN)value);
	for (size_t i = 0; i < COD_COUNT(fields); i++) {
		if (fields[i].attr == attr)
			return set_field(stmt, i, value);
	}
	for (size_t i = 0; i < COD_COUNT(descriptors); i++) {
		if (descriptors[i].attr == attr)
			return set_descriptor(stmt, descriptors[i].role, value);
	}
	if (attr == SQL_ATTR_FETCH_BOOKMARK_PTR) {
		stmt->fetch_bookmark = value;
		return SQL_SUCCESS;
	}
	return cod_fail(&stmt->head, "HY092");
}

/* SQL_ATTR_ROW_NUMBER: the current row, from 1; 0: there is none. */
static SQLULEN
row_number(const struct cod_stmt *stmt)
{
	const struct cod_cursor *cursor = &stmt->cursor;

	if (!cursor->is_open || cursor->at < 0 || cursor->size == 0)
		return 0;
	return (SQLULEN)cursor->at + cursor->current + 1;
}

static bool
get_number(const struct cod_stmt *stmt, SQLINTEGER attr, SQLULEN *ret_value)
{
	int number = find_number(attr);

	if (number >= 0) {
		*ret_value = stmt->attrs[number];
		return true;
	}
	for (size_t i = 0; i < COD_COUNT(fields); i++) {
		if (fields[i].attr == attr) {
			*ret_value = get_field(stmt, i);
			return true;
		}
	}
	for (size_t i = 0; i < COD_COUNT(descriptors); i++) {
		if (descriptors[i].attr == attr) {
			*ret_value = (SQLULEN)stmt->desc[descriptors[i].role];
			return true;
		}
	}
	if (attr == SQL_ATTR_FETCH_BOOKMARK_PTR)
		*ret_value = (SQLULEN)stmt->fetch_bookmark;
	else if (attr == SQL_ATTR_ROW_NUMBER)
		*ret_value = row_number(stmt);
	else
		return false;
	return true;
}

SQLRETURN
cod_get_stmt_attr(
	struct cod_stmt *stmt, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER *length)
{
	SQLULEN number;

	if (!get_number(stmt, attr, &number))
		return cod_fail(&stmt->head, "HY092");
	if (value != NULL)
		*(SQLULEN *)value = number;
	if (length != NULL)
		*length = (SQLINTEGER)sizeof(number);
	return SQL_SUCCESS;
}

/* -------------------------------------------------------------------- cursor names ----- */

static bool
is_taken(const struct cod_stmt *stmt, const char *name)
{
	for (const struct cod_stmt *other = stmt->dbc->stmts; other != NULL;
		other = other->next) {
		if (other != stmt && other->cursor_name != NULL &&
			strcasecmp(other->cursor_name, name) == 0)
			return true;
	}
	return false;
}

static SQLRETURN
put_cursor_name(struct cod_stmt *stmt, const char *name, size_t n)
{
	char *copy = cod_strdup(name, n);

	if (copy == NULL)
		return cod_fail(&stmt->head, "HY001");
	free(stmt->cursor_name);
	stmt->cursor_name = copy;
	return SQL_SUCCESS;
}

SQLRETURN
cod_get_cursor_name(struct cod_stmt *stmt, const struct cod_sink *name)
{
	char made[32];
	SQLRETURN ret = SQL_SUCCESS;

	if (stmt->cursor_name == NULL) {
		(void)snprintf(made, sizeof(made), "SQL_CUR%u", ++stmt->dbc->n_cursors);
		ret = put_cursor_name(stmt, made, strlen(made));
	}
	if (ret == SQL_SUCCESS)
		return cod_give(&stmt->head, name, stmt->cursor_name);
	return ret;
}

SQLRETURN
cod_set_cursor_name(struct cod_stmt *stmt, struct cod_text name)
{
	if (name.text == NULL)
		return cod_fail(&stmt->head, "HY009");
	if (stmt->cursor.is_open)
		return cod_fail(&stmt->head, "24000");
	if (name.n == 0 || name.n > CURSOR_NAME_MAX ||
		strncasecmp(name.text, "SQLCUR", 6) == 0 ||
		strncasecmp(name.text, "SQL_CUR", 7) == 0)
		return cod_fail(&stmt->head, "34000");
	if (is_taken(stmt, name.text))
		return cod_fail(&stmt->head, "3C000");
	return put_cursor_name(stmt, name.text, name.n);
}
