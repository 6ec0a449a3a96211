/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <ini.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/mem.h"
#include "crypto/crypto.h"
#include "log.h"
#include "protocol/frame.h"
#include "sandbox.h"
#include "tls.h"
#include "units.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* Longest line that is left to inih as it is (its own limit is 199); a longer value is kept
 * here, and inih gets a reference to it. */
#define SHORT_LINE 150
#define FILE_MAX   ((size_t)1 << 20)
#define LONG_MARK  '\001'

#define KEYS_MAX 32

enum section {
	SECTION_NONE, /* before the first, or an unknown one */
	SECTION_CENOTED,
	SECTION_POOL
};

struct loader {
	struct cnd_config *config;
	FILE *file; /* over `bytes` */
	char *bytes;
	size_t n_bytes;
	char *text; /* the line as read */
	size_t text_size;
	char *long_value;
	unsigned line;
	enum section section;
	struct cnd_pool_config *pool;
	unsigned given[KEYS_MAX]; /* in this section: line of each key, 0 not given */
	unsigned cenoted_given[KEYS_MAX];
	unsigned cenoted_line;
};

/* How a kind of value is read and written. parse: 0, or -1 with the error reported. */
struct kind {
	int (*parse)(struct loader *l, void *field, const char *value);
	void (*print)(const void *field, FILE *out, int show_secrets);
};

struct key {
	const char *name;
	size_t offset;
	const struct kind *kind;
	const char *initial; /* NULL: none */
	int is_repeatable;
};

static void *
must(void *p)
{
	if (p == NULL)
		cnd_fatal("out of memory");
	return p;
}

static char *
dup_text(const char *text)
{
	return must(strdup(text));
}

static void
free_secret(char *text)
{
	if (text != NULL)
		cnc_wipe(text, strlen(text));
	free(text);
}

/* ---- errors ---- */

__attribute__((format(printf, 3, 0))) static void
add_error(struct cnd_config *c, unsigned line, const char *format, va_list args)
{
	char *what;
	char *full;

	if (vasprintf(&what, format, args) < 0)
		cnd_fatal("out of memory");
	if (line > 0 ? asprintf(&full, "%s:%u: %s", c->path, line, what) < 0
		     : asprintf(&full, "%s: %s", c->path, what) < 0)
		cnd_fatal("out of memory");
	free(what);
	c->errors = must(realloc(c->errors, (c->n_errors + 1) * sizeof(*c->errors)));
	c->errors[c->n_errors++] = full;
}

void
cnd_config_error(struct cnd_config *c, unsigned line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_error(c, line, format, args);
	va_end(args);
}

/* For the value being read; gives -1, so that a parser can return it. */
__attribute__((format(printf, 2, 3))) static int
bad(struct loader *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_error(l->config, l->line, format, args);
	va_end(args);
	return -1;
}

/* ---- kinds of values ---- */

static int
parse_text(struct loader *l, void *field, const char *value)
{
	char **text = field;

	(void)l;
	free(*text);
	*text = dup_text(value);
	return 0;
}

static void
print_text(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(*(char *const *)field, out);
}

static int
parse_ms(struct loader *l, void *field, const char *value)
{
	if (cnd_ms_parse(value, field) < 0)
		return bad(l,
			"\"%s\" is not a time; write a number and ms, s, min, h or d, or "
			"0 for none",
			value);
	return 0;
}

static void
print_ms(const void *field, FILE *out, int show_secrets)
{
	char text[CND_UNITS_TEXT_MAX];

	(void)show_secrets;
	fputs(cnd_ms_text(*(const int64_t *)field, text), out);
}

static int
parse_frame_size(struct loader *l, void *field, const char *value)
{
	uint64_t size;

	if (cnd_size_parse(value, &size) < 0)
		return bad(l, "\"%s\" is not a size; write a number and B, kB, MB or GB",
			value);
	if (size < CNP_FRAME_MAX_AUTH || size > CNP_FRAME_MAX)
		return bad(l, "\"%s\" is out of range; from 16kB to 1023MB", value);
	*(uint64_t *)field = size;
	return 0;
}

static void
print_size(const void *field, FILE *out, int show_secrets)
{
	char text[CND_UNITS_TEXT_MAX];

	(void)show_secrets;
	fputs(cnd_size_text(*(const uint64_t *)field, text), out);
}

static int
parse_slots(struct loader *l, void *field, const char *value)
{
	uint64_t n;

	if (cnd_number_parse(value, 4096, &n) < 0 || n == 0)
		return bad(l, "\"%s\" is not a number of sessions from 1 to 4096", value);
	*(uint32_t *)field = (uint32_t)n;
	return 0;
}

static void
print_u32(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fprintf(out, "%u", *(const uint32_t *)field);
}

static int
parse_level(struct loader *l, void *field, const char *value)
{
	int level = cnd_log_level_parse(value);

	if (level < 0)
		return bad(l,
			"\"%s\" is not a log level; one of error, warning, notice, "
			"info, debug",
			value);
	*(int *)field = level;
	return 0;
}

static void
print_level(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(cnd_log_level_text(*(const int *)field), out);
}

