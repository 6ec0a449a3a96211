/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In a pool with strict = yes, a statement is refused if its text says that it would keep the session. What a function leaves
 * is known only after it ran, so it is not refused. A text that cannot be read with certainty is not refused either.
 */
#include "my.h"

static const struct {
	uint32_t pin;
	uint32_t note;
	const char *advice;
} refused[] = {
	{ CENOTE_PIN_TEMP, CND_MY_NOTE_CREATES,
		"a temporary table keeps its session: use an ordinary table, or WITH in "
		"the query" },
	{ 0, CND_MY_NOTE_VARIABLES,
		"a user variable keeps its session: let the program keep the value" },
	{ 0, CND_MY_NOTE_TAKES_LOCK,
		"GET_LOCK() keeps its session: lock a row in a transaction, with SELECT "
		"... FOR UPDATE" },
	{ CENOTE_PIN_LOCK, CND_MY_NOTE_LOCKS_TABLES,
		"this lock keeps its session: lock rows in a transaction, with SELECT "
		"... FOR UPDATE" },
	{ CENOTE_PIN_PREPARED, CND_MY_NOTE_PREPARES,
		"PREPARE keeps its session: prepare the statement by the library's "
		"function, such as mysql_stmt_prepare()" },
	{ CENOTE_PIN_CURSOR, 0, "HANDLER keeps its session: use SELECT" },
	{ CENOTE_PIN_SETTINGS, 0,
		"what this statement sets for later statements cannot move to another "
		"session" },
	{ 0, CND_MY_NOTE_OPAQUE_VERB,
		"nobody can tell what this statement leaves in its session" },
};

static const char *
find_advice(const struct cnd_my_scan *scan)
{
	const uint32_t mixed = CND_MY_NOTE_SETS | CND_MY_NOTE_SEVERAL;

	if (scan->notes & CND_MY_NOTE_UNSURE)
		return NULL;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (scan->pins & refused[i].pin || scan->notes & refused[i].note)
			return refused[i].advice;
	}
	if ((scan->notes & mixed) == mixed)
		return "what SET sets together with other statements keeps the session: "
		       "send the SET alone";
	return NULL;
}

int
cnd_my_check_strict(struct cnd_session *s, const struct cnd_my_scan *scan)
{
	const char *advice;

	if (!s->host->refuses_pins || !s->host->refuses_pins(s->host))
		return CENOTE_OK;
	advice = find_advice(scan);
	return advice ? cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
				"%s; this pool has strict = yes", advice)
		      : CENOTE_OK;
}
