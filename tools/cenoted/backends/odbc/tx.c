/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transactions. ODBC has no call that begins one: with autocommit off, the next statement does. So begin()
 * switches autocommit off, and the end of the transaction switches it on again. A transaction that the client
 * begins by SQL is also ended by SQL.
 */
#include <stdio.h>
#include <string.h>

#include "../common/text.h"
#include "odbc.h"

#define NAME_MAX_BYTES 256u

static int
set_autocommit(struct cnd_session *s, int on)
{
	SQLPOINTER v =
		(SQLPOINTER)(uintptr_t)(on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF);
	SQLRETURN rc;

	cnd_od_call_begin(s, NULL);
	rc = SQLSetConnectAttr(s->dbc, SQL_ATTR_AUTOCOMMIT, v, SQL_IS_UINTEGER);
	cnd_od_call_end(s);
	return CND_OD_OK(rc) ? CENOTE_OK : cnd_od_fail(s, SQL_HANDLE_DBC, s->dbc);
}

static int
set_isolation(struct cnd_session *s, SQLUINTEGER level)
{
	SQLRETURN rc;

	cnd_od_call_begin(s, NULL);
	rc = SQLSetConnectAttr(s->dbc, SQL_ATTR_TXN_ISOLATION,
		(SQLPOINTER)(uintptr_t)level, SQL_IS_UINTEGER);
	cnd_od_call_end(s);
	return CND_OD_OK(rc) ? CENOTE_OK : cnd_od_fail(s, SQL_HANDLE_DBC, s->dbc);
}

/* Drop the portals and prepared statements that the driver closes at the end of a transaction. */
static void
apply_cursor_behaviour(struct cnd_session *s, SQLSMALLINT how)
{
	uint16_t behaviour = s->cursor_behaviour[how == SQL_COMMIT ? 0 : 1];

	if (behaviour != SQL_CB_PRESERVE)
		cnd_od_close_portals(s);
	if (behaviour == SQL_CB_DELETE)
		cnd_od_forget_prepared(s);
}

static int
end_by_calls(struct cnd_session *s, SQLSMALLINT how)
{
	SQLRETURN rc;
	int r = CENOTE_OK;

	cnd_od_call_begin(s, NULL);
	rc = SQLEndTran(SQL_HANDLE_DBC, s->dbc, how);
	cnd_od_call_end(s);
	if (!CND_OD_OK(rc)) {
		r = cnd_od_fail(s, SQL_HANDLE_DBC, s->dbc);
		/* a transaction whose COMMIT failed must not stay open */
		if (how == SQL_COMMIT && r == CENOTE_ERR_SERVER)
			(void)SQLEndTran(SQL_HANDLE_DBC, s->dbc, SQL_ROLLBACK);
	}
	apply_cursor_behaviour(s, how);
	return r;
}

/* Restore autocommit and the isolation level of the login. Returns `r` if that is a failure, else the
 * result. */
static int
restore_mode(struct cnd_session *s, int r)
{
	int second = CENOTE_OK;

	if (!s->is_manual)
		second = set_autocommit(s, 1);
	if (second == CENOTE_OK && s->has_isolation)
		second = set_isolation(s, s->isolation);
	s->has_isolation = 0;
	return r == CENOTE_OK ? second : r;
}

int
cnd_od_end_tx(struct cnd_session *s, SQLSMALLINT how)
{
	int r = CENOTE_OK;

	/* the driver does not know of this transaction, so SQLEndTran() would do nothing */
	if (s->tx == CND_OD_TX_SQL)
		r = cnd_od_internal(s, how == SQL_COMMIT ? "COMMIT" : "ROLLBACK");
	else if (s->tx == CND_OD_TX_CALLS || s->is_manual)
		r = end_by_calls(s, how);
	if (s->tx == CND_OD_TX_CALLS)
		r = restore_mode(s, r);
	if (!s->is_lost)
		s->tx = CND_OD_TX_NONE;
	return r;
}

/* ---- by calls ---- */

static int
begin_as_asked(struct cnd_session *s, uint8_t isolation, uint32_t flags)
{
	static const SQLUINTEGER levels[] = { 0, SQL_TXN_READ_UNCOMMITTED,
		SQL_TXN_READ_COMMITTED, SQL_TXN_REPEATABLE_READ, SQL_TXN_SERIALIZABLE };
	int r = CENOTE_OK;

	if (isolation != CENOTE_ISOLATION_DEFAULT) {
		r = set_isolation(s, levels[isolation]);
		s->has_isolation = r == CENOTE_OK;
	}
	if (r == CENOTE_OK && !s->is_manual)
		r = set_autocommit(s, 0);
	if (r < 0)
		return r;
	s->tx = CND_OD_TX_CALLS;
	return flags & CENOTE_BEGIN_READ_ONLY ? cnd_od_internal(s, s->quirks->read_only)
					      : CENOTE_OK;
}

