/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of cenote-export. export.c calls it. This file keeps no state.
 */
#include <string.h>

#include "export.h"
#include "options.h"
#include "usage.h"

static const char usage_text[] =
	"usage: cenote-export [OPTION...] -t TABLE|-q QUERY URI|POOL\n";

static const char help_text[] =
	"\n"
	"  -t, --table=TABLE     export this table\n"
	"  -q, --query=QUERY     export the rows of a query\n"
	"  -c, --columns=LIST    only these columns, as SQL\n"
	"      --where=CONDITION only the rows for which this SQL condition is true\n"
	"      --key=COLUMNS     unique columns by which rows are ordered; default: the\n"
	"                        primary key\n"
	"  -o, --output=FILE     write to FILE; default: standard output\n"
	"      --format=FORMAT   csv, tsv, json (a line for each row) or sql (INSERT); "
	"with\n"
	"                        .zst compressed; default: from FILE's name, else csv\n"
	"      --no-header       csv, tsv: no line with names\n"
	"      --types           write the types too, for cenote-import --create\n"
	"      --sql-table=TABLE sql: the table in the INSERT statements\n"
	"      --dialect=SERVER  sql: write for postgresql, mariadb, mysql, sqlite,\n"
	"                        sqlserver or standard; default: as the source\n"
	"      --resume          continue FILE after its last row\n"
	"      --overwrite       replace FILE if it exists\n"
	"  -Q, --quiet           no progress and no number of rows\n"
	"\n" USAGE_POOL "\n"
	"Exit status: 0 success, 1 an error of the server or the file, 2 wrong usage or "
	"no\n"
	"connection, 3 stopped: --resume continues. See cenote-export(1).\n";

#define AT(member) offsetof(struct export, member)

static const struct option_spec specs[] = {
	{ "table", 't', OPTION_TEXT, AT(table) },
	{ "query", 'q', OPTION_TEXT, AT(query) },
	{ "columns", 'c', OPTION_TEXT, AT(columns) },
	{ "where", 0, OPTION_TEXT, AT(where) },
	{ "key", 0, OPTION_TEXT, AT(key) },
	{ "output", 'o', OPTION_TEXT, AT(file) },
	{ "format", 0, OPTION_TEXT, AT(format_name) },
	{ "no-header", 0, OPTION_OFF, AT(has_header) },
	{ "types", 0, OPTION_ON, AT(has_types) },
	{ "sql-table", 0, OPTION_TEXT, AT(sql_table) },
	{ "dialect", 0, OPTION_DIALECT, AT(sql_dialect) },
	{ "resume", 0, OPTION_ON, AT(is_resumed) },
	{ "overwrite", 0, OPTION_ON, AT(is_overwriting) },
	{ "quiet", 'Q', OPTION_ON, AT(is_quiet) },
	{ 0 },
};

static const struct option_table table = { usage_text, help_text, specs };

static int
check(const struct export *e)
{
	if (!e->table == !e->query)
		return options_fail(&table, "either -t TABLE or -q QUERY is needed");
	if (e->is_resumed && (strcmp(e->file, "-") == 0 || e->is_overwriting))
		return options_fail(&table,
			"--resume continues a file: it needs -o FILE, and no "
			"--overwrite");
	if (!e->has_header && (e->is_resumed || e->has_types))
		return options_fail(&table, "--resume and --types need the header");
	if (e->query && !e->key && (e->columns || e->where))
		return options_fail(
			&table, "--columns and --where need -t TABLE, or --key");
	if (e->format == PORT_SQL && !e->table && !e->sql_table)
		return options_fail(
			&table, "INSERT statements need a table: --sql-table");
	return PORT_OK;
}

int
export_options(struct export *e, int argc, char **argv)
{
	int r;

	e->file = "-";
	e->has_header = true;
	r = options_read(&table, e, argc, argv, &e->target);
	if (r == PORT_OK)
		r = port_choose_format(e->format_name, e->file, &e->format, &e->is_zstd);
	return r == PORT_OK ? check(e) : r;
}
