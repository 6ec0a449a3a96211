/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_STREAM_H
#define PORT_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A file, or standard input or output, perhaps compressed by Zstandard. Compressed output consists of frames that end
 * between two records. So a file that was cut can be continued after its last whole frame.
 */

struct stream {
	FILE *file; /* uncompressed data */
	const char *name; /* for messages */
	uint64_t total_bytes; /* of input: size of the file; 0: unknown */
	/* Private. */
	FILE *raw; /* the compressed file; NULL: it is not compressed */
	struct stream_zstd *zstd;
};

enum stream_mode {
	STREAM_READ,
	STREAM_CREATE, /* the file must not exist, or be empty */
	STREAM_OVERWRITE,
	STREAM_APPEND
};

/* Whether this build can compress. */
bool stream_has_zstd(void);

/* Open a file; "-" is standard input or output. 0; -1 after a message. */
int stream_open(struct stream *s, const char *name, enum stream_mode mode, bool is_zstd);
/* 0; -1 after a message. It does nothing to a stream that is all zero. */
int stream_close(struct stream *s);
/* Bytes of the input file that were read, compressed if it is. */
uint64_t stream_position(const struct stream *s);

/* The length of all whole frames of a compressed file. 0; -1 after a message. */
int stream_find_end(const char *name, uint64_t *ret_end);

#endif
