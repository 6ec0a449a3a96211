/* SPDX-License-Identifier: BSD-2-Clause */
#include "cache.h"
#include "cancel.h"

#include <string.h>

/*
 * The public calls for the connection itself: creating and destroying it, its options, connecting,
 * and non-blocking use. It owns no state; state.c has the states, and attach.c gets a session.
 */

int
cenote_conn_create(const cenote_allocator *alloc, cenote_conn **ret_conn)
{
	const cenote_allocator *mem = alloc ? alloc : &cnc_mem_default;
	cenote_conn *conn;

	if (!ret_conn || (alloc && (!alloc->alloc || !alloc->realloc || !alloc->free)))
		return CENOTE_ERR_ARG;
	conn = cnc_calloc(mem, 1, sizeof(*conn));
	if (!conn)
		return CENOTE_ERR_NOMEM;
	conn->mem = *mem;
	conn->info.scratch = &conn->scratch;
	cnc_diag_init(&conn->diag.d, &conn->mem);
	cnc_diag_init(&conn->loss.setup.d, &conn->mem);
	cnc_diag_init(&conn->loss.diag.d, &conn->mem);
	cn_state_begin(conn);
	cn_transport_init(&conn->transport);
	cnp_client_init(&conn->session, &conn->mem, CNP_FRAME_MAX);
	cn_options_init(&conn->options, &conn->mem);
	cnc_buf_init(&conn->cache.history, &conn->mem, CN_CACHE_HISTORY_MAX);
	conn->tx = CENOTE_TX_UNKNOWN;
	conn->next_stmt = 1;
	*ret_conn = conn;
	return CENOTE_OK;
}

/* Results and statements may outlive the connection: remove their pointers to it. */
static void
let_go(cenote_conn *conn)
{
	while (conn->streams) {
		cenote_result *res = conn->streams;

		conn->streams = res->next;
		res->next = NULL;
		res->conn = NULL;
	}
	while (conn->stmts) {
		cenote_stmt *stmt = conn->stmts;

		conn->stmts = stmt->next;
		stmt->next = NULL;
		stmt->conn = NULL;
	}
}

void
cenote_conn_destroy(cenote_conn *conn)
{
	struct cenote_allocator mem;

	if (!conn)
		return;
	cenote_close(conn);
	/* An attach that failed may have left requests. */
	cn_requests_clear(conn);
	cn_login_end(conn);
	cn_named_clear(conn);
	let_go(conn);
	cn_cancel_let_go(conn);
	mem = conn->mem;
	cnp_client_finish(&conn->session);
	cn_options_finish(&conn->options);
	cnc_buf_finish(&conn->cache.history);
	cn_targets_finish(&conn->attach.targets, &mem);
	cn_info_finish(conn);
	cn_pairs_finish(&mem, &conn->reattach.options);
	cnc_diag_finish(&conn->diag.d);
	cnc_diag_finish(&conn->loss.setup.d);
	cnc_diag_finish(&conn->loss.diag.d);
	cnc_free(&mem, conn->pipeline.ring);
	if (conn->reattach.carry)
		cnc_wipe(conn->reattach.carry, conn->reattach.carry_len);
	cnc_free(&mem, conn->reattach.carry);
	cnc_free(&mem, conn->scratch.tls);
	cnc_free(&mem, conn);
}

void
cenote_close(cenote_conn *conn)
{
	if (conn)
		cn_close(conn);
}

void
cenote_conn_set_getpid(cenote_conn *conn, long (*function)(void))
{
	if (conn)
		conn->getpid = function;
}

/* May the option be set now? Options apply to the next cenote_connect(), except for allow_files. */
static int
may_set(cenote_conn *conn, const char *name)
{
	cnc_diag_clear(&conn->diag.d);
	if (name && strcmp(name, cn_option_name(CN_OPTION_ALLOW_FILES)) == 0)
		return CENOTE_OK;
	if (cn_state(conn) == CN_CLOSED || cn_state(conn) == CN_LOST)
		return CENOTE_OK;
	return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
		"options are set before cenote_connect()");
}

int
cenote_conn_set(cenote_conn *conn, const char *name, const char *value)
{
	int r;

	if (!conn || !name)
		return CENOTE_ERR_ARG;
	r = may_set(conn, name);
	if (r < 0)
		return r;
	return cn_options_set_named(
		&conn->options, name, strlen(name), value, &conn->diag.d);
}

