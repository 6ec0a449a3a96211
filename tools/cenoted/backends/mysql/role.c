/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the server whether it takes writes, whether it is ready, and how far it is behind as a replica.
 *
 * A server with read_only or innodb_read_only is a replica. super_read_only sets read_only, too. A node of Galera says by
 * wsrep_ready whether it may be used. The lag needs a privilege (MariaDB: SLAVE MONITOR, MySQL: REPLICATION CLIENT); without
 * it the lag is unknown. MariaDB also says up to which GTID it has the changes.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/value.h"

#include "../common/error.h"
#include "my.h"

static bool
is_on(const char *value)
{
	return value && strcasecmp(value, "OFF") != 0 && strcmp(value, "0") != 0;
}

struct answer {
	bool has_come;
	bool is_read_only;
	bool is_galera;
	bool is_ready;
};

/* A row of SHOW VARIABLES or SHOW STATUS: a name and a value. */
static int
take_variable(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct answer *a = user;

	(void)lengths;
	if (n != 2 || !row[0])
		return CENOTE_ERR_PROTOCOL;
	a->has_come = true;
	if (strcasecmp(row[0], "wsrep_on") == 0)
		a->is_galera = is_on(row[1]);
	else if (strcasecmp(row[0], "wsrep_ready") == 0)
		a->is_ready = is_on(row[1]);
	else
		a->is_read_only |= is_on(row[1]);
	return CENOTE_OK;
}

static int
ask(struct cnd_session *s, struct answer *a)
{
	static const char variables[] =
		"SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', "
		"'innodb_read_only', 'wsrep_on')";
	static const char status[] = "SHOW GLOBAL STATUS LIKE 'wsrep_ready'";
	int r = cnd_my_each(s, variables, sizeof(variables) - 1, take_variable, a);

	if (r == CENOTE_OK && !a->has_come)
		return cnd_refuse(s->diag, CNC_SQLSTATE(INTERNAL), NULL,
			"the server does not say whether it is read-only");
	a->is_ready = !a->is_galera;
	return r == CENOTE_OK && a->is_galera
		       ? cnd_my_each(s, status, sizeof(status) - 1, take_variable, a)
		       : r;
}

/* ---- lag ---- */

static int64_t
worse(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The first column whose name begins so; the number of columns if there is none. */
static unsigned
find_column(MYSQL_RES *result, const char *begin)
{
	const MYSQL_FIELD *fields = mysql_fetch_fields(result);
	unsigned n = mysql_num_fields(result), at = 0;

	while (at < n && strncasecmp(fields[at].name, begin, strlen(begin)) != 0)
		at++;
	return at;
}

/* The server gives NULL if a thread of the replication does not run. */
static int64_t
lag_of(const char *seconds)
{
	int64_t n;

	if (!seconds)
		return CND_LAG_STOPPED;
	return cnc_text_int64(seconds, strlen(seconds), &n) == 0 && n >= 0 &&
			       n < INT32_MAX
		       ? n * 1000
		       : CND_LAG_UNKNOWN;
}

/* There is a row for each source. The columns differ between versions, so this one is found by its name. */
static int
take_lag(struct cnd_session *s, int64_t *ret_lag_ms)
{
	MYSQL_RES *result = mysql_use_result(s->my);
	unsigned at;
	MYSQL_ROW row;

	if (!result)
		return cnd_my_failed(s, NULL);
	at = find_column(result, "Seconds_Behind_");
	while ((row = mysql_fetch_row(result)) != NULL) {
		if (at < mysql_num_fields(result))
			*ret_lag_ms = worse(*ret_lag_ms, lag_of(row[at]));
	}
	mysql_free_result(result);
	return mysql_errno(s->my) ? cnd_my_failed(s, NULL) : CENOTE_OK;
}

static const char *
lag_question(const struct cnd_session *s)
{
	if (cnd_my_is_mariadb(s->my))
		return "SHOW ALL SLAVES STATUS";
	return cnd_my_server_number(s->my) >= 80022 ? "SHOW REPLICA STATUS"
						    : "SHOW SLAVE STATUS";
}

static int
ask_lag(struct cnd_session *s, int64_t *ret_lag_ms)
{
	const char *sql = lag_question(s);
	int r;

	*ret_lag_ms = CND_LAG_UNKNOWN;
	r = cnd_my_send(s, sql, strlen(sql));
	if (r == CENOTE_OK)
		r = mysql_read_query_result(s->my) == 0 ? take_lag(s, ret_lag_ms)
							: cnd_my_failed(s, NULL);
	/* the user may not ask, and the lag stays unknown */
	if (r != CENOTE_ERR_SERVER)
		return r;
	cnc_diag_clear(s->diag);
	return CENOTE_OK;
}

int
cnd_my_role(struct cnd_session *s, struct cnd_sink *sink,
	struct cnd_server_role *ret_role, struct cnc_diag *ret_diag)
{
	struct answer answer = { .has_come = false };
	int64_t lag_ms = 0;
	int r;

	/* the rest of an open result is still to be read */
	if (cnd_has_portals(s->host->statements))
		return CENOTE_ERR_UNSUPPORTED;
	r = cnd_my_enter(s, ret_diag, sink);
	if (r == CENOTE_OK)
		r = ask(s, &answer);
	if (r == CENOTE_OK && answer.is_read_only)
		r = ask_lag(s, &lag_ms);
	/* the session has lost the warnings and counts of the client's last statement */
	s->trace.is_moved = 1;
	if (r < 0)
		return r;
	*ret_role =
		(struct cnd_server_role){ .role = answer.is_read_only ? CND_ROLE_REPLICA
								      : CND_ROLE_PRIMARY,
			.is_ready = answer.is_ready,
			.lag_ms = lag_ms };
	return CENOTE_OK;
}

/* ---- position ---- */

/* Where the position goes. */
struct place {
	struct cnd_session *s;
	char *text;
};

/* gtid_current_pos has what the server wrote itself, and what it applied as a replica. */
static int
take_position(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = ((struct place *)user)->s;
	char *text = ((struct place *)user)->text;

	if (n != 2 || !row[0] || !row[1])
		return CENOTE_ERR_PROTOCOL;
	if (*row[1] == '0')
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"the server has no positions, because it writes no binary log "
			"(log_bin)");
	if (lengths[0] > CND_POSITION_MAX)
		return cnd_refuse(s->diag, CNC_SQLSTATE(LIMIT), NULL,
			"the server's gtid_current_pos is longer than %u bytes",
			CND_POSITION_MAX);
	memcpy(text, row[0], lengths[0] + 1);
	return CENOTE_OK;
}

