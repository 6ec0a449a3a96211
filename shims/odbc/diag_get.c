/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLGetDiagRec() and SQLGetDiagField(): read the records of a handle. face.c and face_w.c call this file.
 * It has no state.
 */
#include "odbc.h"

/* NULL: the handle is an environment. */
static const struct cod_dbc *
dbc_of(const struct cod_head *head)
{
	switch (head->kind) {
	case COD_DBC:
		return (const struct cod_dbc *)head;
	case COD_STMT:
		return ((const struct cod_stmt *)head)->dbc;
	case COD_DESC:
		return ((const struct cod_desc *)head)->dbc;
	default:
		return NULL;
	}
}

static const char *
state_for(const struct cod_head *head, const char *sqlstate)
{
	const struct cod_dbc *dbc = dbc_of(head);
	const struct cod_env *env = dbc != NULL ? dbc->env : (const struct cod_env *)head;

	return env->odbc_version == SQL_OV_ODBC2 ? cod_state_odbc2(sqlstate) : sqlstate;
}

SQLRETURN
cod_get_diag_rec(const struct cod_head *head, SQLSMALLINT i, const struct cod_sink *state,
	SQLINTEGER *native, const struct cod_sink *message)
{
	const struct cod_diag_record *record;

	if (i < 1 || (message->out.to != NULL && message->out.room < 0))
		return SQL_ERROR;
	record = cod_diag_record(&head->diag, i);
	if (record == NULL)
		return SQL_NO_DATA;
	if (state->out.to != NULL)
		(void)cod_give_quietly(state, state_for(head, record->sqlstate));
	if (native != NULL)
		*native = record->native;
	return cod_give_quietly(message, record->message);
}

/* ------------------------------------------------------------------------ fields ----- */

struct field_value {
	const char *text;
	SQLLEN number;
};

enum field_form {
	FIELD_TEXT,
	FIELD_RETURN, /* SQLRETURN */
	FIELD_INTEGER,
	FIELD_LEN
};

static void
header_number(const struct cod_head *head, struct field_value *value)
{
	value->number = (SQLLEN)head->diag.n + head->diag.is_cut;
}

static void
header_return(const struct cod_head *head, struct field_value *value)
{
	value->number = head->diag.ret;
}

static void
header_cursor_rows(const struct cod_head *head, struct field_value *value)
{
	value->number = head->diag.cursor_rows;
}

static void
header_row_count(const struct cod_head *head, struct field_value *value)
{
	value->number = head->diag.row_count;
}

static void
header_function(const struct cod_head *head, struct field_value *value)
{
	value->text = head->diag.function != NULL ? head->diag.function : "";
}

static void
header_function_code(const struct cod_head *head, struct field_value *value)
{
	value->number = head->diag.function_code;
}

static const struct {
	SQLSMALLINT id;
	enum field_form form;
	bool is_of_stmt; /* an error for any other handle */
	void (*get)(const struct cod_head *head, struct field_value *value);
} header_fields[] = {
	{ SQL_DIAG_NUMBER, FIELD_INTEGER, false, header_number },
	{ SQL_DIAG_RETURNCODE, FIELD_RETURN, false, header_return },
	{ SQL_DIAG_CURSOR_ROW_COUNT, FIELD_LEN, true, header_cursor_rows },
	{ SQL_DIAG_ROW_COUNT, FIELD_LEN, true, header_row_count },
	{ SQL_DIAG_DYNAMIC_FUNCTION, FIELD_TEXT, true, header_function },
	{ SQL_DIAG_DYNAMIC_FUNCTION_CODE, FIELD_INTEGER, true, header_function_code },
};

static void
record_state(const struct cod_head *head, const struct cod_diag_record *record,
	struct field_value *value)
{
	value->text = state_for(head, record->sqlstate);
}

static void
record_message(const struct cod_head *head, const struct cod_diag_record *record,
	struct field_value *value)
{
	(void)head;
	value->text = record->message;
}

static void
record_native(const struct cod_head *head, const struct cod_diag_record *record,
	struct field_value *value)
{
	(void)head;
	value->number = record->native;
}

static void
record_row(const struct cod_head *head, const struct cod_diag_record *record,
	struct field_value *value)
{
	(void)head;
	value->number = record->row;
}

