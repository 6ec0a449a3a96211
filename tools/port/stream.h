/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_STREAM_H
#define PORT_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A file, or standard input or output. It may be compressed by Zstandard. Each frame of compressed output ends with a
 * complete record, so a file that was cut can be continued after its last whole frame.
 */

struct stream {
	FILE *file; /* uncompressed data */
	const char *name; /* for messages */
	uint64_t total_bytes; /* size of an input file; 0: unknown */
	/* Private. */
	FILE *raw; /* the compressed data; NULL: the file is not compressed */
	struct stream_zstd *zstd;
};

enum stream_mode {
	STREAM_READ,
	STREAM_CREATE, /* the file must not exist, or be empty */
	STREAM_OVERWRITE,
	STREAM_APPEND
};

/* Whether this build has Zstandard. */
bool stream_has_zstd(void);

/* Open a file; "-" is standard input or output. Returns 0; -1 after a message. */
int stream_open(struct stream *s, const char *name, enum stream_mode mode, bool is_zstd);
/* Close the file. Returns 0, also for a stream that is all zero; -1 after a message. */
int stream_close(struct stream *s);
/* How many bytes of the input file were read, before they were decompressed. 0: total_bytes is unknown. */
uint64_t stream_position(const struct stream *s);

/* Find where the last whole frame of a compressed file ends. Returns 0; -1 after a message. */
int stream_find_end(const char *name, uint64_t *ret_end);

#endif
