/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The functions with which programs read a result. As in libpq, a wrong argument gives a notice. */

static int
is_value(const PGresult *res, int row, int column)
{
	if (res == NULL)
		return 0;
	if (row < 0 || row >= res->n_rows) {
		cpq_notice_own(&res->inherited, "row number %d is out of range 0..%d",
			row, res->n_rows - 1);
		return 0;
	}
	return cpq_is_column(res, column);
}

ExecStatusType
cpq_PQresultStatus(const PGresult *res)
{
	return res != NULL ? res->status : PGRES_FATAL_ERROR;
}

CPQ_EXPORT char *const pgresStatus[] = { (char *)"PGRES_EMPTY_QUERY",
	(char *)"PGRES_COMMAND_OK", (char *)"PGRES_TUPLES_OK", (char *)"PGRES_COPY_OUT",
	(char *)"PGRES_COPY_IN", (char *)"PGRES_BAD_RESPONSE",
	(char *)"PGRES_NONFATAL_ERROR", (char *)"PGRES_FATAL_ERROR",
	(char *)"PGRES_COPY_BOTH", (char *)"PGRES_SINGLE_TUPLE",
	(char *)"PGRES_PIPELINE_SYNC", (char *)"PGRES_PIPELINE_ABORTED",
	(char *)"PGRES_TUPLES_CHUNK" };

char *
cpq_PQresStatus(ExecStatusType status)
{
	size_t n = sizeof(pgresStatus) / sizeof(pgresStatus[0]);

	/* libpq 17 brought the last one */
	if (cpq_release() < 17)
		n--;
	return (size_t)status < n ? pgresStatus[status]
				  : (char *)"invalid ExecStatusType code";
}

int
cpq_PQntuples(const PGresult *res)
{
	return res != NULL ? res->n_rows : 0;
}

int
cpq_PQnfields(const PGresult *res)
{
	return res != NULL ? res->n_columns : 0;
}

int
cpq_PQbinaryTuples(const PGresult *res)
{
	return res != NULL ? res->is_binary : 0;
}

char *
cpq_PQfname(const PGresult *res, int field_num)
{
	return cpq_is_column(res, field_num) && res->columns != NULL
		       ? res->columns[field_num].name
		       : NULL;
}

static char
fold(char c)
{
	return (char)((unsigned char)c > 127 ? c : tolower((unsigned char)c));
}

/* The name as SQL reads it: in lower case, except in double quotes. */
static char *
fold_name(const char *name)
{
	char *copy = strdup(name);
	char *to = copy;
	int is_quoted = 0;

	if (copy == NULL)
		return NULL;
	for (const char *from = copy; *from; from++) {
		char c = *from;

		if (c == '"' && is_quoted && from[1] == '"') {
			*to++ = '"';
			from++;
		} else if (c == '"') {
			is_quoted = !is_quoted;
		} else {
			*to++ = (char)(is_quoted ? c : fold(c));
		}
	}
	*to = '\0';
	return copy;
}

int
cpq_PQfnumber(const PGresult *res, const char *field_name)
{
	char *wanted;
	int found = -1;

	if (res == NULL || field_name == NULL || *field_name == '\0' ||
		res->columns == NULL)
		return -1;
	wanted = fold_name(field_name);
	for (int i = 0; wanted != NULL && i < res->n_columns && found < 0; i++) {
		if (strcmp(wanted, res->columns[i].name) == 0)
			found = i;
	}
	free(wanted);
	return found;
}

#define COLUMN_GETTER(type, function, member, nothing)                                   \
	type cpq_##function(const PGresult *res, int field_num)                          \
	{                                                                                \
		return cpq_is_column(res, field_num) && res->columns != NULL             \
			       ? res->columns[field_num].member                          \
			       : (nothing);                                              \
	}

COLUMN_GETTER(Oid, PQftable, tableid, InvalidOid)
COLUMN_GETTER(int, PQftablecol, columnid, 0)
COLUMN_GETTER(int, PQfformat, format, 0)
COLUMN_GETTER(Oid, PQftype, typid, 0)
COLUMN_GETTER(int, PQfsize, typlen, 0)
COLUMN_GETTER(int, PQfmod, atttypmod, 0)

/* The value; NULL: there is no such row or column, and the program got a notice. */
static const struct cpq_value *
value(const PGresult *res, int row, int column)
{
	return is_value(res, row, column) ? &res->rows[row][column] : NULL;
}

char *
cpq_PQgetvalue(const PGresult *res, int tup_num, int field_num)
{
	const struct cpq_value *v = value(res, tup_num, field_num);

	return v != NULL ? v->text : NULL;
}

