/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Queries that the program sends before it has read the answer to the previous one. MariaDB's
 * library writes them to the server at once. The shim keeps each query until the program has read
 * all earlier answers. A program that reads the answers in order sees no difference. query.c adds
 * queries, send.c removes and sends them, handle.c drops them.
 */

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

struct cmy_ahead *
cmy_ahead_take(struct cmy_session *s)
{
	struct cmy_ahead *first = s->ahead;

	if (first)
		s->ahead = first->next;
	return first;
}
