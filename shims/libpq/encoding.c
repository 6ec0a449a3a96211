/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

/*
 * Character encodings by PostgreSQL's numbers: names, lengths and widths of characters.
 * The first byte decides the length; in UTF-8 the whole character decides the width.
 */

enum family {
	SINGLE,
	EUC_JP,
	EUC_CN,
	EUC_KR,
	EUC_TW,
	UTF8,
	MULE,
	SJIS,
	DOUBLE,
	GB18030
};

/* The index is PostgreSQL's number of the encoding; encodings from 35 on are for clients only. */
static const struct {
	const char *name;
	enum family family;
} encodings[] = {
	{ "SQL_ASCII", SINGLE },
	{ "EUC_JP", EUC_JP },
	{ "EUC_CN", EUC_CN },
	{ "EUC_KR", EUC_KR },
	{ "EUC_TW", EUC_TW },
	{ "EUC_JIS_2004", EUC_JP },
	{ "UTF8", UTF8 },
	{ "MULE_INTERNAL", MULE },
	{ "LATIN1", SINGLE },
	{ "LATIN2", SINGLE },
	{ "LATIN3", SINGLE },
	{ "LATIN4", SINGLE },
	{ "LATIN5", SINGLE },
	{ "LATIN6", SINGLE },
	{ "LATIN7", SINGLE },
	{ "LATIN8", SINGLE },
	{ "LATIN9", SINGLE },
	{ "LATIN10", SINGLE },
	{ "WIN1256", SINGLE },
	{ "WIN1258", SINGLE },
	{ "WIN866", SINGLE },
	{ "WIN874", SINGLE },
	{ "KOI8R", SINGLE },
	{ "WIN1251", SINGLE },
	{ "WIN1252", SINGLE },
	{ "ISO_8859_5", SINGLE },
	{ "ISO_8859_6", SINGLE },
	{ "ISO_8859_7", SINGLE },
	{ "ISO_8859_8", SINGLE },
	{ "WIN1250", SINGLE },
	{ "WIN1253", SINGLE },
	{ "WIN1254", SINGLE },
	{ "WIN1255", SINGLE },
	{ "WIN1257", SINGLE },
	{ "KOI8U", SINGLE },
	{ "SJIS", SJIS },
	{ "BIG5", DOUBLE },
	{ "GBK", DOUBLE },
	{ "UHC", DOUBLE },
	{ "GB18030", GB18030 },
	{ "JOHAB", EUC_KR },
	{ "SHIFT_JIS_2004", SJIS },
};

#define N_ENCODINGS ((int)(sizeof(encodings) / sizeof(encodings[0])))
#define N_OF_SERVER 35

/* Other names: in lower case, with letters and digits only. */
static const struct {
	const char *name;
	int encoding;
} aliases[] = {
	{ "abc", 19 },
	{ "alt", 20 },
	{ "iso885910", 13 },
	{ "iso885913", 14 },
	{ "iso885914", 15 },
	{ "iso885915", 16 },
	{ "iso885916", 17 },
	{ "iso88591", 8 },
	{ "iso88592", 9 },
	{ "iso88593", 10 },
	{ "iso88594", 11 },
	{ "iso88599", 12 },
	{ "koi8", 22 },
	{ "mskanji", 35 },
	{ "shiftjis", 35 },
	{ "tcvn", 19 },
	{ "tcvn5712", 19 },
	{ "unicode", 6 },
	{ "vscii", 19 },
	{ "win", 23 },
	{ "win932", 35 },
	{ "win936", 37 },
	{ "win949", 38 },
	{ "win950", 36 },
	{ "windows1250", 29 },
	{ "windows1251", 23 },
	{ "windows1252", 24 },
	{ "windows1253", 30 },
	{ "windows1254", 31 },
	{ "windows1255", 32 },
	{ "windows1256", 18 },
	{ "windows1257", 33 },
	{ "windows1258", 19 },
	{ "windows866", 20 },
	{ "windows874", 21 },
	{ "windows932", 35 },
	{ "windows936", 37 },
	{ "windows949", 38 },
	{ "windows950", 36 },
};

/* The next letter or digit, in lower case; 0: there is none. */
static int
next_alnum(const char **s)
{
	while (**s && !isalnum((unsigned char)**s))
		++*s;
	return **s ? tolower((unsigned char)*(*s)++) : 0;
}

/* Compare two names without case, and by letters and digits only. */
static int
is_same_name(const char *a, const char *b)
{
	int c, d;

	do {
		c = next_alnum(&a);
		d = next_alnum(&b);
	} while (c == d && c != 0);
	return c == d;
}

