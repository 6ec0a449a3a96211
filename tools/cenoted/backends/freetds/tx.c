/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transactions, savepoints and autocommit. It owns s->tx and the names of savepoints. stmt.c asks it for the state
 * after statements that may have changed it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tds.h"

/* Asks for the state of the transaction. Sybase has no XACT_STATE(). */
#define ASK_STATE          "select @@trancount, xact_state()"
#define ASK_STATE_SYBASE   "select @@trancount, 0"
/* The isolation level of a new login, on either kind of server. */
#define ISOLATION_OF_LOGIN "set transaction isolation level read committed "

void
cnd_tds_forget_savepoints(struct cnd_session *s)
{
	while (s->n_savepoints > 0)
		cnc_free(s->mem, s->savepoints[--s->n_savepoints]);
}

/* Run SQL and then ask for the state of the transaction, in one exchange. */
static int
run_and_ask(struct cnd_session *s, const char *sql)
{
	char text[512];
	char *state[2] = { NULL, NULL };
	int r;

	(void)snprintf(text, sizeof(text), "%s %s", sql,
		s->is_sybase ? ASK_STATE_SYBASE : ASK_STATE);
	r = cnd_tds_ask(s, text, state, 2);
	if (state[0]) {
		s->tx = strcmp(state[0], "0") == 0 ? CENOTE_TX_IDLE : CENOTE_TX_OPEN;
		if (state[1] && strcmp(state[1], "-1") == 0)
			s->tx = CENOTE_TX_FAILED;
	}
	if (s->tx == CENOTE_TX_IDLE)
		cnd_tds_forget_savepoints(s);
	return r;
}

/* Ask the server for the state of the transaction, and undo settings that were for one transaction only. */
static int
refresh_tx(struct cnd_session *s)
{
	int r = run_and_ask(s, "");

	/* the level was set for the transaction that has ended, and the server would keep it */
	if (r == CENOTE_OK && s->tx == CENOTE_TX_IDLE && s->has_isolation) {
		s->has_isolation = 0;
		r = cnd_tds_do(s, ISOLATION_OF_LOGIN);
	}
	return r;
}

int
cnd_tds_look_at_tx(struct cnd_session *s, int r)
{
	struct cnd_tds_aside aside;
	int t;

	cnd_tds_aside_begin(s, &aside, s->stop < 0);
	t = refresh_tx(s);
	if (t < 0 && r >= 0)
		cnc_diag_copy(aside.diag, &aside.own);
	cnd_tds_aside_end(s, &aside);
	return r < 0 ? r : t;
}

int
cnd_tds_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink)
{
	static const char *const levels[] = { "", "read uncommitted", "read committed",
		"repeatable read", "serializable" };
	char sql[128];
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	/* IMMEDIATE: this server has no lock of the whole database. It has no read-only transactions. */
	if (isolation > CENOTE_ISOLATION_SERIALIZABLE ||
		flags & ~(uint32_t)CENOTE_BEGIN_IMMEDIATE)
		return CENOTE_ERR_UNSUPPORTED;
	/* the server would count a second BEGIN, and commit nothing with the first COMMIT */
	if (s->tx != CENOTE_TX_IDLE)
		return cnd_refuse(s->diag, CNC_SQLSTATE(TX_ACTIVE), NULL,
			"cannot start a transaction within a transaction");
	if (isolation == CENOTE_ISOLATION_DEFAULT) {
		(void)snprintf(sql, sizeof(sql), "begin transaction");
	} else {
		(void)snprintf(sql, sizeof(sql),
			"set transaction isolation level %s begin transaction",
			levels[isolation]);
		s->has_isolation = 1;
		s->has_set = 1;
	}
	r = run_and_ask(s, sql);
	return r < 0 ? r : cnd_done(sink, "BEGIN", 0);
}

static int
end(struct cnd_session *s, const char *sql, const char *tag, struct cnd_sink *sink)
{
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (r == CENOTE_OK && (s->tx != CENOTE_TX_IDLE || s->is_chained))
		r = run_and_ask(s, sql);
	if (r == CENOTE_OK && s->has_isolation && s->tx == CENOTE_TX_IDLE) {
		s->has_isolation = 0;
		r = cnd_tds_do(s, ISOLATION_OF_LOGIN);
	}
	return r < 0 ? r : cnd_done(sink, tag, 0);
}

