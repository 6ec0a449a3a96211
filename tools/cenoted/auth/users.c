/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Users files: names and SCRAM verifiers. Secrets are wiped, and unknown users get a made-up
 * verifier. The configuration owns the users; the worker's auth.c asks.
 */
#include "users.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

const char *
cnd_user_name_fault(const char *name)
{
	if (*name == '\0')
		return "it is empty";
	if (strlen(name) > CND_USER_MAX)
		return "it is longer than 63 bytes";
	for (; *name != '\0'; name++) {
		if ((unsigned char)*name <= ' ' || *name == 0x7f)
			return "it has a blank or a control character";
		if (strchr(":,\"", *name) != NULL)
			return "it has a colon, a comma or a quote";
	}
	return NULL;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(
		((const struct cnd_user *)a)->name, ((const struct cnd_user *)b)->name);
}

static int
read_user(struct cnd_user *user, char *line, struct cnd_lines *lines)
{
	char *text = strchr(line, ':');
	const char *fault;
	int r;

	memset(user, 0, sizeof(*user));
	if (text == NULL)
		return cnd_lines_bad(
			lines, "a line must be NAME:VERIFIER, and this one has no colon");
	*text++ = '\0';
	fault = cnd_user_name_fault(line);
	if (fault != NULL)
		return cnd_lines_bad(
			lines, "this cannot be the name of a user: %s", fault);
	memcpy(user->name, line, strlen(line) + 1);
	if (*text == '!') {
		user->is_disabled = 1;
		text++;
	}
	r = cnp_scram_verifier_parse(text, &user->verifier);
	if (r == CENOTE_ERR_UNSUPPORTED)
		return cnd_lines_bad(lines,
			"user %s: the verifier has %u iterations; clients accept %u to "
			"%u, so set the password again (cenoted --user)",
			user->name, (unsigned)user->verifier.iterations,
			CNP_SCRAM_ITERATIONS_MIN, CNP_SCRAM_ITERATIONS_MAX);
	if (r < 0)
		return cnd_lines_bad(lines,
			"user %s has no SCRAM-SHA-256 verifier (cenoted --user makes "
			"one)",
			user->name);
	return 0;
}

static int
sort(struct cnd_users *u, struct cnd_lines *lines)
{
	if (u->n > 0) {
		u->pattern = u->list[0].verifier;
		qsort(u->list, u->n, sizeof(*u->list), by_name);
	}
	for (size_t i = 1; i < u->n; i++) {
		if (by_name(&u->list[i - 1], &u->list[i]) != 0)
			continue;
		snprintf(lines->error, sizeof(lines->error), "user %s is given twice",
			u->list[i].name);
		return -1;
	}
	return 0;
}

/* Make room for one more user. realloc() would leave secrets behind. */
static int
grow(struct cnd_users *u)
{
	size_t cap = u->cap > 0 ? 2 * u->cap : 16;
	struct cnd_user *more;

	if (u->n < u->cap)
		return 0;
	more = calloc(cap, sizeof(*more));
	if (more == NULL)
		return -1;
	if (u->n > 0) {
		memcpy(more, u->list, u->n * sizeof(*more));
		cnc_wipe(u->list, u->n * sizeof(*more));
	}
	free(u->list);
	u->list = more;
	u->cap = cap;
	return 0;
}

int
cnd_users_read(struct cnd_users *u, struct cnd_lines *lines)
{
	char *line;

	*u = (struct cnd_users){ .pattern = { .iterations = CNP_SCRAM_ITERATIONS,
					 .salt_len = CNP_SCRAM_SALT_LEN } };
	while ((line = cnd_lines_next(lines)) != NULL) {
		if (grow(u) < 0)
			return cnd_lines_bad(lines, "out of memory");
		if (read_user(&u->list[u->n++], line, lines) < 0)
			return -1;
	}
	return lines->error[0] != '\0' ? -1 : sort(u, lines);
}

void
cnd_users_destroy(struct cnd_users *u)
{
	if (u->list != NULL)
		cnc_wipe(u->list, u->n * sizeof(*u->list));
	free(u->list);
	cnc_wipe(u, sizeof(*u));
}

void
cnd_users_print(const struct cnd_users *u, FILE *out)
{
	char text[CNP_SCRAM_VERIFIER_MAX];

	for (size_t i = 0; i < u->n; i++) {
		cnp_scram_verifier_text(&u->list[i].verifier, text);
		fprintf(out, "%s:%s%s\n", u->list[i].name,
			u->list[i].is_disabled ? "!" : "", text);
	}
	cnc_wipe(text, sizeof(text));
}

const struct cnd_user *
cnd_users_find(const struct cnd_users *u, const char *name)
{
	struct cnd_user key;

	if (u->n == 0 || strlen(name) > CND_USER_MAX)
		return NULL;
	memcpy(key.name, name, strlen(name) + 1);
	return bsearch(&key, u->list, u->n, sizeof(*u->list), by_name);
}

static int
make_up_part(const struct cnd_users *u, const struct cnp_hash *hash, const char *name,
	const char *what, uint8_t ret_part[CNP_HASH_LEN])
{
	const struct cnp_bytes parts[] = { { what, strlen(what) + 1 },
		{ name, strlen(name) } };

	return hash->hmac(&u->pattern, sizeof(u->pattern), parts, 2, ret_part);
}

/*
 * Make up a verifier for a user that does not exist. Its secret, the first user's verifier, is the
 * same in all workers, after a restart, and on other hosts with this file. A salt that changes
 * would reveal that there is no such user.
 */
static int
make_up(const struct cnd_users *u, const struct cnp_hash *hash, const char *name,
	struct cnp_scram_verifier *v)
{
	uint8_t salt[CNP_SCRAM_SALT_MAX];
	int r;

	_Static_assert(
		sizeof(salt) == 2 * (size_t)CNP_HASH_LEN, "two hashes fill a salt");
	*v = (struct cnp_scram_verifier){ .iterations = u->pattern.iterations,
		.salt_len = u->pattern.salt_len };
	r = make_up_part(u, hash, name, "salt", salt);
	if (r == CENOTE_OK)
		r = make_up_part(u, hash, name, "more salt", salt + CNP_HASH_LEN);
	if (r == CENOTE_OK)
		r = make_up_part(u, hash, name, "stored", v->stored_key);
	if (r == CENOTE_OK)
		r = make_up_part(u, hash, name, "server", v->server_key);
	memcpy(v->salt, salt, v->salt_len);
	return r;
}

int
cnd_users_verifier(const struct cnd_users *u, const struct cnp_hash *hash,
	const char *name, struct cnp_scram_verifier *ret_verifier)
{
	const struct cnd_user *user = cnd_users_find(u, name);
	int r = make_up(u, hash, name, ret_verifier);

	if (r < 0)
		return r;
	if (user == NULL)
		return 1;
	/* a disabled user keeps his salt, so that nobody outside notices */
	*ret_verifier = user->verifier;
	return user->is_disabled;
}
