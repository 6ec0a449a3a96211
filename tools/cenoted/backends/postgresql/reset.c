/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Make the session like a new login: roll back, run DISCARD ALL, and check the result. This file owns s->login. The
 * worker calls it when a client has gone.
 */
#include <stdio.h>

#include "session.h"

static void
forget_client(struct cnd_session *s)
{
	s->host->forget(s->host, s);
	s->client.pins = 0;
	/* the reset's simple query has removed the statement that has no name; without one, the next request closes it */
	s->spent.has_unnamed = !s->client.is_used && !s->client.has_told &&
			       (s->client.has_unnamed || s->spent.has_unnamed);
	s->client.has_unnamed = 0;
	s->client.is_used = 0;
	s->client.has_told = 0;
	s->client.is_unproved = 0;
	s->client.has_acted = 0;
	s->client.lasting = 0;
	s->client.is_manual = 0;
	s->client.may_copy = 0;
	s->client.has_carried = 0;
	s->client.has_named = 0;
	s->client.keeps_named = 0;
	s->client.holds_unnamed = 0;
	s->client.is_local = 0;
	cnd_pg_forget_due(s);
	cnd_pg_known_forget(s);
	cnd_pg_begun_forget(s);
	cnd_pg_settings_forget(s);
}

/* An answer is still on its way. Read and drop it before the server is asked anything else. */
static int
drain(struct cnd_session *s)
{
	(void)cnd_pg_run_begin(s, NULL);
	s->run.until_ready = 1;
	s->run.in_rows = 1;
	s->run.is_quiet = 1;
	cnd_pg_stop(s, CENOTE_ERR_SERVER);
	return cnd_pg_run(s);
}

/* ---- what a login begins with ---- */

#define THIS_AND_ALL(column, table, name, value)                                         \
	column " OPERATOR(pg_catalog.=) ANY (ARRAY[0::pg_catalog.oid, (SELECT oid FROM"  \
	       " pg_catalog." table " WHERE " name " OPERATOR(pg_catalog.=) " value      \
	       ")])"

static const char login_settings[] =
	"SELECT COALESCE(pg_catalog.hashtextextended(pg_catalog.string_agg("
	"pg_catalog.concat_ws(' ', setdatabase, setrole, setconfig), ','"
	" ORDER BY setdatabase, setrole), 0)::pg_catalog.text, 'none')"
	" FROM pg_catalog.pg_db_role_setting WHERE " THIS_AND_ALL("setdatabase",
		"pg_database", "datname",
		"pg_catalog.current_database()") " AND " THIS_AND_ALL("setrole",
		"pg_roles", "rolname", "SESSION_USER");

static int
ask_login(struct cnd_session *s, char *ret_hash)
{
	uint8_t nothing;

	(void)cnd_pg_run_begin(s, NULL);
	return cnd_pg_ask_more(
		s, login_settings, &nothing, 0, ret_hash, sizeof(s->login.settings));
}

int
cnd_pg_learn_login(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_pg_enter(s, ret_diag);

	if (r == CENOTE_OK)
		r = ask_login(s, s->login.settings);
	s->diag = NULL;
	/* a server that only speaks PostgreSQL's protocol may not have these catalogs */
	if (r == CENOTE_ERR_SERVER) {
		cnc_diag_clear(ret_diag);
		*s->login.settings = '\0';
		r = CENOTE_OK;
	}
	return r;
}

/* DO, CALL and COMMIT PREPARED may have run ALTER ROLE … SET. If so, the pool's other sessions must log in again. */
static int
check_login(struct cnd_session *s)
{
	char now[sizeof(s->login.settings)];
	int r;

	if (!s->login.may_change || *s->login.settings == '\0')
		return CENOTE_OK;
	r = ask_login(s, now);
	if (r < 0)
		return r;
	s->login.may_change = 0;
	if (strcmp(now, s->login.settings) != 0 && s->host->login_changed != NULL)
		s->host->login_changed(s->host);
	return CENOTE_OK;
}

/* ---- the reset ---- */

/* Check that the reported parameters have the values of the login. */
static int
check_parameters(struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_parameters; i++) {
		const struct cnd_pg_parameter *p = &s->parameters[i];

		if (p->at_login != NULL && strcmp(p->value, p->at_login) == 0)
			continue;
		/* The attach of the next client sets the options. */
		if (!cnd_pg_is_option(p))
			return cnd_pg_refuse(s, CNC_SQLSTATE(NOT_READY),
				"%s is not what it was at login", p->name);
	}
	return CENOTE_OK;
}

