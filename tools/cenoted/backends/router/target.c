/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One target: attach, wait, cancel, and turn libcenote's failures into those of a backend. It owns the connections of
 * struct cnd_rt_target. libcenote never blocks here, except when it looks up the name of a target's host. A thread sends
 * cancels, since other clients may share the process.
 */
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "router.h"

/* How long a target may take to obey a cancel. */
#define OBEY_MS 10000

/* ---- diagnostics ---- */

/* If a session was lost, the target's pool writes its own judgement into the fields C and M, and the server's last words into X and
 * Y. The router's worker makes the same judgement by itself (serving/loss.c), so it needs the server's words. */
static const char *
field_of(const cenote_diag *from, char letter)
{
	bool has_words = cenote_diag_field(from, 'Y') != NULL;

	if (has_words && (letter == 'X' || letter == 'Y'))
		return NULL;
	if (has_words && letter == 'C')
		letter = 'X';
	if (has_words && letter == 'M')
		letter = 'Y';
	return cenote_diag_field(from, letter);
}

void
cnd_rt_copy_diag(struct cnc_diag *to, const cenote_diag *from)
{
	struct cnc_buf fields;
	int r = CENOTE_OK;

	cnc_buf_init(&fields, to->mem != NULL ? to->mem : &cnc_mem_default, SIZE_MAX / 2);
	for (int c = 'A'; c <= 'z' && r == CENOTE_OK; c++) {
		const char *text =
			(c <= 'Z' || c >= 'a') ? field_of(from, (char)c) : NULL;

		if (text != NULL)
			r = cnc_diag_put_field(&fields, (char)c, text, strlen(text));
	}
	if (r < 0 ||
		cnc_diag_set_fields(to, cnc_buf_head(&fields), cnc_buf_len(&fields)) < 0)
		cnc_diag_set(
			to, cenote_diag_sqlstate(from), "%s", cenote_diag_message(from));
	cnc_buf_finish(&fields);
}

int
cnd_rt_fail(
	struct cnd_session *s, struct cnd_rt_target *t, int status, struct cnc_diag *diag)
{
	/* the client has gone, or the target does not obey */
	if (s->stopped == CENOTE_ERR_CONN) {
		cnc_diag_copy(diag, &s->why);
		return CENOTE_ERR_CONN;
	}
	cnd_rt_copy_diag(diag, cenote_conn_diag(t->conn));
	if (strcmp(diag->sqlstate, CNC_SQLSTATE(OK)) == 0)
		cnc_diag_set(diag, CNC_SQLSTATE(INTERNAL), "target %s: %s", t->name,
			cenote_status_name(status));
	if (status == CENOTE_ERR_NOMEM || status == CENOTE_ERR_UNSUPPORTED)
		return status;
	if (!cenote_status_is_fatal(status) && status != CENOTE_ERR_TIMEOUT)
		return CENOTE_ERR_SERVER;
	t->is_attached = false;
	return CENOTE_ERR_CONN;
}

/* ---- waiting ---- */

static void *
send_cancel(void *user)
{
	cenote_cancel *c = user;

	/* if it fails, the target does not obey, and the client learns that */
	(void)!cenote_cancel_send(c);
	cenote_cancel_destroy(c);
	return NULL;
}

/* Tell the target to stop the request. The cancel may arrive late: it names the request, so it cannot hit the next one. */
static void
cancel(struct cnd_session *s, struct cnd_rt_target *t)
{
	cenote_cancel *c;
	pthread_t thread;

	if (cenote_cancel_create(t->conn, &c) < 0)
		return;
	if (pthread_create(&thread, NULL, send_cancel, c) == 0) {
		(void)pthread_detach(thread);
		return;
	}
	s->host->log(s->host, 5, "cannot cancel at target %s: no thread", t->name);
	cenote_cancel_destroy(c);
}

/* After a cancel, wait for the end of the request. */
static int
wait_to_obey(struct cnd_session *s, struct cnd_rt_target *t, int fd, short events)
{
	if (s->host->pause(s->host, fd, events, OBEY_MS) != 0)
		return CENOTE_OK;
	cnc_diag_set(&s->why, CNC_SQLSTATE(CONNECTION_LOST),
		"target %s did not obey a cancel", t->name);
	s->stopped = CENOTE_ERR_CONN;
	return CENOTE_ERR_CONN;
}

int
cnd_rt_wait(struct cnd_session *s, struct cnd_rt_target *t)
{
	int wants = cenote_wants(t->conn), fd = cenote_fd(t->conn), r;
	short events = (short)((wants & CENOTE_WANTS_WRITE ? POLLOUT : 0) |
			       (wants == CENOTE_WANTS_WRITE ? 0 : POLLIN));

	if (s->stopped == CENOTE_ERR_CONN)
		return CENOTE_ERR_CONN;
	if (s->stopped != CENOTE_OK) {
		r = wait_to_obey(s, t, fd, events);
	} else {
		r = s->host->wait(s->host, fd, events, cenote_wait_ms(t->conn), &s->why);
		if (r < 0) {
			s->stopped = r;
			if (r == CENOTE_ERR_CONN || !t->is_attached)
				return r;
			cancel(s, t);
		}
		r = CENOTE_OK;
	}
	/* the repeated call reports what is wrong */
	if (r == CENOTE_OK && t->is_attached && cenote_process(t->conn) < 0)
		return CENOTE_OK;
	return s->told < 0 ? s->told : r;
}

