/* SPDX-License-Identifier: BSD-2-Clause */
/* A client of tests/bench/bindings.py: what a binding does, in C. Every value is looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cenote/cenote.h>

#define ROWS    256u
#define COLUMNS 16u
#define BYTES   32u

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The bytes of all values. */
static size_t
read_rows(const cenote_result *res)
{
	uint64_t n_rows = cenote_result_n_rows(res);
	size_t total = 0, len;

	for (uint64_t row = 0; row < n_rows; row++) {
		for (uint32_t col = 0; col < COLUMNS; col++) {
			if (cenote_result_text(res, row, col, &len))
				total += len;
		}
	}
	return total;
}

static int
fetch(cenote_conn *conn)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res = NULL;
	size_t total;

	options.format = CENOTE_FORMAT_CANONICAL;
	if (cenote_query(conn, "select * from bench_rows", CENOTE_NTS, NULL, &options,
		    &res) != CENOTE_OK)
		return -1;
	total = read_rows(res);
	cenote_result_destroy(res);
	if (cenote_get_result(conn, &res) != CENOTE_DONE)
		return -1;
	return total == (size_t)ROWS * COLUMNS * BYTES ? 0 : -1;
}

static int
run(cenote_conn *conn)
{
	char line[64];

	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		double until = now() + strtod(line, NULL);
		unsigned long n = 0;

		for (; now() < until; n++) {
			if (fetch(conn) < 0)
				return 1;
		}
		printf("%lu\n", n);
		fflush(stdout);
	}
	return 0;
}

int
main(void)
{
	const char *uri = getenv("CENOTE_TEST_URI");
	cenote_conn *conn;
	int status = 1;

	if (!uri || cenote_conn_create(NULL, &conn) < 0)
		return 1;
	if (cenote_conn_set_uri(conn, uri) == CENOTE_OK &&
		cenote_connect(conn) == CENOTE_OK && fetch(conn) == 0)
		status = run(conn);
	if (status != 0)
		fprintf(stderr, "%s\n", cenote_diag_message(cenote_conn_diag(conn)));
	cenote_conn_destroy(conn);
	return status;
}
