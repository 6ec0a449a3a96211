/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the answer to one request, message by message. A handler returns CENOTE_OK: go on; CENOTE_DONE: the
 * answer is complete; CENOTE_AGAIN: stop here, in the middle of the stream; or the session is lost.
 * If the statement or the sink fails, run.status keeps the failure, and the rest is read and dropped.
 */
#include <stdio.h>

#include "session.h"

/* Bytes of s->out: how much memory is kept for the next request, and how much may wait to be sent. */
#define OUT_KEEP 65536u
#define OUT_MAX  (2u * (size_t)CND_PG_MSG_MAX)

typedef int handler(struct cnd_session *s, const struct cnd_pg_msg *m);

void
cnd_pg_ahead_forget(struct cnd_session *s)
{
	s->ahead.at = s->ahead.n = 0;
	/* If the Sync was sent, its ReadyForQuery clears has_sync. */
	if (s->sync.n_ready == 0)
		s->ahead.has_sync = 0;
}

int
cnd_pg_enter(struct cnd_session *s, struct cnc_diag *diag)
{
	s->diag = diag;
	s->stop.status = CENOTE_OK;
	/* Forget requests that were collected but could not be sent. */
	if (cnc_buf_len(&s->out.buf) > 0)
		cnd_pg_ahead_forget(s);
	cnc_buf_clear(&s->out.buf, OUT_KEEP);
	s->out.n_ready = s->out.n_before = s->out.n_early = s->out.is_unsynced = 0;
	if (s->out.buf.mem == NULL)
		cnc_buf_init(&s->out.buf, s->mem, OUT_MAX);
	s->spent.is_closing = s->spent.is_closing_unnamed = 0;
	s->due.is_parsing = 0;
	if (!s->is_lost) {
		cnd_pg_close_spent(s);
		return CENOTE_OK;
	}
	cnc_diag_copy(diag, &s->lost);
	return CENOTE_ERR_CONN;
}

struct cnd_pg_run *
cnd_pg_run_begin(struct cnd_session *s, struct cnd_sink *sink)
{
	s->run = (struct cnd_pg_run){ .sink = sink, .desc = &s->desc };
	s->run.formats = CNP_STR_NONE;
	return &s->run;
}

/* The first failure counts. */
static void
fail(struct cnd_session *s, int status)
{
	if (s->run.status == CENOTE_OK)
		s->run.status = status;
}

static int
is_wanted(const struct cnd_session *s)
{
	return s->run.sink != NULL && s->run.status == CENOTE_OK;
}

/* Whether the sink gets notices, notifications and parameters. It gets them after an error, too: a rollback may have
 * changed settings. */
static int
is_heard(const struct cnd_session *s)
{
	return is_wanted(s) ||
	       (s->run.sink != NULL && s->run.status == CENOTE_ERR_SERVER);
}

/* Handle the status that the sink returned. */
static int
after_sink(struct cnd_session *s, int r)
{
	if (r < 0) {
		fail(s, r);
		cnd_pg_stop(s, r);
	}
	return s->is_lost ? CENOTE_ERR_CONN : CENOTE_OK;
}

/* ---- results ---- */

static void
give_done(struct cnd_session *s, uint8_t more)
{
	struct cnd_pg_run *run = &s->run;

	if (!run->has_done)
		return;
	run->has_done = 0;
	if (!is_wanted(s) || run->is_quiet)
		return;
	run->done.flags |= more;
	(void)after_sink(s, run->sink->ops->done(run->sink, &run->done));
}

static int
sync_at_end(struct cnd_session *s)
{
	s->run.syncs_at_end = 0;
	return cnd_pg_add_end(s, 1) < 0 ? CENOTE_ERR_NOMEM : cnd_pg_send(s);
}

