/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks for the rows in the order of the key, and writes them. export.c calls it. One batch of rows is in memory at a time.
 * The state is struct export.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "output_sql.h"

#define COPY_CHUNK    65536u
#define PROGRESS_ROWS 1000u

/* ---- the query ---- */

/* Add a literal of PostgreSQL. E'...' means the same under every setting, and the column gives it its type. */
static void
add_literal(struct text *t, const struct cell *cell)
{
	size_t i;

	text_add_str(t, "E'");
	for (i = 0; i < cell->len; i++) {
		if (cell->text[i] == '\'' || cell->text[i] == '\\')
			text_add_char(t, cell->text[i]);
		text_add_char(t, cell->text[i]);
	}
	text_add_char(t, '\'');
}

/* Add the condition for rows after the last key: (a > ?) OR (a = ? AND b > ?). Not every server has (a, b) > (?, ?). */
static void
add_after_key(struct export *e, bool has_literals, struct text *t)
{
	const struct dialect *d = e->link.dialect;
	size_t last, i, n = 0;

	text_add_char(t, '(');
	for (last = 0; last < e->keys.n; last++) {
		text_add_str(t, last > 0 ? " OR (" : "(");
		for (i = 0; i <= last; i++) {
			text_add_str(t, i > 0 ? " AND " : "");
			dialect_add_name(d, t, e->keys.list[i].name);
			text_add_str(t, i < last ? " = " : " > ");
			if (has_literals)
				add_literal(t, &e->last_key[i]);
			else
				dialect_add_placeholder(d, t, ++n);
		}
		text_add_char(t, ')');
	}
	text_add_char(t, ')');
}

/* Add FROM and WHERE. */
static void
add_source(struct export *e, bool has_literals, struct text *t)
{
	if (e->query)
		text_addf(t, " FROM (%s) cenote_query", e->query);
	else
		text_addf(t, " FROM %s", e->table);
	if (e->where)
		text_addf(t, " WHERE (%s)", e->where);
	if (e->has_last_key) {
		text_add_str(t, e->where ? " AND " : " WHERE ");
		add_after_key(e, has_literals, t);
	}
}

static void
add_order(struct export *e, struct text *t)
{
	if (e->keys.n > 0)
		text_add_str(t, " ORDER BY ");
	dialect_add_names(e->link.dialect, t, &e->keys);
}

static void
make_query(struct export *e, struct text *t)
{
	/* A query without a key is not changed: it may have its own order. */
	if (e->query && e->keys.n == 0) {
		text_add_str(t, e->query);
		return;
	}
	text_addf(t, "SELECT %s", e->columns ? e->columns : "*");
	add_source(e, false, t);
	add_order(e, t);
}

/* Make a COPY with the rows of make_query(). It would write a boolean as t or f, which other servers do not read. */
static void
make_copy(struct export *e, struct text *t)
{
	size_t i;

	text_add_str(t, "COPY (SELECT ");
	for (i = 0; i < e->types.n; i++) {
		text_add_str(t, i > 0 ? ", " : "");
		dialect_add_name(e->link.dialect, t, e->types.list[i].name);
		if (e->types.list[i].type == CENOTE_TYPE_BOOL)
			text_add_str(t, "::int");
	}
	text_addf(t, " FROM (SELECT %s", e->columns ? e->columns : "*");
	add_source(e, true, t);
	text_add_str(t, ") cenote_rows");
	add_order(e, t);
	text_add_str(
		t, e->format == PORT_CSV ? ") TO STDOUT (FORMAT csv)" : ") TO STDOUT");
}

/* Bind a value of the last key with the type of its column. With another type, some servers would not use the index. */
static int
bind_key_column(struct export *e, cenote_params *params, size_t i)
{
	const struct column *c = columns_find(&e->types, e->keys.list[i].name);

	if (!c) {
		port_say("the key %s is not one of the columns", e->keys.list[i].name);
		return PORT_USAGE;
	}
	if (link_bind(params, &e->link, c, &e->last_key[i]) == CENOTE_OK)
		return PORT_OK;
	port_say("out of memory");
	return PORT_USAGE;
}

