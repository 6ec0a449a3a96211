/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log in to the best of the pool's `server` lines, log out, and move to a line with fewer
 * sessions. The scoreboard says which line is best: each worker counts itself there, and notes a
 * line that failed. In a pool with `target`, roles.c asks each new session. It owns w->serving.session and
 * w->login. worker.c, attach.c, pass_through.c and request.c call it.
 */
#include "worker.h"

#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "core/escaping.h"
#include "core/sqlstate.h"
#include "shared/log.h"

/* How often in each `rebalance` a worker looks at a server that has just come back. */
#define SLOW_STEPS 8

/* ---- facts of the session ---- */

const char *
cnd_login_parameter(const struct cnd_worker_login *l, const char *name)
{
	for (size_t i = 0; i < l->info.n_parameters; i++) {
		if (strcmp(l->info.parameters[i].key, name) == 0)
			return l->info.parameters[i].value;
	}
	return "";
}

static void
publish_login(struct cnd_worker *w)
{
	const char *version = cnd_login_parameter(&w->login, "server_tls_version");
	struct cnd_login login = { .error = "" };

	snprintf(login.server, sizeof(login.server), "%s", w->login.info.server);
	if (*version != '\0')
		snprintf(login.tls, sizeof(login.tls), "%s %s", version,
			cnd_login_parameter(&w->login, "server_tls_cipher"));
	cnd_slot_set_login(w->slot, &login);
}

/*
 * A client escapes texts by the facts that it got when it attached. It gets an error if it moves to
 * a session that reads texts differently. So warn the administrator when a line's sessions begin to
 * do that. Settings of a single client do not count.
 */
static void
compare_lines(struct cnd_worker *w)
{
	size_t mine = w->slot->server_line - 1;
	uint32_t digest, other;

	if (w->login.settings[0] != '\0' || w->config->clients_login != CND_CLIENTS_NONE)
		return;
	digest = w->login.reads_as;
	if (atomic_load(&w->pool->line_reads[mine]) == digest)
		return;
	for (size_t i = 0; i < w->config->n_servers; i++) {
		other = atomic_load(&w->pool->line_reads[i]);
		if (other == 0 || other == digest)
			continue;
		cnd_log(LOG_WARNING,
			"sessions of %s read texts differently from %s (character set, "
			"standard_conforming_strings, sql_mode); clients that move there "
			"get error 08006",
			w->login.info.server,
			i == mine ? "earlier sessions of this line"
				  : "sessions of another server line");
		break;
	}
	atomic_store(&w->pool->line_reads[mine], digest);
}

/* FNV-1a, with the zero byte, which keeps a text apart from the next one. */
static uint64_t
add_text(uint64_t digest, const char *text)
{
	do {
		digest = (digest ^ (uint8_t)*text) * UINT64_C(1099511628211);
	} while (*text++ != '\0');
	return digest;
}

static uint64_t
digest_of(const struct cnd_info *info)
{
	uint64_t digest = UINT64_C(14695981039346656037);

	digest = add_text(digest, info->server);
	digest = add_text(digest, info->server_version);
	digest = add_text(digest, info->database);
	for (size_t i = 0; i < info->n_parameters; i++) {
		const struct cnd_option *p = &info->parameters[i];

		if (strcmp(p->key, CND_BACKEND_PID) != 0)
			digest = add_text(add_text(digest, p->key), p->value);
	}
	return digest;
}

/* A digest of the facts by which clients escape texts. */
static uint32_t
reads_as(const struct cnd_worker *w)
{
	uint32_t digest = 0;
	const char *name;

	for (size_t i = 0; (name = cnc_escaping_fact(i)) != NULL; i++)
		digest = cnc_escaping_digest(
			digest, i, cnd_login_parameter(&w->login, name));
	return digest;
}

