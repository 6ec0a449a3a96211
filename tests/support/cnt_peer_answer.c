/* SPDX-License-Identifier: BSD-2-Clause */
#include "cnt_peer_answer.h"

#include <stdio.h>
#include <stdlib.h>

/* What requests do. */

void
cnt_peer_finish(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_str carry = { "", 0 };
	char text[32];

	if (c->wants_carry) {
		carry.p = text;
		carry.n = (size_t)snprintf(text, sizeof(text), "carry%u", p->n_carry);
		c->wants_carry = 0;
	}
	(void)cnp_server_finish_request(&c->server, c->tx, c->pins, &carry);
}

void
cnt_peer_yield(struct cnt_peer *p, struct cnt_peer_conn *c, uint8_t reason)
{
	struct cnp_str carry;
	char text[32];

	carry.p = text;
	carry.n = (size_t)snprintf(text, sizeof(text), "yield%u", p->n_carry);
	if (p->knobs.lends && cnp_server_can_lend(&c->server)) {
		(void)cnp_server_yield(&c->server, CNP_YIELD_LEND, &carry);
		cnt_peer_lend(p, c);
		return;
	}
	if (p->knobs.lets_stay && cnp_server_can_stay(&c->server)) {
		(void)cnp_server_yield(&c->server, CNP_YIELD_STAY, &carry);
		c->is_parking = 1;
		return;
	}
	(void)cnp_server_yield(&c->server, reason, &carry);
	c->has_end = 1;
}

static void
yield_if_wanted(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	if (!c->wants_yield || !cnp_server_can_yield(&c->server))
		return;
	c->wants_yield = 0;
	cnt_peer_yield(p, c, CNP_YIELD_CONTENDED);
}

/* Finish a statement that has run, and the connection if the statement asks for that. */
static void
after_sql(struct cnt_peer *p, struct cnt_peer_conn *c, const char *sql)
{
	cnt_peer_finish(p, c);
	if (cnt_peer_is_verb(sql, "yield"))
		c->wants_yield = 1;
	if (cnt_peer_is_verb(sql, "last"))
		c->has_end = 1;
}

/* Find the statement or portal of a name. The peer keeps only one. */
static struct cnt_peer_stmt *
find_named(struct cnt_peer_conn *c, struct cnp_str name)
{
	return name.n > 0 && c->named.sql[0] != '\0' ? &c->named : NULL;
}

static struct cnt_peer_stmt *
find_stmt(struct cnt_peer_conn *c, uint32_t id)
{
	for (size_t i = 0; i < CNT_PEER_STMTS; i++) {
		if (c->stmts[i].id == id)
			return &c->stmts[i];
	}
	return NULL;
}

static void
do_describe(struct cnt_peer_conn *c, const struct cnt_peer_stmt *s)
{
	const struct cnp_param param = { CENOTE_TYPE_INT64, 20, { ":a", 2 } };

	(void)cnp_server_params(&c->server, &param, cnt_peer_is_verb(s->sql, "params"));
	if (cnt_peer_is_verb(s->sql, "rows") || cnt_peer_is_verb(s->sql, "params"))
		cnt_peer_put_columns(c);
	cnt_peer_done(c, "", -1, 0);
}

static void
do_prepare(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_prepare *m)
{
	struct cnt_peer_stmt *s = find_stmt(c, m->statement);

	p->seen.n_prepares++;
	if (m->name.n > 0 || m->types.n > 0)
		cnt_peer_add_text(p->seen.asked, sizeof(p->seen.asked),
			"PREPARE %u %s %u;", m->statement, m->name.p,
			(unsigned)m->types.n);
	if (p->knobs.fail_prepare) {
		cnt_peer_error(c, "42P01", "no such table");
		return;
	}
	s = s ? s : find_stmt(c, 0);
	if (m->statement == 0)
		s = &c->named;
	if (!s)
		abort();
	s->id = m->statement;
	(void)snprintf(s->sql, sizeof(s->sql), "%s", m->sql.p);
	do_describe(c, s);
}

static int
do_execute(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_request *req)
{
	const struct cnp_execute *m = &req->msg.as.execute;
	struct cnt_peer_stmt *s =
		m->statement != 0 ? find_stmt(c, m->statement) : find_named(c, m->name);
	const struct cnt_peer_run r = { s ? s->sql : "", req->number, m->batch_rows,
		m->max_rows, m->known, m->params };

	if (m->statement == 0 || m->formats.n > 0)
		cnt_peer_add_text(p->seen.asked, sizeof(p->seen.asked), "EXECUTE %s %u;",
			m->name.p, (unsigned)m->formats.n);
	if (!s) {
		cnt_peer_error(c, "26000", "no such statement");
		return 1;
	}
	return cnt_peer_run_sql(p, c, &r);
}

static void
do_fetch(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_fetch *m)
{
	unsigned end = c->portal_at + m->batch_rows;
	int has_more = end < c->portal_end;

	if (c->portal == 0 || m->portal != c->portal) {
		cnt_peer_error(c, "34000", "no such portal");
		return;
	}
	if (p->knobs.n_fetch_columns > 0)
		c->n_columns = p->knobs.n_fetch_columns;
	if (m->columns || p->knobs.n_fetch_columns > 0)
		cnt_peer_put_columns(c);
	if (!has_more)
		end = c->portal_end;
	cnt_peer_put_rows(c, c->portal_at, end);
	c->portal_at = end;
	if (!has_more) {
		c->portal = 0;
		c->pins &= ~(uint32_t)CENOTE_PIN_CURSOR;
	}
	cnt_peer_done(c, "SELECT", -1, has_more ? CNP_DONE_MORE_ROWS : 0);
}

