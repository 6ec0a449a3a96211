/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The messages of a reset: DISCARD ALL, the options of the login, what is asked, and a new seed. reset.c sends them when a
 * client has gone. exec.c and tx.c send them along with the client's last request.
 */
#include <sys/random.h>

#include "session.h"

int
cnd_pg_add_command(struct cnd_session *s, const char *sql)
{
	int r = cnd_pg_add_query(&s->out.buf, 'Q', sql, strlen(sql));

	if (r == CENOTE_OK)
		s->out.n_ready++;
	return r;
}

/*
 * DISCARD ALL does not change the seed of random(). A client that set the seed would know the random numbers of the next
 * client. setseed(float8) is function 1599; a call by number needs no parsing.
 */
static int
add_seed(struct cnd_session *s)
{
	uint8_t value[8];
	uint64_t bits;
	int r;

	if (getrandom(&bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return cnd_pg_refuse(s, CNC_SQLSTATE(RESOURCES), "no random numbers");
	/* A number between 0.5 and 1: sign and exponent are fixed, the fraction is random. */
	bits = (bits >> 12) | 0x3fe0000000000000u;
	cnd_pg_put_u32(value, (uint32_t)(bits >> 32));
	cnd_pg_put_u32(value + 4, (uint32_t)bits);
	r = cnd_pg_add_call(&s->out.buf, 1599,
		&(struct cnp_str){ (const char *)value, sizeof(value) }, 1);
	if (r == CENOTE_OK)
		s->out.n_ready++;
	return r;
}

int
cnd_pg_has_lasting(const struct cnd_session *s)
{
	return (s->client.lasting & CND_PG_SCAN_STAYS) != 0;
}

/* The question comes before the seed, because check_last_answer() needs the answer to the seed last. */
int
cnd_pg_add_discard(struct cnd_session *s, struct cnd_pg_flags *ret_lasting)
{
	int r = CENOTE_OK;

	if (s->client.is_used)
		r = cnd_pg_add_command(s, "DISCARD ALL");
	/* pg_stat_activity shows the last text, and a text that calls nothing leaves nothing else */
	else if (s->client.has_told)
		r = cnd_pg_add_command(s, "");
	if (r == CENOTE_OK && s->client.is_used)
		r = cnd_pg_add_options(s);
	if (r == CENOTE_OK && s->client.is_unproved && !cnd_pg_has_lasting(s))
		r = cnd_pg_lasting_ask(s, ret_lasting);
	if (r == CENOTE_OK && s->client.is_used)
		r = add_seed(s);
	return r;
}

/* ---- a reset that goes along with the client's last request ---- */

/* Whether no transaction is open after the request. */
static int
ends_transaction(const struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	if (s->tx != 'I')
		return (scan->flags & (CND_PG_SCAN_ENDS | CND_PG_SCAN_SEVERAL)) ==
		       CND_PG_SCAN_ENDS;
	return (scan->flags & CND_PG_SCAN_TX) == 0 && !s->client.is_manual;
}

/* Whether the answer ends with the ReadyForQuery of the request: it is no copy, and leaves no portal. */
static int
is_whole(const struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	return s->run.until_ready && s->run.batch_rows == 0 && !s->run.syncs_at_end &&
	       !s->out.is_unsynced && !s->sync.is_missing && s->sync.n_ready == 0 &&
	       (scan->flags & CND_PG_SCAN_COPY) == 0;
}

/*
 * The client yields its session after the request, as ends_turn() says, and this backend knows without a question that the
 * client holds nothing (proof.c). Then the worker would reset the session next, so the reset can go in the same write.
 * This saves an exchange with the server. The reset itself and the checks of its answers are the same.
 */
static int
may_be_early(const struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	struct cnd_state state;

	if (s->host->ends_turn == NULL || !s->client.is_used || s->client.lasting != 0 ||
		!is_whole(s, scan) || !ends_transaction(s, scan))
		return 0;
	cnd_pg_state(s, &state);
	return state.pins == 0 && s->host->ends_turn(s->host);
}

int
cnd_pg_add_early_reset(struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	uint32_t n_ready = s->out.n_ready;
	int r;

	if (!may_be_early(s, scan))
		return CENOTE_OK;
	s->early.lasting = (struct cnd_pg_flags){ .n = 0 };
	r = cnd_pg_add_discard(s, &s->early.lasting);
	/* these rows are not the request's */
	s->run.flags = NULL;
	s->out.n_early = s->out.n_ready - n_ready;
	s->out.n_ready = n_ready;
	return r;
}