int
cnd_od_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink)
{
	int r = cnd_od_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	/* IMMEDIATE: ODBC has no lock of the whole database */
	if (isolation > CENOTE_ISOLATION_SERIALIZABLE ||
		flags & ~(uint32_t)(CENOTE_BEGIN_READ_ONLY | CENOTE_BEGIN_IMMEDIATE) ||
		(flags & CENOTE_BEGIN_READ_ONLY && !s->quirks->read_only))
		return CENOTE_ERR_UNSUPPORTED;
	if (s->tx != CND_OD_TX_NONE)
		return cnd_refuse(s->diag, CNC_SQLSTATE(TX_ACTIVE), NULL,
			"cannot start a transaction within a transaction");
	s->is_used = 1;
	r = begin_as_asked(s, isolation, flags);
	if (r < 0) {
		/* keep the diagnostics of the first failure */
		s->diag = NULL;
		(void)cnd_od_end_tx(s, SQL_ROLLBACK);
		return r;
	}
	return cnd_done(sink, "BEGIN", 0);
}

/* After an error has failed the transaction, COMMIT rolls back. Tell the client, which did not ask for
 * that. */
static int
commit(struct cnd_session *s)
{
	int was_failed = s->is_tx_failed;
	int r = cnd_od_end_tx(s, was_failed ? SQL_ROLLBACK : SQL_COMMIT);

	s->is_tx_failed = 0;
	if (r == CENOTE_OK && was_failed)
		return cnd_refuse(s->diag, CNC_SQLSTATE(ROLLBACK), NULL,
			"nothing was committed: an error had failed the transaction");
	return r;
}

static int
rollback(struct cnd_session *s)
{
	s->is_tx_failed = 0;
	return cnd_od_end_tx(s, SQL_ROLLBACK);
}

int
cnd_od_commit(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_od_enter(s, sink->diag, sink);

	if (r == CENOTE_OK)
		r = commit(s);
	return r < 0 ? r : cnd_done(sink, "COMMIT", 0);
}

int
cnd_od_rollback(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_od_enter(s, sink->diag, sink);

	if (r == CENOTE_OK)
		r = rollback(s);
	return r < 0 ? r : cnd_done(sink, "ROLLBACK", 0);
}

int
cnd_od_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink)
{
	int r = cnd_od_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	/* leave an open transaction alone: ODBC would commit it */
	if (s->is_manual != !on && s->tx == CND_OD_TX_NONE) {
		s->is_used = 1;
		r = set_autocommit(s, on);
	}
	if (r < 0)
		return r;
	s->is_manual = !on;
	return cnd_done(sink, "SET", 0);
}

/* ---- savepoints ---- */

int
cnd_od_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink)
{
	char sql[2 * NAME_MAX_BYTES + 48];
	int r = cnd_od_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (s->quirks->savepoint[0] == NULL)
		return CENOTE_ERR_UNSUPPORTED;
	if (len == 0 || len > NAME_MAX_BYTES || memchr(name, 0, len))
		return cnd_refuse(s->diag, CNC_SQLSTATE(NO_SAVEPOINT), NULL,
			"a savepoint's name has 1 to %u bytes, and no zero byte",
			NAME_MAX_BYTES);
	s->is_used = 1;
	if (s->quirks->savepoint[action]) {
		(void)cnd_quote_name(
			sql, s->quirks->savepoint[action], s->quote[0], name, len);
		r = cnd_od_internal(s, sql);
	}
	if (r == CENOTE_OK && action == 2)
		s->is_tx_failed = 0;
	if (r == CENOTE_OK && action == 0 && s->is_manual && s->tx == CND_OD_TX_NONE)
		s->tx = CND_OD_TX_CALLS;
	return r < 0 ? r : cnd_done(sink, cnd_savepoint_tag(action), 0);
}

/* ---- by SQL ---- */

int
cnd_od_tx_statement(struct cnd_session *s, const struct cnd_od_scan *scan)
{
	int r;

	if (s->tx == CND_OD_TX_SQL || (s->tx == CND_OD_TX_NONE && !s->is_manual))
		return CENOTE_OK;
	if (scan->has_more && scan->flags & (CND_OD_VERB_BEGIN | CND_OD_VERB_COMMIT |
						    CND_OD_VERB_ROLLBACK))
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"a transaction that was begun by a call is not ended in the "
			"middle of other statements: end it by a statement of its own");
	if (!(scan->flags & (CND_OD_VERB_COMMIT | CND_OD_VERB_ROLLBACK)))
		return CENOTE_OK;
	r = scan->flags & CND_OD_VERB_COMMIT ? commit(s) : rollback(s);
	return r < 0 ? r : CENOTE_DONE;
}

void
cnd_od_after_statement(
	struct cnd_session *s, const struct cnd_od_scan *scan, int has_failed)
{
	uint32_t flags = scan->flags;

	s->pins |= scan->pins;
	if (scan->reads && s->opt.queries != CND_OD_QUERIES_PURE)
		s->pins |= CENOTE_PIN_FUNCTION;
	if (flags & (CND_OD_VERB_COMMIT | CND_OD_VERB_ROLLBACK)) {
		if (s->tx == CND_OD_TX_SQL && !has_failed)
			s->tx = CND_OD_TX_NONE;
		s->is_tx_failed = 0;
	} else if (flags & CND_OD_VERB_BEGIN) {
		/* the BEGIN may have succeeded, and a later statement failed */
		if ((!has_failed || scan->has_more) && s->tx == CND_OD_TX_NONE)
			s->tx = s->is_manual ? CND_OD_TX_CALLS : CND_OD_TX_SQL;
	} else if (s->is_manual && s->tx == CND_OD_TX_NONE && !scan->is_empty) {
		s->tx = CND_OD_TX_CALLS;
	}
}
