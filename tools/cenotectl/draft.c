/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The result of cenotectl convert: the lines of the new cenoted.conf, the users, and the notes. The readers of the other
 * programs' files call it. Their texts come from outside, so this file checks what goes into a line.
 */
#include "convert.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "crypto/crypto.h"

/* Limits of cenoted (config.h, users.h). */
#define POOLS_MAX     256u
#define POOL_NAME_MAX 64u
#define SESSIONS_MAX  4096u
#define USER_NAME_MAX 63u
#define DAEMON_MAX    1024u /* the default of max_sessions */

void
draft_finish(struct draft *d)
{
	text_finish(&d->daemon);
	/* server lines have passwords */
	if (d->pools.data != NULL)
		cnc_wipe(d->pools.data, d->pools.len);
	text_finish(&d->pools);
	text_finish(&d->notes);
	for (size_t i = 0; i < d->n_pools; i++)
		free(d->names[i]);
	free(d->names);
	for (size_t i = 0; i < d->n_users; i++) {
		free(d->users[i].name);
		free(d->users[i].verifier);
	}
	free(d->users);
}

void
draft_note(struct draft *d, const struct origin *at, const char *name, const char *format,
	...)
{
	va_list args;

	va_start(args, format);
	draft_vnote(d, at, name, format, args);
	va_end(args);
}

void
draft_vnote(struct draft *d, const struct origin *at, const char *name,
	const char *format, va_list args)
{
	struct text text = { 0 };
	char message[1024];

	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(message, sizeof(message), format, args);
	if (at->line > 0)
		text_addf(&text, "%s:%u: ", at->file, at->line);
	else
		text_addf(&text, "%s: ", at->file);
	if (name != NULL)
		text_addf(&text, "%s: ", name);
	text_add_str(&text, message);
	/* texts from the file must not control the terminal */
	display_add(&d->notes, text_str(&text), text.len);
	text_add_char(&d->notes, '\n');
	text_finish(&text);
	d->n_notes++;
}

/* ---- lines ---- */

static bool
has_control(const char *value)
{
	for (; *value != '\0'; value++) {
		if (iscntrl((unsigned char)*value))
			return true;
	}
	return false;
}

/* Whether a line of cenoted.conf can have this value: nothing ends it, and nothing in it begins a comment. */
static bool
is_line_value(const char *value)
{
	return *value != '\0' && !has_control(value) && *value != ';' &&
	       strstr(value, " ;") == NULL;
}

void
draft_line(struct text *to, const char *key, const char *value)
{
	text_addf(to, "%-19s = %s\n", key, value);
}

bool
draft_key(struct draft *d, struct text *to, const struct origin *at, const char *key,
	const char *format, ...)
{
	char *value = NULL;
	va_list args;
	bool is_good;
	int n;

	va_start(args, format);
	n = vasprintf(&value, format, args);
	va_end(args);
	if (n < 0)
		abort();
	is_good = is_line_value(value);
	if (is_good)
		draft_line(to, key, value);
	else
		draft_note(d, at, key,
			"cenoted.conf cannot hold this value; it is empty, or has \" ;\" "
			"or a control character");
	free(value);
	return is_good;
}

void
draft_option(struct draft *d, struct text *line, const struct origin *at, const char *key,
	const char *value)
{
	if (has_control(value)) {
		draft_note(d, at, key, "a server line cannot hold control characters");
		return;
	}
	if (line->len > 0)
		text_add_char(line, ' ');
	text_addf(line, "%s=", key);
	if (*value != '\0' && strpbrk(value, " '\\;") == NULL) {
		text_add_str(line, value);
		return;
	}
	text_add_char(line, '\'');
	for (; *value != '\0'; value++) {
		if (strchr("'\\;", *value) != NULL)
			text_add_char(line, '\\');
		text_add_char(line, *value);
	}
	text_add_char(line, '\'');
}

const char *
pairs_find(const struct pair *pairs, int n, const char *key)
{
	for (int i = n; i-- > 0;) {
		if (strcmp(pairs[i].key, key) == 0)
			return pairs[i].value;
	}
	return NULL;
}

bool
number_parse(const char *text, uint64_t max, uint64_t *ret_number)
{
	uint64_t n = 0;

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (!isdigit((unsigned char)*text))
			return false;
		n = n * 10 + (uint64_t)(*text - '0');
		if (n > max)
			return false;
	}
	*ret_number = n;
	return true;
}

