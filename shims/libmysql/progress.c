/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include "../common/process.h"

#include <stdlib.h>
#include <string.h>

/*
 * Two things that MariaDB's library reports and Oracle's does not: the progress of a long statement
 * (progress_report_time), and, with the columns of a result, whether another result follows. The
 * pool sends both as notices to a connection that asked for them. connect.c and option_table.c call
 * this file.
 */

static void
on_notice(const cenote_diag *notice, void *user)
{
	const char *doing = cenote_diag_message(notice);
	const char *far = cenote_diag_field(notice, 'G');
	struct cmy_session *s = user;
	unsigned long stage, n_stages, thousandths;
	char *at;

	if (cenote_diag_field(notice, 'K'))
		s->n_told_more++;
	if (!s->on_progress || !far)
		return;
	stage = strtoul(far, &at, 10);
	n_stages = strtoul(at, &at, 10);
	thousandths = strtoul(at, NULL, 10);
	s->on_progress(s->my, (unsigned)stage, (unsigned)n_stages,
		(double)thousandths / 1000, doing, (unsigned)strlen(doing));
}

int
cmy_more_ask(struct cmy_session *s)
{
	s->n_told_more = 0;
	cenote_set_notice_handler(s->conn, on_notice, s);
	return cenote_set_session_option(s->conn, "more_results", "on");
}

/* CLIENT_PROGRESS means that the program will set its function later. */
int
cmy_progress_ask(struct cmy_session *s)
{
	if (!s->on_progress && !(s->my->client_flag & CLIENT_PROGRESS))
		return CENOTE_OK;
	s->asked_progress = 1;
	return cenote_set_session_option(s->conn, "progress", "on");
}

void
cmy_progress_is_wanted(struct cmy_session *s)
{
	int r;

	if (!s->on_progress || s->asked_progress || !s->my->net.CMY_VIO ||
		s->backend != CMY_BACKEND_MYSQL || s->state != CMY_IDLE ||
		s->owner != csh_getpid())
		return;
	do {
		r = cmy_progress_ask(s);
	} while (r == CENOTE_AGAIN && cmy_wait(s) == 0);
}
