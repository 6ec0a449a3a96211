/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include "../common/process.h"

#include <stdlib.h>
#include <string.h>

/*
 * mysql_init() and mysql_close(): handles in the caller's memory or in allocated memory. Library
 * and threads need no initialisation. face.c calls this file.
 */

/* ---- making and closing ---- */

static struct cmy_session *
session_new(MYSQL *my)
{
	struct cmy_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->tag = &cmy_tag;
	s->my = my;
	s->owner = csh_getpid();
	s->options = cmy_options_new(my);
	if (s->options)
		return s;
	free(s);
	return NULL;
}

MYSQL *
cmy_mysql_init(MYSQL *mysql)
{
	MYSQL *my = mysql ? mysql : malloc(sizeof(*my));

	if (!my)
		return NULL;
	memset(my, 0, sizeof(*my));
	my->free_me = cmy_bool(!mysql);
	my->net.fd = -1;
	memcpy(my->net.sqlstate, "00000", sizeof(my->net.sqlstate));
	my->charset = CMY_ORACLE ? cmy_charset_by_nr(8) : cmy_charset_default();
	my->options.report_data_truncation = 1;
	/* MariaDB's library allows LOAD DATA LOCAL by default; the pool has to allow it,
	 * too */
	my->options.client_flag = CMY_ORACLE ? 0 : CLIENT_LOCAL_FILES;
	my->methods = cmy_methods();
	my->extension = session_new(my);
	if (my->extension)
		return my;
	if (!mysql)
		free(my);
	return NULL;
}

/* sic: Oracle's library takes these error numbers for errors of its socket. ENOENT, such as for a
 * missing local file, is one of them. */
#define SOCKET_UNUSABLE     2
#define SOCKET_NOT_WRITABLE 4

static int
loses_statements(const NET *net)
{
	return net->CMY_VIO && net->last_errno != SOCKET_UNUSABLE &&
	       net->last_errno != SOCKET_NOT_WRITABLE;
}

static void
session_end(struct cmy_session *s)
{
	cmy_fibre_cancel(s);
	if (CMY_ORACLE && loses_statements(&s->my->net))
		cmy_stmts_lose(s);
	cmy_stmts_forget(s, CR_STMT_CLOSED, CMY_NAMED("mysql_close"));
	cmy_drop(s);
	cmy_forget_login(s->my);
	cmy_session_free(s);
}

void
cmy_mysql_close(MYSQL *my)
{
	if (!my)
		return;
	if (cmy_session(my))
		session_end(cmy_session(my));
	my->extension = NULL;
	my->net.CMY_VIO = NULL;
	my->net.fd = -1;
	memset(&my->options, 0, sizeof(my->options));
	if (my->free_me)
		free(my);
}

/* ---- library and thread ---- */

int
cmy_mysql_server_init(int argc, char **argv, char **groups)
{
	(void)argc;
	(void)argv;
	(void)groups;
	return 0;
}

void
cmy_mysql_server_end(void)
{
}

my_bool
cmy_mysql_thread_init(void)
{
	return 0;
}

void
cmy_mysql_thread_end(void)
{
}

unsigned int
cmy_mysql_thread_safe(void)
{
	return 1;
}
