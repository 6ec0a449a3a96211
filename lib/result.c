/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

#include "core/dt.h"

/*
 * The functions that read results, and the descriptions of columns that results and statements
 * share. event.c fills a result; stream.c has results that are still being received. A result keeps
 * references to the received blocks, and copies no value.
 */

int
cn_columns_create(const struct cenote_allocator *mem, const uint8_t *payload, size_t len,
	struct cn_columns **ret_columns)
{
	struct cn_columns *c = cnc_alloc(mem, sizeof(*c));
	int r;

	if (!c)
		return CENOTE_ERR_NOMEM;
	c->mem = *mem;
	c->refs = 1;
	cnc_arena_init(&c->arena, &c->mem);
	r = cnp_columns_decode(payload, len, &c->arena, &c->list, &c->n);
	if (r < 0) {
		cn_columns_unref(c);
		return r;
	}
	*ret_columns = c;
	return CENOTE_OK;
}

struct cn_columns *
cn_columns_ref(struct cn_columns *columns)
{
	if (columns)
		columns->refs++;
	return columns;
}

void
cn_columns_unref(struct cn_columns *columns)
{
	struct cenote_allocator mem;

	if (!columns || --columns->refs > 0)
		return;
	mem = columns->mem;
	cnc_arena_finish(&columns->arena);
	cnc_free(&mem, columns);
}

const char *
cenote_column_text(const cenote_column *column, uint32_t attr)
{
	if (!column)
		return "";
	switch (attr) {
	case CENOTE_COLUMN_NAME:
		return column->c.name.p;
	case CENOTE_COLUMN_ORG_NAME:
		return column->c.org_name.p;
	case CENOTE_COLUMN_TABLE:
		return column->c.table.p;
	case CENOTE_COLUMN_ORG_TABLE:
		return column->c.org_table.p;
	case CENOTE_COLUMN_SCHEMA:
		return column->c.schema.p;
	case CENOTE_COLUMN_CATALOG:
		return column->c.catalog.p;
	case CENOTE_COLUMN_TYPE_NAME:
		return column->c.type_name.p;
	default:
		return "";
	}
}

int64_t
cenote_column_int(const cenote_column *column, uint32_t attr)
{
	const struct cnp_column *c;

	if (!column)
		return -1;
	c = &column->c;
	switch (attr) {
	case CENOTE_COLUMN_TYPE:
		return c->type;
	case CENOTE_COLUMN_NATIVE_TYPE:
		return c->native_type;
	case CENOTE_COLUMN_MODIFIER:
		return c->modifier;
	case CENOTE_COLUMN_NATIVE_FLAGS:
		return c->native_flags;
	case CENOTE_COLUMN_CHARSET:
		return c->charset;
	case CENOTE_COLUMN_LENGTH:
		return c->length;
	case CENOTE_COLUMN_PRECISION:
		return c->precision;
	case CENOTE_COLUMN_SCALE:
		return c->scale;
	case CENOTE_COLUMN_NULLABLE:
		return c->nullable;
	case CENOTE_COLUMN_TABLE_ID:
		return c->table_id;
	case CENOTE_COLUMN_ATTNUM:
		return c->attnum;
	case CENOTE_COLUMN_FORMAT:
		return c->format;
	default:
		return -1;
	}
}

int
cn_result_create(const struct cenote_allocator *mem, uint8_t kind,
	struct cn_columns *columns, cenote_result **ret_res)
{
	cenote_result *res = cnc_calloc(mem, 1, sizeof(*res));

	if (!res)
		return CENOTE_ERR_NOMEM;
	res->mem = *mem;
	res->kind = kind;
	res->affected = -1;
	res->tx = CENOTE_TX_UNKNOWN;
	cnc_arena_init(&res->params_arena, &res->mem);
	res->columns = cn_columns_ref(columns);
	for (int i = 0; i < 2; i++)
		cnc_rowset_init(&res->rows[i], mem, columns ? columns->n : 0);
	*ret_res = res;
	return CENOTE_OK;
}

int
cn_result_set_diag(cenote_result *res, const struct cnc_diag *diag)
{
	if (!res->diag) {
		res->diag = cnc_alloc(&res->mem, sizeof(*res->diag));
		if (!res->diag)
			return CENOTE_ERR_NOMEM;
		cnc_diag_init(&res->diag->d, &res->mem);
	}
	cnc_diag_copy(&res->diag->d, diag);
	return CENOTE_OK;
}

