/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which target gets a request, and what that target needs before it: the texts that set the client's session, its
 * autocommit, and the position of its writes. It owns s->route, s->bound, s->texts and s->position.
 */
#include <string.h>

#include "core/sql.h"
#include "router.h"

/* The pins that hold the session at a target. That of settings does not if they come from texts that the router repeats elsewhere
 * (followed_pins). */
#define HOLDS                                                                            \
	(CENOTE_PIN_TEMP | CENOTE_PIN_LOCK | CENOTE_PIN_CURSOR | CENOTE_PIN_ATTACHED |   \
		CENOTE_PIN_SETTINGS)

/* ---- which target ---- */

struct cnd_rt_target *
cnd_rt_holder(const struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_targets; i++) {
		struct cnd_rt_target *t = &s->targets[i];

		if (t->is_attached &&
			(t->is_in_unit || cenote_tx_state(t->conn) == CENOTE_TX_OPEN ||
				cenote_tx_state(t->conn) == CENOTE_TX_FAILED))
			return t;
	}
	return s->bound;
}

const char *
cnd_rt_bound_to(const struct cnd_session *s)
{
	const struct cnd_rt_target *t = cnd_rt_holder(s);

	return t != NULL ? t->name : NULL;
}

void
cnd_rt_route(struct cnd_session *s, const struct cnd_route *route)
{
	s->route = *route;
	s->is_routed = true;
}

static struct cnd_rt_target *
find(struct cnd_session *s, const char *name)
{
	for (size_t i = 0; i < s->n_targets; i++) {
		if (strcmp(s->targets[i].name, name) == 0)
			return &s->targets[i];
	}
	return NULL;
}

static int
refuse(struct cnd_session *s, const struct cnd_rt_target *at, struct cnc_diag *diag)
{
	cnc_diag_set(diag, CNC_SQLSTATE(UNSUPPORTED),
		"the rule of line %u sends this statement to target %s, but the session "
		"has %s at target %s",
		s->route.line, s->route.target,
		at == s->bound ? "something that cannot follow" : "an open transaction",
		at->name);
	return CENOTE_ERR_SERVER;
}

/* ---- preparing the target ---- */

/* Repeat the texts that the target has not run yet. */
static int
follow(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag)
{
	int r = CENOTE_OK;

	if (t->n_followed == s->n_texts)
		return CENOTE_OK;
	s->is_quiet = true;
	while (t->n_followed < s->n_texts && r == CENOTE_OK) {
		const char *text = s->texts[t->n_followed];

		CND_RT_AWAIT(r, s, t,
			cenote_send_query(t->conn, text, CENOTE_NTS, NULL, NULL));
		r = r == CENOTE_OK ? cnd_rt_drop(s, t, diag) : cnd_rt_fail(s, t, r, diag);
		if (r == CENOTE_OK)
			t->n_followed++;
	}
	if (r == CENOTE_OK)
		t->followed_pins |= cenote_pins(t->conn) & CENOTE_PIN_SETTINGS;
	s->is_quiet = false;
	return r;
}

/* Tell the target the position of the client's last write, so that it waits for that write. A pool without read_own_writes refuses this
 * option, and then nothing waits. */
static int
bring_position(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag)
{
	int r;

	if (t->position == s->n_positions)
		return CENOTE_OK;
	CND_RT_AWAIT(
		r, s, t, cenote_set_session_option(t->conn, CNP_POSITION, s->position));
	if (r < 0)
		r = cnd_rt_fail(s, t, r, diag);
	if (r == CENOTE_ERR_UNSUPPORTED ||
		(r == CENOTE_ERR_SERVER &&
			strcmp(diag->sqlstate, CNC_SQLSTATE(BAD_PARAMETER)) == 0)) {
		cnc_diag_clear(diag);
		r = CENOTE_OK;
	}
	if (r == CENOTE_OK)
		t->position = s->n_positions;
	return r;
}

static int
bring_autocommit(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag)
{
	int r;

	if (t->is_manual == s->is_manual)
		return CENOTE_OK;
	CND_RT_AWAIT(r, s, t, cenote_set_autocommit(t->conn, !s->is_manual));
	if (r < 0)
		return cnd_rt_fail(s, t, r, diag);
	t->is_manual = s->is_manual;
	return CENOTE_OK;
}

static int
make_ready(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag)
{
	int r = cnd_rt_attach(s, t, diag);

	/* in a transaction the target has everything: the session has not left it since the transaction began */
	if (r < 0 || t->is_in_unit || cenote_tx_state(t->conn) != CENOTE_TX_IDLE)
		return r;
	r = follow(s, t, diag);
	if (r == CENOTE_OK)
		r = bring_autocommit(s, t, diag);
	return r < 0 ? r : bring_position(s, t, diag);
}

/* In pipeline mode, libcenote sends no synchronisation point after a request. */
int
cnd_rt_begin_unit(struct cnd_rt_target *t)
{
	int r = t->is_in_unit ? CENOTE_OK : cenote_pipeline_begin(t->conn);

	if (r != CENOTE_OK || t->is_in_unit)
		return r;
	t->is_in_unit = true;
	t->is_refused = false;
	t->had_tx = cenote_tx_state(t->conn) == CENOTE_TX_OPEN;
	return CENOTE_OK;
}

void
cnd_rt_refused(struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_targets; i++)
		s->targets[i].is_refused = s->targets[i].is_in_unit;
}

