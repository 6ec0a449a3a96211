/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What moves with a client to another session: LAST_INSERT_ID(), and whether it used tables. A statement also
 * leaves values for the next one (ROW_COUNT(), FOUND_ROWS(), its warnings and GTID). These do not move, so the
 * first statement on the new session must not ask for them.
 *
 * Triggers, views and defaults of columns may do what the text of a statement does not show. So before a client
 * that used tables gives up its session, MariaDB is asked what they did. It lists the session's user variables. It
 * counts the triggers that ran, the views that were opened, and the SET and CREATE TEMPORARY TABLE statements in
 * them.
 *
 * MariaDB does not list locks. So the backend searches the texts of triggers, views and functions for GET_LOCK().
 * If none contains it, RELEASE_ALL_LOCKS() proves that no lock was held. MariaDB reports nothing about sequences,
 * and MySQL's server reports nothing about any of this. A client that used tables and then reads such a value on a
 * new session, before anything there can have set it, gets an error.
 */
#include <stdio.h>
#include <string.h>

#include "core/value.h"

#include "my.h"

int
cnd_my_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag)
{
	char sql[64];
	uint64_t id;
	int n;

	s->trace.last_insert_id = 0;
	s->trace.has_run = 0;
	s->trace.has_new_id = 0;
	s->trace.has_names = 0;
	s->trace.may_hide = 0;
	s->trace.is_moved = 0;
	s->trace.has_hidden = s->trace.had_hidden =
		carry->n == CND_MY_CARRY_LEN && carry->p[CND_MY_CARRY_LEN - 1] != 0;
	if (carry->n == 0)
		return CENOTE_OK;
	/* older versions carry the id alone */
	if (carry->n != CND_MY_CARRY_LEN && carry->n != sizeof(id)) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(PROTOCOL),
			"the state that was carried along is not of this backend");
		return CENOTE_ERR_PROTOCOL;
	}
	id = cnc_get_u64((const uint8_t *)carry->p);
	s->trace.is_moved = 1;
	s->trace.last_insert_id = id;
	if (id == 0)
		return CENOTE_OK;
	n = cnd_my_enter(s, ret_diag, NULL);
	if (n < 0)
		return n;
	s->trace.has_run = 1;
	n = snprintf(
		sql, sizeof(sql), "SET last_insert_id = %llu", (unsigned long long)id);
	n = cnd_my_run(s, sql, (size_t)n);
	s->trace.n_sets += n == CENOTE_OK;
	return n;
}

/* ---- what the backend asks before the client gives up the session ---- */

struct answer {
	const struct cnd_session *s;
	uint64_t id; /* LAST_INSERT_ID() */
	int has_names; /* the character sets and the collation of the login */
	int has_variables;
	int has_run; /* a trigger or a view */
	int has_set; /* a trigger or view set something for the session */
};

static int
is_true(const char *value)
{
	return !value || strcmp(value, "0") != 0;
}

static int
is_told(const struct cnd_session *s, unsigned parameter, const char *value)
{
	return value && strcmp(value, s->parameters[parameter].value) == 0;
}

static int
take_answer(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct answer *a = user;

	if (n < 4)
		return CENOTE_ERR_PROTOCOL;
	a->has_names = is_told(a->s, CND_MY_CHARSET, row[1]) &&
		       is_told(a->s, CND_MY_CHARSET, row[2]) &&
		       is_told(a->s, CND_MY_COLLATION, row[3]);
	if (n == 7) {
		a->has_variables = is_true(row[4]);
		a->has_run = is_true(row[5]);
		a->has_set = is_true(row[6]);
	}
	if (!row[0] || cnc_text_uint64(row[0], lengths[0], &a->id) < 0)
		a->id = 0;
	return CENOTE_OK;
}

