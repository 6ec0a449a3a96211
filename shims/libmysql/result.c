/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <stdlib.h>
#include <string.h>

/*
 * MYSQL_RES. Values are not copied: rows point into libcenote's result, which lives as long as
 * MYSQL_RES. Only values that MySQL writes in another form are copied. face.c calls this file, and
 * list.c calls this file for the lists.
 */

struct cmy_result {
	MYSQL_RES res; /* what the program sees; must be first */
	cenote_result *from; /* NULL: there are no rows */
	int is_borrowing; /* the fields belong to a statement */
	uint64_t at; /* number of the next row in the current batch */
	uint32_t n_columns; /* columns of `from`; a list shows fewer to the program */
	uint32_t first_column; /* the first column that the program sees */
	const char **texts; /* room for the values of one row */
	size_t *sizes;
	MYSQL_DATA data; /* mysql_store_result() */
	MYSQL_ROWS *rows; /* all rows; `values` is in the same block */
	char **values; /* the values of one row, or of all rows; NULL ends each row */
	/* enum cmy_form of each column; NULL: no column needs another form */
	uint8_t *forms;
	char *written; /* the values that have another form */
	char *next_written;
	unsigned long lengths[];
};

static struct cmy_result *
ours(MYSQL_RES *res)
{
	return (struct cmy_result *)res;
}

/* For mysql_use_result(): the session that still has rows of this result; NULL: no more rows. */
static struct cmy_session *
session_of(const struct cmy_result *r)
{
	return cmy_session(r->res.handle);
}

/* ---- making ---- */

static struct cmy_result *
result_new(MYSQL_FIELD *fields, unsigned n)
{
	struct cmy_result *r =
		calloc(1, sizeof(*r) + ((size_t)n + 1) * sizeof(*r->lengths));

	if (!r)
		return NULL;
#if CMY_ORACLE
	r->res.extension = (void *)(uintptr_t)&cmy_tag;
	r->res.metadata = RESULTSET_METADATA_FULL;
#else
	r->res.field_alloc.error_handler = cmy_tag_handler;
#endif
	r->res.fields = fields;
	r->res.field_count = n;
	r->res.lengths = r->lengths;
	return r;
}

MYSQL_RES *
cmy_result_of_fields(MYSQL_FIELD *fields, unsigned n)
{
	struct cmy_result *r = result_new(fields, n);

	if (!r)
		return NULL;
	r->res.eof = 1;
	return &r->res;
}

MYSQL_RES *
cmy_result_borrowing(MYSQL_FIELD *fields, unsigned n)
{
	MYSQL_RES *res = cmy_result_of_fields(fields, n);

	if (res)
		ours(res)->is_borrowing = 1;
	return res;
}

/* ---- values in MySQL's form ---- */

#define MIDNIGHT " 00:00:00"

/* The length of a time or timestamp without its offset from UTC. The search starts after
 * the time, so that it does not find a date's hyphens. */
static size_t
local_length(const char *value, size_t len)
{
	size_t n = value[2] == ':' ? 8 : 10;

	while (n < len && value[n] != '+' && value[n] != '-' && value[n] != 'Z')
		n++;
	return n < len ? n : len;
}

static size_t
write_form(enum cmy_form form, const char *value, size_t len, char *to)
{
	size_t n = len;

	memcpy(to, value, len);
	if (form == CMY_FORM_DATETIME && len == 10) {
		memcpy(to + len, MIDNIGHT, sizeof(MIDNIGHT));
		return len + sizeof(MIDNIGHT) - 1;
	}
	if (form == CMY_FORM_LOCAL && len > 8)
		n = local_length(value, len);
	to[n] = '\0';
	return n;
}

/* Take `from` as the rows. 0, or -1: no memory, and `from` still belongs to the caller. */
static int
set_rows(struct cmy_result *r, cenote_result *from)
{
	uint32_t n = cenote_result_n_columns(from);

	r->sizes = malloc(n * (sizeof(*r->sizes) + sizeof(*r->texts)) + 1);
	if (!r->sizes)
		return -1;
	r->texts = (const char **)(r->sizes + n);
	r->n_columns = n;
	r->from = from;
	return 0;
}

/* Find the columns whose values need another form. 0, or -1: no memory. */
static int
set_forms(struct cmy_result *r, const struct cmy_session *s)
{
	uint32_t n = r->res.field_count;
	int has_any = 0;

	for (uint32_t i = 0; i < n; i++)
		has_any |=
			cmy_form(s, cenote_result_column(r->from, i)) != CMY_FORM_AS_IS;
	if (!has_any)
		return 0;
	r->forms = calloc(n, 1);
	if (!r->forms)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		r->forms[i] = (uint8_t)cmy_form(s, cenote_result_column(r->from, i));
	return 0;
}

