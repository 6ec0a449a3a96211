/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Set libcenote's options from a data source name. cenote_driver.c calls this file. It has no
 * state.
 */
#include "php_pdo_cenote_int.h"

/* Set one "option=value" of a data source name, which ends at `end`. */
static int
set_pair(cenote_conn *conn, const char *begin, const char *end)
{
	const char *equals = memchr(begin, '=', (size_t)(end - begin));
	char *name = estrndup(begin, (size_t)(equals - begin));
	char *value = estrndup(equals + 1, (size_t)(end - equals - 1));
	int status = cenote_conn_set(conn, name, value);

	efree(name);
	efree(value);
	return status;
}

int
pdo_cenote_set_dsn(cenote_conn *conn, const char *dsn)
{
	/* cenote_conn_set_uri() takes both the name of a pool and a URI. */
	if (strstr(dsn, "://") || !strchr(dsn, '='))
		return cenote_conn_set_uri(conn, dsn);

	while (*dsn) {
		const char *end = strchrnul(dsn, ';');
		int status = CENOTE_OK;

		dsn += strspn(dsn, " ");
		if (dsn < end && !memchr(dsn, '=', (size_t)(end - dsn)))
			return cenote_conn_set(conn, dsn, "");
		if (dsn < end)
			status = set_pair(conn, dsn, end);
		if (status < 0)
			return status;
		dsn = *end ? end + 1 : end;
	}
	return CENOTE_OK;
}
