/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the backend asks before a client gives up its session.
 *
 * Triggers, views and defaults of columns may do what the text of a statement does not show. So before a client
 * that used tables gives up its session, MariaDB is asked what they did. It lists the session's user variables. It
 * counts the triggers that ran, the views that were opened, and the SET and CREATE TEMPORARY TABLE statements in
 * them.
 *
 * MariaDB does not list locks. For a known name, it tells who has the lock (locks.c). Hidden code may have taken other
 * locks, so the backend searches the texts of triggers, views and functions for GET_LOCK(). If none contains it,
 * RELEASE_ALL_LOCKS() proves that no lock was held. MariaDB reports nothing about sequences. MySQL's server reports only how many
 * SET statements ran, also in triggers and functions. A client that used tables and then reads such a value on a
 * new session, before anything there can have set it, gets an error.
 */
#include <stdio.h>
#include <string.h>

#include "core/value.h"

#include "my.h"

#define QUESTION_MAX ((size_t)16 << 10)

struct answer {
	struct cnd_session *s;
	uint64_t id; /* LAST_INSERT_ID() */
	int has_come;
	int has_variables; /* the user variables are not all NULL */
	int has_run; /* a trigger or a view */
	int has_set; /* a trigger or view set something for the session */
	int is_profiled; /* the server keeps the texts of statements (SHOW PROFILES) */
	int has_locks; /* of GET_LOCK(), by their names */
	int is_movable; /* the session variables can be carried */
};

/* The columns of the answer before the variables. */
#define FACTS 6u

static int
is_true(const char *value)
{
	return !value || strcmp(value, "0") != 0;
}

static int
take_answer(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct answer *a = user;
	int r;

	if (n < FACTS)
		return CENOTE_ERR_PROTOCOL;
	a->has_come = 1;
	a->has_variables = is_true(row[1]);
	a->has_run = is_true(row[2]);
	a->has_set = is_true(row[3]);
	a->is_profiled = is_true(row[4]);
	a->has_locks = is_true(row[5]);
	if (!row[0] || cnc_text_uint64(row[0], lengths[0], &a->id) < 0)
		a->id = 0;
	if (n != FACTS + a->s->variables.n)
		return CENOTE_OK;
	r = cnd_my_variables_take(a->s, row + FACTS, lengths + FACTS);
	a->is_movable = r == CENOTE_OK;
	return r < 0 ? r : CENOTE_OK;
}

/* While MariaDB reads information_schema, variables that are flags (@@autocommit and others) are 0. So the counters come from
 * a derived table, which the server completes before it reads the variables. A missing counter means that something may have
 * been left. */
#define COUNTERS                                                                         \
	" FROM (SELECT COUNT(*) <> 4 OR SUM(variable_name NOT LIKE 'COM%%' AND "         \
	"variable_value <> 0) > 0 AS has_run, COUNT(*) <> 4 OR SUM(IF(variable_name "    \
	"LIKE 'COM%%', variable_value, 0)) > %u AS has_set FROM "                        \
	"information_schema.session_status WHERE variable_name IN "                      \
	"('EXECUTED_TRIGGERS', 'OPENED_VIEWS', 'COM_SET_OPTION', "                       \
	"'COM_CREATE_TEMPORARY_TABLE')) AS counters"

static int
ask(struct cnd_session *s, struct answer *ret_answer)
{
	bool may_hide = s->trace.may_hide && s->hidden.is_told;
	static const char user_variables[] =
		"EXISTS (SELECT 1 FROM information_schema.user_variables WHERE "
		"variable_value IS NOT NULL)";
	bool has_list = s->trace.variables == CND_MY_UNASKED;
	char from[sizeof(COUNTERS) + 10] = "";
	struct cnd_text t = { .r = CENOTE_OK };
	int r;

	if (may_hide)
		(void)snprintf(from, sizeof(from), COUNTERS, s->trace.n_sets);
	cnc_buf_init(&t.b, s->mem, QUESTION_MAX);
	cnd_text_add(&t, "SELECT LAST_INSERT_ID(), ");
	cnd_text_add(&t, may_hide || s->trace.user_variables ? user_variables : "0");
	cnd_text_add(&t, may_hide ? ", has_run, has_set, " : ", 0, 0, ");
	cnd_text_add(&t, may_hide && s->reset.has_profiles ? "@@profiling, " : "0, ");
	cnd_my_locks_ask(s, &t);
	if (has_list) {
		cnd_text_add(&t, ", ");
		cnd_text_add(&t, s->variables.list);
	}
	cnd_text_add(&t, from);
	r = t.r;
	if (r == CENOTE_OK)
		r = cnd_my_each(s, (const char *)cnc_buf_head(&t.b), cnc_buf_len(&t.b),
			take_answer, ret_answer);
	cnc_buf_finish(&t.b);
	return r;
}