/* Ask the server. If a counter is missing, it counts as if something was left. */
static int
ask(struct cnd_session *s, struct answer *ret_answer)
{
#define OF_ALL                                                                           \
	"SELECT LAST_INSERT_ID(), @@character_set_client, @@character_set_results,"      \
	" @@collation_connection"
	char sql[768];
	int n;

	ret_answer->has_variables = s->trace.may_hide;
	if (!s->trace.may_hide)
		n = snprintf(sql, sizeof(sql), OF_ALL);
	else
		n = snprintf(sql, sizeof(sql),
			OF_ALL
			", EXISTS (SELECT 1 FROM "
			"information_schema.user_variables WHERE variable_value IS NOT "
			"NULL), COUNT(*) <> 4 OR SUM(variable_name NOT LIKE 'COM%%' AND "
			"variable_value <> 0) > 0, COUNT(*) <> 4 OR SUM(IF(variable_name "
			"LIKE 'COM%%', variable_value, 0)) > %u FROM "
			"information_schema.session_status WHERE variable_name IN "
			"('EXECUTED_TRIGGERS', 'OPENED_VIEWS', 'COM_SET_OPTION', "
			"'COM_CREATE_TEMPORARY_TABLE')",
			s->trace.n_sets);
	return cnd_my_each(s, sql, (size_t)n, take_answer, ret_answer);
}

static int
take_truth(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	uint8_t *ret_truth = user;

	(void)lengths;
	*ret_truth = (uint8_t)(n != 1 || is_true(row[0]));
	return CENOTE_OK;
}

/* Find out whether any code takes locks, among the texts that the user may see. Do it once in a session, since the
 * server has to open all tables for it. */
static int
learn_lock_texts(struct cnd_session *s)
{
	static const char sql[] =
		"SELECT EXISTS (SELECT 1 FROM information_schema.routines WHERE "
		"routine_schema <> 'sys' AND INSTR(routine_definition, 'get_lock')) OR "
		"EXISTS (SELECT 1 FROM information_schema.views WHERE "
		"INSTR(view_definition, 'get_lock')) OR EXISTS (SELECT 1 FROM "
		"information_schema.triggers WHERE INSTR(action_statement, 'get_lock'))";
	int r;

	if (s->hidden.knows_lock_texts)
		return CENOTE_OK;
	s->hidden.has_lock_texts = 1;
	r = cnd_my_each(s, sql, sizeof(sql) - 1, take_truth, &s->hidden.has_lock_texts);
	s->hidden.knows_lock_texts = r == CENOTE_OK;
	return r;
}

/* No visible code takes a lock. If a lock is held nevertheless, its code is hidden from the user, and the client
 * must learn that the lock is lost. */
static int
give_up_locks(struct cnd_session *s)
{
	static const char sql[] = "SELECT RELEASE_ALL_LOCKS()";
	uint8_t had_some = 1;
	int r = cnd_my_each(s, sql, sizeof(sql) - 1, take_truth, &had_some);

	if (r < 0 || !had_some)
		return r;
	s->is_lost = 1;
	cnc_diag_set(s->diag, CNC_SQLSTATE(CONNECTION_LOST),
		"a view or trigger whose text the user %s may not see had taken a lock "
		"by "
		"GET_LOCK(), and the lock is lost",
		s->opt.user ? s->opt.user : "of the pool");
	return CENOTE_ERR_CONN;
}

/* 1: the session holds something of the client; 0: it does not; negative: a failure. */
static int
is_held(struct cnd_session *s, const struct answer *a)
{
	int r;

	if (!s->trace.may_hide)
		return 0;
	if (a->has_variables || (a->has_run && a->has_set))
		return 1;
	if (!a->has_run)
		return 0;
	r = learn_lock_texts(s);
	if (r < 0 || s->hidden.has_lock_texts)
		return r < 0 ? r : 1;
	return give_up_locks(s);
}

/* Ask what the session holds: the id, since DONE does not always report that of LAST_INSERT_ID(); the collation,
 * after SET NAMES; and what hidden code left. This query becomes the session's last statement, so the other values
 * that the client's last statement left are lost, as after a move to another session. */
int
cnd_my_settle(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	struct answer answer = { .s = s };
	int r;

	if (!(s->trace.has_new_id || s->trace.has_names || s->trace.may_hide) ||
		s->trace.pins != 0)
		return CENOTE_OK;
	r = cnd_my_enter(s, ret_diag, NULL);
	if (r == CENOTE_OK)
		r = ask(s, &answer);
	if (r == CENOTE_OK)
		r = is_held(s, &answer);
	if (r < 0)
		return r;
	if (r > 0)
		s->trace.pins |= CENOTE_PIN_FUNCTION;
	if (s->trace.has_names && !answer.has_names)
		s->trace.pins |= CENOTE_PIN_SETTINGS;
	s->trace.last_insert_id = answer.id;
	s->trace.has_new_id = 0;
	s->trace.has_names = 0;
	s->trace.may_hide = 0;
	s->trace.is_moved = 1;
	return CENOTE_OK;
}
