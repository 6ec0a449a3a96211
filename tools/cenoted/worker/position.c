/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `read_own_writes`: a client that has written reads from a replica only once the replica has what was written. After a write
 * the worker asks its server for its position and tells the client. The client brings the newest position that it knows
 * (the option "position"), and the worker of another session waits until its own server has got there.
 *
 * It owns w->position. What a server has reached is a fact only of the session that heard it from the server. It stays true
 * until the session ends: a server does not lose changes while a session lasts, and a promotion ends none of them.
 * attach.c, login.c and owner.c call it.
 */
#include "worker.h"

#include <string.h>

#include "core/sqlstate.h"
#include "shared/log.h"
#include "shared/units.h"

/* How long to wait before the server is asked again: first and at most. */
#define ASK_FIRST_MS 1
#define ASK_MAX_MS   16

bool
cnd_position_is_kept(const struct cnd_worker *w)
{
	return w->config->read_own_writes_ms > 0;
}

/* Whether the session may lack what its client has written. A primary lacks nothing that is not lost. roles.c has asked this
 * session's server whether it is one. */
static bool
may_lack(const struct cnd_worker *w)
{
	return w->position.wanted[0] != '\0' && w->config->target != CND_TARGET_PRIMARY;
}

/* ---- what the client wants ---- */

/* CENOTE_ERR_SERVER, with the diagnostics filled: no server of this pool can be asked for such a position. */
static int
check(struct cnd_worker *w, const char *have, struct cnp_str text)
{
	const char *why = "a position has at most 511 bytes, and no zero byte";

	if (text.n <= CND_POSITION_MAX && strlen(text.p) == text.n &&
		(text.n == 0 || w->serving.backend->covers(have, text.p, &why) >= 0))
		return CENOTE_OK;
	cnc_diag_set(&w->serving.diag, CNC_SQLSTATE(BAD_PARAMETER),
		"the option \"" CNP_POSITION "\": %s", why);
	return CENOTE_ERR_SERVER;
}

static void
want(struct cnd_worker *w, struct cnp_str text)
{
	memcpy(w->position.wanted, text.p, text.n + 1);
}

int
cnd_position_take(struct cnd_worker *w, struct cnp_str options)
{
	struct cnp_str name, value, text = CNP_STR_NONE;
	struct cnc_reader reader;
	int r;

	w->position.wanted[0] = '\0';
	w->position.is_missing = false;
	w->serving.takes_position = cnd_position_is_kept(w);
	w->serving.tells_writes =
		cnd_position_is_kept(w) && w->config->target != CND_TARGET_REPLICA;
	if (!cnd_position_is_kept(w))
		return CENOTE_OK;
	cnc_reader_init(&reader, options.p, options.n);
	while ((r = cnp_pairs_next(&reader, &name, &value)) > 0) {
		if (strcmp(name.p, CNP_POSITION) == 0)
			text = value;
	}
	if (r == CENOTE_OK)
		r = check(w, NULL, text);
	else
		cnc_diag_set(&w->serving.diag, CNC_SQLSTATE(PROTOCOL),
			"malformed options in ATTACH");
	if (r == CENOTE_OK)
		want(w, text);
	return r;
}

/* ---- what the server has ---- */

int
cnd_position_admit(
	struct cnd_worker *w, struct cnd_session *session, struct cnc_diag *diag)
{
	char why[CNC_DIAG_MESSAGE_MAX];
	int r;

	w->position.next[0] = '\0';
	if (!cnd_position_is_kept(w))
		return CENOTE_OK;
	r = w->serving.backend->position(session, NULL, w->position.next, diag);
	if (r >= 0)
		return CENOTE_OK;
	memcpy(why, diag->message, sizeof(why));
	cnc_diag_set(diag, CNC_SQLSTATE(CANNOT_CONNECT),
		"read_own_writes: the server does not say its position: %s", why);
	return CENOTE_ERR_CONN;
}

void
cnd_position_adopt(struct cnd_worker *w)
{
	memcpy(w->position.reached, w->position.next, sizeof(w->position.reached));
}

