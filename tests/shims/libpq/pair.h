/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_PAIR_H
#define CNT_PAIR_H

#include "original.h"

/* The functions that the face does not forward. */
struct cnt_pq_more {
	int (*PQmblen)(const char *s, int encoding);
	int (*PQmblenBounded)(const char *s, int encoding);
	int (*PQdsplen)(const char *s, int encoding);
	int (*pg_char_to_encoding)(const char *name);
	const char *(*pg_encoding_to_char)(int encoding);
	int (*pg_valid_server_encoding_id)(int encoding);
};

/* A libpq: its functions by their names. */
struct cnt_pq {
	void *library;
	struct cpq_original f;
	struct cnt_pq_more more;
};

/* One of them; ends the test, and says so, if it cannot be opened. */
void cnt_pq_load(struct cnt_pq *ret_pq, const char *path);

/*
 * Ours (CNT_LIBPQ in the environment names another) and the original, each with its own names in its
 * own corner.
 */
void cnt_pair_open(struct cnt_pq *ret_ours, struct cnt_pq *ret_original);
void cnt_pair_close(struct cnt_pq *ours, struct cnt_pq *original);
/* Ours alone, as a program has it that was linked with it: what it calls, malloc() say, is this program's where
 * this program has it. It stays. */
void cnt_ours_open(struct cnt_pq *ret_ours);

#endif
