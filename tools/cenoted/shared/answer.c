/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers that need no session: HELLO, errors, cancels, status queries, and finding the session
 * that a client wants to resume. They come from the scoreboard. Workers, helpers and the door call
 * this file.
 */
#include "answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/sqlstate.h"
#include "log.h"
#include "units.h"

void
cnd_answer_refuse(struct cnp_server *s, const char *sqlstate, const char *format, ...)
{
	char text[CNC_DIAG_MESSAGE_MAX];
	struct cnc_diag diag;
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cnc_diag_init(&diag, NULL);
	cnc_diag_set(&diag, sqlstate, "%s", text);
	/* without memory, the connection is just closed */
	(void)cnp_server_error(s, &diag);
	cnc_diag_finish(&diag);
}

/* In mode = transaction: how many sessions are pinned, and by what; "" if none is. */
static void
put_pinned(const struct cnd_pool_head *head, const struct cnd_census *census,
	char to[CND_LATE_TEXT_MAX])
{
	size_t n = 0;

	to[0] = '\0';
	if (head->mode != CND_MODE_TRANSACTION || census->pinned == 0)
		return;
	n += (size_t)snprintf(to, CND_LATE_TEXT_MAX, ", %u pinned", census->pinned);
	for (size_t i = 0, n_named = 0; i < CND_PINS; i++) {
		if (census->pins[i] > 0)
			n += (size_t)snprintf(to + n, CND_LATE_TEXT_MAX - n,
				"%s %u by %s", n_named++ > 0 ? "," : ":", census->pins[i],
				cnd_pin_names[i].words);
	}
	(void)snprintf(to + n, CND_LATE_TEXT_MAX - n, "; see \\pins in sqlsh");
}

void
cnd_answer_late(const struct cnd_scoreboard *b, uint32_t pool, uint32_t n_waiting,
	char ret_text[CND_LATE_TEXT_MAX])
{
	const struct cnd_pool_head *head = cnd_pool_head(b, pool);
	char pinned[CND_LATE_TEXT_MAX];
	char limit[CND_UNITS_TEXT_MAX];
	struct cnd_census census;

	cnd_pool_census(b, pool, &census);
	atomic_fetch_add_explicit(
		&cnd_pool_record(b, pool)->timeouts, 1, memory_order_relaxed);
	cnd_ms_text(head->queue_timeout_ms, limit);
	put_pinned(head, &census, pinned);
	(void)snprintf(ret_text, CND_LATE_TEXT_MAX,
		"pool %s: no free session in %s (%u of %u in use, %u waiting%s)",
		head->name, limit, census.in_use, head->max_sessions, n_waiting, pinned);
	cnd_log(LOG_NOTICE, "a client gave up: %s", ret_text);
}

int
cnd_answer_hello(struct cnp_server *s)
{
	return s->said_hello ? CENOTE_OK : cnp_server_hello(s, 0, CNP_AUTH_NONE, NULL);
}

int
cnd_answer_hello_login(struct cnp_server *s, int tls, uint8_t logins)
{
	const char *mechanisms = cnd_logins_mechanisms(logins, tls);

	if (s->said_hello)
		return CENOTE_OK;
	return cnp_server_hello(s, (uint8_t)tls,
		*mechanisms != '\0' ? CNP_AUTH_SASL : CNP_AUTH_NONE, mechanisms);
}

void
cnd_answer_cancelled(struct cnp_server *s, int is_delivered)
{
	struct cnp_msg reply = { .code = CNP_MSG_CANCELLED };

	reply.as.cancelled.delivered = is_delivered != 0;
	if (cnd_answer_hello(s) == CENOTE_OK &&
		cnp_server_reply(s, &reply, 0) == CENOTE_OK)
		(void)cnp_server_finish_request(s, CENOTE_TX_IDLE, 0, NULL);
}

static uint32_t
suspended_or_refused(struct cnp_server *s, const struct cnd_scoreboard *b, uint32_t slot)
{
	if (slot != CND_BOARD_NONE && cnd_slot_at(b, slot)->state == CND_SLOT_SUSPENDED)
		return slot;
	cnd_answer_refuse(s, CNC_SQLSTATE(BAD_LOGIN),
		"there is no such suspended session, or not any more");
	return CND_BOARD_NONE;
}

uint32_t
cnd_answer_resume(struct cnp_server *s, const struct cnd_scoreboard *b, uint32_t pool,
	const struct cnp_resume *m)
{
	return suspended_or_refused(s, b, cnd_slot_find(b, pool, m->session, m->key));
}

