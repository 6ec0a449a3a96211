/* SPDX-License-Identifier: BSD-2-Clause */
#include "fresh.h"

#include <string.h>
#include <unistd.h>

/* How long what others hold may take to go. */
#define SETTLE_TRIES 100
#define SETTLE_US    10000

void
fr_put_value(FILE *to, const char *value, size_t len)
{
	size_t i;

	fputc('|', to);
	if (value == NULL)
		fputs("NULL", to);
	for (i = 0; value != NULL && i < len; i++) {
		if (value[i] == '\n' || value[i] == '|' || value[i] == '\\')
			fputc('\\', to);
		fputc(value[i] == '\n' ? 'n' : value[i], to);
	}
}

static void
put_rows(FILE *to, const char *name, const cenote_result *res)
{
	uint32_t n_columns = cenote_result_n_columns(res), col;
	uint64_t row;

	for (row = 0; row < cenote_result_n_rows(res); row++) {
		fputs(name, to);
		for (col = 0; col < n_columns; col++) {
			size_t len = 0;
			const char *value = cenote_result_text(res, row, col, &len);

			fr_put_value(to, value, len);
		}
		fputc('\n', to);
	}
}

static int
is_settled(const struct fr_probe *probe, const cenote_result *res)
{
	uint32_t n = cenote_result_n_columns(res);
	const char *last = n > 0 ? cenote_result_text(res, 0, n - 1, NULL) : NULL;

	return probe->settled == NULL ||
	       (last != NULL && strcmp(last, probe->settled) == 0);
}

/* Once, or until it has settled. */
static int
ask(cenote_conn *conn, const struct fr_probe *probe, cenote_result **ret_res)
{
	int r;

	for (int i = 0;; i++) {
		r = cenote_query(conn, probe->sql, CENOTE_NTS, NULL, NULL, ret_res);
		if (r != CENOTE_OK || is_settled(probe, *ret_res) || i == SETTLE_TRIES)
			return r;
		cenote_result_destroy(*ret_res);
		usleep(SETTLE_US);
	}
}

int
fr_probe(cenote_conn *conn, const struct fr_probe *probes, FILE *to)
{
	cenote_result *res;
	int r;

	/* What the pool says of the session before anything was asked. */
	fprintf(to, "ready|%d|%u\n", cenote_tx_state(conn), cenote_pins(conn));
	for (; probes->sql != NULL; probes++) {
		r = ask(conn, probes, &res);
		if (r == CENOTE_OK) {
			put_rows(to, probes->name, res);
			cenote_result_destroy(res);
		} else if (r == CENOTE_ERR_SERVER) {
			fprintf(to, "%s!\n", probes->name);
		} else {
			fprintf(stderr, "# probe %s: %s: %s\n", probes->name,
				cenote_status_name(r),
				cenote_diag_message(cenote_conn_diag(conn)));
			return -1;
		}
	}
	return 0;
}
