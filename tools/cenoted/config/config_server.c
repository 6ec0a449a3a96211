/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The `server` lines: key=value pairs; 'quotes' for values with blanks; \ makes the next character
 * literal. This file reads them, prints them with secrets masked, and finds keys. config.c calls it;
 * workers and pool.c ask for single keys.
 */
#include "config_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "shared/units.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

#define CND_WEIGHT_MAX 1000u

#define KEY_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

static int
is_secret(const char *key)
{
	static const char *const words[] = { "pass", "pwd", "secret", "token" };

	for (size_t i = 0; i < N_ITEMS(words); i++) {
		/* the name of a file that holds the secret is not secret */
		if (strcasestr(key, words[i]) != NULL && strcasestr(key, "file") == NULL)
			return 1;
	}
	return 0;
}

/* A connection string or a URI may contain a password. */
static int
holds_secret(const char *value)
{
	const char *authority = strstr(value, "://");

	return strcasestr(value, "pwd=") != NULL ||
	       strcasestr(value, "password=") != NULL ||
	       (authority != NULL && strchr(authority + 3, '@') != NULL);
}

/* Unquote one value in place. Returns the start of the next key; NULL if a quote is left open, or
 * ends before the value does. */
static char *
unquote(char *text)
{
	char *to = text;
	int is_quoted = *text == '\'';

	if (is_quoted)
		text++;
	while (*text != '\0' && (is_quoted ? *text != '\'' : !isblank((uint8_t)*text))) {
		if (*text == '\\' && text[1] != '\0')
			text++;
		*to++ = *text++;
	}
	if (is_quoted &&
		(*text != '\'' || (text[1] != '\0' && !isblank((uint8_t)text[1]))))
		return NULL;
	if (*text != '\0')
		text++;
	*to = '\0';
	return text;
}

const char *
cnd_server_option(const struct cnd_server_line *s, const char *key)
{
	for (size_t i = 0; i < s->n_options; i++) {
		if (strcmp(s->options[i].key, key) == 0)
			return s->options[i].value;
	}
	return NULL;
}

/* `weight` is for the pool, and not for the backend. */
static int
set_weight(struct cnd_loader *l, struct cnd_server_line *s, const char *value)
{
	uint64_t weight;

	if (s->weight != 0)
		return cnd_config_bad(l, "server: weight is given twice");
	if (cnd_number_parse(value, CND_WEIGHT_MAX, &weight) < 0 || weight == 0)
		return cnd_config_bad(l,
			"server: weight: \"%s\" is not a whole number from 1 to %u",
			value, CND_WEIGHT_MAX);
	s->weight = (uint32_t)weight;
	return 0;
}

static int
add_option(struct cnd_loader *l, struct cnd_server_line *s, const char *key, char *value)
{
	if (strcmp(key, "weight") == 0)
		return set_weight(l, s, value);
	if (cnd_server_option(s, key) != NULL)
		return cnd_config_bad(l, "server: %s is given twice", key);
	s->options = cnd_config_must(
		realloc(s->options, (s->n_options + 1) * sizeof(*s->options)));
	s->options[s->n_options++] =
		(struct cnd_option){ cnd_config_dup(key), cnd_config_dup(value) };
	return 0;
}

static int
split_options(struct cnd_loader *l, struct cnd_server_line *s, char *text)
{
	while (*(text += strspn(text, " \t")) != '\0') {
		size_t n = strspn(text, KEY_CHARS);
		char *key = text;
		char *value = text + n + strspn(text + n, " \t");

		if (s->n_options == 0 && strncmp(value, "://", 3) == 0)
			return cnd_config_bad(l,
				"server: this cannot be a URI; write its parts as "
				"host=HOST port=PORT dbname=DATABASE user=USER "
				"password=PASSWORD");
		if (n == 0 || *value != '=')
			return cnd_config_bad(l,
				"server: write a list of key=value; the text after %s is "
				"not one",
				s->n_options > 0 ? s->options[s->n_options - 1].key
						 : "\"server =\"");
		value += 1 + strspn(value + 1, " \t");
		key[n] = '\0';
		text = unquote(value);
		if (text == NULL)
			return cnd_config_bad(l,
				"server: the quotes of %s must enclose the whole value",
				key);
		if (add_option(l, s, key, value) < 0)
			return -1;
	}
	if (s->n_options == 0)
		return cnd_config_bad(l, "server: write a list of key=value");
	return 0;
}

static int
parse_server(struct cnd_loader *l, void *field, const char *value)
{
	struct cnd_pool_config *p = field;
	struct cnd_server_line s = { .line = l->line };
	char *copy;
	int r;

	if (p->n_servers == CND_SERVERS_MAX)
		return cnd_config_bad(l, "server: more than %u lines", CND_SERVERS_MAX);
	copy = cnd_config_dup(value);
	r = split_options(l, &s, copy);
	if (s.weight == 0)
		s.weight = 1;
	/* the copy was cut up, so strlen() finds its first part only */
	cnc_wipe(copy, strlen(value));
	free(copy);
	p->servers = cnd_config_must(
		realloc(p->servers, (p->n_servers + 1) * sizeof(*p->servers)));
	p->servers[p->n_servers++] = s;
	return r;
}

