/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that src/cenote_nif.erl declares. */
#include "cer.h"

struct cer_atoms cer_atom;

static ERL_NIF_TERM
nif_new(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	(void)argv;
	return cer_conn_new(env);
}

static struct cer_op *
find_op(ERL_NIF_TERM name)
{
	static struct cer_op *const lists[] = { cer_request_ops, cer_simple_ops };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (struct cer_op *op = lists[i]; op->name; op++) {
			if (op->atom == name)
				return op;
		}
	}
	return NULL;
}

static ERL_NIF_TERM
run_op(struct cer_conn *c, const struct cer_op *op, const ERL_NIF_TERM *args)
{
	ERL_NIF_TERM answer = op->run ? op->run(c, args) : cer_run_simple(c, op, args);

	c->is_waiting = answer == cer_atom.again;
	if (c->is_waiting && c->cancel)
		cenote_cancel_follow(c->cancel, c->conn);
	return answer;
}

/* talk(Conn, Name, Arguments): all calls of the owner. */
static ERL_NIF_TERM
nif_talk(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct cer_conn *c = cer_conn_get(env, argv[0]);
	const struct cer_op *op = find_op(argv[1]);
	const ERL_NIF_TERM *args;
	ERL_NIF_TERM answer;
	int n;

	if (!c || !op || !enif_get_tuple(env, argv[2], &n, &args) || n != op->arity)
		return enif_make_badarg(env);
	if (c->is_remote && enif_thread_type() == ERL_NIF_THR_NORMAL_SCHEDULER)
		return enif_schedule_nif(
			env, "talk", ERL_NIF_DIRTY_JOB_IO_BOUND, nif_talk, argc, argv);
	if (cer_enter(env, c, &answer) < 0)
		return answer;
	answer = run_op(c, op, args);
	cer_leave(env, c);
	return answer;
}

/* rows(Conn, Left, Rows): put more rows before the given ones. */
static ERL_NIF_TERM
nif_rows(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct cer_conn *c = cer_conn_get(env, argv[0]);
	ErlNifUInt64 left;
	ERL_NIF_TERM answer;

	(void)argc;
	if (!c || !enif_get_uint64(env, argv[1], &left) || !enif_is_list(env, argv[2]))
		return enif_make_badarg(env);
	if (cer_enter(env, c, &answer) < 0)
		return answer;
	answer = cer_rows(c, left, argv[2]);
	cer_leave(env, c);
	return answer;
}

/* watch(Conn, Ref): returns {Ms, N}: the time to wait for {select, _, Ref, _}, and the number of
 * such messages that may come. */
static ERL_NIF_TERM
nif_watch(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct cer_conn *c = cer_conn_get(env, argv[0]);
	ERL_NIF_TERM answer;
	int ms, n_messages;

	(void)argc;
	if (!c || !enif_is_ref(env, argv[1]))
		return enif_make_badarg(env);
	if (cer_enter(env, c, &answer) < 0)
		return answer;
	ms = cer_watch(c, NULL, argv[1], &n_messages);
	/* This watch has replaced the listener's, so the listener must get its turn again. */
	atomic_store(&c->wants_listen, c->has_async);
	cer_leave(env, c);
	return enif_make_tuple2(env, ms < 0 ? cer_atom.infinity : enif_make_int(env, ms),
		enif_make_int(env, n_messages));
}

static ERL_NIF_TERM
nif_unwatch(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct cer_conn *c = cer_conn_get(env, argv[0]);
	ERL_NIF_TERM answer;

	(void)argc;
	if (!c || !enif_is_ref(env, argv[1]))
		return enif_make_badarg(env);
	if (cer_enter(env, c, &answer) < 0)
		return answer;
	cer_unwatch(c, argv[1]);
	cer_leave(env, c);
	return cer_atom.ok;
}

/* timeout(Conn): returns the owner's time limit. */
static ERL_NIF_TERM
nif_timeout(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	const struct cer_conn *c = cer_conn_get(env, argv[0]);

	(void)argc;
	if (!c)
		return enif_make_badarg(env);
	return c->timeout_ms < 0 ? cer_atom.infinity : enif_make_int(env, c->timeout_ms);
}

