/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Make and close connections. One process owns a connection, and only that process makes calls, so
 * it never waits for the lock. Other threads come when a process dies, when a term is collected, or
 * when something arrives between calls. They leave a note and try the lock. The holder of the lock
 * reads the notes after its call. So two threads never use libcenote together, and nobody waits.
 */
#include "cer.h"

#include <stdlib.h>
#include <string.h>

static ErlNifResourceType *conn_type, *handle_type;

/* ----------------------------------------------------------------------- handles ----- */

void
cer_part_destroy(struct cer_conn *c, struct cer_part *part)
{
	if (part->res && part->res == c->reading.res)
		cer_reading_end(c);
	cenote_stmt_destroy(part->stmt);
	cenote_result_destroy(part->res);
	part->stmt = NULL;
	part->res = NULL;
}

static void
empty_dead(struct cer_conn *c)
{
	struct cer_part *part = atomic_exchange(&c->dead, NULL);

	while (part) {
		struct cer_part *next = part->next;

		cer_part_destroy(c, part);
		enif_free(part);
		part = next;
	}
}

static void
handle_dtor(ErlNifEnv *env, void *object)
{
	struct cer_handle *h = object;
	struct cer_conn *c = h->conn;
	struct cer_part *part = h->part;

	part->next = atomic_load(&c->dead);
	while (!atomic_compare_exchange_weak(&c->dead, &part->next, part))
		;
	cer_tidy(env, c);
	enif_release_resource(c);
}

ERL_NIF_TERM
cer_handle_new(struct cer_conn *c, cenote_stmt *stmt, cenote_result *res)
{
	struct cer_part *part = enif_alloc(sizeof(*part));
	struct cer_handle *h = enif_alloc_resource(handle_type, sizeof(*h));
	ERL_NIF_TERM term;

	memset(part, 0, sizeof(*part));
	part->stmt = stmt;
	part->res = res;
	enif_keep_resource(c);
	h->conn = c;
	h->part = part;
	term = enif_make_resource(c->env, h);
	enif_release_resource(h);
	return term;
}

struct cer_handle *
cer_handle_get(ErlNifEnv *env, ERL_NIF_TERM term)
{
	void *h;

	return enif_get_resource(env, term, handle_type, &h) ? h : NULL;
}

struct cer_part *
cer_handle_part(struct cer_conn *c, ERL_NIF_TERM term)
{
	struct cer_handle *h = cer_handle_get(c->env, term);

	return h && h->conn == c ? h->part : NULL;
}

/* -------------------------------------------------------------------- connections ----- */

static void
conn_dtor(ErlNifEnv *env, void *object)
{
	struct cer_conn *c = object;

	if (c->conn) {
		cer_reading_end(c);
		empty_dead(c);
		cenote_result_destroy(c->copy);
		cenote_conn_destroy(c->conn);
		cer_watch_end(env, c);
	}
	cenote_cancel_destroy(c->cancel);
	cenote_params_destroy(c->params);
	enif_free(c->reading.decode);
	enif_free(c->reading.cells);
	if (c->lock)
		enif_mutex_destroy(c->lock);
	if (c->cancel_lock)
		enif_mutex_destroy(c->cancel_lock);
}

static void
conn_down(ErlNifEnv *env, void *object, ErlNifPid *pid, ErlNifMonitor *monitor)
{
	(void)pid;
	(void)monitor;
	cer_doom(env, object);
}

int
cer_conn_load(ErlNifEnv *env)
{
	ErlNifResourceTypeInit conn = { .dtor = conn_dtor, .down = conn_down };
	ErlNifResourceTypeInit handle = { .dtor = handle_dtor };

	conn_type = enif_open_resource_type_x(
		env, "cenote_conn", &conn, CER_RESOURCE_FLAGS, NULL);
	handle_type = enif_open_resource_type_x(
		env, "cenote_handle", &handle, CER_RESOURCE_FLAGS, NULL);
	return conn_type && handle_type ? 0 : -1;
}

static int
conn_init(struct cer_conn *c)
{
	/* enif_mutex_create() copies the name, but does not take a const. */
	static char names[][16] = { "cenote_conn", "cenote_cancel" };

	c->lock = enif_mutex_create(names[0]);
	c->cancel_lock = enif_mutex_create(names[1]);
	if (!c->lock || !c->cancel_lock || cenote_params_create(NULL, &c->params) < 0 ||
		cenote_conn_create(NULL, &c->conn) < 0)
		return -1;
	cenote_set_nonblocking(c->conn, 1);
	c->timeout_ms = -1;
	return 0;
}

