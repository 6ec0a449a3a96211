/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_STATUS_H
#define CND_STATUS_H

#include <stdbool.h>

#include "scoreboard.h"

/* Who asks for the status. */
struct cnd_asker {
	uid_t uid; /* only root, cenoted's own user and the client's own user see who a client is; -1: none */
	uid_t cenoted; /* cenoted's own user */
	uint32_t pool; /* the only pool that the answer covers; CND_POOL_RECORD: all */
	/* the slot of the worker that answers, which counts as idle; -1: none */
	int slot;
	bool may_read_sql; /* see the texts of digests, which name tables and columns */
};

struct cnd_status_row {
	struct cnd_scoreboard *board;
	uint32_t index;
	const struct cnd_pool_head *head;
	const struct cnd_pool_record *pool;
	const struct cnd_slot *slot; /* workers only */
	uint32_t state;
	struct cnd_census census; /* pools and pin_counts only */
	uint32_t pin; /* pin_counts only */
	uint32_t line; /* servers only; from 0 */
	uint32_t rule; /* rules only; from 0 */
	struct cnd_digest_row digest; /* digests only */
	const char *what; /* times only: what took this long */
	struct cnd_times times;
	struct cnd_identity identity;
	struct cnd_login login;
};

/* A column: a number or a text. */
struct cnd_status_field {
	const char *name;
	int64_t (*number)(const struct cnd_status_row *r); /* NULL: a text */
	const char *(*text)(const struct cnd_status_row *r);
	/* pools only: the name of the metric after "cenote_pool_"; NULL: none */
	const char *metric;
	const char *help;
	int is_counter;
	int is_private; /* who the client is, or which server and why it fails */
};

struct cnd_status_kind {
	const char *what;
	const struct cnd_status_field *fields;
	uint32_t n_fields;
	uint32_t a_pool; /* the most rows for a pool; 0: one for each slot */
	/* 0: there is no such row, or the asker may not know it. */
	int (*read)(struct cnd_scoreboard *b, uint32_t index,
		const struct cnd_asker *asker, struct cnd_status_row *r);
};

#define CND_STATUS_FIELDS_MAX 24

enum cnd_status_what {
	CND_STATUS_POOLS,
	CND_STATUS_WORKERS,
	CND_STATUS_PINS,
	CND_STATUS_PIN_COUNTS,
	CND_STATUS_SERVERS,
	CND_STATUS_TIMES,
	CND_STATUS_DIGESTS, /* the longest total time first */
	CND_STATUS_RULES,
	CND_STATUS_CACHE,
	CND_STATUS_KINDS
};

extern const struct cnd_status_kind cnd_status_kinds[CND_STATUS_KINDS];

/* The clients that have a session; only cenotectl asks for them. */
extern const struct cnd_status_kind cnd_status_clients;

/* Rows have an index below this. */
uint32_t cnd_status_most(const struct cnd_status_kind *k, const struct cnd_scoreboard *b);

#endif