void
draft_seconds(struct draft *d, struct text *to, const struct origin *at, const char *key,
	const char *seconds)
{
	char *end;
	double s = strtod(seconds, &end);

	/* PgBouncer allows fractions. 1e9 seconds are 31 years, longer than any timeout needs to be. */
	if (end == seconds || *end != '\0' || !(s >= 0 && s < 1e9)) {
		draft_note(d, at, key, "\"%.64s\" is not a number of seconds", seconds);
		return;
	}
	if (s == (double)(unsigned long)s)
		draft_key(d, to, at, key, "%lus", (unsigned long)s);
	else
		/* rounded up: 0 would mean no limit */
		draft_key(d, to, at, key, "%lums", (unsigned long)(s * 1000 + 0.999));
}

void
draft_listen(struct draft *d, const struct origin *at, const char *host, const char *port)
{
	const char *chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789.-_:";
	bool is_ipv6 = strchr(host, ':') != NULL;
	struct text line = { 0 };
	uint64_t n;

	if (*host == '\0' ||
		(strcmp(host, "*") != 0 && host[strspn(host, chars)] != '\0')) {
		draft_note(d, at, "listen", "\"%.64s\" is not an address", host);
		return;
	}
	if (!number_parse(port, 65535, &n) || n == 0) {
		draft_note(d, at, "listen", "\"%.64s\" is not a port", port);
		return;
	}
	text_addf(&line, "%-19s = %s%s%s:%u\n", "listen", is_ipv6 ? "[" : "", host,
		is_ipv6 ? "]" : "", (unsigned)n);
	/* several instances of SQL Relay may name the same address */
	if (strstr(text_str(&d->daemon), text_str(&line)) == NULL)
		text_add(&d->daemon, line.data, line.len);
	text_finish(&line);
}

/* ---- pools ---- */

static const char *
pool_name_fault(const struct draft *d, const char *name)
{
	if (!isalnum((unsigned char)*name) || strlen(name) > POOL_NAME_MAX)
		return "a pool's name has up to 64 letters, digits, _, - and ., and "
		       "begins with a letter or digit";
	for (const char *p = name; *p != '\0'; p++) {
		if (!isalnum((unsigned char)*p) && strchr("_-.", *p) == NULL)
			return "a pool's name has letters, digits, _, - and . only";
	}
	if (strcmp(name, "admin") == 0)
		return "no pool can have this name, since the socket of cenotectl has it";
	for (size_t i = 0; i < d->n_pools; i++) {
		if (strcmp(d->names[i], name) == 0)
			return "another pool has this name";
	}
	return d->n_pools == POOLS_MAX ? "cenoted has at most 256 pools" : NULL;
}

bool
draft_pool(struct draft *d, const struct origin *at, const char *name)
{
	const char *fault = pool_name_fault(d, name);

	if (fault == NULL && d->sessions == SESSIONS_MAX)
		fault = "cenoted has at most 4096 sessions, and the pools above use "
			"all of them";
	if (fault != NULL) {
		draft_note(d, at, name, "there is no pool for it: %s", fault);
		return false;
	}
	d->names = mem_resize(d->names, d->n_pools + 1, sizeof(*d->names));
	d->names[d->n_pools++] = mem_dup(name, strlen(name));
	text_addf(&d->pools, "\n[pool %s]\n", name);
	return true;
}

void
draft_sessions(struct draft *d, const struct origin *at, uint64_t min, uint64_t max)
{
	uint32_t left = SESSIONS_MAX - d->sessions;
	char range[32];

	if (max == 0)
		max = 1;
	if (max > left) {
		draft_note(d, at, "sessions",
			"%llu are too many; all pools together have at most %u, so this "
			"one gets %u",
			(unsigned long long)max, SESSIONS_MAX, left);
		max = left;
	}
	if (min > max)
		min = max;
	d->sessions += (uint32_t)max;
	snprintf(range, sizeof(range), "%u..%u", (unsigned)min, (unsigned)max);
	draft_line(&d->pools, "sessions", range);
}

void
draft_open_rules(
	struct draft *d, const struct origin *at, const char *first, const char *second)
{
	if (draft_key(d, &d->pools, at, "auth", "%s", first) &&
		(second == NULL || draft_key(d, &d->pools, at, "auth", "%s", second)))
		draft_line(&d->pools, "allow_users", "*");
	else
		draft_line(&d->pools, "auth", "reject");
}

