/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How each kind of value in the configuration is read and printed. The tables in config.c say
 * which key has which kind.
 */
#include "config_internal.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shared/log.h"
#include "shared/result_cache.h"
#include "protocol/frame.h"
#include "shared/units.h"

static int
parse_text(struct cnd_loader *l, void *field, const char *value)
{
	char **text = field;

	(void)l;
	free(*text);
	*text = cnd_config_dup(value);
	return 0;
}

static void
print_text(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(*(char *const *)field, out);
}

/* The path and the query of a URL often contain a secret. */
static void
print_notify(const void *field, FILE *out, int show_secrets)
{
	const char *text = *(char *const *)field;
	const char *host = strstr(text, "://");

	if (*text == '/' || host == NULL || show_secrets)
		fputs(text, out);
	else
		fprintf(out, "%.*s://***", (int)(host - text), text);
}

static int
parse_ms(struct cnd_loader *l, void *field, const char *value)
{
	if (cnd_ms_parse(value, field) < 0)
		return cnd_config_bad(l,
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
parse_cache_size(struct cnd_loader *l, void *field, const char *value)
{
	uint64_t size;

	if (cnd_size_parse(value, &size) < 0 || size < CND_CACHE_SIZE_MIN ||
		size > CND_CACHE_SIZE_MAX)
		return cnd_config_bad(
			l, "\"%s\" is not a size from 256kB to 4095MB", value);
	*(uint64_t *)field = size;
	return 0;
}

static int
parse_frame_size(struct cnd_loader *l, void *field, const char *value)
{
	uint64_t size;

	if (cnd_size_parse(value, &size) < 0)
		return cnd_config_bad(l,
			"\"%s\" is not a size; write a number and B, kB, MB or GB",
			value);
	if (size < CNP_FRAME_MAX_AUTH || size > CNP_FRAME_MAX)
		return cnd_config_bad(
			l, "\"%s\" is out of range; write 16kB to 1023MB", value);
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
parse_slots(struct cnd_loader *l, void *field, const char *value)
{
	uint64_t n;

	if (cnd_number_parse(value, 4096, &n) < 0 || n == 0)
		return cnd_config_bad(
			l, "\"%s\" is not a number of sessions from 1 to 4096", value);
	*(uint32_t *)field = (uint32_t)n;
	return 0;
}

static int
parse_workers(struct cnd_loader *l, void *field, const char *value)
{
	uint64_t n;

	if (cnd_number_parse(value, 4096, &n) < 0)
		return cnd_config_bad(l,
			"\"%s\" is not a number of processes from 1 to 4096, or 0 for "
			"the "
			"default",
			value);
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
parse_level(struct cnd_loader *l, void *field, const char *value)
{
	int level = cnd_log_level_parse(value);

	if (level < 0)
		return cnd_config_bad(l,
			"\"%s\" is not a log level; write error, warning, notice, info "
			"or debug",
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
parse_log_format(struct cnd_loader *l, void *field, const char *value)
{
	if (strcmp(value, "text") == 0)
		*(int *)field = CND_LOG_TEXT;
	else if (strcmp(value, "json") == 0)
		*(int *)field = CND_LOG_JSON;
	else
		return cnd_config_bad(
			l, "\"%s\" is not a log format; write text or json", value);
	return 0;
}

static void
print_log_format(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(*(const int *)field == CND_LOG_JSON ? "json" : "text", out);
}

static int
parse_socket_mode(struct cnd_loader *l, void *field, const char *value)
{
	int mode = 0;
	size_t len = strlen(value);

	for (size_t i = 0; i < len && mode >= 0; i++)
		mode = value[i] >= '0' && value[i] <= '7' ? mode * 8 + value[i] - '0'
							  : -1;
	if (len < 3 || len > 4 || mode < 0 || mode > 0777)
		return cnd_config_bad(l,
			"\"%s\" is not a file mode; write it in octal, such as 0660",
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
parse_sessions(struct cnd_loader *l, void *field, const char *value)
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
		return cnd_config_bad(l,
			"\"%s\" is not a number of sessions; write MIN..MAX or N, at "
			"most 4096",
			value);
	if (max == 0 || min > max)
		return cnd_config_bad(l,
			"\"%s\": MAX must be at least 1, and not less than MIN", value);
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
parse_lend(struct cnd_loader *l, void *field, const char *value)
{
	if (strcmp(value, "auto") == 0)
		*(int *)field = CND_LEND_AUTO;
	else if (strcmp(value, "off") == 0)
		*(int *)field = CND_LEND_OFF;
	else
		return cnd_config_bad(l, "\"%s\" is not known; write auto or off", value);
	return 0;
}

static void
print_lend(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(*(const int *)field == CND_LEND_AUTO ? "auto" : "off", out);
}

static int
parse_mode(struct cnd_loader *l, void *field, const char *value)
{
	if (strcmp(value, "session") == 0)
		*(int *)field = CND_MODE_SESSION;
	else if (strcmp(value, "transaction") == 0)
		*(int *)field = CND_MODE_TRANSACTION;
	else
		return cnd_config_bad(
			l, "\"%s\" is not a mode; write session or transaction", value);
	return 0;
}

static void
print_mode(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(*(const int *)field == CND_MODE_SESSION ? "session" : "transaction", out);
}

static int
parse_rules(struct cnd_loader *l, void *field, const char *value)
{
	char error[CND_RULES_ERROR_MAX];

	return cnd_rules_parse(field, value, l->line, error) < 0
		       ? cnd_config_bad(l, "%s", error)
		       : 0;
}

static void
print_rules(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	cnd_rules_print(field, out);
}

static int
parse_hours(struct cnd_loader *l, void *field, const char *value)
{
	char error[CND_HOURS_ERROR_MAX];

	return cnd_hours_parse(field, value, time(NULL), error) < 0
		       ? cnd_config_bad(l, "allow_hours: %s", error)
		       : 0;
}

static int
parse_query_rules(struct cnd_loader *l, void *field, const char *value)
{
	char error[CND_QUERY_ERROR_MAX];

	return cnd_query_rules_parse(field, value, l->line, error) < 0
		       ? cnd_config_bad(l, "%s", error)
		       : 0;
}

static int
parse_errors(struct cnd_loader *l, void *field, const char *value)
{
	char error[CND_ERROR_ERROR_MAX];

	return cnd_error_maps_parse(field, value, error) < 0
		       ? cnd_config_bad(l, "%s", error)
		       : 0;
}

static int
parse_program_sql(struct cnd_loader *l, void *field, const char *value)
{
	int program = cnd_program_sql_named(value);

	if (program < 0)
		return cnd_config_bad(l,
			"\"%s\" is not a kind of SQL; write postgresql, mysql, sqlite, "
			"tsql, or server",
			value);
	*(int *)field = program;
	return 0;
}

static void
print_program_sql(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(cnd_program_sql_name((uint8_t) * (const int *)field), out);
}

static int
parse_listen(struct cnd_loader *l, void *field, const char *value)
{
	char why[CND_LISTEN_WHY_MAX];

	return cnd_listen_add(field, value, why) < 0
		       ? cnd_config_bad(l, "listen: %s", why)
		       : 0;
}

static int
parse_stats_listen(struct cnd_loader *l, void *field, const char *value)
{
	const struct cnd_listens *listens = field;
	char why[CND_LISTEN_WHY_MAX];

	if (cnd_listen_add(field, value, why) < 0)
		return cnd_config_bad(l, "stats_listen: %s", why);
	if (listens->list[listens->n - 1].has_proxy)
		return cnd_config_bad(l, "stats_listen: proxy=v2 is only for listen");
	return 0;
}

void
cnd_config_print_listens(const char *key, const struct cnd_listens *listens, FILE *out)
{
	char text[CND_LISTEN_TEXT_MAX];

	for (size_t i = 0; i < listens->n; i++)
		fprintf(out, "%-19s = %s%s\n", key,
			cnd_listen_text(&listens->list[i], text),
			listens->list[i].has_proxy ? " proxy=v2" : "");
}

static int
add_network(
	struct cnd_loader *l, struct cnd_networks *list, const char *text, int is_denied)
{
	struct cnd_network n;

	if (cnd_network_parse(text, &n) < 0)
		return cnd_config_bad(l,
			"\"%s\" is not a network; write it as 192.0.2.0/24 or "
			"2001:db8::/32, with no bits set after the prefix",
			text);
	if (list->n == CND_NETWORKS_MAX)
		return cnd_config_bad(
			l, "allow and deny: more than %u networks", CND_NETWORKS_MAX);
	list->list[list->n].is_denied = (uint8_t)is_denied;
	list->list[list->n++].network = n;
	return 0;
}

static int
parse_networks(struct cnd_loader *l, void *field, const char *value, int is_denied)
{
	char *copy = cnd_config_dup(value);
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
parse_allow(struct cnd_loader *l, void *field, const char *value)
{
	return parse_networks(l, field, value, 0);
}

static int
parse_deny(struct cnd_loader *l, void *field, const char *value)
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

/* Read a value that is one word of a table. */
static int
parse_word(struct cnd_loader *l, int *field, const char *value, const char *const *words)
{
	char list[128] = "";
	size_t len = 0;

	for (int i = 0; words[i] != NULL; i++) {
		if (strcmp(value, words[i]) == 0) {
			*field = i;
			return 0;
		}
	}
	for (int i = 0; words[i] != NULL && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
			i > 0 ? ", " : "", words[i]);
	return cnd_config_bad(l, "\"%s\" is not one of %s", value, list);
}

static const char *const switch_words[] = {
	[CND_SWITCH_AUTO] = "auto", [CND_SWITCH_ON] = "on", [CND_SWITCH_OFF] = "off", NULL
};

static int
parse_switch(struct cnd_loader *l, void *field, const char *value)
{
	return parse_word(l, field, value, switch_words);
}

static void
print_switch(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(switch_words[*(const int *)field], out);
}

static const char *const target_words[] = {
	[CND_TARGET_ANY] = "any",
	[CND_TARGET_PRIMARY] = "primary",
	[CND_TARGET_REPLICA] = "replica",
	[CND_TARGET_PREFER_REPLICA] = "prefer-replica",
	NULL,
};

static int
parse_target(struct cnd_loader *l, void *field, const char *value)
{
	return parse_word(l, field, value, target_words);
}

static void
print_target(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(target_words[*(const int *)field], out);
}

static const char *const yes_words[] = { "no", "yes", NULL };

static int
parse_yes(struct cnd_loader *l, void *field, const char *value)
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
parse_reset(struct cnd_loader *l, void *field, const char *value)
{
	if (strcmp(value, "server") == 0)
		*(int *)field = CND_RESET_SERVER;
	else if (strcmp(value, "reconnect") == 0)
		*(int *)field = CND_RESET_RECONNECT;
	else
		return cnd_config_bad(
			l, "\"%s\" is not a reset; write server or reconnect", value);
	return 0;
}

static void
print_reset(const void *field, FILE *out, int show_secrets)
{
	(void)show_secrets;
	fputs(*(const int *)field == CND_RESET_SERVER ? "server" : "reconnect", out);
}

static int
allow_one(struct cnd_loader *l, struct cnd_pool_config *p, const char *name)
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
			return cnd_config_bad(l, "there is no unix user \"%s\"", name);
		id = pw->pw_uid;
	}
	p->allow =
		cnd_config_must(realloc(p->allow, (p->n_allow + 1) * sizeof(*p->allow)));
	p->allow[p->n_allow++] = (uid_t)id;
	return 0;
}

static int
parse_users(struct cnd_loader *l, void *field, const char *value)
{
	struct cnd_pool_config *p = field;
	char *copy = cnd_config_dup(value);
	char *rest = copy;
	int r = 0;

	free(p->allow_users);
	p->allow_users = cnd_config_dup(value);
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

static int
parse_rate(struct cnd_loader *l, void *field, const char *value)
{
	return cnd_rate_parse(value, field) == 0 ? 0
						 : cnd_config_bad(l,
							   "\"%s\" is not a rate; write "
							   "N/s or N/min, or 0 for none",
							   value);
}

static void
print_rate(const void *field, FILE *out, int show_secrets)
{
	char text[CND_UNITS_TEXT_MAX];

	(void)show_secrets;
	fputs(cnd_rate_text(field, text), out);
}

/* ---- the table ---- */

const struct cnd_kind cnd_kind_text = { parse_text, print_text };
const struct cnd_kind cnd_kind_notify = { parse_text, print_notify };
const struct cnd_kind cnd_kind_ms = { parse_ms, print_ms };
const struct cnd_kind cnd_kind_cache_size = { parse_cache_size, print_size };
const struct cnd_kind cnd_kind_frame_size = { parse_frame_size, print_size };
const struct cnd_kind cnd_kind_slots = { parse_slots, print_u32 };
const struct cnd_kind cnd_kind_workers = { parse_workers, print_u32 };
const struct cnd_kind cnd_kind_level = { parse_level, print_level };
const struct cnd_kind cnd_kind_log_format = { parse_log_format, print_log_format };
const struct cnd_kind cnd_kind_socket_mode = { parse_socket_mode, print_socket_mode };
const struct cnd_kind cnd_kind_sessions = { parse_sessions, print_sessions };
const struct cnd_kind cnd_kind_mode = { parse_mode, print_mode };
const struct cnd_kind cnd_kind_lend = { parse_lend, print_lend };
const struct cnd_kind cnd_kind_reset = { parse_reset, print_reset };
const struct cnd_kind cnd_kind_rules = { parse_rules, print_rules };
const struct cnd_kind cnd_kind_hours = { parse_hours, NULL };
const struct cnd_kind cnd_kind_query_rules = { parse_query_rules, NULL };
const struct cnd_kind cnd_kind_errors = { parse_errors, NULL };
const struct cnd_kind cnd_kind_program_sql = { parse_program_sql, print_program_sql };
const struct cnd_kind cnd_kind_users = { parse_users, print_users };
const struct cnd_kind cnd_kind_target = { parse_target, print_target };
const struct cnd_kind cnd_kind_switch = { parse_switch, print_switch };
const struct cnd_kind cnd_kind_yes = { parse_yes, print_yes };
const struct cnd_kind cnd_kind_listen = { parse_listen, NULL };
const struct cnd_kind cnd_kind_stats_listen = { parse_stats_listen, NULL };
const struct cnd_kind cnd_kind_allow = { parse_allow, print_allow };
const struct cnd_kind cnd_kind_deny = { parse_deny, print_deny };
const struct cnd_kind cnd_kind_rate = { parse_rate, print_rate };
