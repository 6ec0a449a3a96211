/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of a record. csv.c and the readers of cenote-import call it. The state is struct fields.
 */
#include "fields.h"

#include <stdlib.h>

void
fields_finish(struct fields *f)
{
	text_finish(&f->data);
	free(f->list);
	free(f->offsets);
	free(f->is_null);
	*f = (struct fields){ 0 };
}

void
fields_clear(struct fields *f)
{
	f->n = 0;
	text_clear(&f->data);
}

int
fields_begin(struct fields *f)
{
	if (f->n >= CSV_FIELDS_MAX)
		return -1;
	if (f->n == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 16;
		f->list = mem_resize(f->list, f->cap, sizeof(f->list[0]));
		f->offsets = mem_resize(f->offsets, f->cap, sizeof(f->offsets[0]));
		f->is_null = mem_resize(f->is_null, f->cap, sizeof(f->is_null[0]));
	}
	f->offsets[f->n] = f->data.len;
	f->is_null[f->n] = false;
	f->n++;
	return 0;
}

void
fields_end(struct fields *f, bool is_null)
{
	f->is_null[f->n - 1] = is_null;
	text_add_char(&f->data, '\0');
}

void
fields_point(struct fields *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		size_t end = i + 1 < f->n ? f->offsets[i + 1] : f->data.len;

		f->list[i] = (struct cell){ 0 };
		if (!f->is_null[i])
			f->list[i] = (struct cell){ f->data.data + f->offsets[i],
				end - f->offsets[i] - 1 };
	}
}
