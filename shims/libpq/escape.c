/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * Escaping of texts, names and bytea. libpq's functions without a connection use the last
 * connection's encoding and settings, so this file remembers them.
 */
static atomic_int last_encoding;
static _Atomic(const struct cpq_charset *) last_charset;
static atomic_int last_standard_strings;
static atomic_int
	last_is_original; /* the last connection belongs to the original library */

void
cpq_escape_remember(const PGconn *conn)
{
	atomic_store_explicit(
		&last_encoding, conn->inherited.encoding, memory_order_relaxed);
	atomic_store_explicit(
		&last_charset, conn->inherited.charset, memory_order_relaxed);
	atomic_store_explicit(
		&last_standard_strings, conn->standard_strings, memory_order_relaxed);
	atomic_store_explicit(&last_is_original, 0, memory_order_relaxed);
}

void
cpq_escape_leave(void)
{
	atomic_store_explicit(&last_is_original, 1, memory_order_relaxed);
}

/* The original library, if it made the last connection; else NULL. */
static const struct cpq_original *
who_knows(void)
{
	return atomic_load(&last_is_original) ? cpq_original(NULL) : NULL;
}

/* PostgreSQL checks the bytes of a text before it parses the SQL. So the shim, like libpq, may
 * accept bytes that the server refuses later. */
static size_t
character_of_postgresql(const char *s, size_t left, int encoding, const char **ret_why)
{
	int len = cpq_encoding_length(encoding, s, left);

	if (left < (size_t)len)
		*ret_why = "incomplete multibyte character";
	else if (!cpq_encoding_is_legal(encoding, s, len))
		*ret_why = "invalid multibyte character";
	else
		return (size_t)len;
	return 0;
}

/*
 * MySQL parses first. To its parser, bytes that are not a whole character are single
 * bytes, and a quote among them ends the literal. So this function must see the same
 * characters as the parser.
 */
static size_t
character_of_mysql(const char *s, size_t left, const struct cpq_charset *charset,
	const char **ret_why)
{
	size_t len = charset->valid(s, s + left);

	if (len > 1)
		return len;
	if (charset->charlen((unsigned char)*s) == 1)
		return 1;
	*ret_why = "invalid multibyte character";
	return 0;
}

/* The length of a character above ASCII; 0 if the character is illegal, with the reason. */
static size_t
character(const struct cpq_inherited *inherited, const char *s, size_t left,
	const char **ret_why)
{
	return inherited->charset != NULL
		       ? character_of_mysql(s, left, inherited->charset, ret_why)
		       : character_of_postgresql(s, left, inherited->encoding, ret_why);
}

/* If the shim does not know the character set, no escaping is safe. */
static const char *
why_not(const struct cpq_inherited *inherited)
{
	return inherited->encoding >= 0
		       ? NULL
		       : "nothing can be escaped: the session has a character set that "
			 "is not known here";
}

static size_t
put_ascii(char *to, char c, char doubled, int is_doubling_backslash)
{
	to[0] = c;
	if (c != doubled && !(c == '\\' && is_doubling_backslash))
		return 1;
	to[1] = c;
	return 2;
}

/* An illegal character becomes two bytes that no server accepts, so that it cannot hide a quote. */
static size_t
escape_string(char *to, const char *from, size_t length,
	const struct cpq_inherited *inherited, int standard, const char **ret_why)
{
	size_t left = strnlen(from, length);
	const char *why = NULL;
	char *at = to;
	size_t n;

	*ret_why = why_not(inherited);
	if (*ret_why != NULL)
		left = 0;
	while (left > 0) {
		if ((unsigned char)*from < 0x80) {
			at += put_ascii(at, *from++, '\'', !standard);
			left--;
			continue;
		}
		n = character(inherited, from, left, &why);
		if (n > 0) {
			memcpy(at, from, n);
			at += n;
		} else {
			cpq_encoding_put_illegal(inherited->encoding, at);
			at += 2;
			n = 1;
			if (*ret_why == NULL)
				*ret_why = why;
		}
		from += n;
		left -= n;
	}
	*at = '\0';
	return (size_t)(at - to);
}

