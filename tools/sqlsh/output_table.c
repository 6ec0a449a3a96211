/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format table: aligned columns. The first rows are kept to choose the widths. Later rows are
 * written at once, and a value that is too wide moves the rest of its row. output.c calls it.
 */
#include "output.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_ROWS_MAX  1000u
#define TABLE_BYTES_MAX ((size_t)8 << 20)
#define TABLE_WIDTH_MAX 256u

struct table_cell {
	size_t offset; /* offset in `shown` */
	size_t len;
	size_t width;
};

struct table {
	struct output base;
	struct text shown; /* text of the kept cells */
	struct table_cell *cells;
	size_t n_cells, cap;
	size_t *widths;
	int is_streaming; /* the widths are chosen and the head is written */
};

static struct table_cell *
keep_cell(
	struct table *table, const struct output_column *column, const struct cell *cell)
{
	struct table_cell *kept;

	if (table->n_cells == table->cap) {
		table->cap = table->cap ? table->cap * 2 : 64;
		table->cells =
			mem_resize(table->cells, table->cap, sizeof(table->cells[0]));
	}
	kept = &table->cells[table->n_cells++];
	kept->offset = table->shown.len;
	kept->width = output_add_shown(&table->base, &table->shown, column, cell);
	kept->len = table->shown.len - kept->offset;
	return kept;
}

static void
widen(struct table *table, size_t col, size_t width)
{
	if (width > TABLE_WIDTH_MAX)
		width = TABLE_WIDTH_MAX;
	if (width > table->widths[col])
		table->widths[col] = width;
}

static void
put_cell(struct table *table, size_t col, const struct table_cell *cell)
{
	struct text *t = &table->base.text;
	size_t n_columns = table->base.n_columns, width = table->widths[col];
	size_t pad = cell->width < width ? width - cell->width : 0;
	int is_number = output_is_number(table->base.columns[col].type);

	text_add_str(t, col > 0 ? " | " : " ");
	text_add_repeat(t, ' ', is_number ? pad : 0);
	text_add(t, text_str(&table->shown) + cell->offset, cell->len);
	/* A line must not end with blanks. */
	text_add_repeat(t, ' ', is_number || col + 1 == n_columns ? 0 : pad);
}

static void
put_row(struct table *table, const struct table_cell *cells)
{
	size_t col;

	for (col = 0; col < table->base.n_columns; col++)
		put_cell(table, col, &cells[col]);
	text_add_char(&table->base.text, '\n');
	output_flush(&table->base, 32768);
}

static void
put_rule(struct table *table)
{
	struct text *t = &table->base.text;
	size_t col;

	for (col = 0; col < table->base.n_columns; col++) {
		text_add_str(t, col > 0 ? "+" : "");
		text_add_repeat(t, '-', table->widths[col] + 2);
	}
	text_add_char(t, '\n');
}

static void
forget_rows(struct table *table)
{
	table->n_cells = 0;
	text_clear(&table->shown);
}

/* Write the head and the kept rows, now that the widths are known. */
static void
start_streaming(struct table *table)
{
	size_t n = table->base.n_columns, row = 0;

	if (table->base.settings->has_header) {
		put_row(table, table->cells);
		put_rule(table);
	}
	for (row = n; n > 0 && row < table->n_cells; row += n)
		put_row(table, table->cells + row);
	forget_rows(table);
	table->is_streaming = 1;
}

/* The names of the columns are kept as the first row. */
static void
table_begin(struct output *out)
{
	struct table *table = (struct table *)out;
	size_t col;

	table->widths = mem_resize(NULL, out->n_columns, sizeof(table->widths[0]));
	for (col = 0; col < out->n_columns; col++) {
		static const struct output_column as_text = { "", CENOTE_TYPE_TEXT };
		struct cell name = { out->columns[col].name, 0 };
		struct table_cell *kept;

		name.len = strlen(name.text);
		kept = keep_cell(table, &as_text, &name);
		table->widths[col] = 0;
		widen(table, col, out->settings->has_header ? kept->width : 0);
	}
}

static void
table_row(struct output *out, const struct cell *cells)
{
	struct table *table = (struct table *)out;
	size_t col;

	for (col = 0; col < out->n_columns; col++) {
		struct table_cell *kept =
			keep_cell(table, &out->columns[col], &cells[col]);

		if (!table->is_streaming)
			widen(table, col, kept->width);
	}
	if (table->is_streaming) {
		put_row(table, table->cells);
		forget_rows(table);
	} else if (out->n_rows >= TABLE_ROWS_MAX || table->shown.len > TABLE_BYTES_MAX) {
		start_streaming(table);
	}
}

static void
table_end(struct output *out)
{
	struct table *table = (struct table *)out;

	if (!table->is_streaming)
		start_streaming(table);
	output_add_footer(out);
}

static void
table_finish(struct output *out)
{
	struct table *table = (struct table *)out;

	text_finish(&table->shown);
	free(table->cells);
	free(table->widths);
}

const struct output_ops output_table = {
	.name = "table",
	.size = sizeof(struct table),
	.is_for_people = 1,
	.begin = table_begin,
	.row = table_row,
	.end = table_end,
	.finish = table_finish,
};
