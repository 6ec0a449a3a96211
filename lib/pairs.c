/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/* Small lists of names and values: the server's parameters, and the session's options. */

#define PAIRS_MAX 1000u

static struct cn_pair *
find(const struct cn_pairs *p, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (strcmp(p->list[i].name, name) == 0)
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

static int
grow(const struct cenote_allocator *mem, struct cn_pairs *p)
{
	uint32_t cap = p->cap > 0 ? p->cap * 2 : 8;
	struct cn_pair *list;

	if (p->n < p->cap)
		return CENOTE_OK;
	if (p->n >= PAIRS_MAX)
		return CENOTE_ERR_LIMIT;
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

static int
add(const struct cenote_allocator *mem, struct cn_pairs *p, const char *name, char *value)
{
	struct cn_pair *pair;
	int r = grow(mem, p);

	if (r < 0)
		return r;
	pair = &p->list[p->n];
	pair->name = cnc_strndup(mem, name, strlen(name));
	if (!pair->name)
		return CENOTE_ERR_NOMEM;
	pair->value = value;
	pair->is_stale = 0;
	p->n++;
	p->bytes += strlen(name) + strlen(value);
	return CENOTE_OK;
}

int
cn_pairs_set(const struct cenote_allocator *mem, struct cn_pairs *p, const char *name,
	const char *value, size_t max_bytes)
{
	struct cn_pair *pair = find(p, name);
	size_t len = strlen(value);
	size_t old = pair ? strlen(pair->value) : 0;
	char *copy;
	int r;

	if (pair && strcmp(pair->value, value) == 0) {
		pair->is_stale = 0;
		return CENOTE_OK;
	}
	if (p->bytes - old + len + (pair ? 0 : strlen(name)) > max_bytes)
		return CENOTE_ERR_LIMIT;
	copy = cnc_strndup(mem, value, len);
	if (!copy)
		return CENOTE_ERR_NOMEM;
	if (!pair) {
		r = add(mem, p, name, copy);
		if (r < 0)
			cnc_free(mem, copy);
		return r < 0 ? r : CENOTE_DONE;
	}
	cnc_free(mem, pair->value);
	pair->value = copy;
	pair->is_stale = 0;
	p->bytes += len - old;
	return CENOTE_DONE;
}

void
cn_pairs_remove(const struct cenote_allocator *mem, struct cn_pairs *p, const char *name)
{
	struct cn_pair *pair = find(p, name);

	if (!pair)
		return;
	p->bytes -= strlen(pair->name) + strlen(pair->value);
	cnc_free(mem, pair->name);
	cnc_free(mem, pair->value);
	*pair = p->list[--p->n];
}

void
cn_pairs_finish(const struct cenote_allocator *mem, struct cn_pairs *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		cnc_free(mem, p->list[i].name);
		cnc_free(mem, p->list[i].value);
	}
	cnc_free(mem, p->list);
	memset(p, 0, sizeof(*p));
}
