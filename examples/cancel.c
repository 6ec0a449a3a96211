/* SPDX-License-Identifier: BSD-2-Clause */
#include <cenote/cenote.h>
#include <poll.h>
#include <stdio.h>

/* Cancel an endless statement after a tenth of a second, in a loop like that of an event loop. */

static const char endless[] = "with recursive n(i) as (select 1 union all select i + 1 "
			      "from n) select count(*) from n";
#define PATIENCE_MS 100

/* Wait until the descriptor is ready. Returns 0 if the time is over first. */
static int
wait_ready(const cenote_conn *conn, int timeout_ms)
{
	int wants = cenote_wants(conn);
	struct pollfd p = { .fd = cenote_fd(conn) };

	if (wants & CENOTE_WANTS_READ)
		p.events |= POLLIN;
	if (wants & CENOTE_WANTS_WRITE)
		p.events |= POLLOUT;
	return poll(&p, 1, timeout_ms) != 0;
}

static int
cancel(cenote_conn *conn)
{
	cenote_cancel *c;
	int r = cenote_cancel_create(conn, &c);

	if (r < 0)
		return r;
	r = cenote_cancel_send(c);
	cenote_cancel_destroy(c);
	return r;
}

static int
run_with_patience(cenote_conn *conn)
{
	cenote_result *res;
	int timeout_ms = PATIENCE_MS;
	int r;

	(void)cenote_set_nonblocking(conn, 1);
	while ((r = cenote_query(conn, endless, CENOTE_NTS, NULL, NULL, &res)) ==
		CENOTE_AGAIN) {
		if (wait_ready(conn, timeout_ms))
			continue;
		r = cancel(conn);
		if (r < 0)
			return r;
		timeout_ms = -1;
	}
	if (r == CENOTE_OK)
		cenote_result_destroy(res);
	return r;
}

int
main(int argc, char **argv)
{
	cenote_conn *conn;
	int r;

	if (cenote_conn_create(NULL, &conn) < 0)
		return 1;
	r = cenote_conn_set_uri(conn, argc > 1 ? argv[1] : "cenote:///demo");
	if (r == CENOTE_OK)
		r = cenote_connect(conn);
	if (r == CENOTE_OK)
		r = run_with_patience(conn);
	printf("%s %s\n", cenote_status_name(r),
		cenote_diag_sqlstate(cenote_conn_diag(conn)));
	cenote_conn_destroy(conn);
	return r == CENOTE_ERR_SERVER ? 0 : 1;
}
