/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_OPTIONS_H
#define CMY_OPTIONS_H

#include "libmysql.h"

/* What options.c and the table of the flavour's options, option_table.c, share. */

/* What an argument points to. */
enum kind {
	KIND_NONE, /* nothing: it is not looked at */
	KIND_UINT, /* unsigned int */
	KIND_BOOL, /* my_bool */
	KIND_SIZE, /* unsigned long, size_t */
	KIND_TEXT, /* a string; NULL takes it back */
	KIND_POINTER, /* the argument itself is meant: a function */
	KIND_POINTERS, /* the second one, too */
	KIND_TEXT_TEXT, /* two strings */
	KIND_TEXT_UINT, /* a string, and an unsigned int, which is not pointed to */
	KIND_TEXT_POINTER, /* a name, and whatever the program wants */
	KIND_UINT_TEXT, /* a number that is pointed to, and a string */
	KIND_BYTES /* bytes, and how many they are */
};

struct option {
	int option;
	uint8_t kind; /* enum kind */
	uint8_t is_optional; /* a number may be left out: the argument is NULL */
	uint8_t adds; /* each time one more, not another value of the same */
	uint16_t at; /* offset in MYSQL, 0 if it has no place there */
	unsigned long flag; /* CLIENT_…, that goes with it */
	/* instead of recording it: 0, or 1 and the error is set */
	int (*set)(struct cmy_options *o, const struct option *what, const void *first,
		const void *second);
	/* instead of telling what was recorded; `more` as cmy_option_get() has it */
	int (*get)(struct cmy_options *o, void *arg, void *more, unsigned *n);
};

struct record {
	const struct option *what;
	void *first; /* as the original takes it */
	void *second;
	int is_of_file;
};

struct cmy_options {
	MYSQL *my;
	int is_file; /* what is set comes from one */
	struct record *records;
	size_t n, room;
	char **init_commands;
};

/* ---- option_table.c ---- */

/* NULL: there is none of that number. */
const struct option *cmy_option_find(int option);

/* ---- options.c ---- */

/* Keep copies of the arguments. 0, or 1 and the error is set. */
int cmy_option_record(struct cmy_options *o, const struct option *what, const void *first,
	const void *second);
void cmy_option_remove(struct cmy_options *o, size_t i);
void cmy_option_flag(MYSQL *my, unsigned long flag, int on);
/* 1, and the error is set. */
int cmy_option_refuse(struct cmy_options *o, unsigned code);

#endif
