/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format unaligned: values as they are (bytes as hexadecimal digits), with a separator between
 * them. output.c calls it. It has no state.
 */
#include "output.h"

static void
unaligned_begin(struct output *out)
{
	size_t col;

	if (!out->settings->has_header)
		return;
	for (col = 0; col < out->n_columns; col++) {
		text_add_str(&out->text, col > 0 ? out->settings->separator : "");
		text_add_str(&out->text, out->columns[col].name);
	}
	text_add_char(&out->text, '\n');
}

static void
unaligned_row(struct output *out, const struct cell *cells)
{
	size_t col;

	for (col = 0; col < out->n_columns; col++) {
		const struct cell *cell = &cells[col];

		text_add_str(&out->text, col > 0 ? out->settings->separator : "");
		if (!cell->text)
			text_add_str(&out->text, out->settings->null_text);
		else if (out->columns[col].type == CENOTE_TYPE_BYTES)
			output_add_hex(&out->text, cell);
		else
			text_add(&out->text, cell->text, cell->len);
	}
	text_add_char(&out->text, '\n');
}

static void
unaligned_end(struct output *out)
{
	(void)out;
}

const struct output_ops output_unaligned = {
	.name = "unaligned",
	.size = sizeof(struct output),
	.begin = unaligned_begin,
	.row = unaligned_row,
	.end = unaligned_end,
};