/* A result is complete. The next message shows whether another result follows. */
static int
end_result(struct cnd_session *s, const char *tag, size_t len, int64_t affected,
	uint8_t flags)
{
	struct cnd_pg_run *run = &s->run;
	size_t n = len < sizeof(run->tag) ? len : sizeof(run->tag) - 1;

	memcpy(run->tag, tag, n);
	run->tag[n] = 0;
	run->done = (struct cnp_done){
		.tag = { run->tag, n }, .affected = affected, .flags = flags
	};
	run->done.warnings = run->warnings;
	run->warnings = 0;
	if (run->is_limited)
		run->done.flags |= CNP_DONE_LIMITED;
	run->has_done = 1;
	run->is_limited = 0;
	run->in_rows = 0;
	if (run->until_ready)
		return CENOTE_OK;
	if (run->syncs_at_end)
		return sync_at_end(s);
	give_done(s, 0);
	return CENOTE_DONE;
}

static int
end_own(struct cnd_session *s)
{
	const char *tag = s->run.own_tag != NULL ? s->run.own_tag : "";

	return end_result(s, tag, strlen(tag), -1, 0);
}

/* The tag of a portal's last batch counts the rows of that batch. Make it count all rows. */
static int
end_portal(struct cnd_session *s, const char *tag, size_t len, int64_t affected)
{
	char text[CND_PG_NAME_MAX];
	uint64_t n = s->run.portal->n_rows + s->run.n_rows;

	while (len > 0 && tag[len - 1] >= '0' && tag[len - 1] <= '9')
		len--;
	if (len == 0 || len > sizeof(text) - 24)
		return end_result(s, tag, len, affected, 0);
	memcpy(text, tag, len);
	len += (size_t)snprintf(
		text + len, sizeof(text) - len, "%llu", (unsigned long long)n);
	return end_result(s, text, len, affected < 0 ? affected : (int64_t)n, 0);
}

/* Whether the request read from a named portal of the server, which stays open after the request. */
static int
is_named_portal(const struct cnd_session *s)
{
	const struct cnd_pg_run *run = &s->run;

	if (run->is_simple || run->syncs_at_end)
		return 0;
	return run->portal != NULL ? !run->portal->is_stream : run->batch_rows > 0;
}

/* Whether the command may change the settings that a new login begins with. */
static int
is_of_logins(const char *tag)
{
	return strcmp(tag, "ALTER ROLE") == 0 || strcmp(tag, "ALTER DATABASE") == 0;
}

/* Whether the command may have run ALTER ROLE or ALTER DATABASE inside, which its tag does not tell. */
static int
is_opaque(const char *tag)
{
	return strcmp(tag, "DO") == 0 || strcmp(tag, "CALL") == 0 ||
	       strcmp(tag, "COMMIT PREPARED") == 0;
}

/* The server has undone all that the client did, unless a later request has been sent already. */
static void
note_discarded(struct cnd_session *s)
{
	if (s->ahead.at + 1 < s->ahead.n)
		return;
	s->settings.may_hide = 0;
	if ((s->client.lasting & CND_PG_SCAN_STAYS) == 0)
		s->settings.hides = 0;
}

static int
on_complete(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	const struct cnd_pg_portal *p = s->run.portal;
	const char *tag;
	size_t len;
	int64_t affected;

	if (cnd_pg_read_tag(m, &tag, &len, &affected) < 0)
		return cnd_pg_broken(s, "a malformed CommandComplete");
	if (is_of_logins(tag))
		s->login.changes = 1;
	s->login.may_change |= is_opaque(tag);
	if (strcmp(tag, "DISCARD ALL") == 0)
		note_discarded(s);
	s->run.is_value_last = 0;
	s->run.is_copying = 0;
	/* The server has read the data, and with it the Sync before the data. */
	if (s->run.has_copied)
		s->sync.is_doubtful = 0;
	if (s->run.n_first > 0)
		return CENOTE_OK;
	if (is_named_portal(s))
		s->spent.portal = s->run.entry->number + 1;
	give_done(s, CNP_DONE_MORE_RESULTS);
	if (p != NULL && !p->is_stream)
		return end_portal(s, tag, len, affected);
	return end_result(s, tag, len, affected, 0);
}

static int
on_empty(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	(void)m;
	give_done(s, CNP_DONE_MORE_RESULTS);
	return end_result(s, "", 0, -1, CNP_DONE_EMPTY);
}

