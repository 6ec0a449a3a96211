/* SPDX-License-Identifier: BSD-2-Clause */
#include "cnt_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/sqlstate.h"
#include "core/value.h"

#define KEY 0xfeedbeefcafe1234u

static const struct cnp_column columns[] = {
	{ .name = { "n", 1 },
		.org_name = { "n", 1 },
		.table = { "t", 1 },
		.org_table = { "t", 1 },
		.schema = { "main", 4 },
		.catalog = { "", 0 },
		.type_name = { "INTEGER", 7 },
		.type = CENOTE_TYPE_INT64,
		.nullable = 0,
		.native_type = 20,
		.modifier = -1,
		.length = 8,
		.precision = 19,
		.scale = 0,
		.table_id = 5,
		.attnum = 1 },
	{ .name = { "Text", 4 },
		.org_name = { "", 0 },
		.table = { "", 0 },
		.org_table = { "", 0 },
		.schema = { "", 0 },
		.catalog = { "", 0 },
		.type_name = { "TEXT", 4 },
		.type = CENOTE_TYPE_TEXT,
		.nullable = 2,
		.modifier = -1,
		.length = -1,
		.precision = -1,
		.scale = -1 },
	{ .name = { "z", 1 },
		.org_name = { "", 0 },
		.table = { "", 0 },
		.org_table = { "", 0 },
		.schema = { "", 0 },
		.catalog = { "", 0 },
		.type_name = { "", 0 },
		.type = CENOTE_TYPE_NULL,
		.nullable = 1,
		.modifier = -1,
		.length = -1,
		.precision = -1,
		.scale = -1 },
};

/* The values that conversions are tested with, one row. */
static const char *const typed_values[] = { "-42", "18446744073709551615", "1.5",
	"2024-02-29", "23:59:58.5+02:00", "2024-02-29 01:02:03", "nonsense" };
#define N_TYPED (sizeof(typed_values) / sizeof(typed_values[0]))

static struct cnp_msg
message(uint8_t code)
{
	struct cnp_msg m;

	memset(&m, 0, sizeof(m));
	m.code = code;
	return m;
}

static void
finish(struct cnt_peer *p, struct cnt_peer_conn *c)
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

static void
yield(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_str carry;
	char text[32];

	carry.p = text;
	carry.n = (size_t)snprintf(text, sizeof(text), "yield%u", p->n_carry);
	(void)cnp_server_yield(&c->server, CNP_YIELD_CONTENDED, &carry);
	c->has_end = 1;
}

static void
yield_if_wanted(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	if (!c->wants_yield || !cnp_server_can_yield(&c->server))
		return;
	c->wants_yield = 0;
	yield(p, c);
}

static void
done(struct cnt_peer_conn *c, const char *tag, int64_t affected, uint8_t flags)
{
	struct cnp_msg m = message(CNP_MSG_DONE);

	m.as.done.tag = cnp_str(tag);
	m.as.done.affected = affected;
	m.as.done.last_insert_id = affected == 1 ? 7 : 0;
	m.as.done.warnings = affected == 1 ? 2 : 0;
	m.as.done.flags = flags;
	(void)cnp_server_reply(&c->server, &m, 0);
}

static void
error(struct cnt_peer_conn *c, const char *sqlstate, const char *text)
{
	struct cnc_diag d;

	cnc_diag_init(&d, NULL);
	cnc_diag_set(&d, sqlstate, "%s", text);
	d.native = 17;
	(void)cnp_server_error(&c->server, &d);
}

/* Rows from..to-1, in frames of at most 100. */
static void
put_rows(struct cnt_peer_conn *c, unsigned from, unsigned to)
{
	struct cnc_batch w;
	char n[32], text[32];

	for (unsigned i = from; i < to; i++) {
		if ((i - from) % 100 == 0 &&
			cnp_server_rows_begin(&c->server, &w, c->n_columns) < 0)
			abort();
		(void)cnc_batch_row(&w);
		(void)cnc_batch_put(&w, n, (size_t)snprintf(n, sizeof(n), "%u", i));
		(void)cnc_batch_put(
			&w, text, (size_t)snprintf(text, sizeof(text), "row %u", i));
		if (c->n_columns == 3)
			(void)cnc_batch_null(&w);
		cnc_batch_row_done(&w);
		if ((i - from) % 100 == 99 || i + 1 == to)
			(void)cnp_server_rows_end(&c->server, &w);
	}
}

