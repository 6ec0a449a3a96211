/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol/plain.h"

#include <string.h>

int
cnp_plain_put(struct cnc_buf *b, const char *user, const char *password)
{
	int r = cnc_buf_u8(b, 0);

	if (r == CENOTE_OK)
		r = cnc_buf_append(b, user, strlen(user) + 1);
	return r < 0 ? r : cnc_buf_append(b, password, strlen(password));
}

/* Read up to the next zero byte, or to the end. `rest` is then the part after it. */
static struct cnp_str
take(struct cnp_str *rest)
{
	struct cnp_str part = { rest->p, strnlen(rest->p, rest->n) };
	size_t n = part.n < rest->n ? part.n + 1 : part.n;

	rest->p += n;
	rest->n -= n;
	return part;
}

int
cnp_plain_parse(const struct cnp_str *message, struct cnp_plain *ret_plain)
{
	struct cnp_str rest = *message;
	struct cnp_str as = take(&rest);
	struct cnp_plain p;

	p.user = take(&rest);
	p.password = take(&rest);
	if (rest.n > 0 || p.user.n == 0 || p.password.n == 0 ||
		p.password.p + p.password.n != message->p + message->n)
		return CENOTE_ERR_PROTOCOL;
	if (as.n > 0 && (as.n != p.user.n || memcmp(as.p, p.user.p, as.n) != 0))
		return CENOTE_ERR_PROTOCOL;
	*ret_plain = p;
	return CENOTE_OK;
}
