/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the records of a file in any format. The importer calls it, and the exporter when it continues a file. The state is
 * struct records.
 */
#include "records.h"

#include <stdlib.h>
#include <string.h>

void
records_init(struct records *r, FILE *file, const struct records_options *options)
{
	*r = (struct records){ .options = *options };
	if (options->format == PORT_JSON)
		json_reader_init(&r->json, file);
	else if (options->format == PORT_SQL)
		sql_reader_init(&r->sql, file, options->has_backslash);
	else
		csv_reader_init(
			&r->csv, file, options->format == PORT_TSV ? CSV_TAB : CSV_COMMA);
}

void
records_finish(struct records *r)
{
	if (r->options.format == PORT_JSON)
		json_reader_finish(&r->json);
	else if (r->options.format == PORT_SQL)
		sql_reader_finish(&r->sql);
	else
		csv_reader_finish(&r->csv);
	columns_finish(&r->columns);
	text_finish(&r->error);
	free(r->ordered);
	free(r->is_given);
	*r = (struct records){ 0 };
}

static int
fail(struct records *r, const char *error)
{
	text_clear(&r->error);
	text_add_str(&r->error, error ? error : "an unknown error");
	return -1;
}

/* ---- the formats' readers ---- */

static int
read_csv(struct records *r)
{
	int more = csv_read(&r->csv);

	r->line = r->csv.line;
	r->cells = r->csv.fields.list;
	r->n_cells = r->csv.fields.n;
	return more < 0 ? fail(r, r->csv.error) : more;
}

static int
read_sql(struct records *r)
{
	int more = sql_read(&r->sql);

	r->line = r->sql.line;
	r->cells = r->sql.fields.list;
	r->n_cells = r->sql.fields.n;
	return more < 0 ? fail(r, r->sql.error) : more;
}

/* Find the column of the i-th member, which is nearly always the i-th column. NULL: there is none. */
static struct column *
column_of(struct records *r, size_t i)
{
	const struct cell *name = &r->json.names.list[i];

	if (i < r->columns.n && strlen(r->columns.list[i].name) == name->len &&
		memcmp(r->columns.list[i].name, name->text, name->len) == 0)
		return &r->columns.list[i];
	return columns_find(&r->columns, name->text);
}

/* Put the values of an object into the order of the columns. An absent member is NULL. */
static int
order_members(struct records *r)
{
	size_t i;

	memset(r->is_given, 0, r->columns.n * sizeof(r->is_given[0]));
	memset(r->ordered, 0, r->columns.n * sizeof(r->ordered[0]));
	for (i = 0; i < r->json.names.n; i++) {
		struct column *c = column_of(r, i);
		size_t col = c ? (size_t)(c - r->columns.list) : 0;

		if (!c || r->is_given[col]) {
			text_clear(&r->error);
			text_addf(&r->error,
				c ? "the member \"%s\" is there twice"
				  : "the first object has no member \"%s\"",
				r->json.names.list[i].text);
			return -1;
		}
		r->is_given[col] = true;
		r->ordered[col] = r->json.values.list[i];
	}
	r->cells = r->ordered;
	r->n_cells = r->columns.n;
	return 1;
}

static int
read_object(struct records *r)
{
	int more = json_read(&r->json);

	r->line = r->json.line;
	return more < 0 ? fail(r, r->json.error) : more;
}

/* ---- the columns ---- */

static int
take_csv_header(struct records *r)
{
	size_t i;
	int more;

	if (!r->options.has_header)
		return 0;
	more = read_csv(r);
	if (more <= 0)
		return more;
	for (i = 0; i < r->n_cells; i++) {
		const struct cell *cell = &r->cells[i];

		if (!r->options.has_types)
			(void)columns_add(
				&r->columns, cell->text ? cell->text : "", cell->len);
		else if (columns_add_typed(&r->columns, cell) < 0)
			return fail(r, "the header has no types: it was not written with "
				       "--types");
	}
	return 0;
}

