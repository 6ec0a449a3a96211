/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows in memory, in blocks that only grow, and in the layout that cenote_row_text() reads.
 * cursor.c and catalog.c fill them. The state is struct cod_rows.
 */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include <cenote/cenote.h>

enum {
	BLOCK_SIZE = 64 * 1024,
	ROOM_MIN = 64
};

#define ROW_NULL UINT32_C(0x80000000)
#define ROW_MAX  UINT32_C(0x7fffffff)

struct cod_rows_block {
	struct cod_rows_block *next;
	size_t used, size;
	uint8_t bytes[];
};

void
cod_rows_init(struct cod_rows *rows, uint32_t n_columns)
{
	*rows = (struct cod_rows){ .n_columns = n_columns };
}

void
cod_rows_finish(struct cod_rows *rows)
{
	struct cod_rows_block *block = rows->block, *next;

	for (; block != NULL; block = next) {
		next = block->next;
		free(block);
	}
	free(rows->rows);
	cod_rows_init(rows, rows->n_columns);
}

static int
make_room(struct cod_rows *rows)
{
	size_t room = rows->room < ROOM_MIN ? ROOM_MIN : rows->room * 2;
	const uint8_t **grown;

	if (rows->n_rows < rows->room)
		return 0;
	grown = realloc(rows->rows, room * sizeof(*grown));
	if (grown == NULL)
		return -1;
	rows->rows = grown;
	rows->room = room;
	return 0;
}

/* Add a block. A large row gets its own block, and the current block stays in use. */
static struct cod_rows_block *
add_block(struct cod_rows *rows, size_t len)
{
	size_t size = len > BLOCK_SIZE ? len : BLOCK_SIZE;
	struct cod_rows_block *block = malloc(sizeof(*block) + size);

	if (block == NULL)
		return NULL;
	block->used = 0;
	block->size = size;
	if (len > BLOCK_SIZE && rows->block != NULL) {
		block->next = rows->block->next;
		rows->block->next = block;
	} else {
		block->next = rows->block;
		rows->block = block;
	}
	return block;
}

static uint8_t *
append(struct cod_rows *rows, size_t len)
{
	struct cod_rows_block *block = rows->block;
	uint8_t *row;

	if (len > ROW_MAX || make_room(rows) < 0)
		return NULL;
	if (block == NULL || block->size - block->used < len)
		block = add_block(rows, len);
	if (block == NULL)
		return NULL;
	row = block->bytes + block->used;
	block->used += len;
	rows->rows[rows->n_rows++] = row;
	return row;
}

static void
put_u32(uint8_t *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

int
cod_rows_put(struct cod_rows *rows, const char *const *values, const size_t *lens)
{
	size_t total = (size_t)4 * rows->n_columns;
	uint32_t end;
	uint8_t *row;

	for (uint32_t i = 0; i < rows->n_columns; i++) {
		if (values[i] != NULL && lens[i] > ROW_MAX - total)
			return -1;
		total += (values[i] != NULL ? lens[i] : 0) + 1;
	}
	row = append(rows, total);
	if (row == NULL)
		return -1;
	end = 4 * rows->n_columns;
	for (uint32_t i = 0; i < rows->n_columns; i++) {
		uint32_t len = values[i] != NULL ? (uint32_t)lens[i] : 0;

		if (len > 0)
			memcpy(row + end, values[i], len);
		end += len;
		put_u32(row + (size_t)4 * i, values[i] != NULL ? end : end | ROW_NULL);
		row[end++] = '\0';
	}
	return 0;
}

int
cod_rows_copy(struct cod_rows *rows, const uint8_t *row)
{
	size_t last = (size_t)4 * (rows->n_columns - 1);
	size_t len = (cenote_row_u32(row + last) & ROW_MAX) + 1;
	uint8_t *copy = append(rows, len);

	if (copy == NULL)
		return -1;
	memcpy(copy, row, len);
	return 0;
}

void
cod_rows_sort(struct cod_rows *rows, int (*compare)(const void *, const void *))
{
	/* Without rows there is no array, and qsort() must not get NULL. */
	if (rows->n_rows > 1)
		qsort(rows->rows, rows->n_rows, sizeof(*rows->rows), compare);
}
