/* SPDX-License-Identifier: BSD-2-Clause */
/* The same, of Oracle's flavour. */
#include "fuzz_my_convert.c"
