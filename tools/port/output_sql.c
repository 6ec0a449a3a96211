/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format sql: INSERT statements of up to 100 rows. The exporter calls it through output.c. The state is struct sql.
 */
#include "output_sql.h"

#define ROWS_MAX      100u
#define STATEMENT_MAX 16384u

struct sql {
	struct output base;
	struct text beginning; /* INSERT INTO ... VALUES */
	/* The statement, up to its last row. It is written when it is complete, so a file always ends with a whole statement. */
	struct text statement;
	size_t n_rows;
};

static const struct output_sql_settings *
settings_of(const struct output *out)
{
	return (const struct output_sql_settings *)out->settings;
}

static void
sql_begin(struct output *out)
{
	const struct output_sql_settings *s = settings_of(out);
	struct sql *sql = (struct sql *)out;
	size_t i;

	text_addf(&sql->beginning, "INSERT INTO %s (", s->table);
	for (i = 0; i < out->n_columns; i++) {
		text_add_str(&sql->beginning, i > 0 ? ", " : "");
		dialect_add_name(s->dialect, &sql->beginning, out->columns[i].name);
	}
	text_add_str(&sql->beginning, ") VALUES\n");
}

static void
end_statement(struct sql *sql)
{
	if (sql->n_rows == 0)
		return;
	text_add_str(&sql->statement, ";\n");
	text_add(&sql->base.text, sql->statement.data, sql->statement.len);
	text_clear(&sql->statement);
	sql->n_rows = 0;
}

static void
sql_row(struct output *out, const struct cell *cells)
{
	const struct dialect *dialect = settings_of(out)->dialect;
	struct sql *sql = (struct sql *)out;
	size_t i;

	if (sql->n_rows++ == 0)
		text_add(&sql->statement, sql->beginning.data, sql->beginning.len);
	else
		text_add_str(&sql->statement, ",\n");
	for (i = 0; i < out->n_columns; i++) {
		text_add_str(&sql->statement, i > 0 ? ", " : "(");
		dialect_add_literal(
			dialect, &sql->statement, out->columns[i].type, &cells[i]);
	}
	text_add_char(&sql->statement, ')');
	if (sql->n_rows >= ROWS_MAX || sql->statement.len >= STATEMENT_MAX ||
		dialect->max_rows == 1)
		end_statement(sql);
}

static void
sql_end(struct output *out)
{
	end_statement((struct sql *)out);
}

static void
sql_finish(struct output *out)
{
	struct sql *sql = (struct sql *)out;

	text_finish(&sql->beginning);
	text_finish(&sql->statement);
}

const struct output_ops output_sql = {
	.name = "sql",
	.size = sizeof(struct sql),
	.begin = sql_begin,
	.row = sql_row,
	.end = sql_end,
	.finish = sql_finish,
};
