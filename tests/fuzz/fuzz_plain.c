/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "protocol/plain.h"

/* The user and password lie in the message, and are the same when they are written again. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct cnp_str message = { (const char *)data, size };
	struct cnp_plain p;
	struct cnc_buf b;
	char *user, *password;

	if (size == 0 || cnp_plain_parse(&message, &p) < 0)
		return 0;
	FUZZ_CHECK(p.user.n > 0 && p.password.n > 0);
	FUZZ_CHECK(p.user.p >= message.p && p.user.p + p.user.n < p.password.p);
	FUZZ_CHECK(p.password.p + p.password.n == message.p + size);
	/* not strndup(): gcc 12's sanitizer with strict_string_checks wants a zero byte behind the text */
	user = cnc_strndup(&cnc_mem_default, p.user.p, p.user.n);
	password = cnc_strndup(&cnc_mem_default, p.password.p, p.password.n);
	cnc_buf_init(&b, &cnc_mem_default, size + 16);
	if (user != NULL && password != NULL) {
		FUZZ_CHECK(strlen(user) == p.user.n);
		FUZZ_CHECK(strlen(password) == p.password.n);
		FUZZ_CHECK(cnp_plain_put(&b, user, password) == CENOTE_OK);
		FUZZ_CHECK(
			memcmp(cnc_buf_head(&b) + 1, p.user.p, cnc_buf_len(&b) - 1) == 0);
	}
	cnc_buf_finish(&b);
	cnc_free(&cnc_mem_default, user);
	cnc_free(&cnc_mem_default, password);
	return 0;
}
