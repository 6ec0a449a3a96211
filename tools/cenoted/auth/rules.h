/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_RULES_H
#define CND_RULES_H

#include <stdio.h>
#include <sys/types.h>

#include "map.h"
#include "peer.h"

/*
 * Who may log in, and how: a pool's `auth` lines. The first rule that matches decides; when none does,
 * nobody gets in.
 */
enum cnd_method {
	CND_METHOD_PEER, /* the kernel says who it is: unix doors only */
	CND_METHOD_SCRAM, /* a password */
	CND_METHOD_CERT, /* a certificate that was verified: TLS only */
	CND_METHOD_TRUST, /* whoever it says it is */
	CND_METHOD_REJECT,
	CND_METHOD_PASS_THROUGH, /* its server says, which gets its password */
	CND_METHOD_SCRAM_PASS_THROUGH /* the same, but it is only proved to both */
};

enum cnd_tls_wanted {
	CND_TLS_ANY,
	CND_TLS_YES,
	CND_TLS_NO
};

enum cnd_door_wanted {
	CND_DOOR_WANTED_ANY,
	CND_DOOR_WANTED_UNIX,
	CND_DOOR_WANTED_TCP
};

struct cnd_rule {
	unsigned line; /* of the configuration; 0: the default */
	uint8_t method; /* enum cnd_method */
	uint8_t door; /* enum cnd_door_wanted */
	uint8_t tls; /* enum cnd_tls_wanted */
	struct cnd_network *from; /* n_from 0: from anywhere */
	size_t n_from;
	char *from_text; /* as written; NULL: not given */
	char **users; /* n_users 0: whoever */
	size_t n_users;
	char *map_path; /* NULL: none */
	struct cnd_map map;
};

struct cnd_rules {
	struct cnd_rule *list;
	size_t n;
};

/* Who comes, before a login. */
struct cnd_arrival {
	struct cnd_peer peer;
	uid_t uid; /* of who came by the unix socket */
	const char *user; /* whom it wants to be */
	uint8_t has_tls;
	uint8_t has_cert; /* and its certificate was verified */
};

#define CND_RULES_ERROR_MAX 256u

/* Add the rules of one line of the configuration. 0, or -1 with the error set; maps are not read yet. */
int cnd_rules_parse(struct cnd_rules *rules, const char *text, unsigned line,
	char error[CND_RULES_ERROR_MAX]);
void cnd_rules_destroy(struct cnd_rules *rules);
/* In a form that reads back the same. */
void cnd_rules_print(const struct cnd_rules *rules, FILE *out);
void cnd_rule_print(const struct cnd_rule *rule, FILE *out);

/* Why the rule does not match; NULL: it does. */
const char *cnd_rule_mismatch(const struct cnd_rule *rule, const struct cnd_arrival *a);
/* The one that decides; NULL: nobody gets in. */
const struct cnd_rule *cnd_rules_match(
	const struct cnd_rules *rules, const struct cnd_arrival *a);
/* Kinds of login. */
enum cnd_logins {
	CND_LOGIN_PASSWORD = 1,
	CND_LOGIN_OTHER = 2, /* without messages of its own */
	CND_LOGIN_PLAIN = 4 /* the password itself */
};

/* Those that may be asked for at such a door, while nobody knows from where, or as whom. */
uint8_t cnd_rules_logins(const struct cnd_rules *rules, enum cnd_door door, int has_tls);
/* Their mechanisms, for HELLO; "": no password is ever wanted. `can_bind`: with -PLUS. */
const char *cnd_logins_mechanisms(uint8_t logins, int can_bind);
int cnd_rules_have(const struct cnd_rules *rules, enum cnd_method method);

/*
 * Whom somebody who was identified is taken for: one of `names` (n of them) must be allowed to be
 * `wanted` by the rule's map, or, without a map, be it. `wanted` may be empty. NULL: nobody.
 */
const char *cnd_rule_user(const struct cnd_rule *rule, const char *const *names, size_t n,
	const char *wanted);

#endif
