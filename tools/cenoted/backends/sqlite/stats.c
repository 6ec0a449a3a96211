/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics that SQLite makes its plans with. A session reads them once, when it is opened. It
 * does not notice an ANALYZE in another session, and then plans differently from a new login. So
 * this file compares the contents of the statistics tables, but only if the file has changed.
 */
#include <string.h>

#include "sqlite.h"

struct digest {
	uint64_t sum;
};

static int
add_row(void *user, int n, char **values, char **names)
{
	struct digest *d = user;
	int i;

	(void)names;
	for (i = 0; i < n; i++) {
		d->sum = d->sum * 31 + 1;
		if (values[i])
			d->sum += cnd_sq_hash(values[i], strlen(values[i]));
	}
	return 0;
}

/* A table that does not exist adds nothing. */
static uint64_t
digest(struct cnd_session *s)
{
	static const char *const queries[] = {
		"SELECT tbl, idx, stat FROM main.sqlite_stat1",
		"SELECT tbl, idx, neq, nlt, ndlt, sample FROM main.sqlite_stat4",
	};
	struct digest d = { 0 };
	size_t i;

	s->is_internal++;
	for (i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		(void)sqlite3_exec(s->db, queries[i], add_row, &d, NULL);
	s->is_internal--;
	return d.sum;
}

static uint32_t
file_version(struct cnd_session *s)
{
	uint32_t version = 0;

	(void)sqlite3_file_control(s->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
	return version;
}

void
cnd_sq_stats_note(struct cnd_session *s)
{
	s->file_version = file_version(s);
	s->stats = digest(s);
	/* the session may plan with older statistics than these: let the next comparison find a
	 * difference */
	if (file_version(s) != s->file_version)
		s->stats = ~s->stats;
}

int
cnd_sq_stats_changed(struct cnd_session *s)
{
	if (file_version(s) == s->file_version)
		return 0;
	s->file_version = file_version(s);
	return digest(s) != s->stats;
}
