/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of a connection, for SQLSetConnectAttr() and SQLGetConnectAttr(), and the SQL that
 * applies them to a session. face.c and face_w.c call it, connect.c for a new session. The state is
 * the attributes in struct cod_dbc.
 */
#include "odbc.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------- attributes of the session ----- */

/* SQL that changes the session's state. The pool resets that state when it gets the
 * session back. */
static const struct {
	enum cod_dialect dialect;
	const char *read_only, *read_write;
} access_sql[] = {
	{ COD_DIALECT_POSTGRESQL, "set session characteristics as transaction read only",
		"set session characteristics as transaction read write" },
	{ COD_DIALECT_MYSQL, "set session transaction read only",
		"set session transaction read write" },
	{ COD_DIALECT_SQLITE, "pragma query_only = 1", "pragma query_only = 0" },
};

static const struct {
	SQLUINTEGER level;
	const char *postgresql, *mysql;
} isolation_sql[] = {
	{ SQL_TXN_READ_UNCOMMITTED,
		"set session characteristics as transaction isolation level read "
		"uncommitted",
		"set session transaction isolation level read uncommitted" },
	{ SQL_TXN_READ_COMMITTED,
		"set session characteristics as transaction isolation level read "
		"committed",
		"set session transaction isolation level read committed" },
	{ SQL_TXN_REPEATABLE_READ,
		"set session characteristics as transaction isolation level repeatable "
		"read",
		"set session transaction isolation level repeatable read" },
	{ SQL_TXN_SERIALIZABLE,
		"set session characteristics as transaction isolation level serializable",
		"set session transaction isolation level serializable" },
};

/* The level of a new session. */
static SQLUINTEGER
default_isolation(enum cod_dialect dialect)
{
	if (dialect == COD_DIALECT_SQLITE)
		return SQL_TXN_SERIALIZABLE;
	return dialect == COD_DIALECT_MYSQL ? SQL_TXN_REPEATABLE_READ
					    : SQL_TXN_READ_COMMITTED;
}

static SQLRETURN
failed(struct cod_dbc *dbc, int status)
{
	return cod_fail_cenote(
		&dbc->head, &COD_NOWHERE, cenote_conn_diag(dbc->conn), status);
}

static SQLRETURN
run(struct cod_dbc *dbc, const char *sql)
{
	cenote_result *result = NULL;
	int r = cod_settle(dbc);

	if (r == CENOTE_OK)
		r = cenote_query(dbc->conn, sql, CENOTE_NTS, NULL, NULL, &result);
	if (r < 0)
		return failed(dbc, r);
	cenote_result_destroy(result);
	do
		r = cenote_get_result(dbc->conn, &result);
	while (r == CENOTE_OK && (cenote_result_destroy(result), true));
	if (r < 0)
		return failed(dbc, r);
	return SQL_SUCCESS;
}

static SQLRETURN
tell_access(struct cod_dbc *dbc, SQLUINTEGER mode)
{
	for (size_t i = 0; i < COD_COUNT(access_sql); i++) {
		if (access_sql[i].dialect == dbc->dialect)
			return run(dbc, mode == SQL_MODE_READ_ONLY
						? access_sql[i].read_only
						: access_sql[i].read_write);
	}
	if (mode == SQL_MODE_READ_ONLY)
		return cod_fail(&dbc->head, "HYC00");
	return SQL_SUCCESS;
}

static SQLRETURN
tell_isolation(struct cod_dbc *dbc, SQLUINTEGER level)
{
	if (level == default_isolation(dbc->dialect) && dbc->isolation == 0)
		return SQL_SUCCESS;
	for (size_t i = 0; i < COD_COUNT(isolation_sql); i++) {
		if (isolation_sql[i].level != level)
			continue;
		if (dbc->dialect == COD_DIALECT_POSTGRESQL)
			return run(dbc, isolation_sql[i].postgresql);
		if (dbc->dialect == COD_DIALECT_MYSQL)
			return run(dbc, isolation_sql[i].mysql);
	}
	if (level == default_isolation(dbc->dialect))
		return SQL_SUCCESS;
	return cod_fail(&dbc->head, "HYC00");
}

/* ----------------------------------------------------------------- setting ----- */

