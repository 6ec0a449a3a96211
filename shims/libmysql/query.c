/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <string.h>

/*
 * The program's queries: mysql_query() and similar functions, and the functions that report about
 * the last query. send.c sends the text, exchange.c reads the answer. face.c calls this file, and
 * connect.c calls this file for init commands.
 */

/* ---- queries ---- */

/* Is an answer outstanding that the program has not begun to read? */
static int
is_awaited(const struct cmy_session *s)
{
	return s->state == CMY_SENT || s->ahead;
}

int
cmy_mysql_send_query(MYSQL *mysql, const char *q, unsigned long length)
{
	struct cmy_session *s = cmy_session(mysql);

	/* cmy_enter_busy() may find that the session is lost; then nothing is outstanding */
	if (s && is_awaited(s) && !cmy_enter_busy(mysql))
		return -1;
	if (s && is_awaited(s))
		return cmy_ahead_put(s, q, length);
	if (s)
		cmy_track_begin(s);
	s = cmy_enter(mysql);
	if (!s || cmy_send(s, q, length) < 0)
		return -1;
	return 0;
}

my_bool
cmy_mysql_read_query_result(MYSQL *mysql)
{
	struct cmy_session *s = mysql->extension;

	if (s && s->state == CMY_IDLE && cmy_send_ahead(s) < 0)
		return 1;
	if (!s || s->state != CMY_SENT) {
		cmy_error(mysql, CR_COMMANDS_OUT_OF_SYNC, NULL);
		return 1;
	}
	return cmy_bool(cmy_next_head(s) < 0);
}

/* Does the program want to read answers itself, with mysql_read_query_result()? */
static int
skips_answer(const MYSQL *my)
{
#if CMY_ORACLE
	(void)my;
	return 0;
#else
	const struct cmy_session *s = my->extension;
	const my_bool *skips = cmy_option(s->options, MARIADB_OPT_SKIP_READ_RESPONSE);

	return skips && *skips;
#endif
}

int
cmy_mysql_real_query(MYSQL *mysql, const char *q, unsigned long length)
{
	if (length == (unsigned long)-1)
		length = (unsigned long)strlen(q);
	/* Oracle's library keeps the previous query's fields until the answer arrives */
	if (!CMY_ORACLE)
		cmy_forget_query(mysql);
	if (cmy_mysql_send_query(mysql, q, length) != 0)
		return CMY_ORACLE ? 1 : -1;
	return skips_answer(mysql) ? 0 : cmy_mysql_read_query_result(mysql);
}

int
cmy_mysql_query(MYSQL *mysql, const char *q)
{
	return cmy_mysql_real_query(mysql, q, (unsigned long)strlen(q));
}

my_bool
cmy_mysql_more_results(MYSQL *mysql)
{
	return cmy_bool((mysql->server_status & SERVER_MORE_RESULTS_EXISTS) != 0);
}

int
cmy_mysql_next_result(MYSQL *mysql)
{
	struct cmy_session *s = mysql->extension;

	if (mysql->status != MYSQL_STATUS_READY) {
		cmy_error(mysql, CR_COMMANDS_OUT_OF_SYNC, NULL);
		return 1;
	}
	cmy_clear(mysql);
	mysql->affected_rows = MYSQL_COUNT_ERROR;
	if (!s || s->state != CMY_MORE)
		return -1;
	return cmy_bool(cmy_next_head(s) < 0);
}

/* ---- reports about the last query ---- */

unsigned int
cmy_mysql_field_count(MYSQL *mysql)
{
	return mysql->field_count;
}

uint64_t
cmy_mysql_affected_rows(MYSQL *mysql)
{
	return mysql->affected_rows;
}

uint64_t
cmy_mysql_insert_id(MYSQL *mysql)
{
	return mysql->insert_id;
}

const char *
cmy_mysql_info(MYSQL *mysql)
{
	return mysql->info;
}

unsigned int
cmy_mysql_warning_count(MYSQL *mysql)
{
	return mysql->warning_count;
}
