/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Parameters that change while attached are few and short; a server that sends more is
 * cut off. */
#define PARAMETERS_MAX 65536u

int
cn_info_attached(cenote_conn *conn, const struct cnp_event *event)
{
	struct cn_info *info = &conn->info;
	struct cnp_msg m;

	if (event->payload_len > info->cap) {
		uint8_t *copy =
			cnc_realloc(&conn->mem, info->attached, event->payload_len);

		if (!copy)
			return CENOTE_ERR_NOMEM;
		info->attached = copy;
		info->cap = event->payload_len;
	}
	memcpy(info->attached, event->payload, event->payload_len);
	/* Borrow from the copy, not from the connection's input. */
	if (cnp_msg_decode(CNP_MSG_ATTACHED, info->attached, event->payload_len, &m) < 0)
		return CENOTE_ERR_PROTOCOL;
	info->facts = m.as.attached;
	info->has_facts = 1;
	cnc_buf_clear(&info->parameters, 0);
	return CENOTE_OK;
}

int
cn_info_parameter(cenote_conn *conn, const struct cnp_parameter *p)
{
	struct cnc_buf *b = &conn->info.parameters;
	int r;

	if (!b->mem)
		cnc_buf_init(b, &conn->mem, PARAMETERS_MAX);
	r = cnp_pairs_put(b, p->name.p, p->value.p);
	return r == CENOTE_ERR_LIMIT ? CENOTE_OK : r;
}

void
cn_info_finish(cenote_conn *conn)
{
	struct cn_info *info = &conn->info;

	cnc_free(&conn->mem, info->attached);
	info->attached = NULL;
	info->cap = 0;
	info->has_facts = 0;
	if (info->parameters.mem)
		cnc_buf_finish(&info->parameters);
}

/* The last pair of that name; NULL if there is none. */
static const char *
find_pair(const void *blob, size_t len, const char *name)
{
	struct cnc_reader r;
	struct cnp_str key, value;
	const char *found = NULL;

	cnc_reader_init(&r, blob, len);
	while (cnp_pairs_next(&r, &key, &value) > 0) {
		if (strcmp(key.p, name) == 0)
			found = value.p;
	}
	return found;
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
		return number_text(conn->info.scratch, conn->attaches);
	if (strcmp(name, "protocol") == 0)
		return number_text(conn->info.scratch, conn->session.version);
	if (strcmp(name, "features") == 0)
		return features_text(conn->info.scratch, facts->features);
	return NULL;
}

const char *
cenote_info(const cenote_conn *conn, const char *name)
{
	const struct cnp_str *parameters;
	const char *value;

	if (!conn || !name || !conn->info.has_facts)
		return NULL;
	if (strcmp(name, "socket") == 0)
		cn_target_text(&conn->attach.targets.list[conn->attach.at],
			conn->info.scratch->socket);
	value = fact(conn, name);
	if (value)
		return value;
	value = find_pair(cnc_buf_head(&conn->info.parameters),
		cnc_buf_len(&conn->info.parameters), name);
	parameters = &conn->info.facts.parameters;
	return value ? value : find_pair(parameters->p, parameters->n, name);
}
