/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include "../common/process.h"

#include <stdlib.h>
#include <string.h>

/*
 * How far the server is with a long statement: MariaDB tells it every few seconds (progress_report_time), and the
 * pool passes it on as notices to who asked for them. So it does with the bit that says with a result's columns that
 * another result follows. Oracle's library has nothing of the kind.
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

/* A program may say with the flag that it will set its function later. */
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
