/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_BASE64_H
#define CNC_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* RFC 4648, section 4: with padding, without line breaks. */

/* Characters that n bytes take, less the zero byte. */
#define CNC_BASE64_LEN(n) (((n) + 2) / 3 * 4)

/* `out` has room for CNC_BASE64_LEN(n) + 1 characters: how many were written, less the zero byte. */
size_t cnc_base64_encode(const void *bytes, size_t n, char *out);
/*
 * How many bytes came of `len` characters, at most `max`; -1: longer, or not the one text that
 * cnc_base64_encode() makes of some bytes.
 */
ptrdiff_t cnc_base64_decode(const char *text, size_t len, void *out, size_t max);

#endif
