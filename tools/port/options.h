/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_OPTIONS_H
#define PORT_OPTIONS_H

#include "dialect.h"

/* The command lines of cenote-export and cenote-import: each program has a table of its options. */

enum option_kind {
	OPTION_TEXT, /* const char * */
	OPTION_COUNT, /* uint64_t from 1 to 1,000,000,000 */
	OPTION_DIALECT, /* const struct dialect * */
	OPTION_ON, /* bool, which the option sets to true */
	OPTION_OFF /* bool, which the option sets to false */
};

struct option_spec {
	const char *name;
	char letter; /* 0: there is only the long form */
	enum option_kind kind;
	size_t offset; /* of the member that gets the value */
};

/* The most options of a program, with --help and --version. */
#define OPTIONS_MAX 24u

struct option_table {
	const char *usage; /* one line */
	const char *help; /* a line or more for each option */
	const struct option_spec *specs; /* after the last one: no name */
};

/*
 * Read the options into members of the structure `to`, and the pool or URI into *ret_target. Returns PORT_OK, or
 * PORT_USAGE after a message. --help and --version end the program.
 */
int options_read(const struct option_table *table, void *to, int argc, char **argv,
	const char **ret_target);
/* Report wrong usage. Returns PORT_USAGE. */
int options_fail(const struct option_table *table, const char *message);

#endif
