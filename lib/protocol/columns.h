/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_COLUMNS_H
#define CNP_COLUMNS_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/value.h"
#include "protocol/msg.h"

/*
 * One column description. COLUMNS payload: u32 n, then n times: 7 × str (name, org_name, table,
 * org_table, schema, catalog, type_name), u8 type, u8 format, u8 nullable, u8 0, u32 native_type,
 * i32 modifier, u32 native_flags, u32 charset, i64 length, i32 precision, i32 scale, u32 table_id,
 * u32 attnum.
 */
struct cnp_column {
	struct cnp_str name, org_name, table, org_table, schema, catalog, type_name;
	uint8_t type; /* enum cenote_type */
	uint8_t format; /* enum cenote_format */
	uint8_t nullable; /* 0 no, 1 yes, 2 unknown */
	uint32_t native_type;
	int32_t modifier; /* -1 none */
	uint32_t native_flags;
	uint32_t charset;
	int64_t length; /* -1 variable or unknown */
	int32_t precision; /* -1 unknown */
	int32_t scale; /* -1 unknown */
	uint32_t table_id;
	uint32_t attnum; /* from 1; 0 none */
};

/* Everything is "unknown", and the name is "". */
#define CNP_COLUMN_INIT                                                                  \
	{                                                                                \
		.name = { "", 0 }, .org_name = { "", 0 }, .table = { "", 0 },            \
		.org_table = { "", 0 }, .schema = { "", 0 }, .catalog = { "", 0 },       \
		.type_name = { "", 0 }, .nullable = 2, .modifier = -1, .length = -1,     \
		.precision = -1, .scale = -1                                             \
	}

/* Payloads of COLUMNS. Encode: CENOTE_OK, CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
int cnp_columns_encode(struct cnc_buf *b, const struct cnp_column *columns, uint32_t n);
/* Copies the array and its text into the arena. CENOTE_OK, CENOTE_ERR_PROTOCOL,
 * CENOTE_ERR_NOMEM. */
int cnp_columns_decode(const uint8_t *payload, size_t len, struct cnc_arena *arena,
	struct cnp_column **ret_columns, uint32_t *ret_n);

/* Payloads of PARAMS: u32 n, then n times: u8 type, u32 native_type, str name. */
struct cnp_param {
	uint8_t type;
	uint32_t native_type;
	struct cnp_str name;
};

int cnp_params_encode(struct cnc_buf *b, const struct cnp_param *params, uint32_t n);
int cnp_params_decode(const uint8_t *payload, size_t len, struct cnc_arena *arena,
	struct cnp_param **ret_params, uint32_t *ret_n);

/* The blob of bound values in QUERY, EXECUTE and OUTPUT: u16 n, then n values (core/value.h). An
 * empty blob means no values. The array is allocated in the arena; texts point into the blob. */
int cnp_values_decode(struct cnp_str blob, struct cnc_arena *arena,
	struct cnc_value **ret_values, uint32_t *ret_n);

#endif
