/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * PGresult: its memory, its rows and its fields. A result points into libcenote's memory where it
 * can; values that programs add are in its own arena. answer.c makes results, result_read.c reads
 * them.
 */

static const struct cpq_value null_value = { -1, cpq_empty };

/* A constant result: nobody frees or changes it. */
PGresult cpq_result_of_no_memory = { .tag = &cpq_tag,
	.status = PGRES_FATAL_ERROR,
	.message = (char *)(uintptr_t) "out of memory\n" };

#define BLOCK_SIZE 2048u
#define ALIGNMENT  _Alignof(max_align_t)

struct block {
	struct block *next;
	size_t used;
	size_t size;
	_Alignas(max_align_t) char bytes[];
};

static struct block *
block_new(PGresult *res, size_t size)
{
	struct block *b = malloc(sizeof(*b) + size);

	if (b == NULL)
		return NULL;
	b->used = 0;
	b->size = size;
	res->memory += sizeof(*b) + size;
	return b;
}

static void *
arena_alloc(PGresult *res, size_t size, size_t alignment)
{
	struct block *b = res->arena;
	size_t at = b != NULL ? (b->used + alignment - 1) & ~(alignment - 1) : 0;

	if (b != NULL && at <= b->size && size <= b->size - at) {
		b->used = at + size;
		return b->bytes + at;
	}
	if (size > SIZE_MAX / 2)
		return NULL;
	b = block_new(res, size > BLOCK_SIZE / 2 ? size : BLOCK_SIZE);
	if (b == NULL)
		return NULL;
	b->used = size;
	/* Put a large block second, so that the block in use stays in use. */
	if (size > BLOCK_SIZE / 2 && res->arena != NULL) {
		struct block *first = res->arena;

		b->next = first->next;
		first->next = b;
	} else {
		b->next = res->arena;
		res->arena = b;
	}
	return b->bytes;
}

void *
cpq_result_alloc(PGresult *res, size_t size)
{
	return arena_alloc(res, size, ALIGNMENT);
}