static SQLRETURN
set_autocommit(struct cod_dbc *dbc, SQLULEN value)
{
	int on = value == SQL_AUTOCOMMIT_ON, r = CENOTE_OK;

	if (value != SQL_AUTOCOMMIT_ON && value != SQL_AUTOCOMMIT_OFF)
		return cod_fail(&dbc->head, "HY024");
	if (dbc->conn != NULL && dbc->autocommit != value) {
		r = cod_settle_all(dbc);
		/* The standard says that switching autocommit on commits an open transaction. */
		if (r == CENOTE_OK && on && cenote_tx_state(dbc->conn) != CENOTE_TX_IDLE)
			r = cenote_commit(dbc->conn);
		if (r == CENOTE_OK)
			r = cenote_set_autocommit(dbc->conn, on);
	}
	if (r < 0)
		return failed(dbc, r);
	dbc->autocommit = (SQLUINTEGER)value;
	return SQL_SUCCESS;
}

static SQLRETURN
set_access(struct cod_dbc *dbc, SQLULEN value)
{
	SQLRETURN ret = SQL_SUCCESS;

	if (value != SQL_MODE_READ_ONLY && value != SQL_MODE_READ_WRITE)
		return cod_fail(&dbc->head, "HY024");
	if (dbc->conn != NULL && value != dbc->access_mode)
		ret = tell_access(dbc, (SQLUINTEGER)value);
	if (ret == SQL_SUCCESS)
		dbc->access_mode = (SQLUINTEGER)value;
	return ret;
}

static SQLRETURN
set_isolation(struct cod_dbc *dbc, SQLULEN value)
{
	SQLRETURN ret = SQL_SUCCESS;

	if (value == 0 || (value & (value - 1)) != 0 || value > SQL_TXN_SERIALIZABLE)
		return cod_fail(&dbc->head, "HY024");
	if (dbc->conn != NULL && cenote_tx_state(dbc->conn) != CENOTE_TX_IDLE)
		return cod_fail(&dbc->head, "HY011");
	if (dbc->conn != NULL && value != dbc->isolation)
		ret = tell_isolation(dbc, (SQLUINTEGER)value);
	if (ret == SQL_SUCCESS)
		dbc->isolation = (SQLUINTEGER)value;
	return ret;
}

/* Reset what the application set, except for what connecting needs. */
static void
forget_attrs(struct cod_dbc *dbc)
{
	dbc->autocommit = SQL_AUTOCOMMIT_ON;
	dbc->access_mode = SQL_MODE_READ_WRITE;
	dbc->isolation = 0;
	free(dbc->catalog);
	dbc->catalog = NULL;
	cod_stmt_attr_defaults(dbc->stmt_attrs);
}

/*
 * A driver manager resets a connection before another part of the program uses it. It must look
 * like a new login: cursors are closed. Prepared statements stay and are prepared again at their
 * next execution.
 */
static SQLRETURN
set_reset(struct cod_dbc *dbc, SQLULEN value)
{
	int r;

	if (value != SQL_RESET_CONNECTION_YES)
		return cod_fail(&dbc->head, "HY024");
	if (dbc->conn == NULL)
		return cod_fail(&dbc->head, "08003");
	for (struct cod_stmt *stmt = dbc->stmts; stmt != NULL; stmt = stmt->next)
		cod_stmt_close(stmt);
	r = cenote_reset(dbc->conn);
	if (r == CENOTE_OK)
		r = cenote_set_autocommit(dbc->conn, 1);
	if (r < 0)
		return failed(dbc, r);
	forget_attrs(dbc);
	cod_backslash_begin(dbc);
	cod_nullable_forget(dbc);
	return cod_apply_attrs(dbc);
}

static SQLRETURN
set_packet_size(struct cod_dbc *dbc, SQLULEN value)
{
	(void)value;
	if (dbc->conn != NULL)
		return cod_fail(&dbc->head, "HY011");
	return cod_warn(&dbc->head, "01S02");
}

/* -------------------------------------------------------------------- getting ----- */

static SQLULEN
get_isolation(struct cod_dbc *dbc)
{
	return dbc->isolation != 0 ? dbc->isolation : default_isolation(dbc->dialect);
}

