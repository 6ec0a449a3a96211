/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the server and ct-library say: errors become diagnostics, the rest becomes notices. It owns s->has_error
 * and s->said. The library calls it through its message handlers.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/value.h"

#include "tds.h"

/* From the first severity on, a server's message is an error. From the second on, it ends the
 * session. */
#define IS_ERROR             11
#define IS_FATAL             20
/* "Timed out": libtds' number, which ct-library passes on. */
#define MSG_TIMED_OUT        20003
/* libtds' numbers for characters that cannot be converted from one character set into the other. */
#define MSG_CONVERSION_FIRST 2400
#define MSG_CONVERSION_LAST  2404

#define AS(name) CNC_SQLSTATE_INDEX_##name

/*
 * This server tells no SQLSTATEs. These numbers say plainly what happened. All others become 42000
 * or HY000, by their severity. Where the standard has no SQLSTATE, PostgreSQL's is used. Sorted.
 */
static const struct {
	uint32_t number;
	int16_t state; /* index of one of our SQLSTATEs */
} codes[] = {
	{ 102, AS(SYNTAX) }, /* incorrect syntax near */
	{ 103, AS(SYNTAX) }, /* a name that is too long */
	{ 105, AS(SYNTAX) }, /* unclosed quotation mark */
	{ 110, AS(SYNTAX) }, /* fewer columns than values */
	{ 113, AS(SYNTAX) }, /* missing end of comment */
	{ 137, AS(NO_OBJECT) }, /* variable that was not declared */
	{ 156, AS(SYNTAX) }, /* incorrect syntax near the keyword */
	{ 170, AS(SYNTAX) },
	{ 201, AS(WRONG_PARAM_COUNT) }, /* a procedure's parameter that was not given */
	{ 207, AS(NO_COLUMN) }, /* invalid column name */
	{ 208, AS(NO_TABLE) }, /* invalid object name */
	{ 220, AS(OUT_OF_RANGE) }, /* arithmetic overflow */
	{ 229, AS(PRIVILEGE) }, /* permission denied on object */
	{ 230, AS(PRIVILEGE) }, { 232, AS(OUT_OF_RANGE) },
	{ 241, AS(BAD_DATETIME) }, /* conversion of date */
	{ 242, AS(BAD_DATETIME) }, { 245, AS(BAD_CAST) }, /* conversion failed */
	{ 262, AS(PRIVILEGE) },
	{ 266, AS(BAD_TX) }, /* transaction count does not match */
	{ 295, AS(BAD_DATETIME) }, { 300, AS(PRIVILEGE) }, { 319, AS(SYNTAX) },
	{ 515, AS(NOT_NULL) }, /* cannot insert NULL */
	{ 517, AS(BAD_DATETIME) },
	{ 547, AS(FOREIGN_KEY) }, /* FOREIGN KEY, REFERENCE, or CHECK */
	{ 628, AS(NO_SAVEPOINT) }, /* SAVE without a transaction */
	{ 701, AS(NO_MEMORY) }, { 911, AS(NO_CATALOG) }, /* no such database */
	{ 916, AS(PRIVILEGE) }, { 1105, AS(DISK_FULL) },
	{ 1204, AS(RESOURCES) }, /* no more locks */
	{ 1205, AS(SERIALIZATION) }, /* deadlock */
	{ 1222, AS(LOCKED) }, /* lock time-out */
	{ 1505, AS(UNIQUE) }, { 1801, AS(DUPLICATE_DATABASE) },
	{ 2601, AS(UNIQUE) }, /* of an index */
	{ 2627, AS(UNIQUE) }, /* of a constraint */
	{ 2628, AS(TRUNCATED) }, /* too long for its column */
	{ 2705, AS(SYNTAX) },
	{ 2714, AS(DUPLICATE_TABLE) }, /* there is already an object */
	{ 3701, AS(NO_TABLE) }, /* cannot drop */
	{ 3902, AS(BAD_TX) }, /* COMMIT without BEGIN */
	{ 3903, AS(BAD_TX) }, /* ROLLBACK without BEGIN */
	{ 3906, AS(READ_ONLY) }, { 3930, AS(TX_FAILED) }, /* can only be rolled back */
	{ 3931, AS(TX_FAILED) }, { 3960, AS(SERIALIZATION) }, /* snapshot conflict */
	{ 4060, AS(NO_CATALOG) }, /* cannot open the database of the login */
	{ 4064, AS(NO_CATALOG) }, { 4104, AS(NO_COLUMN) },
	{ 4121, AS(NO_OBJECT) }, /* no such function */
	{ 6401, AS(NO_SAVEPOINT) }, /* ROLLBACK to an unknown savepoint */
	{ 8114, AS(BAD_CAST) }, { 8115, AS(OUT_OF_RANGE) },
	{ 8144, AS(WRONG_PARAM_COUNT) }, /* too many arguments */
	{ 8145, AS(WRONG_PARAM_COUNT) }, { 8152, AS(TRUNCATED) },
	{ 8169, AS(BAD_CAST) }, /* to uniqueidentifier */
	{ 8178, AS(WRONG_PARAM_COUNT) }, { 9002, AS(DISK_FULL) }, { 9803, AS(DATA) },
	{ 10060, AS(CANNOT_CONNECT) }, { 10928, AS(TOO_MANY) }, { 17809, AS(TOO_MANY) },
	{ 18452, AS(BAD_LOGIN) }, { 18456, AS(BAD_PASSWORD) }, /* login failed */
	{ 18486, AS(BAD_LOGIN) }, /* locked */
	{ 18487, AS(BAD_LOGIN) }, /* expired */
	{ 18488, AS(BAD_LOGIN) }, /* the password must be changed */
};