static int
parse_socket_mode(struct loader *l, void *field, const char *value)
{
	int mode = 0;
	size_t len = strlen(value);

	for (size_t i = 0; i < len && mode >= 0; i++)
		mode = value[i] >= '0' && value[i] <= '7' ? mode * 8 + value[i] - '0'
							  : -1;
	if (len < 3 || len > 4 || mode < 0 || mode > 0777)
		return bad(l, "\"%s\" is not a file mode; write it in octal, as 0660",
			value);
	*(int *)field = mode;
	return 0;
}

static void
print_socket_mode(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fprintf(out, "%04o", (unsigned)*(const int *)field);
}

static int
parse_sessions(struct loader *l, void *field, const char *value)
{
	struct cnd_pool_config *p = field;
	const char *dots = strstr(value, "..");
	char low[16];
	uint64_t min;
	uint64_t max;

	if (dots == NULL) {
		snprintf(low, sizeof(low), "%s", value);
		dots = value - 2;
	} else {
		snprintf(low, sizeof(low), "%.*s", (int)(dots - value), value);
	}
	if (cnd_number_parse(low, 4096, &min) < 0 ||
		cnd_number_parse(dots + 2, 4096, &max) < 0)
		return bad(l,
			"\"%s\" is not a number of sessions; write MIN..MAX or N, at "
			"most 4096",
			value);
	if (max == 0 || min > max)
		return bad(l,
			"\"%s\": the most must be at least 1, and not below the least",
			value);
	p->min_sessions = (uint32_t)min;
	p->max_sessions = (uint32_t)max;
	return 0;
}

static void
print_sessions(const void *field, FILE *out, int show_secrets)
{
	const struct cnd_pool_config *p = field;

	(void)show_secrets;
	fprintf(out, "%u..%u", p->min_sessions, p->max_sessions);
}

static int
parse_mode(struct loader *l, void *field, const char *value)
{
	if (strcmp(value, "session") == 0)
		*(int *)field = CND_MODE_SESSION;
	else if (strcmp(value, "transaction") == 0)
		*(int *)field = CND_MODE_TRANSACTION;
	else
		return bad(l, "\"%s\" is not a mode; session or transaction", value);
	return 0;
}

static void
print_mode(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(*(const int *)field == CND_MODE_SESSION ? "session" : "transaction", out);
}

static int
parse_rules(struct loader *l, void *field, const char *value)
{
	char error[CND_RULES_ERROR_MAX];

	return cnd_rules_parse(field, value, l->line, error) < 0 ? bad(l, "%s", error)
								 : 0;
}

static void
print_rules(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	cnd_rules_print(field, out);
}

static int
parse_listen(struct loader *l, void *field, const char *value)
{
	char why[CND_LISTEN_WHY_MAX];

	return cnd_listen_add(field, value, why) < 0 ? bad(l, "listen: %s", why) : 0;
}

static void
print_listens(const struct cnd_listens *listens, FILE *out)
{
	char text[CND_LISTEN_TEXT_MAX];

	for (size_t i = 0; i < listens->n; i++)
		fprintf(out, "%-19s = %s%s\n", "listen",
			cnd_listen_text(&listens->list[i], text),
			listens->list[i].has_proxy ? " proxy=v2" : "");
}

static int
add_network(struct loader *l, struct cnd_networks *list, const char *text, int is_denied)
{
	struct cnd_network n;

	if (cnd_network_parse(text, &n) < 0)
		return bad(l,
			"\"%s\" is not a network; write it as 192.0.2.0/24 or "
			"2001:db8::/32, with no bit set behind the prefix",
			text);
	if (list->n == CND_NETWORKS_MAX)
		return bad(l, "allow and deny: more than %u networks", CND_NETWORKS_MAX);
	list->list[list->n].is_denied = (uint8_t)is_denied;
	list->list[list->n++].network = n;
	return 0;
}

static int
parse_networks(struct loader *l, void *field, const char *value, int is_denied)
{
	char *copy = dup_text(value);
	char *rest = copy;
	int r = 0;

	for (char *text; (text = strsep(&rest, ", \t")) != NULL;) {
		if (*text != '\0' && add_network(l, field, text, is_denied) < 0)
			r = -1;
	}
	free(copy);
	return r;
}

static int
parse_allow(struct loader *l, void *field, const char *value)
{
	return parse_networks(l, field, value, 0);
}

static int
parse_deny(struct loader *l, void *field, const char *value)
{
	return parse_networks(l, field, value, 1);
}

static void
print_networks(const struct cnd_networks *list, FILE *out, int is_denied)
{
	char text[CND_NETWORK_TEXT_MAX];
	const char *between = "";

	for (uint32_t i = 0; i < list->n; i++) {
		if (list->list[i].is_denied != is_denied)
			continue;
		fprintf(out, "%s%s", between,
			cnd_network_text(&list->list[i].network, text));
		between = ", ";
	}
}

static void
print_allow(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	print_networks(field, out, 0);
}

static void
print_deny(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	print_networks(field, out, 1);
}

/* One of a table of words. */
static int
parse_word(struct loader *l, int *field, const char *value, const char *const *words)
{
	for (int i = 0; words[i] != NULL; i++) {
		if (strcmp(value, words[i]) == 0) {
			*field = i;
			return 0;
		}
	}
	return bad(l, "\"%s\" is none of %s, %s%s%s", value, words[0], words[1],
		words[2] != NULL ? ", " : "", words[2] != NULL ? words[2] : "");
}