static int
encoding_of(const char *name)
{
	if (name == NULL || strlen(name) >= 64)
		return -1;
	/* Try the server's spelling first, which is quick. */
	for (int i = 0; i < N_ENCODINGS; i++) {
		if (strcmp(encodings[i].name, name) == 0)
			return i;
	}
	for (int i = 0; i < N_ENCODINGS; i++) {
		if (is_same_name(encodings[i].name, name))
			return i;
	}
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (is_same_name(aliases[i].name, name))
			return aliases[i].encoding;
	}
	return -1;
}

CPQ_EXPORT int
pg_char_to_encoding(const char *name)
{
	if (name == NULL || *name == '\0')
		return -1;
	return encoding_of(name);
}

CPQ_EXPORT const char *
pg_encoding_to_char(int encoding)
{
	return encoding >= 0 && encoding < N_ENCODINGS ? encodings[encoding].name : "";
}

CPQ_EXPORT int
pg_valid_server_encoding_id(int encoding)
{
	return encoding >= 0 && encoding < N_OF_SERVER;
}

CPQ_EXPORT int
pg_valid_server_encoding(const char *name)
{
	int encoding = pg_char_to_encoding(name);

	return pg_valid_server_encoding_id(encoding) ? encoding : -1;
}

static int
length_utf8(unsigned char c)
{
	if (c < 0xc0)
		return 1;
	if (c < 0xe0)
		return 2;
	if (c < 0xf0)
		return 3;
	return c < 0xf8 ? 4 : 1;
}

static int
length_mule(unsigned char c)
{
	if (c >= 0x81 && c <= 0x8d)
		return 2;
	if (c >= 0x90 && c <= 0x9b)
		return 3;
	return c == 0x9c || c == 0x9d ? 4 : 1;
}

/* The length of the character that begins with c. In GB18030 the second byte counts as
 * well. */
static int
length_of(enum family family, unsigned char c, const char *s)
{
	if (family == UTF8)
		return length_utf8(c);
	if (family == MULE)
		return length_mule(c);
	if (family == SINGLE || c < 0x80)
		return 1;
	switch (family) {
	case EUC_TW:
		return c == 0x8e ? 4 : c == 0x8f ? 3 : 2;
	case EUC_CN:
		return c == 0x8e || c == 0x8f ? 3 : 2;
	case EUC_JP:
	case EUC_KR:
		return c == 0x8f ? 3 : 2;
	case SJIS:
		return c >= 0xa1 && c <= 0xdf ? 1 : 2;
	case GB18030:
		return s[1] >= 0x30 && s[1] <= 0x39 ? 4 : 2;
	default:
		return 2;
	}
}

static enum family
family_of(int encoding)
{
	return encoding >= 0 && encoding < N_ENCODINGS ? encodings[encoding].family
						       : SINGLE;
}

/* libpq wants a string with a zero byte at its end: for GB18030 it reads the second byte. */
CPQ_EXPORT int
PQmblen(const char *s, int encoding)
{
	return length_of(family_of(encoding), (unsigned char)*s, s);
}

int
cpq_encoding_length(int encoding, const char *text, size_t left)
{
	if (left == 1 && family_of(encoding) == GB18030 && (unsigned char)*text >= 0x80)
		return 2;
	return PQmblen(text, encoding);
}

CPQ_EXPORT int
PQmblenBounded(const char *s, int encoding)
{
	return (int)strnlen(s, (size_t)PQmblen(s, encoding));
}

/* An older name of PQmblen() for UTF-8, for programs that are linked with it. */
CPQ_EXPORT int
pg_utf_mblen(const unsigned char *s)
{
	return length_utf8(*s);
}

/* The widths that libpq takes from Unicode's tables. Combining marks have width 0. Wide characters
 * have width 2, also in the parts of the ideographic planes that are not assigned. */
static int
width_character(utf8proc_int32_t c)
{
	utf8proc_category_t category = utf8proc_category(c);

	if (category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME)
		return 0;
	/* characters that only format, such as U+200B */
	if (category == UTF8PROC_CATEGORY_CF && cpq_release() >= 16)
		return 0;
	if (c >= 0x20000 && c <= 0x3ffff)
		return 2;
	return utf8proc_charwidth(c) == 2 ? 2 : 1;
}

