/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of descriptors by their number (SQLGetDescField() and similar), and copies of whole
 * descriptors. Tables say which kind of descriptor has a field and may set it. face.c and face_w.c
 * call it. The state is struct cod_desc.
 */
#include "odbc.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of descriptors that have a field, or may set it: bits by role. */
#define ON_APD  (1u << COD_APD)
#define ON_IPD  (1u << COD_IPD)
#define ON_ARD  (1u << COD_ARD)
#define ON_IRD  (1u << COD_IRD)
#define ON_FREE (1u << COD_EXPLICIT)
#define ON_APP  (ON_APD | ON_ARD | ON_FREE)
#define ON_ALL  (ON_APP | ON_IPD | ON_IRD)

enum form {
	FORM_16,
	FORM_32,
	FORM_LEN, /* SQLLEN, SQLULEN */
	FORM_POINTER,
	FORM_TEXT
};

struct field {
	SQLSMALLINT id;
	enum form form;
	unsigned has, sets; /* bits by role */
	size_t at; /* in struct cod_desc, or struct cod_record */
};

/* clang-format off */
static const struct field header_fields[] = {
	{ SQL_DESC_ARRAY_SIZE, FORM_LEN, ON_APP, ON_APP, offsetof(struct cod_desc, array_size) },
	{ SQL_DESC_ARRAY_STATUS_PTR, FORM_POINTER, ON_ALL, ON_ALL, offsetof(struct cod_desc, array_status) },
	{ SQL_DESC_BIND_OFFSET_PTR, FORM_POINTER, ON_APP, ON_APP, offsetof(struct cod_desc, bind_offset) },
	{ SQL_DESC_BIND_TYPE, FORM_32, ON_APP, ON_APP, offsetof(struct cod_desc, bind_type) },
	{ SQL_DESC_ROWS_PROCESSED_PTR, FORM_POINTER, ON_IPD | ON_IRD, ON_IPD | ON_IRD, offsetof(struct cod_desc, rows_processed) },
};

/* Fields of records. An IRD has columns instead (column_field.c). */
static const struct field record_fields[] = {
	{ SQL_DESC_CONCISE_TYPE, FORM_16, ON_APP | ON_IPD, 0, offsetof(struct cod_record, concise) },
	{ SQL_DESC_DATA_PTR, FORM_POINTER, ON_APP, ON_APP, offsetof(struct cod_record, data) },
	{ SQL_DESC_DATETIME_INTERVAL_CODE, FORM_16, ON_APP | ON_IPD, 0, offsetof(struct cod_record, sub) },
	{ SQL_DESC_DATETIME_INTERVAL_PRECISION, FORM_32, ON_APP | ON_IPD, ON_APP | ON_IPD, offsetof(struct cod_record, leading) },
	{ SQL_DESC_INDICATOR_PTR, FORM_POINTER, ON_APP, ON_APP, offsetof(struct cod_record, indicator) },
	{ SQL_DESC_LENGTH, FORM_LEN, ON_APP | ON_IPD, ON_APP | ON_IPD, offsetof(struct cod_record, length) },
	{ SQL_DESC_NAME, FORM_TEXT, ON_IPD, ON_IPD, offsetof(struct cod_record, name) },
	{ SQL_DESC_NULLABLE, FORM_16, ON_IPD, 0, offsetof(struct cod_record, nullable) },
	{ SQL_DESC_NUM_PREC_RADIX, FORM_32, ON_APP | ON_IPD, ON_APP | ON_IPD, offsetof(struct cod_record, radix) },
	{ SQL_DESC_OCTET_LENGTH, FORM_LEN, ON_APP | ON_IPD, ON_APP | ON_IPD, offsetof(struct cod_record, octet_length) },
	{ SQL_DESC_OCTET_LENGTH_PTR, FORM_POINTER, ON_APP, ON_APP, offsetof(struct cod_record, octets) },
	{ SQL_DESC_PARAMETER_TYPE, FORM_16, ON_IPD, ON_IPD, offsetof(struct cod_record, param_type) },
	{ SQL_DESC_PRECISION, FORM_16, ON_APP | ON_IPD, ON_APP | ON_IPD, offsetof(struct cod_record, precision) },
	{ SQL_DESC_SCALE, FORM_16, ON_APP | ON_IPD, ON_APP | ON_IPD, offsetof(struct cod_record, scale) },
	{ SQL_DESC_TYPE, FORM_16, ON_APP | ON_IPD, 0, offsetof(struct cod_record, type) },
};
/* clang-format on */