/* Take the columns from the first object. With --types, its values are the types. */
static int
take_json_header(struct records *r)
{
	int more = read_object(r);
	size_t i;

	if (more <= 0)
		return more;
	for (i = 0; i < r->json.names.n; i++) {
		const struct cell *name = &r->json.names.list[i],
				  *type = &r->json.values.list[i];
		struct column *c = columns_add(&r->columns, name->text, name->len);

		if (r->options.has_types &&
			(!type->text || columns_parse_type(c, type->text, type->len) < 0))
			return fail(r, "the first line has no types: it was not written "
				       "with --types");
	}
	r->ordered = mem_resize(NULL, r->columns.n, sizeof(r->ordered[0]));
	r->is_given = mem_resize(NULL, r->columns.n, sizeof(r->is_given[0]));
	r->is_pending = !r->options.has_types;
	return r->is_pending ? order_members(r) : 0;
}

/* Take the columns from the comment with the types, which is a record of CSV. */
static int
take_types(struct records *r)
{
	struct text *types = &r->sql.types;
	FILE *file = types->len > 0 ? fmemopen(types->data, types->len, "r") : NULL;
	struct csv_reader csv;
	int result;
	size_t i;

	if (!file)
		return fail(r, "there is no comment with types: the file was not written "
			       "with --types");
	csv_reader_init(&csv, file, CSV_COMMA);
	result = csv_read(&csv) == 1 && csv.fields.n == r->sql.n_names ? 0 : -1;
	for (i = 0; i < csv.fields.n && result == 0; i++)
		result = columns_add_typed(&r->columns, &csv.fields.list[i]);
	csv_reader_finish(&csv);
	(void)fclose(file);
	return result < 0 ? fail(r, "the comment in the first line has no valid types")
			  : 0;
}

static int
take_sql_header(struct records *r)
{
	int more = read_sql(r);
	size_t i;

	if (more <= 0)
		return more;
	r->is_pending = true;
	if (r->options.has_types)
		return take_types(r);
	for (i = 0; i < r->sql.n_names; i++)
		(void)columns_add(
			&r->columns, text_str(&r->sql.names[i]), r->sql.names[i].len);
	return 0;
}

int
records_begin(struct records *r)
{
	int result = r->options.format == PORT_JSON  ? take_json_header(r)
		     : r->options.format == PORT_SQL ? take_sql_header(r)
						     : take_csv_header(r);

	return result < 0 ? -1 : 0;
}

/* Check that the record has a value for each column. */
static int
check_width(struct records *r)
{
	size_t n = r->columns.n;

	if (n == 0 || r->n_cells == n)
		return 1;
	text_clear(&r->error);
	text_addf(&r->error, "%zu value%s, where %zu are expected", r->n_cells,
		r->n_cells == 1 ? "" : "s", n);
	return -1;
}

int
records_next(struct records *r)
{
	int more = 1;

	if (r->is_pending)
		r->is_pending = false;
	else if (r->options.format == PORT_JSON)
		more = read_object(r);
	else
		more = r->options.format == PORT_SQL ? read_sql(r) : read_csv(r);
	if (more > 0 && r->options.format == PORT_JSON)
		more = order_members(r);
	if (more > 0)
		more = check_width(r);
	r->n_records += more > 0;
	return more;
}

uint64_t
records_offset(const struct records *r)
{
	if (r->options.format == PORT_JSON)
		return r->json.n_bytes;
	if (r->options.format == PORT_SQL)
		return r->sql.n_bytes;
	return r->csv.n_bytes - (r->csv.end - r->csv.pos);
}

bool
records_is_complete(const struct records *r)
{
	if (r->options.format == PORT_JSON)
		return r->json.is_complete;
	if (r->options.format == PORT_SQL)
		return r->sql.is_complete;
	return r->csv.pos > 0 && r->csv.buffer[r->csv.pos - 1] == '\n';
}
