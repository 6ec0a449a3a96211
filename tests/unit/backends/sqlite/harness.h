/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SQLITE_HARNESS_H
#define CNT_SQLITE_HARNESS_H

#include "support/cnt_backend.h"

/*
 * The SQLite backend (support/cnt_backend.h). Its transcript has, besides:
 *
 *     params :a ?
 *     error 42P01 no such table: t  (then, where set: position=N hint=…)
 */
struct sq {
	const struct cnd_backend *b;
	struct cnd_session *s;
	struct cnd_host host;
	struct cnc_diag diag;
	struct cnd_option options[12];
	size_t n_options;
	char dir[64];
	char path[96];
	/* How the next requests are run. */
	uint8_t format;
	uint32_t batch_rows;
	uint64_t max_rows;
	uint32_t portal; /* grows with each request */
	/* The host says "cancelled" at the n-th question; 0 never. */
	uint64_t interrupt_at;
	uint64_t n_questions;
	const struct cenote_allocator *mem; /* NULL: the default */
	int count_only; /* rows are counted, not written down */
	int last; /* status of the last request */
	struct cnt_transcript seen;
};

/* What the module, or a library that it needs, exports under a name; NULL for nothing. */
void *sq_symbol(const char *name);
/* A temporary directory, no session yet; options from "key=value" strings, path comes by itself. */
void sq_setup(struct sq *t);
void sq_teardown(struct sq *t);
void sq_option(struct sq *t, const char *key, const char *value);
/* 0 or the status; a failure's words are in t->diag. */
int sq_login(struct sq *t);
void sq_logout(struct sq *t);
/* For cmocka: *state is a struct sq that is logged in. */
int sq_test_setup(void **state);
int sq_test_teardown(void **state);
/* Another session of the same file and options, for comparison. */
void sq_sibling(struct sq *t, struct sq *ret_other);

/* Each returns the transcript of what came; valid until the next. */
const char *sq_query(struct sq *t, const char *sql);
const char *sq_query_with(
	struct sq *t, const char *sql, const struct cnc_value *params, uint32_t n);
const char *sq_prepare(struct sq *t, uint32_t statement, const char *sql);
const char *sq_describe(struct sq *t, uint32_t statement);
const char *sq_execute(struct sq *t, uint32_t statement, int known,
	const struct cnc_value *params, uint32_t n);
const char *sq_close(struct sq *t, uint32_t statement);
const char *sq_fetch(struct sq *t, uint32_t portal, uint32_t batch_rows);
const char *sq_begin(struct sq *t, uint8_t isolation, uint32_t flags);
const char *sq_commit(struct sq *t);
const char *sq_rollback(struct sq *t);
const char *sq_savepoint(struct sq *t, uint8_t action, const char *name);
const char *sq_autocommit(struct sq *t, int on);
const char *sq_catalog(struct sq *t, const struct cnp_catalog *filter);

/* "idle pins=0", "open pins=16", "failed pins=3". */
const char *sq_state(struct sq *t);
int sq_reset(struct sq *t);

struct cnc_value sq_int(int64_t v);
struct cnc_value sq_text(const char *text);

#endif