static const struct field *
find(const struct field *fields, size_t n, SQLSMALLINT id)
{
	for (size_t i = 0; i < n; i++) {
		if (fields[i].id == id)
			return &fields[i];
	}
	return NULL;
}

static unsigned
bit_of(const struct cod_desc *desc)
{
	return 1u << desc->role;
}

/* ------------------------------------------------------------------------ getting ----- */

static SQLRETURN
give_number(enum form form, SQLLEN number, SQLPOINTER value, const struct cod_sink *sink)
{
	static const SQLINTEGER sizes[] = {
		[FORM_16] = sizeof(SQLSMALLINT),
		[FORM_32] = sizeof(SQLINTEGER),
		[FORM_LEN] = sizeof(SQLLEN),
		[FORM_POINTER] = sizeof(SQLPOINTER),
	};

	if (sink->length32 != NULL)
		*sink->length32 = sizes[form];
	if (value == NULL)
		return SQL_SUCCESS;
	if (form == FORM_16)
		*(SQLSMALLINT *)value = (SQLSMALLINT)number;
	else if (form == FORM_32)
		*(SQLINTEGER *)value = (SQLINTEGER)number;
	else
		*(SQLLEN *)value = number;
	return SQL_SUCCESS;
}

static SQLLEN
read_number(enum form form, const void *at)
{
	if (form == FORM_16)
		return *(const SQLSMALLINT *)at;
	if (form == FORM_32)
		return *(const SQLINTEGER *)at;
	return *(const SQLLEN *)at;
}

static SQLRETURN
give_field(struct cod_desc *desc, const struct field *field, const void *base,
	SQLPOINTER value, const struct cod_sink *sink)
{
	const void *at = (const char *)base + field->at;

	if ((field->has & bit_of(desc)) == 0)
		return cod_fail(&desc->head, "HY091");
	if (field->form == FORM_TEXT)
		return cod_give(&desc->head, sink, *(const char *const *)at);
	return give_number(field->form, read_number(field->form, at), value, sink);
}

/* The fields of a column that are not an SQLINTEGER. */
static enum form
form_of_column(SQLSMALLINT id)
{
	static const SQLSMALLINT small[] = { SQL_DESC_CONCISE_TYPE,
		SQL_DESC_DATETIME_INTERVAL_CODE, SQL_DESC_FIXED_PREC_SCALE,
		SQL_DESC_NULLABLE, SQL_DESC_PRECISION, SQL_DESC_ROWVER, SQL_DESC_SCALE,
		SQL_DESC_SEARCHABLE, SQL_DESC_TYPE, SQL_DESC_UNNAMED, SQL_DESC_UNSIGNED,
		SQL_DESC_UPDATABLE };
	static const SQLSMALLINT lengths[] = { SQL_DESC_DISPLAY_SIZE, SQL_DESC_LENGTH,
		SQL_DESC_OCTET_LENGTH };

	for (size_t i = 0; i < COD_COUNT(small); i++) {
		if (small[i] == id)
			return FORM_16;
	}
	for (size_t i = 0; i < COD_COUNT(lengths); i++) {
		if (lengths[i] == id)
			return FORM_LEN;
	}
	return FORM_32;
}

static SQLRETURN
give_of_column(struct cod_desc *desc, SQLSMALLINT i, SQLSMALLINT id, SQLPOINTER value,
	const struct cod_sink *sink)
{
	struct cod_stmt *stmt = desc->stmt;
	const char *text;
	SQLLEN number;

	if (i < 1)
		return cod_fail(&desc->head, "07009");
	if (i > stmt->n_columns)
		return SQL_NO_DATA;
	cod_origins_learn(stmt, id);
	if (!cod_column_field(stmt, &stmt->columns[i - 1], id, &text, &number))
		return cod_fail(&desc->head, "HY091");
	if (text != NULL)
		return cod_give(&desc->head, sink, text);
	return give_number(form_of_column(id), number, value, sink);
}

