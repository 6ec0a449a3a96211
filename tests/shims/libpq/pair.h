/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_PAIR_H
#define CNT_PAIR_H

#include "original.h"

/* The functions that the shim does not forward to the original. */
struct cnt_pq_more {
	int (*PQmblen)(const char *s, int encoding);
	int (*PQmblenBounded)(const char *s, int encoding);
	int (*PQdsplen)(const char *s, int encoding);
	int (*pg_char_to_encoding)(const char *name);
	const char *(*pg_encoding_to_char)(int encoding);
	int (*pg_valid_server_encoding_id)(int encoding);
};

/* A libpq library, and its functions by name. */
struct cnt_pq {
	void *library;
	struct cpq_original f;
	struct cnt_pq_more more;
};

/*
 * The path of the original that is installed; or of another version, which tests/versions names in the environment.
 * Then the shim stands for that version, too.
 */
const char *cnt_pq_original(void);

/* Load a libpq library. If it cannot be opened, print the reason and end the test. */
void cnt_pq_load(struct cnt_pq *ret_pq, const char *path);

/*
 * Load our library and the original, each in its own namespace. CNT_LIBPQ in the environment replaces the
 * path of ours.
 */
void cnt_pair_open(struct cnt_pq *ret_ours, struct cnt_pq *ret_original);
void cnt_pair_close(struct cnt_pq *ours, struct cnt_pq *original);
/*
 * Load only our library, as if this program were linked with it. Functions that this program defines, such
 * as malloc(), then replace those that the library calls. The library stays loaded.
 */
void cnt_ours_open(struct cnt_pq *ret_ours);

#endif
