/* SPDX-License-Identifier: BSD-2-Clause */
#include "open_metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_cmocka.h"

#define FAMILIES_MAX 64
#define NAME_MAX_LEN 128

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS  "0123456789"

struct checker {
	const char *line; /* the one that is being checked */
	char shown[128]; /* its beginning, for messages */
	char families[FAMILIES_MAX][NAME_MAX_LEN]; /* in the order of their TYPE lines */
	size_t n_families;
	char type[16]; /* of the last family */
	int has_samples; /* the last family has some */
	double bucket_limit; /* of the bucket before; 0: none */
	long long bucket_count;
};

static void
refuse(const struct checker *c, const char *why)
{
	fail_msg("%s: %s", why, c->shown);
}

/* The length of the name at the beginning of a text. */
static size_t
name_len(const struct checker *c, const char *text)
{
	size_t n = strspn(text, LETTERS DIGITS);

	if (n == 0 || n >= NAME_MAX_LEN || strchr(DIGITS, *text) != NULL)
		refuse(c, "no name");
	return n;
}

static const char *
family(const struct checker *c)
{
	if (c->n_families == 0)
		refuse(c, "no TYPE line before");
	return c->families[c->n_families - 1];
}

static void
begin_family(struct checker *c, const char *text)
{
	size_t n = name_len(c, text);
	char *name = c->families[c->n_families];

	snprintf(name, NAME_MAX_LEN, "%.*s", (int)n, text);
	for (size_t i = 0; i < c->n_families; i++) {
		if (strcmp(c->families[i], name) == 0)
			refuse(c, "a second TYPE line");
	}
	c->n_families++;
	assert_true(c->n_families < FAMILIES_MAX);
	c->has_samples = 0;
	snprintf(c->type, sizeof(c->type), "%.*s", (int)strcspn(text + n + 1, "\n"),
		text + n + 1);
	if (text[n] != ' ' ||
		(strcmp(c->type, "gauge") != 0 && strcmp(c->type, "counter") != 0 &&
			strcmp(c->type, "histogram") != 0 &&
			strcmp(c->type, "info") != 0))
		refuse(c, "an unknown type");
}

/* HELP and UNIT follow the TYPE line of their family, before its samples. */
static void
check_description(const struct checker *c, const char *text, int is_unit)
{
	const char *name = family(c);
	size_t n = name_len(c, text), unit = strcspn(text + n + 1, "\n");

	if (strlen(name) != n || strncmp(text, name, n) != 0 || text[n] != ' ')
		refuse(c, "it describes another family");
	if (c->has_samples)
		refuse(c, "it comes after samples");
	if (is_unit && (unit + 1 > n || name[n - unit - 1] != '_' ||
			       strncmp(name + n - unit, text + n + 1, unit) != 0))
		refuse(c, "the name does not end with the unit");
}

/* Returns the text after the label's value and quote. */
static const char *
check_quoted(const struct checker *c, const char *at)
{
	if (*at++ != '"')
		refuse(c, "no quote");
	for (; *at != '"'; at++) {
		if (*at == '\0' || *at == '\n')
			refuse(c, "the quote does not end");
		if (*at == '\\' && strchr("\\\"n", *++at) == NULL)
			refuse(c, "a wrong escape");
	}
	return at + 1;
}

/* Returns the text after the labels. */
static const char *
check_labels(const struct checker *c, const char *at)
{
	char names[8][NAME_MAX_LEN];
	size_t n = 0;

	if (*at != '{')
		return at;
	do {
		size_t len = name_len(c, ++at);

		assert_true(n < CNT_COUNT(names));
		snprintf(names[n], NAME_MAX_LEN, "%.*s", (int)len, at);
		for (size_t i = 0; i < n; i++) {
			if (strcmp(names[i], names[n]) == 0)
				refuse(c, "a label is there twice");
		}
		n++;
		if (at[len] != '=')
			refuse(c, "no = after a label");
		at = check_quoted(c, at + len + 1);
	} while (*at == ',');
	if (*at != '}')
		refuse(c, "the labels do not end");
	return at + 1;
}

static int
ends_with(const char *text, size_t n, const char *end)
{
	return n > strlen(end) && strncmp(text + n - strlen(end), end, strlen(end)) == 0;
}