static SQLRETURN
give_of_record(struct cod_desc *desc, SQLSMALLINT i, SQLSMALLINT id, SQLPOINTER value,
	const struct cod_sink *sink)
{
	const struct field *field = find(record_fields, COD_COUNT(record_fields), id);
	const struct cod_record *record = cod_desc_record(desc, i);

	if (i < 0)
		return cod_fail(&desc->head, "07009");
	if (id == SQL_DESC_UNNAMED && desc->role == COD_IPD && record != NULL)
		return give_number(FORM_16,
			record->name != NULL ? SQL_NAMED : SQL_UNNAMED, value, sink);
	if (field == NULL)
		return cod_fail(&desc->head, "HY091");
	if (record != NULL)
		return give_field(desc, field, record, value, sink);
	return SQL_NO_DATA;
}

static SQLRETURN
describe_rows(struct cod_desc *desc)
{
	SQLRETURN ret;

	if (desc->role != COD_IRD)
		return SQL_SUCCESS;
	if (!desc->stmt->has_columns && !desc->stmt->is_prepared)
		return cod_fail(&desc->head, "HY007");
	ret = cod_describe(desc->stmt);
	if (ret != SQL_ERROR)
		return ret;
	cod_diag_clear(&desc->stmt->head.diag);
	return cod_fail_text(
		&desc->head, "HY007", "the statement could not be described");
}

SQLRETURN
cod_get_desc_field(struct cod_desc *desc, SQLSMALLINT i, SQLSMALLINT id, SQLPOINTER value,
	const struct cod_sink *sink)
{
	const struct field *field = find(header_fields, COD_COUNT(header_fields), id);
	SQLRETURN ret;

	if (field != NULL)
		return give_field(desc, field, desc, value, sink);
	if (id == SQL_DESC_ALLOC_TYPE)
		return give_number(FORM_16,
			desc->role == COD_EXPLICIT ? SQL_DESC_ALLOC_USER
						   : SQL_DESC_ALLOC_AUTO,
			value, sink);
	ret = describe_rows(desc);
	if (ret != SQL_SUCCESS)
		return ret;
	if (id == SQL_DESC_COUNT)
		return give_number(FORM_16,
			desc->role == COD_IRD ? desc->stmt->n_columns : desc->count,
			value, sink);
	if (desc->role == COD_IRD)
		return give_of_column(desc, i, id, value, sink);
	return give_of_record(desc, i, id, value, sink);
}

/* ------------------------------------------------------------------------ setting ----- */

static void
write_number(const struct field *field, void *base, SQLPOINTER value)
{
	void *at = (char *)base + field->at;

	if (field->form == FORM_16)
		*(SQLSMALLINT *)at = (SQLSMALLINT)(intptr_t)value;
	else if (field->form == FORM_32)
		*(SQLINTEGER *)at = (SQLINTEGER)(intptr_t)value;
	else
		*(SQLPOINTER *)at = value;
}

static SQLRETURN
set_name(struct cod_desc *desc, struct cod_record *record, const void *value,
	SQLINTEGER n, bool is_wide)
{
	char *copy = NULL;

	if (value != NULL) {
		if (!cod_is_length(n))
			return cod_fail(&desc->head, "HY090");
		copy = is_wide ? cod_wide_dup(value,
					 n < 0 ? n : n / (SQLINTEGER)sizeof(SQLWCHAR))
			       : cod_text_dup(value, n);
		if (copy == NULL)
			return cod_fail(&desc->head, "HY001");
	}
	free(record->name);
	record->name = copy;
	return SQL_SUCCESS;
}

