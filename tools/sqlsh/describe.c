/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * \d TABLE: the columns of a table, and below them indexes, checks and references. All but the
 * checks come from the pool's catalog, which is the same for every backend. cmd_describe.c calls
 * it. It has no state.
 */
#include "describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "checks.h"
#include "server_sql.h"

struct table {
	struct shell *sh;
	const struct server_sql *sql;
	int is_sqlite, is_odbc;
	const char *catalog, *schema, *name;
	struct text schema_pattern, name_pattern;
	cenote_catalog_filter filter;
	struct text footer;
};

void
describe_pattern(struct text *t, const char *name, int has_wildcards)
{
	for (; *name; name++) {
		if (has_wildcards && *name == '*') {
			text_add_char(t, '%');
		} else if (has_wildcards && *name == '?') {
			text_add_char(t, '_');
		} else {
			if (strchr("%_\\", *name))
				text_add_char(t, '\\');
			text_add_char(t, *name);
		}
	}
}

const char *
describe_value(const cenote_result *res, uint64_t row, const char *column)
{
	int64_t col = cenote_result_find_column(res, column);
	const char *text =
		col < 0 ? NULL : cenote_result_text(res, row, (uint32_t)col, NULL);

	return text ? text : "";
}

static void
add_shown(struct text *t, const char *s)
{
	(void)display_add(t, s, strlen(s));
}

/* Some backends report the length in a column of its own. */
void
describe_type(struct text *t, const cenote_result *res, uint64_t row)
{
	static const char *const sized[] = { "char", "binary", "decimal", "numeric" };
	const char *name = describe_value(res, row, "type_name");
	const char *size = describe_value(res, row, "column_size");
	const char *digits = describe_value(res, row, "decimal_digits");
	size_t n = strcspn(name, " "), i;
	int is_sized = 0;

	for (i = 0; i < sizeof(sized) / sizeof(sized[0]); i++)
		is_sized |= strcasestr(name, sized[i]) != NULL;
	if (!is_sized || strchr(name, '(') || strtol(size, NULL, 10) <= 0 ||
		strlen(size) > strlen("999999999")) {
		text_add_str(t, name);
		return;
	}
	text_addf(t, "%.*s(%s", (int)n, name, size);
	if (*digits && strcmp(digits, "0") != 0)
		text_addf(t, ",%s", digits);
	text_addf(t, ")%s", name + n);
}

/* ---- the footer ---- */

/* Get a catalog list about this table; NULL if the backend does not have it. RUN_LOST: the session is
 * lost. */
static int
get_list(struct table *t, uint32_t kind, cenote_result **ret_res)
{
	int r = session_catalog(t->sh, kind, &t->filter, 1, ret_res);

	if (r == RUN_OK)
		return RUN_OK;
	*ret_res = NULL;
	return r == RUN_ERROR ? RUN_OK : r;
}

static uint64_t
n_rows(const cenote_result *res)
{
	return res ? cenote_result_n_rows(res) : 0;
}

/* Begin a line. The title stands above the first one. */
static void
begin_line(struct table *t, const char *title, int *is_begun)
{
	if (!*is_begun)
		text_addf(&t->footer, "%s:\n", title);
	*is_begun = 1;
	text_add_str(&t->footer, "    ");
}

static void
add_quoted(struct text *t, const char *name)
{
	if (!*name)
		return;
	text_add_char(t, '"');
	add_shown(t, name);
	text_add_str(t, "\" ");
}

/* Add the names from a column of some rows, and DESC for a descending key. */
static void
add_names(struct text *t, const cenote_result *res, uint64_t row, uint64_t end,
	const char *column)
{
	const char *between = "(";

	for (; row < end; row++) {
		text_add_str(t, between);
		add_shown(t, describe_value(res, row, column));
		if (strcmp(describe_value(res, row, "asc_or_desc"), "D") == 0)
			text_add_str(t, " DESC");
		between = ", ";
	}
	text_add_char(t, ')');
}

/* The row at which the next key or index begins: its position is 1. */
static uint64_t
end_of(const cenote_result *res, uint64_t row, const char *position)
{
	do
		row++;
	while (row < n_rows(res) && strcmp(describe_value(res, row, position), "1") != 0);
	return row;
}

