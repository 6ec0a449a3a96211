/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What pins the session to its client, since when, and the limits for that. It owns w->pins and the slot's tx, pins, pinned
 * and pinned_ms. owner.c and lend.c report each new state here.
 */
#include "worker.h"

#include <stdio.h>
#include <string.h>

#include "shared.h"
#include "core/sql.h"
#include "shared/units.h"

/* ---- the statement that began it ---- */

struct cnp_str
cnd_worker_sql_of(const struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnd_statement *st;

	if (m->code == CNP_MSG_QUERY)
		return m->as.query.sql;
	if (m->code == CNP_MSG_PREPARE)
		return m->as.prepare.sql;
	if (m->code != CNP_MSG_EXECUTE)
		return CNP_STR_NONE;
	st = cnd_statement_find(&w->serving.statements, m->as.execute.statement);
	return st != NULL && st->sql != NULL ? (struct cnp_str){ st->sql, st->len }
					     : CNP_STR_NONE;
}

void
cnd_pins_begin(struct cnd_worker *w, const struct cnp_msg *m)
{
	struct cnp_str sql;

	if (w->config->mode != CND_MODE_TRANSACTION || w->config->pin_warning_ms == 0 ||
		w->slot->pinned != 0)
		return;
	/* the message may be gone when the pin is known */
	sql = cnd_worker_sql_of(w, m);
	w->pins.n_sql = sql.n < CND_PIN_SQL_MAX ? sql.n : CND_PIN_SQL_MAX;
	if (sql.n > 0)
		memcpy(w->pins.sql, sql.p, w->pins.n_sql);
}

/* How many words at the beginning of a statement say what it does, and cannot be values. In T-SQL, the word after the name
 * of a procedure is a value. */
static size_t
count_safe_words(const struct cnc_sql_token *verb)
{
	static const char *const with_names[] = { "create", "declare", NULL };
	static const char *const with_name[] = { "listen", "lock", "prepare", "select",
		"set", NULL };

	if (cnc_sql_is_one_of(verb, with_names))
		return 4;
	return cnc_sql_is_one_of(verb, with_name) ? 2 : 1;
}

/* Part of a word may be missing at the end of the kept bytes. 0x1f is also read as a word. */
static bool
is_whole_name(const struct cnd_worker_pins *p, const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_WORD && (*t->p < '0' || *t->p > '9') &&
	       (t->p + t->n < p->sql + p->n_sql || p->n_sql < CND_PIN_SQL_MAX);
}

/* Keep those words, up to the first token of another kind. */
static void
keep_words(struct cnd_worker_pins *p)
{
	struct cnc_sql x = cnc_sql_begin(p->sql, p->n_sql, CNC_SQL_ANSI);
	struct cnc_sql_token t = cnc_sql_next(&x);
	size_t n = 0, left = count_safe_words(&t);

	for (; left > 0 && is_whole_name(p, &t); t = cnc_sql_next(&x), left--) {
		if (n + 1 + t.n >= sizeof(p->words))
			break;
		n += (size_t)snprintf(p->words + n, sizeof(p->words) - n, "%s%.*s",
			n > 0 ? " " : "", (int)t.n, t.p);
	}
	p->words[n] = '\0';
	p->n_sql = 0;
}

/* ---- the state ---- */

/* Publish which pins surely hold the session, and count those that begin to. */
static void
hold(struct cnd_worker *w, uint32_t pins)
{
	struct cnd_slot *s = w->slot;
	uint32_t begun = pins & ~s->pinned;

	if (s->pinned == pins)
		return;
	for (size_t i = 0; i < CND_PINS; i++) {
		if (begun & 1u << i)
			atomic_fetch_add_explicit(
				&w->pool->pins[i], 1, memory_order_relaxed);
	}
	if (s->pinned == 0) {
		w->pins.is_warned = false;
		atomic_store_explicit(&s->pinned_ms, cnd_now_ms(), memory_order_relaxed);
	}
	atomic_store_explicit(&s->pinned, pins, memory_order_relaxed);
}

