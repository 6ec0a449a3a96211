/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits of users: how the lines `user_limits = NAME KEY=VALUE ...` are read and printed, and which line counts for a
 * user. config.c calls it; workers and the door look users up here.
 */
#include "config_internal.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "shared/units.h"

/* No pool can have more sessions, or more waiting clients. */
#define COUNT_MAX 12288u
#define A_COUNT   "a number up to 12288, or 0 for no limit"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* ---- one limit ---- */

/* 0: no limit. */
static int
parse_number(const char *value, uint32_t *ret_n)
{
	uint64_t n;

	if (cnd_number_parse(value, COUNT_MAX, &n) < 0)
		return -1;
	*ret_n = (uint32_t)n;
	return 0;
}

static void
print_number(const char *key, uint32_t n, FILE *out)
{
	if (n > 0)
		fprintf(out, "%s=%u", key, n);
}

static int
parse_sessions(struct cnd_user_limits *u, const char *value)
{
	return parse_number(value, &u->sessions);
}

static void
print_sessions(const struct cnd_user_limits *u, FILE *out)
{
	print_number(" sessions", u->sessions, out);
}

static int
parse_waiting(struct cnd_user_limits *u, const char *value)
{
	return parse_number(value, &u->waiting);
}

static void
print_waiting(const struct cnd_user_limits *u, FILE *out)
{
	print_number(" waiting", u->waiting, out);
}

static int
parse_query_timeout(struct cnd_user_limits *u, const char *value)
{
	return cnd_ms_parse(value, &u->query_timeout_ms);
}

static void
print_query_timeout(const struct cnd_user_limits *u, FILE *out)
{
	char text[CND_UNITS_TEXT_MAX];

	if (u->query_timeout_ms >= 0)
		fprintf(out, " query_timeout=%s", cnd_ms_text(u->query_timeout_ms, text));
}

static int
parse_priority(struct cnd_user_limits *u, const char *value)
{
	u->is_high = strcmp(value, "high") == 0;
	return u->is_high || strcmp(value, "normal") == 0 ? 0 : -1;
}

static void
print_priority(const struct cnd_user_limits *u, FILE *out)
{
	if (u->is_high)
		fputs(" priority=high", out);
}

/* parse() returns -1 if the value is not `what`. print() writes a blank and the limit; it writes nothing if the limit was not given. */
static const struct {
	const char *name;
	const char *what;
	int (*parse)(struct cnd_user_limits *u, const char *value);
	void (*print)(const struct cnd_user_limits *u, FILE *out);
} limits[] = {
	{ "sessions", A_COUNT, parse_sessions, print_sessions },
	{ "waiting", A_COUNT, parse_waiting, print_waiting },
	{ "query_timeout", "a time, such as 30s; or 0 for none", parse_query_timeout,
		print_query_timeout },
	{ "priority", "high or normal", parse_priority, print_priority },
};

/* Read KEY=VALUE. */
static int
set_limit(struct cnd_loader *l, struct cnd_user_limits *u, char *text)
{
	char *value = strchr(text, '=');

	if (value == NULL)
		return cnd_config_bad(l,
			"user_limits: write NAME KEY=VALUE ...; \"%s\" is no KEY=VALUE",
			text);
	*value++ = '\0';
	for (size_t i = 0; i < N_ITEMS(limits); i++) {
		if (strcmp(limits[i].name, text) != 0)
			continue;
		return limits[i].parse(u, value) == 0
			       ? 0
			       : cnd_config_bad(l, "user_limits: %s=%s: write %s", text,
					 value, limits[i].what);
	}
	return cnd_config_bad(l,
		"user_limits: unknown limit \"%s\"; there are sessions, waiting, "
		"query_timeout and priority",
		text);
}

/* ---- a line ---- */

/* Clients of a unix socket wait for a session as their unix user, before they have logged in. */
static uid_t
uid_of(const char *name)
{
	const struct passwd *pw = getpwnam(name);

	return pw != NULL ? pw->pw_uid : CND_NO_UID;
}

static struct cnd_user_limits *
add_user(struct cnd_loader *l, struct cnd_pool_config *p, const char *name)
{
	if (name == NULL) {
		cnd_config_bad(l, "user_limits: write NAME KEY=VALUE ..., or * for NAME");
		return NULL;
	}
	for (size_t i = 0; i < p->n_user_limits; i++) {
		if (strcmp(p->user_limits[i].user, name) != 0)
			continue;
		cnd_config_bad(l, "user_limits: %s is given twice", name);
		return NULL;
	}
	if (p->n_user_limits == CND_USER_LIMITS_MAX) {
		cnd_config_bad(l, "user_limits: more than %u users", CND_USER_LIMITS_MAX);
		return NULL;
	}
	p->user_limits = cnd_config_must(realloc(
		p->user_limits, (p->n_user_limits + 1) * sizeof(*p->user_limits)));
	p->user_limits[p->n_user_limits] = (struct cnd_user_limits){
		.user = cnd_config_dup(name), .uid = uid_of(name), .query_timeout_ms = -1
	};
	return &p->user_limits[p->n_user_limits++];
}