static void
add_index(struct table *t, const cenote_result *res, uint64_t row, uint64_t end)
{
	int64_t col = cenote_result_find_column(res, "filter_condition");

	add_quoted(&t->footer, describe_value(res, row, "index_name"));
	if (strcmp(describe_value(res, row, "non_unique"), "0") == 0)
		text_add_str(&t->footer, "UNIQUE ");
	add_names(&t->footer, res, row, end, "column_name");
	if (col >= 0 && !cenote_result_is_null(res, row, (uint32_t)col)) {
		const char *condition = describe_value(res, row, "filter_condition");

		/* SQLite does not report the condition. */
		text_add_str(&t->footer, *condition ? " WHERE " : " WHERE …");
		add_shown(&t->footer, condition);
	}
	text_add_char(&t->footer, '\n');
}

static int
add_indexes(struct table *t)
{
	cenote_result *keys, *indexes = NULL;
	const char *pk_name = "";
	uint64_t row, end;
	int is_begun = 0, r = get_list(t, CENOTE_CATALOG_PRIMARY_KEYS, &keys);

	if (r == RUN_OK)
		r = get_list(t, CENOTE_CATALOG_INDEXES, &indexes);
	else
		keys = NULL;
	if (n_rows(keys) > 0) {
		pk_name = describe_value(keys, 0, "pk_name");
		begin_line(t, "Indexes", &is_begun);
		add_quoted(&t->footer, pk_name);
		text_add_str(&t->footer, "PRIMARY KEY ");
		add_names(&t->footer, keys, 0, n_rows(keys), "column_name");
		text_add_char(&t->footer, '\n');
	}
	for (row = 0; row < n_rows(indexes); row = end) {
		end = end_of(indexes, row, "ordinal_position");
		if (*pk_name &&
			strcmp(pk_name, describe_value(indexes, row, "index_name")) == 0)
			continue;
		begin_line(t, "Indexes", &is_begun);
		add_index(t, indexes, row, end);
	}
	cenote_result_destroy(keys);
	cenote_result_destroy(indexes);
	return r;
}

struct check_lines {
	struct table *t;
	int is_begun;
};

static void
add_check(void *user, const char *name, const char *definition)
{
	struct check_lines *lines = user;

	begin_line(lines->t, "Check constraints", &lines->is_begun);
	add_quoted(&lines->t->footer, name);
	add_shown(&lines->t->footer, definition);
	text_add_char(&lines->t->footer, '\n');
}

/* SQLite has no list of checks: ask for the CREATE TABLE statement. */
static int
ask_sqlite(struct table *t, cenote_result **ret_res)
{
	struct text sql = { 0 };
	const char *s;
	int r;

	text_add_str(&sql, "SELECT sql FROM \"");
	for (s = t->schema; *s; s++)
		text_addf(&sql, *s == '"' ? "\"%c" : "%c", *s);
	text_add_str(&sql, "\".sqlite_master WHERE type = 'table' AND name = ?");
	r = session_query(t->sh, text_str(&sql), (const char *const[]){ t->name, NULL },
		1, ret_res);
	text_finish(&sql);
	return r;
}

static int
add_checks(struct table *t)
{
	const char *sql = t->sql->checks;
	const char *const names[] = { *t->schema ? t->schema : t->catalog, t->name,
		NULL };
	struct check_lines lines = { .t = t };
	cenote_result *res;
	uint64_t row;
	int r;

	if (!sql && !t->is_sqlite)
		return RUN_OK;
	r = t->is_sqlite ? ask_sqlite(t, &res)
			 : session_query(t->sh, sql, names, 1, &res);
	/* An older server has no checks. */
	if (r != RUN_OK)
		return r == RUN_ERROR ? RUN_OK : r;
	for (row = 0; row < n_rows(res); row++) {
		const char *first = cenote_result_text(res, row, 0, NULL);

		if (t->is_sqlite)
			checks_find(
				first ? first : "", t->sh->lex_flags, add_check, &lines);
		else
			add_check(&lines, first, cenote_result_text(res, row, 1, NULL));
	}
	cenote_result_destroy(res);
	return RUN_OK;
}

