/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CTL_INI_H
#define CTL_INI_H

#include "convert.h"

/* PgBouncer's files: pgbouncer.ini with what it includes, the list of users, and the pairs of a connection string. */

struct ini_setting {
	char *section;
	char *key;
	char *value;
	struct origin at;
};

/* All zero is the empty list. */
struct ini {
	struct ini_setting *list; /* in the order of the file */
	size_t n;
	char **files; /* the names of the files that were read; origins borrow them */
	size_t n_files;
};

/* Add the settings of a text, which is changed. 0; or -1, and a note says why. */
int ini_read(struct ini *ini, struct draft *d, const char *file, char *text);
void ini_finish(struct ini *ini);
/* The last setting of this name, since the last one counts. NULL: there is none. */
const struct ini_setting *ini_find(
	const struct ini *ini, const char *section, const char *key);

/* Cut a connection string into its pairs, in place. Returns their number; -1: the text is not a connection string. */
int pairs_split(char *text, struct pair ret_pairs[PAIRS_MAX]);

/* Take the next user from the text of a userlist.txt. Returns 1; 0 at the end; -1: the line is not a user. *text moves to the next line. */
int userlist_next(char **text, char **ret_name, char **ret_secret);

#endif