static int
on_suspended(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_run *run = &s->run;
	int r;

	(void)m;
	if (run->is_limited || run->batch_rows == 0) {
		run->is_limited = 1;
		return end_result(s, "", 0, -1, 0);
	}
	if (is_wanted(s)) {
		r = cnd_pg_portal_keep(s, 0);
		if (r < 0)
			fail(s, r);
	}
	/* A Sync would end the portal. */
	run->syncs_at_end = 0;
	return end_result(s, "", 0, -1, CNP_DONE_MORE_ROWS);
}

/* ---- columns and rows ---- */

static int
give_columns(struct cnd_session *s, int known)
{
	struct cnd_pg_run *run = &s->run;

	run->in_rows = 1;
	if (!is_wanted(s))
		return CENOTE_OK;
	return after_sink(s, run->sink->ops->columns(
				     run->sink, run->desc->columns, run->desc->n, known));
}

int
cnd_pg_give_columns(struct cnd_session *s, int known)
{
	return give_columns(s, known);
}

static int
on_columns(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_run *run = &s->run;
	int r;

	give_done(s, CNP_DONE_MORE_RESULTS);
	run->desc = run->target != NULL ? run->target : &s->desc;
	r = cnd_pg_desc_read(s, run->desc, m);
	if (r == CENOTE_ERR_PROTOCOL)
		return cnd_pg_broken(s, "a malformed RowDescription");
	if (r < 0) {
		fail(s, r);
		run->in_rows = 1;
		return CENOTE_OK;
	}
	if (run->is_simple && run->formats.n > 0 && run->formats.n != run->desc->n)
		fail(s, cnd_pg_refuse(s, CNC_SQLSTATE(PROTOCOL),
				"%zu formats were given for %u columns", run->formats.n,
				(unsigned)run->desc->n));
	cnd_pg_desc_form(s, run->desc, run->format, run->formats);
	if (run->is_describing)
		run->has_columns = 1;
	r = give_columns(s, 0);
	return run->is_describing ? end_own(s) : r;
}

static int
on_no_data(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	(void)m;
	s->run.has_columns = 0;
	s->run.n_steps = 3;
	return s->run.is_describing ? end_own(s) : CENOTE_OK;
}

/*
 * Reserve room for the whole row once. The message needs more bytes for the lengths than the batch needs
 * for the zero bytes after the values. Each value must leave enough bytes of the message for the lengths
 * that follow. So no row can be larger than the room.
 */
static int
put_plain(const struct cnd_pg_msg *m, uint32_t n, struct cnc_batch *batch)
{
	const uint8_t *p = m->body + 2;
	const uint8_t *end = m->body + m->len;
	struct cnc_batch_fill fill;
	int r;

	if (m->len - 2 < (size_t)4 * n)
		return CENOTE_ERR_PROTOCOL;
	if (n == 0)
		return p == end ? CENOTE_OK : CENOTE_ERR_PROTOCOL;
	r = cnc_batch_fill_begin(batch, m->len - 2 - (size_t)3 * n - 1, &fill);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = cnd_pg_get_u32(p);
		uint32_t flag = len == UINT32_MAX ? CNC_BATCH_NULL : 0;

		p += 4;
		if (flag)
			len = 0;
		if (len > (size_t)(end - p) - (size_t)4 * (n - 1 - i))
			return CENOTE_ERR_PROTOCOL;
		cnc_batch_fill_value(&fill, p, len, (size_t)(end - p), flag);
		p += len;
	}
	if (p != end)
		return CENOTE_ERR_PROTOCOL;
	cnc_batch_fill_end(batch, &fill);
	return CENOTE_OK;
}

