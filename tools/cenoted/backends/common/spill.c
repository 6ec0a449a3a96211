/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A byte queue that continues in an unlinked file when memory does not suffice. It owns that file. Backends keep
 * the rest of an unfinished result in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/sqlstate.h"

#include "spill.h"

/* Bytes that are kept in memory; more go to a file. */
#define MEMORY (1024u * 1024u)
/* Bytes that are read back at once. */
#define PIECE  65536u

void
cnd_spill_init(struct cnd_spill *sp, const struct cenote_allocator *mem, size_t max)
{
	*sp = (struct cnd_spill){ .fd = -1 };
	cnc_buf_init(&sp->buf, mem, max + MEMORY);
}

void
cnd_spill_finish(struct cnd_spill *sp)
{
	if (sp->fd >= 0)
		(void)close(sp->fd);
	sp->fd = -1;
	cnc_buf_finish(&sp->buf);
}

/* In the process of a client, a standard descriptor may be closed, and the program may still print to it. */
static int
raise_fd(int fd)
{
	int raised;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	raised = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	(void)close(fd);
	return raised;
}

static int
open_file(struct cnd_spill *sp, struct cnc_diag *diag)
{
	const char *dir = getenv("TMPDIR");
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%.200s/cenote-XXXXXX", dir != NULL ? dir : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	sp->fd = raise_fd(fd);
	if (sp->fd < 0) {
		cnc_diag_set(diag, CNC_SQLSTATE(IO),
			"cannot keep the rest of an open result in %s: %s", path,
			strerror(errno));
		return CENOTE_ERR_SERVER;
	}
	return CENOTE_OK;
}

static int
write_all(struct cnd_spill *sp, struct cnc_diag *diag)
{
	while (cnc_buf_len(&sp->buf) > 0) {
		ssize_t n = pwrite(sp->fd, cnc_buf_head(&sp->buf), cnc_buf_len(&sp->buf),
			(off_t)sp->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			cnc_diag_set(diag, CNC_SQLSTATE(DISK_FULL),
				"cannot keep the rest of an open result: %s",
				n < 0 ? strerror(errno) : "nothing was written");
			return CENOTE_ERR_SERVER;
		}
		sp->written += (uint64_t)n;
		cnc_buf_consume(&sp->buf, (size_t)n);
	}
	return CENOTE_OK;
}

int
cnd_spill_put(struct cnd_spill *sp, const void *bytes, size_t n, struct cnc_diag *diag)
{
	int r = cnc_buf_append(&sp->buf, bytes, n);

	if (r < 0 || cnc_buf_len(&sp->buf) < MEMORY)
		return r;
	if (sp->fd < 0)
		r = open_file(sp, diag);
	return r == CENOTE_OK ? write_all(sp, diag) : r;
}

int
cnd_spill_rewind(struct cnd_spill *sp, struct cnc_diag *diag)
{
	/* read from the beginning of the file; the bytes in memory come last */
	return sp->fd >= 0 ? write_all(sp, diag) : CENOTE_OK;
}

int
cnd_spill_refill(struct cnd_spill *sp, size_t need, struct cnc_diag *diag)
{
	uint8_t *room;
	ssize_t n;
	int r;

	while (cnc_buf_len(&sp->buf) < need && sp->read_at < sp->written) {
		size_t want = need - cnc_buf_len(&sp->buf);

		if (want < PIECE)
			want = PIECE;
		if (want > sp->written - sp->read_at)
			want = (size_t)(sp->written - sp->read_at);
		r = cnc_buf_reserve(&sp->buf, want, &room);
		if (r < 0)
			return r;
		n = pread(sp->fd, room, want, (off_t)sp->read_at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			cnc_diag_set(diag, CNC_SQLSTATE(IO),
				"cannot read the rest of an open result back");
			return CENOTE_ERR_SERVER;
		}
		cnc_buf_commit(&sp->buf, (size_t)n);
		sp->read_at += (uint64_t)n;
	}
	return CENOTE_OK;
}
