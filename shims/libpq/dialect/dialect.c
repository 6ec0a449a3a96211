/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect.h"

#include "../../common/charset.h"
#include "../../common/fact.h"

#include <stdlib.h>
#include <string.h>

/*
 * The other servers, with one table entry for each, and the values that programs ask for as if the
 * server were PostgreSQL (version, encoding, parameters). connect.c enters and leaves a dialect.
 */

/* Numbers of MySQL's column types (enum enum_field_types). */
enum {
	MY_TINY = 1,
	MY_SHORT = 2,
	MY_LONG = 3,
	MY_FLOAT = 4,
	MY_INT24 = 9,
	MY_YEAR = 13,
	MY_LONGLONG = 8,
	MY_STRING = 254
};

static const struct cpq_native_type mysql_types[] = {
	{ MY_TINY, CENOTE_TYPE_INT64, CPQ_INT2 },
	{ MY_TINY, CENOTE_TYPE_UINT64, CPQ_INT2 },
	{ MY_SHORT, CENOTE_TYPE_INT64, CPQ_INT2 },
	{ MY_SHORT, CENOTE_TYPE_UINT64, CPQ_INT4 },
	{ MY_INT24, CENOTE_TYPE_INT64, CPQ_INT4 },
	{ MY_INT24, CENOTE_TYPE_UINT64, CPQ_INT4 },
	{ MY_LONG, CENOTE_TYPE_INT64, CPQ_INT4 },
	{ MY_LONG, CENOTE_TYPE_UINT64, CPQ_INT8 },
	{ MY_LONGLONG, CENOTE_TYPE_INT64, CPQ_INT8 },
	{ MY_YEAR, CENOTE_TYPE_INT64, CPQ_INT2 },
	{ MY_FLOAT, CENOTE_TYPE_DOUBLE, CPQ_FLOAT4 },
	/* CHAR, ENUM and SET. The last two have no declared length. */
	{ MY_STRING, CENOTE_TYPE_TEXT, CPQ_VARCHAR },
	{ 0, 0, 0 },
};

static const struct cpq_native_type no_types[] = { { 0, 0, 0 } };

#define OF_MYSQL                                                                         \
	.backend = "mysql", .placeholder = CPQ_PLACEHOLDER_PLAIN,                        \
	.rules = CPQ_SQL_MYSQL, .name_quote = '`', .makes_tags = 1, .has_set = 1,        \
	.is_mysql = 1, .types = mysql_types

/* The last entry is for every server that is not known by name. */
static const struct cpq_dialect dialects[] = {
	{
		.backend = "sqlite",
		.title = "SQLite",
		.placeholder = CPQ_PLACEHOLDER_NUMBERED,
		.rules = CPQ_SQL_SQLITE,
		.name_quote = '"',
		.types = no_types,
	},
	{ .title = "MySQL", OF_MYSQL },
	{ .title = "MariaDB", OF_MYSQL },
	{
		.backend = "",
		.title = "another server",
		.rules = CPQ_SQL_OTHER,
		.placeholder = CPQ_PLACEHOLDER_PLAIN,
		.name_quote = '"',
		.makes_tags = 1,
		.has_batches = 1,
		.has_set = 1,
		.types = no_types,
	},
};

/* This server reads SQL as MySQL does, but its driver does not report sql_mode. So the shim does
 * not know whether a backslash escapes. Escaping doubles backslashes and quotes: then no text can
 * end early in either mode. */