static void
print_option(const struct cnd_option *o, FILE *out, int show_secrets)
{
	const char *value = o->value;

	if (!show_secrets && (is_secret(o->key) || holds_secret(value)))
		value = "***";
	fprintf(out, "%s=", o->key);
	if (*value != '\0' && strpbrk(value, " \t'\\;") == NULL) {
		fputs(value, out);
		return;
	}
	fputc('\'', out);
	for (; *value != '\0'; value++) {
		/* ';' too: after a blank, it would begin a comment */
		if (strchr("'\\;", *value) != NULL)
			fputc('\\', out);
		fputc(*value, out);
	}
	fputc('\'', out);
}

void
cnd_config_print_server(const struct cnd_server_line *s, FILE *out, int show_secrets)
{
	for (size_t i = 0; i < s->n_options; i++) {
		if (i > 0)
			fputc(' ', out);
		print_option(&s->options[i], out, show_secrets);
	}
	if (s->weight != 1)
		fprintf(out, " weight=%u", s->weight);
}

/* ---- lines that should agree ---- */

/* Find the first key that decides how a session reads texts and that differs between these lines;
 * NULL: none. */
static const char *
differing_key(const struct cnd_server_line *a, const struct cnd_server_line *b)
{
	static const char *const keys[] = { "charset", "client_charset",
		"client_encoding", "options", "init_command" };

	for (size_t i = 0; i < N_ITEMS(keys); i++) {
		const char *x = cnd_server_option(a, keys[i]);
		const char *y = cnd_server_option(b, keys[i]);

		if (x != y && (x == NULL || y == NULL || strcmp(x, y) != 0))
			return keys[i];
	}
	return NULL;
}

static void
warn_of_pool(const struct cnd_config *c, const struct cnd_pool_config *p,
	void (*warn)(const char *text))
{
	char text[1024];

	for (size_t i = 1; i < p->n_servers; i++) {
		const char *key = differing_key(&p->servers[0], &p->servers[i]);

		if (key == NULL)
			continue;
		snprintf(text, sizeof(text),
			"%s:%u: pool %s: %s differs from the first server line; if their "
			"sessions read texts differently, a client that moves from one "
			"to the other gets error 08006",
			c->path, p->servers[i].line, p->name, key);
		warn(text);
	}
}

static void
warn_of_certificate(const struct cnd_config *c, const struct cnd_pool_config *p,
	void (*warn)(const char *text))
{
	const struct cnd_tls_config *t = &p->tls;
	char text[1024], when[64];

	if (*t->expires == '\0' || t->days_left >= CND_DAYS_TO_RENEW)
		return;
	if (t->days_left < 0)
		snprintf(when, sizeof(when), "expired");
	else if (t->days_left == 0)
		snprintf(when, sizeof(when), "expires within a day,");
	else
		snprintf(when, sizeof(when), "expires in %d day%s,", t->days_left,
			t->days_left == 1 ? "" : "s");
	snprintf(text, sizeof(text),
		"%s:%u: pool %s: tls_cert %.256s %s on %s; clients that verify it cannot "
		"connect%s",
		c->path, p->line, p->name, t->settings[CND_TLS_CERT], when, t->expires,
		t->days_left < 0 ? "" : " after that");
	warn(text);
}

/* Why no client can match this rule; NULL: some can. */
static const char *
rule_fault(const struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_rule *rule)
{
	const char *wanted = p->tls.settings[CND_TLS_CLIENT_CERT];
	int has_tls = *p->tls.expires != '\0';

	if (rule->method == CND_METHOD_REJECT)
		return NULL;
	if (rule->door == CND_DOOR_WANTED_TCP && c->listens.n == 0)
		return "no client comes by TCP, since there is no listen line";
	if (rule->n_from > 0 && c->listens.n == 0)
		return "a unix socket has no address, and there is no listen line";
	if (!has_tls && (rule->tls == CND_TLS_YES || rule->method == CND_METHOD_CERT))
		return "no client has TLS, since the pool has no tls_cert";
	if (rule->method == CND_METHOD_CERT && wanted != NULL &&
		strcmp(wanted, "none") == 0)
		return "no client shows a certificate, since tls_client_cert is none";
	return NULL;
}

static void
warn_of_rules(const struct cnd_config *c, const struct cnd_pool_config *p,
	void (*warn)(const char *text))
{
	char text[1024];

	for (size_t i = 0; i < p->rules.n; i++) {
		const struct cnd_rule *rule = &p->rules.list[i];
		const char *fault = rule_fault(c, p, rule);

		if (fault == NULL)
			continue;
		snprintf(text, sizeof(text),
			"%s:%u: pool %s: this rule of auth matches nobody: %s", c->path,
			rule->line > 0 ? rule->line : p->line, p->name, fault);
		warn(text);
	}
}

