/* SPDX-License-Identifier: BSD-2-Clause */
#include "../common/charset.h"
#include "libmysql.h"

#include <langinfo.h>
#include <string.h>
#include <strings.h>

/*
 * The table of character sets and collations, by name and by the number that servers have for them.
 * Any file may read it; it does not change.
 */

/* name, code page, iconv()'s name, least and most bytes, functions */
#define SINGLE(nr, cs, name, page, encoding)                                             \
	{ nr, 1, cs, name, "", page, encoding, 1, 1, NULL, NULL },
#define MULTI(nr, cs, name, page, encoding, min, max, functions)                         \
	{ nr, 1, cs, name, "", page, encoding, min, max, csh_##functions##_charlen,      \
		csh_##functions##_valid },

static const MARIADB_CHARSET_INFO collations[] = {
#include "collations.h"
};
#define N_COLLATIONS (sizeof(collations) / sizeof(collations[0]))

/* The name of the character set of the program's locale. */
static const char *
of_environment(void)
{
	static const char *const names[][2] = { { "UTF-8", "utf8mb4" },
		{ "ISO-8859-1", "latin1" }, { "ISO-8859-15", "latin1" },
		{ "ISO-8859-2", "latin2" }, { "ISO-8859-9", "latin5" },
		{ "ISO-8859-13", "latin7" }, { "KOI8-R", "koi8r" }, { "KOI8-U", "koi8u" },
		{ "EUC-JP", "ujis" }, { "EUC-KR", "euckr" }, { "GB2312", "gb2312" },
		{ "GBK", "gbk" }, { "GB18030", "gb18030" }, { "BIG5", "big5" },
		{ "CP1251", "cp1251" },
		{ "ANSI_X3.4-1968", CMY_ORACLE ? "latin1" : "utf8mb3" } };
	const char *codeset = nl_langinfo(CODESET);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(codeset, names[i][0]) == 0)
			return names[i][1];
	}
	return "latin1";
}

const MARIADB_CHARSET_INFO *
cmy_charset_by_name(const char *name)
{
	if (strcasecmp(name, "auto") == 0)
		name = of_environment();
	if (strcasecmp(name, "utf8") == 0)
		name = "utf8mb3";
	if (strcasecmp(name, "utf8mb4") == 0)
		return cmy_charset_default();
	for (size_t i = 0; i < N_COLLATIONS; i++) {
		if (strcasecmp(collations[i].csname, name) == 0)
			return &collations[i];
	}
	return NULL;
}

/* MariaDB's newer collations have 256 numbers for each of these sets, so the number
 * gives the set. */
static unsigned
base_of(unsigned nr)
{
	static const uint8_t bases[] = { 33, 45, 35, 54, 60 };
	unsigned i = (nr - 2048) / 256;

	return nr >= 2048 && i < sizeof(bases) ? bases[i] : nr;
}

const MARIADB_CHARSET_INFO *
cmy_charset_by_nr(unsigned nr)
{
	nr = base_of(nr);
	for (size_t i = 0; i < N_COLLATIONS; i++) {
		if (collations[i].nr == nr)
			return &collations[i];
	}
	return NULL;
}

const MARIADB_CHARSET_INFO *
cmy_charset_default(void)
{
	/* the list begins with MariaDB's default; MySQL's default, utf8mb4_0900_ai_ci, is second */
	return &collations[CMY_ORACLE ? 1 : 0];
}

unsigned
cmy_collation_nr(const char *collation)
{
	for (size_t i = 0; i < N_COLLATIONS; i++) {
		if (strcmp(collations[i].name, collation) == 0)
			return collations[i].nr;
	}
	return 0;
}

const MARIADB_CHARSET_INFO *
cmy_charset_wanted(const MYSQL *my)
{
	const char *name = my->options.charset_name;

	return name ? cmy_charset_by_name(name) : cmy_charset_default();
}

int
cmy_find_charset(MYSQL *my)
{
	const MARIADB_CHARSET_INFO *cs = cmy_charset_wanted(my);

	if (cs) {
		my->charset = cs;
		return 0;
	}
	cmy_error_with(
		my, CR_CANT_READ_CHARSET, my->options.charset_name, CMY_CHARSET_DIR);
	return -1;
}