#define N_CODES (sizeof(codes) / sizeof(codes[0]))

/* Division by zero, and the number whose text alone tells a check constraint from a foreign key. */
#define MSG_DIVISION   8134
#define MSG_CONSTRAINT 547
static const char division_by_zero[] = "22012";

static const char *
find_state(const CS_SERVERMSG *m)
{
	size_t low = 0, high = N_CODES, mid;
	uint32_t number = (uint32_t)m->msgnumber;

	if (number == MSG_DIVISION)
		return division_by_zero;
	if (number == MSG_CONSTRAINT && strcasestr(m->text, "check constraint"))
		return CNC_SQLSTATE(CHECK);
	while (low < high) {
		mid = low + (high - low) / 2;
		if (codes[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < N_CODES && codes[low].number == number)
		return cnc_sqlstate_code[codes[low].state];
	return m->severity < IS_ERROR   ? CNC_SQLSTATE(WARNING)
	       : m->severity < IS_FATAL ? CNC_SQLSTATE(SYNTAX_OR_ACCESS)
					: CNC_SQLSTATE(GENERAL);
}

/* ---- what is said ---- */

static void
give_notice(struct cnd_session *s, const struct cnd_error *e)
{
	struct cnc_diag notice;

	if (!s->sink || s->said < 0)
		return;
	cnc_diag_init(&notice, s->mem);
	cnd_error_set(&notice, e);
	s->said = s->sink->ops->notice(s->sink, &notice);
	if (s->said > 0)
		s->said = 0;
	cnc_diag_finish(&notice);
}

/* Messages that interest nobody: with each login, that the database or the language is what the
 * login asked for; and that a statement was terminated, which comes after the reason. */
static int
is_chatter(CS_MSGNUM number)
{
	return number == 5701 || number == 5703 || number == 5704 || number == 3621;
}

static const char *
hint_for(CS_MSGNUM number)
{
	switch (number) {
	case 1205:
		return "The transaction was rolled back: repeat it from its beginning.";
	case 1222:
		return "Only the statement was rolled back: repeat it, or roll back the "
		       "transaction.";
	default:
		return NULL;
	}
}

static struct cnd_session *
session_of(CS_CONTEXT *ctx)
{
	struct cnd_session *s = NULL;
	CS_INT len = 0;

	return cs_config(ctx, CS_GET, CS_USERDATA, &s, sizeof(s), &len) == CS_SUCCEED
		       ? s
		       : NULL;
}

static CS_RETCODE
on_server(CS_CONTEXT *ctx, CS_CONNECTION *con, CS_SERVERMSG *said)
{
	struct cnd_session *s = session_of(ctx);
	char level[40];
	struct cnd_error e = { .level = level,
		.state = find_state(said),
		.severity = said->severity >= IS_FATAL   ? "FATAL"
			    : said->severity >= IS_ERROR ? "ERROR"
							 : "INFO",
		.message = said->text,
		.hint = hint_for(said->msgnumber),
		.procedure = said->proc,
		.native = said->msgnumber,
		.line = said->line };

	(void)con;
	if (s && s->diag)
		cnd_tds_on_message(s);
	/* a cancelled client knows why its statement fails */
	if (!s || !s->diag || s->stop < 0 || is_chatter(said->msgnumber))
		return CS_SUCCEED;
	/* as the server's own clients print it */
	(void)snprintf(level, sizeof(level), "Level %d, State %d", (int)said->severity,
		(int)said->state);
	e.server = *said->svrname ? said->svrname : s->server;
	if (said->severity < IS_ERROR || s->has_error) {
		give_notice(s, &e);
	} else {
		s->has_error = 1;
		cnd_error_set(s->diag, &e);
	}
	return CS_SUCCEED;
}

/*
 * The library is in the middle of sending a statement, and would end it there. Half a statement may
 * do something else than the whole. If the connection is closed, the server never gets the end of
 * the statement.
 */
static CS_RETCODE
break_off(struct cnd_session *s)
{
	s->is_lost = 1;
	s->has_error = 1;
	cnc_diag_set(s->diag, CNC_SQLSTATE(CONNECTION_LOST),
		"a character of the statement cannot be converted for %s: the connection "
		"was closed before it was sent",
		s->server);
	if (s->fd >= 0)
		(void)shutdown(s->fd, SHUT_RDWR);
	return CS_FAIL;
}

/* The library's words are of use only if nothing better is known. */
static CS_RETCODE
on_library(CS_CONTEXT *ctx, CS_CONNECTION *con, CS_CLIENTMSG *said)
{
	struct cnd_session *s = session_of(ctx);

	(void)con;
	if (!s || !s->diag)
		return CS_FAIL;
	if (said->msgnumber == MSG_TIMED_OUT)
		return cnd_tds_on_silence(s);
	if (s->is_sending && said->msgnumber >= MSG_CONVERSION_FIRST &&
		said->msgnumber <= MSG_CONVERSION_LAST)
		return break_off(s);
	if (s->stop == 0 && !s->has_error)
		cnc_diag_set(s->diag,
			s->is_logging_in ? CNC_SQLSTATE(CANNOT_CONNECT)
					 : CNC_SQLSTATE(CONNECTION_LOST),
			"%s: %s", s->server, said->msgstring);
	return CS_FAIL;
}

void
cnd_tds_listen(struct cnd_session *s)
{
	CS_SERVERMSG_FUNC server = on_server;
	CS_CLIENTMSG_FUNC library = on_library;
	CS_VOID *function;

	memcpy(&function, &server, sizeof(function));
	(void)ct_callback(s->ctx, NULL, CS_SET, CS_SERVERMSG_CB, function);
	memcpy(&function, &library, sizeof(function));
	(void)ct_callback(s->ctx, NULL, CS_SET, CS_CLIENTMSG_CB, function);
}

/* ---- how a request ends ---- */

static int
is_alive(struct cnd_session *s)
{
	CS_INT status = 0;

	if (!s->con || s->is_lost)
		return 0;
	if (ct_con_props(s->con, CS_GET, CS_CON_STATUS, &status, CS_UNUSED, NULL) !=
		CS_SUCCEED)
		return 0;
	return status & CS_CONSTAT_CONNECTED && !(status & CS_CONSTAT_DEAD);
}

int
cnd_tds_failed(struct cnd_session *s)
{
	if (!is_alive(s)) {
		s->is_lost = 1;
		if (s->stop == 0 && s->is_silent)
			cnc_diag_set(s->diag, CNC_SQLSTATE(CONNECTION_LOST),
				"%s did not answer within %u s", s->server,
				s->opt.timeout);
		else if (s->stop == 0 && !s->has_error)
			cnc_diag_set(s->diag, CNC_SQLSTATE(CONNECTION_LOST),
				"%s closed the connection", s->server);
		return CENOTE_ERR_CONN;
	}
	if (s->stop < 0)
		return s->stop;
	if (s->said < 0)
		return s->said;
	if (!s->has_error)
		return cnd_refuse(s->diag, CNC_SQLSTATE(GENERAL), NULL,
			"%s failed, and did not say why", s->server);
	return CENOTE_ERR_SERVER;
}
