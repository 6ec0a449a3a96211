/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lend the server's socket to a client, and take it back (docs/lending.md). During the loan this process leaves the
 * connection alone. Afterwards it may be in any state: the client may have sent half a message, or have left an answer
 * unread. So take_back() asks for a random number that only the server's answer can contain in that form.
 */
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "session.h"

/* How long the server has at least to answer after a loan. */
#define ANSWER_MS  5000
/* If the answer has not come after this time, the server gets a cancel request. */
#define SILENCE_MS 200
#define HALF       8u /* bytes of each half of the random number */

/* ---- what the borrower must know ---- */

static int
put_text(struct cnc_buf *b, const char *text)
{
	return cnc_buf_str(b, text, strlen(text));
}

static int
put_parameter(struct cnc_buf *b, const struct cnd_pg_parameter *p)
{
	int r = put_text(b, p->name);

	if (r == CENOTE_OK)
		r = put_text(b, p->value);
	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, p->at_login != NULL);
	return r < 0 ? r : put_text(b, p->at_login != NULL ? p->at_login : "");
}

/* Write the facts that borrowed.c reads, in its order. */
static int
put_facts(const struct cnd_session *s, struct cnc_buf *b)
{
	const char *const texts[] = { s->server, s->server_version, s->database,
		s->backend_pid };
	int r = cnc_buf_u32(b, CND_PG_FACTS_VERSION);

	if (r == CENOTE_OK)
		r = cnc_buf_u32(b, (uint32_t)s->version);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && r == CENOTE_OK; i++)
		r = put_text(b, texts[i]);
	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, s->keeps_compiled);
	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, s->has_pure_queries);
	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, s->spent.has_unnamed);
	if (r == CENOTE_OK)
		r = cnc_buf_u32(b, s->client.lasting);
	if (r == CENOTE_OK)
		r = cnc_buf_u32(b, (uint32_t)s->n_parameters);
	for (size_t i = 0; i < s->n_parameters && r == CENOTE_OK; i++)
		r = put_parameter(b, &s->parameters[i]);
	return r;
}

/* ---- lending ---- */

/* Nothing is under way: no byte is in our buffers, and no answer is awaited. */
static int
is_quiet(const struct cnd_session *s)
{
	return !s->is_lost && s->tx == 'I' && s->sync.n_ready == 0 &&
	       !s->sync.is_missing && !s->sync.is_skipping &&
	       s->stream.head == s->stream.tail && cnc_buf_len(&s->out.buf) == 0 &&
	       s->spent.portal == 0;
}

/* The borrower prepares its statements again, under the same names. So end them here. */
static int
end_statements(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	uint8_t nothing;
	int r = cnd_pg_enter(s, ret_diag);

	s->host->forget(s->host, s);
	(void)cnd_pg_run_begin(s, NULL);
	if (r == CENOTE_OK)
		r = cnd_pg_ask(s, "DEALLOCATE ALL", &nothing, 0);
	s->diag = NULL;
	return r;
}

int
cnd_pg_lend(struct cnd_session *s, struct cnc_buf *facts, int *ret_fd,
	struct cnc_diag *ret_diag)
{
	int r = CENOTE_OK;

	if (s->stream.ssl != NULL || !is_quiet(s)) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(UNSUPPORTED), "%s",
			s->stream.ssl != NULL ? "a connection with TLS cannot be lent"
					      : "the connection is not idle");
		return CENOTE_ERR_UNSUPPORTED;
	}
	r = end_statements(s, ret_diag);
	if (r == CENOTE_OK)
		r = put_facts(s, facts);
	if (r < 0)
		return r;
	s->was_lent = s->is_on_loan = 1;
	*ret_fd = s->fd;
	return CENOTE_OK;
}

void
cnd_pg_end_for_all(struct cnd_session *s)
{
	static const uint8_t terminate[CND_PG_HEADER] = { 'X', 0, 0, 0, 4 };

	if (!s->was_lent)
		return;
	(void)send(s->fd, terminate, sizeof(terminate), MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)shutdown(s->fd, SHUT_RDWR);
}

/* ---- taking back ---- */

/* Forget what was under way before the loan. */
static void
forget_stream(struct cnd_session *s)
{
	s->stream.head = s->stream.tail = 0;
	s->stream.row_left = 0;
	s->stream.is_dry = 0;
	cnd_pg_out_clear(s);
	s->out.n_ready = s->out.n_before = 0;
	s->out.is_unsynced = 0;
	s->sync = (struct cnd_pg_sync){ .n_ready = 0 };
	s->spent = (struct cnd_pg_spent){ .portal = 0 };
	cnd_pg_ahead_forget(s);
	(void)cnd_pg_run_begin(s, NULL);
}

static void
put_hex(char *to, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*to++ = digits[bytes[i] >> 4];
		*to++ = digits[bytes[i] & 15];
	}
	*to = '\0';
}

/* The number in two halves, which only the answer has side by side. An error that quotes our text does not match. */
struct nonce {
	char halves[2][2 * HALF + 1];
};

static int
make_nonce(struct cnd_session *s, struct nonce *ret_nonce)
{
	uint8_t bytes[2 * HALF];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return cnd_pg_lost(s, CNC_SQLSTATE(RESOURCES), "no random numbers");
	put_hex(ret_nonce->halves[0], bytes, HALF);
	put_hex(ret_nonce->halves[1], bytes + HALF, HALF);
	return CENOTE_OK;
}