/* Set a type. This also sets other fields, and it unbinds the record. */
static SQLRETURN
set_type(struct cod_desc *desc, struct cod_record *record, SQLSMALLINT id,
	SQLPOINTER value)
{
	SQLSMALLINT number = (SQLSMALLINT)(intptr_t)value;
	bool is_c = desc->role != COD_IPD, ok;

	if (id == SQL_DESC_TYPE && (number == SQL_DATETIME || number == SQL_INTERVAL)) {
		/* The application sets the code next, which completes the type. */
		record->type = number;
		record->data = NULL;
		return SQL_SUCCESS;
	}
	if (id == SQL_DESC_DATETIME_INTERVAL_CODE) {
		if (record->type != SQL_DATETIME && record->type != SQL_INTERVAL)
			return cod_fail(&desc->head, "HY021");
		number = cod_concise(record->type, number);
	}
	ok = number != 0 && cod_record_set_type(record, number, is_c);
	record->data = NULL;
	if (ok)
		return SQL_SUCCESS;
	return cod_fail(&desc->head, "HY021");
}

static SQLRETURN
set_count(struct cod_desc *desc, SQLPOINTER value)
{
	intptr_t count = (intptr_t)value;

	if (count < 0 || count >= INT16_MAX)
		return cod_fail(&desc->head, "07009");
	if (count > desc->count && cod_desc_need(desc, (SQLSMALLINT)count) == NULL)
		return cod_fail(&desc->head, "HY001");
	cod_desc_set_count(desc, (SQLSMALLINT)count);
	return SQL_SUCCESS;
}

static SQLRETURN
set_of_record(struct cod_desc *desc, SQLSMALLINT i, SQLSMALLINT id, SQLPOINTER value,
	SQLINTEGER n, bool is_wide)
{
	const struct field *field = find(record_fields, COD_COUNT(record_fields), id);
	bool is_type = id == SQL_DESC_TYPE || id == SQL_DESC_CONCISE_TYPE ||
		       id == SQL_DESC_DATETIME_INTERVAL_CODE;
	struct cod_record *record;

	if (i < 0 || i == INT16_MAX || (i == 0 && desc->role == COD_IPD))
		return cod_fail(&desc->head, "07009");
	if (id == SQL_DESC_UNNAMED && desc->role == COD_IPD) {
		if ((SQLSMALLINT)(intptr_t)value != SQL_UNNAMED)
			return cod_fail(&desc->head, "HY091");
		field = find(record_fields, COD_COUNT(record_fields), SQL_DESC_NAME);
		value = NULL;
	}
	if (field == NULL || (!is_type && (field->sets & bit_of(desc)) == 0))
		return cod_fail(&desc->head, "HY091");
	record = cod_desc_need(desc, i);
	if (record == NULL)
		return cod_fail(&desc->head, "HY001");
	if (is_type)
		return set_type(desc, record, id, value);
	if (field->form == FORM_TEXT)
		return set_name(desc, record, value, n, is_wide);
	write_number(field, record, value);
	return SQL_SUCCESS;
}

SQLRETURN
cod_set_desc_field(struct cod_desc *desc, SQLSMALLINT i, SQLSMALLINT id, SQLPOINTER value,
	SQLINTEGER n, bool is_wide)
{
	const struct field *field = find(header_fields, COD_COUNT(header_fields), id);

	if (field != NULL) {
		if ((field->sets & bit_of(desc)) == 0)
			return cod_fail(&desc->head, "HY091");
		if (id == SQL_DESC_ARRAY_SIZE && value == NULL)
			return cod_fail(&desc->head, "HY024");
		write_number(field, desc, value);
		return SQL_SUCCESS;
	}
	if (desc->role == COD_IRD)
		return cod_fail(&desc->head, "HY016");
	if (id == SQL_DESC_COUNT)
		return set_count(desc, value);
	if (id == SQL_DESC_ALLOC_TYPE)
		return cod_fail(&desc->head, "HY091");
	return set_of_record(desc, i, id, value, n, is_wide);
}

/* ---------------------------------------------------------------- several at once ----- */

struct numbers {
	SQLSMALLINT type, sub, precision, scale, nullable;
	SQLLEN length;
};

static void
put(SQLSMALLINT *to, SQLSMALLINT value)
{
	if (to != NULL)
		*to = value;
}

