/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format expanded: one line for each value. output.c calls it.
 */
#include "output.h"

#include <string.h>

struct expanded {
	struct output base;
	size_t width; /* of the widest column name */
};

static void
expanded_begin(struct output *out)
{
	struct expanded *expanded = (struct expanded *)out;
	size_t col;

	for (col = 0; col < out->n_columns; col++) {
		const char *name = out->columns[col].name;
		size_t width = display_width(name, strlen(name));

		if (width > expanded->width)
			expanded->width = width;
	}
}

static void
put_record_line(struct expanded *expanded)
{
	struct text *t = &expanded->base.text;
	size_t before = t->len, used;

	text_addf(t, "-[ RECORD %llu ]", (unsigned long long)expanded->base.n_rows);
	used = t->len - before;
	/* The rule is a little longer than the names, so that it reaches above the values. */
	if (used < expanded->width + 12)
		text_add_repeat(t, '-', expanded->width + 12 - used);
	text_add_char(t, '\n');
}

static void
expanded_row(struct output *out, const struct cell *cells)
{
	struct expanded *expanded = (struct expanded *)out;
	size_t col;

	if (out->settings->has_header)
		put_record_line(expanded);
	else if (out->n_rows > 1)
		text_add_char(&out->text, '\n');
	for (col = 0; col < out->n_columns; col++) {
		const char *name = out->columns[col].name;
		size_t width = display_add(&out->text, name, strlen(name));

		text_add_repeat(&out->text, ' ', expanded->width - width);
		text_add_str(&out->text, " | ");
		(void)output_add_shown(out, &out->text, &out->columns[col], &cells[col]);
		text_add_char(&out->text, '\n');
	}
}

static void
expanded_end(struct output *out)
{
	if (out->settings->footer || out->n_rows == 0)
		output_add_footer(out);
	else if (out->settings->has_header)
		text_add_char(&out->text, '\n');
}

const struct output_ops output_expanded = {
	.name = "expanded",
	.size = sizeof(struct expanded),
	.is_for_people = 1,
	.begin = expanded_begin,
	.row = expanded_row,
	.end = expanded_end,
};