void
cnd_login_take_info(struct cnd_worker *w)
{
	struct cnd_info info = { .server = "", .server_version = "", .database = "" };

	w->login.is_info_stale = false;
	w->serving.backend->info(w->serving.session, &info);
	if (info.changes != 0 && info.changes == w->login.info.changes)
		return;
	w->login.info = info;
	w->login.reads_as = reads_as(w);
	cnc_buf_clear(&w->serving.parameters, CND_PARAMETERS_MAX);
	for (size_t i = 0; i < w->login.info.n_parameters; i++) {
		if (cnp_pairs_put(&w->serving.parameters, w->login.info.parameters[i].key,
			    w->login.info.parameters[i].value) < 0) {
			cnd_log(LOG_WARNING,
				"the server reports more parameters than fit in a "
				"message to clients; the rest is left out");
			break;
		}
	}
	if (w->seat != NULL)
		w->login.parameters_digest = digest_of(&w->login.info);
	publish_login(w);
}

static bool
is_tested(const char *const *tested, const char *version)
{
	for (; *tested != NULL; tested++) {
		size_t n = strlen(*tested);

		/* "1" does not mean 12 */
		if (strncmp(version, *tested, n) == 0 &&
			!isdigit((unsigned char)version[n]))
			return true;
	}
	return false;
}

/* The log tells once for each line if the tests do not run on its server's version. That is no reason to refuse it. */
static void
compare_version(struct cnd_worker *w)
{
	const char *const *tested = w->serving.backend->tested_versions;
	const char *version = w->login.info.server_version;
	_Atomic uint32_t *told = &w->pool->line_untested[w->slot->server_line - 1];
	uint32_t digest;

	if (tested == NULL || is_tested(tested, version))
		return;
	digest = (uint32_t)add_text(0, version);
	if (atomic_exchange(told, digest) != digest)
		cnd_log(LOG_NOTICE,
			"%s: Cenote is not tested with version %s of the server",
			w->login.info.server, version);
}

static void
watch_server(struct cnd_worker *w)
{
	int fd;

	w->login.server_fd = -1;
	if (w->serving.backend->fd == NULL || w->serving.backend->idle == NULL)
		return;
	fd = w->serving.backend->fd(w->serving.session);
	if (fd < 0)
		return;
	cnd_worker_watch(w, fd);
	w->login.server_fd = fd;
}

static void
unwatch_server(struct cnd_worker *w)
{
	/* the backend may have closed it */
	if (w->login.server_fd >= 0)
		cnd_worker_unwatch(w, w->login.server_fd);
	w->login.server_fd = -1;
}

/* ---- the choice of a line ---- */

static uint32_t
n_sessions(const struct cnd_worker *w, size_t line)
{
	return w->pool->line_sessions[line];
}

/* Count this worker for no line. */
static void
leave_line(struct cnd_worker *w)
{
	cnd_slot_leave_line(w->board, w->slot_index);
}

static int
failed_lately(const struct cnd_worker *w, size_t line)
{
	int64_t when = w->pool->line_failed_ms[line];
	int64_t span =
		w->config->rebalance_ms > 0 ? w->config->rebalance_ms : CND_LINE_DOWN_MS;

	return when != 0 && cnd_now_ms() - when < span;
}

/* Whether the line's server has come back within the last `rebalance`. */
static bool
is_just_back(const struct cnd_worker *w, size_t line)
{
	int64_t back = w->pool->line_back_ms[line];

	return back != 0 && cnd_now_ms() - back < w->config->rebalance_ms;
}

/*
 * Slow start: a server that has just come back has cold caches, and gets its sessions one after the other. How many it may have
 * grows during one `rebalance`. As long as it is only a guess that the server is back, one session goes there and finds out. `n`:
 * how many sessions the line has.
 */
static bool
is_enough_for_now(const struct cnd_worker *w, size_t line, uint32_t n)
{
	uint64_t past;

	if (w->pool->line_failed_ms[line] != 0 || cnd_roles_refused(w, line))
		return n > 0;
	if (!is_just_back(w, line))
		return false;
	past = (uint64_t)(cnd_now_ms() - w->pool->line_back_ms[line]);
	return n > past * w->config->max_sessions / (uint64_t)w->config->rebalance_ms;
}

/* Lower ranks are tried first. */
static uint32_t
rank_of(const struct cnd_worker *w, size_t line)
{
	uint32_t rank = cnd_roles_rank(w, line);

	if (failed_lately(w, line))
		return CND_RANK_BAD + 1;
	return rank < CND_RANK_BAD && is_enough_for_now(w, line, n_sessions(w, line))
		       ? rank + CND_RANK_SLOW
		       : rank;
}

