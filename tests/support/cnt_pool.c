/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_pool.h"
#include "support/cnt_odbc.h"
#include "support/cnt_tds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_MAX 1024u

static int
start_server(struct cnt_pool *p)
{
	int is_mysql = strcmp(p->backend, "mysql") == 0;
	enum cnt_server_kind kind = is_mysql ? CNT_MARIADB : CNT_POSTGRESQL;
	char *line = p->server.server_line;

	if (!is_mysql && strcmp(p->backend, "postgresql") != 0) {
		fprintf(stderr, "there is no backend \"%s\"\n", p->backend);
		return -1;
	}
	cnt_server_need(kind);
	if (cnt_server_start(&p->server, kind, 0) < 0)
		return -1;
	if (kind == CNT_MARIADB)
		strncat(line, " local_infile=yes",
			sizeof(p->server.server_line) - strlen(line) - 1);
	return 0;
}

/* Write the configuration of a pool on an ODBC driver, with a server or a file. */
static int
configure_odbc(
	struct cnt_pool *p, const struct cnt_odbc *o, const char *sessions, char *pool)
{
	char connect[512];

	cnt_odbc_need(o);
	if (o->has_server && cnt_server_start(&p->server, o->kind, 0) < 0)
		return -1;
	cnt_odbc_connect(o, &p->server, o->has_server ? "app" : "@DIR@/main.db", connect,
		sizeof(connect));
	snprintf(pool, POOL_MAX,
		CNT_DAEMON_GLOBAL
		"[pool main]\nbackend = odbc\nserver = connect='%s'\n%s",
		connect, sessions);
	return 0;
}

/* Write the whole configuration, and start the server if the backend has one. */
static int
configure(struct cnt_pool *p, const char *sessions, char *pool)
{
	const struct cnt_odbc *odbc = cnt_odbc_find(p->backend);
	const char *keys = getenv("CENOTE_TEST_SQLITE_KEYS");

	if (odbc)
		return configure_odbc(p, odbc, sessions, pool);
	if (strcmp(p->backend, "sqlite") == 0) {
		snprintf(pool, POOL_MAX,
			CNT_DAEMON_GLOBAL "[pool main]\nbackend = sqlite\nserver = "
					  "path=@DIR@/main.db %s\n%s",
			keys ? keys : "", sessions);
		return 0;
	}
	if (strcmp(p->backend, "freetds") == 0) {
		/* a server that is already running */
		cnt_tds_need();
		snprintf(pool, POOL_MAX,
			CNT_DAEMON_GLOBAL
			"[pool main]\nbackend = freetds\nserver = %s\n%s",
			cnt_tds_line(), sessions);
		return 0;
	}
	if (start_server(p) < 0)
		return -1;
	cnt_server_config(&p->server, sessions, pool, POOL_MAX);
	return 0;
}

int
cnt_pool_start(struct cnt_pool *p, const char *backend, unsigned n_sessions)
{
	char pool[POOL_MAX], sessions[64];

	memset(p, 0, sizeof(*p));
	p->backend = backend;
	snprintf(sessions, sizeof(sessions), "sessions = 1..%u\n", n_sessions);
	if (configure(p, sessions, pool) < 0)
		return -1;
	if (cnt_daemon_start(&p->daemon, pool) == 0)
		return 0;
	cnt_server_stop(&p->server);
	return -1;
}

int
cnt_pool_stop(struct cnt_pool *p)
{
	int r = cnt_daemon_stop(&p->daemon);

	cnt_server_stop(&p->server);
	return r;
}
