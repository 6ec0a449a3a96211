/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client begins on the session: give the backend what the client had on its previous session, and the options of its
 * ATTACH. The owner calls this before it sends ATTACHED.
 */
#include "serving.h"

/* Set the options of ATTACH, whose form has been checked. The backend takes those that it
 * knows. */
static int
set_options(struct cnd_serving *s, struct cnp_str options)
{
	struct cnp_str name, value;
	struct cnc_reader reader;
	bool is_new = false, is_known = false;
	int r;

	if (!(s->backend->features & CNP_FEATURE_OPTIONS) ||
		s->backend->set_option == NULL)
		return CENOTE_OK;
	cnc_reader_init(&reader, options.p, options.n);
	while (cnp_pairs_next(&reader, &name, &value) > 0) {
		r = s->backend->set_option(s->session, name.p, value.p, &s->diag);
		if (r < 0 && r != CENOTE_ERR_ARG)
			return r;
		is_new |= r == CENOTE_OK;
		is_known |= r != CENOTE_ERR_ARG;
		cnc_diag_clear(&s->diag);
	}
	if (s->backend->options_are_set != NULL) {
		r = s->backend->options_are_set(s->session, &s->diag);
		if (r < 0)
			return r;
		is_new |= r == CENOTE_OK;
	}
	/* also without a new fact: the reset may change an option back */
	if (is_new || is_known)
		s->ops->facts_changed(s, is_new);
	return CENOTE_OK;
}

int
cnd_serving_attach(struct cnd_serving *s, const struct cnp_attach *m)
{
	int r = s->backend->attach(s->session, &m->carry, &s->diag);

	/* the facts may be those that the client brought */
	if (r == CENOTE_OK && m->carry.n > 0)
		s->ops->facts_changed(s, true);
	return r < 0 ? r : set_options(s, m->options);
}