static const struct cpq_dialect mysql_by_odbc = {
	.title = "MySQL behind ODBC",
	.placeholder = CPQ_PLACEHOLDER_PLAIN,
	.rules = CPQ_SQL_MYSQL,
	.name_quote = '`',
	.makes_tags = 1,
	.has_batches = 1,
	.has_set = 1,
	.types = no_types,
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct cpq_dialect *
find_dialect(const char *backend, const char *version, const char *dbms)
{
	size_t i = 0;

	if (csh_has_backslashes(dbms))
		return &mysql_by_odbc;
	while (i < N_OF(dialects) - 1 && strcmp(dialects[i].backend, backend) != 0)
		i++;
	if (dialects[i].is_mysql && strcasestr(version, dialects[i + 1].title) != NULL)
		i++;
	return &dialects[i];
}

/* The version of PostgreSQL that the shim imitates. Programs decide by it what they can use. */
#define VERSION_TEXT   "15.0"
#define VERSION_NUMBER 150000
#define UTF8           "UTF8"

static const char *
info(const PGconn *conn, const char *name)
{
	const char *text = cenote_info(conn->session, name);

	return text != NULL ? text : "";
}

/* Accept only UTF-8 and SQL_ASCII, because the shim does not convert texts. 0; -1, and the reason
 * in the error text. */
static int
check_encoding(PGconn *conn)
{
	const char *encoding = cpq_conninfo_get(&conn->info, CPQ_KEY_CLIENT_ENCODING);

	if (*encoding == '\0' || strcmp(encoding, "auto") == 0 ||
		pg_char_to_encoding(encoding) == pg_char_to_encoding(UTF8) ||
		pg_char_to_encoding(encoding) == 0)
		return 0;
	cpq_say(conn,
		"connection to pool \"%s\" failed: FATAL:  %s gives texts in UTF8, and "
		"not in "
		"\"%s\"",
		conn->route.pool, conn->inherited.dialect->title, encoding);
	return -1;
}

int
cpq_dialect_enter(PGconn *conn)
{
	const char *backend = info(conn, "backend");
	const struct cpq_dialect *dialect;

	cpq_dialect_leave(conn);
	if (*backend == '\0' || strcmp(backend, "postgresql") == 0)
		return 0;
	dialect = find_dialect(
		backend, info(conn, "server_version"), info(conn, "odbc_dbms"));
	conn->inherited.dialect = dialect;
	conn->inherited.encoding = pg_char_to_encoding(UTF8);
	conn->inherited.charset = NULL;
	conn->standard_strings = !(dialect->rules & CNC_SQL_BACKSLASH);
	conn->server_version = VERSION_NUMBER;
	snprintf(conn->version_text, sizeof(conn->version_text), VERSION_TEXT " (%s %s)",
		dialect->title, info(conn, "server_version"));
	cpq_escape_remember(conn);
	return check_encoding(conn);
}

void
cpq_dialect_leave(PGconn *conn)
{
	cpq_statements_drop(conn);
	conn->inherited.dialect = NULL;
	conn->inherited.charset = NULL;
}

struct cnc_sql
cpq_dialect_sql(const PGconn *conn, const char *text)
{
	const struct cpq_charset *charset = conn->inherited.charset;
	struct cnc_sql sql =
		cnc_sql_begin(text, strlen(text), conn->inherited.dialect->rules);

	if (conn->standard_strings)
		sql.rules &= ~(uint32_t)CNC_SQL_BACKSLASH;
	if (charset != NULL)
		sql.character = charset->valid;
	return sql;
}

#define CHARSET(name)                                                                    \
	static const struct cpq_charset name = { csh_##name##_charlen,                   \
		csh_##name##_valid };
CHARSET(big5)
CHARSET(cp932)
CHARSET(gb18030)
CHARSET(gb2312)
CHARSET(gbk)
CHARSET(uhc)
CHARSET(ujis)

/* Every character set that a client of MySQL or MariaDB can have. If PostgreSQL has no name for it,
 * the program gets SQL_ASCII. */
static const struct {
	const char *name;
	const char *encoding;
	const struct cpq_charset *charset;
} charsets[] = {
	{ "utf8mb4", UTF8, NULL },
	{ "utf8mb3", UTF8, NULL },
	{ "utf8", UTF8, NULL },
	{ "latin1", "WIN1252", NULL },
	{ "latin2", "LATIN2", NULL },
	{ "latin5", "LATIN5", NULL },
	{ "latin7", "LATIN7", NULL },
	{ "greek", "ISO_8859_7", NULL },
	{ "hebrew", "ISO_8859_8", NULL },
	{ "cp1250", "WIN1250", NULL },
	{ "cp1251", "WIN1251", NULL },
	{ "cp1256", "WIN1256", NULL },
	{ "cp1257", "WIN1257", NULL },
	{ "cp866", "WIN866", NULL },
	{ "koi8r", "KOI8R", NULL },
	{ "koi8u", "KOI8U", NULL },
	{ "tis620", "WIN874", NULL },
	{ "sjis", "SJIS", &cp932 },
	{ "cp932", "SJIS", &cp932 },
	{ "ujis", "EUC_JP", &ujis },
	{ "eucjpms", "EUC_JP", &ujis },
	{ "big5", "BIG5", &big5 },
	{ "gb2312", "EUC_CN", &gb2312 },
	{ "gbk", "GBK", &gbk },
	{ "gb18030", "GB18030", &gb18030 },
	{ "euckr", "UHC", &uhc },
	{ "armscii8", "SQL_ASCII", NULL },
	{ "ascii", "SQL_ASCII", NULL },
	{ "binary", "SQL_ASCII", NULL },
	{ "cp850", "SQL_ASCII", NULL },
	{ "cp852", "SQL_ASCII", NULL },
	{ "dec8", "SQL_ASCII", NULL },
	{ "geostd8", "SQL_ASCII", NULL },
	{ "hp8", "SQL_ASCII", NULL },
	{ "keybcs2", "SQL_ASCII", NULL },
	{ "macce", "SQL_ASCII", NULL },
	{ "macroman", "SQL_ASCII", NULL },
	{ "swe7", "SQL_ASCII", NULL },
};

/* Update the character set after each change, because escaping must know where a character ends. */
static void
follow_charset(PGconn *conn, const char *name)
{
	conn->inherited.encoding = -1;
	conn->inherited.charset = NULL;
	for (size_t i = 0; i < N_OF(charsets); i++) {
		if (strcmp(charsets[i].name, name) != 0)
			continue;
		conn->inherited.encoding = pg_char_to_encoding(charsets[i].encoding);
		conn->inherited.charset = charsets[i].charset;
	}
}

void
cpq_dialect_on_parameter(PGconn *conn, const char *name, const char *value)
{
	if (!conn->inherited.dialect->is_mysql)
		return;
	if (strcmp(name, "sql_mode") == 0)
		conn->standard_strings = strstr(value, "NO_BACKSLASH_ESCAPES") != NULL;
	else if (strcmp(name, "character_set") == 0 ||
		 strcmp(name, "character_set_client") == 0)
		follow_charset(conn, value);
	cpq_escape_remember(conn);
}

/* MySQL reports with each result how it reads string literals now. */
static void
follow_status(PGconn *conn, const cenote_result *from)
{
	enum {
		NO_BACKSLASH_ESCAPES = 512
	};
	uint32_t status = cenote_result_server_status(from);

	if (!conn->inherited.dialect->is_mysql)
		return;
	conn->standard_strings = (status & NO_BACKSLASH_ESCAPES) != 0;
	cpq_escape_remember(conn);
}

void
cpq_dialect_tag(PGconn *conn, PGresult *res, const cenote_result *from, uint64_t n_rows)
{
	struct cpq_request *req = conn->queue.first;
	int64_t affected = cenote_result_affected_rows(from);

	follow_status(conn, from);
	if (!req->has_head &&
		(req->sql.p == NULL || !cpq_sql_head(&req->sql, &req->head))) {
		cpq_result_set_tag(res, cenote_result_tag(from));
		return;
	}
	if (req->head.is_counted)
		snprintf(res->command, sizeof(res->command), "%s %llu", req->head.tag,
			(unsigned long long)(affected >= 0 ? (uint64_t)affected
							   : n_rows));
	else
		cpq_result_set_tag(res, req->head.tag);
	req->has_head =
		req->head.has_many && cenote_result_kind(from) == CENOTE_RESULT_ROWS;
}

static const char *
fact_version(const PGconn *conn)
{
	return conn->version_text;
}

static const char *
fact_utf8(const PGconn *conn)
{
	(void)conn;
	return UTF8;
}

static const char *
fact_encoding(const PGconn *conn)
{
	return pg_encoding_to_char(conn->inherited.encoding);
}

/* If this were "off", programs would write E'', which no other server reads. */
static const char *
fact_strings(const PGconn *conn)
{
	return conn->standard_strings ? "on" : NULL;
}

static const char *
fact_on(const PGconn *conn)
{
	(void)conn;
	return "on";
}

static const char *
fact_date_style(const PGconn *conn)
{
	(void)conn;
	return "ISO, YMD";
}

static const char *
fact_interval_style(const PGconn *conn)
{
	(void)conn;
	return "postgres";
}

static const char *
fact_zone(const PGconn *conn)
{
	const char *zone = cenote_parameter(conn->session, "time_zone");

	return zone != NULL ? zone : "UTC";
}

static const char *
fact_application(const PGconn *conn)
{
	return cenote_conn_get(conn->session, "application_name");
}

static const char *
fact_user(const PGconn *conn)
{
	return cpq_conninfo_get(&conn->info, CPQ_KEY_USER);
}

static const struct {
	const char *name;
	const char *(*value)(const PGconn *conn);
} facts[] = {
	{ "server_version", fact_version },
	{ "server_encoding", fact_utf8 },
	{ "client_encoding", fact_encoding },
	{ "standard_conforming_strings", fact_strings },
	{ "integer_datetimes", fact_on },
	{ "DateStyle", fact_date_style },
	{ "IntervalStyle", fact_interval_style },
	{ "TimeZone", fact_zone },
	{ "application_name", fact_application },
	{ "session_authorization", fact_user },
};

const char *
cpq_dialect_parameter(const PGconn *conn, const char *name)
{
	for (size_t i = 0; i < N_OF(facts); i++) {
		if (strcmp(facts[i].name, name) == 0)
			return facts[i].value(conn);
	}
	return cenote_parameter(conn->session, name);
}

int
cpq_dialect_pid(const PGconn *conn)
{
	const char *id = cenote_parameter(conn->session, "connection_id");

	return (int)strtol(id != NULL ? id : info(conn, "worker_pid"), NULL, 10);
}

char
cpq_dialect_name_quote(const struct cpq_dialect *dialect)
{
	return dialect->name_quote;
}

const char *
cpq_dialect_title(const struct cpq_dialect *dialect)
{
	return dialect->title;
}
