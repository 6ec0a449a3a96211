/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transactions, savepoints and autocommit, by SQL. The server keeps the state of the transaction, and
 * each answer reports it.
 */
#include <stdio.h>
#include <string.h>

#include "../common/text.h"
#include "my.h"

#define NAME_MAX_CHARS 64u /* the server's limit for a name */

static int
in_tx(const struct cnd_session *s)
{
	return (cnd_my_status(s->my) & SERVER_STATUS_IN_TRANS) != 0;
}

static int
run_and_answer(
	struct cnd_session *s, const char *sql, const char *tag, struct cnd_sink *sink)
{
	int r = cnd_my_run(s, sql, strlen(sql));

	s->trace.is_moved = 0;
	return r < 0 ? r : cnd_my_answer_done(s, tag, sink);
}

/* SET TRANSACTION applies to the next transaction only, so it comes just before. */
static int
set_isolation(struct cnd_session *s, uint8_t isolation)
{
	static const char *const levels[] = { "READ UNCOMMITTED", "READ COMMITTED",
		"REPEATABLE READ", "SERIALIZABLE" };
	char sql[80];
	int n, r;

	if (isolation == CENOTE_ISOLATION_DEFAULT)
		return CENOTE_OK;
	n = snprintf(sql, sizeof(sql), "SET TRANSACTION ISOLATION LEVEL %s",
		levels[isolation - 1]);
	r = cnd_my_run(s, sql, (size_t)n);
	s->trace.n_sets += r == CENOTE_OK;
	return r;
}

int
cnd_my_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink)
{
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	/* IMMEDIATE: this server has no lock on the whole database */
	if (isolation > CENOTE_ISOLATION_SERIALIZABLE ||
		flags & ~(uint32_t)(CENOTE_BEGIN_READ_ONLY | CENOTE_BEGIN_IMMEDIATE))
		return CENOTE_ERR_UNSUPPORTED;
	/* the server would commit the open transaction */
	if (in_tx(s))
		return cnd_refuse(s->diag, CNC_SQLSTATE(TX_ACTIVE), NULL,
			"cannot start a transaction within a transaction");
	r = set_isolation(s, isolation);
	if (r < 0)
		return r;
	return run_and_answer(s,
		flags & CENOTE_BEGIN_READ_ONLY ? "START TRANSACTION READ ONLY"
					       : "START TRANSACTION",
		"BEGIN", sink);
}

int
cnd_my_commit(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_my_enter(s, sink->diag, sink);

	return r < 0 ? r : run_and_answer(s, "COMMIT", "COMMIT", sink);
}

int
cnd_my_rollback(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_my_enter(s, sink->diag, sink);

	return r < 0 ? r : run_and_answer(s, "ROLLBACK", "ROLLBACK", sink);
}

/* ---- undoing a transaction that has failed ---- */

/* What SHOW WARNINGS lists for the statement that failed. */
struct seen {
	bool has_error;
	bool is_incomplete; /* a table without transactions was changed */
};

static int
take_warning(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct seen *seen = user;

	(void)lengths;
	if (n < 2 || !row[0] || !row[1])
		return CENOTE_OK;
	seen->has_error = seen->has_error || strcmp(row[0], "Error") == 0;
	/* ER_WARNING_NOT_COMPLETE_ROLLBACK */
	seen->is_incomplete = seen->is_incomplete || strcmp(row[1], "1196") == 0;
	return CENOTE_OK;
}

/*
 * A rollback does not undo changes of tables without transactions (MyISAM, Aria). The server then adds a warning to the error of a
 * deadlock, and to the answer to ROLLBACK. If SHOW WARNINGS does not list the error itself, the server keeps no warnings
 * (max_error_count), so nothing confirms the rollback.
 */
int
cnd_my_undo(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	static const char ask[] = "SHOW WARNINGS";
	struct seen seen = { false, false };
	int r = cnd_my_enter(s, ret_diag, NULL);

	if (r == CENOTE_OK)
		r = cnd_my_each(s, ask, sizeof(ask) - 1, take_warning, &seen);
	if (r == CENOTE_OK && (!seen.has_error || seen.is_incomplete))
		r = CENOTE_ERR_UNSUPPORTED;
	if (r == CENOTE_OK && in_tx(s)) {
		r = cnd_my_run(s, "ROLLBACK", sizeof("ROLLBACK") - 1);
		if (r == CENOTE_OK && (in_tx(s) || mysql_warning_count(s->my) > 0))
			r = CENOTE_ERR_UNSUPPORTED;
	}
	return r;
}

int
cnd_my_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink)
{
	static const char *const verbs[] = { "SAVEPOINT ", "RELEASE SAVEPOINT ",
		"ROLLBACK TO SAVEPOINT " };
	char sql[32 + 2 * 4 * NAME_MAX_CHARS];
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (len == 0 || len > (size_t)4 * NAME_MAX_CHARS || memchr(name, 0, len))
		return cnd_refuse(s->diag, CNC_SQLSTATE(NO_SAVEPOINT), NULL,
			"a savepoint's name has 1 to %u characters, and no zero byte",
			NAME_MAX_CHARS);
	(void)cnd_quote_name(sql, verbs[action], '`', name, len);
	return run_and_answer(s, sql, cnd_savepoint_tag(action), sink);
}

int
cnd_my_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink)
{
	int r = cnd_my_enter(s, sink->diag, sink);
	int is_on = (cnd_my_status(s->my) & SERVER_STATUS_AUTOCOMMIT) != 0;
	struct cnd_my_trace before;

	if (r < 0)
		return r;
	s->trace.is_autocommit_off = !on;
	if (is_on == !!on)
		return cnd_my_answer_done(s, "SET", sink);
	before = s->trace;
	r = run_and_answer(
		s, on ? "SET autocommit = 1" : "SET autocommit = 0", "SET", sink);
	s->trace.n_sets += r >= 0;
	/* autocommit needs no pin: the client sets it again on another session. But what it carries may have the old
	 * value. */
	s->trace.pins = before.pins;
	if (cnc_buf_len(&s->carry) == CND_MY_CARRY_LEN)
		s->trace.variables = before.variables;
	return r;
}