static void
put_big(struct cnt_peer_conn *c, size_t n)
{
	struct cnc_batch w;
	char *room;

	(void)cnp_server_columns(&c->server, columns + 1, 1);
	(void)cnp_server_rows_begin(&c->server, &w, 1);
	(void)cnc_batch_row(&w);
	if (cnc_batch_room(&w, n, &room) < 0)
		abort();
	memset(room, 'x', n);
	cnc_batch_room_done(&w, n);
	cnc_batch_row_done(&w);
	(void)cnp_server_rows_end(&c->server, &w);
	done(c, "SELECT 1", -1, 0);
}

static void
put_typed(struct cnt_peer_conn *c)
{
	struct cnp_column typed[N_TYPED];
	struct cnc_batch w;

	for (size_t i = 0; i < N_TYPED; i++)
		typed[i] = columns[1];
	(void)cnp_server_columns(&c->server, typed, N_TYPED);
	(void)cnp_server_rows_begin(&c->server, &w, N_TYPED);
	(void)cnc_batch_row(&w);
	for (size_t i = 0; i < N_TYPED; i++)
		(void)cnc_batch_put(&w, typed_values[i], strlen(typed_values[i]));
	cnc_batch_row_done(&w);
	(void)cnp_server_rows_end(&c->server, &w);
	done(c, "SELECT 1", -1, 0);
}

static void
put_param(struct cnc_batch *w, const struct cnc_value *v)
{
	char text[CNC_VALUE_TEXT_MAX];

	(void)cnc_batch_row(w);
	(void)cnc_batch_put(w, text, (size_t)snprintf(text, sizeof(text), "%u", v->type));
	if (v->is_null)
		(void)cnc_batch_null(w);
	else if (v->is_native || v->type == CENOTE_TYPE_TEXT ||
		 v->type == CENOTE_TYPE_BYTES || v->type == CENOTE_TYPE_DECIMAL)
		(void)cnc_batch_put(w, v->bytes, v->len);
	else
		(void)cnc_batch_put(w, text, cnc_value_text(v, text));
	(void)cnc_batch_null(w);
	cnc_batch_row_done(w);
}

static void
put_params(struct cnt_peer_conn *c, struct cnp_str blob)
{
	struct cnc_arena arena;
	struct cnc_value *values;
	struct cnc_batch w;
	uint32_t n = 0;

	cnc_arena_init(&arena, &cnc_mem_default);
	if (cnp_values_decode(blob, &arena, &values, &n) < 0) {
		error(c, "22023", "bad parameters");
	} else {
		(void)cnp_server_columns(&c->server, columns, 3);
		(void)cnp_server_rows_begin(&c->server, &w, 3);
		for (uint32_t i = 0; i < n; i++)
			put_param(&w, &values[i]);
		(void)cnp_server_rows_end(&c->server, &w);
		done(c, "SELECT", -1, 0);
	}
	cnc_arena_finish(&arena);
}

/* How a statement is run. */
struct run {
	const char *sql;
	uint32_t number;
	uint32_t batch_rows;
	uint64_t max_rows;
	int known;
	struct cnp_str params;
};

static void
run_rows(struct cnt_peer_conn *c, const struct run *r, unsigned n)
{
	uint8_t flags = 0;
	unsigned end = n;
	char tag[32];

	if (r->max_rows > 0 && r->max_rows < n) {
		end = (unsigned)r->max_rows;
		flags = CNP_DONE_LIMITED;
	}
	if (!r->known)
		(void)cnp_server_columns(&c->server, columns, c->n_columns);
	if (r->batch_rows > 0 && r->batch_rows < end) {
		c->portal = r->number;
		c->portal_at = r->batch_rows;
		c->portal_end = end;
		c->pins |= CENOTE_PIN_CURSOR;
		end = r->batch_rows;
		flags = CNP_DONE_MORE_ROWS;
	}
	put_rows(c, 0, end);
	(void)snprintf(tag, sizeof(tag), "SELECT %u", n);
	done(c, tag, -1, flags);
}

static void
run_command(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	p->n_carry++;
	c->wants_carry = 1;
	done(c, "INSERT 1", 1, 0);
}

static void
run_two(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	(void)cnp_server_columns(&c->server, columns, c->n_columns);
	put_rows(c, 0, 2);
	done(c, "SELECT 2", -1, CNP_DONE_MORE_RESULTS);
	run_command(p, c);
}

static void
run_notice(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnc_diag d;

	cnc_diag_init(&d, NULL);
	cnc_diag_set(&d, "01000", "mind the gap");
	(void)cnp_server_notice(&c->server, &d);
	run_command(p, c);
}

__attribute__((format(printf, 3, 4))) static void
add_text(char *to, size_t size, const char *format, ...)
{
	size_t n = strlen(to);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(to + n, size - n, format, args);
	va_end(args);
}

