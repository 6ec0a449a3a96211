/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <stdlib.h>
#include <string.h>

/*
 * target_session_attrs: the kind of session that the program wants. There is no other host to try,
 * so a session of another kind is a failure. PostgreSQL reports the kind from version 14 on. For
 * older servers the shim does not check the kind. min_protocol_version: the same for the version of the protocol.
 */

enum kind {
	WRITABLE,
	READ_ONLY,
	PRIMARY,
	STANDBY,
	N_KINDS
};

static const struct {
	const char *name;
	const char *otherwise; /* libpq's words for a session of another kind */
} kinds[N_KINDS] = {
	[WRITABLE] = { "read-write", "session is read-only" },
	[READ_ONLY] = { "read-only", "session is not read-only" },
	[PRIMARY] = { "primary", "server is in hot standby mode" },
	[STANDBY] = { "standby", "server is not in hot standby mode" },
};

/* Is the session of that kind? 1 also if the server does not report its kind. */
static int
is_of_kind(const PGconn *conn, enum kind kind)
{
	const char *standby = cenote_parameter(conn->session, "in_hot_standby");
	const char *read_only =
		cenote_parameter(conn->session, "default_transaction_read_only");
	int is_standby, is_read_only;

	if (standby == NULL || read_only == NULL)
		return 1;
	is_standby = strcmp(standby, "on") == 0;
	is_read_only = strcmp(read_only, "on") == 0;
	switch (kind) {
	case WRITABLE:
		return !is_standby && !is_read_only;
	case READ_ONLY:
		return is_standby || is_read_only;
	case PRIMARY:
		return !is_standby;
	default:
		return is_standby;
	}
}

/*
 * The version of the protocol that libpq 18 would use with this server: PostgreSQL has 3.2 from version 18 on. It has longer keys
 * for cancels and nothing else, and a cancel here has cenoted's own key.
 */
int
cpq_target_protocol(const PGconn *conn)
{
	const char *max = cpq_conninfo_get(&conn->info, CPQ_KEY_MAX_PROTOCOL_VERSION);
	const char *min = cpq_conninfo_get(&conn->info, CPQ_KEY_MIN_PROTOCOL_VERSION);
	const char *wanted = *max != '\0' ? max : min;
	const char *server = cenote_parameter(conn->session, "server_version");

	return *wanted != '\0' && strcmp(wanted, "3.0") != 0 && server != NULL &&
			       strtol(server, NULL, 10) >= 18
		       ? 30002
		       : 30000;
}

static const char *
protocol_missed(const PGconn *conn)
{
	const char *min = cpq_conninfo_get(&conn->info, CPQ_KEY_MIN_PROTOCOL_VERSION);

	return *min != '\0' && strcmp(min, "3.0") != 0 &&
			       cpq_target_protocol(conn) < 30002
		       ? "server only supports protocol version 3.0, but "
			 "\"min_protocol_version\" was set to 3.2"
		       : NULL;
}

const char *
cpq_target_missed(const PGconn *conn)
{
	const char *wanted = cpq_conninfo_get(&conn->info, CPQ_KEY_TARGET_SESSION_ATTRS);

	for (int i = 0; i < N_KINDS; i++) {
		if (strcmp(wanted, kinds[i].name) == 0 && !is_of_kind(conn, (enum kind)i))
			return kinds[i].otherwise;
	}
	return protocol_missed(conn);
}
