/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common part of every ODBC call: check and lock the handle, convert texts to UTF-8, return
 * texts, and add diagnostics. face.c and face_w.c call the first half; all other files call the
 * functions that report errors. It has no state besides the handles.
 */
#include "odbc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
cod_is_handle(SQLHANDLE handle, enum cod_kind kind)
{
	const struct cod_head *head = handle;

	return head != NULL && head->tag == COD_TAG && head->kind == kind;
}

bool
cod_desc_is_busy(const struct cod_desc *desc)
{
	const struct cod_stmt *stmt = desc->dbc->stmts;

	for (; stmt != NULL; stmt = stmt->next) {
		for (int i = 0; i < COD_N_ROLES; i++) {
			if (stmt->desc[i] == desc &&
				(stmt->async != 0 || stmt->pending.function != 0))
				return true;
		}
	}
	return false;
}

/* While a function of the statement waits for data or still runs, few others may be called. */
static bool
is_out_of_sequence(const struct cod_head *head, SQLUSMALLINT id)
{
	const struct cod_stmt *stmt = (const struct cod_stmt *)head;

	if (id == SQL_API_SQLSETDESCFIELD || id == SQL_API_SQLSETDESCREC)
		return cod_desc_is_busy((const struct cod_desc *)head);
	if (head->kind != COD_STMT)
		return false;
	if (stmt->async != 0)
		return stmt->async != id;
	return stmt->pending.function != 0 && id != SQL_API_SQLPARAMDATA &&
	       id != SQL_API_SQLPUTDATA;
}

bool
cod_enter(struct cod_call *call, SQLHANDLE handle, enum cod_kind kind, SQLUSMALLINT id)
{
	*call = (struct cod_call){ .head = handle, .ret = SQL_SUCCESS };
	if (!cod_is_handle(handle, kind)) {
		call->ret = SQL_INVALID_HANDLE;
		return false;
	}
	(void)pthread_mutex_lock(call->head->lock);
	cod_diag_clear(&call->head->diag);
	atomic_store(&call->head->is_cancel_lost, false);
	if (!is_out_of_sequence(call->head, id))
		return true;
	call->ret = cod_fail(call->head, "HY010");
	call->ret = cod_leave(call);
	return false;
}

bool
cod_enter_diag(struct cod_call *call, SQLHANDLE handle, SQLSMALLINT kind)
{
	*call = (struct cod_call){ .head = handle, .keeps_diag = true };
	if (!cod_is_handle(handle, (enum cod_kind)kind)) {
		call->ret = SQL_INVALID_HANDLE;
		return false;
	}
	(void)pthread_mutex_lock(call->head->lock);
	if (atomic_exchange(&call->head->is_cancel_lost, false))
		(void)cod_fail(call->head, "HY018");
	return true;
}

SQLRETURN
cod_leave(struct cod_call *call)
{
	/* A text argument of a connection may be its password. */
	for (size_t i = 0; i < call->n_texts; i++) {
		if (call->head->kind == COD_DBC)
			cod_wipe(call->texts[i]);
		else
			free(call->texts[i]);
	}
	/* Notices of the server are warnings. */
	if (call->ret == SQL_SUCCESS && !call->keeps_diag && call->head->diag.n > 0)
		call->ret = SQL_SUCCESS_WITH_INFO;
	if (!call->keeps_diag)
		call->head->diag.ret = call->ret;
	(void)pthread_mutex_unlock(call->head->lock);
	return call->ret;
}

/* Some programs count the zero at the end in the length. Ignore such zeros. */
static bool
has_more_behind_zero(const void *text, SQLLEN n, bool is_wide)
{
	bool has_zero = false;

	for (SQLLEN i = 0; i < n; i++) {
		bool is_zero = is_wide ? ((const SQLWCHAR *)text)[i] == 0
				       : ((const SQLCHAR *)text)[i] == 0;

		if (has_zero && !is_zero)
			return true;
		has_zero = has_zero || is_zero;
	}
	return false;
}

