/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_USERS_H
#define CND_USERS_H

#include <stdio.h>

#include "config/lines.h"
#include "protocol/scram.h"

/* A users file: lines NAME:VERIFIER. The verifier has PostgreSQL's form. '!' before it disables the
 * user. */
#define CND_USER_MAX 63u

struct cnd_user {
	char name[CND_USER_MAX + 1];
	int is_disabled;
	struct cnp_scram_verifier verifier;
};

struct cnd_users {
	struct cnd_user *list; /* sorted by name */
	size_t n;
	size_t cap;
	struct cnp_scram_verifier
		pattern; /* the first verifier of the file; made-up ones look like it */
};

/* Why `name` cannot be the name of a user; NULL: it can. */
const char *cnd_user_name_fault(const char *name);

/* Read the file. 0; or -1, with the error of `lines` set. */
int cnd_users_read(struct cnd_users *u, struct cnd_lines *lines);
/* Wipe the users. */
void cnd_users_destroy(struct cnd_users *u);
/* Print the users with their verifiers: only to compare them, never to show them. */
void cnd_users_print(const struct cnd_users *u, FILE *out);
/* NULL: there is no such user. */
const struct cnd_user *cnd_users_find(const struct cnd_users *u, const char *name);
/*
 * Get the verifier for a login as `name`; this takes the same time for any name. 0: the user exists.
 * 1: the login cannot succeed, since there is no such user or he is disabled; the same name always
 * gets the same verifier. Negative: the hash functions failed.
 */
int cnd_users_verifier(const struct cnd_users *u, const struct cnp_hash *hash,
	const char *name, struct cnp_scram_verifier *ret_verifier);

#endif
