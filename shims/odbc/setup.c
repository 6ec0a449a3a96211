/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The setup library: it writes data sources and the driver into the files of the installer library,
 * which calls ConfigDSN() and ConfigDriver(). It has no dialog, so the attributes must be complete.
 * It has no state.
 */
#include "settings.h"

#include <stdio.h>
#include <string.h>

#include <odbcinst.h>

#define COD_EXPORT __attribute__((visibility("default")))

static BOOL
fail(DWORD code, const char *text)
{
	(void)SQLPostInstallerError(code, text);
	return SQL_FALSE;
}

/* Read "NAME=VALUE\0NAME=VALUE\0\0". */
static bool
read_attributes(struct cod_settings *settings, const char *at)
{
	for (; at != NULL && *at != '\0'; at += strlen(at) + 1) {
		enum cod_parse status = cod_settings_parse(settings, at, strlen(at));

		if (status == COD_PARSE_UNKNOWN)
			return fail(ODBC_ERROR_INVALID_KEYWORD_VALUE,
				"an attribute that the driver does not have");
		if (status != COD_PARSE_OK)
			return fail(ODBC_ERROR_INVALID_KEYWORD_VALUE,
				"attributes are NAME=VALUE");
	}
	return true;
}

/* Whether a value is one line. The installer library writes values unchanged: a line break would
 * begin a new line of the file. */
static bool
is_line(const char *text)
{
	return text == NULL || strpbrk(text, "\r\n") == NULL;
}

static BOOL
write_dsn(const char *driver, const char *dsn, const struct cod_settings *settings)
{
	for (int i = 0; i < COD_N_KEYS; i++) {
		if (!is_line(settings->values[i]))
			return fail(ODBC_ERROR_INVALID_KEYWORD_VALUE,
				"an attribute is of one line");
	}
	if (!SQLWriteDSNToIni(dsn, driver))
		return SQL_FALSE;
	for (int i = COD_KEY_DESCRIPTION; i < COD_N_KEYS; i++) {
		if (settings->values[i] != NULL &&
			!SQLWritePrivateProfileString(dsn, cod_key_name((enum cod_key)i),
				settings->values[i], "odbc.ini"))
			return SQL_FALSE;
	}
	return SQL_TRUE;
}

static bool
is_complete(const struct cod_settings *settings)
{
	return *cod_setting(settings, COD_KEY_POOL) != '\0' ||
	       *cod_setting(settings, COD_KEY_DATABASE) != '\0';
}

/* Write or remove a data source. Values in the file stay, unless the call gives others. */
static BOOL
config(WORD request, const char *driver, struct cod_settings *settings)
{
	const char *dsn = cod_setting(settings, COD_KEY_DSN);

	if (!SQLValidDSN(dsn))
		return fail(ODBC_ERROR_INVALID_DSN, "DSN=NAME is needed");
	switch (request) {
	case ODBC_ADD_DSN:
		break;
	case ODBC_CONFIG_DSN:
		if (!cod_settings_read_dsn(settings, dsn))
			return fail(ODBC_ERROR_OUT_OF_MEM, "no memory");
		break;
	case ODBC_REMOVE_DSN:
		return SQLRemoveDSNFromIni(dsn);
	default:
		return fail(ODBC_ERROR_INVALID_REQUEST_TYPE,
			"neither to add, to configure nor to remove");
	}
	if (!is_complete(settings))
		return fail(ODBC_ERROR_INVALID_KEYWORD_VALUE, "Pool=NAME is needed");
	if (driver == NULL || *driver == '\0')
		return fail(ODBC_ERROR_INVALID_NAME, "the driver's name is needed");
	return write_dsn(driver, dsn, settings);
}

COD_EXPORT BOOL INSTAPI
ConfigDSN(HWND window, WORD request, LPCSTR driver, LPCSTR attributes)
{
	struct cod_settings settings = { 0 };
	BOOL done;

	(void)window;
	done = read_attributes(&settings, attributes) &&
	       config(request, driver, &settings);
	cod_settings_clear(&settings);
	return done;
}

/* The installer library itself writes the driver's section, so only its options remain. */
COD_EXPORT BOOL INSTAPI
ConfigDriver(HWND window, WORD request, LPCSTR driver, LPCSTR args, LPSTR message,
	WORD room, WORD *length)
{
	char name[64];
	const char *equals;

	(void)window;
	if (message != NULL && room > 0)
		message[0] = '\0';
	if (length != NULL)
		*length = 0;
	if (request == ODBC_INSTALL_DRIVER || request == ODBC_REMOVE_DRIVER)
		return SQL_TRUE;
	if (request != ODBC_CONFIG_DRIVER)
		return fail(ODBC_ERROR_INVALID_REQUEST_TYPE,
			"neither to install, to configure nor to remove");
	equals = args != NULL ? strchr(args, '=') : NULL;
	if (driver == NULL || equals == NULL || equals == args || !is_line(args) ||
		(size_t)(equals - args) >= sizeof(name))
		return fail(ODBC_ERROR_INVALID_KEYWORD_VALUE, "NAME=VALUE is needed");
	(void)snprintf(name, sizeof(name), "%.*s", (int)(equals - args), args);
	return SQLWritePrivateProfileString(driver, name, equals + 1, "odbcinst.ini");
}
