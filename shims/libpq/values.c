/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <string.h>

/* The parameters of a request: check the program's values, and pass them to libcenote. */

/* With this type the server finds out the type itself, as with 0. But libcenote sends no types if
 * all are 0. Then one parameter too many would give another error message. */
#define OID_UNKNOWN 705u

static Oid
type_of(const struct cpq_values *v, int i)
{
	if (v->types == NULL)
		return 0;
	return v->types[i] != 0 ? v->types[i] : OID_UNKNOWN;
}

static int
params_fill(cenote_params *params, const struct cpq_values *v)
{
	int r = CENOTE_OK;

	for (int i = 0; i < v->n && r == CENOTE_OK; i++) {
		const char *bytes = v->values != NULL ? v->values[i] : NULL;
		int is_binary = v->formats != NULL && v->formats[i] != 0;
		size_t len = 0;

		if (bytes != NULL)
			len = is_binary ? (size_t)v->lengths[i] : strlen(bytes);
		r = cenote_params_add_native(params, type_of(v, i),
			is_binary ? CENOTE_FORMAT_BINARY : CENOTE_FORMAT_TEXT, bytes,
			len);
	}
	return r;
}

static int
are_values(PGconn *conn, const struct cpq_values *v)
{
	if (v->n < 0 || v->n > CPQ_PARAMS_MAX) {
		cpq_say(conn, "number of parameters must be between 0 and %d",
			CPQ_PARAMS_MAX);
		return 0;
	}
	for (int i = 0; i < v->n; i++) {
		if (v->formats == NULL || v->formats[i] == 0 || v->values == NULL ||
			v->values[i] == NULL)
			continue;
		if (v->lengths == NULL || v->lengths[i] < 0) {
			cpq_say(conn, "length must be given for binary parameter");
			return 0;
		}
	}
	return 1;
}

int
cpq_values_begin(PGconn *conn, const struct cpq_values *v)
{
	if (!are_values(conn, v))
		return 0;
	if (conn->params == NULL && cenote_params_create(NULL, &conn->params) < 0) {
		conn->params = NULL;
		cpq_say(conn, "out of memory");
		return 0;
	}
	cenote_params_clear(conn->params);
	return 1;
}

cenote_params *
cpq_params_of(PGconn *conn, const struct cpq_values *v)
{
	if (!cpq_values_begin(conn, v))
		return NULL;
	if (params_fill(conn->params, v) == CENOTE_OK)
		return conn->params;
	cpq_say(conn, "out of memory");
	return NULL;
}
