/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_POOL_PLACE_H
#define CNB_POOL_PLACE_H

#include <cenote/cenote.h>

#include "bench.h"

/* The parts of a pool's URI, for interfaces that take them separately; "": not given. */
struct cnb_pool_place {
	char server[512]; /* "unix:DIR" or "tcp://HOST:PORT", as in CENOTE_SERVER */
	char pool[128], user[128], password[128];
};

/* 0, or -1. */
int cnb_pool_place(
	const char *uri, struct cnb_pool_place *ret_place, struct cnb_error *ret_error);

#endif
