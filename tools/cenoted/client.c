/* SPDX-License-Identifier: BSD-2-Clause */
#include "worker.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"
#include "core/sqlstate.h"
#include "ipc.h"
#include "log.h"

/* A client that says nothing for so long goes to the door, which has the time to wait. */
#define SILENCE_MS     50
/* The whole of opening and first frame. */
#define OPENING_MS     10000
/* How long a client's waiting keeps its pool contended, for those who could yield. */
#define CONTENDED_MS   100
/* A client whose session was lent to it so recently keeps it for its first request. */
#define GRACE_MS       20
/* So often the server may be asked what a session really holds. */
#define SETTLE_MS      50
/* And so long a client is idle before it is asked for no other reason: then nothing is lost with the
 * session if the server ends it. */
#define SETTLE_IDLE_MS 1000
/* Replies of a pipeline are sent when so many bytes have come together. */
#define FLUSH_BYTES    32768u

/* ---- the socket ---- */

void
cnd_client_close(struct cnd_worker *w)
{
	if (w->fd < 0)
		return;
	/* the door may hold it a moment longer; the client should see the end now */
	if (w->is_handed_over)
		shutdown(w->fd, SHUT_RDWR);
	close(w->fd);
	w->fd = -1;
}

int
cnd_client_has_gone(const struct cnd_worker *w)
{
	struct pollfd poll_fd = { .fd = w->fd, .events = POLLRDHUP };

	return poll(&poll_fd, 1, 0) > 0 &&
	       (poll_fd.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* When a client that holds something has stayed too long. */
static int64_t
session_limit(const struct cnd_worker *w)
{
	return w->config->session_timeout_ms > 0
		       ? w->attached_ms + w->config->session_timeout_ms
		       : CND_NEVER;
}

int64_t
cnd_client_idle_limit(const struct cnd_worker *w)
{
	return w->config->idle_client_timeout_ms > 0
		       ? w->active_ms + w->config->idle_client_timeout_ms
		       : CND_NEVER;
}

static int64_t
nearest_limit(const struct cnd_worker *w)
{
	int64_t session = session_limit(w);
	int64_t idle = cnd_client_idle_limit(w);

	return session < idle ? session : idle;
}

/* A slow reader costs its own worker's time, and no memory. */
static int
wait_for_reader(struct cnd_worker *w)
{
	int64_t until = cnd_client_idle_limit(w);
	int events = cnd_worker_wait(w, w->fd, POLLOUT | POLLRDHUP, until);

	if (events & (POLLRDHUP | POLLHUP | POLLERR) ||
		cnd_worker_order(w) == CND_ORDER_NOW ||
		(until != CND_NEVER && cnd_now_ms() >= until)) {
		w->is_client_gone = 1;
		return CENOTE_ERR_CONN;
	}
	return CENOTE_OK;
}

int
cnd_client_flush(struct cnd_worker *w)
{
	const uint8_t *bytes;
	size_t n;

	while ((n = cnp_server_output(&w->server, &bytes)) > 0) {
		ssize_t sent = send(w->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent > 0) {
			cnp_server_sent(&w->server, (size_t)sent);
			if (nearest_limit(w) != CND_NEVER)
				w->active_ms = cnd_now_ms();
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN) {
			w->is_client_gone = 1;
			return CENOTE_ERR_CONN;
		}
		if (wait_for_reader(w) < 0)
			return CENOTE_ERR_CONN;
	}
	return CENOTE_OK;
}

int
cnd_client_receive(struct cnd_worker *w)
{
	uint8_t *room;
	size_t size;
	ssize_t n;

	if (cnp_server_room(&w->server, &room, &size) < 0)
		return CENOTE_ERR_CONN;
	n = recv(w->fd, room, size, MSG_DONTWAIT);
	if (n > 0) {
		cnp_server_received(&w->server, (size_t)n);
		return 1;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	w->is_client_gone = 1;
	return CENOTE_ERR_CONN;
}

/* ---- who it is ---- */

static int
peer_of(const struct cnd_worker *w, struct ucred *ret_peer)
{
	socklen_t len = sizeof(*ret_peer);

	return getsockopt(w->fd, SOL_SOCKET, SO_PEERCRED, ret_peer, &len);
}

/* The last users' names are kept: asking for one reads files. */
static const char *
user_name(uid_t uid)
{
	static struct {
		uid_t uid;
		char name[64];
	} known[8];
	static size_t at;
	const struct passwd *pw;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].uid == uid && known[i].name[0] != '\0')
			return known[i].name;
	}
	pw = getpwuid(uid);
	at = (at + 1) % (sizeof(known) / sizeof(known[0]));
	known[at].uid = uid;
	if (pw != NULL)
		snprintf(known[at].name, sizeof(known[at].name), "%s", pw->pw_name);
	else
		snprintf(known[at].name, sizeof(known[at].name), "%u", (unsigned)uid);
	return known[at].name;
}

