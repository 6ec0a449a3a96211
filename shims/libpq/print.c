/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
 * The old printing functions: PQprint() and its two predecessors. Few programs call them, and these
 * depend on every blank.
 */

struct table {
	FILE *out;
	const PGresult *res;
	const PQprintOpt *o;
	int n_rows;
	int n_columns;
	int separator; /* length of o->fieldSep */
	const char **names;
	int *widths;
	char *is_text; /* the column is not numeric, so it is aligned to the left */
	int widest; /* length of the longest name */
};

static const char *
separator(const struct table *t)
{
	return t->o->fieldSep;
}

static void
repeat(FILE *out, char c, int n)
{
	for (; n > 0; n--)
		fputc(c, out);
}

static const char *
name_of(const struct table *t, int column)
{
	char **given = t->o->fieldName;
	int n = 0;

	while (given != NULL && given[n] != NULL)
		n++;
	if (column < n && given[column][0] != '\0')
		return given[column];
	return cpq_PQfname(t->res, column);
}

/* NULL for NULL and for "": both are printed alike. */
static const char *
value_of(const struct table *t, int row, int column)
{
	const char *value = cpq_PQgetvalue(t->res, row, column);

	return cpq_PQgetlength(t->res, row, column) > 0 && value != NULL && *value != '\0'
		       ? value
		       : NULL;
}

static int
looks_like_text(const char *value, int encoding)
{
	char last = '0';

	for (const char *p = value; *p != '\0'; p += PQmblenBounded(p, encoding)) {
		last = *p;
		if (strchr("0123456789.Ee -", last) == NULL)
			return 1;
	}
	return *value == 'E' || *value == 'e' || last < '0' || last > '9';
}

static void
measure(struct table *t, int row, int column)
{
	const char *value = value_of(t, row, column);
	int len;

	if (value == NULL)
		return;
	if (t->o->align && !t->is_text[column])
		t->is_text[column] =
			(char)looks_like_text(value, t->res->inherited.encoding);
	len = cpq_PQgetlength(t->res, row, column);
	if (len > t->widths[column])
		t->widths[column] = len;
}

static void
print_plain_header(const struct table *t)
{
	int len = -t->separator;

	for (int i = 0; i < t->n_columns; i++) {
		fprintf(t->out, "%s%s", i > 0 ? separator(t) : "", t->names[i]);
		len += (int)strlen(t->names[i]) + t->separator;
	}
	fputc('\n', t->out);
	repeat(t->out, '-', len);
	fputc('\n', t->out);
}

static void
print_plain_row(const struct table *t, int row)
{
	for (int i = 0; i < t->n_columns; i++) {
		const char *value = value_of(t, row, i);

		fprintf(t->out, "%s%s", i > 0 ? separator(t) : "",
			value != NULL ? value : "");
	}
	fputc('\n', t->out);
}

static void
print_pair(struct table *t, int row, int column)
{
	const char *value = value_of(t, row, column);
	const char *name = t->names[column];

	if (value == NULL)
		return;
	measure(t, row, column);
	if (t->o->html3)
		fprintf(t->out,
			"<tr><td align=\"left\"><b>%s</b></td><td "
			"align=\"%s\">%s</td></tr>\n",
			name, t->is_text[column] ? "left" : "right", value);
	else if (t->o->align)
		fprintf(t->out, "%-*s%s %s\n", t->widest, name, separator(t), value);
	else
		fprintf(t->out, "%s%s%s\n", name, separator(t), value);
}

static const char *
table_options(const struct table *t)
{
	return t->o->tableOpt != NULL ? t->o->tableOpt : "";
}

static void
print_record(struct table *t, int row)
{
	if (t->o->html3)
		fprintf(t->out, "<table %s><caption align=\"top\">%d</caption>\n",
			table_options(t), row);
	else
		fprintf(t->out, "-- RECORD %d --\n", row);
	for (int i = 0; i < t->n_columns; i++)
		print_pair(t, row, i);
	if (t->o->html3)
		fputs("</table>\n", t->out);
}

static void
print_expanded(struct table *t)
{
	if (t->o->html3 && t->o->caption != NULL)
		fprintf(t->out, "<center><h2>%s</h2></center>\n", t->o->caption);
	else if (t->o->html3)
		fprintf(t->out,
			"<center><h2>Query retrieved %d rows * %d "
			"fields</h2></center>\n",
			t->n_rows, t->n_columns);
	else if (t->o->header && t->o->align)
		fprintf(t->out, "%-*s%s Value\n", t->widest, "Field", separator(t));
	else if (t->o->header)
		fprintf(t->out, "Field%sValue\n", separator(t));
	for (int row = 0; row < t->n_rows; row++)
		print_record(t, row);
}

