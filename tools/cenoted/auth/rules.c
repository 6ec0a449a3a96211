/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The `auth` lines of a pool: parse them, print them, and find the rule that matches a client. The
 * configuration owns the rules; admission.c and explain.c ask.
 */
#include "rules.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/plain.h"
#include "protocol/scram.h"
#include "shared/units.h"
#include "users.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))
#define BLANKS     " \t"

static const char *const methods[] = {
	[CND_METHOD_PEER] = "peer",
	[CND_METHOD_SCRAM] = "scram-sha-256",
	[CND_METHOD_CERT] = "cert",
	[CND_METHOD_TRUST] = "trust",
	[CND_METHOD_REJECT] = "reject",
	[CND_METHOD_PASS_THROUGH] = "pass-through",
	[CND_METHOD_SCRAM_PASS_THROUGH] = "scram-pass-through",
};

static const char *const doors[] = {
	[CND_DOOR_WANTED_ANY] = "",
	[CND_DOOR_WANTED_UNIX] = "unix",
	[CND_DOOR_WANTED_TCP] = "tcp",
};

static const char *const tls_words[] = {
	[CND_TLS_ANY] = "",
	[CND_TLS_YES] = "yes",
	[CND_TLS_NO] = "no",
};

/* ---- reading ---- */

struct parser {
	struct cnd_rules *rules;
	unsigned line;
	char *error;
	struct cnd_rule *rule; /* the rule that is being read; NULL: a method must come */
	unsigned given; /* bits of its options */
};

__attribute__((format(printf, 2, 3))) static int
bad(struct parser *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(p->error, CND_RULES_ERROR_MAX, format, args);
	va_end(args);
	return -1;
}

/* The index of a word in a list. -1: it is not there, and the error names the nearest one. */
static int
find_word(struct parser *p, const char *what, const char *word, const char *const *words,
	size_t n)
{
	const char *nearest;

	for (size_t i = 0; i < n; i++) {
		if (*word != '\0' && strcmp(words[i], word) == 0)
			return (int)i;
	}
	nearest = cnd_nearest(word, words, n, sizeof(*words));
	if (nearest != NULL && *nearest != '\0')
		return bad(p, "auth: \"%.64s\" is not %s; did you mean \"%s\"?", word,
			what, nearest);
	return bad(p, "auth: \"%.64s\" is not %s", word, what);
}

static int
set_door(struct parser *p, char *value)
{
	int door = find_word(p, "a door (unix, tcp)", value, doors, N_ITEMS(doors));

	p->rule->door = (uint8_t)door;
	return door < 0 ? -1 : 0;
}

static int
set_tls(struct parser *p, char *value)
{
	int tls = find_word(p, "yes or no", value, tls_words, N_ITEMS(tls_words));

	p->rule->tls = (uint8_t)tls;
	return tls < 0 ? -1 : 0;
}

static int
set_from(struct parser *p, char *value)
{
	struct cnd_rule *rule = p->rule;

	rule->from_text = strdup(value);
	if (rule->from_text == NULL)
		return bad(p, "out of memory");
	for (char *text; (text = strsep(&value, ",")) != NULL;) {
		struct cnd_network *more =
			realloc(rule->from, (rule->n_from + 1) * sizeof(*rule->from));

		if (more == NULL)
			return bad(p, "out of memory");
		rule->from = more;
		if (cnd_network_parse(text, &more[rule->n_from++]) < 0)
			return bad(p,
				"auth: from: \"%.64s\" is not a network; write "
				"10.0.0.0/8, or 2001:db8::/32, or an address",
				text);
	}
	return 0;
}

static int
set_user(struct parser *p, char *value)
{
	struct cnd_rule *rule = p->rule;

	for (char *name; (name = strsep(&value, ",")) != NULL;) {
		char **more =
			realloc(rule->users, (rule->n_users + 1) * sizeof(*rule->users));
		const char *fault = cnd_user_name_fault(name);

		if (more == NULL)
			return bad(p, "out of memory");
		rule->users = more;
		if (fault != NULL)
			return bad(p, "auth: user: this cannot be the name of a user: %s",
				fault);
		more[rule->n_users] = strdup(name);
		if (more[rule->n_users] == NULL)
			return bad(p, "out of memory");
		rule->n_users++;
	}
	return 0;
}