static void
say_of_its_own(struct cnt_peer_conn *c, const char *channel)
{
	struct cnp_msg m = message(CNP_MSG_NOTIFICATION);

	m.as.notification.pid = 7;
	m.as.notification.channel = cnp_str(channel);
	m.as.notification.payload = cnp_str("payload");
	(void)cnp_server_reply(&c->server, &m, 1);
	m = message(CNP_MSG_PARAMETER);
	m.as.parameter.name = cnp_str("said");
	m.as.parameter.value = cnp_str(channel);
	(void)cnp_server_reply(&c->server, &m, 1);
}

static void
run_empty(struct cnt_peer_conn *c)
{
	struct cnp_msg m = message(CNP_MSG_DONE);

	m.as.done.affected = -1;
	m.as.done.flags = CNP_DONE_EMPTY;
	m.as.done.server_status = 0x22;
	(void)cnp_server_reply(&c->server, &m, 0);
}

static void
begin_copy_in(struct cnt_peer_conn *c, const char *file, size_t enough)
{
	struct cnp_msg m = message(CNP_MSG_COPY_IN);

	m.as.copy_in.formats.p = "\0\2";
	m.as.copy_in.formats.n = 2;
	m.as.copy_in.name = cnp_str(file);
	(void)cnp_server_reply(&c->server, &m, 0);
	c->is_copying = 1;
	c->copy_left = enough;
}

static void
put_copy(struct cnt_peer_conn *c, unsigned n, int has_end)
{
	struct cnp_msg m = message(CNP_MSG_COPY_OUT);
	char text[32];

	m.as.copy_out.format = CENOTE_FORMAT_BINARY;
	m.as.copy_out.formats.p = "\2";
	m.as.copy_out.formats.n = 1;
	(void)cnp_server_reply(&c->server, &m, 0);
	m.code = CNP_MSG_COPY_DATA;
	for (unsigned i = 0; i < n; i++) {
		m.as.copy_data.data.p = text;
		m.as.copy_data.data.n = (size_t)snprintf(text, sizeof(text), "%u\n", i);
		(void)cnp_server_reply(&c->server, &m, 0);
	}
	if (!has_end)
		return;
	m = message(CNP_MSG_COPY_DONE);
	(void)cnp_server_reply(&c->server, &m, 0);
	done(c, "COPY", n, 0);
}

static unsigned
number_behind(const char *sql)
{
	const char *blank = strchr(sql, ' ');

	return blank ? (unsigned)strtoul(blank, NULL, 10) : 0;
}

static int
is_verb(const char *sql, const char *verb)
{
	size_t n = strlen(verb);

	return strncmp(sql, verb, n) == 0 && (sql[n] == ' ' || sql[n] == '\0');
}

/* 1: the request is finished; 0: it is not to be. */
static int
run_sql(struct cnt_peer *p, struct cnt_peer_conn *c, const struct run *r)
{
	const char *sql = r->sql;
	size_t n = strlen(p->seen.commands);

	(void)snprintf(p->seen.commands + n, sizeof(p->seen.commands) - n, "%s;", sql);
	if (is_verb(sql, "rows") || is_verb(sql, "select")) {
		run_rows(c, r, is_verb(sql, "rows") ? number_behind(sql) : 1);
	} else if (is_verb(sql, "rows_fail") || is_verb(sql, "rows_die")) {
		if (!r->known)
			(void)cnp_server_columns(&c->server, columns, c->n_columns);
		put_rows(c, 0, number_behind(sql));
		if (is_verb(sql, "rows_die")) {
			c->has_end = 1;
			return 0;
		}
		error(c, "22012", "division by zero");
	} else if (is_verb(sql, "big")) {
		put_big(c, number_behind(sql));
	} else if (is_verb(sql, "values")) {
		put_typed(c);
	} else if (is_verb(sql, "params")) {
		put_params(c, r->params);
	} else if (is_verb(sql, "two")) {
		run_two(p, c);
	} else if (is_verb(sql, "fail")) {
		error(c, strlen(sql) > 5 ? sql + 5 : "42601", "it failed");
	} else if (is_verb(sql, "notice")) {
		run_notice(p, c);
	} else if (is_verb(sql, "pin")) {
		c->pins = number_behind(sql);
		run_command(p, c);
	} else if (is_verb(sql, "copy_in") || is_verb(sql, "copy_twice")) {
		begin_copy_in(c, "", SIZE_MAX);
		if (is_verb(sql, "copy_in"))
			return 0;
		done(c, "COPY", 0, CNP_DONE_MORE_RESULTS);
		begin_copy_in(c, "", SIZE_MAX);
		return 0;
	} else if (is_verb(sql, "copy_early")) {
		begin_copy_in(c, "", number_behind(sql));
		return 0;
	} else if (is_verb(sql, "file")) {
		begin_copy_in(c, sql + 5, SIZE_MAX);
		return 0;
	} else if (is_verb(sql, "copy_out")) {
		put_copy(c, number_behind(sql), 1);
	} else if (is_verb(sql, "copy_die")) {
		put_copy(c, 1, 0);
		c->has_end = 1;
		return 0;
	} else if (is_verb(sql, "notify")) {
		say_of_its_own(c, "chan");
		run_command(p, c);
	} else if (is_verb(sql, "form")) {
		done(c, r->params.n == 0 ? "simple" : "extended", -1, 0);
	} else if (is_verb(sql, "empty")) {
		run_empty(c);
	} else if (is_verb(sql, "die")) {
		c->has_end = 1;
		return 0;
	} else if (is_verb(sql, "hang")) {
		c->is_hanging = 1;
		return 0;
	} else {
		run_command(p, c);
	}
	return 1;
}

