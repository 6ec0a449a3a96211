/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a client's opening to its first READY: reads what the client wants, has auth.c find out who it
 * is, and lends it the session. It also answers requests that need no session: status queries,
 * cancels, and clients that resume elsewhere. client.c and helper.c call it.
 */
#include "worker.h"

#include <poll.h>
#include <string.h>

#include "shared.h"
#include "shared/answer.h"
#include "core/sqlstate.h"
#include "shared/ipc.h"
#include "shared/log.h"

/* A client that sends nothing for this long goes to the door, which has the time to wait. */
#define SILENCE_MS 50
/* How long a client that stayed may take for its ATTACH once some of it has come. It keeps a session waiting. */
#define BACK_MS    50

static void
copy_text(char *to, size_t size, struct cnp_str from)
{
	size_t n = cnc_utf8_cut(from.p, from.n, size - 1);

	memcpy(to, from.p, n);
	memset(to + n, 0, size - n);
}

static void
publish_identity(struct cnd_worker *w, struct cnp_str program, struct cnp_str application,
	uint32_t pid)
{
	struct cnd_identity id = { .pid = (int32_t)pid, .uid = (int32_t)w->client.uid };

	memcpy(id.user, w->client.user, sizeof(id.user));
	copy_text(id.program, sizeof(id.program), program);
	copy_text(id.application, sizeof(id.application), application);
	cnd_channel_text(&w->client.channel, id.tls, sizeof(id.tls));
	cnd_slot_set_identity(w->slot, &id);
	if (w->seat != NULL)
		w->client.back.identity = id;
}

/* Nothing depends on it, so a client that sends something else is not refused. */
static void
take_trace(struct cnd_worker *w, struct cnp_str trace)
{
	(void)cnc_traceparent_parse(trace.p, trace.n, &w->client.trace);
}

/* ---- lending ---- */

/* The limits of a user count from here on: the client has proved to be that user. */
static void
take_limits(struct cnd_worker *w)
{
	const struct cnd_user_limits *u = cnd_pool_config_user(w->config, w->client.user);

	w->client.query_timeout_ms = u != NULL && u->query_timeout_ms >= 0
					     ? u->query_timeout_ms
					     : w->config->query_timeout_ms;
	w->client.limits_line =
		u != NULL ? (uint32_t)(u - w->config->user_limits) + 1 : 0;
	w->serving.has_query_timeout = w->client.query_timeout_ms > 0;
	w->client.hours_end_ms = cnd_hours_end_ms(w);
}

/* Give the session to this client. It must be reset afterwards. */
static void
begin_lending(struct cnd_worker *w)
{
	struct cnd_slot *s = w->slot;

	cnd_worker_drop_key(w);
	atomic_fetch_add(&s->generation, 1);
	atomic_store_explicit(&s->request, 0, memory_order_relaxed);
	atomic_store_explicit(&s->finished, 0, memory_order_relaxed);
	atomic_store_explicit(&s->cancel, 0, memory_order_relaxed);
	atomic_store_explicit(&s->is_held, 0, memory_order_relaxed);
	cnd_worker_make_key(w);
	atomic_store_explicit(&s->attaches, s->attaches + 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->pool->attaches, 1, memory_order_relaxed);
	w->client.attached_ms = cnd_now_ms();
	w->client.login_until_ms = CND_NEVER;
	w->client.active_ms = w->client.attached_ms;
	w->serving.n_served = 0;
	take_limits(w);
	cnd_pins_forget(w);
	cnd_worker_settle_stranger(w);
	cnd_worker_move(w, CND_SLOT_ATTACHED);
}

/* On a seat: remember what the client knows of this session, for the case that it stays without it. */
static void
note_facts(struct cnd_worker *w)
{
	struct cnd_back *back = &w->client.back;

	back->reads_as = w->login.reads_as;
	back->parameters = w->login.parameters_digest;
	back->slot = w->slot_index;
	back->login = w->login.n;
}

