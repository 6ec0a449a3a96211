/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns the driver's diagnostic records into errors and notices. Finds out whether the session is lost. Every
 * file that calls a driver function uses it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "odbc.h"

/* A larger value buffer is freed before the next request. */
#define VALUE_KEEP  ((size_t)1 << 20)
#define DETAILS_MAX ((size_t)32 << 10)
#define TEXT_MAX    8192u
#define RECORDS_MAX 32

/* One of the driver's records. */
struct record {
	char state[6];
	SQLINTEGER native;
	char text[TEXT_MAX];
};

static int
get_record(const struct cnd_session *s, SQLSMALLINT kind, SQLHANDLE handle, int number,
	struct record *ret_record)
{
	SQLWCHAR raw[TEXT_MAX], state[6] = { 0 };
	SQLSMALLINT n = 0, max = s->is_wide ? TEXT_MAX : TEXT_MAX * 2;
	SQLRETURN rc;

	rc = CND_OD_CALL(s, SQLGetDiagRec, kind, handle, (SQLSMALLINT)number,
		(void *)state, &ret_record->native, (void *)raw, max, &n);
	if (!CND_OD_OK(rc))
		return 0;
	if (n >= max)
		n = (SQLSMALLINT)(max - 1);
	cnd_od_text_take(s, raw, (size_t)n, ret_record->text, sizeof(ret_record->text));
	cnd_od_text_take(s, state, 5, ret_record->state, sizeof(ret_record->state));
	if (!cnc_sqlstate_is_valid(ret_record->state))
		memcpy(ret_record->state, CNC_SQLSTATE(GENERAL), 6);
	return 1;
}

/* ---- what a state means ---- */

/*
 * Clients get the driver's SQLSTATE unchanged, except where ODBC has another state than every other
 * interface. Then they get the common state, and the driver's own state as field X.
 */
static const struct {
	const char *from;
	const char *to;
} states[] = {
	{ "HY008", "57014" }, /* operation canceled */
	{ "HY018",
		"57014" }, /* MariaDB's: the server declined, since it was told to stop */
	{ "S1008", "57014" },
	{ "07002", "07001" }, /* wrong number of parameters */
	{ "S0001", "42S01" }, /* ODBC 2's names */
	{ "S0002", "42S02" },
	{ "S0022", "42S22" },
	{ "S1000", "HY000" },
};

static const char *
state_of(const char *state)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (strcmp(states[i].from, state) == 0)
			return states[i].to;
	}
	return state;
}

static int
is_dead(struct cnd_session *s)
{
	SQLUINTEGER dead = SQL_CD_FALSE;

	return s->dbc &&
	       CND_OD_OK(SQLGetConnectAttr(
		       s->dbc, SQL_ATTR_CONNECTION_DEAD, &dead, SQL_IS_UINTEGER, NULL)) &&
	       dead == SQL_CD_TRUE;
}

/* Some drivers report a lost session by the SQLSTATE. Others report it only when asked. */
static int
is_loss(struct cnd_session *s, const struct record *first)
{
	if (s->quirks && first->native != 0 && first->native == s->quirks->out_of_step)
		return 1;
	/* PostgreSQL also uses this state for values that it cannot read */
	if (strcmp(first->state, "08P01") == 0)
		return is_dead(s);
	return strncmp(first->state, "08", 2) == 0 ||
	       strncmp(first->state, "57P0", 4) == 0 || is_dead(s);
}

/* ---- into the diagnostics ---- */

/* The records after the first one, one line each: "STATE NATIVE TEXT". */
static int
has_details(struct cnd_session *s, SQLSMALLINT kind, SQLHANDLE handle,
	struct record *record, struct cnc_buf *b)
{
	char head[32];
	int i, n, r = CENOTE_OK;

	for (i = 2; r == CENOTE_OK && i <= RECORDS_MAX; i++) {
		if (!get_record(s, kind, handle, i, record))
			break;
		n = snprintf(head, sizeof(head), "%s%s %d ", i > 2 ? "\n" : "",
			record->state, (int)record->native);
		r = cnc_buf_append(b, head, (size_t)n);
		if (r == CENOTE_OK)
			r = cnc_buf_append(b, record->text, strlen(record->text));
	}
	return r == CENOTE_OK && cnc_buf_len(b) > 0 && cnc_buf_u8(b, 0) == CENOTE_OK;
}

