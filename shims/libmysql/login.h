/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_LOGIN_H
#define CMY_LOGIN_H

#include "libmysql.h"

/*
 * Whom a program wants to connect to, and as whom: what mysql_real_connect() was given, what else it says, and
 * which pool that is.
 */

/* The arguments as they came, and what they come to with the options and the defaults. */
struct cmy_login {
	const char *host, *user, *passwd, *db, *unix_socket;
	unsigned port;
	unsigned long flags;
	int is_local; /* over a unix socket */
	int is_srv; /* the host is the name of a list of hosts in the DNS */
};

enum cmy_way {
	CMY_NOWHERE, /* and the error is set */
	CMY_TO_POOL,
	CMY_TO_ORIGINAL
};

/* With the option files, the options and the environment, as the original does it. 0, or -1 and the error is
 * set. */
int cmy_complete_login(struct cmy_session *s, struct cmy_login *l);
enum cmy_way cmy_choose_way(struct cmy_session *s, const struct cmy_login *l);
/* pool_login.c: the user, password and TLS of the way to cenoted: a status of libcenote's. */
int cmy_login_give(struct cmy_session *s);
/* An attempt ended with `status`: 1, another one is worth while, with the user and password; 0, it was that. */
int cmy_login_again(struct cmy_session *s, int status);
/* Into the public structure. 0, or -1: no memory. */
int cmy_keep_login(MYSQL *my, const struct cmy_login *l);
/* The original's error of a server that is not there, with the reason behind it. */
void cmy_say_unreachable(
	struct cmy_session *s, const struct cmy_login *l, int error, const char *why);

#endif