static int
queue_ready(struct cnd_worker *w)
{
	struct cnd_state state;

	cnd_request_take_state(&w->serving, &state);
	w->serving.held.is_ready = true;
	return cnp_server_ready(&w->client.server, state.tx, state.pins, &state.carry);
}

/* Send HELLO, ATTACHED and READY in one write. */
static int
greet(struct cnd_worker *w)
{
	struct cnp_attached m = cnd_slot_facts(w);
	int r;

	if (w->seat != NULL)
		note_facts(w);
	r = cnd_answer_hello(&w->client.server);
	if (r == CENOTE_OK)
		r = cnp_server_attached(&w->client.server, &m);
	if (r == CENOTE_OK)
		r = queue_ready(w);
	return r < 0 ? r : cnd_client_flush(w);
}

/* Tell the one fact that differs between sessions of the same kind. */
static int
tell_backend_pid(struct cnd_worker *w)
{
	struct cnp_msg m = { .code = CNP_MSG_PARAMETER };
	const char *pid = cnd_login_parameter(&w->login, CND_BACKEND_PID);

	if (*pid == '\0')
		return CENOTE_OK;
	m.as.parameter.name = cnp_str(CND_BACKEND_PID);
	m.as.parameter.value = cnp_str(pid);
	return cnp_server_reply(&w->client.server, &m, 1);
}

/* Queue ATTACHED and READY for a client that is back, with what is new for it. Its requests have come already, so the
 * answer goes out with theirs. */
static int
greet_back(struct cnd_worker *w)
{
	const struct cnd_back *back = &w->client.back;
	int is_alike = w->login.parameters_digest == back->parameters;
	int is_same = back->slot == w->slot_index && back->login == w->login.n;
	struct cnp_attached m = is_alike ? cnd_slot_names(w) : cnd_slot_facts(w);
	int r;

	note_facts(w);
	r = cnp_server_attached(&w->client.server, &m);
	if (r == CENOTE_OK)
		r = queue_ready(w);
	return r < 0 || is_same || !is_alike ? r : tell_backend_pid(w);
}

/* ---- the opening ---- */

int
cnd_attach_part(struct cnd_worker *w)
{
	uint8_t sealed[CND_IPC_BYTES_MAX];
	const uint8_t *bytes;
	size_t n = cnp_server_output(&w->client.server, &bytes);
	ssize_t len;

	if (w->client.peer.door != CND_DOOR_TCP || w->client.fd < 0 || w->serving.is_gone)
		return -1;
	len = cnd_channel_seal(&w->client.channel, bytes, n, sealed, sizeof(sealed));
	return len < 0 ? -1
		       : cnd_client_hand_over(
				 w, CND_IPC_PARTING, w->pool_index, sealed, (size_t)len);
}

/* First use the bytes that another process read from the client. */
static int
take_handed(struct cnd_worker_client *c)
{
	uint8_t *room;
	size_t size;

	if (c->n_handed == 0)
		return CENOTE_OK;
	if (cnp_server_room(&c->server, &room, &size) < 0 || size < c->n_handed)
		return CENOTE_ERR_NOMEM;
	memcpy(room, c->handed, c->n_handed);
	cnp_server_received(&c->server, c->n_handed);
	c->n_handed = 0;
	return CENOTE_OK;
}

/* A client that resumes through TLS goes to the worker of its session before any TLS begins: TLS
 * cannot move between processes. */
static int
is_elsewhere(const struct cnd_worker *w)
{
	return w->client.server.opening.kind == CNP_OPEN_RESUME &&
	       w->client.server.opening.tls != CNP_TLS_NONE &&
	       w->sm.state != CND_SLOT_SUSPENDED;
}

/* Always returns CENOTE_ERR_CONN. */
static int
send_to_slot(struct cnd_worker *w, uint32_t slot)
{
	if (slot != CND_BOARD_NONE && cnd_client_send_on(w, CND_IPC_RESUME, slot) < 0)
		cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(RESOURCES),
			"the session cannot be reached now; try again");
	return CENOTE_ERR_CONN;
}

