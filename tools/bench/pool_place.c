/* SPDX-License-Identifier: BSD-2-Clause */
#include "pool_place.h"

#include <stdio.h>

static void
copy(const cenote_conn *conn, const char *option, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "%s", cenote_conn_get(conn, option));
}

static void
find_server(const cenote_conn *conn, char *ret_server, size_t size)
{
	const char *host = cenote_conn_get(conn, "host");
	const char *run_dir = cenote_conn_get(conn, "run_dir");

	if (*host != '\0')
		snprintf(ret_server, size, "tcp://%s:%s", host,
			cenote_conn_get(conn, "port"));
	else if (*run_dir != '\0')
		snprintf(ret_server, size, "unix:%s", run_dir);
	else
		*ret_server = '\0';
}

int
cnb_pool_place(
	const char *uri, struct cnb_pool_place *ret_place, struct cnb_error *ret_error)
{
	cenote_conn *conn;

	if (cenote_conn_create(NULL, &conn) < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text), "out of memory");
		return -1;
	}
	if (cenote_conn_set_uri(conn, uri) < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text), "%.250s: %.250s", uri,
			cenote_diag_message(cenote_conn_diag(conn)));
		cenote_conn_destroy(conn);
		return -1;
	}
	find_server(conn, ret_place->server, sizeof(ret_place->server));
	copy(conn, "pool", ret_place->pool, sizeof(ret_place->pool));
	copy(conn, "user", ret_place->user, sizeof(ret_place->user));
	copy(conn, "password", ret_place->password, sizeof(ret_place->password));
	cenote_conn_destroy(conn);
	return 0;
}
