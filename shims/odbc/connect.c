/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLConnect(), SQLDriverConnect(), SQLBrowseConnect() and SQLDisconnect(): read the settings, open
 * the session, close it. face.c and face_w.c call it. The state is cod_dbc.conn and the settings.
 */
#include "odbc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The names of servers in messages. */
static const char *const components[COD_N_DIALECTS] = {
	[COD_DIALECT_OTHER] = "Server",
	[COD_DIALECT_POSTGRESQL] = "PostgreSQL",
	[COD_DIALECT_MYSQL] = "MySQL",
	[COD_DIALECT_SQLITE] = "SQLite",
	[COD_DIALECT_TDS] = "TDS",
};

/* -------------------------------------------------------- settings of libcenote ----- */

/* Set where cenoted is. The value may be as in CENOTE_SERVER, or just a directory or a host. */
static int
set_server(cenote_conn *conn, const char *server)
{
	if (*server == '\0')
		return CENOTE_OK;
	if (strncmp(server, "unix:", 5) == 0)
		return cenote_conn_set(conn, "run_dir", server + 5);
	if (*server == '/')
		return cenote_conn_set(conn, "run_dir", server);
	return cenote_conn_set(
		conn, "host", strncmp(server, "tcp://", 6) == 0 ? server + 6 : server);
}

/* Without a pool in the settings, the pool has the name of the database. */
static int
set_pool(cenote_conn *conn, const struct cod_settings *settings)
{
	const char *pool = cod_setting(settings, COD_KEY_POOL);
	const char *database = cod_setting(settings, COD_KEY_DATABASE);
	int r;

	if (*pool == '\0')
		return cenote_conn_set(conn, "pool", database);
	r = cenote_conn_set(conn, "pool", pool);
	if (r < 0 || *database == '\0')
		return r;
	return cenote_conn_set(conn, "database", database);
}

static int
set_timeout(cenote_conn *conn, const struct cod_dbc *dbc)
{
	const char *given = cod_setting(&dbc->settings, COD_KEY_TIMEOUT);
	char text[16];

	if (dbc->login_timeout > 0)
		(void)snprintf(text, sizeof(text), "%us", dbc->login_timeout);
	else if (*given != '\0')
		(void)snprintf(text, sizeof(text), "%.12s%s", given,
			strspn(given, "0123456789") == strlen(given) ? "s" : "");
	else
		return CENOTE_OK;
	return cenote_conn_set(conn, "connect_timeout", text);
}

static int
set_options(cenote_conn *conn, const struct cod_dbc *dbc)
{
	static const struct {
		enum cod_key key;
		const char *option;
	} plain[] = {
		{ COD_KEY_UID, "user" },
		{ COD_KEY_PWD, "password" },
		{ COD_KEY_TLS, "tls" },
		{ COD_KEY_CA, "ca" },
		{ COD_KEY_CERT, "cert" },
		{ COD_KEY_KEY, "key" },
		{ COD_KEY_APPLICATION_NAME, "application_name" },
		{ COD_KEY_CACHE, "cache" },
		{ COD_KEY_CACHE_TTL, "cache_ttl" },
	};
	int r = set_pool(conn, &dbc->settings);

	if (r == CENOTE_OK)
		r = set_server(conn, cod_setting(&dbc->settings, COD_KEY_SERVER));
	if (r == CENOTE_OK)
		r = set_timeout(conn, dbc);
	for (size_t i = 0; i < COD_COUNT(plain) && r == CENOTE_OK; i++) {
		const char *value = cod_setting(&dbc->settings, plain[i].key);

		if (*value != '\0')
			r = cenote_conn_set(conn, plain[i].option, value);
	}
	return r;
}

/* ---------------------------------------------------------------- types of columns ----- */

static bool
read_long_size(const struct cod_settings *settings, SQLULEN *ret_size)
{
	const char *given = cod_setting(settings, COD_KEY_MAX_LONG_VARCHAR_SIZE);
	size_t n = strlen(given);

	*ret_size = n > 0 ? strtoul(given, NULL, 10) : COD_LONG_SIZE;
	return strspn(given, "0123456789") == n && n <= 10 && *ret_size > 0 &&
	       *ret_size <= COD_LONG_SIZE_MAX;
}

static SQLRETURN
read_type_options(struct cod_dbc *dbc)
{
	const char *integer = cod_setting(&dbc->settings, COD_KEY_INTEGER_AS);

	dbc->types.is_int32 = strcasecmp(integer, "int32") == 0;
	if (*integer != '\0' && !dbc->types.is_int32 && strcasecmp(integer, "int64") != 0)
		return cod_fail_text(
			&dbc->head, "08001", "IntegerAs must be int64 or int32");
	if (!read_long_size(&dbc->settings, &dbc->types.long_size))
		return cod_fail_text(&dbc->head, "08001",
			"MaxLongVarcharSize must be a number from 1 to 536870911");
	return SQL_SUCCESS;
}