/* Act on the opening, which has arrived. */
static int
on_opening(struct cnd_worker *w, int64_t until)
{
	if (is_elsewhere(w))
		return send_to_slot(w, cnd_answer_resume_named(&w->client.server,
					       w->board, w->pool_index));
	return cnd_attach_answer_tls(w, until);
}

/* Wait for the opening and the frame after it. CENOTE_OK; negative: this client is done. */
static int
await_first(struct cnd_worker *w, struct cnp_request *ret_request)
{
	int64_t begun = cnd_now_ms();
	int64_t until = begun + w->config->auth_timeout_ms;
	int has_opening = 0;
	const uint8_t *bytes;
	int r;

	w->client.login_until_ms = until;
	w->client.active_ms = begun;
	for (;;) {
		r = cnp_server_next(&w->client.server, ret_request);
		if (r == CENOTE_OK && has_opening)
			return CENOTE_OK;
		if (r == CENOTE_OK) {
			has_opening = 1;
			r = on_opening(w, until);
			if (r == CENOTE_OK)
				continue;
		}
		if (r < 0)
			return r;
		r = cnd_client_receive(w);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		cnd_worker_wait(w, w->client.fd, POLLIN,
			w->client.is_handed_over ? until : begun + SILENCE_MS);
		if (cnd_now_ms() - begun >= SILENCE_MS && !w->client.is_handed_over &&
			cnp_server_raw(&w->client.server, &bytes) == 0 &&
			cnd_client_hand_over(w, CND_IPC_SILENT, w->pool_index, NULL, 0) ==
				0)
			return CENOTE_ERR_CONN;
		if (cnd_now_ms() >= until || cnd_worker_order(w) == CND_ORDER_NOW)
			return CENOTE_ERR_TIMEOUT;
	}
}

/* Whether the client wants another pool: 1, and the client has its error; 0. */
static int
is_wrong_pool(struct cnd_worker *w)
{
	if (strcmp(w->client.server.opening.pool, w->config->name) == 0)
		return 0;
	cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(REJECTED),
		"this is the socket of pool %s, not of the pool that was asked for",
		w->config->name);
	return 1;
}

/* Whether the client wants another database: 1, and the client has its error; 0. Only a client that
 * has logged in learns the database's name. */
static int
is_wrong_database(struct cnd_worker *w, struct cnp_str database)
{
	if (database.n == 0 || strcmp(database.p, w->login.info.database) == 0)
		return 0;
	cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(NO_CATALOG),
		"pool %s has sessions of database \"%s\" only", w->config->name,
		w->login.info.database);
	return 1;
}

/* Find the settings in ATTACH's options; "" if there are none. */
static int
find_settings(struct cnd_worker *w, struct cnp_str options)
{
	struct cnp_str wanted = CNP_STR_NONE, name, value;
	struct cnc_reader reader;
	int r;

	w->login.wanted_settings = "";
	if (w->serving.backend->settings_option == NULL)
		return CENOTE_OK;
	cnc_reader_init(&reader, options.p, options.n);
	while ((r = cnp_pairs_next(&reader, &name, &value)) > 0) {
		if (strcmp(name.p, w->serving.backend->settings_option) == 0)
			wanted = value;
	}
	if (r < 0) {
		cnc_diag_set(&w->serving.diag, CNC_SQLSTATE(PROTOCOL),
			"malformed options in ATTACH");
		return r;
	}
	if (wanted.n > CND_SETTINGS_MAX) {
		cnc_diag_set(&w->serving.diag, CNC_SQLSTATE(LIMIT),
			"the settings of a login are longer than 1,023 bytes");
		return CENOTE_ERR_SERVER;
	}
	w->login.wanted_settings = wanted.p;
	return CENOTE_OK;
}

