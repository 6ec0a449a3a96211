/* SPDX-License-Identifier: BSD-2-Clause */
#include "fibre.h"

/*
 * Oracle's non-blocking functions. The program calls a function again and again until it returns
 * that it has finished. face.c calls them.
 */

#define ALL_READY (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE)

/* One step of an operation: begin the operation, or go on if the last step belonged to it. */
#define STEP(handle, result, name, args, is_done)                                        \
	struct cmy_session *s = SESSION_OF(handle);                                      \
	struct cmy_fibre *f = s ? s->fibre : NULL;                                       \
	result r = 0;                                                                    \
	if (!s) {                                                                        \
		r = cmy_##name args;                                                     \
		return is_done;                                                          \
	}                                                                                \
	if (!f || !f->is_suspended || f->run != run_##name) {                            \
		f = cmy_fibre_idle(s);                                                   \
		if (!f)                                                                  \
			return NET_ASYNC_ERROR;                                          \
		EACH(KEEP, CMY_UNPAREN args);                                            \
		f->run = run_##name;                                                     \
	}                                                                                \
	if (cmy_fibre_resume(f, ALL_READY, &r, sizeof(r)) != 0)                          \
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
	s->is_originals = 0;
	if (cmy_hand_over(s) < 0)
		return NET_ASYNC_ERROR;
	return cmy_original(NULL)->mysql_real_connect_nonblocking(
		mysql, host, user, passwd, db, port, unix_socket, clientflag);
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
		f = s ? cmy_fibre_idle(s) : NULL;
		if (!f) {
			cmy_mysql_free_result(result);
			return NET_ASYNC_COMPLETE;
		}
		f->args.result = result;
		f->run = run_mysql_free_result;
	}
	return cmy_fibre_resume(f, ALL_READY, NULL, 0) ? NET_ASYNC_NOT_READY
						       : NET_ASYNC_COMPLETE;
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