/* Make room for the values of rows first … end-1 that need another form. */
static int
reserve_forms(struct cmy_result *r, uint64_t first, uint64_t end)
{
	size_t size = 0, len = 0;
	char *room;

	for (uint64_t row = first; row < end; row++) {
		for (uint32_t i = 0; i < r->res.field_count; i++) {
			if (r->forms[i] != CMY_FORM_AS_IS &&
				cenote_result_text(r->from, row, i, &len))
				size += CMY_FORM_SIZE(len);
		}
	}
	room = realloc(r->written, size + 1);
	if (!room)
		return -1;
	r->written = room;
	r->next_written = room;
	return 0;
}

/* Put the values of a row into `to`, and their sizes into r->sizes. */
static void
take_row(struct cmy_result *r, uint64_t row, char **to)
{
	const char **texts = (const char **)(void *)to;

	(void)cenote_result_row(r->from, row, texts, r->sizes);
	to[r->n_columns] = NULL;
	for (uint32_t i = 0; r->forms && i < r->res.field_count; i++) {
		if (!to[i] || r->forms[i] == CMY_FORM_AS_IS)
			continue;
		r->sizes[i] =
			write_form(r->forms[i], to[i], r->sizes[i], r->next_written);
		to[i] = r->next_written;
		r->next_written += r->sizes[i] + 1;
	}
}

/* ---- stored ---- */

/* Fill in the pointers to all values, and each column's longest length. */
static void
fill(struct cmy_result *r)
{
	MYSQL_FIELD *fields = r->res.fields;
	uint32_t n = r->res.field_count;
	char **at = r->values;

	for (uint64_t row = 0; row < r->data.rows; row++) {
		const size_t *sizes = r->sizes + r->first_column;

		take_row(r, row, at);
		r->rows[row].data = at + r->first_column;
		r->rows[row].next = &r->rows[row + 1];
		for (uint32_t i = 0; i < n; i++) {
			if (sizes[i] > fields[i].max_length)
				fields[i].max_length = sizes[i];
		}
		at += r->n_columns + 1;
	}
	if (r->data.rows > 0)
		r->rows[r->data.rows - 1].next = NULL;
}

static int
keep_rows(struct cmy_result *r)
{
	uint64_t rows = cenote_result_n_rows(r->from);
	size_t n = (size_t)r->n_columns + 1, size;

	if (__builtin_mul_overflow(rows, sizeof(*r->rows) + n * sizeof(char *), &size))
		return -1;
	if (r->forms && reserve_forms(r, 0, rows) < 0)
		return -1;
	r->rows = malloc(size + 1);
	if (!r->rows)
		return -1;
	r->values = (char **)(r->rows + rows);
	r->data.rows = rows;
	r->data.fields = r->res.field_count;
	fill(r);
	r->data.data = rows > 0 ? r->rows : NULL;
	r->res.data = &r->data;
	r->res.data_cursor = r->data.data;
	r->res.row_count = rows;
	r->res.eof = 1;
	return 0;
}

/* Make a result from the session's head and the connection's fields. */
static struct cmy_result *
take_head(struct cmy_session *s)
{
	MYSQL *my = s->my;
	struct cmy_result *r = result_new(my->fields, my->field_count);

	if (!r)
		return NULL;
	if (set_rows(r, s->head) < 0) {
		free(r);
		return NULL;
	}
	my->fields = NULL;
	return r;
}

static MYSQL_RES *
no_memory(struct cmy_session *s, struct cmy_result *r)
{
	/* r owns the head, and frees it */
	if (r)
		s->head = NULL;
	cmy_mysql_free_result(r ? &r->res : NULL);
	cmy_drain(s);
	cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
	return NULL;
}

/* The session, if a result with rows is waiting; else NULL, with an error unless the answer has no
 * rows. */
static struct cmy_session *
enter_result(MYSQL *mysql)
{
	struct cmy_session *s = cmy_session(mysql);

	/* sic: taking rows a second time is an error with Oracle's library only */
	if (!s || (CMY_ORACLE ? mysql->field_count == 0 : !mysql->fields))
		return NULL;
	if (mysql->status != MYSQL_STATUS_GET_RESULT || s->state != CMY_HAS_ROWS) {
		cmy_error(mysql, CR_COMMANDS_OUT_OF_SYNC, NULL);
		return NULL;
	}
	return s;
}

