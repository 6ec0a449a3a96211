/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "auth/peer.h"

/* A network has its own first address. A network whose prefix is one bit shorter has all addresses
 * of the longer one. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnd_network n, wider;
	struct in6_addr addr;
	char text[128];

	if (size < sizeof(addr) || size - sizeof(addr) >= sizeof(text))
		return 0;
	memcpy(&addr, data, sizeof(addr));
	memcpy(text, data + sizeof(addr), size - sizeof(addr));
	text[size - sizeof(addr)] = '\0';
	if (cnd_network_parse(text, &n) < 0)
		return 0;
	FUZZ_CHECK(n.bits <= 128 && cnd_network_has(&n, &n.addr));
	wider = n;
	if (wider.bits > 0)
		wider.bits--;
	FUZZ_CHECK(cnd_network_has(&wider, &addr) >= cnd_network_has(&n, &addr));
	return 0;
}
