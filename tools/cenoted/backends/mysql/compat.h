/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MY_COMPAT_H
#define CND_MY_COMPAT_H

/*
 * MariaDB's libmariadb and Oracle's libmysqlclient: what one has and the other has not is here, so
 * that no other file asks which of them it is compiled against.
 */
#include <mysql.h>
#include <errmsg.h>

#ifdef MARIADB_PACKAGE_VERSION_ID
#define CND_MY_IS_MARIADB 1
typedef my_bool cnd_my_bool;
#else
#define CND_MY_IS_MARIADB 0
typedef bool cnd_my_bool;
typedef int my_socket;
#endif

/* What the library calls before it would block: 1 ready, 0 the time (ms, -1 no bound) is up, -1 failed. */
typedef int cnd_my_wait_fn(my_socket fd, cnd_my_bool is_read, int timeout_ms);

/* Whether the library has such a hook, and took it. */
int cnd_my_hook_wait(MYSQL *my, cnd_my_wait_fn *wait);

#endif
