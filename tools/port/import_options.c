/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of cenote-import. import.c calls it. It has no state.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import.h"

#define BATCH_ROWS     10000u
#define BATCH_ROWS_MAX 1000000000ull

enum {
	OPT_FORMAT = 256,
	OPT_NO_HEADER,
	OPT_TYPES,
	OPT_CREATE,
	OPT_DIALECT,
	OPT_NAME,
	OPT_BATCH,
	OPT_RESUME,
	OPT_RESTART,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{ "table", required_argument, NULL, 't' },
	{ "columns", required_argument, NULL, 'c' },
	{ "input", required_argument, NULL, 'i' },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "no-header", no_argument, NULL, OPT_NO_HEADER },
	{ "types", no_argument, NULL, OPT_TYPES },
	{ "create", no_argument, NULL, OPT_CREATE },
	{ "dialect", required_argument, NULL, OPT_DIALECT },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "batch", required_argument, NULL, OPT_BATCH },
	{ "single-transaction", no_argument, NULL, '1' },
	{ "resume", no_argument, NULL, OPT_RESUME },
	{ "restart", no_argument, NULL, OPT_RESTART },
	{ "quiet", no_argument, NULL, 'Q' },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

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
	"                        .zst compressed; default: as the FILE is named, or csv\n"
	"      --no-header       csv, tsv: there is no line with names\n"
	"      --types           the file has types (cenote-export --types)\n"
	"      --create          make the table, with the types in the file\n"
	"      --dialect=SERVER  sql: the server for which the file was written: "
	"postgresql,\n"
	"                        mariadb, mysql, sqlite, sqlserver or standard; default: "
	"as\n"
	"                        the target\n"
	"      --name=NAME       of the import, in the table cenote_import; default: "
	"table and\n"
	"                        file\n"
	"      --batch=N         rows of a transaction; default 10000\n"
	"  -1, --single-transaction\n"
	"                        one transaction for all rows; it cannot be resumed\n"
	"      --resume          continue after the rows that are committed\n"
	"      --restart         begin again after a run that stopped\n"
	"  -Q, --quiet           no progress and no number of rows\n"
	"\n"
	"POOL is the name of a pool of the cenoted on this machine, a URI is, for "
	"example,\n"
	"cenote:///POOL?run_dir=/path or cenote://user@host:9432/POOL.\n"
	"Exit status: 0 success, 1 an error of the server or the file, 2 wrong usage or "
	"no\n"
	"connection, 3 stopped, and --resume continues. See cenote-import(1).\n";

static _Noreturn void
show_and_exit(int option)
{
	uint32_t v = cenote_version();

	if (option == OPT_HELP)
		(void)printf("%s%s", usage_text, help_text);
	else
		(void)printf("cenote-import (Cenote) %u.%u.%u\n", (unsigned)(v / 10000),
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

static int
take_batch(struct import *im, const char *value)
{
	char *end;

	errno = 0;
	im->batch_rows = strtoull(value, &end, 10);
	if (errno != 0 || *value < '0' || *value > '9' || *end != '\0' ||
		im->batch_rows == 0 || im->batch_rows > BATCH_ROWS_MAX)
		return wrong("--batch: a number of rows expected");
	return PORT_OK;
}

static void
take_flag(struct import *im, int option)
{
	switch (option) {
	case OPT_NO_HEADER:
		im->has_header = false;
		break;
	case OPT_CREATE:
		im->is_creating = true;
		im->has_types = true;
		break;
	case OPT_TYPES:
		im->has_types = true;
		break;
	case OPT_RESUME:
		im->is_resumed = true;
		break;
	case OPT_RESTART:
		im->is_restarted = true;
		break;
	case '1':
		im->is_single = true;
		break;
	default:
		im->is_quiet = true;
	}
}

static int
take_option(struct import *im, int option, const char *value, const char **format)
{
	switch (option) {
	case OPT_HELP:
	case OPT_VERSION:
		show_and_exit(option);
	case '?':
		(void)fputs(usage_text, stderr);
		return PORT_USAGE;
	case OPT_BATCH:
		return take_batch(im, value);
	case OPT_FORMAT:
		*format = value;
		break;
	case 't':
		im->table = value;
		break;
	case 'c':
		im->columns = value;
		break;
	case 'i':
		im->file = value;
		break;
	case OPT_DIALECT:
		im->sql_dialect = value;
		break;
	case OPT_NAME:
		im->name = value;
		break;
	default:
		take_flag(im, option);
	}
	return PORT_OK;
}

static int
check(const struct import *im)
{
	if (!im->table)
		return wrong("-t TABLE is needed");
	if (!im->has_header && im->has_types)
		return wrong("--types and --create need the header");
	if (im->is_resumed && (im->is_restarted || im->is_single))
		return wrong(
			"--resume does not go with --restart and --single-transaction");
	if (im->sql_dialect && !dialect_find(im->sql_dialect))
		return wrong("--dialect: postgresql, mariadb, mysql, sqlite, sqlserver "
			     "or standard expected");
	return PORT_OK;
}

int
import_options(struct import *im, int argc, char **argv)
{
	const char *format = NULL;
	int option, r = PORT_OK;

	im->file = "-";
	im->has_header = true;
	im->batch_rows = BATCH_ROWS;
	while (r == PORT_OK &&
		(option = getopt_long(argc, argv, "t:c:i:1Q", long_options, NULL)) != -1)
		r = take_option(im, option, optarg, &format);
	if (r != PORT_OK)
		return r;
	if (optind != argc - 1)
		return wrong(optind < argc ? "more than one URI or pool was named"
					   : "no URI or pool was named");
	im->target = argv[optind];
	r = port_choose_format(format, im->file, &im->format, &im->is_zstd);
	return r == PORT_OK ? check(im) : r;
}