static char *
bytes_dup(PGresult *res, const char *bytes, size_t len)
{
	char *copy = len < SIZE_MAX ? arena_alloc(res, len + 1, 1) : NULL;

	if (copy == NULL)
		return NULL;
	if (len > 0)
		memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

char *
cpq_result_text(PGresult *res, const char *text)
{
	return text == NULL || *text == '\0' ? cpq_empty
					     : bytes_dup(res, text, strlen(text));
}

void *
cpq_PQresultAlloc(PGresult *res, size_t nBytes)
{
	if (res == NULL || res == &cpq_result_of_no_memory)
		return NULL;
	return nBytes > 0 ? cpq_result_alloc(res, nBytes) : cpq_empty;
}

size_t
cpq_PQresultMemorySize(const PGresult *res)
{
	if (res == NULL)
		return 0;
	return res->memory + (res->res != NULL ? cenote_result_memory(res->res) : 0);
}

static void
set_habits(PGresult *res, PGconn *conn)
{
	static const struct cpq_inherited defaults = { .verbosity = PQERRORS_DEFAULT,
		.show_context = PQSHOW_CONTEXT_ERRORS };

	res->inherited = conn != NULL ? conn->inherited : defaults;
}

PGresult *
cpq_result_new(PGconn *conn, ExecStatusType status)
{
	PGresult *res = calloc(1, sizeof(*res));

	if (res == NULL)
		return NULL;
	res->tag = &cpq_tag;
	res->status = status;
	res->memory = sizeof(*res);
	set_habits(res, conn);
	return res;
}

int
cpq_is_failure(ExecStatusType status)
{
	return status == PGRES_NONFATAL_ERROR || status == PGRES_FATAL_ERROR;
}

/* Does a new result of that status take the connection's message? As in libpq. */
static int
has_message(ExecStatusType status)
{
	return status > PGRES_COPY_IN && status != PGRES_COPY_BOTH &&
	       status != PGRES_SINGLE_TUPLE && (int)status != CPQ_TUPLES_CHUNK;
}

PGresult *
cpq_PQmakeEmptyPGresult(PGconn *conn, ExecStatusType status)
{
	PGresult *res = cpq_result_new(conn, status);

	if (res == NULL || conn == NULL)
		return res;
	if (has_message(status)) {
		res->message = cpq_result_text(res, conn->error.data);
		if (res->message == NULL)
			res->message = cpq_empty;
	}
	if (cpq_events_copy(&res->events, &conn->events) < 0) {
		cpq_PQclear(res);
		return NULL;
	}
	return res;
}

static void
tell_destruction(PGresult *res)
{
	for (int i = 0; i < res->events.n; i++) {
		PGEventResultDestroy e = { res };
		const struct cpq_event *event = &res->events.list[i];

		if (event->is_initialised)
			(void)event->proc(PGEVT_RESULTDESTROY, &e, event->pass_through);
	}
}

void
cpq_PQclear(PGresult *res)
{
	struct block *b, *next;

	if (res == NULL || res == &cpq_result_of_no_memory)
		return;
	tell_destruction(res);
	cpq_events_finish(&res->events);
	cenote_result_destroy(res->res);
	for (b = res->arena; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	free(res->rows);
	free(res);
}

static int
rows_reserve(PGresult *res, int cap)
{
	struct cpq_value **grown;

	grown = realloc(res->rows, (size_t)cap * sizeof(*grown));
	if (grown == NULL)
		return -1;
	res->memory += (size_t)(cap - res->cap_rows) * sizeof(*grown);
	res->rows = grown;
	res->cap_rows = cap;
	return 0;
}

static int
rows_grow(PGresult *res)
{
	if (res->n_rows < res->cap_rows)
		return 0;
	if (res->cap_rows > INT_MAX / 2)
		return -1;
	return rows_reserve(res, res->cap_rows > 0 ? 2 * res->cap_rows : 128);
}

/* Add a row of NULLs. */
static struct cpq_value *
row_add(PGresult *res)
{
	size_t n = (size_t)res->n_columns;
	struct cpq_value *row;

	if (rows_grow(res) < 0)
		return NULL;
	row = cpq_result_alloc(res, (n > 0 ? n : 1) * sizeof(*row));
	if (row == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++)
		row[i] = null_value;
	res->rows[res->n_rows++] = row;
	return row;
}

static int
value_set(PGresult *res, struct cpq_value *v, const char *bytes, int len)
{
	if (len < 0 || bytes == NULL) {
		*v = null_value;
		return 0;
	}
	v->text = len > 0 ? bytes_dup(res, bytes, (size_t)len) : cpq_empty;
	v->len = v->text != NULL ? len : -1;
	if (v->text != NULL)
		return 0;
	v->text = cpq_empty;
	return -1;
}

int
cpq_result_row_begin(PGresult *res)
{
	return row_add(res) != NULL ? 0 : -1;
}

int
cpq_result_row_set(PGresult *res, int column, const char *bytes, size_t len)
{
	if (len > INT_MAX)
		return -1;
	return value_set(res, &res->rows[res->n_rows - 1][column], bytes, (int)len);
}

int
cpq_result_add_row(PGresult *res, const cenote_result *from, uint64_t at)
{
	struct cpq_value *row = row_add(res);
	size_t len = 0;

	if (row == NULL)
		return -1;
	for (int i = 0; i < res->n_columns; i++) {
		const char *text = cenote_result_text(from, at, (uint32_t)i, &len);

		if (len > INT_MAX || value_set(res, &row[i], text, (int)len) < 0)
			return -1;
	}
	return 0;
}

/* Point to each value of a row. */
static void
row_point(struct cpq_value *row, size_t n, const uint8_t *sent)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = 0;
		const char *text = cenote_row_text(sent, (uint32_t)n, (uint32_t)i, &len);

		/* libpq's interface has no const. A program that writes there writes
		 * into the result. */
		row[i].text = text != NULL ? (char *)(uintptr_t)text : cpq_empty;
		row[i].len = text != NULL ? (int)len : -1;
	}
}

/* The beginning of a row is not in the CPU's cache, so prefetch it this many rows ahead. */
#define AHEAD 8

int
cpq_result_take_rows(PGresult *res, cenote_result *from)
{
	const uint8_t *const *sent = cenote_result_rows(from);
	uint64_t n = cenote_result_n_rows(from);
	size_t width = (size_t)res->n_columns;
	struct cpq_value *values;

	if (n > INT_MAX || n * (width + 1) > SIZE_MAX / 2 / sizeof(*values))
		return -1;
	if (n > 0 && rows_reserve(res, (int)n) < 0)
		return -1;
	values = cpq_result_alloc(res, (size_t)n * width * sizeof(*values));
	if (values == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		res->rows[i] = values + i * width;
		if (width > 0 && n - i > AHEAD)
			__builtin_prefetch(sent[i + AHEAD]);
		row_point(res->rows[i], width, width > 0 ? sent[i] : NULL);
	}
	res->n_rows = (int)n;
	res->res = from;
	return 0;
}