/* Whether line a with na sessions has fewer sessions for its weight than line b with nb sessions. */
static bool
has_less(const struct cnd_worker *w, size_t a, uint32_t na, size_t b, uint32_t nb)
{
	return (uint64_t)na * w->config->servers[b].weight <
	       (uint64_t)nb * w->config->servers[a].weight;
}

/* Choose the line of the lowest rank, and among these the one with the fewest sessions for its weight. */
static size_t
choose_line(const struct cnd_worker *w, uint64_t tried)
{
	size_t n = w->config->n_servers;
	size_t best = n;
	uint32_t best_rank = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = (w->slot_index + i) % n;
		uint32_t rank = n > 1 ? rank_of(w, at) : 0;

		if (tried & 1ull << at)
			continue;
		if (best == n || rank < best_rank ||
			(rank == best_rank && has_less(w, at, n_sessions(w, at) + 1, best,
						      n_sessions(w, best) + 1))) {
			best = at;
			best_rank = rank;
		}
	}
	return best;
}

static void
join_line(struct cnd_worker *w, size_t line)
{
	atomic_fetch_add(&w->pool->line_sessions[line], 1);
	atomic_store(&w->slot->server_line, (uint32_t)line + 1);
}

/* Count the worker for a line before it tries it; otherwise all workers would go to the same line.
 * 0: another worker was faster, so choose again. */
static int
claim_line(struct cnd_worker *w, size_t line, uint32_t seen)
{
	if (!atomic_compare_exchange_strong(
		    &w->pool->line_sessions[line], &seen, seen + 1))
		return 0;
	atomic_store(&w->slot->server_line, (uint32_t)line + 1);
	return 1;
}

static size_t
take_line(struct cnd_worker *w, uint64_t tried)
{
	size_t line;

	leave_line(w);
	do {
		line = choose_line(w, tried);
	} while (!claim_line(w, line, n_sessions(w, line)));
	return line;
}

int
cnd_login_blames_server(const struct cnc_diag *diag)
{
	static const char *const classes[] = { "08", "53", "57" };

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (strncmp(diag->sqlstate, classes[i], 2) == 0)
			return 1;
	}
	return 0;
}

/* Whether the client's own wishes made the login fail, which says nothing about the server. */
static int
is_clients_fault(const struct cnd_worker *w, const struct cnc_diag *diag)
{
	return w->login.settings[0] != '\0' ||
	       (w->config->clients_login != CND_CLIENTS_NONE &&
		       !cnd_login_blames_server(diag));
}

/* Fill in the options of the line, and then those of the client. 0, or -1 without memory. */
static int
fill_spec(struct cnd_worker *w, const struct cnd_server_line *s,
	struct cnd_server_spec *ret_spec)
{
	const struct cnd_backend *b = w->serving.backend;
	struct cnd_option *options;
	size_t n = s->n_options;

	*ret_spec = (struct cnd_server_spec){ .options = s->options,
		.n_options = s->n_options,
		.settings = w->login.settings,
		.run_dir = w->child->config->run_dir,
		.is_read_only = w->serving.is_read_only,
		.is_clients = (uint8_t)w->config->clients_login };
	if (!ret_spec->is_clients)
		return 0;
	options = cnc_arena_alloc(&w->serving.request.arena, (n + 3) * sizeof(*options));
	if (options == NULL)
		return -1;
	memcpy(options, s->options, n * sizeof(*options));
	options[n++] =
		(struct cnd_option){ b->user_option, w->pass_through.credentials.user };
	if (ret_spec->is_clients == CND_CLIENTS_PASSWORD) {
		options[n++] = (struct cnd_option){ b->password_option,
			w->pass_through.credentials.secret };
	} else {
		options[n++] = (struct cnd_option){ b->client_key_option,
			w->pass_through.credentials.secret };
		options[n++] = (struct cnd_option){ b->server_key_option,
			w->pass_through.credentials.server_key };
	}
	ret_spec->options = options;
	ret_spec->n_options = n;
	return 0;
}

