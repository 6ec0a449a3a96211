/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resets a session to the state after a new login: runs the server's own reset, and clears what that
 * reset leaves.
 */
#include <stdio.h>
#include <string.h>

#include "my.h"

/* The library's buffer has the size of the longest row or statement so far. */
#define BUFFER_MAX        ((size_t)1 << 20)
/* How long the facts last read about the database are trusted. */
#define DATABASE_KNOWN_MS 1000

/* ---- how the server reads texts ---- */

unsigned
cnd_my_modes(const struct cnd_session *s)
{
	return cnd_my_status(s->my) &
	       (CND_MY_STATUS_NO_BACKSLASH | CND_MY_STATUS_ANSI_QUOTES);
}

/*
 * The server's reset sets sql_mode to the global value, which somebody may have changed since the
 * login (SET GLOBAL). But clients know the value of the login, and escape texts by it. CENOTE_OK, or
 * CENOTE_ERR_UNSUPPORTED.
 */
static int
check_modes(struct cnd_session *s)
{
	if (cnd_my_modes(s) == s->reset.modes)
		return CENOTE_OK;
	cnc_diag_set(s->diag, CNC_SQLSTATE(NOT_CONNECTED),
		"the server's sql_mode was changed, and texts are read otherwise than "
		"by what was told of the session; connect again");
	return CENOTE_ERR_UNSUPPORTED;
}

/* The reset was sent together with a text that means the same in all modes. So the client may keep
 * the session, and learns the new mode with the answer. The pin keeps other clients from getting the
 * session. */
static void
note_modes(struct cnd_session *s)
{
	unsigned changed = cnd_my_modes(s) ^ s->reset.modes;

	if (changed & CND_MY_STATUS_NO_BACKSLASH)
		s->reading.lexis ^= CND_MY_LEXIS_NO_BACKSLASH;
	if (changed & CND_MY_STATUS_ANSI_QUOTES)
		s->reading.lexis ^= CND_MY_LEXIS_ANSI_QUOTES;
	if (changed)
		s->trace.pins |= CENOTE_PIN_SETTINGS;
}

/* sql_mode changes only how the server reads backslashes and double quotes. A text without these
 * means the same in all modes. */
static int
is_read_in_one_way(const char *sql, size_t len)
{
	return !memchr(sql, '\\', len) && !memchr(sql, '"', len);
}

/* ---- finding out what the server's reset does ---- */

static int
take_database_collation(
	void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = user;

	if (n > 0 && row[0])
		s->reset.database_collation =
			cnc_arena_strndup(&s->keep, row[0], lengths[0]);
	return s->reset.database_collation ? CENOTE_OK : CENOTE_ERR_NOMEM;
}

static int
is_other(const char *now, const char *before)
{
	return !now || strcmp(now, before) != 0;
}

/* mysql_set_character_set() would choose the server's default collation. The login may have chosen another one. */
static const char *
restoring_charset(struct cnd_session *s)
{
	const char *charset = s->parameters[CND_MY_CHARSET].value;
	const char *collation = s->parameters[CND_MY_COLLATION].value;
	size_t size =
		sizeof("SET NAMES '' COLLATE ''") + strlen(charset) + strlen(collation);
	char *sql = cnc_arena_alloc(&s->keep, size);

	if (sql != NULL)
		snprintf(sql, size, "SET NAMES '%s' COLLATE '%s'", charset, collation);
	return sql;
}

/* Whether the character set and collations are unchanged. */
static int
compare_charset(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = user;

	(void)lengths;
	if (n < 3 || is_other(row[0], s->parameters[CND_MY_CHARSET].value) ||
		is_other(row[1], s->parameters[CND_MY_COLLATION].value)) {
		s->reset.charset = restoring_charset(s);
		if (s->reset.charset == NULL)
			return CENOTE_ERR_NOMEM;
	}
	if (n < 3 || is_other(row[2], s->reset.database_collation))
		s->reset.loses_database = 1;
	return CENOTE_OK;
}

/* Run the server's own reset, and restore what it is known to change. */
static int
reset_connection(struct cnd_session *s)
{
	int r = cnd_my_watch_begin(s);

	if (r < 0)
		return r;
	r = mysql_reset_connection(s->my);
	cnd_my_watch_end(s);
	if (r != 0)
		return cnd_my_failed(s, NULL);
	cnd_my_take_status(s->my);
	s->reset.n_sets = s->reset.charset != NULL;
	/* not cnd_my_run(), which would note a changed setting */
	if (s->reset.charset != NULL &&
		mysql_real_query(s->my, s->reset.charset, strlen(s->reset.charset)) != 0)
		return cnd_my_failed(s, NULL);
	if (s->reset.loses_database && s->opt.dbname &&
		mysql_select_db(s->my, s->opt.dbname) != 0)
		return cnd_my_failed(s, NULL);
	return check_modes(s);
}

