/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_RULES_H
#define CND_RULES_H

#include <stdio.h>
#include <sys/types.h>

#include "map.h"
#include "peer.h"

/* Who may log in, and how: a pool's `auth` lines. The first rule that matches decides. If none
 * matches, nobody gets in. */
enum cnd_method {
	CND_METHOD_PEER, /* the kernel says who the client is: unix sockets only */
	CND_METHOD_SCRAM, /* a password */
	CND_METHOD_CERT, /* a verified certificate: TLS only */
	CND_METHOD_TRUST, /* believe the name that the client gives */
	CND_METHOD_REJECT,
	CND_METHOD_PASS_THROUGH, /* the server checks the password, which passes through cenoted */
	/* the server checks the password, but the client only proves that it knows it, to cenoted and
	 * to the server */
	CND_METHOD_SCRAM_PASS_THROUGH
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
	unsigned line; /* in the configuration; 0: the default rule */
	uint8_t method; /* enum cnd_method */
	uint8_t door; /* enum cnd_door_wanted */
	uint8_t tls; /* enum cnd_tls_wanted */
	struct cnd_network *from; /* n_from 0: from any address */
	size_t n_from;
	char *from_text; /* as written; NULL: not given */
	char **users; /* n_users 0: any user */
	size_t n_users;
	char *map_path; /* NULL: none */
	struct cnd_map map;
};

struct cnd_rules {
	struct cnd_rule *list;
	size_t n;
};

/* A client before its login. */
struct cnd_arrival {
	struct cnd_peer peer;
	uid_t uid; /* valid for a client on the unix socket */
	const char *user; /* the user that it asks for */
	uint8_t has_tls;
	uint8_t has_cert; /* and the certificate was verified */
};

#define CND_RULES_ERROR_MAX 256u

/* Add the rules of one line of the configuration. 0; or -1, with the error set. This does not read
 * map files. */
int cnd_rules_parse(struct cnd_rules *rules, const char *text, unsigned line,
	char error[CND_RULES_ERROR_MAX]);
void cnd_rules_destroy(struct cnd_rules *rules);
/* Print the rules in a form that can be read back. */
void cnd_rules_print(const struct cnd_rules *rules, FILE *out);
void cnd_rule_print(const struct cnd_rule *rule, FILE *out);

/* Why the rule does not match; NULL: it does. */
const char *cnd_rule_mismatch(const struct cnd_rule *rule, const struct cnd_arrival *a);
/* The rule that decides; NULL: nobody gets in. */
const struct cnd_rule *cnd_rules_match(
	const struct cnd_rules *rules, const struct cnd_arrival *a);
/* Kinds of login. */
enum cnd_logins {
	CND_LOGIN_PASSWORD = 1,
	CND_LOGIN_OTHER = 2, /* the login has no messages of its own */
	CND_LOGIN_PLAIN = 4 /* the client sends the password itself */
};

/* The kinds of login that may be needed for clients that come this way, before their address and
 * user are known. */
uint8_t cnd_rules_logins(const struct cnd_rules *rules, enum cnd_door door, int has_tls);
/* The names of the mechanisms for these kinds of login, for HELLO. "": no login needs a password.
 * `can_bind`: also the mechanisms with -PLUS. */
const char *cnd_logins_mechanisms(uint8_t logins, int can_bind);
int cnd_rules_have(const struct cnd_rules *rules, enum cnd_method method);

/*
 * The user that an identified client becomes. With a map, it must allow one of `names` (n of them) to
 * be `wanted`; without a map, one of them must equal `wanted`. `wanted` may be empty. NULL: no user.
 */
const char *cnd_rule_user(const struct cnd_rule *rule, const char *const *names, size_t n,
	const char *wanted);

#endif