static void
of_column(const struct cod_column *column, struct numbers *ret)
{
	*ret = (struct numbers){
		.type = column->type.sql->verbose,
		.sub = column->type.sql->sub,
		.precision = column->type.precision,
		.scale = column->type.digits,
		.nullable = column->type.nullable,
		.length = column->type.octets,
	};
}

static void
of_record(const struct cod_record *record, struct numbers *ret)
{
	*ret = (struct numbers){
		.type = record->type,
		.sub = record->sub,
		.precision = record->precision,
		.scale = record->scale,
		.nullable = record->nullable,
		.length = record->octet_length,
	};
}

static SQLRETURN
get_numbers(
	struct cod_desc *desc, SQLSMALLINT i, struct numbers *ret, const char **ret_name)
{
	const struct cod_record *record;

	if (desc->role == COD_IRD) {
		if (i > desc->stmt->n_columns)
			return SQL_NO_DATA;
		cod_nullable_learn(desc->stmt);
		of_column(&desc->stmt->columns[i - 1], ret);
		*ret_name = desc->stmt->columns[i - 1].name;
		return SQL_SUCCESS;
	}
	record = cod_desc_record(desc, i);
	if (record == NULL)
		return SQL_NO_DATA;
	of_record(record, ret);
	*ret_name = record->name;
	return SQL_SUCCESS;
}

SQLRETURN
cod_get_desc_rec(struct cod_desc *desc, SQLSMALLINT i, const struct cod_sink *name,
	const struct cod_desc_numbers *to)
{
	struct numbers numbers;
	const char *text;
	SQLRETURN ret = describe_rows(desc);

	if (ret != SQL_SUCCESS)
		return ret;
	if (i < 0 || (i == 0 && (desc->role == COD_IRD || desc->role == COD_IPD)))
		return cod_fail(&desc->head, "07009");
	ret = get_numbers(desc, i, &numbers, &text);
	if (ret != SQL_SUCCESS)
		return ret;
	put(to->type, numbers.type);
	put(to->sub, numbers.sub);
	put(to->precision, numbers.precision);
	put(to->scale, numbers.scale);
	put(to->nullable, numbers.nullable);
	if (to->length != NULL)
		*to->length = numbers.length;
	return cod_give(&desc->head, name, text);
}

SQLRETURN
cod_set_desc_rec(struct cod_desc *desc, SQLSMALLINT i, const struct cod_record *from)
{
	struct cod_record *record;
	SQLSMALLINT concise;

	if (desc->role == COD_IRD)
		return cod_fail(&desc->head, "HY016");
	if (i < 0 || i == INT16_MAX || (i == 0 && desc->role == COD_IPD))
		return cod_fail(&desc->head, "07009");
	concise = cod_concise(from->type, from->sub);
	record = cod_desc_need(desc, i);
	if (record == NULL)
		return cod_fail(&desc->head, "HY001");
	if (concise == 0 || !cod_record_set_type(record, concise, desc->role != COD_IPD))
		return cod_fail(&desc->head, "HY021");
	record->octet_length = from->octet_length;
	record->precision = from->precision;
	record->scale = from->scale;
	record->data = from->data;
	record->octets = from->octets;
	record->indicator = from->indicator;
	return SQL_SUCCESS;
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

/* Make records of an application's descriptor from the columns of a result. */
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

/* Copy the source; the caller holds its lock. NULL or an SQLSTATE. */
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

/* Put the copy into the target; the caller holds its lock. */
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
		call.ret = describe_rows(source);
	if (*ret_sqlstate == NULL && call.ret == SQL_SUCCESS)
		*ret_sqlstate = take_copy(copy, source);
	if (*ret_sqlstate != NULL)
		call.ret = cod_fail(call.head, *ret_sqlstate);
	return cod_leave(&call);
}

/* Finish the copy. The standard reports errors on the target, but unixODBC reads them from the
 * source. So both get the record. */
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
 * The two descriptors may belong to different connections, each with its lock. The locks are held
 * one after the other, never together, so that copies in both directions cannot wait for each
 * other.
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
