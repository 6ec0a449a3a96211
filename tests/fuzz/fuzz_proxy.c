/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "door/proxy.h"

/* A header is found in its first bytes or not at all. Bytes after the header change nothing.
 * Without its last byte, the parser asks for more. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnd_peer peer = { .door = CND_DOOR_TCP };
	struct cnd_peer again = peer;
	size_t len = 0, len_again = 0;
	int r = cnd_proxy_parse(data, size, &len, &peer);

	FUZZ_CHECK(r >= -1 && r <= 1);
	if (r != 1)
		return 0;
	FUZZ_CHECK(len <= size && len <= CND_PROXY_MAX);
	FUZZ_CHECK(cnd_proxy_parse(data, len, &len_again, &again) == 1);
	FUZZ_CHECK(len == len_again &&
		   memcmp(&peer.addr, &again.addr, sizeof(peer.addr)) == 0);
	FUZZ_CHECK(peer.door == CND_DOOR_TCP);
	FUZZ_CHECK(cnd_proxy_parse(data, len - 1, &len_again, &again) == 0);
	return 0;
}
