/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_CMOCKA_H
#define CNT_CMOCKA_H

/* <cmocka.h> needs these headers before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Every test gets a state, and few use it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* For calls that return a status. */
#define assert_ok(call) assert_int_equal(call, CENOTE_OK)

#define CNT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
