/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <arpa/inet.h>

#include "door/blame.h"

static struct cnd_peer
peer_at(const char *addr)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct cnd_peer p;

	assert_int_equal(inet_pton(AF_INET6, addr, &v6.sin6_addr), 1);
	assert_int_equal(cnd_peer_set(&p, (struct sockaddr *)&v6), 0);
	return p;
}

static void
each_failure_costs_twice_the_last_up_to_a_bound(void **state)
{
	static const int64_t wanted[] = { 250, 500, 1000, 2000, 4000, 8000, 8000, 8000 };
	static struct cnd_blame b;
	struct cnd_peer p = peer_at("::ffff:192.0.2.1");
	struct cnd_peer other = peer_at("::ffff:192.0.2.2");

	assert_int_equal(cnd_blame_until(&b, &p, 1000), 1000);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(cnd_blame_add(&b, &p, 1000), wanted[i]);
	assert_int_equal(cnd_blame_until(&b, &p, 1001), 9000);
	assert_int_equal(cnd_blame_until(&b, &other, 1001), 1001);
}

static void
time_forgives(void **state)
{
	static struct cnd_blame b;
	struct cnd_peer p = peer_at("::ffff:192.0.2.1");

	cnd_blame_add(&b, &p, 0);
	assert_int_equal(cnd_blame_add(&b, &p, CND_BLAME_LIFE_MS - 1), 500);
	assert_int_equal(cnd_blame_add(&b, &p, 3 * CND_BLAME_LIFE_MS), 250);
	assert_int_equal(
		cnd_blame_until(&b, &p, 4 * CND_BLAME_LIFE_MS), 4 * CND_BLAME_LIFE_MS);
}

static void
a_network_of_ipv6_is_one_host(void **state)
{
	static struct cnd_blame b;
	struct cnd_peer p = peer_at("2001:db8:0:1::1");
	struct cnd_peer same = peer_at("2001:db8:0:1:ffff::2");
	struct cnd_peer other = peer_at("2001:db8:0:2::1");

	cnd_blame_add(&b, &p, 0);
	assert_int_equal(cnd_blame_until(&b, &same, 1), 250);
	assert_int_equal(cnd_blame_until(&b, &other, 1), 1);
}

/* When the table is full, it forgets the address whose last failure is the oldest. */
static void
the_table_is_bounded(void **state)
{
	static struct cnd_blame b;
	struct cnd_peer p = peer_at("::ffff:10.0.0.0");

	for (uint32_t i = 0; i <= CND_BLAME_MAX; i++) {
		p.addr.s6_addr[14] = (uint8_t)(i >> 8);
		p.addr.s6_addr[15] = (uint8_t)i;
		assert_int_equal(cnd_blame_add(&b, &p, (int64_t)i + 1), 250);
	}
	p.addr.s6_addr[14] = p.addr.s6_addr[15] = 0;
	assert_int_equal(cnd_blame_until(&b, &p, 2000), 2000);
	p.addr.s6_addr[15] = 1;
	assert_int_equal(cnd_blame_until(&b, &p, 10), 252);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_failure_costs_twice_the_last_up_to_a_bound),
		cmocka_unit_test(time_forgives),
		cmocka_unit_test(a_network_of_ipv6_is_one_host),
		cmocka_unit_test(the_table_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