static int
put_converted(
	const struct cnd_pg_desc *d, const struct cnd_pg_msg *m, struct cnc_batch *batch)
{
	const uint8_t *p = m->body + 2;
	const uint8_t *end = m->body + m->len;

	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t len;
		int r;

		if (end - p < 4)
			return CENOTE_ERR_PROTOCOL;
		len = cnd_pg_get_u32(p);
		p += 4;
		if (len == UINT32_MAX) {
			r = cnc_batch_null(batch);
		} else {
			if (len > (size_t)(end - p))
				return CENOTE_ERR_PROTOCOL;
			r = d->puts[i] != NULL ? d->puts[i](batch, p, len)
					       : cnc_batch_put(batch, p, len);
			p += len;
		}
		if (r < 0)
			return r;
	}
	return p == end ? CENOTE_OK : CENOTE_ERR_PROTOCOL;
}

int
cnd_pg_put_row(struct cnd_session *s, const struct cnd_pg_desc *d,
	const struct cnd_pg_msg *m, struct cnc_batch *batch)
{
	int r;

	(void)s;
	if (m->len < 2 || cnd_pg_get_u16(m->body) != d->n)
		return CENOTE_ERR_PROTOCOL;
	r = cnc_batch_row(batch);
	if (r == CENOTE_OK)
		r = d->is_plain ? put_plain(m, d->n, batch) : put_converted(d, m, batch);
	if (r < 0)
		cnc_batch_row_undo(batch);
	else
		cnc_batch_row_done(batch);
	return r;
}

/* ---- a long row, of which only the beginning has come ---- */

static int
put_long_value(struct cnd_session *s, struct cnc_batch *batch, size_t len)
{
	char *room;
	int r = cnc_batch_room(batch, len, &room);

	if (r == CENOTE_OK)
		r = cnd_pg_row_read(s, (uint8_t *)room, len);
	if (r == CENOTE_OK)
		cnc_batch_room_done(batch, len);
	return r;
}

static int
put_next_value(struct cnd_session *s, cnd_pg_put *put, struct cnc_batch *batch)
{
	const uint8_t *p;
	int r = cnd_pg_row_take(s, 4, &p);
	uint32_t len = r == CENOTE_OK ? cnd_pg_get_u32(p) : 0;

	if (r < 0)
		return r;
	if (len == UINT32_MAX)
		return cnc_batch_null(batch);
	if (len > s->stream.row_left)
		return CENOTE_ERR_PROTOCOL;
	if (put == NULL)
		return put_long_value(s, batch, len);
	r = cnd_pg_row_take(s, len, &p);
	return r < 0 ? r : put(batch, p, len);
}

/* As cnd_pg_put_row(), for a long row. After a failure, the rest of the row is read and dropped. */
static int
put_long_row(struct cnd_session *s, const struct cnd_pg_desc *d, struct cnc_batch *batch)
{
	const uint8_t *p;
	int r = cnd_pg_row_take(s, 2, &p);
	int q;

	if (r == CENOTE_OK && cnd_pg_get_u16(p) != d->n)
		r = CENOTE_ERR_PROTOCOL;
	if (r == CENOTE_OK)
		r = cnc_batch_row(batch);
	for (uint32_t i = 0; i < d->n && r == CENOTE_OK; i++)
		r = put_next_value(s, d->puts[i], batch);
	if (r == CENOTE_OK && s->stream.row_left > 0)
		r = CENOTE_ERR_PROTOCOL;
	if (r == CENOTE_OK)
		cnc_batch_row_done(batch);
	else
		cnc_batch_row_undo(batch);
	if (r == CENOTE_OK || r == CENOTE_ERR_PROTOCOL || s->is_lost)
		return r;
	q = cnd_pg_row_read(s, NULL, s->stream.row_left);
	return q < 0 ? q : r;
}

static int
put_row(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	const struct cnd_pg_run *run = &s->run;

	return m->body != NULL ? cnd_pg_put_row(s, run->desc, m, run->sink->batch)
			       : put_long_row(s, run->desc, run->sink->batch);
}

