/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session was lost while a request ran: may the request have been committed? In doubt, yes.
 * The client gets 08006 (no) or 08007 (maybe). libcenote judges by the same rules (core/effect.c)
 * when it loses the pool. This file also decides which failed requests surely had no effect. It owns s->loss; request.c,
 * ahead.c and move.c call it.
 */
#include "serving.h"

#include <string.h>

#include "core/effect.h"
#include "core/sql.h"
#include "core/sqlstate.h"

/* Most bytes of an error's fields. */
#define WORDS_MAX 16384u

static uint8_t
effect_of_statement(const struct cnd_serving *s, uint32_t number)
{
	const struct cnd_statement *st = cnd_statement_find(&s->statements, number);

	return st != NULL ? st->effect : (uint8_t)CNC_EFFECT_COMMIT;
}

static uint8_t
effect_of(const struct cnd_serving *s, const struct cnp_msg *m)
{
	switch (m->code) {
	case CNP_MSG_QUERY:
		return cnc_sql_effect(m->as.query.sql.p, m->as.query.sql.n);
	case CNP_MSG_EXECUTE:
		return effect_of_statement(s, m->as.execute.statement);
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
may_commit(const struct cnd_serving *s, const struct cnp_msg *m)
{
	uint8_t effect = effect_of(s, m);

	return effect == CNC_EFFECT_COMMIT ||
	       (effect == CNC_EFFECT_WRITE && s->held.tx == CENOTE_TX_IDLE) ||
	       (effect == CNC_EFFECT_BEGIN && s->held.tx != CENOTE_TX_IDLE);
}

void
cnd_loss_expect(struct cnd_serving *s, const struct cnp_msg *m)
{
	/* only a server with synchronisation points commits earlier requests there */
	if (s->backend->sync != NULL && !s->request.is_sync &&
		!s->loss.may_have_committed)
		s->loss.may_have_committed = may_commit(s, m);
}

void
cnd_loss_expect_ahead(struct cnd_serving *s, const struct cnp_msg *m)
{
	uint8_t effect = effect_of(s, m);

	/* after a request that ends the transaction, the next ones are outside of it */
	if (effect != CNC_EFFECT_NONE &&
		(s->held.tx == CENOTE_TX_IDLE || effect != CNC_EFFECT_WRITE))
		s->loss.ahead_may_commit = true;
}

/* Write the outcome of the request, and then the server's last error. */
static int
put_words(struct cnc_buf *b, const struct cnc_diag *outcome, const struct cnc_diag *said)
{
	static const char letters[] = "SVDHWFLR";
	const char *text = cnc_diag_field(said, 'M');
	int r = cnc_diag_put(b, outcome);

	if (r == CENOTE_OK)
		r = cnc_diag_put_field(b, 'X', said->sqlstate, 5);
	if (r == CENOTE_OK)
		r = cnc_diag_put_field(b, 'Y', text, strlen(text));
	for (const char *l = letters; *l != '\0' && r == CENOTE_OK; l++) {
		text = cnc_diag_field(said, *l);
		if (text != NULL)
			r = cnc_diag_put_field(b, *l, text, strlen(text));
	}
	return r;
}

/* cenoted's own errors have no field V. */
int
cnd_loss_has_words(const struct cnc_diag *diag)
{
	return cnc_diag_field(diag, 'V') != NULL;
}

bool
cnd_loss_is_from_server(const struct cnc_diag *diag)
{
	return diag->native != 0 || cnd_loss_has_words(diag);
}

static void
keep_words(struct cnd_serving *s, const struct cnc_diag *said)
{
	struct cnc_buf fields;

	if (!cnd_loss_has_words(said))
		return;
	cnc_buf_init(&fields, s->host.mem, WORDS_MAX);
	if (put_words(&fields, &s->diag, said) == CENOTE_OK)
		(void)cnc_diag_set_fields(
			&s->diag, cnc_buf_head(&fields), cnc_buf_len(&fields));
	cnc_buf_finish(&fields);
}

/* Whether the request surely had no effect: the backend says that it did not reach the server, and no
 * earlier request waits for its synchronisation point. */
static int
was_refused(
	const struct cnc_diag *said, const struct cnd_serving *s, const struct cnp_msg *m)
{
	return strcmp(said->sqlstate, CNC_SQLSTATE(NOT_CONNECTED)) == 0 &&
	       !cnd_loss_has_words(said) && m->code != CNP_MSG_SYNC &&
	       !s->loss.may_have_committed && !s->loss.ahead_may_commit;
}

/* ---- requests that had no effect ---- */

/* Whether the text is one statement that changes data or tables. The server checks whether it takes writes before such a
 * statement does anything. A procedure or a block may commit something before that check. */
static bool
is_plain_write(struct cnp_str sql)
{
	static const char *const words[] = { "insert", "update", "delete", "replace",
		"merge", "create", "alter", "drop", "truncate", NULL };
	struct cnc_sql x = cnc_sql_begin(sql.p, sql.n, CNC_SQL_ANSI);
	struct cnc_sql_token t = cnc_sql_next(&x);

	while (sql.n > 0 && strchr("; \t\r\n", sql.p[sql.n - 1]) != NULL)
		sql.n--;
	/* only a plain comment may come first: MySQL executes some kinds of comments */
	return sql.n > 0 && cnc_sql_is_one_of(&t, words) &&
	       (x.seen & ~(uint32_t)CNC_SQL_SEEN_COMMENT) == 0 &&
	       memchr(sql.p, ';', sql.n) == NULL;
}

struct cnp_str
cnd_loss_text_of(const struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnd_statement *st;

	if (m->code == CNP_MSG_QUERY)
		return m->as.query.sql;
	if (m->code != CNP_MSG_EXECUTE || m->as.execute.statement == 0)
		return CNP_STR_NONE;
	st = cnd_statement_find(&s->statements, m->as.execute.statement);
	return st != NULL && st->sql != NULL ? (struct cnp_str){ st->sql, st->len }
					     : CNP_STR_NONE;
}

bool
cnd_loss_only_begins(const struct cnd_serving *s, const struct cnp_msg *m)
{
	return m->code == CNP_MSG_BEGIN || effect_of(s, m) == CNC_EFFECT_BEGIN;
}

/* Whether the text only ends a transaction: COMMIT AND CHAIN begins another one. */
bool
cnd_loss_only_ends(struct cnp_str sql)
{
	static const char *const ends[] = { "commit", "end", "rollback", "abort", NULL };
	static const char *const nouns[] = { "work", "transaction", NULL };
	struct cnc_sql x = cnc_sql_begin(sql.p, sql.n, CNC_SQL_ANSI);
	struct cnc_sql_token t = cnc_sql_next(&x);

	if (!cnc_sql_is_one_of(&t, ends))
		return false;
	(void)cnc_sql_take_one_of(&x, nouns);
	(void)cnc_sql_take_char(&x, ';');
	return cnc_sql_next(&x).kind == CNC_SQL_END;
}

bool
cnd_loss_may_write(const struct cnd_serving *s, const struct cnp_msg *m)
{
	if (m->code == CNP_MSG_COMMIT || m->code == CNP_MSG_SAVEPOINT)
		return false;
	return effect_of(s, m) != CNC_EFFECT_NONE && !cnd_loss_only_begins(s, m) &&
	       !(m->code == CNP_MSG_QUERY && cnd_loss_only_ends(m->as.query.sql));
}

bool
cnd_loss_left_no_transaction(
	const struct cnd_serving *s, uint8_t tx, const struct cnp_msg *m)
{
	if (m->code == CNP_MSG_COMMIT || m->code == CNP_MSG_ROLLBACK)
		return !s->held.is_manual;
	if (m->code != CNP_MSG_QUERY || s->held.is_manual)
		return false;
	/* a server with synchronisation points answers a single write once it is committed */
	return cnd_loss_only_ends(m->as.query.sql) ||
	       (tx == CENOTE_TX_IDLE && s->backend->sync != NULL &&
		       m->as.query.params.n == 0 && is_plain_write(m->as.query.sql));
}

bool
cnd_loss_had_no_effect(
	const struct cnd_serving *s, const struct cnp_request *req, int status)
{
	const struct cnp_msg *m = &req->msg;

	/* requests behind it in the server's queue may have succeeded */
	if (s->loss.may_have_committed || s->ahead.n > 0 || s->ahead.last != req->number)
		return false;
	if (status == CENOTE_ERR_CONN)
		return was_refused(&s->diag, s, m) ||
		       (cnd_loss_only_begins(s, m) && s->held.tx == CENOTE_TX_IDLE);
	return cnd_loss_only_begins(s, m) || is_plain_write(cnd_loss_text_of(s, m));
}

void
cnd_loss_explain(struct cnd_serving *s, const struct cnp_msg *m)
{
	int is_unknown = may_commit(s, m);
	struct cnc_diag said;

	if ((s->request.is_sync || m->code == CNP_MSG_SYNC) && s->loss.may_have_committed)
		is_unknown = 1;
	if (s->loss.ahead_may_commit)
		is_unknown = 1;
	cnc_diag_init(&said, s->host.mem);
	cnc_diag_copy(&said, &s->diag);
	if (was_refused(&said, s, m))
		cnc_diag_set(&s->diag, CNC_SQLSTATE(CONNECTION_LOST), "%s", said.message);
	else if (is_unknown)
		cnc_diag_set(&s->diag, CNC_SQLSTATE(OUTCOME_UNKNOWN),
			"the session was lost in %s, whose outcome is unknown: %s",
			cnp_msg_name(m->code), said.message);
	else if (strncmp(said.sqlstate, "08", 2) != 0 ||
		 strcmp(said.sqlstate, CNC_SQLSTATE(OUTCOME_UNKNOWN)) == 0)
		cnc_diag_set(&s->diag, CNC_SQLSTATE(CONNECTION_LOST),
			"the session was lost in %s: %s (SQLSTATE %s)",
			cnp_msg_name(m->code), said.message, said.sqlstate);
	s->diag.native = said.native;
	keep_words(s, &said);
	cnc_diag_finish(&said);
}
