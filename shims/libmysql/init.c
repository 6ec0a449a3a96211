/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include "../common/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * Handles: made on the caller's memory or on ours, and closed. The library itself has nothing to begin or
 * to end, nor has a thread.
 */

/* ---- handles that mysql_init() allocated, and that became the original's ---- */

struct adopted {
	MYSQL *my;
	struct adopted *next;
};

static struct adopted *adopted;
static pthread_mutex_t adopted_lock = PTHREAD_MUTEX_INITIALIZER;

int
cmy_adopt(MYSQL *my)
{
	struct adopted *a = malloc(sizeof(*a));

	if (!a)
		return -1;
	a->my = my;
	pthread_mutex_lock(&adopted_lock);
	a->next = adopted;
	adopted = a;
	pthread_mutex_unlock(&adopted_lock);
	return 0;
}

/* The original has closed it, and left the memory alone: it is ours. */
void
cmy_release(MYSQL *my)
{
	struct adopted **at, *found;

	pthread_mutex_lock(&adopted_lock);
	for (at = &adopted; *at && (*at)->my != my; at = &(*at)->next)
		;
	found = *at;
	if (found)
		*at = found->next;
	pthread_mutex_unlock(&adopted_lock);
	if (!found)
		return;
	free(found);
	free(my);
}

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
	/* MariaDB's allows files unless told otherwise; the pool has to allow them, too */
	my->options.client_flag = CMY_ORACLE ? 0 : CLIENT_LOCAL_FILES;
	my->methods = cmy_methods();
	my->extension = session_new(my);
	if (my->extension)
		return my;
	if (!mysql)
		free(my);
	return NULL;
}

void
cmy_session_free(struct cmy_session *s)
{
	cenote_conn_destroy(s->conn);
	cmy_ahead_drop(s);
	cmy_track_free(s->track);
	cmy_fibre_free(s->fibre);
	cmy_options_free(s->options);
	free(s->pool);
	free(s);
}

#if CMY_ORACLE
/* sic: it takes an error of these numbers (of a file that is not there, ENOENT) for what it calls so on a socket. */
#define SOCKET_UNUSABLE     2
#define SOCKET_NOT_WRITABLE 4

static int
loses_statements(const NET *net)
{
	return net->CMY_VIO && net->last_errno != SOCKET_UNUSABLE &&
	       net->last_errno != SOCKET_NOT_WRITABLE;
}
#endif

static void
session_end(struct cmy_session *s)
{
	cmy_fibre_cancel(s);
#if CMY_ORACLE
	if (loses_statements(&s->my->net))
		cmy_stmts_prune(s);
#endif
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

/* ---- entering ---- */

int
cmy_is_owner(const struct cmy_session *s)
{
	if (s->owner == csh_getpid())
		return 1;
	cmy_error_text(s->my, CR_SERVER_GONE_ERROR, NULL,
		"%s; cenote: this connection belongs to the process that made it; a "
		"forked child needs one of its own",
		cmy_error_words(CR_SERVER_GONE_ERROR));
	return 0;
}

/* Who wants to be connected again has nothing sent to a session that is lost already. */
static void
look_for_loss(struct cmy_session *s)
{
	if (!CMY_RECONNECT(s->my) || !s->my->net.CMY_VIO ||
		(s->state != CMY_IDLE && s->state != CMY_SENT))
		return;
	if (cenote_status_is_fatal(cenote_process(s->conn)))
		cmy_lose(s);
}

/*
 * Connected again. A text that comes with this call was escaped by the status of the session before. -1, once, if
 * the new one reads it otherwise.
 */
static int
check_escapes(MYSQL *my, unsigned before)
{
	unsigned changed = my->server_status ^ before;

	if (!(changed & (SERVER_STATUS_NO_BACKSLASH_ESCAPES | SERVER_STATUS_ANSI_QUOTES)))
		return 0;
	cmy_error_text(my, CR_SERVER_GONE_ERROR, NULL,
		"%s; cenote: there is a new connection, whose sql_mode reads texts "
		"otherwise: escape for it, and send that",
		cmy_error_words(CR_SERVER_GONE_ERROR));
	return -1;
}

struct cmy_session *
cmy_enter_busy(MYSQL *my)
{
	struct cmy_session *s = cmy_session(my);
	unsigned before = my->server_status;

	if (!s) {
		cmy_error(my, CR_SERVER_GONE_ERROR, NULL);
		return NULL;
	}
	if (!cmy_is_owner(s))
		return NULL;
	look_for_loss(s);
	if (my->net.CMY_VIO)
		return s;
	return cmy_reconnect(s) == 0 && check_escapes(my, before) == 0 ? s : NULL;
}

struct cmy_session *
cmy_enter(MYSQL *my)
{
	struct cmy_session *s = cmy_enter_busy(my);

	if (!s)
		return NULL;
	if (s->state != CMY_IDLE || s->ahead) {
		cmy_error(my, CR_COMMANDS_OUT_OF_SYNC, NULL);
		return NULL;
	}
	cmy_clear(my);
	my->info = NULL;
	my->affected_rows = MYSQL_COUNT_ERROR;
	return s;
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