/* Read all rows into memory. */
static int
buffer(struct cmy_session *s)
{
	int r;

	while ((r = cenote_result_buffer(s->head)) == CENOTE_AGAIN) {
		if (cmy_wait(s) < 0)
			return -1;
	}
	return r == CENOTE_OK ? 0 : cmy_fail_head(s, s->head, r);
}

MYSQL_RES *
cmy_mysql_store_result(MYSQL *mysql)
{
	struct cmy_session *s = enter_result(mysql);
	struct cmy_result *r;

	if (!s || buffer(s) < 0)
		return NULL;
	r = take_head(s);
	if (!r || set_forms(r, s) < 0 || keep_rows(r) < 0)
		return no_memory(s, r);
	mysql->affected_rows = r->data.rows;
	cmy_head_over(s, r->from);
	return &r->res;
}

void
cmy_result_keep(MYSQL_RES *res, char *memory)
{
	ours(res)->written = memory;
}

MYSQL_RES *
cmy_result_of_column(struct cmy_session *s, uint32_t column)
{
	cenote_result *res = NULL;
	MYSQL_FIELD *fields;
	struct cmy_result *r;

	if (cmy_first_result(s, &res) < 0)
		return NULL;
	/* cenoted never sends fewer columns, but do not read past the end */
	if (column >= cenote_result_n_columns(res)) {
		cenote_result_destroy(res);
		cmy_error(s->my, CR_MALFORMED_PACKET, NULL);
		return NULL;
	}
	fields = cmy_fields_of_result(s, res);
	if (fields)
		fields[0] = fields[column];
	r = fields ? result_new(fields, 1) : NULL;
	if (r && set_rows(r, res) == 0)
		res = NULL; /* the result has taken it */
	if (r)
		r->first_column = column;
	if (r && r->from && keep_rows(r) == 0)
		return &r->res;
	if (r)
		cmy_mysql_free_result(&r->res);
	else
		free(fields);
	cenote_result_destroy(res);
	cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
	return NULL;
}

/* ---- used ---- */

MYSQL_RES *
cmy_mysql_use_result(MYSQL *mysql)
{
	struct cmy_session *s = enter_result(mysql);
	struct cmy_result *r;

	if (!s)
		return NULL;
	r = take_head(s);
	if (r)
		r->values = malloc(((size_t)r->res.field_count + 1) * sizeof(char *));
	if (!r || !r->values || set_forms(r, s) < 0)
		return no_memory(s, r);
	r->res.row = r->values;
	r->res.handle = mysql;
	s->user = &r->res;
	s->state = CMY_USING;
	mysql->status = MYSQL_STATUS_USE_RESULT;
	return &r->res;
}

/* The program has read all rows of a used result. */
static void
used_up(struct cmy_result *r)
{
	struct cmy_session *s = session_of(r);

	r->res.handle = NULL;
	r->res.eof = 1;
	cmy_head_over(s, r->from);
}

static int
fail_used(struct cmy_result *r, int status)
{
	struct cmy_session *s = session_of(r);
	cenote_result *from = r->from;

	r->from = NULL;
	r->res.handle = NULL;
	r->res.eof = 1;
	return cmy_fail_head(s, from, status);
}

/* Make sure that there is a row at `at`. 0; 1: there are no more rows; -1: the error is
 * set. */
static int
next_batch(struct cmy_result *r)
{
	int status;

	while ((status = cenote_result_next(r->from)) == CENOTE_AGAIN) {
		if (cmy_wait(session_of(r)) < 0)
			return fail_used(r, CENOTE_ERR_CONN);
	}
	r->at = 0;
	if (status == CENOTE_ROW)
		return 0;
	if (status != CENOTE_DONE)
		return fail_used(r, status);
	used_up(r);
	return 1;
}

static MYSQL_ROW
used_row(struct cmy_result *r)
{
	if (r->at >= cenote_result_n_rows(r->from) && next_batch(r) != 0)
		return NULL;
	if (r->forms && reserve_forms(r, r->at, r->at + 1) < 0) {
		cmy_error(r->res.handle, CR_OUT_OF_MEMORY, NULL);
		return NULL;
	}
	take_row(r, r->at, r->values);
	for (uint32_t i = 0; i < r->res.field_count; i++)
		r->lengths[i] = r->sizes[i];
	r->at++;
	r->res.row_count++;
	return r->values;
}

