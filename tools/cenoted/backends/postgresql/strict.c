/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In a pool with strict = yes, a statement is refused if its text says that it would keep the session. What a function leaves
 * is known only after it ran, so it is not refused.
 */
#include "session.h"

static const struct {
	uint32_t pin;
	uint32_t flag; /* of the scan, if `pin` is 0 */
	const char *advice;
} refused[] = {
	{ CENOTE_PIN_TEMP, 0,
		"a temporary object keeps its session: make it in a transaction, with ON "
		"COMMIT DROP" },
	{ CENOTE_PIN_LISTEN, 0, "LISTEN keeps its session in this pool" },
	{ CENOTE_PIN_LOCK, 0,
		"an advisory lock of the session keeps it: take one of the transaction, "
		"pg_advisory_xact_lock()" },
	{ CENOTE_PIN_CURSOR, 0,
		"a cursor WITH HOLD keeps its session: use one without it in a "
		"transaction" },
	{ CENOTE_PIN_PREPARED, 0,
		"this PREPARE keeps its session: send it alone, or prepare the statement "
		"by the library's function, such as PQprepare()" },
	{ 0, CND_PG_SCAN_HIDES,
		"nobody can tell what this statement leaves in its session" },
};

/* A table with ON COMMIT DROP ends with its transaction. */
static int
ends_with_transaction(const struct cnd_pg_scan *scan)
{
	return (scan->flags & CND_PG_SCAN_ON_COMMIT_DROP) != 0 &&
	       (scan->flags & CND_PG_SCAN_SEVERAL) == 0;
}

const char *
cnd_pg_strict_advice(const struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	uint32_t pins = scan->pins;

	if (s->host->refuses_pins == NULL || !s->host->refuses_pins(s->host))
		return NULL;
	if (s->host->moves_listen != NULL && s->host->moves_listen(s->host))
		pins &= ~(uint32_t)CENOTE_PIN_LISTEN;
	if (ends_with_transaction(scan))
		pins &= ~(uint32_t)CENOTE_PIN_TEMP;
	if (scan->prepares != 0)
		pins &= ~(uint32_t)CENOTE_PIN_PREPARED;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if ((pins & refused[i].pin) != 0 || (scan->flags & refused[i].flag) != 0)
			return refused[i].advice;
	}
	return NULL;
}

int
cnd_pg_check_strict(struct cnd_session *s, const char *sql, size_t len)
{
	struct cnd_pg_scan scan;
	const char *advice;

	cnd_pg_memo_scan(&s->memo, sql, len, &s->facts, &scan);
	advice = cnd_pg_strict_advice(s, &scan);
	return advice == NULL ? CENOTE_OK
			      : cnd_pg_refuse(s, CNC_SQLSTATE(UNSUPPORTED),
					"%s; this pool has strict = yes", advice);
}
