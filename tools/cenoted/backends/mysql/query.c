/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries in the text protocol, and the backend's own SQL. Passes any number of results to the sink,
 * and notes in s->trace what a statement may leave.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "my.h"
#include "values.h"

/* After this many rows, ask the host whether to stop. */
#define ASK_ROWS 64u

/* The text may set variables. Until the server has said which, the session reads later texts with care. */
static void
note_variables(struct cnd_session *s, const struct cnd_my_scan *scan)
{
	struct cnd_my_trace *t = &s->trace;

	t->n_meanings += (scan->notes & CND_MY_NOTE_MEANING) != 0;
	t->is_database_changed |= (scan->notes & CND_MY_NOTE_DATABASE) != 0;
	t->has_modes |= (scan->notes & CND_MY_NOTE_MODES) != 0;
	if (scan->notes & CND_MY_NOTE_CHARSET)
		s->reading.lexis |= CND_MY_LEXIS_NOT_UTF8;
	if (scan->notes & CND_MY_NOTE_SETS)
		cnd_my_may_have_set(s);
	if (!(scan->notes & CND_MY_NOTE_VARIABLES))
		return;
	if (cnd_my_is_mariadb(s->my))
		t->user_variables = CND_MY_UNASKED;
	else
		t->pins |= CENOTE_PIN_SETTINGS;
}

void
cnd_my_may_have_set(struct cnd_session *s)
{
	if (s->variables.list)
		s->trace.variables = CND_MY_UNASKED;
	else
		s->trace.pins |= CENOTE_PIN_SETTINGS;
}

/* Learn how the server reads the next text. MariaDB says it with each answer. */
void
cnd_my_learn_modes(struct cnd_session *s)
{
	unsigned modes = cnd_my_modes(s);

	if (!s->trace.has_modes)
		return;
	if (!cnd_my_is_mariadb(s->my)) {
		s->reading.lexis |= CND_MY_LEXIS_UNSURE;
		return;
	}
	s->reading.lexis &=
		~(uint32_t)(CND_MY_LEXIS_ANSI_QUOTES | CND_MY_LEXIS_NO_BACKSLASH);
	if (modes & CND_MY_STATUS_ANSI_QUOTES)
		s->reading.lexis |= CND_MY_LEXIS_ANSI_QUOTES;
	if (modes & CND_MY_STATUS_NO_BACKSLASH)
		s->reading.lexis |= CND_MY_LEXIS_NO_BACKSLASH;
}

uint32_t
cnd_my_sql_rules(struct cnd_session *s, const char *sql, size_t len)
{
	/* the last answer may have said something new */
	cnd_my_learn_modes(s);
	return cnd_my_rules(sql, len, s->reading.lexis);
}

void
cnd_my_note(struct cnd_session *s, const struct cnd_my_scan *scan)
{
	note_variables(s, scan);
	s->trace.running = scan->notes;
	s->trace.n_running_drops = scan->n_drops;
	s->trace.doubts |= scan->notes & (CND_MY_NOTE_QUIET | CND_MY_NOTE_WIDE);
	cnd_my_locks_note(s, scan);
	s->trace.pins |= scan->pins;
	s->trace.notes |= scan->notes;
	s->trace.has_hidden |= (scan->notes & CND_MY_NOTE_HIDES) != 0;
	s->trace.may_hide |= (s->hidden.is_told || s->hidden.is_counted) &&
			     scan->notes & CND_MY_NOTE_HIDES;
	s->trace.changes_login = (scan->notes & CND_MY_NOTE_LOGIN) != 0;
	s->trace.has_new_id |= (scan->notes & CND_MY_NOTE_SILENT_ID) != 0;
	s->trace.may_fail_with_id = (scan->notes & CND_MY_NOTE_ID) != 0;
}