static const char *const switch_words[] = {
	[CND_SWITCH_AUTO] = "auto", [CND_SWITCH_ON] = "on", [CND_SWITCH_OFF] = "off", NULL
};

static int
parse_switch(struct loader *l, void *field, const char *value)
{
	return parse_word(l, field, value, switch_words);
}

static void
print_switch(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(switch_words[*(const int *)field], out);
}

static const char *const yes_words[] = { "no", "yes", NULL };

static int
parse_yes(struct loader *l, void *field, const char *value)
{
	return parse_word(l, field, value, yes_words);
}

static void
print_yes(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(yes_words[*(const int *)field], out);
}

static int
parse_reset(struct loader *l, void *field, const char *value)
{
	if (strcmp(value, "server") == 0)
		*(int *)field = CND_RESET_SERVER;
	else if (strcmp(value, "reconnect") == 0)
		*(int *)field = CND_RESET_RECONNECT;
	else
		return bad(l, "\"%s\" is not a reset; server or reconnect", value);
	return 0;
}

static void
print_reset(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(*(const int *)field == CND_RESET_SERVER ? "server" : "reconnect", out);
}

static int
allow_one(struct loader *l, struct cnd_pool_config *p, const char *name)
{
	const struct passwd *pw;
	uint64_t id;

	if (strcmp(name, "*") == 0) {
		p->is_open = 1;
		return 0;
	}
	if (cnd_number_parse(name, UINT32_MAX - 1, &id) < 0) {
		pw = getpwnam(name);
		if (pw == NULL)
			return bad(l, "there is no unix user \"%s\"", name);
		id = pw->pw_uid;
	}
	p->allow = must(realloc(p->allow, (p->n_allow + 1) * sizeof(*p->allow)));
	p->allow[p->n_allow++] = (uid_t)id;
	return 0;
}

static int
parse_users(struct loader *l, void *field, const char *value)
{
	struct cnd_pool_config *p = field;
	char *copy = dup_text(value);
	char *rest = copy;
	int r = 0;

	free(p->allow_users);
	p->allow_users = dup_text(value);
	for (char *name; (name = strsep(&rest, ", \t")) != NULL;) {
		if (*name != '\0' && allow_one(l, p, name) < 0)
			r = -1;
	}
	free(copy);
	return r;
}

static void
print_users(const void *field, FILE *out, int show_secrets)
{
	const struct cnd_pool_config *p = field;

	(void)show_secrets;
	fputs(p->allow_users, out);
}

/* ---- server lines: key=value …, 'with blanks', \ for the next character as it is ---- */

#define KEY_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

static int
is_secret(const char *key)
{
	static const char *const words[] = { "pass", "pwd", "secret", "token" };

	for (size_t i = 0; i < N_ITEMS(words); i++) {
		/* a file that holds the secret is no secret */
		if (strcasestr(key, words[i]) != NULL && strcasestr(key, "file") == NULL)
			return 1;
	}
	return 0;
}

/* One value, unquoted in place behind its key; where the next one begins, NULL if a quote is
 * left open, or closed before the value's end. */
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

static int
add_option(struct loader *l, struct cnd_server_line *s, const char *key, char *value)
{
	for (size_t i = 0; i < s->n_options; i++) {
		if (strcmp(s->options[i].key, key) == 0)
			return bad(l, "server: %s is given twice", key);
	}
	s->options = must(realloc(s->options, (s->n_options + 1) * sizeof(*s->options)));
	s->options[s->n_options++] =
		(struct cnd_option){ dup_text(key), dup_text(value) };
	return 0;
}

static int
split_options(struct loader *l, struct cnd_server_line *s, char *text)
{
	while (*(text += strspn(text, " \t")) != '\0') {
		size_t n = strspn(text, KEY_CHARS);
		char *key = text;
		char *value = text + n + strspn(text + n, " \t");

		if (n == 0 || *value != '=')
			return bad(l,
				"server: a list of key=value is wanted; what "
				"follows %s is not one",
				s->n_options > 0 ? s->options[s->n_options - 1].key
						 : "\"server =\"");
		value += 1 + strspn(value + 1, " \t");
		key[n] = '\0';
		text = unquote(value);
		if (text == NULL)
			return bad(l, "server: the quote of %s is not closed at its end",
				key);
		if (add_option(l, s, key, value) < 0)
			return -1;
	}
	if (s->n_options == 0)
		return bad(l, "server: a list of key=value is wanted");
	return 0;
}

static int
parse_server(struct loader *l, void *field, const char *value)
{
	struct cnd_pool_config *p = field;
	struct cnd_server_line s = { .line = l->line };
	char *copy;
	int r;

	if (p->n_servers == CND_SERVERS_MAX)
		return bad(l, "server: more than %u lines", CND_SERVERS_MAX);
	copy = dup_text(value);
	r = split_options(l, &s, copy);
	free_secret(copy);
	p->servers = must(realloc(p->servers, (p->n_servers + 1) * sizeof(*p->servers)));
	p->servers[p->n_servers++] = s;
	return r;
}