int
cn_result_set_tag(cenote_result *res, const struct cnp_str *tag)
{
	char *copy = NULL;

	if (tag->n > 0) {
		copy = cnc_strndup(&res->mem, tag->p, tag->n);
		if (!copy)
			return CENOTE_ERR_NOMEM;
	}
	cnc_free(&res->mem, res->tag);
	res->tag = copy;
	return CENOTE_OK;
}

struct cnc_rowset *
cn_result_incoming(cenote_result *res)
{
	return &res->rows[res->stream == CN_STREAM_NO ? 0 : 1 - res->at];
}

void
cn_result_fail(cenote_result *res, int status, const struct cnc_diag *diag)
{
	res->stream = CN_STREAM_FAILED;
	res->status = status;
	/* Without memory, only the status is set. */
	(void)cn_result_set_diag(res, diag);
}

void
cn_stream_link(cenote_conn *conn, cenote_result *res)
{
	res->conn = conn;
	res->next = conn->streams;
	conn->streams = res;
}

void
cn_stream_unlink(cenote_result *res)
{
	cenote_result **at = &res->conn->streams;

	while (*at != res)
		at = &(*at)->next;
	*at = res->next;
	res->next = NULL;
	res->conn = NULL;
}

void
cn_result_free(cenote_result *res)
{
	struct cenote_allocator mem;

	if (!res)
		return;
	if (res->conn)
		cn_stream_unlink(res);
	mem = res->mem;
	if (res->diag)
		cnc_diag_finish(&res->diag->d);
	cnc_free(&mem, res->diag);
	cnc_free(&mem, res->tag);
	cn_copy_finish(res);
	cnc_arena_finish(&res->params_arena);
	for (int i = 0; i < 2; i++)
		cnc_rowset_finish(&res->rows[i]);
	cn_columns_unref(res->columns);
	cnc_free(&mem, res);
}

void
cn_streams_fail(cenote_conn *conn, int status, const struct cnc_diag *diag)
{
	for (cenote_result *res = conn->streams; res; res = res->next) {
		if (res->stream != CN_STREAM_DONE && res->stream != CN_STREAM_FAILED)
			cn_result_fail(res, status, diag);
	}
}

int
cenote_result_kind(const cenote_result *res)
{
	return res ? res->kind : 0;
}

const cenote_diag *
cenote_result_diag(const cenote_result *res)
{
	return res && res->diag ? res->diag : &cn_diag_none;
}

uint32_t
cenote_result_n_columns(const cenote_result *res)
{
	return res && res->columns ? res->columns->n : 0;
}

const cenote_column *
cenote_result_column(const cenote_result *res, uint32_t col)
{
	if (col >= cenote_result_n_columns(res))
		return NULL;
	return (const cenote_column *)&res->columns->list[col];
}

static char
ascii_lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static int
same_name(const char *a, const char *b)
{
	while (*a && ascii_lower(*a) == ascii_lower(*b)) {
		a++;
		b++;
	}
	return ascii_lower(*a) == ascii_lower(*b);
}

int64_t
cenote_result_find_column(const cenote_result *res, const char *name)
{
	uint32_t n = cenote_result_n_columns(res);

	for (uint32_t i = 0; name && i < n; i++) {
		if (same_name(res->columns->list[i].name.p, name))
			return i;
	}
	return -1;
}

static const struct cnc_rowset *
current(const cenote_result *res)
{
	return &res->rows[res->at];
}

uint64_t
cenote_result_n_rows(const cenote_result *res)
{
	return res ? current(res)->n_rows : 0;
}

const char *
cenote_result_text(const cenote_result *res, uint64_t row, uint32_t col, size_t *ret_len)
{
	return res ? cnc_rowset_value(current(res), row, col, ret_len) : NULL;
}

const uint8_t *const *
cenote_result_rows(const cenote_result *res)
{
	return res && cenote_result_n_columns(res) > 0 ? current(res)->rows : NULL;
}

int
cenote_result_row(
	const cenote_result *res, uint64_t row, const char **ret_values, size_t *ret_lens)
{
	if (!res || row >= current(res)->n_rows || !ret_values || !ret_lens)
		return CENOTE_ERR_ARG;
	cnc_row_values(
		current(res)->rows[row], current(res)->n_columns, ret_values, ret_lens);
	return CENOTE_OK;
}

int
cenote_result_is_null(const cenote_result *res, uint64_t row, uint32_t col)
{
	return cenote_result_text(res, row, col, NULL) == NULL;
}

