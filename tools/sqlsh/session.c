/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcenote's functions with waiting that Ctrl-C can end, and connecting again after a loss. All
 * files that talk to the server call it. The state is in struct shell.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "shell.h"

/* How long to wait before sending a cancel again that came before its request began. */
#define CANCEL_AGAIN_MS 100

static void
show_notice(const cenote_diag *notice, void *user)
{
	shell_diag(user, notice, NULL, 0);
}

static void
keep_note(uint32_t pid, const char *channel, const char *payload, void *user)
{
	struct shell *sh = user;

	text_add_str(&sh->notes, "Notification on ");
	(void)display_add(&sh->notes, channel, strlen(channel));
	if (*payload) {
		text_add_str(&sh->notes, ": ");
		(void)display_add(&sh->notes, payload, strlen(payload));
	}
	text_addf(&sh->notes, " (from process %lu)\n", (unsigned long)pid);
}

/* Learn the rules of the session's backend. */
static void
learn_dialect(struct shell *sh)
{
	const char *backend = cenote_info(sh->conn, "backend");

	sh->lex_flags = lex_flags_for(backend);
	sh->style = bind_style_for(backend);
}

void
session_begin_request(struct shell *sh)
{
	sh->n_cancels = 0;
	sh->is_cancel_missed = 0;
	sh->is_closed_by_user = 0;
}

static void
send_cancel(struct shell *sh)
{
	cenote_cancel *cancel;
	int r;

	if (cenote_cancel_create(sh->conn, &cancel) < 0)
		return;
	r = cenote_cancel_send(cancel);
	if (r < 0)
		shell_error(sh, "cannot cancel: %s",
			cenote_diag_message(cenote_cancel_diag(cancel)));
	sh->is_cancel_missed = r == CENOTE_DONE;
	cenote_cancel_destroy(cancel);
}

/* Ctrl-C while a request runs: cancel it. If that did not help, the next Ctrl-C ends the
 * session. */
static void
interrupt_request(struct shell *sh)
{
	interrupt_clear();
	if (sh->n_cancels++ == 0) {
		send_cancel(sh);
		return;
	}
	cenote_close(sh->conn);
	sh->is_closed_by_user = 1;
}

/* Wait until libcenote can continue, or for the given time. Returns as interrupt_wait() does. */
static int
wait_for_conn(struct shell *sh, int limit_ms)
{
	int wants = cenote_wants(sh->conn), wait_ms = cenote_wait_ms(sh->conn);
	short events = (short)((wants & CENOTE_WANTS_READ ? POLLIN : 0) |
			       (wants & CENOTE_WANTS_WRITE ? POLLOUT : 0));

	if (limit_ms >= 0 && (wait_ms < 0 || wait_ms > limit_ms))
		wait_ms = limit_ms;
	return interrupt_wait(cenote_fd(sh->conn), events, wait_ms);
}

int
session_wait(struct shell *sh)
{
	int r = wait_for_conn(sh, sh->is_cancel_missed ? CANCEL_AGAIN_MS : -1);

	if (r < 0)
		interrupt_request(sh);
	else if (r == 0 && sh->is_cancel_missed)
		send_cancel(sh);
	return sh->is_closed_by_user ? RUN_LOST : RUN_OK;
}

int
session_get_result(struct shell *sh, cenote_result **ret_res)
{
	int r;

	while ((r = cenote_get_result(sh->conn, ret_res)) == CENOTE_AGAIN) {
		if (session_wait(sh) != RUN_OK)
			return CENOTE_ERR_CONN;
	}
	return r;
}

int
session_next(struct shell *sh, cenote_result *res)
{
	int r;

	if (interrupt_is_pending())
		interrupt_request(sh);
	while (!sh->is_closed_by_user && (r = cenote_result_next(res)) == CENOTE_AGAIN)
		(void)session_wait(sh);
	return sh->is_closed_by_user ? CENOTE_ERR_CONN : r;
}

int
session_copy_put(struct shell *sh, const char *data, size_t len)
{
	int r;

	while ((r = cenote_copy_put(sh->conn, data, len)) == CENOTE_AGAIN) {
		if (session_wait(sh) != RUN_OK)
			return CENOTE_ERR_CONN;
	}
	return r;
}

int
session_copy_end(struct shell *sh, const char *error)
{
	int r;

	while ((r = cenote_copy_end(sh->conn, error)) == CENOTE_AGAIN) {
		if (session_wait(sh) != RUN_OK)
			return CENOTE_ERR_CONN;
	}
	return r;
}

