/* SPDX-License-Identifier: BSD-2-Clause */
#include "cnt_peer_answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/sqlstate.h"
#include "core/value.h"

/* The answers to statements; cnt_peer.h lists them. */

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

void
cnt_peer_add_text(char *to, size_t size, const char *format, ...)
{
	size_t n = strlen(to);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(to + n, size - n, format, args);
	va_end(args);
}

void
cnt_peer_done(struct cnt_peer_conn *c, const char *tag, int64_t affected, uint8_t flags)
{
	struct cnp_msg m = cnt_peer_message(CNP_MSG_DONE);

	m.as.done.tag = cnp_str(tag);
	m.as.done.affected = affected;
	m.as.done.last_insert_id = affected == 1 ? 7 : 0;
	m.as.done.warnings = affected == 1 ? 2 : 0;
	m.as.done.flags = flags;
	(void)cnp_server_reply(&c->server, &m, 0);
}

void
cnt_peer_error(struct cnt_peer_conn *c, const char *sqlstate, const char *text)
{
	struct cnc_diag d;

	cnc_diag_init(&d, NULL);
	cnc_diag_set(&d, sqlstate, "%s", text);
	d.native = 17;
	(void)cnp_server_error(&c->server, &d);
}

void
cnt_peer_put_columns(struct cnt_peer_conn *c)
{
	(void)cnp_server_columns(&c->server, columns, c->n_columns);
}

/* Rows from..to-1, in frames of at most 100. */
void
cnt_peer_put_rows(struct cnt_peer_conn *c, unsigned from, unsigned to)
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

void
cnt_peer_put_big(struct cnt_peer_conn *c, size_t n)
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
	cnt_peer_done(c, "SELECT 1", -1, 0);
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
	cnt_peer_done(c, "SELECT 1", -1, 0);
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
		cnt_peer_error(c, "22023", "bad parameters");
	} else {
		(void)cnp_server_columns(&c->server, columns, 3);
		(void)cnp_server_rows_begin(&c->server, &w, 3);
		for (uint32_t i = 0; i < n; i++)
			put_param(&w, &values[i]);
		(void)cnp_server_rows_end(&c->server, &w);
		cnt_peer_done(c, "SELECT", -1, 0);
	}
	cnc_arena_finish(&arena);
}

static void
run_rows(struct cnt_peer_conn *c, const struct cnt_peer_run *r, unsigned n)
{
	uint8_t flags = 0;
	unsigned end = n;
	char tag[32];

	if (r->max_rows > 0 && r->max_rows < n) {
		end = (unsigned)r->max_rows;
		flags = CNP_DONE_LIMITED;
	}
	if (!r->known)
		cnt_peer_put_columns(c);
	if (r->batch_rows > 0 && r->batch_rows < end) {
		c->portal = r->number;
		c->portal_at = r->batch_rows;
		c->portal_end = end;
		c->pins |= CENOTE_PIN_CURSOR;
		end = r->batch_rows;
		flags = CNP_DONE_MORE_ROWS;
	}
	cnt_peer_put_rows(c, 0, end);
	(void)snprintf(tag, sizeof(tag), "SELECT %u", n);
	cnt_peer_done(c, tag, -1, flags);
}

static void
run_command(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	p->n_carry++;
	c->wants_carry = 1;
	cnt_peer_done(c, "INSERT 1", 1, 0);
}

