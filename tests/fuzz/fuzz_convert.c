/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <ctype.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"
#include "convert.h"

#define USERS         "/fuzz/users"
#define NO_USERS_FILE "users /fuzz/users"

/* The error says that this machine lacks a user, a group, a file or a backend that the text names. */
static int
is_of_machine(const char *error)
{
	static const char *const texts[] = { "there is no unix user",
		"only root can become", "there is no unix group", NO_USERS_FILE, " tls_",
		"this build of cenoted has no" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strstr(error, texts[i]) != NULL)
			return 1;
	}
	return 0;
}

/* Write the lines to a file in memory, without `listen`: cenoted would ask the resolver for its address. */
static int
write_lines(const char *text)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0);
	while (*text != '\0') {
		size_t n = strcspn(text, "\n") + 1;

		for (size_t i = 0; i + 1 < n; i++)
			FUZZ_CHECK(!iscntrl((unsigned char)text[i]));
		if (strncmp(text, "listen ", 7) != 0)
			FUZZ_CHECK(write(fd, text, n) == (ssize_t)n);
		text += n;
	}
	return fd;
}

/* cenoted accepts the result, and finds the same pools in it. */
static void
check_result(const struct draft *d, const char *text)
{
	int fd = write_lines(text);
	struct cnd_config *c;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	c = cnd_config_load(path);
	close(fd);
	for (size_t i = 0; i < c->n_errors; i++) {
		if (!is_of_machine(c->errors[i]))
			fprintf(stderr, "%s\n%s", c->errors[i], text);
		FUZZ_CHECK(is_of_machine(c->errors[i]));
	}
	FUZZ_CHECK(c->n_pools == d->n_pools);
	for (size_t i = 0; i < c->n_pools; i++)
		FUZZ_CHECK(strcmp(c->pools[i].name, d->names[i]) == 0);
	cnd_config_destroy(c);
}

/* Any text becomes a cenoted.conf that cenoted accepts, or there is a note. Notes have no control characters except newlines. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct draft d = { .users_path = size % 2 == 0 ? NULL : USERS };
	struct text out = { 0 };
	char *text;
	int r;

	if (size > 8192 || memchr(data, 0, size) != NULL)
		return 0;
	text = mem_dup((const char *)data, size);
	text_add_str(&d.daemon, "run_dir = /fuzz\n");
	r = convert_text(&d, "file", text, size);
	for (size_t i = 0; i < d.notes.len; i++)
		FUZZ_CHECK(d.notes.data[i] == '\n' ||
			   !iscntrl((unsigned char)d.notes.data[i]));
	if (r == 0) {
		draft_print(&d, "file", &out);
		check_result(&d, text_str(&out));
	} else {
		FUZZ_CHECK(d.n_notes > 0);
	}
	text_finish(&out);
	free(text);
	draft_finish(&d);
	return 0;
}