/* The user that the client is taken for; the reason of a refusal is for the log only. */
static int
authenticate(struct cnd_worker *w, const char *wanted)
{
	struct ucred peer;
	const char *name;

	if (peer_of(w, &peer) < 0)
		return -1;
	name = user_name(peer.uid);
	if (!cnd_pool_config_allows(w->config, peer.uid)) {
		cnd_log(LOG_WARNING, "unix user %s is not in allow_users", name);
		return -1;
	}
	if (w->config->auth == CND_AUTH_TRUST && *wanted != '\0') {
		name = wanted;
	} else if (*wanted != '\0' && strcmp(wanted, name) != 0) {
		cnd_log(LOG_WARNING,
			"unix user %s asked to be another user, which auth = peer "
			"does not allow",
			name);
		return -1;
	}
	snprintf(w->user, sizeof(w->user), "%s", name);
	w->uid = peer.uid;
	return 0;
}

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
	struct cnd_identity id = { .pid = (int32_t)pid, .uid = (int32_t)w->uid };

	memcpy(id.user, w->user, sizeof(id.user));
	copy_text(id.program, sizeof(id.program), program);
	copy_text(id.application, sizeof(id.application), application);
	cnd_slot_set_identity(w->slot, &id);
}

/* ---- lending ---- */

/* From here on the session belongs to this client, and must be made fresh afterwards. */
static void
begin_lending(struct cnd_worker *w)
{
	struct cnd_slot *s = w->slot;

	atomic_store(&s->key, 0);
	atomic_fetch_add(&s->generation, 1);
	atomic_store_explicit(&s->request, 0, memory_order_relaxed);
	atomic_store_explicit(&s->finished, 0, memory_order_relaxed);
	atomic_store_explicit(&s->cancel, 0, memory_order_relaxed);
	atomic_store_explicit(&s->is_held, 0, memory_order_relaxed);
	atomic_store(&s->key, cnd_worker_key(w));
	atomic_store_explicit(&s->attaches, s->attaches + 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->pool->attaches, 1, memory_order_relaxed);
	w->attached_ms = cnd_now_ms();
	w->active_ms = w->attached_ms;
	w->n_served = 0;
	cnd_worker_move(w, CND_SLOT_ATTACHED);
}

/* HELLO, ATTACHED and READY, in one write. */
static int
greet(struct cnd_worker *w)
{
	struct cnp_attached m = { .session = cnd_session_number(
					  w->slot_index, w->slot->generation),
		.key = w->slot->key,
		.worker_pid = (uint32_t)w->slot->pid,
		.features = w->backend->features | CNP_FEATURE_SUSPEND,
		.pool = cnp_str(w->config->name),
		.backend = cnp_str(w->backend->name),
		.server = cnp_str(w->info.server),
		.server_version = cnp_str(w->info.server_version),
		.database = cnp_str(w->info.database),
		.user = cnp_str(w->user),
		.parameters = { (const char *)cnc_buf_head(&w->parameters),
			cnc_buf_len(&w->parameters) } };
	struct cnd_state state;
	int r;

	r = cnd_answer_hello(&w->server);
	if (r == CENOTE_OK)
		r = cnp_server_attached(&w->server, &m);
	if (r < 0)
		return r;
	cnd_request_take_state(w, &state);
	w->is_ready = 1;
	r = cnp_server_ready(&w->server, state.tx, state.pins, &state.carry);
	return r < 0 ? r : cnd_client_flush(w);
}

/* ---- the opening ---- */