bool
cnd_pins_may_move_listen(const struct cnd_worker *w)
{
	return w->shared != NULL && w->serving.backend->listen != NULL &&
	       w->config->mode == CND_MODE_TRANSACTION && w->config->n_servers == 1 &&
	       w->config->clients_login == CND_CLIENTS_NONE && w->shared->n_slots > 1;
}

/* The pool's own conditions; the backend has more of them. */
bool
cnd_pins_may_move(const struct cnd_worker *w)
{
	const struct cnd_serving *s = &w->serving;

	return cnd_pins_may_move_listen(w) && s->held.tx == CENOTE_TX_IDLE &&
	       s->held.pins == CENOTE_PIN_LISTEN && w->settle.unmoved_at != s->n_served &&
	       cnd_staying_may(w) && cnp_server_can_listen(&w->client.server);
}

/* Without asking the server, a function may have left something or nothing, and new settings may move. */
static uint32_t
sure_pins(const struct cnd_worker *w, uint32_t pins)
{
	/* if something else holds the session, the backend does not ask, and leaves this pin */
	uint32_t unsure = w->serving.backend->settled_pins & CENOTE_PIN_FUNCTION;

	if (w->loan.page != NULL || cnd_request_may_settle(&w->serving))
		unsure |= CENOTE_PIN_SETTINGS & ~w->slot->pinned;
	if (cnd_pins_may_move(w))
		unsure |= CENOTE_PIN_LISTEN;
	return pins & ~unsure;
}

void
cnd_pins_note(struct cnd_worker *w, uint8_t tx, uint32_t pins)
{
	struct cnd_slot *s = w->slot;

	if ((pins & ~s->pins) != 0 && w->pins.n_sql > 0)
		keep_words(&w->pins);
	atomic_store_explicit(&s->tx, tx, memory_order_relaxed);
	atomic_store_explicit(&s->pins, pins, memory_order_relaxed);
	/* what begins in a transaction may end with it */
	hold(w, tx == CENOTE_TX_IDLE ? sure_pins(w, pins) : pins & s->pinned);
}

void
cnd_pins_forget(struct cnd_worker *w)
{
	cnd_pins_note(w, CENOTE_TX_IDLE, 0);
	w->pins.words[0] = '\0';
	w->pins.n_sql = 0;
}

/* ---- the limits ---- */

static int64_t
limit(const struct cnd_worker *w, int64_t ms)
{
	return w->config->mode == CND_MODE_TRANSACTION && ms > 0 && w->slot->pinned != 0
		       ? w->slot->pinned_ms + ms
		       : CND_NEVER;
}

int64_t
cnd_pins_limit(const struct cnd_worker *w)
{
	return w->slot->tx == CENOTE_TX_IDLE && cnp_server_can_yield(&w->client.server)
		       ? limit(w, w->config->pin_timeout_ms)
		       : CND_NEVER;
}

int64_t
cnd_pins_warning(const struct cnd_worker *w)
{
	return w->pins.is_warned ? CND_NEVER : limit(w, w->config->pin_warning_ms);
}

bool
cnd_pins_warn(struct cnd_worker *w, char ret_text[CND_PINS_WARNING_MAX])
{
	int64_t until = cnd_pins_warning(w), now = until == CND_NEVER ? 0 : cnd_now_ms();
	char pins[CND_PINS_TEXT_MAX], ms[CND_UNITS_TEXT_MAX];
	const char *words = w->pins.words;

	if (now < until)
		return false;
	w->pins.is_warned = true;
	now -= w->slot->pinned_ms;
	(void)snprintf(ret_text, CND_PINS_WARNING_MAX,
		"user %.63s keeps a session for %s by %s%s%s%s; reset or close the "
		"connection, or use a pool with mode = session",
		w->client.user, cnd_ms_text(now < 1000 ? now : now - now % 1000, ms),
		cnd_pins_text(w->slot->pinned, pins), *words ? ", since \"" : "", words,
		*words ? "\"" : "");
	return true;
}