static void
run_two(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	cnt_peer_put_columns(c);
	cnt_peer_put_rows(c, 0, 2);
	cnt_peer_done(c, "SELECT 2", -1, CNP_DONE_MORE_RESULTS);
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

void
cnt_peer_say(struct cnt_peer_conn *c, const char *channel)
{
	struct cnp_msg m = cnt_peer_message(CNP_MSG_NOTIFICATION);

	m.as.notification.pid = 7;
	m.as.notification.channel = cnp_str(channel);
	m.as.notification.payload = cnp_str("payload");
	(void)cnp_server_reply(&c->server, &m, 1);
	m = cnt_peer_message(CNP_MSG_PARAMETER);
	m.as.parameter.name = cnp_str("said");
	m.as.parameter.value = cnp_str(channel);
	(void)cnp_server_reply(&c->server, &m, 1);
}

static void
run_empty(struct cnt_peer_conn *c)
{
	struct cnp_msg m = cnt_peer_message(CNP_MSG_DONE);

	m.as.done.affected = -1;
	m.as.done.flags = CNP_DONE_EMPTY;
	m.as.done.server_status = 0x22;
	(void)cnp_server_reply(&c->server, &m, 0);
}

static void
begin_copy_in(struct cnt_peer_conn *c, const char *file, size_t enough)
{
	struct cnp_msg m = cnt_peer_message(CNP_MSG_COPY_IN);

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
	struct cnp_msg m = cnt_peer_message(CNP_MSG_COPY_OUT);
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
	m = cnt_peer_message(CNP_MSG_COPY_DONE);
	(void)cnp_server_reply(&c->server, &m, 0);
	cnt_peer_done(c, "COPY", n, 0);
}

static unsigned
number_behind(const char *sql)
{
	const char *blank = strchr(sql, ' ');

	return blank ? (unsigned)strtoul(blank, NULL, 10) : 0;
}

int
cnt_peer_is_verb(const char *sql, const char *verb)
{
	size_t n = strlen(verb);

	return strncmp(sql, verb, n) == 0 && (sql[n] == ' ' || sql[n] == '\0');
}

/* ---- by the first word of a statement; 1: the request is finished, 0: it stays open ---- */

static int
on_rows(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	run_rows(c, r, cnt_peer_is_verb(r->sql, "select") ? 1 : number_behind(r->sql));
	return 1;
}

/* Send some rows, but no end of the result. */
static void
break_off(struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	if (!r->known)
		cnt_peer_put_columns(c);
	cnt_peer_put_rows(c, 0, number_behind(r->sql));
}

static int
on_rows_fail(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	break_off(c, r);
	cnt_peer_error(c, "22012", "division by zero");
	return 1;
}

static int
on_rows_die(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	break_off(c, r);
	c->has_end = 1;
	return 0;
}

static int
on_big(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	cnt_peer_put_big(c, number_behind(r->sql));
	return 1;
}

static int
on_values(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	(void)r;
	put_typed(c);
	return 1;
}

static int
on_params(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	put_params(c, r->params);
	return 1;
}

static int
on_cmd(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)r;
	run_command(p, c);
	return 1;
}

static int
on_two(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)r;
	run_two(p, c);
	return 1;
}

static int
on_fail(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	cnt_peer_error(c, strlen(r->sql) > 5 ? r->sql + 5 : "42601", "it failed");
	return 1;
}

static int
on_notice(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)r;
	run_notice(p, c);
	return 1;
}

static int
on_pin(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	c->pins = number_behind(r->sql);
	run_command(p, c);
	return 1;
}

static int
on_copy_in(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	(void)r;
	begin_copy_in(c, "", SIZE_MAX);
	return 0;
}

static int
on_copy_twice(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)on_copy_in(p, c, r);
	cnt_peer_done(c, "COPY", 0, CNP_DONE_MORE_RESULTS);
	return on_copy_in(p, c, r);
}

static int
on_copy_early(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	begin_copy_in(c, "", number_behind(r->sql));
	return 0;
}

static int
on_file(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	begin_copy_in(c, r->sql + 5, SIZE_MAX);
	return 0;
}

static int
on_copy_out(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	put_copy(c, number_behind(r->sql), 1);
	return 1;
}

static int
on_copy_die(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	(void)r;
	put_copy(c, 1, 0);
	c->has_end = 1;
	return 0;
}

static int
on_notify(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)r;
	cnt_peer_say(c, "chan");
	run_command(p, c);
	return 1;
}

static int
on_form(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	cnt_peer_done(c, r->params.n == 0 ? "simple" : "extended", -1, 0);
	return 1;
}

static int
on_empty(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	(void)r;
	run_empty(c);
	return 1;
}

static int
on_die(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	(void)r;
	c->has_end = 1;
	return 0;
}

static int
on_hang(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	(void)p;
	(void)r;
	c->is_hanging = 1;
	return 0;
}

static const struct verb {
	const char *name;
	int (*run)(struct cnt_peer *p, struct cnt_peer_conn *c,
		const struct cnt_peer_run *r);
} verbs[] = {
	{ "rows", on_rows },
	{ "select", on_rows },
	{ "rows_fail", on_rows_fail },
	{ "rows_die", on_rows_die },
	{ "big", on_big },
	{ "values", on_values },
	{ "params", on_params },
	{ "two", on_two },
	{ "fail", on_fail },
	{ "notice", on_notice },
	{ "pin", on_pin },
	{ "copy_in", on_copy_in },
	{ "copy_twice", on_copy_twice },
	{ "copy_early", on_copy_early },
	{ "file", on_file },
	{ "copy_out", on_copy_out },
	{ "copy_die", on_copy_die },
	{ "notify", on_notify },
	{ "form", on_form },
	{ "empty", on_empty },
	{ "die", on_die },
	{ "hang", on_hang },
};

/* Any other statement is a command. */
int
cnt_peer_run_sql(
	struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnt_peer_run *r)
{
	cnt_peer_add_text(p->seen.commands, sizeof(p->seen.commands), "%s;", r->sql);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (cnt_peer_is_verb(r->sql, verbs[i].name))
			return verbs[i].run(p, c, r);
	}
	return on_cmd(p, c, r);
}
