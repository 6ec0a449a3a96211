/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include "../common/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * The data of a connection handle, and how it is dropped: the texts of the login in the public
 * structure, outstanding results and queries, and the session itself. It calls no function that
 * talks to the pool, so every other file may call it. It owns one list of the process: the handles
 * that mysql_init() allocated and that now belong to the original library.
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

/* The original has closed the handle. It does not free memory that it has not allocated,
 * so free it here. */
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

/* ---- the owning process ---- */

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

/* ---- texts in the public structure ---- */

static void
forget_text(char **text)
{
	free(*text);
	*text = NULL;
}

void
cmy_forget_login(MYSQL *my)
{
	forget_text(&my->host);
	forget_text(&my->user);
	if (my->passwd)
		explicit_bzero(my->passwd, strlen(my->passwd));
	forget_text(&my->passwd);
	forget_text(&my->unix_socket);
	forget_text(&my->server_version);
	forget_text(&my->host_info);
	forget_text(&my->db);
	my->net.CMY_VIO = NULL;
	my->net.fd = -1;
}

int
cmy_keep_text(char **at, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return -1;
	free(*at);
	*at = copy;
	return 0;
}

/* ---- dropping outstanding results and queries ---- */

void
cmy_forget_query(MYSQL *my)
{
	free(my->fields);
	my->fields = NULL;
	my->field_count = 0;
	my->info = NULL;
#if CMY_ORACLE
	my->warning_count = 0;
#endif
}

static void
forget_result(struct cmy_session *s)
{
	MYSQL_RES *res = s->user;

	if (!res)
		return;
	res->handle = NULL;
	res->eof = 1;
	s->user = NULL;
	s->head = NULL;
}

void
cmy_lose(struct cmy_session *s)
{
	cenote_close(s->conn);
	cmy_ahead_drop(s);
	cmy_track_forget(s);
	s->my->net.CMY_VIO = NULL;
	s->my->net.fd = -1;
	s->my->server_status &= ~SERVER_MORE_RESULTS_EXISTS;
}

void
cmy_drop(struct cmy_session *s)
{
	forget_result(s);
	cmy_ahead_drop(s);
	cenote_result_destroy(s->head);
	s->head = NULL;
	s->using = NULL;
	s->state = CMY_IDLE;
	s->my->status = MYSQL_STATUS_READY;
	cmy_forget_query(s->my);
}

void
cmy_begin_command(MYSQL *my)
{
	cmy_clear(my);
	my->info = NULL;
	my->affected_rows = MYSQL_COUNT_ERROR;
}
