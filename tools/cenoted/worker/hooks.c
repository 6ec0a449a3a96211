/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SQL that the pool runs on its sessions (`session_start`, `session_end`). The start runs after each login and after each
 * reset, so that a client finds the session as the start left it. The end runs when a client has given the session back,
 * before the reset. A session on which one of them fails is closed. login.c, worker.c and owner.c call this file.
 */
#include "worker.h"

#include <stdio.h>

#include "core/sqlstate.h"
#include "serving/quiet.h"
#include "shared/log.h"

/* Name the line in the error. A failed start counts as a failed login: no client can have the session. */
static void
explain(struct cnc_diag *diag, const char *key, const struct cnd_hook *hook)
{
	char why[CNC_DIAG_MESSAGE_MAX];

	(void)snprintf(why, sizeof(why), "%s", diag->message);
	cnc_diag_set(diag, CNC_SQLSTATE(CANNOT_CONNECT), "%s (line %u): %s", key,
		hook->line, why);
}

/* The SQL must not leave a transaction open: the next client would find it. */
static int
check_transaction(
	const struct cnd_worker *w, struct cnd_session *session, struct cnc_diag *diag)
{
	struct cnd_state state;

	w->serving.backend->state(session, &state);
	if (state.tx == CENOTE_TX_IDLE)
		return CENOTE_OK;
	cnc_diag_set(diag, CNC_SQLSTATE(TX_ACTIVE), "it has left a transaction open");
	return CENOTE_ERR_SERVER;
}

static int
run(struct cnd_worker *w, struct cnd_session *session, const struct cnd_hooks *hooks,
	const char *key, struct cnc_diag *diag)
{
	struct cnd_quiet quiet;
	int r = CENOTE_OK;

	cnd_quiet_init(&quiet, w->serving.host.mem, diag);
	for (size_t i = 0; i < hooks->n && r >= 0; i++) {
		r = cnd_quiet_run(
			&quiet, w->serving.backend, session, hooks->list[i].sql);
		if (r >= 0)
			r = check_transaction(w, session, diag);
		if (r < 0)
			explain(diag, key, &hooks->list[i]);
	}
	cnd_quiet_finish(&quiet);
	return r;
}

int
cnd_hooks_start(struct cnd_worker *w, struct cnd_session *session, struct cnc_diag *diag)
{
	if (w->config->session_start.n == 0)
		return CENOTE_OK;
	w->login.is_info_stale = true;
	return run(w, session, &w->config->session_start, "session_start", diag) < 0
		       ? CENOTE_ERR_CONN
		       : CENOTE_OK;
}

/* Roll back what the client has left open. */
static int
end_transaction(struct cnd_worker *w)
{
	struct cnd_serving *s = &w->serving;
	struct cnd_quiet quiet;
	struct cnd_state state;
	int r;

	s->backend->state(s->session, &state);
	if (state.tx == CENOTE_TX_IDLE)
		return CENOTE_OK;
	cnd_quiet_init(&quiet, s->host.mem, &s->diag);
	r = s->backend->rollback(s->session, &quiet.sink);
	cnd_quiet_finish(&quiet);
	return r < 0 ? r : check_transaction(w, s->session, &s->diag);
}

int
cnd_hooks_end(struct cnd_worker *w)
{
	struct cnd_serving *s = &w->serving;
	int r;

	if (w->config->session_end.n == 0)
		return CENOTE_OK;
	cnd_host_begin_service(w);
	cnc_diag_clear(&s->diag);
	r = end_transaction(w);
	if (r >= 0)
		r = run(w, s->session, &w->config->session_end, "session_end", &s->diag);
	if (r < 0)
		cnd_log(LOG_NOTICE, "the session is closed, since its end failed: %s",
			s->diag.message);
	return r;
}
