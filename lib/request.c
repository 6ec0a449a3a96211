/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/* The ring of requests whose results were not all taken, and the calls that fill it. */

/* In a pipeline requests are collected up to so many bytes before they are written. */
#define COLLECT_MAX 65536u
#define RING_MIN    8u

struct cn_request *
cn_request_at(const cenote_conn *conn, size_t i)
{
	return &conn->requests[(conn->first + i) & (conn->cap - 1)];
}

struct cn_request *
cn_request_running(const cenote_conn *conn)
{
	return conn->n > conn->n_finished ? cn_request_at(conn, conn->n_finished) : NULL;
}

static int
ring_grow(cenote_conn *conn)
{
	size_t cap = conn->cap ? conn->cap * 2 : RING_MIN;
	struct cn_request *ring;

	if (conn->n < conn->cap)
		return CENOTE_OK;
	ring = cnc_calloc(&conn->mem, cap, sizeof(*ring));
	if (!ring)
		return CENOTE_ERR_NOMEM;
	for (size_t i = 0; i < conn->n; i++)
		ring[i] = *cn_request_at(conn, i);
	cnc_free(&conn->mem, conn->requests);
	conn->requests = ring;
	conn->first = 0;
	conn->cap = cap;
	return CENOTE_OK;
}

static void
request_finish(struct cn_request *req)
{
	while (req->first) {
		cenote_result *res = req->first;

		req->first = res->next;
		/* A stream that was not handed out is in this list only. */
		if (req->building == res)
			req->building = NULL;
		cenote_result_destroy(res);
	}
	req->last = NULL;
	/* One that was handed out belongs to the program. */
	if (req->building && req->building->stream == CN_STREAM_NO)
		cenote_result_destroy(req->building);
	req->building = NULL;
	cn_stmt_unref(req->stmt);
	req->stmt = NULL;
	cn_columns_unref(req->columns);
	req->columns = NULL;
}

static void
pop_front(cenote_conn *conn)
{
	request_finish(cn_request_at(conn, 0));
	conn->first = (conn->first + 1) & (conn->cap - 1);
	conn->n--;
	conn->n_finished--;
}

/* Requests at the front of which the program is to know nothing more. */
static void
trim(cenote_conn *conn)
{
	while (conn->n_finished > 0 && cn_request_at(conn, 0)->is_hidden)
		pop_front(conn);
}

void
cn_request_superseded(cenote_conn *conn, uint32_t portal)
{
	for (size_t i = 0; i < conn->n_finished; i++) {
		struct cn_request *req = cn_request_at(conn, i);

		if (req->portal == portal && !req->first)
			req->is_hidden = 1;
	}
	trim(conn);
}

int
cn_request_finished(cenote_conn *conn, struct cn_request *req)
{
	req->is_finished = 1;
	conn->has_served = 1;
	conn->n_finished++;
	trim(conn);
	if (conn->is_refused) {
		/* The server's own words are the reason; what else was asked is lost. */
		conn->is_refused = 0;
		cnc_diag_copy(&conn->diag.d, &conn->setup.d);
		(void)cn_session_failed(conn, CENOTE_ERR_CONN);
	}
	return CENOTE_OK;
}

void
cn_requests_drop_unfinished(cenote_conn *conn)
{
	while (conn->n > conn->n_finished) {
		struct cn_request *req = cn_request_at(conn, conn->n - 1);

		if (req->code == CNP_MSG_PREPARE && req->stmt)
			req->stmt->is_queued = 0;
		conn->n--;
		request_finish(req);
	}
	conn->needs_sync = 0;
}

void
cn_requests_clear(cenote_conn *conn)
{
	cn_requests_drop_unfinished(conn);
	while (conn->n > 0)
		pop_front(conn);
	conn->in_pipeline = 0;
	conn->call = 0;
}

/* ------------------------------------------------------------------ queueing ----- */