static int
hand_to_door(struct cnd_worker *w, uint32_t kind, uint32_t index)
{
	struct cnd_ipc m = { .kind = kind, .index = index, .n_fds = 1, .fds = { w->fd } };
	const uint8_t *bytes;
	size_t n = cnp_server_raw(&w->server, &bytes);

	if (n > CND_IPC_BYTES_MAX)
		return -1;
	m.n_bytes = (uint32_t)n;
	if (n > 0)
		memcpy(m.bytes, bytes, n);
	if (cnd_ipc_send(w->child->door_inbox[0], &m) < 0)
		return -1;
	/* the door has its own copy, which must stay open */
	close(w->fd);
	w->fd = -1;
	return 0;
}

/* Who wants TLS sends no more until HELLO came. */
static int
answer_tls(struct cnd_worker *w)
{
	const uint8_t *bytes;
	int r;

	if (w->server.opening.tls == CNP_TLS_NONE)
		return CENOTE_OK;
	r = cnd_answer_hello(&w->server);
	if (r < 0)
		return r;
	if (w->sm.state != CND_SLOT_SUSPENDED)
		return cnd_client_flush(w);
	/* a resumer was told by who took him in */
	cnp_server_sent(&w->server, cnp_server_output(&w->server, &bytes));
	return CENOTE_OK;
}