int
cnd_tds_commit(struct cnd_session *s, struct cnd_sink *sink)
{
	return end(s, "if @@trancount > 0 commit transaction", "COMMIT", sink);
}

int
cnd_tds_rollback(struct cnd_session *s, struct cnd_sink *sink)
{
	return end(s, "if @@trancount > 0 rollback transaction", "ROLLBACK", sink);
}

/* ---- savepoints ---- */

/* The newest savepoint of this name; -1 if there is none. */
static int
find_savepoint(const struct cnd_session *s, const char *name, size_t len)
{
	for (size_t i = s->n_savepoints; i-- > 0;) {
		if (strlen(s->savepoints[i]) == len &&
			memcmp(s->savepoints[i], name, len) == 0)
			return (int)i;
	}
	return -1;
}

static int
set_savepoint(struct cnd_session *s, const char *name, size_t len)
{
	char sql[64];
	char *copy;
	int r;

	if (s->n_savepoints == CND_TDS_SAVEPOINTS)
		return cnd_refuse(s->diag, CNC_SQLSTATE(LIMIT), NULL,
			"there are %u savepoints already", CND_TDS_SAVEPOINTS);
	copy = cnc_strndup(s->mem, name, len);
	if (!copy)
		return CENOTE_ERR_NOMEM;
	(void)snprintf(sql, sizeof(sql), "save transaction cenote_%zu", s->n_savepoints);
	r = cnd_tds_do(s, sql);
	if (r < 0)
		cnc_free(s->mem, copy);
	else
		s->savepoints[s->n_savepoints++] = copy;
	return r;
}

/* Forget all savepoints but the first n. */
static void
keep_savepoints(struct cnd_session *s, size_t n)
{
	while (s->n_savepoints > n)
		cnc_free(s->mem, s->savepoints[--s->n_savepoints]);
}

int
cnd_tds_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink)
{
	char sql[64];
	int at, r = cnd_tds_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (len == 0 || memchr(name, 0, len))
		return cnd_refuse(s->diag, CNC_SQLSTATE(NO_SAVEPOINT), NULL,
			"a savepoint's name is not empty, and has no zero byte");
	at = find_savepoint(s, name, len);
	if (action > 0 && at < 0)
		return cnd_refuse(s->diag, CNC_SQLSTATE(NO_SAVEPOINT), NULL,
			"there is no savepoint \"%.*s\"", (int)(len < 100 ? len : 100),
			name);
	if (action == 0)
		r = set_savepoint(s, name, len);
	/* this server releases a savepoint only with its transaction: it stays there, but nobody
	 * can reach it */
	if (action == 1)
		keep_savepoints(s, (size_t)at);
	if (action == 2) {
		(void)snprintf(sql, sizeof(sql), "rollback transaction cenote_%d", at);
		r = cnd_tds_do(s, sql);
		if (r == CENOTE_OK)
			keep_savepoints(s, (size_t)at + 1);
	}
	if (r == CENOTE_ERR_SERVER)
		(void)refresh_tx(s);
	return r < 0 ? r : cnd_done(sink, cnd_savepoint_tag(action), 0);
}

int
cnd_tds_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink)
{
	const char *sql =
		on ? "set implicit_transactions off" : "set implicit_transactions on";
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (s->is_sybase)
		sql = on ? "set chained off" : "set chained on";
	if (r == CENOTE_OK && s->is_chained != !on) {
		s->has_set = 1;
		r = cnd_tds_do(s, sql);
		if (r == CENOTE_OK)
			s->is_chained = !on;
		/* an open transaction is committed, as by other servers */
		if (r == CENOTE_OK && on && s->tx != CENOTE_TX_IDLE)
			r = run_and_ask(s, "if @@trancount > 0 commit transaction");
	}
	return r < 0 ? r : cnd_done(sink, "SET", 0);
}