struct cod_text
cod_call_text(struct cod_call *call, const void *text, SQLLEN n, bool is_wide)
{
	struct cod_text none = { NULL, 0, false };
	char *copy;

	if (text == NULL || call->ret != SQL_SUCCESS)
		return none;
	if (!cod_is_length(n)) {
		call->ret = cod_fail(call->head, "HY090");
		return none;
	}
	copy = is_wide ? cod_wide_dup(text, n) : cod_text_dup(text, n);
	if (copy == NULL) {
		call->ret = cod_fail(call->head, "HY001");
		return none;
	}
	call->texts[call->n_texts++] = copy;
	return (struct cod_text){ copy, strlen(copy),
		has_more_behind_zero(text, n, is_wide) };
}

/* ------------------------------------------------------------------- texts out ----- */

static void
give_length(const struct cod_sink *sink, SQLLEN bytes)
{
	SQLLEN n = sink->in_units && sink->out.is_wide ? bytes / (SQLLEN)sizeof(SQLWCHAR)
						       : bytes;

	if (sink->length16 != NULL)
		*sink->length16 = (SQLSMALLINT)(n > INT16_MAX ? INT16_MAX : n);
	if (sink->length32 != NULL)
		*sink->length32 = (SQLINTEGER)(n > INT32_MAX ? INT32_MAX : n);
}

SQLRETURN
cod_give_quietly(const struct cod_sink *sink, const char *text)
{
	SQLLEN bytes = 0;
	int is_cut;

	if (text == NULL)
		text = "";
	is_cut = cod_out_text(&sink->out, text, strlen(text), &bytes);
	give_length(sink, bytes);
	if (is_cut)
		return SQL_SUCCESS_WITH_INFO;
	return SQL_SUCCESS;
}

SQLRETURN
cod_give_n(struct cod_head *head, const struct cod_sink *sink, const char *text, size_t n)
{
	SQLLEN bytes = 0;
	int is_cut;

	if (sink->out.to != NULL && sink->out.room < 0)
		return cod_fail(head, "HY090");
	is_cut = cod_out_text(&sink->out, text, n, &bytes);
	give_length(sink, bytes);
	if (is_cut)
		return cod_warn(head, "01004");
	return SQL_SUCCESS;
}

SQLRETURN
cod_give(struct cod_head *head, const struct cod_sink *sink, const char *text)
{
	if (text != NULL)
		return cod_give_n(head, sink, text, strlen(text));
	return cod_give_n(head, sink, "", 0);
}

/* -------------------------------------------------------------------- errors ----- */

SQLRETURN
cod_fail_text(struct cod_head *head, const char *sqlstate, const char *text)
{
	cod_diag_add(&head->diag, &COD_NOWHERE, sqlstate, 0, "ODBC", text);
	return SQL_ERROR;
}

SQLRETURN
cod_fail(struct cod_head *head, const char *sqlstate)
{
	return cod_fail_text(head, sqlstate, NULL);
}

SQLRETURN
cod_warn(struct cod_head *head, const char *sqlstate)
{
	(void)cod_fail_text(head, sqlstate, NULL);
	return SQL_SUCCESS_WITH_INFO;
}

SQLRETURN
cod_tell(struct cod_head *head, const struct cod_diag_where *where, const char *sqlstate)
{
	if (sqlstate == NULL)
		return SQL_SUCCESS;
	cod_diag_add(&head->diag, where, sqlstate, 0, "ODBC", NULL);
	if (strncmp(sqlstate, "01", 2) == 0)
		return SQL_SUCCESS_WITH_INFO;
	return SQL_ERROR;
}

