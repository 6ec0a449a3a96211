/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/tls.h"

#define HOUR_MS ((int64_t)3600 * 1000)

/* Run f in a child; f returns 0 for success. */
static void
in_a_child(int (*f)(const struct cnd_tls_tickets *t), const struct cnd_tls_tickets *t)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(f(t));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static size_t
size_of_keys(void)
{
	return cn_crypto_get(CN_CRYPTO_ABI)->tls->tickets_size();
}

/* A child does not have the master's mapping, and has no other way to write the keys. */
static int
try_to_write(const struct cnd_tls_tickets *t)
{
	size_t size = size_of_keys();
	const void *keys;
	uint8_t byte = 0;

	if (msync(t->keys, size, MS_ASYNC) == 0 || errno != ENOMEM)
		return 1;
	keys = cnd_tls_tickets_map(t);
	if (keys == NULL)
		return 2;
	if (mprotect((void *)(uintptr_t)keys, size, PROT_READ | PROT_WRITE) == 0)
		return 3;
	if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0) != MAP_FAILED)
		return 4;
	if (pwrite(t->fd, &byte, 1, 0) >= 0 || ftruncate(t->fd, 0) == 0)
		return 5;
	return 0;
}

static void
children_read_the_keys_and_cannot_write_them(void **state)
{
	struct cnd_tls_tickets t = { .keys = NULL };

	cnd_tls_tickets_create(&t, 0);
	assert_non_null(t.keys);
	in_a_child(try_to_write, &t);
	cnd_tls_tickets_destroy(&t);
	assert_null(t.keys);
	assert_null(cnd_tls_tickets_map(&t));
}

static void
a_new_key_reaches_who_has_mapped_them(void **state)
{
	struct cnd_tls_tickets t = { .keys = NULL };
	size_t size = size_of_keys();
	const void *seen;
	uint8_t before[4096];

	assert_in_range(size, 1, sizeof(before));
	cnd_tls_tickets_create(&t, 0);
	seen = cnd_tls_tickets_map(&t);
	assert_non_null(seen);
	memcpy(before, seen, size);
	/* the keys stay until it is time for new ones */
	cnd_tls_tickets_create(&t, HOUR_MS - 1);
	assert_int_equal(cnd_tls_tickets_tend(&t, HOUR_MS - 1), HOUR_MS);
	assert_memory_equal(seen, before, size);
	assert_int_equal(cnd_tls_tickets_tend(&t, HOUR_MS), 2 * HOUR_MS);
	assert_memory_not_equal(seen, before, size);
	/* a reader's mapping outlives the master's */
	memcpy(before, seen, size);
	cnd_tls_tickets_destroy(&t);
	assert_memory_equal(seen, before, size);
	assert_int_equal(cnd_tls_tickets_tend(&t, 5 * HOUR_MS), INT64_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_read_the_keys_and_cannot_write_them),
		cmocka_unit_test(a_new_key_reaches_who_has_mapped_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
