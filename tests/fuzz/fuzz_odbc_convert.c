/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "shims/odbc/convert.h"
#include "shims/odbc/types.h"

struct input {
	SQLSMALLINT sql_type, c_type;
	size_t room;
	char *text; /* in memory of its exact size */
	size_t n;
};

static int
is_error(const char *state)
{
	FUZZ_CHECK(!state || strlen(state) == 5);
	return state && strncmp(state, "01", 2) != 0;
}

/* Convert into memory that ends where the room ends. */
static void
get(const struct input *in, struct cod_piece *piece)
{
	const struct cod_c_type *type = cod_c_type(in->c_type);
	size_t fixed = type ? (size_t)type->octets : 0;
	size_t room = fixed ? fixed : in->c_type == SQL_C_DEFAULT ? 64 : in->room;
	const struct cod_value value = { in->text, in->n, CENOTE_TYPE_TEXT, in->sql_type,
		0 };
	char *buffer = malloc(room + !room);
	SQLLEN octets = -1;
	const struct cod_target target = { .c_type = in->c_type,
		.to = buffer,
		.room = (SQLLEN)room,
		.octets = &octets,
		.indicator = &octets,
		.scale = (SQLSMALLINT)(in->room % 7) };
	const char *state;

	FUZZ_CHECK(buffer != NULL);
	state = cod_get(&value, &target, piece);
	FUZZ_CHECK(is_error(state) || octets >= 0);
	if (piece && is_error(state))
		piece->is_done = 1;
	free(buffer);
}

/* Repeated calls of SQLGetData() come to an end. */
static void
get_in_pieces(const struct input *in)
{
	struct cod_piece piece = { 0 };
	size_t calls = 0;

	if (in->room == 0)
		return;
	while (!piece.is_done) {
		size_t before = piece.offset;

		get(in, &piece);
		FUZZ_CHECK(piece.is_done || piece.offset > before || in->room < 4);
		if (in->room < 4 && ++calls > 4)
			return;
	}
}

static void
put(const struct input *in)
{
	const struct cod_c_type *type = cod_c_type(in->c_type);
	struct cod_source source = { .c_type = in->c_type,
		.from = in->text,
		.n = (SQLLEN)in->n,
		.sql_type = in->sql_type,
		.scale = (SQLSMALLINT)(in->room % 7) };
	struct cod_param param;

	if (in->c_type == SQL_C_DEFAULT ||
		(type && type->octets && (size_t)type->octets > in->n))
		return;
	for (size_t i = 0; i < COD_N_DIALECTS; i++) {
		const char *state = cod_param_read((enum cod_dialect)i, &source, &param);

		FUZZ_CHECK(!is_error(state) || param.type == CENOTE_TYPE_NULL ||
			   !param.memory);
		cod_param_finish(&param);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in;

	if (size < 3)
		return 0;
	in.sql_type = (SQLSMALLINT)(data[0] < 128 ? data[0] : data[0] - 256);
	in.c_type = (SQLSMALLINT)(data[1] < 128 ? data[1] : data[1] - 256);
	in.room = data[2];
	in.n = size - 3;
	in.text = malloc(in.n + !in.n);
	FUZZ_CHECK(in.text != NULL);
	memcpy(in.text, data + 3, in.n);
	get(&in, NULL);
	get_in_pieces(&in);
	put(&in);
	free(in.text);
	return 0;
}