static void
print_option(const struct cnd_option *o, FILE *out, int show_secrets)
{
	const char *value = o->value;

	if (!show_secrets && is_secret(o->key))
		value = "***";
	fprintf(out, "%s=", o->key);
	if (*value != '\0' && strpbrk(value, " \t'\\;") == NULL) {
		fputs(value, out);
		return;
	}
	fputc('\'', out);
	for (; *value != '\0'; value++) {
		/* ';' too: behind a blank it would begin a comment */
		if (strchr("'\\;", *value) != NULL)
			fputc('\\', out);
		fputc(*value, out);
	}
	fputc('\'', out);
}

static void
print_server(const struct cnd_server_line *s, FILE *out, int show_secrets)
{
	for (size_t i = 0; i < s->n_options; i++) {
		if (i > 0)
			fputc(' ', out);
		print_option(&s->options[i], out, show_secrets);
	}
}

void
cnd_server_label(const struct cnd_server_line *s, char text[CND_LABEL_MAX])
{
	static const char *const telling[] = { "host", "hostaddr", "port", "socket",
		"unix_socket", "path", "service", "dbname", "database" };
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

/* ---- the tables of keys ---- */

static const struct kind kind_text = { parse_text, print_text };
static const struct kind kind_ms = { parse_ms, print_ms };
static const struct kind kind_frame_size = { parse_frame_size, print_size };
static const struct kind kind_slots = { parse_slots, print_u32 };
static const struct kind kind_level = { parse_level, print_level };
static const struct kind kind_socket_mode = { parse_socket_mode, print_socket_mode };
static const struct kind kind_sessions = { parse_sessions, print_sessions };
static const struct kind kind_mode = { parse_mode, print_mode };
static const struct kind kind_reset = { parse_reset, print_reset };
static const struct kind kind_rules = { parse_rules, print_rules };
static const struct kind kind_users = { parse_users, print_users };
static const struct kind kind_switch = { parse_switch, print_switch };
static const struct kind kind_yes = { parse_yes, print_yes };
static const struct kind kind_listen = { parse_listen, NULL };
static const struct kind kind_allow = { parse_allow, print_allow };
static const struct kind kind_deny = { parse_deny, print_deny };
static const struct kind kind_server = { parse_server, NULL };

#define C(member) offsetof(struct cnd_config, member)
#define P(member) offsetof(struct cnd_pool_config, member)

/* TLS: what a pool does not say is as in [cenoted]. */
#define TLS_KEYS(AT, MIN_VERSION, CLIENT_CERT, NONE)                                     \
	{ "tls_cert", AT(tls.settings[CND_TLS_CERT]), &kind_text, NONE, 0 },             \
		{ "tls_key", AT(tls.settings[CND_TLS_KEY]), &kind_text, NONE, 0 },       \
		{ "tls_ca", AT(tls.settings[CND_TLS_CA]), &kind_text, NONE, 0 },         \
		{ "tls_crl", AT(tls.settings[CND_TLS_CRL]), &kind_text, NONE, 0 },       \
		{ "tls_min_version", AT(tls.settings[CND_TLS_MIN_VERSION]), &kind_text,  \
			MIN_VERSION, 0 },                                                \
		{ "tls_ciphers", AT(tls.settings[CND_TLS_CIPHERS]), &kind_text, NONE,    \
			0 },                                                             \
		{ "tls_groups", AT(tls.settings[CND_TLS_GROUPS]), &kind_text, NONE, 0 }, \
	{                                                                                \
		"tls_client_cert", AT(tls.settings[CND_TLS_CLIENT_CERT]), &kind_text,    \
			CLIENT_CERT, 0                                                   \
	}

static const struct key cenoted_keys[] = {
	{ "user", C(user), &kind_text, "", 0 },
	{ "run_dir", C(run_dir), &kind_text, "", 0 },
	{ "backend_dir", C(backend_dir), &kind_text, "", 0 },
	{ "log", C(log), &kind_text, "stderr", 0 },
	{ "log_level", C(log_level), &kind_level, "info", 0 },
	{ "pid_file", C(pid_file), &kind_text, "", 0 },
	{ "max_sessions", C(max_sessions), &kind_slots, "1024", 0 },
	{ "users", C(users_path), &kind_text, "", 0 },
	{ "drain_timeout", C(drain_timeout_ms), &kind_ms, "30s", 0 },
	{ "listen", C(listens), &kind_listen, NULL, 1 },
	{ "tcp_keepalive", C(tcp_keepalive_ms), &kind_ms, "60s", 0 },
	{ "seccomp", C(seccomp), &kind_switch, "auto", 0 },
	{ "landlock", C(landlock), &kind_switch, "auto", 0 },
	{ "core_dumps", C(core_dumps), &kind_yes, "no", 0 },
	{ "socket_group", C(socket_group), &kind_text, "", 0 },
	{ "socket_mode", C(socket_mode), &kind_socket_mode, NULL, 0 },
	TLS_KEYS(C, "1.2", "none", ""),
};

static const struct key pool_keys[] = {
	{ "backend", P(backend), &kind_text, "", 0 },
	{ "server", 0, &kind_server, NULL, 1 },
	{ "sessions", 0, &kind_sessions, "1..8", 0 },
	{ "mode", P(mode), &kind_mode, "session", 0 },
	{ "auth", P(rules), &kind_rules, NULL, 1 },
	{ "users", P(users_path), &kind_text, "", 0 },
	{ "auth_timeout", P(auth_timeout_ms), &kind_ms, "10s", 0 },
	{ "allow_users", 0, &kind_users, "", 0 },
	{ "allow", P(networks), &kind_allow, NULL, 0 },
	{ "deny", P(networks), &kind_deny, NULL, 0 },
	{ "idle_ttl", P(idle_ttl_ms), &kind_ms, "60s", 0 },
	{ "queue_timeout", P(queue_timeout_ms), &kind_ms, "30s", 0 },
	{ "idle_client_timeout", P(idle_client_timeout_ms), &kind_ms, "0", 0 },
	{ "session_timeout", P(session_timeout_ms), &kind_ms, "0", 0 },
	{ "query_timeout", P(query_timeout_ms), &kind_ms, "0", 0 },
	{ "suspend_timeout", P(suspend_timeout_ms), &kind_ms, "60s", 0 },
	{ "login_timeout", P(login_timeout_ms), &kind_ms, "15s", 0 },
	{ "reset", P(reset), &kind_reset, "server", 0 },
	{ "rebalance", P(rebalance_ms), &kind_ms, "60s", 0 },
	{ "max_frame", P(max_frame), &kind_frame_size, "64MB", 0 },
	TLS_KEYS(P, NULL, NULL, NULL),
};

/* What the manual of a later version describes. To accept it in silence would be a lie. */
static const char *const later_keys[] = { "stats_listen" };

_Static_assert(N_ITEMS(cenoted_keys) <= KEYS_MAX && N_ITEMS(pool_keys) <= KEYS_MAX,
	"the tables of given keys must hold all keys");

static void
set_initial(struct loader *l, const struct key *keys, size_t n, void *base)
{
	for (size_t i = 0; i < n; i++) {
		if (keys[i].initial != NULL)
			(void)keys[i].kind->parse(
				l, (char *)base + keys[i].offset, keys[i].initial);
	}
}

static void
unknown_key(struct loader *l, const struct key *keys, size_t n, const char *name)
{
	const char *nearest;

	for (size_t i = 0; i < N_ITEMS(later_keys); i++) {
		if (strcmp(name, later_keys[i]) == 0) {
			bad(l, "%s is not available in this version", name);
			return;
		}
	}
	nearest = cnd_nearest(name, &keys[0].name, n, sizeof(keys[0]));
	if (nearest != NULL)
		bad(l, "unknown key \"%s\"; did you mean \"%s\"?", name, nearest);
	else
		bad(l, "unknown key \"%s\"", name);
}

static void
set_key(struct loader *l, const struct key *keys, size_t n, void *base, const char *name,
	const char *value)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(keys[i].name, name) != 0)
			continue;
		if (l->given[i] != 0 && !keys[i].is_repeatable) {
			bad(l, "%s is given twice; first in line %u", name, l->given[i]);
			return;
		}
		l->given[i] = l->line;
		(void)keys[i].kind->parse(l, (char *)base + keys[i].offset, value);
		return;
	}
	unknown_key(l, keys, n, name);
}