static void
print_border(const struct table *t)
{
	int margin = t->o->standard ? 2 : 0;

	if (t->o->standard)
		repeat(t->out, '+', t->separator);
	for (int i = 0; i < t->n_columns; i++) {
		repeat(t->out, '-', t->widths[i] + margin);
		if (t->o->standard || i + 1 < t->n_columns)
			repeat(t->out, '+', t->separator);
	}
	fputc('\n', t->out);
}

/* As in libpq, the cell is as wide as the column's own name. The border follows the name that the
 * program gave, which may be shorter. */
static int
cell_width(const struct table *t, int column)
{
	int name = t->o->header ? (int)strlen(cpq_PQfname(t->res, column)) : 0;

	return name > t->widths[column] ? name : t->widths[column];
}

static void
print_cell(const struct table *t, int column, const char *text, const char *tag)
{
	const char *margin = t->o->standard ? " " : "";
	int width = cell_width(t, column);

	if (t->o->html3) {
		fprintf(t->out, "<%s align=\"%s\">%s</%s>", tag,
			t->is_text[column] ? "left" : "right", text, tag);
		return;
	}
	fprintf(t->out, "%s%*s%s", margin, t->is_text[column] ? -width : width, text,
		margin);
	if (t->o->standard || column + 1 < t->n_columns)
		fputs(separator(t), t->out);
}

static void
print_names(const struct table *t)
{
	if (t->o->html3)
		fputs("<tr>", t->out);
	else if (t->o->standard)
		print_border(t);
	/* As in libpq, also for HTML. */
	if (t->o->standard)
		fputs(separator(t), t->out);
	for (int i = 0; i < t->n_columns; i++)
		/* As in libpq, the program's names are used in HTML only. */
		print_cell(
			t, i, t->o->html3 ? t->names[i] : cpq_PQfname(t->res, i), "th");
	fputs(t->o->html3 ? "</tr>\n" : "\n", t->out);
	if (!t->o->html3)
		print_border(t);
}

static void
print_cells(const struct table *t, int row)
{
	if (t->o->html3)
		fputs("<tr>", t->out);
	else if (t->o->standard)
		fputs(separator(t), t->out);
	for (int i = 0; i < t->n_columns; i++) {
		const char *value = value_of(t, row, i);

		print_cell(t, i, value != NULL ? value : "", "td");
	}
	fputs(t->o->html3 ? "</tr>\n" : "\n", t->out);
	if (!t->o->standard || t->o->html3)
		return;
	/* libpq writes the border together with the header. Without a header it prints "(null)". */
	if (t->o->header)
		print_border(t);
	else
		fputs("(null)\n", t->out);
}

static void
print_caption(const struct table *t)
{
	fprintf(t->out, "<table %s>", table_options(t));
	if (!t->o->header)
		return;
	if (t->o->caption != NULL)
		fprintf(t->out, "<caption align=\"top\">%s</caption>\n", t->o->caption);
	else
		fprintf(t->out,
			"<caption align=\"top\">Retrieved %d rows * %d "
			"fields</caption>\n",
			t->n_rows, t->n_columns);
}

/* Before unaligned HTML, libpq prints its separator for each empty value. */
static void
print_stray(const struct table *t, int row, int column)
{
	if (t->o->align || value_of(t, row, column) != NULL)
		return;
	fputs(column + 1 < t->n_columns ? separator(t) : "\n", t->out);
}

static void
print_columns(struct table *t)
{
	for (int row = 0; row < t->n_rows; row++) {
		for (int i = 0; i < t->n_columns; i++) {
			measure(t, row, i);
			print_stray(t, row, i);
		}
	}
	if (t->o->html3)
		print_caption(t);
	if (t->o->header)
		print_names(t);
	for (int row = 0; row < t->n_rows; row++)
		print_cells(t, row);
}

static int
table_init(struct table *t)
{
	size_t n = (size_t)t->n_columns;

	t->names = calloc(n, sizeof(*t->names));
	t->widths = calloc(n, sizeof(*t->widths));
	t->is_text = calloc(n, 1);
	if (t->names == NULL || t->widths == NULL || t->is_text == NULL)
		return -1;
	for (int i = 0; i < t->n_columns; i++) {
		int len;

		t->names[i] = name_of(t, i);
		len = (int)strlen(t->names[i]);
		t->widths[i] = len;
		if (len > t->widest)
			t->widest = len;
	}
	return 0;
}

