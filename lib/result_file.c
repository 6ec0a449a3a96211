/* SPDX-License-Identifier: BSD-2-Clause */
#include "result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Results in files: cenote_result_save() and cenote_result_open(), and the parts that cache.c uses too. A file is bytes from
 * outside: everything is checked before it is used. core/saved.h has the frame of the file.
 *
 * The result in the frame: the columns and each batch as the protocol has them, each as a text with its length; an empty
 * text; then the values of DONE.
 */

/* A batch that is made of single rows ends at this size. */
#define BATCH_MAX   262144u
#define CREATE_MODE 0600

uint64_t
cn_wall_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- the form ---- */

int
cn_result_put_columns(struct cnc_buf *b, const struct cn_columns *columns)
{
	size_t at = cnc_buf_len(b), len;
	int r = cnc_buf_u32(b, 0);

	if (r == CENOTE_OK)
		r = cnp_columns_encode(b, columns->list, columns->n);
	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, 0);
	if (r < 0)
		return r;
	len = cnc_buf_len(b) - at - 5;
	cnc_put_u32(b->data + b->head + at, (uint32_t)len);
	return CENOTE_OK;
}

int
cn_result_put_batch(struct cnc_buf *b, const uint8_t *batch, size_t len)
{
	return cnc_buf_str(b, batch, len);
}

int
cn_result_put_end(struct cnc_buf *b, const cenote_result *res)
{
	const char *tag = cenote_result_tag(res);
	uint8_t numbers[24];
	int r = cnc_buf_str(b, "", 0);

	if (r == CENOTE_OK)
		r = cnc_buf_str(b, tag, strlen(tag));
	cnc_put_u64(numbers, (uint64_t)res->affected);
	cnc_put_u64(numbers + 8, res->last_insert_id);
	cnc_put_u32(numbers + 16, res->warnings);
	cnc_put_u32(numbers + 20, res->server_status);
	return r == CENOTE_OK ? cnc_buf_append(b, numbers, sizeof(numbers)) : r;
}

static int
read_columns(const struct cenote_allocator *mem, struct cnc_reader *r,
	struct cn_columns **ret_columns)
{
	size_t len;
	const char *payload = cnc_read_str(r, &len);

	if (r->bad)
		return CENOTE_ERR_PROTOCOL;
	return cn_columns_create(mem, (const uint8_t *)payload, len, ret_columns);
}

static int
read_batches(struct cnc_reader *r, struct cnc_block *block, struct cnc_rowset *rows)
{
	for (;;) {
		size_t len;
		const char *batch = cnc_read_str(r, &len);
		int e;

		if (r->bad)
			return CENOTE_ERR_PROTOCOL;
		if (len == 0)
			return CENOTE_OK;
		e = cnc_rowset_add(rows, (const uint8_t *)batch, len, block);
		if (e < 0)
			return e;
	}
}

static int
read_end(struct cnc_reader *r, cenote_result *res)
{
	struct cnp_str tag;

	tag.p = cnc_read_str(r, &tag.n);
	res->affected = (int64_t)cnc_read_u64(r);
	res->last_insert_id = cnc_read_u64(r);
	res->warnings = cnc_read_u32(r);
	res->server_status = cnc_read_u32(r);
	if (cnc_reader_end(r) < 0)
		return CENOTE_ERR_PROTOCOL;
	res->flags = CENOTE_RESULT_FLAG_SAVED;
	return cn_result_set_tag(res, &tag);
}

int
cn_result_decode(const struct cenote_allocator *mem, struct cnc_block *block,
	const struct cnc_saved *saved, cenote_result **ret_res)
{
	struct cn_columns *columns;
	struct cnc_reader reader;
	cenote_result *res;
	int r;

	cnc_reader_init(&reader, saved->body, saved->body_len);
	r = read_columns(mem, &reader, &columns);
	if (r < 0)
		return r;
	r = cn_result_create(mem, CENOTE_RESULT_ROWS, columns, &res);
	cn_columns_unref(columns);
	if (r < 0)
		return r;
	r = read_batches(&reader, block, &res->rows[0]);
	if (r == CENOTE_OK)
		r = read_end(&reader, res);
	if (r < 0) {
		cn_result_free(res);
		return r;
	}
	*ret_res = res;
	return CENOTE_OK;
}

/* ---- files ---- */

static int
is_allowed(const struct stat *st, int is_own)
{
	if (!S_ISREG(st->st_mode) || st->st_size < 0 ||
		(uint64_t)st->st_size > CN_RESULT_FILE_MAX)
		return 0;
	return !is_own || (st->st_uid == geteuid() && (st->st_mode & 077) == 0);
}

/* Read up to the end of the file or of the block. */
static int
fill_block(int fd, struct cnc_block *block)
{
	while (block->len < block->cap) {
		ssize_t n = read(fd, block->data + block->len, block->cap - block->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return CENOTE_ERR_FILE;
		if (n == 0)
			break;
		block->len += (size_t)n;
	}
	return CENOTE_OK;
}

static int
read_open_file(const struct cenote_allocator *mem, int fd, int is_own,
	struct cnc_block **ret_block)
{
	struct cnc_block *block;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return CENOTE_ERR_FILE;
	if (!is_allowed(&st, is_own)) {
		errno = EBADMSG;
		return CENOTE_ERR_FILE;
	}
	block = cnc_block_create(mem, (size_t)st.st_size + 1);
	if (!block)
		return CENOTE_ERR_NOMEM;
	if (fill_block(fd, block) < 0) {
		cnc_block_unref(block);
		return CENOTE_ERR_FILE;
	}
	*ret_block = block;
	return CENOTE_OK;
}

static void
close_keeping_errno(int fd)
{
	int saved = errno;

	(void)close(fd);
	errno = saved;
}

int
cn_result_file_read(const struct cenote_allocator *mem, int dir, const char *name,
	int is_own, struct cnc_block **ret_block)
{
	/* Without O_NONBLOCK, opening a pipe would wait. */
	int fd = openat(
		dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (is_own ? O_NOFOLLOW : 0));
	int r;

	if (fd < 0)
		return errno == ENOENT ? CENOTE_DONE : CENOTE_ERR_FILE;
	r = read_open_file(mem, fd, is_own, ret_block);
	close_keeping_errno(fd);
	return r;
}

static int
write_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return CENOTE_ERR_FILE;
		bytes += n;
		len -= (size_t)n;
	}
	return CENOTE_OK;
}