int
session_copy_get(struct shell *sh, const char **ret_data, size_t *ret_len)
{
	int r;

	if (interrupt_is_pending())
		interrupt_request(sh);
	while (!sh->is_closed_by_user &&
		(r = cenote_copy_get(sh->conn, ret_data, ret_len)) == CENOTE_AGAIN)
		(void)session_wait(sh);
	return sh->is_closed_by_user ? CENOTE_ERR_CONN : r;
}

int
session_failed(struct shell *sh, int status, const char *sql, size_t len)
{
	if (sh->is_closed_by_user) {
		shell_error(sh, "interrupted; the session was closed");
		return RUN_LOST;
	}
	shell_diag(sh, cenote_conn_diag(sh->conn), sql, len);
	return cenote_status_is_fatal(status) ? RUN_LOST : RUN_ERROR;
}

/* Connect. 0; a negative status with diagnostics; RUN_QUIT: interrupted, which was reported. */
static int
connect_once(struct shell *sh)
{
	int r;

	while ((r = cenote_connect(sh->conn)) == CENOTE_AGAIN) {
		int wants = cenote_wants(sh->conn);
		short events = (short)((wants & CENOTE_WANTS_READ ? POLLIN : 0) |
				       (wants & CENOTE_WANTS_WRITE ? POLLOUT : 0));

		if (interrupt_wait(
			    cenote_fd(sh->conn), events, cenote_wait_ms(sh->conn)) < 0) {
			interrupt_clear();
			cenote_close(sh->conn);
			shell_error(sh, "interrupted");
			return RUN_QUIT;
		}
	}
	return r;
}

static int
connect_session(struct shell *sh)
{
	int r, supplied;

	session_begin_request(sh);
	(void)cenote_set_nonblocking(sh->conn, 1);
	cenote_set_notice_handler(sh->conn, show_notice, sh);
	cenote_set_notification_handler(sh->conn, keep_note, sh);
	do {
		r = connect_once(sh);
		supplied = r < 0 ? password_supply(sh) : 0;
	} while (supplied > 0);
	if (r == RUN_QUIT || supplied < 0)
		return RUN_LOST;
	if (r < 0) {
		shell_diag(sh, cenote_conn_diag(sh->conn), NULL, 0);
		return RUN_LOST;
	}
	learn_dialect(sh);
	return RUN_OK;
}

static int
name_pool(struct shell *sh, const char *uri, const char *pool)
{
	int r = cenote_conn_create(NULL, &sh->conn);

	if (r < 0) {
		shell_error(sh, "out of memory");
		return RUN_LOST;
	}
	r = cenote_conn_set_uri(sh->conn, uri);
	if (r == CENOTE_OK && pool)
		r = cenote_conn_set(sh->conn, "pool", pool);
	if (r < 0) {
		shell_error(sh, "%s: %s", pool ? pool : uri,
			cenote_diag_message(cenote_conn_diag(sh->conn)));
		return RUN_LOST;
	}
	sh->has_password = password_is_in(uri);
	return RUN_OK;
}

static int
open_pool(struct shell *sh, const char *uri, const char *pool)
{
	int r = name_pool(sh, uri, pool);

	if (r == RUN_OK && sh->asking == PASSWORD_ALWAYS)
		r = password_ask(sh) == RUN_OK ? RUN_OK : RUN_LOST;
	return r == RUN_OK ? connect_session(sh) : r;
}

int
session_name(struct shell *sh, const char *uri)
{
	sh->uri = mem_dup(uri, strlen(uri));
	return name_pool(sh, uri, NULL);
}

int
session_open(struct shell *sh, const char *uri)
{
	sh->uri = mem_dup(uri, strlen(uri));
	return open_pool(sh, uri, NULL);
}

int
session_change(struct shell *sh, const char *target)
{
	cenote_conn *before = sh->conn;
	int had_password = sh->has_password, is_uri = strstr(target, "://") != NULL;
	int r;

	sh->conn = NULL;
	r = open_pool(sh, is_uri ? target : sh->uri, is_uri ? NULL : target);
	if (r != RUN_OK) {
		cenote_conn_destroy(sh->conn);
		sh->conn = before;
		sh->has_password = had_password;
		return r;
	}
	cenote_conn_destroy(before);
	catalog_forget(&sh->catalog);
	if (is_uri) {
		free(sh->uri);
		sh->uri = mem_dup(target, strlen(target));
	}
	return RUN_OK;
}