/* The options that the worker itself needs, before the backend gets all of them. */
static int
take_options(struct cnd_worker *w, struct cnp_str options)
{
	int r = find_settings(w, options);

	return r < 0 ? r : cnd_position_take(w, options);
}

/*
 * The settings of a login are part of a fresh session, since RESET restores them. So a client gets
 * this session only if it wants the settings that the session was logged in with, if a login
 * would still give the same session, if no other unix user may have its socket, and if its server has not got another role.
 * Otherwise the worker logs in again.
 */
static int
log_in_as_wanted(struct cnd_worker *w)
{
	if (cnd_login_is_as_wanted(w) && !cnd_lend_has_stranger(w) &&
		!(cnd_roles_have_turned(w) && cnd_roles_check(w) != 0))
		return CENOTE_OK;
	memcpy(w->login.settings, w->login.wanted_settings,
		strlen(w->login.wanted_settings) + 1);
	cnd_logout(w);
	return cnd_login_for_client(w);
}

static int
make_ready(struct cnd_worker *w, const struct cnp_attach *m)
{
	int r;

	cnc_diag_clear(&w->serving.diag);
	r = cnd_position_await(w);
	cnd_host_begin_service(w);
	if (r == CENOTE_OK)
		r = cnd_serving_attach(&w->serving, m);
	return r < 0 ? r : cnd_listening_rejoin(w);
}

/* If the session turns out to be lost here, nobody has used it yet: give the client another one. */
static int
make_ready_or_anew(struct cnd_worker *w, const struct cnp_attach *m)
{
	int r = make_ready(w, m);

	if (r != CENOTE_ERR_CONN || w->serving.is_gone)
		return r;
	cnd_client_log(w, LOG_NOTICE, w->serving.diag.sqlstate,
		"the session was lost before it was lent (SQLSTATE %s)",
		w->serving.diag.sqlstate);
	cnd_logout(w);
	return cnd_login_for_client(w) < 0 ? r : make_ready(w, m);
}

/* Tell the client why it gets no session; w->serving.diag has the reason. */
static int
say_failed(struct cnd_worker *w, int r)
{
	if (w->serving.is_gone)
		return r;
	cnd_client_log(w, LOG_NOTICE, w->serving.diag.sqlstate,
		"attach failed (SQLSTATE %s)", w->serving.diag.sqlstate);
	(void)cnp_server_error(&w->client.server, &w->serving.diag);
	return r;
}

/* Lend the session to a client that has proved its identity. */
static int
lend(struct cnd_worker *w, const struct cnp_attach *m)
{
	int r;

	begin_lending(w);
	w->client.is_again = (m->flags & CNP_ATTACH_AGAIN) != 0;
	w->client.restores = (m->flags & CNP_ATTACH_RESTORES) != 0;
	publish_identity(w, m->program, m->application, m->pid);
	cnd_client_log(w, LOG_DEBUG, NULL, "lent to user %s, pid %u, program %.31s",
		w->client.user, m->pid, m->program.p);
	cnc_diag_clear(&w->serving.diag);
	r = log_in_as_wanted(w);
	if (r == CENOTE_OK)
		r = make_ready_or_anew(w, m);
	if (r == CENOTE_OK)
		return greet(w);
	w->serving.is_lost = r == CENOTE_ERR_CONN && !w->serving.is_gone;
	return say_failed(w, r);
}

static int
on_attach(struct cnd_worker *w, const struct cnp_attach *m)
{
	int r;

	take_trace(w, m->trace);
	if (is_wrong_pool(w))
		return CENOTE_ERR_AUTH;
	cnc_diag_clear(&w->serving.diag);
	r = take_options(w, m->options);
	if (r < 0)
		return say_failed(w, r);
	r = cnd_pass_through_route(w, m->user.p);
	if (r == CENOTE_OK)
		r = cnd_auth_log_in(w, m->user);
	if (r == CENOTE_OK && is_wrong_database(w, m->database))
		r = CENOTE_ERR_AUTH;
	if (r == CENOTE_OK)
		r = cnd_hours_attach(w);
	if (r == CENOTE_OK)
		r = cnd_limits_attach(w);
	if (r == CENOTE_OK)
		r = cnd_pause_attach(w);
	if (r == CENOTE_OK)
		r = lend(w, m);
	cnd_pass_through_forget(w);
	return r;
}

