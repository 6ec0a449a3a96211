/* SPDX-License-Identifier: BSD-2-Clause */
/* An allocator that can free everything that it has given out. All memory of a loan comes from it (loan.c). */
#include "borrower.h"

#include <stddef.h>

/* Before each piece. The alignment keeps the piece aligned for every type. */
struct cnd_ledger_entry {
	_Alignas(max_align_t) struct cnd_ledger_entry *next;
	struct cnd_ledger_entry **place; /* where the pointer to this entry is */
};

static void
enter(struct cnd_ledger *l, struct cnd_ledger_entry *e)
{
	e->next = l->first;
	e->place = &l->first;
	if (e->next != NULL)
		e->next->place = &e->next;
	l->first = e;
}

static void
strike(struct cnd_ledger_entry *e)
{
	*e->place = e->next;
	if (e->next != NULL)
		e->next->place = e->place;
}

static void *
ledger_alloc(size_t size, void *user)
{
	struct cnd_ledger *l = user;
	struct cnd_ledger_entry *e;

	if (size > SIZE_MAX - sizeof(*e))
		return NULL;
	e = cnc_alloc(l->source, sizeof(*e) + size);
	if (e == NULL)
		return NULL;
	enter(l, e);
	return e + 1;
}

static void *
ledger_realloc(void *ptr, size_t size, void *user)
{
	struct cnd_ledger *l = user;
	struct cnd_ledger_entry *e = (struct cnd_ledger_entry *)ptr - 1, *grown;

	if (ptr == NULL)
		return ledger_alloc(size, user);
	if (size > SIZE_MAX - sizeof(*e))
		return NULL;
	grown = cnc_realloc(l->source, e, sizeof(*e) + size);
	if (grown == NULL)
		return NULL;
	/* it may have moved */
	*grown->place = grown;
	if (grown->next != NULL)
		grown->next->place = &grown->next;
	return grown + 1;
}

static void
ledger_free(void *ptr, void *user)
{
	struct cnd_ledger *l = user;
	struct cnd_ledger_entry *e = (struct cnd_ledger_entry *)ptr - 1;

	if (ptr == NULL)
		return;
	strike(e);
	cnc_free(l->source, e);
}

void
cnd_ledger_init(struct cnd_ledger *l, const struct cenote_allocator *source)
{
	*l = (struct cnd_ledger){
		.mem = { ledger_alloc, ledger_realloc, ledger_free, l },
		.source = source,
	};
}

void
cnd_ledger_finish(struct cnd_ledger *l)
{
	struct cnd_ledger_entry *e = l->first, *next;

	l->first = NULL;
	for (; e != NULL; e = next) {
		next = e->next;
		cnc_free(l->source, e);
	}
}