/* Find out what the reset does to the character set. MySQL resets it to the server's default, MariaDB
 * to that of the login. MariaDB stays in the database, but reports the server's default collation as
 * the database's. Another reset follows, so that these queries leave nothing in ROW_COUNT(). */
static int
learn_charset(struct cnd_session *s)
{
	static const char before[] = "SELECT @@collation_database";
	static const char sql[] =
		"SELECT @@character_set_client, @@collation_connection, "
		"@@collation_database";
	int r = cnd_my_each(s, before, sizeof(before) - 1, take_database_collation, s);

	if (r == CENOTE_OK)
		r = reset_connection(s);
	if (r == CENOTE_OK)
		r = cnd_my_each(s, sql, sizeof(sql) - 1, compare_charset, s);
	return r == CENOTE_OK ? reset_connection(s) : r;
}

/* MySQL reports a list of quoted names, or NONE, as SET ROLE takes it; MariaDB reports one name, or NULL. */
static int
take_role(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = user;
	bool is_quoted = !cnd_my_is_mariadb(s->my);
	size_t i, used, size = sizeof("SET ROLE ``");
	char *sql;

	if (n < 1 || !row[0])
		return CENOTE_OK;
	sql = cnc_arena_alloc(&s->arena, size + 2 * (size_t)lengths[0]);
	if (!sql)
		return CENOTE_ERR_NOMEM;
	used = (size_t)snprintf(sql, size, is_quoted ? "SET ROLE " : "SET ROLE `");
	for (i = 0; i < lengths[0]; i++) {
		if (row[0][i] == '`' && !is_quoted)
			sql[used++] = '`';
		sql[used++] = row[0][i];
	}
	memcpy(sql + used, is_quoted ? "" : "`", is_quoted ? 1 : 2);
	s->reset.forget = sql;
	return CENOTE_OK;
}

/*
 * Some state survives the server's own reset on some servers only. The first line for the kind and the version of the server
 * counts. Where active roles survive, the reset takes the roles of the login again. On MySQL, the traces of the optimizer survive, which
 * contain texts of statements. A change of the offset removes them; it must not be traced itself, so tracing is switched off first.
 * MariaDB's own reset removes the traces. The resource group of MySQL survives COM_CHANGE_USER, too, and the pool's user may not be
 * allowed to set it. So the session logs in again if the server has counted a statement that sets the group.
 */
static const struct keeping {
	uint8_t is_mariadb;
	unsigned long from; /* the first version */
	bool keeps_roles;
	bool keeps_group; /* the resource group */
	const char *clear; /* SQL that removes the traces */
} keeping[] = {
	{ 1, 0, true, false, "DO 0" },
	{ 0, 80000, true, true,
		"SET optimizer_trace = DEFAULT; SET optimizer_trace_offset = DEFAULT" },
	{ 0, 50603, false, false,
		"SET optimizer_trace = DEFAULT; SET optimizer_trace_offset = DEFAULT" },
	{ 0, 0, false, false, "DO 0" },
};

static const struct keeping *
what_is_kept(const MYSQL *my)
{
	const struct keeping *k = keeping;

	while (k->is_mariadb != cnd_my_is_mariadb(my) ||
		cnd_my_server_number(my) < k->from)
		k++;
	return k;
}

/*
 * Some state survives both the server's reset and COM_CHANGE_USER. SHOW PROFILES would show the next client the texts of this client's
 * statements, and profiling stays on. A stored function that a table calls can switch profiling on
 * and off. Nothing clears all of it (the numbers of the profiles go on), so the reset looks for it.
 * After MariaDB's COM_CHANGE_USER, profiling goes on though @@profiling is 0; then a stored profile
 * shows it. The socket keeps its time limits, though their variables are reset.
 */
