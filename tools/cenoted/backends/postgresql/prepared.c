/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which prepared statements may move. It owns s->prepared, the client's texts that prepared statements by SQL (PREPARE q AS
 * …), and s->named, the names of those that it prepared by request. The former move in the carry (settings.c),
 * libcenote prepares the latter again. exec.c, settings.c and settle.c call it.
 *
 * The server lists each statement, but not with the settings of the moment when it was prepared, on which its meaning
 * depends. So a statement moves only if the client itself has sent it, and if no text has changed such a setting since.
 * What a function prepared, under settings of its own perhaps, holds the session.
 */
#include "session.h"

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
cnd_pg_prepared_note(struct cnd_pg_prepared *prepared, uint64_t hash)
{
	/* the oldest is replaced, and its statement holds the session */
	if (!has(prepared, hash))
		prepared->list[prepared->n++ % CND_PG_PREPARED_MAX] = hash;
}

int
cnd_pg_prepared_is_known(
	const struct cnd_pg_prepared *prepared, const char *text, size_t len)
{
	return has(prepared, cnd_pg_hash(text, len));
}

void
cnd_pg_prepared_drop(struct cnd_pg_prepared *prepared, const char *text, size_t len)
{
	const uint64_t hash = cnd_pg_hash(text, len);

	for (size_t i = 0; i < CND_PG_PREPARED_MAX; i++) {
		if (prepared->list[i] == hash)
			prepared->list[i] = 0;
	}
}

void
cnd_pg_prepared_forget(struct cnd_session *s)
{
	s->prepared.n = 0;
	s->named.n = 0;
}
