/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The formats csv and tsv; csv.h has the rules. output.c calls it. It has no state.
 */
#include "output.h"

#include <string.h>

static enum csv_kind
kind_of(const struct output *out)
{
	return out->ops == &output_tsv ? CSV_TAB : CSV_COMMA;
}

static void
csv_begin(struct output *out)
{
	enum csv_kind kind = kind_of(out);
	size_t col;

	if (!out->settings->has_header)
		return;
	for (col = 0; col < out->n_columns; col++) {
		struct cell name = { out->columns[col].name, 0 };

		name.len = strlen(name.text);
		if (col > 0)
			text_add_char(&out->text, csv_separator(kind));
		csv_add_field(&out->text, kind, &name);
	}
	text_add_char(&out->text, '\n');
}

static void
add_bytes(struct text *t, enum csv_kind kind, const struct cell *cell)
{
	struct text hex = { 0 };
	struct cell shown;

	output_add_hex(&hex, cell);
	shown = (struct cell){ text_str(&hex), hex.len };
	csv_add_field(t, kind, &shown);
	text_finish(&hex);
}

static void
csv_row(struct output *out, const struct cell *cells)
{
	enum csv_kind kind = kind_of(out);
	size_t col;

	for (col = 0; col < out->n_columns; col++) {
		if (col > 0)
			text_add_char(&out->text, csv_separator(kind));
		if (cells[col].text && out->columns[col].type == CENOTE_TYPE_BYTES)
			add_bytes(&out->text, kind, &cells[col]);
		else
			csv_add_field(&out->text, kind, &cells[col]);
	}
	text_add_char(&out->text, '\n');
}

static void
csv_end(struct output *out)
{
	(void)out;
}

const struct output_ops output_csv = {
	.name = "csv",
	.size = sizeof(struct output),
	.begin = csv_begin,
	.row = csv_row,
	.end = csv_end,
};

const struct output_ops output_tsv = {
	.name = "tsv",
	.size = sizeof(struct output),
	.begin = csv_begin,
	.row = csv_row,
	.end = csv_end,
};
