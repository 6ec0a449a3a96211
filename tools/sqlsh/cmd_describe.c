/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * \d, \l, \dn, \du, \df and similar commands: lists from the pool's catalog. describe.c shows a
 * single table. It has no state.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "describe.h"
#include "routines.h"
#include "server_sql.h"

/* The pool's catalog is the same for every backend. docs/protocol.md lists the names of its
 * columns. */

static const struct run_pick databases[] = { { "table_cat", "Database" },
	{ "remarks", "Remarks" }, { 0 } };
static const struct run_pick schemas[] = { { "table_schem", "Schema" }, { 0 } };
/* MySQL has databases in place of schemas; see picks_for(). */
static const struct run_pick tables[] = { { "table_cat", "Database" },
	{ "table_schem", "Schema" }, { "table_name", "Name" }, { "table_type", "Type" },
	{ "remarks", "Remarks" }, { 0 } };
static const struct run_pick indexes[] = { { "table_cat", "Database" },
	{ "table_schem", "Schema" }, { "table_name", "Table" }, { "index_name", "Index" },
	{ "ordinal_position", "Position" }, { "column_name", "Column" },
	{ "non_unique", "Not unique" }, { 0 } };

/* Types of the users' tables and views, not the server's. */
#define TABLES "TABLE,FOREIGN TABLE,GLOBAL TEMPORARY,LOCAL TEMPORARY"
#define VIEWS  "VIEW,MATERIALIZED VIEW"

/* The optional argument [SCHEMA.]NAME as filters. */
struct pattern {
	struct text catalog;
	struct text schema;
	struct text object;
	int has_object;
	int has_wildcards;
	cenote_catalog_filter filter;
};

static int
is_backend(struct shell *sh, const char *name)
{
	const char *backend = cenote_info(sh->conn, "backend");

	return backend && strcmp(backend, name) == 0;
}

/* MySQL lists all databases, but people mean the current one. */
static int
choose_database(struct pattern *p, struct shell *sh)
{
	cenote_result *res;
	const char *name;
	int r = session_ensure(sh);

	if (r != RUN_OK || p->filter.schema || !is_backend(sh, "mysql"))
		return r;
	r = session_query(
		sh, "SELECT DATABASE()", (const char *const[]){ NULL }, 0, &res);
	if (r != RUN_OK)
		return r;
	name = cenote_result_text(res, 0, 0, NULL);
	if (name) {
		text_add_str(&p->catalog, name);
		p->filter.catalog = text_str(&p->catalog);
	}
	cenote_result_destroy(res);
	return RUN_OK;
}

static void
pattern_finish(struct pattern *p)
{
	text_finish(&p->catalog);
	text_finish(&p->schema);
	text_finish(&p->object);
}

static int
pattern_init(struct pattern *p, struct cmd *cmd)
{
	struct text word = { 0 };
	int n = args_next(&cmd->args, &word), r;
	const char *name = text_str(&word), *dot = strchr(name, '.');

	*p = (struct pattern){ .filter = CENOTE_CATALOG_FILTER_INIT };
	if (n < 0) {
		text_finish(&word);
		return cmd_usage(cmd, "a quote is not closed");
	}
	p->has_object = n > 0;
	if (dot) {
		char *schema = mem_dup(name, (size_t)(dot - name));

		describe_pattern(&p->schema, schema, 1);
		free(schema);
		p->filter.schema = text_str(&p->schema);
		name = dot + 1;
	}
	p->has_wildcards = strpbrk(name, "*?") != NULL;
	describe_pattern(&p->object, name, 1);
	p->filter.object = n > 0 ? text_str(&p->object) : NULL;
	text_finish(&word);
	r = choose_database(p, cmd->sh);
	if (r != RUN_OK)
		pattern_finish(p);
	return r;
}

/* Only MySQL needs the column of the database. For other servers it never changes. */
static const struct run_pick *
picks_for(struct shell *sh, const struct run_pick *picks)
{
	return picks + !is_backend(sh, "mysql");
}

static int
show_list(struct shell *sh, uint32_t kind, const cenote_catalog_filter *filter,
	const struct run_pick *picks)
{
	cenote_result *res;
	int r = session_catalog(sh, kind, filter, 0, &res);

	if (r != RUN_OK)
		return r;
	r = run_show_picked(sh, res, picks);
	cenote_result_destroy(res);
	return r;
}

static int
list_tables(struct cmd *cmd, const char *types)
{
	struct pattern p;
	int r = pattern_init(&p, cmd);

	if (r != RUN_OK)
		return r;
	p.filter.types = types;
	r = show_list(
		cmd->sh, CENOTE_CATALOG_TABLES, &p.filter, picks_for(cmd->sh, tables));
	pattern_finish(&p);
	return r;
}