static char *
next_word(char **rest)
{
	char *word;

	do {
		word = strsep(rest, " \t");
	} while (word != NULL && *word == '\0');
	return word;
}

static int
parse_user_limits(struct cnd_loader *l, void *field, const char *value)
{
	char *copy = cnd_config_dup(value);
	char *rest = copy;
	struct cnd_user_limits *u = add_user(l, field, next_word(&rest));
	int r = u != NULL ? 0 : -1;

	for (char *word; r == 0 && (word = next_word(&rest)) != NULL;)
		r = set_limit(l, u, word);
	free(copy);
	return r;
}

void
cnd_config_print_user_limits(const struct cnd_pool_config *p, FILE *out)
{
	for (size_t i = 0; i < p->n_user_limits; i++) {
		fprintf(out, "%-19s = %s", "user_limits", p->user_limits[i].user);
		for (size_t j = 0; j < N_ITEMS(limits); j++)
			limits[j].print(&p->user_limits[i], out);
		fputc('\n', out);
	}
}

void
cnd_config_free_user_limits(struct cnd_pool_config *p)
{
	for (size_t i = 0; i < p->n_user_limits; i++)
		free(p->user_limits[i].user);
	free(p->user_limits);
}

/* ---- a user ---- */

const struct cnd_user_limits *
cnd_pool_config_user(const struct cnd_pool_config *p, const char *user)
{
	const struct cnd_user_limits *any = NULL;

	for (size_t i = 0; i < p->n_user_limits; i++) {
		if (strcmp(p->user_limits[i].user, user) == 0)
			return &p->user_limits[i];
		if (strcmp(p->user_limits[i].user, CND_ANY_USER) == 0)
			any = &p->user_limits[i];
	}
	return any;
}

const struct cnd_user_limits *
cnd_pool_config_uid(const struct cnd_pool_config *p, uid_t uid)
{
	const struct cnd_user_limits *any = NULL;

	for (size_t i = 0; i < p->n_user_limits && p->knows_unix_users; i++) {
		if (p->user_limits[i].uid == uid && uid != CND_NO_UID)
			return &p->user_limits[i];
		if (strcmp(p->user_limits[i].user, CND_ANY_USER) == 0)
			any = &p->user_limits[i];
	}
	return any;
}

void
cnd_config_settle_limits(struct cnd_pool_config *p)
{
	p->counts_sessions = p->address_limits.sessions > 0;
	for (size_t i = 0; i < p->n_user_limits; i++)
		p->counts_sessions |= p->user_limits[i].sessions > 0;
	p->knows_unix_users = true;
	for (size_t i = 0; i < p->rules.n; i++) {
		const struct cnd_rule *r = &p->rules.list[i];

		if (r->door != CND_DOOR_WANTED_TCP && r->n_from == 0 &&
			r->method != CND_METHOD_REJECT &&
			(r->method != CND_METHOD_PEER || r->map_path != NULL))
			p->knows_unix_users = false;
	}
}

/* ---- addresses, and all clients ---- */

static int
set_address_limit(struct cnd_loader *l, struct cnd_address_limits *a, const char *text)
{
	const struct {
		const char *key;
		uint32_t *n;
	} keys[] = { { "sessions=", &a->sessions }, { "waiting=", &a->waiting } };

	for (size_t i = 0; i < N_ITEMS(keys); i++) {
		size_t len = strlen(keys[i].key);

		if (strncmp(text, keys[i].key, len) == 0 &&
			parse_number(text + len, keys[i].n) == 0)
			return 0;
	}
	return cnd_config_bad(l,
		"address_limits: \"%s\"; write sessions=N and waiting=N, each " A_COUNT,
		text);
}

static int
parse_address_limits(struct cnd_loader *l, void *field, const char *value)
{
	char *copy = cnd_config_dup(value);
	char *rest = copy;
	int r = 0;

	for (char *word; r == 0 && (word = next_word(&rest)) != NULL;)
		r = set_address_limit(l, field, word);
	free(copy);
	return r;
}

static void
print_address_limits(const void *field, FILE *out, int show_secrets)
{
	const struct cnd_address_limits *a = field;

	(void)show_secrets;
	fprintf(out, "sessions=%u waiting=%u", a->sessions, a->waiting);
}

static int
parse_count(struct cnd_loader *l, void *field, const char *value)
{
	return parse_number(value, field) == 0
		       ? 0
		       : cnd_config_bad(l, "\"%s\" is not " A_COUNT, value);
}

static void
print_count(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fprintf(out, "%u", *(const uint32_t *)field);
}

/* user_limits has no print function: each line adds to a list, and cnd_config_print_user_limits() prints the whole list. */
const struct cnd_kind cnd_kind_user_limits = { parse_user_limits, NULL };
const struct cnd_kind cnd_kind_address_limits = { parse_address_limits,
	print_address_limits };
const struct cnd_kind cnd_kind_count = { parse_count, print_count };
