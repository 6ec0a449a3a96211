/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notices and parameters that come before the turn of their request, because the target has several requests at once (ahead.c).
 * They are kept until the client gets the answer to that request. target.c, ahead.c and request.c call this file. It owns
 * s->ahead.early.
 */
#include <string.h>

#include "router.h"

static void
free_early(struct cnd_session *s, struct cnd_rt_early *e)
{
	cnc_free(s->mem, e->name);
	cnc_free(s->mem, e->value);
	cnc_diag_finish(&e->notice);
	cnc_free(s->mem, e);
}

bool
cnd_rt_keep_early(struct cnd_session *s, const cenote_diag *notice, const char *name,
	const char *value)
{
	/* libcenote has the whole answers of so many requests that the router has not passed on */
	size_t n = s->ahead.n > 0 ? cenote_n_answered(s->ahead.target->conn) : 0;
	struct cnd_rt_early *e, **at = &s->ahead.early;

	if (n == 0)
		return false;
	e = cnc_calloc(s->mem, 1, sizeof(*e));
	if (e == NULL)
		return false;
	e->request = s->ahead.at - 1 + n;
	cnc_diag_init(&e->notice, s->mem);
	if (name != NULL) {
		e->name = cnc_strndup(s->mem, name, strlen(name));
		e->value = cnc_strndup(s->mem, value, strlen(value));
	} else {
		cnd_rt_copy_diag(&e->notice, notice);
	}
	if (name != NULL && (e->name == NULL || e->value == NULL)) {
		free_early(s, e);
		return false;
	}
	while (*at != NULL)
		at = &(*at)->next;
	*at = e;
	return true;
}

void
cnd_rt_tell_early(struct cnd_session *s, size_t request)
{
	struct cnd_rt_early *e;

	while ((e = s->ahead.early) != NULL && e->request <= request) {
		s->ahead.early = e->next;
		if (e->name != NULL)
			cnd_rt_tell_parameter(s, e->name, e->value);
		else
			cnd_rt_tell_notice(s, &e->notice);
		free_early(s, e);
	}
}

void
cnd_rt_forget_early(struct cnd_session *s)
{
	struct cnd_rt_early *e;

	while ((e = s->ahead.early) != NULL) {
		s->ahead.early = e->next;
		free_early(s, e);
	}
}
