/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes results: chooses the format's functions, the pager or the file, and handles write errors.
 * run.c and the cmd_*.c files call it. The state is struct output.
 */
#include "output.h"

#include <stdlib.h>
#include <string.h>

#include "pager.h"

#define OUTPUT_CHUNK 32768u

static const char dim[] = "\033[2m", undim[] = "\033[0m";

static const struct output_ops *const formats[] = { &output_table, &output_expanded,
	&output_csv, &output_tsv, &output_json, &output_unaligned };

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct output_ops *
output_find(const char *name)
{
	size_t i;

	for (i = 0; i < N_FORMATS; i++) {
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	}
	return NULL;
}

const char *
output_name(size_t i)
{
	return i < N_FORMATS ? formats[i]->name : NULL;
}

struct output *
output_begin(const struct output_ops *ops, const struct output_settings *settings,
	FILE *file, const struct output_column *columns, size_t n_columns)
{
	struct output *out = mem_resize(NULL, 1, ops->size);

	memset(out, 0, ops->size);
	out->ops = ops;
	out->settings = settings;
	out->file = file;
	out->columns = columns;
	out->n_columns = n_columns;
	if (ops->is_for_people && settings->title)
		text_addf(&out->text, "%s\n", settings->title);
	ops->begin(out);
	return out;
}

/* A pager may show escape sequences as text. */
static void
remove_escapes(struct text *t)
{
	const char *from = text_str(t), *end = from + t->len;
	char *to = t->data;

	while (from < end) {
		if (strncmp(from, dim, strlen(dim)) == 0 ||
			strncmp(from, undim, strlen(undim)) == 0)
			from += strlen(dim);
		else
			*to++ = *from++;
	}
	t->len = (size_t)(to - t->data);
}

/* Choose the pager or the file when the first text is written. */
static void
choose_file(struct output *out, int is_whole)
{
	FILE *pager = out->settings->pager
			      ? pager_open(out->settings->pager, out->text.data,
					out->text.len, is_whole)
			      : NULL;

	out->is_begun = 1;
	out->is_paged = pager != NULL;
	if (pager)
		out->file = pager;
}

void
output_flush(struct output *out, size_t limit)
{
	if (out->text.len <= limit)
		return;
	if (!out->is_begun)
		choose_file(out, limit == 0);
	if (out->is_paged && out->settings->is_dimmed && out->ops->is_for_people)
		remove_escapes(&out->text);
	if (!out->has_failed &&
		fwrite(out->text.data, 1, out->text.len, out->file) < out->text.len)
		out->has_failed = 1;
	out->n_bytes += out->text.len;
	text_clear(&out->text);
}

void
output_row(struct output *out, const struct cell *cells)
{
	out->n_rows++;
	out->ops->row(out, cells);
	output_flush(out, OUTPUT_CHUNK);
}

int
output_end(struct output *out, int is_whole)
{
	int r;

	if (is_whole)
		out->ops->end(out);
	output_flush(out, 0);
	if (fflush(out->file) != 0)
		out->has_failed = 1;
	r = out->has_failed && !out->is_paged ? -1 : 0;
	if (out->is_paged)
		pager_close(out->file);
	if (out->ops->finish)
		out->ops->finish(out);
	text_finish(&out->text);
	free(out);
	return r;
}

void
output_add_footer(struct output *out)
{
	if (out->settings->footer)
		text_addf(&out->text, "%s\n", out->settings->footer);
	else if (out->settings->has_header)
		text_addf(&out->text, "(%llu row%s)\n\n", (unsigned long long)out->n_rows,
			out->n_rows == 1 ? "" : "s");
}

int
output_is_number(uint32_t type)
{
	return type == CENOTE_TYPE_INT64 || type == CENOTE_TYPE_UINT64 ||
	       type == CENOTE_TYPE_DOUBLE || type == CENOTE_TYPE_DECIMAL;
}

void
output_add_hex(struct text *t, const struct cell *cell)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	text_add_str(t, "\\x");
	for (i = 0; i < cell->len; i++) {
		unsigned char c = (unsigned char)cell->text[i];

		text_add_char(t, digits[c >> 4]);
		text_add_char(t, digits[c & 15]);
	}
}

size_t
output_add_shown(struct output *out, struct text *t, const struct output_column *column,
	const struct cell *cell)
{
	size_t width, before;

	if (!cell->text) {
		const char *null_text = out->settings->null_text;
		int is_dimmed = out->settings->is_dimmed && *null_text;

		text_add_str(t, is_dimmed ? dim : "");
		width = display_add(t, null_text, strlen(null_text));
		text_add_str(t, is_dimmed ? undim : "");
		return width;
	}
	if (column->type == CENOTE_TYPE_BYTES) {
		before = t->len;
		output_add_hex(t, cell);
		return t->len - before;
	}
	return display_add(t, cell->text, cell->len);
}