/* Everything goes in one write. */
static int
add_reset(struct cnd_session *s, struct cnd_pg_flags *ret_lasting)
{
	int r = CENOTE_OK;

	/* A Sync would commit an unfinished unit. It is needed only after an error, when the server skips messages. */
	if (s->sync.is_skipping)
		r = cnd_pg_add_end(s, 1);
	if (r == CENOTE_OK && (s->tx != 'I' || s->sync.is_missing))
		r = cnd_pg_add_command(s, "ROLLBACK");
	return r == CENOTE_OK ? cnd_pg_add_discard(s, ret_lasting) : r;
}

/*
 * The seed's answer must be the last answer, and only the seed has an answer of this type. If another answer came
 * last, there are more answers than expected, and the next client would get the rest.
 */
static int
check_last_answer(struct cnd_session *s)
{
	if (!s->client.is_used || s->run.is_value_last)
		return CENOTE_OK;
	return cnd_pg_broken(s, "an answer that nobody asked for");
}

/* Read the answers to an early reset. CENOTE_ERR_SERVER: it failed, for example because it was hit by the cancel of the request
 * before it. */
static int
finish_early(struct cnd_session *s, uint32_t n_ready)
{
	(void)cnd_pg_run_begin(s, NULL);
	s->run.until_ready = 1;
	if (s->early.lasting.n > 0)
		s->run.flags = &s->early.lasting;
	s->sync.n_ready = n_ready;
	return cnd_pg_run(s);
}

/* ---- the order of it all ---- */

static int
send_reset(struct cnd_session *s, struct cnd_pg_flags *ret_lasting)
{
	int r;

	(void)cnd_pg_run_begin(s, NULL);
	s->run.until_ready = 1;
	r = add_reset(s, ret_lasting);
	return r == CENOTE_OK && s->out.n_ready > 0 ? cnd_pg_send_run(s) : r;
}

/* Read the answers that are still on their way, then reset the session. */
static int
reset(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	struct cnd_pg_flags lasting = { .n = 0 };
	uint32_t n_early = s->early.n_ready;
	int r;

	s->early.n_ready = 0;

	if (s->sync.n_ready > 0)
		(void)drain(s);
	else
		cnd_pg_ahead_drain(s);
	cnd_pg_ahead_forget(s);
	if (s->is_lost)
		return CENOTE_ERR_CONN;
	r = cnd_pg_enter(s, ret_diag);
	if (r < 0)
		return r;
	if (s->sync.is_doubtful)
		return cnd_pg_refuse(s, CNC_SQLSTATE(NOT_READY),
			"a copy failed, and may have been answered twice");
	if (n_early > 0) {
		r = finish_early(s, n_early);
		lasting = s->early.lasting;
	}
	if (n_early == 0 || (r == CENOTE_ERR_SERVER && !s->is_lost)) {
		lasting.n = 0;
		cnc_diag_clear(ret_diag);
		r = send_reset(s, &lasting);
	}
	if (r == CENOTE_OK)
		r = check_last_answer(s);
	if (r == CENOTE_OK && (s->tx != 'I' || s->sync.n_ready > 0))
		r = cnd_pg_refuse(s, CNC_SQLSTATE(NOT_READY),
			"a transaction is open after the reset");
	if (r == CENOTE_OK)
		r = check_parameters(s);
	if (r == CENOTE_OK)
		r = check_login(s);
	return r == CENOTE_OK && lasting.n > 0 ? cnd_pg_lasting_check(s, &lasting) : r;
}

static int
can_log_in(const struct cnd_session *s)
{
	return s->host->can_log_in == NULL || s->host->can_log_in(s->host);
}

int
cnd_pg_reset(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_pg_enter(s, ret_diag);

	if (r < 0)
		return r;
	/* what the client has defined may be committed by now */
	if ((s->client.lasting & CND_PG_SCAN_DEFINES) != 0)
		cnd_pg_proof_end();
	if (cnd_pg_has_lasting(s) && !s->login.may_change && can_log_in(s))
		return CENOTE_ERR_UNSUPPORTED;
	/* An unfinished request may have left anything. */
	if (s->sync.n_ready > 0 || s->sync.is_missing || s->tx != 'I' ||
		s->stream.tail > s->stream.head)
		s->client.is_used = 1;
	r = reset(s, ret_diag);
	if (r == CENOTE_OK && cnd_pg_has_lasting(s))
		r = CENOTE_ERR_UNSUPPORTED;
	forget_client(s);
	s->diag = NULL;
	if (r != CENOTE_ERR_UNSUPPORTED || can_log_in(s))
		return r;
	/* The client keeps the session, and is its last client. */
	s->client.lasting = CND_PG_SCAN_STAYS;
	return CENOTE_OK;
}
