/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Find the pool that a program wants: complete the arguments of mysql_real_connect() with option
 * files, options, environment and defaults, and let csh_choose() find the pool. connect.c calls
 * this file.
 */
#include "login.h"

#include "../common/route.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if CMY_ORACLE
#define DEFAULT_SOCKET "/var/run/mysqld/mysqld.sock"
#else
#define DEFAULT_SOCKET "/run/mysqld/mysqld.sock"
#endif
#define DEFAULT_PORT 3306u

/* The capabilities that the client uses, if the server offers them. */
#define TAKEN 0xbea204UL

/* ---- the public structure ---- */

int
cmy_keep_login(MYSQL *my, const struct cmy_login *l)
{
	char info[128];

	if (l->is_local)
		snprintf(info, sizeof(info), "Localhost via UNIX socket");
	else
		snprintf(info, sizeof(info),
			CMY_ORACLE ? "%.100s via TCP/IP" : "%.64s via TCP/IP", l->host);
	if (cmy_keep_text(&my->host, l->host) < 0 ||
		cmy_keep_text(&my->user, l->user) < 0 ||
		cmy_keep_text(&my->passwd, l->passwd) < 0 ||
		cmy_keep_text(&my->unix_socket, l->unix_socket) < 0 ||
		cmy_keep_text(&my->host_info, info) < 0)
		return -1;
	my->port = l->port;
	my->client_flag = l->flags | my->options.client_flag | TAKEN;
	if (l->db)
		my->client_flag |= CLIENT_CONNECT_WITH_DB;
	return 0;
}

/* ---- server and user ---- */

static const char *
or_else(const char *text, const char *other)
{
	return text && *text != '\0' ? text : other;
}

static unsigned
default_port(void)
{
	const char *port = csh_variable("MYSQL_TCP_PORT");

	return port ? (unsigned)strtoul(port, NULL, 10) : DEFAULT_PORT;
}

static const char *
default_socket(void)
{
	const char *path = csh_variable("MYSQL_UNIX_PORT");

	if (!path && !CMY_ORACLE)
		path = csh_variable("MARIADB_UNIX_PORT");
	return path ? path : DEFAULT_SOCKET;
}

/* Complete the arguments as the original does, with the options and the environment. */
static int
complete(MYSQL *my, struct cmy_login *l)
{
	const struct st_mysql_options *options = &my->options;

	if (options->protocol > CMY_PROTOCOL_SOCKET) {
		cmy_error(my, CR_CONN_UNKNOWN_PROTOCOL, NULL);
		return -1;
	}
	l->host = or_else(l->host, options->host);
	l->port = l->port ? l->port : options->port;
	l->user = or_else(or_else(l->user, options->user), "");
	l->db = or_else(or_else(l->db, options->db), NULL);
	if (!l->passwd)
		l->passwd =
			options->password ? options->password : csh_variable("MYSQL_PWD");
	if (!l->passwd)
		l->passwd = "";
	if (!l->unix_socket)
		l->unix_socket = options->unix_socket;
	l->is_local = options->protocol != CMY_PROTOCOL_TCP &&
		      (!or_else(l->host, NULL) || strcmp(l->host, "localhost") == 0);
	l->host = or_else(l->host, "localhost");
	if (l->is_local && !l->unix_socket)
		l->unix_socket = default_socket();
	if (!l->is_local) {
		l->unix_socket = NULL;
		l->port = l->port ? l->port : default_port();
	}
	return 0;
}

/* Copy the user name to use if the program gives none. */
static void
own_name(char *name, size_t size)
{
	char room[1024];
	struct passwd pw, *found = NULL;

	if (geteuid() == 0)
		snprintf(name, size, "root");
	else if (getpwuid_r(geteuid(), &pw, room, sizeof(room), &found) == 0 && found)
		snprintf(name, size, "%s", found->pw_name);
	else
		snprintf(name, size, "UNKNOWN_USER");
}

/* Read values that are not arguments: a connection string in place of the host, and option files. */
static int
read_by_name(struct cmy_session *s, struct cmy_login *l)
{
#if !CMY_ORACLE
	if (l->host && strpbrk(l->host, ";=")) {
		if (cmy_read_connection_string(s->my, l->host) < 0)
			return -1;
		l->host = NULL;
	}
#else
	(void)l;
#endif
	return cmy_read_option_files(s);
}

int
cmy_complete_login(struct cmy_session *s, struct cmy_login *l)
{
	return read_by_name(s, l) < 0 ? -1 : complete(s->my, l);
}

/* ---- choosing the pool ---- */

void
cmy_say_unreachable(
	struct cmy_session *s, const struct cmy_login *l, int error, const char *why)
{
	MYSQL *my = s->my;
	char end[CMY_ERRMSG_SIZE];
	size_t len;

	if (l->is_local)
		cmy_error_with(my, CR_CONNECTION_ERROR, l->unix_socket, error);
	else if (CMY_ORACLE)
		cmy_error_with(my, CR_CONN_HOST_ERROR, l->host, l->port, error);
	else
		cmy_error_with(my, CR_CONN_HOST_ERROR, l->host, error);
	if (!CMY_ORACLE)
		my->net.last_errno = CR_CONNECTION_ERROR;
	len = strlen(my->net.last_error);
	snprintf(end, sizeof(end), "; cenote: %s", why);
	snprintf(my->net.last_error + len, sizeof(my->net.last_error) - len, "%s", end);
}

enum cmy_way
cmy_choose_way(struct cmy_session *s, const struct cmy_login *l)
{
	struct csh_choice choice;
	char user[256], port[16];
	struct csh_target target = { .section = "mysql",
		.host = l->host,
		.port = port,
		.dbname = l->db ? l->db : "",
		.user = l->user,
		.fallback = l->db ? l->db : "" };

	snprintf(port, sizeof(port), "%u", l->port ? l->port : default_port());
	if (*l->user == '\0') {
		own_name(user, sizeof(user));
		target.user = user;
	}
	if (csh_choose(&target, &choice) < 0) {
		cmy_error_text(s->my, CR_CONNECTION_ERROR, NULL, "%s", choice.error);
		return CMY_NOWHERE;
	}
	if (strcmp(choice.pool, "direct") == 0)
		return CMY_TO_ORIGINAL;
	if (choice.pool[0] == '\0') {
		cmy_say_unreachable(s, l, EINVAL,
			"no database is named, and so no pool; CENOTE_POOL or the "
			"section "
			"[mysql] of client.conf may name it");
		return CMY_NOWHERE;
	}
	if (cmy_keep_text(&s->pool, choice.pool) == 0)
		return CMY_TO_POOL;
	cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
	return CMY_NOWHERE;
}
