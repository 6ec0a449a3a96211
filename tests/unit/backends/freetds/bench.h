/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDS_BENCH_H
#define TDS_BENCH_H

#include "support/cnt_backend.h"

/* The backend, loaded without a daemon, with a host that can stop a request and a sink that
 * writes down the results. */
struct tds_bench {
	struct cnd_host host;
	struct cnc_diag diag;
	struct cnd_session *s;
	struct cnt_transcript seen;
	/* time when the host stops the request (tds_now_ms()); 0: never */
	int64_t stop_at_ms;
	/* The data of a copy, sent `piece` bytes at a time. If `gives_up`, the client then gives
	 * the copy up. */
	const char *data;
	size_t piece;
	int gives_up;
};

#define TDS_OPTIONS_MAX 16u

/* A server line that a test puts together. */
struct tds_line {
	struct cnd_option options[TDS_OPTIONS_MAX];
	size_t n;
};

extern const struct cnd_backend *tds_backend; /* main() sets it */

int64_t tds_now_ms(void);
void tds_bench_init(struct tds_bench *b);
void tds_bench_finish(struct tds_bench *b);
/* Set the key to the value, in place of its former value. The line borrows both texts. */
void tds_line_set(struct tds_line *line, const char *key, const char *value);
/* The same for a list of key, value, …, NULL; the list may be NULL. */
void tds_line_set_all(struct tds_line *line, const char *const *more);
int tds_log_in(struct tds_bench *b, const struct tds_line *line);
/* Run a query in the simple form; the results are in `seen`. */
int tds_query(struct tds_bench *b, const char *sql);
/* Get the first `batch_rows` rows; tds_fetch() gets the rest from the portal. */
int tds_query_batch(
	struct tds_bench *b, const char *sql, uint32_t portal, uint32_t batch_rows);
int tds_fetch(struct tds_bench *b, uint32_t portal, uint32_t batch_rows);

/* Setup and teardown of a group: make and remove the certificates of tests/support/make-certs.
 * tds_cert() returns the path of one, which stays valid for three more calls. */
int tds_certs_make(void **state);
int tds_certs_remove(void **state);
const char *tds_cert(const char *name);

#endif
