/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transactions, savepoints and autocommit, by SQL. Each ReadyForQuery reports the state of the transaction.
 */
#include <stdio.h>

#include "../common/text.h"
#include "session.h"

#define IDENTIFIER_MAX 63u
#define ENDS           (CND_PG_SCAN_TX | CND_PG_SCAN_ENDS)

static int
begin_request(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_pg_enter(s, sink->diag);

	return r < 0 ? r : cnd_pg_ready(s, sink);
}

/* Run one statement of the backend, whose flags are those of scan.c. In a unit of requests, do not send Query, which would
 * end the unit. */
static int
command(struct cnd_session *s, const char *sql, size_t len, uint32_t flags,
	struct cnd_sink *sink)
{
	const struct cnd_exec exec = { .format = CENOTE_FORMAT_TEXT };
	const struct cnd_pg_scan scan = { .flags = flags };
	int r;

	if (s->sync.is_missing)
		return cnd_pg_query(s, sql, len, &exec, sink);
	(void)cnd_pg_run_begin(s, sink);
	s->run.is_simple = 1;
	s->run.until_ready = 1;
	r = cnd_pg_add_query(&s->out.buf, 'Q', sql, len);
	if (r < 0)
		return r;
	s->out.n_ready++;
	r = cnd_pg_add_early_reset(s, &scan);
	return r < 0 ? r : cnd_pg_send_run(s);
}

int
cnd_pg_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink)
{
	static const char *const levels[] = { "", " ISOLATION LEVEL READ UNCOMMITTED",
		" ISOLATION LEVEL READ COMMITTED", " ISOLATION LEVEL REPEATABLE READ",
		" ISOLATION LEVEL SERIALIZABLE" };
	char sql[96];
	int n;
	int r = begin_request(s, sink);

	if (r < 0)
		return r;
	if (isolation >= sizeof(levels) / sizeof(levels[0]))
		return cnd_pg_refuse(s, CNC_SQLSTATE(UNSUPPORTED),
			"there is no isolation level %u", (unsigned)isolation);
	if (s->tx != 'I')
		return cnd_pg_refuse(s, CNC_SQLSTATE(TX_ACTIVE),
			"a transaction is open already%s",
			s->tx == 'E' ? ", and has failed: roll it back" : "");
	/* PostgreSQL has no write lock that BEGIN could take. */
	n = snprintf(sql, sizeof(sql), "BEGIN%s%s", levels[isolation],
		flags & CENOTE_BEGIN_READ_ONLY ? " READ ONLY" : "");
	return command(s, sql, (size_t)n, CND_PG_SCAN_TX, sink);
}

int
cnd_pg_commit(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = begin_request(s, sink);

	if (r < 0)
		return r;
	if (s->tx == 'I' && !s->sync.is_missing)
		return cnd_done(sink, "COMMIT", 0);
	/* the server answers COMMIT of a failed transaction with ROLLBACK, as a success */
	if (s->tx == 'E') {
		(void)cnd_pg_run_begin(s, NULL);
		r = cnd_pg_add_query(&s->out.buf, 'Q', "ROLLBACK", 8);
		if (r < 0)
			return r;
		s->out.n_ready++;
		s->run.until_ready = 1;
		r = cnd_pg_send_run(s);
		return r < 0 ? r
			     : cnd_pg_refuse(s, CNC_SQLSTATE(ROLLBACK),
				       "the transaction had failed: it was rolled back, "
				       "not "
				       "committed");
	}
	return command(s, "COMMIT", 6, ENDS, sink);
}

int
cnd_pg_rollback(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = begin_request(s, sink);

	if (r < 0)
		return r;
	if (s->tx == 'I' && !s->sync.is_missing)
		return cnd_done(sink, "ROLLBACK", 0);
	return command(s, "ROLLBACK", 8, ENDS, sink);
}

int
cnd_pg_undo(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_pg_enter(s, ret_diag);
	uint8_t nothing;

	/* outside of a transaction, the server has already undone the statement */
	if (r == CENOTE_OK && s->tx != 'I') {
		(void)cnd_pg_run_begin(s, NULL);
		r = cnd_pg_ask(s, "ROLLBACK", &nothing, 0);
	}
	s->diag = NULL;
	return r == CENOTE_OK && s->tx != 'I' ? CENOTE_ERR_UNSUPPORTED : r;
}

int
cnd_pg_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink)
{
	static const char *const verbs[] = { "SAVEPOINT ", "RELEASE SAVEPOINT ",
		"ROLLBACK TO SAVEPOINT " };
	char sql[32 + 2 * IDENTIFIER_MAX + 3];
	size_t n;
	int r = begin_request(s, sink);

	if (r == CENOTE_OK)
		r = cnd_pg_check_text(s, name, len);
	if (r < 0)
		return r;
	/* The server would truncate a longer name, which might then equal another name. */
	if (len > IDENTIFIER_MAX)
		return cnd_pg_refuse(s, "42622",
			"the name of a savepoint has %u bytes at most in PostgreSQL",
			IDENTIFIER_MAX);
	n = cnd_quote_name(sql, verbs[action], '"', name, len);
	return command(s, sql, n, CND_PG_SCAN_TX, sink);
}

int
cnd_pg_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink)
{
	s->client.is_manual = !on;
	/* the client may carry the former value: tell it the new one */
	s->client.has_carried = 1;
	return cnd_done(sink, on ? "AUTOCOMMIT ON" : "AUTOCOMMIT OFF", 0);
}
