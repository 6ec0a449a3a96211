/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the probe's questions on a separate login at MariaDB, with the server's own library.
 */
#include "fresh.h"

#include <mysql.h>
#include <string.h>
#include <unistd.h>

/* How long to wait until other sessions have ended. */
#define SETTLE_TRIES 1000
#define SETTLE_US    10000

static void
put_rows(FILE *to, const struct fr_probe *probe, MYSQL_RES *res)
{
	unsigned n_columns = mysql_num_fields(res), col;
	MYSQL_ROW row;

	while ((row = mysql_fetch_row(res)) != NULL) {
		const unsigned long *lengths = mysql_fetch_lengths(res);

		if (probe->made_by) {
			fr_put_made(to, probe, row[0]);
			continue;
		}
		fputs(probe->name, to);
		for (col = 0; col < n_columns; col++)
			fr_put_value(to, row[col], lengths[col]);
		fputc('\n', to);
	}
}

/* Whether no other session holds any of it. The sessions of a pool on MySQL prepare statements when they log in. */
static int
is_settled(const struct fr_probe *probe, MYSQL_RES *res)
{
	MYSQL_ROW row = mysql_fetch_row(res);
	int r = row == NULL || probe->settled == NULL ||
		strcmp(row[mysql_num_fields(res) - 1], probe->settled) == 0;

	mysql_data_seek(res, 0);
	return r;
}

static void
ask(MYSQL *mysql, const struct fr_probe *probe, FILE *to)
{
	MYSQL_RES *res = NULL;
	int i = 0;

	do {
		if (res != NULL)
			usleep(SETTLE_US);
		mysql_free_result(res);
		if (mysql_real_query(mysql, probe->sql, strlen(probe->sql)) != 0) {
			fprintf(to, "%s!\n", probe->name);
			return;
		}
		res = mysql_store_result(mysql);
	} while (res != NULL && !is_settled(probe, res) && ++i < SETTLE_TRIES);
	if (res == NULL)
		return;
	put_rows(to, probe, res);
	mysql_free_result(res);
}

int
fr_probe_mariadb(const char *socket, const char *user, const char *database,
	const struct fr_probe *probes, FILE *to)
{
	MYSQL *mysql = mysql_init(NULL);

	if (mysql == NULL)
		return -1;
	mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (mysql_real_connect(mysql, NULL, user, "", database, 0, socket,
		    CLIENT_MULTI_STATEMENTS) == NULL) {
		fprintf(stderr, "# %s: %s\n", socket, mysql_error(mysql));
		mysql_close(mysql);
		return -1;
	}
	fprintf(to, "ready|%d|0\n", CENOTE_TX_IDLE);
	for (; probes->sql != NULL; probes++)
		ask(mysql, probes, to);
	mysql_close(mysql);
	return 0;
}