size_t
cpq_PQescapeStringConn(
	PGconn *conn, char *to, const char *from, size_t length, int *error)
{
	const char *why;
	size_t n;

	if (conn == NULL) {
		*to = '\0';
		if (error != NULL)
			*error = 1;
		return 0;
	}
	if (conn->queue.first == NULL)
		resetPQExpBuffer(&conn->error);
	n = escape_string(
		to, from, length, &conn->inherited, conn->standard_strings, &why);
	if (why != NULL)
		cpq_say(conn, "%s", why);
	if (error != NULL)
		*error = why != NULL;
	return n;
}

size_t
cpq_PQescapeString(char *to, const char *from, size_t length)
{
	const struct cpq_original *original = who_knows();
	const struct cpq_inherited inherited = { .encoding = atomic_load(&last_encoding),
		.charset = atomic_load(&last_charset) };
	const char *why;

	if (original != NULL)
		return original->PQescapeString(to, from, length);
	return escape_string(
		to, from, length, &inherited, atomic_load(&last_standard_strings), &why);
}

/* Count the quotes and backslashes that escaping doubles. -1: there is an illegal character, and
 * the error text says so. */
static int
count_doubled(PGconn *conn, const char *str, size_t len, char quote, size_t *ret_quotes,
	size_t *ret_backslashes)
{
	const char *why = why_not(&conn->inherited);
	size_t n;

	*ret_quotes = 0;
	*ret_backslashes = 0;
	if (why != NULL) {
		cpq_say(conn, "%s", why);
		return -1;
	}
	for (size_t i = 0; i < len; i += n) {
		n = 1;
		*ret_quotes += str[i] == quote;
		*ret_backslashes += str[i] == '\\';
		if ((unsigned char)str[i] < 0x80)
			continue;
		n = character(&conn->inherited, str + i, len - i, &why);
		if (n == 0) {
			cpq_say(conn, "%s", why);
			return -1;
		}
	}
	return 0;
}

static char *
escape_quoted(PGconn *conn, const char *str, size_t len, char quote)
{
	int is_literal = quote == '\'';
	int is_doubling = is_literal;
	size_t quotes, backslashes;
	const char *why;
	char *out, *at;

	if (conn == NULL)
		return NULL;
	if (conn->queue.first == NULL)
		resetPQExpBuffer(&conn->error);
	len = strnlen(str, len);
	if (count_doubled(conn, str, len, quote, &quotes, &backslashes) < 0)
		return NULL;
	out = len < SIZE_MAX / 4 ? malloc(len + quotes + backslashes + 5) : NULL;
	if (out == NULL) {
		cpq_say(conn, "out of memory");
		return NULL;
	}
	at = out;
	/* Other servers have no E''. If they treat backslashes as escapes, they do so in every
	 * literal. */
	if (conn->inherited.dialect != NULL)
		is_doubling = is_literal && !conn->standard_strings;
	else if (is_literal && backslashes > 0) {
		*at++ = ' ';
		*at++ = 'E';
	}
	*at++ = quote;
	/* Characters of several bytes were checked above, so none of their bytes counts as a quote
	 * here. */
	for (size_t i = 0; i < len;) {
		size_t n = (unsigned char)str[i] < 0x80
				   ? 1
				   : character(&conn->inherited, str + i, len - i, &why);

		if (n == 1) {
			at += put_ascii(at, str[i++], quote, is_doubling);
			continue;
		}
		memcpy(at, str + i, n);
		at += n;
		i += n;
	}
	*at++ = quote;
	*at = '\0';
	return out;
}

char *
cpq_PQescapeLiteral(PGconn *conn, const char *str, size_t len)
{
	return escape_quoted(conn, str, len, '\'');
}

char *
cpq_PQescapeIdentifier(PGconn *conn, const char *str, size_t len)
{
	int is_other = conn != NULL && conn->inherited.dialect != NULL;

	return escape_quoted(conn, str, len,
		(char)(is_other ? cpq_dialect_name_quote(conn->inherited.dialect) : '"'));
}

static const char hex[] = "0123456789abcdef";

/* Write one byte in the escape format; `to` may be NULL, to count. */
static size_t
put_byte(char *to, unsigned char c, int standard)
{
	const char *backslash = standard ? "\\" : "\\\\";
	char text[8];
	int n;

	if (c < 0x20 || c > 0x7e)
		n = snprintf(text, sizeof(text), "%s%03o", backslash, c);
	else if (c == '\'')
		n = snprintf(text, sizeof(text), "''");
	else if (c == '\\')
		n = snprintf(text, sizeof(text), "%s%s", backslash, backslash);
	else
		n = snprintf(text, sizeof(text), "%c", c);
	if (to != NULL)
		memcpy(to, text, (size_t)n);
	return (size_t)n;
}

