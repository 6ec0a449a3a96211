/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_FIBRE_H
#define CMY_FIBRE_H

#include "libmysql.h"

#include <string.h>

#include "core/fibre.h"

/*
 * A session's fibre, on which a blocking function runs until it would wait. async_mariadb.c and
 * async_oracle.c, the non-blocking functions, start and resume operations on it. A session has one
 * fibre, so one operation at a time.
 */

/* The arguments of all functions, by name. */
struct cmy_args {
	MYSQL *mysql, *sock;
	MYSQL_RES *result, *res;
	MYSQL_STMT *stmt;
	const char *user, *passwd, *db, *table, *wild, *q, *host, *unix_socket, *csname,
		*query, *data;
	unsigned long pid, length, len, clientflag;
	unsigned int port, refresh_options, param_number;
	enum enum_mysql_set_option option;
	enum mysql_enum_shutdown_level shutdown_level;
	my_bool auto_mode;
};

struct cmy_fibre {
	struct cnc_fibre fibre;
	void (*run)(struct cmy_fibre *f); /* the operation */
	struct cmy_args args;
	unsigned char ret[8]; /* the operation's result */
	int is_suspended;
	int is_cancelled; /* all waiting on the fibre fails */
	int wants; /* MYSQL_WAIT_… */
	int ready; /* MYSQL_WAIT_… that is ready */
	unsigned timeout_ms;
};

/* ---- fibre.c ---- */

/* Make a fibre. NULL: no memory. */
struct cmy_fibre *cmy_fibre_new(size_t stack_size);
/* Let the operation run until it waits or returns. Returns what it waits for
 * (MYSQL_WAIT_…), or 0 and *ret is set. */
int cmy_fibre_resume(struct cmy_fibre *f, int ready, void *ret, size_t size);

/* ---- macros for both flavours' functions ---- */

/* The session of a handle, by the handle's type. */
static inline struct cmy_session *
session_of_mysql(const MYSQL *my)
{
	return cmy_session(my);
}

static inline struct cmy_session *
session_of_result(const MYSQL_RES *res)
{
	return res ? cmy_session(res->handle) : NULL;
}

static inline struct cmy_session *
session_of_stmt(const MYSQL_STMT *stmt)
{
	return stmt ? cmy_session(stmt->mysql) : NULL;
}

#define SESSION_OF(handle)                                                               \
	_Generic((handle), MYSQL *                                                       \
		 : session_of_mysql, MYSQL_RES *                                         \
		 : session_of_result, MYSQL_STMT *                                       \
		 : session_of_stmt)(handle)

/* Apply F to each argument, with commas between the results. */
#define EACH_1(F, x)                          F(x)
#define EACH_2(F, x, ...)                     F(x), EACH_1(F, __VA_ARGS__)
#define EACH_3(F, x, ...)                     F(x), EACH_2(F, __VA_ARGS__)
#define EACH_4(F, x, ...)                     F(x), EACH_3(F, __VA_ARGS__)
#define EACH_5(F, x, ...)                     F(x), EACH_4(F, __VA_ARGS__)
#define EACH_6(F, x, ...)                     F(x), EACH_5(F, __VA_ARGS__)
#define EACH_7(F, x, ...)                     F(x), EACH_6(F, __VA_ARGS__)
#define EACH_8(F, x, ...)                     F(x), EACH_7(F, __VA_ARGS__)
#define NINTH(a, b, c, d, e, f, g, h, i, ...) i
#define EACH(F, ...)                                                                     \
	NINTH(__VA_ARGS__, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, EACH_2,       \
		EACH_1, )                                                                \
	(F, __VA_ARGS__)
#define KEEP(x) (void)(f->args.x = x)
#define KEPT(x) f->args.x

/* The operation itself, which runs on the fibre. */
#define RUN(result, name, args)                                                          \
	static void run_##name(struct cmy_fibre *f)                                      \
	{                                                                                \
		result r = cmy_##name(EACH(KEPT, CMY_UNPAREN args));                     \
		memcpy(f->ret, &r, sizeof(r));                                           \
	}
#define RUN_V(name, args)                                                                \
	static void run_##name(struct cmy_fibre *f)                                      \
	{                                                                                \
		cmy_##name(EACH(KEPT, CMY_UNPAREN args));                                \
	}

#endif