int
cpq_PQgetlength(const PGresult *res, int tup_num, int field_num)
{
	const struct cpq_value *v = value(res, tup_num, field_num);

	return v != NULL && v->len > 0 ? v->len : 0;
}

int
cpq_PQgetisnull(const PGresult *res, int tup_num, int field_num)
{
	const struct cpq_value *v = value(res, tup_num, field_num);

	return v == NULL || v->len < 0;
}

int
cpq_PQnparams(const PGresult *res)
{
	return res != NULL ? res->n_params : 0;
}

Oid
cpq_PQparamtype(const PGresult *res, int param_num)
{
	if (res == NULL)
		return InvalidOid;
	if (param_num < 0 || param_num >= res->n_params) {
		cpq_notice_own(&res->inherited,
			"parameter number %d is out of range 0..%d", param_num,
			res->n_params - 1);
		return InvalidOid;
	}
	return res->params != NULL ? res->params[param_num] : InvalidOid;
}

char *
cpq_PQcmdStatus(PGresult *res)
{
	return res != NULL ? res->command : NULL;
}

/* The tag "INSERT 17 1" has the inserted row's OID, from servers that have OIDs. */
Oid
cpq_PQoidValue(const PGresult *res)
{
	unsigned long id;
	char *end;

	if (res == NULL || strncmp(res->command, "INSERT ", 7) != 0 ||
		!isdigit((unsigned char)res->command[7]))
		return InvalidOid;
	id = strtoul(res->command + 7, &end, 10);
	return *end == ' ' || *end == '\0' ? (Oid)id : InvalidOid;
}

char *
cpq_PQoidStatus(const PGresult *res)
{
	/* libpq also returns a static buffer, which is why the function is deprecated. */
	static _Thread_local char text[24];
	const char *id = res != NULL && strncmp(res->command, "INSERT ", 7) == 0
				 ? res->command + 7
				 : "";

	snprintf(text, sizeof(text), "%.*s", (int)strspn(id, "0123456789"), id);
	return text;
}

/* The number of rows in a command tag: the last word of the tags below. */
static const char *
counted_part(const char *command)
{
	static const char *const counting[] = { "SELECT ", "UPDATE ", "DELETE ", "FETCH ",
		"MERGE ", "MOVE ", "COPY " };
	const char *p;

	if (strncmp(command, "INSERT ", 7) == 0) {
		for (p = command + 7; *p && *p != ' '; p++)
			;
		return *p ? p + 1 : NULL;
	}
	for (size_t i = 0; i < sizeof(counting) / sizeof(counting[0]); i++) {
		size_t n = strlen(counting[i]);

		if (strncmp(command, counting[i], n) == 0)
			return command + n;
	}
	return NULL;
}

char *
cpq_PQcmdTuples(PGresult *res)
{
	const char *part = res != NULL ? counted_part(res->command) : NULL;
	size_t n;

	if (part == NULL)
		return cpq_empty;
	n = strspn(part, "0123456789");
	if (n == 0 || part[n] != '\0') {
		cpq_notice_own(&res->inherited,
			"could not interpret result from server: %s", res->command);
		return cpq_empty;
	}
	return (char *)(uintptr_t)part;
}

char *
cpq_PQresultErrorMessage(const PGresult *res)
{
	return res != NULL && res->message != NULL ? res->message : cpq_empty;
}

char *
cpq_PQresultErrorField(const PGresult *res, int fieldcode)
{
	/* The interface has no const. */
	return res != NULL ? (char *)(uintptr_t)cpq_result_field(res, fieldcode) : NULL;
}

char *
cpq_PQresultVerboseErrorMessage(
	const PGresult *res, PGVerbosity verbosity, PGContextVisibility show_context)
{
	PQExpBufferData text;

	if (res == NULL || !cpq_is_failure(res->status))
		return strdup("PGresult is not an error result\n");
	initPQExpBuffer(&text);
	if (res->fields != NULL)
		cpq_message_build(&text, res, verbosity, show_context);
	else
		appendPQExpBufferStr(&text, res->message != NULL && *res->message != '\0'
						    ? res->message
						    : "no error message available\n");
	if (text.maxlen == 0) {
		termPQExpBuffer(&text);
		return strdup("out of memory\n");
	}
	return text.data;
}

void
cpq_PQfreemem(void *ptr)
{
	free(ptr);
}

void
cpq_PQfreeNotify(PGnotify *notify)
{
	free(notify);
}
