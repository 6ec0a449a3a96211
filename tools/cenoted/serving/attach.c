/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client begins on the session: give the backend what the client had on its previous session, and the options of its
 * ATTACH. The owner calls this before it sends ATTACHED.
 */
#include "cached.h"

/* Set the options of ATTACH, whose form has been checked. The backend takes those that it
 * knows. */
static int
set_options(struct cnd_serving *s, struct cnp_str options)
{
	struct cnp_str name, value;
	struct cnc_reader reader;
	int r;

	if (!(s->backend->features & CNP_FEATURE_OPTIONS) ||
		s->backend->set_option == NULL)
		return CENOTE_OK;
	cnc_reader_init(&reader, options.p, options.n);
	while (cnp_pairs_next(&reader, &name, &value) > 0) {
		r = s->backend->set_option(s->session, name.p, value.p, &s->diag);
		if (r < 0 && r != CENOTE_ERR_ARG)
			return r;
		cnc_diag_clear(&s->diag);
	}
	r = s->backend->options_are_set != NULL
		    ? s->backend->options_are_set(s->session, &s->diag)
		    : CENOTE_OK;
	return r < 0 ? r : CENOTE_OK;
}

int
cnd_serving_attach(struct cnd_serving *s, const struct cnp_attach *m)
{
	int r;

	if (s->cached != NULL)
		cnd_cached_attach(s, m);
	r = s->backend->attach(s->session, &m->carry, &s->diag);
	if (r == CENOTE_OK)
		r = set_options(s, m->options);
	/* also after a failure: the next client must not hear the facts of this one */
	if (m->carry.n > 0 || (s->backend->features & CNP_FEATURE_OPTIONS))
		s->ops->facts_changed(s, true);
	return r;
}
