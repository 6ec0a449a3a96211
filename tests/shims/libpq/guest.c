/* SPDX-License-Identifier: BSD-2-Clause */
#include "guest.h"

#include "support/cnt_cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cnt_guest_n_notices;

int
cnt_guest_setup(void **state)
{
	static struct cnt_guest f;

	cnt_pair_open(&f.ours, &f.theirs);
	if (cnt_rig_start(&f.rig) < 0)
		return -1;
	setenv("CENOTE_LIBPQ", cnt_pq_original(), 1);
	snprintf(f.conninfo, sizeof(f.conninfo), "%s", f.rig.server.server_line);
	*state = &f;
	return 0;
}

int
cnt_guest_begin(void **state)
{
	struct cnt_guest *f = *state;
	char server[160];

	snprintf(server, sizeof(server), "unix:%s", f->rig.daemon.run_dir);
	if (setenv("CENOTE_SERVER", server, 1) < 0 ||
		setenv("CENOTE_POOL", "main", 1) < 0)
		return -1;
	return unsetenv("CENOTE_FALLBACK") < 0 ? -1 : unsetenv("CENOTE_CLIENT_CONF");
}

int
cnt_guest_teardown(void **state)
{
	struct cnt_guest *f = *state;
	int r = cnt_rig_stop(&f->rig);

	cnt_pair_close(&f->ours, &f->theirs);
	return r;
}

PGconn *
cnt_guest_connect(struct cnt_guest *f)
{
	PGconn *conn = f->ours.f.PQconnectdb(f->conninfo);

	assert_non_null(conn);
	assert_string_equal(f->ours.f.PQerrorMessage(conn), "");
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	return conn;
}

const char *
cnt_guest_ask(const struct cnt_pq *pq, PGconn *conn, const char *sql)
{
	static char text[256];
	PGresult *res = pq->f.PQexec(conn, sql);

	snprintf(text, sizeof(text), "%s",
		pq->f.PQresultStatus(res) == PGRES_TUPLES_OK
			? pq->f.PQgetvalue(res, 0, 0)
			: pq->f.PQerrorMessage(conn));
	pq->f.PQclear(res);
	return text;
}

PostgresPollingStatusType
cnt_guest_poll(struct cnt_guest *f, PGconn *conn, cnt_guest_poll_function *poll_it)
{
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;

	while (status == PGRES_POLLING_WRITING || status == PGRES_POLLING_READING) {
		struct pollfd p = { .fd = f->ours.f.PQsocket(conn),
			.events = status == PGRES_POLLING_WRITING ? POLLOUT : POLLIN };

		assert_int_equal(poll(&p, 1, 10000), 1);
		status = poll_it(conn);
	}
	return status;
}

void
cnt_guest_count_notice(void *arg, const char *message)
{
	cnt_guest_n_notices +=
		arg == &cnt_guest_n_notices && strstr(message, "hm") != NULL;
}
