/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

/* Calls that need no connection: the version, names of statuses and pins, and reading
 * diagnostics. */

uint32_t
cenote_version(void)
{
	return CENOTE_VERSION_MAJOR * 10000 + CENOTE_VERSION_MINOR * 100 +
	       CENOTE_VERSION_PATCH;
}

const char *
cenote_status_name(int status)
{
	static const struct {
		int status;
		const char *name;
	} names[] = {
		{ CENOTE_OK, "CENOTE_OK" },
		{ CENOTE_AGAIN, "CENOTE_AGAIN" },
		{ CENOTE_ROW, "CENOTE_ROW" },
		{ CENOTE_DONE, "CENOTE_DONE" },
		{ CENOTE_ERR_ARG, "CENOTE_ERR_ARG" },
		{ CENOTE_ERR_STATE, "CENOTE_ERR_STATE" },
		{ CENOTE_ERR_NOMEM, "CENOTE_ERR_NOMEM" },
		{ CENOTE_ERR_SERVER, "CENOTE_ERR_SERVER" },
		{ CENOTE_ERR_CONVERT, "CENOTE_ERR_CONVERT" },
		{ CENOTE_ERR_LIMIT, "CENOTE_ERR_LIMIT" },
		{ CENOTE_ERR_UNSUPPORTED, "CENOTE_ERR_UNSUPPORTED" },
		{ CENOTE_ERR_TIMEOUT, "CENOTE_ERR_TIMEOUT" },
		{ CENOTE_ERR_FILE, "CENOTE_ERR_FILE" },
		{ CENOTE_ERR_CONN, "CENOTE_ERR_CONN" },
		{ CENOTE_ERR_PROTOCOL, "CENOTE_ERR_PROTOCOL" },
		{ CENOTE_ERR_AUTH, "CENOTE_ERR_AUTH" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].status == status)
			return names[i].name;
	}
	return "unknown status";
}

int
cenote_status_is_fatal(int status)
{
	return status <= CENOTE_ERR_CONN;
}

const char *
cenote_pin_name(uint32_t pin)
{
	static const char *const names[] = {
		"temporary objects",
		"changed settings",
		"locks",
		"listening",
		"an open cursor",
		"attached databases",
		"a volatile function",
		"statements prepared in SQL",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (pin == 1u << i)
			return names[i];
	}
	return NULL;
}

const char *
cenote_diag_sqlstate(const cenote_diag *diag)
{
	return diag ? diag->d.sqlstate : cn_diag_none.d.sqlstate;
}

const char *
cenote_diag_message(const cenote_diag *diag)
{
	return diag ? diag->d.message : "";
}

int32_t
cenote_diag_native(const cenote_diag *diag)
{
	return diag ? diag->d.native : 0;
}

const char *
cenote_diag_field(const cenote_diag *diag, char field)
{
	return diag ? cnc_diag_field(&diag->d, field) : NULL;
}
