/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session: login, facts, reset, and state. A session without a client has no connection. A login shows that the default
 * target can be reached, gets the facts about its server, and closes the connection again. This file owns struct cnd_session.
 */
#include <poll.h>
#include <string.h>

#include "router.h"

/* ---- facts ---- */

static char *
copy(struct cnd_session *s, const char *text)
{
	return cnc_strndup(
		s->mem, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

static void
forget_facts(struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_facts; i++) {
		cnc_free(s->mem, (void *)(uintptr_t)s->facts[i].key);
		cnc_free(s->mem, (void *)(uintptr_t)s->facts[i].value);
	}
	cnc_free(s->mem, s->facts);
	s->facts = NULL;
	s->n_facts = 0;
	cnc_free(s->mem, s->server);
	cnc_free(s->mem, s->version);
	cnc_free(s->mem, s->database);
	cnc_free(s->mem, s->backend);
	s->server = s->version = s->database = s->backend = NULL;
}

/* The feature bits for a list of names from cenote_info(conn, "features"). */
static uint64_t
features_of(const char *names)
{
	static const struct {
		const char *name;
		uint64_t bit;
	} all[] = {
#define X(name, bit, text) { text, UINT64_C(1) << (bit) },
		CNP_FEATURE_LIST(X)
#undef X
	};
	uint64_t features = 0;

	while (names != NULL && *names != '\0') {
		size_t n = strcspn(names, ",");

		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			if (strlen(all[i].name) == n &&
				memcmp(all[i].name, names, n) == 0)
				features |= all[i].bit;
		}
		names += n + strspn(names + n, ", ");
	}
	return features;
}

static int
take_parameters(struct cnd_session *s, const cenote_conn *conn)
{
	uint32_t n = 0;

	while (cenote_parameter_name(conn, n) != NULL)
		n++;
	s->facts = cnc_calloc(s->mem, n + 1u, sizeof(*s->facts));
	if (s->facts == NULL)
		return CENOTE_ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const char *name = cenote_parameter_name(conn, i);
		struct cnd_option *o = &s->facts[s->n_facts++];

		o->key = copy(s, name);
		o->value = copy(s, cenote_parameter(conn, name));
		if (o->key == NULL || o->value == NULL)
			return CENOTE_ERR_NOMEM;
	}
	return CENOTE_OK;
}

static int
take_facts(struct cnd_session *s)
{
	const cenote_conn *conn = s->targets[0].conn;

	forget_facts(s);
	s->changes++;
	s->features = features_of(cenote_info(conn, "features"));
	s->server = copy(s, cenote_info(conn, "server"));
	s->version = copy(s, cenote_info(conn, "server_version"));
	s->database = copy(s, cenote_info(conn, "database"));
	s->backend = copy(s, cenote_info(conn, "backend"));
	if (s->server == NULL || s->version == NULL || s->database == NULL ||
		s->backend == NULL)
		return CENOTE_ERR_NOMEM;
	return take_parameters(s, conn);
}

void
cnd_rt_info(const struct cnd_session *s, struct cnd_info *ret_info)
{
	*ret_info = (struct cnd_info){ .server = s->server != NULL ? s->server : "",
		.server_version = s->version != NULL ? s->version : "",
		.database = s->database != NULL ? s->database : "",
		.parameters = s->facts,
		.n_parameters = s->n_facts,
		.changes = s->changes,
		.backend = s->backend,
		.features = s->features };
}

/* ---- login ---- */

static int
make_targets(struct cnd_session *s, const struct cnd_server_spec *spec)
{
	s->targets = cnc_calloc(s->mem, spec->n_options + 1, sizeof(*s->targets));
	if (s->targets == NULL)
		return CENOTE_ERR_NOMEM;
	for (size_t i = 0; i < spec->n_options; i++) {
		struct cnd_rt_target *t = &s->targets[s->n_targets++];

		t->name = copy(s, spec->options[i].key);
		t->where = copy(s, spec->options[i].value);
		if (t->name == NULL || t->where == NULL)
			return CENOTE_ERR_NOMEM;
	}
	if (spec->run_dir != NULL && (s->run_dir = copy(s, spec->run_dir)) == NULL)
		return CENOTE_ERR_NOMEM;
	return CENOTE_OK;
}

