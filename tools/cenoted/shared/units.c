/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read and print times, sizes and numbers, and find the word that a mistyped one probably means.
 * Pure functions; the configuration and log messages use them.
 */
#include "units.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/near.h"

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit times[] = {
	{ "d", 86400000 },
	{ "h", 3600000 },
	{ "min", 60000 },
	{ "s", 1000 },
	{ "ms", 1 },
};

static const struct unit sizes[] = {
	{ "GB", 1024u * 1024u * 1024u },
	{ "MB", 1024u * 1024u },
	{ "kB", 1024u },
	{ "B", 1 },
};

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* Read digits at the front of the text. -1: there are none, or the number is above max. */
static int
digits(const char *text, uint64_t max, uint64_t *ret_value, const char **ret_rest)
{
	uint64_t value = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (value > (max - digit) / 10)
			return -1;
		value = value * 10 + digit;
	}
	if (p == text)
		return -1;
	*ret_value = value;
	*ret_rest = p;
	return 0;
}

static int
with_unit(const char *text, const struct unit *units, size_t n, uint64_t *ret_value)
{
	uint64_t value;
	const char *rest;

	if (digits(text, INT64_MAX / 86400000, &value, &rest) < 0)
		return -1;
	if (*rest == '\0' && value == 0) {
		*ret_value = 0;
		return 0;
	}
	while (*rest == ' ')
		rest++;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(rest, units[i].name) == 0) {
			*ret_value = value * units[i].factor;
			return 0;
		}
	}
	return -1;
}

static const char *
unit_text(
	uint64_t value, const struct unit *units, size_t n, char out[CND_UNITS_TEXT_MAX])
{
	size_t i = 0;

	if (value == 0) {
		snprintf(out, CND_UNITS_TEXT_MAX, "0");
		return out;
	}
	while (i + 1 < n && value % units[i].factor != 0)
		i++;
	snprintf(out, CND_UNITS_TEXT_MAX, "%llu%s",
		(unsigned long long)(value / units[i].factor), units[i].name);
	return out;
}

int
cnd_ms_parse(const char *text, int64_t *ret_ms)
{
	uint64_t value;

	if (with_unit(text, times, N_ITEMS(times), &value) < 0)
		return -1;
	*ret_ms = (int64_t)value;
	return 0;
}

const char *
cnd_ms_text(int64_t ms, char out[CND_UNITS_TEXT_MAX])
{
	return unit_text((uint64_t)ms, times, N_ITEMS(times), out);
}

int
cnd_size_parse(const char *text, uint64_t *ret_size)
{
	return with_unit(text, sizes, N_ITEMS(sizes), ret_size);
}

const char *
cnd_size_text(uint64_t size, char out[CND_UNITS_TEXT_MAX])
{
	return unit_text(size, sizes, N_ITEMS(sizes), out);
}

int
cnd_number_parse(const char *text, uint64_t max, uint64_t *ret_value)
{
	uint64_t value;
	const char *rest;

	if (digits(text, max, &value, &rest) < 0 || *rest != '\0')
		return -1;
	*ret_value = value;
	return 0;
}

int
cnd_rate_parse(const char *text, struct cnd_rate *ret_rate)
{
	const char *slash = strchr(text, '/');
	char number[16];
	uint64_t n;
	size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);

	if (len >= sizeof(number))
		return -1;
	snprintf(number, sizeof(number), "%.*s", (int)len, text);
	if (cnd_number_parse(number, CND_RATE_MAX, &n) < 0 || (n == 0) != (slash == NULL))
		return -1;
	if (slash != NULL && strcmp(slash, "/s") != 0 && strcmp(slash, "/min") != 0)
		return -1;
	*ret_rate = (struct cnd_rate){ (uint32_t)n,
		slash != NULL && strcmp(slash, "/min") == 0 ? 60 : 1 };
	return 0;
}

const char *
cnd_rate_text(const struct cnd_rate *rate, char out[CND_UNITS_TEXT_MAX])
{
	snprintf(out, CND_UNITS_TEXT_MAX, rate->n > 0 ? "%u/%s" : "%u", rate->n,
		rate->per_s == 1 ? "s" : "min");
	return out;
}

/* Keys that mean the same in the configurations of different servers. */
static const char *const synonyms[][5] = {
	{ "database", "dbname", "db", "catalog" },
	{ "host", "hostname", "hostaddr", "server", "address" },
	{ "password", "passwd", "pwd", "pass" },
	{ "path", "file", "filename", "dbfile" },
	{ "user", "username", "uid", "login" },
};

/* The index of the group with this word; N_ITEMS(synonyms): none. */
static size_t
group_of(const char *word)
{
	size_t i, j;

	for (i = 0; i < N_ITEMS(synonyms); i++) {
		for (j = 0; j < N_ITEMS(synonyms[i]) && synonyms[i][j] != NULL; j++) {
			if (strcasecmp(word, synonyms[i][j]) == 0)
				return i;
		}
	}
	return i;
}

static size_t
distance_or_synonym(const char *a, const char *b)
{
	size_t group = group_of(a);

	return group < N_ITEMS(synonyms) && group == group_of(b)
		       ? 0
		       : cnc_near_distance(a, strlen(a), b, strlen(b));
}

const char *
cnd_nearest(const char *word, const void *names, size_t n_names, size_t stride)
{
	const char *nearest = NULL;
	size_t best = cnc_near_limit(strlen(word)) + 1;

	for (size_t i = 0; i < n_names; i++) {
		const char *name;
		size_t d;

		memcpy(&name, (const char *)names + i * stride, sizeof(name));
		d = distance_or_synonym(word, name);
		if (d < best) {
			best = d;
			nearest = name;
		}
	}
	return nearest;
}
