/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

/*
 * What is in the database, as the pool's catalog tells it: the same from every backend. Names of
 * the catalog's columns are in docs/protocol.md.
 */

static const struct run_pick databases[] = { { "table_cat", "Database" },
	{ "remarks", "Remarks" }, { 0 } };
static const struct run_pick schemas[] = { { "table_schem", "Schema" }, { 0 } };
static const struct run_pick tables[] = { { "table_schem", "Schema" },
	{ "table_name", "Name" }, { "table_type", "Type" }, { "remarks", "Remarks" },
	{ 0 } };
static const struct run_pick columns[] = { { "column_name", "Column" },
	{ "type_name", "Type" }, { "is_nullable", "Nullable" },
	{ "column_def", "Default" }, { 0 } };
static const struct run_pick primary_keys[] = { { "column_name", "Primary key" },
	{ "key_seq", "Position" }, { 0 } };
static const struct run_pick foreign_keys[] = { { "fkcolumn_name", "Foreign key" },
	{ "pktable_name", "References" }, { "pkcolumn_name", "Column" },
	{ "fk_name", "Name" }, { 0 } };
static const struct run_pick indexes[] = { { "table_name", "Table" },
	{ "index_name", "Index" }, { "ordinal_position", "Position" },
	{ "column_name", "Column" }, { "non_unique", "Not unique" }, { 0 } };

/* A name with * and ? becomes a pattern of LIKE, in which other characters stand for themselves. */
static void
add_pattern(struct text *t, const char *name)
{
	for (; *name; name++) {
		if (*name == '*') {
			text_add_char(t, '%');
		} else if (*name == '?') {
			text_add_char(t, '_');
		} else {
			if (strchr("%_\\", *name))
				text_add_char(t, '\\');
			text_add_char(t, *name);
		}
	}
}

/* The optional argument [SCHEMA.]NAME as filters. */
struct pattern {
	struct text schema;
	struct text object;
	int has_object;
	cenote_catalog_filter filter;
};

static int
pattern_init(struct pattern *p, struct cmd *cmd)
{
	struct text word = { 0 };
	int n = args_next(&cmd->args, &word);
	const char *name = text_str(&word), *dot = strchr(name, '.');

	*p = (struct pattern){ .filter = CENOTE_CATALOG_FILTER_INIT };
	if (n < 0) {
		text_finish(&word);
		return cmd_usage(cmd, "a quote is not closed");
	}
	p->has_object = n > 0;
	if (dot) {
		char *schema = mem_dup(name, (size_t)(dot - name));

		add_pattern(&p->schema, schema);
		free(schema);
		p->filter.schema = text_str(&p->schema);
		name = dot + 1;
	}
	add_pattern(&p->object, name);
	p->filter.object = n > 0 ? text_str(&p->object) : NULL;
	text_finish(&word);
	return RUN_OK;
}

static void
pattern_finish(struct pattern *p)
{
	text_finish(&p->schema);
	text_finish(&p->object);
}

/* One list of the catalog; with is_optional, nothing at all when it is empty. */
static int
show_list(struct shell *sh, uint32_t kind, const cenote_catalog_filter *filter,
	const struct run_pick *picks, int is_optional)
{
	cenote_result *res;
	int r = session_catalog(sh, kind, filter, is_optional, &res);

	/* A backend that cannot tell this: what it can tell was shown. */
	if (r == RUN_ERROR && is_optional)
		return RUN_OK;
	if (r != RUN_OK)
		return r;
	if (!is_optional || cenote_result_n_rows(res) > 0)
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
	r = show_list(cmd->sh, CENOTE_CATALOG_TABLES, &p.filter, tables, 0);
	pattern_finish(&p);
	return r;
}

static int
run_tables(struct cmd *cmd)
{
	return list_tables(cmd, "TABLE,GLOBAL TEMPORARY,LOCAL TEMPORARY");
}

static int
run_views(struct cmd *cmd)
{
	return list_tables(cmd, "VIEW");
}

static int
run_indexes(struct cmd *cmd)
{
	struct pattern p;
	int r = pattern_init(&p, cmd);

	if (r != RUN_OK)
		return r;
	r = show_list(cmd->sh, CENOTE_CATALOG_INDEXES, &p.filter, indexes, 0);
	pattern_finish(&p);
	return r;
}

static int
run_databases(struct cmd *cmd)
{
	return show_list(cmd->sh, CENOTE_CATALOG_DATABASES, NULL, databases, 0);
}

static int
run_schemas(struct cmd *cmd)
{
	return show_list(cmd->sh, CENOTE_CATALOG_SCHEMAS, NULL, schemas, 0);
}

/* One table: its columns, then what else there is to tell. */
static int
describe_table(struct shell *sh, const cenote_catalog_filter *filter)
{
	static const struct {
		uint32_t kind;
		const struct run_pick *picks;
	} more[] = { { CENOTE_CATALOG_PRIMARY_KEYS, primary_keys },
		{ CENOTE_CATALOG_FOREIGN_KEYS, foreign_keys },
		{ CENOTE_CATALOG_INDEXES, indexes } };
	cenote_result *res;
	size_t i;
	int r = session_catalog(sh, CENOTE_CATALOG_COLUMNS, filter, 0, &res);

	if (r != RUN_OK)
		return r;
	if (cenote_result_n_rows(res) == 0) {
		shell_error(sh, "there is no table or view of that name");
		r = RUN_ERROR;
	} else {
		r = run_show_picked(sh, res, columns);
	}
	cenote_result_destroy(res);
	for (i = 0; r == RUN_OK && i < sizeof(more) / sizeof(more[0]); i++)
		r = show_list(sh, more[i].kind, filter, more[i].picks, 1);
	return r;
}

/* Tables and views, but not the server's own. */
static int
show_all(struct shell *sh, cenote_catalog_filter *filter)
{
	filter->types = "TABLE,VIEW,GLOBAL TEMPORARY,LOCAL TEMPORARY";
	return show_list(sh, CENOTE_CATALOG_TABLES, filter, tables, 0);
}

static int
run_describe(struct cmd *cmd)
{
	struct pattern p;
	int r = pattern_init(&p, cmd);

	if (r != RUN_OK)
		return r;
	if (p.has_object)
		r = describe_table(cmd->sh, &p.filter);
	else
		r = show_all(cmd->sh, &p.filter);
	pattern_finish(&p);
	return r;
}

const struct command cmd_describe_table[] = {
	{ "d", "[NAME]", "all tables and views; or one, with columns, keys, indexes",
		run_describe },
	{ "dt", "[NAME]", "tables", run_tables },
	{ "dv", "[NAME]", "views", run_views },
	{ "di", "[TABLE]", "indexes", run_indexes },
	{ "dn", "", "schemas", run_schemas },
	{ "l", "", "databases", run_databases },
	{ 0 },
};