/* The width of the character; -1 for control characters; 0 for NUL and for combining characters. */
static int
width_utf8(const unsigned char *s)
{
	int n = length_utf8(*s);
	utf8proc_int32_t c;

	if (*s == 0)
		return 0;
	if (utf8proc_iterate(s, n, &c) < 0)
		return -1;
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return -1;
	return width_character(c);
}

static int
width_ascii(unsigned char c)
{
	return c == 0 ? 0 : c < 0x20 || c == 0x7f ? -1 : 1;
}

CPQ_EXPORT int
PQdsplen(const char *s, int encoding)
{
	enum family family = family_of(encoding);
	unsigned char c = (unsigned char)*s;
	int n;

	if (family == UTF8)
		return width_utf8((const unsigned char *)s);
	if (family == MULE) {
		n = length_mule(c);
		return n > 2 && c != 0x9a && c != 0x9b ? 2 : 1;
	}
	if (family == SINGLE || c < 0x80)
		return width_ascii(c);
	if (family == SJIS)
		return c >= 0xa1 && c <= 0xdf ? 1 : 2;
	return family == EUC_JP && c == 0x8e ? 1 : 2;
}

/* The encoding that PGCLIENTENCODING names; SQL_ASCII if the name is unknown. */
CPQ_EXPORT int
PQenv2encoding(void)
{
	const char *name = getenv("PGCLIENTENCODING");
	int encoding = name != NULL && *name != '\0' ? encoding_of(name) : 0;

	return encoding < 0 ? 0 : encoding;
}

static int
is_between(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

static int
is_legal_utf8(const unsigned char *s, int len)
{
	utf8proc_int32_t c;

	return utf8proc_iterate(s, len, &c) == len;
}

/* Are all bytes after the first one printable, and above 127? */
static int
are_euc(const unsigned char *s, int len)
{
	for (int i = 1; i < len; i++) {
		if (!is_between(s[i], 0xa1, 0xfe))
			return 0;
	}
	return 1;
}

static int
is_legal_euc(enum family family, const unsigned char *s, int len)
{
	if (family == EUC_JP && s[0] == 0x8e)
		return is_between(s[1], 0xa1, 0xdf);
	if (family == EUC_JP && s[0] == 0x8f)
		return are_euc(s, len);
	if (family == EUC_TW && s[0] == 0x8e)
		return is_between(s[1], 0xa1, 0xa7) && are_euc(s + 1, len - 1);
	if (family == EUC_TW)
		return s[0] != 0x8f && are_euc(s, len);
	return is_between(s[0], 0xa1, 0xfe) && are_euc(s, len);
}

static int
is_legal_mule(const unsigned char *s, int len)
{
	for (int i = 1; i < len; i++) {
		if (s[i] < 0x80)
			return 0;
	}
	return 1;
}

static int
is_legal_gb18030(const unsigned char *s, int len)
{
	if (!is_between(s[0], 0x81, 0xfe))
		return 0;
	if (len == 4)
		return is_between(s[2], 0x81, 0xfe) && is_between(s[3], 0x30, 0x39);
	return is_between(s[1], 0x40, 0x7e) || is_between(s[1], 0x80, 0xfe);
}

static int
is_legal_sjis(const unsigned char *s, int len)
{
	if (len == 1)
		return 1;
	return (is_between(s[0], 0x81, 0x9f) || is_between(s[0], 0xe0, 0xfc)) &&
	       (is_between(s[1], 0x40, 0x7e) || is_between(s[1], 0x80, 0xfc));
}

/* JOHAB shares only its lengths with EUC_KR. */
#define ENCODING_JOHAB 40

int
cpq_encoding_is_legal(int encoding, const char *text, int len)
{
	const unsigned char *s = (const unsigned char *)text;

	switch (family_of(encoding)) {
	case SINGLE:
		return 1;
	case UTF8:
		return is_legal_utf8(s, len);
	case MULE:
		return is_legal_mule(s, len);
	case SJIS:
		return is_legal_sjis(s, len);
	case GB18030:
		return is_legal_gb18030(s, len);
	case DOUBLE:
		/* PostgreSQL uses this pair as an illegal character. */
		return s[1] != 0 && !(s[0] == 0x8d && s[1] == ' ');
	default:
		return encoding == ENCODING_JOHAB
			       ? are_euc(s, len)
			       : is_legal_euc(family_of(encoding), s, len);
	}
}

void
cpq_encoding_put_illegal(int encoding, char out[2])
{
	out[0] = (char)(family_of(encoding) == UTF8 ? 0xc0 : 0x8d);
	out[1] = ' ';
}
