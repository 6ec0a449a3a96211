/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the server whether it is a primary or a replica, and how far a replica is behind. PostgreSQL says so to every user.
 */
#include "core/value.h"

#include "session.h"

/*
 * A replica that has replayed all that it received is up to date only while its receiver runs. Without a receiver, nobody
 * knows how much it has missed. In that case, its lag is the age of the last transaction that it replayed.
 */
static const char question[] =
	"SELECT pg_catalog.pg_is_in_recovery(), CASE WHEN NOT "
	"pg_catalog.pg_is_in_recovery() OR (pg_catalog.pg_last_wal_receive_lsn() "
	"OPERATOR(pg_catalog.=) pg_catalog.pg_last_wal_replay_lsn() AND EXISTS (SELECT "
	"FROM pg_catalog.pg_stat_wal_receiver)) THEN '0' ELSE COALESCE((1000 "
	"OPERATOR(pg_catalog.*) GREATEST(0, pg_catalog.date_part('epoch', "
	"pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) "
	"pg_catalog.pg_last_xact_replay_timestamp())))::pg_catalog.int8::pg_catalog.text,"
	" "
	"'-1') END";

/* Whether the server has answered all requests, so that it can be asked now. */
static bool
can_ask(const struct cnd_session *s)
{
	const struct cnd_pg_sync *sync = &s->sync;

	return s->tx == 'I' && sync->n_ready == 0 && !sync->is_missing &&
	       !sync->is_owed && !sync->is_skipping && !sync->is_doubtful &&
	       s->ahead.at == s->ahead.n;
}

static int
ask(struct cnd_session *s, struct cnd_server_role *ret_role)
{
	uint8_t is_replica;
	char lag[32];
	int r = cnd_pg_ask_more(s, question, &is_replica, 1, lag, sizeof(lag));

	if (r < 0)
		return r;
	ret_role->role = is_replica ? CND_ROLE_REPLICA : CND_ROLE_PRIMARY;
	ret_role->is_ready = true;
	if (cnc_text_int64(lag, strlen(lag), &ret_role->lag_ms) < 0)
		ret_role->lag_ms = CND_LAG_UNKNOWN;
	return s->run.status;
}

int
cnd_pg_role(struct cnd_session *s, struct cnd_sink *sink,
	struct cnd_server_role *ret_role, struct cnc_diag *ret_diag)
{
	int r = s->is_lost || can_ask(s) ? cnd_pg_enter(s, ret_diag)
					 : CENOTE_ERR_UNSUPPORTED;

	if (r == CENOTE_OK) {
		(void)cnd_pg_run_begin(s, sink);
		r = ask(s, ret_role);
		(void)cnd_pg_run_begin(s, NULL);
	}
	s->diag = NULL;
	return r;
}
