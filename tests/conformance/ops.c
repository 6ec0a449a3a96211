/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the operations of a conformance case through the library. It repeats a call while it
 * returns CENOTE_AGAIN.
 */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operations. Each call is repeated while it returns CENOTE_AGAIN. */
struct op {
	const char *name;
	int (*run)(cenote_conn *conn, const char *args);
};

static int
op_begin(cenote_conn *conn, const char *args)
{
	uint32_t flags = 0, isolation = CENOTE_ISOLATION_DEFAULT;

	if (strstr(args, "immediate"))
		flags |= CENOTE_BEGIN_IMMEDIATE;
	if (strstr(args, "read_only"))
		flags |= CENOTE_BEGIN_READ_ONLY;
	if (strstr(args, "serializable"))
		isolation = CENOTE_ISOLATION_SERIALIZABLE;
	return cenote_begin(conn, isolation, flags);
}

static int
op_commit(cenote_conn *conn, const char *args)
{
	(void)args;
	return cenote_commit(conn);
}

static int
op_rollback(cenote_conn *conn, const char *args)
{
	(void)args;
	return cenote_rollback(conn);
}

static int
op_savepoint(cenote_conn *conn, const char *args)
{
	return cenote_savepoint(conn, args);
}

static int
op_release(cenote_conn *conn, const char *args)
{
	return cenote_release(conn, args);
}

static int
op_rollback_to(cenote_conn *conn, const char *args)
{
	return cenote_rollback_to(conn, args);
}

static int
op_autocommit(cenote_conn *conn, const char *args)
{
	return cenote_set_autocommit(conn, args[0] == '1');
}

static int
op_ping(cenote_conn *conn, const char *args)
{
	(void)args;
	return cenote_ping(conn);
}

static int
op_reset(cenote_conn *conn, const char *args)
{
	(void)args;
	return cenote_reset(conn);
}

/* Cut the first word off *args. Returns NULL for "-". */
static const char *
next_word(char **args)
{
	char *word = strsep(args, " ");

	return word && strcmp(word, "-") == 0 ? NULL : word;
}

static int
op_change_user(cenote_conn *conn, const char *args)
{
	char text[256], *rest = text;
	const char *user, *password, *database;

	snprintf(text, sizeof(text), "%s", args);
	user = next_word(&rest);
	password = next_word(&rest);
	database = next_word(&rest);
	return cenote_change_user(conn, user, password, database);
}

/* Split the text into the first word and the rest. */
static const char *
cut_word(const char *text, char *ret_word, size_t size)
{
	size_t len = strcspn(text, " ");

	if (len >= size)
		abort();
	memcpy(ret_word, text, len);
	ret_word[len] = '\0';
	return text + len + strspn(text + len, " ");
}

static int
op_select_database(cenote_conn *conn, const char *args)
{
	return cenote_select_database(conn, args);
}

/* NAME VALUE: an option of the session */
static int
op_option(cenote_conn *conn, const char *args)
{
	char name[64];
	const char *value = cut_word(args, name, sizeof(name));

	return cenote_set_session_option(conn, name, value);
}

/* NAME VALUE: an option of the handle */
static int
op_set(cenote_conn *conn, const char *args)
{
	char name[64];
	const char *value = cut_word(args, name, sizeof(name));

	return cenote_conn_set(conn, name, value);
}

static int
op_close(cenote_conn *conn, const char *args)
{
	return cenote_close_named(conn, CENOTE_NAMED_STATEMENT, args);
}

static const struct op ops[] = {
	{ "begin", op_begin },
	{ "commit", op_commit },
	{ "rollback", op_rollback },
	{ "savepoint", op_savepoint },
	{ "release", op_release },
	{ "rollback_to", op_rollback_to },
	{ "autocommit", op_autocommit },
	{ "ping", op_ping },
	{ "reset", op_reset },
	{ "change_user", op_change_user },
	{ "select_database", op_select_database },
	{ "option", op_option },
	{ "set", op_set },
	{ "close", op_close },
};

static const struct op *
find_op(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i].name, name) == 0)
			return &ops[i];
	}
	return NULL;
}

/* "KIND [schema=…] [object=…] [column=…] [types=…]": the words are cut out of `text`. */
static uint32_t
parse_catalog(char *text, cenote_catalog_filter *filter)
{
	static const char *const kinds[] = { "", "databases", "schemas", "tables",
		"columns", "primary_keys", "foreign_keys", "indexes", "types",
		"procedures", "procedure_columns", "table_privileges",
		"column_privileges" };
	char *save = NULL, *word = strtok_r(text, " ", &save);
	uint32_t kind = 0, i;

	for (i = 1; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (word && strcmp(word, kinds[i]) == 0)
			kind = i;
	}
	while ((word = strtok_r(NULL, " ", &save)) != NULL) {
		const char **to = strncmp(word, "schema=", 7) == 0   ? &filter->schema
				  : strncmp(word, "object=", 7) == 0 ? &filter->object
				  : strncmp(word, "column=", 7) == 0 ? &filter->column
								     : &filter->types;

		*to = strchr(word, '=') ? strchr(word, '=') + 1 : word;
	}
	return kind;
}