int
cn_request(cenote_conn *conn, const struct cn_send *send)
{
	struct cn_request *req;
	uint32_t number = 0;
	int r;

	r = ring_grow(conn);
	if (r < 0)
		return cn_nomem(conn);
	if (conn->n == conn->n_finished)
		conn->sent_before = conn->session.sent;
	r = cnp_client_request(&conn->session, send->msg, send->sync, 0, &number);
	if (r == CENOTE_ERR_LIMIT)
		return cn_fail(conn, r, CNC_SQLSTATE(LIMIT),
			"the request is longer than the pool takes (its max_frame)");
	if (r < 0)
		return r == CENOTE_ERR_NOMEM ? cn_nomem(conn) : r;
	req = cn_request_at(conn, conn->n);
	memset(req, 0, sizeof(*req));
	req->number = number;
	req->portal = send->target ? send->target->portal : number;
	req->code = send->msg->code;
	req->effect = send->effect;
	req->is_hidden = send->is_hidden;
	req->stmt = cn_stmt_ref(send->stmt);
	req->columns = cn_columns_ref(send->columns);
	req->target = send->target;
	if (send->options) {
		req->is_stream = send->options->stream != 0;
		req->format = (uint8_t)send->options->format;
		req->batch_rows = send->options->batch_rows;
	}
	if (send->msg->code == CNP_MSG_AUTOCOMMIT)
		req->wants_autocommit = send->msg->as.autocommit.on;
	conn->n++;
	conn->needs_sync = !send->sync && send->msg->code != CNP_MSG_SYNC;
	return CENOTE_OK;
}

int
cn_request_one_shot(cenote_conn *conn, uint8_t code)
{
	int r = ring_grow(conn);

	if (r < 0)
		return cn_nomem(conn);
	memset(cn_request_at(conn, 0), 0, sizeof(struct cn_request));
	cn_request_at(conn, 0)->code = code;
	conn->n = 1;
	return CENOTE_OK;
}

int
cn_setup(cenote_conn *conn, const struct cnp_msg *msg)
{
	if (cn_state(conn) != CN_READY)
		return CENOTE_OK;
	return cnp_client_request(&conn->session, msg, 0, 1, NULL);
}

int
cn_sent(cenote_conn *conn)
{
	const uint8_t *bytes;

	int r;

	if (conn->in_pipeline && conn->needs_sync &&
		cnp_client_output(&conn->session, &bytes) < COLLECT_MAX)
		return CENOTE_OK;
	r = cn_push(conn);
	/* The request is queued: what hinders only for now is told to who takes the
	 * results. */
	return cenote_status_is_fatal(r) ? r : CENOTE_OK;
}

/* Outside a pipeline: what is left of the request before is no more wanted, or it is
 * an error. */
static int
end_former(cenote_conn *conn)
{
	const struct cnp_outstanding *oldest;
	struct cn_request *req;

	trim(conn);
	if (conn->n_finished > 0 && !cn_request_at(conn, 0)->first)
		pop_front(conn);
	for (size_t i = 0; i < conn->n; i++) {
		req = cn_request_at(conn, i);
		oldest = cnp_client_oldest(&conn->session);
		if (req->is_hidden)
			continue;
		if (!req->first && !req->is_finished &&
			(req->is_abandoned || (oldest && oldest->request == req->number &&
						      oldest->answered))) {
			req->is_hidden = 1;
			continue;
		}
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"results of an earlier request were not taken: call "
			"cenote_get_result() until CENOTE_DONE");
	}
	return CENOTE_OK;
}

int
cn_may_send(cenote_conn *conn)
{
	conn->call = 0;
	return conn->in_pipeline ? CENOTE_OK : end_former(conn);
}

static int
send_sync(cenote_conn *conn, int is_hidden)
{
	const struct cnp_msg m = { .code = CNP_MSG_SYNC };
	const struct cn_send send = { .msg = &m, .is_hidden = is_hidden != 0 };

	return cn_request(conn, &send);
}

int
cn_may_call(cenote_conn *conn)
{
	int r;

	conn->call = 0;
	r = end_former(conn);
	if (r == CENOTE_OK && conn->needs_sync)
		r = send_sync(conn, 1);
	return r;
}

int
cn_call_goes_on(cenote_conn *conn, uint32_t call)
{
	return conn->call == call;
}

int
cn_call_end(cenote_conn *conn, uint32_t call, int r)
{
	conn->call = r == CENOTE_AGAIN || r == CENOTE_ERR_NOMEM ? call : 0;
	return r;
}

/* ------------------------------------------------------------------- results ----- */

/* What cenote_get_result() would say is known. */
int
cn_has_answer(const cenote_conn *conn)
{
	const struct cn_request *req;

	if (conn->n == 0 || cn_state(conn) == CN_LOST || cn_state(conn) == CN_CLOSED)
		return 1;
	req = cn_request_at(conn, 0);
	if (req->is_hidden)
		return 0;
	return req->is_finished ||
	       (req->first &&
		       (req->first->has_more || req->first->stream != CN_STREAM_NO));
}

