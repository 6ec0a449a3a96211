/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_PHRASE_H
#define CMY_PHRASE_H

#include <stddef.h>

/* Statements that MySQL programs and drivers send to any server. A whole text must match. */
enum cmy_phrase {
	CMY_PHRASE_NONE, /* another statement */
	/* SET NAMES, SET character_set_…: the value is the character set's name */
	CMY_PHRASE_CHARSET,
	CMY_PHRASE_AUTOCOMMIT, /* the value is as the program wrote it */
	CMY_PHRASE_USE, /* the value is the database */
	CMY_PHRASE_BEGIN,
	CMY_PHRASE_BEGIN_READ_ONLY,
	CMY_PHRASE_COMMIT,
	CMY_PHRASE_ROLLBACK
};

#define CMY_PHRASE_VALUE_MAX 64u

/* Find out which phrase a text is. *ret_value is the value without quotes, or "". A text with a
 * comment or a backslash is CMY_PHRASE_NONE. */
enum cmy_phrase cmy_phrase_read(
	const char *sql, size_t len, char ret_value[CMY_PHRASE_VALUE_MAX]);

#endif