static int
on_row(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_run *run = &s->run;
	int r;

	if (!run->in_rows)
		return cnd_pg_broken(s, "a row without columns");
	if (run->flags != NULL && !run->flags->has_come)
		return cnd_pg_take_flags(s, m, run->flags);
	if (!is_wanted(s) || run->is_limited)
		return m->body != NULL ? CENOTE_OK
				       : cnd_pg_row_read(s, NULL, s->stream.row_left);
	r = put_row(s, m);
	if (r == CENOTE_ERR_PROTOCOL)
		return cnd_pg_broken(s, "a malformed DataRow");
	if (r < 0)
		return after_sink(s, r);
	run->n_rows++;
	r = run->sink->ops->row_done(run->sink);
	if (r == CENOTE_OK)
		return r;
	if (r < 0)
		return after_sink(s, r);
	if (r == CENOTE_DONE)
		run->is_limited = 1;
	/* In an extended query, the server itself stops after the batch. */
	return r == CENOTE_AGAIN && run->is_simple ? CENOTE_AGAIN : CENOTE_OK;
}

/* ---- the rest ---- */

static int
on_param_types(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_reader r;
	uint32_t n;

	cnd_pg_reader_init(&r, m);
	n = cnd_pg_read_count(&r);
	if (r.bad || m->len != 2 + (size_t)4 * n)
		return cnd_pg_broken(s, "a malformed ParameterDescription");
	if (n > s->params.cap) {
		uint32_t *grown =
			cnc_realloc(s->mem, s->params.types, n * sizeof(*grown));

		if (grown == NULL) {
			fail(s, CENOTE_ERR_NOMEM);
			return CENOTE_OK;
		}
		s->params.types = grown;
		s->params.cap = n;
	}
	for (uint32_t i = 0; i < n; i++)
		s->params.types[i] = cnd_pg_read_u32(&r);
	s->params.n = n;
	return is_wanted(s) && s->run.is_describing ? after_sink(s, cnd_pg_give_params(s))
						    : CENOTE_OK;
}

int
cnd_pg_fatal(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	s->is_lost = 1;
	(void)cnd_pg_diag(&s->lost, m->body, m->len, s->server);
	return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST), "%s", "");
}

/* How far an extended query came, by the answers to its messages. */
static const char *
how_far(const struct cnd_pg_run *run)
{
	static const char *const names[] = { NULL, "parsed", "bound", "described" };

	return names[run->n_steps];
}

/* Whether the client cancelled the request. Then the client gets the server's own error. */
static int
has_cancelled(const struct cnd_session *s)
{
	return s->stop.status == CENOTE_ERR_SERVER && s->host->is_cancelled != NULL &&
	       s->host->is_cancelled(s->host);
}

static int
on_error(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_run *run = &s->run;

	/* In an extended query, the statement was complete but its commit failed. So drop its result. */
	if (run->is_simple)
		give_done(s, CNP_DONE_MORE_RESULTS);
	else
		run->has_done = 0;
	if (cnd_pg_is_fatal(m->body, m->len))
		return cnd_pg_fatal(s, m);
	if (run->status == CENOTE_OK) {
		run->status = CENOTE_ERR_SERVER;
		if (s->stop.status < 0 && !has_cancelled(s)) {
			run->status = s->stop.status;
			cnc_diag_copy(s->diag, &s->stop.diag);
		} else if (cnd_pg_diag(s->diag, m->body, m->len, s->server) < 0) {
			return cnd_pg_broken(s, "a malformed ErrorResponse");
		} else {
			cnd_pg_diag_add(s->diag, 'A', how_far(run));
		}
	}
	if (run->until_ready)
		return CENOTE_OK;
	s->sync.is_skipping = 1;
	return run->syncs_at_end ? sync_at_end(s) : CENOTE_DONE;
}

static void
tell_of_logins(struct cnd_session *s)
{
	if (!s->login.changes || s->tx != 'I')
		return;
	s->login.changes = 0;
	s->login.was_told = 1;
	if (s->host->login_changed)
		s->host->login_changed(s->host);
}