/* The text of a value that the caller will convert. CENOTE_OK; CENOTE_DONE for NULL. */
static int
value_text(const cenote_result *res, uint64_t row, uint32_t col, const char **ret_text,
	size_t *ret_len)
{
	if (!res || row >= cenote_result_n_rows(res) ||
		col >= cenote_result_n_columns(res))
		return CENOTE_ERR_ARG;
	*ret_text = cenote_result_text(res, row, col, ret_len);
	if (!*ret_text)
		return CENOTE_DONE;
	return res->columns->list[col].format == CENOTE_FORMAT_BINARY ? CENOTE_ERR_CONVERT
								      : CENOTE_OK;
}

int
cenote_result_int64(
	const cenote_result *res, uint64_t row, uint32_t col, int64_t *ret_value)
{
	const char *text;
	size_t len;
	int r = value_text(res, row, col, &text, &len);

	return r == CENOTE_OK ? cnc_text_int64(text, len, ret_value) : r;
}

int
cenote_result_uint64(
	const cenote_result *res, uint64_t row, uint32_t col, uint64_t *ret_value)
{
	const char *text;
	size_t len;
	int r = value_text(res, row, col, &text, &len);

	return r == CENOTE_OK ? cnc_text_uint64(text, len, ret_value) : r;
}

int
cenote_result_double(
	const cenote_result *res, uint64_t row, uint32_t col, double *ret_value)
{
	const char *text;
	size_t len;
	int r = value_text(res, row, col, &text, &len);

	return r == CENOTE_OK ? cnc_text_double(text, len, ret_value) : r;
}

int
cenote_result_date(
	const cenote_result *res, uint64_t row, uint32_t col, cenote_date *ret_value)
{
	const char *text;
	size_t len;
	int r = value_text(res, row, col, &text, &len);

	return r == CENOTE_OK ? cnc_date_parse(text, len, ret_value) : r;
}

int
cenote_result_time(
	const cenote_result *res, uint64_t row, uint32_t col, cenote_time *ret_value)
{
	const char *text;
	size_t len;
	int r = value_text(res, row, col, &text, &len);

	return r == CENOTE_OK ? cnc_time_parse(text, len, ret_value) : r;
}

int
cenote_result_timestamp(
	const cenote_result *res, uint64_t row, uint32_t col, cenote_timestamp *ret_value)
{
	const char *text;
	size_t len;
	int r = value_text(res, row, col, &text, &len);

	return r == CENOTE_OK ? cnc_timestamp_parse(text, len, ret_value) : r;
}

const char *
cenote_result_tag(const cenote_result *res)
{
	return res && res->tag ? res->tag : "";
}

int64_t
cenote_result_affected_rows(const cenote_result *res)
{
	return res ? res->affected : -1;
}

uint64_t
cenote_result_last_insert_id(const cenote_result *res)
{
	return res ? res->last_insert_id : 0;
}

uint32_t
cenote_result_warnings(const cenote_result *res)
{
	return res ? res->warnings : 0;
}

uint32_t
cenote_result_flags(const cenote_result *res)
{
	if (!res)
		return 0;
	return res->flags | (res->has_more ? (uint32_t)CENOTE_RESULT_FLAG_MORE : 0);
}

uint32_t
cenote_result_server_status(const cenote_result *res)
{
	return res ? res->server_status : 0;
}

int
cenote_result_tx_state(const cenote_result *res)
{
	return res ? res->tx : CENOTE_TX_UNKNOWN;
}

uint32_t
cenote_result_n_params(const cenote_result *res)
{
	return res ? res->n_params : 0;
}

int
cenote_result_param_type(const cenote_result *res, uint32_t i)
{
	return i < cenote_result_n_params(res) ? res->params[i].type : CENOTE_TYPE_NULL;
}

uint32_t
cenote_result_param_native_type(const cenote_result *res, uint32_t i)
{
	return i < cenote_result_n_params(res) ? res->params[i].native_type : 0;
}

const char *
cenote_result_param_name(const cenote_result *res, uint32_t i)
{
	return i < cenote_result_n_params(res) ? res->params[i].name.p : "";
}

size_t
cenote_result_memory(const cenote_result *res)
{
	size_t n;

	if (!res)
		return 0;
	n = sizeof(*res) + res->rows[0].bytes + res->rows[1].bytes +
	    res->params_arena.total + res->cap_pieces * sizeof(*res->pieces);
	if (res->columns)
		n += sizeof(*res->columns) + res->columns->arena.total;
	if (res->diag)
		n += sizeof(*res->diag) + res->diag->d.fields_len;
	return n + (res->tag ? strlen(res->tag) + 1 : 0);
}