/* A statement was run: finish it, and the connection where the statement says so. */
static void
after_sql(struct cnt_peer *p, struct cnt_peer_conn *c, const char *sql)
{
	finish(p, c);
	if (is_verb(sql, "yield"))
		c->wants_yield = 1;
	if (is_verb(sql, "last"))
		c->has_end = 1;
}

/* What the server knows by a name: there is one. */
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

	(void)cnp_server_params(&c->server, &param, is_verb(s->sql, "params"));
	if (is_verb(s->sql, "rows") || is_verb(s->sql, "params"))
		(void)cnp_server_columns(&c->server, columns, c->n_columns);
	done(c, "", -1, 0);
}

static void
do_prepare(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_prepare *m)
{
	struct cnt_peer_stmt *s = find_stmt(c, m->statement);

	p->seen.n_prepares++;
	if (m->name.n > 0 || m->types.n > 0)
		add_text(p->seen.asked, sizeof(p->seen.asked), "PREPARE %u %s %u;",
			m->statement, m->name.p, (unsigned)m->types.n);
	if (p->knobs.fail_prepare) {
		error(c, "42P01", "no such table");
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
	const struct run r = { s ? s->sql : "", req->number, m->batch_rows, m->max_rows,
		m->known, m->params };

	if (m->statement == 0 || m->formats.n > 0)
		add_text(p->seen.asked, sizeof(p->seen.asked), "EXECUTE %s %u;",
			m->name.p, (unsigned)m->formats.n);
	if (!s) {
		error(c, "26000", "no such statement");
		return 1;
	}
	return run_sql(p, c, &r);
}

static void
do_fetch(struct cnt_peer_conn *c, const struct cnp_fetch *m)
{
	unsigned end = c->portal_at + m->batch_rows;
	int has_more = end < c->portal_end;

	if (c->portal == 0 || m->portal != c->portal) {
		error(c, "34000", "no such portal");
		return;
	}
	if (m->columns)
		(void)cnp_server_columns(&c->server, columns, c->n_columns);
	if (!has_more)
		end = c->portal_end;
	put_rows(c, c->portal_at, end);
	c->portal_at = end;
	if (!has_more) {
		c->portal = 0;
		c->pins &= ~(uint32_t)CENOTE_PIN_CURSOR;
	}
	done(c, "SELECT", -1, has_more ? CNP_DONE_MORE_ROWS : 0);
}

static void
do_suspend(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_msg m = message(CNP_MSG_SUSPENDED);

	p->suspended_session = c->session;
	p->suspended_portal = c->portal;
	p->suspended_at = c->portal_at;
	p->suspended_end = c->portal_end;
	m.as.suspended.session = c->session;
	m.as.suspended.key = KEY;
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
			add_text(p->seen.asked, sizeof(p->seen.asked), "DESCRIBE %u %s;",
				req->msg.as.describe.kind, req->msg.as.describe.name.p);
		if (s)
			do_describe(c, s);
		else
			error(c, "26000", "no such statement");
		return;
	case CNP_MSG_CLOSE:
		s = find_stmt(c, req->msg.as.close.statement);
		if (req->msg.as.close.name.n > 0)
			add_text(p->seen.asked, sizeof(p->seen.asked), "CLOSE %u %s;",
				req->msg.as.close.kind, req->msg.as.close.name.p);
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
		do_fetch(c, &req->msg.as.fetch);
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
		(void)cnp_server_columns(&c->server, columns, c->n_columns);
		put_rows(c, 0, req->msg.as.catalog.kind);
		break;
	case CNP_MSG_SUSPEND:
		do_suspend(p, c);
		return;
	case CNP_MSG_SYNC:
		if (p->knobs.fail_sync)
			error(c, "23503", "the commit failed");
		return;
	case CNP_MSG_FUNCTION:
		add_text(p->seen.asked, sizeof(p->seen.asked), "FUNCTION %u;",
			req->msg.as.function.function);
		put_big(c, req->msg.as.function.function);
		return;
	case CNP_MSG_LONG_DATA:
		p->seen.n_long += req->msg.as.long_data.data.n;
		break;
	case CNP_MSG_SET_OPTION:
		add_text(p->seen.options, sizeof(p->seen.options), "%s=%s;",
			req->msg.as.set_option.name.p, req->msg.as.set_option.value.p);
		if (strcmp(req->msg.as.set_option.name.p, "bad") == 0) {
			error(c, "22023", "no such option");
			return;
		}
		break;
	case CNP_MSG_CHANGE_USER:
		add_text(p->seen.asked, sizeof(p->seen.asked), "CHANGE_USER %s %s %s;",
			req->msg.as.change_user.user.p,
			req->msg.as.change_user.password.p,
			req->msg.as.change_user.database.p);
		break;
	case CNP_MSG_SELECT_DATABASE:
		add_text(p->seen.asked, sizeof(p->seen.asked), "SELECT_DATABASE %s;",
			req->msg.as.select_database.database.p);
		break;
	default:
		break;
	}
	done(c, cnp_msg_name(req->msg.code), -1, 0);
}