/* ---- a client that stayed connected ---- */

/* Let the client attach in the ordinary way. Nothing that it sent is carried out. A subscriber would lose notifications that way,
 * so it gets an error. Always returns CENOTE_ERR_CONN. */
static int
send_elsewhere(struct cnd_worker *w)
{
	if (w->client.subscriber != NULL)
		cnd_listening_put_loss(w->shared, &w->client.server);
	else
		(void)cnp_server_yield(&w->client.server, CNP_YIELD_CONTENDED, NULL);
	return CENOTE_ERR_CONN;
}

/* What came was sent before the client knew that it has no session. Let it stay until it attaches. Always returns CENOTE_ERR_CONN. */
static int
stay_on(struct cnd_worker *w)
{
	w->client.is_staying = true;
	return CENOTE_ERR_CONN;
}

/* Wait for its ATTACH, of which some bytes have come. */
static int
await_attach(struct cnd_worker *w, struct cnp_request *ret_request)
{
	int64_t until = cnd_now_ms() + BACK_MS;
	int r;

	w->client.login_until_ms = until;
	for (;;) {
		r = cnp_server_next(&w->client.server, ret_request);
		if (r != CENOTE_AGAIN)
			return r;
		r = cnd_client_receive(w);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		if (cnp_server_still_stays(&w->client.server) && !w->shared->is_retired)
			return stay_on(w);
		if (cnd_now_ms() >= until || cnd_worker_order(w) == CND_ORDER_NOW)
			return send_elsewhere(w);
		cnd_worker_wait(w, w->client.fd, POLLIN, until);
	}
}

int
cnd_attach_back(struct cnd_worker *w)
{
	const struct cnd_identity *id = &w->client.back.identity;
	struct cnp_request req;
	int r;

	if (w->client.subscriber != NULL && (r = cnd_listening_flush(w)) < 0)
		return r;
	r = await_attach(w, &req);
	if (r < 0)
		return r;
	take_trace(w, req.msg.as.attach.trace);
	cnc_diag_clear(&w->serving.diag);
	r = take_options(w, req.msg.as.attach.options);
	if (r < 0)
		return say_failed(w, r);
	r = cnd_hours_attach(w);
	if (r == CENOTE_OK)
		r = cnd_pause_attach(w);
	if (r < 0)
		return r;
	begin_lending(w);
	w->client.is_again = true;
	w->client.restores = (req.msg.as.attach.flags & CNP_ATTACH_RESTORES) != 0;
	cnd_slot_set_identity(w->slot, id);
	r = log_in_as_wanted(w);
	if (r == CENOTE_OK)
		r = make_ready_or_anew(w, &req.msg.as.attach);
	if (r < 0) {
		w->serving.is_lost = r == CENOTE_ERR_CONN && !w->serving.is_gone;
		return say_failed(w, r);
	}
	return w->login.reads_as == w->client.back.reads_as ? greet_back(w)
							    : send_elsewhere(w);
}

static int
on_status(struct cnd_worker *w, const struct cnp_status *m)
{
	struct cnd_asker asker = { .pool = CND_POOL_RECORD, .slot = -1 };
	int r = cnd_auth_status(w, m->user);

	if (r < 0)
		return r;
	asker.uid = w->client.uid;
	asker.cenoted = w->child->config->uid;
	asker.may_read_sql =
		asker.uid != (uid_t)-1 && (asker.uid == 0 || asker.uid == asker.cenoted);
	if (w->client.peer.door == CND_DOOR_TCP)
		asker.pool = w->pool_index;
	if (w->sm.state == CND_SLOT_OPENING)
		asker.slot = (int)w->slot_index;
	cnd_answer_status(&w->client.server, w->board, m, &asker);
	return CENOTE_DONE;
}