/* The front request waits for the program to read a stream. */
static int
is_held_up(const cenote_conn *conn)
{
	const struct cn_request *req = conn->n > 0 ? cn_request_at(conn, 0) : NULL;

	return req && !req->first && !req->is_finished && req->building &&
	       req->building->stream == CN_STREAM_RUNNING;
}

static cenote_result *
take_first(cenote_conn *conn, struct cn_request *req)
{
	cenote_result *res = req->first;

	req->first = res->next;
	if (!req->first)
		req->last = NULL;
	res->next = NULL;
	if (res->stream != CN_STREAM_NO)
		cn_stream_link(conn, res);
	return res;
}

static int
take(cenote_conn *conn, cenote_result **ret_res)
{
	struct cn_request *req;
	int r;

	trim(conn);
	if (is_held_up(conn))
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"the streamed result was not read to its end: call "
			"cenote_result_next() until CENOTE_DONE, or destroy it");
	r = cn_wait_for(conn, cn_has_answer);
	if (r != CENOTE_OK)
		return r;
	if (conn->n == 0) {
		if (cn_state(conn) != CN_LOST)
			return CENOTE_DONE;
		cnc_diag_copy(&conn->diag.d, &conn->lost.d);
		return conn->lost_status;
	}
	req = cn_request_at(conn, 0);
	if (!req->first) {
		pop_front(conn);
		trim(conn);
		return CENOTE_DONE;
	}
	*ret_res = take_first(conn, req);
	return CENOTE_OK;
}

int
cenote_get_result(cenote_conn *conn, cenote_result **ret_res)
{
	int r;

	if (!conn || !ret_res)
		return CENOTE_ERR_ARG;
	r = cn_enter(conn);
	if (r < 0)
		return r;
	conn->call = 0;
	return take(conn, ret_res);
}

/* The error of a result is that of the connection's call. */
static int
result_status(cenote_conn *conn, const cenote_result *res)
{
	if (res->kind == CENOTE_RESULT_ERROR) {
		cnc_diag_copy(&conn->diag.d, &res->diag->d);
		return cn_status_of(res->diag->d.sqlstate);
	}
	if (res->kind == CENOTE_RESULT_SKIPPED)
		return cn_fail(conn, CENOTE_ERR_SERVER, CNC_SQLSTATE(SEQUENCE),
			"skipped: an earlier request failed");
	return CENOTE_OK;
}

/* A finished request that has no more results needs no CENOTE_DONE after a call. */
static void
drop_finished(cenote_conn *conn)
{
	if (conn->n_finished > 0 && !cn_request_at(conn, 0)->first)
		pop_front(conn);
	trim(conn);
}

int
cn_take_result(cenote_conn *conn, cenote_result **ret_res)
{
	cenote_result *res = NULL;
	int r;

	r = take(conn, &res);
	if (r != CENOTE_OK)
		return r == CENOTE_DONE ? CENOTE_ERR_PROTOCOL : r;
	if (!res)
		return CENOTE_ERR_PROTOCOL;
	drop_finished(conn);
	r = result_status(conn, res);
	if (r < 0) {
		cenote_result_destroy(res);
		return r;
	}
	*ret_res = res;
	return CENOTE_OK;
}

int
cn_take_command(cenote_conn *conn)
{
	cenote_result *res;
	int r = cn_take_result(conn, &res);

	if (r == CENOTE_OK)
		cenote_result_destroy(res);
	return r;
}

/* -------------------------------------------------------------- classification ----- */

int
cn_status_of(const char *sqlstate)
{
	if (strcmp(sqlstate, CNC_SQLSTATE(UNSUPPORTED)) == 0)
		return CENOTE_ERR_UNSUPPORTED;
	return strncmp(sqlstate, "08", 2) == 0 ? CENOTE_ERR_CONN : CENOTE_ERR_SERVER;
}

int
cn_attach_status(const char *sqlstate)
{
	static const struct {
		const char *prefix;
		int status;
	} table[] = {
		{ "28", CENOTE_ERR_AUTH },
		{ "3D000", CENOTE_ERR_AUTH },
		{ "0A000", CENOTE_ERR_UNSUPPORTED },
		{ "08P01", CENOTE_ERR_PROTOCOL },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strncmp(sqlstate, table[i].prefix, strlen(table[i].prefix)) == 0)
			return table[i].status;
	}
	return CENOTE_ERR_CONN;
}

