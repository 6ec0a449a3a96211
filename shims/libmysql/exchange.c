/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include "core/sql.h"

#include <stdlib.h>
#include <string.h>

/*
 * The answer to a request: its results one after the other, and the state in between. It owns
 * cmy_session.state, and updates MYSQL.status, which programs read, together with it. Every result
 * is read as a stream, because the program decides only later, with mysql_store_result() or
 * mysql_use_result(), whether to keep the rows. All files that send a request call this file.
 */

#define ER_EMPTY_QUERY 1065u

/* The status bits that a server sends with the columns. The other bits still have the values of the
 * previous statement. */
#define LASTING                                                                          \
	(SERVER_STATUS_IN_TRANS | SERVER_STATUS_AUTOCOMMIT |                             \
		SERVER_STATUS_NO_BACKSLASH_ESCAPES | SERVER_STATUS_ANSI_QUOTES)

/* ---- facts from a result ---- */

/* Keep MySQL's "Records: 3  Duplicates: 0 …". The command tags of other servers do not belong in
 * MYSQL.info. */
static void
take_info(struct cmy_session *s, const cenote_result *res)
{
	const char *info = cenote_result_tag(res);

	s->my->info = NULL;
	if (s->backend != CMY_BACKEND_MYSQL || *info == '\0')
		return;
	snprintf(s->info, sizeof(s->info), "%s", info);
	s->my->info = s->info;
}

void
cmy_take_status(MYSQL *my, const cenote_result *res)
{
	struct cmy_session *s = my->extension;
	int64_t n = cenote_result_affected_rows(res); /* -1: this server does not count */

	my->warning_count = cenote_result_warnings(res);
	cmy_take_bits(s, res);
	/* in Oracle's protocol session changes also come at the end of rows */
	if (CMY_ORACLE || cenote_result_kind(res) == CENOTE_RESULT_COMMAND)
		cmy_track_take(s);
	if (cenote_result_kind(res) != CENOTE_RESULT_COMMAND)
		return;
	my->affected_rows = n > 0 ? (uint64_t)n : 0;
	my->insert_id = cenote_result_last_insert_id(res);
	take_info(s, res);
}

/* ---- between results ---- */

/* Read to the end of an answer, and drop its results. After the last result libcenote returns
 * CENOTE_DONE. A session that does not get there is useless, so close it. */
static void
take_end(struct cmy_session *s)
{
	cenote_result *none = NULL;
	int r;

	while ((r = cmy_get_result(s, &none)) == CENOTE_OK) {
		if (cenote_result_kind(none) == CENOTE_RESULT_COMMAND)
			s->my->insert_id = cenote_result_last_insert_id(none);
		cenote_result_destroy(none);
	}
	if (r != CENOTE_DONE)
		cmy_lose(s);
#if !CMY_ORACLE
	s->n_told_more = 0;
#endif
}

static void
be_idle(struct cmy_session *s)
{
	s->head = NULL;
	s->user = NULL;
	s->using = NULL;
	s->state = CMY_IDLE;
	s->my->status = MYSQL_STATUS_READY;
	s->my->server_status &= ~(SERVER_MORE_RESULTS_EXISTS | SERVER_PS_OUT_PARAMS);
}

void
cmy_head_over(struct cmy_session *s, const cenote_result *res)
{
	int has_more = (cenote_result_flags(res) & CENOTE_RESULT_FLAG_MORE) != 0;

	if (!has_more)
		take_end(s);
	be_idle(s);
	if (has_more)
		s->state = CMY_MORE;
	cmy_take_status(s->my, res);
}

void
cmy_drain(struct cmy_session *s)
{
	NET *net = &s->my->net;
	unsigned code = net->last_errno;
	char sqlstate[sizeof(net->sqlstate)], words[sizeof(net->last_error)];

	memcpy(sqlstate, net->sqlstate, sizeof(sqlstate));
	memcpy(words, net->last_error, sizeof(words));
	cenote_result_destroy(s->head);
	if (s->state != CMY_IDLE)
		take_end(s);
	be_idle(s);
	net->last_errno = code;
	memcpy(net->sqlstate, sqlstate, sizeof(sqlstate));
	memcpy(net->last_error, words, sizeof(words));
}

int
cmy_fail_head(struct cmy_session *s, cenote_result *res, int status)
{
	if (status == CENOTE_ERR_NOMEM || cenote_status_is_fatal(status))
		cmy_error_status(s->my, status);
	else
		cmy_error_diag(s->my, cenote_result_diag(res));
	cenote_result_destroy(res);
	s->head = NULL;
	cmy_drain(s);
	return -1;
}

static int
take_error(struct cmy_session *s, cenote_result *res)
{
	return cmy_fail_head(s, res, CENOTE_ERR_SERVER);
}