static void
do_suspend(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_msg m = cnt_peer_message(CNP_MSG_SUSPENDED);

	p->suspended_session = c->session;
	p->suspended_portal = c->portal;
	p->suspended_at = c->portal_at;
	p->suspended_end = c->portal_end;
	m.as.suspended.session = c->session;
	m.as.suspended.key = CNT_PEER_KEY;
	(void)cnp_server_reply(&c->server, &m, 0);
	c->has_end = 1;
}

/* Requests that are not statements. */
static void
do_other(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_request *req)
{
	struct cnt_peer_stmt *s;

	switch (req->msg.code) {
	case CNP_MSG_PREPARE:
		do_prepare(p, c, &req->msg.as.prepare);
		return;
	case CNP_MSG_DESCRIBE:
		s = req->msg.as.describe.statement != 0
			    ? find_stmt(c, req->msg.as.describe.statement)
			    : find_named(c, req->msg.as.describe.name);
		if (req->msg.as.describe.name.n > 0)
			cnt_peer_add_text(p->seen.asked, sizeof(p->seen.asked),
				"DESCRIBE %u %s;", req->msg.as.describe.kind,
				req->msg.as.describe.name.p);
		if (s)
			do_describe(c, s);
		else
			cnt_peer_error(c, "26000", "no such statement");
		return;
	case CNP_MSG_CLOSE:
		s = find_stmt(c, req->msg.as.close.statement);
		if (req->msg.as.close.name.n > 0)
			cnt_peer_add_text(p->seen.asked, sizeof(p->seen.asked),
				"CLOSE %u %s;", req->msg.as.close.kind,
				req->msg.as.close.name.p);
		else if (s)
			s->id = 0;
		p->seen.n_closes++;
		break;
	case CNP_MSG_CLOSE_PORTAL:
		c->portal = 0;
		c->pins &= ~(uint32_t)CENOTE_PIN_CURSOR;
		p->seen.n_portals_closed++;
		break;
	case CNP_MSG_FETCH:
		do_fetch(p, c, &req->msg.as.fetch);
		return;
	case CNP_MSG_BEGIN:
		c->tx = CENOTE_TX_OPEN;
		break;
	case CNP_MSG_COMMIT:
	case CNP_MSG_ROLLBACK:
	case CNP_MSG_RESET:
		c->tx = CENOTE_TX_IDLE;
		break;
	case CNP_MSG_AUTOCOMMIT:
		p->seen.autocommit_off = !req->msg.as.autocommit.on;
		break;
	case CNP_MSG_CATALOG:
		cnt_peer_put_columns(c);
		cnt_peer_put_rows(c, 0, req->msg.as.catalog.kind);
		break;
	case CNP_MSG_SUSPEND:
		do_suspend(p, c);
		return;
	case CNP_MSG_SYNC:
		if (p->knobs.fail_sync)
			cnt_peer_error(c, "23503", "the commit failed");
		return;
	case CNP_MSG_FUNCTION:
		cnt_peer_add_text(p->seen.asked, sizeof(p->seen.asked), "FUNCTION %u;",
			req->msg.as.function.function);
		cnt_peer_put_big(c, req->msg.as.function.function);
		return;
	case CNP_MSG_LONG_DATA:
		p->seen.n_long += req->msg.as.long_data.data.n;
		break;
	case CNP_MSG_SET_OPTION:
		cnt_peer_add_text(p->seen.options, sizeof(p->seen.options), "%s=%s;",
			req->msg.as.set_option.name.p, req->msg.as.set_option.value.p);
		if (strcmp(req->msg.as.set_option.name.p, "bad") == 0) {
			cnt_peer_error(c, "22023", "no such option");
			return;
		}
		break;
	case CNP_MSG_CHANGE_USER:
		cnt_peer_add_text(p->seen.asked, sizeof(p->seen.asked),
			"CHANGE_USER %s %s %s;", req->msg.as.change_user.user.p,
			req->msg.as.change_user.password.p,
			req->msg.as.change_user.database.p);
		break;
	case CNP_MSG_SELECT_DATABASE:
		cnt_peer_add_text(p->seen.asked, sizeof(p->seen.asked),
			"SELECT_DATABASE %s;", req->msg.as.select_database.database.p);
		break;
	default:
		break;
	}
	cnt_peer_done(c, cnp_msg_name(req->msg.code), -1, 0);
}

void
cnt_peer_do_request(
	struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_request *req)
{
	const struct cnp_query *q = &req->msg.as.query;
	const struct cnt_peer_run r = { q->sql.p, req->number, q->batch_rows, q->max_rows,
		0, q->params };
	char sql[64] = "";

	p->seen.n_requests++;
	if (p->knobs.die_on == req->msg.code) {
		c->has_end = 1;
		return;
	}
	if (req->msg.code == CNP_MSG_QUERY) {
		(void)snprintf(sql, sizeof(sql), "%s", q->sql.p);
		if (cnt_peer_run_sql(p, c, &r))
			after_sql(p, c, sql);
	} else if (req->msg.code == CNP_MSG_EXECUTE) {
		struct cnt_peer_stmt *s = find_stmt(c, req->msg.as.execute.statement);

		if (do_execute(p, c, req))
			after_sql(p, c, s ? s->sql : "");
	} else {
		do_other(p, c, req);
		cnt_peer_finish(p, c);
	}
	yield_if_wanted(p, c);
}
