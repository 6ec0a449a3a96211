/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_LOGIN_H
#define CMY_LOGIN_H

#include "libmysql.h"

/*
 * Find the pool that a program wants: complete the arguments of mysql_real_connect(), and choose
 * the pool by server, user and database.
 */

/* The arguments, first as the program gave them, then completed with options and
 * defaults. */
struct cmy_login {
	const char *host, *user, *passwd, *db, *unix_socket;
	unsigned port;
	unsigned long flags;
	int is_local; /* through a unix socket */
	int is_srv; /* the host is a DNS SRV name */
};

enum cmy_way {
	CMY_NOWHERE, /* the error is set */
	CMY_TO_POOL,
	CMY_TO_ORIGINAL
};

/* Complete the arguments with option files, options and environment, as the original
 * does. 0, or -1 and the error is set. */
int cmy_complete_login(struct cmy_session *s, struct cmy_login *l);
enum cmy_way cmy_choose_way(struct cmy_session *s, const struct cmy_login *l);
/* pool_login.c: set user, password and TLS for the way to cenoted. Returns a status of libcenote's. */
int cmy_login_give(struct cmy_session *s);
/* The attempt ended with `status`. 1: try again, with user and password; 0: do not try again. */
int cmy_login_again(struct cmy_session *s, int status);
/* Copy the login to the public structure. 0, or -1: no memory. */
int cmy_keep_login(MYSQL *my, const struct cmy_login *l);
/* Set the original's error for an unreachable server, followed by the reason. */
void cmy_say_unreachable(
	struct cmy_session *s, const struct cmy_login *l, int error, const char *why);

#endif
