/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_SETTINGS_H
#define COD_SETTINGS_H

/* The settings of a connection: attributes of connection strings and of data sources. */

#include <stdbool.h>
#include <stddef.h>

enum cod_key {
	COD_KEY_DSN,
	COD_KEY_DRIVER,
	COD_KEY_DESCRIPTION,
	COD_KEY_POOL,
	COD_KEY_SERVER,
	COD_KEY_DATABASE,
	COD_KEY_UID,
	COD_KEY_PWD,
	COD_KEY_TLS,
	COD_KEY_CA,
	COD_KEY_CERT,
	COD_KEY_KEY,
	COD_KEY_READ_ONLY,
	COD_KEY_FETCH_SIZE,
	COD_KEY_TIMEOUT,
	COD_KEY_APPLICATION_NAME,
	COD_KEY_CACHE,
	COD_KEY_CACHE_TTL,
	COD_KEY_MAX_LONG_VARCHAR_SIZE,
	COD_KEY_INTEGER_AS,
	COD_N_KEYS
};

struct cod_settings {
	char *values[COD_N_KEYS]; /* NULL: not set */
	/* the password is from odbc.ini; a program that only named the data source must not see it */
	bool is_password_read;
};

/* Free a text that may hold a password. */
void cod_wipe(char *text);
void cod_settings_clear(struct cod_settings *settings);
/* The attribute's name, in the case in which the driver writes it. */
const char *cod_key_name(enum cod_key key);
/* The value of an attribute; "" if it is not set. */
const char *cod_setting(const struct cod_settings *settings, enum cod_key key);
/* Set a value, unless there is one already. False: no memory. */
bool cod_settings_put(
	struct cod_settings *settings, enum cod_key key, const char *value, size_t n);

enum cod_parse {
	COD_PARSE_OK,
	COD_PARSE_UNKNOWN, /* an unknown attribute: a warning, 01S00 */
	COD_PARSE_BAD, /* not a connection string */
	COD_PARSE_NO_MEMORY
};
/* Read "NAME=VALUE;NAME={VALUE};...". */
enum cod_parse cod_settings_parse(
	struct cod_settings *settings, const char *text, size_t n);
/* Write a connection string, without a password from odbc.ini. NULL: no memory; else for
 * cod_wipe(). */
char *cod_settings_format(const struct cod_settings *settings);
/* Read the attributes that are not set yet from the section `dsn` of odbc.ini. False: no memory. */
bool cod_settings_read_dsn(struct cod_settings *settings, const char *dsn);

#endif