/* What the name of a sample has after the family's name. */
static const char *
suffix_of(const char *type, const char *text, size_t n)
{
	if (strcmp(type, "histogram") == 0)
		return ends_with(text, n, "_sum")     ? "_sum"
		       : ends_with(text, n, "_count") ? "_count"
						      : "_bucket";
	return strcmp(type, "counter") == 0 ? "_total"
	       : strcmp(type, "info") == 0  ? "_info"
					    : "";
}

/* Buckets of a histogram have growing limits and counts. The last one is followed by its count. */
static void
check_bucket(struct checker *c, const char *text, size_t n)
{
	const char *at = strstr(text, "le=\"");
	long long count = strtoll(text + strcspn(text, " "), NULL, 10);
	double limit;

	if (strcmp(c->type, "histogram") != 0 || ends_with(text, n, "_sum"))
		return;
	if (ends_with(text, n, "_count")) {
		if (count != c->bucket_count || c->bucket_limit != HUGE_VAL)
			refuse(c, "the count is not that of the bucket +Inf");
		c->bucket_limit = 0;
		c->bucket_count = 0;
		return;
	}
	if (at == NULL || at > text + strcspn(text, "\n")) {
		refuse(c, "a bucket without a limit");
		return;
	}
	limit = strtod(at + 4, NULL);
	if (limit <= c->bucket_limit || count < c->bucket_count)
		refuse(c, "a bucket that does not grow");
	c->bucket_limit = limit;
	c->bucket_count = count;
}

static void
check_sample(struct checker *c, const char *text)
{
	char name[NAME_MAX_LEN + 8];
	size_t n = name_len(c, text);
	const char *labels, *line = text + strcspn(text, "\n");
	char *end;

	snprintf(name, sizeof(name), "%s%s", family(c), suffix_of(c->type, text, n));
	if (strlen(name) != n || strncmp(text, name, n) != 0)
		refuse(c, "a sample of another family");
	check_bucket(c, text, n);
	labels = check_labels(c, text + n);
	if (*labels != ' ')
		refuse(c, "no blank before the value");
	if (strtod(labels + 1, &end) < 0 || end != line || end == labels + 1)
		refuse(c, "no value, or a negative one");
	c->has_samples = 1;
}

/* No other line of the text has the name and labels of this one. */
static void
check_unique(const struct checker *c, const char *text)
{
	const char *space = strstr(c->line, "} ");
	size_t n = space != NULL && space < strchr(c->line, '\n')
			   ? (size_t)(space - c->line) + 2
			   : strcspn(c->line, " ") + 1;

	for (const char *at = text; at < c->line; at += strcspn(at, "\n") + 1) {
		if (strncmp(at, c->line, n) == 0)
			refuse(c, "a sample is there twice");
	}
}

void
om_check(const char *text)
{
	struct checker c = { .line = text };
	const char *next;

	for (const char *at = text;; at = next) {
		c.line = at;
		if (*at == '\0')
			refuse(&c, "no EOF line");
		next = at + strcspn(at, "\n") + 1;
		c.shown[0] = '\0';
		strncat(c.shown, at, sizeof(c.shown) - 1);
		c.shown[strcspn(c.shown, "\n")] = '\0';
		if (strncmp(at, "# EOF\n", 6) == 0)
			break;
		if (strncmp(at, "# TYPE ", 7) == 0) {
			begin_family(&c, at + 7);
		} else if (strncmp(at, "# HELP ", 7) == 0) {
			check_description(&c, at + 7, 0);
		} else if (strncmp(at, "# UNIT ", 7) == 0) {
			check_description(&c, at + 7, 1);
		} else {
			check_sample(&c, at);
			check_unique(&c, text);
		}
	}
	if (*next != '\0')
		refuse(&c, "text after the EOF line");
	assert_true(c.n_families > 0);
}

long long
om_value(const char *text, const char *sample)
{
	size_t n = strlen(sample);

	for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
		if (strncmp(at, sample, n) == 0 && at[n] == ' ')
			return strtoll(at + n + 1, NULL, 10);
	}
	fail_msg("there is no sample %s in %s", sample, text);
	return -1;
}
