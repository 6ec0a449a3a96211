/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PATTERN_H
#define CND_PATTERN_H

#include <stddef.h>

/*
 * Regular expressions (PCRE2) of rules. They are compiled when the configuration is read, since a process in its sandbox may
 * make no memory executable. A match has limits, so that no text of a client makes it run for long.
 */
struct cnd_pattern;

#define CND_PATTERN_ERROR_MAX 160u
/* How many groups struct cnd_captures has: the whole match, and the groups with lower numbers than this. */
#define CND_PATTERN_GROUPS    32u

/* What the groups of a pattern matched. Group 0 is the whole match. */
struct cnd_captures {
	struct {
		const char *
			p; /* part of the subject; NULL: the group took no part in the match */
		size_t n;
	} groups[CND_PATTERN_GROUPS];
};

/* Compile a pattern, which matches bytes and not the characters of UTF-8. 0; or -1, with the error set. */
int cnd_pattern_compile(const char *text, struct cnd_pattern **ret_pattern,
	char error[CND_PATTERN_ERROR_MAX]);
void cnd_pattern_destroy(struct cnd_pattern *p);

/* Match a text. 1: the pattern matches, and *ret_captures is set, unless it is NULL. 0: it does not match. -1: a limit was
 * reached, so it is unknown whether it matches. */
int cnd_pattern_match(const struct cnd_pattern *p, const char *subject, size_t n,
	struct cnd_captures *ret_captures);

/* How many groups the pattern has, without group 0. */
unsigned cnd_pattern_count(const struct cnd_pattern *p);
/* The number of the group of this name; 0: there is none. */
unsigned cnd_pattern_group(const struct cnd_pattern *p, const char *name, size_t n);

#endif
