/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"
#include "phrase.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Sending a text to the server. On a pool of another server, the statements that programs of MySQL
 * send to any server (phrase.c) are translated. Each becomes one request of libcenote, so that a
 * program that polls the socket sees an answer. query.c calls this file.
 */

#define ER_UNKNOWN_CHARACTER_SET 1115u

static int
sent(struct cmy_session *s, int status)
{
	return cmy_check(s, status) < 0 ? -1 : 1;
}

static int
refuse_charset(struct cmy_session *s, const char *name)
{
	cmy_error_text(s->my, ER_UNKNOWN_CHARACTER_SET, "42000",
		"Unknown character set: '%s'; cenote: pool \"%s\" is no MySQL server's, "
		"and its texts are UTF-8",
		name, s->pool);
	return -1;
}

static int
set_names(struct cmy_session *s, const char *name)
{
	static const char *const others[] = { "ascii", "binary", "default", "null" };
	int fits = strncasecmp(name, "utf8", 4) == 0;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		fits |= strcasecmp(name, others[i]) == 0;
	return fits ? sent(s, cenote_send_ping(s->conn)) : refuse_charset(s, name);
}

static int
set_autocommit(struct cmy_session *s, const char *value)
{
	int is_on = strcmp(value, "1") == 0 || strcasecmp(value, "on") == 0;

	if (!is_on && strcmp(value, "0") != 0 && strcasecmp(value, "off") != 0)
		return 0;
	if (cmy_set_autocommit(s, is_on) < 0)
		return -1;
	return sent(s, cenote_send_ping(s->conn));
}

static int
use_database(struct cmy_session *s, const char *name)
{
	MYSQL *my = s->my;
	int is_own = cmy_is_pools_own(s, name);

	/* SQL Server has a USE statement, too */
	if (!is_own && s->backend == CMY_BACKEND_OTHER)
		return 0;
	if (!is_own && cmy_select(s, name) < 0)
		return -1;
	if (cmy_keep_text(&my->db, name) < 0) {
		cmy_error(my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	return sent(s, cenote_send_ping(s->conn));
}

/* As MySQL does, commit the open transaction first. */
static int
begin(struct cmy_session *s, uint32_t flags)
{
	if (cenote_tx_state(s->conn) != CENOTE_TX_IDLE &&
		cmy_end_transaction(s, cenote_commit) < 0)
		return -1;
	return sent(s, cenote_send_begin(s->conn, CENOTE_ISOLATION_DEFAULT, flags));
}

/* COMMIT and ROLLBACK outside a transaction are not errors. */
static int
end(struct cmy_session *s, int (*send)(cenote_conn *conn))
{
	int is_open = cenote_tx_state(s->conn) != CENOTE_TX_IDLE;

	return sent(s, is_open ? send(s->conn) : cenote_send_ping(s->conn));
}

/* Send the request that does the same on another server. 1; 0: send the text unchanged; -1: the
 * error is set. */
static int
send_phrase(struct cmy_session *s, const char *sql, size_t len)
{
	char value[CMY_PHRASE_VALUE_MAX];

	switch (cmy_phrase_read(sql, len, value)) {
	case CMY_PHRASE_CHARSET:
		return set_names(s, value);
	case CMY_PHRASE_AUTOCOMMIT:
		return set_autocommit(s, value);
	case CMY_PHRASE_USE:
		return use_database(s, value);
	case CMY_PHRASE_BEGIN:
		return begin(s, 0);
	case CMY_PHRASE_BEGIN_READ_ONLY:
		return begin(s, CENOTE_BEGIN_READ_ONLY);
	case CMY_PHRASE_COMMIT:
		return end(s, cenote_send_commit);
	case CMY_PHRASE_ROLLBACK:
		return end(s, cenote_send_rollback);
	default:
		return 0;
	}
}

/* ---- sending ---- */

int
cmy_send(struct cmy_session *s, const char *sql, size_t len)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	int r = 0;

	options.stream = 1;
	options.format = cmy_format(s);
	s->my->info = NULL;
	s->my->affected_rows = MYSQL_COUNT_ERROR;
	cmy_note_text(s, sql, len);
	if (s->backend != CMY_BACKEND_MYSQL)
		r = send_phrase(s, sql, len);
	if (r == 0)
		r = cmy_check(s, cenote_send_query(s->conn, sql, len, NULL, &options));
	if (r < 0)
		return -1;
	s->state = CMY_SENT;
	return 0;
}

int
cmy_send_ahead(struct cmy_session *s)
{
	struct cmy_ahead *a = cmy_ahead_take(s);
	MYSQL *my = s->my;
	uint64_t affected = my->affected_rows;
	int r;

	if (!a)
		return 0;
	my->net.last_errno = 0;
	my->net.last_error[0] = '\0';
	r = cmy_send(s, a->sql, a->len);
	/* the program sent this query long ago, so keep the row count of the answer that it has
	 * read since */
	my->affected_rows = affected;
	free(a);
	return r;
}
