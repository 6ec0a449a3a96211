/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notices and notifications as messages. During a call of the owner, they come with its answers. At
 * other times a separate process (cenote_listener) gets a message when something arrives, and asks
 * again each time. A call of the owner takes the descriptor and gives it back to the listener at
 * its end.
 */
#include "cer.h"

static void
tell(const struct cer_conn *c, ErlNifEnv *env, const ErlNifPid *pid, ERL_NIF_TERM event)
{
	struct cer_conn *me = (struct cer_conn *)c;
	ERL_NIF_TERM message = enif_make_tuple3(
		env, enif_make_atom(env, "cenote"), cer_conn_term(env, me), event);

	/* It does not matter if the process no longer exists. */
	(void)enif_send(c->env, pid, env, message);
	enif_free_env(env);
}

static void
on_notice(const cenote_diag *notice, void *user)
{
	const struct cer_conn *c = user;
	ErlNifEnv *env = enif_alloc_env();

	if (env)
		tell(c, env, &c->async,
			enif_make_tuple2(env, enif_make_atom(env, "notice"),
				cer_diag(env, CENOTE_OK, notice)));
}

static void
on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	const struct cer_conn *c = user;
	ErlNifEnv *env = enif_alloc_env();

	if (env)
		tell(c, env, &c->async,
			enif_make_tuple4(env, enif_make_atom(env, "notification"),
				cer_binary_of(env, channel), enif_make_uint(env, pid),
				cer_binary_of(env, payload)));
}

void
cer_event_begin(struct cer_conn *c, const ErlNifPid *listener, const ErlNifPid *async)
{
	c->listener = *listener;
	c->async = *async;
	c->has_async = 1;
	atomic_store(&c->wants_listen, 1);
	cenote_set_notice_handler(c->conn, on_notice, c);
	cenote_set_notification_handler(c->conn, on_notification, c);
}

void
cer_event_listen(ErlNifEnv *env, struct cer_conn *c)
{
	int r, n_messages;

	c->env = env;
	atomic_store(&c->wants_listen, 0);
	r = cenote_fd(c->conn) < 0 ? CENOTE_OK : cenote_process(c->conn);
	if (r < 0) {
		ErlNifEnv *message = enif_alloc_env();

		if (message)
			tell(c, message, &c->async,
				enif_make_tuple2(message, enif_make_atom(message, "lost"),
					cer_diag(message, r, cenote_conn_diag(c->conn))));
		return;
	}
	if (cenote_fd(c->conn) >= 0)
		(void)cer_watch(c, &c->listener, cer_atom.undefined, &n_messages);
}

void
cer_event_end(ErlNifEnv *env, struct cer_conn *c)
{
	ErlNifEnv *message;

	if (!c->has_async)
		return;
	c->has_async = 0;
	c->env = env;
	message = enif_alloc_env();
	if (message)
		tell(c, message, &c->listener, enif_make_atom(message, "closed"));
}
