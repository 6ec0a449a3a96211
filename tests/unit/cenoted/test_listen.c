/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "config/listen.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

static void
an_address_is_a_host_and_a_port(void **state)
{
	static const struct {
		const char *text;
		const char *normal; /* the address as it is printed; NULL: refused */
		int has_proxy;
	} cases[] = {
		{ "127.0.0.1:9432", "127.0.0.1:9432", 0 },
		{ "[::1]:9432", "[::1]:9432", 0 },
		{ "127.0.0.1:1 proxy=v2", "127.0.0.1:1", 1 },
		{ "127.0.0.1:65535 \t proxy=v2", "127.0.0.1:65535", 1 },
		{ "127.0.0.1", NULL, 0 },
		{ "127.0.0.1:", NULL, 0 },
		{ "127.0.0.1:0", NULL, 0 },
		{ "127.0.0.1:65536", NULL, 0 },
		{ "127.0.0.1:http", NULL, 0 },
		{ ":9432", NULL, 0 },
		{ "", NULL, 0 },
		{ "::1:9432", NULL, 0 },
		{ "[::1:9432", NULL, 0 },
		{ "[]:9432", NULL, 0 },
		{ "127.0.0.1:9432 proxy", NULL, 0 },
		{ "127.0.0.1:9432 proxy=v1", NULL, 0 },
		{ "127.0.0.1:9432 proxy=v2 proxy=v2", NULL, 0 },
		{ "no.such.host.invalid:9432", NULL, 0 },
	};

	for (size_t i = 0; i < N_ITEMS(cases); i++) {
		struct cnd_listens l = { .n = 0 };
		char why[CND_LISTEN_WHY_MAX] = "";
		char text[CND_LISTEN_TEXT_MAX];
		int r = cnd_listen_add(&l, cases[i].text, why);

		if (r != (cases[i].normal != NULL ? 0 : -1))
			fail_msg("\"%s\": %d %s", cases[i].text, r, why);
		assert_int_equal(*why == '\0', r == 0);
		if (r < 0)
			continue;
		assert_int_equal(l.n, 1);
		assert_string_equal(cnd_listen_text(&l.list[0], text), cases[i].normal);
		assert_int_equal(l.list[0].has_proxy, cases[i].has_proxy);
	}
}

static void
an_address_is_there_once_and_not_too_many_are(void **state)
{
	struct cnd_listens l = { .n = 0 };
	char why[CND_LISTEN_WHY_MAX];
	char text[32];

	for (unsigned i = 0; i < CND_LISTENERS_MAX; i++) {
		snprintf(text, sizeof(text), "127.0.0.1:%u", 1000 + i);
		assert_int_equal(cnd_listen_add(&l, text, why), 0);
		assert_int_equal(cnd_listen_add(&l, text, why), -1);
	}
	assert_int_equal(cnd_listen_add(&l, "127.0.0.1:999", why), -1);
	assert_int_equal(l.n, CND_LISTENERS_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_a_host_and_a_port),
		cmocka_unit_test(an_address_is_there_once_and_not_too_many_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
