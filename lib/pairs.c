/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/* Small lists of names and values: the server's parameters, and the session's options. */

#define PAIRS_MAX   1000u
#define PAIRS_FIRST 16u

static struct cn_pair *
find(const struct cn_pairs *p, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const char *at = p->list[i].name;

		/* A caller that lists all pairs passes the list's own text, for which a comparison
		 * of pointers is enough. */
		if (*at == *name && (at == name || strcmp(at, name) == 0))
			return &p->list[i];
	}
	return NULL;
}

const char *
cn_pairs_find(const struct cn_pairs *p, const char *name)
{
	const struct cn_pair *pair = find(p, name);

	return pair ? pair->value : NULL;
}

/* Make room for one more pair. */
static int
reserve(const struct cenote_allocator *mem, struct cn_pairs *p)
{
	uint32_t cap = p->cap > 0 ? p->cap * 2 : PAIRS_FIRST;
	struct cn_pair *list;

	if (p->n < p->cap)
		return CENOTE_OK;
	list = cnc_calloc(mem, cap, sizeof(*list));
	if (!list)
		return CENOTE_ERR_NOMEM;
	if (p->n > 0)
		memcpy(list, p->list, p->n * sizeof(*list));
	cnc_free(mem, p->list);
	p->list = list;
	p->cap = cap;
	return CENOTE_OK;
}

/* Copy a pair as "NAME\0VALUE\0". */
static char *
copy_pair(const struct cenote_allocator *mem, const char *name, const char *value)
{
	size_t n = strlen(name) + 1, n_value = strlen(value) + 1;
	char *copy = cnc_alloc(mem, n + n_value);

	if (!copy)
		return NULL;
	memcpy(copy, name, n);
	memcpy(copy + n, value, n_value);
	return copy;
}

static size_t
size_of(const struct cn_pair *pair)
{
	return strlen(pair->name) + strlen(pair->value);
}

/* Put the pair in the place of `old`; NULL: append it. */
static int
put(const struct cenote_allocator *mem, struct cn_pairs *p, struct cn_pair *old,
	const struct cn_pair *pair, size_t max_bytes)
{
	size_t bytes = p->bytes + size_of(pair) - (old ? size_of(old) : 0);
	int r;

	if (bytes > max_bytes || (!old && p->n >= PAIRS_MAX))
		return CENOTE_ERR_LIMIT;
	if (!old) {
		r = reserve(mem, p);
		if (r < 0)
			return r;
		old = &p->list[p->n++];
		old->own = NULL;
	}
	cnc_free(mem, old->own);
	*old = *pair;
	p->bytes = bytes;
	return CENOTE_OK;
}

int
cn_pairs_set(const struct cenote_allocator *mem, struct cn_pairs *p, const char *name,
	const char *value, size_t max_bytes)
{
	struct cn_pair *old = find(p, name);
	struct cn_pair pair;
	int r;

	if (old && strcmp(old->value, value) == 0)
		return CENOTE_OK;
	pair.own = copy_pair(mem, name, value);
	if (!pair.own)
		return CENOTE_ERR_NOMEM;
	pair.name = pair.own;
	pair.value = pair.own + strlen(name) + 1;
	r = put(mem, p, old, &pair, max_bytes);
	if (r < 0)
		cnc_free(mem, pair.own);
	return r < 0 ? r : CENOTE_DONE;
}

int
cn_pairs_borrow(const struct cenote_allocator *mem, struct cn_pairs *p,
	const struct cnp_str *name, const struct cnp_str *value, size_t max_bytes)
{
	size_t bytes = p->bytes + name->n + value->n;

	if (bytes > max_bytes || p->n >= PAIRS_MAX)
		return CENOTE_ERR_LIMIT;
	if (reserve(mem, p) < 0)
		return CENOTE_ERR_NOMEM;
	p->list[p->n++] = (struct cn_pair){ .name = name->p, .value = value->p };
	p->bytes = bytes;
	return CENOTE_OK;
}

void
cn_pairs_remove(const struct cenote_allocator *mem, struct cn_pairs *p, const char *name)
{
	struct cn_pair *pair = find(p, name);

	if (!pair)
		return;
	p->bytes -= size_of(pair);
	cnc_free(mem, pair->own);
	*pair = p->list[--p->n];
	p->list[p->n].own = NULL;
}

void
cn_pairs_finish(const struct cenote_allocator *mem, struct cn_pairs *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		cnc_free(mem, p->list[i].own);
	cnc_free(mem, p->list);
	memset(p, 0, sizeof(*p));
}
