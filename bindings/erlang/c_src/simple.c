/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that return no rows, and facts about the session. */
#include "cer.h"

#include <stdlib.h>
#include <string.h>

static ERL_NIF_TERM
op_connect(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	int r = cenote_connect(c->conn);

	(void)args;
	if (r == CENOTE_OK && !c->cancel) {
		enif_mutex_lock(c->cancel_lock);
		r = cenote_cancel_create(c->conn, &c->cancel);
		enif_mutex_unlock(c->cancel_lock);
	}
	return cer_status(c, r);
}

/* --------------------------------------------------------------------- options ----- */

/* Can calls take long? Looking up a host may, and TLS needs the processor. */
static int
is_remote(const cenote_conn *conn)
{
	const char *server = secure_getenv("CENOTE_SERVER");
	const char *tls = cenote_conn_get(conn, "tls");

	if (*cenote_conn_get(conn, "host") ||
		(strcmp(tls, "auto") != 0 && strcmp(tls, "disable") != 0))
		return 1;
	return server && strncmp(server, "tcp:", 4) == 0 &&
	       !*cenote_conn_get(conn, "run_dir");
}

static ERL_NIF_TERM
after_option(struct cer_conn *c, int r)
{
	if (r == CENOTE_OK)
		c->is_remote = is_remote(c->conn);
	return cer_status(c, r);
}

static ERL_NIF_TERM
op_set_uri(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	const char *uri = cer_text(c->env, args[0]);

	if (!uri)
		return enif_make_badarg(c->env);
	return after_option(c, cenote_conn_set_uri(c->conn, uri));
}

/* Get the text, or NULL for null. 0: the term is neither. */
static int
get_text(struct cer_conn *c, ERL_NIF_TERM term, const char **ret)
{
	*ret = term == cer_atom.null ? NULL : cer_text(c->env, term);
	return term == cer_atom.null || *ret;
}

static ERL_NIF_TERM
op_set(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	const char *name, *value;

	if (!get_text(c, args[0], &name) || !get_text(c, args[1], &value) || !name)
		return enif_make_badarg(c->env);
	return after_option(c, cenote_conn_set(c->conn, name, value));
}

/* Arguments: milliseconds; -1: for ever. */
static ERL_NIF_TERM
op_timeout(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	if (!enif_get_int(c->env, args[0], &c->timeout_ms))
		return enif_make_badarg(c->env);
	return cer_atom.ok;
}

static ERL_NIF_TERM
op_session_option(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	const char *name, *value;

	if (!get_text(c, args[0], &name) || !get_text(c, args[1], &value) || !name)
		return enif_make_badarg(c->env);
	return cer_status(c, cenote_set_session_option(c->conn, name, value));
}

/* --------------------------------------------------------------------- requests ----- */

/* Arguments: isolation level, flags. */
static ERL_NIF_TERM
op_begin(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	unsigned isolation, flags;

	if (!enif_get_uint(c->env, args[0], &isolation) ||
		!enif_get_uint(c->env, args[1], &flags))
		return enif_make_badarg(c->env);
	return cer_status(c, cenote_begin(c->conn, isolation, flags));
}

static ERL_NIF_TERM
op_change_user(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	const char *user, *password, *database;

	if (!get_text(c, args[0], &user) || !get_text(c, args[1], &password) ||
		!get_text(c, args[2], &database) || !user)
		return enif_make_badarg(c->env);
	return cer_status(c, cenote_change_user(c->conn, user, password, database));
}

static ERL_NIF_TERM
op_autocommit(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	return cer_status(c, cenote_set_autocommit(c->conn, args[0] == cer_atom.true_));
}

/* Arguments: number of the list; catalog, schema, object, column and types, or null. */
static ERL_NIF_TERM
op_catalog(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;
	unsigned kind;

	if (!enif_get_uint(c->env, args[0], &kind) ||
		!get_text(c, args[1], &filter.catalog) ||
		!get_text(c, args[2], &filter.schema) ||
		!get_text(c, args[3], &filter.object) ||
		!get_text(c, args[4], &filter.column) ||
		!get_text(c, args[5], &filter.types))
		return enif_make_badarg(c->env);
	c->is_text = c->is_streamed = 0;
	return cer_status(c, cenote_send_catalog(c->conn, kind, &filter));
}

/* ------------------------------------------------------------------------- facts ----- */

static const char *
tls_of_pool(const cenote_conn *conn, const char *name)
{
	return cenote_tls_info(conn, CENOTE_HOP_POOL, name);
}

static const char *
tls_of_server(const cenote_conn *conn, const char *name)
{
	return cenote_tls_info(conn, CENOTE_HOP_SERVER, name);
}

