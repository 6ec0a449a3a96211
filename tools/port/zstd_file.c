/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and writes files that are compressed by Zstandard. stream.c calls it. The state is struct stream_zstd, which the
 * FILE owns.
 */
#include "zstd_file.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "port.h"
#include "stream.h"

/* Most bytes of data in a frame, and a piece more. After a kill, --resume loses the last frame. */
#define FRAME_SIZE  (4u << 20)
#define BUFFER_SIZE 131072u
#define LEVEL       3
/* The largest window that the reader accepts is 2^27 bytes (128 MB). zstd(1) has the same limit. It bounds the memory. */
#define WINDOW_MAX  27

struct stream_zstd {
	FILE *raw;
	const char *name;
	ZSTD_DCtx *reader;
	ZSTD_CCtx *writer;
	ZSTD_inBuffer in; /* of the reader */
	size_t wanted; /* what the last ZSTD_decompressStream() returned: 0 after a whole frame, or an error */
	bool is_full; /* the output was full within a frame: more may come without more input */
	uint64_t n_read; /* compressed bytes that the decoder has taken */
	uint64_t n_in_frame; /* bytes of data in the frame that is written */
	char buffer[BUFFER_SIZE];
};

bool
stream_has_zstd(void)
{
	return true;
}

static ssize_t
report(const struct stream_zstd *z, const char *error)
{
	port_say("%s: %s", z->name, error);
	errno = EIO;
	return -1;
}

/* Fill the input buffer. Returns 1, 0 at the end of the file, -1 after an error. */
static int
fill(struct stream_zstd *z)
{
	z->in.src = z->buffer;
	z->in.pos = 0;
	z->in.size = fread(z->buffer, 1, sizeof(z->buffer), z->raw);
	if (z->in.size > 0)
		return 1;
	return ferror(z->raw) ? -1 : 0;
}

/* Decompress some data. Returns 1, 0 at the end of the file, -1 after an error. */
static int
step(struct stream_zstd *z, ZSTD_outBuffer *out)
{
	size_t before;
	int more = z->in.pos < z->in.size || z->is_full ? 1 : fill(z);

	if (more <= 0)
		return more;
	before = z->in.pos;
	z->wanted = ZSTD_decompressStream(z->reader, out, &z->in);
	z->n_read += z->in.pos - before;
	z->is_full = out->pos == out->size && z->wanted != 0;
	return ZSTD_isError(z->wanted) ? -1 : 1;
}

/* Read for the FILE. Returns the number of bytes, 0 at the end of the file, -1 after an error. */
static ssize_t
read_some(void *cookie, char *data, size_t size)
{
	struct stream_zstd *z = cookie;
	ZSTD_outBuffer out = { data, size, 0 };

	while (out.pos == 0 && size > 0) {
		int more = step(z, &out);

		if (more < 0 && ZSTD_isError(z->wanted))
			return report(z, ZSTD_getErrorName(z->wanted));
		if (more < 0)
			return -1;
		if (more == 0)
			return z->wanted == 0
				       ? 0
				       : report(z, "the compressed data ends early");
	}
	return (ssize_t)out.pos;
}

static int
compress(struct stream_zstd *z, const char *data, size_t size, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { z->buffer, sizeof(z->buffer), 0 };

		left = ZSTD_compressStream2(z->writer, &out, &in, end);
		if (ZSTD_isError(left)) {
			errno = ENOMEM;
			return -1;
		}
		if (fwrite(z->buffer, 1, out.pos, z->raw) < out.pos)
			return -1;
	} while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
	z->n_in_frame = end == ZSTD_e_end ? 0 : z->n_in_frame + size;
	return 0;
}

/* Write for the FILE. It has no buffer, so each call has whole records, after which a frame may end. */
static ssize_t
write_some(void *cookie, const char *data, size_t size)
{
	struct stream_zstd *z = cookie;
	ZSTD_EndDirective end =
		z->n_in_frame + size >= FRAME_SIZE ? ZSTD_e_end : ZSTD_e_continue;

	return compress(z, data, size, end) < 0 ? 0 : (ssize_t)size;
}

static void
destroy(struct stream_zstd *z)
{
	ZSTD_freeDCtx(z->reader);
	ZSTD_freeCCtx(z->writer);
	free(z);
}

static int
close_file(void *cookie)
{
	struct stream_zstd *z = cookie;
	int r = 0;

	if (z->writer && z->n_in_frame > 0)
		r = compress(z, NULL, 0, ZSTD_e_end);
	destroy(z);
	return r;
}

static FILE *
make(FILE *raw, const char *name, const char *mode, struct stream_zstd **ret_zstd)
{
	static const cookie_io_functions_t functions = {
		.read = read_some,
		.write = write_some,
		.close = close_file,
	};
	struct stream_zstd *z = mem_resize(NULL, 1, sizeof(*z));
	FILE *file;

	*z = (struct stream_zstd){ .raw = raw, .name = name };
	if (*mode == 'r')
		z->reader = ZSTD_createDCtx();
	else
		z->writer = ZSTD_createCCtx();
	file = z->reader || z->writer ? fopencookie(z, mode, functions) : NULL;
	if (!file) {
		port_say("out of memory");
		destroy(z);
		return NULL;
	}
	*ret_zstd = z;
	return file;
}

FILE *
zstd_file_read(FILE *raw, const char *name, struct stream_zstd **ret_zstd)
{
	FILE *file = make(raw, name, "r", ret_zstd);

	if (file)
		(void)ZSTD_DCtx_setParameter(
			(*ret_zstd)->reader, ZSTD_d_windowLogMax, WINDOW_MAX);
	return file;
}

FILE *
zstd_file_write(FILE *raw, struct stream_zstd **ret_zstd)
{
	FILE *file = make(raw, NULL, "w", ret_zstd);

	if (file) {
		(void)setvbuf(file, NULL, _IONBF, 0);
		(void)ZSTD_CCtx_setParameter(
			(*ret_zstd)->writer, ZSTD_c_compressionLevel, LEVEL);
		(void)ZSTD_CCtx_setParameter((*ret_zstd)->writer, ZSTD_c_checksumFlag, 1);
	}
	return file;
}

int
stream_find_end(const char *name, uint64_t *ret_end)
{
	struct stream_zstd z = { .name = name };
	char data[4096];
	ZSTD_outBuffer out = { data, sizeof(data), 0 };

	z.raw = fopen(name, "re");
	z.reader = z.raw ? ZSTD_createDCtx() : NULL;
	if (!z.reader) {
		port_say("%s: %s", name, z.raw ? "out of memory" : "cannot be opened");
		if (z.raw)
			(void)fclose(z.raw);
		return -1;
	}
	(void)ZSTD_DCtx_setParameter(z.reader, ZSTD_d_windowLogMax, WINDOW_MAX);
	*ret_end = 0;
	while (step(&z, &out) > 0) {
		if (z.wanted == 0)
			*ret_end = z.n_read;
		out.pos = 0;
	}
	ZSTD_freeDCtx(z.reader);
	(void)fclose(z.raw);
	return 0;
}