/* ---- users ---- */

const char *
draft_user_name_fault(const char *name)
{
	if (*name == '\0' || strlen(name) > USER_NAME_MAX)
		return "a user's name has 1 to 63 bytes";
	for (const char *p = name; *p != '\0'; p++) {
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr(":,\"", *p) != NULL)
			return "a user's name has no blank, colon, comma or quote";
	}
	/* a line of the users file that begins with # is a comment */
	return *name == '#' ? "a user's name does not begin with #" : NULL;
}

enum secret_kind
secret_kind(const char *secret)
{
	if (strncmp(secret, "SCRAM-SHA-256$", 14) == 0)
		return SECRET_SCRAM;
	return strncmp(secret, "md5", 3) == 0 && strlen(secret) == 35 ? SECRET_MD5
								      : SECRET_PASSWORD;
}

/* Make the verifier of a password. A secret that is a verifier stays as it is. NULL: neither works, and `ret_why` says why. */
static char *
make_verifier(const char *secret, const char **ret_why)
{
	const struct cn_crypto *crypto = cn_crypto_get(CN_CRYPTO_ABI);
	char text[CNP_SCRAM_VERIFIER_MAX];
	struct cnp_scram_verifier v;
	enum secret_kind kind = secret_kind(secret);

	if (*secret == '\0') {
		*ret_why = "it has no password";
		return NULL;
	}
	if (kind == SECRET_MD5) {
		*ret_why = "nobody can make a SCRAM verifier from an MD5 hash; add a "
			   "line of cenoted --user NAME to the users file";
		return NULL;
	}
	if (kind == SECRET_SCRAM && cnp_scram_verifier_parse(secret, &v) < 0) {
		*ret_why = "this is not a SCRAM verifier that clients accept";
		return NULL;
	}
	if (kind == SECRET_PASSWORD &&
		(crypto == NULL || cnp_scram_verifier_make(crypto->hash, secret,
					   CNP_SCRAM_ITERATIONS, &v) < 0)) {
		*ret_why = "this build cannot make a SCRAM verifier without OpenSSL";
		return NULL;
	}
	cnp_scram_verifier_text(&v, text);
	return mem_dup(text, strlen(text));
}

bool
draft_user(struct draft *d, const struct origin *at, const char *name, const char *secret)
{
	const char *why = draft_user_name_fault(name);
	char *verifier;

	/* do not spend milliseconds on a verifier that nobody gets */
	if (d->users_path == NULL)
		return false;
	for (size_t i = 0; i < d->n_users; i++) {
		if (strcmp(d->users[i].name, name) == 0)
			why = "another user in it has this name";
	}
	verifier = why == NULL ? make_verifier(secret, &why) : NULL;
	if (verifier == NULL) {
		draft_note(
			d, at, NULL, "user %s is not in the users file: %s", name, why);
		return false;
	}
	d->users = mem_resize(d->users, d->n_users + 1, sizeof(*d->users));
	d->users[d->n_users++] =
		(struct draft_user){ mem_dup(name, strlen(name)), verifier };
	return true;
}

void
draft_password_rules(struct draft *d, const struct origin *at, const char *users,
	bool is_plain_allowed)
{
	const char *condition = *users != '\0' ? " user=" : "";
	struct text tls = { 0 }, plain = { 0 };

	d->needs_users = true;
	if (d->n_users == 0) {
		/* then the default rule, peer, admits only root and cenoted's user */
		text_add_str(&d->pools, "; auth = scram-sha-256, with a users file\n");
		return;
	}
	text_addf(&tls, "scram-sha-256%s%s", condition, users);
	text_addf(&plain, "scram-sha-256 tls=no%s%s", condition, users);
	draft_open_rules(
		d, at, text_str(&tls), is_plain_allowed ? text_str(&plain) : NULL);
	text_finish(&tls);
	text_finish(&plain);
}

/* ---- the whole ---- */

void
draft_print(const struct draft *d, const char *source, struct text *out)
{
	text_add_str(out, "; made by cenotectl convert from ");
	display_add(out, source, strlen(source));
	text_add_str(out, "\n[cenoted]\n");
	text_add_str(out, text_str(&d->daemon));
	if (d->sessions > DAEMON_MAX)
		text_addf(out, "%-19s = %u\n", "max_sessions", d->sessions);
	if (d->n_users > 0)
		draft_line(out, "users", d->users_path);
	text_add_str(out, text_str(&d->pools));
}
