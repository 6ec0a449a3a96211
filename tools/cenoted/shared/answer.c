/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers that need no session: HELLO, errors, cancels, status queries, and finding the session
 * that a client wants to resume. They come from the scoreboard. Workers, helpers and the door call
 * this file.
 */
#include "answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/sqlstate.h"
#include "log.h"
#include "units.h"

void
cnd_answer_refuse(struct cnp_server *s, const char *sqlstate, const char *format, ...)
{
	char text[CNC_DIAG_MESSAGE_MAX];
	struct cnc_diag diag;
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cnc_diag_init(&diag, NULL);
	cnc_diag_set(&diag, sqlstate, "%s", text);
	/* without memory, the connection is just closed */
	(void)cnp_server_error(s, &diag);
	cnc_diag_finish(&diag);
}

/* In mode = transaction: how many sessions are pinned, and by what; "" if none is. */
static void
put_pinned(const struct cnd_pool_head *head, const struct cnd_census *census,
	char to[CND_LATE_TEXT_MAX])
{
	size_t n = 0;

	to[0] = '\0';
	if (head->mode != CND_MODE_TRANSACTION || census->pinned == 0)
		return;
	n += (size_t)snprintf(to, CND_LATE_TEXT_MAX, ", %u pinned", census->pinned);
	for (size_t i = 0, n_named = 0; i < CND_PINS; i++) {
		if (census->pins[i] > 0)
			n += (size_t)snprintf(to + n, CND_LATE_TEXT_MAX - n,
				"%s %u by %s", n_named++ > 0 ? "," : ":", census->pins[i],
				cnd_pin_names[i].words);
	}
	(void)snprintf(to + n, CND_LATE_TEXT_MAX - n, "; see \\pins in sqlsh");
}

void
cnd_answer_late(const struct cnd_scoreboard *b, uint32_t pool, uint32_t n_waiting,
	char ret_text[CND_LATE_TEXT_MAX])
{
	const struct cnd_pool_head *head = cnd_pool_head(b, pool);
	char pinned[CND_LATE_TEXT_MAX];
	char limit[CND_UNITS_TEXT_MAX];
	struct cnd_census census;

	cnd_pool_census(b, pool, &census);
	atomic_fetch_add_explicit(
		&cnd_pool_record(b, pool)->timeouts, 1, memory_order_relaxed);
	cnd_ms_text(head->queue_timeout_ms, limit);
	put_pinned(head, &census, pinned);
	(void)snprintf(ret_text, CND_LATE_TEXT_MAX,
		"pool %s: no free session in %s (%u of %u in use, %u waiting%s%s)",
		head->name, limit, census.in_use, head->max_sessions, n_waiting,
		head->is_paused ? ", paused" : "", pinned);
	cnd_log(LOG_NOTICE, "a client gave up: %s", ret_text);
}

int
cnd_answer_hello(struct cnp_server *s)
{
	return s->said_hello ? CENOTE_OK : cnp_server_hello(s, 0, CNP_AUTH_NONE, NULL);
}

int
cnd_answer_hello_login(struct cnp_server *s, int tls, uint8_t logins)
{
	const char *mechanisms = cnd_logins_mechanisms(logins, tls);

	if (s->said_hello)
		return CENOTE_OK;
	return cnp_server_hello(s, (uint8_t)tls,
		*mechanisms != '\0' ? CNP_AUTH_SASL : CNP_AUTH_NONE, mechanisms);
}

void
cnd_answer_cancelled(struct cnp_server *s, int is_delivered)
{
	struct cnp_msg reply = { .code = CNP_MSG_CANCELLED };

	reply.as.cancelled.delivered = is_delivered != 0;
	if (cnd_answer_hello(s) == CENOTE_OK &&
		cnp_server_reply(s, &reply, 0) == CENOTE_OK)
		(void)cnp_server_finish_request(s, CENOTE_TX_IDLE, 0, NULL);
}

static uint32_t
suspended_or_refused(struct cnp_server *s, const struct cnd_scoreboard *b, uint32_t slot)
{
	if (slot != CND_BOARD_NONE && cnd_slot_at(b, slot)->state == CND_SLOT_SUSPENDED)
		return slot;
	cnd_answer_refuse(s, CNC_SQLSTATE(BAD_LOGIN),
		"there is no such suspended session, or not any more");
	return CND_BOARD_NONE;
}