/* SQLSTATEs of servers, and the SQLSTATEs that the ODBC standard has for them. */
static const struct {
	char server[6], odbc[6];
} translations[] = {
	{ "08006", "08S01" },
	{ "0A000", "HYC00" },
	{ "28P01", "28000" },
	{ "42P01", "42S02" },
	{ "42P07", "42S01" },
	{ "42701", "42S21" },
	{ "42703", "42S22" },
	{ "53200", "HY001" },
	/* PostgreSQL ends the session with this SQLSTATE. */
	{ "57P01", "08S01" },
	{ "57P02", "08S01" },
};

static const char *
translate(const char *sqlstate)
{
	for (size_t i = 0; i < COD_COUNT(translations); i++) {
		if (strcmp(translations[i].server, sqlstate) == 0)
			return translations[i].odbc;
	}
	return sqlstate;
}

/* The SQLSTATE for an error without one of the server's, by the status of libcenote. */
static const struct {
	int status;
	const char *sqlstate;
} statuses[] = {
	{ CENOTE_ERR_NOMEM, "HY001" },
	{ CENOTE_ERR_UNSUPPORTED, "HYC00" },
	{ CENOTE_ERR_TIMEOUT, "HYT00" },
	{ CENOTE_ERR_AUTH, "28000" },
	{ CENOTE_ERR_PROTOCOL, "08S01" },
	{ CENOTE_ERR_CONN, "08S01" },
};

static const char *
state_of(const cenote_diag *diag, int status)
{
	const char *sqlstate = cenote_diag_sqlstate(diag);

	if (strcmp(sqlstate, "00000") != 0)
		return translate(sqlstate);
	for (size_t i = 0; i < COD_COUNT(statuses); i++) {
		if (statuses[i].status == status)
			return statuses[i].sqlstate;
	}
	return "HY000";
}

/* Join message, detail and hint: ODBC has one text for the three. NULL: no memory. */
char *
cod_diag_text(const cenote_diag *diag, const char *before, const char *message)
{
	const char *detail = cenote_diag_field(diag, 'D');
	const char *hint = cenote_diag_field(diag, 'H');
	const char *const parts[] = { before, message, detail ? "\nDETAIL: " : "",
		detail ? detail : "", hint ? "\nHINT: " : "", hint ? hint : "" };
	size_t size = 1, n = 0;
	char *text;

	for (size_t i = 0; i < COD_COUNT(parts); i++)
		size += strlen(parts[i]);
	text = malloc(size);
	for (size_t i = 0; text != NULL && i < COD_COUNT(parts); i++)
		n += (size_t)snprintf(text + n, size - n, "%s", parts[i]);
	return text;
}

SQLRETURN
cod_fail_cenote(struct cod_head *head, const struct cod_diag_where *where,
	const cenote_diag *diag, int status)
{
	bool is_server = status == CENOTE_ERR_SERVER && head->component != NULL;
	const char *message = cenote_diag_message(diag);
	char *text;

	if (*message == '\0')
		message = cenote_status_name(status);
	text = cod_diag_text(diag, "", message);
	cod_diag_add(&head->diag, where, state_of(diag, status), cenote_diag_native(diag),
		is_server ? head->component : "ODBC", text != NULL ? text : message);
	free(text);
	return SQL_ERROR;
}

SQLRETURN
cod_worse(SQLRETURN a, SQLRETURN b)
{
	if (a == SQL_ERROR || b == SQL_ERROR)
		return SQL_ERROR;
	if (a == SQL_SUCCESS)
		return b;
	return a;
}

SQLRETURN
cod_outcome(SQLULEN n_done, SQLULEN n_failed, bool has_warning)
{
	if (n_failed > 0 && n_done == 0)
		return SQL_ERROR;
	if (n_failed > 0 || has_warning)
		return SQL_SUCCESS_WITH_INFO;
	return SQL_SUCCESS;
}

char *
cod_strdup(const char *text, size_t n)
{
	char *copy = malloc(n + 1);

	if (copy == NULL)
		return NULL;
	if (n > 0)
		memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}