/* The opening and the frame behind it. CENOTE_OK; negative: this client is done with. */
static int
await_first(struct cnd_worker *w, struct cnp_request *ret_request)
{
	int64_t begun = cnd_now_ms();
	int has_opening = 0;
	const uint8_t *bytes;
	int r;

	for (;;) {
		r = cnp_server_next(&w->server, ret_request);
		if (r == CENOTE_OK && has_opening)
			return CENOTE_OK;
		if (r == CENOTE_OK) {
			has_opening = 1;
			r = answer_tls(w);
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
		cnd_worker_wait(w, w->fd, POLLIN,
			begun + (w->is_handed_over ? OPENING_MS : SILENCE_MS));
		if (cnd_now_ms() - begun >= SILENCE_MS && !w->is_handed_over &&
			cnp_server_raw(&w->server, &bytes) == 0 &&
			hand_to_door(w, CND_IPC_SILENT,
				(uint32_t)(w->pool - w->board->pools)) == 0)
			return CENOTE_ERR_CONN;
		if (cnd_now_ms() - begun >= OPENING_MS ||
			cnd_worker_order(w) == CND_ORDER_NOW)
			return CENOTE_ERR_TIMEOUT;
	}
}

static int
refuse_login(struct cnd_worker *w)
{
	cnd_answer_refuse(&w->server, CNC_SQLSTATE(BAD_LOGIN),
		"pool %s: the login was refused", w->config->name);
	return CENOTE_ERR_AUTH;
}

/* 1: no, and it was said. */
static int
is_wrong_place(struct cnd_worker *w, struct cnp_str database)
{
	if (strcmp(w->server.opening.pool, w->config->name) != 0) {
		cnd_answer_refuse(&w->server, CNC_SQLSTATE(REJECTED),
			"this is the socket of pool %s, not of another", w->config->name);
		return 1;
	}
	if (database.n > 0 && strcmp(database.p, w->info.database) != 0) {
		cnd_answer_refuse(&w->server, CNC_SQLSTATE(NO_CATALOG),
			"pool %s is of database \"%s\"", w->config->name,
			w->info.database);
		return 1;
	}
	return 0;
}

/* The settings that ATTACH's options have; "" if there are none. */
static int
find_settings(struct cnd_worker *w, struct cnp_str options, struct cnp_str *ret_settings)
{
	struct cnp_str name, value;
	struct cnc_reader reader;
	int r;

	*ret_settings = CNP_STR_NONE;
	cnc_reader_init(&reader, options.p, options.n);
	while ((r = cnp_pairs_next(&reader, &name, &value)) > 0) {
		if (strcmp(name.p, "settings") == 0)
			*ret_settings = value;
	}
	if (r < 0)
		cnc_diag_set(
			&w->diag, CNC_SQLSTATE(PROTOCOL), "malformed options in ATTACH");
	return r;
}

/*
 * What a login would have set is part of what a fresh session is: RESET goes back to it. So a session
 * is only lent to who wants just what it was logged in with, and else logged in anew.
 */
static int
log_in_as_wanted(struct cnd_worker *w, struct cnp_str options)
{
	struct cnp_str wanted;
	int r = find_settings(w, options, &wanted);

	if (r < 0 || !(w->backend->features & CNP_FEATURE_SETTINGS) ||
		strcmp(wanted.p, w->settings) == 0)
		return r;
	if (wanted.n >= sizeof(w->settings)) {
		cnc_diag_set(&w->diag, CNC_SQLSTATE(LIMIT),
			"the settings of a login can be 1,023 bytes long");
		return CENOTE_ERR_SERVER;
	}
	memcpy(w->settings, wanted.p, wanted.n + 1);
	cnd_logout(w);
	return cnd_login(w);
}

/* The other options of ATTACH, whose form was seen to be right. The backend takes those that it knows. */
static int
set_options(struct cnd_worker *w, struct cnp_str options)
{
	struct cnp_str name, value;
	struct cnc_reader reader;
	int r;

	if (!(w->backend->features & CNP_FEATURE_OPTIONS) ||
		w->backend->set_option == NULL)
		return CENOTE_OK;
	cnc_reader_init(&reader, options.p, options.n);
	while (cnp_pairs_next(&reader, &name, &value) > 0) {
		r = w->backend->set_option(w->session, name.p, value.p, &w->diag);
		if (r < 0 && r != CENOTE_ERR_ARG)
			return r;
		cnc_diag_clear(&w->diag);
	}
	return CENOTE_OK;
}

static int
make_ready(struct cnd_worker *w, const struct cnp_attach *m)
{
	int r;

	cnc_diag_clear(&w->diag);
	cnd_host_begin_service(w);
	r = w->backend->attach(w->session, &m->carry, &w->diag);
	return r < 0 ? r : set_options(w, m->options);
}

/* A session that turns out to be lost here was used for nothing: the client gets another one. */
static int
make_ready_or_anew(struct cnd_worker *w, const struct cnp_attach *m)
{
	int r = make_ready(w, m);

	if (r != CENOTE_ERR_CONN || w->is_client_gone)
		return r;
	cnd_log(LOG_NOTICE, "the session was lost before it was lent (SQLSTATE %s)",
		w->diag.sqlstate);
	cnd_logout(w);
	return cnd_login(w) < 0 ? r : make_ready(w, m);
}

static int
on_attach(struct cnd_worker *w, const struct cnp_attach *m)
{
	int r;

	if (is_wrong_place(w, m->database))
		return CENOTE_ERR_AUTH;
	if (authenticate(w, m->user.p) < 0)
		return refuse_login(w);
	begin_lending(w);
	publish_identity(w, m->program, m->application, m->pid);
	cnd_log(LOG_DEBUG, "lent to user %s, pid %u, program %.31s, trace %.63s", w->user,
		m->pid, m->program.p, m->trace.p);
	cnc_diag_clear(&w->diag);
	r = log_in_as_wanted(w, m->options);
	if (r == CENOTE_OK)
		r = make_ready_or_anew(w, m);
	if (r == CENOTE_OK)
		return greet(w);
	if (w->is_client_gone)
		return r;
	w->is_session_lost = r == CENOTE_ERR_CONN;
	cnd_log(LOG_NOTICE, "attach failed (SQLSTATE %s)", w->diag.sqlstate);
	(void)cnp_server_error(&w->server, &w->diag);
	return r;
}

static int
on_resume(struct cnd_worker *w, const struct cnp_resume *m)
{
	const struct cnd_slot *slot = cnd_answer_resume(&w->server, w->board, m);

	if (slot == NULL)
		return CENOTE_ERR_AUTH;
	if (hand_to_door(w, CND_IPC_RESUME, (uint32_t)(slot - w->board->slots)) < 0)
		cnd_answer_refuse(&w->server, CNC_SQLSTATE(RESOURCES),
			"the session cannot be reached now; try again");
	return CENOTE_ERR_CONN;
}

/* CENOTE_OK: attached. Anything else: done with, one way or another. */
static int
open_client(struct cnd_worker *w)
{
	struct cnp_request req;
	int r = await_first(w, &req);

	if (r < 0)
		return r;
	switch (req.msg.code) {
	case CNP_MSG_ATTACH:
		return on_attach(w, &req.msg.as.attach);
	case CNP_MSG_CANCEL:
		cnd_answer_cancel(&w->server, w->board, &req.msg.as.cancel);
		return CENOTE_DONE;
	case CNP_MSG_STATUS:
		cnd_answer_status(&w->server, w->fd, w->board, &req.msg.as.status,
			(int)w->slot_index);
		return CENOTE_DONE;
	case CNP_MSG_RESUME:
		return on_resume(w, &req.msg.as.resume);
	default:
		return CENOTE_ERR_PROTOCOL;
	}
}

/* Its last words, as far as the socket takes them at once or soon. */
static void
say_goodbye(struct cnd_worker *w)
{
	const uint8_t *bytes;

	if (w->fd < 0 || w->is_client_gone || cnp_server_output(&w->server, &bytes) == 0)
		return;
	(void)cnd_client_flush(w);
}

static void
log_protocol_error(struct cnd_worker *w)
{
	struct ucred peer = { .pid = -1, .uid = (uid_t)-1 };

	(void)peer_of(w, &peer);
	cnd_log(LOG_WARNING, "client pid %d, uid %d: %s", (int)peer.pid, (int)peer.uid,
		w->server.diag.message);
}

/* ---- the conversation ---- */

static int
is_contended(const struct cnd_worker *w, int64_t now)
{
	if (atomic_load_explicit(&w->pool->waiting, memory_order_relaxed) > 0)
		return 1;
	return now - atomic_load_explicit(&w->pool->contended_ms, memory_order_relaxed) <
	       CONTENDED_MS;
}

/* Why the session should be given up if the client holds nothing; 0: no reason. */
static uint8_t
reason_to_yield(const struct cnd_worker *w)
{
	uint32_t order = cnd_worker_order(w);
	int64_t now;

	if (order == CND_ORDER_RELOAD)
		return CNP_YIELD_RELOAD;
	if (order != CND_ORDER_NONE)
		return CNP_YIELD_DRAIN;
	if (w->config->mode != CND_MODE_TRANSACTION && nearest_limit(w) == CND_NEVER)
		return 0;
	now = cnd_now_ms();
	if (now >= nearest_limit(w))
		return CNP_YIELD_IDLE;
	if (w->config->mode == CND_MODE_TRANSACTION &&
		(w->n_served > 0 || now - w->attached_ms > GRACE_MS) &&
		is_contended(w, now))
		return CNP_YIELD_CONTENDED;
	return 0;
}

/* Only what functions may have left is in the way, and the server was not asked since. */
static int
can_settle(const struct cnd_worker *w)
{
	return w->pins == CENOTE_PIN_FUNCTION && w->backend->settle != NULL &&
	       w->tx == CENOTE_TX_IDLE && w->settled_at != w->n_served;
}

/* Ask the server whether they did. The answer stays the same until another request runs. */
static int
settle(struct cnd_worker *w)
{
	struct cnd_state state;
	int r;

	cnd_host_begin_service(w);
	cnc_diag_clear(&w->diag);
	r = w->backend->settle(w->session, &w->diag);
	w->settled_at = w->n_served;
	w->settled_ms = cnd_now_ms();
	if (w->is_client_gone)
		return CENOTE_ERR_CONN;
	if (r == CENOTE_ERR_CONN)
		return cnd_request_lose_idle(w);
	cnd_request_take_state(w, &state);
	return CENOTE_OK;
}

/* The same, but one that cannot be settled is not asked about again and again. */
static int
settle_soon(struct cnd_worker *w)
{
	if (cnd_now_ms() >= w->settled_ms + SETTLE_MS)
		return settle(w);
	w->settle_due_ms = w->settled_ms + SETTLE_MS;
	return CENOTE_OK;
}

/* 1: the client was sent on its way. */
static int
try_to_yield(struct cnd_worker *w)
{
	uint8_t reason = reason_to_yield(w);
	struct cnd_state state;

	w->settle_due_ms = CND_NEVER;
	if (reason == 0 || !cnp_server_can_yield(&w->server))
		return 0;
	if (can_settle(w) && settle_soon(w) < 0)
		return 1;
	w->backend->state(w->session, &state);
	if (state.tx != CENOTE_TX_IDLE || state.pins != 0)
		return 0;
	if (cnp_server_yield(&w->server, reason, &state.carry) < 0)
		return 0;
	atomic_store_explicit(
		&w->slot->yields, w->slot->yields + 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->pool->yields, 1, memory_order_relaxed);
	return 1;
}

/* The client cannot stay, whether or not it holds something: 1, and it was told. */
static int
must_part(struct cnd_worker *w)
{
	int64_t now = nearest_limit(w) == CND_NEVER ? 0 : cnd_now_ms();
	int is_ending = cnd_worker_order(w) == CND_ORDER_NOW;
	const char *limit = now >= cnd_client_idle_limit(w)
				    ? "idle for longer than idle_client_timeout"
				    : "attached for longer than session_timeout";

	if (!is_ending && now < nearest_limit(w))
		return 0;
	/* the limit may have been reached since the last look */
	if (try_to_yield(w))
		return 1;
	if (is_ending)
		cnd_answer_refuse(
			&w->server, CNC_SQLSTATE(SHUTDOWN), "cenoted is ending");
	else
		cnd_answer_refuse(&w->server, CNC_SQLSTATE(IDLE_TIMEOUT),
			"pool %s: %s allows", w->config->name, limit);
	return 1;
}

/* When to look around although nothing happened. */
static int64_t
next_look(const struct cnd_worker *w)
{
	int64_t until = nearest_limit(w);

	if (w->settle_due_ms < until)
		until = w->settle_due_ms;
	/* it was asked to yield, and has its grace still */
	if (w->config->mode == CND_MODE_TRANSACTION && w->n_served == 0 &&
		w->attached_ms + 2 * GRACE_MS < until && is_contended(w, cnd_now_ms()))
		until = w->attached_ms + 2 * GRACE_MS;
	return until;
}

/* The server's descriptor; -1 while what lies in it is for a request that is to come. */
static int
watched_fd(const struct cnd_worker *w)
{
	return w->server_fd >= 0 ? w->backend->fd(w->session) : -1;
}

/* Nothing to do until the client speaks, or something else is up. Negative: part. */
static int
await_more(struct cnd_worker *w)
{
	struct pollfd fds[2] = { { .fd = w->fd, .events = POLLIN },
		{ .fd = watched_fd(w), .events = POLLIN } };
	int64_t settle_ms = CND_NEVER;
	int64_t until;
	int r = cnd_client_flush(w);

	if (r < 0)
		return r;
	if (must_part(w))
		return CENOTE_ERR_CONN;
	until = next_look(w);
	if (can_settle(w) && cnp_server_can_yield(&w->server))
		settle_ms = cnd_now_ms() + SETTLE_IDLE_MS;
	r = cnd_worker_poll(
		w, fds, fds[1].fd >= 0 ? 2 : 1, until < settle_ms ? until : settle_ms);
	if (r == 0)
		return settle_ms != CND_NEVER && cnd_now_ms() >= settle_ms ? settle(w)
									   : CENOTE_OK;
	/* first, so that no request is taken for a session that is dead */
	if (fds[1].revents != 0 && (r = cnd_request_idle(w)) < 0)
		return r;
	if (fds[0].revents == 0)
		return CENOTE_OK;
	r = cnd_client_receive(w);
	if (r > 0 && nearest_limit(w) != CND_NEVER)
		w->active_ms = cnd_now_ms();
	return r < 0 ? r : CENOTE_OK;
}

/* One request, and what must not wait for the next. Negative: part. */
static int
run_one(struct cnd_worker *w, const struct cnp_request *req)
{
	const uint8_t *bytes;
	int r = cnd_request_run(w, req);

	if (r < 0)
		return r;
	/* it must not be resumed before it is there to be */
	if (w->is_suspending)
		cnd_worker_move(w, CND_SLOT_SUSPENDED);
	if (cnp_server_output(&w->server, &bytes) >= FLUSH_BYTES ||
		cnp_server_state(&w->server) == CNP_SERVER_CLOSING)
		return cnd_client_flush(w);
	return CENOTE_OK;
}

static enum cnd_parting
converse(struct cnd_worker *w)
{
	struct cnp_request req;
	int r = CENOTE_OK;

	while (r >= 0 && cnp_server_state(&w->server) < CNP_SERVER_CLOSING) {
		r = cnp_server_next(&w->server, &req);
		if (r == CENOTE_OK)
			r = run_one(w, &req);
		else if (r == CENOTE_AGAIN && !try_to_yield(w))
			r = await_more(w);
	}
	if (r == CENOTE_ERR_PROTOCOL)
		log_protocol_error(w);
	say_goodbye(w);
	if (w->is_suspending && !w->is_client_gone)
		return CND_PARTING_SUSPENDED;
	return w->is_session_lost ? CND_PARTING_LOST : CND_PARTING_GONE;
}

static void
forget_client(struct cnd_worker *w)
{
	w->is_client_gone = 0;
	w->is_suspending = 0;
	cnp_server_restart(&w->server);
}

enum cnd_parting
cnd_client_serve(struct cnd_worker *w)
{
	int r;

	forget_client(w);
	cnd_request_forget_client(w);
	r = open_client(w);
	if (r == CENOTE_OK)
		return converse(w);
	if (r == CENOTE_ERR_PROTOCOL)
		log_protocol_error(w);
	say_goodbye(w);
	return w->is_session_lost ? CND_PARTING_LOST : CND_PARTING_GONE;
}

/* ---- suspend and resume ---- */

void
cnd_client_refuse_inbox(struct cnd_worker *w)
{
	struct cnd_ipc m;

	while (cnd_ipc_receive(w->inbox_fd, &m) > 0) {
		/* too late: closing says so, the client tries no second time */
		for (uint32_t i = 0; i < m.n_fds; i++)
			close(m.fds[i]);
	}
}

/* A client that claims the session: CENOTE_OK if it is his. */
static int
open_resumer(struct cnd_worker *w, const struct cnd_ipc *m)
{
	struct cnp_request req;
	uid_t owner = w->uid;
	uint8_t *room;
	size_t size;
	int r;

	forget_client(w);
	w->fd = m->fds[0];
	w->is_handed_over = 1;
	if (m->n_bytes > 0) {
		if (cnp_server_room(&w->server, &room, &size) < 0 || size < m->n_bytes)
			return CENOTE_ERR_NOMEM;
		memcpy(room, m->bytes, m->n_bytes);
		cnp_server_received(&w->server, m->n_bytes);
	}
	r = await_first(w, &req);
	if (r < 0)
		return r;
	if (req.msg.code != CNP_MSG_RESUME ||
		cnd_answer_resume(&w->server, w->board, &req.msg.as.resume) != w->slot)
		return CENOTE_ERR_AUTH;
	r = is_wrong_place(w, CNP_STR_NONE) ? CENOTE_ERR_AUTH
					    : authenticate(w, req.msg.as.resume.user.p);
	if (r < 0 || w->uid != owner) {
		w->uid = owner;
		return refuse_login(w);
	}
	begin_lending(w);
	publish_identity(w, req.msg.as.resume.program, req.msg.as.resume.application,
		req.msg.as.resume.pid);
	return greet(w);
}

static int
is_suspension_over(const struct cnd_worker *w)
{
	return cnd_now_ms() >= w->suspended_until_ms ||
	       cnd_worker_order(w) == CND_ORDER_NOW;
}

enum cnd_parting
cnd_client_resume(struct cnd_worker *w)
{
	struct cnd_ipc m;

	cnd_client_close(w);
	while (!is_suspension_over(w)) {
		if (cnd_ipc_receive(w->inbox_fd, &m) <= 0) {
			cnd_worker_wait(w, w->inbox_fd, POLLIN, w->suspended_until_ms);
			continue;
		}
		if (m.kind != CND_IPC_RESUME || m.n_fds != 1)
			cnd_fatal("the door sent nonsense");
		if (open_resumer(w, &m) == CENOTE_OK) {
			cnd_client_refuse_inbox(w);
			return converse(w);
		}
		say_goodbye(w);
		cnd_client_close(w);
		/* it was lent, and the client went before it could be told: nobody can have it */
		if (w->sm.state == CND_SLOT_ATTACHED)
			return CND_PARTING_GONE;
	}
	return CND_PARTING_GONE;
}