int
cnd_my_is_tableless(const struct cnd_session *s, const char *sql, size_t len)
{
	const char *p = sql, *end = sql + len;

	if (!cnd_my_is_select(sql, len, s->reading.lexis))
		return 0;
	/* "from" in a text or comment counts as a table, which does no harm; MySQL's TABLE t has a
	 * table without FROM */
	for (; end - p >= 4; p++) {
		if ((*p == 'f' || *p == 'F') && strncasecmp(p, "from", 4) == 0)
			return 0;
		if ((*p == 't' || *p == 'T') && end - p >= 5 &&
			strncasecmp(p, "table", 5) == 0)
			return 0;
		if (*p == ';' || *p == '/')
			return 0;
	}
	return 1;
}

static void
note_text(struct cnd_session *s, const char *sql, size_t len, struct cnd_my_scan *scan)
{
	/* a change of a setting may have changed sql_mode, so texts cannot be read with certainty */
	if (s->trace.pins & CENOTE_PIN_SETTINGS)
		scan->pins |= CENOTE_PIN_FUNCTION;
	cnd_my_note(s, scan);
	if (!s->trace.may_have_set && !cnd_my_is_tableless(s, sql, len))
		s->trace.has_touched = s->trace.may_have_set = 1;
}

static void
take(unsigned *count, unsigned n)
{
	*count -= n < *count ? n : *count;
}

/* How many temporary tables the running statement has dropped for certain. */
static unsigned
count_drops(const struct cnd_session *s)
{
	const struct cnd_my_trace *t = &s->trace;

	if (!(t->running & CND_MY_NOTE_DROPS))
		return 0;
	/* a table that was not there gives a warning, unless the client has switched that off */
	if (t->running & CND_MY_NOTE_IF_EXISTS &&
		(t->doubts & CND_MY_NOTE_QUIET || mysql_warning_count(s->my) > 0))
		return 0;
	return t->n_running_drops;
}

/* The running statement has succeeded. */
static void
count_running(struct cnd_session *s)
{
	struct cnd_my_trace *t = &s->trace;
	uint32_t notes = t->running;
	unsigned n_drops = count_drops(s);

	t->running = 0;
	/* the server counts these together: see settle.c */
	t->n_sets += (notes & (CND_MY_NOTE_SETS | CND_MY_NOTE_CREATES)) != 0;
	t->n_prepared += (notes & CND_MY_NOTE_PREPARES) != 0;
	take(&t->n_prepared, (notes & CND_MY_NOTE_DEALLOCATES) != 0);
	t->n_temporary += (notes & CND_MY_NOTE_CREATES) != 0;
	take(&t->n_temporary, n_drops);
	if (notes & CND_MY_NOTE_LOCKS_TABLES)
		t->has_table_locks = 1;
	if (notes & CND_MY_NOTE_UNLOCKS_TABLES)
		t->has_table_locks = 0;
	if (notes & CND_MY_NOTE_RELEASES) {
		t->has_locks = 0;
		cnd_my_locks_forget(s);
	}
}

uint32_t
cnd_my_pins_of_texts(const struct cnd_session *s)
{
	const struct cnd_my_trace *t = &s->trace;

	return (t->n_prepared > 0 ? CENOTE_PIN_PREPARED : 0u) |
	       (t->n_temporary > 0 ? CENOTE_PIN_TEMP : 0u) |
	       (t->has_table_locks || t->has_locks ? CENOTE_PIN_LOCK : 0u);
}

void
cnd_my_done(struct cnd_session *s, struct cnp_done *ret_done)
{
	const char *info = mysql_info(s->my);
	unsigned status = cnd_my_status(s->my);
	uint64_t affected = mysql_affected_rows(s->my);

	if (s->trace.changes_login && s->host->login_changed)
		s->host->login_changed(s->host);
	*ret_done = (struct cnp_done){ .tag = info ? cnp_str(info) : CNP_STR_NONE,
		.affected = affected == UINT64_MAX ? -1 : (int64_t)affected,
		.last_insert_id = mysql_insert_id(s->my),
		.warnings = mysql_warning_count(s->my),
		.server_status = status };
	s->trace.has_new_id |= ret_done->last_insert_id != 0;
	s->trace.has_run = 1;
	count_running(s);
	if (status & CND_MY_STATUS_MORE)
		ret_done->flags |= CNP_DONE_MORE_RESULTS;
}

