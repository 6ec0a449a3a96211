/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results that are fetched in batches. In a transaction, the server keeps the portal. Outside a transaction,
 * a portal lives until the next Sync. So no Sync is sent while the portal is open. When another
 * request comes, the rest of the rows is stored here first, so that the other request is a unit of its own.
 * The results of a simple query come in one stream. The rest of that stream stays in
 * the socket until it is fetched, or until another request comes.
 */
#include <stdio.h>

#include "session.h"

void
cnd_pg_portal_name(uint32_t number, char name[CND_PG_NAME_MAX])
{
	snprintf(name, CND_PG_NAME_MAX, "cenote_p%u", (unsigned)number);
}

void
cnd_pg_forget_portal(struct cnd_session *s, struct cnd_portal *portal)
{
	struct cnd_pg_portal *p = portal->own;

	portal->own = NULL;
	if (s->run.portal == p)
		s->run.portal = NULL;
	cnd_spill_finish(&p->store);
	cnd_pg_desc_finish(s, &p->desc);
	cnc_free(s->mem, p);
}

void
cnd_pg_portals_end(struct cnd_session *s)
{
	const struct cnd_statements *t = s->host->statements;

	for (size_t i = 0; i < t->n_portals; i++) {
		const struct cnd_pg_portal *p = t->portals[i]->own;

		if (p != NULL && !p->is_stored && p != s->run.portal)
			cnd_pg_forget_portal(s, t->portals[i]);
	}
}

int
cnd_pg_portal_is_loose(const struct cnd_session *s)
{
	const struct cnd_statements *t = s->host->statements;

	for (size_t i = 0; i < t->n_portals; i++) {
		const struct cnd_pg_portal *p = t->portals[i]->own;

		if (p != NULL && p->is_loose && !p->is_stored)
			return 1;
	}
	return 0;
}

int
cnd_pg_portal_keep(struct cnd_session *s, int is_stream)
{
	struct cnd_pg_run *run = &s->run;
	struct cnd_pg_portal *p = run->portal;

	if (p != NULL) {
		p->n_rows += run->n_rows;
		return CENOTE_OK;
	}
	p = cnc_calloc(s->mem, 1, sizeof(*p));
	if (p == NULL)
		return CENOTE_ERR_NOMEM;
	cnd_spill_init(&p->store, s->mem, CND_PG_MSG_MAX);
	p->entry = run->entry;
	p->n_rows = run->n_rows;
	p->is_stream = (uint8_t)is_stream;
	p->is_loose = !is_stream && s->tx == 'I';
	p->format = run->format;
	p->entry->own = p;
	return cnd_pg_desc_copy(s, &p->desc, run->desc);
}

/* ---- storing the rest of a result ---- */

static int
store_put(struct cnd_session *s, struct cnd_spill *store, const struct cnd_pg_msg *m)
{
	uint8_t header[CND_PG_HEADER] = { m->type };
	int r;

	cnd_pg_put_u32(header + 1, (uint32_t)(m->len + 4));
	r = cnd_spill_put(store, header, sizeof(header), s->diag);
	return r == CENOTE_OK ? cnd_spill_put(store, m->body, m->len, s->diag) : r;
}

int
cnd_pg_store_next(
	struct cnd_session *s, struct cnd_pg_portal *p, struct cnd_pg_msg *ret_msg)
{
	struct cnd_spill *store = &p->store;
	size_t need = CND_PG_HEADER;

	/* Consume the message that the last call returned. */
	cnc_buf_consume(&store->buf, p->handed_out);
	p->handed_out = 0;
	for (;;) {
		int r = cnd_pg_msg_next(cnc_buf_head(&store->buf),
			cnc_buf_len(&store->buf), ret_msg, &need);

		if (r > 0) {
			p->handed_out = (size_t)r;
			return CENOTE_OK;
		}
		if (r < 0 || (store->read_at >= store->written))
			return cnd_pg_broken(s, "a result without an end");
		r = cnd_spill_refill(store, need, s->diag);
		if (r < 0)
			return r;
	}
}

/* Store all messages up to the end of the answer. If the statement failed, its next fetch reports that. */
static int
store_all(struct cnd_session *s, struct cnd_pg_portal *p, struct cnd_sink *sink)
{
	int until_ready = s->sync.n_ready > 0;
	int status = CENOTE_OK;
	struct cnd_pg_msg m;
	int r;

	for (;;) {
		r = cnd_pg_next(s, &m);
		if (r < 0)
			return r;
		r = cnd_pg_async(s, &m, sink);
		if (r == CENOTE_OK)
			continue;
		if (r < 0)
			return r;
		if (status == CENOTE_OK)
			status = store_put(s, &p->store, &m);
		if (m.type == 'E' && cnd_pg_is_fatal(m.body, m.len))
			return cnd_pg_fatal(s, &m);
		if (m.type == 'E' && !until_ready)
			s->sync.is_skipping = 1;
		if (m.type == 'Z' && cnd_pg_note_ready(s, &m) < 0)
			return CENOTE_ERR_CONN;
		if (m.type == 'Z' ? s->sync.n_ready == 0
				  : !until_ready && (m.type == 'C' || m.type == 'E'))
			return status;
	}
}

static int
portal_store(struct cnd_session *s, struct cnd_pg_portal *p, struct cnd_sink *sink)
{
	char name[CND_PG_NAME_MAX];
	int r = CENOTE_OK;

	cnd_pg_out_clear(s);
	if (p->is_loose) {
		cnd_pg_portal_name(p->entry->number, name);
		r = cnd_pg_add_execute(&s->out.buf, name, 0);
		if (r == CENOTE_OK)
			r = cnd_pg_add_end(s, s->sync.is_owed);
		if (r == CENOTE_OK)
			r = cnd_pg_send(s);
	}
	if (r == CENOTE_OK)
		r = store_all(s, p, sink);
	if (r == CENOTE_OK)
		r = cnd_spill_rewind(&p->store, s->diag);
	p->is_stored = 1;
	if (r < 0 && !s->is_lost)
		cnd_pg_forget_portal(s, p->entry);
	return r;
}

