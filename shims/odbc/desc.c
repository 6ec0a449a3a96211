/* SPDX-License-Identifier: BSD-2-Clause */
#include "odbc.h"

#include <stdlib.h>
#include <string.h>

void
cod_desc_init(struct cod_desc *desc, struct cod_dbc *dbc, enum cod_role role)
{
	desc->dbc = dbc;
	desc->role = role;
	desc->array_size = 1;
}

static void
record_init(struct cod_record *record, enum cod_role role)
{
	*record = (struct cod_record){
		.param_type = SQL_PARAM_INPUT,
		.nullable = SQL_NULLABLE,
	};
	if (role != COD_IPD)
		(void)cod_record_set_type(record, SQL_C_DEFAULT, true);
}

static void
drop_records(struct cod_desc *desc, SQLSMALLINT from)
{
	for (SQLSMALLINT i = from; i < desc->room; i++) {
		free(desc->records[i].name);
		record_init(&desc->records[i], desc->role);
	}
}

void
cod_desc_finish(struct cod_desc *desc)
{
	drop_records(desc, 0);
	free(desc->records);
	desc->records = NULL;
	desc->room = 0;
	desc->count = 0;
}

/* Statements that used it have their own again. */
void
cod_desc_unlink(struct cod_desc *desc)
{
	for (struct cod_stmt *stmt = desc->dbc->stmts; stmt != NULL; stmt = stmt->next) {
		for (int i = 0; i < COD_N_ROLES; i++) {
			if (stmt->desc[i] == desc)
				stmt->desc[i] = &stmt->implicit[i];
		}
	}
}

static bool
make_room(struct cod_desc *desc, SQLSMALLINT i)
{
	SQLSMALLINT room = (SQLSMALLINT)(i < 8               ? 9
					 : i < INT16_MAX / 2 ? 2 * i
							     : INT16_MAX);
	struct cod_record *grown;

	if (i < desc->room)
		return true;
	if (i == INT16_MAX)
		return false;
	grown = realloc(desc->records, (size_t)room * sizeof(*grown));
	if (grown == NULL)
		return false;
	desc->records = grown;
	for (SQLSMALLINT k = desc->room; k < room; k++)
		record_init(&grown[k], desc->role);
	desc->room = room;
	return true;
}

struct cod_record *
cod_desc_need(struct cod_desc *desc, SQLSMALLINT i)
{
	if (!make_room(desc, i))
		return NULL;
	if (i > desc->count)
		desc->count = i;
	return &desc->records[i];
}

struct cod_record *
cod_desc_record(const struct cod_desc *desc, SQLSMALLINT i)
{
	if (i < 0 || i > desc->count || i >= desc->room)
		return NULL;
	return &desc->records[i];
}

void
cod_desc_set_count(struct cod_desc *desc, SQLSMALLINT count)
{
	if (count < desc->count)
		drop_records(desc, (SQLSMALLINT)(count + 1));
	desc->count = count;
}

/* What the standard sets with a type. */
static void
set_defaults(struct cod_record *record, bool is_c)
{
	record->length = 0;
	record->precision = 0;
	record->scale = 0;
	record->leading = 0;
	if (record->type == SQL_DATETIME) {
		record->precision = record->sub == SQL_CODE_TIMESTAMP ? 6 : 0;
	} else if (record->type == SQL_INTERVAL) {
		record->leading = 2;
		record->precision = 6;
	} else if (record->concise == SQL_NUMERIC || record->concise == SQL_DECIMAL) {
		record->precision = 38;
	} else if (!is_c || record->concise == SQL_C_CHAR) {
		record->length = 1;
	}
}

bool
cod_record_set_type(struct cod_record *record, SQLSMALLINT concise, bool is_c)
{
	if (is_c) {
		const struct cod_c_type *type = cod_c_type(concise);

		if (type == NULL)
			return false;
		record->type = type->verbose;
		record->sub = type->sub;
		record->concise = type->concise;
		record->octet_length = type->octets;
	} else {
		const struct cod_sql_type *type = cod_sql_type(concise);

		if (type == NULL)
			return false;
		record->type = type->verbose;
		record->sub = type->sub;
		record->concise = type->concise;
		record->radix = type->radix;
	}
	set_defaults(record, is_c);
	return true;
}

void *
cod_desc_at(const struct cod_desc *desc, void *base, SQLULEN i, SQLLEN octets)
{
	SQLLEN offset = desc->bind_offset != NULL ? *desc->bind_offset : 0;
	SQLLEN step = desc->bind_type == SQL_BIND_BY_COLUMN ? octets : desc->bind_type;

	if (base == NULL)
		return NULL;
	return (char *)base + offset + (SQLLEN)i * step;
}