/* Bind the values for the placeholders of add_after_key(). */
static int
bind_key(struct export *e, cenote_params *params)
{
	size_t last, i;
	int r = PORT_OK;

	for (last = 0; last < e->keys.n; last++) {
		for (i = 0; i <= last && r == PORT_OK; i++)
			r = bind_key_column(e, params, i);
	}
	return r;
}

/* Ask for the columns of the source, whose types bind_key_column() and can_copy() need. */
static int
ask_types(struct export *e)
{
	const char *columns = e->columns ? e->columns : "*";
	struct text sql = { 0 };
	cenote_result *res;
	int r;

	if (e->query)
		text_addf(&sql, "SELECT %s FROM (%s) cenote_query WHERE 1 = 0", columns,
			e->query);
	else
		text_addf(&sql, "SELECT %s FROM %s WHERE 1 = 0", columns, e->table);
	r = link_query(&e->link, text_str(&sql), NULL, &res);
	if (r == PORT_OK) {
		columns_of_result(&e->types, res, e->link.backend);
		cenote_result_destroy(res);
	}
	text_finish(&sql);
	return r;
}

int
export_check_file(struct export *e)
{
	const struct columns *file = &e->file_columns, *c = &e->types;
	size_t i = 0;
	int r = ask_types(e);

	if (r != PORT_OK)
		return r;
	while (i < c->n && i < file->n &&
		strcmp(c->list[i].name, file->list[i].name) == 0)
		i++;
	if (i == c->n && i == file->n)
		return PORT_OK;
	port_say("%s has other columns; use the options with which the file was begun",
		e->file);
	return PORT_USAGE;
}

/* ---- the output ---- */

static const struct output_ops *
ops_of(enum port_format format)
{
	switch (format) {
	case PORT_CSV:
		return &output_csv;
	case PORT_TSV:
		return &output_tsv;
	case PORT_JSON:
		return &output_json;
	default:
		return &output_sql;
	}
}

/* Write a comment with the names and types, in the form of a CSV header. `columns` have names of the form name:type. */
static void
write_sql_types(struct export *e, const struct output_column *columns, size_t n)
{
	struct text line = { 0 };
	size_t i;

	text_add_str(&line, "-- cenote: ");
	for (i = 0; i < n; i++) {
		const struct cell name = { columns[i].name, strlen(columns[i].name) };

		text_add_str(&line, i > 0 ? "," : "");
		csv_add_field(&line, CSV_COMMA, &name);
	}
	text_add_char(&line, '\n');
	(void)fwrite(line.data, 1, line.len, e->out.file);
	text_finish(&line);
}

/* Write a JSON object with the type of each column. */
static void
write_json_types(struct export *e, const struct columns *c)
{
	static const struct output_settings settings = { .null_text = "" };
	struct text *words = mem_resize(NULL, c->n, sizeof(words[0]));
	struct cell *cells = mem_resize(NULL, c->n, sizeof(cells[0]));
	struct output_column *texts = mem_resize(NULL, c->n, sizeof(texts[0]));
	struct output *out;
	size_t i;

	for (i = 0; i < c->n; i++) {
		texts[i] = (struct output_column){ c->list[i].name, CENOTE_TYPE_TEXT };
		words[i] = (struct text){ 0 };
		columns_add_type(&words[i], &c->list[i]);
		cells[i] = (struct cell){ text_str(&words[i]), words[i].len };
	}
	out = output_begin(&output_json, &settings, e->out.file, texts, c->n);
	output_row(out, cells);
	(void)output_end(out, 1);
	for (i = 0; i < c->n; i++)
		text_finish(&words[i]);
	free(words);
	free(cells);
	free(texts);
}

/* Make the columns of an output. Their names are in `names`; with are_typed they have the form name:type. */
static void
make_names(const struct columns *c, bool are_typed, struct text *names,
	struct output_column *columns)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		text_clear(&names[i]);
		text_add_str(&names[i], c->list[i].name);
		if (are_typed) {
			text_add_char(&names[i], ':');
			columns_add_type(&names[i], &c->list[i]);
		}
		columns[i] =
			(struct output_column){ text_str(&names[i]), c->list[i].type };
	}
}

static int
output_failed(struct export *e)
{
	progress_end(&e->progress);
	port_say("%s: %s", e->file, strerror(errno ? errno : EIO));
	return PORT_STOPPED;
}