/* Let the server confirm that transactions are read-only. If it cannot, the pool cannot use it. */
static int
confirm_read_only(
	struct cnd_worker *w, struct cnd_session *session, struct cnc_diag *diag)
{
	int r = w->serving.backend->read_only(session, NULL, diag);

	return r < 0 ? CENOTE_ERR_CONN : r;
}

static int
try_line(struct cnd_worker *w, size_t line, struct cnd_session **ret_session,
	struct cnc_diag *diag)
{
	struct cnd_server_spec spec;
	int64_t begun_us;
	int r;

	*ret_session = NULL;
	cnc_diag_clear(diag);
	if (fill_spec(w, &w->config->servers[line], &spec) < 0)
		return CENOTE_ERR_NOMEM;
	r = cnd_login_rate_await(w, line, diag);
	if (r < 0)
		return r;
	cnd_host_begin_service(w);
	begun_us = cnd_times_now_us();
	r = w->serving.backend->login(&w->serving.host, &spec, ret_session, diag);
	if (r >= 0) {
		cnd_times_note_login(w, line, begun_us);
		if (atomic_exchange(&w->pool->line_failed_ms[line], 0) != 0)
			atomic_store(&w->pool->line_back_ms[line], cnd_now_ms());
		r = cnd_roles_admit(w, line, *ret_session, diag);
		if (r >= 0)
			r = cnd_position_admit(w, *ret_session, diag);
		if (r >= 0) {
			cnd_host_begin_service(w);
			r = cnd_hooks_start(w, *ret_session, diag);
		}
		if (r >= 0 && w->serving.is_read_only)
			r = confirm_read_only(w, *ret_session, diag);
		if (r < 0) {
			w->serving.backend->logout(*ret_session);
			*ret_session = NULL;
		}
		return r;
	}
	*ret_session = NULL;
	if (w->serving.stopped != 0 &&
		strcmp(diag->sqlstate, CNC_SQLSTATE(CANCELED)) == 0)
		cnc_diag_set(diag, CNC_SQLSTATE(CANNOT_CONNECT),
			"the server did not answer within login_timeout");
	/* a login that was cut short, or that failed through its client, says nothing about the
	 * server */
	if (cnd_worker_order(w) == CND_ORDER_NONE && !is_clients_fault(w, diag))
		atomic_store(&w->pool->line_failed_ms[line], cnd_now_ms());
	return r;
}

/* ---- logging in ---- */

/* Add a line's error to the message. Each line gets an equal share of the space. */
static void
add_failure(struct cnd_worker *w, size_t line, const struct cnc_diag *diag, char *text,
	size_t size)
{
	size_t share = size / w->config->n_servers;
	size_t len = strlen(text);
	char label[CND_LABEL_MAX];
	size_t n;

	cnd_server_label(&w->config->servers[line], label);
	n = (size_t)snprintf(text + len, size - len, "%s%s: %s", len > 0 ? "; " : "",
		label, diag->message);
	if (n > share && len + share < size)
		text[len + cnc_utf8_cut(text + len, n < size - len ? n : size - len - 1,
				   share)] = '\0';
}

/* Log and publish why no login succeeded, unless the worker had to stop. A failure through a
 * client's settings or password goes to that client only. */
static void
note_failure(struct cnd_worker *w)
{
	const char *hint = cnc_diag_field(&w->serving.diag, 'H');
	struct cnd_login before, now = { .error = "" };

	if (cnd_worker_order(w) != CND_ORDER_NONE)
		return;
	w->login.n_failures++;
	atomic_fetch_add_explicit(&w->pool->failed_logins, 1, memory_order_relaxed);
	if (is_clients_fault(w, &w->serving.diag)) {
		cnd_client_log(w, LOG_NOTICE, w->serving.diag.sqlstate,
			"cannot log in with a client's settings or password (SQLSTATE "
			"%s)",
			w->serving.diag.sqlstate);
		w->login.settings[0] = '\0';
		return;
	}
	cnd_slot_login(w->slot, &before);
	memcpy(now.server, before.server, sizeof(now.server));
	snprintf(now.sqlstate, sizeof(now.sqlstate), "%s", w->serving.diag.sqlstate);
	snprintf(now.error, sizeof(now.error), hint != NULL ? "%s (%s)" : "%s",
		w->serving.diag.message, hint);
	cnd_slot_set_login(w->slot, &now);
	/* only when the reason changes: a server that stays down must not fill the disk */
	if (strcmp(before.error, now.error) != 0)
		cnd_log(LOG_WARNING, "cannot log in: %s", now.error);
}

