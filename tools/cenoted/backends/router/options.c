/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server line of a router: at least one TARGET=POOL or TARGET=URI. The first target is the default. module.c puts these functions
 * into its tables. This file owns nothing.
 */
#include <string.h>

#include "router.h"

static int
refuse(struct cnc_diag *diag, const struct cnd_option *o, const char *why)
{
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER), "%s: %s", o->key, why);
	return CENOTE_ERR_ARG;
}

/* libcenote reads a URI, so it also says what is wrong with one. */
static int
check_target(const struct cnd_option *o, struct cnc_diag *diag)
{
	cenote_conn *conn;
	int r;

	if (*o->value == '\0')
		return refuse(diag, o,
			"write the name of a pool, or a URI such as cenote://host/pool");
	if (cenote_conn_create(NULL, &conn) < 0)
		return CENOTE_ERR_NOMEM;
	r = cenote_conn_set_uri(conn, o->value);
	if (r < 0)
		(void)refuse(diag, o, cenote_diag_message(cenote_conn_diag(conn)));
	else if (cenote_conn_get(conn, "pool") == NULL)
		r = refuse(diag, o, "the URI names no pool");
	cenote_conn_destroy(conn);
	return r < 0 ? CENOTE_ERR_ARG : CENOTE_OK;
}

int
cnd_rt_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag)
{
	int r = CENOTE_OK;

	if (spec->n_options > CND_RT_TARGETS_MAX) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(LIMIT),
			"a router has at most %u targets", CND_RT_TARGETS_MAX);
		return CENOTE_ERR_ARG;
	}
	for (size_t i = 0; i < spec->n_options && r == CENOTE_OK; i++)
		r = check_target(&spec->options[i], ret_diag);
	return r;
}

bool
cnd_rt_has_target(const struct cnd_server_spec *spec, const char *target)
{
	for (size_t i = 0; i < spec->n_options; i++) {
		if (strcmp(spec->options[i].key, target) == 0)
			return true;
	}
	return false;
}
