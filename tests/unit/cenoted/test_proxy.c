/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "door/proxy.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define V4        "\x21\x11\x00\x0c\xcb\x00\x71\x09\x7f\x00\x00\x01\xc3\x50\x24\xd8"
#define V6                                                                               \
	"\x21\x21\x00\x24\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"                     \
	"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02\x00\x07\x24\xd8"
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

struct sample {
	const uint8_t *bytes;
	size_t n;
	const char *peer; /* address of the client; NULL: refused */
};

static const struct sample samples[] = {
	{ BYTES(SIGNATURE V4), "203.0.113.9:50000" },
	{ BYTES(SIGNATURE V6), "[2001:db8::1]:7" },
	/* a TLV after the addresses: PP2_TYPE_NOOP */
	{ BYTES(SIGNATURE
		  "\x21\x11\x00\x10\xcb\x00\x71\x09\x7f\x00\x00\x01\xc3\x50\x24\xd8"
		  "\x04\x00\x01\x00"),
		"203.0.113.9:50000" },
	/* LOCAL: the addresses are ignored */
	{ BYTES(SIGNATURE "\x20\x00\x00\x00"), "192.0.2.1:1" },
	{ BYTES(SIGNATURE "\x20\x11\x00\x02\xff\xff"), "192.0.2.1:1" },
	/* UNSPEC, and a unix socket before the proxy */
	{ BYTES(SIGNATURE "\x21\x00\x00\x00"), "192.0.2.1:1" },
	{ BYTES(SIGNATURE "\x21\x31\x00\x01x"), "192.0.2.1:1" },
	/* another version, another command, too short for its family, too long */
	{ BYTES(SIGNATURE
		  "\x11\x11\x00\x0c\xcb\x00\x71\x09\x7f\x00\x00\x01\xc3\x50\x24\xd8"),
		NULL },
	{ BYTES(SIGNATURE "\x22\x11\x00\x00"), NULL },
	{ BYTES(SIGNATURE "\x21\x11\x00\x0b\xcb\x00\x71\x09\x7f\x00\x00\x01\xc3\x50\x24"),
		NULL },
	{ BYTES(SIGNATURE "\x21\x11\x04\x00"), NULL },
	{ BYTES("PROXY TCP4 203.0.113.9 127.0.0.1 50000 9432\r\n"), NULL },
	{ BYTES("CNTE\x10\0\1\1\1\0\0\0\0\0\0\0"), NULL },
};

static struct cnd_peer
proxy_itself(void)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_port = htons(1),
		.sin_addr.s_addr = htonl(0xc0000201) };
	struct cnd_peer p;

	assert_int_equal(cnd_peer_set(&p, (struct sockaddr *)&v4), 0);
	return p;
}

static void
a_header_names_who_is_spoken_for(void **state)
{
	char text[CND_PEER_TEXT_MAX];

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];
		struct cnd_peer p = proxy_itself();
		size_t len = 0;
		int r = cnd_proxy_parse(s->bytes, s->n, &len, &p);

		if (r != (s->peer != NULL ? 1 : -1))
			fail_msg("sample %zu: %d", i, r);
		if (s->peer == NULL)
			continue;
		assert_string_equal(cnd_peer_text(&p, text), s->peer);
		assert_int_equal(len, s->n);
	}
}

/* A header that is cut at any byte makes the parser ask for more or refuse. Bytes after a whole
 * header change nothing. */
static void
a_header_may_come_in_pieces(void **state)
{
	uint8_t longer[128];
	struct cnd_peer p;
	size_t len;

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];
		int is_refused = 0;

		for (size_t n = 0; n < s->n; n++) {
			int r;

			p = proxy_itself();
			r = cnd_proxy_parse(s->bytes, n, &len, &p);
			assert_int_not_equal(r, 1);
			/* more bytes do not undo a refusal */
			assert_true(r < 0 || !is_refused);
			is_refused = r < 0;
		}
		memcpy(longer, s->bytes, s->n);
		memset(longer + s->n, 0xa5, sizeof(longer) - s->n);
		p = proxy_itself();
		if (s->peer == NULL)
			continue;
		assert_int_equal(cnd_proxy_parse(longer, sizeof(longer), &len, &p), 1);
		assert_int_equal(len, s->n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_names_who_is_spoken_for),
		cmocka_unit_test(a_header_may_come_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