static int
attributes_set(PGresult *res, int n, const PGresAttDesc *from)
{
	PGresAttDesc *to;

	to = cpq_result_alloc(res, (size_t)n * sizeof(*to));
	if (to == NULL)
		return 0;
	memcpy(to, from, (size_t)n * sizeof(*to));
	res->is_binary = 1;
	for (int i = 0; i < n; i++) {
		to[i].name = cpq_result_text(res, from[i].name);
		if (to[i].name == NULL)
			return 0;
		res->is_binary = res->is_binary && to[i].format != 0;
	}
	res->columns = to;
	res->n_columns = n;
	return 1;
}

/* Rows without columns, as from "select" without a list, get NULL in all new columns. */
static int
rows_widen(PGresult *res)
{
	int n = res->n_rows;

	cenote_result_destroy(res->res);
	res->res = NULL;
	res->n_rows = 0;
	while (res->n_rows < n) {
		if (row_add(res) == NULL)
			return 0;
	}
	return 1;
}

int
cpq_PQsetResultAttrs(PGresult *res, int numAttributes, PGresAttDesc *attDescs)
{
	/* Columns can be set only once. */
	if (res == NULL || res == &cpq_result_of_no_memory || res->n_columns > 0)
		return 0;
	if (numAttributes <= 0 || attDescs == NULL)
		return 1;
	return attributes_set(res, numAttributes, attDescs) && rows_widen(res);
}

int
cpq_PQsetvalue(PGresult *res, int tup_num, int field_num, char *value, int len)
{
	if (!cpq_is_column(res, field_num))
		return 0;
	if (tup_num < 0 || tup_num > res->n_rows) {
		cpq_notice_own(&res->inherited, "row number %d is out of range 0..%d",
			tup_num, res->n_rows);
		return 0;
	}
	if ((tup_num < res->n_rows || row_add(res) != NULL) &&
		value_set(res, &res->rows[tup_num][field_num], value, len) == 0)
		return 1;
	cpq_notice_own(&res->inherited, "out of memory");
	return 0;
}

static int
copy_rows(PGresult *to, const PGresult *from)
{
	/* As in libpq, which copies value by value, rows without columns are lost. */
	for (int i = 0; i < from->n_rows && from->n_columns > 0; i++) {
		struct cpq_value *row = row_add(to);

		if (row == NULL)
			return -1;
		for (int k = 0; k < from->n_columns; k++) {
			const struct cpq_value *v = &from->rows[i][k];

			if (value_set(to, &row[k], v->text, v->len) < 0)
				return -1;
		}
	}
	return 0;
}

static int
copy_parts(PGresult *to, const PGresult *from, int flags)
{
	if (flags & (PG_COPYRES_ATTRS | PG_COPYRES_TUPLES)) {
		if (from->n_columns > 0 &&
			!attributes_set(to, from->n_columns, from->columns))
			return -1;
	}
	if ((flags & PG_COPYRES_TUPLES) && copy_rows(to, from) < 0)
		return -1;
	if ((flags & PG_COPYRES_EVENTS) &&
		cpq_events_copy(&to->events, &from->events) < 0)
		return -1;
	return 0;
}

static void
copy_notice_hooks(PGresult *to, const PGresult *from)
{
	to->inherited.receiver = from->inherited.receiver;
	to->inherited.receiver_arg = from->inherited.receiver_arg;
	to->inherited.processor = from->inherited.processor;
	to->inherited.processor_arg = from->inherited.processor_arg;
}

PGresult *
cpq_PQcopyResult(const PGresult *src, int flags)
{
	PGresult *to = src != NULL ? cpq_result_new(NULL, PGRES_TUPLES_OK) : NULL;

	if (to == NULL)
		return NULL;
	to->inherited.encoding = src->inherited.encoding;
	memcpy(to->command, src->command, sizeof(to->command));
	if (flags & PG_COPYRES_NOTICEHOOKS)
		copy_notice_hooks(to, src);
	if (copy_parts(to, src, flags) < 0) {
		cpq_PQclear(to);
		return NULL;
	}
	for (int i = 0; i < to->events.n; i++) {
		PGEventResultCopy e = { src, to };
		struct cpq_event *event = &to->events.list[i];

		/* As in libpq 14 and later, the copy succeeds even if a procedure fails. */
		event->is_initialised =
			src->events.list[i].is_initialised &&
			event->proc(PGEVT_RESULTCOPY, &e, event->pass_through) != 0;
	}
	return to;
}

