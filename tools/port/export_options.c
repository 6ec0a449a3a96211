/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of cenote-export. export.c calls it. It has no state.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"

enum {
	OPT_WHERE = 256,
	OPT_KEY,
	OPT_FORMAT,
	OPT_NO_HEADER,
	OPT_TYPES,
	OPT_SQL_TABLE,
	OPT_DIALECT,
	OPT_RESUME,
	OPT_OVERWRITE,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{ "table", required_argument, NULL, 't' },
	{ "query", required_argument, NULL, 'q' },
	{ "columns", required_argument, NULL, 'c' },
	{ "where", required_argument, NULL, OPT_WHERE },
	{ "key", required_argument, NULL, OPT_KEY },
	{ "output", required_argument, NULL, 'o' },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "no-header", no_argument, NULL, OPT_NO_HEADER },
	{ "types", no_argument, NULL, OPT_TYPES },
	{ "sql-table", required_argument, NULL, OPT_SQL_TABLE },
	{ "dialect", required_argument, NULL, OPT_DIALECT },
	{ "resume", no_argument, NULL, OPT_RESUME },
	{ "overwrite", no_argument, NULL, OPT_OVERWRITE },
	{ "quiet", no_argument, NULL, 'Q' },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

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
	"                        .zst compressed; default: as the FILE is named, or csv\n"
	"      --no-header       csv, tsv: no line with names\n"
	"      --types           write the types too, for cenote-import --create\n"
	"      --sql-table=TABLE sql: the table in the INSERT statements\n"
	"      --dialect=SERVER  sql: write for postgresql, mariadb, mysql, sqlite,\n"
	"                        sqlserver or standard; default: as the source\n"
	"      --resume          continue FILE after its last row\n"
	"      --overwrite       replace FILE if it exists\n"
	"  -Q, --quiet           no progress and no number of rows\n"
	"\n"
	"POOL is the name of a pool of the cenoted on this machine, a URI is, for "
	"example,\n"
	"cenote:///POOL?run_dir=/path or cenote://user@host:9432/POOL.\n"
	"Exit status: 0 success, 1 an error of the server or the file, 2 wrong usage or "
	"no\n"
	"connection, 3 stopped, and --resume continues. See cenote-export(1).\n";

static _Noreturn void
show_and_exit(int option)
{
	uint32_t v = cenote_version();

	if (option == OPT_HELP)
		(void)printf("%s%s", usage_text, help_text);
	else
		(void)printf("cenote-export (Cenote) %u.%u.%u\n", (unsigned)(v / 10000),
			(unsigned)(v / 100 % 100), (unsigned)(v % 100));
	exit(fflush(stdout) == 0 ? PORT_OK : PORT_USAGE);
}

static int
wrong(const char *message)
{
	port_say("%s", message);
	(void)fputs(usage_text, stderr);
	return PORT_USAGE;
}

static void
take_text(struct export *e, int option, const char *value)
{
	switch (option) {
	case 't':
		e->table = value;
		break;
	case 'q':
		e->query = value;
		break;
	case 'c':
		e->columns = value;
		break;
	case 'o':
		e->file = value;
		break;
	case OPT_WHERE:
		e->where = value;
		break;
	case OPT_KEY:
		e->key = value;
		break;
	case OPT_SQL_TABLE:
		e->sql_table = value;
		break;
	default:
		e->sql_dialect = value;
	}
}

static int
take_option(struct export *e, int option, const char *value, const char **format)
{
	switch (option) {
	case OPT_HELP:
	case OPT_VERSION:
		show_and_exit(option);
	case '?':
		(void)fputs(usage_text, stderr);
		return PORT_USAGE;
	case OPT_FORMAT:
		*format = value;
		break;
	case OPT_NO_HEADER:
		e->has_header = false;
		break;
	case OPT_TYPES:
		e->has_types = true;
		break;
	case OPT_RESUME:
		e->is_resumed = true;
		break;
	case OPT_OVERWRITE:
		e->is_overwriting = true;
		break;
	case 'Q':
		e->is_quiet = true;
		break;
	default:
		take_text(e, option, value);
	}
	return PORT_OK;
}

static int
check(const struct export *e)
{
	if (!e->table == !e->query)
		return wrong("either -t TABLE or -q QUERY is needed");
	if (e->is_resumed && (strcmp(e->file, "-") == 0 || e->is_overwriting))
		return wrong("--resume continues a file: it needs -o FILE, and no "
			     "--overwrite");
	if (!e->has_header && (e->is_resumed || e->has_types))
		return wrong("--resume and --types need the header");
	if (e->query && !e->key && (e->columns || e->where))
		return wrong("--columns and --where need -t TABLE, or --key");
	if (e->format == PORT_SQL && !e->table && !e->sql_table)
		return wrong("INSERT statements need a table: --sql-table");
	if (e->sql_dialect && !dialect_find(e->sql_dialect))
		return wrong("--dialect: postgresql, mariadb, mysql, sqlite, sqlserver "
			     "or standard expected");
	return PORT_OK;
}

int
export_options(struct export *e, int argc, char **argv)
{
	const char *format = NULL;
	int option, r = PORT_OK;

	e->file = "-";
	e->has_header = true;
	while (r == PORT_OK &&
		(option = getopt_long(argc, argv, "t:q:c:o:Q", long_options, NULL)) != -1)
		r = take_option(e, option, optarg, &format);
	if (r != PORT_OK)
		return r;
	if (optind != argc - 1)
		return wrong(optind < argc ? "more than one URI or pool was named"
					   : "no URI or pool was named");
	e->target = argv[optind];
	r = port_choose_format(format, e->file, &e->format, &e->is_zstd);
	return r == PORT_OK ? check(e) : r;
}