static void
do_request(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_request *req)
{
	const struct cnp_query *q = &req->msg.as.query;
	const struct run r = { q->sql.p, req->number, q->batch_rows, q->max_rows, 0,
		q->params };
	char sql[64] = "";

	p->seen.n_requests++;
	if (p->knobs.die_on == req->msg.code) {
		c->has_end = 1;
		return;
	}
	if (req->msg.code == CNP_MSG_QUERY) {
		(void)snprintf(sql, sizeof(sql), "%s", q->sql.p);
		if (run_sql(p, c, &r))
			after_sql(p, c, sql);
	} else if (req->msg.code == CNP_MSG_EXECUTE) {
		struct cnt_peer_stmt *s = find_stmt(c, req->msg.as.execute.statement);

		if (do_execute(p, c, req))
			after_sql(p, c, s ? s->sql : "");
	} else {
		do_other(p, c, req);
		finish(p, c);
	}
	yield_if_wanted(p, c);
}

/* ----------------------------------------------------------------- attaching ----- */

static void
say_attached(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_msg m = message(CNP_MSG_ATTACHED);
	struct cnc_buf pairs;

	cnc_buf_init(&pairs, &cnc_mem_default, 1024);
	(void)cnp_pairs_put(&pairs, "server_encoding", "UTF8");
	if (p->knobs.zone)
		(void)cnp_pairs_put(&pairs, "TimeZone", p->knobs.zone);
	m.as.attached.session = c->session;
	m.as.attached.key = KEY;
	m.as.attached.worker_pid = 4711;
	m.as.attached.features = CNP_FEATURE_TRANSACTIONS | CNP_FEATURE_CANCEL;
	m.as.attached.pool = cnp_str("play");
	m.as.attached.backend = cnp_str("played");
	m.as.attached.server = cnp_str("here");
	m.as.attached.server_version = cnp_str("1.2");
	m.as.attached.database = cnp_str("db");
	m.as.attached.user = cnp_str("me");
	m.as.attached.parameters.p = (const char *)cnc_buf_head(&pairs);
	m.as.attached.parameters.n = cnc_buf_len(&pairs);
	(void)cnp_server_attached(&c->server, &m.as.attached);
	cnc_buf_finish(&pairs);
	p->seen.n_attaches++;
	m = message(CNP_MSG_PARAMETER);
	m.as.parameter.name = cnp_str("zone");
	m.as.parameter.value = cnp_str("UTC");
	(void)cnp_server_ready(&c->server, c->tx, c->pins, NULL);
	(void)cnp_server_reply(&c->server, &m, 1);
	if (p->knobs.n_yield_on_attach > 0) {
		p->knobs.n_yield_on_attach--;
		yield(p, c);
	}
}

static void
note_options(struct cnt_peer *p, struct cnp_str blob)
{
	struct cnp_str name, value;
	struct cnc_reader r;

	p->seen.options[0] = '\0';
	cnc_reader_init(&r, blob.p, blob.n);
	while (cnp_pairs_next(&r, &name, &value) > 0)
		add_text(p->seen.options, sizeof(p->seen.options), "%s=%s;", name.p,
			value.p);
}

