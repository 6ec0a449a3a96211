/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys of a `server` line, as parameters for libpq. session.c calls this file at login. It has no state.
 */
#include <libpq-fe.h>

#include "session.h"

#include "shared/units.h"

/* Cenote's libpq shim defines this symbol. libpq itself does not. */
extern const char cenote_shim_libpq[] __attribute__((weak, visibility("default")));

static int
is_known(const PQconninfoOption *all, const char *key)
{
	for (const PQconninfoOption *o = all; o->keyword != NULL; o++) {
		if (strcmp(o->keyword, key) == 0)
			return 1;
	}
	return 0;
}

static int
refuse(struct cnc_diag *diag, const char *key, const char *value, const char *why)
{
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER), "%s=%s is not allowed: %s", key,
		value, why);
	return CENOTE_ERR_ARG;
}

/* One of two words; *ret_is is 1 for the second one. */
static int
read_choice(const struct cnd_option *given, const char *const words[2], uint8_t *ret_is,
	struct cnc_diag *diag)
{
	char why[64];

	*ret_is = strcmp(given->value, words[1]) == 0;
	if (*ret_is || strcmp(given->value, words[0]) == 0)
		return CENOTE_OK;
	(void)snprintf(why, sizeof(why), "it is %s or %s", words[0], words[1]);
	return refuse(diag, given->key, given->value, why);
}

static int
refuse_key(const PQconninfoOption *all, const char *key, struct cnc_diag *diag)
{
	const char *nearest;
	size_t n = 0;

	while (all[n].keyword != NULL)
		n++;
	nearest = cnd_nearest(key, &all->keyword, n, sizeof(*all));
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER),
		"unknown key \"%s\" for PostgreSQL%s%s%s; libpq's connection options "
		"and keep_compiled and queries are allowed",
		key, nearest != NULL ? ": did you mean " : "",
		nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
	return CENOTE_ERR_ARG;
}

static int
read_one(struct cnd_pg_options *o, size_t *n, const PQconninfoOption *all,
	const struct cnd_option *given, struct cnc_diag *diag)
{
	static const char *const keep[] = { "no", "yes" };
	static const char *const queries[] = { "any", "pure" };

	if (strcmp(given->key, "keep_compiled") == 0)
		return read_choice(given, keep, &o->keeps_compiled, diag);
	if (strcmp(given->key, "queries") == 0)
		return read_choice(given, queries, &o->has_pure_queries, diag);
	if (!is_known(all, given->key))
		return refuse_key(all, given->key, diag);
	if (strcmp(given->key, "replication") == 0)
		return refuse(diag, given->key, given->value,
			"a replication connection cannot be pooled");
	if (strcmp(given->key, "gssencmode") == 0 && strcmp(given->value, "disable") != 0)
		return refuse(diag, given->key, given->value,
			"cenoted cannot read a connection that GSSAPI encrypts; use "
			"gssencmode=disable, and TLS for encryption");
	if (*n == CND_PG_KEYS_MAX)
		return refuse(diag, given->key, given->value, "there are too many keys");
	o->keys[*n] = given->key;
	o->values[*n] = given->value;
	++*n;
	return CENOTE_OK;
}

/* The client's settings come after those of the server line, and override them. `read_only` comes last, so nothing overrides it. */
static int
add_settings(struct cnd_pg_options *o, size_t n, const char *settings, bool is_read_only,
	struct cnc_diag *diag)
{
	static const char read_only[] = " -c default_transaction_read_only=on";
	const char *given = "";

	for (size_t i = 0; i < n; i++) {
		if (strcmp(o->keys[i], "options") == 0)
			given = o->values[i];
	}
	if (n == CND_PG_KEYS_MAX ||
		(size_t)snprintf(o->settings, sizeof(o->settings), "%s %s%s", given,
			settings, is_read_only ? read_only : "") >= sizeof(o->settings)) {
		cnc_diag_set(diag, CNC_SQLSTATE(LIMIT),
			"the settings of the login are too long");
		return CENOTE_ERR_SERVER;
	}
	o->keys[n] = "options";
	o->values[n] = o->settings;
	return CENOTE_OK;
}

/* Refuse the shim in place of libpq: it would log in to a pool of cenoted, perhaps to this pool. */
static int
check_libpq(struct cnc_diag *diag)
{
	if (cenote_shim_libpq == NULL)
		return CENOTE_OK;
	cnc_diag_set(diag, CNC_SQLSTATE(CANNOT_CONNECT),
		"this process has Cenote's libpq shim in place of libpq: start cenoted "
		"without the shim in LD_LIBRARY_PATH and LD_PRELOAD");
	return CENOTE_ERR_CONN;
}

static int
check_keys(const PQconninfoOption *all, struct cnc_diag *diag)
{
	if (is_known(all, "scram_client_key"))
		return CENOTE_OK;
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER),
		"auth = scram-pass-through needs libpq 18 or newer, and this is libpq "
		"%d: auth = pass-through does with it",
		PQlibVersion() / 10000);
	return CENOTE_ERR_ARG;
}

int
cnd_pg_options_read(const struct cnd_server_spec *spec,
	struct cnd_pg_options *ret_options, struct cnc_diag *ret_diag)
{
	/* If a key is given twice, libpq takes the last value. So the server line can override these values. */
	struct cnd_pg_options o = { .keys = { "client_encoding",
					    "fallback_application_name", "gssencmode" },
		.values = { "UTF8", "cenoted", "disable" } };
	bool is_set = spec->settings != NULL && *spec->settings != '\0';
	PQconninfoOption *all;
	size_t n = 3;
	int r = check_libpq(ret_diag);

	if (r < 0)
		return r;
	all = PQconndefaults();
	if (all == NULL)
		return CENOTE_ERR_NOMEM;
	if (spec->is_clients == CND_CLIENTS_KEYS)
		r = check_keys(all, ret_diag);
	for (size_t i = 0; i < spec->n_options && r == CENOTE_OK; i++)
		r = read_one(&o, &n, all, &spec->options[i], ret_diag);
	PQconninfoFree(all);
	if (r == CENOTE_OK)
		*ret_options = o;
	if (r == CENOTE_OK && (is_set || spec->is_read_only))
		r = add_settings(ret_options, n, is_set ? spec->settings : "",
			spec->is_read_only, ret_diag);
	return r;
}

int
cnd_pg_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag)
{
	struct cnd_pg_options o;

	return cnd_pg_options_read(spec, &o, ret_diag);
}
