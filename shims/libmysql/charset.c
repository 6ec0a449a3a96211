/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>

/* The API's functions for character sets: the connection's set, look-up by name and number, and
 * conversion. collations.c has the table. face.c calls them. */

/* ---- the face ---- */

const char *
cmy_mysql_character_set_name(MYSQL *my)
{
	return my->charset->csname;
}

void
cmy_mysql_get_character_set_info(MYSQL *my, MY_CHARSET_INFO *cs)
{
	const MARIADB_CHARSET_INFO *from = my->charset;

	if (!cs)
		return;
	*cs = (MY_CHARSET_INFO){ .number = from->nr,
		.csname = from->csname,
		.name = from->name,
		.mbminlen = from->char_minlen,
		.mbmaxlen = from->char_maxlen };
}

/* Set the session's character set. On a pool of another server all text is UTF-8, so
 * nothing is sent. */
static int
tell_server(MYSQL *my, const MARIADB_CHARSET_INFO *cs)
{
	const MARIADB_CHARSET_INFO *before = my->charset;
	struct cmy_session *s = cmy_session(my);
	char sql[64];
	int r;

	if (s && s->conn && s->backend != CMY_BACKEND_MYSQL) {
		my->charset = cs;
		r = cmy_enter(my) ? cmy_use_charset(s) : -1;
	} else {
		snprintf(sql, sizeof(sql), "SET NAMES %s", cs->csname);
		r = cmy_mysql_real_query(my, sql, strlen(sql));
	}
	my->charset = r == 0 ? cs : before;
	return r == 0 ? 0 : (int)my->net.last_errno;
}

int
cmy_mysql_set_character_set(MYSQL *my, const char *csname)
{
	const MARIADB_CHARSET_INFO *cs = csname ? cmy_charset_by_name(csname) : NULL;

	/* sic: Oracle's library remembers the name for the next connect, even if no such
	 * set exists */
	if (CMY_ORACLE && !my->net.CMY_VIO && csname)
		(void)cmy_option_set(my, MYSQL_SET_CHARSET_NAME, csname, NULL);
	if (!cs) {
		cmy_error_with(my, CR_CANT_READ_CHARSET, csname ? csname : "(null)",
			CMY_CHARSET_DIR);
		return CR_CANT_READ_CHARSET;
	}
	if (CMY_ORACLE && !my->net.CMY_VIO && cs->char_minlen > 1) {
		cmy_error_text(my, CR_INVALID_CLIENT_CHARSET, NULL,
			"'%s' character set is having more than 1 byte minimum character "
			"length, which cannot be used as a client character set. Please "
			"use any of the single byte minimum ones, e.g. utf8mb4, latin1 "
			"etc.",
			cs->csname);
		return CR_INVALID_CLIENT_CHARSET;
	}
	if (CMY_ORACLE && !my->net.CMY_VIO) {
		my->charset = cs;
		return 0;
	}
	return tell_server(my, cs);
}

#if !CMY_ORACLE

const MARIADB_CHARSET_INFO *
cmy_mysql_get_charset_by_name(const char *csname)
{
	return cmy_charset_by_name(csname);
}

const MARIADB_CHARSET_INFO *
cmy_mysql_get_charset_by_nr(unsigned int csnr)
{
	return cmy_charset_by_nr(csnr);
}

MARIADB_CHARSET_INFO *
cmy_mariadb_get_charset_by_name(const char *csname)
{
	return (MARIADB_CHARSET_INFO *)(uintptr_t)cmy_charset_by_name(csname);
}

MARIADB_CHARSET_INFO *
cmy_mariadb_get_charset_by_nr(unsigned int csnr)
{
	return (MARIADB_CHARSET_INFO *)(uintptr_t)cmy_charset_by_nr(csnr);
}

/* Without a byte order in the name, iconv() expects a byte order mark in UTF-16 and
 * UTF-32. */
static const char *
iconv_name(const MARIADB_CHARSET_INFO *cs)
{
	static const char *const names[][2] = { { "ucs2", "UCS-2BE" },
		{ "utf16", "UTF-16BE" }, { "utf16le", "UTF-16LE" },
		{ "utf32", "UTF-32BE" }, { "eucjpms", "EUC-JP-MS" },
		{ "macce", "MAC-CENTRALEUROPE" }, { "swe7", "SEN_850200_B" } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(cs->csname, names[i][0]) == 0)
			return names[i][1];
	}
	return cs->encoding;
}

size_t
cmy_mariadb_convert_string(const char *from, size_t *from_len,
	MARIADB_CHARSET_INFO *from_cs, char *to, size_t *to_len,
	MARIADB_CHARSET_INFO *to_cs, int *errorcode)
{
	size_t room = *to_len, r;
	char *in = (char *)(uintptr_t)from;
	iconv_t conversion;

	*errorcode = 0;
	/* the names include big-endian where needed, so iconv() writes no byte order marks */
	conversion = iconv_open(iconv_name(to_cs), iconv_name(from_cs));
	if (conversion == (iconv_t)-1) {
		*errorcode = errno;
		return (size_t)-1;
	}
	r = iconv(conversion, &in, from_len, &to, to_len);
	if (r == (size_t)-1)
		*errorcode = errno;
	else
		r = room - *to_len;
	iconv_close(conversion);
	return r;
}

#endif