static void
do_attach(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_attach *m)
{
	p->seen.flags = m->flags;
	p->seen.generation = m->generation;
	(void)snprintf(p->seen.carry, sizeof(p->seen.carry), "%s", m->carry.p);
	(void)snprintf(p->seen.program, sizeof(p->seen.program), "%s", m->program.p);
	note_options(p, m->options);
	if (p->knobs.n_refuse > 0) {
		p->knobs.n_refuse--;
		error(c, p->knobs.refuse, "refused");
		c->has_end = 1;
		return;
	}
	if (p->knobs.auth == CNP_AUTH_NONE)
		say_attached(p, c);
}

static void
do_resume(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_resume *m)
{
	if (m->session != p->suspended_session || m->key != KEY) {
		error(c, "28000", "no such suspended session");
		c->has_end = 1;
		return;
	}
	c->session = m->session;
	c->portal = p->suspended_portal;
	c->portal_at = p->suspended_at;
	c->portal_end = p->suspended_end;
	p->suspended_session = 0;
	say_attached(p, c);
}

/* Whoever hangs is told. */
static void
do_cancel(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_cancel *m)
{
	struct cnp_msg answer = message(CNP_MSG_CANCELLED);

	p->seen.n_cancels++;
	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		struct cnt_peer_conn *other = &p->conns[i];

		if (other->fd < 0 || !other->is_hanging || m->key != KEY ||
			other->session != m->session ||
			other->server.running != m->request)
			continue;
		other->is_hanging = 0;
		error(other, "57014", "cancelled");
		finish(p, other);
		answer.as.cancelled.delivered = 1;
	}
	(void)cnp_server_reply(&c->server, &answer, 0);
	(void)cnp_server_finish_request(&c->server, 0, 0, NULL);
	c->has_end = 1;
}

static void
do_status(struct cnt_peer_conn *c, const struct cnp_status *m)
{
	if (strcmp(m->what.p, "pools") != 0) {
		error(c, "22023", "pools or workers");
	} else {
		(void)cnp_server_columns(&c->server, columns, c->n_columns);
		put_rows(c, 0, 2);
		done(c, "STATUS", -1, 0);
		(void)cnp_server_finish_request(&c->server, 0, 0, NULL);
	}
	c->has_end = 1;
}

static void
do_first(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_request *req)
{
	if (p->knobs.n_die_on_attach > 0) {
		p->knobs.n_die_on_attach--;
		c->has_end = 1;
		return;
	}
	if (cnp_server_hello(&c->server, 0, p->knobs.auth,
		    p->knobs.auth ? "SCRAM-SHA-256" : NULL) < 0)
		return;
	switch (req->msg.code) {
	case CNP_MSG_ATTACH:
		do_attach(p, c, &req->msg.as.attach);
		break;
	case CNP_MSG_RESUME:
		do_resume(p, c, &req->msg.as.resume);
		break;
	case CNP_MSG_CANCEL:
		do_cancel(p, c, &req->msg.as.cancel);
		break;
	default:
		do_status(c, &req->msg.as.status);
		break;
	}
}

/* ------------------------------------------------------------------ stepping ----- */

/* The client's part of a copy. 1: it has ended; 0: more is awaited. */
static int
step_copy(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_str data;
	int r;

	while ((r = cnp_server_next_copy(&c->server, &data)) == CENOTE_OK &&
		data.n < c->copy_left) {
		p->seen.n_copied += data.n;
		add_text(p->seen.copied, sizeof(p->seen.copied), "%s", data.p);
		if (c->copy_left != SIZE_MAX)
			c->copy_left -= data.n;
	}
	if (r == CENOTE_AGAIN)
		return 0;
	c->is_copying = 0;
	if (r == CENOTE_OK)
		error(c, "22P04", "that is enough");
	else if (r == CENOTE_DONE)
		done(c, "COPY", (int64_t)p->seen.n_copied, 0);
	else if (r == CENOTE_ERR_SERVER)
		error(c, "57014", c->server.diag.message);
	else
		c->has_end = 1;
	if (!c->has_end)
		finish(p, c);
	return 1;
}

static void
process(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_request req;

	while (!c->has_end && !c->is_hanging) {
		uint32_t state = cnp_server_state(&c->server);
		int r;

		if (c->is_copying) {
			if (!step_copy(p, c))
				return;
			continue;
		}
		r = cnp_server_next(&c->server, &req);

		if (r == CENOTE_ERR_PROTOCOL)
			c->has_end = 1;
		if (r != CENOTE_OK)
			return;
		if (state == CNP_SERVER_OPENING)
			continue;
		if (state == CNP_SERVER_FIRST) {
			do_first(p, c, &req);
			continue;
		}
		/* A request that this session is not to carry out. */
		if (req.msg.code == CNP_MSG_QUERY &&
			strcmp(req.msg.as.query.sql.p, "yield_now") == 0 &&
			!(p->seen.flags & CNP_ATTACH_AGAIN)) {
			struct cnp_msg m = message(CNP_MSG_YIELD);

			m.as.yield.last = req.number - 1;
			m.as.yield.reason = CNP_YIELD_DRAIN;
			m.as.yield.carry = CNP_STR_NONE;
			(void)cnp_frame_put(&c->server.out, 0, 0, &m);
			c->has_end = 1;
			continue;
		}
		do_request(p, c, &req);
	}
}

