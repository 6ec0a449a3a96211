/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <string.h>
#include <strings.h>

#include "core/near.h"
#include "core/sqlstate.h"
#include "core/traceparent.h"
#include "protocol/frame.h"

/*
 * The options of a connection: one table with names, defaults and checks. conn.c and
 * uri.c set them; the rest of the library reads conn->options.
 */

/* Servers refuse a client that accepts only shorter frames. */
#define MAX_FRAME_LOW 65536u

struct option_spec {
	const char *name;
	const char *value; /* the default */
	uint64_t number; /* `value` as a number */
	int (*parse)(const struct option_spec *spec, const char *text, uint64_t *ret_n);
	const char *allowed; /* the allowed values, for the message */
	const char *choices[7];
};

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit time_units[] = {
	{ "ms", 1 },
	{ "s", 1000 },
	{ "min", 60000 },
	{ "h", 3600000 },
	{ NULL, 0 },
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "kB", 1024 },
	{ "MB", 1048576 },
	{ "GB", 1073741824 },
	{ NULL, 0 },
};

/* Parse digits and a unit; `max` is the limit of the product. */
static int
parse_quantity(
	const char *text, const struct unit *units, uint64_t max, uint64_t *ret_value)
{
	uint64_t n = 0;
	size_t i = 0;

	for (; text[i] >= '0' && text[i] <= '9'; i++) {
		n = n * 10 + (uint64_t)(text[i] - '0');
		if (n > max)
			return CENOTE_ERR_ARG;
	}
	if (i == 0)
		return CENOTE_ERR_ARG;
	if (n == 0 && text[i] == '\0') {
		*ret_value = 0;
		return CENOTE_OK;
	}
	for (; units->name; units++) {
		if (strcasecmp(text + i, units->name) != 0)
			continue;
		if (n > max / units->factor)
			return CENOTE_ERR_ARG;
		*ret_value = n * units->factor;
		return CENOTE_OK;
	}
	return CENOTE_ERR_ARG;
}

static int
parse_duration(const struct option_spec *spec, const char *text, uint64_t *ret_n)
{
	(void)spec;
	return parse_quantity(text, time_units, INT32_MAX, ret_n);
}

static int
parse_size(const struct option_spec *spec, const char *text, uint64_t *ret_n)
{
	uint64_t n;
	int r;

	(void)spec;
	r = parse_quantity(text, size_units, CNP_FRAME_MAX, &n);
	if (r < 0)
		return r;
	if (n < MAX_FRAME_LOW)
		return CENOTE_ERR_ARG;
	*ret_n = n;
	return CENOTE_OK;
}

static int
parse_port(const struct option_spec *spec, const char *text, uint64_t *ret_n)
{
	static const struct unit none[] = { { "", 1 }, { NULL, 0 } };
	uint64_t n;

	(void)spec;
	if (parse_quantity(text, none, 65535, &n) < 0 || n == 0)
		return CENOTE_ERR_ARG;
	*ret_n = n;
	return CENOTE_OK;
}

static int
parse_choice(const struct option_spec *spec, const char *text, uint64_t *ret_n)
{
	for (uint64_t i = 0; spec->choices[i]; i++) {
		if (strcmp(spec->choices[i], text) == 0) {
			*ret_n = i;
			return CENOTE_OK;
		}
	}
	return CENOTE_ERR_ARG;
}

/* An empty text is none, as with the other texts. */
static int
parse_traceparent(const struct option_spec *spec, const char *text, uint64_t *ret_n)
{
	struct cnc_traceparent parsed;

	(void)spec;
	(void)ret_n;
	return *text == '\0' || cnc_traceparent_parse(text, strlen(text), &parsed)
		       ? CENOTE_OK
		       : CENOTE_ERR_ARG;
}

/* A relative path would mean another directory after chdir(). An empty text means no directory. */
static int
parse_directory(const struct option_spec *spec, const char *text, uint64_t *ret_n)
{
	(void)spec;
	(void)ret_n;
	return *text == '\0' || *text == '/' ? CENOTE_OK : CENOTE_ERR_ARG;
}

#define DURATION "a time such as 10s, 500ms, 2min, or 0 for no limit"

