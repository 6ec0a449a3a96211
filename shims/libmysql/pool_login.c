/* SPDX-License-Identifier: BSD-2-Clause */
#include "login.h"

#include "../common/route.h"

#include <string.h>

/*
 * User, password and TLS on the way to cenoted. On a local socket the kernel names the
 * user: the program's user and password are only sent to a pool that asked for a
 * password, and there is no TLS. By TCP the user is always sent, and the program's TLS
 * options apply. connect.c calls this file.
 */

static int
give_user(struct cmy_session *s)
{
	const char *password = s->my->passwd;
	int r = cenote_conn_set(s->conn, "user", s->my->user);

	if (r == CENOTE_OK && password && *password != '\0')
		r = cenote_conn_set(s->conn, "password", password);
	s->gives_login = 1;
	return r;
}

/* ---- TLS ---- */

#if CMY_ORACLE

/* Oracle's SSL_MODE_DISABLED is 1. */
static const char *
mode_of(const struct cmy_session *s)
{
	static const char *const modes[] = { "allow", "disable", "allow", "require",
		"verify-ca", "verify-full" };
	const unsigned *mode = cmy_option(s->options, MYSQL_OPT_SSL_MODE);

	return mode && *mode < sizeof(modes) / sizeof(modes[0]) ? modes[*mode] : "allow";
}

#else

static int
is_on(const struct cmy_session *s, int option)
{
	const my_bool *on = cmy_option(s->options, option);

	return on && *on;
}

/* Fingerprints are not supported. If a program sets one, the certificate is checked by a
 * certificate authority instead. */
static int
has_fingerprint(const struct cmy_session *s)
{
	static const int options[] = { MARIADB_OPT_SSL_FP, MARIADB_OPT_TLS_PEER_FP,
		MARIADB_OPT_SSL_FP_LIST, MARIADB_OPT_TLS_PEER_FP_LIST };

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (cmy_option(s->options, options[i]))
			return 1;
	}
	return 0;
}

static const char *
mode_of(const struct cmy_session *s)
{
	if (is_on(s, MYSQL_OPT_SSL_VERIFY_SERVER_CERT))
		return "verify-full";
	if (has_fingerprint(s))
		return "verify-ca";
	return s->my->options.use_ssl ? "require" : "allow";
}

#endif

/* Does the program's list have TLS 1.3 but not 1.2? */
static int
wants_newest_only(const struct cmy_session *s)
{
	const char *list = cmy_option(s->options, MYSQL_OPT_TLS_VERSION);

	return list && strstr(list, "TLSv1.3") && !strstr(list, "TLSv1.2");
}

static int
give_tls(struct cmy_session *s)
{
	static const struct {
		const char *option;
		int of_program;
	} files[] = { { "ca", MYSQL_OPT_SSL_CA }, { "ca_path", MYSQL_OPT_SSL_CAPATH },
		{ "cert", MYSQL_OPT_SSL_CERT }, { "key", MYSQL_OPT_SSL_KEY },
		{ "crl", MYSQL_OPT_SSL_CRL } };
	int r = cenote_conn_set(s->conn, "tls", mode_of(s));

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && r == CENOTE_OK; i++) {
		const char *value = cmy_option(s->options, files[i].of_program);

		if (value && *value != '\0')
			r = cenote_conn_set(s->conn, files[i].option, value);
	}
	if (r == CENOTE_OK && wants_newest_only(s))
		r = cenote_conn_set(s->conn, "tls_min", "1.3");
	return r;
}

/* ---- both ---- */

int
cmy_login_give(struct cmy_session *s)
{
	int r = CENOTE_OK;

	if (csh_is_remote())
		r = give_tls(s);
	else if (!s->gives_login && !csh_login_was_wanted(s->pool))
		return CENOTE_OK;
	return r == CENOTE_OK ? give_user(s) : r;
}

int
cmy_login_again(struct cmy_session *s, int status)
{
	const char *password = s->my->passwd;

	if (status != CENOTE_ERR_AUTH || s->gives_login || !password || *password == '\0')
		return 0;
	csh_login_is_wanted(s->pool);
	s->gives_login = 1;
	return 1;
}

const char *
cmy_tls_fact(const MYSQL *my, const char *name)
{
	const struct cmy_session *s = cmy_session(my);

	return s && s->conn ? cenote_tls_info(s->conn, CENOTE_HOP_POOL, name) : NULL;
}