static SQLULEN
get_auto_ipd(struct cod_dbc *dbc)
{
	return dbc->dialect == COD_DIALECT_POSTGRESQL ? SQL_TRUE : SQL_FALSE;
}

/* Whether the connection is dead. This reads bytes that have arrived, and sends nothing. */
static SQLULEN
get_dead(struct cod_dbc *dbc)
{
	if (dbc->conn == NULL)
		return SQL_CD_TRUE;
	if (dbc->owner == NULL && cenote_process(dbc->conn) < 0)
		return SQL_CD_TRUE;
	return cenote_is_connected(dbc->conn) ? SQL_CD_FALSE : SQL_CD_TRUE;
}

#define AT(member) offsetof(struct cod_dbc, member)

/*
 * Attributes that are a number. `at` is the offset of the member that holds it: an SQLUINTEGER, or an
 * SQLULEN for a pointer; 0: no member. If there is a function, it is used in place of the member. An
 * attribute with neither cannot be set, or cannot be read.
 */
static const struct attr {
	SQLINTEGER id;
	SQLRETURN (*set)(struct cod_dbc *dbc, SQLULEN value);
	SQLULEN (*get)(struct cod_dbc *dbc);
	size_t at;
	bool is_pointer;
} attrs[] = {
	{ SQL_ATTR_ACCESS_MODE, set_access, NULL, AT(access_mode), false },
	{ SQL_ATTR_AUTOCOMMIT, set_autocommit, NULL, AT(autocommit), false },
	{ SQL_ATTR_AUTO_IPD, NULL, get_auto_ipd, 0, false },
	{ SQL_ATTR_CONNECTION_DEAD, NULL, get_dead, 0, false },
	{ SQL_ATTR_CONNECTION_TIMEOUT, NULL, NULL, AT(connection_timeout), false },
	{ SQL_ATTR_LOGIN_TIMEOUT, NULL, NULL, AT(login_timeout), false },
	{ SQL_ATTR_ODBC_CURSORS, NULL, NULL, AT(odbc_cursors), false },
	{ SQL_ATTR_PACKET_SIZE, set_packet_size, NULL, AT(packet_size), false },
	{ SQL_ATTR_QUIET_MODE, NULL, NULL, AT(quiet_mode), true },
	{ SQL_ATTR_RESET_CONNECTION, set_reset, NULL, 0, false },
	{ SQL_ATTR_TXN_ISOLATION, set_isolation, get_isolation, 0, false },
};

static const struct attr *
find_attr(SQLINTEGER id)
{
	for (size_t i = 0; i < COD_COUNT(attrs); i++) {
		if (attrs[i].id == id)
			return &attrs[i];
	}
	return NULL;
}

static void *
member_of(struct cod_dbc *dbc, const struct attr *attr)
{
	return (char *)dbc + attr->at;
}

/* -------------------------------------------------------------- current catalog ----- */

static SQLRETURN
select_catalog(struct cod_dbc *dbc, const char *catalog)
{
	const char *database = cenote_info(dbc->conn, "database");
	int r;

	if (database != NULL && strcmp(database, catalog) == 0)
		return SQL_SUCCESS;
	r = cod_settle(dbc);
	if (r == CENOTE_OK)
		r = cenote_select_database(dbc->conn, catalog);
	/* Table numbers belong to their database. */
	cod_nullable_forget(dbc);
	if (r < 0)
		return failed(dbc, r);
	return SQL_SUCCESS;
}

static SQLRETURN
set_catalog(struct cod_dbc *dbc, const void *value, SQLINTEGER n, bool is_wide)
{
	SQLRETURN ret = SQL_SUCCESS;
	char *copy;

	if (value == NULL)
		return cod_fail(&dbc->head, "HY009");
	if (!cod_is_length(n))
		return cod_fail(&dbc->head, "HY090");
	/* The length of an attribute is in bytes. */
	if (is_wide)
		copy = cod_wide_dup(value, n < 0 ? n : n / (SQLINTEGER)sizeof(SQLWCHAR));
	else
		copy = cod_text_dup(value, n);
	if (copy == NULL)
		return cod_fail(&dbc->head, "HY001");
	if (dbc->conn != NULL)
		ret = select_catalog(dbc, copy);
	if (ret != SQL_SUCCESS) {
		free(copy);
		return ret;
	}
	free(dbc->catalog);
	dbc->catalog = copy;
	return SQL_SUCCESS;
}

