/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CACHED_INTERNAL_H
#define CND_CACHED_INTERNAL_H

#include "cached.h"

/* What cached.c (the client and its writes) and cached_answer.c (keys and results) share. */

/* Memory that is kept for the next key or result. */
#define CND_CACHED_KEPT    65536u
/* The longest key. */
#define CND_CACHED_KEY_MAX ((size_t)1024 * 1024)
/* How many statements with a name at the server are known. The others count as unknown. */
#define CND_CACHED_NAMES   256u

struct cnd_plan {
	struct cnd_touch touch;
	uint64_t ttl_ms;
	/* of the client when the statement was prepared */
	uint32_t n_settings;
	uint32_t n_run;
	bool is_sure; /* no hidden code had set anything else then */
	bool has_columns; /* the client has columns of this statement */
	uint64_t columns; /* a sum of these columns */
	size_t n_name, n_sql, n_types;
	char bytes[]; /* the name, the text and the types */
};

struct cnd_cached {
	struct cnd_cache cache;
	struct cnd_cache_counts *counts;
	uint32_t slot;

	/* the client */
	struct cnc_buf options; /* those of its ATTACH */
	struct cnc_buf
		brought; /* the settings that moved with it from its former session */
	struct cnc_buf history; /* what it has set since */
	uint32_t n_settings; /* how often these have changed */
	uint32_t settled_at; /* n_settings when cached_answer.c last asked the server */
	uint32_t n_run; /* how many statements have reached the server */
	bool is_off; /* it may have set something that is not in `history` */
	bool is_another; /* it has changed its user */
	bool is_reset; /* it has reset its session */
	bool is_clean; /* no statement has run since the last synchronization point */
	struct cnd_plan *names[CND_CACHED_NAMES];
	size_t n_names;
	struct cnd_touch dirty; /* what its open transaction has changed */
	struct cnd_touch portals; /* what its open results may still change */

	/* the running request */
	struct cnd_touch touch;
	uint64_t ttl_ms;
	struct cnd_plan *plan; /* of the statement that it executes or describes */
	bool was_clean; /* no transaction was open before */
	bool has_run; /* a statement was sent to the server */
	bool has_failed;
	bool is_keeping; /* `result` gets a copy of the answer */
	bool is_giving; /* the answer comes from the cache */
	bool has_begun; /* the columns came */
	uint64_t columns; /* a sum of them */
	bool is_complete;
	struct cnc_buf key;
	struct cnc_buf result; /* the copy for the cache, or from it */
	uint64_t sent_us;
};

/* cached_answer.c */
/* The answer is complete: keep it. */
void cnd_cached_keep(struct cnd_serving *s);

#endif