/* ---- reading ---- */

static int
is_pool_name(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > CND_POOL_NAME_MAX || !isalnum((uint8_t)name[0]))
		return 0;
	for (; *name != '\0'; name++) {
		if (!isalnum((uint8_t)*name) && strchr("_-.", *name) == NULL)
			return 0;
	}
	return 1;
}

static void
begin_pool(struct loader *l, const char *name)
{
	struct cnd_config *c = l->config;
	struct cnd_pool_config *p;

	for (size_t i = 0; i < c->n_pools; i++) {
		if (strcmp(c->pools[i].name, name) == 0)
			bad(l, "pool %s is given twice; first in line %u", name,
				c->pools[i].line);
	}
	if (!is_pool_name(name))
		bad(l,
			"\"%s\" is not a pool's name; letters, digits, _ - and ., at "
			"most "
			"%u, the first a letter or digit",
			name, CND_POOL_NAME_MAX);
	if (c->n_pools == CND_CONFIG_POOLS)
		bad(l, "more than %u pools", CND_CONFIG_POOLS);
	c->pools = must(realloc(c->pools, (c->n_pools + 1) * sizeof(*c->pools)));
	p = &c->pools[c->n_pools++];
	*p = (struct cnd_pool_config){ .name = dup_text(name), .line = l->line };
	set_initial(l, pool_keys, N_ITEMS(pool_keys), p);
	l->pool = p;
	l->section = SECTION_POOL;
}

/* inih tells of a section only with its first key, and cuts long names: so it is read here. */
static void
begin_section(struct loader *l, char *text)
{
	char *end = strchr(text, ']');
	char *name = text + 1;

	l->section = SECTION_NONE;
	memset(l->given, 0, sizeof(l->given));
	if (end == NULL) {
		bad(l, "the section's ']' is missing");
		return;
	}
	*end = '\0';
	if (strcmp(name, "cenoted") == 0) {
		/* it may be continued further down: the lines are kept */
		if (l->cenoted_line != 0)
			bad(l, "section [cenoted] is given twice; first in line %u",
				l->cenoted_line);
		l->cenoted_line = l->line;
		l->section = SECTION_CENOTED;
	} else if (strncmp(name, "pool", 4) == 0 &&
		   (name[4] == '\0' || isblank((uint8_t)name[4]))) {
		name += 4;
		name += strspn(name, " \t");
		begin_pool(l, name);
	} else {
		bad(l, "unknown section [%s]; [cenoted] and [pool NAME] are there", name);
	}
}