static ERL_NIF_TERM
op_is_connected(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	(void)args;
	return cenote_is_connected(c->conn) ? cer_atom.true_ : cer_atom.false_;
}

static ERL_NIF_TERM
op_transaction(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	static const char *const names[] = { "idle", "open", "failed", "unknown" };
	int state = cenote_tx_state(c->conn);

	(void)args;
	return enif_make_atom(c->env, names[state & 3]);
}

/* Returns the names of the reasons that pin the session to this connection. */
static ERL_NIF_TERM
op_pins(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	ERL_NIF_TERM list = enif_make_list(c->env, 0);
	uint32_t pins = cenote_pins(c->conn);

	(void)args;
	for (uint32_t pin = 1; pin && pin <= pins; pin <<= 1) {
		const char *name = pins & pin ? cenote_pin_name(pin) : NULL;

		if (name)
			list = enif_make_list_cell(
				c->env, cer_binary_of(c->env, name), list);
	}
	return list;
}

/* Arguments: the listening process, and the process that gets the messages. */
static ERL_NIF_TERM
op_async(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	ErlNifPid listener, async;

	if (!enif_get_local_pid(c->env, args[0], &listener) ||
		!enif_get_local_pid(c->env, args[1], &async))
		return enif_make_badarg(c->env);
	cer_event_begin(c, &listener, &async);
	return cer_atom.ok;
}

/* Arguments: a process. */
static ERL_NIF_TERM
op_owner(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	ErlNifPid pid;

	if (!enif_get_local_pid(c->env, args[0], &pid))
		return enif_make_badarg(c->env);
	if (cer_conn_set_owner(c, &pid) < 0)
		return cer_error_text(c->env, CENOTE_ERR_ARG, "HY024", "no such process");
	return cer_atom.ok;
}

ERL_NIF_TERM
cer_run_simple(struct cer_conn *c, const struct cer_op *op, const ERL_NIF_TERM *args)
{
	const char *name, *fact;

	if (op->plain)
		return cer_status(c, op->plain(c->conn));
	name = cer_text(c->env, args[0]);
	if (!name)
		return enif_make_badarg(c->env);
	if (op->named)
		return cer_status(c, op->named(c->conn, name));
	fact = op->fact(c->conn, name);
	return fact ? cer_binary_of(c->env, fact) : cer_atom.undefined;
}

struct cer_op cer_simple_ops[] = {
	{ .name = "begin", .arity = 2, .run = op_begin },
	{ .name = "commit", .arity = 0, .plain = cenote_commit },
	{ .name = "rollback", .arity = 0, .plain = cenote_rollback },
	{ .name = "connect", .arity = 0, .run = op_connect },
	{ .name = "set_uri", .arity = 1, .run = op_set_uri },
	{ .name = "set", .arity = 2, .run = op_set },
	{ .name = "timeout", .arity = 1, .run = op_timeout },
	{ .name = "session_option", .arity = 2, .run = op_session_option },
	{ .name = "savepoint", .arity = 1, .named = cenote_savepoint },
	{ .name = "release", .arity = 1, .named = cenote_release },
	{ .name = "rollback_to", .arity = 1, .named = cenote_rollback_to },
	{ .name = "select_database", .arity = 1, .named = cenote_select_database },
	{ .name = "change_user", .arity = 3, .run = op_change_user },
	{ .name = "autocommit", .arity = 1, .run = op_autocommit },
	{ .name = "ping", .arity = 0, .plain = cenote_ping },
	{ .name = "reset", .arity = 0, .plain = cenote_reset },
	{ .name = "pipeline_begin", .arity = 0, .plain = cenote_pipeline_begin },
	{ .name = "pipeline_end", .arity = 0, .plain = cenote_pipeline_end },
	{ .name = "sync", .arity = 0, .plain = cenote_send_sync },
	{ .name = "catalog", .arity = 6, .run = op_catalog },
	{ .name = "option", .arity = 1, .fact = cenote_conn_get },
	{ .name = "info", .arity = 1, .fact = cenote_info },
	{ .name = "parameter", .arity = 1, .fact = cenote_parameter },
	{ .name = "tls_info", .arity = 1, .fact = tls_of_pool },
	{ .name = "server_tls_info", .arity = 1, .fact = tls_of_server },
	{ .name = "is_connected", .arity = 0, .run = op_is_connected },
	{ .name = "transaction", .arity = 0, .run = op_transaction },
	{ .name = "pins", .arity = 0, .run = op_pins },
	{ .name = "async", .arity = 2, .run = op_async },
	{ .name = "owner", .arity = 1, .run = op_owner },
	{ 0 },
};
