/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "core/value.h"

#include "my.h"

/*
 * What goes along with a client that is moved to another session: LAST_INSERT_ID(), and whether it used tables. What else a
 * statement leaves for the one behind it (ROW_COUNT(), FOUND_ROWS(), its warnings and GTID) stays behind; so
 * the first statement on the new session must not ask for it.
 *
 * Triggers, views and defaults of columns may set user variables and use sequences, and no text shows that. Nor can the
 * server be asked before each exchange at a bearable price. So who has used tables and reads such a thing on a new
 * session, before anything there can have set it, is told that it stayed behind.
 */

int
cnd_my_check_moved(struct cnd_session *s, const struct cnd_my_scan *scan)
{
	if (scan->notes & CND_MY_NOTE_RECALLS && s->had_hidden && !s->has_touched &&
		s->pins == 0)
		return cnd_my_refuse(s, CNC_SQLSTATE(UNSUPPORTED),
			"Read it within the transaction that sets it, or use a pool with "
			"mode=session.",
			"user variables and the last values of sequences are of one "
			"session, and it was exchanged since");
	if (!s->is_moved)
		return CENOTE_OK;
	if (scan->notes & CND_MY_NOTE_ASKS)
		return cnd_my_refuse(s, CNC_SQLSTATE(UNSUPPORTED),
			"Ask within the transaction, or use a pool with mode=session.",
			"ROW_COUNT(), FOUND_ROWS(), @@last_gtid and warnings are of the "
			"statement before, and the session was exchanged since");
	s->is_moved = 0;
	return CENOTE_OK;
}

int
cnd_my_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag)
{
	char sql[64];
	uint64_t id;
	int n;

	s->last_insert_id = 0;
	s->has_run = 0;
	s->has_new_id = 0;
	s->has_names = 0;
	s->is_moved = 0;
	s->has_hidden = s->had_hidden =
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
	s->is_moved = 1;
	s->last_insert_id = id;
	if (id == 0)
		return CENOTE_OK;
	n = cnd_my_enter(s, ret_diag, NULL);
	if (n < 0)
		return n;
	s->has_run = 1;
	n = snprintf(
		sql, sizeof(sql), "SET last_insert_id = %llu", (unsigned long long)id);
	return cnd_my_run(s, sql, (size_t)n);
}

static int
is_told(const struct cnd_session *s, unsigned parameter, const char *value)
{
	return value && strcmp(value, s->parameters[parameter].value) == 0;
}

static int
take_answer(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = user;

	if (n != 4 || !row[0] ||
		cnc_text_uint64(row[0], lengths[0], &s->last_insert_id) < 0)
		s->last_insert_id = 0;
	if (s->has_names && (n != 4 || !is_told(s, CND_MY_CHARSET, row[1]) ||
				    !is_told(s, CND_MY_CHARSET, row[2]) ||
				    !is_told(s, CND_MY_COLLATION, row[3])))
		s->pins |= CENOTE_PIN_SETTINGS;
	return CENOTE_OK;
}

/* The id that DONE tells is not always that of LAST_INSERT_ID(), and SET NAMES may have left another collation: ask. What
 * else the last statement left is lost by that, as if the session had been exchanged. */
int
cnd_my_settle(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	static const char sql[] = "SELECT LAST_INSERT_ID(), @@character_set_client,"
				  " @@character_set_results, @@collation_connection";
	int r;

	if (!(s->has_new_id || s->has_names) || s->pins != 0)
		return CENOTE_OK;
	r = cnd_my_enter(s, ret_diag, NULL);
	if (r == CENOTE_OK)
		r = cnd_my_each(s, sql, sizeof(sql) - 1, take_answer, s);
	if (r < 0)
		return r;
	s->has_new_id = 0;
	s->has_names = 0;
	s->is_moved = 1;
	return CENOTE_OK;
}

struct cnp_str
cnd_my_carry(const struct cnd_session *s)
{
	if (!s->has_run)
		return CNP_STR_NONE;
	cnc_put_u64(s->carry_out, s->last_insert_id);
	s->carry_out[CND_MY_CARRY_LEN - 1] = s->has_hidden;
	return (struct cnp_str){ (const char *)s->carry_out, CND_MY_CARRY_LEN };
}
