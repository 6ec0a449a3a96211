/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include "../common/fact.h"

#include <string.h>

/*
 * MYSQL.server_status, which a MySQL server sends with every answer. The bits come from the pool,
 * or from facts that libcenote knows about any server. Escaping depends on two of these bits, so
 * every file that sets the bits gets them from this file.
 */

static unsigned
known_bits(const struct cmy_session *s, unsigned bits)
{
	if (s->backend == CMY_BACKEND_MYSQL)
		return bits;
	if (s->backend == CMY_BACKEND_OTHER &&
		csh_has_backslashes(cenote_info(s->conn, "odbc_dbms")))
		return bits;
	/* other servers do not escape with backslashes, and programs look at this bit
	 * before they escape */
	return bits | SERVER_STATUS_NO_BACKSLASH_ESCAPES;
}

unsigned
cmy_first_status(const struct cmy_session *s)
{
	const char *mode = cenote_parameter(s->conn, "sql_mode");
	const char *autocommit = cenote_parameter(s->conn, "autocommit");
	unsigned bits = autocommit && strcmp(autocommit, "OFF") == 0
				? 0
				: SERVER_STATUS_AUTOCOMMIT;

	if (mode && strstr(mode, "NO_BACKSLASH_ESCAPES"))
		bits |= SERVER_STATUS_NO_BACKSLASH_ESCAPES;
	/* only MariaDB's server reports this bit */
	if (mode && strstr(mode, "ANSI_QUOTES") &&
		strstr(s->my->server_version, "MariaDB"))
		bits |= SERVER_STATUS_ANSI_QUOTES;
	return known_bits(s, bits);
}

/* The status bits of a result. For other servers, libcenote's facts give them. */
static unsigned
status_of(const struct cmy_session *s, const cenote_result *res)
{
	unsigned bits = cenote_result_server_status(res);
	int tx;

	if (s->backend != CMY_BACKEND_MYSQL) {
		tx = cenote_tx_state(s->conn);
		bits = s->my->server_status & SERVER_STATUS_AUTOCOMMIT;
		if (tx == CENOTE_TX_OPEN || tx == CENOTE_TX_FAILED)
			bits |= SERVER_STATUS_IN_TRANS;
	}
	bits &= ~SERVER_MORE_RESULTS_EXISTS;
	if (cenote_result_flags(res) & CENOTE_RESULT_FLAG_MORE)
		bits |= SERVER_MORE_RESULTS_EXISTS;
	return known_bits(s, bits);
}

void
cmy_take_bits(struct cmy_session *s, const cenote_result *res)
{
	s->my->server_status = status_of(s, res);
	s->has_lost_settings = 0;
	cmy_track_status(s);
}

/* Update the bits for the transaction: only this state can change without an answer that has a status. */
void
cmy_take_known_status(struct cmy_session *s)
{
	int tx = cenote_tx_state(s->conn);

	if (s->has_lost_settings)
		s->my->server_status = cmy_first_status(s);
	s->has_lost_settings = 0;
	s->my->server_status &= ~SERVER_STATUS_IN_TRANS;
	if (tx == CENOTE_TX_OPEN || tx == CENOTE_TX_FAILED)
		s->my->server_status |= SERVER_STATUS_IN_TRANS;
}

void
cmy_tell_done(MYSQL *my)
{
	if (!CMY_ORACLE)
		return;
	cmy_track_begin(my->extension);
	cmy_take_known_status(my->extension);
	my->affected_rows = 0;
	my->insert_id = 0;
	my->warning_count = 0;
}
