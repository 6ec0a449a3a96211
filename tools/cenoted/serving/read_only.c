/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pool with `read_only = yes`: before a transaction can begin, let the server confirm that it will be read-only. It owns
 * s->read_only. request.c calls it for each request that may begin a transaction.
 *
 * A function that a statement calls may change the default of later transactions, and no text tells that. So the backend
 * looks at the session before each statement outside of a transaction. Two cases are left. In a pipeline, the backend cannot
 * look at the session between two requests. So after the end of a transaction, no statement may follow before the
 * synchronization point. And in MySQL, the beginning of a transaction ends the open one. So there the backend looks at the
 * session inside of a transaction, too, unless the statement only reads.
 */
#include "serving.h"

#include "core/sqlstate.h"

static int
refuse_after_end(struct cnd_serving *s)
{
	cnc_diag_set(&s->diag, CNC_SQLSTATE(READ_ONLY),
		"pool %s is read-only (read_only = yes): after the end of a transaction "
		"in a pipeline, a synchronization point must come before the next "
		"statement",
		s->pool);
	return CENOTE_ERR_SERVER;
}

/* Whether the backend must look at the session now, and can. */
static bool
should_look(const struct cnd_serving *s)
{
	if (s->held.tx == CENOTE_TX_IDLE)
		return !s->read_only.is_in_unit;
	return s->backend->sync == NULL && !s->read_only.is_plain;
}

int
cnd_read_only_enter(struct cnd_serving *s)
{
	struct cnd_serving_read_only *ro = &s->read_only;
	int r = CENOTE_OK;

	if (!s->is_read_only)
		return CENOTE_OK;
	if (ro->has_ended)
		return refuse_after_end(s);
	if (should_look(s))
		r = s->backend->read_only(s->session, &s->sink, &s->diag);
	if (r == CENOTE_OK && ro->may_end && ro->is_in_unit)
		ro->has_ended = true;
	ro->is_in_unit = s->backend->sync != NULL;
	return r;
}

void
cnd_read_only_begin(struct cnd_serving *s)
{
	s->read_only.may_end = s->read_only.is_plain = false;
}

int
cnd_read_only_end_transaction(struct cnd_serving *s)
{
	s->read_only.may_end = true;
	return cnd_read_only_enter(s);
}

void
cnd_read_only_synced(struct cnd_serving *s)
{
	s->read_only = (struct cnd_serving_read_only){ .is_in_unit = false };
}
