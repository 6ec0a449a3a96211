/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "bench.h"

/* The pool by TCP, with each cipher suite and without TLS. The targets differ only in the options of
 * the URI. If the session does not use the requested suite, opening fails. */
#define SUITES(X)                                                                        \
	X(0, "TLS_AES_256_GCM_SHA384")                                                   \
	X(1, "TLS_AES_128_GCM_SHA256")                                                   \
	X(2, "TLS_CHACHA20_POLY1305_SHA256")                                             \
	X(3, "ECDHE-RSA-AES256-GCM-SHA384")                                              \
	X(4, "ECDHE-RSA-AES256-SHA384")                                                  \
	X(5, "ECDHE-RSA-CHACHA20-POLY1305")

#define OPEN(i, suite)                                                                   \
	static int open_##i(const struct cnb_env *env, struct cnb_session **ret_session, \
		struct cnb_error *ret_error)                                             \
	{                                                                                \
		return cnb_pooled_open(                                                  \
			env, "tls=require&ciphers=" suite, ret_session, ret_error);      \
	}
SUITES(OPEN)

static int
open_clear(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	return cnb_pooled_open(env, "tls=disable", ret_session, ret_error);
}

#define NAME(i, suite)                                                                   \
	{ suite, "the same by TCP, with this suite of ciphers", open_##i, 1 },
static const struct {
	const char *name;
	const char *about;
	int (*open)(const struct cnb_env *env, struct cnb_session **ret_session,
		struct cnb_error *ret_error);
	int is_variant;
} ways[] = { SUITES(NAME){ "clear", "the same by TCP, in clear text", open_clear, 0 } };

#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

const struct cnb_target *
cnb_target_tls(size_t i)
{
	static struct cnb_target targets[N_WAYS];

	if (i >= N_WAYS)
		return NULL;
	targets[i] = *cnb_target_pooled();
	targets[i].name = ways[i].name;
	targets[i].about = ways[i].about;
	targets[i].open = ways[i].open;
	targets[i].is_variant = ways[i].is_variant;
	targets[i].only_by_name = 1;
	targets[i].tell_tls = cnb_pooled_tell_tls;
	return &targets[i];
}
