/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <arpa/inet.h>
#include <string.h>

#include "auth/peer.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* The address that a listening socket would report for a client. */
static struct cnd_peer
peer_at(const char *addr, uint16_t port)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct cnd_peer p = { .door = CND_DOOR_UNIX };

	if (inet_pton(AF_INET, addr, &v4.sin_addr) == 1) {
		assert_int_equal(cnd_peer_set(&p, (struct sockaddr *)&v4), 0);
		return p;
	}
	assert_int_equal(inet_pton(AF_INET6, addr, &v6.sin6_addr), 1);
	assert_int_equal(cnd_peer_set(&p, (struct sockaddr *)&v6), 0);
	return p;
}

static void
a_peer_is_told_as_an_address_is_written(void **state)
{
	const struct sockaddr un = { .sa_family = AF_UNIX };
	struct cnd_peer p = peer_at("192.0.2.1", 50000);
	char text[CND_PEER_TEXT_MAX];

	assert_string_equal(cnd_peer_text(&p, text), "192.0.2.1:50000");
	p = peer_at("2001:db8::1", 65535);
	assert_string_equal(cnd_peer_text(&p, text), "[2001:db8::1]:65535");
	/* the form that a socket for both families reports for an IPv4 client */
	p = peer_at("::ffff:192.0.2.1", 1);
	assert_string_equal(cnd_peer_text(&p, text), "192.0.2.1:1");
	p = (struct cnd_peer){ .door = CND_DOOR_UNIX };
	assert_string_equal(cnd_peer_text(&p, text), "unix");
	assert_int_equal(cnd_peer_set(&p, &un), -1);
}

static void
networks_are_an_address_and_its_bits(void **state)
{
	static const char *const bad[] = { "", "/", "/8", "10.0.0.0/", "10.0.0.0/33",
		"10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.1/8", "10.0.0", "010.0.0.0/8",
		"::/129", "2001:db8::1/64", "fe80::1%eth0", "host", "::ffff:10.0.0.0/8",
		" 10.0.0.0/8", "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb" };
	struct cnd_network n;

	for (size_t i = 0; i < N_ITEMS(bad); i++) {
		if (cnd_network_parse(bad[i], &n) == 0)
			fail_msg("%s", bad[i]);
	}
	assert_int_equal(cnd_network_parse("10.0.0.0/8", &n), 0);
	assert_int_equal(n.bits, 104);
	assert_int_equal(cnd_network_parse("::/0", &n), 0);
	assert_int_equal(n.bits, 0);
}

static void
a_network_has_what_begins_as_it_does(void **state)
{
	static const struct {
		const char *network;
		const char *addr;
		int has;
	} cases[] = {
		{ "10.0.0.0/8", "10.255.255.255", 1 },
		{ "10.0.0.0/8", "11.0.0.0", 0 },
		{ "10.0.0.0/9", "10.127.0.1", 1 },
		{ "10.0.0.0/9", "10.128.0.1", 0 },
		{ "0.0.0.0/0", "203.0.113.9", 1 },
		{ "0.0.0.0/0", "2001:db8::1", 0 },
		{ "::/0", "2001:db8::1", 1 },
		{ "::/0", "203.0.113.9", 1 },
		{ "192.0.2.1", "192.0.2.1", 1 },
		{ "192.0.2.1", "192.0.2.2", 0 },
		{ "2001:db8::/33", "2001:db8:7fff::1", 1 },
		{ "2001:db8::/33", "2001:db8:8000::1", 0 },
		{ "2001:db8::1/128", "2001:db8::1", 1 },
	};
	struct cnd_network n;
	struct cnd_peer p;

	for (size_t i = 0; i < N_ITEMS(cases); i++) {
		assert_int_equal(cnd_network_parse(cases[i].network, &n), 0);
		p = peer_at(cases[i].addr, 1);
		if (cnd_network_has(&n, &p.addr) != cases[i].has)
			fail_msg("%s in %s", cases[i].addr, cases[i].network);
	}
}

static void
a_host_of_ipv6_has_a_network_of_addresses(void **state)
{
	struct cnd_peer p = peer_at("192.0.2.1", 1);
	struct cnd_network n = cnd_peer_network(&p);
	char text[CND_NETWORK_TEXT_MAX];

	assert_string_equal(cnd_network_text(&n, text), "192.0.2.1/32");
	p = peer_at("2001:db8:1:2:3:4:5:6", 1);
	n = cnd_peer_network(&p);
	assert_string_equal(cnd_network_text(&n, text), "2001:db8:1:2::/64");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_is_told_as_an_address_is_written),
		cmocka_unit_test(networks_are_an_address_and_its_bits),
		cmocka_unit_test(a_network_has_what_begins_as_it_does),
		cmocka_unit_test(a_host_of_ipv6_has_a_network_of_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