static int
take_rows(struct cmy_session *s, cenote_result *res)
{
	MYSQL *my = s->my;

	cmy_forget_query(my);
	s->head = res;
	s->state = CMY_HAS_ROWS;
	my->fields = cmy_fields_of_result(s, res);
	if (!my->fields) {
		cmy_drain(s);
		cmy_error(my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	my->field_count = cenote_result_n_columns(res);
	my->status = MYSQL_STATUS_GET_RESULT;
#if !CMY_ORACLE
	/* MariaDB's protocol sends this status with the columns, Oracle's sends none */
	cmy_take_known_status(s);
	my->server_status &= LASTING;
	if (s->n_told_more > 0) {
		s->n_told_more--;
		my->server_status |= SERVER_MORE_RESULTS_EXISTS;
	}
	my->warning_count = 0;
#endif
	return 0;
}

/* Reset the connection's members for an answer without rows. */
static void
begin_command(MYSQL *my)
{
	cmy_forget_query(my);
#if !CMY_ORACLE
	/* sic: an SQLSTATE that was set between sending and reading stays */
	my->net.last_errno = 0;
	my->net.last_error[0] = '\0';
#endif
}

/*
 * PostgreSQL has rows without columns; MySQL does not. A program sees no fields, takes the answer
 * for a command's, and reads no rows. So read the rows here.
 */
static int
take_bare_rows(struct cmy_session *s, cenote_result *res)
{
	uint64_t n = cenote_result_n_rows(res);
	int r;

	while ((r = cenote_result_next(res)) == CENOTE_AGAIN || r == CENOTE_ROW) {
		if (r == CENOTE_ROW)
			n += cenote_result_n_rows(res);
		else if (cmy_wait(s) < 0)
			return cmy_fail_head(s, res, CENOTE_ERR_CONN);
	}
	if (r < 0)
		return cmy_fail_head(s, res, r);
	begin_command(s->my);
	cmy_head_over(s, res);
	s->my->affected_rows = n;
	s->my->insert_id = 0;
	cenote_result_destroy(res);
	return 0;
}

static int
take_command(struct cmy_session *s, cenote_result *res)
{
	int is_empty = (cenote_result_flags(res) & CENOTE_RESULT_FLAG_EMPTY) != 0;

	/* every MySQL server reports this for a text without a statement, unless the text has a
	 * comment */
	if (is_empty && s->is_blank) {
		cenote_result_destroy(res);
		cmy_drain(s);
		cmy_error_text(s->my, ER_EMPTY_QUERY, "42000", "Query was empty");
		return -1;
	}
	begin_command(s->my);
	cmy_head_over(s, res);
	cenote_result_destroy(res);
	return 0;
}

/* Refuse a COPY of PostgreSQL: this API has no call for it. */
static int
refuse(struct cmy_session *s, cenote_result *res)
{
	cenote_result_destroy(res);
	cmy_drain(s);
	cmy_error(s->my, CR_NOT_IMPLEMENTED, NULL);
	return -1;
}

/* The server asks for a file. 0, or -1 and the program's error is set, whatever the server answers. */
static int
answer_copy(struct cmy_session *s, cenote_result *request)
{
	int r = cmy_infile(s, request);

	cenote_result_destroy(request);
	if (r < 0)
		cmy_drain(s);
	return r;
}

int
cmy_next_head(struct cmy_session *s)
{
	cenote_result *res = NULL;
	int r = cmy_get_result(s, &res);

	if (r == CENOTE_OK && cenote_result_kind(res) == CENOTE_RESULT_COPY_IN) {
		cmy_forget_query(s->my);
		if (answer_copy(s, res) < 0)
			return -1;
		r = cmy_get_result(s, &res);
	}
	if (r != CENOTE_OK) {
		if (r < 0)
			cmy_lose(s);
		be_idle(s);
		return r < 0 ? -1 : 0;
	}
	switch (cenote_result_kind(res)) {
	case CENOTE_RESULT_ROWS:
		return cenote_result_n_columns(res) > 0 ? take_rows(s, res)
							: take_bare_rows(s, res);
	case CENOTE_RESULT_COMMAND:
		return take_command(s, res);
	case CENOTE_RESULT_ERROR:
		return take_error(s, res);
	default:
		return refuse(s, res);
	}
}

/* ---- SQL of the shim's own ---- */

uint32_t
cmy_format(const struct cmy_session *s)
{
	return s->backend == CMY_BACKEND_MYSQL ? CENOTE_FORMAT_TEXT
					       : CENOTE_FORMAT_CANONICAL;
}

int
cmy_first_result(struct cmy_session *s, cenote_result **ret_res)
{
	cenote_result *res = NULL;
	int r = cmy_get_result(s, &res);

	s->state = CMY_MORE;
	if (r != CENOTE_OK) {
		cmy_lose(s);
		s->state = CMY_IDLE;
		return -1;
	}
	if (cenote_result_kind(res) == CENOTE_RESULT_ERROR)
		return take_error(s, res);
	cmy_drain(s);
	cmy_take_status(s->my, res);
	*ret_res = res;
	return 0;
}

int
cmy_run(struct cmy_session *s, const char *sql, cenote_result **ret_res)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res = NULL;

	options.format = cmy_format(s);
	if (cmy_check(s, cenote_send_query(s->conn, sql, CENOTE_NTS, NULL, &options)) <
			0 ||
		cmy_first_result(s, &res) < 0)
		return -1;
	if (ret_res)
		*ret_res = res;
	else
		cenote_result_destroy(res);
	return 0;
}

/* ---- texts ---- */

void
cmy_note_text(struct cmy_session *s, const char *sql, size_t len)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_MYSQL);
	struct cnc_sql_token t = cnc_sql_next(&x);
	int is_end = t.kind == CNC_SQL_END || cnc_sql_is_char(&t, ';');

	/* only at the very beginning, without blanks before it: the originals look at the first bytes */
	s->is_load = t.p == sql && cnc_sql_is(&t, "load");
	s->is_blank = is_end && !(x.seen & CNC_SQL_SEEN_COMMENT);
}
