/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include "../common/route.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * User, password and TLS on the way to cenoted. On a local socket the kernel tells cenoted who the
 * client is. So the shim sends the user and password only to a pool that asks for a password, and
 * uses no TLS, as libpq does on such a socket. By TCP everything is as in libpq. connect.c calls
 * this file.
 */

/* The program's password, or the password from its passfile. */
static const char *
password_of(PGconn *conn)
{
	const char *password = cpq_conninfo_get(&conn->info, CPQ_KEY_PASSWORD);

	if (*password != '\0')
		return password;
	if (conn->attempt.file_password == NULL)
		conn->attempt.file_password = cpq_passfile_find(&conn->info);
	return conn->attempt.file_password != NULL ? conn->attempt.file_password : "";
}

static int
give_user(PGconn *conn)
{
	const char *password = password_of(conn);
	int r = cenote_conn_set(
		conn->session, "user", cpq_conninfo_get(&conn->info, CPQ_KEY_USER));

	if (r == CENOTE_OK && *password != '\0')
		r = cenote_conn_set(conn->session, "password", password);
	conn->attempt.gives_login = 1;
	return r;
}

void
cpq_login_forget(PGconn *conn)
{
	if (conn->attempt.file_password == NULL)
		return;
	explicit_bzero(conn->attempt.file_password, strlen(conn->attempt.file_password));
	free(conn->attempt.file_password);
	conn->attempt.file_password = NULL;
}

/* Pass the option's value to libcenote. Without a value, pass libpq's default file if that file
 * exists. */
static int
give_file(PGconn *conn, const char *option, enum cpq_key key, const char *name)
{
	const char *value = cpq_conninfo_get(&conn->info, key);
	char *path = *value == '\0' ? cpq_home_file(name) : NULL;
	int r = CENOTE_OK;

	if (path != NULL && access(path, R_OK) == 0)
		value = path;
	if (*value != '\0')
		r = cenote_conn_set(conn->session, option, value);
	free(path);
	return r;
}

static int
give_authorities(PGconn *conn)
{
	/* From libpq 16 on "system" means the system's certificates, which libcenote uses when it gets
	 * no file. */
	if (strcmp(cpq_conninfo_get(&conn->info, CPQ_KEY_SSLROOTCERT), "system") == 0)
		return CENOTE_OK;
	return give_file(conn, "ca", CPQ_KEY_SSLROOTCERT, ".postgresql/root.crt");
}

/* A certificate needs a key. As in libpq, it is no error here if one of them is missing. */
static int
give_certificate(PGconn *conn)
{
	int r;

	if (strcmp(cpq_conninfo_get(&conn->info, CPQ_KEY_SSLCERTMODE), "disable") == 0)
		return CENOTE_OK;
	r = give_file(conn, "cert", CPQ_KEY_SSLCERT, ".postgresql/postgresql.crt");
	if (r != CENOTE_OK || *cenote_conn_get(conn->session, "cert") == '\0')
		return r;
	return give_file(conn, "key", CPQ_KEY_SSLKEY, ".postgresql/postgresql.key");
}

static const char *
mode_of(const PGconn *conn)
{
	const char *mode = cpq_conninfo_get(&conn->info, CPQ_KEY_SSLMODE);

	return strcmp(mode, "prefer") == 0 ? "allow" : mode;
}

static int
give_tls(PGconn *conn)
{
	const char *min = cpq_conninfo_get(&conn->info, CPQ_KEY_SSL_MIN_PROTOCOL_VERSION);
	int r = cenote_conn_set(conn->session, "tls", mode_of(conn));

	if (r != CENOTE_OK || strcmp(mode_of(conn), "disable") == 0)
		return r;
	r = give_authorities(conn);
	if (r == CENOTE_OK)
		r = give_certificate(conn);
	if (r == CENOTE_OK)
		r = give_file(conn, "crl", CPQ_KEY_SSLCRL, ".postgresql/root.crl");
	/* libcenote's minimum is 1.2, so only 1.3 must be set. */
	if (r == CENOTE_OK && strcasecmp(min, "TLSv1.3") == 0)
		r = cenote_conn_set(conn->session, "tls_min", "1.3");
	return r;
}

int
cpq_login_give(PGconn *conn)
{
	int r = CENOTE_OK;

	conn->attempt.needs_password = 0;
	if (csh_is_remote())
		r = give_tls(conn);
	else if (!conn->attempt.gives_login && !csh_login_was_wanted(conn->route.pool))
		return CENOTE_OK;
	return r == CENOTE_OK ? give_user(conn) : r;
}

int
cpq_login_again(PGconn *conn, int status)
{
	const char *sqlstate;

	if (status != CENOTE_ERR_AUTH)
		return 0;
	sqlstate = cenote_diag_sqlstate(cenote_conn_diag(conn->session));
	conn->attempt.needs_password =
		strcmp(sqlstate, "28P01") == 0 && *password_of(conn) == '\0';
	if (conn->attempt.gives_login || *password_of(conn) == '\0')
		return 0;
	csh_login_is_wanted(conn->route.pool);
	conn->attempt.gives_login = 1;
	cenote_conn_destroy(conn->session);
	conn->session = NULL;
	return 1;
}

const char *
cpq_login_missed(PGconn *conn)
{
	const char *wanted = cpq_conninfo_get(&conn->info, CPQ_KEY_CHANNEL_BINDING);
	const char *login;

	if (strcmp(wanted, "require") != 0 || !csh_is_remote())
		return NULL;
	login = cenote_info(conn->session, "login");
	if (login != NULL && strcmp(login, "SCRAM-SHA-256-PLUS") == 0)
		return NULL;
	return "channel binding is required, but the pool's login has none";
}