int
cnd_my_answer_done(struct cnd_session *s, const char *tag, struct cnd_sink *sink)
{
	struct cnp_done done;

	cnd_my_done(s, &done);
	if (done.tag.n == 0)
		done.tag = cnp_str(tag);
	return sink->ops->done(sink, &done);
}

int
cnd_my_columns(struct cnd_session *s, const MYSQL_FIELD *fields, uint32_t n,
	const struct cnd_exec *exec, struct cnp_column **ret_columns)
{
	struct cnp_column *columns;
	uint32_t i;
	size_t size;

	if (exec->formats.n > 0 && exec->formats.n != n)
		return cnd_refuse(s->diag, CNC_SQLSTATE(PROTOCOL), NULL,
			"%zu formats were given for %u columns", exec->formats.n,
			(unsigned)n);
	if (__builtin_mul_overflow(n + (size_t)1, sizeof(*columns), &size))
		return CENOTE_ERR_NOMEM;
	columns = cnc_arena_alloc(&s->arena, size);
	if (!columns)
		return CENOTE_ERR_NOMEM;
	for (i = 0; i < n; i++)
		cnd_my_column(&fields[i],
			exec->formats.n > 0 ? (uint8_t)exec->formats.p[i] : exec->format,
			&columns[i]);
	*ret_columns = columns;
	return CENOTE_OK;
}

/* Read and discard the rest of all results of a request. */
static void
drain_results(struct cnd_session *s, MYSQL_RES *result)
{
	/* this fetches the rest of an unbuffered result */
	if (result)
		mysql_free_result(result);
	while (mysql_more_results(s->my) && mysql_next_result(s->my) == 0) {
		result = mysql_use_result(s->my);
		if (result)
			mysql_free_result(result);
	}
	if (mysql_errno(s->my) >= CR_MIN_ERROR && mysql_errno(s->my) <= CR_MAX_ERROR)
		s->is_lost = 1;
}

/* CENOTE_ROW, CENOTE_OK at the end of the rows, or a failure. */
static int
put_next(struct cnd_session *s, MYSQL_RES *result, const struct cnp_column *columns,
	uint32_t n, enum cnd_my_protocol protocol, struct cnc_batch *w)
{
	int r = cnd_my_put_ahead(s, columns, n, protocol, w);
	MYSQL_ROW row;

	if (r != CENOTE_DONE)
		return r;
	row = mysql_fetch_row(result);
	if (!row)
		return mysql_errno(s->my) ? cnd_my_failed(s, NULL) : CENOTE_OK;
	r = cnd_my_put_text(s, columns, n, row, mysql_fetch_lengths(result), w);
	return r < 0 ? r : CENOTE_ROW;
}

/* Send the rows of a result in the text protocol. CENOTE_OK at their end, CENOTE_DONE when the sink
 * has enough, or a failure. */
static int
send_rows(struct cnd_session *s, MYSQL_RES *result, const struct cnp_column *columns,
	uint32_t n, struct cnd_sink *sink)
{
	enum cnd_my_protocol protocol =
		cnd_my_are_plain(columns, n) ? CND_MY_PLAIN : CND_MY_TEXT;
	uint32_t count = 0;
	int r;

	while ((r = put_next(s, result, columns, n, protocol, sink->batch)) ==
		CENOTE_ROW) {
		r = sink->ops->row_done(sink);
		/* a result in the text protocol cannot be left open, so it comes as a whole */
		if (r == CENOTE_AGAIN)
			r = CENOTE_OK;
		if (r == CENOTE_OK && ++count % ASK_ROWS == 0)
			r = cnd_my_interrupted(s);
		if (r != CENOTE_OK)
			return r;
	}
	return r;
}