/* Ask the door, which alone may write into another worker's slot. 0 or -errno. */
static int
send_cancel(struct cnd_worker *w, const struct cnp_cancel *c)
{
	const struct cnd_ipc_cancel cancel = { c->key, c->request };
	struct cnd_ipc m = { .kind = CND_IPC_CANCEL,
		.index = w->pool_index,
		.serial = c->session,
		.n_bytes = sizeof(cancel),
		.peer = w->client.peer };

	memcpy(m.bytes, &cancel, sizeof(cancel));
	return cnd_ipc_send(w->inbox_fd, &m);
}

/* CENOTE_ERR_AUTH: the key belongs to no session. */
static int
answer_cancel(struct cnd_worker *w, const struct cnp_cancel *c)
{
	uint32_t slot = cnd_slot_find(w->board, w->pool_index, c->session, c->key);
	int runs = slot != CND_BOARD_NONE &&
		   cnd_slot_runs(cnd_slot_at(w->board, slot), c->session, c->request);

	cnd_answer_cancelled(&w->client.server, runs && send_cancel(w, c) == 0);
	return slot != CND_BOARD_NONE ? CENOTE_DONE : CENOTE_ERR_AUTH;
}

/* Answer a request that needs no session. */
static int
answer(struct cnd_worker *w, const struct cnp_request *req)
{
	if (req->msg.code == CNP_MSG_STATUS)
		return on_status(w, &req->msg.as.status);
	if (req->msg.code != CNP_MSG_CANCEL)
		return CENOTE_ERR_PROTOCOL;
	return answer_cancel(w, &req->msg.as.cancel);
}

int
cnd_attach_open(struct cnd_worker *w)
{
	struct cnp_request req;
	int r = take_handed(&w->client);

	if (r == CENOTE_OK)
		r = await_first(w, &req);
	if (r < 0)
		return r;
	if (req.msg.code == CNP_MSG_ATTACH)
		return on_attach(w, &req.msg.as.attach);
	if (req.msg.code == CNP_MSG_RESUME)
		return send_to_slot(w, cnd_answer_resume(&w->client.server, w->board,
					       w->pool_index, &req.msg.as.resume));
	return answer(w, &req);
}

int
cnd_attach_answer(struct cnd_worker *w)
{
	struct cnp_request req;
	int r = await_first(w, &req);

	return r < 0 ? r : answer(w, &req);
}

/* The door compared the key's hash, in memory that other processes can write. This compares the key
 * itself. */
static int
is_mine(struct cnd_worker *w, const struct cnp_resume *m)
{
	if (w->key != 0 && m->key == w->key &&
		m->session == cnd_session_number(w->slot_index, w->slot->generation))
		return 1;
	cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(BAD_LOGIN),
		"there is no such suspended session, or not any more");
	return 0;
}

int
cnd_attach_resume(struct cnd_worker *w, const struct cnd_ipc *m)
{
	struct cnp_request req;
	int r;

	cnd_client_take_handed(w, m);
	r = take_handed(&w->client);
	if (r == CENOTE_OK)
		r = await_first(w, &req);
	if (r < 0)
		return r;
	if (req.msg.code != CNP_MSG_RESUME || !is_mine(w, &req.msg.as.resume))
		return CENOTE_ERR_AUTH;
	if (is_wrong_pool(w))
		return CENOTE_ERR_AUTH;
	r = cnd_auth_resume(w, req.msg.as.resume.user);
	if (r < 0)
		return r;
	begin_lending(w);
	publish_identity(w, req.msg.as.resume.program, req.msg.as.resume.application,
		req.msg.as.resume.pid);
	return greet(w);
}