uint32_t
cnd_answer_resume(struct cnp_server *s, const struct cnd_scoreboard *b, uint32_t pool,
	const struct cnp_resume *m)
{
	return suspended_or_refused(s, b, cnd_slot_find(b, pool, m->session, m->key));
}

uint32_t
cnd_answer_resume_named(
	struct cnp_server *s, const struct cnd_scoreboard *b, uint32_t pool)
{
	if (s->opening.has_session)
		return suspended_or_refused(
			s, b, cnd_slot_named(b, pool, s->opening.session));
	cnd_answer_refuse(s, CNC_SQLSTATE(PROTOCOL),
		"to resume a session through TLS, name it in the opening");
	return CND_BOARD_NONE;
}

/* ---- status ---- */

static int
put_columns(struct cnp_server *s, const struct cnd_status_kind *k)
{
	struct cnp_column columns[CND_STATUS_FIELDS_MAX];

	for (uint32_t i = 0; i < k->n_fields; i++) {
		columns[i] = (struct cnp_column)CNP_COLUMN_INIT;
		columns[i].name = cnp_str(k->fields[i].name);
		columns[i].type = k->fields[i].number != NULL ? CENOTE_TYPE_INT64
							      : CENOTE_TYPE_TEXT;
		columns[i].nullable = 0;
	}
	return cnp_server_columns(s, columns, k->n_fields);
}

static int
put_row(struct cnc_batch *w, const struct cnd_status_kind *k,
	const struct cnd_status_row *row)
{
	int r = cnc_batch_row(w);

	for (uint32_t i = 0; i < k->n_fields && r == CENOTE_OK; i++) {
		const struct cnd_status_field *f = &k->fields[i];
		char number[CNC_VALUE_TEXT_MAX];
		const char *text = number;
		size_t len;

		if (f->number != NULL) {
			len = cnc_int64_text(f->number(row), number);
		} else {
			text = f->text(row);
			len = strlen(text);
		}
		r = cnc_batch_put(w, text, len);
	}
	if (r == CENOTE_OK)
		cnc_batch_row_done(w);
	return r;
}

static int
put_rows(struct cnp_server *s, struct cnd_scoreboard *b, const struct cnd_status_kind *k,
	const struct cnd_asker *asker, uint32_t *ret_n)
{
	struct cnc_batch batch;
	struct cnd_status_row row;
	uint32_t n = 0;
	int r = cnp_server_rows_begin(s, &batch, k->n_fields);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < cnd_status_most(k, b) && r == CENOTE_OK; i++) {
		if (!k->read(b, i, asker, &row))
			continue;
		r = put_row(&batch, k, &row);
		n++;
	}
	if (r < 0)
		cnc_batch_row_undo(&batch);
	*ret_n = n;
	return r < 0 ? r : cnp_server_rows_end(s, &batch);
}

static int
put_status(struct cnp_server *s, struct cnd_scoreboard *b,
	const struct cnd_status_kind *k, const struct cnd_asker *asker)
{
	struct cnp_msg done = { .code = CNP_MSG_DONE };
	char tag[32];
	uint32_t n = 0;
	int r = cnd_answer_hello(s);

	if (r == CENOTE_OK)
		r = put_columns(s, k);
	if (r == CENOTE_OK)
		r = put_rows(s, b, k, asker, &n);
	if (r < 0)
		return r;
	snprintf(tag, sizeof(tag), "STATUS %u", n);
	done.as.done.tag = cnp_str(tag);
	done.as.done.affected = -1;
	r = cnp_server_reply(s, &done, 0);
	if (r < 0)
		return r;
	return cnp_server_finish_request(s, CENOTE_TX_IDLE, 0, NULL);
}

void
cnd_answer_status(struct cnp_server *s, struct cnd_scoreboard *b,
	const struct cnp_status *m, const struct cnd_asker *asker)
{
	for (size_t i = 0; i < CND_STATUS_KINDS; i++) {
		if (strcmp(cnd_status_kinds[i].what, m->what.p) != 0)
			continue;
		if (put_status(s, b, &cnd_status_kinds[i], asker) < 0)
			cnd_answer_refuse(
				s, CNC_SQLSTATE(INTERNAL), "status: out of memory");
		return;
	}
	cnd_answer_refuse(s, CNC_SQLSTATE(BAD_PARAMETER),
		"unknown status query; there are \"pools\", \"workers\", \"pins\", "
		"\"pin_counts\", \"servers\", \"times\", \"digests\", \"rules\" and "
		"\"cache\"");
}
