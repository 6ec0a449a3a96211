/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include "core/sql.h"
#include "placeholder.h"

#include <stdlib.h>
#include <string.h>

/*
 * Prepare a statement: write its text for the pool's server, and take the server's description.
 * stmt.c calls this file; long.c calls this file to make the pool drop values that came in pieces.
 */

/* Note what kind of statement it is. Its first word says more about the results than the server's
 * description. */
static void
take_kind(struct cmy_stmt *st)
{
	static const char *const several[] = { "call", "begin", "execute", NULL };
	static const char *const told[] = { "analyze", "check", "delete", "explain",
		"help", "insert", "optimize", "repair", "replace", NULL };
	struct cnc_sql x = cnc_sql_begin(st->sql, st->sql_length, CNC_SQL_MYSQL);
	struct cnc_sql_token t = cnc_sql_next(&x);

	while (cnc_sql_is_char(&t, '(') || cnc_sql_is_char(&t, '{'))
		t = cnc_sql_next(&x);
	st->is_select = cnc_sql_is(&t, "select");
	st->may_give_several = cnc_sql_is_one_of(&t, several);
	st->has_no_cursor =
		st->may_give_several ||
		(CMY_ORACLE &&
			(cnc_sql_is_one_of(&t, told) ||
				(cnc_sql_is(&t, "show") && cnc_sql_take(&x, "create"))));
}

/* Did the server send its status after the descriptions of parameters and columns? Oracle's
 * protocol has no status there. */
static int
tells_status(const struct cmy_stmt *st)
{
	return !CMY_ORACLE && (cenote_stmt_n_params(st->prepared) > 0 ||
				      cenote_stmt_n_columns(st->prepared) > 0);
}

static int
take_description(struct cmy_stmt *st, struct cmy_session *s)
{
	cenote_result *res = NULL, *none = NULL;
	int r = cmy_get_result(s, &res);

	if (r != CENOTE_OK)
		return -1;
	while (cmy_get_result(s, &none) == CENOTE_OK)
		cenote_result_destroy(none);
	if (cenote_result_kind(res) == CENOTE_RESULT_ERROR) {
		cmy_error_diag(s->my, cenote_result_diag(res));
		r = -1;
	} else {
		cmy_stmt_warnings(st, s->my, cenote_result_warnings(res));
		if (tells_status(st))
			cmy_take_bits(s, res);
	}
	cenote_result_destroy(res);
	return r;
}

int
cmy_stmt_prepare_again(struct cmy_stmt *st, struct cmy_session *s)
{
	if (cmy_check(s, cenote_send_prepare(st->prepared)) < 0)
		return -1;
	return take_description(st, s);
}

static int
prepare(struct cmy_stmt *st, struct cmy_session *s)
{
	st->is_binary = cmy_is_binary(s);
	cenote_stmt_destroy(st->prepared);
	st->prepared = NULL;
	if (cmy_check(s, cenote_stmt_create(
				 s->conn, st->sql, st->sql_length, &st->prepared)) < 0)
		return -1;
	return cmy_stmt_prepare_again(st, s);
}

/* Programs may read this number, and 0 means "none", so numbers begin with 1. */
static unsigned long
next_id(struct cmy_session *s)
{
	return ++s->last_stmt_id;
}

static int
take_params(struct cmy_stmt *st)
{
	unsigned n = cenote_stmt_n_params(st->prepared);

	st->pub.param_count = n;
#if !CMY_ORACLE
	if (st->pub.prebind_params > 0 && n > 0) {
		st->pub.param_count = st->pub.prebind_params;
		if (st->pub.prebind_params != n) {
			cmy_stmt_error_both(&st->pub, CR_INVALID_PARAMETER_NO);
			return -1;
		}
		/* unless the program bound them for another text */
		if (st->pub.params)
			return 0;
	}
#endif
	if (!CMY_ORACLE && n == 0)
		return 0;
	free(st->pub.params);
	st->pub.params = calloc((size_t)n + 1, sizeof(*st->pub.params));
	if (st->pub.params)
		return 0;
	cmy_stmt_error_both(&st->pub, CR_OUT_OF_MEMORY);
	return -1;
}

static int
take_shape(struct cmy_stmt *st, struct cmy_session *s)
{
	unsigned n = cenote_stmt_n_columns(st->prepared);

	st->id = st->pub.stmt_id = next_id(s);
	if (take_params(st) < 0)
		return -1;
	return n == 0 ? 0
		      : cmy_stmt_set_fields(st, cmy_fields_of_stmt(s, st->prepared), n);
}

static int
keep_text(struct cmy_stmt *st, const struct cmy_session *s, const char *query,
	size_t length)
{
	int is_numbered = s->backend == CMY_BACKEND_POSTGRESQL;

	free(st->sql);
	st->sql = malloc(is_numbered ? CMY_PLACEHOLDER_SIZE(length) : length + 1);
	if (!st->sql) {
		cmy_error(st->pub.mysql, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	if (is_numbered)
		length = cmy_placeholders(query, length, st->sql);
	else
		memcpy(st->sql, query, length);
	st->sql_length = length;
	take_kind(st);
	return 0;
}

int
cmy_stmt_prepare_text(struct cmy_stmt *st, const char *query, size_t length)
{
	struct cmy_session *s = cmy_enter(st->pub.mysql);

	if (s && CMY_ORACLE)
		cmy_forget_query(s->my);
	if (!s || keep_text(st, s, query, length) < 0 || prepare(st, s) < 0)
		return -1;
	return take_shape(st, s);
}