static void
record_column(const struct cod_head *head, const struct cod_diag_record *record,
	struct field_value *value)
{
	(void)head;
	value->number = record->column;
}

static void
record_class(const struct cod_head *head, const struct cod_diag_record *record,
	struct field_value *value)
{
	(void)head;
	value->text = cod_state_is_odbc_class(record->sqlstate) ? "ODBC 3.0" : "ISO 9075";
}

static void
record_subclass(const struct cod_head *head, const struct cod_diag_record *record,
	struct field_value *value)
{
	(void)head;
	value->text =
		cod_state_is_odbc_subclass(record->sqlstate) ? "ODBC 3.0" : "ISO 9075";
}

static void
record_connection(const struct cod_head *head, const struct cod_diag_record *record,
	struct field_value *value)
{
	const struct cod_dbc *dbc = dbc_of(head);

	(void)record;
	value->text = dbc != NULL ? cod_setting(&dbc->settings, COD_KEY_POOL) : "";
}

static void
record_server(const struct cod_head *head, const struct cod_diag_record *record,
	struct field_value *value)
{
	const struct cod_dbc *dbc = dbc_of(head);

	(void)record;
	value->text = dbc != NULL ? cod_setting(&dbc->settings, COD_KEY_DSN) : "";
}

static const struct {
	SQLSMALLINT id;
	enum field_form form;
	void (*get)(const struct cod_head *head, const struct cod_diag_record *record,
		struct field_value *value);
} record_fields[] = {
	{ SQL_DIAG_SQLSTATE, FIELD_TEXT, record_state },
	{ SQL_DIAG_MESSAGE_TEXT, FIELD_TEXT, record_message },
	{ SQL_DIAG_NATIVE, FIELD_INTEGER, record_native },
	{ SQL_DIAG_ROW_NUMBER, FIELD_LEN, record_row },
	{ SQL_DIAG_COLUMN_NUMBER, FIELD_INTEGER, record_column },
	{ SQL_DIAG_CLASS_ORIGIN, FIELD_TEXT, record_class },
	{ SQL_DIAG_SUBCLASS_ORIGIN, FIELD_TEXT, record_subclass },
	{ SQL_DIAG_CONNECTION_NAME, FIELD_TEXT, record_connection },
	{ SQL_DIAG_SERVER_NAME, FIELD_TEXT, record_server },
};

static SQLRETURN
give_field(enum field_form form, const struct field_value *value, SQLPOINTER to,
	const struct cod_sink *sink)
{
	if (form == FIELD_TEXT && sink->out.to != NULL && sink->out.room < 0)
		return SQL_ERROR;
	if (form == FIELD_TEXT)
		return cod_give_quietly(sink, value->text);
	if (to == NULL)
		return SQL_SUCCESS;
	if (form == FIELD_RETURN)
		*(SQLRETURN *)to = (SQLRETURN)value->number;
	else if (form == FIELD_INTEGER)
		*(SQLINTEGER *)to = (SQLINTEGER)value->number;
	else
		*(SQLLEN *)to = value->number;
	return SQL_SUCCESS;
}

SQLRETURN
cod_get_diag_field(const struct cod_head *head, SQLSMALLINT i, SQLSMALLINT id,
	SQLPOINTER to, const struct cod_sink *sink)
{
	const struct cod_diag_record *record;
	struct field_value value = { NULL, 0 };

	for (size_t k = 0; k < COD_COUNT(header_fields); k++) {
		if (header_fields[k].id != id)
			continue;
		if (header_fields[k].is_of_stmt && head->kind != COD_STMT)
			return SQL_ERROR;
		header_fields[k].get(head, &value);
		return give_field(header_fields[k].form, &value, to, sink);
	}
	for (size_t k = 0; k < COD_COUNT(record_fields); k++) {
		if (record_fields[k].id != id)
			continue;
		if (i < 1)
			return SQL_ERROR;
		record = cod_diag_record(&head->diag, i);
		if (record == NULL)
			return SQL_NO_DATA;
		record_fields[k].get(head, record, &value);
		return give_field(record_fields[k].form, &value, to, sink);
	}
	return SQL_ERROR;
}