static int
take_count(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	uint64_t *sum = user, value;

	if (n < 2 || !row[1] || cnc_text_uint64(row[1], lengths[1], &value) < 0)
		return CENOTE_ERR_PROTOCOL;
	*sum += value;
	return CENOTE_OK;
}

/* MySQL has these counters in no table, so they are a question of their own. */
static int
count_sets(struct cnd_session *s, struct answer *ret_answer)
{
	static const char sql[] = "SHOW SESSION STATUS WHERE Variable_name IN "
				  "('Com_set_option', 'Com_set_role', "
				  "'Com_set_resource_group')";
	uint64_t sum = 0;
	int r;

	if (!s->trace.may_hide || !s->hidden.is_counted)
		return CENOTE_OK;
	r = cnd_my_each(s, sql, sizeof(sql) - 1, take_count, &sum);
	ret_answer->has_set = sum > s->trace.n_sets;
	return r;
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
	if (s->hidden.is_counted)
		return a->has_set;
	/* if the client itself set user variables, note_answer() holds the session */
	if ((a->has_variables && !s->trace.user_variables) || (a->has_run && a->has_set))
		return 1;
	/* RELEASE_ALL_LOCKS() would end the client's own locks; ask again when it holds none */
	if (!a->has_run || a->has_locks)
		return 0;
	r = learn_lock_texts(s);
	if (r < 0 || s->hidden.has_lock_texts)
		return r < 0 ? r : 1;
	return give_up_locks(s);
}

static bool
must_ask(const struct cnd_session *s)
{
	const struct cnd_my_trace *t = &s->trace;

	if (t->pins != 0 || cnd_my_pins_of_texts(s) != 0 || t->variables == CND_MY_HELD ||
		t->user_variables == CND_MY_HELD || s->locks.knowledge == CND_MY_HELD)
		return false;
	return t->has_new_id || t->may_hide || t->variables != CND_MY_KNOWN ||
	       t->user_variables != CND_MY_KNOWN || s->locks.knowledge != CND_MY_KNOWN;
}

/* Libcenote switches autocommit off again on the next session, if the client did not do that by SQL. So it must still be
 * off. */
static bool
is_autocommit_lost(const struct cnd_session *s)
{
	return s->trace.is_autocommit_off &&
	       cnd_my_status(s->my) & SERVER_STATUS_AUTOCOMMIT;
}

/* Whether no SET has run since the reset: none of the client, of hidden code or of the backend. What survives the server's reset
 * (reset.c) needs a SET. But profiling may have come from the global variable. */
static bool
has_set_nothing(const struct cnd_session *s, const struct answer *a)
{
	return s->hidden.is_told && s->trace.may_hide && s->trace.n_sets == 0 &&
	       a->has_come && !a->has_set && !a->is_profiled && !a->has_locks;
}

static void
note_answer(struct cnd_session *s, const struct answer *a)
{
	struct cnd_my_trace *t = &s->trace;

	if (has_set_nothing(s, a))
		t->may_have_set = 0;

	if (t->variables == CND_MY_UNASKED) {
		/* s->reading was learned from the same answer */
		t->has_modes = 0;
		t->variables = a->is_movable && !is_autocommit_lost(s) ? CND_MY_KNOWN
								       : CND_MY_HELD;
	}
	if (t->user_variables == CND_MY_UNASKED)
		t->user_variables = a->has_variables ? CND_MY_HELD : CND_MY_KNOWN;
	t->last_insert_id = a->id;
	t->has_new_id = 0;
	t->may_hide &= a->has_locks != 0;
	t->is_moved = 1;
	cnd_my_locks_take(s, a->has_locks);
}

/* Ask what the session holds: the id, since DONE does not always report that of LAST_INSERT_ID(); the variables, after
 * a SET; and what hidden code left. This query becomes the session's last statement, so the other values
 * that the client's last statement left are lost, as after a move to another session. */
static int
look(struct cnd_session *s, struct cnc_diag *diag)
{
	struct answer answer = { .s = s };
	int r = cnd_my_enter_only(s, diag, NULL);

	if (r == CENOTE_OK)
		r = cnd_my_reset_now(s);
	if (r == CENOTE_OK)
		r = ask(s, &answer);
	if (r == CENOTE_OK)
		r = count_sets(s, &answer);
	if (r < 0)
		return r;
	/* with sql_select_limit = 0 the server gives no row */
	r = answer.has_come ? is_held(s, &answer) : 1;
	if (r < 0)
		return r;
	if (r > 0)
		s->trace.pins |= CENOTE_PIN_FUNCTION;
	note_answer(s, &answer);
	return CENOTE_OK;
}

int
cnd_my_settle(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnc_diag diag;
	int r;

	if (!must_ask(s))
		return CENOTE_OK;
	if (sink != NULL)
		return look(s, sink->diag);
	cnc_diag_init(&diag, NULL);
	r = look(s, &diag);
	s->diag = NULL;
	cnc_diag_finish(&diag);
	return r;
}