static int
run_catalog(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;
	char text[256];
	uint32_t kind;
	int r;

	snprintf(text, sizeof(text), "%s", step->args);
	kind = parse_catalog(text, &filter);
	RETRY(r, run->conn, cenote_send_catalog(run->conn, kind, &filter));
	if (r == CENOTE_ERR_UNSUPPORTED || r == CENOTE_ERR_SERVER) {
		cnt_seen_error(cnt_seen_add(list), r, cenote_conn_diag(run->conn));
		return 0;
	}
	return r == CENOTE_OK ? cnt_see_results(run, step, list)
			      : cnt_failed(run, "catalog", r);
}

/* Record the outcome of a call: a result or an error. A fatal status ends the case. */
static int
see_answer(struct run *run, const struct cnt_step *step, int r, cenote_result *res,
	struct cnt_seen_list *list)
{
	if (r == CENOTE_OK)
		return cnt_see_first(run, step, res, list);
	if (cenote_status_is_fatal(r))
		return cnt_failed(run, step->op, r);
	cnt_seen_error(cnt_seen_add(list), r, cenote_conn_diag(run->conn));
	return 0;
}

static int
run_describe(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	cenote_result *res = NULL;
	int r;

	RETRY(r, run->conn,
		cenote_describe_named(
			run->conn, CENOTE_NAMED_STATEMENT, step->args, &res));
	return see_answer(run, step, r, res, list);
}

/* NAME SQL: prepare a statement that outlives its handle. */
static int
run_prepare(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	char name[64];
	const char *sql = cut_word(step->args, name, sizeof(name));
	cenote_stmt *stmt;
	int r;

	r = cenote_stmt_create(run->conn, sql, CENOTE_NTS, &stmt);
	if (r < 0)
		return cnt_failed(run, "create a statement", r);
	r = cenote_stmt_set_name(stmt, name);
	if (r == CENOTE_OK)
		RETRY(r, run->conn, cenote_stmt_prepare(stmt));
	if (r == CENOTE_OK)
		cnt_seen_add(list);
	else
		r = see_answer(run, step, r, NULL, list);
	cenote_stmt_destroy(stmt);
	return r;
}

/* NAME: execute a statement with the step's binds, streamed if the way streams */
static int
run_execute(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	cenote_exec_options options;
	cenote_params *params;
	cenote_result *res = NULL;
	cenote_stmt *stmt;
	int r;

	if (cnt_make_params(run, step, &params) < 0)
		return -1;
	run->is_streamed = run->way->is_streamed;
	cnt_make_options(run, step, &options);
	r = cenote_stmt_by_name(run->conn, step->args, &stmt);
	if (r == CENOTE_OK) {
		RETRY(r, run->conn, cenote_stmt_execute(stmt, params, &options, &res));
		r = see_answer(run, step, r, res, list);
		cenote_stmt_destroy(stmt);
	} else {
		r = cnt_failed(run, "a statement by its name", r);
	}
	cenote_params_destroy(params);
	return r;
}

/* Wait until all expected notifications have come, and compare them. */
static int
run_notifications(
	struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	const char *expected = step->expects[0].notifications;
	int r = CENOTE_OK;

	cnt_seen_add(list);
	while (r == CENOTE_OK &&
		strlen(run->notifications) < strlen(expected ? expected : ""))
		r = cenote_wait(run->conn, 10000);
	if (r < 0)
		return cnt_failed(run, "wait for a notification", r);
	if (strcmp(run->notifications, expected ? expected : "") != 0) {
		snprintf(run->why, CNT_WHY_MAX, "line %d: the notifications are: %.300s",
			step->line, run->notifications);
		return -1;
	}
	*run->notifications = '\0';
	return 0;
}

int
cnt_run_op(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	static const struct {
		const char *name;
		int (*run)(struct run *run, const struct cnt_step *step,
			struct cnt_seen_list *list);
	} special[] = {
		{ "catalog", run_catalog },
		{ "describe", run_describe },
		{ "execute", run_execute },
		{ "notifications", run_notifications },
		{ "prepare", run_prepare },
	};
	const struct op *op = find_op(step->op);
	size_t i;
	int r;

	for (i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (strcmp(step->op, special[i].name) == 0)
			return special[i].run(run, step, list);
	}
	if (!op)
		return cnt_failed(run, step->op, CENOTE_ERR_ARG);
	RETRY(r, run->conn, op->run(run->conn, step->args));
	if (r < 0 && !cenote_status_is_fatal(r))
		cnt_seen_error(cnt_seen_add(list), r, cenote_conn_diag(run->conn));
	else if (r == CENOTE_OK)
		cnt_seen_add(list);
	else
		return cnt_failed(run, step->op, r);
	return 0;
}