/* ---------------------------------------------------------------------- copies ----- */

static bool
copy_records(struct cod_desc *to, const struct cod_desc *from)
{
	for (SQLSMALLINT i = 0; i <= from->count && i < from->room; i++) {
		struct cod_record *record = cod_desc_need(to, i);
		char *name = NULL;

		if (record == NULL)
			return false;
		if (from->records[i].name != NULL) {
			name = cod_strdup(
				from->records[i].name, strlen(from->records[i].name));
			if (name == NULL)
				return false;
		}
		*record = from->records[i];
		record->name = name;
	}
	return true;
}

/* From the columns of a result: as records of an application's descriptor. */
static bool
copy_columns(struct cod_desc *to, const struct cod_stmt *stmt)
{
	for (SQLUSMALLINT i = 0; i < stmt->n_columns; i++) {
		const struct cod_type *type = &stmt->columns[i].type;
		struct cod_record *record = cod_desc_need(to, (SQLSMALLINT)(i + 1));

		if (record == NULL)
			return false;
		(void)cod_record_set_type(record, type->sql->concise, false);
		record->length = type->size;
		record->precision = type->precision;
		record->scale = type->digits;
		record->octet_length = type->octets;
	}
	return true;
}

static void
copy_header(struct cod_desc *to, const struct cod_desc *from)
{
	to->count = from->count;
	to->array_size = from->array_size;
	to->array_status = from->array_status;
	to->bind_offset = from->bind_offset;
	to->bind_type = from->bind_type;
	to->rows_processed = from->rows_processed;
}

/* With the source's lock: NULL, or the state. */
static const char *
take_copy(struct cod_desc *copy, const struct cod_desc *source)
{
	bool is_row = source->role == COD_IRD;

	if (!(is_row ? copy_columns(copy, source->stmt) : copy_records(copy, source)))
		return "HY001";
	copy_header(copy, source);
	if (is_row)
		copy->count = (SQLSMALLINT)source->stmt->n_columns;
	return NULL;
}

/* With the target's. */
static void
put_copy(struct cod_desc *to, struct cod_desc *copy)
{
	cod_desc_finish(to);
	copy_header(to, copy);
	to->records = copy->records;
	to->room = copy->room;
	copy->records = NULL;
	copy->room = 0;
}

static SQLRETURN
copy_from(SQLHDESC source, struct cod_desc *copy, const char **ret_sqlstate)
{
	struct cod_call call;

	if (!cod_enter(&call, source, COD_DESC, SQL_API_SQLCOPYDESC))
		return call.ret;
	if (copy->role == COD_IRD)
		*ret_sqlstate = "HY016";
	else
		call.ret = cod_desc_describe(source);
	if (*ret_sqlstate == NULL && call.ret == SQL_SUCCESS)
		*ret_sqlstate = take_copy(copy, source);
	if (*ret_sqlstate != NULL)
		call.ret = cod_fail(call.head, *ret_sqlstate);
	return cod_leave(&call);
}

/* The standard has errors with the target, and unixODBC asks the source. */
static SQLRETURN
copy_to(SQLHDESC target, struct cod_desc *copy, const char *sqlstate)
{
	struct cod_call call;

	if (!cod_enter(&call, target, COD_DESC, SQL_API_SQLCOPYDESC))
		return call.ret;
	if (sqlstate == NULL && cod_desc_is_busy(target))
		sqlstate = "HY010";
	if (sqlstate != NULL)
		call.ret = cod_fail(call.head, sqlstate);
	else
		put_copy(target, copy);
	return cod_leave(&call);
}

/*
 * The two may be of different connections, each with its lock. They are held one after the other and never together,
 * so copies in both directions do not wait for each other.
 */
SQLRETURN
cod_copy_desc(SQLHDESC source, SQLHDESC target)
{
	struct cod_desc copy = { 0 };
	const char *sqlstate = NULL;
	SQLRETURN ret;

	if (!cod_is_handle(target, COD_DESC))
		return SQL_INVALID_HANDLE;
	cod_desc_init(&copy, NULL, ((const struct cod_desc *)target)->role);
	ret = copy_from(source, &copy, &sqlstate);
	if (ret == SQL_SUCCESS || sqlstate != NULL)
		ret = copy_to(target, &copy, sqlstate);
	cod_desc_finish(&copy);
	return ret;
}
