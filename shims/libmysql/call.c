/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <string.h>

/*
 * Requests of libcenote without results. Each call is repeated, with a wait in between, until
 * libcenote has finished the request. connect.c, session.c and send.c call them.
 */

int
cmy_finish(struct cmy_session *s, int (*call)(cenote_conn *conn))
{
	int r;

	while ((r = call(s->conn)) == CENOTE_AGAIN) {
		if (cmy_wait(s) < 0)
			return -1;
	}
	return cmy_check(s, r);
}

int
cmy_set_option(struct cmy_session *s, const char *name, const char *value)
{
	int r;

	while ((r = cenote_set_session_option(s->conn, name, value)) == CENOTE_AGAIN) {
		if (cmy_wait(s) < 0)
			return -1;
	}
	return cmy_check(s, r);
}

int
cmy_end_transaction(struct cmy_session *s, int (*call)(cenote_conn *conn))
{
	s->my->server_status &= ~SERVER_STATUS_IN_TRANS;
	return cmy_finish(s, call);
}

int
cmy_set_autocommit(struct cmy_session *s, int on)
{
	MYSQL *my = s->my;
	int is_off = (my->server_status & SERVER_STATUS_AUTOCOMMIT) == 0;
	int r;

	/* as MySQL does: switching autocommit on commits the open transaction */
	if (on && is_off && cenote_tx_state(s->conn) != CENOTE_TX_IDLE &&
		cmy_end_transaction(s, cenote_commit) < 0)
		return -1;
	while ((r = cenote_set_autocommit(s->conn, on)) == CENOTE_AGAIN) {
		if (cmy_wait(s) < 0)
			return -1;
	}
	if (cmy_check(s, r) < 0)
		return -1;
	if (on)
		my->server_status |= SERVER_STATUS_AUTOCOMMIT;
	else
		my->server_status &= ~SERVER_STATUS_AUTOCOMMIT;
	cmy_track_status(s);
	return 0;
}

static int
is_name(const char *name, const char *db)
{
	return name && strcmp(name, db) == 0;
}

/* Does `db` name the only database of a pool of another server? Its names are the names that a
 * connect accepts for it. */
int
cmy_is_pools_own(const struct cmy_session *s, const char *db)
{
	return s->backend != CMY_BACKEND_MYSQL &&
	       (is_name(cenote_info(s->conn, "database"), db) || is_name(s->pool, db) ||
		       is_name(s->my->db, db));
}

static int
select_database(struct cmy_session *s, const char *db)
{
	int r;

	while ((r = cenote_select_database(s->conn, db)) == CENOTE_AGAIN) {
		if (cmy_wait(s) < 0)
			return -1;
	}
	return cmy_check(s, r);
}

int
cmy_select(struct cmy_session *s, const char *db)
{
	int was_untracked = s->is_untracked, r;

	/* neither original reads the session changes in this answer */
	s->is_untracked = 1;
	r = select_database(s, db);
	s->is_untracked = was_untracked;
	return r;
}

static int
ask_for_login(struct cmy_session *s, const char *user, const char *passwd, const char *db)
{
	int r;

	while ((r = cenote_change_user(s->conn, user, passwd, db)) == CENOTE_AGAIN) {
		if (cmy_wait(s) < 0)
			return -1;
	}
	return cmy_check(s, r);
}

int
cmy_change_login(
	struct cmy_session *s, const char *user, const char *passwd, const char *db)
{
	const MARIADB_CHARSET_INFO *charset = s->my->charset;
	int was_untracked = s->is_untracked, r;

	s->is_untracked = 1;
	r = ask_for_login(s, user, passwd, db);
	s->is_untracked = was_untracked;
	s->my->charset = charset;
	return r;
}
