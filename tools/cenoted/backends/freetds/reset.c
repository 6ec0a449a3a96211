/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "tds.h"

/*
 * A session as of a new login. The protocol has a bit for it, which ct-library cannot set. What a client did that
 * cannot have left anything but a transaction is undone here; behind anything else comes a new login.
 */

static int
needs_login(struct cnd_session *s)
{
	cnc_diag_set(s->diag, CNC_SQLSTATE(OK),
		"the session holds what only a new login clears");
	return CENOTE_ERR_UNSUPPORTED;
}

/* @@rowcount, @@error and the like tell of the statement before: they become those of the one behind a login. */
static int
undo(struct cnd_session *s)
{
	const char *isolation = "", *chained = "";
	char sql[256];
	int r;

	/* a setting that is set to what it was is told as one that the session set: only where it is another */
	if (s->has_isolation)
		isolation = s->is_sybase
				    ? "set transaction isolation level 1 "
				    : "set transaction isolation level read committed ";
	if (s->is_chained)
		chained = s->is_sybase ? "set chained off"
				       : "set implicit_transactions off";
	(void)snprintf(sql, sizeof(sql), "if @@trancount > 0 rollback transaction %s%s",
		isolation, chained);
	r = cnd_tds_do(s, sql);
	return r == CENOTE_OK ? cnd_tds_learn_facts(s) : r;
}

int
cnd_tds_reset(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_tds_enter_beside(s, ret_diag, NULL, s->live);

	if (r < 0)
		return r;
	if (s->pins != 0)
		return needs_login(s);
	cnd_tds_close_portals(s);
	r = cnd_tds_enter(s, ret_diag, NULL);
	if (r < 0)
		return r;
	cnd_tds_close_all(s);
	cnd_tds_forget_savepoints(s);
	if (s->has_run)
		r = undo(s);
	if (r < 0)
		return CENOTE_ERR_CONN;
	s->tx = CENOTE_TX_IDLE;
	s->is_chained = 0;
	s->has_isolation = 0;
	s->has_run = 0;
	return CENOTE_OK;
}
