/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys of a `server` line. session.c calls this file at login. It has no state.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sqlite.h"

struct option_def {
	const char *key;
	const char *allowed;
	/* Returns CENOTE_OK or CENOTE_ERR_CONVERT. */
	int (*set)(struct cnd_sq_options *o, const char *value);
};

static int
one_of(const char *value, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (strcasecmp(value, words[i]) == 0)
			return (int)i;
	}
	return -1;
}

/* A unit that may follow a number. The number is multiplied by the factor. */
struct unit {
	const char *name;
	int64_t factor;
};

static int
read_number(
	const char *value, const struct unit *units, size_t n_units, int64_t *ret_value)
{
	char *end;
	long long v;
	size_t i;

	if (*value != '-' && (*value < '0' || *value > '9'))
		return CENOTE_ERR_CONVERT;
	v = strtoll(value, &end, 10);
	if (end == value || v > 1000000000000 || v < -1000000000000)
		return CENOTE_ERR_CONVERT;
	for (i = 0; i < n_units; i++) {
		if (strcasecmp(end, units[i].name) == 0) {
			*ret_value = v * units[i].factor;
			return CENOTE_OK;
		}
	}
	return CENOTE_ERR_CONVERT;
}

static int
set_path(struct cnd_sq_options *o, const char *value)
{
	/* Each worker would have a private database, so a client would not always get the same one. */
	if (*value == 0 || strcmp(value, ":memory:") == 0 ||
		strncasecmp(value, "file:", 5) == 0)
		return CENOTE_ERR_CONVERT;
	o->path = value;
	return CENOTE_OK;
}

static int
set_mode(struct cnd_sq_options *o, const char *value)
{
	static const char *const words[] = { "ro", "rw", "rwc" };
	int i = one_of(value, words, 3);

	if (i < 0)
		return CENOTE_ERR_CONVERT;
	o->mode = (enum cnd_sq_mode)i;
	return CENOTE_OK;
}

static int
set_busy_timeout(struct cnd_sq_options *o, const char *value)
{
	static const struct unit units[] = { { "ms", 1 }, { "s", 1000 },
		{ "min", 60000 } };
	int64_t v = 0;

	if (strcmp(value, "0") != 0 && read_number(value, units, 3, &v) < 0)
		return CENOTE_ERR_CONVERT;
	if (v < 0 || v > INT32_MAX)
		return CENOTE_ERR_CONVERT;
	o->busy_timeout_ms = v;
	return CENOTE_OK;
}

static int
set_journal_mode(struct cnd_sq_options *o, const char *value)
{
	static const char *const words[] = { "wal", "delete", "truncate", "persist" };
	int i = one_of(value, words, 4);

	if (i < 0)
		return CENOTE_ERR_CONVERT;
	o->journal_mode = words[i];
	return CENOTE_OK;
}

static int
set_synchronous(struct cnd_sq_options *o, const char *value)
{
	static const char *const words[] = { "off", "normal", "full", "extra" };
	int i = one_of(value, words, 4);

	if (i < 0)
		return CENOTE_ERR_CONVERT;
	o->synchronous = words[i];
	return CENOTE_OK;
}

static int
set_flag(int *flag, const char *value)
{
	static const char *const words[] = { "off", "on", "no", "yes", "false", "true",
		"0", "1" };
	int i = one_of(value, words, 8);

	if (i < 0)
		return CENOTE_ERR_CONVERT;
	*flag = i & 1;
	return CENOTE_OK;
}

static int
set_foreign_keys(struct cnd_sq_options *o, const char *value)
{
	return set_flag(&o->foreign_keys, value);
}

static int
set_attach(struct cnd_sq_options *o, const char *value)
{
	return set_flag(&o->attach, value);
}

static int
set_cache_size(struct cnd_sq_options *o, const char *value)
{
	/* SQLite's own unit is pages, or kB if the number is negative. */
	static const struct unit units[] = { { "", 1 }, { "kB", -1 }, { "MB", -1024 },
		{ "GB", -1024L * 1024 } };
	int64_t v;

	if (read_number(value, units, 4, &v) < 0 || v < INT32_MIN || v > INT32_MAX)
		return CENOTE_ERR_CONVERT;
	o->cache_size = v;
	return CENOTE_OK;
}

static int
set_statement_cache(struct cnd_sq_options *o, const char *value)
{
	static const struct unit units[] = { { "", 1 } };
	int64_t v;

	if (read_number(value, units, 1, &v) < 0 || v < 0 || v > 100000)
		return CENOTE_ERR_CONVERT;
	o->statement_cache = v;
	return CENOTE_OK;
}

static const struct option_def defs[] = {
	{ "path", "the path of a database file (a memory database cannot be pooled)",
		set_path },
	{ "mode", "ro, rw or rwc", set_mode },
	{ "busy_timeout", "a time of at most 24 days, such as 500ms or 5s",
		set_busy_timeout },
	{ "journal_mode", "wal, delete, truncate or persist", set_journal_mode },
	{ "synchronous", "off, normal, full or extra", set_synchronous },
	{ "foreign_keys", "on or off", set_foreign_keys },
	{ "cache_size", "a size, such as 64MB, or a number of pages", set_cache_size },
	{ "statement_cache", "a number of statements from 0 to 100000",
		set_statement_cache },
	{ "attach", "yes or no", set_attach },
};

#define N_DEFS (sizeof(defs) / sizeof(defs[0]))

static const struct option_def *
find_def(const char *key)
{
	size_t i;

	for (i = 0; i < N_DEFS; i++) {
		if (strcmp(defs[i].key, key) == 0)
			return &defs[i];
	}
	return NULL;
}

static int
set_one(struct cnd_sq_options *o, const struct cnd_option *given, struct cnc_diag *diag)
{
	const struct option_def *def = find_def(given->key);

	if (!def) {
		cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER),
			"unknown key \"%s\" for SQLite: allowed are path, mode, "
			"busy_timeout, "
			"journal_mode, synchronous, foreign_keys, cache_size, "
			"statement_cache and attach",
			given->key);
		return CENOTE_ERR_ARG;
	}
	if (def->set(o, given->value) < 0) {
		cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER),
			"%s=%s is not allowed: it is %s", given->key, given->value,
			def->allowed);
		return CENOTE_ERR_ARG;
	}
	return CENOTE_OK;
}

int
cnd_sq_options_read(const struct cnd_server_spec *spec, struct cnd_sq_options *ret_opt,
	struct cnc_diag *ret_diag)
{
	struct cnd_sq_options o = {
		.mode = CND_SQ_MODE_RWC, .busy_timeout_ms = 5000, .statement_cache = 100
	};
	size_t i;
	int r;

	for (i = 0; i < spec->n_options; i++) {
		r = set_one(&o, &spec->options[i], ret_diag);
		if (r < 0)
			return r;
	}
	if (!o.path) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
			"the key path is missing: the path of the database file");
		return CENOTE_ERR_ARG;
	}
	if (o.mode == CND_SQ_MODE_RO && o.journal_mode) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
			"journal_mode cannot be set together with mode=ro");
		return CENOTE_ERR_ARG;
	}
	if (o.mode != CND_SQ_MODE_RO && !o.journal_mode)
		o.journal_mode = "wal";
	*ret_opt = o;
	return CENOTE_OK;
}

int
cnd_sq_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag)
{
	struct cnd_sq_options o;

	return cnd_sq_options_read(spec, &o, ret_diag);
}