/* Sessions that began together do not end together: each loses up to a fifth of max_lifetime. */
static int64_t
end_of_life(struct cnd_worker *w)
{
	int64_t span = w->config->max_lifetime_ms;

	if (span == 0)
		return CND_NEVER;
	return cnd_now_ms() + span -
	       (int64_t)(cnd_worker_random(&w->random) % (uint64_t)(span / 5 + 1));
}

static void
adopt(struct cnd_worker *w, struct cnd_session *session, uint32_t login_changes)
{
	w->serving.session = session;
	w->login.n++;
	w->loan.has_borrower = false;
	w->login.changes = login_changes;
	w->login.turns = w->login.next_turns;
	cnd_position_adopt(w);
	w->login.does_not_suit = false;
	w->login.expires_ms = end_of_life(w);
	w->serving.is_lost = false;
	atomic_store(&w->pool->served_ms, cnd_now_ms());
	if (w->login.n_failures > 0)
		atomic_fetch_add(&w->pool->recoveries, 1);
	cnd_pass_through_publish(w);
	w->login.balanced_ms = cnd_now_ms();
	w->login.info.changes = 0;
	cnd_login_take_info(w);
	compare_lines(w);
	compare_version(w);
	watch_server(w);
	cnd_log(w->login.n_failures > 0 ? LOG_NOTICE : LOG_DEBUG, "logged in to %s%s%s",
		w->login.info.server, w->slot->login.tls[0] != '\0' ? ", " : "",
		w->slot->login.tls);
	w->login.n_failures = 0;
}

/* Only a client has the credentials to log in as itself. */
static int
check_credentials(struct cnd_worker *w)
{
	if (w->config->clients_login == CND_CLIENTS_NONE ||
		w->pass_through.credentials.user[0] != '\0')
		return CENOTE_OK;
	cnc_diag_set(&w->serving.diag, CNC_SQLSTATE(CONNECTION_LOST),
		"the session is the client's own, and only the client can log in again");
	return CENOTE_ERR_CONN;
}

int
cnd_login(struct cnd_worker *w)
{
	char why[CNC_DIAG_MESSAGE_MAX] = "";
	uint32_t login_changes = w->pool->login_changes;
	struct cnd_session *session = NULL;
	uint64_t tried = 0;
	int r = CENOTE_ERR_CONN;

	if (check_credentials(w) < 0)
		return r;
	for (size_t i = 0; i < w->config->n_servers && r < 0; i++) {
		size_t line = take_line(w, tried);

		tried |= 1ull << line;
		r = try_line(w, line, &session, &w->serving.diag);
		if (r < 0)
			add_failure(w, line, &w->serving.diag, why, sizeof(why));
		/* do not try a wrong password on every server */
		if (cnd_worker_order(w) != CND_ORDER_NONE ||
			(w->config->clients_login != CND_CLIENTS_NONE &&
				is_clients_fault(w, &w->serving.diag)))
			break;
	}
	if (r == CENOTE_OK) {
		adopt(w, session, login_changes);
		return r;
	}
	leave_line(w);
	if (w->config->n_servers > 1)
		cnc_diag_set(&w->serving.diag, w->serving.diag.sqlstate, "%s", why);
	note_failure(w);
	return r;
}

/* ---- waiting for a server ---- */

/* How often a worker that waits looks whether another one has found a server. */
#define LOOK_MS  20
/* How long at most it waits before it tries again for a client. */
#define RETRY_MS 200