/* The pool reports the declared length; libpq reports the length of the type. */
static int
type_length(const cenote_column *c)
{
	enum {
		BPCHAR = 1042,
		VARCHAR = 1043,
		BIT = 1560,
		VARBIT = 1562
	};
	enum {
		UNKNOWN = 705,
		CSTRING = 2275
	};

	switch (cenote_column_int(c, CENOTE_COLUMN_NATIVE_TYPE)) {
	case BPCHAR:
	case VARCHAR:
	case BIT:
	case VARBIT:
		return -1;
	case UNKNOWN:
	case CSTRING:
		return -2;
	default:
		return (int)cenote_column_int(c, CENOTE_COLUMN_LENGTH);
	}
}

/* Set the columns, without rows. 0 or -1. */
static int
set_columns(PGresult *res, const cenote_result *from)
{
	uint32_t n = cenote_result_n_columns(from);

	if (n == 0)
		return 0;
	res->columns = cpq_result_alloc(res, n * sizeof(*res->columns));
	if (res->columns == NULL)
		return -1;
	res->is_binary = 1;
	for (uint32_t i = 0; i < n; i++) {
		const cenote_column *c = cenote_result_column(from, i);
		PGresAttDesc *a = &res->columns[i];

		*a = (PGresAttDesc){
			.name = cpq_result_text(
				res, cenote_column_text(c, CENOTE_COLUMN_NAME)),
			.tableid = (Oid)cenote_column_int(c, CENOTE_COLUMN_TABLE_ID),
			.columnid = (int)cenote_column_int(c, CENOTE_COLUMN_ATTNUM),
			.format = cenote_column_int(c, CENOTE_COLUMN_FORMAT) ==
				  CENOTE_FORMAT_BINARY,
			.typid = (Oid)cenote_column_int(c, CENOTE_COLUMN_NATIVE_TYPE),
			.typlen = type_length(c),
			.atttypmod = (int)cenote_column_int(c, CENOTE_COLUMN_MODIFIER),
		};
		if (a->name == NULL)
			return -1;
		if (res->inherited.dialect != NULL)
			cpq_dialect_column(res, c, a);
		res->is_binary = res->is_binary && a->format != 0;
	}
	res->n_columns = (int)n;
	return 0;
}

/* Set a copy of one field. 0 or -1. */
static int
set_field(PGresult *res, int code, const char *text)
{
	size_t size = CPQ_FIELDS * sizeof(*res->fields);

	if (res->fields == NULL) {
		res->fields = cpq_result_alloc(res, size);
		if (res->fields == NULL)
			return -1;
		memset(res->fields, 0, size);
	}
	res->fields[code] = cpq_result_text(res, text);
	return res->fields[code] != NULL ? 0 : -1;
}

const char *
cpq_servers_field(const cenote_diag *diag, char letter)
{
	const char *own = NULL;

	if (cenote_diag_field(diag, 'Y') != NULL && letter == 'C')
		own = cenote_diag_field(diag, 'X');
	else if (letter == 'M')
		own = cenote_diag_field(diag, 'Y');
	return own != NULL ? own : cenote_diag_field(diag, letter);
}

static int
fields_from(PGresult *res, const cenote_diag *diag)
{
	static const char letters[] = "SVCMDHPpqWstcdnFLR";

	for (const char *l = letters; *l; l++) {
		const char *text = cpq_servers_field(diag, *l);

		if (text != NULL && *text != '\0' && set_field(res, *l, text) < 0)
			return -1;
	}
	return 0;
}

/* Set the SQLSTATE. Another server's state becomes PostgreSQL's. */
static int
set_state(PGresult *res, const cenote_diag *diag)
{
	return set_field(res, PG_DIAG_SQLSTATE,
		cpq_dialect_state(res->inherited.dialect, cenote_diag_native(diag),
			cenote_diag_sqlstate(diag)));
}

int
cpq_result_set_message(PGresult *res)
{
	PQExpBufferData text;

	initPQExpBuffer(&text);
	cpq_message_build(
		&text, res, res->inherited.verbosity, res->inherited.show_context);
	res->message = text.maxlen > 0 ? cpq_result_text(res, text.data) : NULL;
	termPQExpBuffer(&text);
	return res->message != NULL ? 0 : -1;
}