MYSQL_ROW
cmy_mysql_fetch_row(MYSQL_RES *result)
{
	MYSQL_ROWS *row;

	if (!result)
		return NULL;
	if (!result->data) {
		if (!result->handle)
			return NULL;
		result->current_row = used_row(ours(result));
		return result->current_row;
	}
	row = result->data_cursor;
	result->current_row = row ? row->data : NULL;
	if (row)
		result->data_cursor = row->next;
	return result->current_row;
}

static void
stored_lengths(struct cmy_result *r)
{
	char **row = r->res.current_row;
	uint64_t at = (uint64_t)(row - r->values) / (r->n_columns + 1);

	(void)cenote_result_row(r->from, at, r->texts, r->sizes);
	for (uint32_t i = 0; i < r->res.field_count; i++)
		r->lengths[i] = r->sizes[r->first_column + i];
	for (uint32_t i = 0; r->forms && i < r->res.field_count; i++) {
		if (row[i] && r->forms[i] != CMY_FORM_AS_IS)
			r->lengths[i] = strlen(row[i]);
	}
}

unsigned long *
cmy_mysql_fetch_lengths(MYSQL_RES *result)
{
	if (!result->current_row)
		return NULL;
	if (result->data)
		stored_lengths(ours(result));
	return result->lengths;
}

/* Read and drop the rest of a used result. */
static void
skip(struct cmy_result *r)
{
	MYSQL *my = r->res.handle;

	while (session_of(r) && next_batch(r) == 0)
		;
	/* MariaDB's library ignores the warnings at the end of the rows */
	if (my && !CMY_ORACLE)
		my->warning_count = 0;
}

void
cmy_result_skip(struct cmy_session *s)
{
	if (s->user)
		skip(ours(s->user));
}

void
cmy_mysql_free_result(MYSQL_RES *result)
{
	struct cmy_result *r = ours(result);

	if (!r)
		return;
	skip(r);
	cenote_result_destroy(r->from);
	if (r->rows)
		free(r->rows); /* with the values */
	else
		free(r->values);
	free(r->written);
	free(r->forms);
	free(r->sizes); /* with the texts */
	if (!r->is_borrowing)
		free(r->res.fields);
	free(r);
}

/* ---- position ---- */

void
cmy_mysql_data_seek(MYSQL_RES *result, uint64_t offset)
{
	result->current_row = NULL;
	result->data_cursor = NULL;
	if (result->data && offset < result->data->rows)
		result->data_cursor = result->data->data + offset;
}

MYSQL_ROW_OFFSET
cmy_mysql_row_seek(MYSQL_RES *result, MYSQL_ROW_OFFSET offset)
{
	MYSQL_ROW_OFFSET was = result->data_cursor;

	result->current_row = NULL;
	result->data_cursor = offset;
	return was;
}

MYSQL_ROWS *
cmy_mysql_row_tell(MYSQL_RES *res)
{
	return res->data_cursor;
}

MYSQL_FIELD_OFFSET
cmy_mysql_field_seek(MYSQL_RES *result, MYSQL_FIELD_OFFSET offset)
{
	MYSQL_FIELD_OFFSET was = result->current_field;

	result->current_field = offset;
	return was;
}

unsigned int
cmy_mysql_field_tell(MYSQL_RES *res)
{
	return res->current_field;
}

/* ---- properties ---- */

MYSQL_FIELD *
cmy_mysql_fetch_field(MYSQL_RES *result)
{
	if (result->current_field >= result->field_count || !result->fields)
		return NULL;
	return &result->fields[result->current_field++];
}

MYSQL_FIELD *
cmy_mysql_fetch_field_direct(MYSQL_RES *res, unsigned int fieldnr)
{
	return fieldnr < res->field_count ? &res->fields[fieldnr] : NULL;
}

MYSQL_FIELD *
cmy_mysql_fetch_fields(MYSQL_RES *res)
{
	return res->fields;
}

uint64_t
cmy_mysql_num_rows(MYSQL_RES *res)
{
	return res->row_count;
}

unsigned int
cmy_mysql_num_fields(MYSQL_RES *res)
{
	return res->field_count;
}

my_bool
cmy_mysql_eof(MYSQL_RES *res)
{
	return res->eof;
}

#if CMY_ORACLE
enum enum_resultset_metadata
cmy_mysql_result_metadata(MYSQL_RES *result)
{
	return result->metadata;
}
#endif