/* Add the name of a table, with its schema if it is not the schema of this table. */
static void
add_table_name(struct table *t, const char *catalog, const char *schema, const char *name)
{
	if (*schema && strcmp(schema, t->schema) != 0)
		text_addf(&t->footer, "%s.", schema);
	else if (!*schema && *catalog && strcmp(catalog, t->catalog) != 0)
		text_addf(&t->footer, "%s.", catalog);
	add_shown(&t->footer, name);
}

static void
add_rule(struct table *t, const char *event, const char *rule)
{
	static const char *const rules[] = { "CASCADE", "RESTRICT", "SET NULL", "",
		"SET DEFAULT" };

	if (*rule >= '0' && *rule <= '4' && *rules[*rule - '0'])
		text_addf(&t->footer, " ON %s %s", event, rules[*rule - '0']);
}

static void
add_foreign_key(struct table *t, const cenote_result *res, uint64_t row, uint64_t end)
{
	text_add_str(&t->footer, "FOREIGN KEY ");
	add_names(&t->footer, res, row, end, "fkcolumn_name");
	text_add_str(&t->footer, " REFERENCES ");
	add_table_name(t, describe_value(res, row, "pktable_cat"),
		describe_value(res, row, "pktable_schem"),
		describe_value(res, row, "pktable_name"));
	add_names(&t->footer, res, row, end, "pkcolumn_name");
	add_rule(t, "UPDATE", describe_value(res, row, "update_rule"));
	add_rule(t, "DELETE", describe_value(res, row, "delete_rule"));
	text_add_char(&t->footer, '\n');
}

static int
add_foreign_keys(struct table *t)
{
	cenote_result *res;
	int is_begun = 0, r = get_list(t, CENOTE_CATALOG_FOREIGN_KEYS, &res);
	uint64_t row, end;

	if (r != RUN_OK)
		return r;
	for (row = 0; row < n_rows(res); row = end) {
		const char *name = describe_value(res, row, "fk_name");

		end = end_of(res, row, "key_seq");
		begin_line(t, "Foreign-key constraints", &is_begun);
		add_quoted(&t->footer, name);
		add_foreign_key(t, res, row, end);
	}
	cenote_result_destroy(res);
	return RUN_OK;
}

/* SQLite keeps the other table's name as the user wrote it, in any case. */
static int
refers_to(const struct table *t, const cenote_result *res, uint64_t row)
{
	int (*compare)(const char *, const char *) = t->is_sqlite ? strcasecmp : strcmp;

	return compare(describe_value(res, row, "pktable_name"), t->name) == 0 &&
	       compare(describe_value(res, row, "pktable_schem"), t->schema) == 0 &&
	       strcmp(describe_value(res, row, "pktable_cat"), t->catalog) == 0;
}

static int
add_references(struct table *t)
{
	cenote_result *res;
	int is_begun = 0, r;
	uint64_t row, end;

	/* This would ask an ODBC driver about each table. */
	if (t->is_odbc)
		return RUN_OK;
	r = session_catalog(t->sh, CENOTE_CATALOG_FOREIGN_KEYS, NULL, 1, &res);
	if (r != RUN_OK)
		return r == RUN_ERROR ? RUN_OK : r;
	for (row = 0; row < n_rows(res); row = end) {
		const char *name = describe_value(res, row, "fk_name");

		end = end_of(res, row, "key_seq");
		if (!refers_to(t, res, row))
			continue;
		begin_line(t, "Referenced by", &is_begun);
		text_add_str(&t->footer, "TABLE \"");
		add_table_name(t, describe_value(res, row, "fktable_cat"),
			describe_value(res, row, "fktable_schem"),
			describe_value(res, row, "fktable_name"));
		text_add_str(&t->footer, *name ? "\" CONSTRAINT " : "\" ");
		add_quoted(&t->footer, name);
		add_foreign_key(t, res, row, end);
	}
	cenote_result_destroy(res);
	return RUN_OK;
}

/* ---- the table ---- */