int
cnd_pg_portals_store(struct cnd_session *s, struct cnd_sink *sink)
{
	const struct cnd_statements *t = s->host->statements;
	int r = CENOTE_OK;

	for (size_t i = 0; i < t->n_portals && r == CENOTE_OK; i++) {
		struct cnd_pg_portal *p = t->portals[i]->own;

		if (p != NULL && (p->is_loose || p->is_stream) && !p->is_stored)
			r = portal_store(s, p, sink);
	}
	return r;
}

/* ---- fetching ---- */

static int
add_fetch(struct cnd_session *s, struct cnd_pg_portal *p, uint32_t batch_rows)
{
	struct cnd_pg_run *run = &s->run;
	char name[CND_PG_NAME_MAX];
	int r;

	cnd_pg_portal_name(p->entry->number, name);
	r = cnd_pg_add_execute(
		&s->out.buf, name, batch_rows > INT32_MAX ? 0 : batch_rows);
	if (r == CENOTE_OK)
		/* In a transaction block, a Sync does not end the portal. */
		r = cnd_pg_add_end(s, !p->is_loose && !s->sync.is_missing);
	run->syncs_at_end = p->is_loose && s->sync.is_owed;
	return r;
}

static void
resume_run(struct cnd_session *s, struct cnd_pg_portal *p, uint32_t batch_rows)
{
	struct cnd_pg_run *run = &s->run;

	run->portal = p;
	run->entry = p->entry;
	run->desc = &p->desc;
	run->format = p->format;
	run->batch_rows = batch_rows;
	run->is_simple = p->is_stream || p->is_stored;
	run->until_ready = p->is_stream;
}

int
cnd_pg_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int send_columns, struct cnd_sink *sink)
{
	struct cnd_pg_portal *p = portal->own;
	int r = cnd_pg_enter(s, sink->diag);

	if (r < 0)
		return r;
	/* A fetch from the server must store other open results first, as every request does. */
	if (!p->is_stream && !p->is_loose && !p->is_stored)
		r = cnd_pg_ready(s, sink);
	if (r < 0)
		return r;
	(void)cnd_pg_run_begin(s, sink);
	resume_run(s, p, batch_rows);
	if (!p->is_stream && !p->is_stored)
		r = add_fetch(s, p, batch_rows);
	if (r == CENOTE_OK)
		r = cnd_pg_give_columns(s, !send_columns);
	if (r == CENOTE_OK)
		r = cnd_pg_send_run(s);
	if (portal->own != NULL && (r < 0 || !(s->run.done.flags & CNP_DONE_MORE_ROWS)))
		cnd_pg_forget_portal(s, portal);
	return r;
}

/* ---- closing ---- */

static void
close_on_server(struct cnd_session *s, struct cnd_pg_portal *p)
{
	char name[CND_PG_NAME_MAX];
	int is_sync = p->is_loose ? s->sync.is_owed : !s->sync.is_missing;
	int r;

	(void)cnd_pg_run_begin(s, NULL);
	s->run.is_closing = 1;
	cnd_pg_portal_name(p->entry->number, name);
	r = cnd_pg_add_named(&s->out.buf, 'C', 'P', name, strlen(name));
	p->is_loose = 0;
	if (r == CENOTE_OK)
		r = cnd_pg_add_end(s, is_sync);
	if (r == CENOTE_OK)
		(void)cnd_pg_send_run(s);
}

void
cnd_pg_close_spent(struct cnd_session *s)
{
	char name[CND_PG_NAME_MAX];
	uint32_t number = s->spent.portal - 1;

	if (s->spent.has_unnamed)
		s->spent.is_closing_unnamed =
			cnd_pg_add_named(&s->out.buf, 'C', 'S', "", 0) == CENOTE_OK;
	if (s->tx != 'T')
		s->spent.portal = 0;
	if (s->spent.portal == 0 || s->sync.is_skipping)
		return;
	cnd_pg_portal_name(number, name);
	s->spent.is_closing =
		cnd_pg_add_named(&s->out.buf, 'C', 'P', name, strlen(name)) == CENOTE_OK;
}

void
cnd_pg_out_clear(struct cnd_session *s)
{
	cnc_buf_clear(&s->out.buf, SIZE_MAX);
	s->spent.is_closing = s->spent.is_closing_unnamed = 0;
}

/* Read and drop the rest. The server also runs the statements that follow, as it would without the close. */
static void
drain_stream(struct cnd_session *s, struct cnd_pg_portal *p)
{
	(void)cnd_pg_run_begin(s, NULL);
	resume_run(s, p, 0);
	s->run.in_rows = 1;
	(void)cnd_pg_run(s);
}

void
cnd_pg_close_portal(struct cnd_session *s, struct cnd_portal *portal)
{
	struct cnd_pg_portal *p = portal->own;
	struct cnc_diag diag;

	cnc_diag_init(&diag, NULL);
	if (cnd_pg_enter(s, &diag) == CENOTE_OK && !p->is_stored) {
		if (p->is_stream)
			drain_stream(s, p);
		else
			close_on_server(s, p);
	}
	if (portal->own != NULL)
		cnd_pg_forget_portal(s, portal);
	cnc_diag_finish(&diag);
	s->diag = NULL;
}