/* Ask the session's server. CENOTE_OK; CENOTE_ERR_CONN: the session is lost; other failures: the server cannot answer now. */
static int
ask(struct cnd_worker *w)
{
	char text[CND_POSITION_MAX + 1];
	int r;

	cnd_host_begin_service(w);
	w->serving.result.is_in_rows = false;
	r = w->serving.backend->position(
		w->serving.session, cnd_host_sink(w), text, &w->serving.diag);
	if (r < 0)
		return r;
	memcpy(w->position.reached, text, sizeof(text));
	return CENOTE_OK;
}

static bool
has_it(const struct cnd_worker *w, const char *have)
{
	const char *why;

	return w->serving.backend->covers(have, w->position.wanted, &why) > 0;
}

/* Wait until the server has what the client wants. 1: it has it; 0: not within read_own_writes; negative: as from ask(), or the
 * client has gone. */
static int
await_server(struct cnd_worker *w)
{
	int64_t until = cnd_now_ms() + w->config->read_own_writes_ms;
	int64_t step = ASK_FIRST_MS;
	int r;

	if (has_it(w, w->position.reached))
		return 1;
	for (;;) {
		r = ask(w);
		if (r < 0 || has_it(w, w->position.reached))
			return r < 0 ? r : 1;
		if (cnd_now_ms() >= until || cnd_worker_order(w) == CND_ORDER_NOW)
			return 0;
		r = cnd_login_pause(w, cnd_now_ms() + step);
		if (r < 0)
			return r;
		step = step < ASK_MAX_MS ? 2 * step : ASK_MAX_MS;
	}
}

static int
say_missing(struct cnd_worker *w)
{
	char limit[CND_UNITS_TEXT_MAX];

	cnc_diag_set(&w->serving.diag, CNC_SQLSTATE(POOL_BUSY),
		"no server of the pool got what this client has written within "
		"read_own_writes = %s",
		cnd_ms_text(w->config->read_own_writes_ms, limit));
	return CENOTE_ERR_SERVER;
}

bool
cnd_position_suits_next(const struct cnd_worker *w)
{
	return has_it(w, w->position.next);
}

int
cnd_position_await(struct cnd_worker *w)
{
	int r;

	if (!may_lack(w))
		return CENOTE_OK;
	r = check(w, w->position.reached, cnp_str(w->position.wanted));
	if (r == CENOTE_OK)
		r = await_server(w);
	if (r != 0)
		return r < 0 ? r : CENOTE_OK;
	return cnd_login_elsewhere(w) ? CENOTE_OK : say_missing(w);
}

/* ---- while the client has the session ---- */

/* Whether the session can be yielded right after the request that runs. */
static bool
can_move(const struct cnd_worker *w)
{
	struct cnd_state state;

	cnd_request_state(&w->serving, &state);
	return w->serving.request.is_sync && w->serving.ahead.n == 0 && state.pins == 0;
}

static int
say_open(struct cnd_worker *w)
{
	cnc_diag_set(&w->serving.diag, CNC_SQLSTATE(TX_ACTIVE),
		"the position cannot be set while a transaction or a result is open");
	return CENOTE_ERR_SERVER;
}

int
cnd_position_set(struct cnd_worker *w, struct cnp_str text)
{
	int r = check(w, w->position.reached, text);

	if (r < 0)
		return r;
	if (w->serving.held.tx != CENOTE_TX_IDLE)
		return say_open(w);
	want(w, text);
	if (!may_lack(w))
		return CENOTE_OK;
	r = await_server(w);
	if (r == CENOTE_ERR_UNSUPPORTED)
		return say_open(w);
	if (r != 0)
		return r < 0 ? r : CENOTE_OK;
	/* another server may have it */
	w->position.is_missing = can_move(w);
	return w->position.is_missing ? CENOTE_OK : say_missing(w);
}

int
cnd_position_tell(struct cnd_worker *w)
{
	struct cnp_msg m = { .code = CNP_MSG_PARAMETER };
	int r = ask(w);

	if (r == CENOTE_OK) {
		memcpy(w->position.wanted, w->position.reached,
			sizeof(w->position.wanted));
		m.as.parameter.name = cnp_str(CNP_POSITION);
		m.as.parameter.value = cnp_str(w->position.wanted);
		return cnp_server_reply(&w->client.server, &m, 1);
	}
	if (r == CENOTE_ERR_SERVER) {
		cnd_log(LOG_WARNING,
			"read_own_writes: the server does not say its position (SQLSTATE "
			"%s)",
			w->serving.diag.sqlstate);
		cnc_diag_clear(&w->serving.diag);
	}
	return r;
}
