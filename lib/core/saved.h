/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_SAVED_H
#define CNC_SAVED_H

#include "core/buf.h"

/*
 * The frame of a file that holds a result (docs/client-cache.md has the format). It has the key and the age of the
 * result, and a checksum. All numbers are little-endian.
 *
 *     bytes  0  "CENOTERS"
 *            8  u32 version, u32 0
 *           16  u64 written: microseconds since 1970, when the request was sent
 *           24  u64 keep: milliseconds for which the result may be used; 0: no limit
 *           32  u64 length of the file
 *           40  u64 checksum of all other bytes
 *           48  the key: u32 length, bytes, a zero byte
 *               the result (result_file.c)
 */
#define CNC_SAVED_VERSION 1u
#define CNC_SAVED_HEAD    48u

struct cnc_saved {
	uint64_t written_us;
	uint64_t keep_ms;
	const char *key; /* borrowed; empty in a file of cenote_result_save() */
	size_t key_len;
	const uint8_t *body; /* borrowed; the result */
	size_t body_len;
};

/* A checksum of bytes: any wrong byte changes it. It does not protect from somebody who can write the file. `seed`: the
 * sum of the bytes before these, or 0. */
uint64_t cnc_saved_sum(const void *bytes, size_t len, uint64_t seed);

/* Begin a file in an empty buffer. The caller then appends the result, and calls cnc_saved_end(). CENOTE_OK, CENOTE_ERR_LIMIT,
 * CENOTE_ERR_NOMEM. */
int cnc_saved_begin(struct cnc_buf *b, const void *key, size_t key_len);
/* The whole result was appended: fill in the head. */
void cnc_saved_end(struct cnc_buf *b, uint64_t written_us, uint64_t keep_ms);

/* Read the head and the key, and do not check the checksum. That is enough for a list of files. `bytes` has the first `len`
 * bytes of a file of `file_len` bytes. CENOTE_OK; CENOTE_ERR_PROTOCOL: it is no file with a result, or was cut. */
int cnc_saved_peek(
	const uint8_t *bytes, size_t len, uint64_t file_len, struct cnc_saved *ret_saved);
/* Read a whole file, and check the checksum. CENOTE_OK; CENOTE_ERR_PROTOCOL: it is no file with a result, or was damaged. */
int cnc_saved_read(const uint8_t *bytes, size_t len, struct cnc_saved *ret_saved);

/* May the result be used at the time now_us? A result from the future is not used: the clock was set back since, and nobody
 * knows how old the result is. `keep_ms`: the reader's own limit, in addition to that of the file; 0: none. */
int cnc_saved_is_fresh(const struct cnc_saved *s, uint64_t now_us, uint64_t keep_ms);

#endif
