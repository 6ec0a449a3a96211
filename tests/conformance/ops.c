/* SPDX-License-Identifier: BSD-2-Clause */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operations. Each is repeated while it wants to wait. */
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
		"procedures" };
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
	return r == CENOTE_OK ? cnt_see_results(run, list)
			      : cnt_failed(run, "catalog", r);
}

int
cnt_run_op(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	const struct op *op = find_op(step->op);
	int r;

	if (strcmp(step->op, "catalog") == 0)
		return run_catalog(run, step, list);
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