static SQLRETURN
get_catalog(struct cod_dbc *dbc, const struct cod_sink *sink)
{
	const char *name = dbc->catalog;

	if (name == NULL && dbc->conn != NULL)
		name = cenote_info(dbc->conn, "database");
	return cod_give(&dbc->head, sink, name);
}

/* --------------------------------------------------------------------- the faces ----- */

SQLRETURN
cod_set_connect_attr(struct cod_dbc *dbc, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER n,
	bool is_wide)
{
	const struct attr *known = find_attr(attr);

	if (attr == SQL_ATTR_CURRENT_CATALOG)
		return set_catalog(dbc, value, n, is_wide);
	if (known != NULL && known->set != NULL)
		return known->set(dbc, (SQLULEN)value);
	if (known != NULL && known->at > 0) {
		if (known->is_pointer)
			*(SQLULEN *)member_of(dbc, known) = (SQLULEN)value;
		else
			*(SQLUINTEGER *)member_of(dbc, known) =
				(SQLUINTEGER)(SQLULEN)value;
		return SQL_SUCCESS;
	}
	if (cod_set_stmt_default(dbc, attr, (SQLULEN)value))
		return SQL_SUCCESS;
	return cod_fail(&dbc->head, "HY092");
}

static SQLRETURN
give_number(
	SQLULEN number, bool is_pointer, SQLPOINTER value, const struct cod_sink *sink)
{
	if (sink->length32 != NULL)
		*sink->length32 = (SQLINTEGER)(is_pointer ? sizeof(SQLPOINTER)
							  : sizeof(SQLUINTEGER));
	if (value == NULL)
		return SQL_SUCCESS;
	if (is_pointer)
		*(SQLULEN *)value = number;
	else
		*(SQLUINTEGER *)value = (SQLUINTEGER)number;
	return SQL_SUCCESS;
}

SQLRETURN
cod_get_connect_attr(struct cod_dbc *dbc, SQLINTEGER attr, SQLPOINTER value,
	const struct cod_sink *sink)
{
	const struct attr *known = find_attr(attr);
	SQLULEN number;

	if (attr == SQL_ATTR_CURRENT_CATALOG)
		return get_catalog(dbc, sink);
	if (known != NULL && known->get != NULL)
		return give_number(known->get(dbc), false, value, sink);
	if (known != NULL && known->at > 0)
		return give_number(known->is_pointer
					   ? *(SQLULEN *)member_of(dbc, known)
					   : *(SQLUINTEGER *)member_of(dbc, known),
			known->is_pointer, value, sink);
	if (cod_get_stmt_default(dbc, attr, &number))
		return give_number(number, false, value, sink);
	return cod_fail(&dbc->head, "HY092");
}

static bool
is_yes(const char *text)
{
	return *text != '\0' && strchr("1yYtT", *text) != NULL;
}

SQLRETURN
cod_apply_attrs(struct cod_dbc *dbc)
{
	SQLUINTEGER isolation = dbc->isolation;
	SQLRETURN ret = SQL_SUCCESS;

	if (is_yes(cod_setting(&dbc->settings, COD_KEY_READ_ONLY)))
		dbc->access_mode = SQL_MODE_READ_ONLY;
	if (dbc->access_mode == SQL_MODE_READ_ONLY)
		ret = tell_access(dbc, SQL_MODE_READ_ONLY);
	if (ret == SQL_SUCCESS && isolation != 0) {
		dbc->isolation = 0;
		ret = tell_isolation(dbc, isolation);
		dbc->isolation = isolation;
	}
	if (ret == SQL_SUCCESS && dbc->catalog != NULL)
		ret = select_catalog(dbc, dbc->catalog);
	if (ret == SQL_SUCCESS && dbc->autocommit == SQL_AUTOCOMMIT_OFF) {
		int r = cenote_set_autocommit(dbc->conn, 0);

		if (r < 0)
			ret = failed(dbc, r);
		else
			ret = SQL_SUCCESS;
	}
	return ret;
}
