/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <stdlib.h>
#include <string.h>

/*
 * Errors. The server's errors pass unchanged: number, SQLSTATE and message. The library's own
 * errors have the original's messages, because programs look for them. On a pool of another server
 * the SQLSTATE stays, and a table gives the number that a MySQL server would have used. All files
 * call this one.
 */

#define UNKNOWN_STATE "HY000"

/* ---- the library's own ---- */

static void
set_state(MYSQL *my, unsigned code, const char *sqlstate)
{
	my->net.last_errno = code;
	snprintf(my->net.sqlstate, sizeof(my->net.sqlstate), "%s",
		sqlstate ? sqlstate : UNKNOWN_STATE);
}

void
cmy_error_textv(
	MYSQL *my, unsigned code, const char *sqlstate, const char *format, va_list args)
{
	set_state(my, code, sqlstate);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is not */
	vsnprintf(my->net.last_error, sizeof(my->net.last_error), format, args);
}

void
cmy_error_text(MYSQL *my, unsigned code, const char *sqlstate, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cmy_error_textv(my, code, sqlstate, format, args);
	va_end(args);
}

void
cmy_error(MYSQL *my, unsigned code, const char *sqlstate)
{
	cmy_error_text(my, code, sqlstate, "%s", cmy_error_words(code));
}

void
cmy_error_with(MYSQL *my, unsigned code, ...)
{
	const char *words = cmy_error_words(code);
	va_list args;

	va_start(args, code);
	cmy_error_textv(my, code, NULL, words, args);
	va_end(args);
}

void
cmy_clear(MYSQL *my)
{
	my->net.last_errno = 0;
	my->net.last_error[0] = '\0';
	memcpy(my->net.sqlstate, "00000", sizeof(my->net.sqlstate));
}

/* ---- the server's ---- */

struct number {
	char sqlstate[6];
	uint16_t code;
};

/* The error numbers of a MySQL server, sorted by SQLSTATE. */
static const struct number numbers[] = {
	{ "0A000", 1235 }, /* ER_NOT_SUPPORTED_YET */
	{ "21000", 1242 }, /* ER_SUBQUERY_NO_1_ROW */
	{ "21S01", 1136 }, /* ER_WRONG_VALUE_COUNT_ON_ROW */
	{ "22001", 1406 }, /* ER_DATA_TOO_LONG */
	{ "22003", 1264 }, /* ER_WARN_DATA_OUT_OF_RANGE */
	{ "22007", 1292 }, /* ER_TRUNCATED_WRONG_VALUE */
	{ "22008", 1292 }, { "22012", 1365 }, /* ER_DIVISION_BY_ZERO */
	{ "22018", 1366 }, /* ER_TRUNCATED_WRONG_VALUE_FOR_FIELD */
	{ "22021", 1300 }, /* ER_INVALID_CHARACTER_STRING */
	{ "22P02", 1366 }, { "23000", 1062 }, { "23502", 1048 }, /* ER_BAD_NULL_ERROR */
	{ "23503", 1452 }, /* ER_NO_REFERENCED_ROW_2 */
	{ "23505", 1062 }, /* ER_DUP_ENTRY */
	{ "23514", CMY_ORACLE ? 3819 : 4025 }, /* ER_CONSTRAINT_FAILED */
	{ "25006", 1792 }, /* ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION */
	{ "26000", 1243 }, /* ER_UNKNOWN_STMT_HANDLER */
	{ "28000", 1045 }, /* ER_ACCESS_DENIED_ERROR */
	{ "28P01", 1045 }, { "3D000", 1049 }, /* ER_BAD_DB_ERROR */
	{ "3F000", 1049 }, { "40001", 1213 }, /* ER_LOCK_DEADLOCK */
	{ "40P01", 1213 }, { "42501", 1142 }, /* ER_TABLEACCESS_DENIED_ERROR */
	{ "42601", 1064 }, /* ER_PARSE_ERROR */
	{ "42701", 1060 }, /* ER_DUP_FIELDNAME */
	{ "42702", 1052 }, /* ER_NON_UNIQ_ERROR */
	{ "42703", 1054 }, /* ER_BAD_FIELD_ERROR */
	{ "42704", 1305 }, { "42710", 1061 }, /* ER_DUP_KEYNAME */
	{ "42803", 1055 }, /* ER_WRONG_FIELD_WITH_GROUP */
	{ "42883", 1305 }, /* ER_SP_DOES_NOT_EXIST */
	{ "42P01", 1146 }, /* ER_NO_SUCH_TABLE */
	{ "42P04", 1007 }, /* ER_DB_CREATE_EXISTS */
	{ "42P07", 1050 }, /* ER_TABLE_EXISTS_ERROR */
	{ "42S01", 1050 }, { "42S02", 1146 }, { "42S22", 1054 },
	{ "53100", 1021 }, /* ER_DISK_FULL */
	{ "53200", 1041 }, /* ER_OUT_OF_RESOURCES */
	{ "53300", 1040 }, /* ER_CON_COUNT_ERROR */
	{ "54000", 1153 }, /* ER_NET_PACKET_TOO_LARGE */
	{ "55P03", 1205 }, /* ER_LOCK_WAIT_TIMEOUT */
	{ "57014", 1317 }, /* ER_QUERY_INTERRUPTED */
	{ "57P01", 1053 }, /* ER_SERVER_SHUTDOWN */
};

