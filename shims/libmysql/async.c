/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

/*
 * The non-blocking functions. Each is the blocking one on a stack of its own, a fibre, which is left where that
 * would wait (wait.c), and entered again where the program goes on: MariaDB's …_start() and …_cont(), that
 * tell the program what to wait for, and Oracle's …_nonblocking(), which are called until they are done. A
 * session has one fibre, and so one operation at a time.
 */

/* Our frames are larger than those for which the original's 60 kB are meant. */
#define STACK_SIZE ((size_t)256 * 1024)

/* All arguments that any of the functions has, by name. */
struct args {
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
	ucontext_t inside, outside;
	char *stack; /* with a page in front of it that nobody may touch */
	size_t size;
	void (*run)(struct cmy_fibre *f); /* the operation */
	struct args args;
	unsigned char ret[8]; /* what it gave */
	int is_inside;
	int is_suspended;
	int is_over; /* of the operation: it has returned */
	int is_cancelled; /* whoever waits is told that the wait failed */
	int wants; /* MYSQL_WAIT_… */
	int ready; /* the same, of what came */
	unsigned timeout_ms;
#if defined(__SANITIZE_ADDRESS__)
	void *outer_fake, *inner_fake;
	const void *outer_stack;
	size_t outer_size;
#endif
};

/* ---- switching ---- */

#if defined(__SANITIZE_ADDRESS__)
#define LEAVE_OUTSIDE(f)                                                                 \
	__sanitizer_start_switch_fiber(&(f)->outer_fake, (f)->stack, (f)->size)
#define BACK_OUTSIDE(f) __sanitizer_finish_switch_fiber((f)->outer_fake, NULL, NULL)
#define LEAVE_INSIDE(f)                                                                  \
	__sanitizer_start_switch_fiber(                                                  \
		&(f)->inner_fake, (f)->outer_stack, (f)->outer_size)
#define BACK_INSIDE(f)                                                                   \
	__sanitizer_finish_switch_fiber(                                                 \
		(f)->inner_fake, &(f)->outer_stack, &(f)->outer_size)
#else
#define LEAVE_OUTSIDE(f) (void)(f)
#define BACK_OUTSIDE(f)  (void)(f)
#define LEAVE_INSIDE(f)  (void)(f)
#define BACK_INSIDE(f)   (void)(f)
#endif

static void
go_inside(struct cmy_fibre *f)
{
	f->is_inside = 1;
	LEAVE_OUTSIDE(f);
	(void)swapcontext(&f->outside, &f->inside);
	BACK_OUTSIDE(f);
	f->is_inside = 0;
}

static void
go_outside(struct cmy_fibre *f)
{
	LEAVE_INSIDE(f);
	(void)swapcontext(&f->inside, &f->outside);
	BACK_INSIDE(f);
}

/* makecontext() passes numbers only. */
static void
live(unsigned high, unsigned low)
{
	struct cmy_fibre *f =
		(struct cmy_fibre *)(((uintptr_t)high << 16 << 16) | (uintptr_t)low);

	BACK_INSIDE(f);
	for (;;) {
		f->run(f);
		f->is_over = 1;
		go_outside(f);
	}
}

/* ---- making and freeing ---- */

/* Not inline: to the compiler getcontext() may return twice. */
__attribute__((noinline)) static int
set_up(struct cmy_fibre *f)
{
	if (getcontext(&f->inside) < 0)
		return -1;
	f->inside.uc_stack.ss_sp = f->stack;
	f->inside.uc_stack.ss_size = f->size;
	makecontext(&f->inside, (void (*)(void))live, 2,
		(unsigned)((uintptr_t)f >> 16 >> 16), (unsigned)(uintptr_t)f);
	return 0;
}

static struct cmy_fibre *
fibre_new(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct cmy_fibre *f = calloc(1, sizeof(*f));
	void *map;

	if (!f)
		return NULL;
	f->size = ((size < STACK_SIZE ? STACK_SIZE : size) + page - 1) / page * page;
	map = mmap(NULL, page + f->size, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED) {
		free(f);
		return NULL;
	}
	f->stack = (char *)map + page;
	if (mprotect(f->stack, f->size, PROT_READ | PROT_WRITE) == 0 && set_up(f) == 0)
		return f;
	cmy_fibre_free(f);
	return NULL;
}