int
cnd_pg_note_ready(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	int tx = cnd_pg_read_ready(m);

	if (tx < 0)
		return cnd_pg_broken(s, "a malformed ReadyForQuery");
	if (s->sync.n_ready == 0)
		return cnd_pg_broken(s, "a ReadyForQuery that nobody asked for");
	s->sync.n_ready--;
	s->tx = (uint8_t)tx;
	s->client.is_local = s->client.is_local && tx != 'I';
	s->sync.is_skipping = 0;
	s->sync.is_broken = 0;
	tell_of_logins(s);
	/* This ReadyForQuery answers the BEGIN. The messages after the BEGIN have no Sync yet. */
	if (s->sync.n_before > 0) {
		s->sync.n_before--;
		return CENOTE_OK;
	}
	if (s->sync.n_ready > 0)
		return CENOTE_OK;
	s->sync.is_missing = 0;
	s->sync.is_owed = 0;
	s->ahead.has_sync = 0;
	return CENOTE_OK;
}

static int
on_ready(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	int r = CENOTE_OK;

	/* A stored ReadyForQuery was noted when it came. */
	if (s->run.portal == NULL || !s->run.portal->is_stored)
		r = cnd_pg_note_ready(s, m);
	if (r < 0)
		return r;
	if (s->run.n_first > 0) {
		s->run.n_first--;
		return CENOTE_OK;
	}
	if (s->sync.n_ready > 0)
		return CENOTE_OK;
	if (s->tx == 'I')
		cnd_pg_portals_end(s);
	give_done(s, 0);
	return CENOTE_DONE;
}

static int
on_copy_in(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	give_done(s, CNP_DONE_MORE_RESULTS);
	return cnd_pg_copy_in(s, m);
}

static int
on_copy_out(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	give_done(s, CNP_DONE_MORE_RESULTS);
	s->run.is_copying = 1;
	s->run.in_rows = 0;
	return cnd_pg_copy_out(s, m);
}

static int
on_copy_data(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_run *run = &s->run;

	if (!is_wanted(s))
		return CENOTE_OK;
	if (!run->is_copying)
		return cnd_pg_broken(s, "data of a copy outside of one");
	return after_sink(s, run->sink->ops->copy_data(run->sink, m->body, m->len));
}

static int
on_copy_done(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_run *run = &s->run;

	(void)m;
	if (!is_wanted(s))
		return CENOTE_OK;
	if (!run->is_copying)
		return cnd_pg_broken(s, "the end of a copy outside of one");
	run->is_copying = 0;
	return after_sink(s, run->sink->ops->copy_done(run->sink));
}

static int
on_function(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	return cnd_pg_function_result(s, m);
}

static int
on_parsed(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	(void)m;
	/* the request itself does not prepare anything */
	if (s->due.is_parsing)
		s->due.is_parsing = 0;
	else
		s->run.n_steps = 1;
	return CENOTE_OK;
}

/* CloseComplete ends the answer to a close. */
static int
on_closed(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	(void)m;
	if (s->spent.is_closing_unnamed)
		s->spent.has_unnamed = s->spent.is_closing_unnamed = 0;
	else if (s->spent.is_closing)
		s->spent.portal = s->spent.is_closing = 0;
	else if (s->run.is_closing)
		return end_own(s);
	return CENOTE_OK;
}

static int
on_bound(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	(void)m;
	s->run.n_steps = 2;
	return s->run.is_cached ? give_columns(s, s->run.is_known) : CENOTE_OK;
}

static handler *const handlers[128] = {
	['1'] = on_parsed,
	['2'] = on_bound,
	['3'] = on_closed,
	['C'] = on_complete,
	['D'] = on_row,
	['E'] = on_error,
	['G'] = on_copy_in,
	['H'] = on_copy_out,
	['I'] = on_empty,
	['T'] = on_columns,
	['V'] = on_function,
	['Z'] = on_ready,
	['c'] = on_copy_done,
	['d'] = on_copy_data,
	['n'] = on_no_data,
	['s'] = on_suspended,
	['t'] = on_param_types,
};

