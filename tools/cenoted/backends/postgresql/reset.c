/* SPDX-License-Identifier: BSD-2-Clause */
#include "session.h"

static int
add_command(struct cnd_session *s, const char *sql)
{
	int r = cnd_pg_add_query(&s->out, 'Q', sql, strlen(sql));

	if (r == CENOTE_OK)
		s->n_ready++;
	return r;
}

static void
forget_client(struct cnd_session *s)
{
	cnd_pg_close_portals(s);
	cnd_pg_stmts_forget(s);
	s->pins = 0;
	s->is_manual = 0;
	s->has_carried = 0;
}

/* An answer is still on its way, and it must be read before anything else can be asked. */
static int
drain(struct cnd_session *s)
{
	(void)cnd_pg_run_begin(s, NULL);
	s->run.until_ready = 1;
	s->run.in_rows = 1;
	s->run.is_quiet = 1;
	cnd_pg_stop(s, CENOTE_ERR_SERVER);
	return cnd_pg_run(s);
}

/* As a new login would find them. */
static int
check_parameters(struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_parameters; i++) {
		const struct cnd_pg_parameter *p = &s->parameters[i];

		if (p->at_login == NULL || strcmp(p->value, p->at_login) != 0)
			return cnd_pg_refuse(s, CNC_SQLSTATE(NOT_READY),
				"%s is not what it was at login", p->name);
	}
	return CENOTE_OK;
}

int
cnd_pg_reset(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_pg_enter(s, ret_diag);

	if (r < 0)
		return r;
	if (s->n_ready > 0)
		r = drain(s);
	if (s->is_lost)
		return CENOTE_ERR_CONN;
	r = cnd_pg_enter(s, ret_diag);
	forget_client(s);
	(void)cnd_pg_run_begin(s, NULL);
	s->run.until_ready = 1;
	if (r == CENOTE_OK && s->is_unsynced)
		r = cnd_pg_add_end(s, 1);
	if (r == CENOTE_OK && (s->tx != 'I' || s->is_unsynced))
		r = add_command(s, "ROLLBACK");
	if (r == CENOTE_OK)
		r = add_command(s, "DISCARD ALL");
	if (r == CENOTE_OK)
		r = cnd_pg_send_run(s);
	if (r == CENOTE_OK && s->tx != 'I')
		r = cnd_pg_refuse(s, CNC_SQLSTATE(NOT_READY),
			"a transaction is open after the reset");
	if (r == CENOTE_OK)
		r = check_parameters(s);
	s->diag = NULL;
	return r;
}

int
cnd_pg_settle(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	(void)s;
	(void)ret_diag;
	return CENOTE_OK;
}