int
session_ensure(struct shell *sh)
{
	if (cenote_is_connected(sh->conn))
		return RUN_OK;
	catalog_forget(&sh->catalog);
	return connect_session(sh);
}

/* Take the results of a request that gives no rows. */
static int
take_command(struct shell *sh)
{
	int status = RUN_OK, r;
	cenote_result *res;

	while ((r = session_get_result(sh, &res)) == CENOTE_OK) {
		if (cenote_result_kind(res) == CENOTE_RESULT_ERROR) {
			shell_diag(sh, cenote_result_diag(res), NULL, 0);
			status = RUN_ERROR;
		}
		cenote_result_destroy(res);
	}
	return r < 0 ? session_failed(sh, r, NULL, 0) : status;
}

static int
send_verb(struct shell *sh, enum session_verb verb)
{
	switch (verb) {
	case SESSION_BEGIN:
		return cenote_send_begin(sh->conn, CENOTE_ISOLATION_DEFAULT, 0);
	case SESSION_COMMIT:
		return cenote_send_commit(sh->conn);
	default:
		return cenote_send_rollback(sh->conn);
	}
}

int
session_do(struct shell *sh, enum session_verb verb)
{
	int r;

	session_begin_request(sh);
	while ((r = send_verb(sh, verb)) == CENOTE_AGAIN) {
		if (session_wait(sh) != RUN_OK)
			return session_failed(sh, CENOTE_ERR_CONN, NULL, 0);
	}
	return r < 0 ? session_failed(sh, r, NULL, 0) : take_command(sh);
}

/* Take the rows of a request that was sent; NULL: it failed. */
static int
take_rows(struct shell *sh, int is_quiet, cenote_result **ret_res)
{
	cenote_result *res, *kept = NULL;
	int r;

	while ((r = session_get_result(sh, &res)) == CENOTE_OK) {
		if (cenote_result_kind(res) == CENOTE_RESULT_ROWS && !kept) {
			kept = res;
			continue;
		}
		if (cenote_result_kind(res) == CENOTE_RESULT_ERROR && !is_quiet)
			shell_diag(sh, cenote_result_diag(res), NULL, 0);
		cenote_result_destroy(res);
	}
	if (r < 0) {
		cenote_result_destroy(kept);
		return session_failed(sh, r, NULL, 0);
	}
	*ret_res = kept;
	return kept ? RUN_OK : RUN_ERROR;
}

/* A request for a catalog list, or a statement. */
struct request {
	uint32_t kind; /* for a catalog list */
	const cenote_catalog_filter *filter;
	const char *sql; /* NULL: a catalog list */
	const cenote_params *params;
};

static int
send_request(struct shell *sh, const struct request *rq)
{
	if (rq->sql)
		return cenote_send_query(
			sh->conn, rq->sql, strlen(rq->sql), rq->params, NULL);
	return cenote_send_catalog(sh->conn, rq->kind, rq->filter);
}

static int
ask(struct shell *sh, const struct request *rq, int is_quiet, cenote_result **ret_res)
{
	int r = session_ensure(sh);

	if (r != RUN_OK)
		return r;
	session_begin_request(sh);
	while ((r = send_request(sh, rq)) == CENOTE_AGAIN) {
		if (session_wait(sh) != RUN_OK)
			return session_failed(sh, CENOTE_ERR_CONN, NULL, 0);
	}
	if (r < 0)
		return session_failed(sh, r, NULL, 0);
	return take_rows(sh, is_quiet, ret_res);
}

int
session_catalog(struct shell *sh, uint32_t kind, const cenote_catalog_filter *filter,
	int is_quiet, cenote_result **ret_res)
{
	struct request rq = { .kind = kind, .filter = filter };

	return ask(sh, &rq, is_quiet, ret_res);
}

int
session_query(struct shell *sh, const char *sql, const char *const *texts, int is_quiet,
	cenote_result **ret_res)
{
	cenote_params *params = NULL;
	int r = cenote_params_create(NULL, &params);

	for (; r >= 0 && *texts; texts++)
		r = cenote_params_add_text(params, *texts, strlen(*texts));
	if (r < 0)
		shell_error(sh, "%s", cenote_status_name(r));
	else
		r = ask(sh, &(struct request){ .sql = sql, .params = params }, is_quiet,
			ret_res);
	cenote_params_destroy(params);
	return r;
}
