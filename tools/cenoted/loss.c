/* SPDX-License-Identifier: BSD-2-Clause */
#include "worker.h"

#include <string.h>

#include "core/effect.h"
#include "core/sqlstate.h"

/*
 * The session to the server was lost while a request ran: is nothing left of what it did, or may
 * it have been committed? In doubt, it may. The client's end judges the same way when it
 * loses the pool.
 */

void
cnd_loss_remember(struct cnd_worker *w, uint32_t statement, struct cnp_str sql)
{
	size_t at = statement % CND_STATEMENTS;

	w->effects[at].statement = statement;
	w->effects[at].effect = cnc_sql_effect(sql.p, sql.n);
}

static uint8_t
effect_of_statement(const struct cnd_worker *w, uint32_t statement)
{
	size_t at = statement % CND_STATEMENTS;

	if (statement != 0 && w->effects[at].statement == statement)
		return w->effects[at].effect;
	return CNC_EFFECT_COMMIT;
}

static uint8_t
effect_of(const struct cnd_worker *w, const struct cnp_msg *m)
{
	switch (m->code) {
	case CNP_MSG_QUERY:
		return cnc_sql_effect(m->as.query.sql.p, m->as.query.sql.n);
	case CNP_MSG_EXECUTE:
		return effect_of_statement(w, m->as.execute.statement);
	case CNP_MSG_COMMIT:
		return CNC_EFFECT_COMMIT;
	case CNP_MSG_SAVEPOINT:
		return m->as.savepoint.action == 1 ? CNC_EFFECT_COMMIT : CNC_EFFECT_NONE;
	case CNP_MSG_FUNCTION:
	case CNP_MSG_FETCH:
	case CNP_MSG_CLOSE_PORTAL:
		return CNC_EFFECT_WRITE;
	default:
		return CNC_EFFECT_NONE;
	}
}

static int
may_commit(const struct cnd_worker *w, const struct cnp_msg *m)
{
	uint8_t effect = effect_of(w, m);

	return effect == CNC_EFFECT_COMMIT ||
	       (effect == CNC_EFFECT_WRITE && w->tx == CENOTE_TX_IDLE) ||
	       (effect == CNC_EFFECT_BEGIN && w->tx != CENOTE_TX_IDLE);
}

void
cnd_loss_expect(struct cnd_worker *w, const struct cnp_msg *m)
{
	/* only where a synchronisation point commits what came before it */
	if (w->backend->sync != NULL && !w->is_sync && !w->may_have_committed)
		w->may_have_committed = (uint8_t)may_commit(w, m);
}

void
cnd_loss_explain(struct cnd_worker *w, const struct cnp_msg *m)
{
	int is_unknown = may_commit(w, m);
	char why[CNC_DIAG_MESSAGE_MAX];
	char sqlstate[sizeof(w->diag.sqlstate)];
	int32_t native = w->diag.native;

	if ((w->is_sync || m->code == CNP_MSG_SYNC) && w->may_have_committed)
		is_unknown = 1;
	memcpy(why, w->diag.message, sizeof(why));
	memcpy(sqlstate, w->diag.sqlstate, sizeof(sqlstate));
	if (is_unknown)
		cnc_diag_set(&w->diag, CNC_SQLSTATE(OUTCOME_UNKNOWN),
			"the session was lost in %s, its outcome is unknown: %s",
			cnp_msg_name(m->code), why);
	else if (strncmp(sqlstate, "08", 2) != 0 ||
		 strcmp(sqlstate, CNC_SQLSTATE(OUTCOME_UNKNOWN)) == 0)
		cnc_diag_set(&w->diag, CNC_SQLSTATE(CONNECTION_LOST),
			"the session was lost in %s: %s (SQLSTATE %s)",
			cnp_msg_name(m->code), why, sqlstate);
	w->diag.native = native;
}
