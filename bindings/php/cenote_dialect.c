/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The differences between servers: placeholders, quoting, and the id of the last row.
 * cenote_driver.c and cenote_statement.c look up the server's dialect. It has no state.
 */
#include "php_pdo_cenote_int.h"

#include <zend_smart_str.h>

/* SERVER_STATUS_NO_BACKSLASH_ESCAPES of MySQL. */
#define MYSQL_NO_BACKSLASH_ESCAPES 512u

static void
append_hex(smart_str *out, const zend_string *bytes)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < ZSTR_LEN(bytes); i++) {
		unsigned char byte = (unsigned char)ZSTR_VAL(bytes)[i];

		smart_str_appendc(out, digits[byte >> 4]);
		smart_str_appendc(out, digits[byte & 15]);
	}
}

static zend_string *
quote_hex(const char *before, const zend_string *bytes, const char *after)
{
	smart_str out = { 0 };

	smart_str_appends(&out, before);
	append_hex(&out, bytes);
	smart_str_appends(&out, after);
	smart_str_0(&out);
	return out.s;
}

/* Put quotes around the text and double each character in `doubled`. NULL: SQL text cannot contain it. */
static zend_string *
quote_doubled(const char *before, const zend_string *text, const char *doubled)
{
	smart_str out = { 0 };

	if (memchr(ZSTR_VAL(text), 0, ZSTR_LEN(text)))
		return NULL;
	smart_str_appends(&out, before);
	for (const char *p = ZSTR_VAL(text); *p; p++) {
		if (strchr(doubled, *p))
			smart_str_appendc(&out, *p);
		smart_str_appendc(&out, *p);
	}
	smart_str_appendc(&out, '\'');
	smart_str_0(&out);
	return out.s;
}

static zend_string *
quote_standard(const cenote_conn *conn, uint32_t server_status, const zend_string *text,
	enum pdo_param_type type)
{
	(void)conn;
	(void)server_status;
	if (PDO_PARAM_TYPE(type) == PDO_PARAM_LOB)
		return quote_hex("x'", text, "'");
	return quote_doubled("'", text, "'");
}

static zend_string *
quote_postgresql(const cenote_conn *conn, uint32_t server_status, const zend_string *text,
	enum pdo_param_type type)
{
	const char *conforming = cenote_parameter(conn, "standard_conforming_strings");

	(void)server_status;
	if (PDO_PARAM_TYPE(type) == PDO_PARAM_LOB)
		return quote_hex("decode('", text, "', 'hex')");
	if (conforming && strcmp(conforming, "off") == 0)
		return quote_doubled("E'", text, "'\\");
	return quote_doubled("'", text, "'");
}

/* The session's character set, if a backslash in it may be the last byte of a character, or may
 * combine with the byte before it; else NULL. */
static const char *
ambiguous_charset(const cenote_conn *conn)
{
	static const char *const names[] = { "big5", "cp932", "gb18030", "gbk", "sjis" };
	const char *now = cenote_parameter(conn, "character_set_client");

	if (!now)
		now = cenote_parameter(conn, "character_set");
	for (size_t i = 0; now && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], now) == 0)
			return names[i];
	}
	return NULL;
}

/* Write the text as hexadecimal digits, which no quote can end. */
static zend_string *
quote_bytes(const char *charset, const zend_string *text)
{
	char before[16];

	snprintf(before, sizeof(before), "_%s x'", charset);
	return quote_hex(before, text, "'");
}

/* Escape the characters that MySQL needs escaped (Reference Manual, "String Literals"). */
static zend_string *
quote_mysql(const cenote_conn *conn, uint32_t server_status, const zend_string *text,
	enum pdo_param_type type)
{
	static const char escaped[] = "\0\n\r\\'\"\x1a", as[] = "0nr\\'\"Z";
	const char *charset = ambiguous_charset(conn);
	smart_str out = { 0 };

	if (charset && PDO_PARAM_TYPE(type) != PDO_PARAM_LOB)
		return quote_bytes(charset, text);
	if (charset || server_status & MYSQL_NO_BACKSLASH_ESCAPES)
		return quote_standard(conn, server_status, text, type);
	if (type & PDO_PARAM_STR_NATL)
		smart_str_appendc(&out, 'N');
	else if (PDO_PARAM_TYPE(type) == PDO_PARAM_LOB)
		smart_str_appends(&out, "_binary");
	smart_str_appendc(&out, '\'');
	for (size_t i = 0; i < ZSTR_LEN(text); i++) {
		char c = ZSTR_VAL(text)[i];
		const char *found = memchr(escaped, c, sizeof(escaped) - 1);

		if (found)
			smart_str_appendc(&out, '\\');
		if (found)
			c = as[found - escaped];
		smart_str_appendc(&out, c);
	}
	smart_str_appendc(&out, '\'');
	smart_str_0(&out);
	return out.s;
}

uint32_t
pdo_cenote_first_status(const cenote_conn *conn)
{
	const char *mode = cenote_parameter(conn, "sql_mode");

	return mode && strstr(mode, "NO_BACKSLASH_ESCAPES") ? MYSQL_NO_BACKSLASH_ESCAPES
							    : 0;
}

static bool
is_server(const cenote_conn *conn, const char *name)
{
	const char *dbms = cenote_parameter(conn, "odbc_dbms");

	return dbms && strncasecmp(dbms, name, strlen(name)) == 0;
}

/* For an unknown server behind ODBC: it is not known how the session reads a backslash. Quote so
 * that it does not matter. */
static zend_string *
quote_other(const cenote_conn *conn, uint32_t server_status, const zend_string *text,
	enum pdo_param_type type)
{
	if (PDO_PARAM_TYPE(type) == PDO_PARAM_LOB)
		return quote_standard(conn, server_status, text, type);
	if (is_server(conn, "MySQL") || is_server(conn, "MariaDB"))
		return quote_bytes("utf8mb4", text);
	if (is_server(conn, "PostgreSQL"))
		return quote_doubled("E'", text, "'\\");
	return quote_standard(conn, server_status, text, type);
}

static const pdo_cenote_dialect dialects[] = {
	{ "postgresql", "$%d", false, true, "select lastval()", "select currval($1)",
		quote_postgresql },
	/* The number is a comment for the server. It tells which value this is when names repeat. */
	{ "mysql", "/*%d*/?", true, false, NULL, NULL, quote_mysql },
	{ "sqlite", "?%d", false, false, "select last_insert_rowid()", NULL,
		quote_standard },
	{ "freetds", "/*%d*/?", true, false, "select @@identity", NULL, quote_standard },
	/* any other backend */
	{ NULL, "/*%d*/?", true, false, NULL, NULL, quote_other },
};

const pdo_cenote_dialect *
pdo_cenote_dialect_of(const cenote_conn *conn)
{
	const char *backend = cenote_info(conn, "backend");
	const pdo_cenote_dialect *dialect = dialects;

	while (dialect->backend && (!backend || strcmp(dialect->backend, backend) != 0))
		dialect++;
	return dialect;
}