/* Take a value that is too long for inih out of its line, less its comment. */
static void
stash_value(struct loader *l, char *value)
{
	char *end = value;

	while (*end != '\0' && !(*end == ';' && end > value && isspace((uint8_t)end[-1])))
		end++;
	while (end > value && isspace((uint8_t)end[-1]))
		end--;
	l->long_value = must(strndup(value, (size_t)(end - value)));
	cnc_wipe(value, strlen(value));
	value[0] = LONG_MARK;
	value[1] = '\0';
}

/* Look at a line before inih does; what inih gets, "" if it has been dealt with. */
static char *
look_at(struct loader *l, char *text)
{
	char *separator;

	free_secret(l->long_value);
	l->long_value = NULL;
	/* without the leading blanks: inih takes an indented line for a continued value */
	text += strspn(text, " \t");
	if (*text == '[') {
		begin_section(l, text);
		return text + strlen(text);
	}
	if (*text == '\0' || *text == '\n' || *text == '\r' || *text == ';' ||
		*text == '#')
		return text + strlen(text);
	separator = strpbrk(text, "=:");
	if (separator == NULL) {
		bad(l, "neither a section, nor key = value, nor a comment");
		return text + strlen(text);
	}
	if (strlen(text) > SHORT_LINE)
		stash_value(l, separator + 1 + strspn(separator + 1, " \t"));
	return text;
}

static char *
read_line(char *out, int size, void *stream)
{
	struct loader *l = stream;
	const char *text;

	if (getline(&l->text, &l->text_size, l->file) < 0)
		return NULL;
	l->line++;
	text = l->text;
	if (l->line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	text = look_at(l, l->text + (text - l->text));
	if (strlen(text) + 2 > (size_t)size) {
		bad(l, "the key is too long");
		text = "";
	}
	snprintf(out, (size_t)size, "%s\n", text);
	return out;
}

static int
take_pair(void *user, const char *section, const char *name, const char *value)
{
	struct loader *l = user;

	(void)section;
	if (value[0] == LONG_MARK && l->long_value != NULL)
		value = l->long_value;
	if (l->section == SECTION_CENOTED)
		set_key(l, cenoted_keys, N_ITEMS(cenoted_keys), l->config, name, value);
	else if (l->section == SECTION_POOL)
		set_key(l, pool_keys, N_ITEMS(pool_keys), l->pool, name, value);
	else if (l->config->n_errors == 0)
		bad(l, "\"%s\" stands before any section", name);
	return 1;
}

/* ---- what can only be said of the whole ---- */

static void
set_run_dir(struct cnd_config *c)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (*c->run_dir != '\0')
		return;
	free(c->run_dir);
	if (geteuid() == 0)
		c->run_dir = dup_text("/run/cenote");
	else if (runtime == NULL || *runtime != '/')
		c->run_dir = dup_text("");
	else if (asprintf(&c->run_dir, "%s/cenote", runtime) < 0)
		cnd_fatal("out of memory");
}

static unsigned
line_of(const struct loader *l, const char *name)
{
	for (size_t i = 0; i < N_ITEMS(cenoted_keys); i++) {
		if (strcmp(cenoted_keys[i].name, name) == 0)
			return l->cenoted_given[i];
	}
	return 0;
}

static void
find_user(struct loader *l)
{
	struct cnd_config *c = l->config;
	const struct passwd *pw;

	c->uid = geteuid();
	c->gid = getegid();
	if (*c->user == '\0')
		return;
	pw = getpwnam(c->user);
	if (pw == NULL) {
		cnd_config_error(
			c, line_of(l, "user"), "there is no unix user \"%s\"", c->user);
		return;
	}
	if (geteuid() != 0 && pw->pw_uid != geteuid())
		cnd_config_error(c, line_of(l, "user"),
			"user: only root can become \"%s\"", c->user);
	c->uid = pw->pw_uid;
	c->gid = pw->pw_gid;
}

/* What has to be, and is not to be had here. */
static void
check_sandbox(struct loader *l)
{
	const struct cnd_config *c = l->config;
	const struct {
		const char *key;
		int wanted;
		const char *lack;
	} parts[] = {
		{ "seccomp", c->seccomp, cnd_sandbox_lacks_seccomp() },
		{ "landlock", c->landlock, cnd_sandbox_lacks_landlock() },
	};

	for (size_t i = 0; i < N_ITEMS(parts); i++) {
		if (parts[i].wanted == CND_SWITCH_ON && parts[i].lack != NULL)
			cnd_config_error(l->config, line_of(l, parts[i].key),
				"%s = on: %s", parts[i].key, parts[i].lack);
	}
}

