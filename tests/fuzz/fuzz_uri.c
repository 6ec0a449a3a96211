/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include <cenote/cenote.h>

static const char *const names[] = { "pool", "host", "port", "hosts", "run_dir", "user",
	"database", "program", "application_name", "traceparent", "connect_timeout",
	"query_timeout", "reattach_timeout", "reattach", "cache", "cache_ttl",
	"max_frame", "tls", "ca", "ca_path", "cert", "key", "crl", "tls_min", "ciphers",
	"groups", "sni" };

#define N_NAMES (sizeof(names) / sizeof(names[0]))

/* A URI sets options, or an error says why not. A refused URI changes nothing. Each value that a
 * URI set is accepted by itself. The input after a newline is a token to resume with. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[4097];
	cenote_conn *conn, *other;
	cenote_result *res;
	char *token;
	int r;

	if (size >= sizeof(text))
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	token = strchr(text, '\n');
	if (token)
		*token++ = '\0';
	FUZZ_CHECK(cenote_conn_create(NULL, &conn) == CENOTE_OK);
	FUZZ_CHECK(cenote_conn_create(NULL, &other) == CENOTE_OK);
	r = cenote_conn_set_uri(conn, text);
	FUZZ_CHECK(r == CENOTE_OK || r == CENOTE_ERR_ARG);
	FUZZ_CHECK((r == CENOTE_OK) == !*cenote_diag_message(cenote_conn_diag(conn)));
	for (size_t i = 0; i < N_NAMES; i++) {
		const char *value = cenote_conn_get(conn, names[i]);

		FUZZ_CHECK(value);
		if (r < 0)
			FUZZ_CHECK(strcmp(value, cenote_conn_get(other, names[i])) == 0);
		else if (*value)
			FUZZ_CHECK(cenote_conn_set(other, names[i], value) == CENOTE_OK);
	}
	FUZZ_CHECK(!cenote_conn_get(conn, "password"));
	/* Nobody listens there, so even a well-formed token fails. */
	if (token && cenote_conn_set(conn, "host", NULL) == CENOTE_OK &&
		cenote_conn_set(conn, "run_dir", "/nonexistent") == CENOTE_OK)
		FUZZ_CHECK(cenote_resume(conn, token, &res) < 0);
	cenote_conn_destroy(other);
	cenote_conn_destroy(conn);
	return 0;
}