/* ------------------------------------------------------------------ connecting ----- */

static void
close_session(struct cod_dbc *dbc)
{
	cod_free_children(dbc);
	cod_nullable_forget(dbc);
	cenote_cancel_destroy(dbc->cancel);
	cenote_conn_destroy(dbc->conn);
	dbc->cancel = NULL;
	dbc->conn = NULL;
	dbc->owner = NULL;
	dbc->head.component = NULL;
}

static SQLRETURN
connect_failed(struct cod_dbc *dbc, int status)
{
	const cenote_diag *diag = cenote_conn_diag(dbc->conn);
	SQLRETURN ret;

	if (status == CENOTE_ERR_CONN || status == CENOTE_ERR_ARG)
		ret = cod_fail_text(&dbc->head, "08001", cenote_diag_message(diag));
	else if (status == CENOTE_ERR_TIMEOUT)
		ret = cod_fail_text(&dbc->head, "HYT00", cenote_diag_message(diag));
	else
		ret = cod_fail_cenote(&dbc->head, &COD_NOWHERE, diag, status);
	close_session(dbc);
	return ret;
}

/* Add the notice to the running statement's diagnostics, or else to the connection's. */
static void
on_notice(const cenote_diag *notice, void *user)
{
	struct cod_dbc *dbc = user;
	struct cod_head *head = dbc->owner != NULL ? &dbc->owner->head : &dbc->head;
	const char *severity = cenote_diag_field(notice, 'S');
	const char *message = cenote_diag_message(notice);
	char before[64], *text;

	(void)snprintf(before, sizeof(before), "%s%s", severity != NULL ? severity : "",
		severity != NULL ? ": " : "");
	text = cod_diag_text(notice, before, message);
	cod_diag_add(&head->diag, &COD_NOWHERE, "01000", cenote_diag_native(notice),
		head->component, text != NULL ? text : message);
	free(text);
}

static SQLRETURN
session_begun(struct cod_dbc *dbc)
{
	dbc->dialect = cod_dialect_of(cenote_info(dbc->conn, "backend"));
	dbc->head.component = components[dbc->dialect];
	cod_backslash_begin(dbc);
	cenote_set_notice_handler(dbc->conn, on_notice, dbc);
	return cod_apply_attrs(dbc);
}

static SQLRETURN
open_session(struct cod_dbc *dbc)
{
	SQLRETURN ret = read_type_options(dbc);
	int r;

	if (ret != SQL_SUCCESS)
		return ret;
	if (cenote_conn_create(NULL, &dbc->conn) < 0)
		return cod_fail(&dbc->head, "HY001");
	r = set_options(dbc->conn, dbc);
	if (r == CENOTE_OK)
		r = cenote_connect(dbc->conn);
	if (r == CENOTE_OK)
		r = cenote_cancel_create(dbc->conn, &dbc->cancel);
	if (r < 0)
		return connect_failed(dbc, r);
	ret = session_begun(dbc);
	if (ret == SQL_ERROR)
		close_session(dbc);
	return ret;
}

/* Forget the settings of an earlier connection or of an attempt that failed. */
static SQLRETURN
begin(struct cod_dbc *dbc, bool is_wide)
{
	if (dbc->conn != NULL)
		return cod_fail(&dbc->head, "08002");
	dbc->types.is_wide = is_wide;
	if (!dbc->is_browsing)
		cod_settings_clear(&dbc->settings);
	return SQL_SUCCESS;
}

SQLRETURN
cod_connect(struct cod_dbc *dbc, struct cod_text dsn, struct cod_text user,
	struct cod_text password, bool is_wide)
{
	struct cod_settings *settings = &dbc->settings;
	const char *name = dsn.n > 0 ? dsn.text : "DEFAULT";
	SQLRETURN ret;
	bool ok;

	dbc->is_browsing = false;
	if (dsn.is_cut || user.is_cut || password.is_cut)
		return cod_fail_text(
			&dbc->head, "HY090", "a name or password contains a zero byte");
	ret = begin(dbc, is_wide);
	if (ret != SQL_SUCCESS)
		return ret;
	ok = cod_settings_put(settings, COD_KEY_DSN, name, strlen(name)) &&
	     (user.n == 0 ||
		     cod_settings_put(settings, COD_KEY_UID, user.text, user.n)) &&
	     (password.n == 0 || cod_settings_put(settings, COD_KEY_PWD, password.text,
					 password.n)) &&
	     cod_settings_read_dsn(settings, name);
	if (ok)
		return open_session(dbc);
	return cod_fail(&dbc->head, "HY001");
}

