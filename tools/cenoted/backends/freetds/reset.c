/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Make a session like one of a new login. The protocol has a bit for this, but ct-library cannot
 * set it, and a client may not call sp_reset_connection. If a client can have left nothing but a
 * transaction, the transaction is undone here. Otherwise a new login replaces the session.
 */
#include "tds.h"

/* @@rowcount, @@error and the like report the previous statement. Give them the values that they have after a login. */
static int
undo(struct cnd_session *s)
{
	int r = cnd_tds_do(s, "if @@trancount > 0 rollback transaction");

	return r == CENOTE_OK ? cnd_tds_learn_facts(s) : r;
}

int
cnd_tds_reset(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_tds_enter_beside(s, ret_diag, NULL, s->live);

	if (r < 0)
		return r;
	if (s->pins != 0 || s->has_set)
		return cnd_needs_login(s->diag);
	s->host->forget(s->host, s);
	r = cnd_tds_enter(s, ret_diag, NULL);
	if (r < 0)
		return r;
	cnd_tds_forget_savepoints(s);
	if (s->has_run)
		r = undo(s);
	if (r < 0)
		return CENOTE_ERR_CONN;
	s->tx = CENOTE_TX_IDLE;
	s->has_run = 0;
	return CENOTE_OK;
}
