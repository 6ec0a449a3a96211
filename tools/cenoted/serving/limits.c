/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits on the answer to a statement, which the pool's rules set (`limit rows=… bytes=… time=…`). It owns s->limited. The
 * owner's judge() calls cnd_limits_narrow(); request.c keeps the limits of prepared statements, and sink.c and copy.c count.
 *
 * A statement is judged when it is prepared, so its limits are kept for its executions. Those of a statement with a number
 * are in its entry; those of a statement that the server knows by a name are in a list here.
 */
#include "serving.h"

#include <string.h>

#include "core/sqlstate.h"

/* How many names the list can have. The limits of all other names are put together, and hold for every statement that is not
 * in the list. */
#define NAMES_MAX 256u

struct cnd_limits_name {
	struct cnd_limits limits;
	size_t n;
	char name[];
};

static void
narrow_one(struct cnd_limit *limit, const struct cnd_limit *by)
{
	if (by->max > 0 && (limit->max == 0 || by->max < limit->max))
		*limit = *by;
}

static bool
is_limited(const struct cnd_limits *l)
{
	return l->rows.max > 0 || l->bytes.max > 0 || l->time_ms.max > 0;
}

void
cnd_limits_narrow(struct cnd_limits *l, const struct cnd_limits *by)
{
	narrow_one(&l->rows, &by->rows);
	narrow_one(&l->bytes, &by->bytes);
	narrow_one(&l->time_ms, &by->time_ms);
}

/* ---- prepared statements ---- */

/* The index of the name in the list; s->limited.n: it is not there. */
static size_t
find(const struct cnd_serving *s, struct cnp_str name)
{
	size_t i = 0;

	while (i < s->limited.n &&
		(s->limited.names[i]->n != name.n ||
			memcmp(s->limited.names[i]->name, name.p, name.n) != 0))
		i++;
	return i;
}

void
cnd_limits_forget(struct cnd_serving *s, struct cnp_str name)
{
	struct cnd_serving_limited *l = &s->limited;
	size_t i = find(s, name);

	if (i == l->n)
		return;
	cnc_free(s->host.mem, l->names[i]);
	l->names[i] = l->names[--l->n];
}

static bool
add(struct cnd_serving *s, struct cnp_str name, const struct cnd_limits *limits)
{
	struct cnd_serving_limited *l = &s->limited;
	struct cnd_limits_name *entry;

	if (l->names == NULL)
		l->names = cnc_calloc(
			s->host.mem, NAMES_MAX, sizeof(struct cnd_limits_name *));
	if (l->names == NULL || l->n == NAMES_MAX)
		return false;
	entry = cnc_alloc(s->host.mem, sizeof(*entry) + name.n);
	if (entry == NULL)
		return false;
	entry->limits = *limits;
	entry->n = name.n;
	if (name.n > 0)
		memcpy(entry->name, name.p, name.n);
	l->names[l->n++] = entry;
	return true;
}

void
cnd_limits_keep(struct cnd_serving *s, uint32_t statement, struct cnp_str name)
{
	const struct cnd_limits *limits = &s->result.limits;
	struct cnd_statement *st;

	if (statement != 0) {
		st = cnd_statement_find(&s->statements, statement);
		if (st != NULL) {
			st->limits = *limits;
			st->is_plain = s->read_only.is_plain;
		}
		return;
	}
	cnd_limits_forget(s, name);
	if (is_limited(limits) && !add(s, name, limits))
		cnd_limits_narrow(&s->limited.others, limits);
}

void
cnd_limits_recall(struct cnd_serving *s, const struct cnd_named *which)
{
	size_t i;

	if (which->statement != NULL) {
		cnd_limits_narrow(&s->result.limits, &which->statement->limits);
	} else {
		i = find(s, which->name);
		cnd_limits_narrow(
			&s->result.limits, i < s->limited.n ? &s->limited.names[i]->limits
							    : &s->limited.others);
	}
	cnd_limits_start(s);
}

void
cnd_limits_forget_client(struct cnd_serving *s)
{
	while (s->limited.n > 0)
		cnc_free(s->host.mem, s->limited.names[--s->limited.n]);
	cnc_free(s->host.mem, s->limited.names);
	s->limited = (struct cnd_serving_limited){ .n = 0 };
}

/* ---- the running request ---- */

void
cnd_limits_begin(struct cnd_serving *s)
{
	s->result.limits = s->limited.all;
	s->result.limited = (struct cnd_limited){ .rows = 0 };
}

void
cnd_limits_start(struct cnd_serving *s)
{
	s->result.is_limited = is_limited(&s->result.limits);
	if (s->result.limits.time_ms.max > 0)
		s->ops->limit_time(s, &s->result.limits.time_ms);
}

void
cnd_limits_continue(struct cnd_serving *s, const struct cnd_portal *portal)
{
	cnd_limits_narrow(&s->result.limits, &portal->limits);
	s->result.limited = portal->limited;
	cnd_limits_start(s);
}

/* The answer has passed a limit: set the error. It makes the backend stop the server. */
static int
exceed(struct cnd_serving *s, const struct cnd_limit *limit, const char *what)
{
	cnc_diag_set(&s->diag, CNC_SQLSTATE(LIMIT),
		"the pool's rule of line %u allows an answer of %llu %s, and this one "
		"has more",
		limit->line, (unsigned long long)limit->max, what);
	s->stopped = CENOTE_ERR_SERVER;
	return CENOTE_ERR_SERVER;
}

int
cnd_limits_count(struct cnd_serving *s, uint64_t bytes)
{
	const struct cnd_limits *l = &s->result.limits;
	struct cnd_limited *is = &s->result.limited;

	is->rows++;
	is->bytes += bytes;
	if (l->rows.max > 0 && is->rows > l->rows.max)
		return exceed(s, &l->rows, l->rows.max == 1 ? "row" : "rows");
	if (l->bytes.max > 0 && is->bytes > l->bytes.max)
		return exceed(s, &l->bytes, "bytes");
	return CENOTE_OK;
}
