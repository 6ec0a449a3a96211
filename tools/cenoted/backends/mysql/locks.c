/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The locks that a client took by GET_LOCK(). The server does not list them, but for each name it tells whether this
 * session holds the lock. So the backend remembers the names in the client's texts, and asks about them. It owns s->locks.
 * If a name is not known, the session stays with the client until RELEASE_ALL_LOCKS().
 *
 * Names are compared as bytes. A name of ASCII characters has the same bytes in all character sets that a client may have.
 * Only @@character_set_connection can have several bytes for an ASCII character. Then the name counts as not known.
 */
#include <string.h>

#include "my.h"

static bool
is_known(const struct cnd_my_locks *l, const char *name)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (strcmp(l->names[i], name) == 0)
			return true;
	}
	return false;
}

static void
note_taken(struct cnd_session *s, const char *name)
{
	struct cnd_my_locks *l = &s->locks;

	if (*name == '\0' || s->trace.doubts & CND_MY_NOTE_WIDE) {
		s->trace.has_locks = 1;
		return;
	}
	l->knowledge = CND_MY_UNASKED;
	if (is_known(l, name))
		return;
	if (l->n == CND_MY_LOCKS_MAX) {
		s->trace.has_locks = 1;
		return;
	}
	memcpy(l->names[l->n++], name, strlen(name) + 1);
}

void
cnd_my_locks_note(struct cnd_session *s, const struct cnd_my_scan *scan)
{
	if (scan->notes & CND_MY_NOTE_TAKES_LOCK)
		note_taken(s, scan->lock);
	if (scan->notes & CND_MY_NOTE_RELEASES_LOCK && s->locks.n > 0)
		s->locks.knowledge = CND_MY_UNASKED;
}

void
cnd_my_locks_forget(struct cnd_session *s)
{
	s->locks.n = 0;
	s->locks.knowledge = CND_MY_KNOWN;
}

void
cnd_my_locks_ask(const struct cnd_session *s, struct cnd_text *question)
{
	cnd_text_add(question, "0");
	for (unsigned i = 0; i < s->locks.n; i++) {
		cnd_text_add(question, " OR IS_USED_LOCK(_latin1'");
		cnd_text_add(question, s->locks.names[i]);
		cnd_text_add(question, "') <=> CONNECTION_ID()");
	}
}

void
cnd_my_locks_take(struct cnd_session *s, bool is_held)
{
	if (is_held)
		s->locks.knowledge = CND_MY_HELD;
	else
		cnd_my_locks_forget(s);
}
