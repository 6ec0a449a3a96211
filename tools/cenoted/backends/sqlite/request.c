/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all requests need while they run: where their errors go, the functions that SQLite calls
 * while it works or waits for a lock, and the notes of the authorizer. All files that run SQL call
 * this one. It calls none of them.
 */
#include <time.h>

#include "sqlite.h"

void
cnd_sq_sleep(int64_t ms)
{
	struct timespec ts = { .tv_nsec = ms * 1000000 };

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* Returns nonzero to stop the statement. */
static int
is_interrupted(struct cnd_session *s)
{
	int r;

	if ((s->is_internal && !s->is_catalog) || !s->diag)
		return 0;
	r = s->host->interrupted(s->host, s->diag);
	if (r < 0)
		s->stop = r;
	return r < 0;
}

int
cnd_sq_on_progress(void *user)
{
	return is_interrupted(user);
}

/* Wait for a lock, longer each time, up to the time limit. A cancel is noticed within 10 ms. */
int
cnd_sq_on_busy(void *user, int count)
{
	static const uint8_t delays_ms[] = { 1, 2, 5, 10 };
	struct cnd_session *s = user;
	size_t i =
		(size_t)count < sizeof(delays_ms) ? (size_t)count : sizeof(delays_ms) - 1;
	int64_t now = cnd_clock_ms(), left;

	if (count == 0)
		s->busy_since_ms = now;
	left = s->busy_since_ms + s->busy_timeout_ms - now;
	if (left <= 0 || is_interrupted(s))
		return 0;
	cnd_sq_sleep(left < delays_ms[i] ? left : delays_ms[i]);
	return 1;
}

void
cnd_sq_enter(struct cnd_session *s, struct cnc_diag *diag)
{
	s->diag = diag;
	s->stop = CENOTE_OK;
	s->noted = 0;
	s->denied = NULL;
	s->busy_asked = -1;
	s->chars_before = 0;
}

void
cnd_sq_take_notes(struct cnd_session *s, uint32_t notes)
{
	s->pins |= notes & CND_SQ_NOTE_PINS;
	s->is_dirty |= (notes & CND_SQ_NOTE_DIRTY) != 0;
	s->noted = 0;
	if (s->busy_asked >= 0) {
		s->busy_timeout_ms = s->busy_asked;
		(void)sqlite3_busy_handler(s->db, cnd_sq_on_busy, s);
		s->busy_asked = -1;
	}
}

int
cnd_sq_internal(struct cnd_session *s, const char *sql)
{
	int rc;

	s->is_internal++;
	rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
	s->is_internal--;
	return rc;
}
