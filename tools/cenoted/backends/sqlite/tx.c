/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transactions, savepoints and autocommit. This file also notices when SQLite itself has ended a
 * transaction. exec.c calls it around each statement.
 */
#include <string.h>

#include "sqlite.h"

int
cnd_sq_in_tx(const struct cnd_session *s)
{
	return !sqlite3_get_autocommit(s->db);
}

/* Run one of the fixed statements, which stay compiled. Returns SQLite's code. */
static int
run_fixed(struct cnd_session *s, enum cnd_sq_fixed which)
{
	static const char *const texts[] = {
		[CND_SQ_FIXED_BEGIN] = "BEGIN",
		[CND_SQ_FIXED_BEGIN_IMMEDIATE] = "BEGIN IMMEDIATE",
		[CND_SQ_FIXED_COMMIT] = "COMMIT",
		[CND_SQ_FIXED_ROLLBACK] = "ROLLBACK",
	};
	int rc;

	if (!s->fixed[which]) {
		rc = sqlite3_prepare_v3(s->db, texts[which], -1,
			SQLITE_PREPARE_PERSISTENT, &s->fixed[which], NULL);
		if (rc != SQLITE_OK)
			return rc;
	}
	rc = sqlite3_step(s->fixed[which]);
	if (rc == SQLITE_DONE)
		return sqlite3_reset(s->fixed[which]);
	/* The message stays: the reset gives the same code again. */
	(void)sqlite3_reset(s->fixed[which]);
	return rc;
}

/* Begin a transaction if autocommit is off and none is open. */
static int
begin_implicitly(struct cnd_session *s)
{
	int rc;

	if (!s->is_manual || cnd_sq_in_tx(s))
		return CENOTE_OK;
	rc = run_fixed(s, CND_SQ_FIXED_BEGIN);
	return rc == SQLITE_OK ? CENOTE_OK : cnd_sq_fail(s, rc, 0);
}

void
cnd_sq_after_statement(struct cnd_session *s, int was_in_tx, int has_failed)
{
	if (cnd_sq_in_tx(s))
		return;
	s->is_tx_readonly = 0;
	if (was_in_tx && has_failed) {
		s->is_tx_failed = 1;
		cnd_sq_close_portals(s, 0);
	}
}

static int
refuse_failed(struct cnd_session *s)
{
	return cnd_sq_refuse(s, CNC_SQLSTATE(TX_FAILED), "Roll back, or begin anew.",
		"an error made SQLite roll the transaction back");
}

/* COMMIT of a transaction that SQLite has rolled back. */
static int
refuse_commit(struct cnd_session *s)
{
	s->is_tx_failed = 0;
	return cnd_sq_refuse(s, CNC_SQLSTATE(ROLLBACK), NULL,
		"nothing was committed: an error had made SQLite roll the transaction "
		"back");
}

int
cnd_sq_before_statement(struct cnd_session *s, const struct cnd_sq_stmt *st)
{
	uint32_t flags = st->verb->flags;
	int has_nothing = s->is_manual && !cnd_sq_in_tx(s);

	if (flags & CND_SQ_VERB_BEGIN) {
		s->is_tx_failed = 0;
	} else if (flags & CND_SQ_VERB_COMMIT) {
		if (s->is_tx_failed)
			return refuse_commit(s);
		cnd_sq_close_portals(s, 1);
		return has_nothing ? CENOTE_DONE : CENOTE_OK;
	} else if (flags & CND_SQ_VERB_ROLLBACK) {
		has_nothing |= s->is_tx_failed;
		s->is_tx_failed = 0;
		cnd_sq_close_portals(s, 0);
		return has_nothing ? CENOTE_DONE : CENOTE_OK;
	}
	if (s->is_tx_failed)
		return refuse_failed(s);
	if (s->is_tx_readonly && !st->is_readonly)
		return cnd_sq_refuse(s, CNC_SQLSTATE(READ_ONLY), NULL,
			"cannot execute %s in a read-only transaction",
			*st->verb->word ? st->verb->word : "this");
	return flags & CND_SQ_VERB_IN_TX ? begin_implicitly(s) : CENOTE_OK;
}

