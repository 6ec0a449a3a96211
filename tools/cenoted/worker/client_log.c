/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of the log about the client that a worker has. They carry its trace context, and in JSON what is known of it. */
#include "worker.h"

#include <stdio.h>

#include "shared/log.h"

void
cnd_client_log(const struct cnd_worker *w, int level, const char *sqlstate,
	const char *format, ...)
{
	const struct cnd_worker_client *c = &w->client;
	bool has_user =
		w->sm.state == CND_SLOT_ATTACHED || w->sm.state == CND_SLOT_SUSPENDED;
	const struct cnd_log_field fields[] = {
		{ .name = "sqlstate", .value = sqlstate, .is_said = true },
		/* before the login, this name may be the last client's, or a password in the wrong field */
		{ .name = "user", .value = has_user ? c->user : NULL, .is_said = true },
		{ .name = "trace_id", .value = c->trace.trace_id },
		{ .name = "span_id", .value = c->trace.span_id },
	};
	va_list args;

	va_start(args, format);
	cnd_vlog_fields(level, fields, sizeof(fields) / sizeof(fields[0]), format, args);
	va_end(args);
}

void
cnd_client_log_named(
	const struct cnd_worker *w, int level, const char *sqlstate, const char *what)
{
	const struct cnd_worker_client *c = &w->client;
	struct ucred peer = { .pid = -1, .uid = (uid_t)-1 };
	char text[CND_PEER_TEXT_MAX];

	if (c->peer.door == CND_DOOR_TCP) {
		cnd_client_log(w, level, sqlstate, "client %s: %s",
			cnd_peer_text(&c->peer, text), what);
		return;
	}
	(void)cnd_peer_credentials(c->fd, &peer);
	cnd_client_log(w, level, sqlstate, "client pid %d, uid %d: %s", (int)peer.pid,
		(int)peer.uid, what);
}

void
cnd_client_log_parting(const struct cnd_worker *w, const char *sqlstate, const char *why)
{
	/* at the end of cenoted or of the pool, each client would make a line */
	if (cnd_worker_order(w) != CND_ORDER_NOW || cnd_worker_is_killed(w))
		cnd_client_log_named(w, LOG_NOTICE, sqlstate, why);
}
