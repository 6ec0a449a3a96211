/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * \df: functions and procedures. cmd_describe.c calls it. The state is struct reader.
 */
#include "routines.h"

#include <stdlib.h>
#include <string.h>

#include "describe.h"

/* Values of column_type in the catalog. */
enum {
	PARAM_IN = 1,
	PARAM_INOUT = 2,
	PARAM_COLUMN = 3,
	PARAM_OUT = 4,
	PARAM_VALUE = 5
};

struct reader {
	const cenote_result *routines;
	const cenote_result *params;
	uint64_t at; /* the next parameter; both lists have the same order */
	struct text result;
	struct text columns; /* columns of the returned table */
	struct text arguments;
};

static long
number(const cenote_result *res, uint64_t row, const char *column)
{
	return strtol(describe_value(res, row, column), NULL, 10);
}

static int
is_same(const cenote_result *a, uint64_t i, const cenote_result *b, uint64_t k)
{
	static const char *const names[] = { "procedure_cat", "procedure_schem",
		"procedure_name" };
	size_t n;

	for (n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		if (strcmp(describe_value(a, i, names[n]),
			    describe_value(b, k, names[n])) != 0)
			return 0;
	}
	return 1;
}

static void
add_param(struct reader *r, uint64_t row, long kind)
{
	struct text *t = kind == PARAM_VALUE    ? &r->result
			 : kind == PARAM_COLUMN ? &r->columns
						: &r->arguments;
	const char *name = describe_value(r->params, row, "column_name");

	text_add_str(t, t->len > 0 ? ", " : "");
	text_add_str(t, kind == PARAM_OUT ? "OUT " : kind == PARAM_INOUT ? "INOUT " : "");
	if (*name && kind != PARAM_VALUE)
		text_addf(t, "%s ", name);
	describe_type(t, r->params, row);
}

/* Whether the next parameter belongs to the next routine, which has the same name. */
static int
is_of_next(const struct reader *r, uint64_t routine, long kind, long position, long last,
	long n_in)
{
	if (routine + 1 >= cenote_result_n_rows(r->routines) ||
		!is_same(r->routines, routine, r->routines, routine + 1))
		return 0;
	return position <= last ||
	       (kind <= PARAM_INOUT &&
		       n_in >= number(r->routines, routine, "num_input_params"));
}

static void
take_params(struct reader *r, uint64_t routine)
{
	long last = -1, n_in = 0;

	text_clear(&r->result);
	text_clear(&r->columns);
	text_clear(&r->arguments);
	for (; r->at < cenote_result_n_rows(r->params); r->at++) {
		long kind = number(r->params, r->at, "column_type");
		long position = number(r->params, r->at, "ordinal_position");

		if (!is_same(r->routines, routine, r->params, r->at) ||
			is_of_next(r, routine, kind, position, last, n_in))
			return;
		add_param(r, r->at, kind);
		n_in += kind <= PARAM_INOUT;
		last = position;
	}
}

static void
put_routine(struct output *out, struct reader *r, uint64_t routine)
{
	static const char *const kinds[] = { "", "procedure", "function" };
	const cenote_result *res = r->routines;
	const char *schema = describe_value(res, routine, "procedure_schem");
	long kind = number(res, routine, "procedure_type");
	struct text result = { 0 };
	const char *values[5];
	struct cell cells[5];
	size_t i;

	take_params(r, routine);
	if (r->columns.len > 0)
		text_addf(&result, "TABLE(%s)", text_str(&r->columns));
	else if (r->result.len > 0 && number(res, routine, "num_result_sets") > 0)
		text_addf(&result, "SETOF %s", text_str(&r->result));
	else
		text_add_str(&result, text_str(&r->result));
	values[0] = *schema ? schema : describe_value(res, routine, "procedure_cat");
	values[1] = describe_value(res, routine, "procedure_name");
	values[2] = text_str(&result);
	values[3] = text_str(&r->arguments);
	values[4] = kind >= 0 && kind <= 2 ? kinds[kind] : "";
	for (i = 0; i < 5; i++)
		cells[i] = (struct cell){ values[i], strlen(values[i]) };
	output_row(out, cells);
	text_finish(&result);
}

/* Whether the server itself has the routine; PostgreSQL has three thousand. */
static int
is_system(const cenote_result *res, uint64_t row)
{
	const char *schema = describe_value(res, row, "procedure_schem");
	const char *catalog = describe_value(res, row, "procedure_cat");

	return strcmp(schema, "pg_catalog") == 0 ||
	       strcmp(schema, "information_schema") == 0 || strcmp(schema, "sys") == 0 ||
	       (!*schema &&
		       (strcmp(catalog, "sys") == 0 || strcmp(catalog, "mysql") == 0));
}

int
routines_show(struct shell *sh, const cenote_result *routines,
	const cenote_result *params, int has_system)
{
	static const struct output_column columns[] = { { "Schema", CENOTE_TYPE_TEXT },
		{ "Name", CENOTE_TYPE_TEXT }, { "Result", CENOTE_TYPE_TEXT },
		{ "Arguments", CENOTE_TYPE_TEXT }, { "Type", CENOTE_TYPE_TEXT } };
	struct reader r = { .routines = routines, .params = params };
	struct output *out = output_begin(sh->format, &sh->settings, sh->out, columns, 5);
	uint64_t row;

	for (row = 0; row < cenote_result_n_rows(routines); row++) {
		if (has_system || !is_system(routines, row))
			put_routine(out, &r, row);
		else
			take_params(&r, row);
	}
	text_finish(&r.result);
	text_finish(&r.columns);
	text_finish(&r.arguments);
	return output_end(out, 1) < 0 ? shell_output_failed(sh) : RUN_OK;
}