/* Write the types of the columns as the file's first line, in the form that records.c reads. CSV has them in its header. */
static int
write_types(
	struct export *e, const struct columns *c, const struct output_column *columns)
{
	if (e->format == PORT_SQL)
		write_sql_types(e, columns, c->n);
	else if (e->format == PORT_JSON)
		write_json_types(e, c);
	return ferror(e->out.file) ? output_failed(e) : PORT_OK;
}

/* Check that the texts of a row are UTF-8, as JSON needs it. Only SQLite also keeps other bytes as a text. */
static int
check_utf8(struct export *e, const struct output *out, const struct cell *cells)
{
	size_t col, i, n;
	uint32_t c;

	for (col = 0; col < out->n_columns; col++) {
		if (out->columns[col].type == CENOTE_TYPE_BYTES)
			continue;
		for (i = 0; i < cells[col].len; i += n) {
			n = utf8_decode(cells[col].text + i, cells[col].len - i, &c);
			if (n > 0)
				continue;
			progress_end(&e->progress);
			port_say("row %llu, column %s: the text is not UTF-8, which JSON "
				 "cannot contain; use another format",
				(unsigned long long)out->n_rows + 1,
				out->columns[col].name);
			return PORT_FAILED;
		}
	}
	return PORT_OK;
}

/* Write the rows of a batch. */
static int
write_batch(struct export *e, cenote_result *res, struct output *out, struct cell *cells)
{
	const uint8_t *const *rows = cenote_result_rows(res);
	uint32_t n_columns = cenote_result_n_columns(res), col;
	uint64_t n_rows = cenote_result_n_rows(res), row;
	bool is_checked =
		e->format == PORT_JSON && strcmp(e->link.backend, "sqlite") == 0;

	for (row = 0; rows && row < n_rows; row++) {
		for (col = 0; col < n_columns; col++) {
			size_t len = 0;

			cells[col].text =
				cenote_row_text(rows[row], n_columns, col, &len);
			cells[col].len = len;
		}
		if (is_checked && check_utf8(e, out, cells) != PORT_OK)
			return PORT_FAILED;
		output_row(out, cells);
	}
	e->n_rows += n_rows;
	progress_update(&e->progress, e->n_rows, out->n_bytes, port_now_ms());
	return out->has_failed ? output_failed(e) : PORT_OK;
}

static int
write_stream(struct export *e, cenote_result *res, struct output *out)
{
	struct cell *cells = mem_resize(NULL, out->n_columns, sizeof(cells[0]));
	int r = PORT_OK, more = CENOTE_OK;

	while (r == PORT_OK && !port_is_stopped() &&
		(more = cenote_result_next(res)) == CENOTE_ROW)
		r = write_batch(e, res, out, cells);
	free(cells);
	if (r != PORT_OK)
		return r;
	if (port_is_stopped())
		return PORT_STOPPED;
	progress_end(&e->progress);
	if (more == CENOTE_ERR_SERVER)
		return link_refused(cenote_result_diag(res));
	return more < 0 ? link_failed(&e->link, more) : PORT_OK;
}

/* Write the rows of a COPY. Each piece of its data is a row in the form of the file. */
static int
write_copy(struct export *e, struct output *out)
{
	const char *data;
	size_t len;
	int r = CENOTE_OK;

	while (!out->has_failed && !port_is_stopped() &&
		(r = cenote_copy_get(e->link.conn, &data, &len)) == CENOTE_OK) {
		text_add(&out->text, data, len);
		output_flush(out, COPY_CHUNK);
		e->n_rows++;
		if (e->n_rows % PROGRESS_ROWS == 0)
			progress_update(
				&e->progress, e->n_rows, out->n_bytes, port_now_ms());
	}
	if (out->has_failed)
		return output_failed(e);
	if (port_is_stopped())
		return PORT_STOPPED;
	progress_end(&e->progress);
	return r < 0 ? link_failed(&e->link, r) : PORT_OK;
}

