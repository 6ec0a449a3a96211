/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_CMOCKA_H
#define CNT_CMOCKA_H

/* <cmocka.h> wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CNT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
