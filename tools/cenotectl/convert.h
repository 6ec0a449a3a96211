/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CTL_CONVERT_H
#define CTL_CONVERT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/*
 * cenotectl convert: make a cenoted.conf from the configuration of another pool. convert.c is the command; draft.c collects the
 * result; ini.c and pgbouncer.c read PgBouncer's files; xml.c and sqlrelay.c read SQL Relay's.
 *
 * Where a restriction of the other program has no counterpart, the result refuses more, and a note says what to write.
 */

/* The place of a setting. The name of the file is borrowed. */
struct origin {
	const char *file;
	unsigned line;
};

struct draft_user {
	char *name;
	char *verifier;
};

struct draft {
	struct text daemon; /* the lines of [cenoted] */
	struct text pools; /* the sections [pool NAME] */
	struct text
		notes; /* one line for each setting that has no counterpart, or needs a look */
	size_t n_notes;
	char **names; /* of the pools */
	size_t n_pools;
	uint32_t sessions; /* the maxima of all pools together */
	const char *
		users_path; /* --users, the users file that will be written; NULL: it was not given */
	struct draft_user *users;
	size_t n_users;
	bool needs_users; /* the clients of a pool need passwords */
	bool may_open; /* false, for the fuzz target: do not open files that the configuration names */
};

void draft_finish(struct draft *d);
/* Add a note about a setting. `name` may be NULL. */
void draft_note(struct draft *d, const struct origin *at, const char *name,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
void draft_vnote(struct draft *d, const struct origin *at, const char *name,
	const char *format, va_list args) __attribute__((format(printf, 4, 0)));
/* Write a line "key = value" whose value needs no check. */
void draft_line(struct text *to, const char *key, const char *value);
/* Write a line "key = value". False: cenoted.conf cannot hold the value, and a note says so. */
bool draft_key(struct draft *d, struct text *to, const struct origin *at, const char *key,
	const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Add "key=value" to a server line, in quotes if necessary. */
void draft_option(struct draft *d, struct text *line, const struct origin *at,
	const char *key, const char *value);
/* Begin the section of a pool. False: the pool cannot be there, and a note says why. */
bool draft_pool(struct draft *d, const struct origin *at, const char *name);
void draft_sessions(struct draft *d, const struct origin *at, uint64_t min, uint64_t max);
/* Write a line "key = TIME". `seconds` is a text from the configuration; if it is not a number, a note says so. */
void draft_seconds(struct draft *d, struct text *to, const struct origin *at,
	const char *key, const char *seconds);
void draft_listen(
	struct draft *d, const struct origin *at, const char *host, const char *port);
/* Why a user cannot have this name; NULL: the name is good. */
const char *draft_user_name_fault(const char *name);
/* What a text in the place of a password is. */
enum secret_kind {
	SECRET_PASSWORD,
	SECRET_MD5,
	SECRET_SCRAM
};
enum secret_kind secret_kind(const char *secret);
/* Add a user with a password or a SCRAM verifier. Returns whether the users file will have it; if not, a note says why. Without
 * --users, it does nothing and returns false. */
bool draft_user(
	struct draft *d, const struct origin *at, const char *name, const char *secret);
/* Write the rules for clients whose passwords are in the users file. `users`: their names, separated by commas; "": all of the file. */
void draft_password_rules(struct draft *d, const struct origin *at, const char *users,
	bool is_plain_allowed);
/* Write these rules of auth, and let everybody open the socket: the rules decide who gets a session. `second` may be NULL. If a
 * rule cannot be written, the pool refuses everybody. */
void draft_open_rules(
	struct draft *d, const struct origin *at, const char *first, const char *second);
/* Print the whole cenoted.conf. */
void draft_print(const struct draft *d, const char *source, struct text *out);

/* A part of a connection string. */
struct pair {
	char *key;
	char *value;
};

#define PAIRS_MAX 64u

/* The value of the last pair with this key, since the last one counts. NULL: there is none. */
const char *pairs_find(const struct pair *pairs, int n, const char *key);
/* Read a whole number. False: the text has something other than digits, or the number is above `max`. */
bool number_parse(const char *text, uint64_t max, uint64_t *ret_number);
/* Read a file of less than 1 MB without zero bytes. On failure returns NULL and sets the reason, a text that is not freed. */
char *file_read(const char *path, size_t *ret_len, const char **ret_error);

/* Each reads a text, and fills the draft. 0; or -1: the text cannot be converted, and a note says why.
 * pgbouncer_convert() changes the text. */
int pgbouncer_convert(struct draft *d, const char *file, char *text);
int sqlrelay_convert(struct draft *d, const char *file, const char *text, size_t len);
/* Call the one of them that fits the text: a sqlrelay.conf begins with '<'. */
int convert_text(struct draft *d, const char *file, char *text, size_t len);

/* The command. Returns the exit status. */
int convert_run(int argc, char **argv);

#endif