static void
end_conn(struct cnt_peer_conn *c)
{
	/* While the thread polls it, closing alone would not end it. */
	(void)shutdown(c->fd, SHUT_RDWR);
	(void)close(c->fd);
	c->fd = -1;
	cnp_server_finish(&c->server);
}

static int
step_read(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	uint8_t *room;
	size_t n;
	ssize_t got;

	if (c->has_end || cnp_server_room(&c->server, &room, &n) < 0)
		return 0;
	got = recv(c->fd, room, n, MSG_DONTWAIT);
	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		end_conn(c);
		return 1;
	}
	if (got < 0)
		return 0;
	cnp_server_received(&c->server, (size_t)got);
	process(p, c);
	return 1;
}

/* How much may go out now; 0 ends the connection. */
static size_t
write_limit(const struct cnt_peer *p, const struct cnt_peer_conn *c, size_t n)
{
	size_t left =
		p->knobs.cut_after < 0 || c != &p->conns[0] || p->seen.n_connects > 1
			? n
			: (size_t)p->knobs.cut_after - c->sent;

	n = left < n ? left : n;
	return p->knobs.write_max > 0 && p->knobs.write_max < n ? p->knobs.write_max : n;
}

static int
step_write(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	const uint8_t *bytes;
	size_t n = cnp_server_output(&c->server, &bytes);
	ssize_t put;

	if (n == 0) {
		if (!c->has_end)
			return 0;
		end_conn(c);
		return 1;
	}
	n = write_limit(p, c, n);
	if (n == 0) {
		end_conn(c);
		return 1;
	}
	put = send(c->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (put < 0 && errno == EAGAIN)
		return 0;
	if (put < 0) {
		end_conn(c);
		return 1;
	}
	cnp_server_sent(&c->server, (size_t)put);
	c->sent += (size_t)put;
	if (c == &p->conns[0] && p->seen.n_connects == 1)
		p->seen.sent = c->sent;
	return 1;
}

static int
step_accept(struct cnt_peer *p)
{
	struct cnt_peer_conn *c = p->conns;
	int fd;

	if (p->listen_fd < 0)
		return 0;
	fd = accept4(p->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return 0;
	while (c < p->conns + CNT_PEER_CONNS && c->fd >= 0)
		c++;
	if (c == p->conns + CNT_PEER_CONNS)
		abort();
	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->n_columns = p->knobs.n_columns > 0 ? p->knobs.n_columns : 3;
	c->session = ++p->seen.n_connects + 100u;
	cnp_server_init(&c->server, &cnc_mem_default, CNP_FRAME_MAX, CNP_FRAME_MAX);
	return 1;
}

static int
step(struct cnt_peer *p)
{
	int has_moved = step_accept(p);

	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		struct cnt_peer_conn *c = &p->conns[i];
		const uint8_t *bytes;

		if (c->fd < 0)
			continue;
		if (p->knobs.read_max != 1 || cnp_server_output(&c->server, &bytes) == 0)
			has_moved |= step_read(p, c);
		if (c->fd >= 0)
			has_moved |= step_write(p, c);
	}
	return has_moved;
}

int
cnt_peer_step(struct cnt_peer *p)
{
	int r;

	(void)pthread_mutex_lock(&p->lock);
	r = step(p);
	(void)pthread_mutex_unlock(&p->lock);
	return r;
}

/* ---------------------------------------------------------------- the thread ----- */

static void
wait_for_work(struct cnt_peer *p)
{
	struct pollfd fds[CNT_PEER_CONNS + 2];
	const uint8_t *bytes;
	nfds_t n = 0;
	char drop[16];

	fds[n++] = (struct pollfd){ .fd = p->wake[0], .events = POLLIN };
	(void)pthread_mutex_lock(&p->lock);
	fds[n++] = (struct pollfd){ .fd = p->listen_fd, .events = POLLIN };
	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		struct cnt_peer_conn *c = &p->conns[i];
		int has_output = c->fd >= 0 && cnp_server_output(&c->server, &bytes) > 0;

		if (c->fd < 0)
			continue;
		fds[n++] = (struct pollfd){ .fd = c->fd,
			.events = (short)((has_output ? POLLOUT : 0) |
					  (has_output && p->knobs.read_max == 1
							  ? 0
							  : POLLIN)) };
	}
	(void)pthread_mutex_unlock(&p->lock);
	(void)poll(fds, n, -1);
	if (fds[0].revents)
		(void)!read(p->wake[0], drop, sizeof(drop));
}