/* In the order of enum cn_option. */
static const struct option_spec specs[CN_OPTION_COUNT] = {
	{ "pool", "", 0, NULL, NULL, { NULL } },
	{ "host", "", 0, NULL, NULL, { NULL } },
	{ "port", "9432", 9432, parse_port, "a number from 1 to 65535", { NULL } },
	{ "hosts", "ordered", 0, parse_choice, "ordered or random",
		{ "ordered", "random", NULL } },
	{ "run_dir", "", 0, NULL, NULL, { NULL } },
	{ "user", "", 0, NULL, NULL, { NULL } },
	{ "password", "", 0, NULL, NULL, { NULL } },
	{ "database", "", 0, NULL, NULL, { NULL } },
	{ "program", "", 0, NULL, NULL, { NULL } },
	{ "application_name", "", 0, NULL, NULL, { NULL } },
	{ "traceparent", "", 0, parse_traceparent,
		"a W3C traceparent: 00-, 32 hexadecimal digits that are not all 0, -, 16 "
		"such digits, -, 2 digits; in lower case",
		{ NULL } },
	{ "connect_timeout", "60s", 60000, parse_duration, DURATION, { NULL } },
	{ "query_timeout", "0", 0, parse_duration, DURATION, { NULL } },
	{ "reattach_timeout", "30s", 30000, parse_duration, DURATION, { NULL } },
	{ "reattach", "yes", CN_REATTACH_YES, parse_choice, "yes, no or planned",
		{ "no", "yes", "planned", NULL } },
	{ "max_frame", "1073741823", CNP_FRAME_MAX, parse_size,
		"a size such as 64MB, from 64kB to 1GB less 1", { NULL } },
	{ "allow_files", "no", 0, parse_choice, "yes or no", { "no", "yes", NULL } },
	{ "tls", "auto", CN_TLS_AUTO, parse_choice,
		"auto, disable, allow, require, verify-ca or verify-full",
		{ "auto", "disable", "allow", "require", "verify-ca", "verify-full",
			NULL } },
	{ "ca", "", 0, NULL, NULL, { NULL } },
	{ "ca_path", "", 0, NULL, NULL, { NULL } },
	{ "cert", "", 0, NULL, NULL, { NULL } },
	{ "key", "", 0, NULL, NULL, { NULL } },
	{ "crl", "", 0, NULL, NULL, { NULL } },
	{ "tls_min", "1.2", 0, parse_choice, "1.2 or 1.3", { "1.2", "1.3", NULL } },
	{ "ciphers", "", 0, NULL, NULL, { NULL } },
	{ "groups", "", 0, NULL, NULL, { NULL } },
	{ "sni", "", 0, NULL, NULL, { NULL } },
	{ "borrow", "auto", CN_BORROW_AUTO, parse_choice, "auto or no",
		{ "auto", "no", NULL } },
	{ "cache", "", 0, parse_directory, "the absolute path of a directory", { NULL } },
	{ "cache_ttl", "60s", 60000, parse_duration, DURATION, { NULL } },
};

void
cn_options_init(struct cn_options *o, const struct cenote_allocator *mem)
{
	o->mem = mem;
	for (int i = 0; i < CN_OPTION_COUNT; i++) {
		o->text[i] = NULL;
		o->number[i] = specs[i].number;
	}
}

static void
drop_text(struct cn_options *o, int option)
{
	if (option == CN_OPTION_PASSWORD && o->text[option])
		cnc_wipe(o->text[option], strlen(o->text[option]));
	cnc_free(o->mem, o->text[option]);
	o->text[option] = NULL;
}

void
cn_options_finish(struct cn_options *o)
{
	for (int i = 0; i < CN_OPTION_COUNT; i++) {
		if (o->text[i])
			drop_text(o, i);
	}
}

int
cn_options_copy(struct cn_options *to, const struct cn_options *from)
{
	for (int i = 0; i < CN_OPTION_COUNT; i++) {
		if (from->text[i]) {
			to->text[i] = cnc_strndup(
				to->mem, from->text[i], strlen(from->text[i]));
			if (!to->text[i]) {
				cn_options_finish(to);
				return CENOTE_ERR_NOMEM;
			}
		}
		to->number[i] = from->number[i];
	}
	return CENOTE_OK;
}

int
cn_option_find(const char *name, size_t len)
{
	for (int i = 0; len > 0 && i < CN_OPTION_COUNT; i++) {
		const char *own = specs[i].name;

		if (*own == *name && strncmp(own, name, len) == 0 && own[len] == '\0')
			return i;
	}
	return -1;
}

const char *
cn_option_name(int option)
{
	return specs[option].name;
}

int
cn_options_set(struct cn_options *o, int option, const char *value, struct cnc_diag *diag)
{
	const struct option_spec *spec = &specs[option];
	uint64_t number = 0;
	char *copy;

	if (!value) {
		drop_text(o, option);
		o->number[option] = spec->number;
		return CENOTE_OK;
	}
	if (strlen(value) > CN_OPTION_VALUE_MAX) {
		cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER),
			"option %s: the value is longer than %u bytes", spec->name,
			CN_OPTION_VALUE_MAX);
		return CENOTE_ERR_ARG;
	}
	if (spec->parse && spec->parse(spec, value, &number) < 0) {
		cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER),
			"option %s: \"%.100s\" is not %s", spec->name, value,
			spec->allowed);
		return CENOTE_ERR_ARG;
	}
	copy = cnc_strndup(o->mem, value, strlen(value));
	if (!copy) {
		cnc_diag_set(diag, CNC_SQLSTATE(MEMORY), "out of memory");
		return CENOTE_ERR_NOMEM;
	}
	drop_text(o, option);
	o->text[option] = copy;
	o->number[option] = number;
	return CENOTE_OK;
}

/* The option with the most similar name, if it is similar enough; else NULL. */
static const char *
nearest_name(const char *name, size_t len)
{
	const char *nearest = NULL;
	size_t best = cnc_near_limit(len) + 1;

	for (int i = 0; i < CN_OPTION_COUNT; i++) {
		size_t d = cnc_near_distance(
			name, len, specs[i].name, strlen(specs[i].name));

		if (d < best) {
			best = d;
			nearest = specs[i].name;
		}
	}
	return nearest;
}

int
cn_options_set_named(struct cn_options *o, const char *name, size_t name_len,
	const char *value, struct cnc_diag *diag)
{
	int option = cn_option_find(name, name_len);
	const char *near;

	if (option >= 0)
		return cn_options_set(o, option, value, diag);
	near = nearest_name(name, name_len);
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER),
		near ? "there is no option \"%.*s\"; is %s meant?"
		     : "there is no option \"%.*s\"",
		(int)cnc_utf8_cut(name, name_len, 60), name, near);
	return CENOTE_ERR_ARG;
}

const char *
cn_options_get(const struct cn_options *o, int option)
{
	return o->text[option] ? o->text[option] : specs[option].value;
}
