/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDS_BENCH_H
#define TDS_BENCH_H

#include "support/cnt_backend.h"

/* The backend, loaded without a daemon, with a host that can stop it and a sink that writes down what it says. */
struct tds_bench {
	struct cnd_host host;
	struct cnc_diag diag;
	struct cnd_session *s;
	struct cnt_transcript seen;
	int64_t stop_at_ms; /* 0: never */
	/* What a copy is given: so many bytes at a time, and then it is given up, or not. */
	const char *data;
	size_t piece;
	int gives_up;
};

#define TDS_OPTIONS_MAX 16u

/* A server line in the making. */
struct tds_line {
	struct cnd_option options[TDS_OPTIONS_MAX];
	size_t n;
};

extern const struct cnd_backend *tds_backend; /* main() sets it */

int64_t tds_now_ms(void);
void tds_bench_init(struct tds_bench *b);
void tds_bench_finish(struct tds_bench *b);
/* Key and value, in place of those of that key; the texts are borrowed. */
void tds_line_set(struct tds_line *line, const char *key, const char *value);
/* The same for key, value, …, NULL; which may be NULL. */
void tds_line_set_all(struct tds_line *line, const char *const *more);
int tds_log_in(struct tds_bench *b, const struct tds_line *line);
/* The simple form; `seen` has what came of it. */
int tds_query(struct tds_bench *b, const char *sql);
/* The first rows, as many as asked; the portal of that number has the rest. */
int tds_query_batch(
	struct tds_bench *b, const char *sql, uint32_t portal, uint32_t batch_rows);
int tds_fetch(struct tds_bench *b, uint32_t portal, uint32_t batch_rows);

/* Certificates as tests/support/make-certs makes them: setup and teardown of a group, and the path of one of the
 * files, valid for three calls more. */
int tds_certs_make(void **state);
int tds_certs_remove(void **state);
const char *tds_cert(const char *name);

#endif