int
cnd_login_pause(struct cnd_worker *w, int64_t until_ms)
{
	struct pollfd client = { .fd = w->client.fd, .events = POLLRDHUP };
	/* between clients, any order ends the pause */
	uint32_t most = w->client.fd >= 0 ? CND_ORDER_KILL : CND_ORDER_NONE;
	uint32_t seen = w->pool->recoveries;
	bool looks = cnd_roles_are_asked(w);

	while (cnd_worker_order(w) <= most && cnd_now_ms() < until_ms &&
		(!looks || w->pool->recoveries == seen)) {
		int64_t look_ms = looks ? cnd_now_ms() + LOOK_MS : until_ms;

		if (cnd_worker_poll(w, &client, client.fd >= 0,
			    look_ms < until_ms ? look_ms : until_ms) <= 0)
			continue;
		w->serving.is_gone = true;
		return CENOTE_ERR_CONN;
	}
	return CENOTE_OK;
}

/* Whether the client should wait for a server that suits, instead of getting the error. */
static bool
may_hold(const struct cnd_worker *w)
{
	return cnd_now_ms() < cnd_pool_holds_until(w->board, w->pool_index) &&
	       cnd_worker_order(w) != CND_ORDER_NOW &&
	       w->config->clients_login == CND_CLIENTS_NONE &&
	       cnd_login_blames_server(&w->serving.diag);
}

int
cnd_login_for_client(struct cnd_worker *w)
{
	char settings[sizeof(w->login.settings)];
	int r;

	memcpy(settings, w->login.settings, sizeof(settings));
	while ((r = cnd_login(w)) < 0 && may_hold(w)) {
		int64_t pause = RETRY_MS / 2 +
				(int64_t)(cnd_worker_random(&w->random) % (RETRY_MS / 2));

		if (cnd_login_pause(w, cnd_now_ms() + pause) < 0)
			return CENOTE_ERR_CONN;
		memcpy(w->login.settings, settings, sizeof(settings));
	}
	return r;
}

void
cnd_logout(struct cnd_worker *w)
{
	if (w->serving.session != NULL)
		atomic_store(&w->pool->served_ms, cnd_now_ms());
	unwatch_server(w);
	w->serving.backend->logout(w->serving.session);
	w->serving.session = NULL;
	/* these facts belonged to the old session */
	w->login.info = (struct cnd_info){ "", "", "", NULL, 0 };
	w->login.is_info_stale = false;
	atomic_store(&w->slot->owner, 0);
	w->serving.is_lost = false;
	leave_line(w);
}

int
cnd_login_replace(struct cnd_worker *w, const char *settings)
{
	struct cnd_session *old = w->serving.session;
	uint32_t line = w->slot->server_line;
	char before[sizeof(w->login.settings)];
	int r;

	memcpy(before, w->login.settings, sizeof(before));
	memcpy(w->login.settings, settings, strlen(settings) + 1);
	unwatch_server(w);
	w->serving.session = NULL;
	r = cnd_login(w);
	if (r == CENOTE_OK) {
		w->serving.backend->logout(old);
		return r;
	}
	memcpy(w->login.settings, before, sizeof(before));
	if (old == NULL)
		return r;
	w->serving.session = old;
	join_line(w, line - 1);
	watch_server(w);
	return r;
}

static int
has_wanted_settings(const struct cnd_worker *w)
{
	if (strcmp(w->login.wanted_settings, w->login.settings) == 0)
		return 1;
	return w->serving.session != NULL && w->serving.backend->has_settings != NULL &&
	       w->serving.backend->has_settings(
		       w->serving.session, w->login.wanted_settings);
}

int
cnd_login_renew(struct cnd_worker *w)
{
	char settings[sizeof(w->login.settings)];

	memcpy(settings, w->login.settings, sizeof(settings));
	return cnd_login_replace(w, settings);
}

int
cnd_login_is_as_wanted(const struct cnd_worker *w)
{
	return has_wanted_settings(w) && w->login.changes == w->pool->login_changes;
}

/* ---- moving to a line with fewer sessions ---- */

/* Find a line of a lower rank than this worker's line, or one of the same rank that does not have more sessions for its weight after
 * the move than this worker's line; SIZE_MAX: none. */
