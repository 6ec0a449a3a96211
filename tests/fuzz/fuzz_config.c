/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"

static struct cnd_config *
load(const void *bytes, size_t n)
{
	struct cnd_config *c;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	c = cnd_config_load(path);
	close(fd);
	FUZZ_CHECK(c);
	for (size_t i = 0; i < c->n_errors; i++)
		FUZZ_CHECK(strncmp(c->errors[i], path, strlen(path)) == 0);
	return c;
}

static char *
print(const struct cnd_config *c, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	FUZZ_CHECK(out);
	cnd_config_print(c, out);
	FUZZ_CHECK(fclose(out) == 0);
	return text;
}

/* An accepted configuration is in bounds. Printed and read again, it prints the same. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnd_config *c = load(data, size), *again;
	char *text, *text_again;
	size_t n, n_again;

	if (c->n_errors == 0) {
		FUZZ_CHECK(c->n_pools <= CND_CONFIG_POOLS);
		for (size_t i = 0; i < c->n_pools; i++)
			FUZZ_CHECK(c->pools[i].max_sessions >= 1 &&
				   c->pools[i].min_sessions <= c->pools[i].max_sessions &&
				   strlen(c->pools[i].name) <= CND_POOL_NAME_MAX);
		text = print(c, &n);
		again = load(text, n);
		FUZZ_CHECK(again->n_errors == 0 && again->n_pools == c->n_pools);
		text_again = print(again, &n_again);
		FUZZ_CHECK(n == n_again && memcmp(text, text_again, n) == 0);
		free(text_again);
		cnd_config_destroy(again);
		free(text);
	}
	cnd_config_destroy(c);
	return 0;
}