/* Write the rows, and before them the beginning of a new file: its types and header. */
static int
write_result(struct export *e, cenote_result *res, const struct columns *c)
{
	const struct output_sql_settings settings = {
		.base = { .null_text = "",
			.has_header = e->has_header && e->file_columns.n == 0 },
		.dialect = e->sql_dialect,
		.table = e->sql_table ? e->sql_table : e->table,
	};
	bool is_csv = e->format == PORT_CSV || e->format == PORT_TSV;
	struct output_column *columns = mem_resize(NULL, c->n, sizeof(columns[0]));
	struct text *names = mem_resize(NULL, c->n, sizeof(names[0]));
	struct output *out;
	size_t i;
	int r = PORT_OK;

	memset(names, 0, c->n * sizeof(names[0]));
	make_names(c, e->has_types, names, columns);
	if (e->has_types && e->file_columns.n == 0)
		r = write_types(e, c, columns);
	/* In CSV the header has the types. */
	if (!is_csv)
		make_names(c, false, names, columns);
	if (r == PORT_OK) {
		out = output_begin(
			ops_of(e->format), &settings.base, e->out.file, columns, c->n);
		r = cenote_result_kind(res) == CENOTE_RESULT_COPY_OUT
			    ? write_copy(e, out)
			    : write_stream(e, res, out);
		/* After a failure, do not write the SQL statement that is incomplete. */
		if (output_end(out, r == PORT_OK) < 0 && r == PORT_OK)
			r = output_failed(e);
	}
	for (i = 0; i < c->n; i++)
		text_finish(&names[i]);
	free(names);
	free(columns);
	return r;
}

/* Mark the columns of the key, for --create of the importer. */
static void
mark_keys(struct export *e, struct columns *c)
{
	size_t i;

	for (i = 0; i < e->keys.n; i++) {
		struct column *column = columns_find(c, e->keys.list[i].name);

		if (column)
			column->key = (unsigned)i + 1;
	}
}

/* Write the result of the query or COPY. */
static int
take_result(struct export *e, cenote_result *res)
{
	struct columns c = { 0 };
	int r = PORT_OK, kind = cenote_result_kind(res);

	if (kind == CENOTE_RESULT_ROWS) {
		columns_of_result(&c, res, e->link.backend);
	} else if (kind == CENOTE_RESULT_COPY_OUT) {
		c = e->types;
		e->types = (struct columns){ 0 };
	} else {
		port_say("the query has no rows");
		r = PORT_FAILED;
	}
	mark_keys(e, &c);
	if (r == PORT_OK)
		r = write_result(e, res, &c);
	/* After an error, do not read the remaining rows. The program ends and closes the connection. */
	cenote_result_destroy(res);
	if (r == PORT_OK)
		r = link_finish(&e->link);
	columns_finish(&c);
	return r;
}

static int
run_query(struct export *e, const char *sql, const cenote_params *params)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;
	int r;

	options.format = CENOTE_FORMAT_CANONICAL;
	options.stream = 1;
	r = cenote_query(e->link.conn, sql, CENOTE_NTS, params, &options, &res);
	return r < 0 ? link_failed(&e->link, r) : take_result(e, res);
}

/*
 * Make a query that counts the rows with the last key, and those with a NULL in their key. If it counts several, the key is
 * not unique, and it is unknown which of these rows are in the file.
 */
static void
make_count(struct export *e, struct text *t)
{
	const struct dialect *d = e->link.dialect;
	bool had_key = e->has_last_key;
	size_t i;

	text_add_str(t, "SELECT count(*)");
	e->has_last_key = false;
	add_source(e, false, t);
	e->has_last_key = had_key;
	text_add_str(t, e->where ? " AND ((" : " WHERE ((");
	for (i = 0; i < e->keys.n; i++) {
		text_add_str(t, i > 0 ? " AND " : "");
		dialect_add_name(d, t, e->keys.list[i].name);
		text_add_str(t, " = ");
		dialect_add_placeholder(d, t, i + 1);
	}
	text_add_char(t, ')');
	for (i = 0; i < e->keys.n; i++) {
		text_add_str(t, " OR ");
		dialect_add_name(d, t, e->keys.list[i].name);
		text_add_str(t, " IS NULL");
	}
	text_add_char(t, ')');
}