int
cn_result_file_write(int dir, const char *name, const uint8_t *bytes, size_t len)
{
	char temporary[PATH_MAX];
	int n = snprintf(temporary, sizeof(temporary), "%s.%ld-%" PRIu64 ".tmp", name,
		(long)getpid(), cn_wall_us());
	int fd, r;

	if (n < 0 || n >= (int)sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return CENOTE_ERR_FILE;
	}
	fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		CREATE_MODE);
	if (fd < 0)
		return CENOTE_ERR_FILE;
	r = write_all(fd, bytes, len);
	close_keeping_errno(fd);
	if (r == CENOTE_OK && renameat(dir, temporary, dir, name) < 0)
		r = CENOTE_ERR_FILE;
	if (r < 0) {
		int error = errno;

		(void)unlinkat(dir, temporary, 0);
		errno = error;
	}
	return r;
}

/* ---- the public calls ---- */

/* The bytes of a row that was checked when it came. */
static size_t
row_size(const uint8_t *row, uint32_t n_columns)
{
	if (n_columns == 0)
		return 0;
	return (cnc_get_u32(row + (size_t)4 * (n_columns - 1)) & ~CNC_BATCH_NULL) + 1;
}

/* Put rows into one batch, from row `at` on. *ret_n: how many. */
static int
put_rows(struct cnc_buf *b, const struct cnc_rowset *rows, size_t at, size_t *ret_n)
{
	size_t start = cnc_buf_len(b), len = CNC_BATCH_HEADER, n = 0;
	int r = cnc_buf_u32(b, 0);

	if (r == CENOTE_OK)
		r = cnc_buf_u32(b, 0);
	if (r == CENOTE_OK)
		r = cnc_buf_u32(b, rows->n_columns);
	while (r == CENOTE_OK && at + n < rows->n_rows && len < BATCH_MAX &&
		n < CNC_BATCH_EMPTY_ROWS_MAX) {
		const uint8_t *row = rows->rows[at + n];
		size_t size = row_size(row, rows->n_columns);

		r = cnc_buf_append(b, row, size);
		len += size;
		n++;
	}
	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, 0);
	if (r < 0)
		return r;
	cnc_put_u32(b->data + b->head + start, (uint32_t)len);
	cnc_put_u32(b->data + b->head + start + 4, (uint32_t)n);
	*ret_n = n;
	return CENOTE_OK;
}

static int
put_result(struct cnc_buf *b, const cenote_result *res)
{
	const struct cnc_rowset *rows = &res->rows[res->at];
	size_t at = 0, n = 0;
	int r = cnc_saved_begin(b, "", 0);

	if (r == CENOTE_OK)
		r = cn_result_put_columns(b, res->columns);
	while (r == CENOTE_OK && at < rows->n_rows) {
		r = put_rows(b, rows, at, &n);
		at += n;
	}
	return r == CENOTE_OK ? cn_result_put_end(b, res) : r;
}

int
cenote_result_save(const cenote_result *res, const char *path, uint64_t keep_ms)
{
	struct cnc_buf b;
	int r;

	if (!res || !path || !*path || res->kind != CENOTE_RESULT_ROWS || !res->columns)
		return CENOTE_ERR_ARG;
	if (res->stream != CN_STREAM_NO)
		return CENOTE_ERR_STATE;
	cnc_buf_init(&b, &res->mem, CN_RESULT_FILE_MAX);
	r = put_result(&b, res);
	if (r == CENOTE_OK) {
		cnc_saved_end(&b, cn_wall_us(), keep_ms);
		r = cn_result_file_write(
			AT_FDCWD, path, cnc_buf_head(&b), cnc_buf_len(&b));
	}
	cnc_buf_finish(&b);
	return r;
}

static int
open_block(const struct cenote_allocator *mem, struct cnc_block *block,
	cenote_result **ret_res)
{
	struct cnc_saved saved;
	int r = cnc_saved_read(block->data, block->len, &saved);

	if (r == CENOTE_OK && !cnc_saved_is_fresh(&saved, cn_wall_us(), 0))
		return CENOTE_DONE;
	if (r == CENOTE_OK)
		r = cn_result_decode(mem, block, &saved, ret_res);
	if (r != CENOTE_ERR_PROTOCOL)
		return r;
	errno = EBADMSG;
	return CENOTE_ERR_FILE;
}

int
cenote_result_open(
	const cenote_allocator *alloc, const char *path, cenote_result **ret_res)
{
	const cenote_allocator *mem = alloc ? alloc : &cnc_mem_default;
	struct cnc_block *block;
	int r;

	if (!path || !*path || !ret_res)
		return CENOTE_ERR_ARG;
	r = cn_result_file_read(mem, AT_FDCWD, path, 0, &block);
	if (r != CENOTE_OK)
		return r;
	r = open_block(mem, block, ret_res);
	cnc_block_unref(block);
	return r;
}