int
cpq_result_set_fields(PGresult *res, const cenote_diag *diag, const char *query)
{
	if (fields_from(res, diag) < 0)
		return -1;
	if (res->inherited.dialect != NULL && set_state(res, diag) < 0)
		return -1;
	if (query != NULL && cpq_result_field(res, PG_DIAG_STATEMENT_POSITION) != NULL)
		res->query = cpq_result_text(res, query);
	return 0;
}

int
cpq_result_set_diag(PGresult *res, const cenote_diag *diag, const char *query)
{
	if (cpq_result_set_fields(res, diag, query) < 0)
		return -1;
	return cpq_result_set_message(res);
}

PGresult *
cpq_result_refusal(PGconn *conn, const char *sqlstate, const char *text)
{
	const struct {
		int code;
		const char *text;
	} fields[] = { { PG_DIAG_SEVERITY, "ERROR" },
		{ PG_DIAG_SEVERITY_NONLOCALIZED, "ERROR" },
		{ PG_DIAG_SQLSTATE, sqlstate }, { PG_DIAG_MESSAGE_PRIMARY, text } };
	PGresult *res = cpq_PQmakeEmptyPGresult(conn, PGRES_FATAL_ERROR);
	int r = res != NULL ? 0 : -1;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && r == 0; i++)
		r = set_field(res, fields[i].code, fields[i].text);
	if (r == 0 && cpq_result_set_message(res) == 0)
		return res;
	cpq_PQclear(res);
	return NULL;
}

void
cpq_result_set_tag(PGresult *res, const char *tag)
{
	size_t n = strnlen(tag, sizeof(res->command) - 1);

	memcpy(res->command, tag, n);
	res->command[n] = '\0';
}

PGresult *
cpq_result_rows(PGconn *conn, cenote_result *from, ExecStatusType status)
{
	PGresult *res = cpq_PQmakeEmptyPGresult(conn, status);

	if (res == NULL)
		return NULL;
	res->wants_binary = conn->queue.first != NULL && conn->queue.first->is_binary;
	if (set_columns(res, from) < 0) {
		cpq_PQclear(res);
		return NULL;
	}
	return res;
}

PGresult *
cpq_result_part(const PGresult *head, ExecStatusType status)
{
	PGresult *res = cpq_PQcopyResult(
		head, PG_COPYRES_ATTRS | PG_COPYRES_EVENTS | PG_COPYRES_NOTICEHOOKS);

	if (res == NULL)
		return NULL;
	res->status = status;
	res->inherited = head->inherited;
	res->wants_binary = head->wants_binary;
	return res;
}

PGresult *
cpq_result_failure(PGconn *conn)
{
	PGresult *res = cpq_result_new(conn, PGRES_FATAL_ERROR);

	if (res == NULL)
		return &cpq_result_of_no_memory;
	res->message = cpq_result_text(res, conn->error.data);
	if (res->message == NULL)
		res->message = cpq_empty;
	return res;
}

PGresult *
cpq_no_memory(PGconn *conn)
{
	cpq_say(conn, "out of memory for query result");
	return cpq_result_failure(conn);
}

void
cpq_notice_own(const struct cpq_inherited *inherited, const char *format, ...)
{
	PQExpBufferData text;
	PGresult *res;
	va_list args;

	if (inherited->receiver == NULL)
		return;
	res = cpq_result_new(NULL, PGRES_NONFATAL_ERROR);
	if (res == NULL)
		return;
	res->inherited = *inherited;
	initPQExpBuffer(&text);
	va_start(args, format);
	(void)appendPQExpBufferVA(&text, format, args);
	va_end(args);
	/* The message field must not end with a newline, but the text does. */
	if (text.len > 0 && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	(void)set_field(res, PG_DIAG_MESSAGE_PRIMARY, text.data);
	(void)set_field(res, PG_DIAG_SEVERITY, "NOTICE");
	(void)set_field(res, PG_DIAG_SEVERITY_NONLOCALIZED, "NOTICE");
	appendPQExpBufferChar(&text, '\n');
	res->message = cpq_result_text(res, text.data);
	termPQExpBuffer(&text);
	if (res->message != NULL)
		inherited->receiver(inherited->receiver_arg, res);
	cpq_PQclear(res);
}

int
cpq_is_column(const PGresult *res, int column)
{
	if (res == NULL)
		return 0;
	if (column >= 0 && column < res->n_columns)
		return 1;
	cpq_notice_own(&res->inherited, "column number %d is out of range 0..%d", column,
		res->n_columns - 1);
	return 0;
}