static int
run_tables(struct cmd *cmd)
{
	return list_tables(cmd, TABLES);
}

static int
run_views(struct cmd *cmd)
{
	return list_tables(cmd, VIEWS);
}

static int
run_indexes(struct cmd *cmd)
{
	struct pattern p;
	int r = pattern_init(&p, cmd);

	if (r != RUN_OK)
		return r;
	r = show_list(
		cmd->sh, CENOTE_CATALOG_INDEXES, &p.filter, picks_for(cmd->sh, indexes));
	pattern_finish(&p);
	return r;
}

static int
run_databases(struct cmd *cmd)
{
	return show_list(cmd->sh, CENOTE_CATALOG_DATABASES, NULL, databases);
}

static int
run_schemas(struct cmd *cmd)
{
	struct pattern p;
	int r = pattern_init(&p, cmd);

	if (r != RUN_OK)
		return r;
	p.filter.schema = p.filter.object;
	p.filter.object = NULL;
	r = show_list(cmd->sh, CENOTE_CATALOG_SCHEMAS, &p.filter, schemas);
	pattern_finish(&p);
	return r;
}

static int
describe_tables(struct shell *sh, struct pattern *p, int has_remarks)
{
	cenote_result *res;
	uint64_t row;
	int r;

	if (p->has_wildcards && !p->filter.schema)
		p->filter.types = TABLES "," VIEWS;
	r = session_catalog(sh, CENOTE_CATALOG_TABLES, &p->filter, 0, &res);
	if (r != RUN_OK)
		return r;
	if (cenote_result_n_rows(res) == 0) {
		shell_error(sh, "there is no table or view of that name");
		r = RUN_ERROR;
	}
	for (row = 0; r == RUN_OK && row < cenote_result_n_rows(res); row++)
		r = describe_table(sh, res, row, has_remarks);
	cenote_result_destroy(res);
	return r;
}

static int
describe(struct cmd *cmd, int has_remarks)
{
	struct pattern p;
	int r = pattern_init(&p, cmd);

	if (r != RUN_OK)
		return r;
	if (p.has_object) {
		r = describe_tables(cmd->sh, &p, has_remarks);
	} else {
		p.filter.types = TABLES "," VIEWS;
		r = show_list(cmd->sh, CENOTE_CATALOG_TABLES, &p.filter,
			picks_for(cmd->sh, tables));
	}
	pattern_finish(&p);
	return r;
}

static int
run_describe(struct cmd *cmd)
{
	return describe(cmd, 0);
}

static int
run_describe_more(struct cmd *cmd)
{
	return describe(cmd, 1);
}

static int
run_routines(struct cmd *cmd)
{
	cenote_result *routines = NULL, *params = NULL;
	struct pattern p;
	int r = pattern_init(&p, cmd);

	if (r != RUN_OK)
		return r;
	r = session_catalog(cmd->sh, CENOTE_CATALOG_PROCEDURES, &p.filter, 0, &routines);
	if (r == RUN_OK)
		r = session_catalog(
			cmd->sh, CENOTE_CATALOG_PROCEDURE_COLUMNS, &p.filter, 0, &params);
	if (r == RUN_OK)
		r = routines_show(cmd->sh, routines, params, p.has_object);
	cenote_result_destroy(routines);
	cenote_result_destroy(params);
	pattern_finish(&p);
	return r;
}

static int
run_users(struct cmd *cmd)
{
	struct pattern p;
	cenote_result *res;
	const char *sql;
	int r = pattern_init(&p, cmd);

	if (r != RUN_OK)
		return r;
	sql = server_sql_of(cenote_info(cmd->sh->conn, "backend"))->users;
	if (!sql) {
		shell_error(
			cmd->sh, "\\du: users of this kind of server cannot be listed");
		r = RUN_ERROR;
	} else {
		r = session_query(cmd->sh, sql,
			(const char *const[]){
				p.has_object ? p.filter.object : "%", NULL },
			0, &res);
	}
	if (r == RUN_OK) {
		r = run_show_whole(cmd->sh, res);
		cenote_result_destroy(res);
	}
	pattern_finish(&p);
	return r;
}

const struct command cmd_describe_table[] = {
	{ "d", "[NAME]", "tables and views; or columns, indexes, checks, references",
		run_describe },
	{ "d+", "[NAME]", "the same, with the comments on columns", run_describe_more },
	{ "dt", "[NAME]", "tables", run_tables },
	{ "dv", "[NAME]", "views", run_views },
	{ "di", "[TABLE]", "indexes", run_indexes },
	{ "df", "[NAME]", "functions and procedures", run_routines },
	{ "dn", "[NAME]", "schemas", run_schemas },
	{ "du", "[NAME]", "users", run_users },
	{ "l", "", "databases", run_databases },
	{ 0 },
};