/* Send one result with rows, and its done(). */
static int
answer_rows(struct cnd_session *s, const struct cnd_exec *exec,
	const struct cnp_column *given, struct cnd_sink *sink)
{
	MYSQL_RES *result = mysql_use_result(s->my);
	struct cnp_column *columns = NULL;
	struct cnp_done done;
	uint32_t n;
	int r;

	if (!result)
		return cnd_my_failed(s, NULL);
	n = mysql_num_fields(result);
	r = given ? CENOTE_OK
		  : cnd_my_columns(s, mysql_fetch_fields(result), n, exec, &columns);
	if (r == CENOTE_OK) {
		cnd_my_tell_more(s);
		r = sink->ops->columns(sink, given ? given : columns, n, 0);
	}
	if (r == CENOTE_OK)
		r = send_rows(s, result, given ? given : columns, n, sink);
	if (r < 0) {
		drain_results(s, result);
		return r;
	}
	mysql_free_result(result);
	cnd_my_done(s, &done);
	done.affected = -1;
	if (r == CENOTE_DONE)
		done.flags |= CNP_DONE_LIMITED;
	return sink->ops->done(sink, &done);
}

static int
answer_ok(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnp_done done;
	int r = cnd_my_track(s);

	if (r < 0)
		return r;
	cnd_my_done(s, &done);
	return sink->ops->done(sink, &done);
}

/* Send all results of a request after the first one was read. */
static int
answer_all(struct cnd_session *s, const struct cnd_exec *exec,
	const struct cnp_column *columns, struct cnd_sink *sink)
{
	int r;

	for (;;) {
		r = mysql_field_count(s->my) > 0 ? answer_rows(s, exec, columns, sink)
						 : answer_ok(s, sink);
		if (r < 0) {
			if (!s->is_lost)
				drain_results(s, NULL);
			return r;
		}
		if (!mysql_more_results(s->my))
			return CENOTE_OK;
		r = cnd_my_next_result(s);
		if (r < 0)
			return r;
	}
}

/* Send a text and read the first answer. */
static int
send_text(struct cnd_session *s, const char *sql, size_t len)
{
	int r = cnd_my_send(s, sql, len);

	if (r == CENOTE_OK && mysql_read_query_result(s->my) != 0)
		r = cnd_my_failed(s, NULL);
	return r;
}

int
cnd_my_check_moved(struct cnd_session *s, const struct cnd_my_scan *scan)
{
	uint32_t recalls = CND_MY_NOTE_RECALLS_NUMBER;

	if (!s->hidden.is_told)
		recalls |= CND_MY_NOTE_RECALLS;
	if (scan->notes & recalls && s->trace.had_hidden && !s->trace.has_touched &&
		s->trace.pins == 0)
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED),
			"Read it within the transaction that sets it, or use a pool with "
			"mode=session.",
			"user variables and the last values of sequences are of one "
			"session, and it was exchanged since");
	if (!s->trace.is_moved)
		return CENOTE_OK;
	if (scan->notes & CND_MY_NOTE_ASKS)
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED),
			"Ask within the transaction, or use a pool with mode=session.",
			"ROW_COUNT(), FOUND_ROWS(), @@last_gtid and warnings are of the "
			"statement before, and the session was exchanged since");
	s->trace.is_moved = 0;
	return CENOTE_OK;
}

/* Run the text as a statement prepared for this one use. */
static int
query_prepared(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	int r = cnd_my_reset_now(s);

	s->trace.has_done_more = 1;
	return r == CENOTE_OK ? cnd_my_query_prepared(s, sql, len, exec, sink) : r;
}

static int
answer_empty(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnp_done done = { .tag = CNP_STR_NONE,
		.affected = -1,
		.server_status = cnd_my_status(s->my),
		.flags = CNP_DONE_EMPTY };

	cnc_diag_clear(s->diag);
	return sink->ops->done(sink, &done);
}

int
cnd_my_after_error(struct cnd_session *s, int r)
{
	s->trace.has_new_id |= r < 0 && s->trace.may_fail_with_id;
	if (r == CENOTE_ERR_SERVER && !s->is_lost &&
		(cnd_my_status(s->my) & SERVER_STATUS_IN_TRANS ||
			s->trace.notes & CND_MY_NOTE_OPAQUE ||
			s->trace.running & CND_MY_NOTE_MODES) &&
		!s->wait.is_killed &&
		cnd_my_refresh_status(s->my, s->wants.is_single) != 0)
		s->is_lost = 1;
	return r;
}