uint32_t
cnd_answer_resume_named(
	struct cnp_server *s, const struct cnd_scoreboard *b, uint32_t pool)
{
	if (s->opening.has_session)
		return suspended_or_refused(
			s, b, cnd_slot_named(b, pool, s->opening.session));
	cnd_answer_refuse(s, CNC_SQLSTATE(PROTOCOL),
		"to resume a session through TLS, name it in the opening");
	return CND_BOARD_NONE;
}

/* ---- status: each kind is a table of columns ---- */

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

struct row {
	struct cnd_scoreboard *board;
	uint32_t index;
	const struct cnd_pool_head *head;
	const struct cnd_pool_record *pool;
	const struct cnd_slot *slot; /* workers only */
	uint32_t state;
	struct cnd_census census; /* pools and pin_counts only */
	uint32_t pin; /* pin_counts only */
	struct cnd_identity identity;
	struct cnd_login login;
};

struct field {
	const char *name;
	uint8_t type; /* CENOTE_TYPE_INT64 or _TEXT */
	int64_t (*number)(const struct row *r);
	const char *(*text)(const struct row *r);
};

#define NUMBER(name, expression)                                                         \
	static int64_t name(const struct row *r)                                         \
	{                                                                                \
		return (int64_t)(expression);                                            \
	}
#define TEXT(name, expression)                                                           \
	static const char *name(const struct row *r)                                     \
	{                                                                                \
		return expression;                                                       \
	}

TEXT(pool_name, r->head->name)
TEXT(pool_backend, r->head->backend)
NUMBER(pool_min, r->head->min_sessions)
NUMBER(pool_max, r->head->max_sessions)
NUMBER(pool_live, r->census.live)
NUMBER(pool_idle, r->census.n[CND_SLOT_IDLE])
NUMBER(pool_in_use, r->census.in_use)
NUMBER(pool_suspended, r->census.n[CND_SLOT_SUSPENDED])
NUMBER(pool_failing, r->census.n[CND_SLOT_FAILING])
NUMBER(pool_waiting, r->pool->waiting)
NUMBER(pool_attaches, r->pool->attaches)
NUMBER(pool_requests, r->pool->requests)
NUMBER(pool_errors, r->pool->errors)
NUMBER(pool_yields, r->pool->yields)
NUMBER(pool_relogins, r->pool->relogins)
NUMBER(pool_queued, r->pool->queued)
NUMBER(pool_timeouts, r->pool->timeouts)
TEXT(worker_error, r->login.error)
NUMBER(worker_pid, cnd_slot_head(r->board, r->index)->pid)
TEXT(worker_state, r->state == CND_SLOT_ATTACHED && r->slot->is_lent
			   ? "lent"
			   : cnd_slot_states[r->state % CND_SLOT_STATES].name)
NUMBER(worker_state_ms, cnd_now_ms() - r->slot->since_ms)
TEXT(worker_server, r->login.server)
TEXT(worker_user, r->identity.user)
TEXT(worker_program, r->identity.program)
TEXT(worker_application, r->identity.application)
NUMBER(worker_client_pid, r->identity.pid)
TEXT(worker_tls, r->identity.tls)
TEXT(worker_server_tls, r->login.tls)
NUMBER(worker_attaches, r->slot->attaches)
NUMBER(worker_requests, r->slot->requests)
NUMBER(worker_errors, r->slot->errors)
NUMBER(pinned_s, (cnd_now_ms() - r->slot->pinned_ms) / 1000)
TEXT(pin_key, cnd_pin_names[r->pin].key)
NUMBER(pin_now, r->census.pins[r->pin])
NUMBER(pin_begun, r->pool->pins[r->pin])

/* Write `first` and the keys of the pins. The next call overwrites the text: a process has one thread, and each value is
 * copied before the next is read. */
static const char *
keys_of_pins(uint32_t pins, const char *first)
{
	static char text[128];
	size_t len = (size_t)snprintf(text, sizeof(text), "%s", first);

	for (size_t i = 0; i < CND_PINS; i++) {
		if (pins & 1u << i)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
				len > 0 ? "," : "", cnd_pin_names[i].key);
	}
	return text;
}

/* The reasons why the client's session cannot be yielded. */
static const char *
worker_pins(const struct row *r)
{
	if (r->state != CND_SLOT_ATTACHED && r->state != CND_SLOT_SUSPENDED)
		return "";
	return keys_of_pins(
		r->slot->pins, r->slot->tx != CENOTE_TX_IDLE ? "transaction" : "");
}

TEXT(pinned_by, keys_of_pins(r->slot->pinned, ""))

#define INT(name, get)                                                                   \
	{                                                                                \
		name, CENOTE_TYPE_INT64, get, NULL                                       \
	}