ERL_NIF_TERM
cer_conn_new(ErlNifEnv *env)
{
	struct cer_conn *c = enif_alloc_resource(conn_type, sizeof(*c));
	ERL_NIF_TERM term;

	memset(c, 0, sizeof(*c));
	if (conn_init(c) < 0) {
		enif_release_resource(c);
		return enif_raise_exception(env, enif_make_atom(env, "enomem"));
	}
	(void)enif_self(env, &c->owner);
	(void)enif_monitor_process(env, c, &c->owner, &c->monitor);
	term = enif_make_resource(env, c);
	enif_release_resource(c);
	return term;
}

struct cer_conn *
cer_conn_get(ErlNifEnv *env, ERL_NIF_TERM term)
{
	void *c;

	return enif_get_resource(env, term, conn_type, &c) ? c : NULL;
}

ERL_NIF_TERM
cer_conn_term(ErlNifEnv *env, struct cer_conn *c)
{
	return enif_make_resource(env, c);
}

int
cer_conn_set_owner(struct cer_conn *c, const ErlNifPid *pid)
{
	ErlNifMonitor monitor;

	if (enif_monitor_process(c->env, c, pid, &monitor) != 0)
		return -1;
	(void)enif_demonitor_process(c->env, c, &c->monitor);
	c->monitor = monitor;
	c->owner = *pid;
	return 0;
}

/* ------------------------------------------------------------------------- calls ----- */

static int
needs_tidying(struct cer_conn *c)
{
	return atomic_load(&c->life) == CER_DOOMED || atomic_load(&c->dead) != NULL ||
	       (atomic_load(&c->wants_listen) && !c->is_waiting);
}

/* The caller holds the lock. */
static void
tidy(ErlNifEnv *env, struct cer_conn *c)
{
	empty_dead(c);
	if (atomic_load(&c->life) == CER_DOOMED) {
		atomic_store(&c->life, CER_CLOSED);
		atomic_store(&c->wants_listen, 0);
		cenote_close(c->conn);
		cer_event_end(env, c);
	}
	/* Also after an error: if libcenote closed the socket, the duplicate must close, too. */
	if (cenote_fd(c->conn) < 0)
		cer_watch_end(env, c);
	if (atomic_load(&c->wants_listen) && !c->is_waiting)
		cer_event_listen(env, c);
}

void
cer_tidy(ErlNifEnv *env, struct cer_conn *c)
{
	/* A note is written before trying the lock, and read after releasing it. */
	atomic_thread_fence(memory_order_seq_cst);
	while (needs_tidying(c) && enif_mutex_trylock(c->lock) == 0) {
		tidy(env, c);
		enif_mutex_unlock(c->lock);
		atomic_thread_fence(memory_order_seq_cst);
	}
}

void
cer_doom(ErlNifEnv *env, struct cer_conn *c)
{
	int alive = CER_ALIVE;

	(void)atomic_compare_exchange_strong(&c->life, &alive, CER_DOOMED);
	cer_tidy(env, c);
}

static ERL_NIF_TERM
refuse(ErlNifEnv *env, const struct cer_conn *c)
{
	if (atomic_load(&c->life) != CER_ALIVE)
		return cer_error_text(
			env, CENOTE_ERR_STATE, "08003", "the connection is closed");
	return cer_error_text(env, CENOTE_ERR_STATE, "55000",
		"the connection belongs to another process");
}

int
cer_enter(ErlNifEnv *env, struct cer_conn *c, ERL_NIF_TERM *ret_error)
{
	ErlNifPid self;

	(void)enif_self(env, &self);
	enif_mutex_lock(c->lock);
	c->env = env;
	if (atomic_load(&c->life) == CER_ALIVE &&
		enif_compare_pids(&self, &c->owner) == 0)
		return 0;
	*ret_error = refuse(env, c);
	enif_mutex_unlock(c->lock);
	cer_tidy(env, c);
	return -1;
}

void
cer_leave(ErlNifEnv *env, struct cer_conn *c)
{
	tidy(env, c);
	enif_mutex_unlock(c->lock);
	cer_tidy(env, c);
}
