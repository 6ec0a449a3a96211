/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of cenote-import. import.c calls it. This file keeps no state.
 */
#include "import.h"
#include "options.h"
#include "usage.h"

static const char usage_text[] = "usage: cenote-import [OPTION...] -t TABLE URI|POOL\n";

static const char help_text[] =
	"\n"
	"  -t, --table=TABLE     import into this table\n"
	"  -c, --columns=LIST    names of the columns, in the order of the file; "
	"default: the\n"
	"                        names in the file\n"
	"  -i, --input=FILE      read FILE; default: standard input\n"
	"      --format=FORMAT   csv, tsv, json (an object on each line) or sql "
	"(INSERT); with\n"
	"                        .zst compressed; default: from FILE's name, else csv\n"
	"      --no-header       csv, tsv: there is no line with names\n"
	"      --types           the file has types (cenote-export --types)\n"
	"      --create          make the table, with the types in the file\n"
	"      --dialect=SERVER  sql: the server for which the file was written: "
	"postgresql,\n"
	"                        mariadb, mysql, sqlite, sqlserver or standard; default: "
	"as\n"
	"                        the target\n"
	"      --name=NAME       name of the import in the table cenote_import; "
	"default:\n"
	"                        TABLE and FILE\n"
	"      --batch=N         rows of a transaction; default 10000, with COPY 100000\n"
	"  -1, --single-transaction\n"
	"                        one transaction for all rows; it cannot be resumed\n"
	"      --resume          continue after the rows that are committed\n"
	"      --restart         begin again after a run that stopped\n"
	"  -Q, --quiet           no progress and no number of rows\n"
	"\n" USAGE_POOL "\n"
	"Exit status: 0 success, 1 an error of the server or the file, 2 wrong usage or "
	"no\n"
	"connection, 3 stopped: --resume continues. See cenote-import(1).\n";

#define AT(member) offsetof(struct import, member)

static const struct option_spec specs[] = {
	{ "table", 't', OPTION_TEXT, AT(table) },
	{ "columns", 'c', OPTION_TEXT, AT(columns) },
	{ "input", 'i', OPTION_TEXT, AT(file) },
	{ "format", 0, OPTION_TEXT, AT(format_name) },
	{ "no-header", 0, OPTION_OFF, AT(has_header) },
	{ "types", 0, OPTION_ON, AT(has_types) },
	{ "create", 0, OPTION_ON, AT(is_creating) },
	{ "dialect", 0, OPTION_DIALECT, AT(sql_dialect) },
	{ "name", 0, OPTION_TEXT, AT(name) },
	{ "batch", 0, OPTION_COUNT, AT(batch_rows) },
	{ "single-transaction", '1', OPTION_ON, AT(is_single) },
	{ "resume", 0, OPTION_ON, AT(is_resumed) },
	{ "restart", 0, OPTION_ON, AT(is_restarted) },
	{ "quiet", 'Q', OPTION_ON, AT(is_quiet) },
	{ 0 },
};

static const struct option_table table = { usage_text, help_text, specs };

static int
check(const struct import *im)
{
	if (!im->table)
		return options_fail(&table, "-t TABLE is needed");
	if (!im->has_header && im->has_types)
		return options_fail(&table, "--types and --create need the header");
	if (im->is_resumed && (im->is_restarted || im->is_single))
		return options_fail(&table,
			"--resume does not go with --restart and --single-transaction");
	return PORT_OK;
}

int
import_options(struct import *im, int argc, char **argv)
{
	int r;

	im->file = "-";
	im->has_header = true;
	r = options_read(&table, im, argc, argv, &im->target);
	/* --create needs the types. */
	im->has_types |= im->is_creating;
	if (r == PORT_OK)
		r = port_choose_format(
			im->format_name, im->file, &im->format, &im->is_zstd);
	return r == PORT_OK ? check(im) : r;
}
