/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors as maps. The maps always have the keys status, sqlstate, message and native. */
#include "cer.h"

static const struct {
	char letter;
	const char *name;
} fields[] = {
	{ 'S', "severity" },
	{ 'D', "detail" },
	{ 'H', "hint" },
	{ 'P', "position" },
	{ 'p', "internal_position" },
	{ 'q', "internal_query" },
	{ 'W', "where" },
	{ 's', "schema" },
	{ 't', "table" },
	{ 'c', "column" },
	{ 'd', "data_type" },
	{ 'n', "constraint" },
	{ 'F', "file" },
	{ 'L', "line" },
	{ 'R', "routine" },
	{ 'B', "server" },
	{ 'X', "server_sqlstate" },
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))
#define N_ALWAYS 4

static const struct {
	int status;
	const char *name;
} statuses[] = {
	{ CENOTE_ERR_SERVER, "server" },
	{ CENOTE_ERR_CONN, "connection" },
	{ CENOTE_ERR_AUTH, "auth" },
	{ CENOTE_ERR_PROTOCOL, "protocol" },
	{ CENOTE_ERR_TIMEOUT, "timeout" },
	{ CENOTE_ERR_ARG, "argument" },
	{ CENOTE_ERR_STATE, "state" },
	{ CENOTE_ERR_NOMEM, "no_memory" },
	{ CENOTE_ERR_CONVERT, "convert" },
	{ CENOTE_ERR_LIMIT, "limit" },
	{ CENOTE_ERR_UNSUPPORTED, "unsupported" },
	{ CENOTE_OK, "notice" },
};

static ERL_NIF_TERM
status_atom(ErlNifEnv *env, int status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (statuses[i].status == status)
			return enif_make_atom(env, statuses[i].name);
	}
	return enif_make_atom(env, "other");
}

static ERL_NIF_TERM
make_map(ErlNifEnv *env, int status, const char *sqlstate, const char *message,
	const cenote_diag *diag)
{
	ERL_NIF_TERM keys[N_ALWAYS + N_FIELDS], values[N_ALWAYS + N_FIELDS], map;
	size_t n = N_ALWAYS;

	keys[0] = enif_make_atom(env, "status");
	values[0] = status_atom(env, status);
	keys[1] = enif_make_atom(env, "sqlstate");
	values[1] = cer_binary_of(env, sqlstate);
	keys[2] = enif_make_atom(env, "message");
	values[2] = cer_binary_of(env, message);
	keys[3] = enif_make_atom(env, "native");
	values[3] = enif_make_int(env, diag ? cenote_diag_native(diag) : 0);
	for (size_t i = 0; diag && i < N_FIELDS; i++) {
		const char *text = cenote_diag_field(diag, fields[i].letter);

		if (!text)
			continue;
		keys[n] = enif_make_atom(env, fields[i].name);
		values[n++] = cer_binary_of(env, text);
	}
	/* This cannot fail, since the keys differ. */
	(void)enif_make_map_from_arrays(env, keys, values, n, &map);
	return map;
}

ERL_NIF_TERM
cer_diag(ErlNifEnv *env, int status, const cenote_diag *diag)
{
	return make_map(
		env, status, cenote_diag_sqlstate(diag), cenote_diag_message(diag), diag);
}

ERL_NIF_TERM
cer_error(ErlNifEnv *env, int status, const cenote_diag *diag)
{
	return enif_make_tuple2(env, cer_atom.error, cer_diag(env, status, diag));
}

ERL_NIF_TERM
cer_error_text(ErlNifEnv *env, int status, const char *sqlstate, const char *message)
{
	return enif_make_tuple2(
		env, cer_atom.error, make_map(env, status, sqlstate, message, NULL));
}
