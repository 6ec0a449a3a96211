/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "auth/rules.h"
#include "auth/users.h"

static char *
print_rules(const struct cnd_rules *rules)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	FUZZ_CHECK(out);
	cnd_rules_print(rules, out);
	FUZZ_CHECK(fclose(out) == 0);
	return text;
}

/* Accepted rules print and read back the same, and decide every login. */
static void
try_rules(const char *text)
{
	struct cnd_rules rules = { .list = NULL }, again = { .list = NULL };
	const struct cnd_arrival a = { .user = "user", .has_tls = 1 };
	char error[CND_RULES_ERROR_MAX] = "";
	char *one, *other;

	if (cnd_rules_parse(&rules, text, 1, error) == 0) {
		one = print_rules(&rules);
		FUZZ_CHECK(cnd_rules_parse(&again, one, 1, error) == 0);
		other = print_rules(&again);
		FUZZ_CHECK(strcmp(one, other) == 0 && rules.n == again.n);
		(void)cnd_rules_match(&rules, &a);
		(void)cnd_rules_logins(&rules, CND_DOOR_TCP, 1);
		free(one);
		free(other);
	} else {
		FUZZ_CHECK(error[0] != '\0');
	}
	cnd_rules_destroy(&rules);
	cnd_rules_destroy(&again);
}

static void
try_users(const char *text, size_t n)
{
	struct cnd_lines lines;
	struct cnd_users u;

	cnd_lines_take(&lines, text, n);
	if (cnd_users_read(&u, &lines) == 0) {
		for (size_t i = 0; i < u.n; i++)
			FUZZ_CHECK(cnd_users_find(&u, u.list[i].name) == &u.list[i]);
	} else {
		FUZZ_CHECK(lines.error[0] != '\0');
	}
	cnd_users_destroy(&u);
	cnd_lines_close(&lines);
}

static void
try_map(const char *text, size_t n)
{
	struct cnd_lines lines;
	struct cnd_map m;

	cnd_lines_take(&lines, text, n);
	if (cnd_map_read(&m, &lines) == 0) {
		for (size_t i = 0; i < m.n; i++)
			FUZZ_CHECK(cnd_map_has(&m, m.list[i].name, m.list[i].user));
	} else {
		FUZZ_CHECK(lines.error[0] != '\0');
	}
	cnd_map_destroy(&m);
	cnd_lines_close(&lines);
}

/* The first letter says what the text is: rules, users or a map. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size == 0)
		return 0;
	text = calloc(1, size);
	FUZZ_CHECK(text);
	memcpy(text, data + 1, size - 1);
	if (*data == 'r')
		try_rules(text);
	else if (*data == 'u')
		try_users(text, size - 1);
	else
		try_map(text, size - 1);
	free(text);
	return 0;
}