int
cenote_conn_set_uri(cenote_conn *conn, const char *uri)
{
	struct cn_options changed;
	int r;

	if (!conn || !uri)
		return CENOTE_ERR_ARG;
	r = may_set(conn, NULL);
	if (r < 0)
		return r;
	/* Work on a copy: a URI with an error at its end must change nothing. */
	cn_options_init(&changed, &conn->mem);
	r = cn_options_copy(&changed, &conn->options);
	if (r < 0)
		return cn_nomem(conn);
	r = cn_uri_apply(&changed, uri, &conn->diag.d);
	if (r < 0) {
		cn_options_finish(&changed);
		return r;
	}
	cn_options_finish(&conn->options);
	conn->options = changed;
	return CENOTE_OK;
}

const char *
cenote_conn_get(const cenote_conn *conn, const char *name)
{
	int option;

	if (!conn || !name)
		return NULL;
	option = cn_option_find(name, strlen(name));
	if (option < 0 || option == CN_OPTION_PASSWORD)
		return NULL;
	return cn_options_get(&conn->options, option);
}

static int
is_attached(const cenote_conn *conn)
{
	return cn_state(conn) != CN_CONNECTING && cn_state(conn) != CN_ATTACHING;
}

static int
attach_run(cenote_conn *conn)
{
	int r = cn_wait_for(conn, is_attached);

	if (r != CENOTE_OK)
		return r;
	/* The pool may have taken the session back at once. Then the next request attaches again. */
	return cn_state(conn) == CN_LOST ? cn_enter_attached(conn) : CENOTE_OK;
}

int
cn_connect(cenote_conn *conn, uint8_t kind)
{
	int r;

	cnc_diag_clear(&conn->diag.d);
	/* Attaching has its own time limit. */
	conn->deadline = 0;
	if (cn_is_first_attach(conn)) {
		r = cn_enter(conn);
		conn->deadline = 0;
		return r < 0 ? r : attach_run(conn);
	}
	if (cn_state(conn) != CN_CLOSED && cn_state(conn) != CN_LOST)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"connected already: call cenote_close() first");
	cenote_close(conn);
	conn->pid = cn_pid(conn);
	/* Another connection may have changed the settings of a session that is resumed. */
	cn_cache_session_begins(conn, kind == CNP_OPEN_ATTACH);
	r = cn_attach_begin(conn, kind, 0);
	return r < 0 ? r : attach_run(conn);
}

int
cenote_connect(cenote_conn *conn)
{
	return conn ? cn_connect(conn, CNP_OPEN_ATTACH) : CENOTE_ERR_ARG;
}

int
cenote_set_nonblocking(cenote_conn *conn, int on)
{
	if (!conn)
		return CENOTE_ERR_ARG;
	conn->nonblocking = on == CENOTE_PASSIVE ? CENOTE_PASSIVE : on != 0;
	if (on != CENOTE_PASSIVE)
		return CENOTE_OK;
	conn->transport.keeps_number = 1;
	/* The session may have ended already. */
	if (cn_state(conn) == CN_DETACHED)
		cn_transport_hold(&conn->transport);
	return CENOTE_OK;
}

int
cenote_fd(const cenote_conn *conn)
{
	if (!conn || cn_state(conn) == CN_LOST)
		return -1;
	return conn->transport.fd >= 0 ? conn->transport.fd : conn->transport.held;
}

static int
has_work(const cenote_conn *conn)
{
	if (cn_state(conn) == CN_CLOSED || cn_state(conn) == CN_LOST)
		return 0;
	return cn_state(conn) != CN_DETACHED || cn_is_lent_anew(conn) ||
	       conn->pipeline.n > conn->pipeline.n_finished;
}

static int
is_written(const cenote_conn *conn)
{
	const uint8_t *bytes;

	switch (cn_state(conn)) {
	case CN_CONNECTING:
		return 0;
	case CN_ATTACHING:
		if (!conn->session.is_kept)
			return 0;
		/* fall through */
	case CN_READY:
		return conn->is_write_broken ||
		       cnp_client_output(&conn->session, &bytes) == 0;
	default:
		return 1;
	}
}