static void
forget_options(struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_options; i++) {
		cnc_free(s->mem, (void *)(uintptr_t)s->options[i].key);
		cnc_free(s->mem, (void *)(uintptr_t)s->options[i].value);
	}
	cnc_free(s->mem, s->options);
	s->options = NULL;
	s->n_options = 0;
}

/* Detach from the targets, and forget everything about the client. */
static void
forget_client(struct cnd_session *s)
{
	cnd_rt_forget_early(s);
	cnd_rt_ahead_forget(s);
	cnd_rt_detach(s);
	cnd_rt_forget_texts(s);
	cnd_rt_forget_named(s);
	forget_options(s);
	s->position[0] = '\0';
	s->n_positions = 0;
	s->bound = NULL;
	s->is_manual = false;
	s->is_routed = false;
	s->route = (struct cnd_route){ .target = NULL };
	s->sticky = 0;
	s->stopped = CENOTE_OK;
	s->told = CENOTE_OK;
	s->at = s->targets;
}

int
cnd_rt_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag)
{
	struct cnd_session *s = cnc_calloc(host->mem, 1, sizeof(*s));
	int r;

	if (s == NULL)
		return CENOTE_ERR_NOMEM;
	s->host = host;
	s->mem = host->mem;
	cnc_diag_init(&s->why, s->mem);
	r = make_targets(s, spec);
	s->at = s->targets;
	if (r == CENOTE_OK)
		r = cnd_rt_attach(s, s->targets, ret_diag);
	if (r == CENOTE_OK)
		r = take_facts(s);
	if (r < 0) {
		cnd_rt_logout(s);
		return r == CENOTE_ERR_NOMEM ? r : CENOTE_ERR_CONN;
	}
	cnd_rt_detach(s);
	*ret_session = s;
	return CENOTE_OK;
}

void
cnd_rt_logout(struct cnd_session *s)
{
	if (s == NULL)
		return;
	s->host->forget(s->host, s);
	forget_client(s);
	forget_facts(s);
	for (size_t i = 0; i < s->n_targets; i++) {
		cnc_free(s->mem, s->targets[i].name);
		if (s->targets[i].where != NULL)
			cnc_wipe(s->targets[i].where, strlen(s->targets[i].where));
		cnc_free(s->mem, s->targets[i].where);
	}
	cnc_free(s->mem, s->targets);
	cnc_free(s->mem, s->run_dir);
	cnc_diag_finish(&s->why);
	cnc_free(s->mem, s);
}

int
cnd_rt_ping(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	struct cnd_rt_target *t = s->targets;
	int r;

	s->stopped = CENOTE_OK;
	if (!t->is_attached || t->is_in_unit)
		return CENOTE_OK;
	CND_RT_AWAIT(r, s, t, cenote_ping(t->conn));
	return r < 0 ? cnd_rt_fail(s, t, r, ret_diag) : CENOTE_OK;
}

/* ---- a client ---- */

int
cnd_rt_attach_client(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag)
{
	(void)s;
	(void)carry;
	(void)ret_diag;
	return CENOTE_OK;
}