static int
by_state(const void *key, const void *element)
{
	return strcmp(key, ((const struct number *)element)->sqlstate);
}

unsigned
cmy_error_number(const char *sqlstate)
{
	const struct number *found = bsearch(sqlstate, numbers,
		sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]), by_state);

	return found ? found->code : 1105;
}

static int
is_mysql(const MYSQL *my)
{
	const struct cmy_session *s = cmy_session(my);

	return !s || s->backend == CMY_BACKEND_MYSQL;
}

/* Is this a client library's error number? Then the client library inside cenoted raised it, and
 * the session was lost. */
static int
is_clients_number(int32_t code)
{
	return code >= CR_UNKNOWN_ERROR && code < 3000;
}

/* The server's message, without the words that cenoted puts before it. */
static const char *
words_of_loss(const char *message)
{
	const char *begin = strncmp(message, "the session was lost in ", 24) == 0
				    ? strstr(message, ": ")
				    : NULL;

	return begin ? begin + 2 : message;
}

/* The number of a lost session. If the statement had not begun, it is CR_SERVER_GONE_ERROR: the
 * program may safely try again. */
static unsigned
loss_number(const cenote_diag *diag)
{
	return strcmp(cenote_diag_sqlstate(diag), "08007") == 0 ? CR_SERVER_LOST
								: CR_SERVER_GONE_ERROR;
}

static void
error_lost(MYSQL *my, const cenote_diag *diag)
{
	int32_t code = is_mysql(my) ? cenote_diag_native(diag) : 0;
	const char *why = cenote_diag_message(diag);

	if (is_clients_number(code))
		cmy_error(my, (unsigned)code, NULL);
	else if (code > 0)
		cmy_error_text(my, (unsigned)code, cenote_diag_sqlstate(diag), "%s",
			words_of_loss(why));
	else
		cmy_error_text(my, loss_number(diag), NULL, "%s; cenote: %s",
			cmy_error_words(loss_number(diag)), why);
	my->net.CMY_VIO = NULL;
}

static int
is_loss(const cenote_diag *diag)
{
	const char *state = cenote_diag_sqlstate(diag);

	return strcmp(state, "08006") == 0 || strcmp(state, "08007") == 0;
}

void
cmy_error_diag(MYSQL *my, const cenote_diag *diag)
{
	const char *state = cenote_diag_field(diag, 'X');
	int32_t code = is_mysql(my) ? cenote_diag_native(diag) : 0;

	if (is_loss(diag)) {
		error_lost(my, diag);
		return;
	}
	if (!state || code == 0)
		state = cenote_diag_sqlstate(diag);
	cmy_error_text(my, code > 0 ? (unsigned)code : cmy_error_number(state), state,
		"%s", cenote_diag_message(diag));
}

void
cmy_error_status(MYSQL *my, int status)
{
	const struct cmy_session *s = cmy_session(my);
	const cenote_diag *diag = s && s->conn ? cenote_conn_diag(s->conn) : NULL;

	if (status == CENOTE_ERR_NOMEM || !diag)
		cmy_error(my, CR_OUT_OF_MEMORY, NULL);
	else if (status == CENOTE_ERR_STATE)
		cmy_error(my, CR_COMMANDS_OUT_OF_SYNC, NULL);
	else if (cenote_status_is_fatal(status))
		error_lost(my, diag);
	else if (*cenote_diag_message(diag) == '\0')
		cmy_error_text(my, CR_UNKNOWN_ERROR, NULL, "cenote: %s",
			cenote_status_name(status));
	else
		cmy_error_diag(my, diag);
}

/* ---- reading the error ---- */

unsigned int
cmy_mysql_errno(MYSQL *my)
{
	return my ? my->net.last_errno : 0;
}

const char *
cmy_mysql_error(MYSQL *my)
{
	return my ? my->net.last_error : "";
}

const char *
cmy_mysql_sqlstate(MYSQL *my)
{
	return my ? my->net.sqlstate : "00000";
}