/* ---- what comes without a request ---- */

/* Keep the first failure of the sink: a handler has no result. */
static void
keep_failure(struct cnd_session *s, int r)
{
	if (r < 0 && s->told == CENOTE_OK)
		s->told = r;
}

void
cnd_rt_tell_notice(struct cnd_session *s, const struct cnc_diag *notice)
{
	keep_failure(s, s->sink->ops->notice(s->sink, notice));
}

void
cnd_rt_tell_parameter(struct cnd_session *s, const char *name, const char *value)
{
	keep_failure(s, s->sink->ops->parameter(s->sink, name, value));
}

static void
on_notice(const cenote_diag *notice, void *user)
{
	struct cnd_session *s = user;
	struct cnc_diag d;

	if (s->sink == NULL || s->is_quiet || cnd_rt_keep_early(s, notice, NULL, NULL))
		return;
	cnc_diag_init(&d, s->mem);
	cnd_rt_copy_diag(&d, notice);
	cnd_rt_tell_notice(s, &d);
	cnc_diag_finish(&d);
}

static void
on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	struct cnd_session *s = user;
	struct cnp_notification n = {
		.pid = pid, .channel = cnp_str(channel), .payload = cnp_str(payload)
	};

	if (s->sink != NULL)
		keep_failure(s, s->sink->ops->notification(s->sink, &n));
}

/* The client sees the parameters of the default target only. */
static void
on_parameter(const char *name, const char *value, void *user)
{
	struct cnd_session *s = user;

	s->changes++;
	if (s->sink != NULL && !s->is_quiet && !cnd_rt_keep_early(s, NULL, name, value))
		cnd_rt_tell_parameter(s, name, value);
}

/* ---- attaching ---- */

static int
make_conn(struct cnd_session *s, struct cnd_rt_target *t)
{
	int r = cenote_conn_create(s->mem, &t->conn);

	if (r == CENOTE_OK && s->run_dir != NULL)
		r = cenote_conn_set(t->conn, "run_dir", s->run_dir);
	if (r == CENOTE_OK)
		r = cenote_conn_set_uri(t->conn, t->where);
	/* with a lent session, libcenote would talk to the server itself */
	if (r == CENOTE_OK)
		r = cenote_conn_set(t->conn, "borrow", "no");
	/* the client must learn of a lost session: only the client knows whether it may go on with another one */
	if (r == CENOTE_OK)
		r = cenote_conn_set(t->conn, "reattach", "planned");
	/* pass each request for a file on: the client decides whether it sends the file */
	if (r == CENOTE_OK)
		r = cenote_conn_set(t->conn, "allow_files", "yes");
	for (size_t i = 0; i < s->n_options && r == CENOTE_OK; i++)
		r = cenote_set_session_option(
			t->conn, s->options[i].key, s->options[i].value);
	if (r == CENOTE_OK)
		r = cenote_set_nonblocking(t->conn, CENOTE_NONBLOCKING);
	if (r < 0)
		return r;
	cenote_set_notice_handler(t->conn, on_notice, s);
	cenote_set_notification_handler(t->conn, on_notification, s);
	if (t == s->targets)
		cenote_set_parameter_handler(t->conn, on_parameter, s);
	return CENOTE_OK;
}

int
cnd_rt_attach(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag)
{
	int r = CENOTE_OK;

	if (t->is_attached)
		return CENOTE_OK;
	if (t->conn == NULL)
		r = make_conn(s, t);
	if (r == CENOTE_OK)
		CND_RT_AWAIT(r, s, t, cenote_connect(t->conn));
	if (r == CENOTE_OK) {
		t->is_attached = true;
		return CENOTE_OK;
	}
	if (t->conn == NULL)
		return CENOTE_ERR_NOMEM;
	if (s->stopped != CENOTE_OK) {
		cnc_diag_copy(diag, &s->why);
		return s->stopped;
	}
	r = cnd_rt_fail(s, t, r, diag);
	cenote_close(t->conn);
	return r == CENOTE_ERR_NOMEM ? r : CENOTE_ERR_CONN;
}

void
cnd_rt_detach(struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_targets; i++) {
		struct cnd_rt_target *t = &s->targets[i];

		cenote_conn_destroy(t->conn);
		*t = (struct cnd_rt_target){ .name = t->name, .where = t->where };
	}
}

static int
drop_results(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag)
{
	cenote_result *res;
	int r, failed = CENOTE_OK;

	for (;;) {
		CND_RT_AWAIT(r, s, t, cenote_get_result(t->conn, &res));
		if (r == CENOTE_DONE)
			return failed;
		if (r < 0)
			return cnd_rt_fail(s, t, r, diag);
		if (cenote_result_kind(res) == CENOTE_RESULT_ERROR) {
			cnd_rt_copy_diag(diag, cenote_result_diag(res));
			failed = CENOTE_ERR_SERVER;
		}
		cenote_result_destroy(res);
	}
}

int
cnd_rt_drop(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag)
{
	struct cnc_diag unused;
	int r;

	if (diag != NULL)
		return drop_results(s, t, diag);
	cnc_diag_init(&unused, NULL);
	r = drop_results(s, t, &unused);
	cnc_diag_finish(&unused);
	return r;
}
