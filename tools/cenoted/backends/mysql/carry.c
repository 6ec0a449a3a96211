/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What moves with a client to another session: LAST_INSERT_ID(), the variables of variables.c, and whether the client
 * used tables. The next session sets the variables, and reads them again: what the server then says must be what was
 * carried. A statement also leaves values for the next one (ROW_COUNT(), FOUND_ROWS(), its warnings and GTID). These do
 * not move, so the first statement on the new session must not ask for them.
 *
 * A carry comes from the client, which may have written anything into it. So only the names in the table of names.c
 * are set, each for the session only, and to values that need no escapes.
 */
#include <stdio.h>
#include <string.h>

#include "core/value.h"

#include "../common/text.h"
#include "my.h"

/* ---- setting what was carried ---- */

static void
add_setting(struct cnd_text *t, const struct cnd_my_variable *v, const char *value)
{
	const char *quote = v->flags & CND_MY_VARIABLE_TEXT ? "'" : "";

	cnd_text_add(t, ", @@session.");
	cnd_text_add(t, v->name);
	cnd_text_add(t, " = ");
	/* an empty value means NULL only here: sql_mode may really be empty */
	if (*value == '\0' && strcmp(v->name, "character_set_results") == 0) {
		cnd_text_add(t, "NULL");
		return;
	}
	cnd_text_add(t, quote);
	cnd_text_add(t, value);
	cnd_text_add(t, quote);
}

/* Make one text that sets all of it and reads it again. CENOTE_ERR_PROTOCOL: no backend wrote these pairs. */
static int
make_text(struct cnd_session *s, uint64_t id, struct cnp_str pairs, struct cnd_text *t)
{
	const struct cnd_my_variable *v;
	struct cnp_str name, value, database = CNP_STR_NONE;
	struct cnc_reader reader;
	char number[40];
	int r;

	snprintf(number, sizeof(number), "SET last_insert_id = %llu",
		(unsigned long long)id);
	cnd_text_add(t, number);
	cnc_reader_init(&reader, pairs.p, pairs.n);
	while ((r = cnp_pairs_next(&reader, &name, &value)) > 0) {
		v = cnd_my_variable(name.p, name.n);
		if (!v || !cnd_my_is_asked(s, v) ||
			!cnd_my_needs_no_escape(v, value.p, value.n))
			return CENOTE_ERR_PROTOCOL;
		if (v == cnd_my_variables)
			database = value;
		else
			add_setting(t, v, value.p);
	}
	if (database.n > 0) {
		s->trace.is_database_changed = 1;
		cnd_text_add(t, "; USE `");
		cnd_text_add(t, database.p);
		cnd_text_add(t, "`");
	}
	if (pairs.n > 0) {
		cnd_text_add(t, "; SELECT ");
		cnd_text_add(t, s->variables.list ? s->variables.list : "NULL");
	}
	return r < 0 ? r : t->r;
}

/* The column of the variable in the list. */
static unsigned
column_of(const struct cnd_session *s, const struct cnd_my_variable *v)
{
	unsigned i = 0;

	for (const struct cnd_my_variable *p = cnd_my_variables; p < v; p++)
		i += cnd_my_is_asked(s, p);
	return i;
}

/* Setting variables, and what the server says about them then. */
struct setting {
	struct cnd_session *s;
	struct cnp_str pairs;
	bool is_confirmed;
};

/* Compare what the server says with the pairs, which are valid. */
static int
take_set(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct setting *set = user;
	struct cnp_str name, value;
	struct cnc_reader reader;
	int r;

	if (n != set->s->variables.n)
		return CENOTE_OK;
	r = cnd_my_variables_take(set->s, row, lengths);
	if (r != CENOTE_OK)
		return r < 0 ? r : CENOTE_OK;
	set->is_confirmed = true;
	cnd_my_untell(set->s);
	cnc_reader_init(&reader, set->pairs.p, set->pairs.n);
	while (cnp_pairs_next(&reader, &name, &value) > 0) {
		unsigned i = column_of(set->s, cnd_my_variable(name.p, name.n));

		set->is_confirmed &=
			lengths[i] == value.n &&
			(value.n == 0 || memcmp(row[i], value.p, value.n) == 0);
		cnd_my_tell_carried(set->s, name.p, value.p);
	}
	cnc_buf_truncate(&set->s->carry, CND_MY_CARRY_LEN);
	return cnc_buf_append(&set->s->carry, set->pairs.p, set->pairs.n);
}

static int
refuse(struct cnd_session *s, const char *why)
{
	char text[CNC_DIAG_MESSAGE_MAX];

	snprintf(text, sizeof(text), "%s", why);
	cnc_diag_set(s->diag, CNC_SQLSTATE(CONNECTION_LOST),
		"the client's settings could not be made on another session: %s", text);
	return CENOTE_ERR_SERVER;
}

