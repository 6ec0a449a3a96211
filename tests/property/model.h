/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROPERTY_MODEL_H
#define PROPERTY_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/batch.h"
#include "support/cnt_random.h"

/* Rows in the simplest form: an array of values, each in its own memory. */
struct model {
	struct model_value {
		char *bytes; /* NULL: the value is NULL */
		size_t len;
	} * values; /* row r and column c: values[r * n_columns + c] */
	size_t n_rows;
	uint32_t n_columns;
};

void model_init(struct model *m, uint32_t n_columns);
void model_clear(struct model *m);
/* Add a row of random values, mostly small. */
void model_add_random_row(struct model *m, struct cnt_random *rnd, size_t max_len);
/*
 * Add the rows of a batch, read by the rules of docs/protocol.md. This is a second implementation,
 * without any regard for speed. Returns 1, or 0 if the bytes are not a batch; then nothing was
 * added.
 */
int model_add_batch(struct model *m, const uint8_t *batch, size_t len);
/* Append rows first … first + n - 1 to the buffer, as a batch. */
void model_write_batch(
	const struct model *m, size_t first, size_t n, struct cnc_buf *out);

#endif
