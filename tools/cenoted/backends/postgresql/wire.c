/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire.h"

int
cnd_pg_msg_next(
	const uint8_t *bytes, size_t n, struct cnd_pg_msg *ret_msg, size_t *ret_size)
{
	uint32_t len;

	*ret_size = CND_PG_HEADER;
	if (n < CND_PG_HEADER)
		return 0;
	len = cnd_pg_get_u32(bytes + 1);
	if (len < 4 || len > CND_PG_MSG_MAX || bytes[0] < 'A' || bytes[0] > 'z')
		return CENOTE_ERR_PROTOCOL;
	*ret_size = (size_t)len + 1;
	if (n < *ret_size)
		return 0;
	*ret_msg = (struct cnd_pg_msg){ bytes[0], bytes + CND_PG_HEADER, len - 4 };
	return (int)*ret_size;
}