static size_t
emptier_line(const struct cnd_worker *w)
{
	size_t mine = w->slot->server_line - 1;
	size_t line = choose_line(w, 1ull << mine);
	uint32_t rank = rank_of(w, line), my_rank = cnd_roles_rank(w, mine);

	if (rank >= CND_RANK_BAD || rank > my_rank)
		return SIZE_MAX;
	if (rank < my_rank)
		return line;
	/* stay if this line would then have fewer than the other one */
	return n_sessions(w, mine) == 0 || has_less(w, mine, n_sessions(w, mine) - 1,
						   line, n_sessions(w, line) + 1)
		       ? SIZE_MAX
		       : line;
}

int64_t
cnd_login_look_again_ms(const struct cnd_worker *w)
{
	for (size_t i = 0; i < w->config->n_servers; i++) {
		if (is_just_back(w, i))
			return w->config->rebalance_ms / SLOW_STEPS;
	}
	return w->config->rebalance_ms;
}

int
cnd_login_is_due(const struct cnd_worker *w)
{
	return w->config->n_servers > 1 && w->config->rebalance_ms > 0 &&
	       w->config->clients_login == CND_CLIENTS_NONE && w->slot->server_line > 0 &&
	       cnd_now_ms() - w->login.balanced_ms >= w->config->rebalance_ms &&
	       emptier_line(w) != SIZE_MAX;
}

/* Log in to that line, for which the worker counts already, and exchange the session if the new one suits. Otherwise keep the
 * old one. */
static bool
try_move(struct cnd_worker *w, size_t line, size_t mine,
	bool (*suits)(const struct cnd_worker *w, size_t line, size_t mine))
{
	struct cnd_session *old = w->serving.session, *session;
	uint32_t login_changes = w->pool->login_changes;
	bool has_moved = false;
	struct cnc_diag diag;

	cnc_diag_init(&diag, NULL);
	if (try_line(w, line, &session, &diag) < 0) {
		cnd_log(LOG_INFO, "cannot move to another server: %s",
			w->login.settings[0] == '\0' ? diag.message : diag.sqlstate);
	} else if (!suits(w, line, mine)) {
		w->serving.backend->logout(session);
	} else {
		unwatch_server(w);
		adopt(w, session, login_changes);
		w->serving.backend->logout(old);
		has_moved = true;
	}
	cnc_diag_finish(&diag);
	if (!has_moved) {
		leave_line(w);
		join_line(w, mine);
	}
	return has_moved;
}

/* The new session's server has just said its role: it may be a primary, and the pool prefers replicas. */
static bool
is_no_worse(const struct cnd_worker *w, size_t line, size_t mine)
{
	return cnd_roles_rank(w, line) <= cnd_roles_rank(w, mine);
}

void
cnd_login_rebalance(struct cnd_worker *w)
{
	size_t mine = w->slot->server_line - 1;
	size_t line = emptier_line(w);

	w->login.balanced_ms = cnd_now_ms();
	if (line == SIZE_MAX)
		return;
	leave_line(w);
	if (!claim_line(w, line, n_sessions(w, line))) {
		join_line(w, mine);
		return;
	}
	/* others may have come at the same time */
	if (!is_enough_for_now(w, line, n_sessions(w, line) - 1)) {
		(void)try_move(w, line, mine, is_no_worse);
		return;
	}
	leave_line(w);
	join_line(w, mine);
}

/* ---- moving to a server that is further ---- */

static bool
has_the_writes(const struct cnd_worker *w, size_t line, size_t mine)
{
	(void)line;
	(void)mine;
	return cnd_position_suits_next(w);
}

bool
cnd_login_elsewhere(struct cnd_worker *w)
{
	size_t mine = w->slot->server_line - 1;
	uint64_t tried = 1ull << mine;

	if (check_credentials(w) < 0)
		return false;
	for (size_t i = 1; i < w->config->n_servers; i++) {
		size_t line = choose_line(w, tried);

		/* the lines that follow are no better */
		if (rank_of(w, line) >= CND_RANK_BAD)
			break;
		tried |= 1ull << line;
		leave_line(w);
		join_line(w, line);
		if (try_move(w, line, mine, has_the_writes))
			return true;
	}
	return false;
}