/* SQLite's transactions are serializable: a client gets the level that it asks for, or a higher
 * one. */
int
cnd_sq_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink)
{
	int rc;

	cnd_sq_enter(s, sink->diag);
	if (isolation > CENOTE_ISOLATION_SERIALIZABLE ||
		flags & ~(uint32_t)(CENOTE_BEGIN_READ_ONLY | CENOTE_BEGIN_IMMEDIATE))
		return CENOTE_ERR_UNSUPPORTED;
	if (cnd_sq_in_tx(s))
		return cnd_sq_refuse(s, CNC_SQLSTATE(TX_ACTIVE), NULL,
			"cannot start a transaction within a transaction");
	s->is_tx_failed = 0;
	rc = run_fixed(s, flags & CENOTE_BEGIN_IMMEDIATE ? CND_SQ_FIXED_BEGIN_IMMEDIATE
							 : CND_SQ_FIXED_BEGIN);
	if (rc != SQLITE_OK)
		return cnd_sq_fail(s, rc, 0);
	s->is_tx_readonly = (flags & CENOTE_BEGIN_READ_ONLY) != 0;
	return cnd_done(sink, "BEGIN", 0);
}

int
cnd_sq_commit(struct cnd_session *s, struct cnd_sink *sink)
{
	int rc = SQLITE_OK;

	cnd_sq_enter(s, sink->diag);
	if (s->is_tx_failed)
		return refuse_commit(s);
	cnd_sq_close_portals(s, 1);
	if (cnd_sq_in_tx(s))
		rc = run_fixed(s, CND_SQ_FIXED_COMMIT);
	cnd_sq_after_statement(s, 0, 0);
	return rc == SQLITE_OK ? cnd_done(sink, "COMMIT", 0) : cnd_sq_fail(s, rc, 0);
}

int
cnd_sq_rollback(struct cnd_session *s, struct cnd_sink *sink)
{
	int rc = SQLITE_OK;

	cnd_sq_enter(s, sink->diag);
	s->is_tx_failed = 0;
	cnd_sq_close_portals(s, 0);
	if (cnd_sq_in_tx(s))
		rc = run_fixed(s, CND_SQ_FIXED_ROLLBACK);
	cnd_sq_after_statement(s, 0, 0);
	return rc == SQLITE_OK ? cnd_done(sink, "ROLLBACK", 0) : cnd_sq_fail(s, rc, 0);
}

static int
run_savepoint(struct cnd_session *s, const char *verb, const char *name)
{
	char *sql = sqlite3_mprintf("%s \"%w\"", verb, name);
	int rc;

	if (!sql)
		return CENOTE_ERR_NOMEM;
	rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return rc == SQLITE_OK ? CENOTE_OK : cnd_sq_fail(s, rc, 0);
}

int
cnd_sq_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink)
{
	static const char *const verbs[] = { "SAVEPOINT", "RELEASE", "ROLLBACK TO" };
	char *copy;
	int r, was_in_tx;

	cnd_sq_enter(s, sink->diag);
	if (len == 0 || memchr(name, 0, len))
		return cnd_sq_refuse(s, CNC_SQLSTATE(NO_SAVEPOINT), NULL,
			"a savepoint's name cannot be empty or hold a zero byte");
	if (s->is_tx_failed)
		return refuse_failed(s);
	r = action == 0 ? begin_implicitly(s) : CENOTE_OK;
	if (r < 0)
		return r;
	copy = cnc_strndup(s->mem, name, len);
	if (!copy)
		return CENOTE_ERR_NOMEM;
	was_in_tx = cnd_sq_in_tx(s);
	r = run_savepoint(s, verbs[action], copy);
	cnc_free(s->mem, copy);
	cnd_sq_after_statement(s, was_in_tx, r < 0);
	return r < 0 ? r : cnd_done(sink, cnd_savepoint_tag(action), 0);
}

int
cnd_sq_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink)
{
	cnd_sq_enter(s, sink->diag);
	s->is_manual = !on;
	return cnd_done(sink, "SET", 0);
}