static void
put_column(struct output *out, int is_for_people, const cenote_result *res, uint64_t row)
{
	struct text type = { 0 };
	const char *value = describe_value(res, row, "column_def");
	const char *values[5] = { describe_value(res, row, "column_name"), NULL, "",
		/* MariaDB uses this text for a column without a default. */
		strcmp(value, "NULL") == 0 ? "" : value,
		describe_value(res, row, "remarks") };
	struct cell cells[5];
	size_t i;

	describe_type(&type, res, row);
	values[1] = text_str(&type);
	if (strcmp(describe_value(res, row, "is_nullable"), "NO") == 0)
		values[2] = "not null";
	for (i = 0; i < 5; i++)
		cells[i] = (struct cell){ *values[i] || is_for_people ? values[i] : NULL,
			strlen(values[i]) };
	output_row(out, cells);
	text_finish(&type);
}

static int
show_columns(
	struct table *t, const cenote_result *res, const char *title, int has_remarks)
{
	static const struct output_column columns[] = { { "Column", CENOTE_TYPE_TEXT },
		{ "Type", CENOTE_TYPE_TEXT }, { "Nullable", CENOTE_TYPE_TEXT },
		{ "Default", CENOTE_TYPE_TEXT }, { "Description", CENOTE_TYPE_TEXT } };
	struct output_settings settings = t->sh->settings;
	struct output *out;
	uint64_t row;

	settings.title = title;
	settings.footer = text_str(&t->footer);
	out = output_begin(
		t->sh->format, &settings, t->sh->out, columns, has_remarks ? 5 : 4);
	for (row = 0; row < n_rows(res); row++)
		put_column(out, t->sh->format->is_for_people, res, row);
	return output_end(out, 1) < 0 ? shell_output_failed(t->sh) : RUN_OK;
}

static void
add_title(const struct table *t, struct text *title, const char *type)
{
	size_t from = title->len, i;

	text_add_str(title, type);
	for (i = from + 1; i < title->len; i++)
		title->data[i] = (char)tolower((unsigned char)title->data[i]);
	text_add_str(title, " \"");
	add_shown(title, *t->schema ? t->schema : t->catalog);
	text_add_str(title, *t->schema || *t->catalog ? "." : "");
	add_shown(title, t->name);
	text_add_char(title, '"');
}

static void
table_init(struct table *t, struct shell *sh, const cenote_result *tables, uint64_t row)
{
	const char *backend = cenote_info(sh->conn, "backend");

	*t = (struct table){ .sh = sh,
		.sql = server_sql_of(backend),
		.is_sqlite = backend && strcmp(backend, "sqlite") == 0,
		.is_odbc = backend && strcmp(backend, "odbc") == 0,
		.catalog = describe_value(tables, row, "table_cat"),
		.schema = describe_value(tables, row, "table_schem"),
		.name = describe_value(tables, row, "table_name"),
		.filter = CENOTE_CATALOG_FILTER_INIT };
	describe_pattern(&t->schema_pattern, t->schema, 0);
	describe_pattern(&t->name_pattern, t->name, 0);
	t->filter.catalog = *t->catalog ? t->catalog : NULL;
	t->filter.schema = *t->schema ? text_str(&t->schema_pattern) : NULL;
	t->filter.object = text_str(&t->name_pattern);
}

int
describe_table(
	struct shell *sh, const cenote_result *tables, uint64_t row, int has_remarks)
{
	static int (*const parts[])(struct table * t) = { add_indexes, add_checks,
		add_foreign_keys, add_references };
	struct text title = { 0 };
	cenote_result *columns = NULL;
	struct table t;
	size_t i;
	int r;

	table_init(&t, sh, tables, row);
	add_title(&t, &title, describe_value(tables, row, "table_type"));
	r = session_catalog(sh, CENOTE_CATALOG_COLUMNS, &t.filter, 0, &columns);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (r == RUN_OK && sh->format->is_for_people)
			r = parts[i](&t);
	}
	if (r == RUN_OK)
		r = show_columns(&t, columns, text_str(&title), has_remarks);
	cenote_result_destroy(columns);
	text_finish(&title);
	text_finish(&t.schema_pattern);
	text_finish(&t.name_pattern);
	text_finish(&t.footer);
	return r;
}
