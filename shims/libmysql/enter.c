/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

/*
 * The check at the beginning of each function that talks to the server: the handle has a session,
 * the session belongs to this process, and nothing is outstanding. If the program asked for that
 * (MYSQL_OPT_RECONNECT), a new session replaces a lost one here.
 */

/* If the program wants to reconnect, find out now whether the session is lost: otherwise a request
 * would be sent to a lost session. */
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
 * Called after a reconnect. The program escaped the text of this call for the previous session. -1,
 * once, if the new session reads escapes in another way.
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
	cmy_begin_command(my);
	return s;
}
