/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens and closes files. The exporter and the importer call it. The state is struct stream. zstd_file.c has the state of
 * the compression.
 */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port.h"
#include "zstd_file.h"

static int
report(const char *name)
{
	port_say("%s: %s", name, strerror(errno));
	return -1;
}

static int
open_flags(enum stream_mode mode)
{
	switch (mode) {
	case STREAM_READ:
		return O_RDONLY;
	case STREAM_CREATE:
		return O_WRONLY | O_CREAT;
	case STREAM_OVERWRITE:
		return O_WRONLY | O_CREAT | O_TRUNC;
	default:
		return O_WRONLY | O_APPEND;
	}
}

/* Open the file, or take a standard descriptor. -1 after a message. */
static int
open_descriptor(const char *name, enum stream_mode mode, struct stat *ret_st)
{
	int fd;

	if (strcmp(name, "-") == 0)
		fd = dup(mode == STREAM_READ ? STDIN_FILENO : STDOUT_FILENO);
	else
		fd = open(name, open_flags(mode) | O_CLOEXEC, 0666);
	if (fd < 0 || fstat(fd, ret_st) < 0) {
		(void)report(name);
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	if (mode == STREAM_CREATE && strcmp(name, "-") != 0 && S_ISREG(ret_st->st_mode) &&
		ret_st->st_size > 0) {
		port_say("%s: the file exists; --resume continues it, --overwrite "
			 "replaces it",
			name);
		(void)close(fd);
		return -1;
	}
	return fd;
}

int
stream_open(struct stream *s, const char *name, enum stream_mode mode, bool is_zstd)
{
	struct stat st;
	int fd;

	*s = (struct stream){ .name = name };
	if (is_zstd && !stream_has_zstd()) {
		port_say("%s: this build has no Zstandard; use another format, or "
			 "zstd(1) in a pipe",
			name);
		return -1;
	}
	fd = open_descriptor(name, mode, &st);
	if (fd < 0)
		return -1;
	if (mode == STREAM_READ && S_ISREG(st.st_mode))
		s->total_bytes = (uint64_t)st.st_size;
	s->file = fdopen(fd, mode == STREAM_READ ? "r" : "w");
	if (!s->file) {
		(void)close(fd);
		return report(name);
	}
	/* A buffer is not needed: the formats write large pieces. zstd_file.c relies on pieces of whole records. */
	if (mode != STREAM_READ)
		(void)setvbuf(s->file, NULL, _IONBF, 0);
	if (!is_zstd)
		return 0;
	s->raw = s->file;
	s->file = mode == STREAM_READ ? zstd_file_read(s->raw, name, &s->zstd)
				      : zstd_file_write(s->raw, &s->zstd);
	if (s->file)
		return 0;
	(void)stream_close(s);
	return -1;
}

int
stream_close(struct stream *s)
{
	int r = s->file ? fclose(s->file) : 0;

	if (s->raw && fclose(s->raw) != 0)
		r = -1;
	if (r != 0)
		(void)report(s->name);
	*s = (struct stream){ 0 };
	return r != 0 ? -1 : 0;
}

uint64_t
stream_position(const struct stream *s)
{
	off_t at = s->total_bytes > 0
			   ? lseek(fileno(s->raw ? s->raw : s->file), 0, SEEK_CUR)
			   : -1;

	return at > 0 ? (uint64_t)at : 0;
}