static void
print_all(struct table *t)
{
	if (t->o->expanded) {
		print_expanded(t);
	} else if (t->o->align || t->o->html3) {
		print_columns(t);
	} else {
		if (t->o->header)
			print_plain_header(t);
		for (int row = 0; row < t->n_rows; row++)
			print_plain_row(t, row);
	}
	if (t->o->header && !t->o->html3)
		fprintf(t->out, "(%d row%s)\n\n", t->n_rows, t->n_rows == 1 ? "" : "s");
	if (t->o->html3 && !t->o->expanded)
		fputs("</table>\n", t->out);
}

/* If the output does not fit the terminal, send it through $PAGER. NULL: it fits, or there is no
 * terminal. */
static FILE *
open_pager(const struct table *t)
{
	const char *pager = getenv("PAGER");
	struct winsize size = { .ws_row = 24 };
	int lines = t->n_rows;

	if (!t->o->pager || !isatty(fileno(stdin)) || !isatty(fileno(stdout)) ||
		pager == NULL || pager[strspn(pager, " \t\r\n")] == '\0')
		return NULL;
	(void)ioctl(fileno(stdout), TIOCGWINSZ, &size);
	if (t->o->expanded)
		lines *= t->n_columns + 1;
	else if (t->o->align && t->o->standard)
		lines *= 2;
	return lines > (int)size.ws_row - 4 ? popen(pager, "w") : NULL;
}

void
cpq_PQprint(FILE *fout, const PGresult *res, const PQprintOpt *ps)
{
	struct table t = { .out = fout,
		.res = res,
		.o = ps,
		.n_rows = cpq_PQntuples(res),
		.n_columns = cpq_PQnfields(res) };
	FILE *pager = NULL;

	if (t.n_columns <= 0)
		return;
	t.separator = (int)strlen(ps->fieldSep);
	if (table_init(&t) == 0) {
		if (fout == NULL) {
			pager = open_pager(&t);
			t.out = pager != NULL ? pager : stdout;
		}
		print_all(&t);
	}
	if (pager != NULL)
		(void)pclose(pager);
	free(t.names);
	free(t.widths);
	free(t.is_text);
}

static int
width_of(const PGresult *res, int column)
{
	int width = (int)strlen(cpq_PQfname(res, column));

	for (int row = 0; row < cpq_PQntuples(res); row++) {
		int len = cpq_PQgetlength(res, row, column);

		if (len > width)
			width = len;
	}
	return width;
}

void
cpq_PQdisplayTuples(const PGresult *res, FILE *fp, int fillAlign, const char *fieldSep,
	int printHeader, int quiet)
{
	int n = cpq_PQnfields(res);
	int *widths = calloc(n > 0 ? (size_t)n : 1, sizeof(*widths));

	if (widths == NULL)
		return;
	if (fieldSep == NULL)
		fieldSep = " ";
	if (fp == NULL)
		fp = stdout;
	for (int i = 0; fillAlign && i < n; i++)
		widths[i] = width_of(res, i) + 1;
	for (int i = 0; printHeader && i < n; i++)
		fprintf(fp, "%-*s%s", widths[i], cpq_PQfname(res, i), fieldSep);
	if (printHeader)
		fputc('\n', fp);
	for (int i = 0; printHeader && i < n; i++) {
		repeat(fp, '-', widths[i]);
		fputs(fieldSep, fp);
	}
	if (printHeader)
		fputc('\n', fp);
	for (int row = 0; row < cpq_PQntuples(res); row++) {
		for (int i = 0; i < n; i++)
			fprintf(fp, "%-*s%s", widths[i], cpq_PQgetvalue(res, row, i),
				fieldSep);
		fputc('\n', fp);
	}
	if (!quiet)
		fprintf(fp, "\nQuery returned %d row%s.\n", cpq_PQntuples(res),
			cpq_PQntuples(res) == 1 ? "" : "s");
	fflush(fp);
	free(widths);
}

void
cpq_PQprintTuples(
	const PGresult *res, FILE *fout, int PrintAttNames, int TerseOutput, int colWidth)
{
	int n = cpq_PQnfields(res);
	const char *bar = TerseOutput ? "" : "|";

	if (n <= 0)
		return;
	for (int row = PrintAttNames ? -1 : 0; row <= cpq_PQntuples(res); row++) {
		/* Print a border above and below each row. */
		if (!TerseOutput) {
			repeat(fout, '-', 14 * n);
			fputc('\n', fout);
		}
		if (row == cpq_PQntuples(res))
			break;
		for (int i = 0; i < n; i++)
			fprintf(fout, "%s %-*s", bar, colWidth > 0 ? colWidth : 0,
				row < 0 ? cpq_PQfname(res, i)
					: cpq_PQgetvalue(res, row, i));
		fprintf(fout, "%s\n", bar);
	}
}
