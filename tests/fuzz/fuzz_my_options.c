/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "shims/libmysql/optionline.h"

struct seen {
	size_t room; /* bytes of the current line */
	unsigned n;
};

/* The name and value of an option lie in its line, and end. */
static int
on_option(void *user, char *key, const char *value)
{
	struct seen *seen = user;

	FUZZ_CHECK(strlen(key) + (value ? strlen(value) : 0) <= seen->room);
	FUZZ_CHECK(strchr(key, '=') == NULL);
	seen->n++;
	return 0;
}

static int
on_include(void *user, const char *kind, const char *path)
{
	struct seen *seen = user;

	FUZZ_CHECK(strlen(kind) + strlen(path) <= seen->room);
	return 0;
}

/* Count the options of the first `end` bytes. Each line has exactly the memory that it needs. */
static unsigned
read_all(const char *text, size_t end)
{
	static const char *const groups[] = { "client", "g", NULL };
	struct seen seen = { 0, 0 };
	struct cmy_option_reader reader = { .groups = groups,
		.on_option = on_option,
		.on_include = on_include,
		.user = &seen };
	int r = 0;

	for (size_t at = 0; at < end && r == 0;) {
		const char *newline = memchr(text + at, '\n', end - at);
		size_t len = newline ? (size_t)(newline - text) + 1 - at : end - at;
		char *line = malloc(len + 1);

		FUZZ_CHECK(line != NULL);
		memcpy(line, text + at, len);
		line[len] = '\0';
		seen.room = len;
		r = cmy_option_line(&reader, line);
		free(line);
		at += len;
	}
	return seen.n;
}

/* One more byte of a file takes away at most one option: that of the line that was cut before. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	unsigned before = 0;

	if (size > 512)
		return 0;
	for (size_t end = 0; end <= size; end++) {
		unsigned n = read_all(text, end);

		FUZZ_CHECK(n + 1 >= before);
		before = n;
	}
	return 0;
}