static int
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* Behind white space and comments. */
static size_t
skip_blank(const char *sql, size_t at, size_t len)
{
	for (;;) {
		if (at < len &&
			(sql[at] == ' ' || (sql[at] >= '\t' && sql[at] <= '\r'))) {
			at++;
		} else if (at + 1 < len && sql[at] == '-' && sql[at + 1] == '-') {
			while (at < len && sql[at] != '\n')
				at++;
		} else if (at + 1 < len && sql[at] == '/' && sql[at + 1] == '*') {
			at += 2;
			while (at + 1 < len && !(sql[at] == '*' && sql[at + 1] == '/'))
				at++;
			at = at + 2 < len ? at + 2 : len;
		} else {
			return at;
		}
	}
}

static int
begins_with(const char *sql, size_t at, size_t len, const char *word)
{
	size_t i = 0;

	for (; word[i]; i++) {
		if (at + i >= len || (sql[at + i] | 0x20) != word[i])
			return 0;
	}
	return at + i >= len || !is_word(sql[at + i]);
}

static int
begins_with_one_of(const char *sql, size_t at, size_t len, const char *const *words)
{
	for (; *words; words++) {
		if (begins_with(sql, at, len, *words))
			return 1;
	}
	return 0;
}

/*
 * Only for what is said about a request whose answer was lost, and on the safe side: a
 * statement counts as reading only if it calls no function, and one that begins like the
 * end of a transaction, wherever a ';' stands before it, as ending it.
 */
uint8_t
cn_sql_effect(const char *sql, size_t len)
{
	static const char *const reads[] = { "select", "values", "table", "show", NULL };
	static const char *const ends[] = { "commit", "end", "release", "prepare", NULL };
	size_t first = skip_blank(sql, 0, len);
	const char *next;

	for (size_t at = first; at < len; at = (size_t)(next + 1 - sql)) {
		at = skip_blank(sql, at, len);
		if (begins_with_one_of(sql, at, len, ends))
			return CN_EFFECT_COMMIT;
		next = at < len ? memchr(sql + at, ';', len - at) : NULL;
		if (!next)
			break;
	}
	if (!begins_with_one_of(sql, first, len, reads) ||
		memchr(sql + first, '(', len - first))
		return CN_EFFECT_WRITE;
	next = memchr(sql + first, ';', len - first);
	if (next && skip_blank(sql, (size_t)(next + 1 - sql), len) < len)
		return CN_EFFECT_WRITE;
	return CN_EFFECT_NONE;
}

size_t
cn_text_len(const char *text, size_t len)
{
	return len == CENOTE_NTS ? strlen(text) : len;
}

int
cn_exec_options(cenote_conn *conn, const cenote_exec_options *options,
	cenote_exec_options *ret_options)
{
	static const cenote_exec_options none = CENOTE_EXEC_OPTIONS_INIT;

	if (!options) {
		*ret_options = none;
		return CENOTE_OK;
	}
	if (options->size != sizeof(*options) || options->stream > 1 ||
		options->format > CENOTE_FORMAT_BINARY || options->reserved != 0 ||
		(options->batch_rows > 0 && !options->stream))
		return cn_fail(conn, CENOTE_ERR_ARG, CNC_SQLSTATE(BAD_PARAMETER),
			"cenote_exec_options: size, format, stream or batch_rows is not "
			"allowed (batch_rows needs stream)");
	*ret_options = *options;
	return CENOTE_OK;
}

/* -------------------------------------------------------------- public calls ----- */

static uint8_t
sync_flag(const cenote_conn *conn, int is_call)
{
	return conn->in_pipeline && !is_call ? 0 : CNP_FRAME_SYNC;
}

static int
queue_query(cenote_conn *conn, const char *sql, size_t len, const cenote_params *params,
	const cenote_exec_options *options, int is_call)
{
	cenote_exec_options exec = CENOTE_EXEC_OPTIONS_INIT;
	struct cnp_msg m = { .code = CNP_MSG_QUERY };
	struct cn_send send = {
		.msg = &m,
		.sync = sync_flag(conn, is_call),
		.options = &exec,
	};
	int r;

	r = cn_exec_options(conn, options, &exec);
	if (r < 0)
		return r;
	m.as.query.sql.p = sql;
	m.as.query.sql.n = cn_text_len(sql, len);
	m.as.query.format = (uint8_t)exec.format;
	m.as.query.batch_rows = exec.batch_rows;
	m.as.query.max_rows = exec.max_rows;
	m.as.query.params = cn_params_blob(params);
	send.effect = cn_sql_effect(sql, m.as.query.sql.n);
	return cn_request(conn, &send);
}