static int
set_map(struct parser *p, char *value)
{
	if (p->rule->method != CND_METHOD_PEER && p->rule->method != CND_METHOD_CERT)
		return bad(p, "auth: map: only peer and cert have one");
	if (*value != '/')
		return bad(p, "auth: map: write the path of a file, beginning with /");
	p->rule->map_path = strdup(value);
	return p->rule->map_path != NULL ? 0 : bad(p, "out of memory");
}

static const struct option {
	const char *name;
	int (*set)(struct parser *p, char *value);
} options[] = {
	{ "door", set_door },
	{ "tls", set_tls },
	{ "from", set_from },
	{ "user", set_user },
	{ "map", set_map },
};

/* Take NAME=VALUE. A comma after it ends the rule. */
static int
take_option(struct parser *p, char *word, char *value)
{
	const char *names[N_ITEMS(options)];
	size_t n = strlen(value);
	int is_last = n > 0 && value[n - 1] == ',';
	int i;

	if (is_last)
		value[n - 1] = '\0';
	value[-1] = '\0';
	for (size_t j = 0; j < N_ITEMS(options); j++)
		names[j] = options[j].name;
	if (p->rule == NULL)
		return bad(p, "auth: a method must come before %.64s=", word);
	i = find_word(p, "an option of a rule (door, tls, from, user, map)", word, names,
		N_ITEMS(names));
	if (i < 0)
		return -1;
	if (p->given & 1u << i)
		return bad(p, "auth: %s is given twice in one rule", word);
	p->given |= 1u << i;
	if (options[i].set(p, value) < 0)
		return -1;
	if (is_last)
		p->rule = NULL;
	return 0;
}

static int
begin_rule(struct parser *p, const char *name)
{
	struct cnd_rules *rules = p->rules;
	struct cnd_rule *more;
	int method = find_word(p,
		"a way to log in (peer, scram-sha-256, cert, trust, pass-through, "
		"scram-pass-through, reject)",
		name, methods, N_ITEMS(methods));

	if (method < 0)
		return -1;
	more = realloc(rules->list, (rules->n + 1) * sizeof(*more));
	if (more == NULL)
		return bad(p, "out of memory");
	rules->list = more;
	p->rule = &more[rules->n++];
	*p->rule = (struct cnd_rule){ .line = p->line, .method = (uint8_t)method };
	p->given = 0;
	return 0;
}

/* Take METHOD or METHOD,METHOD…; a comma may end the word. */
static int
take_methods(struct parser *p, char *word)
{
	char *rest = word;

	for (char *name; (name = strsep(&rest, ",")) != NULL;) {
		/* after the last comma, the rule goes on with the next word */
		if (*name == '\0' && rest == NULL && name != word)
			return 0;
		if (*name == '\0' && p->rule != NULL) {
			p->rule = NULL;
			continue;
		}
		if (p->rule != NULL)
			return bad(p,
				"auth: a comma is missing before \"%.64s\", or a \"=\" "
				"in it",
				name);
		if (begin_rule(p, name) < 0)
			return -1;
		if (rest != NULL)
			p->rule = NULL;
	}
	return 0;
}

static int
parse(struct parser *p, char *text)
{
	size_t n_before = p->rules->n;
	char *word;

	while ((word = strsep(&text, BLANKS)) != NULL) {
		char *equals = strchr(word, '=');

		if (*word == '\0')
			continue;
		if ((equals != NULL ? take_option(p, word, equals + 1)
				    : take_methods(p, word)) < 0)
			return -1;
	}
	if (p->rules->n == n_before)
		return bad(p, "auth: a method is missing");
	return 0;
}