/* Warn of keys that have an effect only in mode = transaction. */
static void
warn_of_mode(const struct cnd_config *c, const struct cnd_pool_config *p,
	void (*warn)(const char *text))
{
	char text[1024];

	if (p->mode != CND_MODE_SESSION || p->pin_timeout_ms == 0)
		return;
	snprintf(text, sizeof(text),
		"%s:%u: pool %s: pin_timeout has no effect: in mode = session, clients "
		"keep their sessions; see session_timeout and idle_client_timeout",
		c->path, p->line, p->name);
	warn(text);
}

static void
warn_of_lend(const struct cnd_config *c, const struct cnd_pool_config *p,
	void (*warn)(const char *text))
{
	char text[1024];

	if (p->no_lend == NULL)
		return;
	snprintf(text, sizeof(text), "%s:%u: pool %s: lend has no effect: %s", c->path,
		p->line, p->name, p->no_lend);
	warn(text);
}

/* `waiting` and `priority` apply to clients that wait. These have not logged in yet, unless they stayed with a shared worker. */
static void
warn_of_limits(const struct cnd_config *c, const struct cnd_pool_config *p,
	void (*warn)(const char *text))
{
	char text[1024];

	for (size_t i = 0; i < p->n_user_limits; i++) {
		const struct cnd_user_limits *u = &p->user_limits[i];

		if (p->knows_unix_users || p->workers > 0 ||
			(u->waiting == 0 && !u->is_high))
			continue;
		snprintf(text, sizeof(text),
			"%s:%u: pool %s: user_limits = %s: waiting and priority have no "
			"effect: only a login shows who a client is, and clients wait "
			"before it; use address_limits, or auth = peer",
			c->path, p->line, p->name, u->user);
		warn(text);
	}
}

/* The number of the first line that contains a password; 0: none. */
static unsigned
line_with_secret(const struct cnd_config *c)
{
	for (size_t i = 0; i < c->n_pools; i++) {
		for (size_t j = 0; j < c->pools[i].n_servers; j++) {
			const struct cnd_server_line *s = &c->pools[i].servers[j];

			for (size_t k = 0; k < s->n_options; k++) {
				if (is_secret(s->options[k].key) ||
					holds_secret(s->options[k].value))
					return s->line;
			}
		}
	}
	return 0;
}

static void
warn_of_readers(const struct cnd_config *c, void (*warn)(const char *text))
{
	unsigned line = line_with_secret(c);
	char text[1024];
	struct stat st;

	if (line == 0 || stat(c->path, &st) < 0 || !S_ISREG(st.st_mode) ||
		(st.st_mode & S_IROTH) == 0)
		return;
	snprintf(text, sizeof(text),
		"%s:%u: this file contains a password, and everybody may read it (mode "
		"%04o); use chmod 640, or keep the password in a passfile",
		c->path, line, (unsigned)(st.st_mode & 07777));
	warn(text);
}

void
cnd_config_warn(const struct cnd_config *c, void (*warn)(const char *text))
{
	warn_of_readers(c, warn);
	for (size_t i = 0; i < c->n_pools; i++) {
		warn_of_pool(c, &c->pools[i], warn);
		warn_of_certificate(c, &c->pools[i], warn);
		warn_of_lend(c, &c->pools[i], warn);
		warn_of_limits(c, &c->pools[i], warn);
		warn_of_rules(c, &c->pools[i], warn);
		warn_of_mode(c, &c->pools[i], warn);
	}
}

/* ---- names of lines ---- */

void
cnd_server_label(const struct cnd_server_line *s, char text[CND_LABEL_MAX])
{
	static const char *const telling[] = { "host", "hostaddr", "port", "socket",
		"unix_socket", "path", "service", "dbname", "database", "dsn" };
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < s->n_options && len < CND_LABEL_MAX - 1; i++) {
		const struct cnd_option *o = &s->options[i];

		for (size_t j = 0; j < N_ITEMS(telling); j++) {
			if (strcmp(o->key, telling[j]) == 0)
				len += (size_t)snprintf(text + len, CND_LABEL_MAX - len,
					"%s%s=%s", len > 0 ? " " : "", o->key, o->value);
			if (len >= CND_LABEL_MAX)
				len = CND_LABEL_MAX - 1;
		}
	}
	if (len == 0)
		snprintf(text, CND_LABEL_MAX, "server of line %u", s->line);
	else
		text[cnc_utf8_cut(text, len, CND_LABEL_MAX - 1)] = '\0';
}

void
cnd_pool_config_forget_servers(struct cnd_pool_config *p)
{
	for (size_t i = 0; i < p->n_servers; i++) {
		struct cnd_server_line *s = &p->servers[i];

		for (size_t j = 0; j < s->n_options; j++) {
			/* strdup()ed here; only the type is const */
			free((void *)(uintptr_t)s->options[j].key);
			cnd_config_free_secret((char *)(uintptr_t)s->options[j].value);
		}
		free(s->options);
	}
	free(p->servers);
	p->servers = NULL;
	p->n_servers = 0;
}

const struct cnd_kind cnd_kind_server = { parse_server, NULL };
