/* SPDX-License-Identifier: BSD-2-Clause */
#include "libpq.h"

#include <poll.h>

/* In the socket's place: what is to be sent goes in, and what the server would have sent comes out. */

/* As much is made at once, at least; and rows go on being made up to here. */
#define MADE_BYTES 65536u
#define MADE_MAX   (2u * (size_t)CND_PG_MSG_MAX)

static void
work(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;

	do {
		while (l->n > 0 && !l->is_broken && cnc_buf_len(&l->made) < MADE_BYTES &&
			cnd_pg_libpq_take(s))
			continue;
	} while (cnc_buf_len(&l->made) < MADE_BYTES && cnd_pg_libpq_call(s));
	if (l->n == 0)
		cnd_pg_libpq_take_notifications(s);
}

static int
lost(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;

	if (l->status < 0)
		return cnd_pg_lost(s, CNC_SQLSTATE(NO_MEMORY),
			"no memory for what %s sent", s->server);
	if (PQstatus(s->conn) == CONNECTION_BAD)
		return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
			"the connection to %s was lost: %s", s->server,
			PQerrorMessage(s->conn));
	return cnd_pg_broken(s, PQerrorMessage(s->conn));
}

int
cnd_pg_libpq_receive(struct cnd_session *s, struct cnc_buf **ret_made, short *ret_events)
{
	struct cnd_pg_libpq *l = s->libpq;
	int is_open = 1;
	int left;

	*ret_made = &l->made;
	work(s);
	if (cnc_buf_len(&l->made) == 0 && !l->is_broken) {
		is_open = PQconsumeInput(s->conn);
		work(s);
		if (l->n == 0 && cnc_buf_len(&l->made) == 0)
			cnd_pg_libpq_take_parameters(s);
	}
	if (l->status < 0)
		return lost(s);
	if (cnc_buf_len(&l->made) > 0)
		return 1;
	if (l->is_broken || !is_open || PQstatus(s->conn) == CONNECTION_BAD)
		return lost(s);
	left = PQflush(s->conn);
	*ret_events = left > 0 ? POLLIN | POLLOUT : POLLIN;
	return 0;
}

int
cnd_pg_libpq_send(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;
	int r = cnc_buf_append(&l->todo, cnc_buf_head(&s->out), cnc_buf_len(&s->out));

	cnc_buf_consume(&s->out, cnc_buf_len(&s->out));
	if (r < 0) {
		cnd_pg_libpq_note(l, r);
		return lost(s);
	}
	while (cnd_pg_libpq_call(s))
		continue;
	if (l->status < 0)
		return lost(s);
	/* that it cannot be sent is told when its answer is read */
	while (PQflush(s->conn) > 0) {
		r = cnd_pg_wait(s, POLLIN | POLLOUT);
		if (r < 0)
			return r;
		if (!PQconsumeInput(s->conn))
			break;
	}
	return CENOTE_OK;
}

int
cnd_pg_libpq_init(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = cnc_calloc(s->mem, 1, sizeof(*l));

	if (l == NULL || PQsetnonblocking(s->conn, 1) != 0) {
		cnc_free(s->mem, l);
		return CENOTE_ERR_NOMEM;
	}
	cnc_buf_init(&l->todo, s->mem, MADE_MAX);
	cnc_buf_init(&l->made, s->mem, MADE_MAX);
	s->libpq = l;
	(void)PQsetNoticeReceiver(s->conn, cnd_pg_libpq_take_notice, l);
	return CENOTE_OK;
}

void
cnd_pg_libpq_finish(struct cnd_session *s)
{
	if (s->libpq == NULL)
		return;
	cnc_buf_finish(&s->libpq->todo);
	cnc_buf_finish(&s->libpq->made);
	cnc_free(s->mem, s->libpq);
	s->libpq = NULL;
}