int
cenote_send_query(cenote_conn *conn, const char *sql, size_t len,
	const cenote_params *params, const cenote_exec_options *options)
{
	int r;

	if (!conn || !sql)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_may_send(conn);
	if (r == CENOTE_OK)
		r = queue_query(conn, sql, len, params, options, 0);
	return r < 0 ? r : cn_sent(conn);
}

int
cenote_query(cenote_conn *conn, const char *sql, size_t len, const cenote_params *params,
	const cenote_exec_options *options, cenote_result **ret_res)
{
	int r;

	if (!conn || !sql || !ret_res)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r < 0)
		return r;
	if (!cn_call_goes_on(conn, CNP_MSG_QUERY)) {
		r = cn_may_call(conn);
		if (r == CENOTE_OK)
			r = queue_query(conn, sql, len, params, options, 1);
		if (r < 0)
			return r;
	}
	return cn_call_end(conn, CNP_MSG_QUERY, cn_take_result(conn, ret_res));
}

int
cenote_pipeline_begin(cenote_conn *conn)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r < 0)
		return r;
	if (conn->in_pipeline)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"the pipeline was begun already");
	r = cn_may_send(conn);
	if (r < 0)
		return r;
	conn->in_pipeline = 1;
	return CENOTE_OK;
}

int
cenote_pipeline_end(cenote_conn *conn)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter(conn);
	if (r < 0)
		return r;
	if (!conn->in_pipeline)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"no pipeline was begun");
	r = end_former(conn);
	if (r < 0)
		return r;
	/* Behind an error everything is skipped up to a synchronisation point: make
	 * sure of one. */
	if (conn->needs_sync && cn_state(conn) != CN_LOST) {
		r = send_sync(conn, 1);
		if (r < 0)
			return r;
	}
	conn->in_pipeline = 0;
	return cn_sent(conn);
}

int
cenote_send_sync(cenote_conn *conn)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_may_send(conn);
	if (r == CENOTE_OK)
		r = send_sync(conn, 0);
	return r < 0 ? r : cn_sent(conn);
}

/* --------------------------------------------------------------- transactions ----- */

static int
queue_command(cenote_conn *conn, const struct cnp_msg *m, uint8_t effect, int is_call)
{
	const struct cn_send send = {
		.msg = m,
		.effect = effect,
		.sync = sync_flag(conn, is_call),
	};

	return cn_request(conn, &send);
}

static int
send_command(cenote_conn *conn, const struct cnp_msg *m, uint8_t effect)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_may_send(conn);
	if (r == CENOTE_OK)
		r = queue_command(conn, m, effect, 0);
	return r < 0 ? r : cn_sent(conn);
}

static int
call_command(cenote_conn *conn, const struct cnp_msg *m, uint8_t effect)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r < 0)
		return r;
	if (!cn_call_goes_on(conn, m->code)) {
		r = cn_may_call(conn);
		if (r == CENOTE_OK)
			r = queue_command(conn, m, effect, 1);
		if (r < 0)
			return r;
	}
	return cn_call_end(conn, m->code, cn_take_command(conn));
}

int
cenote_ping(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_PING };

	return call_command(conn, &m, CN_EFFECT_NONE);
}

int
cenote_reset(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_RESET };

	return call_command(conn, &m, CN_EFFECT_NONE);
}

/* CENOTE_OK, or CENOTE_ERR_ARG for values that do not fit the message. */
static int
fill_begin(struct cnp_msg *m, uint32_t isolation, uint32_t flags)
{
	if (isolation > UINT8_MAX)
		return CENOTE_ERR_ARG;
	m->as.begin.isolation = (uint8_t)isolation;
	m->as.begin.flags = flags;
	return CENOTE_OK;
}

int
cenote_begin(cenote_conn *conn, uint32_t isolation, uint32_t flags)
{
	struct cnp_msg m = { .code = CNP_MSG_BEGIN };
	int r = fill_begin(&m, isolation, flags);

	return r < 0 ? r : call_command(conn, &m, CN_EFFECT_NONE);
}

int
cenote_send_begin(cenote_conn *conn, uint32_t isolation, uint32_t flags)
{
	struct cnp_msg m = { .code = CNP_MSG_BEGIN };
	int r = fill_begin(&m, isolation, flags);

	return r < 0 ? r : send_command(conn, &m, CN_EFFECT_NONE);
}

