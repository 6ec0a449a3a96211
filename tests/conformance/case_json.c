/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: case_json BACKEND PLACEHOLDER FILE…
 *
 * Print the cases for a backend as JSON, for runners in other languages. Each case has the members of
 * case.h under the same names, without those that the case does not set. A value is a string
 * with a character of code 0…255 for each byte, or null for NULL.
 *
 * PLACEHOLDER is how the language writes a parameter: ":p#" or "?", where '#' stands for its number.
 * "" is the server's own form.
 */
#include "case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Write the separator before a member or element, except before the first. */
static const char *separator = "";

static void
write_text(const char *text, size_t len)
{
	putchar('"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c > '~' || c == '"' || c == '\\')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
	separator = ",";
}

static void
write_name(const char *name)
{
	fputs(separator, stdout);
	write_text(name, strlen(name));
	putchar(':');
	separator = "";
}

static void
begin(char bracket)
{
	printf("%s%c", separator, bracket);
	separator = "";
}

static void
end(char bracket)
{
	putchar(bracket);
	separator = ",";
}

static void
write_element(const char *text)
{
	fputs(separator, stdout);
	write_text(text, strlen(text));
}

static void
write_bytes(const struct cnt_bytes *value)
{
	fputs(separator, stdout);
	if (value->bytes)
		write_text(value->bytes, value->len);
	else
		fputs("null", stdout);
	separator = ",";
}

static void
member_text(const char *name, const char *text)
{
	if (!text)
		return;
	write_name(name);
	write_text(text, strlen(text));
}

static void
member_bytes(const char *name, const struct cnt_bytes *value)
{
	if (!value->bytes)
		return;
	write_name(name);
	write_bytes(value);
}

static void
member_number(const char *name, int64_t number, int64_t absent)
{
	if (number == absent)
		return;
	write_name(name);
	printf("%" PRId64, number);
	separator = ",";
}

static void
write_columns(const struct cnt_expect *e)
{
	if (e->n_columns == 0)
		return;
	write_name("columns");
	begin('[');
	for (size_t i = 0; i < e->n_columns; i++) {
		begin('{');
		member_text("name", e->columns[i].name);
		member_text("type", e->columns[i].type);
		end('}');
	}
	end(']');
}

static void
write_rows(const struct cnt_expect *e)
{
	write_name("rows");
	begin('[');
	for (size_t i = 0; i < e->n_rows; i++) {
		begin('[');
		for (size_t k = 0; k < e->rows[i].n_values; k++)
			write_bytes(&e->rows[i].values[k]);
		end(']');
	}
	end(']');
}

static void
write_expect(const struct cnt_expect *e)
{
	begin('{');
	write_columns(e);
	write_rows(e);
	member_number("column_count", e->column_count, CNT_UNSET);
	member_number("row_count", e->row_count, CNT_UNSET);
	member_number("rows_before_error", e->rows_before_error, CNT_UNSET);
	member_number("affected", e->affected, CNT_UNSET);
	member_number("insert_id", e->insert_id, CNT_UNSET);
	member_number("native", e->native, CNT_UNSET);
	member_number("tx", e->tx, CNT_UNSET);
	member_number("pins", e->pins, CNT_UNSET);
	member_text("tag", e->tag);
	member_text("sqlstate", e->sqlstate);
	member_text("message", e->message);
	member_text("position", e->position);
	member_text("params", e->params);
	member_bytes("copy_out", &e->copy_out);
	member_number("has_output", e->has_output, 0);
	member_text("notices", e->notices);
	member_text("notifications", e->notifications);
	member_text("parameters", e->parameters);
	end('}');
}

static void
write_binds(const struct cnt_step *s)
{
	write_name("binds");
	begin('[');
	for (size_t i = 0; i < s->n_binds; i++) {
		begin('{');
		member_text("type", s->binds[i].type);
		member_bytes("value", &s->binds[i].value);
		end('}');
	}
	end(']');
}

static void
write_step(const struct cnt_step *s)
{
	begin('{');
	member_number("line", s->line, CNT_UNSET);
	if (s->sql) {
		write_name("sql");
		write_text(s->sql, s->sql_len);
	}
	member_text("op", s->op);
	member_text("args", s->args);
	write_binds(s);
	member_number("format", s->format, 0);
	member_number("n_formats", (int64_t)s->n_formats, 0);
	member_number("is_extended", s->is_extended, 0);
	member_bytes("copy_in", &s->copy_in);
	member_text("copy_fail", s->copy_fail);
	member_number("max_rows", (int64_t)s->max_rows, 0);
	write_name("expects");
	begin('[');
	for (size_t i = 0; i < s->n_expects; i++)
		write_expect(&s->expects[i]);
	end(']');
	end('}');
}

static void
write_case(const struct cnt_case *c)
{
	begin('{');
	member_text("file", c->file);
	member_number("line", c->line, CNT_UNSET);
	member_text("name", c->name);
	member_text("not_ways", c->not_ways);
	write_name("setup");
	begin('[');
	for (size_t i = 0; i < c->n_setup; i++)
		write_element(c->setup[i]);
	end(']');
	write_name("steps");
	begin('[');
	for (size_t i = 0; i < c->n_steps; i++)
		write_step(&c->steps[i]);
	end(']');
	end('}');
	putchar('\n');
}

int
main(int argc, char **argv)
{
	struct cnt_backend_names names = { 0 };
	struct cnt_cases cases = { 0 };
	int status = argc < 4;

	if (argc < 4) {
		fputs("usage: case_json BACKEND PLACEHOLDER FILE...\n", stderr);
	} else {
		names.backend = argv[1];
		names.placeholder = *argv[2] ? argv[2] : NULL;
	}
	for (int i = 3; i < argc && status == 0; i++)
		status = cnt_cases_read(&cases, argv[i], &names) < 0;
	if (status == 0) {
		begin('[');
		for (size_t i = 0; i < cases.n_cases; i++) {
			if (cases.cases[i].n_steps > 0)
				write_case(&cases.cases[i]);
		}
		end(']');
		putchar('\n');
	}
	cnt_cases_finish(&cases);
	return status || fflush(stdout) ? 1 : 0;
}
