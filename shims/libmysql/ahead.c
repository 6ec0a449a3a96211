/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Queries that the program sends before it has read the answer to the one before. MariaDB's library writes them to
 * the server at once; here each is sent when the answers before it have been read, which a program that reads them
 * in order cannot tell.
 */

struct cmy_ahead {
	struct cmy_ahead *next;
	size_t len;
	char sql[];
};

int
cmy_ahead_put(struct cmy_session *s, const char *sql, size_t len)
{
	struct cmy_ahead **end = &s->ahead, *a = NULL;

	if (len <= SIZE_MAX - sizeof(*a))
		a = malloc(sizeof(*a) + len);
	if (!a) {
		cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	a->next = NULL;
	a->len = len;
	if (len > 0)
		memcpy(a->sql, sql, len);
	while (*end)
		end = &(*end)->next;
	*end = a;
	return 0;
}

int
cmy_ahead_send(struct cmy_session *s)
{
	struct cmy_ahead *a = s->ahead;
	MYSQL *my = s->my;
	uint64_t affected = my->affected_rows;
	int r;

	if (!a)
		return 0;
	s->ahead = a->next;
	my->net.last_errno = 0;
	my->net.last_error[0] = '\0';
	r = cmy_send(s, a->sql, a->len);
	/* the program has sent it long ago, and this was the answer since */
	my->affected_rows = affected;
	free(a);
	return r;
}

void
cmy_ahead_drop(struct cmy_session *s)
{
	struct cmy_ahead *a, *next;

	for (a = s->ahead; a; a = next) {
		next = a->next;
		free(a);
	}
	s->ahead = NULL;
}