static int
keep_option(struct cnd_session *s, const char *name, const char *value)
{
	struct cnd_option *more;
	char *key = NULL, *kept = copy(s, value);
	size_t i = 0;

	while (i < s->n_options && strcmp(s->options[i].key, name) != 0)
		i++;
	if (i == s->n_options) {
		more = cnc_realloc(s->mem, s->options, (i + 1) * sizeof(*more));
		key = copy(s, name);
		if (more != NULL)
			s->options = more;
		if (more == NULL || key == NULL || kept == NULL) {
			cnc_free(s->mem, key);
			cnc_free(s->mem, kept);
			return CENOTE_ERR_NOMEM;
		}
		more[s->n_options++] = (struct cnd_option){ key, kept };
		return CENOTE_OK;
	}
	if (kept == NULL)
		return CENOTE_ERR_NOMEM;
	cnc_free(s->mem, (void *)(uintptr_t)s->options[i].value);
	s->options[i].value = kept;
	return CENOTE_OK;
}

/* A target that is attached later gets the option with its ATTACH. The pool then ignores an option that it does not know. */
int
cnd_rt_set_option(struct cnd_session *s, const char *name, const char *value,
	struct cnc_diag *ret_diag)
{
	int r = CENOTE_OK;

	s->stopped = CENOTE_OK;
	for (size_t i = 0; i < s->n_targets && r == CENOTE_OK; i++) {
		struct cnd_rt_target *t = &s->targets[i];

		if (t->conn == NULL)
			continue;
		CND_RT_AWAIT(r, s, t, cenote_set_session_option(t->conn, name, value));
		if (r < 0)
			r = cnd_rt_fail(s, t, r, ret_diag);
	}
	return r < 0 ? r : keep_option(s, name, value);
}

int
cnd_rt_options_are_set(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r;

	s->stopped = CENOTE_OK;
	r = cnd_rt_attach(s, s->targets, ret_diag);
	return r < 0 ? r : take_facts(s);
}

/* The pools of the targets reset the sessions that they get back. */
int
cnd_rt_reset(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	(void)ret_diag;
	s->host->forget(s->host, s);
	forget_client(s);
	return CENOTE_OK;
}

/* The sticky pins count even if the target has ended them: what they stand for is in libcenote now, and is lost with this session. */
void
cnd_rt_state(const struct cnd_session *s, struct cnd_state *ret_state)
{
	*ret_state = (struct cnd_state){
		.tx = CENOTE_TX_IDLE, .pins = s->sticky, .carry = CNP_STR_NONE
	};
	for (size_t i = 0; i < s->n_targets; i++) {
		const struct cnd_rt_target *t = &s->targets[i];
		int tx = t->conn != NULL ? cenote_tx_state(t->conn) : CENOTE_TX_IDLE;

		if (!t->is_attached)
			continue;
		ret_state->pins |= cenote_pins(t->conn);
		if (tx != CENOTE_TX_IDLE)
			ret_state->tx = (uint8_t)tx;
	}
}

/* ---- between requests ---- */

/* cenoted watches one descriptor of a session. This is the target to watch: the one where the client listens, or else the default. */
static struct cnd_rt_target *
listener(const struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_targets; i++) {
		struct cnd_rt_target *t = &s->targets[i];

		if (t->is_attached && (cenote_pins(t->conn) & CENOTE_PIN_LISTEN))
			return t;
	}
	return s->targets[0].is_attached ? &s->targets[0] : NULL;
}

int
cnd_rt_fd(const struct cnd_session *s)
{
	struct cnd_rt_target *t = listener(s);

	return t != NULL && !t->is_in_unit ? cenote_fd(t->conn) : -1;
}

int
cnd_rt_idle(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnd_rt_target *t = listener(s);
	struct cnc_diag diag;
	int r;

	if (t == NULL)
		return CENOTE_OK;
	s->sink = sink;
	s->told = CENOTE_OK;
	s->stopped = CENOTE_OK;
	r = cenote_process(t->conn);
	s->sink = NULL;
	if (s->told < 0)
		return s->told;
	if (r >= 0)
		return CENOTE_OK;
	cnc_diag_init(&diag, s->mem);
	r = cnd_rt_fail(s, t, r, sink != NULL ? sink->diag : &diag);
	cnc_diag_finish(&diag);
	return r == CENOTE_ERR_NOMEM ? r : CENOTE_ERR_CONN;
}
