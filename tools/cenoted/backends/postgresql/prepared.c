/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which prepared statements may move. This file owns s->prepared, the texts of statements that the client prepared by SQL
 * (PREPARE q AS …), and s->named, the names of statements that it prepared by request. Statements of SQL move in the carry
 * (settings.c). Libcenote prepares the others again. ahead.c, exec.c, settings.c and settle.c call this file.
 *
 * The meaning of a statement depends on the settings that the session had when it was prepared. The server lists the
 * statements, but not these settings. So a statement moves only if the client itself has sent it, and if no text has
 * changed such a setting since. A statement that a function has prepared holds the session, since the function may have had
 * settings of its own.
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
	/* if the list is full, this replaces the oldest, whose statement then holds the session */
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
