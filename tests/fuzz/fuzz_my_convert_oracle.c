/* SPDX-License-Identifier: BSD-2-Clause */
/* The same target, for Oracle's flavour of the shim. */
#include "fuzz_my_convert.c"
