/* SPDX-License-Identifier: BSD-2-Clause */
#include "../common/fact.h"
#include "libmysql.h"

#include <stdatomic.h>
#include <string.h>

/*
 * Escaping. The program's safety depends on it. The result fits the connection's character set: no
 * byte of a character can be taken for a backslash or quote. It also fits the server's escapes.
 * MySQL reads a backslash as an escape, unless its sql_mode has NO_BACKSLASH_ESCAPES; on other
 * servers only a doubled quote is an escape. The process keeps one variable: how
 * mysql_escape_string(), which has no connection, escapes.
 */

/* The byte to write after the backslash; 0: this byte is not escaped. */
static char
escape_of(char c)
{
	switch (c) {
	case '\0':
		return '0';
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\032':
		return 'Z';
	case '\\':
	case '\'':
	case '"':
		return c;
	default:
		return 0;
	}
}

/* The length of the character at p if it has several bytes and is complete; else 0. */
static size_t
whole_character(const MARIADB_CHARSET_INFO *cs, const char *p, const char *end)
{
	return cs->char_maxlen > 1 ? cs->mb_valid(p, end) : 0;
}

static int
is_utf8(const MARIADB_CHARSET_INFO *cs)
{
	return strncmp(cs->csname, "utf8", 4) == 0;
}

/*
 * Does the byte begin a character whose other bytes are missing? Such a byte must not swallow the
 * backslash after it. In UTF-8 it cannot do that, and each flavour behaves as its original:
 * Oracle's escapes the byte, MariaDB's does not.
 */
static int
is_broken(const MARIADB_CHARSET_INFO *cs, char c)
{
	unsigned n;

	if (cs->char_maxlen == 1)
		return 0;
	n = cs->mb_charlen((unsigned char)c);
	return is_utf8(cs) ? CMY_ORACLE && n > 1 : n != 1;
}

static char *
put_slashed(const MARIADB_CHARSET_INFO *cs, char *to, char c)
{
	char escape = (char)(is_broken(cs, c) ? c : escape_of(c));

	if (escape) {
		*to++ = '\\';
		c = escape;
	}
	*to++ = c;
	return to;
}

static char *
put_doubled(char *to, char c, const char *doubled)
{
	if (c != '\0' && strchr(doubled, c))
		*to++ = c;
	*to++ = c;
	return to;
}

/* Escape a text. `doubled`: the characters to write twice; NULL: escape with backslashes. `to`
 * needs 2 * len + 1 bytes. */
static unsigned long
escape(const MARIADB_CHARSET_INFO *cs, char *to, const char *from, size_t len,
	const char *doubled)
{
	const char *end = from + len;
	char *begin = to;

	while (from < end) {
		size_t n = whole_character(cs, from, end);

		if (n > 1) {
			memcpy(to, from, n);
			to += n;
			from += n;
			continue;
		}
		to = doubled ? put_doubled(to, *from, doubled)
			     : put_slashed(cs, to, *from);
		from++;
	}
	*to = '\0';
	return (unsigned long)(to - begin);
}

/* Does the server escape with doubled quotes and with backslashes? That is PostgreSQL with its
 * older setting, and MySQL through ODBC, whose sql_mode is unknown. */
static int
has_both_escapes(const struct cmy_session *s)
{
	const char *standard;

	if (!s || !s->conn)
		return 0;
	if (s->backend == CMY_BACKEND_OTHER)
		return csh_has_backslashes(cenote_info(s->conn, "odbc_dbms"));
	if (s->backend != CMY_BACKEND_POSTGRESQL)
		return 0;
	standard = cenote_parameter(s->conn, "standard_conforming_strings");
	return standard && strcmp(standard, "off") == 0;
}

/* The characters to write twice; NULL: escape with backslashes. */
static const char *
doubled_by(const MYSQL *my, const char *quote)
{
	if (has_both_escapes(cmy_session(my)))
		return "'\\";
	return my->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES ? quote : NULL;
}

/* For functions without a connection: the characters that the last connection's server wants twice.
 * NULL: MySQL. */
static _Atomic(const char *) last_doubled;

void
cmy_escape_remember(const struct cmy_session *s)
{
	int is_other = s && s->backend != CMY_BACKEND_MYSQL;

	atomic_store(&last_doubled, is_other ? doubled_by(s->my, "'") : NULL);
}

unsigned long
cmy_mysql_escape_string(char *to, const char *from, unsigned long from_length)
{
	const MARIADB_CHARSET_INFO *cs =
		CMY_ORACLE ? cmy_charset_by_nr(8) : cmy_charset_default();

	return escape(cs, to, from, from_length, atomic_load(&last_doubled));
}

#if CMY_ORACLE

/* Oracle's library refuses to escape if it cannot know which quotes enclose the text. Other servers
 * have only one kind of quote. */
static int
is_insecure(const MYSQL *my)
{
	const struct cmy_session *s = cmy_session(my);

	return my->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES &&
	       s->backend == CMY_BACKEND_MYSQL;
}

unsigned long
cmy_mysql_real_escape_string(MYSQL *my, char *to, const char *from, unsigned long length)
{
	if (is_insecure(my)) {
		cmy_error_with(my, CR_INSECURE_API_ERR, "mysql_real_escape_string",
			"mysql_real_escape_string_quote");
		return (unsigned long)-1;
	}
	return escape(my->charset, to, from, length, doubled_by(my, "'"));
}

unsigned long
cmy_mysql_real_escape_string_quote(
	MYSQL *my, char *to, const char *from, unsigned long length, char quote)
{
	const char quotes[] = { quote, '\0' };

	return escape(my->charset, to, from, length,
		quote == '`' ? quotes : doubled_by(my, quotes));
}

#else

unsigned long
cmy_mysql_real_escape_string(MYSQL *my, char *to, const char *from, unsigned long length)
{
	return escape(my->charset, to, from, length, doubled_by(my, "'"));
}

#endif

unsigned long
cmy_mysql_hex_string(char *to, const char *from, unsigned long len)
{
	static const char digits[] = "0123456789ABCDEF";

	for (unsigned long i = 0; i < len; i++) {
		*to++ = digits[(unsigned char)from[i] >> 4];
		*to++ = digits[(unsigned char)from[i] & 0x0f];
	}
	*to = '\0';
	return 2 * len;
}