#define STRING(name, get)                                                                \
	{                                                                                \
		name, CENOTE_TYPE_TEXT, NULL, get                                        \
	}

static const struct field pool_fields[] = {
	STRING("pool", pool_name),
	STRING("backend", pool_backend),
	INT("min", pool_min),
	INT("max", pool_max),
	INT("live", pool_live),
	INT("idle", pool_idle),
	INT("in_use", pool_in_use),
	INT("suspended", pool_suspended),
	INT("failing", pool_failing),
	INT("waiting", pool_waiting),
	INT("attaches", pool_attaches),
	INT("requests", pool_requests),
	INT("errors", pool_errors),
	INT("yields", pool_yields),
	INT("relogins", pool_relogins),
	INT("queued", pool_queued),
	INT("timeouts", pool_timeouts),
	STRING("last_error", worker_error),
};

static const struct field worker_fields[] = {
	STRING("pool", pool_name),
	INT("pid", worker_pid),
	STRING("state", worker_state),
	INT("state_ms", worker_state_ms),
	STRING("server", worker_server),
	STRING("user", worker_user),
	STRING("program", worker_program),
	STRING("application", worker_application),
	INT("client_pid", worker_client_pid),
	INT("attaches", worker_attaches),
	INT("requests", worker_requests),
	INT("errors", worker_errors),
	STRING("pins", worker_pins),
	STRING("last_error", worker_error),
	STRING("tls", worker_tls),
	STRING("server_tls", worker_server_tls),
};

static const struct field pinned_fields[] = {
	STRING("pool", pool_name),
	INT("pid", worker_pid),
	STRING("state", worker_state),
	STRING("user", worker_user),
	STRING("program", worker_program),
	STRING("application", worker_application),
	INT("client_pid", worker_client_pid),
	STRING("pins", pinned_by),
	INT("pinned_s", pinned_s),
};

static const struct field pin_fields[] = {
	STRING("pool", pool_name),
	STRING("pin", pin_key),
	INT("pinned", pin_now),
	INT("begun", pin_begun),
};

#define FIELDS_MAX 24

_Static_assert(N_ITEMS(pool_fields) <= FIELDS_MAX && N_ITEMS(worker_fields) <= FIELDS_MAX,
	"room for all columns");

static int
may_know_of(const struct cnd_asker *asker, uint32_t pool)
{
	return asker->pool == CND_POOL_RECORD || asker->pool == pool;
}

static int
read_pool(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct row *r)
{
	if (!cnd_pool_head(b, index)->is_used || !may_know_of(asker, index))
		return 0;
	*r = (struct row){ .board = b,
		.index = index,
		.head = cnd_pool_head(b, index),
		.pool = cnd_pool_record(b, index) };
	cnd_pool_census(b, index, &r->census);
	if (asker->slot >= 0 && cnd_slot_head(b, (uint32_t)asker->slot)->pool == index) {
		r->census.n[CND_SLOT_OPENING]--;
		r->census.n[CND_SLOT_IDLE]++;
		r->census.in_use--;
	}
	if (r->census.failing_slot >= 0)
		cnd_slot_login(
			cnd_slot_at(b, (uint32_t)r->census.failing_slot), &r->login);
	return 1;
}

/* Whether the asker may know who the client is: only the client's own user, and users who run the
 * pool, may. */
static int
may_know(const struct cnd_asker *asker, const struct cnd_identity *client)
{
	/* a TCP client has no user id, and must not match others without one */
	if (asker->uid == (uid_t)-1)
		return 0;
	return asker->uid == 0 || asker->uid == asker->cenoted ||
	       asker->uid == (uid_t)client->uid;
}

static int
read_worker(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct row *r)
{
	const struct cnd_slot_head *head = cnd_slot_head(b, index);
	const struct cnd_slot *slot;

	if (head->pid == 0 || !may_know_of(asker, head->pool))
		return 0;
	slot = cnd_slot_at(b, index);
	*r = (struct row){ .board = b,
		.index = index,
		.head = cnd_pool_head(b, head->pool),
		.pool = cnd_pool_record(b, head->pool),
		.slot = slot };
	r->state = asker->slot == (int)index ? (uint32_t)CND_SLOT_IDLE : slot->state;
	cnd_slot_identity(slot, &r->identity);
	if (!may_know(asker, &r->identity))
		r->identity = (struct cnd_identity){ .pid = 0 };
	cnd_slot_login(slot, &r->login);
	return 1;
}

static int
read_pinned(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct row *r)
{
	return read_worker(b, index, asker, r) && cnd_slot_pinned(r->slot, r->state) != 0;
}