void
cnd_rt_begin_request(struct cnd_session *s, struct cnd_sink *sink)
{
	s->sink = sink;
	s->told = CENOTE_OK;
	s->stopped = CENOTE_OK;
	s->tag[0] = '\0';
	cnc_diag_clear(&s->why);
}

static int
enter(struct cnd_session *s, struct cnd_rt_target *t, struct cnd_sink *sink, bool is_sync)
{
	int r;

	cnd_rt_begin_request(s, sink);
	s->at = t;
	r = make_ready(s, t, sink->diag);
	if (r == CENOTE_OK && !is_sync) {
		r = cnd_rt_begin_unit(t);
		if (r < 0)
			r = cnd_rt_fail(s, t, r, sink->diag);
	}
	if (r < 0)
		s->sink = NULL;
	return r;
}

int
cnd_rt_choose(struct cnd_session *s, struct cnd_sink *sink, bool is_sync)
{
	struct cnd_rt_target *t = cnd_rt_holder(s), *wanted = NULL;

	if (s->is_routed && s->route.asks_last)
		wanted = t != NULL ? t : s->at;
	else if (s->is_routed && s->route.target != NULL)
		wanted = find(s, s->route.target);
	s->is_routed = false;
	if (t != NULL && wanted != NULL && wanted != t) {
		cnd_rt_refused(s);
		return refuse(s, t, sink->diag);
	}
	if (t == NULL)
		t = wanted != NULL ? wanted : s->targets;
	return enter(s, t, sink, is_sync);
}

int
cnd_rt_enter(struct cnd_session *s, struct cnd_rt_target *t, struct cnd_sink *sink,
	bool is_sync)
{
	s->is_routed = false;
	if (t == NULL)
		t = cnd_rt_holder(s);
	return enter(s, t != NULL ? t : s->targets, sink, is_sync);
}

/* ---- after the request ---- */

/* Whether the router may repeat the text on other targets. SET LOCAL, SET TRANSACTION and SET CONSTRAINTS act on one transaction only. */
static bool
may_follow(const char *text, size_t len)
{
	static const char *const words[] = { "set", "reset", "use", "pragma", "prepare",
		"deallocate", "discard", "select", NULL };
	static const char *const exceptions[] = { "local", "transaction", "constraints",
		NULL };
	struct cnc_sql x = cnc_sql_begin(text, len, CNC_SQL_UNKNOWN);

	return cnc_sql_take_one_of(&x, words) && !cnc_sql_take_one_of(&x, exceptions);
}

static void
cut_texts(struct cnd_session *s, size_t n)
{
	while (s->n_texts > n)
		cnc_free(s->mem, s->texts[--s->n_texts]);
	for (size_t i = 0; i < s->n_targets; i++) {
		if (s->targets[i].n_followed > n)
			s->targets[i].n_followed = n;
	}
}

void
cnd_rt_forget_texts(struct cnd_session *s)
{
	cut_texts(s, 0);
	cnc_free(s->mem, s->texts);
	s->texts = NULL;
	s->n_settled = 0;
}

/* Keep a text for the other targets. False: it cannot be kept. */
static bool
keep_text(struct cnd_session *s, const char *text, size_t len)
{
	char **more, *copy;

	if (s->n_texts == CND_RT_TEXTS_MAX)
		return false;
	more = cnc_realloc(s->mem, s->texts, (s->n_texts + 1) * sizeof(*more));
	if (more == NULL)
		return false;
	s->texts = more;
	copy = cnc_strndup(s->mem, text, len);
	if (copy == NULL)
		return false;
	more[s->n_texts++] = copy;
	s->at->n_followed = s->n_texts;
	return true;
}

/* A position that differs from the last one says that the client has written here. */
static void
note_position(struct cnd_session *s)
{
	const char *position = cenote_info(s->at->conn, CNP_POSITION);

	if (position == NULL || *position == '\0' ||
		strlen(position) > CND_POSITION_MAX || strcmp(position, s->position) == 0)
		return;
	memcpy(s->position, position, strlen(position) + 1);
	s->at->position = ++s->n_positions;
}

static void
note_pins(struct cnd_session *s)
{
	uint32_t pins = cenote_pins(s->at->conn);

	s->sticky |=
		pins & (CENOTE_PIN_SETTINGS | CENOTE_PIN_FUNCTION | CENOTE_PIN_PREPARED);
	if (s->n_targets == 1)
		return;
	if (pins & HOLDS & ~s->at->followed_pins)
		s->bound = s->at;
	else if (s->bound == s->at)
		s->bound = NULL;
}

int
cnd_rt_leave(struct cnd_session *s, int r, const char *text, size_t len)
{
	bool sets = text != NULL && r == CENOTE_OK && s->route.sets_state &&
		    s->n_targets > 1 && may_follow(text, len);
	bool is_idle;

	s->sink = NULL;
	s->route = (struct cnd_route){ .target = NULL };
	if (r == CENOTE_OK && s->told < 0)
		r = s->told;
	if (!s->at->is_attached || s->stopped == CENOTE_ERR_CONN)
		return r;
	is_idle = cenote_tx_state(s->at->conn) == CENOTE_TX_IDLE && !s->at->is_in_unit;
	/* in a unit, the target may report the pin later */
	if (sets && keep_text(s, text, len))
		s->at->followed_pins |= CENOTE_PIN_SETTINGS;
	if (is_idle && strcmp(s->tag, "ROLLBACK") == 0)
		cut_texts(s, s->n_settled);
	if (is_idle)
		s->n_settled = s->n_texts;
	if (!s->at->is_in_unit)
		note_position(s);
	note_pins(s);
	return r;
}
