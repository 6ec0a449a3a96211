/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_OPTIONS_H
#define CMY_OPTIONS_H

#include "libmysql.h"

/* The declarations that options.c and option_table.c, the table of the flavour's options, share. */

/* The type of an option's argument. */
enum kind {
	KIND_NONE, /* the argument is ignored */
	KIND_UINT, /* unsigned int */
	KIND_BOOL, /* my_bool */
	KIND_SIZE, /* unsigned long, size_t */
	KIND_TEXT, /* a string; NULL removes the option */
	KIND_POINTER, /* the argument itself is the value: a function */
	KIND_POINTERS, /* both arguments themselves are the value */
	KIND_TEXT_TEXT, /* two strings */
	KIND_TEXT_UINT, /* a string, and an unsigned int by value */
	KIND_TEXT_POINTER, /* a name, and any pointer */
	KIND_UINT_TEXT, /* a pointer to a number, and a string */
	KIND_BYTES /* bytes, and their number */
};

struct option {
	int option;
	uint8_t kind; /* enum kind */
	uint8_t is_optional; /* the argument may be NULL */
	uint8_t adds; /* each call adds a value; other options replace it */
	uint16_t at; /* offset of the option in MYSQL; 0: MYSQL has no member for it */
	unsigned long flag; /* the CLIENT_… flag of the option */
	/* called instead of recording the option: 0, or 1 and the error is set */
	int (*set)(struct cmy_options *o, const struct option *what, const void *first,
		const void *second);
	/* called instead of reporting the record; `more` as in cmy_option_get() */
	int (*get)(struct cmy_options *o, void *arg, void *more, unsigned *n);
};

struct record {
	const struct option *what;
	void *first; /* as the original expects it */
	void *second;
	int is_of_file;
};

struct cmy_options {
	MYSQL *my;
	int is_file; /* options are being set from an option file */
	struct record *records;
	size_t n, room;
	char **init_commands;
};

/* ---- option_table.c ---- */

/* Find an option by its number. NULL: there is no such option. */
const struct option *cmy_option_find(int option);

/* ---- options.c ---- */

/* Record an option with copies of the arguments. 0, or 1 and the error is set. */
int cmy_option_record(struct cmy_options *o, const struct option *what, const void *first,
	const void *second);
void cmy_option_remove(struct cmy_options *o, size_t i);
void cmy_option_flag(MYSQL *my, unsigned long flag, int on);
/* Set the error. Returns 1. */
int cmy_option_refuse(struct cmy_options *o, unsigned code);

#endif
