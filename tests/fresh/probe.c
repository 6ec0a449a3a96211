/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the server everything that a session can hold (fresh.h), through a pool.
 */
#include "fresh.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long to wait until other sessions have ended. */
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

void
fr_put_made(FILE *to, const struct fr_probe *probe, const char *value)
{
	const char *name = probe->sql;
	size_t len;

	while (value && (name = strstr(name, "@@")) != NULL) {
		len = strspn(name + 2, "abcdefghijklmnopqrstuvwxyz0123456789_") + 2;
		fprintf(to, "%s|%.*s", probe->name, (int)len, name);
		name += len;
		len = strcspn(value, FR_BETWEEN);
		fr_put_value(to, value, len);
		fputc('\n', to);
		value = value[len] != '\0' ? value + len + 1 : NULL;
	}
	if (value || !name || strstr(name, "@@"))
		fprintf(to, "%s!\n", probe->name);
}

static void
put_rows(FILE *to, const struct fr_probe *probe, const cenote_result *res)
{
	uint32_t n_columns = cenote_result_n_columns(res), col;
	uint64_t row;

	for (row = 0; row < cenote_result_n_rows(res); row++) {
		if (probe->made_by) {
			fr_put_made(to, probe, cenote_result_text(res, row, 0, NULL));
			continue;
		}
		fputs(probe->name, to);
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

/* Send all questions in one write. Each ends with a synchronisation point, so an error does not
 * stop the questions after it. */
static int
send_all(cenote_conn *conn, const struct fr_probe *probes)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	int r = cenote_pipeline_begin(conn);

	options.sync = 1;
	for (; r == CENOTE_OK && probes->sql != NULL; probes++)
		r = cenote_send_query(conn, probes->sql, CENOTE_NTS, NULL, &options);
	return r == CENOTE_OK ? cenote_flush(conn) : r;
}

/* Take the answer to the next question: the last of its results. */
static int
take(cenote_conn *conn, cenote_result **ret_res)
{
	cenote_result *res;
	int r;

	*ret_res = NULL;
	while ((r = cenote_get_result(conn, &res)) == CENOTE_OK) {
		cenote_result_destroy(*ret_res);
		*ret_res = res;
	}
	return r == CENOTE_DONE && *ret_res ? CENOTE_OK : r < 0 ? r : CENOTE_ERR_STATE;
}

/* Ask again, until the answer has settled. */
static int
ask_again(cenote_conn *conn, const struct fr_probe *probe, cenote_result **res)
{
	int r = cenote_pipeline_end(conn);

	for (int i = 0; r == CENOTE_OK && i < SETTLE_TRIES; i++) {
		usleep(SETTLE_US);
		cenote_result_destroy(*res);
		*res = NULL;
		r = cenote_query(conn, probe->sql, CENOTE_NTS, NULL, NULL, res);
		if (r == CENOTE_OK && is_settled(probe, *res))
			break;
	}
	return r;
}

/* Whether the pool refused a question about the statement before, which another session has run. */
static int
is_refused(cenote_conn *conn, const cenote_result *res)
{
	return strtol(cenote_info(conn, "attaches"), NULL, 10) > 1 &&
	       strcmp(cenote_diag_sqlstate(cenote_result_diag(res)), "0A000") == 0;
}

static int
put_answer(cenote_conn *conn, const struct fr_probe *probe, FILE *to)
{
	cenote_result *res = NULL;
	int r = take(conn, &res);

	if (r == CENOTE_OK && cenote_result_kind(res) == CENOTE_RESULT_ERROR)
		fprintf(to, "%s%c\n", probe->name, is_refused(conn, res) ? '?' : '!');
	else if (r == CENOTE_OK && !is_settled(probe, res))
		r = ask_again(conn, probe, &res);
	if (r == CENOTE_OK && cenote_result_kind(res) != CENOTE_RESULT_ERROR)
		put_rows(to, probe, res);
	cenote_result_destroy(res);
	return r;
}

int
fr_probe(cenote_conn *conn, const struct fr_probe *probes, FILE *to)
{
	int r;

	/* What the pool tells about the session before any question. */
	fprintf(to, "ready|%d|%u\n", cenote_tx_state(conn), cenote_pins(conn));
	r = send_all(conn, probes);
	for (; r == CENOTE_OK && probes->sql != NULL; probes++)
		r = put_answer(conn, probes, to);
	if (r == CENOTE_OK)
		return 0;
	fprintf(stderr, "# probe: %s: %s\n", cenote_status_name(r),
		cenote_diag_message(cenote_conn_diag(conn)));
	return -1;
}