static int
read_pin(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct row *r)
{
	uint32_t pool = index / CND_PINS, pin = index % CND_PINS;

	if (cnd_pool_record(b, pool)->pins[pin] == 0 || !read_pool(b, pool, asker, r))
		return 0;
	r->pin = pin;
	return 1;
}

static const struct kind {
	const char *what;
	const struct field *fields;
	uint32_t n_fields;
	uint32_t a_pool; /* the most rows for a pool; 0: one for each slot */
	int (*read)(struct cnd_scoreboard *b, uint32_t index,
		const struct cnd_asker *asker, struct row *r);
} kinds[] = {
	{ "pools", pool_fields, N_ITEMS(pool_fields), 1, read_pool },
	{ "workers", worker_fields, N_ITEMS(worker_fields), 0, read_worker },
	{ "pins", pinned_fields, N_ITEMS(pinned_fields), 0, read_pinned },
	{ "pin_counts", pin_fields, N_ITEMS(pin_fields), CND_PINS, read_pin },
};

static int
put_columns(struct cnp_server *s, const struct kind *k)
{
	struct cnp_column columns[FIELDS_MAX];

	for (uint32_t i = 0; i < k->n_fields; i++) {
		columns[i] = (struct cnp_column)CNP_COLUMN_INIT;
		columns[i].name = cnp_str(k->fields[i].name);
		columns[i].type = k->fields[i].type;
		columns[i].nullable = 0;
	}
	return cnp_server_columns(s, columns, k->n_fields);
}

static int
put_row(struct cnc_batch *w, const struct kind *k, const struct row *row)
{
	int r = cnc_batch_row(w);

	for (uint32_t i = 0; i < k->n_fields && r == CENOTE_OK; i++) {
		const struct field *f = &k->fields[i];
		char number[CNC_VALUE_TEXT_MAX];
		const char *text = number;
		size_t len;

		if (f->number != NULL) {
			len = cnc_int64_text(f->number(row), number);
		} else {
			text = f->text(row);
			len = strlen(text);
		}
		r = cnc_batch_put(w, text, len);
	}
	if (r == CENOTE_OK)
		cnc_batch_row_done(w);
	return r;
}

static int
put_rows(struct cnp_server *s, struct cnd_scoreboard *b, const struct kind *k,
	const struct cnd_asker *asker, uint32_t *ret_n)
{
	uint32_t most = k->a_pool > 0 ? CND_POOL_RECORD * k->a_pool : b->n_slots;
	struct cnc_batch batch;
	struct row row;
	uint32_t n = 0;
	int r = cnp_server_rows_begin(s, &batch, k->n_fields);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < most && r == CENOTE_OK; i++) {
		if (!k->read(b, i, asker, &row))
			continue;
		r = put_row(&batch, k, &row);
		n++;
	}
	if (r < 0)
		cnc_batch_row_undo(&batch);
	*ret_n = n;
	return r < 0 ? r : cnp_server_rows_end(s, &batch);
}

static int
put_status(struct cnp_server *s, struct cnd_scoreboard *b, const struct kind *k,
	const struct cnd_asker *asker)
{
	struct cnp_msg done = { .code = CNP_MSG_DONE };
	char tag[32];
	uint32_t n = 0;
	int r = cnd_answer_hello(s);

	if (r == CENOTE_OK)
		r = put_columns(s, k);
	if (r == CENOTE_OK)
		r = put_rows(s, b, k, asker, &n);
	if (r < 0)
		return r;
	snprintf(tag, sizeof(tag), "STATUS %u", n);
	done.as.done.tag = cnp_str(tag);
	done.as.done.affected = -1;
	r = cnp_server_reply(s, &done, 0);
	if (r < 0)
		return r;
	return cnp_server_finish_request(s, CENOTE_TX_IDLE, 0, NULL);
}

void
cnd_answer_status(struct cnp_server *s, struct cnd_scoreboard *b,
	const struct cnp_status *m, const struct cnd_asker *asker)
{
	for (size_t i = 0; i < N_ITEMS(kinds); i++) {
		if (strcmp(kinds[i].what, m->what.p) != 0)
			continue;
		if (put_status(s, b, &kinds[i], asker) < 0)
			cnd_answer_refuse(
				s, CNC_SQLSTATE(INTERNAL), "status: out of memory");
		return;
	}
	cnd_answer_refuse(s, CNC_SQLSTATE(BAD_PARAMETER),
		"unknown status query; there are \"pools\", \"workers\", \"pins\" and "
		"\"pin_counts\"");
}
