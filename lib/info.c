/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/escaping.h"

/*
 * The information about a session (cenote_info(), cenote_parameter()): the facts in ATTACHED, and
 * the current values of the server's parameters. attach.c and event.c fill conn->info.
 */

/* Parameters are few and short. Further parameters of a server are left out. */
#define PARAMETERS_MAX 65536u

/* Read the list in ATTACHED. The pairs borrow its texts. */
static int
read_parameters(cenote_conn *conn, const struct cnp_str *blob, struct cn_pairs *ret_list)
{
	struct cn_pairs list = { 0 };
	struct cnp_str name, value;
	struct cnc_reader reader;
	int r;

	cnc_reader_init(&reader, blob->p, blob->n);
	while ((r = cnp_pairs_next(&reader, &name, &value)) > 0) {
		r = cn_pairs_borrow(&conn->mem, &list, &name, &value, PARAMETERS_MAX);
		if (r == CENOTE_ERR_NOMEM)
			break;
	}
	if (r < 0)
		cn_pairs_finish(&conn->mem, &list);
	else
		*ret_list = list;
	return r;
}

/* Do everything that can fail before anything is changed. */
static int
decode_attached(cenote_conn *conn, const uint8_t *payload, size_t len,
	struct cnp_attached *ret_facts, struct cn_pairs *ret_parameters)
{
	struct cnp_msg m;
	int r;

	if (cnp_msg_decode(CNP_MSG_ATTACHED, payload, len, &m) < 0)
		return CENOTE_ERR_PROTOCOL;
	r = read_parameters(conn, &m.as.attached.parameters, ret_parameters);
	if (r < 0)
		return r;
	*ret_facts = m.as.attached;
	return CENOTE_OK;
}

static void
tell_changes(cenote_conn *conn, const struct cn_pairs *before)
{
	const struct cn_pairs *now = &conn->info.parameters;

	for (uint32_t i = 0; i < now->n && conn->handlers.parameter; i++) {
		const struct cn_pair *p = &now->list[i];
		const char *old = cn_pairs_find(before, p->name);

		if (!old || strcmp(old, p->value) != 0)
			conn->handlers.parameter(
				p->name, p->value, conn->handlers.parameter_user);
	}
}

static int
say_other(cenote_conn *conn, const char *what, const char *before, const char *now)
{
	cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(CONNECTION_LOST),
		"the session that pool \"%s\" gave reads texts otherwise than the one "
		"before, by which the program has escaped; nothing was sent to it, "
		"connect again (%s is \"%s\", and was \"%s\")",
		cn_options_get(&conn->options, CN_OPTION_POOL), what, now ? now : "",
		before ? before : "");
	return CENOTE_ERR_CONN;
}

/* The program escaped texts by the facts of the previous session, and such texts may wait to be
 * sent. So the new session must read them in the same way. */
static int
check_escaping(cenote_conn *conn, const struct cnp_attached *facts,
	const struct cn_pairs *parameters)
{
	const char *backend = conn->info.facts.backend.p;
	const char *name;

	if (strcmp(facts->backend.p, backend) != 0)
		return say_other(conn, "backend", backend, facts->backend.p);
	for (size_t i = 0; (name = cnc_escaping_fact(i)) != NULL; i++) {
		const char *before = cn_pairs_find(&conn->info.parameters, name);
		const char *now = cn_pairs_find(parameters, name);

		if (!cnc_escaping_agrees(i, before, now))
			return say_other(conn, name, before, now);
	}
	return CENOTE_OK;
}

/* Take facts in the form of ATTACHED. */
static int
set_facts(cenote_conn *conn, const uint8_t *payload, size_t len)
{
	struct cn_info *info = &conn->info;
	uint8_t *copy = cnc_alloc(&conn->mem, len);
	struct cn_pairs parameters, before = info->parameters;
	struct cnp_attached facts;
	uint8_t *lent = info->attached;
	int r;

	if (!copy)
		return CENOTE_ERR_NOMEM;
	/* Borrow from a copy, not from the connection's input. */
	memcpy(copy, payload, len);
	r = decode_attached(conn, copy, len, &facts, &parameters);
	if (r < 0) {
		cnc_free(&conn->mem, copy);
		return r;
	}
	if (conn->attach.is_again && check_escaping(conn, &facts, &parameters) < 0) {
		cn_pairs_finish(&conn->mem, &parameters);
		cnc_free(&conn->mem, copy);
		return CENOTE_ERR_CONN;
	}
	info->attached = copy;
	info->facts = facts;
	info->parameters = parameters;
	info->has_facts = 1;
	/* Store the address now: it is a fact of this session, and the next attach may use another
	 * address. */
	cn_target_text(
		&conn->attach.targets.list[conn->attach.at], info->scratch->socket);
	/* The first values of a connection are not changes. */
	if (conn->attach.is_again)
		tell_changes(conn, &before);
	cn_pairs_finish(&conn->mem, &before);
	cnc_free(&conn->mem, lent);
	return CENOTE_OK;
}

