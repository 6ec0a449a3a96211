/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements that the client prepared by SQL: PREPARE q AS …. They move with the client in its carry (settings.c). This
 * file remembers which of the client's texts prepared them. It owns s->prepared. exec.c and settings.c call it.
 *
 * The server lists each such statement with the text that prepared it, but not with the settings of that moment, on which
 * its meaning depends. So a statement moves only if its text is one that the client itself has sent, and if no text has
 * changed such a setting since. What a function prepared, under settings of its own perhaps, holds the session.
 */
#include "session.h"

void
cnd_pg_prepared_forget(struct cnd_session *s)
{
	s->prepared.n = 0;
}

static int
has(const struct cnd_pg_prepared *prepared, uint64_t hash)
{
	for (size_t i = 0; i < prepared->n && i < CND_PG_PREPARED_MAX; i++) {
		if (prepared->list[i] == hash)
			return 1;
	}
	return 0;
}

void
cnd_pg_prepared_note(struct cnd_session *s, uint64_t hash)
{
	struct cnd_pg_prepared *prepared = &s->prepared;

	/* the oldest is replaced, and its statement holds the session */
	if (!has(prepared, hash))
		prepared->list[prepared->n++ % CND_PG_PREPARED_MAX] = hash;
}

int
cnd_pg_prepared_is_known(const struct cnd_session *s, const char *text, size_t len)
{
	return has(&s->prepared, cnd_pg_hash(text, len));
}
