/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of the FreeTDS backend. The tests against a played server and those against a real
 * server share it.
 */
#include "bench.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "support/cnt_process.h"

const struct cnd_backend *tds_backend;

int64_t
tds_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int
on_interrupted(const struct cnd_host *host, struct cnc_diag *ret_diag)
{
	struct tds_bench *b = host->user;

	if (b->stop_at_ms == 0 || tds_now_ms() < b->stop_at_ms)
		return CENOTE_OK;
	cnc_diag_set(ret_diag, "57014", "canceled by the test");
	return CENOTE_ERR_SERVER;
}

static int
on_wait(const struct cnd_host *host, int fd, short events, int timeout_ms,
	struct cnc_diag *ret_diag)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t until = timeout_ms < 0 ? INT64_MAX : tds_now_ms() + timeout_ms;
	int r;

	do {
		if (poll(&p, 1, 5) > 0)
			return p.revents;
		r = on_interrupted(host, ret_diag);
		if (r < 0)
			return r;
	} while (tds_now_ms() < until);
	return 0;
}

static int
on_copy_in(struct cnd_sink *sink, const struct cnp_copy_in *m)
{
	cnt_say(cnt_transcript_of(sink), "copy in of %zu columns\n", m->formats.n);
	return CENOTE_OK;
}

static int
on_copy_read(struct cnd_sink *sink, int fd, struct cnp_str *ret_data)
{
	struct cnt_transcript *seen = cnt_transcript_of(sink);
	struct tds_bench *b =
		(struct tds_bench *)(void *)((char *)seen -
					     offsetof(struct tds_bench, seen));
	size_t n = strlen(b->data);

	(void)fd;
	if (n == 0 && b->gives_up) {
		cnc_diag_set(sink->diag, "57014", "given up by the test");
		return CENOTE_ERR_SERVER;
	}
	if (n > b->piece)
		n = b->piece;
	*ret_data = (struct cnp_str){ b->data, n };
	b->data += n;
	return n > 0 ? CENOTE_OK : CENOTE_DONE;
}

static const struct cnd_sink_ops ops = {
	.copy_in = on_copy_in,
	.copy_read = on_copy_read,
	.params = cnt_on_params,
	.columns = cnt_on_columns,
	.row_done = cnt_on_row_done,
	.done = cnt_on_done,
	.notice = cnt_on_notice,
};

void
tds_bench_init(struct tds_bench *b)
{
	memset(b, 0, sizeof(*b));
	b->host = (struct cnd_host){ .mem = &cnc_mem_default,
		.user = b,
		.interrupted = on_interrupted,
		.wait = on_wait,
		.log = cnt_backend_log };
	cnc_diag_init(&b->diag, &cnc_mem_default);
	cnt_transcript_init(&b->seen, &ops, &b->diag, 1u << 20);
	cnt_transcript_lend(&b->seen, tds_backend, &b->host);
}

void
tds_bench_finish(struct tds_bench *b)
{
	tds_backend->logout(b->s);
	cnt_transcript_finish(&b->seen);
	cnc_diag_finish(&b->diag);
}

void
tds_line_set(struct tds_line *line, const char *key, const char *value)
{
	size_t i = 0;

	while (i < line->n && strcmp(line->options[i].key, key) != 0)
		i++;
	assert_in_range(i, 0, TDS_OPTIONS_MAX - 1);
	line->options[i] = (struct cnd_option){ key, value };
	if (i == line->n)
		line->n++;
}

void
tds_line_set_all(struct tds_line *line, const char *const *more)
{
	for (; more && more[0]; more += 2)
		tds_line_set(line, more[0], more[1]);
}

int
tds_log_in(struct tds_bench *b, const struct tds_line *line)
{
	struct cnd_server_spec spec = { .options = line->options, .n_options = line->n };

	return cnt_backend_login(tds_backend, &b->host, &spec, &b->s, &b->diag);
}

static int
end_of_request(struct tds_bench *b, int r)
{
	if (r < 0)
		cnt_transcript_break(&b->seen);
	return r;
}

static void
begin_request(struct tds_bench *b, uint32_t batch_rows)
{
	/* count the rows of large batches, do not write them down */
	const struct cnt_request request = { .batch_rows = batch_rows,
		.count_only = batch_rows >= 1000 };

	cnc_diag_clear(&b->diag);
	cnt_transcript_begin(&b->seen, &request);
}

int
tds_query_batch(
	struct tds_bench *b, const char *sql, uint32_t portal, uint32_t batch_rows)
{
	const struct cnd_exec exec = { .is_simple = 1,
		.portal = cnt_portal(&b->seen, portal, batch_rows),
		.batch_rows = batch_rows };

	begin_request(b, batch_rows);
	return end_of_request(
		b, tds_backend->query(b->s, sql, strlen(sql), &exec, &b->seen.sink));
}

int
tds_query(struct tds_bench *b, const char *sql)
{
	return tds_query_batch(b, sql, 0, 0);
}

int
tds_fetch(struct tds_bench *b, uint32_t portal, uint32_t batch_rows)
{
	begin_request(b, batch_rows);
	return end_of_request(b, cnt_fetch(&b->seen, b->s, portal, batch_rows, 0));
}

/* ---- certificates ---- */

static char certs[] = "/tmp/cenote-tds-XXXXXX";

int
tds_certs_make(void **state)
{
	const char *const argv[] = { CNT_MAKE_CERTS, certs, NULL };
	char noise[4096];
	const struct cnt_command command = {
		.argv = argv, .output = noise, .size = sizeof(noise)
	};

	(void)state;
	return mkdtemp(certs) == NULL ? -1 : cnt_run(&command);
}

int
tds_certs_remove(void **state)
{
	(void)state;
	cnt_remove_tree(certs);
	return 0;
}

const char *
tds_cert(const char *name)
{
	static char texts[4][96];
	static size_t at;

	at = (at + 1) % 4;
	snprintf(texts[at], sizeof(texts[at]), "%s/%s", certs, name);
	return texts[at];
}