static int
ask_position(struct cnd_session *s, char *ret_text)
{
	static const char sql[] = "SELECT @@global.gtid_current_pos, @@global.log_bin OR "
				  "@@global.read_only";
	struct place place = { s, ret_text };

	if (!cnd_my_is_mariadb(s->my))
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"only servers of MariaDB report their position");
	*ret_text = '\0';
	return cnd_my_each(s, sql, sizeof(sql) - 1, take_position, &place);
}

int
cnd_my_position(struct cnd_session *s, struct cnd_sink *sink,
	char ret_text[CND_POSITION_MAX + 1], struct cnc_diag *ret_diag)
{
	int r;

	/* the rest of an open result is still to be read */
	if (cnd_has_portals(s->host->statements))
		return CENOTE_ERR_UNSUPPORTED;
	r = cnd_my_enter(s, ret_diag, sink);
	if (r == CENOTE_OK)
		r = ask_position(s, ret_text);
	/* as in cnd_my_role() */
	s->trace.is_moved = 1;
	return r;
}

/* ---- read-only sessions ---- */

/* A row of SHOW VARIABLES. */
static int
take_mode(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	bool *is_read_only = user;

	(void)lengths;
	if (n != 2 || !row[0])
		return CENOTE_ERR_PROTOCOL;
	*is_read_only = is_on(row[1]);
	return CENOTE_OK;
}

/* MySQL and MariaDB have different names for the variable. */
static int
confirm(struct cnd_session *s)
{
	static const char sql[] =
		"SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_read_only', "
		"'transaction_read_only')";
	bool is_read_only = false;
	int r = cnd_my_each(s, sql, sizeof(sql) - 1, take_mode, &is_read_only);

	if (r < 0 || is_read_only)
		return r;
	return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
		"the server does not say that its transactions are read-only (read_only "
		"= yes)");
}

/* Set the default each time, since a statement may have changed it without a trace. The server's answer confirms it. The first
 * time, the server's variable must confirm it, too. */
int
cnd_my_read_only(struct cnd_session *s, struct cnd_sink *sink, struct cnc_diag *ret_diag)
{
	static const char sql[] = "SET SESSION TRANSACTION READ ONLY";
	int r = cnd_my_enter(s, ret_diag, sink);

	if (r == CENOTE_OK)
		r = cnd_my_run(s, sql, sizeof(sql) - 1);
	s->trace.n_sets += r == CENOTE_OK;
	if (r == CENOTE_OK && !s->is_read_only)
		r = confirm(s);
	s->is_read_only = s->is_read_only || r == CENOTE_OK;
	s->trace.is_moved = 1;
	return r;
}