int
cnd_rules_parse(struct cnd_rules *rules, const char *text, unsigned line,
	char error[CND_RULES_ERROR_MAX])
{
	struct parser p = { .rules = rules, .line = line, .error = error };
	char *copy = strdup(text);
	int r;

	if (copy == NULL)
		return bad(&p, "out of memory");
	r = parse(&p, copy);
	free(copy);
	return r;
}

void
cnd_rules_destroy(struct cnd_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		struct cnd_rule *rule = &rules->list[i];

		for (size_t j = 0; j < rule->n_users; j++)
			free(rule->users[j]);
		free(rule->users);
		free(rule->from);
		free(rule->from_text);
		free(rule->map_path);
		cnd_map_destroy(&rule->map);
	}
	free(rules->list);
	*rules = (struct cnd_rules){ .list = NULL };
}

/* ---- printing ---- */

void
cnd_rule_print(const struct cnd_rule *rule, FILE *out)
{
	fputs(methods[rule->method], out);
	if (rule->door != CND_DOOR_WANTED_ANY)
		fprintf(out, " door=%s", doors[rule->door]);
	if (rule->tls != CND_TLS_ANY)
		fprintf(out, " tls=%s", tls_words[rule->tls]);
	if (rule->from_text != NULL)
		fprintf(out, " from=%s", rule->from_text);
	for (size_t i = 0; i < rule->n_users; i++)
		fprintf(out, "%s%s", i == 0 ? " user=" : ",", rule->users[i]);
	if (rule->map_path != NULL)
		fprintf(out, " map=%s", rule->map_path);
}

void
cnd_rules_print(const struct cnd_rules *rules, FILE *out)
{
	for (size_t i = 0; i < rules->n; i++) {
		if (i > 0)
			fputs(", ", out);
		cnd_rule_print(&rules->list[i], out);
	}
}

/* ---- deciding ---- */

static int
is_from(const struct cnd_rule *rule, const struct cnd_peer *peer)
{
	for (size_t i = 0; i < rule->n_from; i++) {
		if (peer->door == CND_DOOR_TCP &&
			cnd_network_has(&rule->from[i], &peer->addr))
			return 1;
	}
	return rule->n_from == 0;
}

static int
is_of(const struct cnd_rule *rule, const char *user)
{
	for (size_t i = 0; i < rule->n_users; i++) {
		if (strcmp(rule->users[i], user) == 0)
			return 1;
	}
	return rule->n_users == 0;
}

/* Why the method does not fit the client; NULL: it does. */
static const char *
method_mismatch(const struct cnd_rule *rule, const struct cnd_arrival *a)
{
	int is_tcp = a->peer.door == CND_DOOR_TCP;

	switch (rule->method) {
	case CND_METHOD_PEER:
		return is_tcp ? "peer is for unix sockets, where the kernel says who it "
				"is"
			      : NULL;
	case CND_METHOD_SCRAM:
	case CND_METHOD_SCRAM_PASS_THROUGH:
		return is_tcp && !a->has_tls && rule->tls != CND_TLS_NO
			       ? "over TCP without TLS it matches only with tls=no"
			       : NULL;
	case CND_METHOD_CERT:
		return !a->has_cert ? "there is no verified certificate" : NULL;
	case CND_METHOD_TRUST:
		return is_tcp && rule->door != CND_DOOR_WANTED_TCP
			       ? "trust matches TCP only with door=tcp"
			       : NULL;
	case CND_METHOD_PASS_THROUGH:
		return is_tcp && !a->has_tls
			       ? "passwords are not accepted over TCP without TLS"
			       : NULL;
	default:
		return NULL;
	}
}

