/* SPDX-License-Identifier: BSD-2-Clause */
#include "fresh.h"

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

int
fr_probe(cenote_conn *conn, const struct fr_probe *probes, FILE *to)
{
	cenote_result *res;
	int r;

	/* What the pool says of the session before anything was asked. */
	fprintf(to, "ready|%d|%u\n", cenote_tx_state(conn), cenote_pins(conn));
	for (; probes->sql != NULL; probes++) {
		r = cenote_query(conn, probes->sql, CENOTE_NTS, NULL, NULL, &res);
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