/* CopyFail ends a copy, and is ignored otherwise. Sync ends what an error of an extended query makes the server skip. */
static int
add_question(struct cnd_session *s, const struct nonce *nonce)
{
	struct cnc_buf *b = &s->out.buf;
	char sql[128];
	int r = cnd_pg_add_query(b, 'f', "the loan has ended", 18);

	(void)snprintf(sql, sizeof(sql), "SELECT pg_catalog.concat('%s', '%s')",
		nonce->halves[0], nonce->halves[1]);
	if (r == CENOTE_OK)
		r = cnd_pg_add_plain(b, 'S');
	if (r == CENOTE_OK)
		r = cnd_pg_add_query(b, 'Q', "ROLLBACK", 8);
	return r < 0 ? r : cnd_pg_add_query(b, 'Q', sql, strlen(sql));
}

/* The DataRow and the CommandComplete that answer the question. */
static int
make_answer(const struct nonce *nonce, struct cnc_buf *b)
{
	uint32_t n = 4 * HALF;
	size_t mark;
	int r = cnd_pg_msg_begin(b, 'D', &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, 1);
	if (r == CENOTE_OK)
		r = cnd_pg_add_u32(b, n);
	if (r == CENOTE_OK)
		r = cnc_buf_append(b, nonce->halves[0], n / 2);
	if (r == CENOTE_OK)
		r = cnc_buf_append(b, nonce->halves[1], n / 2);
	if (r == CENOTE_OK)
		r = cnd_pg_msg_end(b, mark);
	return r < 0 ? r : cnd_pg_add_query(b, 'C', "SELECT 1", 8);
}

/* Read on from the answer, which ends with ReadyForQuery. */
static int
end_answer(struct cnd_session *s)
{
	struct cnd_pg_msg m;
	int r;

	s->sync.n_ready = 1;
	do {
		r = cnd_pg_next(s, &m);
		if (r == CENOTE_OK && m.type != 'Z' &&
			cnd_pg_async(s, &m, NULL) != CENOTE_OK)
			r = cnd_pg_broken(s, "more than the answer after a loan");
	} while (r == CENOTE_OK && m.type != 'Z');
	if (r == CENOTE_OK)
		r = cnd_pg_note_ready(s, &m);
	if (r == CENOTE_OK && s->tx != 'I')
		r = cnd_pg_broken(s, "a transaction after ROLLBACK");
	return r;
}

/* Ask once, and drop what comes before the answer. CENOTE_AGAIN: it has not come within timeout_ms. */
static int
ask_once(struct cnd_session *s, int timeout_ms)
{
	struct cnc_buf answer;
	struct nonce nonce;
	int r = make_nonce(s, &nonce);

	if (r < 0)
		return r;
	cnc_buf_init(&answer, s->mem, 256);
	r = make_answer(&nonce, &answer);
	if (r == CENOTE_OK)
		r = add_question(s, &nonce);
	if (r == CENOTE_OK)
		r = cnd_pg_skip_to(
			s, cnc_buf_head(&answer), cnc_buf_len(&answer), timeout_ms);
	cnc_buf_finish(&answer);
	return r;
}

/*
 * A server that does not answer may be at work for the borrower, whatever the page said, so it gets a cancel request. That
 * may stop our own question, too. So ask again after each, with more time.
 */
static int
resynchronise(struct cnd_session *s)
{
	int64_t until = cnd_clock_ms() + ANSWER_MS;
	int timeout_ms = SILENCE_MS;
	int r;

	while ((r = ask_once(s, timeout_ms)) == CENOTE_AGAIN) {
		(void)s->cancel(s, ANSWER_MS);
		if (cnd_clock_ms() >= until)
			return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
				"the server %s did not answer in time after a loan",
				s->server);
		timeout_ms *= 2;
	}
	return r < 0 ? r : end_answer(s);
}

void
cnd_pg_cancel_now(struct cnd_session *s)
{
	(void)s->cancel(s, ANSWER_MS);
}

/* ---- all of it ---- */

/* What the client did is known only from its own words. So assume that it may have done anything that a reset undoes. */
static void
note_left(struct cnd_session *s, uint32_t left)
{
	s->client.is_used = 1;
	s->client.is_unproved = 1;
	s->client.lasting |= left & (CND_PG_SCAN_DEFINES | CND_PG_SCAN_STAYS);
	s->login.may_change |= (left & CND_PG_LEFT_LOGIN_MAY_CHANGE) != 0;
	if ((left & CND_PG_LEFT_LOGIN_CHANGED) != 0 && s->host->login_changed != NULL)
		s->host->login_changed(s->host);
}

int
cnd_pg_take_back(
	struct cnd_session *s, uint32_t left, bool is_busy, struct cnc_diag *ret_diag)
{
	uint8_t nothing;
	int r = cnd_pg_enter(s, ret_diag);

	s->is_on_loan = 0;
	if (r < 0)
		return r;
	forget_stream(s);
	note_left(s, left);
	if (is_busy && s->cancel(s, ANSWER_MS) == CENOTE_ERR_TIMEOUT)
		r = cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
			"the server %s does not answer a cancel request", s->server);
	if (r == CENOTE_OK)
		r = resynchronise(s);
	if (r == CENOTE_OK)
		r = cnd_pg_ask(s, "DISCARD ALL", &nothing, 0);
	if (r == CENOTE_OK)
		r = cnd_pg_ask_values(s);
	s->diag = NULL;
	return r;
}