int
cnd_pg_handle(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	handler *h = m->type < 128 ? handlers[m->type] : NULL;
	int r;

	if (h != NULL)
		return h(s, m);
	r = cnd_pg_async(s, m, is_heard(s) ? s->run.sink : NULL);
	if (r == CENOTE_AGAIN)
		return cnd_pg_broken(s, "a message of an unknown type");
	return r == CENOTE_ERR_CONN && s->is_lost ? r : after_sink(s, r);
}

/* Messages after the answer must not wait until the next request. Those behind it that answer an early reset are not the
 * client's. */
static int
take_rest(struct cnd_session *s)
{
	struct cnd_pg_msg m;
	int r = CENOTE_OK;

	while (r == CENOTE_OK && s->sync.n_ready == 0 && !s->sync.is_missing &&
		s->early.n_ready == 0 && cnd_pg_has_message(&s->stream)) {
		r = cnd_pg_next(s, &m);
		if (r == CENOTE_OK)
			r = cnd_pg_handle(s, &m);
	}
	return r;
}

int
cnd_pg_run(struct cnd_session *s)
{
	struct cnd_pg_run *run = &s->run;
	struct cnd_pg_msg m;
	int r;

	do {
		r = run->portal != NULL && run->portal->is_stored
			    ? cnd_pg_store_next(s, run->portal, &m)
			    : cnd_pg_next_or_row(s, &m);
		if (r == CENOTE_OK)
			r = cnd_pg_handle(s, &m);
	} while (r == CENOTE_OK);
	if (r == CENOTE_AGAIN) {
		r = cnd_pg_portal_keep(s, 1);
		if (r == CENOTE_OK) {
			(void)end_result(s, "", 0, -1, CNP_DONE_MORE_ROWS);
			give_done(s, 0);
		}
		return r < 0 ? r : run->status;
	}
	if (r == CENOTE_DONE)
		r = take_rest(s);
	if (r < 0)
		return r;
	return s->stop.status == CENOTE_ERR_CONN ? s->stop.status : run->status;
}

int
cnd_pg_send_run(struct cnd_session *s)
{
	int r = cnd_pg_send(s);

	return r < 0 ? r : cnd_pg_run(s);
}

/* ---- synchronisation ---- */

int
cnd_pg_add_end(struct cnd_session *s, int is_sync)
{
	int r = cnd_pg_add_plain(&s->out.buf, is_sync ? 'S' : 'H');

	if (r < 0)
		return r;
	if (is_sync) {
		s->out.n_ready++;
	} else {
		if (!s->sync.is_missing && !s->out.is_unsynced)
			s->out.n_before = s->out.n_ready;
		s->out.is_unsynced = 1;
	}
	s->run.until_ready = (uint8_t)is_sync;
	return CENOTE_OK;
}

int
cnd_pg_sync_now(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnd_pg_run *run = cnd_pg_run_begin(s, sink);
	int r;

	run->is_quiet = 1;
	cnd_pg_out_clear(s);
	s->out.n_ready = 0;
	if (s->ahead.has_sync) {
		run->until_ready = 1;
		return cnd_pg_run(s);
	}
	r = cnd_pg_add_end(s, 1);
	return r < 0 ? r : cnd_pg_send_run(s);
}

int
cnd_pg_sync(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_pg_enter(s, sink->diag);

	if (r < 0 || !s->sync.is_missing)
		return r;
	if (cnd_pg_portal_is_loose(s)) {
		s->sync.is_owed = 1;
		return CENOTE_OK;
	}
	return cnd_pg_sync_now(s, sink);
}

int
cnd_pg_ready(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_pg_portals_store(s, sink);

	if (r < 0)
		return r;
	/* Otherwise the Sync would undo earlier requests of the unit, and no request of it would fail. */
	if (s->sync.is_broken)
		return cnd_pg_refuse(s, CNC_SQLSTATE(NO_STATEMENT),
			"a statement could not be prepared again, so the server "
			"undoes the requests up to the synchronisation point");
	if (s->sync.is_skipping || s->sync.is_owed)
		r = cnd_pg_sync_now(s, sink);
	/* An error of this Sync belongs to the previous request. */
	return r == CENOTE_ERR_SERVER && !s->is_lost ? CENOTE_OK : r;
}