void
cmy_fibre_free(struct cmy_fibre *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!f)
		return;
	munmap(f->stack - page, page + f->size);
	free(f);
}

int
cmy_fibre_want(struct cmy_session *s, size_t stack_size)
{
	struct cmy_fibre *f;

	if (s->fibre && s->fibre->is_suspended)
		return -1;
	f = fibre_new(stack_size);
	if (!f) {
		cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	cmy_fibre_free(s->fibre);
	s->fibre = f;
	cmy_choose_wait(s);
	return 0;
}

int
cmy_is_in_fibre(const struct cmy_session *s)
{
	return s->fibre && s->fibre->is_inside;
}

int
cmy_fibre_yield(struct cmy_fibre *f, short events, int timeout_ms)
{
	if (f->is_cancelled)
		return -1;
	f->wants = (events & POLLIN ? MYSQL_WAIT_READ : 0) |
		   (events & POLLOUT ? MYSQL_WAIT_WRITE : 0) |
		   (timeout_ms >= 0 ? MYSQL_WAIT_TIMEOUT : 0);
	f->timeout_ms = timeout_ms > 0 ? (unsigned)timeout_ms : 0;
	go_outside(f);
	if (f->is_cancelled)
		return -1;
	return (f->ready & ~MYSQL_WAIT_TIMEOUT) != 0 || !(f->ready & MYSQL_WAIT_TIMEOUT);
}

/* ---- operations ---- */

/* Let it run until it waits, or is over: what it waits for, or 0 and *ret is set. */
static int
resume(struct cmy_fibre *f, int ready, void *ret, size_t size)
{
	f->is_over = 0;
	f->ready = ready;
	go_inside(f);
	f->is_suspended = !f->is_over;
	if (f->is_suspended)
		return f->wants;
	f->timeout_ms = 0;
	if (ret)
		memcpy(ret, f->ret, size);
	return 0;
}

void
cmy_fibre_cancel(struct cmy_session *s)
{
	struct cmy_fibre *f = s->fibre;

	if (!f || !f->is_suspended)
		return;
	f->is_cancelled = 1;
	while (resume(f, 0, NULL, 0) != 0)
		;
	f->is_cancelled = 0;
}

/* Whose operation it is. */
static struct cmy_session *
session_of_mysql(const MYSQL *my)
{
	return cmy_session(my);
}

static struct cmy_session *
session_of_result(const MYSQL_RES *res)
{
	return res ? cmy_session(res->handle) : NULL;
}

static struct cmy_session *
session_of_stmt(const MYSQL_STMT *stmt)
{
	return stmt ? cmy_session(stmt->mysql) : NULL;
}

#define SESSION_OF(handle)                                                               \
	_Generic((handle), MYSQL *                                                       \
		 : session_of_mysql, MYSQL_RES *                                         \
		 : session_of_result, MYSQL_STMT *                                       \
		 : session_of_stmt)(handle)

/* Do F to each of the arguments, with commas in between. */
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

/* The operation itself, on the fibre. */
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

/* The session's fibre, that has nothing to do; NULL and the error is set. */
static struct cmy_fibre *
idle_fibre(struct cmy_session *s)
{
	if (!s->fibre && cmy_fibre_want(s, 0) < 0)
		return NULL;
	if (!s->fibre->is_suspended)
		return s->fibre;
	cmy_error(s->my, CR_COMMANDS_OUT_OF_SYNC, NULL);
	return NULL;
}

#if !CMY_ORACLE

/* ---- MariaDB's ---- */

/* The fibre of an operation that is suspended; NULL and the error is set. */
static struct cmy_fibre *
suspended_fibre(struct cmy_session *s)
{
	if (s && s->fibre && s->fibre->is_suspended)
		return s->fibre;
	if (s)
		cmy_error(s->my, CR_COMMANDS_OUT_OF_SYNC, NULL);
	return NULL;
}

/* What a function gives that failed. */
#define FAILURE(ret) _Generic((ret), int : 1, my_bool : 1, default : 0)

#define PAIR(type, handle, result, name, params, args)                                   \
	RUN(result, name, args)                                                          \
	int cmy_##name##_start(result *ret, CMY_UNPAREN params)                          \
	{                                                                                \
		struct cmy_session *s = SESSION_OF(handle);                              \
		struct cmy_fibre *f;                                                     \
		if (!s) {                                                                \
			*ret = cmy_##name args;                                          \
			return 0;                                                        \
		}                                                                        \
		f = idle_fibre(s);                                                       \
		*ret = (result)FAILURE(*ret);                                            \
		if (!f)                                                                  \
			return 0;                                                        \
		EACH(KEEP, CMY_UNPAREN args);                                            \
		f->run = run_##name;                                                     \
		return goes_on(s, resume(f, 0, ret, sizeof(*ret)), ret);                 \
	}                                                                                \
	int cmy_##name##_cont(result *ret, type *handle, int status)                     \
	{                                                                                \
		struct cmy_session *s = SESSION_OF(handle);                              \
		struct cmy_fibre *f = suspended_fibre(s);                                \
		*ret = (result)FAILURE(*ret);                                            \
		if (!f)                                                                  \
			return 0;                                                        \
		return goes_on(s, resume(f, status, ret, sizeof(*ret)), ret);            \
	}

#define PAIR_V(type, handle, name, params, args)                                         \
	RUN_V(name, args)                                                                \
	int cmy_##name##_start params                                                    \
	{                                                                                \
		struct cmy_session *s = SESSION_OF(handle);                              \
		struct cmy_fibre *f = s && may_wait_##name ? idle_fibre(s) : NULL;       \
		if (!f) {                                                                \
			cmy_##name args;                                                 \
			return 0;                                                        \
		}                                                                        \
		EACH(KEEP, CMY_UNPAREN args);                                            \
		f->run = run_##name;                                                     \
		return resume(f, 0, NULL, 0);                                            \
	}                                                                                \
	int cmy_##name##_cont(type *handle, int status)                                  \
	{                                                                                \
		struct cmy_fibre *f = suspended_fibre(SESSION_OF(handle));               \
		return f ? resume(f, status, NULL, 0) : 0;                               \
	}

/* Closing never waits, and takes the fibre along. */
#define may_wait_mysql_close       0
#define may_wait_mysql_free_result 1

/* The operation is over, or waits. A connect that found out that it is the original's goes on there. */
static int
goes_on(struct cmy_session *s, int wants, void *ret)
{
	struct args kept;

	if (wants != 0 || !s->is_originals)
		return wants;
	kept = s->fibre->args;
	return cmy_connect_original_start(s, ret, kept.host, kept.user, kept.passwd,
		kept.db, kept.port, kept.unix_socket, kept.clientflag);
}

/* mysql_real_connect_start() has as many parameters as it has. */
/* NOLINTNEXTLINE(readability-function-size) */
CMY_FACE_ASYNC(PAIR, PAIR_V)

unsigned int
cmy_mysql_get_timeout_value_ms(const MYSQL *my)
{
	const struct cmy_session *s = cmy_session(my);

	return s && s->fibre ? s->fibre->timeout_ms : 0;
}

/* In whole seconds, and not too early. */
unsigned int
cmy_mysql_get_timeout_value(const MYSQL *my)
{
	unsigned ms = cmy_mysql_get_timeout_value_ms(my);

	return ms / 1000 + (ms % 1000 != 0);
}

#else

/* ---- Oracle's ---- */

#define ALL_READY (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE)

/* One step of an operation, which is begun, or goes on where it was the last one. */
#define STEP(handle, result, name, args, is_done)                                        \
	struct cmy_session *s = SESSION_OF(handle);                                      \
	struct cmy_fibre *f = s ? s->fibre : NULL;                                       \
	result r = 0;                                                                    \
	if (!s) {                                                                        \
		r = cmy_##name args;                                                     \
		return is_done;                                                          \
	}                                                                                \
	if (!f || !f->is_suspended || f->run != run_##name) {                            \
		f = idle_fibre(s);                                                       \
		if (!f)                                                                  \
			return NET_ASYNC_ERROR;                                          \
		EACH(KEEP, CMY_UNPAREN args);                                            \
		f->run = run_##name;                                                     \
	}                                                                                \
	if (resume(f, ALL_READY, &r, sizeof(r)) != 0)                                    \
		return NET_ASYNC_NOT_READY;                                              \
	return is_done

#define OK_IF(condition) ((condition) ? NET_ASYNC_COMPLETE : NET_ASYNC_ERROR)

RUN(MYSQL *, mysql_real_connect,
	(mysql, host, user, passwd, db, port, unix_socket, clientflag))
RUN(int, mysql_send_query, (mysql, query, length))
RUN(int, mysql_real_query, (mysql, query, length))
RUN(MYSQL_RES *, mysql_store_result, (mysql))
RUN(int, mysql_next_result, (mysql))
RUN(int, mysql_reset_connection, (mysql))
RUN(MYSQL_ROW, mysql_fetch_row, (res))
RUN_V(mysql_free_result, (result))

static enum net_async_status
connect_step(MYSQL *mysql, const char *host, const char *user, const char *passwd,
	const char *db, unsigned int port, const char *unix_socket,
	unsigned long clientflag)
{
	STEP(mysql, MYSQL *, mysql_real_connect,
		(mysql, host, user, passwd, db, port, unix_socket, clientflag), OK_IF(r));
}

enum net_async_status
cmy_mysql_real_connect_nonblocking(MYSQL *mysql, const char *host, const char *user,
	const char *passwd, const char *db, unsigned int port, const char *unix_socket,
	unsigned long clientflag)
{
	enum net_async_status status = connect_step(
		mysql, host, user, passwd, db, port, unix_socket, clientflag);
	struct cmy_session *s = cmy_session(mysql);

	if (!s || !s->is_originals)
		return status;
	return cmy_connect_original_step(
		s, host, user, passwd, db, port, unix_socket, clientflag);
}

enum net_async_status
cmy_mysql_send_query_nonblocking(MYSQL *mysql, const char *query, unsigned long length)
{
	STEP(mysql, int, mysql_send_query, (mysql, query, length), OK_IF(r == 0));
}

enum net_async_status
cmy_mysql_real_query_nonblocking(MYSQL *mysql, const char *query, unsigned long length)
{
	STEP(mysql, int, mysql_real_query, (mysql, query, length), OK_IF(r == 0));
}

static enum net_async_status
store_step(MYSQL *mysql, MYSQL_RES **ret_res)
{
	STEP(mysql, MYSQL_RES *, mysql_store_result, (mysql),
		(*ret_res = r, NET_ASYNC_COMPLETE));
}

enum net_async_status
cmy_mysql_store_result_nonblocking(MYSQL *mysql, MYSQL_RES **result)
{
	*result = NULL;
	return store_step(mysql, result);
}

enum net_async_status
cmy_mysql_next_result_nonblocking(MYSQL *mysql)
{
	STEP(mysql, int, mysql_next_result, (mysql),
		r < 0 ? NET_ASYNC_COMPLETE_NO_MORE_RESULTS : OK_IF(r == 0));
}

enum net_async_status
cmy_mysql_reset_connection_nonblocking(MYSQL *mysql)
{
	STEP(mysql, int, mysql_reset_connection, (mysql), OK_IF(r == 0));
}

static enum net_async_status
fetch_step(MYSQL_RES *res, MYSQL_ROW *row)
{
	STEP(res, MYSQL_ROW, mysql_fetch_row, (res), (*row = r, NET_ASYNC_COMPLETE));
}

enum net_async_status
cmy_mysql_fetch_row_nonblocking(MYSQL_RES *res, MYSQL_ROW *row)
{
	*row = NULL;
	return fetch_step(res, row);
}

enum net_async_status
cmy_mysql_free_result_nonblocking(MYSQL_RES *result)
{
	struct cmy_session *s = SESSION_OF(result);
	struct cmy_fibre *f = s ? s->fibre : NULL;

	if (!f || !f->is_suspended || f->run != run_mysql_free_result) {
		f = s ? idle_fibre(s) : NULL;
		if (!f) {
			cmy_mysql_free_result(result);
			return NET_ASYNC_COMPLETE;
		}
		f->args.result = result;
		f->run = run_mysql_free_result;
	}
	return resume(f, ALL_READY, NULL, 0) ? NET_ASYNC_NOT_READY : NET_ASYNC_COMPLETE;
}

enum connect_stage
cmy_mysql_get_connect_nonblocking_stage(MYSQL *mysql)
{
	const struct cmy_session *s = cmy_session(mysql);

	if (!s)
		return CONNECT_STAGE_INVALID;
	if (mysql->net.vio)
		return CONNECT_STAGE_COMPLETE;
	if (s->fibre && s->fibre->is_suspended)
		return CONNECT_STAGE_NET_WAIT_CONNECT;
	return CONNECT_STAGE_NOT_STARTED;
}

#endif