static void
check_cenoted(struct loader *l)
{
	struct cnd_config *c = l->config;
	const struct group *gr;

	set_run_dir(c);
	find_user(l);
	check_sandbox(l);
	if (*c->run_dir != '/')
		cnd_config_error(c, line_of(l, "run_dir"),
			*c->run_dir == '\0'
				? "run_dir is needed: XDG_RUNTIME_DIR is not set"
				: "run_dir must begin with /");
	if (strcmp(c->log, "stderr") != 0 && strcmp(c->log, "syslog") != 0 &&
		*c->log != '/')
		cnd_config_error(c, line_of(l, "log"),
			"\"%s\" is no place for a log; stderr, syslog or a file's path "
			"from /",
			c->log);
	c->socket_gid = (gid_t)-1;
	if (*c->socket_group != '\0') {
		gr = getgrnam(c->socket_group);
		if (gr == NULL)
			cnd_config_error(c, line_of(l, "socket_group"),
				"there is no unix group \"%s\"", c->socket_group);
		else
			c->socket_gid = gr->gr_gid;
	}
	if (c->socket_mode < 0)
		c->socket_mode = *c->socket_group != '\0' ? 0660 : 0700;
}

/* Files that a pool's rules name; read now, with the rights of the start. */
static void
load_maps(struct cnd_config *c, struct cnd_pool_config *p)
{
	for (size_t i = 0; i < p->rules.n; i++) {
		struct cnd_rule *rule = &p->rules.list[i];
		struct cnd_lines lines;

		if (rule->map_path == NULL)
			continue;
		if (cnd_lines_open(&lines, rule->map_path, CND_FILE_PUBLIC, c->uid) < 0 ||
			cnd_map_read(&rule->map, &lines) < 0)
			cnd_config_error(c, rule->line, "auth: map %s: %s",
				rule->map_path, lines.error);
		cnd_lines_close(&lines);
	}
}

static void
load_users(struct cnd_config *c, struct cnd_pool_config *p)
{
	const char *path = *p->users_path != '\0' ? p->users_path : c->users_path;
	struct cnd_lines lines;

	if (!cnd_rules_have(&p->rules, CND_METHOD_SCRAM))
		return;
	if (cn_crypto_get(CN_CRYPTO_ABI) == NULL)
		cnd_config_error(c, p->line,
			"pool %s: auth = scram-sha-256: this cenoted was built without "
			"OpenSSL",
			p->name);
	if (*path == '\0') {
		cnd_config_error(c, p->line,
			"pool %s: auth has scram-sha-256, and users names no file",
			p->name);
		return;
	}
	if (cnd_lines_open(&lines, path, CND_FILE_SECRET, c->uid) < 0 ||
		cnd_users_read(&p->users, &lines) < 0)
		cnd_config_error(
			c, p->line, "pool %s: users %s: %s", p->name, path, lines.error);
	cnd_lines_close(&lines);
}

static void
check_auth(struct cnd_config *c, struct cnd_pool_config *p)
{
	char error[CND_RULES_ERROR_MAX];

	if (p->rules.n == 0 && cnd_rules_parse(&p->rules, "peer", 0, error) < 0)
		cnd_fatal("%s", error);
	if (p->auth_timeout_ms == 0)
		cnd_config_error(c, p->line,
			"pool %s: auth_timeout = 0: a login needs a bound", p->name);
	load_maps(c, p);
	load_users(c, p);
}

static void
check_pool(struct cnd_config *c, struct cnd_pool_config *p)
{
	struct sockaddr_un address;

	check_auth(c, p);

	if (*p->backend == '\0')
		cnd_config_error(
			c, p->line, "pool %s: the key backend is missing", p->name);
	if (p->n_servers == 0)
		cnd_config_error(
			c, p->line, "pool %s: a server line is missing", p->name);
	if (strlen(c->run_dir) + strlen("/.sock") + strlen(p->name) >=
		sizeof(address.sun_path))
		cnd_config_error(c, p->line,
			"pool %s: its socket's path in %s would be longer than %zu bytes",
			p->name, c->run_dir, sizeof(address.sun_path) - 1);
	cnd_tls_load(c, p);
	if (p->n_allow == 0 && !p->is_open) {
		p->allow = must(calloc(2, sizeof(*p->allow)));
		p->allow[p->n_allow++] = c->uid;
		p->allow[p->n_allow++] = 0;
	}
}

static void
check_all(struct loader *l)
{
	struct cnd_config *c = l->config;
	uint64_t sum = 0;

	check_cenoted(l);
	for (size_t i = 0; i < c->n_pools; i++) {
		check_pool(c, &c->pools[i]);
		sum += c->pools[i].max_sessions;
	}
	if (c->n_pools == 0)
		cnd_config_error(c, 0, "there is no [pool NAME] section");
	if (sum > c->max_sessions)
		cnd_config_error(c, line_of(l, "max_sessions"),
			"the pools want up to %llu sessions, and max_sessions is %u",
			(unsigned long long)sum, c->max_sessions);
}

static void
remember_cenoted(struct loader *l)
{
	if (l->section == SECTION_CENOTED)
		memcpy(l->cenoted_given, l->given, sizeof(l->given));
}

/* inih's callback comes after the line was read: the section's keys are kept as they come. */
static int
take_pair_and_remember(
	void *user, const char *section, const char *name, const char *value)
{
	int r = take_pair(user, section, name, value);

	remember_cenoted(user);
	return r;
}

