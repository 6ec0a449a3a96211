/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regular expressions of rules: the only file that knows PCRE2. The conditions compile and match, and the action `rewrite`
 * takes the groups. A pattern owns the memory that its matches need, so a match allocates nothing, and one process must not
 * match the same pattern in two threads. (A fibre does not leave the processor during a match.)
 */
#include "pattern.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* A match that takes more steps than this is given up, after some milliseconds. */
#define STEPS_MAX   100000u
/* The memory of a match: for the interpreter in kilobytes, for compiled code in bytes. The stack of a fibre is too small for
 * it. */
#define HEAP_KB     1024u
#define STACK_BYTES ((size_t)256 * 1024)

struct cnd_pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
};

void
cnd_pattern_destroy(struct cnd_pattern *p)
{
	if (p == NULL)
		return;
	pcre2_jit_stack_free(p->stack);
	pcre2_match_context_free(p->context);
	pcre2_match_data_free(p->data);
	pcre2_code_free(p->code);
	free(p);
}

/* Prepare what the matches need. 0; -1: out of memory. */
static int
prepare(struct cnd_pattern *p)
{
	p->data = pcre2_match_data_create_from_pattern(p->code, NULL);
	p->context = pcre2_match_context_create(NULL);
	if (p->data == NULL || p->context == NULL)
		return -1;
	(void)pcre2_set_match_limit(p->context, STEPS_MAX);
	(void)pcre2_set_depth_limit(p->context, STEPS_MAX);
	(void)pcre2_set_heap_limit(p->context, HEAP_KB);
	/* without compiled code, which some machines do not allow, the interpreter does the same more slowly */
	if (pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE) != 0)
		return 0;
	p->stack = pcre2_jit_stack_create(STACK_BYTES / 8, STACK_BYTES, NULL);
	if (p->stack == NULL)
		return -1;
	pcre2_jit_stack_assign(p->context, NULL, p->stack);
	return 0;
}

int
cnd_pattern_compile(const char *text, struct cnd_pattern **ret_pattern,
	char error[CND_PATTERN_ERROR_MAX])
{
	struct cnd_pattern *p = calloc(1, sizeof(*p));
	PCRE2_UCHAR why[96];
	PCRE2_SIZE at;
	int code;

	snprintf(error, CND_PATTERN_ERROR_MAX, "out of memory");
	if (p == NULL)
		return -1;
	p->code = pcre2_compile(
		(PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
	if (p->code == NULL) {
		pcre2_get_error_message(code, why, sizeof(why));
		snprintf(error, CND_PATTERN_ERROR_MAX, "%s, at byte %zu",
			(const char *)why, (size_t)at + 1);
	}
	if (p->code == NULL || prepare(p) < 0) {
		cnd_pattern_destroy(p);
		return -1;
	}
	*error = '\0';
	*ret_pattern = p;
	return 0;
}

static void
take_captures(const struct cnd_pattern *p, const char *subject, int n_set,
	struct cnd_captures *ret_captures)
{
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(p->data);

	for (unsigned i = 0; i < CND_PATTERN_GROUPS; i++) {
		bool is_set = (int)i < n_set && at[2 * i] != PCRE2_UNSET &&
			      at[2 * i] <= at[2 * i + 1];

		ret_captures->groups[i].p = is_set ? subject + at[2 * i] : NULL;
		ret_captures->groups[i].n = is_set ? at[2 * i + 1] - at[2 * i] : 0;
	}
}

int
cnd_pattern_match(const struct cnd_pattern *p, const char *subject, size_t n,
	struct cnd_captures *ret_captures)
{
	int r = pcre2_match(p->code, (PCRE2_SPTR)subject, n, 0, 0, p->data, p->context);

	if (r == PCRE2_ERROR_NOMATCH)
		return 0;
	if (r <= 0)
		return -1;
	if (ret_captures != NULL)
		take_captures(p, subject, r, ret_captures);
	return 1;
}

unsigned
cnd_pattern_count(const struct cnd_pattern *p)
{
	uint32_t n = 0;

	(void)pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &n);
	return n;
}

unsigned
cnd_pattern_group(const struct cnd_pattern *p, const char *name, size_t n)
{
	char text[33];
	int group;

	if (n == 0 || n >= sizeof(text))
		return 0;
	memcpy(text, name, n);
	text[n] = '\0';
	group = pcre2_substring_number_from_name(p->code, (PCRE2_SPTR)text);
	return group > 0 ? (unsigned)group : 0;
}