static SQLRETURN
read_string(struct cod_dbc *dbc, struct cod_text in)
{
	enum cod_parse status = cod_settings_parse(&dbc->settings, in.text, in.n);
	const char *dsn = cod_setting(&dbc->settings, COD_KEY_DSN);

	if (status == COD_PARSE_BAD || in.is_cut)
		return cod_fail_text(&dbc->head, "HY000",
			"the connection string is not NAME=VALUE;NAME={VALUE};...");
	if (status == COD_PARSE_NO_MEMORY ||
		(*dsn != '\0' && !cod_settings_read_dsn(&dbc->settings, dsn)))
		return cod_fail(&dbc->head, "HY001");
	if (status == COD_PARSE_UNKNOWN)
		return cod_warn(&dbc->head, "01S00");
	return SQL_SUCCESS;
}

static bool
is_complete(const struct cod_settings *settings)
{
	return *cod_setting(settings, COD_KEY_POOL) != '\0' ||
	       *cod_setting(settings, COD_KEY_DATABASE) != '\0';
}

static SQLRETURN
give_string(struct cod_dbc *dbc, const struct cod_sink *out)
{
	char *text = cod_settings_format(&dbc->settings);
	SQLRETURN ret;

	if (text == NULL)
		return cod_fail(&dbc->head, "HY001");
	ret = cod_give(&dbc->head, out, text);
	cod_wipe(text);
	return ret;
}

/* Open the session and give the complete connection string. `ret` is SQL_SUCCESS, or the warning
 * from reading the string. */
static SQLRETURN
open_and_give(struct cod_dbc *dbc, SQLRETURN ret, const struct cod_sink *out)
{
	SQLRETURN opened = open_session(dbc);

	if (opened == SQL_ERROR)
		return opened;
	return cod_worse(cod_worse(ret, opened), give_string(dbc, out));
}

SQLRETURN
cod_driver_connect(struct cod_dbc *dbc, struct cod_text in, const struct cod_sink *out,
	SQLUSMALLINT completion, bool is_wide)
{
	SQLRETURN ret;

	dbc->is_browsing = false;
	if (completion > SQL_DRIVER_COMPLETE_REQUIRED)
		return cod_fail(&dbc->head, "HY110");
	ret = begin(dbc, is_wide);
	if (ret == SQL_SUCCESS)
		ret = read_string(dbc, in);
	if (ret == SQL_ERROR)
		return ret;
	if (!is_complete(&dbc->settings))
		/* The driver has no dialog to ask a user for the rest. */
		return cod_fail_text(&dbc->head,
			completion == SQL_DRIVER_NOPROMPT ? "IM007" : "IM008",
			"the attribute Pool is missing: Pool=NAME");
	return open_and_give(dbc, ret, out);
}

SQLRETURN
cod_browse_connect(
	struct cod_dbc *dbc, struct cod_text in, const struct cod_sink *out, bool is_wide)
{
	static const char needed[] =
		"Pool:Pool=?;*Server:Server=?;*UID:Login ID=?;*PWD:Password=?";
	SQLRETURN ret = begin(dbc, is_wide);

	if (ret == SQL_SUCCESS)
		ret = read_string(dbc, in);
	if (ret != SQL_ERROR && !is_complete(&dbc->settings)) {
		dbc->is_browsing = true;
		(void)cod_give(&dbc->head, out, needed);
		return SQL_NEED_DATA;
	}
	dbc->is_browsing = false;
	if (ret == SQL_ERROR)
		return ret;
	return open_and_give(dbc, ret, out);
}

SQLRETURN
cod_disconnect(struct cod_dbc *dbc)
{
	if (dbc->is_browsing) {
		dbc->is_browsing = false;
		return SQL_SUCCESS;
	}
	if (dbc->conn == NULL)
		return cod_fail(&dbc->head, "08003");
	for (const struct cod_stmt *stmt = dbc->stmts; stmt != NULL; stmt = stmt->next) {
		if (stmt->async != 0)
			return cod_fail(&dbc->head, "HY010");
	}
	if (dbc->autocommit == SQL_AUTOCOMMIT_OFF &&
		cenote_tx_state(dbc->conn) == CENOTE_TX_OPEN)
		return cod_fail(&dbc->head, "25000");
	close_session(dbc);
	return SQL_SUCCESS;
}