/* The whole file, so that one without an end is found out. NULL: the error was reported. */
static FILE *
open_whole(struct loader *l, const char *path)
{
	struct cnd_config *c = l->config;
	FILE *file = fopen(path, "re"), *whole = NULL;
	size_t n;

	l->bytes = must(malloc(FILE_MAX + 1));
	n = file != NULL ? fread(l->bytes, 1, FILE_MAX, file) : 0;
	l->n_bytes = n;

	if (file == NULL || ferror(file)) {
		cnd_config_error(c, 0, "cannot be read: %s", strerror(errno));
	} else if (n == FILE_MAX) {
		cnd_config_error(c, 0, "is longer than 1 MB: no configuration");
	} else {
		/* an empty stream cannot be opened */
		l->bytes[n] = '\n';
		whole = must(fmemopen(l->bytes, n + 1, "r"));
	}
	if (file != NULL)
		fclose(file);
	return whole;
}

static void
finish_loader(struct loader *l)
{
	if (l->file != NULL)
		fclose(l->file);
	free_secret(l->long_value);
	if (l->text != NULL)
		cnc_wipe(l->text, l->text_size);
	free(l->text);
	cnc_wipe(l->bytes, l->n_bytes);
	free(l->bytes);
}

struct cnd_config *
cnd_config_load(const char *path)
{
	struct cnd_config *c = must(calloc(1, sizeof(*c)));
	struct loader l = { .config = c };

	c->path = dup_text(path);
	c->socket_mode = -1;
	set_initial(&l, cenoted_keys, N_ITEMS(cenoted_keys), c);
	l.file = open_whole(&l, path);
	if (l.file != NULL) {
		if (ini_parse_stream(read_line, &l, take_pair_and_remember, &l) < 0)
			cnd_fatal("out of memory");
		check_all(&l);
	}
	finish_loader(&l);
	return c;
}

void
cnd_pool_config_forget(struct cnd_pool_config *p)
{
	for (size_t i = 0; i < p->n_servers; i++) {
		struct cnd_server_line *s = &p->servers[i];

		for (size_t j = 0; j < s->n_options; j++) {
			/* strdup()ed here: only the type is const */
			free((void *)(uintptr_t)s->options[j].key);
			free_secret((char *)(uintptr_t)s->options[j].value);
		}
		free(s->options);
	}
	free(p->servers);
	p->servers = NULL;
	p->n_servers = 0;
	cnd_users_destroy(&p->users);
	cnd_tls_forget(&p->tls);
}

void
cnd_config_destroy(struct cnd_config *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->n_pools; i++) {
		struct cnd_pool_config *p = &c->pools[i];

		cnd_pool_config_forget(p);
		free(p->name);
		free(p->backend);
		free(p->allow_users);
		free(p->allow);
		free(p->users_path);
		cnd_rules_destroy(&p->rules);
		cnd_tls_destroy(&p->tls);
	}
	for (size_t i = 0; i < c->n_errors; i++)
		free(c->errors[i]);
	free(c->errors);
	cnd_tls_destroy(&c->tls);
	free(c->pools);
	free(c->path);
	free(c->user);
	free(c->run_dir);
	free(c->backend_dir);
	free(c->log);
	free(c->pid_file);
	free(c->socket_group);
	free(c->users_path);
	free(c);
}

/* ---- showing ---- */

static void
print_keys(const struct key *keys, size_t n, const void *base, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		if (keys[i].kind->print == NULL)
			continue;
		fprintf(out, "%-19s = ", keys[i].name);
		keys[i].kind->print((const char *)base + keys[i].offset, out, 0);
		fputc('\n', out);
	}
}

static void
print_pool(const struct cnd_pool_config *p, FILE *out, int show_secrets)
{
	fprintf(out, "[pool %s]\n", p->name);
	for (size_t i = 0; i < p->n_servers; i++) {
		fprintf(out, "%-19s = ", "server");
		print_server(&p->servers[i], out, show_secrets);
		fputc('\n', out);
	}
	print_keys(pool_keys, N_ITEMS(pool_keys), p, out);
	if (!show_secrets)
		return;
	cnd_users_print(&p->users, out);
	for (size_t i = 0; i < p->rules.n; i++)
		cnd_map_print(&p->rules.list[i].map, out);
}

void
cnd_config_print(const struct cnd_config *c, FILE *out)
{
	fprintf(out, "[cenoted]\n");
	print_keys(cenoted_keys, N_ITEMS(cenoted_keys), c, out);
	print_listens(&c->listens, out);
	for (size_t i = 0; i < c->n_pools; i++) {
		fputc('\n', out);
		print_pool(&c->pools[i], out, 0);
	}
}

int
cnd_pool_config_is_equal(const struct cnd_pool_config *a, const struct cnd_pool_config *b)
{
	char *text[2] = { NULL, NULL };
	size_t size[2] = { 0, 0 };
	const struct cnd_pool_config *pools[2] = { a, b };
	int is_equal;

	for (int i = 0; i < 2; i++) {
		FILE *out = must(open_memstream(&text[i], &size[i]));

		print_pool(pools[i], out, 1);
		fclose(out);
	}
	is_equal = strcmp(text[0], text[1]) == 0 && cnd_tls_is_equal(&a->tls, &b->tls);
	free_secret(text[0]);
	free_secret(text[1]);
	return is_equal;
}

int
cnd_pool_config_allows(const struct cnd_pool_config *p, uid_t uid)
{
	for (size_t i = 0; i < p->n_allow; i++) {
		if (p->allow[i] == uid)
			return 1;
	}
	return p->is_open;
}
