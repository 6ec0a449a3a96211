/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of prepared statements. Numbers, dates and times are fetched into one cell each, in binary
 * form. All other values are bound without room, so that the library only reports their length. Then
 * they are copied straight from the library's buffer into the batch, so a value of 64 MB needs no
 * third copy.
 */
#include <string.h>

#include "my.h"
#include "values.h"

struct cell {
	union {
		uint8_t bytes[8];
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
		float f32;
		double f64;
		MYSQL_TIME time;
	} as;
	unsigned long length;
	cnd_my_bool is_null;
	cnd_my_bool is_cut;
};

struct cnd_my_rows {
	const struct cnp_column *columns;
	uint32_t n;
	struct cell *cells;
	MYSQL_BIND *binds;
};

static int
is_time(uint32_t type)
{
	return type == MYSQL_TYPE_DATE || type == MYSQL_TYPE_TIME ||
	       type == MYSQL_TYPE_DATETIME || type == MYSQL_TYPE_TIMESTAMP;
}

/* The types that the libraries can read. They would not know the length of a value of another type. */
static int
is_known(uint32_t type)
{
	return type <= MYSQL_TYPE_BIT || type == CND_MY_TYPE_VECTOR ||
	       (type >= CND_MY_TYPE_JSON && type <= MYSQL_TYPE_GEOMETRY);
}

static void
bind_cell(MYSQL_BIND *b, struct cell *cell, const MYSQL_FIELD *field, uint32_t type)
{
	memset(b, 0, sizeof(*b));
	b->length = &cell->length;
	b->is_null = &cell->is_null;
	b->error = &cell->is_cut;
	b->is_unsigned = (cnd_my_bool)((field->flags & UNSIGNED_FLAG) != 0);
	b->buffer = &cell->as;
	b->buffer_length = sizeof(cell->as);
	if (cnd_my_binary_size(type) >= 0 || is_time(type)) {
		b->buffer_type = (enum enum_field_types)type;
		/* Neither library has a buffer type for these two. */
		if (type == MYSQL_TYPE_INT24)
			b->buffer_type = MYSQL_TYPE_LONG;
		else if (type == MYSQL_TYPE_YEAR)
			b->buffer_type = MYSQL_TYPE_SHORT;
		return;
	}
	b->buffer_type = MYSQL_TYPE_BLOB;
	b->buffer_length = 0;
}

static int
bind_all(struct cnd_session *s, MYSQL_STMT *stmt, const MYSQL_FIELD *fields,
	struct cnd_my_rows *rows)
{
	uint32_t i, type;

	for (i = 0; i < rows->n; i++) {
		type = rows->columns[i].native_type;
		if (type == CND_MY_TYPE_VECTOR)
			cnd_my_read_as_blob(stmt, i);
		if (!is_known(type))
			return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED),
				"Cast it to CHAR or BINARY.",
				"column %u is of type %u, which the client library "
				"cannot read in a prepared statement",
				(unsigned)i + 1, (unsigned)type);
		bind_cell(&rows->binds[i], &rows->cells[i], &fields[i], type);
	}
	if (mysql_stmt_bind_result(stmt, rows->binds) != 0)
		return cnd_my_diag(s->diag, mysql_stmt_errno(stmt),
			mysql_stmt_sqlstate(stmt), mysql_stmt_error(stmt), s->server);
	return CENOTE_OK;
}

int
cnd_my_rows_bind(struct cnd_session *s, MYSQL_STMT *stmt, const MYSQL_FIELD *fields,
	const struct cnp_column *columns, uint32_t n, struct cnd_my_rows **ret_rows)
{
	struct cnd_my_rows *rows = cnc_calloc(s->mem, 1, sizeof(*rows));
	int r = CENOTE_ERR_NOMEM;

	if (!rows)
		return r;
	rows->columns = columns;
	rows->n = n;
	rows->cells = cnc_calloc(s->mem, n, sizeof(*rows->cells));
	rows->binds = cnc_calloc(s->mem, n, sizeof(*rows->binds));
	if (rows->cells && rows->binds)
		r = bind_all(s, stmt, fields, rows);
	if (r < 0) {
		cnd_my_rows_free(s, rows);
		return r;
	}
	*ret_rows = rows;
	return CENOTE_OK;
}

void
cnd_my_rows_free(struct cnd_session *s, struct cnd_my_rows *rows)
{
	if (!rows)
		return;
	cnc_free(s->mem, rows->cells);
	cnc_free(s->mem, rows->binds);
	cnc_free(s->mem, rows);
}

/* Put the cell's number into the form of the binary protocol, which is little-endian on every machine. */
static size_t
pack_number(const struct cell *cell, uint32_t type, uint8_t *out)
{
	uint64_t bits;
	uint32_t bits32;

	switch (type) {
	case MYSQL_TYPE_TINY:
		out[0] = cell->as.bytes[0];
		return 1;
	case MYSQL_TYPE_SHORT:
	case MYSQL_TYPE_YEAR:
		cnc_put_u16(out, cell->as.u16);
		return 2;
	case MYSQL_TYPE_INT24:
	case MYSQL_TYPE_LONG:
	case MYSQL_TYPE_FLOAT:
		memcpy(&bits32, &cell->as, sizeof(bits32));
		cnc_put_u32(out, bits32);
		return 4;
	default:
		memcpy(&bits, &cell->as, sizeof(bits));
		cnc_put_u64(out, bits);
		return 8;
	}
}

