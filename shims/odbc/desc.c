/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors and their records: memory, types and the addresses of values. desc_field.c reads and
 * writes fields, param.c and fetch.c bind. The state is struct cod_desc.
 */
#include "odbc.h"

#include <stdlib.h>

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

/* Statements that used the descriptor get their own implicit descriptor back. */
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

/* Set the fields that the standard derives from a type. */
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