int
cnd_my_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	int is_binary =
		exec->format == CENOTE_FORMAT_BINARY ||
		(exec->formats.n > 0 &&
			memchr(exec->formats.p, CENOTE_FORMAT_BINARY, exec->formats.n));
	struct cnd_my_scan scan;
	int r = cnd_my_enter_only(s, sink->diag, sink);

	if (r < 0)
		return r;
	cnd_my_learn_modes(s);
	cnd_my_scan(sql, len, &s->reading, &scan);
	r = cnd_my_check_strict(s, &scan);
	if (r == CENOTE_OK)
		r = cnd_my_check_moved(s, &scan);
	if (r < 0)
		return r;
	note_text(s, sql, len, &scan);
	if (scan.notes & CND_MY_NOTE_EMPTY)
		return answer_empty(s, sink);
	if (!exec->is_simple || is_binary || exec->batch_rows > 0) {
		r = query_prepared(s, sql, len, exec, sink);
		if (r != CENOTE_DONE)
			return cnd_my_after_error(s, r);
	}
	r = cnd_my_set_several(s, sql, len);
	if (r == CENOTE_OK)
		r = send_text(s, sql, len);
	if (r == CENOTE_OK)
		r = answer_all(s, exec, NULL, sink);
	return cnd_my_after_error(s, r);
}

/* The server has no functions with numbers, only commands. All commands but COM_DEBUG have a message
 * or a statement of their own. */
int
cnd_my_function(struct cnd_session *s, uint32_t function, const struct cnd_exec *exec,
	struct cnd_sink *sink)
{
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (function != COM_DEBUG || exec->n_params > 0)
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"the only command that is called by its number is %d, COM_DEBUG, "
			"without parameters",
			(int)COM_DEBUG);
	if (mysql_dump_debug_info(s->my) != 0)
		return cnd_my_failed(s, NULL);
	return cnd_my_answer_done(s, "DEBUG", sink);
}

int
cnd_my_answer(struct cnd_session *s, const char *sql, size_t len,
	const struct cnp_column *columns, uint32_t n, struct cnd_sink *sink)
{
	struct cnd_exec exec = { .format = CENOTE_FORMAT_CANONICAL };
	int r = send_text(s, sql, len);

	if (r < 0)
		return r;
	if (mysql_field_count(s->my) != n) {
		drain_results(s, mysql_use_result(s->my));
		return cnd_refuse(s->diag, CNC_SQLSTATE(INTERNAL), NULL,
			"the server gave another number of columns than %u", (unsigned)n);
	}
	return answer_all(s, &exec, columns, sink);
}

/* Read one answer to our own SQL. */
static int
take_answer(struct cnd_session *s, cnd_my_each_fn *each, void *user)
{
	MYSQL_RES *result;
	MYSQL_ROW row;
	int r = CENOTE_OK;

	if (mysql_field_count(s->my) == 0)
		return cnd_my_track(s);
	result = mysql_use_result(s->my);
	if (!result)
		return cnd_my_failed(s, NULL);
	while (r == CENOTE_OK && (row = mysql_fetch_row(result)) != NULL) {
		if (each)
			r = each(user, row, mysql_fetch_lengths(result),
				mysql_num_fields(result));
	}
	if (r == CENOTE_OK && mysql_errno(s->my))
		r = cnd_my_failed(s, NULL);
	mysql_free_result(result);
	return r;
}

int
cnd_my_each(struct cnd_session *s, const char *sql, size_t len, cnd_my_each_fn *each,
	void *user)
{
	int r = send_text(s, sql, len);

	while (r == CENOTE_OK) {
		r = take_answer(s, each, user);
		if (r < 0 || !mysql_more_results(s->my))
			break;
		r = cnd_my_next_result(s);
	}
	if (r < 0 && !s->is_lost)
		drain_results(s, NULL);
	return r;
}

int
cnd_my_run(struct cnd_session *s, const char *sql, size_t len)
{
	return cnd_my_each(s, sql, len, NULL, NULL);
}