int
cenote_commit(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_COMMIT };

	return call_command(conn, &m, CN_EFFECT_COMMIT);
}

int
cenote_send_commit(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_COMMIT };

	return send_command(conn, &m, CN_EFFECT_COMMIT);
}

int
cenote_rollback(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_ROLLBACK };

	return call_command(conn, &m, CN_EFFECT_NONE);
}

int
cenote_send_rollback(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_ROLLBACK };

	return send_command(conn, &m, CN_EFFECT_NONE);
}

static int
savepoint(cenote_conn *conn, uint8_t action, const char *name)
{
	struct cnp_msg m = { .code = CNP_MSG_SAVEPOINT };

	if (!name)
		return CENOTE_ERR_ARG;
	m.as.savepoint.action = action;
	m.as.savepoint.name = cnp_str(name);
	/* SQLite: releasing the outermost savepoint commits. */
	return call_command(conn, &m, action == 1 ? CN_EFFECT_COMMIT : CN_EFFECT_NONE);
}

int
cenote_savepoint(cenote_conn *conn, const char *name)
{
	return savepoint(conn, 0, name);
}

int
cenote_release(cenote_conn *conn, const char *name)
{
	return savepoint(conn, 1, name);
}

int
cenote_rollback_to(cenote_conn *conn, const char *name)
{
	return savepoint(conn, 2, name);
}

int
cenote_set_autocommit(cenote_conn *conn, int on)
{
	struct cnp_msg m = { .code = CNP_MSG_AUTOCOMMIT };

	m.as.autocommit.on = on != 0;
	return call_command(conn, &m, CN_EFFECT_NONE);
}

/* ------------------------------------------------------------------- catalog ----- */

static int
fill_catalog(cenote_conn *conn, uint32_t kind, const cenote_catalog_filter *filter,
	struct cnp_msg *m)
{
	static const cenote_catalog_filter none = CENOTE_CATALOG_FILTER_INIT;
	struct cnp_catalog *c = &m->as.catalog;

	filter = filter ? filter : &none;
	if (filter->size != sizeof(*filter) || kind < CENOTE_CATALOG_DATABASES ||
		kind > UINT8_MAX)
		return cn_fail(conn, CENOTE_ERR_ARG, CNC_SQLSTATE(BAD_PARAMETER),
			"catalog: no such kind, or the filter's size is wrong");
	c->kind = (uint8_t)kind;
	c->given =
		(uint8_t)((filter->catalog != NULL) | (filter->schema != NULL) << 1 |
			  (filter->object != NULL) << 2 | (filter->column != NULL) << 3 |
			  (filter->types != NULL) << 4);
	c->catalog = cnp_str(filter->catalog ? filter->catalog : "");
	c->schema = cnp_str(filter->schema ? filter->schema : "");
	c->object = cnp_str(filter->object ? filter->object : "");
	c->column = cnp_str(filter->column ? filter->column : "");
	c->types = cnp_str(filter->types ? filter->types : "");
	return CENOTE_OK;
}

int
cenote_send_catalog(cenote_conn *conn, uint32_t kind, const cenote_catalog_filter *filter)
{
	struct cnp_msg m = { .code = CNP_MSG_CATALOG };
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_may_send(conn);
	if (r == CENOTE_OK)
		r = fill_catalog(conn, kind, filter, &m);
	if (r == CENOTE_OK)
		r = queue_command(conn, &m, CN_EFFECT_NONE, 0);
	return r < 0 ? r : cn_sent(conn);
}

int
cenote_catalog(cenote_conn *conn, uint32_t kind, const cenote_catalog_filter *filter,
	cenote_result **ret_res)
{
	struct cnp_msg m = { .code = CNP_MSG_CATALOG };
	int r;

	if (!conn || !ret_res)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r < 0)
		return r;
	if (!cn_call_goes_on(conn, CNP_MSG_CATALOG)) {
		r = cn_may_call(conn);
		if (r == CENOTE_OK)
			r = fill_catalog(conn, kind, filter, &m);
		if (r == CENOTE_OK)
			r = queue_command(conn, &m, CN_EFFECT_NONE, 1);
		if (r < 0)
			return r;
	}
	return cn_call_end(conn, CNP_MSG_CATALOG, cn_take_result(conn, ret_res));
}
