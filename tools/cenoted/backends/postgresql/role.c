/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the server whether it is a primary or a replica, how far a replica is behind, and at which position of the WAL the
 * server is. PostgreSQL says so to every user.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- position ---- */

/*
 * The position of a primary is where it inserts next, because a commit may not be written yet (synchronous_commit = off). That of
 * a replica is what it has replayed, on the latest timeline that it is known to follow. Users without pg_read_all_stats do not see
 * the receiver's timeline. For them the control file's counts, which is later by up to one restart point.
 */
static const char position_question[] =
	"SELECT pg_catalog.concat_ws('/', (SELECT system_identifier FROM "
	"pg_catalog.pg_control_system()), CASE WHEN pg_catalog.pg_is_in_recovery() THEN "
	"pg_catalog.concat_ws('/', GREATEST((SELECT timeline_id FROM "
	"pg_catalog.pg_control_checkpoint()), (SELECT min_recovery_end_timeline FROM "
	"pg_catalog.pg_control_recovery()), (SELECT pg_catalog.max(received_tli) FROM "
	"pg_catalog.pg_stat_wal_receiver)), pg_catalog.pg_last_wal_replay_lsn()) ELSE "
	"pg_catalog.concat_ws('/', ('x' OPERATOR(pg_catalog.||) pg_catalog.substr("
	"pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, "
	"8))::pg_catalog.bit(32)::pg_catalog.int4, "
	"pg_catalog.pg_current_wal_insert_lsn()) END)";

/* A page of the WAL, and its header. */
#define WAL_PAGE        8192u
#define WAL_PAGE_HEADER 24u

/*
 * If the last record ends with its page, the primary reports the place behind the header of the next page. No replica replays
 * to there before the next record. So take the header off. Where pages have another size, this may be the end of a record.
 * Then the result is inside that record, as no record of a commit is as short as a header, and the replica still waits for it.
 */
static void
leave_page_header(char *text)
{
	char *low = strrchr(text, '/');
	unsigned long n = low != NULL ? strtoul(low + 1, NULL, 16) : 0;

	if (n % WAL_PAGE == WAL_PAGE_HEADER)
		snprintf(low + 1, strlen(low + 1) + 1, "%lX", n - WAL_PAGE_HEADER);
}

static int
ask_position(struct cnd_session *s, char *ret_text)
{
	uint8_t nothing;
	int r = cnd_pg_ask_more(
		s, position_question, &nothing, 0, ret_text, CND_POSITION_MAX + 1);

	if (r == CENOTE_OK)
		leave_page_header(ret_text);
	return r < 0 ? r : s->run.status;
}

int
cnd_pg_position(struct cnd_session *s, struct cnd_sink *sink,
	char ret_text[CND_POSITION_MAX + 1], struct cnc_diag *ret_diag)
{
	int r = s->is_lost || can_ask(s) ? cnd_pg_enter(s, ret_diag)
					 : CENOTE_ERR_UNSUPPORTED;

	if (r == CENOTE_OK) {
		(void)cnd_pg_run_begin(s, sink);
		r = ask_position(s, ret_text);
		(void)cnd_pg_run_begin(s, NULL);
	}
	s->diag = NULL;
	return r;
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

/* ---- read-only sessions ---- */

/* PostgreSQL 14 and later report the default at the login, and each change of it before they take the next request. */
static const char *
reported_default(const struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_parameters; i++) {
		if (strcmp(s->parameters[i].name, "default_transaction_read_only") == 0)
			return s->parameters[i].value;
	}
	return NULL;
}

static bool
is_read_only(const struct cnd_session *s)
{
	const char *value = reported_default(s);

	return value != NULL && strcmp(value, "on") == 0;
}

static int
set_read_only(struct cnd_session *s)
{
	static const char sql[] =
		"SELECT pg_catalog.set_config('default_transaction_read_only', 'on', "
		"false) OPERATOR(pg_catalog.=) 'on'";
	uint8_t is_on = 0;
	int r = cnd_pg_ask(s, sql, &is_on, 1);

	return r < 0 ? r : s->run.status;
}

int
cnd_pg_read_only(struct cnd_session *s, struct cnd_sink *sink, struct cnc_diag *ret_diag)
{
	int r;

	if (!s->is_lost && is_read_only(s))
		return CENOTE_OK;
	r = s->is_lost || can_ask(s) ? cnd_pg_enter(s, ret_diag) : CENOTE_ERR_UNSUPPORTED;
	if (r == CENOTE_OK) {
		(void)cnd_pg_run_begin(s, sink);
		r = set_read_only(s);
		(void)cnd_pg_run_begin(s, NULL);
	}
	if (r == CENOTE_OK && !is_read_only(s))
		r = cnd_pg_refuse(s, CNC_SQLSTATE(UNSUPPORTED),
			"the server does not report default_transaction_read_only, so "
			"nothing confirms that it writes nothing (read_only = yes needs "
			"PostgreSQL 14 or later)");
	s->diag = NULL;
	return r;
}
