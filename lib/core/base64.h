/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_BASE64_H
#define CNC_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* RFC 4648, section 4: with padding, without line breaks. */

/* The number of characters for n bytes, without the zero byte. */
#define CNC_BASE64_LEN(n) (((n) + 2) / 3 * 4)

/* Encode n bytes. `out` has room for CNC_BASE64_LEN(n) + 1 characters. Returns the number of
 * characters, without the zero byte. */
size_t cnc_base64_encode(const void *bytes, size_t n, char *out);
/*
 * Decodes `len` characters to at most `max` bytes and returns the number of bytes. Returns -1 if there are
 * more bytes, or if the text is not exactly what cnc_base64_encode() writes for these bytes.
 */
ptrdiff_t cnc_base64_decode(const char *text, size_t len, void *out, size_t max);

#endif