static unsigned char *
escape_hex(const unsigned char *from, size_t length, size_t *ret_length, int standard)
{
	size_t prefix = standard ? 2 : 3;
	char *out = length < SIZE_MAX / 4 ? malloc(2 * length + prefix + 1) : NULL;

	if (out == NULL)
		return NULL;
	memcpy(out, standard ? "\\x" : "\\\\x", prefix);
	for (size_t i = 0; i < length; i++) {
		out[prefix + 2 * i] = hex[from[i] >> 4];
		out[prefix + 2 * i + 1] = hex[from[i] & 15];
	}
	out[prefix + 2 * length] = '\0';
	*ret_length = prefix + 2 * length + 1;
	return (unsigned char *)out;
}

static unsigned char *
escape_octal(const unsigned char *from, size_t length, size_t *ret_length, int standard)
{
	size_t size = 1;
	char *out, *at;

	for (size_t i = 0; i < length; i++)
		size += put_byte(NULL, from[i], standard);
	out = malloc(size);
	if (out == NULL)
		return NULL;
	at = out;
	for (size_t i = 0; i < length; i++)
		at += put_byte(at, from[i], standard);
	*at = '\0';
	*ret_length = size;
	return (unsigned char *)out;
}

unsigned char *
cpq_PQescapeByteaConn(
	PGconn *conn, const unsigned char *from, size_t from_length, size_t *to_length)
{
	unsigned char *out;

	if (conn == NULL)
		return NULL;
	if (conn->queue.first == NULL)
		resetPQExpBuffer(&conn->error);
	/* Other servers would store "\x…" as a text, without an error. */
	if (conn->inherited.dialect != NULL) {
		cpq_say(conn,
			"%s has no literals of bytea: give bytes as a binary parameter",
			cpq_dialect_title(conn->inherited.dialect));
		return NULL;
	}
	out = conn->server_version >= 90000
		      ? escape_hex(from, from_length, to_length, conn->standard_strings)
		      : escape_octal(
				from, from_length, to_length, conn->standard_strings);
	if (out == NULL)
		cpq_say(conn, "out of memory");
	return out;
}

unsigned char *
cpq_PQescapeBytea(const unsigned char *from, size_t from_length, size_t *to_length)
{
	const struct cpq_original *original = who_knows();

	if (original != NULL)
		return original->PQescapeBytea(from, from_length, to_length);
	return escape_octal(
		from, from_length, to_length, atomic_load(&last_standard_strings));
}

static int
digit(unsigned char c, int base)
{
	int value = c >= '0' && c <= '9'                     ? c - '0'
		    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
							     : 99;

	return value < base ? value : -1;
}

/* Decode pairs of hex digits. As in libpq, all other characters are skipped. */
static size_t
unescape_hex(unsigned char *out, const unsigned char *s)
{
	size_t n = 0;
	int high;

	while (*s != '\0') {
		high = digit(*s++, 16);
		if (high < 0)
			continue;
		if (*s != '\0') {
			int low = digit(*s++, 16);

			if (low >= 0)
				out[n++] = (unsigned char)(high << 4 | low);
		}
	}
	return n;
}

static size_t
unescape_octal(unsigned char *out, const unsigned char *s)
{
	size_t n = 0;

	while (*s != '\0') {
		if (*s != '\\') {
			out[n++] = *s++;
		} else if (s[1] == '\\') {
			out[n++] = '\\';
			s += 2;
		} else if (digit(s[1], 4) >= 0 && digit(s[2], 8) >= 0 &&
			   digit(s[3], 8) >= 0) {
			out[n++] = (unsigned char)(digit(s[1], 4) << 6 |
						   digit(s[2], 8) << 3 | digit(s[3], 8));
			s += 4;
		} else {
			s++;
		}
	}
	return n;
}

unsigned char *
cpq_PQunescapeBytea(const unsigned char *strtext, size_t *retbuflen)
{
	unsigned char *out;
	size_t n;

	if (strtext == NULL)
		return NULL;
	out = malloc(strlen((const char *)strtext) + 1);
	if (out == NULL)
		return NULL;
	n = strtext[0] == '\\' && strtext[1] == 'x' ? unescape_hex(out, strtext + 2)
						    : unescape_octal(out, strtext);
	out[n] = '\0';
	*retbuflen = n;
	return out;
}