static void *
run_thread(void *arg)
{
	struct cnt_peer *p = arg;
	int is_stopping = 0;

	while (!is_stopping) {
		while (cnt_peer_step(p))
			continue;
		wait_for_work(p);
		(void)pthread_mutex_lock(&p->lock);
		is_stopping = p->is_stopping;
		(void)pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

static void
wake(struct cnt_peer *p)
{
	if (p->has_thread)
		(void)!write(p->wake[1], "x", 1);
}

int
cnt_peer_start(struct cnt_peer *p)
{
	if (pthread_create(&p->thread, NULL, run_thread, p) != 0)
		return -1;
	p->has_thread = 1;
	return 0;
}

void
cnt_peer_stop(struct cnt_peer *p)
{
	if (!p->has_thread)
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->is_stopping = 1;
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
	(void)pthread_join(p->thread, NULL);
	p->has_thread = 0;
	p->is_stopping = 0;
}

/* ---------------------------------------------------------------------- life ----- */

int
cnt_peer_listen(struct cnt_peer *p)
{
	struct sockaddr_un addr;
	int fd;

	memset(&addr, 0, sizeof(addr));
	addr.sun_family = AF_UNIX;
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", p->path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 ||
		bind(fd, (const struct sockaddr *)(const void *)&addr, sizeof(addr)) <
			0 ||
		listen(fd, 16) < 0) {
		perror("cnt_peer_listen");
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	(void)pthread_mutex_lock(&p->lock);
	p->listen_fd = fd;
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
	return 0;
}

int
cnt_peer_listen_tcp(struct cnt_peer *p)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	int fd;

	cnt_peer_unlisten(p);
	memset(&addr, 0, sizeof(addr));
	addr.sin_family = AF_INET;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)(const void *)&addr, len) < 0 ||
		listen(fd, 16) < 0 ||
		getsockname(fd, (struct sockaddr *)(void *)&addr, &len) < 0) {
		perror("cnt_peer_listen_tcp");
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	(void)snprintf(p->uri, sizeof(p->uri), "cenote://127.0.0.1:%u/play",
		ntohs(addr.sin_port));
	(void)pthread_mutex_lock(&p->lock);
	p->listen_fd = fd;
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
	return 0;
}

void
cnt_peer_unlisten(struct cnt_peer *p)
{
	(void)pthread_mutex_lock(&p->lock);
	if (p->listen_fd >= 0) {
		(void)close(p->listen_fd);
		p->listen_fd = -1;
		(void)unlink(p->path);
	}
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
}

void
cnt_peer_notify(struct cnt_peer *p, const char *channel)
{
	(void)pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		if (p->conns[i].fd >= 0)
			say_of_its_own(&p->conns[i], channel);
	}
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
}

void
cnt_peer_drop(struct cnt_peer *p, int with_yield)
{
	(void)pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		struct cnt_peer_conn *c = &p->conns[i];

		if (c->fd < 0)
			continue;
		if (with_yield)
			yield(p, c);
		while (with_yield && c->fd >= 0)
			(void)step_write(p, c);
		if (c->fd >= 0)
			end_conn(c);
	}
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
}

int
cnt_peer_create(struct cnt_peer *p)
{
	memset(p, 0, sizeof(*p));
	p->listen_fd = -1;
	p->knobs.cut_after = -1;
	for (size_t i = 0; i < CNT_PEER_CONNS; i++)
		p->conns[i].fd = -1;
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)snprintf(p->dir, sizeof(p->dir), "/tmp/cnt_peer.XXXXXX");
	if (!mkdtemp(p->dir) || pipe(p->wake) < 0) {
		perror("cnt_peer_create");
		return -1;
	}
	(void)snprintf(p->path, sizeof(p->path), "%s/play.sock", p->dir);
	(void)snprintf(p->uri, sizeof(p->uri), "cenote:///play?run_dir=%s", p->dir);
	return cnt_peer_listen(p);
}

void
cnt_peer_destroy(struct cnt_peer *p)
{
	cnt_peer_stop(p);
	cnt_peer_unlisten(p);
	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		if (p->conns[i].fd >= 0)
			end_conn(&p->conns[i]);
	}
	(void)close(p->wake[0]);
	(void)close(p->wake[1]);
	(void)rmdir(p->dir);
	(void)pthread_mutex_destroy(&p->lock);
}