const char *
cnd_rule_mismatch(const struct cnd_rule *rule, const struct cnd_arrival *a)
{
	int is_tcp = a->peer.door == CND_DOOR_TCP;

	if (rule->door == CND_DOOR_WANTED_UNIX && is_tcp)
		return "it is for unix sockets";
	if (rule->door == CND_DOOR_WANTED_TCP && !is_tcp)
		return "it is for TCP";
	if (rule->tls == CND_TLS_YES && !a->has_tls)
		return "it is for connections with TLS";
	if (rule->tls == CND_TLS_NO && a->has_tls)
		return "it is for connections without TLS";
	if (!is_from(rule, &a->peer))
		return is_tcp ? "the address is in none of its networks"
			      : "a unix socket is in no network";
	if (!is_of(rule, a->user))
		return "it is for other users";
	return method_mismatch(rule, a);
}

const struct cnd_rule *
cnd_rules_match(const struct cnd_rules *rules, const struct cnd_arrival *a)
{
	for (size_t i = 0; i < rules->n; i++) {
		if (cnd_rule_mismatch(&rules->list[i], a) == NULL)
			return &rules->list[i];
	}
	return NULL;
}

/* Whether the rule matches any client that comes this way; *ret_all: it matches all of them. */
static int
may_match(const struct cnd_rule *rule, enum cnd_door door, int has_tls, int *ret_all)
{
	struct cnd_rule any = *rule;
	const struct cnd_arrival a = { .peer = { .door = (uint8_t)door },
		.user = "",
		.has_tls = has_tls != 0,
		.has_cert = has_tls != 0 };

	any.n_users = 0;
	any.n_from = 0;
	*ret_all = rule->n_users == 0 && rule->n_from == 0 &&
		   rule->method != CND_METHOD_CERT;
	/* a unix socket is in no network */
	return cnd_rule_mismatch(&any, &a) == NULL &&
	       (rule->n_from == 0 || door == CND_DOOR_TCP);
}

static uint8_t
login_of(const struct cnd_rule *rule)
{
	if (rule->method == CND_METHOD_PASS_THROUGH)
		return CND_LOGIN_PLAIN;
	return rule->method == CND_METHOD_SCRAM ||
			       rule->method == CND_METHOD_SCRAM_PASS_THROUGH
		       ? CND_LOGIN_PASSWORD
		       : CND_LOGIN_OTHER;
}

uint8_t
cnd_rules_logins(const struct cnd_rules *rules, enum cnd_door door, int has_tls)
{
	uint8_t logins = 0;
	int takes_all = 0;

	for (size_t i = 0; i < rules->n && !takes_all; i++) {
		if (may_match(&rules->list[i], door, has_tls, &takes_all))
			logins |= login_of(&rules->list[i]);
		else
			takes_all = 0;
	}
	return logins;
}

const char *
cnd_logins_mechanisms(uint8_t logins, int can_bind)
{
	/* such a pool has no other kind of login */
	if (logins & CND_LOGIN_PLAIN)
		return CNP_PLAIN;
	if (!(logins & CND_LOGIN_PASSWORD))
		return "";
	if (logins & CND_LOGIN_OTHER)
		return can_bind ? CNP_SCRAM_PLUS " " CNP_SCRAM_PLAIN " " CNP_EXTERNAL
				: CNP_SCRAM_PLAIN " " CNP_EXTERNAL;
	return can_bind ? CNP_SCRAM_PLUS " " CNP_SCRAM_PLAIN : CNP_SCRAM_PLAIN;
}

int
cnd_rules_have(const struct cnd_rules *rules, enum cnd_method method)
{
	for (size_t i = 0; i < rules->n; i++) {
		if (rules->list[i].method == method)
			return 1;
	}
	return 0;
}

const char *
cnd_rule_user(const struct cnd_rule *rule, const char *const *names, size_t n,
	const char *wanted)
{
	for (size_t i = 0; i < n; i++) {
		const char *user = NULL;

		if (rule->map_path == NULL)
			user = *wanted == '\0' || strcmp(names[i], wanted) == 0 ? names[i]
										: NULL;
		else if (*wanted == '\0')
			user = cnd_map_first(&rule->map, names[i]);
		else if (cnd_map_has(&rule->map, names[i], wanted))
			user = wanted;
		if (user != NULL)
			return user;
	}
	return NULL;
}