/* Write all of a value whose length is now known. */
static int
fetch(struct cnd_session *s, MYSQL_STMT *stmt, uint32_t i, char *room, size_t n)
{
	unsigned long length = 0;
	cnd_my_bool is_null = 0, is_cut = 0;
	MYSQL_BIND b;

	memset(&b, 0, sizeof(b));
	b.buffer_type = MYSQL_TYPE_BLOB;
	b.buffer = room;
	b.buffer_length = n;
	b.length = &length;
	b.is_null = &is_null;
	b.error = &is_cut;
	if (mysql_stmt_fetch_column(stmt, &b, i, 0) != 0)
		return cnd_my_diag(s->diag, mysql_stmt_errno(stmt),
			mysql_stmt_sqlstate(stmt), mysql_stmt_error(stmt), s->server);
	return CENOTE_OK;
}

/* Write a value that the library keeps as text or bytes. */
static int
put_bytes(struct cnd_session *s, MYSQL_STMT *stmt, const struct cnp_column *c, uint32_t i,
	size_t n, struct cnc_batch *w)
{
	char text[256], *room = text;
	int is_direct = n > sizeof(text) || cnd_my_is_plain(c);
	int r = is_direct ? cnc_batch_room(w, n, &room) : CENOTE_OK;

	if (r == CENOTE_OK && n > 0)
		r = fetch(s, stmt, i, room, n);
	if (r < 0)
		return r;
	if (!is_direct)
		return cnd_my_text_put(w, c, text, n);
	cnc_batch_room_done(w, n);
	return CENOTE_OK;
}

static int
put_cell(struct cnd_session *s, MYSQL_STMT *stmt, const struct cnd_my_rows *rows,
	uint32_t i, struct cnc_batch *w)
{
	const struct cell *cell = &rows->cells[i];
	const struct cnp_column *c = &rows->columns[i];
	uint8_t bytes[CND_MY_TIME_MAX];
	size_t n;

	if (cell->is_null || c->native_type == MYSQL_TYPE_NULL)
		return cnc_batch_null(w);
	if (is_time(c->native_type))
		n = cnd_my_time_pack(c->native_type, &cell->as.time, bytes);
	else if (cnd_my_binary_size(c->native_type) > 0)
		n = pack_number(cell, c->native_type, bytes);
	else
		return put_bytes(s, stmt, c, i, cell->length, w);
	return cnd_my_binary_put(w, c, bytes, n);
}

/* Finish the row; if `r` is a failure, remove the row from the batch. */
static int
end_row(struct cnd_session *s, struct cnc_batch *w, int r)
{
	if (r == CENOTE_OK) {
		cnc_batch_row_done(w);
		return r;
	}
	cnc_batch_row_undo(w);
	if (r == CENOTE_ERR_PROTOCOL)
		return cnd_my_diag(s->diag, CR_MALFORMED_PACKET, NULL,
			"the server sent a value that is not of its column's type",
			s->server);
	return r;
}

/* Whether the packet is a row, and not the end of the rows or an error. */
static int
is_row(enum cnd_my_protocol protocol, const uint8_t *packet, size_t len)
{
	return len > 0 && (protocol == CND_MY_BINARY ? packet[0] == 0 : packet[0] < 254);
}

static int
put_packet(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	enum cnd_my_protocol protocol, const uint8_t *packet, size_t len)
{
	switch (protocol) {
	case CND_MY_PLAIN:
		return cnd_my_plain_row(w, n, packet, len);
	case CND_MY_TEXT:
		return cnd_my_text_row(w, columns, n, packet, len);
	default:
		return cnd_my_binary_row(w, columns, n, packet, len);
	}
}

int
cnd_my_put_ahead(struct cnd_session *s, const struct cnp_column *columns, uint32_t n,
	enum cnd_my_protocol protocol, struct cnc_batch *w)
{
	const uint8_t *packet;
	size_t len;
	int r;

	if (!cnd_my_peek(s->my, &packet, &len) || !is_row(protocol, packet, len))
		return CENOTE_DONE;
	r = cnc_batch_row(w);
	if (r == CENOTE_OK)
		r = put_packet(w, columns, n, protocol, packet, len);
	cnd_my_take(s->my, len);
	r = end_row(s, w, r);
	return r < 0 ? r : CENOTE_ROW;
}

int
cnd_my_put_row_ahead(
	struct cnd_session *s, const struct cnd_my_rows *rows, struct cnc_batch *w)
{
	return cnd_my_put_ahead(s, rows->columns, rows->n, CND_MY_BINARY, w);
}

int
cnd_my_put_row(struct cnd_session *s, struct cnd_my_rows *rows, MYSQL_STMT *stmt,
	struct cnc_batch *w)
{
	int r = cnc_batch_row(w);
	uint32_t i;

	for (i = 0; r == CENOTE_OK && i < rows->n; i++)
		r = put_cell(s, stmt, rows, i, w);
	return end_row(s, w, r);
}

int
cnd_my_put_text(struct cnd_session *s, const struct cnp_column *columns, uint32_t n,
	MYSQL_ROW row, const unsigned long *lengths, struct cnc_batch *w)
{
	int r = cnc_batch_row(w);
	uint32_t i;

	for (i = 0; r == CENOTE_OK && i < n; i++)
		r = row[i] ? cnd_my_text_put(w, &columns[i], row[i], lengths[i])
			   : cnc_batch_null(w);
	return end_row(s, w, r);
}