static void
take_records(struct cnd_session *s, SQLSMALLINT kind, SQLHANDLE handle,
	struct record *first, struct cnc_diag *diag)
{
	struct cnd_error e = { .severity = "ERROR",
		.state = state_of(first->state),
		.native = first->native };
	struct record other;
	struct cnc_buf details;

	e.server_state = strcmp(e.state, first->state) == 0 ? NULL : first->state;
	/* the worker loses the session, and the client must see that by the SQLSTATE class */
	if (s->is_lost && strncmp(e.state, "08", 2) != 0) {
		e.server_state = first->state;
		e.state = CNC_SQLSTATE(CONNECTION_LOST);
	}
	e.message = first->text;
	cnc_buf_init(&details, s->mem, DETAILS_MAX);
	if (has_details(s, kind, handle, &other, &details))
		e.detail = (const char *)cnc_buf_head(&details);
	cnd_error_set(diag, &e);
	cnc_buf_finish(&details);
}

/* A client that cancelled gets the server's message. After a time limit, the client gets the pool's
 * message. */
static int
fail_stopped(struct cnd_session *s, const struct record *first)
{
	struct cnd_error e = { .severity = "ERROR",
		.state = CNC_SQLSTATE(CANCELED),
		.native = first->native };

	if (s->is_lost)
		return CENOTE_ERR_CONN;
	if (s->stop != CENOTE_ERR_SERVER || !s->host->is_cancelled ||
		!s->host->is_cancelled(s->host) || !first->text[0])
		return s->stop;
	e.server_state = strcmp(first->state, e.state) == 0 ? NULL : first->state;
	e.message = first->text;
	cnd_error_set(s->diag, &e);
	return s->stop;
}

int
cnd_od_fail(struct cnd_session *s, SQLSMALLINT kind, SQLHANDLE handle)
{
	struct record first = { .state = "HY000", .text = "" };

	if (!get_record(s, kind, handle, 1, &first))
		(void)snprintf(
			first.text, sizeof(first.text), "the driver gave no reason");
	s->is_lost |= is_loss(s, &first) != 0;
	if (strcmp(first.state, CNC_SQLSTATE(TX_FAILED)) == 0)
		s->is_tx_failed = 1;
	if (s->stop < 0)
		return fail_stopped(s, &first);
	if (s->diag)
		take_records(s, kind, handle, &first, s->diag);
	return s->is_lost ? CENOTE_ERR_CONN : CENOTE_ERR_SERVER;
}

/* Warnings that our own calls cause: the driver changed an option, or a value is read in pieces. */
static int
is_ours(const char *state)
{
	return strcmp(state, "01S02") == 0 || strcmp(state, "01004") == 0 ||
	       strcmp(state, "01S07") == 0;
}

int
cnd_od_notices(struct cnd_session *s, SQLSMALLINT kind, SQLHANDLE handle)
{
	struct record record;
	struct cnc_diag notice;
	struct cnd_error e = { .severity = "ERROR" };
	int i, r = CENOTE_OK;

	if (!s->sink || !s->sink->ops->notice)
		return CENOTE_OK;
	for (i = 1; r == CENOTE_OK && i <= RECORDS_MAX; i++) {
		if (!get_record(s, kind, handle, i, &record))
			break;
		if (is_ours(record.state))
			continue;
		cnc_diag_init(&notice, s->mem);
		e.state = record.state;
		e.native = record.native;
		e.message = record.text;
		cnd_error_set(&notice, &e);
		r = s->sink->ops->notice(s->sink, &notice);
		cnc_diag_finish(&notice);
	}
	return r;
}

/* ---- requests ---- */

int
cnd_od_enter(struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink)
{
	s->diag = diag;
	s->sink = sink;
	s->stop = CENOTE_OK;
	s->is_noisy = 0;
	cnc_buf_clear(&s->value, VALUE_KEEP);
	if (!s->is_lost && s->dbc)
		return CENOTE_OK;
	cnc_diag_set(diag, CNC_SQLSTATE(CONNECTION_LOST),
		"the connection to the server is lost");
	return CENOTE_ERR_CONN;
}
