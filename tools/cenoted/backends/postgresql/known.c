/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts behind the names of prepared statements, as scan.c read them. Without this, an execution by a name would count as
 * a call of any function. The server has confirmed each entry by ParseComplete, or prepares it in the same write as the
 * execution. All entries end with the first statement that may prepare or deallocate by SQL: one that names such a
 * verb, or whose functions are not proved harmless (proof.c).
 */
#include "session.h"

void
cnd_pg_known_forget(struct cnd_session *s)
{
	s->known.n = 0;
}

void
cnd_pg_known_note(struct cnd_session *s, const struct cnd_pg_scan *scan, int is_harmless)
{
	if ((scan->flags & CND_PG_SCAN_DEALLOCATES) != 0 ||
		(scan->pins & CENOTE_PIN_PREPARED) != 0 ||
		(!is_harmless && (scan->pins & CENOTE_PIN_FUNCTION) != 0))
		s->known.n = 0;
}

void
cnd_pg_known_add(
	struct cnd_session *s, struct cnp_str name, const struct cnd_pg_scan *scan)
{
	struct cnd_pg_known *known = &s->known;
	size_t at = 0;

	if (name.n == 0 || name.n >= sizeof(known->list[0].name))
		return;
	while (at < known->n && strcmp(known->list[at].name, name.p) != 0)
		at++;
	if (at == CND_PG_KNOWN_MAX)
		at = known->next++ % CND_PG_KNOWN_MAX;
	else if (at == known->n)
		known->n++;
	memcpy(known->list[at].name, name.p, name.n + 1);
	known->list[at].scan = *scan;
}

const struct cnd_pg_scan *
cnd_pg_known_find(const struct cnd_session *s, struct cnp_str name)
{
	for (size_t i = 0; i < s->known.n; i++) {
		if (strcmp(s->known.list[i].name, name.p) == 0)
			return &s->known.list[i].scan;
	}
	return &cnd_pg_unknown;
}
