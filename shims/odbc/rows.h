/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_ROWS_H
#define COD_ROWS_H

/* Rows in memory, in the layout that cenote_row_text() reads. So a cursor treats rows that the
 * driver made or saved like rows of the server. */

#include <stddef.h>
#include <stdint.h>

struct cod_rows_block;

struct cod_rows {
	const uint8_t **rows;
	size_t n_rows;
	size_t room;
	uint32_t n_columns;
	struct cod_rows_block *block; /* the newest block, which is being filled */
};

void cod_rows_init(struct cod_rows *rows, uint32_t n_columns);
void cod_rows_finish(struct cod_rows *rows);

/* Append a row of n_columns values; NULL is NULL. 0, or -1: no memory, or a row of 2 GB or more. */
int cod_rows_put(struct cod_rows *rows, const char *const *values, const size_t *lens);
/* Append a copy of a row of the same layout. 0 or -1. */
int cod_rows_copy(struct cod_rows *rows, const uint8_t *row);

/* Sort the rows, as qsort() does. */
void cod_rows_sort(struct cod_rows *rows, int (*compare)(const void *, const void *));

#endif