static int
count_rows(struct export *e, const cenote_params *params)
{
	struct text sql = { 0 };
	cenote_result *res;
	int64_t n = 0;
	int r;

	make_count(e, &sql);
	r = link_query(&e->link, text_str(&sql), params, &res);
	text_finish(&sql);
	if (r != PORT_OK)
		return r;
	if (cenote_result_int64(res, 0, 0, &n) != CENOTE_OK || n > 1) {
		port_say("--key %s: %lld rows have the key of the last row in %s, or "
			 "NULL; rows could be missing, so export again with a unique key",
			e->key, (long long)n, e->file);
		r = PORT_FAILED;
	}
	cenote_result_destroy(res);
	return r;
}

/* Check that the key is unique where the export continues. A primary key needs no check. */
static int
check_key(struct export *e)
{
	cenote_params *params;
	size_t i;
	int r = PORT_OK;

	if (!e->has_last_key || !e->key)
		return PORT_OK;
	if (link_params_create(&params) != PORT_OK)
		return PORT_USAGE;
	for (i = 0; i < e->keys.n && r == PORT_OK; i++)
		r = bind_key_column(e, params, i);
	if (r == PORT_OK)
		r = count_rows(e, params);
	cenote_params_destroy(params);
	return r;
}

static int
run_with_key(struct export *e, const char *sql)
{
	cenote_params *params;
	int r;

	if (link_params_create(&params) != PORT_OK)
		return PORT_USAGE;
	r = bind_key(e, params);
	if (r == PORT_OK)
		r = run_query(e, sql, params);
	cenote_params_destroy(params);
	return r;
}

/*
 * Whether a COPY gives the same as the query, in less time. COPY writes times with a time zone in another form. Its outer
 * SELECT orders the rows, so it needs the columns of the key.
 */
static bool
can_copy(const struct export *e)
{
	size_t i;

	for (i = 0; i < e->types.n; i++) {
		if (e->types.list[i].has_zone)
			return false;
	}
	for (i = 0; i < e->keys.n; i++) {
		if (!columns_find(&e->types, e->keys.list[i].name))
			return false;
	}
	return e->types.n > 0;
}

/* Find whether the rows come by COPY. This may ask for the types of the columns. */
static int
ask_whether_copy(struct export *e, bool *ret_can)
{
	int r = PORT_OK;

	*ret_can = false;
	if (!e->link.dialect->has_copy || (e->query && e->keys.n == 0) ||
		(e->format != PORT_CSV && e->format != PORT_TSV))
		return PORT_OK;
	if (e->types.n == 0)
		r = ask_types(e);
	*ret_can = r == PORT_OK && can_copy(e);
	return r;
}

/* ---- the session ---- */

/* Let PostgreSQL write values in forms that the importer and other servers read. The settings end with the transaction. */
static int
set_forms(struct export *e)
{
	static const char *const settings[] = { "SET LOCAL TimeZone = 'UTC'",
		"SET LOCAL DateStyle = 'ISO'", "SET LOCAL IntervalStyle = 'postgres'",
		"SET LOCAL extra_float_digits = 1", "SET LOCAL bytea_output = 'hex'" };
	size_t i;
	int r = PORT_OK;

	if (strcmp(e->link.backend, "postgresql") != 0)
		return PORT_OK;
	r = link_begin(&e->link, CENOTE_BEGIN_READ_ONLY);
	for (i = 0; i < sizeof(settings) / sizeof(settings[0]) && r == PORT_OK; i++)
		r = link_run(&e->link, settings[i]);
	return r;
}

static int
write_rows(struct export *e)
{
	struct text sql = { 0 };
	bool can = false;
	int r = check_key(e);

	if (r == PORT_OK)
		r = ask_whether_copy(e, &can);
	if (r != PORT_OK)
		return r;
	if (can)
		make_copy(e, &sql);
	else
		make_query(e, &sql);
	if (e->has_last_key && !can)
		r = run_with_key(e, text_str(&sql));
	else
		r = run_query(e, text_str(&sql), NULL);
	text_finish(&sql);
	return r;
}

int
export_rows(struct export *e)
{
	int r = set_forms(e);

	progress_begin(&e->progress, !e->is_quiet && strcmp(e->file, "-") != 0, 0,
		port_now_ms());
	if (r == PORT_OK)
		r = write_rows(e);
	progress_end(&e->progress);
	if (r == PORT_OK && cenote_tx_state(e->link.conn) != CENOTE_TX_IDLE)
		r = link_commit(&e->link);
	return r;
}