static int
learn_to_forget(struct cnd_session *s)
{
	static const char ask_role[] = "SELECT CURRENT_ROLE()";
	static const char ask_profiles[] = "SHOW PROFILES; SELECT @@profiling";
	static const char keep[] = "SET profiling_history_size = 100";
	static const char limits[] = "SET net_read_timeout = DEFAULT, "
				     "net_write_timeout = DEFAULT, "
				     "net_retry_count = DEFAULT";
	static const char groups[] =
		"; SHOW SESSION STATUS LIKE 'Com_set_resource_group'";
	const struct keeping *k = what_is_kept(s->my);
	int r = CENOTE_OK;
	char *sql;
	size_t size;

	s->reset.forget = k->keeps_roles ? "SET ROLE NONE" : "DO 0";
	if (k->keeps_roles)
		r = cnd_my_each(s, ask_role, sizeof(ask_role) - 1, take_role, s);
	if (r < 0)
		return r;
	s->reset.has_profiles =
		cnd_my_run(s, ask_profiles, sizeof(ask_profiles) - 1) == CENOTE_OK;
	if (s->is_lost)
		return CENOTE_ERR_CONN;
	cnc_diag_clear(s->diag);
	size = strlen(s->reset.forget) + strlen(k->clear) + sizeof(limits) +
	       sizeof(keep) + sizeof(ask_profiles) + sizeof(groups) + 8;
	sql = cnc_arena_alloc(&s->keep, size);
	if (!sql)
		return CENOTE_ERR_NOMEM;
	snprintf(sql, size, "%s; %s; %s%s%s%s%s%s", k->clear, s->reset.forget, limits,
		s->reset.has_profiles ? "; " : "", s->reset.has_profiles ? keep : "",
		s->reset.has_profiles ? "; " : "",
		s->reset.has_profiles ? ask_profiles : "", k->keeps_group ? groups : "");
	s->reset.keeps_group = k->keeps_group;
	s->reset.forget = sql;
	return CENOTE_OK;
}

int
cnd_my_learn_reset(struct cnd_session *s)
{
	int r = learn_to_forget(s);

	s->hidden.is_told = cnd_my_is_mariadb(s->my) && !s->opt.has_pure_queries;
	/* other SQL of the login would be counted, too */
	s->hidden.is_counted = !cnd_my_is_mariadb(s->my) && !s->opt.has_pure_queries &&
			       !s->opt.init_command && !s->reset.has_init;
	s->reset.checked_ms = cnd_clock_ms();
	if (r == CENOTE_OK && !s->reset.has_init)
		r = learn_charset(s);
	s->trace.n_sets = s->reset.n_sets;
	return r;
}

/* ---- the reset ---- */

/*
 * Somebody may drop the pool's database and create it again with another character set. The server
 * does not report that, and does not look again when the database is selected once more. So the
 * backend trusts what the login found out for a while, and then a reset asks again. Asking for each
 * client would cost the simplest clients a fifth of their time.
 */
static int
is_database_known(const struct cnd_session *s)
{
	return !s->opt.dbname || !s->reset.database_collation || s->opt.init_command ||
	       cnd_clock_ms() < s->reset.checked_ms + DATABASE_KNOWN_MS;
}

/* Log in again as the pool's user, to the pool's database, on the same connection. */
static int
log_in_again(struct cnd_session *s)
{
	if (mysql_change_user(s->my, s->opt.user, s->opt.password,
		    s->opt.dbname ? s->opt.dbname : NULL))
		return cnd_my_failed(s, NULL);
	s->trace.is_user_changed = 0;
	s->reset.n_sets = 0;
	return check_modes(s);
}

/* A row is a profile (SHOW PROFILES), or says whether profiling is on, or how often the resource group was set. */
static int
see_profile(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = user;

	const char *value = row[n == 2];

	(void)lengths;
	if (n > 2 || !value || strcmp(value, "0") != 0)
		s->reset.was_profiled = 1;
	return CENOTE_OK;
}

/* Clear what the server's own reset leaves. Without a SET there is nothing of that. */
static int
forget(struct cnd_session *s)
{
	int r;

	if (!s->trace.may_have_set &&
		!(s->trace.pins & (CENOTE_PIN_SETTINGS | CENOTE_PIN_FUNCTION)))
		return CENOTE_OK;
	s->wants.single = 0;
	r = cnd_my_set_several(s, s->reset.forget, strlen(s->reset.forget));
	if (r == CENOTE_OK)
		r = cnd_my_each(
			s, s->reset.forget, strlen(s->reset.forget), see_profile, s);
	return r == CENOTE_OK && s->reset.was_profiled ? cnd_needs_login(s->diag) : r;
}

static int
compare_database(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = user;

	(void)lengths;
	return n < 1 || is_other(row[0], s->reset.database_collation)
		       ? cnd_needs_login(s->diag)
		       : CENOTE_OK;
}

/* This query leaves nothing in the session. */
static int
check_database(struct cnd_session *s)
{
	static const char sql[] =
		"SELECT DEFAULT_COLLATION_NAME FROM information_schema.schemata"
		" WHERE SCHEMA_NAME = DATABASE()";
	int r = cnd_my_each(s, sql, sizeof(sql) - 1, compare_database, s);

	if (r < 0)
		return r;
	s->reset.checked_ms = cnd_clock_ms();
	return reset_connection(s);
}

