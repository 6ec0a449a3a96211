/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_USERS_H
#define CND_USERS_H

#include <stdio.h>

#include "config/lines.h"
#include "protocol/scram.h"

/*
 * A users file: lines NAME:VERIFIER, the verifier in PostgreSQL's form, '!' before it for a user who may
 * not log in.
 */
#define CND_USER_MAX 63u

struct cnd_user {
	char name[CND_USER_MAX + 1];
	int is_disabled;
	struct cnp_scram_verifier verifier;
};

struct cnd_users {
	struct cnd_user *list; /* by name */
	size_t n;
	size_t cap;
	struct cnp_scram_verifier
		pattern; /* the file's first: others are made up like it */
};

/* NULL: it can be the name of a user; else why not. */
const char *cnd_user_name_fault(const char *name);

/* 0, or -1 with the lines' error set. */
int cnd_users_read(struct cnd_users *u, struct cnd_lines *lines);
/* Wipes. */
void cnd_users_destroy(struct cnd_users *u);
/* With the verifiers: to be compared, never to be shown. */
void cnd_users_print(const struct cnd_users *u, FILE *out);
/* NULL: there is none of that name. */
const struct cnd_user *cnd_users_find(const struct cnd_users *u, const char *name);
/*
 * What a login as `name` is checked against, in the same time whoever it is. 1: nobody can pass: there is
 * no such user, or it is disabled; the verifier is always the same one then. 0: a user. Negative: the hash
 * functions failed.
 */
int cnd_users_verifier(const struct cnd_users *u, const struct cnp_hash *hash,
	const char *name, struct cnp_scram_verifier *ret_verifier);

#endif