/* On a connection that stayed, ATTACHED gives all facts again, or names the session and nothing else. */
static int
take_kept(cenote_conn *conn, const struct cnp_event *event)
{
	const struct cnp_attached *given = &event->msg.as.attached;
	struct cnp_attached *facts = &conn->info.facts;
	int r;

	if (given->backend.n > 0) {
		r = set_facts(conn, event->payload, event->payload_len);
		/* The pool must not give a session that reads texts differently: requests were sent with ATTACH. */
		return r == CENOTE_ERR_CONN ? CENOTE_ERR_PROTOCOL : r;
	}
	facts->session = given->session;
	facts->key = given->key;
	facts->worker_pid = given->worker_pid;
	facts->features = given->features;
	return CENOTE_OK;
}

int
cn_info_attached(cenote_conn *conn, const struct cnp_event *event)
{
	if (conn->session.is_kept)
		return take_kept(conn, event);
	return set_facts(conn, event->payload, event->payload_len);
}

/* The server reports a parameter, perhaps one that it has reported before. */
int
cn_info_parameter(cenote_conn *conn, const struct cnp_parameter *p)
{
	int r = cn_pairs_set(&conn->mem, &conn->info.parameters, p->name.p, p->value.p,
		PARAMETERS_MAX);

	if (r >= 0 && conn->handlers.parameter)
		conn->handlers.parameter(
			p->name.p, p->value.p, conn->handlers.parameter_user);
	return r == CENOTE_ERR_NOMEM ? r : CENOTE_OK;
}

void
cn_info_finish(cenote_conn *conn)
{
	struct cn_info *info = &conn->info;

	cn_pairs_finish(&conn->mem, &info->parameters);
	cnc_free(&conn->mem, info->attached);
	info->attached = NULL;
	info->has_facts = 0;
}

const char *
cenote_parameter(const cenote_conn *conn, const char *name)
{
	if (!conn || !name || !conn->info.has_facts)
		return NULL;
	return cn_pairs_find(&conn->info.parameters, name);
}

const char *
cenote_parameter_name(const cenote_conn *conn, uint32_t i)
{
	if (!conn || !conn->info.has_facts || i >= conn->info.parameters.n)
		return NULL;
	return conn->info.parameters.list[i].name;
}

static const char *
features_text(struct cn_scratch *scratch, uint64_t features)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} names[] = {
#define X(name, bit, text) { UINT64_C(1) << (bit), text },
		CNP_FEATURE_LIST(X)
#undef X
	};
	size_t n = 0;

	scratch->text[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(features & names[i].bit))
			continue;
		n += (size_t)snprintf(scratch->text + n, sizeof(scratch->text) - n,
			"%s%s", n > 0 ? "," : "", names[i].name);
		if (n >= sizeof(scratch->text))
			break;
	}
	return scratch->text;
}

static const char *
number_text(struct cn_scratch *scratch, uint64_t n)
{
	(void)snprintf(scratch->text, sizeof(scratch->text), "%" PRIu64, n);
	return scratch->text;
}

static const char *
fact(const cenote_conn *conn, const char *name)
{
	const struct cnp_attached *facts = &conn->info.facts;
	const struct {
		const char *name;
		const char *value;
	} texts[] = {
		{ "backend", facts->backend.p },
		{ "server", facts->server.p },
		{ "server_version", facts->server_version.p },
		{ "database", facts->database.p },
		{ "pool", facts->pool.p },
		{ "user", facts->user.p },
		{ "socket", conn->info.scratch->socket },
		{ "login", conn->info.login ? conn->info.login : "" },
		{ "position", cn_pairs_find(&conn->reattach.options, CNP_POSITION) },
		{ "cache", conn->cache.state ? conn->cache.state : "" },
		{ "data_path", conn->transport.loan ? "lent" : "relayed" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(texts[i].name, name) == 0)
			return texts[i].value;
	}
	if (strcmp(name, "worker_pid") == 0)
		return number_text(conn->info.scratch, facts->worker_pid);
	if (strcmp(name, "session") == 0)
		return number_text(conn->info.scratch, facts->session);
	if (strcmp(name, "attaches") == 0)
		return number_text(conn->info.scratch, conn->reattach.attaches);
	if (strcmp(name, "protocol") == 0)
		return number_text(conn->info.scratch, conn->session.version);
	if (strcmp(name, "features") == 0)
		return features_text(conn->info.scratch, facts->features);
	return NULL;
}

const char *
cenote_info(const cenote_conn *conn, const char *name)
{
	const char *value;

	if (!conn || !name || !conn->info.has_facts)
		return NULL;
	value = fact(conn, name);
	return value ? value : cenote_parameter(conn, name);
}