static int
make_fresh(struct cnd_session *s)
{
	/* a client that changed settings may have stopped the server from reporting its database */
	int is_elsewhere = s->trace.is_database_changed ||
			   s->trace.pins & (CENOTE_PIN_SETTINGS | CENOTE_PIN_FUNCTION);
	int r = forget(s);

	if (r < 0)
		return r;
	/* COM_CHANGE_USER has set back the counter of groups */
	if (s->trace.is_user_changed && s->reset.keeps_group)
		return cnd_needs_login(s->diag);
	if (s->trace.is_user_changed || (is_elsewhere && !s->opt.dbname))
		return log_in_again(s);
	r = reset_connection(s);
	/* the reset leaves the client in the database that it chose */
	if (r == CENOTE_OK && is_elsewhere && mysql_select_db(s->my, s->opt.dbname) != 0)
		r = cnd_my_failed(s, NULL);
	return r == CENOTE_OK && !is_database_known(s) ? check_database(s) : r;
}

/* MariaDB's reset leaves half of a prepared XA transaction in the session; every statement on InnoDB then fails.
 * XA counts as opaque, and may also come from a procedure. */
static int
may_have_xa(const struct cnd_session *s)
{
	return s->trace.notes & CND_MY_NOTE_OPAQUE &&
	       cnd_my_status(s->my) & SERVER_STATUS_IN_TRANS;
}

/*
 * Whether the reset can wait for the next client's first request. That is so if this client sent only
 * texts that call only built-in functions, and holds no transaction, lock or setting. If it used
 * tables, the server must have confirmed that their code set nothing (settle.c). The reset then
 * travels with that request, and costs no exchange of its own.
 */
static int
can_be_put_off(const struct cnd_session *s)
{
	const unsigned transaction = SERVER_STATUS_AUTOCOMMIT | SERVER_STATUS_IN_TRANS;

	if (s->trace.has_done_more || s->trace.may_have_set || s->trace.pins != 0 ||
		cnd_my_pins_of_texts(s) != 0 || s->locks.n > 0 ||
		s->trace.user_variables != CND_MY_KNOWN || s->wait.is_killed ||
		s->opt.init_command || s->reset.charset != NULL ||
		s->reset.loses_database || !is_database_known(s))
		return 0;
	return (cnd_my_status(s->my) & transaction) == SERVER_STATUS_AUTOCOMMIT &&
	       cnd_my_can_send_ahead(s->my);
}

int
cnd_my_reset_now(struct cnd_session *s)
{
	int r;

	if (!s->reset.is_put_off)
		return CENOTE_OK;
	s->reset.is_put_off = 0;
	r = reset_connection(s);
	/* after a failure the session is still in the former client's state */
	if (r < 0)
		s->is_lost = 1;
	return r < 0 ? CENOTE_ERR_CONN : CENOTE_OK;
}

static int
take_reset(struct cnd_session *s)
{
	s->reset.is_put_off = 0;
	if (cnd_my_await_answer(s) == CENOTE_OK && cnd_my_read_reset(s->my) == 0) {
		note_modes(s);
		return CENOTE_OK;
	}
	(void)cnd_my_failed(s, NULL);
	s->is_lost = 1;
	return CENOTE_ERR_CONN;
}

int
cnd_my_send(struct cnd_session *s, const char *sql, size_t len)
{
	int r;

	if (s->reset.is_put_off && is_read_in_one_way(sql, len) &&
		cnd_my_send_reset_and_query(s->my, sql, len) == 0)
		return take_reset(s);
	r = cnd_my_reset_now(s);
	if (r < 0)
		return r;
	if (mysql_send_query(s->my, sql, (unsigned long)len) != 0)
		return cnd_my_failed(s, NULL);
	return cnd_my_await_answer(s);
}

int
cnd_my_reset(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_my_enter_only(s, ret_diag, NULL);

	if (r < 0)
		return r;
	/* the library never frees the memory that it took for a long row */
	if (s->reset.has_init || s->trace.has_failed_user || may_have_xa(s) ||
		cnd_my_buffer_size(s->my) > BUFFER_MAX)
		return cnd_needs_login(s->diag);
	s->reset.is_put_off = (uint8_t)can_be_put_off(s);
	if (!s->reset.is_put_off)
		r = make_fresh(s);
	/* the server has dropped the statements: this only frees memory */
	s->host->forget(s->host, s);
	s->trace = (struct cnd_my_trace){ .has_run = s->trace.has_run,
		.n_sets = s->reset.n_sets,
		.doubts = s->variables.login_doubts };
	cnd_my_locks_forget(s);
	s->wants = (struct cnd_my_wants){ .is_single = s->wants.is_single };
	s->reading.lexis = s->variables.login_lexis;
	cnc_buf_truncate(&s->carry, CND_MY_CARRY_LEN);
	cnd_my_untell(s);
	if (r == CENOTE_OK)
		r = cnd_my_run_init(s);
	s->trace.pins = 0;
	s->trace.variables = CND_MY_KNOWN;
	return r;
}