/* Set what was carried, and last_insert_id. CENOTE_ERR_PROTOCOL: no backend wrote that. */
static int
set_variables(struct cnd_session *s, uint64_t id, struct cnp_str pairs)
{
	struct setting set = { s, pairs, pairs.n == 0 };
	struct cnd_text t = { .r = CENOTE_OK };
	const char *sql;
	int r;

	cnc_buf_init(&t.b, s->mem, (size_t)4 * CND_MY_CARRY_MAX);
	r = make_text(s, id, pairs, &t);
	sql = (const char *)cnc_buf_head(&t.b);
	if (r == CENOTE_OK)
		r = cnd_my_set_several(s, sql, cnc_buf_len(&t.b));
	if (r == CENOTE_OK)
		r = cnd_my_each(s, sql, cnc_buf_len(&t.b), take_set, &set);
	cnc_buf_finish(&t.b);
	s->trace.n_sets += r == CENOTE_OK;
	/* the server has reported what was set here: the client did nothing yet */
	s->trace.variables = CND_MY_KNOWN;
	s->trace.pins = 0;
	if (r == CENOTE_ERR_SERVER && !s->is_lost && pairs.n > 0)
		return refuse(s, s->diag->message);
	if (r == CENOTE_OK && !set.is_confirmed)
		return refuse(s, "the server has other values");
	return r;
}

/* ---- a client begins ---- */

/* Take what a client brings, except the pairs. CENOTE_ERR_PROTOCOL: no backend wrote it. */
static int
take_carry(struct cnd_session *s, const struct cnp_str *carry, struct cnp_str *ret_pairs)
{
	size_t n = carry->n;

	/* the oldest versions carried the id alone, and older ones no pairs */
	if (n != sizeof(uint64_t) && (n < CND_MY_CARRY_LEN || n > CND_MY_CARRY_MAX))
		return CENOTE_ERR_PROTOCOL;
	s->trace.is_moved = 1;
	s->trace.last_insert_id = cnc_get_u64((const uint8_t *)carry->p);
	*ret_pairs = CNP_STR_NONE;
	if (n < CND_MY_CARRY_LEN)
		return CENOTE_OK;
	s->trace.had_hidden = carry->p[CND_MY_CARRY_LEN - 1] != 0;
	s->trace.has_hidden = s->trace.had_hidden;
	ret_pairs->p = carry->p + CND_MY_CARRY_LEN;
	ret_pairs->n = n - CND_MY_CARRY_LEN;
	return CENOTE_OK;
}

int
cnd_my_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag)
{
	struct cnp_str pairs;
	int r;

	s->trace.last_insert_id = 0;
	s->trace.has_run = 0;
	s->trace.has_new_id = 0;
	s->trace.may_hide = 0;
	s->trace.is_moved = 0;
	s->trace.has_hidden = 0;
	s->trace.had_hidden = 0;
	cnc_buf_truncate(&s->carry, CND_MY_CARRY_LEN);
	if (carry->n == 0)
		return CENOTE_OK;
	r = take_carry(s, carry, &pairs);
	if (r == CENOTE_OK && s->trace.last_insert_id == 0 && pairs.n == 0)
		return CENOTE_OK;
	if (r == CENOTE_OK)
		r = cnd_my_enter(s, ret_diag, NULL);
	s->trace.has_run = 1;
	if (r == CENOTE_OK)
		r = set_variables(s, s->trace.last_insert_id, pairs);
	if (r == CENOTE_ERR_PROTOCOL)
		cnc_diag_set(ret_diag, CNC_SQLSTATE(PROTOCOL),
			"the state that was carried along is not of this backend");
	return r;
}

/* ---- what the client holds ---- */

static struct cnp_str
make_carry(const struct cnd_session *s)
{
	uint8_t *out = cnc_buf_head(&s->carry);

	if (!s->trace.has_run)
		return CNP_STR_NONE;
	cnc_put_u64(out, s->trace.last_insert_id);
	out[CND_MY_CARRY_LEN - 1] = s->trace.has_hidden;
	return (struct cnp_str){ (const char *)out, cnc_buf_len(&s->carry) };
}

void
cnd_my_state(const struct cnd_session *s, struct cnd_state *ret_state)
{
	*ret_state = (struct cnd_state){ .tx = CENOTE_TX_IDLE, .carry = CNP_STR_NONE };
	ret_state->pins = s->trace.pins | cnd_my_pins_of_texts(s);
	if (cnd_has_portals(s->host->statements))
		ret_state->pins |= CENOTE_PIN_CURSOR;
	if (s->trace.has_new_id || s->trace.may_hide ||
		s->locks.knowledge == CND_MY_UNASKED)
		ret_state->pins |= CENOTE_PIN_FUNCTION;
	if (s->locks.knowledge == CND_MY_HELD)
		ret_state->pins |= CENOTE_PIN_LOCK;
	if (s->trace.variables != CND_MY_KNOWN || s->trace.user_variables != CND_MY_KNOWN)
		ret_state->pins |= CENOTE_PIN_SETTINGS;
	if (s->trace.n_meanings > 0 && cnd_my_has_older(s))
		ret_state->pins |= CENOTE_PIN_PREPARED;
	ret_state->carry = make_carry(s);
	if (cnd_my_status(s->my) & SERVER_STATUS_IN_TRANS)
		ret_state->tx = CENOTE_TX_OPEN;
}
