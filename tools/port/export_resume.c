/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Continues the file of an export: finds the last complete record, cuts what follows it, and keeps its key. export.c calls
 * it. The position is read from the file itself. A state file could say something else after a crash.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export.h"

/* What scan() found. */
struct end {
	uint64_t
		offset; /* end of the last complete record, in uncompressed data; 0: there is none */
	uint64_t n_records;
	bool has_rest; /* an incomplete record follows */
};

/* Copy the values of the key, because the next record overwrites them. */
static int
keep_key(struct export *e, const struct records *r, struct text *kept)
{
	size_t i;

	for (i = 0; i < e->keys.n; i++) {
		struct column *c = columns_find(&r->columns, e->keys.list[i].name);
		const struct cell *cell =
			c ? &r->cells[c - r->columns.list] : &(struct cell){ 0 };

		if (!cell->text) {
			port_say("%s:%lu: the key %s %s", e->file, r->line,
				e->keys.list[i].name,
				c ? "is empty" : "is not in the file");
			return PORT_FAILED;
		}
		text_clear(&kept[i]);
		text_add(&kept[i], cell->text, cell->len);
	}
	return PORT_OK;
}

/* Read the file up to its end. A record that is incomplete or damaged is also the end: the export may have been killed. */
static int
read_to_end(struct export *e, struct records *r, struct text *kept, struct end *ret_end)
{
	int result = PORT_OK, more = 1;

	if (records_begin(r) < 0)
		return PORT_OK;
	if (r->options.format != PORT_SQL && records_is_complete(r))
		ret_end->offset = records_offset(r);
	while (result == PORT_OK && !port_is_stopped() && (more = records_next(r)) > 0) {
		ret_end->has_rest = !records_is_complete(r);
		if (ret_end->has_rest)
			continue;
		result = keep_key(e, r, kept);
		ret_end->offset = records_offset(r);
		ret_end->n_records = r->n_records;
	}
	ret_end->has_rest |= more < 0;
	return port_is_stopped() ? PORT_STOPPED : result;
}

static void
take_end(struct export *e, const struct records *r, struct text *kept,
	const struct end *end)
{
	size_t i;

	if (end->offset == 0)
		return;
	for (i = 0; i < r->columns.n; i++) {
		const char *name = r->columns.list[i].name;

		(void)columns_add(&e->file_columns, name, strlen(name));
	}
	e->n_rows = end->n_records;
	e->has_last_key = end->n_records > 0;
	if (!e->has_last_key)
		return;
	e->last_key = mem_resize(NULL, e->keys.n, sizeof(e->last_key[0]));
	for (i = 0; i < e->keys.n; i++)
		e->last_key[i] = (struct cell){ mem_dup(text_str(&kept[i]), kept[i].len),
			kept[i].len };
}

static int
scan(struct export *e, struct end *ret_end)
{
	const struct records_options options = {
		.format = e->format,
		.has_header = e->has_header,
		.has_types = e->has_types,
		.has_backslash = e->sql_dialect->has_backslash,
	};
	struct text *kept = mem_resize(NULL, e->keys.n, sizeof(kept[0]));
	struct stream in;
	struct records r;
	size_t i;
	int result = PORT_USAGE;

	memset(kept, 0, e->keys.n * sizeof(kept[0]));
	*ret_end = (struct end){ 0 };
	if (stream_open(&in, e->file, STREAM_READ, e->is_zstd) == 0) {
		records_init(&r, in.file, &options);
		result = read_to_end(e, &r, kept, ret_end);
		if (result == PORT_OK)
			take_end(e, &r, kept, ret_end);
		records_finish(&r);
		(void)stream_close(&in);
	}
	for (i = 0; i < e->keys.n; i++)
		text_finish(&kept[i]);
	free(kept);
	return result;
}

static int
cut(const char *file, uint64_t size)
{
	if (truncate(file, (off_t)size) == 0)
		return PORT_OK;
	port_say("%s: %s", file, strerror(errno));
	return PORT_USAGE;
}

/* Cut a compressed file after its last whole frame. Our frames end with complete records. */
static int
cut_frames(struct export *e, off_t size)
{
	uint64_t whole;

	if (stream_find_end(e->file, &whole) < 0)
		return PORT_USAGE;
	if (whole == 0 && size > 0) {
		port_say("%s has no complete part; --overwrite replaces the file",
			e->file);
		return PORT_USAGE;
	}
	return cut(e->file, whole);
}

/* Check that this export can have written the records of the file. */
static int
check_end(struct export *e, const struct end *end, off_t size)
{
	if (end->offset == 0 && size > 0) {
		port_say("%s has no complete record of this format; --overwrite replaces "
			 "the file",
			e->file);
		return PORT_USAGE;
	}
	if (e->is_zstd && end->has_rest) {
		port_say("%s does not end with a complete record; --overwrite replaces "
			 "the file",
			e->file);
		return PORT_USAGE;
	}
	return e->file_columns.n > 0 ? export_check_file(e) : PORT_OK;
}

int
export_resume(struct export *e)
{
	struct stat st;
	struct end end;
	int r = PORT_OK;

	if (stat(e->file, &st) < 0) {
		if (errno == ENOENT)
			return PORT_OK;
		port_say("%s: %s", e->file, strerror(errno));
		return PORT_USAGE;
	}
	if (e->is_zstd)
		r = cut_frames(e, st.st_size);
	if (r == PORT_OK)
		r = scan(e, &end);
	if (r == PORT_OK)
		r = check_end(e, &end, st.st_size);
	return r == PORT_OK && !e->is_zstd ? cut(e->file, end.offset) : r;
}
