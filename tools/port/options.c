/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads command lines. export_options.c and import_options.c call it with their tables. This file keeps no state, but
 * getopt_long() does.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "usage.h"

#define COUNT_MAX 1000000000ull

/* What getopt_long() returns for an option without a letter: this, and the place in the table. */
#define OPT_FIRST   256
#define OPT_HELP    (OPT_FIRST + (int)OPTIONS_MAX)
#define OPT_VERSION (OPT_HELP + 1)

/* The table in the form of getopt_long(). */
struct getopt_table {
	struct option options[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 1];
};

static bool
has_value(const struct option_spec *spec)
{
	return spec->kind != OPTION_ON && spec->kind != OPTION_OFF;
}

static void
make_getopt_table(const struct option_spec *specs, struct getopt_table *ret)
{
	char *letter = ret->letters;
	size_t i;

	*ret = (struct getopt_table){ 0 };
	for (i = 0; specs[i].name && i < OPTIONS_MAX - 2; i++) {
		ret->options[i] = (struct option){ specs[i].name,
			has_value(&specs[i]) ? required_argument : no_argument, NULL,
			OPT_FIRST + (int)i };
		if (!specs[i].letter)
			continue;
		ret->options[i].val = (unsigned char)specs[i].letter;
		*letter++ = specs[i].letter;
		if (has_value(&specs[i]))
			*letter++ = ':';
	}
	ret->options[i++] = (struct option){ "help", no_argument, NULL, OPT_HELP };
	ret->options[i] = (struct option){ "version", no_argument, NULL, OPT_VERSION };
}

int
options_fail(const struct option_table *table, const char *message)
{
	port_say("%s", message);
	(void)fputs(table->usage, stderr);
	return PORT_USAGE;
}

static int
fail_value(const struct option_table *table, const struct option_spec *spec,
	const char *expected)
{
	port_say("--%s: %s expected", spec->name, expected);
	(void)fputs(table->usage, stderr);
	return PORT_USAGE;
}

static int
take_count(const struct option_table *table, const struct option_spec *spec,
	const char *value, uint64_t *ret)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(value, &end, 10);
	if (errno != 0 || *value < '0' || *value > '9' || *end != '\0' || n == 0 ||
		n > COUNT_MAX)
		return fail_value(table, spec, "a number from 1 to 1000000000");
	*ret = n;
	return PORT_OK;
}

static int
take_dialect(const struct option_table *table, const struct option_spec *spec,
	const char *value, const struct dialect **ret)
{
	*ret = dialect_find(value);
	return *ret ? PORT_OK
		    : fail_value(table, spec,
			      "postgresql, mariadb, mysql, sqlite, sqlserver or "
			      "standard");
}

static int
take_value(const struct option_table *table, const struct option_spec *spec, void *to,
	const char *value)
{
	void *member = (char *)to + spec->offset;

	switch (spec->kind) {
	case OPTION_TEXT:
		*(const char **)member = value;
		break;
	case OPTION_COUNT:
		return take_count(table, spec, value, member);
	case OPTION_DIALECT:
		return take_dialect(table, spec, value, member);
	default:
		*(bool *)member = spec->kind == OPTION_ON;
	}
	return PORT_OK;
}

static int
take_option(const struct option_table *table, int option, void *to, const char *value)
{
	size_t i;

	if (option == OPT_HELP)
		usage_show_help(table->usage, table->help);
	if (option == OPT_VERSION)
		usage_show_version(cenote_version());
	for (i = 0; table->specs[i].name; i++) {
		if (option == OPT_FIRST + (int)i || option == table->specs[i].letter)
			return take_value(table, &table->specs[i], to, value);
	}
	/* getopt_long() has reported an unknown option. */
	(void)fputs(table->usage, stderr);
	return PORT_USAGE;
}

int
options_read(const struct option_table *table, void *to, int argc, char **argv,
	const char **ret_target)
{
	struct getopt_table t;
	int option, r = PORT_OK;

	make_getopt_table(table->specs, &t);
	while (r == PORT_OK &&
		(option = getopt_long(argc, argv, t.letters, t.options, NULL)) != -1)
		r = take_option(table, option, to, optarg);
	if (r != PORT_OK)
		return r;
	if (optind != argc - 1)
		return options_fail(table, optind < argc
						   ? "more than one URI or pool was named"
						   : "no URI or pool was named");
	*ret_target = argv[optind];
	return PORT_OK;
}