/* cancel(Conn), from any process, on a dirty I/O scheduler because it waits for the answer. Returns
 * done if nothing was running. */
static ERL_NIF_TERM
nif_cancel(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct cer_conn *c = cer_conn_get(env, argv[0]);
	ERL_NIF_TERM answer = cer_atom.done;
	int r;

	(void)argc;
	if (!c)
		return enif_make_badarg(env);
	enif_mutex_lock(c->cancel_lock);
	r = c->cancel ? cenote_cancel_send(c->cancel) : CENOTE_DONE;
	if (r < 0)
		answer = cer_error(env, r, cenote_cancel_diag(c->cancel));
	enif_mutex_unlock(c->cancel_lock);
	return r == CENOTE_OK ? cer_atom.ok : answer;
}

/* listen(Conn), from the listener: read the messages that have arrived, and ask for a message about
 * more. */
static ERL_NIF_TERM
nif_listen(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct cer_conn *c = cer_conn_get(env, argv[0]);

	(void)argc;
	if (!c)
		return enif_make_badarg(env);
	atomic_store(&c->wants_listen, 1);
	cer_tidy(env, c);
	return cer_atom.ok;
}

static ERL_NIF_TERM
nif_close(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct cer_conn *c = cer_conn_get(env, argv[0]);
	ERL_NIF_TERM error;

	(void)argc;
	if (!c)
		return enif_make_badarg(env);
	if (atomic_load(&c->life) != CER_ALIVE)
		return cer_atom.ok;
	if (cer_enter(env, c, &error) < 0)
		return error;
	cer_doom(env, c);
	cer_leave(env, c);
	return cer_atom.ok;
}

/* ---------------------------------------------------------------------------- load ----- */

static const struct {
	ERL_NIF_TERM *atom;
	const char *name;
} atoms[] = {
	{ &cer_atom.again, "again" },
	{ &cer_atom.done, "done" },
	{ &cer_atom.error, "error" },
	{ &cer_atom.failed, "failed" },
	{ &cer_atom.false_, "false" },
	{ &cer_atom.infinity, "infinity" },
	{ &cer_atom.minus_infinity, "-infinity" },
	{ &cer_atom.nan, "nan" },
	{ &cer_atom.null, "null" },
	{ &cer_atom.ok, "ok" },
	{ &cer_atom.rows, "rows" },
	{ &cer_atom.true_, "true" },
	{ &cer_atom.undefined, "undefined" },
};

static const char *const types[] = { "null", "bool", "int64", "uint64", "double",
	"decimal", "text", "bytes", "date", "time", "timestamp", "interval", "uuid",
	"json", "other" };

static void
name_ops(ErlNifEnv *env, struct cer_op *op)
{
	for (; op->name; op++)
		op->atom = enif_make_atom(env, op->name);
}

static int
load(ErlNifEnv *env, void **priv, ERL_NIF_TERM info)
{
	(void)priv;
	(void)info;
	for (size_t i = 0; i < sizeof(atoms) / sizeof(atoms[0]); i++)
		*atoms[i].atom = enif_make_atom(env, atoms[i].name);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		cer_atom.types[i] = enif_make_atom(env, types[i]);
	name_ops(env, cer_request_ops);
	name_ops(env, cer_simple_ops);
	return cer_conn_load(env) < 0 || cer_watch_load(env) < 0;
}

static int
upgrade(ErlNifEnv *env, void **priv, void **old_priv, ERL_NIF_TERM info)
{
	(void)old_priv;
	return load(env, priv, info);
}

static ErlNifFunc functions[] = {
	{ "new", 0, nif_new, 0 },
	{ "talk", 3, nif_talk, 0 },
	{ "rows", 3, nif_rows, 0 },
	{ "watch", 2, nif_watch, 0 },
	{ "unwatch", 2, nif_unwatch, 0 },
	{ "timeout", 1, nif_timeout, 0 },
	{ "cancel", 1, nif_cancel, ERL_NIF_DIRTY_JOB_IO_BOUND },
	{ "listen", 1, nif_listen, 0 },
	{ "close", 1, nif_close, 0 },
};

ERL_NIF_INIT(cenote_nif, functions, load, NULL, upgrade, NULL)