int
cenote_process(cenote_conn *conn)
{
	uint8_t was;
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter(conn);
	if (r < 0)
		return r;
	/* This call never waits, in any mode of the handle. */
	was = conn->nonblocking;
	conn->nonblocking = CENOTE_NONBLOCKING;
	conn->deadline = 0;
	if (cn_is_staying(conn))
		r = cn_stay_check(conn);
	while (r == CENOTE_OK && has_work(conn))
		r = cn_progress(conn);
	conn->nonblocking = was;
	if (r < 0)
		return r;
	if (cn_state(conn) == CN_LOST || cn_state(conn) == CN_CLOSED)
		return cn_enter_attached(conn);
	return is_written(conn) ? CENOTE_OK : CENOTE_AGAIN;
}

/* Take what has come. CENOTE_AGAIN: nothing more has come. */
static int
look(cenote_conn *conn)
{
	int r;

	if (!cn_is_listening(conn))
		return cn_advance(conn, CN_READ_NOW);
	r = cn_stay_check(conn);
	return r == CENOTE_OK ? CENOTE_AGAIN : r;
}

/* Wait until a message comes without a request. CENOTE_OK; CENOTE_DONE: the time is up, or no
 * message can come. */
static int
wait_unasked(cenote_conn *conn, int may_sleep)
{
	uint32_t before = conn->handlers.n_unasked;
	int r;

	for (;;) {
		r = look(conn);
		if (conn->handlers.n_unasked != before)
			return CENOTE_OK;
		if (r < 0)
			return r;
		if (cn_state(conn) != CN_READY && !cn_is_listening(conn))
			return cn_state(conn) == CN_DETACHED ? CENOTE_DONE
							     : cn_enter_attached(conn);
		if (r == CENOTE_OK)
			continue;
		if (!may_sleep)
			return CENOTE_DONE;
		r = cn_wait(conn);
		if (r == CENOTE_ERR_TIMEOUT) {
			cnc_diag_clear(&conn->diag.d);
			return CENOTE_DONE;
		}
		if (r < 0)
			return r;
	}
}

int
cenote_wait(cenote_conn *conn, int timeout_ms)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_end_former(conn);
	if (r < 0)
		return r;
	if (cn_state(conn) == CN_DETACHED && !cn_is_listening(conn))
		return CENOTE_DONE;
	conn->deadline = timeout_ms > 0 ? cn_now_ms() + timeout_ms : 0;
	r = wait_unasked(conn, timeout_ms != 0);
	conn->deadline = 0;
	return r;
}

int
cenote_is_busy(const cenote_conn *conn)
{
	return conn && !cn_has_answer(conn);
}

uint32_t
cenote_n_answered(const cenote_conn *conn)
{
	uint32_t n = 0;

	for (size_t i = 0; conn && i < conn->pipeline.n_finished; i++)
		n += !cn_request_at(&conn->pipeline, i)->is_hidden;
	return n;
}

int
cenote_is_connected(const cenote_conn *conn)
{
	return conn && cn_state(conn) != CN_CLOSED && cn_state(conn) != CN_LOST &&
	       !cn_is_first_attach(conn);
}

int
cenote_tx_state(const cenote_conn *conn)
{
	return conn ? conn->tx : CENOTE_TX_UNKNOWN;
}

uint32_t
cenote_pins(const cenote_conn *conn)
{
	return conn ? conn->pins : 0;
}

const cenote_diag *
cenote_conn_diag(const cenote_conn *conn)
{
	return conn ? &conn->diag : &cn_diag_none;
}

void
cenote_set_notice_handler(cenote_conn *conn,
	void (*handler)(const cenote_diag *notice, void *user), void *user)
{
	if (!conn)
		return;
	conn->handlers.notice = handler;
	conn->handlers.notice_user = user;
}

void
cenote_set_notification_handler(cenote_conn *conn,
	void (*handler)(
		uint32_t pid, const char *channel, const char *payload, void *user),
	void *user)
{
	if (!conn)
		return;
	conn->handlers.notification = handler;
	conn->handlers.notification_user = user;
}

void
cenote_set_parameter_handler(cenote_conn *conn,
	void (*handler)(const char *name, const char *value, void *user), void *user)
{
	if (!conn)
		return;
	conn->handlers.parameter = handler;
	conn->handlers.parameter_user = user;
}
